//! `check-spec-map`: what docs/spec-map.md names exists.
//!
//! Names are searched for in the text of the files. That they do what the map says is what the
//! tests are for; the check only keeps renamed and deleted ones out of the map.

use std::collections::HashMap;
use std::error::Error;
use std::fs;
use std::path::Path;

const MAP: &str = "docs/spec-map.md";
const FORMAT: &str = "docs/format.md";

/// Checks the map in the repository at `root`.
pub(crate) fn check(root: &Path) -> Result<(), Box<dyn Error>> {
    let read = |path: &str| {
        fs::read_to_string(root.join(path)).map_err(|error| format!("cannot read {path}: {error}"))
    };
    let (map, format) = (read(MAP)?, read(FORMAT)?);
    let mut mistakes = Vec::new();
    if headings(&map).ne(headings(&format)) {
        mistakes.push(format!("the headings are not those of {FORMAT}"));
    }
    let mut sources = HashMap::new();
    for (line, number) in map.lines().zip(1..) {
        let Some(row) = line.strip_prefix("| ").filter(|row| !row.starts_with("rule ")) else {
            continue;
        };
        let mut mistake = |text: String| mistakes.push(format!("line {number}: {text}"));
        let columns: Vec<&str> = row.trim_end_matches(" |").split(" | ").collect();
        let [_, kept_by, held_by] = columns[..] else {
            mistake("a row has a rule, the functions that keep it, and what holds them".into());
            continue;
        };
        for (column, is_test) in [(kept_by, false), (held_by, true)] {
            let mut count = 0;
            for name in column.split('`').skip(1).step_by(2) {
                count += 1;
                let found = match name.split_once(": ") {
                    Some((path, function)) => {
                        let source = sources.entry(path.to_owned()).or_insert_with(|| {
                            fs::read_to_string(root.join("crates").join(path)).unwrap_or_default()
                        });
                        has_function(source, function, is_test)
                    }
                    None => {
                        let fixture = format!("fixtures/conformance/{name}.hrry");
                        is_test && root.join(fixture).is_file()
                    }
                };
                if !found {
                    let what = if is_test { "test or fixture" } else { "function" };
                    mistake(format!("there is no {what} `{name}`"));
                }
            }
            if count == 0 {
                mistake("a rule is kept by a function and held by a test or a fixture".into());
            }
        }
    }
    if mistakes.is_empty() {
        return Ok(());
    }
    Err(format!("{MAP} is not right:\n  {}", mistakes.join("\n  ")).into())
}

fn headings(text: &str) -> impl Iterator<Item = &str> {
    text.lines().filter(|line| line.starts_with("## "))
}

/// Whether a source file has a function, or a test, of this name.
fn has_function(source: &str, name: &str, is_test: bool) -> bool {
    let mut is_marked = false;
    for line in source.lines().map(str::trim_start) {
        let words = line.split_once("fn ").filter(|(before, _)| {
            before
                .split_whitespace()
                .all(|word| matches!(word, "const" | "unsafe") || word.starts_with("pub"))
        });
        let named = words.and_then(|(_, rest)| rest.strip_prefix(name));
        let is_it = named.is_some_and(|rest| rest.starts_with(['(', '<']));
        if is_it && (is_marked || !is_test) {
            return true;
        }
        // Other attributes may stand between the mark and the function.
        is_marked = line == "#[test]" || is_marked && line.starts_with("#[");
    }
    false
}

#[cfg(test)]
mod tests {
    use super::*;

    const SOURCE: &str = "pub(crate) const fn kept<T>(x: T) {}\n\
        // fn mentioned()\n\
        #[test]\n\
        #[cfg(unix)]\n\
        fn held() {}\n\
        fn helper() {}\n";

    #[test]
    fn functions_and_tests_are_found_by_their_whole_name() {
        assert!(has_function(SOURCE, "kept", false));
        assert!(!has_function(SOURCE, "kep", false));
        assert!(!has_function(SOURCE, "mentioned", false));
        assert!(has_function(SOURCE, "held", true));
        assert!(!has_function(SOURCE, "helper", true));
        assert!(!has_function(SOURCE, "kept", true));
    }

    #[test]
    fn a_map_that_names_what_is_not_there_is_refused() {
        let folder = tempfile::tempdir().unwrap();
        let root = folder.path();
        let write = |path: &str, text: &str| {
            fs::create_dir_all(root.join(path).parent().unwrap()).unwrap();
            fs::write(root.join(path), text).unwrap();
        };
        write("crates/a/src/lib.rs", SOURCE);
        write("fixtures/conformance/reject/bad.hrry", "");
        write(FORMAT, "# Format\n\n## Modes\n");
        let rows = |rows: &str| {
            write(
                MAP,
                &format!("## Modes\n\n| rule | kept by | held by |\n|---|---|---|\n{rows}\n"),
            );
            check(root).map_err(|error| error.to_string())
        };
        let (kept, held) = ("`a/src/lib.rs: kept`", "`a/src/lib.rs: held`");
        rows(&format!("| x | {kept} | {held}, `reject/bad` |")).unwrap();
        let error = rows(&format!("| x | `a/src/lib.rs: lost` | {held} |")).unwrap_err();
        assert!(error.ends_with("line 5: there is no function `a/src/lib.rs: lost`"), "{error}");
        assert!(rows(&format!("| x | {kept} | {kept} |")).is_err());
        assert!(rows(&format!("| x | {kept} | `reject/lost` |")).is_err());
        assert!(rows(&format!("| x | {kept} | |")).is_err());
        write(FORMAT, "## Modes\n## Versions\n");
        let error = rows(&format!("| x | {kept} | {held} |")).unwrap_err();
        assert!(error.contains("headings"), "{error}");
    }
}
