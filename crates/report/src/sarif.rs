//! SARIF 2.1.0, the format of code-scanning services and editors: one run, one result for the
//! failure, its steps as a code flow.

use std::collections::BTreeSet;

use serde_json::{Map, Value, json};
use wherefore_explain::model::{
    Check, CheckVerdict, Explanation, Extent, Line, Place, Run, Source, Step, Verdict,
};

use crate::digest::sha256;
use crate::source::{Sources, check_word, is_sound, verdict_word};

const SCHEMA: &str =
    "https://docs.oasis-open.org/sarif/sarif/v2.1.0/errata01/os/schemas/sarif-schema-2.1.0.json";

/// What can fail: identifier, name, and what it means.
const RULES: [(&str, &str, &str); 14] = [
    ("wherefore/assertion", "AssertionCanFail", "An assertion fails on some run."),
    (
        "wherefore/error-label",
        "ErrorLabelReachable",
        "A label that stands for an error is reached on some run.",
    ),
    (
        "wherefore/error-call",
        "ErrorCallReachable",
        "A procedure that stands for an error is called on some run.",
    ),
    ("wherefore/null", "NullPointer", "A null pointer is followed or called on some run."),
    ("wherefore/bounds", "OutOfBounds", "An access is outside of its array or object on some run."),
    ("wherefore/use-after-free", "UseAfterFree", "Memory is used after it was freed on some run."),
    ("wherefore/use-after-scope", "UseAfterScope", "A local object is used after its scope on some run."),
    ("wherefore/double-free", "DoubleFree", "Memory is freed twice on some run."),
    ("wherefore/invalid-free", "InvalidFree", "Something else than allocated memory is freed on some run."),
    ("wherefore/leak", "Leak", "Memory is not freed at the end of some run."),
    ("wherefore/division", "DivisionByZero", "Some run divides by zero."),
    ("wherefore/overflow", "SignedOverflow", "Signed arithmetic overflows on some run."),
    ("wherefore/shift", "InvalidShift", "Some run shifts by a number that is not below the width."),
    OTHER,
];

/// The rule for what has none of its own: rules of libraries.
const OTHER: (&str, &str, &str) =
    ("wherefore/property", "RuleBroken", "A rule about the use of a library is broken on some run.");

/// An explanation as SARIF. A safe program has no results; an unknown verdict is a notification.
pub fn sarif(explanation: &Explanation) -> Value {
    let sources = Sources::new(explanation);
    let results: Vec<Value> = match explanation.verdict {
        Verdict::Unsafe => {
            let is_other = |check: &&Check| {
                // The message of a check may be that of another run.
                let is_explained = explanation.error.as_ref().is_some_and(|error| {
                    (error.extent, &error.kind) == (check.place.extent, &check.place.kind)
                });
                check.verdict == CheckVerdict::Unsafe && !is_explained
            };
            let others = explanation.checks.iter().filter(is_other);
            std::iter::once(result(explanation, &sources))
                .chain(others.map(|check| other_result(&check.place, &sources)))
                .collect()
        }
        Verdict::Safe | Verdict::Unknown => Vec::new(),
    };
    json!({
        "$schema": SCHEMA,
        "version": "2.1.0",
        "runs": [{
            "tool": { "driver": driver() },
            "invocations": [invocation(explanation)],
            "artifacts": explanation.sources.iter().map(artifact).collect::<Vec<_>>(),
            "columnKind": "unicodeCodePoints",
            "results": results,
            "properties": {
                "verdict": verdict_word(explanation.verdict),
                "assumptions": explanation.assumptions,
                "checks": explanation.checks.iter().map(|check| check_of(check, &sources)).collect::<Vec<_>>(),
            },
        }],
    })
}

fn driver() -> Value {
    let rule = |&(id, name, text): &(&str, &str, &str)| {
        json!({
            "id": id,
            "name": name,
            "shortDescription": { "text": text },
            "defaultConfiguration": { "level": "error" },
        })
    };
    json!({
        "name": "wherefore",
        "version": env!("CARGO_PKG_VERSION"),
        "semanticVersion": env!("CARGO_PKG_VERSION"),
        "rules": RULES.iter().map(rule).collect::<Vec<_>>(),
    })
}

fn invocation(explanation: &Explanation) -> Value {
    let mut out = Map::new();
    out.insert("executionSuccessful".into(), true.into());
    if !explanation.reproduce.command.is_empty() {
        out.insert("commandLine".into(), explanation.reproduce.command.as_str().into());
    }
    let mut notes: Vec<Value> = Vec::new();
    if explanation.verdict == Verdict::Unknown {
        let reason = explanation.reason.as_deref().unwrap_or("no reason is known");
        notes.push(
            json!({ "level": "warning", "message": message(&format!("The verdict is unknown: {reason}")) }),
        );
    } else if let Some(reason) = &explanation.reason {
        notes.push(json!({ "level": "note", "message": message(reason) }));
    }
    for part in &explanation.stats.incomplete {
        let text = format!("Cut short by the budget: {part}");
        notes.push(json!({ "level": "note", "message": message(&text) }));
    }
    if !notes.is_empty() {
        out.insert("toolExecutionNotifications".into(), notes.into());
    }
    out.into()
}

fn artifact(source: &Source) -> Value {
    json!({
        "location": { "uri": uri(&source.name) },
        "roles": ["analysisTarget"],
        "hashes": { "sha-256": sha256(&source.text) },
    })
}

fn result(explanation: &Explanation, sources: &Sources) -> Value {
    let rule = explanation.error.as_ref().map_or(0, rule_of);
    let mut out = Map::new();
    out.insert("ruleId".into(), RULES[rule].0.into());
    out.insert("ruleIndex".into(), rule.into());
    out.insert("level".into(), "error".into());
    out.insert("message".into(), message(&summary(explanation, sources)));
    let at = failing_extent(explanation);
    let mut location = json!({ "physicalLocation": physical(&at, sources) });
    if let Some(place) = explanation.error.as_ref().filter(|place| !place.procedure.is_empty()) {
        location["logicalLocations"] = json!([{ "name": place.procedure, "kind": "function" }]);
    }
    out.insert("locations".into(), vec![location].into());
    if let Some(run) = explanation.runs.first().filter(|run| !run.steps.is_empty()) {
        let flow = json!({ "message": message("A failing run"), "threadFlows": [thread_flow(run, sources)] });
        out.insert("codeFlows".into(), vec![flow].into());
    }
    let related = related(explanation, sources);
    if !related.is_empty() {
        out.insert("relatedLocations".into(), related.into());
    }
    let print = fingerprint(rule, explanation.error.as_ref(), &at, sources);
    out.insert("partialFingerprints".into(), json!({ "failure/v1": print }));
    out.into()
}

/// A failing check that is not the one that is explained.
fn other_result(place: &Place, sources: &Sources) -> Value {
    let rule = rule_of(place);
    let mut location = json!({ "physicalLocation": physical(&place.extent, sources) });
    if !place.procedure.is_empty() {
        location["logicalLocations"] = json!([{ "name": place.procedure, "kind": "function" }]);
    }
    json!({
        "ruleId": RULES[rule].0,
        "ruleIndex": rule,
        "level": "error",
        "message": message(&first_sentence(Some(place))),
        "locations": [location],
        "partialFingerprints": { "failure/v1": fingerprint(rule, Some(place), &place.extent, sources) },
    })
}

/// A check with its verdict.
fn check_of(check: &Check, sources: &Sources) -> Value {
    json!({
        "file": sources.name(check.place.extent.file),
        "line": check.place.extent.start.0,
        "kind": check.place.kind,
        "verdict": check_word(check.verdict),
        "reason": check.reason,
    })
}

/// The text of the failing line rather than its number: the print survives changes elsewhere in the
/// file.
fn fingerprint(rule: usize, place: Option<&Place>, at: &Extent, sources: &Sources) -> String {
    sha256(&format!(
        "{}\n{}\n{}\n{}",
        RULES[rule].0,
        sources.name(at.file),
        place.map_or("", |place| &place.procedure),
        sources.line(at.line()).trim()
    ))
}

fn first_sentence(place: Option<&Place>) -> String {
    let label = place.and_then(|place| place.label.as_deref()).unwrap_or("error");
    match place.map_or(0, rule_of) {
        0 => "This assertion can fail.".to_owned(),
        1 => format!("The label {label} can be reached."),
        2 => format!("{label} can be called here."),
        _ => format!("On some run, {label}."),
    }
}

fn rule_of(place: &Place) -> usize {
    match place.kind.as_str() {
        "assertion" => 0,
        "label" => 1,
        kind => {
            let own = RULES.iter().position(|(id, ..)| id.strip_prefix("wherefore/") == Some(kind));
            own.unwrap_or(if place.is_rule() { RULES.len() - 1 } else { 2 })
        }
    }
}

/// Where the result is shown: where the program fails, else the start of the first file.
fn failing_extent(explanation: &Explanation) -> Extent {
    let last = explanation.runs.first().and_then(|run| run.steps.last()).map(|step| step.extent);
    let at = explanation.error.as_ref().map(|place| place.extent).or(last);
    at.unwrap_or(Extent { file: 0, start: (1, 1), end: (1, 1) })
}

fn summary(explanation: &Explanation, sources: &Sources) -> String {
    let mut text = first_sentence(explanation.error.as_ref());
    if let Some(focus) = explanation.focus.first() {
        let statements: Vec<&str> =
            focus.statements.iter().map(|statement| statement.text.as_str()).collect();
        if !statements.is_empty() {
            text += &format!(" The failure depends on: {}.", statements.join("; "));
        }
        let assumptions: Vec<&str> =
            focus.assumptions.iter().map(|assumption| assumption.text.as_str()).collect();
        if !assumptions.is_empty() {
            text += &format!(" It needs: {}.", assumptions.join(" and "));
        }
    }
    if let Some(first) = explanation.neighbourhoods.first() {
        let lines = if first.repairs.is_empty() { &first.lines } else { &first.repairs };
        let places: Vec<String> = lines.iter().map(|&line| sources.place(line)).collect();
        if !places.is_empty() {
            text += &format!(" The fault is likely to be at {}.", places.join(", "));
        }
    }
    text
}

fn thread_flow(run: &Run, sources: &Sources) -> Value {
    let slice: BTreeSet<usize> = run.slice.iter().copied().collect();
    let location = |(position, step): (usize, &Step)| {
        let text = match step.holds {
            Some(holds) => format!("{}: {holds}", step.text),
            None => step.text.clone(),
        };
        let mut location =
            json!({ "physicalLocation": physical(&step.extent, sources), "message": message(&text) });
        if !step.procedure.is_empty() {
            location["logicalLocations"] = json!([{ "name": step.procedure, "kind": "function" }]);
        }
        let state: Map<String, Value> =
            step.values.iter().map(|(name, value)| (name.clone(), message(value))).collect();
        json!({
            "location": location,
            "state": state,
            "nestingLevel": step.depth,
            "executionOrder": position + 1,
            "importance": if slice.contains(&position) { "essential" } else { "unimportant" },
        })
    };
    json!({ "locations": run.steps.iter().enumerate().map(location).collect::<Vec<_>>() })
}

/// The likely faults, then the statements that the failure depends on.
fn related(explanation: &Explanation, sources: &Sources) -> Vec<Value> {
    let faults = explanation.neighbourhoods.first().into_iter().flat_map(|first| {
        first.lines.iter().map(move |&line| {
            let word = if first.repairs.contains(&line) {
                "Likely fault: a change here repairs"
            } else {
                "Likely fault"
            };
            (whole_line(line, sources), word.to_string())
        })
    });
    let focus = explanation.focus.first().into_iter().flat_map(|focus| &focus.statements);
    let statements = focus.map(|at| (at.extent, format!("The failure depends on: {}", at.text)));
    let location = |(position, (extent, text)): (usize, (Extent, String))| json!({ "id": position + 1, "physicalLocation": physical(&extent, sources), "message": message(&text) });
    faults.chain(statements).enumerate().map(location).collect()
}

/// A line without the spaces around its text.
fn whole_line(line: Line, sources: &Sources) -> Extent {
    let text = sources.line(line);
    let before = text.chars().take_while(|letter| letter.is_whitespace()).count() as u32;
    let end = text.trim_end().chars().count() as u32;
    Extent { file: line.file, start: (line.line, before.min(end) + 1), end: (line.line, end + 1) }
}

fn physical(extent: &Extent, sources: &Sources) -> Value {
    let mut artifact = Map::new();
    artifact.insert("uri".into(), uri(sources.name(extent.file)).into());
    if !sources.name(extent.file).is_empty() {
        artifact.insert("index".into(), extent.file.into());
    }
    let region = if is_sound(extent) && extent.end.1 > 0 {
        json!({
            "startLine": extent.start.0,
            "startColumn": extent.start.1,
            "endLine": extent.end.0,
            "endColumn": extent.end.1,
        })
    } else {
        json!({ "startLine": extent.start.0.max(1) })
    };
    json!({ "artifactLocation": artifact, "region": region })
}

/// A message: braces and links have a meaning there and are written so that they have none.
fn message(text: &str) -> Value {
    let text = text.replace('{', "{{").replace('}', "}}").replace("](", "] (");
    json!({ "text": if text.is_empty() { " ".into() } else { text } })
}

/// A file name as a URI: relative if the name is.
fn uri(name: &str) -> String {
    let mut out = String::new();
    if name.starts_with('/') {
        out.push_str("file://");
    }
    for byte in name.bytes() {
        match byte {
            b'a'..=b'z' | b'A'..=b'Z' | b'0'..=b'9' | b'-' | b'.' | b'_' | b'~' | b'/' => {
                out.push(byte as char)
            }
            b'\\' => out.push('/'),
            _ => out.push_str(&format!("%{byte:02X}")),
        }
    }
    out
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_name_becomes_a_uri() {
        assert_eq!(uri("src/a b.c"), "src/a%20b.c");
        assert_eq!(uri("/tmp/é.c"), "file:///tmp/%C3%A9.c");
    }
}
