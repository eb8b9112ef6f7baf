//! Floating-point numbers as bits: the formats binary32 and binary64 of IEEE 754, the operations on
//! them, and what these compute.
//!
//! Programs (`wherefore-program`) and terms (`wherefore-smt`) have the same operations, and both
//! are evaluated by [`FloatOp::apply`], which has the machine compute. Circuits for the same
//! operations are in `wherefore-smt`, and are tested against this.
//!
//! Rounding is to nearest, ties to even. An operation whose result is not a number gives
//! [`Format::nan`], whatever the operands: signs and payloads of NaNs are not followed.

mod format;
mod machine;
mod operation;

pub use format::Format;
pub use operation::{FloatOp, Operation, Rounding};
