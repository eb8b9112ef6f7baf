//! Path slices: the examples of the document, random programs, long paths.
//!
//! The document is [PathSlice]. Facts of its examples are in `tests/cases/path_slice`; `facts.rs`
//! checks each of them. `random.rs` tests Theorem 1 on random programs by running slices and
//! programs; `long.rs` makes long paths, also for the benchmark.

mod cfa;
mod facts;
mod long;
mod random;
mod run;
mod small;
mod straight;
mod yaml;
