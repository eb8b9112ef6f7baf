//! What a check may spend, and why it stopped.

use std::sync::Arc;
use std::sync::atomic::{AtomicBool, AtomicU64, Ordering};
use std::time::{Duration, Instant};

/// What one check may spend. The default is unlimited.
#[derive(Clone, Debug, Default)]
pub struct Budget {
    /// The moment to stop at.
    pub deadline: Option<Instant>,
    /// Conflicts of the satisfiability search; external solvers do not count them.
    pub conflicts: Option<u64>,
    /// Set to true, from any thread, to stop the check.
    pub cancel: Option<Arc<AtomicBool>>,
    /// Work, counted in steps that do not depend on the machine.
    pub work: Option<Work>,
}

/// A limit on work. Every loop that may take long looks at its budget, and each look is a step: so
/// the same question with the same limit has the same answer on every machine.
#[derive(Clone, Debug)]
pub struct Work {
    done: Arc<AtomicU64>,
    until: u64,
}

impl Work {
    /// So many steps from now on.
    pub fn new(steps: u64) -> Self {
        Self { done: Arc::default(), until: steps }
    }

    /// At most so many of the steps that are left.
    pub fn part(&self, steps: u64) -> Self {
        let until = self.until.min(self.done.load(Ordering::Relaxed).saturating_add(steps));
        Self { done: self.done.clone(), until }
    }

    /// The steps that are left.
    pub fn left(&self) -> u64 {
        self.until.saturating_sub(self.done.load(Ordering::Relaxed))
    }

    /// Counts steps.
    pub fn spend(&self, steps: u64) {
        self.done.fetch_add(steps, Ordering::Relaxed);
    }
}

/// Why there is no answer.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Reason {
    /// The deadline has passed.
    Time,
    /// The limit of conflicts.
    Conflicts,
    /// The limit on work.
    Work,
    /// The caller asked to stop.
    Cancelled,
    /// An external solver gave up or failed, in its words.
    Solver(String),
}

impl Reason {
    /// The reason in words, for "unknown, because …".
    pub fn why(&self) -> &str {
        match self {
            Reason::Time => "the time limit was reached",
            Reason::Conflicts => "the limit of conflicts was reached",
            Reason::Work => "the effort was spent",
            Reason::Cancelled => "the run was cancelled",
            Reason::Solver(words) => words,
        }
    }
}

impl Budget {
    /// A budget of time from now on.
    pub fn time(time: Duration) -> Self {
        Self { deadline: Instant::now().checked_add(time), ..Self::default() }
    }

    /// Whether time is up, the work is done or the caller asked to stop. Counts as a step of work.
    pub fn look(&self) -> Result<(), Reason> {
        if let Some(work) = &self.work {
            work.spend(1);
            if work.left() == 0 {
                return Err(Reason::Work);
            }
        }
        if self.cancel.as_ref().is_some_and(|cancel| cancel.load(Ordering::Relaxed)) {
            return Err(Reason::Cancelled);
        }
        if self.deadline.is_some_and(|deadline| Instant::now() >= deadline) {
            return Err(Reason::Time);
        }
        Ok(())
    }
}
