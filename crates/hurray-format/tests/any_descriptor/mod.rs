//! Arbitrary valid descriptors of every layout and every scheme.

use hurray_format::descriptor::{
    MemberRole, Moments, NonFinite, Pattern, Shard, Statistics, ValueRange,
};
use hurray_format::element::{PrivateKind, PrivateType};
use hurray_format::layout::{
    BlockPagedLayout, Combine, CompositeLayout, CompositionRule, CscLayout, CsrLayout,
    HilbertLayout, MortonLayout, PageIndexType, StridedLayout, TileLevel, TileOrder, TiledLayout,
};
use hurray_format::quantization::{Mxfp, Nf4, PerBlock, PerChannel, PerTensor, ScaleType};
use hurray_format::tag::PrivateTag;
use hurray_format::{
    BufferHandle, ElementType, LayoutDescriptor, ModeOrder, Quantization, Shape, TensorDescriptor,
};
use proptest::collection::vec;
use proptest::option;
use proptest::prelude::*;
use proptest::sample::{Index, select};

fn element_type() -> impl Strategy<Value = ElementType> {
    let private =
        (0xF0..=0xFEu8, select(vec![1, 2, 4, 8, 24, 128]), any::<[bool; 4]>(), any::<u8>())
            .prop_map(|(tag, width, [is_float, is_signed, has_nan, has_inf], bits)| {
                let kind = if is_float {
                    PrivateKind::Float {
                        has_sign: is_signed,
                        exponent_bits: bits,
                        mantissa_bits: bits.wrapping_mul(3),
                        exponent_bias: u32::from(bits) << 7,
                        has_nan,
                        has_inf,
                    }
                } else {
                    PrivateKind::Integer { is_signed }
                };
                let tag = PrivateTag::new(tag).unwrap();
                ElementType::Private(PrivateType::new(tag, width, kind).unwrap())
            });
    prop_oneof![4 => select(ElementType::public().collect::<Vec<_>>()), 1 => private]
}

/// A dense tensor whose buffer has room for `elements` behind `byte_offset`, and some slack.
fn dense(
    sizes: Vec<u64>,
    element_type: ElementType,
    layout: LayoutDescriptor,
    elements: u64,
    byte_offset: u64,
) -> TensorDescriptor {
    let bytes = element_type.byte_length(elements).unwrap() + byte_offset;
    let shape = Shape::new(sizes).unwrap();
    let mut descriptor =
        TensorDescriptor::new(shape, element_type, layout, vec![BufferHandle::cpu(bytes)]);
    descriptor.byte_offset = byte_offset;
    descriptor
}

fn sizes(ranks: std::ops::RangeInclusive<usize>) -> impl Strategy<Value = Vec<u64>> {
    vec(0..6u64, ranks)
}

fn order(strides: Vec<i64>) -> impl Strategy<Value = TileOrder> {
    select(vec![TileOrder::RowMajor, TileOrder::ColumnMajor, TileOrder::Strided(strides)])
}

fn tiled() -> impl Strategy<Value = TensorDescriptor> {
    (sizes(1..=3), element_type(), 0..64u64)
        .prop_flat_map(|(sizes, element_type, offset)| {
            let level = (vec(1..4u64, sizes.len()), order(vec![-7; sizes.len()]))
                .prop_map(|(tile_shape, order)| TileLevel { tile_shape, order });
            let inner = order(vec![9; sizes.len()]);
            (Just(sizes), Just(element_type), vec(level, 1..=8), inner, Just(offset))
        })
        .prop_map(|(sizes, element_type, levels, inner, offset)| {
            let mut covered = sizes.clone();
            let mut elements = 1;
            for level in &levels {
                for (size, tile) in covered.iter_mut().zip(&level.tile_shape) {
                    elements *= size.div_ceil(*tile);
                    *size = *tile;
                }
            }
            elements *= covered.iter().product::<u64>();
            let layout = LayoutDescriptor::Tiled(TiledLayout::new(levels, inner));
            dense(sizes, element_type, layout, elements, offset)
        })
}

fn strided() -> impl Strategy<Value = TensorDescriptor> {
    vec((1..6u64, -40..40i64), 1..4).prop_flat_map(|axes| (Just(axes), element_type())).prop_map(
        |(axes, element_type)| {
            let reach = |forward: bool| -> u64 {
                axes.iter()
                    .filter(|axis| (axis.1 > 0) == forward)
                    .map(|axis| (axis.0 - 1) * axis.1.unsigned_abs())
                    .sum()
            };
            let offset = element_type.byte_length(reach(false)).unwrap();
            let (sizes, strides) = axes.iter().copied().unzip();
            let layout = LayoutDescriptor::Strided(StridedLayout::new(strides));
            dense(sizes, element_type, layout, reach(true) + 1, offset)
        },
    )
}

fn sparse() -> impl Strategy<Value = TensorDescriptor> {
    let csf = (vec(1..9u64, 3..6), element_type(), any::<u64>()).prop_map(
        |(counts, element_type, seed)| {
            let mut dimensions: Vec<u32> = (0..).take(counts.len()).collect();
            dimensions.rotate_left(usize::try_from(seed % 3).unwrap());
            let sizes = vec![seed | 1; counts.len()];
            let order = ModeOrder::new(dimensions).unwrap();
            TensorDescriptor::csf(Shape::new(sizes).unwrap(), element_type, &order, &counts)
                .unwrap()
        },
    );
    let coo = (vec(any::<u64>(), 1..6), element_type(), 0..99u64, any::<bool>()).prop_map(
        |(sizes, element_type, nnz, is_sorted)| {
            let shape = Shape::new(sizes).unwrap();
            TensorDescriptor::coo(shape, element_type, nnz, is_sorted).unwrap()
        },
    );
    let compressed = (0..9u64, 0..9u64, element_type(), 0..99u64, any::<bool>()).prop_map(
        |(rows, columns, element_type, nnz, by_row)| {
            let (layout, outer) = match by_row {
                true => (LayoutDescriptor::Csr(CsrLayout::new(nnz)), rows),
                false => (LayoutDescriptor::Csc(CscLayout::new(nnz)), columns),
            };
            let sizes = [element_type.byte_length(nnz).unwrap(), 8 * nnz, 8 * (outer + 1)];
            let shape = Shape::new([rows, columns]).unwrap();
            TensorDescriptor::new(shape, element_type, layout, sizes.map(BufferHandle::cpu).into())
        },
    );
    prop_oneof![csf, coo, compressed]
}

fn curve() -> impl Strategy<Value = TensorDescriptor> {
    let morton = vec((1..4u32, any::<Index>()), 1..4)
        .prop_flat_map(|axes| (Just(axes), element_type(), 0..64u64));
    let morton = morton.prop_map(|(axes, element_type, offset)| {
        let bits: Vec<u32> = axes.iter().map(|axis| axis.0).collect();
        let sizes = axes.iter().map(|(bits, at)| at.index((1 << bits) + 1) as u64).collect();
        let elements = 1 << bits.iter().sum::<u32>();
        let layout = LayoutDescriptor::Morton(MortonLayout::new(bits));
        dense(sizes, element_type, layout, elements, offset)
    });
    let hilbert = (1..4u32, 2..4u32, element_type(), 0..64u64).prop_map(
        |(order, rank, element_type, offset)| {
            let layout = LayoutDescriptor::Hilbert(HilbertLayout::new(order, rank));
            dense(
                vec![1 << order; rank as usize],
                element_type,
                layout,
                1 << (order * rank),
                offset,
            )
        },
    );
    prop_oneof![morton, hilbert]
}

fn paged() -> impl Strategy<Value = TensorDescriptor> {
    (any::<[u64; 3]>(), element_type(), 1..99u32, any::<(u64, u32, u32)>(), 0..=2u8, any::<bool>())
        .prop_map(|(sizes, element_type, page_size, (pages, seqs, layer), kv_role, wide)| {
            let mut layout = BlockPagedLayout::new(page_size, pages, seqs);
            layout.kv_role = kv_role;
            layout.layer_index = layer;
            layout.index_type = if wide { PageIndexType::Uint64 } else { PageIndexType::Uint32 };
            let shape = Shape::new(sizes).unwrap();
            let buffers = [640, 64, 32].map(BufferHandle::cpu).into();
            TensorDescriptor::new(
                shape,
                element_type,
                LayoutDescriptor::BlockPaged(layout),
                buffers,
            )
        })
}

fn composite() -> impl Strategy<Value = TensorDescriptor> {
    let rules = vec![
        CompositionRule::Partition,
        CompositionRule::Group,
        CompositionRule::Overlay(Combine::Replace),
        CompositionRule::Overlay(Combine::Add),
    ];
    (sizes(1..=4), element_type(), select(rules), 1..u32::MAX).prop_map(
        |(sizes, element_type, rule, members)| {
            let layout = LayoutDescriptor::Composite(CompositeLayout::new(rule, members));
            TensorDescriptor::new(Shape::new(sizes).unwrap(), element_type, layout, vec![])
        },
    )
}

fn plain() -> impl Strategy<Value = TensorDescriptor> {
    (sizes(0..=4), element_type(), 0..64u64, any::<bool>()).prop_map(
        |(sizes, element_type, offset, columns)| {
            let elements = sizes.iter().product();
            let layout = match columns && !sizes.is_empty() {
                true => LayoutDescriptor::ColumnMajor,
                false => LayoutDescriptor::RowMajor,
            };
            dense(sizes, element_type, layout, elements, offset)
        },
    )
}

/// A CSF, COO or row-major tensor with a scheme that goes with its element type.
fn quantized() -> impl Strategy<Value = TensorDescriptor> {
    use ElementType::{Float4E2M1, Float6E3M2, Float8E4M3, Int4, Int8, Uint2, Uint4, Uint16};
    let axis = 0..3u32;
    let block = select(vec![16u32, 32]);
    let scale_type = select(vec![ScaleType::Float16, ScaleType::BFloat16, ScaleType::Float32]);
    let zero_points = select(vec![None, Some(0), Some(1)]);
    let scheme = (0..5usize, axis, block, scale_type, zero_points);
    let sizes = vec(select(vec![32u64, 64, 96]), 3);
    (sizes, 0..3usize, scheme).prop_map(|(sizes, layout, (scheme, axis, block, scales, zeros))| {
        let element_type = match scheme {
            0 => [Int8, Uint2, Uint16][layout],
            1 => [Int8, Uint16, Int4][layout],
            2 => [Int8, Uint2, Uint4][layout],
            3 => Uint4,
            _ => [Float8E4M3, Float4E2M1, Float6E3M2][layout],
        };
        let shape = Shape::new(sizes).unwrap();
        let order = ModeOrder::new([2, 0, 1]).unwrap();
        let descriptor = match layout {
            0 => TensorDescriptor::csf(shape, element_type, &order, &[2, 3, 5]),
            1 => TensorDescriptor::coo(shape, element_type, 7, false),
            _ => TensorDescriptor::row_major(shape, element_type),
        };
        let descriptor = descriptor.unwrap();
        let scale_index = u32::try_from(descriptor.buffers.len()).unwrap();
        // In the buffer of the scales, or in one behind it.
        let zero_index = zeros.map(|behind| scale_index + behind);
        let quantization = match scheme {
            0 => Quantization::PerTensor(PerTensor { scale: -0.25, zero_point: 1 }),
            1 => Quantization::PerChannel(PerChannel { axis, scale_index, zero_index }),
            2 => Quantization::PerBlock(PerBlock {
                axis,
                block,
                scale_index,
                zero_index,
                scale_type: scales,
            }),
            3 => Quantization::Nf4(Nf4 { axis, block, scale_index }),
            _ => Quantization::Mxfp(Mxfp { axis, block, scale_index }),
        };
        descriptor.with_quantization(quantization).unwrap()
    })
}

fn statistics() -> impl Strategy<Value = Statistics> {
    let number = -1e9..1e9f64;
    let range =
        vec(number.clone(), 3).prop_map(|n| ValueRange { min: n[0], max: n[1], abs_max: n[2] });
    let moments = (number, 0.0..1e9f64).prop_map(|(mean, stddev)| Moments { mean, stddev });
    let pattern = any::<[u8; 2]>().prop_map(|[a, b]| Pattern { n: a.min(b), m: a.max(b) });
    let non_finite =
        any::<[bool; 2]>().prop_map(|[has_nan, has_inf]| NonFinite { has_nan, has_inf });
    (
        option::of(any::<u64>()),
        option::of(0.0..=1.0f64),
        option::of(range),
        option::of(moments),
        option::of(pattern),
        option::of(non_finite),
    )
        .prop_map(|(nnz, sparsity, range, moments, pattern, non_finite)| Statistics {
            nnz,
            sparsity,
            range,
            moments,
            pattern,
            non_finite,
        })
}

/// Any of them, with any of the other sections.
pub(crate) fn descriptor() -> impl Strategy<Value = TensorDescriptor> {
    let layout = prop_oneof![
        plain(),
        strided(),
        tiled(),
        curve(),
        sparse(),
        paged(),
        composite(),
        quantized()
    ];
    let role = select(vec![None, Some(MemberRole::Base), Some(MemberRole::Correction)]);
    (layout, option::of(statistics()), option::of(0..1000u64), role).prop_map(
        |(mut descriptor, statistics, shard, role)| {
            descriptor.statistics = statistics.map(|statistics| Statistics {
                nnz: statistics.nnz.map(|nnz| descriptor.nnz().unwrap_or(nnz)),
                ..statistics
            });
            let dimensions = descriptor.shape.dimensions();
            if descriptor.layout.can_be_sharded() && dimensions.iter().all(|&d| d < 1 << 62) {
                descriptor.shard = shard.map(|offset| Shard {
                    parent_shape: dimensions.iter().map(|d| d + 2 * offset).collect(),
                    offset: vec![offset; dimensions.len()],
                });
            }
            if !matches!(descriptor.layout, LayoutDescriptor::Composite(_)) {
                descriptor.member_role = role;
            }
            descriptor
        },
    )
}
