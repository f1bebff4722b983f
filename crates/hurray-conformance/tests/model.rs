//! A model test across the layers: random tensors are built, written, read and mapped, and
//! everything that can be asked of them is held against a plain sorted map.

mod common;

use std::collections::BTreeMap;

use common::{index, open_both_ways, quickly, shape_and_order};
use hurray_csf::{Builder, Duplicates, Indices, Tensor};
use hurray_format::cast::to_u64;
use hurray_format::{ModeOrder, Shape, Values};
use hurray_io::{Buffer, TensorBuffers, Words, Writer, WriterOptions};
use proptest::collection::vec;
use proptest::prelude::*;
use proptest::sample::{Index, select};

type Model = BTreeMap<Vec<u64>, i64>;
type Stored = Tensor<Words, Buffer>;

/// The entries of a tensor as a user has them, duplicates included.
#[derive(Clone, Debug)]
struct Input {
    shape: Vec<u64>,
    mode_order: ModeOrder,
    other_order: ModeOrder,
    rows: Vec<(Vec<u64>, i64)>,
    duplicates: Duplicates,
    /// Indices to look up besides those that are stored.
    probes: Vec<Vec<u64>>,
}

fn input() -> impl Strategy<Value = Input> {
    (3..=8usize)
        .prop_flat_map(|rank| (shape_and_order(rank), shape_and_order(rank)))
        .prop_flat_map(|((shape, order), (_, other))| {
            let most = if shape.contains(&0) { 0 } else { 60 };
            let rows = vec((index(&shape), -1000..1000i64), 0..=most);
            // Some of the rows again, so that there are duplicates of sparse indices too.
            let rows =
                (rows, vec((any::<Index>(), -9..9i64), 0..8)).prop_map(|(mut rows, again)| {
                    let again = if rows.is_empty() { vec![] } else { again };
                    for (at, value) in again {
                        rows.push((at.get(&rows).0.clone(), value));
                    }
                    rows
                });
            let probes = vec(index(&shape), 0..20);
            (Just((shape, order, other)), rows, probes)
        })
        .prop_flat_map(|(shape, rows, probes)| {
            use Duplicates::{First, Last, Max, Min, Sum};
            (Just(shape), Just(rows), Just(probes), select(vec![Sum, First, Last, Min, Max]))
        })
        .prop_map(|((shape, order, other), rows, probes, duplicates)| Input {
            mode_order: ModeOrder::new(order).unwrap(),
            other_order: ModeOrder::new(other).unwrap(),
            shape,
            rows,
            duplicates,
            probes,
        })
}

impl Input {
    fn model(&self) -> Model {
        let mut model = Model::new();
        for (index, value) in &self.rows {
            let merged = match (model.get(index), self.duplicates) {
                (None, _) | (_, Duplicates::Last) => *value,
                (Some(before), Duplicates::Sum) => before + value,
                (Some(before), Duplicates::Min) => *before.min(value),
                (Some(before), Duplicates::Max) => *before.max(value),
                (Some(before), _) => *before,
            };
            model.insert(index.clone(), merged);
        }
        model
    }

    fn build(&self) -> Tensor {
        let rows: Vec<u64> = self.rows.iter().flat_map(|row| row.0.clone()).collect();
        let values: Vec<i64> = self.rows.iter().map(|row| row.1).collect();
        Builder::new(Shape::new(&self.shape[..]).unwrap())
            .mode_order(self.mode_order.clone())
            .duplicates(self.duplicates)
            .build(Indices::Rows(&rows), Values::from_slice(&values))
            .unwrap()
    }
}

/// The coordinates of an index by level.
fn by_level(index: &[u64], order: &ModeOrder) -> Vec<u64> {
    order.as_slice().iter().map(|&dimension| index[dimension as usize]).collect()
}

/// The entries in storage order.
fn in_storage_order(model: &Model, order: &ModeOrder) -> Vec<(Vec<u64>, i64)> {
    let mut entries: Vec<_> = model.iter().map(|(index, &value)| (index.clone(), value)).collect();
    entries.sort_by_key(|entry| by_level(&entry.0, order));
    entries
}

/// Everything that is stored, in storage order, and whatever else lies along the way.
fn check_walks(tensor: &Stored, expected: &[(Vec<u64>, i64)]) {
    let (tree, values) = (tensor.tree(), tensor.values().as_slice::<i64>().unwrap());
    assert_eq!(values, expected.iter().map(|entry| entry.1).collect::<Vec<_>>());
    let mut walked = Vec::new();
    tree.leaves().for_each(|index, leaf| walked.push((index.to_vec(), values[leaf])));
    assert_eq!(walked, expected);

    let mut walked = Vec::new();
    for piece in tree.split(3) {
        piece.for_each(|fiber| {
            let mut index = vec![0; tree.rank()];
            fiber.place(&mut index);
            for (&coordinate, &value) in fiber.crd().iter().zip(&values[fiber.leaves()]) {
                index[fiber.dimension()] = coordinate;
                walked.push((index.clone(), value));
            }
        });
    }
    assert_eq!(walked, expected);
}

fn check_lookups(tensor: &Stored, model: &Model, probes: &[Vec<u64>]) {
    let tree = tensor.tree();
    // There is no index at all along a dimension of size 0.
    if tree.shape().dimensions().contains(&0) {
        assert!(tree.lookup(&vec![0; tree.rank()]).is_err());
        return;
    }
    let values = tensor.values().as_slice::<i64>().unwrap();
    let asked: Vec<&Vec<u64>> = model.keys().chain(probes).collect();
    let many: Vec<u64> = asked.iter().copied().flatten().copied().collect();
    let found = tree.lookup_many(&many).unwrap();
    assert_eq!(found.len(), asked.len());
    for (index, leaf) in asked.into_iter().zip(found) {
        assert_eq!(tree.lookup(index), Ok(leaf));
        assert_eq!(leaf.map(|leaf| values[leaf]), model.get(index).copied(), "{index:?}");
    }
}

/// Sub-trees over the outermost coordinates of each index asked for, at every depth, and the half of
/// the next dimension below its coordinate.
fn check_subtrees(tensor: &Stored, expected: &[(Vec<u64>, i64)], probes: &[Vec<u64>]) {
    let tree = tensor.tree();
    if tree.shape().dimensions().contains(&0) {
        return;
    }
    let order = tree.mode_order();
    let asked = expected.iter().step_by(7).map(|entry| &entry.0).chain(probes.iter().take(3));
    for index in asked {
        let levels = by_level(index, order);
        for depth in 0..tree.rank() {
            let (fixed, bound) = (&levels[..depth], levels[depth]);
            let below = |entry: &&(Vec<u64>, i64)| by_level(&entry.0, order).starts_with(fixed);
            let wanted: Vec<_> = expected.iter().filter(below).cloned().collect();
            let subtree = tree.subtree(fixed).unwrap();
            assert_eq!(subtree.nnz(), wanted.len());
            let values = tensor.values().as_slice::<i64>().unwrap();
            let mut walked = Vec::new();
            subtree.leaves().for_each(|index, leaf| walked.push((index.to_vec(), values[leaf])));
            assert_eq!(walked, wanted);
            let half = wanted.iter().filter(|entry| by_level(&entry.0, order)[depth] < bound);
            assert_eq!(tree.subtree_range(fixed, 0..bound).unwrap().nnz(), half.count());
        }
    }
}

fn check_conversions(tensor: &Stored, model: &Model, other: &ModeOrder) {
    let sorted = tensor.to_sorted_coo().unwrap();
    sorted.validate().unwrap();
    let rows: Vec<u64> = model.keys().flatten().copied().collect();
    assert_eq!(sorted.coordinates(), rows);
    assert_eq!(
        sorted.values().as_slice::<i64>().unwrap(),
        model.values().copied().collect::<Vec<_>>()
    );

    let list = tensor.to_coo();
    list.validate().unwrap();
    let expected = in_storage_order(model, tensor.tree().mode_order());
    let rows: Vec<u64> = expected.iter().flat_map(|entry| entry.0.clone()).collect();
    assert_eq!(list.coordinates(), rows);

    let turned = tensor.to_mode_order(other.clone()).unwrap();
    turned.tree().validate().unwrap();
    let expected = in_storage_order(model, other);
    let mut walked = Vec::new();
    let values = turned.values().as_slice::<i64>().unwrap();
    turned.tree().leaves().for_each(|index, leaf| walked.push((index.to_vec(), values[leaf])));
    assert_eq!(walked, expected);
    // And from the list into the same tree again.
    let again = list.to_csf(other.clone()).unwrap();
    for level in 0..again.tree().rank() {
        assert_eq!(again.tree().level(level), turned.tree().level(level));
    }
}

fn check(buffers: &TensorBuffers, input: &Input, model: &Model) {
    buffers.verify().unwrap();
    assert_eq!(buffers.descriptor().nnz(), Some(to_u64(model.len())));
    let tensor = buffers.csf().unwrap();
    tensor.tree().validate().unwrap();
    assert_eq!(tensor.tree().shape().dimensions(), input.shape);
    assert_eq!(tensor.tree().mode_order(), &input.mode_order);
    let expected = in_storage_order(model, &input.mode_order);
    check_walks(&tensor, &expected);
    check_lookups(&tensor, model, &input.probes);
    check_subtrees(&tensor, &expected, &input.probes);
    check_conversions(&tensor, model, &input.other_order);
}

proptest! {
    #![proptest_config(ProptestConfig::with_cases(64))]

    #[test]
    fn a_tensor_in_a_file_is_what_a_sorted_map_says(input in input()) {
        let folder = tempfile::tempdir().unwrap();
        let path = folder.path().join("model.hrry");
        let mut writer = Writer::create(&path, quickly()).unwrap();
        writer.csf("x", &input.build()).unwrap();
        writer.finish().unwrap();

        let model = input.model();
        for file in open_both_ways(&path) {
            file.verify().unwrap();
            check(&file.tensor("x").unwrap().read().unwrap(), &input, &model);
        }
    }

    #[test]
    fn a_tree_that_lies_in_a_file_is_written_to_another_as_it_is(input in input()) {
        let folder = tempfile::tempdir().unwrap();
        let (first, second) = (folder.path().join("first.hrry"), folder.path().join("second.hrry"));
        let mut writer = Writer::create(&first, quickly()).unwrap();
        writer.csf("x", &input.build()).unwrap();
        writer.finish().unwrap();
        for file in open_both_ways(&first) {
            let tensor = file.tensor("x").unwrap().read().unwrap().csf().unwrap();
            let mut writer = Writer::create(&second, WriterOptions { overwrite: true, ..quickly() }).unwrap();
            writer.csf("x", &tensor).unwrap();
            writer.finish().unwrap();
            prop_assert_eq!(std::fs::read(&first).unwrap(), std::fs::read(&second).unwrap());
        }
    }
}
