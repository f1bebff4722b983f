//! Per-block affine quantization: `scale[b] * (q - zero_point[b])` with the block `b` of the
//! element (docs/format.md, "Quantization"; scheme `0x03`).

use super::grid::Grid;
use super::storage::{ScaleType, integers, read_zero_index, validate_block, write_zero_index};
use crate::element::ElementType;
use crate::error::{DecodeError, FormatError};
use crate::shape::Shape;
use crate::wire::{Cursor, Put};

/// A scale, and unless symmetric a zero point, for every block of elements along a dimension.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct PerBlock {
    /// The dimension.
    pub axis: u32,
    /// The elements of a block: a power of two, at least 2 and at most the size of the dimension.
    pub block: u32,
    /// The buffer with the scales, one per block.
    pub scale_index: u32,
    /// The buffer with the zero points, `i32` each; `None` if all of them are 0.
    pub zero_index: Option<u32>,
    /// What a scale is.
    pub scale_type: ScaleType,
}

impl PerBlock {
    pub(super) fn decode(cursor: &mut Cursor<'_>, symmetric: bool) -> Result<Self, DecodeError> {
        let axis = cursor.u32("axis")?;
        let block = cursor.u32("block")?;
        let scale_index = cursor.u32("scale_index")?;
        let zero_index = read_zero_index(cursor, symmetric)?;
        let scale_type = cursor.parse_u8("scale_type", ScaleType::from_tag)?;
        cursor.reserved("reserved", 3)?;
        Ok(Self { axis, block, scale_index, zero_index, scale_type })
    }

    pub(super) fn encode(&self, out: &mut Vec<u8>) {
        out.put_u32(self.axis);
        out.put_u32(self.block);
        out.put_u32(self.scale_index);
        write_zero_index(self.zero_index, out);
        out.put(&[self.scale_type.tag(), 0, 0, 0]);
    }

    pub(super) fn grid(&self) -> Grid {
        Grid::Blocks { axis: self.axis, block: self.block }
    }

    pub(super) fn validate(
        &self,
        shape: &Shape,
        element_type: ElementType,
    ) -> Result<(), FormatError> {
        integers("per_block", element_type, 8)?;
        validate_block("per_block", self.axis, self.block, 2..=1 << 31, "of at least 2", shape)
    }
}
