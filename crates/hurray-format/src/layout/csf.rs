//! CSF, the rank-N compressed sparse fiber layout (docs/format.md, "CSF"; tag `0x09`).
//!
//! | rule of a CSF descriptor | kept by |
//! |---|---|
//! | rank 3 to 64, `mode_order` a permutation of the dimensions | `validate_against_shape` |
//! | exact size of every buffer, the chain of level lengths, the empty form | `validate_buffers` |
//! | `2 * rank + 1` buffers and the parameter buffers of the quantization | `buffer_count` |
//! | `byte_offset` 0 | [`LayoutDescriptor::has_byte_offset`](super::LayoutDescriptor::has_byte_offset) |
//! | no shard section | [`LayoutDescriptor::can_be_sharded`](super::LayoutDescriptor::can_be_sharded) |
//! | nnz of the statistics | [`LayoutDescriptor::nnz`](super::LayoutDescriptor::nnz) |

use super::{BufferRole, Extent, LayoutError};
use crate::descriptor::Mode;
use crate::error::{DecodeError, FormatError};
use crate::mode_order::ModeOrder;
use crate::shape::Shape;
use crate::wire::{Cursor, Put};

/// The smallest rank of a CSF tensor (docs/format.md, "CSF").
pub const MIN_CSF_RANK: usize = 3;

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

    pub(super) fn decode(cursor: &mut Cursor<'_>, rank: usize) -> Result<Self, DecodeError> {
        let nnz = cursor.u64("nnz")?;
        let mode_order = cursor.array("mode_order", rank)?;
        cursor.reserved("reserved", 8)?;
        Ok(Self { nnz, mode_order })
    }

    pub(super) fn encode(&self, out: &mut Vec<u8>) {
        out.put_u64(self.nnz);
        out.put_slice(&self.mode_order);
        out.put(&[0; 8]);
    }

    /// `2 * rank + 1`.
    pub(super) fn buffer_count(&self) -> usize {
        2 * self.mode_order.len() + 1
    }

    /// Rank at least 3, and a mode order that is a permutation of the shape's dimensions.
    pub(super) fn validate_against_shape(&self, shape: &Shape) -> Result<(), FormatError> {
        self.validate_rank(shape)?;
        ModeOrder::new(self.mode_order.as_slice()).map(drop)
    }

    /// Rank at least 3, and as many levels as dimensions: what even permissive mode asks for.
    pub(super) fn validate_rank(&self, shape: &Shape) -> Result<(), FormatError> {
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
        Ok(())
    }

    /// Exact sizes. How many nodes a level has follows from its `crd`, nnz gives the leaves; every
    /// `pos` has an entry more than there are nodes above it. O(rank).
    pub(super) fn validate_buffers(
        &self,
        extent: &Extent<'_>,
        mode: Mode,
    ) -> Result<(), FormatError> {
        extent.values(self.nnz)?;
        let rank = self.mode_order.len();
        let mut parents = 1;
        for level in 0..rank {
            let (pos, crd) = (BufferRole::Pos(level), BufferRole::Crd(level));
            let (pos_index, crd_index) = (2 * level + 1, 2 * level + 2);
            let nodes = extent.words(crd_index, crd)?;
            extent.words(pos_index, pos)?;
            if self.nnz == 0 {
                // An empty tensor in another form breaks a storage invariant, no more: permissive
                // mode reports it, and nothing can be read from it.
                if mode == Mode::Strict {
                    empty(extent, pos_index, pos, if level == 0 { 16 } else { 8 })?;
                    empty(extent, crd_index, crd, 0)?;
                }
            } else {
                one_per_parent(extent, pos_index, level, parents)?;
            }
            parents = nodes;
        }
        extent.exactly(2 * rank, BufferRole::Crd(rank - 1), self.nnz.checked_mul(8))
    }
}

/// The bytes of a `pos` below `parents` nodes.
pub(crate) fn pos_size(parents: u64) -> Option<u64> {
    parents.checked_add(1)?.checked_mul(8)
}

/// One start per parent and the end. Either buffer may be the one that is wrong, so that both are
/// named.
fn one_per_parent(
    extent: &Extent<'_>,
    buffer: usize,
    level: usize,
    parents: u64,
) -> Result<(), FormatError> {
    let size = pos_size(parents);
    let found = extent.byte_size(buffer);
    match size {
        Some(expected) if level > 0 && found != expected => {
            let crd_size = extent.byte_size(buffer - 1);
            Err(LayoutError::PosSize { buffer, level, crd_size, expected, found }.into())
        }
        _ => extent.exactly(buffer, BufferRole::Pos(level), size),
    }
}

fn empty(
    extent: &Extent<'_>,
    buffer: usize,
    role: BufferRole,
    expected: u64,
) -> Result<(), FormatError> {
    let found = extent.byte_size(buffer);
    if found == expected {
        return Ok(());
    }
    Err(LayoutError::EmptyForm { buffer, role, expected, found }.into())
}
