//! Lookup, one by one and of many indices at once, against a map of the stored elements.

mod common;

use std::collections::BTreeMap;

use common::{any_valid, noise, one_heavy_fiber, probes, tree, visit, worked_example};
use hurray_csf::IndexError;
use hurray_csf::build::{Builder, Duplicates, Indices};
use hurray_format::cast::to_usize;
use hurray_format::{Shape, Values};
use proptest::prelude::*;

#[test]
fn an_index_outside_the_tensor_is_an_error_that_says_where() {
    let tree = worked_example();
    assert_eq!(tree.lookup(&[1, 1]), Err(IndexError::Rank { found: 2, rank: 3 }));
    let outside = IndexError::OutOfRange { dimension: 1, coordinate: 3, size: 3 };
    assert_eq!(tree.lookup(&[0, 3, 9]), Err(outside.clone()));
    assert_eq!(tree.lookup_many(&[0, 0, 1, 0]), Err(IndexError::Ragged { found: 4, rank: 3 }));
    let error = tree.lookup_many(&[0, 0, 1, 0, 3, 9]).unwrap_err();
    assert_eq!(error, IndexError::AtTuple { tuple: 1, error: Box::new(outside.clone()) });
    assert_eq!(error.to_string(), "index number 1: coordinate 3 is outside dimension 1 of size 3");
    assert_eq!(tree.lookup_many(&[]), Ok(vec![]));
    assert_eq!(tree.subtree(&[0, 3]).unwrap_err(), outside);
    let too_many = IndexError::TooManyFixed { found: 3, rank: 3 };
    assert_eq!(tree.subtree(&[0, 0, 1]).unwrap_err(), too_many);
    assert_eq!(tree.slice(&[Some(0)]).unwrap_err(), IndexError::Rank { found: 1, rank: 3 });
    assert_eq!(
        tree.slice(&[Some(0), None, Some(1)]).unwrap_err(),
        IndexError::NotOutermost { dimension: 2, above: 1 }
    );
}

#[test]
fn long_and_complete_fibers_are_searched_like_short_ones() {
    for n in [1, 2, 15, 16, 17, 18, 31, 127, 128, 129, 1000, 4097] {
        let tree = one_heavy_fiber(n);
        let mut indices = Vec::new();
        let mut expected = Vec::new();
        for k in 0..2 * n + 9 {
            indices.extend([4, 5, k]);
            expected.push((k % 2 == 0 && k < 2 * n).then_some(1 + to_usize(k / 2)));
            assert_eq!(tree.lookup(&[4, 5, k]), Ok(expected[to_usize(k)]), "{n}");
        }
        assert_eq!(tree.lookup_many(&indices), Ok(expected));
    }
    let chain: Vec<u64> = (0..=100).collect();
    let complete = tree(
        &[100, 3, 1],
        &[0, 1, 2],
        &[(&[0, 100], &chain[..100]), (&chain, &[2; 100]), (&chain, &[0; 100])],
    );
    for i in 0..100 {
        assert_eq!(complete.lookup(&[i, 2, 0]), Ok(Some(to_usize(i))));
        assert_eq!(complete.lookup(&[i, 1, 0]), Ok(None));
    }
    // As many siblings as coordinates, but not the right ones: found only where it is true.
    let wrong = tree(
        &[3, 1, 1],
        &[0, 1, 2],
        &[(&[0, 3], &[0, 2, 2]), (&[0, 1, 2, 3], &[0; 3]), (&[0, 1, 2, 3], &[0; 3])],
    );
    assert_eq!(wrong.lookup_many(&[0, 0, 0, 1, 0, 0, 2, 0, 0]), Ok(vec![Some(0), None, Some(2)]));
}

#[test]
fn many_indices_at_once_are_found_where_single_ones_are() {
    // Keys of one word, of two, and with a dimension that bounds nothing.
    let wide = 1 << 40;
    for (shape, scale) in [
        (vec![40, 300, 60], 1),
        (vec![40, 300, Shape::DYNAMIC, 7], 1),
        (vec![40 * wide, 300 * wide, 60 * wide], wide),
    ] {
        let rank = shape.len();
        let sizes = [40, 300, 60, 7];
        let index = |i: u64| (0..rank as u64).map(move |d| noise(4 * i + d) % sizes[to_usize(d)]);
        let stored: Vec<u64> = (0..20_000).flat_map(index).map(|c| c * scale).collect();
        let values = vec![1.0f32; 20_000];
        let tensor = Builder::new(Shape::new(shape).unwrap())
            .shortest_first()
            .duplicates(Duplicates::First)
            .build(Indices::Rows(&stored), Values::from_slice(&values))
            .unwrap();
        let tree = tensor.tree();
        // Some stored, some several times, most of them not.
        let mut sought: Vec<u64> = (10_000..30_000).flat_map(index).map(|c| c * scale).collect();
        sought.extend_from_within(..3 * rank);
        let single: Vec<_> = sought.chunks(rank).map(|index| tree.lookup(index).unwrap()).collect();
        assert!(single.iter().flatten().count() > 10_000);
        assert!(tree.lookup_many(&sought).unwrap() == single);
        // In storage order already.
        let stored = tensor.to_coo();
        let found = tree.lookup_many(stored.coordinates()).unwrap();
        assert!(found.into_iter().eq((0..tree.nnz()).map(Some)));

        let at = 12_345;
        sought[at * rank] = 40 * scale;
        let error = tree.lookup_many(&sought).unwrap_err();
        assert!(matches!(error, IndexError::AtTuple { tuple: 12_345, .. }), "{error}");
    }
}

#[test]
fn many_indices_in_a_tree_that_is_not_valid_are_wrong_at_worst() {
    let n = 5_000;
    let crd: Vec<u64> = (0..n).map(|i| noise(i) % 100).collect();
    let pos: Vec<u64> = (0..=n).map(|i| noise(i) % (2 * n)).collect();
    let broken = tree(&[100; 3], &[0, 1, 2], &[(&[0, n], &crd), (&pos, &crd), (&pos, &crd)]);
    let sought: Vec<u64> = (0..30_000).map(|i| noise(i) % 100).collect();
    let found = broken.lookup_many(&sought).unwrap();
    for (index, leaf) in sought.chunks(3).zip(found) {
        assert!(leaf.is_none_or(|leaf| crd[leaf] == index[2]));
    }
}

proptest! {
    #![proptest_config(ProptestConfig::with_cases(300))]

    #[test]
    fn lookups_in_valid_trees_are_those_of_a_map(tree in any_valid()) {
        let map: BTreeMap<_, _> = visit(&tree).into_iter().collect();
        let probes = probes(&tree);
        let expected: Vec<_> = probes.iter().map(|index| map.get(index).copied()).collect();
        for (index, leaf) in probes.iter().zip(&expected) {
            prop_assert_eq!(tree.lookup(index), Ok(*leaf));
        }
        prop_assert_eq!(tree.lookup_many(&probes.concat()), Ok(expected));
    }
}
