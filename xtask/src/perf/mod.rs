//! `cargo xtask perf`: every operation measured beside what it is compared with.
//!
//! A row is the median of several runs of an operation and of its yardstick, taken in turns, so
//! that whatever else happens on the machine happens to both. Ratios are what counts.

mod build;
mod convert;
mod iterate;
mod lab;
mod lookup;
pub(crate) mod memory;
mod open;
mod report;
mod scaling;
mod subtree;
mod text;
mod validate;
mod write;

use std::error::Error;
use std::num::NonZero;

use benches::Workload;
use clap::Args;
use hurray_format::Shape;

use lab::{Lab, Subject};

type Result<T> = std::result::Result<T, Box<dyn Error>>;

#[derive(Args)]
pub(crate) struct Arguments {
    /// Print a list of JSON objects instead of the table
    #[arg(long)]
    json: bool,
    /// Fail if a bar is missed
    #[arg(long)]
    check: bool,
    #[command(flatten)]
    own: Own,
    /// The numbers of threads to measure with [default: 1 and all]
    #[arg(long, value_name = "N", value_delimiter = ',')]
    threads: Vec<NonZero<usize>>,
    /// Only this operation or this tensor; may be given several times
    #[arg(long, value_name = "NAME", value_delimiter = ',', value_parser = names())]
    only: Vec<String>,
    /// Show how the costs grow from 100 thousand to 30 million non-zeros
    #[arg(long, conflicts_with_all = ["json", "check", "nnz"])]
    scaling: bool,
    /// How often each thing is measured, after once to warm up [default: 5 times, and up to 200
    /// times in four seconds]
    #[arg(long, value_name = "N")]
    runs: Option<NonZero<usize>>,
}

/// What tensors are measured.
#[derive(Args, Clone)]
struct Own {
    /// Non-zeros of each tensor, a tenth of it for wide64
    #[arg(long, value_name = "N", default_value_t = 10_000_000)]
    nnz: usize,
    /// Measure a tensor of this shape instead, such as 300,4000,50000
    #[arg(long, value_name = "SIZES", value_delimiter = ',')]
    shape: Vec<u64>,
    /// Draw its coordinates by a Zipf law of this exponent; otherwise all are equally likely
    #[arg(long, value_name = "EXPONENT", requires = "shape")]
    zipf: Option<f64>,
}

impl Own {
    /// The name of a tensor of one's own.
    const NAME: &str = "own";

    fn names(&self) -> &[&'static str] {
        if self.shape.is_empty() { &Workload::NAMES } else { &[Self::NAME] }
    }

    fn workload(&self, name: &str) -> Result<Workload> {
        if name != Self::NAME {
            return Ok(Workload::named(name, self.nnz)?);
        }
        Ok(Workload::new(name, Shape::new(self.shape.clone())?, self.zipf, self.nnz)?)
    }
}

/// Something to be measured, and on which of the named tensors.
struct Operation {
    name: &'static str,
    tensors: &'static [&'static str],
    run: fn(&mut Lab, &Subject) -> Result<()>,
}

const THREE: &[&str] = &["skew3", "uniform3", "long3"];

const OPERATIONS: [Operation; 10] = [
    Operation { name: "open", tensors: &["skew3"], run: open::run },
    Operation { name: "validate", tensors: THREE, run: validate::run },
    Operation {
        name: "build",
        tensors: &["skew3", "uniform3", "skew4", "wide6", "wide64"],
        run: build::run,
    },
    Operation { name: "memory", tensors: &["skew3", "uniform3", "skew4"], run: memory::measure },
    Operation { name: "lookup", tensors: THREE, run: lookup::run },
    Operation { name: "iterate", tensors: THREE, run: iterate::run },
    Operation { name: "subtree", tensors: &["skew3"], run: subtree::run },
    Operation { name: "convert", tensors: &["skew3"], run: convert::run },
    Operation { name: "write", tensors: &["skew3"], run: write::run },
    Operation { name: "text", tensors: &["skew3"], run: text::run },
];

fn names() -> clap::builder::PossibleValuesParser {
    let operations = OPERATIONS.iter().map(|operation| operation.name);
    operations.chain(Workload::NAMES).collect::<Vec<_>>().into()
}

impl Arguments {
    fn thread_counts(&self) -> Vec<usize> {
        let all = std::thread::available_parallelism().map_or(1, NonZero::get);
        let mut counts: Vec<usize> = match &*self.threads {
            [] => vec![1, all],
            given => given.iter().map(|count| count.get()).collect(),
        };
        counts.dedup();
        counts
    }

    fn wants(&self, operation: &Operation, tensor: &str) -> bool {
        // Names of operations restrict the operations, names of tensors the tensors.
        let asks = |known: &dyn Fn(&str) -> bool, name: &str| {
            let mut asked = self.only.iter().filter(|only| known(only)).peekable();
            asked.peek().is_none() || asked.any(|only| only == name)
        };
        let is_operation = |only: &str| OPERATIONS.iter().any(|operation| operation.name == only);
        (tensor == Own::NAME || operation.tensors.contains(&tensor))
            && asks(&is_operation, operation.name)
            && asks(&|only| tensor != Own::NAME && !is_operation(only), tensor)
    }

    /// Measures everything that is asked for, tensor by tensor.
    fn measure(&self, lab: &mut Lab) -> Result<()> {
        for name in lab.own.clone().names() {
            let mut wanted =
                OPERATIONS.iter().filter(|operation| self.wants(operation, name)).peekable();
            if wanted.peek().is_none() {
                continue;
            }
            let subject = Subject::new(&lab.own.workload(name)?)?;
            for operation in wanted {
                (operation.run)(lab, &subject)?;
            }
        }
        Ok(())
    }
}

/// Measures and reports.
pub(crate) fn run(arguments: &Arguments) -> Result<()> {
    if arguments.scaling {
        return scaling::run(arguments);
    }
    let mut lab = Lab::new(arguments, arguments.own.clone(), report::Style::of(arguments.json))?;
    arguments.measure(&mut lab)?;
    let missed = lab.report.finish()?;
    if arguments.check && missed > 0 {
        return Err(format!("bars missed: {missed}").into());
    }
    Ok(())
}
