//! Facts beside the lines of the source.

use std::collections::{BTreeMap, BTreeSet};
use std::fmt::Write;

use wherefore_facts::{Line, points};
use wherefore_program::Program;

use super::answer::FlowReport;

/// Where the facts begin, if the line is not longer.
const COLUMN: usize = 44;

/// The answer as text.
pub fn show(report: &FlowReport, program: &Program, only: Option<Line>, all: bool) -> String {
    let mut text = String::new();
    match only {
        Some(line) => one_line(report, program, line, &mut text),
        None => listing(report, program, all, &mut text),
    }
    for note in &report.notes {
        let _ = writeln!(text, "note: {note}");
    }
    match report.not_confirmed {
        0 => {}
        1 => text.push_str("note: 1 fact was not confirmed by the solver and is left out\n"),
        count => {
            let _ = writeln!(text, "note: {count} facts were not confirmed by the solver and are left out");
        }
    }
    for assumption in &report.assumptions {
        let _ = writeln!(text, "assumed: {assumption}");
    }
    text
}

/// What holds at one line, a fact a line.
fn one_line(report: &FlowReport, program: &Program, line: Line, text: &mut String) {
    let source = &program.sources[line.0 as usize];
    let _ = writeln!(text, "{}:{}: {}", source.name(), line.1, source.line(line.1).unwrap_or("").trim());
    if !report.not_reached.is_empty() {
        text.push_str("  not reached\n");
    } else if report.facts.is_empty() {
        text.push_str("  nothing is known\n");
    }
    for fact in &report.facts {
        let _ = writeln!(text, "  {:<40} {}", fact.text, fact.domain);
    }
}

/// The lines of all files that have statements, with facts that did not hold at the line before.
fn listing(report: &FlowReport, program: &Program, all: bool, text: &mut String) {
    let mut facts: BTreeMap<Line, Vec<(&str, u32)>> = BTreeMap::new();
    for fact in &report.facts {
        facts.entry(fact.at.0).or_default().push((&fact.text, fact.at.1));
    }
    let reached: BTreeSet<Line> = report.not_reached.iter().map(|place| place.at.0).collect();
    let points = points(program);
    let files: BTreeSet<u32> = points.keys().map(|(file, _)| *file).collect();
    for file in files {
        let source = &program.sources[file as usize];
        let lines: Vec<u32> = points.keys().filter(|line| line.0 == file).map(|line| line.1).collect();
        let last = lines.last().copied().unwrap_or(0).saturating_add(1).min(source.line_count());
        let _ = writeln!(text, "{}", source.name());
        let mut before: BTreeMap<u32, BTreeSet<&str>> = BTreeMap::new();
        for number in 1..=last {
            let line = (file, number);
            let code = source.line(number).unwrap_or("").replace('\t', "    ");
            if number == last && code.trim() != "}" && !points.contains_key(&line) {
                continue;
            }
            let mut beside = Vec::new();
            let here = facts.get(&line).map_or(&[][..], Vec::as_slice);
            for (fact, procedure) in here {
                if all || !before.get(procedure).is_some_and(|before| before.contains(fact)) {
                    beside.push(*fact);
                }
            }
            if points.contains_key(&line) {
                let procedures: BTreeSet<u32> = points[&line].iter().map(|node| node.procedure.0).collect();
                for procedure in procedures {
                    let now = here.iter().filter(|(_, other)| *other == procedure).map(|(fact, _)| *fact);
                    before.insert(procedure, now.collect());
                }
            }
            if reached.contains(&line) {
                beside.push("not reached");
            }
            let row = format!("{number:5} | {code}");
            let width = row.chars().count();
            if beside.is_empty() {
                let _ = writeln!(text, "{}", row.trim_end());
            } else {
                let pad = COLUMN.saturating_sub(width).max(2);
                let _ = writeln!(text, "{row}{:pad$}{}", "", beside.join("   "));
            }
        }
    }
}
