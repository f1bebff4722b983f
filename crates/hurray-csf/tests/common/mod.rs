//! The model: the CSF section taken literally, without regard to speed, and random trees for it.
#![allow(dead_code, reason = "each test file uses its part")]

use hurray_csf::{Csf, Level, Violation};
use hurray_format::cast::to_usize;
use hurray_format::{ModeOrder, Shape};
use proptest::prelude::*;

pub(crate) fn shape(dimensions: &[u64]) -> Shape {
    Shape::new(dimensions).unwrap()
}

/// Copies of `pos` and `crd` of all levels.
pub(crate) fn levels<S: AsRef<[u64]>>(tree: &Csf<S>) -> Vec<(Vec<u64>, Vec<u64>)> {
    (0..tree.rank()).map(|level| tree.level(level)).map(|(p, c)| (p.into(), c.into())).collect()
}

/// A tree of owned levels.
pub(crate) fn tree(
    shape: &[u64],
    mode_order: &[u32],
    levels: &[(&[u64], &[u64])],
) -> Csf<Vec<u64>> {
    let levels = levels.iter().map(|(pos, crd)| Level { pos: pos.to_vec(), crd: crd.to_vec() });
    Csf::new(Shape::new(shape).unwrap(), ModeOrder::new(mode_order).unwrap(), levels.collect())
        .unwrap()
}

/// The worked example of the CSF section.
pub(crate) fn worked_example() -> Csf<Vec<u64>> {
    tree(
        &[2, 3, 4],
        &[0, 1, 2],
        &[(&[0, 2], &[0, 1]), (&[0, 2, 3], &[0, 2, 1]), (&[0, 1, 2, 4], &[1, 3, 0, 2])],
    )
}

/// One fiber of `n` leaves at even coordinates between two of one leaf.
pub(crate) fn one_heavy_fiber(n: u64) -> Csf<Vec<u64>> {
    let crd: Vec<u64> = [7].into_iter().chain((0..n).map(|k| 2 * k)).chain([7]).collect();
    tree(
        &[9, 9, 2 * n + 9],
        &[0, 1, 2],
        &[(&[0, 2], &[3, 4]), (&[0, 1, 3], &[0, 5, 6]), (&[0, 1, n + 1, n + 2], &crd)],
    )
}

/// Stored and absent indices: at most six of the stored coordinates, 0 and 1 along each dimension.
pub(crate) fn probes(tree: &Csf<Vec<u64>>) -> Vec<Vec<u64>> {
    let mut probes = vec![vec![]];
    for (dimension, &size) in tree.shape().dimensions().iter().enumerate() {
        let (_, crd) = tree.level(tree.mode_order().level(dimension));
        let mut coordinates: Vec<u64> = crd.iter().copied().chain([0, 1]).collect();
        coordinates.retain(|&c| size == Shape::DYNAMIC || c < size);
        coordinates.sort_unstable();
        coordinates.dedup();
        coordinates.truncate(6);
        probes = (probes.iter())
            .flat_map(|head| coordinates.iter().map(|&c| [&head[..], &[c]].concat()))
            .collect();
    }
    probes
}

/// A tree of sorted, distinct, storage-order coordinates.
pub(crate) fn from_sorted(shape: &[u64], mode_order: &[u32], stored: &[Vec<u64>]) -> Csf<Vec<u64>> {
    let rank = shape.len();
    let mut levels = Vec::new();
    // The prefixes of the level above: one, the empty one, for the virtual root.
    let mut parents: Vec<Vec<u64>> = vec![vec![]];
    for depth in 1..=rank {
        let mut nodes: Vec<Vec<u64>> = stored.iter().map(|c| c[..depth].to_vec()).collect();
        nodes.dedup();
        let mut pos = vec![0];
        for parent in &parents {
            let children = nodes.iter().filter(|node| node[..depth - 1] == parent[..]).count();
            pos.push(pos[pos.len() - 1] + children as u64);
        }
        levels.push(Level { pos, crd: nodes.iter().map(|node| node[depth - 1]).collect() });
        parents = nodes;
    }
    Csf::new(Shape::new(shape).unwrap(), ModeOrder::new(mode_order).unwrap(), levels).unwrap()
}

/// The iteration of the CSF section, as its sketch has it: logical indices and leaf positions.
pub(crate) fn visit(tree: &Csf<Vec<u64>>) -> Vec<(Vec<u64>, usize)> {
    fn descend(
        tree: &Csf<Vec<u64>>,
        level: usize,
        p: usize,
        c: &mut [u64],
        out: &mut Vec<(Vec<u64>, usize)>,
    ) {
        let (pos, crd) = tree.level(level);
        #[expect(clippy::needless_range_loop, reason = "as the section has it")]
        for i in to_usize(pos[p])..to_usize(pos[p + 1]) {
            c[level] = crd[i];
            if level + 1 == tree.rank() {
                let mut index = vec![0; tree.rank()];
                for (l, &d) in tree.mode_order().as_slice().iter().enumerate() {
                    index[d as usize] = c[l];
                }
                out.push((index, i));
            } else {
                descend(tree, level + 1, i, c, out);
            }
        }
    }
    let mut out = Vec::new();
    descend(tree, 0, 0, &mut vec![0; tree.rank()], &mut out);
    out
}

/// All violations, judged invariant by invariant.
pub(crate) fn violations(tree: &Csf<Vec<u64>>) -> Vec<Violation> {
    let mut out = Vec::new();
    for level in 0..tree.rank() {
        let (pos, crd) = tree.level(level);
        let dimension = tree.mode_order().dimension(level);
        let size = tree.shape().dimensions()[dimension];
        let nodes = crd.len();
        let before = out.len();
        if pos[0] != 0 {
            out.push(Violation::PosStart { level, found: pos[0] });
        }
        for k in 1..pos.len() {
            if pos[k - 1] > pos[k] {
                let (found, previous) = (pos[k], pos[k - 1]);
                out.push(Violation::PosDecrease { level, position: k, found, previous });
            }
        }
        if pos[pos.len() - 1] != nodes as u64 {
            let (position, found) = (pos.len() - 1, pos[pos.len() - 1]);
            out.push(Violation::PosEnd { level, position, found, nodes });
        }
        let pos_holds = out.len() == before;
        if tree.nnz() == 0 && nodes > 0 {
            out.push(Violation::EmptyForm { level, nodes });
        }
        let mut in_crd = Vec::new();
        if pos_holds {
            for k in 0..pos.len() - 1 {
                for i in to_usize(pos[k]) + 1..to_usize(pos[k + 1]) {
                    if crd[i - 1] >= crd[i] {
                        let (found, previous) = (crd[i], crd[i - 1]);
                        in_crd.push(Violation::CrdOrder { level, position: i, found, previous });
                    }
                }
            }
        }
        for (position, &found) in crd.iter().enumerate() {
            if size != Shape::DYNAMIC && found >= size {
                in_crd.push(Violation::CrdBound { level, position, found, dimension, size });
            }
        }
        in_crd.sort_by_key(|violation| (violation.position(), violation.invariant()));
        out.extend(in_crd);
    }
    out
}

/// Trees whose levels chain and keep the five invariants; nodes without children are common, and
/// the empty form may be broken.
pub(crate) fn any_valid() -> impl Strategy<Value = Csf<Vec<u64>>> {
    let size = prop_oneof![
        6 => 1u64..5,
        1 => Just(0),
        1 => Just(1 << 40),
        1 => Just((1 << 63) + 7),
        1 => Just(Shape::DYNAMIC),
    ];
    (prop::collection::vec(size, 3..6), any::<u64>())
        .prop_flat_map(|(shape, seed)| {
            let order: Vec<u32> = (0u32..).take(shape.len()).collect();
            (Just(shape), Just(order).prop_shuffle(), Just(seed))
        })
        .prop_map(|(shape, order, mut seed)| {
            let mut random = move |below: u64| {
                seed = seed.wrapping_mul(6364136223846793005).wrapping_add(1442695040888963407);
                (seed >> 33) % below
            };
            let mut levels = Vec::new();
            let mut parents = 1;
            for (level, &dimension) in order.iter().enumerate() {
                let size = shape[dimension as usize];
                let (mut pos, mut crd) = (vec![0], Vec::new());
                for _ in 0..parents {
                    let most = if level == 0 { 5 } else { 4 };
                    let mut children: Vec<u64> = (0..random(most))
                        .filter(|_| size > 0)
                        .map(|_| random(6).wrapping_mul(if size > 5 { size / 5 } else { 1 }) % size)
                        .collect();
                    children.sort_unstable();
                    children.dedup();
                    crd.extend(children);
                    pos.push(crd.len() as u64);
                }
                parents = crd.len();
                levels.push(Level { pos, crd });
            }
            Csf::new(Shape::new(shape).unwrap(), ModeOrder::new(order).unwrap(), levels).unwrap()
        })
}

/// A word that is likely to break something.
pub(crate) fn any_word() -> impl Strategy<Value = u64> {
    prop_oneof![4 => 0u64..8, 1 => Just(u64::MAX), 1 => Just(1 << 63), 1 => any::<u64>()]
}

/// A valid tree in which words have been replaced: one, a few, or most.
pub(crate) fn any_broken() -> impl Strategy<Value = Csf<Vec<u64>>> {
    let change = || (any::<prop::sample::Index>(), any_word());
    let changes = prop_oneof![
        prop::collection::vec(change(), 1..2),
        prop::collection::vec(change(), 2..5),
        prop::collection::vec(change(), 50..200),
    ];
    (any_valid(), changes).prop_map(|(tree, changes)| {
        let (shape, mode_order) = (tree.shape().clone(), tree.mode_order().clone());
        let mut levels = tree.into_levels();
        let words: usize = levels.iter().map(|level| level.pos.len() + level.crd.len()).sum();
        for (index, word) in changes {
            let at = index.index(words);
            let mut arrays = levels
                .iter_mut()
                .flat_map(|level| level.pos.iter_mut().chain(level.crd.iter_mut()));
            *arrays.nth(at).unwrap() = word;
        }
        Csf::new(shape, mode_order, levels).unwrap()
    })
}

/// Noise, the same in every run.
pub(crate) fn noise(n: u64) -> u64 {
    let n = (n + 1).wrapping_mul(0x9E37_79B9_7F4A_7C15);
    let n = (n ^ (n >> 31)).wrapping_mul(0xBF58_476D_1CE4_E5B9);
    n ^ (n >> 29)
}
