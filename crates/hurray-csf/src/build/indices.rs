//! What indices are built from: rows or columns of any integer type, read block by block as
//! `u64` columns, so that nothing behind this file depends on the form or the type.

use hurray_format::Shape;

use super::error::BuildError;
use crate::tree::Csf;

/// The entries of one block: small enough for its columns to stay in the cache.
pub(crate) const BLOCK: usize = 512;

/// The indices of the entries of a tensor, borrowed and left as they are.
///
/// ```
/// use hurray_csf::build::Indices;
///
/// // The same two indices, (0, 0, 1) and (0, 2, 3), in both forms.
/// let rows = Indices::Rows(&[0, 0, 1, 0, 2, 3]);
/// let columns = Indices::Columns(&[&[0, 0], &[0, 2], &[1, 3]]);
/// # let _: [Indices<'_, u64>; 2] = [rows, columns];
/// ```
#[derive(Clone, Copy, Debug)]
pub enum Indices<'a, I> {
    /// One index after the other, each with its coordinate along dimension 0 first.
    Rows(&'a [I]),
    /// One slice per logical dimension, each with one coordinate per entry.
    Columns(&'a [&'a [I]]),
}

/// An integer type that coordinates may have: any of Rust's up to 64 bits, signed or not.
pub trait Coordinate: Copy + Send + Sync + sealed::Widen {}

mod sealed {
    use zerocopy::{FromBytes, Immutable, IntoBytes};

    pub trait Widen: IntoBytes + Immutable + Sized {
        /// Whether some numbers of the type are below 0.
        const SIGNED: bool;
        /// The bits, sign-extended to 64.
        fn widen(self) -> u64;
        /// Whether the number is below 0.
        fn below_zero(self) -> bool;
        /// The numbers where they are, if their type is `u64` or the same by another name.
        fn as_words(numbers: &[Self]) -> Option<&[u64]> {
            let is_word = size_of::<Self>() == size_of::<u64>() && !Self::SIGNED;
            is_word.then(|| <[u64]>::ref_from_bytes(numbers.as_bytes()).ok()).flatten()
        }
    }
}

macro_rules! coordinates {
    ($($unsigned:ty, $signed:ty;)*) => {$(
        impl Coordinate for $unsigned {}
        impl sealed::Widen for $unsigned {
            const SIGNED: bool = false;
            #[inline]
            fn widen(self) -> u64 {
                self as u64
            }
            #[inline]
            fn below_zero(self) -> bool {
                false
            }
        }
        impl Coordinate for $signed {}
        impl sealed::Widen for $signed {
            const SIGNED: bool = true;
            #[inline]
            fn widen(self) -> u64 {
                (self as i64).cast_unsigned()
            }
            #[inline]
            fn below_zero(self) -> bool {
                self < 0
            }
        }
    )*};
}

coordinates! {
    u8, i8;
    u16, i16;
    u32, i32;
    u64, i64;
    usize, isize;
}

/// The coordinates of up to [`BLOCK`] entries, one column per logical dimension.
pub(crate) struct Block {
    len: usize,
    coordinates: Vec<u64>,
    /// Whether a coordinate is below 0; its column then holds its bits.
    any_negative: bool,
}

impl Block {
    /// Room for a block of any tensor of this rank.
    pub(crate) fn new(rank: usize) -> Self {
        Self { len: 0, coordinates: vec![0; rank * BLOCK], any_negative: false }
    }

    /// The number of entries.
    pub(crate) fn len(&self) -> usize {
        self.len
    }

    /// The coordinates along `dimension`.
    pub(crate) fn column(&self, dimension: usize) -> &[u64] {
        &self.coordinates[dimension * BLOCK..][..self.len]
    }

    /// Writes the coordinates of one entry.
    pub(crate) fn set(&mut self, entry: usize, index: &[u64]) {
        for (dimension, &coordinate) in index.iter().enumerate() {
            self.column_mut(dimension)[entry] = coordinate;
        }
    }

    /// The same, to be written.
    pub(crate) fn column_mut(&mut self, dimension: usize) -> &mut [u64] {
        &mut self.coordinates[dimension * BLOCK..][..self.len]
    }
}

/// Something that has the indices of entries.
pub(crate) trait Source: Sync {
    /// The number of entries.
    fn len(&self) -> usize;

    /// Fills every column of a block, which has its length, with the entries from `start` on;
    /// returns whether a coordinate is negative.
    fn fill(&self, start: usize, block: &mut Block) -> bool;

    /// The indices where they are, if they are rows of `u64`.
    fn rows(&self) -> Option<&[u64]> {
        None
    }

    /// The tree whose leaves the entries are, if they are those of one.
    fn tree(&self) -> Option<&Csf<&[u64]>> {
        None
    }

    /// Reads the `len` entries from `start` on, at most [`BLOCK`].
    fn read(&self, start: usize, len: usize, block: &mut Block) {
        block.len = len;
        block.any_negative = self.fill(start, block);
    }
}

/// Indices whose lengths are those of a tensor of some rank.
pub(crate) struct Checked<'a, I> {
    indices: Indices<'a, I>,
    rank: usize,
    len: usize,
}

impl<'a, I: Coordinate> Checked<'a, I> {
    /// Checks the lengths. O(rank).
    pub(crate) fn new(indices: Indices<'a, I>, rank: usize) -> Result<Self, BuildError> {
        let len = match indices {
            Indices::Rows(rows) => {
                if !rows.len().is_multiple_of(rank) {
                    return Err(BuildError::PartialRow { found: rows.len(), rank });
                }
                rows.len() / rank
            }
            Indices::Columns(columns) => {
                if columns.len() != rank {
                    return Err(BuildError::ColumnCount { found: columns.len(), rank });
                }
                let expected = columns[0].len();
                for (dimension, column) in columns.iter().enumerate() {
                    let found = column.len();
                    if found != expected {
                        return Err(BuildError::ColumnLength { dimension, found, expected });
                    }
                }
                expected
            }
        };
        Ok(Self { indices, rank, len })
    }
}

impl<I: Coordinate> Source for Checked<'_, I> {
    fn len(&self) -> usize {
        self.len
    }

    fn rows(&self) -> Option<&[u64]> {
        let Indices::Rows(rows) = self.indices else { return None };
        I::as_words(rows)
    }

    fn fill(&self, start: usize, block: &mut Block) -> bool {
        match (self.indices, self.rank) {
            (Indices::Rows(rows), 3) => transpose::<I, 3>(&rows[start * 3..], block),
            (Indices::Rows(rows), 4) => transpose::<I, 4>(&rows[start * 4..], block),
            (Indices::Rows(rows), 5) => transpose::<I, 5>(&rows[start * 5..], block),
            (Indices::Rows(rows), 6) => transpose::<I, 6>(&rows[start * 6..], block),
            (Indices::Rows(rows), rank) => (0..rank).fold(false, |any, dimension| {
                let rows = rows[start * rank..].iter().skip(dimension).step_by(rank);
                any | widen(rows, block.column_mut(dimension))
            }),
            (Indices::Columns(columns), _) => {
                (columns.iter().enumerate()).fold(false, |any, (dimension, column)| {
                    any | widen(column[start..].iter(), block.column_mut(dimension))
                })
            }
        }
    }
}

/// Copies rows of a length known when this is compiled, which is faster.
fn transpose<I: Coordinate, const RANK: usize>(rows: &[I], block: &mut Block) -> bool {
    let rows = rows.as_chunks::<RANK>().0;
    (0..RANK).fold(false, |any, dimension| {
        any | widen(rows.iter().map(|row| &row[dimension]), block.column_mut(dimension))
    })
}

/// Copies coordinates as `u64`; returns whether one is negative.
#[inline]
fn widen<'a, I: Coordinate + 'a>(from: impl Iterator<Item = &'a I>, to: &mut [u64]) -> bool {
    let mut any_negative = false;
    for (to, from) in to.iter_mut().zip(from) {
        *to = from.widen();
        any_negative |= from.below_zero();
    }
    any_negative
}

/// Checks the coordinates of a block, which starts at entry `start`, against the shape.
///
/// # Errors
/// [`BuildError::Negative`] or [`BuildError::OutOfRange`] for the first entry, and its first
/// dimension, that is wrong.
pub(super) fn check_bounds(block: &Block, start: usize, shape: &Shape) -> Result<(), BuildError> {
    let mut is_wrong = block.any_negative;
    for (dimension, &size) in shape.dimensions().iter().enumerate() {
        if size != Shape::DYNAMIC {
            // No early exit: the loop is vectorized.
            let outside = block.column(dimension).iter().fold(false, |any, &c| any | (c >= size));
            is_wrong |= outside;
        }
    }
    if is_wrong { Err(first_wrong(block, start, shape)) } else { Ok(()) }
}

/// The error of a block that has one.
#[cold]
fn first_wrong(block: &Block, start: usize, shape: &Shape) -> BuildError {
    let entries = (0..block.len).flat_map(|i| (0..shape.rank()).map(move |d| (i, d)));
    for (i, dimension) in entries {
        let entry = start + i;
        let coordinate = block.column(dimension)[i];
        // Only signed types set the flag, and theirs are negative from this bit on.
        if block.any_negative && coordinate >> 63 == 1 {
            let coordinate = coordinate.cast_signed();
            return BuildError::Negative { entry, dimension, coordinate };
        }
        if !shape.contains(dimension, coordinate) {
            let size = shape.dimensions()[dimension];
            return BuildError::OutOfRange { entry, dimension, coordinate, size };
        }
    }
    unreachable!("only called for a block with a coordinate that is negative or out of range")
}
