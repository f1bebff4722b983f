//! Decisions read off bytes.

/// Decisions, one after the other, as some bytes make them. When the bytes are used up every
/// decision is the first of its kind: 0, `false`, the first of several.
#[derive(Clone, Debug)]
pub struct Choices<'a> {
    bytes: &'a [u8],
}

impl<'a> Choices<'a> {
    /// The decisions of some bytes.
    #[must_use]
    pub fn new(bytes: &'a [u8]) -> Self {
        Self { bytes }
    }

    /// Whether the bytes are used up.
    #[must_use]
    pub fn is_empty(&self) -> bool {
        self.bytes.is_empty()
    }

    /// The bytes that are left.
    #[must_use]
    pub fn rest(&self) -> &'a [u8] {
        self.bytes
    }

    /// Any byte.
    pub fn byte(&mut self) -> u8 {
        match self.bytes.split_first() {
            Some((&byte, rest)) => {
                self.bytes = rest;
                byte
            }
            None => 0,
        }
    }

    /// Up to `count` bytes as they are.
    pub fn take(&mut self, count: usize) -> &'a [u8] {
        let (bytes, rest) = self.bytes.split_at(count.min(self.bytes.len()));
        self.bytes = rest;
        bytes
    }

    /// Any word.
    pub fn word(&mut self) -> u64 {
        (0..8).fold(0, |word, _| word << 8 | u64::from(self.byte()))
    }

    /// A number below `end`, 0 if there is none.
    pub fn below(&mut self, end: usize) -> usize {
        // As many bytes as the numbers have.
        let bytes = usize::BITS.div_ceil(8) - end.saturating_sub(1).leading_zeros() / 8;
        let number = (0..bytes).fold(0, |number: usize, _| number << 8 | usize::from(self.byte()));
        number.checked_rem(end).unwrap_or(0)
    }

    /// Whether one case of `cases` is given, the last.
    pub fn one_in(&mut self, cases: usize) -> bool {
        cases > 0 && self.below(cases) == cases - 1
    }

    /// One of several things.
    ///
    /// # Panics
    /// If there are none.
    pub fn pick<'b, T>(&mut self, from: &'b [T]) -> &'b T {
        &from[self.below(from.len())]
    }

    /// A word that is small, or at the edge of something, or any.
    pub fn telling_word(&mut self) -> u64 {
        match self.below(8) {
            0 => self.below(8) as u64,
            1 => self.byte().into(),
            2 => u64::MAX - self.below(4) as u64,
            3 => 1 << self.below(64),
            4 => (1 << self.below(64)) - 1,
            5 => (1 << 63) + self.below(2) as u64,
            6 => self.below(1 << 16) as u64,
            _ => self.word(),
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn decisions_come_from_the_bytes_until_they_are_used_up() {
        let mut choices = Choices::new(&[7, 1, 0, 9, 3]);
        assert_eq!(choices.below(5), 2);
        assert_eq!(choices.below(1000), 256);
        assert_eq!(choices.below(1), 0);
        assert!(choices.one_in(10));
        assert_eq!(choices.take(9), [3]);
        assert!(choices.is_empty());
        assert_eq!((choices.word(), choices.below(3), choices.one_in(2)), (0, 0, false));
        assert_eq!((choices.below(0), choices.telling_word()), (0, 0));
        assert_eq!(choices.pick(&["first", "second"]), &"first");
    }
}
