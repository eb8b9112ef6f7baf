//! Weighted pushdown systems: the engine of `wherefore`.
//!
//! # Reading order
//! 1. [`Semiring`] and [`Merge`]: what weights are. [`laws`] checks a new domain.
//! 2. [`System`]: rules; [`Automaton`]: regular sets of configurations, which [`ConfigurationSet`]
//!    reads from text.
//! 3. [`post_star`](post_star()) and [`pre_star`](pre_star()): saturation, by the one engine
//!    [`Saturation`]; [`solve`]: the same by path expressions. [`reachable`] and [`ijop`] answer a
//!    question in one call.
//! 4. [`Automaton::weight`], [`Automaton::summary`], [`Contexts`]: reading answers.
//!    [`Saturated::witnesses`]: rule sequences that justify them, checked by [`replay`](replay()).
//! 5. [`FunctionalAutomaton`] and [`AdjointProjection`]: every node on a failing run, with stores
//!    and witnesses.
//!
#![doc = include_str!("../papers.md")]

mod automaton;
mod chop;
mod completions;
mod configurations;
mod dependence;
mod expression;
mod graph;
mod limits;
mod names;
mod parse_error;
mod path_expressions;
mod path_solver;
mod path_witness;
mod post_star;
mod pre_star;
mod program_order;
mod projection;
mod reach;
mod reachability;
mod replay;
mod saturation;
mod semiring;
mod some_run;
mod store;
mod summary;
mod system;
mod versions;
mod witness;

pub mod laws;
pub mod lexer;

pub use automaton::{Automaton, Reading, Transition};
pub use chop::{WitnessThrough, chop_by_post_star, chop_by_pre_star, stores_along};
pub use completions::Completions;
pub use configurations::ConfigurationSet;
pub use limits::{Limits, StopReason};
pub use names::{Names, RuleId, Shown, State, Symbol};
pub use parse_error::ParseError;
pub use path_solver::{Method, PathSolver, SolverStats, solve};
pub use post_star::post_star;
pub use pre_star::pre_star;
pub use projection::{AdjointProjection, FunctionalAutomaton};
pub use reach::{Reachable, Strategy, ijop, reachable};
pub use reachability::Reachability;
pub use replay::{Replay, Stuck, replay};
pub use saturation::{Direction, Options, Order, Recording, Saturated, Saturation};
pub use semiring::{
    Adjoint, AdjointMerge, Atomic, Merge, Plain, Relational, Remembering, Semiring, star_by_difference,
    star_by_squaring,
};
pub use summary::Contexts;
pub use system::{Configuration, Rhs, Rule, System};
pub use versions::Version;
pub use witness::{NoWitness, Witness};
