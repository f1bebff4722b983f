//! The fixtures of the project, as bytes to start from: the files that its own writer wrote, and the
//! foreign ones that have to be read and to be refused.

use std::fs;
use std::ops::Range;
use std::path::{Path, PathBuf};
use std::sync::LazyLock;

use hurray_format::cast::to_usize;
use hurray_format::container::{HEADER_LENGTH, Header, Index, TRAILER_LENGTH, Trailer};
use hurray_io::File;

/// A file to start from.
#[derive(Clone, Debug)]
pub struct Seed {
    /// Where it lies.
    pub path: PathBuf,
    /// What it holds.
    pub bytes: Vec<u8>,
    /// The parts of it that mean something: header, trailer, index, metadata, descriptors and
    /// buffers as far as they can be found; between them is padding.
    pub parts: Vec<Range<usize>>,
}

/// The folder of the fixtures.
#[must_use]
pub fn folder() -> PathBuf {
    Path::new(env!("CARGO_MANIFEST_DIR")).join("../../fixtures")
}

/// Every Hurray file of the fixtures, by path.
///
/// # Panics
/// If they cannot be read.
#[must_use]
pub fn files() -> &'static [Seed] {
    static SEEDS: LazyLock<Vec<Seed>> = LazyLock::new(|| {
        let folders = ["", "conformance/accept", "conformance/reject"];
        let entries = folders
            .iter()
            .flat_map(|name| fs::read_dir(folder().join(name)).expect("the fixtures are there"));
        let mut paths: Vec<PathBuf> = entries
            .map(|entry| entry.expect("a folder can be listed").path())
            .filter(|path| path.extension().is_some_and(|extension| extension == "hrry"))
            .collect();
        paths.sort();
        let seed = |path: PathBuf| {
            let bytes = fs::read(&path).expect("a fixture can be read");
            let parts = parts(&path, &bytes);
            Seed { path, bytes, parts }
        };
        paths.into_iter().map(seed).collect()
    });
    &SEEDS
}

/// The descriptors of all of these files, each once, as they lie.
#[must_use]
pub fn descriptors() -> &'static [Vec<u8>] {
    static DESCRIPTORS: LazyLock<Vec<Vec<u8>>> = LazyLock::new(|| {
        let mut descriptors: Vec<Vec<u8>> = files()
            .iter()
            .filter_map(|seed| Some((seed, container(&seed.bytes)?.2)))
            .flat_map(|(seed, index)| {
                let ranges = index.entries.into_iter().map(|entry| entry.descriptor());
                ranges.filter_map(|range| slice(&seed.bytes, &range)).collect::<Vec<_>>()
            })
            .collect();
        descriptors.sort();
        descriptors.dedup();
        descriptors
    });
    &DESCRIPTORS
}

fn slice(bytes: &[u8], range: &Range<u64>) -> Option<Vec<u8>> {
    bytes.get(to_usize(range.start)..to_usize(range.end)).map(<[u8]>::to_vec)
}

/// The parts of the container, if they can be decoded.
fn container(bytes: &[u8]) -> Option<(Header, Trailer, Index)> {
    let start = bytes.len().checked_sub(to_usize(TRAILER_LENGTH))?;
    let header = Header::decode(bytes.get(..to_usize(HEADER_LENGTH))?).ok()?;
    let trailer = Trailer::decode(&bytes[start..], start as u64, &header).ok()?;
    let index = Index::decode(&slice(bytes, &trailer.index)?, &header, &trailer).ok()?;
    Some((header, trailer, index))
}

fn parts(path: &Path, bytes: &[u8]) -> Vec<Range<usize>> {
    let end = bytes.len() as u64;
    let mut parts = vec![0..HEADER_LENGTH, end.saturating_sub(TRAILER_LENGTH)..end];
    if let Some((_, trailer, index)) = container(bytes) {
        parts.extend(trailer.metadata);
        parts.push(trailer.index);
        parts.extend(index.entries.iter().map(|entry| entry.descriptor()));
    }
    if let Ok(file) = File::options().permissive().open(path) {
        parts.extend(file.tensors().flat_map(|tensor| tensor.buffer_ranges().to_vec()));
    }
    let parts = parts.into_iter().map(|part| part.start.min(end)..part.end.min(end));
    parts
        .filter(|part| !part.is_empty())
        .map(|part| to_usize(part.start)..to_usize(part.end))
        .collect()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn every_fixture_is_a_seed_and_its_parts_lie_in_it() {
        assert!(files().len() > 200, "{}", files().len());
        assert!(descriptors().len() > 100, "{}", descriptors().len());
        for seed in files() {
            assert!(seed.parts.iter().all(|part| part.end <= seed.bytes.len()), "{:?}", seed.path);
        }
        let example = files().iter().find(|seed| seed.path.ends_with("example_012.hrry"));
        // Header, trailer, index, a descriptor and seven buffers.
        assert_eq!(example.map(|seed| seed.parts.len()), Some(11));
    }
}
