//! Claims about explanations as a whole. One binary: what they have in common is compiled and
//! linked once.

mod focus_cases;
mod random_explanations;
