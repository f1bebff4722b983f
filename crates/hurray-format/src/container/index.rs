//! The index: which tensors a file has and where they lie (docs/format.md, "Index").

use std::collections::HashSet;
use std::ops::Range;

use super::trailer::within;
use super::{ContainerError, HEADER_LENGTH, Header, SECTION_ALIGNMENT, Trailer};
use crate::cast::to_u64;
use crate::error::DecodeError;
use crate::wire::{Cursor, Put};

/// The smallest descriptor: magic, version, length, flags, tags and rank.
const MIN_DESCRIPTOR_LENGTH: u32 = 20;

/// The bytes of an entry without its name.
const ENTRY_LENGTH: usize = 2 + 8 + 4 + 8 + 8 + 4;

/// Where one tensor lies.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct IndexEntry {
    /// The name of the tensor, not empty and at most 65535 bytes long.
    pub name: String,
    /// Where the descriptor is; at most 2^32 - 1 bytes.
    pub descriptor_offset: u64,
    /// The bytes of the descriptor.
    pub descriptor_length: u32,
    /// Where the first buffer is.
    pub data_offset: u64,
    /// The bytes from the start of the first buffer to the end of the last.
    pub data_length: u64,
}

impl IndexEntry {
    /// The bytes of the descriptor.
    #[must_use]
    pub fn descriptor(&self) -> Range<u64> {
        self.descriptor_offset..self.descriptor_offset.saturating_add(self.descriptor_length.into())
    }

    /// The bytes from the start of the first buffer to the end of the last.
    #[must_use]
    pub fn data(&self) -> Range<u64> {
        self.data_offset..self.data_offset.saturating_add(self.data_length)
    }

    /// A descriptor that is aligned and lies behind the header, and data behind it, all of it
    /// before `tensors_end`. Whether the data fit the descriptor is for the reader to say.
    fn check(&self, tensors_end: u64) -> Result<(), (&'static str, u64, ContainerError)> {
        if !self.descriptor_offset.is_multiple_of(SECTION_ALIGNMENT) {
            let error = ContainerError::Unaligned {
                found: self.descriptor_offset,
                alignment: SECTION_ALIGNMENT,
            };
            return Err(("descriptor_offset", 0, error));
        }
        if self.descriptor_length < MIN_DESCRIPTOR_LENGTH {
            let error = ContainerError::DescriptorLength { found: self.descriptor_length };
            return Err(("descriptor_length", 8, error));
        }
        let bounds = HEADER_LENGTH..tensors_end;
        let descriptor = within(self.descriptor_offset, self.descriptor_length.into(), bounds)
            .map_err(|error| ("descriptor_offset", 0, error))?;
        within(self.data_offset, self.data_length, descriptor.end..tensors_end)
            .map_err(|error| ("data_offset", 12, error))?;
        Ok(())
    }
}

/// The entries of a file's tensors, in the order in which they are stored.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Index {
    /// The entries.
    pub entries: Vec<IndexEntry>,
}

impl Index {
    /// Decodes the bytes of the index, which lie at `trailer.index`.
    ///
    /// The names are unique and, if the header says so, sorted; every range lies where the tensors
    /// are. Linear in the bytes.
    ///
    /// # Errors
    /// [`DecodeError`] for a checksum that does not match or any field that breaks its rule.
    pub fn decode(bytes: &[u8], header: &Header, trailer: &Trailer) -> Result<Self, DecodeError> {
        let mut cursor = Cursor::new(bytes, trailer.index.start);
        if let Some(expected) = trailer.index_checksum {
            let found = crc32c::crc32c(bytes);
            if found != expected {
                let error = ContainerError::Checksum { found, expected };
                return Err(cursor.error("index", error.into()));
            }
        }
        let start = cursor.clone();
        let count = cursor.u64("count")?;
        let available = cursor.rest().len();
        let capacity = available / ENTRY_LENGTH;
        if count > to_u64(capacity) {
            let error = ContainerError::Count { count, available: to_u64(available) };
            return Err(start.error("count", error.into()));
        }
        let mut entries = Vec::with_capacity(crate::cast::to_usize(count));
        let mut names = HashSet::with_capacity(entries.capacity());
        let mut previous: Option<&str> = None;
        for _ in 0..count {
            let name = read_name(&mut cursor, "name", &mut names)?;
            if let Some(previous) =
                previous.filter(|&previous| header.is_sorted && previous >= name)
            {
                let (previous, name) = (previous.to_owned(), name.to_owned());
                let error = ContainerError::UnsortedNames { previous, name };
                return Err(cursor.error("name", error.into()));
            }
            previous = Some(name);
            entries.push(read_entry(&mut cursor, name, trailer.tensors_end())?);
        }
        header
            .check_consumed(cursor.rest().len())
            .map_err(|error| cursor.error("index", error.into()))?;
        Ok(Self { entries })
    }

    /// The bytes of the index.
    ///
    /// # Errors
    /// [`ContainerError::EmptyName`] or [`ContainerError::NameTooLong`] for a name that cannot be
    /// stored.
    pub fn encode(&self) -> Result<Vec<u8>, ContainerError> {
        let mut bytes = Vec::new();
        bytes.put_u64(to_u64(self.entries.len()));
        for entry in &self.entries {
            put_name(&mut bytes, &entry.name)?;
            bytes.put_u64(entry.descriptor_offset);
            bytes.put_u32(entry.descriptor_length);
            bytes.put_u64(entry.data_offset);
            bytes.put_u64(entry.data_length);
            bytes.put_u32(0);
        }
        Ok(bytes)
    }

    /// Checks a name that is to be in an index.
    ///
    /// # Errors
    /// [`ContainerError::EmptyName`] or [`ContainerError::NameTooLong`] for one that cannot be
    /// stored.
    pub fn check_name(name: &str) -> Result<(), ContainerError> {
        check_name(name).map(drop)
    }

    /// The checksum of encoded index bytes, as the trailer has it (CRC-32C, Castagnoli).
    #[must_use]
    pub fn checksum(bytes: &[u8]) -> u32 {
        crc32c::crc32c(bytes)
    }
}

fn read_entry(
    cursor: &mut Cursor<'_>,
    name: &str,
    tensors_end: u64,
) -> Result<IndexEntry, DecodeError> {
    let fail = |field, offset, error| {
        let error = ContainerError::Entry { name: name.to_owned(), error: Box::new(error) };
        DecodeError { field, offset, error: error.into() }
    };
    let offset = cursor.offset();
    let entry = IndexEntry {
        name: name.to_owned(),
        descriptor_offset: cursor.u64("descriptor_offset")?,
        descriptor_length: cursor.u32("descriptor_length")?,
        data_offset: cursor.u64("data_offset")?,
        data_length: cursor.u64("data_length")?,
    };
    let flags_offset = cursor.offset();
    let flags = cursor.u32("flags")?;
    if flags != 0 {
        return Err(fail("flags", flags_offset, ContainerError::Flags { found: flags }));
    }
    entry
        .check(tensors_end)
        .map_err(|(field, within, error)| fail(field, offset.wrapping_add(within), error))?;
    Ok(entry)
}

/// Checks the length of a name or key that is to be written.
pub(super) fn check_name(name: &str) -> Result<u16, ContainerError> {
    match u16::try_from(name.len()) {
        Ok(0) => Err(ContainerError::EmptyName),
        Ok(length) => Ok(length),
        Err(_) => Err(ContainerError::NameTooLong { length: name.len() }),
    }
}

/// Appends a name or key with its length.
pub(super) fn put_name(bytes: &mut Vec<u8>, name: &str) -> Result<(), ContainerError> {
    bytes.put_u16(check_name(name)?);
    bytes.put(name.as_bytes());
    Ok(())
}

/// Reads a name or key that is not in `seen` yet, and puts it there.
pub(super) fn read_name<'a>(
    cursor: &mut Cursor<'a>,
    field: &'static str,
    seen: &mut HashSet<&'a str>,
) -> Result<&'a str, DecodeError> {
    let start = cursor.clone();
    let length = cursor.u16(field)?;
    if length == 0 {
        return Err(start.error(field, ContainerError::EmptyName.into()));
    }
    let name = read_utf8(cursor, field, length.into())?;
    if !seen.insert(name) {
        let error = ContainerError::DuplicateName { name: name.to_owned() };
        return Err(start.error(field, error.into()));
    }
    Ok(name)
}

/// Reads `length` bytes of text.
pub(super) fn read_utf8<'a>(
    cursor: &mut Cursor<'a>,
    field: &'static str,
    length: usize,
) -> Result<&'a str, DecodeError> {
    let start = cursor.clone();
    std::str::from_utf8(cursor.bytes(field, length)?).map_err(|error| {
        start.error(field, ContainerError::NotUtf8 { valid_up_to: error.valid_up_to() }.into())
    })
}

#[cfg(test)]
mod tests {
    use super::super::header::tests::header;
    use super::*;
    use crate::error::FormatError;

    fn entry(name: &str, descriptor_offset: u64) -> IndexEntry {
        IndexEntry {
            name: name.to_owned(),
            descriptor_offset,
            descriptor_length: 61,
            data_offset: (descriptor_offset + 61).next_multiple_of(4096),
            data_length: 100,
        }
    }

    fn index() -> Index {
        Index { entries: vec![entry("zeta", 64), entry("μ", 8192), entry("a", 16384)] }
    }

    fn trailer(bytes: &[u8]) -> Trailer {
        let index = 24576..24576 + to_u64(bytes.len());
        Trailer { index, metadata: None, index_checksum: Some(crc32c::crc32c(bytes)) }
    }

    fn decode(bytes: &[u8]) -> Result<Index, DecodeError> {
        Index::decode(bytes, &header(), &trailer(bytes))
    }

    fn container(error: DecodeError) -> ContainerError {
        match error.error {
            FormatError::Container(ContainerError::Entry { error, .. }) => *error,
            FormatError::Container(error) => error,
            other => panic!("{other}"),
        }
    }

    /// The error of an index of one entry that was changed.
    fn refused(change: impl FnOnce(&mut IndexEntry)) -> ContainerError {
        let mut index = Index { entries: vec![entry("x", 64)] };
        change(&mut index.entries[0]);
        container(decode(&index.encode().unwrap()).unwrap_err())
    }

    #[test]
    fn an_index_goes_both_ways() {
        for index in [Index::default(), index()] {
            assert_eq!(decode(&index.encode().unwrap()), Ok(index));
        }
    }

    #[test]
    fn the_checksum_is_verified() {
        let bytes = index().encode().unwrap();
        let good = trailer(&bytes);
        for at in 0..bytes.len() {
            let mut bytes = bytes.clone();
            bytes[at] ^= 0x10;
            let error = container(Index::decode(&bytes, &header(), &good).unwrap_err());
            assert!(matches!(error, ContainerError::Checksum { .. }), "byte {at}: {error}");
        }
        assert_eq!(Index::checksum(b"123456789"), 0xE306_9283);
    }

    #[test]
    fn names_are_unique_not_empty_and_utf8() {
        let twice = Index { entries: vec![entry("x", 64), entry("x", 8192)] };
        let error = decode(&twice.encode().unwrap()).unwrap_err();
        assert_eq!((error.field, error.offset), ("name", 24576 + 8 + 35));
        assert_eq!(container(error), ContainerError::DuplicateName { name: "x".into() });

        let mut bytes = Index { entries: vec![entry("xy", 64)] }.encode().unwrap();
        bytes[11] = 0xFF;
        assert_eq!(
            container(decode(&bytes).unwrap_err()),
            ContainerError::NotUtf8 { valid_up_to: 1 }
        );
        bytes[8] = 0;
        assert_eq!(container(decode(&bytes).unwrap_err()), ContainerError::EmptyName);
    }

    #[test]
    fn names_that_cannot_be_stored_are_not_written() {
        let named = |name: &str| Index { entries: vec![entry(name, 64)] }.encode();
        assert_eq!(named(""), Err(ContainerError::EmptyName));
        assert_eq!(named(&"n".repeat(65536)), Err(ContainerError::NameTooLong { length: 65536 }));
        assert!(named(&"n".repeat(65535)).is_ok());
    }

    #[test]
    fn a_sorted_index_is_sorted() {
        let header = Header { is_sorted: true, ..header() };
        let mut index = index();
        let bytes = index.encode().unwrap();
        let error = container(Index::decode(&bytes, &header, &trailer(&bytes)).unwrap_err());
        assert!(matches!(error, ContainerError::UnsortedNames { .. }));
        index.entries.sort_by(|a, b| a.name.cmp(&b.name));
        let bytes = index.encode().unwrap();
        assert_eq!(Index::decode(&bytes, &header, &trailer(&bytes)), Ok(index));
    }

    #[test]
    fn a_count_beyond_the_bytes_never_allocates() {
        for count in [4, 1 << 40, u64::MAX] {
            let mut bytes = index().encode().unwrap();
            bytes[..8].copy_from_slice(&count.to_le_bytes());
            let error = container(decode(&bytes).unwrap_err());
            assert!(matches!(error, ContainerError::Count { .. }), "{count}: {error}");
        }
    }

    #[test]
    fn bytes_left_over_are_for_later_minor_versions() {
        let mut bytes = index().encode().unwrap();
        bytes.extend([1, 2, 3]);
        let error = container(decode(&bytes).unwrap_err());
        assert_eq!(error, ContainerError::TrailingBytes { count: 3 });
        let later = Header { version_minor: 1, ..header() };
        assert_eq!(Index::decode(&bytes, &later, &trailer(&bytes)), Ok(index()));
    }

    #[test]
    fn entries_lie_where_the_tensors_are() {
        use ContainerError::{DescriptorLength, OutOfBounds, Unaligned};
        assert_eq!(
            refused(|entry| entry.descriptor_offset = 68),
            Unaligned { found: 68, alignment: 8 }
        );
        assert_eq!(refused(|entry| entry.descriptor_length = 19), DescriptorLength { found: 19 });
        for offset in [0, 56, 1 << 40, u64::MAX - 7] {
            let error = refused(|entry| entry.descriptor_offset = offset);
            assert!(matches!(error, OutOfBounds { start, .. } if start == offset));
        }
        for offset in [120, 24477, u64::MAX] {
            let error = refused(|entry| entry.data_offset = offset);
            assert_eq!(error, OutOfBounds { start: offset, length: 100, low: 125, high: 24576 });
        }
        for length in [24576 - 4096 + 1, u64::MAX] {
            let error = refused(|entry| entry.data_length = length);
            assert_eq!(error, OutOfBounds { start: 4096, length, low: 125, high: 24576 });
        }
    }

    #[test]
    fn entry_flags_are_zero() {
        let mut bytes = Index { entries: vec![entry("x", 64)] }.encode().unwrap();
        *bytes.last_mut().unwrap() = 0x80;
        let error = decode(&bytes).unwrap_err();
        assert_eq!(
            error.to_string(),
            "flags at byte 24615: tensor `x`: unknown flag bits 0x80000000; the file may need a \
             newer reader"
        );
    }

    #[test]
    fn no_truncation_panics() {
        let bytes = index().encode().unwrap();
        for length in 0..bytes.len() {
            assert!(decode(&bytes[..length]).is_err(), "{length} bytes");
        }
    }
}
