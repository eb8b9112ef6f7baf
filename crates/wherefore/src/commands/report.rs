//! An answer as data: what `--json` prints, and what the text is made of.

use serde::Serialize;
use wherefore_check::harness::Replay;
use wherefore_check::{
    Answer, Evidence, FailingRun, Overall, PointKind, ProofCheck, ProofKind, Reached, Tracked, Verdict, Why,
};
use wherefore_program::{ErrorKind, ErrorSite, Node, Program, Task};

use super::run::{RunStep, Slice, slice_of, steps};
use super::schedule::Schedules;
use super::{Subject, again, property};
use crate::exit::Exit;
use crate::limits::DEFAULT_FOR_C;

/// The verdict on a task.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize)]
#[serde(rename_all = "lowercase")]
pub enum Word {
    Safe,
    Unsafe,
    Unknown,
}

impl Word {
    /// `safe`, `unsafe` or `unknown`.
    pub fn name(self) -> &'static str {
        match self {
            Self::Safe => "safe",
            Self::Unsafe => "unsafe",
            Self::Unknown => "unknown",
        }
    }

    /// The verdict on all checks together.
    pub fn of(answer: &Answer) -> Self {
        match answer.decision() {
            Overall::Safe => Self::Safe,
            Overall::Unsafe(_) => Self::Unsafe,
            Overall::Unknown(_) => Self::Unknown,
        }
    }

    pub fn exit(self) -> Exit {
        match self {
            Self::Safe => Exit::Negative,
            Self::Unsafe => Exit::Positive,
            Self::Unknown => Exit::Unknown,
        }
    }
}

/// The verdict on one check.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize)]
#[serde(rename_all = "lowercase")]
pub enum CheckWord {
    Safe,
    Unsafe,
    Unknown,
    /// It holds because no run comes there.
    Unreachable,
}

/// The place of a check.
#[derive(Clone, Debug, Serialize)]
pub struct Place {
    pub file: String,
    pub line: u32,
    /// `assertion`, `error-call`, `label` or `procedure`.
    pub kind: &'static str,
    #[serde(skip_serializing_if = "Option::is_none")]
    pub label: Option<String>,
    /// What breaks a rule of C there, in words.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub message: Option<String>,
    /// What would break it, in words.
    #[serde(skip)]
    subject: Option<String>,
}

impl Place {
    /// The place of a check; `run` is a run that fails there, whose values are told.
    pub fn of(program: &Program, site: &ErrorSite, run: Option<&FailingRun>) -> Self {
        let span = program.location(site.node).span;
        let (kind, label) = match &site.kind {
            ErrorKind::Assertion => ("assertion", None),
            ErrorKind::Call(name) => ("error-call", Some(name.clone())),
            ErrorKind::Label(name) => ("label", Some(name.clone())),
            ErrorKind::Entry(name) => ("procedure", Some(name.clone())),
            ErrorKind::Violation(kind) => (kind.name(), None),
        };
        let last = run.and_then(|run| run.trace.states().last());
        let message = program.violation_in_words(site.node, last);
        let file = program.source(span).name().to_owned();
        let subject = program.violation_subject(site.node);
        Self { file, line: program.position(span).line, kind, label, message, subject }
    }

    /// The place of a check that does not fail.
    pub fn words_without_failure(&self) -> String {
        match &self.subject {
            Some(subject) => format!("{}:{}: {subject} [{}]", self.file, self.line, self.kind),
            None => self.words(),
        }
    }

    pub fn words(&self) -> String {
        match &self.label {
            None if self.message.is_some() => {
                let message = self.message.as_deref().unwrap_or_default();
                format!("{}:{}: {message} [{}]", self.file, self.line, self.kind)
            }
            None => format!("{}:{}: {}", self.file, self.line, self.kind),
            Some(name) if self.kind == "error-call" => {
                format!("{}:{}: call of `{name}`", self.file, self.line)
            }
            Some(label) => format!("{}:{}: {} {label}", self.file, self.line, self.kind),
        }
    }
}

/// A check with its verdict.
#[derive(Serialize)]
pub struct Target {
    #[serde(flatten)]
    pub place: Place,
    pub verdict: CheckWord,
    /// Why it is unknown or unreachable.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub reason: Option<String>,
    /// The failing run, if it is not the one that the answer shows.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub run: Option<Run>,
}

/// A failing run.
#[derive(Serialize)]
pub struct Run {
    pub trace: Vec<RunStep>,
    pub shortest: bool,
    #[serde(skip_serializing_if = "Option::is_none")]
    pub slice: Option<Slice>,
    #[serde(skip_serializing_if = "Option::is_none")]
    pub replay: Option<Replayed>,
    /// Loops and calls that the run leaves out: they end, and nothing that it does depends on them.
    #[serde(skip_serializing_if = "Vec::is_empty")]
    pub left_out: Vec<LineOf>,
    /// How many steps at its beginning are left out, too.
    #[serde(skip_serializing_if = "is_zero")]
    pub steps_left_out: usize,
}

impl Run {
    /// A failing run as data.
    pub fn of(task: &Task, run: &FailingRun) -> Self {
        // A schedule is shown context by context.
        if run.schedule.is_some() {
            let replay = run.replay.as_ref().map(Replayed::of);
            return Self {
                trace: Vec::new(),
                shortest: false,
                slice: None,
                replay,
                left_out: Vec::new(),
                steps_left_out: 0,
            };
        }
        let trace = steps(task, run);
        let slice = slice_of(&trace);
        let replay = run.replay.as_ref().map(Replayed::of);
        let steps_left_out = run.steps_left_out;
        let left_out = left_out(&task.program, run);
        Self { trace, shortest: run.is_shortest, slice, replay, left_out, steps_left_out }
    }
}

/// A line of a file.
#[derive(Clone, Debug, PartialEq, Eq, PartialOrd, Ord, Serialize)]
pub struct LineOf {
    pub file: String,
    pub line: u32,
}

/// The lines of what a run leaves out.
fn left_out(program: &Program, run: &FailingRun) -> Vec<LineOf> {
    let parts = run.left_out.iter().flat_map(|left_out| &left_out.parts);
    let line = |span: &wherefore_program::Span| LineOf {
        file: program.source(*span).name().to_owned(),
        line: program.position(*span).line,
    };
    let lines: std::collections::BTreeSet<LineOf> = parts.map(line).collect();
    lines.into_iter().collect()
}

/// What came of a replay by the compiled program.
#[derive(Clone, Serialize)]
pub struct Replayed {
    /// `confirmed`, `not-confirmed` or `not-replayed`.
    pub outcome: &'static str,
    #[serde(skip_serializing_if = "Option::is_none")]
    pub why: Option<String>,
}

impl Replayed {
    pub fn of(replay: &Replay) -> Self {
        match replay {
            Replay::Confirmed { note, .. } => Self { outcome: "confirmed", why: note.clone() },
            Replay::NotConfirmed { why } => Self { outcome: "not-confirmed", why: Some(why.clone()) },
            Replay::NotReplayed { why } => Self { outcome: "not-replayed", why: Some(why.clone()) },
        }
    }
}

/// Whether a proof was checked.
#[derive(Clone, Serialize)]
pub struct Proof {
    pub checked: bool,
    /// What was checked: `invariant` or `unrolling`.
    pub how: &'static str,
    /// The solver that was asked: `embedded`, or its command line.
    pub solver: String,
    /// Whether it rests on bounds of variables that data flow has found.
    pub rests_on_bounds: bool,
    /// Why it was not checked.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub why: Option<String>,
}

impl Proof {
    fn of(evidence: &Evidence) -> Option<Self> {
        let how = match evidence.kind {
            ProofKind::Saturation
            | ProofKind::Ranges
            | ProofKind::States
            | ProofKind::Orders(_)
            | ProofKind::Pairs => {
                return None;
            }
            ProofKind::Invariants { .. } => "invariant",
            ProofKind::Unrolling { .. } => "unrolling",
        };
        let rests_on_bounds = matches!(evidence.kind, ProofKind::Invariants { bounds: Some(_), .. });
        let embedded = || "embedded".to_owned();
        Some(match &evidence.checked {
            ProofCheck::NotApplicable => return None,
            ProofCheck::Accepted(solver) => {
                let solver = solver.clone().unwrap_or_else(embedded);
                Self { checked: true, how, solver, rests_on_bounds, why: None }
            }
            ProofCheck::Undecided(why) => {
                Self { checked: false, how, solver: embedded(), rests_on_bounds, why: Some(why.clone()) }
            }
        })
    }

    /// In a sentence.
    pub fn words(&self) -> String {
        let by = if self.solver == "embedded" { String::new() } else { format!(" by `{}`", self.solver) };
        match (&self.why, self.how) {
            (Some(why), _) => format!("the proof was not checked a second time: {why}"),
            (None, "invariant") if self.rests_on_bounds => format!(
                "the proof was checked{by}: its invariants are inductive, with the bounds of variables that data flow found"
            ),
            (None, "invariant") => format!("the proof was checked{by}: its invariants are inductive"),
            (None, _) => format!("the proof was checked{by}: the program was unrolled a second time"),
        }
    }
}

/// What abstraction refinement did.
#[derive(Serialize)]
pub struct Refinement {
    /// Which interpolants became predicates, where there is a choice.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub heuristic: Option<&'static str>,
    /// How many times the abstraction was refined.
    pub cycles: usize,
    /// Predicates at all points, and at the point that has most.
    pub predicates: usize,
    pub most_predicates: usize,
    /// How many abstract rules were computed, over all iterations, where they are counted.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub abstracted_rules: Option<usize>,
    #[serde(skip_serializing_if = "Option::is_none")]
    pub points: Option<Vec<Formulas>>,
}

/// Formulas at a point.
#[derive(Serialize)]
pub struct Formulas {
    pub line: u32,
    pub procedure: String,
    /// `before` a statement, during a `call`, or at the `exit` of the procedure.
    pub place: &'static str,
    pub predicates: Vec<String>,
}

impl Formulas {
    fn of(program: &Program, tracked: &Tracked) -> Self {
        let place = match tracked.point {
            PointKind::Before => "before",
            PointKind::Call => "call",
            PointKind::Exit => "exit",
        };
        let procedure = program.procedure(tracked.node.procedure);
        let line = match tracked.point {
            PointKind::Exit => program.position(procedure.span).line,
            _ => program.line(tracked.node).unwrap_or_default(),
        };
        Self { line, procedure: procedure.name.clone(), place, predicates: tracked.predicates.clone() }
    }
}

/// Figures of a run.
#[derive(Default, Serialize)]
pub struct Stats {
    pub locations: usize,
    pub bits: usize,
    pub rules: usize,
    pub diagram_nodes: usize,
    pub seconds: f64,
}

impl Stats {
    pub fn of(subject: &Subject, size: Option<wherefore_check::Size>) -> Self {
        let size = size.unwrap_or_default();
        Self {
            locations: subject.task.program.nodes().count(),
            bits: size.bits,
            rules: size.rules,
            diagram_nodes: size.diagram_nodes,
            seconds: subject.begin.elapsed().as_secs_f64(),
        }
    }
}

/// Which parts of an answer are wanted.
#[derive(Clone, Copy, Default)]
pub struct Parts {
    /// The predicates of refinement.
    pub predicates: bool,
    /// The invariants of a proof.
    pub invariants: bool,
}

/// The answer of `check`.
#[derive(Serialize)]
pub struct CheckReport {
    pub verdict: Word,
    #[serde(skip_serializing_if = "Option::is_none")]
    pub reason: Option<String>,
    /// Whether nothing that the property names occurs in the program; only said if so.
    #[serde(skip_serializing_if = "std::ops::Not::not")]
    pub vacuous: bool,
    /// The engine that decided: `exact`, `cegar`, `bounded`, `explicit`, `eager` or
    /// `events`, `modular`.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub engine: Option<&'static str>,
    /// What must not happen; only said of C programs.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub property: Option<String>,
    /// The command that gives this answer again; only said of C programs.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub command: Option<String>,
    /// Where the run fails that is shown.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub error: Option<Place>,
    /// Each check with its verdict.
    pub targets: Vec<Target>,
    /// How many checks hold by data flow, without an engine.
    #[serde(skip_serializing_if = "is_zero")]
    pub by_data_flow: usize,
    /// What is known of schedules; only said if there are threads.
    #[serde(flatten, skip_serializing_if = "Option::is_none")]
    pub schedules: Option<Schedules>,
    #[serde(skip_serializing_if = "Vec::is_empty")]
    pub trace: Vec<RunStep>,
    /// Whether no failing run has fewer steps.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub shortest: Option<bool>,
    /// How much of the run matters; only said of C programs.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub slice: Option<Slice>,
    #[serde(skip_serializing_if = "Option::is_none")]
    pub refinement: Option<Refinement>,
    /// No run fails within this number of iterations of each loop.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub bound: Option<usize>,
    /// Whether the proof was checked a second time.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub proof: Option<Proof>,
    /// What the compiled program does with the inputs of the run.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub replay: Option<Replayed>,
    /// Loops and calls that the run leaves out: they end, and nothing that it does depends on them.
    #[serde(skip_serializing_if = "Vec::is_empty")]
    pub left_out: Vec<LineOf>,
    /// How many steps at its beginning are left out, too.
    #[serde(skip_serializing_if = "is_zero")]
    pub steps_left_out: usize,
    /// The invariants of the proof, line by line, if they were asked for.
    #[serde(skip_serializing_if = "Vec::is_empty")]
    pub invariants: Vec<Formulas>,
    /// Bounds at heads of loops on which they rest, if they were asked for.
    #[serde(skip_serializing_if = "Vec::is_empty")]
    pub bounds: Vec<Formulas>,
    /// The time limit in seconds, if it is the default one and was met.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub default_limit: Option<u64>,
    /// What the answer rests on.
    #[serde(skip_serializing_if = "Vec::is_empty")]
    pub assumptions: Vec<String>,
    /// Functions without a body that the program uses: what they do is assumed.
    #[serde(skip_serializing_if = "Vec::is_empty")]
    pub without_body: Vec<String>,
    pub stats: Stats,
}

impl CheckReport {
    /// An answer as data.
    pub fn of(subject: &Subject, answer: &Answer, parts: Parts) -> Self {
        let (task, program) = (&subject.task, &subject.task.program);
        let verdict = Word::of(answer);
        let shown = answer.verdicts.iter().find_map(Verdict::run);
        let reason = match answer.decision() {
            Overall::Unknown(why) => Some(why.words(program)),
            Overall::Safe => subject.nothing_to_check(),
            Overall::Unsafe(_) => None,
        };
        let is_shown = |run: &FailingRun| shown.is_some_and(|shown| shown.target == run.target);
        let targets = task.checks.iter().zip(&answer.verdicts).map(|(site, verdict)| {
            let (word, reason) = check_word(program, verdict);
            let other = verdict.run().filter(|run| !is_shown(run)).map(|run| Run::of(task, run));
            Target { place: Place::of(program, site, verdict.run()), verdict: word, reason, run: other }
        });
        let targets: Vec<Target> = targets.collect();
        let by_data_flow = answer.verdicts.iter().filter(|verdict| verdict.is_by_data_flow()).count();
        let run = shown.map(|run| Run::of(task, run));
        // A proof by an engine says more than one by data flow.
        let mut proofs = answer.verdicts.iter().filter_map(Verdict::proof).map(|proof| &proof.evidence);
        let first = proofs.clone().next();
        let evidence =
            proofs.find(|evidence| !matches!(evidence.kind, ProofKind::Ranges | ProofKind::States)).or(first);
        let proved = evidence.filter(|_| verdict == Word::Safe);
        let by = answer.facts.by.map(wherefore_check::EngineName::option);
        let asked = subject.c.as_ref();
        let has_threads = program.uses_threads().is_some();
        let steps_left_out = run.as_ref().map_or(0, |run| run.steps_left_out);
        let (trace, shortest, slice, replay, left_out) = match run {
            Some(run) => (
                run.trace,
                Some(run.shortest).filter(|_| !task.is_c() && !has_threads),
                run.slice,
                run.replay,
                run.left_out,
            ),
            None => (Vec::new(), None, None, contradicted(answer), Vec::new()),
        };
        Self {
            verdict,
            reason,
            vacuous: subject.vacuity.is_some() && verdict == Word::Safe,
            engine: by,
            property: asked.map(property::words),
            // Only an engine that decided is named, and one that can be chosen: data flow comes
            // first in any case.
            command: asked.map(|_| again::command(by.filter(|by| verdict != Word::Unknown && *by != "flow"))),
            error: shown.map(|run| Place::of(program, &task.checks[run.target], Some(run))),
            targets,
            by_data_flow,
            schedules: program.uses_threads().map(|_| Schedules::of(task, answer)),
            trace,
            shortest,
            slice,
            refinement: answer.facts.refinement.as_ref().map(|facts| refinement(program, facts, parts)),
            bound: answer.facts.bound,
            proof: proved.and_then(|evidence| Proof::of(evidence)),
            replay,
            left_out,
            steps_left_out,
            invariants: proved.map(|evidence| invariants(program, evidence, parts)).unwrap_or_default(),
            bounds: proved.map(|evidence| bounds(program, evidence, parts)).unwrap_or_default(),
            default_limit: (subject.has_default_limit && subject.budget.left().is_some_and(is_short))
                .then_some(DEFAULT_FOR_C.as_secs()),
            assumptions: task.assumptions_in_words(),
            without_body: subject.c.as_ref().map(|c| c.without_body.clone()).unwrap_or_default(),
            stats: Stats::of(subject, answer.facts.size),
        }
    }

    /// How many checks have a verdict.
    pub fn count(&self, word: CheckWord) -> usize {
        self.targets.iter().filter(|target| target.verdict == word).count()
    }
}

/// Whether so little time is left that a limit was met: some is kept for confirmation.
fn is_short(left: std::time::Duration) -> bool {
    left < DEFAULT_FOR_C / 8
}

#[allow(clippy::trivially_copy_pass_by_ref)]
fn is_zero(count: &usize) -> bool {
    *count == 0
}

/// The replay that contradicts a failing run.
fn contradicted(answer: &Answer) -> Option<Replayed> {
    answer.verdicts.iter().filter_map(Verdict::why).find_map(|why| match why {
        Why::NotConfirmed(why) => Some(Replayed { outcome: "not-confirmed", why: Some(why.clone()) }),
        Why::ValueLeftOpen { why, .. } => Some(Replayed { outcome: "not-replayed", why: Some(why.clone()) }),
        _ => None,
    })
}

/// The verdict on a check, and why it is unknown or unreachable.
pub fn check_word(program: &Program, verdict: &Verdict) -> (CheckWord, Option<String>) {
    match verdict {
        Verdict::Unsafe(_) => (CheckWord::Unsafe, None),
        Verdict::Unknown(why) => (CheckWord::Unknown, Some(why.words(program))),
        Verdict::Safe(proof) => match &proof.reached {
            Reached::Yes | Reached::Unknown => (CheckWord::Safe, None),
            Reached::No { beyond } => {
                let line = beyond.and_then(|node| program.line(node));
                let reason = match line {
                    Some(line) => format!("no run comes here: none goes beyond line {line}"),
                    None => "no run comes here".to_owned(),
                };
                (CheckWord::Unreachable, Some(reason))
            }
        },
    }
}

fn refinement(program: &Program, facts: &wherefore_check::Refinement, parts: Parts) -> Refinement {
    let points = || facts.tracked.iter().map(|tracked| Formulas::of(program, tracked)).collect();
    Refinement {
        heuristic: facts.heuristic.map(wherefore_check::refinement::diagrams::interpolants::Heuristic::name),
        cycles: facts.iterations,
        predicates: facts.predicates,
        most_predicates: facts.most_predicates,
        abstracted_rules: facts.abstracted_rules,
        points: parts.predicates.then(points),
    }
}

/// The invariants of a proof; unreachable lines are omitted.
fn invariants(program: &Program, evidence: &Evidence, parts: Parts) -> Vec<Formulas> {
    match &evidence.kind {
        ProofKind::Invariants { holds, .. } if parts.invariants => formulas(program, holds),
        _ => Vec::new(),
    }
}

/// The bounds that the invariants of a proof rest on.
fn bounds(program: &Program, evidence: &Evidence, parts: Parts) -> Vec<Formulas> {
    match &evidence.kind {
        ProofKind::Invariants { bounds: Some(bounds), .. } if parts.invariants => formulas(program, bounds),
        _ => Vec::new(),
    }
}

fn formulas(program: &Program, list: &[(Node, String)]) -> Vec<Formulas> {
    let told = list.iter().filter(|(_, formula)| formula != "false");
    let formulas = told.map(|(node, formula)| Formulas {
        line: program.line(*node).unwrap_or_default(),
        procedure: program.procedure(node.procedure).name.clone(),
        place: "before",
        predicates: vec![formula.clone()],
    });
    formulas.collect()
}
