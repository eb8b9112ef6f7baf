//! Proofs about variables that take few values: state machines, protocols, schedulers.
//!
//! Most variables of such programs are set to constants and compared with constants. An abstraction
//! follows these exactly, tells the constants of the program apart from all other numbers, and
//! leaves everything else open (`abstraction.rs`); what is left is a program over small data, which
//! exact checking decides with decision diagrams, recursion included: value analysis (D. Beyer,
//! S. Löwe, *Explicit-state software model checking based on CEGAR and interpolation*, FASE 2013)
//! on weighted pushdown systems. A check that holds in the abstraction holds in the program. A
//! failing run of the abstraction counts if the program has a run along the same edges.
//!
//! Reading order: `classes.rs`: which variables and values are told apart. `abstraction.rs`: the
//! abstract program. `inlined.rs`: the same with fewer procedures. `concrete.rs`: runs along its
//! paths.

mod abstraction;
mod classes;
mod concrete;
mod inlined;

use std::sync::Arc;
use std::time::{Duration, Instant};

use wherefore_program::{ErrorSite, Program, Task};

use crate::budget::Budget;
use crate::engine::{Engine, Session, without_threads};
use crate::exact::{CheckOptions, Checker, Search};
use crate::prover::Prover;
use crate::verdict::{
    Answer, Cause, CheckError, Decision, EngineName, Evidence, Facts, FailingRun, Proof, ProofCheck,
    ProofKind, Reached, Size, Stopped, Verdict, Why,
};
use abstraction::abstraction;
use classes::Classes;

pub use concrete::{lasso_along, run_along};
use inlined::Inlined;

/// The program in which variables with few values are followed and everything else is left open.
///
/// Each run of the program is one of the result, step by step: procedures, locations and edges keep
/// their numbers.
pub fn abstracted(program: &Program) -> Program {
    abstraction(program, &Classes::new(program))
}

/// Between two looks at the budget while it waits.
const PAUSE: Duration = Duration::from_millis(10);

/// Exact checking of an abstraction that follows variables with few values.
#[derive(Clone, Copy, Debug)]
pub struct SmallValues {
    /// It gives up after one of so many parts of the time: diagrams that grow for long are not
    /// worth the time of the engines beside it.
    pub parts: u32,
    /// It waits for so long before it starts.
    pub wait: Duration,
}

impl Default for SmallValues {
    fn default() -> Self {
        Self { parts: 1, wait: Duration::ZERO }
    }
}

impl Engine for SmallValues {
    fn name(&self) -> EngineName {
        EngineName::SmallValues
    }

    fn takes(&self, task: &Task) -> Result<(), CheckError> {
        without_threads(&task.program)
    }

    fn decide(&self, task: &Task, session: &Session, budget: &Budget) -> Answer {
        let by = self.name();
        let undecided = |cause: Cause| {
            let stopped = Stopped { engine: by, cause, bound: None, excluded: 0 };
            Verdict::Unknown(Why::Undecided(vec![stopped]))
        };
        // Operations on diagrams are not counted as work, and no other solver can check the proof.
        if budget.work.is_some() || session.prover != Prover::Embedded {
            return Answer::uniform(task.checks.len(), &undecided(Cause::NotTried));
        }
        let begin = Instant::now();
        while begin.elapsed() < self.wait && budget.stopped().is_none() {
            std::thread::sleep(PAUSE);
        }
        let budget = &budget.share(self.parts);
        let small = Inlined::new(abstraction(&task.program, &Classes::new(&task.program)));
        let moved = |site: &ErrorSite| ErrorSite { node: small.node(site.node), ..site.clone() };
        let checks: Vec<ErrorSite> = task.checks.iter().map(moved).collect();
        let options = CheckOptions { search: Search::Forwards, limits: budget.limits() };
        let checker = match Checker::new(&small.program, &checks, options) {
            Ok(checker) => checker,
            Err(_) => return Answer::uniform(task.checks.len(), &undecided(Cause::TooLarge)),
        };
        let evidence = Evidence { by, kind: ProofKind::Saturation, checked: ProofCheck::NotApplicable };
        let proof = Proof { evidence: Arc::new(evidence), reached: Reached::Unknown };
        let mut verdict = |(target, site): (usize, &ErrorSite)| match checker.verdict_of(Some(site.node)) {
            Decision::Safe => {
                let verdict = Verdict::Safe(proof.clone());
                session.settle(target, by, &verdict);
                verdict
            }
            Decision::Unknown(stop) => undecided(Cause::Limit(stop)),
            Decision::Unsafe => match checker.failing_run(Some(site.node)) {
                Ok(Some(run)) => {
                    let path: Vec<_> = run.path.iter().map(|edge| small.original(*edge)).collect();
                    match run_along(&task.program, &path, budget) {
                        Some(trace) => {
                            let run = FailingRun { path, ..FailingRun::of_trace(trace, target, by) };
                            Verdict::Unsafe(Box::new(run))
                        }
                        None => undecided(Cause::OpenWay),
                    }
                }
                Ok(None) => undecided(Cause::OpenWay),
                Err(stop) => undecided(Cause::Limit(stop)),
            },
        };
        let verdicts = checks.iter().enumerate().map(&mut verdict).collect();
        let (bits, rules) = checker.size();
        let size = Some(Size { bits, rules, diagram_nodes: checker.diagram_nodes() });
        Answer { verdicts, facts: Facts { by: Some(by), size, ..Facts::default() } }
    }
}
