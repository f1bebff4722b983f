//! Coordinate lists: what makes one valid, and what is found in it.

use hurray_csf::error::{CooViolation, IndexError, StructureError};
use hurray_csf::{BuildError, Coo};
use hurray_format::{FormatError, ModeOrder, Shape, Values};

const EXAMPLE: [u64; 12] = [0, 0, 1, 0, 2, 3, 1, 1, 0, 1, 1, 2];

fn coo<'a>(is_sorted: bool, coordinates: &'a [u64], values: &'a [u8]) -> Coo<&'a [u64], &'a [u8]> {
    let shape = Shape::new([2, 3, 4]).unwrap();
    Coo::new(shape, is_sorted, coordinates, Values::from_slice(values)).unwrap()
}

#[test]
fn there_is_one_row_per_value_and_a_rank() {
    let of = |shape: &[u64]| {
        let values = Values::from_slice(&[0u8; 4]);
        Coo::new(Shape::new(shape).unwrap(), true, &EXAMPLE[..11], values).unwrap_err()
    };
    assert_eq!(of(&[2, 3, 4]), StructureError::CoordinateCount { found: 11, nnz: 4, rank: 3 });
    let advice = "scalars are row-major";
    let scalar = FormatError::RankForLayout { layout: "coo", rank: 0, advice };
    assert_eq!(of(&[]), StructureError::Format(scalar));
}

#[test]
fn a_valid_list_has_unique_indices_in_range() {
    coo(true, &EXAMPLE, &[0; 4]).validate().unwrap();
    let mut rows = EXAMPLE;
    rows.rotate_left(3);
    coo(false, &rows, &[0; 4]).validate().unwrap();
    let index = vec![0, 0, 1];
    assert_eq!(
        coo(true, &rows, &[0; 4]).validate(),
        Err(CooViolation::Unsorted { position: 3, index })
    );
    rows[10] = 3;
    let outside = CooViolation::OutOfRange { position: 3, dimension: 1, coordinate: 3, size: 3 };
    assert_eq!(coo(false, &rows, &[0; 4]).validate(), Err(outside.clone()));
    assert_eq!(coo(true, &rows, &[0; 4]).validate(), Err(outside));
}

#[test]
fn an_index_that_is_there_twice_is_named_with_both_positions() {
    let rows = [1, 1, 0, 0, 2, 3, 1, 1, 0, 1, 0, 0];
    assert_eq!(
        coo(false, &rows, &[0; 4]).validate(),
        Err(CooViolation::Duplicate { position: 2, first: 0, index: vec![1, 1, 0] })
    );
    assert_eq!(
        coo(false, &rows, &[0; 4]).to_csf(ModeOrder::identity(3).unwrap()).unwrap_err(),
        BuildError::Duplicate { index: vec![1, 1, 0], first: 0, second: 2 }
    );
    let rows = [0, 2, 3, 0, 2, 3];
    assert_eq!(
        coo(true, &rows, &[0; 2]).validate(),
        Err(CooViolation::Unsorted { position: 1, index: vec![0, 2, 3] })
    );
}

#[test]
fn lookup_finds_stored_indices_only_sorted_or_not() {
    let mut rotated = EXAMPLE;
    rotated.rotate_left(6);
    for (is_sorted, rows) in [(true, EXAMPLE), (false, rotated)] {
        let list = coo(is_sorted, &rows, &[0; 4]);
        for i in 0..24u64 {
            let index = [i / 12, i / 4 % 3, i % 4];
            let expected = rows.chunks_exact(3).position(|row| row == index);
            assert_eq!(list.lookup(&index), Ok(expected));
        }
        assert_eq!(list.lookup(&[0, 0]), Err(IndexError::Rank { found: 2, rank: 3 }));
        let outside = IndexError::OutOfRange { dimension: 2, coordinate: 4, size: 4 };
        assert_eq!(list.lookup(&[0, 0, 4]), Err(outside));
        assert_eq!(list.index(4), None);
    }
}

#[test]
fn a_list_of_rank_1_is_a_list_but_not_a_tree() {
    let values = Values::from_slice(&[1.0, 2.0]);
    let list = Coo::new(Shape::new([9]).unwrap(), false, [7, 3], values).unwrap();
    list.validate().unwrap();
    assert_eq!(list.lookup(&[3]), Ok(Some(1)));
    let advice = "use CSR, CSC or COO below rank 3";
    let error = FormatError::RankForLayout { layout: "csf", rank: 1, advice };
    let refused = list.to_csf(ModeOrder::identity(1).unwrap()).unwrap_err();
    assert_eq!(refused, BuildError::Format(error));
}
