//! Weighted pushdown systems: the engine of `wherefore`.
//!
//! # Reading order
//! 1. [`Semiring`] and [`Merge`]: what weights are.
//! 2. [`System`]: rules; [`Automaton`]: regular sets of configurations.
#![doc = include_str!("../papers.md")]

mod automaton;
mod limits;
mod names;
mod semiring;
mod store;
mod system;

pub mod laws;

pub use automaton::{Automaton, Reading, Transition};
pub use limits::{Limits, StopReason};
pub use names::{Names, RuleId, Shown, State, Symbol};
pub use semiring::{
    Adjoint, AdjointMerge, Merge, Plain, Relational, Remembering, Semiring, star_by_difference,
    star_by_squaring,
};
pub use system::{Configuration, Rhs, Rule, System};
