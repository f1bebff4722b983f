//! Values as numbers: one view of plain and quantized values, for trees, lists and matrices alike.
//!
//! Values hang on positions and parameters on logical indices, so whoever knows both, from a lookup
//! or from a walk in any mode order, gets the number.

use hurray_format::{AlignedBytes, Dequantizer, ElementType, FormatError, Value, Values};
use thiserror::Error;

/// The values of a tensor as numbers, whether they are stored plainly or quantized
/// (docs/format.md, "Quantization"), over whoever holds the bytes.
///
/// Numbers are f64: it holds every element type exactly but 64-bit integers and float128, which are
/// rounded to the nearest, and it holds what is dequantized, which is f32, exactly.
///
/// ```
/// use hurray_csf::{Csf, Level, Numbers};
/// use hurray_format::quantization::PerTensor;
/// use hurray_format::{Dequantizer, ElementType, ModeOrder, Quantization, Shape, Values};
///
/// let tree = Csf::new(
///     Shape::new([2, 3, 4])?,
///     ModeOrder::identity(3)?,
///     vec![
///         Level { pos: vec![0, 2], crd: vec![0, 1] },
///         Level { pos: vec![0, 2, 3], crd: vec![0, 2, 1] },
///         Level { pos: vec![0, 1, 2, 4], crd: vec![1, 3, 0, 2] },
///     ],
/// )?;
/// let scheme = Quantization::PerTensor(PerTensor { scale: 0.5, zero_point: -3 });
/// let dequantizer = Dequantizer::new(&scheme, tree.shape(), ElementType::Int8, |_| None)?;
/// let values = Values::from_slice(&[-128i8, 127, 0, -3]);
/// let numbers = Numbers::new(values, Some(dequantizer))?;
///
/// // At a lookup:
/// assert_eq!(numbers.at(&[0, 2, 3], tree.lookup(&[0, 2, 3])?)?, 65.0);
/// assert_eq!(numbers.at(&[0, 0, 0], tree.lookup(&[0, 0, 0])?)?, 0.0);
///
/// // Along an iteration:
/// let mut sum = 0.0;
/// let mut leaves = tree.leaves();
/// while let Some((index, leaf)) = leaves.next() {
///     sum += numbers.get(index, leaf)?;
/// }
/// assert_eq!(sum, -62.5 + 65.0 + 1.5 + 0.0);
/// # Ok::<(), Box<dyn std::error::Error>>(())
/// ```
#[derive(Clone, Debug)]
pub struct Numbers<B = AlignedBytes> {
    values: Values<B>,
    dequantizer: Option<Dequantizer<B>>,
}

impl<B: AsRef<[u8]>> Numbers<B> {
    /// Views values as numbers, with a dequantizer if they are quantized. Constant time.
    ///
    /// # Errors
    /// [`NumberError::NotReal`] for a complex or a private element type.
    pub fn new(
        values: Values<B>,
        dequantizer: Option<Dequantizer<B>>,
    ) -> Result<Self, NumberError> {
        match values.element_type() {
            element_type @ (ElementType::Complex64
            | ElementType::Complex128
            | ElementType::Private(_)) => Err(NumberError::NotReal { element_type }),
            _ => Ok(Self { values, dequantizer }),
        }
    }

    /// The values as they are stored.
    #[must_use]
    pub fn values(&self) -> &Values<B> {
        &self.values
    }

    /// The number of the element at a logical index whose value is stored at `position`. The index
    /// says which parameters belong to it, and is not looked at unless there are several. O(1), and
    /// O(rank) in blocks.
    ///
    /// # Errors
    /// [`NumberError::Position`] if no value is stored there, [`NumberError::Value`] if it is not
    /// a number, [`NumberError::Quantization`] if its parameters are not allowed or the index does
    /// not lie in the shape.
    pub fn get(&self, index: &[u64], position: usize) -> Result<f64, NumberError> {
        let value = self.value(index, position)?;
        value.to_f64().ok_or_else(|| self.no_number(value, position))
    }

    /// The same number without rounding: the value as it is stored, or the f32 that a quantized
    /// one stands for.
    ///
    /// # Errors
    /// As [`Numbers::get`], but a bit pattern that stands for no number is a value, too.
    pub fn value(&self, index: &[u64], position: usize) -> Result<Value, NumberError> {
        let len = self.values.len();
        let value = self.values.get(position).ok_or(NumberError::Position { position, len })?;
        match &self.dequantizer {
            Some(dequantizer) => Ok(Value::Float32(dequantizer.dequantize(&value, index)?)),
            None => Ok(value),
        }
    }

    /// The number of the element at a logical index as a lookup found it: 0 if it is not stored,
    /// also where a stored 0 would stand for another number.
    ///
    /// # Errors
    /// As [`Numbers::get`].
    pub fn at(&self, index: &[u64], position: Option<usize>) -> Result<f64, NumberError> {
        position.map_or(Ok(0.0), |position| self.get(index, position))
    }

    #[cold]
    fn no_number(&self, value: Value, position: usize) -> NumberError {
        let element_type = self.values.element_type();
        NumberError::Value { element_type, position, found: value.to_string() }
    }
}

/// Why there is no number.
#[derive(Clone, Debug, PartialEq, Error)]
#[non_exhaustive]
pub enum NumberError {
    /// An element type whose values are not real numbers.
    #[error("values of type {element_type} are not real numbers; read them as they are stored")]
    NotReal {
        /// The element type.
        element_type: ElementType,
    },
    /// A position that has no value.
    #[error("there is no value at position {position}, only {len} values")]
    Position {
        /// The position asked for.
        position: usize,
        /// The number of values.
        len: usize,
    },
    /// A bit pattern that stands for no number.
    #[error("the value at position {position} is {found}, which is no {element_type}")]
    Value {
        /// The element type.
        element_type: ElementType,
        /// The position.
        position: usize,
        /// The bits found, in hexadecimal.
        found: String,
    },
    /// A value that cannot be dequantized.
    #[error(transparent)]
    Quantization(#[from] FormatError),
}
