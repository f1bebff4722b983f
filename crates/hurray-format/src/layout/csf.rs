//! CSF, the rank-N compressed sparse fiber layout (CSF section; tag `0x09`).

use super::MIN_CSF_RANK;
use crate::error::FormatError;
use crate::mode_order::ModeOrder;
use crate::shape::Shape;

/// Descriptor fields of a CSF tensor: a tree of `rank` levels, each of them a pair of buffers.
///
/// | buffer | holds | length |
/// |---|---|---|
/// | 0 | the values of the leaves | nnz elements |
/// | 2 L + 1 | `pos_L`, uint64 | n_(L-1) + 1, 2 for the outermost level |
/// | 2 L + 2 | `crd_L`, uint64 | n_L, the nodes of level L; nnz for the leaf level |
///
/// ```
/// use hurray_format::layout::{CsfLayout, LayoutDescriptor};
///
/// let layout = LayoutDescriptor::Csf(CsfLayout::new(4, vec![0, 1, 2]));
/// assert_eq!(layout.tag(), 0x09);
/// assert_eq!(layout.buffer_count().map(|n| n.get()), Some(7));
/// ```
#[derive(Clone, Debug, PartialEq, Eq)]
#[non_exhaustive]
pub struct CsfLayout {
    /// The number of stored elements; 0 for an empty tensor.
    pub nnz: u64,
    /// The logical dimension that each level stores, outermost first. Its length is the rank.
    pub mode_order: Vec<u32>,
}

impl CsfLayout {
    /// Takes the fields as they are. Neither the rank nor the mode order is checked here; see
    /// [`LayoutDescriptor::validate_against_shape`](super::LayoutDescriptor::validate_against_shape).
    #[must_use]
    pub fn new(nnz: u64, mode_order: Vec<u32>) -> Self {
        Self { nnz, mode_order }
    }

    /// `2 * rank + 1`.
    pub(super) fn buffer_count(&self) -> usize {
        2 * self.mode_order.len() + 1
    }

    /// Rank at least 3, and a mode order that is a permutation of the shape's dimensions.
    pub(super) fn validate_against_shape(&self, shape: &Shape) -> Result<(), FormatError> {
        let rank = shape.rank();
        if rank < MIN_CSF_RANK {
            return Err(FormatError::RankForLayout {
                layout: "csf",
                rank,
                advice: "use CSR, CSC or COO below rank 3",
            });
        }
        if self.mode_order.len() != rank {
            return Err(FormatError::ModeOrderLength { found: self.mode_order.len(), rank });
        }
        ModeOrder::new(self.mode_order.as_slice()).map(drop)
    }
}
