//! Coordinate text, compressed or not, with any options: no text makes the reader panic or allocate
//! more than a multiple of it. What is read does not depend on how the text is cut into blocks, and
//! written and read again it is the same.

use std::io::Write;

use flate2::Compression;
use flate2::read::MultiGzDecoder;
use flate2::write::GzEncoder;
use hurray_format::{ElementType, Shape};
use hurray_io::tns::{self, Entries, IndexBase, ReadOptions, WriteOptions};
use hurray_testing::memory::{self, Counting};
use hurray_testing::{Choices, counted, damage};

#[global_allocator]
static ALLOCATOR: Counting = Counting;

#[test]
fn text() {
    bolero::check!().for_each(counted(run));
}

const TYPES: [ElementType; 12] = [
    ElementType::Float64,
    ElementType::Float32,
    ElementType::Float16,
    ElementType::BFloat16,
    ElementType::Int8,
    ElementType::Uint8,
    ElementType::Int16,
    ElementType::Uint16,
    ElementType::Int32,
    ElementType::Uint32,
    ElementType::Int64,
    ElementType::Uint64,
];

fn run(input: &[u8]) {
    let mut choices = Choices::new(input);
    let rank = 1 + choices.below(4);
    let options = ReadOptions {
        index_base: *choices.pick(&[IndexBase::One, IndexBase::Zero]),
        element_type: *choices.pick(&TYPES),
        pattern: choices.one_in(5),
        shape: choices.one_in(5).then(|| shape(rank, &mut choices)),
        ..ReadOptions::default()
    };
    let block_size = 1 + choices.below(64);
    let is_raw = choices.one_in(4);
    let compressed = choices.below(16);
    let text = match is_raw {
        true => choices.take(usize::MAX).to_vec(),
        false => lines(rank, &mut choices),
    };
    let text = match compressed {
        14 => compress(&text),
        15 => {
            let mut bytes = compress(&text);
            damage::damage(&mut bytes, &[], &mut choices);
            bytes
        }
        _ => text,
    };

    let whole = read(&text, &options);
    let in_blocks = read(&text, &ReadOptions { block_size, ..options.clone() });
    match (whole, in_blocks) {
        (Ok(whole), Ok(in_blocks)) => {
            assert_same(&whole, &in_blocks);
            assert_eq!(whole.lines, in_blocks.lines);
            write_and_read(&whole, &options);
        }
        (Err(whole), Err(in_blocks)) => assert_eq!(whole, in_blocks),
        (whole, in_blocks) => panic!("{whole:?}, in blocks {in_blocks:?}"),
    }
}

fn read(text: &[u8], options: &ReadOptions<'_>) -> Result<Entries, String> {
    let (entries, usage) = memory::measure(|| tns::read(text, options));
    let length = if text.starts_with(&[0x1F, 0x8B]) { inflated(text) } else { text.len() };
    // Four times what a value and its coordinates take, and they may stand on a byte and a blank;
    // and the buffers, which have the same size whatever is read.
    assert!(usage.peak <= 64 * length + (2 << 20), "{usage:?} for {length} bytes");
    entries.map_err(|error| error.to_string())
}

/// The length of what can be decompressed.
fn inflated(bytes: &[u8]) -> usize {
    let mut length = std::io::sink();
    let mut decoder = MultiGzDecoder::new(bytes);
    let mut count = 0;
    let mut buffer = [0; 4096];
    while let Ok(more @ 1..) = std::io::Read::read(&mut decoder, &mut buffer) {
        let _ = length.write(&buffer[..more]);
        count += more;
    }
    count
}

fn assert_same(one: &Entries, other: &Entries) {
    assert_eq!(one.shape, other.shape);
    assert_eq!(one.coordinates, other.coordinates);
    assert_eq!(one.values.bytes(), other.values.bytes());
}

fn write(entries: &Entries, options: &ReadOptions<'_>) -> Vec<u8> {
    let ReadOptions { index_base, pattern, .. } = *options;
    let options = WriteOptions { index_base, pattern, piece_size: 3, ..WriteOptions::default() };
    let mut text = Vec::new();
    let (rank, values) = (entries.shape.rank(), &entries.values);
    tns::write_coo(rank, &entries.coordinates, values, &mut text, &options)
        .expect("what was read can be written");
    text
}

fn write_and_read(entries: &Entries, options: &ReadOptions<'_>) {
    let text = write(entries, options);
    let again = tns::read(&text[..], options).expect("what was written can be read");
    assert_eq!(again.shape, entries.shape);
    assert_eq!(again.coordinates, entries.coordinates);
    // The payload of a NaN is lost, and nothing else.
    assert_eq!(write(&again, options), text);
    for (one, other) in entries.values.iter().zip(again.values.iter()) {
        let is_nan = one.to_f64().is_some_and(f64::is_nan);
        assert!(one == other || is_nan, "{one:?} became {other:?}");
    }
}

fn shape(rank: usize, choices: &mut Choices<'_>) -> Shape {
    let sizes: Vec<u64> = (0..rank).map(|_| choices.telling_word()).collect();
    Shape::new(sizes).expect("a rank below 64")
}

fn compress(text: &[u8]) -> Vec<u8> {
    let mut encoder = GzEncoder::new(Vec::new(), Compression::fast());
    encoder.write_all(text).and_then(|()| encoder.finish()).expect("a vector takes everything")
}

/// Lines that are nearly entries of this rank.
fn lines(rank: usize, choices: &mut Choices<'_>) -> Vec<u8> {
    let mut text = if choices.one_in(16) { b"\xEF\xBB\xBF".to_vec() } else { Vec::new() };
    while !choices.is_empty() && text.len() < 4000 {
        match choices.below(24) {
            20 => text.extend_from_slice(b"# a comment"),
            21 => text.extend_from_slice(choices.take(4)),
            22 => {
                let header = choices.pick(&["sptensor", "%%MatrixMarket", "3\n2 3 4"]);
                text.extend_from_slice(header.as_bytes());
            }
            23 => {}
            columns => {
                let columns = if columns == 19 { choices.below(6) } else { rank };
                for _ in 0..columns {
                    index(&mut text, choices);
                    text.extend_from_slice(choices.pick(&[" ", "\t", "  ", "\x0B"]).as_bytes());
                }
                value(&mut text, choices);
            }
        }
        text.extend_from_slice(choices.pick(&["\n", "\r\n", " #\n", ""]).as_bytes());
    }
    text
}

fn index(text: &mut Vec<u8>, choices: &mut Choices<'_>) {
    let index = match choices.below(12) {
        11 => u128::from(choices.word()) << choices.below(8),
        10 => choices.telling_word().into(),
        small => small as u128,
    };
    text.extend_from_slice(index.to_string().as_bytes());
}

fn value(text: &mut Vec<u8>, choices: &mut Choices<'_>) {
    const WORDS: [&str; 8] = [
        "nan",
        "inf",
        "-Infinity",
        "1e400",
        "-0",
        "65504.0",
        ".5e-400",
        "340282346638528859811704183484516925440",
    ];
    match choices.below(8) {
        0 | 1 => text.extend_from_slice(choices.byte().to_string().as_bytes()),
        2 => text.extend_from_slice(choices.word().cast_signed().to_string().as_bytes()),
        3 => text.extend_from_slice(format!("{:?}", f64::from_bits(choices.word())).as_bytes()),
        4 => text.extend_from_slice(choices.pick(&WORDS).as_bytes()),
        5 => {
            // Digits around a point, and an exponent.
            for _ in 0..choices.below(40) {
                text.push(b'0' + choices.byte() % 10);
            }
            text.push(*choices.pick(b".eE"));
            text.extend_from_slice((i32::from(choices.byte()) - 128).to_string().as_bytes());
        }
        6 => text.extend_from_slice(choices.take(6)),
        _ => {}
    }
}
