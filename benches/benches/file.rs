//! A file opened, viewed, read and written, beside writing as many bytes from one buffer.

mod common;

use std::fs;
use std::path::Path;

use criterion::{Criterion, Throughput, criterion_group, criterion_main};
use hurray_csf::Tensor;
use hurray_io::{Error, File, Writer, WriterOptions};

fn file(criterion: &mut Criterion) {
    common::each(criterion, "file", &["skew3"], |group, entries| {
        let tensor = entries.build().expect("the entries are distinct");
        let folder = tempfile::tempdir().expect("a temporary folder");
        let path = folder.path().join("x.hrry");
        write(&path, &tensor).expect("there is room");
        let bytes = fs::read(&path).expect("it was written");

        group.bench_function("map and view", |b| b.iter(|| view(&path)));
        group.throughput(Throughput::Bytes(bytes.len() as u64));
        group.bench_function("read", |b| b.iter_with_large_drop(|| read(&path)));
        group.bench_function("write", |b| b.iter(|| write(&path, &tensor)));
        let other = folder.path().join("bytes");
        group.bench_function("yardstick: write one buffer", |b| {
            b.iter(|| fs::write(&other, &bytes));
        });
    });
}

fn write(path: &Path, tensor: &Tensor) -> Result<(), Error> {
    let options = WriterOptions { sync: false, overwrite: true, ..WriterOptions::default() };
    let mut writer = Writer::create(path, options)?;
    writer.csf("x", tensor)?;
    writer.finish()
}

#[expect(unsafe_code, reason = "mapping is what is measured")]
fn view(path: &Path) -> Result<usize, Error> {
    // SAFETY: the file lies in a temporary folder of this process, which does not write to it
    // while it is mapped.
    let file = unsafe { File::map(path) }?;
    Ok(file.tensor("x")?.read()?.csf()?.tree().nnz())
}

fn read(path: &Path) -> Result<usize, Error> {
    Ok(File::open(path)?.tensor("x")?.read()?.csf()?.tree().nnz())
}

criterion_group!(theme, file);
criterion_main!(theme);
