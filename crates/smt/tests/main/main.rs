//! Claims about the solvers as a whole. One binary: what they have in common is compiled and linked
//! once. `tests/limits.rs` is one of its own, for it looks at the clock.

mod common;
mod external;
mod floats;
mod values;
