//! What the binary says of every fixture, as snapshots.

mod common;

use std::fs;
use std::path::Path;

use common::run_in;

const FIXTURES: &str = concat!(env!("CARGO_MANIFEST_DIR"), "/../../fixtures");

/// The names of the Hurray files in a folder, sorted, without the ending.
fn names(folder: &Path) -> Vec<String> {
    let entries = fs::read_dir(folder).unwrap().map(|entry| entry.unwrap().path());
    let hurray = entries.filter(|path| path.extension().is_some_and(|ending| ending == "hrry"));
    let mut names: Vec<_> =
        hurray.map(|path| path.file_stem().unwrap().to_str().unwrap().to_owned()).collect();
    names.sort();
    assert!(!names.is_empty());
    names
}

/// Snapshots what `inspect` prints for each file, all of which pass `verify`.
fn dump_all(folder: &Path, prefix: &str) {
    let names = names(folder);
    let files: Vec<String> = names.iter().map(|name| format!("{name}.hrry")).collect();
    let mut arguments = vec!["verify"];
    arguments.extend(files.iter().map(String::as_str));
    assert_eq!(run_in(folder, &arguments, b"").ok().lines().count(), names.len());
    for (name, file) in names.iter().zip(&files) {
        let dump = run_in(folder, &["inspect", file], b"").ok();
        insta::assert_snapshot!(format!("{prefix}_{name}"), dump);
    }
}

#[test]
fn every_accepted_fixture_is_dumped_like_this() {
    dump_all(&Path::new(FIXTURES).join("conformance/accept"), "accept");
}

#[test]
fn every_fixture_of_our_own_is_dumped_like_this() {
    dump_all(Path::new(FIXTURES), "own");
}

#[test]
fn every_refused_fixture_is_refused_in_one_line_that_begins_with_its_path() {
    let folder = Path::new(FIXTURES).join("conformance/reject");
    for name in names(&folder) {
        let run = run_in(&folder, &["verify", &format!("{name}.hrry")], b"");
        assert_eq!((run.code, run.stdout.as_str()), (Some(1), ""), "{name}");
        assert_eq!(run.stderr.lines().count(), 1, "{name}");
        assert!(run.stderr.starts_with(&format!("error: {name}.hrry: ")), "{}", run.stderr);
    }
}
