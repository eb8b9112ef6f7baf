//! Refinement with summaries of procedures: calls are not inlined, so recursion has no bound.
//!
//! \[Kie05\] §5.3 and \[Lal09\] §1.1.2 for C. The abstract program is an extended weighted pushdown
//! system (`abstraction`); post\* decides it for all depths of recursion. A counterexample is
//! executed with a frame for each of its calls (`path`); if it cannot be run, nested interpolants
//! are the next predicates: what callers must know, and what callees do (`interpolants`). A proof
//! is checked again, edge by edge and call by call (`proof`).
//!
//! # Reading order
//! 1. [`check`]: the loop. 2. `names` and `graph`: the program. 3. `abstraction`; `sharpen`: where
//!    it is too coarse. 4. `path`, `slices`, `interpolants`. 5. `proof`.

mod abstraction;
mod graph;
mod interpolants;
mod names;
mod path;
mod proof;
mod sharpen;
mod slices;

use std::time::Instant;

use rustc_hash::FxHashMap;
use wherefore_domains::bdd::{BddRelations, Moment, Predicate};
use wherefore_program::{CallGraph, ErrorSite, Program};
use wherefore_pushdown::{
    Automaton, Configuration, Direction, Limits, Method, Options, Order, Reading, Recording, Relational,
    Saturated, Semiring, StopReason, solve,
};
use wherefore_smt::{BitBlaster, Budget, Model, Reason, Term, Terms};

use super::before::Spurious;
use super::blocks::{Block, conjuncts};
use super::choice::{Judgement, judge};
use super::path::atoms;
use super::{Answer, Cycle, NOT_WRITTEN, Outcome, stop};
use crate::encoding::stacks_with;
use crate::prover::Prover;
use crate::symbolic::{Flat, Machine, run};
use crate::verdict::{EngineName, FailingRun};
use abstraction::{Abstract, Abstraction, Bit, CONTROL, Predicates, bit, symbol};
use graph::{Graph, Point, PointId};
use interpolants::{Nested, Triple};
use path::{Because, Executed, Path, Step};
use sharpen::Sharpening;
use slices::Slices;

/// Whether some procedure that can be called is recursive.
pub(super) fn is_recursive(program: &Program) -> bool {
    let calls = CallGraph::new(program);
    calls.reachable(program.entry).into_iter().any(|procedure| calls.is_recursive(procedure))
}

/// Decides whether a program can fail.
pub(super) fn check(
    program: &Program,
    targets: &[ErrorSite],
    budget: &crate::Budget,
    prover: &Prover,
    progress: &mut (dyn FnMut(&Cycle) + Send),
) -> Answer {
    let mut refinement = Refinement::new(program, targets, budget.solver(), prover);
    let outcome = refinement.run(&budget.limits(), progress);
    refinement.answer(outcome)
}

/// The block of initial values, which ends at the start.
fn initial(machine: &mut Machine<'_>, graph: &Graph, program: &Program) -> Block {
    machine.name_prefix("start".to_owned());
    let (store, valid) = machine.start();
    // The outermost procedure runs in a frame of its own, the first.
    let template = machine.flat.frames[graph.names.frames[&program.entry] as usize].first;
    let first = machine.flat.frames[0].first;
    let globals = graph.names.globals.iter().map(|named| (named, named.number));
    let locals = graph.names.locals[&program.entry].iter();
    let locals = locals.map(|named| (named, first + named.number - template));
    let mut updates = FxHashMap::default();
    for (named, number) in globals.chain(locals) {
        updates.extend([(named.now, store.get(number)), (named.old, store.get(number))]);
    }
    let guards = conjuncts(&machine.terms, valid);
    Block { from: graph.start, to: graph.start, edges: Vec::new(), guards, updates, inputs: Vec::new() }
}

/// What came of a counterexample.
enum Examined {
    /// It can be run.
    Real(Outcome),
    /// It is none any more.
    RuledOut,
    /// Neither.
    Open,
}

/// The loop.
struct Refinement<'a> {
    machine: Machine<'a>,
    graph: Graph,
    slices: Slices<'a>,
    initial: Block,
    predicates: Predicates,
    abstraction: Abstraction,
    budget: Budget,
    cycles: usize,
    /// Who checks proofs.
    prover: Prover,
    /// After a proof: the invariant of each point.
    invariants: Vec<Term>,
    /// Why a proof that was found does not count.
    unproved: Option<String>,
}

impl<'a> Refinement<'a> {
    fn new(program: &'a Program, targets: &[ErrorSite], budget: Budget, prover: &Prover) -> Self {
        let mut machine = Machine::new(Flat::new(program, targets));
        let graph = Graph::new(&mut machine, program);
        let initial = initial(&mut machine, &graph, program);
        let predicates = Predicates::new(&graph);
        let abstraction = Abstraction::new();
        Self {
            machine,
            graph,
            slices: Slices::new(program),
            initial,
            predicates,
            abstraction,
            prover: prover.clone(),
            budget,
            cycles: 0,
            invariants: Vec::new(),
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
        let (terms, graph) = (&mut self.machine.terms, &self.graph);
        let program = self
            .abstraction
            .program(terms, graph, &self.initial, &self.predicates, &self.budget)
            .map_err(|reason| stop(&reason))?;
        let post = self.post_star(&program, limits)?;
        let goal = stacks_with(&program.system, [program.failed], Reading::Forward, &());
        if program.bits.is_zero(&post.automaton.summary(&program.bits, &goal)) {
            return self.certified(&program, &post).map(Some);
        }
        let rules = post.some_run(&program.bits, &program.system, &goal).ok_or(StopReason::Memory)?;
        let rules = rules.into_iter().map(|rule| rule.index());
        let path = Path::new(&self.graph, &program, rules).ok_or(StopReason::Steps)?;
        progress(&Cycle {
            cycles: self.cycles,
            predicates: self.predicates.total(),
            steps: path.steps.len(),
        });
        match self.examine(&program, &path).map_err(|reason| stop(&reason))? {
            Examined::Real(outcome) => Ok(Some(outcome)),
            Examined::RuledOut => Ok(None),
            // Formulas that were cut short may rule out nothing.
            Examined::Open => Err(StopReason::Steps),
        }
    }

    /// Runs a path, or learns why it cannot be run, first from its slice.
    fn examine(&mut self, program: &Abstract, path: &Path) -> Result<Examined, Reason> {
        if let Some(slice) = self.slices.slice(&mut self.machine, &self.graph, path) {
            let executed = path::execute(&mut self.machine, &self.graph, &slice);
            let mut solver = BitBlaster::new();
            if executed.model(&mut self.machine.terms, &mut solver, &self.budget)?.is_none() {
                let found = self.learn(&mut solver, &executed, &slice)?;
                if self.track(&found) {
                    return Ok(Examined::RuledOut);
                }
            }
        }
        let executed = path::execute(&mut self.machine, &self.graph, path);
        let mut solver = BitBlaster::new();
        if let Some(model) = executed.model(&mut self.machine.terms, &mut solver, &self.budget)? {
            return Ok(Examined::Real(self.failure(&executed, &path.steps, &model)));
        }
        let found = self.learn(&mut solver, &executed, path)?;
        let grown = self.track(&found) || self.sharpen(program, &found)?;
        Ok(if grown { Examined::RuledOut } else { Examined::Open })
    }

    /// What is to be known so that a path is none any more, by the reason that looks most general.
    fn learn(
        &mut self,
        solver: &mut BitBlaster,
        executed: &Executed,
        path: &Path,
    ) -> Result<Vec<Triple>, Reason> {
        let terms = &mut self.machine.terms;
        let mut judged: Vec<(Judgement, Vec<Triple>)> = Vec::new();
        for Because { prefix, core } in executed.reasons(terms, solver, &self.budget)? {
            let guards = executed.guards.iter().enumerate();
            let guards = guards.filter(|(i, (step, _))| *i == 0 || prefix.binary_search(step).is_ok());
            let guards: Vec<(usize, Term)> = guards.map(|(_, guard)| *guard).collect();
            let spurious = Spurious {
                guards: &guards,
                values: &executed.values,
                relevant: &core,
                fixed: FxHashMap::default(),
                budget: &self.budget,
            };
            let mut nested =
                Nested { graph: &self.graph, path, prefix: &prefix, spurious, found: Vec::new() };
            nested.run(terms, solver)?;
            let triples = nested.found;
            let formulas = triples.iter().flat_map(Triple::formulas);
            let found = formulas.map(|(point, formula)| (point, atoms(terms, formula))).collect();
            let judgement = judge(terms, &self.predicates.at, found);
            if judgement.is_fine() {
                return Ok(triples);
            }
            judged.push((judgement, triples));
        }
        let best = judged.into_iter().min_by_key(|(judgement, _)| judgement.cost());
        Ok(best.map(|(_, triples)| triples).unwrap_or_default())
    }

    /// Tracks what formulas are made of, each at its point; whether something is new.
    fn track(&mut self, triples: &[Triple]) -> bool {
        let terms = &mut self.machine.terms;
        let mut grown = false;
        for triple in triples {
            for (point, formula) in triple.formulas() {
                for atom in atoms(terms, formula) {
                    grown |= self.predicates.track(terms, &self.graph, point, atom);
                }
            }
        }
        grown
    }

    fn sharpen(&mut self, program: &Abstract, triples: &[Triple]) -> Result<bool, Reason> {
        let sharpening = Sharpening {
            graph: &self.graph,
            initial: &self.initial,
            predicates: &self.predicates,
            bits: &program.bits,
            budget: &self.budget,
        };
        sharpening.run(&mut self.abstraction, &mut self.machine.terms, triples)
    }

    fn post_star(&self, program: &Abstract, limits: &Limits) -> Result<Saturated<Predicate>, StopReason> {
        let d = &program.bits;
        let start = Configuration { state: CONTROL, stack: vec![program.start] };
        let seed = Automaton::of_configuration(&program.system, &start, Reading::Backward, &d.one());
        let time = self.budget.deadline.map(|deadline| deadline.saturating_duration_since(Instant::now()));
        let limits = Limits { time, steps: None, memory: None, cancel: limits.cancel.clone() };
        let options = Options { order: Order::Fifo, recording: Recording::Witnesses, limits };
        let post = solve(Direction::Post, d, &program.system, &seed, Method::Worklist, &options);
        match post.stop {
            _ if self.abstraction.exhausted() || d.exhausted() => Err(StopReason::Memory),
            StopReason::Complete => Ok(post),
            stop => Err(stop),
        }
    }

    /// The run along a path that a model of the solver makes.
    fn failure(&self, executed: &Executed, path: &[Step], model: &Model) -> Outcome {
        let flat = &self.machine.flat;
        let stores: Vec<_> = executed.stores.iter().collect();
        let trace = run::trace(flat, &self.machine.terms, model, &executed.edges, &stores);
        let end = match path.last() {
            None => self.graph.start,
            Some(Step::Way(way)) => self.graph.ways[*way].block.to,
            Some(Step::Enter(call)) => self.graph.calls[*call].enter.to,
            Some(Step::Leave { call, .. }) => self.graph.calls[*call].resume.to,
        };
        let path = executed.edges.iter().map(|edge| flat.edges[*edge as usize].edge).collect();
        let (target, by) = (self.graph.errors[&end], EngineName::Refinement);
        Outcome::Unsafe(Box::new(FailingRun { trace, path, target, is_shortest: false, by, replay: None }))
    }

    /// Safe, if the reachable truth values are a proof that a separate check accepts.
    fn certified(&mut self, program: &Abstract, post: &Saturated<Predicate>) -> Result<Outcome, StopReason> {
        let invariants = self.invariants(program, post);
        let solver = &mut *self.prover.solver();
        let checked = proof::check(&mut self.machine, &self.graph, &invariants, solver, &self.budget);
        self.invariants = invariants;
        match checked.refusal() {
            None => Ok(Outcome::Safe),
            Some((why, stop)) => {
                self.unproved = Some(why);
                Err(stop)
            }
        }
    }

    /// What is known at each point: which truth values can be there, together with those at the
    /// entry that lead to them.
    fn invariants(&mut self, program: &Abstract, post: &Saturated<Predicate>) -> Vec<Term> {
        let d = &program.bits;
        let automaton = &post.automaton;
        let contexts = automaton.contexts(d);
        let outermost = self.graph.points[self.graph.start].procedure;
        let mut invariants = Vec::new();
        for point in 0..self.graph.points.len() {
            let Point { procedure, location } = self.graph.points[point];
            let entry = self.graph.entries[&procedure];
            let entered = contexts.of_top(d, automaton, CONTROL, symbol(entry));
            let entered = d.stores_of(&d.range_of(&entered));
            // What a procedure leaves when it returns is on transitions without a symbol.
            let top = location.map(|_| symbol(point));
            let mut known = Terms::FALSE;
            for (transition, weight) in automaton.transitions_from(CONTROL) {
                if transition.symbol != top {
                    continue;
                }
                let relation = match automaton.entry_of(transition.to) {
                    Some((_, of)) if of == symbol(entry) => d.and(weight, &entered),
                    // The outermost call started with one store.
                    None if procedure == outermost => d.primed(&d.stores_of(&d.range_of(weight))),
                    _ => continue,
                };
                let formula = self.formula((entry, point), d, &relation);
                known = self.machine.terms.or(known, formula);
            }
            invariants.push(known);
        }
        invariants
    }

    /// A relation between truth values at the entry of a procedure and at a point of it, as a
    /// formula.
    fn formula(
        &mut self,
        (entry, point): (PointId, PointId),
        d: &BddRelations,
        relation: &Predicate,
    ) -> Term {
        let Point { procedure, location } = self.graph.points[point];
        let kind = if location.is_some() { Bit::Local } else { Bit::Effect };
        let at_entry = self.graph.names.at_entry(procedure);
        let terms = &mut self.machine.terms;
        let mut of_bit: FxHashMap<(usize, Moment), Term> = FxHashMap::default();
        for (formula, number) in &self.predicates.at[entry] {
            let formula = terms.substitute(*formula, &at_entry);
            of_bit.insert((bit(Bit::Local, *number), Moment::Current), formula);
        }
        for (formula, number) in &self.predicates.at[point] {
            of_bit.insert((bit(kind, *number), Moment::Next), *formula);
        }
        d.fold_relation(relation, (Terms::FALSE, Terms::TRUE), &mut |bit, moment, high, low| {
            // A bit that is not tracked here is 0.
            of_bit.get(&(bit, moment)).map_or(low, |formula| terms.ite(*formula, high, low))
        })
    }

    fn answer(&self, outcome: Outcome) -> Answer {
        let most = self.predicates.at.iter().map(Vec::len).max().unwrap_or(0);
        let (terms, program) = (&self.machine.terms, self.machine.flat.program);
        let mut tracked = Vec::new();
        for (point, list) in self.predicates.at.iter().enumerate().filter(|(_, list)| !list.is_empty()) {
            if let Some(node) = self.graph.node(point) {
                let words = self.graph.names.vocabulary(program, node.procedure);
                let word =
                    |formula: Term| words.write(terms, formula).unwrap_or_else(|| NOT_WRITTEN.to_owned());
                tracked.push((node, list.iter().map(|(formula, _)| word(*formula)).collect()));
            }
        }
        let reached = self.invariants.iter().enumerate().filter(|(_, formula)| **formula != Terms::FALSE);
        let written = |(point, formula): (usize, &Term)| {
            let node = self.graph.node(point)?;
            Some((node, self.graph.names.vocabulary(program, node.procedure).write(terms, *formula)?))
        };
        let invariants = reached.filter_map(written).collect();
        let predicates = (self.predicates.total(), most);
        let unproved = self.unproved.clone();
        Answer { outcome, cycles: self.cycles, predicates, tracked, invariants, unproved }
    }
}
