//! What times are compared with: what the machine can do, the published reference implementation,
//! and the standard library.
//!
//! What can use threads runs in the rayon pool of the caller.

use std::io::{self, BufRead, Write};

use hurray_core::layout::addressing::csf as reference;
use hurray_csf::Csf;
use hurray_format::cast::to_u64;
use rayon::prelude::*;

/// Reads memory as fast as possible: a sum.
#[must_use]
pub fn read(words: &[u64]) -> u64 {
    let sum = |words: &[u64]| words.iter().fold(0u64, |sum, &word| sum.wrapping_add(word));
    words.par_chunks(1 << 16).map(sum).reduce(|| 0, u64::wrapping_add)
}

/// Sorts the keys of entries with their values, 16 bytes each, by key.
pub fn sort(records: &mut [(u64, u64)]) {
    records.par_sort_unstable_by_key(|record| record.0);
}

/// A tree as the reference implementation takes it.
#[derive(Clone, Debug)]
pub struct Reference<'a> {
    nnz: u64,
    sizes: &'a [u64],
    mode_order: &'a [u32],
    pos: Vec<&'a [u64]>,
    crd: Vec<&'a [u64]>,
}

impl<'a> Reference<'a> {
    /// The arrays of `tree` as they lie.
    #[must_use]
    pub fn new<S: AsRef<[u64]>>(tree: &'a Csf<S>) -> Self {
        let levels = (0..tree.rank()).map(|level| tree.level(level));
        let (pos, crd) = levels.unzip();
        Self {
            nnz: to_u64(tree.nnz()),
            sizes: tree.shape().dimensions(),
            mode_order: tree.mode_order().as_slice(),
            pos,
            crd,
        }
    }

    /// Whether the reference finds the tree valid; one thread.
    #[must_use]
    pub fn validate(&self) -> bool {
        let Self { nnz, sizes, mode_order, pos, crd } = self;
        reference::validate_index_buffers(*nnz, mode_order, sizes, pos, crd).is_ok()
    }

    /// Where the reference finds an index.
    #[inline]
    #[must_use]
    pub fn lookup(&self, index: &[u64]) -> Option<u64> {
        reference::element_offset(index, self.mode_order, &self.pos, &self.crd).ok().flatten()
    }
}

/// Parses FROSTT text with the standard library alone, line by line into one string.
///
/// # Errors
/// Those of the input, and [`io::ErrorKind::InvalidData`] if a number is none.
pub fn parse(mut input: impl BufRead) -> io::Result<(Vec<u64>, Vec<f64>)> {
    let (mut coordinates, mut values) = (Vec::new(), Vec::new());
    let mut line = String::new();
    while input.read_line(&mut line)? > 0 {
        let mut fields = line.split_ascii_whitespace().peekable();
        while let Some(field) = fields.next() {
            if fields.peek().is_some() {
                let index: u64 = field.parse().map_err(invalid)?;
                coordinates.push(index.wrapping_sub(1));
            } else {
                values.push(field.parse().map_err(invalid)?);
            }
        }
        line.clear();
    }
    Ok((coordinates, values))
}

fn invalid(error: impl std::error::Error + Send + Sync + 'static) -> io::Error {
    io::Error::new(io::ErrorKind::InvalidData, error)
}

/// Writes a tree as FROSTT text with `write!`.
///
/// # Errors
/// Those of the output.
pub fn print<S: AsRef<[u64]>>(
    tree: &Csf<S>,
    values: &[f64],
    mut output: impl Write,
) -> io::Result<()> {
    let mut leaves = tree.leaves();
    while let Some((index, leaf)) = leaves.next() {
        for &coordinate in index {
            write!(output, "{} ", coordinate + 1)?;
        }
        writeln!(output, "{}", values[leaf])?;
    }
    output.flush()
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::Workload;

    #[test]
    fn the_yardsticks_do_the_same_work() {
        let entries = Workload::named("uniform3", 2_000).unwrap().entries().unwrap();
        let tensor = entries.build().unwrap();
        let (tree, values) = (tensor.tree(), tensor.values().as_slice::<f64>().unwrap());

        let reference = Reference::new(tree);
        assert!(reference.validate());
        let stored = entries.stored(100);
        for index in stored.chunks(3) {
            assert_eq!(reference.lookup(index), tree.lookup(index).unwrap().map(to_u64));
        }

        let mut records = entries.records().unwrap();
        sort(&mut records);
        assert!(records.iter().map(|record| f64::from_bits(record.1)).eq(values.iter().copied()));

        let text = entries.text().unwrap();
        let (coordinates, parsed) = parse(&text[..]).unwrap();
        assert_eq!((&*coordinates, &*parsed), (entries.coordinates(), entries.values()));

        let (mut ours, mut theirs) = (Vec::new(), Vec::new());
        let options = hurray_io::tns::WriteOptions::default();
        hurray_io::tns::write_csf(&tensor, &mut ours, &options).unwrap();
        print(tree, values, &mut theirs).unwrap();
        assert_eq!(ours, theirs);
    }

    #[test]
    fn reading_takes_every_word_once() {
        let words: Vec<u64> = (0..200_000).collect();
        assert_eq!(read(&words), 199_999 * 100_000);
    }
}
