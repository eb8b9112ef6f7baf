//! Schedules as an engine: which way is tried when.

use wherefore_program::{CallGraph, Program, Task};

use super::explicit::{self, Effort};
use super::{ScheduleLimits, eager, lazy};
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
    /// As a sequential program over copies.
    Eager,
    /// As a sequential program with a scheduler.
    Lazy,
}

impl Engine for ScheduleSearch {
    fn name(&self) -> EngineName {
        match self.way {
            Way::Auto | Way::Explicit => EngineName::Explicit,
            Way::Eager => EngineName::Eager,
            Way::Lazy => EngineName::Lazy,
        }
    }

    fn takes(&self, task: &Task) -> Result<(), CheckError> {
        if let Some(at) = task.program.uses_sync() {
            return Err(CheckError::Threads { at });
        }
        match self.way {
            Way::Eager => eager::takes(&task.program),
            Way::Auto | Way::Explicit | Way::Lazy => Ok(()),
        }
    }

    fn decide(&self, task: &Task, session: &Session, budget: &Budget) -> Answer {
        let work = (session, budget);
        let can_reduce = eager::takes(&task.program).is_ok() && self.way != Way::Explicit;
        // A question about rounds is one for the reduction.
        if self.way == Way::Eager || can_reduce && self.limits.rounds.is_some() {
            return eager::search(task, &self.limits, work);
        }
        if self.way == Way::Explicit {
            return explicit::search(task, &self.limits, Effort::Much, work).answer;
        }
        if !can_reduce || self.way == Way::Lazy {
            return self.with_large_data(task, work);
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

impl ScheduleSearch {
    /// A part of the time for explicit search, the rest for bounded checking; what of the two knows
    /// more is the answer.
    fn with_large_data(&self, task: &Task, (session, budget): (&Session, &Budget)) -> Answer {
        let some = match self.way {
            Way::Lazy => None,
            _ => {
                let part = if budget.deadline.is_some() { budget.share(2) } else { budget.within(FIRST) };
                let found = explicit::search(task, &self.limits, Effort::Much, (session, &part));
                if found.answer.verdicts.iter().any(Verdict::is_definite) {
                    return found.answer;
                }
                Some(found)
            }
        };
        let other = lazy::search(task, &self.limits, (session, budget));
        match (some, other) {
            (Some(some), Some(other)) => {
                let is_better = other.verdicts.iter().any(Verdict::is_definite)
                    || other
                        .facts
                        .threads
                        .is_some_and(|facts| facts.covered.switches > some.covered.switches);
                if is_better { other } else { some.answer }
            }
            (Some(some), None) => some.answer,
            (None, Some(other)) => other,
            (None, None) => explicit::search(task, &self.limits, Effort::Much, (session, budget)).answer,
        }
    }
}

/// How long explicit search takes without a limit before bounded checking has a try.
const FIRST: std::time::Duration = std::time::Duration::from_secs(20);

/// Whether some procedure that may run calls itself.
fn is_recursive(program: &Program) -> bool {
    let calls = CallGraph::new(program);
    calls.reachable(program.entry).into_iter().any(|id| calls.is_recursive(id))
}
