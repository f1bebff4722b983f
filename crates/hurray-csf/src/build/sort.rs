//! Keys and their payloads into storage order; entries with equal keys keep their input order.
//!
//! What a sort costs is moving memory, and touching it for the first time. So entries move
//! twice: once into pieces that fit the cache, and once within the cache when a piece is sorted.
//! The pieces lie between splitters taken from a sample of the keys, which makes them about equal
//! however the keys are distributed; many entries with one key end up in one piece that needs no
//! sorting. A piece is radix-sorted by the leading bits that vary in it, in scratch memory that all
//! pieces of a thread share. These tell most entries of wide keys apart, so that what is left are
//! short runs of entries to compare.

use std::cmp::Ordering;

use hurray_format::{AlignedBytes, AlignedWords, cast::to_usize};

use super::indices::BLOCK;
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
    payload: Stored,
}

/// A payload where it is stored.
type Stored = [u8; 8];

/// Sorts entries. Returns their keys, `W` words each, the 8 bytes of each one's payload, and what
/// `examine` makes of each piece of the sorted keys while it is in the cache.
pub(crate) fn sort<const W: usize, T: Send>(
    keys: &[u64],
    payload: &Payload<'_>,
    examine: impl Fn(&[Key<W>]) -> T + Sync + Send,
) -> (AlignedWords, AlignedBytes, Vec<T>) {
    let keys: &[Key<W>] = keys.as_chunks().0;
    let mut sorted_keys = AlignedWords::zeroed(keys.len() * W);
    let mut sorted_payloads = AlignedBytes::zeroed(keys.len() * size_of::<Stored>());
    let mut to_keys = sorted_keys.as_chunks_mut().0;
    let mut to_payloads = sorted_payloads.as_chunks_mut().0;
    let lengths = split(keys, payload, to_keys, to_payloads);
    let pieces = (lengths.into_iter())
        .map(|length| (take(&mut to_keys, length), take(&mut to_payloads, length)))
        .collect();
    let examined = tasks::map_with(pieces, Scratch::new, |scratch, (keys, payloads)| {
        scratch.sort_piece(keys, payloads);
        examine(keys)
    });
    (sorted_keys, sorted_payloads, examined)
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
    let mut piece_of = AlignedBytes::zeroed(keys.len());
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
///
/// They form a binary tree in an array, the children of `i` at `2 i` and `2 i + 1`, so that a
/// search takes the same steps for every key, without a branch that could be guessed wrongly.
struct Splitters<const W: usize>([Key<W>; PIECES]);

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
        sample.sort_unstable();
        let mut tree = [[0; W]; PIECES];
        for (node, splitter) in tree.iter_mut().enumerate().skip(1) {
            // Of the nodes at its depth, which divide the sample evenly, the one in this place.
            let depth = node.ilog2();
            let share = sample.len() >> depth;
            *splitter = sample[share * (node - (1 << depth)) + share / 2];
        }
        Self(tree)
    }

    /// The piece of each of a few keys.
    #[inline]
    fn find(&self, keys: &[Key<W>; LANES]) -> [u8; LANES] {
        let mut nodes = [1; LANES];
        for _ in 0..PIECES.ilog2() {
            for (node, key) in nodes.iter_mut().zip(keys) {
                *node = 2 * *node + usize::from(*key >= self.0[*node % PIECES]);
            }
        }
        nodes.map(|node| u8::try_from(node % PIECES).unwrap_or(u8::MAX))
    }
}

/// Bits that one radix pass sorts by.
const DIGIT_BITS: u32 = 9;

const DIGITS: usize = 1 << DIGIT_BITS;

/// The most digits that a piece is sorted by.
const LEADING: usize = 4;

/// The part of a key that one radix pass sorts by.
#[derive(Clone, Copy)]
struct Digit {
    word: usize,
    shift: u32,
}

impl Digit {
    /// Appends the digits of a word that has these bits to be sorted by, lowest first.
    fn of_word(word: usize, mut bits: u64, digits: &mut Vec<Digit>) {
        while bits != 0 {
            let shift = bits.trailing_zeros();
            bits &= !((DIGITS as u64 - 1) << shift);
            digits.push(Digit { word, shift });
        }
    }

    #[inline]
    fn of<const W: usize>(self, key: &Key<W>) -> usize {
        to_usize(key[self.word] >> self.shift) % DIGITS
    }

    /// Whether two keys have this digit and everything above it in common.
    #[inline]
    fn same_above<const W: usize>(self, a: &Key<W>, b: &Key<W>) -> bool {
        a[..self.word] == b[..self.word] && (a[self.word] ^ b[self.word]) >> self.shift == 0
    }
}

/// Memory that the pieces of a thread are sorted in, one after the other.
struct Scratch<const W: usize> {
    records: Vec<Record<W>>,
    spare: Vec<Record<W>>,
    digits: Vec<Digit>,
    /// For each digit how often each of its values is there, then where the next one goes.
    places: Vec<[usize; DIGITS]>,
}

impl<const W: usize> Scratch<W> {
    fn new() -> Self {
        let (records, spare) = (Vec::new(), Vec::new());
        Self { records, spare, digits: Vec::new(), places: Vec::new() }
    }

    /// Sorts one piece. Its first move takes the entries into the scratch memory as records, its
    /// last one takes them back.
    fn sort_piece(&mut self, keys: &mut [Key<W>], payloads: &mut [Stored]) {
        let Some(first) = keys.first() else { return };
        let mut varying = [0; W];
        for key in &*keys {
            for (varying, (word, first)) in varying.iter_mut().zip(key.iter().zip(first)) {
                *varying |= word ^ first;
            }
        }
        self.digits.clear();
        for (word, &bits) in varying.iter().enumerate().rev() {
            Digit::of_word(word, bits, &mut self.digits);
        }
        if self.digits.is_empty() {
            return;
        }
        if keys.len() < DIGITS {
            return self.sort_by_comparison(keys, payloads);
        }
        let enough = self.digits.len().saturating_sub(LEADING);
        self.sort_by_digits(enough, keys, payloads);
        if enough > 0 {
            self.sort_runs(self.digits[enough], keys, payloads);
        }
    }

    /// Sorts entries by comparing them.
    fn sort_by_comparison(&mut self, keys: &mut [Key<W>], payloads: &mut [Stored]) {
        self.records.clear();
        self.records.extend(records(keys, payloads));
        self.records.sort_by(|a, b| compare(&a.key, &b.key));
        store(&self.records, keys, payloads);
    }

    /// Sorts entries by their digits from number `lowest` on.
    fn sort_by_digits(&mut self, lowest: usize, keys: &mut [Key<W>], payloads: &mut [Stored]) {
        let Some((&last, others)) = self.digits[lowest..].split_last() else { return };
        count(keys, &self.digits[lowest..], &mut self.places);
        let empty = Record { key: [0; W], payload: [0; 8] };
        for memory in [&mut self.records, &mut self.spare] {
            memory.resize(keys.len().max(memory.len()), empty);
        }
        let records = records(keys, payloads);
        let (mut from, mut to) = (&mut self.records[..keys.len()], &mut self.spare[..keys.len()]);
        let mut places = self.places.iter_mut();
        let mut next_places = || places.next().expect("every digit is counted");
        let Some((&first, others)) = others.split_first() else {
            scatter(records, last, next_places(), |place, record| from[place] = record);
            store(from, keys, payloads);
            return;
        };
        scatter(records, first, next_places(), |place, record| from[place] = record);
        for &digit in others {
            let records = from.iter().copied();
            scatter(records, digit, next_places(), |place, record| to[place] = record);
            (from, to) = (to, from);
        }
        scatter(from.iter().copied(), last, next_places(), |place, record| {
            keys[place] = record.key;
            payloads[place] = record.payload;
        });
    }

    /// Sorts entries that are sorted by all digits from `lowest` on: runs of entries that have
    /// these in common. One pass, if there are few.
    fn sort_runs(&mut self, lowest: Digit, keys: &mut [Key<W>], payloads: &mut [Stored]) {
        let descends = |pair: &[Key<W>]| compare(&pair[0], &pair[1]).is_gt();
        let mut sorted = 0;
        while let Some(before) = keys[sorted..].windows(2).position(descends) {
            let descent = sorted + before + 1;
            let in_run = |key: &Key<W>| lowest.same_above(key, &keys[descent]);
            let other = keys[sorted..descent].iter().rposition(|key| !in_run(key));
            let start = other.map_or(sorted, |other| sorted + other + 1);
            let length = keys[descent..].iter().position(|key| !in_run(key));
            let end = length.map_or(keys.len(), |length| descent + length);
            self.sort_by_comparison(&mut keys[start..end], &mut payloads[start..end]);
            sorted = end;
        }
    }
}

/// Entries as records.
fn records<const W: usize>(
    keys: &[Key<W>],
    payloads: &[Stored],
) -> impl Iterator<Item = Record<W>> {
    keys.iter().zip(payloads).map(|(&key, &payload)| Record { key, payload })
}

/// The order of keys; of one word faster than that of arrays.
#[inline]
fn compare<const W: usize>(a: &Key<W>, b: &Key<W>) -> Ordering {
    if W == 1 { a[0].cmp(&b[0]) } else { a.cmp(b) }
}

/// Takes records apart.
fn store<const W: usize>(records: &[Record<W>], keys: &mut [Key<W>], payloads: &mut [Stored]) {
    for ((key, payload), record) in keys.iter_mut().zip(payloads).zip(records) {
        *key = record.key;
        *payload = record.payload;
    }
}

/// Finds where the records with each value of each digit begin once they are sorted by it.
fn count<const W: usize>(keys: &[Key<W>], digits: &[Digit], places: &mut Vec<[usize; DIGITS]>) {
    places.clear();
    places.resize(digits.len(), [0; DIGITS]);
    // Block by block, so that keys are still at hand for the next digit.
    for keys in keys.chunks(BLOCK) {
        for (digit, counts) in digits.iter().zip(&mut *places) {
            for key in keys {
                counts[digit.of(key)] += 1;
            }
        }
    }
    for counts in places {
        let mut end = 0;
        for count in counts {
            end += std::mem::replace(count, end);
        }
    }
}

/// Puts records in the order of one digit of their keys.
#[inline]
fn scatter<const W: usize>(
    records: impl Iterator<Item = Record<W>>,
    digit: Digit,
    places: &mut [usize; DIGITS],
    mut put: impl FnMut(usize, Record<W>),
) {
    for record in records {
        let place = &mut places[digit.of(&record.key)];
        put(*place, record);
        *place += 1;
    }
}
