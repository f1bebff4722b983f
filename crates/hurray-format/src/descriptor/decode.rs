//! Reading a descriptor.

use super::{
    DescriptorError, MemberRole, Mode, Shard, Statistics, TensorDescriptor, extension, flags,
};
use crate::buffer::{BufferHandle, Device, MemoryClass, SyncMode};
use crate::cast::{to_u64, to_usize};
use crate::element::ElementType;
use crate::error::{DecodeError, FormatError};
use crate::layout::{self, LayoutDescriptor};
use crate::quantization::Quantization;
use crate::shape::{MAX_RANK, Shape};
use crate::tag::{PrivateTag, TagSpace, unassigned};
use crate::wire::{Cursor, Trail};

/// The shortest descriptor, as far as its length is concerned: everything before the shape.
const MIN_LENGTH: u32 = 20;

/// The bytes of the composite member section.
const MEMBER_LENGTH: usize = 16;

impl TensorDescriptor {
    /// Reads the descriptor that takes exactly `bytes`, which lie at `offset` in the file, and checks
    /// every rule that it alone decides (see [`TensorDescriptor::validate`]). The time and memory it
    /// takes are bounded by the length of `bytes`.
    ///
    /// Of a later minor version what this one defines is read, and the bytes behind it are skipped.
    /// Behind an unknown layout, which only permissive mode puts up with, nothing can be found: the
    /// buffer table is empty and the sections are absent, but for the extension section of a private
    /// element type.
    ///
    /// # Errors
    /// The first rule that is broken, with the field and its absolute offset.
    pub fn decode(bytes: &[u8], offset: u64, mode: Mode) -> Result<Self, DecodeError> {
        let trail = Trail::default();
        let mut cursor = Cursor::with_trail(bytes, offset, &trail);
        let descriptor = read(&mut cursor, to_u64(bytes.len()), mode)?;
        descriptor.validate(mode).map_err(|error| {
            let (field, nth) = error.field();
            let offset = trail.nth(field, nth).or(trail.nth(field, 0)).unwrap_or(offset);
            DecodeError { field, offset, error }
        })?;
        Ok(descriptor)
    }
}

/// Reads everything, in the order of the bytes.
fn read(cursor: &mut Cursor<'_>, length: u64, mode: Mode) -> Result<TensorDescriptor, DecodeError> {
    let start = cursor.clone();
    let found: [u8; 4] = cursor.read("magic")?;
    if found != *super::MAGIC {
        return Err(start.error("magic", DescriptorError::Magic { found }.into()));
    }
    cursor.parse_u8("version_major", |found| match found {
        super::VERSION_MAJOR => Ok(()),
        _ => Err(DescriptorError::Version { found }.into()),
    })?;
    let minor = cursor.u8("version_minor")?;
    read_length(cursor, length)?;
    let sections = read_flags(cursor)?;
    let has = |flag: u32| sections & flag != 0;
    let type_tag = read_type_tag(cursor, has(flags::EXTENSION))?;
    let layout_tag = cursor.parse_u8("layout_tag", |tag| layout::check_tag(tag, mode))?;
    let shape = read_shape(cursor)?;
    let byte_offset = cursor.u64("byte_offset")?;
    let layout = LayoutDescriptor::decode(cursor, layout_tag, shape.rank())?;
    if let LayoutDescriptor::Unknown { .. } = layout {
        let element_type = match type_tag {
            TypeTag::Public(element_type) => element_type,
            TypeTag::Private(tag) => {
                skip_to_extension(cursor, tag, minor, has(flags::MEMBER))?;
                ElementType::Private(extension::decode(cursor, tag)?)
            }
        };
        let mut descriptor = TensorDescriptor::new(shape, element_type, layout, Vec::new());
        descriptor.byte_offset = byte_offset;
        return Ok(descriptor);
    }
    let buffer_count = cursor.u8("buffer_count")?;
    let buffers = (0..buffer_count).map(|_| read_handle(cursor)).collect::<Result<Vec<_>, _>>()?;
    let quantization =
        has(flags::QUANTIZATION).then(|| read_quantization(cursor, mode)).transpose()?;
    let shard = has(flags::SHARD).then(|| Shard::decode(cursor, shape.rank())).transpose()?;
    let statistics = has(flags::STATISTICS).then(|| Statistics::decode(cursor)).transpose()?;
    let element_type = match type_tag {
        TypeTag::Public(element_type) => element_type,
        TypeTag::Private(tag) => ElementType::Private(extension::decode(cursor, tag)?),
    };
    let member_role = has(flags::MEMBER).then(|| MemberRole::decode(cursor)).transpose()?;
    let count = to_u64(cursor.rest().len());
    if minor == 0 && count != 0 {
        let error = DescriptorError::TrailingBytes { count };
        return Err(cursor.error("descriptor", error.into()));
    }
    Ok(TensorDescriptor {
        shape,
        element_type,
        byte_offset,
        layout,
        buffers,
        quantization,
        shard,
        statistics,
        member_role,
    })
}

/// Reads the length, which has to be that of the bytes at hand.
fn read_length(cursor: &mut Cursor<'_>, expected: u64) -> Result<(), DecodeError> {
    let start = cursor.clone();
    let found = cursor.u32("descriptor_length")?;
    let error = match found {
        ..MIN_LENGTH => DescriptorError::TooShort { found },
        _ if u64::from(found) != expected => DescriptorError::Length { found, expected },
        _ => return Ok(()),
    };
    Err(start.error("descriptor_length", error.into()))
}

fn read_flags(cursor: &mut Cursor<'_>) -> Result<u32, DecodeError> {
    let start = cursor.clone();
    let found = cursor.u32("flags")?;
    if found & !flags::ALL != 0 {
        let error = DescriptorError::Flags { found: found & !flags::ALL };
        return Err(start.error("flags", error.into()));
    }
    Ok(found)
}

/// An element type as far as its tag tells: a private one is known once its extension section has
/// been read.
#[derive(Clone, Copy)]
enum TypeTag {
    Public(ElementType),
    Private(PrivateTag),
}

/// Reads the tag of the element type; an extension section belongs to it exactly when it is private.
fn read_type_tag(cursor: &mut Cursor<'_>, has_extension: bool) -> Result<TypeTag, DecodeError> {
    cursor.parse_u8("type_tag", |tag| {
        let type_tag = match PrivateTag::new(tag) {
            Some(private) => TypeTag::Private(private),
            None => TypeTag::Public(ElementType::from_tag(tag)?),
        };
        if has_extension != matches!(type_tag, TypeTag::Private(_)) {
            return Err(DescriptorError::Extension { tag }.into());
        }
        Ok(type_tag)
    })
}

fn read_shape(cursor: &mut Cursor<'_>) -> Result<Shape, DecodeError> {
    let start = cursor.clone();
    let rank = cursor.u32("rank")?;
    if u64::from(rank) > to_u64(MAX_RANK) {
        return Err(start.error("rank", FormatError::RankTooLarge { rank: rank.into() }));
    }
    let dimensions: Vec<u64> = cursor.array("shape", to_usize(rank.into()))?;
    Shape::new(dimensions).map_err(|error| start.error("rank", error))
}

fn read_handle(cursor: &mut Cursor<'_>) -> Result<BufferHandle, DecodeError> {
    let start = cursor.clone();
    let byte_size = cursor.u64("byte_size")?;
    let alignment = cursor.u32("alignment")?;
    let device = cursor.parse_u8("device", Device::from_tag)?;
    let sync_mode = cursor.parse_u8("sync_mode", SyncMode::from_tag)?;
    let memory_class = cursor.parse_u8("memory_class", MemoryClass::from_tag)?;
    cursor.reserved("reserved", 1)?;
    let handle = BufferHandle { byte_size, alignment, device, sync_mode, memory_class };
    handle.validate().map_err(|error| {
        let (field, at) = match error {
            FormatError::BufferAlignment { .. } => ("alignment", 8),
            FormatError::CpuSyncMode { .. } => ("sync_mode", 13),
            _ => ("memory_class", 14),
        };
        DecodeError { field, offset: start.offset().wrapping_add(at), error }
    })?;
    Ok(handle)
}

fn read_quantization(cursor: &mut Cursor<'_>, mode: Mode) -> Result<Quantization, DecodeError> {
    let length = cursor.u32("quantization_length")?;
    let bytes = cursor.bytes("quantization", to_usize(length.into()))?;
    // What the scheme leaves of the section is padding.
    Quantization::decode(&mut cursor.over_last(bytes), mode)
}

/// Goes to the extension section from the end, which works as long as no later version has put
/// anything behind the sections.
fn skip_to_extension(
    cursor: &mut Cursor<'_>,
    tag: PrivateTag,
    minor: u8,
    has_member: bool,
) -> Result<(), DecodeError> {
    let behind = extension::LENGTH + if has_member { MEMBER_LENGTH } else { 0 };
    match cursor.rest().len().checked_sub(behind) {
        Some(between) if minor == 0 => cursor.bytes("unknown layout", between).map(drop),
        _ => {
            let error = unassigned(TagSpace::ElementType, tag.get());
            Err(cursor.error("extension type", error))
        }
    }
}
