//! Budgets, cancellation, and the reasons why an algorithm stopped.

use std::sync::Arc;
use std::sync::atomic::{AtomicBool, Ordering};
use std::time::{Duration, Instant};

/// What a run may spend. The default is unlimited.
#[derive(Clone, Debug, Default)]
pub struct Limits {
    /// Wall-clock time.
    pub time: Option<Duration>,
    /// Transitions taken off the worklist, or expressions evaluated.
    pub steps: Option<u64>,
    /// Bytes of the automaton under construction (what weights share counts in the domain's own
    /// limit).
    pub memory: Option<usize>,
    /// Set to true, from any thread, to stop the run.
    pub cancel: Option<Arc<AtomicBool>>,
}

/// Why a run ended.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub enum StopReason {
    /// Nothing is left to do: the answer is complete.
    Complete,
    /// The caller's goal was met before everything was done.
    Found,
    /// The time limit.
    Time,
    /// The step limit.
    Steps,
    /// The memory limit, of the run or of the weight domain.
    Memory,
    /// The caller asked to stop.
    Cancelled,
}

impl StopReason {
    /// Whether the answer is complete.
    pub fn is_complete(self) -> bool {
        self == Self::Complete
    }

    /// The reason in words, for "unknown, because …".
    pub fn why(self) -> &'static str {
        match self {
            Self::Complete => "everything was explored",
            Self::Found => "the goal was found",
            Self::Time => "the time limit was reached",
            Self::Steps => "the step limit was reached",
            Self::Memory => "the memory limit was reached",
            Self::Cancelled => "the run was cancelled",
        }
    }
}

/// Checks [`Limits`] while a run goes on; looks at the clock only now and then.
#[derive(Clone, Debug)]
pub(crate) struct Meter {
    limits: Limits,
    deadline: Option<Instant>,
    steps: u64,
}

/// Steps between two looks at the clock.
const PACE: u64 = 256;

impl Meter {
    pub fn new(limits: &Limits) -> Self {
        Self {
            deadline: limits.time.and_then(|time| Instant::now().checked_add(time)),
            limits: limits.clone(),
            steps: 0,
        }
    }

    /// Counts one step; `bytes` is asked for only when it is time to look.
    pub fn tick(&mut self, bytes: impl FnOnce() -> usize) -> Result<(), StopReason> {
        if self.limits.steps.is_some_and(|most| self.steps >= most) {
            return Err(StopReason::Steps);
        }
        if self.steps % PACE == 0 {
            self.look(bytes)?;
        }
        self.steps += 1;
        Ok(())
    }

    fn look(&self, bytes: impl FnOnce() -> usize) -> Result<(), StopReason> {
        if let Some(cancel) = &self.limits.cancel {
            if cancel.load(Ordering::Relaxed) {
                return Err(StopReason::Cancelled);
            }
        }
        if self.deadline.is_some_and(|deadline| Instant::now() >= deadline) {
            return Err(StopReason::Time);
        }
        if self.limits.memory.is_some_and(|most| bytes() > most) {
            return Err(StopReason::Memory);
        }
        Ok(())
    }

    pub fn steps(&self) -> u64 {
        self.steps
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn each_limit_names_itself() {
        let stop = |limits: Limits| {
            let mut meter = Meter::new(&limits);
            (0..10).find_map(|_| meter.tick(|| 100).err())
        };
        assert_eq!(stop(Limits::default()), None);
        assert_eq!(stop(Limits { steps: Some(3), ..Limits::default() }), Some(StopReason::Steps));
        assert_eq!(stop(Limits { memory: Some(99), ..Limits::default() }), Some(StopReason::Memory));
        let time = Some(Duration::ZERO);
        assert_eq!(stop(Limits { time, ..Limits::default() }), Some(StopReason::Time));
        let cancel = Some(Arc::new(AtomicBool::new(true)));
        assert_eq!(stop(Limits { cancel, ..Limits::default() }), Some(StopReason::Cancelled));
    }
}
