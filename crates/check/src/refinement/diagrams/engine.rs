//! Refinement with decision diagrams as an engine.

use std::sync::Arc;
use std::time::Duration;

use wherefore_program::Task;
use wherefore_pushdown::StopReason;

use super::{Cegar, CegarOptions};
use crate::budget::Budget;
use crate::encoding::Layout;
use crate::engine::{Engine, Progress, Session};
use crate::refinement::diagrams::interpolants::Heuristic;
use crate::verdict::{
    Answer, Cause, CheckError, Decision, EngineName, Evidence, Facts, FailingRun, Proof, ProofCheck,
    ProofKind, Reached, Refinement, Size, Stopped, Verdict, Why,
};

/// Refinement of finite data.
#[derive(Clone, Copy, Debug, Default)]
pub struct DiagramRefinement {
    /// Which interpolants become predicates; none tries one heuristic after the other, in growing
    /// slices of time.
    pub heuristic: Option<Heuristic>,
}

/// The time of the first heuristic before the next one is tried; each gets twice as much as the
/// last.
const FIRST_SLICE: Duration = Duration::from_secs(10);

impl Engine for DiagramRefinement {
    fn name(&self) -> EngineName {
        EngineName::Refinement
    }

    fn takes(&self, task: &Task) -> Result<(), CheckError> {
        crate::exact::takes(&task.program, &Layout::new(&task.program))
    }

    fn decide(&self, task: &Task, session: &Session, budget: &Budget) -> Answer {
        if let Some(heuristic) = self.heuristic {
            return by(heuristic, task, session, budget);
        }
        let others = [Heuristic::Conciliated, Heuristic::Both, Heuristic::Weakest, Heuristic::Strongest];
        let mut queue = std::iter::once(Heuristic::default()).chain(others).cycle();
        let mut slice = FIRST_SLICE;
        loop {
            let answer = by(queue.next().unwrap_or_default(), task, session, &budget.within(slice));
            let is_out_of_time = |verdict: &Verdict| {
                matches!(verdict, Verdict::Unknown(Why::Undecided(list))
                    if list.iter().any(|one| one.cause == Cause::Limit(StopReason::Time)))
            };
            if !answer.verdicts.iter().any(is_out_of_time) || budget.stopped().is_some() {
                return answer;
            }
            slice = slice.saturating_mul(2);
        }
    }
}

fn by(heuristic: Heuristic, task: &Task, session: &Session, budget: &Budget) -> Answer {
    let options = CegarOptions { heuristic, limits: budget.limits(), ..CegarOptions::default() };
    let mut cegar = match Cegar::new(&task.program, &task.checks, options) {
        Ok(cegar) => cegar,
        Err(error) => return Answer::uniform(task.checks.len(), &Verdict::Unknown(Why::NotTaken(error))),
    };
    let refined = cegar.run(&mut |cycle| {
        session.tell(&Progress::Cycle {
            excluded: cycle.refinements,
            predicates: cycle.predicates,
            inside: cycle.inside,
            locations: cycle.locations,
        });
    });
    let by = EngineName::Refinement;
    let verdict = match refined.decision {
        Decision::Safe => {
            let evidence = Evidence { by, kind: ProofKind::Saturation, checked: ProofCheck::NotApplicable };
            Verdict::Safe(Proof { evidence: Arc::new(evidence), reached: Reached::Unknown })
        }
        Decision::Unsafe => Verdict::Unknown(Why::NotAsked),
        Decision::Unknown(stop) => Verdict::Unknown(Why::Undecided(vec![Stopped {
            engine: by,
            cause: Cause::Limit(stop),
            bound: None,
            excluded: refined.last.refinements,
        }])),
    };
    let mut verdicts = vec![verdict; task.checks.len()];
    if let (Decision::Unsafe, Some(trace)) = (refined.decision, refined.trace) {
        let end = trace.last().node();
        if let Some(target) = task.checks.iter().position(|site| Some(site.node) == end) {
            verdicts[target] = Verdict::Unsafe(Box::new(FailingRun::of_trace(trace, target, by)));
        }
    }
    let (bits, rules, diagram_nodes) = cegar.size();
    let refinement = Refinement {
        heuristic: Some(heuristic),
        iterations: refined.last.refinements,
        predicates: refined.last.predicates,
        most_predicates: refined.last.most_predicates,
        abstracted_rules: Some(refined.last.abstracted),
        tracked: cegar.describe(),
    };
    let size = Some(Size { bits, rules, diagram_nodes });
    let facts = Facts { by: Some(by), refinement: Some(refinement), size, ..Facts::default() };
    Answer { verdicts, facts }
}
