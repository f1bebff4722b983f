//! Building a tree, from random and from storage order, beside a sort of 16-byte records.

mod common;

use benches::yardsticks;
use criterion::{BatchSize, Criterion, Throughput, criterion_group, criterion_main};

fn build(criterion: &mut Criterion) {
    common::each(criterion, "build", &["skew3", "uniform3", "skew4"], |group, entries| {
        group.throughput(Throughput::Elements(entries.nnz() as u64));
        group.bench_function("random order", |b| b.iter_with_large_drop(|| entries.build()));
        let sorted = entries.sorted().expect("what was built is valid");
        group.bench_function("sorted", |b| b.iter_with_large_drop(|| sorted.build()));
        let records = entries.records().expect("the index has less than 64 bits");
        group.bench_function("yardstick: sort", |b| {
            let sort = |records: &mut Vec<_>| yardsticks::sort(records);
            b.iter_batched_ref(|| records.clone(), sort, BatchSize::LargeInput);
        });
    });
    common::each(criterion, "build", &["wide6", "wide64"], |group, entries| {
        group.throughput(Throughput::Elements(entries.nnz() as u64));
        group.bench_function("random order", |b| b.iter_with_large_drop(|| entries.build()));
    });
}

criterion_group!(theme, build);
criterion_main!(theme);
