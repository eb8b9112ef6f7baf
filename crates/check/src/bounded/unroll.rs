//! Unrolling: the program as one formula, loops up to a number of turns.
//!
//! Places are visited in the order of the loops' nesting. What comes to a place from several sides is merged there, so the
//! formula grows with the number of visits, not of paths. Conditions that simplify to a constant cost nothing: a loop whose
//! number of turns is fixed is unrolled to its end, whatever the bound.

use std::collections::BTreeMap;

use wherefore_smt::{Budget, Kind, Reason, Term, Terms};

use crate::symbolic::nesting::Part;
use crate::symbolic::{Flat, Machine, PlaceId, Store};

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

/// Turns of a loop that are certain to happen do not count, but there are not more of them than this.
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
}

/// Why unrolling stopped.
pub(super) enum Stop {
    TooLarge,
    Limit(Reason),
}

impl<'m, 'a> Unroller<'m, 'a> {
    pub fn new(machine: &'m mut Machine<'a>, bound: usize, budget: &'m Budget) -> Self {
        let (unrolled, waiting, turns) = Default::default();
        Self { machine, bound, budget, unrolled, waiting, turns, steps: 0 }
    }

    pub fn run(mut self, order: &[Part]) -> Result<Unrolled, Stop> {
        self.machine.name_prefix("start".to_owned());
        let (store, valid) = self.machine.start();
        let start = self.flat().start;
        self.unrolled.visits.push(Visit { place: start, store: store.clone(), from: Vec::new() });
        self.follow(0, start, valid, &store)?;
        for part in order {
            self.part(part)?;
        }
        Ok(self.unrolled)
    }

    fn flat(&self) -> &'a Flat<'a> {
        self.machine.flat
    }

    fn part(&mut self, part: &Part) -> Result<(), Stop> {
        match part {
            Part::Place(place) => self.visit(*place),
            Part::Loop(head, body) => self.turns(*head, body),
        }
    }

    fn turns(&mut self, head: PlaceId, body: &[Part]) -> Result<(), Stop> {
        let mut uncertain = 0;
        let mut members = Vec::new();
        for part in body {
            part.places(&mut |place| members.push(place));
        }
        members.push(head);
        members.sort_unstable();
        self.turns.push(0);
        loop {
            // What is in the loop already runs through its body; only what comes back to its head makes another turn.
            self.visit(head)?;
            for part in body {
                self.part(part)?;
            }
            let back = self.waiting.get(&head).map_or(&[][..], Vec::as_slice);
            let guards: Vec<Term> = back.iter().map(|coming| coming.guard).collect();
            let mut again = Terms::FALSE;
            for guard in guards {
                again = self.either(again, guard);
            }
            let turn = self.turns.last_mut().expect("a loop is open");
            *turn += 1;
            let certain = *turn < MOST_CERTAIN && again == Terms::TRUE;
            if again == Terms::FALSE {
                break;
            }
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
                    (self.either(guard, other), store.merged(&mut self.machine.terms, guard, &rest))
                }
            });
        }
        from.reverse();
        let Some((guard, store)) = merged else { return Ok(()) };
        let id = self.unrolled.visits.len();
        self.unrolled.visits.push(Visit { place, store: store.clone(), from });
        if self.flat().errors.contains_key(&place) {
            self.unrolled.errors.push((id, guard));
            return Ok(());
        }
        self.follow(id, place, guard, &store)
    }

    /// Takes all edges from a visit.
    fn follow(&mut self, visit: usize, place: PlaceId, guard: Term, store: &Store) -> Result<(), Stop> {
        let flat = self.flat();
        if flat.cuts.contains(&place) {
            self.unrolled.cuts.push(guard);
        }
        for edge in &flat.out[place as usize] {
            let turns: Vec<String> = self.turns.iter().map(usize::to_string).collect();
            self.machine.name_prefix(format!("e{edge}@{}", turns.join(",")));
            let (after, condition) = self.machine.step(store, &flat.edges[*edge as usize]);
            let guard = self.machine.terms.and(guard, condition);
            if guard == Terms::FALSE {
                continue;
            }
            let to = flat.edges[*edge as usize].to;
            let coming = Coming { from: visit, edge: *edge, guard, store: after };
            self.waiting.entry(to).or_default().push(coming);
        }
        Ok(())
    }

    /// One of two guards, with what they have in common in front: so that the two sides of a branch join to what was before it.
    fn either(&mut self, a: Term, b: Term) -> Term {
        let terms = &mut self.machine.terms;
        let (Some(of_a), Some(of_b)) = (parts(terms, a), parts(terms, b)) else { return terms.or(a, b) };
        let common: Vec<Term> = of_a.iter().copied().filter(|part| of_b.contains(part)).collect();
        if common.is_empty() {
            return terms.or(a, b);
        }
        let rest = |all: &[Term]| -> Vec<Term> {
            all.iter().copied().filter(|part| !common.contains(part)).collect()
        };
        let (rest_a, rest_b) = (rest(&of_a), rest(&of_b));
        let (rest_a, rest_b) = (terms.all(&rest_a), terms.all(&rest_b));
        let one = terms.or(rest_a, rest_b);
        let common = terms.all(&common);
        terms.and(common, one)
    }
}

/// The parts of a short conjunction.
fn parts(terms: &Terms, term: Term) -> Option<Vec<Term>> {
    match terms.kind(term) {
        Kind::And(list) if list.len() <= 64 => Some(list.to_vec()),
        Kind::And(_) => None,
        _ => Some(vec![term]),
    }
}
