//! Large builds: pieces, threads, and indices that crowd together, against a stable sort.
#![expect(clippy::cast_possible_truncation, reason = "small numbers, and noise")]

mod common;

use common::{levels, noise, shape};
use hurray_csf::build::{Builder, Indices};
use hurray_csf::{BuildError, Duplicates, Tensor};
use hurray_format::element::Complex;
use hurray_format::{ModeOrder, Shape, Values};

/// Compares a large build with a stable sort of the standard library, and that with a build from
/// sorted columns.
fn compare_with_sort(dimensions: &[u64], rows: &[u64]) {
    let rank = dimensions.len();
    let values: Vec<u64> = (0..(rows.len() / rank) as u64).collect();
    let mut expected: Vec<(&[u64], u64)> =
        rows.chunks_exact(rank).zip(values.iter().copied()).collect();
    expected.sort_by_key(|entry| entry.0);
    expected.dedup_by_key(|entry| entry.0);
    let tensor = Builder::new(shape(dimensions))
        .duplicates(Duplicates::First)
        .build(Indices::Rows(rows), Values::from_slice(&values))
        .unwrap();
    let coordinates: Vec<u64> = expected.iter().flat_map(|entry| entry.0).copied().collect();
    assert!(tensor.to_coo().coordinates() == coordinates);
    let expected: Vec<u64> = expected.iter().map(|entry| entry.1).collect();
    assert!(tensor.values().as_slice::<u64>().unwrap() == expected);

    let column = |dimension| coordinates.iter().skip(dimension).step_by(rank).copied().collect();
    let columns: Vec<Vec<u64>> = (0..rank).map(column).collect();
    let columns: Vec<&[u64]> = columns.iter().map(|column| &column[..]).collect();
    let sorted = Builder::new(shape(dimensions))
        .build(Indices::Columns(&columns), Values::from_slice(&expected))
        .unwrap();
    assert!(levels(sorted.tree()) == levels(tensor.tree()));
    assert!(sorted.values().bytes() == tensor.values().bytes());
}

#[test]
fn large_and_lopsided_builds_are_sorted_and_stable() {
    const N: u64 = 150_000;
    // Spread out; one slice, and then one fiber, that holds nearly everything; one index that is
    // nearly everything; more bits than a word has; backwards.
    let row = |i: u64| [noise(i) % 1000, noise(i ^ 1 << 40) % 1000, noise(i ^ 1 << 41) % 70];
    let spread: Vec<u64> = (0..N).flat_map(row).collect();
    compare_with_sort(&[1000, 1000, 70], &spread);
    let lopsided = |rest: [u64; 3]| -> Vec<u64> {
        let held =
            |i| if i % 1000 == 0 { row(i) } else { std::array::from_fn(|d| row(i)[d] % rest[d]) };
        (0..N).flat_map(held).collect()
    };
    compare_with_sort(&[1000, 1000, 70], &lopsided([1, 1000, 70]));
    compare_with_sort(&[1000, 1000, 70], &lopsided([1, 1, 70]));
    compare_with_sort(&[1000, 1000, 70], &lopsided([1, 1, 1]));
    let wide: Vec<u64> = spread.iter().map(|c| c * ((u64::MAX - 1) / 1000)).collect();
    compare_with_sort(&[u64::MAX - 1; 3], &wide);
    let backwards: Vec<u64> = (0..N).rev().flat_map(|i| [i / 5000, i / 50 % 100, i % 50]).collect();
    compare_with_sort(&[1000, 1000, 70], &backwards);
    let row4 = |i: u64| [noise(i) % 40, noise(i * 3) % 2, noise(i * 5) % 900, noise(i * 7) % 900];
    let rank4: Vec<u64> = (0..N).flat_map(row4).collect();
    compare_with_sort(&[40, 2, Shape::DYNAMIC, 900], &rank4);
    let row5 = |i: u64| [0, noise(i) % 40, noise(i * 3) % 2, noise(i * 5) % 900, noise(i * 7) % 9];
    let rank5: Vec<u64> = (0..N).flat_map(row5).collect();
    compare_with_sort(&[1, 40, 2, 900, 9], &rank5);
    let row6 = |i: u64| [noise(i) % 2, 7, noise(i * 3), noise(i * 5), noise(i * 7) % 3, noise(i)];
    let rank6: Vec<u64> = (0..N).flat_map(row6).collect();
    compare_with_sort(&[2, 8, Shape::DYNAMIC, Shape::DYNAMIC, 3, Shape::DYNAMIC], &rank6);
}

#[test]
fn entries_with_the_same_leading_bits_are_sorted_and_stable() {
    const N: u64 = 150_000;
    // Outer coordinates of 40 bits that all vary, each in a run of about 1, 10, 30 and 3,000
    // entries; in the first two the inner ones come back.
    for (outers, inners) in [(N, 2), (N / 10, 5), (N / 30, 1 << 40), (50, 1 << 40)] {
        let outer = |i| noise(noise(i) % outers) >> 24;
        let row = |i| [outer(i), outer(i) >> 20, noise(i ^ 1 << 40) % inners];
        let rows: Vec<u64> = (0..N).flat_map(row).collect();
        compare_with_sort(&[1 << 40, 1 << 20, 1 << 41], &rows);
    }
}

#[test]
fn a_coordinate_out_of_range_is_found_in_every_form() {
    const N: usize = 100_000;
    let rows: Vec<u64> = (0..3 * N as u64).map(|i| noise(i) % 1000).collect();
    for at in [0, 1, 511 * 3, 65_536 * 3 + 2, 3 * N - 1] {
        let mut rows = rows.clone();
        rows[at] = 1000;
        let (entry, dimension) = (at / 3, at % 3);
        let expected = BuildError::OutOfRange { entry, dimension, coordinate: 1000, size: 1000 };
        let values = vec![0.0; N];
        let build = |error: Result<Tensor, BuildError>| assert_eq!(error.unwrap_err(), expected);
        let builder = Builder::new(shape(&[1000, 1000, 1000]));
        build(builder.build(Indices::Rows(&rows), Values::from_slice(&values)));
        let small: Vec<u16> = rows.iter().map(|&c| c as u16).collect();
        build(builder.build(Indices::Rows(&small), Values::from_slice(&values)));
    }
    let none = Builder::new(shape(&[4, 0, Shape::DYNAMIC]));
    let error = none.build(Indices::Rows(&[3u64, 0, u64::MAX]), Values::from_slice(&[1.0]));
    let (entry, dimension, coordinate, size) = (0, 1, 0, 0);
    let expected = BuildError::OutOfRange { entry, dimension, coordinate, size };
    assert_eq!(error.unwrap_err(), expected);
}

#[cfg(feature = "parallel")]
#[test]
fn the_number_of_threads_changes_nothing() {
    const N: u64 = 200_000;
    let rows: Vec<u64> =
        (0..N).flat_map(|i| [noise(i) % 30, noise(i * 3) % 500, noise(i * 7) % 9]).collect();
    let values: Vec<f64> = (0..N).map(|i| noise(i) as f64 / 3.0).collect();
    let wide: Vec<Complex<f64>> = values.iter().map(|&re| Complex { re, im: -re }).collect();
    let build = |threads| {
        let pool = rayon::ThreadPoolBuilder::new().num_threads(threads).build().unwrap();
        pool.install(|| {
            let builder =
                Builder::new(shape(&[30, 500, 9])).duplicates(Duplicates::Sum).shortest_first();
            let indices = Indices::Rows(&rows);
            let tensor = builder.build(indices, Values::from_slice(&values)).unwrap();
            let other = builder.build(indices, Values::from_slice(&wide)).unwrap();
            let turned = tensor.to_mode_order(ModeOrder::identity(3).unwrap()).unwrap();
            let failed = builder.duplicates(Duplicates::Error);
            let failed = failed.build(indices, Values::from_slice(&values)).unwrap_err();
            let bytes = [&tensor, &other, &turned].map(|tensor| tensor.values().bytes().to_vec());
            (levels(tensor.tree()), levels(turned.tree()), bytes, failed)
        })
    };
    let one = build(1);
    assert!(one == build(2));
    assert!(one == build(5));
}
