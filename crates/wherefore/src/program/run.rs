//! A failing run in the words of the source.

use serde::Serialize;
use std::collections::{BTreeMap, BTreeSet};
use wherefore_check::exact::visible_values;
use wherefore_program::{LocationKind, ProcedureId, Program, State, Trace};

/// One state of a run: a statement that is about to be executed, and the values before it.
#[derive(Clone, Debug, Serialize)]
pub struct RunStep {
    pub file: String,
    pub line: u32,
    pub procedure: String,
    pub text: String,
    /// How many calls are open.
    pub depth: usize,
    pub values: BTreeMap<String, String>,
    /// Whether the step is part of the slice of the run; only said of C programs.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub matters: Option<bool>,
}

/// Arrays with more cells than this are not shown.
const MOST_CELLS: usize = 8;

/// The states of a run of a C program: without what comes before `main`, and one for each statement.
///
/// `slice` are the steps that matter, by their place in the run.
pub fn c_steps(program: &Program, trace: &Trace, slice: Option<&BTreeSet<usize>>) -> Vec<RunStep> {
    let mut shown: Vec<RunStep> = Vec::new();
    let last = trace.steps.len();
    for (at, mut step) in numbered_steps(program, trace) {
        if step.depth == 1 {
            continue;
        }
        step.depth -= 1;
        // The failing statement is where it ends, whatever the slice says.
        step.matters = slice.map(|slice| slice.contains(&at) || at + 1 >= last);
        // One statement of C can be several steps.
        let same = |last: &&mut RunStep| {
            (last.line, last.depth, &last.text, &last.procedure)
                == (step.line, step.depth, &step.text, &step.procedure)
        };
        match shown.last_mut().filter(same) {
            Some(last) => {
                last.values = step.values;
                last.matters = last.matters.max(step.matters);
            }
            None => shown.push(step),
        }
    }
    shown
}

/// The states of a run, the failing statement last.
pub fn steps(program: &Program, trace: &Trace) -> Vec<RunStep> {
    numbered_steps(program, trace).into_iter().map(|(_, step)| step).collect()
}

/// The same, each with its place in the run.
fn numbered_steps(program: &Program, trace: &Trace) -> Vec<(usize, RunStep)> {
    let mut steps = Vec::new();
    for (at, state) in trace.states().enumerate() {
        let Some(node) = state.node() else { continue };
        let location = program.location(node);
        // A failed check is where the check is: the state before shows it.
        if location.kind == LocationKind::Error && !steps.is_empty() {
            continue;
        }
        let source = program.source(location.span);
        let text = source.slice(location.span).lines().next().unwrap_or_default().trim();
        let step = RunStep {
            file: source.name().to_owned(),
            line: program.position(location.span).line,
            procedure: program.procedure(node.procedure).name.clone(),
            text: text.to_owned(),
            depth: state.stack.len(),
            values: values(program, node.procedure, state),
            matters: None,
        };
        steps.push((at, step));
    }
    steps
}

fn values(program: &Program, procedure: ProcedureId, state: &State) -> BTreeMap<String, String> {
    let locals = program.procedure(procedure).variables.iter();
    let large: BTreeSet<&str> = (program.globals.iter().chain(locals))
        .filter(|variable| variable.ty.cell_count() > MOST_CELLS)
        .map(|variable| variable.name.as_str())
        .collect();
    let small = |(name, _): &(String, String)| !large.contains(name.split('[').next().unwrap_or(name));
    visible_values(program, state).into_iter().filter(small).collect()
}
