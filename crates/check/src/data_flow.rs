//! Checks that hold by data flow, before an engine is asked.
//!
//! Most rules of C (indices, arithmetic) are kept because of the ranges of variables, which
//! [`Ranges`] finds in one pass over the program, or because the same was checked before
//! ([`Available`]). Such a check is decided, and it is taken out of
//! the program that engines see: the way to its error is closed, and the condition on the other
//! way, which always holds, is left out. Locations and edges keep their numbers, so that a run of
//! that program is one of the original. What the program itself asserts is left to engines, whose
//! proofs are checked. With a solver that must accept every proof, nothing is decided here.

use std::sync::Arc;

use wherefore_flow::{Available, Ranges};
use wherefore_program::{ErrorKind, ErrorSite, Expr, LocationKind, Node, Operation, Program, Task};

use crate::prover::Prover;
use crate::verdict::{EngineName, Evidence, Proof, ProofCheck, ProofKind, Reached, Verdict};

/// A task whose easy checks are decided.
pub(crate) struct Discharged {
    /// The task that is left.
    pub task: Task,
    /// Where its checks are among those of the original.
    pub open: Vec<usize>,
    /// Which of the original checks hold.
    pub holds: Vec<bool>,
}

impl Discharged {
    /// Decides what data flow can of a task.
    pub fn new(task: &Task, prover: &Prover) -> Self {
        let whole = |task: &Task| Self {
            task: task.clone(),
            open: (0..task.checks.len()).collect(),
            holds: vec![false; task.checks.len()],
        };
        let is_rule = |check: &ErrorSite| matches!(check.kind, ErrorKind::Violation(_));
        if !task.checks.iter().any(is_rule) || *prover != Prover::Embedded {
            return whole(task);
        }
        if task.program.uses_threads().is_some() {
            return whole(task);
        }
        let facts = Facts { ranges: Ranges::new(&task.program), available: Available::new(&task.program) };
        let holds: Vec<bool> = task
            .checks
            .iter()
            .map(|check| is_rule(check) && is_closed(&task.program, check.node, &facts))
            .collect();
        if !holds.contains(&true) {
            return whole(task);
        }
        let mut program = (*task.program).clone();
        for (check, _) in task.checks.iter().zip(&holds).filter(|(_, holds)| **holds) {
            take_out(&mut program, check.node);
        }
        let open: Vec<usize> = (0..holds.len()).filter(|at| !holds[*at]).collect();
        let checks = open.iter().map(|at| task.checks[*at].clone()).collect();
        let task = Task { program: Arc::new(program), checks, ..task.clone() };
        Self { task, open, holds }
    }

    /// The verdicts on all checks of the original, from those on what was left.
    pub fn complete(&self, left: Vec<Verdict>) -> Vec<Verdict> {
        let evidence = Evidence {
            by: EngineName::DataFlow,
            kind: ProofKind::Ranges,
            checked: ProofCheck::NotApplicable,
        };
        let proof = Proof { evidence: Arc::new(evidence), reached: Reached::Unknown };
        let mut verdicts = vec![Verdict::Safe(proof); self.holds.len()];
        for (at, verdict) in self.open.iter().zip(left) {
            verdicts[*at] = match verdict {
                Verdict::Unsafe(mut run) => {
                    run.target = *at;
                    Verdict::Unsafe(run)
                }
                other => other,
            };
        }
        verdicts
    }
}

/// What data flow knows about a program.
struct Facts {
    ranges: Option<Ranges>,
    available: Available,
}

/// Whether no run comes to an error, by what is known about the steps that lead there.
fn is_closed(program: &Program, error: Node, facts: &Facts) -> bool {
    if facts.ranges.as_ref().is_some_and(|ranges| ranges.at(error).is_none()) {
        return true;
    }
    let body = program.procedure(error.procedure);
    if body.entry == error.location {
        return false;
    }
    body.edges.iter().filter(|edge| edge.to == error.location).all(|edge| {
        let from = Node { procedure: error.procedure, location: edge.from };
        let Operation::Assume(condition) = &edge.operation else { return false };
        let kept = condition.clone().not();
        let by_ranges = facts.ranges.as_ref().is_some_and(|ranges| match ranges.at(from) {
            None => true,
            Some(known) => known.implies(&kept),
        });
        by_ranges || facts.available.holds(from, &kept)
    })
}

/// Closes the way to an error. If the other way on is that its condition does not hold, it is free.
fn take_out(program: &mut Program, error: Node) {
    let body = &mut program.procedures[error.procedure.0 as usize];
    let sources: Vec<_> =
        body.edges.iter().filter(|edge| edge.to == error.location).map(|edge| edge.from).collect();
    for edge in body.edges.iter_mut().filter(|edge| edge.to == error.location) {
        edge.operation = Operation::Assume(Expr::bool(false));
    }
    for from in sources {
        if body.location(from).kind != LocationKind::Assert {
            continue;
        }
        let mut others: Vec<_> =
            body.edges.iter_mut().filter(|edge| edge.from == from && edge.to != error.location).collect();
        if let [only] = others.as_mut_slice() {
            if let Operation::Assume(_) = only.operation {
                only.operation = Operation::Skip;
            }
        }
    }
}
