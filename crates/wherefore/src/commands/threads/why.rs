//! `wherefore explain` and `wherefore slice` on programs with threads.

use std::fmt::Write as _;
use std::io::Write;

use serde::Serialize;
use wherefore_check::threads::repair::{Change, Extent, Repairs};
use wherefore_check::threads::why;
use wherefore_check::{FailingRun, Verdict};
use wherefore_program::Program;

use super::super::report::{Place, Replayed, Stats, Word};
use super::super::schedule::{self, ScheduleArgs, Schedules};
use super::super::{ProgramArgs, Subject, text};
use super::{answer, lanes, reason};
use crate::exit::{CliError, Exit, print};

/// How much is told.
#[derive(Clone, Copy, PartialEq, Eq)]
pub enum Depth {
    /// What of the run matters.
    Slice,
    /// Also which switches matter, where they may happen, and what would repair it.
    Everything,
}

/// The answer.
#[derive(Serialize)]
struct Report {
    verdict: Word,
    #[serde(skip_serializing_if = "Option::is_none")]
    reason: Option<String>,
    #[serde(skip_serializing_if = "Option::is_none")]
    error: Option<Place>,
    #[serde(flatten)]
    schedules: Schedules,
    /// How many steps of the run matter, and how many it has.
    #[serde(skip_serializing_if = "Option::is_none")]
    slice: Option<Counts>,
    /// What the compiled program does under the schedule; only said of C programs.
    #[serde(skip_serializing_if = "Option::is_none")]
    replayed: Option<Replayed>,
    #[serde(skip_serializing_if = "Option::is_none")]
    repairs: Option<Vec<RepairReport>>,
    /// Whether all changes of the kinds that are known were tried near the switches.
    #[serde(skip_serializing_if = "Option::is_none")]
    repairs_complete: Option<bool>,
    /// What the answer rests on.
    #[serde(skip_serializing_if = "Vec::is_empty")]
    assumptions: Vec<String>,
    stats: Stats,
}

#[derive(Serialize)]
struct Counts {
    matter: usize,
    of: usize,
}

/// A change after which no schedule fails.
#[derive(Serialize)]
struct RepairReport {
    /// `atomic`, `lock-earlier`, `unlock-later`, `exchange` or `while`.
    kind: &'static str,
    file: String,
    procedure: String,
    /// The lines that are changed.
    lines: Vec<u32>,
    /// The change in words.
    change: String,
    /// The number of switches up to which no schedule fails; none is every number.
    #[serde(skip_serializing_if = "Option::is_none")]
    switches: Option<usize>,
    /// Which schedules do not fail, in words.
    holds: String,
}

/// Reads nothing, decides, explains, prints.
pub fn explain(
    args: &ProgramArgs,
    schedules: &ScheduleArgs,
    subject: &Subject,
    depth: Depth,
    out: &mut impl Write,
) -> Result<Exit, CliError> {
    let answer = answer(args, schedules, subject);
    let run = answer.verdicts.iter().find_map(Verdict::run);
    let mut report = Report {
        verdict: Word::of(&answer),
        reason: reason(subject, &answer),
        error: None,
        schedules: Schedules::of(&subject.task, &answer),
        slice: None,
        replayed: None,
        repairs: None,
        repairs_complete: None,
        assumptions: subject.task.assumptions_in_words(),
        stats: Stats::of(subject, answer.facts.size),
    };
    if let Some(run) = run {
        report.add(subject, run, depth);
    }
    report.stats = Stats::of(subject, answer.facts.size);
    let shown = match args.json {
        true => text::json(&report),
        false => report.text(&args.name(), depth),
    };
    print(out, &shown, report.verdict.exit())
}

impl Report {
    fn add(&mut self, subject: &Subject, run: &FailingRun, depth: Depth) {
        let task = &subject.task;
        let Some(schedule) = &run.schedule else { return };
        let Some(site) = task.checks.get(run.target) else { return };
        self.error = Some(Place::of(&task.program, site, Some(run)));
        self.replayed = run.replay.as_ref().map(Replayed::of);
        let kept = match depth {
            Depth::Slice => {
                let kept = why::kept(task, schedule);
                self.schedules = Schedules::explained(task, schedule, &kept, &[]);
                kept
            }
            Depth::Everything => {
                let reasons = why::reasons(task, schedule, site, (&subject.session, &subject.budget));
                self.schedules = Schedules::explained(task, schedule, &reasons.kept, &reasons.switches);
                self.repairs = Some(repairs(&task.program, &reasons.repairs));
                self.repairs_complete = Some(reasons.repairs.is_complete);
                reasons.kept
            }
        };
        let matter = kept.iter().filter(|kept| **kept).count();
        self.slice = Some(Counts { matter, of: kept.len() });
    }

    fn text(&self, file: &str, depth: Depth) -> String {
        let mut out = format!("{file}: {}", self.verdict.name());
        match (&self.reason, self.verdict) {
            (Some(reason), Word::Unknown) => drop(writeln!(out, ", because {reason}")),
            (Some(reason), _) => drop(writeln!(out, " ({reason})")),
            (None, _) => out.push('\n'),
        }
        if let (Word::Safe, Some(saturated)) = (self.verdict, self.schedules.saturated) {
            let _ = writeln!(out, "{}", schedule::saturated_in_words(saturated));
        }
        let (Some(error), Some(slice)) = (&self.error, &self.slice) else { return out };
        let words = self.schedules.words().unwrap_or_default();
        let Counts { matter, of } = slice;
        let _ = writeln!(
            out,
            "\na failing schedule {words}, to {}; {matter} of its {of} steps matter:",
            error.words()
        );
        lanes::write_in_part(&mut out, &self.schedules);
        if let Some(replay) = &self.replayed {
            let _ = writeln!(out, "{}", text::replayed(replay, error));
        }
        if depth == Depth::Slice {
            return out;
        }
        let repairs = self.repairs.as_deref().unwrap_or_default();
        for repair in repairs {
            let _ = writeln!(out, "repair: {}: no failure, {}", repair.change, repair.holds);
        }
        if repairs.is_empty() {
            let _ = match self.repairs_complete {
                Some(true) => writeln!(
                    out,
                    "no repair: no atomic step near the switches, no lock held longer, no exchange of two \
                     neighbouring statements and no `while` for an `if` makes all schedules safe"
                ),
                _ => writeln!(out, "no repair was found"),
            };
        }
        text::assumptions(&mut out, &self.assumptions);
        out
    }
}

fn repairs(program: &Program, found: &Repairs) -> Vec<RepairReport> {
    let report = |repair: &wherefore_check::threads::repair::Repair| {
        let procedure = program.procedure(repair.procedure);
        let (kind, lines) = match repair.change {
            Change::Again(line) => ("while", vec![line]),
            Change::LockEarlier(a, b) => ("lock-earlier", vec![a, b]),
            Change::UnlockLater(a, b) => ("unlock-later", vec![a, b]),
            Change::Exchange(a, b) => ("exchange", vec![a, b]),
            Change::Atomic(a, b) => ("atomic", vec![a, b]),
        };
        RepairReport {
            kind,
            file: program.source(procedure.span).name().to_owned(),
            procedure: procedure.name.clone(),
            lines,
            change: repair.change.words(&procedure.name),
            switches: match repair.extent {
                Extent::Every => None,
                Extent::Switches(most) => Some(most),
            },
            holds: repair.extent.words(),
        }
    };
    found.found.iter().map(report).collect()
}
