//! Which single statement, had it done something else, could have saved a failing run?
//!
//! The inputs are fixed to those of the run, the statement may assign any value or go either way
//! each time it is executed, and everything else is as it is: if no run then ends well, the fault
//! is not in that statement alone. This sharpens a neighbourhood that is too large to be read at a
//! glance; it is not in the document.

use std::collections::BTreeSet;

use wherefore_check::Budget;
use wherefore_check::bounded::{self, Bounded};
use wherefore_program::{ErrorSite, Node, Program, Trace};

use crate::variant::{good_end, relax, with_inputs_of, without_failures};

/// The part of the effort that one statement and one run get at most.
const MOST_PARTS: u32 = 6;

/// Asks for repairs of one program.
pub(crate) struct Repairs<'p> {
    end: Option<ErrorSite>,
    program: Program,
    original: &'p Program,
    budget: Budget,
}

impl<'p> Repairs<'p> {
    /// Prepares a program.
    pub fn new(program: &'p Program, targets: &[ErrorSite], budget: Budget) -> Self {
        let end = good_end(program);
        Self { end, program: without_failures(program, targets), original: program, budget }
    }

    /// Whether a change of the statements at some locations could save a run. None if there is no
    /// time left.
    pub fn is_saved(&self, nodes: &BTreeSet<Node>, trace: &Trace) -> Option<bool> {
        let end = self.end.clone()?;
        let executed = |step: &wherefore_program::Step| {
            let from = self.original.edge(step.edge).from;
            nodes.contains(&Node { procedure: step.edge.procedure, location: from })
        };
        if !trace.steps.iter().any(executed) {
            return Some(false);
        }
        if self.budget.stopped().is_some() {
            return None;
        }
        let mut variant = with_inputs_of(&self.program, trace);
        relax(&mut variant, nodes);
        match bounded::check(&variant, &[end], &self.budget.share(MOST_PARTS), &|_| {}) {
            Bounded::Unsafe { .. } => Some(true),
            Bounded::Safe { .. } => Some(false),
            // What was not found within the limits is not a repair that anyone would look for.
            Bounded::Unknown { .. } => Some(false),
        }
    }
}
