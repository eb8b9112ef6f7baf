//! Repairs of failing schedules as changes of the text, as far as these are exact: a lock that is
//! moved by lines, two lines exchanged, `while` for `if`. Each is checked again as text.

use wherefore_check::threads::repair::Change;
use wherefore_check::threads::why;
use wherefore_check::{Answer, Verdict};
use wherefore_lsp::{Edit, Findings, Fix, Question};

use super::super::Subject;
use super::super::schedule::whole_line;
use super::{mended, text_of};

/// The changes of the text after which no schedule fails.
pub fn fixes(question: &Question, subject: &Subject, answer: &Answer, findings: &Findings) -> Vec<Fix> {
    let task = &subject.task;
    let Some(text) = text_of(question) else { return Vec::new() };
    let run = answer.verdicts.iter().find_map(Verdict::run);
    let Some((run, schedule)) = run.and_then(|run| Some((run, run.schedule.as_ref()?))) else {
        return Vec::new();
    };
    let sources = &findings.explanation.sources;
    let Some(site) =
        task.checks.get(run.target).filter(|_| sources.first().is_some_and(|one| one.text == text))
    else {
        return Vec::new();
    };
    let budget = subject.budget.share(2);
    let found = why::reasons(task, schedule, site, (&subject.session, &budget)).repairs.found;
    let mut fixes = Vec::new();
    for (at, repair) in found.iter().enumerate() {
        let procedure = task.program.procedure(repair.procedure);
        if procedure.span.file.0 != 0 || subject.budget.stopped().is_some() {
            continue;
        }
        let Some(edits) = edits(&text, &repair.change) else { continue };
        let parts = u32::try_from(found.len() - at).unwrap_or(u32::MAX);
        let checks = mended(question, &applied(&text, &edits), &subject.budget.share(parts), answer);
        if !checks.is_empty() {
            fixes.push(Fix { title: repair.change.words(&procedure.name), checks, edits });
        }
    }
    fixes
}

/// A change as new texts of whole lines; none if it is not one.
fn edits(text: &str, change: &Change) -> Option<Vec<Edit>> {
    let lines: Vec<&str> = text.split('\n').collect();
    let line = |number: u32| lines.get((number as usize).checked_sub(1)?).copied();
    // One statement, and all of it.
    let is_statement = |number: u32| {
        line(number).is_some_and(|line| {
            let line = line.trim();
            line.ends_with(';') && line.matches(';').count() == 1 && !line.contains(['{', '}', '#'])
        })
    };
    let replaced = |number: u32, by: &str| {
        Some(Edit { extent: whole_line(text, 0, number), text: by.to_owned() })
            .filter(|_| line(number).is_some())
    };
    // The lines from one to another in a new order.
    let order = |first: u32, numbers: &[u32]| -> Option<Vec<Edit>> {
        if !numbers.iter().all(|number| is_statement(*number)) {
            return None;
        }
        (first..).zip(numbers).map(|(at, number)| replaced(at, line(*number)?.trim())).collect()
    };
    match *change {
        Change::Exchange(a, b) if a.abs_diff(b) == 1 => order(a.min(b), &[a.max(b), a.min(b)]),
        Change::LockEarlier(from, to) if to < from => {
            order(to, &std::iter::once(from).chain(to..from).collect::<Vec<_>>())
        }
        Change::UnlockLater(from, to) if from < to => {
            order(from, &(from + 1..=to).chain([from]).collect::<Vec<_>>())
        }
        Change::Again(number) => {
            let content = line(number)?.trim();
            let rest = content.strip_prefix("if").filter(|rest| rest.trim_start().starts_with('('))?;
            // A second one on the line may be meant.
            if content.contains("else") || rest.contains("if") {
                return None;
            }
            Some(vec![replaced(number, &format!("while{rest}"))?])
        }
        _ => None,
    }
}

/// A text with new texts of lines.
fn applied(text: &str, edits: &[Edit]) -> String {
    let mut lines: Vec<String> = text.split('\n').map(str::to_owned).collect();
    for edit in edits {
        if let Some(line) = (edit.extent.start.0 as usize).checked_sub(1).and_then(|at| lines.get_mut(at)) {
            let blanks: String = line.chars().take_while(|letter| letter.is_whitespace()).collect();
            *line = format!("{blanks}{}", edit.text);
        }
    }
    lines.join("\n")
}

#[cfg(test)]
mod tests {
    use super::*;

    const TEXT: &str =
        "void f(void)\n{\n    read();\n    lock();\n    write();\n    unlock();\n    if (x) wait();\n}\n";

    #[track_caller]
    fn changed(change: Change) -> Option<Vec<String>> {
        let edits = edits(TEXT, &change)?;
        Some(applied(TEXT, &edits).lines().map(|line| line.trim().to_owned()).collect())
    }

    #[test]
    fn changes_of_whole_lines_are_exact() {
        let found = changed(Change::LockEarlier(4, 3)).unwrap();
        assert_eq!(found[2..6], ["lock();", "read();", "write();", "unlock();"]);
        let found = changed(Change::UnlockLater(4, 6)).unwrap();
        assert_eq!(found[2..6], ["read();", "write();", "unlock();", "lock();"]);
        let found = changed(Change::Exchange(3, 4)).unwrap();
        assert_eq!(found[2..4], ["lock();", "read();"]);
        assert_eq!(changed(Change::Again(7)).unwrap()[6], "while (x) wait();");
    }

    #[test]
    fn other_changes_are_not_offered() {
        for change in [
            Change::Atomic(3, 4),
            Change::UnlockLater(6, 7 + 1),
            Change::LockEarlier(4, 2),
            Change::Again(3),
            Change::Exchange(3, 6),
            Change::Exchange(0, 1),
        ] {
            assert_eq!(changed(change.clone()), None, "{change:?}");
        }
    }
}
