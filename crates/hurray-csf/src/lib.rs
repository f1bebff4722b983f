//! Compressed sparse fiber (CSF) trees: build, validate, look up, iterate, convert. No I/O.

pub mod build;
mod convert;
pub mod coo;
pub mod error;
pub mod tensor;
pub mod tree;

pub use build::{BuildError, Builder, Duplicates, Indices};
pub use coo::Coo;
pub use error::{CooViolation, IndexError, StructureError};
pub use tensor::Tensor;
pub use tree::{Csf, Level};
