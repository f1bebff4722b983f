//! A sum over all stored elements: leaf by leaf with logical indices, and fiber by fiber.

use benches::sums;
use hurray_csf::Fibers;
use rayon::prelude::*;

use super::Result;
use super::lab::{Lab, Measured, Subject, work};
use super::report::{Bar, easier};

pub(super) fn run(lab: &mut Lab, subject: &Subject) -> Result<()> {
    let fibers = if subject.name() == "long3" { 0.8 } else { 0.55 };
    walk(lab, subject, "iterate leaves", 0.35, |piece, values| {
        sums::by_leaves(piece.leaves(), values)
    })?;
    walk(lab, subject, "iterate fibers", fibers, sums::by_fibers)
}

fn walk(
    lab: &mut Lab,
    subject: &Subject,
    operation: &str,
    bar: f64,
    sum: fn(Fibers<'_>, &[f64]) -> f64,
) -> Result<()> {
    let (tree, values, bytes) = (subject.tensor.tree(), subject.values()?, subject.bytes());
    for threads in lab.thread_counts() {
        let one = work(|| sum(tree.fibers(), values));
        let (seconds, yardstick, bar) = if threads == 1 {
            let [seconds, read] = lab.race(threads, [one, lab.read()]);
            (seconds, ("read", lab.reading(bytes, read)), Bar::AtLeast(bar))
        } else {
            let all = work(|| tree.par_fibers().map(|piece| sum(piece, values)).sum::<f64>());
            let [seconds, alone, read] = lab.race(threads, [all, one, lab.read()]);
            let read = lab.reading(bytes, read);
            let (yardstick, bar) = easier(("one thread", alone, 1.6), ("read", read, 0.7));
            (seconds, yardstick, bar)
        };
        let bytes = Some(bytes);
        lab.row(subject.name(), Measured { operation, threads, seconds, bytes, yardstick, bar });
    }
    Ok(())
}
