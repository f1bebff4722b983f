//! The tensor descriptor: everything that is known of a tensor but its data
//! (docs/format.md, "Tensor descriptor").
//!
//! Decoding is a plain read in the order of the bytes, followed by [`TensorDescriptor::validate`], which
//! states every rule once, for readers and writers. Every error of the decoder names the field, its
//! absolute offset and the value found.

mod decode;
mod encode;
mod error;
mod extension;
mod member;
mod shard;
mod statistics;
mod validate;

pub use error::DescriptorError;
pub use member::MemberRole;
pub use shard::Shard;
pub use statistics::{Moments, NonFinite, Pattern, Statistics, ValueRange};

use crate::buffer::BufferHandle;
use crate::cast::to_u64;
use crate::element::ElementType;
use crate::error::FormatError;
use crate::layout::{CooLayout, CsfLayout, LayoutDescriptor, pos_size};
use crate::mode_order::ModeOrder;
use crate::quantization::Quantization;
use crate::shape::Shape;

const MAGIC: &[u8; 4] = b"HRRY";
const VERSION_MAJOR: u8 = 1;

/// The bits of the descriptor's flags: which sections there are.
mod flags {
    pub(super) const QUANTIZATION: u32 = 1 << 0;
    pub(super) const SHARD: u32 = 1 << 1;
    pub(super) const EXTENSION: u32 = 1 << 2;
    pub(super) const STATISTICS: u32 = 1 << 3;
    pub(super) const MEMBER: u32 = 1 << 4;
    pub(super) const ALL: u32 = (1 << 5) - 1;
}

/// How much of what it does not understand a reader puts up with (docs/format.md, "Modes").
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Hash)]
pub enum Mode {
    /// Everything that the format does not allow is an error.
    #[default]
    Strict,
    /// Unknown layouts and schemes, a bad mode order and broken storage invariants are tolerated, so
    /// that what can be reached is reported; their data must not be touched.
    Permissive,
}

/// Everything that is known of a tensor but its data.
///
/// ```
/// use hurray_format::{ElementType, Mode, ModeOrder, Shape, TensorDescriptor};
///
/// // The worked example of docs/format.md: 2, 3 and 4 nodes on its three levels.
/// let descriptor = TensorDescriptor::csf(
///     Shape::new([2, 3, 4])?,
///     ElementType::Float32,
///     &ModeOrder::identity(3)?,
///     &[2, 3, 4],
/// )?;
/// let bytes = descriptor.encode()?;
/// assert_eq!(bytes.len(), 193);
/// assert_eq!(TensorDescriptor::decode(&bytes, 0, Mode::Strict)?, descriptor);
/// # Ok::<(), Box<dyn std::error::Error>>(())
/// ```
#[derive(Clone, Debug, PartialEq)]
pub struct TensorDescriptor {
    /// The logical dimensions.
    pub shape: Shape,
    /// What a value is; a private type brings its extension section along.
    pub element_type: ElementType,
    /// Where the first element lies in buffer 0, in bytes; 0 where the layout has no such place.
    pub byte_offset: u64,
    /// How the elements are arranged.
    pub layout: LayoutDescriptor,
    /// The buffer table: the buffers of the layout, then those of the quantization.
    pub buffers: Vec<BufferHandle>,
    /// What numbers the values stand for.
    pub quantization: Option<Quantization>,
    /// The larger tensor that this one is a box of.
    pub shard: Option<Shard>,
    /// What is said of the values.
    pub statistics: Option<Statistics>,
    /// What this tensor is in the overlay that it belongs to.
    pub member_role: Option<MemberRole>,
}

impl TensorDescriptor {
    /// A tensor of a layout with the given buffers and nothing else. Nothing is checked here; see
    /// [`TensorDescriptor::validate`].
    #[must_use]
    pub fn new(
        shape: Shape,
        element_type: ElementType,
        layout: LayoutDescriptor,
        buffers: Vec<BufferHandle>,
    ) -> Self {
        Self {
            shape,
            element_type,
            byte_offset: 0,
            layout,
            buffers,
            quantization: None,
            shard: None,
            statistics: None,
            member_role: None,
        }
    }

    /// A CSF tensor in main memory. `node_counts` has the number of nodes of each level, outermost
    /// first; the last is nnz.
    ///
    /// # Errors
    /// [`FormatError::ModeOrderLength`] unless mode order and node counts have one entry per
    /// dimension, [`FormatError::RankForLayout`] for a rank below 3, [`FormatError::SizeOverflow`],
    /// and [`FormatError::Layout`] for an empty tensor with nodes.
    pub fn csf(
        shape: Shape,
        element_type: ElementType,
        mode_order: &ModeOrder,
        node_counts: &[u64],
    ) -> Result<Self, FormatError> {
        let rank = shape.rank();
        for found in [mode_order.rank(), node_counts.len()] {
            if found != rank {
                return Err(FormatError::ModeOrderLength { found, rank });
            }
        }
        let nnz = node_counts.last().copied().unwrap_or(0);
        let mut sizes = vec![element_type.byte_length(nnz)];
        let mut parents = 1;
        for &nodes in node_counts {
            sizes.push(pos_size(parents));
            sizes.push(nodes.checked_mul(8));
            parents = nodes;
        }
        let layout = CsfLayout::new(nnz, mode_order.as_slice().to_vec());
        Self::in_main_memory(shape, element_type, LayoutDescriptor::Csf(layout), sizes)
    }

    /// A COO tensor of `nnz` stored elements in main memory.
    ///
    /// # Errors
    /// [`FormatError::RankForLayout`] for a scalar, [`FormatError::SizeOverflow`].
    pub fn coo(
        shape: Shape,
        element_type: ElementType,
        nnz: u64,
        is_sorted: bool,
    ) -> Result<Self, FormatError> {
        let row = 8 * to_u64(shape.rank());
        let sizes = vec![element_type.byte_length(nnz), nnz.checked_mul(row)];
        let layout = LayoutDescriptor::Coo(CooLayout::new(nnz, is_sorted));
        Self::in_main_memory(shape, element_type, layout, sizes)
    }

    /// A row-major tensor in main memory.
    ///
    /// # Errors
    /// [`FormatError::SizeOverflow`] if the size does not fit into 64 bits or a dimension is dynamic.
    pub fn row_major(shape: Shape, element_type: ElementType) -> Result<Self, FormatError> {
        let size = shape.element_count().and_then(|count| element_type.byte_length(count));
        Self::in_main_memory(shape, element_type, LayoutDescriptor::RowMajor, vec![size])
    }

    fn in_main_memory(
        shape: Shape,
        element_type: ElementType,
        layout: LayoutDescriptor,
        sizes: Vec<Option<u64>>,
    ) -> Result<Self, FormatError> {
        let overflow = FormatError::SizeOverflow { what: "a buffer" };
        let buffers = sizes
            .into_iter()
            .map(|size| size.map(BufferHandle::cpu))
            .collect::<Option<Vec<_>>>()
            .ok_or(overflow)?;
        let descriptor = Self::new(shape, element_type, layout, buffers);
        descriptor.validate(Mode::Strict)?;
        Ok(descriptor)
    }

    /// The number of stored elements of a sparse tensor, `None` for any other.
    #[must_use]
    pub fn nnz(&self) -> Option<u64> {
        self.layout.nnz()
    }

    /// The number of nodes of each level of a CSF tensor, outermost first, as the sizes of its
    /// buffers tell; `None` for any other layout. The last is nnz in a valid tensor.
    #[must_use]
    pub fn node_counts(&self) -> Option<Vec<u64>> {
        let LayoutDescriptor::Csf(layout) = &self.layout else { return None };
        let levels = self.buffers.get(1..)?.chunks_exact(2).take(layout.mode_order.len());
        Some(levels.map(|level| level[1].byte_size / 8).collect())
    }

    /// Adds a scheme and its parameter buffers, in main memory and behind the buffers that are there.
    /// The scheme's indices are moved to them in ascending order: only which of them are equal, and
    /// which come first, matters.
    ///
    /// # Errors
    /// What [`TensorDescriptor::validate`] says of the result, and [`FormatError::SizeOverflow`] if
    /// the number of parameters is not known.
    pub fn with_quantization(mut self, quantization: Quantization) -> Result<Self, FormatError> {
        let sizes = quantization
            .buffer_sizes(&self.shape)?
            .ok_or(FormatError::SizeOverflow { what: "a parameter buffer" })?;
        let first = self.buffers.len();
        self.buffers.extend(sizes.into_iter().map(BufferHandle::cpu));
        self.quantization = Some(quantization.with_first_buffer(first));
        self.validate(Mode::Strict)?;
        Ok(self)
    }

    /// Records statistics in place of those that are there.
    ///
    /// # Errors
    /// [`FormatError::Number`] or [`FormatError::Descriptor`] for a field that is out of its range,
    /// or for another nnz than that of the layout.
    pub fn with_statistics(mut self, statistics: Statistics) -> Result<Self, FormatError> {
        statistics.validate(self.nnz())?;
        self.statistics = Some(statistics);
        Ok(self)
    }
}
