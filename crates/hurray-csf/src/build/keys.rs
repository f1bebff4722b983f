//! Indices packed into keys that compare as the tree is ordered.
//!
//! A key is `W` words, the first one the most significant. Each level of the tree has a field of
//! as many bits as its coordinates need, outermost levels in the highest bits; a field never
//! crosses from one word into the next, so that a coordinate is one shift and one mask, and the
//! highest bit in which two keys differ tells at which level their paths part. Most tensors fit
//! into one word; nothing limits the product of the dimensions, since more words are taken as
//! needed, up to one per level.

use hurray_format::{AlignedWords, ModeOrder, Shape};

use super::emit::Partings;
use super::error::BuildError;
use super::indices::{BLOCK, Block, Source, check_bounds};
use super::tasks;

/// Entries that one task packs.
const TASK: usize = 128 * BLOCK;

/// A packed index.
pub(crate) type Key<const W: usize> = [u64; W];

/// Where the coordinate of a level lies in a key.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) struct Field {
    pub(crate) dimension: usize,
    word: usize,
    shift: u32,
    mask: u64,
}

impl Field {
    /// The coordinate in a key.
    #[inline]
    pub(crate) fn coordinate<const W: usize>(self, key: &Key<W>) -> u64 {
        (key[self.word] >> self.shift) & self.mask
    }
}

/// The fields of all levels.
#[derive(Clone, Debug)]
pub(crate) struct KeyLayout {
    fields: Vec<Field>,
    words: usize,
}

impl KeyLayout {
    /// Decides how many bits each level gets: as many as its dimension needs if that makes one
    /// word, otherwise as many as the coordinates at hand need, which takes a pass over them.
    ///
    /// # Errors
    /// That pass finds coordinates that are negative or out of range.
    pub(crate) fn new(
        shape: &Shape,
        mode_order: &ModeOrder,
        source: &dyn Source,
    ) -> Result<Self, BuildError> {
        let largest: Vec<u64> = shape.dimensions().iter().map(|d| d.saturating_sub(1)).collect();
        let layout = Self::of_largest(mode_order, &largest);
        if layout.words == 1 && !shape.is_dynamic() {
            return Ok(layout);
        }
        Ok(Self::of_largest(mode_order, &largest_coordinates(shape, source)?))
    }

    /// Gives each level the bits of the largest coordinate along its dimension.
    fn of_largest(mode_order: &ModeOrder, largest: &[u64]) -> Self {
        let mut fields = Vec::with_capacity(mode_order.rank());
        let (mut word, mut free) = (0, u64::BITS);
        for level in 0..mode_order.rank() {
            let dimension = mode_order.dimension(level);
            let bits = u64::BITS - largest[dimension].leading_zeros();
            if bits > free {
                (word, free) = (word + 1, u64::BITS);
            }
            free -= bits;
            // A field without bits may find no place in its word; its mask hides the rest.
            let mask = u64::MAX.checked_shr(u64::BITS - bits).unwrap_or(0);
            fields.push(Field { dimension, word, shift: free.min(u64::BITS - 1), mask });
        }
        Self { fields, words: word + 1 }
    }

    /// The words that a key needs.
    pub(crate) fn words(&self) -> usize {
        self.words
    }

    /// The field of each level, outermost first.
    pub(crate) fn fields(&self) -> &[Field] {
        &self.fields
    }

    /// Packs the entries from `start` on where they are, if they are rows or leaves, of ranks that
    /// are common, since the compiler has to know the rank for this to be fast. Returns whether it
    /// did, and all of them are in range.
    fn pack_in_place<const W: usize>(
        &self,
        source: &dyn Source,
        start: usize,
        shape: &Shape,
        keys: &mut [Key<W>],
    ) -> bool {
        match self.fields.len() {
            3 => self.pack_rank::<W, 3>(source, start, shape, keys),
            4 => self.pack_rank::<W, 4>(source, start, shape, keys),
            5 => self.pack_rank::<W, 5>(source, start, shape, keys),
            6 => self.pack_rank::<W, 6>(source, start, shape, keys),
            _ => false,
        }
    }

    fn pack_rank<const W: usize, const RANK: usize>(
        &self,
        source: &dyn Source,
        start: usize,
        shape: &Shape,
        keys: &mut [Key<W>],
    ) -> bool {
        let (mut words, mut shifts, mut largest) = ([0; RANK], [0; RANK], [0; RANK]);
        for field in &self.fields {
            let size = shape.dimensions()[field.dimension];
            if size == 0 {
                return false;
            }
            words[field.dimension] = field.word;
            shifts[field.dimension] = field.shift;
            largest[field.dimension] = if size == Shape::DYNAMIC { u64::MAX } else { size - 1 };
        }
        // Whether a coordinate is out of range; if not, the key.
        let pack = |index: &[u64; RANK], key: &mut Key<W>| {
            let (mut packed, mut is_outside) = ([0; W], false);
            for dimension in 0..RANK {
                // No mask: a coordinate in range fits its field.
                packed[words[dimension] % W] |= index[dimension] << shifts[dimension];
                is_outside |= index[dimension] > largest[dimension];
            }
            *key = packed;
            is_outside
        };
        let any_outside = if let Some(rows) = source.rows() {
            let rows = rows.as_chunks().0[start..].iter();
            keys.iter_mut().zip(rows).fold(false, |any, (key, row)| any | pack(row, key))
        } else if let Some(tree) = source.tree() {
            let leaves = tree.fibers().within(start..start + keys.len()).leaves();
            leaves.fold(false, |any, index, leaf| {
                let (Some(index), Some(key)) = (index.first_chunk(), keys.get_mut(leaf - start))
                else {
                    return true;
                };
                any | pack(index, key)
            })
        } else {
            return false;
        };
        !any_outside
    }

    /// The logical index of a key.
    pub(crate) fn index<const W: usize>(&self, key: &Key<W>) -> Vec<u64> {
        let mut index = vec![0; self.fields.len()];
        for field in &self.fields {
            index[field.dimension] = field.coordinate(key);
        }
        index
    }

    /// The level that each bit of each word belongs to, by significance.
    pub(crate) fn level_of_bit<const W: usize>(&self) -> LevelOfBit<W> {
        let mut level_of_bit = [[0; 64]; W];
        for (field, level) in self.fields.iter().zip(0u8..) {
            for (bit, slot) in (0u32..).zip(&mut level_of_bit[field.word]) {
                if bit >= field.shift && (field.mask >> (bit - field.shift)) & 1 == 1 {
                    *slot = level;
                }
            }
        }
        LevelOfBit { level_of_bit, rank: self.fields.len() }
    }
}

/// Tells where the paths of two keys part.
pub(crate) struct LevelOfBit<const W: usize> {
    level_of_bit: [[u8; 64]; W],
    rank: usize,
}

impl<const W: usize> LevelOfBit<W> {
    /// The number of levels.
    pub(crate) fn rank(&self) -> usize {
        self.rank
    }

    /// The outermost level at which two keys differ, the rank if they are equal.
    #[inline]
    pub(crate) fn parting(&self, a: &Key<W>, b: &Key<W>) -> usize {
        for word in 0..W {
            let differing = a[word] ^ b[word];
            if differing != 0 {
                return usize::from(self.level_of_bit[word][differing.ilog2() as usize]);
            }
        }
        self.rank
    }
}

/// The keys of all entries, in input order.
pub(crate) struct Packed {
    /// `W` words each.
    pub(crate) keys: AlignedWords,
    /// Where they part, piece by piece, if no key is smaller than the one before.
    pub(crate) sorted: Option<Vec<Partings>>,
}

/// Packs the index of every entry and checks it against the shape. One parallel pass.
///
/// # Errors
/// The first entry that is negative or out of range.
pub(crate) fn pack<const W: usize>(
    source: &dyn Source,
    shape: &Shape,
    layout: &KeyLayout,
) -> Result<Packed, BuildError> {
    let mut words = AlignedWords::zeroed(source.len() * W);
    let keys: &mut [Key<W>] = words.as_chunks_mut().0;
    let pieces: Vec<_> = keys.chunks_mut(TASK).enumerate().collect();
    let level_of_bit = layout.level_of_bit();
    let partings: Vec<Result<Option<Partings>, BuildError>> = tasks::map_with(
        pieces,
        || Block::new(shape.rank()),
        |block, (task, keys)| {
            if !layout.pack_in_place(source, task * TASK, shape, keys) {
                // Any other form, or something is wrong.
                keys.fill([0; W]);
                for (number, keys) in keys.chunks_mut(BLOCK).enumerate() {
                    let start = task * TASK + number * BLOCK;
                    source.read(start, keys.len(), block);
                    check_bounds(block, start, shape)?;
                    for field in &layout.fields {
                        let column = block.column(field.dimension);
                        for (key, coordinate) in keys.iter_mut().zip(column) {
                            key[field.word] |= (coordinate & field.mask) << field.shift;
                        }
                    }
                }
            }
            Ok(in_order(keys).then(|| Partings::count(keys, &level_of_bit)))
        },
    );
    // An error comes before anything else.
    let partings = partings.into_iter().collect::<Result<Vec<_>, _>>()?;
    let mut seams = (TASK..keys.len()).step_by(TASK);
    let sorted = partings.into_iter().collect::<Option<_>>();
    let sorted = sorted.filter(|_| seams.all(|seam| in_order(&keys[seam - 1..=seam])));
    Ok(Packed { keys: words, sorted })
}

/// Whether no key is smaller than the one before.
fn in_order<const W: usize>(keys: &[Key<W>]) -> bool {
    keys.is_sorted_by(|a, b| if W == 1 { a[0] <= b[0] } else { a <= b })
}

/// The largest coordinate along each dimension, 0 without entries. One parallel pass, which
/// checks every coordinate.
///
/// # Errors
/// The first entry that is negative or out of range.
pub(crate) fn largest_coordinates(
    shape: &Shape,
    source: &dyn Source,
) -> Result<Vec<u64>, BuildError> {
    let starts: Vec<usize> = (0..source.len()).step_by(TASK).collect();
    let pieces: Vec<Result<Vec<u64>, BuildError>> = tasks::map_with(
        starts,
        || Block::new(shape.rank()),
        |block, begin| {
            let mut largest = vec![0; shape.rank()];
            let end = source.len().min(begin + TASK);
            for start in (begin..end).step_by(BLOCK) {
                source.read(start, BLOCK.min(end - start), block);
                check_bounds(block, start, shape)?;
                for (dimension, largest) in largest.iter_mut().enumerate() {
                    *largest = block.column(dimension).iter().fold(*largest, |a, &b| a.max(b));
                }
            }
            Ok(largest)
        },
    );
    let mut largest = vec![0; shape.rank()];
    for piece in pieces {
        for (largest, coordinate) in largest.iter_mut().zip(piece?) {
            *largest = coordinate.max(*largest);
        }
    }
    Ok(largest)
}

/// The positions of the first two entries that have an index. One pass; only an error needs it.
pub(crate) fn first_two(source: &dyn Source, index: &[u64]) -> Option<(usize, usize)> {
    let mut block = Block::new(index.len());
    let mut first = None;
    for start in (0..source.len()).step_by(BLOCK) {
        source.read(start, BLOCK.min(source.len() - start), &mut block);
        for i in 0..block.len() {
            if (0..index.len()).all(|dimension| block.column(dimension)[i] == index[dimension]) {
                match first {
                    None => first = Some(start + i),
                    Some(first) => return Some((first, start + i)),
                }
            }
        }
    }
    None
}
