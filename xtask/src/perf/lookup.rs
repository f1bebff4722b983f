//! Random lookups, one by one and a batch at once, of stored and of absent indices.

use benches::yardsticks::Reference;

use super::Result;
use super::lab::{Lab, Measured, Subject, work};
use super::report::Bar;

/// Lookups in a batch.
const BATCH: usize = 1_000_000;

pub(super) fn run(lab: &mut Lab, subject: &Subject) -> Result<()> {
    let (tree, rank) = (subject.tensor.tree(), subject.tensor.tree().rank());
    let reference = Reference::new(tree);
    // Fewer where there are few to choose from.
    let count = BATCH.min(subject.entries.nnz());
    let stored = subject.entries.stored(count);
    let absent = subject.entries.absent(&subject.tensor, count)?;
    for (kind, indices) in [("stored", &stored), ("absent", &absent)] {
        let single = work(|| {
            let lookups = indices.chunks_exact(rank).map(|index| tree.lookup(index));
            lookups.filter(|found| matches!(found, Ok(Some(_)))).count()
        });
        let batch = work(|| tree.lookup_many(indices));
        let judge =
            work(|| indices.chunks_exact(rank).filter_map(|index| reference.lookup(index)).count());
        let times = lab.race(1, [single, batch, judge]);
        let [single, batch, judge] = times.map(|seconds| seconds / count as f64);
        for (operation, seconds, bar) in [("one lookup", single, 1.5), ("batch lookup", batch, 5.0)]
        {
            let row = Measured {
                operation: &format!("{operation}, {kind}"),
                threads: 1,
                seconds,
                bytes: None,
                yardstick: ("reference", judge),
                bar: Bar::AtLeast(bar),
            };
            lab.row(subject.name(), row);
        }
    }
    Ok(())
}
