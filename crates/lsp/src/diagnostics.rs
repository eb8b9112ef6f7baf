//! Findings as diagnostics: each check that can fail is an error, the steps of its run that matter
//! are related places.

use std::collections::BTreeMap;
use std::path::{Path, PathBuf};

use serde_json::{Value, json};
use wherefore_explain::model::{Check, CheckVerdict, Run};

use crate::analyst::{Findings, Mistake, Outcome, sentence};
use crate::documents::{line_range, range, uri_of};

/// So many steps of a run are related places, at its start and at its end.
const FIRST_STEPS: usize = 20;
const LAST_STEPS: usize = 30;

const ERROR: u32 = 1;
const INFORMATION: u32 = 3;
const HINT: u32 = 4;

/// Whether checks that were not decided are shown.
#[derive(Clone, Copy, PartialEq, Eq)]
pub(crate) enum Undecided {
    Shown,
    Hidden,
}

/// The diagnostics of each file. The file that was asked about is always among them.
pub(crate) fn diagnostics(
    main: (&Path, &str),
    outcome: &Outcome,
    undecided: Undecided,
) -> BTreeMap<PathBuf, Vec<Value>> {
    let mut found: BTreeMap<PathBuf, Vec<Value>> = BTreeMap::new();
    found.insert(main.0.to_owned(), Vec::new());
    match outcome {
        Outcome::Mistakes(mistakes) => {
            for mistake in mistakes {
                let file = mistake.file.as_deref().unwrap_or(main.0);
                let text = if file == main.0 { main.1.to_owned() } else { read(file) };
                found.entry(file.to_owned()).or_default().push(of_mistake(mistake, &text));
            }
        }
        Outcome::Found(findings) => {
            let shown = |check: &&Check| match check.verdict {
                CheckVerdict::Unsafe => true,
                CheckVerdict::Unknown => undecided == Undecided::Shown,
                CheckVerdict::Safe | CheckVerdict::Unreachable => false,
            };
            let checks = findings.explanation.checks.iter().enumerate();
            for (at, check) in checks.filter(|(_, check)| shown(check)) {
                let file = check.place.extent.file;
                // A check in a model of the library is shown where the text begins.
                let path = findings.path(file).unwrap_or_else(|| main.0.to_owned());
                let list = found.entry(path).or_default();
                list.push(of_check(findings, at, check));
            }
        }
    }
    found
}

fn read(file: &Path) -> String {
    std::fs::read(file).map_or_else(|_| String::new(), |bytes| String::from_utf8_lossy(&bytes).into_owned())
}

fn of_mistake(mistake: &Mistake, text: &str) -> Value {
    let (line, column) = mistake.start;
    let range = match column {
        0 => line_range(text, line),
        _ => {
            let end = (line, mistake.end.max(column + 1));
            range(text, &wherefore_explain::model::Extent { file: 0, start: mistake.start, end })
        }
    };
    json!({
        "range": range,
        "severity": if mistake.is_advice { INFORMATION } else { ERROR },
        "source": "wherefore",
        "code": if mistake.is_advice { "not-checked" } else { "front-end" },
        "message": mistake.message,
    })
}

fn of_check(findings: &Findings, at: usize, check: &Check) -> Value {
    let place = &check.place;
    let file = place.extent.file;
    let range = match findings.path(file) {
        Some(_) => range(findings.text(file), &place.extent),
        None => line_range("", 1),
    };
    let is_failing = check.verdict == CheckVerdict::Unsafe;
    let message = match (is_failing, &check.reason) {
        (true, _) => sentence(place),
        (false, Some(reason)) => format!("not decided: {}, because {reason}", subject(check)),
        (false, None) => format!("not decided: {}", subject(check)),
    };
    let mut shown = json!({
        "range": range,
        "severity": if is_failing { ERROR } else { HINT },
        "source": "wherefore",
        "code": place.kind,
        "message": message,
        "data": { "check": at },
    });
    if let Some(run) = check.run.as_ref().filter(|_| is_failing) {
        shown["relatedInformation"] = related(findings, run).into();
    }
    shown
}

/// A check that was not decided, in words.
fn subject(check: &Check) -> String {
    match (check.place.kind.as_str(), &check.place.label) {
        ("assertion", _) => "whether this assertion can fail".to_owned(),
        (kind, Some(label)) => format!("{kind} ({label})"),
        (kind, None) => kind.to_owned(),
    }
}

/// The steps of a run that matter.
fn related(findings: &Findings, run: &Run) -> Vec<Value> {
    let steps: Vec<usize> = run.slice.iter().copied().filter(|at| *at < run.steps.len()).collect();
    let is_long = steps.len() > FIRST_STEPS + LAST_STEPS;
    let (first, last) = match is_long {
        true => (&steps[..FIRST_STEPS], &steps[steps.len() - LAST_STEPS..]),
        false => (&steps[..], &steps[..0]),
    };
    let left_out = steps.len() - first.len() - last.len();
    let mut shown = Vec::new();
    for (i, at) in first.iter().chain(last).enumerate() {
        let step = &run.steps[*at];
        let Some(path) = findings.path(step.extent.file) else { continue };
        let holds = step.holds.map_or_else(String::new, |holds| format!(": {holds}"));
        let before = match i == first.len() && left_out > 0 {
            true => format!("({left_out} steps that matter are left out) "),
            false => String::new(),
        };
        let message = format!("{before}step {} of {}: {}{holds}", at + 1, run.steps.len(), step.text);
        let range = range(findings.text(step.extent.file), &step.extent);
        shown.push(json!({ "location": { "uri": uri_of(&path), "range": range }, "message": message }));
    }
    shown
}
