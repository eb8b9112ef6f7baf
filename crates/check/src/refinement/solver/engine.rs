//! Refinement with a solver as an engine.

use std::sync::Arc;

use wherefore_program::Task;
use wherefore_pushdown::StopReason;

use super::{Calls, Iteration, Outcome, check};
use crate::budget::Budget;
use crate::engine::{Engine, Progress, Session, without_threads};
use crate::verdict::{
    Answer, Cause, CheckError, EngineName, Evidence, Facts, PointKind, Proof, ProofCheck, ProofKind, Reached,
    Refinement, Stopped, Tracked, Verdict, Why,
};

/// Refinement of programs whose data are too large for decision diagrams.
#[derive(Clone, Copy, Debug, Default)]
pub struct SolverRefinement {
    /// How calls are treated.
    pub calls: Calls,
}

impl Engine for SolverRefinement {
    fn name(&self) -> EngineName {
        EngineName::Refinement
    }

    fn wants_facts(&self) -> bool {
        true
    }

    fn takes(&self, task: &Task) -> Result<(), CheckError> {
        without_threads(&task.program)
    }

    fn decide(&self, task: &Task, session: &Session, budget: &Budget) -> Answer {
        let by = self.name();
        let mut tell = |iteration: &Iteration| {
            session.tell(&Progress::Iteration {
                excluded: iteration.iterations,
                predicates: iteration.predicates,
                steps: iteration.steps,
            });
        };
        let found = check(&task.program, &task.checks, self.calls, budget, &session.prover, &mut tell);
        let checks = task.checks.len();
        let verdicts = match found.outcome {
            Outcome::Safe => {
                let solver = session.prover.command_line();
                let kind = ProofKind::Invariants { holds: found.invariants, bounds: None };
                let evidence = Evidence { by, kind, checked: ProofCheck::Accepted(solver) };
                let proof = Proof { evidence: Arc::new(evidence), reached: Reached::Unknown };
                vec![Verdict::Safe(proof); checks]
            }
            Outcome::Unsafe(run) => {
                let mut verdicts = vec![Verdict::Unknown(Why::NotAsked); checks];
                let target = run.target;
                verdicts[target] = Verdict::Unsafe(run);
                verdicts
            }
            Outcome::Unknown(stop) => {
                let cause = match (found.unproved, stop) {
                    (Some(why), _) => Cause::ProofNotAccepted(why),
                    (None, StopReason::Memory) => Cause::TooLarge,
                    (None, StopReason::Steps)
                        if budget.steps.is_some_and(|most| found.iterations as u64 >= most) =>
                    {
                        Cause::Limit(StopReason::Steps)
                    }
                    (None, StopReason::Steps) => Cause::NoPredicates,
                    (None, other) => Cause::Limit(other),
                };
                let stopped = Stopped { engine: by, cause, bound: None, excluded: found.iterations };
                vec![Verdict::Unknown(Why::Undecided(vec![stopped])); checks]
            }
        };
        let tracked = found.tracked.into_iter();
        let refinement = Refinement {
            heuristic: None,
            iterations: found.iterations,
            predicates: found.predicates.0,
            most_predicates: found.predicates.1,
            abstracted_rules: None,
            tracked: tracked
                .map(|(node, predicates)| Tracked { node, point: PointKind::Before, predicates })
                .collect(),
        };
        Answer { verdicts, facts: Facts { by: Some(by), refinement: Some(refinement), ..Facts::default() } }
    }
}
