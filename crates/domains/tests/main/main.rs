//! Claims about the weight domains as a whole. One binary: what they have in common is compiled and
//! linked once.

mod cases;
mod cases_support;
