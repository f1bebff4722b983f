//! The rules of the tensor descriptor, one test each; what the conformance corpus has a file for is
//! tested there.

use hurray_format::descriptor::{DescriptorError, MemberRole, Shard, Statistics};
use hurray_format::layout::{
    BlockPagedLayout, BufferRole, CompositeLayout, CompositionRule, CooLayout, CscLayout,
    CsrLayout, LayoutError, MortonLayout, StridedLayout, TileLevel, TileOrder, TiledLayout,
};
use hurray_format::quantization::{PerBlock, PerTensor, QuantizationError, ScaleType};
use hurray_format::tag::TagSpace;
use hurray_format::{
    BufferHandle, Device, ElementType, FormatError, LayoutDescriptor, MemoryClass, Mode, ModeOrder,
    Quantization, Shape, TensorDescriptor,
};

fn hex(text: &str) -> Vec<u8> {
    let digits: Vec<u8> = text.bytes().filter(u8::is_ascii_hexdigit).collect();
    let pair = |pair: &[u8]| u8::from_str_radix(str::from_utf8(pair).unwrap(), 16).unwrap();
    digits.chunks(2).map(pair).collect()
}

/// The smallest example of the format: float32 [3, 4], row-major, with one buffer of 192 bytes.
fn smallest() -> (TensorDescriptor, Vec<u8>) {
    let descriptor = TensorDescriptor::new(
        Shape::new([3, 4]).unwrap(),
        ElementType::Float32,
        LayoutDescriptor::RowMajor,
        vec![BufferHandle::cpu(192)],
    );
    let bytes = hex("48525259 01 00 3D000000 00000000 03 01 02000000
         0300000000000000 0400000000000000 0000000000000000
         01 C000000000000000 40000000 00 00 00 00");
    (descriptor, bytes)
}

fn example() -> TensorDescriptor {
    let shape = Shape::new([2, 3, 4]).unwrap();
    let order = ModeOrder::identity(3).unwrap();
    TensorDescriptor::csf(shape, ElementType::Float32, &order, &[2, 3, 4]).unwrap()
}

fn dense(
    sizes: &[u64],
    layout: LayoutDescriptor,
    byte_offset: u64,
    bytes: u64,
) -> TensorDescriptor {
    let shape = Shape::new(sizes).unwrap();
    let buffers = vec![BufferHandle::cpu(bytes)];
    let mut descriptor = TensorDescriptor::new(shape, ElementType::Float32, layout, buffers);
    descriptor.byte_offset = byte_offset;
    descriptor
}

fn strict(descriptor: &TensorDescriptor) -> Result<(), FormatError> {
    descriptor.validate(Mode::Strict)
}

#[test]
fn the_smallest_example_takes_61_bytes() {
    let (descriptor, bytes) = smallest();
    assert_eq!(bytes.len(), 61);
    assert_eq!(descriptor.encode().unwrap(), bytes);
    assert_eq!(TensorDescriptor::decode(&bytes, 0, Mode::Strict).unwrap(), descriptor);
}

#[test]
fn a_later_minor_version_may_have_bytes_behind_but_no_unknown_flags() {
    let (descriptor, mut bytes) = smallest();
    bytes.extend([1, 2, 3]);
    bytes[6] += 3;
    let error = TensorDescriptor::decode(&bytes, 0, Mode::Permissive).unwrap_err();
    assert_eq!(error.error, DescriptorError::TrailingBytes { count: 3 }.into());
    assert_eq!(error.offset, 61);
    bytes[5] = 1;
    assert_eq!(TensorDescriptor::decode(&bytes, 0, Mode::Strict).unwrap(), descriptor);
    bytes[10] = 1 << 5;
    let error = TensorDescriptor::decode(&bytes, 100, Mode::Permissive).unwrap_err();
    assert_eq!(error.error, DescriptorError::Flags { found: 32 }.into());
    assert_eq!((error.field, error.offset), ("flags", 110));
    bytes[4] = 0;
    let error = TensorDescriptor::decode(&bytes, 100, Mode::Permissive).unwrap_err();
    assert_eq!(error.error, DescriptorError::Version { found: 0 }.into());
}

#[test]
fn every_scheme_has_version_1() {
    let mut descriptor = example();
    descriptor.element_type = ElementType::Int32;
    let scheme = PerTensor { scale: 0.5, zero_point: 1 };
    descriptor.quantization = Some(Quantization::PerTensor(scheme));
    let bytes = descriptor.encode().unwrap();
    // The last section: a header of 4 bytes and the fields, 12 bytes.
    let at = bytes.len() - 15;
    assert_eq!(bytes[at - 1..=at], [0x01, 1]);
    for found in [0, 2] {
        let mut bytes = bytes.clone();
        bytes[at] = found;
        let error = TensorDescriptor::decode(&bytes, 0, Mode::Permissive).unwrap_err();
        let version = QuantizationError::Version { scheme: "per_tensor", found };
        assert_eq!(error.error, version.into());
    }
}

#[test]
fn the_length_is_that_of_the_bytes_at_hand() {
    let (_, bytes) = smallest();
    let mut longer = bytes.clone();
    longer.push(0);
    let error = TensorDescriptor::decode(&longer, 0, Mode::Strict).unwrap_err();
    assert_eq!(error.error, DescriptorError::Length { found: 61, expected: 62 }.into());
}

#[test]
fn csf_constructor_computes_every_size() {
    let sizes: Vec<u64> = example().buffers.iter().map(|handle| handle.byte_size).collect();
    assert_eq!(sizes, [16, 16, 16, 24, 24, 32, 32]);
    assert_eq!(example().node_counts(), Some(vec![2, 3, 4]));
    let empty = TensorDescriptor::csf(
        Shape::new([2, 3, 4]).unwrap(),
        ElementType::Bool,
        &ModeOrder::identity(3).unwrap(),
        &[0, 0, 0],
    );
    let sizes: Vec<u64> = empty.unwrap().buffers.iter().map(|handle| handle.byte_size).collect();
    assert_eq!(sizes, [0, 16, 0, 8, 0, 8, 0]);
}

#[test]
fn the_rank_of_csf_is_3_to_64() {
    let csf = |rank: usize| {
        let shape = Shape::new(vec![2; rank])?;
        let order = ModeOrder::identity(rank)?;
        TensorDescriptor::csf(shape, ElementType::Float32, &order, &vec![1; rank])
    };
    let refused = csf(2).unwrap_err();
    assert!(matches!(refused, FormatError::RankForLayout { layout: "csf", rank: 2, .. }));
    let widest = csf(64).unwrap();
    assert_eq!(widest.buffers.len(), 129);
    let bytes = widest.encode().unwrap();
    assert_eq!(TensorDescriptor::decode(&bytes, 0, Mode::Strict).unwrap(), widest);
    assert_eq!(csf(65).unwrap_err(), FormatError::RankTooLarge { rank: 65 });
}

#[test]
fn an_empty_csf_tensor_has_one_form_which_only_strict_mode_insists_on() {
    let mut empty = example();
    let LayoutDescriptor::Csf(layout) = &mut empty.layout else { unreachable!() };
    layout.nnz = 0;
    for buffer in [0, 6] {
        empty.buffers[buffer].byte_size = 0;
    }
    empty.buffers[1].byte_size = 16;
    let error =
        LayoutError::EmptyForm { buffer: 2, role: BufferRole::Crd(0), expected: 0, found: 16 };
    assert_eq!(strict(&empty), Err(error.into()));
    assert_eq!(empty.validate(Mode::Permissive), Ok(()));
    // Whole integers and no leaves are not a matter of the mode.
    empty.buffers[6].byte_size = 8;
    assert!(empty.validate(Mode::Permissive).is_err());
    empty.buffers[6].byte_size = 0;
    empty.buffers[4].byte_size = 9;
    assert!(empty.validate(Mode::Permissive).is_err());
}

#[test]
fn csf_has_no_shard() {
    let mut sharded = example();
    sharded.shard = Some(Shard { parent_shape: vec![2, 3, 4], offset: vec![0; 3] });
    let error = DescriptorError::Section { section: "shard", layout: "csf" };
    assert_eq!(strict(&sharded), Err(error.into()));
}

#[test]
fn sizes_that_do_not_fit_into_64_bits_are_refused() {
    let huge = TensorDescriptor::coo(Shape::new([2, 2]).unwrap(), ElementType::Bool, 1 << 61, true);
    assert_eq!(huge.unwrap_err(), FormatError::SizeOverflow { what: "a buffer" });
    let mut coo =
        TensorDescriptor::coo(Shape::new([2, 2]).unwrap(), ElementType::Bool, 1, true).unwrap();
    coo.layout = LayoutDescriptor::Coo(CooLayout::new(u64::MAX, true));
    coo.buffers[0].byte_size = 1 << 61;
    let error = LayoutError::BufferOverflow { buffer: 1, role: BufferRole::Indices };
    assert_eq!(strict(&coo), Err(error.into()));
}

#[test]
fn no_size_is_computed_from_a_dynamic_dimension() {
    for layout in [
        LayoutDescriptor::RowMajor,
        LayoutDescriptor::ColumnMajor,
        LayoutDescriptor::Strided(StridedLayout::new(vec![i64::MIN, 1])),
        LayoutDescriptor::Morton(MortonLayout::new(vec![2, 40])),
    ] {
        assert_eq!(strict(&dense(&[4, Shape::DYNAMIC], layout.clone(), 0, 8)), Ok(()));
        assert!(strict(&dense(&[4, 1 << 40], layout.clone(), 0, 8)).is_err());
        // How long the buffer is, and that the tensor starts in it, is known all the same.
        assert!(strict(&dense(&[4, Shape::DYNAMIC], layout, 9, 8)).is_err());
    }
    assert!(
        TensorDescriptor::row_major(Shape::new([Shape::DYNAMIC]).unwrap(), ElementType::Float32)
            .is_err()
    );
}

#[test]
fn negative_strides_stay_behind_the_start_of_the_buffer() {
    let layout = |strides: [i64; 2]| LayoutDescriptor::Strided(StridedLayout::new(strides.into()));
    // Rows bottom up: the first element is that of the last row.
    assert_eq!(strict(&dense(&[3, 4], layout([-4, 1]), 32, 48)), Ok(()));
    assert_eq!(
        strict(&dense(&[3, 4], layout([-4, 1]), 28, 48)),
        Err(LayoutError::BeforeStart { needed: 32, byte_offset: 28 }.into())
    );
    assert_eq!(
        strict(&dense(&[3, 4], layout([-4, 1]), 32, 47)),
        Err(LayoutError::DenseSize { needed: 16, byte_offset: 32, found: 47 }.into())
    );
    // One row, seen three times.
    assert_eq!(strict(&dense(&[3, 4], layout([0, 1]), 0, 16)), Ok(()));
    assert_eq!(
        strict(&dense(&[u64::MAX - 1, 4], layout([i64::MAX, 1]), 0, 16)),
        Err(FormatError::SizeOverflow { what: "the strides" })
    );
    // Nothing is stored, so nothing is reached.
    assert_eq!(strict(&dense(&[0, 4], layout([-9, -9]), 0, 0)), Ok(()));
}

#[test]
fn tiles_are_full() {
    let level = |tile: [u64; 2]| TileLevel { tile_shape: tile.into(), order: TileOrder::RowMajor };
    let layout = |levels: Vec<TileLevel>| {
        LayoutDescriptor::Tiled(TiledLayout::new(levels, TileOrder::ColumnMajor))
    };
    // [5, 3] in 2 x 2: 3 * 2 tiles of 4 elements.
    let tiles = dense(&[5, 3], layout(vec![level([2, 2])]), 0, 96);
    assert_eq!(strict(&tiles), Ok(()));
    let short = dense(&[5, 3], layout(vec![level([2, 2])]), 0, 95);
    let error = LayoutError::DenseSize { needed: 96, byte_offset: 0, found: 95 };
    assert_eq!(strict(&short), Err(error.into()));
    // Each of 2 * 1 tiles of 4 x 4 in 3 x 3: 2 * 2 tiles of 9 elements.
    let nested = |bytes| dense(&[5, 3], layout(vec![level([4, 4]), level([3, 3])]), 0, bytes);
    assert_eq!(strict(&nested(4 * 72)), Ok(()));
    assert!(strict(&nested(4 * 72 - 1)).is_err());
    let deep = layout(vec![level([2, 2]); 9]);
    assert_eq!(strict(&dense(&[5, 3], deep, 0, 4096)), Err(LayoutError::TileDepth.into()));
}

#[test]
fn a_morton_curve_reaches_every_coordinate_and_is_stored_whole() {
    let layout = |bits: [u32; 2]| LayoutDescriptor::Morton(MortonLayout::new(bits.into()));
    assert_eq!(strict(&dense(&[4, 3], layout([2, 2]), 0, 64)), Ok(()));
    assert!(strict(&dense(&[4, 3], layout([2, 2]), 0, 63)).is_err());
    let outside = LayoutError::CurveDimension {
        field: "morton_bits",
        dimension: 0,
        size: 5,
        bits: 2,
        relation: "at most",
    };
    assert_eq!(strict(&dense(&[5, 3], layout([2, 2]), 0, 64)), Err(outside.into()));
    assert_eq!(
        strict(&dense(&[5, 3], layout([u32::MAX, 2]), 0, 64)),
        Err(FormatError::SizeOverflow { what: "the elements" })
    );
}

#[test]
fn all_buffers_are_in_one_memory() {
    let mut mixed = example();
    mixed.buffers[3].device = Device::Cuda;
    let error = DescriptorError::MixedMemory {
        buffer: 3,
        device: Device::Cuda,
        memory_class: MemoryClass::Standard,
    };
    assert_eq!(strict(&mixed), Err(error.into()));
    mixed.buffers.iter_mut().for_each(|buffer| buffer.device = Device::Cuda);
    assert_eq!(strict(&mixed), Ok(()));
    mixed.buffers[6].memory_class = MemoryClass::HostPinned;
    assert!(matches!(
        strict(&mixed),
        Err(FormatError::Descriptor(DescriptorError::MixedMemory { buffer: 6, .. }))
    ));
}

#[test]
fn a_composite_head_has_neither_buffers_nor_a_member_section() {
    let layout = LayoutDescriptor::Composite(CompositeLayout::new(CompositionRule::Partition, 2));
    assert_eq!(layout.buffer_count(), None);
    let shape = Shape::new([4, 4]).unwrap();
    let mut head = TensorDescriptor::new(shape, ElementType::Float32, layout, vec![]);
    assert_eq!(strict(&head), Ok(()));
    head.member_role = Some(MemberRole::Base);
    let error = DescriptorError::Section { section: "composite member", layout: "composite" };
    assert_eq!(strict(&head), Err(error.into()));
}

#[test]
fn statistics_are_checked_only_where_they_are_known() {
    let mut descriptor = example();
    descriptor.statistics = Some(Statistics { sparsity: Some(0.5), ..Default::default() });
    let mut bytes = descriptor.encode().unwrap();
    let section = bytes.len() - 72;
    // has_nan = 7 without its bit means nothing; with it, it is an error.
    bytes[section + 66] = 7;
    let read = TensorDescriptor::decode(&bytes, 0, Mode::Strict).unwrap();
    assert_eq!(read, descriptor);
    bytes[section] |= 1 << 5;
    let error = TensorDescriptor::decode(&bytes, 0, Mode::Strict).unwrap_err();
    assert_eq!((error.field, error.offset), ("has_nan", section as u64 + 66));
}

#[test]
fn nan_is_no_sparsity() {
    let mut descriptor = example();
    descriptor.statistics = Some(Statistics { sparsity: Some(f64::NAN), ..Default::default() });
    assert!(matches!(strict(&descriptor), Err(FormatError::Number { field: "sparsity", .. })));
}

#[test]
fn dense_tensors_store_whole_blocks() {
    let block = Quantization::PerBlock(PerBlock {
        axis: 1,
        block: 4,
        scale_index: 1,
        zero_index: None,
        scale_type: ScaleType::Float16,
    });
    let shape = Shape::new([3, 6]).unwrap();
    let tensor = |bytes| {
        let buffers = vec![BufferHandle::cpu(bytes), BufferHandle::cpu(12)];
        let layout = LayoutDescriptor::RowMajor;
        let mut tensor = TensorDescriptor::new(shape.clone(), ElementType::Int8, layout, buffers);
        tensor.quantization = Some(block.clone());
        tensor
    };
    assert_eq!(strict(&tensor(24)), Ok(()));
    let error = LayoutError::DenseSize { needed: 24, byte_offset: 0, found: 23 };
    assert_eq!(strict(&tensor(23)), Err(error.into()));
    let mut short = tensor(24);
    short.buffers[1].byte_size = 10;
    let error = QuantizationError::BufferSize { buffer: 1, count: 6, expected: 12, found: 10 };
    assert_eq!(strict(&short), Err(error.into()));
}

#[test]
fn an_unknown_layout_is_reported_with_what_lies_before_it() {
    let (descriptor, mut bytes) = smallest();
    bytes[15] = 0x0C;
    let strict = TensorDescriptor::decode(&bytes, 0, Mode::Strict).unwrap_err();
    let error = FormatError::ReservedTag { space: TagSpace::Layout, tag: 0x0C };
    assert_eq!(strict.error, error);
    let read = TensorDescriptor::decode(&bytes, 0, Mode::Permissive).unwrap();
    assert_eq!(read.shape, descriptor.shape);
    assert_eq!(read.layout, LayoutDescriptor::Unknown { tag: 0x0C });
    assert_eq!(read.layout.buffer_count(), None);
    assert!(read.buffers.is_empty());
    assert_eq!(read.encode(), Err(LayoutError::Unknown { tag: 0x0C }.into()));
}

#[test]
fn a_bad_mode_order_is_reported_but_not_written() {
    let mut bytes = example().encode().unwrap();
    // The entry of level 1 behind the header, three dimensions, byte_offset, nnz and level 0.
    bytes[20 + 24 + 8 + 8 + 4] = 0;
    let strict = TensorDescriptor::decode(&bytes, 0, Mode::Strict).unwrap_err();
    let error = FormatError::ModeOrderDuplicate { level: 1, dimension: 0 };
    assert_eq!((strict.field, strict.error), ("mode_order", error.clone()));
    let read = TensorDescriptor::decode(&bytes, 0, Mode::Permissive).unwrap();
    assert_eq!(read.buffers, example().buffers);
    assert_eq!(read.encode(), Err(error));
}

#[test]
fn block_paged_has_rank_3_pages_along_dimension_0_and_a_known_role() {
    let paged = |sizes: &[u64], change: fn(&mut BlockPagedLayout)| {
        let mut layout = BlockPagedLayout::new(16, 4, 2);
        change(&mut layout);
        let shape = Shape::new(sizes).unwrap();
        LayoutDescriptor::BlockPaged(layout).validate_against_shape(&shape)
    };
    let field = |field, found, allowed| Err(FormatError::Field { field, found, allowed });
    assert_eq!(paged(&[64, 2, 8], |_| {}), Ok(()));
    assert_eq!(
        paged(&[64, 2], |_| {}),
        Err(FormatError::RankForLayout {
            layout: "block_paged",
            rank: 2,
            advice: "it stores positions, heads and channels"
        })
    );
    let sizes = &[64, 2, 8];
    assert_eq!(paged(sizes, |layout| layout.page_size = 0), field("page_size", 0, "at least 1"));
    assert_eq!(paged(sizes, |layout| layout.paged_axis = 1), field("paged_axis", 1, "0"));
    assert_eq!(paged(sizes, |layout| layout.kv_role = 3), field("kv_role", 3, "0, 1 or 2"));
}

#[test]
fn csr_and_csc_have_a_pointer_more_than_rows_or_columns() {
    // Two rows, three columns, four elements.
    let matrix = |layout, pointers: u64| {
        let buffers = [16, 32, pointers].map(BufferHandle::cpu).to_vec();
        let shape = Shape::new([2, 3]).unwrap();
        strict(&TensorDescriptor::new(shape, ElementType::Float32, layout, buffers))
    };
    let (csr, csc) =
        (LayoutDescriptor::Csr(CsrLayout::new(4)), LayoutDescriptor::Csc(CscLayout::new(4)));
    assert_eq!((matrix(csr.clone(), 24), matrix(csc.clone(), 32)), (Ok(()), Ok(())));
    let wrong = |expected, found| {
        let role = BufferRole::Pointers;
        Err(LayoutError::BufferSize { buffer: 2, role, expected, found }.into())
    };
    assert_eq!(matrix(csr, 32), wrong(24, 32));
    assert_eq!(matrix(csc, 24), wrong(32, 24));
}
