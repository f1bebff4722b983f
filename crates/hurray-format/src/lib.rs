//! Descriptors, tags and the container of the Hurray tensor format, without I/O.
//!
//! - [`Shape`], [`ModeOrder`], [`ElementType`], [`BufferHandle`]: the vocabulary.
//! - [`Values`]: a buffer of values of any element type; [`Value`]: one of them.
//! - [`TensorDescriptor`] says all that is known of a tensor but its data: its [`LayoutDescriptor`],
//!   its buffers, its [`Quantization`]. It is decoded in a [`Mode`], and encoded.
//! - [`container`] has the other bytes of a `.hrry` file.
//! - [`Dequantizer`] turns stored values into the numbers that they stand for.
//!
//! The format is described in `docs/format.md` of the repository; the documentation cites its headings.
//!
//! ```
//! use hurray_format::{ElementType, Mode, ModeOrder, Shape, TensorDescriptor};
//!
//! // Four elements in a tree of 2, 3 and 4 nodes.
//! let shape = Shape::new([2, 3, 4])?;
//! let order = ModeOrder::identity(3)?;
//! let descriptor = TensorDescriptor::csf(shape, ElementType::Float32, &order, &[2, 3, 4])?;
//! assert_eq!(descriptor.buffers.len(), 7);
//!
//! let bytes = descriptor.encode()?;
//! assert_eq!(TensorDescriptor::decode(&bytes, 0, Mode::Strict)?, descriptor);
//! # Ok::<(), Box<dyn std::error::Error>>(())
//! ```
#![forbid(unsafe_code)]

#[cfg(not(all(target_pointer_width = "64", target_endian = "little")))]
compile_error!("the Hurray crates support 64-bit little-endian targets only");

pub mod buffer;
pub mod bytes;
pub mod cast;
pub mod container;
pub mod descriptor;
pub mod element;
pub mod error;
pub mod layout;
pub mod mode_order;
pub mod quantization;
pub mod shape;
pub mod tag;
mod wire;
mod words;

pub use buffer::{BufferHandle, Device, MemoryClass, SyncMode};
pub use bytes::AlignedBytes;
pub use container::{Metadata, MetadataArray, MetadataValue};
pub use descriptor::{Mode, TensorDescriptor};
pub use element::{ElementType, PrivateType, Scalar, Tier, Value, Values};
pub use error::{DecodeError, FormatError};
pub use layout::{CooLayout, CsfLayout, LayoutDescriptor};
pub use mode_order::ModeOrder;
pub use quantization::{Dequantizer, Quantization};
pub use shape::Shape;
pub use words::AlignedWords;
