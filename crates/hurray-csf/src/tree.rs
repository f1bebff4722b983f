//! The tree: levels of `(pos, crd)` over whoever holds them.
//!
//! Making a [`Csf`] costs O(rank): it checks that the lengths of the levels chain, not what the
//! arrays hold. A tree may lie over bytes that nobody has validated, or that change under it, so
//! nothing here trusts their contents: every access is bounds-checked or clamped. Wrong contents
//! give wrong answers, never a panic or an endless loop.

use hurray_format::layout::{CsfLayout, LayoutDescriptor};
use hurray_format::{ModeOrder, Shape, Words, cast::to_u64};

use crate::error::StructureError;

/// One level of a tree: where the children of each node above begin and end, and their
/// coordinates.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Level<S> {
    /// One entry per node of the level above and one more: the children of node `p` are the nodes
    /// `pos[p]..pos[p + 1]` of this level.
    pub pos: S,
    /// The coordinate of each node of this level.
    pub crd: S,
}

/// A compressed sparse fiber tree: which indices of a tensor are stored, and at which leaf
/// position. The values hang on the leaf positions; see [`Tensor`](crate::Tensor).
///
/// Generic over whoever holds the levels: borrowed slices (`&[u64]`), owned words (the default),
/// or shared handles into a file.
///
/// With `n_L` the nodes of level `L`, `n_(-1) = 1` for the virtual root, a **valid** tree keeps
/// the five invariants of docs/format.md:
///
/// 1. `pos_L[0] = 0`
/// 2. `pos_L` never decreases
/// 3. `pos_L` ends with `n_L`, and the leaf level has nnz nodes
/// 4. the coordinates of siblings increase strictly
/// 5. every coordinate is below the dimension that its level stores
///
/// The type itself promises less: a rank from 3 to 64, one level per dimension, and
/// `n_(L-1) + 1` entries in `pos_L`. [`Csf::validate`] checks the rest.
///
/// **Untrusted levels.** Every function works on a tree that was never validated, and on one whose
/// storage changes, even in length, after it was validated or while the function runs. Its answers
/// may then be wrong, but there is no panic, a walk yields each leaf position at most once, and
/// what is said about the cost of a function still holds.
///
/// ```
/// use hurray_csf::{Csf, Level};
/// use hurray_format::{ModeOrder, Shape};
///
/// // The worked example of docs/format.md.
/// let tree = Csf::new(
///     Shape::new([2, 3, 4])?,
///     ModeOrder::identity(3)?,
///     vec![
///         Level { pos: &[0, 2][..], crd: &[0, 1][..] },
///         Level { pos: &[0, 2, 3], crd: &[0, 2, 1] },
///         Level { pos: &[0, 1, 2, 4], crd: &[1, 3, 0, 2] },
///     ],
/// )?;
/// assert_eq!(tree.nnz(), 4);
/// assert_eq!(tree.node_count(1), 3);
/// # Ok::<(), hurray_csf::StructureError>(())
/// ```
#[derive(Clone, Debug)]
pub struct Csf<S = Words> {
    shape: Shape,
    mode_order: ModeOrder,
    levels: Vec<Level<S>>,
}

impl<S: AsRef<[u64]>> Csf<S> {
    /// Puts a tree together from its levels, outermost first. O(rank).
    ///
    /// # Errors
    /// [`StructureError`] if the rank is not from 3 to 64, the mode order is not one of this rank,
    /// or the lengths of the levels do not chain.
    pub fn new(
        shape: Shape,
        mode_order: ModeOrder,
        levels: Vec<Level<S>>,
    ) -> Result<Self, StructureError> {
        let rank = shape.rank();
        let layout = CsfLayout::new(0, mode_order.as_slice().to_vec());
        LayoutDescriptor::Csf(layout).validate_against_shape(&shape)?;
        if levels.len() != rank {
            return Err(StructureError::LevelCount { found: levels.len(), rank });
        }
        let mut parents = 1;
        for (number, level) in levels.iter().enumerate() {
            let found = level.pos.as_ref().len();
            if found.checked_sub(1) != Some(parents) {
                return Err(StructureError::PosLength { level: number, found, parents });
            }
            parents = level.crd.as_ref().len();
        }
        Ok(Self { shape, mode_order, levels })
    }

    /// The logical shape.
    #[must_use]
    pub fn shape(&self) -> &Shape {
        &self.shape
    }

    /// Which dimension each level stores.
    #[must_use]
    pub fn mode_order(&self) -> &ModeOrder {
        &self.mode_order
    }

    /// The number of dimensions and of levels, from 3 to 64.
    #[must_use]
    pub fn rank(&self) -> usize {
        self.levels.len()
    }

    /// The number of leaves, which is the number of stored elements.
    #[must_use]
    pub fn nnz(&self) -> usize {
        self.levels.last().map_or(0, |leaf| leaf.crd.as_ref().len())
    }

    /// The number of nodes at `level`.
    ///
    /// # Panics
    /// If there is no such level.
    #[must_use]
    pub fn node_count(&self, level: usize) -> usize {
        self.levels[level].crd.as_ref().len()
    }

    /// `(pos, crd)` of `level`, 0 for the outermost.
    ///
    /// # Panics
    /// If there is no such level.
    #[must_use]
    pub fn level(&self, level: usize) -> (&[u64], &[u64]) {
        let level = &self.levels[level];
        (level.pos.as_ref(), level.crd.as_ref())
    }

    /// Whoever holds the levels, outermost first.
    pub(crate) fn levels(&self) -> &[Level<S>] {
        &self.levels
    }

    /// All levels as they are at this moment, outermost first.
    pub(crate) fn borrowed_levels(&self) -> Vec<Level<&[u64]>> {
        (self.levels.iter())
            .map(|level| Level { pos: level.pos.as_ref(), crd: level.crd.as_ref() })
            .collect()
    }

    /// The descriptor fields of the tree.
    #[must_use]
    pub fn layout(&self) -> CsfLayout {
        CsfLayout::new(to_u64(self.nnz()), self.mode_order.as_slice().to_vec())
    }

    /// The same tree over borrowed levels. O(rank).
    #[must_use]
    pub fn as_view(&self) -> Csf<&[u64]> {
        Csf {
            shape: self.shape.clone(),
            mode_order: self.mode_order.clone(),
            levels: self.borrowed_levels(),
        }
    }

    /// Whoever holds the levels, outermost first.
    #[must_use]
    pub fn into_levels(self) -> Vec<Level<S>> {
        self.levels
    }
}
