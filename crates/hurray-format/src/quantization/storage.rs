//! What the schemes share: storage types and their ranges, scale types, block sizes, the index of
//! the zero points.

use std::ops::RangeInclusive;

use half::{bf16, f16};

use super::QuantizationError;
use super::grid::Grid;
use crate::element::ElementType;
use crate::error::{DecodeError, FormatError};
use crate::shape::Shape;
use crate::wire::{Cursor, Put};

/// What `zero_index` is when there are no zero points.
const NO_ZERO_POINTS: u32 = u32::MAX;

/// What the scales in a parameter buffer are; all of them are widened to f32 first.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum ScaleType {
    /// Tag `0x01`.
    Float16,
    /// Tag `0x02`.
    BFloat16,
    /// Tag `0x03`.
    Float32,
}

impl ScaleType {
    /// The tag, which is that of the element type.
    #[must_use]
    pub fn tag(self) -> u8 {
        match self {
            ScaleType::Float16 => 0x01,
            ScaleType::BFloat16 => 0x02,
            ScaleType::Float32 => 0x03,
        }
    }

    pub(super) fn from_tag(tag: u8) -> Result<Self, FormatError> {
        match tag {
            0x01 => Ok(ScaleType::Float16),
            0x02 => Ok(ScaleType::BFloat16),
            0x03 => Ok(ScaleType::Float32),
            _ => Err(FormatError::Field {
                field: "scale_type",
                found: tag.into(),
                allowed: "1 (float16), 2 (bfloat16) or 3 (float32)",
            }),
        }
    }

    /// The bytes of a scale.
    #[must_use]
    pub fn width(self) -> u64 {
        match self {
            ScaleType::Float16 | ScaleType::BFloat16 => 2,
            ScaleType::Float32 => 4,
        }
    }

    /// The scale at `position`, `None` behind the end.
    pub(super) fn get(self, bytes: &[u8], position: usize) -> Option<f32> {
        Some(match self {
            ScaleType::Float16 => f16::from_le_bytes(entry(bytes, position)?).to_f32(),
            ScaleType::BFloat16 => bf16::from_le_bytes(entry(bytes, position)?).to_f32(),
            ScaleType::Float32 => f32::from_le_bytes(entry(bytes, position)?),
        })
    }
}

/// Entry `position` of a buffer of entries of `N` bytes.
pub(super) fn entry<const N: usize>(bytes: &[u8], position: usize) -> Option<[u8; N]> {
    bytes.get(position.checked_mul(N)?..)?.first_chunk().copied()
}

/// The signed and unsigned integers of at most `bits` bits are storage types of the affine schemes.
pub(super) fn integers(
    scheme: &'static str,
    element_type: ElementType,
    bits: u32,
) -> Result<(), QuantizationError> {
    use ElementType::{Int2, Int4, Int8, Int16, Int32, Uint2, Uint4, Uint8, Uint16, Uint32};
    let integer = matches!(
        element_type,
        Int2 | Int4 | Int8 | Int16 | Int32 | Uint2 | Uint4 | Uint8 | Uint16 | Uint32
    );
    if integer && element_type.bits() <= bits {
        return Ok(());
    }
    let allowed = if bits == 8 {
        "int and uint of 2, 4 and 8 bits"
    } else {
        "int and uint of 2, 4, 8, 16 and 32 bits"
    };
    Err(QuantizationError::StorageType { scheme, element_type, allowed })
}

/// The values of an integer storage type.
pub(super) fn range(element_type: ElementType) -> RangeInclusive<i64> {
    use ElementType::{Uint2, Uint4, Uint8, Uint16, Uint32};
    let bits = element_type.bits().min(32);
    match element_type {
        Uint2 | Uint4 | Uint8 | Uint16 | Uint32 => 0..=(1 << bits) - 1,
        _ => -(1 << (bits - 1))..=(1 << (bits - 1)) - 1,
    }
}

/// Which scales the affine schemes have; else what it would have to be.
pub(super) fn finite_non_zero(scale: f32) -> Result<(), &'static str> {
    if scale.is_finite() && scale != 0.0 { Ok(()) } else { Err("finite and not 0") }
}

/// Which scales NF4 has; else what it would have to be.
pub(super) fn finite_non_negative(scale: f32) -> Result<(), &'static str> {
    if scale.is_finite() && scale >= 0.0 { Ok(()) } else { Err("finite and at least 0") }
}

pub(super) fn read_zero_index(
    cursor: &mut Cursor<'_>,
    symmetric: bool,
) -> Result<Option<u32>, DecodeError> {
    let start = cursor.clone();
    let found = cursor.u32("zero_index")?;
    if !symmetric {
        return Ok(Some(found));
    }
    if found != NO_ZERO_POINTS {
        let error = QuantizationError::SymmetricZeroIndex { found };
        return Err(start.error("zero_index", error.into()));
    }
    Ok(None)
}

pub(super) fn write_zero_index(zero_index: Option<u32>, out: &mut Vec<u8>) {
    out.put_u32(zero_index.unwrap_or(NO_ZERO_POINTS));
}

/// A block is a power of two in `allowed`, its axis exists, and it is not longer than the axis unless
/// that is 0.
pub(super) fn validate_block(
    scheme: &'static str,
    axis: u32,
    block: u32,
    range: RangeInclusive<u32>,
    allowed: &'static str,
    shape: &Shape,
) -> Result<(), FormatError> {
    if !block.is_power_of_two() || !range.contains(&block) {
        return Err(QuantizationError::BlockSize { scheme, found: block, allowed }.into());
    }
    let size = Grid::Blocks { axis, block }.validate(shape)?;
    if size != 0 && u64::from(block) > size {
        let rule = "a block is at most as long as the dimension";
        return Err(QuantizationError::BlockAlongAxis { block, axis, size, rule }.into());
    }
    Ok(())
}
