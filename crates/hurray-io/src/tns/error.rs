//! What can be wrong with coordinate text, and where.

use std::fmt;
use std::io;

use hurray_format::ElementType;
use thiserror::Error;

use super::IndexBase;

/// Why text could not be read.
///
/// Among several mistakes in one file it is always the first in the order of the file, however
/// many threads read it.
#[derive(Debug, Error)]
#[non_exhaustive]
pub enum TextError {
    /// A line is not what it should be.
    #[error("{place}: {problem}")]
    Line {
        /// Where.
        place: Place,
        /// What is wrong there.
        problem: Box<Problem>,
    },
    /// There is no entry that tells the rank and the dimensions, and no shape was given.
    #[error("{}there are no entries to take the shape from; give the shape", prefix(.name))]
    NoEntries {
        /// The name of the file, if it has one.
        name: Option<String>,
    },
    /// Values of this type cannot be read from text.
    #[error(
        "values of type {element_type} cannot be read from text; the types that can are float16 \
         to float64, bfloat16, int8 to int64 and uint8 to uint64"
    )]
    ElementType {
        /// The type asked for.
        element_type: ElementType,
    },
    /// The text is compressed, and this build cannot decompress it.
    #[error("{}this is gzip, but the program was built without the feature `gzip`", prefix(.name))]
    GzipUnsupported {
        /// The name of the file, if it has one.
        name: Option<String>,
    },
    /// The size or the time of the file is not what it was when the reading began.
    #[error("{}the text was changed while it was read", prefix(.name))]
    Changed {
        /// The name of the file, if it has one.
        name: Option<String>,
    },
    /// The text cannot be had: the input failed, or compressed text is damaged or cut short.
    #[error("{}{}: {source}", prefix(.name), reading_failed(*.after_line))]
    Io {
        /// The name of the file, if it has one.
        name: Option<String>,
        /// The number of lines that were read before.
        after_line: u64,
        /// What the system or the decompression says.
        source: io::Error,
    },
}

fn reading_failed(after_line: u64) -> String {
    match after_line {
        0 => "cannot read the text".to_owned(),
        line => format!("reading failed after line {line}"),
    }
}

fn prefix(name: &Option<String>) -> String {
    name.as_ref().map(|name| format!("{name}: ")).unwrap_or_default()
}

/// A place in text. Displayed as `name, line 3, column 5`.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Place {
    /// The name of the file, if it has one.
    pub name: Option<String>,
    /// The line, the first being 1.
    pub line: u64,
    /// The byte within the line, the first being 1; a byte order mark does not count.
    pub column: u64,
}

impl fmt::Display for Place {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        if let Some(name) = &self.name {
            write!(f, "{name}, ")?;
        }
        write!(f, "line {}, column {}", self.line, self.column)
    }
}

/// What is wrong at a place in text.
#[derive(Clone, Debug, PartialEq, Eq, Error)]
#[non_exhaustive]
pub enum Problem {
    /// The file is of another kind.
    #[error("this is a {dialect} file, not FROSTT text: {}", dialect.advice())]
    Dialect {
        /// Which.
        dialect: Dialect,
    },
    /// A line has more or fewer columns than the first entry or the given shape makes it.
    #[error("the line has {}, but {}", columns(*.found), expectation(.expected, *.pattern))]
    Columns {
        /// The columns found.
        found: usize,
        /// The rank of the tensor: that of the first entry.
        expected: usize,
        /// Whether there is no column of values.
        pattern: bool,
    },
    /// The first entry has another rank than the given shape.
    #[error("the entry has {found} indices, but the given shape has rank {expected}")]
    ShapeRank {
        /// The indices found.
        found: usize,
        /// The rank of the given shape.
        expected: usize,
    },
    /// The first entry has more indices than a tensor can have dimensions.
    #[error("the entry has {found} indices, but a tensor has at most 64 dimensions")]
    RankTooLarge {
        /// The indices found.
        found: usize,
    },
    /// The first entry has a single column.
    #[error("{found} stands alone, but an entry has at least one index and a value")]
    NoValue {
        /// What stands there.
        found: Found,
    },
    /// Something else than a whole number without sign stands where an index belongs.
    #[error("{found} is not an index; an index is a whole number without sign")]
    NotAnIndex {
        /// What stands there.
        found: Found,
    },
    /// Index 0 in a file that counts from 1.
    #[error(
        "index 0 lies below the index base 1; if the file counts from 0, read it with index base 0"
    )]
    BelowIndexBase,
    /// An index that no dimension is long enough for.
    #[error("index {found} is too large; a dimension has at most 2^64 - 2 elements")]
    IndexTooLarge {
        /// What stands there.
        found: Found,
    },
    /// An index outside the given shape.
    #[error(
        "index {index} is outside dimension {dimension} of size {size} (indices count from {})",
        index_base.first()
    )]
    OutsideShape {
        /// The index as the text has it.
        index: u64,
        /// What it counts from.
        index_base: IndexBase,
        /// The dimension, the first being 0.
        dimension: usize,
        /// Its size.
        size: u64,
    },
    /// Something else than a number stands where a value belongs.
    #[error("{found} is not a number")]
    NotANumber {
        /// What stands there.
        found: Found,
    },
    /// A value that the element type cannot hold.
    #[error("value {found} {reason} {element_type}; {}", advice(*.fits))]
    Value {
        /// What stands there.
        found: Found,
        /// Why not.
        reason: Misfit,
        /// The element type.
        element_type: ElementType,
        /// The smallest type that holds the value, if any does.
        fits: Option<ElementType>,
    },
    /// A byte that text does not have: NUL, or one that is not UTF-8.
    #[error(
        "byte {byte:#04x} does not belong into text; the file is not UTF-8 text (UTF-16 has to be converted) or is damaged"
    )]
    NotText {
        /// The byte.
        byte: u8,
    },
    /// A carriage return in the middle of the first entry: the lines of the file end with nothing
    /// else, and would be taken for one.
    #[error("a carriage return alone does not end a line; give lines ends of LF or CR LF")]
    CarriageReturn,
    /// A line too long to be one.
    #[error("the line is longer than {limit} bytes")]
    LineTooLong {
        /// The most bytes that a line can have.
        limit: usize,
    },
}

/// Why an element type cannot hold a number. Displayed to go before the name of the type.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
#[non_exhaustive]
pub enum Misfit {
    /// It has a fraction, and the type holds integers.
    Fraction,
    /// It is an integer outside the range of the type.
    OutOfRange,
    /// It is NaN or an infinity, and the type holds integers.
    NotFinite,
    /// It would become an infinity.
    Overflow,
    /// It is written as an integer, and the type holds only a neighbour.
    Inexact,
}

impl fmt::Display for Misfit {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(match self {
            Misfit::Fraction => "has a fraction and cannot be",
            Misfit::OutOfRange => "is outside the range of",
            Misfit::NotFinite => "is not finite and cannot be",
            Misfit::Overflow => "overflows to infinity as",
            Misfit::Inexact => "is an integer that is not exact as",
        })
    }
}

/// A file format that also keeps coordinates as text, told by its header.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
#[non_exhaustive]
pub enum Dialect {
    /// A `sptensor` of the Tensor Toolbox, pyttb, Genten or SparTen.
    TensorToolbox,
    /// A lone rank, then the sizes: ParTI and HiParTI.
    ParTI,
    /// `%%MatrixMarket`: Matrix Market, and TensorMarket as taco writes it.
    TensorMarket,
}

impl Dialect {
    fn advice(self) -> &'static str {
        match self {
            Dialect::TensorToolbox => {
                "remove the header (the word, the rank, the sizes and the number of entries), and \
                 give the sizes as the shape"
            }
            Dialect::ParTI => {
                "remove the header (the rank and the sizes), and give the sizes as the shape"
            }
            Dialect::TensorMarket => {
                "remove the header (the lines that begin with % and the line of sizes), and give \
                 the sizes as the shape"
            }
        }
    }
}

impl fmt::Display for Dialect {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(match self {
            Dialect::TensorToolbox => "Tensor Toolbox (sptensor)",
            Dialect::ParTI => "ParTI",
            Dialect::TensorMarket => "TensorMarket (%%MatrixMarket)",
        })
    }
}

/// What stands in the text, at most its first 40 characters.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Found {
    text: String,
    bytes: usize,
    clipped: bool,
}

impl Found {
    const SHOWN: usize = 40;

    pub(super) fn new(token: &[u8]) -> Self {
        // Four bytes are the longest character.
        let head = String::from_utf8_lossy(&token[..token.len().min(4 * Self::SHOWN)]);
        let text: String = head.chars().take(Self::SHOWN).collect();
        Self { clipped: text.len() < token.len(), text, bytes: token.len() }
    }
}

impl fmt::Display for Found {
    /// In backquotes; control characters and unusual blanks are escaped.
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str("`")?;
        for c in self.text.chars() {
            // What cannot be seen is spelled out.
            if c.is_control() || c.is_whitespace() || c == '\u{FEFF}' {
                write!(f, "{}", c.escape_default())?;
            } else {
                write!(f, "{c}")?;
            }
        }
        if self.clipped { write!(f, "...` ({} bytes)", self.bytes) } else { f.write_str("`") }
    }
}

fn columns(count: usize) -> String {
    format!("{count} column{}", if count == 1 { "" } else { "s" })
}

fn expectation(rank: &usize, pattern: bool) -> String {
    let indices = if *rank == 1 { "1 index".into() } else { format!("{rank} indices") };
    if pattern {
        format!("every entry of this file has {indices} and no value")
    } else {
        format!("every entry of this file has {indices} and a value: {}", columns(rank + 1))
    }
}

fn advice(fits: Option<ElementType>) -> String {
    match fits {
        Some(element_type) => format!("{element_type} would hold it"),
        None => "no element type holds it exactly".into(),
    }
}
