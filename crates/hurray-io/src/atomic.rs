//! Files that appear whole or not at all.
//!
//! The bytes go to a temporary file beside the target, which takes the target's place only after
//! everything has reached the disk. So whoever has the old file open or mapped keeps it, and a
//! failure at any moment leaves it where it is. The temporary file is removed when the writer is
//! dropped. Only a process that is killed leaves it behind, under a name that says what it is:
//! `.NAME.unfinished-0`, or another number. The next writer of the same target removes it, which
//! the lock on the files of live writers tells apart. This library handles no signals; a program that
//! does can remove its temporary files by [`AtomicFile::unfinished`].
//!
//! A target that is a symbolic link stays one: what it leads to is replaced. Other hard links to the
//! old file keep the old contents. Folders, pipes and devices are refused.

use std::fs;
use std::io::{self, Write};
use std::path::{Path, PathBuf};

use tempfile::NamedTempFile;

use crate::error::Error;
pub use crate::unfinished::Unfinished;
use crate::unfinished::{self, folder};

/// A file that is being written and takes its place with [`AtomicFile::commit`].
///
/// Not buffered: put a `BufWriter` around it for small writes.
///
/// ```
/// use std::io::Write;
/// use hurray_io::AtomicFile;
///
/// let folder = tempfile::tempdir()?;
/// let path = folder.path().join("a.tns");
/// let mut file = AtomicFile::create(&path, true)?;
/// file.write_all(b"1 1 1 0.5\n")?;
/// assert!(!path.exists());
/// file.commit()?;
/// assert_eq!(std::fs::read(&path)?, b"1 1 1 0.5\n");
/// # Ok::<(), Box<dyn std::error::Error>>(())
/// ```
#[derive(Debug)]
pub struct AtomicFile {
    temporary: NamedTempFile,
    target: PathBuf,
    overwrite: bool,
    sync: bool,
}

impl AtomicFile {
    /// Starts a file that is to be at `path`. With `overwrite` it replaces a file that is there
    /// (what a symbolic link leads to, not the link) and takes over its permissions; otherwise the
    /// permissions are what the process gives to new files.
    ///
    /// # Errors
    /// [`Error::NotAFile`] if there is something that is no regular file, [`Error::Exists`] if
    /// there is a file and `overwrite` is not set, [`Error::Io`] if the folder cannot be written to.
    pub fn create(path: impl AsRef<Path>, overwrite: bool) -> Result<Self, Error> {
        let path = path.as_ref();
        let mut target = path.to_owned();
        let mut replaced = None;
        // A link that leads nowhere exists as well.
        if let Ok(found) = fs::symlink_metadata(path) {
            if fs::metadata(path).is_ok_and(|metadata| !metadata.is_file()) {
                return Err(Error::NotAFile { path: target });
            }
            if !overwrite {
                return Err(Error::Exists { path: target });
            }
            if found.is_symlink() {
                target =
                    fs::canonicalize(path).map_err(Error::io(path, "find the file to replace"))?;
            }
            let metadata = fs::metadata(&target).map_err(Error::io(path, "look at the file"))?;
            replaced = Some(metadata.permissions());
        }
        if target.file_name().is_none() {
            return Err(Error::NotAFile { path: target });
        }
        // Said of the folder: what is said of the temporary file names a file nobody has heard of.
        fs::metadata(folder(&target)).map_err(Error::io(path, "find its folder"))?;
        let temporary = unfinished::create(&target, replaced.as_ref())
            .map_err(Error::io(path, "create a temporary file beside it"))?;
        if let Some(permissions) = replaced {
            (temporary.as_file().set_permissions(permissions))
                .map_err(Error::io(path, "keep the permissions"))?;
        }
        Ok(Self { temporary, target, overwrite, sync: true })
    }

    /// Whether [`AtomicFile::commit`] waits until the bytes are on the disk, as it does unless told
    /// otherwise. Without that the file is still whole or absent for every reader, but a power
    /// failure soon after may leave it damaged.
    pub fn set_sync(&mut self, sync: bool) {
        self.sync = sync;
    }

    /// Where the file will be.
    #[must_use]
    pub fn path(&self) -> &Path {
        &self.target
    }

    /// The temporary file, for whoever has to remove it when a signal ends the program.
    ///
    /// # Errors
    /// [`Error::Io`] if the process has too many files open.
    pub fn unfinished(&self) -> Result<Unfinished, Error> {
        Unfinished::new(&self.temporary).map_err(Error::io(&self.target, "share the file"))
    }

    /// Puts the file in its place: waits for the disk, renames it, and waits for the folder.
    ///
    /// # Errors
    /// [`Error::Exists`] if something has appeared there and may not be replaced, [`Error::Io`] for
    /// anything else that fails. In both cases the temporary file is gone.
    pub fn commit(self) -> Result<(), Error> {
        let Self { temporary, target, overwrite, sync } = self;
        if sync {
            temporary.as_file().sync_all().map_err(Error::io(&target, "write to the disk"))?;
        }
        // Only Unix can sync a folder, and only there does a rename need it. A folder that cannot
        // be opened is found out while the old file is still there.
        let folder = match sync && cfg!(unix) {
            true => Some(
                fs::File::open(folder(&target)).map_err(Error::io(&target, "open its folder"))?,
            ),
            false => None,
        };
        // Whoever has removed the file may have put another in its place.
        if !unfinished::is_at(temporary.as_file(), temporary.path()) {
            let gone = io::Error::new(io::ErrorKind::NotFound, "the temporary file was removed");
            return Err(Error::io(&target, "rename the finished file")(gone));
        }
        let persisted = if overwrite {
            temporary.persist(&target)
        } else {
            temporary.persist_noclobber(&target)
        };
        persisted.map_err(|error| match error.error.kind() {
            io::ErrorKind::AlreadyExists => Error::Exists { path: target.clone() },
            _ => Error::io(&target, "rename the finished file")(error.error),
        })?;
        match folder {
            Some(folder) => {
                folder.sync_all().map_err(Error::io(&target, "write its folder to the disk"))
            }
            None => Ok(()),
        }
    }
}

impl Write for AtomicFile {
    fn write(&mut self, bytes: &[u8]) -> io::Result<usize> {
        self.temporary.as_file_mut().write(bytes)
    }

    fn flush(&mut self) -> io::Result<()> {
        self.temporary.as_file_mut().flush()
    }
}

#[cfg(test)]
mod tests {
    use std::ffi::OsString;

    use super::*;

    fn names(folder: &Path) -> Vec<OsString> {
        let mut names: Vec<_> =
            fs::read_dir(folder).unwrap().map(|entry| entry.unwrap().file_name()).collect();
        names.sort();
        names
    }

    #[test]
    fn a_dropped_file_leaves_the_old_one_and_no_litter() {
        let folder = tempfile::tempdir().unwrap();
        let path = folder.path().join("a");
        fs::write(&path, "old").unwrap();
        let mut file = AtomicFile::create(&path, true).unwrap();
        file.write_all(b"new").unwrap();
        let temporary = names(folder.path()).into_iter().find(|name| name != "a").unwrap();
        assert_eq!(temporary, ".a.unfinished-0");
        drop(file);
        assert_eq!(fs::read(&path).unwrap(), b"old");
        assert_eq!(names(folder.path()), ["a"]);
    }

    #[test]
    fn an_existing_file_is_replaced_only_when_that_is_allowed() {
        let folder = tempfile::tempdir().unwrap();
        let path = folder.path().join("a");
        let mut late = AtomicFile::create(&path, false).unwrap();
        late.write_all(b"late").unwrap();
        AtomicFile::create(&path, false).unwrap().commit().unwrap();
        assert!(matches!(AtomicFile::create(&path, false), Err(Error::Exists { .. })));
        // It was not there when `late` was started.
        assert!(matches!(late.commit(), Err(Error::Exists { .. })));
        assert_eq!(fs::read(&path).unwrap(), b"");

        let mut file = AtomicFile::create(&path, true).unwrap();
        file.write_all(b"new").unwrap();
        file.commit().unwrap();
        assert_eq!(fs::read(&path).unwrap(), b"new");
        assert_eq!(names(folder.path()), ["a"]);
    }

    #[test]
    fn folders_and_missing_folders_are_refused() {
        let folder = tempfile::tempdir().unwrap();
        let error = AtomicFile::create(folder.path(), true).unwrap_err();
        assert!(matches!(error, Error::NotAFile { .. }), "{error}");
        let error = AtomicFile::create(folder.path().join("no/a"), true).unwrap_err();
        assert!(matches!(error, Error::Io { .. }), "{error}");
        assert!(AtomicFile::create("/", true).is_err());
        assert!(AtomicFile::create("", true).is_err());
    }

    #[test]
    fn a_long_name_still_has_room_for_its_temporary_one() {
        let folder = tempfile::tempdir().unwrap();
        let path = folder.path().join("n".repeat(255));
        AtomicFile::create(&path, true).unwrap().commit().unwrap();
        assert!(path.exists());
    }

    #[cfg(unix)]
    #[test]
    fn permissions_are_those_of_a_new_file_or_of_the_old_one() {
        use std::os::unix::fs::PermissionsExt;
        let mode = |path: &Path| fs::metadata(path).unwrap().permissions().mode() & 0o777;
        let folder = tempfile::tempdir().unwrap();
        let (plain, path) = (folder.path().join("plain"), folder.path().join("a"));
        fs::write(&plain, "").unwrap();
        AtomicFile::create(&path, true).unwrap().commit().unwrap();
        assert_eq!(mode(&path), mode(&plain));
        fs::set_permissions(&path, fs::Permissions::from_mode(0o640)).unwrap();
        AtomicFile::create(&path, true).unwrap().commit().unwrap();
        assert_eq!(mode(&path), 0o640);
    }

    #[test]
    fn a_temporary_file_that_somebody_removed_is_an_error() {
        let folder = tempfile::tempdir().unwrap();
        let path = folder.path().join("a");
        fs::write(&path, "old").unwrap();
        let file = AtomicFile::create(&path, true).unwrap();
        file.unfinished().unwrap().remove().unwrap();
        let error = file.commit().unwrap_err().to_string();
        assert!(error.ends_with(": the temporary file was removed"), "{error}");
        assert_eq!(fs::read(&path).unwrap(), b"old");
    }

    #[cfg(unix)]
    #[test]
    fn nobody_reads_along_who_may_not_read_the_old_file() {
        use std::os::unix::fs::PermissionsExt;
        let folder = tempfile::tempdir().unwrap();
        let path = folder.path().join("a");
        fs::write(&path, "old").unwrap();
        fs::set_permissions(&path, fs::Permissions::from_mode(0o600)).unwrap();
        let file = unfinished::create(&path, Some(&fs::metadata(&path).unwrap().permissions()));
        let mode = file.unwrap().as_file().metadata().unwrap().permissions().mode();
        assert_eq!(mode & 0o777, 0o600);
    }

    #[cfg(unix)]
    #[test]
    fn a_symbolic_link_stays_one() {
        let folder = tempfile::tempdir().unwrap();
        let (path, link) = (folder.path().join("a"), folder.path().join("link"));
        fs::write(&path, "old").unwrap();
        std::os::unix::fs::symlink("a", &link).unwrap();
        let mut file = AtomicFile::create(&link, true).unwrap();
        file.write_all(b"new").unwrap();
        file.commit().unwrap();
        assert_eq!(fs::read(&path).unwrap(), b"new");
        assert!(fs::symlink_metadata(&link).unwrap().is_symlink());
    }
}
