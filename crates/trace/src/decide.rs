//! Whether some run ends in a stack: the engines of `wherefore-check` are asked about the
//! [`spine`](crate::spine()) of the program.

use std::sync::Arc;

use wherefore_check::harness::Replay;
use wherefore_check::{Budget, EngineName, Extent, Overall, Question, Replaying, Session, answer};
use wherefore_program::{
    Compilation, EdgeRef, ErrorKind, Input, Interpreter, LocationKind, Node, Operation, Program, State, Task,
    Trace, Unsupported,
};

use crate::backtrace::Backtrace;
use crate::conditions::Condition;

use crate::fit::{Fitted, Sites, fit};
use crate::lines::{is_start, line_of};
use crate::spine::{Goal, Required, Spine, spine};

/// A run that ends in the stack.
#[derive(Clone, Debug)]
pub struct Run {
    /// The run. It ends where the stack is, or at the failure.
    pub trace: Trace,
    /// Its edges.
    pub path: Vec<EdgeRef>,
    /// What goes wrong at the end, in words; none if the run was only asked to come there.
    pub failure: Option<String>,
    /// What the compiled program does with the inputs; none if it was not asked.
    pub replay: Option<Replay>,
    /// Which engine found it.
    pub by: EngineName,
    /// The inputs, in the order of the run: a function, and the value that it returns.
    pub inputs: Vec<(String, String)>,
}

impl Run {
    /// Whether the stack of the compiled program, if a report shows it, is that of the backtrace:
    /// the same functions of the program, at the same lines.
    pub fn same_stack(&self, program: &Program, backtrace: &Backtrace) -> Option<bool> {
        let Some(Replay::Confirmed { report: Some(report), .. }) = &self.replay else { return None };
        let other = Backtrace::parse(report).ok()?;
        let (ours, theirs) = (fit(program, backtrace).ok()?, fit(program, &other).ok()?);
        if theirs.is_open || ours.is_open {
            return None;
        }
        let frames = |fitted: &Fitted, stack: &Backtrace| -> Vec<(Option<String>, Option<u32>)> {
            let frame = |at: usize| (stack.frames[at].function.clone(), stack.frames[at].line);
            fitted.frames.iter().map(|fitted| frame(fitted.frame)).collect()
        };
        let (ours, theirs) = (frames(&ours, backtrace), frames(&theirs, &other));
        let mut pairs = ours.iter().zip(&theirs);
        let alike = pairs.all(|(a, b)| a.0 == b.0 && (a.1.is_none() || a.1 == b.1));
        Some(ours.len() == theirs.len() && alike)
    }
}

/// Whether a run ends in the stack.
#[derive(Clone, Debug)]
pub enum Feasibility {
    /// This one does.
    Run(Box<Run>),
    /// None does.
    None {
        /// Which engine has proved it.
        by: Option<EngineName>,
    },
    /// It is not known, and why.
    Open(String),
}

/// What is asked.
pub struct Asked<'a> {
    /// The stack.
    pub fitted: &'a Fitted,
    /// What must be visited.
    pub required: &'a Required,
    /// Values of arguments.
    pub conditions: &'a [Condition],
    /// Where runs end.
    pub goal: &'a Goal,
}

/// Asks whether a run ends in a stack. The answer is *none* if the goal is a failure and the
/// program has no check on that line.
pub fn decide(
    task: &Task,
    asked: &Asked<'_>,
    replaying: &Replaying,
    session: &Session,
    budget: &Budget,
) -> Feasibility {
    let Some(spine) = spine(&task.program, asked.fitted, asked.required, asked.conditions, asked.goal) else {
        return Feasibility::Open("some frames of the stack are not known".to_owned());
    };
    debug_assert_eq!(spine.program.check(), Ok(()));
    if spine.errors.is_empty() {
        return Feasibility::None { by: None };
    }
    let changed = changed_task(task, &spine, asked.goal);
    let question = Question {
        extent: Extent::FirstFailure,
        replaying: replaying.clone(),
        schedules: None,
        ..Question::default()
    };
    let found = answer(&changed, &question, session, budget);
    match found.decision() {
        Overall::Safe => Feasibility::None { by: found.facts.by },
        Overall::Unknown(why) => Feasibility::Open(why.words(&changed.program)),
        Overall::Unsafe(run) => {
            let failure = match asked.goal {
                Goal::Arrive => None,
                Goal::Fail { .. } => Some(failure(&changed, run.target, run.trace.last())),
            };
            let inputs = inputs(&changed, &run.trace);
            let trace = spine.origins.trace(&run.trace);
            let path: Vec<EdgeRef> = run.path.iter().filter_map(|edge| spine.origins.edge(*edge)).collect();
            if let Err(why) = ends_in(&task.program, asked.fitted, &trace) {
                return Feasibility::Open(why);
            }
            Feasibility::Run(Box::new(Run {
                trace,
                path,
                failure,
                replay: run.replay.clone(),
                by: run.by,
                inputs,
            }))
        }
    }
}

/// The task about the changed program.
fn changed_task(task: &Task, spine: &Spine, goal: &Goal) -> Task {
    let inputs = spine.origins.edges_of(|edge| task.inputs.iter().any(|input| input.edge == edge));
    let mut inputs: Vec<Input> = inputs
        .filter_map(|(edge, before)| {
            let input = task.inputs.iter().find(|input| input.edge == before)?;
            Some(Input { edge, ..input.clone() })
        })
        .collect();
    inputs.sort_by_key(|input| input.edge);
    let approximations = spine.origins.edges_of(|edge| task.approximations.contains(&edge));
    let unsupported = spine.origins.nodes().filter_map(|(node, before)| {
        let place = task.unsupported.iter().find(|place| place.node == before)?;
        Some(Unsupported { node, what: place.what.clone() })
    });
    let compilation = match (&task.compilation, goal) {
        (Compilation::Compiled(_), Goal::Arrive) => {
            let why = "that the compiled program comes to a line does not show";
            Compilation::Pointless(why.to_owned())
        }
        (other, _) => other.clone(),
    };
    Task {
        checks: spine.errors.clone(),
        inputs,
        approximations: approximations.map(|(edge, _)| edge).collect(),
        unsupported: unsupported.collect(),
        program: Arc::new(spine.program.clone()),
        compilation,
        ..task.clone()
    }
}

/// What goes wrong at a check.
fn failure(task: &Task, target: usize, last: &State) -> String {
    let site = &task.checks[target];
    let words = task.program.violation_in_words(site.node, Some(last));
    words.unwrap_or_else(|| match &site.kind {
        ErrorKind::Call(name) => format!("`{name}` is called"),
        _ => "the assertion fails".to_owned(),
    })
}

/// Whether a run ends in a stack: a second look, which shares nothing with the spine.
fn ends_in(program: &Program, fitted: &Fitted, trace: &Trace) -> Result<(), String> {
    // A failure lies behind the statement that fails.
    let is_failure =
        trace.last().node().is_some_and(|node| program.location(node).kind == LocationKind::Error);
    let states: Vec<&State> = trace.states().collect();
    let at = states.len() - 1 - usize::from(is_failure && states.len() > 1);
    let mut frames = states[at].stack.iter().rev();
    for (level, expected) in fitted.frames.iter().enumerate() {
        let wrong = || format!("the run that was found has another frame #{level}: an error of wherefore");
        let frame = frames.next().ok_or_else(wrong)?;
        let fits = match &expected.sites {
            Sites::At(nodes) => {
                let node = Node { procedure: frame.procedure, location: frame.location };
                let lines: Vec<_> = nodes.iter().filter_map(|node| line_of(program, *node)).collect();
                nodes.contains(&node)
                    || is_failure && line_of(program, node).is_some_and(|line| lines.contains(&line))
            }
            Sites::Calls(edges) => frame
                .calling
                .is_some_and(|edge| edges.contains(&EdgeRef { procedure: frame.procedure, edge })),
            Sites::Unknown => true,
        };
        if !fits {
            return Err(wrong());
        }
    }
    let is_over = fitted.is_open || frames.all(|frame| is_start(program, frame.procedure));
    if is_over {
        Ok(())
    } else {
        Err("the run that was found has more frames: an error of wherefore".to_owned())
    }
}

/// The values that a run gets from outside.
fn inputs(task: &Task, trace: &Trace) -> Vec<(String, String)> {
    let interpreter = Interpreter::new(&task.program);
    let mut found = Vec::new();
    for (before, step) in trace.states().zip(&trace.steps) {
        let Ok(at) = task.inputs.binary_search_by_key(&step.edge, |input| input.edge) else { continue };
        let input = &task.inputs[at];
        let Operation::Havoc(targets) = &task.program.edge(step.edge).operation else { continue };
        let value = targets.first().and_then(|target| interpreter.written(before, target, &step.state));
        let Some(value) = value else { continue };
        let shift = 64 - input.ty.width();
        let shown = match (input.pointer, input.float, input.signed) {
            (true, _, _) if value == 0 => "NULL".to_owned(),
            (true, _, _) | (_, true, _) => format!("{value:#x}"),
            (_, _, true) => (((value << shift) as i64) >> shift).to_string(),
            _ => value.to_string(),
        };
        found.push((input.function.clone(), shown));
    }
    found
}
