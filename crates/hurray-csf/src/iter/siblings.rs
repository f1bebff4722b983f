//! Iteration over fibers that have the same parent.

use std::ops::Range;
use std::slice;

use hurray_format::cast::to_usize;

use super::Run;

/// The fibers that have the same parent, or those of them that a walk has left: an iterator over
/// the coordinate of each, the innermost coordinates, and the positions of the leaves, as many of
/// one as of the other and at least one. See [`Fibers::next_siblings`](super::Fibers::next_siblings).
///
/// O(1) for each fiber. Fibers without elements are passed over. The walk goes on behind the last
/// of the siblings, whether they were all looked at or not.
#[derive(Debug)]
pub struct Siblings<'a> {
    outer: &'a [u64],
    /// Where the leaves of each fiber end, and its coordinate.
    ends: slice::Iter<'a, u64>,
    crd: slice::Iter<'a, u64>,
    /// The coordinates of the leaves up to the last one of the walk.
    leaf_crd: &'a [u64],
    start: usize,
    /// Where the walk goes on. It is told at the end: where the last fiber ends may be pages ahead,
    /// and memory that the loop has reached by then is at hand.
    walked: &'a mut usize,
}

impl<'a> Siblings<'a> {
    /// The fibers of a run, below the first of the `coordinates` of a walk.
    #[inline]
    pub(super) fn new(run: &Run<'a>, coordinates: &'a [u64], walked: &'a mut usize) -> Self {
        Self {
            outer: coordinates.split_last().map_or(&[], |(_, outer)| outer),
            ends: run.ends.iter(),
            crd: run.crd.iter(),
            leaf_crd: &run.leaf_crd[..run.leaves.end],
            start: run.leaves.start,
            walked,
        }
    }

    /// The coordinates that all elements share, in storage order: one for each level above the
    /// last two, also for the levels that a sub-tree fixes.
    #[must_use]
    #[inline]
    pub fn outer(&self) -> &'a [u64] {
        self.outer
    }
}

impl<'a> Iterator for Siblings<'a> {
    type Item = (u64, &'a [u64], Range<usize>);

    // Always, so that it is compiled for what the caller is compiled for.
    #[inline(always)]
    fn next(&mut self) -> Option<Self::Item> {
        loop {
            let (&end, &coordinate) = (self.ends.next()?, self.crd.next()?);
            let end = to_usize(end).min(self.leaf_crd.len());
            // As in a walk: begins are where the one before ended, whatever pos says.
            if end > self.start {
                let leaves = self.start..end;
                self.start = end;
                return Some((coordinate, &self.leaf_crd[leaves.clone()], leaves));
            }
        }
    }

    #[inline]
    fn size_hint(&self) -> (usize, Option<usize>) {
        (0, Some(self.ends.len()))
    }
}

impl Drop for Siblings<'_> {
    #[inline(always)]
    fn drop(&mut self) {
        // The leaves of fibers that nobody looked at are passed over too.
        let end = self.ends.as_slice().last().map_or(0, |&end| to_usize(end));
        *self.walked = self.start.max(end.min(self.leaf_crd.len()));
    }
}
