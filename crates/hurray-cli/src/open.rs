//! Files opened for a command, and the tensor that it is about.

use std::path::Path;

use hurray_io::{File, TensorRef};

use crate::failure::Failure;

/// Maps a file for a command that looks at a small part of its data.
///
/// The contract of mapping is that nobody changes the file while it is mapped. A command cannot
/// promise that for others, but it can say what would happen: writers that put a new file in the
/// place of the old one, as this project's do, change nothing here. Bytes that change in place give
/// a wrong answer at worst, since the libraries check every position before they use it, whatever
/// they have seen before. A file cut short in place ends the process with a signal; a command that
/// only reads and prints has nothing to lose by that. Commands that read all of the data, `convert`
/// and `verify`, read them into memory instead.
#[expect(unsafe_code, reason = "the one place where the command line maps a file")]
pub(crate) fn map(path: &Path) -> Result<File, Failure> {
    // SAFETY: see above; the mapping is read only, and the process ends with the command.
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
