//! Programs with threads: whether some schedule fails, and with how many context switches.
//!
//! `docs/threads.md` says what a schedule is and how switches are counted. An answer is *unsafe*
//! with a schedule that the interpreter of `wherefore-program` has replayed; *safe* only for every
//! number of switches; else it says within how many switches no schedule fails ([`Covered`]).
//!
//! # Reading order
//! 1. `engine.rs`: which way is tried when.
//! 2. `explicit.rs`: all configurations, one by one, in the order of their switches. A finite
//!    search that has seen everything is a proof for every number of switches.
//! 3. `eager`: \[Lal09\] §7.1: a bounded number of contexts as one sequential program, which the
//!    exact engine decides, for all depths of recursion.
//! 4. `events`: all orders of the events of unrolled threads as one formula, for data of any size.
//! 5. `random.rs`: random schedules; finds failures only.
//! 6. `modular`: invariants of pairs of threads, for any number of them; proves only.
//! 7. `why.rs`: which switches of a failing schedule matter, and where they may happen; `repair`:
//!    changes after which no schedule fails.

pub mod eager;
mod engine;
mod events;
mod explicit;
mod modular;
mod random;
pub mod repair;
pub mod why;

use std::sync::Arc;

use wherefore_program::{Interpreter, Program, ThreadTrace};

pub use engine::{ScheduleSearch, Way};

use crate::verdict::{EngineName, FailingRun};

/// How far schedules are searched.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct ScheduleLimits {
    /// At most so many context switches; none is as many as there is time for.
    pub switches: Option<usize>,
    /// At most so many rounds, each with one context of every thread; none is any number.
    pub rounds: Option<usize>,
    /// At most so many threads, with the first one.
    pub threads: Option<usize>,
}

/// Within which bounds no schedule fails.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Covered {
    /// No schedule with so many context switches fails; none if nothing is known.
    pub switches: Option<usize>,
    /// No schedule of so many rounds fails, where that was asked.
    pub rounds: Option<usize>,
    /// The most threads that were followed, where there may be more.
    pub threads: Option<usize>,
    /// Inputs were not tried with all of their values.
    pub some_values: bool,
}

impl Covered {
    /// The bounds in words: "no failure within 3 switches and 4 threads".
    pub fn words(&self) -> String {
        let count = |n: usize, noun: &str| format!("{n} {noun}{}", if n == 1 { "" } else { "s" });
        let mut parts = Vec::new();
        parts.extend(
            self.switches.map(|n| if n == 1 { "1 switch".to_owned() } else { format!("{n} switches") }),
        );
        parts.extend(self.rounds.map(|n| count(n, "round")));
        if self.switches.is_none() && self.rounds.is_none() {
            return "not even schedules without a switch were all searched".to_owned();
        }
        parts.extend(self.threads.map(|n| count(n, "thread")));
        format!("no failure within {}", parts.join(" and "))
    }
}

/// A schedule that fails.
#[derive(Clone, Debug)]
pub struct Schedule {
    /// The run.
    pub trace: ThreadTrace,
    /// How many context switches it has.
    pub switches: usize,
    /// Whether no failing schedule has fewer.
    pub fewest: bool,
}

/// A failing run by its schedule, if the interpreter can run it.
fn failing_run(
    program: &Program,
    trace: ThreadTrace,
    fewest: bool,
    (target, by): (usize, EngineName),
) -> Option<FailingRun> {
    Interpreter::new(program).replay_threads(&trace).ok()?;
    let flat = trace.flat(program);
    let switches = trace.switches(program);
    let schedule = Some(Arc::new(Schedule { trace, switches, fewest }));
    Some(FailingRun { schedule, ..FailingRun::of_trace(flat, target, by) })
}
