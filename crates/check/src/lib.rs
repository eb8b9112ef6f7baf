//! Verdicts on programs.
//!
//! # Reading order
//! 1. [`exact`]: programs over finite data, decided by decision diagrams on an extended weighted pushdown system.
//!    [`exact::Checker`] gives verdicts, shortest runs, the error projection, and the stores at each location.
//! 2. Inside it: `layout` (variables as bits, and their order), `bits` (expressions as predicates), `encode` (edges as rules),
//!    `concrete` (runs with values).
//!
//! # Soundness
//! [`Verdict::Safe`] and [`Verdict::Unsafe`] are promises. A limit, or a program that is not supported, is
//! [`Verdict::Unknown`] with its reason. Every run is replayed by the interpreter of `wherefore-program` before it is
//! handed out.

pub mod cegar;
mod encoding;
pub mod exact;
pub mod interpolants;
mod verdict;

pub use verdict::{CheckError, Verdict};
