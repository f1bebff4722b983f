//! CSR and CSC, compressed sparse rows and columns (docs/format.md, "Layouts"; tags `0x07` and
//! `0x08`).

use super::{BufferRole, Extent};
use crate::error::{DecodeError, FormatError};
use crate::shape::Shape;
use crate::wire::{Cursor, Put};

/// Descriptor fields of a CSR matrix. Buffer 0 holds the values, buffer 1 the column of each, buffer
/// 2 where each row starts, and behind that nnz.
#[derive(Clone, Debug, PartialEq, Eq)]
#[non_exhaustive]
pub struct CsrLayout {
    /// The number of stored elements.
    pub nnz: u64,
}

impl CsrLayout {
    /// Takes the number of stored elements.
    #[must_use]
    pub fn new(nnz: u64) -> Self {
        Self { nnz }
    }
}

/// Descriptor fields of a CSC matrix. Buffer 0 holds the values, buffer 1 the row of each, buffer 2
/// where each column starts, and behind that nnz.
#[derive(Clone, Debug, PartialEq, Eq)]
#[non_exhaustive]
pub struct CscLayout {
    /// The number of stored elements.
    pub nnz: u64,
}

impl CscLayout {
    /// Takes the number of stored elements.
    #[must_use]
    pub fn new(nnz: u64) -> Self {
        Self { nnz }
    }
}

/// Reads nnz.
pub(super) fn decode(cursor: &mut Cursor<'_>) -> Result<u64, DecodeError> {
    let nnz = cursor.u64("nnz")?;
    cursor.reserved("reserved", 8)?;
    Ok(nnz)
}

pub(super) fn encode(nnz: u64, out: &mut Vec<u8>) {
    out.put_u64(nnz);
    out.put(&[0; 8]);
}

/// Only matrices.
pub(super) fn validate_against_shape(
    layout: &'static str,
    shape: &Shape,
) -> Result<(), FormatError> {
    match shape.rank() {
        2 => Ok(()),
        0 => super::dense::not_scalar(layout, shape),
        rank => {
            let advice = "use CSF from rank 3 on, COO at any rank";
            Err(FormatError::RankForLayout { layout, rank, advice })
        }
    }
}

/// Exact sizes: nnz values, nnz indices, and a pointer more than `outer` has rows or columns. `outer`
/// is the dimension that the pointers run over.
pub(super) fn validate_buffers(
    nnz: u64,
    outer: usize,
    extent: &Extent<'_>,
) -> Result<(), FormatError> {
    extent.values(nnz)?;
    extent.exactly(1, BufferRole::Indices, nnz.checked_mul(8))?;
    match extent.shape.dimensions().get(outer) {
        Some(&Shape::DYNAMIC) | None => extent.words(2, BufferRole::Pointers).map(drop),
        Some(size) => {
            let expected = size.checked_add(1).and_then(|pointers| pointers.checked_mul(8));
            extent.exactly(2, BufferRole::Pointers, expected)
        }
    }
}
