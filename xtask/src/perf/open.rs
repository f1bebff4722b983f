//! Open a file, find a tensor, view it as a tree: mapped, and in the page cache.

use std::path::Path;

use hurray_csf::Tensor;
use hurray_io::{File, Writer, WriterOptions};

use super::lab::{Lab, Measured, Subject, work};
use super::report::Bar;
use super::{Own, Result};

/// What the cost is compared with at few non-zeros.
const SMALL: usize = 100_000;

/// So many times are measured at once, since the clock is no finer.
const TIMES: u32 = 100;

pub(super) fn run(lab: &mut Lab, subject: &Subject) -> Result<()> {
    let (large, small) = (lab.folder.path().join("large"), lab.folder.path().join("small"));
    let workload =
        Own { nnz: SMALL.min(lab.own.nnz), ..lab.own.clone() }.workload(subject.name())?;
    write(&large, &subject.tensor)?;
    write(&small, &workload.entries()?.build()?)?;
    // What fails, fails here.
    view(&large)?;
    view(&small)?;

    let open = |path| work(move || (0..TIMES).filter(|_| view(path).is_ok()).count());
    let [large, small] = lab.race(1, [open(&large), open(&small)]).map(|s| s / f64::from(TIMES));
    let mut row = |operation, yardstick, bar| {
        let bytes = None;
        let row = Measured { operation, threads: 1, seconds: large, bytes, yardstick, bar };
        lab.row(subject.name(), row);
    };
    row("open and view", ("100 microseconds", 1e-4), Bar::AtMost(1.0));
    row("open and view, growth", ("at 100 k", small), Bar::AtMost(1.5));
    Ok(())
}

/// Writes a file with one tensor, `x`.
pub(super) fn write(path: &Path, tensor: &Tensor) -> Result<()> {
    let options = WriterOptions { sync: false, overwrite: true, ..WriterOptions::default() };
    let mut writer = Writer::create(path, options)?;
    writer.csf("x", tensor)?;
    Ok(writer.finish()?)
}

/// The number of non-zeros, from the tree.
#[expect(unsafe_code, reason = "mapping is what is measured")]
fn view(path: &Path) -> std::result::Result<usize, hurray_io::Error> {
    // SAFETY: the file lies in a temporary folder of this process, which no longer writes to it.
    let file = unsafe { File::map(path) }?;
    Ok(file.tensor("x")?.read()?.csf()?.tree().nnz())
}
