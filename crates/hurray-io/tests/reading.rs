//! Files opened, read and mapped.

mod common;

use std::fs;

use common::{QUICK, assert_is_example, example_file, map, write_many, written};
use hurray_format::{AlignedBytes, FormatError, MetadataValue, Value};
use hurray_io::{Buffer, Error, File};

#[test]
fn the_worked_example_reads_back_read_and_mapped() {
    let written = example_file();
    for (file, is_mapped) in
        [(File::open(&written.path).unwrap(), false), (map(&written.path), true)]
    {
        assert_eq!(file.is_mapped(), is_mapped);
        let tensor = file.tensor("x").unwrap();
        assert_eq!(tensor.descriptor().nnz(), Some(4));
        assert_eq!(tensor.buffer_ranges().len(), 7);
        assert_is_example(&tensor.read().unwrap());
        file.verify().unwrap();
    }
}

#[test]
fn the_buffers_of_a_mapped_file_lie_in_it_as_they_do_on_disk() {
    let file = map(&example_file().path);
    let tensor = file.tensor("x").unwrap();
    let (ranges, buffers) = (tensor.buffer_ranges(), tensor.read().unwrap());
    let first = buffers.buffers()[0].as_ptr().addr();
    for (buffer, range) in buffers.buffers().iter().zip(ranges) {
        let distance = usize::try_from(range.start - ranges[0].start).unwrap();
        assert_eq!(buffer.as_ptr().addr(), first + distance);
        assert_eq!(buffer.as_ptr().addr() % 4096, 0);
    }
    // Reading again gives the same memory, and the tree lies in it.
    assert_eq!(tensor.read_buffer(3).unwrap().as_ptr(), buffers.buffers()[3].as_ptr());
    let view = buffers.csf().unwrap();
    assert_eq!(view.tree().level(1).0.as_ptr().cast(), buffers.buffers()[3].as_ptr());
    assert_eq!(view.values().bytes().as_ptr(), buffers.buffers()[0].as_ptr());
}

#[cfg(target_os = "linux")]
#[test]
fn the_system_says_that_the_buffers_lie_in_the_mapping_of_the_file() {
    let written = example_file();
    let file = map(&written.path);
    let buffers = file.tensor("x").unwrap().read().unwrap();
    let path = fs::canonicalize(&written.path).unwrap();
    let maps = fs::read_to_string("/proc/self/maps").unwrap();
    let line = maps.lines().find(|line| line.ends_with(path.to_str().unwrap())).unwrap();
    let (start, end) = line.split_whitespace().next().unwrap().split_once('-').unwrap();
    let address = |text| usize::from_str_radix(text, 16).unwrap();
    for buffer in buffers.buffers() {
        let range = buffer.as_ptr_range();
        assert!(address(start) <= range.start.addr() && range.end.addr() <= address(end));
    }
}

#[test]
fn buffers_outlive_the_file_and_its_name() {
    let written = example_file();
    for file in [File::open(&written.path).unwrap(), map(&written.path)] {
        let buffers = file.tensor("x").unwrap().read().unwrap();
        drop(file);
        let tensor = buffers.csf().unwrap();
        std::thread::spawn(move || assert_is_example(&buffers)).join().unwrap();
        assert_eq!(tensor.tree().level(0).1, [0, 1]);
    }
    let file = map(&written.path);
    drop(written.folder);
    assert_is_example(&file.tensor("x").unwrap().read().unwrap());
}

#[test]
fn what_is_read_is_aligned_to_64_bytes() {
    let file = File::open(example_file().path).unwrap();
    for buffer in file.tensor("x").unwrap().read().unwrap().buffers() {
        assert_eq!(buffer.as_ptr().addr() % 64, 0);
    }
}

#[test]
fn a_misaligned_buffer_says_so() {
    let error = Buffer::from(AlignedBytes::zeroed(64)).slice(4, 16).unwrap().into_words();
    assert_eq!(error.unwrap_err(), FormatError::Misaligned { alignment: 8 });
}

#[test]
fn several_tensors_with_metadata_read_back() {
    let written = written(QUICK, write_many);
    for file in [File::open(&written.path).unwrap(), map(&written.path)] {
        // In the order of the file, found by name.
        let names: Vec<_> = file.tensors().map(|tensor| tensor.name()).collect();
        assert_eq!(names, ["zeta", "alpha", "μ/dense", "empty", "scalar"]);
        assert_eq!(file.get(1).unwrap().name(), "alpha");
        assert!(file.get(5).is_none());
        assert!(file.header().is_sorted && file.header().has_metadata);

        let keys: Vec<_> = file.metadata().iter().map(|(key, _)| key).collect();
        assert_eq!(keys, ["text", "i64", "u64", "f64", "bool", "bytes", "numbers", "texts"]);
        assert_eq!(file.metadata().get("text"), Some(&"naïve".into()));
        assert_eq!(file.metadata().get("i64"), Some(&MetadataValue::I64(-5)));
        assert_eq!(file.metadata().get("numbers"), Some(&vec![1.5, -2.0].into()));

        let read = |name| file.tensor(name).unwrap().read().unwrap();
        assert_is_example(&read("zeta"));
        let coo = read("alpha").coo().unwrap();
        assert_eq!(coo.coordinates()[..6], [0, 0, 1, 0, 2, 3]);
        assert_eq!(coo.values().as_slice::<i8>().unwrap(), [1, -2, 3, -4]);
        let dense = read("μ/dense").values().unwrap();
        assert_eq!(dense.as_slice::<f64>().unwrap(), [1.5, 2.5, 3.5, 4.5, 5.5, 6.5]);
        assert!(read("empty").values().unwrap().is_empty());
        assert_eq!(read("scalar").values().unwrap().get(0), Some(Value::Uint(7)));
        file.verify().unwrap();
    }
}

#[test]
fn an_error_says_what_there_is_instead() {
    let file = File::open(written(QUICK, write_many).path).unwrap();
    let message = file.tensor("beta").unwrap_err().to_string();
    let names = "`zeta`, `alpha`, `μ/dense`, `empty`, `scalar`";
    assert!(message.ends_with(&format!("no tensor `beta`; there are {names}")), "{message}");
    let error = file.tensor("alpha").unwrap().read().unwrap().csf().unwrap_err();
    assert!(error.to_string().ends_with("tensor `alpha`: its layout is coo, not csf"), "{error}");
    let error = file.tensor("zeta").unwrap().read().unwrap().coo().unwrap_err();
    assert!(error.to_string().ends_with("tensor `zeta`: its layout is csf, not coo"), "{error}");
}

#[test]
fn a_file_without_tensors_is_a_file() {
    let file = File::open(written(QUICK, |_| {}).path).unwrap();
    assert!(file.is_empty() && file.metadata().is_empty());
    let message = file.tensor("x").unwrap_err().to_string();
    assert!(message.ends_with("no tensor `x`; there are none"), "{message}");
    file.verify().unwrap();
}

#[test]
fn what_is_no_file_is_refused_with_the_path() {
    let folder = tempfile::tempdir().unwrap();
    assert!(matches!(File::open(folder.path()), Err(Error::NotAFile { .. })));
    let error = File::open(folder.path().join("a.hrry")).unwrap_err();
    assert!(error.to_string().contains("a.hrry: cannot open the file"), "{error}");
}

#[test]
fn an_open_file_is_shared_between_threads() {
    let file = File::open(written(QUICK, write_many).path).unwrap();
    std::thread::scope(|scope| {
        for _ in 0..8 {
            scope.spawn(|| assert_is_example(&file.tensor("zeta").unwrap().read().unwrap()));
        }
    });
}
