//! Runs the binary in a folder of its own and looks at what comes out.
#![allow(dead_code, missing_docs, reason = "each test file uses a part of it")]

use std::fs;
use std::io::Write;
use std::path::{Path, PathBuf};
use std::process::{Command, Stdio};

/// The worked example of the CSF section as text.
pub(crate) const EXAMPLE: &str = "1 1 2 1\n1 3 4 2\n2 2 1 3\n2 2 3 4\n";

/// What a run of the binary gave.
#[derive(Debug, PartialEq, Eq)]
pub(crate) struct Run {
    pub(crate) code: Option<i32>,
    pub(crate) stdout: String,
    pub(crate) stderr: String,
}

impl Run {
    /// The command has succeeded without a word on stderr; gives its output.
    #[track_caller]
    pub(crate) fn ok(self) -> String {
        assert_eq!((self.code, self.stderr.as_str()), (Some(0), ""), "{self:?}");
        self.stdout
    }

    /// The command has ended with this exit code, this line on stderr and no output.
    #[track_caller]
    pub(crate) fn fails(self, code: i32, message: &str) {
        assert_eq!(self.stderr, format!("error: {message}\n"));
        assert_eq!((self.code, self.stdout.as_str()), (Some(code), ""));
    }
}

/// A folder that the binary runs in.
pub(crate) struct Folder(tempfile::TempDir);

impl Folder {
    pub(crate) fn new() -> Self {
        Self(tempfile::tempdir().unwrap())
    }

    /// A folder with the worked example in `a.tns`, and with float32 values in `a.hrry`.
    pub(crate) fn with_example() -> Self {
        let folder = Self::new();
        folder.write("a.tns", EXAMPLE);
        folder.run("convert a.tns a.hrry --type float32 --quiet").ok();
        folder
    }

    pub(crate) fn path(&self, name: &str) -> PathBuf {
        self.0.path().join(name)
    }

    pub(crate) fn write(&self, name: &str, contents: impl AsRef<[u8]>) {
        fs::write(self.path(name), contents).unwrap();
    }

    pub(crate) fn read(&self, name: &str) -> Vec<u8> {
        fs::read(self.path(name)).unwrap()
    }

    /// The names of all files.
    pub(crate) fn files(&self) -> Vec<String> {
        let entries = fs::read_dir(self.0.path()).unwrap();
        let name = |entry: fs::DirEntry| entry.file_name().into_string().unwrap();
        let mut names: Vec<_> = entries.map(|entry| name(entry.unwrap())).collect();
        names.sort();
        names
    }

    /// Runs the binary with arguments that are divided by blanks.
    pub(crate) fn run(&self, arguments: &str) -> Run {
        self.run_with(arguments, "")
    }

    /// The same, with something on standard input.
    pub(crate) fn run_with(&self, arguments: &str, input: impl AsRef<[u8]>) -> Run {
        let arguments: Vec<&str> = arguments.split_whitespace().collect();
        run_in(self.0.path(), &arguments, input.as_ref())
    }
}

/// Runs the binary in a folder.
pub(crate) fn run_in(folder: &Path, arguments: &[&str], input: &[u8]) -> Run {
    let mut child = Command::new(env!("CARGO_BIN_EXE_hurray"))
        .args(arguments)
        .current_dir(folder)
        .stdin(Stdio::piped())
        .stdout(Stdio::piped())
        .stderr(Stdio::piped())
        .spawn()
        .unwrap();
    // A command that does not read its input closes it.
    let _ = child.stdin.take().unwrap().write_all(input);
    let output = child.wait_with_output().unwrap();
    Run {
        code: output.status.code(),
        stdout: String::from_utf8(output.stdout).unwrap(),
        stderr: String::from_utf8(output.stderr).unwrap(),
    }
}
