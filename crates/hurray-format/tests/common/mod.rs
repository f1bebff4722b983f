//! The conformance corpus. The container is taken apart by hand, as far as that is needed to find
//! the descriptors.
#![allow(dead_code, unreachable_pub)]

use std::fs;
use std::path::{Path, PathBuf};

use hurray_format::{DecodeError, Mode, TensorDescriptor};
use serde_json::Value as Json;

pub fn corpus() -> PathBuf {
    Path::new(env!("CARGO_MANIFEST_DIR")).join("../../fixtures/conformance")
}

pub fn listing(name: &str) -> Vec<Json> {
    let text = fs::read_to_string(corpus().join(name)).unwrap();
    serde_json::from_str(&text).unwrap()
}

/// A descriptor as the index of its file names it.
pub struct Found {
    pub name: Vec<u8>,
    pub offset: u64,
    pub bytes: Vec<u8>,
    /// Where buffer 0 lies.
    pub data_offset: u64,
}

impl Found {
    pub fn decode(&self, mode: Mode) -> Result<TensorDescriptor, DecodeError> {
        TensorDescriptor::decode(&self.bytes, self.offset, mode)
    }
}

pub fn word(bytes: &[u8], at: usize) -> Option<u64> {
    Some(u64::from_le_bytes(*bytes.get(at..)?.first_chunk()?))
}

pub fn range(bytes: &[u8], start: u64, length: u64) -> Option<&[u8]> {
    let start = usize::try_from(start).ok()?;
    bytes.get(start..start.checked_add(usize::try_from(length).ok()?)?)
}

/// The descriptors of a file; `None` where the container does not lead to them.
fn descriptors(file: &[u8]) -> Option<Vec<Found>> {
    let trailer = file.len().checked_sub(40)?;
    let index = range(file, word(file, trailer)?, word(file, trailer + 8)?)?;
    let mut rest = index.get(8..)?;
    let mut found = Vec::new();
    for _ in 0..word(index, 0)? {
        let length = usize::from(u16::from_le_bytes(*rest.first_chunk()?));
        let name = rest.get(2..2 + length)?.to_vec();
        let entry = rest.get(2 + length..)?;
        let offset = word(entry, 0)?;
        let length = u32::from_le_bytes(*entry.get(8..)?.first_chunk()?);
        let bytes = range(file, offset, length.into())?.to_vec();
        found.push(Found { name, offset, bytes, data_offset: word(entry, 12)? });
        rest = entry.get(32..)?;
    }
    Some(found)
}

pub fn read(file: &Json) -> (String, Option<Vec<Found>>) {
    let name = file["file"].as_str().unwrap();
    (name.to_owned(), descriptors(&fs::read(corpus().join(name)).unwrap()))
}

pub fn numbers(list: &Json) -> Vec<u64> {
    list.as_array().unwrap().iter().map(|n| n.as_u64().unwrap()).collect()
}
