//! Proofs by induction: facts, k-induction and property-directed reachability.
//!
//! Refinement rules out one counterexample after the other, which does not end where a loop needs
//! an equation, a congruence, a range, or what a guard before it said; and takes hundreds of rounds
//! where an endless loop goes round a state machine. Both kinds of programs have short inductive
//! invariants ([decision 0022](../../../docs/decisions/0022-proofs-by-induction.md)).
//!
//! # Reading order
//! 1. `system`: the program between its cut points.
//! 2. `facts`: what always holds at cut points; `hull`: equations modulo powers of two;
//!    `candidates`: guesses from the text; `elements`: about all elements of arrays; `walks`: states
//!    that refute them.
//! 3. `deep`: k-induction from the facts.
//! 4. `frames`: property-directed reachability from the facts; `lifting`: cubes of models.
//! 5. `split`: the same with points of their own for values of variables that take few.
//! 6. `reduce`: what of it a proof needs; `certificate`: the check of the proofs, by code of its
//!    own.
//! 7. `engine`: all of it as engines of the portfolio.

mod candidates;
mod certificate;
mod deep;
mod elements;
mod engine;
mod facts;
mod frames;
mod hull;
mod lifting;
mod reduce;
mod split;
mod system;
mod walks;

pub use engine::{Induction, Way};

#[cfg(test)]
mod tests;
