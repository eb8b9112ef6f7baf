//! The check of proofs by induction.
//!
//! A certificate has a formula at each cut point, and a depth k. It is a proof if the formulas hold
//! at the first k cut points of every run, if they hold at the next one whenever they held at k in
//! a row, and if they are false where the program fails. By induction over runs they hold always.
//! With k = 1 this is an inductive invariant; calls with a summary are allowed then, as in
//! `refinement/solver/proof.rs`: the formula at the exit of a procedure is its effect.
//!
//! The program is executed anew from cut point to cut point, place by place, with the meaning of
//! steps that checks of proofs have (`meaning.rs`). Shared with the search are the graph with folded
//! calls, the names of variables, the terms and the solver: the steps of `system.rs`, facts, frames
//! and cubes are not.

use std::collections::{BTreeMap, BTreeSet};

use rustc_hash::FxHashMap;
use wherefore_program::{Call, EdgeRef, Expr, Operation, ProcedureId, Target, Var};
use wherefore_smt::{Budget, Solver, Sort, Term, Terms};

use super::system::either;
use crate::meaning::{Changes, Held, Here, Meaning};
use crate::refinement::solver::graph::{Graph, PointId};
use crate::refinement::solver::proof::{Checked, discharge, writes};
use crate::symbolic::flat::{Flat, Move};
use crate::symbolic::{Machine, PlaceId, Store};

/// A proof by induction.
#[derive(Clone, Debug)]
pub(super) struct Certificate {
    /// How many cut points in a row the step of the induction starts with.
    pub depth: usize,
    /// The formula of each cut point.
    pub holds: BTreeMap<PointId, Term>,
}

/// More places than this are not executed.
const MOST_VISITS: usize = 400_000;

/// Whether a certificate is a proof.
pub(super) fn check(
    machine: &mut Machine<'_>,
    graph: &Graph,
    certificate: &Certificate,
    solver: &mut dyn Solver,
    budget: &Budget,
) -> Checked {
    let is_false = |error: &PointId| certificate.holds.get(error) == Some(&Terms::FALSE);
    let is_deep = certificate.depth > 1 && !graph.calls.is_empty();
    if certificate.depth == 0 || is_deep || !graph.errors.keys().all(is_false) {
        return Checked::Broken;
    }
    let mut cuts = FxHashMap::default();
    for (point, formula) in &certificate.holds {
        if let Some(place) = graph.points[*point].place {
            cuts.insert(place, *formula);
        }
    }
    let Machine { terms, flat, .. } = machine;
    let writes = writes(flat.program);
    let mut walk = Walk {
        meaning: Meaning::new(terms, flat.program),
        flat,
        graph,
        certificate,
        cuts,
        writes,
        obligations: Vec::new(),
        visits: 0,
    };
    if walk.base().is_none() || walk.steps().is_none() {
        return Checked::Broken;
    }
    let obligations = walk.obligations;
    discharge(terms, obligations, solver, budget)
}

/// Where runs are: the condition, and the values.
type Ways = Vec<(Term, Store)>;

struct Walk<'w, 'a> {
    meaning: Meaning<'w, 'a>,
    flat: &'w Flat<'a>,
    graph: &'w Graph,
    certificate: &'w Certificate,
    /// The formulas, by place.
    cuts: FxHashMap<PlaceId, Term>,
    /// The globals that each procedure, or one that it calls, writes.
    writes: Vec<BTreeSet<u32>>,
    obligations: Vec<Term>,
    visits: usize,
}

/// The values that a frame sees.
struct Seen<'s> {
    store: &'s Store,
    first: u32,
}

impl Held for Seen<'_> {
    fn held(&mut self, _: &mut Terms, variable: Var) -> Term {
        self.store.get(number(self.first, variable))
    }
}

fn number(first: u32, variable: Var) -> u32 {
    match variable {
        Var::Global(i) => i,
        Var::Local(i) => first + i,
    }
}

fn change(store: &mut Store, first: u32, changes: Changes) {
    for (variable, value) in changes {
        store.set(number(first, variable), value);
    }
}

impl Walk<'_, '_> {
    /// The formulas hold at the first cut points of every run.
    fn base(&mut self) -> Option<()> {
        let program = self.flat.program;
        let scope = &self.graph.names.scopes[&program.entry];
        let first = self.flat.frames[scope.frame() as usize].first;
        let mut store = self.graph.names.store.clone();
        let mut possible = Terms::TRUE;
        let globals = program.globals.iter().zip(0..);
        let locals = program.procedure(program.entry).variables.iter().zip(first..);
        for (variable, number) in globals.chain(locals) {
            let (value, fits) = self.meaning.initial(variable);
            possible = self.meaning.terms.and(possible, fits);
            store.set(number, value);
        }
        let start = self.graph.points[self.graph.start].place?;
        let formula = *self.cuts.get(&start)?;
        let needed = self.at(program.entry, &store, formula, true);
        let needed = self.meaning.terms.implies(possible, needed);
        self.obligations.push(needed);
        let mut layer = BTreeMap::from([(start, vec![(possible, store)])]);
        for _ in 1..self.certificate.depth {
            layer = self.layer(layer)?;
            for (place, ways) in &layer {
                self.required(*place, ways);
            }
        }
        Some(())
    }

    /// The formulas hold at the next cut point if they held at so many in a row.
    fn steps(&mut self) -> Option<()> {
        let starts: Vec<PlaceId> = self.cuts.keys().copied().collect();
        for start in starts {
            let formula = self.cuts[&start];
            if formula == Terms::FALSE {
                continue;
            }
            let store = self.graph.names.store.clone();
            let mut layer = BTreeMap::from([(start, vec![(formula, store)])]);
            for _ in 1..self.certificate.depth {
                layer = self.layer(layer)?;
                for (place, ways) in &mut layer {
                    self.assume(*place, ways);
                }
            }
            for (place, ways) in self.layer(layer)? {
                self.required(place, &ways);
            }
        }
        Some(())
    }

    /// The formula of a cut point must hold.
    fn required(&mut self, place: PlaceId, ways: &Ways) {
        let formula = self.cuts[&place];
        for (condition, store) in ways {
            let needed = self.at(self.owner(place), store, formula, false);
            let needed = self.meaning.terms.implies(*condition, needed);
            self.obligations.push(needed);
        }
    }

    /// The formula of a cut point is assumed.
    fn assume(&mut self, place: PlaceId, ways: &mut Ways) {
        let formula = self.cuts[&place];
        for (condition, store) in ways {
            let known = self.at(self.owner(place), store, formula, false);
            *condition = self.meaning.terms.and(*condition, known);
        }
    }

    fn owner(&self, place: PlaceId) -> ProcedureId {
        self.graph.names.owner_of(self.flat.places[place as usize].frame)
    }

    /// A formula of a procedure with the values of a store; at its entry, those are the old ones.
    fn at(&mut self, procedure: ProcedureId, store: &Store, formula: Term, is_entry: bool) -> Term {
        let scope = &self.graph.names.scopes[&procedure];
        let mut values: FxHashMap<Term, Term> = FxHashMap::default();
        for named in scope.all() {
            let value = store.get(named.number);
            if self.meaning.terms.sort(value) == self.meaning.terms.sort(named.now) {
                values.insert(named.now, value);
            }
        }
        if is_entry {
            for named in scope.at_entry() {
                values.insert(named.old, store.get(named.number));
            }
        }
        self.meaning.terms.substitute(formula, &values)
    }

    /// Runs from cut points to the next ones.
    fn layer(&mut self, layer: BTreeMap<PlaceId, Ways>) -> Option<BTreeMap<PlaceId, Ways>> {
        let mut ends: BTreeMap<PlaceId, Ways> = BTreeMap::new();
        for (start, ways) in layer {
            if self.flat.errors.contains_key(&start) {
                continue;
            }
            let order = self.order(start)?;
            let mut waiting: FxHashMap<PlaceId, Ways> = FxHashMap::default();
            waiting.insert(start, ways);
            for place in order {
                let Some((condition, store)) = waiting.remove(&place).and_then(|ways| self.merged(ways))
                else {
                    continue;
                };
                self.visits += 1;
                if self.visits > MOST_VISITS {
                    return None;
                }
                for (to, condition, after) in self.leaving(place, condition, &store)? {
                    if self.cuts.contains_key(&to) {
                        ends.entry(to).or_default().push((condition, after));
                    } else {
                        waiting.entry(to).or_default().push((condition, after));
                    }
                }
            }
        }
        // What comes to one place is followed together.
        let mut merged = BTreeMap::new();
        for (place, ways) in ends {
            merged.insert(place, self.merged(ways).into_iter().collect());
        }
        Some(merged)
    }

    /// The places from a cut point to the next ones, each before those that it leads to. None if
    /// there is a cycle without a cut point.
    fn order(&self, start: PlaceId) -> Option<Vec<PlaceId>> {
        let mut state: FxHashMap<PlaceId, bool> = FxHashMap::default();
        let mut order = Vec::new();
        state.insert(start, false);
        let mut open = vec![(start, self.next_places(start))];
        while let Some((at, next)) = open.last_mut() {
            let Some(to) = next.pop() else {
                state.insert(*at, true);
                order.push(*at);
                open.pop();
                continue;
            };
            if self.cuts.contains_key(&to) {
                continue;
            }
            match state.get(&to) {
                None => {
                    state.insert(to, false);
                    open.push((to, self.next_places(to)));
                }
                Some(false) => return None,
                Some(true) => {}
            }
        }
        order.reverse();
        Some(order)
    }

    /// Where runs can go from a place, within its procedure.
    fn next_places(&self, place: PlaceId) -> Vec<PlaceId> {
        let flat = self.flat;
        let edges = flat.out[place as usize].iter().map(|edge| flat.edges[*edge as usize].to);
        let calls = self.unfolded(place).into_iter();
        let frame = flat.places[place as usize].frame;
        let behind = calls
            .filter(|edge| matches!(flat.program.edge(*edge).operation, Operation::Call(_)))
            .map(|edge| flat.place(frame, flat.program.edge(edge).to));
        edges.chain(behind).collect()
    }

    /// What the graph has no edges for: calls with a summary, and returns from them.
    fn unfolded(&self, place: PlaceId) -> Vec<EdgeRef> {
        let flat = self.flat;
        if flat.errors.contains_key(&place) {
            return Vec::new();
        }
        let at = flat.places[place as usize];
        let frame = &flat.frames[at.frame as usize];
        let procedure = frame.procedure;
        let edges = flat.program.procedure(procedure).edges_from(at.location);
        let refs = edges.filter_map(|(edge, leaving)| {
            let edge = EdgeRef { procedure, edge };
            let is_unfolded = match &leaving.operation {
                Operation::Call(_) => !flat.is_open(at.frame, edge),
                Operation::Return(_) => frame.caller.is_none(),
                _ => false,
            };
            is_unfolded.then_some(edge)
        });
        refs.collect()
    }

    /// All ways on from a place: where to, when, and the values.
    fn leaving(
        &mut self,
        place: PlaceId,
        condition: Term,
        store: &Store,
    ) -> Option<Vec<(PlaceId, Term, Store)>> {
        let flat = self.flat;
        let frame = flat.places[place as usize].frame;
        let mut found = Vec::new();
        for edge in flat.out[place as usize].clone() {
            let (after, possible) = self.step(edge, store)?;
            found.push((flat.edges[edge as usize].to, possible, after));
        }
        for edge in self.unfolded(place) {
            match &flat.program.edge(edge).operation {
                Operation::Call(call) => {
                    let (after, possible) = self.call(frame, call, condition, store)?;
                    found.push((flat.place(frame, flat.program.edge(edge).to), possible, after));
                }
                Operation::Return(values) => {
                    let (results, possible) = self.results(frame, values, store);
                    let procedure = flat.frames[frame as usize].procedure;
                    let exit = self.graph.exits.get(&procedure)?;
                    let effect = *self.certificate.holds.get(exit)?;
                    let names = self.graph.names.scopes[&procedure].results.iter().copied();
                    let needed = self.at(procedure, store, effect, false);
                    let terms = &mut *self.meaning.terms;
                    let needed = terms.substitute(needed, &names.zip(results).collect());
                    let returns = terms.and(condition, possible);
                    let needed = terms.implies(returns, needed);
                    self.obligations.push(needed);
                }
                _ => {}
            }
        }
        self.separate(&mut found);
        for (_, possible, _) in &mut found {
            *possible = self.meaning.terms.and(condition, *possible);
        }
        found.retain(|(_, possible, _)| *possible != Terms::FALSE);
        Some(found)
    }

    /// What an edge does.
    fn step(&mut self, edge: u32, store: &Store) -> Option<(Store, Term)> {
        let flat = self.flat;
        let edge = flat.edges[edge as usize];
        let at = flat.places[edge.from as usize].frame;
        let frame = &flat.frames[at as usize];
        let (procedure, first) = (frame.procedure, frame.first);
        let mut after = store.clone();
        let mut seen = Seen { store, first };
        let here = &mut Here { procedure, values: &mut seen };
        let possible = match (&flat.program.edge(edge.edge).operation, edge.kind) {
            (Operation::Assume(condition), _) => {
                let (holds, possible) = self.meaning.value(here, condition);
                self.meaning.terms.and(possible, holds)
            }
            (Operation::Assign(assignment), _) => {
                let (changes, possible) = self.meaning.assigned(here, assignment);
                change(&mut after, first, changes);
                possible
            }
            (Operation::Havoc(targets), _) => {
                let (changes, possible) = self.meaning.havocked(here, targets);
                change(&mut after, first, changes);
                possible
            }
            (Operation::Call(call), Move::Enter(callee)) => {
                let entered = self.meaning.entered(here, call);
                change(&mut after, first, entered.changes);
                let inner = flat.frames[callee as usize].first;
                for (value, number) in entered.locals.into_iter().zip(inner..) {
                    after.set(number, value);
                }
                entered.possible
            }
            (Operation::Return(values), Move::Leave) => {
                let (caller, call) = frame.caller?;
                let Operation::Call(call) = &flat.program.edge(call).operation else { return None };
                let (results, possible) = self.results(at, values, store);
                let fits = self.take_results(caller, call, &results, &mut after);
                self.meaning.terms.and(possible, fits)
            }
            (Operation::Call(_) | Operation::Return(_), _) => return None,
            (
                Operation::Skip
                | Operation::StartThread(_)
                | Operation::EndThread
                | Operation::AtomicBegin
                | Operation::AtomicEnd
                | Operation::Sync,
                _,
            ) => Terms::TRUE,
        };
        Some((after, possible))
    }

    /// The values that a return hands over, and the condition that it can.
    fn results(&mut self, frame: u32, values: &[Expr], store: &Store) -> (Vec<Term>, Term) {
        let frame = &self.flat.frames[frame as usize];
        let mut seen = Seen { store, first: frame.first };
        let here = &mut Here { procedure: frame.procedure, values: &mut seen };
        let mut possible = Terms::TRUE;
        let mut results = Vec::new();
        for value in values {
            let (value, fits) = self.meaning.value(here, value);
            possible = self.meaning.terms.and(possible, fits);
            results.push(value);
        }
        (results, possible)
    }

    /// Writes the results of a call into the store of the caller.
    fn take_results(&mut self, caller: u32, call: &Call, results: &[Term], store: &mut Store) -> Term {
        let frame = &self.flat.frames[caller as usize];
        let (procedure, first) = (frame.procedure, frame.first);
        let mut possible = Terms::TRUE;
        for (value, target) in results.iter().zip(&call.results) {
            let Some(target) = target else { continue };
            possible = self.write(procedure, first, target, *value, store, possible);
        }
        possible
    }

    fn write(
        &mut self,
        procedure: ProcedureId,
        first: u32,
        target: &Target,
        value: Term,
        store: &mut Store,
        possible: Term,
    ) -> Term {
        let ty = self.flat.program.variable(procedure, target.variable).ty.element();
        let value = self.meaning.fitted(value, ty);
        // Indices are read when the results before are written.
        let before = store.clone();
        let mut seen = Seen { store: &before, first };
        let here = &mut Here { procedure, values: &mut seen };
        let (changes, fits) = self.meaning.written(here, std::slice::from_ref(target), &[value]);
        change(store, first, changes);
        self.meaning.terms.and(possible, fits)
    }

    /// A call with a summary: the formula at the callee's entry must hold; what the callee leaves
    /// is anything that its effect allows.
    fn call(&mut self, frame: u32, call: &Call, condition: Term, store: &Store) -> Option<(Store, Term)> {
        let caller = &self.flat.frames[frame as usize];
        let (procedure, first) = (caller.procedure, caller.first);
        let mut seen = Seen { store, first };
        let here = &mut Here { procedure, values: &mut seen };
        let entered = self.meaning.entered(here, call);
        let mut after = store.clone();
        change(&mut after, first, entered.changes);
        let callee = &self.graph.names.scopes[&call.callee];

        let mut values: FxHashMap<Term, Term> = FxHashMap::default();
        let mut at_exit: FxHashMap<Term, Term> = FxHashMap::default();
        for global in &callee.globals {
            let value = after.get(global.number);
            values.extend([(global.now, value), (global.old, value)]);
            at_exit.insert(global.old, value);
        }
        for (named, value) in callee.locals.iter().zip(entered.locals) {
            values.extend([(named.now, value), (named.old, value)]);
            at_exit.insert(named.old, value);
        }
        let entry = *self.certificate.holds.get(self.graph.entries.get(&call.callee)?)?;
        let terms = &mut *self.meaning.terms;
        let needed = terms.substitute(entry, &values);
        let enters = terms.and(condition, entered.possible);
        let needed = terms.implies(enters, needed);
        self.obligations.push(needed);

        for global in &callee.globals {
            if self.writes[call.callee.0 as usize].contains(&global.number) {
                let sort = self.meaning.terms.sort(global.now);
                let left = self.meaning.unknown(sort);
                after.set(global.number, left);
            }
            at_exit.insert(global.now, after.get(global.number));
        }
        let mut results = Vec::new();
        for result in &callee.results {
            let sort = self.meaning.terms.sort(*result);
            let value = self.meaning.unknown(sort);
            at_exit.insert(*result, value);
            results.push(value);
        }
        let effect = *self.certificate.holds.get(self.graph.exits.get(&call.callee)?)?;
        let effect = self.meaning.terms.substitute(effect, &at_exit);
        let fits = self.take_results(frame, call, &results, &mut after);
        let possible = self.meaning.terms.all(&[entered.possible, effect, fits]);
        Some((after, possible))
    }

    /// A run takes one way: where two are possible at once, new values decide between them.
    fn separate(&mut self, ways: &mut [(PlaceId, Term, Store)]) {
        let terms = &mut *self.meaning.terms;
        let is_apart = ways.iter().enumerate().all(|(i, (_, condition, _))| {
            ways[i + 1..].iter().all(|(_, other, _)| terms.and(*condition, *other) == Terms::FALSE)
        });
        if is_apart {
            return;
        }
        let mut left = Terms::TRUE;
        let last = ways.len() - 1;
        for (i, (_, condition, _)) in ways.iter_mut().enumerate() {
            let this = self.meaning.unknown(Sort::Bool);
            let terms = &mut *self.meaning.terms;
            let chosen = if i == last { left } else { terms.and(left, this) };
            *condition = terms.and(*condition, chosen);
            let not = terms.not(this);
            left = terms.and(left, not);
        }
    }

    /// What comes to a place from several sides; their conditions exclude each other.
    fn merged(&mut self, ways: Ways) -> Option<(Term, Store)> {
        let mut ways = ways.into_iter();
        let (mut condition, mut store) = ways.next()?;
        for (other, others) in ways {
            store = others.merged(self.meaning.terms, other, &store);
            condition = either(self.meaning.terms, condition, other);
        }
        Some((condition, store))
    }
}
