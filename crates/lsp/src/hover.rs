//! What is known about a line: its checks, the values on a failing run there, the conditions.

use std::fmt::Write as _;
use std::path::Path;

use serde_json::{Value, json};
use wherefore_explain::model::{CheckVerdict, Line, Run, Step};

use crate::analyst::{Findings, sentence};
use crate::documents::line_range;

/// So many variables are listed.
const MOST_VALUES: usize = 24;

/// The text about a line, from 1; none if nothing is known.
pub(crate) fn hover(findings: &Findings, file: &Path, line: u32) -> Option<Value> {
    let number = findings.explanation.sources.iter().position(|source| Path::new(&source.name) == file)?;
    let line = Line { file: number, line };
    let mut text = String::new();
    checks(&mut text, findings, line);
    if let Some((run, visits)) = visited(findings, line) {
        values(&mut text, run, &visits);
    }
    conditions(&mut text, findings, line);
    if text.is_empty() {
        return None;
    }
    let range = line_range(findings.text(number), line.line);
    Some(json!({ "contents": { "kind": "markdown", "value": text }, "range": range }))
}

fn checks(out: &mut String, findings: &Findings, line: Line) {
    for check in findings.explanation.checks.iter().filter(|check| check.place.extent.line() == line) {
        let kind = &check.place.kind;
        let what = check.place.label.as_deref().unwrap_or(kind);
        let reason = check.reason.as_deref().unwrap_or_default();
        let _ = match check.verdict {
            CheckVerdict::Unsafe => writeln!(out, "- **can fail**: {} `[{kind}]`", sentence(&check.place)),
            CheckVerdict::Safe => writeln!(out, "- holds: {what} `[{kind}]`"),
            CheckVerdict::Unreachable => writeln!(out, "- holds, but {reason}: {what} `[{kind}]`"),
            CheckVerdict::Unknown => writeln!(out, "- unknown: {what} `[{kind}]`: {reason}"),
        };
    }
}

/// The first failing run that comes to a line, with its steps there.
fn visited(findings: &Findings, line: Line) -> Option<(&Run, Vec<usize>)> {
    let through = findings.explanation.through.get(&line);
    let known = through.and_then(|at| findings.explanation.runs.get(*at));
    // The run of a check that fails on this very line comes first.
    let own = findings.failing().filter(|(_, check, _)| check.place.extent.line() == line);
    let own = own.filter_map(|(_, _, run)| run);
    let others = findings.failing().filter_map(|(_, _, run)| run);
    own.chain(others).chain(known).find_map(|run| {
        let here = |(_, step): &(usize, &Step)| step.extent.line() == line;
        let visits: Vec<usize> = run.steps.iter().enumerate().filter(here).map(|(at, _)| at).collect();
        (!visits.is_empty()).then_some((run, visits))
    })
}

fn values(out: &mut String, run: &Run, visits: &[usize]) {
    let (Some(first), Some(last)) = (visits.first(), visits.last()) else { return };
    let times = times_word(run, visits);
    let _ = writeln!(
        out,
        "\nOn a failing run of {} steps, {times}. Before step {}:\n",
        run.steps.len(),
        last + 1
    );
    let earlier = (first != last).then(|| &run.steps[*first].values);
    let values = &run.steps[*last].values;
    if values.is_empty() {
        out.push_str("(no variable can be seen)\n");
    }
    for (name, value) in values.iter().take(MOST_VALUES) {
        let before = earlier.and_then(|earlier| earlier.get(name)).filter(|before| *before != value);
        let _ = match before {
            Some(before) => writeln!(out, "- `{name} = {value}` (the first time `{before}`)"),
            None => writeln!(out, "- `{name} = {value}`"),
        };
    }
    if values.len() > MOST_VALUES {
        let _ = writeln!(out, "- and {} more", values.len() - MOST_VALUES);
    }
}

/// How often a run comes to a line: steps in a row are one time.
fn times_word(run: &Run, visits: &[usize]) -> String {
    let depth = |at: usize| run.steps[at].depth;
    let in_a_row = |pair: &&[usize]| pair[1] == pair[0] + 1 && depth(pair[0]) == depth(pair[1]);
    match visits.len() - visits.windows(2).filter(in_a_row).count() {
        1 => "which comes here once".to_owned(),
        2 => "which comes here twice".to_owned(),
        times => format!("which comes here {times} times"),
    }
}

fn conditions(out: &mut String, findings: &Findings, line: Line) {
    let explanation = &findings.explanation;
    if let Some(alternatives) = explanation.stores.get(&line).filter(|list| !list.is_empty()) {
        let of = |conjunction: &Vec<String>| match conjunction.is_empty() {
            true => "always".to_owned(),
            false => format!("`{}`", conjunction.join(" && ")),
        };
        let _ = writeln!(
            out,
            "\nFrom here it fails with: {}",
            alternatives.iter().map(of).collect::<Vec<_>>().join(" or ")
        );
    }
    let demands = explanation.focus.first().into_iter().flat_map(|focus| &focus.assumptions);
    let here: Vec<String> =
        demands.filter(|assumption| assumption.line == line).map(|one| format!("`{}`", one.text)).collect();
    if !here.is_empty() {
        let _ = writeln!(out, "\nWhen: {}", here.join(" and "));
    }
    for invariant in explanation.invariants.iter().filter(|known| known.extent.line() == line) {
        let _ = writeln!(out, "\nAlways holds here: `{}`", invariant.formula);
    }
}
