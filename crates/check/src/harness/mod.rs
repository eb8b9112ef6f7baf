//! Failing runs of C programs, by the compiled program.
//!
//! A run is replayed outside of our own meaning of C: [`replay`] writes a *harness*, a C file that
//! defines what the program only declares, so that inputs have the values of the run and errors
//! leave a mark. It is compiled with the sources of the program and run with limits.
//!
//! # Reading order
//! 1. [`replay`]: a failing run of a task. [`Replay`]: the outcome.
//! 2. `text.rs`: the harness. `arguments.rs`: those of the command. `labels.rs`: calls behind labels.
//!    `build.rs`: compiling and running, in a folder of its own (`folder.rs`); `place.rs`: where it
//!    failed; `inputs.c`: what models of functions that bring input need;
//!    `files.c`: files that the program writes; `int128.rs`: what 32-bit
//!    compilers do not know; `watched.rs`: rules of a property.
//! 3. `schedule.rs`, `schedule.c`, `thread_functions.c`: threads, one at a time, in the order of a
//!    schedule.

mod arguments;
mod build;
mod folder;
mod int128;
mod labels;
mod place;
mod sandbox;
mod sanitizers;
mod schedule;
mod text;
mod watched;

use std::collections::{BTreeMap, BTreeSet};
use std::path::{Path, PathBuf};
use std::time::Duration;

pub use wherefore_program::Errors;
use wherefore_program::{
    Argument, EdgeRef, ErrorKind, ErrorSite, Input, InputModels, Interpreter, LocationKind, Monitor,
    Monitored, MonitoredCall, Operation, OwnFiles, Program, Recipe, State, Task, ThreadTrace, Trace, Unset,
    Variable, c_library,
};

use crate::verdict::FailingRun;
use place::ErrorPlace;
use sanitizers::Broken;
use watched::Watched;

/// A failing run, and what it takes to compile its program.
#[derive(Clone, Debug)]
pub(crate) struct Case<'a> {
    /// The program.
    pub program: &'a Program,
    /// The program without what the run leaves out: the run is one of it, step by step.
    pub followed: &'a Program,
    /// The run.
    pub trace: &'a Trace,
    /// Who runs when, if there are threads.
    pub schedule: Option<&'a ThreadTrace>,
    /// The steps that bring values from outside.
    pub feeds: &'a [Feed],
    /// The files that were translated.
    pub files: &'a [PathBuf],
    /// Handed to the preprocessor.
    pub preprocessor: &'a [String],
    /// Handed to it for single files.
    pub flags: &'a BTreeMap<PathBuf, Vec<String>>,
    /// How many of the files, the last ones, give way to definitions of the others.
    pub weak_files: usize,
    /// 64, or 32.
    pub pointer_bits: u32,
    /// The function where runs start.
    pub entry: &'a str,
    /// What counts as an error.
    pub errors: Errors,
    /// Objects that are declared but not defined.
    pub undefined: &'a [String],
    /// The rule of C that the run breaks, if it fails by that.
    pub broken: Option<Broken>,
    /// Definitions of functions of the C library that bring inputs.
    pub models: Option<&'a InputModels>,
    /// What the program may do with files of its own.
    pub own_files: OwnFiles,
    /// Whether it puts characters back into streams.
    pub puts_back: bool,
    /// The rules of a property that the run breaks, if it does.
    pub watched: Option<Watched<'a>>,
    /// The error that must be reached and no other one; none if any counts.
    pub place: Option<ErrorPlace>,
}

/// A step that brings a value from outside.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) struct Feed {
    /// The step, a havoc of one target.
    pub edge: EdgeRef,
    /// The function that is called.
    pub function: String,
    /// The type of the value.
    pub ty: FeedType,
}

/// The type of a value from outside.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum FeedType {
    /// A signed number of so many bits.
    Signed(u32),
    /// An unsigned number of so many bits.
    Unsigned(u32),
    /// A floating-point number of so many bits, by its bits.
    Float(u32),
    /// A pointer: only NULL can be fed.
    Pointer,
    /// A pointer to a new object, or NULL.
    Fresh,
    /// A part of a structure: it cannot be fed.
    Part,
}

/// What came of a replay.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Replay {
    /// The compiled program fails.
    Confirmed {
        /// A caveat.
        note: Option<String>,
        /// The report of a sanitizer, with the stack.
        report: Option<String>,
    },
    /// The compiled program ran with all that the run depends on, or computed it, and ended without
    /// failing.
    NotConfirmed {
        /// What happened instead, and what the run depends on that could not be fed, if anything.
        why: String,
    },
    /// Nothing was learnt.
    NotReplayed {
        /// Why not.
        why: String,
    },
}

/// A harness and what came of it.
#[derive(Clone, Debug)]
pub struct Replayed {
    /// The text of the harness, with the command to compile it.
    pub harness: String,
    /// The outcome.
    pub outcome: Replay,
}

/// Where a compiled program runs.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub enum Enclosure {
    /// In a sandbox: it writes to a folder of its own only, has no network, and starts no
    /// processes. If there is no sandbox on the system, it is not run.
    #[default]
    Sandbox,
    /// Without protection, as the user.
    None,
}

/// The data model that the program was compiled for.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Model {
    Same,
    /// 64 bits instead of 32.
    Wider,
}

/// The values that functions return, call by call.
pub(crate) struct Feeding<'a> {
    functions: BTreeMap<&'a str, (FeedType, Vec<u64>)>,
    /// The steps of the run whose values are fed.
    fed: BTreeSet<usize>,
    /// Arguments of the entry: their types and values.
    arguments: Vec<(FeedType, u64)>,
    /// Arguments of the command, if the entry is `main` with parameters.
    words: Vec<Vec<u8>>,
    /// The steps of the run at which a function brings a value, with its name.
    calls: Vec<(usize, String)>,
    /// Calls of one function in one statement: C does not say which comes first.
    open_order: Option<usize>,
}

/// Compiles and runs the program with the inputs of a failing run, for at most so long.
///
/// **Requires:** the run is one of the program, but for what it leaves out, and ends at `site`.
pub fn replay(
    task: &Task,
    recipe: &Recipe,
    run: &FailingRun,
    site: &ErrorSite,
    (enclosure, time): (Enclosure, Duration),
) -> Replayed {
    let monitor = recipe.monitor.as_ref();
    let feeds: Vec<Feed> = task.inputs.iter().map(|input| Feed::of(input, monitor)).collect();
    let case = Case {
        program: &task.program,
        followed: run.program(&task.program),
        trace: &run.trace,
        schedule: run.schedule.as_ref().map(|schedule| &schedule.trace),
        feeds: &feeds,
        files: &recipe.files,
        preprocessor: &recipe.preprocessor,
        flags: &recipe.flags,
        weak_files: recipe.weak_files,
        pointer_bits: recipe.pointer_bits,
        entry: &recipe.entry,
        errors: errors_at(&task.program, &recipe.errors, site),
        undefined: &recipe.undefined,
        broken: Broken::at(&task.program, site, recipe.whole_objects),
        models: recipe.models.as_ref(),
        own_files: recipe.own_files,
        puts_back: recipe.puts_back,
        watched: Watched::at(&task.program, site, recipe),
        place: ErrorPlace::at(task, site, &recipe.files).filter(|_| run.schedule.is_none()),
    };
    // What a step of another thread depends on is not followed.
    let is_approximated = run.schedule.is_none() && rests_on_approximation(task, run).is_some();
    replay_case(&case, is_approximated, (enclosure, time))
}

impl Case<'_> {
    /// Whether a function is left to the real library.
    fn is_left(&self, name: &str) -> bool {
        let is_about_files = self.own_files != OwnFiles::None && c_library::is_about_files(name);
        is_about_files || c_library::is_deterministic(name)
    }

    /// Whether values are fed that the program itself may determine.
    fn feeds_too_much(&self) -> bool {
        self.own_files != OwnFiles::None && !self.has_own_files() || self.puts_back
    }

    /// An object that is not defined. Streams are: which ones is followed.
    fn open_object(&self) -> Option<&str> {
        let is_stream = |name: &&String| ["stdin", "stdout", "stderr"].contains(&name.as_str());
        self.undefined.iter().find(|name| !is_stream(name)).map(String::as_str)
    }

    /// Whether files that the program writes are real ones. Those that a property is about are not.
    fn has_own_files(&self) -> bool {
        self.own_files != OwnFiles::None && self.watched.is_none()
    }

    /// What the thread that takes a step sees before it, and which one it is.
    fn seen(&self, interpreter: &Interpreter<'_>, step: usize) -> Option<(State, u32)> {
        let schedule = self.schedule?;
        let thread = schedule.steps.get(step)?.thread;
        Some((interpreter.view(schedule.before(step), thread as usize), thread))
    }
}

impl Feed {
    fn of(input: &Input, monitor: Option<&Monitor>) -> Self {
        let width = input.ty.width();
        let is_fresh =
            |call: &MonitoredCall| call.function == input.function && call.kind == Monitored::Fresh;
        let ty = match (input.pointer, input.signed) {
            _ if input.part => FeedType::Part,
            (true, _) if monitor.is_some_and(|monitor| monitor.calls.iter().any(is_fresh)) => FeedType::Fresh,
            (true, _) => FeedType::Pointer,
            _ if input.float => FeedType::Float(width),
            (false, true) => FeedType::Signed(width),
            (false, false) => FeedType::Unsigned(width),
        };
        Self { edge: input.edge, function: input.function.clone(), ty }
    }
}

/// What marks the error of a run: labels count only if the run ends at one.
fn errors_at(program: &Program, errors: &Errors, site: &ErrorSite) -> Errors {
    let mut here = Errors { labels: Vec::new(), ..errors.clone() };
    match &site.kind {
        ErrorKind::Label(name) => here.labels.push(name.clone()),
        ErrorKind::Entry(name) => {
            here.functions.push(name.split('@').next().unwrap_or(name).to_owned());
        }
        ErrorKind::Assertion if program.location(site.node).kind == LocationKind::Error => {
            here.labels.clone_from(&errors.labels);
        }
        ErrorKind::Assertion | ErrorKind::Call(_) | ErrorKind::Violation(_) => {}
    }
    here
}

fn replay_case(case: &Case<'_>, is_approximated: bool, how: (Enclosure, Duration)) -> Replayed {
    let feeding = Feeding::new(case);
    let (harness, outcome, model) = build::run(case, &feeding, how);
    let outcome = match (outcome, model) {
        // What other threads do is not followed by the questions below: nothing is learnt.
        (Replay::NotConfirmed { why }, _) if case.schedule.is_some() => Replay::NotReplayed { why },
        // What the program itself may have written, or put back, was fed.
        (Replay::Confirmed { .. }, _) if case.feeds_too_much() && is_approximated => {
            let why = "it may read what it has written itself, or put back".to_owned();
            Replay::NotReplayed { why }
        }
        (Replay::Confirmed { report, .. }, Model::Wider) => {
            Replay::Confirmed { note: Some("compiled for 64 bits".to_owned()), report }
        }
        (Replay::NotConfirmed { why }, model) => {
            let why = match model {
                Model::Same => why,
                Model::Wider => format!("it can only be compiled for 64 bits; so compiled, {why}"),
            };
            match (uncontrolled(case, &feeding), model) {
                (Some(reason), _) if is_approximated => {
                    Replay::NotConfirmed { why: format!("{why}; {reason}") }
                }
                // The sanitizers see nothing undefined: what was read before it was written makes
                // the run fail in our model only.
                (Some(reason), Model::Same) if case.broken.is_some() && rests_on_unset(case, &feeding) => {
                    Replay::NotConfirmed { why: format!("{why}; {reason}, for nothing was written there") }
                }
                // The run needs a value that the compiled program was free not to have.
                (Some(reason), _) => Replay::NotReplayed { why: format!("{reason}; compiled, {why}") },
                (None, Model::Same) => Replay::NotConfirmed { why },
                // Everything was fed, but to another program: with other sizes it need not fail.
                (None, Model::Wider) => Replay::NotReplayed { why },
            }
        }
        (other, _) => other,
    };
    Replayed { harness, outcome }
}

/// The first step of a run that depends on a value that is approximated, though the compiled
/// program computes it: what inline assembly or a function of the C library gives, or an expression
/// whose value is left open.
pub fn rests_on_approximation(task: &Task, run: &FailingRun) -> Option<EdgeRef> {
    let given = |_, edge: EdgeRef| !task.approximations.contains(&edge);
    let interpreter = Interpreter::new(run.program(&task.program));
    let step = interpreter.rests_on_chance(&run.trace, Unset::Determined, given)?;
    Some(run.trace.steps[step].edge)
}

/// What the run depends on and the harness does not control.
fn uncontrolled(case: &Case<'_>, feeding: &Feeding<'_>) -> Option<String> {
    if let Some(name) = case.open_object() {
        return Some(format!("`{name}` is not defined"));
    }
    if let Some(step) = feeding.open_order {
        return Some(format!("the order of calls at {} is open", place(case, step)));
    }
    let interpreter = Interpreter::new(case.followed);
    // The object that is followed is no value of the program.
    let is_chosen = |edge| case.watched.as_ref().is_some_and(|watched| watched.chooses(case.program, edge));
    let fed = |i: usize, edge| feeding.fed.contains(&i) || is_chosen(edge);
    let step = interpreter.rests_on_chance(case.trace, Unset::Chance, fed)?;
    let taken: BTreeSet<EdgeRef> = case.trace.steps.iter().map(|step| step.edge).collect();
    let feeds = case.feeds.iter().filter(|feed| taken.contains(&feed.edge));
    // Those of our own texts have no name that the user knows.
    let is_known = |name: &&str| case.is_left(name) && !name.starts_with("__builtin_own_");
    let left: BTreeSet<&str> = feeds.map(|feed| feed.function.as_str()).filter(is_known).collect();
    let left: Vec<String> = left.into_iter().map(|name| format!("`{name}`")).collect();
    let note = match left.as_slice() {
        [] => String::new(),
        names => format!(" (no model says what is returned by {})", names.join(", ")),
    };
    Some(format!("the run depends on a value that no input gives, at {}{note}", place(case, step)))
}

/// Whether all values that the run depends on and that are not fed are those of objects that nothing
/// was written to.
fn rests_on_unset(case: &Case<'_>, feeding: &Feeding<'_>) -> bool {
    if case.open_object().is_some() || feeding.open_order.is_some() || !feeding.arguments.is_empty() {
        return false;
    }
    let brings: BTreeSet<EdgeRef> = case.feeds.iter().map(|feed| feed.edge).collect();
    let known = |i: usize, edge: EdgeRef| feeding.fed.contains(&i) || !brings.contains(&edge);
    Interpreter::new(case.followed).rests_on_chance(case.trace, Unset::Determined, known).is_none()
}

fn place(case: &Case<'_>, step: usize) -> String {
    let span = case.program.edge(case.trace.steps[step].edge).span;
    format!("{}:{}", case.program.source(span).name(), case.program.position(span).line)
}

impl<'a> Feeding<'a> {
    fn new(case: &'a Case<'_>) -> Self {
        let program = case.program;
        let interpreter = Interpreter::new(program);
        let feeds: BTreeMap<EdgeRef, &Feed> = case.feeds.iter().map(|feed| (feed.edge, feed)).collect();
        let mut feeding = Self {
            functions: BTreeMap::new(),
            fed: BTreeSet::new(),
            arguments: Vec::new(),
            words: Vec::new(),
            calls: Vec::new(),
            open_order: None,
        };
        let mut last: Option<(usize, EdgeRef, u32)> = None;
        for (i, (before, step)) in case.trace.states().zip(&case.trace.steps).enumerate() {
            let edge = program.edge(step.edge);
            // With threads, what the run was before the step is what the thread that moves sees.
            let (before, thread) = case.seen(&interpreter, i).unwrap_or_else(|| (before.clone(), 0));
            let before = &before;
            if let (Operation::Call(call), 1, 0) = (&edge.operation, before.stack.len(), thread) {
                feeding.enter(program, &call.arguments, step);
                if let Some(words) = arguments::of(program, &case.trace.start, step, case.pointer_bits) {
                    feeding.start(case, (i, &call.arguments), words);
                }
            }
            let (Some(feed), Operation::Havoc(targets)) = (feeds.get(&step.edge), &edge.operation) else {
                continue;
            };
            let value = targets.first().and_then(|target| interpreter.written(before, target, &step.state));
            let function = c_library::sets_errno(&feed.function).unwrap_or(&feed.function);
            let cannot = feed.ty == FeedType::Part
                || case.is_left(function)
                || [c_library::OUTPUT_FAILS, c_library::WRITE].contains(&function);
            let (Some(value), false) = (value, cannot) else { continue };
            let entry = feeding.functions.entry(&feed.function).or_insert_with(|| (feed.ty, Vec::new()));
            entry.1.push(if feed.ty == FeedType::Pointer { 0 } else { value });
            if feed.ty != FeedType::Pointer || value == 0 {
                feeding.fed.insert(i);
            }
            match c_library::sets_errno(&feed.function) {
                Some(function) if feeds.values().any(|feed| feed.function == function) => {}
                _ => feeding.calls.push((i, function.to_owned())),
            }
            let line = program.position(edge.span).line;
            let together = |(depth, other, at): &(usize, EdgeRef, u32)| {
                *depth == before.stack.len()
                    && other.procedure == step.edge.procedure
                    && *other != step.edge
                    && *at == line
                    && program.edge(*other).span != edge.span
                    && feeds.get(other).is_some_and(|before| before.function == feed.function)
            };
            if last.as_ref().is_some_and(together) {
                feeding.open_order.get_or_insert(i);
            }
            last = Some((before.stack.len(), step.edge, line));
        }
        feeding
    }

    /// `main` is called: the command gets arguments, so that their number is that of the run.
    fn start(&mut self, case: &Case<'_>, (step, given): (usize, &[Argument]), words: arguments::Words) {
        if case.entry != "main" {
            return;
        }
        self.words = words.texts;
        if !words.are_all {
            return;
        }
        let mut count = None;
        if let Some(Argument::Value(value)) = given.first() {
            value.reads(&mut |variable, _| count = Some(variable));
        }
        let chooses = |edge: EdgeRef| match &case.program.edge(edge).operation {
            Operation::Havoc(targets) => targets.iter().any(|target| Some(target.variable) == count),
            _ => false,
        };
        let before = case.trace.steps[..step].iter().enumerate();
        self.fed.extend(before.filter(|(_, step)| chooses(step.edge)).map(|(i, _)| i));
    }

    /// The entry is called: its arguments are those of the run.
    fn enter(&mut self, program: &Program, arguments: &[Argument], step: &wherefore_program::Step) {
        let Some(frame) = step.state.stack.last() else { return };
        let variables = &program.procedure(frame.procedure).variables;
        let values = frame.locals.iter().zip(variables).take(arguments.len());
        let ty = |variable: &Variable| match variable.ty.element().width() {
            width if variable.float => FeedType::Float(width),
            width => FeedType::Signed(width),
        };
        self.arguments = values.map(|(value, variable)| (ty(variable), *value)).collect();
    }
}

/// Whether a file needs no preprocessor.
fn is_preprocessed(file: &Path) -> bool {
    file.extension().is_some_and(|extension| extension == "i")
}
