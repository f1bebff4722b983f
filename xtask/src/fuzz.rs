//! `cargo xtask fuzz`: every fuzz target in turn, and how often each of them ran.
//!
//! Guided by coverage where cargo-bolero is installed, which works with a stable toolchain as long
//! as no sanitizer is asked for; else with inputs that are random. Inputs that reach new code are
//! kept in `target/fuzz-corpus`, one that fails in `fuzz/tests/__fuzz__/TARGET/crashes`, where
//! `cargo test` in `fuzz` runs it again.

use std::error::Error;
use std::fs;
use std::path::Path;
use std::process::{Command, Output};

use clap::Args;

type Result<T> = std::result::Result<T, Box<dyn Error>>;

/// What `fuzz` is told.
#[derive(Args)]
pub(crate) struct Arguments {
    /// How long each target runs
    #[arg(long, default_value_t = 60)]
    seconds: u64,
    /// Only these targets, separated by commas
    #[arg(long, value_delimiter = ',')]
    only: Vec<String>,
    /// Random inputs even where cargo-bolero is installed; faster, but blind
    #[arg(long)]
    random: bool,
}

/// Runs the targets of the repository at `root`.
pub(crate) fn run(root: &Path, arguments: &Arguments) -> Result<()> {
    let names = targets(&root.join("fuzz/tests"))?;
    if let Some(name) = arguments.only.iter().find(|name| !names.contains(name)) {
        return Err(format!("there is no target {name}, only {}", names.join(", ")).into());
    }
    let has_bolero = || {
        let version = Command::new("cargo").args(["bolero", "--version"]).output();
        version.is_ok_and(|output| output.status.success())
    };
    let is_guided = !arguments.random && has_bolero();
    let engine = if is_guided { "guided by coverage (libfuzzer)" } else { "random inputs" };
    println!("{engine}, {} s per target", arguments.seconds);
    if !arguments.random && !is_guided {
        println!("for inputs guided by coverage: cargo install cargo-bolero");
    }
    let mut total = 0;
    for name in
        names.iter().filter(|&name| arguments.only.is_empty() || arguments.only.contains(name))
    {
        let command = if is_guided { guided } else { random };
        let output = command(root, name, arguments.seconds)?.output()?;
        let executions = executions(&output).map_err(|error| format!("{name}: {error}"))?;
        println!("{name:12} {executions:>12} executions");
        total += executions;
    }
    println!("{:12} {total:>12} executions", "all");
    Ok(())
}

/// The names of the targets: there is a file for each.
fn targets(folder: &Path) -> Result<Vec<String>> {
    let mut names = Vec::new();
    for entry in fs::read_dir(folder)? {
        let path = entry?.path();
        if path.extension().is_some_and(|extension| extension == "rs") {
            names.extend(path.file_stem().map(|name| name.to_string_lossy().into_owned()));
        }
    }
    names.sort();
    Ok(names)
}

fn guided(root: &Path, name: &str, seconds: u64) -> Result<Command> {
    let target = root.join("target");
    let found = target.join("fuzz-corpus").join(name);
    let mut command = Command::new("cargo");
    command
        .current_dir(root.join("fuzz"))
        .args(["bolero", "test", "--sanitizer", "NONE", "--timeout", "10s"])
        .args(["-T", &format!("{seconds}s")])
        .arg("--target-dir")
        .arg(target.join("fuzz"))
        .arg("--corpus-dir")
        .arg(&found)
        .arg(name);
    // What is in the repository comes along. New inputs go to the other folder.
    fs::create_dir_all(&found)?;
    let kept = root.join("fuzz/tests/__fuzz__").join(name).join("corpus");
    if kept.is_dir() {
        for entry in fs::read_dir(kept)? {
            let entry = entry?;
            fs::copy(entry.path(), found.join(entry.file_name()))?;
        }
    }
    Ok(command)
}

fn random(root: &Path, name: &str, seconds: u64) -> Result<Command> {
    let mut command = Command::new("cargo");
    command
        .current_dir(root)
        .args(["test", "--manifest-path", "fuzz/Cargo.toml", "--target-dir", "target"])
        .args(["--test", name, "--", "--nocapture"])
        .env("BOLERO_RANDOM_ITERATIONS", usize::MAX.to_string())
        .env("BOLERO_RANDOM_TEST_TIME_MS", (seconds * 1000).to_string());
    Ok(command)
}

/// The number that the fuzzer printed, `Done 123 runs in 4 second(s)`, or the target itself, `123
/// executions`.
fn executions(output: &Output) -> Result<u64> {
    let text = [&output.stdout[..], &output.stderr].concat();
    let text = String::from_utf8_lossy(&text);
    let count = text.lines().rev().find_map(|line| {
        let number = match line.strip_prefix("Done ") {
            Some(rest) => rest.split(" runs").next()?,
            None => line.strip_suffix(" executions")?,
        };
        number.parse().ok()
    });
    match count {
        Some(count) if output.status.success() => Ok(count),
        _ => Err(format!("{}\n{text}", output.status).into()),
    }
}
