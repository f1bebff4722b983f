//! Writing a descriptor.

use super::{Mode, TensorDescriptor, extension, flags};
use crate::buffer::BufferHandle;
use crate::element::ElementType;
use crate::error::FormatError;
use crate::wire::Put;

/// Where `descriptor_length` lies.
const LENGTH_AT: std::ops::Range<usize> = 6..10;

impl TensorDescriptor {
    /// The bytes of the descriptor, version 1.0.
    ///
    /// Private layouts and schemes are written as they are: whoever writes one knows it.
    ///
    /// # Errors
    /// The first rule that the descriptor breaks, see [`TensorDescriptor::validate`];
    /// [`FormatError::ReservedTag`] for a scheme and [`FormatError::Layout`] for a layout that is
    /// neither known nor private.
    pub fn encode(&self) -> Result<Vec<u8>, FormatError> {
        self.validate_known(Mode::Strict)?;
        let mut out = Vec::new();
        out.put(super::MAGIC);
        out.put(&[super::VERSION_MAJOR, 0]);
        out.put_u32(0);
        out.put_u32(self.flags());
        out.put(&[self.element_type.tag(), self.layout.tag()]);
        out.put_u32(count(self.shape.rank(), "the rank")?);
        out.put_slice(self.shape.dimensions());
        out.put_u64(self.byte_offset);
        self.layout.encode(&mut out)?;
        let [buffer_count, ..] = count(self.buffers.len(), "the buffer table")?.to_le_bytes();
        out.put_u8(buffer_count);
        for handle in &self.buffers {
            encode_handle(handle, &mut out);
        }
        if let Some(quantization) = &self.quantization {
            let mut scheme = Vec::new();
            quantization.encode(&mut scheme)?;
            out.put_u32(count(scheme.len(), "the quantization section")?);
            out.put(&scheme);
        }
        if let Some(shard) = &self.shard {
            shard.encode(&mut out);
        }
        if let Some(statistics) = &self.statistics {
            statistics.encode(&mut out);
        }
        if let ElementType::Private(private) = self.element_type {
            extension::encode(private, &mut out);
        }
        if let Some(role) = self.member_role {
            role.encode(&mut out);
        }
        let length = count(out.len(), "the descriptor")?;
        out[LENGTH_AT].copy_from_slice(&length.to_le_bytes());
        Ok(out)
    }

    /// Which sections there are.
    fn flags(&self) -> u32 {
        let private = matches!(self.element_type, ElementType::Private(_));
        [
            (self.quantization.is_some(), flags::QUANTIZATION),
            (self.shard.is_some(), flags::SHARD),
            (private, flags::EXTENSION),
            (self.statistics.is_some(), flags::STATISTICS),
            (self.member_role.is_some(), flags::MEMBER),
        ]
        .into_iter()
        .filter(|section| section.0)
        .fold(0, |flags, section| flags | section.1)
    }
}

fn encode_handle(handle: &BufferHandle, out: &mut Vec<u8>) {
    out.put_u64(handle.byte_size);
    out.put_u32(handle.alignment);
    out.put(&[handle.device.tag(), handle.sync_mode.tag(), handle.memory_class.tag(), 0]);
}

fn count(length: usize, what: &'static str) -> Result<u32, FormatError> {
    u32::try_from(length).map_err(|_| FormatError::SizeOverflow { what })
}
