//! Owned bytes that every element type can be viewed in.
//!
//! Large ones are mappings of their own, for which the system is asked to use huge pages where it
//! can: touching memory for the first time is about three times as fast then, and that is a good
//! part of what building or reading a large tensor costs. All of them are zero until written.
//!
//! Mappings start at the same place of a page, often a power of two apart, and caches and prefetchers
//! tell lines and pages by a few bits of their addresses. What runs through several mappings side by
//! side would take them for each other, which makes it half as long again on some processors. That
//! is why the bytes start in another page and at another line in each mapping.

use std::fmt;
use std::ops::{Deref, DerefMut};
#[cfg(target_os = "linux")]
use std::sync::atomic::{AtomicUsize, Ordering};

#[cfg(target_os = "linux")]
use memmap2::{Advice, MmapMut};
use zerocopy::{FromBytes, FromZeros, Immutable, IntoBytes, KnownLayout};

/// What the format aligns buffers to at least, in bytes.
pub const BUFFER_ALIGNMENT: usize = 64;

#[derive(Clone, Copy, FromBytes, IntoBytes, Immutable, KnownLayout)]
#[repr(C, align(64))]
struct Block([u8; BUFFER_ALIGNMENT]);

/// Owned bytes that start at a multiple of [`BUFFER_ALIGNMENT`], so that a value buffer of any
/// element type or a level of a tree can be viewed in them.
#[derive(Default)]
pub struct AlignedBytes {
    memory: Memory,
    len: usize,
}

/// Where the bytes are: at least as many as are in use.
enum Memory {
    Heap(Vec<Block>),
    /// With the number of bytes at the start that are left out.
    #[cfg(target_os = "linux")]
    Pages(MmapMut, usize),
}

/// The size of a huge page; smaller ones elsewhere are asked for in vain.
#[cfg(target_os = "linux")]
const HUGE_PAGE: usize = 2 << 20;

/// Where the bytes of the next mapping start: 64 places, each with a page and a line of its own, and
/// those that follow each other far apart.
#[cfg(target_os = "linux")]
fn next_start() -> usize {
    const PAGE: usize = 4096;
    static MAPPINGS: AtomicUsize = AtomicUsize::new(0);
    let place = MAPPINGS.fetch_add(1, Ordering::Relaxed).wrapping_mul(27) % 64;
    place * (PAGE + BUFFER_ALIGNMENT)
}

impl Memory {
    /// At least `len` zero bytes, `None` if they are not to be had.
    fn zeroed(len: usize) -> Option<Self> {
        #[cfg(target_os = "linux")]
        if len > HUGE_PAGE {
            let start = next_start();
            // Only mappings of whole huge pages are laid where huge pages fit.
            let size = len.checked_add(start)?.checked_next_multiple_of(HUGE_PAGE)?;
            let pages = MmapMut::map_anon(size).ok()?;
            // A system without huge pages works, too.
            let _ = pages.advise(Advice::HugePage);
            return Some(Self::Pages(pages, start));
        }
        Some(Self::Heap(Block::new_vec_zeroed(len.div_ceil(BUFFER_ALIGNMENT)).ok()?))
    }

    fn bytes(&self) -> &[u8] {
        match self {
            Self::Heap(blocks) => blocks.as_bytes(),
            #[cfg(target_os = "linux")]
            Self::Pages(pages, start) => &pages[*start..],
        }
    }

    fn bytes_mut(&mut self) -> &mut [u8] {
        match self {
            Self::Heap(blocks) => blocks.as_mut_bytes(),
            #[cfg(target_os = "linux")]
            Self::Pages(pages, start) => &mut pages[*start..],
        }
    }
}

impl Default for Memory {
    fn default() -> Self {
        Self::Heap(Vec::new())
    }
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
        Some(Self { memory: Memory::zeroed(len)?, len })
    }

    /// `len` zero bytes.
    ///
    /// # Panics
    /// If the memory is not to be had, as `Vec` does; see [`AlignedBytes::try_zeroed`].
    #[must_use]
    pub fn zeroed(len: usize) -> Self {
        Self::try_zeroed(len).expect("out of memory")
    }

    /// Keeps the first `len` bytes, all of them if there are not as many. The memory of the rest
    /// is not given back.
    pub fn truncate(&mut self, len: usize) {
        self.len = len.min(self.len);
    }

    /// Makes room for exactly `additional` more bytes, where there is not as much. Room that is
    /// never used costs addresses only, if it is large.
    ///
    /// # Panics
    /// If the memory is not to be had, as `Vec` does.
    pub fn reserve(&mut self, additional: usize) {
        let size = self.len.checked_add(additional).expect("out of memory");
        if size > self.memory.bytes().len() {
            let mut larger = Memory::zeroed(size).expect("out of memory");
            larger.bytes_mut()[..self.len].copy_from_slice(self);
            self.memory = larger;
        }
    }

    /// Appends bytes; amortised linear in their number.
    ///
    /// # Panics
    /// If the memory is not to be had, as `Vec` does.
    pub fn extend_from_slice(&mut self, bytes: &[u8]) {
        let (start, end) = (self.len, self.len + bytes.len());
        let capacity = self.memory.bytes().len();
        if end > capacity {
            self.reserve(bytes.len().max(2 * capacity - start));
        }
        self.len = end;
        self[start..].copy_from_slice(bytes);
    }
}

impl Clone for AlignedBytes {
    fn clone(&self) -> Self {
        Self::from(&self[..])
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

    #[inline]
    fn deref(&self) -> &[u8] {
        &self.memory.bytes()[..self.len]
    }
}

impl DerefMut for AlignedBytes {
    #[inline]
    fn deref_mut(&mut self) -> &mut [u8] {
        &mut self.memory.bytes_mut()[..self.len]
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
        for len in [0, 1, 63, 64, 65, 1000, (2 << 20) - 1, 2 << 20, (2 << 20) + 1, 5_000_001] {
            let bytes = AlignedBytes::zeroed(len);
            assert_eq!(bytes.len(), len);
            assert_eq!(bytes.as_ptr().addr() % BUFFER_ALIGNMENT, 0);
            assert!(bytes.iter().all(|&b| b == 0));
        }
        assert_eq!(&AlignedBytes::from(&[1, 2, 3][..])[..], [1, 2, 3]);
        assert!(AlignedBytes::try_zeroed(usize::MAX).is_none());
        assert!(AlignedBytes::try_zeroed(usize::MAX / 2).is_none());
    }

    #[cfg(target_os = "linux")]
    #[test]
    fn mappings_start_at_lines_of_their_own() {
        let mappings = [(); 3].map(|()| AlignedBytes::zeroed(3 << 20));
        let [a, b, c] = mappings.each_ref().map(|bytes| bytes.as_ptr().addr() % 4096);
        assert!(a != b && b != c && c != a, "{a} {b} {c}");
    }

    #[test]
    fn appended_bytes_follow_each_other() {
        let mut bytes = AlignedBytes::default();
        let mut model = Vec::new();
        for count in [0, 1, 62, 1, 1, 200, 64, 0, 3 << 20, 1, 5 << 20] {
            let more: Vec<u8> = (1..=u8::MAX).cycle().take(count).collect();
            bytes.extend_from_slice(&more);
            model.extend_from_slice(&more);
            assert_eq!(bytes[..], model);
        }
        assert_eq!(bytes.as_ptr().addr() % BUFFER_ALIGNMENT, 0);
        assert_eq!(bytes.clone()[..], model);
    }

    #[test]
    fn truncated_bytes_are_overwritten_by_what_is_appended() {
        let mut bytes = AlignedBytes::from(&[1, 2, 3, 4][..]);
        bytes.truncate(9);
        assert_eq!(bytes[..], [1, 2, 3, 4]);
        bytes.truncate(1);
        bytes.extend_from_slice(&[5, 6]);
        assert_eq!(bytes[..], [1, 5, 6]);
    }
}
