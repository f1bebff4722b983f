//! COO, the coordinate list (docs/format.md, "Layouts"; tag `0x06`).

use super::{BufferRole, Extent};
use crate::cast::to_u64;
use crate::error::{DecodeError, FormatError};
use crate::shape::Shape;
use crate::wire::{Cursor, Put};

/// Descriptor fields of a COO tensor. Buffer 0 holds the values, buffer 1 the coordinates as
/// `u64[nnz][rank]`.
#[derive(Clone, Debug, PartialEq, Eq)]
#[non_exhaustive]
pub struct CooLayout {
    /// The number of stored elements.
    pub nnz: u64,
    /// Whether the coordinates are strictly lexicographic, dimension 0 first.
    pub is_sorted: bool,
}

impl CooLayout {
    /// Takes the fields.
    #[must_use]
    pub fn new(nnz: u64, is_sorted: bool) -> Self {
        Self { nnz, is_sorted }
    }

    pub(super) fn decode(cursor: &mut Cursor<'_>) -> Result<Self, DecodeError> {
        let nnz = cursor.u64("nnz")?;
        let is_sorted = cursor.flag("is_sorted")?;
        cursor.reserved("reserved", 7)?;
        Ok(Self { nnz, is_sorted })
    }

    pub(super) fn encode(&self, out: &mut Vec<u8>) {
        out.put_u64(self.nnz);
        out.put_u8(self.is_sorted.into());
        out.put(&[0; 7]);
    }

    /// Any rank but 0.
    pub(super) fn validate_against_shape(&self, shape: &Shape) -> Result<(), FormatError> {
        super::dense::not_scalar("coo", shape)
    }

    /// Exact sizes, which follow from nnz and the rank.
    pub(super) fn validate_buffers(&self, extent: &Extent<'_>) -> Result<(), FormatError> {
        extent.values(self.nnz)?;
        // The rank is at most 64, so that a row of coordinates takes at most 512 bytes.
        let expected = self.nnz.checked_mul(8 * to_u64(extent.shape.rank()));
        extent.exactly(1, BufferRole::Indices, expected)
    }
}
