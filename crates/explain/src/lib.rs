//! Why a program fails: what of the program is on failing runs, which statements a failure depends
//! on, and where the fault is likely to be.
//!
//! # Reading order
//! 1. [`model`]: an explanation as data, for reports.
//! 2. [`Subject`] (`explain.rs`): from a failing run to an explanation. [`why`]: the reasons alone.
//! 3. Where: `cover.rs` (failing runs through all locations), `stores.rs` (conditions at
//!    locations), `steps.rs` (runs in the words of the source).
//! 4. Why and when: [`focus`] (sequences), `free_choices.rs`, `conditions.rs`, [`assumptions`],
//!    `source_syntax.rs`; `search.rs` looks for more ways to fail.
//! 5. Likely fault: [`rank`], [`reduce`], [`neighbourhood`], `sharpen.rs` by `repair.rs` over
//!    `variant.rs`, `suspicion.rs`.
//!
//! *Invariant:* what is outside a projection is on no failing run; what is confirmed is on one that
//! was found; a sequence that is called feasible can be executed.

mod always;
pub mod assumptions;
mod conditions;
mod cover;
mod explain;
pub mod focus;
mod free_choices;
pub mod model;
pub mod neighbourhood;
pub mod rank;
pub mod reduce;
mod repair;
mod search;
mod sharpen;
mod source_syntax;
mod steps;
mod stores;
mod suspicion;
mod variant;
mod why;
mod words;

pub use cover::Cover;
pub use explain::{Conditions, Lines, Subject, place_of, stats};
pub use steps::{Grain, Steps};
pub use why::{Focus, Left, Marked, Reasons, focus_of_path, why};
