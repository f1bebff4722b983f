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
    let is_signed = cursor.flag("is_signed")?;
    let has_sign = cursor.flag("sign_bits")?;
    let exponent_bits = cursor.u8("exponent_bits")?;
    let mantissa_bits = cursor.u8("mantissa_bits")?;
    cursor.reserved("reserved", 2)?;
    let exponent_bias = cursor.u32("exponent_bias")?;
    let has_nan = cursor.flag("has_nan")?;
    let has_inf = cursor.flag("has_inf")?;
    cursor.reserved("reserved", 2)?;

    let zero = |field, found: u32, allowed| {
        if found == 0 {
            return Ok(());
        }
        Err(start.error(field, FormatError::Field { field, found: found.into(), allowed }))
    };
    let kind = if is_float {
        zero("is_signed", is_signed.into(), "0 in a float, which has sign_bits")?;
        PrivateKind::Float {
            has_sign,
            exponent_bits,
            mantissa_bits,
            exponent_bias,
            has_nan,
            has_inf,
        }
    } else {
        for (field, found) in [
            ("sign_bits", has_sign.into()),
            ("exponent_bits", exponent_bits.into()),
            ("mantissa_bits", mantissa_bits.into()),
            ("exponent_bias", exponent_bias),
            ("has_nan", has_nan.into()),
            ("has_inf", has_inf.into()),
        ] {
            zero(field, found, "0 in an integer")?;
        }
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
