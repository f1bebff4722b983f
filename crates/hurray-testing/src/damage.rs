//! Bytes that are nearly valid.

use hurray_format::cast::to_usize;
use hurray_format::container::{HEADER_LENGTH, Header, TRAILER_LENGTH, Trailer};

use crate::Choices;

/// Changes at most this many places.
const MOST: usize = 8;

/// Damages bytes in a few places, or in none if there are no choices left. `other` are bytes of the
/// same kind, to copy from.
pub fn damage(bytes: &mut Vec<u8>, other: &[u8], choices: &mut Choices<'_>) {
    for _ in 0..MOST {
        if choices.is_empty() || bytes.is_empty() {
            return;
        }
        let at = choices.below(bytes.len());
        match choices.below(10) {
            0 => put(bytes, at, &choices.telling_word().to_le_bytes()),
            1 => put(bytes, at, &choices.telling_word().to_le_bytes()[..4]),
            2 => bytes[at] ^= 1 << choices.below(8),
            3 => bytes[at] = choices.byte(),
            4 => bytes[at] = bytes[at].wrapping_add(*choices.pick(&[1, 255, 2, 8])),
            // Words are aligned in many places.
            5 => put(bytes, at / 8 * 8, &choices.telling_word().to_le_bytes()),
            6 => {
                let from = choices.below(other.len());
                let length = choices.below(64);
                put(bytes, at, other.get(from..).unwrap_or(&[]).get(..length).unwrap_or(&[]));
            }
            7 => {
                let length = choices.below(9);
                bytes.splice(at..at, choices.take(length).iter().copied());
            }
            8 => drop(bytes.drain(at..bytes.len().min(at + choices.below(9)))),
            _ => bytes.truncate(at),
        }
    }
}

/// Damages a part of a file in place, and leaves its length.
pub fn damage_part(bytes: &mut [u8], choices: &mut Choices<'_>) {
    for _ in 0..MOST {
        if choices.is_empty() || bytes.is_empty() {
            return;
        }
        let at = choices.below(bytes.len());
        match choices.below(6) {
            0 => put(bytes, at / 8 * 8, &choices.telling_word().to_le_bytes()),
            1 => put(bytes, at, &choices.telling_word().to_le_bytes()[..4]),
            2 => bytes[at] = bytes[at].wrapping_add(*choices.pick(&[1, 255, 2, 8])),
            3 => bytes[at] ^= 1 << choices.below(8),
            4 => bytes[at] = choices.byte(),
            _ => {
                // Words change places.
                let from = choices.below(bytes.len()) / 8 * 8;
                let word = bytes.get(from..from + 8).map(<[u8]>::to_vec).unwrap_or_default();
                put(bytes, at / 8 * 8, &word);
            }
        }
    }
}

/// Writes as much of `new` as there is room for.
fn put(bytes: &mut [u8], at: usize, new: &[u8]) {
    for (old, &new) in bytes[at..].iter_mut().zip(new) {
        *old = new;
    }
}

/// Gives a file the checksum of its index, if it has one and the index can be found, so that
/// readers look further.
pub fn repair_checksum(file: &mut [u8]) {
    let Some(start) = file.len().checked_sub(to_usize(TRAILER_LENGTH)) else { return };
    let Ok(header) = Header::decode(&file[..file.len().min(to_usize(HEADER_LENGTH))]) else {
        return;
    };
    let Ok(trailer) = Trailer::decode(&file[start..], start as u64, &header) else { return };
    if header.has_checksum {
        let index = &file[to_usize(trailer.index.start)..to_usize(trailer.index.end)];
        let checksum = crc32c::crc32c(index).to_le_bytes();
        put(file, start + 28, &checksum);
    }
}
