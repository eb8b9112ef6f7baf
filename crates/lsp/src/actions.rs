//! Quick fixes: changes of the text after which nothing fails.

use std::collections::BTreeMap;

use serde_json::{Value, json};

use crate::analyst::{Findings, Fix};
use crate::documents::{Document, range, uri_of};

/// The fixes for lines from 1, the first and the last of a selection.
pub(crate) fn actions(
    findings: &Findings,
    document: &Document,
    (first, last): (u32, u32),
    shown: &[Value],
) -> Vec<Value> {
    let is_for = |fix: &&Fix| {
        let on_lines = |at: &usize| {
            let check = findings.explanation.checks.get(*at);
            let extent = check.map(|check| check.place.extent);
            extent.is_some_and(|extent| extent.start.0 <= last && first <= extent.end.0)
        };
        let edited = fix.edits.iter().any(|edit| edit.extent.start.0 <= last && first <= edit.extent.end.0);
        edited || fix.checks.iter().any(on_lines)
    };
    findings.fixes.iter().filter(is_for).filter_map(|fix| action(findings, document, fix, shown)).collect()
}

/// A fix as the protocol has it; none if a file that it changes cannot be named.
fn action(findings: &Findings, document: &Document, fix: &Fix, shown: &[Value]) -> Option<Value> {
    let mut changes: BTreeMap<String, Vec<Value>> = BTreeMap::new();
    for edit in &fix.edits {
        let path = findings.path(edit.extent.file)?;
        let uri = if path == document.path { document.uri.clone() } else { uri_of(&path) };
        let range = range(findings.text(edit.extent.file), &edit.extent);
        changes.entry(uri).or_default().push(json!({ "range": range, "newText": edit.text }));
    }
    let is_mended = |diagnostic: &&Value| {
        let check = diagnostic.pointer("/data/check").and_then(Value::as_u64);
        check.is_some_and(|check| fix.checks.contains(&(check as usize)))
    };
    let mended: Vec<&Value> = shown.iter().filter(is_mended).collect();
    Some(json!({
        "title": fix.title,
        "kind": "quickfix",
        "diagnostics": mended,
        "edit": { "changes": changes },
    }))
}
