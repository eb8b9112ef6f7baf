//! Schedules as an engine: which way is tried when.

use std::time::Duration;

use wherefore_program::{CallGraph, Program, Task, thread_starts};

use super::explicit::{self, Effort};
use super::{Covered, ScheduleLimits, eager, events, modular, random};
use crate::budget::Budget;
use crate::engine::{Engine, Session};
use crate::verdict::{Answer, CheckError, EngineName, Verdict, Why};

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
    /// As an order of events.
    Events,
    /// By invariants of pairs of threads.
    Modular,
    /// Random schedules.
    Random,
}

impl Engine for ScheduleSearch {
    fn name(&self) -> EngineName {
        match self.way {
            Way::Auto | Way::Explicit => EngineName::Explicit,
            Way::Eager => EngineName::Eager,
            Way::Events => EngineName::Events,
            Way::Modular => EngineName::Modular,
            Way::Random => EngineName::RandomRuns,
        }
    }

    fn takes(&self, task: &Task) -> Result<(), CheckError> {
        if let Some(at) = task.program.uses_sync() {
            return Err(CheckError::Threads { at });
        }
        match self.way {
            Way::Auto | Way::Explicit => Ok(()),
            // The others ask whether runs come to a place.
            _ if asks_about_deadlocks(task) => {
                Err(CheckError::Deadlocks { at: task.program.procedure(task.program.entry).span })
            }
            Way::Eager => eager::takes(&task.program),
            Way::Events | Way::Modular | Way::Random => Ok(()),
        }
    }

    fn decide(&self, task: &Task, session: &Session, budget: &Budget) -> Answer {
        let work = (session, budget);
        if asks_about_deadlocks(task) {
            let effort = if self.way == Way::Explicit { Effort::Much } else { Effort::Little };
            return explicit::search(task, &self.limits, effort, work).answer;
        }
        let can_reduce = eager::takes(&task.program).is_ok() && self.way != Way::Explicit;
        // A question about rounds is one for the reduction.
        if self.way == Way::Eager || can_reduce && self.limits.rounds.is_some() {
            return eager::search(task, &self.limits, work);
        }
        if self.way == Way::Modular {
            return modular::prove(task, budget).unwrap_or_else(|| events::nothing(task));
        }
        if self.way == Way::Random {
            return random::search(task, &self.limits, budget).unwrap_or_else(|| events::nothing(task));
        }
        if self.way == Way::Events {
            return events::search(task, &self.limits, Covered::default(), work);
        }
        if self.way == Way::Explicit {
            return explicit::search(task, &self.limits, Effort::Much, work).answer;
        }
        if !can_reduce {
            return self.with_large_data(task, work);
        }
        // With recursion, the configurations with no switch alone may be infinitely many.
        if is_recursive(&task.program) {
            return eager::search(task, &self.limits, work);
        }
        let first = explicit::search(task, &self.limits, Effort::Little, (session, &part(budget, 2, LITTLE)));
        let is_over = budget.stopped().is_some()
            || self.limits.switches.is_some() && first.covered.switches >= self.limits.switches;
        if is_over || first.answer.verdicts.iter().any(Verdict::is_definite) {
            return first.answer;
        }
        let eager = eager::search(task, &self.limits, work);
        let is_better = eager.verdicts.iter().any(Verdict::is_definite)
            || eager.facts.threads.and_then(|facts| facts.covered.switches) > first.covered.switches;
        if is_better { eager } else { first.answer }
    }
}

impl ScheduleSearch {
    /// Explicit search for a while, random schedules, then orders of events, then explicit search
    /// with what time is left; what knows most is the answer.
    fn with_large_data(&self, task: &Task, (session, budget): (&Session, &Budget)) -> Answer {
        let part = |divisor: u32, else_time: Duration| part(budget, divisor, else_time);
        let first = explicit::search(task, &self.limits, Effort::Much, (session, &part(10, FIRST)));
        let fails = |answer: &Answer| answer.verdicts.iter().any(|verdict| verdict.run().is_some());
        // That some checks hold does not end the search for a schedule on which others fail.
        let is_decided = |answer: &Answer| fails(answer) || answer.verdicts.iter().all(Verdict::is_definite);
        // What stopped for another reason than the time does not change its mind.
        let is_over = first.stop.is_none();
        if is_decided(&first.answer) {
            return first.answer;
        }
        if let Some(found) = random::search(task, &self.limits, &part(6, FIRST)) {
            // A schedule with fewer switches is easier to understand.
            let time = budget.left().map_or(FIRST, |left| FIRST.min(left / 4));
            let fewer = events::search(task, &self.limits, first.covered, (session, &budget.within(time)));
            return if fails(&fewer) { fewer } else { found };
        }
        let asks_all = self.limits.switches.is_none() && self.limits.threads.is_none();
        // Where threads are started for ever, unrolling proves nothing.
        let is_endless = thread_starts(&task.program).most().is_none();
        let events = part(if is_endless { 3 } else { 2 }, EVENTS);
        let events = events::search(task, &self.limits, first.covered, (session, &events));
        let knowledge = |answer: &Answer| {
            let definite = answer.verdicts.iter().filter(|verdict| verdict.is_definite()).count();
            (definite, answer.facts.threads.and_then(|facts| facts.covered.switches))
        };
        if is_decided(&events) {
            return events;
        }
        if asks_all && !matches!(events.verdicts.first(), Some(Verdict::Unknown(Why::NoRun(_)))) {
            let part = if is_endless { budget.clone() } else { part(2, EVENTS) };
            if let Some(proof) = modular::prove(task, &part) {
                return proof;
            }
        }
        let better = |other: Answer| match !fails(&other) && knowledge(&events) > knowledge(&other) {
            true => events,
            false => other,
        };
        if is_over {
            return better(first.answer);
        }
        let last = explicit::search(task, &self.limits, Effort::Much, (session, budget));
        better(last.answer)
    }
}

/// A part of the time that is left; if there is no limit, a fixed time.
fn part(budget: &Budget, divisor: u32, else_time: Duration) -> Budget {
    match budget.deadline {
        Some(_) => budget.share(divisor),
        None => budget.within(else_time),
    }
}

/// How long explicit search of few data takes before the reduction if there is no limit.
const LITTLE: Duration = Duration::from_secs(30);

/// How long explicit search takes first if there is no limit.
const FIRST: Duration = Duration::from_secs(5);

/// How long orders of events are searched if there is no limit.
const EVENTS: Duration = Duration::from_secs(60);

/// Whether it is a failure that threads wait somewhere and none can move.
fn asks_about_deadlocks(task: &Task) -> bool {
    task.checks.iter().any(|site| site.is_waiting_place(&task.program))
}

/// Whether some procedure that may run calls itself.
fn is_recursive(program: &Program) -> bool {
    let calls = CallGraph::new(program);
    calls.reachable(program.entry).into_iter().any(|id| calls.is_recursive(id))
}
