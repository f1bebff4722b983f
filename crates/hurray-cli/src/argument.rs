//! Arguments that clap has no parser for. A wrong one is an error of usage.

use std::num::IntErrorKind;

use hurray_format::{ElementType, ModeOrder, Shape};

/// Numbers with commas between them, such as `4,5,6`.
fn numbers<T: std::str::FromStr<Err = std::num::ParseIntError>>(
    text: &str,
) -> Result<Vec<T>, String> {
    let number = |part: &str| {
        part.trim().parse().map_err(|error: std::num::ParseIntError| match error.kind() {
            IntErrorKind::PosOverflow => format!("`{}` is too large", part.trim()),
            _ => format!(
                "`{}` is not a whole number; give whole numbers with commas between them, such as \
                 4,5,6",
                part.trim()
            ),
        })
    };
    text.split(',').map(number).collect()
}

/// The coordinates of one element. Their number and range are the tensor's business.
#[derive(Clone, Debug)]
pub(crate) struct Index(pub(crate) Vec<u64>);

pub(crate) fn index(text: &str) -> Result<Index, String> {
    numbers(text).map(Index)
}

pub(crate) fn shape(text: &str) -> Result<Shape, String> {
    let dimensions: Vec<u64> = numbers(text)?;
    if dimensions.contains(&Shape::DYNAMIC) {
        return Err(format!("a dimension is at most {}", Shape::DYNAMIC - 1));
    }
    Shape::new(dimensions).map_err(|error| error.to_string())
}

/// The order in which a tree stores the dimensions.
#[derive(Clone, Debug)]
pub(crate) enum Order {
    /// The shortest dimension outermost.
    Auto,
    Given(ModeOrder),
}

impl Order {
    pub(crate) fn of(&self, shape: &Shape) -> ModeOrder {
        match self {
            Order::Auto => ModeOrder::shortest_first(shape),
            Order::Given(order) => order.clone(),
        }
    }
}

pub(crate) fn order(text: &str) -> Result<Order, String> {
    if text == "auto" {
        return Ok(Order::Auto);
    }
    let dimensions: Vec<u32> = numbers(text)?;
    ModeOrder::new(dimensions).map(Order::Given).map_err(|error| error.to_string())
}

/// The names of the types that text and conversions know.
pub(crate) const TYPES: [&str; 12] = [
    "float16", "bfloat16", "float32", "float64", "int8", "uint8", "int16", "uint16", "int32",
    "uint32", "int64", "uint64",
];

pub(crate) fn element_type(text: &str) -> Result<ElementType, String> {
    match TYPES.contains(&text) {
        true => text.parse().map_err(|error: hurray_format::FormatError| error.to_string()),
        false => Err(format!("the types are {}", TYPES.join(", "))),
    }
}

/// `KEY=VALUE`, divided at the first `=`.
pub(crate) fn metadata(text: &str) -> Result<(String, String), String> {
    match text.split_once('=') {
        Some((key, value)) if !key.is_empty() => Ok((key.to_owned(), value.to_owned())),
        _ => Err("give KEY=VALUE".to_owned()),
    }
}

/// Bytes, or with a suffix KiB or MiB: `65536`, `64K`, `64KiB`, `2M`.
pub(crate) fn alignment(text: &str) -> Result<u32, String> {
    let digits = text.trim_end_matches("iB");
    let (digits, unit) = match digits.as_bytes().last() {
        Some(b'K' | b'k') => (&digits[..digits.len() - 1], 1 << 10),
        Some(b'M' | b'm') => (&digits[..digits.len() - 1], 1 << 20),
        _ => (digits, 1),
    };
    let bytes = digits.parse::<u32>().ok().and_then(|number| number.checked_mul(unit));
    match bytes {
        Some(bytes) if bytes.is_power_of_two() && (1 << 12..=1 << 21).contains(&bytes) => Ok(bytes),
        _ => Err("it is a power of two from 4K to 2M".to_owned()),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn numbers_are_divided_by_commas() {
        assert_eq!(index("1,1, 2").unwrap().0, [1, 1, 2]);
        assert_eq!(
            index("1,,2").unwrap_err(),
            "`` is not a whole number; give whole numbers with commas between them, such as 4,5,6"
        );
        assert!(index("1,-1").is_err());
        assert_eq!(
            index("18446744073709551616").unwrap_err(),
            "`18446744073709551616` is too large"
        );
    }

    #[test]
    fn a_shape_has_no_dynamic_dimension() {
        assert_eq!(shape("4,5,6").unwrap().dimensions(), [4, 5, 6]);
        assert!(shape("1,2,18446744073709551615").is_err());
    }

    #[test]
    fn an_order_is_a_permutation_or_auto() {
        assert!(matches!(order("2,0,1"), Ok(Order::Given(order)) if order.as_slice() == [2, 0, 1]));
        assert!(matches!(order("auto"), Ok(Order::Auto)));
        assert!(order("0,0,1").is_err());
        let shape = Shape::new([30, 10, 20]).unwrap();
        assert_eq!(order("auto").unwrap().of(&shape).as_slice(), [1, 2, 0]);
    }

    #[test]
    fn types_are_those_of_tier_1_but_bool() {
        let names: Vec<String> = ElementType::public()
            .filter(|t| t.tier() == hurray_format::Tier::One && *t != ElementType::Bool)
            .map(|t| t.to_string())
            .collect();
        assert_eq!(names, TYPES);
        assert!(TYPES.iter().all(|name| element_type(name).is_ok()));
        assert!(element_type("bool").is_err());
    }

    #[test]
    fn metadata_is_divided_at_the_first_equals_sign() {
        assert_eq!(metadata("a=b=c"), Ok(("a".to_owned(), "b=c".to_owned())));
        assert_eq!(metadata("a="), Ok(("a".to_owned(), String::new())));
        assert!(metadata("a").is_err() && metadata("=a").is_err());
    }

    #[test]
    fn an_alignment_is_a_power_of_two_from_4_kib_to_2_mib() {
        for (text, bytes) in [("4096", 4096), ("64K", 65536), ("64KiB", 65536), ("2M", 1 << 21)] {
            assert_eq!(alignment(text), Ok(bytes));
        }
        for text in ["2048", "4M", "5000", "", "K", "4G", "-4096"] {
            assert!(alignment(text).is_err(), "{text}");
        }
    }
}
