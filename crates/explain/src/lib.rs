//! Why a program fails: what of the program is on failing runs, which statements a failure depends on, and where the fault is likely to be.
//!
//! # Reading order
//! 1. [`model`]: an explanation as data, for reports.

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
mod source_syntax;
mod steps;
mod stores;
mod suspicion;
mod variant;
mod why;
mod words;

pub use cover::Cover;
pub use explain::{Conditions, Lines, Subject, stats};
pub use steps::{Grain, Steps};
pub use why::{Focus, Left, Marked, Why, focus_of_path, why};
