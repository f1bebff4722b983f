//! Sorted keys into the levels of a tree.
//!
//! An entry opens a node at the level where its key parts from the one before, and at every
//! level below. So the levels are filled in pieces: count the nodes that each piece of the keys
//! opens, add the counts up, and every piece knows which part of every level is its own.

use hurray_format::{AlignedWords, cast::to_u64};

use super::keys::{Field, Key, KeyLayout, LevelOfBit};
use super::sort::take;
use super::tasks;
use crate::tree::Level;

/// Entries that one task emits, unless who counted them cut them otherwise.
const TASK: usize = 1 << 16;

/// Where the keys of one piece part from the one before, but for the first.
pub(crate) struct Partings {
    keys: usize,
    /// For every level how many keys part there; behind the last, how many are equal.
    at_level: Vec<usize>,
}

impl Partings {
    /// Counts. One pass over keys that have just been in use.
    pub(crate) fn count<const W: usize>(keys: &[Key<W>], level_of_bit: &LevelOfBit<W>) -> Self {
        let mut at_level = vec![0; level_of_bit.rank() + 1];
        for pair in keys.windows(2) {
            at_level[level_of_bit.parting(&pair[0], &pair[1])] += 1;
        }
        Self { keys: keys.len(), at_level }
    }
}

/// How many nodes each piece of the keys opens at each level.
pub(crate) struct Counts {
    /// The number of keys, and of nodes at each level.
    pieces: Vec<(usize, Vec<usize>)>,
    /// The entries that have the key of the one before.
    pub(crate) duplicates: usize,
}

impl Counts {
    /// Counts nodes. One parallel pass.
    pub(crate) fn new<const W: usize>(keys: &[Key<W>], layout: &KeyLayout) -> Self {
        let level_of_bit = layout.level_of_bit();
        let pieces = keys.chunks(TASK).collect();
        let partings = tasks::map(pieces, |piece| Partings::count(piece, &level_of_bit));
        Self::of_pieces(keys, partings, layout)
    }

    /// Counts nodes where the partings in each piece of the keys are known.
    pub(crate) fn of_pieces<const W: usize>(
        keys: &[Key<W>],
        pieces: Vec<Partings>,
        layout: &KeyLayout,
    ) -> Self {
        let (rank, level_of_bit) = (layout.fields().len(), layout.level_of_bit());
        let (mut duplicates, mut start) = (0, 0usize);
        let pieces = pieces.into_iter().filter(|piece| piece.keys > 0).map(|piece| {
            let mut nodes = piece.at_level;
            // The first entry of all opens a node at every level.
            let before = start.checked_sub(1).map(|last| &keys[last]);
            nodes[before.map_or(0, |before| level_of_bit.parting(before, &keys[start]))] += 1;
            start += piece.keys;
            duplicates += nodes[rank];
            // A node at one level means one at each level below.
            nodes.truncate(rank);
            for level in 1..rank {
                nodes[level] += nodes[level - 1];
            }
            (piece.keys, nodes)
        });
        Self { pieces: pieces.collect(), duplicates }
    }
}

/// What one piece of the keys fills of one level above the leaves.
struct Part<'a> {
    field: Field,
    crd: &'a mut [u64],
    /// Where the children of each node begin in the level below.
    children: &'a mut [u64],
    /// The nodes opened so far.
    opened: usize,
    /// The nodes that earlier pieces open in the level below.
    children_before: usize,
}

/// Fills the levels from keys without duplicates, outermost level first. One parallel pass; keys
/// of one word become the coordinates of the leaves where they are.
pub(crate) fn fill<const W: usize>(
    mut words: AlignedWords,
    layout: &KeyLayout,
    counts: &Counts,
) -> Vec<Level<AlignedWords>> {
    let keys: &mut [Key<W>] = words.as_chunks_mut().0;
    let leaf = layout.fields().len() - 1;
    let nodes_at = |level: usize| counts.pieces.iter().map(|(_, nodes)| nodes[level]).sum();
    let node_counts: Vec<usize> = (0..=leaf).map(nodes_at).collect();
    // Of every level above the leaves, the coordinates and where the children begin.
    let mut crd: Vec<AlignedWords> =
        node_counts[..leaf].iter().map(|&n| AlignedWords::zeroed(n)).collect();
    let mut children: Vec<AlignedWords> =
        node_counts[..leaf].iter().map(|&n| AlignedWords::zeroed(n + 1)).collect();

    let mut parts: Vec<Vec<Part<'_>>> = counts.pieces.iter().map(|_| Vec::new()).collect();
    for (level, (crd, children)) in crd.iter_mut().zip(&mut children).enumerate() {
        let (mut crd, mut children) = (&mut crd[..], &mut children[..]);
        let mut children_before = 0;
        for (parts, (_, nodes)) in parts.iter_mut().zip(&counts.pieces) {
            parts.push(Part {
                field: layout.fields()[level],
                crd: take(&mut crd, nodes[level]),
                children: take(&mut children, nodes[level]),
                opened: 0,
                children_before,
            });
            children_before += nodes[level + 1];
        }
        // The last entry of `pos` is where the children of the last node end.
        children.fill(to_u64(children_before));
    }

    let level_of_bit = layout.level_of_bit();
    let leaf_field = layout.fields()[leaf];
    let mut pieces = Vec::with_capacity(parts.len());
    let (mut rest, mut before) = (&mut *keys, None);
    for ((length, _), parts) in counts.pieces.iter().zip(parts) {
        let piece = take(&mut rest, *length);
        let last = piece.last().copied();
        pieces.push((std::mem::replace(&mut before, last), piece, parts));
    }
    tasks::map(pieces, |(mut previous, keys, mut parts): (_, &mut [Key<W>], Vec<Part<'_>>)| {
        for (number, slot) in keys.iter_mut().enumerate() {
            let key = *slot;
            let parting = previous.map_or(0, |previous| level_of_bit.parting(&previous, &key));
            previous = Some(key);
            slot[0] = leaf_field.coordinate(&key);
            // From the level above the leaves up, each node to be opened knows its first child.
            let mut child = number;
            for part in parts[parting.min(leaf)..].iter_mut().rev() {
                part.crd[part.opened] = part.field.coordinate(&key);
                part.children[part.opened] = to_u64(part.children_before + child);
                child = part.opened;
                part.opened += 1;
            }
        }
    });
    let leaves = if W == 1 {
        words
    } else {
        let mut leaves = AlignedWords::zeroed(keys.len());
        let pieces = leaves.chunks_mut(TASK).zip(keys.chunks(TASK)).collect();
        tasks::map(pieces, |(leaves, keys): (&mut [u64], &[Key<W>])| {
            leaves.iter_mut().zip(keys).for_each(|(leaf, key)| *leaf = key[0]);
        });
        leaves
    };
    crd.push(leaves);

    let root = AlignedWords::from(&[0, to_u64(node_counts[0])][..]);
    let pos = [root].into_iter().chain(children);
    pos.zip(crd).map(|(pos, crd)| Level { pos, crd }).collect()
}
