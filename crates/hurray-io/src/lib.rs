//! Files: Hurray files read, mapped and written, and coordinate text ([`tns`]).
//!
//! [`File`] opens a file and lists its tensors without touching their data, whatever the size;
//! [`TensorRef::read`] gets the buffers of one, and [`TensorBuffers::csf`] shows them as a tree.
//! [`Writer`] writes a file in one forward pass and puts it in its place only when it is whole.
//!
//! ```
//! use hurray_csf::{Csf, Level, Tensor};
//! use hurray_format::{ModeOrder, Shape, Values};
//! use hurray_io::{File, Writer, WriterOptions};
//!
//! // The worked example of docs/format.md.
//! let tree = Csf::new(
//!     Shape::new([2, 3, 4])?,
//!     ModeOrder::identity(3)?,
//!     vec![
//!         Level { pos: &[0, 2][..], crd: &[0, 1][..] },
//!         Level { pos: &[0, 2, 3], crd: &[0, 2, 1] },
//!         Level { pos: &[0, 1, 2, 4], crd: &[1, 3, 0, 2] },
//!     ],
//! )?;
//! let tensor = Tensor::new(tree, Values::from_slice(&[1.0f32, 2.0, 3.0, 4.0]))?;
//!
//! let folder = tempfile::tempdir()?;
//! let path = folder.path().join("example.hrry");
//! let mut writer = Writer::create(&path, WriterOptions::default())?;
//! writer.set_metadata("source", "the specification")?;
//! writer.csf("x", &tensor)?;
//! writer.finish()?;
//!
//! let file = File::open(&path)?;
//! let read = file.tensor("x")?.read()?.csf()?;
//! assert_eq!(read.tree().level(2), (&[0, 1, 2, 4][..], &[1, 3, 0, 2][..]));
//! assert_eq!(read.values().as_slice::<f32>()?, [1.0, 2.0, 3.0, 4.0]);
//! # Ok::<(), Box<dyn std::error::Error>>(())
//! ```

pub mod atomic;
pub mod buffer;
pub mod composite;
pub mod error;
pub mod reader;
mod source;
pub mod tensor;
pub mod tns;
mod unfinished;
mod verify;
pub mod writer;

pub use atomic::AtomicFile;
pub use buffer::{Buffer, Words};
pub use error::{Error, TensorError};
pub use reader::{File, OpenOptions, TensorRef};
pub use tensor::TensorBuffers;
pub use writer::{TensorWriter, Writer, WriterOptions};

/// Compiles and runs the examples of the README.
#[cfg(doctest)]
#[doc = include_str!("../../../README.md")]
struct Readme;
