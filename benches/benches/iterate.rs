//! A sum over all elements, leaf by leaf and fiber by fiber, beside reading as many bytes.

mod common;

use benches::{sums, yardsticks};
use criterion::{Criterion, Throughput, criterion_group, criterion_main};
use rayon::prelude::*;

fn iterate(criterion: &mut Criterion) {
    common::each(criterion, "iterate", &["skew3", "uniform3", "long3"], |group, entries| {
        let tensor = entries.build().expect("the entries are distinct");
        let (tree, values) = (tensor.tree(), tensor.values().as_slice().expect("they are f64"));
        let bytes = common::tree_bytes(tree) + size_of_val(values);
        group.throughput(Throughput::Bytes(bytes as u64));
        group.bench_function("leaves, one thread", |b| {
            b.iter(|| sums::by_leaves(tree.leaves(), values));
        });
        group.bench_function("fibers, one thread", |b| {
            b.iter(|| sums::by_fibers(tree.fibers(), values));
        });
        group.bench_function("fibers", |b| {
            let sum = || tree.par_fibers().map(|piece| sums::by_fibers(piece, values)).sum::<f64>();
            b.iter(sum);
        });
        let words = common::words(bytes);
        group.bench_function("yardstick: read", |b| b.iter(|| yardsticks::read(&words)));
    });
}

criterion_group!(theme, iterate);
criterion_main!(theme);
