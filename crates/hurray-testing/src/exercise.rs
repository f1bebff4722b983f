//! Everything that can be asked of a view, asked of it, whatever it holds.
//!
//! The functions panic where a promise does not hold: that nothing is yielded more often than there
//! are leaves, that no position lies behind the last one, and that the answers about a valid tree
//! agree with one another. A panic of the library passes through.

use std::sync::atomic::{AtomicUsize, Ordering::Relaxed};

use hurray_csf::{Compressed, Coo, Csf, Fibers, Leaves, Numbers, Subtree, Tensor};
use hurray_format::cast::to_usize;
use hurray_format::{Dequantizer, ModeOrder, Value, Values};
use hurray_io::tns::{self, WriteOptions};
use hurray_io::{File, TensorBuffers};

use crate::{Choices, trees};

/// Values looked at one by one.
const SOME: usize = 100;

/// What is known of the storage behind a view.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Storage {
    /// It stays as it is, so that valid contents have to give right answers.
    Quiet,
    /// It changes ([`Changing`](crate::changing::Changing)) and has had at most this many leaves.
    Changing(usize),
}

/// Asks everything of a tree.
///
/// # Panics
/// If a promise does not hold.
pub fn tree<S: AsRef<[u64]> + Sync>(tree: &Csf<S>, storage: Storage, choices: &mut Choices<'_>) {
    let is_quiet = storage == Storage::Quiet;
    let verdict = tree.validate();
    let violations = tree.validate_all(1 + choices.below(20));
    for violation in &violations {
        let _ = (violation.to_string(), violation.invariant(), violation.level());
        let _ = violation.position();
    }
    if is_quiet {
        assert_eq!(verdict.err(), violations.first().copied());
    }
    let is_valid = is_quiet && violations.is_empty();
    let most = match storage {
        Storage::Quiet => tree.nnz(),
        Storage::Changing(most) => most,
    };
    let walk = Walk { most, all: is_valid.then_some(most) };
    for level in 0..tree.rank() {
        let _ = (tree.node_count(level), tree.level(level));
    }
    let _ = (tree.layout(), tree.as_view());

    lookups(tree, is_valid, choices);
    let count = walk.leaves(tree.leaves());
    let for_each = walk.leaves_for_each(tree.leaves());
    let fibers = walk.fibers(tree.fibers());
    if is_quiet {
        assert!(count == for_each && count == fibers, "{count}, {for_each} and {fibers} leaves");
    }
    // One piece per leaf only where there are few.
    let many = if most <= SOME { usize::MAX } else { 7 };
    for pieces in [0, 1 + choices.below(40), many] {
        let split = tree.split(pieces);
        assert!(split.len() <= pieces.min(most).max(1), "{} pieces of {pieces}", split.len());
        let part = Walk { all: None, ..walk };
        let mut count = 0;
        for piece in split {
            let remaining = piece.remaining();
            assert!(remaining.end <= most);
            let more = 1 + choices.below(3);
            let halves: usize = piece.clone().split(more).into_iter().map(|f| part.fibers(f)).sum();
            let whole = part.leaves_for_each(piece.leaves());
            if is_valid {
                assert!(halves == whole && whole == remaining.len());
            }
            count += whole;
        }
        walk.check(count);
    }
    let seen = AtomicUsize::new(0);
    tree.par_for_each(|fiber| {
        seen.fetch_add(fiber.crd().len(), Relaxed);
    });
    walk.check(seen.into_inner());
    for _ in 0..4 {
        parts(tree, walk, choices);
    }
    let _ = (tree.subtree(&[]), tree.slice(&[]), tree.slice(&vec![None; tree.rank()]));
}

/// A logical index: of coordinates that are stored somewhere, or of any.
fn index<S: AsRef<[u64]>>(tree: &Csf<S>, choices: &mut Choices<'_>) -> Vec<u64> {
    let sizes = tree.shape().dimensions();
    let mut index = vec![0; sizes.len()];
    for (dimension, coordinate) in index.iter_mut().enumerate() {
        let (_, crd) = tree.level(tree.mode_order().level(dimension));
        *coordinate = match choices.below(4) {
            0 | 1 if !crd.is_empty() => *choices.pick(crd),
            2 => choices.telling_word().checked_rem(sizes[dimension]).unwrap_or(0),
            _ => choices.telling_word(),
        };
    }
    index
}

fn lookups<S: AsRef<[u64]>>(tree: &Csf<S>, is_valid: bool, choices: &mut Choices<'_>) {
    let (mut indices, mut found) = (Vec::new(), Vec::new());
    let mut ask = |index: &[u64]| {
        let answer = tree.lookup(index);
        if let Ok(leaf) = answer {
            indices.extend_from_slice(index);
            found.push(leaf);
        }
        answer
    };
    let mut leaves = tree.leaves();
    for _ in 0..SOME {
        let Some((index, leaf)) = leaves.next() else { break };
        let answer = ask(index);
        assert!(!is_valid || answer == Ok(Some(leaf)), "{index:?}: {answer:?}, not {leaf}");
    }
    for _ in 0..choices.below(20) {
        let _ = ask(&index(tree, choices));
    }
    let many = tree.lookup_many(&indices);
    assert!(!is_valid || many.as_ref() == Ok(&found), "{many:?}, not {found:?}");
    assert_eq!(many.map(|many| many.len()), Ok(found.len()));
    let _ = tree.lookup_many(&indices[..indices.len().saturating_sub(1)]);
    let _ = tree.lookup_many(&[u64::MAX; 3]);
}

/// What a walk may yield: positions below `most`, and in a valid tree `all` of them.
#[derive(Clone, Copy)]
struct Walk {
    most: usize,
    all: Option<usize>,
}

impl Walk {
    fn check(self, count: usize) -> usize {
        assert!(count <= self.most, "{count} leaves of {}", self.most);
        assert!(self.all.is_none_or(|all| count == all), "{count} leaves, not {:?}", self.all);
        count
    }

    fn leaves(self, mut leaves: Leaves<'_>) -> usize {
        let mut count = 0;
        while let Some((_, leaf)) = leaves.next() {
            assert!(leaf < self.most);
            count += 1;
            assert!(count <= self.most, "a walk does not end");
        }
        self.check(count)
    }

    fn leaves_for_each(self, leaves: Leaves<'_>) -> usize {
        let mut count = 0;
        leaves.for_each(|_, leaf| {
            assert!(leaf < self.most);
            count += 1;
            assert!(count <= self.most, "a walk does not end");
        });
        self.check(count)
    }

    fn fibers(self, mut fibers: Fibers<'_>) -> usize {
        let mut count = 0;
        while let Some(fiber) = fibers.next() {
            assert!(!fiber.crd().is_empty() && fiber.leaves().end <= self.most);
            let mut index = vec![0; fiber.outer().len() + 1];
            fiber.place(&mut index);
            let _ = fiber.dimension();
            count += fiber.crd().len();
            assert!(count <= self.most, "a walk does not end");
        }
        self.check(count)
    }
}

/// Some sub-trees.
fn parts<S: AsRef<[u64]>>(tree: &Csf<S>, walk: Walk, choices: &mut Choices<'_>) {
    let index = index(tree, choices);
    let order = tree.mode_order();
    let depth = choices.below(tree.rank() + 1);
    let fixed: Vec<u64> = (0..depth).map(|level| index[order.dimension(level)]).collect();
    let holes: Vec<Option<u64>> = (index.iter().enumerate())
        .map(|(dimension, &c)| (order.level(dimension) < depth).then_some(c))
        .collect();
    let range = choices.telling_word()..choices.telling_word();
    let found = [tree.subtree(&fixed), tree.subtree_range(&fixed, range), tree.slice(&holes)];
    for part in found.into_iter().flatten() {
        let _ = (part.rank(), part.fixed(), part.nodes());
        assert!(part.leaf_range().end <= walk.most && part.leaf_range().len() == part.nnz());
        let _ = (part.lookup(&index), part.lookup(&[]));
        let inside = Walk { most: walk.most, all: walk.all.map(|_| part.nnz()) };
        let count = inside.fibers(part.fibers());
        inside.check(inside.leaves(part.leaves()));
        sum_of_pieces(&part, inside, choices);
        assert!(count <= part.nnz());
    }
}

fn sum_of_pieces(part: &Subtree<'_>, inside: Walk, choices: &mut Choices<'_>) {
    let pieces = part.split(choices.below(8));
    let piece = Walk { all: None, ..inside };
    inside.check(pieces.into_iter().map(|fibers| piece.fibers(fibers)).sum());
}

/// Asks everything of a tree with values, and converts it.
///
/// # Panics
/// If a promise does not hold.
pub fn tensor<S, B>(
    tensor: &Tensor<S, B>,
    dequantizer: Option<Dequantizer<B>>,
    storage: Storage,
    choices: &mut Choices<'_>,
) where
    S: AsRef<[u64]> + Sync,
    B: AsRef<[u8]> + Sync + Clone,
{
    let rank = tensor.tree().rank();
    tree(tensor.tree(), storage, choices);
    let is_valid = storage == Storage::Quiet && tensor.tree().validate().is_ok();
    let list = tensor.to_coo();
    let count = tensor.values().len();
    assert!(list.nnz() == count || (storage != Storage::Quiet && list.nnz() == 0));
    coo(&list, Storage::Quiet, choices);
    let (sorted, turned) =
        (tensor.to_sorted_coo(), tensor.to_mode_order(trees::mode_order(rank, choices)));
    let _ = tensor.to_mode_order(ModeOrder::identity(2).expect("rank 2 is one"));
    if is_valid {
        let order = tensor.tree().mode_order().clone();
        // The same leaves; nodes without any are not built again.
        let again = list.to_csf(order).expect("a valid tree has a valid list");
        assert_eq!(again.to_coo().coordinates(), list.coordinates());
        assert_eq!(turned.expect("a valid tree can be turned").tree().validate(), Ok(()));
        assert_eq!(sorted.expect("a valid tree can be listed").validate(), Ok(()));
    }
    let _ = (tensor.descriptor(), tensor.buffers());
    values(tensor.values());
    for dequantizer in [None, dequantizer] {
        if let Ok(numbers) = Numbers::new(tensor.values().clone(), dequantizer) {
            let _ = tensor.tree().statistics(&numbers);
            ask_numbers(&numbers, rank, choices);
        }
    }
    let options = write_options(tensor.values().len(), choices);
    let _ = tns::write_csf(tensor, std::io::sink(), &options);
}

/// Asks everything of a coordinate list, and builds a tree of it.
///
/// # Panics
/// If a promise does not hold.
pub fn coo<C, B>(list: &Coo<C, B>, storage: Storage, choices: &mut Choices<'_>)
where
    C: AsRef<[u64]> + Sync,
    B: AsRef<[u8]> + Sync,
{
    let is_valid = list.validate().map_err(|violation| violation.to_string()).is_ok();
    let is_valid = storage == Storage::Quiet && is_valid;
    for _ in 0..4 {
        let mut index: Vec<u64> = (list.shape().dimensions().iter())
            .map(|&size| choices.telling_word().checked_rem(size).unwrap_or(0))
            .collect();
        let position = choices.below(list.nnz());
        if choices.one_in(2)
            && let Some(row) = list.index(position)
        {
            index = row.to_vec();
            let answer = list.lookup(&index);
            assert!(!is_valid || answer == Ok(Some(position)), "{answer:?}, not {position}");
        }
        let _ = list.lookup(&index);
    }
    let _ = (list.index(usize::MAX), list.index(usize::MAX / 2), list.lookup(&[]), list.layout());
    if let Ok(order) = ModeOrder::identity(list.shape().rank())
        && let Ok(tensor) = list.to_csf(order)
    {
        assert_eq!(tensor.tree().validate(), Ok(()));
    }
    if let Ok(numbers) = Numbers::new(list.values().as_view(), None) {
        let _ = list.statistics(&numbers);
    }
    let (rank, options) = (list.shape().rank(), write_options(list.nnz(), choices));
    let _ = tns::write_coo(rank, list.coordinates(), list.values(), std::io::sink(), &options);
}

/// A few pieces.
fn write_options(nnz: usize, choices: &mut Choices<'_>) -> WriteOptions<'static> {
    let piece_size = 1 + choices.below(5) + nnz / 8;
    WriteOptions { piece_size, ..WriteOptions::default() }
}

/// Asks everything of a CSR or CSC matrix.
///
/// # Panics
/// If a promise does not hold.
pub fn compressed<P, I>(matrix: &Compressed<P, I>, storage: Storage, choices: &mut Choices<'_>)
where
    P: AsRef<[u64]>,
    I: AsRef<[u64]>,
{
    let is_valid = matrix.validate().map_err(|violation| violation.to_string()).is_ok();
    let is_valid = storage == Storage::Quiet && is_valid;
    let most = match storage {
        Storage::Quiet => matrix.nnz(),
        Storage::Changing(most) => most,
    };
    let mut count = 0;
    for (index, position) in matrix.entries() {
        assert!(position < most && count < most, "position {position}, number {count}");
        count += 1;
        if is_valid && count < SOME {
            assert_eq!(matrix.lookup(&index), Ok(Some(position)));
        }
    }
    assert!(!is_valid || count == matrix.nnz());
    for _ in 0..4 {
        let _ = matrix.lookup(&[choices.telling_word(), choices.telling_word()]);
    }
    let _ = (matrix.lookup(&[u64::MAX, u64::MAX - 1]), matrix.lookup(&[]));
}

/// Looks at values one by one.
fn values<B: AsRef<[u8]>>(values: &Values<B>) {
    for value in values.iter().take(SOME) {
        let _ = (value.to_f64(), value.to_string());
    }
    let _ = (values.get(usize::MAX), values.packed_bits(usize::MAX));
    let _ = (values.as_slice::<f32>(), values.as_slice::<f64>(), values.as_slice::<u8>());
}

fn ask_numbers<B: AsRef<[u8]>>(numbers: &Numbers<B>, rank: usize, choices: &mut Choices<'_>) {
    for index in [vec![], vec![0; rank], vec![u64::MAX; rank]] {
        let position = to_usize(choices.telling_word());
        let _ = (numbers.get(&index, position), numbers.value(&index, 0));
        let _ = numbers.at(&index, None);
    }
}

fn ask_dequantizer<B: AsRef<[u8]>>(dequantizer: &Dequantizer<B>, choices: &mut Choices<'_>) {
    let _ = dequantizer.check();
    for rank in 0..4 {
        let index: Vec<u64> = (0..rank).map(|_| choices.telling_word()).collect();
        let word = choices.telling_word();
        let _ = dequantizer.parameter(&index);
        let _ = dequantizer.dequantize(&Value::Uint(word), &index);
        let _ = dequantizer.dequantize(&Value::Int(word.cast_signed()), &index);
        let _ = dequantizer.dequantize_with(&Value::Uint(3), word);
    }
}

/// Asks everything of every tensor of a file.
///
/// # Panics
/// If a promise does not hold.
pub fn file(file: &File, choices: &mut Choices<'_>) {
    let _ = (file.header(), file.metadata(), file.is_mapped());
    let _ = (file.get(file.len()).is_none(), file.tensor("no such name"));
    for reference in file.tensors() {
        assert_eq!(
            file.tensor(reference.name()).map(|found| found.name()).ok(),
            Some(reference.name())
        );
        let descriptor = reference.descriptor();
        let _ = (descriptor.nnz(), descriptor.node_counts(), reference.index_entry());
        if let Ok(buffers) = reference.read() {
            tensor_buffers(&buffers, choices);
        }
    }
}

fn tensor_buffers(buffers: &TensorBuffers, choices: &mut Choices<'_>) {
    let verdict = buffers.verify().map_err(|error| error.to_string());
    let dequantizer = buffers.dequantizer().unwrap_or(None);
    if let Some(dequantizer) = &dequantizer {
        ask_dequantizer(dequantizer, choices);
    }
    if let Ok(view) = buffers.csf() {
        assert!(verdict.is_err() || view.tree().validate().is_ok());
        tensor(&view, dequantizer, Storage::Quiet, choices);
    }
    if let Ok(list) = buffers.coo() {
        coo(&list, Storage::Quiet, choices);
    }
    if let Ok(matrix) = buffers.compressed() {
        compressed(&matrix, Storage::Quiet, choices);
    }
    if let Ok(found) = buffers.values() {
        values(&found);
    }
    if let Ok(numbers) = buffers.numbers() {
        ask_numbers(&numbers, buffers.descriptor().shape.rank(), choices);
    }
}
