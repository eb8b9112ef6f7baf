//! Induction as an engine.

use std::collections::BTreeMap;
use std::sync::Arc;
use std::time::Duration;

use wherefore_program::{Node, Task};
use wherefore_smt::{Reason, Term, Terms};

use super::certificate::{Certificate, check};
use super::deep::Deep;
use super::facts::Facts as Known;
use super::frames::{Found, Frames};
use super::reduce::reduce;
use super::system::{System, TooMuch};
use crate::bounded::in_deep_thread;
use crate::budget::Budget;
use crate::engine::{Engine, Session, without_threads};
use crate::refinement::solver::folding::{Calls, Folding};
use crate::refinement::solver::graph::Graph;
use crate::refinement::solver::{in_words, stop};
use crate::symbolic::{Flat, Machine};
use crate::verdict::{
    Answer, Cause, CheckError, EngineName, Evidence, Facts, Proof, ProofCheck, ProofKind, Reached, Stopped,
    Verdict, Why,
};

/// How a proof is sought from the facts.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub enum Way {
    /// By k-induction for small k, then by property-directed reachability.
    #[default]
    Both,
    /// By k-induction.
    Deep,
    /// By property-directed reachability.
    Directed,
}

/// Proofs by induction. Failing runs are left to other engines.
#[derive(Clone, Copy, Debug, Default)]
pub struct Induction {
    /// How.
    pub way: Way,
}

/// The largest depth of k-induction, alone and before property-directed reachability.
const MOST_DEPTH: usize = 12;
const FEW: usize = 2;

/// Facts may take this part of the time, or this long without a limit.
const PART_FOR_FACTS: u32 = 3;
const TIME_FOR_FACTS: Duration = Duration::from_secs(20);

impl Engine for Induction {
    fn name(&self) -> EngineName {
        match self.way {
            Way::Both | Way::Deep => EngineName::Induction,
            Way::Directed => EngineName::Reachability,
        }
    }

    fn takes(&self, task: &Task) -> Result<(), CheckError> {
        without_threads(&task.program)
    }

    fn decide(&self, task: &Task, session: &Session, budget: &Budget) -> Answer {
        let found = in_deep_thread(|| search(task, self.way, session, budget))
            .unwrap_or_else(|| Err(Failed { by: self.name(), cause: Cause::TooLarge, lemmas: 0 }));
        let checks = task.checks.len();
        let (verdict, by) = match found {
            Ok(Proved { by, invariants }) => {
                let solver = session.prover.command_line();
                let kind = ProofKind::Invariants(invariants);
                let evidence = Evidence { by, kind, checked: ProofCheck::Accepted(solver) };
                (Verdict::Safe(Proof { evidence: Arc::new(evidence), reached: Reached::Unknown }), by)
            }
            Err(Failed { by, cause, lemmas }) => {
                let stopped = Stopped { engine: by, cause, bound: None, excluded: lemmas };
                (Verdict::Unknown(Why::Undecided(vec![stopped])), by)
            }
        };
        Answer { verdicts: vec![verdict; checks], facts: Facts { by: Some(by), ..Facts::default() } }
    }
}

struct Proved {
    by: EngineName,
    invariants: Vec<(Node, String)>,
}

pub(super) struct Failed {
    by: EngineName,
    cause: Cause,
    /// Lemmas that were learnt.
    lemmas: usize,
}

/// What was found, with all that it speaks of.
pub(super) struct Claim<'t> {
    pub machine: Machine<'t>,
    pub graph: Graph,
    pub certificate: Certificate,
    by: EngineName,
    lemmas: usize,
}

/// Seeks a proof, and has it checked.
fn search(task: &Task, way: Way, session: &Session, budget: &Budget) -> Result<Proved, Failed> {
    let Claim { mut machine, graph, certificate, by, lemmas } = claim(task, way, budget)?;
    let (solver, limits) = (&mut *session.prover.solver(), budget.solver());
    if let Some((why, _)) = check(&mut machine, &graph, &certificate, solver, &limits).refusal() {
        return Err(Failed { by, cause: Cause::ProofNotAccepted(why), lemmas });
    }
    let invariants: Vec<(usize, Term)> = certificate.holds.into_iter().collect();
    Ok(Proved { by, invariants: in_words(&machine, &graph, &invariants) })
}

/// Seeks a proof.
pub(super) fn claim<'t>(task: &'t Task, way: Way, budget: &Budget) -> Result<Claim<'t>, Failed> {
    let mut by = if way == Way::Directed { EngineName::Reachability } else { EngineName::Induction };
    let failed = |by, cause| Failed { by, cause, lemmas: 0 };
    let limit = |by, reason: &Reason| failed(by, Cause::Limit(stop(reason)));
    let limits = budget.solver();
    let mut machine = Machine::new(Flat::new(&task.program, &task.checks));
    let graph = Graph::new(&mut machine, &Folding::new(&task.program, Calls::Auto));
    let system = match System::new(&mut machine, &graph, &limits) {
        Ok(system) => system,
        Err(TooMuch::Size) => return Err(failed(by, Cause::TooLarge)),
        Err(TooMuch::Limit(reason)) => return Err(limit(by, &reason)),
    };
    let for_facts = match (budget.left(), &budget.work) {
        // Where work is counted, the clock must not matter.
        (None, None) => budget.within(TIME_FOR_FACTS),
        _ => budget.share(PART_FOR_FACTS),
    };
    let known = Known::new(&mut machine, &graph, &system, &for_facts.solver());
    let mut certificate = None;
    let depths = match way {
        Way::Both => FEW,
        Way::Deep => MOST_DEPTH,
        Way::Directed => 0,
    };
    for depth in 1..=depths {
        let share = if way == Way::Both { budget.share(4).solver() } else { limits.clone() };
        let (graph, system, facts) = (&graph, &system, &known);
        let mut deep = Deep { terms: &mut machine.terms, graph, system, facts, budget: &share };
        match deep.is_inductive(depth) {
            Ok(true) => {
                let lemmas = vec![Vec::new(); graph.points.len()];
                certificate =
                    Some(self::certificate(&mut machine, graph, system, facts, &lemmas, depth, &limits));
                break;
            }
            Ok(false) => {}
            Err(reason) if way == Way::Deep => return Err(limit(by, &reason)),
            Err(_) => break,
        }
    }
    let mut lemmas = 0;
    if certificate.is_none() && way != Way::Deep {
        by = EngineName::Reachability;
        let mut frames = Frames::new(&mut machine.terms, &graph, &system, &known, &limits);
        let found = frames.run(&mut |_, _| {});
        lemmas = frames.made;
        match found {
            Found::Inductive(list) => {
                certificate =
                    Some(self::certificate(&mut machine, &graph, &system, &known, &list, 1, &limits));
            }
            Found::Way => return Err(Failed { by, cause: Cause::OpenWay, lemmas }),
            Found::Stopped(reason) => return Err(Failed { lemmas, ..limit(by, &reason) }),
        }
    }
    match certificate {
        Some(certificate) => Ok(Claim { machine, graph, certificate, by, lemmas }),
        None => Err(failed(by, Cause::NotInductive)),
    }
}

/// The facts and the lemmas, with what the graph takes for constants, as a certificate.
fn certificate(
    machine: &mut Machine<'_>,
    graph: &Graph,
    system: &System,
    facts: &Known,
    lemmas: &[Vec<Term>],
    depth: usize,
    budget: &wherefore_smt::Budget,
) -> Certificate {
    let mut parts = Vec::new();
    for (facts, lemmas) in facts.at.iter().zip(lemmas) {
        parts.push(facts.iter().chain(lemmas).copied().collect());
    }
    if depth == 1 {
        parts = reduce(&mut machine.terms, graph, system, parts, budget);
    }
    let all: Vec<Term> = parts.iter().map(|parts| machine.terms.all(parts)).collect();
    let all = graph.with_facts(machine, &all);
    let mut holds = BTreeMap::new();
    for cut in &system.cuts {
        let is_reached = system.reached.contains(cut) && !graph.errors.contains_key(cut);
        holds.insert(*cut, if is_reached { all[*cut] } else { Terms::FALSE });
    }
    Certificate { depth, holds }
}
