//! Full verification: everything that the format asks of a file and that opening it leaves open,
//! because it needs the data or more than one tensor.
//!
//! Linear in the size of the file, except that a COO list that is not sorted is sorted to find
//! duplicates. Data of a file that is not mapped are read one tensor at a time.

use hurray_csf::Major;
use hurray_format::{Dequantizer, ElementType, LayoutDescriptor};

use crate::buffer::Buffer;
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
    /// Verifies the data of the tensor: the storage invariants of its layout (CSF section,
    /// "Storage Invariants"; docs/format.md, "Layouts"), the contents of its parameter buffers
    /// (docs/format.md, "Quantization") and, for float8_e8m0, the values.
    ///
    /// The contents of a block-paged tensor are not looked at.
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
        if self.descriptor().element_type == ElementType::Float8E8M0 {
            check_powers(self.try_values()?.bytes())?;
        }
        Ok(())
    }

    /// What turns the stored values into numbers, `None` if they are not quantized. O(rank).
    ///
    /// # Errors
    /// [`Error::Tensor`] if the scheme is not known or its buffers do not fit.
    pub fn dequantizer(&self) -> Result<Option<Dequantizer<Buffer>>, Error> {
        self.try_dequantizer().map_err(|error| self.error(error))
    }

    fn try_dequantizer(&self) -> Result<Option<Dequantizer<Buffer>>, TensorError> {
        let descriptor = self.descriptor();
        let Some(quantization) = &descriptor.quantization else { return Ok(None) };
        let buffer = |index: usize| self.buffers().get(index).cloned();
        let (shape, element_type) = (&descriptor.shape, descriptor.element_type);
        Ok(Some(Dequantizer::new(quantization, shape, element_type, buffer)?))
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
