//! What travels with a key while entries are sorted, and values in a form that can travel.
//!
//! A payload is one word. A value of 1, 2, 4 or 8 bytes is its own; any other stays where it is,
//! and its position travels. Packed values are unpacked first, one to a byte, and packed again
//! at the end.

use hurray_format::{AlignedBytes, FormatError, Values, cast::to_u64, cast::to_usize};

use super::tasks;

/// Entries whose values one task moves.
const TASK: usize = 1 << 16;

/// The values of entries as whole bytes.
pub(crate) struct WholeBytes<'a> {
    /// The bytes of one value.
    pub(crate) width: usize,
    borrowed: &'a [u8],
    unpacked: Option<AlignedBytes>,
}

impl<'a> WholeBytes<'a> {
    /// Borrows values of whole bytes, unpacks others.
    pub(crate) fn new(values: &Values<&'a [u8]>) -> Self {
        let borrowed: &'a [u8] = values.into_inner();
        if !values.element_type().is_packed() {
            let width = values.element_type().bits() as usize / 8;
            return Self { width, borrowed, unpacked: None };
        }
        let mut unpacked = AlignedBytes::zeroed(values.len());
        for (position, byte) in unpacked.iter_mut().enumerate() {
            *byte = values.packed_bits(position).unwrap_or(0);
        }
        Self { width: 1, borrowed, unpacked: Some(unpacked) }
    }

    /// All values, `width` bytes each.
    fn bytes(&self) -> &[u8] {
        self.unpacked.as_deref().unwrap_or(self.borrowed)
    }

    /// What is to be sorted with the keys.
    pub(crate) fn payload(&self) -> Payload<'_> {
        let bytes = self.bytes();
        match self.width {
            8 => Payload::Eight(bytes.as_chunks().0),
            4 => Payload::Four(bytes.as_chunks().0),
            2 => Payload::Two(bytes.as_chunks().0),
            1 => Payload::One(bytes),
            _ => Payload::Position,
        }
    }

    /// A copy of all values, for entries that are sorted already.
    pub(crate) fn copy(&self) -> AlignedBytes {
        let bytes = self.bytes();
        let mut copy = AlignedBytes::zeroed(bytes.len());
        let pieces = bytes.chunks(TASK * 8).zip(copy.chunks_mut(TASK * 8)).collect();
        tasks::map(pieces, |(from, to): (&[u8], &mut [u8])| to.copy_from_slice(from));
        copy
    }

    /// The values in the order of sorted payloads, 8 bytes each.
    pub(crate) fn gather(&self, payloads: AlignedBytes) -> AlignedBytes {
        let width = self.width;
        if width == 8 {
            return payloads;
        }
        let (words, values) = (payloads.as_chunks::<8>().0, self.bytes());
        let is_carried = !matches!(self.payload(), Payload::Position);
        let mut gathered = AlignedBytes::zeroed(words.len() * width);
        let pieces = words.chunks(TASK).zip(gathered.chunks_mut(TASK * width)).collect();
        tasks::map(pieces, |(words, gathered): (&[[u8; 8]], &mut [u8])| {
            for (word, to) in words.iter().zip(gathered.chunks_exact_mut(width)) {
                to.copy_from_slice(if is_carried {
                    &word[..width]
                } else {
                    &values[to_usize(u64::from_le_bytes(*word)) * width..][..width]
                });
            }
        });
        gathered
    }
}

/// `len` values of whole bytes as a buffer of their element type.
pub(crate) fn finish(
    values: &Values<&[u8]>,
    whole_bytes: AlignedBytes,
    len: usize,
) -> Result<Values, FormatError> {
    let element_type = values.element_type();
    if element_type.is_packed() {
        Values::pack(element_type, &whole_bytes)
    } else {
        Values::new(element_type, len, whole_bytes)
    }
}

/// What travels with each key, by the position of its entry in the input.
pub(crate) enum Payload<'a> {
    /// Values of 8 bytes.
    Eight(&'a [[u8; 8]]),
    /// Values of 4 bytes.
    Four(&'a [[u8; 4]]),
    /// Values of 2 bytes.
    Two(&'a [[u8; 2]]),
    /// Values of one byte.
    One(&'a [u8]),
    /// The position itself.
    Position,
}

impl Payload<'_> {
    /// The payload of an entry; the bytes of a value are the lowest.
    #[inline]
    pub(crate) fn get(&self, position: usize) -> u64 {
        match self {
            Payload::Eight(values) => u64::from_le_bytes(values[position]),
            Payload::Four(values) => u32::from_le_bytes(values[position]).into(),
            Payload::Two(values) => u16::from_le_bytes(values[position]).into(),
            Payload::One(values) => values[position].into(),
            Payload::Position => to_u64(position),
        }
    }
}
