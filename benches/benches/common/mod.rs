//! What all benches do: tensors by name at several sizes, few samples, since each is long.

use std::time::Duration;

use benches::{Entries, Workload};
use criterion::measurement::WallTime;
use criterion::{BenchmarkGroup, Criterion};

/// The non-zeros of each tensor.
const SIZES: [usize; 2] = [100_000, 1_000_000];

/// Calls `bench` with the entries of each of the tensors at each size, and a group for both.
pub(crate) fn each(
    criterion: &mut Criterion,
    theme: &str,
    tensors: &[&str],
    bench: impl Fn(&mut BenchmarkGroup<'_, WallTime>, &Entries),
) {
    for nnz in SIZES {
        for name in tensors {
            let entries = Workload::named(name, nnz).and_then(|workload| workload.entries());
            let mut group = criterion.benchmark_group(format!("{theme}/{name}/{nnz}"));
            group.sample_size(10).measurement_time(Duration::from_secs(2));
            bench(&mut group, &entries.expect("the tensors of this project can be made"));
            group.finish();
        }
    }
}

/// As many words as `bytes` bytes have, to be read as a yardstick.
#[allow(dead_code, reason = "not every bench has this yardstick")]
pub(crate) fn words(bytes: usize) -> Vec<u64> {
    (0..bytes as u64 / 8).collect()
}

/// The bytes of pos and crd.
#[allow(dead_code, reason = "not every bench works on trees alone")]
pub(crate) fn tree_bytes(tree: &hurray_csf::Csf) -> usize {
    let levels = (0..tree.rank()).map(|level| tree.level(level));
    levels.map(|(pos, crd)| size_of_val(pos) + size_of_val(crd)).sum()
}
