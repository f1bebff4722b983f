//! Sorted keys into the levels of a tree.
//!
//! An entry opens a node at the level where its key parts from the one before, and at every
//! level below. So the levels are filled in pieces: count the nodes that each piece of the keys
//! opens, add the counts up, and every piece knows which part of every level is its own.

use hurray_format::cast::to_u64;

use super::keys::{Key, KeyLayout};
use super::sort::take;
use super::tasks;
use crate::tree::Level;

/// Entries that one task emits.
const TASK: usize = 1 << 16;

/// How many nodes each piece of the keys opens at each level.
pub(crate) struct Counts {
    pieces: Vec<Vec<usize>>,
    /// The entries that have the key of the one before.
    pub(crate) duplicates: usize,
}

/// Counts nodes. One parallel pass.
pub(crate) fn count<const W: usize>(keys: &[Key<W>], layout: &KeyLayout) -> Counts {
    let rank = layout.fields().len();
    let level_of_bit = layout.level_of_bit();
    let pieces: Vec<Vec<usize>> = tasks::map(pieces(keys), |(mut previous, keys)| {
        let mut partings = vec![0; rank + 1];
        for key in keys {
            // The first entry of all opens a node at every level.
            partings[previous.map_or(0, |previous| level_of_bit.parting(previous, key))] += 1;
            previous = Some(key);
        }
        // A node at one level means one at each level below. Equal keys part behind the last.
        let mut nodes = partings;
        for level in 1..rank {
            nodes[level] += nodes[level - 1];
        }
        nodes
    });
    Counts { duplicates: pieces.iter().map(|nodes| nodes[rank]).sum(), pieces }
}

/// The pieces of the keys, each with the key before it.
fn pieces<const W: usize>(keys: &[Key<W>]) -> Vec<(Option<&Key<W>>, &[Key<W>])> {
    let starts = (0..keys.len()).step_by(TASK);
    let before = starts.map(|start| start.checked_sub(1).map(|last| &keys[last]));
    before.zip(keys.chunks(TASK)).collect()
}

/// What one piece of the keys fills of one level.
struct Part<'a> {
    crd: &'a mut [u64],
    /// Where the children of each node begin in the level below; empty at the leaves.
    children: &'a mut [u64],
    /// The nodes that earlier pieces open.
    before: usize,
    /// The nodes opened so far.
    opened: usize,
}

/// Fills the levels from keys without duplicates, outermost level first. One parallel pass.
pub(crate) fn fill<const W: usize>(
    keys: &[Key<W>],
    layout: &KeyLayout,
    counts: &Counts,
) -> Vec<Level<Vec<u64>>> {
    let rank = layout.fields().len();
    let leaf = rank - 1;
    let node_counts: Vec<usize> =
        (0..rank).map(|level| counts.pieces.iter().map(|nodes| nodes[level]).sum()).collect();
    let mut crd: Vec<Vec<u64>> = node_counts.iter().map(|&nodes| vec![0; nodes]).collect();
    let mut children: Vec<Vec<u64>> =
        node_counts[..leaf].iter().map(|&nodes| vec![0; nodes + 1]).collect();

    let mut parts: Vec<Vec<Part<'_>>> = counts.pieces.iter().map(|_| Vec::new()).collect();
    let mut children_left = children.iter_mut().map(|children| &mut children[..]);
    for (level, crd) in crd.iter_mut().enumerate() {
        let mut crd = &mut crd[..];
        let mut children = children_left.next().unwrap_or_default();
        let mut before = 0;
        for (parts, nodes) in parts.iter_mut().zip(&counts.pieces) {
            let nodes = nodes[level];
            parts.push(Part {
                crd: take(&mut crd, nodes),
                children: take(&mut children, if level == leaf { 0 } else { nodes }),
                before,
                opened: 0,
            });
            before += nodes;
        }
        // The last entry of `pos` is where the children of the last node end.
        if let [end] = children {
            *end = to_u64(node_counts[level + 1]);
        }
    }

    let level_of_bit = layout.level_of_bit();
    let pieces = pieces(keys).into_iter().zip(parts).collect();
    tasks::map(pieces, |((mut previous, keys), mut parts)| {
        let leaf_field = layout.fields()[leaf];
        for (crd, key) in parts[leaf].crd.iter_mut().zip(keys) {
            *crd = leaf_field.coordinate(key);
        }
        for (number, key) in keys.iter().enumerate() {
            parts[leaf].opened = number;
            let parting = previous.map_or(0, |previous| level_of_bit.parting(previous, key));
            previous = Some(key);
            for level in parting..leaf {
                let first_child = parts[level + 1].before + parts[level + 1].opened;
                let part = &mut parts[level];
                part.crd[part.opened] = layout.fields()[level].coordinate(key);
                part.children[part.opened] = to_u64(first_child);
                part.opened += 1;
            }
        }
    });

    let root = vec![0, to_u64(node_counts[0])];
    let pos = [root].into_iter().chain(children);
    pos.zip(crd).map(|(pos, crd)| Level { pos, crd }).collect()
}
