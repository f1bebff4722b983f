//! The descriptors of the conformance corpus, which a foreign encoder has written: all of the accepted
//! ones are read, those that break a rule of the descriptor are refused with that rule, and permissive
//! mode does what the corpus lists.
//!
//! The container is taken apart by hand here, as far as that is needed to find the descriptors.

mod common;

use common::{Found, listing, numbers, read};
use hurray_format::{DecodeError, LayoutDescriptor, Mode, Quantization, TensorDescriptor};

#[test]
fn every_accepted_descriptor_is_read_as_listed_and_written_back() {
    let mut count = 0;
    for file in listing("accept.json") {
        let (name, found) = read(&file);
        let found = found.unwrap();
        let tensors = file["tensors"].as_array().unwrap();
        assert_eq!(found.len(), tensors.len(), "{name}");
        for found in found {
            let listed = tensors
                .iter()
                .find(|tensor| tensor["name"].as_str().unwrap().as_bytes() == found.name)
                .unwrap();
            let descriptor = found.decode(Mode::Strict).unwrap_or_else(|e| panic!("{name}: {e}"));
            assert_eq!(found.decode(Mode::Permissive).unwrap(), descriptor, "{name}");
            if let Some(layout) = listed["layout"].as_str() {
                assert_eq!(descriptor.layout.name(), layout, "{name}");
                assert_eq!(descriptor.shape.dimensions(), numbers(&listed["shape"]), "{name}");
                assert_eq!(descriptor.nnz(), listed["nnz"].as_u64(), "{name}");
                let element_type = listed["element_type"].as_str().unwrap();
                if !element_type.starts_with("extension") {
                    assert_eq!(descriptor.element_type.to_string(), element_type, "{name}");
                }
            }
            if let LayoutDescriptor::Csf(layout) = &descriptor.layout
                && listed["mode_order"].is_array()
            {
                let order: Vec<u64> = layout.mode_order.iter().map(|&d| d.into()).collect();
                assert_eq!(order, numbers(&listed["mode_order"]), "{name}");
            }
            // Only the padding of a quantization section is not kept.
            if !name.contains("padded_quantization") {
                assert_eq!(descriptor.encode().unwrap(), found.bytes, "{name}");
            }
            count += 1;
        }
    }
    assert!(count > 40);
}

/// Files whose descriptor is refused: the field, its absolute offset, and the beginning of the error's
/// debug form, which names its variants.
#[rustfmt::skip]
const REFUSED: &[(&str, &str, u64, &str)] = &[
    ("descriptor_magic", "magic", 64, "Descriptor(Magic"),
    ("descriptor_major_2", "version_major", 68, "Descriptor(Version"),
    ("descriptor_length_short", "descriptor_length", 70, "Descriptor(TooShort"),
    ("descriptor_length_lies_low", "byte_size", 161, "Truncated"),
    ("descriptor_trailing_bytes", "descriptor", 257, "Descriptor(TrailingBytes"),
    ("flags_reserved", "flags", 74, "Descriptor(Flags"),
    ("type_tag_00", "type_tag", 78, "InvalidTag"),
    ("type_tag_ff", "type_tag", 78, "InvalidTag"),
    ("type_tag_30", "type_tag", 78, "ReservedTag"),
    ("type_tag_90", "type_tag", 78, "ReservedTag"),
    ("layout_tag_00", "layout_tag", 79, "InvalidTag"),
    ("layout_tag_ff", "layout_tag", 79, "InvalidTag"),
    ("layout_tag_41", "layout_tag", 79, "ReservedTag"),
    ("layout_tag_80", "layout_tag", 79, "ReservedTag"),
    ("rank_huge", "rank", 80, "RankTooLarge"),
    ("rank_2", "rank", 80, "RankForLayout"),
    ("rank_0", "rank", 80, "RankForLayout"),
    ("byte_offset", "byte_offset", 108, "Layout(ByteOffset"),
    ("mode_order_out_of_range", "mode_order", 124, "ModeOrderRange"),
    ("mode_order_huge", "mode_order", 124, "ModeOrderRange"),
    ("nnz_too_large", "byte_size", 145, "Layout(BufferSize"),
    ("nnz_too_small", "byte_size", 145, "Layout(BufferSize"),
    ("nnz_max", "nnz", 116, "Field"),
    ("buffer_count_0", "buffer_count", 144, "Layout(BufferCount"),
    ("buffer_count_8", "buffer_count", 144, "Layout(BufferCount"),
    ("long_values", "byte_size", 145, "Layout(BufferSize"),
    ("short_pos_0", "byte_size", 161, "Layout(BufferSize"),
    ("short_crd_0", "byte_size", 193, "Layout(PosSize"),
    ("long_crd_0", "byte_size", 193, "Layout(PosSize"),
    ("long_pos_1", "byte_size", 193, "Layout(PosSize"),
    ("short_crd_1", "byte_size", 225, "Layout(PosSize"),
    ("short_pos_2", "byte_size", 225, "Layout(PosSize"),
    ("long_pos_2", "byte_size", 225, "Layout(PosSize"),
    ("long_crd_2", "byte_size", 241, "Layout(BufferSize"),
    ("ragged_crd", "byte_size", 241, "Layout(BufferWords"),
    ("crd_size_wraps", "byte_size", 241, "Layout(BufferSize"),
    ("alignment_96", "alignment", 153, "BufferAlignment"),
    ("device_ff", "device", 157, "InvalidTag"),
    ("device_reserved", "device", 157, "ReservedTag"),
    ("sync_event_on_cpu", "sync_mode", 158, "CpuSyncMode"),
    ("sync_reserved", "sync_mode", 158, "ReservedTag"),
    ("memory_class_reserved", "memory_class", 159, "ReservedTag"),
    ("buffer_reserved", "reserved", 160, "Reserved"),
    ("statistics_nnz", "statistics_nnz", 265, "Descriptor(StatisticsNnz"),
    ("statistics_reserved_mask", "mask", 257, "Field"),
    ("statistics_has_nan_2", "has_nan", 323, "Field"),
    ("statistics_n_above_m", "n", 321, "Descriptor(Pattern"),
    ("quant_scheme_ff", "scheme", 261, "InvalidTag"),
    ("quant_scheme_60", "scheme", 261, "ReservedTag"),
    ("quant_flags", "scheme_flags", 263, "Quantization(Flags"),
    ("quant_scale_zero", "scale", 265, "Number"),
    ("quant_scale_inf", "scale", 265, "Number"),
    ("quant_zero_point_range", "zero_point", 269, "Quantization(ZeroPoint"),
    ("quant_truncated", "zero_point", 269, "Truncated"),
    ("quant_on_float", "scheme", 261, "Quantization(StorageType"),
    ("quant_buffer_index", "scale_index", 301, "Quantization(NoBuffer"),
    ("quant_buffer_is_values", "scale_index", 269, "Quantization(LayoutBuffer"),
    ("quant_buffer_size", "byte_size", 257, "Quantization(BufferSize"),
    ("quant_symmetric_index", "zero_index", 289, "Quantization(SymmetricZeroIndex"),
    ("quant_device_mixed", "device", 269, "Descriptor(MixedMemory"),
    ("quant_block_3", "block", 285, "Quantization(BlockSize"),
    ("quant_nf4_on_int8", "scheme", 277, "Quantization(StorageType"),
    ("quant_mxfp_partial", "block", 285, "Quantization(BlockAlongAxis"),
    ("empty_with_nodes", "byte_size", 177, "Layout(EmptyForm"),
    ("empty_pos_long", "byte_size", 193, "Layout(EmptyForm"),
    ("entry_descriptor_offset_72", "magic", 72, "Descriptor(Magic"),
    ("entry_descriptor_length_0", "magic", 64, "Truncated"),
    ("class_private_on_cpu", "memory_class", 159, "MemoryClassOnDevice"),
    ("class_ff", "memory_class", 159, "InvalidTag"),
    ("layout_private_unknown", "layout_tag", 79, "PrivateTag"),
    ("extension_on_public_type", "type_tag", 78, "Descriptor(Extension"),
    ("extension_width_12", "bit_width", 257, "PrivateWidth"),
    ("extension_packing", "packing", 261, "Descriptor(Packing"),
    ("extension_integer_exponent", "exponent_bits", 265, "Field"),
    ("extension_reserved", "reserved", 276, "Reserved"),
    ("statistics_has_inf_2", "has_inf", 324, "Field"),
    ("statistics_sparsity", "sparsity", 273, "Number"),
    ("quant_scheme_06", "scheme", 261, "ReservedTag"),
    ("quant_scheme_f0", "scheme", 261, "PrivateTag"),
    ("quant_on_int64", "scheme", 261, "Quantization(StorageType"),
    ("quant_block_on_int16", "scheme", 277, "Quantization(StorageType"),
    ("quant_channel_scale_type", "scale_type", 309, "Field"),
    ("quant_block_scale_type", "scale_type", 297, "Field"),
    ("quant_channel_reserved", "reserved", 312, "Reserved"),
    ("quant_block_reserved", "reserved", 298, "Reserved"),
    ("quant_block_1", "block", 285, "Quantization(BlockSize"),
    ("quant_nf4_block_4", "block", 285, "Quantization(BlockSize"),
    ("quant_mxfp_block_4096", "block", 285, "Quantization(BlockSize"),
    ("quant_zero_index_0", "zero_index", 289, "Quantization(LayoutBuffer"),
    ("quant_scale_long", "byte_size", 257, "Quantization(BufferSize"),
    ("quant_unreferenced_buffer", "byte_size", 273, "Quantization(UnusedBuffer"),
    ("coo_sorted_2", "is_sorted", 124, "Field"),
    ("coo_reserved", "reserved", 131, "Reserved"),
    ("coo_three_buffers", "buffer_count", 132, "Layout(BufferCount"),
    ("coo_nnz", "byte_size", 133, "Layout(BufferSize"),
    ("coo_statistics_nnz", "statistics_nnz", 173, "Descriptor(StatisticsNnz"),
    ("coo_rank_0", "rank", 80, "RankForLayout"),
    ("dense_offset_past_end", "byte_offset", 100, "Layout(ByteOffset"),
    ("dense_offset_short", "byte_size", 109, "Layout(DenseSize"),
    ("dense_overflow", "shape", 84, "Layout(DenseOverflow"),
    ("scalar_column_major", "rank", 80, "RankForLayout"),
    ("strided_before_start", "byte_offset", 100, "Layout(BeforeStart"),
    ("tiled_zero", "tile_shape", 108, "Field"),
    ("tiled_depth", "tile_shape", 268, "Layout(TileDepth"),
    ("morton_bits_0", "morton_bits", 108, "Field"),
    ("hilbert_shape", "order", 108, "Layout(CurveDimension"),
    ("hilbert_rank", "curve_rank", 112, "Field"),
    ("shard_wraps", "shard_offset", 141, "Descriptor(ShardBounds"),
    ("member_role_2", "role", 157, "Field"),
    ("csr_rank_3", "rank", 80, "RankForLayout"),
    ("composite_rule_0", "rule", 108, "InvalidTag"),
    ("composite_open", "member_count", 112, "Field"),
    ("composite_head_with_buffer", "buffer_count", 116, "Layout(BufferCount"),
];

/// What is wrong with these is seen by whoever holds the index entry against the file.
const ENTRIES: [&str; 6] = [
    "descriptor_unaligned",
    "entry_descriptor_offset_1099511627776",
    "entry_data_offset_1099511627776",
    "entry_data_length_1125899906842624",
    "entry_data_length_8",
    "entry_data_unaligned",
];

#[test]
fn every_refused_descriptor_is_refused_with_its_rule() {
    let mut rows = REFUSED.iter();
    for file in listing("reject.json") {
        let (name, found) = read(&file);
        let name = name.trim_start_matches("reject/").trim_end_matches(".hrry");
        let error = found.iter().flatten().find_map(|found| found.decode(Mode::Strict).err());
        let Some(DecodeError { field, offset, error }) = error else {
            let elsewhere = file["latest"] != "tensor" || ENTRIES.contains(&name);
            assert!(elsewhere, "{name} is accepted");
            continue;
        };
        let &(expected, at_field, at, variant) = rows.next().unwrap();
        assert_eq!((name, field, offset), (expected, at_field, at));
        let debug = format!("{error:?}");
        assert!(debug.starts_with(variant), "{name}: {debug}");
    }
    assert_eq!(rows.next(), None);
}

#[test]
fn permissive_mode_reports_what_it_does_not_understand_and_refuses_the_rest() {
    let mut reported = 0;
    for file in listing("reject.json") {
        let (name, found) = read(&file);
        let strict = |found: &Found| found.decode(Mode::Strict).is_err();
        for found in found.iter().flatten().filter(|found| strict(found)) {
            let permissive = found.decode(Mode::Permissive);
            assert_eq!(permissive.is_ok(), file["permissive"] == "reported", "{name}");
            let Ok(descriptor) = permissive else { continue };
            assert_eq!(descriptor.shape.dimensions(), [2, 3, 4], "{name}");
            match descriptor.layout {
                LayoutDescriptor::Unknown { tag } => {
                    assert!(name.contains(&format!("layout_tag_{tag:02x}")));
                    assert!(descriptor.buffers.is_empty());
                }
                LayoutDescriptor::Private(layout) => {
                    assert_eq!(layout.tag.get(), 0xF1);
                    assert!(!descriptor.buffers.is_empty());
                }
                _ => assert_eq!(descriptor.buffers.len(), 7, "{name}"),
            }
            if let Some(Quantization::Unknown { scheme, .. }) = descriptor.quantization {
                assert!(name.contains(&format!("quant_scheme_{scheme:02x}")));
            }
            reported += 1;
        }
    }
    assert_eq!(reported, 10);
}

#[test]
fn every_truncation_of_a_descriptor_is_refused() {
    for file in listing("accept.json") {
        let (name, found) = read(&file);
        for Found { offset, bytes, .. } in found.unwrap() {
            for length in 0..bytes.len() {
                // Whether or not the length goes along with it.
                let mut cut = bytes[..length].to_vec();
                assert!(TensorDescriptor::decode(&cut, offset, Mode::Permissive).is_err());
                if let Some(field) = cut.get_mut(6..10) {
                    field.copy_from_slice(&u32::try_from(length).unwrap().to_le_bytes());
                    let error = TensorDescriptor::decode(&cut, offset, Mode::Permissive);
                    assert!(error.is_err(), "{name} at {length}");
                }
            }
        }
    }
}
