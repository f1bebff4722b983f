//! What travels with a key while entries are sorted, and values in a form that can travel.
//!
//! A value of up to 8 bytes is carried along. A wider one stays where it is; its position
//! travels, and the values are gathered behind it. Packed values are unpacked first, one to a
//! byte, and packed again at the end.

use hurray_format::{AlignedBytes, FormatError, Values, cast::to_u64, cast::to_usize};

use super::tasks;

/// The widest value that is carried, in bytes.
const MAX_CARRIED: usize = 8;

/// Entries whose values one task gathers.
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
        let borrowed: &'a [u8] = values.clone().into_inner();
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
    pub(crate) fn bytes(&self) -> &[u8] {
        self.unpacked.as_deref().unwrap_or(self.borrowed)
    }

    /// What is to be sorted with the keys.
    pub(crate) fn payload(&self) -> Payload<'_> {
        if self.width <= MAX_CARRIED {
            Payload::Carried { width: self.width, bytes: self.bytes() }
        } else {
            Payload::Position
        }
    }

    /// The values in the order of sorted payloads.
    pub(crate) fn gather(&self, sorted: AlignedBytes) -> AlignedBytes {
        if self.width <= MAX_CARRIED {
            return sorted;
        }
        let (positions, values) = (sorted.as_chunks().0, self.bytes());
        let mut gathered = AlignedBytes::zeroed(positions.len() * self.width);
        let pieces = positions.chunks(TASK).zip(gathered.chunks_mut(TASK * self.width)).collect();
        tasks::map(pieces, |(positions, gathered): (&[[u8; 8]], &mut [u8])| {
            for (position, to) in positions.iter().zip(gathered.chunks_exact_mut(self.width)) {
                let start = to_usize(u64::from_le_bytes(*position)) * self.width;
                to.copy_from_slice(&values[start..][..self.width]);
            }
        });
        gathered
    }
}

/// The first `len` values of whole bytes as a buffer of their element type.
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

/// What travels with each key.
pub(crate) enum Payload<'a> {
    /// The bytes of the entry's value.
    Carried {
        /// The bytes of one value, at most 8.
        width: usize,
        /// All of them.
        bytes: &'a [u8],
    },
    /// The entry's position in the input.
    Position,
}

impl Payload<'_> {
    /// The bytes that each entry's payload takes.
    pub(crate) fn width(&self) -> usize {
        match self {
            Payload::Carried { width, .. } => *width,
            Payload::Position => size_of::<u64>(),
        }
    }

    /// Hands the payloads of `len` entries from `start` on to `visit`, each with its number.
    #[inline]
    pub(crate) fn for_each(&self, start: usize, len: usize, mut visit: impl FnMut(usize, u64)) {
        let Payload::Carried { width, bytes } = self else {
            (0..len).for_each(|i| visit(i, to_u64(start + i)));
            return;
        };
        let bytes = &bytes[start * width..][..len * width];
        match width {
            8 => each::<8>(bytes, visit),
            4 => each::<4>(bytes, visit),
            2 => each::<2>(bytes, visit),
            1 => each::<1>(bytes, visit),
            _ => bytes.chunks_exact(*width).enumerate().for_each(|(i, value)| {
                let mut word = [0; 8];
                word[..value.len()].copy_from_slice(value);
                visit(i, u64::from_le_bytes(word));
            }),
        }
    }

    /// Writes payloads, `width` bytes each.
    #[inline]
    pub(crate) fn write(&self, payloads: impl Iterator<Item = u64>, bytes: &mut [u8]) {
        match self.width() {
            8 => write::<8>(payloads, bytes),
            4 => write::<4>(payloads, bytes),
            2 => write::<2>(payloads, bytes),
            1 => write::<1>(payloads, bytes),
            width => payloads.zip(bytes.chunks_exact_mut(width)).for_each(|(payload, to)| {
                to.copy_from_slice(&payload.to_le_bytes()[..width]);
            }),
        }
    }
}

#[inline]
fn each<const N: usize>(bytes: &[u8], mut visit: impl FnMut(usize, u64)) {
    for (i, value) in bytes.as_chunks::<N>().0.iter().enumerate() {
        let mut word = [0; 8];
        word[..N].copy_from_slice(value);
        visit(i, u64::from_le_bytes(word));
    }
}

#[inline]
fn write<const N: usize>(payloads: impl Iterator<Item = u64>, bytes: &mut [u8]) {
    for (payload, to) in payloads.zip(bytes.as_chunks_mut::<N>().0) {
        to.copy_from_slice(&payload.to_le_bytes()[..N]);
    }
}
