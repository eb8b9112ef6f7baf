//! The satisfiability search: limits, and an early end.
//!
//! A solver grows with every term it has met, and most checks are about few of them. The search
//! would give a value to every variable there is. [`Scope`] watches the inputs of the circuits that
//! matter; once all of them have a value and nothing is in conflict, the answer is known:
//! everything else is a definition, or true in the theory of arrays.

use std::cell::Cell;
use std::sync::Arc;
use std::sync::atomic::{AtomicBool, Ordering};

use batsat::{Callbacks, ClauseKind, Lit, Theory, TheoryArg, Var, lbool};

use crate::budget::{Budget, Reason};

/// Calls between two looks at the budget.
const PACE: u32 = 8;

/// Stops the search: at a limit, or when enough is known.
#[derive(Default)]
pub(crate) struct Watch {
    budget: Budget,
    conflicts: u64,
    calls: Cell<u32>,
    exceeded: Cell<Option<Stopped>>,
    enough: Arc<AtomicBool>,
}

#[derive(Clone, Copy)]
enum Stopped {
    Time,
    Work,
    Conflicts,
    Cancelled,
}

impl Watch {
    /// Starts a search with this budget, of which conflicts may be spent already.
    pub(crate) fn start(&mut self, budget: &Budget) -> Arc<AtomicBool> {
        self.budget = budget.clone();
        self.calls.set(0);
        self.exceeded.set(None);
        self.enough.store(false, Ordering::Relaxed);
        Arc::clone(&self.enough)
    }

    /// Forgets the conflicts of earlier searches.
    pub(crate) fn reset_conflicts(&mut self) {
        self.conflicts = 0;
    }

    /// The conflicts since they were forgotten.
    pub(crate) fn conflicts(&self) -> u64 {
        self.conflicts
    }

    /// Why the search was stopped.
    pub(crate) fn reason(&self) -> Reason {
        match self.exceeded.get() {
            Some(Stopped::Conflicts) => Reason::Conflicts,
            Some(Stopped::Cancelled) => Reason::Cancelled,
            Some(Stopped::Work) => Reason::Work,
            Some(Stopped::Time) | None => Reason::Time,
        }
    }
}

impl Callbacks for Watch {
    fn on_new_clause(&mut self, _: &[Lit], kind: ClauseKind) {
        if kind == ClauseKind::Learnt {
            self.conflicts += 1;
        }
    }

    fn stop(&self) -> bool {
        if self.enough.load(Ordering::Relaxed) || self.exceeded.get().is_some() {
            return true;
        }
        if self.budget.conflicts.is_some_and(|most| self.conflicts >= most) {
            self.exceeded.set(Some(Stopped::Conflicts));
            return true;
        }
        let calls = self.calls.get();
        self.calls.set(calls.wrapping_add(1));
        if calls % PACE == 0 {
            match self.budget.look() {
                Err(Reason::Cancelled) => self.exceeded.set(Some(Stopped::Cancelled)),
                Err(Reason::Work) => self.exceeded.set(Some(Stopped::Work)),
                Err(_) => self.exceeded.set(Some(Stopped::Time)),
                Ok(()) => {}
            }
        }
        self.exceeded.get().is_some()
    }
}

/// What matters for one check.
pub(crate) struct Scope<'a> {
    assumptions: &'a [Lit],
    inputs: &'a [Var],
    /// How many of the assumptions, and then of the inputs, are known to have a value.
    cursor: usize,
    levels: Vec<usize>,
    enough: Arc<AtomicBool>,
    values: Option<Vec<bool>>,
}

impl<'a> Scope<'a> {
    pub(crate) fn new(assumptions: &'a [Lit], inputs: &'a [Var], enough: Arc<AtomicBool>) -> Self {
        Self { assumptions, inputs, cursor: 0, levels: Vec::new(), enough, values: None }
    }

    /// The values of the inputs, in their order, if the search has found some.
    pub(crate) fn into_values(self) -> Option<Vec<bool>> {
        self.values
    }

    fn advance(&mut self, search: &TheoryArg) -> bool {
        while let Some(assumption) = self.assumptions.get(self.cursor) {
            let value = search.value(assumption.var());
            if value == lbool::UNDEF || (value == lbool::TRUE) != assumption.sign() {
                return false;
            }
            self.cursor += 1;
        }
        while let Some(input) = self.inputs.get(self.cursor - self.assumptions.len()) {
            if search.value(*input) == lbool::UNDEF {
                return false;
            }
            self.cursor += 1;
        }
        true
    }

    fn finish(&mut self, search: &TheoryArg) {
        if self.values.is_none() && self.advance(search) {
            let value = |input: &Var| search.value(*input) == lbool::TRUE;
            self.values = Some(self.inputs.iter().map(value).collect());
            self.enough.store(true, Ordering::Relaxed);
        }
    }
}

impl Theory for Scope<'_> {
    fn final_check(&mut self, search: &mut TheoryArg) {
        self.finish(search);
    }

    fn partial_check(&mut self, search: &mut TheoryArg) {
        self.finish(search);
    }

    fn create_level(&mut self) {
        self.levels.push(self.cursor);
    }

    fn pop_levels(&mut self, n: usize) {
        let keep = self.levels.len() - n;
        if let Some(cursor) = self.levels.get(keep) {
            self.cursor = *cursor;
        }
        self.levels.truncate(keep);
    }

    fn n_levels(&self) -> usize {
        self.levels.len()
    }

    fn explain_propagation(&mut self, _: Lit) -> &[Lit] {
        unreachable!("the scope never propagates")
    }
}
