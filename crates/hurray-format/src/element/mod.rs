//! Element types: what one value is and how many bytes values take
//! (docs/format.md, "Tag spaces").

mod float;
mod scalar;
mod value;
mod values;

use std::fmt;
use std::str::FromStr;

pub use scalar::{Complex, Scalar};
pub use value::{Float128, Value};
pub use values::Values;

use crate::error::FormatError;
use crate::tag::{self, PrivateTag, TagSpace};

/// Which implementations have to know an element type or a layout.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub enum Tier {
    /// Known to every implementation, tags up to `0x3F`.
    One,
    /// Optional, tags `0x40..=0x7F`.
    Two,
    /// Private to an implementation.
    Private,
}

/// What one value of a tensor is.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
#[non_exhaustive]
pub enum ElementType {
    /// IEEE 754 half precision, tag `0x01`.
    Float16,
    /// The upper half of a float32, tag `0x02`.
    BFloat16,
    /// IEEE 754 single precision, tag `0x03`.
    Float32,
    /// IEEE 754 double precision, tag `0x04`.
    Float64,
    /// Tag `0x10`.
    Int8,
    /// Tag `0x11`.
    Uint8,
    /// Tag `0x12`.
    Int16,
    /// Tag `0x13`.
    Uint16,
    /// Tag `0x14`.
    Int32,
    /// Tag `0x15`.
    Uint32,
    /// Tag `0x16`.
    Int64,
    /// Tag `0x17`.
    Uint64,
    /// One bit, eight to a byte, tag `0x20`.
    Bool,
    /// 8 bits, bias 7, no infinities, tag `0x40`.
    Float8E4M3,
    /// 8 bits, bias 15, with infinities, tag `0x41`.
    Float8E5M2,
    /// A power of two, `2^(bits - 127)`; `0x00` and `0xFF` are invalid, tag `0x42`.
    Float8E8M0,
    /// 4 bits, bias 1, two to a byte, tag `0x43`.
    Float4E2M1,
    /// 6 bits, bias 1, four to three bytes, tag `0x44`.
    Float6E2M3,
    /// 6 bits, bias 3, four to three bytes, tag `0x45`.
    Float6E3M2,
    /// IEEE 754 quadruple precision, tag `0x46`.
    Float128,
    /// Two to a byte, tag `0x48`.
    Int4,
    /// Two to a byte, tag `0x49`.
    Uint4,
    /// Four to a byte, tag `0x4A`.
    Int2,
    /// Four to a byte, tag `0x4B`.
    Uint2,
    /// Two float32, real part first, tag `0x50`.
    Complex64,
    /// Two float64, real part first, tag `0x51`.
    Complex128,
    /// A type private to an implementation, as its extension section describes it.
    Private(PrivateType),
}

/// Name, tag and width of the public element types; the order of the declaration.
const PUBLIC: [(ElementType, &str, u8, u32); 26] = {
    use ElementType::{
        BFloat16, Bool, Complex64, Complex128, Float4E2M1, Float6E2M3, Float6E3M2, Float8E4M3,
        Float8E5M2, Float8E8M0, Float16, Float32, Float64, Float128, Int2, Int4, Int8, Int16,
        Int32, Int64, Uint2, Uint4, Uint8, Uint16, Uint32, Uint64,
    };
    [
        (Float16, "float16", 0x01, 16),
        (BFloat16, "bfloat16", 0x02, 16),
        (Float32, "float32", 0x03, 32),
        (Float64, "float64", 0x04, 64),
        (Int8, "int8", 0x10, 8),
        (Uint8, "uint8", 0x11, 8),
        (Int16, "int16", 0x12, 16),
        (Uint16, "uint16", 0x13, 16),
        (Int32, "int32", 0x14, 32),
        (Uint32, "uint32", 0x15, 32),
        (Int64, "int64", 0x16, 64),
        (Uint64, "uint64", 0x17, 64),
        (Bool, "bool", 0x20, 1),
        (Float8E4M3, "float8_e4m3", 0x40, 8),
        (Float8E5M2, "float8_e5m2", 0x41, 8),
        (Float8E8M0, "float8_e8m0", 0x42, 8),
        (Float4E2M1, "float4_e2m1", 0x43, 4),
        (Float6E2M3, "float6_e2m3", 0x44, 6),
        (Float6E3M2, "float6_e3m2", 0x45, 6),
        (Float128, "float128", 0x46, 128),
        (Int4, "int4", 0x48, 4),
        (Uint4, "uint4", 0x49, 4),
        (Int2, "int2", 0x4A, 2),
        (Uint2, "uint2", 0x4B, 2),
        (Complex64, "complex64", 0x50, 64),
        (Complex128, "complex128", 0x51, 128),
    ]
};

impl ElementType {
    /// Every public element type, by tag.
    pub fn public() -> impl Iterator<Item = ElementType> {
        PUBLIC.iter().map(|row| row.0)
    }

    fn row(self) -> Option<&'static (ElementType, &'static str, u8, u32)> {
        PUBLIC.iter().find(|row| row.0 == self)
    }

    /// The tag of the type.
    #[must_use]
    pub fn tag(self) -> u8 {
        match (self, self.row()) {
            (ElementType::Private(private), _) => private.tag().get(),
            (_, row) => row.map_or(0, |row| row.2),
        }
    }

    /// The public element type of a tag.
    ///
    /// # Errors
    /// [`FormatError::InvalidTag`] for `0x00` and `0xFF`, [`FormatError::PrivateTag`] for a
    /// private one, whose width the extension section tells, [`FormatError::ReservedTag`] for any
    /// other that is not assigned.
    pub fn from_tag(tag: u8) -> Result<Self, FormatError> {
        match PUBLIC.iter().find(|row| row.2 == tag) {
            Some(row) => Ok(row.0),
            None => Err(tag::unassigned(TagSpace::ElementType, tag)),
        }
    }

    /// The bits of one value: 1, 2, 4, 6 or a multiple of 8.
    #[must_use]
    pub fn bits(self) -> u32 {
        match (self, self.row()) {
            (ElementType::Private(private), _) => private.bit_width(),
            (_, row) => row.map_or(0, |row| row.3),
        }
    }

    /// Which implementations have to know the type.
    #[must_use]
    pub fn tier(self) -> Tier {
        match self.tag() {
            0x00..=0x3F => Tier::One,
            0x40..=0x7F => Tier::Two,
            _ => Tier::Private,
        }
    }

    /// Whether several values share a byte.
    #[must_use]
    pub fn is_packed(self) -> bool {
        self.bits() < 8
    }

    /// How many values lie in how many bytes: `(8, 1)` for bool, `(4, 3)` for the 6-bit types,
    /// `(1, width)` for whole bytes.
    #[must_use]
    pub fn packing(self) -> (u32, u32) {
        match self.bits() {
            6 => (4, 3),
            bits @ (1 | 2 | 4) => (8 / bits, 1),
            bits => (1, bits / 8),
        }
    }

    /// What the start of a value is aligned to in bytes: its width, half of it for complex types,
    /// 1 for packed ones and for private ones, of which nothing is known.
    #[must_use]
    pub fn natural_alignment(self) -> usize {
        match self {
            ElementType::Complex64 => 4,
            ElementType::Complex128 => 8,
            ElementType::Private(_) => 1,
            _ => (self.bits() / 8).max(1) as usize,
        }
    }

    /// The bytes that `count` values take, or `None` if that overflows 64 bits
    /// (docs/format.md, "Element types": whole bytes, `ceil(count * bits / 8)`, or `ceil(count / 4) * 3` for the
    /// 6-bit types).
    #[must_use]
    pub fn byte_length(self, count: u64) -> Option<u64> {
        let (values, bytes) = self.packing();
        count.div_ceil(u64::from(values)).checked_mul(u64::from(bytes))
    }
}

impl fmt::Display for ElementType {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match (self, self.row()) {
            (ElementType::Private(private), _) => {
                write!(f, "{} ({} bits)", private.tag(), private.bit_width())
            }
            (_, row) => f.write_str(row.map_or("", |row| row.1)),
        }
    }
}

impl FromStr for ElementType {
    type Err = FormatError;

    /// The public element type of a name such as `float32`.
    fn from_str(name: &str) -> Result<Self, FormatError> {
        match PUBLIC.iter().find(|row| row.1 == name) {
            Some(row) => Ok(row.0),
            None => Err(FormatError::UnknownElementType { name: name.to_owned() }),
        }
    }
}

/// A private element type: its tag and what the extension section says of it
/// (docs/format.md, "Extension type").
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub struct PrivateType {
    tag: PrivateTag,
    bit_width: u32,
    kind: PrivateKind,
}

/// Whether the values of a private element type are integers or floating-point numbers.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub enum PrivateKind {
    /// An integer.
    Integer {
        /// Whether it is signed.
        is_signed: bool,
    },
    /// A floating-point number.
    Float {
        /// Whether it has a sign bit.
        has_sign: bool,
        /// The bits of the exponent.
        exponent_bits: u8,
        /// The bits of the mantissa.
        mantissa_bits: u8,
        /// The bias of the exponent.
        exponent_bias: u32,
        /// Whether there are NaN values.
        has_nan: bool,
        /// Whether there are infinities.
        has_inf: bool,
    },
}

impl PrivateType {
    /// Describes a private type.
    ///
    /// # Errors
    /// [`FormatError::PrivateWidth`] unless `bit_width` is 1, 2, 4 or a positive multiple of 8.
    pub fn new(tag: PrivateTag, bit_width: u32, kind: PrivateKind) -> Result<Self, FormatError> {
        if !matches!(bit_width, 1 | 2 | 4) && (bit_width == 0 || !bit_width.is_multiple_of(8)) {
            return Err(FormatError::PrivateWidth { bit_width });
        }
        Ok(Self { tag, bit_width, kind })
    }

    /// The tag.
    #[must_use]
    pub fn tag(self) -> PrivateTag {
        self.tag
    }

    /// The bits of one value: 1, 2, 4 or a multiple of 8.
    #[must_use]
    pub fn bit_width(self) -> u32 {
        self.bit_width
    }

    /// What the values are.
    #[must_use]
    pub fn kind(self) -> PrivateKind {
        self.kind
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn element_type_tags_go_both_ways_and_keep_the_range_rules() {
        for tag in 0..=0xFFu8 {
            let space = TagSpace::ElementType;
            match ElementType::from_tag(tag) {
                Ok(element_type) => {
                    assert_eq!(element_type.tag(), tag);
                    assert_eq!(element_type.to_string().parse(), Ok(element_type));
                }
                Err(error) => {
                    let expected = match tag {
                        0x00 | 0xFF => FormatError::InvalidTag { space, tag },
                        0xF0..=0xFE => FormatError::PrivateTag { space, tag },
                        _ => FormatError::ReservedTag { space, tag },
                    };
                    assert_eq!(error, expected);
                }
            }
        }
        assert_eq!(ElementType::public().count(), 26);
    }

    #[test]
    fn byte_length_is_whole_groups_and_checked() {
        let length = |name: &str, count| name.parse::<ElementType>().unwrap().byte_length(count);
        assert_eq!(length("bool", 9), Some(2));
        assert_eq!(length("int2", 5), Some(2));
        assert_eq!(length("uint4", 5), Some(3));
        assert_eq!(length("float6_e2m3", 5), Some(6));
        assert_eq!(length("float6_e2m3", u64::MAX), Some((1 << 62) * 3));
        assert_eq!(length("float32", 4), Some(16));
        assert_eq!(length("complex128", 4), Some(64));
        assert_eq!(length("float64", 1 << 61), None);
        assert_eq!(length("bool", u64::MAX), Some(1 << 61));
    }

    #[test]
    fn natural_alignment_is_the_width_but_for_complex_and_packed_types() {
        let alignment = |name: &str| name.parse::<ElementType>().unwrap().natural_alignment();
        assert_eq!(alignment("float128"), 16);
        assert_eq!(alignment("complex64"), 4);
        assert_eq!(alignment("complex128"), 8);
        assert_eq!(alignment("bfloat16"), 2);
        assert_eq!(alignment("bool"), 1);
        assert_eq!(alignment("float6_e3m2"), 1);
    }

    #[test]
    fn a_private_width_is_1_2_4_or_whole_bytes() {
        let tag = PrivateTag::new(0xF3).unwrap();
        let kind = PrivateKind::Integer { is_signed: false };
        for bit_width in [1, 2, 4, 8, 24, 4096] {
            assert_eq!(PrivateType::new(tag, bit_width, kind).unwrap().bit_width(), bit_width);
        }
        for bit_width in [0, 3, 6, 12] {
            assert_eq!(
                PrivateType::new(tag, bit_width, kind),
                Err(FormatError::PrivateWidth { bit_width })
            );
        }
    }
}
