//! Who checks proofs: the solver of our own, or one of other makers.
//!
//! Checks of proofs share the solver with the engines that found them. A user who does not want to
//! trust it names another, and then nothing counts as a proof that this one does not accept.

use std::time::Duration;

use wherefore_smt::{BitBlaster, Budget, External, Outcome, Reason, Solver, Sort, Terms};

/// A solver that checks proofs.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub enum Prover {
    /// Ours.
    #[default]
    Embedded,
    /// A program that reads SMT-LIB 2, by its command line.
    Command(String),
}

/// Why a program cannot check proofs.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
#[error("`{command}` is of no use as a solver: {why}")]
pub struct NoProver {
    /// The command line.
    pub command: String,
    /// What is wrong with it.
    pub why: String,
}

/// How long a solver may take for questions that are none.
const PATIENCE: Duration = Duration::from_secs(10);

impl Prover {
    /// Another solver: a known one by its name (`z3`), or a command line (`z3 -in -smt2`). It is
    /// asked what everybody knows.
    ///
    /// # Errors
    /// It cannot be run, or it does not know.
    pub fn command(text: &str) -> Result<Self, NoProver> {
        let fail = |why: String| NoProver { command: text.to_owned(), why };
        let prover = Self::Command(text.to_owned());
        let (mut terms, mut solver) = (Terms::new(), prover.solver());
        let [x, y] = ["x", "y"].map(|name| terms.variable(name, Sort::Bits(8)));
        let (less, more) = (terms.ult(x, y), terms.ult(y, x));
        for (question, expected) in [(vec![less], true), (vec![less, more], false)] {
            match solver.check(&mut terms, &question, &Budget::time(PATIENCE)) {
                Outcome::Sat(_) if expected => {}
                Outcome::Unsat(_) if !expected => {}
                Outcome::Sat(_) | Outcome::Unsat(_) => return Err(fail("it gives wrong answers".to_owned())),
                Outcome::Unknown(Reason::Time) => return Err(fail("it does not answer".to_owned())),
                Outcome::Unknown(reason) => return Err(fail(reason.why().to_owned())),
            }
        }
        Ok(prover)
    }

    /// Its command line; none for the embedded one.
    pub fn command_line(&self) -> Option<String> {
        match self {
            Self::Embedded => None,
            Self::Command(command) => Some(command.clone()),
        }
    }

    /// A new solver with no assertions.
    pub(crate) fn solver(&self) -> Box<dyn Solver> {
        match self {
            Self::Embedded => Box::new(BitBlaster::new()),
            Self::Command(text) => Box::new(External::from_text(text)),
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn programs_that_are_no_solvers_are_refused() {
        for command in ["/no/such/solver", "true", "cat", "echo unsat", "echo sat", ""] {
            assert!(Prover::command(command).is_err(), "{command}");
        }
    }

    #[test]
    fn installed_solvers_are_accepted() {
        let installed = External::installed();
        if installed.is_empty() {
            println!("no solver is installed: nothing is asked");
        }
        for name in installed {
            assert_eq!(Prover::command(name), Ok(Prover::Command(name.to_owned())));
        }
    }
}
