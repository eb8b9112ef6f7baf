//! The program procedure by procedure: points, the blocks between them, and calls.
//!
//! A call is not inlined. It is put together from three parts, as in \[Kie05\] §5.3: how the callee
//! is *entered* from the store of the caller; the *effect* of the callee, which is known only by
//! predicates at its exit; and how the caller *resumes*, with what the callee left.

use std::collections::BTreeMap;
use std::rc::Rc;

use rustc_hash::FxHashMap;
use wherefore_program::{CallGraph, EdgeRef, LocationId, ModRef, Node, Operation, ProcedureId, Program};
use wherefore_smt::{Term, Terms};

use super::super::blocks::{Block, Conditions, conjuncts};
use super::names::Names;
use crate::symbolic::{Machine, Store};

/// A point, by its number.
pub(super) type PointId = usize;

/// Where predicates are tracked.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) struct Point {
    pub procedure: ProcedureId,
    /// None for the exit of the procedure.
    pub location: Option<LocationId>,
}

/// A basic block of a procedure; a return is one of its own, and ends at the exit.
pub(super) struct Way {
    pub block: Block,
    pub edges: Vec<EdgeRef>,
}

/// A call.
pub(super) struct CallSite {
    pub edge: EdgeRef,
    pub callee: ProcedureId,
    /// From the store of the caller to that of the callee, and to frozen values of the caller's.
    pub enter: Block,
    /// From the store of the caller to that after the call; what the callee left are inputs.
    pub resume: Block,
    /// The names in the effect of the callee, in terms of the caller's store and these inputs.
    pub at_exit: FxHashMap<Term, Term>,
    /// The names of the caller after the call, in terms of the callee's exit and frozen values; and
    /// the condition.
    pub back: FxHashMap<Term, Term>,
    pub back_guard: Term,
    /// The caller's names with their frozen ones.
    pub frozen: Vec<(Term, Term)>,
    /// The globals that the callee leaves alone.
    pub kept: Vec<Term>,
}

/// What leads from point to point.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub(super) enum Piece {
    /// To the first.
    Start,
    Way(usize),
    Enter(usize),
    Resume(usize),
}

/// The program.
pub(super) struct Graph {
    pub names: Names,
    pub points: Vec<Point>,
    pub ways: Vec<Rc<Way>>,
    pub calls: Vec<CallSite>,
    pub entries: FxHashMap<ProcedureId, PointId>,
    pub exits: FxHashMap<ProcedureId, PointId>,
    /// Points where the program fails, with the number of the target.
    pub errors: BTreeMap<PointId, usize>,
    pub start: PointId,
    of_node: FxHashMap<Node, PointId>,
}

/// The edges that leave a location, by kind.
#[derive(Clone, Default)]
struct Out {
    steps: Vec<EdgeRef>,
    calls: Vec<EdgeRef>,
    returns: Vec<EdgeRef>,
}

impl Graph {
    pub fn new(machine: &mut Machine<'_>, program: &Program) -> Self {
        let calls = CallGraph::new(program);
        let mut procedures = calls.reachable(program.entry);
        procedures.sort_unstable();
        let names = Names::new(machine, program, &procedures);
        let mut graph = Self {
            names,
            points: Vec::new(),
            ways: Vec::new(),
            calls: Vec::new(),
            entries: FxHashMap::default(),
            exits: FxHashMap::default(),
            errors: BTreeMap::new(),
            start: 0,
            of_node: FxHashMap::default(),
        };
        let mut chains = Vec::new();
        let mut call_edges = Vec::new();
        for procedure in &procedures {
            graph.cut(machine, program, *procedure, &mut chains, &mut call_edges);
        }
        for (from, to, edges) in chains {
            let way = graph.way(machine, program, (from, to), edges, Conditions::All);
            if !way.block.guards.contains(&Terms::FALSE) {
                graph.ways.push(Rc::new(way));
            }
        }
        let mod_ref = ModRef::new(program);
        for edge in call_edges {
            let site = graph.call_site(machine, program, &mod_ref, edge);
            graph.calls.push(site);
        }
        graph.start = graph.entries[&program.entry];
        graph
    }

    /// The point of a location, if it is one.
    pub fn point(&self, node: Node) -> Option<PointId> {
        self.of_node.get(&node).copied()
    }

    /// The location of a point, unless it is an exit.
    pub fn node(&self, point: PointId) -> Option<Node> {
        let Point { procedure, location } = self.points[point];
        Some(Node { procedure, location: location? })
    }

    /// Cuts a procedure into blocks.
    fn cut(
        &mut self,
        machine: &Machine<'_>,
        program: &Program,
        id: ProcedureId,
        chains: &mut Vec<(PointId, PointId, Vec<EdgeRef>)>,
        calls: &mut Vec<EdgeRef>,
    ) {
        let procedure = program.procedure(id);
        let count = procedure.locations.len();
        let frame = self.names.frames[&id];
        let error = |location: LocationId| machine.flat.errors.get(&machine.flat.place(frame, location));
        let mut out = vec![Out::default(); count];
        // A failing run ends where it fails.
        for (edge, at) in procedure.edges().filter(|(_, at)| error(at.from).is_none()) {
            let out = &mut out[at.from.0 as usize];
            let edge = EdgeRef { procedure: id, edge };
            match at.operation {
                Operation::Call(_) => out.calls.push(edge),
                Operation::Return(_) => out.returns.push(edge),
                _ => out.steps.push(edge),
            }
        }
        let to = |edge: &EdgeRef| program.edge(*edge).to;
        let mut in_degree = vec![0_u32; count];
        let mut after_call = vec![false; count];
        let mut reached = vec![false; count];
        let mut open = vec![procedure.entry];
        reached[procedure.entry.0 as usize] = true;
        while let Some(location) = open.pop() {
            let Out { steps, calls, .. } = &out[location.0 as usize];
            for edge in steps.iter().chain(calls) {
                in_degree[to(edge).0 as usize] += 1;
                if !std::mem::replace(&mut reached[to(edge).0 as usize], true) {
                    open.push(to(edge));
                }
            }
            calls.iter().for_each(|edge| after_call[to(edge).0 as usize] = true);
        }
        let is_point = |location: LocationId| {
            let at = location.0 as usize;
            let Out { steps, calls, returns } = &out[at];
            let plain = in_degree[at] == 1 && steps.len() == 1 && calls.is_empty() && returns.is_empty();
            !plain || location == procedure.entry || after_call[at] || error(location).is_some()
        };
        for location in procedure.location_ids().filter(|l| reached[l.0 as usize] && is_point(*l)) {
            let point = self.points.len();
            self.points.push(Point { procedure: id, location: Some(location) });
            self.of_node.insert(Node { procedure: id, location }, point);
            if let Some(target) = error(location) {
                self.errors.insert(point, *target);
            }
        }
        self.entries.insert(id, self.of_node[&Node { procedure: id, location: procedure.entry }]);
        let exit = self.points.len();
        self.exits.insert(id, exit);
        self.points.push(Point { procedure: id, location: None });
        for location in procedure.location_ids().filter(|l| reached[l.0 as usize] && is_point(*l)) {
            let from = self.of_node[&Node { procedure: id, location }];
            let Out { steps, calls: here, returns } = &out[location.0 as usize];
            for edge in steps {
                let mut edges = vec![*edge];
                let mut at = to(edge);
                while !is_point(at) {
                    let next = out[at.0 as usize].steps[0];
                    edges.push(next);
                    at = to(&next);
                }
                chains.push((from, self.of_node[&Node { procedure: id, location: at }], edges));
            }
            chains.extend(returns.iter().map(|edge| (from, exit, vec![*edge])));
            calls.extend(here);
        }
    }

    /// What some edges of a block do, given by their positions: the others are skipped, and only
    /// assumptions are conditions.
    pub fn part(&self, machine: &mut Machine<'_>, way: usize, kept: &[usize]) -> Way {
        let Way { block, edges } = &*self.ways[way];
        let edges = kept.iter().map(|position| edges[*position]).collect();
        let program = machine.flat.program;
        self.way(machine, program, (block.from, block.to), edges, Conditions::Assumptions)
    }

    fn way(
        &self,
        machine: &mut Machine<'_>,
        program: &Program,
        (from, to): (PointId, PointId),
        edges: Vec<EdgeRef>,
        conditions: Conditions,
    ) -> Way {
        let procedure = self.points[from].procedure;
        let frame = self.names.frames[&procedure];
        let mut store = self.names.store.clone();
        let mut guard = Terms::TRUE;
        let mut updates = FxHashMap::default();
        for edge in &edges {
            machine.name_prefix(format!("in{}.{}", procedure.0, edge.edge.0));
            if let Operation::Return(values) = &program.edge(*edge).operation {
                let place = machine.flat.place(frame, program.edge(*edge).from);
                for (value, result) in values.iter().zip(&self.names.results[&procedure]) {
                    let (value, valid) = machine.value_at(&store, place, value);
                    guard = machine.terms.and(guard, valid);
                    updates.insert(*result, value);
                }
                continue;
            }
            let Some(edge) = machine.flat.edge_in(frame, *edge) else { continue };
            let (after, condition) = machine.step(&store, edge);
            if conditions.count(machine, edge) {
                guard = machine.terms.and(guard, condition);
            }
            store = after;
        }
        updates.extend(changes(self.names.visible(procedure).map(|n| (n.number, n.now)), &store));
        Way { block: self.block(&machine.terms, (from, to), guard, updates), edges }
    }

    fn block(
        &self,
        terms: &Terms,
        (from, to): (PointId, PointId),
        guard: Term,
        updates: FxHashMap<Term, Term>,
    ) -> Block {
        let guards = conjuncts(terms, guard);
        let inputs = self.names.inputs(terms, guards.iter().chain(updates.values()));
        Block { from, to, edges: Vec::new(), guards, updates, inputs }
    }

    fn call_site(
        &mut self,
        machine: &mut Machine<'_>,
        program: &Program,
        mod_ref: &ModRef,
        edge: EdgeRef,
    ) -> CallSite {
        let Operation::Call(call) = &program.edge(edge).operation else {
            unreachable!("only calls are call sites");
        };
        let (caller, callee) = (edge.procedure, call.callee);
        let (from_frame, to_frame) = (self.names.frames[&caller], self.names.frames[&callee]);
        let at = |location| self.of_node[&Node { procedure: caller, location }];
        let ends = (at(program.edge(edge).from), at(program.edge(edge).to));
        let prefix = format!("call{}.{}", caller.0, edge.edge.0);

        // Entering: the callee's names, its names at entry, and frozen names, each in terms of the
        // caller's.
        machine.name_prefix(prefix.clone());
        let (assigned, entered, guard) = machine.call(&self.names.store.clone(), from_frame, call, to_frame);
        let mut enter: FxHashMap<Term, Term> = FxHashMap::default();
        for named in self.names.visible(callee) {
            enter.extend([(named.now, entered.get(named.number)), (named.old, entered.get(named.number))]);
        }
        let mut frozen = Vec::new();
        let mut stopped = self.names.store.clone();
        for named in self.names.visible(caller).collect::<Vec<_>>() {
            // Globals come first.
            if named.number as usize >= self.names.globals.len() {
                let now = self.names.frozen(&mut machine.terms, named.now);
                frozen.push((named.now, now));
                enter.insert(now, assigned.get(named.number));
                stopped.set(named.number, now);
            }
            let old = self.names.frozen(&mut machine.terms, named.old);
            frozen.push((named.old, old));
            enter.insert(old, named.old);
        }
        let enter_block = self.block(&machine.terms, (ends.0, self.entries[&callee]), guard, enter.clone());

        // Resuming, seen from the callee's exit.
        let results = self.names.results[&callee].clone();
        machine.name_prefix(format!("{prefix}.back"));
        let (after, back_guard) = machine.resume(&stopped, from_frame, call, results.clone());
        let mut back: FxHashMap<Term, Term> =
            self.names.visible(caller).map(|named| (named.now, after.get(named.number))).collect();
        back.extend(frozen.iter().copied().filter(|(name, _)| !back.contains_key(name)).collect::<Vec<_>>());

        // The same, seen from the caller: what the callee left is anything, except that most
        // globals are as they were.
        let writes = &mod_ref.effects(callee).writes;
        let mut at_exit: FxHashMap<Term, Term> = FxHashMap::default();
        for named in self.names.visible(callee) {
            at_exit.insert(named.old, entered.get(named.number));
        }
        let mut kept = Vec::new();
        for global in &self.names.globals {
            let left = if writes.contains(&global.number) {
                let name = format!("{prefix}.left.{}", global.number);
                machine.terms.variable(&name, machine.terms.sort(global.now))
            } else {
                kept.push(global.now);
                assigned.get(global.number)
            };
            at_exit.insert(global.now, left);
        }
        for (i, result) in results.iter().enumerate() {
            let value = machine.terms.variable(&format!("{prefix}.result.{i}"), machine.terms.sort(*result));
            at_exit.insert(*result, value);
        }
        let mut from_exit = at_exit.clone();
        from_exit.extend(frozen.iter().map(|(_, frozen)| (*frozen, enter[frozen])));
        let mut resume = FxHashMap::default();
        for (name, value) in &back {
            let value = machine.terms.substitute(*value, &from_exit);
            if value != *name {
                resume.insert(*name, value);
            }
        }
        let resumed = machine.terms.substitute(back_guard, &from_exit);
        let guard = machine.terms.and(guard, resumed);
        let resume = self.block(&machine.terms, ends, guard, resume);
        CallSite { edge, callee, enter: enter_block, resume, at_exit, back, back_guard, frozen, kept }
    }
}

/// The variables that differ from their names.
fn changes(variables: impl Iterator<Item = (u32, Term)>, store: &Store) -> FxHashMap<Term, Term> {
    variables.map(|(number, name)| (name, store.get(number))).filter(|(name, value)| name != value).collect()
}
