//! What the tests of files share.

#![allow(dead_code, reason = "each test uses some of it")]

use std::ffi::OsString;
use std::fs;
use std::path::{Path, PathBuf};

use hurray_csf::{Csf, Level, Tensor};
use hurray_format::{AlignedBytes, MetadataValue, ModeOrder, Shape, Values};
use hurray_io::{File, TensorBuffers, Writer, WriterOptions};

pub(crate) const QUICK: WriterOptions =
    WriterOptions { data_buffer_alignment: 4096, overwrite: true, sync: false };

/// A folder with a file in it.
pub(crate) struct Written {
    pub(crate) folder: tempfile::TempDir,
    pub(crate) path: PathBuf,
}

pub(crate) fn written(options: WriterOptions, write: impl FnOnce(&mut Writer)) -> Written {
    let folder = tempfile::tempdir().unwrap();
    let path = folder.path().join("a.hrry");
    let mut writer = Writer::create(&path, options).unwrap();
    write(&mut writer);
    writer.finish().unwrap();
    Written { folder, path }
}

pub(crate) fn map(path: &Path) -> File {
    // SAFETY: the tests do not change the files that they have mapped.
    #[expect(unsafe_code, reason = "the tests map files of their own")]
    unsafe { File::map(path) }.unwrap()
}

pub(crate) fn names(folder: &Path) -> Vec<OsString> {
    fs::read_dir(folder).unwrap().map(|entry| entry.unwrap().file_name()).collect()
}

/// The worked example of the CSF section.
pub(crate) fn worked_example() -> Tensor<Vec<u64>, AlignedBytes> {
    let levels = [
        (vec![0, 2], vec![0, 1]),
        (vec![0, 2, 3], vec![0, 2, 1]),
        (vec![0, 1, 2, 4], vec![1, 3, 0, 2]),
    ];
    let tree = Csf::new(
        Shape::new([2, 3, 4]).unwrap(),
        ModeOrder::identity(3).unwrap(),
        levels.into_iter().map(|(pos, crd)| Level { pos, crd }).collect(),
    )
    .unwrap();
    let values = Values::from_slice(&[1.0f32, 2.0, 3.0, 4.0]);
    let owned = AlignedBytes::from(values.bytes());
    Tensor::new(tree, Values::new(values.element_type(), 4, owned).unwrap()).unwrap()
}

pub(crate) fn example_file() -> Written {
    written(QUICK, |writer| writer.csf("x", &worked_example()).unwrap())
}

pub(crate) fn assert_is_example(buffers: &TensorBuffers) {
    let tensor = buffers.csf().unwrap();
    let (tree, example) = (tensor.tree(), worked_example());
    assert_eq!(tree.shape(), example.tree().shape());
    assert_eq!(tree.mode_order(), example.tree().mode_order());
    for level in 0..3 {
        assert_eq!(tree.level(level), example.tree().level(level));
    }
    assert_eq!(tensor.values().as_slice::<f32>().unwrap(), [1.0, 2.0, 3.0, 4.0]);
}

/// Writes tensors of three layouts, an empty one and a scalar, and metadata of every type.
pub(crate) fn write_many(writer: &mut Writer) {
    let metadata: [(&str, MetadataValue); 8] = [
        ("text", "naïve".into()),
        ("i64", (-5i64).into()),
        ("u64", u64::MAX.into()),
        ("f64", 0.1.into()),
        ("bool", true.into()),
        ("bytes", vec![0u8, 1, 2].into()),
        ("numbers", vec![1.5, -2.0].into()),
        ("texts", vec!["a", "", "c"].into()),
    ];
    for (key, value) in metadata {
        writer.set_metadata(key, value).unwrap();
    }
    writer.csf("zeta", &worked_example()).unwrap();
    let shape = Shape::new([2, 3, 4]).unwrap();
    let coordinates = [0, 0, 1, 0, 2, 3, 1, 1, 0, 1, 1, 2];
    let values = Values::from_slice(&[1i8, -2, 3, -4]);
    writer.coo("alpha", shape, &coordinates, true, &values).unwrap();
    let values = Values::from_slice(&[1.5f64, 2.5, 3.5, 4.5, 5.5, 6.5]);
    writer.row_major("μ/dense", Shape::new([2, 3]).unwrap(), &values).unwrap();
    let empty = Values::from_slice::<u16>(&[]);
    writer.row_major("empty", Shape::new([0, 3]).unwrap(), &empty).unwrap();
    writer.row_major("scalar", Shape::new([]).unwrap(), &Values::from_slice(&[7u32])).unwrap();
}
