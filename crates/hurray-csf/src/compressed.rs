//! The neighbours of rank 2: CSR and CSC, which keep a pointer for every row or column instead of
//! an outermost level (docs/format.md, "Layouts").

use std::ops::ControlFlow;

use hurray_format::cast::{to_u64, to_usize};
use hurray_format::{FormatError, Shape};
use thiserror::Error;

use crate::error::{IndexError, StructureError};
use crate::lookup::{check_index, child_range, find};
use crate::validate::{Fault, Piece, all_hold, bound, scan_crd, scan_pos};

/// Which dimension of a matrix the pointers run along.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub enum Major {
    /// CSR: one fiber per row, dimension 0; indices are columns.
    Row,
    /// CSC: one fiber per column, dimension 1; indices are rows.
    Column,
}

impl Major {
    /// The dimension that the pointers run along: 0 or 1.
    #[must_use]
    pub fn dimension(self) -> usize {
        match self {
            Major::Row => 0,
            Major::Column => 1,
        }
    }

    /// The dimension that the indices belong to: 1 or 0.
    #[must_use]
    pub fn minor_dimension(self) -> usize {
        1 - self.dimension()
    }
}

/// The structure of a sparse matrix, by rows (CSR) or by columns (CSC), over whoever holds it.
///
/// A **valid** one has pointers that start at 0, never decrease and end at nnz, and indices that
/// increase strictly within a row (column) and are in bounds. The type promises only that there is
/// a pointer for each row (column) and one more; [`Compressed::validate`] checks the rest. As with
/// a [`Csf`](crate::Csf), other contents give wrong answers at worst.
///
/// ```
/// use hurray_csf::{Compressed, Major};
/// use hurray_format::Shape;
///
/// let matrix = Compressed::new(Major::Row, Shape::new([2, 3])?, [0, 2, 3], [0, 2, 1])?;
/// matrix.validate()?;
/// assert_eq!(matrix.lookup(&[0, 2])?, Some(1));
/// assert_eq!(matrix.entries().last(), Some(([1, 1], 2)));
/// # Ok::<(), Box<dyn std::error::Error>>(())
/// ```
#[derive(Clone, Debug)]
pub struct Compressed<P = Vec<u64>, I = P> {
    major: Major,
    shape: Shape,
    pointers: P,
    indices: I,
}

impl<P: AsRef<[u64]>, I: AsRef<[u64]>> Compressed<P, I> {
    /// Puts a matrix together. Constant time.
    ///
    /// # Errors
    /// [`StructureError`] if the rank is not 2, or there is not one pointer more than rows
    /// (columns), where their number is known.
    pub fn new(
        major: Major,
        shape: Shape,
        pointers: P,
        indices: I,
    ) -> Result<Self, StructureError> {
        if shape.rank() != 2 {
            let layout = match major {
                Major::Row => "csr",
                Major::Column => "csc",
            };
            let advice = "use COO for any rank, or CSF from rank 3";
            return Err(FormatError::RankForLayout { layout, rank: shape.rank(), advice }.into());
        }
        let found = pointers.as_ref().len();
        let lines = bound(&shape, major.dimension());
        let is_right = match lines {
            Some(lines) => found.checked_sub(1).map(to_u64) == Some(lines),
            None => found > 0,
        };
        if !is_right {
            return Err(StructureError::PointerCount { found, lines });
        }
        Ok(Self { major, shape, pointers, indices })
    }

    /// Whether it is CSR or CSC.
    #[must_use]
    pub fn major(&self) -> Major {
        self.major
    }

    /// The logical shape, of rank 2.
    #[must_use]
    pub fn shape(&self) -> &Shape {
        &self.shape
    }

    /// The number of stored elements.
    #[must_use]
    pub fn nnz(&self) -> usize {
        self.indices().len()
    }

    /// Where each row (column) begins, and the end of the last.
    #[must_use]
    pub fn pointers(&self) -> &[u64] {
        self.pointers.as_ref()
    }

    /// The column (row) of each stored element.
    #[must_use]
    pub fn indices(&self) -> &[u64] {
        self.indices.as_ref()
    }

    /// Checks pointers and indices, as fast as [`Csf::validate`](crate::Csf::validate).
    ///
    /// # Errors
    /// The first [`CompressedViolation`], in the pointers before the indices, at the lowest
    /// position.
    pub fn validate(&self) -> Result<(), CompressedViolation> {
        let (pointers, indices) = (self.pointers(), self.indices());
        let dimension = self.major.minor_dimension();
        let bound = bound(&self.shape, dimension);
        let mut pieces = Vec::new();
        if Piece::cut(pointers, indices, bound, &mut pieces) && all_hold(&pieces) {
            return Ok(());
        }
        let mut violation = Ok(());
        let mut report = |fault| {
            violation = Err(CompressedViolation::new(fault, dimension));
            ControlFlow::Break(())
        };
        if scan_pos(pointers, indices.len(), &mut report).is_continue() {
            let _ = scan_crd(Some(pointers), indices, bound, report);
        }
        violation
    }

    /// The position of the element at `[row, column]`, or `None` if none is stored there.
    /// O(log of the row's length).
    ///
    /// # Errors
    /// [`IndexError`] for a wrong number of coordinates, or one outside its dimension.
    pub fn lookup(&self, index: &[u64]) -> Result<Option<usize>, IndexError> {
        check_index(&self.shape, index)?;
        let (major, minor) = (self.major.dimension(), self.major.minor_dimension());
        let line = to_usize(index[major]);
        let nodes = child_range(self.pointers(), self.nnz(), line);
        Ok(find(self.indices(), nodes, index[minor], self.shape.dimensions()[minor]))
    }

    /// The stored elements as `([row, column], position)`, in storage order. Linear, whatever the
    /// pointers hold.
    pub fn entries(&self) -> impl Iterator<Item = ([u64; 2], usize)> + '_ {
        let ends = self.pointers().get(1..).unwrap_or(&[]);
        let mut line = 0;
        self.indices().iter().enumerate().map_while(move |(position, &minor)| {
            while *ends.get(line)? <= to_u64(position) {
                line += 1;
            }
            let major = to_u64(line);
            let index = match self.major {
                Major::Row => [major, minor],
                Major::Column => [minor, major],
            };
            Some((index, position))
        })
    }
}

/// A place where a CSR or CSC matrix breaks a rule of its layout.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Error)]
#[non_exhaustive]
pub enum CompressedViolation {
    /// The first pointer is not 0.
    #[error("pointers[0]: found {found}, expected 0")]
    PointerStart {
        /// The pointer found.
        found: u64,
    },
    /// A pointer is less than the one before.
    #[error("pointers[{position}]: found {found}, expected at least {previous}, the one before")]
    PointerDecrease {
        /// The position of the lesser pointer.
        position: usize,
        /// The pointer found.
        found: u64,
        /// The pointer before.
        previous: u64,
    },
    /// The last pointer is not nnz.
    #[error("pointers[{position}]: found {found}, expected {nnz}, the number of elements")]
    PointerEnd {
        /// The last position.
        position: usize,
        /// The pointer found.
        found: u64,
        /// The number of stored elements.
        nnz: usize,
    },
    /// An index is not greater than the one before in the same row (column).
    #[error("indices[{position}]: found {found}, expected more than {previous}, the one before")]
    IndexOrder {
        /// The position of the later index.
        position: usize,
        /// The index found.
        found: u64,
        /// The index before.
        previous: u64,
    },
    /// An index is not below its dimension.
    #[error(
        "indices[{position}]: found {found}, expected less than {size}, the size of dimension \
         {dimension}"
    )]
    IndexBound {
        /// The position of the index.
        position: usize,
        /// The index found.
        found: u64,
        /// The dimension of the indices.
        dimension: usize,
        /// Its size.
        size: u64,
    },
}

impl CompressedViolation {
    fn new(fault: Fault, dimension: usize) -> Self {
        match fault {
            Fault::PosStart { found } => Self::PointerStart { found },
            Fault::PosDecrease { position, found, previous } => {
                Self::PointerDecrease { position, found, previous }
            }
            Fault::PosEnd { position, found, nodes } => {
                Self::PointerEnd { position, found, nnz: nodes }
            }
            Fault::CrdOrder { position, found, previous } => {
                Self::IndexOrder { position, found, previous }
            }
            Fault::CrdBound { position, found, size } => {
                Self::IndexBound { position, found, dimension, size }
            }
        }
    }
}
