//! The checked cursor and the primitives of the encoding: little-endian fields packed without
//! padding. Each concept's own file owns its fields.

use std::cell::RefCell;

use zerocopy::{FromBytes, Immutable, IntoBytes, KnownLayout, Unaligned};

use crate::cast::to_u64;
use crate::error::{DecodeError, FormatError};

/// Where the fields that a cursor has read lie, so that a rule that is checked when everything has
/// been read can still say where.
#[derive(Debug, Default)]
pub(crate) struct Trail(RefCell<Vec<(&'static str, u64)>>);

impl Trail {
    /// The absolute offset of the `nth` field of that name, counted from 0.
    pub(crate) fn nth(&self, field: &str, nth: usize) -> Option<u64> {
        self.0.borrow().iter().filter(|read| read.0 == field).nth(nth).map(|read| read.1)
    }
}

/// Reads fields from the front of a byte slice. Every error names the field and its absolute
/// offset: that of the slice in the file plus what was read before.
#[derive(Clone, Debug)]
pub(crate) struct Cursor<'a> {
    rest: &'a [u8],
    offset: u64,
    trail: Option<&'a Trail>,
}

impl<'a> Cursor<'a> {
    /// A cursor over `bytes`, which lie at `offset` in the file. Offsets wrap at 2^64, so any
    /// `offset` is fine.
    pub(crate) fn new(bytes: &'a [u8], offset: u64) -> Self {
        Self { rest: bytes, offset, trail: None }
    }

    /// A cursor that notes in `trail` where each field was.
    pub(crate) fn with_trail(bytes: &'a [u8], offset: u64, trail: &'a Trail) -> Self {
        Self { rest: bytes, offset, trail: Some(trail) }
    }

    /// A cursor of its own over `bytes`, the last ones that were read.
    pub(crate) fn over_last(&self, bytes: &'a [u8]) -> Self {
        Self { rest: bytes, offset: self.offset.wrapping_sub(to_u64(bytes.len())), ..*self }
    }

    /// The absolute offset of the next byte.
    pub(crate) fn offset(&self) -> u64 {
        self.offset
    }

    /// The bytes that were not read yet.
    pub(crate) fn rest(&self) -> &'a [u8] {
        self.rest
    }

    /// The error that the field at the cursor breaks a rule.
    pub(crate) fn error(&self, field: &'static str, error: FormatError) -> DecodeError {
        DecodeError { field, offset: self.offset, error }
    }

    /// The next `count` bytes.
    pub(crate) fn bytes(
        &mut self,
        field: &'static str,
        count: usize,
    ) -> Result<&'a [u8], DecodeError> {
        let Some((bytes, rest)) = self.rest.split_at_checked(count) else {
            let error = FormatError::Truncated {
                needed: to_u64(count),
                available: to_u64(self.rest.len()),
            };
            return Err(self.error(field, error));
        };
        if let Some(trail) = self.trail {
            trail.0.borrow_mut().push((field, self.offset));
        }
        self.rest = rest;
        self.offset = self.offset.wrapping_add(to_u64(count));
        Ok(bytes)
    }

    /// The next bytes as a fixed structure of the wire.
    pub(crate) fn read<T>(&mut self, field: &'static str) -> Result<T, DecodeError>
    where
        T: FromBytes + KnownLayout + Immutable + Unaligned,
    {
        // `bytes` has the size of `T`, so `read_from_bytes` cannot fail.
        let before = self.clone();
        let bytes = self.bytes(field, size_of::<T>())?;
        T::read_from_bytes(bytes).map_err(|_| {
            before.error(
                field,
                FormatError::Truncated {
                    needed: to_u64(size_of::<T>()),
                    available: to_u64(bytes.len()),
                },
            )
        })
    }

    pub(crate) fn u8(&mut self, field: &'static str) -> Result<u8, DecodeError> {
        self.read::<[u8; 1]>(field).map(|[byte]| byte)
    }

    pub(crate) fn u16(&mut self, field: &'static str) -> Result<u16, DecodeError> {
        self.read(field).map(u16::from_le_bytes)
    }

    pub(crate) fn u32(&mut self, field: &'static str) -> Result<u32, DecodeError> {
        self.read(field).map(u32::from_le_bytes)
    }

    pub(crate) fn u64(&mut self, field: &'static str) -> Result<u64, DecodeError> {
        self.read(field).map(u64::from_le_bytes)
    }

    pub(crate) fn i64(&mut self, field: &'static str) -> Result<i64, DecodeError> {
        self.read(field).map(i64::from_le_bytes)
    }

    pub(crate) fn f64(&mut self, field: &'static str) -> Result<f64, DecodeError> {
        self.read(field).map(f64::from_le_bytes)
    }

    pub(crate) fn i32(&mut self, field: &'static str) -> Result<i32, DecodeError> {
        self.read(field).map(i32::from_le_bytes)
    }

    pub(crate) fn f32(&mut self, field: &'static str) -> Result<f32, DecodeError> {
        self.read(field).map(f32::from_le_bytes)
    }

    /// A byte that stands for something else.
    pub(crate) fn parse_u8<T>(
        &mut self,
        field: &'static str,
        parse: impl FnOnce(u8) -> Result<T, FormatError>,
    ) -> Result<T, DecodeError> {
        let offset = self.offset;
        parse(self.u8(field)?).map_err(|error| DecodeError { field, offset, error })
    }

    /// A byte that is 0 or 1.
    pub(crate) fn flag(&mut self, field: &'static str) -> Result<bool, DecodeError> {
        self.parse_u8(field, |byte| match byte {
            0 => Ok(false),
            1 => Ok(true),
            _ => Err(FormatError::Field { field, found: byte.into(), allowed: "0 or 1" }),
        })
    }

    /// `count` integers, one per dimension: at most [`crate::shape::MAX_RANK`].
    pub(crate) fn array<T: FromBytes>(
        &mut self,
        field: &'static str,
        count: usize,
    ) -> Result<Vec<T>, DecodeError> {
        let bytes = self.bytes(field, count.saturating_mul(size_of::<T>()))?;
        // Every chunk has the size of a `T`, and the target is little-endian like the wire.
        Ok(bytes.chunks_exact(size_of::<T>()).flat_map(T::read_from_bytes).collect())
    }

    /// Reserved bytes, which have to be 0 (docs/format.md, "Modes").
    pub(crate) fn reserved(
        &mut self,
        field: &'static str,
        count: usize,
    ) -> Result<(), DecodeError> {
        let before = self.clone();
        let bytes = self.bytes(field, count)?;
        match bytes.iter().zip(before.offset..).find(|(byte, _)| **byte != 0) {
            None => Ok(()),
            Some((&found, offset)) => {
                Err(DecodeError { field, offset, error: FormatError::Reserved { found } })
            }
        }
    }
}

/// Appends fields in the encoding of the wire.
pub(crate) trait Put {
    fn put(&mut self, bytes: &[u8]);

    fn put_u8(&mut self, value: u8) {
        self.put(&[value]);
    }

    fn put_u16(&mut self, value: u16) {
        self.put(&value.to_le_bytes());
    }

    fn put_u32(&mut self, value: u32) {
        self.put(&value.to_le_bytes());
    }

    fn put_u64(&mut self, value: u64) {
        self.put(&value.to_le_bytes());
    }

    fn put_i64(&mut self, value: i64) {
        self.put(&value.to_le_bytes());
    }

    fn put_f64(&mut self, value: f64) {
        self.put(&value.to_le_bytes());
    }

    /// A slice of little-endian integers.
    fn put_slice<T: IntoBytes + Immutable>(&mut self, values: &[T]) {
        self.put(values.as_bytes());
    }
}

impl Put for Vec<u8> {
    fn put(&mut self, bytes: &[u8]) {
        self.extend_from_slice(bytes);
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn errors_carry_the_absolute_offset() {
        let mut cursor = Cursor::new(&[1, 2, 0, 0, 7], 100);
        assert_eq!(cursor.u16("first").unwrap(), 0x0201);
        let error = cursor.reserved("reserved", 3).unwrap_err();
        assert_eq!(error.to_string(), "reserved at byte 104: reserved byte is 0x07, not 0");
        let error = cursor.u32("second").unwrap_err();
        assert_eq!(error.to_string(), "second at byte 105: 4 bytes needed, but only 0 are left");
    }
}
