//! Claims about saturation as a whole. One binary: what they have in common is compiled and linked
//! once.

mod common;
mod path_expressions;
mod projection;
mod saturation;
