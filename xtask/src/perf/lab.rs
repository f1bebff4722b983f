//! What measurements need: a subject, threads, a clock, and somewhere to put the rows.

use std::hint::black_box;
use std::num::NonZero;
use std::time::{Duration, Instant};

use benches::{Entries, Workload, yardsticks};
use hurray_csf::Tensor;
use hurray_format::AlignedBytes;
use rayon::{ThreadPool, ThreadPoolBuilder};
use tempfile::TempDir;

use super::report::{Bar, Report, Row, Style};
use super::{Arguments, Own, Result};

/// A tensor in both forms.
pub(super) struct Subject {
    pub(super) entries: Entries,
    pub(super) tensor: Tensor,
}

impl Subject {
    pub(super) fn new(workload: &Workload) -> Result<Self> {
        let entries = workload.entries()?;
        let tensor = entries.build()?;
        Ok(Self { entries, tensor })
    }

    pub(super) fn name(&self) -> &str {
        self.entries.name()
    }

    pub(super) fn values(&self) -> Result<&[f64]> {
        Ok(self.tensor.values().as_slice()?)
    }

    /// The bytes of pos and crd.
    pub(super) fn tree_bytes(&self) -> usize {
        let tree = self.tensor.tree();
        let levels = (0..tree.rank()).map(|level| tree.level(level));
        levels.map(|(pos, crd)| size_of_val(pos) + size_of_val(crd)).sum()
    }

    /// The bytes of pos, crd and values.
    pub(super) fn bytes(&self) -> usize {
        self.tree_bytes() + self.tensor.values().bytes().len()
    }
}

/// Something that measures how long one run of itself takes.
pub(super) type Work<'a> = Box<dyn FnMut() -> Duration + Send + 'a>;

/// The time that `work` takes, without what it takes to drop its result.
pub(super) fn time<T>(work: impl FnOnce() -> T) -> Duration {
    let start = Instant::now();
    let result = black_box(work());
    let time = start.elapsed();
    drop(result);
    time
}

/// The same, with as much free memory at hand as `work` needs at most. A virtual machine often gives
/// memory that nobody used for a second back to its host, and is slow to get it again: that would
/// be measured instead, and of the larger of two works more. So the memory is touched and freed
/// just before.
pub(super) fn time_at_hand<T>(bytes: usize, work: impl FnOnce() -> T) -> Duration {
    let mut memory = AlignedBytes::zeroed(bytes);
    memory.iter_mut().step_by(PAGE).for_each(|byte| *byte = 1);
    drop(black_box(memory));
    time(work)
}

/// The smallest pages there are.
const PAGE: usize = 4096;

/// Wraps what needs no preparation.
pub(super) fn work<'a, T>(mut work: impl FnMut() -> T + Send + 'a) -> Work<'a> {
    Box::new(move || time(&mut work))
}

/// Wraps what needs fresh memory; see [`time_at_hand`].
pub(super) fn work_at_hand<'a, T>(
    bytes: usize,
    mut work: impl FnMut() -> T + Send + 'a,
) -> Work<'a> {
    Box::new(move || time_at_hand(bytes, &mut work))
}

/// Where measurements are made.
pub(super) struct Lab {
    pub(super) own: Own,
    pub(super) report: Report,
    /// For files.
    pub(super) folder: TempDir,
    pools: Vec<ThreadPool>,
    runs: Option<NonZero<usize>>,
    /// What is read to find out how fast that can be.
    memory: Vec<u64>,
}

impl Lab {
    pub(super) fn new(arguments: &Arguments, own: Own, style: Style) -> Result<Self> {
        let pools = arguments.thread_counts().into_iter();
        let pools = pools.map(|threads| ThreadPoolBuilder::new().num_threads(threads).build());
        // 1 GiB, or less for tensors that are small themselves.
        let words = own.nnz.saturating_mul(16).clamp(1 << 20, 1 << 27);
        Ok(Self {
            own,
            report: Report::new(style),
            folder: tempfile::tempdir()?,
            pools: pools.collect::<std::result::Result<_, _>>()?,
            runs: arguments.runs,
            memory: (0..words as u64).collect(),
        })
    }

    /// The numbers of threads to measure with.
    pub(super) fn thread_counts(&self) -> Vec<usize> {
        self.pools.iter().map(ThreadPool::current_num_threads).collect()
    }

    /// Reads memory, as a yardstick; see [`Lab::reading`].
    pub(super) fn read(&self) -> Work<'_> {
        work(|| yardsticks::read(&self.memory))
    }

    /// The seconds that reading `bytes` takes if [`Lab::read`] took `seconds`.
    pub(super) fn reading(&self, bytes: usize, seconds: f64) -> f64 {
        seconds * bytes as f64 / size_of_val(&*self.memory) as f64
    }

    /// Runs each of `works` once to warm up, then all of them in turns: as often as was asked for,
    /// or five times, and up to two hundred times if that takes less than four seconds. Gives
    /// the median seconds of each.
    pub(super) fn race<const N: usize>(&self, threads: usize, works: [Work<'_>; N]) -> [f64; N] {
        let mut medians = self.race_all(threads, works.into()).into_iter();
        std::array::from_fn(|_| medians.next().unwrap_or(f64::NAN))
    }

    /// As [`Lab::race`], for any number of works.
    pub(super) fn race_all(&self, threads: usize, mut works: Vec<Work<'_>>) -> Vec<f64> {
        let mut race = || {
            let mut times = vec![Vec::new(); works.len()];
            for work in &mut works {
                work();
            }
            let (least, most) = self.runs.map_or((5, 200), |runs| (runs.get(), runs.get()));
            let start = Instant::now();
            for run in 0..most {
                if run >= least && start.elapsed() > Duration::from_secs(4) {
                    break;
                }
                for (work, times) in works.iter_mut().zip(&mut times) {
                    times.push(work().as_secs_f64());
                }
            }
            times.into_iter().map(median).collect()
        };
        let pool = self.pools.iter().find(|pool| pool.current_num_threads() == threads);
        match pool {
            Some(pool) => pool.install(race),
            // One thread, when only others were asked for: for operations that use no more.
            None => race(),
        }
    }

    /// Adds a row: an operation on `bytes` bytes that took `seconds` where its yardstick took
    /// `yardstick_seconds`.
    pub(super) fn row(&mut self, subject: &str, row: Measured<'_>) {
        let Measured { operation, threads, seconds, bytes, yardstick, bar } = row;
        self.report.add(Row {
            operation: operation.to_owned(),
            tensor: subject.to_owned(),
            threads,
            seconds: Some(seconds),
            bytes_per_second: bytes.map(|bytes| bytes as f64 / seconds),
            yardstick: yardstick.0.to_owned(),
            yardstick_seconds: Some(yardstick.1),
            ratio: bar.ratio(seconds, yardstick.1),
            bar,
        });
    }
}

/// One operation beside its yardstick.
pub(super) struct Measured<'a> {
    pub(super) operation: &'a str,
    pub(super) threads: usize,
    /// What the operation took.
    pub(super) seconds: f64,
    /// The bytes that it worked on, where that says something.
    pub(super) bytes: Option<usize>,
    /// What it is compared with, and what that took.
    pub(super) yardstick: (&'a str, f64),
    pub(super) bar: Bar,
}

fn median(mut times: Vec<f64>) -> f64 {
    times.sort_by(f64::total_cmp);
    let middle = times.len() / 2;
    if times.len() % 2 == 1 { times[middle] } else { (times[middle - 1] + times[middle]) / 2.0 }
}

#[cfg(test)]
mod tests {
    #[test]
    fn medians_lie_in_the_middle() {
        assert_eq!(super::median(vec![3.0, 1.0, 9.0]), 3.0);
        assert_eq!(super::median(vec![4.0, 1.0, 2.0, 9.0]), 3.0);
    }
}
