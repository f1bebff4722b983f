//! One file, many threads: they share it while it is open, and it may be replaced meanwhile.

mod common;

use std::sync::Barrier;
use std::sync::atomic::{AtomicBool, Ordering};

use common::{QUICK, assert_is_example, example_file, map, worked_example};
use hurray_csf::{Builder, Indices, Tensor};
use hurray_format::{Shape, Values};
use hurray_io::{Buffer, File, Words, Writer};

const SHAPE: [u64; 3] = [50, 60, 70];

/// Whether an element is stored, and its value.
fn value(index: [u64; 3]) -> Option<f64> {
    let [i, j, k] = index;
    let number = (i * 60 + j) * 70 + k;
    (number * 7919 % 31 < 3).then_some(number as f64)
}

fn tensor() -> Tensor {
    let (mut indices, mut values) = (vec![], vec![]);
    for index in every_index() {
        if let Some(value) = value(index) {
            indices.extend(index);
            values.push(value);
        }
    }
    Builder::new(Shape::new(SHAPE).unwrap())
        .build(Indices::Rows(&indices), Values::from_slice(&values))
        .unwrap()
}

fn every_index() -> impl Iterator<Item = [u64; 3]> {
    let [a, b, c] = SHAPE;
    (0..a).flat_map(move |i| (0..b).flat_map(move |j| (0..c).map(move |k| [i, j, k])))
}

/// Looks up every element, walks over all fibers, and validates.
fn use_all(tensor: &Tensor<Words, Buffer>) {
    let (tree, values) = (tensor.tree(), tensor.values().as_slice::<f64>().unwrap());
    tree.validate().unwrap();
    for index in every_index() {
        assert_eq!(tree.lookup(&index).unwrap().map(|leaf| values[leaf]), value(index));
    }
    let mut sum = 0.0;
    tree.fibers().for_each(|fiber| sum += values[fiber.leaves()].iter().sum::<f64>());
    assert_eq!(sum, every_index().filter_map(value).sum());
}

#[test]
fn threads_share_one_open_file_whatever_they_do_with_it() {
    let written = common::written(QUICK, |writer| writer.csf("x", &tensor()).unwrap());
    for file in [File::open(&written.path).unwrap(), map(&written.path)] {
        let shared = file.tensor("x").unwrap().read().unwrap().csf().unwrap();
        let together = Barrier::new(8);
        std::thread::scope(|scope| {
            for thread in 0..8 {
                let (file, shared, together) = (&file, &shared, &together);
                scope.spawn(move || {
                    together.wait();
                    match thread % 3 {
                        0 => use_all(shared),
                        1 => use_all(&file.tensor("x").unwrap().read().unwrap().csf().unwrap()),
                        _ => (0..5).for_each(|_| file.verify().unwrap()),
                    }
                });
            }
        });
    }
}

#[test]
fn readers_keep_the_old_file_while_it_is_replaced_and_new_ones_see_the_new() {
    const ROUNDS: u64 = 40;
    let written = example_file();
    let files = [File::open(&written.path).unwrap(), map(&written.path)];
    let is_done = AtomicBool::new(false);
    std::thread::scope(|scope| {
        for file in &files {
            scope.spawn(|| {
                while !is_done.load(Ordering::Relaxed) {
                    assert_is_example(&file.tensor("x").unwrap().read().unwrap());
                    file.verify().unwrap();
                }
            });
        }
        // Whoever opens it meanwhile has one of the files, whole, and never an older one than before.
        scope.spawn(|| {
            let mut last = 0;
            while last < ROUNDS {
                let file = File::open(&written.path).unwrap();
                file.verify().unwrap();
                let round = file.metadata().get("round").map_or(0, |round| match round {
                    hurray_format::MetadataValue::U64(round) => *round,
                    other => panic!("{other:?}"),
                });
                assert!(round >= last);
                last = round;
            }
            is_done.store(true, Ordering::Relaxed);
        });
        for round in 1..=ROUNDS {
            let mut writer = Writer::create(&written.path, QUICK).unwrap();
            writer.set_metadata("round", round).unwrap();
            writer.csf("x", &worked_example()).unwrap();
            writer.finish().unwrap();
        }
    });
    assert_eq!(common::names(written.folder.path()), ["a.hrry"]);
}
