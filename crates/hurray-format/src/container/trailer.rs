//! The last 40 bytes of a file (docs/format.md, "File container").

use std::ops::Range;

use zerocopy::little_endian::{U32, U64};
use zerocopy::{FromBytes, Immutable, IntoBytes, KnownLayout, Unaligned};

use super::{ContainerError, HEADER_LENGTH, Header, SECTION_ALIGNMENT, TRAILER_LENGTH};
use crate::error::DecodeError;
use crate::wire::Cursor;

const MAGIC: [u8; 4] = *b"HRRY";

/// The trailer as it lies in the file.
#[derive(FromBytes, IntoBytes, KnownLayout, Immutable, Unaligned)]
#[repr(C)]
struct RawTrailer {
    index_offset: U64,
    index_length: U64,
    kv_offset: U64,
    kv_length: U32,
    index_crc32c: U32,
    reserved: [u8; 4],
    magic: [u8; 4],
}

const _: () = assert!(size_of::<RawTrailer>() as u64 == TRAILER_LENGTH);

/// Where the index and the key-value section of a file are.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Trailer {
    /// The bytes of the index.
    pub index: Range<u64>,
    /// The bytes of the key-value section, if there is one.
    pub metadata: Option<Range<u64>>,
    /// The CRC-32C of the index bytes, if the header says that there is one.
    pub index_checksum: Option<u32>,
}

impl Trailer {
    /// Decodes the last [`TRAILER_LENGTH`] bytes of a file, which start at `offset`.
    ///
    /// # Errors
    /// [`DecodeError`] for too few bytes or any field that breaks its rule: the sections are
    /// aligned to 8, lie behind the header, and the key-value section, the index and the trailer
    /// follow one another.
    pub fn decode(bytes: &[u8], offset: u64, header: &Header) -> Result<Self, DecodeError> {
        let at = |field, within: u64, error: ContainerError| DecodeError {
            field,
            offset: offset.wrapping_add(within),
            error: error.into(),
        };
        let raw: RawTrailer = Cursor::new(bytes, offset).read("file trailer")?;
        if raw.magic != MAGIC {
            return Err(at("magic", 36, ContainerError::TrailerMagic { found: raw.magic }));
        }
        Cursor::new(&raw.reserved, offset.wrapping_add(32))
            .reserved("reserved", raw.reserved.len())?;

        let index = section(raw.index_offset.get(), raw.index_length.get(), offset)
            .map_err(|error| at("index_offset", 0, error))?;
        let metadata = match (raw.kv_offset.get(), u64::from(raw.kv_length.get())) {
            (0, 0) if header.has_metadata => {
                return Err(at("kv_offset", 16, ContainerError::MissingMetadata));
            }
            (0, 0) => None,
            (offset, length) if offset == 0 || length == 0 => {
                return Err(at("kv_offset", 16, ContainerError::HalfSection { offset, length }));
            }
            (start, length) => Some(
                section(start, length, index.start).map_err(|error| at("kv_offset", 16, error))?,
            ),
        };
        let checksum = raw.index_crc32c.get();
        if !header.has_checksum && checksum != 0 {
            let error = ContainerError::UnexpectedChecksum { found: checksum };
            return Err(at("index_crc32c", 28, error));
        }
        Ok(Self { index, metadata, index_checksum: header.has_checksum.then_some(checksum) })
    }

    /// The bytes of the trailer.
    ///
    /// # Errors
    /// [`ContainerError::TooLong`] if the key-value section does not fit into 32 bits.
    pub fn encode(&self) -> Result<Vec<u8>, ContainerError> {
        let metadata = self.metadata.clone().unwrap_or(0..0);
        let kv_length = metadata.end - metadata.start;
        let raw = RawTrailer {
            index_offset: U64::new(self.index.start),
            index_length: U64::new(self.index.end - self.index.start),
            kv_offset: U64::new(metadata.start),
            kv_length: U32::new(u32::try_from(kv_length).map_err(|_| ContainerError::TooLong {
                length: crate::cast::to_usize(kv_length),
            })?),
            index_crc32c: U32::new(self.index_checksum.unwrap_or(0)),
            reserved: [0; 4],
            magic: MAGIC,
        };
        Ok(raw.as_bytes().to_vec())
    }

    /// Where the part of the file ends that belongs to tensors.
    #[must_use]
    pub fn tensors_end(&self) -> u64 {
        self.metadata.as_ref().unwrap_or(&self.index).start
    }
}

/// The range of a section that starts at a multiple of 8 behind the header and ends at or before
/// `high`.
fn section(start: u64, length: u64, high: u64) -> Result<Range<u64>, ContainerError> {
    if !start.is_multiple_of(SECTION_ALIGNMENT) {
        return Err(ContainerError::Unaligned { found: start, alignment: SECTION_ALIGNMENT });
    }
    within(start, length, HEADER_LENGTH..high)
}

/// The range of `length` bytes at `start`, which has to lie in `bounds`.
pub(super) fn within(
    start: u64,
    length: u64,
    bounds: Range<u64>,
) -> Result<Range<u64>, ContainerError> {
    match start.checked_add(length) {
        Some(end) if start >= bounds.start && end <= bounds.end => Ok(start..end),
        _ => {
            let Range { start: low, end: high } = bounds;
            Err(ContainerError::OutOfBounds { start, length, low, high })
        }
    }
}

#[cfg(test)]
mod tests {
    use super::super::header::tests::header;
    use super::*;
    use crate::error::FormatError;

    const AT: u64 = 1000;

    fn trailer() -> Trailer {
        Trailer { index: 800..1000, metadata: Some(704..750), index_checksum: Some(5) }
    }

    fn refused(trailer: &Trailer, header: &Header) -> (&'static str, u64, ContainerError) {
        let error = Trailer::decode(&trailer.encode().unwrap(), AT, header).unwrap_err();
        match error.error {
            FormatError::Container(container) => (error.field, error.offset, container),
            other => panic!("{other}"),
        }
    }

    #[test]
    fn a_trailer_goes_both_ways() {
        for trailer in [trailer(), Trailer { metadata: None, ..trailer() }] {
            let bytes = trailer.encode().unwrap();
            assert_eq!(bytes.len(), 40);
            assert_eq!(Trailer::decode(&bytes, AT, &header()), Ok(trailer));
        }
        assert_eq!(trailer().tensors_end(), 704);
        assert_eq!(Trailer { metadata: None, ..trailer() }.tensors_end(), 800);
    }

    #[test]
    fn sections_are_aligned_and_follow_one_another() {
        let index = |index| Trailer { index, ..trailer() };
        let metadata = |range| Trailer { metadata: Some(range), ..trailer() };
        for (trailer, field, offset) in [
            (index(801..1000), "index_offset", 1000),
            (index(800..1001), "index_offset", 1000),
            (index(56..900), "index_offset", 1000),
            (index(1 << 63..(1 << 63) + 8), "index_offset", 1000),
            (metadata(708..712), "kv_offset", 1016),
            (metadata(704..801), "kv_offset", 1016),
            (metadata(800..1000), "kv_offset", 1016),
            (metadata(48..80), "kv_offset", 1016),
        ] {
            let (found, at, _) = refused(&trailer, &header());
            assert_eq!((found, at), (field, offset), "{trailer:?}");
        }
    }

    #[test]
    fn a_length_that_overflows_is_out_of_bounds() {
        let mut bytes = trailer().encode().unwrap();
        bytes[8..16].fill(0xFF);
        let error = Trailer::decode(&bytes, AT, &header()).unwrap_err();
        let expected =
            ContainerError::OutOfBounds { start: 800, length: u64::MAX, low: 64, high: AT };
        assert_eq!(error.error, FormatError::Container(expected));
    }

    #[test]
    fn metadata_has_both_offset_and_length_or_neither() {
        let (field, _, error) =
            refused(&Trailer { metadata: Some(704..704), ..trailer() }, &header());
        assert_eq!(
            (field, error),
            ("kv_offset", ContainerError::HalfSection { offset: 704, length: 0 })
        );
        let (_, _, error) = refused(&Trailer { metadata: Some(0..8), ..trailer() }, &header());
        assert_eq!(error, ContainerError::HalfSection { offset: 0, length: 8 });
    }

    #[test]
    fn announced_metadata_is_there_but_need_not_be_announced() {
        let announced = Header { has_metadata: true, ..header() };
        assert!(Trailer::decode(&trailer().encode().unwrap(), AT, &announced).is_ok());
        let (_, _, error) = refused(&Trailer { metadata: None, ..trailer() }, &announced);
        assert_eq!(error, ContainerError::MissingMetadata);
    }

    #[test]
    fn without_a_checksum_the_field_is_zero() {
        let header = Header { has_checksum: false, ..header() };
        let (field, at, error) = refused(&trailer(), &header);
        assert_eq!((field, at), ("index_crc32c", 1028));
        assert_eq!(error, ContainerError::UnexpectedChecksum { found: 5 });
        let none = Trailer { index_checksum: None, ..trailer() };
        assert_eq!(Trailer::decode(&none.encode().unwrap(), AT, &header), Ok(none));
    }

    #[test]
    fn magic_and_reserved_bytes_are_checked() {
        for (at, field) in [(32, "reserved"), (35, "reserved"), (36, "magic"), (39, "magic")] {
            let mut bytes = trailer().encode().unwrap();
            bytes[at] ^= 1;
            assert_eq!(Trailer::decode(&bytes, AT, &header()).unwrap_err().field, field);
        }
        assert!(Trailer::decode(&[0; 39], AT, &header()).is_err());
    }
}
