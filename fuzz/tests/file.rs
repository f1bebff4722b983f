//! Whole files: fixtures damaged in their descriptors, indices and words, with checksums that are
//! right, so that readers get deep; or any bytes. Opened strictly and permissively, read and mapped,
//! verified, and every tensor used. Opening and verifying allocate no more than a small multiple of
//! the file.

use std::fs;
use std::io::{Seek, SeekFrom, Write};
use std::path::Path;
use std::sync::{LazyLock, Mutex, PoisonError};

use hurray_io::File;
use hurray_testing::memory::{self, Counting};
use hurray_testing::{Choices, counted, damage, exercise, seeds};
use tempfile::NamedTempFile;

#[global_allocator]
static ALLOCATOR: Counting = Counting;

#[test]
fn file() {
    bolero::check!().for_each(counted(run));
}

fn run(input: &[u8]) {
    static SCRATCH: LazyLock<Mutex<NamedTempFile>> = LazyLock::new(|| {
        // In memory where there is such a place, since it is written very often.
        let folder = Some(Path::new("/dev/shm")).filter(|folder| folder.is_dir());
        let folder = folder.map_or_else(std::env::temp_dir, Path::to_owned);
        Mutex::new(NamedTempFile::new_in(folder).expect("a temporary file can be made"))
    });
    let mut scratch = SCRATCH.lock().unwrap_or_else(PoisonError::into_inner);

    let mut choices = Choices::new(input);
    let bytes = match choices.one_in(16) {
        true => choices.take(usize::MAX).to_vec(),
        false => near_valid(&mut choices),
    };
    write(scratch.as_file_mut(), &bytes).expect("the temporary file can be written");
    let path = scratch.path();
    let (strict, usage) = memory::measure(|| {
        let file = File::open(path).map_err(|error| error.to_string()).ok()?;
        let _ = file.verify().map_err(|error| error.to_string());
        Some(file)
    });
    assert!(usage.peak <= 8 * bytes.len() + (1 << 20), "{usage:?} for {} bytes", bytes.len());
    let permissive = File::options().permissive().open(path);
    assert!(strict.is_none() || permissive.is_ok());
    if let Some(file) = &strict {
        // SAFETY: nobody else writes to the file, and this thread only when all is dropped.
        let mapped = unsafe { File::map(path) }.expect("what can be opened can be mapped");
        assert_eq!(mapped.verify().is_ok(), file.verify().is_ok());
        exercise::file(if choices.one_in(4) { &mapped } else { file }, &mut choices);
    } else if let Ok(file) = permissive {
        let _ = file.verify().map_err(|error| error.to_string());
        exercise::file(&file, &mut choices);
    }
}

fn near_valid(choices: &mut Choices<'_>) -> Vec<u8> {
    let seed = choices.pick(seeds::files());
    let mut bytes = seed.bytes.clone();
    let places = if seed.parts.is_empty() { 0 } else { 1 + choices.below(4) };
    for _ in 0..places {
        let part = choices.pick(&seed.parts).clone();
        let mut changes = Choices::new(choices.take(24));
        damage::damage_part(&mut bytes[part], &mut changes);
    }
    match choices.below(16) {
        13 => bytes.truncate(choices.below(bytes.len())),
        14 => bytes.extend_from_slice(&[0; 4096]),
        15 => return bytes,
        _ => {}
    }
    damage::repair_checksum(&mut bytes);
    bytes
}

fn write(file: &mut fs::File, bytes: &[u8]) -> std::io::Result<()> {
    file.set_len(bytes.len() as u64)?;
    file.seek(SeekFrom::Start(0))?;
    file.write_all(bytes)
}
