//! Standard output, collected so that it is written in large pieces and any failure is seen.

use std::io::{self, Write};

use serde::Serialize;

use crate::failure::{Failure, is_deceptive};

/// Lets `write` fill a buffered standard output.
pub(crate) fn print(write: impl FnOnce(&mut dyn Write) -> io::Result<()>) -> Result<(), Failure> {
    let mut out = io::BufWriter::new(io::stdout().lock());
    write(&mut out)?;
    Ok(out.flush()?)
}

/// Prints a document, in which nothing from a file drives the terminal.
pub(crate) fn print_json(document: &impl Serialize) -> Result<(), Failure> {
    let text = serde_json::to_string_pretty(document).map_err(io::Error::from)?;
    let mut escaped = String::with_capacity(text.len() + 1);
    for c in text.chars() {
        // JSON has its own escapes for most controls, and may end lines between its strings.
        if is_deceptive(c) && c != '\n' {
            c.encode_utf16(&mut [0; 2])
                .iter()
                .for_each(|unit| escaped += &format!("\\u{unit:04x}"));
        } else {
            escaped.push(c);
        }
    }
    print(|out| writeln!(out, "{escaped}"))
}
