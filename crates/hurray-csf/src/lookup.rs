//! Where an index is stored (docs/format.md, "Element Lookup").
//!
//! A lookup is a search among the children of one node per level, and its cost is the cache misses
//! that wait for each other. So the search takes as few steps that depend on one another as it can:
//! none where every coordinate is present, eight parts at a time in long fibers.
//!
//! Only what is found is believed: a node counts as found when its own coordinate is the one
//! sought. On levels that are not valid an index may not be found, or found at a wrong place; no
//! contents make a lookup panic or run longer.

use std::ops::Range;

use hurray_format::cast::{to_u64, to_usize};
use hurray_format::{ModeOrder, Shape};

use crate::error::IndexError;
use crate::tree::{Csf, Level};

/// Children up to this many are counted instead of searched.
pub(crate) const SCAN: usize = 16;

impl<S: AsRef<[u64]>> Csf<S> {
    /// The leaf position of the element at a logical index, or `None` if none is stored there,
    /// which makes it 0. One search per level, O(log siblings) each.
    ///
    /// # Errors
    /// [`IndexError`] for a wrong number of coordinates, or one outside its dimension.
    ///
    /// ```
    /// # use hurray_csf::{Csf, Level};
    /// # use hurray_format::{ModeOrder, Shape};
    /// let tree = Csf::new(
    ///     Shape::new([2, 3, 4])?,
    ///     ModeOrder::identity(3)?,
    ///     vec![
    ///         Level { pos: vec![0, 2], crd: vec![0, 1] },
    ///         Level { pos: vec![0, 2, 3], crd: vec![0, 2, 1] },
    ///         Level { pos: vec![0, 1, 2, 4], crd: vec![1, 3, 0, 2] },
    ///     ],
    /// )?;
    /// assert_eq!(tree.lookup(&[1, 1, 2])?, Some(3));
    /// assert_eq!(tree.lookup(&[1, 1, 1])?, None);
    /// assert!(tree.lookup(&[2, 0, 0]).is_err());
    /// # Ok::<(), Box<dyn std::error::Error>>(())
    /// ```
    pub fn lookup(&self, index: &[u64]) -> Result<Option<usize>, IndexError> {
        check_index(self.shape(), index)?;
        Ok(search(self.levels(), self.shape(), self.mode_order(), 0, 0..self.node_count(0), index))
    }
}

/// Checks that an index is one of the tensor's.
pub(crate) fn check_index(shape: &Shape, index: &[u64]) -> Result<(), IndexError> {
    if index.len() != shape.rank() {
        return Err(IndexError::Rank { found: index.len(), rank: shape.rank() });
    }
    let mut coordinates = index.iter().enumerate();
    coordinates.try_for_each(|(dimension, &c)| check_coordinate(shape, dimension, c))
}

/// Checks that a coordinate is below its dimension.
#[inline]
pub(crate) fn check_coordinate(
    shape: &Shape,
    dimension: usize,
    coordinate: u64,
) -> Result<(), IndexError> {
    if shape.contains(dimension, coordinate) {
        return Ok(());
    }
    Err(IndexError::OutOfRange { dimension, coordinate, size: shape.dimensions()[dimension] })
}

/// Descends from `nodes` of level `depth` to the leaf at a checked logical index.
#[inline]
pub(crate) fn search<S: AsRef<[u64]>>(
    levels: &[Level<S>],
    shape: &Shape,
    mode_order: &ModeOrder,
    depth: usize,
    nodes: Range<usize>,
    index: &[u64],
) -> Option<usize> {
    let mut nodes = nodes;
    for (number, level) in levels.iter().enumerate().skip(depth) {
        if number > depth {
            nodes = child_range(level.pos.as_ref(), level.crd.as_ref().len(), nodes.start);
        }
        let dimension = mode_order.dimension(number);
        let size = shape.dimensions()[dimension];
        let node = find(level.crd.as_ref(), nodes, index[dimension], size)?;
        nodes = node..node + 1;
    }
    Some(nodes.start)
}

/// The children of node `parent` among the `len` nodes of a level, empty where `pos` is not to be
/// believed.
#[inline]
pub(crate) fn child_range(pos: &[u64], len: usize, parent: usize) -> Range<usize> {
    // A line of a dynamic dimension may be any number: nothing may be added to it.
    let Some(&[start, end, ..]) = pos.get(parent..) else { return 0..0 };
    let end = to_usize(end).min(len);
    to_usize(start).min(end)..end
}

/// The node among the siblings `nodes` whose coordinate is `coordinate`, along a dimension of
/// `size`.
#[inline]
pub(crate) fn find(crd: &[u64], nodes: Range<usize>, coordinate: u64, size: u64) -> Option<usize> {
    let start = nodes.start;
    let siblings = crd.get(nodes)?;
    let offset = if to_u64(siblings.len()) == size {
        // As many siblings as there are coordinates: each is at its own place.
        to_usize(coordinate)
    } else {
        lower_bound(siblings, coordinate)
    };
    (siblings.get(offset) == Some(&coordinate)).then_some(start + offset)
}

/// The number of coordinates below `sought` in a sorted slice.
///
/// Looks at seven places of a long slice at once. They do not depend on one another, so their cache
/// misses overlap, and a slice takes a third of the steps of a binary search.
#[inline]
pub(crate) fn lower_bound(sorted: &[u64], sought: u64) -> usize {
    const PARTS: usize = 8;
    let mut start = 0;
    let mut window = sorted;
    while window.len() > SCAN {
        let step = window.len() / PARTS;
        let below: usize =
            (1..PARTS).map(|part| usize::from(window[part * step - 1] < sought)).sum();
        // The last place of the next part is not below what is sought, or there is none.
        let end = if below + 1 < PARTS { (below + 1) * step - 1 } else { window.len() };
        window = &window[below * step..end];
        start += below * step;
    }
    start + window.iter().filter(|&&coordinate| coordinate < sought).count()
}
