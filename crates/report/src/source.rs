//! Looking things up in the sources of an explanation, without ever failing: what is not there is
//! empty.

use std::collections::BTreeSet;

use wherefore_explain::model::{CheckVerdict, Explanation, Extent, Focus, Line, Run, Verdict};

/// The sources of an explanation, cut into lines.
pub(crate) struct Sources<'a> {
    files: Vec<(&'a str, Vec<&'a str>)>,
}

impl<'a> Sources<'a> {
    pub(crate) fn new(explanation: &'a Explanation) -> Self {
        let files = explanation.sources.iter();
        Self { files: files.map(|source| (source.name.as_str(), source.text.lines().collect())).collect() }
    }

    /// The name of a file.
    pub(crate) fn name(&self, file: usize) -> &'a str {
        self.files.get(file).map_or("", |file| file.0)
    }

    /// The text of a line.
    pub(crate) fn line(&self, line: Line) -> &'a str {
        let lines = self.files.get(line.file).map(|file| &file.1);
        let position = (line.line as usize).checked_sub(1);
        lines.zip(position).and_then(|(lines, position)| lines.get(position).copied()).unwrap_or("")
    }

    /// Whether a line exists.
    pub(crate) fn has(&self, line: Line) -> bool {
        line.line > 0 && self.files.get(line.file).is_some_and(|file| line.line as usize <= file.1.len())
    }

    /// A line as people write it: `file.c:12`.
    pub(crate) fn place(&self, line: Line) -> String {
        format!("{}:{}", self.name(line.file), line.line)
    }
}

/// The word for the verdict on a check.
pub(crate) fn check_word(verdict: CheckVerdict) -> &'static str {
    match verdict {
        CheckVerdict::Safe => "safe",
        CheckVerdict::Unsafe => "unsafe",
        CheckVerdict::Unknown => "unknown",
        CheckVerdict::Unreachable => "unreachable",
    }
}

/// The word for a verdict.
pub(crate) fn verdict_word(verdict: Verdict) -> &'static str {
    match verdict {
        Verdict::Safe => "safe",
        Verdict::Unsafe => "unsafe",
        Verdict::Unknown => "unknown",
    }
}

/// The numbers of the lines that lie in a file, ascending, each once.
pub(crate) fn lines_in(lines: &[Line], file: usize) -> Vec<u32> {
    let numbers: BTreeSet<u32> =
        lines.iter().filter(|line| line.file == file).map(|line| line.line).collect();
    numbers.into_iter().collect()
}

/// The files that some line lies in, ascending.
pub(crate) fn files_of<'a>(lines: impl IntoIterator<Item = &'a Line>) -> Vec<usize> {
    let files: BTreeSet<usize> = lines.into_iter().map(|line| line.file).collect();
    files.into_iter().collect()
}

/// Ascending numbers as ranges: `6-9, 11`.
pub(crate) fn ranges(numbers: &[u32]) -> String {
    let mut parts: Vec<(u32, u32)> = Vec::new();
    for &number in numbers {
        match parts.last_mut() {
            Some(last) if last.1.checked_add(1) == Some(number) => last.1 = number,
            _ => parts.push((number, number)),
        }
    }
    let word = |(first, last): &(u32, u32)| {
        if first == last { first.to_string() } else { format!("{first}-{last}") }
    };
    parts.iter().map(word).collect::<Vec<_>>().join(", ")
}

/// Whether the condition of a statement of a sequence holds; none if it is no condition.
pub(crate) fn decision(explanation: &Explanation, focus: &Focus, statement: usize) -> Option<bool> {
    let statement = focus.statements.get(statement)?;
    let run: Option<&Run> = focus.run.and_then(|run| explanation.runs.get(run));
    let step = statement.step.zip(run).and_then(|(step, run)| run.steps.get(step));
    step.and_then(|step| step.holds).or_else(|| {
        let word = statement.text.rsplit_once(": ")?.1;
        word.parse().ok()
    })
}

/// Whether an extent is one that can be shown: it starts on a line from 1, and does not end before
/// it starts.
pub(crate) fn is_sound(extent: &Extent) -> bool {
    extent.start.0 > 0 && extent.start.1 > 0 && extent.end >= extent.start
}

/// `1 line`, `2 lines`.
pub(crate) fn count(number: usize, noun: &str) -> String {
    if number == 1 { format!("1 {noun}") } else { format!("{number} {noun}s") }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn neighbouring_numbers_become_a_range() {
        assert_eq!(ranges(&[1, 2, 3, 5, 7, 8]), "1-3, 5, 7-8");
        assert_eq!(ranges(&[]), "");
        assert_eq!(ranges(&[u32::MAX]), u32::MAX.to_string());
    }

    #[test]
    fn what_is_not_there_is_empty() {
        let explanation = Explanation::default();
        let sources = Sources::new(&explanation);
        assert_eq!(sources.line(Line { file: 3, line: 0 }), "");
        assert!(!sources.has(Line { file: 0, line: 1 }));
    }
}
