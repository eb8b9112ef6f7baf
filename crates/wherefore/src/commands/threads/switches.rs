//! The switches of a failing schedule: where a thread is left, where else it could be, and whether that
//! matters.

use std::collections::BTreeSet;

use serde::Serialize;
use wherefore_check::threads::Schedule;
use wherefore_check::threads::why::SwitchReason;
use wherefore_program::{Context, Node, Task};

use super::super::schedule::is_model;

/// A switch: where a thread is left.
#[derive(Serialize)]
pub struct Switch {
    /// Where it is left on this run.
    pub at: Point,
    /// Where it can be left so that some schedule with the same order of threads fails.
    pub window: Vec<Point>,
    /// In C: the line of the last step of the thread before it that other threads can tell. The
    /// thread can be left anywhere since then.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub since: Option<u32>,
    /// Whether these are all such points.
    pub complete: bool,
    /// Whether no schedule fails without it: none if this is not known.
    pub matters: Option<bool>,
}

/// A point where a thread is left.
#[derive(Clone, PartialEq, Eq, PartialOrd, Ord, Serialize)]
pub struct Point {
    /// The line of its next step; none if there is no further one.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub line: Option<u32>,
    /// Whether the thread has ended, so that it can be joined.
    #[serde(skip_serializing_if = "std::ops::Not::not")]
    pub ended: bool,
    /// Whether some steps of that line have been done.
    #[serde(skip_serializing_if = "std::ops::Not::not")]
    pub inside: bool,
}

impl Point {
    fn of(task: &Task, node: Option<Node>) -> Self {
        let program = &*task.program;
        let Some(node) = node else { return Self { line: None, ended: true, inside: false } };
        if is_model(program, program.procedure(node.procedure).span) {
            return Self { line: None, ended: false, inside: false };
        }
        let line = program.line(node);
        let procedure = program.procedure(node.procedure);
        let here = |location| program.line(Node { procedure: node.procedure, location }) == line;
        let mut before = procedure.edges.iter().filter(|edge| edge.to == node.location).peekable();
        let is_inside =
            before.peek().is_some() && procedure.entry != node.location && before.all(|edge| here(edge.from));
        // In C, steps that other threads cannot tell do not count.
        let (mut seen, mut work) = (BTreeSet::from([node.location]), vec![node.location]);
        let mut is_begun = !task.is_c();
        while let Some(at) = work.pop() {
            for edge in procedure.edges.iter().filter(|edge| edge.to == at && here(edge.from)) {
                is_begun |= edge.operation.touches_shared(program);
                if seen.insert(edge.from) {
                    work.push(edge.from);
                }
            }
        }
        Self { line, ended: false, inside: is_inside && is_begun }
    }
}

impl Switch {
    /// The switch behind a context.
    pub fn of(task: &Task, schedule: &Schedule, context: &Context, reason: &SwitchReason) -> Self {
        let window: BTreeSet<Point> = reason.window.iter().map(|node| Point::of(task, *node)).collect();
        Self {
            at: Point::of(task, reason.at),
            since: since(task, schedule, context),
            window: window.into_iter().collect(),
            complete: reason.is_complete,
            matters: reason.matters,
        }
    }

    /// The window in words: "anywhere after line 16 and before line 18".
    pub fn words(&self) -> String {
        let mut parts = Vec::new();
        // Where a thread has nothing more to do, it may also have ended.
        let at_end = |point: &&Point| point.line.is_none() && !point.ended;
        let one = match self.window.as_slice() {
            [one] | [one, Point { ended: true, .. }] | [Point { ended: true, .. }, one] => {
                self.since.filter(|_| self.window.len() == 1 || at_end(&one)).map(|since| (since, one))
            }
            _ => None,
        };
        match one {
            Some((since, Point { line: None, ended: false, .. })) => {
                parts.push(format!("anywhere after line {since}"));
            }
            Some((since, Point { line: Some(line), inside: false, .. })) => {
                parts.push(format!("anywhere after line {since} and before line {line}"));
            }
            _ => self.list(&mut parts),
        }
        let mut words = format!(": {}", parts.join(", or "));
        if !self.complete {
            words.push_str(" (there may be more points)");
        }
        match self.matters {
            Some(true) => {}
            Some(false) => words.push_str("; it does not matter: schedules without it fail too"),
            None => words.push_str("; schedules without it may fail too"),
        }
        words
    }

    /// The points of the window, one by one.
    fn list(&self, parts: &mut Vec<String>) {
        let lines = |inside: bool| -> Vec<String> {
            let points = self.window.iter().filter(|point| point.inside == inside);
            points.filter_map(|point| point.line).map(|line| line.to_string()).collect()
        };
        for (word, lines) in [("before", lines(false)), ("inside", lines(true))] {
            if let Some((last, others)) = lines.split_last() {
                let list = match others {
                    [] => format!("line {last}"),
                    others => format!("line {} or {last}", others.join(", ")),
                };
                parts.push(format!("{word} {list}"));
            }
        }
        let ends = self.window.iter().filter(|point| point.line.is_none());
        match ends.map(|point| point.ended).min() {
            Some(true) => parts.push("when it has ended".to_owned()),
            Some(false) => parts.push("at its end".to_owned()),
            None => {}
        }
    }
}

/// The line of the last step of a thread, up to the end of a context, that other threads can tell;
/// only in C, where other steps are no points of their own.
fn since(task: &Task, schedule: &Schedule, context: &Context) -> Option<u32> {
    let (program, trace) = (&*task.program, &schedule.trace);
    let is_told = |at: &usize| {
        let step = &trace.steps[*at];
        step.thread == context.thread && program.edge(step.edge).operation.touches_shared(program)
    };
    let place = |at: usize| {
        let thread = trace.before(at).threads.get(context.thread as usize)?;
        program.line(thread.place_in(program)?)
    };
    let mut steps = (0..context.steps.end).rev().filter(is_told);
    if task.is_c() { steps.find_map(place) } else { None }
}
