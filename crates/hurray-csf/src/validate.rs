//! The storage invariants of docs/format.md, checked in passes that the compiler can vectorise.
//!
//! A valid tree is recognised without looking for a fault. Coordinates increase strictly within
//! every fiber exactly when each descent of a level (`crd[i] <= crd[i - 1]`) lies where a fiber
//! begins. So one pass over `crd` counts the descents, one over `pos` counts those at the beginning
//! of a fiber, and the tree is valid if the counts agree: plain arithmetic over slices, without a
//! branch per fiber. Both passes take turns on blocks that fit the cache, so every byte comes from
//! memory once.
//!
//! The counts are sums over a whole level, so where it is cut makes no difference; pieces are
//! counted on as many threads as there are. `pos` is read like any other untrusted number: where it
//! leads affects the speed and the verdict, nothing else. Only after a mismatch does a plain scan
//! look for the culprit, level by level, so that its report is always the same.

use std::ops::{ControlFlow, Range};

use hurray_format::Shape;
use hurray_format::cast::{to_u64, to_usize};
#[cfg(feature = "parallel")]
use rayon::prelude::*;

use crate::tree::Csf;
use crate::violation::Violation;

impl<S: AsRef<[u64]>> Csf<S> {
    /// Checks all five storage invariants and the empty form, in one pass over the arrays on the
    /// threads of the current rayon pool. Along a dynamic dimension every coordinate passes.
    ///
    /// # Errors
    /// The first [`Violation`]: of the outermost level that has any, in `pos` before `crd`, at the
    /// lowest position. It is the same however many threads run. Finding it takes another, slower
    /// pass.
    ///
    /// ```
    /// # use hurray_csf::{Csf, Level};
    /// # use hurray_format::{ModeOrder, Shape};
    /// let tree = Csf::new(
    ///     Shape::new([2, 3, 4])?,
    ///     ModeOrder::identity(3)?,
    ///     vec![
    ///         Level { pos: vec![0, 2], crd: vec![0, 1] },
    ///         Level { pos: vec![0, 2, 3], crd: vec![0, 2, 1] },
    ///         Level { pos: vec![0, 1, 2, 4], crd: vec![1, 3, 2, 2] },
    ///     ],
    /// )?;
    /// assert_eq!(
    ///     tree.validate().unwrap_err().to_string(),
    ///     "invariant 4 broken at crd_2[3]: found 2, expected more than 2, its sibling before"
    /// );
    /// # Ok::<(), hurray_csf::StructureError>(())
    /// ```
    pub fn validate(&self) -> Result<(), Violation> {
        if self.is_valid() {
            return Ok(());
        }
        // Bytes that change meanwhile may leave nothing to be found.
        self.validate_scan(1).first().map_or(Ok(()), |&violation| Err(violation))
    }

    /// The violations in the order of [`validate`](Self::validate), at most `limit` of them; none
    /// means a valid tree. Where `pos` of a level is broken, siblings are not known, so the order
    /// of its coordinates (invariant 4) is not judged.
    #[must_use]
    pub fn validate_all(&self, limit: usize) -> Vec<Violation> {
        if limit == 0 || self.is_valid() { Vec::new() } else { self.validate_scan(limit) }
    }

    fn is_valid(&self) -> bool {
        let mut pieces = Vec::new();
        for number in 0..self.rank() {
            let (pos, crd) = self.level(number);
            let bound = bound(self.shape(), self.mode_order().dimension(number));
            if !Piece::cut(pos, crd, bound, &mut pieces) {
                return false;
            }
        }
        let empty_form = self.nnz() > 0 || (0..self.rank()).all(|l| self.node_count(l) == 0);
        empty_form && all_hold(&pieces)
    }

    /// Searches for violations without shortcuts.
    fn validate_scan(&self, limit: usize) -> Vec<Violation> {
        let mut found = Vec::new();
        let mut push = |violation| {
            found.push(violation);
            if found.len() < limit { ControlFlow::Continue(()) } else { ControlFlow::Break(()) }
        };
        let _ = (0..self.rank()).try_for_each(|level| self.scan_level(level, &mut push));
        found
    }

    fn scan_level(
        &self,
        level: usize,
        report: &mut impl FnMut(Violation) -> ControlFlow<()>,
    ) -> ControlFlow<()> {
        let (pos, crd) = self.level(level);
        let dimension = self.mode_order().dimension(level);
        let mut siblings = Some(pos);
        scan_pos(pos, crd.len(), |fault| {
            siblings = None;
            report(fault.at(level, dimension))
        })?;
        if self.nnz() == 0 && !crd.is_empty() {
            report(Violation::EmptyForm { level, nodes: crd.len() })?;
        }
        scan_crd(siblings, crd, bound(self.shape(), dimension), |fault| {
            report(fault.at(level, dimension))
        })
    }
}

/// The size of a dimension, or `None` if it is dynamic and bounds nothing.
pub(crate) fn bound(shape: &Shape, dimension: usize) -> Option<u64> {
    Some(shape.dimensions()[dimension]).filter(|&size| size != Shape::DYNAMIC)
}

/// A broken invariant of one `(pos, crd)` pair.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Fault {
    PosStart { found: u64 },
    PosDecrease { position: usize, found: u64, previous: u64 },
    PosEnd { position: usize, found: u64, nodes: usize },
    CrdOrder { position: usize, found: u64, previous: u64 },
    CrdBound { position: usize, found: u64, size: u64 },
}

impl Fault {
    fn at(self, level: usize, dimension: usize) -> Violation {
        match self {
            Fault::PosStart { found } => Violation::PosStart { level, found },
            Fault::PosDecrease { position, found, previous } => {
                Violation::PosDecrease { level, position, found, previous }
            }
            Fault::PosEnd { position, found, nodes } => {
                Violation::PosEnd { level, position, found, nodes }
            }
            Fault::CrdOrder { position, found, previous } => {
                Violation::CrdOrder { level, position, found, previous }
            }
            Fault::CrdBound { position, found, size } => {
                Violation::CrdBound { level, position, found, dimension, size }
            }
        }
    }
}

/// Calls `report` with the faults of `pos`, by position, until it breaks.
pub(crate) fn scan_pos(
    pos: &[u64],
    nodes: usize,
    mut report: impl FnMut(Fault) -> ControlFlow<()>,
) -> ControlFlow<()> {
    if let Some(&found) = pos.first().filter(|&&found| found != 0) {
        report(Fault::PosStart { found })?;
    }
    for (pair, position) in pos.windows(2).zip(1..) {
        let (previous, found) = (pair[0], pair[1]);
        if found < previous {
            report(Fault::PosDecrease { position, found, previous })?;
        }
    }
    if let Some(&found) = pos.last().filter(|&&found| found != to_u64(nodes)) {
        report(Fault::PosEnd { position: pos.len() - 1, found, nodes })?;
    }
    ControlFlow::Continue(())
}

/// Calls `report` with the faults of `crd`, by position, until it breaks. The order of siblings is
/// judged if there is a valid `pos` to tell them by.
pub(crate) fn scan_crd(
    pos: Option<&[u64]>,
    crd: &[u64],
    bound: Option<u64>,
    mut report: impl FnMut(Fault) -> ControlFlow<()>,
) -> ControlFlow<()> {
    let mut starts = pos.unwrap_or(&[]).iter().map(|&start| to_usize(start)).peekable();
    let mut sibling = None;
    for (position, &found) in crd.iter().enumerate() {
        while starts.next_if(|&start| start <= position).is_some() {
            sibling = None;
        }
        if let Some(previous) = sibling.filter(|&previous| found <= previous) {
            report(Fault::CrdOrder { position, found, previous })?;
        }
        if let Some(size) = bound.filter(|&size| found >= size) {
            report(Fault::CrdBound { position, found, size })?;
        }
        sibling = pos.map(|_| found);
    }
    ControlFlow::Continue(())
}

/// Part of a `(pos, crd)` pair: some of the parents, and some of the nodes, roughly their children.
pub(crate) struct Piece<'a> {
    pos: &'a [u64],
    crd: &'a [u64],
    bound: Option<u64>,
    parents: Range<usize>,
    nodes: Range<usize>,
}

impl<'a> Piece<'a> {
    /// Words of `pos` and `crd` to a piece: small enough to balance threads, large enough to hide
    /// what a piece costs.
    const WORDS: usize = 1 << 16;

    /// Parents to a block: their children should fit the cache.
    const BLOCK: usize = 256;

    /// Cuts a pair into pieces, or gives `false` if its ends alone show that it is not valid.
    pub(crate) fn cut(
        pos: &'a [u64],
        crd: &'a [u64],
        bound: Option<u64>,
        pieces: &mut Vec<Piece<'a>>,
    ) -> bool {
        let (Some(&start), Some(&end)) = (pos.first(), pos.last()) else { return false };
        let (parents, nodes) = (pos.len() - 1, crd.len());
        if start != 0 || end != to_u64(nodes) || (bound == Some(0) && nodes > 0) {
            return false;
        }
        let count = (parents + nodes).div_ceil(Self::WORDS);
        let (mut parent, mut node) = (0, 0);
        for piece in 1..=count {
            let next_node = if piece == count { nodes } else { nodes / count * piece };
            let next_parent = if piece == count {
                parents
            } else {
                parent + pos[parent..parents].partition_point(|&p| p < to_u64(next_node))
            };
            let (parents, nodes) = (parent..next_parent, node..next_node);
            pieces.push(Piece { pos, crd, bound, parents, nodes });
            (parent, node) = (next_parent, next_node);
        }
        true
    }

    /// The words of `pos` and `crd` that belong to the piece.
    #[cfg(feature = "parallel")]
    fn words(&self) -> usize {
        self.parents.len() + self.nodes.len()
    }

    /// The descents among the nodes less those at the end of the fibers of the parents (where the
    /// next fiber begins), or `None` if `pos` decreases or a coordinate is out of bounds. Over all
    /// pieces of a pair these numbers add up, wrapping, to the descents inside fibers.
    fn descents(&self) -> Option<u64> {
        let mut descents = 0u64;
        let mut node = self.nodes.start;
        for start in self.parents.clone().step_by(Self::BLOCK) {
            let end = (start + Self::BLOCK).min(self.parents.end);
            let pos = &self.pos[start..=end];
            if !never_decreases(pos) {
                return None;
            }
            let next = to_usize(pos[end - start]).clamp(node, self.nodes.end);
            descents = descents.wrapping_add(self.descents_in(node..next)?);
            descents = descents.wrapping_sub(descents_at_ends(pos, self.crd));
            node = next;
        }
        Some(descents.wrapping_add(self.descents_in(node..self.nodes.end)?))
    }

    /// The descents among some nodes, or `None` if one of them is out of bounds.
    fn descents_in(&self, nodes: Range<usize>) -> Option<u64> {
        let Range { start, end } = nodes;
        if start >= end {
            return Some(0);
        }
        // The largest coordinate allowed. A bound of 0 was dealt with before.
        let largest = self.bound.map_or(u64::MAX, |bound| bound.saturating_sub(1));
        if start == 0 && self.crd[0] > largest {
            return None;
        }
        let start = start.max(1);
        let (previous, current) = (&self.crd[start - 1..end - 1], &self.crd[start..end]);
        let ascents = if largest < SIGN {
            ascents(previous, current, largest)?
        } else {
            ascents_wide(previous, current, largest)?
        };
        Some(to_u64(current.len()) - ascents)
    }
}

/// The highest bit: what a subtraction leaves behind when it goes below 0.
const SIGN: u64 = 1 << 63;

/// Whether no entry is less than the one before, for entries below 2^63; others fail as well, since
/// no position is that high.
fn never_decreases(pos: &[u64]) -> bool {
    let mut wrong = 0;
    for (&a, &b) in pos.iter().zip(&pos[1..]) {
        wrong |= b | b.wrapping_sub(a);
    }
    wrong < SIGN
}

/// The places where `current` is greater than `previous`, or `None` if an entry of `current` is
/// above `largest`, which is below 2^63. Only subtractions, shifts and ors: what every processor
/// has for vectors of u64, unlike comparisons.
fn ascents(previous: &[u64], current: &[u64], largest: u64) -> Option<u64> {
    let (mut ascents, mut wrong) = (0, 0);
    for (&p, &c) in previous.iter().zip(current) {
        ascents += p.wrapping_sub(c) >> 63;
        wrong |= c | largest.wrapping_sub(c);
    }
    (wrong < SIGN).then_some(ascents)
}

/// As [`ascents`], for coordinates of any size.
fn ascents_wide(previous: &[u64], current: &[u64], largest: u64) -> Option<u64> {
    let (mut ascents, mut wrong) = (0, false);
    for (&p, &c) in previous.iter().zip(current) {
        ascents += u64::from(p < c);
        wrong |= c > largest;
    }
    (!wrong).then_some(ascents)
}

/// The ends of fibers with children, within the level, at which the coordinates descend. Parents
/// without children end where the parent before did, which counts once.
fn descents_at_ends(pos: &[u64], crd: &[u64]) -> u64 {
    let Some((_, next)) = crd.split_first() else { return 0 };
    let previous = &crd[..next.len()];
    let mut descents = 0;
    for (&start, &end) in pos.iter().zip(&pos[1..]) {
        // An end at 0 or behind the level is not between two nodes: one comparison sees both.
        let last = to_usize(end).wrapping_sub(1);
        if last < next.len() {
            descents += u64::from((start != end) & (next[last] <= previous[last]));
        }
    }
    descents
}

/// Whether every descent of the pieces lies between two fibers, and nothing else is wrong.
pub(crate) fn all_hold(pieces: &[Piece<'_>]) -> bool {
    // Each pair has at least as many descents as its fibers account for, so that the sum over
    // several pairs is 0 only if each of them is.
    let sum = |a: u64, b: u64| Some(a.wrapping_add(b));
    #[cfg(feature = "parallel")]
    if pieces.iter().map(Piece::words).sum::<usize>() > Piece::WORDS {
        return pieces.par_iter().map(Piece::descents).try_reduce(|| 0, sum) == Some(0);
    }
    pieces.iter().map(Piece::descents).try_fold(0, |total, piece| sum(total, piece?)) == Some(0)
}

#[cfg(test)]
mod tests {
    use super::*;

    fn holds(pos: &[u64], crd: &[u64]) -> bool {
        let mut pieces = Vec::new();
        Piece::cut(pos, crd, Some(1 << 20), &mut pieces) && all_hold(&pieces)
    }

    /// Fibers of 0, 1, 2, ... coordinates, so that every other one begins with a descent, and one
    /// fiber that takes several pieces.
    fn pair() -> (Vec<u64>, Vec<u64>) {
        let (mut pos, mut crd) = (vec![0], Vec::new());
        for fiber in 0..60_000u64 {
            let children = if fiber == 40_000 { 200_000 } else { fiber % 4 };
            crd.extend((0..children).map(|child| child + fiber % 2));
            pos.push(to_u64(crd.len()));
        }
        (pos, crd)
    }

    // A wrong count on a valid tree would only cost time, since the scan finds nothing then.
    #[test]
    fn a_valid_pair_is_recognised_without_a_scan() {
        let (pos, crd) = pair();
        assert!(crd.len() > 4 * Piece::WORDS);
        assert!(holds(&pos, &crd));
        assert!(holds(&[0], &[]) && holds(&[0; 5], &[]) && holds(&[0, 0, 1], &[7]));
    }

    #[test]
    fn a_descent_inside_a_fiber_is_counted_wherever_pieces_and_blocks_are_cut() {
        let (pos, mut crd) = pair();
        let mut pieces = Vec::new();
        assert!(Piece::cut(&pos, &crd, None, &mut pieces));
        let pieces: Vec<_> = pieces.iter().map(|p| (p.parents.clone(), p.nodes.clone())).collect();
        let mut seen = 0;
        for (parents, nodes) in pieces {
            let blocks = parents.step_by(Piece::BLOCK).take(3);
            let borders = blocks.map(|parent| to_usize(pos[parent])).chain([nodes.start]);
            for position in borders.flat_map(|border| border.saturating_sub(2)..border + 3) {
                if position == 0 || pos.binary_search(&to_u64(position)).is_ok() {
                    continue;
                }
                let Some(kept) = crd.get(position).copied() else { continue };
                crd[position] = crd[position - 1];
                assert!(!holds(&pos, &crd), "{position}");
                crd[position] = kept;
                seen += 1;
            }
        }
        assert!(seen > 20, "{seen}");
    }
}
