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

    // What only the other kind has is 0; each field with its place in the section.
    let unused: &[(&'static str, u64, u32)] = if is_float {
        &[("is_signed", 6, is_signed.into())]
    } else {
        &[
            ("sign_bits", 7, has_sign.into()),
            ("exponent_bits", 8, exponent_bits.into()),
            ("mantissa_bits", 9, mantissa_bits.into()),
            ("exponent_bias", 12, exponent_bias),
            ("has_nan", 16, has_nan.into()),
            ("has_inf", 17, has_inf.into()),
        ]
    };
    if let Some(&(field, at, found)) = unused.iter().find(|unused| unused.2 != 0) {
        let allowed = if is_float { "0 in a float" } else { "0 in an integer" };
        let error = FormatError::Field { field, found: found.into(), allowed };
        return Err(DecodeError { field, offset: start.offset().wrapping_add(at), error });
    }
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

#[cfg(test)]
mod tests {
    use super::*;

    fn read(change: impl FnOnce(&mut [u8; LENGTH])) -> Result<PrivateType, DecodeError> {
        // A float of 16 bits with a sign, 5 bits of exponent and 10 of mantissa.
        let mut bytes = [16, 0, 0, 0, 1, 1, 0, 1, 5, 10, 0, 0, 15, 0, 0, 0, 1, 1, 0, 0];
        change(&mut bytes);
        decode(&mut Cursor::new(&bytes, 100), PrivateTag::new(0xF0).unwrap())
    }

    #[test]
    fn a_section_is_written_as_it_was_read() {
        for change in [
            |_: &mut [u8; LENGTH]| (),
            |bytes: &mut [u8; LENGTH]| {
                bytes[5..].copy_from_slice(&[0, 1, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0])
            },
            |bytes: &mut [u8; LENGTH]| bytes[..5].copy_from_slice(&[2, 0, 0, 0, 4]),
        ] {
            let mut expected = [0; LENGTH];
            let private = read(|bytes| {
                change(bytes);
                expected = *bytes;
            });
            let mut written = Vec::new();
            encode(private.unwrap(), &mut written);
            assert_eq!(written, expected);
        }
    }

    #[test]
    fn what_only_the_other_kind_has_is_0() {
        let error = read(|bytes| bytes[6] = 1).unwrap_err();
        assert_eq!((error.field, error.offset), ("is_signed", 106));
        let fields = [
            (7, "sign_bits"),
            (8, "exponent_bits"),
            (9, "mantissa_bits"),
            (12, "exponent_bias"),
            (16, "has_nan"),
            (17, "has_inf"),
        ];
        for (at, field) in fields {
            let error = read(|bytes| {
                bytes[5..].fill(0);
                bytes[at] = 1;
            });
            let error = error.unwrap_err();
            assert_eq!((error.field, error.offset), (field, 100 + at as u64));
        }
    }

    #[test]
    fn packing_follows_from_the_width() {
        for (width, packing) in [(1, 8), (2, 4), (4, 2), (8, 1), (24, 1)] {
            for found in [1, 2, 4, 8] {
                let section = read(|bytes| (bytes[0], bytes[4]) = (width, found));
                assert_eq!(section.is_ok(), found == packing, "{width} {found}");
            }
        }
    }
}
