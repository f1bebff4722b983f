//! Per-tensor affine quantization: `scale * (q - zero_point)` (docs/format.md, "Quantization";
//! scheme `0x01`).

use super::QuantizationError;
use super::storage::{finite_non_zero, integers, range};
use crate::element::ElementType;
use crate::error::{DecodeError, FormatError};
use crate::wire::{Cursor, Put};

/// One scale and zero point for the whole tensor.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct PerTensor {
    /// Finite and not 0.
    pub scale: f32,
    /// In the range of the storage type.
    pub zero_point: i32,
}

impl PerTensor {
    pub(super) fn decode(cursor: &mut Cursor<'_>) -> Result<Self, DecodeError> {
        let scheme = Self { scale: cursor.f32("scale")?, zero_point: cursor.i32("zero_point")? };
        cursor.reserved("reserved", 4)?;
        Ok(scheme)
    }

    pub(super) fn encode(&self, out: &mut Vec<u8>) {
        out.put(&self.scale.to_le_bytes());
        out.put(&self.zero_point.to_le_bytes());
        out.put(&[0; 4]);
    }

    pub(super) fn validate(&self, element_type: ElementType) -> Result<(), FormatError> {
        integers("per_tensor", element_type, 32)?;
        finite_non_zero(self.scale).map_err(|allowed| FormatError::Number {
            field: "scale",
            found: self.scale.into(),
            allowed,
        })?;
        if !range(element_type).contains(&self.zero_point.into()) {
            let found = self.zero_point;
            return Err(QuantizationError::ZeroPoint { found, element_type }.into());
        }
        Ok(())
    }
}
