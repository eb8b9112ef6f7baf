//! Which variables of a program a domain speaks of, and their numbers there.
//!
//! \[Lal09\] §3.5.1: the locals of all procedures share slots. First come globals, then values that
//! are returned, which the caller takes over and forgets, then locals.

use wherefore_program::{ProcedureId, Program, Type, Var, Variable};

use crate::claim::Place;

/// The numbers of variables.
#[derive(Clone, Debug)]
pub(crate) struct Slots {
    globals: Vec<Option<usize>>,
    locals: Vec<Vec<Option<usize>>>,
    first_result: usize,
    /// How many slots keep their values over calls: globals and results.
    pub shared: usize,
    /// How many slots there are.
    pub count: usize,
}

impl Slots {
    /// Slots for the single values that `takes` accepts.
    pub fn new(program: &Program, takes: impl Fn(&Variable) -> bool) -> Self {
        let takes = |variable: &Variable| matches!(variable.ty, Type::Scalar(_)) && takes(variable);
        let number = |variables: &[Variable], first: usize| {
            let mut next = first;
            let mut slot = |variable: &Variable| {
                takes(variable).then(|| {
                    next += 1;
                    next - 1
                })
            };
            let slots: Vec<Option<usize>> = variables.iter().map(&mut slot).collect();
            (slots, next)
        };
        let (globals, first_result) = number(&program.globals, 0);
        let results = program.procedures.iter().map(|procedure| procedure.results.len()).max().unwrap_or(0);
        let shared = first_result + results;
        let mut count = shared;
        let locals = program.procedures.iter().map(|procedure| {
            let (slots, next) = number(&procedure.variables, shared);
            count = count.max(next);
            slots
        });
        let locals = locals.collect();
        Self { globals, locals, first_result, shared, count }
    }

    /// The slot of a variable.
    pub fn of(&self, procedure: ProcedureId, variable: Var) -> Option<usize> {
        match variable {
            Var::Global(i) => self.globals[i as usize],
            Var::Local(i) => self.locals[procedure.0 as usize][i as usize],
        }
    }

    /// The slot of a value that is returned.
    pub fn result(&self, number: usize) -> usize {
        self.first_result + number
    }

    /// What is in a slot, at a location of a procedure.
    pub fn place(&self, procedure: ProcedureId, slot: usize) -> Option<Place> {
        let position = |slots: &[Option<usize>]| slots.iter().position(|other| *other == Some(slot));
        if slot >= self.shared {
            let local = position(&self.locals[procedure.0 as usize])?;
            return Some(Place::Now(Var::Local(local as u32)));
        }
        if slot >= self.first_result {
            return Some(Place::Result((slot - self.first_result) as u32));
        }
        position(&self.globals).map(|global| Place::Now(Var::Global(global as u32)))
    }
}
