//! Facts that hold at the locations of a program, found by data flow.
//!
//! # Reading order
//! 1. [`Range`]: a set of numbers between bounds, signed and unsigned; `expression.rs`: what an
//!    expression can be, and what a condition says about variables; [`Few`]: a small set of numbers.
//! 2. [`Ranges`]: the ranges of all variables at all locations of a program.
//! 3. [`Available`]: the conditions that were tested before, and still hold.
//! 4. [`States`]: the values of one variable, such as the state of an automaton, along all valid
//!    paths. [`Analysis`]: analyses of one's own, solved by [`tabulate`]; [`Reaching`], [`Live`] and
//!    [`Uninitialised`] are written with it.
//! 5. [`Cells`]: memory at known addresses as variables; [`fold`]: constants in the place of
//!    expressions with one value; [`LoopFacts`]: bounds as conditions at the heads of loops;
//!    [`Slice`]: the part of a program that matters for some locations; [`Termination`]: which parts
//!    of a program end.
//! 6. [`Enumerated`]: all states, one by one, as far as constants go.

mod analysis;
mod available;
mod cells;
mod enumerate;
mod expression;
mod few;
mod fold;
mod gen_kill;
mod loop_facts;
mod range;
mod ranges;
mod rewrite;
mod shared;
mod slice;
mod states;
mod termination;

pub use analysis::{Analysis, CONTEXTS, Flow, NoEnd, Step, Tables, tabulate};
pub use available::Available;
pub use cells::Cells;
pub use enumerate::Enumerated;
pub use expression::{Known, Nothing, range_of};
pub use few::{Few, few_values};
pub use fold::fold;
pub use gen_kill::{Live, Reaching, Uninitialised};
pub use loop_facts::LoopFacts;
pub use range::Range;
pub use ranges::{Ranges, Values};
pub use slice::Slice;
pub use states::States;
pub use termination::Termination;
