//! The rules that the descriptor alone decides, for reading and for writing.

use super::{DescriptorError, Mode, TensorDescriptor};
use crate::error::FormatError;
use crate::layout::{Extent, LayoutDescriptor, LayoutError};
use crate::quantization::Quantization;
use crate::tag::{self, TagSpace};

impl TensorDescriptor {
    /// Checks every rule that the descriptor alone decides, in the order of its bytes: fields
    /// against shape and element type, the number of buffers, each handle, one memory for all of
    /// them, their sizes, and the sections. O(rank), and the buffers are not looked at.
    ///
    /// Strict mode knows every layout and scheme; permissive mode tolerates a private or unknown one,
    /// a mode order that is not a permutation, and an empty CSF tensor whose levels have nodes.
    ///
    /// # Errors
    /// The first rule that is broken.
    pub fn validate(&self, mode: Mode) -> Result<(), FormatError> {
        if mode == Mode::Strict {
            if matches!(
                self.layout,
                LayoutDescriptor::Private(_) | LayoutDescriptor::Unknown { .. }
            ) {
                return Err(tag::unassigned(TagSpace::Layout, self.layout.tag()));
            }
            if let Some(Quantization::Unknown { scheme, .. }) = self.quantization {
                return Err(tag::unassigned(TagSpace::Quantization, scheme));
            }
        }
        self.validate_known(mode)
    }

    /// As [`TensorDescriptor::validate`], but private layouts and schemes are their writer's business.
    pub(super) fn validate_known(&self, mode: Mode) -> Result<(), FormatError> {
        self.layout.validate_fields(&self.shape, mode)?;
        self.validate_buffers()?;
        let stored = match &self.quantization {
            None => self.shape.clone(),
            Some(quantization) => {
                quantization.validate(&self.shape, self.element_type)?;
                quantization.whole_blocks(&self.shape)?
            }
        };
        let extent = Extent {
            shape: &stored,
            element_type: self.element_type,
            byte_offset: self.byte_offset,
            buffers: &self.buffers,
        };
        self.layout.validate_buffers(&extent, mode)?;
        if let Some(quantization) = &self.quantization {
            quantization.validate_buffers(&self.shape, &self.layout, &self.buffers)?;
        }
        if let Some(shard) = &self.shard {
            if !self.layout.can_be_sharded() {
                return Err(self.no_section("shard"));
            }
            shard.validate(&self.shape)?;
        }
        if let Some(statistics) = &self.statistics {
            statistics.validate(self.nnz())?;
        }
        if self.member_role.is_some() && self.is_composite_head() {
            return Err(self.no_section("composite member"));
        }
        Ok(())
    }

    /// The number of buffers, each handle, and one memory for all of them.
    fn validate_buffers(&self) -> Result<(), FormatError> {
        let found = self.buffers.len();
        if found > usize::from(u8::MAX) {
            return Err(DescriptorError::TooManyBuffers { found }.into());
        }
        if self.is_composite_head() && self.quantization.is_some() {
            return Err(self.no_section("quantization"));
        }
        // Parameter buffers come behind those of the layout; the scheme says which ones.
        let (expected, right) = match (self.layout.buffer_count(), &self.layout) {
            (Some(count), _) if self.quantization.is_some() => (count.get(), found >= count.get()),
            (Some(count), _) => (count.get(), found == count.get()),
            (None, LayoutDescriptor::Private(_)) => (1, found >= 1),
            (None, _) => (0, found == 0),
        };
        if !right {
            let layout = self.layout.name();
            return Err(LayoutError::BufferCount { layout, expected, found }.into());
        }
        for (buffer, handle) in self.buffers.iter().enumerate() {
            handle.validate()?;
            let first = &self.buffers[0];
            if (handle.device, handle.memory_class) != (first.device, first.memory_class) {
                let (device, memory_class) = (handle.device, handle.memory_class);
                return Err(DescriptorError::MixedMemory { buffer, device, memory_class }.into());
            }
        }
        Ok(())
    }

    fn is_composite_head(&self) -> bool {
        matches!(self.layout, LayoutDescriptor::Composite(_))
    }

    fn no_section(&self, section: &'static str) -> FormatError {
        DescriptorError::Section { section, layout: self.layout.name() }.into()
    }
}
