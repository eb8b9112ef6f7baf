//! A path as formulas over what comes from outside.
//!
//! Steps of the path are executed one after the other on a store of terms. Steps that do not matter
//! can be left out: what they write then keeps its old value, which is right if nothing that is
//! asked for depends on it.

use rustc_hash::FxHashMap;
use wherefore_program::{EdgeRef, Expr, Operation, ProcedureId, Program, Target, Var};
use wherefore_smt::{Term, Terms};

use crate::symbolic::flat::Move;
use crate::symbolic::{Flat, Machine, PlaceId, Store};

/// Where an unknown of a formula comes from.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Unknown {
    /// The variables that hold it one after the other, each with its procedure unless it is global.
    pub held_by: Vec<(Option<ProcedureId>, Var)>,
    /// The step that brings it; none for a value from before the start.
    pub position: Option<usize>,
}

/// A walk along a path. It stands before a step; [`PathTerms::step`] goes on.
pub struct PathTerms<'p> {
    machine: Machine<'p>,
    store: Store,
    place: PlaceId,
    position: usize,
    unknowns: FxHashMap<Term, Unknown>,
    valid: Term,
}

impl<'p> PathTerms<'p> {
    /// At the start of a program.
    pub fn new(program: &'p Program) -> Self {
        let mut machine = Machine::new(Flat::new(program, &[]));
        machine.name_prefix("start".to_owned());
        let (store, valid) = machine.start();
        let place = machine.flat.start;
        let mut walk = Self { machine, store, place, position: 0, unknowns: FxHashMap::default(), valid };
        let globals = program.globals.iter().zip(0..);
        let found: Vec<_> = globals.map(|(_, at)| (at, (None, Var::Global(at)))).collect();
        walk.note(found, None);
        walk.note_frame(0, None);
        walk
    }

    /// Forgets all values that can be seen here: they are new unknowns, named after the variables
    /// that hold them.
    pub fn forget(&mut self) {
        self.unknowns.clear();
        self.machine.name_prefix(format!("f{}", self.position));
        let frame = self.machine.flat.places[self.place as usize].frame;
        let frames = std::iter::successors(Some(frame), |id| {
            self.machine.flat.frames[*id as usize].caller.map(|(caller, _)| caller)
        });
        let frames: Vec<u32> = frames.collect();
        let program = self.machine.flat.program;
        for (variable, at) in program.globals.iter().zip(0..) {
            let value = self.machine.unknown(&variable.ty);
            self.store.set(at, value);
            self.note(vec![(at, (None, Var::Global(at)))], None);
        }
        for id in frames {
            let (first, procedure) = {
                let frame = &self.machine.flat.frames[id as usize];
                (frame.first, frame.procedure)
            };
            for (variable, i) in program.procedure(procedure).variables.iter().zip(0..) {
                let value = self.machine.unknown(&variable.ty);
                self.store.set(first + i, value);
                self.note(vec![(first + i, (Some(procedure), Var::Local(i)))], None);
            }
        }
    }

    /// The condition on the values at the start.
    pub fn valid(&self) -> Term {
        self.valid
    }

    /// The terms that everything is made of.
    pub fn terms(&mut self) -> &mut Terms {
        &mut self.machine.terms
    }

    /// The same, to look at.
    pub fn terms_ref(&self) -> &Terms {
        &self.machine.terms
    }

    /// Where the unknowns come from.
    pub fn unknowns(&self) -> &FxHashMap<Term, Unknown> {
        &self.unknowns
    }

    /// The value of an expression of the procedure that the walk is in, and the condition under
    /// which it has one.
    pub fn value(&mut self, expr: &Expr) -> (Term, Term) {
        self.machine.name_prefix(format!("v{}", self.position));
        self.machine.value_at(&self.store, self.place, expr)
    }

    /// Takes the next edge of the path; if it is not executed, it changes nothing but the place.
    /// The condition under which it can be taken.
    ///
    /// # Panics
    /// If the edge does not start where the walk is.
    pub fn step(&mut self, edge: EdgeRef, executed: bool) -> Term {
        let flat = &mut self.machine.flat;
        let at = flat.places[self.place as usize];
        let program = flat.program;
        let number = match &program.edge(edge).operation {
            Operation::Call(_) => flat.open(at.frame, edge),
            _ => {
                let mut out = flat.out[self.place as usize].iter();
                *out.find(|id| flat.edges[**id as usize].edge == edge).expect("the edge leaves the place")
            }
        };
        let flat_edge = flat.edges[number as usize];
        let position = self.position;
        self.position += 1;
        self.place = flat_edge.to;
        if flat_edge.kind == Move::Step && !executed {
            return Terms::TRUE;
        }
        self.machine.name_prefix(format!("s{position}"));
        let (after, condition) = self.machine.step(&self.store, number);
        self.store = after;
        match (&program.edge(edge).operation, flat_edge.kind) {
            (_, Move::Enter(frame)) => self.note_frame(frame, Some(position)),
            (Operation::Havoc(targets), _) => self.note_targets(at.frame, targets, position),
            (Operation::Assign(assignment), _) => {
                self.note_targets(at.frame, &assignment.targets, position);
            }
            _ => {}
        }
        condition
    }

    fn note_frame(&mut self, frame: u32, position: Option<usize>) {
        let frame = &self.machine.flat.frames[frame as usize];
        let (first, procedure) = (frame.first, frame.procedure);
        let count = self.machine.flat.program.procedure(procedure).variables.len() as u32;
        let found = (0..count).map(|i| (first + i, (Some(procedure), Var::Local(i)))).collect();
        self.note(found, position);
    }

    fn note_targets(&mut self, frame: u32, targets: &[Target], position: usize) {
        let frame = &self.machine.flat.frames[frame as usize];
        let (first, procedure) = (frame.first, frame.procedure);
        let whole = targets.iter().filter(|target| target.indices.is_empty());
        let found = whole.map(|target| match target.variable {
            Var::Global(i) => (i, (None, target.variable)),
            Var::Local(i) => (first + i, (Some(procedure), target.variable)),
        });
        let found = found.collect();
        self.note(found, Some(position));
    }

    /// Remembers which of some variables hold an unknown.
    fn note(&mut self, found: Vec<(u32, (Option<ProcedureId>, Var))>, position: Option<usize>) {
        for (at, variable) in found {
            let value = self.store.get(at);
            if self.machine.terms.name(value).is_some() {
                let unknown = self.unknowns.entry(value);
                let unknown = unknown.or_insert(Unknown { held_by: Vec::new(), position });
                if !unknown.held_by.contains(&variable) {
                    unknown.held_by.push(variable);
                }
            }
        }
    }
}
