//! Owned words: what `pos` and `crd` of a tree consist of.

use std::fmt;
use std::ops::{Deref, DerefMut};

use zerocopy::{FromBytes, IntoBytes};

use crate::bytes::AlignedBytes;

/// Owned `u64`s that start where a buffer may start, in huge pages where the system has them; see
/// [`AlignedBytes`]. A slice in every other respect.
///
/// ```
/// use hurray_format::AlignedWords;
///
/// let mut words = AlignedWords::from(&[3, 4][..]);
/// words.extend_from_slice(&[5]);
/// words[0] = 2;
/// assert_eq!(words[..], [2, 4, 5]);
/// ```
#[derive(Clone, Default, PartialEq, Eq)]
pub struct AlignedWords(AlignedBytes);

impl AlignedWords {
    /// `len` zeros, of which none is written here if they are many.
    ///
    /// # Panics
    /// If the memory is not to be had, as `Vec` does.
    #[must_use]
    pub fn zeroed(len: usize) -> Self {
        Self(AlignedBytes::zeroed(len.checked_mul(size_of::<u64>()).expect("out of memory")))
    }

    /// Keeps the first `len` words, all of them if there are not as many. The memory of the rest
    /// is not given back.
    pub fn truncate(&mut self, len: usize) {
        self.0.truncate(len.min(self.len()) * size_of::<u64>());
    }

    /// Makes room for exactly `additional` more words, where there is not as much; see
    /// [`AlignedBytes::reserve`].
    ///
    /// # Panics
    /// If the memory is not to be had, as `Vec` does.
    pub fn reserve(&mut self, additional: usize) {
        self.0.reserve(additional.checked_mul(size_of::<u64>()).expect("out of memory"));
    }

    /// Appends words; amortised linear in their number.
    ///
    /// # Panics
    /// If the memory is not to be had, as `Vec` does.
    pub fn extend_from_slice(&mut self, words: &[u64]) {
        self.0.extend_from_slice(words.as_bytes());
    }
}

impl From<&[u64]> for AlignedWords {
    /// Copies the words.
    fn from(words: &[u64]) -> Self {
        Self(AlignedBytes::from(words.as_bytes()))
    }
}

impl From<Vec<u64>> for AlignedWords {
    /// Copies the words.
    fn from(words: Vec<u64>) -> Self {
        Self::from(&words[..])
    }
}

impl Deref for AlignedWords {
    type Target = [u64];

    #[inline]
    fn deref(&self) -> &[u64] {
        <[u64]>::ref_from_bytes(&self.0).expect("whole words that are aligned")
    }
}

impl DerefMut for AlignedWords {
    #[inline]
    fn deref_mut(&mut self) -> &mut [u64] {
        <[u64]>::mut_from_bytes(&mut self.0).expect("whole words that are aligned")
    }
}

impl AsRef<[u64]> for AlignedWords {
    #[inline]
    fn as_ref(&self) -> &[u64] {
        self
    }
}

impl fmt::Debug for AlignedWords {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        fmt::Debug::fmt(&self[..], f)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn words_are_a_slice_that_can_grow_and_shrink() {
        let mut words = AlignedWords::zeroed(1 << 19);
        assert_eq!((words.len(), words.iter().max()), (1 << 19, Some(&0)));
        words.truncate(1);
        words[0] = 7;
        words.extend_from_slice(&[8, u64::MAX]);
        assert_eq!(words[..], [7, 8, u64::MAX]);
        words.truncate(9);
        words.reserve(1 << 20);
        let place = words.as_ptr();
        words.extend_from_slice(&vec![1; 1 << 20]);
        assert_eq!((words.as_ptr(), words.len()), (place, (1 << 20) + 3));
        words.truncate(3);
        assert_eq!(words, AlignedWords::from(vec![7, 8, u64::MAX]));
        assert_eq!(format!("{:?}", AlignedWords::from(&[1, 2][..])), "[1, 2]");
    }
}
