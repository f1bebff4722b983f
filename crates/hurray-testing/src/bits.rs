//! Values of any element type as bit patterns, found without the code of the libraries.

use hurray_format::ElementType;
use hurray_format::cast::{to_u64, to_usize};
use hurray_format::element::{PrivateKind, PrivateType};
use hurray_format::tag::PrivateTag;

/// The bits of the value at `position`, found bit by bit: values are packed least significant bits
/// first, and wider ones are little-endian, which is the same.
#[must_use]
pub fn bits_at(bytes: &[u8], width: u32, position: usize) -> u128 {
    let start = position * width as usize;
    (0..width as usize).fold(0, |value, bit| {
        let at = start + bit;
        value | (u128::from(bytes[at / 8] >> (at % 8) & 1) << bit)
    })
}

/// The bytes of these values; the inverse of [`bits_at`].
///
/// # Panics
/// If there are more than fit into memory.
#[must_use]
pub fn to_bytes(values: &[u128], element_type: ElementType) -> Vec<u8> {
    let width = element_type.bits() as usize;
    let length = element_type.byte_length(to_u64(values.len())).expect("they are in memory");
    let mut bytes = vec![0u8; to_usize(length)];
    for (position, value) in values.iter().enumerate() {
        for bit in (0..width).filter(|bit| value >> bit & 1 == 1) {
            let at = position * width + bit;
            bytes[at / 8] |= 1 << (at % 8);
        }
    }
    bytes
}

/// Every public element type and some private ones.
///
/// # Panics
/// Never: the private ones are valid.
#[must_use]
pub fn element_types() -> Vec<ElementType> {
    let private = [1, 2, 4, 8, 24, 128].into_iter().zip(0xF0..).map(|(width, tag)| {
        let kind = PrivateKind::Integer { is_signed: tag % 2 == 0 };
        let private = PrivateType::new(PrivateTag::new(tag).expect("a private tag"), width, kind);
        ElementType::Private(private.expect("a valid width"))
    });
    ElementType::public().chain(private).collect()
}
