//! Row-major and column-major, and what all dense layouts have in common
//! (docs/format.md, "Layouts"; tags `0x01` and `0x02`).

use super::{Extent, LayoutError};
use crate::error::FormatError;
use crate::shape::Shape;

/// A dense tensor has to hold as many elements as its shape says, whichever dimension runs fastest.
pub(super) fn validate_buffers(extent: &Extent<'_>) -> Result<(), FormatError> {
    if extent.shape.is_dynamic() {
        return Ok(());
    }
    let elements = extent.shape.element_count();
    if byte_length(extent, elements).is_err() {
        let (shape, element_type) = (extent.shape.clone(), extent.element_type);
        return Err(LayoutError::DenseOverflow { shape, element_type }.into());
    }
    hold(extent, elements)
}

/// Buffer 0 holds at least `elements` elements behind `byte_offset`; `None` is a number that does
/// not fit into 64 bits.
pub(super) fn hold(extent: &Extent<'_>, elements: Option<u64>) -> Result<(), FormatError> {
    let needed = byte_length(extent, elements)?;
    let found = extent.byte_size(0);
    let byte_offset = extent.byte_offset;
    if found.checked_sub(byte_offset).is_none_or(|available| available < needed) {
        return Err(LayoutError::DenseSize { needed, byte_offset, found }.into());
    }
    Ok(())
}

/// The bytes that `elements` elements take.
pub(super) fn byte_length(extent: &Extent<'_>, elements: Option<u64>) -> Result<u64, FormatError> {
    elements
        .and_then(|elements| extent.element_type.byte_length(elements))
        .ok_or(FormatError::SizeOverflow { what: "the elements" })
}

/// Only row-major tensors can be scalars.
pub(super) fn not_scalar(layout: &'static str, shape: &Shape) -> Result<(), FormatError> {
    if shape.rank() == 0 {
        return Err(FormatError::RankForLayout {
            layout,
            rank: 0,
            advice: "scalars are row-major",
        });
    }
    Ok(())
}

/// A field with one entry per dimension has as many entries as there are dimensions.
pub(super) fn one_each(
    field: &'static str,
    found: usize,
    shape: &Shape,
) -> Result<(), FormatError> {
    let rank = shape.rank();
    if found == rank { Ok(()) } else { Err(LayoutError::Entries { field, found, rank }.into()) }
}
