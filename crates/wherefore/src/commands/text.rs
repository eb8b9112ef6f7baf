//! Answers about programs, in words and as JSON.

use std::fmt::Write;

use serde::Serialize;
use wherefore_program::Program;

use super::folded;
use super::project::ProjectReport;
use super::report::{CheckReport, Place, Refinement, Replayed, Run, Word};
use super::run::{RunStep, Slice};
use super::schedule;
use super::slice::SliceReport;
use super::summary::{self, Detail, verdict};
use super::threads::lanes;
use super::undecided::Undecided;
use crate::colour;

/// An answer as JSON, one object on several lines.
pub fn json(answer: &impl Serialize) -> String {
    let mut text = serde_json::to_string_pretty(answer).unwrap_or_default();
    text.push('\n');
    text
}

/// How the answer of `check` is shown.
#[derive(Default)]
pub struct CheckStyle {
    /// All steps of the run, or only those that matter.
    pub all_steps: bool,
    /// Where and why it fails, in short.
    pub explanation: Option<String>,
    /// What is open, and why.
    pub undecided: Option<Undecided>,
    /// How much is told.
    pub detail: Detail,
    /// Whether words are coloured.
    pub colour: bool,
}

/// The answer of `check`.
pub fn check(report: &CheckReport, file: &str, style: &CheckStyle) -> String {
    let mut out = String::new();
    let _ = write!(out, "{file}: ");
    let (undecided, detail, colour) = (style.undecided.as_ref(), style.detail, style.colour);
    summary::head(&mut out, report, undecided, colour);
    if detail == Detail::Verdict {
        return out;
    }
    summary::checks(&mut out, report, undecided, detail, colour);
    if let Some(error) = &report.error {
        let schedules = report.schedules.as_ref().filter(|schedules| !schedules.schedule.is_empty());
        let which = if report.shortest == Some(true) { "a shortest failing run" } else { "a failing run" };
        match &report.slice {
            _ if schedules.is_some() => {
                let schedules = schedules.expect("it is there");
                let words = schedules.words().unwrap_or_default();
                let _ = writeln!(out, "\na failing schedule {words}, to {}:", error.words());
                lanes::write(&mut out, schedules);
            }
            Some(slice) if !style.all_steps && slice.matter < slice.of => {
                let Slice { matter, of } = slice;
                let _ = writeln!(out, "\n{which}, to {}; {matter} of its {of} steps matter:", error.words());
                folded::write(&mut out, &report.trace);
            }
            _ => {
                let _ = writeln!(out, "\n{which}, to {}:", error.words());
                match style.all_steps {
                    true => folded::write_all(&mut out, &report.trace),
                    false => folded::write(&mut out, &report.trace),
                }
            }
        }
        if !report.left_out.is_empty() {
            let lines: Vec<String> =
                report.left_out.iter().map(|part| format!("{}:{}", part.file, part.line)).collect();
            let _ = writeln!(
                out,
                "left out of this run: {}; they end, and nothing that it does depends on them",
                lines.join(", ")
            );
        }
        if report.steps_left_out > 0 {
            let _ = writeln!(out, "its first {} steps are not shown", report.steps_left_out);
        }
        if let Some(replay) = &report.replay {
            let _ = writeln!(out, "{}", replayed(replay, error));
        }
    }
    if let Some(explanation) = style.explanation.as_ref().filter(|text| !text.is_empty()) {
        let _ = write!(out, "\n{explanation}");
    }
    // What refinement did is of use if it answered, or if it is asked for.
    let is_asked = |refinement: &&Refinement| {
        report.verdict != Word::Unknown || detail == Detail::All || refinement.points.is_some()
    };
    if let Some(refinement) = report.refinement.as_ref().filter(is_asked) {
        abstraction(&mut out, refinement);
    }
    if !report.invariants.is_empty() {
        let _ = writeln!(out, "\ninvariants (unreachable lines omitted):");
        for point in &report.invariants {
            let _ = writeln!(out, "{:5}  {}: {}", point.line, point.procedure, point.predicates.join("; "));
        }
    }
    if !report.bounds.is_empty() {
        let _ = writeln!(out, "\nbounds that they rest on, found by data flow:");
        for point in &report.bounds {
            let _ = writeln!(out, "{:5}  {}: {}", point.line, point.procedure, point.predicates.join("; "));
        }
    }
    let saturated = report.schedules.as_ref().and_then(|schedules| schedules.saturated);
    if let (Word::Safe, Some(saturated)) = (report.verdict, saturated) {
        let _ = writeln!(out, "{}", schedule::saturated_in_words(saturated));
    }
    if let (Word::Safe, Some(bound)) = (report.verdict, report.bound) {
        let iterations = if bound == 1 { "1 iteration" } else { &format!("{bound} iterations") };
        let _ = writeln!(out, "all loops end within {iterations} (loops with a constant bound not counted)");
    }
    if let Some(proof) = &report.proof {
        let _ = writeln!(out, "{}", proof.words());
    }
    assumptions(&mut out, &report.assumptions);
    if !report.without_body.is_empty() {
        let names: Vec<String> = report.without_body.iter().map(|name| format!("`{name}`")).collect();
        let _ = writeln!(out, "\nfunctions without a body: {}", names.join(", "));
    }
    if let Some(undecided) = undecided.filter(|_| report.verdict == Word::Unknown) {
        summary::advice(&mut out, undecided, detail);
    }
    if let (Some(property), Some(command)) = (&report.property, &report.command) {
        let by = match report.engine {
            _ if report.verdict == Word::Unknown => "not answered in",
            Some("bounded") => "answered by bounded checking in",
            Some("random") => "answered by random runs in",
            Some("cegar") => "answered by refinement in",
            Some("exact") => "answered by exact checking in",
            Some("flow") => "answered by data flow in",
            Some("explicit") => "answered by explicit search over schedules in",
            Some("modular") => "answered by invariants of pairs of threads in",
            Some("events") => "answered by bounded checking of events in",
            Some("eager") => "answered by reduction to a sequential program in",
            _ => "answered in",
        };
        if let Some(limit) = report.default_limit.filter(|_| report.verdict != Word::Unknown) {
            let _ = writeln!(
                out,
                "\nthe time was limited to {limit} s, for no limit was given (--timeout SECONDS)"
            );
        }
        let _ = writeln!(out, "\nasked: {property}");
        let _ = writeln!(out, "{by} {:.2} s: {command}", report.stats.seconds);
    }
    out
}

/// What a replay showed, in a sentence.
pub fn replayed(replay: &Replayed, error: &Place) -> String {
    let why = replay.why.as_deref().unwrap_or_default();
    match (replay.outcome, why) {
        ("confirmed", "") => format!("replayed: the compiled program fails at {}:{}", error.file, error.line),
        ("confirmed", note) => {
            format!("replayed: the compiled program fails at {}:{} ({note})", error.file, error.line)
        }
        (_, why) => format!("not replayed: {why}"),
    }
}

/// What answers rest on.
pub fn assumptions(out: &mut String, list: &[String]) {
    if !list.is_empty() {
        let _ = writeln!(out, "\nassuming that:");
        for assumption in list {
            let _ = writeln!(out, "  {assumption}");
        }
    }
}

/// What refinement did, and what it tracks.
fn abstraction(out: &mut String, refinement: &Refinement) {
    let Refinement { heuristic, cycles, predicates, most_predicates, .. } = refinement;
    let times = if *cycles == 1 { "once" } else { &format!("{cycles} times") };
    let heuristic = heuristic.map(|name| format!(" ({name})")).unwrap_or_default();
    let _ = writeln!(
        out,
        "refined {times}{heuristic}: {predicates} predicates, at most {most_predicates} at a point"
    );
    let Some(points) = &refinement.points else { return };
    for point in points {
        let place = match point.place {
            "call" => "during the call in",
            "exit" => "effect of",
            _ => "before",
        };
        let all = point.predicates.join("; ");
        let _ = writeln!(out, "{:5}  {place} {}: {all}", point.line, point.procedure);
    }
}

/// The answer of `slice`.
pub fn slice(answer: &SliceReport, file: &str) -> String {
    let mut out = String::new();
    let _ = write!(out, "{file}: ");
    verdict(&mut out, answer.verdict, answer.reason.as_deref(), colour::is_wanted());
    let _ = writeln!(out);
    if let (None, Some(error), Some(why)) = (answer.steps, &answer.error, &answer.reason) {
        let _ = writeln!(out, "\nit fails at {}; {why}", error.words());
    }
    let (Some(steps), Some(error)) = (answer.steps, &answer.error) else { return out };
    let count = answer.slice.len();
    let _ = writeln!(out, "\n{count} of {steps} steps of a failing run matter, to {}:", error.words());
    for step in &answer.slice {
        let _ = writeln!(out, "{:5}  {}  {}", step.line, step.procedure, step.text);
    }
    assumptions(&mut out, &answer.assumptions);
    out
}

/// So many steps of a run are shown in a table.
const FEW_STEPS: usize = 8;

/// The steps of a run that matter, and whether the compiled program fails, too.
pub fn run_in_short(out: &mut String, run: &Run) {
    let steps: Vec<&RunStep> = run.trace.iter().filter(|step| step.matters != Some(false)).collect();
    let left = steps.len().saturating_sub(FEW_STEPS);
    if run.trace.len() > steps.len() || left > 0 {
        let _ = writeln!(out, "      {} of {} steps matter", steps.len(), run.trace.len());
    }
    if left > 0 {
        let _ = writeln!(out, "      … {left} more");
    }
    for step in &steps[left..] {
        let _ = writeln!(out, "      {:5} {}: {}", step.line, step.procedure, step.text);
    }
    match run.replay.as_ref().map(|replay| (replay.outcome, replay.why.as_deref())) {
        Some(("confirmed", _)) => out.push_str("      replayed: the compiled program does the same\n"),
        Some((_, Some(why))) => {
            let _ = writeln!(out, "      not replayed: {why}");
        }
        _ => {}
    }
}

/// The answer of `project`: the source, each line marked.
pub fn project(answer: &ProjectReport, program: &Program, file: &str) -> String {
    let mut out = String::new();
    let _ = write!(out, "{file}: ");
    verdict(&mut out, answer.verdict, answer.reason.as_deref(), colour::is_wanted());
    if let Some(through) = &answer.through {
        if !through.exists {
            let why = through.reason.as_ref().map_or_else(String::new, |reason| format!(": {reason}"));
            let _ = writeln!(out, "; no failing run passes line {}{why}", through.line);
            return out;
        }
        let _ = writeln!(out, "\n\na failing run through line {}:", through.line);
        folded::write(&mut out, &through.trace);
        if let Some(replay) = &through.replay {
            let why = replay.why.as_ref().map_or_else(String::new, |why| format!(" ({why})"));
            let _ = writeln!(out, "replay: {}{why}", replay.outcome);
        }
        return out;
    }
    let Some(lines) = &answer.projection else {
        let _ = writeln!(out);
        return out;
    };
    let (on, off) = (lines.inside.len(), lines.outside.len());
    let is_open = |line: &u32| lines.confirmed.as_ref().is_some_and(|confirmed| !confirmed.contains(line));
    let open = lines.inside.iter().filter(|line| is_open(line)).count();
    let _ = write!(out, "; {on} of {} lines with statements lie on a failing run (marked !)", on + off);
    let _ = match open {
        0 => writeln!(out, "\n"),
        _ => writeln!(out, ", or may, as far as is known (marked ?: {open})\n"),
    };
    let Some(source) = program.sources.first() else { return out };
    let width = source.line_count().to_string().len();
    for number in 1..=source.line_count() {
        let mark = match lines.inside.contains(&number) {
            true if is_open(&number) => '?',
            true => '!',
            false => ' ',
        };
        let text = source.line(number).unwrap_or_default();
        let _ = writeln!(out, "{}", format!("{mark} {number:width$} | {text}").trim_end());
        for store in answer.stores.iter().flat_map(|stores| stores.get(&number)).flatten() {
            let _ = writeln!(out, "  {:width$} |     fails with: {store}", "");
        }
    }
    if let Some(edges) = &answer.edges {
        let list = |edges: &std::collections::BTreeSet<(u32, u32)>| {
            edges.iter().map(|(from, to)| format!("{from}->{to}")).collect::<Vec<_>>().join(" ")
        };
        let _ = writeln!(out, "\nsteps on failing runs:  {}", list(&edges.inside));
        let _ = writeln!(out, "steps on none of them:  {}", list(&edges.outside));
    }
    out
}
