//! MXFP, the microscaling formats: `2^(scale[b] - 127) * q` (docs/format.md, "Quantization"; scheme
//! `0x05`).

use super::QuantizationError;
use super::grid::Grid;
use super::storage::validate_block;
use crate::element::ElementType;
use crate::error::{DecodeError, FormatError};
use crate::shape::Shape;
use crate::wire::{Cursor, Put};

/// A power of two for every block of elements along a dimension.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Mxfp {
    /// The dimension, whose size is a positive multiple of the block.
    pub axis: u32,
    /// The elements of a block: a power of two from 16 to 2048.
    pub block: u32,
    /// The buffer with the scales, one float8_e8m0 byte per block.
    pub scale_index: u32,
}

impl Mxfp {
    pub(super) fn decode(cursor: &mut Cursor<'_>) -> Result<Self, DecodeError> {
        Ok(Self {
            axis: cursor.u32("axis")?,
            block: cursor.u32("block")?,
            scale_index: cursor.u32("scale_index")?,
        })
    }

    pub(super) fn encode(&self, out: &mut Vec<u8>) {
        out.put_u32(self.axis);
        out.put_u32(self.block);
        out.put_u32(self.scale_index);
    }

    pub(super) fn grid(&self) -> Grid {
        Grid::Blocks { axis: self.axis, block: self.block }
    }

    pub(super) fn validate(
        &self,
        shape: &Shape,
        element_type: ElementType,
    ) -> Result<(), FormatError> {
        const SCHEME: &str = "mxfp";
        use ElementType::{Float4E2M1, Float6E2M3, Float6E3M2, Float8E4M3, Float8E5M2, Int4, Int8};
        if !matches!(
            element_type,
            Float8E4M3 | Float8E5M2 | Float4E2M1 | Float6E2M3 | Float6E3M2 | Int8 | Int4
        ) {
            let (scheme, allowed) =
                (SCHEME, "float8_e4m3, float8_e5m2, float4_e2m1, float6, int8 and int4");
            return Err(QuantizationError::StorageType { scheme, element_type, allowed }.into());
        }
        let Self { axis, block, .. } = *self;
        validate_block(SCHEME, axis, block, 16..=2048, "from 16 to 2048", shape)?;
        let size = self.grid().validate(shape)?;
        if size == 0 || !size.is_multiple_of(block.into()) {
            let rule = "it has to be a positive multiple";
            return Err(QuantizationError::BlockAlongAxis { block, axis, size, rule }.into());
        }
        Ok(())
    }
}
