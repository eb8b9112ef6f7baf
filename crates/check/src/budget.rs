//! What a question may spend: made once, where the question comes in, and handed down.

use std::sync::Arc;
use std::sync::atomic::{AtomicBool, Ordering};
use std::time::{Duration, Instant};

use wherefore_pushdown::{Limits, StopReason};
use wherefore_smt::Work;

/// What a question may spend. The default is unlimited.
#[derive(Clone, Debug, Default)]
pub struct Budget {
    /// The moment to stop at.
    pub deadline: Option<Instant>,
    /// Steps: rules applied by saturation, iterations of refinement, iterations of each loop.
    pub steps: Option<u64>,
    /// Bytes: of decision diagrams, and of the process where engines run on threads of their own.
    pub memory: Option<usize>,
    /// Set to true, from any thread, to stop.
    pub cancel: Option<Arc<AtomicBool>>,
    /// Work, counted in steps that do not depend on the machine: engines then run one after the
    /// other, so that the same question has the same answer.
    pub work: Option<Work>,
}

impl Budget {
    /// A budget of time from now on.
    pub fn time(time: Duration) -> Self {
        Self { deadline: Instant::now().checked_add(time), ..Self::default() }
    }

    /// Limits that begin to count now.
    pub fn from_limits(limits: &Limits) -> Self {
        Self {
            deadline: limits.time.and_then(|time| Instant::now().checked_add(time)),
            steps: limits.steps,
            memory: limits.memory,
            cancel: limits.cancel.clone(),
            work: None,
        }
    }

    /// The time that is left; none if it is unlimited.
    pub fn left(&self) -> Option<Duration> {
        self.deadline.map(|deadline| deadline.saturating_duration_since(Instant::now()))
    }

    /// The same, but for at most so long from now on.
    pub fn within(&self, time: Duration) -> Self {
        let end = Instant::now().checked_add(time);
        let deadline = match (self.deadline, end) {
            (Some(deadline), Some(end)) => Some(deadline.min(end)),
            (deadline, end) => deadline.or(end),
        };
        Self { deadline, ..self.clone() }
    }

    /// One of `parts` equal parts of the time and the work that are left.
    pub fn share(&self, parts: u32) -> Self {
        let parts = parts.max(1);
        let work = self.work.as_ref().map(|work| work.part(work.left() / u64::from(parts)));
        let shared = self.left().map_or_else(|| self.clone(), |left| self.within(left / parts));
        Self { work, ..shared }
    }

    /// The same, but for at most so many steps of work from now on.
    pub fn spending(&self, steps: u64) -> Self {
        let work = self.work.as_ref().map_or_else(|| Work::new(steps), |work| work.part(steps));
        Self { work: Some(work), ..self.clone() }
    }

    /// Counts steps of work that are not counted where they are done.
    pub fn spend(&self, steps: u64) {
        if let Some(work) = &self.work {
            work.spend(steps);
        }
    }

    /// The same with another flag for cancellation.
    pub fn cancelled_by(&self, cancel: &Arc<AtomicBool>) -> Self {
        Self { cancel: Some(cancel.clone()), ..self.clone() }
    }

    /// The limit that was met, if one was.
    pub fn stopped(&self) -> Option<StopReason> {
        if self.cancel.as_ref().is_some_and(|cancel| cancel.load(Ordering::Relaxed)) {
            return Some(StopReason::Cancelled);
        }
        if self.work.as_ref().is_some_and(|work| work.left() == 0) {
            return Some(StopReason::Steps);
        }
        self.left().filter(Duration::is_zero).map(|_| StopReason::Time)
    }

    /// What is left, for a saturation.
    pub fn limits(&self) -> Limits {
        Limits { time: self.left(), steps: self.steps, memory: self.memory, cancel: self.cancel.clone() }
    }

    /// What is left, for a solver.
    pub fn solver(&self) -> wherefore_smt::Budget {
        let (cancel, work) = (self.cancel.clone(), self.work.clone());
        wherefore_smt::Budget { deadline: self.deadline, conflicts: None, cancel, work }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_part_never_ends_later_than_the_whole() {
        let whole = Budget::time(Duration::from_secs(10));
        assert!(whole.within(Duration::from_secs(60)).deadline <= whole.deadline);
        assert!(whole.within(Duration::from_secs(1)).deadline < whole.deadline);
        assert!(whole.share(2).left() <= Some(Duration::from_secs(5)));
        assert_eq!(Budget::default().share(2).deadline, None);
        assert!(Budget::default().within(Duration::ZERO).stopped() == Some(StopReason::Time));
    }
}
