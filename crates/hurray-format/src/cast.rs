//! The one place where lengths change between `u64` and `usize`.
//!
//! The crates compile for 64-bit targets only, so neither direction loses anything.

/// A length or position of the format as a length or position in memory.
#[must_use]
#[inline]
#[expect(clippy::cast_possible_truncation, reason = "usize has 64 bits on every supported target")]
pub const fn to_usize(n: u64) -> usize {
    n as usize
}

/// A length or position in memory as one of the format.
#[must_use]
#[inline]
pub const fn to_u64(n: usize) -> u64 {
    n as u64
}
