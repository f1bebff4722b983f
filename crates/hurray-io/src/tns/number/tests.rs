//! Tests of numbers in text.

use super::*;

fn parse<T: Number>(token: &str) -> Result<T, NumberError> {
    T::parse(token.as_bytes())
}

fn misfit<T>(reason: Misfit, fits: &str) -> Result<T, NumberError> {
    Err(NumberError::Misfit { reason, fits: fits.parse().ok() })
}

#[test]
fn a_plain_number_is_what_the_full_parser_makes_of_it() {
    let tokens = [
        "0",
        "-0",
        "-0.0",
        "1",
        "007.50",
        "4.000000",
        "123456789.987654",
        "9007199254740991",
        "-0.3",
        "5.",
        "0.000000000000000001",
    ];
    fn check<T: Number + std::fmt::Debug>(token: &str) {
        let (plain, length) = Plain::scan(token.as_bytes()).unwrap();
        assert_eq!(length, token.len());
        if let Some(value) = T::from_plain(plain) {
            assert_eq!(value.as_bytes(), parse::<T>(token).unwrap().as_bytes(), "{token}");
        }
    }
    for token in tokens {
        check::<f64>(token);
        check::<f32>(token);
        check::<i16>(token);
        check::<u64>(token);
    }
    let plain = |token: &str| Plain::scan(token.as_bytes()).map(|(plain, _)| plain);
    assert_eq!(f64::from_plain(plain("9007199254740992").unwrap()), None);
    assert_eq!(f32::from_plain(plain("16777216").unwrap()), None);
    assert_eq!(u8::from_plain(plain("256").unwrap()), None);
    for token in ["", "-", "+1", ".5", "nan", "12345678901234567890", "-.5"] {
        assert_eq!(plain(token), None, "{token}");
    }
}

#[test]
fn digits_end_at_any_other_byte() {
    for other in (0..=u8::MAX).filter(|byte| !byte.is_ascii_digit()) {
        for length in 0..=19 {
            let number = &b"9876543210123456789"[..length];
            let expected = number
                .iter()
                .fold(7u64, |value, digit| value.wrapping_mul(10) + u64::from(digit - b'0'));
            let text = [b"x", number, &[other], b"12345678"].concat();
            assert_eq!(digits(&text, 1, 7), (expected, length));
            assert_eq!(digits(&text[..=length], 1, 7), (expected, length));
        }
    }
}

#[test]
fn floats_round_to_the_nearest() {
    assert_eq!(parse("0.1"), Ok(0.1f64));
    assert_eq!(parse("+.5e+1"), Ok(5.0f64));
    assert_eq!(parse("5."), Ok(5.0f64));
    assert_eq!(parse("1e-400"), Ok(0.0f64));
    assert_eq!(parse("4.9e-324"), Ok(f64::from_bits(1)));
    assert_eq!(parse("16777217.0"), Ok(16777216f32));
    assert_eq!(parse("0.1"), Ok(0.1f32));
    assert!(parse::<f64>("-0e5").unwrap().is_sign_negative());
    assert!(parse::<f64>("NaN").unwrap().is_nan() && parse::<f16>("-nan").unwrap().is_nan());
    assert_eq!(parse("-Infinity"), Ok(f32::NEG_INFINITY));
    assert_eq!(parse("INF"), Ok(bf16::INFINITY));
}

#[test]
fn what_is_no_number_is_refused_by_every_type() {
    let tokens = [
        "", "-", "+", ".", "-.", "e5", "1e", "1e+", "1.2.3", "0x10", "1_000", "1,5", "--1", "1d5",
        "in", "nana", "1e5.0", "é", "1\0",
    ];
    for token in tokens {
        assert_eq!(parse::<f64>(token), Err(NumberError::NotANumber), "{token}");
        assert_eq!(parse::<f32>(token), Err(NumberError::NotANumber), "{token}");
        assert_eq!(parse::<f16>(token), Err(NumberError::NotANumber), "{token}");
        assert_eq!(parse::<bf16>(token), Err(NumberError::NotANumber), "{token}");
        assert_eq!(parse::<i32>(token), Err(NumberError::NotANumber), "{token}");
    }
}

#[test]
fn sixteen_bit_floats_round_once() {
    // 1 + 2^-11 lies halfway between two float16; so close to it that float64 cannot tell.
    let halfway = "1.00048828125";
    let one = 0x3C00;
    let f16_bits = |token: &str| parse::<f16>(token).unwrap().to_bits();
    assert_eq!(f16_bits(halfway), one);
    assert_eq!(f16_bits("1.000488281250000000000000000000000001"), one + 1);
    assert_eq!(f16_bits("1.00048828124999999999999999999999999"), one);
    assert_eq!(f16_bits("10004882812500000000000000000000.00001e-31"), one + 1);
    // Through float32 this would be a tie, and go the wrong way.
    assert_eq!(f16_bits("1.0004882813"), one + 1);
    // The next tie goes up to even.
    assert_eq!(f16_bits("-1.00146484375"), 0x8000 | (one + 2));
    assert_eq!(f16_bits("-1.0014648437499999999999999999999"), 0x8000 | (one + 1));
    // Half of the smallest subnormal, 2^-25, and its neighbours; then between 1 and 2 of them.
    assert_eq!(f16_bits("2.98023223876953125e-8"), 0);
    assert_eq!(f16_bits("-2.98023223876953125e-8"), 0x8000);
    assert_eq!(f16_bits("2.980232238769531250000000000000001e-8"), 1);
    assert_eq!(f16_bits("8.94069671630859375e-8"), 2);
    assert_eq!(f16_bits("8.940696716308593749999999999999999e-8"), 1);
    assert_eq!(f16_bits("1e-30"), 0);
    // The largest subnormal rounds up to the smallest normal number.
    assert_eq!(f16_bits("6.1035e-5"), 0x0400);
    // Overflow begins halfway behind the largest.
    assert_eq!(f16_bits("65519.99999999999999999999999"), 0x7BFF);
    assert_eq!(parse::<f16>("65520.0"), misfit(Misfit::Overflow, "float32"));
    // bfloat16: 1 + 2^-8, and half of its smallest subnormal.
    let bf16_bits = |token: &str| parse::<bf16>(token).unwrap().to_bits();
    assert_eq!(bf16_bits("1.00390625"), 0x3F80);
    assert_eq!(bf16_bits("1.003906250000000000000000000000000001"), 0x3F81);
    let half = format!("{:.134}", 2f64.powi(-134));
    assert_eq!(bf16_bits(&half), 0);
    assert_eq!(bf16_bits(&format!("{half}000000000000000000000001")), 1);
}

#[test]
fn every_sixteen_bit_float_is_the_nearest_of_itself() {
    for bits in 0..=u16::MAX {
        let (half, brain) = (f16::from_bits(bits), bf16::from_bits(bits));
        if half.is_finite() {
            let token = format!("{:e}", half.to_f64());
            assert_eq!(parse::<f16>(&token).unwrap().to_bits(), bits);
        }
        if brain.is_finite() {
            let token = format!("{:e}", brain.to_f64());
            assert_eq!(parse::<bf16>(&token).unwrap().to_bits(), bits);
        }
    }
}

#[test]
fn overflow_to_infinity_names_a_type_that_reaches_further() {
    assert_eq!(parse::<f64>("1e309"), misfit(Misfit::Overflow, ""));
    assert_eq!(parse::<f32>("-1e39"), misfit(Misfit::Overflow, "float64"));
    assert_eq!(parse::<f32>("1e999999999999999999999"), misfit(Misfit::Overflow, ""));
    assert_eq!(parse::<bf16>("3.4e38"), misfit(Misfit::Overflow, "float64"));
    assert_eq!(parse::<f16>("1e39"), misfit(Misfit::Overflow, "float64"));
}

#[test]
fn an_integer_that_a_float_does_not_hold_names_a_type_that_does() {
    assert_eq!(parse("9007199254740992"), Ok(9007199254740992f64));
    assert_eq!(parse::<f64>("9007199254740993"), misfit(Misfit::Inexact, "int64"));
    assert_eq!(parse("9007199254740994"), Ok(9007199254740994f64));
    assert_eq!(parse("100000000000000000000"), Ok(1e20f64));
    assert_eq!(parse::<f64>("18446744073709551615"), misfit(Misfit::Inexact, "uint64"));
    assert_eq!(parse::<f64>("-18446744073709551617"), misfit(Misfit::Inexact, ""));
    assert_eq!(parse("9007199254740993.0"), Ok(9007199254740992f64));
    assert_eq!(parse::<f32>("16777217"), misfit(Misfit::Inexact, "int32"));
    assert_eq!(parse::<f32>("-100000000000000000001"), misfit(Misfit::Inexact, ""));
    assert_eq!(parse::<f16>("2049"), misfit(Misfit::Inexact, "int16"));
    assert_eq!(parse::<bf16>("257"), misfit(Misfit::Inexact, "int16"));
    assert_eq!(parse::<f16>("2050"), Ok(f16::from_f32(2050.0)));
}

#[test]
fn an_integer_that_no_type_holds_is_refused_whatever_its_length() {
    // 2^127 has 39 digits.
    for length in [20, 38, 39, 40, 41, 300] {
        let digits = "7".repeat(length);
        assert_eq!(parse::<f64>(&digits), misfit(Misfit::Inexact, ""), "{length}");
        assert_eq!(parse::<i64>(&digits), misfit(Misfit::OutOfRange, ""), "{length}");
        assert_eq!(parse::<f64>(&format!("-{digits}")), misfit(Misfit::Inexact, ""));
    }
    assert_eq!(parse::<f32>(&"7".repeat(38)), misfit(Misfit::Inexact, ""));
    assert_eq!(parse::<bf16>(&"7".repeat(38)), misfit(Misfit::Inexact, ""));
    // 2^130 is exact.
    let power = "1361129467683753853853498429727072845824";
    assert_eq!(parse(power), Ok(2f64.powi(130)));
    assert_eq!(parse::<u64>(power), misfit(Misfit::OutOfRange, "float64"));
}

#[test]
fn integer_types_take_integers_in_any_form() {
    assert_eq!(parse("1e3"), Ok(1000i16));
    assert_eq!(parse("4.0"), Ok(4u8));
    assert_eq!(parse("-0"), Ok(0u8));
    assert_eq!(parse("0.0e999999999999999999999"), Ok(0u8));
    assert_eq!(parse("1.50e1"), Ok(15i8));
    assert_eq!(parse("2000e-3"), Ok(2i32));
    assert_eq!(parse("18446744073709551615"), Ok(u64::MAX));
    assert_eq!(parse("-9223372036854775808.000"), Ok(i64::MIN));
    assert_eq!(parse::<i32>("1.5"), misfit(Misfit::Fraction, "float64"));
    assert_eq!(parse::<i32>("1e-999999999999999999999"), misfit(Misfit::Fraction, "float64"));
    assert_eq!(parse::<i32>("nan"), misfit(Misfit::NotFinite, "float64"));
    assert_eq!(parse::<u8>("-1"), misfit(Misfit::OutOfRange, "int8"));
    assert_eq!(parse::<i8>("128"), misfit(Misfit::OutOfRange, "uint8"));
    assert_eq!(parse::<u8>("256"), misfit(Misfit::OutOfRange, "int16"));
    assert_eq!(parse::<i64>("9223372036854775808"), misfit(Misfit::OutOfRange, "uint64"));
    assert_eq!(parse::<i64>("1e30"), misfit(Misfit::OutOfRange, "float64"));
    assert_eq!(parse::<u64>("18446744073709551617"), misfit(Misfit::OutOfRange, ""));
    assert_eq!(parse::<u64>("1e99"), misfit(Misfit::OutOfRange, "float64"));
    assert_eq!(parse::<u64>("1e999"), misfit(Misfit::OutOfRange, ""));
}

#[test]
fn a_number_of_a_million_digits_is_read_in_linear_time() {
    let digits = "7".repeat(1_000_000);
    assert_eq!(parse(&format!("0.{digits}")), Ok(7.0f64 / 9.0));
    assert_eq!(parse(&format!("0.{digits}")), Ok(f16::from_f64(7.0 / 9.0)));
    assert_eq!(parse::<f64>(&digits), misfit(Misfit::Overflow, ""));
    assert_eq!(parse::<i64>(&digits), misfit(Misfit::OutOfRange, ""));
    assert_eq!(parse::<i64>(&format!("0.{digits}")), misfit(Misfit::Fraction, "float64"));
    assert_eq!(parse(&format!("{digits}e-1000000")), Ok(7.0f64 / 9.0));
    let zeros = "0".repeat(1_000_000);
    assert_eq!(parse(&format!("{zeros}12.{zeros}")), Ok(12u8));
    assert_eq!(parse(&format!("1{zeros}e-1000000")), Ok(1u8));
    assert_eq!(parse(&format!("1.00048828125{zeros}1")), Ok(f16::from_bits(0x3C01)));
}
