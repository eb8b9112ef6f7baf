//! An abstract counterexample: can it be run?
//!
//! Each call on the path gets a frame of its own, however deep the recursion: only what a path
//! needs is inlined. So the formula of the path is exact, and satisfiable exactly if the path can
//! be run.

use std::rc::Rc;

use rustc_hash::FxHashMap;
use wherefore_program::{EdgeRef, ProcedureId};
use wherefore_smt::{BitBlaster, Budget, Model, Outcome, Reason, Solver, Term, Terms};

use super::abstraction::Abstract;
use super::block::{Block, Conditions, conjuncts};
use super::graph::{Graph, PointId, Transition};
use super::names::Named;
use crate::symbolic::flat::Move;
use crate::symbolic::{Flat, Machine, Store};

/// A step of a path.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Step {
    /// A block.
    Block(usize),
    /// A call.
    Enter(usize),
    /// A return from a call; and the step that made the call.
    Leave { block: usize, call: usize, entered: usize },
}

/// A path, or its slice.
pub(super) struct Path {
    pub steps: Vec<Step>,
    /// What each block of it does: all of it, or the part in the slice.
    pub blocks: Vec<Option<Rc<Block>>>,
    pub conditions: Conditions,
}

impl Path {
    /// The path of an abstract run, from its rules.
    pub fn new(graph: &Graph, program: &Abstract, rules: impl Iterator<Item = usize>) -> Option<Self> {
        let mut steps = Vec::new();
        let mut open: Vec<(usize, usize)> = Vec::new();
        for transition in rules.filter_map(|rule| program.origins[rule]) {
            match transition {
                Transition::Start | Transition::Resume(_) => {}
                Transition::Enter(call) => {
                    open.push((call, steps.len()));
                    steps.push(Step::Enter(call));
                }
                Transition::Block(block) if !graph.is_exit(graph.blocks[block].to) => {
                    steps.push(Step::Block(block));
                }
                Transition::Block(block) => {
                    let (call, entered) = open.pop()?;
                    steps.push(Step::Leave { block, call, entered });
                }
            }
        }
        let block = |step: &Step| match step {
            Step::Block(block) => Some(graph.blocks[*block].clone()),
            Step::Enter(_) | Step::Leave { .. } => None,
        };
        let blocks = steps.iter().map(block).collect();
        Some(Self { steps, blocks, conditions: Conditions::All })
    }

    /// What a step does.
    pub fn block<'p>(&'p self, graph: &'p Graph, at: usize) -> &'p Block {
        match (self.steps[at], &self.blocks[at]) {
            (_, Some(block)) => block,
            (Step::Block(block) | Step::Leave { block, .. }, None) => &graph.blocks[block],
            (Step::Enter(call), None) => &graph.calls[call].enter,
        }
    }

    /// The edges of the program that a step takes.
    pub fn edges(&self, flat: &Flat<'_>, graph: &Graph, at: usize) -> Vec<EdgeRef> {
        match self.steps[at] {
            Step::Enter(call) => vec![graph.calls[call].edge],
            Step::Block(_) | Step::Leave { .. } => {
                let Block { edges, returns, .. } = self.block(graph, at);
                edges.iter().map(|edge| flat.edges[*edge as usize].edge).chain(*returns).collect()
            }
        }
    }

    /// The point where the path ends.
    pub fn end(&self, graph: &Graph) -> PointId {
        match self.steps.last() {
            None => graph.start,
            Some(Step::Block(block)) => graph.blocks[*block].to,
            Some(Step::Enter(call)) => graph.calls[*call].enter.to,
            Some(Step::Leave { call, .. }) => graph.calls[*call].resume.to,
        }
    }

    /// The first step that starts at a point.
    pub fn first_at(&self, graph: &Graph, point: PointId) -> Option<usize> {
        (0..self.steps.len()).find(|step| self.block(graph, *step).from == point)
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

/// A procedure that runs on a path.
struct Activation {
    procedure: ProcedureId,
    /// The frames of the run, by those that stand for all calls of the procedure.
    frames: FxHashMap<u32, u32>,
    /// The store at entry.
    at_entry: Store,
}

impl Activation {
    fn new(graph: &Graph, procedure: ProcedureId, frame: u32, at_entry: Store) -> Self {
        let frames = FxHashMap::from_iter([(graph.names.scopes[&procedure].frame(), frame)]);
        Self { procedure, frames, at_entry }
    }

    /// The frame of the run that one of the procedure stands for.
    fn frame(&mut self, flat: &mut Flat<'_>, template: u32) -> u32 {
        if let Some(frame) = self.frames.get(&template) {
            return *frame;
        }
        let Some((caller, call)) = flat.frames[template as usize].caller else {
            unreachable!("a frame without a caller is that of the procedure");
        };
        let caller = self.frame(flat, caller);
        let edge = flat.open(caller, call);
        let frame = flat.places[flat.edges[edge as usize].to as usize].frame;
        self.frames.insert(template, frame);
        frame
    }

    /// The edge of the run that one of a block stands for.
    fn edge(&mut self, flat: &mut Flat<'_>, edge: u32) -> Option<u32> {
        let made = flat.edges[edge as usize];
        let frame = self.frame(flat, flat.places[made.from as usize].frame);
        match made.kind {
            Move::Enter(_) => Some(flat.open(frame, made.edge)),
            Move::Step | Move::Leave => flat.edge_in(frame, made.edge),
        }
    }

    /// The values of all names.
    fn values(&self, machine: &Machine<'_>, graph: &Graph, store: &Store) -> FxHashMap<Term, Term> {
        let scope = &graph.names.scopes[&self.procedure];
        let flat = &machine.flat;
        let mut values = FxHashMap::default();
        let mut add = |name: Term, value: Term| {
            if machine.terms.sort(value) == machine.terms.sort(name) {
                values.insert(name, value);
            }
        };
        let mut add_all = |list: &[Named], frame: Option<(u32, u32)>| {
            for named in list {
                let number = match frame {
                    None => named.number,
                    Some((template, own)) => {
                        let first = flat.frames[template as usize].first;
                        flat.frames[own as usize].first + named.number - first
                    }
                };
                add(named.now, store.get(number));
                if named.old != named.now {
                    add(named.old, self.at_entry.get(number));
                }
            }
        };
        add_all(&scope.globals, None);
        let own = std::iter::once((scope.frame(), &scope.locals));
        for (template, list) in own.chain(scope.folded.iter().map(|(frame, list)| (*frame, list))) {
            if let Some(frame) = self.frames.get(&template) {
                add_all(list, Some((template, *frame)));
            }
        }
        values
    }
}

/// Executes a path from the start of the program.
pub(super) fn execute(machine: &mut Machine<'_>, graph: &Graph, path: &Path) -> Executed {
    machine.name_prefix("start".to_owned());
    let (mut store, valid) = machine.start();
    let outermost = machine.flat.program.entry;
    let mut open = vec![Activation::new(graph, outermost, 0, store.clone())];
    let mut done = Executed {
        edges: Vec::new(),
        stores: vec![store.clone()],
        guards: vec![(0, valid)],
        values: Vec::new(),
    };
    for (number, step) in path.steps.iter().enumerate() {
        let Some(active) = open.last_mut() else { break };
        done.values.push(active.values(machine, graph, &store));
        let edges: Vec<u32> = match step {
            Step::Enter(call) => {
                let site = &graph.calls[*call];
                let frame = active.frame(&mut machine.flat, site.frame);
                vec![machine.flat.open(frame, site.edge)]
            }
            Step::Block(_) | Step::Leave { .. } => {
                let Block { edges, returns, .. } = path.block(graph, number);
                let flat = &mut machine.flat;
                let mut made: Vec<u32> = edges.iter().filter_map(|edge| active.edge(flat, *edge)).collect();
                let own = active.frame(flat, graph.names.scopes[&active.procedure].frame());
                made.extend(returns.and_then(|edge| flat.edge_in(own, edge)));
                made
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
            Step::Block(_) => {}
            Step::Enter(call) => {
                if let Some(edge) = done.edges.last() {
                    let to = machine.flat.edges[*edge as usize].to;
                    let frame = machine.flat.places[to as usize].frame;
                    open.push(Activation::new(graph, graph.calls[*call].callee, frame, store.clone()));
                }
            }
            Step::Leave { .. } => {
                open.pop();
            }
        }
    }
    done
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

    /// The condition of each step.
    pub fn conditions(&self, terms: &mut Terms) -> Vec<Term> {
        let mut steps = vec![Terms::TRUE; self.values.len()];
        for (step, guard) in &self.guards[1..] {
            steps[*step] = terms.and(steps[*step], *guard);
        }
        steps
    }
}
