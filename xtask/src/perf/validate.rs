//! Full validation of a tree.

use benches::yardsticks::Reference;

use super::Result;
use super::lab::{Lab, Measured, Subject, work};
use super::report::{Bar, easier};

pub(super) fn run(lab: &mut Lab, subject: &Subject) -> Result<()> {
    let (tree, bytes) = (subject.tensor.tree(), subject.tree_bytes());
    let reference = Reference::new(tree);
    for threads in lab.thread_counts() {
        let validate = work(|| tree.validate().is_ok());
        let (seconds, yardstick, bar) = if threads == 1 {
            let judge = work(|| reference.validate());
            let [seconds, judged, read] = lab.race(threads, [validate, judge, lab.read()]);
            let read = lab.reading(bytes, read);
            let (yardstick, bar) = easier(("reference", judged, 2.0), ("read", read, 0.7));
            (seconds, yardstick, bar)
        } else {
            let [seconds, read] = lab.race(threads, [validate, lab.read()]);
            (seconds, ("read", lab.reading(bytes, read)), Bar::AtLeast(0.7))
        };
        let (operation, bytes) = ("validate", Some(bytes));
        lab.row(subject.name(), Measured { operation, threads, seconds, bytes, yardstick, bar });
    }
    Ok(())
}
