//! The floating-point types that Rust does not have, as numbers
//! (docs/format.md, "Element types").

/// Exponent bits, mantissa bits and bias of a small binary float whose sign is its highest bit.
#[derive(Clone, Copy)]
pub(super) struct Small {
    pub(super) exponent_bits: u32,
    pub(super) mantissa_bits: u32,
    pub(super) bias: i32,
}

pub(super) const E4M3: Small = Small { exponent_bits: 4, mantissa_bits: 3, bias: 7 };
pub(super) const E5M2: Small = Small { exponent_bits: 5, mantissa_bits: 2, bias: 15 };
pub(super) const E2M1: Small = Small { exponent_bits: 2, mantissa_bits: 1, bias: 1 };
pub(super) const E2M3: Small = Small { exponent_bits: 2, mantissa_bits: 3, bias: 1 };
pub(super) const E3M2: Small = Small { exponent_bits: 3, mantissa_bits: 2, bias: 3 };

impl Small {
    /// The number that `bits` stand for when none of them are special; exact in f32.
    pub(super) fn finite(self, bits: u8) -> f32 {
        let bits = u32::from(bits);
        let mantissa = bits & ((1 << self.mantissa_bits) - 1);
        let exponent = (bits >> self.mantissa_bits) & ((1 << self.exponent_bits) - 1);
        let negative = (bits >> (self.mantissa_bits + self.exponent_bits)) & 1 == 1;
        // A subnormal has the exponent of the smallest normal number and no leading one.
        let significand = if exponent == 0 { mantissa } else { mantissa | 1 << self.mantissa_bits };
        let scale = exponent.max(1).cast_signed() - self.bias - self.mantissa_bits.cast_signed();
        #[expect(clippy::cast_precision_loss, reason = "at most 4 bits")]
        let magnitude = significand as f32 * power_of_two(scale);
        if negative { -magnitude } else { magnitude }
    }
}

/// float8_e4m3: `0x7F` and `0xFF` are NaN, nothing is infinite.
pub(super) fn e4m3(bits: u8) -> f32 {
    if bits & 0x7F == 0x7F { f32::NAN } else { E4M3.finite(bits) }
}

/// float8_e5m2: as IEEE 754 would have it, `0x7C` and `0xFC` are the infinities.
pub(super) fn e5m2(bits: u8) -> f32 {
    match bits & 0x7F {
        0x7C if bits >> 7 == 0 => f32::INFINITY,
        0x7C => f32::NEG_INFINITY,
        0x7D.. => f32::NAN,
        _ => E5M2.finite(bits),
    }
}

/// float8_e8m0: `2^(bits - 127)`; `None` for the invalid `0x00` and `0xFF`.
pub(super) fn e8m0(bits: u8) -> Option<f32> {
    (bits != 0x00 && bits != 0xFF).then(|| power_of_two(i32::from(bits) - 127))
}

/// `2^exponent` for an exponent of a normal f32.
fn power_of_two(exponent: i32) -> f32 {
    debug_assert!((-126..=127).contains(&exponent));
    f32::from_bits((exponent + 127).cast_unsigned() << 23)
}

/// An IEEE 754 binary128, rounded to the nearest f64, ties to even. The payload of a NaN keeps
/// its upper bits.
pub(super) fn binary128_to_f64(bits: u128) -> f64 {
    const MANTISSA_BITS: u32 = 112;
    // What a f64 mantissa has no room for.
    const DROPPED: u32 = MANTISSA_BITS - 52;
    let low_u64 = |wide: u128| u64::try_from(wide).unwrap_or(u64::MAX);

    let sign = low_u64(bits >> 127) << 63;
    let exponent = i32::try_from((bits >> MANTISSA_BITS) & 0x7FFF).unwrap_or(0);
    let mantissa = bits & ((1 << MANTISSA_BITS) - 1);
    let magnitude = match exponent {
        0x7FFF if mantissa == 0 => f64::INFINITY.to_bits(),
        0x7FFF => f64::NAN.to_bits() | low_u64(mantissa >> DROPPED),
        // Smaller than the smallest f64 by thousands of binary orders.
        0 => 0,
        _ => {
            let exponent = exponent - 16383 + 1023;
            let significand = mantissa | 1 << MANTISSA_BITS;
            if exponent >= 2047 {
                f64::INFINITY.to_bits()
            } else if exponent > 0 {
                // A carry out of the mantissa runs into the exponent, up to infinity, as it should.
                let rounded = low_u64(round_shift(significand, DROPPED));
                (u64::from(exponent.cast_unsigned()) << 52) + (rounded - (1 << 52))
            } else {
                // A subnormal: the exponent field is 0 and the mantissa is shifted further.
                let shift = DROPPED + 1 + exponent.unsigned_abs();
                if shift > 127 { 0 } else { low_u64(round_shift(significand, shift)) }
            }
        }
    };
    f64::from_bits(sign | magnitude)
}

/// `n / 2^shift` rounded to the nearest, ties to even.
fn round_shift(n: u128, shift: u32) -> u128 {
    let quotient = n >> shift;
    let rest = n & ((1 << shift) - 1);
    let half = 1 << (shift - 1);
    quotient + u128::from(rest > half || (rest == half && quotient & 1 == 1))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn largest_and_smallest_values_are_those_of_the_format() {
        assert_eq!(e4m3(0x7E), 448.0);
        assert_eq!(e4m3(0x01), 2f32.powi(-9));
        assert!(e4m3(0x7F).is_nan() && e4m3(0xFF).is_nan());
        assert_eq!(e5m2(0x7B), 57344.0);
        assert_eq!(e5m2(0x01), 2f32.powi(-16));
        assert_eq!((e5m2(0x7C), e5m2(0xFC)), (f32::INFINITY, f32::NEG_INFINITY));
        assert!(e5m2(0x7D).is_nan() && e5m2(0xFF).is_nan());
        assert_eq!(E2M1.finite(0x7), 6.0);
        assert_eq!(E2M1.finite(0x9), -0.5);
        assert_eq!(E2M3.finite(0x1F), 7.5);
        assert_eq!(E2M3.finite(0x3F), -7.5);
        assert_eq!(E3M2.finite(0x1F), 28.0);
        assert_eq!(E3M2.finite(0x01), 0.0625);
        assert_eq!(E2M1.finite(0x8).to_bits(), (-0f32).to_bits());
        assert_eq!((e8m0(0x00), e8m0(0xFF)), (None, None));
        assert_eq!((e8m0(0x01), e8m0(0xFE)), (Some(2f32.powi(-126)), Some(2f32.powi(127))));
    }

    #[test]
    fn every_e5m2_is_the_upper_half_of_a_float16() {
        for bits in 0..=0xFFu8 {
            let expected = half::f16::from_bits(u16::from(bits) << 8).to_f32();
            let found = e5m2(bits);
            assert!(found.to_bits() == expected.to_bits() || (found.is_nan() && expected.is_nan()));
        }
    }

    fn widen(x: f64) -> u128 {
        let bits = x.to_bits();
        let exponent = u128::from((bits >> 52) & 0x7FF);
        u128::from(bits >> 63) << 127
            | (exponent + 16383 - 1023) << 112
            | u128::from(bits & ((1 << 52) - 1)) << 60
    }

    #[test]
    fn binary128_rounds_to_the_nearest_f64() {
        for x in [1.0, -2.5, f64::MAX, f64::MIN_POSITIVE, 0.1, -1e300] {
            assert_eq!(binary128_to_f64(widen(x)), x);
        }
        let one = widen(1.0);
        let half_an_ulp = 1u128 << 59;
        assert_eq!(binary128_to_f64(one + half_an_ulp), 1.0);
        assert_eq!(binary128_to_f64(one + half_an_ulp + 1), 1.0 + f64::EPSILON);
        assert_eq!(binary128_to_f64(one + 3 * half_an_ulp), 1.0 + 2.0 * f64::EPSILON);
        assert_eq!(binary128_to_f64(widen(f64::MAX) + half_an_ulp), f64::INFINITY);
        assert_eq!(binary128_to_f64(widen(f64::MAX) + half_an_ulp - 1), f64::MAX);
        // 2^-1074, the smallest subnormal, half of it (a tie, to even), and a little more.
        let power = |exponent: i32| u128::try_from(exponent + 16383).unwrap() << 112;
        assert_eq!(binary128_to_f64(power(-1074)), f64::from_bits(1));
        assert_eq!(binary128_to_f64(power(-1075)), 0.0);
        assert_eq!(binary128_to_f64(power(-1075) + 1), f64::from_bits(1));
        assert_eq!(binary128_to_f64(power(-1076)), 0.0);
        assert_eq!(binary128_to_f64(power(-5000)), 0.0);
        assert_eq!(binary128_to_f64(0x7FFF << 112), f64::INFINITY);
        assert_eq!(binary128_to_f64(0xFFFF << 112), f64::NEG_INFINITY);
        assert!(binary128_to_f64(0x7FFF << 112 | 1).is_nan());
        assert_eq!(binary128_to_f64(1 << 127).to_bits(), (-0f64).to_bits());
    }
}
