//! Dequantized values: those of the conformance corpus, exactly, and the rules of each scheme.

mod common;

use common::{corpus, listing, numbers, range, word};
use hurray_format::quantization::{
    Mxfp, NF4_LEVELS, Nf4, PerBlock, PerChannel, PerTensor, QuantizationError, ScaleType,
};
use hurray_format::{
    BufferHandle, Dequantizer, ElementType, FormatError, LayoutDescriptor, Mode, Quantization,
    Shape, TensorDescriptor, Value, Values,
};

/// The buffers of a tensor: each starts at a multiple of the alignment in the file's header.
fn buffers<'a>(file: &'a [u8], handles: &[BufferHandle], data_offset: u64) -> Vec<&'a [u8]> {
    let alignment = u64::from(u32::from_le_bytes(file[16..20].try_into().unwrap()));
    let mut at = data_offset;
    let mut buffers = Vec::new();
    for handle in handles {
        buffers.push(range(file, at, handle.byte_size).unwrap());
        at = (at + handle.byte_size).next_multiple_of(alignment);
    }
    buffers
}

/// The logical indices of a small CSF tensor, by leaf position: level by level, every node gets the
/// index of its parent with its own coordinate filled in.
fn csf_indices(mode_order: &[u32], buffers: &[&[u8]]) -> Vec<Vec<u64>> {
    let words = |buffer: usize| -> Vec<u64> {
        (0..buffers[buffer].len()).step_by(8).map(|at| word(buffers[buffer], at).unwrap()).collect()
    };
    let mut nodes = vec![vec![0; mode_order.len()]];
    for (level, &dimension) in mode_order.iter().enumerate() {
        let (pos, crd) = (words(2 * level + 1), words(2 * level + 2));
        let mut children = Vec::new();
        for (parent, ends) in nodes.iter().zip(pos.windows(2)) {
            for child in ends[0]..ends[1] {
                let mut index = parent.clone();
                index[dimension as usize] = crd[usize::try_from(child).unwrap()];
                children.push(index);
            }
        }
        nodes = children;
    }
    nodes
}

struct Tensor<'a> {
    descriptor: TensorDescriptor,
    buffers: Vec<&'a [u8]>,
}

impl<'a> Tensor<'a> {
    fn read(file: &'a [u8], found: &common::Found) -> Self {
        let descriptor = found.decode(Mode::Strict).unwrap();
        let buffers = buffers(file, &descriptor.buffers, found.data_offset);
        Self { descriptor, buffers }
    }

    fn dequantizer(&self) -> Dequantizer<&'a [u8]> {
        let TensorDescriptor { shape, element_type, quantization, .. } = &self.descriptor;
        let scheme = quantization.as_ref().unwrap();
        Dequantizer::new(scheme, shape, *element_type, |i| self.buffers.get(i).copied()).unwrap()
    }
}

#[test]
fn the_corpus_dequantizes_exactly() {
    let mut checked = 0;
    for file in listing("accept.json") {
        let listed = &file["tensors"][0];
        if !listed["dequantized"].is_array() {
            continue;
        }
        let name = file["file"].as_str().unwrap();
        let bytes = std::fs::read(corpus().join(name)).unwrap();
        let (_, found) = common::read(&file);
        let tensor = Tensor::read(&bytes, &found.unwrap()[0]);
        let dequantizer = tensor.dequantizer();
        dequantizer.check().unwrap();
        let LayoutDescriptor::Csf(layout) = &tensor.descriptor.layout else { unreachable!() };
        let mut numbers_found: Vec<(Vec<u64>, f32)> = Vec::new();
        let indices = csf_indices(&layout.mode_order, &tensor.buffers);
        let values =
            Values::new(tensor.descriptor.element_type, indices.len(), tensor.buffers[0]).unwrap();
        for (index, value) in indices.into_iter().zip(values.iter()) {
            let number = dequantizer.dequantize(&value, &index).unwrap();
            let parameter = dequantizer.parameter(&index).unwrap();
            assert_eq!(dequantizer.dequantize_with(&value, parameter), Ok(number));
            numbers_found.push((index, number));
        }
        numbers_found.sort_by(|a, b| a.0.cmp(&b.0));
        let expected: Vec<(Vec<u64>, f32)> = listed["coordinates"]
            .as_array()
            .unwrap()
            .iter()
            .zip(listed["dequantized"].as_array().unwrap())
            .map(|(index, number)| (numbers(index), number.to_string().parse().unwrap()))
            .collect();
        assert_eq!(numbers_found, expected, "{name}");
        checked += 1;
    }
    assert_eq!(checked, 7);
}

#[test]
fn bad_parameters_of_the_corpus_are_found() {
    let expected = [
        ("quant_scales_zero", "scale 1 in buffer 7 is 0; it must be finite and not 0"),
        ("quant_scales_nan", "scale 7 in buffer 7 is NaN; it must be finite and not 0"),
        ("quant_nf4_scale_negative", "scale 0 in buffer 7 is -1; it must be finite and at least 0"),
        ("quant_mxfp_scale_ff", "scale 11 in buffer 7 is 0xff, which float8_e8m0 does not have"),
    ];
    for (name, text) in expected {
        let listing = listing("reject.json");
        let file = listing.iter().find(|f| f["file"] == format!("reject/{name}.hrry")).unwrap();
        let bytes = std::fs::read(corpus().join(file["file"].as_str().unwrap())).unwrap();
        let (_, found) = common::read(file);
        let tensor = Tensor::read(&bytes, &found.unwrap()[0]);
        assert_eq!(tensor.dequantizer().check().unwrap_err().to_string(), text);
    }
}

fn shape() -> Shape {
    Shape::new([2, 4]).unwrap()
}

fn floats(numbers: &[f32]) -> Vec<u8> {
    numbers.iter().flat_map(|number| number.to_le_bytes()).collect()
}

fn ints(numbers: &[i32]) -> Vec<u8> {
    numbers.iter().flat_map(|number| number.to_le_bytes()).collect()
}

#[test]
fn the_difference_is_taken_before_it_is_rounded() {
    let scheme = |zero_point| Quantization::PerTensor(PerTensor { scale: 2.0, zero_point });
    let none = |_| None::<Vec<u8>>;
    let signed = Dequantizer::new(&scheme(i32::MIN), &shape(), ElementType::Int32, none).unwrap();
    // 2^31 - 1 + 2^31 does not fit into 32 bits; it rounds to 2^32.
    let value = Value::Int(i32::MAX.into());
    assert_eq!(signed.dequantize(&value, &[0, 0]), Ok(8_589_934_592.0));
    assert_eq!(signed.dequantize(&Value::Int(i32::MIN.into()), &[0, 0]), Ok(0.0));
    // 2^24 + 2 - 1 is not an f32, whereas 2^24 + 2 and 1 are.
    let unsigned = Dequantizer::new(&scheme(1), &shape(), ElementType::Uint32, none).unwrap();
    assert_eq!(unsigned.dequantize(&Value::Uint((1 << 24) + 2), &[0, 0]), Ok(33_554_432.0));
    assert_eq!(unsigned.dequantize(&Value::Uint(u32::MAX.into()), &[0, 0]), Ok(8_589_934_592.0));
}

#[test]
fn channels_have_parameters_of_their_own() {
    let scheme =
        Quantization::PerChannel(PerChannel { axis: 1, scale_index: 1, zero_index: Some(2) });
    let table = [vec![], floats(&[1.0, 0.5, -2.0, f32::NAN]), ints(&[0, 1, -128, 128])];
    let dequantizer =
        Dequantizer::new(&scheme, &shape(), ElementType::Int8, |i| table.get(i)).unwrap();
    let at = |q, index: [u64; 2]| dequantizer.dequantize(&Value::Int(q), &index);
    assert_eq!(at(3, [1, 0]), Ok(3.0));
    assert_eq!(at(3, [1, 1]), Ok(1.0));
    assert_eq!(at(127, [0, 2]), Ok(-510.0));
    // The zero point of channel 3 is looked up first.
    let zero_point = QuantizationError::BufferZeroPoint {
        buffer: 2,
        position: 3,
        found: 128,
        element_type: ElementType::Int8,
    };
    assert_eq!(at(0, [0, 3]), Err(zero_point.into()));
    assert!(matches!(
        dequantizer.check(),
        Err(FormatError::Quantization(QuantizationError::BufferScale {
            buffer: 1,
            position: 3,
            ..
        }))
    ));
    let outside = QuantizationError::Index { index: vec![0, 4], shape: "[2, 4]".to_owned() };
    assert_eq!(at(0, [0, 4]), Err(outside.into()));
    let no_such = QuantizationError::Parameter { parameter: 4, count: 4 };
    assert_eq!(dequantizer.dequantize_with(&Value::Int(0), 4), Err(no_such.into()));
}

#[test]
fn small_scales_are_widened_and_zero_points_of_blocks_have_no_range() {
    let scheme = |scale_type| {
        Quantization::PerBlock(PerBlock {
            axis: 1,
            block: 2,
            scale_index: 1,
            zero_index: Some(1),
            scale_type,
        })
    };
    // Four blocks: 0.333251953125 and 1.5 as float16, 2^-14 and the smallest subnormal.
    let scales: Vec<u8> =
        [0x3555u16, 0x3E00, 0x0400, 0x0001].iter().flat_map(|bits| bits.to_le_bytes()).collect();
    let shared = [scales, ints(&[0, 1000, 0, -1])].concat();
    let table = [vec![], shared];
    let dequantizer =
        Dequantizer::new(&scheme(ScaleType::Float16), &shape(), ElementType::Int8, |i| {
            table.get(i)
        })
        .unwrap();
    dequantizer.check().unwrap();
    let at = |q, index: [u64; 2]| dequantizer.dequantize(&Value::Int(q), &index).unwrap();
    assert_eq!(at(1, [0, 1]), 0.333_251_95);
    assert_eq!(at(0, [0, 2]), -1500.0);
    assert_eq!(at(1, [1, 0]), 2f32.powi(-14));
    assert_eq!(at(1, [1, 3]), 2f32.powi(-23));
    // As bfloat16 the first scale is another number.
    let dequantizer =
        Dequantizer::new(&scheme(ScaleType::BFloat16), &shape(), ElementType::Int8, |i| {
            table.get(i)
        })
        .unwrap();
    assert_eq!(dequantizer.dequantize(&Value::Int(1), &[0, 1]), Ok(f32::from_bits(0x3555_0000)));
    // Scales of 4 bytes do not fit.
    let error = Dequantizer::new(&scheme(ScaleType::Float32), &shape(), ElementType::Int8, |i| {
        table.get(i)
    });
    let size = QuantizationError::BufferSize { buffer: 1, count: 4, expected: 32, found: 24 };
    assert_eq!(error.unwrap_err(), size.into());
}

#[test]
fn nf4_codes_are_levels() {
    let shape = Shape::new([16]).unwrap();
    let scheme = Quantization::Nf4(Nf4 { axis: 0, block: 8, scale_index: 1 });
    let table = [vec![], floats(&[2.0, 0.0])];
    let dequantizer =
        Dequantizer::new(&scheme, &shape, ElementType::Uint4, |i| table.get(i)).unwrap();
    dequantizer.check().unwrap();
    for (code, level) in (0u64..).zip(NF4_LEVELS) {
        assert_eq!(dequantizer.dequantize(&Value::Uint(code), &[7]), Ok(2.0 * level));
    }
    assert_eq!(dequantizer.dequantize(&Value::Uint(15), &[8]), Ok(0.0));
    let value =
        QuantizationError::Value { value: "16".to_owned(), element_type: ElementType::Uint4 };
    assert_eq!(dequantizer.dequantize(&Value::Uint(16), &[0]), Err(value.into()));
    assert_eq!((NF4_LEVELS[0], NF4_LEVELS[7], NF4_LEVELS[15]), (-1.0, 0.0, 1.0));
    assert!(NF4_LEVELS.is_sorted());
}

#[test]
fn mxfp_multiplies_with_powers_of_two() {
    let shape = Shape::new([32]).unwrap();
    let scheme = Quantization::Mxfp(Mxfp { axis: 0, block: 16, scale_index: 1 });
    let table = [vec![], vec![0x01, 0xFE]];
    let dequantizer =
        Dequantizer::new(&scheme, &shape, ElementType::Float4E2M1, |i| table.get(i)).unwrap();
    let at = |q, index| dequantizer.dequantize(&Value::Float32(q), &[index]).unwrap();
    assert_eq!(at(-0.5, 15), -(2f32.powi(-127)));
    assert_eq!(at(1.5, 16), 1.5 * 2f32.powi(127));
    assert_eq!(at(6.0, 31), f32::INFINITY);
    let bad = [vec![], vec![0x00, 0x7F]];
    let dequantizer = Dequantizer::new(&scheme, &shape, ElementType::Int8, |i| bad.get(i)).unwrap();
    assert_eq!(dequantizer.dequantize(&Value::Int(-3), &[16]), Ok(-3.0));
    let exponent = QuantizationError::BufferExponent { buffer: 1, position: 0, found: 0 };
    assert_eq!(dequantizer.dequantize(&Value::Int(-3), &[0]), Err(exponent.clone().into()));
    assert_eq!(dequantizer.check(), Err(exponent.into()));
}

#[test]
fn schemes_that_do_not_go_with_the_tensor_are_refused() {
    let none = |_| None::<&[u8]>;
    let make = |scheme: &Quantization, shape: &Shape, element_type| {
        Dequantizer::new(scheme, shape, element_type, none).unwrap_err()
    };
    let channel =
        |axis| Quantization::PerChannel(PerChannel { axis, scale_index: 1, zero_index: None });
    assert_eq!(
        make(&channel(2), &shape(), ElementType::Int8),
        QuantizationError::Axis { axis: 2, rank: 2 }.into()
    );
    let dynamic = Shape::new([Shape::DYNAMIC, 4]).unwrap();
    assert_eq!(
        make(&channel(0), &dynamic, ElementType::Int8),
        QuantizationError::DynamicAxis { axis: 0 }.into()
    );
    let nf4 = Quantization::Nf4(Nf4 { axis: 1, block: 8, scale_index: 1 });
    let wide = Shape::new([Shape::DYNAMIC, 16]).unwrap();
    assert_eq!(make(&nf4, &wide, ElementType::Uint4), QuantizationError::DynamicShape.into());
    assert!(matches!(
        make(&nf4, &shape(), ElementType::Uint4),
        FormatError::Quantization(QuantizationError::BlockAlongAxis { block: 8, size: 4, .. })
    ));
    let unknown = Quantization::Unknown { scheme: 0x60, bytes: vec![] };
    assert_eq!(
        make(&unknown, &shape(), ElementType::Int8),
        QuantizationError::UnknownScheme { scheme: 0x60 }.into()
    );
    assert!(matches!(
        make(&channel(1), &shape(), ElementType::Int8),
        FormatError::Quantization(QuantizationError::NoBuffer { index: 1, .. })
    ));
}
