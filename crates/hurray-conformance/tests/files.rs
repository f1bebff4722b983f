//! Files both ways: what this project writes the reference reads, what the reference writes this
//! project reads, and both find the same.

mod common;

use std::path::Path;

use common::{Entries, Model, any_model, bits_at, element_types, entries, open_both_ways, quickly};
use hurray_conformance::reference::{self, ReferenceTensor};
use hurray_core::layout::{CooLayout, CsfLayout};
use hurray_core::{BufferHandle, DeviceTag, ExtensionTypeDescriptor, LayoutDescriptor, SyncMode};
use hurray_format::cast::{to_u64, to_usize};
use hurray_format::element::PrivateKind;
use hurray_format::{AlignedBytes, ElementType, MetadataArray, MetadataValue, Shape, Values};
use hurray_io::{TensorBuffers, Writer, WriterOptions};
use proptest::prelude::*;
use reference_io::file::{FileWriterOptions, KvValue};
use zerocopy::IntoBytes;

/// What the reference finds in a tensor: its lookups, and the values that they lead to.
fn found_by_reference(tensor: &ReferenceTensor, width: u32) -> Entries {
    let found = reference::entries(tensor).into_iter();
    let bits = |position| bits_at(&tensor.buffers[0], width, to_usize(position));
    found.map(|(index, position)| (index, bits(position))).collect()
}

/// What this project finds in a tensor.
fn found_by_us(tensor: &TensorBuffers) -> Entries {
    tensor.verify().unwrap();
    if tensor.descriptor().layout.name() == "csf" {
        return entries(&tensor.csf().unwrap());
    }
    let coo = tensor.coo().unwrap();
    let width = coo.values().element_type().bits();
    let entry = |position| {
        let index = coo.index(position).unwrap();
        assert_eq!(coo.lookup(index), Ok(Some(position)));
        (index.to_vec(), bits_at(coo.values().bytes(), width, position))
    };
    (0..coo.nnz()).map(entry).collect()
}

/// Metadata of all seven types and of arrays of all six, as both sides have them.
fn metadata() -> Vec<(&'static str, MetadataValue, KvValue)> {
    let bytes = || vec![0u8, 0xFF];
    let text = "naïve μ".to_owned();
    let array = |values: Vec<KvValue>| KvValue::Array(values);
    vec![
        ("string", text.clone().into(), KvValue::String(text.clone())),
        ("empty", "".into(), KvValue::String(String::new())),
        ("i64", i64::MIN.into(), KvValue::Int64(i64::MIN)),
        ("u64", u64::MAX.into(), KvValue::Uint64(u64::MAX)),
        ("f64", (-0.1).into(), KvValue::Float64(-0.1)),
        ("bool", true.into(), KvValue::Bool(true)),
        ("bytes", bytes().into(), KvValue::Bytes(bytes())),
        (
            "strings",
            vec![text.clone(), String::new()].into(),
            array(vec![KvValue::String(text), KvValue::String(String::new())]),
        ),
        ("i64s", vec![-1i64, 2].into(), array(vec![KvValue::Int64(-1), KvValue::Int64(2)])),
        ("u64s", vec![7u64].into(), array(vec![KvValue::Uint64(7)])),
        (
            "f64s",
            vec![f64::INFINITY, 0.5].into(),
            array(vec![KvValue::Float64(f64::INFINITY), KvValue::Float64(0.5)]),
        ),
        ("bools", vec![false, true].into(), array(vec![KvValue::Bool(false), KvValue::Bool(true)])),
        (
            "bytestrings",
            MetadataValue::Array(MetadataArray::Bytes(vec![bytes(), vec![]])),
            array(vec![KvValue::Bytes(bytes()), KvValue::Bytes(vec![])]),
        ),
    ]
}

/// Writes a tensor as CSF, as sorted COO and as COO in the order of its tree.
fn write(path: &Path, model: &Model, options: WriterOptions) {
    let tensor = model.build();
    let shape = || Shape::new(&model.shape[..]).unwrap();
    let mut writer = Writer::create(path, options).unwrap();
    writer.csf("tree", &tensor).unwrap();
    let sorted = tensor.to_sorted_coo().unwrap();
    writer.coo("sorted", shape(), sorted.coordinates(), true, sorted.values()).unwrap();
    let list = tensor.to_coo();
    writer.coo("list", shape(), list.coordinates(), false, list.values()).unwrap();
    writer.finish().unwrap();
}

/// Holds what the reference reads against the model.
fn check_reference(path: &Path, model: &Model) {
    let (tensors, _) = reference::read(path).unwrap();
    // The index is sorted by name.
    let names: Vec<_> = tensors.iter().map(|tensor| &tensor.name[..]).collect();
    assert_eq!(names, ["list", "sorted", "tree"]);
    for tensor in &tensors {
        assert_eq!(tensor.descriptor.shape.dims(), model.shape);
        assert_eq!(tensor.descriptor.element_type.tag(), model.element_type.tag());
        assert_eq!(found_by_reference(tensor, model.element_type.bits()), model.entries);
    }
    let LayoutDescriptor::Csf(layout) = &tensors[2].descriptor.layout else { panic!("not CSF") };
    assert_eq!(layout.mode_order, model.mode_order);
}

fn handle(bytes: &[u8]) -> BufferHandle {
    BufferHandle::new(to_u64(bytes.len()), 64, DeviceTag::Cpu, SyncMode::ProducerSynced).unwrap()
}

/// A tensor put together with the types of the reference.
fn for_reference(
    name: &str,
    model: &Model,
    layout: LayoutDescriptor,
    buffers: Vec<Vec<u8>>,
) -> ReferenceTensor {
    let extension = match model.element_type {
        ElementType::Private(private) => {
            let width = private.bit_width();
            let packing = if width < 8 { 8 / width } else { 1 };
            let is_signed = private.kind() == PrivateKind::Integer { is_signed: true };
            let packing = packing.try_into().unwrap();
            let section = ExtensionTypeDescriptor::new(
                width, packing, false, is_signed, 0, 0, 0, 0, false, false,
            );
            Some(section.unwrap())
        }
        _ => None,
    };
    let descriptor = hurray_core::TensorDescriptor::new(
        1,
        0,
        hurray_core::ElementType::from_tag(model.element_type.tag()).unwrap(),
        hurray_core::Shape::new(&model.shape[..]).unwrap(),
        0,
        layout,
        buffers.iter().map(|buffer| handle(buffer)).collect(),
        None,
        None,
        None,
        extension,
    );
    ReferenceTensor { name: name.to_owned(), descriptor: descriptor.unwrap(), buffers }
}

/// The tensor as CSF and as COO, with the types of the reference.
fn both_for_reference(model: &Model) -> Vec<ReferenceTensor> {
    let (rows, values) = model.rows();
    let nnz = to_u64(model.entries.len());
    let list = vec![values, rows.as_bytes().to_vec()];
    let tensor = model.build();
    let mut tree = vec![tensor.values().bytes().to_vec()];
    for level in 0..model.shape.len() {
        let (pos, crd) = tensor.tree().level(level);
        tree.extend([pos.as_bytes().to_vec(), crd.as_bytes().to_vec()]);
    }
    let csf = CsfLayout::new(nnz, model.mode_order.clone());
    vec![
        for_reference("μ tree", model, LayoutDescriptor::Csf(csf), tree),
        for_reference("a list", model, LayoutDescriptor::Coo(CooLayout::new(nnz, true)), list),
    ]
}

fn check_us(path: &Path, model: &Model) {
    for file in open_both_ways(path) {
        file.verify().unwrap();
        assert_eq!(file.len(), 2);
        for name in ["μ tree", "a list"] {
            let tensor = file.tensor(name).unwrap();
            assert_eq!(tensor.descriptor().shape.dimensions(), model.shape);
            assert_eq!(tensor.descriptor().element_type, model.element_type);
            assert_eq!(found_by_us(&tensor.read().unwrap()), model.entries);
        }
        let tree = file.tensor("μ tree").unwrap().read().unwrap().csf().unwrap();
        assert_eq!(tree.tree().mode_order().as_slice(), model.mode_order);
    }
}

proptest! {
    #![proptest_config(ProptestConfig::with_cases(48))]

    #[test]
    fn the_reference_finds_what_we_write(model in any_model()) {
        let folder = tempfile::tempdir().unwrap();
        let path = folder.path().join("ours.hrry");
        write(&path, &model, quickly());
        check_reference(&path, &model);
    }

    #[test]
    fn we_find_what_the_reference_writes(model in any_model(), sorted_index in any::<bool>()) {
        let folder = tempfile::tempdir().unwrap();
        let path = folder.path().join("theirs.hrry");
        let options = FileWriterOptions { data_buffer_alignment: 4096, sorted_index };
        reference::write(&path, options, &both_for_reference(&model), vec![]).unwrap();
        check_us(&path, &model);
    }
}

/// Five elements of any type in a tensor with an empty slice.
fn example(element_type: ElementType) -> Model {
    let indices = [[0, 0, 1], [0, 2, 3], [1, 1, 0], [1, 1, 2], [3, 0, 0]];
    let width = element_type.bits();
    let value =
        |n: u128| (0x0123_4567_89AB_CDEF_FEDC_BA98_7654_3210 * (2 * n + 1)) >> (128 - width);
    let entries = indices.map(Vec::from).into_iter().zip((0..).map(value)).collect();
    Model { shape: vec![4, 3, 4], mode_order: vec![2, 0, 1], element_type, entries }
}

#[test]
fn every_element_type_goes_both_ways() {
    let folder = tempfile::tempdir().unwrap();
    let types = element_types();
    assert_eq!(types.len(), 26 + 6);
    for (number, element_type) in types.into_iter().enumerate() {
        let model = example(element_type);
        let path = folder.path().join(format!("ours{number}.hrry"));
        write(&path, &model, quickly());
        check_reference(&path, &model);
        let path = folder.path().join(format!("theirs{number}.hrry"));
        let options = FileWriterOptions { data_buffer_alignment: 4096, sorted_index: false };
        reference::write(&path, options, &both_for_reference(&model), vec![]).unwrap();
        check_us(&path, &model);
    }
}

#[test]
fn every_alignment_goes_both_ways() {
    let folder = tempfile::tempdir().unwrap();
    let model = example(ElementType::Float64);
    for data_buffer_alignment in (12..=21).map(|bits| 1 << bits) {
        let path = folder.path().join(format!("ours{data_buffer_alignment}.hrry"));
        write(&path, &model, WriterOptions { data_buffer_alignment, ..quickly() });
        check_reference(&path, &model);
        let path = folder.path().join(format!("theirs{data_buffer_alignment}.hrry"));
        let options = FileWriterOptions { data_buffer_alignment, sorted_index: true };
        reference::write(&path, options, &both_for_reference(&model), vec![]).unwrap();
        check_us(&path, &model);
        for file in open_both_ways(&path) {
            assert_eq!(file.header().data_buffer_alignment, data_buffer_alignment);
        }
    }
}

#[test]
fn empty_tensors_and_rank_64_go_both_ways() {
    let folder = tempfile::tempdir().unwrap();
    let empty = Model {
        shape: vec![5, 0, u64::MAX - 1],
        mode_order: vec![1, 2, 0],
        element_type: ElementType::Int4,
        entries: Entries::new(),
    };
    let deep = Model {
        shape: vec![u64::MAX - 1; 64],
        mode_order: (0..64).rev().collect(),
        element_type: ElementType::Float32,
        entries: [vec![0; 64], vec![u64::MAX - 2; 64], (0..64).collect()]
            .into_iter()
            .zip([1, 2, 3])
            .collect(),
    };
    for (name, model) in [("empty", empty), ("deep", deep)] {
        let path = folder.path().join(format!("{name}.hrry"));
        write(&path, &model, quickly());
        check_reference(&path, &model);
        let path = folder.path().join(format!("{name}_theirs.hrry"));
        let options = FileWriterOptions { data_buffer_alignment: 4096, sorted_index: true };
        reference::write(&path, options, &both_for_reference(&model), vec![]).unwrap();
        check_us(&path, &model);
    }
}

#[test]
fn metadata_and_dense_tensors_go_both_ways() {
    let folder = tempfile::tempdir().unwrap();
    let dense: Vec<f32> = (0u8..24).map(f32::from).collect();
    let values = Values::new(ElementType::Float32, 24, AlignedBytes::from(dense.as_bytes()));
    let values = values.unwrap();

    let path = folder.path().join("ours.hrry");
    let mut writer = Writer::create(&path, quickly()).unwrap();
    for (key, value, _) in metadata() {
        writer.set_metadata(key, value).unwrap();
    }
    writer.row_major("dense", Shape::new([2, 3, 4]).unwrap(), &values).unwrap();
    writer.row_major("scalar", Shape::new([]).unwrap(), &Values::from_slice(&[7u16])).unwrap();
    writer.finish().unwrap();
    let (tensors, found) = reference::read(&path).unwrap();
    let expected: Vec<_> = metadata().into_iter().map(|(k, _, v)| (k.to_owned(), v)).collect();
    assert_eq!(found, expected);
    assert!(matches!(tensors[0].descriptor.layout, LayoutDescriptor::RowMajor));
    assert_eq!(tensors[0].descriptor.shape.dims(), [2, 3, 4]);
    assert_eq!(tensors[0].buffers, [dense.as_bytes()]);
    assert_eq!(tensors[1].descriptor.shape.rank(), 0);
    assert_eq!(tensors[1].buffers, [[7, 0]]);

    let theirs = folder.path().join("theirs.hrry");
    let options = FileWriterOptions { data_buffer_alignment: 8192, sorted_index: false };
    reference::write(&theirs, options, &tensors, expected).unwrap();
    for file in open_both_ways(&theirs) {
        file.verify().unwrap();
        let found: Vec<_> = file.metadata().iter().map(|(k, v)| (k, v.clone())).collect();
        let expected: Vec<_> = metadata().into_iter().map(|(k, v, _)| (k, v)).collect();
        assert_eq!(found, expected);
        let read = file.tensor("dense").unwrap().read().unwrap().values().unwrap();
        assert_eq!(read.as_slice::<f32>().unwrap(), dense);
        let scalar = file.tensor("scalar").unwrap().read().unwrap().values().unwrap();
        assert_eq!(scalar.as_slice::<u16>().unwrap(), [7]);
    }
}

#[test]
fn a_file_without_tensors_goes_both_ways() {
    let folder = tempfile::tempdir().unwrap();
    let path = folder.path().join("ours.hrry");
    Writer::create(&path, quickly()).unwrap().finish().unwrap();
    let (tensors, metadata) = reference::read(&path).unwrap();
    assert!(tensors.is_empty() && metadata.is_empty());
    let path = folder.path().join("theirs.hrry");
    let options = FileWriterOptions { data_buffer_alignment: 4096, sorted_index: true };
    reference::write(&path, options, &[], vec![]).unwrap();
    for file in open_both_ways(&path) {
        assert!(file.is_empty() && file.metadata().is_empty());
        file.verify().unwrap();
    }
}
