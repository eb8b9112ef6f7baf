//! Bounded checking as an engine.

use std::sync::Arc;

use wherefore_program::Task;
use wherefore_pushdown::StopReason;

use super::{Bounded, check};
use crate::budget::Budget;
use crate::engine::{Engine, Progress, Session, without_threads};
use crate::verdict::{
    Answer, Cause, CheckError, EngineName, Evidence, Facts, Proof, ProofCheck, ProofKind, Reached, Stopped,
    Verdict, Why,
};

/// All runs with a bounded number of iterations of each loop, for growing bounds.
#[derive(Clone, Copy, Debug, Default)]
pub struct BoundedChecking;

impl Engine for BoundedChecking {
    fn name(&self) -> EngineName {
        EngineName::Bounded
    }

    fn takes(&self, task: &Task) -> Result<(), CheckError> {
        without_threads(&task.program)
    }

    fn decide(&self, task: &Task, session: &Session, budget: &Budget) -> Answer {
        let tell = |bound| session.tell(&Progress::Bound(bound));
        let by = self.name();
        let facts = |bound| Facts { by: Some(by), bound, ..Facts::default() };
        let all = |verdict: Verdict, bound| Answer {
            verdicts: vec![verdict; task.checks.len()],
            facts: facts(bound),
        };
        match check(&task.program, &task.checks, budget, &tell) {
            Bounded::Safe { bound } => {
                let kind = ProofKind::Unrolling { bound, program: task.program.clone() };
                let evidence =
                    Evidence { by, kind, checked: ProofCheck::Undecided("it was not asked for".to_owned()) };
                let proof = Proof { evidence: Arc::new(evidence), reached: Reached::Unknown };
                all(Verdict::Safe(proof), Some(bound))
            }
            Bounded::Unsafe(runs) => {
                let mut answer = all(Verdict::Unknown(Why::NotAsked), None);
                for run in runs {
                    let target = run.target;
                    answer.verdicts[target] = Verdict::Unsafe(Box::new(run));
                }
                answer
            }
            Bounded::Unknown { stop, bound } => {
                let cause = match stop {
                    StopReason::Memory => Cause::TooLarge,
                    StopReason::Steps => Cause::LargestBound,
                    other => Cause::Limit(other),
                };
                let stopped = Stopped { engine: by, cause, bound, excluded: 0 };
                all(Verdict::Unknown(Why::Undecided(vec![stopped])), bound)
            }
        }
    }
}
