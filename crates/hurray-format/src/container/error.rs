//! What can be wrong with the bytes around the tensors of a file.

use thiserror::Error;

/// A rule of the container that something breaks (docs/format.md, "File container").
#[derive(Clone, Debug, PartialEq, Error)]
#[non_exhaustive]
pub enum ContainerError {
    /// The file does not start with the magic bytes.
    #[error("found \"{text}\" instead of \"HRRYFILE\"; this is not a Hurray file", text = found.escape_ascii())]
    NotHurray {
        /// The bytes found.
        found: [u8; 8],
    },
    /// The file does not end with the magic bytes.
    #[error(
        "found \"{text}\" instead of \"HRRY\"; the file was cut short or something was appended",
        text = found.escape_ascii()
    )]
    TrailerMagic {
        /// The bytes found.
        found: [u8; 4],
    },
    /// The file is too short to hold a header and a trailer.
    #[error("a file of {length} bytes is too short for a header and a trailer; it was cut short")]
    TooShort {
        /// The length of the file.
        length: u64,
    },
    /// A major version that this reader does not know.
    #[error("container version {major} is not supported, only version 1; a newer reader is needed")]
    Version {
        /// The version found.
        major: u8,
    },
    /// A flag bit without a meaning.
    #[error("unknown flag bits {found:#010x}; the file may need a newer reader")]
    Flags {
        /// The unknown bits found.
        found: u32,
    },
    /// The alignment of data buffers is not allowed.
    #[error("data buffer alignment {found} is not a power of two from 4096 to 2097152")]
    DataAlignment {
        /// The alignment found.
        found: u64,
    },
    /// The first descriptor lies elsewhere than the header says.
    #[error("the header puts the first descriptor at byte {found}, the index at byte {expected}")]
    FirstDescriptor {
        /// What the header says.
        found: u64,
        /// The lowest descriptor offset of the index.
        expected: u64,
    },
    /// The first descriptor would lie inside the header.
    #[error("byte {found} is inside the header, which takes the first 64")]
    InsideHeader {
        /// The offset found.
        found: u64,
    },
    /// Something does not start at a multiple of what it has to.
    #[error("{found} is not a multiple of {alignment}")]
    Unaligned {
        /// The offset found.
        found: u64,
        /// The alignment required.
        alignment: u64,
    },
    /// The data of a tensor do not start at a multiple of what the header says.
    #[error("data_offset {found} is not a multiple of data_buffer_alignment {alignment}")]
    DataUnaligned {
        /// The offset found.
        found: u64,
        /// The alignment required.
        alignment: u32,
    },
    /// A section does not lie where it may.
    #[error("{length} bytes at byte {start} do not lie within bytes {low} to {high}")]
    OutOfBounds {
        /// Where it starts.
        start: u64,
        /// Its length.
        length: u64,
        /// The first byte it may take.
        low: u64,
        /// The byte behind the last it may take.
        high: u64,
    },
    /// A key-value section that is announced and missing, or half described.
    #[error("offset {offset} with length {length}: there is either both or neither")]
    HalfSection {
        /// The offset found.
        offset: u64,
        /// The length found.
        length: u64,
    },
    /// The header announces a key-value section that the trailer does not have.
    #[error("the header announces a key-value section, but the trailer has none")]
    MissingMetadata,
    /// The checksum of the index is wrong.
    #[error("the index has checksum {found:#010x}, not {expected:#010x}; the file is damaged")]
    Checksum {
        /// The checksum of the bytes found.
        found: u32,
        /// The checksum that the trailer has.
        expected: u32,
    },
    /// There is a checksum, but the header says that there is none.
    #[error("checksum {found:#010x} although the header says that there is none")]
    UnexpectedChecksum {
        /// The checksum found.
        found: u32,
    },
    /// Bytes are left over behind the last entry.
    #[error("{count} bytes are left over behind the last entry")]
    TrailingBytes {
        /// The number of bytes left.
        count: u64,
    },
    /// A number of entries that the bytes cannot hold.
    #[error("{count} entries cannot lie in the {available} bytes that are left")]
    Count {
        /// The number of entries.
        count: u64,
        /// The bytes that are left.
        available: u64,
    },
    /// A name or key without a character.
    #[error("it is empty")]
    EmptyName,
    /// A name or key that is too long to be stored.
    #[error("it has {length} bytes, at most 65535 are possible")]
    NameTooLong {
        /// Its length in bytes.
        length: usize,
    },
    /// Bytes that should be text and are not.
    #[error("it is not UTF-8 from its byte {valid_up_to} on")]
    NotUtf8 {
        /// The number of bytes up to there that are.
        valid_up_to: usize,
    },
    /// A name or key that was used before.
    #[error("`{name}` is used twice")]
    DuplicateName {
        /// The name.
        name: String,
    },
    /// Names that do not increase although the header says so.
    #[error("`{name}` is not behind `{previous}` although the index is marked as sorted")]
    UnsortedNames {
        /// The name before.
        previous: String,
        /// The name that should sort behind it.
        name: String,
    },
    /// A descriptor shorter than any can be.
    #[error("a descriptor has at least 20 bytes, not {found}")]
    DescriptorLength {
        /// The length found.
        found: u32,
    },
    /// The index and the descriptor disagree about how long the data are.
    #[error(
        "data_length in the index is {found}, but the buffers from byte {start} on take {expected} \
         bytes"
    )]
    DataLength {
        /// Where the data start in the file.
        start: u64,
        /// What the index says.
        found: u64,
        /// From the start of the first buffer to the end of the last.
        expected: u64,
    },
    /// Two tensors claim the same bytes.
    #[error("bytes from {start} on belong to tensor `{other}` as well")]
    Overlap {
        /// The first byte claimed twice.
        start: u64,
        /// The other tensor.
        other: String,
    },
    /// A truth value that is neither 0 nor 1.
    #[error("a bool is {found}, neither 0 nor 1")]
    Bool {
        /// The byte found.
        found: u8,
    },
    /// An array whose elements are arrays.
    #[error("an array cannot hold arrays")]
    NestedArray,
    /// Something is too long for the width of its length field.
    #[error("{length} is too large for 32 bits")]
    TooLong {
        /// Its length.
        length: usize,
    },
    /// What is wrong with the index entry of a tensor.
    #[error("tensor `{name}`: {error}")]
    Entry {
        /// The name of the tensor.
        name: String,
        /// The rule it breaks.
        error: Box<ContainerError>,
    },
}
