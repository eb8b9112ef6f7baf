//! A second opinion on proofs by bounded checking: every run ends within so many turns of each
//! loop, and none fails.
//!
//! Refinement leaves an invariant that is checked edge by edge (`refinement/solver/proof.rs`).
//! Bounded checking leaves only a bound, so the check unrolls the program again, by code of its
//! own: it shares the program, the terms and the solver with the engine, and nothing else. Its
//! loops come from `order`, the meaning of steps from `meaning.rs`, and calls are run where they
//! are met, without a flat program. How far it unrolls does not matter for soundness: what is left
//! out must be shown to be out of reach.

mod order;
mod run;

use wherefore_program::{ErrorSite, Program};
use wherefore_smt::{Budget, Outcome, Terms};

use crate::bounded::in_deep_thread;
use crate::prover::Prover;
use crate::symbolic::machine::accesses_memory;
use run::Unrolling;

/// What came of a check.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Opinion {
    /// It is a proof.
    Accepted,
    /// It is none, and why.
    Refuted(String),
    /// This is not known, and why.
    Undecided(String),
}

/// Checks the claim that every run of a program ends within `bound` turns of each loop, and that
/// none reaches a target.
pub fn check(
    program: &Program,
    targets: &[ErrorSite],
    bound: usize,
    prover: &Prover,
    budget: &crate::Budget,
) -> Opinion {
    let budget = budget.solver();
    in_deep_thread(|| examine(program, targets, bound, prover, &budget))
        .unwrap_or_else(|| Opinion::Undecided("there is no room for it".to_owned()))
}

fn examine(
    program: &Program,
    targets: &[ErrorSite],
    bound: usize,
    prover: &Prover,
    budget: &Budget,
) -> Opinion {
    let mut terms = if accesses_memory(program) { Terms::with_choices() } else { Terms::new() };
    let ends = match Unrolling::new(&mut terms, program, targets, bound, budget).ends() {
        Ok(ends) => ends,
        Err(why) => return Opinion::Undecided(why),
    };
    let questions = [
        (ends.errors, "a run fails within the bound".to_owned()),
        (ends.beyond, format!("a run goes beyond {bound} turns of a loop, or as many open calls")),
    ];
    let mut solver = prover.solver();
    for (conditions, refuted) in questions {
        let some = terms.any(&conditions);
        match solver.check(&mut terms, &[some], budget) {
            Outcome::Unsat(_) => {}
            Outcome::Sat(_) => return Opinion::Refuted(refuted),
            Outcome::Unknown(reason) => return Opinion::Undecided(reason.why().to_owned()),
        }
    }
    Opinion::Accepted
}
