//! The range rules that all tag spaces of the format share (docs/format.md, "Tag spaces").
//!
//! A tag is one byte. Every space has its own assigned tags; what an unassigned byte means is
//! decided here, once: `0x00` and `0xFF` are invalid, `0xF0..=0xFE` are private to an
//! implementation and everything else is reserved for a later version of the format.

use std::fmt;

use crate::error::FormatError;

/// A space of one-byte tags.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
#[non_exhaustive]
pub enum TagSpace {
    /// Element types.
    ElementType,
    /// Layouts.
    Layout,
    /// Quantization schemes.
    Quantization,
    /// Types of key-value metadata.
    KeyValue,
    /// Devices.
    Device,
    /// Memory classes.
    MemoryClass,
    /// Sync modes (no private range).
    SyncMode,
    /// Composition rules of a composite head.
    CompositionRule,
}

impl fmt::Display for TagSpace {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(match self {
            TagSpace::ElementType => "element type",
            TagSpace::Layout => "layout",
            TagSpace::Quantization => "quantization scheme",
            TagSpace::KeyValue => "metadata type",
            TagSpace::Device => "device",
            TagSpace::MemoryClass => "memory class",
            TagSpace::SyncMode => "sync mode",
            TagSpace::CompositionRule => "composition rule",
        })
    }
}

/// Whether `tag` lies in the range `0xF0..=0xFE` that is private to an implementation.
#[must_use]
pub const fn is_private(tag: u8) -> bool {
    matches!(tag, 0xF0..=0xFE)
}

/// A tag of the range `0xF0..=0xFE`, which each implementation may use as it likes.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub struct PrivateTag(u8);

impl PrivateTag {
    /// Takes a tag of the private range; `None` for any other.
    #[must_use]
    pub const fn new(tag: u8) -> Option<Self> {
        if is_private(tag) { Some(Self(tag)) } else { None }
    }

    /// The tag.
    #[must_use]
    pub const fn get(self) -> u8 {
        self.0
    }
}

impl fmt::Display for PrivateTag {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "private {:#04x}", self.0)
    }
}

/// The error for a `tag` that `space` does not assign and that is not accepted as private.
pub(crate) fn unassigned(space: TagSpace, tag: u8) -> FormatError {
    match tag {
        0x00 | 0xFF => FormatError::InvalidTag { space, tag },
        _ if is_private(tag) && space != TagSpace::SyncMode => {
            FormatError::PrivateTag { space, tag }
        }
        _ => FormatError::ReservedTag { space, tag },
    }
}
