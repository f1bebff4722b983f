//! Builds held against a sorted map of bit patterns: every way to treat duplicates, every element
//! type, any mode order, rows and columns, zeros dropped or kept.

use std::collections::BTreeMap;

use half::{bf16, f16};
use hurray_csf::{BuildError, Builder, Duplicates, Indices, Tensor};
use hurray_format::cast::to_u64;
use hurray_format::{ElementType, ModeOrder, Shape, Values};
use hurray_testing::bits::{bits_at, element_types, to_bytes};
use hurray_testing::{Choices, counted, trees};

#[test]
fn build() {
    bolero::check!().for_each(counted(run));
}

fn run(input: &[u8]) {
    let job = Job::new(&mut Choices::new(input));
    let expected = job.expected();
    let rows: Vec<u64> = job.rows.iter().flat_map(|row| row.0.clone()).collect();
    let columns: Vec<Vec<u64>> = (0..job.shape.rank())
        .map(|dimension| job.rows.iter().map(|row| row.0[dimension]).collect())
        .collect();
    let columns: Vec<&[u64]> = columns.iter().map(Vec::as_slice).collect();
    for indices in [Indices::Rows(&rows), Indices::Columns(&columns)] {
        match (job.build(indices), &expected) {
            (Ok(tensor), Ok(expected)) => job.check(&tensor, expected),
            (Err(error), Err(refusal)) => assert_eq!(refusal_of(&error), *refusal, "{error}"),
            (found, expected) => panic!("{found:?}, not {expected:?}"),
        }
    }
}

/// Why nothing is built.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Refusal {
    NoArithmetic,
    OutOfRange,
    Duplicate,
    Overflow,
}

fn refusal_of(error: &BuildError) -> Refusal {
    match error {
        BuildError::NoArithmetic { .. } => Refusal::NoArithmetic,
        BuildError::OutOfRange { .. } => Refusal::OutOfRange,
        BuildError::Duplicate { .. } => Refusal::Duplicate,
        BuildError::SumOverflow { .. } => Refusal::Overflow,
        error => panic!("{error}"),
    }
}

/// What is to be stored, in storage order: the coordinates by level, the logical index, the bits.
type Stored = BTreeMap<Vec<u64>, (Vec<u64>, u128)>;

/// What is asked of the builder.
struct Job {
    shape: Shape,
    mode_order: ModeOrder,
    element_type: ElementType,
    /// An index and the bits of a value each.
    rows: Vec<(Vec<u64>, u128)>,
    duplicates: Duplicates,
    drop_zeros: bool,
}

impl Job {
    fn new(choices: &mut Choices<'_>) -> Self {
        use Duplicates::{Error, First, Last, Max, Min, Sum};
        let duplicates = *choices.pick(&[Error, Sum, First, Last, Min, Max]);
        let drop_zeros = choices.one_in(3);
        let element_type = *choices.pick(&element_types());
        let rank = if choices.one_in(40) { 3 + choices.below(62) } else { 3 + choices.below(3) };
        let mode_order = trees::mode_order(rank, choices);
        let sizes: Vec<u64> = (0..rank)
            .map(|_| match choices.below(8) {
                6 => Shape::DYNAMIC,
                7 => choices.telling_word().max(1),
                size => 1 + to_u64(size),
            })
            .collect();
        let count = if choices.one_in(30) { choices.below(600) } else { choices.below(24) };
        let is_wild = choices.one_in(30);
        let mut coordinate = |size: u64| match choices.below(4) {
            3 if is_wild => choices.telling_word(),
            3 => choices.telling_word() % size,
            small => to_u64(small) % size,
        };
        let indices: Vec<Vec<u64>> =
            (0..count).map(|_| sizes.iter().map(|&size| coordinate(size)).collect()).collect();
        let unused = 128 - element_type.bits();
        let mut bits = || match choices.below(4) {
            0 => 0,
            1 => u128::from(choices.byte()),
            2 => u128::from(choices.word()),
            _ => u128::from(choices.word()) << 64 | u128::from(choices.word()),
        };
        let rows = indices.into_iter().map(|index| (index, bits() << unused >> unused)).collect();
        let shape = Shape::new(sizes).expect("a rank up to 64");
        Self { shape, mode_order, element_type, rows, duplicates, drop_zeros }
    }

    fn build(&self, indices: Indices<'_, u64>) -> Result<Tensor, BuildError> {
        let bits: Vec<u128> = self.rows.iter().map(|row| row.1).collect();
        let bytes = to_bytes(&bits, self.element_type);
        let values = Values::new(self.element_type, bits.len(), &bytes[..]);
        Builder::new(self.shape.clone())
            .mode_order(self.mode_order.clone())
            .duplicates(self.duplicates)
            .drop_zeros(self.drop_zeros)
            .build(indices, values.expect("the bytes of as many values"))
    }

    /// What a sorted map says.
    fn expected(&self) -> Result<Stored, Refusal> {
        // Whether there are duplicates or not.
        if let Err(refusal @ Refusal::NoArithmetic) =
            merge(self.element_type, self.duplicates, &[0, 0])
        {
            return Err(refusal);
        }
        let mut found: BTreeMap<Vec<u64>, (Vec<u64>, Vec<u128>)> = BTreeMap::new();
        for (index, bits) in &self.rows {
            let mut coordinates = index.iter().enumerate();
            if !coordinates.all(|(dimension, &c)| self.shape.contains(dimension, c)) {
                return Err(Refusal::OutOfRange);
            }
            let by_level =
                self.mode_order.as_slice().iter().map(|&dimension| index[dimension as usize]);
            let entry = found.entry(by_level.collect()).or_insert((index.clone(), Vec::new()));
            entry.1.push(*bits);
        }
        let mut stored = Stored::new();
        for (by_level, (index, bits)) in found {
            let merged = match bits[..] {
                [only] => only,
                _ => merge(self.element_type, self.duplicates, &bits)?,
            };
            if !(self.drop_zeros && is_zero(self.element_type, merged)) {
                stored.insert(by_level, (index, merged));
            }
        }
        Ok(stored)
    }

    fn check(&self, tensor: &Tensor, expected: &Stored) {
        let (tree, values) = (tensor.tree(), tensor.values());
        assert_eq!(tree.validate(), Ok(()));
        assert_eq!(values.element_type(), self.element_type);
        assert_eq!((tree.nnz(), values.len()), (expected.len(), expected.len()));
        let mut stored = expected.values();
        tree.leaves().for_each(|index, leaf| {
            let (expected, bits) = stored.next().expect("as many as are expected");
            assert_eq!(index, expected);
            let found = bits_at(values.bytes(), self.element_type.bits(), leaf);
            assert!(is_same(self.element_type, found, *bits), "{found:#x}, not {bits:#x}");
            assert_eq!(tree.lookup(index), Ok(Some(leaf)));
        });
        assert!(stored.next().is_none());
    }
}

/// The value of entries with the same index.
fn merge(
    element_type: ElementType,
    duplicates: Duplicates,
    bits: &[u128],
) -> Result<u128, Refusal> {
    match duplicates {
        Duplicates::Error => Err(Refusal::Duplicate),
        Duplicates::First => Ok(bits[0]),
        Duplicates::Last => Ok(bits[bits.len() - 1]),
        Duplicates::Sum => sum(element_type, bits),
        _ => extreme(element_type, duplicates == Duplicates::Max, bits),
    }
}

fn sum(element_type: ElementType, bits: &[u128]) -> Result<u128, Refusal> {
    if let Some(is_signed) = integer(element_type) {
        let width = element_type.bits();
        let sum: i128 = bits.iter().map(|&bits| to_integer(bits, width, is_signed)).sum();
        let unused = 128 - width;
        let wrapped = sum.cast_unsigned() << unused >> unused;
        return match to_integer(wrapped, width, is_signed) == sum {
            true => Ok(wrapped),
            false => Err(Refusal::Overflow),
        };
    }
    let low = |bits: &u128| *bits as u64;
    let high = |bits: &u128| (bits >> 64) as u64;
    Ok(match element_type {
        ElementType::Float16 => {
            let sum = add32(bits.iter().map(|&bits| f16::from_bits(bits as u16).to_f32()));
            f16::from_f32(sum).to_bits().into()
        }
        ElementType::BFloat16 => {
            let sum = add32(bits.iter().map(|&bits| bf16::from_bits(bits as u16).to_f32()));
            bf16::from_f32(sum).to_bits().into()
        }
        ElementType::Float32 => {
            add32(bits.iter().map(|&b| f32::from_bits(b as u32))).to_bits().into()
        }
        ElementType::Float64 => add64(bits.iter().map(low)).into(),
        ElementType::Complex64 => {
            let re = add32(bits.iter().map(|&b| f32::from_bits(b as u32))).to_bits();
            let im = add32(bits.iter().map(|&b| f32::from_bits((b >> 32) as u32))).to_bits();
            u128::from(im) << 32 | u128::from(re)
        }
        ElementType::Complex128 => {
            let (re, im) = (add64(bits.iter().map(low)), add64(bits.iter().map(high)));
            u128::from(im) << 64 | u128::from(re)
        }
        _ => return Err(Refusal::NoArithmetic),
    })
}

fn add32(values: impl Iterator<Item = f32>) -> f32 {
    values.reduce(|sum, value| sum + value).unwrap_or(0.0)
}

fn add64(bits: impl Iterator<Item = u64>) -> u64 {
    bits.map(f64::from_bits).reduce(|sum, value| sum + value).unwrap_or(0.0).to_bits()
}

/// The first of the largest or smallest, or the first NaN.
fn extreme(element_type: ElementType, is_max: bool, bits: &[u128]) -> Result<u128, Refusal> {
    if let Some(is_signed) = integer(element_type) {
        let key = |bits: &u128| to_integer(*bits, element_type.bits(), is_signed);
        let found = if is_max {
            bits.iter().copied().max_by_key(key)
        } else {
            bits.iter().copied().min_by_key(key)
        };
        return found.ok_or(Refusal::NoArithmetic);
    }
    let number = |bits: u128| real(element_type, bits).ok_or(Refusal::NoArithmetic);
    let mut best = bits[0];
    for &next in bits {
        let (a, b) = (number(best)?, number(next)?);
        let wins = if is_max { b.total_cmp(&a).is_gt() } else { b.total_cmp(&a).is_lt() };
        if !a.is_nan() && (b.is_nan() || wins) {
            best = next;
        }
    }
    Ok(best)
}

/// Whether an integer type that has arithmetic is signed; `None` for any other type.
fn integer(element_type: ElementType) -> Option<bool> {
    use ElementType::{Int8, Int16, Int32, Int64, Uint8, Uint16, Uint32, Uint64};
    match element_type {
        Int8 | Int16 | Int32 | Int64 => Some(true),
        Uint8 | Uint16 | Uint32 | Uint64 => Some(false),
        _ => None,
    }
}

fn to_integer(bits: u128, width: u32, is_signed: bool) -> i128 {
    let unused = 128 - width;
    match is_signed {
        true => (bits << unused).cast_signed() >> unused,
        false => bits.cast_signed(),
    }
}

/// A float that has arithmetic, exactly.
fn real(element_type: ElementType, bits: u128) -> Option<f64> {
    Some(match element_type {
        ElementType::Float16 => f16::from_bits(bits as u16).to_f64(),
        ElementType::BFloat16 => bf16::from_bits(bits as u16).to_f64(),
        ElementType::Float32 => f32::from_bits(bits as u32).into(),
        ElementType::Float64 => f64::from_bits(bits as u64),
        _ => return None,
    })
}

/// Whether a value is 0 or -0, as far as that is known.
fn is_zero(element_type: ElementType, bits: u128) -> bool {
    let width = element_type.bits();
    let sign = 1u128 << (width - 1);
    match element_type {
        ElementType::Private(_) | ElementType::Float8E8M0 => false,
        ElementType::Complex64 => bits & !(sign | 1 << 31) == 0,
        ElementType::Complex128 => bits & !(sign | 1 << 63) == 0,
        _ if element_type.to_string().contains("float") => bits & !sign == 0,
        _ => bits == 0,
    }
}

/// Whether two values are the same, where the bits of a computed NaN do not matter.
fn is_same(element_type: ElementType, one: u128, other: u128) -> bool {
    let is_nan = |part: ElementType, bits| real(part, bits).is_some_and(f64::is_nan);
    let same = |part, one, other| one == other || (is_nan(part, one) && is_nan(part, other));
    match element_type {
        ElementType::Complex64 => [0, 32].into_iter().all(|shift| {
            same(ElementType::Float32, one >> shift & 0xFFFF_FFFF, other >> shift & 0xFFFF_FFFF)
        }),
        ElementType::Complex128 => {
            let low = u128::from(u64::MAX);
            [0, 64]
                .into_iter()
                .all(|shift| same(ElementType::Float64, one >> shift & low, other >> shift & low))
        }
        _ => same(element_type, one, other),
    }
}
