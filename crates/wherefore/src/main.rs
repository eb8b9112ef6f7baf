//! The command line of `wherefore`.
fn main() {}
