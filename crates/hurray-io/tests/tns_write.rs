//! The rules of writing FROSTT text, and that it reads back to the same bits.

use half::{bf16, f16};
use hurray_csf::{Csf, Level, Tensor};
use hurray_format::cast::to_usize;
use hurray_format::{AlignedBytes, ElementType, ModeOrder, Scalar, Shape, Values};
use hurray_io::tns::{self, IndexBase, ReadOptions, WriteError, WriteOptions};
use proptest::prelude::*;
use zerocopy::IntoBytes;

fn lines(
    rank: usize,
    coordinates: &[u64],
    values: Values<&[u8]>,
    options: &WriteOptions,
) -> Vec<u8> {
    let mut text = Vec::new();
    tns::write_coo(rank, coordinates, &values, &mut text, options).unwrap();
    text
}

fn column<T: Scalar>(values: &[T]) -> String {
    let coordinates = vec![0; values.len()];
    let text = lines(1, &coordinates, Values::from_slice(values), &WriteOptions::default());
    String::from_utf8(text)
        .unwrap()
        .lines()
        .map(|line| line.strip_prefix("1 ").unwrap())
        .collect::<Vec<_>>()
        .join(" ")
}

/// The bytes of the values once they were written and read again.
fn there_and_back<T: Scalar>(values: &[T]) -> Vec<u8> {
    let coordinates = vec![0; values.len()];
    let text = lines(1, &coordinates, Values::from_slice(values), &WriteOptions::default());
    let shape = Some(Shape::new([1]).unwrap());
    let options = ReadOptions { shape, element_type: T::ELEMENT_TYPE, ..Default::default() };
    tns::read(&text[..], &options).unwrap().values.bytes().to_vec()
}

#[test]
fn values_are_written_in_their_shortest_form() {
    assert_eq!(column(&[0.1f64, 4.0, -0.0, 1e300, 1e-7, 2.5e-3]), "0.1 4 -0.0 1e+300 1e-7 0.0025");
    assert_eq!(column(&[0.1f32, 1.0 / 3.0, f32::MAX]), "0.1 0.33333334 3.4028235e+38");
    assert_eq!(column(&[0.1f32, -2.5, 65504.0].map(f16::from_f32)), "0.1 -2.5 65500.0");
    assert_eq!(column(&[0.1f32, 3.0e38].map(bf16::from_f32)), "0.1 3e+38");
    assert_eq!(column(&[f64::NAN, f64::INFINITY, f64::NEG_INFINITY]), "nan inf -inf");
    assert_eq!(column(&[f16::NAN, f16::NEG_INFINITY]), "nan -inf");
    assert_eq!(column(&[i64::MIN, -1, 7]), "-9223372036854775808 -1 7");
    assert_eq!(column(&[u64::MAX]), "18446744073709551615");
}

#[test]
fn a_large_float_is_not_written_as_an_integer_that_it_is_not() {
    // The shortest digits of these are not their exact integers.
    assert_eq!(column(&[123_456_792f32]), "123456790.0");
    assert_eq!(column(&[123_456_792f64]), "123456792");
    assert_eq!(
        column(&[2f64.powi(53), 1e15, 2f64.powi(60)]),
        "9007199254740992.0 1000000000000000 1.152921504606847e+18"
    );
    for exponent in 0..1023 {
        let value =
            [2f64.powi(exponent), 2f64.powi(exponent).next_up(), -2f64.powi(exponent).next_down()];
        assert_eq!(there_and_back(&value), value.as_bytes());
    }
    for exponent in 0..127 {
        let value =
            [2f32.powi(exponent), 2f32.powi(exponent).next_up(), -2f32.powi(exponent).next_down()];
        assert_eq!(there_and_back(&value), value.as_bytes());
    }
}

#[test]
fn every_finite_16_bit_float_and_the_infinities_read_back() {
    let halves: Vec<f16> = (0..=u16::MAX).map(f16::from_bits).filter(|x| !x.is_nan()).collect();
    assert_eq!(there_and_back(&halves), halves.as_bytes());
    let brains: Vec<bf16> = (0..=u16::MAX).map(bf16::from_bits).filter(|x| !x.is_nan()).collect();
    assert_eq!(there_and_back(&brains), brains.as_bytes());
}

// A narrower type takes the lowest bytes of a word.
fn lowest<const N: usize>(word: u64) -> [u8; N] {
    *word.to_le_bytes().first_chunk().unwrap()
}

proptest! {
    #[test]
    fn any_value_reads_back(words in prop::collection::vec(any::<u64>(), 1..50)) {
        let f64s: Vec<f64> =
            words.iter().map(|&word| f64::from_bits(word)).filter(|x| !x.is_nan()).collect();
        prop_assert_eq!(there_and_back(&f64s), f64s.as_bytes());
        let f32s: Vec<f32> =
            words.iter().map(|&word| f32::from_le_bytes(lowest(word))).filter(|x| !x.is_nan()).collect();
        prop_assert_eq!(there_and_back(&f32s), f32s.as_bytes());
        macro_rules! integers {
            ($($integer:ty),*) => {$(
                let values: Vec<$integer> = words.iter().map(|&word| <$integer>::from_le_bytes(lowest(word))).collect();
                prop_assert_eq!(there_and_back(&values), values.as_bytes());
            )*};
        }
        integers!(i8, u8, i16, u16, i32, u32, i64, u64);
    }

    #[test]
    fn entries_read_back_whatever_blocks_and_pieces(
        rank in 1..9usize,
        words in prop::collection::vec(any::<u64>(), 0..200),
        small in any::<bool>(),
        zero in any::<bool>(),
        piece_size in 1..40usize,
        block_size in 1..200usize,
    ) {
        let nnz = words.len() / rank;
        let bound = if small { 10 } else { u64::MAX - 2 };
        let coordinates: Vec<u64> = words[..nnz * rank].iter().map(|word| word % bound).collect();
        let values: Vec<f64> = words[..nnz].iter().map(|&word| word as f64 / 3.0).collect();
        let index_base = if zero { IndexBase::Zero } else { IndexBase::One };
        let options = WriteOptions { index_base, piece_size, ..Default::default() };
        let text = lines(rank, &coordinates, Values::from_slice(&values), &options);
        let shape = Some(Shape::new(vec![u64::MAX - 1; rank]).unwrap());
        let options = ReadOptions { index_base, shape, block_size, ..Default::default() };
        let entries = tns::read(&text[..], &options).unwrap();
        prop_assert_eq!(&entries.coordinates[..], &coordinates[..]);
        prop_assert_eq!(entries.values.bytes(), values.as_bytes());
    }
}

fn worked_example(
    mode_order: [u32; 3],
    levels: [[&'static [u64]; 2]; 3],
) -> Tensor<&'static [u64]> {
    let levels = levels.map(|[pos, crd]| Level { pos, crd }).to_vec();
    let shape = Shape::new([2, 3, 4]).unwrap();
    let tree = Csf::new(shape, ModeOrder::new(mode_order).unwrap(), levels).unwrap();
    let values = Values::from_slice(&[1.0f32, 2.0, 3.0, 4.0]);
    let bytes = AlignedBytes::from(values.bytes());
    Tensor::new(tree, Values::new(ElementType::Float32, 4, bytes).unwrap()).unwrap()
}

fn text_of(tensor: &Tensor<&[u64]>, options: &WriteOptions) -> String {
    let mut text = Vec::new();
    tns::write_csf(tensor, &mut text, options).unwrap();
    String::from_utf8(text).unwrap()
}

#[test]
fn a_tree_is_written_in_storage_order_with_logical_indices() {
    let identity = worked_example(
        [0, 1, 2],
        [[&[0, 2], &[0, 1]], [&[0, 2, 3], &[0, 2, 1]], [&[0, 1, 2, 4], &[1, 3, 0, 2]]],
    );
    // Dimension 2 outermost and dimension 1 innermost: the leaf is in the middle of the index.
    let turned = worked_example(
        [2, 0, 1],
        [
            [&[0, 4], &[0, 1, 2, 3]],
            [&[0, 1, 2, 3, 4], &[1, 0, 1, 0]],
            [&[0, 1, 2, 3, 4], &[1, 0, 1, 2]],
        ],
    );
    for piece_size in [1, 3, 1000] {
        let options = WriteOptions { piece_size, ..Default::default() };
        assert_eq!(text_of(&identity, &options), "1 1 2 1\n1 3 4 2\n2 2 1 3\n2 2 3 4\n");
        assert_eq!(text_of(&turned, &options), "2 2 1 1\n1 1 2 2\n2 2 3 3\n1 3 4 4\n");
    }
    let options = WriteOptions { index_base: IndexBase::Zero, pattern: true, ..Default::default() };
    assert_eq!(text_of(&identity, &options), "0 0 1\n0 2 3\n1 1 0\n1 1 2\n");
}

#[test]
fn neither_pieces_nor_threads_change_the_text() {
    let coordinates: Vec<u64> = (0..3000).map(|i| i * i % 1009).collect();
    let values: Vec<i32> = (0..1000).collect();
    let write = |piece_size| {
        let options = WriteOptions { piece_size, ..Default::default() };
        lines(3, &coordinates, Values::from_slice(&values), &options)
    };
    let expected = write(1000);
    for threads in [1, 2, 5] {
        rayon::ThreadPoolBuilder::new().num_threads(threads).build().unwrap().install(|| {
            for piece_size in [0, 1, 7, 999] {
                assert_eq!(write(piece_size), expected);
            }
        });
    }
}

#[test]
fn a_type_without_text_form_is_refused_by_name_unless_the_values_are_left_out() {
    for element_type in ElementType::public().filter(|t| t.tag() >= 0x20) {
        let bytes = vec![0u8; to_usize(element_type.byte_length(2).unwrap())];
        let values = Values::new(element_type, 2, &bytes[..]).unwrap();
        let mut text = Vec::new();
        let error = tns::write_coo(1, &[3, 4], &values, &mut text, &WriteOptions::default());
        assert_eq!(
            error.unwrap_err().to_string(),
            format!(
                "values of type {element_type} have no text form; only the pattern, without \
                 values, can be written"
            )
        );
        assert!(text.is_empty());
        let pattern = WriteOptions { pattern: true, ..Default::default() };
        tns::write_coo(1, &[3, 4], &values, &mut text, &pattern).unwrap();
        assert_eq!(text, b"4\n5\n");
    }
}

#[test]
fn coordinates_and_values_have_to_match() {
    let values = Values::from_slice(&[1i8, 2]);
    for (rank, coordinates) in [(0, &[][..]), (2, &[1, 2, 3]), (usize::MAX, &[1, 2])] {
        let error =
            tns::write_coo(rank, coordinates, &values, Vec::new(), &WriteOptions::default());
        assert!(matches!(error, Err(WriteError::EntryCount { values: 2, .. })));
    }
}

#[test]
fn an_output_that_fails_is_an_error() {
    struct Full(usize);
    impl std::io::Write for Full {
        fn write(&mut self, bytes: &[u8]) -> std::io::Result<usize> {
            self.0 = self.0.checked_sub(bytes.len()).ok_or(std::io::ErrorKind::StorageFull)?;
            Ok(bytes.len())
        }
        fn flush(&mut self) -> std::io::Result<()> {
            Ok(())
        }
    }
    let coordinates = vec![0; 1000];
    let values = vec![0i8; 1000];
    let options = WriteOptions { piece_size: 10, ..Default::default() };
    let write =
        |room| tns::write_coo(1, &coordinates, &Values::from_slice(&values), Full(room), &options);
    assert!(write(4000).is_ok());
    assert!(matches!(write(3999), Err(WriteError::Io(_))));
}

#[test]
fn progress_counts_the_entries() {
    let seen = std::sync::Mutex::new(Vec::new());
    let progress = |entries| seen.lock().unwrap().push(entries);
    let options = WriteOptions { piece_size: 4, progress: Some(&progress), ..Default::default() };
    lines(1, &[1; 10], Values::from_slice(&[1u8; 10]), &options);
    assert_eq!(seen.into_inner().unwrap(), [4, 8, 10]);
}

#[cfg(feature = "gzip")]
#[test]
fn gzip_output_reads_back_even_if_it_is_empty() {
    let options = WriteOptions { gzip: true, piece_size: 7, ..Default::default() };
    let values: Vec<f32> = (0..100).map(|i| i as f32 / 7.0).collect();
    let coordinates: Vec<u64> = (0..200).collect();
    let text = lines(2, &coordinates, Values::from_slice(&values), &options);
    assert_eq!(text[..2], [0x1F, 0x8B]);
    let read = ReadOptions {
        element_type: ElementType::Float32,
        shape: Some(Shape::new([1000, 1000]).unwrap()),
        ..Default::default()
    };
    let entries = tns::read(&text[..], &read).unwrap();
    assert_eq!(entries.coordinates[..], coordinates);
    assert_eq!(entries.values.as_slice::<f32>().unwrap(), values);

    let text = lines(2, &[], Values::from_slice::<f32>(&[]), &options);
    assert_eq!(text[..2], [0x1F, 0x8B]);
    assert_eq!(tns::read(&text[..], &read).unwrap().nnz(), 0);
}
