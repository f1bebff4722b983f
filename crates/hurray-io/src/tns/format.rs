//! From entries to lines of text.

use std::ops::Range;

use half::{bf16, f16};
use hurray_format::Scalar;
use lexical_core::ToLexical;

use super::IndexBase;
use super::number::Number;

/// The longest text of a number, with room to spare.
const NUMBER_LENGTH: usize = 128;

/// A Rust type that can be written as text.
pub(super) trait ToText: Scalar {
    /// Writes the shortest form that reads back to the same bits; returns its length. There has
    /// to be room for [`NUMBER_LENGTH`] bytes.
    fn write(self, text: &mut [u8]) -> usize;
}

macro_rules! integer {
    ($($integer:ty),*) => {$(
        impl ToText for $integer {
            #[inline]
            fn write(self, text: &mut [u8]) -> usize {
                self.to_lexical(text).len()
            }
        }
    )*};
}
integer!(i8, u8, i16, u16, i32, u32, i64, u64);

macro_rules! wide_float {
    ($($float:ty),*) => {$(
        impl ToText for $float {
            #[inline]
            fn write(self, text: &mut [u8]) -> usize {
                if !self.is_finite() {
                    return write_special(self.into(), text);
                }
                write_whole(self.into(), <$float>::MANTISSA_DIGITS, text)
                    .unwrap_or_else(|| write_decimal(self, text))
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
            fn write(self, text: &mut [u8]) -> usize {
                if !self.is_finite() {
                    return write_special(self.to_f64(), text);
                }
                if let Some(length) = write_whole(self.to_f64(), $float::MANTISSA_DIGITS, text) {
                    return length;
                }
                let reads_back = |digits: usize| {
                    let text = format!("{:.*e}", digits, self.to_f64());
                    let same = <$float as Number>::parse(text.as_bytes())
                        .is_ok_and(|value| value.to_bits() == self.to_bits());
                    same.then(|| text.parse::<f64>().ok()).flatten()
                };
                write_decimal((0..5).find_map(reads_back).unwrap_or(self.to_f64()), text)
            }
        }
    )*};
}
narrow_float!(f16, bf16);

fn write_special(value: f64, text: &mut [u8]) -> usize {
    let name: &[u8] = match value {
        f64::INFINITY => b"inf",
        f64::NEG_INFINITY => b"-inf",
        _ => b"nan",
    };
    text[..name.len()].copy_from_slice(name);
    name.len()
}

/// Writes a whole number without a point, unless it is so large that a float is no longer
/// followed by the next whole number: the shortest digits of those need not be their exact
/// integer, and a reader that finds no point must take them for it.
#[inline]
fn write_whole(value: f64, mantissa_digits: u32, text: &mut [u8]) -> Option<usize> {
    #[expect(clippy::cast_possible_truncation, reason = "what does not fit is not the same")]
    let integer = value as i64;
    // Equal bits: -0.0 is no integer.
    let is_same = (integer as f64).to_bits() == value.to_bits();
    (is_same && integer.unsigned_abs() < 1 << mantissa_digits).then(|| integer.write(text))
}

/// Writes a finite number with a point or an exponent.
#[inline]
fn write_decimal<F: zmij::Float>(value: F, text: &mut [u8]) -> usize {
    let mut buffer = zmij::Buffer::new();
    let number = buffer.format_finite(value).as_bytes();
    text[..number.len()].copy_from_slice(number);
    number.len()
}

/// Lines of text. The buffer is kept longer than the text, so that numbers can be written in
/// place.
#[derive(Default)]
pub(super) struct Lines {
    buffer: Vec<u8>,
    length: usize,
}

impl Lines {
    pub(super) fn text(&self) -> &[u8] {
        &self.buffer[..self.length]
    }

    pub(super) fn clear(&mut self) {
        self.length = 0;
    }

    /// Writes the entries at `index` with each of `coordinates` in place of entry `dimension`.
    /// Their values begin at position `first` of `values`; without values only indices are
    /// written.
    #[inline]
    pub(super) fn run<T: ToText>(
        &mut self,
        index: &[u64],
        dimension: usize,
        coordinates: &[u64],
        values: Option<&[T]>,
        first: usize,
        index_base: IndexBase,
    ) {
        // A coordinate of 2^64 - 1 is in no valid tree; in others anything may be written for it.
        let base = index_base.first();
        // No number is longer than this, blank included, so neither is a line.
        let line = (index.len() + 1) * NUMBER_LENGTH;
        let mut before = 0..0;
        let mut behind = 0..0;
        for (position, &coordinate) in (first..).zip(coordinates) {
            if self.buffer.len() - self.length < line {
                self.buffer.resize((2 * self.buffer.len()).max(self.length + line), 0);
            }
            // What all lines share is formatted in the first one, and copied from there.
            let is_first = position == first;
            if is_first {
                before = self.columns(&index[..dimension], base);
            } else {
                self.repeat(before.clone());
            }
            self.length += coordinate.saturating_add(base).write(&mut self.buffer[self.length..]);
            self.blank(b' ');
            if is_first {
                behind = self.columns(&index[dimension + 1..], base);
            } else {
                self.repeat(behind.clone());
            }
            match values.and_then(|values| values.get(position)) {
                Some(&value) => self.length += value.write(&mut self.buffer[self.length..]),
                // The blank behind the last index.
                None => self.length -= 1,
            }
            self.blank(b'\n');
        }
    }

    /// Writes indices, each with a blank behind it; returns where they lie.
    #[inline]
    fn columns(&mut self, index: &[u64], base: u64) -> Range<usize> {
        let start = self.length;
        for &coordinate in index {
            self.length += coordinate.saturating_add(base).write(&mut self.buffer[self.length..]);
            self.blank(b' ');
        }
        start..self.length
    }

    #[inline]
    fn repeat(&mut self, range: Range<usize>) {
        // Some bytes too many, for which there is room, are faster than a call for a few.
        const CHUNK: usize = 32;
        let length = range.len();
        match self.buffer[range.start..].first_chunk::<CHUNK>() {
            Some(&chunk) if length <= CHUNK => {
                self.buffer[self.length..][..CHUNK].copy_from_slice(&chunk);
            }
            _ => self.buffer.copy_within(range, self.length),
        }
        self.length += length;
    }

    #[inline]
    fn blank(&mut self, byte: u8) {
        self.buffer[self.length] = byte;
        self.length += 1;
    }
}
