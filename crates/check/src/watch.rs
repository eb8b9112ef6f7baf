//! Limits that hold even while an engine does not look at them.
//!
//! Engines look at the clock between their operations. One of these can take long: a question to
//! the solver, a run of many steps that is read from a model, a large unrolling that is thrown
//! away. So engines for C run on threads of their own, and the portfolio stops waiting a little
//! after a limit, with what they have told so far. The thread ends with the process at the latest.

use std::sync::atomic::{AtomicBool, Ordering};
use std::sync::{Arc, mpsc};
use std::time::{Duration, Instant};

use wherefore_pushdown::StopReason;

use crate::budget::Budget;

/// How long to wait between two looks at the limits.
const PAUSE: Duration = Duration::from_millis(20);

/// How long an engine may take to notice that its time is over, or that it was asked to stop.
const NOTICE: Duration = Duration::from_millis(250);

/// Waits for engines.
pub(crate) struct Watch {
    deadline: Option<Instant>,
    memory: Option<usize>,
    outer: Option<Arc<AtomicBool>>,
    /// Set when the engines shall stop.
    pub cancel: Arc<AtomicBool>,
    /// The limit that was met, and when waiting is over.
    stopped: Option<(StopReason, Instant)>,
}

impl Watch {
    /// From now on.
    pub fn new(budget: &Budget) -> Self {
        Self {
            deadline: budget.deadline,
            memory: budget.memory,
            outer: budget.cancel.clone(),
            cancel: Arc::default(),
            stopped: None,
        }
    }

    /// The next answer; none if there will be none, or none that is worth waiting for.
    pub fn next<T>(&mut self, answers: &mpsc::Receiver<T>) -> Option<T> {
        loop {
            match answers.recv_timeout(PAUSE) {
                Ok(answer) => return Some(answer),
                Err(mpsc::RecvTimeoutError::Disconnected) => return None,
                Err(mpsc::RecvTimeoutError::Timeout) => self.look(),
            }
            if self.stopped.is_some_and(|(_, end)| Instant::now() >= end) {
                return None;
            }
        }
    }

    /// The limit that was met.
    pub fn stopped(&self) -> Option<StopReason> {
        self.stopped.map(|(stop, _)| stop)
    }

    fn look(&mut self) {
        if self.stopped.is_some() {
            return;
        }
        let is_interrupted = self.outer.as_ref().is_some_and(|outer| outer.load(Ordering::Relaxed));
        let stop = if is_interrupted {
            StopReason::Cancelled
        } else if self.memory.is_some_and(|most| resident_memory().is_some_and(|now| now > most)) {
            StopReason::Memory
        } else if self.deadline.is_some_and(|deadline| Instant::now() >= deadline) {
            StopReason::Time
        } else {
            return;
        };
        // Engines look at the clock themselves, and then give a better reason.
        if stop != StopReason::Time {
            self.cancel.store(true, Ordering::Relaxed);
        }
        self.stopped = Some((stop, Instant::now() + NOTICE));
    }
}

/// The memory of this process in bytes, where the system tells.
pub fn resident_memory() -> Option<usize> {
    let status = std::fs::read_to_string("/proc/self/status").ok()?;
    let line = status.lines().find_map(|line| line.strip_prefix("VmRSS:"))?;
    let kilobytes: usize = line.trim().trim_end_matches("kB").trim().parse().ok()?;
    Some(kilobytes.saturating_mul(1024))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn nobody_waits_for_an_engine_that_does_not_answer() {
        let interrupted = Some(Arc::new(AtomicBool::new(true)));
        let cases = [
            (Budget::time(Duration::ZERO), StopReason::Time),
            (Budget { cancel: interrupted, ..Budget::default() }, StopReason::Cancelled),
        ];
        for (budget, stop) in cases {
            let (_send, receive) = mpsc::channel::<()>();
            let mut watch = Watch::new(&budget);
            assert_eq!((watch.next(&receive), watch.stopped()), (None, Some(stop)));
        }
    }

    #[test]
    fn memory_is_watched_where_the_system_tells() {
        if resident_memory().is_none() {
            println!("the system does not tell how much memory a process takes: nothing is watched");
            return;
        }
        let (_send, receive) = mpsc::channel::<()>();
        let mut watch = Watch::new(&Budget { memory: Some(1), ..Budget::default() });
        assert_eq!((watch.next(&receive), watch.stopped()), (None, Some(StopReason::Memory)));
        assert!(watch.cancel.load(Ordering::Relaxed));
    }

    #[test]
    fn answers_come_first() {
        let (send, receive) = mpsc::channel();
        send.send(7).unwrap();
        let mut watch = Watch::new(&Budget::time(Duration::ZERO));
        assert_eq!(watch.next(&receive), Some(7));
        drop(send);
        assert_eq!((watch.next(&receive), watch.stopped()), (None, None));
    }
}
