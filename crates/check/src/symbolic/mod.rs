//! Programs as formulas: what the engines for C share.
//!
//! # Reading order
//! 1. [`Flat`]: the program with its calls inlined, as one graph.
//! 2. [`Store`]: a term for each variable. [`Machine`]: what a step does to a store.
//! 3. [`run`]: a failing run with values, from a path and a model.

pub(crate) mod flat;
pub(crate) mod machine;
pub(crate) mod nesting;
pub(crate) mod run;
pub(crate) mod store;

pub(crate) use flat::{Flat, PlaceId};
pub(crate) use machine::Machine;
pub(crate) use store::Store;
