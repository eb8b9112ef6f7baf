//! What a check may spend, and why it stopped.

use std::sync::Arc;
use std::sync::atomic::{AtomicBool, Ordering};
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
}

/// Why there is no answer.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Reason {
    /// The deadline has passed.
    Time,
    /// The limit of conflicts.
    Conflicts,
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

    /// Whether time is up or the caller asked to stop.
    pub fn look(&self) -> Result<(), Reason> {
        if self.cancel.as_ref().is_some_and(|cancel| cancel.load(Ordering::Relaxed)) {
            return Err(Reason::Cancelled);
        }
        if self.deadline.is_some_and(|deadline| Instant::now() >= deadline) {
            return Err(Reason::Time);
        }
        Ok(())
    }
}
