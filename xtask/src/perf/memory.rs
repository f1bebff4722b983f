//! Peak memory: the largest resident set of a process of its own, as Linux counts it. Elsewhere
//! these rows are left out.

use std::fs;
use std::path::Path;
use std::process::{Command, Stdio};
use std::time::Duration;

use clap::Args;

use super::lab::{Lab, Subject};
use super::report::{Bar, Row};
use super::{Own, Result, build};

/// What `perf-memory` is told.
#[derive(Args)]
pub(crate) struct Arguments {
    /// The name of the tensor
    name: String,
    #[command(flatten)]
    own: Own,
}

/// Prints what builds need on top of their input at most, in bytes: one line per mode order.
pub(crate) fn run(arguments: &Arguments) -> Result<()> {
    let before = status("self", "VmRSS").ok_or("the resident set is not known")?;
    let entries = arguments.own.workload(&arguments.name)?.entries()?;
    // What making the entries left behind counts as memory of the build.
    let before = before + u64::try_from(entries.byte_count())?;
    for order in build::mode_orders(&entries)? {
        // Sets the peak back to what is resident now.
        fs::write("/proc/self/clear_refs", "5")?;
        let tensor = entries.build_in(&order)?;
        let peak = status("self", "VmHWM").ok_or("the peak is not known")?;
        drop(tensor);
        println!("{} {order}", peak.saturating_sub(before));
    }
    Ok(())
}

/// A line of the status of a process, in bytes.
fn status(process: &str, field: &str) -> Option<u64> {
    let status = fs::read_to_string(format!("/proc/{process}/status")).ok()?;
    let line = status.lines().find_map(|line| line.strip_prefix(field)?.strip_prefix(':'))?;
    Some(line.trim().strip_suffix(" kB")?.parse::<u64>().ok()? * 1024)
}

/// The peak of builds on top of their input, beside the size of the input.
pub(super) fn measure(lab: &mut Lab, subject: &Subject) -> Result<()> {
    if status("self", "VmHWM").is_none() {
        eprintln!("peak memory is measured on Linux only");
        return Ok(());
    }
    let own = &lab.own;
    let mut command = Command::new(std::env::current_exe()?);
    command.args(["perf-memory", subject.name(), "--nnz", &own.nnz.to_string()]);
    if !own.shape.is_empty() {
        let sizes: Vec<String> = own.shape.iter().map(u64::to_string).collect();
        command.args(["--shape", &sizes.join(",")]);
    }
    if let Some(exponent) = own.zipf {
        command.args(["--zipf", &exponent.to_string()]);
    }
    for threads in lab.thread_counts() {
        let output = command
            .env("RAYON_NUM_THREADS", threads.to_string())
            .stderr(Stdio::inherit())
            .output()?;
        if !output.status.success() {
            return Err(format!("perf-memory: {}", output.status).into());
        }
        for line in String::from_utf8(output.stdout)?.lines() {
            let (peak, order) = line.split_once(' ').ok_or("perf-memory: no peak")?;
            let (name, input) =
                (format!("peak memory, build {order}"), subject.entries.byte_count());
            add(lab, subject, &name, threads, (peak.parse()?, "input", input as f64, 1.75));
        }
    }
    Ok(())
}

/// The peak of `hurray convert`, beside the size of the file that it writes.
pub(super) fn convert(lab: &mut Lab, subject: &Subject, input: &Path) -> Result<()> {
    if status("self", "VmHWM").is_none() {
        return Ok(());
    }
    let (hurray, output) = (command()?, lab.folder.path().join("converted.hrry"));
    for threads in lab.thread_counts() {
        let mut process = Command::new(&hurray)
            .args(["convert", "--quiet", "--force", "--threads", &threads.to_string()])
            .args([input, &output])
            .spawn()?;
        // The peak never shrinks, so the last look before the end has it, but for what is needed
        // in the last instants, when everything is written already.
        let (id, mut peak) = (process.id().to_string(), 0);
        let result = loop {
            peak = status(&id, "VmHWM").unwrap_or(0).max(peak);
            match process.try_wait()? {
                Some(result) => break result,
                None => std::thread::sleep(Duration::from_millis(1)),
            }
        };
        if !result.success() {
            return Err(format!("hurray convert: {result}").into());
        }
        let size = output.metadata()?.len();
        let measured = (peak, "the file", size as f64, 4.0);
        add(lab, subject, "peak memory, hurray convert", threads, measured);
    }
    Ok(fs::remove_file(&output)?)
}

/// The command line, built as this program is.
fn command() -> Result<std::path::PathBuf> {
    let mut cargo = Command::new(std::env::var_os("CARGO").unwrap_or_else(|| "cargo".into()));
    cargo.current_dir(crate::root()).args(["build", "--quiet", "--package", "hurray-cli"]);
    if !cfg!(debug_assertions) {
        cargo.arg("--release");
    }
    let status = cargo.status()?;
    if !status.success() {
        return Err(format!("cargo build: {status}").into());
    }
    let name = format!("hurray{}", std::env::consts::EXE_SUFFIX);
    Ok(std::env::current_exe()?.with_file_name(name))
}

fn add(
    lab: &mut Lab,
    subject: &Subject,
    operation: &str,
    threads: usize,
    (peak, yardstick, size, most): (u64, &str, f64, f64),
) {
    let bar = Bar::AtMost(most);
    lab.report.add(Row {
        operation: operation.to_owned(),
        tensor: subject.name().to_owned(),
        threads,
        seconds: None,
        bytes_per_second: None,
        yardstick: format!("{yardstick}, {:.1} MB", size / 1e6),
        yardstick_seconds: None,
        ratio: bar.ratio(peak as f64, size),
        bar,
    });
}
