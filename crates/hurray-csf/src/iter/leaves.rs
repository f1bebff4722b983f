//! Iteration leaf by leaf, with logical indices.

use std::ops::Range;

use hurray_format::cast::to_usize;

use super::{Fibers, Run, place};

/// A walk over single elements with their logical indices, in storage order. See
/// [`Csf::leaves`](crate::Csf::leaves).
///
/// The indices borrow from the walk, so this is not an [`Iterator`]: use
/// `while let Some((index, leaf)) = leaves.next()`, or [`for_each`](Self::for_each) or
/// [`fold`](Self::fold), which are faster.
#[derive(Clone, Debug)]
pub struct Leaves<'a> {
    fibers: Fibers<'a>,
    index: Vec<u64>,
    dimension: usize,
    crd: std::slice::Iter<'a, u64>,
    position: usize,
}

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
        self.fold((), |(), index, leaf| f(index, leaf));
    }

    /// Calls `f` with what it made of the elements before, at first `init`, and the logical index
    /// and the leaf position of each element that is left. What is handed on this way stays in
    /// registers, so a sum is faster than with [`for_each`](Self::for_each).
    #[inline]
    pub fn fold<T>(self, init: T, mut f: impl FnMut(T, &[u64], usize) -> T) -> T {
        let Self { mut fibers, mut index, dimension, crd, position } = self;
        let mut made = init;
        for (&coordinate, position) in crd.zip(position..) {
            index[dimension] = coordinate;
            made = f(made, &index, position);
        }
        let [.., node_dimension, _] = *fibers.dimensions else { return made };
        let dimensions = [node_dimension as usize, dimension];
        let mut ended = [0; BLOCK];
        let leaves = fibers.remaining().len();
        let single = leaves - leaves / 8 <= fibers.remaining_fibers();
        while let Some(run) = fibers.next_run() {
            place(&fibers.coordinates, fibers.dimensions, &mut index);
            (made, fibers.leaves.start) = if single {
                fold_fibers(&run, dimensions, &mut index, made, &mut f)
            } else {
                fold_blocks(&run, dimensions, &mut ended, &mut index, made, &mut f)
            };
        }
        made
    }
}

/// The most leaves of short fibers that are walked over at a time.
const BLOCK: usize = 256;

/// Leaves from which on a fiber is not short.
const LONG: usize = 16;

/// The part of a fold that lies in one run, fiber by fiber: the faster way where nearly all fibers
/// have one leaf, which processors foresee.
///
/// A function of its own, since compilers keep what is made in memory in a loop around which there
/// are calls.
#[inline(never)]
fn fold_fibers<T>(
    run: &Run<'_>,
    [node_dimension, dimension]: [usize; 2],
    index: &mut [u64],
    mut made: T,
    f: &mut impl FnMut(T, &[u64], usize) -> T,
) -> (T, usize) {
    let Range { mut start, end: last } = run.leaves;
    for (&end, &coordinate) in run.ends.iter().zip(run.crd) {
        let end = to_usize(end).min(last);
        if end > start {
            index[node_dimension] = coordinate;
            for (&coordinate, leaf) in run.leaf_crd[start..end].iter().zip(start..) {
                index[dimension] = coordinate;
                made = f(made, index, leaf);
            }
            start = end;
        }
    }
    (made, start)
}

/// The part of a fold that lies in one run, many fibers at a time. `ended` is 0 everywhere before
/// and after.
#[inline(never)]
fn fold_blocks<T>(
    run: &Run<'_>,
    [node_dimension, dimension]: [usize; 2],
    ended: &mut [usize; BLOCK],
    index: &mut [u64],
    mut made: T,
    f: &mut impl FnMut(T, &[u64], usize) -> T,
) -> (T, usize) {
    let (mut ends, mut nodes, mut start) = (run.ends, run.crd, run.leaves.start);
    let mut leaf_crd = &run.leaf_crd[run.leaves.clone()];
    while let (Some(&end), Some(&coordinate)) = (ends.first(), nodes.first()) {
        // Most fibers of many tensors are so short that no processor foresees where the next one
        // begins, and a wrong guess takes longer than a few leaves. So it is counted first how
        // many of them end before each leaf, and the way to the node of a leaf is a sum.
        let (mut fibers, mut length, most) = (0, 0, leaf_crd.len().min(BLOCK - 1));
        for &end in ends {
            let end = to_usize(end).wrapping_sub(start);
            if end > most || end.wrapping_sub(length) >= LONG {
                break;
            }
            ended[end] += 1;
            length = end;
            fibers += 1;
        }
        if fibers > 0 {
            let mut node = 0;
            for ((&coordinate, &ended), leaf) in leaf_crd[..length].iter().zip(&*ended).zip(start..)
            {
                node += ended;
                index[node_dimension] = nodes.get(node).copied().unwrap_or(0);
                index[dimension] = coordinate;
                made = f(made, index, leaf);
            }
            ended[..=length].fill(0);
        } else {
            fibers = 1;
            length = to_usize(end).saturating_sub(start).min(leaf_crd.len());
            index[node_dimension] = coordinate;
            for (&coordinate, leaf) in leaf_crd[..length].iter().zip(start..) {
                index[dimension] = coordinate;
                made = f(made, index, leaf);
            }
        }
        (ends, nodes) = (&ends[fibers..], &nodes[fibers..]);
        (start, leaf_crd) = (start + length, &leaf_crd[length..]);
    }
    (made, start)
}
