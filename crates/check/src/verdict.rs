//! What is said of a check: a verdict that carries its evidence.

use std::fmt;
use std::sync::Arc;

use wherefore_flow::Slice;
use wherefore_program::{EdgeRef, Node, Program, Span, Trace};
use wherefore_pushdown::StopReason;

use crate::harness::Replay;
use crate::refinement::diagrams::interpolants::Heuristic;
use crate::threads::{Covered, Schedule};

/// Whether an error can be reached, without evidence: what a search says.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Decision {
    /// No run fails.
    Safe,
    /// Some run fails.
    Unsafe,
    /// A limit was met first.
    Unknown(StopReason),
}

/// The verdict on one check, with its evidence.
#[derive(Clone, Debug)]
pub enum Verdict {
    /// No run fails here.
    Safe(Proof),
    /// This run fails here.
    Unsafe(Box<FailingRun>),
    /// Neither is known.
    Unknown(Why),
}

impl Verdict {
    /// Whether it is not *unknown*.
    pub fn is_definite(&self) -> bool {
        !matches!(self, Self::Unknown(_))
    }

    /// The failing run.
    pub fn run(&self) -> Option<&FailingRun> {
        match self {
            Self::Unsafe(run) => Some(run),
            _ => None,
        }
    }

    /// The proof.
    pub fn proof(&self) -> Option<&Proof> {
        match self {
            Self::Safe(proof) => Some(proof),
            _ => None,
        }
    }

    /// Whether data flow has decided, without an engine.
    pub fn is_by_data_flow(&self) -> bool {
        self.proof().is_some_and(|proof| matches!(proof.evidence.kind, ProofKind::Ranges | ProofKind::States))
    }

    /// The reason for *unknown*.
    pub fn why(&self) -> Option<&Why> {
        match self {
            Self::Unknown(why) => Some(why),
            _ => None,
        }
    }
}

/// A failing run.
#[derive(Clone, Debug)]
pub struct FailingRun {
    /// The run, step by step, with all values.
    pub trace: Trace,
    /// Its edges, calls and returns included.
    pub path: Vec<EdgeRef>,
    /// The check that fails, by its position among those that were asked about.
    pub target: usize,
    /// Whether no failing run has fewer steps.
    pub is_shortest: bool,
    /// Which engine found it.
    pub by: EngineName,
    /// What the compiled program does with the inputs of the run; none if it was not asked.
    pub replay: Option<Replay>,
    /// Who runs when, if there are threads. The run is then what the thread that moves sees.
    pub schedule: Option<Arc<Schedule>>,
    /// What the run leaves out; none if it is a run of the program step by step.
    pub left_out: Option<Arc<LeftOut>>,
    /// How many steps of the beginning are not kept, since the run is long.
    pub steps_left_out: usize,
}

/// Loops and calls that a failing run leaves out: they end, and nothing that the run does depends on
/// them.
#[derive(Clone, Debug)]
pub struct LeftOut {
    /// The loops and calls.
    pub parts: Vec<Span>,
    /// Whether inputs are taken there.
    pub takes_input: bool,
    /// The program without them, of which the run is one, step by step.
    pub slice: Arc<Slice>,
}

impl FailingRun {
    /// The program of which this is a run step by step: without what the run leaves out.
    pub fn program<'a>(&'a self, whole: &'a Program) -> &'a Program {
        self.left_out.as_ref().map_or(whole, |left_out| &left_out.slice.program)
    }

    /// Keeps only so many of the last steps of a run that leaves something out, unless the others
    /// bring values that matter for what is asked later.
    pub fn shorten(&mut self, most: usize, matters: impl Fn(EdgeRef) -> bool) {
        let Some(early) = self.trace.steps.len().checked_sub(most).filter(|early| *early > 0) else { return };
        if self.left_out.is_none() || self.trace.steps[..early].iter().any(|step| matters(step.edge)) {
            return;
        }
        self.steps_left_out += early;
        if let Some(last) = self.trace.steps.drain(..early).next_back() {
            self.trace.start = last.state;
        }
        self.path = self.trace.steps.iter().map(|step| step.edge).collect();
    }

    /// Why what led to the failure is not told; none if the whole run is kept.
    pub fn too_long(&self) -> Option<String> {
        let steps = self.steps_left_out;
        (steps > 0).then(|| {
            format!(
                "the run is too long to be followed from its beginning: its first {steps} steps are not kept"
            )
        })
    }

    /// A run whose path is that of its trace.
    pub fn of_trace(trace: Trace, target: usize, by: EngineName) -> Self {
        let path = trace.steps.iter().map(|step| step.edge).collect();
        Self {
            trace,
            path,
            target,
            is_shortest: false,
            by,
            replay: None,
            schedule: None,
            left_out: None,
            steps_left_out: 0,
        }
    }
}

/// A proof that a check holds. One proof may be about many checks.
#[derive(Clone, Debug)]
pub struct Proof {
    /// What it consists of.
    pub evidence: Arc<Evidence>,
    /// Whether runs come to the check at all.
    pub reached: Reached,
}

/// What a proof consists of.
#[derive(Clone, Debug)]
pub struct Evidence {
    /// Which engine found it.
    pub by: EngineName,
    /// Its kind.
    pub kind: ProofKind,
    /// Whether code of its own has checked it.
    pub checked: ProofCheck,
}

/// The kinds of proofs.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum ProofKind {
    /// The set of reachable stores is complete, and has no error.
    Saturation,
    /// An inductive invariant at each location.
    Invariants {
        /// The invariants, in words of the source.
        holds: Vec<(Node, String)>,
        /// Bounds of variables at heads of loops, which data flow has found and the proof assumes,
        /// as far as they have words in the source; none if nothing is assumed.
        bounds: Option<Vec<(Node, String)>>,
    },
    /// All loops end within a number of iterations, and no run fails within it.
    Unrolling {
        /// The number of iterations.
        bound: usize,
        /// The program that was unrolled: the part that matters of the one that was asked about,
        /// simplified.
        program: Arc<Program>,
    },
    /// The same of programs with threads: no order of their events fails.
    Orders(usize),
    /// An invariant for each pair of threads that all others keep.
    Pairs,
    /// The ranges of variables, found by data flow.
    Ranges,
    /// The states of an automaton along all paths, whatever the data are.
    States,
}

/// Whether a proof was checked by other code than found it.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum ProofCheck {
    /// There is no check for this kind of proof.
    NotApplicable,
    /// It was accepted, by this solver; none is the embedded one.
    Accepted(Option<String>),
    /// It was not decided, and why.
    Undecided(String),
}

/// Whether runs come to a check.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Reached {
    /// Some run does.
    Yes,
    /// No run does: the check holds for this reason alone, which is often a mistake.
    No {
        /// The last location on the way that runs do come to.
        beyond: Option<Node>,
    },
    /// This was not asked, or not decided in time.
    Unknown,
}

/// The engines.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub enum EngineName {
    /// Decision diagrams over all of the data.
    Exact,
    /// Abstraction refinement.
    Refinement,
    /// All runs with a bounded number of iterations of each loop.
    Bounded,
    /// Runs with random inputs.
    RandomRuns,
    /// k-induction from facts.
    Induction,
    /// Property-directed reachability from facts.
    Reachability,
    /// Decision diagrams over variables that take few values.
    SmallValues,
    /// All states one by one, as far as constants go.
    Enumeration,
    /// The run of a program that takes no input.
    SingleRun,
    /// Ranges of variables at all locations.
    DataFlow,
    /// Schedules: all configurations, one by one.
    Explicit,
    /// Schedules: a bounded number of contexts as a sequential program.
    Eager,
    /// Schedules: all orders of the events of unrolled threads as one formula.
    Events,
    /// Invariants of pairs of threads.
    Modular,
}

impl EngineName {
    /// The name as options and JSON have it.
    pub fn option(self) -> &'static str {
        match self {
            Self::Exact => "exact",
            Self::Refinement => "cegar",
            Self::Bounded => "bounded",
            Self::RandomRuns => "random",
            Self::Induction => "induction",
            Self::Reachability => "pdr",
            Self::SmallValues => "values",
            Self::Enumeration => "states",
            Self::SingleRun => "run",
            Self::DataFlow => "flow",
            Self::Explicit => "explicit",
            Self::Eager => "eager",
            Self::Events => "events",
            Self::Modular => "modular",
        }
    }
}

impl fmt::Display for EngineName {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(match self {
            Self::Exact => "exact checking",
            Self::Refinement => "refinement",
            Self::Bounded => "bounded checking",
            Self::RandomRuns => "random runs",
            Self::Induction => "induction",
            Self::Reachability => "property-directed reachability",
            Self::SmallValues => "exact checking of small values",
            Self::Enumeration => "enumeration of states",
            Self::SingleRun => "the only run",
            Self::DataFlow => "data flow",
            Self::Explicit => "explicit search",
            Self::Eager => "the reduction to a sequential program",
            Self::Events => "bounded checking of events",
            Self::Modular => "invariants of pairs of threads",
        })
    }
}

/// Why a verdict is unknown.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Why {
    /// A limit was met.
    Limit(StopReason),
    /// The engine does not take the program.
    NotTaken(CheckError),
    /// No engine has decided it: how far each of them came.
    Undecided(Vec<Stopped>),
    /// Another check fails, and only the first failure was wanted.
    NotAsked,
    /// A run fails, provided that what is here ends.
    Provided(Vec<Span>),
    /// No schedule fails within some bounds; it is not known of all others.
    Switches {
        /// The bounds.
        covered: Covered,
        /// The limit that was met, if it is not one of these bounds.
        stop: Option<StopReason>,
    },
    /// It can fail, but no run could be constructed.
    NoRun(StopReason),
    /// It holds only if something does not matter that the program can observe.
    Doubts(Vec<String>),
    /// A part of the question is not decided, in words.
    NotDecided(String),
    /// An index can be outside of its array, here.
    OutOfBounds(Span),
    /// Runs come to a place that is not modelled, or it is not known that none does.
    Unsupported {
        /// The place and what is not supported there.
        what: String,
        /// Whether a run was found that comes there.
        reached: bool,
    },
    /// A proof was found, and its check says that it is none: an error of ours.
    Refuted(String),
    /// A proof was found, but the solver that was named did not accept it.
    NotAccepted {
        /// The solver.
        solver: String,
        /// Why not.
        why: String,
    },
    /// A failing run was found, but the compiled program does not fail.
    NotConfirmed(String),
    /// A failing run was found that was not confirmed, and it depends on a value that is
    /// approximated.
    ValueLeftOpen {
        /// The expression.
        at: Span,
        /// Why it could not be replayed.
        why: String,
    },
}

impl Why {
    /// The reason in words, for "unknown, because …".
    pub fn words(&self, program: &Program) -> String {
        let place =
            |span: &Span| format!("{}:{}", program.source(*span).name(), program.position(*span).line);
        match self {
            Self::Limit(stop) => stop.why().to_owned(),
            Self::NotTaken(error) => match error {
                CheckError::Threads { at } | CheckError::Memory { at, .. } => {
                    format!("{error} ({})", place(at))
                }
                _ => error.to_string(),
            },
            Self::Undecided(engines) => engines.iter().map(Stopped::words).collect::<Vec<_>>().join("; "),
            Self::Switches { covered, stop } => {
                let values = if covered.some_values { ", with some values of inputs only" } else { "" };
                let stop = stop.map(|stop| format!("; {}", stop.why())).unwrap_or_default();
                format!("{}{values}{stop}", covered.words())
            }
            Self::Provided(parts) => {
                let places: Vec<String> = parts.iter().map(place).collect();
                format!("it can fail, provided that this ends: {}", places.join(", "))
            }
            Self::NotAsked => "another check fails first (--first-failure)".to_owned(),
            Self::NoRun(stop) => format!("it can fail, but no run can be shown: {}", stop.why()),
            Self::Doubts(doubts) => format!("it is safe only if {}", doubts.join("; and only if ")),
            Self::NotDecided(what) => what.clone(),
            Self::OutOfBounds(at) => {
                format!("an index can be outside of its array at {}, so that nothing is certain", place(at))
            }
            Self::Unsupported { what, reached: true } => what.clone(),
            Self::Unsupported { what, reached: false } => {
                format!("{what}, and it is not known whether runs come there")
            }
            Self::Refuted(why) => {
                format!("a proof was found, but its check refutes it: {why}; this is an error of wherefore")
            }
            Self::NotAccepted { solver, why } => {
                format!("a proof was found, but `{solver}` did not accept it: {why}")
            }
            Self::NotConfirmed(why) => format!(
                "a failing run was found, but the compiled program does not fail with its inputs: {why}"
            ),
            Self::ValueLeftOpen { at, why } => format!(
                "a failing run was found, but it was not confirmed ({why}), and it depends on an approximated value at {}",
                place(at)
            ),
        }
    }
}

/// How far an engine came.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Stopped {
    /// The engine.
    pub engine: EngineName,
    /// Why it stopped.
    pub cause: Cause,
    /// No run fails within this number of iterations of each loop.
    pub bound: Option<usize>,
    /// How many counterexamples refinement has excluded.
    pub excluded: usize,
}

/// Why an engine stopped.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Cause {
    /// A limit.
    Limit(StopReason),
    /// The unrolled or inlined program is too large.
    TooLarge,
    /// The largest number of iterations was tried.
    LargestBound,
    /// No predicates were found that exclude a counterexample.
    NoPredicates,
    /// Facts and steps do not exclude a failure, up to the largest depth of induction.
    NotInductive,
    /// The program takes input, so that it has several runs.
    TakesInput,
    /// A way to a failure was found, which is left to engines that make runs.
    OpenWay,
    /// A proof was found, but its check did not accept it.
    ProofNotAccepted(String),
    /// So many random runs were made, and none fails.
    NoFailure {
        /// How many.
        runs: usize,
    },
    /// The engine is not used where effort is counted in steps, or another solver checks proofs.
    NotTried,
    /// The engine has failed: an error of ours.
    Failed,
}

impl Stopped {
    fn words(&self) -> String {
        let cause = match &self.cause {
            Cause::Limit(stop) => stop.why(),
            Cause::TooLarge => "the program is too large with its calls expanded",
            Cause::LargestBound => "the largest bound was reached",
            Cause::NoPredicates => "no predicates were found that exclude a counterexample",
            Cause::NotInductive => "the checks are not inductive to the largest depth",
            Cause::TakesInput => "the program takes input, or rests on values that are not set",
            Cause::OpenWay => "a way to a failure remains that it cannot run",
            Cause::ProofNotAccepted(why) => why,
            Cause::NoFailure { runs: 0 } => "no time was left",
            Cause::NoFailure { runs } => &format!("none of {runs} fails"),
            Cause::NotTried => "it was not tried",
            Cause::Failed => "it failed, which is an error of wherefore",
        };
        match self.engine {
            EngineName::Exact
            | EngineName::DataFlow
            | EngineName::Explicit
            | EngineName::Eager
            | EngineName::Events
            | EngineName::Modular => cause.to_owned(),
            EngineName::Bounded => {
                let known = match self.bound {
                    Some(1) => "no run fails within 1 iteration of each loop".to_owned(),
                    Some(bound) => format!("no run fails within {bound} iterations of each loop"),
                    None => "no bound was completed".to_owned(),
                };
                format!("bounded checking: {cause}; {known}")
            }
            EngineName::RandomRuns => format!("random runs: {cause}"),
            EngineName::Enumeration => format!("enumeration of states: {cause}"),
            EngineName::SingleRun => format!("the only run: {cause}"),
            EngineName::Induction => format!("induction: {cause}"),
            EngineName::SmallValues => format!("small values: {cause}"),
            EngineName::Reachability => {
                let lemmas = if self.excluded == 1 { "lemma was" } else { "lemmas were" };
                format!("property-directed reachability: {cause}; {} {lemmas} learnt", self.excluded)
            }
            EngineName::Refinement => {
                let count = self.excluded;
                let what = if count == 1 { "counterexample was" } else { "counterexamples were" };
                format!("refinement: {cause}; {count} {what} excluded")
            }
        }
    }
}

/// Why a program cannot be checked by an engine.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
#[non_exhaustive]
pub enum CheckError {
    /// The program uses threads.
    #[error("threads are not supported here, only by `wherefore check`")]
    Threads {
        /// The first place that does.
        at: Span,
    },
    /// Deadlocks are no place that a run comes to.
    #[error("deadlocks are searched for by explicit search only")]
    Deadlocks {
        /// Where the program starts.
        at: Span,
    },
    /// The program has memory: more cells than can be listed.
    #[error("exact checking does not take programs with memory (`{variable}`)")]
    Memory {
        /// The first variable that is memory.
        variable: String,
        /// Where it is first used.
        at: Span,
    },
    /// The program computes with floating-point numbers.
    #[error("exact checking does not take programs with floating-point numbers")]
    Floats {
        /// The first place that does.
        at: Span,
    },
    /// The program has more bits of data than decision diagrams can take.
    #[error("the program has {bits} bits of data, more than the {most} that exact checking takes")]
    TooManyBits {
        /// How many there are.
        bits: usize,
        /// How many there may be.
        most: usize,
    },
}

/// What was found about the checks of a task.
#[derive(Clone, Debug)]
pub struct Answer {
    /// A verdict for each check, in the order of the task.
    pub verdicts: Vec<Verdict>,
    /// What else was learnt.
    pub facts: Facts,
}

/// Facts beside the verdicts.
#[derive(Clone, Debug, Default)]
pub struct Facts {
    /// The engine that decided; none if none did.
    pub by: Option<EngineName>,
    /// What refinement did, if it decided.
    pub refinement: Option<Refinement>,
    /// No run fails within this number of iterations of each loop.
    pub bound: Option<usize>,
    /// The size of the encoding by decision diagrams, if there is one.
    pub size: Option<Size>,
    /// What was learnt of the schedules, if there are threads.
    pub threads: Option<ThreadFacts>,
    /// What speaks against *safe*, although there may be no check that it could be said of: runs
    /// come to a place that is not modelled.
    pub spoilt: Option<Why>,
}

/// Facts about the schedules of a program.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct ThreadFacts {
    /// The most threads of a run that was followed, with the first one.
    pub threads: usize,
    /// With so many switches all configurations are reached, if that is known.
    pub saturated: Option<usize>,
    /// How many configurations were seen one by one, up to the names of threads.
    pub configurations: Option<usize>,
    /// Within which bounds no schedule fails.
    pub covered: Covered,
}

/// The size of an encoding by decision diagrams.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Size {
    /// Boolean variables of a store.
    pub bits: usize,
    /// Rules of the pushdown system.
    pub rules: usize,
    /// Nodes of all diagrams.
    pub diagram_nodes: usize,
}

/// What refinement did.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Refinement {
    /// Which interpolants became predicates, where there is a choice.
    pub heuristic: Option<Heuristic>,
    /// Iterations: counterexamples that were excluded.
    pub iterations: usize,
    /// Predicates at all points.
    pub predicates: usize,
    /// Predicates at the point that has most.
    pub most_predicates: usize,
    /// Rules that were abstracted, over all iterations, where they are counted.
    pub abstracted_rules: Option<usize>,
    /// The predicates, point by point.
    pub tracked: Vec<Tracked>,
}

/// The predicates at a point.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Tracked {
    /// The location.
    pub node: Node,
    /// Which point of it.
    pub point: PointKind,
    /// The predicates in the words of the source.
    pub predicates: Vec<String>,
}

/// The points that predicates are tracked at.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub enum PointKind {
    /// Before the statement.
    Before,
    /// During the call.
    Call,
    /// At the exit of the procedure: its effect.
    Exit,
}

impl Answer {
    /// The same verdict for every check.
    pub fn uniform(checks: usize, verdict: &Verdict) -> Self {
        Self { verdicts: vec![verdict.clone(); checks], facts: Facts::default() }
    }

    /// One verdict for the whole: *unsafe* if some check can fail, *safe* if all hold.
    pub fn decision(&self) -> Overall<'_> {
        if let Some(run) = self.verdicts.iter().find_map(Verdict::run) {
            return Overall::Unsafe(run);
        }
        match self.verdicts.iter().find_map(Verdict::why).or(self.facts.spoilt.as_ref()) {
            Some(why) => Overall::Unknown(why),
            None => Overall::Safe,
        }
    }
}

/// The verdict on all checks together.
#[derive(Clone, Copy, Debug)]
pub enum Overall<'a> {
    /// All checks hold.
    Safe,
    /// Some check can fail: the first such run.
    Unsafe(&'a FailingRun),
    /// None is known to fail, and some are not decided.
    Unknown(&'a Why),
}
