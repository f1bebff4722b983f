//! From entries to lines of text.

use std::num::NonZeroI32;

use half::{bf16, f16};
use hurray_format::Scalar;
use lexical_core::{ToLexical, ToLexicalWithOptions, WriteFloatOptions};

use super::IndexBase;
use super::number::Number;

/// The longest text of a number, with room to spare.
const NUMBER_LENGTH: usize = 128;

/// Plain notation from 1e-5 to below 1e16, and no `.0` behind whole numbers.
const FLOAT: WriteFloatOptions = WriteFloatOptions::builder()
    .trim_floats(true)
    .negative_exponent_break(NonZeroI32::new(-5))
    .positive_exponent_break(NonZeroI32::new(15))
    .build_strict();

/// A Rust type that can be written as text.
pub(super) trait ToText: Scalar {
    /// Appends the shortest form that reads back to the same bits.
    fn write(self, text: &mut Vec<u8>);
}

macro_rules! integer {
    ($($integer:ty),*) => {$(
        impl ToText for $integer {
            #[inline]
            fn write(self, text: &mut Vec<u8>) {
                let mut buffer = [0; NUMBER_LENGTH];
                text.extend_from_slice(self.to_lexical(&mut buffer));
            }
        }
    )*};
}
integer!(i8, u8, i16, u16, i32, u32, i64, u64);

macro_rules! wide_float {
    ($($float:ty),*) => {$(
        impl ToText for $float {
            #[inline]
            fn write(self, text: &mut Vec<u8>) {
                if !self.is_finite() {
                    return write_special(self.into(), text);
                }
                const FORMAT: u128 = lexical_core::format::STANDARD;
                let mut buffer = [0; NUMBER_LENGTH];
                let number = self.to_lexical_with_options::<FORMAT>(&mut buffer, &FLOAT);
                text.extend_from_slice(number);
                if self.abs() >= (1u64 << <$float>::MANTISSA_DIGITS) as $float {
                    mark_as_decimal(text, number.len());
                }
            }
        }
    )*};
}
wide_float!(f32, f64);

macro_rules! narrow_float {
    ($($float:ident),*) => {$(
        impl ToText for $float {
            /// There is no ready-made shortest form for 16 bits: take the first number of digits
            /// that reads back. Five are always enough.
            fn write(self, text: &mut Vec<u8>) {
                if !self.is_finite() {
                    return write_special(self.to_f64(), text);
                }
                let reads_back = |digits: usize| {
                    let text = format!("{:.*e}", digits, self.to_f64());
                    let same = <$float as Number>::parse(text.as_bytes())
                        .is_ok_and(|value| value.to_bits() == self.to_bits());
                    same.then(|| text.parse::<f64>().ok()).flatten()
                };
                let decimal = (0..5).find_map(reads_back).unwrap_or(self.to_f64());
                let start = text.len();
                decimal.write(text);
                if self.to_f64().abs() >= 2f64.powi($float::MANTISSA_DIGITS.cast_signed()) {
                    let length = text.len() - start;
                    mark_as_decimal(text, length);
                }
            }
        }
    )*};
}
narrow_float!(f16, bf16);

fn write_special(value: f64, text: &mut Vec<u8>) {
    text.extend_from_slice(match value {
        f64::INFINITY => b"inf",
        f64::NEG_INFINITY => b"-inf",
        _ => b"nan",
    });
}

/// The shortest digits of a large float need not be its exact integer. Without a point the reader
/// would take them for one, and refuse.
#[cold]
fn mark_as_decimal(text: &mut Vec<u8>, length: usize) {
    let number = &text[text.len() - length..];
    if !number.iter().any(|byte| matches!(byte, b'.' | b'e')) {
        text.extend_from_slice(b".0");
    }
}

/// Writes runs of entries that differ along one dimension only.
pub(super) struct Lines<'a, T> {
    values: Option<&'a [T]>,
    index_base: IndexBase,
    text: &'a mut Vec<u8>,
    /// The indices before and behind the one that changes, with their blanks.
    before: Vec<u8>,
    behind: Vec<u8>,
}

impl<'a, T: ToText> Lines<'a, T> {
    /// Lines that are appended to `text`. The values are found by position; without them only
    /// indices are written.
    pub(super) fn new(
        values: Option<&'a [T]>,
        index_base: IndexBase,
        text: &'a mut Vec<u8>,
    ) -> Self {
        Self { values, index_base, text, before: Vec::new(), behind: Vec::new() }
    }

    /// Writes the entries at `index` with each of `coordinates` in place of entry `dimension`.
    /// Their values begin at position `first`.
    #[inline]
    pub(super) fn run(
        &mut self,
        index: &[u64],
        dimension: usize,
        coordinates: &[u64],
        first: usize,
    ) {
        // A coordinate of 2^64 - 1 is in no valid tree; in others anything may be written for it.
        let base = self.index_base.first();
        self.before.clear();
        self.behind.clear();
        for &coordinate in &index[..dimension] {
            coordinate.saturating_add(base).write(&mut self.before);
            self.before.push(b' ');
        }
        for &coordinate in &index[dimension + 1..] {
            self.behind.push(b' ');
            coordinate.saturating_add(base).write(&mut self.behind);
        }
        for (position, &coordinate) in (first..).zip(coordinates) {
            self.text.extend_from_slice(&self.before);
            coordinate.saturating_add(base).write(self.text);
            self.text.extend_from_slice(&self.behind);
            if let Some(&value) = self.values.and_then(|values| values.get(position)) {
                self.text.push(b' ');
                value.write(self.text);
            }
            self.text.push(b'\n');
        }
    }
}
