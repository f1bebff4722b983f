//! Files written: their bytes, and what is refused.

mod common;

use std::fs;

use common::{
    QUICK, assert_is_example, example_file, map, names, worked_example, write_many, written,
};
use hurray_format::container::Header;
use hurray_format::{
    ElementType, LayoutDescriptor, MetadataValue, Shape, TensorDescriptor, Values,
};
use hurray_io::{Buffer, Error, File, TensorError, Writer, WriterOptions};

#[test]
fn the_file_has_the_bytes_of_the_format() {
    let bytes = fs::read(example_file().path).unwrap();
    assert_eq!(bytes[..8], *b"HRRYFILE");
    // A sorted index with a checksum, and no metadata.
    assert_eq!(bytes[12], 0b110);
    assert_eq!(bytes[64..68], *b"HRRY");
    assert!(bytes[64 + 193..4096].iter().all(|&byte| byte == 0));
    assert_eq!(bytes[4096..4112], [1.0f32, 2.0, 3.0, 4.0].map(f32::to_le_bytes).concat());
    assert_eq!(bytes[2 * 4096..2 * 4096 + 16], [0u64, 2].map(u64::to_le_bytes).concat());
    assert_eq!(bytes[7 * 4096..7 * 4096 + 32], [1u64, 3, 0, 2].map(u64::to_le_bytes).concat());
    // Behind the last buffer only the index and the trailer are left.
    assert_eq!(bytes.len(), 7 * 4096 + 32 + (8 + 2 + 1 + 32) + 40);
}

#[test]
fn metadata_that_come_late_are_not_announced_but_read() {
    let written = written(QUICK, |writer| {
        writer.csf("x", &worked_example()).unwrap();
        writer.set_metadata("late", 1u64).unwrap();
    });
    let file = File::open(written.path).unwrap();
    assert!(!file.header().has_metadata);
    assert_eq!(file.metadata().get("late"), Some(&MetadataValue::U64(1)));
}

#[test]
fn every_alignment_puts_buffers_at_its_multiples() {
    let mut alignment = Header::MIN_DATA_ALIGNMENT;
    while alignment <= Header::MAX_DATA_ALIGNMENT {
        let options = WriterOptions { data_buffer_alignment: alignment, ..QUICK };
        let written = written(options, |writer| {
            writer.csf("x", &worked_example()).unwrap();
            writer.csf("y", &worked_example()).unwrap();
        });
        for tensor in map(&written.path).tensors() {
            for range in tensor.buffer_ranges() {
                assert_eq!(range.start % u64::from(alignment), 0);
            }
            assert_is_example(&tensor.read().unwrap());
        }
        alignment *= 2;
    }
    for alignment in [0, 2048, 5000, 1 << 22] {
        let options = WriterOptions { data_buffer_alignment: alignment, ..QUICK };
        let error = Writer::create("/nowhere/a.hrry", options).unwrap_err();
        assert!(matches!(error, Error::Container { .. }), "{error}");
    }
}

#[test]
fn buffers_can_come_in_pieces() {
    let values: Vec<f64> = (0..100_000).map(f64::from).collect();
    let values = Values::from_slice(&values);
    let shape = Shape::new([100_000]).unwrap();
    let descriptor = TensorDescriptor::row_major(shape.clone(), ElementType::Float64).unwrap();
    let whole = written(QUICK, |writer| writer.row_major("x", shape, &values).unwrap());
    for piece in [1000, 4096, 300_000, 800_000] {
        let pieces = written(QUICK, |writer| {
            let mut tensor = writer.begin("x", &descriptor).unwrap();
            for bytes in values.bytes().chunks(piece) {
                tensor.write(bytes).unwrap();
            }
            tensor.finish().unwrap();
        });
        assert!(fs::read(&pieces.path).unwrap() == fs::read(&whole.path).unwrap());
    }
}

#[test]
fn a_tensor_that_was_read_can_be_written_again_as_it_is() {
    let first = written(QUICK, write_many);
    let file = map(&first.path);
    let second = written(QUICK, |writer| {
        for (key, value) in file.metadata().iter() {
            writer.set_metadata(key, value.clone()).unwrap();
        }
        for tensor in file.tensors() {
            let buffers = tensor.read().unwrap();
            let bytes: Vec<&[u8]> = buffers.buffers().iter().map(Buffer::as_ref).collect();
            writer.tensor(tensor.name(), tensor.descriptor(), &bytes).unwrap();
        }
    });
    assert!(fs::read(&second.path).unwrap() == fs::read(&first.path).unwrap());
}

#[test]
fn a_tensor_of_another_layout_is_written_from_its_descriptor() {
    let values = [1, 2, 3, 4, 5, 6];
    let shape = Shape::new([2, 3]).unwrap();
    let mut descriptor = TensorDescriptor::row_major(shape, ElementType::Uint8).unwrap();
    descriptor.layout = LayoutDescriptor::ColumnMajor;
    let written = written(QUICK, |writer| writer.tensor("x", &descriptor, &[&values]).unwrap());
    let buffers = File::open(&written.path).unwrap().tensor("x").unwrap().read().unwrap();
    assert_eq!(buffers.descriptor(), &descriptor);
    assert_eq!(buffers.values().unwrap().bytes(), values);
}

#[test]
fn names_and_keys_are_unique_and_not_empty() {
    let written = written(QUICK, |writer| {
        writer.csf("x", &worked_example()).unwrap();
        for name in ["x", "", &"n".repeat(65536)] {
            let error = writer.csf(name, &worked_example()).unwrap_err();
            let Error::Tensor { error, .. } = error else { panic!("{error}") };
            assert!(matches!(*error, TensorError::Container(_)), "{error}");
        }
        assert!(writer.set_metadata("", 1u64).is_err());
        writer.set_metadata("key", 1u64).unwrap();
        assert!(writer.set_metadata("key", 1u64).is_err());
    });
    // A refusal before anything is written spoils nothing.
    assert_eq!(File::open(written.path).unwrap().len(), 1);
}

#[test]
fn buffers_that_do_not_fit_the_descriptor_are_refused() {
    let folder = tempfile::tempdir().unwrap();
    let mut writer = Writer::create(folder.path().join("a.hrry"), QUICK).unwrap();
    let shape = Shape::new([2, 3]).unwrap();
    let error = writer.row_major("x", shape.clone(), &Values::from_slice(&[1u8])).unwrap_err();
    assert!(
        error.to_string().ends_with("buffer 0 is to have 6 bytes, but 1 were given"),
        "{error}"
    );
    let error = writer.coo("x", shape.clone(), &[0, 1, 2], true, &Values::from_slice(&[1u8]));
    assert!(error.unwrap_err().to_string().contains("buffer 1 is to have 16 bytes"));

    let descriptor = TensorDescriptor::row_major(shape, ElementType::Uint8).unwrap();
    let error = writer.tensor("x", &descriptor, &[]).unwrap_err();
    assert!(error.to_string().ends_with("there are 0 buffers, but 1 are needed"), "{error}");
    let mut tensor = writer.begin("x", &descriptor).unwrap();
    tensor.write(&[1, 2, 3, 4]).unwrap();
    assert!(tensor.write(&[5, 6, 7]).is_err());
    assert!(tensor.finish().is_err());
    // Part of it is in the file now, so that cannot be finished any more.
    let error = writer.csf("y", &worked_example()).unwrap_err();
    assert!(matches!(error, Error::Unfinished { .. }), "{error}");
    assert!(matches!(writer.finish(), Err(Error::Unfinished { .. })));
    assert_eq!(names(folder.path()), [""; 0]);
}

#[test]
fn an_existing_file_is_kept_unless_overwriting_is_allowed() {
    let written = example_file();
    let before = fs::read(&written.path).unwrap();
    let error = Writer::create(&written.path, WriterOptions::default()).unwrap_err();
    assert!(matches!(error, Error::Exists { .. }), "{error}");

    // Given up and dropped.
    let mut writer = Writer::create(&written.path, QUICK).unwrap();
    writer.csf("new", &worked_example()).unwrap();
    drop(writer);
    assert!(fs::read(&written.path).unwrap() == before);
    assert_eq!(names(written.folder.path()), ["a.hrry"]);

    // Replaced; whoever has the old one mapped keeps it.
    let old = map(&written.path);
    let mut writer = Writer::create(&written.path, QUICK).unwrap();
    writer.csf("new", &worked_example()).unwrap();
    writer.finish().unwrap();
    assert_is_example(&old.tensor("x").unwrap().read().unwrap());
    assert!(File::open(&written.path).unwrap().tensor("new").is_ok());
    assert_eq!(names(written.folder.path()), ["a.hrry"]);
}

#[test]
fn places_that_cannot_be_written_are_refused_with_the_path() {
    let folder = tempfile::tempdir().unwrap();
    let missing = folder.path().join("no/such/folder/a.hrry");
    let error = Writer::create(&missing, QUICK).unwrap_err();
    assert!(matches!(error, Error::Io { .. }), "{error}");
    assert!(error.to_string().starts_with(missing.to_str().unwrap()));
    assert!(matches!(Writer::create(folder.path(), QUICK), Err(Error::NotAFile { .. })));
    // Not even root can create a file here.
    if cfg!(target_os = "linux") {
        assert!(matches!(Writer::create("/proc/a.hrry", QUICK), Err(Error::Io { .. })));
    }
}
