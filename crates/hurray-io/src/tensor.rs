//! A tensor's descriptor together with its buffers, and the views of them that its layout allows.

use std::path::PathBuf;

use hurray_csf::{Compressed, Coo, Csf, Level, Major, Numbers, Tensor};
use hurray_format::cast::to_usize;
use hurray_format::{
    Dequantizer, FormatError, LayoutDescriptor, ModeOrder, TensorDescriptor, Values,
};

use crate::buffer::{Buffer, Words};
use crate::error::{Error, TensorError};

/// The descriptor of a tensor and handles to all of its buffers.
///
/// Independent of the [`File`](crate::File) it comes from, and so are the views made from it.
/// Making one costs O(rank): only lengths are checked. What the buffers hold is not, and nothing
/// that works on a view trusts it.
#[derive(Clone, Debug)]
pub struct TensorBuffers {
    path: PathBuf,
    name: String,
    descriptor: TensorDescriptor,
    buffers: Vec<Buffer>,
}

impl TensorBuffers {
    pub(crate) fn new(
        path: PathBuf,
        name: String,
        descriptor: TensorDescriptor,
        buffers: Vec<Buffer>,
    ) -> Self {
        Self { path, name, descriptor, buffers }
    }

    /// The name of the tensor.
    #[must_use]
    pub fn name(&self) -> &str {
        &self.name
    }

    /// What the descriptor says.
    #[must_use]
    pub fn descriptor(&self) -> &TensorDescriptor {
        &self.descriptor
    }

    /// The buffers in the order of the buffer table.
    #[must_use]
    pub fn buffers(&self) -> &[Buffer] {
        &self.buffers
    }

    /// The tensor as a tree with its values, over the buffers as they lie (docs/format.md, "Buffer
    /// Table"). O(rank).
    ///
    /// The values are the stored ones: those of a quantized tensor are not dequantized.
    ///
    /// # Errors
    /// [`Error::Tensor`] if the layout is not CSF, or if the lengths of the buffers do not fit.
    pub fn csf(&self) -> Result<Tensor<Words, Buffer>, Error> {
        self.try_csf().map_err(|error| self.error(error))
    }

    pub(crate) fn try_csf(&self) -> Result<Tensor<Words, Buffer>, TensorError> {
        let LayoutDescriptor::Csf(layout) = &self.descriptor.layout else {
            return Err(self.other_layout("csf"));
        };
        let shape = self.descriptor.shape.clone();
        let levels = (0..shape.rank())
            .map(|level| {
                Ok(Level { pos: self.words(2 * level + 1)?, crd: self.words(2 * level + 2)? })
            })
            .collect::<Result<_, TensorError>>()?;
        let tree = Csf::new(shape, ModeOrder::new(layout.mode_order.as_slice())?, levels)?;
        Ok(Tensor::new(tree, self.stored_values(layout.nnz)?)?)
    }

    /// The tensor as a coordinate list over the buffers as they lie. Constant time.
    ///
    /// # Errors
    /// [`Error::Tensor`] if the layout is not COO, or if the lengths of the buffers do not fit.
    pub fn coo(&self) -> Result<Coo<Words, Buffer>, Error> {
        self.try_coo().map_err(|error| self.error(error))
    }

    pub(crate) fn try_coo(&self) -> Result<Coo<Words, Buffer>, TensorError> {
        let LayoutDescriptor::Coo(layout) = &self.descriptor.layout else {
            return Err(self.other_layout("coo"));
        };
        let values = self.stored_values(layout.nnz)?;
        Ok(Coo::new(self.descriptor.shape.clone(), layout.is_sorted, self.words(1)?, values)?)
    }

    /// The tensor as a CSR or CSC matrix over the buffers as they lie; its values are
    /// [`TensorBuffers::values`]. Constant time.
    ///
    /// # Errors
    /// [`Error::Tensor`] if the layout is neither CSR nor CSC, or if the lengths of the buffers do
    /// not fit.
    pub fn compressed(&self) -> Result<Compressed<Words>, Error> {
        let matrix = match self.descriptor.layout {
            LayoutDescriptor::Csr(_) => self.try_compressed(Major::Row),
            LayoutDescriptor::Csc(_) => self.try_compressed(Major::Column),
            _ => Err(self.other_layout("csr or csc")),
        };
        matrix.map_err(|error| self.error(error))
    }

    pub(crate) fn try_compressed(&self, major: Major) -> Result<Compressed<Words>, TensorError> {
        let (indices, pointers) = (self.words(1)?, self.words(2)?);
        Ok(Compressed::new(major, self.descriptor.shape.clone(), pointers, indices)?)
    }

    /// The values as they are stored: one per stored element of a sparse tensor, one per element of
    /// a row-major or column-major one, in the order of its storage.
    ///
    /// # Errors
    /// [`Error::Tensor`] if the layout is another one, if a dense tensor has a dynamic dimension,
    /// or if the length of the buffer does not fit.
    pub fn values(&self) -> Result<Values<Buffer>, Error> {
        self.try_values().map_err(|error| self.error(error))
    }

    pub(crate) fn try_values(&self) -> Result<Values<Buffer>, TensorError> {
        if let Some(nnz) = self.descriptor.layout.nnz() {
            return self.stored_values(nnz);
        }
        let (LayoutDescriptor::RowMajor | LayoutDescriptor::ColumnMajor) = self.descriptor.layout
        else {
            return Err(self.other_layout("row_major, column_major or sparse"));
        };
        if self.descriptor.shape.is_dynamic() {
            return Err(TensorError::Dynamic);
        }
        let element_type = self.descriptor.element_type;
        let overflow = FormatError::SizeOverflow { what: "the elements" };
        let count = self.descriptor.shape.element_count().ok_or(overflow.clone())?;
        let size = element_type.byte_length(count).ok_or(overflow)?;
        let bytes = self.buffer(0)?.slice(self.descriptor.byte_offset, size)?;
        Ok(Values::new(element_type, to_usize(count), bytes)?)
    }

    /// The values as numbers, dequantized if they are quantized; of the layouts that
    /// [`TensorBuffers::values`] has. O(rank).
    ///
    /// # Errors
    /// As [`TensorBuffers::values`] and [`TensorBuffers::dequantizer`], and [`Error::Tensor`] for
    /// complex and private element types, which are no numbers.
    pub fn numbers(&self) -> Result<Numbers<Buffer>, Error> {
        self.try_numbers().map_err(|error| self.error(error))
    }

    pub(crate) fn try_numbers(&self) -> Result<Numbers<Buffer>, TensorError> {
        Ok(Numbers::new(self.try_values()?, self.try_dequantizer()?)?)
    }

    /// What turns the stored values into numbers, `None` if they are not quantized. O(rank).
    ///
    /// # Errors
    /// [`Error::Tensor`] if the scheme is not known or its buffers do not fit.
    pub fn dequantizer(&self) -> Result<Option<Dequantizer<Buffer>>, Error> {
        self.try_dequantizer().map_err(|error| self.error(error))
    }

    pub(crate) fn try_dequantizer(&self) -> Result<Option<Dequantizer<Buffer>>, TensorError> {
        let descriptor = self.descriptor();
        let Some(quantization) = &descriptor.quantization else { return Ok(None) };
        let buffer = |index: usize| self.buffers().get(index).cloned();
        let (shape, element_type) = (&descriptor.shape, descriptor.element_type);
        Ok(Some(Dequantizer::new(quantization, shape, element_type, buffer)?))
    }

    /// Buffer 0 of a sparse layout.
    fn stored_values(&self, nnz: u64) -> Result<Values<Buffer>, TensorError> {
        Ok(Values::new(self.descriptor.element_type, to_usize(nnz), self.buffer(0)?)?)
    }

    fn words(&self, number: usize) -> Result<Words, TensorError> {
        Ok(self.buffer(number)?.into_words()?)
    }

    pub(crate) fn buffer(&self, number: usize) -> Result<Buffer, TensorError> {
        let found = self.buffers.len();
        self.buffers
            .get(number)
            .cloned()
            .ok_or(TensorError::BufferCount { expected: number + 1, found })
    }

    pub(crate) fn other_layout(&self, asked: &'static str) -> TensorError {
        TensorError::Layout { found: self.descriptor.layout.name(), asked }
    }

    pub(crate) fn error(&self, error: TensorError) -> Error {
        Error::Tensor { path: self.path.clone(), name: self.name.clone(), error: Box::new(error) }
    }
}
