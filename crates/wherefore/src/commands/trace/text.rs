//! The answer about a backtrace in words.

use std::fmt::Write;

use super::answer::{StepReport, TraceBody, TraceReport};

/// The answer, calls that have returned folded unless all steps are wanted.
pub fn show(report: &TraceReport, name: &str, all_steps: bool) -> String {
    let body = &report.trace;
    let mut out = format!("{name}: {}\n", head(body));
    stack(&mut out, body);
    if !body.run.is_empty() {
        let _ = writeln!(out, "\na run that ends there:");
        steps(&mut out, &body.run, all_steps);
    } else if !body.path.is_empty() {
        let length = body.length.unwrap_or(0);
        let data = if body.answer == "none" { ", if values did not matter" } else { "" };
        let _ = writeln!(out, "\na shortest path that ends there{data}, {length} steps:");
        steps(&mut out, &body.path, all_steps);
    }
    if let Some(failure) = &body.failure {
        let _ = writeln!(out, "at the end: {failure}");
    }
    if !body.inputs.is_empty() {
        let inputs: Vec<String> =
            body.inputs.iter().map(|input| format!("{}() = {}", input.function, input.value)).collect();
        let _ = writeln!(out, "inputs: {}", inputs.join(", "));
    }
    if let Some(replay) = &body.replay {
        let why = replay.why.as_deref().unwrap_or_default();
        let stack = match replay.same_stack {
            Some(true) => ", in this stack",
            Some(false) => ", but in another stack",
            None => "",
        };
        let _ = match (replay.outcome, why) {
            ("confirmed", "") => writeln!(out, "replayed: the compiled program fails there{stack}"),
            ("confirmed", note) => {
                writeln!(out, "replayed: the compiled program fails there{stack} ({note})")
            }
            (_, why) => writeln!(out, "not replayed: {why}"),
        };
    }
    if !body.missed.is_empty() && body.answer != "none" {
        let missed: Vec<String> =
            body.missed.iter().map(|clue| format!("{} ({})", clue.places.join(" or "), clue.by)).collect();
        let _ = writeln!(out, "not visited: {}", missed.join(", "));
    }
    for note in &body.notes {
        let _ = writeln!(out, "note: {note}");
    }
    for assumption in &report.assumptions {
        let _ = writeln!(out, "assumed: {assumption}");
    }
    out
}

fn head(body: &TraceBody) -> String {
    let reason = body.reason.as_deref().unwrap_or_default();
    match (body.answer, &body.failure) {
        ("feasible", Some(_)) => "feasible: a run ends in this stack, and fails there".to_owned(),
        ("feasible", None) => "feasible: a run comes to this stack".to_owned(),
        ("none", _) => format!("none: {reason}"),
        _ if body.path.is_empty() => format!("not decided: {reason}"),
        _ => format!("a path, not decided whether it can be run: {reason}"),
    }
}

fn stack(out: &mut String, body: &TraceBody) {
    let happened = body.happened.as_ref().map_or(String::new(), |words| format!(" ({words})"));
    let _ = writeln!(out, "\nthe stack{happened}:");
    let mut skipped: Vec<String> = Vec::new();
    for frame in &body.stack {
        let name = frame.function.as_deref().unwrap_or("??");
        if frame.skipped {
            skipped.push(name.to_owned());
            continue;
        }
        let place = match (&frame.file, frame.line) {
            (Some(file), Some(line)) => format!("  {file}:{line}"),
            _ => String::new(),
        };
        let conditions = match frame.conditions.as_slice() {
            [] => String::new(),
            list => format!("  with {}", list.join(", ")),
        };
        let _ = writeln!(out, "  #{:<3}{name}{place}{conditions}", frame.frame);
    }
    if !skipped.is_empty() {
        let _ = writeln!(out, "  not of the program: {}", skipped.join(", "));
    }
}

/// The steps; those of calls that have returned are counted, unless they were visited by evidence.
fn steps(out: &mut String, all: &[StepReport], all_steps: bool) {
    let is_folded = |step: &StepReport| !all_steps && step.returns && step.evidence.is_empty();
    let mut seen: std::collections::HashMap<(String, usize, String), String> =
        std::collections::HashMap::new();
    let mut rest = all;
    while let Some(step) = rest.first() {
        let count = rest.iter().take_while(|step| is_folded(step)).count();
        if count > 0 {
            let steps = if count == 1 { "step" } else { "steps" };
            let _ = writeln!(out, "    …  {}{count} {steps} in {}", "  ".repeat(step.depth), step.procedure);
            rest = &rest[count..];
            continue;
        }
        let mut line = format!(
            "{:5}  {}{}  {}",
            step.line,
            "  ".repeat(step.depth.saturating_sub(1)),
            step.procedure,
            step.text
        );
        let changed: Vec<String> = step
            .values
            .iter()
            .filter(|(name, value)| {
                let old = seen.insert((step.procedure.clone(), step.depth, name.clone()), value.clone());
                // Elements of arrays are many: only those that change are shown.
                old.as_ref() != Some(value) && (old.is_some() || !name.contains('['))
            })
            .map(|(name, value)| format!("{name}={value}"))
            .collect();
        let beside: Vec<String> =
            changed.into_iter().chain(step.evidence.iter().map(|words| format!("[{words}]"))).collect();
        if !beside.is_empty() {
            let width = line.chars().count().max(50);
            line = format!("{line:width$}  {}", beside.join(" "));
        }
        let _ = writeln!(out, "{}", line.trim_end());
        rest = &rest[1..];
    }
}
