//! Which locations and calls of a program the frames of a backtrace stand for.

use std::fmt;

use wherefore_program::{EdgeRef, Node, Operation, ProcedureId, Program};

use crate::backtrace::{Backtrace, Frame};
use crate::lines::{Line, files, is_model, is_start, line_of, locations, source_name};
use crate::runtime::is_runtime;

/// A stack of a program.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Fitted {
    /// The frames of the program, the innermost first.
    pub frames: Vec<FittedFrame>,
    /// Whether there may be further frames below these.
    pub is_open: bool,
    /// Frames that are not of the program, by their positions in the backtrace.
    pub skipped: Vec<usize>,
    /// What is not as expected, in words.
    pub notes: Vec<String>,
}

/// A frame of the program.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct FittedFrame {
    /// Its position in the backtrace.
    pub frame: usize,
    /// Where the run is.
    pub sites: Sites,
}

/// Where a run is in a frame.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Sites {
    /// At one of these locations: the innermost frame.
    At(Vec<Node>),
    /// In one of these calls.
    Calls(Vec<EdgeRef>),
    /// Somewhere, in any number of frames or none: it is not known.
    Unknown,
}

/// A frame that does not fit the program.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Misfit {
    /// Its position in the backtrace; none if no frame is of the program.
    pub frame: Option<usize>,
    /// What does not fit.
    pub why: String,
}

impl fmt::Display for Misfit {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self.frame {
            Some(frame) => write!(f, "frame #{frame} does not fit this program: {}", self.why),
            None => f.write_str(&self.why),
        }
    }
}

/// Fits a backtrace to a program.
///
/// # Errors
/// The first frame that does not fit, from the innermost one on.
pub fn fit(program: &Program, backtrace: &Backtrace) -> Result<Fitted, Misfit> {
    let candidates: Vec<Vec<ProcedureId>> =
        backtrace.frames.iter().map(|frame| procedures(program, frame)).collect();
    let is_own = |at: &usize| !candidates[*at].is_empty();
    let own: Vec<usize> = (0..candidates.len()).filter(is_own).collect();
    for (at, frame) in backtrace.frames.iter().enumerate() {
        if candidates[at].is_empty() {
            missing(program, at, frame)?;
        }
    }
    let (Some(first), Some(last)) = (own.first().copied(), own.last().copied()) else {
        return Err(Misfit { frame: None, why: "no frame of the stack is in this program".to_owned() });
    };
    let mut fitted = Fitted { frames: Vec::new(), is_open: false, skipped: Vec::new(), notes: Vec::new() };
    let mut callees: Option<Vec<ProcedureId>> = None;
    for (at, frame) in backtrace.frames.iter().enumerate() {
        if candidates[at].is_empty() {
            fitted.skipped.push(at);
            // A function of a library may call others, before it calls one of the program.
            if first < at && at < last {
                fitted.frames.push(FittedFrame { frame: at, sites: Sites::Unknown });
                callees = None;
            }
            continue;
        }
        let sites = if at == first {
            Sites::At(places(program, at, frame, &candidates[at])?)
        } else {
            Sites::Calls(calls(program, (at, frame), &candidates[at], callees.as_deref())?)
        };
        callees = Some(match &sites {
            Sites::At(nodes) => nodes.iter().map(|node| node.procedure).collect(),
            Sites::Calls(edges) => edges.iter().map(|edge| edge.procedure).collect(),
            Sites::Unknown => Vec::new(),
        });
        fitted.frames.push(FittedFrame { frame: at, sites });
    }
    let lowest = callees.unwrap_or_default();
    if !lowest.iter().any(|procedure| starts(program, *procedure)) {
        fitted.is_open = true;
        if !backtrace.is_open {
            fitted.notes.push(format!(
                "the lowest frame, #{last}, is not the function where the program starts: any calls may lie below"
            ));
        }
    }
    Ok(fitted)
}

/// Whether runs start in a procedure.
pub(crate) fn starts(program: &Program, procedure: ProcedureId) -> bool {
    if procedure == program.entry {
        return true;
    }
    is_start(program, program.entry)
        && program.procedure(procedure).span == program.procedure(program.entry).span
}

/// The procedures that a frame may be of.
fn procedures(program: &Program, frame: &Frame) -> Vec<ProcedureId> {
    let wanted = frame.file.as_ref().map(|file| files(program, file));
    let line = |file: u32| frame.line.map(|line| (file, line));
    let fits = |id: ProcedureId| {
        let body = program.procedure(id);
        if is_start(program, id) || is_model(program, id) {
            return false;
        }
        let in_file = wanted.as_ref().is_none_or(|files| files.contains(&body.span.file.0));
        match &frame.function {
            Some(name) => source_name(&body.name) == name && in_file,
            // A place without a name.
            None => {
                let here = line(body.span.file.0).map(|line| locations(program, id, line));
                wanted.is_some() && in_file && here.is_some_and(|here| !here.is_empty())
            }
        }
    };
    program.procedures().map(|(id, _)| id).filter(|id| fits(*id)).collect()
}

/// Whether a frame that is no procedure of the program may be skipped.
fn missing(program: &Program, at: usize, frame: &Frame) -> Result<(), Misfit> {
    let fail = |why: String| Err(Misfit { frame: Some(at), why });
    let Some(name) = &frame.function else {
        return match (&frame.file, frame.line) {
            (Some(file), Some(line)) if !files(program, file).is_empty() => {
                fail(format!("no function has a statement at {file}:{line}"))
            }
            _ => Ok(()),
        };
    };
    let is_body =
        |id: &ProcedureId| source_name(&program.procedure(*id).name) == name && !is_model(program, *id);
    let elsewhere = program.procedures().map(|(id, _)| id).find(is_body);
    match (&frame.file, elsewhere) {
        (Some(file), Some(other)) => {
            let other = program.source(program.procedure(other).span).name();
            fail(format!("`{name}` is in {other}, not in {file}"))
        }
        _ if is_runtime(frame) => Ok(()),
        (Some(file), None) if files(program, file).is_empty() => Ok(()),
        _ => fail(format!("there is no function `{name}`, or it has no body that is used")),
    }
}

fn place_line(program: &Program, procedure: ProcedureId, frame: &Frame) -> Option<Line> {
    frame.line.map(|line| (program.procedure(procedure).span.file.0, line))
}

/// The locations of the innermost frame.
fn places(
    program: &Program,
    at: usize,
    frame: &Frame,
    candidates: &[ProcedureId],
) -> Result<Vec<Node>, Misfit> {
    let mut found = Vec::new();
    for procedure in candidates {
        match place_line(program, *procedure, frame) {
            Some(line) => found.extend(locations(program, *procedure, line)),
            None => {
                let body = program.procedure(*procedure);
                let nodes = body.location_ids().map(|location| Node { procedure: *procedure, location });
                found.extend(nodes.filter(|node| line_of(program, *node).is_some()));
            }
        }
    }
    if found.is_empty() {
        return Err(no_line(program, at, frame, candidates));
    }
    Ok(found)
}

/// The calls of the frame above on the line of a frame.
fn calls(
    program: &Program,
    (at, frame): (usize, &Frame),
    candidates: &[ProcedureId],
    callees: Option<&[ProcedureId]>,
) -> Result<Vec<EdgeRef>, Misfit> {
    let mut found = Vec::new();
    let mut has_line = false;
    for procedure in candidates {
        let body = program.procedure(*procedure);
        let here = place_line(program, *procedure, frame).map(|line| {
            // A call may be in any part of a statement of several lines.
            let mut here = locations(program, *procedure, line);
            here.extend(around(program, *procedure, line));
            here
        });
        has_line |= here.as_ref().is_none_or(|here| !here.is_empty());
        for (edge, step) in body.edges() {
            let Operation::Call(call) = &step.operation else { continue };
            let node = Node { procedure: *procedure, location: step.from };
            let is_here = here.as_ref().is_none_or(|here| here.contains(&node));
            if is_here && callees.is_none_or(|callees| callees.contains(&call.callee)) {
                found.push(EdgeRef { procedure: *procedure, edge });
            }
        }
    }
    if !found.is_empty() {
        return Ok(found);
    }
    if !has_line {
        return Err(no_line(program, at, frame, candidates));
    }
    let callee = callees.and_then(|callees| callees.first());
    let callee = callee.map_or("another function", |callee| source_name(&program.procedure(*callee).name));
    let place = frame.line.map_or(String::new(), |line| format!(" on line {line}"));
    let name = frame.function.as_deref().unwrap_or("??");
    Err(Misfit { frame: Some(at), why: format!("`{name}` has no call of `{callee}`{place}") })
}

/// The locations whose statements cover a line.
fn around(program: &Program, procedure: ProcedureId, line: Line) -> Vec<Node> {
    let nodes = program.procedure(procedure).location_ids().map(|location| Node { procedure, location });
    let covers = |node: &Node| {
        let span = program.location(*node).span;
        let last = program.source(span).position(span.end.saturating_sub(1).max(span.start)).line;
        line_of(program, *node)
            .is_some_and(|(file, first)| file == line.0 && first <= line.1 && line.1 <= last)
    };
    nodes.filter(covers).collect()
}

fn no_line(program: &Program, at: usize, frame: &Frame, candidates: &[ProcedureId]) -> Misfit {
    let line = frame.line.unwrap_or(0);
    let name = frame.function.as_deref().unwrap_or("??");
    let mut lines: Vec<u32> = Vec::new();
    for procedure in candidates {
        let nodes = program.procedure(*procedure).location_ids();
        let nodes = nodes.map(|location| Node { procedure: *procedure, location });
        lines.extend(nodes.filter_map(|node| line_of(program, node)).map(|(_, line)| line));
    }
    let (low, high) = (lines.iter().min().copied().unwrap_or(0), lines.iter().max().copied().unwrap_or(0));
    let why = if (low..=high).contains(&line) {
        format!("line {line} of `{name}` has no statement")
    } else {
        format!("line {line} is not in `{name}`, whose statements are on lines {low} to {high}")
    };
    Misfit { frame: Some(at), why }
}
