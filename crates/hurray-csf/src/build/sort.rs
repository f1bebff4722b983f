//! Keys and their payloads into storage order; entries with equal keys keep their input order.
//!
//! What a sort costs is moving memory, and touching it for the first time. So entries move
//! twice: once into pieces that fit the cache, and once within the cache when a piece is sorted.
//! The pieces lie between splitters taken from a sample of the keys, which makes them about equal
//! however the keys are distributed; many entries with one key end up in one piece that needs no
//! sorting. A piece is radix-sorted by the bits that vary in it, or by comparison where that is
//! less work, in scratch memory that all pieces of a thread share.

use std::cmp::Ordering;

use hurray_format::{AlignedBytes, cast::to_usize};

use super::keys::Key;
use super::payload::Payload;
use super::tasks;

/// The number of pieces: few enough for the places that entries go to to stay in the cache.
const PIECES: usize = 256;

/// Keys in the sample for each piece.
const SAMPLES: usize = 16;

/// The fewest entries that a task moves; fewer are not split at all.
const MIN_TASK: usize = 1 << 15;

/// Keys whose pieces are looked up side by side, to overlap the latencies of the searches.
const LANES: usize = 8;

/// A key with what travels with it.
#[derive(Clone, Copy)]
struct Record<const W: usize> {
    key: Key<W>,
    payload: u64,
}

/// A payload where it is stored.
type Stored = [u8; 8];

/// Sorts entries. Returns their keys, and the 8 bytes of each one's payload.
pub(crate) fn sort<const W: usize>(
    keys: &[Key<W>],
    payload: &Payload<'_>,
) -> (Vec<Key<W>>, AlignedBytes) {
    let mut sorted_keys = vec![[0; W]; keys.len()];
    let mut sorted_payloads = AlignedBytes::zeroed(keys.len() * size_of::<Stored>());
    let mut payloads = sorted_payloads.as_chunks_mut().0;
    let lengths = split(keys, payload, &mut sorted_keys, payloads);

    let mut keys = &mut sorted_keys[..];
    let pieces = (lengths.into_iter())
        .map(|length| (take(&mut keys, length), take(&mut payloads, length)))
        .collect();
    let scratch = || (Vec::new(), Vec::new());
    tasks::map_with(pieces, scratch, |(records, spare), piece: (&mut [Key<W>], &mut [Stored])| {
        let (keys, payloads) = piece;
        records.clear();
        records.extend(keys.iter().zip(&*payloads).map(|(&key, &stored)| {
            let payload = u64::from_le_bytes(stored);
            Record { key, payload }
        }));
        let sorted = sort_piece(records, spare);
        for ((key, stored), record) in keys.iter_mut().zip(payloads).zip(sorted) {
            *key = record.key;
            *stored = record.payload.to_le_bytes();
        }
    });
    (sorted_keys, sorted_payloads)
}

/// Splits off the first `length` items of a slice.
pub(super) fn take<'a, T>(from: &mut &'a mut [T], length: usize) -> &'a mut [T] {
    let (head, tail) = std::mem::take(from).split_at_mut(length);
    *from = tail;
    head
}

/// Moves the entries of each piece together, in input order, one piece behind the other. Returns
/// the lengths of the pieces.
fn split<const W: usize>(
    keys: &[Key<W>],
    payload: &Payload<'_>,
    to_keys: &mut [Key<W>],
    to_payloads: &mut [Stored],
) -> Vec<usize> {
    if keys.len() <= MIN_TASK {
        to_keys.copy_from_slice(keys);
        for (i, stored) in to_payloads.iter_mut().enumerate() {
            *stored = payload.get(i).to_le_bytes();
        }
        return vec![keys.len()];
    }
    let splitters = Splitters::choose(keys);
    let task = keys.len().div_ceil(4 * tasks::threads()).max(MIN_TASK);
    // First which piece each key belongs to, and how many of each task go to each piece.
    let mut piece_of = vec![0u8; keys.len()];
    let chunks: Vec<_> = keys.chunks(task).zip(piece_of.chunks_mut(task)).collect();
    let counts: Vec<[usize; PIECES]> = tasks::map(chunks, |(keys, piece_of)| {
        let mut counts = [0; PIECES];
        let (groups, rest) = keys.as_chunks();
        let (groups_of, rest_of) = piece_of.as_chunks_mut();
        for (group, piece_of) in groups.iter().zip(groups_of) {
            *piece_of = splitters.find(group);
        }
        for (key, piece_of) in rest.iter().zip(rest_of) {
            [*piece_of, ..] = splitters.find(&[*key; LANES]);
        }
        for piece in piece_of {
            counts[usize::from(*piece)] += 1;
        }
        counts
    });

    // Then every task moves its own to places of its own, behind those of the tasks before it.
    let mut places: Vec<Vec<_>> = counts.iter().map(|_| Vec::with_capacity(PIECES)).collect();
    let (mut to_keys, mut to_payloads) = (to_keys, to_payloads);
    for piece in 0..PIECES {
        for (places, counts) in places.iter_mut().zip(&counts) {
            let keys = take(&mut to_keys, counts[piece]).iter_mut();
            places.push(keys.zip(take(&mut to_payloads, counts[piece])));
        }
    }
    let chunks: Vec<_> = keys.chunks(task).zip(piece_of.chunks(task)).zip(places).collect();
    let chunks = chunks.into_iter().enumerate().collect();
    tasks::map(chunks, |(number, ((keys, piece_of), mut places))| {
        for (i, (key, piece)) in keys.iter().zip(piece_of).enumerate() {
            if let Some((to_key, stored)) = places[usize::from(*piece)].next() {
                *to_key = *key;
                *stored = payload.get(number * task + i).to_le_bytes();
            }
        }
    });
    (0..PIECES).map(|piece| counts.iter().map(|counts| counts[piece]).sum()).collect()
}

/// Keys that bound the pieces: piece `p` holds the keys that are not below exactly `p` of them.
/// The last one is not used.
struct Splitters<const W: usize>(Vec<Key<W>>);

impl<const W: usize> Splitters<W> {
    fn choose(keys: &[Key<W>]) -> Self {
        let stride = keys.len() / (PIECES * SAMPLES);
        // Scattered within each stride, lest a period of the input shows in the sample.
        let mut scatter = 0usize;
        let mut sample: Vec<Key<W>> = (keys.chunks_exact(stride).take(PIECES * SAMPLES))
            .map(|chunk| {
                scatter = scatter.wrapping_mul(0x5851_F42D_4C95_7F2D).wrapping_add(1);
                chunk[(scatter >> 33) % stride]
            })
            .collect();
        sample.sort_unstable_by(compare);
        Self(sample.into_iter().skip(SAMPLES - 1).step_by(SAMPLES).collect())
    }

    /// The piece of each of a few keys: binary searches without branches.
    #[inline]
    fn find(&self, keys: &[Key<W>; LANES]) -> [u8; LANES] {
        let splitters = &self.0[..PIECES];
        let mut found = [0usize; LANES];
        let mut half = PIECES / 2;
        while half > 0 {
            for (found, key) in found.iter_mut().zip(keys) {
                let is_below = compare(key, &splitters[(*found + half - 1) % PIECES]).is_lt();
                *found += half * usize::from(!is_below);
            }
            half /= 2;
        }
        found.map(|piece| u8::try_from(piece).unwrap_or(u8::MAX))
    }
}

/// The order of keys; of one word faster than that of arrays.
#[inline]
fn compare<const W: usize>(a: &Key<W>, b: &Key<W>) -> Ordering {
    if W == 1 { a[0].cmp(&b[0]) } else { a.cmp(b) }
}

/// Bits that one radix pass sorts by.
const DIGIT_BITS: u32 = 9;

const DIGITS: usize = 1 << DIGIT_BITS;

/// Sorts one piece, and returns it from where it ended up.
fn sort_piece<'a, const W: usize>(
    records: &'a mut [Record<W>],
    spare: &'a mut Vec<Record<W>>,
) -> &'a mut [Record<W>] {
    let Some(first) = records.first().copied() else { return records };
    let mut varying = [0; W];
    for record in &*records {
        for (varying, (word, first)) in varying.iter_mut().zip(record.key.iter().zip(&first.key)) {
            *varying |= word ^ first;
        }
    }
    // A radix pass costs about as much as two comparisons of every record, and its counters.
    let passes: u32 = varying.iter().map(|word| word.count_ones().div_ceil(DIGIT_BITS)).sum();
    if passes > 0 && (records.len() < DIGITS || passes > records.len().ilog2() / 2) {
        records.sort_by(|a, b| compare(&a.key, &b.key));
        return records;
    }
    spare.resize(records.len().max(spare.len()), first);
    let length = records.len();
    let (mut from, mut to) = (records, &mut spare[..length]);
    for word in (0..W).rev() {
        let mut rest = varying[word];
        while rest != 0 {
            let shift = rest.trailing_zeros();
            rest &= !((DIGITS as u64 - 1) << shift);
            radix_pass(from, to, |key| to_usize(key[word] >> shift) % DIGITS);
            (from, to) = (to, from);
        }
    }
    from
}

/// Moves records in the order of one digit of their keys.
#[inline]
fn radix_pass<const W: usize>(
    from: &[Record<W>],
    to: &mut [Record<W>],
    digit: impl Fn(&Key<W>) -> usize,
) {
    let mut places = [0; DIGITS];
    for record in from {
        places[digit(&record.key)] += 1;
    }
    let mut end = 0;
    for place in &mut places {
        end += std::mem::replace(place, end);
    }
    for record in from {
        let place = &mut places[digit(&record.key)];
        to[*place] = *record;
        *place += 1;
    }
}
