//! A failing run in the words of the source.

use std::collections::{BTreeMap, BTreeSet};
use std::ops::ControlFlow;

use serde::Serialize;
use wherefore_check::FailingRun;
use wherefore_explain::{Grain, Steps};
use wherefore_flow::Slice as Left;
use wherefore_program::{
    CallStack, ErrorKind, PathSlicer, ProcedureId, Program, Record, SliceOptions, Stops, Task, Trace, Type,
    Var, Variable, ViolationKind,
};

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

/// How much of a run matters, in steps as they are shown.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize)]
pub struct Slice {
    /// Steps in the slice.
    pub matter: usize,
    /// Steps of the run.
    pub of: usize,
}

/// The steps of a failing run, the failing one last. For C, each says whether it matters.
pub fn steps(task: &Task, run: &FailingRun) -> Vec<RunStep> {
    let is_c = task.is_c();
    let mut steps =
        if is_c { sliced_steps(task, run, CallStack::Keep) } else { all_steps(&task.program, run) };
    // A claim stands in a comment, or nowhere in the source.
    let site = task.checks.get(run.target);
    let claim = site.filter(|site| site.kind == ErrorKind::Violation(ViolationKind::Claim));
    let text = claim.and_then(|site| task.program.violation_in_words(site.node, None));
    if let (Some(last), Some(text)) = (steps.last_mut(), text) {
        last.text = text;
    }
    steps
}

/// How much of a run matters, if its steps say so.
pub fn slice_of(steps: &[RunStep]) -> Option<Slice> {
    steps.first()?.matters?;
    let matter = steps.iter().filter(|step| step.matters == Some(true)).count();
    Some(Slice { matter, of: steps.len() })
}

/// The steps of a run with those marked that are in its path slice.
pub fn sliced_steps(task: &Task, run: &FailingRun, call_stack: CallStack) -> Vec<RunStep> {
    let program = &task.program;
    let grain = if task.is_c() { Grain::Statements } else { Grain::Fine };
    let shown = Steps::of(program, &run.trace, grain);
    let last = shown.steps.len().saturating_sub(1);
    let options = SliceOptions { call_stack, record: Record::Nothing };
    let everything = &mut |_| ControlFlow::Continue(());
    let ignoring = run.program(program).with_rules_ignored();
    let mut slicer = PathSlicer::with_stops(&ignoring, Stops::LikeExits);
    let is_whole = run.steps_left_out == 0;
    let slice = is_whole.then(|| slicer.slice_with(&run.path, options, everything).ok()).flatten();
    let taken = slice.map(|slice| slice.taken.into_iter().collect::<BTreeSet<usize>>());
    let matter = taken.map(|taken| shown.at(&taken).into_iter().collect::<BTreeSet<usize>>());
    let mut steps = of_steps(program, shown);
    if let Some(left_out) = &run.left_out {
        forget(program, &left_out.slice, &mut steps);
    }
    for (at, step) in steps.iter_mut().enumerate() {
        // The failing statement is where it ends, whatever the slice says.
        step.matters = matter.as_ref().map(|matter| matter.contains(&at) || at == last);
    }
    steps
}

/// Takes values out of steps that a run does not have, because it leaves out what computes them.
fn forget(program: &Program, slice: &Left, steps: &mut [RunStep]) {
    let kept = |procedure: ProcedureId, variable: &(&Variable, Var)| slice.keeps(procedure, variable.1);
    let has_all_memory = program.globals.iter().zip((0..).map(Var::Global)).all(|(variable, var)| {
        !matches!(variable.ty, Type::Memory { .. }) || slice.keeps(program.entry, var)
    });
    for step in steps {
        let Some((id, body)) = program.procedures().find(|(_, body)| body.name == step.procedure) else {
            step.values.clear();
            continue;
        };
        let locals = || body.variables.iter().zip((0..).map(Var::Local));
        let variables = || program.globals.iter().zip((0..).map(Var::Global)).chain(locals());
        let names: BTreeSet<&str> = variables().map(|(variable, _)| variable.name.as_str()).collect();
        let known: BTreeSet<&str> = variables()
            .filter(|variable| kept(id, variable))
            .map(|(variable, _)| variable.name.as_str())
            .collect();
        step.values.retain(|name, _| {
            let name = name.split('[').next().unwrap_or(name);
            known.contains(name) || (has_all_memory && !names.contains(name))
        });
    }
}

/// The steps of a part of a run.
pub fn of_trace(task: &Task, trace: &Trace) -> Vec<RunStep> {
    let grain = if task.is_c() { Grain::Statements } else { Grain::Fine };
    of_steps(&task.program, Steps::of(&task.program, trace, grain))
}

fn all_steps(program: &Program, run: &FailingRun) -> Vec<RunStep> {
    of_steps(program, Steps::of(program, &run.trace, Grain::Fine))
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
