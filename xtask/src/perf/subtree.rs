//! Sub-trees of one outer index and of a range of them, beside lookups at their ends.

use super::Result;
use super::lab::{Lab, Measured, Subject, work};
use super::report::Bar;

/// Sub-trees measured at once.
const COUNT: usize = 10_000;

/// What a sub-tree may cost beyond lookups.
const ALLOWED: f64 = 2e-6;

pub(super) fn run(lab: &mut Lab, subject: &Subject) -> Result<()> {
    let (tree, rank) = (subject.tensor.tree(), subject.tensor.tree().rank());
    let indices = subject.entries.stored(2 * COUNT);
    let dimension = tree.mode_order().dimension(0);
    let outer: Vec<u64> = indices.chunks_exact(rank).map(|index| index[dimension]).collect();
    let (one, two) = (&indices[..COUNT * rank], &indices[..]);

    let lookups = |indices| {
        let lookup = |index| usize::from(matches!(tree.lookup(index), Ok(Some(_))));
        work(move || <[u64]>::chunks_exact(indices, rank).map(lookup).sum::<usize>())
    };
    let index = work(|| {
        let slices = outer[..COUNT].iter().map(|&index| tree.subtree(&[index]));
        slices.map(|slice| slice.map_or(0, |slice| slice.nnz())).sum::<usize>()
    });
    let range = work(|| {
        let ranges = outer.chunks_exact(2).map(|ends| ends[0].min(ends[1])..ends[0].max(ends[1]));
        let slices = ranges.map(|range| tree.subtree_range(&[], range));
        slices.map(|slice| slice.map_or(0, |slice| slice.nnz())).sum::<usize>()
    });
    let times = lab.race(1, [index, lookups(one), range, lookups(two)]);
    let [index, one, range, two] = times.map(|seconds| seconds / COUNT as f64);
    let mut row = |operation, seconds, yardstick| {
        let (threads, bytes, bar) = (1, None, Bar::AtMost(1.0));
        lab.row(subject.name(), Measured { operation, threads, seconds, bytes, yardstick, bar });
    };
    row("sub-tree of an index", index, ("a lookup + 2 us", one + ALLOWED));
    row("sub-tree of a range", range, ("two lookups + 2 us", two + ALLOWED));
    Ok(())
}
