//! Compressed sparse fiber (CSF) trees: build, validate, look up, iterate, convert. No I/O.
#![forbid(unsafe_code)]

pub mod build;
pub mod compressed;
mod convert;
pub mod coo;
pub mod error;
pub mod iter;
mod lookup;
pub mod numbers;
pub mod statistics;
pub mod subtree;
pub mod tensor;
pub mod tree;
mod validate;
mod violation;

pub use build::{BuildError, Builder, Duplicates, Indices};
pub use compressed::{Compressed, CompressedViolation, Major};
pub use coo::Coo;
pub use error::{CooViolation, IndexError, StructureError};
pub use iter::{Fiber, Fibers, Leaves};
pub use numbers::{NumberError, Numbers};
pub use statistics::StatisticsError;
pub use subtree::Subtree;
pub use tensor::Tensor;
pub use tree::{Csf, Level};
pub use violation::Violation;
