//! The answer about a backtrace as data.

use serde::Serialize;
use wherefore_check::harness::Replay;
use wherefore_explain::{Grain, Steps};
use wherefore_program::{Node, Operation, Program};
use wherefore_trace::{
    Backtrace, Clue, Clues, Evidence, Origin, Outcome, Path, Reason, Run, Subject, Traced, Value, Visited,
    source_name, visited,
};

/// The version of the form of the answer.
const SCHEMA: u32 = 1;

/// The answer.
#[derive(Serialize)]
pub struct TraceReport {
    pub schema: u32,
    pub trace: TraceBody,
    /// What the answer rests on.
    #[serde(skip_serializing_if = "Vec::is_empty")]
    pub assumptions: Vec<String>,
}

/// What was found.
#[derive(Serialize)]
pub struct TraceBody {
    /// `feasible`, `none`, or `path`: not decided.
    pub answer: &'static str,
    /// Whether a run ends in the stack; missing if it is not known.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub feasible: Option<bool>,
    /// Why there is none, or why it is not known.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub reason: Option<String>,
    /// What happened, in the words of the backtrace.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub happened: Option<String>,
    pub stack: Vec<FrameReport>,
    /// The steps of the shortest path; none if there is no path.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub length: Option<u64>,
    #[serde(skip_serializing_if = "Vec::is_empty")]
    pub path: Vec<StepReport>,
    /// The steps of the run, with values.
    #[serde(skip_serializing_if = "Vec::is_empty")]
    pub run: Vec<StepReport>,
    pub visited: Vec<ClueReport>,
    pub missed: Vec<ClueReport>,
    /// What goes wrong at the end of the run.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub failure: Option<String>,
    pub inputs: Vec<InputReport>,
    #[serde(skip_serializing_if = "Option::is_none")]
    pub replay: Option<ReplayReport>,
    #[serde(skip_serializing_if = "Vec::is_empty")]
    pub notes: Vec<String>,
}

/// A frame.
#[derive(Serialize)]
pub struct FrameReport {
    pub frame: usize,
    #[serde(skip_serializing_if = "Option::is_none")]
    pub function: Option<String>,
    #[serde(skip_serializing_if = "Option::is_none")]
    pub file: Option<String>,
    #[serde(skip_serializing_if = "Option::is_none")]
    pub line: Option<u32>,
    /// Conditions on arguments that were taken from it.
    #[serde(skip_serializing_if = "Vec::is_empty")]
    pub conditions: Vec<String>,
    /// Whether it is not of the program.
    #[serde(skip_serializing_if = "std::ops::Not::not")]
    pub skipped: bool,
}

/// A step of a path or run.
#[derive(Serialize, Clone)]
pub struct StepReport {
    pub file: String,
    pub line: u32,
    pub procedure: String,
    pub text: String,
    /// How many calls are open.
    pub depth: usize,
    #[serde(skip_serializing_if = "Vec::is_empty")]
    pub values: Vec<(String, String)>,
    /// What says that the run was here.
    #[serde(skip_serializing_if = "Vec::is_empty")]
    pub evidence: Vec<String>,
    /// Whether the procedure returns before the end.
    pub returns: bool,
}

/// Something that was to be visited.
#[derive(Serialize)]
pub struct ClueReport {
    pub places: Vec<String>,
    pub by: String,
}

/// A value from outside.
#[derive(Serialize)]
pub struct InputReport {
    pub function: String,
    pub value: String,
}

/// What the compiled program does.
#[derive(Serialize)]
pub struct ReplayReport {
    pub outcome: &'static str,
    #[serde(skip_serializing_if = "Option::is_none")]
    pub why: Option<String>,
    /// Whether the stack of the compiled program is the given one; missing if it does not show.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub same_stack: Option<bool>,
}

impl TraceReport {
    pub fn new(
        subject: Subject<'_>,
        backtrace: &Backtrace,
        clues: &Clues,
        traced: &Traced,
        notes: Vec<String>,
    ) -> Self {
        let (answer, feasible, reason) = match &traced.outcome {
            Outcome::Feasible { .. } => ("feasible", Some(true), None),
            Outcome::None(reason) => {
                let values =
                    if traced.conditions.is_empty() { "" } else { ", with these values of arguments" };
                let values = if matches!(reason, Reason::Proved(_)) { values } else { "" };
                ("none", Some(false), Some(of_reason(reason) + values))
            }
            Outcome::Open(why) => ("path", None, Some(why.clone())),
        };
        let mut body = TraceBody {
            answer,
            feasible,
            reason,
            happened: backtrace.happened.as_ref().map(|happened| happened.words.clone()),
            stack: frames(backtrace, traced),
            length: traced.path.as_ref().map(|path| path.way.cost),
            path: Vec::new(),
            run: Vec::new(),
            visited: Vec::new(),
            missed: Vec::new(),
            failure: None,
            inputs: Vec::new(),
            replay: None,
            notes: notes.into_iter().chain(self::notes(backtrace, traced)).collect(),
        };
        let plain = &subject.plain.program;
        let mut seen = None;
        if let Some(path) = &traced.path {
            let found = visited(&Evidence::new(plain, clues, &[]), &path.nodes(plain));
            body.path = path_steps(plain, path, &found, clues);
            seen = Some(found);
        }
        if let Outcome::Feasible { run, .. } = &traced.outcome {
            let task = subject.checked.filter(|_| run.failure.is_some()).unwrap_or(subject.plain);
            let program = &task.program;
            let nodes: Vec<Node> = run.trace.states().filter_map(|state| state.node()).collect();
            let found = visited(&Evidence::new(program, clues, &[]), &nodes);
            body.run = run_steps(program, task.is_c(), run, &found, clues);
            body.failure.clone_from(&run.failure);
            let input = |(function, value): &(String, String)| InputReport {
                function: function.clone(),
                value: value.clone(),
            };
            body.inputs = run.inputs.iter().map(input).collect();
            body.replay =
                run.replay.as_ref().map(|replay| of_replay(replay, run.same_stack(program, backtrace)));
            seen = Some(found);
        }
        let all: Vec<&Clue> = clues.must.iter().chain(&clues.should).chain(&clues.order).collect();
        for (at, clue) in all.into_iter().enumerate() {
            let is_visited = seen.as_ref().is_some_and(|seen| seen.is_visited(at));
            if is_visited { &mut body.visited } else { &mut body.missed }.push(of_clue(clue));
        }
        let is_failure = matches!(&traced.outcome, Outcome::Feasible { run, .. } if run.failure.is_some());
        let task = subject.checked.filter(|_| is_failure).unwrap_or(subject.plain);
        Self { schema: SCHEMA, trace: body, assumptions: task.assumptions_in_words() }
    }
}

fn of_reason(reason: &Reason) -> String {
    match reason {
        Reason::Misfit(misfit) => misfit.to_string(),
        Reason::NoPath => "no path through the program ends in this stack".to_owned(),
        Reason::NotVisited => "no path that ends in this stack visits all that must be visited".to_owned(),
        Reason::Proved(_) => "no run ends in this stack (proved)".to_owned(),
    }
}

fn of_replay(replay: &Replay, same_stack: Option<bool>) -> ReplayReport {
    match replay {
        Replay::Confirmed { note, .. } => {
            ReplayReport { outcome: "confirmed", why: note.clone(), same_stack }
        }
        Replay::NotConfirmed { why } => {
            ReplayReport { outcome: "not-confirmed", why: Some(why.clone()), same_stack }
        }
        Replay::NotReplayed { why } => {
            ReplayReport { outcome: "not-replayed", why: Some(why.clone()), same_stack }
        }
    }
}

fn of_clue(clue: &Clue) -> ClueReport {
    let places = clue.places.iter().map(|(file, line)| format!("{file}:{line}"));
    ClueReport { places: places.collect(), by: of_origin(&clue.origin) }
}

fn of_origin(origin: &Origin) -> String {
    match origin {
        Origin::Named => "named".to_owned(),
        Origin::Coverage => "coverage".to_owned(),
        Origin::Log(line) => format!("log line {line}"),
    }
}

fn notes(backtrace: &Backtrace, traced: &Traced) -> Vec<String> {
    let mut notes = traced.fitted.as_ref().map_or(Vec::new(), |fitted| fitted.notes.clone());
    if backtrace.others > 0 {
        let stacks = if backtrace.others == 1 { "stack is" } else { "stacks are" };
        notes.push(format!("{} more {stacks} in the backtrace and not looked at", backtrace.others));
    }
    notes.extend(traced.ignored.iter().map(|what| format!("not looked at: {what}")));
    if let Outcome::Feasible { is_best: false, .. } = &traced.outcome {
        notes.push("the run visits less than the best path does".to_owned());
    }
    notes
}

fn frames(backtrace: &Backtrace, traced: &Traced) -> Vec<FrameReport> {
    let levels = traced.fitted.as_ref().map(|fitted| &fitted.frames);
    let frame = |(at, frame): (usize, &wherefore_trace::Frame)| {
        let level = levels.and_then(|levels| levels.iter().position(|other| other.frame == at));
        let here = traced.conditions.iter().filter(|condition| Some(condition.level) == level);
        let words = here.map(|condition| match &condition.value {
            Value::Number(number) => format!("{} = {number}", condition.name),
            Value::AtEntry(number) => format!("{} = {number} at the call", condition.name),
            Value::NotNull => format!("{} is not NULL", condition.name),
            Value::Other(text) => format!("{} = {text}", condition.name),
        });
        FrameReport {
            frame: at,
            function: frame.function.clone(),
            file: frame.file.clone(),
            line: frame.line,
            conditions: words.collect(),
            skipped: traced.fitted.as_ref().is_some_and(|fitted| fitted.skipped.contains(&at)),
        }
    };
    backtrace.frames.iter().enumerate().map(frame).collect()
}

fn evidence_at(found: &Visited, clues: &Clues, at: usize) -> Vec<String> {
    let all: Vec<&Clue> = clues.must.iter().chain(&clues.should).chain(&clues.order).collect();
    found
        .at(at)
        .map(|clue| match &all[clue].origin {
            Origin::Named => "visited, as named".to_owned(),
            other => format!("visited by {}", of_origin(other)),
        })
        .collect()
}

fn path_steps(program: &Program, path: &Path, found: &Visited, clues: &Clues) -> Vec<StepReport> {
    let nodes = path.nodes(program);
    let mut depth = 0;
    let mut steps = Vec::new();
    // The calls that are open at the end.
    let mut open: Vec<usize> = Vec::new();
    let mut calls: Vec<usize> = Vec::new();
    for (at, edge) in path.edges.iter().enumerate() {
        match program.edge(*edge).operation {
            Operation::Call(_) => calls.push(at),
            Operation::Return(_) => {
                calls.pop();
            }
            _ => {}
        }
    }
    open.extend(&calls);
    let mut returning = 0usize;
    for (at, node) in nodes.iter().enumerate() {
        let location = program.location(*node);
        let evidence = evidence_at(found, clues, at);
        if wherefore_trace::is_step(program, *node) {
            steps.push(StepReport {
                file: program.source(location.span).name().to_owned(),
                line: program.position(location.span).line,
                procedure: source_name(&program.procedure(node.procedure).name).to_owned(),
                text: one_line(program.source(location.span).slice(location.span)),
                depth,
                values: Vec::new(),
                evidence,
                returns: returning > 0,
            });
        }
        let Some(edge) = path.edges.get(at) else { break };
        match program.edge(*edge).operation {
            Operation::Call(_) => {
                depth += 1;
                returning += usize::from(!open.contains(&at));
            }
            Operation::Return(_) => {
                depth -= 1;
                returning = returning.saturating_sub(1);
            }
            _ => {}
        }
    }
    steps
}

/// A text on one line, cut if it is long.
fn one_line(text: &str) -> String {
    let line = text.split_whitespace().collect::<Vec<_>>().join(" ");
    match line.char_indices().nth(80) {
        Some((at, _)) => format!("{} …", &line[..at]),
        None => line,
    }
}

fn run_steps(program: &Program, is_c: bool, run: &Run, found: &Visited, clues: &Clues) -> Vec<StepReport> {
    let grain = if is_c { Grain::Statements } else { Grain::Fine };
    let shown = Steps::of(program, &run.trace, grain);
    let depths: Vec<usize> = run.trace.states().map(|state| state.stack.len()).collect();
    // A procedure returns if some later state has fewer frames.
    let mut least_later = vec![usize::MAX; depths.len() + 1];
    for at in (0..depths.len()).rev() {
        least_later[at] = least_later[at + 1].min(depths[at]);
    }
    // What lies between two steps that are shown belongs to the later one.
    let mut from = 0;
    let step = |(step, positions): (wherefore_explain::model::Step, Vec<usize>)| {
        let at = positions.first().copied().unwrap_or(0);
        let end = positions.last().copied().unwrap_or(at);
        let range = std::mem::replace(&mut from, end + 1)..=end;
        StepReport {
            file: program.sources[step.extent.file].name().to_owned(),
            line: step.extent.start.0,
            procedure: source_name(&step.procedure).to_owned(),
            text: step.text,
            depth: step.depth,
            values: step.values.into_iter().collect(),
            evidence: range.flat_map(|at| evidence_at(found, clues, at)).collect(),
            returns: least_later[at] < depths[at],
        }
    };
    shown.steps.into_iter().zip(shown.positions).map(step).collect()
}
