//! Places of statements, loops, branches and calls in a text that no preprocessor has seen.

use std::ops::Range;

use crate::c::tokens::{Tokens, without_comments};

/// A text with what is needed to find places in it.
pub(super) struct Text {
    /// The text without comments and continued lines; places are those of the original.
    code: String,
    /// Where each line starts.
    lines: Vec<usize>,
}

/// The parts of a loop.
pub(super) enum Loop {
    /// `while (…)` or `for (…; …; …)`: the condition.
    Condition(Range<usize>),
    /// `do …`: where the body starts.
    Do(usize),
}

impl Text {
    pub(super) fn new(text: &str) -> Self {
        let starts = text.match_indices('\n').map(|(at, _)| at + 1);
        Self { code: without_comments(text), lines: std::iter::once(0).chain(starts).collect() }
    }

    /// The line from a column on, as a range; the whole line without a column.
    fn line(&self, line: u32, column: Option<u32>) -> Option<Range<usize>> {
        let start = *self.lines.get((line as usize).checked_sub(1)?)?;
        let end = self.lines.get(line as usize).map_or(self.code.len(), |next| next - 1);
        let whole = &self.code[start..end];
        let skip = match column {
            None => 0,
            Some(column) => {
                let mut characters = whole.char_indices().map(|(at, _)| at).chain([whole.len()]);
                characters.nth((column as usize).checked_sub(1)?)?
            }
        };
        Some(start + skip..end)
    }

    /// The first of some words at a place, or, without a column, on its line.
    fn word(&self, line: u32, column: Option<u32>, words: &[&str]) -> Option<(usize, &str)> {
        let range = self.line(line, column)?;
        let mut tokens = Tokens { text: &self.code, at: range.start };
        let first = tokens.next()?;
        if column.is_some() {
            return (first.0 == range.start && words.contains(&first.1)).then_some(first);
        }
        std::iter::once(first)
            .chain(tokens)
            .take_while(|(at, _)| *at < range.end)
            .find(|(_, token)| words.contains(token))
    }

    /// The range between the parentheses that open behind a place.
    fn between(&self, from: usize) -> Option<Range<usize>> {
        let mut tokens = Tokens { text: &self.code, at: from };
        let (open, _) = tokens.next().filter(|(_, token)| *token == "(")?;
        let mut depth = 1_usize;
        for (at, token) in tokens {
            match token {
                "(" => depth += 1,
                ")" => depth -= 1,
                _ => {}
            }
            if depth == 0 {
                return Some(open + 1..at);
            }
        }
        None
    }

    /// The condition of a `for` whose header is known.
    fn for_condition(&self, header: Range<usize>) -> Option<Range<usize>> {
        let (mut depth, mut first) = (0_usize, None);
        let tokens = Tokens { text: &self.code, at: header.start };
        for (at, token) in tokens.take_while(|(at, _)| *at < header.end) {
            match (token, first) {
                ("(" | "[" | "{", _) => depth += 1,
                (")" | "]" | "}", _) => depth = depth.checked_sub(1)?,
                (";", None) if depth == 0 => first = Some(at + 1),
                (";", Some(start)) if depth == 0 => return Some(start..at),
                _ => {}
            }
        }
        None
    }

    /// The loop that starts at a place.
    pub(super) fn a_loop(&self, line: u32, column: Option<u32>) -> Option<Loop> {
        let (at, word) = self.word(line, column, &["while", "for", "do"])?;
        let behind = at + word.len();
        match word {
            "do" => Some(Loop::Do(behind)),
            "for" => Some(Loop::Condition(self.for_condition(self.between(behind)?)?)),
            _ if self.ends_a_do(behind) => None,
            _ => Some(Loop::Condition(self.between(behind)?)),
        }
    }

    /// Whether a `while` is the end of a `do`: then a semicolon follows. A loop without a body
    /// looks the same, and is not told apart.
    fn ends_a_do(&self, behind: usize) -> bool {
        let Some(header) = self.between(behind) else { return false };
        let next = Tokens { text: &self.code, at: header.end + 1 }.next();
        next.is_some_and(|(_, token)| token == ";")
    }

    /// The condition of the branch that starts at a place.
    pub(super) fn branch(&self, line: u32, column: Option<u32>) -> Option<Range<usize>> {
        let (at, word) = self.word(line, column, &["if", "while", "for"])?;
        let header = self.between(at + word.len())?;
        if word == "for" { self.for_condition(header) } else { Some(header) }
    }

    /// Where the statement starts that is at a place.
    pub(super) fn statement(&self, line: u32, column: Option<u32>) -> Option<usize> {
        let range = self.line(line, column)?;
        let (at, token) = Tokens { text: &self.code, at: range.start }.next()?;
        (at < range.end && !matches!(token, "else" | ")" | ";" | "#" | "case" | "default")).then_some(at)
    }

    /// Whether a block goes on at a place, so that declarations may stand there, too.
    pub(super) fn is_in_block(&self, at: usize) -> bool {
        self.code[..at].trim_end().ends_with(['{', '}', ';'])
    }

    /// The call whose closing parenthesis is at a place: a call of a function by its name.
    pub(super) fn call(&self, line: u32, column: Option<u32>) -> Option<Range<usize>> {
        let close = self.line(line, Some(column?))?.start;
        let bytes = self.code.as_bytes();
        if bytes.get(close) != Some(&b')') {
            return None;
        }
        let mut depth = 0_usize;
        let open = (0..=close).rev().find(|at| {
            match bytes[*at] {
                b')' => depth += 1,
                b'(' => depth -= 1,
                _ => {}
            }
            depth == 0
        })?;
        let head = self.code[..open].trim_end();
        let is_word = |c: char| c == '_' || c.is_ascii_alphanumeric();
        let name = head.len() - head.trim_end_matches(is_word).len();
        let start = head.len() - name;
        let before = self.code[..start].trim_end();
        let is_name = head[start..].starts_with(|c: char| c == '_' || c.is_ascii_alphabetic());
        // A string may hold parentheses: then the name is not one.
        let quoted = self.code[start..=close].contains(['"', '\'']);
        let is_plain = is_name && !before.ends_with(['.', '>']) && !quoted;
        is_plain.then_some(start..close + 1)
    }

    /// What is written at a range.
    pub(super) fn code(&self, range: Range<usize>) -> &str {
        &self.code[range]
    }

    /// The line and the column, in characters, of the next thing behind a place that is no comment.
    pub(super) fn next_place(&self, from: usize) -> Option<(u32, u32, &str)> {
        let (at, token) = Tokens { text: &self.code, at: from }.next()?;
        let line = self.lines.partition_point(|start| *start <= at);
        let column = self.code[self.lines[line - 1]..at].chars().count() + 1;
        Some((line as u32, column as u32, token))
    }
}
