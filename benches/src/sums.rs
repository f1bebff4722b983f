//! The sum that iteration is measured with: each value times the sum of its coordinates. It
//! touches everything that is stored, and is little work beside. Coordinates of rank 3, which all
//! tensors have that are iterated over, are added without a loop.

use hurray_csf::{Fibers, Leaves};

#[cfg(target_arch = "x86_64")]
mod avx512;

/// Leaf by leaf, with logical indices.
#[must_use]
pub fn by_leaves(leaves: Leaves<'_>, values: &[f64]) -> f64 {
    leaves.fold(0.0, |sum, index, leaf| {
        let total = match *index {
            [i, j, k] => i + j + k,
            _ => index.iter().sum(),
        };
        sum + values[leaf] * to_f64(total)
    })
}

/// Fiber by fiber.
#[must_use]
pub fn by_fibers(fibers: Fibers<'_>, values: &[f64]) -> f64 {
    let leaves = fibers.remaining().len();
    // Where nearly all fibers have one leaf, processors foresee that the next one has too. Where
    // many have not, their wrong guesses cost more than a sum that does not ask.
    if leaves - leaves / 8 <= fibers.remaining_fibers() {
        return fold(fibers, values, |outer, crd, values| match (crd, values) {
            ([coordinate], [value]) => value * to_f64(outer + coordinate),
            _ => of_another_fiber(outer, crd, values),
        });
    }
    #[cfg(target_arch = "x86_64")]
    if avx512::is_there() {
        return avx512::by_siblings(fibers, values);
    }
    fold(fibers, values, of_fiber)
}

/// Fiber by fiber, each by `sum`, which is given the sum of the outer coordinates.
#[inline(always)]
fn fold(fibers: Fibers<'_>, values: &[f64], sum: impl Fn(u64, &[u64], &[f64]) -> f64) -> f64 {
    fibers.fold(0.0, |total, fiber| {
        let outer = match *fiber.outer() {
            [i, j] => i + j,
            _ => fiber.outer().iter().sum(),
        };
        total + sum(outer, fiber.crd(), &values[fiber.leaves()])
    })
}

/// A sum of coordinates as a float, by way of an `i64`, which is one instruction.
#[inline]
fn to_f64(total: u64) -> f64 {
    total.cast_signed() as f64
}

/// The part of one fiber, with as many values as coordinates.
#[inline(always)]
fn of_fiber(outer: u64, crd: &[u64], values: &[f64]) -> f64 {
    const LANES: usize = 8;
    let len = crd.len();
    if len == 0 || values.len() != len {
        return 0.0;
    }
    let term = |leaf: usize| values[leaf] * to_f64(outer + crd[leaf]);
    if len <= 2 {
        // Whether there are one or two leaves is what processors often guess wrong, so the first
        // one is counted by a mask: all zeros if it is the last one too, else all ones.
        let mask = 1_u64.wrapping_sub(len as u64);
        return term(len - 1) + f64::from_bits(term(0).to_bits() & mask);
    }
    if len < LANES {
        return (0..len).fold(0.0, |sum, leaf| sum + term(leaf));
    }
    let (crds, rest) = crd.as_chunks::<LANES>();
    // Several sums, since each has to wait for its last addition.
    let mut sums = [0.0; LANES];
    for (crd, values) in crds.iter().zip(values.as_chunks::<LANES>().0) {
        for lane in 0..LANES {
            // From a u64, which can be done in vectors.
            sums[lane] += values[lane] * (outer + crd[lane]) as f64;
        }
    }
    let sum = sums.iter().sum();
    (len - rest.len()..len).fold(sum, |sum, leaf| sum + term(leaf))
}

/// The same, out of the way of the fibers that have one leaf.
#[inline(never)]
fn of_another_fiber(outer: u64, crd: &[u64], values: &[f64]) -> f64 {
    of_fiber(outer, crd, values)
}

#[cfg(test)]
mod tests {
    use hurray_csf::{Csf, Level};
    use hurray_format::{ModeOrder, Shape};

    use super::*;
    use crate::Workload;

    /// The sums of all twins, whatever the fibers are like.
    fn sums(tree: &Csf<impl AsRef<[u64]>>, values: &[f64]) -> Vec<f64> {
        let fibers = || tree.fibers();
        let mut sums = vec![
            by_leaves(tree.leaves(), values),
            by_fibers(fibers(), values),
            fold(fibers(), values, of_fiber),
        ];
        #[cfg(target_arch = "x86_64")]
        if avx512::is_there() {
            sums.push(avx512::by_siblings(fibers(), values));
            let pieces = fibers().split(7).into_iter();
            sums.push(pieces.map(|piece| avx512::by_siblings(piece, values)).sum());
        }
        sums
    }

    #[test]
    fn all_sums_are_those_of_the_entries() {
        for name in ["skew3", "uniform3", "long3"] {
            let entries = Workload::named(name, 30_000).unwrap().entries().unwrap();
            let tensor = entries.build().unwrap();
            let values = tensor.values().as_slice().unwrap();
            let rows = entries.coordinates().chunks(3).zip(entries.values());
            let expected: f64 = rows.map(|(row, v)| v * row.iter().sum::<u64>() as f64).sum();
            for sum in sums(tensor.tree(), values) {
                assert!((sum - expected).abs() < 1e-9 * expected, "{name}: {sum} {expected}");
            }
        }
    }

    #[test]
    fn fibers_of_every_length_are_summed_to_their_last_leaf() {
        // Whole numbers, so that the sums are exact in any order.
        for lengths in [vec![1], vec![7, 1], vec![8], vec![9, 0, 2], (0..40).collect()] {
            let ends = lengths.iter().scan(0, |end, length| {
                *end += length;
                Some(*end)
            });
            let pos: Vec<u64> = [0].into_iter().chain(ends).collect();
            let crd: Vec<u64> = lengths.iter().flat_map(|&length| 0..length).collect();
            let values: Vec<f64> = (1..=crd.len()).map(|leaf| leaf as f64).collect();
            let nodes: Vec<u64> = (0..lengths.len() as u64).map(|node| 100 * node).collect();
            let mut expected = 0;
            let mut leaf = 0;
            for (&node, &length) in nodes.iter().zip(&lengths) {
                for coordinate in 0..length {
                    leaf += 1;
                    expected += leaf * (3 + node + coordinate);
                }
            }
            let tree = Csf::new(
                Shape::new([4, 4000, 40]).unwrap(),
                ModeOrder::identity(3).unwrap(),
                vec![
                    Level { pos: vec![0, 1], crd: vec![3] },
                    Level { pos: vec![0, nodes.len() as u64], crd: nodes },
                    Level { pos, crd },
                ],
            );
            for sum in sums(&tree.unwrap(), &values) {
                assert_eq!(sum, expected as f64, "{lengths:?}");
            }
        }
    }
}
