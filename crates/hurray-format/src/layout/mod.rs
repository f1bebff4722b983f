//! Layouts: how the elements of a tensor are arranged in its buffers
//! (docs/format.md, "Layouts").
//!
//! One file per layout owns its fields: decoding, encoding, what they ask of the shape, and the sizes
//! of the buffers. [`LayoutDescriptor`] only chooses among them.

mod block_paged;
mod composite;
mod compressed;
mod coo;
mod csf;
mod curve;
mod dense;
mod error;
mod private;
mod role;
mod strided;
mod tiled;

use std::num::NonZeroUsize;

pub use block_paged::{BlockPagedLayout, PageIndexType};
pub use composite::{Combine, CompositeLayout, CompositionRule};
pub use compressed::{CscLayout, CsrLayout};
pub use coo::CooLayout;
pub(crate) use csf::pos_size;
pub use csf::{CsfLayout, MIN_CSF_RANK};
pub use curve::{HilbertLayout, MortonLayout};
pub use error::LayoutError;
pub use private::PrivateLayout;
pub use role::BufferRole;
pub(crate) use role::Extent;
pub use strided::StridedLayout;
pub use tiled::{MAX_TILE_LEVELS, TileLevel, TileOrder, TiledLayout};

use crate::descriptor::Mode;
use crate::error::{DecodeError, FormatError};
use crate::shape::Shape;
use crate::tag::{self, PrivateTag, TagSpace};
use crate::wire::Cursor;

/// The layout of a tensor with its fields.
#[derive(Clone, Debug, PartialEq, Eq)]
#[non_exhaustive]
pub enum LayoutDescriptor {
    /// Dense, the last dimension fastest, tag `0x01`.
    RowMajor,
    /// Dense, the first dimension fastest, tag `0x02`.
    ColumnMajor,
    /// Dense with a stride per dimension, tag `0x03`.
    Strided(StridedLayout),
    /// Dense in tiles, tag `0x04`.
    Tiled(TiledLayout),
    /// Dense along a Morton curve, tag `0x05`.
    Morton(MortonLayout),
    /// A list of coordinates, tag `0x06`.
    Coo(CooLayout),
    /// Compressed sparse rows, tag `0x07`.
    Csr(CsrLayout),
    /// Compressed sparse columns, tag `0x08`.
    Csc(CscLayout),
    /// Compressed sparse fiber, tag `0x09`.
    Csf(CsfLayout),
    /// The pages of a key-value cache, tag `0x0A`.
    BlockPaged(BlockPagedLayout),
    /// The head of a composite, tag `0x0B`.
    Composite(CompositeLayout),
    /// Dense along a Hilbert curve, tag `0x40`.
    Hilbert(HilbertLayout),
    /// A layout private to an implementation, tags `0xF0..=0xFE`; only permissive decoding yields it.
    Private(PrivateLayout),
    /// A layout of a later version of the format, whose fields are not known and behind which nothing
    /// can be found; only permissive decoding yields it.
    Unknown {
        /// The tag of the layout.
        tag: u8,
    },
}

/// Checks that a reader in `mode` may go on behind the layout tag `tag`.
pub(crate) fn check_tag(tag: u8, mode: Mode) -> Result<u8, FormatError> {
    match tag {
        0x01..=0x0B | 0x40 => Ok(tag),
        0x00 | 0xFF => Err(tag::unassigned(TagSpace::Layout, tag)),
        _ if mode == Mode::Permissive => Ok(tag),
        _ => Err(tag::unassigned(TagSpace::Layout, tag)),
    }
}

impl LayoutDescriptor {
    /// The tag of the layout.
    #[must_use]
    pub fn tag(&self) -> u8 {
        match self {
            LayoutDescriptor::RowMajor => 0x01,
            LayoutDescriptor::ColumnMajor => 0x02,
            LayoutDescriptor::Strided(_) => 0x03,
            LayoutDescriptor::Tiled(_) => 0x04,
            LayoutDescriptor::Morton(_) => 0x05,
            LayoutDescriptor::Coo(_) => 0x06,
            LayoutDescriptor::Csr(_) => 0x07,
            LayoutDescriptor::Csc(_) => 0x08,
            LayoutDescriptor::Csf(_) => 0x09,
            LayoutDescriptor::BlockPaged(_) => 0x0A,
            LayoutDescriptor::Composite(_) => 0x0B,
            LayoutDescriptor::Hilbert(_) => 0x40,
            LayoutDescriptor::Private(layout) => layout.tag.get(),
            LayoutDescriptor::Unknown { tag } => *tag,
        }
    }

    /// The name of the layout, such as `csf` or `row_major`.
    #[must_use]
    pub fn name(&self) -> &'static str {
        match self {
            LayoutDescriptor::RowMajor => "row_major",
            LayoutDescriptor::ColumnMajor => "column_major",
            LayoutDescriptor::Strided(_) => "strided",
            LayoutDescriptor::Tiled(_) => "tiled",
            LayoutDescriptor::Morton(_) => "morton",
            LayoutDescriptor::Coo(_) => "coo",
            LayoutDescriptor::Csr(_) => "csr",
            LayoutDescriptor::Csc(_) => "csc",
            LayoutDescriptor::Csf(_) => "csf",
            LayoutDescriptor::BlockPaged(_) => "block_paged",
            LayoutDescriptor::Composite(_) => "composite",
            LayoutDescriptor::Hilbert(_) => "hilbert",
            LayoutDescriptor::Private(_) => "private",
            LayoutDescriptor::Unknown { .. } => "unknown",
        }
    }

    /// The number of buffers that the layout itself needs; parameter buffers of a quantization
    /// follow behind them. `None` for a composite head, which has none, and for private and unknown
    /// layouts, which do not tell.
    #[must_use]
    pub fn buffer_count(&self) -> Option<NonZeroUsize> {
        NonZeroUsize::new(match self {
            LayoutDescriptor::RowMajor
            | LayoutDescriptor::ColumnMajor
            | LayoutDescriptor::Strided(_)
            | LayoutDescriptor::Tiled(_)
            | LayoutDescriptor::Morton(_)
            | LayoutDescriptor::Hilbert(_) => 1,
            LayoutDescriptor::Coo(_) => 2,
            LayoutDescriptor::Csr(_) | LayoutDescriptor::Csc(_) => 3,
            LayoutDescriptor::Csf(layout) => layout.buffer_count(),
            LayoutDescriptor::BlockPaged(_) => 3,
            LayoutDescriptor::Composite(_)
            | LayoutDescriptor::Private(_)
            | LayoutDescriptor::Unknown { .. } => 0,
        })
    }

    /// What buffer `index` of a tensor of this layout holds.
    #[must_use]
    pub fn buffer_role(&self, index: usize) -> BufferRole {
        match (self, self.buffer_count()) {
            (LayoutDescriptor::Private(_) | LayoutDescriptor::Unknown { .. }, _) => {
                BufferRole::Private
            }
            (_, count) if index >= count.map_or(0, NonZeroUsize::get) => BufferRole::Parameters,
            (LayoutDescriptor::Coo(_) | LayoutDescriptor::Csr(_) | LayoutDescriptor::Csc(_), _) => {
                [BufferRole::Values, BufferRole::Indices, BufferRole::Pointers][index]
            }
            (LayoutDescriptor::Csf(_), _) => match (index.checked_sub(1), index % 2) {
                (None, _) => BufferRole::Values,
                (Some(below), 1) => BufferRole::Pos(below / 2),
                (Some(below), _) => BufferRole::Crd(below / 2),
            },
            (LayoutDescriptor::BlockPaged(_), _) => {
                [BufferRole::Data, BufferRole::BlockTable, BufferRole::SequencePointers][index]
            }
            _ => BufferRole::Data,
        }
    }

    /// The number of stored elements of a sparse layout, `None` for any other.
    #[must_use]
    pub fn nnz(&self) -> Option<u64> {
        match self {
            LayoutDescriptor::Coo(layout) => Some(layout.nnz),
            LayoutDescriptor::Csr(layout) => Some(layout.nnz),
            LayoutDescriptor::Csc(layout) => Some(layout.nnz),
            LayoutDescriptor::Csf(layout) => Some(layout.nnz),
            _ => None,
        }
    }

    /// Whether the first element lies at a `byte_offset` in buffer 0. It must be 0 in all other
    /// layouts: the sparse ones, block-paged and the composite head.
    #[must_use]
    pub fn has_byte_offset(&self) -> bool {
        self.nnz().is_none()
            && !matches!(self, LayoutDescriptor::BlockPaged(_) | LayoutDescriptor::Composite(_))
    }

    /// Whether a tensor of this layout may be a shard of a larger one: all but CSF and block-paged.
    #[must_use]
    pub fn can_be_sharded(&self) -> bool {
        !matches!(self, LayoutDescriptor::Csf(_) | LayoutDescriptor::BlockPaged(_))
    }

    /// Checks the fields against the logical shape. What is not known of a private or unknown
    /// layout is not checked.
    ///
    /// # Errors
    /// [`FormatError::RankForLayout`] for a rank that the layout does not have,
    /// [`FormatError::ModeOrderLength`], [`FormatError::ModeOrderRange`] or
    /// [`FormatError::ModeOrderDuplicate`] for a mode order that is not a permutation of the
    /// dimensions, [`FormatError::Field`] for a field out of its range, [`FormatError::Layout`] for
    /// one that does not go with the shape.
    pub fn validate_against_shape(&self, shape: &Shape) -> Result<(), FormatError> {
        match self {
            LayoutDescriptor::RowMajor
            | LayoutDescriptor::Private(_)
            | LayoutDescriptor::Unknown { .. } => Ok(()),
            LayoutDescriptor::ColumnMajor => dense::not_scalar("column_major", shape),
            LayoutDescriptor::Strided(layout) => layout.validate_against_shape(shape),
            LayoutDescriptor::Tiled(layout) => layout.validate_against_shape(shape),
            LayoutDescriptor::Morton(layout) => layout.validate_against_shape(shape),
            LayoutDescriptor::Coo(layout) => layout.validate_against_shape(shape),
            LayoutDescriptor::Csr(_) => compressed::validate_against_shape("csr", shape),
            LayoutDescriptor::Csc(_) => compressed::validate_against_shape("csc", shape),
            LayoutDescriptor::Csf(layout) => layout.validate_against_shape(shape),
            LayoutDescriptor::BlockPaged(layout) => layout.validate_against_shape(shape),
            LayoutDescriptor::Composite(layout) => layout.validate_against_shape(shape),
            LayoutDescriptor::Hilbert(layout) => layout.validate_against_shape(shape),
        }
    }

    /// As [`LayoutDescriptor::validate_against_shape`], but permissive mode tolerates a bad mode
    /// order.
    pub(crate) fn validate_fields(&self, shape: &Shape, mode: Mode) -> Result<(), FormatError> {
        match (self, mode) {
            (LayoutDescriptor::Csf(layout), Mode::Permissive) => layout.validate_rank(shape),
            _ => self.validate_against_shape(shape),
        }
    }

    /// Checks `byte_offset` and the sizes of the buffers, of which there are enough.
    pub(crate) fn validate_buffers(
        &self,
        extent: &Extent<'_>,
        mode: Mode,
    ) -> Result<(), FormatError> {
        if let LayoutDescriptor::Unknown { .. } = self {
            return Ok(());
        }
        let limit = if self.has_byte_offset() { extent.byte_size(0) } else { 0 };
        if extent.byte_offset > limit {
            let found = extent.byte_offset;
            return Err(LayoutError::ByteOffset { layout: self.name(), found, limit }.into());
        }
        match self {
            LayoutDescriptor::RowMajor | LayoutDescriptor::ColumnMajor => {
                dense::validate_buffers(extent)
            }
            LayoutDescriptor::Strided(layout) => layout.validate_buffers(extent),
            LayoutDescriptor::Tiled(layout) => layout.validate_buffers(extent),
            LayoutDescriptor::Morton(layout) => layout.validate_buffers(extent),
            LayoutDescriptor::Hilbert(layout) => layout.validate_buffers(extent),
            LayoutDescriptor::Coo(layout) => layout.validate_buffers(extent),
            LayoutDescriptor::Csr(layout) => compressed::validate_buffers(layout.nnz, 0, extent),
            LayoutDescriptor::Csc(layout) => compressed::validate_buffers(layout.nnz, 1, extent),
            LayoutDescriptor::Csf(layout) => layout.validate_buffers(extent, mode),
            // The pages may lie anywhere, and a head has no buffers.
            LayoutDescriptor::BlockPaged(_)
            | LayoutDescriptor::Composite(_)
            | LayoutDescriptor::Private(_)
            | LayoutDescriptor::Unknown { .. } => Ok(()),
        }
    }

    /// Reads the fields of the layout `tag`, which [`check_tag`] has let pass.
    pub(crate) fn decode(
        cursor: &mut Cursor<'_>,
        tag: u8,
        rank: usize,
    ) -> Result<Self, DecodeError> {
        Ok(match tag {
            0x01 => LayoutDescriptor::RowMajor,
            0x02 => LayoutDescriptor::ColumnMajor,
            0x03 => LayoutDescriptor::Strided(StridedLayout::decode(cursor, rank)?),
            0x04 => LayoutDescriptor::Tiled(TiledLayout::decode(cursor, rank)?),
            0x05 => LayoutDescriptor::Morton(MortonLayout::decode(cursor, rank)?),
            0x06 => LayoutDescriptor::Coo(CooLayout::decode(cursor)?),
            0x07 => LayoutDescriptor::Csr(CsrLayout::new(compressed::decode(cursor)?)),
            0x08 => LayoutDescriptor::Csc(CscLayout::new(compressed::decode(cursor)?)),
            0x09 => LayoutDescriptor::Csf(CsfLayout::decode(cursor, rank)?),
            0x0A => LayoutDescriptor::BlockPaged(BlockPagedLayout::decode(cursor)?),
            0x0B => LayoutDescriptor::Composite(CompositeLayout::decode(cursor)?),
            0x40 => LayoutDescriptor::Hilbert(HilbertLayout::decode(cursor)?),
            _ => match PrivateTag::new(tag) {
                Some(tag) => LayoutDescriptor::Private(PrivateLayout::decode(cursor, tag)?),
                None => LayoutDescriptor::Unknown { tag },
            },
        })
    }

    /// Appends the fields.
    pub(crate) fn encode(&self, out: &mut Vec<u8>) -> Result<(), FormatError> {
        match self {
            LayoutDescriptor::RowMajor | LayoutDescriptor::ColumnMajor => {}
            LayoutDescriptor::Strided(layout) => layout.encode(out),
            LayoutDescriptor::Tiled(layout) => layout.encode(out),
            LayoutDescriptor::Morton(layout) => layout.encode(out),
            LayoutDescriptor::Coo(layout) => layout.encode(out),
            LayoutDescriptor::Csr(CsrLayout { nnz }) | LayoutDescriptor::Csc(CscLayout { nnz }) => {
                compressed::encode(*nnz, out);
            }
            LayoutDescriptor::Csf(layout) => layout.encode(out),
            LayoutDescriptor::BlockPaged(layout) => layout.encode(out),
            LayoutDescriptor::Composite(layout) => layout.encode(out),
            LayoutDescriptor::Hilbert(layout) => layout.encode(out),
            LayoutDescriptor::Private(layout) => layout.encode(out)?,
            LayoutDescriptor::Unknown { tag } => {
                return Err(LayoutError::Unknown { tag: *tag }.into());
            }
        }
        Ok(())
    }
}
