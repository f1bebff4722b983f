//! Builds a tree from a list of entries.
//!
//! The indices are packed into keys that compare as the tree is ordered (`keys`), the keys are
//! sorted together with the values (`sort`) unless they are sorted already, entries with equal
//! keys are merged (`duplicates`), and the levels are read off the places where the keys part
//! (`emit`). Every step runs in parallel pieces, and its result does not depend on how many.
//!
//! With `n` entries of `W` words of key (1 for most tensors) a build takes O(n) time and, on top
//! of its input and its result, less than `(2 W + 1) * 8 n` bytes.

mod duplicates;
mod emit;
mod error;
mod indices;
mod keys;
mod payload;
mod sort;
mod tasks;

use hurray_format::layout::{CsfLayout, LayoutDescriptor};
use hurray_format::{ModeOrder, Shape, Values, cast::to_usize};

pub use duplicates::Duplicates;
pub use error::BuildError;
pub use indices::{Coordinate, Indices};

pub(crate) use indices::{BLOCK, Block, Checked, Source};
pub(crate) use keys::{Key, KeyLayout, largest_coordinates, pack};
pub(crate) use payload::Payload;
pub(crate) use sort::sort;
pub(crate) use tasks::{map, map_with};

use crate::tensor::Tensor;
use crate::tree::Csf;
use duplicates::{MergeError, Merger};
use emit::{Counts, Partings};
use payload::WholeBytes;

/// Runs code with as many words of key as are needed or a few more.
macro_rules! with_words {
    ($words:expr, $W:ident => $body:expr) => {
        match $words {
            1 => with_words!(@ 1, $W => $body),
            2 => with_words!(@ 2, $W => $body),
            3..=4 => with_words!(@ 4, $W => $body),
            5..=8 => with_words!(@ 8, $W => $body),
            9..=16 => with_words!(@ 16, $W => $body),
            17..=32 => with_words!(@ 32, $W => $body),
            _ => with_words!(@ 64, $W => $body),
        }
    };
    (@ $n:literal, $W:ident => $body:expr) => {{
        const $W: usize = $n;
        $body
    }};
}

pub(crate) use with_words;

/// Builds a [`Tensor`] from indices and values.
///
/// ```
/// use hurray_csf::build::{Builder, Indices};
/// use hurray_format::{ModeOrder, Shape, Values};
///
/// // The worked example of docs/format.md, its entries in any order.
/// let indices = Indices::Rows(&[1, 1, 2, 0, 2, 3, 0, 0, 1, 1, 1, 0]);
/// let values = [4.0f32, 2.0, 1.0, 3.0];
/// let tensor = Builder::new(Shape::new([2, 3, 4])?)
///     .mode_order(ModeOrder::new([0, 1, 2])?)
///     .build(indices, Values::from_slice(&values))?;
///
/// assert_eq!(tensor.tree().level(1), (&[0, 2, 3][..], &[0, 2, 1][..]));
/// assert_eq!(tensor.values().as_slice::<f32>()?, [1.0, 2.0, 3.0, 4.0]);
/// # Ok::<(), Box<dyn std::error::Error>>(())
/// ```
#[derive(Clone, Debug)]
pub struct Builder {
    shape: Shape,
    mode_order: Option<ModeOrder>,
    duplicates: Duplicates,
    drop_zeros: bool,
}

impl Builder {
    /// A tensor of this shape in the identity mode order; duplicates are an error and zeros are
    /// kept. Along a dynamic dimension any coordinate is in range.
    #[must_use]
    pub fn new(shape: Shape) -> Self {
        Self { shape, mode_order: None, duplicates: Duplicates::Error, drop_zeros: false }
    }

    /// Which dimension each level stores.
    #[must_use]
    pub fn mode_order(mut self, mode_order: ModeOrder) -> Self {
        self.mode_order = Some(mode_order);
        self
    }

    /// The mode order with the shortest dimension outermost; see [`ModeOrder::shortest_first`].
    #[must_use]
    pub fn shortest_first(self) -> Self {
        let mode_order = ModeOrder::shortest_first(&self.shape);
        self.mode_order(mode_order)
    }

    /// What to do with entries that have the same index.
    #[must_use]
    pub fn duplicates(mut self, duplicates: Duplicates) -> Self {
        self.duplicates = duplicates;
        self
    }

    /// Whether to leave out values that are 0 or -0 once duplicates are merged (of complex
    /// numbers both parts). Types that have no zero, or of which none is known (float8_e8m0 and
    /// private ones), lose nothing.
    #[must_use]
    pub fn drop_zeros(mut self, drop_zeros: bool) -> Self {
        self.drop_zeros = drop_zeros;
        self
    }

    /// Builds a tensor from indices, in any order, and one value for each. The values keep their
    /// bits, whatever their type, unless they are merged.
    ///
    /// O(n) for n entries; input that is in storage order already is noticed and not sorted.
    ///
    /// # Errors
    /// [`BuildError`] if the shape is not one of a CSF tensor, the mode order not one of its
    /// rank, the lengths do not match, an index is negative or out of range (the first such
    /// entry is reported), or duplicates cannot be merged as asked for.
    pub fn build<I: Coordinate>(
        &self,
        indices: Indices<'_, I>,
        values: Values<&[u8]>,
    ) -> Result<Tensor, BuildError> {
        // Before the indices, whose form depends on the rank.
        self.checked_mode_order()?;
        self.build_from(&Checked::new(indices, self.shape.rank())?, &values)
    }

    /// Builds a tensor from anything that has indices.
    pub(crate) fn build_from(
        &self,
        source: &dyn Source,
        values: &Values<&[u8]>,
    ) -> Result<Tensor, BuildError> {
        let mode_order = self.checked_mode_order()?;
        if values.len() != source.len() {
            return Err(BuildError::ValueCount { values: values.len(), entries: source.len() });
        }
        let merger = Merger::new(values.element_type(), self.duplicates, self.drop_zeros)?;
        let layout = KeyLayout::new(&self.shape, &mode_order, source)?;
        with_words!(layout.words(), W => {
            self.build_keyed::<W>(source, values, mode_order, &layout, &merger)
        })
    }

    fn build_keyed<const W: usize>(
        &self,
        source: &dyn Source,
        values: &Values<&[u8]>,
        mode_order: ModeOrder,
        layout: &KeyLayout,
        merger: &Merger,
    ) -> Result<Tensor, BuildError> {
        let keys::Packed { mut keys, sorted } = pack::<W>(source, &self.shape, layout)?;
        let whole_bytes = WholeBytes::new(values);
        let (mut sorted_values, partings);
        if let Some(sorted) = sorted {
            (sorted_values, partings) = (whole_bytes.copy(), sorted);
        } else {
            let level_of_bit = layout.level_of_bit();
            let examine = |keys: &[Key<W>]| Partings::count(keys, &level_of_bit);
            (keys, sorted_values, partings) = sort(&keys, &whole_bytes.payload(), examine);
            sorted_values = whole_bytes.gather(sorted_values);
        }
        let mut counts = Counts::of_pieces::<W>(keys.as_chunks().0, partings, layout);
        if counts.duplicates > 0 || merger.drops_zeros() {
            let slots: &mut [Key<W>] = keys.as_chunks_mut().0;
            let kept = merger
                .apply(slots, &mut sorted_values, whole_bytes.width, layout)
                .map_err(|error| locate(error, source))?;
            keys.truncate(kept * W);
            sorted_values.truncate(kept * whole_bytes.width);
            counts = Counts::new::<W>(keys.as_chunks().0, layout);
        }
        let levels = emit::fill::<W>(keys, layout, &counts);
        let tree = Csf::new(self.shape.clone(), mode_order, levels)
            .expect("the rank and the mode order are checked, and every level has its nodes");
        let values = payload::finish(values, sorted_values, tree.nnz())?;
        Ok(Tensor::new(tree, values)?)
    }

    /// The mode order, checked against the shape, whose rank is checked, too.
    fn checked_mode_order(&self) -> Result<ModeOrder, BuildError> {
        let mode_order = match &self.mode_order {
            Some(mode_order) => mode_order.clone(),
            None => ModeOrder::identity(self.shape.rank())?,
        };
        let layout = CsfLayout::new(0, mode_order.as_slice().to_vec());
        LayoutDescriptor::Csf(layout).validate_against_shape(&self.shape)?;
        Ok(mode_order)
    }
}

/// Finds out which entries have an index that is there twice.
fn locate(error: MergeError, source: &dyn Source) -> BuildError {
    match error {
        MergeError::Other(error) => error,
        MergeError::Duplicate(index) => {
            let (first, second) = keys::first_two(source, &index).unwrap_or_default();
            BuildError::Duplicate { index, first, second }
        }
    }
}

/// The lexicographically first index that is there twice, if there is one, and the positions of
/// the first two entries that have it. Any rank but 0.
///
/// # Errors
/// The first entry that is negative or out of range.
pub(crate) fn first_duplicate(
    shape: &Shape,
    source: &dyn Source,
) -> Result<Option<(Vec<u64>, usize, usize)>, BuildError> {
    let layout = KeyLayout::new(shape, &ModeOrder::identity(shape.rank())?, source)?;
    with_words!(layout.words(), W => {
        let keys = pack::<W>(source, shape, &layout)?.keys;
        let (keys, positions, _) = sort::<W, _>(&keys, &Payload::Position, |_| ());
        let keys: &[Key<W>] = keys.as_chunks().0;
        let position = |at: usize| to_usize(u64::from_le_bytes(positions.as_chunks().0[at]));
        let second = (1..keys.len()).find(|&at| keys[at - 1] == keys[at]);
        Ok(second.map(|at| (layout.index(&keys[at]), position(at - 1), position(at))))
    })
}
