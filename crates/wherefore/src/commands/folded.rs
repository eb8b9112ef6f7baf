//! A run on the terminal, so that it fits a screen: steps that do not matter are one line, and so
//! are iterations of loops that are like the one before. JSON has all of them.

use std::collections::{BTreeSet, HashMap};
use std::fmt::Write;

use wherefore_report::folds::{Fold, folded};

use super::run::RunStep;

/// So many lines of a run are shown at its start and at its end, if there are more.
const FIRST_LINES: usize = 40;
const LAST_LINES: usize = 30;

/// So many variables are shown that change in iterations that are not shown.
const MOST_NAMES: usize = 4;

/// A line of the list.
#[derive(Clone, Copy)]
enum Row<'a> {
    /// A step.
    Step(&'a RunStep),
    /// So many steps that do not matter.
    Left(usize),
}

/// What makes steps of two iterations the same.
type Key<'a> = Option<(&'a str, u32, &'a str, usize, &'a str)>;

impl<'a> Row<'a> {
    fn key(self) -> Key<'a> {
        match self {
            Self::Step(step) => Some((&step.file, step.line, &step.procedure, step.depth, &step.text)),
            Self::Left(_) => None,
        }
    }
}

/// The steps of a run that matter; values are shown where they change.
pub fn write(out: &mut String, trace: &[RunStep]) {
    let mut rows: Vec<Row> = Vec::new();
    for part in trace.chunk_by(|a, b| is_left_out(a) == is_left_out(b)) {
        match part.first().is_some_and(is_left_out) {
            true => rows.push(Row::Left(part.len())),
            false => rows.extend(part.iter().map(Row::Step)),
        }
    }
    let keys: Vec<Key> = rows.iter().map(|row| row.key()).collect();
    let items = folded(&keys, |key| key.is_some());
    let mut seen = Seen::default();
    if items.len() <= FIRST_LINES + LAST_LINES {
        return write_items(out, &rows, &items, &mut seen);
    }
    let (first, rest) = items.split_at(FIRST_LINES);
    let (hidden, last) = rest.split_at(rest.len() - LAST_LINES);
    write_items(out, &rows, first, &mut seen);
    let between = hidden.first().map_or(0, Fold::first)..hidden.last().map_or(0, Fold::end);
    let count = rows[between].iter().filter(|row| matches!(row, Row::Step(_))).count();
    let _ = writeln!(out, "    …  {count} more steps that matter (--all-steps and --json have them)");
    write_items(out, &rows, last, &mut seen);
}

fn is_left_out(step: &RunStep) -> bool {
    step.matters == Some(false)
}

/// All steps of a run; values are shown where they change.
pub fn write_all(out: &mut String, trace: &[RunStep]) {
    write_steps(out, &trace.iter().collect::<Vec<_>>(), &mut Seen::default());
}

fn write_items<'a>(out: &mut String, rows: &[Row<'a>], items: &[Fold], seen: &mut Seen<'a>) {
    let mut steps: Vec<&RunStep> = Vec::new();
    for item in items {
        match item {
            Fold::One(at) => match rows[*at] {
                Row::Step(step) => steps.push(step),
                Row::Left(count) => {
                    write_steps(out, &std::mem::take(&mut steps), seen);
                    let words = if count == 1 { "step that does" } else { "steps that do" };
                    let _ = writeln!(out, "    …  {count} {words} not matter");
                }
            },
            Fold::Repeated { body, again, rest } => {
                write_steps(out, &std::mem::take(&mut steps), seen);
                write_items(out, rows, body, seen);
                let times = if again.len() == 1 { "iteration" } else { "iterations" };
                let lines = lines(&rows[rest.clone()]);
                let changes = changes(rows, item.first(), again);
                let _ = writeln!(out, "    …  {} more {times} of {lines} like this{changes}", again.len());
            }
        }
    }
    write_steps(out, &steps, seen);
}

/// The lines of some steps: `lines 3-5, 9`.
fn lines(rows: &[Row]) -> String {
    let numbers: BTreeSet<u32> = rows
        .iter()
        .filter_map(|row| match row {
            Row::Step(step) => Some(step.line),
            Row::Left(_) => None,
        })
        .collect();
    let mut ranges: Vec<(u32, u32)> = Vec::new();
    for number in numbers {
        match ranges.last_mut() {
            Some(last) if last.1 + 1 == number => last.1 = number,
            _ => ranges.push((number, number)),
        }
    }
    let words = |(first, last): &(u32, u32)| match first == last {
        true => first.to_string(),
        false => format!("{first}-{last}"),
    };
    let noun = if matches!(ranges.as_slice(), [(first, last)] if first == last) { "line" } else { "lines" };
    format!("{noun} {}", ranges.iter().map(words).collect::<Vec<_>>().join(", "))
}

/// The variables whose values change from iteration to iteration, where these begin.
fn changes(rows: &[Row], first: usize, again: &[usize]) -> String {
    let values = |at: &usize| match rows.get(*at) {
        Some(Row::Step(step)) => Some(&step.values),
        _ => None,
    };
    let Some(shown) = values(&first) else { return String::new() };
    let mut words = Vec::new();
    for (name, old) in shown {
        let all: Vec<&str> = again
            .iter()
            .map(|at| values(at).and_then(|values| values.get(name)).map_or("?", String::as_str))
            .collect();
        if all.iter().all(|value| value == old) {
            continue;
        }
        words.push(match all.as_slice() {
            [first, second, _, .., last] => format!("{name}={first}, {second}, …, {last}"),
            few => format!("{name}={}", few.join(", ")),
        });
    }
    if words.len() > MOST_NAMES {
        words.truncate(MOST_NAMES);
        words.push("…".to_owned());
    }
    if words.is_empty() { String::new() } else { format!(": {}", words.join("; ")) }
}

/// The values that were shown last, by function, depth and name.
type Seen<'a> = HashMap<(&'a str, usize, &'a str), &'a str>;

/// Some steps of a run; values are shown where they are not those that were shown last.
fn write_steps<'a>(out: &mut String, steps: &[&'a RunStep], seen: &mut Seen<'a>) {
    let lines: Vec<String> = steps
        .iter()
        .map(|step| {
            let indent = "  ".repeat(step.depth.saturating_sub(1));
            format!("{:5}  {indent}{}  {}", step.line, step.procedure, step.text)
        })
        .collect();
    let width = lines.iter().map(|line| line.chars().count()).max().unwrap_or(0).min(60);
    for (step, line) in steps.iter().zip(&lines) {
        let changed = step.values.iter().filter(|(name, value)| {
            seen.insert((&step.procedure, step.depth, name), value) != Some(value.as_str())
        });
        let changed: Vec<String> = changed.map(|(name, value)| format!("{name}={value}")).collect();
        let line = format!("{line:width$}  {}", changed.join(" "));
        let _ = writeln!(out, "{}", line.trim_end());
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn step(line: u32, text: &str, value: u32, matters: bool) -> RunStep {
        RunStep {
            file: "a.c".into(),
            line,
            procedure: "main".into(),
            text: text.into(),
            depth: 1,
            values: [("i".to_owned(), value.to_string())].into(),
            matters: Some(matters),
        }
    }

    fn turns(number: u32) -> Vec<RunStep> {
        let turn = |i| {
            [
                step(3, "i < n", i, true),
                step(4, "f(i)", i, true),
                step(5, "g()", i, false),
                step(6, "i++", i, true),
            ]
        };
        let mut trace = vec![step(2, "i = 0", 0, true)];
        trace.extend((0..number).flat_map(turn));
        trace.push(step(9, "assert(0)", number, true));
        trace
    }

    #[test]
    fn iterations_are_folded_with_the_values_that_change() {
        let mut out = String::new();
        write(&mut out, &turns(50));
        let lines: Vec<&str> = out.lines().collect();
        assert_eq!(lines.len(), 7, "{out}");
        assert_eq!(lines[5], "    …  49 more iterations of lines 3-4, 6 like this: i=1, 2, …, 49");
        assert_eq!(lines[6], "    9  main  assert(0)  i=50");
    }

    #[test]
    fn all_steps_are_all_of_them() {
        let (mut out, trace) = (String::new(), turns(50));
        write_all(&mut out, &trace);
        assert_eq!(out.lines().count(), trace.len());
    }

    #[test]
    fn a_long_run_without_iterations_is_cut_in_its_middle() {
        let trace: Vec<RunStep> = (1..=500).map(|line| step(line, "x = y", line, true)).collect();
        let mut out = String::new();
        write(&mut out, &trace);
        assert_eq!(out.lines().count(), FIRST_LINES + LAST_LINES + 1);
        assert!(out.contains("    …  430 more steps that matter"), "{out}");
        assert!(out.starts_with("    1  main") && out.contains("  500  main"), "{out}");
    }
}
