//! The sum that iteration is measured with: each value times the sum of its coordinates. It
//! touches everything that is stored, and is little work beside.

use hurray_csf::{Fibers, Leaves};

/// Leaf by leaf, with logical indices.
#[must_use]
pub fn by_leaves(leaves: Leaves<'_>, values: &[f64]) -> f64 {
    let mut sum = 0.0;
    leaves.for_each(|index, leaf| sum += values[leaf] * index.iter().sum::<u64>() as f64);
    sum
}

/// Fiber by fiber.
#[must_use]
pub fn by_fibers(fibers: Fibers<'_>, values: &[f64]) -> f64 {
    let mut sum = 0.0;
    fibers.for_each(|fiber| {
        let outer = fiber.outer().iter().sum();
        sum += of_fiber(outer, fiber.crd(), &values[fiber.leaves()]);
    });
    sum
}

/// The part of one fiber. Several sums, since each has to wait for its last addition.
#[inline]
fn of_fiber(outer: u64, crd: &[u64], values: &[f64]) -> f64 {
    const LANES: usize = 8;
    let ((crds, crd), (vectors, values)) = (crd.as_chunks::<LANES>(), values.as_chunks::<LANES>());
    let mut sums = [0.0; LANES];
    for (crd, values) in crds.iter().zip(vectors) {
        for lane in 0..LANES {
            sums[lane] += values[lane] * (outer + crd[lane]) as f64;
        }
    }
    let rest = crd.iter().zip(values).map(|(&crd, value)| value * (outer + crd) as f64);
    rest.sum::<f64>() + if crds.is_empty() { 0.0 } else { sums.iter().sum() }
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
