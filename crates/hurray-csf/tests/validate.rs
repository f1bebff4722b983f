//! The storage invariants: one by one, and against a validator that takes them literally.

mod common;

use common::{any_broken, any_valid, from_sorted, tree, violations, worked_example};
use hurray_csf::{Csf, Level, Violation};
use hurray_format::{ModeOrder, Shape};
use proptest::prelude::*;

/// The worked example with one word replaced.
fn broken(level: usize, in_crd: bool, position: usize, word: u64) -> Csf<Vec<u64>> {
    let example = worked_example();
    let (shape, mode_order) = (example.shape().clone(), example.mode_order().clone());
    let mut levels = example.into_levels();
    let Level { pos, crd } = &mut levels[level];
    (if in_crd { crd } else { pos })[position] = word;
    Csf::new(shape, mode_order, levels).unwrap()
}

/// The first violation, checked to be what the others say as well.
fn first(tree: &Csf<Vec<u64>>) -> Violation {
    let violation = tree.validate().unwrap_err();
    assert_eq!(tree.validate_all(1), [violation]);
    violation
}

#[test]
fn the_worked_example_is_valid() {
    assert_eq!(worked_example().validate(), Ok(()));
    assert_eq!(worked_example().validate_all(10), []);
}

#[test]
fn invariant_1_pos_starts_at_0() {
    let violation = first(&broken(1, false, 0, 1));
    assert_eq!(violation, Violation::PosStart { level: 1, found: 1 });
    assert_eq!((violation.invariant(), violation.level(), violation.position()), (Some(1), 1, 0));
    assert_eq!(violation.to_string(), "invariant 1 broken at pos_1[0]: found 1, expected 0");
}

#[test]
fn invariant_2_pos_never_decreases() {
    let violation = first(&broken(2, false, 1, 3));
    let expected = Violation::PosDecrease { level: 2, position: 2, found: 2, previous: 3 };
    assert_eq!(violation, expected);
    assert_eq!(
        violation.to_string(),
        "invariant 2 broken at pos_2[2]: found 2, expected at least 3, the entry before"
    );
    let violation = first(&broken(2, false, 1, u64::MAX));
    let expected = Violation::PosDecrease { level: 2, position: 2, found: 2, previous: u64::MAX };
    assert_eq!(violation, expected);
}

#[test]
fn invariant_3_pos_ends_with_the_nodes_of_its_level() {
    for found in [1, 3, u64::MAX] {
        let violation = first(&broken(0, false, 1, found));
        assert_eq!(violation, Violation::PosEnd { level: 0, position: 1, found, nodes: 2 });
    }
    let text = first(&broken(2, false, 3, 5)).to_string();
    assert_eq!(text, "invariant 3 broken at pos_2[3]: found 5, expected 4, the number of nodes");
}

#[test]
fn invariant_4_siblings_increase_strictly() {
    let violation = first(&broken(2, true, 3, 0));
    let expected = Violation::CrdOrder { level: 2, position: 3, found: 0, previous: 0 };
    assert_eq!(violation, expected);
    // The first of a fiber has no sibling before.
    assert_eq!(broken(2, true, 1, 0).validate(), Ok(()));
    // A parent without children does not make siblings of the children of its neighbours, nor
    // does it hide a descent among them.
    let levels =
        |crd_1| [(&[0, 3][..], &[0, 1, 2][..]), (&[0, 2, 2, 3], crd_1), (&[0, 1, 2, 3], &[0; 3])];
    assert_eq!(tree(&[3, 9, 9], &[0, 1, 2], &levels(&[1, 5, 2])).validate(), Ok(()));
    assert_eq!(
        first(&tree(&[3, 9, 9], &[0, 1, 2], &levels(&[5, 1, 0]))),
        Violation::CrdOrder { level: 1, position: 1, found: 1, previous: 5 }
    );
}

#[test]
fn invariant_5_coordinates_are_in_bounds() {
    let violation = first(&broken(1, true, 1, 3));
    let expected = Violation::CrdBound { level: 1, position: 1, found: 3, dimension: 1, size: 3 };
    assert_eq!(violation, expected);
    assert_eq!(
        violation.to_string(),
        "invariant 5 broken at crd_1[1]: found 3, expected less than 3, the size of dimension 1"
    );
    // The bound belongs to the dimension that the level stores.
    let levels = [(&[0, 1][..], &[5][..]), (&[0, 1], &[0]), (&[0, 1], &[0])];
    assert_eq!(tree(&[1, 1, 6], &[2, 0, 1], &levels).validate(), Ok(()));
    assert_eq!(
        first(&tree(&[1, 6, 1], &[2, 0, 1], &levels)),
        Violation::CrdBound { level: 0, position: 0, found: 5, dimension: 2, size: 1 }
    );
}

#[test]
fn a_dynamic_dimension_bounds_nothing_and_large_ones_bound_exactly() {
    let top = |size: u64, crd: &[u64]| {
        let n = crd.len() as u64;
        let chain: Vec<u64> = (0..=n).collect();
        let zeros = vec![0; crd.len()];
        tree(&[size, 1, 1], &[0, 1, 2], &[(&[0, n], crd), (&chain, &zeros), (&chain, &zeros)])
            .validate()
    };
    assert_eq!(top(Shape::DYNAMIC, &[0, 1 << 63, u64::MAX]), Ok(()));
    assert!(top(Shape::DYNAMIC, &[0, u64::MAX, 1 << 63]).is_err());
    for size in [1, 5, 1 << 32, (1 << 63) - 1, 1 << 63, (1 << 63) + 1, u64::MAX - 1] {
        assert_eq!(top(size, &[size - 1]), Ok(()), "{size}");
        let violation =
            Violation::CrdBound { level: 0, position: 0, found: size, dimension: 0, size };
        assert_eq!(top(size, &[size]), Err(violation));
        assert!(top(size, &[0, u64::MAX]).is_err(), "{size}");
    }
    let violation = Violation::CrdBound { level: 0, position: 0, found: 0, dimension: 0, size: 0 };
    assert_eq!(top(0, &[0]), Err(violation));
}

#[test]
fn an_empty_tensor_has_no_nodes() {
    let none: [(&[u64], &[u64]); 3] = [(&[0, 0], &[]), (&[0], &[]), (&[0], &[])];
    assert_eq!(tree(&[2, 0, 4], &[0, 1, 2], &none).validate(), Ok(()));
    // Nodes above nothing keep the five invariants, but not the empty form.
    let nodes = tree(&[2, 3, 4], &[0, 1, 2], &[(&[0, 1], &[1]), (&[0, 0], &[]), (&[0], &[])]);
    let violation = first(&nodes);
    assert_eq!(violation, Violation::EmptyForm { level: 0, nodes: 1 });
    assert_eq!(violation.invariant(), None);
    let wrong = tree(&[2, 3, 4], &[0, 1, 2], &[(&[0, 0], &[]), (&[7], &[]), (&[0], &[])]);
    assert_eq!(
        wrong.validate_all(9),
        [
            Violation::PosStart { level: 1, found: 7 },
            Violation::PosEnd { level: 1, position: 0, found: 7, nodes: 0 }
        ]
    );
}

#[test]
fn rank_64_is_valid_to_the_last_level() {
    let shape = vec![2; 64];
    let order: Vec<u32> = (0..64).rev().collect();
    let ones = from_sorted(&shape, &order, &[vec![0; 64], vec![1; 64]]);
    assert_eq!(ones.validate(), Ok(()));
    let mut levels = ones.into_levels();
    levels[63].crd[1] = 2;
    let tree =
        Csf::new(Shape::new(shape).unwrap(), ModeOrder::new(order).unwrap(), levels).unwrap();
    let expected = Violation::CrdBound { level: 63, position: 1, found: 2, dimension: 0, size: 2 };
    assert_eq!(tree.validate(), Err(expected));
}

#[test]
fn all_violations_come_in_order_up_to_the_limit() {
    let wrong = tree(
        &[2, 3, 4],
        &[0, 1, 2],
        &[(&[0, 2], &[1, 1]), (&[0, 4, 3], &[0, 9, 1]), (&[0, 1, 2, 4], &[1, 3, 9, 9])],
    );
    let all = [
        Violation::CrdOrder { level: 0, position: 1, found: 1, previous: 1 },
        Violation::PosDecrease { level: 1, position: 2, found: 3, previous: 4 },
        Violation::CrdBound { level: 1, position: 1, found: 9, dimension: 1, size: 3 },
        Violation::CrdBound { level: 2, position: 2, found: 9, dimension: 2, size: 4 },
        Violation::CrdOrder { level: 2, position: 3, found: 9, previous: 9 },
        Violation::CrdBound { level: 2, position: 3, found: 9, dimension: 2, size: 4 },
    ];
    assert_eq!(wrong.validate_all(100), all);
    assert_eq!(wrong.validate_all(4), all[..4]);
    assert_eq!(wrong.validate_all(0), []);
}

/// Large enough for several pieces: one slice holds half of the leaves, the others a few each, and
/// every third node has no children.
fn large() -> Vec<Level<Vec<u64>>> {
    let slices = 3000u64;
    let (mut pos_1, mut crd_1) = (vec![0], Vec::new());
    for slice in 0..slices {
        crd_1.extend((0..slice % 3 * 5).map(|j| 7 * j));
        pos_1.push(crd_1.len() as u64);
    }
    let (mut pos_2, mut crd_2) = (vec![0], Vec::new());
    for fiber in 0..crd_1.len() as u64 {
        let children = if fiber == 1000 { 150_000 } else { 13 * (fiber % 3) };
        crd_2.extend((0..children).map(|k| k + fiber % 11));
        pos_2.push(crd_2.len() as u64);
    }
    vec![
        Level { pos: vec![0, slices], crd: (0..slices).collect() },
        Level { pos: pos_1, crd: crd_1 },
        Level { pos: pos_2, crd: crd_2 },
    ]
}

#[cfg(feature = "parallel")]
#[test]
fn the_first_violation_does_not_depend_on_threads_or_pieces() {
    let verdicts = |tree: &Csf<Vec<u64>>| {
        [1, 2, 7].map(|threads| {
            let pool = rayon::ThreadPoolBuilder::new().num_threads(threads).build().unwrap();
            pool.install(|| tree.validate())
        })
    };
    let make = |levels| {
        Csf::new(Shape::new([3000, 100, 200_000]).unwrap(), ModeOrder::identity(3).unwrap(), levels)
            .unwrap()
    };
    assert_eq!(verdicts(&make(large())), [Ok(()); 3]);
    let positions = [0, 1, 999, 1000, 1001, 5000, 65_535, 65_536, 131_072, 200_000];
    for level in 0..3 {
        for in_crd in [false, true] {
            for position in positions {
                for word in [0, 1, 200_001, u64::MAX] {
                    let mut levels = large();
                    let array =
                        if in_crd { &mut levels[level].crd } else { &mut levels[level].pos };
                    let Some(place) = array.get_mut(position) else { continue };
                    *place = word;
                    let tree = make(levels);
                    let expected = violations(&tree).first().map_or(Ok(()), |&first| Err(first));
                    assert_eq!(verdicts(&tree), [expected; 3], "{level} {in_crd} {position}");
                }
            }
        }
    }
}

proptest! {
    #![proptest_config(ProptestConfig::with_cases(1000))]

    #[test]
    fn valid_trees_pass(tree in any_valid()) {
        let all = violations(&tree);
        prop_assert!(all.iter().all(|violation| violation.invariant().is_none()));
        prop_assert_eq!(tree.validate_all(usize::MAX), all);
    }

    #[test]
    fn broken_trees_are_judged_as_by_the_model(tree in any_broken(), limit in 0usize..4) {
        let all = violations(&tree);
        prop_assert_eq!(tree.validate(), all.first().map_or(Ok(()), |&first| Err(first)));
        prop_assert_eq!(&tree.validate_all(limit)[..], &all[..limit.min(all.len())]);
        prop_assert_eq!(tree.validate_all(usize::MAX), all);
    }
}
