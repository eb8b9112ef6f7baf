//! Programs whose data are too large for decision diagrams: bounded checking and refinement under one budget.
//!
//! The two are good at different things: bounded checking finds failures that are not deep and proves programs whose loops
//! end; refinement proves programs whose loops need not be counted. They run side by side, and the first verdict counts.

use std::sync::atomic::{AtomicBool, Ordering};
use std::sync::{Arc, mpsc};
use std::time::Duration;

use wherefore_program::{EdgeRef, ErrorSite, Node, Program, Trace};
use wherefore_pushdown::{Limits, StopReason};

use crate::bounded::{self, Bounded};
use crate::prover::Prover;
use crate::smt_cegar::{self, Calls, Cycle, Outcome};
use crate::verdict::Verdict;

/// Who is asked.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub enum Engine {
    /// Both, side by side.
    #[default]
    Auto,
    /// All runs with a bounded number of turns of loops.
    Bounded,
    /// Abstraction refinement.
    Refinement,
}

/// The answer.
#[derive(Clone, Debug)]
pub struct Decided {
    /// Who found it.
    pub engine: Engine,
    /// Whether the program can fail.
    pub verdict: Verdict,
    /// Why nothing is known, engine by engine.
    pub reasons: Vec<String>,
    /// A failing run.
    pub failure: Option<Failure>,
    /// No run fails within so many turns of each loop.
    pub bound: Option<usize>,
    /// Counterexamples that refinement ruled out.
    pub cycles: usize,
    /// Predicates at all points, and at the point that has most.
    pub predicates: (usize, usize),
    /// What refinement tracks where.
    pub tracked: Vec<(Node, Vec<String>)>,
    /// After a proof by refinement: what always holds where.
    pub invariants: Vec<(Node, String)>,
}

/// A failing run.
#[derive(Clone, Debug)]
pub struct Failure {
    /// The run with values.
    pub trace: Trace,
    /// Its edges, calls and returns included.
    pub path: Vec<EdgeRef>,
    /// The place that it reaches, by the position among the targets.
    pub target: usize,
}

impl Decided {
    fn new(engine: Engine, verdict: Verdict) -> Self {
        Self {
            engine,
            verdict,
            reasons: Vec::new(),
            failure: None,
            bound: None,
            cycles: 0,
            predicates: (0, 0),
            tracked: Vec::new(),
            invariants: Vec::new(),
        }
    }

    /// Whether it is not "unknown".
    pub fn is_definite(&self) -> bool {
        !matches!(self.verdict, Verdict::Unknown(_))
    }
}

/// Decides whether a program can fail; `progress` is told of each cycle of refinement.
pub fn decide_unbounded(
    program: &Arc<Program>,
    targets: &[ErrorSite],
    engine: Engine,
    limits: &Limits,
    progress: impl FnMut(&Cycle) + Send + 'static,
) -> Decided {
    decide_with_prover(program, targets, engine, limits, &Prover::default(), progress)
}

/// The same; proofs by refinement are checked by a prover of choice. Those by unrolling are checked by
/// [`unrolled_proof::check`](crate::unrolled_proof::check), by whoever wants that.
pub fn decide_with_prover(
    program: &Arc<Program>,
    targets: &[ErrorSite],
    engine: Engine,
    limits: &Limits,
    prover: &Prover,
    progress: impl FnMut(&Cycle) + Send + 'static,
) -> Decided {
    match engine {
        Engine::Bounded => by_unrolling(program, targets, limits),
        Engine::Refinement => {
            let mut progress = progress;
            by_refinement(program, targets, limits, prover, &mut progress)
        }
        Engine::Auto => race(program, targets, limits, prover, progress),
    }
}

fn race(
    program: &Arc<Program>,
    targets: &[ErrorSite],
    limits: &Limits,
    prover: &Prover,
    progress: impl FnMut(&Cycle) + Send + 'static,
) -> Decided {
    let outer = limits.cancel.clone();
    let cancel = Arc::new(AtomicBool::new(false));
    let limits = Limits { cancel: Some(cancel.clone()), ..limits.clone() };
    let (send, receive) = mpsc::channel();
    let bounded = (send.clone(), program.clone(), targets.to_vec(), limits.clone());
    std::thread::spawn(move || {
        let (send, program, targets, limits) = bounded;
        let _ = send.send(by_unrolling(&program, &targets, &limits));
    });
    let refinement = (send, program.clone(), targets.to_vec(), limits, prover.clone());
    std::thread::spawn(move || {
        let (send, program, targets, limits, prover) = refinement;
        let mut progress = progress;
        let _ = send.send(by_refinement(&program, &targets, &limits, &prover, &mut progress));
    });
    let mut all: Vec<Decided> = Vec::new();
    while let Some(decided) = next_answer(&receive, outer.as_deref(), &cancel) {
        let definite = decided.is_definite();
        all.push(decided);
        if definite {
            break;
        }
    }
    cancel.store(true, Ordering::Relaxed);
    let reasons: Vec<String> = all.iter().flat_map(|decided| decided.reasons.clone()).collect();
    let bound = all.iter().filter_map(|decided| decided.bound).max();
    let mut last =
        all.pop().unwrap_or_else(|| Decided::new(Engine::Auto, Verdict::Unknown(StopReason::Memory)));
    if !last.is_definite() {
        last.engine = Engine::Auto;
        last.reasons = reasons;
        last.bound = bound;
    }
    last
}

/// The next answer of a race, unless all have answered; an interruption from outside is passed on.
pub(crate) fn next_answer<T>(
    answers: &mpsc::Receiver<T>,
    outer: Option<&AtomicBool>,
    cancel: &AtomicBool,
) -> Option<T> {
    loop {
        match answers.recv_timeout(Duration::from_millis(50)) {
            Ok(answer) => return Some(answer),
            Err(mpsc::RecvTimeoutError::Disconnected) => return None,
            Err(mpsc::RecvTimeoutError::Timeout) => {
                if outer.is_some_and(|outer| outer.load(Ordering::Relaxed)) {
                    cancel.store(true, Ordering::Relaxed);
                }
            }
        }
    }
}

fn by_unrolling(program: &Program, targets: &[ErrorSite], limits: &Limits) -> Decided {
    match bounded::check(program, targets, limits) {
        Bounded::Safe { bound } => {
            Decided { bound: Some(bound), ..Decided::new(Engine::Bounded, Verdict::Safe) }
        }
        Bounded::Unsafe { trace, path, target } => {
            let failure = Some(Failure { trace, path, target });
            Decided { failure, ..Decided::new(Engine::Bounded, Verdict::Unsafe) }
        }
        Bounded::Unknown { stop, bound } => {
            let so_far = match bound {
                Some(bound) => format!("no run fails within {bound} turns of each loop"),
                None => "nothing is known of any bound".to_owned(),
            };
            let why = match stop {
                StopReason::Memory => "the unrolled program is too large",
                StopReason::Steps => "the largest bound was reached",
                other => other.why(),
            };
            let reasons = vec![format!("bounded checking: {why}; {so_far}")];
            Decided { bound, reasons, ..Decided::new(Engine::Bounded, Verdict::Unknown(stop)) }
        }
    }
}

fn by_refinement(
    program: &Program,
    targets: &[ErrorSite],
    limits: &Limits,
    prover: &Prover,
    progress: &mut (dyn FnMut(&Cycle) + Send),
) -> Decided {
    let answer = smt_cegar::check(program, targets, Calls::Auto, limits, prover, progress);
    let (verdict, failure, reasons) = match answer.outcome {
        Outcome::Safe => (Verdict::Safe, None, Vec::new()),
        Outcome::Unsafe { trace, path, target } => {
            (Verdict::Unsafe, Some(Failure { trace, path, target }), Vec::new())
        }
        Outcome::Unknown(stop) => {
            let why = match stop {
                StopReason::Memory => "the program with its calls inlined is too large",
                StopReason::Steps => {
                    "predicates could not rule out a counterexample, or recursion is too deep"
                }
                other => other.why(),
            };
            let why = answer.unproved.as_deref().unwrap_or(why);
            let reason = format!("refinement: {why}; {} counterexamples were ruled out", answer.cycles);
            (Verdict::Unknown(stop), None, vec![reason])
        }
    };
    Decided {
        failure,
        reasons,
        cycles: answer.cycles,
        predicates: answer.predicates,
        tracked: answer.tracked,
        invariants: answer.invariants,
        ..Decided::new(Engine::Refinement, verdict)
    }
}
