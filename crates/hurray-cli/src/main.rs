//! The binary `hurray`: coordinate text to Hurray files and back, and a look inside.
//!
//! One file per subcommand owns its arguments and its work; the libraries do the rest.

mod argument;
mod cast;
mod convert;
mod demo;
mod failure;
mod get;
mod inspect;
mod interrupt;
mod open;
mod output;
mod place;
mod progress;
mod verify;

use std::io::{self, Write};
use std::process::ExitCode;

use clap::error::ErrorKind;
use clap::{Parser, Subcommand};

use crate::failure::Failure;

/// Sparse tensors in the CSF layout of the Hurray format: convert coordinate text once, then map
/// the file and work on it where it lies.
#[derive(Parser)]
#[command(name = "hurray", version, arg_required_else_help = true, max_term_width = 100)]
#[command(after_help = "\
Example:
  hurray convert tensor.tns tensor.hrry && hurray inspect tensor.hrry

Exit codes: 0 done, 1 refused or failed, 2 wrong usage.")]
struct Arguments {
    #[command(subcommand)]
    command: Command,
}

#[derive(Subcommand)]
enum Command {
    Convert(convert::Arguments),
    Inspect(inspect::Arguments),
    Verify(verify::Arguments),
    Get(get::Arguments),
    Demo(demo::Arguments),
}

fn main() -> ExitCode {
    let arguments = match Arguments::try_parse() {
        Ok(arguments) => arguments,
        Err(error) => return usage(&error),
    };
    let result = match arguments.command {
        Command::Convert(arguments) => convert::run(&arguments),
        Command::Inspect(arguments) => inspect::run(&arguments),
        Command::Verify(arguments) => verify::run(&arguments),
        Command::Get(arguments) => get::run(&arguments),
        Command::Demo(arguments) => demo::run(&arguments),
    };
    interrupt::settle();
    match result {
        Ok(()) => ExitCode::SUCCESS,
        Err(failure) => failure.report(),
    }
}

/// Help and version as they are; an error in one line like all others.
fn usage(error: &clap::Error) -> ExitCode {
    let is_help = error.kind() == ErrorKind::DisplayHelpOnMissingArgumentOrSubcommand;
    if !error.use_stderr() {
        // Not `exit`, which takes a full disk for a success.
        let printed = error.print().and_then(|()| io::stdout().flush());
        return match printed {
            Ok(()) => ExitCode::SUCCESS,
            Err(error) => Failure::from(error).report(),
        };
    }
    if is_help {
        error.exit();
    }
    let text = error.to_string();
    let message: Vec<&str> =
        text.lines().map(str::trim).take_while(|line| !line.is_empty()).collect();
    let message = message.join(" ");
    Failure::Usage(format!("{}; see --help", message.trim_start_matches("error: "))).report()
}
