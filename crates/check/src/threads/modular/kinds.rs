//! Kinds of threads and their moves, as terms.
//!
//! A kind is the first thread, or all threads that are started at one place; calls are inlined. A
//! *point* is where a thread may be interrupted: before a step that touches what is shared, and at
//! loop heads. A move leads from a point to the next one, to an error, or to a place where the
//! thread ends or waits for ever; an atomic section is inside of one move.

use std::collections::{BTreeMap, BTreeSet};

use rustc_hash::FxHashMap;
use wherefore_program::{
    Argument, Call, EdgeRef, ErrorSite, ExprKind, LocationId, Operation, ProcedureId, Program, Target,
    ThreadStart, Var,
};
use wherefore_smt::{Budget, Sort, Term, Terms};

use crate::symbolic::flat::Move as FlatMove;
use crate::symbolic::nesting::{Part, nesting};
use crate::symbolic::{Flat, Machine, PlaceId, Store};

/// The first thread, or those that are started at one place.
pub(super) struct Kind {
    /// Its outermost frame.
    pub root: u32,
    /// Where it starts: a point.
    pub first: usize,
    /// Whether there may be several of them.
    pub is_many: bool,
    /// The numbers of its variables: those of its frames, and of what each thread has for itself.
    pub variables: Vec<u32>,
}

/// Where a move ends.
pub(super) enum End {
    Point(usize),
    Error,
    /// The thread ends, or does not go on.
    Nowhere,
}

/// A move of a thread.
pub(super) struct Move {
    pub guard: Term,
    pub end: End,
    /// The values after it, over those before it.
    pub after: Store,
    /// Threads that are started: the kind, and the values that it starts with.
    pub starts: Vec<(usize, Store)>,
}

/// A point of a kind.
pub(super) struct Point {
    pub kind: usize,
    pub place: PlaceId,
    pub moves: Vec<Move>,
}

/// All kinds of a program.
pub(super) struct Kinds<'a> {
    pub machine: Machine<'a>,
    pub kinds: Vec<Kind>,
    pub points: Vec<Point>,
    /// The unknown value of each variable before a move.
    pub before: Store,
    numbers: BTreeMap<PlaceId, usize>,
    /// The kind that a start makes, by the frame and the step.
    started: BTreeMap<(u32, EdgeRef), usize>,
    /// Variables that always have one value.
    constants: FxHashMap<u32, Term>,
    loops: BTreeMap<ProcedureId, (BTreeSet<LocationId>, BTreeSet<LocationId>)>,
}

/// The program is too large, or does something that has no place here.
pub(super) struct Refused;

const MOST_KINDS: usize = 10;
const MOST_POINTS: usize = 150;
const MOST_PATHS: usize = 200;
const MOST_FRAMES: usize = 400;

/// The kinds of a program with their moves.
pub(super) fn kinds<'a>(
    program: &'a Program,
    targets: &[ErrorSite],
    budget: &Budget,
) -> Result<Kinds<'a>, Refused> {
    let machine = Machine::new(Flat::new(program, targets));
    let mut kinds = Kinds {
        machine,
        kinds: Vec::new(),
        points: Vec::new(),
        before: Store::default(),
        numbers: BTreeMap::new(),
        started: BTreeMap::new(),
        constants: FxHashMap::default(),
        loops: BTreeMap::new(),
    };
    for i in 0..program.globals.len() as u32 {
        let sort = Machine::sort(&program.globals[i as usize].ty);
        let value = kinds.machine.terms.variable(&format!("g{i}"), sort);
        kinds.before.set(i, value);
    }
    kinds.kind(0, program.procedure(program.entry).entry, false)?;
    let mut next = 0;
    while next < kinds.points.len() {
        budget.look().map_err(|_| Refused)?;
        kinds.moves_of(next)?;
        next += 1;
    }
    kinds.forget_unused();
    Ok(kinds)
}

impl Kinds<'_> {
    fn sort_of(&self, variable: u32) -> Sort {
        let flat = &self.machine.flat;
        let frame = flat.frames.partition_point(|frame| frame.first <= variable) - 1;
        let frame = &flat.frames[frame];
        let of = &flat.program.procedure(frame.procedure).variables[(variable - frame.first) as usize];
        Machine::sort(&of.ty)
    }

    /// A kind that starts in a frame.
    fn kind(&mut self, root: u32, start: LocationId, is_many: bool) -> Result<usize, Refused> {
        let id = self.kinds.len();
        if id >= MOST_KINDS {
            return Err(Refused);
        }
        let program = self.machine.flat.program;
        let own = program.globals.iter().enumerate().filter(|(_, v)| !v.shared && !v.ty.is_memory());
        let variables = own.map(|(i, _)| i as u32).collect();
        self.kinds.push(Kind { root, first: 0, is_many, variables });
        self.enter(id, root)?;
        let place = self.machine.flat.place(root, start);
        let first = self.number(id, place)?;
        self.kinds[id].first = first;
        Ok(id)
    }

    /// Gives the variables of a frame their unknown values.
    fn enter(&mut self, kind: usize, frame: u32) -> Result<(), Refused> {
        if self.machine.flat.frames.len() > MOST_FRAMES {
            return Err(Refused);
        }
        let of = &self.machine.flat.frames[frame as usize];
        let count = self.machine.flat.program.procedure(of.procedure).variables.len() as u32;
        for variable in of.first..of.first + count {
            if self.kinds[kind].variables.contains(&variable) {
                continue;
            }
            let value = match self.constants.get(&variable) {
                Some(constant) => *constant,
                None => {
                    let sort = self.sort_of(variable);
                    self.machine.terms.variable(&format!("v{variable}"), sort)
                }
            };
            self.before.set(variable, value);
            self.kinds[kind].variables.push(variable);
        }
        Ok(())
    }

    /// Whether a step of a frame may be taken several times by one thread of a kind.
    fn is_repeated(&mut self, frame: u32, location: LocationId) -> bool {
        let mut at = Some((frame, location));
        while let Some((frame, location)) = at {
            let of = &self.machine.flat.frames[frame as usize];
            let (procedure, caller) = (of.procedure, of.caller);
            if self.loops_of(procedure).0.contains(&location) {
                return true;
            }
            at = caller.map(|(frame, call)| (frame, self.machine.flat.program.edge(call).from));
        }
        false
    }

    /// Parameters that are given a constant and never written are constants.
    fn constant_arguments(&mut self, caller: u32, callee: u32, arguments: &[Argument]) {
        let (procedure, first) = {
            let of = &self.machine.flat.frames[callee as usize];
            (of.procedure, of.first)
        };
        let mut written: BTreeSet<u32> = BTreeSet::new();
        for edge in &self.machine.flat.program.procedure(procedure).edges {
            edge.operation.accesses(&mut |variable, is_write| match variable {
                Var::Local(i) if is_write => {
                    written.insert(i);
                }
                _ => {}
            });
        }
        for (i, argument) in arguments.iter().enumerate() {
            let Argument::Value(value) = argument else { continue };
            let known = match &value.kind {
                ExprKind::Constant(constant) => match Machine::scalar(value.ty) {
                    Sort::Bits(width) => Some(self.machine.terms.bits(*constant, width)),
                    _ => None,
                },
                ExprKind::Read { variable: Var::Local(from), indices, .. } if indices.is_empty() => {
                    self.constants.get(&(caller + from)).copied()
                }
                _ => None,
            };
            if let (Some(known), false) = (known, written.contains(&(i as u32))) {
                self.constants.insert(first + i as u32, known);
            }
        }
    }

    /// The locations in loops, and the heads of loops.
    fn loops_of(&mut self, procedure: ProcedureId) -> &(BTreeSet<LocationId>, BTreeSet<LocationId>) {
        fn add(parts: &[Part], is_inside: bool, all: &mut (BTreeSet<LocationId>, BTreeSet<LocationId>)) {
            for part in parts {
                match part {
                    Part::Place(location) => {
                        if is_inside {
                            all.0.insert(*location);
                        }
                    }
                    Part::Loop(head, body) => {
                        all.0.insert(*head);
                        all.1.insert(*head);
                        add(body, true, all);
                    }
                }
            }
        }
        let program = self.machine.flat.program;
        self.loops.entry(procedure).or_insert_with(|| {
            let mut all = Default::default();
            add(&nesting(program.procedure(procedure)), false, &mut all);
            all
        })
    }

    fn number(&mut self, kind: usize, place: PlaceId) -> Result<usize, Refused> {
        if let Some(known) = self.numbers.get(&place) {
            return Ok(*known);
        }
        if self.points.len() >= MOST_POINTS {
            return Err(Refused);
        }
        let id = self.points.len();
        self.points.push(Point { kind, place, moves: Vec::new() });
        self.numbers.insert(place, id);
        Ok(id)
    }

    /// Whether a thread may be interrupted at a place.
    fn is_point(&mut self, place: PlaceId) -> bool {
        let flat = &self.machine.flat;
        let program = flat.program;
        let at = flat.places[place as usize];
        let frame = &flat.frames[at.frame as usize];
        let (procedure, caller) = (frame.procedure, frame.caller);
        let mut found = false;
        for (_, edge) in program.procedure(procedure).edges_from(at.location) {
            found |= edge.operation.touches_shared(program);
            if let (Operation::Return(_), Some((_, call))) = (&edge.operation, caller) {
                if let Operation::Call(call) = &program.edge(call).operation {
                    let targets: Vec<Target> = call.results.iter().flatten().cloned().collect();
                    found |= Operation::Havoc(targets).touches_shared(program);
                }
            }
        }
        found || self.loops_of(procedure).1.contains(&at.location)
    }

    /// All moves from a point, path by path.
    fn moves_of(&mut self, point: usize) -> Result<(), Refused> {
        let (kind, place) = (self.points[point].kind, self.points[point].place);
        struct Path {
            place: PlaceId,
            guard: Term,
            store: Store,
            is_inside: bool,
            steps: usize,
            starts: Vec<(usize, Store)>,
        }
        let mut moves = Vec::new();
        let store = self.before.clone();
        let first = Path { place, guard: Terms::TRUE, store, is_inside: false, steps: 0, starts: Vec::new() };
        let mut work = vec![first];
        let mut paths = 0;
        while let Some(Path { place, guard, store, is_inside, steps, starts }) = work.pop() {
            paths += 1;
            if paths > 40 * MOST_PATHS || moves.len() > MOST_PATHS {
                return Err(Refused);
            }
            if self.machine.flat.errors.contains_key(&place) {
                moves.push(Move { guard, end: End::Error, after: store, starts });
                continue;
            }
            if steps > 0 && !is_inside && self.is_point(place) {
                let to = self.number(kind, place)?;
                moves.push(Move { guard, end: End::Point(to), after: store, starts });
                continue;
            }
            if steps > 500 {
                return Err(Refused);
            }
            let at = self.machine.flat.places[place as usize];
            let frame = &self.machine.flat.frames[at.frame as usize];
            let (procedure, is_root) = (frame.procedure, frame.caller.is_none());
            let program = self.machine.flat.program;
            let mut possible = Vec::new();
            for (number, edge) in program.procedure(procedure).edges_from(at.location) {
                let step = EdgeRef { procedure, edge: number };
                let is_last = matches!(edge.operation, Operation::EndThread)
                    || is_root && matches!(edge.operation, Operation::Return(_));
                if is_last {
                    possible.push(Terms::TRUE);
                    let (after, starts) = (store.clone(), starts.clone());
                    moves.push(Move { guard, end: End::Nowhere, after, starts });
                    continue;
                }
                let flat = match &edge.operation {
                    Operation::Call(call) => Some(self.open(kind, at.frame, step, call)?),
                    _ => self.machine.flat.edge_in(at.frame, step),
                };
                let Some(flat) = flat.filter(|_| edge.operation != Operation::Sync) else {
                    return Err(Refused);
                };
                self.machine.name_prefix(format!("p{point}.{paths}e{flat}"));
                let (after, condition) = self.machine.step(&store, flat);
                possible.push(condition);
                let mut starts = starts.clone();
                if let Operation::StartThread(_) = &edge.operation {
                    let started = self.started_by(kind, at.frame, step)?;
                    let values = self.start_values(at.frame, started, &store);
                    starts.push((started, values));
                }
                let is_inside = match edge.operation {
                    Operation::AtomicBegin => true,
                    Operation::AtomicEnd => false,
                    _ => is_inside,
                };
                let guard = self.machine.terms.and(guard, condition);
                if guard != Terms::FALSE {
                    let place = self.machine.flat.edges[flat as usize].to;
                    work.push(Path { place, guard, store: after, is_inside, steps: steps + 1, starts });
                }
            }
            // A thread that does not go on has done what it has done.
            if steps > 0 && !is_inside {
                let terms = &mut self.machine.terms;
                let some = terms.any(&possible);
                let none = terms.not(some);
                let guard = terms.and(guard, none);
                if guard != Terms::FALSE {
                    moves.push(Move { guard, end: End::Nowhere, after: store, starts });
                }
            }
        }
        // Two threads that are started in one move would be a pair of their own.
        if moves.iter().any(|step| step.starts.len() > 1) {
            return Err(Refused);
        }
        self.points[point].moves = moves;
        Ok(())
    }

    fn open(&mut self, kind: usize, frame: u32, step: EdgeRef, call: &Call) -> Result<u32, Refused> {
        if self.machine.flat.is_open(frame, step) {
            return Ok(self.machine.flat.open(frame, step));
        }
        if self.machine.flat.depth_of(frame, call.callee) > 0 {
            return Err(Refused);
        }
        let opened = self.machine.flat.open(frame, step);
        let FlatMove::Enter(callee) = self.machine.flat.edges[opened as usize].kind else {
            return Err(Refused);
        };
        let first = self.machine.flat.frames[frame as usize].first;
        self.constant_arguments(first, callee, &call.arguments);
        self.enter(kind, callee)?;
        Ok(opened)
    }

    /// The kind that a step starts.
    fn started_by(&mut self, kind: usize, frame: u32, step: EdgeRef) -> Result<usize, Refused> {
        if let Some(known) = self.started.get(&(frame, step)) {
            return Ok(*known);
        }
        let edge = self.machine.flat.program.edge(step);
        let Operation::StartThread(ThreadStart::At(location)) = edge.operation else { return Err(Refused) };
        let is_many = self.kinds[kind].is_many || self.is_repeated(frame, edge.from);
        let template = self.machine.flat.template(step.procedure);
        let started = self.kind(template, location, is_many)?;
        self.started.insert((frame, step), started);
        Ok(started)
    }

    /// The values that a new thread starts with: copies of the frame that starts it.
    fn start_values(&self, frame: u32, kind: usize, store: &Store) -> Store {
        let flat = &self.machine.flat;
        let (old, new) =
            (flat.frames[frame as usize].first, flat.frames[self.kinds[kind].root as usize].first);
        let procedure = flat.frames[frame as usize].procedure;
        let mut values = Store::default();
        for (i, variable) in flat.program.globals.iter().enumerate() {
            if !variable.shared && !variable.ty.is_memory() {
                values.set(i as u32, store.get(i as u32));
            }
        }
        for i in 0..flat.program.procedure(procedure).variables.len() as u32 {
            values.set(new + i, store.get(old + i));
        }
        values
    }

    /// Leaves out the variables of threads on which nothing depends that is shared, decided, or
    /// handed to a new thread.
    fn forget_unused(&mut self) {
        let terms = &self.machine.terms;
        let globals = self.machine.flat.program.globals.len() as u32;
        let mut unknowns: FxHashMap<Term, u32> = FxHashMap::default();
        for variable in self.kinds.iter().flat_map(|kind| &kind.variables) {
            unknowns.insert(self.before.get(*variable), *variable);
        }
        let mut used: BTreeSet<u32> = BTreeSet::new();
        let mut work: Vec<Term> = Vec::new();
        let moves = || self.points.iter().flat_map(|point| &point.moves);
        for step in moves() {
            work.push(step.guard);
            work.extend((0..globals).filter(|i| !self.is_own(*i)).map(|i| step.after.get(i)));
        }
        let mut seen: BTreeSet<Term> = BTreeSet::new();
        while let Some(term) = work.pop() {
            for variable in terms.variables(term) {
                let Some(variable) = unknowns.get(&variable) else { continue };
                if !used.insert(*variable) {
                    continue;
                }
                for step in moves() {
                    let more =
                        std::iter::once(&step.after).chain(step.starts.iter().map(|(_, values)| values));
                    work.extend(more.map(|store| store.get(*variable)).filter(|term| seen.insert(*term)));
                }
            }
        }
        for kind in &mut self.kinds {
            kind.variables.retain(|variable| used.contains(variable));
        }
    }

    /// Whether a variable is one of the threads' own.
    pub fn is_own(&self, variable: u32) -> bool {
        let program = self.machine.flat.program;
        match program.globals.get(variable as usize) {
            Some(global) => !global.shared && !global.ty.is_memory(),
            None => true,
        }
    }
}
