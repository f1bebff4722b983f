//! `hurray demo`: the whole job on a tensor made on the spot, with the time of each step.

use std::hint::black_box;
use std::path::Path;
use std::time::{Duration, Instant};

use clap::Args;
use hurray_csf::build::{Builder, Duplicates, Indices};
use hurray_format::Values;
use hurray_io::tns::{self, ReadOptions, WriteOptions};
use hurray_io::{Writer, WriterOptions};

use crate::failure::Failure;
use crate::interrupt;
use crate::open;
use crate::output;

/// Show the whole job on a tensor made on the spot: text, convert, open, verify, look up, iterate
///
/// Everything happens in a temporary folder, which is removed at the end.
#[derive(Args)]
#[command(after_help = "Example:\n  hurray demo")]
pub(crate) struct Arguments {
    /// How many non-zeros the tensor has
    #[arg(long, value_name = "N", default_value_t = 1_000_000,
          value_parser = clap::value_parser!(u32).range(1..=100_000_000))]
    nnz: u32,
}

/// Small enough for indices to repeat along each dimension, large enough for a million distinct
/// ones to be a sparse tensor.
const SHAPE: [u64; 3] = [2_000, 5_000, 10_000];

/// How many elements are looked up.
const LOOKUPS: usize = 100_000;

pub(crate) fn run(arguments: &Arguments) -> Result<(), Failure> {
    let folder = interrupt::removes(|| {
        let folder = tempfile::Builder::new().prefix("hurray-demo-").tempdir();
        let folder = folder.map_err(|error| Failure::at("cannot create a folder", error))?;
        let path = folder.path().to_owned();
        Ok((folder, move || std::fs::remove_dir_all(&path)))
    })?;
    let (text, file) = (folder.path().join("demo.tns"), folder.path().join("demo.hrry"));
    let mut steps = Steps::default();

    steps.time("write text", || write_text(&text, arguments.nnz))?;
    let parsing = Instant::now();
    black_box(tns::read_path(&text, &ReadOptions::default())?.nnz());
    let parsing = parsing.elapsed();
    steps.time("convert", || convert(&text, &file))?;
    let tensor =
        steps.time("open", || Ok(open::choose(&open::map(&file)?, None)?.read()?.csf()?))?;
    let tree = tensor.tree();
    steps.time("verify", || tree.validate().map_err(|error| Failure::at(file.display(), error)))?;

    // Every so-many-th element, in an order that jumps about.
    let stride = tree.nnz() / LOOKUPS + 1;
    let mut indices = Vec::new();
    tree.leaves().for_each(|index, leaf| {
        if leaf % stride == 0 {
            indices.push(index.to_vec());
        }
    });
    indices.sort_by_key(|index| index.iter().rev().copied().collect::<Vec<_>>());
    let indices: Vec<u64> = indices.concat();
    let found = steps.time("look up", || Ok(tree.lookup_many(&indices)?))?;
    let values = tensor.values().as_slice::<f64>()?;
    let sum = steps.time("iterate", || {
        let mut sum = 0.0;
        tree.fibers().for_each(|fiber| sum += values[fiber.leaves()].iter().sum::<f64>());
        Ok(sum)
    })?;

    let mut report = format!(
        "A tensor of shape {} with {} non-zeros: {} bytes of text, {} bytes as a file.\n\n\
         {:<12}{:>10}   parsing the text again ({}) takes\n",
        tree.shape(),
        tree.nnz(),
        size(&text)?,
        size(&file)?,
        "step",
        "time",
        pretty(parsing),
    );
    for (step, time) in steps.0 {
        report += &format!("{step:<12}{:>10}   {}\n", pretty(time), compare(parsing, time));
    }
    let stored = found.iter().flatten().count();
    report += &format!("\n{stored} of {} elements found; the sum of all is {sum}.\n", found.len());
    output::print(|out| out.write_all(report.as_bytes()))
}

/// The steps with their times.
#[derive(Default)]
struct Steps(Vec<(&'static str, Duration)>);

impl Steps {
    fn time<T>(
        &mut self,
        step: &'static str,
        work: impl FnOnce() -> Result<T, Failure>,
    ) -> Result<T, Failure> {
        let start = Instant::now();
        let result = black_box(work()?);
        self.0.push((step, start.elapsed()));
        Ok(result)
    }
}

/// Writes text of random entries. A few of them have the same index.
fn write_text(path: &Path, nnz: u32) -> Result<(), Failure> {
    let mut random = Random(1);
    let mut coordinates = Vec::new();
    let mut values = Vec::new();
    for _ in 0..nnz {
        coordinates.extend(SHAPE.map(|size| random.next() % size));
        values.push(u32::try_from(random.next() % 1000).map_or(0.0, f64::from) / 8.0);
    }
    let values = Values::from_slice(&values);
    let out = std::fs::File::create(path).map_err(|error| Failure::at(path.display(), error))?;
    let options = WriteOptions::default();
    tns::write_coo(SHAPE.len(), &coordinates, &values, out, &options)
        .map_err(|error| Failure::at(path.display(), error))
}

/// What `hurray convert demo.tns demo.hrry --duplicates sum` does.
fn convert(text: &Path, file: &Path) -> Result<(), Failure> {
    let entries = tns::read_path(text, &ReadOptions::default())?;
    let tensor = Builder::new(entries.shape.clone())
        .duplicates(Duplicates::Sum)
        .build(Indices::Rows(&entries.coordinates), entries.values.as_view())?;
    let mut writer = Writer::create(file, WriterOptions::default())?;
    writer.csf("demo", &tensor)?;
    Ok(writer.finish()?)
}

/// The generator SplitMix64: the same numbers on every machine.
struct Random(u64);

impl Random {
    fn next(&mut self) -> u64 {
        self.0 = self.0.wrapping_add(0x9E37_79B9_7F4A_7C15);
        let mut z = self.0;
        z = (z ^ (z >> 30)).wrapping_mul(0xBF58_476D_1CE4_E5B9);
        z = (z ^ (z >> 27)).wrapping_mul(0x94D0_49BB_1331_11EB);
        z ^ (z >> 31)
    }
}

fn size(path: &Path) -> Result<u64, Failure> {
    let metadata = std::fs::metadata(path).map_err(|error| Failure::at(path.display(), error))?;
    Ok(metadata.len())
}

fn pretty(time: Duration) -> String {
    match time.as_secs_f64() {
        seconds @ 1.0.. => format!("{seconds:.2} s"),
        seconds @ 1e-3.. => format!("{:.1} ms", seconds * 1e3),
        seconds => format!("{:.1} us", seconds * 1e6),
    }
}

fn compare(parsing: Duration, time: Duration) -> String {
    let ratio = parsing.as_secs_f64() / time.as_secs_f64().max(1e-9);
    match ratio {
        10.0.. => format!("{ratio:.0} times as long"),
        _ => format!("{ratio:.2} times as long"),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn times_are_readable() {
        let time = Duration::from_secs_f64;
        assert_eq!(pretty(time(1.234)), "1.23 s");
        assert_eq!(pretty(time(0.0123)), "12.3 ms");
        assert_eq!(pretty(time(0.0000123)), "12.3 us");
        assert_eq!(compare(time(1.0), time(0.001)), "1000 times as long");
        assert_eq!(compare(time(1.0), time(0.5)), "2.00 times as long");
        assert_eq!(compare(time(1.0), time(2.0)), "0.50 times as long");
    }

    #[test]
    fn random_numbers_are_those_of_splitmix64() {
        let mut random = Random(0);
        assert_eq!(random.next(), 0xE220_A839_7B1D_CDAF);
        assert_eq!(random.next(), 0x6E78_9E6A_A1B9_65F4);
    }
}
