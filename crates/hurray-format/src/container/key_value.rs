//! The key-value section: metadata of a file (docs/format.md, "Key-value section").

use std::collections::{HashMap, HashSet};
use std::sync::Arc;

use super::index::{check_name, put_name, read_name, read_utf8};
use super::{ContainerError, Header};
use crate::cast::{to_u64, to_usize};
use crate::error::DecodeError;
use crate::tag::{self, TagSpace};
use crate::wire::{Cursor, Put};

const STRING: u8 = 0x01;
const I64: u8 = 0x02;
const U64: u8 = 0x03;
const F64: u8 = 0x04;
const BOOL: u8 = 0x05;
const BYTES: u8 = 0x06;
const ARRAY: u8 = 0x07;

/// The value of a metadata key.
///
/// ```
/// use hurray_format::container::MetadataValue;
///
/// assert_eq!(MetadataValue::from("splatt"), MetadataValue::String("splatt".to_owned()));
/// assert_eq!(MetadataValue::from(3i64), MetadataValue::I64(3));
/// ```
#[derive(Clone, Debug, PartialEq)]
pub enum MetadataValue {
    /// Text, tag `0x01`.
    String(String),
    /// Tag `0x02`.
    I64(i64),
    /// Tag `0x03`.
    U64(u64),
    /// Tag `0x04`.
    F64(f64),
    /// Tag `0x05`.
    Bool(bool),
    /// Bytes without a meaning of their own, tag `0x06`.
    Bytes(Vec<u8>),
    /// Values of one type, tag `0x07`.
    Array(MetadataArray),
}

/// Metadata values of one type.
#[derive(Clone, Debug, PartialEq)]
pub enum MetadataArray {
    /// Texts.
    String(Vec<String>),
    /// Signed integers.
    I64(Vec<i64>),
    /// Unsigned integers.
    U64(Vec<u64>),
    /// Floating-point numbers.
    F64(Vec<f64>),
    /// Truth values.
    Bool(Vec<bool>),
    /// Bytes without a meaning of their own.
    Bytes(Vec<Vec<u8>>),
}

macro_rules! from {
    ($($type:ty => $variant:ident),*) => {$(
        impl From<$type> for MetadataValue {
            fn from(value: $type) -> Self {
                MetadataValue::$variant(value.into())
            }
        }
        impl From<Vec<$type>> for MetadataArray {
            fn from(values: Vec<$type>) -> Self {
                MetadataArray::$variant(values.into_iter().map(Into::into).collect())
            }
        }
    )*};
}

from!(&str => String, String => String, i64 => I64, u64 => U64, f64 => F64, bool => Bool);

impl From<Vec<u8>> for MetadataValue {
    fn from(bytes: Vec<u8>) -> Self {
        MetadataValue::Bytes(bytes)
    }
}

impl<T: Into<MetadataArray>> From<T> for MetadataValue {
    fn from(array: T) -> Self {
        MetadataValue::Array(array.into())
    }
}

impl From<Vec<Vec<u8>>> for MetadataArray {
    fn from(values: Vec<Vec<u8>>) -> Self {
        MetadataArray::Bytes(values)
    }
}

/// What a file says about itself: keys and values in the order in which they are stored.
///
/// ```
/// use hurray_format::container::{Metadata, MetadataValue};
///
/// let mut metadata = Metadata::default();
/// metadata.insert("source", "sensor 7")?;
/// metadata.insert("runs", vec![3u64, 5])?;
/// assert_eq!(metadata.get("source"), Some(&MetadataValue::from("sensor 7")));
/// assert!(metadata.insert("source", 1u64).is_err());
/// # Ok::<(), hurray_format::container::ContainerError>(())
/// ```
#[derive(Clone, Debug, Default, PartialEq)]
pub struct Metadata {
    entries: Vec<(Arc<str>, MetadataValue)>,
    /// Where each key is among the entries: files may have very many.
    positions: HashMap<Arc<str>, usize>,
}

impl Metadata {
    /// Appends a key with its value. Constant time.
    ///
    /// # Errors
    /// [`ContainerError::EmptyName`], [`ContainerError::NameTooLong`] or
    /// [`ContainerError::DuplicateName`] for the key.
    pub fn insert(
        &mut self,
        key: impl Into<String>,
        value: impl Into<MetadataValue>,
    ) -> Result<(), ContainerError> {
        let key = key.into();
        check_name(&key)?;
        if self.get(&key).is_some() {
            return Err(ContainerError::DuplicateName { name: key });
        }
        self.push(key.into(), value.into());
        Ok(())
    }

    /// Appends a key that is not there yet.
    fn push(&mut self, key: Arc<str>, value: MetadataValue) {
        self.positions.insert(Arc::clone(&key), self.entries.len());
        self.entries.push((key, value));
    }

    /// The value of `key`, if there is one. Constant time.
    #[must_use]
    pub fn get(&self, key: &str) -> Option<&MetadataValue> {
        self.positions.get(key).map(|&position| &self.entries[position].1)
    }

    /// Every key with its value, in order.
    pub fn iter(&self) -> impl ExactSizeIterator<Item = (&str, &MetadataValue)> {
        self.entries.iter().map(|(key, value)| (&**key, value))
    }

    /// The number of keys.
    #[must_use]
    pub fn len(&self) -> usize {
        self.entries.len()
    }

    /// Whether there are no keys.
    #[must_use]
    pub fn is_empty(&self) -> bool {
        self.entries.is_empty()
    }

    /// Decodes the bytes of the key-value section, which lie at `offset`. Linear in the bytes.
    ///
    /// # Errors
    /// [`DecodeError`] for any field that breaks its rule.
    pub fn decode(bytes: &[u8], offset: u64, header: &Header) -> Result<Self, DecodeError> {
        let mut cursor = Cursor::new(bytes, offset);
        // A key has at least one byte, a value one.
        let count = read_count(&mut cursor, "kv count", 2 + 1 + 1 + 1)?;
        let mut metadata = Self::default();
        let mut keys = HashSet::with_capacity(count);
        for _ in 0..count {
            let key = read_name(&mut cursor, "kv key", &mut keys)?;
            metadata.push(key.into(), read_value(&mut cursor)?);
        }
        header
            .check_consumed(cursor.rest().len())
            .map_err(|error| cursor.error("kv section", error.into()))?;
        Ok(metadata)
    }

    /// The bytes of the key-value section.
    ///
    /// # Errors
    /// [`ContainerError::TooLong`] for a text, bytes, an array or a section too long for 32 bits.
    pub fn encode(&self) -> Result<Vec<u8>, ContainerError> {
        let mut bytes = Vec::new();
        bytes.put_u32(length(self.len())?);
        for (key, value) in self.iter() {
            put_name(&mut bytes, key)?;
            put_value(&mut bytes, value)?;
        }
        length(bytes.len())?;
        Ok(bytes)
    }
}

/// A length or count as the field of 32 bits that it has to fit.
fn length(length: usize) -> Result<u32, ContainerError> {
    u32::try_from(length).map_err(|_| ContainerError::TooLong { length })
}

fn put_bytes(out: &mut Vec<u8>, bytes: &[u8]) -> Result<(), ContainerError> {
    out.put_u32(length(bytes.len())?);
    out.put(bytes);
    Ok(())
}

fn put_value(out: &mut Vec<u8>, value: &MetadataValue) -> Result<(), ContainerError> {
    match value {
        MetadataValue::String(text) => {
            out.put_u8(STRING);
            put_bytes(out, text.as_bytes())?;
        }
        MetadataValue::I64(value) => {
            out.put_u8(I64);
            out.put_i64(*value);
        }
        MetadataValue::U64(value) => {
            out.put_u8(U64);
            out.put_u64(*value);
        }
        MetadataValue::F64(value) => {
            out.put_u8(F64);
            out.put_f64(*value);
        }
        MetadataValue::Bool(value) => {
            out.put_u8(BOOL);
            out.put_u8((*value).into());
        }
        MetadataValue::Bytes(bytes) => {
            out.put_u8(BYTES);
            put_bytes(out, bytes)?;
        }
        MetadataValue::Array(array) => {
            out.put_u8(ARRAY);
            put_array(out, array)?;
        }
    }
    Ok(())
}

fn put_array(out: &mut Vec<u8>, array: &MetadataArray) -> Result<(), ContainerError> {
    let mut head = |tag, count| {
        out.put_u8(tag);
        length(count).map(|count| out.put_u32(count))
    };
    match array {
        MetadataArray::String(texts) => {
            head(STRING, texts.len())?;
            texts.iter().try_for_each(|text| put_bytes(out, text.as_bytes()))?;
        }
        MetadataArray::I64(values) => {
            head(I64, values.len())?;
            out.put_slice(values);
        }
        MetadataArray::U64(values) => {
            head(U64, values.len())?;
            out.put_slice(values);
        }
        MetadataArray::F64(values) => {
            head(F64, values.len())?;
            out.put_slice(values);
        }
        MetadataArray::Bool(values) => {
            head(BOOL, values.len())?;
            out.put_slice(values);
        }
        MetadataArray::Bytes(values) => {
            head(BYTES, values.len())?;
            values.iter().try_for_each(|bytes| put_bytes(out, bytes))?;
        }
    }
    Ok(())
}

/// Reads a count of items that take at least `min_size` bytes each, and checks that so many can
/// lie in the bytes left.
fn read_count(
    cursor: &mut Cursor<'_>,
    field: &'static str,
    min_size: usize,
) -> Result<usize, DecodeError> {
    let start = cursor.clone();
    let count = cursor.u32(field)?;
    let available = cursor.rest().len();
    if u64::from(count) > to_u64(available / min_size) {
        let error = ContainerError::Count { count: count.into(), available: to_u64(available) };
        return Err(start.error(field, error.into()));
    }
    Ok(to_usize(count.into()))
}

fn read_bytes<'a>(cursor: &mut Cursor<'a>) -> Result<&'a [u8], DecodeError> {
    let length = read_count(cursor, "kv bytes", 1)?;
    cursor.bytes("kv bytes", length)
}

fn read_text(cursor: &mut Cursor<'_>) -> Result<String, DecodeError> {
    let length = read_count(cursor, "kv string", 1)?;
    read_utf8(cursor, "kv string", length).map(str::to_owned)
}

fn read_bool(cursor: &mut Cursor<'_>) -> Result<bool, DecodeError> {
    let start = cursor.clone();
    match cursor.u8("kv bool")? {
        0 => Ok(false),
        1 => Ok(true),
        found => Err(start.error("kv bool", ContainerError::Bool { found }.into())),
    }
}

fn read_value(cursor: &mut Cursor<'_>) -> Result<MetadataValue, DecodeError> {
    let start = cursor.clone();
    Ok(match cursor.u8("kv tag")? {
        STRING => MetadataValue::String(read_text(cursor)?),
        I64 => MetadataValue::I64(cursor.i64("kv value")?),
        U64 => MetadataValue::U64(cursor.u64("kv value")?),
        F64 => MetadataValue::F64(cursor.f64("kv value")?),
        BOOL => MetadataValue::Bool(read_bool(cursor)?),
        BYTES => MetadataValue::Bytes(read_bytes(cursor)?.to_vec()),
        ARRAY => MetadataValue::Array(read_array(cursor)?),
        tag => return Err(start.error("kv tag", tag::unassigned(TagSpace::KeyValue, tag))),
    })
}

fn read_array(cursor: &mut Cursor<'_>) -> Result<MetadataArray, DecodeError> {
    let start = cursor.clone();
    let tag = cursor.u8("kv element tag")?;
    Ok(match tag {
        STRING => MetadataArray::String(read_items(cursor, 4, read_text)?),
        I64 => MetadataArray::I64(read_items(cursor, 8, |cursor| cursor.i64("kv value"))?),
        U64 => MetadataArray::U64(read_items(cursor, 8, |cursor| cursor.u64("kv value"))?),
        F64 => MetadataArray::F64(read_items(cursor, 8, |cursor| cursor.f64("kv value"))?),
        BOOL => MetadataArray::Bool(read_items(cursor, 1, read_bool)?),
        BYTES => MetadataArray::Bytes(read_items(cursor, 4, |cursor| {
            read_bytes(cursor).map(<[u8]>::to_vec)
        })?),
        ARRAY => return Err(start.error("kv element tag", ContainerError::NestedArray.into())),
        tag => {
            return Err(start.error("kv element tag", tag::unassigned(TagSpace::KeyValue, tag)));
        }
    })
}

/// Reads a count and as many items, of at least `min_size` bytes each.
fn read_items<'a, T>(
    cursor: &mut Cursor<'a>,
    min_size: usize,
    read: impl Fn(&mut Cursor<'a>) -> Result<T, DecodeError>,
) -> Result<Vec<T>, DecodeError> {
    let count = read_count(cursor, "kv array count", min_size)?;
    let mut items = Vec::with_capacity(count);
    for _ in 0..count {
        items.push(read(cursor)?);
    }
    Ok(items)
}

#[cfg(test)]
mod tests {
    use super::super::header::tests::header;
    use super::*;
    use crate::error::FormatError;

    const AT: u64 = 4096;

    fn decode(bytes: &[u8]) -> Result<Metadata, DecodeError> {
        Metadata::decode(bytes, AT, &header())
    }

    fn one(value: impl Into<MetadataValue>) -> Vec<u8> {
        let mut metadata = Metadata::default();
        metadata.insert("k", value).unwrap();
        metadata.encode().unwrap()
    }

    /// The error of a section that is `key "k"` and these bytes.
    fn refused(value: &[u8]) -> DecodeError {
        let mut bytes = vec![1, 0, 0, 0, 1, 0, b'k'];
        bytes.extend(value);
        decode(&bytes).unwrap_err()
    }

    fn every_type() -> Metadata {
        let mut metadata = Metadata::default();
        for (key, value) in [
            ("z text", "naïve".into()),
            ("a i64", i64::MIN.into()),
            ("u64", u64::MAX.into()),
            ("f64", (-0.0f64).into()),
            ("bool", true.into()),
            ("bytes", vec![0u8, 255].into()),
            ("texts", vec!["", "b"].into()),
            ("i64s", vec![-1i64, 2].into()),
            ("u64s", vec![1u64, 2, 3].into()),
            ("f64s", vec![0.5f64].into()),
            ("bools", vec![true, false].into()),
            ("byte strings", MetadataValue::from(vec![vec![1u8], vec![]])),
            ("none", Vec::<u64>::new().into()),
        ] {
            metadata.insert(key, value).unwrap();
        }
        metadata
    }

    #[test]
    fn every_type_goes_both_ways_in_order() {
        let metadata = every_type();
        let decoded = decode(&metadata.encode().unwrap()).unwrap();
        assert_eq!(decoded, metadata);
        assert_eq!(decoded.iter().next().unwrap().0, "z text");
        assert_eq!(decoded.len(), 13);
        assert_eq!(decode(&Metadata::default().encode().unwrap()), Ok(Metadata::default()));
    }

    #[test]
    fn a_value_has_the_bytes_of_the_format() {
        assert_eq!(one("example")[..], *b"\x01\0\0\0\x01\0k\x01\x07\0\0\0example");
        assert_eq!(one(vec![true, false])[..], *b"\x01\0\0\0\x01\0k\x07\x05\x02\0\0\0\x01\0");
    }

    #[test]
    fn keys_are_unique_not_empty_and_utf8() {
        let mut twice = one(1u64);
        twice[0] = 2;
        twice.extend_from_within(4..);
        let error = decode(&twice).unwrap_err();
        assert_eq!((error.field, error.offset), ("kv key", AT + 4 + 3 + 9));
        let expected = ContainerError::DuplicateName { name: "k".into() };
        assert_eq!(error.error, FormatError::Container(expected));

        let mut bytes = one(1u64);
        bytes[6] = 0xC0;
        assert!(decode(&bytes).unwrap_err().to_string().contains("not UTF-8"));
        bytes[4] = 0;
        let error = decode(&bytes).unwrap_err();
        assert_eq!(error.error, FormatError::Container(ContainerError::EmptyName));
        assert_eq!(Metadata::default().insert("", 1u64), Err(ContainerError::EmptyName));
    }

    #[test]
    fn values_are_checked_where_they_lie() {
        for (value, field, within) in [
            (&[0x00, 0][..], "kv tag", 0),
            (&[0xFF, 0], "kv tag", 0),
            (&[0x08, 0], "kv tag", 0),
            (&[0xF0, 0], "kv tag", 0),
            (&[BOOL, 2], "kv bool", 1),
            (&[STRING, 1, 0, 0, 0, 0xFF], "kv string", 5),
            (&[STRING, 2, 0, 0, 0, b'a'], "kv string", 1),
            (&[BYTES, 255, 255, 255, 255, 0], "kv bytes", 1),
            (&[ARRAY, 0x08, 0, 0, 0, 0], "kv element tag", 1),
            (&[ARRAY, ARRAY, 0, 0, 0, 0], "kv element tag", 1),
            (&[ARRAY, BOOL, 1, 0, 0, 0, 2], "kv bool", 6),
            (&[U64, 1, 2, 3], "kv value", 1),
        ] {
            let error = refused(value);
            assert_eq!((error.field, error.offset), (field, AT + 7 + within), "{value:?}");
        }
    }

    #[test]
    fn a_count_beyond_the_bytes_never_allocates() {
        for tag in [STRING, I64, U64, F64, BOOL, BYTES] {
            let error = refused(&[ARRAY, tag, 255, 255, 255, 255, 0, 0, 0, 0]);
            assert!(matches!(error.error, FormatError::Container(ContainerError::Count { .. })));
        }
        assert_eq!(decode(&[255, 255, 255, 255, 0]).unwrap_err().field, "kv count");
    }

    #[test]
    fn many_keys_take_no_longer_each_than_few() {
        let mut metadata = Metadata::default();
        // Some 10^10 comparisons, if each key were compared with all before it.
        for number in 0..150_000u64 {
            metadata.insert(number.to_string(), number).unwrap();
        }
        assert_eq!(metadata.get("149999"), Some(&MetadataValue::U64(149_999)));
        let twice = ContainerError::DuplicateName { name: "7".to_owned() };
        assert_eq!(metadata.insert("7", true), Err(twice));
        assert_eq!(decode(&metadata.encode().unwrap()), Ok(metadata));
    }

    #[test]
    fn bytes_left_over_are_for_later_minor_versions() {
        let mut bytes = every_type().encode().unwrap();
        bytes.push(0);
        let expected = ContainerError::TrailingBytes { count: 1 };
        assert_eq!(decode(&bytes).unwrap_err().error, FormatError::Container(expected));
        let later = Header { version_minor: 1, ..header() };
        assert_eq!(Metadata::decode(&bytes, AT, &later), Ok(every_type()));
    }

    #[test]
    fn no_truncation_panics() {
        let bytes = every_type().encode().unwrap();
        for length in 0..bytes.len() {
            assert!(decode(&bytes[..length]).is_err(), "{length} bytes");
        }
    }
}
