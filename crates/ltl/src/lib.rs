//! Linear temporal logic on programs and pushdown systems.
//!
//! # Reading order
//! 1. [`Specification`]: a formula as text; [`Formula`]: what it is; [`Word`]: when it holds on a
//!    word.
//! 2. [`Buchi`]: the automaton of a formula.
//! 3. [`Derived::product`]: a program together with an automaton that reads its runs.
//! 4. [`decide()`]: whether some run is accepted, by the heads that repeat
//!    (`wherefore_check::repetition`).
//! 5. [`Lasso`]: a run that violates a formula, and its confirmation.
//!
//! # Soundness
//! [`Verdict::Holds`] and [`Verdict::Fails`] are promises. The interpreter of the program replays
//! each lasso, and the formula is evaluated on its word without an automaton, before it is handed
//! out.

mod buchi;
mod decide;
mod explicit;
mod formula;
mod lasso;
mod parse;
mod product;
mod states;
mod words;

pub use buchi::{Buchi, Guard, TooLarge, Transition};
pub use decide::{Decided, Reason, Verdict, Way, decide, decide_in};
pub use explicit::{Explicit, ExplicitRule, ExplicitVerdict, RuleLasso, TopOfStack, decide_explicit};
pub use formula::Formula;
pub use lasso::Lasso;
pub use parse::{Atom, Proposition, Specification};
pub use product::{Derived, Meaning, Subject};
pub use words::Word;
