//! Keys and their payloads into storage order; entries with equal keys keep their input order.
//!
//! What a sort costs is moving records through memory, so it does that twice: once to split the
//! records into pieces that fit the cache, once to write the sorted pieces. The pieces lie
//! between splitters taken from a sample of the keys, which makes them about equal however the
//! keys are distributed; many entries with one key end up in one piece that needs no sorting.
//! In the cache a piece is radix-sorted by the bits that vary in it, or by comparison where
//! that is less work.

use zerocopy::FromZeros;

use hurray_format::AlignedBytes;

use super::keys::Key;
use super::payload::Payload;
use super::tasks;

/// Records of a piece to aim for: of one word they take 256 KiB, and as much for the copy.
const PIECE: usize = 1 << 14;

/// The most pieces, so that the places the records go to stay in the cache.
const MAX_PIECES: usize = 512;

/// Keys in the sample for each piece.
const SAMPLES: usize = 16;

/// The fewest records that a task splits.
const MIN_TASK: usize = 1 << 16;

/// Keys whose pieces are looked up side by side, to overlap the latencies of the searches.
const LANES: usize = 8;

/// A key with what travels with it.
#[derive(Clone, Copy, FromZeros)]
#[repr(C)]
struct Record<const W: usize> {
    key: Key<W>,
    payload: u64,
}

/// Sorts the keys in place and returns the payloads in the same order, `payload.width()` bytes
/// each.
pub(crate) fn sort<const W: usize>(keys: &mut [Key<W>], payload: &Payload<'_>) -> AlignedBytes {
    let mut sorted = AlignedBytes::zeroed(keys.len() * payload.width());
    let splitters = Splitters::choose(keys);
    let (mut records, lengths) = split(keys, payload, &splitters);

    let mut pieces = Vec::with_capacity(lengths.len());
    let (mut records, mut keys, mut bytes) = (&mut records[..], keys, &mut sorted[..]);
    for length in lengths {
        pieces.push((
            take(&mut records, length),
            take(&mut keys, length),
            take(&mut bytes, length * payload.width()),
        ));
    }
    tasks::map_with(pieces, Vec::new, |scratch, (records, keys, bytes)| {
        let records = sort_piece(records, scratch);
        for (key, record) in keys.iter_mut().zip(&*records) {
            *key = record.key;
        }
        payload.write(records.iter().map(|record| record.payload), bytes);
    });
    sorted
}

/// Splits off the first `length` items of a slice.
pub(super) fn take<'a, T>(from: &mut &'a mut [T], length: usize) -> &'a mut [T] {
    let (head, tail) = std::mem::take(from).split_at_mut(length);
    *from = tail;
    head
}

/// Keys that bound the pieces: piece `p` holds the keys that are not below exactly `p` of them.
struct Splitters<const W: usize>(Vec<Key<W>>);

impl<const W: usize> Splitters<W> {
    fn choose(keys: &[Key<W>]) -> Self {
        let pieces = (keys.len() / PIECE).next_power_of_two().min(MAX_PIECES);
        if pieces == 1 {
            return Self(Vec::new());
        }
        let stride = keys.len() / (pieces * SAMPLES);
        // Scattered within each stride, lest a period of the input shows in the sample.
        let mut scatter = 0usize;
        let mut sample: Vec<Key<W>> = (keys.chunks_exact(stride).take(pieces * SAMPLES))
            .map(|chunk| {
                scatter =
                    scatter.wrapping_mul(0x5851_F42D_4C95_7F2D).wrapping_add(0x1405_7B7E_F767_814F);
                chunk[(scatter >> 33) % stride]
            })
            .collect();
        sample.sort_unstable();
        Self(sample.into_iter().skip(SAMPLES).step_by(SAMPLES).collect())
    }

    fn pieces(&self) -> usize {
        self.0.len() + 1
    }

    /// The piece of each of a few keys: a binary search over a power of two, without branches.
    #[inline]
    fn find(&self, keys: &[Key<W>; LANES]) -> [u16; LANES] {
        let mut found = [0usize; LANES];
        let mut half = self.pieces() / 2;
        while half > 0 {
            for (found, key) in found.iter_mut().zip(keys) {
                *found += if self.0[*found + half - 1] <= *key { half } else { 0 };
            }
            half /= 2;
        }
        #[expect(clippy::cast_possible_truncation, reason = "at most MAX_PIECES")]
        found.map(|piece| piece as u16)
    }
}

/// Gathers the records of each piece in input order; returns them, one piece behind the other,
/// and the lengths of the pieces.
fn split<const W: usize>(
    keys: &[Key<W>],
    payload: &Payload<'_>,
    splitters: &Splitters<W>,
) -> (Vec<Record<W>>, Vec<usize>) {
    let task = keys.len().div_ceil(4 * tasks::threads()).max(MIN_TASK);
    // First which piece each key belongs to, and how many of each task go to each piece.
    let mut piece_of = vec![0u16; keys.len()];
    let chunks: Vec<_> = keys.chunks(task).zip(piece_of.chunks_mut(task)).collect();
    let counts: Vec<Vec<usize>> = tasks::map(chunks, |(keys, piece_of)| {
        let mut counts = vec![0; splitters.pieces()];
        let (groups, rest) = keys.as_chunks::<LANES>();
        let (group_pieces, rest_pieces) = piece_of.as_chunks_mut::<LANES>();
        for (keys, pieces) in groups.iter().zip(group_pieces) {
            *pieces = splitters.find(keys);
            pieces.iter().for_each(|&piece| counts[usize::from(piece)] += 1);
        }
        for (key, piece) in rest.iter().zip(rest_pieces) {
            [*piece, ..] = splitters.find(&[*key; LANES]);
            counts[usize::from(*piece)] += 1;
        }
        counts
    });

    // Then every task moves its own to places of its own, behind those of the tasks before it.
    let mut records = Record::<W>::new_vec_zeroed(keys.len()).expect("out of memory");
    let mut places: Vec<Vec<_>> = counts.iter().map(|_| Vec::new()).collect();
    let mut lengths = Vec::with_capacity(splitters.pieces());
    let mut rest = &mut records[..];
    for piece in 0..splitters.pieces() {
        for (places, counts) in places.iter_mut().zip(&counts) {
            places.push(take(&mut rest, counts[piece]).iter_mut());
        }
        lengths.push(counts.iter().map(|counts| counts[piece]).sum());
    }
    let chunks: Vec<_> =
        keys.chunks(task).zip(piece_of.chunks(task)).zip(places).enumerate().collect();
    tasks::map(chunks, |(number, ((keys, piece_of), mut places))| {
        payload.for_each(number * task, keys.len(), |i, payload| {
            if let Some(place) = places[usize::from(piece_of[i])].next() {
                *place = Record { key: keys[i], payload };
            }
        });
    });
    (records, lengths)
}

/// Bits that one radix pass sorts by.
const DIGIT_BITS: u32 = 9;

/// Sorts one piece, and returns it from where it ended up.
fn sort_piece<'a, const W: usize>(
    records: &'a mut [Record<W>],
    scratch: &'a mut Vec<Record<W>>,
) -> &'a mut [Record<W>] {
    let Some(first) = records.first().map(|record| record.key) else { return records };
    let mut varying = [0; W];
    for record in &*records {
        for word in 0..W {
            varying[word] |= record.key[word] ^ first[word];
        }
    }
    let digits: u32 = varying.iter().map(|word| word.count_ones().div_ceil(DIGIT_BITS)).sum();
    // A radix pass costs about as much as two comparisons of every record, and its counters.
    if records.len() < 1 << DIGIT_BITS || digits > records.len().ilog2() / 2 {
        records.sort_by(|a, b| a.key.cmp(&b.key));
        return records;
    }
    let length = records.len();
    if scratch.len() < length {
        *scratch = Record::new_vec_zeroed(length).expect("out of memory");
    }
    let (mut from, mut to) = (records, &mut scratch[..length]);
    for word in (0..W).rev() {
        let mut rest = varying[word];
        while rest != 0 {
            let shift = rest.trailing_zeros();
            rest &= !(((1 << DIGIT_BITS) - 1) << shift);
            radix_pass(from, to, word, shift);
            (from, to) = (to, from);
        }
    }
    from
}

/// Moves records in the order of one digit of their keys.
fn radix_pass<const W: usize>(from: &[Record<W>], to: &mut [Record<W>], word: usize, shift: u32) {
    const DIGITS: usize = 1 << DIGIT_BITS;
    #[expect(clippy::cast_possible_truncation, reason = "masked to DIGIT_BITS")]
    let digit = |record: &Record<W>| (record.key[word] >> shift) as usize & (DIGITS - 1);
    let mut places = [0usize; DIGITS];
    for record in from {
        places[digit(record)] += 1;
    }
    let mut end = 0;
    for place in &mut places {
        end += std::mem::replace(place, end);
    }
    for record in from {
        let place = &mut places[digit(record)];
        to[*place] = *record;
        *place += 1;
    }
}
