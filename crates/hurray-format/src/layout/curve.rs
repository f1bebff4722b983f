//! The space-filling curves: Morton (tag `0x05`) and Hilbert (tag `0x40`)
//! (docs/format.md, "Layouts").

use super::dense::{byte_length, hold, not_scalar, one_each};
use super::{BufferRole, Extent, LayoutError};
use crate::cast::to_u64;
use crate::error::{DecodeError, FormatError};
use crate::shape::Shape;
use crate::wire::{Cursor, Put};

/// Descriptor fields of a tensor along a Morton curve.
#[derive(Clone, Debug, PartialEq, Eq)]
#[non_exhaustive]
pub struct MortonLayout {
    /// The bits of a coordinate along each dimension, none of them 0; the curve runs through
    /// `2^bits` coordinates.
    pub morton_bits: Vec<u32>,
}

impl MortonLayout {
    /// Takes the bits of each dimension. They are not checked here.
    #[must_use]
    pub fn new(morton_bits: Vec<u32>) -> Self {
        Self { morton_bits }
    }

    pub(super) fn decode(cursor: &mut Cursor<'_>, rank: usize) -> Result<Self, DecodeError> {
        Ok(Self { morton_bits: cursor.array("morton_bits", rank)? })
    }

    pub(super) fn encode(&self, out: &mut Vec<u8>) {
        out.put_slice(&self.morton_bits);
    }

    pub(super) fn validate_against_shape(&self, shape: &Shape) -> Result<(), FormatError> {
        const FIELD: &str = "morton_bits";
        not_scalar("morton", shape)?;
        one_each(FIELD, self.morton_bits.len(), shape)?;
        if self.morton_bits.contains(&0) {
            return Err(FormatError::Field { field: FIELD, found: 0, allowed: "at least 1" });
        }
        for (dimension, (&size, &bits)) in
            shape.dimensions().iter().zip(&self.morton_bits).enumerate()
        {
            if size != Shape::DYNAMIC && power(bits).is_some_and(|limit| size > limit) {
                let relation = "at most";
                return Err(LayoutError::CurveDimension {
                    field: FIELD,
                    dimension,
                    size,
                    bits,
                    relation,
                }
                .into());
            }
        }
        Ok(())
    }

    /// At least the `2^sum(bits)` elements of the curve.
    pub(super) fn validate_buffers(&self, extent: &Extent<'_>) -> Result<(), FormatError> {
        if extent.shape.is_dynamic() {
            return Ok(());
        }
        let bits = self.morton_bits.iter().try_fold(0u32, |sum, &bits| sum.checked_add(bits));
        hold(extent, bits.and_then(power))
    }
}

/// Descriptor fields of a tensor along a Hilbert curve.
#[derive(Clone, Debug, PartialEq, Eq)]
#[non_exhaustive]
pub struct HilbertLayout {
    /// Every dimension has size `2^order`; not 0.
    pub order: u32,
    /// The rank of the curve, which is that of the tensor and at least 2.
    pub curve_rank: u32,
}

impl HilbertLayout {
    /// Takes the fields. They are not checked here.
    #[must_use]
    pub fn new(order: u32, curve_rank: u32) -> Self {
        Self { order, curve_rank }
    }

    pub(super) fn decode(cursor: &mut Cursor<'_>) -> Result<Self, DecodeError> {
        Ok(Self { order: cursor.u32("order")?, curve_rank: cursor.u32("curve_rank")? })
    }

    pub(super) fn encode(&self, out: &mut Vec<u8>) {
        out.put_u32(self.order);
        out.put_u32(self.curve_rank);
    }

    pub(super) fn validate_against_shape(&self, shape: &Shape) -> Result<(), FormatError> {
        let rank = shape.rank();
        if rank < 2 {
            let advice = "use row-major below rank 2";
            return Err(FormatError::RankForLayout { layout: "hilbert", rank, advice });
        }
        let Self { order, curve_rank } = *self;
        if order == 0 {
            return Err(FormatError::Field { field: "order", found: 0, allowed: "at least 1" });
        }
        if u64::from(curve_rank) != to_u64(rank) {
            let allowed = "the rank of the tensor";
            return Err(FormatError::Field {
                field: "curve_rank",
                found: curve_rank.into(),
                allowed,
            });
        }
        for (dimension, &size) in shape.dimensions().iter().enumerate() {
            if size != Shape::DYNAMIC && power(order) != Some(size) {
                let (field, relation, bits) = ("order", "exactly", order);
                return Err(
                    LayoutError::CurveDimension { field, dimension, size, bits, relation }.into()
                );
            }
        }
        Ok(())
    }

    /// Exactly the `2^(rank * order)` elements of the curve.
    pub(super) fn validate_buffers(&self, extent: &Extent<'_>) -> Result<(), FormatError> {
        if extent.shape.is_dynamic() {
            return Ok(());
        }
        let elements = byte_length(extent, extent.shape.element_count())?;
        let expected = extent.byte_offset.checked_add(elements);
        extent.exactly(0, BufferRole::Data, expected)
    }
}

/// `2^bits`, if it fits into 64 bits.
fn power(bits: u32) -> Option<u64> {
    1u64.checked_shl(bits)
}
