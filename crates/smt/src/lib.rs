//! Satisfiability of bit-vectors, truth values and arrays.
//!
//! Reading order: [`Terms`] (the arena; `terms.rs`) and its builders, which simplify (`logic.rs`,
//! `linear.rs`, `compare.rs`, `arithmetic.rs`, `floats.rs`, `slices.rs`, `arrays.rs`,
//! `choices.rs`); [`Model`];
//! the trait [`Solver`]; the embedded solver [`BitBlaster`] from the top down: `bit_blaster.rs`,
//! `blast.rs`, `circuits.rs`, `gates.rs`, `search.rs`, `preprocess.rs`, and `reads.rs` for arrays,
//! `recall.rs` for answers of before, `float_circuits.rs`, `float_casts.rs`, `float_parts.rs` for
//! floating-point numbers; solvers of other makers: [`External`].
//!
//! The semantics are those of SMT-LIB's theories of fixed-size bit-vectors and arrays; division by
//! zero included. Arrays cannot be compared with each other. Floating-point numbers are
//! bit-vectors, with the operations of `wherefore-floats` on them.
//!
//! ```
//! use wherefore_smt::{Budget, Outcome, Sort, Terms, is_sat};
//!
//! let mut terms = Terms::new();
//! let x = terms.variable("x", Sort::Bits(32));
//! let one = terms.bits(1, 32);
//! let next = terms.add(x, one);
//! let overflow = terms.slt(next, x);
//! let Outcome::Sat(model) = is_sat(&mut terms, overflow, &Budget::default()) else { panic!() };
//! assert_eq!(terms.evaluate(x, &model).bits(), Some(0x7fff_ffff));
//! ```

mod arithmetic;
mod arrays;
mod ask;
mod bit_blaster;
mod blast;
mod budget;
mod cases;
mod choices;
mod circuits;
mod compare;
mod display;
mod external;
mod float_casts;
mod float_circuits;
mod float_parts;
#[cfg(test)]
mod float_simulation;
mod float_smtlib;
mod floats;
mod gate_set;
mod gates;
mod linear;
mod logic;
mod model;
mod operation;
mod polynomials;
mod preprocess;
mod process;
mod reads;
mod recall;
mod search;
mod slices;
mod smtlib;
mod solver;
mod sort;
mod terms;
mod traverse;

pub use ask::{is_sat, is_valid, minimise_core};
pub use bit_blaster::BitBlaster;
pub use budget::{Budget, Reason, Work};
pub use cases::{check_by_cases, contradicts_by_arithmetic};
pub use display::Readable;
pub use external::External;
pub use model::{Model, Value};
pub use operation::Op;
pub use smtlib::SmtLib;
pub use solver::{Outcome, Solver};
pub use sort::{MAX_WIDTH, Sort};
pub use terms::{Kind, Term, Terms};
pub use wherefore_floats::{FloatOp, Format, Operation as FloatOperation, Rounding};
