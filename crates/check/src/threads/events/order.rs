//! The order of points, and which write a read sees: the constraints of sequential consistency as
//! one formula.
//!
//! Every point has a number, its *round*. Points come in the order of rounds, in a round in the
//! order of threads, in a thread in the order of the code: with enough rounds these are all
//! interleavings, with few of them few unknowns ([Lal09] §7.1 has rounds for the same reason). A
//! read sees the last write to its cell in that order. The values of rounds are bits, the
//! comparisons of two of them are made once. Compare Alglave, Kroening and Tautschnig, *Partial
//! orders for efficient bounded model checking of concurrent software* (CAV 2013): there, too, the
//! schedule is a solution of constraints on events, and no scheduler is part of the program.
//!
//! With [`Bound::Contexts`] a number is a *context*: all points of one belong to one thread.

use rustc_hash::FxHashMap;
use wherefore_smt::{BitBlaster, Solver, Sort, Term, Terms};

use super::unfold::{Event, Unfolding, parts};

/// How many rounds or contexts there may be.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Bound {
    /// So many rounds.
    Rounds(usize),
    /// As many as all interleavings need.
    All,
    /// So many switches; one more if the first thread is left for nothing.
    Contexts { switches: usize, is_first_free: bool },
}

pub(super) struct Order<'u, 'a> {
    unfolding: &'u mut Unfolding<'a>,
    /// For each point its number.
    pub clocks: Vec<Term>,
    before: FxHashMap<(usize, usize), Term>,
    /// For each point, whether it is done: a section must be completed.
    pub done: Vec<Term>,
    positions: Vec<usize>,
}

/// Too many constraints.
pub(super) struct TooLarge;

const MOST_CONSTRAINTS: usize = 3_000_000;

impl<'u, 'a> Order<'u, 'a> {
    pub fn new(unfolding: &'u mut Unfolding<'a>, bound: Bound, name: &str) -> Self {
        let count = unfolding.points.len();
        // One number more is for what comes behind the end of the run.
        let largest = match Self::last(bound) {
            Some((last, is_free)) => last + usize::from(is_free) + 1,
            None => {
                let lanes = unfolding.lanes.iter().map(|lane| lane.points.len());
                let most = lanes.max().unwrap_or(0);
                count.min(2 * (count - most) + 1)
            }
        };
        let width = (usize::BITS - largest.leading_zeros()).max(1);
        let terms = &mut unfolding.machine.terms;
        let clock = |point: usize| terms.variable(&format!("{name}{point}"), Sort::Bits(width));
        let clocks = (0..count).map(clock).collect();
        let mut done = Vec::with_capacity(count);
        for point in &unfolding.points {
            let terms = &mut unfolding.machine.terms;
            done.push(match &point.ends {
                None => point.guard,
                Some(ends) => terms.any(ends),
            });
        }
        let mut positions = vec![0; count];
        for lane in &unfolding.lanes {
            for (position, point) in lane.points.iter().enumerate() {
                positions[*point] = position;
            }
        }
        Self { unfolding, clocks, before: FxHashMap::default(), done, positions }
    }

    fn terms(&mut self) -> &mut Terms {
        &mut self.unfolding.machine.terms
    }

    /// Asserts all constraints.
    pub fn assert(&mut self, solver: &mut BitBlaster, bound: Bound) -> Result<(), TooLarge> {
        let valid = self.unfolding.valid;
        self.put(solver, valid);
        self.chains(solver);
        self.owners(solver, bound);
        self.reads(solver)
    }

    fn put(&mut self, solver: &mut BitBlaster, term: Term) {
        if term != Terms::TRUE {
            solver.assert(&mut self.unfolding.machine.terms, term);
        }
    }

    /// The order of the code, and that a thread moves after its start.
    fn chains(&mut self, solver: &mut BitBlaster) {
        for lane in 0..self.unfolding.lanes.len() {
            let mut last = self.unfolding.lanes[lane].start;
            for point in self.unfolding.lanes[lane].points.clone() {
                if let Some(last) = last {
                    let (a, b) = (self.clocks[last], self.clocks[point]);
                    let ordered = self.terms().ule(a, b);
                    self.put(solver, ordered);
                }
                last = Some(point);
            }
        }
    }

    /// The numbers of rounds or contexts: the last one, and whether there is one more if the first
    /// thread is left for nothing.
    fn last(bound: Bound) -> Option<(usize, bool)> {
        match bound {
            Bound::All => None,
            Bound::Rounds(rounds) => Some((rounds - 1, false)),
            Bound::Contexts { switches, is_first_free } => Some((switches, is_first_free)),
        }
    }

    /// The condition that a point is within the bound. Other points come behind the end of the run:
    /// a thread need not go on.
    pub fn is_within(&mut self, point: usize, bound: Bound) -> Term {
        let Some((last, is_free)) = Self::last(bound) else { return Terms::TRUE };
        let clock = self.clocks[point];
        let terms = self.terms();
        let width = terms.width(clock);
        let limit = terms.bits(last as u64, width);
        let low = terms.ule(clock, limit);
        if !is_free {
            return low;
        }
        let limit = terms.bits(last as u64 + 1, width);
        let one_more = terms.ule(clock, limit);
        let free = self.is_first_free(width);
        let terms = self.terms();
        let one_more = terms.and(free, one_more);
        terms.or(low, one_more)
    }

    /// The condition that the first thread starts all others in its first context.
    fn is_first_free(&mut self, width: u32) -> Term {
        let starts: Vec<usize> = self.unfolding.lanes.iter().filter_map(|lane| lane.start).collect();
        let mut all = Vec::new();
        for start in starts {
            let (clock, done) = (self.clocks[start], self.done[start]);
            let terms = self.terms();
            let zero = terms.bits(0, width);
            all.extend([terms.eq(clock, zero), done]);
        }
        self.terms().all(&all)
    }

    /// All points of a context belong to one thread.
    fn owners(&mut self, solver: &mut BitBlaster, bound: Bound) {
        let (Bound::Contexts { .. }, Some((last, is_free))) = (bound, Self::last(bound)) else { return };
        let Some(first) = self.clocks.first().copied() else { return };
        let width = self.unfolding.machine.terms.width(first);
        let name = self.unfolding.machine.terms.name(first).unwrap_or("c").to_owned();
        let owner_bits = usize::BITS - self.unfolding.lanes.len().leading_zeros();
        for context in 0..=last + usize::from(is_free) {
            let owner = self.terms().variable(&format!("owner{name}.{context}"), Sort::Bits(owner_bits));
            for point in 0..self.clocks.len() {
                let (clock, done) = (self.clocks[point], self.done[point]);
                let thread = self.unfolding.points[point].thread as u64;
                let terms = self.terms();
                let not_done = terms.not(done);
                let here = terms.bits(context as u64, width);
                let here = terms.eq(clock, here);
                let elsewhere = terms.not(here);
                let thread = terms.bits(thread, owner_bits);
                let mine = terms.eq(owner, thread);
                let constraint = terms.any(&[not_done, elsewhere, mine]);
                self.put(solver, constraint);
            }
        }
    }

    /// Whether a point comes before another one of another thread.
    fn point_before(&mut self, a: usize, b: usize) -> Term {
        if let Some(known) = self.before.get(&(a, b)) {
            return *known;
        }
        let (of_a, of_b) = (self.unfolding.points[a].thread, self.unfolding.points[b].thread);
        let before = if self.starts_before(a, of_b) {
            Terms::TRUE
        } else if self.starts_before(b, of_a) {
            Terms::FALSE
        } else {
            let (clock_a, clock_b) = (self.clocks[a], self.clocks[b]);
            if of_a < of_b { self.terms().ule(clock_a, clock_b) } else { self.terms().ult(clock_a, clock_b) }
        };
        self.before.insert((a, b), before);
        before
    }

    /// Whether a point comes before a thread can move.
    fn starts_before(&self, point: usize, thread: usize) -> bool {
        let mut thread = thread;
        while let Some(start) = self.unfolding.lanes[thread].start {
            thread = self.unfolding.points[start].thread;
            if thread == self.unfolding.points[point].thread {
                return self.positions[point] <= self.positions[start];
            }
        }
        false
    }

    /// Whether an event comes before another one.
    fn event_before(&mut self, a: usize, b: usize) -> Term {
        let (point_a, point_b) = (self.unfolding.events[a].point, self.unfolding.events[b].point);
        let (of_a, of_b) = (self.unfolding.points[point_a].thread, self.unfolding.points[point_b].thread);
        if of_a == of_b {
            return if a < b { Terms::TRUE } else { Terms::FALSE };
        }
        self.point_before(point_a, point_b)
    }

    /// The condition under which a write is done, for a read in a point.
    fn is_done(&mut self, write: usize, point: usize) -> Term {
        let Event { guard, point: of, .. } = self.unfolding.events[write];
        if of == point {
            return guard;
        }
        let done = self.done[of];
        self.terms().and(guard, done)
    }

    /// Every read sees the last write before it.
    fn reads(&mut self, solver: &mut BitBlaster) -> Result<(), TooLarge> {
        let mut by_variable: FxHashMap<u32, Vec<usize>> = FxHashMap::default();
        for (id, event) in self.unfolding.events.iter().enumerate() {
            if event.is_write {
                by_variable.entry(event.variable).or_default().push(id);
            }
        }
        let mut count = 0;
        for read in 0..self.unfolding.events.len() {
            if self.unfolding.events[read].is_write {
                continue;
            }
            let variable = self.unfolding.events[read].variable;
            let writes = by_variable.get(&variable).cloned().unwrap_or_default();
            let seen = self.candidates(read, &writes);
            count += seen.writes.len() * seen.writes.len();
            if count > MOST_CONSTRAINTS {
                return Err(TooLarge);
            }
            self.read(solver, read, seen);
        }
        Ok(())
    }

    /// The writes that a read may see.
    fn candidates(&mut self, read: usize, writes: &[usize]) -> Candidates {
        let Event { index, guard, point, .. } = self.unfolding.events[read];
        let own_parts = parts(&self.unfolding.machine.terms, guard).unwrap_or_default();
        let mut found: Vec<(usize, Term)> = Vec::new();
        // Writes that are certain to be there, and to be before the read.
        let mut certain: Vec<usize> = Vec::new();
        for &write in writes {
            let before = self.event_before(write, read);
            if before == Terms::FALSE {
                continue;
            }
            let same = match (self.unfolding.events[write].index, index) {
                (Some(a), Some(b)) => self.terms().eq(a, b),
                _ => Terms::TRUE,
            };
            let done = self.is_done(write, point);
            let visible = self.terms().all(&[before, same, done]);
            if visible == Terms::FALSE {
                continue;
            }
            if before == Terms::TRUE && same == Terms::TRUE {
                let needed = parts(&self.unfolding.machine.terms, done);
                let holds = |part: &Term| *part == Terms::TRUE || own_parts.contains(part);
                if needed.is_some_and(|needed| needed.iter().all(holds)) {
                    certain.push(write);
                }
            }
            found.push((write, visible));
        }
        let hidden = |order: &mut Self, write: usize| {
            certain.iter().any(|last| *last != write && order.event_before(write, *last) == Terms::TRUE)
        };
        let mut writes = Vec::new();
        for (write, visible) in found {
            if !hidden(self, write) {
                writes.push((write, visible));
            }
        }
        Candidates { writes, initial: certain.is_empty() }
    }

    fn read(&mut self, solver: &mut BitBlaster, read: usize, seen: Candidates) {
        let Event { variable, index, value, guard, .. } = self.unfolding.events[read];
        let mut choices = vec![self.unfolding.machine.terms.not(guard)];
        let clock = self.clocks.first().copied();
        let name = clock.and_then(|clock| self.unfolding.machine.terms.name(clock)).unwrap_or("c").to_owned();
        let mut sees = Vec::new();
        for (write, _) in &seen.writes {
            let see = self.terms().variable(&format!("{name}sees{read}.{write}"), Sort::Bool);
            sees.push(see);
            choices.push(see);
        }
        let start = if seen.initial {
            let see = self.terms().variable(&format!("{name}start{read}"), Sort::Bool);
            choices.push(see);
            Some(see)
        } else {
            None
        };
        let some = self.terms().any(&choices);
        self.put(solver, some);
        for ((write, visible), see) in seen.writes.iter().zip(&sees) {
            let written = self.unfolding.events[*write].value;
            let terms = self.terms();
            let not = terms.not(*see);
            let equal = terms.eq(value, written);
            let a = terms.or(not, *visible);
            let b = terms.or(not, equal);
            self.put(solver, a);
            self.put(solver, b);
            for (other, also) in &seen.writes {
                if other == write {
                    continue;
                }
                let between = self.event_before(*write, *other);
                if between == Terms::FALSE {
                    continue;
                }
                let terms = self.terms();
                let (hidden, order) = (terms.not(*also), terms.not(between));
                let not = terms.not(*see);
                let constraint = terms.any(&[not, hidden, order]);
                self.put(solver, constraint);
            }
        }
        if let Some(see) = start {
            let held = self.unfolding.base.as_ref().map(|base| base.get(variable)).unwrap_or(Terms::FALSE);
            let terms = self.terms();
            let first = match index {
                None => held,
                Some(index) => terms.select(held, index),
            };
            let not = terms.not(see);
            let equal = terms.eq(value, first);
            let constraint = terms.or(not, equal);
            self.put(solver, constraint);
            for (_, visible) in &seen.writes {
                let terms = self.terms();
                let (not, hidden) = (terms.not(see), terms.not(*visible));
                let constraint = terms.or(not, hidden);
                self.put(solver, constraint);
            }
        }
    }
}

struct Candidates {
    /// The writes, and the conditions under which the read could see them.
    writes: Vec<(usize, Term)>,
    /// Whether it could see what was there at the first start.
    initial: bool,
}
