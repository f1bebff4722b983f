//! Compressed sparse fiber (CSF) trees: build, validate, look up, iterate, convert. No I/O.
//!
//! - [`Builder`] makes a [`Tensor`], a [`Csf`] tree and its values, from coordinates in any order.
//! - A tree over bytes that come from elsewhere is a [`Csf`] too: [`Csf::new`] checks the lengths
//!   of its levels, [`Csf::validate`] what they hold.
//! - [`Csf::lookup`] and [`Csf::lookup_many`] find elements, [`Csf::fibers`] and [`Csf::leaves`] walk
//!   over all of them, [`Csf::subtree`] and [`Csf::slice`] look at a part.
//! - All of them give leaf positions; the value of a leaf is at that position of the values.
//!   [`Numbers`] shows plain and quantized values alike.
//! - [`Tensor::to_mode_order`] and [`Tensor::to_coo`] convert; [`Coo`] and [`Compressed`] are the
//!   neighbouring layouts.
//!
//! ```
//! use hurray_csf::{Builder, Indices};
//! use hurray_format::{Shape, Values};
//!
//! let indices = Indices::Rows(&[1, 1, 2, 0, 2, 3, 0, 0, 1, 1, 1, 0]);
//! let tensor = Builder::new(Shape::new([2, 3, 4])?)
//!     .build(indices, Values::from_slice(&[4.0, 2.0, 1.0, 3.0]))?;
//! let values = tensor.values().as_slice::<f64>()?;
//!
//! assert_eq!(tensor.tree().lookup(&[1, 1, 2])?.map(|leaf| values[leaf]), Some(4.0));
//! let mut sum = 0.0;
//! tensor.tree().fibers().for_each(|fiber| sum += values[fiber.leaves()].iter().sum::<f64>());
//! assert_eq!(sum, 10.0);
//! # Ok::<(), Box<dyn std::error::Error>>(())
//! ```
//!
//! With the default feature `parallel` everything that takes a pass over a tensor runs on the
//! threads of the caller's rayon pool. Results do not depend on it.

mod batch;
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
pub use iter::{Fiber, Fibers, Leaves, Siblings};
pub use numbers::{NumberError, Numbers};
pub use statistics::StatisticsError;
pub use subtree::Subtree;
pub use tensor::Tensor;
pub use tree::{Csf, Level};
pub use violation::Violation;
