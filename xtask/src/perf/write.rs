//! A file written, beside as many bytes written from one buffer. Nobody waits for the disk.

use std::fs;
use std::io::Write;

use super::lab::{Lab, Measured, Subject, Work, time};
use super::report::Bar;
use super::{Result, open};

pub(super) fn run(lab: &mut Lab, subject: &Subject) -> Result<()> {
    let (path, other) = (lab.folder.path().join("ours"), lab.folder.path().join("bytes"));
    open::write(&path, &subject.tensor)?;
    let bytes = fs::read(&path)?;
    // Each writes a new file; the old one goes away before the clock starts.
    let ours: Work<'_> = Box::new(|| {
        let _ = fs::remove_file(&path);
        time(|| open::write(&path, &subject.tensor).is_ok())
    });
    let plain: Work<'_> = Box::new(|| {
        let _ = fs::remove_file(&other);
        time(|| fs::File::create(&other).and_then(|mut file| file.write_all(&bytes)))
    });
    let [seconds, plain] = lab.race(1, [ours, plain]);
    let row = Measured {
        operation: "write a file",
        threads: 1,
        seconds,
        bytes: Some(bytes.len()),
        yardstick: ("write one buffer", plain),
        bar: Bar::AtLeast(0.7),
    };
    lab.row(subject.name(), row);
    fs::remove_file(&path)?;
    Ok(fs::remove_file(&other)?)
}
