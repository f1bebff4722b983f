//! Composites written, opened and verified.

mod common;

use common::{QUICK, written};
use hurray_format::descriptor::{MemberRole, Shard};
use hurray_format::layout::{Combine, CompositeLayout, CompositionRule};
use hurray_format::{ElementType, LayoutDescriptor, Shape, TensorDescriptor};
use hurray_io::composite::CompositeError;
use hurray_io::{Error, File, TensorError, Writer};

const OVERLAY: CompositionRule = CompositionRule::Overlay(Combine::Add);

fn head(rule: CompositionRule, members: u32) -> TensorDescriptor {
    let layout = LayoutDescriptor::Composite(CompositeLayout::new(rule, members));
    TensorDescriptor::new(Shape::new([4, 6]).unwrap(), ElementType::Uint8, layout, Vec::new())
}

/// A dense part of the head's tensor.
fn part(offset: [u64; 2], size: [u64; 2], role: Option<MemberRole>) -> TensorDescriptor {
    let shape = Shape::new(size).unwrap();
    let mut part = TensorDescriptor::row_major(shape, ElementType::Uint8).unwrap();
    part.shard = Some(Shard { parent_shape: vec![4, 6], offset: offset.into() });
    part.member_role = role;
    part
}

fn write(writer: &mut Writer, tensors: &[TensorDescriptor]) {
    for (number, descriptor) in tensors.iter().enumerate() {
        let buffers: Vec<Vec<u8>> = (descriptor.buffers.iter())
            .map(|handle| vec![0; usize::try_from(handle.byte_size).unwrap()])
            .collect();
        let buffers: Vec<&[u8]> = buffers.iter().map(Vec::as_slice).collect();
        // In another order by name than in the file.
        writer.tensor(&format!("t{}", 99 - number), descriptor, &buffers).unwrap();
    }
}

/// What verifying a file of these tensors says.
fn verify(tensors: &[TensorDescriptor]) -> Result<(), CompositeError> {
    let written = written(QUICK, |writer| write(writer, tensors));
    match File::open(&written.path).unwrap().verify() {
        Ok(()) => Ok(()),
        Err(Error::Tensor { error, .. }) => match *error {
            TensorError::Composite(error) => Err(error),
            error => panic!("{error}"),
        },
        Err(error) => panic!("{error}"),
    }
}

#[test]
fn a_partition_is_covered_exactly_once() {
    let head = head(CompositionRule::Partition, 3);
    let parts =
        [part([0, 0], [4, 2], None), part([0, 2], [1, 4], None), part([1, 2], [3, 4], None)];
    let tensors = |last: TensorDescriptor| [head.clone(), parts[0].clone(), parts[1].clone(), last];
    assert_eq!(verify(&tensors(parts[2].clone())), Ok(()));
    let overlap = CompositeError::Overlap { first: 1, second: 2 };
    assert_eq!(verify(&tensors(part([0, 2], [4, 4], None))), Err(overlap));
    let gap = CompositeError::Coverage { members: 3, shape: Shape::new([4, 6]).unwrap() };
    assert_eq!(verify(&tensors(part([1, 2], [3, 3], None))), Err(gap));

    let mut lost = parts[2].clone();
    lost.shard = None;
    assert_eq!(verify(&tensors(lost)), Err(CompositeError::NoShard { member: 2 }));
    let mut foreign = parts[2].clone();
    foreign.shard = Some(Shard { parent_shape: vec![4, 7], offset: vec![1, 2] });
    let expected = Shape::new([4, 6]).unwrap();
    let parent = CompositeError::Parent { member: 2, found: vec![4, 7], expected };
    assert_eq!(verify(&tensors(foreign)), Err(parent));
}

#[test]
fn an_overlay_has_a_base_and_corrections() {
    use MemberRole::{Base, Correction};
    let overlay = |base, correction| verify(&[head(OVERLAY, 2), base, correction]);
    let base = || part([0, 0], [4, 6], Some(Base));
    let correction = || part([1, 1], [2, 2], Some(Correction));
    assert_eq!(overlay(base(), correction()), Ok(()));
    let small = part([0, 0], [4, 5], Some(Base));
    assert_eq!(overlay(small, correction()), Err(CompositeError::Base));
    let error = overlay(base(), part([1, 1], [2, 2], Some(Base)));
    let role = CompositeError::Role { member: 1, found: Some(Base), expected: Correction };
    assert_eq!(error, Err(role));
    let error = overlay(part([0, 0], [4, 6], None), correction());
    assert_eq!(error, Err(CompositeError::Role { member: 0, found: None, expected: Base }));
}

#[test]
fn only_members_of_an_overlay_have_a_role() {
    let member = part([0, 0], [4, 6], Some(MemberRole::Base));
    assert_eq!(verify(std::slice::from_ref(&member)), Err(CompositeError::StrayRole));
    let group = [head(CompositionRule::Group, 1), member.clone()];
    assert_eq!(verify(&group), Err(CompositeError::StrayRole));
    assert_eq!(verify(&[head(OVERLAY, 1), member]), Ok(()));
}

#[test]
fn promised_members_are_there_when_the_file_is_finished() {
    let folder = tempfile::tempdir().unwrap();
    let path = folder.path().join("a.hrry");
    let mut writer = Writer::create(&path, QUICK).unwrap();
    write(&mut writer, &[head(CompositionRule::Group, 2), part([0, 0], [4, 6], None)]);
    let error = writer.finish().unwrap_err().to_string();
    assert!(error.ends_with("tensor `t99`: the composite has 1 members instead of 2"), "{error}");
    assert!(!path.exists());
}

#[test]
fn heads_have_no_data_and_members_can_be_composites() {
    let tensors = [
        head(CompositionRule::Group, 2),
        head(CompositionRule::Partition, 1),
        part([0, 0], [4, 6], None),
        head(CompositionRule::Group, 0),
    ];
    assert_eq!(verify(&tensors), Ok(()));
    let written = written(QUICK, |writer| write(writer, &tensors));
    let file = File::open(&written.path).unwrap();
    let head = file.get(0).unwrap();
    assert_eq!((head.name(), head.index_entry().data_length), ("t99", 0));
    assert!(head.buffer_ranges().is_empty() && head.read().unwrap().buffers().is_empty());
    // No padding to the alignment of data behind it.
    assert_eq!(file.get(1).unwrap().index_entry().descriptor_offset, 64 + 56);
}
