//! Why a program fails: what of the program is on failing runs, which statements a failure depends on, and where the fault is likely to be.
//!
//! # Reading order
//! 1. [`model`]: an explanation as data, for reports.

pub mod model;
