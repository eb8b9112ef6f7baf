//! Unfolding: the code of all threads, each unrolled on its own, with its accesses to what is
//! shared as *events*.
//!
//! A thread is unrolled as bounded checking does it for a program without threads: places in the
//! order of the loops' nesting, what comes from several sides is merged. The difference is a read
//! of what another thread may write: its value is a new unknown, and which write it sees is left to
//! the order of events (`order.rs`). Before the first start nothing is shared, and what only one
//! thread touches never is ([`Sharing`]).
//!
//! A *point* is a step, or an atomic section, that other threads can see; only the order of points
//! matters. A section that is not completed has no effect.

use std::collections::BTreeMap;
use std::rc::Rc;

use wherefore_program::{EdgeRef, ErrorSite, LocationId, Operation, ProcedureId, Program, ThreadStart};
use wherefore_smt::{Budget, Kind, Reason, Sort, Term, Terms};

use super::access::Known;
use super::sharing::{Accesses, Sharing};
use crate::symbolic::flat::Move;
use crate::symbolic::nesting::{Part, nesting};
use crate::symbolic::{Flat, Machine, PlaceId, Store};

/// An access to a cell that several threads touch.
pub(super) struct Event {
    pub is_write: bool,
    pub variable: u32,
    /// Which cell of an array or of memory.
    pub index: Option<Term>,
    pub value: Term,
    pub guard: Term,
    pub point: usize,
}

/// A step or an atomic section that other threads can see.
pub(super) struct Point {
    pub thread: usize,
    /// The condition under which it is begun.
    pub guard: Term,
    /// The conditions under which a section is completed; none if this is no section.
    pub ends: Option<Vec<Term>>,
}

/// A step of the unrolled code.
pub(super) struct Step {
    pub edge: EdgeRef,
    pub guard: Term,
    pub point: Option<usize>,
    pub to: Option<usize>,
    /// The values after it.
    pub store: Store,
    /// What is read and written: the variable, the cell, the value.
    pub cells: Vec<(u32, Option<Term>, Term)>,
    /// The thread that it starts.
    pub starts: Option<usize>,
}

/// A visit of a place.
pub(super) struct Visit {
    pub place: PlaceId,
    pub steps: Vec<usize>,
}

/// A thread of the unrolled program.
pub(super) struct Lane {
    /// The point of its start; none for the first thread.
    pub start: Option<usize>,
    pub first: usize,
    /// Its points in the order of the code.
    pub points: Vec<usize>,
}

/// A way to a place that has not been visited yet.
pub(super) struct Coming {
    pub step: Option<usize>,
    pub guard: Term,
    pub store: Store,
    pub inside: Option<usize>,
}

/// Why unrolling stopped.
pub(super) enum Stop {
    /// There is too much code, or some that cannot be unrolled in this way.
    TooLarge,
    Limit(Reason),
}

/// The code of all threads.
pub(super) struct Unfolding<'a> {
    pub machine: Machine<'a>,
    pub bound: usize,
    pub lanes: Vec<Lane>,
    pub visits: Vec<Visit>,
    pub steps: Vec<Step>,
    pub points: Vec<Point>,
    pub events: Vec<Event>,
    /// Where the program fails: the visit, the thread, the condition, the point.
    pub errors: Vec<(usize, usize, Term, usize)>,
    /// Conditions under which a thread goes on beyond the bound.
    pub cuts: Vec<Term>,
    /// The condition on the values at the start.
    pub valid: Term,
    /// What is shared when the first thread is started.
    pub base: Option<Store>,
    pub accesses: Accesses,
    pub start: Store,
    pub sharing: Rc<Sharing>,
    pub waiting: BTreeMap<PlaceId, Vec<Coming>>,
    pub thread: usize,
    orders: BTreeMap<ProcedureId, Rc<Vec<Part>>>,
    calls: Vec<(ProcedureId, Term)>,
    /// Threads that are started and not unrolled yet: frame, place, condition, store.
    pub started: Vec<(u32, LocationId, Term, Store)>,
    budget: Budget,
    looks: usize,
}

const MOST_VISITS: usize = 60_000;
const MOST_EVENTS: usize = 6_000;
const MOST_CERTAIN: usize = 20_000;

/// Unrolls a program; loops with so many turns.
pub(super) fn unfold<'a>(
    program: &'a Program,
    targets: &[ErrorSite],
    bound: usize,
    sharing: Rc<Sharing>,
    budget: &Budget,
) -> Result<Unfolding<'a>, Stop> {
    let mut machine = Machine::new(Flat::new(program, targets));
    machine.name_prefix("start".to_owned());
    let (store, valid) = machine.start();
    let place = machine.flat.start;
    let mut unfolding = Unfolding {
        machine,
        bound,
        lanes: Vec::new(),
        visits: Vec::new(),
        steps: Vec::new(),
        points: Vec::new(),
        events: Vec::new(),
        errors: Vec::new(),
        cuts: Vec::new(),
        valid,
        base: None,
        accesses: Accesses::default(),
        start: store.clone(),
        sharing,
        waiting: BTreeMap::new(),
        thread: 0,
        orders: BTreeMap::new(),
        calls: Vec::new(),
        started: Vec::new(),
        budget: budget.clone(),
        looks: 0,
    };
    unfolding.lanes.push(Lane { start: None, first: 0, points: Vec::new() });
    unfolding.run(0, program.entry, place, Terms::TRUE, store)?;
    let mut next = 0;
    while next < unfolding.started.len() {
        let (frame, location, guard, store) = {
            let (frame, location, guard, store) = &unfolding.started[next];
            (*frame, *location, *guard, store.clone())
        };
        next += 1;
        unfolding.thread = next;
        unfolding.lanes[next].first = unfolding.visits.len();
        let procedure = unfolding.machine.flat.frames[frame as usize].procedure;
        let place = unfolding.machine.flat.place(frame, location);
        unfolding.run(frame, procedure, place, guard, store)?;
    }
    Ok(unfolding)
}

impl Unfolding<'_> {
    fn run(
        &mut self,
        frame: u32,
        procedure: ProcedureId,
        place: PlaceId,
        guard: Term,
        store: Store,
    ) -> Result<(), Stop> {
        self.calls.push((procedure, guard));
        self.waiting.entry(place).or_default().push(Coming { step: None, guard, store, inside: None });
        self.body(frame, procedure)?;
        self.calls.pop();
        Ok(())
    }

    fn body(&mut self, frame: u32, procedure: ProcedureId) -> Result<(), Stop> {
        let program = self.machine.flat.program;
        let order = self.orders.entry(procedure);
        let order = order.or_insert_with(|| Rc::new(nesting(program.procedure(procedure)))).clone();
        order.iter().try_for_each(|part| self.part(frame, part))
    }

    fn part(&mut self, frame: u32, part: &Part) -> Result<(), Stop> {
        match part {
            Part::Place(location) => self.visit(self.machine.flat.place(frame, *location)),
            Part::Loop(head, body) => self.turns(frame, *head, body),
        }
    }

    fn turns(&mut self, frame: u32, head: LocationId, body: &[Part]) -> Result<(), Stop> {
        let head = self.machine.flat.place(frame, head);
        let (mut uncertain, mut certain) = (0, 0);
        let mut before = self.coming(head);
        loop {
            let points = self.points.len();
            self.visit(head)?;
            for part in body {
                self.part(frame, part)?;
            }
            let again = self.coming(head);
            if again == Terms::FALSE {
                return Ok(());
            }
            // Turns that are certain do not count, but there are not many if others see them.
            let most = if self.points.len() > points { 16 * self.bound } else { MOST_CERTAIN };
            if again == before && certain < most {
                certain += 1;
            } else {
                uncertain += 1;
            }
            before = again;
            if uncertain > self.bound {
                self.cuts.push(again);
                self.waiting.remove(&head);
                return Ok(());
            }
        }
    }

    fn coming(&mut self, place: PlaceId) -> Term {
        let coming = self.waiting.get(&place).map_or(&[][..], Vec::as_slice);
        let guards: Vec<Term> = coming.iter().map(|coming| coming.guard).collect();
        guards.into_iter().fold(Terms::FALSE, |all, guard| either(&mut self.machine.terms, all, guard))
    }

    fn visit(&mut self, place: PlaceId) -> Result<(), Stop> {
        let Some(coming) = self.waiting.remove(&place) else { return Ok(()) };
        self.looks += 1;
        if self.looks % 64 == 0 {
            self.budget.look().map_err(Stop::Limit)?;
        }
        if self.visits.len() > MOST_VISITS || self.events.len() > MOST_EVENTS {
            return Err(Stop::TooLarge);
        }
        let id = self.visits.len();
        let mut merged: Option<(Term, Store)> = None;
        let mut inside = None;
        for Coming { step, guard, store, inside: here } in coming.into_iter().rev() {
            if let Some(step) = step {
                self.steps[step].to = Some(id);
            }
            merged = Some(match merged {
                None => {
                    inside = here;
                    (guard, store)
                }
                Some((other, rest)) => {
                    // Which section this is would depend on the way.
                    if inside != here {
                        return Err(Stop::TooLarge);
                    }
                    let terms = &mut self.machine.terms;
                    (either(terms, guard, other), store.merged(terms, guard, &rest))
                }
            });
        }
        let Some((guard, store)) = merged else { return Ok(()) };
        self.visits.push(Visit { place, steps: Vec::new() });
        if self.machine.flat.errors.contains_key(&place) {
            let point = match inside {
                Some(point) => {
                    self.end(point, guard);
                    point
                }
                None => self.point(guard, false),
            };
            self.errors.push((id, self.thread, guard, point));
            return Ok(());
        }
        self.follow(id, place, guard, &store, inside)
    }

    fn point(&mut self, guard: Term, is_section: bool) -> usize {
        self.points.push(Point { thread: self.thread, guard, ends: is_section.then(Vec::new) });
        let id = self.points.len() - 1;
        self.lanes[self.thread].points.push(id);
        id
    }

    fn end(&mut self, point: usize, guard: Term) {
        if let Some(ends) = &mut self.points[point].ends {
            ends.push(guard);
        }
    }

    /// Takes all edges from a visit; calls are run to their returns.
    fn follow(
        &mut self,
        visit: usize,
        place: PlaceId,
        guard: Term,
        store: &Store,
        inside: Option<usize>,
    ) -> Result<(), Stop> {
        let at = self.machine.flat.places[place as usize];
        let program = self.machine.flat.program;
        let frame = self.machine.flat.frame_of(place);
        let (procedure, is_root) = (frame.procedure, frame.caller.is_none());
        let mut taken: Vec<Taken> = Vec::new();
        let edges = program.procedure(procedure).edges_from(at.location);
        // The conditions of a branch are judged in one step.
        let is_branch =
            edges.map(|(_, edge)| edge).all(|edge| matches!(edge.operation, Operation::Assume(_)));
        let mut known = Known::default();
        for (number, edge) in program.procedure(procedure).edges_from(at.location) {
            let edge_ref = EdgeRef { procedure, edge: number };
            match &edge.operation {
                Operation::Call(call) => {
                    if self.is_too_deep(at.frame, call.callee, guard) {
                        self.cuts.push(guard);
                        continue;
                    }
                    let opened = self.machine.flat.open(at.frame, edge_ref);
                    taken.push(self.access(visit, Some(opened), edge_ref, store, &mut known)?);
                }
                Operation::Return(_) if is_root => {
                    let (store, condition, cells) = (store.clone(), Terms::TRUE, Vec::new());
                    taken.push(Taken { flat: None, edge: edge_ref, store, condition, cells, is_seen: false });
                }
                Operation::EndThread => {
                    let (store, condition, cells) = (store.clone(), Terms::TRUE, Vec::new());
                    taken.push(Taken { flat: None, edge: edge_ref, store, condition, cells, is_seen: false });
                }
                Operation::Sync => return Err(Stop::TooLarge),
                _ => {
                    let flat = self.machine.flat.edge_in(at.frame, edge_ref);
                    taken.push(self.access(visit, flat, edge_ref, store, &mut known)?);
                    if !is_branch {
                        known.clear();
                    }
                }
            }
        }
        self.make_exclusive(visit, &mut taken);
        // Calls come last: what they lead to must know all other ways.
        taken.sort_by_key(|taken| matches!(program.edge(taken.edge).operation, Operation::Call(_)));
        let is_call = |taken: &&Taken| matches!(program.edge(taken.edge).operation, Operation::Call(_));
        if self.base.is_none() && taken.iter().filter(is_call).count() > 1 {
            return Err(Stop::TooLarge);
        }
        let mut branch = None;
        if is_branch && inside.is_none() && taken.iter().any(|taken| taken.is_seen) {
            branch = Some(self.point(guard, false));
        }
        for taken in taken {
            self.take(visit, (guard, inside), branch, taken)?;
        }
        Ok(())
    }

    /// Puts a step into the unrolled code, and runs what it calls.
    fn take(
        &mut self,
        visit: usize,
        (before, inside): (Term, Option<usize>),
        branch: Option<usize>,
        taken: Taken,
    ) -> Result<(), Stop> {
        let Taken { flat, edge, store, condition, cells, is_seen } = taken;
        let guard = self.machine.terms.and(before, condition);
        if guard == Terms::FALSE && branch.is_none() {
            return Ok(());
        }
        let program = self.machine.flat.program;
        let operation = &program.edge(edge).operation;
        let mut after = inside;
        let mut point = inside.or(branch);
        let mut starts = None;
        match operation {
            Operation::AtomicBegin if inside.is_none() => {
                point = Some(self.point(guard, true));
                after = point;
            }
            Operation::AtomicEnd => {
                if let Some(point) = inside {
                    self.end(point, guard);
                }
                after = None;
            }
            Operation::StartThread(start) => {
                if self.lanes.len() > (3 + 2 * self.bound).min(62) {
                    self.cuts.push(guard);
                    return Ok(());
                }
                self.share(&store);
                let at = match inside {
                    Some(point) => point,
                    None => self.point(guard, false),
                };
                point = Some(at);
                starts = Some(match start {
                    ThreadStart::At(location) => {
                        self.start(edge.procedure, visit, *location, (at, guard), &store)
                    }
                    ThreadStart::Call { callee, arguments } => {
                        self.start_call(visit, (*callee, arguments), (at, guard), &store)?
                    }
                });
            }
            Operation::EndThread => {
                if let Some(point) = inside {
                    self.end(point, guard);
                }
            }
            Operation::Return(_) if flat.is_none() => {
                if let Some(point) = inside {
                    self.end(point, guard);
                }
            }
            _ => {
                if is_seen && point.is_none() {
                    point = Some(self.point(guard, false));
                }
            }
        }
        for (is_write, variable, index, value) in &cells {
            let Some(point) = point.filter(|_| self.base.is_some()) else { continue };
            // A read happens wherever the step is tried, a write where it is done.
            let (is_write, variable, index, value) = (*is_write, *variable, *index, *value);
            let guard = if is_write { guard } else { before };
            self.events.push(Event { is_write, variable, index, value, guard, point });
        }
        if guard == Terms::FALSE {
            return Ok(());
        }
        let id = self.steps.len();
        let cells = cells.into_iter().map(|(_, variable, index, value)| (variable, index, value)).collect();
        self.steps.push(Step { edge, guard, point, to: None, store: store.clone(), cells, starts });
        self.visits[visit].steps.push(id);
        let Some(flat) = flat else { return Ok(()) };
        if *operation == Operation::EndThread {
            return Ok(());
        }
        let to = self.machine.flat.edges[flat as usize].to;
        let coming = Coming { step: Some(id), guard, store, inside: after };
        self.waiting.entry(to).or_default().push(coming);
        if let (Operation::Call(call), Move::Enter(frame)) =
            (operation, self.machine.flat.edges[flat as usize].kind)
        {
            self.calls.push((call.callee, guard));
            self.body(frame, call.callee)?;
            self.calls.pop();
        }
        Ok(())
    }

    /// A run takes one way on: where several are possible, new unknowns say which.
    fn make_exclusive(&mut self, visit: usize, taken: &mut [Taken]) {
        let terms = &mut self.machine.terms;
        let conditions: Vec<Term> = taken.iter().map(|taken| taken.condition).collect();
        let mut overlap = false;
        for (i, a) in conditions.iter().enumerate() {
            overlap |= conditions[i + 1..].iter().any(|b| terms.and(*a, *b) != Terms::FALSE);
        }
        if !overlap {
            return;
        }
        let mut none_before = Terms::TRUE;
        let last = taken.len() - 1;
        for (i, taken) in taken.iter_mut().enumerate() {
            let this = terms.variable(&format!("way{visit}.{i}"), Sort::Bool);
            let chosen = if i == last { none_before } else { terms.and(none_before, this) };
            taken.condition = terms.and(taken.condition, chosen);
            let not = terms.not(this);
            none_before = terms.and(none_before, not);
        }
    }

    fn is_too_deep(&self, frame: u32, callee: ProcedureId, guard: Term) -> bool {
        let open = self.machine.flat.depth_of(frame, callee);
        if open == 0 {
            return false;
        }
        let mut uncertain = 0;
        let mut inner = guard;
        for (procedure, entered) in self.calls.iter().rev() {
            if *procedure == callee {
                uncertain += usize::from(*entered != inner);
                inner = *entered;
            }
        }
        uncertain > self.bound || open > 16 * self.bound
    }
}

/// A step that was computed.
pub(super) struct Taken {
    pub flat: Option<u32>,
    pub edge: EdgeRef,
    pub store: Store,
    pub condition: Term,
    /// Events: whether it is a write, the variable, the cell, the value.
    pub cells: Vec<(bool, u32, Option<Term>, Term)>,
    pub is_seen: bool,
}

/// One of two guards, with what they have in common in front.
fn either(terms: &mut Terms, a: Term, b: Term) -> Term {
    let (Some(of_a), Some(of_b)) = (parts(terms, a), parts(terms, b)) else { return terms.or(a, b) };
    let common: Vec<Term> = of_a.iter().copied().filter(|part| of_b.contains(part)).collect();
    if common.is_empty() {
        return terms.or(a, b);
    }
    let rest =
        |all: &[Term]| -> Vec<Term> { all.iter().copied().filter(|part| !common.contains(part)).collect() };
    let (rest_a, rest_b) = (rest(&of_a), rest(&of_b));
    let (rest_a, rest_b) = (terms.all(&rest_a), terms.all(&rest_b));
    let one = terms.or(rest_a, rest_b);
    let common = terms.all(&common);
    terms.and(common, one)
}

/// The parts of a short conjunction.
pub(super) fn parts(terms: &Terms, term: Term) -> Option<Vec<Term>> {
    match terms.kind(term) {
        Kind::And(list) if list.len() <= 64 => Some(list.to_vec()),
        Kind::And(_) => None,
        _ => Some(vec![term]),
    }
}
