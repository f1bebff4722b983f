//! The statistics section: what somebody says about the values, which nobody may rely on
//! (docs/format.md, "Statistics").

use super::DescriptorError;
use crate::error::{DecodeError, FormatError};
use crate::wire::{Cursor, Put};

/// Statistics over **all** logical elements, implicit zeros included, dequantized. What is `None`
/// is not known.
#[derive(Clone, Copy, Debug, Default, PartialEq)]
pub struct Statistics {
    /// The number of stored elements; that of the layout where it has one.
    pub nnz: Option<u64>,
    /// The part of the elements that is 0, from 0 to 1.
    pub sparsity: Option<f64>,
    /// The smallest and largest values.
    pub range: Option<ValueRange>,
    /// Mean and standard deviation.
    pub moments: Option<Moments>,
    /// At most `n` of every `m` elements are not 0.
    pub pattern: Option<Pattern>,
    /// Whether there are values that are not finite numbers.
    pub non_finite: Option<NonFinite>,
}

/// The smallest and largest values.
#[derive(Clone, Copy, Debug, Default, PartialEq)]
pub struct ValueRange {
    /// The smallest value.
    pub min: f64,
    /// The largest value.
    pub max: f64,
    /// The largest absolute value.
    pub abs_max: f64,
}

/// Mean and standard deviation.
#[derive(Clone, Copy, Debug, Default, PartialEq)]
pub struct Moments {
    /// The mean.
    pub mean: f64,
    /// The standard deviation, not negative.
    pub stddev: f64,
}

/// N:M sparsity: at most `n` of every `m` elements are not 0.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Pattern {
    /// The number of non-zeros, at most `m`.
    pub n: u8,
    /// Among how many elements.
    pub m: u8,
}

/// Whether there are values that are not finite numbers.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct NonFinite {
    /// Whether there is a NaN.
    pub has_nan: bool,
    /// Whether there is an infinity.
    pub has_inf: bool,
}

const NNZ: u32 = 1 << 0;
const SPARSITY: u32 = 1 << 1;
const RANGE: u32 = 1 << 2;
const MOMENTS: u32 = 1 << 3;
const PATTERN: u32 = 1 << 4;
const NON_FINITE: u32 = 1 << 5;
const KNOWN: u32 = (1 << 6) - 1;

impl Statistics {
    pub(super) fn decode(cursor: &mut Cursor<'_>) -> Result<Self, DecodeError> {
        let start = cursor.clone();
        let mask = cursor.u32("mask")?;
        if mask & !KNOWN != 0 {
            let found = u64::from(mask & !KNOWN);
            let allowed = "0 but for its lowest 6 bits";
            return Err(start.error("mask", FormatError::Field { field: "mask", found, allowed }));
        }
        cursor.reserved("reserved", 4)?;
        let has = |bit: u32| mask & bit != 0;
        let statistics = Self {
            nnz: Some(cursor.u64("statistics_nnz")?).filter(|_| has(NNZ)),
            sparsity: Some(cursor.f64("sparsity")?).filter(|_| has(SPARSITY)),
            range: Some(ValueRange {
                min: cursor.f64("min")?,
                max: cursor.f64("max")?,
                abs_max: cursor.f64("abs_max")?,
            })
            .filter(|_| has(RANGE)),
            moments: Some(Moments { mean: cursor.f64("mean")?, stddev: cursor.f64("stddev")? })
                .filter(|_| has(MOMENTS)),
            pattern: Some(Pattern { n: cursor.u8("n")?, m: cursor.u8("m")? })
                .filter(|_| has(PATTERN)),
            // Without its bit a field is unknown, whatever it holds.
            non_finite: if has(NON_FINITE) {
                Some(NonFinite {
                    has_nan: cursor.flag("has_nan")?,
                    has_inf: cursor.flag("has_inf")?,
                })
            } else {
                cursor.bytes("has_nan", 2)?;
                None
            },
        };
        cursor.reserved("reserved", 4)?;
        Ok(statistics)
    }

    pub(super) fn encode(&self, out: &mut Vec<u8>) {
        let bit = |known: bool, bit: u32| if known { bit } else { 0 };
        out.put_u32(
            bit(self.nnz.is_some(), NNZ)
                | bit(self.sparsity.is_some(), SPARSITY)
                | bit(self.range.is_some(), RANGE)
                | bit(self.moments.is_some(), MOMENTS)
                | bit(self.pattern.is_some(), PATTERN)
                | bit(self.non_finite.is_some(), NON_FINITE),
        );
        out.put_u32(0);
        out.put_u64(self.nnz.unwrap_or_default());
        out.put_f64(self.sparsity.unwrap_or_default());
        let ValueRange { min, max, abs_max } = self.range.unwrap_or_default();
        let Moments { mean, stddev } = self.moments.unwrap_or_default();
        [min, max, abs_max, mean, stddev].into_iter().for_each(|number| out.put_f64(number));
        let Pattern { n, m } = self.pattern.unwrap_or_default();
        let NonFinite { has_nan, has_inf } = self.non_finite.unwrap_or_default();
        out.put(&[n, m, has_nan.into(), has_inf.into(), 0, 0, 0, 0]);
    }

    /// What is known lies in its range, and nnz is that of the layout where it has one.
    pub(super) fn validate(&self, nnz: Option<u64>) -> Result<(), FormatError> {
        if let (Some(found), Some(nnz)) = (self.nnz, nnz)
            && found != nnz
        {
            return Err(DescriptorError::StatisticsNnz { found, nnz }.into());
        }
        if let Some(found) = self.sparsity
            && !(0.0..=1.0).contains(&found)
        {
            let (field, allowed) = ("sparsity", "from 0 to 1");
            return Err(FormatError::Number { field, found, allowed });
        }
        if let Some(Moments { stddev: found, .. }) = self.moments
            && found < 0.0
        {
            let (field, allowed) = ("stddev", "at least 0");
            return Err(FormatError::Number { field, found, allowed });
        }
        match self.pattern {
            Some(Pattern { n, m }) if n > m => Err(DescriptorError::Pattern { n, m }.into()),
            _ => Ok(()),
        }
    }
}
