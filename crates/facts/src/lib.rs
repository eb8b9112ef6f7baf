//! What holds at the lines of a program, by weighted pushdown systems, and whether it does.
//!
//! # Reading order
//! 1. [`Claim`]: what can be said. [`Analysed`]: a program analysed in a [`Domain`]; [`Fact`]: what
//!    it says at a point, for all stacks or for [`Stacks`] of calls. [`points`]: lines.
//! 2. `slots.rs`, `linear.rs`, `lower.rs`: from a program to a system of rules with weights;
//!    `solved.rs`: post\*, and what is read off.
//! 3. `constants.rs`, `affine.rs`: the domains; ranges are those of `wherefore-flow`.
//! 4. [`verify`]: every fact is checked by code that shares nothing with the domains.
//!
//! \[Lal09\] is Akash Lal, *Interprocedural Analysed and the Verification of Concurrent Programs*,
//! University of Wisconsin–Madison, 2009; `docs/papers.md` says where this departs from it.

mod affine;
mod analysed;
mod claim;
mod constants;
mod linear;
mod lower;
mod points;
mod slots;
mod solved;
mod stack;
mod verify;
mod words;

pub use analysed::{Analysed, Domain, Fact, NoAnalysis};
pub use claim::{Claim, Equation, Place};
pub use points::{Line, first_point, points};
pub use stack::{NoStacks, Stacks};
pub use verify::{Verified, verify};
pub use words::{name_of, source_names};

/// The guide for writers of analyses, whose examples are tests.
#[cfg(doctest)]
#[doc = include_str!("../../../docs/analyses.md")]
struct Guide;
