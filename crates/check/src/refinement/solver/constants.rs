//! Variables that hold one constant wherever they matter: they are read as that constant, and no
//! predicate need speak of them.
//!
//! A global that is never written has its initial value. A variable that is written once, with a
//! constant, has it wherever that assignment lies on every way. A parameter of a folded call that
//! is never written is what the call gave it: if that is a constant, such as the address of an
//! object, accesses through it are accesses to known cells.
//!
//! These are facts, not guesses, but a proof does not rest on them unchecked: they are part of the
//! invariants that the check of proofs is given.

use rustc_hash::FxHashMap;
use wherefore_program::{Dominators, LocationId, ModRef, Operation, Procedure, Target, Var};
use wherefore_smt::{Sort, Term, Terms};

use super::names::{Named, Names, Scope};
use crate::symbolic::{Machine, PlaceId, Store};

/// A variable with its value.
#[derive(Clone, Copy)]
pub(crate) struct Fact {
    number: u32,
    name: Term,
    value: Term,
}

/// What is known at places.
#[derive(Default)]
pub(crate) struct Constants {
    globals: Vec<Fact>,
    /// In all places of a frame.
    frames: FxHashMap<u32, Vec<Fact>>,
    /// In places that an assignment dominates, by frame and the location of the assignment.
    assigned: FxHashMap<u32, Vec<(LocationId, Fact)>>,
    /// By procedure.
    dominators: FxHashMap<u32, Dominators>,
}

impl Constants {
    pub fn new(machine: &mut Machine<'_>, names: &Names) -> Self {
        let program = machine.flat.program;
        let mod_ref = ModRef::new(program);
        let written = &mod_ref.effects(program.entry).writes;
        let mut constants = Self::default();
        for scope in names.scopes.values() {
            if constants.globals.is_empty() {
                let known = scope.globals.iter().filter(|named| !written.contains(&named.number));
                constants.globals = known
                    .filter_map(|named| {
                        let initial = program.globals[named.number as usize].initial?;
                        Some(Fact::new(named, constant(&mut machine.terms, named.now, initial)?))
                    })
                    .collect();
            }
            for frame in &scope.frames {
                constants.add_frame(machine, names, scope, *frame);
            }
        }
        constants
    }

    /// Finds what is known in a frame. Those of its callers are known.
    fn add_frame(&mut self, machine: &mut Machine<'_>, names: &Names, scope: &Scope, frame: u32) {
        let program = machine.flat.program;
        let procedure = machine.flat.frames[frame as usize].procedure;
        let body = program.procedure(procedure);
        let own: Vec<Named> = match scope.folded.iter().find(|(of, _)| *of == frame) {
            Some((_, named)) => named.clone(),
            None => scope.locals.clone(),
        };
        let writes = Writes::of(body);
        // Parameters of a folded call.
        if let Some((caller, call)) = machine.flat.frames[frame as usize].caller {
            if let Operation::Call(operation) = &program.edge(call).operation {
                let from = machine.flat.place(caller, program.edge(call).from);
                let store = self.store(names, machine, from);
                machine.name_prefix(format!("given{frame}"));
                let (_, entered, _) = machine.call(&store, caller, operation, frame);
                let given = own.iter().enumerate().take(body.parameters);
                let kept = given.filter(|(i, _)| !writes.counts.contains_key(&(*i as u32)));
                let facts = kept.filter_map(|(_, named)| {
                    let value = entered.get(named.number);
                    machine.terms.constant(value).map(|_| Fact::new(named, value))
                });
                self.frames.insert(frame, facts.collect());
            }
        }
        // Variables with one assignment.
        let dominators = self
            .dominators
            .entry(procedure.0)
            .or_insert_with(|| Dominators::new(&body.graph(), body.entry.0));
        for (variable, from, value) in writes.once {
            let named = &own[variable as usize];
            let is_single = writes.counts.get(&variable) == Some(&1);
            // Then every way that goes on from there goes through the assignment.
            let is_only_step = body.edges_from(from).count() == 1;
            let is_reached = dominators.dominates(body.entry.0, from.0);
            if is_single && is_only_step && is_reached && variable as usize >= body.parameters {
                if let Some(value) = constant(&mut machine.terms, named.now, value) {
                    let fact = Fact::new(named, value);
                    self.assigned.entry(frame).or_default().push((from, fact));
                }
            }
        }
    }

    /// What is known at a place.
    fn at(&self, machine: &Machine<'_>, place: PlaceId) -> Vec<Fact> {
        let flat = &machine.flat;
        let mut facts = self.globals.clone();
        // Callers of a folded call stand still meanwhile, where they made the call.
        let (mut frame, mut location) =
            (flat.places[place as usize].frame, flat.places[place as usize].location);
        loop {
            facts.extend(self.frames.get(&frame).into_iter().flatten());
            let here = &flat.frames[frame as usize];
            if let Some(dominators) = self.dominators.get(&here.procedure.0) {
                let assigned = self.assigned.get(&frame).into_iter().flatten();
                let is_behind =
                    |from: LocationId| from != location && dominators.dominates(from.0, location.0);
                let known = assigned.filter(|(from, _)| is_behind(*from));
                facts.extend(known.map(|(_, fact)| *fact));
            }
            let Some((caller, call)) = here.caller else { return facts };
            (frame, location) = (caller, flat.program.edge(call).from);
        }
    }

    /// The store at a place in which variables have their names as values, or constants.
    pub fn store(&self, names: &Names, machine: &Machine<'_>, place: PlaceId) -> Store {
        let mut store = names.store.clone();
        for fact in self.at(machine, place) {
            store.set(fact.number, fact.value);
        }
        store
    }

    /// An invariant with what is known at its place; none for the exit of a procedure.
    pub fn with_facts(&self, machine: &mut Machine<'_>, place: Option<PlaceId>, invariant: Term) -> Term {
        if invariant == Terms::FALSE {
            return invariant;
        }
        let facts = match place {
            Some(place) => self.at(machine, place),
            None => self.globals.clone(),
        };
        let mut all = vec![invariant];
        for fact in facts {
            all.push(machine.terms.eq(fact.name, fact.value));
        }
        machine.terms.all(&all)
    }
}

impl Fact {
    fn new(named: &Named, value: Term) -> Self {
        Self { number: named.number, name: named.now, value }
    }
}

/// A number as a value of a variable; none for arrays.
fn constant(terms: &mut Terms, of: Term, value: u64) -> Option<Term> {
    match terms.sort(of) {
        Sort::Bool => Some(terms.bool(value != 0)),
        Sort::Bits(width) => Some(terms.bits(value, width)),
        Sort::Array { .. } => None,
    }
}

/// The writes of a procedure to its own variables.
#[derive(Default)]
pub(crate) struct Writes {
    /// How often each variable is written, in the text.
    pub counts: FxHashMap<u32, usize>,
    /// Assignments of constants: the variable, the location, the constant.
    once: Vec<(u32, LocationId, u64)>,
}

impl Writes {
    pub fn of(body: &Procedure) -> Self {
        let mut writes = Self::default();
        for edge in &body.edges {
            match &edge.operation {
                Operation::Assign(assignment) => {
                    assignment.targets.iter().for_each(|target| writes.count(target));
                    for (target, value) in assignment.targets.iter().zip(&assignment.values) {
                        let plain = assignment.constraint.is_none() && target.indices.is_empty();
                        if let (Var::Local(i), Some(value), true) =
                            (target.variable, value.as_constant(), plain)
                        {
                            writes.once.push((i, edge.from, value));
                        }
                    }
                }
                Operation::Havoc(targets) => targets.iter().for_each(|target| writes.count(target)),
                Operation::Call(call) => {
                    call.assignment.targets.iter().for_each(|target| writes.count(target));
                    call.results.iter().flatten().for_each(|target| writes.count(target));
                }
                Operation::Skip
                | Operation::Assume(_)
                | Operation::Return(_)
                | Operation::StartThread(_)
                | Operation::EndThread
                | Operation::AtomicBegin
                | Operation::AtomicEnd
                | Operation::Sync => {}
            }
        }
        writes
    }

    fn count(&mut self, target: &Target) {
        if let Var::Local(i) = target.variable {
            *self.counts.entry(i).or_default() += 1;
        }
    }
}
