//! Abstraction refinement for programs whose data are too large for decision diagrams: C.
//!
//! \[Lal09\] §1.1.2, \[Kie05\] chapters 4 and 6. The calls are inlined, unless they recurse; each
//! basic block is a relation between truth values of predicates, found by the solver; the abstract
//! program is a weighted pushdown system whose weights are these relations as decision diagrams. A
//! failing abstract run is sliced; it is either run for real, or its interpolants are the next
//! predicates. What is on no failing abstract run is left out of later cycles. A proof is about the
//! whole program again, and is checked before it is believed.
//!
//! # Reading order
//! 1. [`check`]: the loop. 2. `blocks`: the program. 3. `abstraction`: relations by the solver;
//!    `sharpen`: where they are too coarse; `search`: the abstract program and its runs;
//!    `narrowed`: what is left out.
//! 4. `slices`: what of a counterexample matters; `path`: whether it can be run; `reasons`: why it
//!    cannot; `before`: the formulas of a reason; `choice`: which reason; `counters`: guesses for
//!    loops.
//! 5. `proof` and `certificate`: the checks of proofs.
//! 6. [`project`]: the error projection. `layers`: shortest abstract runs through a node; `beyond`:
//!    what follows a cut; `conditions`: under which conditions it fails.
//! 7. `procedures`: the same without inlining, for recursive programs.

mod abstraction;
mod before;
mod beyond;
mod blocks;
mod certificate;
mod choice;
mod conditions;
mod counters;
mod engine;
mod layers;
mod narrowed;
mod path;
mod procedures;
mod projection;
mod proof;
mod reasons;
mod search;
mod sharpen;
mod slices;

use std::collections::BTreeMap;

use rustc_hash::FxHashMap;
use wherefore_domains::bdd::{BddRelations, Predicate};
use wherefore_program::{ErrorSite, Node, Program};
use wherefore_pushdown::{Limits, Relational, Saturated, StopReason, Symbol};
use wherefore_smt::{Budget as SolverBudget, Model, Reason, Term, Terms};

use crate::budget::Budget;
use crate::prover::Prover;
use crate::symbolic::{Flat, Machine, Store, run};
use crate::verdict::{EngineName, FailingRun};
use abstraction::{Relations, Tracked};
use blocks::{Block, Blocks, Frames, NodeId};
use path::Feasibility;
use proof::Proof;
use search::{Abstract, CONTROL};
use slices::Slices;

pub use engine::SolverRefinement;
pub use projection::{ProjectOptions, Projected, project};

/// What refinement found.
#[derive(Clone, Debug)]
pub enum Outcome {
    /// No run fails.
    Safe,
    /// A run that fails.
    Unsafe(Box<FailingRun>),
    /// Neither, and why.
    Unknown(StopReason),
}

/// The answer, and what it took.
#[derive(Clone, Debug)]
pub struct Answer {
    /// The answer.
    pub outcome: Outcome,
    /// How many counterexamples were ruled out.
    pub cycles: usize,
    /// Predicates at all points, and at the point that has most.
    pub predicates: (usize, usize),
    /// What is tracked where, in the solver's words.
    pub tracked: Vec<(Node, Vec<String>)>,
    /// After a proof: what always holds where. Together they are the proof, and have been checked.
    pub invariants: Vec<(Node, String)>,
    /// A proof was found, but its check does not accept it, and why.
    pub unproved: Option<String>,
}

/// One iteration of the loop, for a progress display.
#[derive(Clone, Copy, Debug)]
pub struct Cycle {
    /// Counterexamples ruled out.
    pub cycles: usize,
    /// Predicates at all points.
    pub predicates: usize,
    /// Steps of the counterexample.
    pub steps: usize,
}

/// Places of the program with all calls inlined.
const MOST_PLACES: usize = 60_000;

/// Calls are summarised instead if inlining them would multiply the locations of the program by
/// more than this: the flat program grows exponentially with the depth of calls, summaries grow
/// with the number of procedures.
const MOST_COPIES: usize = 8;

/// Recursive calls that are inlined. Deeper ones are shown to be out of reach, or the answer is
/// unknown.
const DEPTH: usize = 3;

const STACK_SIZE: usize = 1 << 30;

/// Stands for a predicate that has no expression in the source.
const NOT_WRITTEN: &str = "(a condition without an expression in the source)";

/// Abstract bits that are prepared.
const RESERVE: usize = 96;

/// How calls are treated.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub enum Calls {
    /// Inlined, unless some are recursive or the flat program would be many times as large.
    #[default]
    Auto,
    /// Inlined: predicates may speak of the variables of several procedures at once. Recursion is
    /// followed to a depth.
    Inlined,
    /// Not inlined: a procedure is known by its effect. Recursion has no bound.
    Summarised,
}

/// Decides whether a program can fail. A proof counts only if the prover accepts it.
pub fn check(
    program: &Program,
    targets: &[ErrorSite],
    calls: Calls,
    budget: &Budget,
    prover: &Prover,
    progress: &mut (dyn FnMut(&Cycle) + Send),
) -> Answer {
    std::thread::scope(|scope| {
        let thread = std::thread::Builder::new().stack_size(STACK_SIZE);
        match thread.spawn_scoped(scope, move || search(program, targets, calls, budget, prover, progress)) {
            Ok(thread) => thread.join().unwrap_or_else(|panic| std::panic::resume_unwind(panic)),
            Err(_) => Answer::unknown(StopReason::Memory),
        }
    })
}

impl Answer {
    fn unknown(stop: StopReason) -> Self {
        Self {
            outcome: Outcome::Unknown(stop),
            cycles: 0,
            predicates: (0, 0),
            tracked: Vec::new(),
            invariants: Vec::new(),
            unproved: None,
        }
    }
}

fn stop(reason: &Reason) -> StopReason {
    match reason {
        Reason::Time => StopReason::Time,
        Reason::Cancelled => StopReason::Cancelled,
        Reason::Conflicts | Reason::Solver(_) => StopReason::Steps,
    }
}

fn search(
    program: &Program,
    targets: &[ErrorSite],
    calls: Calls,
    budget: &Budget,
    prover: &Prover,
    progress: &mut (dyn FnMut(&Cycle) + Send),
) -> Answer {
    let inlined = match calls {
        Calls::Summarised => None,
        Calls::Auto if procedures::is_recursive(program) => None,
        Calls::Auto => {
            let most = (MOST_COPIES * program.nodes().count()).min(MOST_PLACES);
            Flat::inlined(program, targets, DEPTH, most)
        }
        Calls::Inlined => Flat::inlined(program, targets, DEPTH, MOST_PLACES),
    };
    let Some(flat) = inlined else {
        return match calls {
            Calls::Inlined => Answer::unknown(StopReason::Memory),
            _ => procedures::check(program, targets, budget, prover, progress),
        };
    };
    let mut machine = Machine::new(flat);
    let blocks = Blocks::new(&mut machine);
    let mut refinement = Refinement::new(machine, blocks, budget.solver());
    refinement.prover = prover.clone();
    let outcome = refinement.run(&budget.limits(), progress);
    refinement.answer(outcome)
}

/// The loop.
struct Refinement<'a> {
    machine: Machine<'a>,
    blocks: Blocks,
    /// The block of initial values, which ends at the start.
    initial: Block,
    predicates: Vec<Vec<Tracked>>,
    /// The bit of each formula.
    bits: FxHashMap<Term, usize>,
    relations: Relations,
    slices: Slices<'a>,
    /// Per block (the last is the initial one): the numbers of predicates it was abstracted with,
    /// and the relation.
    known: Vec<Option<((usize, usize), Predicate)>>,
    /// Per block, the steps that have not been shown to be impossible by themselves.
    allowed: Vec<Predicate>,
    /// Per block, whether it has been left out, for being on no failing run.
    outside: Vec<bool>,
    base: BddRelations,
    budget: SolverBudget,
    cycles: usize,
    /// After a proof: the invariant of each node.
    invariants: Vec<Term>,
    /// Who checks proofs, and why it did not accept one.
    prover: Prover,
    unproved: Option<String>,
}

impl<'a> Refinement<'a> {
    fn new(mut machine: Machine<'a>, blocks: Blocks, budget: SolverBudget) -> Self {
        let (store, valid) = blocks.initial(&mut machine);
        let mut updates = FxHashMap::default();
        for (i, name) in blocks.variables() {
            let value = store.get(i);
            if machine.terms.sort(value) == machine.terms.sort(name) {
                updates.insert(name, value);
            }
        }
        let guards = blocks::conjuncts(&machine.terms, valid);
        let start = blocks.start;
        let initial =
            Block { from: start, to: start, edges: Vec::new(), guards, updates, inputs: Vec::new() };
        let base = BddRelations::with_reserve(1, RESERVE, 1 << 24, 1 << 18);
        Self {
            predicates: vec![Vec::new(); blocks.places.len()],
            known: vec![None; blocks.blocks.len() + 1],
            relations: Relations::new(),
            slices: Slices::new(machine.flat.program),
            bits: FxHashMap::default(),
            allowed: vec![base.constant(true); blocks.blocks.len() + 1],
            outside: vec![false; blocks.blocks.len()],
            machine,
            blocks,
            initial,
            base,
            budget,
            cycles: 0,
            invariants: Vec::new(),
            prover: Prover::default(),
            unproved: None,
        }
    }

    fn run(&mut self, limits: &Limits, progress: &mut (dyn FnMut(&Cycle) + Send)) -> Outcome {
        loop {
            match self.turn(limits, progress) {
                Ok(None) => self.cycles += 1,
                Ok(Some(outcome)) => return outcome,
                Err(stop) => return Outcome::Unknown(stop),
            }
        }
    }

    fn turn(
        &mut self,
        limits: &Limits,
        progress: &mut (dyn FnMut(&Cycle) + Send),
    ) -> Result<Option<Outcome>, StopReason> {
        self.budget.look().map_err(|reason| stop(&reason))?;
        // A limit on steps is one on cycles.
        if limits.steps.is_some_and(|most| self.cycles as u64 >= most) {
            return Err(StopReason::Steps);
        }
        let failed = self.failed();
        let (program, path) = loop {
            let program = self.abstract_program().map_err(|reason| stop(&reason))?;
            let post = self.post_star(&program, limits)?;
            if let Some(path) = self.abstract_run(&program, &post, failed) {
                break (program, path);
            }
            if self.widen() {
                continue;
            }
            let beyond =
                self.blocks.cuts.iter().any(|cut| self.reaches(&program, &post, Symbol(*cut as u32)));
            if beyond {
                return Ok(Some(Outcome::Unknown(StopReason::Steps)));
            }
            return self.certified(&program, &post).map(Some);
        };
        progress(&Cycle {
            cycles: self.cycles,
            predicates: self.predicates.iter().map(Vec::len).sum(),
            steps: path.len(),
        });
        match self.examine(&path).map_err(|reason| stop(&reason))? {
            Feasibility::Real(stores, model) => {
                Ok(Some(Outcome::Unsafe(Box::new(self.failure(&path, &stores, &model)))))
            }
            Feasibility::Spurious(found) => {
                let grown =
                    self.track_all(found) || self.sharpen(&program, &path).map_err(|reason| stop(&reason))?;
                // Formulas that were cut short may rule out nothing.
                if !grown {
                    return Err(StopReason::Steps);
                }
                self.narrow(&program)?;
                Ok(None)
            }
        }
    }

    /// The run along some blocks that a model of the solver makes.
    fn failure(&self, path: &[usize], stores: &[Store], model: &Model) -> FailingRun {
        let blocks = &self.blocks;
        let edges: Vec<u32> =
            path.iter().flat_map(|block| blocks.blocks[*block].edges.iter().copied()).collect();
        let stores: Vec<_> = stores.iter().collect();
        let trace = run::trace(&self.machine.flat, &self.machine.terms, model, &edges, &stores);
        let last = path.last().map_or(blocks.start, |block| blocks.blocks[*block].to);
        let path = edges.iter().map(|edge| self.machine.flat.edges[*edge as usize].edge).collect();
        let (target, by) = (blocks.errors[&last], EngineName::Refinement);
        FailingRun { trace, path, target, is_shortest: false, by, replay: None }
    }

    /// Safe, if the reachable truth values are an invariant that a separate check accepts.
    fn certified(&mut self, program: &Abstract, post: &Saturated<Predicate>) -> Result<Outcome, StopReason> {
        let d = &program.bits;
        let contexts = post.automaton.contexts(d);
        let mut invariants = Vec::new();
        for node in 0..self.blocks.places.len() {
            let reached = contexts.of_top(d, &post.automaton, CONTROL, Symbol(node as u32));
            let stores = d.stores_of(&d.range_of(&reached));
            invariants.push(self.formula(d, node, self.predicates[node].len(), &stores));
        }
        let places = self.blocks.places.iter().copied();
        let known = places.zip(invariants.iter().copied()).collect();
        let names = self.blocks.variables().collect();
        let proof = Proof::new(&mut self.machine.terms, &self.machine.flat, names, known);
        let checked = proof.check(&mut *self.prover.solver(), &self.budget);
        self.invariants = invariants;
        match checked.refusal() {
            None => Ok(Outcome::Safe),
            Some((why, stop)) => {
                self.unproved = Some(why);
                Err(stop)
            }
        }
    }

    /// Truth values at a node as a formula, when so many predicates were tracked there.
    fn formula(&mut self, d: &BddRelations, node: NodeId, tracked: usize, stores: &Predicate) -> Term {
        let of_bit: FxHashMap<usize, Term> =
            self.predicates[node][..tracked].iter().map(|(formula, bit)| (*bit, *formula)).collect();
        let terms = &mut self.machine.terms;
        d.fold(stores, (Terms::FALSE, Terms::TRUE), &mut |bit, high, low| {
            // A bit that is not tracked here is 0.
            of_bit.get(&bit).map_or(low, |formula| terms.ite(*formula, high, low))
        })
    }

    /// Tracks formulas at nodes; whether one of them is new.
    fn track_all(&mut self, found: Vec<(NodeId, Vec<Term>)>) -> bool {
        let mut grown = false;
        for (node, formulas) in found {
            for formula in formulas {
                grown |= self.track(node, formula);
            }
        }
        grown
    }

    fn track(&mut self, node: NodeId, formula: Term) -> bool {
        let not = self.machine.terms.not(formula);
        let list = &mut self.predicates[node];
        let known = list.iter().any(|(known, _)| *known == formula || *known == not);
        if formula == Terms::TRUE || formula == Terms::FALSE || known {
            return false;
        }
        // A formula and its negation share a bit.
        let next = self.bits.len();
        let tracked = if self.bits.contains_key(&not) { not } else { formula };
        let bit = *self.bits.entry(tracked).or_insert(next);
        list.push((tracked, bit));
        true
    }

    fn answer(&self, outcome: Outcome) -> Answer {
        let total = self.predicates.iter().map(Vec::len).sum();
        let most = self.predicates.iter().map(Vec::len).max().unwrap_or(0);
        let (tracked, invariants) = (self.tracked(), self.invariants_in_words());
        let unproved = self.unproved.clone();
        Answer { outcome, cycles: self.cycles, predicates: (total, most), tracked, invariants, unproved }
    }

    /// What is tracked where.
    fn tracked(&self) -> Vec<(Node, Vec<String>)> {
        let tracked = self.blocks.places.iter().zip(&self.predicates).filter(|(_, list)| !list.is_empty());
        let terms = &self.machine.terms;
        let of_place = |(place, list): (&u32, &Vec<Tracked>)| {
            let words = self.blocks.vocabulary(&self.machine, *place, Frames::All);
            let word = |formula: Term| words.write(terms, formula).unwrap_or_else(|| NOT_WRITTEN.to_owned());
            let mut words: Vec<String> = list.iter().map(|(formula, _)| word(*formula)).collect();
            words.dedup();
            (self.machine.flat.node(*place), words)
        };
        tracked.map(of_place).collect()
    }

    /// The invariants, location by location: what holds in one of the calls that a location is
    /// inlined for. A location whose invariant speaks of callers, or has no expression in the
    /// source, is left out.
    fn invariants_in_words(&self) -> Vec<(Node, String)> {
        let mut of_nodes: BTreeMap<Node, Option<Vec<String>>> = BTreeMap::new();
        for (place, formula) in self.blocks.places.iter().zip(&self.invariants) {
            if *formula == Terms::FALSE {
                continue;
            }
            let words = self.blocks.vocabulary(&self.machine, *place, Frames::Own);
            let text = words.write(&self.machine.terms, *formula);
            let known = of_nodes.entry(self.machine.flat.node(*place)).or_insert_with(|| Some(Vec::new()));
            match (known.as_mut(), text) {
                (Some(list), Some(text)) if !list.contains(&text) => list.push(text),
                (Some(_), Some(_)) => {}
                _ => *known = None,
            }
        }
        let joined = |list: Vec<String>| match list.as_slice() {
            [one] => one.clone(),
            many if many.iter().any(|text| text == "true") => "true".to_owned(),
            many => many.iter().map(|text| format!("({text})")).collect::<Vec<_>>().join(" || "),
        };
        of_nodes.into_iter().filter_map(|(node, list)| Some((node, joined(list?)))).collect()
    }
}
