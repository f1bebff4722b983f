//! What the buffers of a layout hold, and checks of their sizes.

use std::fmt;

use super::LayoutError;
use crate::buffer::BufferHandle;
use crate::element::ElementType;
use crate::error::FormatError;
use crate::shape::Shape;

/// What a buffer of a tensor holds.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
#[non_exhaustive]
pub enum BufferRole {
    /// The elements of a dense layout, or the pages of a block-paged one.
    Data,
    /// The stored elements of a sparse layout.
    Values,
    /// The coordinates of COO, the columns of CSR, the rows of CSC.
    Indices,
    /// Where each row of CSR or column of CSC starts.
    Pointers,
    /// `pos` of a level of CSF.
    Pos(usize),
    /// `crd` of a level of CSF.
    Crd(usize),
    /// The pages of each block, in the order of sequences.
    BlockTable,
    /// Where the blocks of each sequence start in the block table.
    SequencePointers,
    /// Parameters of the quantization.
    Parameters,
    /// Only the implementation that has written the tensor knows.
    Private,
}

impl fmt::Display for BufferRole {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(match self {
            BufferRole::Data => "data",
            BufferRole::Values => "values",
            BufferRole::Indices => "indices",
            BufferRole::Pointers => "pointers",
            BufferRole::Pos(level) => return write!(f, "pos_{level}"),
            BufferRole::Crd(level) => return write!(f, "crd_{level}"),
            BufferRole::BlockTable => "block_table",
            BufferRole::SequencePointers => "seq_ptr",
            BufferRole::Parameters => "parameters",
            BufferRole::Private => "private",
        })
    }
}

/// What the sizes of buffers are held against, beside the fields of the layout.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Extent<'a> {
    /// The shape; dimensions that the quantization cuts into blocks are rounded up to whole ones.
    pub(crate) shape: &'a Shape,
    pub(crate) element_type: ElementType,
    pub(crate) byte_offset: u64,
    /// The buffer table; a buffer that is not there has no bytes.
    pub(crate) buffers: &'a [BufferHandle],
}

impl Extent<'_> {
    pub(super) fn byte_size(&self, buffer: usize) -> u64 {
        self.buffers.get(buffer).map_or(0, |handle| handle.byte_size)
    }

    /// A buffer has exactly the size `expected`, `None` being one beyond 64 bits.
    pub(super) fn exactly(
        &self,
        buffer: usize,
        role: BufferRole,
        expected: Option<u64>,
    ) -> Result<(), FormatError> {
        let expected = expected.ok_or(LayoutError::BufferOverflow { buffer, role })?;
        let found = self.byte_size(buffer);
        if found == expected {
            return Ok(());
        }
        Err(LayoutError::BufferSize { buffer, role, expected, found }.into())
    }

    /// Buffer 0 holds exactly `nnz` values.
    pub(super) fn values(&self, nnz: u64) -> Result<(), FormatError> {
        let Some(size) = self.element_type.byte_length(nnz) else {
            let allowed = "small enough for the size of the values to fit into 64 bits";
            return Err(FormatError::Field { field: "nnz", found: nnz, allowed });
        };
        self.exactly(0, BufferRole::Values, Some(size))
    }

    /// How many 64-bit integers a buffer holds.
    pub(super) fn words(&self, buffer: usize, role: BufferRole) -> Result<u64, FormatError> {
        let found = self.byte_size(buffer);
        if !found.is_multiple_of(8) {
            return Err(LayoutError::BufferWords { buffer, role, found }.into());
        }
        Ok(found / 8)
    }
}
