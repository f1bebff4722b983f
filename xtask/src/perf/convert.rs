//! A tree turned to another mode order, beside building it in that order.

use hurray_format::ModeOrder;

use super::Result;
use super::build::build;
use super::lab::{Lab, Measured, Subject, work_at_hand};
use super::report::Bar;

pub(super) fn run(lab: &mut Lab, subject: &Subject) -> Result<()> {
    // The innermost dimension becomes the outermost.
    let mut order = subject.entries.mode_order().as_slice().to_vec();
    order.rotate_right(1);
    let order = ModeOrder::new(order)?;
    for threads in lab.thread_counts() {
        let memory = 2 * subject.entries.byte_count();
        let convert = work_at_hand(memory, || subject.tensor.to_mode_order(order.clone()));
        let build = Box::new(|| build(&subject.entries, &order));
        let [seconds, build] = lab.race(threads, [convert, build]);
        let row = Measured {
            operation: &format!("convert to {order}"),
            threads,
            seconds,
            bytes: Some(subject.bytes()),
            yardstick: ("build", build),
            bar: Bar::AtMost(1.2),
        };
        lab.row(subject.name(), row);
    }
    Ok(())
}
