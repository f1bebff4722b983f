//! Arbitrary valid descriptors of every layout and every scheme: what is written is read back, is
//! written again as the same bytes, and cannot be cut anywhere.

mod any_descriptor;

use any_descriptor::descriptor;
use hurray_format::layout::PrivateLayout;
use hurray_format::tag::PrivateTag;
use hurray_format::{BufferHandle, ElementType, LayoutDescriptor, Mode, Shape, TensorDescriptor};
use proptest::collection::vec;
use proptest::prelude::*;
use proptest::sample::Index;

proptest! {
    #[test]
    fn what_is_written_is_read_back_and_written_the_same(descriptor in descriptor()) {
        let bytes = descriptor.encode().unwrap();
        for mode in [Mode::Strict, Mode::Permissive] {
            let read = TensorDescriptor::decode(&bytes, 4096, mode).unwrap();
            prop_assert_eq!(&read, &descriptor);
            prop_assert_eq!(read.encode().unwrap(), &bytes[..]);
        }
    }

    #[test]
    fn a_descriptor_cannot_be_cut(descriptor in descriptor(), at in any::<Index>()) {
        let mut bytes = descriptor.encode().unwrap();
        bytes.truncate(at.index(bytes.len()));
        if bytes.len() >= 10 {
            let length = u32::try_from(bytes.len()).unwrap();
            bytes[6..10].copy_from_slice(&length.to_le_bytes());
        }
        prop_assert!(TensorDescriptor::decode(&bytes, 0, Mode::Permissive).is_err());
    }

    #[test]
    fn no_change_of_a_byte_leads_to_a_panic_or_to_something_that_cannot_be_written(
        descriptor in descriptor(),
        changes in vec((any::<Index>(), any::<u8>()), 1..4),
    ) {
        let mut bytes = descriptor.encode().unwrap();
        for (at, byte) in changes {
            *at.get_mut(&mut bytes) = byte;
        }
        let _ = TensorDescriptor::decode(&bytes, u64::MAX, Mode::Permissive);
        if let Ok(read) = TensorDescriptor::decode(&bytes, u64::MAX, Mode::Strict) {
            let written = read.encode().unwrap();
            let again = TensorDescriptor::decode(&written, 0, Mode::Strict).unwrap();
            prop_assert_eq!(again.encode().unwrap(), written);
        }
    }

    #[test]
    fn arbitrary_bytes_behind_the_magic_are_harmless(mut bytes in vec(any::<u8>(), 20..200)) {
        bytes[..6].copy_from_slice(b"HRRY\x01\x00");
        let length = u32::try_from(bytes.len()).unwrap();
        bytes[6..10].copy_from_slice(&length.to_le_bytes());
        bytes[10] &= 0x1F;
        bytes[11..14].fill(0);
        bytes[14] = 3;
        bytes[15] &= 0x0F;
        bytes[16] &= 0x03;
        bytes[17..20].fill(0);
        let _ = TensorDescriptor::decode(&bytes, 0, Mode::Strict);
        let _ = TensorDescriptor::decode(&bytes, 0, Mode::Permissive);
    }

    #[test]
    fn a_private_layout_is_written_and_reported_but_not_understood(
        tag in 0xF0..=0xFEu8,
        id in any::<u64>(),
        fields in vec(any::<u8>(), 0..40),
    ) {
        let layout = PrivateLayout::new(PrivateTag::new(tag).unwrap(), id, fields);
        let descriptor = TensorDescriptor::new(
            Shape::new([3, 4]).unwrap(),
            ElementType::Float32,
            LayoutDescriptor::Private(layout),
            vec![BufferHandle::cpu(100)],
        );
        let bytes = descriptor.encode().unwrap();
        prop_assert!(TensorDescriptor::decode(&bytes, 0, Mode::Strict).is_err());
        prop_assert_eq!(TensorDescriptor::decode(&bytes, 0, Mode::Permissive).unwrap(), descriptor);
    }
}
