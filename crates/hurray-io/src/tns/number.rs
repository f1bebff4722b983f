//! From text to a number of an element type.
//!
//! Two ways lead to a value. [`Plain::scan`] reads what nearly every file consists of, a few
//! digits with perhaps a point, in the one pass that also finds the end of the column.
//! Everything else is cut out as a token and goes through [`Number::parse`], which knows every
//! form and every reason to refuse. Both give the same result where both apply.

use std::cmp::Ordering;

use half::{bf16, f16};
use hurray_format::{ElementType, Scalar};

use super::error::Misfit;

/// Why a token is not a value.
#[derive(Clone, Copy, Debug, PartialEq)]
pub(super) enum NumberError {
    NotANumber,
    Misfit { reason: Misfit, fits: Option<ElementType> },
}

/// A Rust type that text can hold.
pub(super) trait Number: Scalar {
    /// The value of every entry of a pattern.
    const ONE: Self;

    /// The number, if it is certain to be the right one without looking any further.
    fn from_plain(plain: Plain) -> Option<Self>;

    /// The number that `token` stands for.
    fn parse(token: &[u8]) -> Result<Self, NumberError>;
}

/// `digits / 10^fraction`, with a sign.
#[derive(Clone, Copy, Debug, PartialEq)]
pub(super) struct Plain {
    negative: bool,
    digits: u64,
    fraction: usize,
}

/// As many digits as a u64 holds, whatever they are.
const PLAIN_DIGITS: usize = 19;

impl Plain {
    /// A number with so many digits before and behind its point, unless they are too many.
    #[inline(always)]
    pub(super) fn new(negative: bool, digits: u64, whole: usize, fraction: usize) -> Option<Self> {
        let fits = whole + fraction <= PLAIN_DIGITS;
        fits.then_some(Self { negative, digits, fraction })
    }

    /// Reads `-123.45` at the start of `text`; returns the length too. `None` for any other form.
    #[inline(always)]
    pub(super) fn scan(text: &[u8]) -> Option<(Self, usize)> {
        let negative = text.first() == Some(&b'-');
        let start = usize::from(negative);
        let (mut digits, whole) = digits(text, start, 0);
        let mut end = start + whole;
        let mut fraction = 0;
        if whole > 0 && text.get(end) == Some(&b'.') {
            (digits, fraction) = self::digits(text, end + 1, digits);
            end += 1 + fraction;
        }
        let plain = Self::new(negative, digits, whole, fraction).filter(|_| whole > 0)?;
        Some((plain, end))
    }
}

/// Continues `value` with the digits that begin at `start`, and counts them. After more than
/// [`PLAIN_DIGITS`] the value is meaningless.
///
/// How many digits the next number has is anybody's guess, so asking for each of them costs a
/// mispredicted branch per number; eight at once, without asking, cost none.
#[inline(always)]
pub(super) fn digits(text: &[u8], start: usize, mut value: u64) -> (u64, usize) {
    let mut at = start;
    while let Some(word) = text.get(at..).and_then(|rest| rest.first_chunk()) {
        let (more, count) = eight_digits(u64::from_le_bytes(*word));
        value = value.wrapping_mul(POWERS_OF_TEN[count]).wrapping_add(more);
        at += count;
        if count < 8 {
            return (value, at - start);
        }
    }
    while let Some(digit) = text.get(at).map(|byte| byte.wrapping_sub(b'0'))
        && digit < 10
    {
        value = value.wrapping_mul(10).wrapping_add(digit.into());
        at += 1;
    }
    (value, at - start)
}

/// 10 to the power of up to 16, a u64.
const POWERS_OF_TEN: [u64; 17] = {
    let mut powers = [1; 17];
    let mut exponent = 1;
    while exponent < powers.len() {
        powers[exponent] = 10 * powers[exponent - 1];
        exponent += 1;
    }
    powers
};

/// 10 to the power of `exponent`, up to 16.
#[inline(always)]
pub(super) fn power_of_ten(exponent: usize) -> Option<u64> {
    POWERS_OF_TEN.get(exponent).copied()
}

/// A word with the same byte everywhere is a multiple of this one.
const EACH: u64 = 0x0101_0101_0101_0101;

/// The number that the leading digits of eight characters make, the first in the lowest byte, and
/// how many digits there are.
#[inline(always)]
fn eight_digits(word: u64) -> (u64, usize) {
    let count = (not_digits(word).trailing_zeros() / 8) as usize;
    (leading_digits(word, count), count)
}

/// The highest bit of each of eight characters that is no digit.
#[inline(always)]
pub(super) fn not_digits(word: u64) -> u64 {
    // Digits become 0 to 9; in everything else the highest bit is set, or is by adding 118.
    let digits = word ^ (0x30 * EACH);
    (((digits & (0x7F * EACH)) + 0x76 * EACH) | digits) & (0x80 * EACH)
}

/// The number that the first `count` of eight characters make, all of them digits. Of no
/// characters, 0.
#[inline(always)]
pub(super) fn leading_digits(word: u64, count: usize) -> u64 {
    // Zeros in front instead of what follows the digits.
    let shift = u32::try_from(64 - 8 * count).unwrap_or(64);
    let digits = (word ^ (0x30 * EACH)).checked_shl(shift).unwrap_or(0);
    // Neighbours are joined: digits to pairs, pairs to fours, fours to eight.
    let pairs = (digits.wrapping_mul((10 << 8) + 1) >> 8) & 0x00FF_00FF_00FF_00FF;
    let fours = (pairs.wrapping_mul((100 << 16) + 1) >> 16) & 0x0000_FFFF_0000_FFFF;
    fours.wrapping_mul((10000 << 32) + 1) >> 32
}

/// The powers of ten that a float type holds exactly.
const EXACT_F64: [f64; 23] = [
    1e0, 1e1, 1e2, 1e3, 1e4, 1e5, 1e6, 1e7, 1e8, 1e9, 1e10, 1e11, 1e12, 1e13, 1e14, 1e15, 1e16,
    1e17, 1e18, 1e19, 1e20, 1e21, 1e22,
];
const EXACT_F32: [f32; 11] = [1e0, 1e1, 1e2, 1e3, 1e4, 1e5, 1e6, 1e7, 1e8, 1e9, 1e10];

macro_rules! wide_float {
    ($($float:ty, $exact:ident);*) => {$(
        impl Number for $float {
            const ONE: Self = 1.0;

            /// Both operands are exact, so the division rounds once, and to the nearest.
            #[inline]
            #[expect(clippy::cast_precision_loss, reason = "checked to be exact")]
            fn from_plain(plain: Plain) -> Option<Self> {
                let power = *$exact.get(plain.fraction)?;
                let magnitude = (plain.digits < 1 << <$float>::MANTISSA_DIGITS)
                    .then(|| plain.digits as $float / power)?;
                Some(if plain.negative { -magnitude } else { magnitude })
            }

            fn parse(token: &[u8]) -> Result<Self, NumberError> {
                if let Some(special) = special::<$float>(token) {
                    return Ok(special);
                }
                let value: $float =
                    lexical_core::parse(token).map_err(|_| NumberError::NotANumber)?;
                check_float(token, value.into(), <$float>::MANTISSA_DIGITS, Self::ELEMENT_TYPE)?;
                Ok(value)
            }
        }
    )*};
}
wide_float!(f32, EXACT_F32; f64, EXACT_F64);

macro_rules! narrow_float {
    ($($float:ident),*) => {$(
        impl Number for $float {
            const ONE: Self = $float::ONE;

            fn from_plain(_: Plain) -> Option<Self> {
                None
            }

            fn parse(token: &[u8]) -> Result<Self, NumberError> {
                if let Some(special) = special(token) {
                    return Ok($float::from_f32(special));
                }
                let wide = lexical_core::parse(token).map_err(|_| NumberError::NotANumber)?;
                let bits = narrow(wide, $float::MANTISSA_DIGITS - 1, || compare(token, wide));
                let value = $float::from_bits(bits);
                let digits = $float::MANTISSA_DIGITS;
                check_float(token, value.to_f64(), digits, Self::ELEMENT_TYPE)?;
                Ok(value)
            }
        }
    )*};
}
narrow_float!(f16, bf16);

macro_rules! integer {
    ($($integer:ty),*) => {$(
        impl Number for $integer {
            const ONE: Self = 1;

            #[inline]
            fn from_plain(plain: Plain) -> Option<Self> {
                let divisor = 10u64.pow(u32::try_from(plain.fraction).ok()?);
                if plain.digits % divisor != 0 {
                    return None;
                }
                let magnitude = i128::from(plain.digits / divisor);
                Self::try_from(if plain.negative { -magnitude } else { magnitude }).ok()
            }

            fn parse(token: &[u8]) -> Result<Self, NumberError> {
                let misfit = |reason, fits: Option<ElementType>| {
                    let fits = fits.or_else(|| float64(token));
                    NumberError::Misfit { reason, fits }
                };
                let integer = integer(token).map_err(|reason| {
                    reason.map_or(NumberError::NotANumber, |reason| misfit(reason, None))
                })?;
                Self::try_from(integer)
                    .map_err(|_| misfit(Misfit::OutOfRange, integer_type(integer)))
            }
        }
    )*};
}
integer!(i8, u8, i16, u16, i32, u32, i64, u64);

/// `nan`, `inf` and `infinity`, in upper or lower case, with or without a sign.
fn special<T: From<f32>>(token: &[u8]) -> Option<T> {
    let (negative, word) = split_sign(token);
    let value = match word {
        _ if word.eq_ignore_ascii_case(b"nan") => f32::NAN,
        _ if word.eq_ignore_ascii_case(b"inf") => f32::INFINITY,
        _ if word.eq_ignore_ascii_case(b"infinity") => f32::INFINITY,
        _ => return None,
    };
    Some(if negative { -value } else { value }.into())
}

fn split_sign(token: &[u8]) -> (bool, &[u8]) {
    match token {
        [b'-', rest @ ..] => (true, rest),
        [b'+', rest @ ..] => (false, rest),
        _ => (false, token),
    }
}

/// Refuses a number that became infinite, and one that is written as an integer but is not
/// exactly `value`.
fn check_float(
    token: &[u8],
    value: f64,
    mantissa_digits: u32,
    element_type: ElementType,
) -> Result<(), NumberError> {
    let misfit = |reason, fits| Err(NumberError::Misfit { reason, fits });
    if value.is_infinite() {
        let finite_f32 = lexical_core::parse(token).is_ok_and(f32::is_finite);
        let finite_f64 = lexical_core::parse(token).is_ok_and(f64::is_finite);
        return match element_type {
            ElementType::Float16 if finite_f32 => {
                misfit(Misfit::Overflow, Some(ElementType::Float32))
            }
            ElementType::Float64 => misfit(Misfit::Overflow, None),
            // float32 and bfloat16 reach about equally far.
            _ if finite_f64 => misfit(Misfit::Overflow, Some(ElementType::Float64)),
            _ => misfit(Misfit::Overflow, None),
        };
    }
    let may_round = value.abs() >= 2f64.powi(mantissa_digits.cast_signed());
    if may_round
        && split_sign(token).1.iter().all(u8::is_ascii_digit)
        && compare(token, value) != Ordering::Equal
    {
        let fits = integer(token).ok().and_then(integer_type);
        return misfit(Misfit::Inexact, fits);
    }
    Ok(())
}

/// The smallest integer type that holds `integer`.
fn integer_type(integer: i128) -> Option<ElementType> {
    use ElementType::{Int8, Int16, Int32, Int64, Uint8, Uint16, Uint32, Uint64};
    let types = [Int8, Uint8, Int16, Uint16, Int32, Uint32, Int64, Uint64];
    let holds = |element_type: &ElementType| {
        let bits = element_type.bits();
        let signed = matches!(element_type, Int8 | Int16 | Int32 | Int64);
        let (low, high) =
            if signed { (-1i128 << (bits - 1), 1 << (bits - 1)) } else { (0, 1 << bits) };
        low <= integer && integer < high
    };
    types.into_iter().find(holds)
}

/// float64 if `token` can be read as one.
fn float64(token: &[u8]) -> Option<ElementType> {
    f64::parse(token).is_ok().then_some(ElementType::Float64)
}

/// The integer that `token` stands for, in whatever form: `4`, `4.0`, `1e3`. Otherwise why there
/// is none, nothing if it is no number at all.
fn integer(token: &[u8]) -> Result<i128, Option<Misfit>> {
    if special::<f64>(token).is_some() {
        return Err(Some(Misfit::NotFinite));
    }
    let decimal = Decimal::parse(token).ok_or(None)?;
    let count = i64::try_from(decimal.digits.len()).unwrap_or(i64::MAX);
    if decimal.exponent < count {
        return Err(Some(Misfit::Fraction));
    }
    // 10^38 is the largest power of ten below 2^127.
    if decimal.exponent > 38 {
        return Err(Some(Misfit::OutOfRange));
    }
    let padding = std::iter::repeat(&b'0');
    let places = usize::try_from(decimal.exponent).unwrap_or(0);
    let magnitude = (decimal.digits.iter().chain(padding).take(places))
        .fold(0i128, |value, digit| value * 10 + i128::from(digit - b'0'));
    Ok(if decimal.negative { -magnitude } else { magnitude })
}

/// A decimal number of any length: `0.digits * 10^exponent`, the digits without leading and
/// trailing zeros. Zero has no digits and exponent 0.
struct Decimal {
    negative: bool,
    digits: Vec<u8>,
    exponent: i64,
}

impl Decimal {
    fn parse(token: &[u8]) -> Option<Self> {
        /// Far beyond every exponent that matters, far below what could overflow.
        const EXPONENT_LIMIT: i64 = 1 << 48;

        let (negative, rest) = split_sign(token);
        let (mantissa, exponent) = match rest.iter().position(|byte| matches!(byte, b'e' | b'E')) {
            Some(e) => (&rest[..e], Some(&rest[e + 1..])),
            None => (rest, None),
        };
        let point = mantissa.iter().position(|&byte| byte == b'.');
        let whole = &mantissa[..point.unwrap_or(mantissa.len())];
        let fraction = point.map_or(&[][..], |point| &mantissa[point + 1..]);
        let is_digits = |part: &[u8]| part.iter().all(u8::is_ascii_digit);
        if whole.len() + fraction.len() == 0 || !is_digits(whole) || !is_digits(fraction) {
            return None;
        }
        let exponent = match exponent.map(split_sign) {
            None => 0,
            Some((_, [])) => return None,
            Some((negative, magnitude)) => {
                if !is_digits(magnitude) {
                    return None;
                }
                let magnitude = magnitude.iter().fold(0, |value: i64, digit| {
                    (value * 10 + i64::from(digit - b'0')).min(EXPONENT_LIMIT)
                });
                if negative { -magnitude } else { magnitude }
            }
        };
        let mut digits: Vec<u8> = whole.iter().chain(fraction).copied().collect();
        digits.truncate(digits.iter().rposition(|&digit| digit != b'0').map_or(0, |last| last + 1));
        let zeros = digits.iter().take_while(|&&digit| digit == b'0').count();
        digits.drain(..zeros);
        let point = i64::try_from(whole.len()).ok()? - i64::try_from(zeros).ok()?;
        let exponent = if digits.is_empty() { 0 } else { point + exponent };
        Some(Self { negative, digits, exponent })
    }
}

/// Compares the magnitude of what `token` says with that of `value`, exactly. The value has to
/// be an integer or a multiple of 2^-140.
fn compare(token: &[u8], value: f64) -> Ordering {
    let text = format!("{:.140}", value.abs());
    match (Decimal::parse(token), Decimal::parse(text.as_bytes())) {
        (Some(token), Some(value)) => {
            let zero_first = value.digits.is_empty().cmp(&token.digits.is_empty());
            zero_first
                .then(token.exponent.cmp(&value.exponent))
                .then_with(|| token.digits.cmp(&value.digits))
        }
        _ => Ordering::Equal,
    }
}

/// The bits of the nearest 16-bit float with `mantissa_bits`, ties to even, of a number whose
/// nearest f64 is `wide`.
///
/// Rounding twice is wrong where the first step lands halfway between two of the narrow floats
/// and the number itself does not lie there. Only then is `order` asked, which tells how the
/// number compares to `wide`.
fn narrow(wide: f64, mantissa_bits: u32, order: impl FnOnce() -> Ordering) -> u16 {
    let bits = wide.to_bits();
    let sign = u16::from(wide.is_sign_negative()) << 15;
    let bias = (1i64 << (14 - mantissa_bits)) - 1;
    let infinity = 0x7FFF >> mantissa_bits << mantissa_bits;

    let smallest_normal = 1 - bias;
    let exponent = i64::try_from((bits >> 52) & 0x7FF).unwrap_or(0) - 1023;
    let significand = (bits & ((1 << 52) - 1)) | 1 << 52;
    // Below the normal numbers the unit of the last place stays the same.
    let below = u32::try_from(smallest_normal - exponent).unwrap_or(0);
    let shift = 52 - mantissa_bits + below;
    if shift > 53 {
        return sign;
    }
    let quotient = significand >> shift;
    let rest = significand & ((1 << shift) - 1);
    let up = match rest.cmp(&(1 << (shift - 1))) {
        Ordering::Equal => match order() {
            Ordering::Equal => quotient & 1 == 1,
            unequal => unequal.is_gt(),
        },
        unequal => unequal.is_gt(),
    };
    let mantissa = quotient + u64::from(up);
    // For normal numbers the leading one adds 1 to the exponent field; a carry does too.
    let field = u64::try_from(exponent - smallest_normal).unwrap_or(0);
    let magnitude = (field << mantissa_bits) + mantissa;
    sign | u16::try_from(magnitude).unwrap_or(infinity).min(infinity)
}

#[cfg(test)]
mod tests;
