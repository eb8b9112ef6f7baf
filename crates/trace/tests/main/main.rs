//! Claims about traces. One binary: what they have in common is compiled and linked once.

mod backtraces;
mod cases;
mod random_programs;
mod runs;
mod shortest;
mod stacks;
mod yaml;
