//! All states of a program, one by one, as far as constants go.
//!
//! A state has a constant for each variable and each cell, or an expression over symbols: what came
//! from outside, or is not tracked any more. Of symbols, bounds and conditions are known. Where a
//! step depends on a condition about symbols, both cases are looked at; where an address depends on
//! a symbol with few values, each of them. So pointers, links of lists, states of automata, flags
//! and counters have one value in each state, while data stay symbolic: what model checkers do that
//! list states, on C. (D. Beyer, S. Löwe 2013, *Explicit-State Software Model Checking Based on
//! CEGAR and Interpolation*: this is its analysis of values, with symbols, and without the loop
//! around it.)
//!
//! At heads of loops, states that differ in what is known of symbols only are joined; a variable
//! with many values there becomes a symbol. Variables that are not read any more are forgotten.
//!
//! It over-approximates: if the search ends, a location that was not reached is reached by no run.

mod allocators;
mod chains;
mod live;
mod naming;
mod payload;
mod settle;
mod shorten;
mod state;
mod step;

use std::collections::BTreeMap;
use std::rc::Rc;

use rustc_hash::{FxHashMap, FxHashSet};
use wherefore_program::{
    CallGraph, EdgeId, Expr, Graph, LocationId, LocationKind, Node, ProcedureId, Program, Type, Var,
};

use self::live::Alive;
use self::naming::{Naming, is_of_block};
use self::payload::separate;
use self::settle::settle;
use self::state::{Cells, Frame, Held, Slot, State, Symbols, Value};
use self::step::{Stepping, Stop, any_range};
use crate::expression::{Known, range_of};
use crate::range::{Range, Thresholds};
use crate::ranges::{Ranges, constants_of};

/// A variable with more constants at the head of a loop becomes a symbol there.
const MOST_CONSTANTS: usize = 40;
/// From so many states at one location on, fewer constants are enough, and then fewer again.
const FEW_STATES: usize = 400;
/// From so many states at one location on, equalities of data that were never tested are given up.
const SOME_STATES: usize = 1000;
const MANY_STATES: usize = 4000;
/// If so many states have a symbol at a place, the others get one, too.
const MOST_MIXED: usize = 8;
/// The width of addresses.
const ADDRESS: u32 = 64;
/// The bytes of an address.
const BYTES: u64 = 8;
/// The part of an address that says which block of memory is meant: what is allocated has a number
/// of its own there.
const BLOCK: u32 = 32;
/// Joins of what is known about symbols, before bounds that move go on to the next constant of the
/// program.
const EXACT_JOINS: u32 = 3;
/// Joins before bounds that move are given up.
const MOST_JOINS: u32 = 12;
/// Open calls.
const MOST_OPEN: usize = 60;
/// States at heads of loops.
const MOST_STATES: usize = 1_000_000;
/// Cells of one array or memory.
const MOST_CELLS: usize = 4096;

/// The locations that states were found at.
#[derive(Clone, Debug)]
pub struct Enumerated {
    reached: Vec<Vec<bool>>,
    states: usize,
}

impl Enumerated {
    /// Lists the states of a program, until `stop` says that it is enough; none if the search did
    /// not end.
    pub fn new(program: &Program, stop: &mut dyn FnMut() -> bool) -> Option<Self> {
        if program.uses_threads().is_some() {
            return None;
        }
        Search::new(program).run(stop)
    }

    /// Whether a run may come to a location.
    pub fn reaches(&self, node: Node) -> bool {
        self.reached[node.procedure.0 as usize][node.location.0 as usize]
    }

    /// How many states were kept.
    pub fn states(&self) -> usize {
        self.states
    }
}

/// Where a constant is: the depth of the frame, none for globals, the variable, the cell.
type Place = (Option<u32>, u32, u64);

/// What was seen of a place at the head of a loop.
#[derive(Default)]
struct Seen {
    constants: FxHashSet<u64>,
    /// How many states have a symbol there.
    symbols: usize,
    /// The bounds of the constants.
    hull: Option<Range>,
    is_open: bool,
}

struct Search<'a> {
    program: &'a Program,
    ranges: Option<Ranges>,
    thresholds: Thresholds,
    alive: Alive,
    /// The names of blocks of memory, if they have any.
    naming: Option<Rc<Naming>>,
    /// Heads of loops, and entries of recursive procedures.
    heads: FxHashSet<Node>,
    /// What is known about the symbols of the states that were found, and how often it was joined.
    known: FxHashMap<Held, (Rc<Symbols>, u32)>,
    /// How many states were found at a location.
    counts: FxHashMap<Node, usize>,
    seen: FxHashMap<(Node, Place), Seen>,
    /// Where memory that is kept byte by byte has held addresses: the variable, and the number of
    /// the group of bytes.
    links: FxHashSet<(u32, u64)>,
    reached: Vec<Vec<bool>>,
    work: Vec<State>,
}

impl<'a> Search<'a> {
    fn new(program: &'a Program) -> Self {
        let mut heads = FxHashSet::default();
        let calls = CallGraph::new(program);
        for (procedure, body) in program.procedures() {
            let graph =
                Graph::new(body.locations.len(), body.edges.iter().map(|edge| (edge.from.0, edge.to.0)));
            let mut rank = vec![u32::MAX; body.locations.len()];
            for (at, node) in graph.reverse_postorder(body.entry.0).into_iter().enumerate() {
                rank[node as usize] = at as u32;
            }
            let back =
                body.edges.iter().filter(|edge| rank[edge.to.0 as usize] <= rank[edge.from.0 as usize]);
            heads.extend(back.map(|edge| Node { procedure, location: edge.to }));
            if calls.is_recursive(procedure) {
                heads.insert(Node { procedure, location: body.entry });
            }
        }
        Self {
            program,
            ranges: Ranges::new(program),
            thresholds: Thresholds::new(constants_of(program)),
            alive: Alive::new(program),
            naming: Naming::new(program).map(Rc::new),
            heads,
            known: FxHashMap::default(),
            counts: FxHashMap::default(),
            seen: FxHashMap::default(),
            links: FxHashSet::default(),
            reached: program.procedures.iter().map(|body| vec![false; body.locations.len()]).collect(),
            work: Vec::new(),
        }
    }

    fn run(mut self, stop: &mut dyn FnMut() -> bool) -> Option<Enumerated> {
        let start = self.start();
        self.work.push(start);
        let mut steps = 0_u32;
        while let Some(state) = self.work.pop() {
            steps = steps.wrapping_add(1);
            if steps % 128 == 0 && stop() || self.known.len() > MOST_STATES {
                return None;
            }
            self.follow(state)?;
        }
        Some(Enumerated { reached: self.reached, states: self.known.len() })
    }

    /// The state in which the program starts.
    fn start(&self) -> State {
        let entry = self.program.entry;
        let body = self.program.procedure(entry);
        let held = Held { globals: Rc::new(Vec::new()), frames: Vec::new(), chains: Rc::default() };
        let symbols = Symbols { naming: self.naming.clone(), ..Symbols::default() };
        let mut state = State { held, symbols: Rc::new(symbols), chosen: Vec::new(), last: None };
        let mut globals = Vec::new();
        for (at, _) in self.program.globals.iter().enumerate() {
            let slot = self.first(&mut state, entry, Var::Global(at as u32), body.entry);
            globals.push(slot);
        }
        state.held.globals = Rc::new(globals);
        let mut locals = Vec::new();
        for at in 0..body.variables.len() {
            locals.push(self.first(&mut state, entry, Var::Local(at as u32), body.entry));
        }
        let frame = Frame { procedure: entry, location: body.entry, call: None, locals };
        state.held.frames.push(Rc::new(frame));
        state
    }

    /// The first value of a variable.
    fn first(&self, state: &mut State, procedure: ProcedureId, variable: Var, entry: LocationId) -> Slot {
        let declared = self.program.variable(procedure, variable);
        let is_parameter = matches!(variable, Var::Local(at) if (at as usize) < self.program.procedure(procedure).parameters);
        let initial = declared.initial.filter(|_| !is_parameter);
        match (&declared.ty, initial) {
            (Type::Scalar(_), Some(value)) => Slot::One(Value::Known(value)),
            (Type::Scalar(_), None) if !self.alive.matters(procedure, entry, variable) => {
                Slot::One(Value::Known(0))
            }
            (Type::Scalar(ty), None) => {
                Slot::One(Rc::make_mut(&mut state.symbols).fresh(any_range(declared), *ty))
            }
            (_, rest) => Slot::Many(Rc::new(Cells { at: BTreeMap::new(), rest })),
        }
    }

    /// Takes all steps from a state; none if it is not known what one does.
    fn follow(&mut self, state: State) -> Option<()> {
        let frame = state.held.frames.last()?.clone();
        let node = Node { procedure: frame.procedure, location: frame.location };
        let program = self.program;
        self.reached[node.procedure.0 as usize][node.location.0 as usize] = true;
        if program.location(node).kind == LocationKind::Error {
            return Some(());
        }
        if state.held.frames.len() > MOST_OPEN {
            return None;
        }
        drop(frame);
        let mut behind = Vec::new();
        let edges: Vec<EdgeId> =
            program.procedure(node.procedure).edges_from(node.location).map(|(number, _)| number).collect();
        let mut state = Some(state);
        for (at, number) in edges.iter().copied().enumerate() {
            // The last one needs no copy.
            let after = if at + 1 == edges.len() { state.take() } else { state.clone() };
            let mut after = after?;
            match self.step(&mut after, number) {
                Ok(()) => behind.push(after),
                Err(Stop::Blocked) => {}
                Err(Stop::NotKnown) => return None,
                Err(Stop::Condition(condition)) => {
                    if let Some(part) = step::deciding_part(&condition, &after.symbols) {
                        self.each_value_of(&after, &part);
                        return Some(());
                    }
                    let mut other = after.clone();
                    if after.assume(&condition, true) {
                        self.work.push(after);
                    }
                    if other.assume(&condition, false) {
                        self.work.push(other);
                    }
                    return Some(());
                }
                Err(Stop::Chain(block)) => {
                    let naming = self.naming.clone()?;
                    let mut longer = after.clone();
                    chains::unfold(&mut longer, block, program, &naming)?;
                    self.work.push(longer);
                    Rc::make_mut(&mut after.held.chains).remove(&block);
                    self.work.push(after);
                    return Some(());
                }
                Err(Stop::Few(part)) => {
                    self.each_value_of(&after, &part);
                    return Some(());
                }
            }
        }
        for mut after in behind {
            after.chosen.clear();
            self.arrive(after)?;
        }
        Some(())
    }

    /// Looks at a state with each value of an expression over symbols.
    fn each_value_of(&mut self, state: &State, part: &Expr) {
        for value in values(range_of(part, &*state.symbols)) {
            let mut one = state.clone();
            if one.pin(part, value) {
                self.work.push(one);
            }
        }
    }

    fn step(&self, state: &mut State, edge: EdgeId) -> Result<(), Stop> {
        let frame = state.held.frames.last().ok_or(Stop::NotKnown)?;
        let procedure = frame.procedure;
        let program = self.program;
        let starts = |state: &mut State, callee: ProcedureId, at: usize| {
            let entry = program.procedure(callee).entry;
            self.first(state, callee, Var::Local(at as u32), entry)
        };
        let taken = program.procedure(procedure).edge(edge);
        Stepping { program, state, edge }.take(taken, &starts)
    }

    /// A state at the end of a step: at the head of a loop it counts if it is new.
    fn arrive(&mut self, mut state: State) -> Option<()> {
        let Some(frame) = state.held.frames.last() else { return Some(()) };
        let node = Node { procedure: frame.procedure, location: frame.location };
        if !self.heads.contains(&node) {
            self.work.push(state);
            return Some(());
        }
        self.forget(&mut state);
        match &self.naming {
            Some(naming) => {
                settle(&mut state, self.program, naming);
                if chains::fold(&mut state, self.program, naming) {
                    settle(&mut state, self.program, naming);
                }
            }
            None => forget_blocks(&mut state),
        }
        self.open(&mut state, node)?;
        if self.counts.get(&node).is_some_and(|count| *count > SOME_STATES) {
            separate(&mut state);
        }
        state.renumber();
        let State { held, symbols, .. } = state;
        let symbols = match self.known.get_mut(&held) {
            None => {
                *self.counts.entry(node).or_default() += 1;
                self.known.insert(held.clone(), (symbols.clone(), 0));
                symbols
            }
            Some((known, joins)) => {
                if includes(known, &symbols) {
                    return Some(());
                }
                *joins += 1;
                let growth = match *joins {
                    0..=EXACT_JOINS => Growth::Exact,
                    joins if joins <= MOST_JOINS => Growth::ToThresholds(&self.thresholds),
                    _ => Growth::Open,
                };
                join(Rc::make_mut(known), &symbols, &growth);
                known.clone()
            }
        };
        self.work.push(State { held, symbols, chosen: Vec::new(), last: None });
        Some(())
    }

    /// Forgets what is not read any more.
    fn forget(&self, state: &mut State) {
        let nothing = |slot: &Slot| match slot {
            Slot::One(_) => Slot::One(Value::Known(0)),
            Slot::Many(cells) if cells.at.is_empty() && cells.rest == Some(0) => slot.clone(),
            Slot::Many(_) => Slot::Many(Rc::new(Cells { at: BTreeMap::new(), rest: Some(0) })),
        };
        let places: Vec<(ProcedureId, LocationId)> = state
            .held
            .frames
            .iter()
            .map(|frame| {
                let body = self.program.procedure(frame.procedure);
                (frame.procedure, frame.call.map_or(frame.location, |call| body.edge(call).to))
            })
            .collect();
        let Some((procedure, location)) = places.last().copied() else { return };
        for (at, slot) in Rc::make_mut(&mut state.held.globals).iter_mut().enumerate() {
            let variable = Var::Global(at as u32);
            let is_counter = self.naming.as_ref().is_some_and(|naming| naming.is_counter(variable));
            if !is_counter && !self.alive.matters(procedure, location, variable) {
                *slot = nothing(slot);
            }
        }
        for (frame, (procedure, location)) in state.held.frames.iter_mut().zip(places) {
            // Targets of results are written when the callee returns; their indices are read then.
            let body = self.program.procedure(procedure);
            let indices = frame.call.map(|call| &body.edge(call).operation);
            let is_index = |variable: Var| match indices {
                Some(wherefore_program::Operation::Call(call)) => {
                    let targets = call.results.iter().flatten();
                    let mut found = false;
                    for index in targets.flat_map(|target| &target.indices) {
                        index.reads(&mut |read, _| found |= read == variable);
                    }
                    found
                }
                _ => false,
            };
            let dead = |at: usize| {
                let variable = Var::Local(at as u32);
                !self.alive.matters(procedure, location, variable) && !is_index(variable)
            };
            let dead: Vec<usize> = (0..frame.locals.len()).filter(|at| dead(*at)).collect();
            let dead: Vec<usize> =
                dead.into_iter().filter(|at| nothing(&frame.locals[*at]) != frame.locals[*at]).collect();
            if !dead.is_empty() {
                let frame = Rc::make_mut(frame);
                for at in dead {
                    frame.locals[at] = nothing(&frame.locals[at]);
                }
            }
        }
    }

    /// Notes where memory that is kept byte by byte holds addresses of blocks.
    fn note_links(&mut self, state: &State) {
        for (at, slot) in state.held.globals.iter().enumerate() {
            let Slot::Many(cells) = slot else { continue };
            if self.program.globals[at].ty.element().width() != 8 {
                continue;
            }
            for (cell, value) in &cells.at {
                // One of the upper bytes, with the lower ones all known.
                if cell % BYTES >= u64::from(BLOCK / 8) && matches!(value, Value::Known(byte) if *byte != 0) {
                    let first = cell / BYTES * BYTES;
                    let is_known = |byte: u64| matches!(cells.at.get(&byte), Some(Value::Known(_)));
                    if (first..first + BYTES).all(is_known) {
                        self.links.insert((at as u32, cell / BYTES));
                    }
                }
                if is_of_block(value) {
                    self.links.insert((at as u32, cell / BYTES));
                }
            }
        }
    }

    /// Makes symbols of what had many constants at the head of a loop; none if there is too much.
    fn open(&mut self, state: &mut State, node: Node) -> Option<()> {
        self.note_links(state);
        let mut opened: Vec<(Place, Range)> = Vec::new();
        let depth = state.held.frames.len() as u32 - 1;
        let known = self.ranges.as_ref().and_then(|ranges| ranges.at(node));
        // The more states there are, the fewer constants are told apart; addresses last.
        let most = match self.counts.get(&node).copied().unwrap_or(0) {
            0..FEW_STATES => MOST_CONSTANTS,
            count if count < MANY_STATES => MOST_CONSTANTS / 5,
            _ => MOST_CONSTANTS / 10,
        };
        let links = &self.links;
        let mut look =
            |seen: &mut FxHashMap<(Node, Place), Seen>, place: Place, value: &Value, full: Range| {
                let (_, variable, cell) = place;
                let is_address = full.width() == ADDRESS || links.contains(&(variable, cell / BYTES));
                // Addresses of blocks have names, which are no constants.
                if is_of_block(value) {
                    return;
                }
                let seen = seen.entry((node, place)).or_default();
                let Value::Known(value) = value else {
                    seen.symbols += 1;
                    return;
                };
                let now = Range::constant(*value, full.scalar());
                seen.hull = Some(seen.hull.map_or(now, |hull| hull.join(now)));
                if !seen.is_open {
                    seen.constants.insert(*value);
                    let most = if is_address { MOST_CONSTANTS } else { most };
                    // What is a symbol in other states is no constant that matters.
                    let is_mixed = !is_address && seen.symbols > MOST_MIXED;
                    seen.is_open = is_mixed || seen.constants.len() > most;
                    if seen.is_open {
                        seen.constants = FxHashSet::default();
                    }
                }
                if seen.is_open {
                    let hull = seen.hull.and_then(|hull| hull.meet(full));
                    opened.push((place, hull.filter(|hull| hull.as_constant().is_none()).unwrap_or(full)));
                }
            };
        let globals = self.program.globals.iter().zip(state.held.globals.iter()).enumerate();
        for (at, (variable, slot)) in globals {
            if self.naming.as_ref().is_some_and(|naming| naming.is_counter(Var::Global(at as u32))) {
                continue;
            }
            match slot {
                Slot::One(value) => {
                    let full = known.and_then(|known| known.of(Var::Global(at as u32)));
                    look(&mut self.seen, (None, at as u32, 0), value, full.unwrap_or(any_range(variable)));
                }
                Slot::Many(cells) => {
                    if cells.at.len() > MOST_CELLS {
                        return None;
                    }
                    for (cell, value) in &cells.at {
                        look(&mut self.seen, (None, at as u32, *cell), value, any_range(variable));
                    }
                }
            }
        }
        for (level, frame) in state.held.frames.iter().enumerate() {
            let variables = &self.program.procedure(frame.procedure).variables;
            for (at, (variable, slot)) in variables.iter().zip(&frame.locals).enumerate() {
                match slot {
                    Slot::One(value) => {
                        let full = known.filter(|_| level as u32 == depth);
                        let full = full.and_then(|known| known.of(Var::Local(at as u32)));
                        let place = (Some(level as u32), at as u32, 0);
                        look(&mut self.seen, place, value, full.unwrap_or(any_range(variable)));
                    }
                    Slot::Many(cells) => {
                        if cells.at.len() > MOST_CELLS {
                            return None;
                        }
                        for (cell, value) in &cells.at {
                            let place = (Some(level as u32), at as u32, *cell);
                            look(&mut self.seen, place, value, any_range(variable));
                        }
                    }
                }
            }
        }
        for ((level, at, cell), range) in opened {
            let (variable, slot) = match level {
                None => {
                    let globals = Rc::make_mut(&mut state.held.globals);
                    (&self.program.globals[at as usize], &mut globals[at as usize])
                }
                Some(level) => {
                    let frame = Rc::make_mut(&mut state.held.frames[level as usize]);
                    let body = self.program.procedure(frame.procedure);
                    (&body.variables[at as usize], &mut frame.locals[at as usize])
                }
            };
            let value = Rc::make_mut(&mut state.symbols).fresh(range, variable.ty.element());
            match slot {
                Slot::One(held) => *held = value,
                Slot::Many(cells) => {
                    Rc::make_mut(cells).at.insert(cell, value);
                }
            }
        }
        Some(())
    }
}

/// Forgets what is in blocks that no value of the state leads to. A cell that could have any value
/// at the start can have any value again.
fn forget_blocks(state: &mut State) {
    let mut blocks: FxHashSet<u64> = FxHashSet::default();
    let mut note = |slot: &Slot| match slot {
        Slot::One(Value::Known(value)) => {
            blocks.insert(value >> BLOCK);
        }
        Slot::Many(cells) => {
            for value in cells.at.values() {
                if let Value::Known(value) = value {
                    blocks.insert(value >> BLOCK);
                    // Addresses may be kept byte by byte.
                    blocks.insert(*value);
                }
            }
        }
        Slot::One(Value::Open(_) | Value::Address { .. }) => {}
    };
    state.held.globals.iter().for_each(&mut note);
    state.held.frames.iter().for_each(|frame| frame.locals.iter().for_each(&mut note));
    let is_garbage = |slot: &Slot| match slot {
        Slot::Many(cells) if cells.rest.is_none() => {
            cells.at.keys().any(|at| at >> BLOCK != 0 && !blocks.contains(&(at >> BLOCK)))
        }
        _ => false,
    };
    if state.held.globals.iter().any(is_garbage) {
        for slot in Rc::make_mut(&mut state.held.globals).iter_mut().filter(|slot| is_garbage(slot)) {
            if let Slot::Many(cells) = slot {
                Rc::make_mut(cells).at.retain(|at, _| at >> BLOCK == 0 || blocks.contains(&(at >> BLOCK)));
            }
        }
    }
}

/// The numbers in a small range.
fn values(range: Range) -> Vec<u64> {
    let (low, high) = range.unsigned_bounds();
    let (least, most) = range.signed_bounds();
    let mask = Range::full(wherefore_program::Scalar::Bits(range.width())).unsigned_bounds().1;
    match high - low <= most.wrapping_sub(least) as u64 {
        true => (low..=high).filter(|value| range.contains(*value)).collect(),
        false => {
            (least..=most).map(|value| value as u64 & mask).filter(|value| range.contains(*value)).collect()
        }
    }
}

/// Whether everything that the second allows is allowed by the first.
fn includes(wide: &Symbols, narrow: &Symbols) -> bool {
    wide.ranges.iter().zip(&narrow.ranges).all(|(wide, narrow)| wide.join(*narrow) == *wide)
        && wide.facts.iter().all(|(fact, holds)| narrow.implies(fact, *holds))
}

/// How far bounds that have moved go.
enum Growth<'a> {
    Exact,
    ToThresholds(&'a Thresholds),
    Open,
}

/// What is known in both cases.
fn join(known: &mut Symbols, other: &Symbols, growth: &Growth) {
    for (range, other) in known.ranges.iter_mut().zip(&other.ranges) {
        let both = range.join(*other);
        if both != *range {
            *range = match growth {
                Growth::Exact => both,
                Growth::ToThresholds(thresholds) => range.widen(both, thresholds),
                Growth::Open => Range::full(wherefore_program::Scalar::Bits(range.width())),
            };
        }
    }
    known.facts.retain(|(fact, holds)| other.implies(fact, *holds));
}
