//! What the fuzz targets and the tests of several crates share: inputs that are nearly valid, ways
//! to use everything that came of them, and an allocator that counts.
//!
//! An input of a fuzz target is plain bytes, and [`Choices`] reads decisions off them, so a fuzzer
//! that mutates bytes mutates decisions, and every input that was found is a small file. The
//! decisions start from the fixtures of the project ([`seeds`]), which are damaged ([`damage`]), or
//! from nothing ([`trees`]). [`exercise`] then calls whatever can be called on the result.
//!
//! Never published, and no library depends on it.

pub mod bits;
pub mod changing;
pub mod choices;
pub mod damage;
pub mod executions;
pub mod exercise;
pub mod memory;
pub mod seeds;
pub mod trees;

pub use choices::Choices;
pub use executions::counted;
