//! What the criterion benches and `cargo xtask perf` share: the tensors they work on, what their
//! times are compared with, and the sums they take.

pub mod random;
pub mod sums;
pub mod workloads;
pub mod yardsticks;

pub use workloads::{Entries, Workload, WorkloadError};
