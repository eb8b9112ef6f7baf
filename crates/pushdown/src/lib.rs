//! Weighted pushdown systems: the engine of `wherefore`.
//!
//! # Reading order
//! 1. [`Semiring`] and [`Merge`]: what weights are.
//! 2. [`System`]: rules; [`Automaton`]: regular sets of configurations, which [`ConfigurationSet`] reads from text.
#![doc = include_str!("../papers.md")]

mod automaton;
mod configurations;
mod limits;
mod names;
mod parse_error;
mod semiring;
mod store;
mod system;

pub mod laws;
pub mod lexer;

pub use automaton::{Automaton, Reading, Transition};
pub use configurations::ConfigurationSet;
pub use limits::{Limits, StopReason};
pub use names::{Names, RuleId, Shown, State, Symbol};
pub use parse_error::ParseError;
pub use semiring::{
    Adjoint, AdjointMerge, Merge, Plain, Relational, Remembering, Semiring, star_by_difference,
    star_by_squaring,
};
pub use system::{Configuration, Rhs, Rule, System};
