//! Weakest preconditions of edges: what must hold before an edge so that a formula holds behind it.
//!
//! The check of a proof goes backwards, edge by edge, and has its own meaning of expressions and
//! operations (`meaning.rs`), unlike the engine, which executes blocks forwards
//! (`symbolic/machine.rs`). It knows nothing of blocks, predicates, diagrams and saturation. What
//! it shares with the engine is the graph with folded calls, the terms, and the solver: an error
//! in anything else is found here.

use rustc_hash::FxHashMap;
use wherefore_program::{Call, Expr, Operation, ProcedureId, Program, Target, Type, Var};
use wherefore_smt::{Term, Terms};

use crate::meaning::{Changes, Entered, Held, Here, Meaning, type_sort};
use crate::symbolic::PlaceId;
use crate::symbolic::flat::{Flat, Move};

/// Preconditions of the edges of a program.
pub(super) struct Preconditions<'p, 'a> {
    pub(super) meaning: Meaning<'p, 'a>,
    pub(super) flat: &'p Flat<'a>,
    /// The terms that invariants name variables with, by the numbers of the variables.
    names: FxHashMap<u32, Term>,
    /// What always holds, where something is said.
    invariants: FxHashMap<PlaceId, Term>,
}

/// Where an expression is read: the procedure, and the number of its first variable.
#[derive(Clone, Copy)]
pub(super) struct Scope {
    pub procedure: ProcedureId,
    pub first: u32,
}

/// The names of the variables that can be seen in a scope; new ones where there are none.
struct Named<'n> {
    program: &'n Program,
    scope: Scope,
    names: &'n mut FxHashMap<u32, Term>,
}

impl Held for Named<'_> {
    fn held(&mut self, terms: &mut Terms, variable: Var) -> Term {
        let ty = &self.program.variable(self.scope.procedure, variable).ty;
        name(terms, self.names, number(self.scope, variable), ty)
    }
}

fn name(terms: &mut Terms, names: &mut FxHashMap<u32, Term>, number: u32, ty: &Type) -> Term {
    *names.entry(number).or_insert_with(|| terms.variable(&format!("proof {number}"), type_sort(ty)))
}

impl<'p, 'a> Preconditions<'p, 'a> {
    /// For formulas over the variables with these names, at places with these invariants.
    pub fn new(
        terms: &'p mut Terms,
        flat: &'p Flat<'a>,
        names: FxHashMap<u32, Term>,
        invariants: FxHashMap<PlaceId, Term>,
    ) -> Self {
        Self { meaning: Meaning::new(terms, flat.program), flat, names, invariants }
    }

    /// The values at the start, by the names of what has them, and the condition on them. The
    /// number is that of the first variable of the outermost procedure.
    pub fn initial_values(&mut self, first: u32) -> (FxHashMap<Term, Term>, Term) {
        let program = self.flat.program;
        let mut changes = FxHashMap::default();
        let globals = program.globals.iter().zip(0..);
        let locals = program.procedure(program.entry).variables.iter().zip(first..);
        let mut possible = Terms::TRUE;
        for (variable, number) in globals.chain(locals) {
            let (value, fits) = self.meaning.initial(variable);
            possible = self.meaning.terms.and(possible, fits);
            changes.insert(name(self.meaning.terms, &mut self.names, number, &variable.ty), value);
        }
        (changes, possible)
    }

    /// What must hold before an edge so that the invariant of the next place with one holds when
    /// the run gets there. None if there is no such place.
    pub fn before_chain(&mut self, edge: u32) -> Option<Term> {
        let mut chain = vec![edge];
        let mut at = self.flat.edges[edge as usize].to;
        while !self.invariants.contains_key(&at) {
            let [next] = self.flat.out[at as usize][..] else { return None };
            // Nothing else may leave the place: no call with a summary, no return.
            let (procedure, location) =
                (self.flat.frame_of(at).procedure, self.flat.places[at as usize].location);
            let leaving = self.flat.program.procedure(procedure).edges_from(location).count();
            if leaving != 1 || chain.len() > self.flat.edges.len() {
                return None;
            }
            chain.push(next);
            at = self.flat.edges[next as usize].to;
        }
        let mut needed = self.invariants[&at];
        for edge in chain.into_iter().rev() {
            needed = self.before(edge, needed);
        }
        Some(needed)
    }

    /// Reads something where a scope is seen.
    fn read<R>(&mut self, scope: Scope, work: impl FnOnce(&mut Meaning<'p, 'a>, &mut Here<'_>) -> R) -> R {
        let mut values = Named { program: self.flat.program, scope, names: &mut self.names };
        work(&mut self.meaning, &mut Here { procedure: scope.procedure, values: &mut values })
    }

    /// The weakest precondition of an edge.
    fn before(&mut self, edge: u32, after: Term) -> Term {
        let flat_edge = self.flat.edges[edge as usize];
        let program = self.flat.program;
        let frame = self.flat.frame_of(flat_edge.from);
        let scope = Scope { procedure: frame.procedure, first: frame.first };
        match (&program.edge(flat_edge.edge).operation, flat_edge.kind) {
            (Operation::Assume(condition), _) => {
                let (holds, possible) = self.read(scope, |meaning, here| meaning.value(here, condition));
                let goes_on = self.meaning.terms.and(possible, holds);
                self.meaning.terms.implies(goes_on, after)
            }
            (Operation::Assign(assignment), _) => {
                let changed = self.read(scope, |meaning, here| meaning.assigned(here, assignment));
                self.before_changes(scope, changed, after)
            }
            (Operation::Havoc(targets), _) => {
                let changed = self.read(scope, |meaning, here| meaning.havocked(here, targets));
                self.before_changes(scope, changed, after)
            }
            (Operation::Call(call), Move::Enter(callee)) => {
                let (mut all, locals, possible) = self.called(scope, call);
                let callee = &self.flat.frames[callee as usize];
                let inner = Scope { procedure: callee.procedure, first: callee.first };
                let parameters = (0..).map(Var::Local).zip(locals).collect();
                all.extend(self.by_name(inner, parameters));
                let needed = self.meaning.terms.substitute(after, &all);
                self.meaning.terms.implies(possible, needed)
            }
            (Operation::Return(values), Move::Leave) => {
                let Some((caller, call)) = frame.caller else { return after };
                let Operation::Call(call) = &program.edge(call).operation else { return after };
                let caller = &self.flat.frames[caller as usize];
                let outer = Scope { procedure: caller.procedure, first: caller.first };
                let (results, possible) = self.results(scope, values);
                let needed = self.before_results(outer, call, &results, after);
                self.meaning.terms.implies(possible, needed)
            }
            // A call or a return that is not folded has no edge; a program with threads is refused.
            (Operation::Call(_) | Operation::Return(_), _)
            | (
                Operation::Skip
                | Operation::StartThread(_)
                | Operation::EndThread
                | Operation::AtomicBegin
                | Operation::AtomicEnd
                | Operation::Sync,
                _,
            ) => after,
        }
    }

    /// A call: the changes of its assignment by name, the values of the callee's variables, and the
    /// condition that it can be made.
    pub fn called(&mut self, scope: Scope, call: &Call) -> (FxHashMap<Term, Term>, Vec<Term>, Term) {
        let Entered { changes, locals, possible } =
            self.read(scope, |meaning, here| meaning.entered(here, call));
        (self.by_name(scope, changes), locals, possible)
    }

    /// The values that a return hands over, and the condition that it can.
    pub fn results(&mut self, scope: Scope, values: &[Expr]) -> (Vec<Term>, Term) {
        let mut possible = Terms::TRUE;
        let mut results = Vec::new();
        for value in values {
            let (value, fits) = self.read(scope, |meaning, here| meaning.value(here, value));
            possible = self.meaning.terms.and(possible, fits);
            results.push(value);
        }
        (results, possible)
    }

    /// What must hold before the results of a call are written.
    pub fn before_results(&mut self, outer: Scope, call: &Call, results: &[Term], after: Term) -> Term {
        let mut needed = after;
        // Indices of a result are read when those before it are written, so the last comes first.
        for (value, target) in results.iter().zip(&call.results).rev() {
            let Some(target) = target else { continue };
            let ty = self.flat.program.variable(outer.procedure, target.variable).ty.element();
            let value = self.meaning.fitted(*value, ty);
            needed = self.before_write(outer, target, value, needed);
        }
        needed
    }

    fn before_write(&mut self, scope: Scope, target: &Target, value: Term, after: Term) -> Term {
        let targets = std::slice::from_ref(target);
        let changed = self.read(scope, |meaning, here| meaning.written(here, targets, &[value]));
        self.before_changes(scope, changed, after)
    }

    fn before_changes(&mut self, scope: Scope, (changes, possible): (Changes, Term), after: Term) -> Term {
        let changes = self.by_name(scope, changes);
        let needed = self.meaning.terms.substitute(after, &changes);
        self.meaning.terms.implies(possible, needed)
    }

    /// Changes by the names of what changes.
    fn by_name(&mut self, scope: Scope, changes: Changes) -> FxHashMap<Term, Term> {
        let mut values = Named { program: self.flat.program, scope, names: &mut self.names };
        changes
            .into_iter()
            .map(|(variable, value)| (values.held(self.meaning.terms, variable), value))
            .collect()
    }
}

fn number(scope: Scope, variable: Var) -> u32 {
    match variable {
        Var::Global(i) => i,
        Var::Local(i) => scope.first + i,
    }
}
