//! COO, the coordinate list (docs/format.md, "Tag spaces"; tag `0x06`).

use crate::error::FormatError;
use crate::shape::Shape;

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

    /// Any rank but 0.
    pub(super) fn validate_against_shape(&self, shape: &Shape) -> Result<(), FormatError> {
        if shape.rank() == 0 {
            return Err(super::scalar_error("coo"));
        }
        Ok(())
    }
}
