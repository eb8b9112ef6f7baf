//! Floating-point numbers as bits: the formats binary32 and binary64 of IEEE 754, the operations on
//! them, and what these compute.
//!
//! Programs (`wherefore-program`) and terms (`wherefore-smt`) have the same operations, and both
//! are evaluated by [`FloatOp::apply`], which has the machine compute. Circuits for the same
//! operations are in `wherefore-smt`, and are tested against this.
//!
//! Rounding is to nearest, ties to even. NaNs are as on x86: an operation with an operand that is
//! one gives that, made quiet, and else [`Format::nan`]. Of two different NaNs the machine takes
//! the first operand, and compilers may swap them: here the result has the bits of both.

mod format;
mod machine;
mod operation;

pub use format::Format;
pub use operation::{FloatOp, Operation, Rounding};
