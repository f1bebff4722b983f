//! The bytes of a file, read into memory or mapped: the one `unsafe` line of the libraries.

use std::fmt;
use std::fs;
use std::io;
use std::ops::Deref;

use hurray_format::AlignedBytes;

/// Whoever holds bytes that a [`Buffer`](crate::Buffer) shows a part of.
pub(crate) enum Source {
    /// Memory of our own.
    Read(AlignedBytes),
    /// A file in the address space.
    Mapped(memmap2::Mmap),
}

impl Source {
    /// Maps a whole file.
    ///
    /// # Safety
    /// Nobody changes or truncates the file while the mapping lives.
    #[expect(unsafe_code, reason = "a mapping is only as safe as the file behind it is quiet")]
    pub(crate) unsafe fn map(file: &fs::File) -> io::Result<Self> {
        // SAFETY: the caller promises that the file stays as it is.
        unsafe { memmap2::Mmap::map(file) }.map(Source::Mapped)
    }
}

impl Deref for Source {
    type Target = [u8];

    #[inline]
    fn deref(&self) -> &[u8] {
        match self {
            Source::Read(bytes) => bytes,
            Source::Mapped(mapping) => mapping,
        }
    }
}

impl fmt::Debug for Source {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let kind = match self {
            Source::Read(_) => "read",
            Source::Mapped(_) => "mapped",
        };
        write!(f, "{} bytes, {kind}", self.len())
    }
}

/// Reads all of `bytes` from `offset` on, without a cursor that threads would have to share.
pub(crate) fn read_exact_at(file: &fs::File, bytes: &mut [u8], offset: u64) -> io::Result<()> {
    #[cfg(unix)]
    return std::os::unix::fs::FileExt::read_exact_at(file, bytes, offset);
    #[cfg(windows)]
    {
        let (mut bytes, mut offset) = (bytes, offset);
        while !bytes.is_empty() {
            match std::os::windows::fs::FileExt::seek_read(file, bytes, offset) {
                Ok(0) => return Err(io::ErrorKind::UnexpectedEof.into()),
                Ok(count) => {
                    bytes = &mut bytes[count..];
                    offset += hurray_format::cast::to_u64(count);
                }
                Err(error) if error.kind() == io::ErrorKind::Interrupted => {}
                Err(error) => return Err(error),
            }
        }
        Ok(())
    }
}
