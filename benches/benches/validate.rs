//! Full validation, beside the reference implementation and reading as many bytes.

mod common;

use benches::yardsticks::{self, Reference};
use criterion::{Criterion, Throughput, criterion_group, criterion_main};

fn validate(criterion: &mut Criterion) {
    common::each(criterion, "validate", &["skew3", "uniform3", "long3"], |group, entries| {
        let tensor = entries.build().expect("the entries are distinct");
        let tree = tensor.tree();
        let bytes = common::tree_bytes(tree);
        group.throughput(Throughput::Bytes(bytes as u64));
        group.bench_function("all invariants", |b| b.iter(|| tree.validate().is_ok()));
        let reference = Reference::new(tree);
        group.bench_function("yardstick: reference", |b| b.iter(|| reference.validate()));
        let words = common::words(bytes);
        group.bench_function("yardstick: read", |b| b.iter(|| yardsticks::read(&words)));
    });
}

criterion_group!(theme, validate);
criterion_main!(theme);
