//! NF4, sixteen levels that follow a normal distribution: `scale[b] * level[q]`
//! (docs/format.md, "Quantization"; scheme `0x04`).

use super::QuantizationError;
use super::grid::Grid;
use super::storage::validate_block;
use crate::element::ElementType;
use crate::error::{DecodeError, FormatError};
use crate::shape::Shape;
use crate::wire::{Cursor, Put};

/// The numbers that the sixteen codes stand for, before they are scaled.
#[expect(clippy::excessive_precision, reason = "as the format writes them; rounded to f32")]
pub const NF4_LEVELS: [f32; 16] = [
    -1.0,
    -0.6961928009986877,
    -0.5250730514526367,
    -0.39491748809814453,
    -0.28444138169288635,
    -0.18477343022823334,
    -0.09105003625154495,
    0.0,
    0.07958029955625534,
    0.16093020141124725,
    0.24611230194568634,
    0.33791524171829224,
    0.44070982933044434,
    0.5626170039176941,
    0.7229568362236023,
    1.0,
];

/// A scale for every block of elements along a dimension.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Nf4 {
    /// The dimension.
    pub axis: u32,
    /// The elements of a block: a power of two, at least 8 and at most the size of the dimension.
    pub block: u32,
    /// The buffer with the scales, one `f32` per block, finite and at least 0.
    pub scale_index: u32,
}

impl Nf4 {
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
        const SCHEME: &str = "nf4";
        if element_type != ElementType::Uint4 {
            let (scheme, allowed) = (SCHEME, "uint4");
            return Err(QuantizationError::StorageType { scheme, element_type, allowed }.into());
        }
        validate_block(SCHEME, self.axis, self.block, 8..=1 << 31, "of at least 8", shape)
    }
}
