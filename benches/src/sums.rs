//! The sum that iteration is measured with: each value times the sum of its coordinates. It
//! touches everything that is stored, and is little work beside. Coordinates of rank 3, which all
//! tensors have that are iterated over, are added without a loop.

use hurray_csf::{Fibers, Leaves};

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
    fibers.fold(0.0, |sum, fiber| {
        let outer = match *fiber.outer() {
            [i, j] => i + j,
            _ => fiber.outer().iter().sum(),
        };
        sum + of_fiber(outer, fiber.crd(), &values[fiber.leaves()])
    })
}

/// A sum of coordinates as a float, by way of an `i64`, which is one instruction.
#[inline]
fn to_f64(total: u64) -> f64 {
    total.cast_signed() as f64
}

/// The part of one fiber, with as many values as coordinates.
#[inline]
fn of_fiber(outer: u64, crd: &[u64], values: &[f64]) -> f64 {
    const LANES: usize = 8;
    let len = crd.len();
    if len == 0 || values.len() != len {
        return 0.0;
    }
    let term = |leaf: usize| values[leaf] * to_f64(outer + crd[leaf]);
    if len <= 2 {
        // Whether there are one or two leaves is what processors often guess wrong, so this counts
        // the first one 0 times or once.
        return to_f64(len as u64 - 1) * term(0) + term(len - 1);
    }
    let (crds, rest) = crd.as_chunks::<LANES>();
    let mut sum = 0.0;
    if !crds.is_empty() {
        // Several sums, since each has to wait for its last addition.
        let mut sums = [0.0; LANES];
        for (crd, values) in crds.iter().zip(values.as_chunks::<LANES>().0) {
            for lane in 0..LANES {
                // From a u64, which can be done in vectors.
                sums[lane] += values[lane] * (outer + crd[lane]) as f64;
            }
        }
        sum = sums.iter().sum();
    }
    (len - rest.len()..len).fold(sum, |sum, leaf| sum + term(leaf))
}

#[cfg(test)]
mod tests {
    use crate::Workload;

    #[test]
    fn both_sums_are_those_of_the_entries() {
        for name in ["skew3", "uniform3", "long3"] {
            let entries = Workload::named(name, 3_000).unwrap().entries().unwrap();
            let tensor = entries.build().unwrap();
            let values = tensor.values().as_slice().unwrap();
            let rows = entries.coordinates().chunks(3).zip(entries.values());
            let expected: f64 = rows.map(|(row, v)| v * row.iter().sum::<u64>() as f64).sum();
            let near = |sum: f64| (sum - expected).abs() < 1e-9 * expected;
            assert!(near(super::by_leaves(tensor.tree().leaves(), values)));
            assert!(near(super::by_fibers(tensor.tree().fibers(), values)));
        }
    }
}
