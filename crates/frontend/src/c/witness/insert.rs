//! What is put into a text for a claim or a waypoint.

use std::collections::BTreeMap;
use std::fs;
use std::path::{Path, PathBuf};

use wherefore_program::from_bytes;

use super::places::{Loop, Text};
use super::{ASSUME, CLAIM, Claim, Inserted, Insertions, Kind, Waypoint, condition};
use crate::diagnostics::LoadError;

/// A text that is put at a place.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) struct Change {
    /// The place, in bytes.
    pub(crate) at: usize,
    /// The text. It has no ends of lines.
    pub(crate) text: String,
}

/// What a waypoint is for.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Action {
    /// The run must pass it.
    Follow,
    /// The run must not pass it.
    Avoid,
}

/// The variable that counts the segments that a run has passed.
const COUNTER: &str = "__wherefore_passed";

/// Collects what is put into the files of a program.
///
/// A run passes at most one waypoint each time that it comes to a place: the steps of a place are
/// taken in the order of their turns from the last to the first.
pub(super) struct Writer {
    first: Option<PathBuf>,
    files: BTreeMap<PathBuf, Places>,
    claims: Vec<String>,
    /// Segments that a run can pass, so far: what was left out counts as passed.
    segments: usize,
    left_out: usize,
}

/// What happens at the places of one file.
struct Places {
    text: Text,
    statements: BTreeMap<usize, Steps>,
    /// Conditions of loops and branches, by where they start and end.
    conditions: BTreeMap<(usize, usize), Steps>,
    /// Calls, by where they start and end.
    calls: BTreeMap<(usize, usize), CallSteps>,
    /// Bodies of `do`.
    bodies: BTreeMap<usize, Steps>,
}

#[derive(Default)]
struct Steps {
    /// Claims, in their order.
    claims: Vec<String>,
    /// What waypoints do, in the order of their turns.
    waypoints: Vec<String>,
    /// What happens behind them.
    target: Option<String>,
}

#[derive(Default)]
struct CallSteps {
    before: Vec<String>,
    behind: Vec<String>,
}

impl Steps {
    /// All of it, one after the other.
    fn all(&self) -> Vec<&str> {
        let waypoints = self.waypoints.iter().rev();
        self.claims.iter().chain(waypoints).chain(&self.target).map(String::as_str).collect()
    }
}

/// What comes first of several texts at one place: what ends there, the inner one first, then what
/// starts there, the outer one first.
#[derive(Clone, Copy, PartialEq, Eq, PartialOrd, Ord)]
enum Level {
    CallEnds,
    ConditionEnds,
    Statement,
    ConditionStarts,
    CallStarts,
}

impl Places {
    /// The texts, with the places that they are put at.
    fn changes(&self) -> Vec<Change> {
        let mut found: Vec<(usize, Level, String)> = Vec::new();
        for (at, steps) in &self.statements {
            let text = match self.text.is_in_block(*at) {
                true => format!("{}; ", steps.all().join("; ")),
                // An `else` that follows the statement belongs to another `if`.
                false => format!("if ({}, 0) ; else ", steps.all().join(", ")),
            };
            found.push((*at, Level::Statement, text));
        }
        for (at, steps) in &self.bodies {
            found.push((*at, Level::Statement, format!(" if ({}, 0) ; else ", steps.all().join(", "))));
        }
        for ((start, end), steps) in &self.conditions {
            let claims: String = steps.claims.iter().map(|claim| format!("{claim}, ")).collect();
            if self.text.code(*start..*end).trim().is_empty() {
                found.push((*start, Level::ConditionStarts, format!("{claims}1")));
                continue;
            }
            let (before, behind) = match steps.waypoints.is_empty() {
                true => (String::new(), String::new()),
                false => {
                    let waypoints: Vec<&str> = steps.waypoints.iter().rev().map(String::as_str).collect();
                    let behind = format!("); {}; __wherefore_taken; }})", waypoints.join("; "));
                    ("({ int __wherefore_taken = !!(".to_owned(), behind)
                }
            };
            found.push((*start, Level::ConditionStarts, format!("{claims}({before}")));
            found.push((*end, Level::ConditionEnds, format!("{behind})")));
        }
        for ((start, end), CallSteps { before, behind }) in &self.calls {
            let before: String = before.iter().rev().map(|step| format!("{step}; ")).collect();
            let (result, back) = match behind.is_empty() {
                true => (String::new(), String::new()),
                false => {
                    let call = self.text.code(*start..*end).replace(['\n', '\r'], " ");
                    let behind: String = behind.iter().rev().map(|step| format!("{step}; ")).collect();
                    let result = format!("__typeof__({call}) __wherefore_result = ");
                    (result, format!(" {behind}__wherefore_result;"))
                }
            };
            found.push((*start, Level::CallStarts, format!("({{ {before}{result}")));
            found.push((*end, Level::CallEnds, format!(";{back} }})")));
        }
        found.sort_by_key(|(at, level, _)| (*at, *level));
        found.into_iter().map(|(at, _, text)| Change { at, text }).collect()
    }
}

impl Writer {
    pub(super) fn new(files: &[PathBuf]) -> Result<Self, LoadError> {
        let mut places = BTreeMap::new();
        for file in files {
            let bytes =
                fs::read(file).map_err(|error| LoadError::Io { file: file.display().to_string(), error })?;
            let empty = Places {
                text: Text::new(&from_bytes(&bytes)),
                statements: BTreeMap::new(),
                conditions: BTreeMap::new(),
                calls: BTreeMap::new(),
                bodies: BTreeMap::new(),
            };
            places.insert(file.clone(), empty);
        }
        Ok(Self {
            first: files.first().cloned(),
            files: places,
            claims: Vec::new(),
            segments: 0,
            left_out: 0,
        })
    }

    pub(super) fn finish(self) -> Insertions {
        let mut files = BTreeMap::new();
        for (file, places) in &self.files {
            let counter = match self.first.as_ref() == Some(file) {
                true => format!("int {COUNTER} = 0;"),
                false => format!("extern int {COUNTER};"),
            };
            let head = format!("extern void {CLAIM}(int, int); extern void {ASSUME}(int); {counter}");
            files.insert(file.clone(), Inserted { head, changes: places.changes() });
        }
        Insertions { files, claims: self.claims, left_out: self.left_out, conditions: 0 }
    }

    fn places(&mut self, file: &Path) -> Result<&mut Places, String> {
        self.files.get_mut(file).ok_or_else(|| format!("`{}` is not part of the program", file.display()))
    }

    pub(super) fn claim(&mut self, file: &Path, claim: &Claim) -> Result<(), String> {
        let Claim { place, is_loop, condition } = claim;
        let condition = condition.trim().replace(['\n', '\r'], " ");
        if let Some(complaint) = condition::complaint(&condition) {
            return Err(complaint);
        }
        let call = format!("{CLAIM}(({condition}) ? 1 : 0, {})", self.claims.len());
        let places = self.places(file)?;
        let steps = if *is_loop {
            let found = places.text.a_loop(place.line, place.column);
            match found.ok_or_else(|| format!("no loop starts at line {}", place.line))? {
                Loop::Condition(range) => places.conditions.entry((range.start, range.end)).or_default(),
                Loop::Do(at) => places.bodies.entry(at).or_default(),
            }
        } else {
            let at = places.text.statement(place.line, place.column);
            let at = at.ok_or_else(|| format!("no statement starts at line {}", place.line))?;
            places.statements.entry(at).or_default()
        };
        steps.claims.push(call);
        self.claims.push(condition);
        Ok(())
    }

    /// A waypoint of the segment that comes next.
    pub(super) fn waypoint(
        &mut self,
        file: &Path,
        waypoint: &Waypoint,
        action: Action,
    ) -> Result<(), String> {
        let turn = self.segments;
        let (line, column) = (waypoint.place.line, waypoint.place.column);
        let places = self.places(file)?;
        let text = &places.text;
        let is_placed = match &waypoint.kind {
            Kind::Target => {
                let at = text.statement(line, column);
                let at = at.ok_or_else(|| format!("no statement starts at line {line}"))?;
                let reached = format!("{ASSUME}({COUNTER} == {turn})");
                places.statements.entry(at).or_default().target = Some(reached);
                return Ok(());
            }
            Kind::Assumption(condition) => {
                let condition = condition.trim().replace(['\n', '\r'], " ");
                if let Some(complaint) = condition::complaint(&condition) {
                    return Err(complaint);
                }
                text.statement(line, column).map(|at| {
                    let steps = places.statements.entry(at).or_default();
                    steps.waypoints.push(step(turn, action, &condition));
                })
            }
            Kind::Branching(holds) => {
                let range = text.branch(line, column);
                let range = range.filter(|range| !text.code(range.clone()).trim().is_empty());
                range.map(|range| {
                    let steps = places.conditions.entry((range.start, range.end)).or_default();
                    let taken = format!("__wherefore_taken == {}", i32::from(*holds));
                    steps.waypoints.push(step(turn, action, &taken));
                })
            }
            Kind::Enter => text.call(line, column).map(|range| {
                let steps = places.calls.entry((range.start, range.end)).or_default();
                steps.before.push(step(turn, action, "1"));
            }),
            Kind::Return(None) | Kind::Other => None,
            Kind::Return(Some(condition)) => {
                let condition =
                    condition.replace("\\result", "__wherefore_result").replace(['\n', '\r'], " ");
                if let Some(complaint) = condition::complaint(&condition) {
                    return Err(complaint);
                }
                text.call(line, column).map(|range| {
                    let steps = places.calls.entry((range.start, range.end)).or_default();
                    steps.behind.push(step(turn, action, &condition));
                })
            }
        };
        match (is_placed, action) {
            (Some(()), Action::Follow) => self.segments += 1,
            (Some(()), Action::Avoid) => {}
            (None, _) => self.left_out += 1,
        }
        Ok(())
    }
}

/// What happens at a waypoint whose condition holds, while the counter has a value.
fn step(turn: usize, action: Action, condition: &str) -> String {
    let passes = format!("{COUNTER} == {turn} && ({condition})");
    match action {
        Action::Follow => format!("(({passes}) ? (void)({COUNTER} = {turn} + 1) : (void)0)"),
        Action::Avoid => format!("{ASSUME}(!({passes}))"),
    }
}
