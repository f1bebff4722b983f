//! CSR and CSC views: structure, validation, lookup, entries.

use hurray_csf::{Compressed, CompressedViolation, Major, StructureError};
use hurray_format::cast::to_usize;
use hurray_format::{FormatError, Shape};
use proptest::prelude::*;

fn matrix(major: Major, shape: [u64; 2], pointers: &[u64], indices: &[u64]) -> Compressed {
    Compressed::new(major, Shape::new(shape).unwrap(), pointers.to_vec(), indices.to_vec()).unwrap()
}

#[test]
fn csr_and_csc_hold_the_same_matrix() {
    // [ a . b ]
    // [ . c . ]
    let csr = matrix(Major::Row, [2, 3], &[0, 2, 3], &[0, 2, 1]);
    let csc = matrix(Major::Column, [2, 3], &[0, 1, 2, 3], &[0, 1, 0]);
    assert_eq!((csr.validate(), csc.validate()), (Ok(()), Ok(())));
    assert_eq!(csr.entries().collect::<Vec<_>>(), [([0, 0], 0), ([0, 2], 1), ([1, 1], 2)]);
    assert_eq!(csc.entries().collect::<Vec<_>>(), [([0, 0], 0), ([1, 1], 1), ([0, 2], 2)]);
    assert_eq!((csr.lookup(&[0, 2]), csc.lookup(&[0, 2])), (Ok(Some(1)), Ok(Some(2))));
    assert_eq!((csr.lookup(&[1, 2]), csc.lookup(&[1, 2])), (Ok(None), Ok(None)));
    assert!(csr.lookup(&[2, 0]).is_err() && csc.lookup(&[0, 3]).is_err());
    assert!(csr.lookup(&[0]).is_err());
}

#[test]
fn empty_rows_and_an_empty_matrix_are_legal() {
    let csr = matrix(Major::Row, [4, 9], &[0, 0, 0, 2, 2], &[3, 8]);
    assert_eq!(csr.validate(), Ok(()));
    assert_eq!(csr.entries().collect::<Vec<_>>(), [([2, 3], 0), ([2, 8], 1)]);
    let none = matrix(Major::Column, [7, 0], &[0], &[]);
    assert_eq!((none.validate(), none.entries().next()), (Ok(()), None));
}

#[test]
fn rank_and_number_of_pointers_are_checked_at_once() {
    let shape = |dimensions: &[u64]| Shape::new(dimensions).unwrap();
    let error = Compressed::new(Major::Column, shape(&[2, 3, 4]), vec![0], vec![]).unwrap_err();
    assert!(matches!(
        error,
        StructureError::Format(FormatError::RankForLayout { layout: "csc", rank: 3, .. })
    ));
    let pointers = |major, count, shape| {
        Compressed::new(major, shape, vec![0; count], vec![]).map(|matrix| matrix.nnz())
    };
    assert_eq!(pointers(Major::Row, 3, shape(&[2, 3])), Ok(0));
    let error = StructureError::PointerCount { found: 3, lines: Some(3) };
    assert_eq!(pointers(Major::Column, 3, shape(&[2, 3])), Err(error));
    let all = shape(&[u64::MAX - 1, 3]);
    assert!(pointers(Major::Row, 1, all).is_err());
    let dynamic = shape(&[Shape::DYNAMIC, 3]);
    assert_eq!(pointers(Major::Row, 5, dynamic.clone()), Ok(0));
    let error = StructureError::PointerCount { found: 0, lines: None };
    assert_eq!(pointers(Major::Row, 0, dynamic), Err(error));
}

#[test]
fn each_rule_has_its_violation() {
    let csr = |pointers: &[u64], indices: &[u64]| {
        matrix(Major::Row, [2, 3], pointers, indices).validate().unwrap_err()
    };
    assert_eq!(csr(&[1, 2, 3], &[0, 2, 1]), CompressedViolation::PointerStart { found: 1 });
    assert_eq!(
        csr(&[0, 4, 3], &[0, 2, 1]),
        CompressedViolation::PointerDecrease { position: 2, found: 3, previous: 4 }
    );
    assert_eq!(
        csr(&[0, 2, 4], &[0, 2, 1]),
        CompressedViolation::PointerEnd { position: 2, found: 4, nnz: 3 }
    );
    assert_eq!(
        csr(&[0, 2, 3], &[2, 2, 1]),
        CompressedViolation::IndexOrder { position: 1, found: 2, previous: 2 }
    );
    let bound = CompressedViolation::IndexBound { position: 1, found: 3, dimension: 1, size: 3 };
    assert_eq!(csr(&[0, 2, 3], &[0, 3, 1]), bound);
    assert_eq!(
        bound.to_string(),
        "indices[1]: found 3, expected less than 3, the size of dimension 1"
    );
}

#[test]
fn any_index_of_a_dynamic_dimension_can_be_asked_for() {
    for (major, other) in [(Major::Row, [0, u64::MAX]), (Major::Column, [u64::MAX, 0])] {
        let tall = matrix(major, [Shape::DYNAMIC; 2], &[0, 1], &[5]);
        for index in [[u64::MAX; 2], [u64::MAX - 1; 2], [1, 1], other] {
            assert_eq!(tall.lookup(&index), Ok(None), "{index:?}");
        }
    }
}

proptest! {
    #[test]
    fn any_words_are_judged_looked_up_and_walked(
        pointers in prop::collection::vec(prop_oneof![9 => 0u64..6, 1 => any::<u64>()], 5),
        indices in prop::collection::vec(0u64..5, 0..6),
    ) {
        let csr = matrix(Major::Row, [4, 4], &pointers, &indices);
        let entries: Vec<_> = csr.entries().collect();
        prop_assert!(entries.len() <= indices.len());
        let holds = pointers[0] == 0
            && pointers.is_sorted()
            && pointers[4] == indices.len() as u64
            && indices.iter().all(|&index| index < 4)
            && pointers.windows(2).all(|row| {
                indices[to_usize(row[0])..to_usize(row[1])].is_sorted_by(|a, b| a < b)
            });
        prop_assert_eq!(csr.validate().is_ok(), holds);
        for row in 0..4 {
            for column in 0..4 {
                let found = csr.lookup(&[row, column]).unwrap();
                if holds {
                    let expected = entries.iter().find(|(index, _)| *index == [row, column]);
                    prop_assert_eq!(found, expected.map(|&(_, position)| position));
                }
            }
        }
    }
}
