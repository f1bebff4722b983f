//! The handle by which a descriptor names a buffer: size, alignment and where it lives
//! (docs/format.md, "Buffers").

use std::fmt;

use crate::bytes::BUFFER_ALIGNMENT;
use crate::error::FormatError;
use crate::tag::{self, PrivateTag, TagSpace};

/// Where a buffer lives. In a file the tag is only reported: the bytes are at hand.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Hash)]
pub enum Device {
    /// Main memory, tag `0x00`.
    #[default]
    Cpu,
    /// Tag `0x01`.
    Cuda,
    /// Tag `0x02`.
    Rocm,
    /// Tag `0x03`.
    Metal,
    /// Tag `0x04`.
    Vulkan,
    /// Tag `0x05`.
    WebGpu,
    /// Tag `0x06`.
    Hexagon,
    /// Tag `0x07`.
    LevelZero,
    /// Tag `0x08`.
    OpenCl,
    /// A device private to an implementation.
    Private(PrivateTag),
}

impl Device {
    /// The tag of the device.
    #[must_use]
    pub fn tag(self) -> u8 {
        match self {
            Device::Cpu => 0x00,
            Device::Cuda => 0x01,
            Device::Rocm => 0x02,
            Device::Metal => 0x03,
            Device::Vulkan => 0x04,
            Device::WebGpu => 0x05,
            Device::Hexagon => 0x06,
            Device::LevelZero => 0x07,
            Device::OpenCl => 0x08,
            Device::Private(tag) => tag.get(),
        }
    }

    /// The device of a tag; a private one is accepted.
    ///
    /// # Errors
    /// [`FormatError::InvalidTag`] for `0xFF`, [`FormatError::ReservedTag`] for an unassigned
    /// one.
    pub fn from_tag(tag: u8) -> Result<Self, FormatError> {
        Ok(match tag {
            0x00 => Device::Cpu,
            0x01 => Device::Cuda,
            0x02 => Device::Rocm,
            0x03 => Device::Metal,
            0x04 => Device::Vulkan,
            0x05 => Device::WebGpu,
            0x06 => Device::Hexagon,
            0x07 => Device::LevelZero,
            0x08 => Device::OpenCl,
            _ => match PrivateTag::new(tag) {
                Some(private) => Device::Private(private),
                None => return Err(tag::unassigned(TagSpace::Device, tag)),
            },
        })
    }
}

impl fmt::Display for Device {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(match self {
            Device::Cpu => "CPU",
            Device::Cuda => "CUDA",
            Device::Rocm => "ROCm",
            Device::Metal => "Metal",
            Device::Vulkan => "Vulkan",
            Device::WebGpu => "WebGPU",
            Device::Hexagon => "Hexagon",
            Device::LevelZero => "Level Zero",
            Device::OpenCl => "OpenCL",
            Device::Private(tag) => return tag.fmt(f),
        })
    }
}

/// Who has to wait before a buffer may be used.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Hash)]
pub enum SyncMode {
    /// The producer has waited, tag `0x00`; the only mode of a CPU buffer.
    #[default]
    ProducerSynced,
    /// An event tells, tag `0x01`.
    Event,
    /// The consumer's stream is ordered behind, tag `0x02`.
    ConsumerStream,
}

impl SyncMode {
    /// The tag of the mode.
    #[must_use]
    pub fn tag(self) -> u8 {
        match self {
            SyncMode::ProducerSynced => 0,
            SyncMode::Event => 1,
            SyncMode::ConsumerStream => 2,
        }
    }

    /// The mode of a tag.
    ///
    /// # Errors
    /// [`FormatError::InvalidTag`] for `0xFF`, [`FormatError::ReservedTag`] for any other that is
    /// not assigned: sync modes have no private range.
    pub fn from_tag(tag: u8) -> Result<Self, FormatError> {
        match tag {
            0 => Ok(SyncMode::ProducerSynced),
            1 => Ok(SyncMode::Event),
            2 => Ok(SyncMode::ConsumerStream),
            _ => Err(tag::unassigned(TagSpace::SyncMode, tag)),
        }
    }
}

impl fmt::Display for SyncMode {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(match self {
            SyncMode::ProducerSynced => "producer-synced",
            SyncMode::Event => "event",
            SyncMode::ConsumerStream => "consumer stream",
        })
    }
}

/// What kind of memory of its device a buffer is in.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Hash)]
pub enum MemoryClass {
    /// Tag `0x00`.
    #[default]
    Standard,
    /// Tag `0x01`.
    HostPinned,
    /// Tag `0x02`.
    Unified,
    /// Tag `0x03`.
    Peer,
    /// A class private to an implementation; only on a private device.
    Private(PrivateTag),
}

impl MemoryClass {
    /// The tag of the class.
    #[must_use]
    pub fn tag(self) -> u8 {
        match self {
            MemoryClass::Standard => 0x00,
            MemoryClass::HostPinned => 0x01,
            MemoryClass::Unified => 0x02,
            MemoryClass::Peer => 0x03,
            MemoryClass::Private(tag) => tag.get(),
        }
    }

    /// The class of a tag; a private one is accepted.
    ///
    /// # Errors
    /// [`FormatError::InvalidTag`] for `0xFF`, [`FormatError::ReservedTag`] for an unassigned
    /// one.
    pub fn from_tag(tag: u8) -> Result<Self, FormatError> {
        Ok(match tag {
            0x00 => MemoryClass::Standard,
            0x01 => MemoryClass::HostPinned,
            0x02 => MemoryClass::Unified,
            0x03 => MemoryClass::Peer,
            _ => match PrivateTag::new(tag) {
                Some(private) => MemoryClass::Private(private),
                None => return Err(tag::unassigned(TagSpace::MemoryClass, tag)),
            },
        })
    }

    /// Whether `device` has this class of memory.
    #[must_use]
    pub fn exists_on(self, device: Device) -> bool {
        match (device, self) {
            (Device::Private(_), class) => {
                matches!(class, MemoryClass::Standard | MemoryClass::Private(_))
            }
            (_, MemoryClass::Private(_)) => false,
            (Device::Cpu | Device::Metal | Device::Hexagon | Device::OpenCl, class) => {
                class != MemoryClass::Peer
            }
            (Device::WebGpu, class) => class == MemoryClass::Standard,
            _ => true,
        }
    }
}

impl fmt::Display for MemoryClass {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(match self {
            MemoryClass::Standard => "standard",
            MemoryClass::HostPinned => "host-pinned",
            MemoryClass::Unified => "unified",
            MemoryClass::Peer => "peer",
            MemoryClass::Private(tag) => return tag.fmt(f),
        })
    }
}

/// One entry of a descriptor's buffer table.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub struct BufferHandle {
    /// The length of the buffer in bytes.
    pub byte_size: u64,
    /// What the start of the buffer is aligned to, in bytes.
    pub alignment: u32,
    /// Where it lives.
    pub device: Device,
    /// Who has to wait before it is used.
    pub sync_mode: SyncMode,
    /// What kind of memory it is in.
    pub memory_class: MemoryClass,
}

impl BufferHandle {
    /// A buffer of `byte_size` bytes in main memory, aligned to 64 bytes.
    #[must_use]
    pub fn cpu(byte_size: u64) -> Self {
        const { assert!(BUFFER_ALIGNMENT == 64) };
        Self {
            byte_size,
            alignment: 64,
            device: Device::Cpu,
            sync_mode: SyncMode::ProducerSynced,
            memory_class: MemoryClass::Standard,
        }
    }

    /// Checks what the handle alone decides: the alignment is a power of two and at least 64
    /// unless the buffer is empty, a CPU buffer is producer-synced, and the device has the memory
    /// class.
    ///
    /// # Errors
    /// [`FormatError::BufferAlignment`], [`FormatError::CpuSyncMode`] or
    /// [`FormatError::MemoryClassOnDevice`].
    pub fn validate(&self) -> Result<(), FormatError> {
        let alignment = self.alignment;
        if !alignment.is_power_of_two() || (alignment < 64 && self.byte_size != 0) {
            return Err(FormatError::BufferAlignment { alignment });
        }
        if self.device == Device::Cpu && self.sync_mode != SyncMode::ProducerSynced {
            return Err(FormatError::CpuSyncMode { found: self.sync_mode });
        }
        if !self.memory_class.exists_on(self.device) {
            return Err(FormatError::MemoryClassOnDevice {
                memory_class: self.memory_class,
                device: self.device,
            });
        }
        Ok(())
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn device_tags_go_both_ways_and_keep_the_range_rules() {
        for tag in 0..=0xFFu8 {
            match Device::from_tag(tag) {
                Ok(device) => assert_eq!(device.tag(), tag),
                Err(error) if tag == 0xFF => {
                    assert_eq!(error, FormatError::InvalidTag { space: TagSpace::Device, tag });
                }
                Err(error) => {
                    assert!((0x09..0xF0).contains(&tag));
                    assert_eq!(error, FormatError::ReservedTag { space: TagSpace::Device, tag });
                }
            }
        }
    }

    #[test]
    fn memory_class_tags_go_both_ways_and_keep_the_range_rules() {
        for tag in 0..=0xFFu8 {
            match MemoryClass::from_tag(tag) {
                Ok(class) => assert_eq!(class.tag(), tag),
                Err(_) => assert!(tag == 0xFF || (0x04..0xF0).contains(&tag)),
            }
        }
    }

    #[test]
    fn sync_modes_have_no_private_range() {
        let accepted: Vec<u8> = (0..=0xFF).filter(|&tag| SyncMode::from_tag(tag).is_ok()).collect();
        assert_eq!(accepted, [0, 1, 2]);
        assert_eq!(
            SyncMode::from_tag(0xF0),
            Err(FormatError::ReservedTag { space: TagSpace::SyncMode, tag: 0xF0 })
        );
    }

    #[test]
    fn memory_classes_that_do_not_exist_are_refused() {
        use MemoryClass::{HostPinned, Peer, Private, Standard, Unified};
        let private = PrivateTag::new(0xF1).unwrap();
        let refused = [
            (Device::Cpu, Peer),
            (Device::Metal, Peer),
            (Device::WebGpu, HostPinned),
            (Device::WebGpu, Unified),
            (Device::WebGpu, Peer),
            (Device::Hexagon, Peer),
            (Device::OpenCl, Peer),
        ];
        for device in (0..=8).map(|tag| Device::from_tag(tag).unwrap()) {
            for class in [Standard, HostPinned, Unified, Peer] {
                assert_eq!(class.exists_on(device), !refused.contains(&(device, class)));
            }
            assert!(!Private(private).exists_on(device));
        }
        let device = Device::Private(private);
        assert!(Standard.exists_on(device) && Private(private).exists_on(device));
        assert!(!HostPinned.exists_on(device));
    }

    #[test]
    fn alignment_is_a_power_of_two_and_at_least_64_unless_empty() {
        let handle =
            |byte_size, alignment| BufferHandle { alignment, ..BufferHandle::cpu(byte_size) };
        assert_eq!(handle(8, 64).validate(), Ok(()));
        assert_eq!(handle(0, 1).validate(), Ok(()));
        for (byte_size, alignment) in [(8, 32), (8, 96), (0, 0), (0, 3)] {
            assert_eq!(
                handle(byte_size, alignment).validate(),
                Err(FormatError::BufferAlignment { alignment })
            );
        }
    }

    #[test]
    fn a_cpu_buffer_is_producer_synced() {
        let handle = BufferHandle { sync_mode: SyncMode::Event, ..BufferHandle::cpu(8) };
        assert_eq!(handle.validate(), Err(FormatError::CpuSyncMode { found: SyncMode::Event }));
        assert_eq!(BufferHandle { device: Device::Cuda, ..handle }.validate(), Ok(()));
    }
}
