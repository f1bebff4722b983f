//! Layouts private to an implementation (docs/format.md, "Layouts"; tags `0xF0..=0xFE`).

use crate::cast::to_usize;
use crate::error::{DecodeError, FormatError};
use crate::tag::PrivateTag;
use crate::wire::{Cursor, Put};

/// A layout that only its implementation understands. Strict decoding refuses it, permissive
/// decoding reports it; the data are never touched.
#[derive(Clone, Debug, PartialEq, Eq)]
#[non_exhaustive]
pub struct PrivateLayout {
    /// The tag.
    pub tag: PrivateTag,
    /// Tells the layouts of one tag apart.
    pub id: u64,
    /// The fields of the layout, whatever they are.
    pub bytes: Vec<u8>,
}

impl PrivateLayout {
    /// Takes the fields.
    #[must_use]
    pub fn new(tag: PrivateTag, id: u64, bytes: Vec<u8>) -> Self {
        Self { tag, id, bytes }
    }

    pub(super) fn decode(cursor: &mut Cursor<'_>, tag: PrivateTag) -> Result<Self, DecodeError> {
        let id = cursor.u64("private layout id")?;
        let length = cursor.u32("private layout length")?;
        let bytes = cursor.bytes("private layout", to_usize(length.into()))?.to_vec();
        Ok(Self { tag, id, bytes })
    }

    pub(super) fn encode(&self, out: &mut Vec<u8>) -> Result<(), FormatError> {
        let length = u32::try_from(self.bytes.len())
            .map_err(|_| FormatError::SizeOverflow { what: "the private layout" })?;
        out.put_u64(self.id);
        out.put_u32(length);
        out.put(&self.bytes);
        Ok(())
    }
}
