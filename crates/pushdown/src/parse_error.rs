//! Where and why a text could not be read.

use std::ops::Range;

/// How many characters of a line are shown on each side of the mark.
const MARGIN: usize = 60;

/// A message about one place of a text.
///
/// ```
/// use wherefore_pushdown::ParseError;
///
/// let error = ParseError::at("start <p, a>\nstart <q, a>", 20..21, "unknown control state `q`");
/// assert_eq!(error.to_string(), "2:8: unknown control state `q`");
/// assert_eq!(error.excerpt(), "  start <q, a>\n         ^\n");
/// ```
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
#[error("{line}:{column}: {message}")]
pub struct ParseError {
    /// The line, from 1.
    pub line: usize,
    /// The column in characters, from 1.
    pub column: usize,
    /// What is wrong, in lower case and without a full stop.
    pub message: String,
    excerpt: String,
}

impl ParseError {
    /// An error about the bytes `span` of `source`; a span that leaves the text is cut.
    pub fn at(source: &str, span: Range<usize>, message: impl Into<String>) -> Self {
        let start = floor_boundary(source, span.start);
        let end = floor_boundary(source, span.end.max(start));
        let before = &source[..start];
        let line_start = before.rfind('\n').map_or(0, |i| i + 1);
        let line_end = source[start..].find('\n').map_or(source.len(), |i| start + i);
        let line = before.bytes().filter(|b| *b == b'\n').count() + 1;
        let column = source[line_start..start].chars().count() + 1;
        let excerpt = mark(&source[line_start..line_end], start - line_start, end.min(line_end) - line_start);
        Self { line, column, message: message.into(), excerpt }
    }

    /// The line with a mark under the offending part, both indented; long lines are cut on both
    /// sides.
    pub fn excerpt(&self) -> &str {
        &self.excerpt
    }
}

fn floor_boundary(text: &str, at: usize) -> usize {
    let mut at = at.min(text.len());
    while !text.is_char_boundary(at) {
        at -= 1;
    }
    at
}

fn mark(line: &str, start: usize, end: usize) -> String {
    let line = line.trim_end_matches('\r');
    let (start, end) = (start.min(line.len()), end.min(line.len()));
    let head = line[..start].char_indices().rev().nth(MARGIN);
    let from = head.map_or(0, |(i, c)| i + c.len_utf8());
    let tail = line[start..].char_indices().nth(MARGIN);
    let to = tail.map_or(line.len(), |(i, _)| start + i);
    let (left, right) = (if from > 0 { "…" } else { "" }, if to < line.len() { "…" } else { "" });
    // Tabs stay tabs, so that the mark stands under the same place; other control characters would
    // break the line.
    let shown: String =
        line[from..to].chars().map(|c| if c.is_control() && c != '\t' { '\u{fffd}' } else { c }).collect();
    let pad: String = line[from..start].chars().map(|c| if c == '\t' { '\t' } else { ' ' }).collect();
    let width = line[start..end.min(to).max(start)].chars().count().max(1);
    let indent = " ".repeat(left.chars().count());
    format!("  {left}{shown}{right}\n  {indent}{pad}{}\n", "^".repeat(width))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_long_line_is_cut_around_the_mark() {
        let line = "x".repeat(500);
        let error = ParseError::at(&line, 250..253, "no");
        assert_eq!(error.column, 251);
        let lines: Vec<&str> = error.excerpt().lines().collect();
        assert!(lines[0].starts_with("  …x") && lines[0].ends_with("x…"));
        assert_eq!(lines[1].trim(), "^^^");
        assert_eq!(lines[1].chars().count(), 2 + 1 + MARGIN + 3);
    }

    #[test]
    fn spans_outside_the_text_and_inside_characters_are_cut() {
        assert_eq!(ParseError::at("", 5..9, "no").column, 1);
        assert_eq!(ParseError::at("ä", 1..2, "no").column, 1);
        assert_eq!(ParseError::at("a\r\n", 1..2, "no").excerpt(), "  a\n   ^\n");
    }
}
