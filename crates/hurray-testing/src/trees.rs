//! Trees, lists and matrices of arbitrary words. Only what their constructors check is right; what
//! they hold is nearly valid, or anything.

use hurray_csf::{Level, Major};
use hurray_format::cast::to_u64;
use hurray_format::{ModeOrder, Shape};

use crate::Choices;

/// What a [`Csf`](hurray_csf::Csf) is made of; the lengths of the levels chain.
#[derive(Clone, Debug)]
pub struct Parts {
    /// The shape.
    pub shape: Shape,
    /// Which dimension each level stores.
    pub mode_order: ModeOrder,
    /// The levels, outermost first.
    pub levels: Vec<Level<Vec<u64>>>,
}

/// A tree of rank 3 to 5, seldom up to 64: valid, nearly valid, or of arbitrary words.
///
/// # Panics
/// Never: ranks and mode orders are valid.
pub fn parts(choices: &mut Choices<'_>) -> Parts {
    let rank = if choices.one_in(30) { 3 + choices.below(62) } else { 3 + choices.below(3) };
    let mode_order = mode_order(rank, choices);
    let is_arbitrary = choices.one_in(4);
    let mut levels: Vec<Level<Vec<u64>>> = Vec::new();
    for _ in 0..rank {
        let parents = levels.last().map_or(1, |level| level.crd.len());
        levels.push(if is_arbitrary {
            any_level(parents, choices)
        } else {
            level(parents, choices)
        });
    }
    let mut shape = vec![0; rank];
    for (number, level) in levels.iter().enumerate() {
        let largest = level.crd.iter().copied().max().unwrap_or(0);
        shape[mode_order.dimension(number)] = match choices.below(8) {
            6 => Shape::DYNAMIC,
            7 => choices.telling_word(),
            slack => largest.saturating_add(1 + to_u64(slack) / 4),
        };
    }
    if !is_arbitrary {
        // Some words are wrong, or none.
        for _ in 0..choices.below(5) {
            let level = choices.below(rank);
            let Level { pos, crd } = &mut levels[level];
            let words = if choices.one_in(2) { crd } else { pos };
            if !words.is_empty() {
                let at = choices.below(words.len());
                words[at] = choices.telling_word();
            }
        }
    }
    Parts { shape: Shape::new(shape).expect("the rank is right"), mode_order, levels }
}

/// A permutation.
///
/// # Panics
/// If the rank is above 64.
pub fn mode_order(rank: usize, choices: &mut Choices<'_>) -> ModeOrder {
    let mut dimensions: Vec<u32> = (0u32..).take(rank).collect();
    if !choices.one_in(3) {
        for end in (2..=rank).rev() {
            dimensions.swap(end - 1, choices.below(end));
        }
    }
    ModeOrder::new(dimensions).expect("a permutation")
}

/// A valid level below `parents` nodes.
fn level(parents: usize, choices: &mut Choices<'_>) -> Level<Vec<u64>> {
    let (mut pos, mut crd) = (vec![0], Vec::new());
    for _ in 0..parents {
        // Not so many that trees of high rank grow without end.
        let most = if parents < 40 { 4 } else { 2 };
        let children = if choices.one_in(60) { 100 } else { choices.below(most) };
        let mut coordinate = to_u64(choices.below(3));
        for _ in 0..children {
            crd.push(coordinate);
            coordinate += 1 + to_u64(choices.below(3));
        }
        pos.push(to_u64(crd.len()));
    }
    Level { pos, crd }
}

/// A level of arbitrary words.
fn any_level(parents: usize, choices: &mut Choices<'_>) -> Level<Vec<u64>> {
    let nodes = if choices.one_in(40) { choices.below(3000) } else { choices.below(16) };
    let mut word = |below: usize| match choices.below(6) {
        5 => choices.telling_word(),
        _ => to_u64(choices.below(below)),
    };
    let mut pos: Vec<u64> = (0..=parents).map(|_| word(nodes + 2)).collect();
    let crd = (0..nodes).map(|_| word(20)).collect();
    if choices.one_in(2) {
        pos.sort_unstable();
    }
    Level { pos, crd }
}

/// The shape and the rows of a list of arbitrary words, of rank 1 to 5.
///
/// # Panics
/// Never: the rank is valid.
pub fn rows(choices: &mut Choices<'_>) -> (Shape, Vec<u64>) {
    let rank = 1 + choices.below(5);
    let nnz = choices.below(40);
    let sizes = (0..rank).map(|_| size(choices)).collect::<Vec<_>>();
    let mut rows: Vec<u64> = (0..nnz * rank).map(|_| coordinate(choices)).collect();
    if choices.one_in(2) {
        let mut sorted: Vec<Vec<u64>> = rows.chunks(rank).map(<[u64]>::to_vec).collect();
        sorted.sort();
        rows = sorted.concat();
    }
    (Shape::new(sizes).expect("the rank is right"), rows)
}

/// The shape, the pointers and the indices of a matrix of arbitrary words.
///
/// # Panics
/// Never: the rank is valid.
pub fn matrix(major: Major, choices: &mut Choices<'_>) -> (Shape, Vec<u64>, Vec<u64>) {
    let mut sizes = [size(choices), size(choices)];
    let mut lines = choices.below(20);
    match sizes[major.dimension()] {
        Shape::DYNAMIC => {}
        found if found <= 20 => lines = hurray_format::cast::to_usize(found),
        _ => sizes[major.dimension()] = to_u64(lines),
    }
    let indices: Vec<u64> = (0..choices.below(30)).map(|_| coordinate(choices)).collect();
    let mut pointers: Vec<u64> = (0..=lines)
        .map(|_| match choices.below(12) {
            11 => choices.telling_word(),
            _ => to_u64(choices.below(indices.len() + 1)),
        })
        .collect();
    if choices.one_in(2) {
        pointers.sort_unstable();
    }
    (Shape::new(sizes).expect("the rank is right"), pointers, indices)
}

fn size(choices: &mut Choices<'_>) -> u64 {
    match choices.below(8) {
        6 => Shape::DYNAMIC,
        7 => choices.telling_word(),
        size => 3 * to_u64(size),
    }
}

fn coordinate(choices: &mut Choices<'_>) -> u64 {
    if choices.one_in(20) { choices.telling_word() } else { to_u64(choices.below(12)) }
}
