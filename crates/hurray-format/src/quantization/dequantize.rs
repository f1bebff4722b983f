//! From stored values to the numbers they stand for.

use super::grid::Grid;
use super::nf4::NF4_LEVELS;
use super::storage::{ScaleType, entry, finite_non_negative, finite_non_zero, range};
use super::{Quantization, QuantizationError};
use crate::cast::{to_u64, to_usize};
use crate::element::{ElementType, Value};
use crate::error::FormatError;
use crate::shape::Shape;

/// A scheme together with its parameter buffers: turns stored values into numbers
/// (docs/format.md, "Quantization"). Generic over who holds the bytes of the buffers.
///
/// The difference to the zero point is exact, the product is that of f32. Parameters are checked
/// when they are used, so that a wrong one is an error and never a wrong number;
/// [`Dequantizer::check`] looks at all of them at once.
///
/// ```
/// use hurray_format::quantization::PerTensor;
/// use hurray_format::{Dequantizer, ElementType, Quantization, Shape, Value};
///
/// let scheme = Quantization::PerTensor(PerTensor { scale: 0.5, zero_point: -3 });
/// let shape = Shape::new([2, 3, 4])?;
/// let dequantizer =
///     Dequantizer::new(&scheme, &shape, ElementType::Int8, |_| None::<&[u8]>)?;
/// assert_eq!(dequantizer.dequantize(&Value::Int(127), &[0, 2, 3])?, 65.0);
/// # Ok::<(), hurray_format::FormatError>(())
/// ```
#[derive(Clone, Debug)]
pub struct Dequantizer<B> {
    rule: Rule<B>,
    /// How many sets of parameters there are.
    count: u64,
    shape: Shape,
    element_type: ElementType,
}

#[derive(Clone, Debug)]
enum Rule<B> {
    PerTensor { scale: f32, zero_point: i32 },
    Affine { grid: Grid, scales: Scales<B>, zero_points: Option<ZeroPoints<B>> },
    Levels { grid: Grid, scales: Scales<B> },
    Powers { grid: Grid, exponents: Buffer<B> },
}

/// A parameter buffer and its index in the buffer table.
#[derive(Clone, Debug)]
struct Buffer<B> {
    index: u32,
    bytes: B,
}

#[derive(Clone, Debug)]
struct Scales<B> {
    buffer: Buffer<B>,
    scale_type: ScaleType,
    /// Which scales there are; else what it would have to be.
    allowed: fn(f32) -> Result<(), &'static str>,
}

#[derive(Clone, Debug)]
struct ZeroPoints<B> {
    buffer: Buffer<B>,
    /// Where they start: behind the scales if those are in the same buffer.
    start: usize,
    /// The storage type whose range they keep, where they have to.
    within: Option<ElementType>,
}

impl<B: AsRef<[u8]>> Dequantizer<B> {
    /// Puts a scheme together with its buffers. `buffer` gives a buffer of the tensor by its index in
    /// the buffer table and is asked for the parameter buffers only. O(rank).
    ///
    /// # Errors
    /// [`FormatError::Quantization`] if the scheme does not go with the shape and the element type,
    /// is not known, or a parameter buffer is missing or has another size than its entries take.
    pub fn new(
        quantization: &Quantization,
        shape: &Shape,
        element_type: ElementType,
        mut buffer: impl FnMut(usize) -> Option<B>,
    ) -> Result<Self, FormatError> {
        if let Quantization::Unknown { scheme, .. } = *quantization {
            return Err(QuantizationError::UnknownScheme { scheme }.into());
        }
        quantization.validate(shape, element_type)?;
        let sizes = quantization.buffer_sizes(shape)?.ok_or(QuantizationError::DynamicShape)?;
        let sizes: Vec<_> = quantization.buffer_indices().into_iter().zip(sizes).collect();
        let grid = quantization.grid();
        let count = grid.map_or(Ok(None), |grid| grid.count(shape))?.unwrap_or(1);
        let mut fetch = |field: &'static str, index: u32| -> Result<Buffer<B>, FormatError> {
            let position = to_usize(index.into());
            let bytes = buffer(position).ok_or(QuantizationError::NoBuffer {
                field,
                index,
                count: position,
            })?;
            let found = to_u64(bytes.as_ref().len());
            match sizes.iter().find(|size| size.0 == index) {
                Some(&(_, expected)) if found != expected => {
                    let buffer = position;
                    Err(QuantizationError::BufferSize { buffer, count, expected, found }.into())
                }
                _ => Ok(Buffer { index, bytes }),
            }
        };
        let parameters = quantization.parameters();
        let rule = match (quantization, parameters, grid) {
            (Quantization::PerTensor(scheme), ..) => {
                Rule::PerTensor { scale: scheme.scale, zero_point: scheme.zero_point }
            }
            (Quantization::Mxfp(scheme), _, Some(grid)) => {
                Rule::Powers { grid, exponents: fetch("scale_index", scheme.scale_index)? }
            }
            (_, Some(parameters), Some(grid)) => {
                let scale_type = parameters.scale_type.unwrap_or(ScaleType::Float32);
                let buffer = fetch("scale_index", parameters.scale_index)?;
                if let Quantization::Nf4(_) = quantization {
                    let scales = Scales { buffer, scale_type, allowed: finite_non_negative };
                    Rule::Levels { grid, scales }
                } else {
                    let within = matches!(quantization, Quantization::PerChannel(_));
                    let zero_points = match parameters.zero_index {
                        None => None,
                        Some(index) => {
                            let buffer = fetch("zero_index", index)?;
                            let start = match index == parameters.scale_index {
                                true => to_usize(count * scale_type.width()),
                                false => 0,
                            };
                            let within = within.then_some(element_type);
                            Some(ZeroPoints { buffer, start, within })
                        }
                    };
                    let scales = Scales { buffer, scale_type, allowed: finite_non_zero };
                    Rule::Affine { grid, scales, zero_points }
                }
            }
            (scheme, ..) => {
                return Err(QuantizationError::UnknownScheme { scheme: scheme.scheme() }.into());
            }
        };
        Ok(Self { rule, count, shape: shape.clone(), element_type })
    }

    fn grid(&self) -> Option<Grid> {
        match &self.rule {
            Rule::PerTensor { .. } => None,
            Rule::Affine { grid, .. } | Rule::Levels { grid, .. } | Rule::Powers { grid, .. } => {
                Some(*grid)
            }
        }
    }

    /// Which parameters belong to the element at a logical index: the channel or the block, 0 where
    /// there is only one set. Neighbours along a fiber often share them. O(rank).
    ///
    /// # Errors
    /// [`QuantizationError::Index`] if the index does not lie in the shape.
    pub fn parameter(&self, index: &[u64]) -> Result<u64, FormatError> {
        let Some(grid) = self.grid() else { return Ok(0) };
        grid.part(&self.shape, index).ok_or_else(|| {
            let shape = self.shape.to_string();
            QuantizationError::Index { index: index.to_vec(), shape }.into()
        })
    }

    /// The number that `value`, stored at a logical index, stands for. O(rank).
    ///
    /// # Errors
    /// [`FormatError::Quantization`] if the index does not lie in the shape, the value is not of the
    /// storage type, or its parameters are not allowed.
    pub fn dequantize(&self, value: &Value, index: &[u64]) -> Result<f32, FormatError> {
        self.dequantize_with(value, self.parameter(index)?)
    }

    /// The number that `value` stands for, with the parameters that [`Dequantizer::parameter`]
    /// gives for its index. O(1).
    ///
    /// # Errors
    /// [`FormatError::Quantization`] if there are no such parameters, the value is not of the storage
    /// type, or the parameters are not allowed.
    pub fn dequantize_with(&self, value: &Value, parameter: u64) -> Result<f32, FormatError> {
        if parameter >= self.count {
            return Err(QuantizationError::Parameter { parameter, count: self.count }.into());
        }
        let position = to_usize(parameter);
        Ok(match &self.rule {
            Rule::PerTensor { scale, zero_point } => {
                *scale * self.difference(value, *zero_point)?
            }
            Rule::Affine { scales, zero_points, .. } => {
                let zero_point = match zero_points {
                    None => 0,
                    Some(zero_points) => zero_points.get(position)?,
                };
                scales.get(position)? * self.difference(value, zero_point)?
            }
            Rule::Levels { scales, .. } => {
                let level = match *value {
                    Value::Uint(q) => NF4_LEVELS.get(to_usize(q)).copied(),
                    _ => None,
                };
                scales.get(position)? * level.ok_or_else(|| self.not_stored(value))?
            }
            Rule::Powers { exponents, .. } => {
                let q = match *value {
                    Value::Float32(q) => q,
                    _ => self.difference(value, 0)?,
                };
                exponents.power(position)? * q
            }
        })
    }

    /// Checks the contents of all parameter buffers: every scale and zero point is one that the
    /// scheme allows. Linear in their size.
    ///
    /// # Errors
    /// The first one that is not, with its buffer, position and value:
    /// [`QuantizationError::BufferScale`], [`QuantizationError::BufferExponent`] or
    /// [`QuantizationError::BufferZeroPoint`].
    pub fn check(&self) -> Result<(), FormatError> {
        let count = to_usize(self.count);
        match &self.rule {
            Rule::PerTensor { .. } => {}
            Rule::Affine { scales, zero_points, .. } => {
                (0..count).try_for_each(|position| scales.get(position).map(drop))?;
                if let Some(zero_points) = zero_points {
                    (0..count).try_for_each(|position| zero_points.get(position).map(drop))?;
                }
            }
            Rule::Levels { scales, .. } => {
                (0..count).try_for_each(|position| scales.get(position).map(drop))?;
            }
            Rule::Powers { exponents, .. } => {
                (0..count).try_for_each(|position| exponents.power(position).map(drop))?;
            }
        }
        Ok(())
    }

    /// `q - zero_point`, exact before it is rounded to f32.
    fn difference(&self, value: &Value, zero_point: i32) -> Result<f32, FormatError> {
        let q = match *value {
            Value::Int(q) => Some(q),
            Value::Uint(q) => i64::try_from(q).ok(),
            _ => None,
        };
        // Both fit into 33 bits if the value is of the storage type.
        let difference = q
            .and_then(|q| q.checked_sub(zero_point.into()))
            .ok_or_else(|| self.not_stored(value))?;
        #[expect(clippy::cast_precision_loss, reason = "the product is taken in f32")]
        Ok(difference as f32)
    }

    fn not_stored(&self, value: &Value) -> FormatError {
        let element_type = self.element_type;
        QuantizationError::Value { value: value.to_string(), element_type }.into()
    }
}

impl<B: AsRef<[u8]>> Buffer<B> {
    /// The error that the buffer has no entry `position`, which happens to storage that has shrunk.
    fn missing(&self, position: usize) -> FormatError {
        let (parameter, count) = (to_u64(position), to_u64(self.bytes.as_ref().len()));
        QuantizationError::Parameter { parameter, count }.into()
    }

    /// The scale `2^(bits - 127)` at `position`.
    fn power(&self, position: usize) -> Result<f32, FormatError> {
        let &bits = self.bytes.as_ref().get(position).ok_or_else(|| self.missing(position))?;
        if matches!(bits, 0x00 | 0xFF) {
            let (buffer, position) = (self.index, to_u64(position));
            return Err(QuantizationError::BufferExponent { buffer, position, found: bits }.into());
        }
        // The bits are those of the exponent of a normal f32.
        Ok(f32::from_bits(u32::from(bits) << 23))
    }
}

impl<B: AsRef<[u8]>> Scales<B> {
    fn get(&self, position: usize) -> Result<f32, FormatError> {
        let found = self
            .scale_type
            .get(self.buffer.bytes.as_ref(), position)
            .ok_or_else(|| self.buffer.missing(position))?;
        (self.allowed)(found).map_err(|allowed| {
            let (buffer, position) = (self.buffer.index, to_u64(position));
            QuantizationError::BufferScale { buffer, position, found, allowed }
        })?;
        Ok(found)
    }
}

impl<B: AsRef<[u8]>> ZeroPoints<B> {
    fn get(&self, position: usize) -> Result<i32, FormatError> {
        let found = self
            .buffer
            .bytes
            .as_ref()
            .get(self.start..)
            .and_then(|bytes| entry(bytes, position))
            .map(i32::from_le_bytes)
            .ok_or_else(|| self.buffer.missing(position))?;
        match self.within {
            Some(element_type) if !range(element_type).contains(&found.into()) => {
                let (buffer, position) = (self.buffer.index, to_u64(position));
                Err(QuantizationError::BufferZeroPoint { buffer, position, found, element_type }
                    .into())
            }
            _ => Ok(found),
        }
    }
}
