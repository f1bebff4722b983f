//! Work on the threads of the caller's rayon pool, or one after the other without the feature
//! `parallel`.

#[cfg(feature = "parallel")]
mod imp {
    use rayon::prelude::*;

    pub(in super::super) fn threads() -> usize {
        rayon::current_num_threads()
    }

    pub(in super::super) fn join(a: impl FnOnce() + Send, b: impl FnOnce() + Send) {
        rayon::join(a, b);
    }

    pub(in super::super) fn for_each<T: Send>(
        items: &mut [T],
        work: impl Fn(&mut T) + Send + Sync,
    ) {
        items.par_iter_mut().with_max_len(1).for_each(work);
    }
}

#[cfg(not(feature = "parallel"))]
mod imp {
    pub(in super::super) fn threads() -> usize {
        1
    }

    pub(in super::super) fn join(a: impl FnOnce(), b: impl FnOnce()) {
        a();
        b();
    }

    pub(in super::super) fn for_each<T>(items: &mut [T], work: impl Fn(&mut T)) {
        items.iter_mut().for_each(work);
    }
}

pub(super) use imp::{for_each, join, threads};
