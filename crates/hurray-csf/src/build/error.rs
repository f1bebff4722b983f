//! Why a tree cannot be built.

use hurray_format::{ElementType, FormatError};
use thiserror::Error;

use super::Duplicates;

/// Entries that do not make a CSF tensor.
#[derive(Clone, Debug, PartialEq, Error)]
#[non_exhaustive]
pub enum BuildError {
    /// The rank or the mode order is not one of a CSF tensor.
    #[error(transparent)]
    Format(#[from] FormatError),
    /// Row-major indices that end inside a row.
    #[error("{found} coordinates are not whole indices of rank {rank}")]
    PartialRow {
        /// The number of coordinates found.
        found: usize,
        /// The rank of the tensor.
        rank: usize,
    },
    /// More or fewer columns than dimensions.
    #[error("{found} columns of coordinates were given for a tensor of rank {rank}")]
    ColumnCount {
        /// The number of columns found.
        found: usize,
        /// The rank of the tensor.
        rank: usize,
    },
    /// Columns of different lengths.
    #[error(
        "the column of dimension {dimension} has {found} coordinates, that of 0 has {expected}"
    )]
    ColumnLength {
        /// The dimension whose column differs.
        dimension: usize,
        /// The number of coordinates found.
        found: usize,
        /// The number of coordinates of dimension 0.
        expected: usize,
    },
    /// Not exactly one value per index.
    #[error("{values} values were given for {entries} indices")]
    ValueCount {
        /// The number of values found.
        values: usize,
        /// The number of indices found.
        entries: usize,
    },
    /// A coordinate below 0.
    #[error("entry {entry} has the negative coordinate {coordinate} along dimension {dimension}")]
    Negative {
        /// The position of the entry in the input.
        entry: usize,
        /// The dimension.
        dimension: usize,
        /// The coordinate found.
        coordinate: i64,
    },
    /// A coordinate that is not below its dimension.
    #[error(
        "entry {entry} has coordinate {coordinate} outside dimension {dimension} of size {size}"
    )]
    OutOfRange {
        /// The position of the entry in the input.
        entry: usize,
        /// The dimension.
        dimension: usize,
        /// The coordinate found.
        coordinate: u64,
        /// The size of the dimension.
        size: u64,
    },
    /// An index that is given twice, under [`Duplicates::Error`]. Of several, the first one in
    /// storage order is reported, with the first two entries that have it.
    #[error("entries {first} and {second} both have index {index:?}; choose how to merge them")]
    Duplicate {
        /// The logical index.
        index: Vec<u64>,
        /// The position in the input of the first entry that has it.
        first: usize,
        /// The position in the input of the second entry that has it.
        second: usize,
    },
    /// A sum of integers that its type cannot hold. Of several, the first one in storage order is
    /// reported.
    #[error("the sum of the values at index {index:?} does not fit into {element_type}")]
    SumOverflow {
        /// The logical index.
        index: Vec<u64>,
        /// The element type.
        element_type: ElementType,
    },
    /// A way to merge duplicates that the element type does not have. Found before anything is
    /// built, whether or not there are duplicates.
    #[error("duplicates of {element_type} have no {duplicates}; keep the first or the last")]
    NoArithmetic {
        /// The element type.
        element_type: ElementType,
        /// The way asked for.
        duplicates: Duplicates,
    },
}
