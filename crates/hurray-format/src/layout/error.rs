//! What can be wrong with the layout of a tensor.

use thiserror::Error;

use super::BufferRole;
use crate::element::ElementType;
use crate::shape::Shape;

/// A rule of the layouts that something breaks (docs/format.md, "Layouts" and "CSF").
#[derive(Clone, Debug, PartialEq, Eq, Error)]
#[non_exhaustive]
pub enum LayoutError {
    /// A field that has another number of entries than the tensor has dimensions.
    #[error("{field} has {found} entries, but the tensor has rank {rank}")]
    Entries {
        /// The field.
        field: &'static str,
        /// The number of entries found.
        found: usize,
        /// The rank of the tensor.
        rank: usize,
    },
    /// A dimension that a space-filling curve does not reach or does not fill.
    #[error(
        "dimension {dimension} has size {size}, but {field} {bits} makes it {relation} 2^{bits}"
    )]
    CurveDimension {
        /// The field that sets the size.
        field: &'static str,
        /// The dimension.
        dimension: usize,
        /// Its size.
        size: u64,
        /// The bits of a coordinate.
        bits: u32,
        /// How the size has to relate to `2^bits`.
        relation: &'static str,
    },
    /// Tiles within tiles, deeper than any reader has to follow.
    #[error("tiles are nested more than {limit} deep", limit = super::MAX_TILE_LEVELS)]
    TileDepth,
    /// A buffer table of another length than the layout has.
    #[error("layout {layout} has {expected} buffers, found {found}")]
    BufferCount {
        /// The name of the layout.
        layout: &'static str,
        /// The number of buffers that it has.
        expected: usize,
        /// The number found.
        found: usize,
    },
    /// A buffer that is not exactly as long as the layout says.
    #[error("buffer {buffer} ({role}) has {found} bytes instead of {expected}")]
    BufferSize {
        /// The index in the buffer table.
        buffer: usize,
        /// What the buffer holds.
        role: BufferRole,
        /// The bytes that it takes.
        expected: u64,
        /// The bytes found.
        found: u64,
    },
    /// A buffer that would be longer than any can be.
    #[error("buffer {buffer} ({role}) would take more than 2^64 bytes")]
    BufferOverflow {
        /// The index in the buffer table.
        buffer: usize,
        /// What the buffer holds.
        role: BufferRole,
    },
    /// A buffer of 64-bit integers that ends within one.
    #[error("buffer {buffer} ({role}) has {found} bytes, which is not a multiple of 8")]
    BufferWords {
        /// The index in the buffer table.
        buffer: usize,
        /// What the buffer holds.
        role: BufferRole,
        /// The bytes found.
        found: u64,
    },
    /// An empty CSF tensor in another form than the only one there is.
    #[error("nnz is 0, but buffer {buffer} ({role}) has {found} bytes instead of {expected}")]
    EmptyForm {
        /// The index in the buffer table.
        buffer: usize,
        /// What the buffer holds.
        role: BufferRole,
        /// The bytes that it takes in an empty tensor.
        expected: u64,
        /// The bytes found.
        found: u64,
    },
    /// A dense buffer that ends before the elements do.
    #[error(
        "the elements take {needed} bytes behind byte_offset {byte_offset}, but buffer 0 has {found}"
    )]
    DenseSize {
        /// The bytes that the elements take.
        needed: u64,
        /// Where they start.
        byte_offset: u64,
        /// The bytes of the buffer.
        found: u64,
    },
    /// Negative strides that lead before the start of the buffer.
    #[error("negative strides reach {needed} bytes before byte_offset {byte_offset}")]
    BeforeStart {
        /// The bytes before the first element.
        needed: u64,
        /// Where the first element lies.
        byte_offset: u64,
    },
    /// A `byte_offset` where the layout has none, or behind the end.
    #[error("byte_offset is {found}; layout {layout} allows at most {limit}")]
    ByteOffset {
        /// The name of the layout.
        layout: &'static str,
        /// The offset found.
        found: u64,
        /// The largest one allowed.
        limit: u64,
    },
    /// A `pos` that does not have one entry more than there are nodes above it.
    #[error(
        "buffer {buffer} (pos_{level}) has {found} bytes instead of {expected}, as crd_{above} \
         has {crd_size}",
        above = level - 1
    )]
    PosSize {
        /// The index in the buffer table.
        buffer: usize,
        /// The level, at least 1.
        level: usize,
        /// The bytes that the `crd` of the level above takes.
        crd_size: u64,
        /// The bytes that follow from that.
        expected: u64,
        /// The bytes that it takes.
        found: u64,
    },
    /// A dense tensor whose size does not fit into 64 bits.
    #[error("the elements of shape {shape} and type {element_type} take more than 2^64 bytes")]
    DenseOverflow {
        /// The shape of the tensor.
        shape: Shape,
        /// The element type.
        element_type: ElementType,
    },
    /// An index array of a block-paged tensor with an entry that its rule does not allow.
    #[error("{role}[{position}]: found {found}, expected {relation} {limit}")]
    PageIndex {
        /// The array.
        role: BufferRole,
        /// The position of the entry.
        position: usize,
        /// The entry found.
        found: u64,
        /// How it has to relate to `limit`.
        relation: &'static str,
        /// What it is held against.
        limit: u64,
    },
    /// A layout whose fields are not known, and so cannot be written.
    #[error("a tensor of the unknown layout {tag:#04x} cannot be written")]
    Unknown {
        /// The tag of the layout.
        tag: u8,
    },
}

impl LayoutError {
    /// The field at fault, and which one of that name.
    pub(crate) fn field(&self) -> (&'static str, usize) {
        match *self {
            LayoutError::Entries { field, .. } | LayoutError::CurveDimension { field, .. } => {
                (field, 0)
            }
            LayoutError::TileDepth => ("tile_shape", super::MAX_TILE_LEVELS),
            LayoutError::BufferCount { .. } => ("buffer_count", 0),
            LayoutError::BufferSize { buffer, .. }
            | LayoutError::PosSize { buffer, .. }
            | LayoutError::BufferOverflow { buffer, .. }
            | LayoutError::BufferWords { buffer, .. }
            | LayoutError::EmptyForm { buffer, .. } => ("byte_size", buffer),
            LayoutError::DenseSize { .. } => ("byte_size", 0),
            LayoutError::DenseOverflow { .. } => ("shape", 0),
            LayoutError::BeforeStart { .. } | LayoutError::ByteOffset { .. } => ("byte_offset", 0),
            LayoutError::PageIndex { .. } => ("num_pages", 0),
            LayoutError::Unknown { .. } => ("layout_tag", 0),
        }
    }
}
