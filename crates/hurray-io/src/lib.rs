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

//!
//! # Read or map
//! Both ways lead to the same [`File`], and all that follows is the same. What differs is who may do
//! what with the file meanwhile:
//!
//! | | [`File::open`] | [`File::map`] |
//! |---|---|---|
//! | data | read into memory, per tensor, when [`TensorRef::read`] asks for them | the bytes of the file, loaded when they are looked at |
//! | safe | yes | `unsafe`: the caller promises that nobody changes the file |
//! | file cut short meanwhile | [`Error::Io`] | a signal (`SIGBUS`) ends the process |
//! | file written into meanwhile | what was read stays | a data race: undefined behaviour |
//! | file replaced by renaming, as [`Writer`] does | the old contents stay | the old contents stay |
//!
//! Map files that only you, or people you trust, can write to, and that are large compared with what
//! you look at. Read all others. Validation makes no difference here: it says how the bytes were, not
//! how they will be.
//!
//! ```
//! # fn main() -> Result<(), Box<dyn std::error::Error>> {
//! # let folder = tempfile::tempdir()?;
//! # let path = folder.path().join("example.hrry");
//! # hurray_io::Writer::create(&path, Default::default())?.finish()?;
//! use hurray_io::File;
//!
//! let file = File::open(&path)?;
//! assert!(!file.is_mapped());
//! // SAFETY: nobody else knows the folder that the file is in.
//! let file = unsafe { File::map(&path) }?;
//! assert!(file.is_mapped());
//! # Ok(())
//! # }
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

pub use atomic::{AtomicFile, Unfinished};
pub use buffer::{Buffer, Words};
pub use error::{Error, TensorError};
pub use reader::{File, OpenOptions, TensorRef};
pub use tensor::TensorBuffers;
pub use writer::{TensorWriter, Writer, WriterOptions};

/// Compiles and runs the examples of the README.
#[cfg(doctest)]
#[doc = include_str!("../../../README.md")]
struct Readme;
