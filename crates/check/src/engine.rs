//! The interface of engines, and what they share while a question is being decided.

use std::sync::atomic::{AtomicBool, AtomicUsize, Ordering};
use std::sync::{Arc, mpsc};

use wherefore_program::{Program, Task};

use crate::budget::Budget;
use crate::prover::Prover;
use crate::verdict::{Answer, CheckError, EngineName, Verdict};

/// A way to decide tasks.
///
/// # Laws
/// - A verdict that is not *unknown* is right, and carries its evidence.
/// - `decide` has a verdict for each check of the task, in their order.
/// - A failing run may leave the verdicts on other checks open ([`Why::NotAsked`]); it is asked
///   again about those.
/// - `takes` is the only place where a program is refused.
///
/// [`Why::NotAsked`]: crate::Why::NotAsked
pub trait Engine: Send + Sync {
    /// Its name.
    fn name(&self) -> EngineName;

    /// Whether it can decide questions about this program.
    ///
    /// # Errors
    /// What it does not take.
    fn takes(&self, task: &Task) -> Result<(), CheckError>;

    /// Whether it profits from conditions that hold at the heads of loops, if they are known.
    fn wants_facts(&self) -> bool {
        false
    }

    /// Is told of a task with all its checks, before it is asked about some of them, and of what may
    /// be spent on all of them.
    fn begin(&self, _task: &Task, _budget: &Budget) {}

    /// Nothing more will be asked about the task.
    fn end(&self) {}

    /// Decides the checks of a task that it takes.
    fn decide(&self, task: &Task, session: &Session, budget: &Budget) -> Answer;
}

/// What the engines share: who checks proofs, and who is told of progress.
#[derive(Clone, Default)]
pub struct Session {
    /// The solver that checks proofs.
    pub prover: Prover,
    /// Is told how far engines are.
    listener: Option<Arc<Listener>>,
    so_far: Arc<SoFar>,
    /// Takes verdicts on single checks, if there are several.
    settling: Option<Settling>,
}

/// How an engine tells verdicts on single checks before it has decided the others.
#[derive(Clone)]
pub(crate) struct Settling {
    /// Takes them.
    pub send: mpsc::Sender<Told>,
    /// Which checks are decided, by any engine.
    pub settled: Arc<Vec<AtomicBool>>,
}

/// What engines that run side by side tell.
pub(crate) enum Told {
    /// A verdict on one check.
    Verdict(usize, EngineName, Verdict),
    /// The answer of an engine.
    Answer(EngineName, Box<Answer>),
}

/// Is told how far engines are.
type Listener = dyn Fn(&Progress) + Send + Sync;

/// How far an engine is.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Progress {
    /// Bounded checking: no run fails within this number of iterations of each loop.
    Bound(usize),
    /// No schedule with fewer context switches fails.
    Switches {
        /// Than this.
        below: usize,
        /// How many configurations were seen.
        configurations: usize,
    },
    /// Refinement has excluded a counterexample.
    Iteration {
        /// How many so far.
        excluded: usize,
        /// Predicates at all points.
        predicates: usize,
        /// Steps of the counterexample, in blocks.
        steps: usize,
    },
    /// Refinement with decision diagrams has finished an iteration.
    Cycle {
        /// How many so far.
        excluded: usize,
        /// Predicates at all points.
        predicates: usize,
        /// Locations on some abstract failing run.
        inside: usize,
        /// All locations.
        locations: usize,
    },
}

/// What engines have told before they answer.
#[derive(Default)]
pub(crate) struct SoFar {
    /// 0 if nothing is known.
    bound: AtomicUsize,
    excluded: AtomicUsize,
    /// No schedule with fewer switches fails.
    switches: AtomicUsize,
}

impl Session {
    /// A session whose proofs are checked by a prover.
    pub fn new(prover: Prover) -> Self {
        Self { prover, ..Self::default() }
    }

    /// The same with a listener that is told of progress.
    pub fn with_listener(mut self, listener: impl Fn(&Progress) + Send + Sync + 'static) -> Self {
        self.listener = Some(Arc::new(listener));
        self
    }

    /// A session for a new question: nothing is known of progress.
    pub(crate) fn fresh(&self) -> Self {
        Self { so_far: Arc::default(), settling: None, ..self.clone() }
    }

    /// The same for an engine that may tell verdicts on single checks early.
    pub(crate) fn settling(&self, settling: Settling) -> Self {
        Self { settling: Some(settling), ..self.clone() }
    }

    /// Tells the verdict on a check, so that it counts whatever becomes of the others.
    pub(crate) fn settle(&self, check: usize, by: EngineName, verdict: &Verdict) {
        if let Some(settling) = self.settling.as_ref().filter(|_| verdict.is_definite()) {
            let _ = settling.send.send(Told::Verdict(check, by, verdict.clone()));
        }
    }

    /// Whether an engine has decided a check.
    pub(crate) fn is_settled(&self, check: usize) -> bool {
        let settled = self.settling.as_ref().and_then(|settling| settling.settled.get(check));
        settled.is_some_and(|settled| settled.load(Ordering::Relaxed))
    }

    /// Tells of progress.
    pub(crate) fn tell(&self, progress: &Progress) {
        match progress {
            Progress::Switches { below, .. } => self.so_far.switches.store(*below, Ordering::Relaxed),
            Progress::Bound(bound) => self.so_far.bound.store(*bound, Ordering::Relaxed),
            Progress::Iteration { excluded, .. } | Progress::Cycle { excluded, .. } => {
                self.so_far.excluded.store(*excluded, Ordering::Relaxed);
            }
        }
        if let Some(listener) = &self.listener {
            listener(progress);
        }
    }

    /// The bound within which no run fails, if one is known.
    pub(crate) fn bound(&self) -> Option<usize> {
        Some(self.so_far.bound.load(Ordering::Relaxed)).filter(|bound| *bound > 0)
    }

    /// No schedule with so many switches fails, as far as is known.
    pub(crate) fn switches(&self) -> Option<usize> {
        self.so_far.switches.load(Ordering::Relaxed).checked_sub(1)
    }

    /// How many counterexamples refinement has excluded.
    pub(crate) fn excluded(&self) -> usize {
        self.so_far.excluded.load(Ordering::Relaxed)
    }
}

/// Refuses programs with threads.
pub(crate) fn without_threads(program: &Program) -> Result<(), CheckError> {
    program.uses_threads().map_or(Ok(()), |at| Err(CheckError::Threads { at }))
}
