//! Compressed sparse fiber (CSF) trees: build, validate, look up, iterate, convert. No I/O.

pub mod error;
pub mod tensor;
pub mod tree;

pub use error::{IndexError, StructureError};
pub use tensor::Tensor;
pub use tree::{Csf, Level};
