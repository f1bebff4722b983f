//! Temporary files beside their target: made, locked, and swept up after writers that were killed.
//!
//! The one for a target `NAME` is called `.NAME.unfinished-0`, or has the next number that is free.
//! Its writer holds an advisory lock on it, which ends with the process, however that ends. So
//! a file whose lock can be had was left behind, and the next writer of the same target removes it.
//! Where a file system has no locks nothing is ever swept up, and the name says what the file is.
//!
//! No live writer loses its file: nobody but the holder of the lock removes or renames it, and
//! whoever gets the lock looks whether the path still leads to the same file, since another may have
//! been there between opening and locking.

use std::ffi::OsString;
use std::fs;
use std::io;
use std::path::{Path, PathBuf};

use tempfile::NamedTempFile;

/// The longest part of the target's name that the temporary name repeats, in bytes: file names
/// have at most 255.
const MAX_NAME: usize = 200;

/// How many numbers are looked at for files left behind. There are as many only if so many
/// writers of one target were killed at the same time.
#[cfg(unix)]
const SWEPT: u16 = 16;

/// The temporary file of an [`AtomicFile`](crate::AtomicFile), to be removed from elsewhere: by the
/// thread that handles the signals of a program, before the program ends without dropping anything.
#[derive(Debug)]
pub struct Unfinished {
    file: fs::File,
    path: PathBuf,
}

impl Unfinished {
    pub(crate) fn new(file: &NamedTempFile) -> io::Result<Self> {
        Ok(Self { file: file.as_file().try_clone()?, path: file.path().to_owned() })
    }

    /// Removes the file unless it is at its target already, or gone. Afterwards
    /// [`AtomicFile::commit`](crate::AtomicFile::commit) fails.
    ///
    /// # Errors
    /// What the system says if it cannot be removed.
    pub fn remove(&self) -> io::Result<()> {
        // By now another writer may have a file of this name.
        if is_at(&self.file, &self.path) { fs::remove_file(&self.path) } else { Ok(()) }
    }
}

/// Sweeps up what was left behind for `target` and makes a locked temporary file beside it, which
/// from the first moment on allows no more than the file that it `replaces`, if it replaces one.
pub(crate) fn create(
    target: &Path,
    replaces: Option<&fs::Permissions>,
) -> io::Result<NamedTempFile> {
    let folder = folder(target);
    let name = target.file_name().unwrap_or_default();
    let mut prefix = OsString::from(".");
    prefix.push(if name.len() <= MAX_NAME { name } else { "hurray".as_ref() });
    prefix.push(".unfinished-");
    let numbered = |number: u16| {
        let mut name = prefix.clone();
        name.push(number.to_string());
        name
    };
    #[cfg(unix)]
    for number in 0..SWEPT {
        // A courtesy: whatever is in the way of it is no concern of this writer.
        let _ = unix::remove_if_stale(&folder.join(numbered(number)));
    }
    for number in 0..=u16::MAX {
        let name = numbered(number);
        let mut builder = tempfile::Builder::new();
        builder.prefix(&name).rand_bytes(0);
        // Otherwise a new file would be for its owner alone; the umask still applies.
        #[cfg(unix)]
        builder.permissions(replaces.cloned().unwrap_or_else(|| unix::mode(0o666)));
        match builder.tempfile_in(folder) {
            Ok(mut file) if !is_claimed(&file) => file.disable_cleanup(true),
            Err(error) if error.kind() == io::ErrorKind::AlreadyExists => {}
            result => return result,
        }
    }
    Err(io::Error::other("there are too many unfinished ones"))
}

/// Locks a new file. `false` if a sweeper was faster, which then removes it.
fn is_claimed(file: &NamedTempFile) -> bool {
    match file.as_file().try_lock() {
        Ok(()) => is_at(file.as_file(), file.path()),
        Err(fs::TryLockError::WouldBlock) => false,
        // No locks here, so no sweepers either.
        Err(fs::TryLockError::Error(_)) => true,
    }
}

/// Whether `path` leads to this open file, and not through a symbolic link.
pub(crate) fn is_at(file: &fs::File, path: &Path) -> bool {
    #[cfg(unix)]
    return unix::is_at(file, path).unwrap_or(false);
    #[cfg(not(unix))]
    return file.metadata().is_ok() && path.exists();
}

/// The folder that a file is in.
pub(crate) fn folder(path: &Path) -> &Path {
    match path.parent() {
        Some(folder) if folder != Path::new("") => folder,
        _ => Path::new("."),
    }
}

#[cfg(unix)]
mod unix {
    use std::fs::{self, File};
    use std::io;
    use std::os::unix::fs::{MetadataExt, PermissionsExt};
    use std::path::Path;

    pub(super) fn mode(mode: u32) -> fs::Permissions {
        fs::Permissions::from_mode(mode)
    }

    pub(super) fn is_at(file: &File, path: &Path) -> io::Result<bool> {
        let (file, path) = (file.metadata()?, fs::symlink_metadata(path)?);
        Ok((file.dev(), file.ino()) == (path.dev(), path.ino()))
    }

    /// Removes a file whose writer is gone.
    pub(super) fn remove_if_stale(path: &Path) -> io::Result<()> {
        // Nothing else is one of ours, and opening a pipe would wait for its other end.
        if !fs::symlink_metadata(path)?.is_file() {
            return Ok(());
        }
        let file = File::open(path)?;
        file.try_lock()?;
        if is_at(&file, path)? { fs::remove_file(path) } else { Ok(()) }
    }
}

#[cfg(all(test, unix))]
mod tests {
    use super::*;

    fn create(target: &Path) -> NamedTempFile {
        super::create(target, None).unwrap()
    }

    fn target() -> (tempfile::TempDir, PathBuf) {
        let folder = tempfile::tempdir().unwrap();
        let target = folder.path().join("a");
        (folder, target)
    }

    fn names(folder: &tempfile::TempDir) -> Vec<String> {
        let entries = fs::read_dir(folder).unwrap();
        let name = |entry: fs::DirEntry| entry.file_name().into_string().unwrap();
        let mut names: Vec<_> = entries.map(|entry| name(entry.unwrap())).collect();
        names.sort();
        names
    }

    #[test]
    fn what_was_left_behind_is_swept_up_and_what_is_being_written_is_not() {
        let (folder, target) = target();
        for name in [".a.unfinished-0", ".a.unfinished-2", ".a.unfinished-3", ".b.unfinished-0"] {
            fs::write(folder.path().join(name), "left behind").unwrap();
        }
        let first = create(&target);
        assert_eq!(names(&folder), [".a.unfinished-0", ".b.unfinished-0"]);
        let second = create(&target);
        assert_eq!(names(&folder), [".a.unfinished-0", ".a.unfinished-1", ".b.unfinished-0"]);
        assert!(is_at(first.as_file(), first.path()) && is_at(second.as_file(), second.path()));
        drop(first);
        let third = create(&target);
        assert_eq!(third.path().file_name().unwrap(), ".a.unfinished-0");
        drop((second, third));
        assert_eq!(names(&folder), [".b.unfinished-0"]);
    }

    #[test]
    fn what_is_no_file_of_ours_stays() {
        let (folder, target) = target();
        let precious = folder.path().join("precious");
        fs::write(&precious, "").unwrap();
        std::os::unix::fs::symlink(&precious, folder.path().join(".a.unfinished-0")).unwrap();
        fs::create_dir(folder.path().join(".a.unfinished-1")).unwrap();
        fs::write(folder.path().join(".a.unfinished-01"), "").unwrap();
        fs::write(folder.path().join(".a.unfinished-notes"), "").unwrap();
        let before = names(&folder);
        let file = create(&target);
        assert_eq!(file.path().file_name().unwrap(), ".a.unfinished-2");
        drop(file);
        assert_eq!(names(&folder), before);
    }

    #[test]
    fn a_sweeper_that_comes_late_does_not_take_a_file_of_the_same_name() {
        let (folder, target) = target();
        let path = folder.path().join(".a.unfinished-0");
        fs::write(&path, "left behind").unwrap();
        // Open, but not locked yet, when another sweeps and writes.
        let old = fs::File::open(&path).unwrap();
        let live = create(&target);
        old.try_lock().unwrap();
        assert!(!is_at(&old, &path));
        assert!(unix::remove_if_stale(&path).is_err());
        assert!(is_at(live.as_file(), &path));
    }

    #[test]
    fn only_ones_own_file_is_removed_from_elsewhere() {
        let (folder, target) = target();
        let first = create(&target);
        let unfinished = Unfinished::new(&first).unwrap();
        first.persist(&target).unwrap();
        let second = create(&target);
        unfinished.remove().unwrap();
        assert_eq!(names(&folder), [".a.unfinished-0", "a"]);
        Unfinished::new(&second).unwrap().remove().unwrap();
        assert_eq!(names(&folder), ["a"]);
    }

    #[test]
    fn a_file_that_a_sweeper_locked_first_is_left_to_it() {
        let (folder, _) = target();
        let path = folder.path().join(".a.unfinished-0");
        let file = tempfile::Builder::new()
            .prefix(".a.unfinished-0")
            .rand_bytes(0)
            .tempfile_in(&folder)
            .unwrap();
        let sweeper = fs::File::open(&path).unwrap();
        sweeper.lock().unwrap();
        assert!(!is_claimed(&file));
        fs::remove_file(&path).unwrap();
        drop(sweeper);
        assert!(!is_claimed(&file));
    }

    #[test]
    fn many_writers_at_once_all_keep_their_files() {
        let (folder, target) = target();
        std::thread::scope(|scope| {
            for _ in 0..4 {
                scope.spawn(|| {
                    for _ in 0..300 {
                        let file = create(&target);
                        assert!(is_at(file.as_file(), file.path()));
                        std::thread::yield_now();
                        assert!(is_at(file.as_file(), file.path()));
                    }
                });
            }
        });
        assert_eq!(names(&folder), [""; 0]);
    }
}
