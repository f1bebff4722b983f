//! What the tests of more than one layer share: a tensor as a sorted map of bit patterns.
#![allow(dead_code, reason = "each test file uses its part")]

use std::collections::BTreeMap;
use std::path::Path;

use hurray_csf::{Builder, Indices, Tensor};
use hurray_format::{ElementType, ModeOrder, Shape, Values};
use hurray_io::{File, WriterOptions};
pub(crate) use hurray_testing::bits::{bits_at, element_types, to_bytes};
use proptest::collection::{btree_map, vec};
use proptest::prelude::*;
use proptest::sample::select;

/// The stored elements: logical index to the bits of the value.
pub(crate) type Entries = BTreeMap<Vec<u64>, u128>;

/// A tensor to be written: its elements, and how they are to lie.
#[derive(Clone, Debug)]
pub(crate) struct Model {
    pub(crate) shape: Vec<u64>,
    pub(crate) mode_order: Vec<u32>,
    pub(crate) element_type: ElementType,
    pub(crate) entries: Entries,
}

impl Model {
    /// The indices one behind another, and the values as bytes, in logical order.
    pub(crate) fn rows(&self) -> (Vec<u64>, Vec<u8>) {
        let values: Vec<u128> = self.entries.values().copied().collect();
        (self.entries.keys().flatten().copied().collect(), to_bytes(&values, self.element_type))
    }

    /// The tree as this project builds it.
    pub(crate) fn build(&self) -> Tensor {
        let (rows, bytes) = self.rows();
        let values = Values::new(self.element_type, self.entries.len(), &bytes[..]).unwrap();
        Builder::new(Shape::new(&self.shape[..]).unwrap())
            .mode_order(ModeOrder::new(&self.mode_order[..]).unwrap())
            .build(Indices::Rows(&rows), values)
            .unwrap()
    }
}

/// Dimensions with sizes from 0 to beyond 2^32, and an order of them.
pub(crate) fn shape_and_order(rank: usize) -> impl Strategy<Value = (Vec<u64>, Vec<u32>)> {
    let size = prop_oneof![1 => Just(0), 12 => 1..6u64, 3 => Just(300), 3 => 1 << 33..u64::MAX];
    let order = Just((0u32..).take(rank).collect::<Vec<_>>()).prop_shuffle();
    (vec(size, rank), order)
}

/// An index inside a shape; small and large coordinates.
pub(crate) fn index(shape: &[u64]) -> impl Strategy<Value = Vec<u64>> + use<> {
    let coordinate = |&size: &u64| {
        let last = size.saturating_sub(1);
        prop_oneof![3 => 0..=last.min(4), 1 => last - last.min(2)..=last, 1 => 0..=last]
    };
    shape.iter().map(coordinate).collect::<Vec<_>>()
}

/// Tensors of rank 3 to 6 and of any element type.
pub(crate) fn any_model() -> impl Strategy<Value = Model> {
    (3..=6usize)
        .prop_flat_map(shape_and_order)
        .prop_flat_map(|(shape, order)| {
            let most = if shape.contains(&0) { 0 } else { 40 };
            let entries = btree_map(index(&shape), any::<u128>(), 0..=most);
            (Just(shape), Just(order), select(element_types()), entries)
        })
        .prop_map(|(shape, mode_order, element_type, mut entries)| {
            let unused = 128 - element_type.bits();
            for bits in entries.values_mut() {
                *bits = *bits << unused >> unused;
                if element_type == ElementType::Float8E8M0 {
                    // The two patterns that are no values.
                    *bits = (*bits).clamp(1, 254);
                }
            }
            Model { shape, mode_order, element_type, entries }
        })
}

/// Writes without waiting for the disk.
pub(crate) fn quickly() -> WriterOptions {
    WriterOptions { sync: false, ..WriterOptions::default() }
}

/// A file of this test, read and mapped.
pub(crate) fn open_both_ways(path: &Path) -> [File; 2] {
    // SAFETY: it lies in a temporary folder of its own, and nobody changes it.
    #[expect(unsafe_code, reason = "nobody changes the file")]
    let mapped = unsafe { File::map(path) };
    [File::open(path).unwrap(), mapped.unwrap()]
}

/// The elements of a tree by iteration.
pub(crate) fn entries<S: AsRef<[u64]>, B: AsRef<[u8]>>(tensor: &Tensor<S, B>) -> Entries {
    let mut entries = Entries::new();
    let width = tensor.values().element_type().bits();
    tensor.tree().leaves().for_each(|index, leaf| {
        let bits = bits_at(tensor.values().bytes(), width, leaf);
        assert_eq!(entries.insert(index.to_vec(), bits), None, "{index:?} is there twice");
    });
    entries
}
