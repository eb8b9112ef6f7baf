//! Claims about the command line as a whole. One binary: what they have in common is compiled and
//! linked once. `tests/limits.rs` is one of its own, for it looks at the clock.

mod c;
mod c_verdicts;
mod explain;
mod floats;
mod flow;
mod library;
mod lsp;
mod ltl;
mod mistakes;
mod ordinary;
mod pds;
mod program;
mod proofs;
mod properties;
mod property;
mod readme;
mod replay;
mod schedules;
mod sources;
mod task;
mod terminal;
mod traces;
mod tutorial;
mod validate;
mod verdicts;
