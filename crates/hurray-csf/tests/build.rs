//! Building against the worked example of the CSF section and against a plain sorted map.
#![expect(
    clippy::cast_possible_truncation,
    clippy::cast_possible_wrap,
    reason = "small numbers, and noise"
)]

mod common;

use std::collections::BTreeMap;

use common::{levels, shape};
use hurray_csf::build::{Builder, Coordinate, Indices};
use hurray_csf::{BuildError, Duplicates, Tensor};
use hurray_format::element::{Complex, PrivateKind, PrivateType};
use hurray_format::tag::PrivateTag;
use hurray_format::{AlignedBytes, ElementType, FormatError, ModeOrder, Shape, Values};
use proptest::prelude::*;

/// `pos` and `crd` of a level.
type Arrays<'a> = (&'a [u64], &'a [u64]);

const EXAMPLE: [u64; 12] = [0, 0, 1, 0, 2, 3, 1, 1, 0, 1, 1, 2];

/// What a tree must be, the slow and plain way: from indices in storage order without duplicates.
fn model_levels(sorted: &[Vec<u64>], rank: usize) -> Vec<(Vec<u64>, Vec<u64>)> {
    let mut parents = vec![vec![]];
    let mut levels = Vec::new();
    for level in 0..rank {
        let mut nodes: Vec<Vec<u64>> = sorted.iter().map(|s| s[..=level].to_vec()).collect();
        nodes.dedup();
        let children_before = |parent: &Vec<u64>| {
            nodes.iter().filter(|node| node[..level] < parent[..]).count() as u64
        };
        let mut pos: Vec<u64> = parents.iter().map(children_before).collect();
        pos.push(nodes.len() as u64);
        levels.push((pos, nodes.iter().map(|node| node[level]).collect()));
        parents = nodes;
    }
    levels
}

fn in_storage_order(index: &[u64], order: &ModeOrder) -> Vec<u64> {
    (0..order.rank()).map(|level| index[order.dimension(level)]).collect()
}

#[test]
fn the_worked_example_has_its_arrays_in_every_mode_order() {
    #[rustfmt::skip]
    let expected: [(_, [Arrays<'_>; 3], [f32; 4]); 6] = [
        ([0, 1, 2], [(&[0, 2], &[0, 1]), (&[0, 2, 3], &[0, 2, 1]), (&[0, 1, 2, 4], &[1, 3, 0, 2])], [1., 2., 3., 4.]),
        ([0, 2, 1], [(&[0, 2], &[0, 1]), (&[0, 2, 4], &[1, 3, 0, 2]), (&[0, 1, 2, 3, 4], &[0, 2, 1, 1])], [1., 2., 3., 4.]),
        ([1, 0, 2], [(&[0, 3], &[0, 1, 2]), (&[0, 1, 2, 3], &[0, 1, 0]), (&[0, 1, 3, 4], &[1, 0, 2, 3])], [1., 3., 4., 2.]),
        ([1, 2, 0], [(&[0, 3], &[0, 1, 2]), (&[0, 1, 3, 4], &[1, 0, 2, 3]), (&[0, 1, 2, 3, 4], &[0, 1, 1, 0])], [1., 3., 4., 2.]),
        ([2, 0, 1], [(&[0, 4], &[0, 1, 2, 3]), (&[0, 1, 2, 3, 4], &[1, 0, 1, 0]), (&[0, 1, 2, 3, 4], &[1, 0, 1, 2])], [3., 1., 4., 2.]),
        ([2, 1, 0], [(&[0, 4], &[0, 1, 2, 3]), (&[0, 1, 2, 3, 4], &[1, 0, 1, 2]), (&[0, 1, 2, 3, 4], &[1, 0, 1, 0])], [3., 1., 4., 2.]),
    ];
    for (order, arrays, values) in expected {
        let tensor = Builder::new(shape(&[2, 3, 4]))
            .mode_order(ModeOrder::new(order).unwrap())
            .build(Indices::Rows(&EXAMPLE), Values::from_slice(&[1.0f32, 2.0, 3.0, 4.0]))
            .unwrap();
        let arrays = arrays.map(|(pos, crd)| (pos.to_vec(), crd.to_vec()));
        assert_eq!(levels(tensor.tree()), arrays, "{order:?}");
        assert_eq!(tensor.values().as_slice::<f32>().unwrap(), values, "{order:?}");
    }
}

#[test]
fn the_identity_is_the_default_mode_order() {
    let values = Values::from_slice(&[1.0f32, 2.0, 3.0, 4.0]);
    let tensor = Builder::new(shape(&[5, 3, 4])).build(Indices::Rows(&EXAMPLE), values).unwrap();
    assert_eq!(tensor.tree().mode_order().as_slice(), [0, 1, 2]);
}

#[test]
fn an_empty_tensor_has_the_empty_form() {
    for dimensions in [[2, 3, 4], [2, 0, 4], [0, 0, Shape::DYNAMIC]] {
        let tensor = Builder::new(shape(&dimensions))
            .build(Indices::<u32>::Rows(&[]), Values::from_slice::<f64>(&[]))
            .unwrap();
        let expected = [(vec![0, 0], vec![]), (vec![0], vec![]), (vec![0], vec![])];
        assert_eq!(levels(tensor.tree()), expected);
        assert!(tensor.values().is_empty());
    }
}

fn build_as<I: Coordinate + TryFrom<u8>>() -> Vec<Tensor> {
    let rows: Vec<I> = EXAMPLE.iter().map(|&c| (c as u8).try_into().ok().unwrap()).collect();
    let columns: Vec<Vec<I>> =
        (0..3).map(|d| rows.iter().skip(d).step_by(3).copied().collect()).collect();
    let columns: Vec<&[I]> = columns.iter().map(|column| &column[..]).collect();
    let values = [1u16, 2, 3, 4];
    [Indices::Rows(&rows), Indices::Columns(&columns)]
        .map(|indices| {
            let builder = Builder::new(shape(&[2, 3, 4])).shortest_first();
            builder.build(indices, Values::from_slice(&values)).unwrap()
        })
        .into()
}

#[test]
fn every_integer_type_and_both_forms_give_the_same_tree() {
    let all = [
        build_as::<u8>(),
        build_as::<u16>(),
        build_as::<u32>(),
        build_as::<u64>(),
        build_as::<usize>(),
        build_as::<i8>(),
        build_as::<i16>(),
        build_as::<i32>(),
        build_as::<i64>(),
        build_as::<isize>(),
    ];
    // i8 from u8: every coordinate of the example fits.
    for tensor in all.iter().flatten() {
        assert_eq!(levels(tensor.tree()), levels(all[0][0].tree()));
        assert_eq!(tensor.values().as_slice::<u16>().unwrap(), [1, 2, 3, 4]);
    }
}

fn error_of<I: Coordinate>(
    dimensions: &[u64],
    indices: Indices<'_, I>,
    values: &[f32],
) -> BuildError {
    Builder::new(shape(dimensions)).build(indices, Values::from_slice(values)).unwrap_err()
}

#[test]
fn lengths_that_do_not_match_are_refused() {
    let of =
        |dimensions: &[u64], rows: &[u64]| error_of(dimensions, Indices::Rows(rows), &[1.0; 4]);
    assert_eq!(of(&[2, 3, 4], &EXAMPLE[..11]), BuildError::PartialRow { found: 11, rank: 3 });
    assert_eq!(of(&[2, 3, 4], &EXAMPLE[..9]), BuildError::ValueCount { values: 4, entries: 3 });
    let advice = "use CSR, CSC or COO below rank 3";
    let rank =
        |rank| BuildError::Format(FormatError::RankForLayout { layout: "csf", rank, advice });
    assert_eq!(of(&[2, 3], &EXAMPLE), rank(2));
    assert_eq!(of(&[], &EXAMPLE), rank(0));
    assert_eq!(
        error_of(&[2, 3, 4], Indices::Columns(&[&[0u8], &[0]]), &[1.0]),
        BuildError::ColumnCount { found: 2, rank: 3 }
    );
    assert_eq!(
        error_of(&[2, 3, 4], Indices::Columns(&[&[0u8, 1], &[0, 1], &[0]]), &[1.0]),
        BuildError::ColumnLength { dimension: 2, found: 1, expected: 2 }
    );
    let two = Builder::new(shape(&[2, 3, 4])).mode_order(ModeOrder::identity(4).unwrap());
    assert_eq!(
        two.build(Indices::Rows(&EXAMPLE), Values::from_slice(&[1.0f32; 4])).unwrap_err(),
        BuildError::Format(FormatError::ModeOrderLength { found: 4, rank: 3 })
    );
}

#[test]
fn the_first_coordinate_out_of_range_is_named() {
    let rows = [0i32, 0, 1, 0, 2, 3, 1, -7, 4, -1, 0, 0];
    assert_eq!(
        error_of(&[2, 3, 4], Indices::Rows(&rows), &[1.0; 4]),
        BuildError::Negative { entry: 2, dimension: 1, coordinate: -7 }
    );
    assert_eq!(
        error_of(&[2, 3, 4], Indices::Rows(&rows[3..9]), &[1.0; 2]),
        BuildError::Negative { entry: 1, dimension: 1, coordinate: -7 }
    );
    assert_eq!(
        error_of(&[2, 3, 3], Indices::Rows(&rows), &[1.0; 4]),
        BuildError::OutOfRange { entry: 1, dimension: 2, coordinate: 3, size: 3 }
    );
    // Nothing bounds a dynamic dimension, but nothing lies below 0.
    assert_eq!(
        error_of(&[2, Shape::DYNAMIC, 9], Indices::Rows(&rows), &[1.0; 4]),
        BuildError::Negative { entry: 2, dimension: 1, coordinate: -7 }
    );
    let far = u64::MAX - 2;
    assert_eq!(
        error_of(&[far + 1, far, 9], Indices::Rows(&[far, far - 1, 0, far, far, 0]), &[1.0; 2]),
        BuildError::OutOfRange { entry: 1, dimension: 1, coordinate: far, size: far }
    );
    // In a late block, behind many that are right.
    let mut many = vec![0u32; 300_000];
    many[3 * 77_777 + 1] = 5;
    assert_eq!(
        error_of(&[1, 5, 1], Indices::Rows(&many), &vec![0.0; 100_000]),
        BuildError::OutOfRange { entry: 77_777, dimension: 1, coordinate: 5, size: 5 }
    );
}

#[test]
fn a_duplicate_names_the_first_index_in_storage_order_and_its_first_two_entries() {
    let rows = [1u8, 1, 1, 0, 2, 0, 1, 1, 1, 0, 2, 0, 0, 1, 3, 0, 2, 0];
    let build = |order| {
        Builder::new(shape(&[2, 3, 4]))
            .mode_order(ModeOrder::new(order).unwrap())
            .build(Indices::Rows(&rows), Values::from_slice(&[0u8; 6]))
            .unwrap_err()
    };
    let later = BuildError::Duplicate { index: vec![0, 2, 0], first: 1, second: 3 };
    assert_eq!(build([0, 1, 2]), later);
    assert_eq!(build([2, 1, 0]), later);
    assert_eq!(
        build([1, 0, 2]),
        BuildError::Duplicate { index: vec![1, 1, 1], first: 0, second: 2 }
    );
}

/// Merges values that all have index (0, 0, 0); before them lies one at (0, 0, 1).
fn merge<T: hurray_format::Scalar>(how: Duplicates, values: &[T]) -> Result<T, BuildError> {
    let mut rows = vec![0u8; 3 * (values.len() + 1)];
    rows[2] = 1;
    let values: Vec<T> = values.first().into_iter().chain(values).copied().collect();
    Builder::new(shape(&[1, 1, 2]))
        .duplicates(how)
        .build(Indices::Rows(&rows), Values::from_slice(&values))
        .map(|tensor| tensor.values().as_slice::<T>().unwrap()[0])
}

#[test]
fn sums_are_exact_for_integers_and_in_input_order_for_floats() {
    use half::{bf16, f16};
    assert_eq!(merge(Duplicates::Sum, &[100i8, 100, -100]), Ok(100));
    assert_eq!(
        merge(Duplicates::Sum, &[100i8, 28]),
        Err(BuildError::SumOverflow { index: vec![0, 0, 0], element_type: ElementType::Int8 })
    );
    assert_eq!(merge(Duplicates::Sum, &[u64::MAX - 1, 1]), Ok(u64::MAX));
    assert!(merge(Duplicates::Sum, &[u64::MAX, 1]).is_err());
    assert_eq!(merge(Duplicates::Sum, &[1e16, 1.0, -1e16]), Ok(0.0));
    assert_eq!(merge(Duplicates::Sum, &[1e16, -1e16, 1.0]), Ok(1.0));
    assert_eq!(merge(Duplicates::Sum, &[-0.0f64, -0.0]).unwrap().to_bits(), (-0.0f64).to_bits());
    // 2048 + 1 is 2048 in float16; twice 1 is not lost when rounded once.
    let halves = [2048.0, 1.0, 1.0];
    assert_eq!(merge(Duplicates::Sum, &halves.map(f16::from_f32)), Ok(f16::from_f32(2050.0)));
    let halves = [256.0, 1.0, 1.0];
    assert_eq!(merge(Duplicates::Sum, &halves.map(bf16::from_f32)), Ok(bf16::from_f32(258.0)));
    fn complex<T>(re: T, im: T) -> Complex<T> {
        Complex { re, im }
    }
    assert_eq!(
        merge(Duplicates::Sum, &[complex(1.0f64, 2.0), complex(3.0, -5.0)]),
        Ok(complex(4.0, -3.0))
    );
    assert_eq!(
        merge(Duplicates::Sum, &[complex(1.0f32, 2.0), complex(3.0, -5.0)]),
        Ok(complex(4.0, -3.0))
    );
}

#[test]
fn min_and_max_order_zeros_by_sign_and_let_the_first_nan_win() {
    let bits = |how, values: &[f64]| merge(how, values).unwrap().to_bits();
    assert_eq!(merge(Duplicates::Min, &[3i64, -5, 4]), Ok(-5));
    assert_eq!(merge(Duplicates::Max, &[3u8, 250, 4]), Ok(250));
    assert_eq!(bits(Duplicates::Min, &[0.0, -0.0]), (-0.0f64).to_bits());
    assert_eq!(bits(Duplicates::Max, &[-0.0, 0.0, -0.0]), 0.0f64.to_bits());
    let nan = f64::from_bits(0xFFF8_0000_0000_1234);
    for how in [Duplicates::Min, Duplicates::Max] {
        assert_eq!(bits(how, &[1.0, nan, f64::NAN, f64::NEG_INFINITY]), nan.to_bits());
    }
    assert_eq!(merge(Duplicates::First, &[3.0, 1.0, 2.0]), Ok(3.0));
    assert_eq!(merge(Duplicates::Last, &[3.0, 1.0, 2.0]), Ok(2.0));
}

fn private(bit_width: u32) -> ElementType {
    let kind = PrivateKind::Integer { is_signed: false };
    ElementType::Private(PrivateType::new(PrivateTag::new(0xF1).unwrap(), bit_width, kind).unwrap())
}

fn all_types() -> impl Iterator<Item = ElementType> {
    ElementType::public().chain([1, 2, 4, 8, 24, 40, 128, 4096].map(private))
}

#[test]
fn arithmetic_is_refused_up_front_for_types_that_have_none() {
    for element_type in all_types() {
        let bytes = vec![0; element_type.byte_length(1).unwrap() as usize];
        let values = Values::new(element_type, 1, &bytes[..]).unwrap();
        let tag = element_type.tag();
        for duplicates in [Duplicates::Sum, Duplicates::Min, Duplicates::Max] {
            let complex = matches!(tag, 0x50 | 0x51) && duplicates == Duplicates::Sum;
            let expected = if tag < 0x20 || complex {
                Ok(1)
            } else {
                Err(BuildError::NoArithmetic { element_type, duplicates })
            };
            let builder = Builder::new(shape(&[1, 1, 1])).duplicates(duplicates);
            let built = builder.build(Indices::Rows(&[0u8, 0, 0]), values);
            assert_eq!(built.map(|tensor| tensor.tree().nnz()), expected);
        }
    }
}

/// The bits of the value at `position`, whatever its type.
fn bits_at<B: AsRef<[u8]>>(values: &Values<B>, position: usize) -> Vec<u8> {
    match values.packed_bits(position) {
        Some(bits) => vec![bits],
        None => {
            let width = values.element_type().bits() as usize / 8;
            values.bytes()[position * width..][..width].to_vec()
        }
    }
}

#[test]
fn every_element_type_keeps_its_bits() {
    const N: usize = 301;
    // Entry i goes to place (i * 100) % 301 of the tree.
    let rows: Vec<u64> =
        (0..N as u64).flat_map(|i| [0, i * 100 % 301 / 20, i * 100 % 301 % 20]).collect();
    let sorted_rows: Vec<u64> = (0..N as u64).flat_map(|i| [0, i / 20, i % 20]).collect();
    for element_type in all_types() {
        let length = element_type.byte_length(N as u64).unwrap() as usize;
        let noise: Vec<u8> = (0..length).map(|i| (i * 2_654_435_761).to_le_bytes()[1]).collect();
        let values = Values::new(element_type, N, &noise[..]).unwrap();
        for duplicates in [Duplicates::Error, Duplicates::First, Duplicates::Last] {
            let builder = Builder::new(shape(&[1, 16, 20])).duplicates(duplicates);
            let tensor = builder.build(Indices::Rows(&rows), values).unwrap();
            for entry in 0..N {
                assert_eq!(bits_at(tensor.values(), entry * 100 % 301), bits_at(&values, entry));
            }
            let tensor = builder.build(Indices::Rows(&sorted_rows), values).unwrap();
            for entry in 0..N {
                assert_eq!(bits_at(tensor.values(), entry), bits_at(&values, entry));
            }
        }
        // The same entries once more, backwards.
        let twice: Vec<u64> = rows.iter().chain(rows.rchunks_exact(3).flatten()).copied().collect();
        let order: Vec<usize> = (0..N).chain((0..N).rev()).collect();
        let unpacked: Vec<u8> = order.iter().flat_map(|&i| bits_at(&values, i)).collect();
        let bytes = if element_type.is_packed() {
            Values::pack(element_type, &unpacked).unwrap().into_inner()
        } else {
            AlignedBytes::from(&unpacked[..])
        };
        let doubled = Values::new(element_type, 2 * N, &bytes[..]).unwrap();
        for duplicates in [Duplicates::First, Duplicates::Last] {
            let builder = Builder::new(shape(&[1, 16, 20])).duplicates(duplicates);
            let tensor = builder.build(Indices::Rows(&twice), doubled).unwrap();
            assert_eq!(tensor.tree().nnz(), N);
            for entry in 0..N {
                assert_eq!(bits_at(tensor.values(), entry * 100 % 301), bits_at(&values, entry));
            }
        }
    }
}

#[test]
fn zeros_are_kept_unless_dropped_and_dropped_after_merging() {
    let rows = [0u8, 0, 0, 0, 0, 1, 0, 0, 2, 0, 0, 3, 0, 0, 3];
    let values = [0.0f64, -0.0, f64::NAN, 5.0, -5.0];
    let builder = Builder::new(shape(&[1, 1, 4])).duplicates(Duplicates::Sum);
    let build = |builder: &Builder| {
        let tensor = builder.build(Indices::Rows(&rows), Values::from_slice(&values)).unwrap();
        let bits = tensor.values().as_slice::<f64>().unwrap().iter().map(|v| v.to_bits()).collect();
        (tensor.tree().level(2).1.to_vec(), bits)
    };
    let (nan, zero) = (f64::NAN.to_bits(), 0.0f64.to_bits());
    let kept: (Vec<u64>, Vec<u64>) = (vec![0, 1, 2, 3], vec![zero, 1 << 63, nan, zero]);
    assert_eq!(build(&builder), kept);
    assert_eq!(build(&builder.drop_zeros(true)), (vec![2], vec![nan]));
}

#[test]
fn dropping_zeros_knows_the_zeros_of_every_type() {
    for element_type in all_types() {
        let bits = element_type.bits() as usize;
        let width = bits.div_ceil(8);
        // All zero bits, the highest bit alone, the lowest bit alone.
        let mut unpacked = vec![0; 3 * width];
        unpacked[2 * width - 1] = 1 << ((bits - 1) % 8);
        unpacked[2 * width] = 1;
        let bytes = if element_type.is_packed() {
            Values::pack(element_type, &unpacked).unwrap().into_inner()
        } else {
            AlignedBytes::from(&unpacked[..])
        };
        let tensor = Builder::new(shape(&[1, 1, 3]))
            .drop_zeros(true)
            .build(
                Indices::Rows(&[0u8, 0, 0, 0, 0, 1, 0, 0, 2]),
                Values::new(element_type, 3, &bytes[..]).unwrap(),
            )
            .unwrap();
        let name = element_type.to_string();
        let expected: &[u64] = if name.starts_with("float8_e8m0") || element_type.tag() >= 0xF0 {
            &[0, 1, 2]
        } else if name.contains("float") || name.contains("complex") {
            &[2]
        } else {
            &[1, 2]
        };
        assert_eq!(tensor.tree().level(2).1, expected, "{name}");
    }
}

/// Builds the entries in several forms and compares all of them with a sorted map.
fn compare_with_map(
    dimensions: &[u64],
    order: &[u32],
    rows: &[u64],
    values: &[i64],
    how: Duplicates,
) {
    let rank = dimensions.len();
    let order = ModeOrder::new(order).unwrap();
    let mut map: BTreeMap<Vec<u64>, Vec<i64>> = BTreeMap::new();
    for (row, &value) in rows.chunks_exact(rank).zip(values) {
        map.entry(in_storage_order(row, &order)).or_default().push(value);
    }
    let builder = Builder::new(shape(dimensions)).mode_order(order.clone()).duplicates(how);
    let built = builder.build(Indices::Rows(rows), Values::from_slice(values));
    let twice = map.iter().find(|(_, values)| values.len() > 1);
    if let (Duplicates::Error, Some((stored, _))) = (how, twice) {
        let mut entries = rows.chunks_exact(rank).enumerate();
        let mut next =
            || entries.find(|(_, row)| in_storage_order(row, &order) == *stored).unwrap();
        let ((first, index), (second, _)) = (next(), next());
        let expected = BuildError::Duplicate { index: index.to_vec(), first, second };
        assert_eq!(built.unwrap_err(), expected);
        return;
    }
    let merged: Vec<i64> = (map.values())
        .map(|values| match how {
            Duplicates::Sum => values.iter().sum(),
            Duplicates::Last => *values.last().unwrap(),
            Duplicates::Min => *values.iter().min().unwrap(),
            Duplicates::Max => *values.iter().max().unwrap(),
            _ => values[0],
        })
        .collect();
    let tensor = built.unwrap();
    let sorted: Vec<Vec<u64>> = map.keys().cloned().collect();
    assert_eq!(levels(tensor.tree()), model_levels(&sorted, rank));
    assert_eq!(tensor.values().as_slice::<i64>().unwrap(), merged);

    let columns: Vec<Vec<u64>> =
        (0..rank).map(|d| rows.iter().skip(d).step_by(rank).copied().collect()).collect();
    let columns: Vec<&[u64]> = columns.iter().map(|column| &column[..]).collect();
    let other = builder.build(Indices::Columns(&columns), Values::from_slice(values)).unwrap();
    assert_eq!(levels(other.tree()), levels(tensor.tree()));
    assert_eq!(other.values().bytes(), tensor.values().bytes());

    // From sorted input, and there and back through every form of conversion.
    let coo = tensor.to_coo();
    let again = builder.build(Indices::Rows(coo.coordinates()), coo.values().as_view()).unwrap();
    assert_eq!(levels(again.tree()), levels(tensor.tree()));
    assert_eq!(again.values().bytes(), tensor.values().bytes());
    let listed: Vec<Vec<u64>> =
        coo.coordinates().chunks_exact(rank).map(|row| in_storage_order(row, &order)).collect();
    assert_eq!(listed, sorted);
    let sorted_coo = tensor.to_sorted_coo().unwrap();
    sorted_coo.validate().unwrap();
    assert!(sorted_coo.is_sorted());
    coo.validate().unwrap();
    let back = sorted_coo.to_csf(order).unwrap();
    assert_eq!(levels(back.tree()), levels(tensor.tree()));
    assert_eq!(back.values().bytes(), tensor.values().bytes());
}

fn entries() -> impl Strategy<Value = (Vec<u64>, Vec<u32>, Vec<u64>, Vec<i64>)> {
    let dimension = prop_oneof![
        1 => Just(0u64),
        8 => 1u64..4,
        4 => 4u64..300,
        2 => (1u64 << 32)..(1 << 40),
        2 => Just(u64::MAX - 1),
        1 => Just(u64::MAX),
    ];
    (prop::collection::vec(dimension, 3..=8), 0usize..80)
        .prop_flat_map(|(dimensions, n)| {
            let n = if dimensions.contains(&0) { 0 } else { n };
            let order: Vec<u32> = (0..dimensions.len() as u32).collect();
            let seeds = prop::collection::vec((any::<u64>(), 0u8..4), n * dimensions.len());
            let values = prop::collection::vec(-100i64..100, n);
            (Just(dimensions), Just(order).prop_shuffle(), seeds, values)
        })
        .prop_map(|(dimensions, order, seeds, values)| {
            // Small numbers, the last ones and anything between; a dynamic dimension has all.
            let coordinate = |(i, (seed, kind)): (usize, (u64, u8))| {
                let size = dimensions[i % dimensions.len()];
                let seed = if kind < 2 { seed % 3 } else { seed };
                let coordinate = if size == u64::MAX { seed } else { seed % size };
                if kind == 3 && size != u64::MAX {
                    size - 1 - seed % size.min(2)
                } else {
                    coordinate
                }
            };
            let rows = seeds.into_iter().enumerate().map(coordinate).collect();
            (dimensions, order, rows, values)
        })
}

proptest! {
    #[test]
    fn a_build_is_what_a_sorted_map_says(
        (dimensions, order, rows, values) in entries(),
        how in prop::sample::select(vec![
            Duplicates::Error, Duplicates::Sum, Duplicates::First, Duplicates::Last, Duplicates::Min,
            Duplicates::Max,
        ]),
    ) {
        compare_with_map(&dimensions, &order, &rows, &values, how);
    }
}

#[test]
fn keys_of_any_width_sort_the_same() {
    let of_bits = |bits: u32| if bits == 64 { u64::MAX - 1 } else { 1u64 << bits };
    let widths: [&[u32]; 9] = [
        &[21, 21, 21],
        &[21, 21, 22],
        &[21, 22, 22],
        &[64, 31, 32],
        &[64, 32, 32],
        &[64, 33, 32],
        &[64, 64, 64, 1, 1],
        &[33; 20],
        &[64; 64],
    ];
    for bits in widths {
        let dimensions: Vec<u64> = bits.iter().map(|&bits| of_bits(bits)).collect();
        let mut order: Vec<u32> = (0..dimensions.len() as u32).collect();
        order.rotate_left(1);
        // Entries that differ in one coordinate only, at its lowest or at its highest bit.
        let base: Vec<u64> = dimensions.iter().map(|d| d / 2).collect();
        let mut rows = base.clone();
        for dimension in 0..dimensions.len() {
            for coordinate in [0, dimensions[dimension] - 1, base[dimension] ^ 1] {
                let start = rows.len();
                rows.extend(&base);
                rows[start + dimension] = coordinate;
            }
        }
        let values: Vec<i64> = (0..(rows.len() / dimensions.len()) as i64).collect();
        compare_with_map(&dimensions, &order, &rows, &values, Duplicates::First);
    }
}
