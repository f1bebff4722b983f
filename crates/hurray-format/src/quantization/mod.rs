//! Quantization: numbers that stand for others by a rule and its parameters
//! (docs/format.md, "Quantization").
//!
//! One file per scheme owns its fields and what they ask of the tensor. [`Quantization`] chooses among
//! them and checks the parameter buffers against the buffer table; [`Dequantizer`] reads their
//! contents and turns stored values into numbers.

mod dequantize;
mod error;
mod grid;
mod mxfp;
mod nf4;
mod per_block;
mod per_channel;
mod per_tensor;
mod storage;

pub use dequantize::Dequantizer;
pub use error::QuantizationError;
pub use mxfp::Mxfp;
pub use nf4::{NF4_LEVELS, Nf4};
pub use per_block::PerBlock;
pub use per_channel::PerChannel;
pub use per_tensor::PerTensor;
pub use storage::ScaleType;

use crate::buffer::BufferHandle;
use crate::cast::{to_u64, to_usize};
use crate::descriptor::Mode;
use crate::element::ElementType;
use crate::error::{DecodeError, FormatError};
use crate::layout::LayoutDescriptor;
use crate::shape::Shape;
use crate::tag::{self, TagSpace};
use crate::wire::{Cursor, Put};
use grid::Grid;

/// The version of every scheme.
const VERSION: u8 = 1;

/// Flag bit 0 of the affine schemes with buffers: there are no zero points.
const SYMMETRIC: u16 = 1;

/// A quantization scheme with its fields. Indices name entries of the tensor's buffer table.
#[derive(Clone, Debug, PartialEq)]
#[non_exhaustive]
pub enum Quantization {
    /// One scale and zero point, tag `0x01`.
    PerTensor(PerTensor),
    /// Parameters per index along a dimension, tag `0x02`.
    PerChannel(PerChannel),
    /// Parameters per block along a dimension, tag `0x03`.
    PerBlock(PerBlock),
    /// Sixteen levels with a scale per block, tag `0x04`.
    Nf4(Nf4),
    /// Small floats or integers with a power of two per block, tag `0x05`.
    Mxfp(Mxfp),
    /// A scheme private to an implementation or of a later version of the format; only permissive
    /// decoding yields it.
    Unknown {
        /// The tag of the scheme.
        scheme: u8,
        /// What follows the tag.
        bytes: Vec<u8>,
    },
}

/// The buffers that a scheme names.
#[derive(Clone, Copy, Debug)]
struct Parameters {
    scale_index: u32,
    /// `None` for the float8_e8m0 bytes of MXFP.
    scale_type: Option<ScaleType>,
    zero_index: Option<u32>,
}

impl Quantization {
    /// The tag of the scheme.
    #[must_use]
    pub fn scheme(&self) -> u8 {
        match self {
            Quantization::PerTensor(_) => 0x01,
            Quantization::PerChannel(_) => 0x02,
            Quantization::PerBlock(_) => 0x03,
            Quantization::Nf4(_) => 0x04,
            Quantization::Mxfp(_) => 0x05,
            Quantization::Unknown { scheme, .. } => *scheme,
        }
    }

    /// The name of the scheme, such as `per_tensor`.
    #[must_use]
    pub fn name(&self) -> &'static str {
        match self {
            Quantization::PerTensor(_) => "per_tensor",
            Quantization::PerChannel(_) => "per_channel",
            Quantization::PerBlock(_) => "per_block",
            Quantization::Nf4(_) => "nf4",
            Quantization::Mxfp(_) => "mxfp",
            Quantization::Unknown { scheme, .. } if tag::is_private(*scheme) => "private",
            Quantization::Unknown { .. } => "unknown",
        }
    }

    fn parameters(&self) -> Option<Parameters> {
        let (scale_index, scale_type, zero_index) = match self {
            Quantization::PerTensor(_) | Quantization::Unknown { .. } => return None,
            Quantization::PerChannel(scheme) => {
                (scheme.scale_index, Some(ScaleType::Float32), scheme.zero_index)
            }
            Quantization::PerBlock(scheme) => {
                (scheme.scale_index, Some(scheme.scale_type), scheme.zero_index)
            }
            Quantization::Nf4(scheme) => (scheme.scale_index, Some(ScaleType::Float32), None),
            Quantization::Mxfp(scheme) => (scheme.scale_index, None, None),
        };
        Some(Parameters { scale_index, scale_type, zero_index })
    }

    fn grid(&self) -> Option<Grid> {
        match self {
            Quantization::PerTensor(_) | Quantization::Unknown { .. } => None,
            Quantization::PerChannel(scheme) => Some(scheme.grid()),
            Quantization::PerBlock(scheme) => Some(scheme.grid()),
            Quantization::Nf4(scheme) => Some(scheme.grid()),
            Quantization::Mxfp(scheme) => Some(scheme.grid()),
        }
    }

    /// The indices of the parameter buffers, ascending and without repetition.
    #[must_use]
    pub fn buffer_indices(&self) -> Vec<u32> {
        let mut indices: Vec<u32> = self
            .parameters()
            .into_iter()
            .flat_map(|p| [Some(p.scale_index), p.zero_index])
            .flatten()
            .collect();
        indices.sort_unstable();
        indices.dedup();
        indices
    }

    /// The same scheme for a tensor whose parameter buffers are the one at index `first` and those
    /// behind it, in the order of [`Quantization::buffer_indices`]: the parameters hang on logical
    /// indices, so another layout changes nothing but their place in the buffer table.
    pub(crate) fn with_first_buffer(mut self, first: usize) -> Self {
        let indices = self.buffer_indices();
        let moved = |index: &mut u32| {
            let place = indices.iter().position(|old| old == index);
            *index = place.and_then(|place| (first + place).try_into().ok()).unwrap_or(*index);
        };
        match &mut self {
            Quantization::PerTensor(_) | Quantization::Unknown { .. } => {}
            Quantization::PerChannel(PerChannel { scale_index, zero_index, .. })
            | Quantization::PerBlock(PerBlock { scale_index, zero_index, .. }) => {
                [Some(scale_index), zero_index.as_mut()].into_iter().flatten().for_each(moved);
            }
            Quantization::Nf4(Nf4 { scale_index, .. })
            | Quantization::Mxfp(Mxfp { scale_index, .. }) => moved(scale_index),
        }
        self
    }

    /// The sizes of the parameter buffers in bytes, in the order of
    /// [`Quantization::buffer_indices`]; a buffer that holds scales and zero points counts both.
    /// `None` if a dimension is not known that they depend on.
    ///
    /// # Errors
    /// [`FormatError::Quantization`] if the axis does not exist, [`FormatError::SizeOverflow`].
    pub fn buffer_sizes(&self, shape: &Shape) -> Result<Option<Vec<u64>>, FormatError> {
        let (Some(parameters), Some(grid)) = (self.parameters(), self.grid()) else {
            return Ok(Some(Vec::new()));
        };
        grid.validate(shape)?;
        let Some(count) = grid.count(shape)? else { return Ok(None) };
        let sizes = self.buffer_indices().into_iter().map(|index| {
            let scale = match index == parameters.scale_index {
                true => parameters.scale_type.map_or(1, ScaleType::width),
                false => 0,
            };
            let zero = if Some(index) == parameters.zero_index { 4 } else { 0 };
            count
                .checked_mul(scale + zero)
                .ok_or(FormatError::SizeOverflow { what: "a parameter buffer" })
        });
        sizes.collect::<Result<Vec<_>, _>>().map(Some)
    }

    /// Checks the fields against the shape and the element type.
    ///
    /// # Errors
    /// [`FormatError::Quantization`] or [`FormatError::Number`].
    pub fn validate(&self, shape: &Shape, element_type: ElementType) -> Result<(), FormatError> {
        match self {
            Quantization::PerTensor(scheme) => scheme.validate(element_type),
            Quantization::PerChannel(scheme) => scheme.validate(shape, element_type),
            Quantization::PerBlock(scheme) => scheme.validate(shape, element_type),
            Quantization::Nf4(scheme) => scheme.validate(shape, element_type),
            Quantization::Mxfp(scheme) => scheme.validate(shape, element_type),
            Quantization::Unknown { .. } => Ok(()),
        }
    }

    /// The shape as dense layouts store it: whole blocks along the axis. The fields are valid.
    pub(crate) fn whole_blocks(&self, shape: &Shape) -> Result<Shape, FormatError> {
        self.grid().map_or_else(|| Ok(shape.clone()), |grid| grid.whole_blocks(shape))
    }

    /// Checks the parameter buffers against the buffer table: each of them exists, is none of the
    /// layout's, and has exactly its size; and every buffer is used. The fields are valid.
    pub(crate) fn validate_buffers(
        &self,
        shape: &Shape,
        layout: &LayoutDescriptor,
        buffers: &[BufferHandle],
    ) -> Result<(), FormatError> {
        if let Quantization::Unknown { .. } = self {
            return Ok(());
        }
        // A private layout has at least one buffer, nobody knows how many.
        let own = layout.buffer_count().map_or(1, usize::from);
        let count = buffers.len();
        if let Some(Parameters { scale_index, zero_index, .. }) = self.parameters() {
            let named = [("scale_index", Some(scale_index)), ("zero_index", zero_index)];
            for (field, index) in named.into_iter().filter_map(|(f, index)| Some((f, index?))) {
                let position = to_usize(index.into());
                if position >= count {
                    return Err(QuantizationError::NoBuffer { field, index, count }.into());
                }
                if position < own {
                    let role = layout.buffer_role(position);
                    return Err(QuantizationError::LayoutBuffer { field, index, role }.into());
                }
            }
        }
        let indices = self.buffer_indices();
        if layout.buffer_count().is_some() {
            let used =
                |buffer: &usize| indices.iter().any(|&index| u64::from(index) == to_u64(*buffer));
            if let Some(buffer) = (own..count).find(|buffer| !used(buffer)) {
                return Err(QuantizationError::UnusedBuffer { buffer }.into());
            }
        }
        let (Some(sizes), Some(grid)) = (self.buffer_sizes(shape)?, self.grid()) else {
            return Ok(());
        };
        for (index, expected) in indices.into_iter().zip(sizes) {
            let buffer = to_usize(index.into());
            let found = buffers[buffer].byte_size;
            if found != expected {
                let count = grid.count(shape)?.unwrap_or(0);
                return Err(QuantizationError::BufferSize { buffer, count, expected, found }.into());
            }
        }
        Ok(())
    }

    /// Reads a scheme: its header, its fields, and what pads them up to the end of the section.
    pub(crate) fn decode(cursor: &mut Cursor<'_>, mode: Mode) -> Result<Self, DecodeError> {
        let scheme = cursor.parse_u8("scheme", |scheme| match scheme {
            0x01..=0x05 => Ok(scheme),
            0x00 | 0xFF => Err(tag::unassigned(TagSpace::Quantization, scheme)),
            _ if mode == Mode::Permissive => Ok(scheme),
            _ => Err(tag::unassigned(TagSpace::Quantization, scheme)),
        })?;
        if !(0x01..=0x05).contains(&scheme) {
            // Even an unknown scheme has a header: the tag, a version and flags.
            let bytes = cursor.rest().to_vec();
            cursor.bytes("scheme_version", 1)?;
            cursor.bytes("scheme_flags", 2)?;
            return Ok(Quantization::Unknown { scheme, bytes });
        }
        let name =
            ["per_tensor", "per_channel", "per_block", "nf4", "mxfp"][usize::from(scheme) - 1];
        cursor.parse_u8("scheme_version", |found| match found {
            VERSION => Ok(()),
            _ => Err(QuantizationError::Version { scheme: name, found }.into()),
        })?;
        let start = cursor.clone();
        let flags = cursor.u16("scheme_flags")?;
        let known = if matches!(scheme, 0x02 | 0x03) { SYMMETRIC } else { 0 };
        if flags & !known != 0 {
            let error = QuantizationError::Flags { scheme: name, found: flags & !known };
            return Err(start.error("scheme_flags", error.into()));
        }
        let symmetric = flags & SYMMETRIC != 0;
        Ok(match scheme {
            0x01 => Quantization::PerTensor(PerTensor::decode(cursor)?),
            0x02 => Quantization::PerChannel(PerChannel::decode(cursor, symmetric)?),
            0x03 => Quantization::PerBlock(PerBlock::decode(cursor, symmetric)?),
            0x04 => Quantization::Nf4(Nf4::decode(cursor)?),
            _ => Quantization::Mxfp(Mxfp::decode(cursor)?),
        })
    }

    /// Appends the scheme without padding.
    ///
    /// # Errors
    /// [`FormatError::ReservedTag`] or [`FormatError::InvalidTag`] for a scheme that is neither known
    /// nor private.
    pub(crate) fn encode(&self, out: &mut Vec<u8>) -> Result<(), FormatError> {
        out.put_u8(self.scheme());
        if let Quantization::Unknown { scheme, bytes } = self {
            if !tag::is_private(*scheme) {
                return Err(tag::unassigned(TagSpace::Quantization, *scheme));
            }
            out.put(bytes);
            return Ok(());
        }
        let symmetric = self.parameters().is_some_and(|p| p.zero_index.is_none());
        let has_flag = matches!(self, Quantization::PerChannel(_) | Quantization::PerBlock(_));
        out.put_u8(VERSION);
        out.put_u16(if has_flag && symmetric { SYMMETRIC } else { 0 });
        match self {
            Quantization::PerTensor(scheme) => scheme.encode(out),
            Quantization::PerChannel(scheme) => scheme.encode(out),
            Quantization::PerBlock(scheme) => scheme.encode(out),
            Quantization::Nf4(scheme) => scheme.encode(out),
            Quantization::Mxfp(scheme) => scheme.encode(out),
            Quantization::Unknown { .. } => {}
        }
        Ok(())
    }
}
