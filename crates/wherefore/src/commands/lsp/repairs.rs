//! Repairs of a text that were checked: a comparison on the failing run with or without equality.
//!
//! An explanation says where some other decision would save its runs, not which. The comparisons
//! there are changed in the text, one at a time, and the program is checked again: a change is
//! offered if a check that failed is proved then, and nothing is worse.

use std::collections::BTreeSet;

use wherefore_check::Answer;
use wherefore_explain::model::{Extent, Line};
use wherefore_lsp::{Edit, Findings, Fix, Question};

use super::super::Subject;
use super::{mended, text_of};

/// So many changes are tried.
const MOST_TRIED: usize = 6;

/// The comparisons, and what takes their place.
const COMPARISONS: [(&str, &str); 4] = [("<=", "<"), (">=", ">"), ("<", "<="), (">", ">=")];

/// The changes after which less fails.
pub fn fixes(question: &Question, subject: &Subject, answer: &Answer, findings: &Findings) -> Vec<Fix> {
    let Some(text) = text_of(question) else { return Vec::new() };
    let candidates = candidates(findings, &text);
    let mut fixes = Vec::new();
    for (at, (edit, old)) in candidates.iter().enumerate() {
        let parts = u32::try_from(candidates.len() - at).unwrap_or(u32::MAX);
        let Some(changed) = applied(&text, edit) else { continue };
        if subject.budget.stopped().is_some() {
            break;
        }
        let checks = mended(question, &changed, &subject.budget.share(parts), answer);
        if checks.is_empty() {
            continue;
        }
        let holds = match checks.len() {
            1 => "the check then holds".to_owned(),
            number => format!("{number} checks then hold"),
        };
        let title = format!("change `{old}` to `{}` on line {}: {holds}", edit.text, edit.extent.start.0);
        fixes.push(Fix { title, checks, edits: vec![edit.clone()] });
    }
    fixes
}

/// The changes to try, the likeliest first, each with the text that it replaces.
fn candidates(findings: &Findings, text: &str) -> Vec<(Edit, &'static str)> {
    let explanation = &findings.explanation;
    // The texts of other files are not the editor's to change.
    if explanation.sources.first().is_none_or(|source| source.text != text) {
        return Vec::new();
    }
    let mut conditions: BTreeSet<Extent> = BTreeSet::new();
    for run in explanation.checks.iter().filter_map(|check| check.run.as_ref()) {
        let steps = run.slice.iter().filter_map(|at| run.steps.get(*at));
        let here = steps.filter(|step| step.holds.is_some() && step.extent.file == 0);
        conditions.extend(here.map(|step| step.extent));
    }
    let near = explanation.neighbourhoods.first();
    let rank = |extent: &Extent| {
        let has = |lines: Option<&Vec<Line>>| lines.is_some_and(|lines| lines.contains(&extent.line()));
        match (has(near.map(|near| &near.repairs)), has(near.map(|near| &near.lines))) {
            (true, _) => 0,
            (_, true) => 1,
            _ => 2,
        }
    };
    let mut ranked: Vec<Extent> = conditions.into_iter().collect();
    ranked.sort_by_key(rank);
    let mut found: Vec<(Edit, &'static str)> = Vec::new();
    for extent in ranked {
        for change in comparisons(text, &extent) {
            if !found.contains(&change) {
                found.push(change);
            }
        }
    }
    found.truncate(MOST_TRIED);
    found
}

/// The comparisons in a part of a line, outside of texts.
fn comparisons(text: &str, extent: &Extent) -> Vec<(Edit, &'static str)> {
    let (line, from) = extent.start;
    let is_one_line = extent.end.0 == line && from > 0;
    let content = text.split('\n').nth(line.saturating_sub(1) as usize).filter(|_| is_one_line);
    let letters: Vec<char> = content.unwrap_or("").chars().collect();
    let end = (extent.end.1 as usize).saturating_sub(1).min(letters.len());
    let mut found = Vec::new();
    let mut quote: Option<char> = None;
    let mut at = (from as usize).saturating_sub(1);
    while at < end {
        let letter = letters[at];
        if quote.is_some() {
            quote = quote.filter(|quote| *quote != letter);
            at += if letter == '\\' { 2 } else { 1 };
            continue;
        }
        let rest: String = letters[at..end.min(at + 2)].iter().collect();
        let is_shift_or_arrow = ["<<", ">>", "->"].contains(&rest.as_str());
        if is_shift_or_arrow {
            at += 2;
            // `<<=` and `>>=` are no comparisons either.
            at += usize::from(letters.get(at) == Some(&'='));
            continue;
        }
        if matches!(letter, '"' | '\'') {
            quote = Some(letter);
        }
        if let Some((old, new)) = COMPARISONS.iter().find(|(old, _)| rest.starts_with(old)) {
            let start = at as u32 + 1;
            let extent = Extent { file: 0, start: (line, start), end: (line, start + old.len() as u32) };
            found.push((Edit { extent, text: (*new).to_owned() }, *old));
            at += old.len();
            continue;
        }
        at += 1;
    }
    found
}

/// A text with a part of one line replaced.
fn applied(text: &str, edit: &Edit) -> Option<String> {
    let (line, from) = edit.extent.start;
    let to = edit.extent.end.1;
    let start: usize = text.split_inclusive('\n').take(line.checked_sub(1)? as usize).map(str::len).sum();
    let content = text.get(start..)?;
    let offset = |column: u32| {
        let before = content.chars().take(column.saturating_sub(1) as usize);
        start + before.map(char::len_utf8).sum::<usize>()
    };
    Some(format!("{}{}{}", text.get(..offset(from))?, edit.text, text.get(offset(to)..)?))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn comparisons_are_found_outside_of_texts_shifts_and_arrows() {
        let text = "x;\n  if (h->é <= n && \"a<b\"[0] > 'x' >> 1 && i < j) y = 1 < 2;\n";
        let end = text.lines().nth(1).unwrap().find(") y").unwrap() as u32;
        let extent = Extent { file: 0, start: (2, 3), end: (2, end + 1) };
        let found = comparisons(text, &extent);
        let olds: Vec<&str> = found.iter().map(|(_, old)| *old).collect();
        assert_eq!(olds, ["<=", ">", "<"]);
        let changed = applied(text, &found[0].0).unwrap();
        assert!(changed.contains("h->é < n &&"), "{changed}");
        let changed = applied(text, &found[2].0).unwrap();
        assert!(changed.contains("i <= j) y = 1 < 2"), "{changed}");
        assert!(comparisons(text, &Extent { file: 0, start: (2, 1), end: (3, 1) }).is_empty());
        assert!(comparisons(text, &Extent { file: 0, start: (9, 1), end: (9, 7) }).is_empty());
    }
}
