//! Files cut short, changed, or changing.

mod common;

use std::fs;

use common::{QUICK, example_file, worked_example, written};
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
    let path = written.folder.path().join("flipped.hrry");
    let mut flipped = bytes.clone();
    for at in (0..257).chain(data_end..bytes.len()) {
        for bit in 0..8 {
            flipped[at] ^= 1 << bit;
            fs::write(&path, &flipped).unwrap();
            match File::open(&path) {
                Err(_) => {}
                Ok(_) if at >= index => panic!("byte {at}, bit {bit}"),
                // What opens has the tensor still, or says why not; no bit makes it panic.
                Ok(file) => drop(file.tensor("x").unwrap().read().map(|buffers| buffers.verify())),
            }
            flipped[at] = bytes[at];
        }
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
