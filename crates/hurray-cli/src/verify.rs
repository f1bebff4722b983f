//! `hurray verify`: everything, to the last index.

use std::path::{Path, PathBuf};

use clap::Args;
use hurray_io::File;

use crate::failure::{Failure, one_line};
use crate::output;
use crate::progress::Progress;

/// Check Hurray files completely: what `inspect` reads, every index, and recorded statistics
///
/// Prints a line for each file that is good, and one on stderr for each that is not. The format has
/// no checksum over data: a wrong value cannot be seen, nor a wrong coordinate that keeps the order.
#[derive(Args)]
#[command(after_help = "Example:\n  hurray verify *.hrry")]
pub(crate) struct Arguments {
    /// Hurray files
    #[arg(value_name = "FILE", required = true)]
    files: Vec<PathBuf>,
}

pub(crate) fn run(arguments: &Arguments) -> Result<(), Failure> {
    let mut all_good = true;
    for path in &arguments.files {
        match verify(path) {
            Ok(tensors) => output::print(|out| {
                let s = if tensors == 1 { "" } else { "s" };
                writeln!(out, "{}: ok, {tensors} tensor{s}", one_line(&path.display().to_string()))
            })?,
            Err(failure) => {
                failure.report();
                all_good = false;
            }
        }
    }
    if all_good { Ok(()) } else { Err(Failure::Reported) }
}

/// The number of tensors of a good file.
fn verify(path: &Path) -> Result<usize, Failure> {
    let _spinner = Progress::spinner("verifying", false);
    let file = File::open(path)?;
    file.verify()?;
    Ok(file.len())
}
