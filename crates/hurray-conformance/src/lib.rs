//! This project held against the published reference implementation of the Hurray format
//! (`hurray-core` and `hurray-io` 0.1.0, which share nothing with it but the format).
//!
//! Never published, and no library depends on it: the reference is a yardstick, not a part.

#![forbid(unsafe_code)]

pub mod reference;
