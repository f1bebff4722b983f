//! Owned bytes that every element type can be viewed in.

use std::fmt;
use std::ops::{Deref, DerefMut};

use zerocopy::{FromBytes, FromZeros, Immutable, IntoBytes, KnownLayout};

/// What the format aligns buffers to at least, in bytes.
pub const BUFFER_ALIGNMENT: usize = 64;

#[derive(Clone, Copy, FromBytes, IntoBytes, Immutable, KnownLayout)]
#[repr(C, align(64))]
struct Block([u8; BUFFER_ALIGNMENT]);

/// Owned bytes that start at a multiple of [`BUFFER_ALIGNMENT`], so that a value buffer of any
/// element type or a level of a tree can be viewed in them.
#[derive(Clone, Default)]
pub struct AlignedBytes {
    blocks: Vec<Block>,
    len: usize,
}

impl AlignedBytes {
    /// `len` zero bytes.
    ///
    /// The memory comes from the system already zeroed where it can, so nothing is written
    /// here for large lengths.
    ///
    /// # Errors
    /// `None` if the memory is not to be had.
    #[must_use]
    pub fn try_zeroed(len: usize) -> Option<Self> {
        let blocks = Block::new_vec_zeroed(len.div_ceil(BUFFER_ALIGNMENT)).ok()?;
        Some(Self { blocks, len })
    }

    /// `len` zero bytes.
    ///
    /// # Panics
    /// If the memory is not to be had, as `Vec` does; see [`AlignedBytes::try_zeroed`].
    #[must_use]
    pub fn zeroed(len: usize) -> Self {
        Self::try_zeroed(len).expect("out of memory")
    }

    /// Keeps the first `len` bytes, all of them if there are not as many.
    pub fn truncate(&mut self, len: usize) {
        self.len = len.min(self.len);
        self.blocks.truncate(self.len.div_ceil(BUFFER_ALIGNMENT));
    }

    /// Appends bytes; amortised linear in their number.
    ///
    /// # Panics
    /// If the memory is not to be had, as `Vec` does.
    pub fn extend_from_slice(&mut self, bytes: &[u8]) {
        let start = self.len;
        self.len += bytes.len();
        // Bytes behind `len` may hold anything, so only whole new blocks are made here.
        let zero = Block([0; BUFFER_ALIGNMENT]);
        self.blocks.resize(self.len.div_ceil(BUFFER_ALIGNMENT), zero);
        self[start..].copy_from_slice(bytes);
    }
}

impl From<&[u8]> for AlignedBytes {
    /// Copies the bytes.
    fn from(bytes: &[u8]) -> Self {
        let mut copy = Self::zeroed(bytes.len());
        copy.copy_from_slice(bytes);
        copy
    }
}

impl Deref for AlignedBytes {
    type Target = [u8];

    fn deref(&self) -> &[u8] {
        &self.blocks.as_bytes()[..self.len]
    }
}

impl DerefMut for AlignedBytes {
    fn deref_mut(&mut self) -> &mut [u8] {
        &mut self.blocks.as_mut_bytes()[..self.len]
    }
}

impl AsRef<[u8]> for AlignedBytes {
    fn as_ref(&self) -> &[u8] {
        self
    }
}

impl PartialEq for AlignedBytes {
    fn eq(&self, other: &Self) -> bool {
        self[..] == other[..]
    }
}

impl Eq for AlignedBytes {}

impl fmt::Debug for AlignedBytes {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        fmt::Debug::fmt(&self[..], f)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn bytes_are_aligned_zero_and_exactly_as_many() {
        for len in [0, 1, 63, 64, 65, 1000] {
            let bytes = AlignedBytes::zeroed(len);
            assert_eq!(bytes.len(), len);
            assert_eq!(bytes.as_ptr().addr() % BUFFER_ALIGNMENT, 0);
            assert!(bytes.iter().all(|&b| b == 0));
        }
        assert_eq!(&AlignedBytes::from(&[1, 2, 3][..])[..], [1, 2, 3]);
        assert!(AlignedBytes::try_zeroed(usize::MAX).is_none());
    }

    #[test]
    fn appended_bytes_follow_each_other() {
        let mut bytes = AlignedBytes::default();
        let mut model = Vec::new();
        for count in [0, 1, 62, 1, 1, 200, 64, 0] {
            let more: Vec<u8> = (1..=count).collect();
            bytes.extend_from_slice(&more);
            model.extend_from_slice(&more);
            assert_eq!(bytes[..], model);
        }
        assert_eq!(bytes.as_ptr().addr() % BUFFER_ALIGNMENT, 0);
    }
}
