//! Iteration leaf by leaf, with logical indices.

use std::ops::Range;

use hurray_format::cast::to_usize;

use super::{Fibers, place};

/// A walk over single elements with their logical indices, in storage order. See
/// [`Csf::leaves`](crate::Csf::leaves).
///
/// The indices borrow from the walk, so this is not an [`Iterator`]: use
/// `while let Some((index, leaf)) = leaves.next()`, or [`for_each`](Self::for_each), which is
/// faster.
#[derive(Clone, Debug)]
pub struct Leaves<'a> {
    fibers: Fibers<'a>,
    index: Vec<u64>,
    dimension: usize,
    crd: std::slice::Iter<'a, u64>,
    position: usize,
}

/// Leaves of a fiber from which on it gets a loop of its own.
const LONG: usize = 16;

impl<'a> Leaves<'a> {
    pub(super) fn new(fibers: Fibers<'a>) -> Self {
        let index = vec![0; fibers.dimensions.len()];
        let dimension = fibers.dimensions.last().map_or(0, |&dimension| dimension as usize);
        Self { fibers, index, dimension, crd: [].iter(), position: 0 }
    }

    /// The logical index of the next element and its leaf position.
    #[expect(clippy::should_implement_trait, reason = "an Iterator cannot lend")]
    #[inline]
    pub fn next(&mut self) -> Option<(&[u64], usize)> {
        let coordinate = match self.crd.next() {
            Some(&coordinate) => coordinate,
            None => {
                let leaves = self.fibers.advance()?;
                place(&self.fibers.coordinates, self.fibers.dimensions, &mut self.index);
                self.position = leaves.start;
                self.crd = self.fibers.leaf_crd[leaves].iter();
                *self.crd.next()?
            }
        };
        self.index[self.dimension] = coordinate;
        let position = self.position;
        self.position += 1;
        Some((&self.index, position))
    }

    /// Calls `f` with the logical index and the leaf position of each element that is left.
    #[inline]
    pub fn for_each(self, mut f: impl FnMut(&[u64], usize)) {
        let Self { mut fibers, mut index, dimension, crd, position } = self;
        for (&coordinate, position) in crd.zip(position..) {
            index[dimension] = coordinate;
            f(&index, position);
        }
        let [.., node_dimension, _] = *fibers.dimensions else { return };
        let node_dimension = node_dimension as usize;
        while let Some(run) = fibers.next_run() {
            place(&fibers.coordinates, fibers.dimensions, &mut index);
            let Range { start: mut leaf, end: last } = fibers.leaves;
            let (mut node, mut end) = (0, usize::MAX);
            while leaf < last {
                // Most fibers of many tensors are so short that no processor foresees where the
                // next one begins, and a wrong guess takes longer than a few leaves. So the step
                // to the next node is a sum.
                node += usize::from(leaf >= end);
                let (Some(&fiber_end), Some(&coordinate)) = (run.ends.get(node), run.crd.get(node))
                else {
                    break;
                };
                end = to_usize(fiber_end);
                if leaf >= end {
                    continue;
                }
                index[node_dimension] = coordinate;
                if end - leaf >= LONG {
                    let stop = end.min(last);
                    for (&coordinate, leaf) in fibers.leaf_crd[leaf..stop].iter().zip(leaf..) {
                        index[dimension] = coordinate;
                        f(&index, leaf);
                    }
                    leaf = stop;
                } else {
                    index[dimension] = fibers.leaf_crd[leaf];
                    f(&index, leaf);
                    leaf += 1;
                }
            }
            fibers.leaves.start = leaf;
        }
    }
}
