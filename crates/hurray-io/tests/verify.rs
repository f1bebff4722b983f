//! What `verify` finds in the data: statistics that do not hold, and index arrays of pages.

mod common;

use common::{QUICK, example_file, worked_example, written};
use hurray_csf::{NumberError, StatisticsError};
use hurray_format::descriptor::{Moments, NonFinite, Statistics, ValueRange};
use hurray_format::layout::{BlockPagedLayout, LayoutError, PageIndexType, StridedLayout};
use hurray_format::quantization::PerTensor;
use hurray_format::{
    BufferHandle, ElementType, FormatError, LayoutDescriptor, ModeOrder, Quantization, Shape,
    TensorDescriptor, Values,
};
use hurray_io::{Error, File, TensorError};

/// What `verify` says of a file with one tensor.
fn verify(descriptor: &TensorDescriptor, buffers: &[&[u8]]) -> Result<(), TensorError> {
    let file = written(QUICK, |writer| writer.tensor("x", descriptor, buffers).unwrap());
    match File::open(&file.path).unwrap().verify() {
        Ok(()) => Ok(()),
        Err(Error::Tensor { error, .. }) => Err(*error),
        Err(error) => panic!("{error}"),
    }
}

fn example_statistics() -> Statistics {
    let mean = 10.0 / 24.0;
    let stddev = (30.0f64 / 24.0 - mean * mean).sqrt();
    Statistics {
        nnz: Some(4),
        sparsity: Some(20.0 / 24.0),
        range: Some(ValueRange { min: 0.0, max: 4.0, abs_max: 4.0 }),
        moments: Some(Moments { mean, stddev }),
        non_finite: Some(NonFinite { has_nan: false, has_inf: false }),
        ..Statistics::default()
    }
}

/// Every way to change one field, with the name of the field.
fn wrong_statistics() -> Vec<(&'static str, Statistics)> {
    let right = example_statistics();
    let range = |change: fn(&mut ValueRange)| {
        let mut range = right.range.unwrap();
        change(&mut range);
        Statistics { range: Some(range), ..right }
    };
    let moments = |change: fn(&mut Moments)| {
        let mut moments = right.moments.unwrap();
        change(&mut moments);
        Statistics { moments: Some(moments), ..right }
    };
    let flags = |has_nan, has_inf| {
        let non_finite = Some(NonFinite { has_nan, has_inf });
        Statistics { non_finite, ..right }
    };
    vec![
        ("sparsity", Statistics { sparsity: Some(0.8), ..right }),
        ("min", range(|range| range.min = 1.0)),
        ("max", range(|range| range.max = 4.5)),
        ("abs_max", range(|range| range.abs_max = 3.0)),
        ("mean", moments(|moments| moments.mean = 2.5)),
        ("stddev", moments(|moments| moments.stddev = 0.0)),
        ("has_nan", flags(true, false)),
        ("has_inf", flags(false, true)),
    ]
}

fn field(error: TensorError) -> &'static str {
    match error {
        TensorError::Statistics(StatisticsError::Number { field, .. }) => field,
        TensorError::Statistics(StatisticsError::Flag { field, .. }) => field,
        error => panic!("{error}"),
    }
}

#[test]
fn recorded_statistics_hold_for_a_tree_and_for_a_list() {
    let tensor = worked_example();
    let tree = tensor.descriptor().unwrap();
    let list = TensorDescriptor::coo(tree.shape.clone(), ElementType::Float32, 4, true).unwrap();
    let coordinates: [u64; 12] = [0, 0, 1, 0, 2, 3, 1, 1, 0, 1, 1, 2];
    let list_buffers = [tensor.values().bytes(), Values::from_slice(&coordinates).into_inner()];
    for (descriptor, buffers) in [(tree, &tensor.buffers()[..]), (list, &list_buffers[..])] {
        let with = |statistics| descriptor.clone().with_statistics(statistics).unwrap();
        assert_eq!(verify(&with(example_statistics()), buffers), Ok(()));
        assert_eq!(verify(&with(Statistics::default()), buffers), Ok(()));
        for (name, statistics) in wrong_statistics() {
            assert_eq!(field(verify(&with(statistics), buffers).unwrap_err()), name);
        }
    }
}

#[test]
fn a_message_about_statistics_names_the_tensor_and_the_field() {
    let tensor = worked_example();
    let wrong = Statistics { sparsity: Some(0.5), ..Statistics::default() };
    let descriptor = tensor.descriptor().unwrap().with_statistics(wrong).unwrap();
    let buffers = tensor.buffers();
    let file = written(QUICK, |writer| writer.tensor("x", &descriptor, &buffers).unwrap());
    let error = File::open(&file.path).unwrap().verify().unwrap_err().to_string();
    let expected = "a.hrry: tensor `x`: statistics: sparsity is recorded as 0.5, but the values \
                    give 0.8333333333333334";
    assert!(error.ends_with(expected), "{error}");
}

#[test]
fn statistics_are_those_of_the_dequantized_values() {
    let values = [1i8, 2, 3, 4];
    let tensor = worked_example();
    let mut buffers = tensor.buffers();
    buffers[0] = Values::from_slice(&values).into_inner();
    let order = ModeOrder::identity(3).unwrap();
    let scheme = Quantization::PerTensor(PerTensor { scale: -2.0, zero_point: 1 });
    let descriptor =
        TensorDescriptor::csf(tensor.tree().shape().clone(), ElementType::Int8, &order, &[2, 3, 4])
            .unwrap()
            .with_quantization(scheme)
            .unwrap();
    let range = |min, max| Statistics {
        range: Some(ValueRange { min, max, abs_max: 6.0 }),
        ..Statistics::default()
    };
    let with = |statistics| descriptor.clone().with_statistics(statistics).unwrap();
    assert_eq!(verify(&with(range(-6.0, 0.0)), &buffers), Ok(()));
    assert_eq!(field(verify(&with(range(0.0, 4.0)), &buffers).unwrap_err()), "min");
}

#[test]
fn of_values_that_are_no_numbers_only_the_structure_is_compared() {
    let tensor = worked_example();
    let values = [0u8; 32];
    let mut buffers = tensor.buffers();
    buffers[0] = &values;
    let mut descriptor = tensor.descriptor().unwrap();
    descriptor.element_type = ElementType::Complex64;
    descriptor.buffers[0] = BufferHandle::cpu(32);
    let with = |statistics| descriptor.clone().with_statistics(statistics).unwrap();
    assert_eq!(verify(&with(example_statistics()), &buffers), Ok(()));
    let wrong = Statistics { sparsity: Some(0.5), ..Statistics::default() };
    assert_eq!(field(verify(&with(wrong), &buffers).unwrap_err()), "sparsity");
    // Nothing that is known is out of its range.
    let nnz = Statistics { nnz: Some(5), ..Statistics::default() };
    assert!(descriptor.clone().with_statistics(nnz).is_err());
}

#[test]
fn values_of_a_file_are_numbers_unless_they_are_no_real_ones() {
    let file = example_file();
    let buffers = File::open(&file.path).unwrap().tensor("x").unwrap().read().unwrap();
    let numbers = buffers.numbers().unwrap();
    assert_eq!(numbers.get(&[1, 1, 2], 3), Ok(4.0));

    let shape = Shape::new([1]).unwrap();
    let values = Values::new(ElementType::Complex64, 1, [0u8; 8]).unwrap();
    let file = written(QUICK, |writer| writer.row_major("c", shape, &values).unwrap());
    let buffers = File::open(&file.path).unwrap().tensor("c").unwrap().read().unwrap();
    let Err(Error::Tensor { error, .. }) = buffers.numbers() else { panic!("complex") };
    assert!(matches!(*error, TensorError::Number(NumberError::NotReal { .. })), "{error}");
}

/// Verifies three sequences in five pages.
fn verify_pages(block_table: &[u64], seq_ptr: &[u64], wide: bool) -> Result<(), TensorError> {
    let bytes = |entries: &[u64]| -> Vec<u8> {
        let width = if wide { 8 } else { 4 };
        entries.iter().flat_map(|entry| entry.to_le_bytes().into_iter().take(width)).collect()
    };
    let mut layout = BlockPagedLayout::new(2, 5, 3);
    layout.index_type = if wide { PageIndexType::Uint64 } else { PageIndexType::Uint32 };
    let buffers = [vec![0; 5 * 2], bytes(block_table), bytes(seq_ptr)];
    let handles = buffers.iter().map(|bytes| BufferHandle::cpu(bytes.len() as u64)).collect();
    let descriptor = TensorDescriptor::new(
        Shape::new([10, 1, 1]).unwrap(),
        ElementType::Int8,
        LayoutDescriptor::BlockPaged(layout),
        handles,
    );
    verify(&descriptor, &buffers.each_ref().map(Vec::as_slice))
}

#[test]
fn sequences_delimit_the_block_table_and_its_pages_exist() {
    for wide in [false, true] {
        assert_eq!(verify_pages(&[4, 0, 2], &[0, 2, 2, 3], wide), Ok(()));
        assert_eq!(verify_pages(&[], &[0, 0, 0, 0], wide), Ok(()));
        for (block_table, seq_ptr, message) in [
            (&[4, 0, 2][..], &[1, 2, 2, 3][..], "seq_ptr[0]: found 1, expected exactly 0"),
            (&[4, 0, 2], &[0, 2, 1, 3], "seq_ptr[2]: found 1, expected at least 2"),
            (&[4, 0, 2], &[0, 2, 2, 2], "seq_ptr[3]: found 2, expected exactly 3"),
            (&[4, 0, 2], &[0, 2, 2, 4], "seq_ptr[3]: found 4, expected exactly 3"),
            (&[4, 0, 5], &[0, 2, 2, 3], "block_table[2]: found 5, expected less than 5"),
        ] {
            let error = verify_pages(block_table, seq_ptr, wide).unwrap_err();
            assert_eq!(error.to_string(), message);
        }
        let error = verify_pages(&[4, 0, 2], &[0, 2, 3], wide).unwrap_err();
        let is_size = |error: &TensorError| {
            let TensorError::Format(FormatError::Layout(error)) = error else { return false };
            matches!(error, LayoutError::BufferSize { buffer: 2, .. })
        };
        assert!(is_size(&error), "{error}");
    }
}

#[test]
fn powers_are_values_where_every_byte_is_one() {
    // 2^0, and 0x00, which is none: between two rows a stride passes over it.
    let bytes = [127, 127, 0x00, 127, 127];
    let tensor = |shape: &[u64], layout| {
        let (shape, buffers) = (Shape::new(shape).unwrap(), vec![BufferHandle::cpu(5)]);
        TensorDescriptor::new(shape, ElementType::Float8E8M0, layout, buffers)
    };
    let strided = LayoutDescriptor::Strided(StridedLayout::new(vec![3, 1]));
    verify(&tensor(&[2, 2], strided), &[&bytes]).unwrap();
    let found = verify(&tensor(&[5], LayoutDescriptor::RowMajor), &[&bytes]).unwrap_err();
    let expected =
        TensorError::Value { element_type: ElementType::Float8E8M0, position: 2, found: 0 };
    assert_eq!(found.to_string(), expected.to_string());
}
