//! Files opened for a command, and the tensor that it is about.

use std::path::Path;

use hurray_io::{File, TensorRef};

use crate::failure::Failure;

/// Maps a file for a command that looks at a small part of its data.
///
/// The contract of mapping is that nobody changes the file while it is mapped. A command cannot
/// promise that for others: it relies on it, as it does on the file being there at all. Writers that
/// put a new file in the place of the old one, as this project's do, keep to it. One that writes
/// into the file itself does not: that is a data race, and nothing is promised of a command that
/// runs meanwhile; a file cut short in place ends it with a signal. The libraries check every
/// position before they use it, whatever they have seen before, which makes a wrong answer the
/// likely outcome, but not a certain one.
///
/// Commands that look at all of the data, `convert` and `verify`, read them into memory instead, where
/// a file that shrinks is an error. `get` looks at a few cache lines of what may be larger than memory,
/// so reading is not as good there; `demo` maps a file in a folder that is its own.
#[expect(unsafe_code, reason = "the one place where the command line maps a file")]
pub(crate) fn map(path: &Path) -> Result<File, Failure> {
    // SAFETY: relied on, see above; this process itself does not write to the file.
    Ok(unsafe { File::map(path) }?)
}

/// The tensor called `name`, or the only one of the file.
pub(crate) fn choose<'a>(file: &'a File, name: Option<&str>) -> Result<TensorRef<'a>, Failure> {
    if let Some(name) = name {
        return Ok(file.tensor(name)?);
    }
    let path = file.path().display();
    match (file.len(), file.get(0)) {
        (1, Some(tensor)) => Ok(tensor),
        (0, _) => Err(Failure::at(path, "there is no tensor in it")),
        (count, _) => {
            let names: Vec<_> =
                file.tensors().take(10).map(|tensor| format!("`{}`", tensor.name())).collect();
            let more = if count > names.len() { ", ..." } else { "" };
            Err(Failure::at(
                path,
                format_args!(
                    "there are {count} tensors: {}{more}; choose one with --tensor",
                    names.join(", ")
                ),
            ))
        }
    }
}
