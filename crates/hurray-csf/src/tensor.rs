//! A tree together with the values of its leaves.

use hurray_format::{AlignedBytes, FormatError, Values};

use crate::tree::Csf;

/// A sparse tensor: a tree, and one value per leaf.
#[derive(Clone, Debug)]
pub struct Tensor<S = Vec<u64>, B = AlignedBytes> {
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

    /// The tree and the values.
    #[must_use]
    pub fn into_parts(self) -> (Csf<S>, Values<B>) {
        (self.tree, self.values)
    }
}
