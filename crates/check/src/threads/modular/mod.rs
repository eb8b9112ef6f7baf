//! Proofs for every number of switches and of threads: an invariant for each pair of threads that
//! the steps of all others keep.
//!
//! `kinds.rs` has the moves of threads as terms, `pairs.rs` the invariants, `candidates.rs` and
//! `related.rs` what they are made of. Nothing is unrolled and nothing is counted, so a program
//! that starts threads for ever can be proved. If an error seems to be reachable, that says
//! nothing: candidates are comparisons of variables with each other and with constants, and their
//! conjunctions may be too weak.

mod candidates;
mod kinds;
mod pairs;
mod related;

use std::sync::Arc;

use wherefore_program::Task;

use crate::bounded::in_deep_thread;
use crate::budget::Budget;
use crate::verdict::{
    Answer, EngineName, Evidence, Facts, Proof, ProofCheck, ProofKind, Reached, ThreadFacts, Verdict,
};

/// A proof that no schedule fails; none if there is none of this kind.
pub(super) fn prove(task: &Task, budget: &Budget) -> Option<Answer> {
    let program = (*task.program).clone().with_unread_values_zero();
    let solver = budget.solver();
    let count = in_deep_thread(|| {
        let mut kinds = kinds::kinds(&program, &task.checks, &solver).ok()?;
        let count = kinds.kinds.len();
        pairs::Pairs::new(&mut kinds, &solver).prove().ok()?;
        Some(count)
    })??;
    let by = EngineName::Modular;
    let evidence = Arc::new(Evidence { by, kind: ProofKind::Pairs, checked: ProofCheck::NotApplicable });
    let proof = Proof { evidence, reached: Reached::Unknown };
    let threads = Some(ThreadFacts { threads: count, ..ThreadFacts::default() });
    let facts = Facts { by: Some(by), threads, ..Facts::default() };
    Some(Answer { verdicts: vec![Verdict::Safe(proof); task.checks.len()], facts })
}
