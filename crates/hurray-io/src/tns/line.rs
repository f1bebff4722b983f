//! Lines of the usual shape: indices with one blank behind each, a plain number, a line feed.
//!
//! Read column after column, where a column begins is known only once the one before was searched
//! for its end: a chain of steps per column that a processor can not overlap. So all bytes that
//! are no digits are marked first, 32 bytes at a time in steps that do not wait for each other.
//! The marks say where every column lies, and the numbers are made side by side.
//!
//! Whatever is unusual, right or wrong, is `None` here and is read by [`Piece`](super::piece::Piece) the
//! general way, which gives the same results where both apply.

use super::number::{Plain, leading_digits, not_digits, power_of_ten};

/// How many bytes are marked at a time: most lines, so that they need it once.
const MARKED: usize = 32;

/// The most digits that a column may have, twice as many as a word has characters.
const MAX_DIGITS: usize = 16;

/// The rest of a line.
pub(super) struct Line<'a> {
    text: &'a [u8],
    /// Where the next column begins.
    at: usize,
    /// Where the marked bytes begin.
    marked: usize,
    /// One bit for each of the marked bytes from `at` on that is no digit, the lowest first.
    marks: u32,
}

/// A row of digits, and the byte behind it.
struct Column {
    value: u64,
    digits: usize,
    behind: u8,
}

impl<'a> Line<'a> {
    /// The line that begins at `at`, if there is enough text behind it to look at.
    #[inline(always)]
    pub(super) fn new(text: &'a [u8], at: usize) -> Option<Self> {
        Some(Self { text, at, marked: at, marks: marks(text, at)? })
    }

    /// Where the next column begins, or the next line once the value was read.
    #[inline(always)]
    pub(super) fn at(&self) -> usize {
        self.at
    }

    /// The next column, if it is an index with a blank behind it.
    #[inline(always)]
    pub(super) fn index(&mut self) -> Option<u64> {
        let column = self.column()?;
        matches!(column.behind, b' ' | b'\t').then_some(column.value)
    }

    /// The next column, if it is a plain number with a line feed behind it.
    #[inline(always)]
    pub(super) fn value(&mut self) -> Option<Plain> {
        self.mark_more()?;
        let negative = self.text.get(self.at) == Some(&b'-');
        if negative {
            // The first mark is the sign.
            self.marks &= self.marks - 1;
            self.at += 1;
        }
        let whole = self.column()?;
        if whole.behind == b'\n' {
            return Plain::new(negative, whole.value, whole.digits, 0);
        }
        let fraction = self.column()?;
        if whole.behind != b'.' || fraction.behind != b'\n' {
            return None;
        }
        let shifted = whole.value.wrapping_mul(power_of_ten(fraction.digits)?);
        let value = shifted.wrapping_add(fraction.value);
        Plain::new(negative, value, whole.digits, fraction.digits)
    }

    #[inline(always)]
    fn column(&mut self) -> Option<Column> {
        self.mark_more()?;
        let (start, end) = (self.at, self.marked + self.marks.trailing_zeros() as usize);
        self.marks &= self.marks - 1;
        self.at = end + 1;
        let digits = end - start;
        let first = word(self.text, start)?;
        let value = match digits {
            0 => return None,
            1..=8 => leading_digits(first, digits),
            9..=MAX_DIGITS => {
                let more = leading_digits(word(self.text, start + 8)?, digits - 8);
                leading_digits(first, 8) * power_of_ten(digits - 8)? + more
            }
            _ => return None,
        };
        Some(Column { value, digits, behind: *self.text.get(end)? })
    }

    /// Sees to it that there is a mark. `None` if the column is far too long.
    #[inline(always)]
    fn mark_more(&mut self) -> Option<()> {
        if self.marks == 0 {
            self.marked += MARKED;
            self.marks = marks(self.text, self.marked)?;
        }
        (self.marks != 0).then_some(())
    }
}

#[inline(always)]
fn word(text: &[u8], at: usize) -> Option<u64> {
    text.get(at..)?.first_chunk().map(|word| u64::from_le_bytes(*word))
}

/// The bits of the bytes at `at` that are no digits. `None` if the text ends before the last.
#[inline(always)]
fn marks(text: &[u8], at: usize) -> Option<u32> {
    let bytes: &[u8; MARKED] = text.get(at..)?.first_chunk()?;
    let words = bytes.as_chunks::<8>().0;
    let marks = words.iter().rev().fold(0, |marks, word| {
        // The highest bits of the bytes come to lie side by side in the highest byte.
        let bits = not_digits(u64::from_le_bytes(*word)) >> 7;
        let [.., side_by_side] = bits.wrapping_mul(0x0102_0408_1020_4080).to_le_bytes();
        marks << 8 | u32::from(side_by_side)
    });
    Some(marks)
}

#[cfg(test)]
mod tests {
    use super::*;

    /// Enough text behind a line.
    const BEHIND: &[u8] = &[b'\n'; 64];

    #[test]
    fn marks_are_the_bytes_that_are_no_digits() {
        for at in 0..MARKED {
            for byte in 0..=u8::MAX {
                let mut text = [b'7'; MARKED + 1];
                text[at + 1] = byte;
                let expected = u32::from(!byte.is_ascii_digit()) << at;
                assert_eq!(marks(&text, 1), Some(expected), "{byte} at {at}");
            }
        }
        assert_eq!(marks(&[0xFF; MARKED], 0), Some(u32::MAX));
        assert_eq!(marks(&[0xFF; MARKED], 1), None);
    }

    /// The indices and the value, and whether the line was read up to its line feed.
    fn read(line: &str, rank: usize) -> Option<(Vec<u64>, Plain)> {
        let text = [line.as_bytes(), BEHIND].concat();
        let mut rest = Line::new(&text, 0)?;
        let index = (0..rank).map(|_| rest.index()).collect::<Option<_>>()?;
        let value = rest.value()?;
        assert_eq!(rest.at(), line.len() + 1, "{line}");
        Some((index, value))
    }

    #[test]
    fn columns_of_every_length_are_read_wherever_they_lie() {
        for before in 0..70 {
            for digits in 1..=MAX_DIGITS {
                let number = &"9081726354019283"[..digits];
                let (first, index) = ("1 ".repeat(before), number.parse().unwrap());
                for (sign, negative) in [("", false), ("-", true)] {
                    let (found, plain) =
                        read(&format!("{first}{number} {sign}{number}"), before + 1).unwrap();
                    assert_eq!(found[before], index);
                    assert_eq!(plain, Plain::new(negative, index, digits, 0).unwrap());
                    let line = format!("{first}7 {sign}12.{number}");
                    let (found, plain) = read(&line, before + 1).unwrap();
                    assert_eq!(found[before], 7);
                    let value = format!("12{number}").parse().unwrap();
                    assert_eq!(plain, Plain::new(negative, value, 2, digits).unwrap());
                }
            }
        }
    }

    #[test]
    fn what_is_unusual_is_left_alone() {
        let long = "1".repeat(17);
        let huge = "1".repeat(100);
        for line in [
            "", " 1 2", "1  2", "1 2 ", "1 2 3", "1 2\r", "1 +2", "1 --2", "1 -", "1 .5", "1 5.",
            "1 2.5.", "1 2e1", "1 2.5#", "1 nan", "-1 2", "1,2", "#", "1", "x 1", "1\x0B2",
            "1 2.5-",
        ] {
            assert_eq!(read(line, 1), None, "{line}");
        }
        for long in [long, huge] {
            assert_eq!(read(&format!("{long} 2"), 1), None);
            assert_eq!(read(&format!("1 {long}"), 1), None);
            assert_eq!(read(&format!("1 1.{long}"), 1), None);
        }
        // Twenty digits altogether do not fit.
        assert_eq!(read("1 1234567890.1234567890", 1), None);
        assert!(read("1 123456789.1234567890", 1).is_some());
        // Not enough text behind it.
        assert!(Line::new(b"1 2 3\n", 0).is_none());
    }
}
