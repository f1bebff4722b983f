//! How a fuzz target is run.

use std::sync::atomic::{AtomicU64, Ordering::Relaxed};

/// Counts, and prints the count when it is dropped, as `cargo xtask fuzz` reads it.
struct Executions(AtomicU64);

impl Drop for Executions {
    fn drop(&mut self) {
        println!("{} executions", self.0.load(Relaxed));
    }
}

/// The function as it is; when it is dropped it prints how often it was called. A fuzzer that ends
/// the process counts for itself.
///
/// From now on whatever runs in parallel runs on this thread alone: inputs are small, and handing
/// each of them to other threads and back would take most of the time.
pub fn counted(run: fn(&[u8])) -> impl Fn(&[u8]) {
    // It fails if there is a pool already, which works as well.
    let _ = rayon::ThreadPoolBuilder::new().num_threads(1).use_current_thread().build_global();
    let executions = Executions(AtomicU64::new(0));
    move |bytes| {
        // As a whole, so that it moves in here.
        let executions = &executions;
        executions.0.fetch_add(1, Relaxed);
        run(bytes);
    }
}
