//! Descriptors both ways: whatever one side writes the other decodes to the same contents and
//! encodes to the same bytes. Where the two differ on purpose, docs/differences.md says so.

#[path = "../../hurray-format/tests/any_descriptor/mod.rs"]
mod any_descriptor;
mod translate;

use hurray_core as theirs;
use hurray_format::{BufferHandle, Device, MemoryClass, Mode, Shape, SyncMode, TensorDescriptor};
use proptest::collection::vec;
use proptest::prelude::*;
use proptest::sample::{Index, select};
use translate::{from_reference, to_reference};

/// Any memory that a tensor can be in.
fn memory() -> impl Strategy<Value = BufferHandle> {
    let devices: Vec<Device> =
        (0..=0x08).chain([0xF0, 0xFE]).map(|tag| Device::from_tag(tag).unwrap()).collect();
    let classes: Vec<MemoryClass> =
        (0..=0x03).chain([0xF1]).map(|tag| MemoryClass::from_tag(tag).unwrap()).collect();
    let modes = vec![SyncMode::ProducerSynced, SyncMode::Event, SyncMode::ConsumerStream];
    let places: Vec<(Device, MemoryClass)> = devices
        .into_iter()
        .flat_map(|device| classes.iter().map(move |&class| (device, class)))
        .filter(|&(device, class)| class.exists_on(device))
        .collect();
    (select(places), select(modes), 6..31u32).prop_map(
        |((device, memory_class), sync_mode, alignment)| {
            let sync_mode =
                if device == Device::Cpu { SyncMode::ProducerSynced } else { sync_mode };
            let alignment = 1 << alignment;
            BufferHandle { device, memory_class, sync_mode, alignment, ..BufferHandle::cpu(0) }
        },
    )
}

/// Any descriptor, in any memory, and with a dynamic dimension where that is allowed.
fn descriptor() -> impl Strategy<Value = TensorDescriptor> {
    let dynamic = proptest::option::weighted(0.2, any::<Index>());
    (any_descriptor::descriptor(), memory(), dynamic).prop_map(
        |(mut descriptor, memory, dynamic)| {
            for buffer in &mut descriptor.buffers {
                *buffer = BufferHandle { byte_size: buffer.byte_size, ..memory };
            }
            let rank = descriptor.shape.rank();
            if let Some(dynamic) = dynamic.filter(|_| rank > 0) {
                let mut dimensions = descriptor.shape.dimensions().to_vec();
                *dynamic.get_mut(&mut dimensions) = Shape::DYNAMIC;
                let shape = Shape::new(dimensions).unwrap();
                let changed = TensorDescriptor { shape, ..descriptor.clone() };
                if changed.validate(Mode::Strict).is_ok() {
                    return changed;
                }
            }
            descriptor
        },
    )
}

proptest! {
    #[test]
    fn what_we_write_the_reference_reads_and_writes_the_same(descriptor in descriptor()) {
        let bytes = descriptor.encode().unwrap();
        let read = theirs::TensorDescriptor::decode(&bytes).unwrap();
        prop_assert_eq!(from_reference(&read), descriptor);
        prop_assert_eq!(read.encode().unwrap(), bytes);
    }

    #[test]
    fn what_the_reference_writes_we_read_and_write_the_same(descriptor in descriptor()) {
        let built = to_reference(&descriptor).unwrap();
        let bytes = built.encode().unwrap();
        let read = TensorDescriptor::decode(&bytes, 0, Mode::Strict).unwrap();
        prop_assert_eq!(&read, &from_reference(&built));
        prop_assert_eq!(read, descriptor);
        prop_assert_eq!(TensorDescriptor::encode(&from_reference(&built)).unwrap(), bytes);
    }

    #[test]
    fn of_a_damaged_descriptor_both_see_the_same_or_we_are_stricter_as_documented(
        descriptor in descriptor(),
        changes in vec((any::<Index>(), any::<u8>()), 1..3),
    ) {
        let mut bytes = descriptor.encode().unwrap();
        for (at, byte) in changes {
            *at.get_mut(&mut bytes) = byte;
        }
        let ours = TensorDescriptor::decode(&bytes, 0, Mode::Strict);
        match (ours, theirs::TensorDescriptor::decode(&bytes)) {
            // A changed byte can make a NaN, which is unlike itself.
            (Ok(ours), Ok(theirs)) => {
                prop_assert_eq!(format!("{:?}", from_reference(&theirs)), format!("{ours:?}"));
            }
            (Ok(ours), Err(error)) => prop_assert!(false, "only we accept {ours:?}: {error}"),
            (Err(error), Ok(_)) => prop_assert!(STRICTER.contains(&error.field), "{error}"),
            (Err(_), Err(_)) => {}
        }
    }
}

/// The fields about which this project is stricter, all of them named in docs/differences.md.
const STRICTER: [&str; 39] = [
    "version_major",
    "descriptor_length",
    "rank",
    "shape",
    "byte_offset",
    "nnz",
    "is_sorted",
    "order",
    "curve_rank",
    "morton_bits",
    "paged_axis",
    "buffer_count",
    "byte_size",
    "device",
    "memory_class",
    "scheme",
    "scheme_version",
    "scheme_flags",
    "scale",
    "zero_point",
    "axis",
    "block",
    "scale_index",
    "zero_index",
    "scale_type",
    "statistics_nnz",
    "sparsity",
    "stddev",
    "n",
    "has_nan",
    "has_inf",
    "bit_width",
    "is_float",
    "is_signed",
    "sign_bits",
    "exponent_bits",
    "mantissa_bits",
    "exponent_bias",
    "reserved",
];

#[test]
fn every_field_about_which_we_are_stricter_is_documented() {
    let text = include_str!("../../../docs/differences.md");
    for field in STRICTER {
        assert!(text.contains(&format!("`{field}`")), "{field}");
    }
}
