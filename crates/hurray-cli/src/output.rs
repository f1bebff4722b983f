//! Standard output, collected so that it is written in large pieces and any failure is seen.

use std::io::{self, Write};

use serde::Serialize;

use crate::failure::Failure;

/// Lets `write` fill a buffered standard output.
pub(crate) fn print(write: impl FnOnce(&mut dyn Write) -> io::Result<()>) -> Result<(), Failure> {
    let mut out = io::BufWriter::new(io::stdout().lock());
    write(&mut out)?;
    Ok(out.flush()?)
}

/// Prints a document.
pub(crate) fn print_json(document: &impl Serialize) -> Result<(), Failure> {
    print(|out| {
        serde_json::to_writer_pretty(&mut *out, document)?;
        writeln!(out)
    })
}
