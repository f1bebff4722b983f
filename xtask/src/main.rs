//! Tasks of the project, run as `cargo xtask <task>`.

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
}

/// The root of the repository.
fn root() -> &'static Path {
    Path::new(concat!(env!("CARGO_MANIFEST_DIR"), "/.."))
}

fn main() -> ExitCode {
    let result = match Arguments::parse().task {
        Task::Ci => ci(),
    };
    match result {
        Ok(()) => ExitCode::SUCCESS,
        Err(message) => {
            eprintln!("error: {message}");
            ExitCode::FAILURE
        }
    }
}

fn ci() -> Result<(), String> {
    let script = root().join(".ci/run");
    let status = Command::new(&script)
        .status()
        .map_err(|error| format!("cannot run {}: {error}", script.display()))?;
    if status.success() { Ok(()) } else { Err(format!("{}: {status}", script.display())) }
}
