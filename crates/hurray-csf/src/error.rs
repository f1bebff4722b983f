//! What can be wrong with a tree, or with what is asked of it.

use hurray_format::FormatError;
use thiserror::Error;

use crate::build::BuildError;

/// Levels that do not fit together. Found in O(rank), before anything is looked up
/// (docs/format.md, "Buffer Table" and "Storage Invariants").
#[derive(Clone, Debug, PartialEq, Error)]
#[non_exhaustive]
pub enum StructureError {
    /// The rank or the mode order is not one of a CSF tensor.
    #[error(transparent)]
    Format(#[from] FormatError),
    /// There are more or fewer levels than dimensions.
    #[error("{found} levels were given for a tensor of rank {rank}")]
    LevelCount {
        /// The number of levels found.
        found: usize,
        /// The rank of the tensor.
        rank: usize,
    },
    /// `pos` of a level does not have one entry more than the level above has nodes.
    #[error(
        "pos_{level} has {found} entries, but the {parents} nodes above need {expected}",
        expected = parents + 1
    )]
    PosLength {
        /// The level.
        level: usize,
        /// The entries found.
        found: usize,
        /// The nodes of the level above, 1 for the virtual root.
        parents: usize,
    },
    /// The pointers of a CSR (CSC) matrix are not one more than its rows (columns).
    #[error(
        "{found} pointers, expected one more than there are rows (columns){}",
        lines.map_or(String::new(), |lines| format!(", of which there are {lines}"))
    )]
    PointerCount {
        /// The pointers found.
        found: usize,
        /// The rows (columns), if their number is known.
        lines: Option<u64>,
    },
    /// A coordinate list does not have one index per value.
    #[error("{found} coordinates do not make {nnz} indices of rank {rank}")]
    CoordinateCount {
        /// The number of coordinates found.
        found: usize,
        /// The number of values.
        nnz: usize,
        /// The rank of the tensor.
        rank: usize,
    },
}

/// An index that does not belong to the tensor.
#[derive(Clone, Debug, PartialEq, Eq, Error)]
#[non_exhaustive]
pub enum IndexError {
    /// The index does not have one coordinate per dimension.
    #[error("the index has {found} coordinates, but the tensor has rank {rank}")]
    Rank {
        /// The coordinates found.
        found: usize,
        /// The rank of the tensor.
        rank: usize,
    },
    /// A coordinate is not below its dimension.
    #[error("coordinate {coordinate} is outside dimension {dimension} of size {size}")]
    OutOfRange {
        /// The dimension.
        dimension: usize,
        /// The coordinate found.
        coordinate: u64,
        /// The size of the dimension.
        size: u64,
    },
    /// The coordinates of many indices do not divide into whole ones.
    #[error("{found} coordinates do not divide into indices of rank {rank}")]
    Ragged {
        /// The coordinates found.
        found: usize,
        /// The rank of the tensor.
        rank: usize,
    },
    /// One of many indices does not belong to the tensor.
    #[error("index number {tuple}: {error}")]
    AtTuple {
        /// The number of the index, from 0.
        tuple: usize,
        /// What is wrong with it.
        error: Box<IndexError>,
    },
    /// A sub-tree with no mode left.
    #[error("{found} modes are fixed of {rank}; leave at least one free, or look the index up")]
    TooManyFixed {
        /// The modes fixed.
        found: usize,
        /// The rank of the tensor.
        rank: usize,
    },
    /// A fixed dimension is stored below one that is not fixed.
    #[error(
        "dimension {dimension} is stored below dimension {above}; fix that one too, or store the \
         tensor in another mode order"
    )]
    NotOutermost {
        /// The dimension that is fixed.
        dimension: usize,
        /// The outermost dimension that is not.
        above: usize,
    },
}

/// A coordinate list that is not valid.
#[derive(Clone, Debug, PartialEq, Error)]
#[non_exhaustive]
pub enum CooViolation {
    /// A coordinate is not below its dimension.
    #[error(
        "the index at position {position} has coordinate {coordinate} outside dimension \
         {dimension} of size {size}"
    )]
    OutOfRange {
        /// The position in the list.
        position: usize,
        /// The dimension.
        dimension: usize,
        /// The coordinate found.
        coordinate: u64,
        /// The size of the dimension.
        size: u64,
    },
    /// An index that is in the list twice.
    #[error("the index {index:?} at position {position} is already at position {first}")]
    Duplicate {
        /// The later of the two positions.
        position: usize,
        /// The earlier one.
        first: usize,
        /// The index.
        index: Vec<u64>,
    },
    /// A sorted list whose indices do not increase.
    #[error("the index {index:?} at position {position} does not lie behind the one before it")]
    Unsorted {
        /// The position in the list.
        position: usize,
        /// The index found there.
        index: Vec<u64>,
    },
    /// The coordinates cannot be read as indices.
    #[error(transparent)]
    Rows(BuildError),
}
