//! Reads a file with the reference and says in its exit code what came of it: 0 if it was read, 1 if
//! it was refused. A process of its own, since there are files that end it.

use std::path::Path;
use std::process::ExitCode;

fn main() -> ExitCode {
    let path = std::env::args_os().nth(1).expect("the path of a file");
    match hurray_conformance::reference::read(Path::new(&path)) {
        Ok(_) => ExitCode::SUCCESS,
        Err(refusal) => {
            eprintln!("{refusal}");
            ExitCode::FAILURE
        }
    }
}
