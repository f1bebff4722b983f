//! Descriptors translated between the types of this project and those of the reference.

use hurray_core as theirs;
use hurray_core::descriptor::{StatisticsMask, composite_member};
use hurray_core::layout as their_layout;
use hurray_core::quantization as their_quantization;
use hurray_format::descriptor::{
    MemberRole, Moments, NonFinite, Pattern, Shard, Statistics, ValueRange,
};
use hurray_format::element::{PrivateKind, PrivateType};
use hurray_format::layout::{
    BlockPagedLayout, Combine, CompositeLayout, CompositionRule, CooLayout, CscLayout, CsfLayout,
    CsrLayout, HilbertLayout, MortonLayout, PageIndexType, PrivateLayout, StridedLayout, TileLevel,
    TileOrder, TiledLayout,
};
use hurray_format::quantization::{Mxfp, Nf4, PerBlock, PerChannel, PerTensor, ScaleType};
use hurray_format::tag::PrivateTag;
use hurray_format::{
    BufferHandle, Device, ElementType, LayoutDescriptor, MemoryClass, Quantization, Shape,
    SyncMode, TensorDescriptor,
};

/// What the reference has read, in the types of this project.
pub(crate) fn from_reference(descriptor: &theirs::TensorDescriptor) -> TensorDescriptor {
    let shape = Shape::new(descriptor.shape.dims()).unwrap();
    let element_type = match &descriptor.extension_type {
        None => ElementType::from_tag(descriptor.element_type.tag()).unwrap(),
        Some(section) => private_type(descriptor.element_type.tag(), section),
    };
    let layout = layout(&descriptor.layout);
    let buffers = descriptor.buffers.iter().copied().map(handle).collect();
    TensorDescriptor {
        byte_offset: descriptor.byte_offset,
        quantization: descriptor.quantization.as_deref().map(quantization),
        shard: descriptor.shard.as_ref().map(|shard| Shard {
            parent_shape: shard.parent_shape.clone(),
            offset: shard.shard_offset.clone(),
        }),
        statistics: descriptor.statistics.as_ref().map(statistics),
        member_role: descriptor.composite_member.as_ref().map(|member| match member.member_role {
            composite_member::MemberRole::Base => MemberRole::Base,
            composite_member::MemberRole::Correction => MemberRole::Correction,
            _ => panic!("the format has two roles"),
        }),
        ..TensorDescriptor::new(shape, element_type, layout, buffers)
    }
}

fn private_type(tag: u8, section: &theirs::ExtensionTypeDescriptor) -> ElementType {
    let kind = match section.is_float {
        false => PrivateKind::Integer { is_signed: section.is_signed },
        true => PrivateKind::Float {
            has_sign: section.sign_bits == 1,
            exponent_bits: section.exponent_bits,
            mantissa_bits: section.mantissa_bits,
            exponent_bias: section.exponent_bias,
            has_nan: section.has_nan,
            has_inf: section.has_inf,
        },
    };
    let tag = PrivateTag::new(tag).unwrap();
    ElementType::Private(PrivateType::new(tag, section.bit_width, kind).unwrap())
}

fn handle(handle: theirs::BufferHandle) -> BufferHandle {
    BufferHandle {
        byte_size: handle.byte_size(),
        alignment: handle.alignment(),
        device: Device::from_tag(handle.device_tag().to_byte()).unwrap(),
        sync_mode: SyncMode::from_tag(handle.sync_mode().to_byte()).unwrap(),
        memory_class: MemoryClass::from_tag(handle.memory_class().to_byte()).unwrap(),
    }
}

fn layout(layout: &theirs::LayoutDescriptor) -> LayoutDescriptor {
    use theirs::LayoutDescriptor as Theirs;
    match layout {
        Theirs::RowMajor => LayoutDescriptor::RowMajor,
        Theirs::ColMajor => LayoutDescriptor::ColumnMajor,
        Theirs::Strided(layout) => {
            LayoutDescriptor::Strided(StridedLayout::new(layout.strides.clone()))
        }
        Theirs::Tiled(layout) => LayoutDescriptor::Tiled(tiled(layout)),
        Theirs::Morton(layout) => {
            LayoutDescriptor::Morton(MortonLayout::new(layout.morton_bits.clone()))
        }
        Theirs::Coo(layout) => LayoutDescriptor::Coo(CooLayout::new(layout.nnz, layout.is_sorted)),
        Theirs::Csr(layout) => LayoutDescriptor::Csr(CsrLayout::new(layout.nnz)),
        Theirs::Csc(layout) => LayoutDescriptor::Csc(CscLayout::new(layout.nnz)),
        Theirs::Csf(layout) => {
            LayoutDescriptor::Csf(CsfLayout::new(layout.nnz, layout.mode_order.clone()))
        }
        Theirs::BlockPaged(layout) => LayoutDescriptor::BlockPaged(paged(layout)),
        Theirs::Composite(layout) => {
            use their_layout::{CombineOp, CompositionRule as Rule};
            let rule = match &layout.rule {
                Rule::Partition => CompositionRule::Partition,
                Rule::Overlay(CombineOp::Replace) => CompositionRule::Overlay(Combine::Replace),
                Rule::Overlay(CombineOp::Add) => CompositionRule::Overlay(Combine::Add),
                Rule::Group => CompositionRule::Group,
                other => panic!("the format has no rule {other:?}"),
            };
            LayoutDescriptor::Composite(CompositeLayout::new(rule, layout.member_count))
        }
        Theirs::Hilbert(layout) => {
            LayoutDescriptor::Hilbert(HilbertLayout::new(layout.hilbert_order, layout.hilbert_rank))
        }
        Theirs::PrivateExtension(layout) => LayoutDescriptor::Private(PrivateLayout::new(
            PrivateTag::new(layout.tag).unwrap(),
            layout.extension_layout_id,
            layout.extension_data.clone(),
        )),
        other => panic!("the format has no layout {other:?}"),
    }
}

fn tiled(layout: &their_layout::TiledLayout) -> TiledLayout {
    let order = |code: u8, strides: Option<&Vec<i64>>| match code {
        1 => TileOrder::RowMajor,
        2 => TileOrder::ColumnMajor,
        _ => TileOrder::Strided(strides.unwrap().clone()),
    };
    let mut levels = Vec::new();
    let mut level = layout;
    loop {
        let outer = level.outer_strides.as_ref().map(|strides| &strides.strides);
        let tile_shape = level.tile_shape.clone();
        levels.push(TileLevel { tile_shape, order: order(level.outer_layout, outer) });
        match &level.inner_tiled {
            Some(inner) => level = inner,
            None => break,
        }
    }
    let inner = level.inner_strides.as_ref().map(|strides| &strides.strides);
    TiledLayout::new(levels, order(level.inner_layout, inner))
}

fn paged(layout: &their_layout::BlockPagedLayout) -> BlockPagedLayout {
    let mut paged = BlockPagedLayout::new(layout.page_size, layout.num_pages, layout.num_seqs);
    paged.paged_axis = layout.paged_axis;
    paged.kv_role = layout.kv_role.wire_byte();
    paged.layer_index = layout.layer_index.unwrap_or(u32::MAX);
    paged.index_type = match layout.block_table_index_type.element_bytes() {
        4 => PageIndexType::Uint32,
        _ => PageIndexType::Uint64,
    };
    paged
}

/// The reference keeps the bytes, and has a decoder for them apart.
fn quantization(bytes: &[u8]) -> Quantization {
    use their_quantization::QuantizationDescriptor as Theirs;
    let (scheme, length) = Theirs::decode(bytes).expect("the reference knows the scheme");
    assert_eq!(scheme.encode_to_vec(), bytes[..length]);
    assert!(bytes[length..].iter().all(|&padding| padding == 0));
    match scheme {
        Theirs::PerTensorAffine(scheme) => Quantization::PerTensor(PerTensor {
            scale: scheme.scale(),
            zero_point: scheme.zero_point(),
        }),
        Theirs::PerChannelAffine(scheme) => Quantization::PerChannel(PerChannel {
            axis: scheme.axis(),
            scale_index: scheme.scale_buffer_index(),
            zero_index: scheme.zero_point_buffer_index(),
        }),
        Theirs::PerBlockAffine(scheme) => Quantization::PerBlock(PerBlock {
            axis: scheme.axis(),
            block: scheme.block_size(),
            scale_index: scheme.scale_buffer_index(),
            zero_index: scheme.zero_point_buffer_index(),
            scale_type: match scheme.scale_type() {
                theirs::ElementType::Float16 => ScaleType::Float16,
                theirs::ElementType::BFloat16 => ScaleType::BFloat16,
                _ => ScaleType::Float32,
            },
        }),
        Theirs::Nf4(scheme) => Quantization::Nf4(Nf4 {
            axis: scheme.axis(),
            block: scheme.block_size(),
            scale_index: scheme.scale_buffer_index(),
        }),
        Theirs::Mxfp(scheme) => Quantization::Mxfp(Mxfp {
            axis: scheme.axis(),
            block: scheme.block_size(),
            scale_index: scheme.scale_buffer_index(),
        }),
    }
}

fn statistics(statistics: &theirs::descriptor::Statistics) -> Statistics {
    let mask = statistics.computed_mask;
    Statistics {
        nnz: mask.nnz_valid().then_some(statistics.nnz),
        sparsity: mask.sparsity_valid().then_some(statistics.sparsity_ratio),
        range: mask.value_range_valid().then_some(ValueRange {
            min: statistics.value_min,
            max: statistics.value_max,
            abs_max: statistics.value_abs_max,
        }),
        moments: mask
            .value_stats_valid()
            .then_some(Moments { mean: statistics.value_mean, stddev: statistics.value_stddev }),
        pattern: mask
            .nm_sparsity_valid()
            .then_some(Pattern { n: statistics.nm_n, m: statistics.nm_m }),
        non_finite: mask
            .nan_inf_valid()
            .then_some(NonFinite { has_nan: statistics.has_nan, has_inf: statistics.has_inf }),
    }
}

/// The same descriptor put together with the constructors of the reference.
pub(crate) fn to_reference(
    descriptor: &TensorDescriptor,
) -> Result<theirs::TensorDescriptor, theirs::Error> {
    let extension = match descriptor.element_type {
        ElementType::Private(private) => Some(to_section(private)?),
        _ => None,
    };
    let shard = descriptor.shard.as_ref().map(|shard| {
        theirs::ShardDescriptor::new(shard.parent_shape.clone(), shard.offset.clone())
    });
    let quantization = descriptor.quantization.as_ref().map(to_quantization);
    let built = theirs::TensorDescriptor::new(
        1,
        0,
        theirs::ElementType::from_tag(descriptor.element_type.tag())?,
        theirs::Shape::new(descriptor.shape.dimensions())?,
        descriptor.byte_offset,
        to_layout(&descriptor.layout)?,
        descriptor.buffers.iter().map(to_handle).collect::<Result<_, _>>()?,
        quantization.transpose()?.map(|scheme| scheme.encode_to_vec()),
        shard.transpose()?,
        descriptor.statistics.as_ref().map(to_statistics),
        extension,
    )?;
    Ok(match descriptor.member_role {
        None => built,
        Some(role) => {
            let role = match role {
                MemberRole::Base => composite_member::MemberRole::Base,
                MemberRole::Correction => composite_member::MemberRole::Correction,
            };
            built.with_composite_member(theirs::CompositeMemberDescriptor::new(role))
        }
    })
}

fn to_section(private: PrivateType) -> Result<theirs::ExtensionTypeDescriptor, theirs::Error> {
    let width = private.bit_width();
    let packing = if width < 8 { 8 / width } else { 1 };
    let packing = u8::try_from(packing).unwrap();
    let section = theirs::ExtensionTypeDescriptor::new;
    match private.kind() {
        PrivateKind::Integer { is_signed } => {
            section(width, packing, false, is_signed, 0, 0, 0, 0, false, false)
        }
        PrivateKind::Float {
            has_sign,
            exponent_bits,
            mantissa_bits,
            exponent_bias,
            has_nan,
            has_inf,
        } => section(
            width,
            packing,
            true,
            false,
            has_sign.into(),
            exponent_bits,
            mantissa_bits,
            exponent_bias,
            has_nan,
            has_inf,
        ),
    }
}

fn to_handle(handle: &BufferHandle) -> Result<theirs::BufferHandle, theirs::Error> {
    theirs::BufferHandle::with_memory_class(
        handle.byte_size,
        handle.alignment,
        theirs::DeviceTag::from_byte(handle.device.tag())?,
        theirs::SyncMode::from_byte(handle.sync_mode.tag())?,
        theirs::MemoryClass::from_byte(handle.memory_class.tag())?,
    )
}

fn to_layout(layout: &LayoutDescriptor) -> Result<theirs::LayoutDescriptor, theirs::Error> {
    use theirs::LayoutDescriptor as Theirs;
    Ok(match layout {
        LayoutDescriptor::RowMajor => Theirs::RowMajor,
        LayoutDescriptor::ColumnMajor => Theirs::ColMajor,
        LayoutDescriptor::Strided(layout) => {
            Theirs::Strided(their_layout::StridedLayout::new(layout.strides.clone()))
        }
        LayoutDescriptor::Tiled(layout) => {
            Theirs::Tiled(Box::new(to_tiled(&layout.levels, &layout.inner)?))
        }
        LayoutDescriptor::Morton(layout) => {
            Theirs::Morton(their_layout::MortonLayout::new(layout.morton_bits.clone())?)
        }
        LayoutDescriptor::Coo(layout) => {
            Theirs::Coo(their_layout::CooLayout::new(layout.nnz, layout.is_sorted))
        }
        LayoutDescriptor::Csr(layout) => Theirs::Csr(their_layout::CsrLayout::new(layout.nnz)),
        LayoutDescriptor::Csc(layout) => Theirs::Csc(their_layout::CscLayout::new(layout.nnz)),
        LayoutDescriptor::Csf(layout) => {
            Theirs::Csf(their_layout::CsfLayout::new(layout.nnz, layout.mode_order.clone()))
        }
        LayoutDescriptor::BlockPaged(layout) => {
            Theirs::BlockPaged(their_layout::BlockPagedLayout::new(
                layout.page_size,
                layout.num_pages,
                layout.paged_axis,
                layout.num_seqs,
                their_layout::KvRole::from_wire(layout.kv_role).unwrap(),
                Some(layout.layer_index).filter(|&layer| layer != u32::MAX),
                match layout.index_type {
                    PageIndexType::Uint32 => their_layout::BlockTableIndexType::U32,
                    PageIndexType::Uint64 => their_layout::BlockTableIndexType::U64,
                },
            ))
        }
        LayoutDescriptor::Composite(layout) => {
            use their_layout::{CombineOp, CompositionRule as Rule};
            let rule = match layout.rule {
                CompositionRule::Partition => Rule::Partition,
                CompositionRule::Overlay(Combine::Replace) => Rule::Overlay(CombineOp::Replace),
                CompositionRule::Overlay(Combine::Add) => Rule::Overlay(CombineOp::Add),
                _ => Rule::Group,
            };
            Theirs::Composite(their_layout::CompositeLayout::new(rule, layout.member_count)?)
        }
        LayoutDescriptor::Hilbert(layout) => {
            Theirs::Hilbert(their_layout::HilbertLayout::new(layout.order, layout.curve_rank)?)
        }
        LayoutDescriptor::Private(layout) => {
            let (tag, bytes) = (layout.tag.get(), layout.bytes.clone());
            let layout = their_layout::PrivateExtensionLayout::new(tag, layout.id, bytes)?;
            Theirs::PrivateExtension(layout)
        }
        other => panic!("{other:?} cannot be written"),
    })
}

fn to_tiled(
    levels: &[TileLevel],
    inner: &TileOrder,
) -> Result<their_layout::TiledLayout, theirs::Error> {
    let code = |order: &TileOrder| match order {
        TileOrder::RowMajor => 1,
        TileOrder::ColumnMajor => 2,
        TileOrder::Strided(_) => 3,
    };
    let strides = |order: &TileOrder| match order {
        TileOrder::Strided(strides) => Some(strides.clone()),
        _ => None,
    };
    let (level, deeper) = levels.split_first().unwrap();
    let outer_strides = strides(&level.order).map(their_layout::OuterStrides::new);
    let (inner_code, inner_strides, nested) = if deeper.is_empty() {
        (code(inner), strides(inner).map(their_layout::InnerStrides::new), None)
    } else {
        (4, None, Some(Box::new(to_tiled(deeper, inner)?)))
    };
    let (tile_shape, outer) = (level.tile_shape.clone(), code(&level.order));
    their_layout::TiledLayout::new(
        tile_shape,
        outer,
        inner_code,
        outer_strides,
        inner_strides,
        nested,
    )
}

fn to_quantization(
    quantization: &Quantization,
) -> Result<their_quantization::QuantizationDescriptor, theirs::Error> {
    use their_quantization::{self as scheme, QuantizationDescriptor as Theirs};
    Ok(match *quantization {
        Quantization::PerTensor(PerTensor { scale, zero_point }) => {
            Theirs::PerTensorAffine(scheme::PerTensorAffine::new(scale, zero_point)?)
        }
        Quantization::PerChannel(PerChannel { axis, scale_index, zero_index }) => {
            use scheme::PerChannelAffine;
            Theirs::PerChannelAffine(match zero_index {
                None => PerChannelAffine::new_symmetric(axis, scale_index)?,
                Some(zeros) => PerChannelAffine::new_asymmetric(axis, scale_index, zeros)?,
            })
        }
        Quantization::PerBlock(PerBlock { axis, block, scale_index, zero_index, scale_type }) => {
            use scheme::PerBlockAffine;
            let scales = match scale_type {
                ScaleType::Float16 => theirs::ElementType::Float16,
                ScaleType::BFloat16 => theirs::ElementType::BFloat16,
                ScaleType::Float32 => theirs::ElementType::Float32,
            };
            Theirs::PerBlockAffine(match zero_index {
                None => PerBlockAffine::new_symmetric(axis, block, scale_index, scales)?,
                Some(zeros) => {
                    PerBlockAffine::new_asymmetric(axis, block, scale_index, zeros, scales)?
                }
            })
        }
        Quantization::Nf4(Nf4 { axis, block, scale_index }) => {
            Theirs::Nf4(scheme::Nf4::new(axis, block, scale_index)?)
        }
        Quantization::Mxfp(Mxfp { axis, block, scale_index }) => {
            Theirs::Mxfp(scheme::Mxfp::new(axis, block, scale_index)?)
        }
        ref other => panic!("{other:?} cannot be written"),
    })
}

fn to_statistics(statistics: &Statistics) -> theirs::descriptor::Statistics {
    let bit = |known: bool, bit: u32| if known { bit } else { 0 };
    let range = statistics.range.unwrap_or_default();
    let moments = statistics.moments.unwrap_or_default();
    let pattern = statistics.pattern.unwrap_or_default();
    let non_finite = statistics.non_finite.unwrap_or_default();
    theirs::descriptor::Statistics {
        computed_mask: StatisticsMask(
            bit(statistics.nnz.is_some(), StatisticsMask::NNZ_VALID)
                | bit(statistics.sparsity.is_some(), StatisticsMask::SPARSITY_VALID)
                | bit(statistics.range.is_some(), StatisticsMask::VALUE_RANGE_VALID)
                | bit(statistics.moments.is_some(), StatisticsMask::VALUE_STATS_VALID)
                | bit(statistics.pattern.is_some(), StatisticsMask::NM_SPARSITY_VALID)
                | bit(statistics.non_finite.is_some(), StatisticsMask::NAN_INF_VALID),
        ),
        nnz: statistics.nnz.unwrap_or_default(),
        sparsity_ratio: statistics.sparsity.unwrap_or_default(),
        value_min: range.min,
        value_max: range.max,
        value_abs_max: range.abs_max,
        value_mean: moments.mean,
        value_stddev: moments.stddev,
        nm_n: pattern.n,
        nm_m: pattern.m,
        has_nan: non_finite.has_nan,
        has_inf: non_finite.has_inf,
    }
}
