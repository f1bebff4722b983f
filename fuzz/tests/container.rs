//! The parts of a container, each with a length of its own: header, trailer, index and key-value
//! section. What decodes encodes to the same bytes, unless a later version may have added some, and
//! no part allocates more than a small multiple of its bytes.

use hurray_format::Metadata;
use hurray_format::cast::{to_u64, to_usize};
use hurray_format::container::{HEADER_LENGTH, Header, Index, TRAILER_LENGTH, Trailer};
use hurray_testing::memory::{self, Counting};
use hurray_testing::{Choices, counted, damage, seeds};

#[global_allocator]
static ALLOCATOR: Counting = Counting;

#[test]
fn container() {
    bolero::check!().for_each(counted(run));
}

fn run(input: &[u8]) {
    let mut choices = Choices::new(input);
    let seeds = seeds::files();
    let file = &choices.pick(seeds).bytes;
    let (head, tail) = (to_usize(HEADER_LENGTH), to_usize(TRAILER_LENGTH));
    let Some(end) = file.len().checked_sub(tail).filter(|&end| end >= head) else { return };
    let (mut header, mut trailer) = (file[..head].to_vec(), file[end..].to_vec());
    let Ok(intact) = Header::decode(&header) else { return };
    let Ok(found) = Trailer::decode(&trailer, to_u64(end), &intact) else { return };
    let mut index = part(file, &found.index);
    let mut metadata = match &found.metadata {
        Some(range) => part(file, range),
        None => some_metadata().encode().expect("short texts"),
    };
    let is_raw = choices.one_in(8);
    match choices.below(4) {
        0 if is_raw => index = choices.rest().to_vec(),
        1 if is_raw => metadata = choices.rest().to_vec(),
        2 if is_raw => header = choices.rest().to_vec(),
        3 if is_raw => trailer = choices.rest().to_vec(),
        0 => damage::damage(&mut index, &metadata, &mut choices),
        1 => damage::damage(&mut metadata, &index, &mut choices),
        2 => damage::damage(&mut header, &trailer, &mut choices),
        _ => damage::damage(&mut trailer, &header, &mut choices),
    }

    let size = header.len() + trailer.len() + index.len() + metadata.len();
    let ((), usage) = memory::measure(|| check(&header, &trailer, to_u64(end), &index, &metadata));
    assert!(usage.peak <= 64 * size + 4096, "{usage:?} for {size} bytes");
}

fn part(file: &[u8], range: &std::ops::Range<u64>) -> Vec<u8> {
    file.get(to_usize(range.start)..to_usize(range.end)).unwrap_or(&[]).to_vec()
}

/// A value of every kind but nested ones.
fn some_metadata() -> Metadata {
    let mut metadata = Metadata::default();
    let mut insert = |key: &str, value: hurray_format::MetadataValue| {
        metadata.insert(key, value).expect("another key");
    };
    insert("text", "v".into());
    insert("integer", 3u64.into());
    insert("negative", (-3i64).into());
    insert("float", 1.5.into());
    insert("flag", true.into());
    insert("bytes", vec![1u8, 2].into());
    insert("texts", vec!["x".to_owned(), "yy".to_owned()].into());
    insert("numbers", vec![1i64, 2].into());
    metadata
}

fn check(header: &[u8], trailer: &[u8], end: u64, index: &[u8], metadata: &[u8]) {
    let Ok(header) = Header::decode(header) else { return };
    assert_eq!(Header::decode(&header.encode()).as_ref(), Ok(&header));
    let is_first = header.version_minor == 0;
    if let Ok(decoded) = Metadata::decode(metadata, u64::MAX - 8, &header) {
        let again = decoded.encode().expect("as long as what was decoded");
        assert!(!is_first || again == metadata);
        assert_eq!(
            Metadata::decode(&again, 0, &header).as_ref().map(Metadata::len),
            Ok(decoded.len())
        );
        assert!(decoded.iter().all(|(key, _)| decoded.get(key).is_some()));
    }
    let Ok(mut decoded) = Trailer::decode(trailer, end, &header) else { return };
    // Bytes behind it are not looked at.
    assert_eq!(decoded.encode().as_deref(), Ok(&trailer[..to_usize(TRAILER_LENGTH)]));
    let _ = decoded.tensors_end();
    if decoded.index_checksum.is_some() {
        decoded.index_checksum = Some(Index::checksum(index));
    }
    if let Ok(found) = Index::decode(index, &header, &decoded) {
        let again = found.encode().expect("as long as what was decoded");
        assert!(!is_first || again == index);
        decoded.index_checksum = decoded.index_checksum.map(|_| Index::checksum(&again));
        assert_eq!(Index::decode(&again, &header, &decoded).as_ref(), Ok(&found));
    }
}
