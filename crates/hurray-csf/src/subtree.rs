//! Parts of a tree: outer modes fixed, or the next one restricted to a range.
//!
//! The elements below one node, or below consecutive siblings, are consecutive leaves. So a part
//! costs what finding its ends costs, whatever it holds, and is walked by the same code as the
//! whole.

use std::ops::Range;

use hurray_format::cast::to_usize;
use hurray_format::{ModeOrder, Shape};

use crate::error::IndexError;
use crate::iter::{Fibers, Leaves, Span};
use crate::lookup::{check_coordinate, check_index, child_range, find, lower_bound, search};
use crate::tree::{Csf, Level};

/// The elements of a tree whose outermost coordinates are fixed, and whose next one may be
/// restricted to a range: a view, not a tree of its own.
///
/// It is a restriction of the tensor, not a tensor of lower rank: indices stay those of the whole
/// tensor and leaf positions those of the whole tree, so the same values belong to it.
#[derive(Clone, Debug)]
pub struct Subtree<'a> {
    levels: Vec<Level<&'a [u64]>>,
    shape: &'a Shape,
    mode_order: &'a ModeOrder,
    /// The fixed coordinates, in storage order, and the nodes of the level below them.
    fixed: Vec<u64>,
    nodes: Range<usize>,
    span: Span,
}

impl<'a> Subtree<'a> {
    /// The nodes `nodes` of the level below the fixed ones, which lies below `path`. They were found
    /// in the same `levels`: storage that changes may show others at another look.
    fn new<S: AsRef<[u64]>>(
        tree: &'a Csf<S>,
        levels: Vec<Level<&'a [u64]>>,
        fixed: &[u64],
        path: Vec<usize>,
        nodes: Range<usize>,
    ) -> Self {
        let span = descend(&levels, path, nodes.clone());
        let (shape, mode_order) = (tree.shape(), tree.mode_order());
        Self { levels, shape, mode_order, fixed: fixed.to_vec(), nodes, span }
    }

    /// The number of modes that are not fixed, at least 1.
    #[must_use]
    pub fn rank(&self) -> usize {
        self.levels.len() - self.fixed.len()
    }

    /// The number of stored elements.
    #[must_use]
    pub fn nnz(&self) -> usize {
        self.span.leaves.len()
    }

    /// The coordinates of the fixed modes, in storage order.
    #[must_use]
    pub fn fixed(&self) -> &[u64] {
        &self.fixed
    }

    /// The nodes of the outermost level that is not fixed; their coordinates are
    /// `tree.level(subtree.fixed().len()).1[subtree.nodes()]`.
    #[must_use]
    pub fn nodes(&self) -> Range<usize> {
        self.nodes.clone()
    }

    /// The leaf positions of the elements, where their values are.
    #[must_use]
    pub fn leaf_range(&self) -> Range<usize> {
        self.span.leaves.clone()
    }

    /// The leaf position of the element at a logical index of the whole tensor, or `None` if it is
    /// not stored or not part of this sub-tree. Costs one search per mode that is not fixed.
    ///
    /// # Errors
    /// [`IndexError`] for a wrong number of coordinates, or one outside its dimension.
    pub fn lookup(&self, index: &[u64]) -> Result<Option<usize>, IndexError> {
        check_index(self.shape, index)?;
        let mut fixed = self.fixed.iter().enumerate();
        if fixed.any(|(level, &coordinate)| index[self.mode_order.dimension(level)] != coordinate) {
            return Ok(None);
        }
        let (depth, nodes) = (self.fixed.len(), self.nodes.clone());
        Ok(search(&self.levels, self.shape, self.mode_order, depth, nodes, index))
    }

    /// Walks over the fibers of the leaf level; see [`Csf::fibers`].
    #[must_use]
    pub fn fibers(&self) -> Fibers<'a> {
        Fibers::new(self.levels.clone(), self.mode_order.as_slice(), self.span.clone())
    }

    /// Walks over the elements, with logical indices of the whole tensor; see [`Csf::leaves`].
    #[must_use]
    pub fn leaves(&self) -> Leaves<'a> {
        self.fibers().leaves()
    }

    /// Cuts the sub-tree into pieces of equal leaf count; see [`Fibers::split`].
    #[must_use]
    pub fn split(&self, pieces: usize) -> Vec<Fibers<'a>> {
        self.fibers().split(pieces)
    }

    /// Pieces of the sub-tree to be walked in parallel; see [`Fibers::par_split`].
    #[cfg(feature = "parallel")]
    #[must_use]
    pub fn par_fibers(&self) -> impl rayon::prelude::IndexedParallelIterator<Item = Fibers<'a>> {
        self.fibers().par_split()
    }
}

/// Extends the path to the fixed nodes down to the leaves: the first and the last descendants of
/// `nodes` at each level.
fn descend(levels: &[Level<&[u64]>], path: Vec<usize>, nodes: Range<usize>) -> Span {
    let depth = path.len();
    let mut last = path.clone();
    let mut first = path;
    let mut nodes = nodes;
    for below in levels.iter().skip(depth + 1) {
        first.push(nodes.start);
        last.push(nodes.end.saturating_sub(1).max(nodes.start));
        let end =
            |node: usize| to_usize(below.pos.get(node).copied().unwrap_or(0)).min(below.crd.len());
        let start = end(nodes.start);
        nodes = start..end(nodes.end).max(start);
    }
    Span { first, last, leaves: nodes }
}

impl<S: AsRef<[u64]>> Csf<S> {
    /// The elements whose outermost coordinates are `fixed`, in storage order: `fixed[L]` is a
    /// coordinate of dimension `mode_order[L]`. One search per fixed mode, whatever the number of
    /// elements; nothing is copied. Without a stored element there the sub-tree is empty.
    ///
    /// # Errors
    /// [`IndexError::TooManyFixed`] if no mode is left free, [`IndexError::OutOfRange`] for a
    /// coordinate outside its dimension.
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
    /// let slice = tree.subtree(&[1])?;
    /// assert_eq!((slice.rank(), slice.leaf_range()), (2, 2..4));
    /// assert_eq!(slice.leaves().next(), Some((&[1, 1, 0][..], 2)));
    /// # Ok::<(), Box<dyn std::error::Error>>(())
    /// ```
    pub fn subtree(&self, fixed: &[u64]) -> Result<Subtree<'_>, IndexError> {
        let levels = self.borrowed_levels();
        let (path, nodes) = self.descend_fixed(&levels, fixed)?;
        Ok(Subtree::new(self, levels, fixed, path, nodes))
    }

    /// As [`subtree`](Self::subtree), with the coordinate of the next mode restricted to `range`.
    /// Two searches more. An end behind the dimension is no error.
    ///
    /// # Errors
    /// As [`subtree`](Self::subtree).
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
    /// // i = 0 and j from 1 to 2
    /// assert_eq!(tree.subtree_range(&[0], 1..3)?.leaf_range(), 1..2);
    /// # Ok::<(), Box<dyn std::error::Error>>(())
    /// ```
    pub fn subtree_range(
        &self,
        fixed: &[u64],
        range: Range<u64>,
    ) -> Result<Subtree<'_>, IndexError> {
        let levels = self.borrowed_levels();
        let (path, nodes) = self.descend_fixed(&levels, fixed)?;
        let siblings = levels[fixed.len()].crd.get(nodes.clone()).unwrap_or(&[]);
        let start = lower_bound(siblings, range.start);
        let end = lower_bound(siblings, range.end).max(start);
        Ok(Subtree::new(self, levels, fixed, path, nodes.start + start..nodes.start + end))
    }

    /// The elements at which each dimension has the coordinate given for it, `None` for any: a
    /// logical index with holes. The dimensions with coordinates must be those of the outermost
    /// levels. Costs as [`subtree`](Self::subtree).
    ///
    /// # Errors
    /// [`IndexError`] for a wrong number of entries, no hole, a coordinate outside its dimension,
    /// or ([`IndexError::NotOutermost`]) one that is stored below a hole.
    ///
    /// ```
    /// # use hurray_csf::{Csf, IndexError, Level};
    /// # use hurray_format::{ModeOrder, Shape};
    /// # let levels = vec![
    /// #     Level { pos: vec![0, 1], crd: vec![3] },
    /// #     Level { pos: vec![0, 1], crd: vec![1] },
    /// #     Level { pos: vec![0, 1], crd: vec![2] },
    /// # ];
    /// let tree = Csf::new(Shape::new([2, 3, 4])?, ModeOrder::new([2, 0, 1])?, levels)?;
    /// assert_eq!(tree.slice(&[Some(1), None, Some(3)])?.nnz(), 1);
    /// assert!(matches!(
    ///     tree.slice(&[None, Some(2), Some(3)]),
    ///     Err(IndexError::NotOutermost { dimension: 1, above: 0 })
    /// ));
    /// # Ok::<(), Box<dyn std::error::Error>>(())
    /// ```
    pub fn slice(&self, index: &[Option<u64>]) -> Result<Subtree<'_>, IndexError> {
        let rank = self.rank();
        if index.len() != rank {
            return Err(IndexError::Rank { found: index.len(), rank });
        }
        let stored = |level| index[self.mode_order().dimension(level)];
        let fixed: Vec<u64> = (0..rank).map_while(stored).collect();
        let depth = fixed.len();
        if let Some(level) = (depth..rank).find(|&level| stored(level).is_some()) {
            return Err(IndexError::NotOutermost {
                dimension: self.mode_order().dimension(level),
                above: self.mode_order().dimension(depth),
            });
        }
        self.subtree(&fixed)
    }

    /// The whole tree.
    pub(crate) fn whole(&self) -> Subtree<'_> {
        let levels = self.borrowed_levels();
        let nodes = 0..levels[0].crd.len();
        Subtree::new(self, levels, &[], Vec::new(), nodes)
    }

    /// The nodes over the fixed coordinates, and the children of the last of them.
    fn descend_fixed(
        &self,
        levels: &[Level<&[u64]>],
        fixed: &[u64],
    ) -> Result<(Vec<usize>, Range<usize>), IndexError> {
        let rank = self.rank();
        if fixed.len() >= rank {
            return Err(IndexError::TooManyFixed { found: fixed.len(), rank });
        }
        for (level, &coordinate) in fixed.iter().enumerate() {
            check_coordinate(self.shape(), self.mode_order().dimension(level), coordinate)?;
        }
        let mut path = Vec::with_capacity(rank);
        let mut nodes = 0..levels[0].crd.len();
        for (number, &coordinate) in fixed.iter().enumerate() {
            let dimension = self.shape().dimensions()[self.mode_order().dimension(number)];
            let below = levels[number + 1];
            match find(levels[number].crd, nodes.clone(), coordinate, dimension) {
                Some(node) => {
                    path.push(node);
                    nodes = child_range(below.pos, below.crd.len(), node);
                }
                // Nothing is stored there: an empty range, whose path is not looked at.
                None => {
                    path.push(nodes.start);
                    nodes = 0..0;
                }
            }
        }
        Ok((path, nodes))
    }
}
