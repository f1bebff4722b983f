//! Views that nobody has validated, or whose bytes change afterwards: wrong answers at worst, and
//! answers that end.
//!
//! Arbitrary words, in storage that stays and in storage that changes between one look and the next,
//! are what the fuzz target `views` is for. Here are the rules that it found or that need size.

use hurray_csf::{BuildError, Compressed, Csf, Fibers, Level, Major, Subtree, Tensor};
use hurray_format::cast::to_u64;
use hurray_format::{AlignedBytes, ElementType, ModeOrder, Shape, Values};
use hurray_io::tns::{self, WriteError, WriteOptions};
use hurray_testing::Choices;
use hurray_testing::changing::Changing;
use hurray_testing::exercise::{self, Storage};

/// A tree of rank 4 whose levels all have `n` nodes and these `pos` below the outermost level.
fn hostile(n: usize, pos: impl Fn(u64) -> u64) -> Csf<Vec<u64>> {
    let crd: Vec<u64> = (0..to_u64(n)).collect();
    let pos: Vec<u64> = (0..=to_u64(n)).map(pos).collect();
    let outermost = Level { pos: vec![0, to_u64(n)], crd: crd.clone() };
    let levels = std::iter::once(outermost)
        .chain((0..3).map(|_| Level { pos: pos.clone(), crd: crd.clone() }));
    let shape = Shape::new([to_u64(n); 4]).unwrap();
    Csf::new(shape, ModeOrder::new([2, 0, 3, 1]).unwrap(), levels.collect()).unwrap()
}

fn count(fibers: Fibers<'_>) -> (usize, usize) {
    let (mut fiber_count, mut leaves) = (0, 0);
    fibers.for_each(|fiber| {
        fiber_count += 1;
        leaves += fiber.crd().len();
    });
    (fiber_count, leaves)
}

/// Levels whose nodes all claim very many children.
fn hostile_trees(n: usize) -> Vec<Csf<Vec<u64>>> {
    let all = to_u64(n);
    vec![
        // Everything, nothing, everything.
        hostile(n, |node| if node % 2 == 0 { 0 } else { all }),
        hostile(n, |node| if node % 2 == 0 { 0 } else { u64::MAX }),
        // All of the level, each time, and the other way round.
        hostile(n, |_| all),
        hostile(n, |node| all - node),
        hostile(n, |_| u64::MAX),
        hostile(n, |_| 0),
    ]
}

#[test]
fn nodes_that_all_claim_the_whole_level_do_not_multiply_the_leaves() {
    let n = 50_000;
    for tree in hostile_trees(n) {
        assert!(tree.validate().is_err());
        assert!(tree.validate_all(usize::MAX).len() <= 8 * (n + 1));
        let within = |(fibers, leaves): (usize, usize)| assert!(fibers <= n && leaves <= n);
        within(count(tree.fibers()));
        let pieces: Vec<(usize, usize)> = tree.split(1000).into_iter().map(count).collect();
        within(pieces.iter().fold((0, 0), |sum, piece| (sum.0 + piece.0, sum.1 + piece.1)));
        let mut leaves = 0;
        tree.leaves().for_each(|_, leaf| {
            assert!(leaf < n);
            leaves += 1;
        });
        assert!(leaves <= n);
        for fixed in [&[][..], &[1], &[1, 1], &[1, 0], &[to_u64(n) - 1, 3, 3]] {
            let part: Subtree<'_> = tree.subtree(fixed).unwrap();
            assert!(part.nnz() <= n);
            within(count(part.fibers()));
        }
    }
}

#[test]
fn nodes_that_all_claim_the_whole_level_do_not_multiply_conversions() {
    let n = 20_000;
    for tree in hostile_trees(n) {
        let bytes = AlignedBytes::zeroed(4 * n);
        let values = Values::new(ElementType::Float32, n, bytes).unwrap();
        let tensor = Tensor::new(tree, values).unwrap();
        let list = tensor.to_coo();
        assert_eq!((list.nnz(), list.coordinates().len()), (n, 4 * n));
        // Refused, or built of no more than is there.
        if let Ok(turned) = tensor.to_mode_order(ModeOrder::identity(4).unwrap()) {
            assert!(turned.tree().nnz() <= n && turned.tree().validate().is_ok());
        }
    }
}

#[test]
fn pointers_that_all_claim_everything_do_not_multiply_the_entries() {
    let n = 50_000u64;
    let indices: Vec<u64> = (0..n).collect();
    for pointer in [0, n, u64::MAX] {
        let pointers: Vec<u64> =
            (0..=n).map(|line| if line % 2 == 0 { 0 } else { pointer }).collect();
        let shape = Shape::new([n, n]).unwrap();
        let matrix = Compressed::new(Major::Row, shape, pointers, indices.clone()).unwrap();
        assert!(matrix.entries().count() <= indices.len());
    }
}

/// The worked example, and what its last level becomes.
fn shrinking(order: &[u8]) -> Csf<Changing<u64>> {
    let quiet = |words: &[u64]| Changing::new(vec![words.to_vec()], &[]);
    let levels = vec![
        Level { pos: quiet(&[0, 2]), crd: quiet(&[0, 1]) },
        Level { pos: quiet(&[0, 2, 3]), crd: quiet(&[0, 2, 1]) },
        Level {
            pos: quiet(&[0, 1, 2, 4]),
            crd: Changing::new(vec![vec![1, 3, 0, 2], vec![1], vec![]], order),
        },
    ];
    Csf::new(Shape::new([2, 3, 4]).unwrap(), ModeOrder::identity(3).unwrap(), levels).unwrap()
}

#[test]
fn a_fiber_whose_storage_shrinks_is_shorter() {
    // How many looks there are is not part of any promise, so it shrinks at each in turn.
    for look in 0..12 {
        for smaller in [1, 2] {
            let mut order = vec![0; 20];
            order[look..].fill(smaller);
            let tree = shrinking(&order);
            for part in [tree.subtree(&[1, 1]), tree.subtree_range(&[1, 1], 0..4)] {
                let part = part.unwrap();
                let (_, leaves) = count(part.fibers());
                assert!(leaves <= part.nnz() && part.leaf_range().end <= 4);
            }
        }
    }
}

#[test]
fn storage_that_changes_at_every_look_gives_answers_that_end() {
    for start in 0..=255u8 {
        let order: Vec<u8> =
            (0..23).map(|look| start.wrapping_mul(31).rotate_left(look) / 3).collect();
        let decisions: Vec<u8> = (0..200).map(|at| start.wrapping_mul(at | 1)).collect();
        let mut order = order;
        order[0] = 0;
        let tree = shrinking(&order);
        exercise::tree(&tree, Storage::Changing(4), &mut Choices::new(&decisions));
    }
}

#[test]
fn values_that_are_gone_are_in_no_list_no_tree_and_no_text() {
    // They are there when the tensor is put together, and at no later look.
    let values = Changing::new(vec![vec![7u8; 4], vec![7; 3]], &[0, 1, 1, 1, 1, 1, 1, 1]);
    let values = Values::new(ElementType::Uint8, 4, &values).unwrap();
    let tensor = Tensor::new(shrinking(&[]), values).unwrap();
    assert_eq!(tensor.values().len(), 4);
    assert_eq!(tensor.to_coo().nnz(), 0);
    let turned = tensor.to_mode_order(ModeOrder::new([2, 0, 1]).unwrap());
    assert!(matches!(turned, Err(BuildError::ValueCount { values: 0, entries: 4 })), "{turned:?}");
    let mut text = Vec::new();
    let error = tns::write_csf(&tensor, &mut text, &WriteOptions::default()).unwrap_err();
    assert!(matches!(error, WriteError::EntryCount { values: 0, .. }), "{error}");
    assert!(text.is_empty());
}
