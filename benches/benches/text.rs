//! FROSTT text read and written in memory, beside the standard library.

mod common;

use std::io;

use benches::yardsticks;
use criterion::{Criterion, Throughput, criterion_group, criterion_main};
use hurray_io::tns::{self, ReadOptions, WriteOptions};

fn text(criterion: &mut Criterion) {
    common::each(criterion, "text", &["skew3"], |group, entries| {
        let text = entries.text().expect("it goes to memory");
        group.throughput(Throughput::Bytes(text.len() as u64));
        group.bench_function("read", |b| {
            b.iter_with_large_drop(|| tns::read(&text[..], &ReadOptions::default()));
        });
        group.bench_function("yardstick: read_line and parse", |b| {
            b.iter_with_large_drop(|| yardsticks::parse(&text[..]));
        });

        let tensor = entries.build().expect("the entries are distinct");
        let values = tensor.values().as_slice().expect("they are f64");
        group.bench_function("write", |b| {
            b.iter(|| tns::write_csf(&tensor, io::sink(), &WriteOptions::default()));
        });
        // Into a buffer, as it would be into a file.
        group.bench_function("yardstick: write!", |b| {
            b.iter(|| yardsticks::print(tensor.tree(), values, io::BufWriter::new(io::sink())));
        });
    });
}

criterion_group!(theme, text);
criterion_main!(theme);
