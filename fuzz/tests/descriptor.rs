//! Descriptors: no bytes make the decoder panic or allocate more than a small multiple of them; what
//! strict mode decodes, permissive mode decodes to the same, and it encodes to the same bytes, or to
//! some that decode to the same.

use hurray_format::{Mode, TensorDescriptor};
use hurray_testing::memory::{self, Counting};
use hurray_testing::{Choices, counted, damage, seeds};

#[global_allocator]
static ALLOCATOR: Counting = Counting;

#[test]
fn descriptor() {
    bolero::check!().for_each(counted(run));
}

fn run(input: &[u8]) {
    let mut choices = Choices::new(input);
    let is_raw = choices.one_in(4);
    let bytes = if is_raw { choices.rest().to_vec() } else { near_valid(&mut choices) };
    let (strict, usage) = memory::measure(|| decode(&bytes, Mode::Strict));
    assert!(usage.peak <= 32 * bytes.len() + 4096, "{usage:?} for {} bytes", bytes.len());
    let permissive = decode(&bytes, Mode::Permissive);
    for descriptor in [&strict, &permissive].into_iter().flatten() {
        ask(descriptor);
    }
    let Some(descriptor) = strict else { return };
    let again = encode(&descriptor);
    // Not the descriptors themselves, since a mean may be NaN, which equals nothing.
    assert_eq!(permissive.as_ref().map(encode).as_ref(), Some(&again));
    assert_eq!(decode(&again, Mode::Strict).as_ref().map(encode).as_ref(), Some(&again));
    // Not written again: what a later version may have put there, the padding of a scheme, and
    // statistics that are marked unknown.
    let is_exact =
        bytes[5] == 0 && descriptor.quantization.is_none() && descriptor.statistics.is_none();
    assert!(!is_exact || again == bytes);
}

fn encode(descriptor: &TensorDescriptor) -> Vec<u8> {
    descriptor.encode().expect("what strict mode decodes can be encoded")
}

fn near_valid(choices: &mut Choices<'_>) -> Vec<u8> {
    let seeds = seeds::descriptors();
    let (mut bytes, other) = (choices.pick(seeds).clone(), choices.pick(seeds));
    let repairs_length = !choices.one_in(4);
    damage::damage(&mut bytes, other, choices);
    if repairs_length && bytes.len() >= 10 {
        let length = u32::try_from(bytes.len()).expect("seeds are short");
        bytes[6..10].copy_from_slice(&length.to_le_bytes());
    }
    bytes
}

fn decode(bytes: &[u8], mode: Mode) -> Option<TensorDescriptor> {
    // Where they lie only matters to messages, and may be anywhere.
    TensorDescriptor::decode(bytes, u64::MAX - 8, mode).map_err(|error| error.to_string()).ok()
}

/// Asks everything of a descriptor.
fn ask(descriptor: &TensorDescriptor) {
    let layout = &descriptor.layout;
    let _ = (descriptor.nnz(), descriptor.node_counts(), layout.name(), layout.buffer_count());
    let _ = (layout.has_byte_offset(), layout.can_be_sharded());
    for buffer in (0..descriptor.buffers.len() + 2).chain([usize::MAX]) {
        let _ = layout.buffer_role(buffer).to_string();
    }
    if let Some(scheme) = &descriptor.quantization {
        let _ = (scheme.name(), scheme.buffer_indices(), scheme.buffer_sizes(&descriptor.shape));
    }
    let _ = (descriptor.validate(Mode::Strict), descriptor.encode());
    let _ = descriptor.shape.element_count();
}
