//! What can go wrong with a Hurray file. Every message starts with the path.

use std::io;
use std::path::{Path, PathBuf};

use hurray_csf::{
    CompressedViolation, CooViolation, NumberError, StatisticsError, StructureError, Violation,
};
use hurray_format::container::ContainerError;
use hurray_format::{DecodeError, ElementType, FormatError};
use thiserror::Error;

use crate::composite::CompositeError;

/// A file that cannot be read or written.
#[derive(Debug, Error)]
#[non_exhaustive]
pub enum Error {
    /// The operating system refuses something.
    #[error("{path}: cannot {action}: {source}", path = path.display())]
    Io {
        /// The file.
        path: PathBuf,
        /// What was tried.
        action: &'static str,
        /// Why it failed.
        source: io::Error,
    },
    /// The path leads to a folder, a device or a pipe.
    #[error("{path}: not a regular file", path = path.display())]
    NotAFile {
        /// The path.
        path: PathBuf,
    },
    /// The file to be written is there already.
    #[error("{path}: already exists; allow overwriting it or choose another name", path = path.display())]
    Exists {
        /// The file.
        path: PathBuf,
    },
    /// The bytes around the tensors break a rule of the format.
    #[error("{path}: {error}", path = path.display())]
    Decode {
        /// The file.
        path: PathBuf,
        /// The field, where it is, and the rule.
        error: DecodeError,
    },
    /// Metadata or names that cannot be written.
    #[error("{path}: {error}", path = path.display())]
    Container {
        /// The file.
        path: PathBuf,
        /// The rule that they break.
        error: ContainerError,
    },
    /// Something is wrong with one tensor.
    #[error("{path}: tensor `{name}`: {error}", path = path.display())]
    Tensor {
        /// The file.
        path: PathBuf,
        /// The name of the tensor.
        name: String,
        /// What is wrong.
        error: Box<TensorError>,
    },
    /// The file does not have the tensor that was asked for.
    #[error("{path}: no tensor `{name}`; there {are}", path = path.display(), are = list(tensors))]
    NoSuchTensor {
        /// The file.
        path: PathBuf,
        /// The name asked for.
        name: String,
        /// The names of the tensors that it has, at most ten.
        tensors: Vec<String>,
    },
    /// A file that is being written is missing something, because writing it failed before.
    #[error("{path}: not finished, because writing a tensor failed or was given up", path = path.display())]
    Unfinished {
        /// The file that was to be written.
        path: PathBuf,
    },
}

/// What is wrong with one tensor of a file, or with what is asked of it.
#[derive(Clone, Debug, PartialEq, Error)]
#[non_exhaustive]
pub enum TensorError {
    /// Its descriptor breaks a rule of the format.
    #[error(transparent)]
    Decode(#[from] DecodeError),
    /// Its place in the file breaks a rule of the container.
    #[error(transparent)]
    Container(#[from] ContainerError),
    /// Its buffers do not hold what the descriptor says.
    #[error(transparent)]
    Format(#[from] FormatError),
    /// The levels of its tree do not fit together.
    #[error(transparent)]
    Structure(#[from] StructureError),
    /// Its tree breaks a storage invariant.
    #[error(transparent)]
    Csf(#[from] Violation),
    /// Its list of coordinates breaks a rule.
    #[error(transparent)]
    Coo(#[from] CooViolation),
    /// Its rows or columns break a rule.
    #[error(transparent)]
    Compressed(#[from] CompressedViolation),
    /// A value that stands for no number.
    #[error(transparent)]
    Number(#[from] NumberError),
    /// Its values do not have the statistics that the descriptor records.
    #[error(transparent)]
    Statistics(#[from] StatisticsError),
    /// A stored value that its element type does not have.
    #[error("the value at position {position} is {found:#04x}, which is no {element_type}")]
    Value {
        /// The element type.
        element_type: ElementType,
        /// The position among the stored values.
        position: usize,
        /// The bits found.
        found: u8,
    },
    /// The members of a composite do not make it up.
    #[error(transparent)]
    Composite(#[from] CompositeError),
    /// It has another layout than the one asked for.
    #[error("its layout is {found}, not {asked}")]
    Layout {
        /// The layout it has.
        found: &'static str,
        /// The layout asked for.
        asked: &'static str,
    },
    /// Where its buffers lie cannot be known, since its layout is not understood.
    #[error("its data cannot be found behind the unknown layout tag {tag:#04x}")]
    Unreachable {
        /// The tag of the layout.
        tag: u8,
    },
    /// The number of its elements is not known.
    #[error("its shape has a dynamic dimension, so the number of its elements is not known")]
    Dynamic,
    /// There is not enough memory for a buffer.
    #[error("no memory for a buffer of {size} bytes; map the file instead of reading it")]
    OutOfMemory {
        /// The size of the buffer.
        size: u64,
    },
    /// A buffer is longer than the pieces given for it, or shorter.
    #[error("buffer {buffer} is to have {expected} bytes, but {found} were given")]
    BufferBytes {
        /// The number of the buffer.
        buffer: usize,
        /// The bytes that the descriptor promises.
        expected: u64,
        /// The bytes given, at least.
        found: u64,
    },
    /// More or fewer buffers than the descriptor or the layout has.
    #[error("there are {found} buffers, but {expected} are needed")]
    BufferCount {
        /// The buffers needed.
        expected: usize,
        /// The buffers that are there.
        found: usize,
    },
}

impl Error {
    /// Turns an I/O error into one that says what was tried with which file.
    pub(crate) fn io(path: &Path, action: &'static str) -> impl FnOnce(io::Error) -> Self {
        let path = path.to_owned();
        move |source| Error::Io { path, action, source }
    }
}

fn list(tensors: &[String]) -> String {
    match tensors {
        [] => "are none".to_owned(),
        [name] => format!("is `{name}`"),
        names => format!("are `{}`", names.join("`, `")),
    }
}
