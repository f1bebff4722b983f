//! Files cut short, changed, or changing.

mod common;

use std::fs;
use std::io::{Seek, SeekFrom, Write};

use common::{QUICK, example_file, worked_example, written};
use hurray_format::container::{Header, Index, IndexEntry, Trailer};
use hurray_format::{Shape, Values};
use hurray_io::{Error, File};

#[test]
fn a_file_cut_at_any_length_is_refused() {
    let written = written(QUICK, |writer| {
        writer.row_major("x", Shape::new([2]).unwrap(), &Values::from_slice(&[1u8, 2])).unwrap();
        writer.set_metadata("key", "value").unwrap();
    });
    let file = fs::File::options().write(true).open(&written.path).unwrap();
    for length in (0..file.metadata().unwrap().len()).rev() {
        file.set_len(length).unwrap();
        for options in [File::options(), File::options().permissive()] {
            let error = options.open(&written.path).expect_err("a cut file");
            assert!(matches!(error, Error::Decode { .. }), "{length} bytes: {error}");
        }
    }
}

#[test]
fn a_flipped_bit_beside_the_data_is_an_error_or_harmless() {
    let written = written(QUICK, |writer| {
        writer.csf("x", &worked_example()).unwrap();
        writer.set_metadata("key", "value").unwrap();
    });
    let bytes = fs::read(&written.path).unwrap();
    let data = File::open(&written.path).unwrap().get(0).unwrap().index_entry().data();
    let data_end = usize::try_from(data.end).unwrap();
    let index = bytes.len() - 40 - (8 + 2 + 1 + 32);
    let mut out = fs::File::options().write(true).open(&written.path).unwrap();
    let mut put = |at: usize, byte: u8| {
        out.seek(SeekFrom::Start(u64::try_from(at).unwrap())).unwrap();
        out.write_all(&[byte]).unwrap();
    };
    for at in (0..257).chain(data_end..bytes.len()) {
        for bit in 0..8 {
            put(at, bytes[at] ^ 1 << bit);
            match File::open(&written.path) {
                Err(_) => {}
                Ok(_) if at >= index => panic!("byte {at}, bit {bit}"),
                // What opens has the tensor still, or says why not; no bit makes it panic.
                Ok(file) => drop(file.tensor("x").unwrap().read().map(|buffers| buffers.verify())),
            }
        }
        put(at, bytes[at]);
    }
}

#[test]
fn a_file_that_shrinks_while_it_is_read_is_an_error() {
    let written = example_file();
    let file = File::open(&written.path).unwrap();
    fs::File::options().write(true).open(&written.path).unwrap().set_len(5000).unwrap();
    let error = file.tensor("x").unwrap().read().unwrap_err();
    assert!(matches!(error, Error::Io { .. }), "{error}");
    assert!(matches!(file.verify(), Err(Error::Io { .. })));
}

/// A file of two tensors whose index was changed, its checksum with it.
fn with_index(change: impl FnOnce(&mut Vec<IndexEntry>)) -> Result<File, Error> {
    let written = written(QUICK, |writer| {
        writer.csf("x", &worked_example()).unwrap();
        writer.csf("y", &worked_example()).unwrap();
    });
    let bytes = fs::read(&written.path).unwrap();
    let trailer_offset = bytes.len() - 40;
    let header = Header::decode(&bytes[..64]).unwrap();
    let offset = u64::try_from(trailer_offset).unwrap();
    let trailer = Trailer::decode(&bytes[trailer_offset..], offset, &header).unwrap();
    let start = usize::try_from(trailer.index.start).unwrap();
    let mut index = Index::decode(&bytes[start..trailer_offset], &header, &trailer).unwrap();
    change(&mut index.entries);
    let index = index.encode().unwrap();
    let end = trailer.index.start + u64::try_from(index.len()).unwrap();
    let checksum = Some(Index::checksum(&index));
    let trailer = Trailer { index: trailer.index.start..end, index_checksum: checksum, ..trailer };
    let parts = [&bytes[..start], &index, &trailer.encode().unwrap()];
    fs::write(&written.path, parts.concat()).unwrap();
    File::open(&written.path)
}

#[test]
fn an_index_that_lies_about_a_tensor_is_refused() {
    assert_eq!(with_index(|_| {}).unwrap().len(), 2);
    let refused = |change: fn(&mut Vec<IndexEntry>), message: &str| {
        let error = with_index(change).unwrap_err().to_string();
        assert!(error.contains(message), "{error}");
    };
    // Two names for one tensor would make a file look larger than it is.
    refused(
        |entries| entries[1] = IndexEntry { name: "y".into(), ..entries[0].clone() },
        "tensor `y`: bytes from 64 on belong to tensor `x` as well",
    );
    refused(
        |entries| drop(entries.remove(0)),
        "the header puts the first descriptor at byte 64, the index at byte 28",
    );
    refused(
        |entries| entries[1].data_offset -= 8,
        "tensor `y`: data_offset 32760 is not a multiple of data_buffer_alignment 4096",
    );
    refused(
        |entries| entries[0].data_offset += 4096,
        "tensor `y`: bytes from 28704 on belong to tensor `x` as well",
    );
    refused(
        |entries| entries[1].data_length -= 8,
        "tensor `y`: data_length in the index is 24600, but the buffers from byte 32768 on take 24608 bytes",
    );
    refused(|entries| entries[1].descriptor_length += 8, "tensor `y`: descriptor_length");
}
