//! Exact checking as an engine: every check is decided by one saturation.

use std::sync::Arc;

use wherefore_program::Task;

use super::{CheckOptions, Checker, Search};
use crate::budget::Budget;
use crate::encoding::Layout;
use crate::engine::{Engine, Session};
use crate::verdict::{
    Answer, CheckError, Decision, EngineName, Evidence, Facts, Proof, ProofCheck, ProofKind, Reached, Size,
    Verdict, Why,
};

/// Exact checking, from one end of the program.
#[derive(Clone, Copy, Debug, Default)]
pub struct Exact {
    /// From which end.
    pub search: Search,
}

impl Engine for Exact {
    fn name(&self) -> EngineName {
        EngineName::Exact
    }

    fn takes(&self, task: &Task) -> Result<(), CheckError> {
        super::takes(&task.program, &Layout::new(&task.program))
    }

    fn decide(&self, task: &Task, _: &Session, budget: &Budget) -> Answer {
        let options = CheckOptions { search: self.search, limits: budget.limits() };
        let checker = match Checker::new(&task.program, &task.checks, options) {
            Ok(checker) => checker,
            Err(error) => {
                return Answer::uniform(task.checks.len(), &Verdict::Unknown(Why::NotTaken(error)));
            }
        };
        let evidence =
            Evidence { by: self.name(), kind: ProofKind::Saturation, checked: ProofCheck::NotApplicable };
        let proof = Proof { evidence: Arc::new(evidence), reached: Reached::Unknown };
        // Backwards, all checks are one question.
        let all = checker.verdict();
        let verdict = |(target, site): (usize, &wherefore_program::ErrorSite)| {
            let decision = match all {
                Decision::Unsafe => checker.verdict_of(Some(site.node)),
                other => other,
            };
            match decision {
                Decision::Safe => Verdict::Safe(proof.clone()),
                Decision::Unknown(stop) => Verdict::Unknown(Why::Limit(stop)),
                Decision::Unsafe => match checker.failing_run(Some(site.node)) {
                    Ok(Some(run)) => Verdict::Unsafe(Box::new(crate::FailingRun { target, ..run })),
                    Ok(None) => Verdict::Safe(proof.clone()),
                    Err(stop) => Verdict::Unknown(Why::NoRun(stop)),
                },
            }
        };
        let verdicts = task.checks.iter().enumerate().map(verdict).collect();
        let (bits, rules) = checker.size();
        let size = Some(Size { bits, rules, diagram_nodes: checker.diagram_nodes() });
        Answer { verdicts, facts: Facts { by: Some(self.name()), size, ..Facts::default() } }
    }
}
