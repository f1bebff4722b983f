//! Block-paged: the pages of a key-value cache (docs/format.md, "Layouts"; tag `0x0A`).

use super::{BufferRole, LayoutError};
use crate::cast::to_u64;
use crate::error::{DecodeError, FormatError};
use crate::shape::Shape;
use crate::wire::{Cursor, Put};

/// Descriptor fields of a block-paged tensor. Buffer 0 holds the pages, buffer 1 the block table,
/// buffer 2 where the blocks of each sequence start in it.
#[derive(Clone, Debug, PartialEq, Eq)]
#[non_exhaustive]
pub struct BlockPagedLayout {
    /// The positions in a page, not 0.
    pub page_size: u32,
    /// The number of pages.
    pub num_pages: u64,
    /// The dimension that is cut into pages; always 0.
    pub paged_axis: u32,
    /// The number of sequences.
    pub num_seqs: u32,
    /// Which part of a key-value cache this is, 0 to 2.
    pub kv_role: u8,
    /// The layer of the model.
    pub layer_index: u32,
    /// The integers of the two index arrays.
    pub index_type: PageIndexType,
}

/// The integers of the two index arrays.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub enum PageIndexType {
    /// 32 bits, code 0.
    #[default]
    Uint32,
    /// 64 bits, code 1.
    Uint64,
}

impl PageIndexType {
    /// The bytes of an entry.
    #[must_use]
    pub fn width(self) -> usize {
        match self {
            PageIndexType::Uint32 => 4,
            PageIndexType::Uint64 => 8,
        }
    }
}

impl BlockPagedLayout {
    /// A layout of `num_pages` pages of `page_size` positions for `num_seqs` sequences; the other
    /// fields are 0. Nothing is checked here.
    #[must_use]
    pub fn new(page_size: u32, num_pages: u64, num_seqs: u32) -> Self {
        Self {
            page_size,
            num_pages,
            paged_axis: 0,
            num_seqs,
            kv_role: 0,
            layer_index: 0,
            index_type: PageIndexType::Uint32,
        }
    }

    /// Checks what the index arrays hold: `seq_ptr` has an entry more than there are sequences,
    /// starts at 0, never decreases and ends at the length of `block_table`, whose entries are
    /// below `num_pages`. Both are arrays of [`BlockPagedLayout::index_type`]. Linear.
    ///
    /// ```
    /// use hurray_format::layout::BlockPagedLayout;
    ///
    /// // Five pages. The first sequence has the pages 4 and 0, the second none, the third page 2.
    /// let layout = BlockPagedLayout::new(16, 5, 3);
    /// let bytes = |entries: &[u32]| -> Vec<u8> {
    ///     entries.iter().flat_map(|entry| entry.to_le_bytes()).collect()
    /// };
    /// layout.validate_indices(&bytes(&[4, 0, 2]), &bytes(&[0, 2, 2, 3]))?;
    /// assert!(layout.validate_indices(&bytes(&[4, 0, 5]), &bytes(&[0, 2, 2, 3])).is_err());
    /// # Ok::<(), hurray_format::FormatError>(())
    /// ```
    ///
    /// # Errors
    /// [`FormatError::Layout`] with the first entry that breaks a rule, or an array of the wrong
    /// length.
    pub fn validate_indices(&self, block_table: &[u8], seq_ptr: &[u8]) -> Result<(), FormatError> {
        let width = self.index_type.width();
        let blocks = to_u64(block_table.len() / width);
        let size = |buffer, role, bytes: &[u8], entries: u64| {
            let (found, expected) = (to_u64(bytes.len()), entries.saturating_mul(to_u64(width)));
            match found == expected {
                true => Ok(()),
                false => Err(LayoutError::BufferSize { buffer, role, expected, found }),
            }
        };
        size(1, BufferRole::BlockTable, block_table, blocks)?;
        size(2, BufferRole::SequencePointers, seq_ptr, u64::from(self.num_seqs) + 1)?;

        let fault = |role, position, found, relation, limit| {
            Err(LayoutError::PageIndex { role, position, found, relation, limit }.into())
        };
        let mut last = 0;
        for (position, found) in self.entries(seq_ptr).enumerate() {
            match position {
                0 if found != 0 => {
                    return fault(BufferRole::SequencePointers, position, found, "exactly", 0);
                }
                _ if found < last => {
                    return fault(BufferRole::SequencePointers, position, found, "at least", last);
                }
                _ => last = found,
            }
        }
        if last != blocks {
            let position = seq_ptr.len() / width - 1;
            return fault(BufferRole::SequencePointers, position, last, "exactly", blocks);
        }
        match self.entries(block_table).enumerate().find(|&(_, page)| page >= self.num_pages) {
            None => Ok(()),
            Some((position, found)) => {
                fault(BufferRole::BlockTable, position, found, "less than", self.num_pages)
            }
        }
    }

    fn entries<'a>(&self, bytes: &'a [u8]) -> impl Iterator<Item = u64> + use<'a> {
        bytes.chunks_exact(self.index_type.width()).map(|entry| {
            let mut wide = [0; 8];
            wide[..entry.len()].copy_from_slice(entry);
            u64::from_le_bytes(wide)
        })
    }

    pub(super) fn decode(cursor: &mut Cursor<'_>) -> Result<Self, DecodeError> {
        let layout = Self {
            page_size: cursor.u32("page_size")?,
            num_pages: cursor.u64("num_pages")?,
            paged_axis: cursor.u32("paged_axis")?,
            num_seqs: cursor.u32("num_seqs")?,
            kv_role: cursor.u8("kv_role")?,
            layer_index: cursor.u32("layer_index")?,
            index_type: if cursor.flag("index_type")? {
                PageIndexType::Uint64
            } else {
                PageIndexType::Uint32
            },
        };
        cursor.reserved("reserved", 6)?;
        Ok(layout)
    }

    pub(super) fn encode(&self, out: &mut Vec<u8>) {
        out.put_u32(self.page_size);
        out.put_u64(self.num_pages);
        out.put_u32(self.paged_axis);
        out.put_u32(self.num_seqs);
        out.put_u8(self.kv_role);
        out.put_u32(self.layer_index);
        out.put_u8(match self.index_type {
            PageIndexType::Uint32 => 0,
            PageIndexType::Uint64 => 1,
        });
        out.put(&[0; 6]);
    }

    /// Only rank 3, with pages along dimension 0.
    pub(super) fn validate_against_shape(&self, shape: &Shape) -> Result<(), FormatError> {
        let rank = shape.rank();
        if rank != 3 {
            let advice = "it stores positions, heads and channels";
            return Err(FormatError::RankForLayout { layout: "block_paged", rank, advice });
        }
        let field = |field, found, allowed| FormatError::Field { field, found, allowed };
        if self.page_size == 0 {
            return Err(field("page_size", 0, "at least 1"));
        }
        if self.paged_axis != 0 {
            return Err(field("paged_axis", self.paged_axis.into(), "0"));
        }
        if self.kv_role > 2 {
            return Err(field("kv_role", self.kv_role.into(), "0, 1 or 2"));
        }
        Ok(())
    }
}
