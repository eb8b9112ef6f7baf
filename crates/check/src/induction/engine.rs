//! Induction as an engine.

use std::collections::{BTreeMap, BTreeSet};
use std::ops::RangeInclusive;
use std::sync::Arc;
use std::time::Duration;

use wherefore_program::Task;
use wherefore_smt::{Term, Terms};

use super::candidates::{Candidates, Guesses};
use super::certificate::{Certificate, check};
use super::deep::Deep;
use super::facts::Facts as Known;
use super::frames::{Found, Frames};
use super::reduce::reduce;
use super::split::Split;
use super::system::{System, TooMuch};
use crate::bounded::in_deep_thread;
use crate::budget::Budget;
use crate::engine::{Engine, Session, without_threads};
use crate::refinement::solver::folding::{Calls, Folding};
use crate::refinement::solver::graph::{Graph, PointId};
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

/// The search in the system with points of their own for values may take this part of the time.
const PART_FOR_SPLIT: u32 = 3;

/// The first turn of a check in property-directed reachability, if there are several.
const FIRST_TURN: Duration = Duration::from_millis(500);

impl Engine for Induction {
    fn name(&self) -> EngineName {
        match self.way {
            Way::Both | Way::Deep => EngineName::Induction,
            Way::Directed => EngineName::Reachability,
        }
    }

    fn wants_facts(&self) -> bool {
        true
    }

    fn takes(&self, task: &Task) -> Result<(), CheckError> {
        without_threads(&task.program)
    }

    fn decide(&self, task: &Task, session: &Session, budget: &Budget) -> Answer {
        let decided = in_deep_thread(|| {
            let mut search = Search::new(task, self.way, session, budget);
            search.run();
            (search.verdicts, search.by)
        });
        let (verdicts, by) = decided.unwrap_or_else(|| {
            let mut search = Search::new(task, self.way, session, budget);
            search.give_up(&Cause::TooLarge);
            (search.verdicts, search.by)
        });
        Answer { verdicts, facts: Facts { by: Some(by), ..Facts::default() } }
    }
}

/// A certificate, with all that it speaks of.
#[cfg(test)]
pub(super) struct Claim<'t> {
    pub machine: Machine<'t>,
    pub graph: Graph,
    pub certificate: Certificate,
}

/// The search for proofs of all checks of a task, which share the facts.
struct Search<'t, 's> {
    task: &'t Task,
    way: Way,
    session: &'s Session,
    budget: &'s Budget,
    verdicts: Vec<Verdict>,
    /// The checks that are not decided.
    open: BTreeSet<usize>,
    /// The engine in whose name it speaks.
    by: EngineName,
    /// Lemmas that were learnt.
    lemmas: usize,
    /// What was proved last.
    #[cfg(test)]
    certificate: Option<Certificate>,
}

/// The program, as proofs speak of it.
struct Setting<'t> {
    machine: Machine<'t>,
    graph: Graph,
    system: System,
    /// What always holds; the lemmas of proofs are added.
    known: Known,
    /// The system with points of their own for values, and what always holds there: while it is
    /// there, proofs are sought in it.
    split: Option<(Split, Known)>,
}

impl<'t> Setting<'t> {
    /// Where checks fail.
    fn errors(&self, checks: &BTreeSet<usize>) -> BTreeSet<PointId> {
        let errors = self.graph.errors.iter().filter(|(_, check)| checks.contains(check));
        errors.map(|(point, _)| *point).collect()
    }

    /// The same among the points that proofs are sought in.
    fn error_parts(&self, checks: &BTreeSet<usize>) -> BTreeSet<PointId> {
        let errors = self.errors(checks);
        self.split.as_ref().map_or_else(|| errors.clone(), |(split, _)| split.parts(&errors))
    }

    /// The check that fails at a point that proofs are sought in.
    fn check_at(&self, error: PointId) -> usize {
        let point = self.split.as_ref().map_or(error, |(split, _)| split.origin(error));
        self.graph.errors[&point]
    }

    /// Splits the system, if it can be; whether it was.
    fn split(&mut self, budget: &Budget) -> bool {
        let Self { machine, graph, system, .. } = self;
        let Some(split) = Split::new(&mut machine.terms, graph, system, &budget.share(4).solver()) else {
            return false;
        };
        let candidates = Candidates::new(machine, graph, system, Guesses::Few);
        let candidates = split.candidates(&mut machine.terms, &candidates);
        let limits = budget.share(2).solver();
        let given = split.known(&mut machine.terms, &self.known.at);
        let known = Known::new(&mut machine.terms, graph, &split.system, candidates, given, &limits);
        self.split = Some((split, known));
        true
    }

    fn new(task: &'t Task, budget: &Budget) -> Result<Self, Cause> {
        let mut machine = Machine::new(Flat::new(&task.program, &task.checks));
        let graph = Graph::new(&mut machine, &Folding::new(&task.program, Calls::Auto));
        let system = match System::new(&mut machine, &graph, &budget.solver()) {
            Ok(system) => system,
            Err(TooMuch::Size) => return Err(Cause::TooLarge),
            Err(TooMuch::Limit(reason)) => return Err(Cause::Limit(stop(&reason))),
        };
        let for_facts = match (budget.left(), &budget.work) {
            // Where work is counted, the clock must not matter.
            (None, None) => budget.within(TIME_FOR_FACTS),
            _ => budget.share(PART_FOR_FACTS),
        };
        let candidates = Candidates::new(&mut machine, &graph, &system, Guesses::All);
        let none = vec![Vec::new(); graph.points.len()];
        let known = Known::new(&mut machine.terms, &graph, &system, candidates, none, &for_facts.solver());
        Ok(Self { machine, graph, system, known, split: None })
    }
}

impl<'t, 's> Search<'t, 's> {
    fn new(task: &'t Task, way: Way, session: &'s Session, budget: &'s Budget) -> Self {
        Self {
            task,
            way,
            session,
            budget,
            verdicts: vec![Verdict::Unknown(Why::NotAsked); task.checks.len()],
            open: (0..task.checks.len()).collect(),
            by: if way == Way::Directed { EngineName::Reachability } else { EngineName::Induction },
            lemmas: 0,
            #[cfg(test)]
            certificate: None,
        }
    }

    /// Seeks proofs. The program and the facts about it, for tests.
    fn run(&mut self) -> Option<Setting<'t>> {
        let mut setting = match Setting::new(self.task, self.budget) {
            Ok(setting) => setting,
            Err(cause) => {
                self.give_up(&cause);
                return None;
            }
        };
        let mut cause = Cause::NotInductive;
        if self.way != Way::Directed {
            cause = self.by_depth(&mut setting, 1..=FEW);
        }
        if !self.open.is_empty() {
            self.split(&mut setting);
        }
        if self.way == Way::Deep && !self.open.is_empty() {
            cause = self.by_depth(&mut setting, FEW + 1..=MOST_DEPTH);
        }
        if self.way != Way::Deep && !self.open.is_empty() {
            self.by = EngineName::Reachability;
            cause = self.directed(&mut setting, self.budget);
        }
        self.give_up(&cause);
        Some(setting)
    }

    /// The checks that are left are unknown.
    fn give_up(&mut self, cause: &Cause) {
        for check in &self.open {
            if let Verdict::Unknown(Why::NotAsked) = self.verdicts[*check] {
                let stopped =
                    Stopped { engine: self.by, cause: cause.clone(), bound: None, excluded: self.lemmas };
                self.verdicts[*check] = Verdict::Unknown(Why::Undecided(vec![stopped]));
            }
        }
    }

    /// Proves checks in the system with points of their own for values, in a part of the time.
    fn split(&mut self, setting: &mut Setting<'t>) {
        let whole = self.budget;
        let budget = if whole.deadline.is_some() || whole.work.is_some() {
            whole.share(PART_FOR_SPLIT)
        } else {
            whole.within(TIME_FOR_FACTS)
        };
        if !setting.split(&budget) {
            return;
        }
        if self.way != Way::Directed {
            self.by_depth(setting, 1..=FEW);
        }
        if self.way != Way::Deep && !self.open.is_empty() {
            let by = std::mem::replace(&mut self.by, EngineName::Reachability);
            self.directed(setting, &budget);
            self.by = by;
        }
        setting.split = None;
    }

    /// Proves checks by k-induction; why others are left.
    fn by_depth(&mut self, setting: &mut Setting<'t>, depths: RangeInclusive<usize>) -> Cause {
        for depth in depths {
            let share = if self.way == Way::Both { self.budget.share(4) } else { self.budget.clone() };
            let errors = setting.error_parts(&self.open);
            let limits = share.solver();
            let Setting { machine, graph, system, known, split } = setting;
            let (system, facts) = match split {
                Some((split, known)) => (&split.system, &*known),
                None => (&*system, &*known),
            };
            let mut deep = Deep { terms: &mut machine.terms, graph, system, facts, budget: &limits };
            match deep.excluded(depth, &errors) {
                Ok(excluded) => {
                    let reached: BTreeSet<usize> =
                        errors.difference(&excluded).map(|error| setting.check_at(*error)).collect();
                    let proved: BTreeSet<usize> = self.open.difference(&reached).copied().collect();
                    let points = setting
                        .split
                        .as_ref()
                        .map_or(setting.graph.points.len(), |(split, _)| split.system.into.len());
                    self.prove(setting, &vec![Vec::new(); points], depth, proved);
                }
                Err(reason) if self.way == Way::Deep => return Cause::Limit(stop(&reason)),
                Err(_) => break,
            }
            if self.open.is_empty() {
                break;
            }
        }
        Cause::NotInductive
    }

    /// Proves checks by property-directed reachability: a single one in all the time there is,
    /// several in turns that grow longer. The lemmas of a proof are facts for the next.
    fn directed(&mut self, setting: &mut Setting<'t>, limit: &Budget) -> Cause {
        let mut open: Vec<usize> = self.open.iter().copied().collect();
        let mut turn = FIRST_TURN;
        loop {
            let mut late = Vec::new();
            let mut cause = Cause::OpenWay;
            for (place, check) in open.iter().copied().enumerate() {
                if self.session.is_settled(check) {
                    continue;
                }
                let budget = match (open.len(), &limit.work) {
                    (1, _) => limit.clone(),
                    (_, Some(_)) => limit.share(u32::try_from(open.len() - place).unwrap_or(u32::MAX)),
                    (_, None) => limit.within(turn),
                };
                let limits = budget.solver();
                let errors = setting.error_parts(&BTreeSet::from([check]));
                let Setting { machine, graph, system, known, split } = &mut *setting;
                let (system, known) = match split {
                    Some((split, known)) => (&split.system, &*known),
                    None => (&*system, &*known),
                };
                let mut frames = Frames::new(&mut machine.terms, graph, system, known, &errors, &limits);
                let found = frames.run(&mut |_, _| {});
                self.lemmas += frames.made;
                match found {
                    Found::Inductive(lemmas) => self.prove(setting, &lemmas, 1, BTreeSet::from([check])),
                    // Nothing is open where each point stands for values: this is asked later.
                    Found::Way if setting.split.is_some() => {}
                    Found::Way => {
                        let stopped = Stopped {
                            engine: self.by,
                            cause: Cause::OpenWay,
                            bound: None,
                            excluded: self.lemmas,
                        };
                        self.verdicts[check] = Verdict::Unknown(Why::Undecided(vec![stopped]));
                    }
                    Found::Stopped(reason) => {
                        cause = Cause::Limit(stop(&reason));
                        late.push(check);
                    }
                }
                if limit.stopped().is_some() {
                    return cause;
                }
            }
            if late.is_empty() || open.len() == 1 || limit.work.is_some() {
                return cause;
            }
            open = late;
            turn *= 3;
        }
    }

    /// Has a proof of some checks examined, and notes it.
    fn prove(
        &mut self,
        setting: &mut Setting<'t>,
        lemmas: &[Vec<Term>],
        depth: usize,
        proved: BTreeSet<usize>,
    ) {
        if proved.is_empty() {
            return;
        }
        let limits = self.budget.solver();
        let certificate = certificate(setting, lemmas, depth, &proved, &limits);
        let Setting { machine, graph, known, split, .. } = setting;
        let solver = &mut *self.session.prover.solver();
        let refusal = check(machine, graph, &certificate, solver, &limits).refusal();
        // What is not accepted here is asked about again in the system as it was.
        if refusal.is_some() && split.is_some() {
            return;
        }
        self.open.retain(|check| !proved.contains(check));
        let verdict = match refusal {
            Some((why, _)) => {
                let cause = Cause::ProofNotAccepted(why);
                let stopped = Stopped { engine: self.by, cause, bound: None, excluded: self.lemmas };
                Verdict::Unknown(Why::Undecided(vec![stopped]))
            }
            None => {
                let known = split.as_mut().map_or(known, |(_, known)| known);
                for (known, lemmas) in known.at.iter_mut().zip(lemmas) {
                    known.extend(lemmas);
                }
                let invariants: Vec<(usize, Term)> =
                    certificate.holds.iter().map(|(point, formula)| (*point, *formula)).collect();
                let holds = in_words(machine, graph, &invariants);
                let kind = ProofKind::Invariants { holds, bounds: None };
                let checked = ProofCheck::Accepted(self.session.prover.command_line());
                let evidence = Arc::new(Evidence { by: self.by, kind, checked });
                Verdict::Safe(Proof { evidence, reached: Reached::Unknown })
            }
        };
        for check in proved {
            self.verdicts[check] = verdict.clone();
            self.session.settle(check, self.by, &verdict);
        }
        #[cfg(test)]
        {
            self.certificate = Some(certificate);
        }
    }
}

/// The certificate of the last proof of a task.
#[cfg(test)]
pub(super) fn claim<'t>(task: &'t Task, way: Way, budget: &Budget) -> Option<Claim<'t>> {
    let session = Session::default();
    let mut search = Search::new(task, way, &session, budget);
    let setting = search.run();
    let certificate = search.certificate.take()?;
    let Setting { machine, graph, .. } = setting?;
    Some(Claim { machine, graph, certificate })
}

/// The facts and the lemmas, with what the graph takes for constants, as a certificate.
fn certificate(
    setting: &mut Setting<'_>,
    lemmas: &[Vec<Term>],
    depth: usize,
    proved: &BTreeSet<usize>,
    budget: &wherefore_smt::Budget,
) -> Certificate {
    let (errors, error_parts) = (setting.errors(proved), setting.error_parts(proved));
    let Setting { machine, graph, system, known, split } = setting;
    let (searched, known) = match split {
        Some((split, known)) => (&split.system, &*known),
        None => (&*system, &*known),
    };
    let mut parts = Vec::new();
    for (facts, lemmas) in known.at.iter().zip(lemmas) {
        parts.push(facts.iter().chain(lemmas).copied().collect());
    }
    if depth == 1 {
        parts = reduce(&mut machine.terms, searched, &error_parts, parts, budget);
    }
    if let Some((split, _)) = split {
        parts = split.whole(&mut machine.terms, graph.points.len(), &parts);
    }
    let all: Vec<Term> = parts.iter().map(|parts| machine.terms.all(parts)).collect();
    let all = graph.with_facts(machine, &all);
    let mut holds = BTreeMap::new();
    for cut in &system.cuts {
        let formula = match graph.errors.contains_key(cut) {
            _ if !system.reached.contains(cut) || errors.contains(cut) => Terms::FALSE,
            true => Terms::TRUE,
            false => all[*cut],
        };
        holds.insert(*cut, formula);
    }
    Certificate { depth, holds, proves: proved.clone() }
}
