//! Layouts: how the elements of a tensor are arranged in its buffers.

mod coo;
mod csf;

use std::num::NonZeroUsize;

pub use coo::CooLayout;
pub use csf::CsfLayout;

use crate::error::FormatError;
use crate::shape::Shape;

/// The smallest rank of a CSF tensor (CSF section, "Validity Constraints").
pub const MIN_CSF_RANK: usize = 3;

/// The layout of a tensor with its fields.
#[derive(Clone, Debug, PartialEq, Eq)]
#[non_exhaustive]
pub enum LayoutDescriptor {
    /// Dense, the last dimension fastest, tag `0x01`.
    RowMajor,
    /// A list of coordinates, tag `0x06`.
    Coo(CooLayout),
    /// Compressed sparse fiber, tag `0x09`.
    Csf(CsfLayout),
}

impl LayoutDescriptor {
    /// The tag of the layout.
    #[must_use]
    pub fn tag(&self) -> u8 {
        match self {
            LayoutDescriptor::RowMajor => 0x01,
            LayoutDescriptor::Coo(_) => 0x06,
            LayoutDescriptor::Csf(_) => 0x09,
        }
    }

    /// The number of buffers that the layout itself needs; parameter buffers of a quantization
    /// follow behind them.
    #[must_use]
    pub fn buffer_count(&self) -> Option<NonZeroUsize> {
        NonZeroUsize::new(match self {
            LayoutDescriptor::RowMajor => 1,
            LayoutDescriptor::Coo(_) => 2,
            LayoutDescriptor::Csf(layout) => layout.buffer_count(),
        })
    }

    /// Checks the fields against the logical shape.
    ///
    /// # Errors
    /// [`FormatError::RankForLayout`] for a rank that the layout does not have,
    /// [`FormatError::ModeOrderLength`], [`FormatError::ModeOrderRange`] or
    /// [`FormatError::ModeOrderDuplicate`] for a mode order that is not a permutation of the
    /// dimensions.
    pub fn validate_against_shape(&self, shape: &Shape) -> Result<(), FormatError> {
        match self {
            LayoutDescriptor::RowMajor => Ok(()),
            LayoutDescriptor::Coo(layout) => layout.validate_against_shape(shape),
            LayoutDescriptor::Csf(layout) => layout.validate_against_shape(shape),
        }
    }
}

/// The error of a layout that has no scalars.
fn scalar_error(layout: &'static str) -> FormatError {
    FormatError::RankForLayout { layout, rank: 0, advice: "scalars are row-major" }
}
