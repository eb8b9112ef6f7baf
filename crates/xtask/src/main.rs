//! Benchmarks and acceptance runs.
fn main() {}
