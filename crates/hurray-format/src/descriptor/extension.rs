//! The extension section, which describes a private element type
//! (docs/format.md, "Extension type").

use super::DescriptorError;
use crate::element::{PrivateKind, PrivateType};
use crate::error::{DecodeError, FormatError};
use crate::tag::PrivateTag;
use crate::wire::{Cursor, Put};

/// The bytes of the section.
pub(super) const LENGTH: usize = 20;

/// How many values share a byte, 1 if a value takes whole bytes.
fn packing(bit_width: u32) -> u32 {
    if bit_width < 8 { 8 / bit_width.max(1) } else { 1 }
}

pub(super) fn decode(cursor: &mut Cursor<'_>, tag: PrivateTag) -> Result<PrivateType, DecodeError> {
    let start = cursor.clone();
    let bit_width = cursor.u32("bit_width")?;
    // The type itself knows which widths there are, whatever its values are.
    PrivateType::new(tag, bit_width, PrivateKind::Integer { is_signed: false })
        .map_err(|error| start.error("bit_width", error))?;
    cursor.parse_u8("packing", |found| {
        let expected = packing(bit_width);
        if u32::from(found) == expected {
            return Ok(());
        }
        Err(DescriptorError::Packing { found, bit_width, expected }.into())
    })?;
    let is_float = cursor.flag("is_float")?;
    // Every field that only the other kind has is 0.
    let zero = |field, unused: bool, allowed| {
        move |found: u8| match found {
            0 => Ok(0),
            _ if unused => Err(FormatError::Field { field, found: found.into(), allowed }),
            _ => Ok(found),
        }
    };
    let is_one = |field, unused, allowed| {
        move |found| match zero(field, unused, allowed)(found)? {
            0 => Ok(false),
            1 => Ok(true),
            _ => Err(FormatError::Field { field, found: found.into(), allowed: "0 or 1" }),
        }
    };
    let is_integer = !is_float;
    const IN_INTEGER: &str = "0 in an integer";
    let is_signed = cursor.parse_u8(
        "is_signed",
        is_one("is_signed", is_float, "0 in a float, which has sign_bits"),
    )?;
    let has_sign = cursor.parse_u8("sign_bits", is_one("sign_bits", is_integer, IN_INTEGER))?;
    let exponent_bits =
        cursor.parse_u8("exponent_bits", zero("exponent_bits", is_integer, IN_INTEGER))?;
    let mantissa_bits =
        cursor.parse_u8("mantissa_bits", zero("mantissa_bits", is_integer, IN_INTEGER))?;
    cursor.reserved("reserved", 2)?;
    let at_bias = cursor.clone();
    let exponent_bias = cursor.u32("exponent_bias")?;
    if is_integer && exponent_bias != 0 {
        let (field, found) = ("exponent_bias", exponent_bias.into());
        let error = FormatError::Field { field, found, allowed: IN_INTEGER };
        return Err(at_bias.error(field, error));
    }
    let has_nan = cursor.parse_u8("has_nan", is_one("has_nan", is_integer, IN_INTEGER))?;
    let has_inf = cursor.parse_u8("has_inf", is_one("has_inf", is_integer, IN_INTEGER))?;
    cursor.reserved("reserved", 2)?;
    let kind = if is_float {
        PrivateKind::Float {
            has_sign,
            exponent_bits,
            mantissa_bits,
            exponent_bias,
            has_nan,
            has_inf,
        }
    } else {
        PrivateKind::Integer { is_signed }
    };
    PrivateType::new(tag, bit_width, kind).map_err(|error| start.error("bit_width", error))
}

pub(super) fn encode(private: PrivateType, out: &mut Vec<u8>) {
    let bit_width = private.bit_width();
    out.put_u32(bit_width);
    let [packing, ..] = packing(bit_width).to_le_bytes();
    match private.kind() {
        PrivateKind::Integer { is_signed } => {
            out.put(&[packing, 0, is_signed.into()]);
            out.put(&[0; 13]);
        }
        PrivateKind::Float {
            has_sign,
            exponent_bits,
            mantissa_bits,
            exponent_bias,
            has_nan,
            has_inf,
        } => {
            out.put(&[packing, 1, 0, has_sign.into(), exponent_bits, mantissa_bits, 0, 0]);
            out.put_u32(exponent_bias);
            out.put(&[has_nan.into(), has_inf.into(), 0, 0]);
        }
    }
}
