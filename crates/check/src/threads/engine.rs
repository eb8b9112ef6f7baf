//! Schedules as an engine: which way is tried when.

use wherefore_program::{CallGraph, Program, Task};

use super::explicit::{self, Effort};
use super::{ScheduleLimits, eager};
use crate::budget::Budget;
use crate::engine::{Engine, Session};
use crate::verdict::{Answer, CheckError, EngineName, Verdict};

/// A search for a schedule that fails.
#[derive(Clone, Copy, Debug, Default)]
pub struct ScheduleSearch {
    /// How far.
    pub limits: ScheduleLimits,
    /// In which way.
    pub way: Way,
}

/// A way to search schedules.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub enum Way {
    /// What suits the program.
    #[default]
    Auto,
    /// All configurations, one by one.
    Explicit,
    /// As a sequential program.
    Eager,
}

impl Engine for ScheduleSearch {
    fn name(&self) -> EngineName {
        match self.way {
            Way::Auto | Way::Explicit => EngineName::Explicit,
            Way::Eager => EngineName::Eager,
        }
    }

    fn takes(&self, task: &Task) -> Result<(), CheckError> {
        if let Some(at) = task.program.uses_sync() {
            return Err(CheckError::Threads { at });
        }
        match self.way {
            Way::Eager => eager::takes(&task.program),
            Way::Auto | Way::Explicit => Ok(()),
        }
    }

    fn decide(&self, task: &Task, session: &Session, budget: &Budget) -> Answer {
        let work = (session, budget);
        let can_reduce = eager::takes(&task.program).is_ok() && self.way != Way::Explicit;
        // A question about rounds is one for the reduction.
        if self.way == Way::Eager || can_reduce && self.limits.rounds.is_some() {
            return eager::search(task, &self.limits, work);
        }
        if !can_reduce {
            return explicit::search(task, &self.limits, Effort::Much, work).answer;
        }
        // With recursion, the configurations with no switch alone may be infinitely many.
        if !is_recursive(&task.program) {
            let first = explicit::search(task, &self.limits, Effort::Little, work);
            let is_over = first.stop.is_some()
                || self.limits.switches.is_some() && first.covered.switches >= self.limits.switches;
            if is_over || first.answer.verdicts.iter().any(Verdict::is_definite) {
                return first.answer;
            }
        }
        eager::search(task, &self.limits, work)
    }
}

/// Whether some procedure that may run calls itself.
fn is_recursive(program: &Program) -> bool {
    let calls = CallGraph::new(program);
    calls.reachable(program.entry).into_iter().any(|id| calls.is_recursive(id))
}
