//! The tensors that everything is measured on, at any number of non-zeros.
//!
//! Their indices are distinct and come in random order, their values have up to eight decimals,
//! so that a line of text is as long as measured data make it.
//! The same number of non-zeros gives the same tensor every time.

use std::collections::HashSet;

use hurray_csf::{BuildError, Builder, Indices, Tensor};
use hurray_format::cast::{to_u64, to_usize};
use hurray_format::{FormatError, ModeOrder, Shape, Values};
use hurray_io::tns;
use thiserror::Error;

use crate::random::{Distribution, Random};

/// What a tensor is made from.
#[derive(Clone, Debug)]
pub struct Workload {
    name: String,
    shape: Shape,
    mode_order: ModeOrder,
    exponent: Option<f64>,
    nnz: usize,
}

/// Why there is no such tensor.
#[derive(Debug, Error)]
#[non_exhaustive]
pub enum WorkloadError {
    /// Nothing has this name.
    #[error("no workload is called `{name}`; there are {}", Workload::NAMES.join(", "))]
    Name {
        /// The name.
        name: String,
    },
    /// The shape or the mode order is wrong.
    #[error(transparent)]
    Format(#[from] FormatError),
    /// A Zipf law over a dimension that is too long for its table.
    #[error(
        "a Zipf law is drawn from a table of up to {} coordinates, but a dimension has {size}",
        Workload::MAX_ZIPF
    )]
    LongZipf {
        /// The size of the dimension.
        size: u64,
    },
    /// Distinct indices hardly turn up any more.
    #[error(
        "only {found} of {nnz} distinct indices turned up in {draws} draws; take fewer, a \
        larger shape or a smaller exponent"
    )]
    Dense {
        /// The distinct indices that were found.
        found: usize,
        /// Those asked for.
        nnz: usize,
        /// How often an index was drawn.
        draws: usize,
    },
    /// The tree cannot be built.
    #[error(transparent)]
    Build(#[from] BuildError),
    /// The text cannot be written.
    #[error(transparent)]
    Text(#[from] tns::WriteError),
}

impl Workload {
    /// The tensors that [`Workload::named`] knows.
    pub const NAMES: [&'static str; 6] = ["skew3", "uniform3", "skew4", "long3", "wide6", "wide64"];

    /// The longest dimension of a Zipf law.
    pub const MAX_ZIPF: u64 = 1 << 27;

    /// One of the tensors, with `nnz` non-zeros:
    ///
    /// - `skew3`: Zipf 1.1 on 12092 x 9184 x 28818. Short fibers, some very heavy slices.
    /// - `uniform3`: 100000 x 50000 x 20000, shortest dimension outermost. Nearly one leaf a fiber.
    /// - `skew4`: Zipf 1.1 on 1500 x 5000 x 5000 x 30000.
    /// - `long3`: 16 x n x 20000, where `n` is such that fibers have about 1,250 leaves. Fewer if
    ///   there are less than 20,000 non-zeros in all.
    /// - `wide6`: rank 6, dimensions of 2^20. 120 bits an index.
    /// - `wide64`: rank 64, dimensions of 8. 192 bits an index, and a tenth of the non-zeros, since
    ///   each has ten times the coordinates of the others and more.
    ///
    /// # Errors
    /// [`WorkloadError::Name`] if it is called otherwise.
    pub fn named(name: &str, nnz: usize) -> Result<Self, WorkloadError> {
        let (shape, exponent, nnz) = match name {
            "skew3" => (vec![12_092, 9_184, 28_818], Some(1.1), nnz),
            "uniform3" => (vec![100_000, 50_000, 20_000], None, nnz),
            "skew4" => (vec![1_500, 5_000, 5_000, 30_000], Some(1.1), nnz),
            "long3" => (vec![16, to_u64(nnz / 20_000).max(1), 20_000], None, nnz),
            "wide6" => (vec![1 << 20; 6], None, nnz),
            "wide64" => (vec![8; 64], None, nnz / 10),
            _ => return Err(WorkloadError::Name { name: name.to_owned() }),
        };
        let mut workload = Self::new(name, Shape::new(shape)?, exponent, nnz)?;
        if name == "uniform3" {
            workload.mode_order = ModeOrder::shortest_first(&workload.shape);
        }
        Ok(workload)
    }

    /// A tensor of one's own in the identity mode order, its coordinates by a Zipf law or all
    /// equally likely.
    ///
    /// # Errors
    /// [`WorkloadError::LongZipf`] if a dimension is too long for the law.
    pub fn new(
        name: &str,
        shape: Shape,
        exponent: Option<f64>,
        nnz: usize,
    ) -> Result<Self, WorkloadError> {
        let longest = shape.dimensions().iter().copied().max().unwrap_or(0);
        if exponent.is_some() && longest > Self::MAX_ZIPF {
            return Err(WorkloadError::LongZipf { size: longest });
        }
        let mode_order = ModeOrder::identity(shape.rank())?;
        Ok(Self { name: name.to_owned(), shape, mode_order, exponent, nnz })
    }

    /// What it is called.
    #[must_use]
    pub fn name(&self) -> &str {
        &self.name
    }

    /// Its entries. Takes about 16 bytes for each on top of them for a moment.
    ///
    /// # Errors
    /// [`WorkloadError::Dense`] if the shape has no room for so many distinct indices, or the law
    /// hardly ever draws new ones.
    pub fn entries(&self) -> Result<Entries, WorkloadError> {
        let (nnz, rank) = (self.nnz, self.shape.rank());
        let mut rows = Rows::new(self, 0x5EED);
        let mut seen = HashSet::with_capacity(nnz);
        let mut coordinates = Vec::with_capacity(nnz * rank);
        let most = nnz.saturating_mul(100);
        for _ in 0..most {
            if seen.len() == nnz {
                break;
            }
            let row = rows.next();
            if seen.insert(fingerprint(&self.shape, row)) {
                coordinates.extend_from_slice(row);
            }
        }
        if seen.len() < nnz {
            return Err(WorkloadError::Dense { found: seen.len(), nnz, draws: most });
        }
        let mut random = Random::new(0xFACE);
        let values = (0..nnz).map(|_| (random.below(1_000_000_000) + 1) as f64 / 1e8).collect();
        Ok(Entries { workload: self.clone(), coordinates, values })
    }
}

/// Indices drawn one after the other, not yet distinct.
struct Rows {
    distributions: Vec<Distribution>,
    random: Random,
    row: Vec<u64>,
}

impl Rows {
    fn new(workload: &Workload, seed: u64) -> Self {
        let sizes = workload.shape.dimensions();
        let distributions = sizes.iter().map(|&size| Distribution::new(size, workload.exponent));
        let row = vec![0; sizes.len()];
        Self { distributions: distributions.collect(), random: Random::new(seed), row }
    }

    fn next(&mut self) -> &[u64] {
        for (coordinate, distribution) in self.row.iter_mut().zip(&self.distributions) {
            *coordinate = distribution.draw(&mut self.random);
        }
        &self.row
    }
}

/// Indices with different fingerprints are different, also if the shape has more than 2^128 places
/// and some different ones get the same.
fn fingerprint(shape: &Shape, index: &[u64]) -> u128 {
    let places = shape.dimensions().iter().zip(index);
    places.fold(0, |print: u128, (&size, &coordinate)| {
        print.wrapping_mul(size.into()).wrapping_add(coordinate.into())
    })
}

/// The entries of a tensor as coordinates and values.
#[derive(Clone, Debug)]
pub struct Entries {
    workload: Workload,
    coordinates: Vec<u64>,
    values: Vec<f64>,
}

impl Entries {
    /// What the tensor is called.
    #[must_use]
    pub fn name(&self) -> &str {
        &self.workload.name
    }

    /// The logical shape.
    #[must_use]
    pub fn shape(&self) -> &Shape {
        &self.workload.shape
    }

    /// The mode order that the tree of this tensor has.
    #[must_use]
    pub fn mode_order(&self) -> &ModeOrder {
        &self.workload.mode_order
    }

    /// The number of entries.
    #[must_use]
    pub fn nnz(&self) -> usize {
        self.values.len()
    }

    /// The indices row by row: coordinate `k` of entry `i` is at `i * rank + k`.
    #[must_use]
    pub fn coordinates(&self) -> &[u64] {
        &self.coordinates
    }

    /// One value per entry.
    #[must_use]
    pub fn values(&self) -> &[f64] {
        &self.values
    }

    /// The bytes of coordinates and values.
    #[must_use]
    pub fn byte_count(&self) -> usize {
        size_of_val(&*self.coordinates) + size_of_val(&*self.values)
    }

    /// The tree with its values.
    ///
    /// # Errors
    /// [`BuildError`] if the shape is not one of a CSF tensor.
    pub fn build(&self) -> Result<Tensor, BuildError> {
        self.build_in(self.mode_order())
    }

    /// The tree with its values in any mode order.
    ///
    /// # Errors
    /// [`BuildError`] if the mode order is not one of this rank.
    pub fn build_in(&self, mode_order: &ModeOrder) -> Result<Tensor, BuildError> {
        Builder::new(self.shape().clone())
            .mode_order(mode_order.clone())
            .build(Indices::Rows(&self.coordinates), Values::from_slice(&self.values))
    }

    /// The same entries in storage order.
    ///
    /// # Errors
    /// As [`Entries::build`].
    pub fn sorted(&self) -> Result<Self, WorkloadError> {
        let tensor = self.build()?;
        let coordinates = tensor.to_coo().into_parts().0;
        let values = tensor.values().as_slice::<f64>()?.to_vec();
        Ok(Self { workload: self.workload.clone(), coordinates, values })
    }

    /// The key of each entry, whose order is that of the tree, with the bits of its value; `None`
    /// if 64 bits are too few for a key.
    #[must_use]
    pub fn records(&self) -> Option<Vec<(u64, u64)>> {
        let (sizes, order) = (self.shape().dimensions(), self.mode_order().as_slice());
        sizes.iter().try_fold(1u64, |places, &size| places.checked_mul(size))?;
        let key = |row: &[u64]| {
            order
                .iter()
                .map(|&dimension| dimension as usize)
                .fold(0, |key, dimension| key * sizes[dimension] + row[dimension])
        };
        let rows = self.coordinates.chunks_exact(sizes.len());
        Some(rows.zip(&self.values).map(|(row, value)| (key(row), value.to_bits())).collect())
    }

    /// FROSTT text of the entries in the order in which they are, indices counted from 1.
    ///
    /// # Errors
    /// None in memory.
    pub fn text(&self) -> Result<Vec<u8>, WorkloadError> {
        let mut text = Vec::new();
        let (rank, values) = (self.shape().rank(), Values::from_slice(&self.values));
        tns::write_coo(rank, &self.coordinates, &values, &mut text, &tns::WriteOptions::default())?;
        Ok(text)
    }

    /// `count` stored indices in random order, row by row. Some may be there more than once.
    #[must_use]
    pub fn stored(&self, count: usize) -> Vec<u64> {
        let rank = self.shape().rank();
        let mut random = Random::new(0xF00D);
        let entry = |random: &mut Random| to_usize(random.below(to_u64(self.nnz())));
        (0..count)
            .flat_map(|_| &self.coordinates[entry(&mut random) * rank..][..rank])
            .copied()
            .collect()
    }

    /// `count` indices that `tensor`, the tree of these entries, does not have, row by row: drawn
    /// as the stored ones were.
    ///
    /// # Errors
    /// [`WorkloadError::Dense`] if nearly all that the law draws are stored.
    pub fn absent(&self, tensor: &Tensor, count: usize) -> Result<Vec<u64>, WorkloadError> {
        let rank = self.shape().rank();
        let mut rows = Rows::new(&self.workload, 0xAB5E);
        let mut absent = Vec::with_capacity(count * rank);
        let most = count.saturating_mul(100);
        for _ in 0..most {
            if absent.len() == count * rank {
                return Ok(absent);
            }
            let row = rows.next();
            if tensor.tree().lookup(row) == Ok(None) {
                absent.extend_from_slice(row);
            }
        }
        Err(WorkloadError::Dense { found: absent.len() / rank, nnz: count, draws: most })
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn entries(name: &str, nnz: usize) -> Entries {
        Workload::named(name, nnz).unwrap().entries().unwrap()
    }

    #[test]
    fn every_workload_has_the_non_zeros_asked_for_and_no_index_twice() {
        for name in Workload::NAMES {
            let entries = entries(name, 20_000);
            assert_eq!(entries.nnz(), if name == "wide64" { 2_000 } else { 20_000 });
            // Building refuses an index that is there twice.
            let tensor = entries.build().unwrap();
            assert_eq!(tensor.tree().nnz(), entries.nnz(), "{name}");
            tensor.tree().validate().unwrap();
        }
    }

    #[test]
    fn entries_come_in_random_order_and_are_the_same_every_time() {
        let (first, second) = (entries("skew4", 3_000), entries("skew4", 3_000));
        assert_eq!(first.coordinates(), second.coordinates());
        assert_eq!(first.values(), second.values());
        let keys: Vec<u64> = first.records().unwrap().iter().map(|record| record.0).collect();
        let ascents = keys.windows(2).filter(|pair| pair[0] < pair[1]).count();
        assert!((1_300..1_700).contains(&ascents), "{ascents}");
    }

    #[test]
    fn fibers_of_long3_have_a_thousand_leaves() {
        let tensor = entries("long3", 40_000).build().unwrap();
        tensor.tree().fibers().for_each(|fiber| assert!(fiber.crd().len() >= 1_000));
    }

    #[test]
    fn fibers_of_uniform3_have_hardly_more_than_one_leaf() {
        let tensor = entries("uniform3", 20_000).build().unwrap();
        assert_eq!(tensor.tree().mode_order().as_slice(), [2, 1, 0]);
        assert!(tensor.tree().node_count(1) > 19_900);
    }

    #[test]
    fn sorted_entries_are_in_storage_order() {
        let sorted = entries("uniform3", 5_000).sorted().unwrap();
        assert!(sorted.records().unwrap().is_sorted_by(|a, b| a.0 < b.0));
    }

    #[test]
    fn stored_and_absent_indices_are_what_they_are_called() {
        let entries = entries("skew3", 5_000);
        let tensor = entries.build().unwrap();
        let stored = tensor.tree().lookup_many(&entries.stored(500)).unwrap();
        assert!(stored.len() == 500 && stored.iter().all(Option::is_some));
        let absent = entries.absent(&tensor, 500).unwrap();
        let absent = tensor.tree().lookup_many(&absent).unwrap();
        assert!(absent.len() == 500 && absent.iter().all(Option::is_none));
    }

    #[test]
    fn text_reads_back_to_the_same_entries() {
        let entries = entries("skew3", 2_000);
        let text = entries.text().unwrap();
        let read = tns::read(&text[..], &tns::ReadOptions::default()).unwrap();
        assert_eq!(read.coordinates[..], *entries.coordinates());
        assert_eq!(read.values.as_slice::<f64>().unwrap(), entries.values());
    }

    #[test]
    fn more_indices_than_there_are_places_are_refused() {
        let workload = Workload::new("own", Shape::new([2, 2, 2]).unwrap(), None, 9).unwrap();
        let error = workload.entries().unwrap_err();
        assert!(matches!(error, WorkloadError::Dense { found: 8, nnz: 9, draws: 900 }), "{error}");
    }

    #[test]
    fn unknown_names_are_refused() {
        let error = Workload::named("skew5", 1).unwrap_err();
        assert!(error.to_string().starts_with("no workload is called `skew5`; there are skew3, "));
    }
}
