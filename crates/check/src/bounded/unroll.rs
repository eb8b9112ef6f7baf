//! Unrolling: the program as one formula, loops up to a number of turns.
//!
//! Places are visited in the order of the loops' nesting. What comes to a place from several sides
//! is merged there, so the formula grows with the number of visits, not of paths. Conditions that
//! simplify to a constant cost nothing: a loop whose number of turns is fixed is unrolled to its
//! end, whatever the bound.

use std::collections::BTreeMap;
use std::rc::Rc;

use wherefore_program::{EdgeRef, LocationId, Operation, ProcedureId};
use wherefore_smt::{Budget, Reason, Sort, Term, Terms};

use crate::symbolic::flat::Move;
use crate::symbolic::nesting::{Part, nesting};
use crate::symbolic::{Machine, PlaceId, Store};

/// A visit of a place.
pub(super) struct Visit {
    pub place: PlaceId,
    pub store: Store,
    /// How it is reached: from a visit, by an edge, under a condition. The first that holds counts.
    pub from: Vec<(usize, u32, Term)>,
}

/// A way to a place that has not been visited yet.
struct Coming {
    from: usize,
    edge: u32,
    guard: Term,
    store: Store,
}

/// What was found on the way.
#[derive(Default)]
pub(super) struct Unrolled {
    pub visits: Vec<Visit>,
    /// Visits of places where the program fails, with the conditions.
    pub errors: Vec<(usize, Term)>,
    /// Conditions under which a run goes on beyond the bound.
    pub cuts: Vec<Term>,
}

/// More visits than this are too many.
pub(super) const MOST_VISITS: usize = 1_500_000;

/// Turns of a loop that are certain to happen do not count, but there are not more of them than
/// this.
const MOST_CERTAIN: usize = 20_000;

pub(super) struct Unroller<'m, 'a> {
    pub machine: &'m mut Machine<'a>,
    pub bound: usize,
    pub budget: &'m Budget,
    unrolled: Unrolled,
    waiting: BTreeMap<PlaceId, Vec<Coming>>,
    /// The turns of the loops around.
    turns: Vec<usize>,
    steps: usize,
    orders: BTreeMap<ProcedureId, Rc<Vec<Part>>>,
    /// For each open call: the frame, its procedure, and the condition under which it was entered.
    calls: Vec<(u32, ProcedureId, Term)>,
}

/// Why unrolling stopped.
pub(super) enum Stop {
    TooLarge,
    Limit(Reason),
}

impl<'m, 'a> Unroller<'m, 'a> {
    pub fn new(machine: &'m mut Machine<'a>, bound: usize, budget: &'m Budget) -> Self {
        let (unrolled, waiting, turns, orders, calls) = Default::default();
        Self { machine, bound, budget, unrolled, waiting, turns, steps: 0, orders, calls }
    }

    pub fn run(mut self) -> Result<Unrolled, Stop> {
        self.machine.name_prefix("start".to_owned());
        let (store, valid) = self.machine.start();
        let start = self.machine.flat.start;
        self.unrolled.visits.push(Visit { place: start, store: store.clone(), from: Vec::new() });
        let entry = self.machine.flat.program.entry;
        self.calls.push((0, entry, valid));
        self.follow(0, start, valid, &store)?;
        self.body(0, entry)?;
        Ok(self.unrolled)
    }

    /// All of a procedure, in a frame of it.
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
        let mut uncertain = 0;
        let mut before = self.coming(head);
        self.turns.push(0);
        loop {
            // What is in the loop already runs through its body; only what comes back to its head
            // makes another turn.
            self.visit(head)?;
            for part in body {
                self.part(frame, part)?;
            }
            let again = self.coming(head);
            let turn = self.turns.last_mut().expect("a loop is open");
            *turn += 1;
            if again == Terms::FALSE {
                break;
            }
            // A turn that follows for certain from the one before does not count.
            let certain = *turn < MOST_CERTAIN && again == before;
            before = again;
            uncertain += usize::from(!certain);
            if uncertain > self.bound {
                self.unrolled.cuts.push(again);
                self.waiting.remove(&head);
                break;
            }
        }
        self.turns.pop();
        Ok(())
    }

    /// The condition under which a place is about to be visited.
    fn coming(&mut self, place: PlaceId) -> Term {
        let coming = self.waiting.get(&place).map_or(&[][..], Vec::as_slice);
        let guards: Vec<Term> = coming.iter().map(|coming| coming.guard).collect();
        guards.into_iter().fold(Terms::FALSE, |all, guard| self.machine.terms.either(all, guard))
    }

    fn visit(&mut self, place: PlaceId) -> Result<(), Stop> {
        let Some(coming) = self.waiting.remove(&place) else { return Ok(()) };
        self.steps += 1;
        if self.steps % 64 == 0 {
            self.budget.look().map_err(Stop::Limit)?;
        }
        if self.unrolled.visits.len() > MOST_VISITS || self.machine.terms.len() > 30_000_000 {
            return Err(Stop::TooLarge);
        }
        let mut from = Vec::with_capacity(coming.len());
        let mut merged: Option<(Term, Store)> = None;
        for Coming { from: visit, edge, guard, store } in coming.into_iter().rev() {
            from.push((visit, edge, guard));
            merged = Some(match merged {
                None => (guard, store),
                Some((other, rest)) => {
                    let terms = &mut self.machine.terms;
                    // Choices are the shorter, the shorter the conditions are.
                    let this = if terms.keeps_choices() { terms.apart(guard, other) } else { guard };
                    (terms.either(guard, other), store.merged(terms, this, &rest))
                }
            });
        }
        from.reverse();
        let Some((guard, store)) = merged else { return Ok(()) };
        let id = self.unrolled.visits.len();
        self.unrolled.visits.push(Visit { place, store: store.clone(), from });
        if self.machine.flat.errors.contains_key(&place) {
            self.unrolled.errors.push((id, guard));
            return Ok(());
        }
        self.follow(id, place, guard, &store)
    }

    /// Takes all edges from a visit; calls are run to their returns.
    fn follow(&mut self, visit: usize, place: PlaceId, guard: Term, store: &Store) -> Result<(), Stop> {
        let at = self.machine.flat.places[place as usize];
        let program = self.machine.flat.program;
        let procedure = self.machine.flat.frame_of(place).procedure;
        for (number, edge) in program.procedure(procedure).edges_from(at.location) {
            let Operation::Call(call) = &edge.operation else { continue };
            if self.is_too_deep(at.frame, call.callee, guard) {
                self.unrolled.cuts.push(guard);
                continue;
            }
            let call_edge = self.machine.flat.open(at.frame, EdgeRef { procedure, edge: number });
            let Move::Enter(frame) = self.machine.flat.edges[call_edge as usize].kind else { continue };
            self.take(visit, call_edge, guard, store);
            self.calls.push((frame, call.callee, guard));
            // Loops around the caller are loops around the callee: its values are named after their
            // turns.
            self.body(frame, call.callee)?;
            self.calls.pop();
        }
        let out = self.machine.flat.out[place as usize].iter().copied();
        let steps =
            out.filter(|edge| !matches!(self.machine.flat.edges[*edge as usize].kind, Move::Enter(_)));
        let steps: Vec<u32> = steps.collect();
        let mut taken = Vec::with_capacity(steps.len());
        for edge in steps {
            taken.push((edge, self.step(edge, store)));
        }
        self.make_exclusive(visit, &mut taken);
        for (edge, (after, condition)) in taken {
            self.come(visit, edge, guard, (after, condition));
        }
        Ok(())
    }

    /// A run takes one way on: where several are possible, new unknowns say which.
    fn make_exclusive(&mut self, visit: usize, taken: &mut [(u32, (Store, Term))]) {
        let terms = &mut self.machine.terms;
        let conditions: Vec<Term> = taken.iter().map(|(_, (_, condition))| *condition).collect();
        let mut overlap = false;
        for (i, a) in conditions.iter().enumerate() {
            overlap |= conditions[i + 1..].iter().any(|b| terms.and(*a, *b) != Terms::FALSE);
        }
        if !overlap {
            return;
        }
        let mut none_before = Terms::TRUE;
        let last = taken.len() - 1;
        for (i, (_, (_, condition))) in taken.iter_mut().enumerate() {
            let this = terms.variable(&format!("way{visit}.{i}"), Sort::Bool);
            let chosen = if i == last { none_before } else { terms.and(none_before, this) };
            *condition = terms.and(*condition, chosen);
            let not = terms.not(this);
            none_before = terms.and(none_before, not);
        }
    }

    /// Whether a call would be one recursion too many: calls that follow for certain do not count.
    fn is_too_deep(&self, frame: u32, callee: ProcedureId, guard: Term) -> bool {
        let open = self.machine.flat.depth_of(frame, callee);
        if open == 0 {
            return false;
        }
        let mut uncertain = 0;
        let mut inner = guard;
        for (_, procedure, entered) in self.calls.iter().rev() {
            if *procedure == callee {
                uncertain += usize::from(*entered != inner);
                inner = *entered;
            }
        }
        uncertain > self.bound || open > MOST_CERTAIN
    }

    fn take(&mut self, visit: usize, edge: u32, guard: Term, store: &Store) {
        let step = self.step(edge, store);
        self.come(visit, edge, guard, step);
    }

    fn step(&mut self, edge: u32, store: &Store) -> (Store, Term) {
        let turns: Vec<String> = self.turns.iter().map(usize::to_string).collect();
        self.machine.name_prefix(format!("e{edge}@{}", turns.join(",")));
        self.machine.step(store, edge)
    }

    fn come(&mut self, visit: usize, edge: u32, guard: Term, (after, condition): (Store, Term)) {
        let guard = self.machine.terms.and(guard, condition);
        if guard != Terms::FALSE {
            let to = self.machine.flat.edges[edge as usize].to;
            self.waiting.entry(to).or_default().push(Coming { from: visit, edge, guard, store: after });
        }
    }
}
