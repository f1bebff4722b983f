//! Tasks of the project, run as `cargo xtask <task>`.

mod fuzz;
mod gen_fixtures;
mod perf;
mod spec_map;

use std::error::Error;
use std::path::Path;
use std::process::{Command, ExitCode};

use clap::{Parser, Subcommand};

/// Tasks of the Hurray CSF project.
#[derive(Parser)]
#[command(name = "cargo xtask")]
struct Arguments {
    #[command(subcommand)]
    task: Task,
}

#[derive(Subcommand)]
enum Task {
    /// Run every check that a change has to pass (the file .ci/run)
    Ci,
    /// Write the files in fixtures/ with this project's writer
    GenFixtures {
        /// Only compare them: fail if one is missing, too many or different
        #[arg(long)]
        check: bool,
    },
    /// Check that the functions and tests that docs/spec-map.md names exist
    CheckSpecMap,
    /// Run the fuzz targets, one after the other
    Fuzz(fuzz::Arguments),
    /// Measure every operation beside its yardstick and print a table
    Perf(perf::Arguments),
    /// Print the peak memory of builds, for `perf`, which starts a process of its own for it
    #[command(hide = true)]
    PerfMemory(perf::memory::Arguments),
}

/// The root of the repository.
fn root() -> &'static Path {
    let here = Path::new(env!("CARGO_MANIFEST_DIR"));
    here.parent().unwrap_or(here)
}

fn main() -> ExitCode {
    let result = match Arguments::parse().task {
        Task::Ci => ci(),
        Task::CheckSpecMap => spec_map::check(root()),
        Task::GenFixtures { check } => gen_fixtures::run(&root().join("fixtures"), check),
        Task::Fuzz(arguments) => fuzz::run(root(), &arguments),
        Task::Perf(arguments) => perf::run(&arguments),
        Task::PerfMemory(arguments) => perf::memory::run(&arguments),
    };
    match result {
        Ok(()) => ExitCode::SUCCESS,
        Err(error) => {
            eprintln!("error: {error}");
            ExitCode::FAILURE
        }
    }
}

fn ci() -> Result<(), Box<dyn Error>> {
    let script = root().join(".ci/run");
    let status = Command::new(&script)
        .status()
        .map_err(|error| format!("cannot run {}: {error}", script.display()))?;
    if status.success() { Ok(()) } else { Err(format!("{}: {status}", script.display()).into()) }
}
