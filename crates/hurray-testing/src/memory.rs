//! An allocator that counts, to show what an input causes to be allocated.
//!
//! ```
//! use hurray_testing::memory::{self, Counting};
//!
//! #[global_allocator]
//! static ALLOCATOR: Counting = Counting;
//!
//! let (bytes, usage) = memory::measure(|| vec![0u8; 1000]);
//! assert!(usage.peak >= bytes.len());
//! ```
//!
//! It sees what Rust code gets from the heap. Buffers past 2 MiB may be mappings of their own
//! ([`AlignedBytes`](hurray_format::AlignedBytes)), which it does not; [`virtual_peak`] does.

use std::alloc::{GlobalAlloc, Layout, System};
use std::sync::atomic::{AtomicUsize, Ordering::Relaxed};
use std::sync::{Mutex, MutexGuard, PoisonError};

/// The system's allocator, which counts. To be the `#[global_allocator]` of a test.
#[derive(Clone, Copy, Debug)]
pub struct Counting;

static CURRENT: AtomicUsize = AtomicUsize::new(0);
static PEAK: AtomicUsize = AtomicUsize::new(0);
static LARGEST: AtomicUsize = AtomicUsize::new(0);
static COUNT: AtomicUsize = AtomicUsize::new(0);
static TOTAL: AtomicUsize = AtomicUsize::new(0);

fn added(size: usize) {
    PEAK.fetch_max(CURRENT.fetch_add(size, Relaxed).wrapping_add(size), Relaxed);
    LARGEST.fetch_max(size, Relaxed);
    COUNT.fetch_add(1, Relaxed);
    TOTAL.fetch_add(size, Relaxed);
}

fn removed(size: usize) {
    CURRENT.fetch_sub(size, Relaxed);
}

// SAFETY: everything is passed on to the system's allocator as it is.
#[expect(unsafe_code, reason = "an allocator cannot be had otherwise")]
unsafe impl GlobalAlloc for Counting {
    unsafe fn alloc(&self, layout: Layout) -> *mut u8 {
        added(layout.size());
        // SAFETY: the caller keeps the contract.
        unsafe { System.alloc(layout) }
    }

    unsafe fn alloc_zeroed(&self, layout: Layout) -> *mut u8 {
        added(layout.size());
        // SAFETY: the caller keeps the contract.
        unsafe { System.alloc_zeroed(layout) }
    }

    unsafe fn dealloc(&self, at: *mut u8, layout: Layout) {
        removed(layout.size());
        // SAFETY: the caller keeps the contract.
        unsafe { System.dealloc(at, layout) }
    }

    unsafe fn realloc(&self, at: *mut u8, layout: Layout, size: usize) -> *mut u8 {
        // Both may be there for a while.
        added(size);
        removed(layout.size());
        // SAFETY: the caller keeps the contract.
        unsafe { System.realloc(at, layout, size) }
    }
}

/// What was allocated while something ran, on all threads.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Usage {
    /// The most bytes that were allocated at a time, on top of those that were before.
    pub peak: usize,
    /// The number of allocations.
    pub count: usize,
    /// The bytes of all of them together.
    pub total: usize,
}

/// Waits until no other test of the process holds this. Whatever runs during a measurement is
/// counted, so every test of a file that measures begins with it.
pub fn alone() -> MutexGuard<'static, ()> {
    static ONE_AT_A_TIME: Mutex<()> = Mutex::new(());
    ONE_AT_A_TIME.lock().unwrap_or_else(PoisonError::into_inner)
}

/// Runs something and says what it allocated.
pub fn measure<T>(run: impl FnOnce() -> T) -> (T, Usage) {
    let before = CURRENT.load(Relaxed);
    let (count, total) = (COUNT.load(Relaxed), TOTAL.load(Relaxed));
    PEAK.store(before, Relaxed);
    let result = run();
    let usage = Usage {
        peak: PEAK.load(Relaxed).saturating_sub(before),
        count: COUNT.load(Relaxed) - count,
        total: TOTAL.load(Relaxed) - total,
    };
    (result, usage)
}

/// The size of the largest allocation of the process so far.
#[must_use]
pub fn largest() -> usize {
    LARGEST.load(Relaxed)
}

/// The most address space that the process has had so far, in bytes: heap, mappings, stacks. `None`
/// where the system does not say so.
#[must_use]
pub fn virtual_peak() -> Option<usize> {
    let status = std::fs::read_to_string("/proc/self/status").ok()?;
    let line = status.lines().find_map(|line| line.strip_prefix("VmPeak:"))?;
    line.trim().strip_suffix(" kB")?.parse::<usize>().ok().map(|size| size * 1024)
}
