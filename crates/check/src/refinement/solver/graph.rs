//! The program procedure by procedure: points, the blocks between them, and calls.
//!
//! Folded calls are part of their caller. Another call is put together from three parts, as in
//! \[Kie05\] §5.3: how the callee is *entered* from the store of the caller; the *effect* of the
//! callee, which is known only by predicates at its exit; and how the caller *resumes*, with what
//! the callee left.

use std::collections::BTreeMap;
use std::rc::Rc;

use rustc_hash::FxHashMap;
use wherefore_program::{EdgeRef, ModRef, Operation, ProcedureId, Program};
use wherefore_smt::{Term, Terms};

use super::block::{Block, Conditions, conjuncts};
use super::constants::Constants;
use super::counters::Loops;
use super::folding::Folding;
use super::names::{Named, Names};
use crate::symbolic::{Machine, PlaceId, Store};

/// A point, by its number.
pub(crate) type PointId = usize;

/// Where predicates are tracked.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) struct Point {
    /// The procedure whose formulas are tracked here.
    pub procedure: ProcedureId,
    /// None for the exit of the procedure.
    pub place: Option<PlaceId>,
}

/// A call that is not folded.
pub(crate) struct CallSite {
    /// The frame of the caller, and the call.
    pub frame: u32,
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
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub(crate) enum Transition {
    /// To the first.
    Start,
    Block(usize),
    Enter(usize),
    Resume(usize),
}

/// The program.
pub(crate) struct Graph {
    pub names: Names,
    pub points: Vec<Point>,
    pub blocks: Vec<Rc<Block>>,
    /// From where to where there is a way in the text, also if no run can take it.
    pub ways: Vec<(PointId, PointId)>,
    pub calls: Vec<CallSite>,
    pub entries: FxHashMap<ProcedureId, PointId>,
    pub exits: FxHashMap<ProcedureId, PointId>,
    /// Points where the program fails, with the number of the target.
    pub errors: BTreeMap<PointId, usize>,
    pub start: PointId,
    /// The block of initial values, which ends at the start.
    pub initial: Block,
    /// Which blocks can be repeated together.
    pub loops: Loops,
    /// What variables hold that need no predicates.
    constants: Constants,
    of_place: FxHashMap<PlaceId, PointId>,
}

/// What leaves a place.
#[derive(Clone, Default)]
struct Out {
    steps: Vec<u32>,
    calls: Vec<EdgeRef>,
    returns: Vec<EdgeRef>,
}

/// What is found when a procedure is cut: chains of steps, and calls with their frames.
#[derive(Default)]
struct Pieces {
    chains: Vec<Chain>,
    calls: Vec<(u32, EdgeRef)>,
}

struct Chain {
    from: PointId,
    to: PointId,
    edges: Vec<u32>,
    returns: Option<EdgeRef>,
}

impl Graph {
    pub fn new(machine: &mut Machine<'_>, folding: &Folding) -> Self {
        let program = machine.flat.program;
        let names = Names::new(machine, program, folding);
        let mut graph = Self {
            names,
            points: Vec::new(),
            blocks: Vec::new(),
            ways: Vec::new(),
            calls: Vec::new(),
            entries: FxHashMap::default(),
            exits: FxHashMap::default(),
            errors: BTreeMap::new(),
            start: 0,
            initial: Block::default(),
            loops: Loops::new(0, &[]),
            constants: Constants::default(),
            of_place: FxHashMap::default(),
        };
        graph.constants = Constants::new(machine, &graph.names);
        let mut pieces = Pieces::default();
        let procedures: Vec<ProcedureId> = graph.names.scopes.keys().copied().collect();
        for procedure in procedures {
            graph.cut(machine, procedure, &mut pieces);
        }
        for chain in pieces.chains {
            graph.ways.push((chain.from, chain.to));
            let block = graph.block_of(machine, chain, Conditions::All);
            if !block.guards.contains(&Terms::FALSE) {
                graph.blocks.push(Rc::new(block));
            }
        }
        let mod_ref = ModRef::new(program);
        for (frame, edge) in pieces.calls {
            let site = graph.call_site(machine, &mod_ref, frame, edge);
            graph.calls.push(site);
        }
        graph.start = graph.entries[&program.entry];
        graph.initial = graph.initial_block(machine, program);
        graph.loops = Loops::new(graph.points.len(), &graph.steps());
        graph
    }

    /// The steps within procedures: blocks, then calls from before to behind them.
    pub fn steps(&self) -> Vec<&Block> {
        self.blocks.iter().map(Rc::as_ref).chain(self.calls.iter().map(|site| &site.resume)).collect()
    }

    /// The store at a point in terms of the names there.
    fn store_at(&self, machine: &Machine<'_>, point: PointId) -> Store {
        match self.points[point].place {
            Some(place) => self.constants.store(&self.names, machine, place),
            None => self.names.store.clone(),
        }
    }

    /// Invariants of all points with what is known there besides.
    pub fn with_facts(&self, machine: &mut Machine<'_>, invariants: &[Term]) -> Vec<Term> {
        let points = self.points.iter().zip(invariants);
        points.map(|(point, holds)| self.constants.with_facts(machine, point.place, *holds)).collect()
    }

    /// The point of a place, if it is one.
    pub fn point(&self, place: PlaceId) -> Option<PointId> {
        self.of_place.get(&place).copied()
    }

    /// The block that a transition stands for.
    pub fn block(&self, transition: Transition) -> &Block {
        match transition {
            Transition::Start => &self.initial,
            Transition::Block(block) => &self.blocks[block],
            Transition::Enter(call) => &self.calls[call].enter,
            Transition::Resume(call) => &self.calls[call].resume,
        }
    }

    /// Whether a point is the exit of a procedure.
    pub fn is_exit(&self, point: PointId) -> bool {
        self.points[point].place.is_none()
    }

    /// What leaves each place of a procedure.
    fn leaving(&self, machine: &Machine<'_>, id: ProcedureId) -> FxHashMap<PlaceId, Out> {
        let flat = &machine.flat;
        let scope = &self.names.scopes[&id];
        let mut all = FxHashMap::default();
        for frame in &scope.frames {
            let procedure = flat.frames[*frame as usize].procedure;
            let body = flat.program.procedure(procedure);
            for location in body.location_ids() {
                let place = flat.place(*frame, location);
                let mut out = Out { steps: flat.out[place as usize].clone(), ..Out::default() };
                // A failing run ends where it fails.
                if !flat.errors.contains_key(&place) {
                    for (edge, at) in body.edges_from(location) {
                        let edge = EdgeRef { procedure, edge };
                        match at.operation {
                            Operation::Call(_) if !flat.is_open(*frame, edge) => out.calls.push(edge),
                            Operation::Return(_) if *frame == scope.frame() => out.returns.push(edge),
                            _ => {}
                        }
                    }
                }
                all.insert(place, out);
            }
        }
        all
    }

    /// Cuts a procedure into blocks.
    fn cut(&mut self, machine: &Machine<'_>, id: ProcedureId, pieces: &mut Pieces) {
        let flat = &machine.flat;
        let out = self.leaving(machine, id);
        let frame_of = |place: PlaceId| flat.places[place as usize].frame;
        let behind =
            |place: PlaceId, call: &EdgeRef| flat.place(frame_of(place), flat.program.edge(*call).to);
        let to = |edge: u32| flat.edges[edge as usize].to;
        let entry = flat.place(self.names.scopes[&id].frame(), flat.program.procedure(id).entry);
        let mut in_degree: FxHashMap<PlaceId, u32> = FxHashMap::default();
        let mut after_call: FxHashMap<PlaceId, bool> = FxHashMap::default();
        let mut reached = vec![entry];
        in_degree.insert(entry, 0);
        let mut next = 0;
        while let Some(place) = reached.get(next).copied() {
            next += 1;
            let Out { steps, calls, .. } = &out[&place];
            let steps = steps.iter().map(|edge| (to(*edge), false));
            let calls = calls.iter().map(|call| (behind(place, call), true));
            for (target, is_call) in steps.chain(calls) {
                let degree = in_degree.entry(target).or_insert_with(|| {
                    reached.push(target);
                    0
                });
                *degree += 1;
                *after_call.entry(target).or_default() |= is_call;
            }
        }
        reached.sort_unstable();
        let is_point = |place: PlaceId| {
            let Out { steps, calls, returns } = &out[&place];
            let is_plain =
                in_degree[&place] == 1 && steps.len() == 1 && calls.is_empty() && returns.is_empty();
            !is_plain
                || place == entry
                || after_call.get(&place).is_some_and(|after| *after)
                || flat.errors.contains_key(&place)
        };
        reached.retain(|place| is_point(*place));
        for place in &reached {
            let point = self.points.len();
            self.points.push(Point { procedure: id, place: Some(*place) });
            self.of_place.insert(*place, point);
            if let Some(target) = flat.errors.get(place) {
                self.errors.insert(point, *target);
            }
        }
        self.entries.insert(id, self.of_place[&entry]);
        let exit = self.points.len();
        self.exits.insert(id, exit);
        self.points.push(Point { procedure: id, place: None });
        for place in reached {
            let from = self.of_place[&place];
            let Out { steps, calls, returns } = &out[&place];
            for edge in steps {
                let mut edges = vec![*edge];
                let mut at = to(*edge);
                while !is_point(at) {
                    let next = out[&at].steps[0];
                    edges.push(next);
                    at = to(next);
                }
                pieces.chains.push(Chain { from, to: self.of_place[&at], edges, returns: None });
            }
            let exits =
                returns.iter().map(|edge| Chain { from, to: exit, edges: Vec::new(), returns: Some(*edge) });
            pieces.chains.extend(exits);
            pieces.calls.extend(calls.iter().map(|call| (frame_of(place), *call)));
        }
    }

    /// The block of initial values.
    fn initial_block(&self, machine: &mut Machine<'_>, program: &Program) -> Block {
        machine.name_prefix("start".to_owned());
        let (store, valid) = machine.start();
        // A run starts in a frame of its own, the first.
        let scope = &self.names.scopes[&program.entry];
        let template = machine.flat.frames[scope.frame() as usize].first;
        let first = machine.flat.frames[0].first;
        let globals = scope.globals.iter().map(|named| (named, named.number));
        let locals = scope.locals.iter().map(|named| (named, first + named.number - template));
        let mut updates = FxHashMap::default();
        for (named, number) in globals.chain(locals) {
            updates.extend([(named.now, store.get(number)), (named.old, store.get(number))]);
        }
        let guards = conjuncts(&machine.terms, valid);
        Block { from: self.start, to: self.start, guards, updates, ..Block::default() }
    }

    /// What some edges of a block do, given by their positions: the others are skipped, and only
    /// assumptions are conditions.
    pub fn part(&self, machine: &mut Machine<'_>, block: usize, kept: &[usize]) -> Block {
        let Block { from, to, edges, .. } = &*self.blocks[block];
        let edges = kept.iter().map(|position| edges[*position]).collect();
        let chain = Chain { from: *from, to: *to, edges, returns: None };
        self.block_of(machine, chain, Conditions::Assumptions)
    }

    /// What a block does after its first edges.
    pub fn rest(&self, machine: &mut Machine<'_>, block: usize, first: usize) -> Block {
        let Block { from, to, edges, .. } = &*self.blocks[block];
        let chain = Chain { from: *from, to: *to, edges: edges[first..].to_vec(), returns: None };
        self.block_of(machine, chain, Conditions::All)
    }

    fn block_of(&self, machine: &mut Machine<'_>, chain: Chain, conditions: Conditions) -> Block {
        let Chain { from, to, edges, returns } = chain;
        let scope = &self.names.scopes[&self.points[from].procedure];
        let mut store = self.store_at(machine, from);
        let mut guard = Terms::TRUE;
        let mut updates = FxHashMap::default();
        for edge in &edges {
            machine.name_prefix(format!("in{edge}"));
            let (after, condition) = machine.step(&store, *edge);
            if conditions.count(machine, *edge) {
                guard = machine.terms.and(guard, condition);
            }
            store = after;
        }
        if let Some(edge) = returns {
            let program = machine.flat.program;
            machine.name_prefix(format!("return{}.{}", edge.procedure.0, edge.edge.0));
            if let Operation::Return(values) = &program.edge(edge).operation {
                let place = machine.flat.place(scope.frame(), program.edge(edge).from);
                for (value, result) in values.iter().zip(&scope.results) {
                    let (value, valid) = machine.value_at(&store, place, value);
                    guard = machine.terms.and(guard, valid);
                    updates.insert(*result, value);
                }
            }
        }
        updates.extend(changes(&machine.terms, scope.all(), &store));
        self.made(&machine.terms, Block { from, to, edges, returns, updates, ..Block::default() }, guard)
    }

    /// A block with its condition and its inputs.
    fn made(&self, terms: &Terms, block: Block, guard: Term) -> Block {
        let guards = conjuncts(terms, guard);
        let inputs = self.names.inputs(terms, guards.iter().chain(block.updates.values()));
        Block { guards, inputs, ..block }
    }

    /// The variables of the caller's that exist while it makes a call: all but those of folded
    /// calls that are over.
    fn alive(&self, machine: &Machine<'_>, caller: ProcedureId, frame: u32) -> Vec<Named> {
        let scope = &self.names.scopes[&caller];
        let mut open = vec![frame];
        while let Some((above, _)) = open.last().and_then(|at| machine.flat.frames[*at as usize].caller) {
            open.push(above);
        }
        let folded = scope.folded.iter().filter(|(of, _)| open.contains(of));
        scope.at_entry().chain(folded.flat_map(|(_, named)| named).copied()).collect()
    }

    fn call_site(
        &mut self,
        machine: &mut Machine<'_>,
        mod_ref: &ModRef,
        frame: u32,
        edge: EdgeRef,
    ) -> CallSite {
        let program = machine.flat.program;
        let Operation::Call(call) = &program.edge(edge).operation else {
            unreachable!("only calls are call sites");
        };
        let callee = call.callee;
        let at = |location| self.of_place[&machine.flat.place(frame, location)];
        let (from, to) = (at(program.edge(edge).from), at(program.edge(edge).to));
        let caller = self.points[from].procedure;
        let to_frame = self.names.scopes[&callee].frame();
        let prefix = format!("call{frame}.{}", edge.edge.0);

        // Entering: the callee's names, its names at entry, and frozen names, each in terms of the
        // caller's.
        machine.name_prefix(prefix.clone());
        let (assigned, entered, guard) = machine.call(&self.store_at(machine, from), frame, call, to_frame);
        let mut enter: FxHashMap<Term, Term> = FxHashMap::default();
        for named in self.names.scopes[&callee].at_entry() {
            enter.extend([(named.now, entered.get(named.number)), (named.old, entered.get(named.number))]);
        }
        let alive = self.alive(machine, caller, frame);
        let mut frozen = Vec::new();
        let mut stopped = self.store_at(machine, from);
        for named in &alive {
            // Globals come first.
            if named.number as usize >= program.globals.len() {
                let now = self.names.frozen(&mut machine.terms, named.now);
                frozen.push((named.now, now));
                enter.insert(now, assigned.get(named.number));
                stopped.set(named.number, now);
            }
            if named.old != named.now {
                let old = self.names.frozen(&mut machine.terms, named.old);
                frozen.push((named.old, old));
                enter.insert(old, named.old);
            }
        }
        let entering = Block { from, to: self.entries[&callee], updates: enter.clone(), ..Block::default() };
        let entering = self.made(&machine.terms, entering, guard);

        // Resuming, seen from the callee's exit.
        let results = self.names.scopes[&callee].results.clone();
        machine.name_prefix(format!("{prefix}.back"));
        let (after, back_guard) = machine.resume(&stopped, frame, call, results.clone());
        let mut back: FxHashMap<Term, Term> =
            alive.iter().map(|named| (named.now, after.get(named.number))).collect();
        back.extend(frozen.iter().copied().filter(|(name, _)| !back.contains_key(name)).collect::<Vec<_>>());

        // The same, seen from the caller: what the callee left is anything, except that most
        // globals are as they were.
        let writes = &mod_ref.effects(callee).writes;
        let mut at_exit: FxHashMap<Term, Term> = FxHashMap::default();
        for named in self.names.scopes[&callee].at_entry() {
            at_exit.insert(named.old, entered.get(named.number));
        }
        let mut kept = Vec::new();
        for global in &self.names.scopes[&callee].globals {
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
        let resume =
            self.made(&machine.terms, Block { from, to, updates: resume, ..Block::default() }, guard);
        CallSite { frame, edge, callee, enter: entering, resume, at_exit, back, back_guard, frozen, kept }
    }
}

/// The variables that differ from their names. One whose frame has been left has no value: nothing
/// speaks of it any more.
fn changes(terms: &Terms, variables: impl Iterator<Item = Named>, store: &Store) -> FxHashMap<Term, Term> {
    let values = variables.map(|named| (named.now, store.get(named.number)));
    values.filter(|(name, value)| name != value && terms.sort(*name) == terms.sort(*value)).collect()
}
