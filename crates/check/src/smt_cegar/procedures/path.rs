//! An abstract counterexample with calls: can it be run?
//!
//! Each call on the path gets a frame of its own, however deep the recursion: only what a path needs is inlined. So the formula of the path is
//! exact, and satisfiable exactly if the path can be run.

use rustc_hash::FxHashMap;
use wherefore_smt::{BitBlaster, Budget, Model, Outcome, Reason, Solver, Term, Terms};

use super::super::blocks::conjuncts;
use super::super::path::core_of;
use super::abstraction::{Abstract, Part};
use super::graph::Graph;
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

/// The steps of an abstract run, from its rules.
pub(super) fn steps(
    graph: &Graph,
    program: &Abstract,
    rules: impl Iterator<Item = usize>,
) -> Option<Vec<Step>> {
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
    Some(steps)
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
pub(super) fn execute(machine: &mut Machine<'_>, graph: &Graph, path: &[Step]) -> Executed {
    machine.name_prefix("start".to_owned());
    let (mut store, valid) = machine.start();
    store.grow(machine.flat.variables);
    // The open frames, with the stores at their entry.
    let mut frames: Vec<(u32, Store)> = vec![(0, store.clone())];
    let mut done = Executed {
        edges: Vec::new(),
        stores: vec![store.clone()],
        guards: vec![(0, valid)],
        values: Vec::new(),
    };
    for (number, step) in path.iter().enumerate() {
        let Some((frame, at_entry)) = frames.last() else { break };
        let frame = *frame;
        done.values.push(values(machine, graph, frame, &store, at_entry));
        let edges: Vec<u32> = match step {
            Step::Enter(call) => vec![machine.flat.open(frame, graph.calls[*call].edge)],
            Step::Way(way) | Step::Leave { way, .. } => {
                let edges = graph.ways[*way].edges.iter();
                edges.filter_map(|edge| machine.flat.edge_in(frame, *edge)).collect()
            }
        };
        for (at, edge) in edges.into_iter().enumerate() {
            machine.name_prefix(format!("p{number}.{at}"));
            let (after, condition) = machine.step(&store, edge);
            let conditions = conjuncts(&machine.terms, condition);
            done.guards.extend(conditions.into_iter().map(|guard| (number, guard)));
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

/// Whether a path can be run.
pub(super) enum Feasibility {
    /// It can, with these values.
    Real(Model),
    /// It cannot: the steps with a condition in an unsatisfiable core.
    Spurious(Vec<usize>),
}

impl Executed {
    pub fn feasibility(
        &self,
        terms: &mut Terms,
        solver: &mut BitBlaster,
        budget: &Budget,
    ) -> Result<Feasibility, Reason> {
        let all: Vec<Term> = self.guards.iter().map(|(_, guard)| *guard).collect();
        // One question first: a satisfiability solver is slower with many assumptions than with one, at times very much so.
        let whole = terms.all(&all);
        match solver.check(terms, &[whole], budget) {
            Outcome::Sat(model) => return Ok(Feasibility::Real(model)),
            Outcome::Unknown(reason) => return Err(reason),
            Outcome::Unsat(_) => {}
        }
        let core = core_of(terms, solver, all, budget);
        let relevant = self.guards.iter().filter(|(_, guard)| core.contains(guard));
        Ok(Feasibility::Spurious(relevant.map(|(step, _)| *step).collect()))
    }
}
