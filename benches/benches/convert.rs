//! Another mode order, beside building in it; and a list of coordinates.

mod common;

use criterion::{Criterion, Throughput, criterion_group, criterion_main};
use hurray_format::ModeOrder;

fn convert(criterion: &mut Criterion) {
    common::each(criterion, "convert", &["skew3", "uniform3"], |group, entries| {
        let tensor = entries.build().expect("the entries are distinct");
        let order = ModeOrder::new([1, 2, 0]).expect("a permutation");
        group.throughput(Throughput::Elements(entries.nnz() as u64));
        group.bench_function("mode order", |b| {
            b.iter_with_large_drop(|| tensor.to_mode_order(order.clone()));
        });
        group.bench_function("yardstick: build", |b| {
            b.iter_with_large_drop(|| entries.build_in(&order));
        });
        group.bench_function("coordinates", |b| b.iter_with_large_drop(|| tensor.to_coo()));
    });
}

criterion_group!(theme, convert);
criterion_main!(theme);
