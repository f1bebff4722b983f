//! A tree together with the values of its leaves.

use hurray_format::cast::to_u64;
use hurray_format::{AlignedBytes, AlignedWords, FormatError, TensorDescriptor, Values};
use zerocopy::IntoBytes;

use crate::tree::Csf;

/// A sparse tensor: a tree, and one value per leaf.
#[derive(Clone, Debug)]
pub struct Tensor<S = AlignedWords, B = AlignedBytes> {
    tree: Csf<S>,
    values: Values<B>,
}

impl<S: AsRef<[u64]>, B: AsRef<[u8]>> Tensor<S, B> {
    /// Puts a tree and its values together. Constant time.
    ///
    /// # Errors
    /// [`FormatError::ValueCount`] unless there is one value per leaf.
    pub fn new(tree: Csf<S>, values: Values<B>) -> Result<Self, FormatError> {
        if values.len() != tree.nnz() {
            return Err(FormatError::ValueCount { found: values.len(), nnz: tree.nnz() });
        }
        Ok(Self { tree, values })
    }

    /// The tree.
    #[must_use]
    pub fn tree(&self) -> &Csf<S> {
        &self.tree
    }

    /// The values; the value of leaf `p` is at position `p`.
    #[must_use]
    pub fn values(&self) -> &Values<B> {
        &self.values
    }

    /// The descriptor of the tensor in main memory; statistics, or a quantization of its values,
    /// can be added to it. O(rank).
    ///
    /// # Errors
    /// [`FormatError::Layout`] for a tree without leaves that has inner nodes.
    pub fn descriptor(&self) -> Result<TensorDescriptor, FormatError> {
        let tree = &self.tree;
        let levels = (0..tree.rank()).map(|level| tree.level(level));
        let node_counts: Vec<u64> = levels.map(|(_, crd)| to_u64(crd.len())).collect();
        let (shape, mode_order) = (tree.shape().clone(), tree.mode_order());
        TensorDescriptor::csf(shape, self.values.element_type(), mode_order, &node_counts)
    }

    /// The buffers that belong to [`Tensor::descriptor`], as they lie (docs/format.md, "Buffer
    /// Table"): the values, then `pos` and `crd` of each level.
    #[must_use]
    pub fn buffers(&self) -> Vec<&[u8]> {
        let levels = (0..self.tree.rank()).map(|level| self.tree.level(level));
        let arrays = levels.flat_map(|(pos, crd)| [pos.as_bytes(), crd.as_bytes()]);
        std::iter::once(self.values.bytes()).chain(arrays).collect()
    }

    /// The tree and the values.
    #[must_use]
    pub fn into_parts(self) -> (Csf<S>, Values<B>) {
        (self.tree, self.values)
    }
}
