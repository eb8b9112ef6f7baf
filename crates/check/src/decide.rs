//! One question, several engines: exact checking, refinement by a heuristic, or a race of them under one budget.
//!
//! \[Kie05\] §6.2 and §6.5: no way is the best for all programs, and how much abstraction gains varies without bound. So the race runs exact
//! checking beside refinement, and takes the first verdict. Exact checking tells more of a failing program (a shortest run, a
//! verdict for every place), so there it is given a little time to catch up.

use std::sync::atomic::{AtomicBool, Ordering};
use std::sync::{Arc, mpsc};
use std::time::{Duration, Instant};

use wherefore_program::{ErrorSite, Program};
use wherefore_pushdown::{Limits, StopReason};

use crate::cegar::{Cegar, CegarOptions, Cycle, PointPredicates};
use crate::exact::{CheckOptions, Checker, FailingRun, Search};
use crate::interpolants::Heuristic;
use crate::verdict::{CheckError, Verdict};

/// How a question is decided.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Way {
    /// Decision diagrams over all of the data.
    Exact(Search),
    /// Abstraction refinement.
    Refinement(Heuristic),
}

/// An answer.
#[derive(Clone, Debug)]
pub struct Decision {
    /// Who found it.
    pub way: Way,
    /// Whether the program can fail.
    pub verdict: Verdict,
    /// Whether it can fail at each place that was asked about, in their order.
    pub at: Vec<Verdict>,
    /// A failing run.
    pub run: Option<FailingRun>,
    /// Why there is no failing run, though the program can fail.
    pub no_run: Option<StopReason>,
    /// The last cycle of refinement.
    pub cycle: Option<Cycle>,
    /// What refinement tracks where.
    pub predicates: Vec<PointPredicates>,
    /// Boolean variables of a store, rules of the system, and nodes of all diagrams.
    pub size: (usize, usize, usize),
}

/// Decides by one way; `progress` is told of each cycle of refinement.
pub fn decide(
    program: &Program,
    targets: &[ErrorSite],
    way: Way,
    limits: &Limits,
    progress: &mut dyn FnMut(&Cycle),
) -> Result<Decision, CheckError> {
    match way {
        Way::Exact(search) => {
            let options = CheckOptions { search, limits: limits.clone() };
            exactly(program, targets, options)
        }
        Way::Refinement(heuristic) => {
            let options = CegarOptions { heuristic, limits: limits.clone(), ..CegarOptions::default() };
            by_refinement(program, targets, options, progress)
        }
    }
}

fn exactly(program: &Program, targets: &[ErrorSite], options: CheckOptions) -> Result<Decision, CheckError> {
    let way = Way::Exact(options.search);
    let checker = Checker::new(program, targets, options)?;
    let verdict = checker.verdict();
    let at = targets.iter().map(|site| checker.verdict_of(Some(site.node))).collect();
    let (run, no_run) = match verdict {
        Verdict::Unsafe => match checker.failing_run(None) {
            Ok(run) => (run, None),
            Err(stop) => (None, Some(stop)),
        },
        _ => (None, None),
    };
    let (bits, rules) = checker.size();
    let size = (bits, rules, checker.diagram_nodes());
    Ok(Decision { way, verdict, at, run, no_run, cycle: None, predicates: Vec::new(), size })
}

fn by_refinement(
    program: &Program,
    targets: &[ErrorSite],
    options: CegarOptions,
    progress: &mut dyn FnMut(&Cycle),
) -> Result<Decision, CheckError> {
    let begin = Instant::now();
    let way = Way::Refinement(options.heuristic);
    let mut first: Option<Decision> = None;
    let mut open: Vec<ErrorSite> = targets.to_vec();
    let mut at = vec![Verdict::Unknown(StopReason::Time); targets.len()];
    // Each run that fails decides one place: ask again about the others.
    loop {
        let time = options.limits.time.map(|time| time.saturating_sub(begin.elapsed()));
        let options = CegarOptions { limits: Limits { time, ..options.limits.clone() }, ..options.clone() };
        let mut cegar = Cegar::new(program, &open, options)?;
        let refined = cegar.run(progress);
        let end = refined.trace.as_ref().and_then(|trace| trace.last().node());
        for (verdict, site) in at.iter_mut().zip(targets) {
            if refined.verdict != Verdict::Unsafe && open.contains(site) {
                *verdict = refined.verdict;
            } else if Some(site.node) == end {
                *verdict = Verdict::Unsafe;
            }
        }
        open.retain(|site| Some(site.node) != end);
        let decision = first.get_or_insert_with(|| {
            let run = refined.trace.map(|trace| FailingRun { trace, is_shortest: false });
            Decision {
                way,
                verdict: refined.verdict,
                at: Vec::new(),
                run,
                no_run: None,
                cycle: Some(refined.last.clone()),
                predicates: cegar.describe(),
                size: cegar.size(),
            }
        });
        if refined.verdict != Verdict::Unsafe || open.is_empty() {
            decision.at = at;
            return Ok(first.expect("the first round has put it there"));
        }
    }
}

/// Refinement starts this much later than exact checking: many small programs are decided by then.
const HEAD_START: Duration = Duration::from_millis(1);

/// If refinement finds a failing run first, exact checking gets at least this long to find a shortest one.
const LEAST_GRACE: Duration = Duration::from_millis(50);

/// What the first heuristic may take before the next one is tried; each gets twice as much as the last.
const FIRST_SLICE: Duration = Duration::from_secs(10);

/// Runs exact checking and refinement side by side, and returns the first verdict.
///
/// If refinement finds a failing run first, exact checking gets a little time to catch up, since it tells more. The loser is asked to stop, but not waited for: a single operation on
/// diagrams can take long, and its thread ends with the process at the latest.
pub fn race(program: &Arc<Program>, targets: &[ErrorSite], limits: &Limits) -> Result<Decision, CheckError> {
    let begin = Instant::now();
    let outer = limits.cancel.clone();
    let cancel = Arc::new(AtomicBool::new(false));
    let limits = Limits { cancel: Some(cancel.clone()), ..limits.clone() };
    let (send, receive) = mpsc::channel::<Result<Decision, CheckError>>();
    let start = |send: mpsc::Sender<_>, run: Runner| {
        let (program, targets, limits) = (program.clone(), targets.to_vec(), limits.clone());
        std::thread::spawn(move || {
            let _ = send.send(run(&program, &targets, &limits));
        });
    };
    start(send.clone(), |program, targets, limits| {
        decide(program, targets, Way::Exact(Search::Forwards), limits, &mut |_| {})
    });
    start(send, |program, targets, limits| {
        std::thread::sleep(HEAD_START);
        all_heuristics(program, targets, limits)
    });
    let is_definite =
        |answer: &Result<Decision, CheckError>| matches!(answer, Ok(decision) if decision.is_definite());
    let next = || next_answer(&receive, outer.as_deref(), &cancel);
    let Some(first) = next() else { panic!("an engine has failed") };
    let by_exact = matches!(&first, Ok(Decision { way: Way::Exact(_), .. }));
    let second = match (is_definite(&first), by_exact) {
        (true, true) => None,
        // A proof needs no other; a failing run may be outdone by a shortest one.
        (true, false) if matches!(&first, Ok(decision) if decision.verdict == Verdict::Safe) => None,
        (true, false) => receive.recv_timeout(begin.elapsed().mul_f64(0.4).max(LEAST_GRACE)).ok(),
        (false, _) => next(),
    };
    cancel.store(true, Ordering::Relaxed);
    match second {
        Some(second) if is_definite(&second) => second,
        _ => first,
    }
}

/// The next answer of a race, unless all have answered; an interruption from outside is passed on.
fn next_answer<T>(answers: &mpsc::Receiver<T>, outer: Option<&AtomicBool>, cancel: &AtomicBool) -> Option<T> {
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

type Runner = fn(&Program, &[ErrorSite], &Limits) -> Result<Decision, CheckError>;

impl Decision {
    /// Whether it is not "unknown".
    pub fn is_definite(&self) -> bool {
        !matches!(self.verdict, Verdict::Unknown(_))
    }
}

/// The default heuristic first; then the others, in growing slices of time.
fn all_heuristics(program: &Program, targets: &[ErrorSite], limits: &Limits) -> Result<Decision, CheckError> {
    let begin = Instant::now();
    let others = [Heuristic::Conciliated, Heuristic::Both, Heuristic::Weakest, Heuristic::Strongest];
    let mut slice = FIRST_SLICE;
    let mut queue = std::iter::once(Heuristic::default()).chain(others).cycle();
    loop {
        let left = limits.time.map(|time| time.saturating_sub(begin.elapsed()));
        let time = Some(left.map_or(slice, |left| left.min(slice)));
        let heuristic = queue.next().unwrap_or_default();
        let limits = Limits { time, ..limits.clone() };
        let decision = decide(program, targets, Way::Refinement(heuristic), &limits, &mut |_| {})?;
        let out_of_time = decision.verdict == Verdict::Unknown(StopReason::Time);
        if !out_of_time || left.is_some_and(|left| left <= slice) {
            return Ok(decision);
        }
        slice = slice.saturating_mul(2);
    }
}
