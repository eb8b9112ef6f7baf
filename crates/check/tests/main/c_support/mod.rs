//! Random C programs.

pub mod random;
