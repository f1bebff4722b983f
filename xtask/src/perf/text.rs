//! Coordinate text read and written, beside the standard library, and converted by the command.

use std::fs::{self, File};
use std::io::{BufReader, BufWriter};

use benches::yardsticks;
use hurray_io::tns::{self, ReadOptions, WriteOptions};

use super::lab::{Lab, Measured, Subject, Work, time, work_at_hand};
use super::report::Bar;
use super::{Result, memory};

pub(super) fn run(lab: &mut Lab, subject: &Subject) -> Result<()> {
    let input = lab.folder.path().join("input.tns");
    let text = subject.entries.text()?;
    fs::write(&input, &text)?;
    drop(text);
    read(lab, subject, &input)?;
    print(lab, subject)?;
    memory::convert(lab, subject, &input)?;
    Ok(fs::remove_file(&input)?)
}

fn read(lab: &mut Lab, subject: &Subject, input: &std::path::Path) -> Result<()> {
    let bytes = usize::try_from(input.metadata()?.len())?;
    for threads in lab.thread_counts() {
        let memory = 2 * subject.entries.byte_count();
        let ours = work_at_hand(memory, || tns::read_path(input, &ReadOptions::default()));
        let plain = work_at_hand(memory, || {
            File::open(input).and_then(|file| yardsticks::parse(BufReader::new(file)))
        });
        let [seconds, plain] = lab.race(threads, [ours, plain]);
        let row = Measured {
            operation: "read text",
            threads,
            seconds,
            bytes: Some(bytes),
            yardstick: ("standard library", plain),
            bar: Bar::AtLeast(if threads == 1 { 2.0 } else { 3.0 }),
        };
        lab.row(subject.name(), row);
    }
    Ok(())
}

fn print(lab: &mut Lab, subject: &Subject) -> Result<()> {
    let (tensor, values) = (&subject.tensor, subject.values()?);
    let (path, other) = (lab.folder.path().join("ours.tns"), lab.folder.path().join("plain.tns"));
    for threads in lab.thread_counts() {
        // Each writes a new file; the old one goes away before the clock starts.
        let ours: Work<'_> = Box::new(|| {
            let _ = fs::remove_file(&path);
            time(|| {
                let file = File::create(&path)?;
                tns::write_csf(tensor, file, &WriteOptions::default())
            })
        });
        let plain: Work<'_> = Box::new(|| {
            let _ = fs::remove_file(&other);
            time(|| {
                let file = File::create(&other)?;
                yardsticks::print(tensor.tree(), values, BufWriter::new(file))
            })
        });
        let [seconds, plain] = lab.race(threads, [ours, plain]);
        let row = Measured {
            operation: "write text",
            threads,
            seconds,
            bytes: Some(usize::try_from(path.metadata()?.len())?),
            yardstick: ("write!", plain),
            bar: Bar::AtLeast(3.0),
        };
        lab.row(subject.name(), row);
    }
    fs::remove_file(&path)?;
    Ok(fs::remove_file(&other)?)
}
