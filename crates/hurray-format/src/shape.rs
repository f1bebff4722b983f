//! The logical dimensions of a tensor.

use std::fmt;

use crate::error::FormatError;

/// The largest rank a tensor can have.
pub const MAX_RANK: usize = 64;

/// The logical dimensions of a tensor: at most [`MAX_RANK`] of them, each from 0 to 2^64 - 2,
/// or [`Shape::DYNAMIC`].
///
/// The product of the dimensions is unlimited; see [`Shape::element_count`].
///
/// ```
/// use hurray_format::Shape;
///
/// let shape = Shape::new([2, 3, 4])?;
/// assert_eq!(shape.rank(), 3);
/// assert_eq!(shape.element_count(), Some(24));
/// assert_eq!(shape.to_string(), "[2, 3, 4]");
/// # Ok::<(), hurray_format::FormatError>(())
/// ```
#[derive(Clone, Debug, PartialEq, Eq, Hash)]
pub struct Shape(Vec<u64>);

impl Shape {
    /// The dimension whose size is not known: no bound can be checked and no size computed.
    pub const DYNAMIC: u64 = u64::MAX;

    /// Takes the dimensions.
    ///
    /// # Errors
    /// [`FormatError::RankTooLarge`] for more than [`MAX_RANK`] dimensions.
    pub fn new(dimensions: impl Into<Vec<u64>>) -> Result<Self, FormatError> {
        let dimensions = dimensions.into();
        if dimensions.len() > MAX_RANK {
            return Err(FormatError::RankTooLarge { rank: crate::cast::to_u64(dimensions.len()) });
        }
        Ok(Self(dimensions))
    }

    /// The number of dimensions, 0 for a scalar.
    #[must_use]
    pub fn rank(&self) -> usize {
        self.0.len()
    }

    /// The dimensions, [`Shape::DYNAMIC`] where one is not known.
    #[must_use]
    pub fn dimensions(&self) -> &[u64] {
        &self.0
    }

    /// Whether any dimension is [`Shape::DYNAMIC`].
    #[must_use]
    pub fn is_dynamic(&self) -> bool {
        self.0.contains(&Self::DYNAMIC)
    }

    /// The number of logical elements, 1 for a scalar, or `None` if it is not known or does not
    /// fit into 64 bits. A dimension of 0 makes it 0, whatever the others are.
    #[must_use]
    pub fn element_count(&self) -> Option<u64> {
        if self.is_dynamic() {
            return None;
        }
        if self.0.contains(&0) {
            return Some(0);
        }
        self.0.iter().try_fold(1u64, |product, &d| product.checked_mul(d))
    }

    /// Whether `coordinate` exists along dimension `dimension`. Along a dynamic dimension every
    /// coordinate does, since no bound is known.
    ///
    /// # Panics
    /// If there is no such dimension.
    #[must_use]
    #[inline]
    pub fn contains(&self, dimension: usize, coordinate: u64) -> bool {
        let bound = self.0[dimension];
        bound == Self::DYNAMIC || coordinate < bound
    }
}

impl AsRef<[u64]> for Shape {
    fn as_ref(&self) -> &[u64] {
        &self.0
    }
}

impl fmt::Display for Shape {
    /// As a list, with `?` for a dynamic dimension.
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str("[")?;
        for (k, &d) in self.0.iter().enumerate() {
            if k > 0 {
                f.write_str(", ")?;
            }
            if d == Self::DYNAMIC { f.write_str("?")? } else { write!(f, "{d}")? }
        }
        f.write_str("]")
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn rank_is_at_most_64() {
        assert_eq!(Shape::new(vec![1; 64]).unwrap().rank(), 64);
        assert_eq!(Shape::new(vec![1; 65]), Err(FormatError::RankTooLarge { rank: 65 }));
    }

    #[test]
    fn element_count_is_none_when_unknown_or_too_large() {
        assert_eq!(Shape::new([]).unwrap().element_count(), Some(1));
        assert_eq!(Shape::new([1 << 40, 1 << 40]).unwrap().element_count(), None);
        assert_eq!(Shape::new([1 << 40, 1 << 40, 0]).unwrap().element_count(), Some(0));
        assert_eq!(Shape::new([2, Shape::DYNAMIC]).unwrap().element_count(), None);
        assert_eq!(Shape::new([0, Shape::DYNAMIC]).unwrap().element_count(), None);
    }

    #[test]
    fn a_dynamic_dimension_has_no_bound() {
        let shape = Shape::new([3, Shape::DYNAMIC, 0]).unwrap();
        assert!(shape.contains(0, 2) && !shape.contains(0, 3));
        assert!(shape.contains(1, u64::MAX));
        assert!(!shape.contains(2, 0));
        assert_eq!(shape.to_string(), "[3, ?, 0]");
    }
}
