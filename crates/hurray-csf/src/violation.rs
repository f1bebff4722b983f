//! What [`Csf::validate`](crate::Csf::validate) reports: which invariant is broken, and where.

use thiserror::Error;

/// A place where a tree breaks a storage invariant of docs/format.md.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Error)]
#[non_exhaustive]
pub enum Violation {
    /// Invariant 1: `pos_L[0]` is not 0.
    #[error("invariant 1 broken at pos_{level}[0]: found {found}, expected 0")]
    PosStart {
        /// The level.
        level: usize,
        /// The entry found.
        found: u64,
    },
    /// Invariant 2: an entry of `pos_L` is less than the one before.
    #[error(
        "invariant 2 broken at pos_{level}[{position}]: found {found}, expected at least \
         {previous}, the entry before"
    )]
    PosDecrease {
        /// The level.
        level: usize,
        /// The position in `pos_L` of the lesser entry.
        position: usize,
        /// The entry found.
        found: u64,
        /// The entry before.
        previous: u64,
    },
    /// Invariant 3: `pos_L` does not end with the number of nodes of its level.
    #[error(
        "invariant 3 broken at pos_{level}[{position}]: found {found}, expected {nodes}, the \
         number of nodes"
    )]
    PosEnd {
        /// The level.
        level: usize,
        /// The last position of `pos_L`.
        position: usize,
        /// The entry found.
        found: u64,
        /// The nodes of the level.
        nodes: usize,
    },
    /// Invariant 4: a coordinate is not greater than that of the sibling before.
    #[error(
        "invariant 4 broken at crd_{level}[{position}]: found {found}, expected more than \
         {previous}, its sibling before"
    )]
    CrdOrder {
        /// The level.
        level: usize,
        /// The position in `crd_L` of the later sibling.
        position: usize,
        /// The coordinate found.
        found: u64,
        /// The coordinate of the sibling before.
        previous: u64,
    },
    /// Invariant 5: a coordinate is not below the dimension that its level stores.
    #[error(
        "invariant 5 broken at crd_{level}[{position}]: found {found}, expected less than {size}, \
         the size of dimension {dimension}"
    )]
    CrdBound {
        /// The level.
        level: usize,
        /// The position in `crd_L`.
        position: usize,
        /// The coordinate found.
        found: u64,
        /// The dimension that the level stores.
        dimension: usize,
        /// Its size.
        size: u64,
    },
    /// The empty form: a level has nodes, although nothing is stored.
    #[error(
        "empty form broken at crd_{level}[0]: found {nodes} nodes, expected none in a tensor \
         without elements"
    )]
    EmptyForm {
        /// The level.
        level: usize,
        /// The nodes found.
        nodes: usize,
    },
}

impl Violation {
    /// The number of the invariant in docs/format.md, 1 to 5, or `None` for the empty form.
    #[must_use]
    pub fn invariant(&self) -> Option<u8> {
        match self {
            Violation::PosStart { .. } => Some(1),
            Violation::PosDecrease { .. } => Some(2),
            Violation::PosEnd { .. } => Some(3),
            Violation::CrdOrder { .. } => Some(4),
            Violation::CrdBound { .. } => Some(5),
            Violation::EmptyForm { .. } => None,
        }
    }

    /// The level.
    #[must_use]
    pub fn level(&self) -> usize {
        match *self {
            Violation::PosStart { level, .. }
            | Violation::PosDecrease { level, .. }
            | Violation::PosEnd { level, .. }
            | Violation::CrdOrder { level, .. }
            | Violation::CrdBound { level, .. }
            | Violation::EmptyForm { level, .. } => level,
        }
    }

    /// The position in `pos` of the level for the invariants 1 to 3, in `crd` for the others.
    #[must_use]
    pub fn position(&self) -> usize {
        match *self {
            Violation::PosStart { .. } | Violation::EmptyForm { .. } => 0,
            Violation::PosDecrease { position, .. }
            | Violation::PosEnd { position, .. }
            | Violation::CrdOrder { position, .. }
            | Violation::CrdBound { position, .. } => position,
        }
    }
}
