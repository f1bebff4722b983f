//! Coordinates and values in random order into a finished tree.

use std::time::Duration;

use benches::{Entries, yardsticks};
use hurray_format::ModeOrder;

use super::Result;
use super::lab::{Lab, Measured, Subject, Work, time, time_at_hand};
use super::report::Bar;

/// What building costs the wide tensors for each byte of coordinates, in units of `skew3`.
const WIDE: [(&str, f64); 2] = [("wide6", 2.5), ("wide64", 6.0)];

pub(super) fn run(lab: &mut Lab, subject: &Subject) -> Result<()> {
    match WIDE.iter().find(|(name, _)| *name == subject.name()) {
        Some(&(_, bar)) => wide(lab, subject, bar),
        None => narrow(lab, subject),
    }
}

/// Builds; nothing can fail that has not failed before.
pub(super) fn build(entries: &Entries, mode_order: &ModeOrder) -> Duration {
    time_at_hand(2 * entries.byte_count(), || entries.build_in(mode_order))
}

/// Against a sort of 16-byte records, which a tensor of one's own may be too wide for.
fn narrow(lab: &mut Lab, subject: &Subject) -> Result<()> {
    let entries = &subject.entries;
    let Some(records) = entries.records() else { return Ok(()) };
    let sorted = entries.sorted()?;
    let orders = mode_orders(entries)?;
    for threads in lab.thread_counts() {
        let mut works: Vec<Work<'_>> = vec![
            Box::new(|| {
                let mut records = records.clone();
                time(|| yardsticks::sort(&mut records))
            }),
            Box::new(|| build(&sorted, sorted.mode_order())),
        ];
        for order in &orders {
            works.push(Box::new(|| build(entries, order)));
        }
        let medians = lab.race_all(threads, works);
        let (yardstick, bytes) = (("sort", medians[0]), Some(entries.byte_count()));
        let mut row = |operation: &str, seconds, bar| {
            let row = Measured { operation, threads, seconds, bytes, yardstick, bar };
            lab.row(subject.name(), row);
        };
        row("build from sorted", medians[1], Bar::AtMost(0.5));
        for (order, &seconds) in orders.iter().zip(&medians[2..]) {
            row(&format!("build {order}"), seconds, Bar::AtMost(1.5));
        }
    }
    Ok(())
}

/// All mode orders of `skew3`, one of any other tensor.
pub(super) fn mode_orders(entries: &Entries) -> Result<Vec<ModeOrder>> {
    if entries.name() != "skew3" {
        return Ok(vec![entries.mode_order().clone()]);
    }
    let all = [[0, 1, 2], [0, 2, 1], [1, 0, 2], [1, 2, 0], [2, 0, 1], [2, 1, 0]];
    Ok(all.into_iter().map(ModeOrder::new).collect::<std::result::Result<_, _>>()?)
}

fn wide(lab: &mut Lab, subject: &Subject, bar: f64) -> Result<()> {
    let (entries, skew3) = (&subject.entries, lab.own.workload("skew3")?.entries()?);
    let size = size_of_val(entries.coordinates());
    let share = size as f64 / size_of_val(skew3.coordinates()) as f64;
    for threads in lab.thread_counts() {
        let [seconds, yardstick] = lab.race(
            threads,
            [entries, &skew3]
                .map(|entries| -> Work<'_> { Box::new(|| build(entries, entries.mode_order())) }),
        );
        let row = Measured {
            operation: "build",
            threads,
            seconds,
            bytes: Some(entries.byte_count()),
            yardstick: ("skew3, per byte", yardstick * share),
            bar: Bar::AtMost(bar),
        };
        lab.row(subject.name(), row);
    }
    Ok(())
}
