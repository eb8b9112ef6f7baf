//! What every solver can be asked.

use crate::budget::{Budget, Reason};
use crate::model::Model;
use crate::terms::{Term, Terms};

/// The answer to a check.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Outcome {
    /// Values under which all assertions and assumptions hold.
    Sat(Model),
    /// Some of the assumptions which, with the assertions, cannot all hold: a core, not always a
    /// smallest one.
    Unsat(Vec<Term>),
    /// No answer, and why. Never a synonym for either.
    Unknown(Reason),
}

impl Outcome {
    /// The model, if there is one.
    pub fn model(&self) -> Option<&Model> {
        match self {
            Outcome::Sat(model) => Some(model),
            _ => None,
        }
    }

    /// Whether the answer is satisfiable.
    pub fn is_sat(&self) -> bool {
        matches!(self, Outcome::Sat(_))
    }

    /// Whether the answer is unsatisfiable.
    pub fn is_unsat(&self) -> bool {
        matches!(self, Outcome::Unsat(_))
    }
}

/// A stack of assertions that can be checked, again and again, under assumptions.
///
/// One solver is used with one [`Terms`] only.
pub trait Solver {
    /// Adds a truth value to the innermost level.
    fn assert(&mut self, terms: &mut Terms, term: Term);

    /// Opens a level.
    fn push(&mut self);

    /// Drops the innermost level with its assertions. Does nothing on the outermost.
    fn pop(&mut self);

    /// Whether all assertions and assumptions can hold together.
    fn check(&mut self, terms: &mut Terms, assumptions: &[Term], budget: &Budget) -> Outcome;
}
