//! What can be wrong with a descriptor or a file, as values that a program can match on.

use thiserror::Error;

use crate::buffer::{Device, MemoryClass, SyncMode};
use crate::container::ContainerError;
use crate::descriptor::DescriptorError;
use crate::element::ElementType;
use crate::layout::LayoutError;
use crate::quantization::QuantizationError;
use crate::tag::TagSpace;

/// Bytes that break a rule of the format: the field, where it is, and the rule.
#[derive(Clone, Debug, PartialEq, Error)]
#[error("{field} at byte {offset}: {error}")]
pub struct DecodeError {
    /// The field, by its name in the specification.
    pub field: &'static str,
    /// The absolute offset of the field in bytes.
    pub offset: u64,
    /// What is wrong with it.
    pub error: FormatError,
}

/// A rule of the format that something breaks.
#[derive(Clone, Debug, PartialEq, Error)]
#[non_exhaustive]
pub enum FormatError {
    /// A tag that no version of the format will assign.
    #[error("{space} tag {tag:#04x} is invalid")]
    InvalidTag {
        /// The space the tag belongs to.
        space: TagSpace,
        /// The tag found.
        tag: u8,
    },
    /// A tag that this version of the format does not assign.
    #[error("{space} tag {tag:#04x} is reserved; the file may need a newer reader")]
    ReservedTag {
        /// The space the tag belongs to.
        space: TagSpace,
        /// The tag found.
        tag: u8,
    },
    /// A private tag that this implementation gives no meaning.
    #[error("{space} tag {tag:#04x} is private to another implementation")]
    PrivateTag {
        /// The space the tag belongs to.
        space: TagSpace,
        /// The tag found.
        tag: u8,
    },
    /// A rank above [`crate::shape::MAX_RANK`].
    #[error("rank {rank} is above the limit of 64")]
    RankTooLarge {
        /// The rank found.
        rank: u64,
    },
    /// A layout that does not exist at this rank.
    #[error("layout {layout} cannot have rank {rank}: {advice}")]
    RankForLayout {
        /// The layout's name.
        layout: &'static str,
        /// The rank found.
        rank: usize,
        /// What to use instead.
        advice: &'static str,
    },
    /// A mode order that is not as long as the tensor has dimensions.
    #[error("mode order has {found} entries, but the tensor has rank {rank}")]
    ModeOrderLength {
        /// The number of entries found.
        found: usize,
        /// The rank of the tensor.
        rank: usize,
    },
    /// A mode order that names a dimension that does not exist.
    #[error("mode order names dimension {dimension} at level {level}, but the rank is {rank}")]
    ModeOrderRange {
        /// The level whose entry is wrong.
        level: usize,
        /// The dimension found.
        dimension: u32,
        /// The rank of the tensor.
        rank: usize,
    },
    /// A mode order that names a dimension twice.
    #[error("mode order names dimension {dimension} again at level {level}")]
    ModeOrderDuplicate {
        /// The later of the two levels.
        level: usize,
        /// The dimension found twice.
        dimension: u32,
    },
    /// The bit width of a private element type is not one that can be stored.
    #[error("a private element type of {bit_width} bits is neither 1, 2, 4 nor a multiple of 8")]
    PrivateWidth {
        /// The width found.
        bit_width: u32,
    },
    /// A size that does not fit into 64 bits.
    #[error("the size of {what} overflows 64 bits")]
    SizeOverflow {
        /// What has the size.
        what: &'static str,
    },
    /// A buffer that is not exactly as long as its elements need.
    #[error("{count} elements of {element_type} take {expected} bytes, found {found}")]
    ByteLength {
        /// The element type.
        element_type: ElementType,
        /// The number of elements.
        count: u64,
        /// The bytes they take.
        expected: u64,
        /// The bytes found.
        found: u64,
    },
    /// Values were asked for as a Rust type that is not theirs.
    #[error("values of {found} cannot be viewed as {asked}")]
    ElementTypeMismatch {
        /// The type asked for.
        asked: ElementType,
        /// The type of the values.
        found: ElementType,
    },
    /// A buffer does not start at a multiple of what its elements need.
    #[error(
        "the buffer is not aligned to {alignment} bytes; copy it into aligned memory to view it"
    )]
    Misaligned {
        /// The alignment needed.
        alignment: usize,
    },
    /// The alignment of a buffer is not allowed.
    #[error(
        "buffer alignment {alignment} is not a power of two of at least 64 (1 for an empty buffer)"
    )]
    BufferAlignment {
        /// The alignment found, in bytes.
        alignment: u32,
    },
    /// A CPU buffer that somebody would have to wait for.
    #[error("a CPU buffer has sync mode {found}; it must be producer-synced")]
    CpuSyncMode {
        /// The mode found.
        found: SyncMode,
    },
    /// A class of memory that the device does not have.
    #[error("device {device} has no memory of class {memory_class}")]
    MemoryClassOnDevice {
        /// The class found.
        memory_class: MemoryClass,
        /// The device found.
        device: Device,
    },
    /// A name that is not one of a public element type.
    #[error("there is no element type `{name}`")]
    UnknownElementType {
        /// The name found.
        name: String,
    },
    /// Values of whole bytes where packed ones belong.
    #[error("{element_type} is not narrower than a byte")]
    NotPacked {
        /// The element type found.
        element_type: ElementType,
    },
    /// The bytes end inside a field.
    #[error("{needed} bytes needed, but only {available} are left")]
    Truncated {
        /// The bytes that the field takes.
        needed: u64,
        /// The bytes that are there.
        available: u64,
    },
    /// A reserved byte that is not 0.
    #[error("reserved byte is {found:#04x}, not 0")]
    Reserved {
        /// The byte found.
        found: u8,
    },
    /// A sparse tensor without exactly one value per stored element.
    #[error("{found} values for {nnz} stored elements")]
    ValueCount {
        /// The number of values found.
        found: usize,
        /// The number of stored elements.
        nnz: usize,
    },
    /// A buffer of 64-bit integers that is not a whole number of them.
    #[error("the buffer has {found} bytes, which is not a whole number of 64-bit integers")]
    WordLength {
        /// The bytes found.
        found: u64,
    },
    /// A rule of the file container.
    #[error(transparent)]
    Container(#[from] ContainerError),
    /// A field whose value the format gives no meaning.
    #[error("{field} is {found}; it must be {allowed}")]
    Field {
        /// The field.
        field: &'static str,
        /// The value found.
        found: u64,
        /// The values that have one.
        allowed: &'static str,
    },
    /// A floating-point field out of its range.
    #[error("{field} is {found}; it must be {allowed}")]
    Number {
        /// The field.
        field: &'static str,
        /// The number found.
        found: f64,
        /// The numbers that are allowed.
        allowed: &'static str,
    },
    /// A rule of the layouts.
    #[error(transparent)]
    Layout(#[from] LayoutError),
    /// A rule of the quantization schemes.
    #[error(transparent)]
    Quantization(#[from] QuantizationError),
    /// A rule of the tensor descriptor as a whole.
    #[error(transparent)]
    Descriptor(#[from] DescriptorError),
}

impl FormatError {
    /// The field of a descriptor at fault, and which one of that name, counted from 0.
    pub(crate) fn field(&self) -> (&'static str, usize) {
        match self {
            FormatError::Layout(error) => error.field(),
            FormatError::Quantization(error) => error.field(),
            FormatError::Descriptor(error) => error.field(),
            FormatError::Field { field, .. } | FormatError::Number { field, .. } => (field, 0),
            FormatError::RankForLayout { .. } | FormatError::RankTooLarge { .. } => ("rank", 0),
            FormatError::ModeOrderLength { .. }
            | FormatError::ModeOrderRange { .. }
            | FormatError::ModeOrderDuplicate { .. } => ("mode_order", 0),
            FormatError::SizeOverflow { .. } => ("shape", 0),
            _ => ("descriptor", 0),
        }
    }
}
