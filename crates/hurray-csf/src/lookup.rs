//! Where an index is stored (docs/format.md, "Element Lookup").
//!
//! A lookup is a search among the children of one node per level, and its cost is the cache misses
//! that wait for each other. So the search takes as few steps that depend on one another as it can.
//! Since siblings ascend and are in bounds, their number alone tells much about where a coordinate
//! is, and all of it where every coordinate is present; in long fibers it is sought first where it
//! would be if they were spread evenly; then eight parts are told apart at a time.
//!
//! Only what is found is believed: a node counts as found when its own coordinate is the one
//! sought. On levels that are not valid an index may not be found, or found at a wrong place; no
//! contents make a lookup panic or run longer.

use std::ops::Range;

use hurray_format::cast::to_usize;
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
    let offset = offset_if_found(siblings, coordinate, size);
    (siblings.get(offset) == Some(&coordinate)).then_some(start + offset)
}

/// Where among `siblings` the coordinate `sought` is if it is there.
///
/// The branches here are meant to be foreseen: the processor then goes on to the next level before
/// it has seen this one.
#[inline]
fn offset_if_found(siblings: &[u64], sought: u64, size: u64) -> usize {
    let len = siblings.len();
    // There are only so many coordinates below the one sought, and, if the dimension has a size,
    // from it on.
    let mut end = to_usize(sought).saturating_add(1).min(len);
    let mut start = match size {
        Shape::DYNAMIC => 0,
        _ => len.saturating_sub(to_usize(size.saturating_sub(sought))).min(end),
    };
    if end - start <= 1 {
        return start;
    }
    // Low coordinates of skewed tensors are nearly all present.
    if end < len && siblings[end - 1] == sought {
        return end - 1;
    }
    if end - start > LONG {
        let guess = evenly_spread(len, sought, size);
        // About the standard deviation of a coordinate that is spread evenly, or two.
        let deviation = 1 << (len.ilog2() / 2);
        let first = guess.saturating_sub(deviation).clamp(start, end - 1);
        let last = guess.saturating_add(deviation).clamp(start, end - 1);
        // Both are looked at before anything depends on it, so that their cache misses overlap.
        let (first_coordinate, last_coordinate) = (siblings[first], siblings[last]);
        if first_coordinate >= sought {
            end = first + 1;
        } else if last_coordinate < sought {
            start = last + 1;
        } else {
            (start, end) = (first + 1, last + 1);
        }
    }
    start + lower_bound(&siblings[start..end], sought)
}

/// Siblings from which on it pays to guess.
const LONG: usize = 64;

/// How many of `len` coordinates are below `sought` if they are spread evenly over `size`.
#[expect(
    clippy::cast_possible_truncation,
    clippy::cast_sign_loss,
    reason = "it is about len or less, and a guess"
)]
fn evenly_spread(len: usize, sought: u64, size: u64) -> usize {
    (len as f64 * sought as f64 / size as f64) as usize
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

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn every_coordinate_is_found_or_not_however_the_siblings_are_spread() {
        const SIZE: u64 = 5_000;
        let even = |step: usize| (0..SIZE).step_by(step).collect::<Vec<_>>();
        let squares: Vec<u64> = (0..70).map(|c| c * c).collect();
        let from_the_top: Vec<u64> = squares.iter().rev().map(|c| SIZE - 1 - c).collect();
        let with_gaps: Vec<u64> = (0..SIZE).filter(|c| c % 97 != 13).collect();
        let halves: Vec<u64> = (0..300).chain(4_600..4_999).collect();
        let clump: Vec<u64> = (2_000..2_400).collect();
        let short = vec![0, 1, 7, 8, 4_999];
        let all = [
            even(1),
            even(2),
            even(3),
            even(71),
            even(4_999),
            squares,
            from_the_top,
            with_gaps,
            halves,
            clump,
            short,
            vec![4_999],
            vec![],
        ];
        for siblings in all {
            let crd: Vec<u64> = [1, 2].into_iter().chain(siblings.iter().copied()).collect();
            for sought in 0..SIZE {
                let expected = siblings.iter().position(|&c| c == sought).map(|offset| 2 + offset);
                assert_eq!(find(&crd, 2..crd.len(), sought, SIZE), expected, "{sought}");
            }
        }
    }

    #[test]
    fn siblings_that_are_not_valid_are_searched_without_harm() {
        let falling: Vec<u64> = (0..500).rev().collect();
        let equal = vec![3; 500];
        let huge = vec![u64::MAX; 500];
        for crd in [falling, equal, huge] {
            for size in [4, 500, 501, 1_000, u64::MAX] {
                for sought in [0, 1, 3, 250, 499, u64::MAX - 1] {
                    let found = find(&crd, 0..crd.len(), sought, size);
                    assert!(found.is_none_or(|node| crd[node] == sought));
                }
            }
        }
        assert_eq!(find(&[0, 1], 1..3, 1, 9), None);
    }

    #[test]
    fn the_largest_coordinate_of_a_dynamic_dimension_is_found() {
        let crd: Vec<u64> = (0..100).chain([u64::MAX - 1, u64::MAX]).collect();
        for (node, &sought) in crd.iter().enumerate() {
            assert_eq!(find(&crd, 0..crd.len(), sought, Shape::DYNAMIC), Some(node));
        }
    }
}
