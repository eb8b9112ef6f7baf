//! From a backtrace and clues to an answer: a run, no run, or a path of which it is not known.

use wherefore_check::{Budget, EngineName, Replaying, Session};
use wherefore_program::{Node, Program, Task, Unsupported};
use wherefore_pushdown::Limits;

use crate::backtrace::{Backtrace, Frame};
use crate::conditions::{Condition, conditions};
use crate::decide::{Asked, Feasibility, Run, decide};
use crate::evidence::{Clues, Evidence};
use crate::fit::{Fitted, FittedFrame, Misfit, Sites, fit};
use crate::lines::is_start;
use crate::search::{Path, search};
use crate::spine::{Goal, Required};
use crate::visits::{Way, Ways};

/// A program in two readings.
#[derive(Clone, Copy)]
pub struct Subject<'a> {
    /// Without checks of the rules of C.
    pub plain: &'a Task,
    /// With them: a run that fails is looked for first.
    pub checked: Option<&'a Task>,
}

/// What an answer may take.
pub struct Effort<'a> {
    /// For paths.
    pub limits: &'a Limits,
    /// For runs.
    pub budget: &'a Budget,
    /// Who checks proofs, and is told of progress.
    pub session: &'a Session,
    /// Whether runs are replayed by the compiled program.
    pub replaying: &'a Replaying,
    /// Whether runs are looked for at all.
    pub wants_run: bool,
}

/// What was found about a backtrace.
#[derive(Clone, Debug)]
pub struct Traced {
    /// The stack; none if it does not fit the program.
    pub fitted: Option<Fitted>,
    /// A shortest path that ends in the stack, if there is one.
    pub path: Option<Path>,
    /// All best ways to the stack.
    pub ways: Ways,
    /// Conditions on the frames.
    pub conditions: Vec<Condition>,
    /// Values that are not looked at, in words.
    pub ignored: Vec<String>,
    /// The answer.
    pub outcome: Outcome,
}

/// The answer.
#[derive(Clone, Debug)]
pub enum Outcome {
    /// A run ends in the stack.
    Feasible {
        /// The run; of the checked program if it has a failure, else of the plain one.
        run: Box<Run>,
        /// Whether it visits as much as the best path does.
        is_best: bool,
    },
    /// No run does.
    None(Reason),
    /// There may be a run: it is not known, and why.
    Open(String),
}

/// Why no run ends in the stack.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Reason {
    /// A frame does not fit the program.
    Misfit(Misfit),
    /// No path through the program ends in the stack.
    NoPath,
    /// Paths do, but none visits all that must be visited.
    NotVisited,
    /// It was proved, by this engine.
    Proved(Option<EngineName>),
}

/// Stacks of more frames than this are not copied frame by frame.
const MOST_FRAMES: usize = 200;

/// How many choices of visited lines are tried at most.
const MOST_CHOICES: usize = 8;

/// Answers how the program got into a stack.
pub fn trace(subject: Subject<'_>, backtrace: &Backtrace, clues: &Clues, effort: &Effort<'_>) -> Traced {
    let program = &subject.plain.program;
    let mut traced = Traced {
        fitted: None,
        path: None,
        ways: Vec::new(),
        conditions: Vec::new(),
        ignored: Vec::new(),
        outcome: Outcome::None(Reason::NoPath),
    };
    let fitted = match fit(program, backtrace) {
        Ok(fitted) => fitted,
        Err(misfit) => {
            traced.outcome = match not_modelled(subject.plain, backtrace, misfit.frame) {
                Some(what) => Outcome::Open(format!("{misfit}; but {what}")),
                None => Outcome::None(Reason::Misfit(misfit)),
            };
            return traced;
        }
    };
    if backtrace.frames.iter().enumerate().any(|(at, frame)| is_handler(&fitted, at, frame)) {
        traced.outcome = Outcome::Open("a signal handler runs on this stack".to_owned());
        traced.fitted = Some(fitted);
        return traced;
    }
    (traced.conditions, traced.ignored) = conditions(program, backtrace, &fitted);
    let evidence = Evidence::new(program, clues, &of_stack(program, &fitted));
    match search(program, &fitted, &evidence, effort.limits) {
        Err(stop) => traced.outcome = Outcome::Open(format!("no path was found: {}", stop.why())),
        Ok(found) => {
            traced.ways = found.ways;
            traced.path = found.path;
            if traced.path.is_none() {
                let reason = if traced.ways.is_empty() { Reason::NoPath } else { Reason::NotVisited };
                traced.outcome = match not_modelled(subject.plain, backtrace, None) {
                    Some(what) => Outcome::Open(format!("no path was found, but {what}")),
                    None => Outcome::None(reason),
                };
            }
        }
    }
    if let Some(path) = &traced.path {
        traced.outcome = match effort.wants_run {
            true => runs(subject, backtrace, &fitted, (clues, &evidence), (&traced, path), effort),
            false => Outcome::Open("it was not asked whether it can be run".to_owned()),
        };
    }
    traced.fitted = Some(fitted);
    traced
}

/// What speaks against that there is no path: places that are not modelled, at a frame or anywhere,
/// and what must not matter.
fn not_modelled(task: &Task, backtrace: &Backtrace, frame: Option<usize>) -> Option<String> {
    let program = &task.program;
    let line = frame.and_then(|frame| backtrace.frames[frame].line);
    let here = |place: &&Unsupported| line.is_none() || program.line(place.node) == line;
    let place = task.unsupported.iter().find(here).map(|place| place.words(program));
    let doubt = task.doubts.first().map(|doubt| format!("it rests on this: {}", doubt.words(program)));
    place.or(doubt)
}

/// Whether a frame, between others of the program, says that a signal was handled.
fn is_handler(fitted: &Fitted, at: usize, frame: &Frame) -> bool {
    let lowest = fitted.frames.last().map_or(0, |frame| frame.frame);
    frame.function.as_deref() == Some("<signal handler>") && at < lowest && fitted.frames[0].frame < at
}

/// The locations of the frames: runs are there, whatever was counted.
fn of_stack(program: &Program, fitted: &Fitted) -> Vec<Node> {
    let mut found = Vec::new();
    for frame in &fitted.frames {
        match &frame.sites {
            Sites::At(nodes) => found.extend(nodes),
            Sites::Calls(edges) => found.extend(
                edges
                    .iter()
                    .map(|edge| Node { procedure: edge.procedure, location: program.edge(*edge).from }),
            ),
            Sites::Unknown => {}
        }
    }
    found
}

/// The stack of a path in the place of one that has frames which are not known, and the conditions
/// on its frames.
fn stack_of(
    program: &Program,
    fitted: &Fitted,
    path: &Path,
    conditions: &[Condition],
) -> (Fitted, Vec<Condition>) {
    let mut frames = vec![FittedFrame { frame: 0, sites: Sites::At(vec![path.end]) }];
    let mut levels = vec![Some(0)];
    let known = fitted.frames.iter().enumerate().skip(1);
    let mut known = known.filter(|(_, frame)| frame.sites != Sites::Unknown).peekable();
    for edge in path.stack.iter().filter(|edge| !is_start(program, edge.procedure)) {
        let is_known = |frame: &FittedFrame| matches!(&frame.sites, Sites::Calls(all) if all.contains(edge));
        levels.push(known.next_if(|(_, frame)| is_known(frame)).map(|(level, _)| level));
        frames.push(FittedFrame { frame: frames.len(), sites: Sites::Calls(vec![*edge]) });
    }
    let moved = conditions.iter().filter_map(|condition| {
        let level = levels.iter().position(|level| *level == Some(condition.level))?;
        Some(Condition { level, ..condition.clone() })
    });
    (Fitted { frames, is_open: false, ..fitted.clone() }, moved.collect())
}

/// What a way visits, as a requirement.
fn required(evidence: &Evidence, way: &Way) -> Required {
    let points = evidence.points().iter().enumerate();
    let points = points.filter(|(i, _)| way.touched & 1 << i != 0).map(|(_, nodes)| nodes.clone());
    let order = evidence.in_order()[..usize::from(way.to)].to_vec();
    Required { points: points.collect(), order, never: evidence.never.clone() }
}

fn runs(
    subject: Subject<'_>,
    backtrace: &Backtrace,
    fitted: &Fitted,
    (clues, evidence): (&Clues, &Evidence),
    (traced, path): (&Traced, &Path),
    effort: &Effort<'_>,
) -> Outcome {
    if fitted.frames.len() > MOST_FRAMES {
        return Outcome::Open(format!("the stack has {} frames", fitted.frames.len()));
    }
    let program = &subject.plain.program;
    let is_known = fitted.frames.iter().all(|frame| frame.sites != Sites::Unknown);
    let (concrete, conditions) = match is_known {
        true => (fitted.clone(), traced.conditions.clone()),
        false => stack_of(program, fitted, path, &traced.conditions),
    };
    // A run that fails is what was seen. Half of the time is for it.
    if let Some(checked) = subject.checked.filter(|_| is_known) {
        if let Some(run) = failing(checked, (backtrace, &path.way), clues, &traced.conditions, effort) {
            return Outcome::Feasible { run: Box::new(run), is_best: true };
        }
    }
    let mut choices: Vec<Way> = traced.ways.iter().filter(|way| evidence.is_enough(way)).copied().collect();
    choices.sort_by_key(|way| (std::cmp::Reverse(u32::from(way.to) + way.touched.count_ones()), way.cost));
    choices.truncate(MOST_CHOICES);
    // No way of the front may visit as little as is allowed: only that answers for all runs.
    let least = evidence.least();
    choices.retain(|way| (way.touched, way.to) != (least.touched, least.to));
    choices.push(least);
    let mut excluded: Vec<Way> = Vec::new();
    let mut open: Option<String> = None;
    for (i, way) in choices.iter().enumerate() {
        let is_last = i + 1 == choices.len();
        let covers = |other: &Way| way.touched & other.touched == other.touched && way.to >= other.to;
        if excluded.iter().any(covers) || open.is_some() && !is_last {
            continue;
        }
        let required = required(evidence, way);
        let asked =
            Asked { fitted: &concrete, required: &required, conditions: &conditions, goal: &Goal::Arrive };
        let budget = match (is_last, effort.budget.left()) {
            (false, Some(left)) => effort.budget.within(left / 2),
            _ => effort.budget.clone(),
        };
        match decide(subject.plain, &asked, effort.replaying, effort.session, &budget) {
            Feasibility::Run(run) => return Outcome::Feasible { run, is_best: i == 0 },
            Feasibility::None { by } if is_last && is_known => return Outcome::None(Reason::Proved(by)),
            Feasibility::None { .. } => excluded.push(*way),
            Feasibility::Open(why) => open = Some(why),
        }
    }
    let why = if is_known { "no run was found" } else { "some frames of the stack are not known" };
    Outcome::Open(open.unwrap_or_else(|| why.to_owned()))
}

/// A run that fails in the stack, as the backtrace says.
fn failing(
    checked: &Task,
    (backtrace, way): (&Backtrace, &Way),
    clues: &Clues,
    conditions: &[Condition],
    effort: &Effort<'_>,
) -> Option<Run> {
    let program = &checked.program;
    let fitted = fit(program, backtrace).ok()?;
    let evidence = Evidence::new(program, clues, &of_stack(program, &fitted));
    let required = required(&evidence, way);
    let budget =
        effort.budget.left().map_or_else(|| effort.budget.clone(), |left| effort.budget.within(left / 2));
    let goal = match &backtrace.happened {
        Some(happened) => Goal::Fail {
            kinds: happened.kinds.clone(),
            assertions: happened.is_abort || happened.kinds.is_empty(),
        },
        None => Goal::Fail { kinds: Vec::new(), assertions: true },
    };
    let asked = Asked { fitted: &fitted, required: &required, conditions, goal: &goal };
    match decide(checked, &asked, effort.replaying, effort.session, &budget) {
        Feasibility::Run(run) => Some(*run),
        _ => None,
    }
}
