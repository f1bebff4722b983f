//! COO, the coordinate list: the neighbour that most tensors come from
//! (docs/format.md, "Layouts").

use hurray_format::layout::{CooLayout, LayoutDescriptor};
use hurray_format::{AlignedBytes, FormatError, ModeOrder, Shape, Values, cast::to_u64};

use crate::build::{self, BLOCK, BuildError, Builder, Checked, Indices, map};
use crate::error::{CooViolation, IndexError, StructureError};
use crate::lookup::check_index;
use crate::tensor::Tensor;

/// Entries that one task validates.
const TASK: usize = 64 * BLOCK;

/// A tensor as a list of indices and values, over whoever holds them.
///
/// A **valid** list has coordinates in range and no index twice, and if it is said to be sorted,
/// its indices increase strictly in lexicographic order, dimension 0 first. The type itself
/// promises less: a rank of at least 1 and one row of coordinates per value;
/// [`Coo::validate`] checks the rest. Wrong contents, and storage that changes, give wrong answers,
/// never a panic, as with a [`Csf`](crate::Csf).
///
/// ```
/// use hurray_csf::Coo;
/// use hurray_format::{ModeOrder, Shape, Values};
///
/// let coordinates = [0u64, 0, 1, 0, 2, 3, 1, 1, 0, 1, 1, 2];
/// let values = Values::from_slice(&[1.0f32, 2.0, 3.0, 4.0]);
/// let coo = Coo::new(Shape::new([2, 3, 4])?, true, coordinates, values)?;
/// coo.validate()?;
/// assert_eq!(coo.lookup(&[1, 1, 2])?, Some(3));
///
/// let tensor = coo.to_csf(ModeOrder::identity(3)?)?;
/// assert_eq!(tensor.tree().node_count(1), 3);
/// # Ok::<(), Box<dyn std::error::Error>>(())
/// ```
#[derive(Clone, Debug)]
pub struct Coo<C = Vec<u64>, B = AlignedBytes> {
    shape: Shape,
    is_sorted: bool,
    coordinates: C,
    values: Values<B>,
}

impl<C: AsRef<[u64]> + Sync, B: AsRef<[u8]> + Sync> Coo<C, B> {
    /// Puts a list together; the coordinates are row-major, one row of `rank` per value.
    /// Constant time.
    ///
    /// # Errors
    /// [`StructureError::Format`] for a scalar shape, [`StructureError::CoordinateCount`] if the
    /// lengths do not match.
    pub fn new(
        shape: Shape,
        is_sorted: bool,
        coordinates: C,
        values: Values<B>,
    ) -> Result<Self, StructureError> {
        let layout = CooLayout::new(to_u64(values.len()), is_sorted);
        LayoutDescriptor::Coo(layout).validate_against_shape(&shape)?;
        let (nnz, rank, found) = (values.len(), shape.rank(), coordinates.as_ref().len());
        let expected = nnz.checked_mul(rank);
        let expected = expected.ok_or(FormatError::SizeOverflow { what: "the coordinates" })?;
        if found != expected {
            return Err(StructureError::CoordinateCount { found, nnz, rank });
        }
        Ok(Self { shape, is_sorted, coordinates, values })
    }

    /// The logical shape.
    #[must_use]
    pub fn shape(&self) -> &Shape {
        &self.shape
    }

    /// Whether the indices are said to be in lexicographic order.
    #[must_use]
    pub fn is_sorted(&self) -> bool {
        self.is_sorted
    }

    /// The number of stored elements.
    #[must_use]
    pub fn nnz(&self) -> usize {
        self.values.len()
    }

    /// The coordinates, row-major.
    #[must_use]
    pub fn coordinates(&self) -> &[u64] {
        self.coordinates.as_ref()
    }

    /// The values, in the order of the rows.
    #[must_use]
    pub fn values(&self) -> &Values<B> {
        &self.values
    }

    /// The index of the element at `position`, `None` behind the end.
    #[must_use]
    pub fn index(&self, position: usize) -> Option<&[u64]> {
        let rank = self.shape.rank();
        self.coordinates().get(position.checked_mul(rank)?..)?.get(..rank)
    }

    /// The descriptor fields.
    #[must_use]
    pub fn layout(&self) -> CooLayout {
        CooLayout::new(to_u64(self.nnz()), self.is_sorted)
    }

    /// The coordinates and the values.
    #[must_use]
    pub fn into_parts(self) -> (C, Values<B>) {
        (self.coordinates, self.values)
    }

    /// The position of the element with this index, `None` if it is not stored: a binary search
    /// in a sorted list, a scan of an unsorted one.
    ///
    /// # Errors
    /// [`IndexError`] if the index does not have one coordinate per dimension, each in range.
    pub fn lookup(&self, index: &[u64]) -> Result<Option<usize>, IndexError> {
        check_index(&self.shape, index)?;
        let rank = self.shape.rank();
        if !self.is_sorted {
            return Ok(self.coordinates().chunks_exact(rank).position(|row| row == index));
        }
        let (mut low, mut high) = (0, self.nnz());
        while low < high {
            let middle = low + (high - low) / 2;
            if self.index(middle).is_some_and(|row| row < index) {
                low = middle + 1;
            } else {
                high = middle;
            }
        }
        Ok((self.index(low) == Some(index)).then_some(low))
    }

    /// Builds the tree of the list. The values keep their bits.
    ///
    /// # Errors
    /// [`BuildError`] below rank 3, if the mode order is not one of this rank, or if the list is
    /// not valid; whether it is sorted is seen, not believed. For other ways to treat duplicates
    /// give [`Coo::coordinates`] to a [`Builder`].
    pub fn to_csf(&self, mode_order: ModeOrder) -> Result<Tensor, BuildError> {
        Builder::new(self.shape.clone())
            .mode_order(mode_order)
            .build(Indices::Rows(self.coordinates()), self.values.as_view())
    }

    /// Checks that the coordinates are in range, and that the indices are unique or, in a sorted
    /// list, strictly increasing. One parallel pass, and a sort of an unsorted list.
    ///
    /// # Errors
    /// The first coordinate that is out of range; else the first index of a sorted list that does
    /// not lie behind the one before, or the lexicographically first index that an unsorted list
    /// has twice.
    pub fn validate(&self) -> Result<(), CooViolation> {
        let rows = Checked::new(Indices::Rows(self.coordinates()), self.shape.rank())
            .map_err(violation)?;
        if !self.is_sorted {
            return match build::first_duplicate(&self.shape, &rows).map_err(violation)? {
                None => Ok(()),
                Some((index, first, position)) => {
                    Err(CooViolation::Duplicate { position, first, index })
                }
            };
        }
        build::largest_coordinates(&self.shape, &rows).map_err(violation)?;
        let starts = (1..self.nnz()).step_by(TASK).collect();
        let unsorted = map(starts, |start: usize| {
            let mut positions = start..self.nnz().min(start + TASK);
            positions.find(|&at| self.index(at - 1) >= self.index(at))
        });
        match unsorted.into_iter().flatten().next() {
            None => Ok(()),
            Some(position) => {
                let index = self.index(position).unwrap_or_default().to_vec();
                Err(CooViolation::Unsorted { position, index })
            }
        }
    }
}

/// What is wrong with a row, in the words of a list.
fn violation(error: BuildError) -> CooViolation {
    match error {
        BuildError::OutOfRange { entry, dimension, coordinate, size } => {
            CooViolation::OutOfRange { position: entry, dimension, coordinate, size }
        }
        error => CooViolation::Rows(error),
    }
}
