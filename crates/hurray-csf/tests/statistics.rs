//! Statistics over all logical elements (docs/format.md, "Statistics").

mod common;

use common::{any_valid, worked_example};
use hurray_csf::statistics::{TOLERANCE, check};
use hurray_csf::{Coo, Csf, Level, NumberError, Numbers, StatisticsError};
use hurray_format::descriptor::{Moments, NonFinite, Pattern, Statistics, ValueRange};
use hurray_format::quantization::PerTensor;
use hurray_format::{Dequantizer, ElementType, ModeOrder, Quantization, Shape, Values};
use proptest::prelude::*;

type Change = fn(&mut Statistics);

fn plain(values: &[f64]) -> Numbers<&[u8]> {
    Numbers::new(Values::from_slice(values), None).unwrap()
}

/// A list along the last dimension of a shape `[1, 1, size]`, and its statistics.
fn line(size: u64, values: &[f64]) -> Statistics {
    let rows: Vec<u64> = (0..values.len() as u64).flat_map(|k| [0, 0, k]).collect();
    let shape = Shape::new([1, 1, size]).unwrap();
    let coo = Coo::new(shape, true, rows, Values::from_slice(values)).unwrap();
    let of_list = coo.statistics(&plain(values)).unwrap();
    let tree = coo.to_csf(ModeOrder::identity(3).unwrap()).unwrap();
    let of_tree = tree.tree().statistics(&plain(values)).unwrap();
    // They are cut into pieces at different places.
    let others = |statistics| Statistics { moments: None, ..statistics };
    assert_eq!(others(of_list), others(of_tree));
    match of_list.moments {
        Some(_) => assert_close(&of_list, &of_tree),
        None => assert_eq!(of_tree.moments, None),
    }
    of_tree
}

/// The statistics as their definition has them, of small whole numbers: every sum is exact.
fn by_definition(values: &[i64], elements: u64) -> Statistics {
    let (count, nnz) = (i128::from(elements), values.len() as u64);
    let all = || values.iter().copied().chain((nnz < elements).then_some(0));
    let sum: i128 = values.iter().map(|&value| i128::from(value)).sum();
    let squares: i128 = values.iter().map(|&value| i128::from(value).pow(2)).sum();
    let variance = (count * squares - sum * sum) as f64 / (count as f64).powi(2);
    Statistics {
        nnz: Some(nnz),
        sparsity: Some((elements - nnz) as f64 / elements as f64),
        range: Some(ValueRange {
            min: all().min().unwrap() as f64,
            max: all().max().unwrap() as f64,
            abs_max: all().map(i64::abs).max().unwrap() as f64,
        }),
        moments: Some(Moments { mean: sum as f64 / count as f64, stddev: variance.sqrt() }),
        non_finite: Some(NonFinite::default()),
        pattern: None,
    }
}

/// `check` with next to no tolerance.
fn assert_close(found: &Statistics, expected: &Statistics) {
    check(found, expected).unwrap();
    let (found, expected) = (found.moments.unwrap(), expected.moments.unwrap());
    let scale = expected.mean.hypot(expected.stddev) * 1e-13;
    assert!((found.mean - expected.mean).abs() <= scale, "{found:?} {expected:?}");
    assert!((found.stddev - expected.stddev).abs() <= scale, "{found:?} {expected:?}");
}

#[test]
fn elements_that_are_not_stored_count_as_zeros() {
    let found = worked_example().statistics(&plain(&[1.0, 2.0, 3.0, 4.0])).unwrap();
    assert_close(&found, &by_definition(&[1, 2, 3, 4], 24));
    assert_eq!(found.range, Some(ValueRange { min: 0.0, max: 4.0, abs_max: 4.0 }));
    assert_eq!(found.sparsity, Some(1.0 - 4.0 / 24.0));
    assert_eq!(found.pattern, None);
    // Without them 0 is not in the range.
    let full = line(3, &[-5.0, -2.0, -3.0]);
    assert_eq!(full.range, Some(ValueRange { min: -5.0, max: -2.0, abs_max: 5.0 }));
    assert_eq!(full.sparsity, Some(0.0));
    assert_eq!(line(4, &[-5.0, -2.0, -3.0]).range.unwrap().max, 0.0);
}

#[test]
fn an_empty_tensor_is_all_zeros_and_no_elements_have_no_statistics() {
    let zeros = line(7, &[]);
    assert_eq!(zeros, by_definition(&[], 7));
    let nothing = line(0, &[]);
    let known = Statistics {
        nnz: Some(0),
        non_finite: Some(NonFinite::default()),
        ..Statistics::default()
    };
    assert_eq!(nothing, known);
}

#[test]
fn statistics_are_of_the_dequantized_numbers() {
    let tree = worked_example();
    let scheme = Quantization::PerTensor(PerTensor { scale: 0.5, zero_point: -3 });
    let dequantizer = Dequantizer::new(&scheme, tree.shape(), ElementType::Int8, |_| None).unwrap();
    let numbers =
        Numbers::new(Values::from_slice(&[-128i8, 127, 0, -3]), Some(dequantizer)).unwrap();
    let found = tree.statistics(&numbers).unwrap();
    // -62.5, 65, 1.5 and 0, and 20 implicit zeros, which do not become 1.5.
    assert_eq!(found.range, Some(ValueRange { min: -62.5, max: 65.0, abs_max: 65.0 }));
    assert!((found.moments.unwrap().mean - 4.0 / 24.0).abs() < 1e-15);
}

#[test]
fn nan_and_infinity_leave_unknown_what_they_make_ambiguous() {
    let infinite = line(9, &[1.0, f64::NEG_INFINITY]);
    assert_eq!(infinite.non_finite, Some(NonFinite { has_nan: false, has_inf: true }));
    let range = ValueRange { min: f64::NEG_INFINITY, max: 1.0, abs_max: f64::INFINITY };
    assert_eq!(infinite.range, Some(range));
    assert_eq!(infinite.moments, None);
    let nan = line(9, &[f64::NAN, 1.0]);
    assert_eq!(nan.non_finite, Some(NonFinite { has_nan: true, has_inf: false }));
    assert_eq!((nan.range, nan.moments), (None, None));
    assert_eq!((nan.nnz, nan.sparsity), (Some(2), Some(1.0 - 2.0 / 9.0)));
}

#[test]
fn a_shape_past_64_bits_has_statistics_and_a_dynamic_one_the_stored_ones_only() {
    let levels = || {
        vec![
            Level { pos: vec![0, 1], crd: vec![0] },
            Level { pos: vec![0, 1], crd: vec![5] },
            Level { pos: vec![0, 3], crd: vec![1, 2, 3] },
        ]
    };
    let statistics = |size: u64| {
        let shape = Shape::new([size, 1 << 40, 1 << 40]).unwrap();
        let tree = Csf::new(shape, ModeOrder::identity(3).unwrap(), levels()).unwrap();
        tree.statistics(&plain(&[1.0, 2.0, 3.0])).unwrap()
    };
    let huge = statistics(1 << 40);
    let elements = 2f64.powi(120);
    assert_eq!(huge.sparsity, Some(1.0));
    assert_eq!(huge.range, Some(ValueRange { min: 0.0, max: 3.0, abs_max: 3.0 }));
    let Moments { mean, stddev } = huge.moments.unwrap();
    assert!((mean / (6.0 / elements) - 1.0).abs() < 1e-14, "{mean}");
    assert!((stddev / (14.0 / elements).sqrt() - 1.0).abs() < 1e-14, "{stddev}");

    let dynamic = statistics(Shape::DYNAMIC);
    assert_eq!((dynamic.nnz, dynamic.non_finite), (Some(3), Some(NonFinite::default())));
    assert_eq!((dynamic.sparsity, dynamic.range, dynamic.moments), (None, None, None));

    // 2^2520 elements are more than f64 holds.
    let mut levels: Vec<_> = (0..40).map(|_| Level { pos: vec![0, 1], crd: vec![0u64] }).collect();
    levels[39].crd = vec![7];
    let shape = Shape::new(vec![1 << 63; 40]).unwrap();
    let tree = Csf::new(shape, ModeOrder::identity(40).unwrap(), levels).unwrap();
    let vast = tree.statistics(&plain(&[1.0])).unwrap();
    assert_eq!((vast.sparsity, vast.moments), (Some(1.0), None));
    assert_eq!(vast.range, Some(ValueRange { min: 0.0, max: 1.0, abs_max: 1.0 }));
}

#[test]
fn moments_that_do_not_fit_into_f64_are_unknown() {
    let found = line(2, &[1e300, -1e300]);
    assert_eq!(found.range, Some(ValueRange { min: -1e300, max: 1e300, abs_max: 1e300 }));
    assert_eq!(found.moments, None);
}

#[test]
fn a_large_mean_does_not_take_the_deviation_away() {
    let values: Vec<f64> = (0..100_000).map(|k| 1e9 + f64::from(k % 2)).collect();
    let Moments { mean, stddev } = line(100_000, &values).moments.unwrap();
    assert!((mean - (1e9 + 0.5)).abs() < 1e-5, "{mean}");
    assert!((stddev - 0.5).abs() < 1e-9, "{stddev}");
}

#[cfg(feature = "parallel")]
#[test]
fn the_number_of_threads_changes_no_bit() {
    let values: Vec<f64> =
        (0..100_000u32).map(|k| f64::from(k.wrapping_mul(2_654_435_761)).sin()).collect();
    let on = |threads: usize| {
        let pool = rayon::ThreadPoolBuilder::new().num_threads(threads).build().unwrap();
        pool.install(|| line(1 << 20, &values))
    };
    let one = on(1);
    for threads in [2, 3, 8] {
        assert_eq!(on(threads), one);
    }
    let mean = values.iter().sum::<f64>() / f64::from(1 << 20);
    assert!((one.moments.unwrap().mean - mean).abs() < 1e-12);
}

#[test]
fn a_value_without_a_number_is_the_error() {
    let values = Values::new(ElementType::Float8E8M0, 4, [127u8, 127, 0, 0xFF]).unwrap();
    let error = worked_example().statistics(&Numbers::new(values, None).unwrap()).unwrap_err();
    assert!(matches!(error, NumberError::Value { position: 2, .. }), "{error}");
    let short = worked_example().statistics(&plain(&[1.0])).unwrap_err();
    assert_eq!(short, NumberError::Position { position: 1, len: 1 });
}

#[test]
fn recorded_statistics_are_held_against_the_values() {
    let computed = worked_example().statistics(&plain(&[1.0, 2.0, 3.0, 4.0])).unwrap();
    check(&computed, &computed).unwrap();
    let check = |change: Change| {
        let mut recorded = computed;
        change(&mut recorded);
        check(&recorded, &computed)
    };
    // What is not recorded, or cannot be said, is not compared.
    check(|recorded| *recorded = Statistics::default()).unwrap();
    check(|recorded| recorded.pattern = Some(Pattern { n: 2, m: 4 })).unwrap();
    // Rounding in another order is tolerated, and no more.
    check(|recorded| recorded.moments.as_mut().unwrap().mean += TOLERANCE).unwrap();
    let cases: [(&str, Change); 9] = [
        ("sparsity", |recorded| recorded.sparsity = Some(0.8)),
        ("min", |recorded| recorded.range.as_mut().unwrap().min = 1.0),
        ("max", |recorded| recorded.range.as_mut().unwrap().max = 4.000_000_1),
        ("abs_max", |recorded| recorded.range.as_mut().unwrap().abs_max = f64::NAN),
        ("mean", |recorded| recorded.moments.as_mut().unwrap().mean += 1e-5),
        ("stddev", |recorded| recorded.moments.as_mut().unwrap().stddev = f64::NAN),
        ("has_nan", |recorded| recorded.non_finite.as_mut().unwrap().has_nan = true),
        ("has_inf", |recorded| recorded.non_finite.as_mut().unwrap().has_inf = true),
        ("nnz", |recorded| recorded.nnz = Some(5)),
    ];
    for (field, change) in cases {
        let error = check(change).unwrap_err();
        let named = match error {
            StatisticsError::Number { field, .. } | StatisticsError::Flag { field, .. } => field,
            _ => "nnz",
        };
        assert_eq!(named, field, "{error}");
        assert!(error.to_string().starts_with(&format!("statistics: {field} is recorded as ")));
    }
    let error = check(|recorded| recorded.nnz = Some(5)).unwrap_err();
    assert_eq!(error, StatisticsError::Nnz { found: 5, expected: 4 });
}

proptest! {
    #[test]
    fn statistics_agree_with_their_definition(tree in any_valid(), seed: u64) {
        let mut seed = seed;
        let stored: Vec<i64> = (0..tree.nnz()).map(|_| {
            seed = seed.wrapping_mul(6364136223846793005).wrapping_add(1442695040888963407);
            (seed >> 40).cast_signed() % 1000 - 500
        }).collect();
        let numbers = Numbers::new(Values::from_slice(&stored), None).unwrap();
        let found = tree.statistics(&numbers).unwrap();
        match tree.shape().element_count() {
            Some(0) | None => prop_assert_eq!(found.nnz, Some(tree.nnz() as u64)),
            Some(elements) => {
                // Small enough for the exact sums.
                prop_assume!(elements < 1 << 60);
                assert_close(&found, &by_definition(&stored, elements));
            }
        }
    }
}
