//! A buffer of values of any element type.

use zerocopy::{FromBytes, IntoBytes};

use super::float::{E2M1, E2M3, E3M2, e4m3, e5m2, e8m0};
use super::{Complex, ElementType, Float128, Scalar, Value};
use crate::bytes::AlignedBytes;
use crate::cast::{to_u64, to_usize};
use crate::error::FormatError;

/// A buffer of values of one element type: the `values` buffer of a sparse tensor, or the data of
/// a dense one. Generic over who holds the bytes: a borrowed `&[u8]`, [`AlignedBytes`], or a
/// shared handle into a file.
///
/// ```
/// use hurray_format::{ElementType, Value, Values};
///
/// // Five 4-bit integers in three bytes, the lowest bits first.
/// let values = Values::new(ElementType::Int4, 5, [0xC5u8, 0xF3, 0x09])?;
/// assert_eq!(values.get(1), Some(Value::Int(-4)));
/// assert_eq!(values.get(5), None);
///
/// let values = Values::from_slice(&[1.0f32, 2.0]);
/// assert_eq!(values.as_slice::<f32>()?, [1.0, 2.0]);
/// # Ok::<(), hurray_format::FormatError>(())
/// ```
#[derive(Clone, Copy, Debug)]
pub struct Values<B = AlignedBytes> {
    element_type: ElementType,
    len: usize,
    bytes: B,
}

impl<'a> Values<&'a [u8]> {
    /// Views a slice; no copy.
    #[must_use]
    pub fn from_slice<T: Scalar>(values: &'a [T]) -> Self {
        Self { element_type: T::ELEMENT_TYPE, len: values.len(), bytes: values.as_bytes() }
    }
}

impl Values<AlignedBytes> {
    /// Packs values that lie one to a byte, in its lowest bits, into a buffer of `element_type`;
    /// the higher bits of each byte are ignored and unused bits of the buffer are 0.
    ///
    /// # Errors
    /// [`FormatError::NotPacked`] if the type is not narrower than a byte.
    pub fn pack(element_type: ElementType, unpacked: &[u8]) -> Result<Self, FormatError> {
        if !element_type.is_packed() {
            return Err(FormatError::NotPacked { element_type });
        }
        let bits = element_type.bits() as usize;
        let (group, group_bytes) = element_type.packing();
        let mut bytes =
            AlignedBytes::zeroed(unpacked.len().div_ceil(group as usize) * group_bytes as usize);
        let mask = (1u32 << bits) - 1;
        for (values, packed) in
            unpacked.chunks(group as usize).zip(bytes.chunks_exact_mut(group_bytes as usize))
        {
            let word = (values.iter().enumerate())
                .fold(0u32, |word, (i, &value)| word | (u32::from(value) & mask) << (i * bits));
            packed.copy_from_slice(&word.to_le_bytes()[..packed.len()]);
        }
        Ok(Self { element_type, len: unpacked.len(), bytes })
    }
}

impl<B: AsRef<[u8]>> Values<B> {
    /// Takes a buffer that holds exactly `len` values.
    ///
    /// # Errors
    /// [`FormatError::ByteLength`] if it has another length than they need,
    /// [`FormatError::SizeOverflow`] if that length overflows.
    pub fn new(element_type: ElementType, len: usize, bytes: B) -> Result<Self, FormatError> {
        let count = to_u64(len);
        let expected = element_type
            .byte_length(count)
            .ok_or(FormatError::SizeOverflow { what: "the values" })?;
        let found = to_u64(bytes.as_ref().len());
        if found != expected {
            return Err(FormatError::ByteLength { element_type, count, expected, found });
        }
        Ok(Self { element_type, len, bytes })
    }

    /// The element type.
    #[must_use]
    pub fn element_type(&self) -> ElementType {
        self.element_type
    }

    /// The number of values.
    #[must_use]
    pub fn len(&self) -> usize {
        self.len
    }

    /// Whether there are none.
    #[must_use]
    pub fn is_empty(&self) -> bool {
        self.len == 0
    }

    /// The bytes as they are stored.
    #[must_use]
    pub fn bytes(&self) -> &[u8] {
        self.bytes.as_ref()
    }

    /// Whoever holds the bytes.
    #[must_use]
    pub fn into_inner(self) -> B {
        self.bytes
    }

    /// The same values, borrowed; none if the storage no longer holds as many. Constant time.
    #[must_use]
    pub fn as_view(&self) -> Values<&[u8]> {
        // Storage that changes may have another length now than the constructor saw.
        let length = self.element_type.byte_length(to_u64(self.len)).map_or(0, to_usize);
        let (len, bytes) = match self.bytes.as_ref().get(..length) {
            Some(bytes) => (self.len, bytes),
            None => (0, &[][..]),
        };
        Values { element_type: self.element_type, len, bytes }
    }

    /// The values as a slice of the Rust type of their element type; no copy, constant time.
    ///
    /// # Errors
    /// [`FormatError::ElementTypeMismatch`] if `T` is the type of another element type,
    /// [`FormatError::Misaligned`] if the buffer does not start at a multiple of `T`'s alignment.
    pub fn as_slice<T: Scalar>(&self) -> Result<&[T], FormatError> {
        if T::ELEMENT_TYPE != self.element_type {
            return Err(FormatError::ElementTypeMismatch {
                asked: T::ELEMENT_TYPE,
                found: self.element_type,
            });
        }
        <[T]>::ref_from_bytes(self.bytes.as_ref())
            .map_err(|_| FormatError::Misaligned { alignment: align_of::<T>() })
    }

    /// The value at `position`, `None` behind the end. Constant time; any element type, aligned or
    /// not.
    #[must_use]
    pub fn get(&self, position: usize) -> Option<Value> {
        if position >= self.len {
            return None;
        }
        if self.element_type.is_packed() {
            return self.packed_bits(position).map(|bits| self.packed_value(bits));
        }
        let width = self.element_type.bits() as usize / 8;
        let bytes = self.bytes.as_ref().get(position * width..)?.get(..width)?;
        Some(match self.element_type {
            ElementType::Float16 => Value::Float32(read::<half::f16>(bytes)?.to_f32()),
            ElementType::BFloat16 => Value::Float32(read::<half::bf16>(bytes)?.to_f32()),
            ElementType::Float32 => Value::Float32(read(bytes)?),
            ElementType::Float64 => Value::Float64(read(bytes)?),
            ElementType::Int8 => Value::Int(read::<i8>(bytes)?.into()),
            ElementType::Uint8 => Value::Uint(read::<u8>(bytes)?.into()),
            ElementType::Int16 => Value::Int(read::<i16>(bytes)?.into()),
            ElementType::Uint16 => Value::Uint(read::<u16>(bytes)?.into()),
            ElementType::Int32 => Value::Int(read::<i32>(bytes)?.into()),
            ElementType::Uint32 => Value::Uint(read::<u32>(bytes)?.into()),
            ElementType::Int64 => Value::Int(read(bytes)?),
            ElementType::Uint64 => Value::Uint(read(bytes)?),
            ElementType::Float8E4M3 => Value::Float32(e4m3(read(bytes)?)),
            ElementType::Float8E5M2 => Value::Float32(e5m2(read(bytes)?)),
            ElementType::Float8E8M0 => {
                let bits = read(bytes)?;
                e8m0(bits).map_or(Value::Invalid(bits), Value::Float32)
            }
            ElementType::Float128 => Value::Float128(read::<Float128>(bytes)?),
            ElementType::Complex64 => Value::Complex64(read::<Complex<f32>>(bytes)?),
            ElementType::Complex128 => Value::Complex128(read::<Complex<f64>>(bytes)?),
            _ => Value::Private(bytes.to_vec()),
        })
    }

    /// Every value in order; see [`Values::get`].
    pub fn iter(&self) -> impl ExactSizeIterator<Item = Value> + '_ {
        // A position below `len` lies inside the bytes, whose length the constructor has checked;
        // storage that has shrunk since gives invalid values, not a panic.
        (0..self.len).map(|position| self.get(position).unwrap_or(Value::Invalid(0)))
    }

    /// The bits of the packed value at `position`, in the lowest bits of a byte; `None` behind the
    /// end or if the type is not narrower than a byte.
    #[must_use]
    pub fn packed_bits(&self, position: usize) -> Option<u8> {
        if position >= self.len || !self.element_type.is_packed() {
            return None;
        }
        let bits = to_u64(position).checked_mul(self.element_type.bits().into())?;
        let bytes = self.bytes.as_ref();
        let byte = to_usize(bits / 8);
        // A 6-bit value may run into the next byte.
        let pair = [*bytes.get(byte)?, bytes.get(byte + 1).copied().unwrap_or(0)];
        let mask = (1u16 << self.element_type.bits()) - 1;
        Some(((u16::from_le_bytes(pair) >> (bits % 8)) & mask).to_le_bytes()[0])
    }

    fn packed_value(&self, bits: u8) -> Value {
        let signed = |width: u32| {
            let unused = 8 - width;
            Value::Int(i64::from((bits << unused).cast_signed() >> unused))
        };
        match self.element_type {
            ElementType::Bool => Value::Bool(bits == 1),
            ElementType::Int4 => signed(4),
            ElementType::Int2 => signed(2),
            ElementType::Uint4 | ElementType::Uint2 => Value::Uint(bits.into()),
            ElementType::Float4E2M1 => Value::Float32(E2M1.finite(bits)),
            ElementType::Float6E2M3 => Value::Float32(E2M3.finite(bits)),
            ElementType::Float6E3M2 => Value::Float32(E3M2.finite(bits)),
            _ => Value::Private(vec![bits]),
        }
    }
}

fn read<T: FromBytes>(bytes: &[u8]) -> Option<T> {
    T::read_from_bytes(bytes).ok()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn packed_values_lie_lowest_bits_first() {
        let values = Values::new(ElementType::Bool, 9, [0b0000_1101u8, 1]).unwrap();
        let bits: Vec<Value> = values.iter().collect();
        let expected = [1, 0, 1, 1, 0, 0, 0, 0, 1].map(|bit| Value::Bool(bit == 1));
        assert_eq!(bits, expected);

        let values = Values::new(ElementType::Int2, 5, [0b11_10_01_00u8, 0b01]).unwrap();
        let ints: Vec<Value> = values.iter().collect();
        assert_eq!(ints, [0, 1, -2, -1, 1].map(Value::Int));
    }

    #[test]
    fn six_bit_values_run_across_byte_boundaries() {
        let unpacked = [1u8, 2, 4, 8, 63, 0xFF];
        let values = Values::pack(ElementType::Float6E2M3, &unpacked).unwrap();
        // 1 | 2 << 6 | 4 << 12 | 8 << 18, then 63 | 63 << 6
        assert_eq!(values.bytes(), [0x81, 0x40, 0x20, 0xFF, 0x0F, 0x00]);
        let bits: Vec<u8> = (0..6).map(|i| values.packed_bits(i).unwrap()).collect();
        assert_eq!(bits, [1, 2, 4, 8, 63, 63]);
        assert_eq!(values.get(0), Some(Value::Float32(0.125)));
    }

    #[test]
    fn unused_high_bits_are_ignored() {
        let values = Values::new(ElementType::Uint4, 1, [0xF7u8]).unwrap();
        assert_eq!(values.get(0), Some(Value::Uint(7)));
        assert_eq!(values.get(1), None);
    }

    #[test]
    fn a_buffer_has_exactly_the_length_of_its_values() {
        assert_eq!(
            Values::new(ElementType::Float32, 2, [0u8; 9]).unwrap_err(),
            FormatError::ByteLength {
                element_type: ElementType::Float32,
                count: 2,
                expected: 8,
                found: 9
            }
        );
        assert_eq!(
            Values::new(ElementType::Float32, usize::MAX, [0u8; 9]).unwrap_err(),
            FormatError::SizeOverflow { what: "the values" }
        );
    }

    #[test]
    fn a_slice_needs_the_type_and_the_alignment() {
        let bytes = AlignedBytes::from(&[0u8; 9][..]);
        let values = Values::new(ElementType::Uint32, 2, &bytes[..8]).unwrap();
        assert_eq!(values.as_slice::<u32>(), Ok(&[0, 0][..]));
        assert_eq!(
            values.as_slice::<f32>(),
            Err(FormatError::ElementTypeMismatch {
                asked: ElementType::Float32,
                found: ElementType::Uint32
            })
        );
        let shifted = Values::new(ElementType::Uint32, 2, &bytes[1..]).unwrap();
        assert_eq!(shifted.as_slice::<u32>(), Err(FormatError::Misaligned { alignment: 4 }));
        assert_eq!(shifted.get(1), Some(Value::Uint(0)));
    }
}
