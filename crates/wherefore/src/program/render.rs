//! Answers about programs, in words and as JSON.

use std::fmt::Write;

use serde::Serialize;
use wherefore_program::Program;

use super::run::RunStep;
use super::{Word, check, project, slice};

/// An answer as JSON, one object on several lines.
pub fn json(answer: &impl Serialize) -> String {
    let mut text = serde_json::to_string_pretty(answer).unwrap_or_default();
    text.push('\n');
    text
}

fn verdict(out: &mut String, word: Word, reason: Option<&str>) {
    let _ = match (word, reason) {
        (Word::Safe, Some(reason)) => write!(out, "safe ({reason})"),
        (Word::Safe, None) => write!(out, "safe"),
        (Word::Unsafe, _) => write!(out, "unsafe"),
        (Word::Unknown, reason) => write!(out, "unknown, because {}", reason.unwrap_or("of a limit")),
    };
}

/// The answer of `check`.
pub fn check(answer: &check::Answer, file: &str) -> String {
    let mut out = String::new();
    let _ = write!(out, "{file}: ");
    verdict(&mut out, answer.verdict, answer.reason.as_deref());
    let failing = answer.targets.iter().filter(|target| target.verdict == Word::Unsafe).count();
    let _ = match (answer.verdict, answer.targets.len()) {
        (Word::Unknown, _) => writeln!(out),
        (_, 0 | 1) => writeln!(out),
        (_, count) => writeln!(out, " ({failing} of {count} checks can fail)"),
    };
    if answer.targets.len() > 1 {
        for target in &answer.targets {
            let word = match target.verdict {
                Word::Safe => "holds",
                Word::Unsafe => "can fail",
                Word::Unknown => "unknown",
            };
            let _ = writeln!(out, "  {:8}  {}", word, target.place.words());
        }
    }
    if let Some(error) = &answer.error {
        let which = if answer.shortest == Some(true) { "a shortest failing run" } else { "a failing run" };
        match &answer.slice {
            Some(slice) if !answer.all_steps && slice.matter < slice.of => {
                let check::Slice { matter, of } = slice;
                let _ = writeln!(out, "\n{which}, to {}; {matter} of its {of} steps matter:", error.words());
                write_run_in_part(&mut out, &answer.trace);
            }
            _ => {
                let _ = writeln!(out, "\n{which}, to {}:", error.words());
                write_run(&mut out, &answer.trace);
            }
        }
    }
    if let (Word::Unsafe, Some(replay), Some(error)) = (answer.verdict, &answer.replay, &answer.error) {
        let why = replay.why.as_deref().unwrap_or_default();
        let _ = match (replay.outcome, why) {
            ("confirmed", "") => {
                writeln!(out, "replayed: the compiled program fails at {}:{}", error.file, error.line)
            }
            ("confirmed", note) => {
                writeln!(
                    out,
                    "replayed: the compiled program fails at {}:{} ({note})",
                    error.file, error.line
                )
            }
            (_, why) => writeln!(out, "not replayed: {why}"),
        };
    }
    if let (Word::Unsafe, Some(reason)) = (answer.verdict, &answer.reason) {
        let _ = writeln!(out, "{reason}");
    }
    if let Some(explanation) = answer.explanation.as_ref().filter(|text| !text.is_empty()) {
        let _ = write!(out, "\n{explanation}");
    }
    if let Some(refinement) = &answer.refinement {
        abstraction(&mut out, refinement);
    }
    if !answer.invariants.is_empty() {
        let _ = writeln!(out, "\nwhat always holds (false where no run comes is left out):");
        for point in &answer.invariants {
            let _ = writeln!(out, "{:5}  {}: {}", point.line, point.procedure, point.predicates.join("; "));
        }
    }
    if let (Word::Safe, Some(bound)) = (answer.verdict, answer.bound) {
        let turns = if bound == 1 { "one turn" } else { &format!("{bound} turns") };
        let _ = writeln!(out, "every run ends within {turns} of each loop that is not fixed");
    }
    if let (Word::Safe, Some(proof)) = (answer.verdict, &answer.proof) {
        let _ = writeln!(out, "{}", proof.words());
    }
    if !answer.assumptions.is_empty() {
        let _ = writeln!(out, "\nassuming that:");
        for assumption in &answer.assumptions {
            let _ = writeln!(out, "  {assumption}");
        }
    }
    if let (Some(property), Some(command)) = (&answer.property, &answer.command) {
        let by = match answer.engine {
            Some("bounded") => "bounded checking",
            Some("cegar") => "refinement",
            _ => "both engines",
        };
        let _ = writeln!(out, "\nasked: {property}");
        let _ = writeln!(out, "answered by {by} in {:.2} s: {command}", answer.stats.seconds);
    }
    out
}

/// What refinement did, and what it tracks.
fn abstraction(out: &mut String, refinement: &check::Refinement) {
    let check::Refinement { heuristic, cycles, predicates, most_predicates, .. } = refinement;
    let times = if *cycles == 1 { "once" } else { &format!("{cycles} times") };
    let _ = writeln!(
        out,
        "refined {times} ({heuristic}): {predicates} predicates, at most {most_predicates} at a point"
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
pub fn slice(answer: &slice::Answer, file: &str) -> String {
    let mut out = String::new();
    let _ = write!(out, "{file}: ");
    verdict(&mut out, answer.verdict, answer.reason.as_deref());
    let _ = writeln!(out);
    let (Some(steps), Some(error)) = (answer.steps, &answer.error) else { return out };
    let count = answer.slice.len();
    let _ = writeln!(out, "\n{count} of {steps} steps of a failing run matter, to {}:", error.words());
    for step in &answer.slice {
        let _ = writeln!(out, "{:5}  {}  {}", step.line, step.procedure, step.text);
    }
    out
}

/// The steps of a run that matter, with the number of those in between that do not.
fn write_run_in_part(out: &mut String, trace: &[RunStep]) {
    let mut rest = trace;
    while let Some(first) = rest.first() {
        let matters = first.matters != Some(false);
        let count = rest.iter().take_while(|step| (step.matters != Some(false)) == matters).count();
        let (part, after) = rest.split_at(count);
        if matters {
            write_run(out, part);
        } else {
            let steps = if count == 1 { "step that does" } else { "steps that do" };
            let _ = writeln!(out, "    …  {count} {steps} not matter");
        }
        rest = after;
    }
}

/// The steps of a run; values are shown where they change.
fn write_run(out: &mut String, trace: &[RunStep]) {
    let lines: Vec<String> = trace
        .iter()
        .map(|step| {
            format!("{:5}  {}{}  {}", step.line, "  ".repeat(step.depth - 1), step.procedure, step.text)
        })
        .collect();
    let width = lines.iter().map(|line| line.chars().count()).max().unwrap_or(0).min(60);
    let mut last: Option<&RunStep> = None;
    for (step, line) in trace.iter().zip(&lines) {
        let same_frame = |other: &&RunStep| other.procedure == step.procedure && other.depth == step.depth;
        let changed = step.values.iter().filter(|(name, value)| {
            let before = last.and_then(|last| last.values.get(*name));
            before != Some(value) || last.filter(same_frame).is_none()
        });
        let changed: Vec<String> = changed.map(|(name, value)| format!("{name}={value}")).collect();
        let line = format!("{line:width$}  {}", changed.join(" "));
        let _ = writeln!(out, "{}", line.trim_end());
        last = Some(step);
    }
}

/// The answer of `project`: the source, each line marked.
pub fn project(answer: &project::Answer, program: &Program, file: &str) -> String {
    let mut out = String::new();
    let _ = write!(out, "{file}: ");
    verdict(&mut out, answer.verdict, answer.reason.as_deref());
    if let Some(through) = &answer.through {
        if !through.exists {
            let why = through.reason.as_ref().map_or_else(String::new, |reason| format!(": {reason}"));
            let _ = writeln!(out, "; no failing run passes line {}{why}", through.line);
            return out;
        }
        let _ = writeln!(out, "\n\na failing run through line {}:", through.line);
        write_run(&mut out, &through.trace);
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
