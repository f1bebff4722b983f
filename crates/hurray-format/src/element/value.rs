//! One value of any element type, for whoever does not know the type beforehand.

use std::fmt;

use zerocopy::{FromBytes, Immutable, IntoBytes, KnownLayout};

use super::float::binary128_to_f64;
use super::scalar::Complex;

/// An IEEE 754 binary128, kept as its bits.
#[derive(
    Clone, Copy, Debug, Default, PartialEq, Eq, FromBytes, IntoBytes, Immutable, KnownLayout,
)]
#[repr(transparent)]
pub struct Float128(u128);

impl Float128 {
    /// The number with these bits.
    #[must_use]
    pub fn from_bits(bits: u128) -> Self {
        Self(bits)
    }

    /// The bits.
    #[must_use]
    pub fn to_bits(self) -> u128 {
        self.0
    }

    /// The nearest f64, ties to even; infinite where it is too large.
    #[must_use]
    pub fn to_f64(self) -> f64 {
        binary128_to_f64(self.0)
    }
}

/// One value of any element type.
///
/// A type that Rust does not have is given as the smallest one here that holds each of its values
/// exactly: float16, bfloat16 and everything below as [`Value::Float32`], all integers as
/// [`Value::Int`] or [`Value::Uint`].
#[derive(Clone, Debug, PartialEq)]
pub enum Value {
    /// A bool.
    Bool(bool),
    /// A signed integer.
    Int(i64),
    /// An unsigned integer.
    Uint(u64),
    /// A floating-point number that f32 holds exactly.
    Float32(f32),
    /// A float64.
    Float64(f64),
    /// A float128.
    Float128(Float128),
    /// A complex64.
    Complex64(Complex<f32>),
    /// A complex128.
    Complex128(Complex<f64>),
    /// A bit pattern that the element type gives no meaning (`0x00` and `0xFF` of float8_e8m0).
    Invalid(u8),
    /// The bytes of a private type, lowest first; a packed one is a byte of its own.
    Private(Vec<u8>),
}

impl Value {
    /// The value as f64, rounded to the nearest; `None` where it is not a real number.
    #[must_use]
    #[expect(clippy::cast_precision_loss, reason = "documented: rounded to the nearest")]
    pub fn to_f64(&self) -> Option<f64> {
        match *self {
            Value::Bool(value) => Some(f64::from(u8::from(value))),
            Value::Int(value) => Some(value as f64),
            Value::Uint(value) => Some(value as f64),
            Value::Float32(value) => Some(f64::from(value)),
            Value::Float64(value) => Some(value),
            Value::Float128(value) => Some(value.to_f64()),
            Value::Complex64(_) | Value::Complex128(_) | Value::Invalid(_) | Value::Private(_) => {
                None
            }
        }
    }
}

impl fmt::Display for Value {
    /// A number in its shortest form that reads back the same, `nan`, `inf` and `-inf`; a complex
    /// number as `re+imi`; what is not a number as its bytes in hexadecimal, highest first.
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Value::Bool(value) => write!(f, "{}", u8::from(*value)),
            Value::Int(value) => write!(f, "{value}"),
            Value::Uint(value) => write!(f, "{value}"),
            Value::Float32(value) => real(f, value, value.is_nan()),
            Value::Float64(value) => real(f, value, value.is_nan()),
            Value::Float128(value) => {
                let nearest = value.to_f64();
                real(f, &nearest, nearest.is_nan())
            }
            Value::Complex64(value) => complex(f, value.re.into(), value.im.into(), |f, part| {
                #[expect(clippy::cast_possible_truncation, reason = "it came from a f32")]
                real(f, &(part as f32), part.is_nan())
            }),
            Value::Complex128(value) => {
                complex(f, value.re, value.im, |f, part| real(f, &part, part.is_nan()))
            }
            Value::Invalid(bits) => write!(f, "{bits:#04x}"),
            Value::Private(bytes) => {
                f.write_str("0x")?;
                bytes.iter().rev().try_for_each(|byte| write!(f, "{byte:02x}"))
            }
        }
    }
}

/// `{:?}` is the shortest form that reads back, in scientific notation where that is shorter;
/// but it spells NaN its own way, and gives whole numbers a `.0` that nobody needs.
fn real(f: &mut fmt::Formatter<'_>, value: &dyn fmt::Debug, is_nan: bool) -> fmt::Result {
    if is_nan {
        return f.write_str("nan");
    }
    let text = format!("{value:?}");
    f.write_str(text.strip_suffix(".0").unwrap_or(&text))
}

fn complex(
    f: &mut fmt::Formatter<'_>,
    re: f64,
    im: f64,
    part: impl Fn(&mut fmt::Formatter<'_>, f64) -> fmt::Result,
) -> fmt::Result {
    part(f, re)?;
    if im.is_nan() || im.is_sign_positive() {
        f.write_str("+")?;
    }
    part(f, im)?;
    f.write_str("i")
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn display_is_the_shortest_form_that_reads_back() {
        let cases = [
            (Value::Float32(0.1), "0.1"),
            (Value::Float32(4.0), "4"),
            (Value::Float64(-0.0), "-0"),
            (Value::Float64(1e300), "1e300"),
            (Value::Float64(f64::NAN), "nan"),
            (Value::Float32(f32::NEG_INFINITY), "-inf"),
            (Value::Float64(f64::INFINITY), "inf"),
            (Value::Int(-128), "-128"),
            (Value::Uint(u64::MAX), "18446744073709551615"),
            (Value::Bool(true), "1"),
            (Value::Complex64(Complex { re: 0.1, im: -3.5 }), "0.1-3.5i"),
            (Value::Complex128(Complex { re: -0.0, im: f64::NAN }), "-0+nani"),
            (Value::Invalid(0), "0x00"),
            (Value::Private(vec![1, 2, 0xF3]), "0xf30201"),
        ];
        for (value, text) in cases {
            assert_eq!(value.to_string(), text);
        }
    }
}
