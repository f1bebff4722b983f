//! What can be wrong with a tensor descriptor as a whole.

use thiserror::Error;

use crate::buffer::{Device, MemoryClass};

/// A rule of the tensor descriptor that something breaks (docs/format.md, "Tensor descriptor",
/// "Shards", "Statistics" and "Extension type").
#[derive(Clone, Debug, PartialEq, Error)]
#[non_exhaustive]
pub enum DescriptorError {
    /// Bytes that are not a descriptor.
    #[error("found \"{text}\" instead of \"HRRY\"; there is no descriptor here", text = found.escape_ascii())]
    Magic {
        /// The bytes found.
        found: [u8; 4],
    },
    /// A major version that this reader does not know.
    #[error("descriptor version {found} is not supported, only version 1; use a newer reader")]
    Version {
        /// The version found.
        found: u8,
    },
    /// A descriptor that is not as long as it says.
    #[error("descriptor_length is {found}, but the descriptor takes {expected} bytes")]
    Length {
        /// The length found.
        found: u32,
        /// The bytes that there are.
        expected: u64,
    },
    /// A descriptor that says it is shorter than any can be.
    #[error("descriptor_length is {found}; the shortest descriptor takes 20 bytes")]
    TooShort {
        /// The length found.
        found: u32,
    },
    /// A flag bit without a meaning.
    #[error("unknown flag bits {found:#010x}; the file may need a newer reader")]
    Flags {
        /// The unknown bits.
        found: u32,
    },
    /// Bytes behind the last section.
    #[error("{count} bytes are left over behind the last section")]
    TrailingBytes {
        /// The number of bytes.
        count: u64,
    },
    /// An extension section without a private element type, or the other way round.
    #[error(
        "element type tag {tag:#04x} is {kind}",
        kind = if crate::tag::is_private(*tag) {
            "private, but there is no extension section that describes it"
        } else {
            "public, but there is an extension section, which only private ones have"
        }
    )]
    Extension {
        /// The tag of the element type.
        tag: u8,
    },
    /// A section that tensors of the layout do not have.
    #[error("a tensor of layout {layout} cannot have a {section} section")]
    Section {
        /// The section.
        section: &'static str,
        /// The name of the layout.
        layout: &'static str,
    },
    /// A buffer table with more entries than its length can say.
    #[error("{found} buffers are more than the 255 that a tensor can have")]
    TooManyBuffers {
        /// The number of buffers.
        found: usize,
    },
    /// Buffers of one tensor in different memory.
    #[error(
        "buffer {buffer} is in {memory_class} memory of {device}, unlike buffer 0; all of them have \
         to be in the same"
    )]
    MixedMemory {
        /// The index in the buffer table.
        buffer: usize,
        /// Where it lives.
        device: Device,
        /// What kind of memory it is in.
        memory_class: MemoryClass,
    },
    /// A shard of another rank than its parent.
    #[error("the shard has {found} parent dimensions, but the tensor has rank {rank}")]
    ShardRank {
        /// The number of entries found.
        found: usize,
        /// The rank of the tensor.
        rank: usize,
    },
    /// A shard along a dimension that is not known.
    #[error("dimension {dimension} is dynamic, so that the tensor cannot be a shard")]
    DynamicShard {
        /// The dimension.
        dimension: usize,
    },
    /// A shard that does not lie in its parent.
    #[error(
        "the shard starts at {offset} of dimension {dimension} and has size {size}, but its parent \
         ends at {parent}"
    )]
    ShardBounds {
        /// The dimension.
        dimension: usize,
        /// Where the shard starts.
        offset: u64,
        /// Its size.
        size: u64,
        /// The size of the parent.
        parent: u64,
    },
    /// Statistics that count other stored elements than there are.
    #[error("the statistics say that nnz is {found}, the layout says {nnz}")]
    StatisticsNnz {
        /// What the statistics say.
        found: u64,
        /// What the layout says.
        nnz: u64,
    },
    /// N:M sparsity with more non-zeros than elements.
    #[error("{n}:{m} sparsity is impossible: {n} is above {m}")]
    Pattern {
        /// The number of non-zeros.
        n: u8,
        /// Among how many elements.
        m: u8,
    },
    /// A packing of a private type that does not follow from its width.
    #[error("packing is {found}; values of {bit_width} bits have packing {expected}")]
    Packing {
        /// The packing found.
        found: u8,
        /// The width of a value.
        bit_width: u32,
        /// What follows from it.
        expected: u32,
    },
}

impl DescriptorError {
    /// The field at fault, and which one of that name.
    pub(crate) fn field(&self) -> (&'static str, usize) {
        let field = match *self {
            DescriptorError::MixedMemory { buffer, .. } => return ("device", buffer),
            DescriptorError::TooManyBuffers { .. } => "buffer_count",
            DescriptorError::Length { .. } | DescriptorError::TooShort { .. } => {
                "descriptor_length"
            }
            DescriptorError::Version { .. } => "version_major",
            DescriptorError::ShardRank { .. } => "parent_shape",
            DescriptorError::DynamicShard { .. } | DescriptorError::ShardBounds { .. } => {
                "shard_offset"
            }
            DescriptorError::StatisticsNnz { .. } => "statistics_nnz",
            DescriptorError::Pattern { .. } => "n",
            DescriptorError::Packing { .. } => "packing",
            _ => "flags",
        };
        (field, 0)
    }
}
