//! Strided: every dimension has a stride of its own, which may be negative or zero
//! (docs/format.md, "Layouts"; tag `0x03`).

use super::dense::{byte_length, hold, not_scalar, one_each};
use super::{Extent, LayoutError};
use crate::error::{DecodeError, FormatError};
use crate::shape::Shape;
use crate::wire::{Cursor, Put};

/// Descriptor fields of a strided tensor.
#[derive(Clone, Debug, PartialEq, Eq)]
#[non_exhaustive]
pub struct StridedLayout {
    /// How many elements lie between neighbours along each dimension.
    pub strides: Vec<i64>,
}

impl StridedLayout {
    /// Takes the strides, one per dimension, in elements. They are not checked here.
    #[must_use]
    pub fn new(strides: Vec<i64>) -> Self {
        Self { strides }
    }

    pub(super) fn decode(cursor: &mut Cursor<'_>, rank: usize) -> Result<Self, DecodeError> {
        Ok(Self { strides: cursor.array("strides", rank)? })
    }

    pub(super) fn encode(&self, out: &mut Vec<u8>) {
        out.put_slice(&self.strides);
    }

    pub(super) fn validate_against_shape(&self, shape: &Shape) -> Result<(), FormatError> {
        not_scalar("strided", shape)?;
        one_each("strides", self.strides.len(), shape)
    }

    /// Every element that can be reached lies in the buffer.
    pub(super) fn validate_buffers(&self, extent: &Extent<'_>) -> Result<(), FormatError> {
        if extent.shape.is_dynamic() || extent.shape.dimensions().contains(&0) {
            return Ok(());
        }
        let (lowest, highest) =
            self.reach(extent.shape).ok_or(FormatError::SizeOverflow { what: "the strides" })?;
        let needed = byte_length(extent, u64::try_from(-lowest).ok())?;
        let byte_offset = extent.byte_offset;
        if needed > byte_offset {
            return Err(LayoutError::BeforeStart { needed, byte_offset }.into());
        }
        hold(extent, u64::try_from(highest + 1).ok())
    }

    /// The lowest and the highest position of an element, seen from the element at index 0. Both are
    /// far enough from the limits of i128 to be negated or incremented.
    fn reach(&self, shape: &Shape) -> Option<(i128, i128)> {
        let (mut lowest, mut highest) = (0i128, 0i128);
        for (&size, &stride) in shape.dimensions().iter().zip(&self.strides) {
            let last = i128::from(size.checked_sub(1)?).checked_mul(stride.into())?;
            let bound = if last < 0 { &mut lowest } else { &mut highest };
            // Anything beyond 2^64 is too far for a buffer anyway.
            *bound = bound.checked_add(last).filter(|sum| sum.unsigned_abs() <= 1 << 64)?;
        }
        Some((lowest, highest))
    }
}
