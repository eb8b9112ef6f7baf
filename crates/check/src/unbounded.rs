//! Programs whose data are too large for decision diagrams: bounded checking and refinement under one budget.
//!
//! The two are good at different things: bounded checking finds failures that are not deep and proves programs whose loops
//! end; refinement proves programs whose loops need not be counted. They run side by side, and the first verdict counts.

use std::sync::atomic::Ordering;
use std::sync::{Arc, mpsc};

use wherefore_program::{EdgeRef, ErrorSite, Node, Program, Trace};
use wherefore_pushdown::{Limits, StopReason};

use crate::bounded::{self, Bounded};
use crate::prover::Prover;
use crate::smt_cegar::{self, Calls, Cycle, Outcome};
use crate::verdict::Verdict;
use crate::watch::{SoFar, Watch};

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

    /// Bounded checking came so far.
    fn unrolled(stop: StopReason, why: &str, bound: Option<usize>) -> Self {
        let so_far = match bound {
            Some(bound) => format!("no run fails within {bound} turns of each loop"),
            None => "nothing is known of any bound".to_owned(),
        };
        let reasons = vec![format!("bounded checking: {why}; {so_far}")];
        Self { bound, reasons, ..Self::new(Engine::Bounded, Verdict::Unknown(stop)) }
    }

    /// An engine has not answered.
    fn late(engine: Engine, stop: Option<StopReason>, so_far: &SoFar) -> Self {
        // Without a limit, its thread has ended without an answer.
        let why = stop.map_or("it has failed, which is an error of ours", StopReason::why);
        let stop = stop.unwrap_or(StopReason::Cancelled);
        if engine == Engine::Bounded {
            let bound = Some(so_far.bound.load(Ordering::Relaxed)).filter(|bound| *bound > 0);
            return Self::unrolled(stop, why, bound);
        }
        let cycles = so_far.cycles.load(Ordering::Relaxed);
        let reasons = vec![refinement_stopped(why, cycles)];
        Self { cycles, reasons, ..Self::new(engine, Verdict::Unknown(stop)) }
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
    let engines = match engine {
        Engine::Auto => vec![Engine::Bounded, Engine::Refinement],
        one => vec![one],
    };
    let mut watch = Watch::new(limits);
    let limits = Limits { cancel: Some(watch.cancel.clone()), ..limits.clone() };
    let so_far = Arc::new(SoFar::default());
    let (send, receive) = mpsc::channel();
    let mut progress = Some(progress);
    for one in &engines {
        let (send, so_far, prover) = (send.clone(), so_far.clone(), prover.clone());
        let (program, targets, limits) = (program.clone(), targets.to_vec(), limits.clone());
        let progress = if *one == Engine::Refinement { progress.take() } else { None };
        std::thread::spawn(move || {
            let answer = match progress {
                None => by_unrolling(&program, &targets, &limits, &so_far),
                Some(mut progress) => by_refinement(&program, &targets, &limits, &prover, &mut |cycle| {
                    so_far.cycles.store(cycle.cycles, Ordering::Relaxed);
                    progress(cycle);
                }),
            };
            let _ = send.send(answer);
        });
    }
    drop(send);
    let mut all: Vec<Decided> = Vec::new();
    while let Some(decided) = watch.next(&receive) {
        let definite = decided.is_definite();
        all.push(decided);
        if definite {
            break;
        }
    }
    watch.cancel.store(true, Ordering::Relaxed);
    if all.last().is_none_or(|last| !last.is_definite()) {
        let late = engines.iter().filter(|one| all.iter().all(|decided| decided.engine != **one));
        let late: Vec<Decided> = late.map(|one| Decided::late(*one, watch.stopped(), &so_far)).collect();
        all.splice(0..0, late);
    }
    let reasons: Vec<String> = all.iter().flat_map(|decided| decided.reasons.clone()).collect();
    let bound = all.iter().filter_map(|decided| decided.bound).max();
    let mut last = all.pop().expect("every engine has answered, or is late");
    if !last.is_definite() {
        last.engine = engine;
        last.reasons = reasons;
        last.bound = bound;
        if let Some(stop @ StopReason::Memory) = watch.stopped() {
            last.verdict = Verdict::Unknown(stop);
            last.reasons.insert(0, stop.why().to_owned());
        }
    }
    last
}

fn by_unrolling(program: &Program, targets: &[ErrorSite], limits: &Limits, so_far: &SoFar) -> Decided {
    match bounded::check_telling(program, targets, limits, &|bound| {
        so_far.bound.store(bound, Ordering::Relaxed)
    }) {
        Bounded::Safe { bound } => {
            Decided { bound: Some(bound), ..Decided::new(Engine::Bounded, Verdict::Safe) }
        }
        Bounded::Unsafe { trace, path, target } => {
            let failure = Some(Failure { trace, path, target });
            Decided { failure, ..Decided::new(Engine::Bounded, Verdict::Unsafe) }
        }
        Bounded::Unknown { stop, bound } => {
            let why = match stop {
                StopReason::Memory => "the unrolled program is too large",
                StopReason::Steps => "the largest bound was reached",
                other => other.why(),
            };
            Decided::unrolled(stop, why, bound)
        }
    }
}

fn refinement_stopped(why: &str, cycles: usize) -> String {
    format!("refinement: {why}; {cycles} counterexamples were ruled out")
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
                StopReason::Steps if limits.steps.is_some_and(|most| answer.cycles as u64 >= most) => {
                    "the limit on cycles was reached"
                }
                StopReason::Steps => "predicates could not rule out a counterexample",
                other => other.why(),
            };
            let why = answer.unproved.as_deref().unwrap_or(why);
            (Verdict::Unknown(stop), None, vec![refinement_stopped(why, answer.cycles)])
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
