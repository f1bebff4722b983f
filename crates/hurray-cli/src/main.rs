//! The binary `hurray`.
fn main() {}
