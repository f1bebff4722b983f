//! Stored values as the numbers they stand for, at lookups and along walks (docs/format.md,
//! "Quantization").

use hurray_csf::{Coo, NumberError, Numbers};
use hurray_format::quantization::{
    Mxfp, NF4_LEVELS, Nf4, PerBlock, PerChannel, PerTensor, ScaleType,
};
use hurray_format::{
    AlignedBytes, Dequantizer, ElementType, ModeOrder, Quantization, Shape, Values,
};

const ORDERS: [[u32; 3]; 6] = [[0, 1, 2], [0, 2, 1], [1, 0, 2], [1, 2, 0], [2, 0, 1], [2, 1, 0]];

const WORKED_EXAMPLE: [[u64; 3]; 4] = [[0, 0, 1], [0, 2, 3], [1, 1, 0], [1, 1, 2]];

/// A list of stored values, the scheme and its buffers by index, and the numbers.
struct Case {
    shape: [u64; 3],
    coordinates: Vec<[u64; 3]>,
    values: Values,
    scheme: Option<Quantization>,
    buffers: Vec<(usize, Vec<u8>)>,
    numbers: Vec<f32>,
}

fn bytes<T: Copy, const N: usize>(entries: &[T], to_bytes: fn(T) -> [u8; N]) -> Vec<u8> {
    entries.iter().flat_map(|&entry| to_bytes(entry)).collect()
}

fn values(element_type: ElementType, stored: &[u8]) -> Values {
    if element_type.is_packed() {
        return Values::pack(element_type, stored).unwrap();
    }
    let count = stored.len() * 8 / element_type.bits() as usize;
    Values::new(element_type, count, AlignedBytes::from(stored)).unwrap()
}

impl Case {
    /// Every element of the shape comes out as it should, from the list and from a tree in any mode
    /// order, looked up and walked over.
    fn check(&self) {
        let shape = Shape::new(self.shape).unwrap();
        let dequantizer = self.scheme.as_ref().map(|scheme| {
            let buffer = |index| {
                let found = self.buffers.iter().find(|buffer| buffer.0 == index);
                found.map(|(_, bytes)| &bytes[..])
            };
            Dequantizer::new(scheme, &shape, self.values.element_type(), buffer).unwrap()
        });
        let expected = |index: &[u64]| {
            let stored = self.coordinates.iter().position(|coordinates| coordinates == index);
            stored.map_or(0.0, |position| f64::from(self.numbers[position])).to_bits()
        };
        let mut indices = Vec::new();
        for i in 0..self.shape[0] {
            for j in 0..self.shape[1] {
                indices.extend((0..self.shape[2]).map(|k| [i, j, k]));
            }
        }

        let coordinates = self.coordinates.concat();
        let coo = Coo::new(shape, false, coordinates, self.values.as_view()).unwrap();
        let numbers = Numbers::new(self.values.as_view(), dequantizer.clone()).unwrap();
        for index in &indices {
            let number = numbers.at(index, coo.lookup(index).unwrap()).unwrap();
            assert_eq!(number.to_bits(), expected(index), "{index:?} of the list");
        }
        for order in ORDERS {
            let tensor = coo.to_csf(ModeOrder::new(order).unwrap()).unwrap();
            let (tree, values) = (tensor.tree(), tensor.values().as_view());
            let numbers = Numbers::new(values, dequantizer.clone()).unwrap();
            for index in &indices {
                let number = numbers.at(index, tree.lookup(index).unwrap()).unwrap();
                assert_eq!(number.to_bits(), expected(index), "{index:?} in order {order:?}");
            }
            let mut count = 0;
            tree.leaves().for_each(|index, leaf| {
                count += 1;
                let number = numbers.get(index, leaf).unwrap();
                assert_eq!(number.to_bits(), expected(index), "leaf {leaf} in order {order:?}");
            });
            assert_eq!(count, self.coordinates.len());
        }
    }
}

fn int8_example(scheme: Quantization, buffers: Vec<(usize, Vec<u8>)>, numbers: [f32; 4]) -> Case {
    Case {
        shape: [2, 3, 4],
        coordinates: WORKED_EXAMPLE.to_vec(),
        values: values(ElementType::Int8, &bytes(&[-128, 127, 0, -3], i8::to_le_bytes)),
        scheme: Some(scheme),
        buffers,
        numbers: numbers.to_vec(),
    }
}

#[test]
fn per_tensor_values_have_one_scale_and_zero_point() {
    let scheme = Quantization::PerTensor(PerTensor { scale: 0.5, zero_point: -3 });
    int8_example(scheme, vec![], [-62.5, 65.0, 1.5, 0.0]).check();
}

#[test]
fn per_channel_values_have_parameters_by_their_logical_coordinate() {
    let scales = bytes(&[1.0, 0.5, 2.0, 4.0], f32::to_le_bytes);
    let scheme = PerChannel { axis: 2, scale_index: 7, zero_index: None };
    let scheme = Quantization::PerChannel(scheme);
    int8_example(scheme, vec![(7, scales)], [-64.0, 508.0, 0.0, -6.0]).check();
}

#[test]
fn scales_and_zero_points_may_share_a_buffer() {
    let mut both = bytes(&[1.0, 2.0, 0.5, 4.0], f32::to_le_bytes);
    both.extend(bytes(&[1, -1, -1, -1], i32::to_le_bytes));
    let scheme = PerChannel { axis: 2, scale_index: 7, zero_index: Some(7) };
    let scheme = Quantization::PerChannel(scheme);
    int8_example(scheme, vec![(7, both)], [-254.0, 512.0, -1.0, -1.0]).check();
}

#[test]
fn per_block_values_have_parameters_by_the_block_of_their_logical_index() {
    // Two blocks along dimension 2 for each (i, j); block b has scale b + 1.
    let numbers: Vec<u16> = (1..=12).collect();
    let blocks = |to_bytes: fn(u16) -> Vec<u8>| numbers.iter().flat_map(|&b| to_bytes(b)).collect();
    let scales: [(ScaleType, Vec<u8>); 3] = [
        (ScaleType::Float32, blocks(|b| f32::from(b).to_le_bytes().to_vec())),
        (ScaleType::BFloat16, blocks(|b| f32::from(b).to_le_bytes()[2..].to_vec())),
        // The bits of a float16 of at most ten bits, by hand.
        (
            ScaleType::Float16,
            blocks(|b| {
                let exponent = u16::try_from(b.ilog2()).unwrap();
                let bits = (exponent + 15) << 10 | (b << (10 - exponent)) & 0x3FF;
                bits.to_le_bytes().to_vec()
            }),
        ),
    ];
    for (scale_type, scales) in scales {
        let scheme = PerBlock { axis: 2, block: 2, scale_index: 7, zero_index: None, scale_type };
        let scheme = Quantization::PerBlock(scheme);
        int8_example(scheme, vec![(7, scales)], [-128.0, 762.0, 0.0, -30.0]).check();
    }
    // Along dimension 1 the second of two blocks is partial: b = (4 i + k) * 2 + j / 2. Block b has
    // scale 2^b and zero point b, so that 0 does not stand for 0.
    let scales: Vec<u8> = bytes(&(0..16).collect::<Vec<i32>>(), |b| 2f32.powi(b).to_le_bytes());
    let zeros = bytes(&(0..16).collect::<Vec<i32>>(), i32::to_le_bytes);
    let scale_type = ScaleType::Float32;
    let scheme = PerBlock { axis: 1, block: 2, scale_index: 8, zero_index: Some(7), scale_type };
    let numbers = [
        4.0 * (-128.0 - 2.0),   // (0, 0, 1): b = 2
        128.0 * (127.0 - 7.0),  // (0, 2, 3): b = 7
        256.0 * (0.0 - 8.0),    // (1, 1, 0): b = 8
        4096.0 * (-3.0 - 12.0), // (1, 1, 2): b = 12
    ];
    let buffers = vec![(7, zeros), (8, scales)];
    int8_example(Quantization::PerBlock(scheme), buffers, numbers).check();
}

#[test]
fn nf4_values_are_levels_with_a_scale_per_block() {
    // Two blocks of 8 along dimension 0 for each (j, k): b = (3 j + k) * 2 + i / 8.
    let scales: Vec<u8> =
        bytes(&(0..12u8).collect::<Vec<_>>(), |b| (f32::from(b) * 0.75).to_le_bytes());
    Case {
        shape: [11, 2, 3],
        coordinates: vec![[0, 0, 0], [7, 1, 2], [8, 1, 2], [10, 0, 1]],
        values: values(ElementType::Uint4, &[15, 1, 7, 14]),
        scheme: Some(Quantization::Nf4(Nf4 { axis: 0, block: 8, scale_index: 7 })),
        buffers: vec![(7, scales)],
        numbers: vec![0.0, 7.5 * NF4_LEVELS[1], 0.0, 2.25 * NF4_LEVELS[14]],
    }
    .check();
}

#[test]
fn mxfp_values_have_a_power_of_two_per_block() {
    // Two blocks of 16 along dimension 2 for each (i, j): b = (3 i + j) * 2 + k / 16.
    let powers = |exponents: [(usize, i16); 4]| {
        let mut bytes = vec![1; 12];
        for (block, exponent) in exponents {
            bytes[block] = u8::try_from(exponent + 127).unwrap();
        }
        vec![(7, bytes)]
    };
    let coordinates = vec![[0, 0, 1], [0, 2, 17], [1, 1, 31], [1, 2, 3]];
    let scheme = || Some(Quantization::Mxfp(Mxfp { axis: 2, block: 16, scale_index: 7 }));
    Case {
        shape: [2, 3, 32],
        coordinates: coordinates.clone(),
        // 1, -1, 2 and 448.
        values: values(ElementType::Float8E4M3, &[56, 184, 64, 126]),
        scheme: scheme(),
        buffers: powers([(0, -2), (5, -2), (9, 2), (10, -2)]),
        numbers: vec![0.25, -0.25, 8.0, 112.0],
    }
    .check();
    Case {
        shape: [2, 3, 32],
        coordinates,
        values: values(ElementType::Int4, &[8, 7, 15, 1]),
        scheme: scheme(),
        buffers: powers([(0, -5), (5, 0), (9, 4), (10, 5)]),
        numbers: vec![-0.25, 7.0, -16.0, 32.0],
    }
    .check();
}

#[test]
fn plain_values_are_their_numbers() {
    let stored: [(ElementType, Vec<u8>, [f32; 4]); 5] = [
        (
            ElementType::Float64,
            bytes(&[1.5, -0.0, f64::INFINITY, 4.0], f64::to_le_bytes),
            [1.5, -0.0, f32::INFINITY, 4.0],
        ),
        (ElementType::Bool, vec![1, 0, 0, 1], [1.0, 0.0, 0.0, 1.0]),
        (ElementType::Int2, vec![2, 3, 0, 1], [-2.0, -1.0, 0.0, 1.0]),
        (ElementType::Float6E3M2, vec![0x1F, 0x3F, 0, 0x0C], [28.0, -28.0, 0.0, 1.0]),
        (
            ElementType::Float128,
            bytes(&[0x3FFFu128 << 112, 0xC000 << 112, 0, 0x7FFF << 112], u128::to_le_bytes),
            [1.0, -2.0, 0.0, f32::INFINITY],
        ),
    ];
    for (element_type, stored, numbers) in stored {
        Case {
            shape: [2, 3, 4],
            coordinates: WORKED_EXAMPLE.to_vec(),
            values: values(element_type, &stored),
            scheme: None,
            buffers: vec![],
            numbers: numbers.to_vec(),
        }
        .check();
    }
}

#[test]
fn what_has_no_number_is_an_error_with_the_type() {
    let complex = Values::new(ElementType::Complex64, 1, &[0u8; 8][..]).unwrap();
    let error = Numbers::new(complex, None).unwrap_err();
    assert_eq!(error, NumberError::NotReal { element_type: ElementType::Complex64 });
    assert!(error.to_string().contains("complex64"), "{error}");

    let powers = Values::new(ElementType::Float8E8M0, 3, &[128u8, 0xFF, 0][..]).unwrap();
    let numbers = Numbers::new(powers, None).unwrap();
    assert_eq!(numbers.get(&[0, 0, 0], 0), Ok(2.0));
    let error = numbers.get(&[0, 0, 1], 1).unwrap_err();
    assert_eq!(error.to_string(), "the value at position 1 is 0xff, which is no float8_e8m0");
    let behind = NumberError::Position { position: 3, len: 3 };
    assert_eq!(numbers.get(&[0, 0, 2], 3), Err(behind));
}

#[test]
fn a_parameter_that_is_not_allowed_is_an_error_and_no_number() {
    let shape = Shape::new([2, 3, 4]).unwrap();
    let scales = bytes(&[1.0, f32::NAN, 2.0, 4.0], f32::to_le_bytes);
    let scheme = PerChannel { axis: 2, scale_index: 7, zero_index: None };
    let scheme = Quantization::PerChannel(scheme);
    let dequantizer =
        Dequantizer::new(&scheme, &shape, ElementType::Int8, |_| Some(&scales[..])).unwrap();
    let numbers = Numbers::new(Values::from_slice(&[1i8, 2]), Some(dequantizer)).unwrap();
    assert_eq!(numbers.get(&[1, 2, 3], 1), Ok(8.0));
    assert!(matches!(numbers.get(&[1, 2, 1], 1), Err(NumberError::Quantization(_))));
    assert!(matches!(numbers.get(&[1, 2, 4], 1), Err(NumberError::Quantization(_))));
}
