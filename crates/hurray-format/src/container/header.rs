//! The first 64 bytes of a file (docs/format.md, "File container").

use zerocopy::little_endian::{U32, U64};
use zerocopy::{FromBytes, Immutable, IntoBytes, KnownLayout, Unaligned};

use super::{ContainerError, HEADER_LENGTH, SECTION_ALIGNMENT};
use crate::cast::to_u64;
use crate::error::DecodeError;
use crate::wire::Cursor;

const MAGIC: [u8; 8] = *b"HRRYFILE";
const HAS_METADATA: u32 = 1 << 0;
const IS_SORTED: u32 = 1 << 1;
const HAS_CHECKSUM: u32 = 1 << 2;
const UNKNOWN_COUNT: u64 = u64::MAX;

/// The header as it lies in the file.
#[derive(FromBytes, IntoBytes, KnownLayout, Immutable, Unaligned)]
#[repr(C)]
struct RawHeader {
    magic: [u8; 8],
    version_major: u8,
    version_minor: u8,
    reserved: [u8; 2],
    file_flags: U32,
    data_buffer_alignment: U32,
    first_descriptor_offset: U64,
    tensor_count_hint: U64,
    reserved_tail: [u8; 28],
}

const _: () = assert!(size_of::<RawHeader>() as u64 == HEADER_LENGTH);

/// What the header of a file says.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Header {
    /// The minor version of the container. Above 0, sections may end with bytes that this version
    /// does not know.
    pub version_minor: u8,
    /// Whether the header announces a key-value section. A writer that learns of it too late
    /// leaves this clear: the trailer decides.
    pub has_metadata: bool,
    /// Whether the names of the index increase strictly by their bytes.
    pub is_sorted: bool,
    /// Whether the trailer has a checksum of the index.
    pub has_checksum: bool,
    /// What every data buffer is aligned to, in bytes: a power of two from
    /// [`Header::MIN_DATA_ALIGNMENT`] to [`Header::MAX_DATA_ALIGNMENT`].
    pub data_buffer_alignment: u32,
    /// Where the first descriptor is.
    pub first_descriptor_offset: u64,
    /// The number of tensors, if the writer knew it; only a hint.
    pub tensor_count_hint: Option<u64>,
}

impl Header {
    /// The smallest alignment of data buffers, in bytes.
    pub const MIN_DATA_ALIGNMENT: u32 = 4096;
    /// The largest alignment of data buffers, in bytes.
    pub const MAX_DATA_ALIGNMENT: u32 = 2_097_152;

    /// Checks an alignment of data buffers.
    ///
    /// # Errors
    /// [`ContainerError::DataAlignment`] unless it is a power of two in the allowed range.
    pub fn check_data_alignment(alignment: u32) -> Result<(), ContainerError> {
        let range = Self::MIN_DATA_ALIGNMENT..=Self::MAX_DATA_ALIGNMENT;
        if alignment.is_power_of_two() && range.contains(&alignment) {
            return Ok(());
        }
        Err(ContainerError::DataAlignment { found: alignment.into() })
    }

    /// Decodes the first [`HEADER_LENGTH`] bytes of a file.
    ///
    /// # Errors
    /// [`DecodeError`] for too few bytes or any field that breaks its rule.
    pub fn decode(bytes: &[u8]) -> Result<Self, DecodeError> {
        let at = |field, offset, error: ContainerError| DecodeError {
            field,
            offset,
            error: error.into(),
        };
        // A short file of another kind should be told so before its length is complained of.
        let mut magic = MAGIC;
        for (expected, &found) in magic.iter_mut().zip(bytes) {
            *expected = found;
        }
        if magic != MAGIC {
            return Err(at("magic", 0, ContainerError::NotHurray { found: magic }));
        }
        let raw: RawHeader = Cursor::new(bytes, 0).read("file header")?;
        if raw.version_major != 1 {
            let error = ContainerError::Version { major: raw.version_major };
            return Err(at("version_major", 8, error));
        }
        Cursor::new(&raw.reserved, 10).reserved("reserved", raw.reserved.len())?;
        let flags = raw.file_flags.get();
        let unknown = flags & !(HAS_METADATA | IS_SORTED | HAS_CHECKSUM);
        if unknown != 0 {
            return Err(at("file_flags", 12, ContainerError::Flags { found: unknown }));
        }
        let data_buffer_alignment = raw.data_buffer_alignment.get();
        Self::check_data_alignment(data_buffer_alignment)
            .map_err(|error| at("data_buffer_alignment", 16, error))?;
        let first_descriptor_offset = raw.first_descriptor_offset.get();
        if first_descriptor_offset < HEADER_LENGTH {
            let error = ContainerError::InsideHeader { found: first_descriptor_offset };
            return Err(at("first_descriptor_offset", 20, error));
        }
        if !first_descriptor_offset.is_multiple_of(SECTION_ALIGNMENT) {
            let error = ContainerError::Unaligned {
                found: first_descriptor_offset,
                alignment: SECTION_ALIGNMENT,
            };
            return Err(at("first_descriptor_offset", 20, error));
        }
        Cursor::new(&raw.reserved_tail, 36).reserved("reserved", raw.reserved_tail.len())?;
        let tensor_count_hint = raw.tensor_count_hint.get();
        Ok(Self {
            version_minor: raw.version_minor,
            has_metadata: flags & HAS_METADATA != 0,
            is_sorted: flags & IS_SORTED != 0,
            has_checksum: flags & HAS_CHECKSUM != 0,
            data_buffer_alignment,
            first_descriptor_offset,
            tensor_count_hint: (tensor_count_hint != UNKNOWN_COUNT).then_some(tensor_count_hint),
        })
    }

    /// The bytes of the header. Nothing is checked.
    #[must_use]
    pub fn encode(&self) -> Vec<u8> {
        let flag = |is_set, bit| if is_set { bit } else { 0 };
        let raw = RawHeader {
            magic: MAGIC,
            version_major: 1,
            version_minor: self.version_minor,
            reserved: [0; 2],
            file_flags: U32::new(
                flag(self.has_metadata, HAS_METADATA)
                    | flag(self.is_sorted, IS_SORTED)
                    | flag(self.has_checksum, HAS_CHECKSUM),
            ),
            data_buffer_alignment: U32::new(self.data_buffer_alignment),
            first_descriptor_offset: U64::new(self.first_descriptor_offset),
            tensor_count_hint: U64::new(self.tensor_count_hint.unwrap_or(UNKNOWN_COUNT)),
            reserved_tail: [0; 28],
        };
        raw.as_bytes().to_vec()
    }

    /// Decides about `left` bytes behind the last entry of a section: a later minor version may
    /// have put something there.
    pub(super) fn check_consumed(&self, left: usize) -> Result<(), ContainerError> {
        if left == 0 || self.version_minor > 0 {
            return Ok(());
        }
        Err(ContainerError::TrailingBytes { count: to_u64(left) })
    }
}

#[cfg(test)]
pub(super) mod tests {
    use super::*;
    use crate::error::FormatError;

    pub(in super::super) fn header() -> Header {
        Header {
            version_minor: 0,
            has_metadata: false,
            is_sorted: false,
            has_checksum: true,
            data_buffer_alignment: 4096,
            first_descriptor_offset: 64,
            tensor_count_hint: Some(3),
        }
    }

    /// The error of a header with one byte changed.
    fn refused(at: usize, byte: u8) -> DecodeError {
        let mut bytes = header().encode();
        bytes[at] = byte;
        Header::decode(&bytes).unwrap_err()
    }

    #[test]
    fn a_header_goes_both_ways() {
        for version_minor in [0, 1, 255] {
            for (has_metadata, is_sorted, has_checksum) in
                [(true, false, false), (false, true, false), (false, false, true)]
            {
                for tensor_count_hint in [None, Some(0), Some(7)] {
                    let header = Header {
                        version_minor,
                        has_metadata,
                        is_sorted,
                        has_checksum,
                        tensor_count_hint,
                        ..header()
                    };
                    assert_eq!(Header::decode(&header.encode()), Ok(header));
                }
            }
        }
    }

    #[test]
    fn a_header_has_the_bytes_of_the_format() {
        let mut expected = b"HRRYFILE\x01\0\0\0\x04\0\0\0\0\x10\0\0\x40\0\0\0\0\0\0\0\x03".to_vec();
        expected.resize(64, 0);
        assert_eq!(header().encode(), expected);
    }

    #[test]
    fn every_field_is_checked_where_it_lies() {
        for (at, byte, field, offset) in [
            (0, b'h', "magic", 0),
            (8, 0, "version_major", 8),
            (8, 2, "version_major", 8),
            (11, 1, "reserved", 11),
            (12, 8, "file_flags", 12),
            (15, 0x80, "file_flags", 12),
            (16, 1, "data_buffer_alignment", 16),
            (17, 8, "data_buffer_alignment", 16),
            (18, 0x40, "data_buffer_alignment", 16),
            (20, 32, "first_descriptor_offset", 20),
            (20, 68, "first_descriptor_offset", 20),
            (36, 1, "reserved", 36),
            (63, 1, "reserved", 63),
        ] {
            let error = refused(at, byte);
            assert_eq!((error.field, error.offset), (field, offset), "byte {at} = {byte}");
        }
    }

    #[test]
    fn a_text_file_is_no_hurray_file() {
        let error = Header::decode(&[b'1'; 64]).unwrap_err();
        assert_eq!(
            error.error,
            FormatError::Container(ContainerError::NotHurray { found: [b'1'; 8] })
        );
        assert!(error.to_string().ends_with("this is not a Hurray file"), "{error}");
    }

    #[test]
    fn data_alignment_is_a_power_of_two_from_4_kib_to_2_mib() {
        for alignment in (0..32).map(|bit| 1u32 << bit) {
            assert_eq!(
                Header::check_data_alignment(alignment).is_ok(),
                (4096..=2_097_152).contains(&alignment)
            );
        }
        assert!(Header::check_data_alignment(5000).is_err());
        assert!(Header::check_data_alignment(0).is_err());
    }
}
