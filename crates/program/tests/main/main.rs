//! Claims about programs as a whole. One binary: what they have in common is compiled and linked
//! once.

mod memory;
mod path_slice;
mod small_program;
