//! Views over arbitrary words, never validated: trees, coordinate lists and matrices, of storage
//! that stays as it is and of storage that changes between one look and the next. Everything that
//! can be asked of them is asked, and answers end; of valid ones they are right.

use hurray_csf::{Compressed, Coo, Csf, Level, Major, Tensor};
use hurray_format::cast::{to_u64, to_usize};
use hurray_format::{AlignedBytes, ElementType, Values};
use hurray_testing::changing::Changing;
use hurray_testing::exercise::{self, Storage};
use hurray_testing::{Choices, counted, trees};

#[test]
fn views() {
    bolero::check!().for_each(counted(run));
}

fn run(input: &[u8]) {
    let mut choices = Choices::new(input);
    match choices.below(8) {
        0..4 => quiet_tree(&mut choices),
        4..6 => changing_tree(&mut choices),
        6 => list(&mut choices),
        _ => matrix(&mut choices),
    }
}

/// Values of some type, of arbitrary bits.
fn values(count: usize, choices: &mut Choices<'_>) -> Values<AlignedBytes> {
    let types: Vec<ElementType> = ElementType::public().collect();
    let element_type = *choices.pick(&types);
    let length = element_type.byte_length(to_u64(count)).expect("a short buffer");
    let mut bytes = AlignedBytes::zeroed(to_usize(length));
    for byte in &mut bytes[..] {
        *byte = choices.byte();
    }
    Values::new(element_type, count, bytes).expect("as many bytes as there have to be")
}

fn quiet_tree(choices: &mut Choices<'_>) {
    let trees::Parts { shape, mode_order, levels } = trees::parts(choices);
    let tree = Csf::new(shape, mode_order, levels).expect("the lengths chain");
    let values = values(tree.nnz(), choices);
    // Cheap to clone, as handles into a file are.
    let values = Values::new(values.element_type(), values.len(), values.bytes());
    let tensor = Tensor::new(tree, values.expect("the same bytes")).expect("a value for each leaf");
    exercise::tensor(&tensor, None, Storage::Quiet, choices);
}

fn changing_tree(choices: &mut Choices<'_>) {
    let (first, second) = (trees::parts(choices), trees::parts(choices));
    let order = choices.take(16);
    let mut others = second.levels.into_iter();
    let mut most = 0;
    let levels = (first.levels.into_iter())
        .map(|Level { pos, crd }| {
            let other = others.next().unwrap_or(Level { pos: Vec::new(), crd: Vec::new() });
            most = crd.len().max(other.crd.len());
            let longer = crd.iter().chain(&other.crd).copied().collect::<Vec<_>>();
            most = most.max(longer.len());
            Level {
                pos: Changing::new(vec![pos, other.pos, Vec::new()], order),
                crd: Changing::new(vec![crd, other.crd, longer, Vec::new()], order),
            }
        })
        .collect();
    // It may not look like a tree when it is put together.
    let Ok(tree) = Csf::new(first.shape, first.mode_order, levels) else { return };
    exercise::tree(&tree, Storage::Changing(most), choices);
    let nnz = tree.nnz();
    let values = vec![vec![7u8; nnz], vec![9; nnz], vec![1; nnz / 2], Vec::new()];
    let values = Changing::new(values, order);
    let Ok(values) = Values::new(ElementType::Uint8, nnz, &values) else { return };
    if let Ok(tensor) = Tensor::new(tree, values) {
        exercise::tensor(&tensor, None, Storage::Changing(most), choices);
    }
}

fn list(choices: &mut Choices<'_>) {
    let (shape, rows) = trees::rows(choices);
    let values = values(rows.len() / shape.rank(), choices);
    let is_sorted = choices.one_in(2);
    let view = values.as_view();
    let list = Coo::new(shape.clone(), is_sorted, &rows[..], view).expect("a value for each row");
    exercise::coo(&list, Storage::Quiet, choices);

    let order = choices.take(16);
    let rows =
        Changing::new(vec![rows.clone(), rows[..rows.len() / 2].to_vec(), Vec::new()], order);
    if let Ok(list) = Coo::new(shape, is_sorted, rows, values.as_view()) {
        exercise::coo(&list, Storage::Changing(list.nnz()), choices);
    }
}

fn matrix(choices: &mut Choices<'_>) {
    let major = *choices.pick(&[Major::Row, Major::Column]);
    let (shape, pointers, indices) = trees::matrix(major, choices);
    let matrix = Compressed::new(major, shape.clone(), &pointers[..], &indices[..]);
    exercise::compressed(&matrix.expect("a pointer for each line"), Storage::Quiet, choices);

    let order = choices.take(16);
    let most = indices.len();
    let half = indices[..most / 2].to_vec();
    let pointers = Changing::new(vec![pointers.clone(), vec![u64::MAX; 2], Vec::new()], order);
    let indices = Changing::new(vec![indices, half, Vec::new()], order);
    if let Ok(matrix) = Compressed::new(major, shape, pointers, indices) {
        exercise::compressed(&matrix, Storage::Changing(most), choices);
    }
}
