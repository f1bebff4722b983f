//! FROSTT coordinate text, read and written.
//!
//! One entry per line: the indices, then the value, with blanks of any kind between them.
//!
//! ```text
//! # comments begin with a hash, at the beginning of a line or behind an entry
//! 1 1 2   1.0
//! 1 3 4   2.0e-3
//! ```
//!
//! Text knows neither the shape nor the element type of a tensor, nor what its indices count from.
//! Whoever reads it says so in [`ReadOptions`]; otherwise indices count from 1, values are float64
//! and the shape is the smallest that holds every index.
//!
//! # Reading
//! - Blanks are space, tab, vertical tab, form feed and carriage return, so CRLF is a line end too.
//!   Blank lines, comments (whatever bytes they hold), a missing last line feed and a UTF-8 byte
//!   order mark are fine. Text compressed with gzip is recognised by its first bytes; all its
//!   members are read.
//! - The rank is that of the first entry, at most 64, and every entry keeps it. Ranks 1 and 2 are
//!   read as well, though CSF is only for rank 3 and up.
//! - An index is a whole number without sign.
//! - A value is an integer or a decimal number, with or without sign, point and exponent, or
//!   `nan`, `inf` or `infinity` in upper or lower case. It is rounded to the nearest value of the
//!   element type, ties to even, and once only, also for the 16-bit types. Negative zero is kept.
//! - Nothing is lost silently. These are errors: a number that would overflow to infinity, a
//!   fraction or a number out of range for an integer type, and a number written as an integer,
//!   without point and exponent, that a float type does not hold exactly (2^53 + 1 for float64,
//!   2^24 + 1 for float32). Written as `16777217.0` it is rounded like every decimal number.
//!   An integer type takes `4.0` and `1e3`, which are integers.
//! - The headers of other dialects are recognised and refused: `sptensor` (Tensor Toolbox), a
//!   lone rank followed by sizes (ParTI), `%%MatrixMarket` (TensorMarket).
//!
//! # Writing
//! Entries are written in storage order, each value in the shortest form that reads back to the
//! same bits, if it is read as the same type. What text loses: the shape, where no entry lies in
//! the last slices; the element type; the sign and payload of a NaN. Only the types that can be read are written; bool, packed, complex, private and other
//! types have no text form.

mod error;
mod format;
mod input;
mod line;
mod lines;
mod number;
mod piece;
mod pool;
mod read;
mod write;

pub use error::{Dialect, Found, Misfit, Place, Problem, TextError};
pub use lines::LineNumbers;
pub use read::{Entries, ReadOptions, read, read_path};
pub use write::{WriteError, WriteOptions, write_coo, write_csf};

/// What the indices of a text count from.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Hash)]
pub enum IndexBase {
    /// The first index is 0.
    Zero,
    /// The first index is 1, as FROSTT has it.
    #[default]
    One,
}

impl IndexBase {
    /// The first index.
    #[must_use]
    #[inline]
    pub fn first(self) -> u64 {
        match self {
            IndexBase::Zero => 0,
            IndexBase::One => 1,
        }
    }
}
