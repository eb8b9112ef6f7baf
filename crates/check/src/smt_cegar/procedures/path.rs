//! An abstract counterexample with calls: can it be run?
//!
//! Each call on the path gets a frame of its own, however deep the recursion: only what a path
//! needs is inlined. So the formula of the path is exact, and satisfiable exactly if the path can
//! be run.

use std::rc::Rc;

use rustc_hash::FxHashMap;
use wherefore_program::EdgeRef;
use wherefore_smt::{BitBlaster, Budget, Model, Outcome, Reason, Solver, Term, Terms};

use super::super::blocks::{Block, Conditions, conjuncts};
use super::super::path::MOST_REASONS;
use super::super::reasons::{OfSteps, Prefix};
use super::abstraction::{Abstract, Part};
use super::graph::{Graph, Way};
use crate::symbolic::{Machine, Store};

/// A step of a path.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Step {
    /// A block.
    Way(usize),
    /// A call.
    Enter(usize),
    /// A return from a call; and the step that made the call.
    Leave { way: usize, call: usize, entered: usize },
}

/// A path, or its slice.
pub(super) struct Path {
    pub steps: Vec<Step>,
    /// What each block of it does: all of it, or the part in the slice.
    pub ways: Vec<Option<Rc<Way>>>,
    pub conditions: Conditions,
}

impl Path {
    /// The path of an abstract run, from its rules.
    pub fn new(graph: &Graph, program: &Abstract, rules: impl Iterator<Item = usize>) -> Option<Self> {
        let mut steps = Vec::new();
        let mut open: Vec<(usize, usize)> = Vec::new();
        for rule in rules {
            match program.parts[rule] {
                Part::Between => {}
                Part::Call(call) => {
                    open.push((call, steps.len()));
                    steps.push(Step::Enter(call));
                }
                Part::Way(way) if graph.points[graph.ways[way].block.to].location.is_some() => {
                    steps.push(Step::Way(way));
                }
                Part::Way(way) => {
                    let (call, entered) = open.pop()?;
                    steps.push(Step::Leave { way, call, entered });
                }
            }
        }
        let way = |step: &Step| match step {
            Step::Way(way) => Some(graph.ways[*way].clone()),
            _ => None,
        };
        let ways = steps.iter().map(way).collect();
        Some(Self { steps, ways, conditions: Conditions::All })
    }

    /// What a step does.
    pub fn block<'p>(&'p self, graph: &'p Graph, at: usize) -> &'p Block {
        match (self.steps[at], &self.ways[at]) {
            (_, Some(way)) => &way.block,
            (Step::Way(way) | Step::Leave { way, .. }, None) => &graph.ways[way].block,
            (Step::Enter(call), None) => &graph.calls[call].enter,
        }
    }

    /// The edges of the program that a step takes.
    pub fn edges(&self, graph: &Graph, at: usize) -> Vec<EdgeRef> {
        match (self.steps[at], &self.ways[at]) {
            (_, Some(way)) => way.edges.clone(),
            (Step::Way(way) | Step::Leave { way, .. }, None) => graph.ways[way].edges.clone(),
            (Step::Enter(call), None) => vec![graph.calls[call].edge],
        }
    }
}

/// A path that has been executed on terms.
pub(super) struct Executed {
    /// The edges of the flat program, and the stores before the first and after each.
    pub edges: Vec<u32>,
    pub stores: Vec<Store>,
    /// The conditions with their steps; what holds at the start belongs to the first.
    pub guards: Vec<(usize, Term)>,
    /// Before each step, the values of all names.
    pub values: Vec<FxHashMap<Term, Term>>,
}

/// Executes a path from the start of the program.
pub(super) fn execute(machine: &mut Machine<'_>, graph: &Graph, path: &Path) -> Executed {
    machine.name_prefix("start".to_owned());
    let (mut store, valid) = machine.start();
    // The open frames, with the stores at their entry.
    let mut frames: Vec<(u32, Store)> = vec![(0, store.clone())];
    let mut done = Executed {
        edges: Vec::new(),
        stores: vec![store.clone()],
        guards: vec![(0, valid)],
        values: Vec::new(),
    };
    for (number, step) in path.steps.iter().enumerate() {
        let Some((frame, at_entry)) = frames.last() else { break };
        let frame = *frame;
        done.values.push(values(machine, graph, frame, &store, at_entry));
        let edges: Vec<u32> = match step {
            Step::Enter(call) => vec![machine.flat.open(frame, graph.calls[*call].edge)],
            _ => {
                let edges = path.edges(graph, number).into_iter();
                edges.filter_map(|edge| machine.flat.edge_in(frame, edge)).collect()
            }
        };
        for (at, edge) in edges.into_iter().enumerate() {
            machine.name_prefix(format!("p{number}.{at}"));
            let (after, condition) = machine.step(&store, edge);
            if path.conditions.count(machine, edge) {
                let conditions = conjuncts(&machine.terms, condition);
                done.guards.extend(conditions.into_iter().map(|guard| (number, guard)));
            }
            store = after;
            done.edges.push(edge);
            done.stores.push(store.clone());
        }
        match step {
            Step::Way(_) => {}
            Step::Enter(_) => {
                let edge = *done.edges.last().expect("a call is an edge");
                let to = machine.flat.edges[edge as usize].to;
                frames.push((machine.flat.places[to as usize].frame, store.clone()));
            }
            Step::Leave { .. } => {
                frames.pop();
            }
        }
    }
    done
}

/// The values of all names in a frame.
fn values(
    machine: &Machine<'_>,
    graph: &Graph,
    frame: u32,
    store: &Store,
    at_entry: &Store,
) -> FxHashMap<Term, Term> {
    let frame = &machine.flat.frames[frame as usize];
    let template = machine.flat.frames[graph.names.frames[&frame.procedure] as usize].first;
    let globals = graph.names.globals.iter().map(|named| (named, named.number));
    let locals = graph.names.locals[&frame.procedure].iter();
    let locals = locals.map(|named| (named, frame.first + named.number - template));
    let mut values = FxHashMap::default();
    for (named, number) in globals.chain(locals) {
        for (name, value) in [(named.now, store.get(number)), (named.old, at_entry.get(number))] {
            if machine.terms.sort(value) == machine.terms.sort(name) {
                values.insert(name, value);
            }
        }
    }
    values
}

/// A reason why a path cannot be run: the steps whose conditions count, and those of an
/// unsatisfiable core.
pub(super) struct Because {
    pub prefix: Prefix,
    pub core: Vec<usize>,
}

impl Executed {
    /// Values with which the path can be run, if there are some.
    pub fn model(
        &self,
        terms: &mut Terms,
        solver: &mut BitBlaster,
        budget: &Budget,
    ) -> Result<Option<Model>, Reason> {
        let all: Vec<Term> = self.guards.iter().map(|(_, guard)| *guard).collect();
        // One question: a satisfiability solver is slower with many assumptions than with one, at
        // times very much so.
        let whole = terms.all(&all);
        match solver.check(terms, &[whole], budget) {
            Outcome::Sat(model) => Ok(Some(model)),
            Outcome::Unknown(reason) => Err(reason),
            Outcome::Unsat(_) => Ok(None),
        }
    }

    /// Reasons why it cannot be run, those near the error first.
    pub fn reasons(
        &self,
        terms: &mut Terms,
        solver: &mut BitBlaster,
        budget: &Budget,
    ) -> Result<Vec<Because>, Reason> {
        let mut steps = vec![Terms::TRUE; self.values.len()];
        for (step, guard) in &self.guards[1..] {
            steps[*step] = terms.and(steps[*step], *guard);
        }
        let conditions = OfSteps { start: self.guards[0].1, steps: &steps };
        let mut prefixes = conditions.prefixes(terms, solver, budget)?;
        prefixes.reverse();
        if prefixes.len() > MOST_REASONS {
            prefixes.drain(MOST_REASONS - 1..prefixes.len() - 1);
        }
        let because = |prefix: Prefix| {
            let core = conditions.core(terms, solver, &prefix, budget);
            Because { prefix, core }
        };
        Ok(prefixes.into_iter().map(because).collect())
    }
}
