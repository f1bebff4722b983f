//! A tree as a list of coordinates, and in another mode order.
//!
//! Both walk over the leaves; the other mode order is built from them as from any other entries
//! ([`Source`]), without a list of coordinates in between. The values keep their bits.

use hurray_format::{AlignedBytes, ModeOrder, Values};

use crate::build::{BLOCK, Block, BuildError, Builder, Source, map};
use crate::coo::Coo;
use crate::tensor::Tensor;
use crate::tree::Csf;

/// Leaves whose coordinates one task writes.
const TASK: usize = 64 * BLOCK;

impl<S: AsRef<[u64]> + Sync, B: AsRef<[u8]>> Tensor<S, B> {
    /// The same tensor in another mode order. Costs what building it costs.
    ///
    /// ```
    /// use hurray_csf::build::{Builder, Indices};
    /// use hurray_format::{ModeOrder, Shape, Values};
    ///
    /// // The worked example of docs/format.md.
    /// let indices = Indices::Rows(&[0, 0, 1, 0, 2, 3, 1, 1, 0, 1, 1, 2]);
    /// let tensor = Builder::new(Shape::new([2, 3, 4])?)
    ///     .build(indices, Values::from_slice(&[1.0f32, 2.0, 3.0, 4.0]))?;
    ///
    /// let turned = tensor.to_mode_order(ModeOrder::new([2, 0, 1])?)?;
    /// assert_eq!(turned.tree().level(0), (&[0, 4][..], &[0, 1, 2, 3][..]));
    /// assert_eq!(turned.values().as_slice::<f32>()?, [3.0, 1.0, 4.0, 2.0]);
    /// # Ok::<(), Box<dyn std::error::Error>>(())
    /// ```
    ///
    /// # Errors
    /// [`BuildError`] if the mode order is not one of the tensor's rank, or if the tree is not
    /// valid: a coordinate out of range, or an index that is there twice.
    pub fn to_mode_order(&self, mode_order: ModeOrder) -> Result<Tensor, BuildError> {
        Builder::new(self.tree().shape().clone())
            .mode_order(mode_order)
            .build_from(&Leaves(self.tree().as_view()), &self.values().as_view())
    }

    /// The elements as a list of coordinates, in storage order: that is lexicographic order, and
    /// the list says so, in the identity mode order only. O(nnz * rank).
    ///
    /// ```
    /// # use hurray_csf::build::{Builder, Indices};
    /// # use hurray_format::{ModeOrder, Shape, Values};
    /// // Dimension 2 outermost.
    /// let indices = Indices::Rows(&[0, 0, 1, 1, 1, 0]);
    /// let tensor = Builder::new(Shape::new([2, 3, 4])?)
    ///     .mode_order(ModeOrder::new([2, 0, 1])?)
    ///     .build(indices, Values::from_slice(&[1.0, 3.0]))?;
    ///
    /// assert_eq!(tensor.to_coo().coordinates(), [1, 1, 0, 0, 0, 1]);
    /// assert_eq!(tensor.to_sorted_coo()?.coordinates(), [0, 0, 1, 1, 1, 0]);
    /// # Ok::<(), Box<dyn std::error::Error>>(())
    /// ```
    ///
    /// A tree that is not valid gives wrong coordinates, and storage that has lost values none.
    #[must_use]
    pub fn to_coo(&self) -> Coo {
        let (tree, values) = (self.tree(), self.values().as_view());
        let rank = tree.rank();
        let mut coordinates = vec![0; values.len() * rank];
        let pieces = coordinates.chunks_mut(TASK * rank).enumerate().collect();
        map(pieces, |(task, rows): (usize, &mut [u64])| {
            let start = task * TASK;
            let fibers = tree.fibers().within(start..start + rows.len() / rank);
            fibers.leaves().for_each(|index, leaf| {
                rows[(leaf - start) * rank..][..rank].copy_from_slice(index);
            });
        });
        let bytes = AlignedBytes::from(values.bytes());
        Values::new(values.element_type(), values.len(), bytes)
            .map_err(Into::into)
            .and_then(|values| {
                let is_sorted = tree.mode_order().is_identity();
                Coo::new(tree.shape().clone(), is_sorted, coordinates, values)
            })
            .expect("one row of coordinates and one value per leaf")
    }

    /// The elements as a list of coordinates in lexicographic order, dimension 0 first. Costs
    /// [`Tensor::to_coo`], and a change of the mode order unless it is the identity.
    ///
    /// # Errors
    /// [`BuildError`] if the tree is not valid.
    pub fn to_sorted_coo(&self) -> Result<Coo, BuildError> {
        if self.tree().mode_order().is_identity() {
            return Ok(self.to_coo());
        }
        let identity = ModeOrder::identity(self.tree().rank())?;
        Ok(self.to_mode_order(identity)?.to_coo())
    }
}

/// The logical indices of the leaves of a tree, by position.
struct Leaves<'a>(Csf<&'a [u64]>);

impl Source for Leaves<'_> {
    fn len(&self) -> usize {
        self.0.nnz()
    }

    fn fill(&self, start: usize, block: &mut Block) -> bool {
        let len = block.len();
        // Levels that are not valid do not lead to every leaf.
        (0..self.0.rank()).for_each(|dimension| block.column_mut(dimension).fill(0));
        let leaves = self.0.fibers().within(start..start + len).leaves();
        leaves.for_each(|index, leaf| block.set(leaf - start, index));
        false
    }

    fn tree(&self) -> Option<&Csf<&[u64]>> {
        Some(&self.0)
    }
}
