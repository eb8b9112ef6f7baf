//! Verdicts about C programs that count: failing runs that the compiled program does not contradict, proofs that nothing speaks against.

use std::sync::Arc;
use std::time::{Duration, Instant};

use serde::Serialize;
use wherefore_check::harness::Replay;
use wherefore_check::smt_cegar::Cycle;
use wherefore_check::unrolled_proof::{self, Opinion};
use wherefore_check::{Decided, Engine, Failure, Prover, decide_unbounded, decide_with_prover};
use wherefore_program::{ErrorSite, TargetChoice};
use wherefore_pushdown::Limits;

use super::c::{self, Rest};
use super::{Place, ProgramArgs, Subject, Word};

/// The time for a run of a compiled program, and how much must be left to compile it.
const MOST_TIME: Duration = Duration::from_secs(5);
const LEAST_TIME: Duration = Duration::from_millis(1500);

/// A verdict about a C program.
pub struct Trusted {
    pub verdict: Word,
    pub reason: Option<String>,
    /// What the engines said. A failing run is here only if the verdict is unsafe.
    pub decided: Decided,
    /// What the compiled program did.
    pub replay: Option<Replayed>,
    /// Whether a proof was checked a second time.
    pub proof: Option<Proof>,
}

/// What came of the check of a proof.
#[derive(Clone, Serialize)]
pub struct Proof {
    pub checked: bool,
    /// What was checked: `invariant` or `unrolling`.
    pub how: &'static str,
    /// The solver that was asked: `embedded`, or its command line.
    pub solver: String,
    /// Why it was not checked.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub why: Option<String>,
}

/// What came of a replay by the compiled program.
#[derive(Serialize)]
pub struct Replayed {
    /// `confirmed`, `not-confirmed` or `not-replayed`.
    pub outcome: &'static str,
    #[serde(skip_serializing_if = "Option::is_none")]
    pub why: Option<String>,
}

impl Proof {
    /// In a sentence.
    pub fn words(&self) -> String {
        let by = if self.solver == "embedded" { String::new() } else { format!(" by `{}`", self.solver) };
        match (&self.why, self.how) {
            (Some(why), _) => format!("the proof was not checked a second time: {why}"),
            (None, "invariant") => format!("the proof was checked{by}: every step keeps its invariant"),
            (None, _) => format!("the proof was checked{by}: the program was unrolled a second time"),
        }
    }
}

impl From<Replay> for Replayed {
    fn from(replay: Replay) -> Self {
        match replay {
            Replay::Confirmed { note } => Self { outcome: "confirmed", why: note },
            Replay::NotConfirmed { why } => Self { outcome: "not-confirmed", why: Some(why) },
            Replay::NotReplayed { why } => Self { outcome: "not-replayed", why: Some(why) },
        }
    }
}

/// Decides, and questions the answer.
pub fn trusted(
    args: &ProgramArgs,
    subject: &Subject,
    engine: Engine,
    progress: impl FnMut(&Cycle) + Send + 'static,
) -> Trusted {
    let begin = Instant::now();
    let limits = args.options().limits;
    let (program, targets, prover) = (&subject.program, &subject.targets, &subject.prover);
    let decided = decide_with_prover(program, targets, engine, &limits, prover, progress);
    let (verdict, mut reason) = Word::of(decided.verdict);
    if !decided.reasons.is_empty() {
        reason = Some(decided.reasons.join("; "));
    }
    let mut trusted = Trusted { verdict, reason, decided, replay: None, proof: None };
    if let Some(rest) = &subject.rest {
        match (verdict, trusted.decided.failure.clone()) {
            (Word::Unsafe, Some(failure)) => trusted.replay(args, subject, rest, &failure),
            // No run can do what the program has no words for: nothing is doubtful about that.
            (Word::Safe, _) if subject.vacuity.is_some() => {}
            (Word::Safe, _) => {
                let taken = begin.elapsed();
                trusted.doubt(args, subject, rest, engine, taken);
                if trusted.verdict == Word::Safe {
                    trusted.check(args, subject, taken);
                }
            }
            _ => {}
        }
    }
    if trusted.verdict == Word::Safe {
        trusted.reason = subject.nothing_to_check();
    }
    trusted
}

/// The time for a second look at a proof: about as long as it took to find it.
fn again(args: &ProgramArgs, subject: &Subject, taken: Duration) -> Duration {
    let time = taken + Duration::from_secs(2);
    args.left(subject).map_or(time, |left| time.min(left))
}

/// What the compiled program does with the inputs of a run; none if that is not wanted.
pub fn replay(args: &ProgramArgs, subject: &Subject, rest: &Rest, failure: &Failure) -> Option<Replay> {
    let site = subject.targets.get(failure.target)?;
    let left = args.left(subject);
    if args.check.is_some() {
        // The program with checks of indices is not the one that is compiled.
        let why = "compiled programs do not notice an index outside of its array".to_owned();
        return Some(Replay::NotReplayed { why });
    }
    if left.is_some_and(|left| left < LEAST_TIME) {
        return Some(Replay::NotReplayed { why: "no time is left".to_owned() });
    }
    let time = left.map_or(MOST_TIME, |left| MOST_TIME.min(left - LEAST_TIME / 2));
    args.c.replay(&subject.program, rest, &failure.trace, site, time)
}

impl Trusted {
    /// A failing run counts only if the compiled program does not contradict it.
    fn replay(&mut self, args: &ProgramArgs, subject: &Subject, rest: &Rest, failure: &Failure) {
        let outcome = replay(args, subject, rest, failure);
        if let Some(Replay::NotConfirmed { why }) = &outcome {
            self.retract(format!(
                "a failing run was found, but the compiled program does not fail with its inputs: {why}"
            ));
        }
        // Where C leaves a value open (floats, shifts that are too wide), a run that was not seen may not exist.
        let open = failure.path.iter().find(|edge| subject.program.edge(**edge).operation.has_choice());
        if let (Some(Replay::NotReplayed { .. }), Some(edge)) = (&outcome, open) {
            let span = subject.program.edge(*edge).span;
            let (source, line) = (subject.program.source(span), subject.program.position(span).line);
            self.retract(format!(
                "a failing run was found, but it could not be replayed, and a value is left open at {}:{line}",
                source.name()
            ));
        }
        self.replay = outcome.map(Replayed::from);
    }

    /// A proof counts only if nothing was observed that is not modelled.
    fn doubt(&mut self, args: &ProgramArgs, subject: &Subject, rest: &Rest, engine: Engine, taken: Duration) {
        if !rest.doubts.is_empty() {
            let doubts: Vec<String> =
                rest.doubts.iter().map(|doubt| c::words(&subject.program, doubt)).collect();
            self.retract(format!("it is safe only if {}", doubts.join("; and only if ")));
            return;
        }
        let checked = (*subject.program).clone().with_bounds_checks();
        let is_new = |site: &ErrorSite| {
            let before = subject.program.procedure(site.node.procedure).locations.len();
            site.node.location.0 as usize >= before
        };
        let targets = checked.targets(&TargetChoice::Default).unwrap_or_default();
        let targets: Vec<ErrorSite> = targets.into_iter().filter(is_new).collect();
        if targets.is_empty() || args.check.is_some() {
            return;
        }
        let limits = Limits { time: Some(again(args, subject, taken)), ..args.options().limits };
        let checked = Arc::new(checked);
        let decided = decide_unbounded(&checked, &targets, engine, &limits, |_| {});
        if let Some(site) = decided.failure.and_then(|failure| targets.get(failure.target).cloned()) {
            let Place { file, line, .. } = Place::of(&checked, &site);
            self.retract(format!(
                "an index can be outside of its array at {file}:{line}, so that nothing is certain"
            ));
        }
    }

    /// A proof counts only if it is not refuted by code that shares nothing with the engine. Refinement has had its proof checked; another
    /// solver that was named must accept.
    fn check(&mut self, args: &ProgramArgs, subject: &Subject, taken: Duration) {
        let (solver, time) = match &subject.prover {
            Prover::Embedded => ("embedded".to_owned(), Some(again(args, subject, taken))),
            Prover::Command(command) => (command.clone(), args.left(subject)),
        };
        let mut proof = Proof { checked: true, how: "invariant", solver, why: None };
        if let (Engine::Bounded, Some(bound)) = (self.decided.engine, self.decided.bound) {
            proof.how = "unrolling";
            let limits = Limits { time, ..args.options().limits };
            match unrolled_proof::check(&subject.program, &subject.targets, bound, &subject.prover, &limits) {
                Opinion::Accepted => {}
                Opinion::Refuted(why) => {
                    let whose = "this is an error of wherefore";
                    return self
                        .retract(format!("a proof was found, but a second look refutes it: {why}; {whose}"));
                }
                Opinion::Undecided(why) if subject.prover != Prover::Embedded => {
                    return self.retract(format!(
                        "a proof was found, but `{}` did not check it: {why}",
                        proof.solver
                    ));
                }
                Opinion::Undecided(why) => (proof.checked, proof.why) = (false, Some(why)),
            }
        }
        self.proof = Some(proof);
    }

    /// The verdict is not certain after all.
    fn retract(&mut self, reason: String) {
        self.verdict = Word::Unknown;
        self.reason = Some(reason);
        self.decided.failure = None;
    }
}
