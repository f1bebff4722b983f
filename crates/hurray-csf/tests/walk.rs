//! Iteration, pieces and sub-trees, against the pseudo code of the CSF section.

mod common;

use common::{
    any_broken, any_valid, from_sorted, noise, one_heavy_fiber, probes, tree, visit, worked_example,
};
use hurray_csf::{Csf, Fibers, IndexError};
use proptest::prelude::*;

type Entries = Vec<(Vec<u64>, usize)>;

/// The entries of a walk over fibers.
fn of_fibers(mut fibers: Fibers<'_>) -> Entries {
    let mut entries = Vec::new();
    while let Some(fiber) = fibers.next() {
        assert!(!fiber.crd().is_empty());
        let mut index = vec![0; fiber.outer().len() + 1];
        fiber.place(&mut index);
        for (&coordinate, leaf) in fiber.crd().iter().zip(fiber.leaves()) {
            index[fiber.dimension()] = coordinate;
            entries.push((index.clone(), leaf));
        }
    }
    entries
}

/// The entries of a walk over fibers that have the same parent, of which the first `pulled` fibers
/// are taken one by one.
fn of_siblings(tree: &Csf<Vec<u64>>, mut fibers: Fibers<'_>, pulled: usize) -> Entries {
    let mut entries = Vec::new();
    let mut add = |stored: &[u64], leaf| {
        let order = tree.mode_order();
        entries.push(((0..tree.rank()).map(|d| stored[order.level(d)]).collect(), leaf));
    };
    for _ in 0..pulled {
        if let Some(fiber) = fibers.next() {
            for (&coordinate, leaf) in fiber.crd().iter().zip(fiber.leaves()) {
                add(&[fiber.outer(), &[coordinate]].concat(), leaf);
            }
        }
    }
    while let Some(siblings) = fibers.next_siblings() {
        let outer = siblings.outer();
        assert_eq!(outer.len(), tree.rank() - 2);
        for (node, crd, leaves) in siblings {
            assert!(!crd.is_empty() && crd.len() == leaves.len());
            for (&coordinate, leaf) in crd.iter().zip(leaves) {
                add(&[outer, &[node, coordinate]].concat(), leaf);
            }
        }
    }
    entries
}

/// The entries of a walk over leaves.
fn of_leaves(mut leaves: hurray_csf::Leaves<'_>) -> Entries {
    let mut entries = Vec::new();
    while let Some((index, leaf)) = leaves.next() {
        entries.push((index.to_vec(), leaf));
    }
    entries
}

/// As [`of_leaves`], the first `pulled` entries one by one and the others by `for_each`.
fn of_for_each(mut leaves: hurray_csf::Leaves<'_>, pulled: usize) -> Entries {
    let mut entries = Vec::new();
    for _ in 0..pulled {
        if let Some((index, leaf)) = leaves.next() {
            entries.push((index.to_vec(), leaf));
        }
    }
    leaves.for_each(|index, leaf| entries.push((index.to_vec(), leaf)));
    entries
}

#[test]
fn the_worked_example_is_looked_up_and_iterated_in_every_mode_order() {
    let logical = [[0, 0, 1], [0, 2, 3], [1, 1, 0], [1, 1, 2]];
    let orders = [[0, 1, 2], [0, 2, 1], [1, 0, 2], [1, 2, 0], [2, 0, 1], [2, 1, 0]];
    for order in orders {
        let stored = |index: &[u64; 3]| order.map(|d: u32| index[d as usize]).to_vec();
        let mut sorted = logical;
        sorted.sort_by_key(stored);
        let coordinates: Vec<_> = sorted.iter().map(stored).collect();
        let tree = from_sorted(&[2, 3, 4], &order, &coordinates);
        let expected: Entries = sorted.iter().map(|i| i.to_vec()).zip(0..).collect();
        assert_eq!(of_leaves(tree.leaves()), expected, "{order:?}");
        assert_eq!(of_fibers(tree.fibers()), expected, "{order:?}");
        let mut absent = 0;
        for i in 0..2 {
            for j in 0..3 {
                for k in 0..4 {
                    let leaf = sorted.iter().position(|&index| index == [i, j, k]);
                    assert_eq!(tree.lookup(&[i, j, k]), Ok(leaf), "{order:?}");
                    absent += usize::from(leaf.is_none());
                }
            }
        }
        assert_eq!(absent, 20);
    }
    let example = worked_example();
    assert_eq!(example.lookup(&[1, 1, 2]), Ok(Some(3)));
    let outer: Vec<_> = {
        let mut outer = Vec::new();
        example.fibers().for_each(|fiber| outer.push((fiber.outer().to_vec(), fiber.leaves())));
        outer
    };
    assert_eq!(outer, [(vec![0, 0], 0..1), (vec![0, 2], 1..2), (vec![1, 1], 2..4)]);
}

#[test]
fn childless_nodes_are_passed_over_at_every_level() {
    // Nodes 0, 2 and 3 of level 0 lead to no leaf; so do two of level 1, one behind the other.
    let tree = tree(
        &[9, 9, 9],
        &[0, 1, 2],
        &[
            (&[0, 4], &[1, 3, 5, 7]),
            (&[0, 0, 4, 5, 5], &[2, 4, 6, 8, 0]),
            (&[0, 0, 1, 1, 3, 3], &[5, 0, 1]),
        ],
    );
    tree.validate().unwrap();
    let expected = [(vec![3, 4, 5], 0), (vec![3, 8, 0], 1), (vec![3, 8, 1], 2)];
    assert_eq!(visit(&tree), expected);
    assert_eq!(of_leaves(tree.leaves()), expected);
    assert_eq!(of_fibers(tree.fibers()), expected);
    for (piece, entry) in tree.split(3).into_iter().zip(expected) {
        assert_eq!(of_fibers(piece), [entry]);
    }
    assert_eq!(tree.lookup(&[1, 2, 0]), Ok(None));
    assert_eq!(tree.subtree(&[5]).unwrap().nnz(), 0);
    assert_eq!(tree.subtree(&[5, 0]).unwrap().fibers().next(), None);
}

#[test]
fn an_empty_tensor_has_nothing_to_find() {
    let none: [(&[u64], &[u64]); 3] = [(&[0, 0], &[]), (&[0], &[]), (&[0], &[])];
    let tree = tree(&[2, 0, 1 << 40], &[2, 0, 1], &none);
    assert_eq!(of_leaves(tree.leaves()), []);
    assert_eq!(tree.split(5).len(), 1);
    let outside = IndexError::OutOfRange { dimension: 1, coordinate: 0, size: 0 };
    assert_eq!(tree.lookup(&[0, 0, 0]), Err(outside));
    assert_eq!(tree.subtree(&[7, 1]).unwrap().leaf_range(), 0..0);
}

#[test]
fn rank_64_and_dimensions_beyond_32_bits() {
    let order: Vec<u32> = (0..64).rev().collect();
    let mut stored = vec![vec![0; 64], vec![0; 64], vec![1 << 50; 64]];
    stored[1][63] = u64::MAX - 2;
    let tree = from_sorted(&[u64::MAX - 1; 64], &order, &stored);
    tree.validate().unwrap();
    let expected = visit(&tree);
    assert_eq!(expected[1].0[0], u64::MAX - 2);
    assert_eq!(of_leaves(tree.leaves()), expected);
    assert_eq!(of_fibers(tree.split(2).pop().unwrap()), expected[2..]);
    for (index, leaf) in &expected {
        assert_eq!(tree.lookup(index), Ok(Some(*leaf)));
    }
    assert_eq!(tree.subtree(&[0; 63]).unwrap().leaf_range(), 0..2);
    assert_eq!(tree.lookup(&[1; 64]), Ok(None));
}

#[test]
fn a_heavy_fiber_is_cut_into_equal_pieces() {
    let tree = one_heavy_fiber(998);
    let whole = of_leaves(tree.leaves());
    let pieces = tree.split(7);
    let lens: Vec<_> = pieces.iter().map(|piece| piece.remaining().len()).collect();
    assert_eq!(lens, [143, 143, 143, 143, 143, 143, 142]);
    let joined: Entries = pieces.into_iter().flat_map(of_fibers).collect();
    assert_eq!(joined, whole);
    assert_eq!(tree.split(0).len(), 1);
    assert_eq!(tree.split(usize::MAX).len(), 1000);
    // What is left of a walk is split, too.
    let mut fibers = tree.fibers();
    fibers.next();
    let joined: Entries = fibers.split(3).into_iter().flat_map(of_fibers).collect();
    assert_eq!(joined, whole[1..]);
}

#[cfg(feature = "parallel")]
#[test]
fn parallel_walks_see_what_the_sequential_one_sees() {
    use std::sync::Mutex;

    use rayon::prelude::*;

    let tree = one_heavy_fiber(100_000);
    let whole = of_leaves(tree.leaves());
    for threads in [1, 2, 7] {
        let pool = rayon::ThreadPoolBuilder::new().num_threads(threads).build().unwrap();
        pool.install(|| {
            let pieces: Vec<Entries> = tree.par_fibers().map(of_fibers).collect();
            assert!(pieces.len() > 7);
            assert_eq!(pieces.concat(), whole);
            let pieces: Vec<Entries> =
                tree.subtree(&[4]).unwrap().par_fibers().map(of_fibers).collect();
            assert_eq!(pieces.concat(), whole[1..]);
            let seen = Mutex::new(Vec::new());
            tree.par_for_each(|fiber| seen.lock().unwrap().extend(fiber.leaves()));
            let mut seen = seen.into_inner().unwrap();
            seen.sort_unstable();
            assert!(seen.into_iter().eq(0..tree.nnz()));
        });
    }
}

#[test]
fn pos_that_goes_back_again_and_again_does_not_multiply_the_work() {
    let n = 200_000u64;
    let swings: Vec<u64> = (0..=n).map(|k| if k % 2 == 0 { 0 } else { u64::MAX }).collect();
    let crd: Vec<u64> = (0..n).collect();
    let tree = tree(
        &[n; 4],
        &[0, 1, 2, 3],
        &[(&[0, n], &crd), (&swings, &crd), (&swings, &crd), (&swings, &crd)],
    );
    let mut fibers = 0;
    let mut leaves = 0;
    tree.fibers().for_each(|fiber| {
        fibers += 1;
        leaves += fiber.crd().len();
    });
    assert!(fibers <= n && leaves <= tree.nnz());
    let mut of_siblings = 0;
    let mut walk = tree.fibers();
    while let Some(mut siblings) = walk.next_siblings() {
        of_siblings += siblings.next().map_or(0, |(_, crd, _)| crd.len());
    }
    assert!(of_siblings <= tree.nnz());
    let in_pieces: usize = tree.split(1000).into_iter().map(|p| p.leaves().count()).sum();
    assert!(in_pieces <= tree.nnz());
}

/// Folds over trees whose fibers have these lengths, below parents with up to 600 nodes.
fn folds_see_all_leaves_in_order(length: impl Fn(u64) -> u64) {
    let (mut node_pos, mut node_crd) = (vec![0], vec![]);
    let (mut leaf_pos, mut leaf_crd) = (vec![0], vec![]);
    for parent in 0..9u64 {
        for node in 0..[1, 600, 3][(parent % 3) as usize] {
            leaf_crd.extend((0..length(node_crd.len() as u64)).map(|leaf| 2 * leaf + parent));
            leaf_pos.push(leaf_crd.len() as u64);
            node_crd.push(7 * node);
        }
        node_pos.push(node_crd.len() as u64);
    }
    let parents: Vec<u64> = (0..9).collect();
    let levels = [(&[0, 9][..], &parents[..]), (&node_pos, &node_crd), (&leaf_pos, &leaf_crd)];
    for order in [[0, 1, 2], [2, 0, 1]] {
        let tree = tree(&[5000; 3], &order, &levels);
        let model = visit(&tree);
        assert_eq!(model.len(), leaf_crd.len());
        for pieces in [1, 2, 7, 40] {
            let mut folded = Entries::new();
            for piece in tree.split(pieces) {
                folded = piece.leaves().fold(folded, |mut entries, index, leaf| {
                    entries.push((index.to_vec(), leaf));
                    entries
                });
            }
            assert!(folded == model);
            let last = tree.split(pieces).into_iter().fold(None, |last, piece| {
                piece.fold(last, |last, fiber| {
                    assert_eq!(last.unwrap_or(0), fiber.leaves().start);
                    Some(fiber.leaves().end)
                })
            });
            assert_eq!(last, Some(leaf_crd.len()));
        }
    }
}

#[test]
fn folds_see_short_and_long_fibers_in_any_succession() {
    // Lengths around those from which on fibers are walked over in another way, many short ones
    // in a row, and some childless nodes.
    const LENGTHS: [u64; 12] = [0, 1, 2, 3, 14, 15, 16, 17, 255, 256, 257, 600];
    folds_see_all_leaves_in_order(|fiber| match fiber % 1000 {
        0..500 => fiber % 3,
        _ => LENGTHS[(noise(fiber) % 12) as usize],
    });
}

#[test]
fn folds_see_the_fibers_between_many_with_one_leaf() {
    folds_see_all_leaves_in_order(|fiber| [1, 1, 1, 0, 1, 1, 1, 2, 1, 1][(fiber % 10) as usize]);
    folds_see_all_leaves_in_order(|_| 1);
}

#[test]
fn siblings_are_the_fibers_of_one_parent_without_those_that_are_empty() {
    // Parents 4, 5 and 6 with fibers of 0, 2 and 1, of 0, and of 1 and 3 leaves.
    let levels = [
        (&[0, 3][..], &[4, 5, 6][..]),
        (&[0, 3, 4, 6], &[1, 2, 3, 0, 5, 7]),
        (&[0, 0, 2, 3, 3, 4, 7], &[0, 8, 1, 6, 2, 3, 4]),
    ];
    let tree = tree(&[9; 3], &[0, 1, 2], &levels);
    let mut fibers = tree.fibers();
    let siblings = fibers.next_siblings().unwrap();
    assert_eq!(siblings.outer(), [4]);
    assert_eq!(siblings.size_hint(), (0, Some(2)));
    assert!(siblings.eq([(2, &[0, 8][..], 0..2), (3, &[1][..], 2..3)]));
    let siblings = fibers.next_siblings().unwrap();
    assert_eq!(siblings.outer(), [6]);
    assert!(siblings.eq([(5, &[6][..], 3..4), (7, &[2, 3, 4][..], 4..7)]));
    assert!(fibers.next_siblings().is_none());
    assert_eq!(fibers.remaining(), 7..7);
}

#[test]
fn siblings_that_nobody_looks_at_are_passed_over() {
    let levels = [
        (&[0, 2][..], &[4, 6][..]),
        (&[0, 3, 5], &[1, 2, 3, 5, 7]),
        (&[0, 1, 3, 4, 5, 8], &[0, 8, 1, 6, 2, 3, 4, 5]),
    ];
    let tree = tree(&[9; 3], &[0, 1, 2], &levels);
    for looked_at in 0..=3 {
        let mut fibers = tree.fibers();
        let first = fibers.next_siblings().unwrap().take(looked_at);
        assert_eq!(first.count(), looked_at);
        assert_eq!(fibers.remaining(), 4..8);
        assert_eq!(
            of_fibers(fibers),
            [(vec![6, 5, 2], 4), (vec![6, 7, 3], 5), (vec![6, 7, 4], 6), (vec![6, 7, 5], 7),]
        );
    }
    // In a piece they end with it.
    let mut piece = tree.split(4).swap_remove(1);
    let siblings = piece.next_siblings().unwrap();
    assert!(siblings.eq([(2, &[1][..], 2..3), (3, &[6][..], 3..4)]));
    assert!(piece.next_siblings().is_none());
}

#[test]
fn the_fibers_that_are_left_are_counted_with_those_that_are_empty() {
    // Fibers of 2, 0, 1 and 1 leaves.
    let levels =
        [(&[0, 1][..], &[5][..]), (&[0, 4], &[0, 1, 2, 3]), (&[0, 2, 2, 3, 4], &[0, 1, 4, 2])];
    let tree = tree(&[6; 3], &[0, 1, 2], &levels);
    let mut fibers = tree.fibers();
    let mut counts = vec![fibers.remaining_fibers()];
    while fibers.next().is_some() {
        counts.push(fibers.remaining_fibers());
    }
    assert_eq!(counts, [4, 3, 1, 0]);
}

/// Counts what is left of a walk.
trait Count {
    fn count(self) -> usize;
}

impl Count for hurray_csf::Leaves<'_> {
    fn count(self) -> usize {
        let mut count = 0;
        self.for_each(|_, _| count += 1);
        count
    }
}

proptest! {
    #![proptest_config(ProptestConfig::with_cases(300))]

    #[test]
    fn walks_of_valid_trees_are_those_of_the_model(tree in any_valid(), pieces in 1usize..9) {
        let model = visit(&tree);
        prop_assert_eq!(&of_leaves(tree.leaves()), &model);
        prop_assert_eq!(&of_for_each(tree.leaves(), pieces), &model);
        prop_assert_eq!(&of_fibers(tree.fibers()), &model);
        prop_assert_eq!(&of_siblings(&tree, tree.fibers(), 0), &model);
        prop_assert_eq!(&of_siblings(&tree, tree.fibers(), pieces), &model);
        let in_pieces = tree.split(pieces).into_iter();
        let joined: Entries = in_pieces.flat_map(|p| of_siblings(&tree, p, 0)).collect();
        prop_assert_eq!(&joined, &model);
        let split = tree.split(pieces);
        prop_assert!(split.len() <= pieces);
        let lens = || split.iter().map(|piece| piece.remaining().len());
        prop_assert!(lens().max().unwrap() - lens().min().unwrap() <= 1);
        let joined: Entries = split.into_iter().flat_map(of_fibers).collect();
        prop_assert_eq!(joined, model);
    }

    #[test]
    fn sub_trees_hold_what_the_model_filters(tree in any_valid(), pieces in 1usize..5) {
        let model = visit(&tree);
        let order = tree.mode_order();
        for probe in probes(&tree).into_iter().take(40) {
            let stored: Vec<u64> = (0..tree.rank()).map(|l| probe[order.dimension(l)]).collect();
            for depth in 0..tree.rank() {
                let agrees = |index: &[u64]| {
                    (0..depth).all(|l| index[order.dimension(l)] == stored[l])
                };
                let expected: Entries =
                    model.iter().filter(|(index, _)| agrees(index)).cloned().collect();
                let subtree = tree.subtree(&stored[..depth]).unwrap();
                prop_assert_eq!(subtree.rank(), tree.rank() - depth);
                prop_assert_eq!(subtree.nnz(), expected.len());
                prop_assert_eq!(&of_leaves(subtree.leaves()), &expected);
                let joined: Entries =
                    subtree.split(pieces).into_iter().flat_map(of_fibers).collect();
                prop_assert_eq!(&joined, &expected);
                let found = expected.iter().find(|(index, _)| *index == probe);
                prop_assert_eq!(subtree.lookup(&probe), Ok(found.map(|&(_, leaf)| leaf)));
                for (index, leaf) in &model {
                    let found = agrees(index).then_some(*leaf);
                    prop_assert_eq!(subtree.lookup(index), Ok(found));
                }
                let holes: Vec<_> = (0..tree.rank())
                    .map(|d| (order.level(d) < depth).then_some(probe[d]))
                    .collect();
                prop_assert_eq!(&of_leaves(tree.slice(&holes).unwrap().leaves()), &expected);

                let dimension = order.dimension(depth);
                let range = stored[depth]..stored[depth].saturating_add(2);
                let ranged = tree.subtree_range(&stored[..depth], range.clone()).unwrap();
                let expected: Entries = expected
                    .into_iter()
                    .filter(|(index, _)| range.contains(&index[dimension]))
                    .collect();
                prop_assert_eq!(ranged.nnz(), expected.len());
                prop_assert_eq!(&of_leaves(ranged.leaves()), &expected);
                for (index, leaf) in &model {
                    let found = expected.iter().any(|(_, l)| l == leaf).then_some(*leaf);
                    prop_assert_eq!(ranged.lookup(index), Ok(found));
                }
            }
        }
    }

    #[test]
    fn broken_trees_are_walked_to_an_end(tree in any_broken(), pieces in 1usize..9) {
        let in_order = |entries: &Entries| {
            entries.is_sorted_by_key(|(_, leaf)| *leaf) && entries.len() <= tree.nnz()
        };
        let leaves = of_leaves(tree.leaves());
        prop_assert!(in_order(&leaves));
        prop_assert_eq!(&of_fibers(tree.fibers()), &leaves);
        prop_assert_eq!(&of_siblings(&tree, tree.fibers(), 0), &leaves);
        prop_assert_eq!(&of_siblings(&tree, tree.fibers(), pieces), &leaves);
        prop_assert!(in_order(&tree.split(pieces).into_iter().flat_map(of_fibers).collect()));
        let probes = probes(&tree);
        let many = tree.lookup_many(&probes.concat()).unwrap();
        prop_assert_eq!(many.len(), probes.len());
        for (index, leaf) in probes.iter().zip(many).take(200) {
            prop_assert!(leaf.is_none_or(|leaf| leaf < tree.nnz()));
            prop_assert!(tree.lookup(index).unwrap().is_none_or(|leaf| leaf < tree.nnz()));
            let stored: Vec<u64> =
                (0..tree.rank()).map(|l| index[tree.mode_order().dimension(l)]).collect();
            for depth in 0..tree.rank() {
                let subtree = tree.subtree(&stored[..depth]).unwrap();
                prop_assert!(of_leaves(subtree.leaves()).len() <= subtree.nnz());
                let range = tree.subtree_range(&stored[..depth], 1..3).unwrap();
                prop_assert!(range.leaf_range().end <= tree.nnz());
                prop_assert!(of_leaves(range.leaves()).len() <= range.nnz());
                subtree.lookup(index).unwrap();
            }
        }
    }
}
