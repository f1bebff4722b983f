//! Why a command ends early, and what the person at the terminal gets to see of it.

use std::io;
use std::process::ExitCode;

use hurray_csf::IndexError;
use hurray_csf::build::BuildError;
use hurray_format::FormatError;
use hurray_io::tns::TextError;
use thiserror::Error;

use crate::cast::CastError;

/// Why a command ends early.
#[derive(Debug, Error)]
pub(crate) enum Failure {
    /// Arguments that do not go together, or not with this input: exit code 2.
    #[error("{0}")]
    Usage(String),
    /// Something was refused, in words of our own: exit code 1, like all that follow.
    #[error("{0}")]
    Refused(String),
    /// The failures were reported one by one already.
    #[error("some files were refused")]
    Reported,
    /// Standard output failed. A closed pipe is no failure: whoever reads it has seen enough.
    #[error("standard output: {0}")]
    Output(#[from] io::Error),
    #[error(transparent)]
    File(Box<hurray_io::Error>),
    #[error(transparent)]
    Text(#[from] TextError),
    #[error(transparent)]
    Format(#[from] FormatError),
    #[error(transparent)]
    Build(#[from] BuildError),
    #[error(transparent)]
    Index(#[from] IndexError),
    #[error(transparent)]
    Cast(#[from] CastError),
}

impl From<hurray_io::Error> for Failure {
    fn from(error: hurray_io::Error) -> Self {
        Failure::File(Box::new(error))
    }
}

impl Failure {
    /// The same failure with the name of the file in front.
    pub(crate) fn at(path: impl std::fmt::Display, error: impl std::fmt::Display) -> Self {
        Failure::Refused(format!("{path}: {error}"))
    }

    /// Writes the failure to stderr in one line and gives the exit code.
    pub(crate) fn report(&self) -> ExitCode {
        match self {
            Failure::Reported => return ExitCode::FAILURE,
            Failure::Output(error) if error.kind() == io::ErrorKind::BrokenPipe => {
                return ExitCode::SUCCESS;
            }
            _ => eprintln!("error: {}", one_line(&self.to_string())),
        }
        match self {
            Failure::Usage(_) => ExitCode::from(2),
            _ => ExitCode::FAILURE,
        }
    }
}

/// Escapes what would end the line, drive the terminal, or make the line look like another one:
/// messages quote names and text that come from files.
pub(crate) fn one_line(message: &str) -> String {
    let escape = |c: char| match is_deceptive(c) {
        true => c.escape_default().to_string(),
        false => c.to_string(),
    };
    message.chars().map(escape).collect()
}

/// Controls, line ends, and characters that nobody sees or that change the direction of others.
pub(crate) fn is_deceptive(c: char) -> bool {
    c.is_control()
        || matches!(c, '\u{AD}' | '\u{61C}' | '\u{180E}' | '\u{200B}'..='\u{200F}' | '\u{FEFF}')
        || matches!(c, '\u{2028}'..='\u{202E}' | '\u{2060}'..='\u{206F}' | '\u{FFF9}'..='\u{FFFB}')
        || matches!(c, '\u{E0000}'..='\u{E0FFF}')
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn control_characters_are_escaped() {
        assert_eq!(one_line("a\nb\u{1b}[1m ü"), "a\\nb\\u{1b}[1m ü");
        assert_eq!(one_line("\u{202E}x\u{2066}\u{200B}日本"), "\\u{202e}x\\u{2066}\\u{200b}日本");
    }
}
