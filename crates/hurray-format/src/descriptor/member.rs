//! The composite member section (docs/format.md, "Composites").

use crate::error::{DecodeError, FormatError};
use crate::wire::{Cursor, Put};

/// What a member of an overlay is.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum MemberRole {
    /// Applied to the base, code 0.
    Correction,
    /// What the corrections are applied to, code 1.
    Base,
}

impl MemberRole {
    pub(super) fn decode(cursor: &mut Cursor<'_>) -> Result<Self, DecodeError> {
        let role = cursor.parse_u8("role", |code| match code {
            0 => Ok(MemberRole::Correction),
            1 => Ok(MemberRole::Base),
            _ => Err(FormatError::Field {
                field: "role",
                found: code.into(),
                allowed: "0 (correction) or 1 (base)",
            }),
        })?;
        cursor.reserved("reserved", 15)?;
        Ok(role)
    }

    pub(super) fn encode(self, out: &mut Vec<u8>) {
        out.put_u8(match self {
            MemberRole::Correction => 0,
            MemberRole::Base => 1,
        });
        out.put(&[0; 15]);
    }
}
