//! A failing run in the words of the source.

use serde::Serialize;
use std::collections::BTreeMap;
use wherefore_check::exact::visible_values;
use wherefore_program::{LocationKind, Program, Trace};

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
}

/// The states of a run, the failing statement last.
pub fn steps(program: &Program, trace: &Trace) -> Vec<RunStep> {
    let mut steps = Vec::new();
    for state in trace.states() {
        let Some(node) = state.node() else { continue };
        let location = program.location(node);
        // A failed check is where the check is: the state before shows it.
        if location.kind == LocationKind::Error && !steps.is_empty() {
            continue;
        }
        let source = program.source(location.span);
        let text = source.slice(location.span).lines().next().unwrap_or_default().trim();
        steps.push(RunStep {
            file: source.name().to_owned(),
            line: program.position(location.span).line,
            procedure: program.procedure(node.procedure).name.clone(),
            text: text.to_owned(),
            depth: state.stack.len(),
            values: visible_values(program, state).into_iter().collect(),
        });
    }
    steps
}
