//! Facts that hold at the locations of a program, found by data flow.
//!
//! # Reading order
//! 1. [`Range`]: a set of numbers between bounds, signed and unsigned; `expression.rs`: what an
//!    expression can be, and what a condition says about variables.
//! 2. [`Ranges`]: the ranges of all variables at all locations of a program.
//! 3. [`Available`]: the conditions that were tested before, and still hold.

mod available;
mod expression;
mod range;
mod ranges;

pub use available::Available;
pub use expression::{Known, Nothing, range_of};
pub use range::Range;
pub use ranges::{Ranges, Values};
