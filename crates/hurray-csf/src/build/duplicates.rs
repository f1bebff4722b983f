//! What happens to entries with the same index, and to zeros.

use std::fmt;

use half::{bf16, f16};
use hurray_format::element::Complex;
use hurray_format::{ElementType, Scalar};

use super::error::BuildError;
use super::keys::{Key, KeyLayout};

/// What to do with entries that have the same index.
///
/// [`Sum`](Duplicates::Sum), [`Min`](Duplicates::Min) and [`Max`](Duplicates::Max) exist for the
/// integers and floats of 8 to 64 bits that are plain numbers (float16, bfloat16, float32,
/// float64, int8 to int64, uint8 to uint64), and sums for complex64 and complex128 as well. For
/// any other type they are refused before anything is built, duplicates or not. The rest works
/// for every type.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Hash)]
#[non_exhaustive]
pub enum Duplicates {
    /// They are an error.
    #[default]
    Error,
    /// Their sum, taken in input order. float16 and bfloat16 are summed in float32 and rounded
    /// once; a sum of integers must fit into the type, whatever it passes through on the way.
    Sum,
    /// The first one in the input.
    First,
    /// The last one in the input.
    Last,
    /// The smallest. -0.0 is below 0.0; the first NaN, if there is one, is the result.
    Min,
    /// The largest. 0.0 is above -0.0; the first NaN, if there is one, is the result.
    Max,
}

impl fmt::Display for Duplicates {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(match self {
            Duplicates::Error => "error",
            Duplicates::Sum => "sum",
            Duplicates::First => "first",
            Duplicates::Last => "last",
            Duplicates::Min => "min",
            Duplicates::Max => "max",
        })
    }
}

/// From the values of one index to the bytes of the result; `None` if the type cannot hold it.
type Computation = fn(&[u8]) -> Option<[u8; 16]>;

/// How to merge the values of one index.
#[derive(Clone, Copy)]
enum Merge {
    Refuse,
    First,
    Last,
    Compute(Computation),
}

/// How to make one value per index, and which values to drop.
pub(crate) struct Merger {
    element_type: ElementType,
    merge: Merge,
    /// The bits of which a zero has none, by byte; `None` where nothing is dropped.
    zero_mask: Option<Vec<u8>>,
}

impl Merger {
    /// Decides for an element type.
    ///
    /// # Errors
    /// [`BuildError::NoArithmetic`] if the type does not have what the choice needs.
    pub(crate) fn new(
        element_type: ElementType,
        duplicates: Duplicates,
        drop_zeros: bool,
    ) -> Result<Self, BuildError> {
        let merge = match duplicates {
            Duplicates::Error => Merge::Refuse,
            Duplicates::First => Merge::First,
            Duplicates::Last => Merge::Last,
            Duplicates::Sum | Duplicates::Min | Duplicates::Max => Merge::Compute(
                computation(element_type, duplicates)
                    .ok_or(BuildError::NoArithmetic { element_type, duplicates })?,
            ),
        };
        let zero_mask = drop_zeros.then(|| zero_mask(element_type)).flatten();
        Ok(Self { element_type, merge, zero_mask })
    }

    /// Whether entries without duplicates may need merging, too.
    pub(crate) fn drops_zeros(&self) -> bool {
        self.zero_mask.is_some()
    }

    /// Merges sorted entries in place and moves those that are left to the beginning of `keys`
    /// and of `values`, which holds `width` bytes each. Returns how many are left.
    ///
    /// # Errors
    /// [`BuildError::SumOverflow`]; the index of the first duplicate if there must be none.
    pub(crate) fn apply<const W: usize>(
        &self,
        keys: &mut [Key<W>],
        values: &mut [u8],
        width: usize,
        layout: &KeyLayout,
    ) -> Result<usize, MergeError> {
        let (mut begin, mut kept) = (0, 0);
        while begin < keys.len() {
            let key = keys[begin];
            let run = keys[begin..].iter().take_while(|&&other| other == key).count();
            let end = begin + run;
            let to = kept * width;
            match self.merge {
                _ if run == 1 => values.copy_within(begin * width..end * width, to),
                Merge::Refuse => return Err(MergeError::Duplicate(layout.index(&key))),
                Merge::First => values.copy_within(begin * width..(begin + 1) * width, to),
                Merge::Last => values.copy_within((end - 1) * width..end * width, to),
                Merge::Compute(compute) => {
                    let merged = compute(&values[begin * width..end * width]).ok_or_else(|| {
                        let element_type = self.element_type;
                        BuildError::SumOverflow { index: layout.index(&key), element_type }
                    })?;
                    values[to..][..width].copy_from_slice(&merged[..width]);
                }
            }
            if !self.is_dropped(&values[to..][..width]) {
                keys[kept] = key;
                kept += 1;
            }
            begin = end;
        }
        Ok(kept)
    }

    fn is_dropped(&self, value: &[u8]) -> bool {
        let mask = self.zero_mask.as_deref();
        mask.is_some_and(|mask| value.iter().zip(mask).all(|(byte, mask)| byte & mask == 0))
    }
}

/// Why entries cannot be merged.
pub(crate) enum MergeError {
    /// This index is there more than once; the input tells where.
    Duplicate(Vec<u64>),
    /// Anything else.
    Other(BuildError),
}

impl From<BuildError> for MergeError {
    fn from(error: BuildError) -> Self {
        Self::Other(error)
    }
}

/// All bits but the signs of an element type that has a zero. float8_e8m0 has none, and of the
/// bits of private types nothing is known.
fn zero_mask(element_type: ElementType) -> Option<Vec<u8>> {
    use ElementType::*;
    let bytes = (element_type.bits() as usize).div_ceil(8);
    let mut mask = vec![0xFF; bytes];
    match element_type {
        Private(_) | Float8E8M0 => return None,
        Float4E2M1 => mask[0] = 0x07,
        Float6E2M3 | Float6E3M2 => mask[0] = 0x1F,
        Float16 | BFloat16 | Float32 | Float64 | Float128 | Float8E4M3 | Float8E5M2 => {
            mask[bytes - 1] = 0x7F;
        }
        Complex64 | Complex128 => {
            mask[bytes / 2 - 1] = 0x7F;
            mask[bytes - 1] = 0x7F;
        }
        _ => {}
    }
    Some(mask)
}

/// The function that merges values of an element type, `None` if there is none.
fn computation(element_type: ElementType, duplicates: Duplicates) -> Option<Computation> {
    fn number<T: Number>(duplicates: Duplicates) -> Option<Computation> {
        Some(match duplicates {
            Duplicates::Sum => sum::<T>,
            Duplicates::Min => |values| extreme::<T>(values, T::is_below),
            Duplicates::Max => |values| extreme::<T>(values, |a, b| b.is_below(a)),
            _ => return None,
        })
    }
    let is_sum = duplicates == Duplicates::Sum;
    match element_type {
        ElementType::Float16 => number::<f16>(duplicates),
        ElementType::BFloat16 => number::<bf16>(duplicates),
        ElementType::Float32 => number::<f32>(duplicates),
        ElementType::Float64 => number::<f64>(duplicates),
        ElementType::Int8 => number::<i8>(duplicates),
        ElementType::Uint8 => number::<u8>(duplicates),
        ElementType::Int16 => number::<i16>(duplicates),
        ElementType::Uint16 => number::<u16>(duplicates),
        ElementType::Int32 => number::<i32>(duplicates),
        ElementType::Uint32 => number::<u32>(duplicates),
        ElementType::Int64 => number::<i64>(duplicates),
        ElementType::Uint64 => number::<u64>(duplicates),
        ElementType::Complex64 if is_sum => Some(sum::<Complex<f32>>),
        ElementType::Complex128 if is_sum => Some(sum::<Complex<f64>>),
        _ => None,
    }
}

/// A type whose values can be added up.
trait Summand: Scalar {
    /// What a sum is held in on the way.
    type Sum;
    fn widen(self) -> Self::Sum;
    fn add(sum: Self::Sum, value: Self) -> Self::Sum;
    /// The sum as the type, `None` if it cannot hold it.
    fn narrow(sum: Self::Sum) -> Option<Self>;
}

/// A type whose values have an order.
trait Number: Summand {
    fn is_nan(self) -> bool;
    /// A total order of what is not NaN.
    fn is_below(self, other: Self) -> bool;
}

fn read<T: Scalar>(values: &[u8]) -> impl Iterator<Item = T> + '_ {
    values.chunks_exact(size_of::<T>()).filter_map(|bytes| T::read_from_bytes(bytes).ok())
}

fn to_bytes<T: Scalar>(value: T) -> [u8; 16] {
    let mut bytes = [0; 16];
    bytes[..size_of::<T>()].copy_from_slice(value.as_bytes());
    bytes
}

fn sum<T: Summand>(values: &[u8]) -> Option<[u8; 16]> {
    let mut values = read::<T>(values);
    let first = values.next()?.widen();
    T::narrow(values.fold(first, T::add)).map(to_bytes)
}

/// The first value that no other one beats, or the first NaN.
fn extreme<T: Number>(values: &[u8], beats: impl Fn(T, T) -> bool) -> Option<[u8; 16]> {
    let best = read::<T>(values).reduce(|best, value| {
        let takes_over = !best.is_nan() && (value.is_nan() || beats(value, best));
        if takes_over { value } else { best }
    });
    best.map(to_bytes)
}

macro_rules! integers {
    ($($rust:ty)*) => {$(
        impl Summand for $rust {
            // Wide enough for any sum of as many values as fit into memory.
            type Sum = i128;
            fn widen(self) -> i128 {
                self.into()
            }
            fn add(sum: i128, value: Self) -> i128 {
                sum + i128::from(value)
            }
            fn narrow(sum: i128) -> Option<Self> {
                sum.try_into().ok()
            }
        }
        impl Number for $rust {
            fn is_nan(self) -> bool {
                false
            }
            fn is_below(self, other: Self) -> bool {
                self < other
            }
        }
    )*};
}
integers! { i8 u8 i16 u16 i32 u32 i64 u64 }

macro_rules! floats {
    ($($rust:ty, $sum:ty, $narrow:expr;)*) => {$(
        impl Summand for $rust {
            type Sum = $sum;
            fn widen(self) -> $sum {
                self.into()
            }
            fn add(sum: $sum, value: Self) -> $sum {
                sum + <$sum>::from(value)
            }
            fn narrow(sum: $sum) -> Option<Self> {
                Some($narrow(sum))
            }
        }
        impl Number for $rust {
            fn is_nan(self) -> bool {
                <$rust>::is_nan(self)
            }
            fn is_below(self, other: Self) -> bool {
                self.total_cmp(&other).is_lt()
            }
        }
    )*};
}
floats! {
    f16, f32, f16::from_f32;
    bf16, f32, bf16::from_f32;
    f32, f32, |sum| sum;
    f64, f64, |sum| sum;
}

macro_rules! complex {
    ($($part:ty)*) => {$(
        impl Summand for Complex<$part> {
            type Sum = Self;
            fn widen(self) -> Self {
                self
            }
            fn add(sum: Self, value: Self) -> Self {
                Complex { re: sum.re + value.re, im: sum.im + value.im }
            }
            fn narrow(sum: Self) -> Option<Self> {
                Some(sum)
            }
        }
    )*};
}
complex! { f32 f64 }
