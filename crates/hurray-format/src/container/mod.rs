//! The bytes of a `.hrry` file around its tensors (docs/format.md, "File container").
//!
//! ```text
//! header | tensors: (descriptor, its buffers, padding) ... | key-value section | index | trailer
//! ```
//!
//! A file is read from its end: [`Header`] and [`Trailer`] have fixed places, the trailer says
//! where the [`Index`] and the [`Metadata`] are, and the index says where each tensor is. Every
//! `decode` takes just the bytes of its part and the offset at which they lie in the file, so that
//! the parts can come from a local file or from ranged requests to a remote one. Nothing here does
//! I/O, and no allocation is larger than a small multiple of the bytes that were passed in.

mod error;
mod header;
mod index;
mod key_value;
mod placement;
mod trailer;

pub use error::ContainerError;
pub use header::Header;
pub use index::{Index, IndexEntry};
pub use key_value::{Metadata, MetadataArray, MetadataValue};
pub use placement::{Placement, align_up};
pub use trailer::Trailer;

/// What descriptors, the key-value section and the index are aligned to, in bytes.
pub const SECTION_ALIGNMENT: u64 = 8;

/// The number of bytes of the header.
pub const HEADER_LENGTH: u64 = 64;

/// The number of bytes of the trailer.
pub const TRAILER_LENGTH: u64 = 40;
