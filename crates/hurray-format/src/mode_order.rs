//! Which logical dimension each level of a CSF tree stores.

use std::fmt;

use crate::cast::to_u64;
use crate::error::FormatError;
use crate::shape::{MAX_RANK, Shape};

/// A permutation of the dimensions `0..rank`, from the outermost level of a CSF tree to the leaf
/// level (docs/format.md, "Mode Ordering").
///
/// It cannot be invalid: every constructor checks it.
///
/// ```
/// use hurray_format::{ModeOrder, Shape};
///
/// let order = ModeOrder::new([2, 0, 1])?;
/// assert_eq!(order.dimension(0), 2); // the outermost level stores dimension 2
/// assert_eq!(order.level(2), 0);
///
/// let shape = Shape::new([30, 10, 20])?;
/// assert_eq!(ModeOrder::shortest_first(&shape).as_slice(), [1, 2, 0]);
/// # Ok::<(), hurray_format::FormatError>(())
/// ```
#[derive(Clone, Debug, PartialEq, Eq, Hash)]
pub struct ModeOrder {
    dimensions: Vec<u32>,
    levels: Vec<u32>,
}

impl ModeOrder {
    /// Takes the dimension of each level, outermost first.
    ///
    /// # Errors
    /// [`FormatError::RankTooLarge`], [`FormatError::ModeOrderRange`] or
    /// [`FormatError::ModeOrderDuplicate`] if it is not a permutation of `0..rank` with at most
    /// 64 entries.
    pub fn new(dimensions: impl Into<Vec<u32>>) -> Result<Self, FormatError> {
        let dimensions = dimensions.into();
        let rank = dimensions.len();
        if rank > MAX_RANK {
            return Err(FormatError::RankTooLarge { rank: to_u64(rank) });
        }
        const ABSENT: u32 = u32::MAX;
        let mut levels = vec![ABSENT; rank];
        for (level, (&dimension, number)) in dimensions.iter().zip(0u32..).enumerate() {
            match levels.get_mut(dimension as usize) {
                None => return Err(FormatError::ModeOrderRange { level, dimension, rank }),
                Some(slot) if *slot != ABSENT => {
                    return Err(FormatError::ModeOrderDuplicate { level, dimension });
                }
                Some(slot) => *slot = number,
            }
        }
        Ok(Self { dimensions, levels })
    }

    /// The order `[0, 1, ..., rank - 1]`, the default of the format.
    ///
    /// # Errors
    /// [`FormatError::RankTooLarge`] for a rank above 64.
    pub fn identity(rank: usize) -> Result<Self, FormatError> {
        if rank > MAX_RANK {
            return Err(FormatError::RankTooLarge { rank: to_u64(rank) });
        }
        Self::new((0u32..).take(rank).collect::<Vec<_>>())
    }

    /// The shortest dimension outermost, equal ones by dimension number. Trees in this order tend
    /// to be small, since their upper levels have few nodes.
    #[must_use]
    pub fn shortest_first(shape: &Shape) -> Self {
        let mut dimensions: Vec<u32> = (0u32..).take(shape.rank()).collect();
        dimensions.sort_by_key(|&d| shape.dimensions()[d as usize]);
        let mut levels = vec![0; dimensions.len()];
        for (&dimension, level) in dimensions.iter().zip(0u32..) {
            levels[dimension as usize] = level;
        }
        Self { dimensions, levels }
    }

    /// The number of levels, which is the rank of the tensor.
    #[must_use]
    pub fn rank(&self) -> usize {
        self.dimensions.len()
    }

    /// The dimension stored at `level`.
    ///
    /// # Panics
    /// If there is no such level.
    #[must_use]
    #[inline]
    pub fn dimension(&self, level: usize) -> usize {
        self.dimensions[level] as usize
    }

    /// The level that stores `dimension`.
    ///
    /// # Panics
    /// If there is no such dimension.
    #[must_use]
    #[inline]
    pub fn level(&self, dimension: usize) -> usize {
        self.levels[dimension] as usize
    }

    /// The dimension of each level, outermost first, as stored in a descriptor.
    #[must_use]
    pub fn as_slice(&self) -> &[u32] {
        &self.dimensions
    }

    /// Whether this is `[0, 1, ..., rank - 1]`.
    #[must_use]
    pub fn is_identity(&self) -> bool {
        self.dimensions == self.levels && self.dimensions.is_sorted()
    }
}

impl fmt::Display for ModeOrder {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        fmt::Debug::fmt(&self.dimensions, f)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_mode_order_is_a_permutation() {
        assert_eq!(
            ModeOrder::new([0, 3, 1]),
            Err(FormatError::ModeOrderRange { level: 1, dimension: 3, rank: 3 })
        );
        assert_eq!(
            ModeOrder::new([0, u32::MAX, 1]),
            Err(FormatError::ModeOrderRange { level: 1, dimension: u32::MAX, rank: 3 })
        );
        assert_eq!(
            ModeOrder::new([0, 1, 0]),
            Err(FormatError::ModeOrderDuplicate { level: 2, dimension: 0 })
        );
        assert_eq!(ModeOrder::new(vec![0; 65]), Err(FormatError::RankTooLarge { rank: 65 }));
    }

    #[test]
    fn level_is_the_inverse_of_dimension() {
        let order = ModeOrder::new([2, 0, 3, 1]).unwrap();
        for level in 0..4 {
            assert_eq!(order.level(order.dimension(level)), level);
        }
        assert!(!order.is_identity());
        assert!(!ModeOrder::new([1, 0, 2]).unwrap().is_identity());
        assert!(ModeOrder::identity(64).unwrap().is_identity());
        assert!(ModeOrder::identity(65).is_err());
    }

    #[test]
    fn shortest_first_breaks_ties_by_dimension_number() {
        let shape = Shape::new([5, 2, 5, 2]).unwrap();
        let order = ModeOrder::shortest_first(&shape);
        assert_eq!(order.as_slice(), [1, 3, 0, 2]);
        assert_eq!(ModeOrder::new([1, 3, 0, 2]).unwrap(), order);
    }
}
