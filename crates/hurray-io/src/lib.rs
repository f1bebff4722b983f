//! Placeholder.

pub mod tns;
