//! Options about schedules, and failing schedules as data and in words: one block for each context.

use clap::Args;
use serde::Serialize;
use wherefore_check::threads::why::SwitchReason;
use wherefore_check::threads::{Covered, Schedule, ScheduleLimits, ScheduleSearch, Way};
use wherefore_check::{Answer, Overall, Why};
use wherefore_explain::model::{Extent, Run, Step};
use wherefore_program::{Interpreter, LocationKind, ProcedureId, Program, Span, Task, Var, Variable};

use super::threads::switches::Switch;

/// How far schedules are searched.
#[derive(Args, Clone, Debug)]
pub struct ScheduleArgs {
    /// Search schedules with at most this many context switches [default: more and more].
    #[arg(long, value_name = "NUMBER", help_heading = "Threads")]
    switches: Option<usize>,

    /// Search all schedules of this many rounds, each with one context of every thread.
    #[arg(
        long,
        value_name = "NUMBER",
        help_heading = "Threads",
        hide_short_help = true,
        conflicts_with = "switches"
    )]
    rounds: Option<usize>,

    /// Follow at most this many threads, with the first one.
    #[arg(long, value_name = "NUMBER", help_heading = "Threads", hide_short_help = true)]
    threads: Option<usize>,
}

impl ScheduleArgs {
    /// The search that is asked for.
    pub fn search(&self, way: Way) -> ScheduleSearch {
        let limits = ScheduleLimits { switches: self.switches, rounds: self.rounds, threads: self.threads };
        ScheduleSearch { limits, way }
    }

    /// How many rounds were asked for.
    pub fn rounds(&self) -> Option<usize> {
        self.rounds
    }

    /// The first option that was given.
    pub fn given(&self) -> Option<&'static str> {
        let given = [
            (self.switches.is_some(), "--switches"),
            (self.rounds.is_some(), "--rounds"),
            (self.threads.is_some(), "--threads"),
        ];
        given.into_iter().find(|(is_given, _)| *is_given).map(|(_, option)| option)
    }
}

/// Facts about schedules: what JSON has of them.
#[derive(Default, Serialize)]
pub struct Schedules {
    /// How many context switches the failing run has.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub switches: Option<usize>,
    /// Whether no failing run has fewer.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub fewest: Option<bool>,
    /// The failing run, context by context.
    #[serde(skip_serializing_if = "Vec::is_empty")]
    pub schedule: Vec<Block>,
    /// Within which bounds no schedule fails, if the verdict is *unknown*.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub covered: Option<Bounds>,
    /// How many threads runs have, at most.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub threads: Option<usize>,
    /// With so many switches every configuration is reached; only said of *safe*.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub saturated: Option<usize>,
    /// How many configurations were seen one by one, up to the names of threads.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub configurations: Option<usize>,
}

/// Bounds within which no schedule fails.
#[derive(Serialize)]
pub struct Bounds {
    #[serde(skip_serializing_if = "Option::is_none")]
    pub switches: Option<usize>,
    #[serde(skip_serializing_if = "Option::is_none")]
    pub rounds: Option<usize>,
    #[serde(skip_serializing_if = "Option::is_none")]
    pub threads: Option<usize>,
}

impl From<Covered> for Bounds {
    fn from(covered: Covered) -> Self {
        Self { switches: covered.switches, rounds: covered.rounds, threads: covered.threads }
    }
}

/// A context: steps of one thread.
#[derive(Serialize)]
pub struct Block {
    /// The thread, in the order of starts; 0 runs the entry.
    pub thread: u32,
    /// The procedure where the thread started.
    pub name: String,
    pub steps: Vec<Line>,
    /// What is known of the switch behind it; only said by `explain`.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub switch: Option<Switch>,
}

/// A step of a context.
#[derive(Serialize)]
pub struct Line {
    pub file: String,
    pub line: u32,
    pub procedure: String,
    pub text: String,
    /// The shared variables that the step changes, with their new values.
    #[serde(skip_serializing_if = "Vec::is_empty")]
    pub changes: Vec<(String, String)>,
    /// Whether the failure depends on the step; only said by `explain` and `slice`.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub matters: Option<bool>,
}

impl Schedules {
    /// A failing schedule with what matters of it: for each step whether it does, and what is known
    /// of each switch.
    pub fn explained(task: &Task, schedule: &Schedule, kept: &[bool], switches: &[SwitchReason]) -> Self {
        let mut schedules = Self {
            switches: Some(schedule.switches),
            fewest: Some(schedule.fewest),
            threads: Some(schedule.trace.last().threads.len()),
            schedule: blocks(task, schedule, kept),
            ..Self::default()
        };
        let contexts = schedule.trace.contexts();
        for ((block, reason), context) in schedules.schedule.iter_mut().zip(switches).zip(contexts) {
            block.switch = Some(Switch::of(task, schedule, &context, reason));
        }
        schedules
    }

    /// What an answer says about schedules.
    pub fn of(task: &Task, answer: &Answer) -> Self {
        let mut facts = Self::default();
        if let Some(known) = &answer.facts.threads {
            facts.threads = Some(known.threads);
            facts.configurations = known.configurations;
        }
        match answer.decision() {
            Overall::Unsafe(run) => {
                if let Some(schedule) = &run.schedule {
                    facts.switches = Some(schedule.switches);
                    facts.fewest = Some(schedule.fewest);
                    facts.threads = Some(schedule.trace.last().threads.len());
                    facts.schedule = blocks(task, schedule, &[]);
                }
            }
            Overall::Unknown(Why::Switches { covered, .. }) => facts.covered = Some((*covered).into()),
            Overall::Unknown(_) => {}
            Overall::Safe => facts.saturated = answer.facts.threads.and_then(|known| known.saturated),
        }
        facts
    }

    /// "with 2 context switches (not with fewer)".
    pub fn words(&self) -> Option<String> {
        let switches = self.switches?;
        let count = if switches == 1 {
            "1 context switch".to_owned()
        } else {
            format!("{switches} context switches")
        };
        Some(match (self.fewest, switches) {
            (Some(true), 1..) => format!("with {count} (not with fewer)"),
            _ => format!("with {count}"),
        })
    }
}

/// With how many switches every configuration is reached.
pub fn saturated_in_words(saturated: usize) -> String {
    let switches = match saturated {
        1 => "1 switch reaches".to_owned(),
        _ => format!("{saturated} switches reach"),
    };
    format!("for every number of context switches: {switches} all configurations")
}

/// The contexts of a schedule; `kept` says of each step whether it matters, if that is known.
fn blocks(task: &Task, schedule: &Schedule, kept: &[bool]) -> Vec<Block> {
    let trace = &schedule.trace;
    let program = &*task.program;
    let interpreter = Interpreter::new(program);
    // In C, a thread begins in a model, and the first one in what sets up objects.
    let is_shown = |id: ProcedureId| {
        let is_model = is_model(program, program.procedure(id).span);
        !task.is_c() || !is_model && id != program.entry
    };
    let name = |thread: u32| {
        let bottom = |state: &wherefore_program::ThreadedState| {
            let thread = state.threads.get(thread as usize)?;
            thread.stack.iter().map(|frame| frame.procedure).find(|id| is_shown(*id))
        };
        let states = std::iter::once(&trace.start).chain(trace.steps.iter().map(|step| &step.state));
        let root = states.filter_map(bottom).next();
        root.map_or_else(String::new, |root| program.procedure(root).name.clone())
    };
    let line = |at: usize| {
        let step = &trace.steps[at];
        let before = if at == 0 { &trace.start } else { &trace.steps[at - 1].state };
        let procedure = program.procedure(step.edge.procedure);
        let edge = procedure.edge(step.edge.edge);
        let location = procedure.location(edge.from);
        let span = location.span;
        let source = program.source(span);
        let view = |state| interpreter.view(state, step.thread as usize);
        let (old, new) = (view(before), view(&step.state));
        let mut changes = Vec::new();
        let is_own = |variable: &Variable| !variable.shared || variable.name.starts_with("__wherefore");
        for (variable, i) in program.globals.iter().zip(0..).filter(|(variable, _)| !is_own(variable)) {
            let cells = |state| interpreter.cells(state, Var::Global(i)).unwrap_or_default();
            let changed = cells(&old).iter().zip(cells(&new)).enumerate();
            for (cell, (_, value)) in changed.filter(|(_, (old, new))| old != new) {
                let indices = variable.ty.indices(cell).into_iter().map(|index| format!("[{index}]"));
                let name = format!("{}{}", variable.name, indices.collect::<String>());
                changes.push((name, program.show_value(variable, *value)));
            }
        }
        for ((memory, address), value) in &new.memory {
            let is_new = old.memory.get(&(*memory, *address)) != Some(value);
            let width = program.globals[*memory as usize].ty.element().width();
            if let Some(cell) = is_new.then(|| program.named_cell(*address, width)).flatten() {
                if !cell.name.starts_with("__wherefore") {
                    changes.push((cell.name, program.show_read(*value, width, cell.reading)));
                }
            }
        }
        Line {
            file: source.name().to_owned(),
            line: program.position(span).line,
            procedure: procedure.name.clone(),
            text: statement(program, span, location.kind),
            changes,
            matters: kept.get(at).copied(),
        }
    };
    let has_place = |at: usize| {
        let step = &trace.steps[at];
        let from = program.edge(step.edge).from;
        let span = program.procedure(step.edge.procedure).location(from).span;
        !is_model(program, span) && (is_shown(step.edge.procedure) || !task.is_c())
    };
    let context = |context: wherefore_program::Context| Block {
        thread: context.thread,
        name: name(context.thread),
        steps: context.steps.filter(|at| has_place(*at)).map(line).collect(),
        switch: None,
    };
    trace.contexts().into_iter().map(context).collect()
}

/// A failing schedule as a run: the steps of all threads, in their order.
pub fn as_run(task: &Task, schedule: &Schedule) -> Run {
    let kept = wherefore_check::threads::why::kept(task, schedule);
    let sources = &task.program.sources;
    let mut run = Run::default();
    for block in blocks(task, schedule, &kept) {
        for line in block.steps {
            let file = sources.iter().position(|source| source.name() == line.file).unwrap_or_default();
            if line.matters.unwrap_or(true) {
                run.slice.push(run.steps.len());
            }
            run.steps.push(Step {
                extent: whole_line(sources.get(file).map_or("", |source| source.text()), file, line.line),
                text: format!("thread {} ({}): {}", block.thread, block.name, line.text),
                procedure: line.procedure,
                values: line.changes.into_iter().collect(),
                ..Step::default()
            });
        }
    }
    // The failing step is where it ends, whatever the slice says.
    let last = run.steps.len().saturating_sub(1);
    if !run.steps.is_empty() && run.slice.last() != Some(&last) {
        run.slice.push(last);
    }
    run
}

/// A line without the blanks around it.
pub fn whole_line(text: &str, file: usize, line: u32) -> Extent {
    let content = text.split('\n').nth(line.saturating_sub(1) as usize).unwrap_or("");
    let blanks = content.chars().take_while(|letter| letter.is_whitespace()).count() as u32;
    let end = content.trim_end().chars().count() as u32;
    Extent { file, start: (line, blanks.min(end) + 1), end: (line, end + 1) }
}

/// Whether a place is in a model of a library function.
pub fn is_model(program: &Program, span: Span) -> bool {
    program.source(span).name().starts_with('<')
}

/// The statement at a span, on one line.
fn statement(program: &Program, span: Span, kind: LocationKind) -> String {
    if kind == LocationKind::End {
        return "end".to_owned();
    }
    let text = program.source(span).text().get(span.start as usize..span.end as usize).unwrap_or_default();
    text.split_whitespace().collect::<Vec<_>>().join(" ")
}
