//! Statistics of the values (docs/format.md, "Statistics"): computed for trees and lists, and held
//! against those that a descriptor records.
//!
//! They are over **all** logical elements: what is not stored is 0. A statistic that cannot be said
//! is left unknown, since no reader is then misled:
//!
//! | statistic | unknown |
//! |---|---|
//! | nnz, NaN and infinity | never |
//! | sparsity, `1 - nnz / elements` | with a dynamic dimension, or without elements |
//! | range | also with a NaN, which some readers pass over and others do not |
//! | mean, standard deviation | also with an infinity, or where they do not fit into f64 |
//! | N:M pattern | always: the format does not say along which dimension |
//!
//! The number of elements may be far past 2^64; it is then taken in f64. The standard deviation is
//! that of all elements, not the estimate from a sample.
//!
//! Values are taken in pieces of a fixed number, each in two passes, and the pieces are merged in
//! their order. So the result does not depend on the number of threads, and neither a large mean nor
//! very many zeros take away its digits. Linear in the stored values, parallel.

use std::ops::Range;

use hurray_format::Shape;
use hurray_format::cast::to_u64;
use hurray_format::descriptor::{Moments, NonFinite, Statistics, ValueRange};
use thiserror::Error;

use crate::build::map_with;
use crate::coo::Coo;
use crate::iter::Fibers;
use crate::numbers::{NumberError, Numbers};
use crate::tree::Csf;

/// Values in a piece.
const PIECE: usize = 1 << 14;

/// How far recorded sparsity, mean and standard deviation may be off: sparsity absolutely, the
/// other two relative to the root mean square of the elements. Whoever recorded them may have added
/// in another order, or in f32.
pub const TOLERANCE: f64 = 1e-6;

impl<S: AsRef<[u64]> + Sync> Csf<S> {
    /// The statistics of a valid tree whose values are `numbers`; which of them are unknown see
    /// [`statistics`](crate::statistics). Linear, parallel.
    ///
    /// # Errors
    /// [`NumberError`] for the first value, by position, that has no number.
    ///
    /// ```
    /// use hurray_csf::{Csf, Level, Numbers};
    /// use hurray_format::{ModeOrder, Shape, Values};
    ///
    /// let tree = Csf::new(
    ///     Shape::new([2, 3, 4])?,
    ///     ModeOrder::identity(3)?,
    ///     vec![
    ///         Level { pos: vec![0, 2], crd: vec![0, 1] },
    ///         Level { pos: vec![0, 2, 3], crd: vec![0, 2, 1] },
    ///         Level { pos: vec![0, 1, 2, 4], crd: vec![1, 3, 0, 2] },
    ///     ],
    /// )?;
    /// let numbers = Numbers::new(Values::from_slice(&[1.0f32, 2.0, 3.0, 4.0]), None)?;
    /// let statistics = tree.statistics(&numbers)?;
    /// assert_eq!(statistics.nnz, Some(4));
    /// assert_eq!(statistics.range.map(|range| (range.min, range.max)), Some((0.0, 4.0)));
    /// assert_eq!(statistics.moments.map(|moments| moments.mean), Some(10.0 / 24.0));
    /// # Ok::<(), Box<dyn std::error::Error>>(())
    /// ```
    pub fn statistics<B: AsRef<[u8]> + Sync>(
        &self,
        numbers: &Numbers<B>,
    ) -> Result<Statistics, NumberError> {
        let pieces = self.split(self.nnz().div_ceil(PIECE));
        let stored = summarize(numbers, pieces, |fibers: Fibers<'_>, visit| {
            fibers.leaves().for_each(visit);
        })?;
        Ok(stored.statistics(self.shape(), self.nnz()))
    }
}

impl<C: AsRef<[u64]> + Sync, B: AsRef<[u8]> + Sync> Coo<C, B> {
    /// The statistics of a valid list whose values are `numbers`; which of them are unknown see
    /// [`statistics`](crate::statistics). Linear, parallel.
    ///
    /// # Errors
    /// [`NumberError`] for the first value, by position, that has no number.
    pub fn statistics<D: AsRef<[u8]> + Sync>(
        &self,
        numbers: &Numbers<D>,
    ) -> Result<Statistics, NumberError> {
        let starts = (0..self.nnz()).step_by(PIECE);
        let pieces = starts.map(|start| start..self.nnz().min(start + PIECE)).collect();
        let stored = summarize(numbers, pieces, |positions: Range<usize>, visit| {
            for position in positions {
                visit(self.index(position).unwrap_or(&[]), position);
            }
        })?;
        Ok(stored.statistics(self.shape(), self.nnz()))
    }
}

/// What can be said without a look at the values, which need not be numbers: nnz and sparsity.
#[must_use]
#[expect(clippy::cast_precision_loss, reason = "f64 is what they are recorded in")]
pub fn of_structure(shape: &Shape, nnz: usize) -> Statistics {
    // A valid tensor does not store more elements than it has.
    let sparsity = element_count(shape).map(|elements| (1.0 - nnz as f64 / elements).max(0.0));
    Statistics { nnz: Some(to_u64(nnz)), sparsity, ..Statistics::default() }
}

/// The number of elements, which may be far past 2^64; `None` if there are none, or with a dynamic
/// dimension.
#[expect(clippy::cast_precision_loss, reason = "f64 is what statistics are recorded in")]
fn element_count(shape: &Shape) -> Option<f64> {
    let exactly = shape.element_count();
    if shape.is_dynamic() || exactly == Some(0) {
        return None;
    }
    let roughly = || shape.dimensions().iter().map(|&size| size as f64).product();
    Some(exactly.map_or_else(roughly, |count| count as f64))
}

/// What is called with each element of a piece: its logical index and the position of its value.
type Visit<'a> = dyn FnMut(&[u64], usize) + 'a;

/// Sums up the values of all pieces.
fn summarize<T: Send, B: AsRef<[u8]> + Sync>(
    numbers: &Numbers<B>,
    pieces: Vec<T>,
    walk: impl Fn(T, &mut Visit<'_>) + Sync + Send,
) -> Result<Summary, NumberError> {
    let parts = map_with(pieces, Vec::new, |found: &mut Vec<f64>, piece| {
        found.clear();
        let mut error = None;
        walk(piece, &mut |index, position| match numbers.get(index, position) {
            Ok(number) => found.push(number),
            Err(reason) => drop(error.get_or_insert(reason)),
        });
        error.map_or_else(|| Ok(Summary::of(found)), Err)
    });
    parts.into_iter().try_fold(Summary::of(&[]), |sum, part| Ok(sum.merge(part?)))
}

/// What has to be known of some numbers to know their statistics.
#[derive(Clone, Copy, Debug)]
struct Summary {
    count: f64,
    mean: f64,
    /// The sum of the squared distances to the mean.
    squares: f64,
    min: f64,
    max: f64,
    has_nan: bool,
    has_inf: bool,
}

impl Summary {
    #[expect(clippy::cast_precision_loss, reason = "pieces are small")]
    fn of(numbers: &[f64]) -> Self {
        let count = numbers.len() as f64;
        let mean = if count == 0.0 { 0.0 } else { numbers.iter().sum::<f64>() / count };
        Self {
            count,
            mean,
            squares: numbers.iter().map(|number| (number - mean).powi(2)).sum(),
            min: numbers.iter().copied().fold(f64::INFINITY, f64::min),
            max: numbers.iter().copied().fold(f64::NEG_INFINITY, f64::max),
            has_nan: numbers.iter().any(|number| number.is_nan()),
            has_inf: numbers.iter().any(|number| number.is_infinite()),
        }
    }

    /// `count` zeros.
    fn zeros(count: f64) -> Self {
        Self { count, min: 0.0, max: 0.0, ..Self::of(&[]) }
    }

    /// The summary of both together.
    fn merge(self, other: Self) -> Self {
        let count = self.count + other.count;
        if count == 0.0 {
            return self;
        }
        Self {
            count,
            // Not the mean of one and a part of the distance to the other, which very many zeros
            // would leave without digits.
            mean: (self.mean * self.count + other.mean * other.count) / count,
            squares: self.squares
                + other.squares
                + (other.mean - self.mean).powi(2) * self.count * (other.count / count),
            min: self.min.min(other.min),
            max: self.max.max(other.max),
            has_nan: self.has_nan | other.has_nan,
            has_inf: self.has_inf | other.has_inf,
        }
    }

    /// The statistics of a tensor whose `nnz` stored elements these are.
    #[expect(clippy::cast_precision_loss, reason = "f64 is what they are recorded in")]
    fn statistics(self, shape: &Shape, nnz: usize) -> Statistics {
        let mut statistics = of_structure(shape, nnz);
        let (has_nan, has_inf) = (self.has_nan, self.has_inf);
        statistics.non_finite = Some(NonFinite { has_nan, has_inf });
        let Some(elements) = element_count(shape).filter(|_| !has_nan) else { return statistics };
        let implicit = match shape.element_count() {
            Some(count) => count.saturating_sub(to_u64(nnz)) as f64,
            None => elements - nnz as f64,
        };
        let all = if implicit > 0.0 { self.merge(Self::zeros(implicit)) } else { self };
        // Adding 0 makes one of both zeros, so that the order of values does not matter.
        let (min, max) = (all.min + 0.0, all.max + 0.0);
        statistics.range = Some(ValueRange { min, max, abs_max: min.abs().max(max.abs()) });
        let (mean, stddev) = (all.mean + 0.0, (all.squares / all.count).sqrt());
        if all.count.is_finite() && mean.is_finite() && stddev.is_finite() {
            statistics.moments = Some(Moments { mean, stddev });
        }
        statistics
    }
}

/// Holds recorded statistics against those computed from the values. What either of them leaves
/// unknown is not compared; the N:M pattern never is.
///
/// Sparsity, mean and standard deviation may be off by [`TOLERANCE`], all others are exact.
///
/// ```
/// use hurray_csf::statistics::{self, StatisticsError};
/// use hurray_format::descriptor::Statistics;
///
/// let computed = Statistics { nnz: Some(4), sparsity: Some(20.0 / 24.0), ..Default::default() };
/// let recorded = Statistics { sparsity: Some(0.9), ..Default::default() };
/// let error = statistics::check(&recorded, &computed).unwrap_err();
/// assert_eq!(
///     error.to_string(),
///     "statistics: sparsity is recorded as 0.9, but the values give 0.8333333333333334"
/// );
/// # Ok::<(), StatisticsError>(())
/// ```
///
/// # Errors
/// The first field that does not hold, in the order of the section.
pub fn check(recorded: &Statistics, computed: &Statistics) -> Result<(), StatisticsError> {
    if let (Some(found), Some(expected)) = (recorded.nnz, computed.nnz)
        && found != expected
    {
        return Err(StatisticsError::Nnz { found, expected });
    }
    if let (Some(found), Some(expected)) = (recorded.sparsity, computed.sparsity) {
        number("sparsity", found, expected, TOLERANCE)?;
    }
    if let (Some(found), Some(expected)) = (recorded.range, computed.range) {
        number("min", found.min, expected.min, 0.0)?;
        number("max", found.max, expected.max, 0.0)?;
        number("abs_max", found.abs_max, expected.abs_max, 0.0)?;
    }
    if let (Some(found), Some(expected)) = (recorded.moments, computed.moments) {
        let tolerance = TOLERANCE * expected.mean.hypot(expected.stddev);
        number("mean", found.mean, expected.mean, tolerance)?;
        number("stddev", found.stddev, expected.stddev, tolerance)?;
    }
    if let (Some(found), Some(expected)) = (recorded.non_finite, computed.non_finite) {
        flag("has_nan", found.has_nan, expected.has_nan)?;
        flag("has_inf", found.has_inf, expected.has_inf)?;
    }
    Ok(())
}

fn number(
    field: &'static str,
    found: f64,
    expected: f64,
    tolerance: f64,
) -> Result<(), StatisticsError> {
    // Equal infinities have no difference, and NaN is near to nothing.
    if found == expected || (found - expected).abs() <= tolerance {
        return Ok(());
    }
    Err(StatisticsError::Number { field, found, expected })
}

fn flag(field: &'static str, found: bool, expected: bool) -> Result<(), StatisticsError> {
    if found == expected {
        return Ok(());
    }
    Err(StatisticsError::Flag { field, found: found.into(), expected: expected.into() })
}

/// Recorded statistics that the values do not have (docs/format.md, "Statistics").
#[derive(Clone, Copy, Debug, PartialEq, Error)]
#[non_exhaustive]
pub enum StatisticsError {
    /// The number of stored elements.
    #[error("statistics: nnz is recorded as {found}, but {expected} elements are stored")]
    Nnz {
        /// The number recorded.
        found: u64,
        /// The number of stored elements.
        expected: u64,
    },
    /// A number.
    #[error("statistics: {field} is recorded as {found:?}, but the values give {expected:?}")]
    Number {
        /// The field.
        field: &'static str,
        /// The number recorded.
        found: f64,
        /// The number computed.
        expected: f64,
    },
    /// A flag.
    #[error("statistics: {field} is recorded as {found}, but the values give {expected}")]
    Flag {
        /// The field.
        field: &'static str,
        /// The flag recorded.
        found: u8,
        /// The flag computed.
        expected: u8,
    },
}
