//! Iteration in storage order: whole fibers as slices, or leaf by leaf.
//!
//! Siblings lie side by side and so do their children, so in a valid tree the depth-first order of
//! docs/format.md ("Iteration") is the order of the positions at every level. A walk is therefore
//! one cursor per level, and every cursor only ever moves forward. That gives three things at once:
//! no recursion; pieces that begin at any leaf, even in the middle of a fiber; and time linear in
//! the arrays whatever `pos` holds, since a `pos` that goes back cannot take a cursor along.
//!
//! Everything here goes through [`Fibers`]: a tree, a [`Subtree`](crate::Subtree) and a piece of
//! either are walked by the same code.

mod leaves;
mod siblings;

use std::ops::Range;

use hurray_format::cast::{to_u64, to_usize};
#[cfg(feature = "parallel")]
use rayon::prelude::*;

use crate::tree::{Csf, Level};

pub use leaves::Leaves;
pub use siblings::Siblings;

/// Which part of a tree to walk: a range of leaves, and for each level above them the nodes over
/// the first and the last of these leaves. On untrusted levels the nodes are only bounds.
#[derive(Clone, Debug)]
pub(crate) struct Span {
    pub(crate) first: Vec<usize>,
    pub(crate) last: Vec<usize>,
    pub(crate) leaves: Range<usize>,
}

/// A run of stored elements that differ in their innermost coordinate only: a fiber of the leaf
/// level, or a part of one where pieces were cut.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Fiber<'a> {
    outer: &'a [u64],
    dimensions: &'a [u32],
    crd: &'a [u64],
    start: usize,
}

impl<'a> Fiber<'a> {
    /// The coordinates that all elements share, in storage order: one for each level above the
    /// leaves, also for the levels that a sub-tree fixes.
    #[must_use]
    #[inline]
    pub fn outer(&self) -> &'a [u64] {
        self.outer
    }

    /// The innermost coordinates: a slice of `crd` of the leaf level, never empty.
    #[must_use]
    #[inline]
    pub fn crd(&self) -> &'a [u64] {
        self.crd
    }

    /// The positions of the leaves, one for each entry of [`crd`](Self::crd); values are found
    /// there.
    #[must_use]
    #[inline]
    pub fn leaves(&self) -> Range<usize> {
        self.start..self.start + self.crd.len()
    }

    /// The dimension along which the fiber runs.
    #[must_use]
    #[inline]
    pub fn dimension(&self) -> usize {
        self.dimensions.last().map_or(0, |&dimension| dimension as usize)
    }

    /// Places the outer coordinates in a logical index: coordinate `L` at dimension
    /// `mode_order[L]`. The entry at [`dimension`](Self::dimension) is left for the coordinates of
    /// [`crd`](Self::crd). O(rank).
    ///
    /// # Panics
    /// If `index` does not have an entry for each dimension.
    #[inline]
    pub fn place(&self, index: &mut [u64]) {
        place(self.outer, self.dimensions, index);
    }
}

/// Puts storage-order coordinates at their dimensions.
#[inline]
fn place(coordinates: &[u64], dimensions: &[u32], index: &mut [u64]) {
    for (&coordinate, &dimension) in coordinates.iter().zip(dimensions) {
        index[dimension as usize] = coordinate;
    }
}

/// A walk over fibers, in storage order. See [`Csf::fibers`].
///
/// The fibers borrow the coordinates from the walk, so this is not an [`Iterator`]: use
/// `while let Some(fiber) = fibers.next()`, or [`for_each`](Self::for_each).
///
/// Fibers without elements are passed over. Levels that are not valid give wrong fibers, but each
/// leaf position at most once, and the walk ends in time linear in the arrays.
#[derive(Clone, Debug)]
pub struct Fibers<'a> {
    levels: Vec<Level<&'a [u64]>>,
    dimensions: &'a [u32],
    /// The cursor of each level above the fibers, and where it has to stay at the latest.
    path: Vec<usize>,
    last: Vec<usize>,
    /// The node whose fiber comes next, the last one, and the first that has another parent.
    node: usize,
    last_node: usize,
    run_end: u64,
    /// The leaves that are left.
    leaves: Range<usize>,
    /// The coordinates of the path and of the node, in storage order.
    coordinates: Vec<u64>,
    node_crd: &'a [u64],
    leaf_pos: &'a [u64],
    leaf_crd: &'a [u64],
}

/// The nodes above the leaves that have the same parent: where the fiber of each ends, and their
/// coordinates, as many of one as of the other. And the leaves that are left in the walk when it
/// comes to them, and the coordinates of all leaves.
///
/// It does not say where the last fiber ends: that may be pages ahead, and who looks there first
/// waits for memory that is at hand by the time the walk gets there.
struct Run<'a> {
    ends: &'a [u64],
    crd: &'a [u64],
    leaves: Range<usize>,
    leaf_crd: &'a [u64],
}

impl<'a> Fibers<'a> {
    /// A walk over the part `span` of a tree of at least three levels. O(rank).
    pub(crate) fn new(levels: Vec<Level<&'a [u64]>>, dimensions: &'a [u32], span: Span) -> Self {
        let [.., nodes, leaves] = &levels[..] else { unreachable!("a tree has three levels") };
        let (node_crd, leaf_pos, leaf_crd) = (nodes.crd, leaves.pos, leaves.crd);
        let (mut path, mut last) = (span.first, span.last);
        let coordinates =
            path.iter().zip(&levels).map(|(&node, level)| crd_at(level.crd, node)).collect();
        let node = path.pop().unwrap_or(0);
        let last_node = last.pop().unwrap_or(0);
        let leaves = span.leaves;
        let mut fibers = Self {
            levels,
            dimensions,
            path,
            last,
            node,
            last_node,
            run_end: 0,
            leaves,
            coordinates,
            node_crd,
            leaf_pos,
            leaf_crd,
        };
        let mut child = node;
        for number in (0..fibers.path.len()).rev() {
            child = fibers.settle(number, child);
        }
        fibers
    }

    /// The next fiber that has elements, or `None` when there is none left.
    #[expect(clippy::should_implement_trait, reason = "an Iterator cannot lend")]
    #[inline]
    pub fn next(&mut self) -> Option<Fiber<'_>> {
        let leaves = self.advance()?;
        let (outer, dimensions) = (&self.coordinates[..], self.dimensions);
        Some(Fiber { outer, dimensions, start: leaves.start, crd: &self.leaf_crd[leaves] })
    }

    /// Calls `f` with each fiber that is left.
    #[inline]
    pub fn for_each(self, mut f: impl FnMut(Fiber<'_>)) {
        self.fold((), |(), fiber| f(fiber));
    }

    /// Calls `f` with what it made of the fibers before, at first `init`, and each fiber that is
    /// left. What is handed on this way stays in registers, so a sum is faster than with
    /// [`for_each`](Self::for_each).
    #[inline]
    pub fn fold<T>(mut self, init: T, mut f: impl FnMut(T, Fiber<'_>) -> T) -> T {
        let mut made = init;
        while let Some(run) = self.next_run() {
            (made, self.leaves.start) =
                fold_run(&run, &mut self.coordinates, self.dimensions, made, &mut f);
        }
        made
    }

    /// The fibers that come next and have the same parent, or `None` when there is none left; see
    /// [`Siblings`].
    ///
    /// A kernel that has a sum for each level, or an inner loop that is compiled for features of
    /// the processor, has plain nested loops this way, without a function call for each fiber.
    ///
    /// ```
    /// # use hurray_csf::{Csf, Level};
    /// # use hurray_format::{ModeOrder, Shape};
    /// # let tree = Csf::new(
    /// #     Shape::new([2, 3, 4])?,
    /// #     ModeOrder::identity(3)?,
    /// #     vec![
    /// #         Level { pos: vec![0, 2], crd: vec![0, 1] },
    /// #         Level { pos: vec![0, 2, 3], crd: vec![0, 2, 1] },
    /// #         Level { pos: vec![0, 1, 2, 4], crd: vec![1, 3, 0, 2] },
    /// #     ],
    /// # )?;
    /// // Row i of the result is the sum of x[i, j, k] * b[j] * c[k].
    /// let (values, b, c) = ([1.0, 2.0, 3.0, 4.0], [1.0, 10.0, 100.0], [1.0, 2.0, 3.0, 4.0]);
    /// let mut result = [0.0; 2];
    /// let mut fibers = tree.fibers();
    /// while let Some(siblings) = fibers.next_siblings() {
    ///     let row = &mut result[siblings.outer()[0] as usize];
    ///     for (j, crd, leaves) in siblings {
    ///         let terms = crd.iter().zip(&values[leaves]).map(|(&k, x)| x * c[k as usize]);
    ///         *row += b[j as usize] * terms.sum::<f64>();
    ///     }
    /// }
    /// assert_eq!(result, [1.0 * 1.0 * 2.0 + 2.0 * 100.0 * 4.0, 10.0 * (3.0 * 1.0 + 4.0 * 3.0)]);
    /// # Ok::<(), hurray_csf::StructureError>(())
    /// ```
    #[inline]
    pub fn next_siblings(&mut self) -> Option<Siblings<'_>> {
        let run = self.next_run()?;
        Some(Siblings::new(&run, &self.coordinates, &mut self.leaves.start))
    }

    /// The positions of the leaves that are left.
    #[must_use]
    pub fn remaining(&self) -> Range<usize> {
        self.leaves.clone()
    }

    /// How many fibers, or parts of them, are left, with those that have no elements. Together with
    /// [`remaining`](Self::remaining) this gives their mean length, by which an inner loop can be
    /// chosen.
    #[must_use]
    pub fn remaining_fibers(&self) -> usize {
        if self.leaves.is_empty() { 0 } else { (self.last_node + 1).saturating_sub(self.node) }
    }

    /// Cuts what is left into at most `pieces` walks with the same number of leaves each, give or
    /// take one. A fiber may be cut, so that one heavy slice is spread too.
    ///
    /// Two binary searches per piece and level.
    #[must_use]
    pub fn split(self, pieces: usize) -> Vec<Fibers<'a>> {
        let Range { start, end } = self.leaves;
        let pieces = pieces.min(end - start).max(1);
        let (share, longer) = ((end - start) / pieces, (end - start) % pieces);
        let cut = |piece: usize| start + piece * share + piece.min(longer);
        (0..pieces).map(|piece| self.within(cut(piece)..cut(piece + 1))).collect()
    }

    /// The part of what is left that has these leaves, as far as they are left. Two binary searches
    /// per level.
    pub(crate) fn within(&self, leaves: Range<usize>) -> Fibers<'a> {
        let start = leaves.start.clamp(self.leaves.start, self.leaves.end);
        let end = leaves.end.clamp(start, self.leaves.end);
        let mut first: Vec<_> = self.path.iter().copied().chain([self.node]).collect();
        let mut last: Vec<_> = self.last.iter().copied().chain([self.last_node]).collect();
        let path_to_start = path_to(&self.levels, start, &first, &last);
        if end < self.leaves.end {
            last = path_to(&self.levels, end, &first, &last);
        }
        if start > self.leaves.start {
            first = path_to_start;
        }
        let span = Span { first, last, leaves: start..end };
        Fibers::new(self.levels.clone(), self.dimensions, span)
    }

    /// The same elements one by one, with logical indices.
    #[must_use]
    pub fn leaves(self) -> Leaves<'a> {
        Leaves::new(self)
    }

    /// Moves to the next fiber with elements, sets the coordinates and gives its leaves, which are
    /// within the leaf level.
    #[inline]
    fn advance(&mut self) -> Option<Range<usize>> {
        let (node, end) = self.next_node()?;
        self.node = node + 1;
        let start = std::mem::replace(&mut self.leaves.start, end);
        if let Some(coordinate) = self.coordinates.last_mut() {
            *coordinate = crd_at(self.node_crd, node);
        }
        Some(start..end)
    }

    /// Moves to the next fiber with elements and behind all nodes that have the same parent, and
    /// sets the coordinates but for those of the nodes.
    #[inline]
    fn next_run(&mut self) -> Option<Run<'a>> {
        let (node, _) = self.next_node()?;
        // Both arrays reach to the last node: the span has leaves only where its levels do.
        let last = self.last_node.min(self.node_crd.len() - 1);
        let next = to_usize(self.run_end).min(last + 1).max(node + 1);
        self.node = next;
        let (ends, crd) = (&self.leaf_pos[node + 1..next + 1], &self.node_crd[node..next]);
        Some(Run { ends, crd, leaves: self.leaves.clone(), leaf_crd: self.leaf_crd })
    }

    /// The next node whose fiber has elements and where that ends, within the leaf level. Moves the
    /// cursors above to its ancestors.
    #[inline]
    fn next_node(&mut self) -> Option<(usize, usize)> {
        // In a valid tree a fiber begins where the one before ended. Taking it that way whatever
        // pos says keeps the walk linear.
        while self.node <= self.last_node && self.leaves.start < self.leaves.end {
            let node = self.node;
            let end = to_usize(*self.leaf_pos.get(node + 1)?).min(self.leaves.end);
            if end > self.leaves.start {
                if to_u64(node) >= self.run_end {
                    self.climb(node);
                }
                return Some((node, end));
            }
            self.node += 1;
        }
        None
    }

    /// Moves the cursors above to the ancestors of `node`, as far up as anything changes.
    #[cold]
    #[inline(never)]
    fn climb(&mut self, node: usize) {
        let mut child = node;
        for number in (0..self.path.len()).rev() {
            let before = self.path[number];
            child = self.settle(number, child);
            if child == before {
                return;
            }
        }
    }

    /// Moves the cursor of level `number` to the parent of `child`, and gives the parent.
    #[inline]
    fn settle(&mut self, number: usize, child: usize) -> usize {
        let pos = self.levels[number + 1].pos;
        let mut parent = self.path[number];
        let mut end = pos_at(pos, parent + 1);
        while parent < self.last[number] && end <= to_u64(child) {
            parent += 1;
            end = pos_at(pos, parent + 1);
        }
        if number + 1 == self.path.len() {
            self.run_end = end;
        }
        self.path[number] = parent;
        self.coordinates[number] = crd_at(self.levels[number].crd, parent);
        parent
    }
}

/// The part of a fold that lies in one run.
///
/// A function of its own, since compilers keep what is made in memory in a loop around which there
/// are calls.
#[inline(never)]
fn fold_run<T>(
    run: &Run<'_>,
    coordinates: &mut [u64],
    dimensions: &[u32],
    mut made: T,
    f: &mut impl FnMut(T, Fiber<'_>) -> T,
) -> (T, usize) {
    let Range { mut start, end: last } = run.leaves;
    let Some(inner) = coordinates.len().checked_sub(1) else { return (made, start) };
    for (&end, &coordinate) in run.ends.iter().zip(run.crd) {
        let end = to_usize(end).min(last);
        if end > start {
            coordinates[inner] = coordinate;
            let crd = &run.leaf_crd[start..end];
            made = f(made, Fiber { outer: coordinates, dimensions, start, crd });
            start = end;
        }
    }
    (made, start)
}

/// An entry of `crd`; 0 where untrusted levels lead outside.
#[inline]
fn crd_at(crd: &[u64], node: usize) -> u64 {
    crd.get(node).copied().unwrap_or(0)
}

/// An entry of `pos`; 0 where untrusted levels lead outside.
#[inline]
fn pos_at(pos: &[u64], node: usize) -> u64 {
    pos.get(node).copied().unwrap_or(0)
}

/// The nodes over `leaf` at each level above the leaves, searched for from `first` to `last`.
fn path_to(levels: &[Level<&[u64]>], leaf: usize, first: &[usize], last: &[usize]) -> Vec<usize> {
    let mut path = first.to_vec();
    let mut child = to_u64(leaf);
    for (number, node) in path.iter_mut().enumerate().rev() {
        // The ends of the nodes from the first on: the node searched for is the first that ends
        // behind the child.
        let ends = levels[number + 1].pos.get(*node + 1..=last[number]).unwrap_or(&[]);
        *node += ends.partition_point(|&end| end <= child);
        child = to_u64(*node);
    }
    path
}

impl<S: AsRef<[u64]>> Csf<S> {
    /// Walks over the whole fibers of the leaf level, in storage order: what an inner loop runs
    /// over are plain slices. O(rank) to begin, then linear in nodes and leaves.
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
    /// let values = [1.0, 2.0, 3.0, 4.0];
    ///
    /// let mut sums = Vec::new();
    /// let mut fibers = tree.fibers();
    /// while let Some(fiber) = fibers.next() {
    ///     let sum: f64 = values[fiber.leaves()].iter().sum();
    ///     sums.push((fiber.outer().to_vec(), sum));
    /// }
    /// assert_eq!(sums, [(vec![0, 0], 1.0), (vec![0, 2], 2.0), (vec![1, 1], 7.0)]);
    /// # Ok::<(), hurray_csf::StructureError>(())
    /// ```
    #[must_use]
    pub fn fibers(&self) -> Fibers<'_> {
        self.whole().fibers()
    }

    /// Walks over the elements one by one, with logical indices, in storage order. O(rank) to
    /// begin, then linear in nodes and leaves.
    ///
    /// ```
    /// # use hurray_csf::{Csf, Level};
    /// # use hurray_format::{ModeOrder, Shape};
    /// // The worked example of docs/format.md, stored with dimension 2 outermost.
    /// let tree = Csf::new(
    ///     Shape::new([2, 3, 4])?,
    ///     ModeOrder::new([2, 0, 1])?,
    ///     vec![
    ///         Level { pos: vec![0, 4], crd: vec![0, 1, 2, 3] },
    ///         Level { pos: vec![0, 1, 2, 3, 4], crd: vec![1, 0, 1, 0] },
    ///         Level { pos: vec![0, 1, 2, 3, 4], crd: vec![1, 0, 1, 2] },
    ///     ],
    /// )?;
    /// let mut leaves = tree.leaves();
    /// assert_eq!(leaves.next(), Some((&[1, 1, 0][..], 0)));
    /// assert_eq!(leaves.next(), Some((&[0, 0, 1][..], 1)));
    /// # Ok::<(), hurray_csf::StructureError>(())
    /// ```
    #[must_use]
    pub fn leaves(&self) -> Leaves<'_> {
        self.fibers().leaves()
    }

    /// Cuts the tree into at most `pieces` walks with the same number of leaves each, give or take
    /// one; see [`Fibers::split`].
    #[must_use]
    pub fn split(&self, pieces: usize) -> Vec<Fibers<'_>> {
        self.fibers().split(pieces)
    }

    /// Pieces of the tree to be walked in parallel; see [`Fibers::par_split`].
    #[cfg(feature = "parallel")]
    #[must_use]
    pub fn par_fibers(&self) -> impl IndexedParallelIterator<Item = Fibers<'_>> {
        self.fibers().par_split()
    }

    /// Calls `f` with each fiber, or part of one, on the threads of the current rayon pool, in no
    /// particular order.
    #[cfg(feature = "parallel")]
    pub fn par_for_each(&self, f: impl Fn(Fiber<'_>) + Sync) {
        self.par_fibers().for_each(|fibers| fibers.for_each(&f));
    }
}

#[cfg(feature = "parallel")]
impl<'a> Fibers<'a> {
    /// Leaves below which a piece is not worth a task of its own.
    const MIN_PIECE: usize = 1 << 13;

    /// Cuts what is left into pieces of equal leaf count, a few for each thread of the current
    /// rayon pool: a parallel iterator whose items are walks, in storage order.
    ///
    /// ```
    /// # use hurray_csf::{Csf, Level};
    /// # use hurray_format::{ModeOrder, Shape};
    /// use rayon::prelude::*;
    ///
    /// # let tree = Csf::new(
    /// #     Shape::new([2, 3, 4])?,
    /// #     ModeOrder::identity(3)?,
    /// #     vec![
    /// #         Level { pos: vec![0, 2], crd: vec![0, 1] },
    /// #         Level { pos: vec![0, 2, 3], crd: vec![0, 2, 1] },
    /// #         Level { pos: vec![0, 1, 2, 4], crd: vec![1, 3, 0, 2] },
    /// #     ],
    /// # )?;
    /// let values = [1.0, 2.0, 3.0, 4.0];
    /// let sum: f64 = (tree.fibers().par_split())
    ///     .map(|mut fibers| {
    ///         let mut sum = 0.0;
    ///         while let Some(fiber) = fibers.next() {
    ///             sum += values[fiber.leaves()].iter().sum::<f64>();
    ///         }
    ///         sum
    ///     })
    ///     .sum();
    /// assert_eq!(sum, 10.0);
    /// # Ok::<(), hurray_csf::StructureError>(())
    /// ```
    #[must_use]
    pub fn par_split(self) -> impl IndexedParallelIterator<Item = Fibers<'a>> {
        let most = self.leaves.len().div_ceil(Self::MIN_PIECE);
        // One by one, since the same number of leaves may be more work in one than in the other.
        self.split(most.min(16 * rayon::current_num_threads())).into_par_iter().with_max_len(1)
    }
}
