//! The check of proofs by induction.
//!
//! A certificate has a formula at each cut point, and a depth k. It is a proof if the formulas hold
//! at the first k cut points of every run, if they hold at the next one whenever they held at k in
//! a row, and if they are false where a check fails that it proves. By induction over runs they hold always.
//! A formula with a bound variable is meant for all values of it (`universal.rs`).
//! With k = 1 this is an inductive invariant; calls with a summary are allowed then, as in
//! `refinement/solver/proof.rs`: the formula at the exit of a procedure is its effect.
//!
//! The program is executed anew from cut point to cut point, place by place, with the meaning of
//! steps that checks of proofs have (`meaning.rs`). Shared with the search are the graph with
//! folded calls, the names of variables, the terms and the solver: the steps of `system.rs`, facts,
//! frames and cubes are not.

mod leaving;
mod universal;

use std::collections::{BTreeMap, BTreeSet};

use rustc_hash::FxHashMap;
use wherefore_program::{EdgeRef, Operation, ProcedureId};
use wherefore_smt::{Budget, Solver, Term, Terms};

use self::universal::with_instances;
use super::system::either;
use crate::meaning::Meaning;
use crate::refinement::solver::block::conjuncts;
use crate::refinement::solver::graph::{Graph, PointId};
use crate::refinement::solver::proof::{Checked, discharge, writes};
use crate::symbolic::flat::Flat;
use crate::symbolic::{Machine, PlaceId, Store};

/// A proof by induction.
#[derive(Clone, Debug)]
pub(super) struct Certificate {
    /// How many cut points in a row the step of the induction starts with.
    pub depth: usize,
    /// The formula of each cut point.
    pub holds: BTreeMap<PointId, Term>,
    /// The checks, by their numbers, that no run fails.
    pub proves: BTreeSet<usize>,
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
    let is_false = |(error, check): (&PointId, &usize)| {
        !certificate.proves.contains(check) || certificate.holds.get(error) == Some(&Terms::FALSE)
    };
    let is_deep = certificate.depth > 1 && !graph.calls.is_empty();
    if certificate.depth == 0 || is_deep || !graph.errors.iter().all(is_false) {
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
            let first = self.obligations.len();
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
            for obligation in &mut self.obligations[first..] {
                *obligation = with_instances(self.meaning.terms, formula, *obligation);
            }
        }
        Some(())
    }

    /// The formula of a cut point must hold.
    fn required(&mut self, place: PlaceId, ways: &Ways) {
        let formula = self.cuts[&place];
        // Each product of two numbers in a question of its own.
        let parts = match self.meaning.terms.has_product(formula) {
            true => conjuncts(self.meaning.terms, formula),
            false => vec![formula],
        };
        for (condition, store) in ways {
            for part in &parts {
                let needed = self.at(self.owner(place), store, *part, false);
                let needed = self.meaning.terms.implies(*condition, needed);
                self.obligations.push(needed);
            }
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
                    } else if self
                        .flat
                        .errors
                        .get(&to)
                        .is_some_and(|check| self.certificate.proves.contains(check))
                    {
                        // Nothing was said about this failure.
                        return None;
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
