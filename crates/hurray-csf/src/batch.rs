//! Where many indices are stored, found together.
//!
//! A few indices in a large tree are found side by side: the steps of their searches alternate, so
//! that their cache misses overlap. Where the indices are many for the size of the tree, they are
//! sorted in storage order first, as a build sorts entries, and found on one walk from the
//! beginning to the end of every level: the next index is near the one before, so that a search is
//! short and its memory at hand. What is found is the same.

use hurray_format::cast::{to_u64, to_usize};

use crate::build::{
    BuildError, Checked, Indices, Key, KeyLayout, Payload, Source, pack, sort, with_words,
};
use crate::error::IndexError;
use crate::lookup::{SCAN, check_index, child_range, lower_bound};
use crate::tree::Csf;

/// Indices whose searches alternate: several times the cache misses that a core has under way at
/// once, since many searches end early.
const LANES: usize = 64;

/// The fewest indices that are sorted.
const SORTED: usize = 1 << 12;

/// Leaves per index from which on sorting does not pay, since the walk jumps from one cache miss
/// to the next.
const SPARSE: usize = 256;

impl<S: AsRef<[u64]>> Csf<S> {
    /// The leaf positions at many logical indices, given one behind the other (`indices[i * rank +
    /// k]` is coordinate `k` of index `i`). Several times as fast as looking them up one by one in
    /// a tree larger than the cache; the order of the indices does not matter.
    ///
    /// Many indices for the size of the tree are sorted first, which takes 24 bytes of memory for
    /// each (more if an index does not fit 64 bits), on the threads of the current rayon pool.
    ///
    /// # Errors
    /// [`IndexError::Ragged`] if the coordinates are not whole indices, [`IndexError::AtTuple`]
    /// for the first index with a coordinate outside its dimension. Then nothing is looked up.
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
    /// assert_eq!(tree.lookup_many(&[1, 1, 2, 0, 0, 0])?, [Some(3), None]);
    /// # Ok::<(), Box<dyn std::error::Error>>(())
    /// ```
    pub fn lookup_many(&self, indices: &[u64]) -> Result<Vec<Option<usize>>, IndexError> {
        let rank = self.rank();
        if !indices.len().is_multiple_of(rank) {
            return Err(IndexError::Ragged { found: indices.len(), rank });
        }
        let count = indices.len() / rank;
        if count >= SORTED && count.saturating_mul(SPARSE) >= self.nnz() {
            let source = Checked::new(Indices::Rows(indices), rank);
            // What cannot be sorted cannot be looked up either; the check says why.
            let found = source.and_then(|source| search_sorted(&self.as_view(), &source));
            if let Ok(found) = found {
                return Ok(found);
            }
        }
        for (tuple, index) in indices.chunks_exact(rank).enumerate() {
            check_index(self.shape(), index)
                .map_err(|error| IndexError::AtTuple { tuple, error: Box::new(error) })?;
        }
        let mut found = Vec::with_capacity(count);
        for group in indices.chunks(LANES * rank) {
            search_group(self, group, &mut found);
        }
        Ok(found)
    }
}

/// Looks up any number of indices in storage order.
///
/// # Errors
/// An index is out of range.
fn search_sorted(
    tree: &Csf<&[u64]>,
    source: &dyn Source,
) -> Result<Vec<Option<usize>>, BuildError> {
    let layout = KeyLayout::new(tree.shape(), tree.mode_order(), source)?;
    with_words!(layout.words(), W => {
        let keys = pack::<W>(source, tree.shape(), &layout)?.keys;
        let (keys, positions, _) = sort::<W, _>(&keys, &Payload::Position, |_| ());
        Ok(walk::<W>(tree, &layout, keys.as_chunks().0, positions.as_chunks().0))
    })
}

/// Some siblings: those that a walk has not passed.
#[derive(Clone, Copy, Default)]
struct Siblings {
    next: usize,
    end: usize,
}

impl Siblings {
    /// Their coordinates.
    fn of<'a>(self, tree: &Csf<&'a [u64]>, level: usize) -> &'a [u64] {
        tree.levels()[level].crd.get(self.next..self.end).unwrap_or(&[])
    }
}

/// The number of coordinates below `sought` in a sorted slice, which is probably small.
fn ahead(sorted: &[u64], sought: u64) -> usize {
    let (mut start, mut step) = (0, SCAN);
    while sorted.get(start + step - 1).is_some_and(|&coordinate| coordinate < sought) {
        start += step;
        step *= 2;
    }
    let end = sorted.len().min(start + step);
    start + lower_bound(&sorted[start..end], sought)
}

/// Finds sorted keys; `positions` says where in the result each belongs.
fn walk<const W: usize>(
    tree: &Csf<&[u64]>,
    layout: &KeyLayout,
    keys: &[Key<W>],
    positions: &[[u8; 8]],
) -> Vec<Option<usize>> {
    let (rank, level_of_bit) = (tree.rank(), layout.level_of_bit());
    let mut found = vec![None; keys.len()];
    let mut siblings = vec![Siblings::default(); rank];
    siblings[0].end = tree.node_count(0);
    // How many levels the key before was found at, and its leaf.
    let (mut depth, mut leaf) = (0, None);
    let mut previous = None;
    for (key, position) in keys.iter().zip(positions) {
        let parting = previous.map_or(0, |previous| level_of_bit.parting(previous, key));
        previous = Some(key);
        // There is nothing below a node that is not there, and the same at the same key.
        if parting <= depth && parting < rank {
            (depth, leaf) = (parting, None);
            // At this level the walk goes on among the siblings that it is at.
            let mut offset = {
                let rest = siblings[depth].of(tree, depth);
                ahead(rest, layout.fields()[depth].coordinate(key))
            };
            loop {
                let at = &mut siblings[depth];
                at.next += offset;
                let sought = layout.fields()[depth].coordinate(key);
                if at.of(tree, depth).first() != Some(&sought) {
                    break;
                }
                let node = at.next;
                depth += 1;
                if depth == rank {
                    leaf = Some(node);
                    break;
                }
                let (pos, crd) = tree.level(depth);
                let children = child_range(pos, crd.len(), node);
                siblings[depth] = Siblings { next: children.start, end: children.end };
                let sought = layout.fields()[depth].coordinate(key);
                offset = lower_bound(&crd[children], sought);
            }
        }
        found[to_usize(u64::from_le_bytes(*position))] = leaf;
    }
    found
}

/// Looks up at most [`LANES`] checked indices, level by level and step by step. Lanes that are done
/// are dropped from the lists without a branch: where a search ends cannot be predicted.
fn search_group<S: AsRef<[u64]>>(tree: &Csf<S>, indices: &[u64], found: &mut Vec<Option<usize>>) {
    /// One search: the coordinate sought, and the siblings among which it still can be. Between two
    /// levels the one sibling that was found, or none.
    #[derive(Clone, Copy)]
    struct Lane {
        sought: u64,
        start: usize,
        len: usize,
    }
    let rank = tree.rank();
    let count = indices.len() / rank;
    let mut lanes = [Lane { sought: 0, start: 0, len: 0 }; LANES];
    let mut alive: [usize; LANES] = std::array::from_fn(|lane| lane);
    let mut alive_count = count;
    for number in 0..rank {
        let (pos, crd) = tree.level(number);
        let dimension = tree.mode_order().dimension(number);
        let size = tree.shape().dimensions()[dimension];
        let mut searching = [0; LANES];
        let mut searching_count = 0;
        for &at in &alive[..alive_count] {
            let lane = &mut lanes[at];
            let nodes = match number {
                0 => 0..crd.len(),
                _ => child_range(pos, crd.len(), lane.start),
            };
            (lane.start, lane.len) = (nodes.start, nodes.len());
            lane.sought = indices[at * rank + dimension];
            if to_u64(lane.len) == size {
                (lane.start, lane.len) = (lane.start + to_usize(lane.sought), 1);
            }
            searching[searching_count] = at;
            searching_count += usize::from(lane.len > 1);
        }
        // A binary search without branches: each step keeps the half in which the last coordinate
        // that is not above the one sought must be.
        while searching_count > 0 {
            let mut kept = 0;
            for step in 0..searching_count {
                let at = searching[step];
                let lane = &mut lanes[at];
                let half = lane.len / 2;
                let middle = crd.get(lane.start + half).copied().unwrap_or(u64::MAX);
                lane.start += if middle <= lane.sought { half } else { 0 };
                lane.len -= half;
                searching[kept] = at;
                kept += usize::from(lane.len > 1);
            }
            searching_count = kept;
        }
        let mut kept = 0;
        for step in 0..alive_count {
            let at = alive[step];
            let lane = &mut lanes[at];
            let is_it = (lane.len > 0) & (crd.get(lane.start) == Some(&lane.sought));
            lane.len = usize::from(is_it);
            alive[kept] = at;
            kept += usize::from(is_it);
        }
        alive_count = kept;
    }
    found.extend(lanes[..count].iter().map(|lane| (lane.len > 0).then_some(lane.start)));
}
