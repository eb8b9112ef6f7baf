//! Lines above functions and failing statements: a failing run goes through here.

use std::collections::BTreeSet;
use std::path::Path;

use serde_json::{Value, json};

use crate::analyst::Findings;
use crate::documents::{line_range, range, uri_of};

/// The command behind a lens: it shows the run.
pub(crate) const SHOW_RUN: &str = "wherefore.showRun";

/// The lenses of a file.
pub(crate) fn lenses(findings: &Findings, file: &Path) -> Vec<Value> {
    let sources = &findings.explanation.sources;
    let Some(number) = sources.iter().position(|source| Path::new(&source.name) == file) else {
        return Vec::new();
    };
    let text = findings.text(number);
    let mut shown = Vec::new();
    let mut procedures: BTreeSet<&str> = BTreeSet::new();
    let mut lens = |range: Value, title: String, check: usize| {
        let command = json!({ "title": title, "command": SHOW_RUN, "arguments": [uri_of(file), check] });
        shown.push(json!({ "range": range, "command": command }));
    };
    for (at, check, run) in findings.failing() {
        let Some(run) = run else { continue };
        for procedure in &findings.explanation.procedures {
            let inside = run.steps.iter().filter(|step| step.procedure == procedure.name).count();
            let is_here = procedure.line.file == number && procedure.line.line > 0;
            if inside > 0 && is_here && procedures.insert(&procedure.name) {
                let title =
                    format!("a failing run goes through here ({inside} of {})", steps(run.steps.len()));
                lens(line_range(text, procedure.line.line), title, at);
            }
        }
        if check.place.extent.file == number {
            let title =
                format!("a failing run ends here ({} of {} matter)", run.slice.len(), steps(run.steps.len()));
            lens(range(text, &check.place.extent), title, at);
        }
    }
    shown
}

fn steps(number: usize) -> String {
    if number == 1 { "1 step".to_owned() } else { format!("{number} steps") }
}

/// A run as data for editors and as text: its steps that matter.
pub(crate) fn run(findings: &Findings, check: usize) -> Option<Value> {
    let run = findings.explanation.checks.get(check)?.run.as_ref()?;
    let mut steps = Vec::new();
    let mut text = String::new();
    for at in run.slice.iter().filter(|at| **at < run.steps.len()) {
        let step = &run.steps[*at];
        let holds = step.holds.map_or_else(String::new, |holds| format!(": {holds}"));
        text.push_str(&format!("{:>5}  {}  {}{holds}\n", step.extent.start.0, step.procedure, step.text));
        let Some(path) = findings.path(step.extent.file) else { continue };
        let range = range(findings.text(step.extent.file), &step.extent);
        steps.push(json!({
            "step": at + 1, "text": step.text, "procedure": step.procedure, "values": step.values,
            "location": { "uri": uri_of(&path), "range": range },
        }));
    }
    Some(json!({ "steps": steps, "of": run.steps.len(), "text": text }))
}
