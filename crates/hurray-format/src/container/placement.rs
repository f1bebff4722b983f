//! Where the buffers of a tensor lie: each at the next multiple of the file's data alignment.

use std::ops::Range;

/// The next multiple of `alignment`, a power of two, or `None` if that overflows 64 bits.
///
/// ```
/// use hurray_format::container::align_up;
///
/// assert_eq!(align_up(65, 8), Some(72));
/// assert_eq!(align_up(72, 8), Some(72));
/// assert_eq!(align_up(u64::MAX, 8), None);
/// ```
#[must_use]
pub const fn align_up(offset: u64, alignment: u64) -> Option<u64> {
    offset.checked_next_multiple_of(alignment)
}

/// The buffers of a tensor laid out one behind another (docs/format.md, "File container").
///
/// An iterator over the range of each buffer, the padding left out; `None` in place of a range
/// that overflows 64 bits. Empty buffers have their place as well.
///
/// ```
/// use hurray_format::container::Placement;
///
/// let buffers: Vec<_> = Placement::new(8192, 4096, [5000, 0, 8]).collect();
/// assert_eq!(buffers, [Some(8192..13192), Some(16384..16384), Some(16384..16392)]);
/// ```
#[derive(Clone, Debug)]
pub struct Placement<I> {
    end: Option<u64>,
    alignment: u64,
    sizes: I,
}

impl<I: Iterator<Item = u64>> Placement<I> {
    /// Buffers of `sizes` bytes, of which the first lies at the next multiple of `alignment` from
    /// `start` on.
    pub fn new(
        start: u64,
        alignment: u32,
        sizes: impl IntoIterator<IntoIter = I, Item = u64>,
    ) -> Self {
        Self { end: Some(start), alignment: alignment.into(), sizes: sizes.into_iter() }
    }
}

impl<I: Iterator<Item = u64>> Iterator for Placement<I> {
    type Item = Option<Range<u64>>;

    fn next(&mut self) -> Option<Self::Item> {
        let size = self.sizes.next()?;
        let start = self.end.and_then(|end| align_up(end, self.alignment));
        self.end = start.and_then(|start| start.checked_add(size));
        Some(start.zip(self.end).map(|(start, end)| start..end))
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_last_empty_buffer_counts_with_its_padding() {
        let last = Placement::new(4096, 4096, [16, 0]).last().unwrap();
        assert_eq!(last, Some(8192..8192));
    }

    #[test]
    fn an_overflow_is_none_and_stays_none() {
        let mut placement = Placement::new(4096, 4096, [u64::MAX - 5000, 8, 0]);
        assert_eq!(placement.next(), Some(Some(4096..u64::MAX - 904)));
        assert_eq!(placement.next(), Some(None));
        assert_eq!(placement.next(), Some(None));
        assert_eq!(placement.next(), None);
    }
}
