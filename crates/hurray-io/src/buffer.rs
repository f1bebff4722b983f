//! Handles to the buffers of a tensor: cheap to clone, and they keep their bytes alive.

use std::fmt;
use std::ops::{Deref, Range};
use std::sync::Arc;

use hurray_format::cast::{to_u64, to_usize};
use hurray_format::{AlignedBytes, FormatError};
use zerocopy::FromBytes;

use crate::source::Source;

/// The bytes of one buffer, a part of a mapped file or memory of their own.
///
/// Cloning costs a reference count, not a copy. A handle outlives the [`File`](crate::File) it
/// comes from: what it points to stays mapped, or allocated, until the last handle is dropped.
///
/// ```
/// use hurray_format::AlignedBytes;
/// use hurray_io::Buffer;
///
/// let buffer = Buffer::from(AlignedBytes::from(&[1, 2, 3][..]));
/// let other = buffer.clone();
/// assert_eq!(other[1..], [2, 3]);
/// assert_eq!(buffer.as_ptr(), other.as_ptr());
/// ```
#[derive(Clone)]
pub struct Buffer {
    source: Arc<Source>,
    /// Lies inside the source; every constructor checks it.
    range: Range<usize>,
}

impl Buffer {
    /// The bytes `range` of `source`, `None` if it does not have them.
    pub(crate) fn part(source: &Arc<Source>, range: Range<usize>) -> Option<Self> {
        source.get(range.clone())?;
        Some(Self { source: Arc::clone(source), range })
    }

    /// The `length` bytes from `start` on; no copy, constant time.
    ///
    /// # Errors
    /// [`FormatError::Truncated`] if the buffer does not have them.
    pub fn slice(&self, start: u64, length: u64) -> Result<Self, FormatError> {
        let available = to_u64(self.len());
        match start.checked_add(length).filter(|&end| end <= available) {
            Some(end) => {
                let range = self.range.start + to_usize(start)..self.range.start + to_usize(end);
                Ok(Self { source: Arc::clone(&self.source), range })
            }
            None => Err(FormatError::Truncated {
                needed: length,
                available: available.saturating_sub(start),
            }),
        }
    }

    /// The buffer as 64-bit words; no copy, constant time.
    ///
    /// # Errors
    /// [`FormatError::Misaligned`] unless it starts at a multiple of 8,
    /// [`FormatError::WordLength`] unless it is a multiple of 8 bytes long.
    pub fn into_words(self) -> Result<Words, FormatError> {
        if !self.len().is_multiple_of(size_of::<u64>()) {
            return Err(FormatError::WordLength { found: to_u64(self.len()) });
        }
        match <[u64]>::ref_from_bytes(&self) {
            Ok(_) => Ok(Words(self)),
            Err(_) => Err(FormatError::Misaligned { alignment: align_of::<u64>() }),
        }
    }
}

impl From<AlignedBytes> for Buffer {
    fn from(bytes: AlignedBytes) -> Self {
        let range = 0..bytes.len();
        Self { source: Arc::new(Source::Read(bytes)), range }
    }
}

impl Deref for Buffer {
    type Target = [u8];

    #[inline]
    fn deref(&self) -> &[u8] {
        &self.source[self.range.clone()]
    }
}

impl AsRef<[u8]> for Buffer {
    #[inline]
    fn as_ref(&self) -> &[u8] {
        self
    }
}

impl fmt::Debug for Buffer {
    /// Says where the bytes are, not what they are: there may be very many.
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "Buffer({:?} of {:?})", self.range, self.source)
    }
}

/// A [`Buffer`] of 64-bit words: `pos` or `crd` of a level, or coordinates.
///
/// Made by [`Buffer::into_words`], which checks that the buffer can be viewed so.
#[derive(Clone, Debug)]
pub struct Words(Buffer);

impl Words {
    /// The bytes.
    #[must_use]
    pub fn into_buffer(self) -> Buffer {
        self.0
    }
}

impl Deref for Words {
    type Target = [u64];

    #[inline]
    fn deref(&self) -> &[u64] {
        // The bytes neither move nor change their length, so what `into_words` has seen holds.
        <[u64]>::ref_from_bytes(&self.0).unwrap_or_default()
    }
}

impl AsRef<[u64]> for Words {
    #[inline]
    fn as_ref(&self) -> &[u64] {
        self
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn source(len: usize) -> Arc<Source> {
        Arc::new(Source::Read(AlignedBytes::zeroed(len)))
    }

    #[test]
    fn a_part_lies_inside_its_source() {
        let source = source(32);
        assert_eq!(Buffer::part(&source, 8..32).unwrap().len(), 24);
        assert_eq!(Buffer::part(&source, 32..32).unwrap().len(), 0);
        assert!(Buffer::part(&source, 8..33).is_none());
        assert!(Buffer::part(&source, 33..33).is_none());
    }

    #[test]
    fn a_slice_lies_inside_its_buffer() {
        let buffer = Buffer::part(&source(32), 8..24).unwrap();
        let slice = buffer.slice(4, 12).unwrap();
        assert_eq!((slice.len(), slice.as_ptr()), (12, buffer[4..].as_ptr()));
        for (start, length) in [(4, 13), (17, 0), (u64::MAX, 2), (1, u64::MAX)] {
            assert!(buffer.slice(start, length).is_err(), "{length} bytes at {start}");
        }
    }

    #[test]
    fn a_buffer_keeps_its_source_alive() {
        let source = source(32);
        let alive = Arc::downgrade(&source);
        let buffer = Buffer::part(&source, 0..8).unwrap();
        drop(source);
        let words = buffer.clone().into_words().unwrap();
        drop(buffer);
        assert_eq!(words[..], [0]);
        drop(words);
        assert!(alive.upgrade().is_none());
    }

    #[test]
    fn words_are_aligned_and_whole() {
        let source = source(32);
        let words = |range| Buffer::part(&source, range).unwrap().into_words();
        assert_eq!(words(8..24).unwrap().len(), 2);
        assert_eq!(words(8..8).unwrap().len(), 0);
        let error = words(4..20).unwrap_err();
        assert_eq!(error, FormatError::Misaligned { alignment: 8 });
        assert!(error.to_string().contains("not aligned to 8 bytes"));
        assert_eq!(words(8..20).unwrap_err(), FormatError::WordLength { found: 12 });
    }

    #[test]
    fn handles_can_be_shared_between_threads() {
        fn shared<T: Clone + Send + Sync + 'static>() {}
        shared::<Buffer>();
        shared::<Words>();
    }
}
