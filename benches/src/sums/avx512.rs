//! The sum fiber by fiber for processors with AVX-512. They load as many of 8 lanes as a fiber has
//! leaves left, so there is nothing to guess about fibers of up to 8. Where fibers are short and
//! hard to foresee the sum takes a third less time.

use std::arch::x86_64::{
    _mm512_add_epi64, _mm512_cvtepi64_pd, _mm512_fmadd_pd, _mm512_maskz_loadu_epi64,
    _mm512_maskz_loadu_pd, _mm512_reduce_add_pd, _mm512_set1_epi64, _mm512_setzero_pd,
};

use hurray_csf::{Fibers, Siblings};

const LANES: usize = 8;

/// Whether the processor has what [`by_siblings`] needs.
pub(super) fn is_there() -> bool {
    is_x86_feature_detected!("avx512f") && is_x86_feature_detected!("avx512dq")
}

/// Fiber by fiber, one parent after the other.
///
/// # Panics
/// If [`is_there`] says no.
pub(super) fn by_siblings(mut fibers: Fibers<'_>, values: &[f64]) -> f64 {
    assert!(is_there(), "the processor has no AVX-512");
    let mut total = 0.0;
    while let Some(siblings) = fibers.next_siblings() {
        #[expect(unsafe_code, reason = "takes a third less time, see above")]
        // SAFETY: the processor has what the function is compiled for. In every other respect it
        // is safe.
        let sum = unsafe { of_siblings(siblings, values) };
        total += sum;
    }
    total
}

/// The part of the fibers of one parent.
#[target_feature(enable = "avx512f,avx512dq")]
fn of_siblings(siblings: Siblings<'_>, values: &[f64]) -> f64 {
    let outer: u64 = siblings.outer().iter().sum();
    let mut sums = _mm512_setzero_pd();
    for (coordinate, crd, leaves) in siblings {
        let outer = _mm512_set1_epi64((outer + coordinate).cast_signed());
        for (crd, values) in crd.chunks(LANES).zip(values[leaves].chunks(LANES)) {
            let mask = u8::MAX >> (LANES - crd.len().min(values.len()));
            #[expect(unsafe_code, reason = "takes a third less time, see above")]
            // SAFETY: the mask is as many ones as both slices have entries, counted from the lowest
            // lane, and lanes where it is zero are not read.
            let (crd, values) = unsafe {
                (
                    _mm512_maskz_loadu_epi64(mask, crd.as_ptr().cast()),
                    _mm512_maskz_loadu_pd(mask, values.as_ptr()),
                )
            };
            let totals = _mm512_cvtepi64_pd(_mm512_add_epi64(outer, crd));
            sums = _mm512_fmadd_pd(values, totals, sums);
        }
    }
    _mm512_reduce_add_pd(sums)
}
