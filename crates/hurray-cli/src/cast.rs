//! Values of one element type as another, with the checks that reading text has: reals round to
//! the nearest, integers must come out exactly, nothing finite becomes infinite.

use half::{bf16, f16};
use hurray_format::{AlignedBytes, ElementType, Scalar, Value, Values};
use hurray_io::Buffer;
use hurray_io::tns::Misfit;
use rayon::prelude::*;
use thiserror::Error;

use crate::argument::TYPES;

/// Why values cannot become another type.
#[derive(Debug, Error)]
pub(crate) enum CastError {
    /// A value that the type cannot hold.
    #[error("value {value} {reason} {to}{}", advice(*.fits))]
    Misfit { value: Value, reason: Misfit, to: ElementType, fits: Option<ElementType> },
    /// Values that are not real numbers.
    #[error("values of type {from} are no real numbers and cannot become {to}")]
    NoNumber { from: ElementType, to: ElementType },
    /// No room for the result.
    #[error(transparent)]
    Format(#[from] hurray_format::FormatError),
}

fn advice(fits: Option<ElementType>) -> String {
    fits.map_or_else(String::new, |fits| format!("; {fits} can hold it"))
}

/// The values as type `to`: one of [`TYPES`]. Linear, on the threads of the current pool.
pub(crate) fn cast<B: AsRef<[u8]> + Sync>(
    values: &Values<B>,
    to: ElementType,
) -> Result<Values<Buffer>, CastError> {
    match to {
        ElementType::Float16 => cast_to::<f16, B>(values),
        ElementType::BFloat16 => cast_to::<bf16, B>(values),
        ElementType::Float32 => cast_to::<f32, B>(values),
        ElementType::Float64 => cast_to::<f64, B>(values),
        ElementType::Int8 => cast_to::<i8, B>(values),
        ElementType::Uint8 => cast_to::<u8, B>(values),
        ElementType::Int16 => cast_to::<i16, B>(values),
        ElementType::Uint16 => cast_to::<u16, B>(values),
        ElementType::Int32 => cast_to::<i32, B>(values),
        ElementType::Uint32 => cast_to::<u32, B>(values),
        ElementType::Int64 => cast_to::<i64, B>(values),
        ElementType::Uint64 => cast_to::<u64, B>(values),
        _ => Err(CastError::NoNumber { from: values.element_type(), to }),
    }
}

fn cast_to<T: Target, B: AsRef<[u8]> + Sync>(
    values: &Values<B>,
) -> Result<Values<Buffer>, CastError> {
    let convert = |position| values.get(position).map_or(Err(None), |value| T::of(&value));
    let converted: Result<Vec<T>, _> = (0..values.len()).into_par_iter().map(convert).collect();
    match converted {
        Ok(converted) => {
            let bytes = AlignedBytes::from(Values::from_slice(&converted).bytes());
            Ok(Values::new(T::ELEMENT_TYPE, converted.len(), bytes.into())?)
        }
        // Threads race for the error: take the first one of the storage order.
        Err(_) => Err((0..values.len())
            .find_map(|position| convert(position).err().map(|why| (position, why)))
            .and_then(|(position, why)| Some((values.get(position)?, why?)))
            .map_or_else(
                || CastError::NoNumber { from: values.element_type(), to: T::ELEMENT_TYPE },
                |(value, reason)| {
                    let fits = fits(&value);
                    CastError::Misfit { value, reason, to: T::ELEMENT_TYPE, fits }
                },
            )),
    }
}

/// The smallest type that holds a value, integers first.
fn fits(value: &Value) -> Option<ElementType> {
    let holds = |to: &ElementType| match *to {
        ElementType::Int8 => i8::of(value).is_ok(),
        ElementType::Uint8 => u8::of(value).is_ok(),
        ElementType::Int16 => i16::of(value).is_ok(),
        ElementType::Uint16 => u16::of(value).is_ok(),
        ElementType::Int32 => i32::of(value).is_ok(),
        ElementType::Uint32 => u32::of(value).is_ok(),
        ElementType::Int64 => i64::of(value).is_ok(),
        ElementType::Uint64 => u64::of(value).is_ok(),
        ElementType::Float32 => f32::of(value).is_ok(),
        ElementType::Float64 => f64::of(value).is_ok(),
        _ => false,
    };
    let mut types: Vec<ElementType> = TYPES.iter().filter_map(|name| name.parse().ok()).collect();
    types.sort_by_key(|element_type| matches!(element_type.tag(), 0..=0x0F));
    types.into_iter().find(holds)
}

/// A type that numbers can become. The error is `None` if there is no number.
trait Target: Scalar {
    fn from_integer(integer: i128) -> Result<Self, Misfit>;
    fn from_real(real: f64) -> Result<Self, Misfit>;

    fn of(value: &Value) -> Result<Self, Option<Misfit>> {
        match value {
            Value::Bool(value) => Self::from_integer(i128::from(*value)),
            Value::Int(value) => Self::from_integer(i128::from(*value)),
            Value::Uint(value) => Self::from_integer(i128::from(*value)),
            Value::Float32(value) => Self::from_real(f64::from(*value)),
            Value::Float64(value) => Self::from_real(*value),
            Value::Float128(value) => {
                let is_finite = value.to_bits() >> 112 & 0x7FFF != 0x7FFF;
                match value.to_f64() {
                    real if is_finite && real.is_infinite() => Err(Misfit::Overflow),
                    real => Self::from_real(real),
                }
            }
            _ => return Err(None),
        }
        .map_err(Some)
    }
}

macro_rules! integers {
    ($($type:ty),*) => {$(
        impl Target for $type {
            fn from_integer(integer: i128) -> Result<Self, Misfit> {
                Self::try_from(integer).map_err(|_| Misfit::OutOfRange)
            }

            fn from_real(real: f64) -> Result<Self, Misfit> {
                if !real.is_finite() {
                    return Err(Misfit::NotFinite);
                }
                if real.fract() != 0.0 {
                    return Err(Misfit::Fraction);
                }
                #[expect(clippy::cast_possible_truncation, reason = "saturates out of range")]
                let integer = real as i128;
                Self::from_integer(integer)
            }
        }
    )*};
}

integers!(i8, u8, i16, u16, i32, u32, i64, u64);

macro_rules! floats {
    ($($type:ty: $from_real:expr, $to_real:expr);* $(;)?) => {$(
        impl Target for $type {
            fn from_integer(integer: i128) -> Result<Self, Misfit> {
                // Integers come from 64 bits at most; one that f64 only has a neighbour of, no
                // narrower type has.
                #[expect(clippy::cast_precision_loss, reason = "looked at right below")]
                let real = integer as f64;
                let float = Self::from_real(real)?;
                #[expect(clippy::cast_possible_truncation, reason = "a float of 64 bits at most")]
                let back = $to_real(float) as i128;
                if back == integer { Ok(float) } else { Err(Misfit::Inexact) }
            }

            fn from_real(real: f64) -> Result<Self, Misfit> {
                let float: Self = $from_real(real);
                if $to_real(float).is_infinite() && real.is_finite() {
                    return Err(Misfit::Overflow);
                }
                Ok(float)
            }
        }
    )*};
}

#[expect(clippy::cast_possible_truncation, reason = "rounds to the nearest, as documented")]
fn to_f32(real: f64) -> f32 {
    real as f32
}

floats! {
    f16: |real| f16::from_f32(to_odd_f32(real)), f64::from;
    bf16: |real| bf16::from_f32(to_odd_f32(real)), f64::from;
    f32: to_f32, f64::from;
    f64: |real| real, |float| float;
}

/// Rounds to a neighbour with an odd last bit where the number is not exact. Rounding that to
/// fewer bits gives the nearest, which rounding to the nearest twice would not.
fn to_odd_f32(real: f64) -> f32 {
    let nearest = to_f32(real);
    let rounded = f64::from(nearest);
    if real.is_nan() || rounded == real {
        return nearest;
    }
    let toward_zero = nearest.to_bits() - u32::from(rounded.abs() > real.abs());
    f32::from_bits(toward_zero | 1)
}

#[cfg(test)]
mod tests {
    use super::*;

    fn cast_one<T: Scalar>(value: T, to: &str) -> Result<Value, String> {
        let cast = cast(&Values::from_slice(&[value]), to.parse().unwrap());
        cast.map(|values| values.get(0).unwrap()).map_err(|error| error.to_string())
    }

    #[test]
    fn reals_round_to_the_nearest_once() {
        assert_eq!(cast_one(0.1f64, "float32"), Ok(Value::Float32(0.1)));
        // Just above the middle between two float16: rounding to float32 first would land on it.
        let above_middle = 1.0 + 2f64.powi(-11) + 2f64.powi(-40);
        assert_eq!(cast_one(above_middle, "float16"), Ok(Value::Float32(1.0 + 2f32.powi(-10))));
        assert_eq!(cast_one(1.0 + 2f64.powi(-11), "float16"), Ok(Value::Float32(1.0)));
        assert_eq!(cast_one(-above_middle, "float16"), Ok(Value::Float32(-1.0 - 2f32.powi(-10))));
    }

    #[test]
    fn nothing_finite_becomes_infinite() {
        let error = "value 1e39 overflows to infinity as float32; float64 can hold it";
        assert_eq!(cast_one(1e39f64, "float32"), Err(error.to_owned()));
        assert!(cast_one(65520f64, "float16").is_err());
        assert_eq!(cast_one(65519f64, "float16"), Ok(Value::Float32(65504.0)));
        assert_eq!(cast_one(f64::NEG_INFINITY, "float16"), Ok(Value::Float32(f32::NEG_INFINITY)));
    }

    #[test]
    fn integers_come_out_exactly() {
        assert_eq!(cast_one(3.0f32, "uint8"), Ok(Value::Uint(3)));
        assert_eq!(
            cast_one(3.5f32, "uint8"),
            Err("value 3.5 has a fraction and cannot be uint8; float32 can hold it".to_owned())
        );
        assert_eq!(
            cast_one(300i64, "uint8"),
            Err("value 300 is outside the range of uint8; int16 can hold it".to_owned())
        );
        assert_eq!(
            cast_one((1u64 << 53) + 1, "float64"),
            Err("value 9007199254740993 is an integer that is not exact as float64; int64 can \
                 hold it"
                .to_owned())
        );
        assert_eq!(cast_one(u64::MAX, "uint64"), Ok(Value::Uint(u64::MAX)));
        assert!(cast_one(1e30f64, "int64").is_err());
        assert!(cast_one(f64::NAN, "int64").is_err());
    }

    #[test]
    fn what_is_no_real_number_is_refused() {
        let complex = Values::new(ElementType::Complex64, 1, [0u8; 8]).unwrap();
        assert!(matches!(
            cast(&complex, ElementType::Float64),
            Err(CastError::NoNumber { from: ElementType::Complex64, .. })
        ));
    }

    #[test]
    fn the_first_misfit_is_reported() {
        let mut values = vec![0i32; 100_000];
        values[70_000] = 1000;
        values[99_999] = 2000;
        let error = cast(&Values::from_slice(&values), ElementType::Int8).unwrap_err();
        assert!(error.to_string().starts_with("value 1000 "));
    }
}
