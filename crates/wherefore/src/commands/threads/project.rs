//! `wherefore project` on programs with threads: the lines of each thread on failing schedules.

use std::collections::{BTreeMap, BTreeSet};
use std::fmt::Write as _;
use std::io::Write;

use serde::Serialize;
use wherefore_program::{
    Compilation, LocationKind, Node, Program, SwitchPoints, Task, ThreadLimits, ThreadProjection,
    thread_projection, thread_starts,
};

use super::super::report::{Stats, Word};
use super::super::schedule::ScheduleArgs;
use super::super::{ProgramArgs, Subject, text};
use super::{answer, reason};
use crate::exit::{CliError, Exit, print};

/// How many configurations are looked at.
const CONFIGURATIONS: usize = 400_000;

/// How many values of an input are tried if there are many.
const VALUES: usize = 8;

/// How many threads are followed unless the question says so.
const THREADS: usize = 8;

/// The answer.
#[derive(Serialize)]
struct Report {
    verdict: Word,
    #[serde(skip_serializing_if = "Option::is_none")]
    reason: Option<String>,
    /// The greatest number of switches that was asked about; none is any number.
    #[serde(skip_serializing_if = "Option::is_none")]
    switches: Option<usize>,
    /// Whether all schedules were searched, up to that number of switches.
    complete: bool,
    projection: Vec<ThreadLines>,
    /// What the answer rests on.
    #[serde(skip_serializing_if = "Vec::is_empty")]
    assumptions: Vec<String>,
    stats: Stats,
}

/// The lines of a thread.
#[derive(Serialize)]
struct ThreadLines {
    /// The thread, in the order of starts; 0 runs the entry.
    thread: u32,
    /// The procedures where it starts.
    name: String,
    /// On some failing schedule, with the fewest switches of one.
    #[serde(rename = "in")]
    inside: BTreeMap<u32, usize>,
    /// Executed by the thread, or in a procedure that it executes, but on no failing schedule; only
    /// said if all schedules were searched.
    #[serde(rename = "out")]
    outside: BTreeSet<u32>,
}

/// Searches, and prints the lines.
pub fn project(
    args: &ProgramArgs,
    schedules: &ScheduleArgs,
    subject: &Subject,
    out: &mut impl Write,
) -> Result<Exit, CliError> {
    let task = &subject.task;
    let limits = schedules.search(wherefore_check::threads::Way::Explicit).limits;
    if limits.rounds.is_some() {
        return Err(args.question("--rounds is for `check`".to_owned()));
    }
    if let Some(at) = task.program.uses_sync() {
        let line = task.program.position(at).line;
        return Err(args.question(format!("line {line}: what `sync` waits for is not defined")));
    }
    let answer = answer(args, schedules, subject);
    let program = (*task.program).clone().with_unread_values_zero();
    let starts = thread_starts(&program).most();
    let threads = limits.threads.unwrap_or(starts.unwrap_or(0).max(THREADS));
    let search = ThreadLimits {
        configurations: CONFIGURATIONS,
        choices: if program.has_small_data() { 1 << 16 } else { VALUES },
        threads,
        frames: 200,
        switches: limits.switches,
        points: if task.is_c() { SwitchPoints::visible(&program) } else { SwitchPoints::All },
    };
    let fails = Word::of(&answer) == Word::Unsafe;
    let search = if fails { search } else { ThreadLimits { configurations: 0, ..search } };
    let found = thread_projection(&program, &task.checks, &search, || subject.budget.stopped().is_none());
    // A place that is not modelled hides what comes behind it.
    let is_complete = found.is_complete && task.unsupported.is_empty();
    let verdict = Word::of(&answer);
    let reason = match verdict {
        Word::Unsafe if !is_complete => {
            Some("not all schedules were searched: more lines may lie on failing ones".to_owned())
        }
        _ => reason(subject, &answer),
    };
    let report = Report {
        verdict,
        reason,
        switches: limits.switches,
        complete: is_complete,
        projection: lines(task, &program, &found, is_complete),
        assumptions: task.assumptions_in_words(),
        stats: Stats::of(subject, answer.facts.size),
    };
    let shown = match args.json {
        true => text::json(&report),
        false => report.text(&args.name(), &program),
    };
    print(out, &shown, report.verdict.exit())
}

fn lines(task: &Task, program: &Program, found: &ThreadProjection, is_complete: bool) -> Vec<ThreadLines> {
    // Lines of the file that was asked about.
    let line = |node: Node| {
        let location = program.location(node);
        let is_setup = task.is_c() && node.procedure == program.entry;
        let is_shown = location.span.file.0 == 0
            && !is_setup
            && !program.source(location.span).name().starts_with('<')
            && !matches!(location.kind, LocationKind::Exit | LocationKind::Error);
        is_shown.then(|| program.line(node)).flatten()
    };
    let threads: BTreeSet<u32> = found.reached.keys().map(|(thread, _)| *thread).collect();
    let of_thread = |thread: u32| {
        let mut inside: BTreeMap<u32, usize> = BTreeMap::new();
        for ((_, node), switches) in found.nodes.iter().filter(|((other, _), _)| *other == thread) {
            if let Some(line) = line(*node) {
                let least = inside.entry(line).or_insert(*switches);
                *least = (*switches).min(*least);
            }
        }
        let mut outside = BTreeSet::new();
        if is_complete {
            let reached = found.reached.keys().filter(|(other, _)| *other == thread);
            let procedures: BTreeSet<_> = reached.map(|(_, node)| node.procedure).collect();
            let nodes = program.nodes().filter(|node| procedures.contains(&node.procedure));
            outside = nodes.filter_map(line).filter(|line| !inside.contains_key(line)).collect();
        }
        let roots = found.roots.get(&thread).into_iter().flatten();
        let is_named = |id: &&wherefore_program::ProcedureId| !(task.is_c() && **id == program.entry);
        let names: Vec<&str> =
            roots.filter(is_named).map(|id| program.procedure(*id).name.as_str()).collect();
        let mut name = names.join(" or ");
        if let (true, 0, Compilation::Compiled(recipe)) = (name.is_empty(), thread, &task.compilation) {
            name.clone_from(&recipe.entry);
        }
        ThreadLines { thread, name, inside, outside }
    };
    threads.into_iter().map(of_thread).collect()
}

impl Report {
    fn text(&self, file: &str, program: &Program) -> String {
        let mut out = format!("{file}: {}", self.verdict.name());
        match (&self.reason, self.verdict) {
            (Some(reason), Word::Unknown) => drop(writeln!(out, ", because {reason}")),
            (Some(reason), _) => drop(writeln!(out, " ({reason})")),
            (None, _) => out.push('\n'),
        }
        if self.verdict == Word::Safe {
            let _ = writeln!(out, "no line lies on a failing schedule, for every number of switches");
        }
        if self.verdict != Word::Unsafe {
            return out;
        }
        let which = match self.switches {
            Some(1) => "with at most 1 switch".to_owned(),
            Some(most) => format!("with at most {most} switches"),
            None => "for every number of switches".to_owned(),
        };
        let outside = if self.complete { "; \"-\": on none" } else { "" };
        let _ =
            writeln!(out, "\nlines on failing schedules {which}, with the fewest switches of one{outside}");
        let source = program.sources.first();
        let shown = |line: u32| {
            let text = source.and_then(|source| source.text().lines().nth(line as usize - 1));
            text.unwrap_or_default().trim_end().to_owned()
        };
        for thread in &self.projection {
            let _ = writeln!(out, "\nthread {} {}", thread.thread, thread.name);
            let lines: BTreeSet<u32> = thread.inside.keys().chain(&thread.outside).copied().collect();
            for line in lines {
                let mark = thread.inside.get(&line).map_or("-".to_owned(), usize::to_string);
                let _ = writeln!(out, "{mark:>3} {line:5}  {}", shown(line));
            }
        }
        out
    }
}
