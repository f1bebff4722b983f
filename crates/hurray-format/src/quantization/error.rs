//! What can be wrong with the quantization of a tensor.

use thiserror::Error;

use crate::element::ElementType;
use crate::layout::BufferRole;

/// A rule of the quantization schemes that something breaks (docs/format.md, "Quantization").
#[derive(Clone, Debug, PartialEq, Error)]
#[non_exhaustive]
pub enum QuantizationError {
    /// A version of a scheme that this reader does not know.
    #[error("version {found} of scheme {scheme} is not supported, only version 1")]
    Version {
        /// The scheme.
        scheme: &'static str,
        /// The version found.
        found: u8,
    },
    /// A flag bit that the scheme gives no meaning.
    #[error("scheme {scheme} has unknown flag bits {found:#06x}")]
    Flags {
        /// The scheme.
        scheme: &'static str,
        /// The unknown bits.
        found: u16,
    },
    /// Values of a type that the scheme does not store.
    #[error("scheme {scheme} does not store {element_type}; it stores {allowed}")]
    StorageType {
        /// The scheme.
        scheme: &'static str,
        /// The element type found.
        element_type: ElementType,
        /// What it stores.
        allowed: &'static str,
    },
    /// An axis that the tensor does not have.
    #[error("axis {axis} does not exist in a tensor of rank {rank}")]
    Axis {
        /// The axis found.
        axis: u32,
        /// The rank of the tensor.
        rank: usize,
    },
    /// An axis whose size is not known.
    #[error("axis {axis} is a dynamic dimension, along which nothing can be quantized")]
    DynamicAxis {
        /// The axis.
        axis: u32,
    },
    /// A block that is not a power of two in the scheme's range.
    #[error("scheme {scheme} has blocks of {found}; they must be a power of two {allowed}")]
    BlockSize {
        /// The scheme.
        scheme: &'static str,
        /// The block found.
        found: u32,
        /// The range.
        allowed: &'static str,
    },
    /// Blocks that do not go with the size of the dimension.
    #[error("blocks of {block} do not go with dimension {axis} of size {size}: {rule}")]
    BlockAlongAxis {
        /// The block.
        block: u32,
        /// The dimension.
        axis: u32,
        /// Its size.
        size: u64,
        /// What is asked for.
        rule: &'static str,
    },
    /// A symmetric scheme that names a buffer of zero points.
    #[error("a symmetric scheme names buffer {found} as zero points; it must be 4294967295")]
    SymmetricZeroIndex {
        /// The index found.
        found: u32,
    },
    /// A zero point that no stored value can equal.
    #[error("zero_point {found} is outside the range of {element_type}")]
    ZeroPoint {
        /// The zero point found.
        found: i32,
        /// The storage type.
        element_type: ElementType,
    },
    /// A parameter buffer that does not exist.
    #[error("{field} names buffer {index} of {count}")]
    NoBuffer {
        /// The field.
        field: &'static str,
        /// The index found.
        index: u32,
        /// The length of the buffer table.
        count: usize,
    },
    /// A parameter buffer that is one of the layout's.
    #[error("{field} names buffer {index}, which holds {role} of the layout")]
    LayoutBuffer {
        /// The field.
        field: &'static str,
        /// The index found.
        index: u32,
        /// What the buffer holds.
        role: BufferRole,
    },
    /// A buffer that neither the layout nor the scheme uses.
    #[error("buffer {buffer} is used neither by the layout nor by the quantization")]
    UnusedBuffer {
        /// Its index in the buffer table.
        buffer: usize,
    },
    /// A parameter buffer that is not exactly as long as its entries.
    #[error("parameter buffer {buffer} has {found} bytes; {count} entries take {expected}")]
    BufferSize {
        /// Its index in the buffer table.
        buffer: usize,
        /// The number of blocks or channels.
        count: u64,
        /// The bytes that their parameters take.
        expected: u64,
        /// The bytes found.
        found: u64,
    },
    /// A scale in a parameter buffer that is not a number to multiply with.
    #[error("scale {position} in buffer {buffer} is {found}; it must be {allowed}")]
    BufferScale {
        /// The index in the buffer table.
        buffer: u32,
        /// The position of the scale.
        position: u64,
        /// The scale found.
        found: f32,
        /// The scales that are allowed.
        allowed: &'static str,
    },
    /// A byte that is no float8_e8m0 scale.
    #[error("scale {position} in buffer {buffer} is {found:#04x}, which float8_e8m0 does not have")]
    BufferExponent {
        /// The index in the buffer table.
        buffer: u32,
        /// The position of the scale.
        position: u64,
        /// The byte found.
        found: u8,
    },
    /// A zero point in a parameter buffer that no stored value can equal.
    #[error(
        "zero point {position} in buffer {buffer} is {found}, outside the range of {element_type}"
    )]
    BufferZeroPoint {
        /// The index in the buffer table.
        buffer: u32,
        /// The position of the zero point.
        position: u64,
        /// The zero point found.
        found: i32,
        /// The storage type.
        element_type: ElementType,
    },
    /// Parameters that the scheme does not have.
    #[error("there are no parameters {parameter}, only {count}")]
    Parameter {
        /// The number of the channel or block.
        parameter: u64,
        /// How many there are.
        count: u64,
    },
    /// Blocks cannot be numbered when a dimension is not known.
    #[error(
        "the shape has a dynamic dimension, so that the parameters of an element are not known"
    )]
    DynamicShape,
    /// A scheme that this implementation does not know.
    #[error("scheme {scheme:#04x} is not known, so that nothing can be dequantized")]
    UnknownScheme {
        /// The tag of the scheme.
        scheme: u8,
    },
    /// A logical index that does not lie in the tensor.
    #[error("the logical index {index:?} does not lie in shape {shape}")]
    Index {
        /// The index found.
        index: Vec<u64>,
        /// The shape of the tensor.
        shape: String,
    },
    /// A value of another type than the tensor stores.
    #[error("{value} is not a value of {element_type}")]
    Value {
        /// The value found, as text.
        value: String,
        /// The storage type.
        element_type: ElementType,
    },
}

impl QuantizationError {
    /// The field at fault, and which one of that name.
    pub(crate) fn field(&self) -> (&'static str, usize) {
        let field = match *self {
            QuantizationError::Version { .. } => "scheme_version",
            QuantizationError::Flags { .. } => "scheme_flags",
            QuantizationError::Axis { .. } | QuantizationError::DynamicAxis { .. } => "axis",
            QuantizationError::BlockSize { .. } | QuantizationError::BlockAlongAxis { .. } => {
                "block"
            }
            QuantizationError::SymmetricZeroIndex { .. } => "zero_index",
            QuantizationError::ZeroPoint { .. } => "zero_point",
            QuantizationError::NoBuffer { field, .. }
            | QuantizationError::LayoutBuffer { field, .. } => field,
            QuantizationError::UnusedBuffer { buffer }
            | QuantizationError::BufferSize { buffer, .. } => return ("byte_size", buffer),
            _ => "scheme",
        };
        (field, 0)
    }
}
