//! Descriptors, tags and the container of the Hurray tensor format, without I/O.
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
