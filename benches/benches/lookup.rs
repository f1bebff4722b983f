//! Random lookups, one by one and a batch at once, beside the reference implementation; and
//! sub-trees.

mod common;

use benches::yardsticks::Reference;
use criterion::{Criterion, Throughput, criterion_group, criterion_main};

const LOOKUPS: usize = 10_000;

fn lookup(criterion: &mut Criterion) {
    common::each(criterion, "lookup", &["skew3", "uniform3", "long3"], |group, entries| {
        let tensor = entries.build().expect("the entries are distinct");
        let (tree, reference) = (tensor.tree(), Reference::new(tensor.tree()));
        let stored = entries.stored(LOOKUPS);
        let absent = entries.absent(&tensor, LOOKUPS).expect("there are plenty");
        group.throughput(Throughput::Elements(LOOKUPS as u64));
        for (kind, indices) in [("stored", stored), ("absent", absent)] {
            let rows = || indices.chunks_exact(tree.rank());
            group.bench_function(format!("one by one, {kind}"), |b| {
                b.iter(|| rows().filter(|row| matches!(tree.lookup(row), Ok(Some(_)))).count());
            });
            group.bench_function(format!("batch, {kind}"), |b| {
                b.iter(|| tree.lookup_many(&indices));
            });
            group.bench_function(format!("yardstick: reference, {kind}"), |b| {
                b.iter(|| rows().filter_map(|row| reference.lookup(row)).count());
            });
        }
    });
}

fn subtree(criterion: &mut Criterion) {
    common::each(criterion, "subtree", &["skew3"], |group, entries| {
        let tensor = entries.build().expect("the entries are distinct");
        let tree = tensor.tree();
        let (_, crd) = tree.level(0);
        let mut outer = crd.iter().cycle();
        group.bench_function("index", |b| {
            b.iter(|| outer.next().map(|&index| tree.subtree(&[index]).map(|slice| slice.nnz())));
        });
        group.bench_function("range", |b| {
            b.iter(|| {
                let range = outer.next().map(|&index| index..index + 100);
                range.map(|range| tree.subtree_range(&[], range).map(|slice| slice.nnz()))
            });
        });
    });
}

criterion_group!(theme, lookup, subtree);
criterion_main!(theme);
