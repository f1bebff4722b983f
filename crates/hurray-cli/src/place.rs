//! Where a conversion reads from or writes to, and in which format.

use std::fmt;
use std::path::{Path, PathBuf};

use clap::ValueEnum;

use crate::failure::Failure;

/// What a file holds.
#[derive(Clone, Copy, Debug, PartialEq, Eq, ValueEnum)]
pub(crate) enum Format {
    /// Coordinate text
    #[value(name = "tns")]
    Text,
    /// Coordinate text, compressed with gzip
    #[value(name = "tns.gz")]
    CompressedText,
    /// A Hurray file
    #[value(name = "hrry")]
    Hurray,
}

/// A file or a standard stream, with its format.
#[derive(Clone, Debug)]
pub(crate) struct Place {
    /// `None` for standard input or output.
    pub(crate) path: Option<PathBuf>,
    is_input: bool,
    pub(crate) format: Format,
}

impl Place {
    /// The place called `name`, `-` being a standard stream; its format is the one `given` with
    /// `option`, or else told by the ending.
    pub(crate) fn new(
        name: &Path,
        given: Option<Format>,
        option: &'static str,
    ) -> Result<Self, Failure> {
        let is_input = option == "--from";
        if name == "-" {
            return match given {
                Some(Format::Hurray) => Err(Failure::Usage(format!(
                    "`-` is text; give a path for a Hurray file instead of {option} hrry"
                ))),
                given => Ok(Self { path: None, is_input, format: given.unwrap_or(Format::Text) }),
            };
        }
        match given.or_else(|| Format::of(name)) {
            Some(format) => Ok(Self { path: Some(name.to_owned()), is_input, format }),
            None => Err(Failure::Usage(format!(
                "{}: the ending is not .tns, .tns.gz or .hrry; say what it is with {option}",
                name.display()
            ))),
        }
    }

    pub(crate) fn is_text(&self) -> bool {
        self.format != Format::Hurray
    }

    /// The file name without folder and ending, as the name of a tensor.
    pub(crate) fn stem(&self) -> String {
        let name = self.path.as_deref().and_then(Path::file_name);
        let name = name.map_or_else(|| "tensor".into(), |name| name.to_string_lossy());
        match name.split_once('.') {
            Some((stem, _)) if !stem.is_empty() => stem.to_owned(),
            _ => name.into_owned(),
        }
    }
}

impl Format {
    fn of(path: &Path) -> Option<Self> {
        let name = path.file_name()?.to_string_lossy().to_lowercase();
        let endings = [
            (".tns", Format::Text),
            (".tns.gz", Format::CompressedText),
            (".hrry", Format::Hurray),
        ];
        endings.into_iter().find(|(ending, _)| name.ends_with(ending)).map(|(_, format)| format)
    }
}

impl fmt::Display for Place {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match &self.path {
            Some(path) => path.display().fmt(f),
            None => f.write_str(if self.is_input { "standard input" } else { "standard output" }),
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn place(name: &str, given: Option<Format>) -> Result<Place, Failure> {
        Place::new(Path::new(name), given, "--from")
    }

    #[test]
    fn the_ending_tells_the_format_and_the_option_overrules_it() {
        assert_eq!(place("a.tns", None).unwrap().format, Format::Text);
        assert_eq!(place("a.b.TNS.GZ", None).unwrap().format, Format::CompressedText);
        assert_eq!(place("a.hrry", None).unwrap().format, Format::Hurray);
        assert_eq!(place("a.hrry", Some(Format::Text)).unwrap().format, Format::Text);
        assert!(matches!(place("a.txt", None), Err(Failure::Usage(_))));
    }

    #[test]
    fn a_standard_stream_is_text() {
        assert_eq!(place("-", None).unwrap().format, Format::Text);
        assert_eq!(
            place("-", Some(Format::CompressedText)).unwrap().format,
            Format::CompressedText
        );
        assert!(matches!(place("-", Some(Format::Hurray)), Err(Failure::Usage(_))));
    }

    #[test]
    fn a_tensor_is_called_like_its_file() {
        assert_eq!(place("x/nips.tns.gz", None).unwrap().stem(), "nips");
        assert_eq!(place("-", None).unwrap().stem(), "tensor");
        assert_eq!(place(".tns", None).unwrap().stem(), ".tns");
    }
}
