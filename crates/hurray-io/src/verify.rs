//! Full verification: everything that the format asks of a file and that opening it leaves open,
//! because it needs the data or more than one tensor.
//!
//! Linear in the size of the file, except that a COO list that is not sorted is sorted to find
//! duplicates. Data of a file that is not mapped are read one tensor at a time.

use hurray_csf::{Major, NumberError, statistics};
use hurray_format::cast::to_usize;
use hurray_format::descriptor::Statistics;
use hurray_format::{ElementType, LayoutDescriptor, TensorDescriptor};

use crate::composite;
use crate::error::{Error, TensorError};
use crate::reader::{File, TensorRef};
use crate::tensor::TensorBuffers;

impl File {
    /// Verifies every tensor, as [`TensorBuffers::verify`] does, and that the members of every
    /// composite make it up (docs/format.md, "Composites").
    ///
    /// # Errors
    /// [`Error::Tensor`] for the first tensor with something wrong, [`Error::Io`] if it cannot be
    /// read.
    pub fn verify(&self) -> Result<(), Error> {
        let tensors: Vec<TensorRef<'_>> = self.tensors().collect();
        let descriptors: Vec<_> = tensors.iter().map(|tensor| tensor.descriptor()).collect();
        composite::check(&descriptors).map_err(|(head, error)| tensors[head].error(error))?;
        tensors.into_iter().try_for_each(|tensor| tensor.read()?.verify())
    }
}

impl TensorBuffers {
    /// Verifies the data of the tensor: the storage invariants of its layout (docs/format.md,
    /// "Storage Invariants"; docs/format.md, "Layouts"), the contents of its parameter buffers
    /// (docs/format.md, "Quantization"), for float8_e8m0 the values, and, of a CSF or COO tensor,
    /// the statistics that its descriptor records (docs/format.md, "Statistics").
    ///
    /// # Errors
    /// [`Error::Tensor`] with the first thing that is wrong, or for a layout or a scheme that is
    /// not known.
    pub fn verify(&self) -> Result<(), Error> {
        self.try_verify().map_err(|error| self.error(error))
    }

    fn try_verify(&self) -> Result<(), TensorError> {
        match &self.descriptor().layout {
            LayoutDescriptor::Csf(_) => self.try_csf()?.tree().validate()?,
            LayoutDescriptor::Coo(_) => self.try_coo()?.validate()?,
            LayoutDescriptor::Csr(_) => self.try_compressed(Major::Row)?.validate()?,
            LayoutDescriptor::Csc(_) => self.try_compressed(Major::Column)?.validate()?,
            LayoutDescriptor::BlockPaged(layout) => {
                layout.validate_indices(&self.buffer(1)?, &self.buffer(2)?)?;
            }
            LayoutDescriptor::Unknown { tag } => {
                return Err(TensorError::Unreachable { tag: *tag });
            }
            LayoutDescriptor::Private(_) => return Err(self.other_layout("a known one")),
            // Whatever a dense buffer holds is an element.
            _ => {}
        }
        if let Some(dequantizer) = self.try_dequantizer()? {
            dequantizer.check()?;
        }
        if self.descriptor().element_type == ElementType::Float8E8M0 && self.has_only_values() {
            check_powers(self.try_values()?.bytes())?;
        }
        // Last, since they are taken of data that is known to be good.
        if let Some(recorded) = &self.descriptor().statistics
            && let Some(computed) = self.try_statistics()?
        {
            statistics::check(recorded, &computed)?;
        }
        Ok(())
    }

    /// The statistics of a valid CSF or COO tensor, `None` for any other layout. Of values that
    /// are no real numbers only those that need no look at them.
    fn try_statistics(&self) -> Result<Option<Statistics>, TensorError> {
        let descriptor = self.descriptor();
        let (LayoutDescriptor::Csf(_) | LayoutDescriptor::Coo(_)) = descriptor.layout else {
            return Ok(None);
        };
        let numbers = match self.try_numbers() {
            Err(TensorError::Number(NumberError::NotReal { .. })) => {
                let nnz = to_usize(descriptor.nnz().unwrap_or(0));
                return Ok(Some(statistics::of_structure(&descriptor.shape, nnz)));
            }
            numbers => numbers?,
        };
        Ok(Some(match descriptor.layout {
            LayoutDescriptor::Csf(_) => self.try_csf()?.tree().statistics(&numbers)?,
            _ => self.try_coo()?.statistics(&numbers)?,
        }))
    }
}

impl TensorBuffers {
    /// Whether buffer 0 holds the values of elements side by side. In the other dense layouts, and
    /// along a dynamic dimension, there may be bytes between them that belong to none.
    fn has_only_values(&self) -> bool {
        let TensorDescriptor { layout, shape, .. } = self.descriptor();
        let is_contiguous =
            matches!(layout, LayoutDescriptor::RowMajor | LayoutDescriptor::ColumnMajor);
        layout.nnz().is_some() || (is_contiguous && !shape.is_dynamic())
    }
}

/// 0x00 and 0xFF are no values of float8_e8m0 (docs/format.md, "Element types").
fn check_powers(values: &[u8]) -> Result<(), TensorError> {
    match values.iter().position(|value| matches!(value, 0x00 | 0xFF)) {
        None => Ok(()),
        Some(position) => Err(TensorError::Value {
            element_type: ElementType::Float8E8M0,
            position,
            found: values[position],
        }),
    }
}
