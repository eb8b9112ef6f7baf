//! What leaves a place, for the check of proofs by induction: edges, calls with a summary, returns.

use rustc_hash::FxHashMap;
use wherefore_program::{Call, Expr, Operation, ProcedureId, Target, Var};
use wherefore_smt::{Sort, Term, Terms};

use super::Walk;
use crate::meaning::{Changes, Held, Here};
use crate::symbolic::flat::Move;
use crate::symbolic::{PlaceId, Store};

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
    /// All ways on from a place: where to, when, and the values.
    pub(super) fn leaving(
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
}
