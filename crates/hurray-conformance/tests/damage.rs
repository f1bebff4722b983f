//! Every bit of small files flipped, one at a time, and every length that they can be cut to.
//!
//! Padding is most of a file, and nothing reads it: there the bits of one position in all bytes of a
//! page are flipped together, and one at a time only beside what is read.

use std::fs;
use std::io::{Seek, SeekFrom, Write};
use std::ops::Range;
use std::path::Path;

use hurray_core::layout::addressing;
use hurray_csf::{Csf, Level, Numbers, Tensor};
use hurray_format::cast::{to_u64, to_usize};
use hurray_format::container::{HEADER_LENGTH, Header, TRAILER_LENGTH, Trailer};
use hurray_format::descriptor::{Statistics, ValueRange};
use hurray_format::quantization::{PerBlock, ScaleType};
use hurray_format::{
    BufferHandle, ElementType, LayoutDescriptor, Metadata, ModeOrder, Quantization, Shape,
    TensorDescriptor, Values,
};
use hurray_io::{Error, File, TensorBuffers, Writer, WriterOptions};
use hurray_testing::memory::{self, Counting};

const PAGE: usize = 4096;

/// What the largest allocation may take: the files have some 10 pages.
const LARGEST_ALLOWED: usize = 1 << 20;

#[global_allocator]
static ALLOCATOR: Counting = Counting;

/// Everything that a file holds.
#[derive(Debug, PartialEq)]
struct Contents {
    tensors: Vec<(String, TensorDescriptor, Vec<Vec<u8>>)>,
    metadata: Metadata,
}

/// Opens, verifies and reads a file. What passes has to be as good as it looks.
fn read(path: &Path) -> Result<Contents, Error> {
    let file = File::open(path)?;
    file.verify()?;
    let mut tensors = Vec::new();
    for tensor in file.tensors() {
        let buffers = tensor.read()?;
        check_by_reference(&buffers);
        let bytes = buffers.buffers().iter().map(|buffer| buffer.to_vec()).collect();
        tensors.push((tensor.name().to_owned(), tensor.descriptor().clone(), bytes));
    }
    Ok(Contents { tensors, metadata: file.metadata().clone() })
}

/// Holds a tensor that was found valid against the reference, and uses it.
fn check_by_reference(buffers: &TensorBuffers) {
    let shape = buffers.descriptor().shape.dimensions();
    match &buffers.descriptor().layout {
        LayoutDescriptor::Csf(layout) => {
            let tensor = buffers.csf().unwrap();
            let tree = tensor.tree();
            let (pos, crd): (Vec<_>, Vec<_>) = (0..tree.rank()).map(|l| tree.level(l)).unzip();
            let (nnz, order) = (layout.nnz, &layout.mode_order);
            addressing::csf::validate_index_buffers(nnz, order, shape, &pos, &crd)
                .expect("the reference finds the tree valid too");
            let values = tensor.values().clone();
            let numbers = Numbers::new(values, buffers.dequantizer().unwrap()).unwrap();
            let mut count = 0;
            tree.leaves().for_each(|index, leaf| {
                let found = addressing::csf::element_offset(index, order, &pos, &crd).unwrap();
                assert_eq!(found, Some(to_u64(leaf)));
                numbers.get(index, leaf).unwrap();
                count += 1;
            });
            assert_eq!(count, tree.nnz());
        }
        LayoutDescriptor::Coo(layout) => {
            let coo = buffers.coo().unwrap();
            for position in 0..coo.nnz() {
                let index = coo.index(position).unwrap();
                assert!(index.iter().zip(shape).all(|(i, size)| i < size), "{index:?}");
                let rows = coo.coordinates();
                let found = addressing::coo::element_offset(index, layout.is_sorted, rows).unwrap();
                assert_eq!(found, Some(to_u64(position)));
            }
        }
        _ => {}
    }
}

/// What a flipped bit may do.
#[derive(Clone, Copy, Debug, PartialEq)]
enum Rule {
    /// It is always found.
    Error,
    /// It changes nothing.
    Nothing,
    /// It is found, or makes another valid tensor.
    ErrorOrValid,
}

/// What holds for each byte of a valid file.
fn rules(path: &Path, bytes: &[u8]) -> Vec<Rule> {
    let mut rules = vec![Rule::Nothing; bytes.len()];
    let mut mark = |range: Range<u64>, rule| {
        rules[to_usize(range.start)..to_usize(range.end)].fill(rule);
    };
    mark(0..HEADER_LENGTH, Rule::ErrorOrValid);
    let file = File::open(path).unwrap();
    for tensor in file.tensors() {
        let descriptor = tensor.index_entry().descriptor();
        mark(descriptor.clone(), Rule::ErrorOrValid);
        if let Some(statistics) = tensor.descriptor().statistics {
            // The last section of these descriptors.
            let start = descriptor.end - 72;
            let fields = [
                (16..24, statistics.sparsity.is_none()),
                (24..48, statistics.range.is_none()),
                (48..64, statistics.moments.is_none()),
                (64..66, statistics.pattern.is_none()),
                (66..68, statistics.non_finite.is_none()),
            ];
            for (field, _) in fields.into_iter().filter(|field| field.1) {
                mark(start + field.start..start + field.end, Rule::Nothing);
            }
        }
        for buffer in tensor.buffer_ranges() {
            mark(buffer.clone(), Rule::ErrorOrValid);
        }
    }
    let trailer = to_u64(bytes.len()) - TRAILER_LENGTH;
    let header = Header::decode(&bytes[..to_usize(HEADER_LENGTH)]).unwrap();
    let found = Trailer::decode(&bytes[to_usize(trailer)..], trailer, &header).unwrap();
    if let Some(metadata) = found.metadata {
        mark(metadata, Rule::ErrorOrValid);
    }
    mark(found.index, Rule::Error);
    mark(trailer..to_u64(bytes.len()), Rule::Error);
    rules
}

/// Writes a file, and damages it in every way.
fn damage(write: impl FnOnce(&mut Writer)) {
    let folder = tempfile::tempdir().unwrap();
    let whole = folder.path().join("whole.hrry");
    let options = WriterOptions { sync: false, ..WriterOptions::default() };
    let mut writer = Writer::create(&whole, options).unwrap();
    write(&mut writer);
    writer.finish().unwrap();
    let bytes = fs::read(&whole).unwrap();
    let contents = read(&whole).unwrap();
    let rules = rules(&whole, &bytes);
    let path = folder.path().join("damaged.hrry");

    fs::write(&path, &bytes).unwrap();
    let mut target = fs::File::options().write(true).open(&path).unwrap();
    let mut put = |at: usize, part: &[u8]| {
        target.seek(SeekFrom::Start(to_u64(at))).unwrap();
        target.write_all(part).unwrap();
    };
    let mut check = |at: usize, damaged: &[u8], rule: Rule, place: &str| {
        put(at, damaged);
        let found = read(&path);
        match rule {
            Rule::Error => assert!(found.is_err(), "{place}: not found"),
            Rule::Nothing => match &found {
                Ok(found) => assert!(*found == contents, "{place}: {found:?}"),
                Err(error) => panic!("{place}: {error}"),
            },
            Rule::ErrorOrValid => {}
        }
        // Permissively more is shown, and nothing goes wrong either.
        if let Ok(file) = File::options().permissive().open(&path) {
            let _ = file.verify();
            file.tensors().for_each(|tensor| drop(tensor.read()));
        }
        put(at, &bytes[at..at + damaged.len()]);
    };

    let is_read = |at: usize| {
        let around = at.saturating_sub(8)..(at + 9).min(bytes.len());
        rules[around].iter().any(|&rule| rule != Rule::Nothing)
    };
    for at in (0..bytes.len()).filter(|&at| is_read(at)) {
        for bit in 0..8 {
            check(at, &[bytes[at] ^ 1 << bit], rules[at], &format!("byte {at}, bit {bit}"));
        }
    }
    for page in (0..bytes.len()).step_by(PAGE) {
        let range = page..(page + PAGE).min(bytes.len());
        for bit in 0..8 {
            let damaged: Vec<u8> = (range.clone())
                .map(|at| bytes[at] ^ u8::from(rules[at] == Rule::Nothing) << bit)
                .collect();
            check(page, &damaged, Rule::Nothing, &format!("padding of page {page}, bit {bit}"));
        }
    }

    let cut = fs::File::options().write(true).open(&whole).unwrap();
    for length in (0..bytes.len()).rev() {
        cut.set_len(to_u64(length)).unwrap();
        for options in [File::options(), File::options().permissive()] {
            assert!(options.open(&whole).is_err(), "cut to {length} bytes");
        }
    }
    let largest = memory::largest();
    assert!(largest <= LARGEST_ALLOWED, "{largest} bytes were allocated at once");
}

/// The worked example of the CSF section, in another mode order.
fn example(values: Values<&[u8]>) -> Tensor<Vec<u64>, &[u8]> {
    let levels = [
        (vec![0, 4], vec![0, 1, 2, 3]),
        (vec![0, 1, 2, 3, 4], vec![1, 0, 1, 0]),
        (vec![0, 1, 2, 3, 4], vec![1, 0, 1, 2]),
    ];
    let tree = Csf::new(
        Shape::new([2, 3, 4]).unwrap(),
        ModeOrder::new([2, 0, 1]).unwrap(),
        levels.into_iter().map(|(pos, crd)| Level { pos, crd }).collect(),
    );
    Tensor::new(tree.unwrap(), values).unwrap()
}

/// The descriptor and the buffers of a tensor, for what a plain one does not have.
fn parts(tensor: &Tensor<Vec<u64>, &[u8]>) -> (TensorDescriptor, Vec<Vec<u8>>) {
    let (tree, values) = (tensor.tree(), tensor.values());
    let counts: Vec<u64> = (0..tree.rank()).map(|l| to_u64(tree.node_count(l))).collect();
    let (shape, order) = (tree.shape().clone(), tree.mode_order());
    let descriptor = TensorDescriptor::csf(shape, values.element_type(), order, &counts).unwrap();
    let words = |words: &[u64]| words.iter().flat_map(|word| word.to_le_bytes()).collect();
    let mut buffers = vec![values.bytes().to_vec()];
    for level in 0..tree.rank() {
        let (pos, crd) = tree.level(level);
        buffers.extend([words(pos), words(crd)]);
    }
    (descriptor, buffers)
}

fn write_parts(writer: &mut Writer, name: &str, parts: &(TensorDescriptor, Vec<Vec<u8>>)) {
    let buffers: Vec<&[u8]> = parts.1.iter().map(Vec::as_slice).collect();
    writer.tensor(name, &parts.0, &buffers).unwrap();
}

const VALUES: [f32; 4] = [3.0, 1.0, 4.0, 2.0];

#[test]
fn damage_to_a_csf_file_is_found_or_harmless() {
    let mut tensor = parts(&example(Values::from_slice(&VALUES)));
    // Some statistics are marked valid, some not.
    tensor.0.statistics = Some(Statistics {
        nnz: Some(4),
        range: Some(ValueRange { min: 0.0, max: 4.0, abs_max: 4.0 }),
        ..Statistics::default()
    });
    damage(|writer| write_parts(writer, "x", &tensor));
}

#[test]
fn damage_to_a_quantized_csf_file_is_found_or_harmless() {
    let (mut descriptor, mut buffers) = parts(&example(Values::from_slice(&[-128i8, 127, 0, -3])));
    let scheme = PerBlock {
        axis: 2,
        block: 2,
        scale_index: 8,
        zero_index: Some(7),
        scale_type: ScaleType::BFloat16,
    };
    descriptor.quantization = Some(Quantization::PerBlock(scheme));
    // Two blocks along dimension 2 for each index of the others.
    buffers.push((0..12i32).flat_map(i32::to_le_bytes).collect());
    buffers.push([0x80, 0x3F].repeat(12));
    let sizes = buffers[7..].iter().map(|buffer| to_u64(buffer.len()));
    descriptor.buffers.extend(sizes.map(BufferHandle::cpu));
    damage(|writer| write_parts(writer, "x", &(descriptor, buffers)));
}

#[test]
fn damage_to_a_coo_file_is_found_or_harmless() {
    let shape = || Shape::new([2, 3, 4]).unwrap();
    let rows = [0, 0, 1, 0, 2, 3, 1, 1, 0, 1, 1, 2];
    damage(|writer| writer.coo("x", shape(), &rows, true, &Values::from_slice(&VALUES)).unwrap());
    // The two highest bits of the packed values are unused.
    let values = Values::pack(ElementType::Int2, &[1, 2, 3]).unwrap();
    let rows = [1, 1, 2, 0, 2, 3, 1, 1, 0];
    damage(|writer| writer.coo("x", shape(), &rows, false, &values).unwrap());
}

#[test]
fn damage_to_a_file_of_several_tensors_is_found_or_harmless() {
    damage(|writer| {
        writer.set_metadata("source", "naïve").unwrap();
        writer.set_metadata("version", 3u64).unwrap();
        writer.set_metadata("scores", vec![1.5, -2.0]).unwrap();
        let shape = || Shape::new([2, 3, 4]).unwrap();
        writer.csf("zeta", &example(Values::from_slice(&VALUES))).unwrap();
        let rows = [0, 2, 3, 1, 1, 0];
        let values = Values::from_slice(&[1u16, 2]);
        writer.coo("alpha", shape(), &rows, true, &values).unwrap();
        writer
            .row_major("μ", Shape::new([3]).unwrap(), &Values::from_slice(&[1.5f64, 2.5, 3.5]))
            .unwrap();
        writer
            .row_major("empty", Shape::new([0, 3]).unwrap(), &Values::from_slice::<u16>(&[]))
            .unwrap();
    });
}
