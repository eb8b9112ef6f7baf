//! SARIF 2.1.0, the format of code-scanning services and editors: one run, one result for each check
//! that can fail, the steps of its failing run as a code flow. `rules.rs`: what the checks mean.

mod rules;

use std::collections::{BTreeMap, BTreeSet};
use std::path::{Path, PathBuf};

use serde_json::{Map, Value, json};
use wherefore_explain::model::{
    Check, CheckVerdict, Explanation, Extent, Line, Place, Run, Source, Step, Verdict,
};

use crate::digest::sha256;
use crate::source::{Sources, check_word, is_sound, verdict_word};
use rules::{RULES, Rule, rule_of};

const SCHEMA: &str =
    "https://docs.oasis-open.org/sarif/sarif/v2.1.0/errata01/os/schemas/sarif-schema-2.1.0.json";

/// The kind of the prints: what they are made of.
const PRINT: &str = "failure/v2";

/// The name of the folder that relative names are seen from.
const ROOT: &str = "%SRCROOT%";

/// How a log is written.
#[derive(Clone, Debug, Default)]
pub struct SarifOptions {
    /// The folder that relative names are seen from; names of files in it become relative.
    pub root: Option<PathBuf>,
}

/// An explanation as SARIF. A safe program has no results; an unknown verdict is a notification.
pub fn sarif(explanation: &Explanation, options: &SarifOptions) -> Value {
    let log = Log { sources: Sources::new(explanation), options };
    let mut results: Vec<Value> = match explanation.verdict {
        Verdict::Unsafe => {
            let is_other = |check: &&Check| {
                // The message of a check may be that of another run.
                let is_explained = explanation.error.as_ref().is_some_and(|error| {
                    (error.extent, &error.kind) == (check.place.extent, &check.place.kind)
                });
                check.verdict == CheckVerdict::Unsafe && !is_explained
            };
            let others = explanation.checks.iter().filter(is_other);
            std::iter::once(log.result(explanation))
                .chain(others.map(|check| log.other_result(check)))
                .collect()
        }
        Verdict::Safe | Verdict::Unknown => Vec::new(),
    };
    number_prints(&mut results);
    let mut run = json!({
        "tool": { "driver": driver() },
        "invocations": [invocation(explanation)],
        "artifacts": explanation.sources.iter().map(|source| log.artifact(source)).collect::<Vec<_>>(),
        "columnKind": "unicodeCodePoints",
        "results": results,
        "properties": {
            "verdict": verdict_word(explanation.verdict),
            "assumptions": explanation.assumptions,
            "checks": explanation.checks.iter().map(|check| check_of(check, &log.sources)).collect::<Vec<_>>(),
        },
    });
    if let Some(root) = options.root.as_deref().and_then(Path::to_str) {
        let uri = format!("{}/", uri(root.trim_end_matches('/')));
        run["originalUriBaseIds"] = json!({ ROOT: { "uri": uri } });
    }
    json!({ "$schema": SCHEMA, "version": "2.1.0", "runs": [run] })
}

/// Prints that are the same for several results, such as checks on lines of the same text, get
/// numbers.
fn number_prints(results: &mut [Value]) {
    let mut known: BTreeMap<String, usize> = BTreeMap::new();
    for result in results {
        let print = &mut result["partialFingerprints"][PRINT];
        let text = print.as_str().unwrap_or_default().to_owned();
        let count = known.entry(text.clone()).or_default();
        *count += 1;
        // As other tools do: the first is 1.
        *print = format!("{text}:{count}").into();
    }
}

fn driver() -> Value {
    json!({
        "name": "wherefore",
        "version": env!("CARGO_PKG_VERSION"),
        "semanticVersion": env!("CARGO_PKG_VERSION"),
        "rules": RULES.iter().map(Rule::descriptor).collect::<Vec<_>>(),
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

/// Where a log is written to, and from what.
struct Log<'a> {
    sources: Sources<'a>,
    options: &'a SarifOptions,
}

impl Log<'_> {
    fn artifact(&self, source: &Source) -> Value {
        json!({
            "location": self.place(&source.name),
            "roles": ["analysisTarget"],
            "hashes": { "sha-256": sha256(&source.text) },
        })
    }

    /// The name of a file: seen from the root if it lies there.
    fn place(&self, name: &str) -> Value {
        let root = self.options.root.as_deref();
        let inside = root.and_then(|root| Path::new(name).strip_prefix(root).ok()).and_then(Path::to_str);
        let name = inside.unwrap_or(name);
        // Models of the library are no files.
        if name.starts_with(['/', '<']) || name.is_empty() {
            return json!({ "uri": uri(name) });
        }
        json!({ "uri": uri(name), "uriBaseId": ROOT })
    }

    /// The check that is explained.
    fn result(&self, explanation: &Explanation) -> Value {
        let sources = &self.sources;
        let run = explanation.runs.first();
        let at = failing_extent(explanation);
        let place = explanation.error.as_ref();
        let mut out = self.failure(place, &at, &summary(explanation, sources), run);
        let related = self.related(explanation);
        if !related.is_empty() {
            out.insert("relatedLocations".into(), related.into());
        }
        out.into()
    }

    /// A failing check that is not the one that is explained.
    fn other_result(&self, check: &Check) -> Value {
        let text = first_sentence(Some(&check.place));
        self.failure(Some(&check.place), &check.place.extent, &text, check.run.as_ref()).into()
    }

    fn failure(
        &self,
        place: Option<&Place>,
        at: &Extent,
        text: &str,
        run: Option<&Run>,
    ) -> Map<String, Value> {
        let rule = place.map_or(0, rule_of);
        let mut out = Map::new();
        out.insert("ruleId".into(), RULES[rule].id.into());
        out.insert("ruleIndex".into(), rule.into());
        out.insert("level".into(), "error".into());
        out.insert("message".into(), message(text));
        let mut location = json!({ "physicalLocation": self.physical(at) });
        if let Some(place) = place.filter(|place| !place.procedure.is_empty()) {
            location["logicalLocations"] = json!([{ "name": place.procedure, "kind": "function" }]);
        }
        out.insert("locations".into(), vec![location].into());
        if let Some(run) = run.filter(|run| !run.steps.is_empty()) {
            let flow = json!({ "message": message("A failing run"), "threadFlows": [self.thread_flow(run)] });
            out.insert("codeFlows".into(), vec![flow].into());
        }
        out.insert("partialFingerprints".into(), json!({ PRINT: self.fingerprint(rule, place, at) }));
        out
    }

    /// The text of the failing line rather than its number, and the name of the file without its
    /// folder: the print survives changes elsewhere, and is the same on another machine.
    fn fingerprint(&self, rule: usize, place: Option<&Place>, at: &Extent) -> String {
        let name = self.sources.name(at.file);
        let text: Vec<&str> = self.sources.line(at.line()).split_whitespace().collect();
        sha256(&format!(
            "{}\n{}\n{}\n{}",
            RULES[rule].id,
            Path::new(name).file_name().and_then(|name| name.to_str()).unwrap_or(name),
            place.map_or("", |place| &place.procedure),
            text.join(" ")
        ))
    }

    fn thread_flow(&self, run: &Run) -> Value {
        let slice: BTreeSet<usize> = run.slice.iter().copied().collect();
        let location = |(position, step): (usize, &Step)| {
            let text = match step.holds {
                Some(holds) => format!("{}: {holds}", step.text),
                None => step.text.clone(),
            };
            let mut location =
                json!({ "physicalLocation": self.physical(&step.extent), "message": message(&text) });
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
    fn related(&self, explanation: &Explanation) -> Vec<Value> {
        let faults = explanation.neighbourhoods.first().into_iter().flat_map(|first| {
            first.lines.iter().map(move |&line| {
                let word = if first.repairs.contains(&line) {
                    "Likely fault: a change here repairs"
                } else {
                    "Likely fault"
                };
                (whole_line(line, &self.sources), word.to_string())
            })
        });
        let focus = explanation.focus.first().into_iter().flat_map(|focus| &focus.statements);
        let statements = focus.map(|at| (at.extent, format!("The failure depends on: {}", at.text)));
        let location = |(position, (extent, text)): (usize, (Extent, String))| json!({ "id": position + 1, "physicalLocation": self.physical(&extent), "message": message(&text) });
        faults.chain(statements).enumerate().map(location).collect()
    }

    fn physical(&self, extent: &Extent) -> Value {
        let name = self.sources.name(extent.file);
        let mut artifact = self.place(name);
        if !name.is_empty() {
            artifact["index"] = extent.file.into();
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

fn first_sentence(place: Option<&Place>) -> String {
    let label = place.and_then(|place| place.label.as_deref()).unwrap_or("error");
    match place.map_or(0, rule_of) {
        0 => "This assertion can fail.".to_owned(),
        1 => format!("The label {label} can be reached."),
        2 => format!("{label} can be called here."),
        _ => format!("On some run, {label}."),
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

/// A line without the spaces around its text.
fn whole_line(line: Line, sources: &Sources) -> Extent {
    let text = sources.line(line);
    let before = text.chars().take_while(|letter| letter.is_whitespace()).count() as u32;
    let end = text.trim_end().chars().count() as u32;
    Extent { file: line.file, start: (line.line, before.min(end) + 1), end: (line.line, end + 1) }
}

/// A message: braces and links have a meaning there and are written so that they have none.
fn message(text: &str) -> Value {
    let text = text.replace('{', "{{").replace('}', "}}").replace("](", "] (");
    json!({ "text": if text.is_empty() { " ".into() } else { text } })
}

/// A file name as a URI: relative if the name is.
fn uri(name: &str) -> String {
    if name.starts_with('/') { format!("file://{}", escaped(name)) } else { escaped(name) }
}

fn escaped(name: &str) -> String {
    let mut out = String::new();
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
