//! All states one by one, as an engine: proofs about pointers, flags and state machines, whatever
//! the data are. Failing runs are left to other engines.
//!
//! One search decides all checks, so it is made once, beside the other engines, while these are
//! asked about one part of the checks after the other.

use std::sync::atomic::{AtomicBool, Ordering};
use std::sync::{Arc, Condvar, Mutex, PoisonError};
use std::time::{Duration, Instant};

use wherefore_flow::Enumerated;
use wherefore_program::{Program, Task};

use crate::bounded::in_deep_thread;
use crate::budget::Budget;
use crate::engine::{Engine, Session, without_threads};
use crate::prover::Prover;
use crate::verdict::{
    Answer, Cause, CheckError, EngineName, Evidence, Facts, Proof, ProofCheck, ProofKind, Reached, Stopped,
    Verdict, Why,
};

/// Lists the states of a program ([`Enumerated`]): a check that no state violates holds.
#[derive(Clone, Default)]
pub struct Enumeration {
    /// The search in the program that is asked about now: each program has its own.
    current: Arc<Mutex<Arc<Whole>>>,
    /// How much later than usual it starts.
    wait: Duration,
}

impl Enumeration {
    /// The same, but it starts later.
    pub fn starting_after(wait: Duration) -> Self {
        Self { wait, ..Self::default() }
    }

    fn current(&self) -> Arc<Whole> {
        self.current.lock().unwrap_or_else(PoisonError::into_inner).clone()
    }

    /// Takes up another search, and stops the one before.
    fn replace(&self, whole: Arc<Whole>) {
        let mut current = self.current.lock().unwrap_or_else(PoisonError::into_inner);
        current.cancel.store(true, Ordering::Relaxed);
        *current = whole;
    }
}

/// The search in the whole program.
#[derive(Default)]
struct Whole {
    found: Mutex<Search>,
    changed: Condvar,
    cancel: Arc<AtomicBool>,
}

/// How far the search in the whole program is.
#[derive(Clone, Default)]
enum Search {
    /// It was not started.
    #[default]
    None,
    /// It goes on.
    Running,
    /// It has ended, or was given up.
    Ended(Option<Arc<Enumerated>>),
}

/// The search starts so much later than other engines: many programs are decided by then.
const DELAY: Duration = Duration::from_millis(100);
/// Between two looks at the budget.
const PAUSE: Duration = Duration::from_millis(20);
/// Where work is counted, this part of it is spent.
const PART_OF_WORK: u64 = 4;
/// The steps between two looks at the budget, which count as so much work.
const PACE: u64 = 128;

impl Whole {
    fn now(&self) -> Search {
        self.found.lock().unwrap_or_else(PoisonError::into_inner).clone()
    }

    fn set(&self, search: Search) {
        *self.found.lock().unwrap_or_else(PoisonError::into_inner) = search;
        self.changed.notify_all();
    }
}

/// Lists the states of a program within a budget.
fn search(program: &Program, budget: &Budget) -> Option<Enumerated> {
    let mut stop = || {
        budget.spend(PACE);
        budget.stopped().is_some()
    };
    in_deep_thread(|| Enumerated::new(program, &mut stop)).flatten()
}

impl Engine for Enumeration {
    fn name(&self) -> EngineName {
        EngineName::Enumeration
    }

    fn takes(&self, task: &Task) -> Result<(), CheckError> {
        without_threads(&task.program)
    }

    fn begin(&self, task: &Task, budget: &Budget) {
        // Where work is counted, nothing goes on beside.
        if budget.work.is_some() {
            return;
        }
        let (whole, program) = (Arc::new(Whole::default()), task.program.clone());
        whole.set(Search::Running);
        self.replace(whole.clone());
        let budget = budget.cancelled_by(&whole.cancel);
        let wait = DELAY + self.wait;
        std::thread::spawn(move || {
            let begin = Instant::now();
            while begin.elapsed() < wait && budget.stopped().is_none() {
                std::thread::sleep(PAUSE);
            }
            let found = if budget.stopped().is_some() { None } else { search(&program, &budget) };
            whole.set(Search::Ended(found.map(Arc::new)));
        });
    }

    fn end(&self) {
        self.replace(Arc::default());
    }

    fn decide(&self, task: &Task, session: &Session, budget: &Budget) -> Answer {
        let by = self.name();
        let facts = Facts { by: Some(by), ..Facts::default() };
        let open = |cause: Cause| {
            Verdict::Unknown(Why::Undecided(vec![Stopped { engine: by, cause, bound: None, excluded: 0 }]))
        };
        // No other solver can check the proof.
        if session.prover != Prover::Embedded {
            return Answer { verdicts: vec![open(Cause::NotTried); task.checks.len()], facts };
        }
        let whole = self.current();
        let found = loop {
            match whole.now() {
                Search::Ended(found) => break found,
                Search::None => {
                    let work = budget.work.as_ref();
                    let part = work.map(|work| budget.spending(work.left() / PART_OF_WORK));
                    break search(&task.program, part.as_ref().unwrap_or(budget)).map(Arc::new);
                }
                Search::Running if budget.stopped().is_some() => break None,
                Search::Running => {
                    let found = whole.found.lock().unwrap_or_else(PoisonError::into_inner);
                    drop(whole.changed.wait_timeout(found, PAUSE));
                }
            }
        };
        let Some(found) = found else {
            let cause = budget.stopped().map_or(Cause::TooLarge, Cause::Limit);
            return Answer { verdicts: vec![open(cause); task.checks.len()], facts };
        };
        let evidence = Evidence { by, kind: ProofKind::Saturation, checked: ProofCheck::NotApplicable };
        let evidence = Arc::new(evidence);
        let safe = Verdict::Safe(Proof { evidence, reached: Reached::Unknown });
        let verdicts = task.checks.iter().map(|check| match found.reaches(check.node) {
            true => open(Cause::OpenWay),
            false => safe.clone(),
        });
        Answer { verdicts: verdicts.collect(), facts }
    }
}
