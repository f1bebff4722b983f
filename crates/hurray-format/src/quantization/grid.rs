//! Which parameters belong to which element: the grid of channels or blocks that a scheme lays
//! over the logical tensor.

use super::QuantizationError;
use crate::error::FormatError;
use crate::shape::Shape;

/// How a scheme divides the logical tensor into parts that have parameters of their own. A channel
/// is a part of thickness 1 that runs through all other dimensions; a block has length 1 along all
/// dimensions but its own.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Grid {
    /// One part per index along the axis.
    Channels { axis: u32 },
    /// `ceil(shape[axis] / block)` parts along the axis for every index of the other dimensions.
    Blocks { axis: u32, block: u32 },
}

impl Grid {
    fn axis(self) -> usize {
        match self {
            Grid::Channels { axis } | Grid::Blocks { axis, .. } => axis as usize,
        }
    }

    /// The axis exists and its size is known.
    pub(super) fn validate(self, shape: &Shape) -> Result<u64, QuantizationError> {
        let (Grid::Channels { axis } | Grid::Blocks { axis, .. }) = self;
        match shape.dimensions().get(axis as usize) {
            None => Err(QuantizationError::Axis { axis, rank: shape.rank() }),
            Some(&Shape::DYNAMIC) => Err(QuantizationError::DynamicAxis { axis }),
            Some(&size) => Ok(size),
        }
    }

    /// The number of parts, `None` if a dimension is not known that it depends on. The axis must
    /// exist.
    pub(super) fn count(self, shape: &Shape) -> Result<Option<u64>, FormatError> {
        let sizes = shape.dimensions();
        match self {
            Grid::Channels { .. } => Ok(Some(sizes[self.axis()])),
            Grid::Blocks { .. } if shape.is_dynamic() => Ok(None),
            Grid::Blocks { .. } if sizes.contains(&0) => Ok(Some(0)),
            Grid::Blocks { block, .. } => {
                let parts = |k: usize| match k == self.axis() {
                    true => sizes[k].div_ceil(block.into()),
                    false => sizes[k],
                };
                (0..sizes.len())
                    .try_fold(1u64, |count, k| count.checked_mul(parts(k)))
                    .map(Some)
                    .ok_or(FormatError::SizeOverflow { what: "the number of blocks" })
            }
        }
    }

    /// The shape with the axis rounded up to whole blocks, which is what dense layouts store.
    pub(super) fn whole_blocks(self, shape: &Shape) -> Result<Shape, FormatError> {
        let mut sizes = shape.dimensions().to_vec();
        if let (Grid::Blocks { block, .. }, Some(size)) = (self, sizes.get_mut(self.axis()))
            && *size != Shape::DYNAMIC
        {
            *size = size
                .checked_next_multiple_of(u64::from(block).max(1))
                .filter(|&size| size != Shape::DYNAMIC)
                .ok_or(FormatError::SizeOverflow { what: "the blocks of a dimension" })?;
        }
        Shape::new(sizes)
    }

    /// The part that the element at `index` belongs to, `None` if it lies outside the shape.
    /// O(1) for channels, O(rank) for blocks.
    ///
    /// `b = outer * ceil(shape[axis] / block) + index[axis] / block`, where `outer` is the row-major
    /// index over the other dimensions (docs/format.md, "Quantization").
    pub(super) fn part(self, shape: &Shape, index: &[u64]) -> Option<u64> {
        let sizes = shape.dimensions();
        if index.len() != sizes.len() || index.iter().zip(sizes).any(|(i, size)| i >= size) {
            return None;
        }
        let axis = self.axis();
        match self {
            Grid::Channels { .. } => index.get(axis).copied(),
            Grid::Blocks { block, .. } => {
                let outer = index
                    .iter()
                    .zip(sizes)
                    .enumerate()
                    .filter(|(k, _)| *k != axis)
                    .try_fold(0u64, |outer, (_, (&i, &size))| {
                        outer.checked_mul(size)?.checked_add(i)
                    })?;
                let block = u64::from(block);
                let blocks = sizes.get(axis)?.div_ceil(block);
                outer.checked_mul(blocks)?.checked_add(index[axis] / block)
            }
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn blocks_are_numbered_row_major_with_the_axis_innermost() {
        let shape = Shape::new([2, 5, 3]).unwrap();
        let grid = Grid::Blocks { axis: 1, block: 2 };
        // Three blocks along dimension 1, the last of them partial, for every (i, k).
        let mut blocks = Vec::new();
        for i in 0..2 {
            for k in 0..3 {
                for j in 0..5 {
                    blocks.push(grid.part(&shape, &[i, j, k]).unwrap());
                }
            }
        }
        let expected: Vec<u64> = (0..6).flat_map(|o| [0, 0, 1, 1, 2].map(|b| 3 * o + b)).collect();
        assert_eq!(blocks, expected);
        assert_eq!(grid.count(&shape), Ok(Some(18)));
        assert_eq!(grid.whole_blocks(&shape).unwrap().dimensions(), [2, 6, 3]);
    }

    #[test]
    fn an_index_outside_the_shape_has_no_parameters() {
        let shape = Shape::new([2, 5, 3]).unwrap();
        for grid in [Grid::Channels { axis: 2 }, Grid::Blocks { axis: 1, block: 4 }] {
            assert!(grid.part(&shape, &[1, 4, 2]).is_some());
            assert_eq!(grid.part(&shape, &[1, 5, 2]), None);
            assert_eq!(grid.part(&shape, &[1, 4]), None);
        }
    }

    #[test]
    fn the_number_of_blocks_is_checked() {
        let huge = Shape::new([1 << 40, 1 << 40, 4]).unwrap();
        let grid = Grid::Blocks { axis: 2, block: 4 };
        assert_eq!(
            grid.count(&huge),
            Err(FormatError::SizeOverflow { what: "the number of blocks" })
        );
        assert_eq!(grid.count(&Shape::new([1 << 40, 0, 4]).unwrap()), Ok(Some(0)));
        assert_eq!(grid.count(&Shape::new([Shape::DYNAMIC, 2, 4]).unwrap()), Ok(None));
    }
}
