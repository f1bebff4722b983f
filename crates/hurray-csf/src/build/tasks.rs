//! Work cut into pieces, on the threads of the caller's rayon pool or, without the feature
//! `parallel`, on this one. What a piece returns never depends on how the pieces were cut.

/// The threads that pieces can run on.
pub(crate) fn threads() -> usize {
    #[cfg(feature = "parallel")]
    return rayon::current_num_threads();
    #[cfg(not(feature = "parallel"))]
    return 1;
}

/// The results of all pieces, in their order.
pub(crate) fn map<T: Send, R: Send>(pieces: Vec<T>, work: impl Fn(T) -> R + Sync + Send) -> Vec<R> {
    map_with(pieces, || (), |(), piece| work(piece))
}

/// The results of all pieces, in their order. Pieces that run one after the other on a thread
/// share what `scratch` makes, so that its memory stays in the cache.
pub(crate) fn map_with<T: Send, S, R: Send>(
    pieces: Vec<T>,
    scratch: impl Fn() -> S + Sync + Send,
    work: impl Fn(&mut S, T) -> R + Sync + Send,
) -> Vec<R> {
    #[cfg(feature = "parallel")]
    {
        use rayon::prelude::*;
        pieces.into_par_iter().map_init(scratch, work).collect()
    }
    #[cfg(not(feature = "parallel"))]
    {
        let mut scratch = scratch();
        pieces.into_iter().map(|piece| work(&mut scratch, piece)).collect()
    }
}
