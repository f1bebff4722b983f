//! Per-channel affine quantization: `scale[i] * (q - zero_point[i])` with the index `i` along one
//! dimension (docs/format.md, "Quantization"; scheme `0x02`).

use super::grid::Grid;
use super::storage::{ScaleType, integers, read_zero_index, write_zero_index};
use crate::element::ElementType;
use crate::error::{DecodeError, FormatError};
use crate::shape::Shape;
use crate::wire::{Cursor, Put};

/// A scale, and unless symmetric a zero point, for every index along a dimension.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct PerChannel {
    /// The dimension.
    pub axis: u32,
    /// The buffer with the scales, `f32[shape[axis]]`.
    pub scale_index: u32,
    /// The buffer with the zero points, `i32[shape[axis]]`; `None` if all of them are 0.
    pub zero_index: Option<u32>,
}

impl PerChannel {
    pub(super) fn decode(cursor: &mut Cursor<'_>, symmetric: bool) -> Result<Self, DecodeError> {
        let axis = cursor.u32("axis")?;
        let scale_index = cursor.u32("scale_index")?;
        let zero_index = read_zero_index(cursor, symmetric)?;
        cursor.parse_u8("scale_type", |tag| match tag {
            0x03 => Ok(()),
            _ => Err(FormatError::Field {
                field: "scale_type",
                found: tag.into(),
                allowed: "3 (float32)",
            }),
        })?;
        cursor.reserved("reserved", 3)?;
        Ok(Self { axis, scale_index, zero_index })
    }

    pub(super) fn encode(&self, out: &mut Vec<u8>) {
        out.put_u32(self.axis);
        out.put_u32(self.scale_index);
        write_zero_index(self.zero_index, out);
        out.put(&[ScaleType::Float32.tag(), 0, 0, 0]);
    }

    pub(super) fn grid(&self) -> Grid {
        Grid::Channels { axis: self.axis }
    }

    pub(super) fn validate(
        &self,
        shape: &Shape,
        element_type: ElementType,
    ) -> Result<(), FormatError> {
        integers("per_channel", element_type, 32)?;
        self.grid().validate(shape)?;
        Ok(())
    }
}
