//! The storage invariants of docs/format.md, checked in passes that the compiler can vectorise.
//!
//! A valid tree is recognised without looking for a fault. Coordinates increase strictly within
//! every fiber exactly when each descent of a level (`crd[i] <= crd[i - 1]`) lies where a fiber
//! begins. So `pos` marks where fibers begin in a block of nodes, and every node of the block has to
//! be marked or above the one before: plain arithmetic over slices, without a branch per fiber or
//! per node. A block and its marks stay in the cache, so every byte comes from memory once.
//!
//! Blocks are judged one by one, so where a level is cut makes no difference; pieces are judged on
//! as many threads as there are. `pos` is read like any other untrusted number: where it leads
//! affects the speed and the verdict, nothing else. Only after a mismatch does a plain scan look for
//! the culprit, level by level, so that its report is always the same.

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

/// Part of a `(pos, crd)` pair: some of the nodes, and the parents whose fibers begin there.
pub(crate) struct Piece<'a> {
    pos: &'a [u64],
    crd: &'a [u64],
    bound: Option<u64>,
    parents: Range<usize>,
    nodes: Range<usize>,
}

impl<'a> Piece<'a> {
    /// Words of `pos` and `crd` to a piece, give or take half: small enough to balance threads, large
    /// enough to hide what a piece costs.
    const WORDS: usize = 1 << 16;

    /// Cuts a pair into pieces, or gives `false` if what it reads of `pos` alone shows that it is
    /// not valid.
    pub(crate) fn cut(
        pos: &'a [u64],
        crd: &'a [u64],
        bound: Option<u64>,
        pieces: &mut Vec<Piece<'a>>,
    ) -> bool {
        let (Some(&start), Some(&end)) = (pos.first(), pos.last()) else { return false };
        if start != 0 || end != to_u64(crd.len()) || (bound == Some(0) && end > 0) {
            return false;
        }
        // Most fibers are short, so that the fibers of equally many parents make pieces without
        // a search. Where they have too many nodes they are cut between nodes.
        let parents = pos.len() - 1;
        for first in (0..parents).step_by(Self::WORDS / 2) {
            let last = (first + Self::WORDS / 2).min(parents);
            let (start, end) = (to_usize(pos[first]), to_usize(pos[last]));
            if start > end || end > crd.len() {
                return false;
            }
            let count = ((last - first + end - start) / Self::WORDS).max(1);
            let (mut parent, mut node) = (first, start);
            for piece in 1..=count {
                let (next_parent, next_node) = if piece == count {
                    (last, end)
                } else {
                    let next_node = start + (end - start) / count * piece;
                    let ended = pos[parent..last].partition_point(|&p| p < to_u64(next_node));
                    (parent + ended, next_node)
                };
                let (parents, nodes) = (parent..next_parent, node..next_node);
                pieces.push(Piece { pos, crd, bound, parents, nodes });
                (parent, node) = (next_parent, next_node);
            }
        }
        true
    }

    /// The words of `pos` and `crd` that belong to the piece.
    #[cfg(feature = "parallel")]
    fn words(&self) -> usize {
        self.parents.len() + self.nodes.len()
    }

    /// Whether `pos` never decreases, and every node is in bounds and, unless a fiber begins with
    /// it, above the one before.
    fn holds(&self) -> bool {
        #[cfg(target_arch = "x86_64")]
        #[expect(
            unsafe_code,
            reason = "vectors of 8 words make validation about 30 % faster, of 4 about 13 %"
        )]
        // SAFETY: the processor has just been asked for what each function is compiled for. In
        // every other respect the functions are safe.
        unsafe {
            if is_x86_feature_detected!("avx512f") {
                return self.holds_avx512();
            }
            if is_x86_feature_detected!("avx2") {
                return self.holds_avx2();
            }
        }
        self.holds_portable()
    }

    /// [`Piece::holds_portable`], compiled for processors with AVX-512.
    #[cfg(target_arch = "x86_64")]
    #[target_feature(enable = "avx512f")]
    fn holds_avx512(&self) -> bool {
        self.holds_portable()
    }

    /// [`Piece::holds_portable`], compiled for processors with AVX2.
    #[cfg(target_arch = "x86_64")]
    #[target_feature(enable = "avx2")]
    fn holds_avx2(&self) -> bool {
        self.holds_portable()
    }

    /// [`Piece::holds`] for any processor.
    #[inline(always)]
    fn holds_portable(&self) -> bool {
        // All ones for a node inside a fiber, 0 where one begins.
        let mut inside = [u64::MAX; BLOCK];
        let mut pos = &self.pos[self.parents.start..=self.parents.end];
        for start in self.nodes.clone().step_by(BLOCK) {
            let end = (start + BLOCK).min(self.nodes.end);
            let mut fibers = 0;
            // Where `pos` decreases, this marks anything, and the piece does not hold. As long as
            // eight begins are in the block, they are marked together.
            while let Some(&begins) = pos[fibers..].first_chunk::<8>()
                && begins[7] < to_u64(end)
            {
                for begin in begins {
                    inside[to_usize(begin.wrapping_sub(to_u64(start))) % BLOCK] = 0;
                }
                fibers += 8;
            }
            while let Some(&begin) = pos.get(fibers).filter(|&&begin| begin < to_u64(end)) {
                inside[to_usize(begin.wrapping_sub(to_u64(start))) % BLOCK] = 0;
                fibers += 1;
            }
            // The next begin, if there is one, must not be lower either.
            if !never_decreases(&pos[..pos.len().min(fibers + 1)])
                || !self.block_holds(start..end, &mut inside)
            {
                return false;
            }
            pos = &pos[fibers..];
        }
        never_decreases(pos)
    }

    /// Whether the coordinates of up to [`BLOCK`] nodes hold. Resets the marks.
    #[inline(always)]
    fn block_holds(&self, nodes: Range<usize>, inside: &mut [u64; BLOCK]) -> bool {
        let Range { start, end } = nodes;
        // The largest coordinate allowed. A bound of 0 was dealt with before.
        let largest = self.bound.map_or(u64::MAX, |bound| bound.saturating_sub(1));
        // The first node of all has none before it, and begins a fiber.
        let skipped = usize::from(start == 0);
        if skipped > 0 {
            inside[0] = u64::MAX;
            if self.crd[0] > largest {
                return false;
            }
        }
        let start = start + skipped;
        let (previous, current) = (&self.crd[start - 1..end - 1], &self.crd[start..end]);
        let inside = &mut inside[skipped..];
        if largest < SIGN {
            ascend(previous, current, largest, inside)
        } else {
            ascend_wide(previous, current, largest, inside)
        }
    }
}

/// Nodes to a block.
const BLOCK: usize = 512;

/// The highest bit: what a subtraction leaves behind when it goes below 0.
const SIGN: u64 = 1 << 63;

/// Whether no entry is less than the one before, for entries below 2^63; others fail as well, since
/// no position is that high.
#[inline(always)]
fn never_decreases(pos: &[u64]) -> bool {
    let mut wrong = 0;
    for (&a, &b) in pos.iter().zip(pos.iter().skip(1)) {
        wrong |= b | b.wrapping_sub(a);
    }
    wrong < SIGN
}

/// Whether no entry of `current` is above `largest`, which is below 2^63, and each is above the one
/// of `previous` where it is `inside` a fiber. Only subtractions and bits: what every processor has
/// for vectors of u64, unlike comparisons.
#[inline(always)]
fn ascend(previous: &[u64], current: &[u64], largest: u64, inside: &mut [u64]) -> bool {
    let mut wrong = 0;
    for ((&p, &c), inside) in previous.iter().zip(current).zip(inside) {
        wrong |= c | largest.wrapping_sub(c) | (!p.wrapping_sub(c) & *inside);
        *inside = u64::MAX;
    }
    wrong < SIGN
}

/// As [`ascend`], for coordinates of any size.
#[inline(always)]
fn ascend_wide(previous: &[u64], current: &[u64], largest: u64, inside: &mut [u64]) -> bool {
    let mut wrong = false;
    for ((&p, &c), inside) in previous.iter().zip(current).zip(inside) {
        wrong |= (c > largest) | ((p >= c) & (*inside != 0));
        *inside = u64::MAX;
    }
    !wrong
}

/// Whether every piece holds.
pub(crate) fn all_hold(pieces: &[Piece<'_>]) -> bool {
    #[cfg(feature = "parallel")]
    if pieces.iter().map(Piece::words).sum::<usize>() > Piece::WORDS {
        return pieces.par_iter().all(Piece::holds);
    }
    pieces.iter().all(Piece::holds)
}

#[cfg(test)]
mod tests {
    use super::*;

    /// The verdict of all twins, which has to be the same for every piece.
    fn holds(pos: &[u64], crd: &[u64], bound: Option<u64>) -> bool {
        let mut pieces = Vec::new();
        if !Piece::cut(pos, crd, bound, &mut pieces) {
            return false;
        }
        for piece in &pieces {
            assert_eq!(piece.holds(), piece.holds_portable());
            #[cfg(target_arch = "x86_64")]
            if is_x86_feature_detected!("avx2") {
                #[expect(unsafe_code, reason = "where there is AVX-512, nothing else tests this")]
                // SAFETY: the processor has AVX2.
                let holds = unsafe { piece.holds_avx2() };
                assert_eq!(holds, piece.holds_portable());
            }
        }
        all_hold(&pieces)
    }

    const BOUND: Option<u64> = Some(1 << 20);

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

    // A wrong verdict on a valid tree would only cost time, since the scan finds nothing then.
    #[test]
    fn a_valid_pair_is_recognised_without_a_scan() {
        let (pos, crd) = pair();
        assert!(crd.len() > 4 * Piece::WORDS);
        for bound in [BOUND, Some(u64::MAX - 1), None] {
            assert!(holds(&pos, &crd, bound));
            assert!(holds(&[0], &[], bound) && holds(&[0; 5], &[], bound));
            assert!(holds(&[0, 0, 1], &[7], bound));
        }
        let large: Vec<u64> = crd.iter().map(|c| c + SIGN).collect();
        assert!(holds(&pos, &large, None) && !holds(&pos, &large, BOUND));
    }

    /// Positions around the places where pieces and blocks are cut.
    fn around_cuts(pos: &[u64], crd: &[u64]) -> Vec<usize> {
        let mut pieces = Vec::new();
        assert!(Piece::cut(pos, crd, None, &mut pieces));
        let cuts = pieces.iter().flat_map(|piece| piece.nodes.clone().step_by(BLOCK).take(2));
        let ends = pieces.iter().map(|piece| piece.nodes.end);
        let around = cuts.chain(ends).flat_map(|cut| cut.saturating_sub(2)..cut + 3);
        around.filter(|&position| position < crd.len()).collect()
    }

    #[test]
    fn a_descent_inside_a_fiber_is_found_wherever_pieces_and_blocks_are_cut() {
        let (pos, mut crd) = pair();
        let mut seen = 0;
        for position in around_cuts(&pos, &crd) {
            if pos.binary_search(&to_u64(position)).is_ok() {
                continue;
            }
            let kept = std::mem::replace(&mut crd[position], 0);
            crd[position] = crd[position - 1];
            for bound in [BOUND, None] {
                assert!(!holds(&pos, &crd, bound), "{position}");
            }
            crd[position] = kept;
            seen += 1;
        }
        assert!(seen > 20, "{seen}");
    }

    #[test]
    fn a_coordinate_out_of_bounds_is_found_wherever_pieces_and_blocks_are_cut() {
        let (pos, mut crd) = pair();
        for position in around_cuts(&pos, &crd) {
            for wrong in [1 << 20, SIGN, u64::MAX] {
                let kept = std::mem::replace(&mut crd[position], wrong);
                assert!(!holds(&pos, &crd, BOUND), "{position}");
                crd[position] = kept;
            }
        }
    }

    #[test]
    fn a_decrease_of_pos_is_found_everywhere_and_whatever_it_hides() {
        let (pos, crd) = pair();
        let cut = Piece::WORDS / 2;
        for position in (1..pos.len() - 1).step_by(9001).chain(cut - 2..cut + 3) {
            for wrong in [pos[position + 1] + 1, u64::MAX, SIGN] {
                let mut pos = pos.clone();
                pos[position] = wrong;
                assert!(!holds(&pos, &crd, BOUND), "{position} {wrong}");
            }
            let mut pos = pos.clone();
            if pos[position] > 0 && pos[position - 1] > 0 {
                pos[position] = pos[position - 1] - 1;
                assert!(!holds(&pos, &crd, BOUND), "{position}");
            }
        }
    }
}
