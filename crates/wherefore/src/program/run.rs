//! A failing run in the words of the source.

use std::collections::{BTreeMap, BTreeSet};

use serde::Serialize;
use wherefore_explain::{Grain, Steps};
use wherefore_program::{EdgeRef, PathSlicer, Program, Stops, Trace};

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

/// The states of a run of a C program: without what comes before `main`, and one for each statement.
///
/// `slice` are the steps that matter, by their place in the run.
pub fn c_steps(program: &Program, trace: &Trace, slice: Option<&BTreeSet<usize>>) -> Vec<RunStep> {
    let shown = Steps::of(program, trace, Grain::Statements);
    let last = shown.steps.len().saturating_sub(1);
    let matter = slice.map(|slice| shown.at(slice).into_iter().collect::<BTreeSet<usize>>());
    let mut steps = of_steps(program, shown);
    for (at, step) in steps.iter_mut().enumerate() {
        // The failing statement is where it ends, whatever the slice says.
        step.matters = matter.as_ref().map(|matter| matter.contains(&at) || at == last);
    }
    steps
}

/// The states of a run, the failing statement last.
pub fn steps(program: &Program, trace: &Trace) -> Vec<RunStep> {
    of_steps(program, Steps::of(program, trace, Grain::Fine))
}

fn of_steps(program: &Program, shown: Steps) -> Vec<RunStep> {
    let step = |step: wherefore_explain::model::Step| RunStep {
        file: program.sources[step.extent.file].name().to_owned(),
        line: step.extent.start.0,
        procedure: step.procedure,
        text: step.text,
        depth: step.depth,
        values: step.values,
        matters: None,
    };
    shown.steps.into_iter().map(step).collect()
}

/// The steps of a run that are in its slice.
pub fn sliced(program: &Program, path: &[EdgeRef]) -> Option<BTreeSet<usize>> {
    let slice = PathSlicer::with_stops(program, Stops::LikeExits).slice(path).ok()?;
    Some(slice.taken.into_iter().collect())
}
