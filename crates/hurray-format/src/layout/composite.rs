//! The head of a composite: a tensor put together from the tensors that follow it
//! (docs/format.md, "Composites"; tag `0x0B`).

use crate::error::{DecodeError, FormatError};
use crate::shape::Shape;
use crate::tag::{self, TagSpace};
use crate::wire::{Cursor, Put};

/// Descriptor fields of a composite head, which has no buffers of its own.
#[derive(Clone, Debug, PartialEq, Eq)]
#[non_exhaustive]
pub struct CompositeLayout {
    /// How the members make up the whole.
    pub rule: CompositionRule,
    /// How many members follow.
    pub member_count: u32,
}

/// How the members of a composite make up the whole.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
#[non_exhaustive]
pub enum CompositionRule {
    /// Every element is in exactly one member, code 1.
    Partition,
    /// A base and corrections to it, code 2.
    Overlay(Combine),
    /// Tensors that belong together, no more, code 3.
    Group,
}

/// What a correction does to the base of an overlay.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Combine {
    /// It replaces elements, code 1.
    Replace,
    /// It is added, code 2.
    Add,
}

impl CompositionRule {
    fn codes(self) -> (u8, u8) {
        match self {
            CompositionRule::Partition => (1, 0),
            CompositionRule::Overlay(Combine::Replace) => (2, 1),
            CompositionRule::Overlay(Combine::Add) => (2, 2),
            CompositionRule::Group => (3, 0),
        }
    }
}

impl CompositeLayout {
    /// Takes the fields. They are not checked here.
    #[must_use]
    pub fn new(rule: CompositionRule, member_count: u32) -> Self {
        Self { rule, member_count }
    }

    pub(super) fn decode(cursor: &mut Cursor<'_>) -> Result<Self, DecodeError> {
        let code = cursor.parse_u8("rule", |code| match code {
            1..=3 => Ok(code),
            _ => Err(tag::unassigned(TagSpace::CompositionRule, code)),
        })?;
        let rule = cursor.parse_u8("combine", |combine| match (code, combine) {
            (1, 0) => Ok(CompositionRule::Partition),
            (2, 1) => Ok(CompositionRule::Overlay(Combine::Replace)),
            (2, 2) => Ok(CompositionRule::Overlay(Combine::Add)),
            (3, 0) => Ok(CompositionRule::Group),
            _ => Err(FormatError::Field {
                field: "combine",
                found: combine.into(),
                allowed: if code == 2 { "1 or 2 for an overlay" } else { "0 but for an overlay" },
            }),
        })?;
        cursor.reserved("reserved", 2)?;
        Ok(Self { rule, member_count: cursor.u32("member_count")? })
    }

    pub(super) fn encode(&self, out: &mut Vec<u8>) {
        let (rule, combine) = self.rule.codes();
        out.put(&[rule, combine, 0, 0]);
        out.put_u32(self.member_count);
    }

    pub(super) fn validate_against_shape(&self, shape: &Shape) -> Result<(), FormatError> {
        super::dense::not_scalar("composite", shape)?;
        let allowed = match (self.rule, self.member_count) {
            (_, u32::MAX) => "below 4294967295",
            (CompositionRule::Overlay(_), 0) => "at least 1 for an overlay",
            _ => return Ok(()),
        };
        Err(FormatError::Field { field: "member_count", found: self.member_count.into(), allowed })
    }
}
