//! Where a waypoint belongs: witnesses point at keywords and closing parentheses, steps at
//! conditions and calls.

use wherefore_explain::model::{Extent, Line};

use crate::source::Sources;

/// A place in a file.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) struct Position {
    pub(super) line: u32,
    /// The column, in characters from 1; none for the first suitable one of the line.
    pub(super) column: Option<u32>,
}

/// The letters of a line.
fn letters(file: usize, line: u32, sources: &Sources) -> Vec<char> {
    sources.line(Line { file, line }).chars().collect()
}

fn is_word(letter: char) -> bool {
    letter.is_alphanumeric() || letter == '_'
}

/// Whether a word starts at a position.
fn has_word(line: &[char], at: usize, word: &str) -> bool {
    let length = word.chars().count();
    at + length <= line.len()
        && word.chars().eq(line[at..at + length].iter().copied())
        && (at == 0 || !is_word(line[at - 1]))
        && line.get(at + length).is_none_or(|&next| !is_word(next))
}

/// The closing parenthesis of a call of `function` that starts within an extent. The call must
/// stand on one line.
pub(super) fn call_end(extent: &Extent, function: &str, sources: &Sources) -> Option<Position> {
    let line = letters(extent.file, extent.start.0, sources);
    let from = (extent.start.1 as usize).checked_sub(1)?;
    let to = if extent.end.0 == extent.start.0 { extent.end.1 as usize } else { line.len() };
    let mut calls =
        (from..to.min(line.len())).filter(|&at| !function.is_empty() && has_word(&line, at, function));
    let at = calls.next()?;
    // Two calls on a line: it is not known which one is meant.
    if calls.next().is_some() {
        return None;
    }
    let open = skip_spaces(&line, at + function.chars().count());
    let close = closing(&line, open)?;
    Some(Position { line: extent.start.0, column: Some(close as u32 + 1) })
}

fn skip_spaces(line: &[char], mut at: usize) -> usize {
    while line.get(at).is_some_and(|letter| letter.is_whitespace()) {
        at += 1;
    }
    at
}

/// The parenthesis that closes the one at a position.
fn closing(line: &[char], open: usize) -> Option<usize> {
    if line.get(open) != Some(&'(') {
        return None;
    }
    let mut depth = 0_usize;
    for (at, letter) in line.iter().enumerate().skip(open) {
        match letter {
            '(' => depth += 1,
            ')' if depth == 1 => return Some(at),
            ')' => depth -= 1,
            _ => {}
        }
    }
    None
}

/// The `if`, `while` or `for` whose whole condition an extent is, or that it starts at. None if it
/// is not certain: if the condition is a part of a larger one, has parts that are decided one by
/// one, or goes over several lines.
pub(super) fn header_keyword(extent: &Extent, sources: &Sources) -> Option<Position> {
    let line = letters(extent.file, extent.start.0, sources);
    let from = (extent.start.1 as usize).checked_sub(1)?;
    for at in (0..=from.min(line.len())).rev() {
        let Some(keyword) = ["if", "while", "for"].into_iter().find(|word| has_word(&line, at, word)) else {
            continue;
        };
        let open = skip_spaces(&line, at + keyword.len());
        let close = closing(&line, open)?;
        if from > close || ends_a_do(&line, at) {
            return None;
        }
        let header: String = line[open + 1..close].iter().collect();
        if ["&&", "||", "?", "\"", "'"].iter().any(|part| header.contains(part)) {
            return None;
        }
        let condition = match keyword {
            "for" => header.split(';').nth(1)?.trim(),
            _ => header.trim(),
        };
        let is_whole = at == from
            || extent.end.0 == extent.start.0 && {
                let to = (extent.end.1 as usize).saturating_sub(1).min(line.len());
                from <= to && line[from..to].iter().collect::<String>().trim() == condition
            };
        return is_whole.then_some(Position { line: extent.start.0, column: Some(at as u32 + 1) });
    }
    None
}

/// Whether a `while` may be the end of a `do`: then a semicolon stands behind it. Such loops have
/// their keyword elsewhere. A loop without a body looks the same and is taken for one.
fn ends_a_do(line: &[char], at: usize) -> bool {
    if !has_word(line, at, "while") {
        return false;
    }
    let open = skip_spaces(line, at + 5);
    let behind = closing(line, open).map(|close| skip_spaces(line, close + 1));
    behind.is_some_and(|behind| line.get(behind) == Some(&';'))
}

/// The `while`, `for` or `do` of a loop whose head is at an extent: the keyword that it starts at,
/// or the one before it on its line.
pub(super) fn loop_keyword(extent: &Extent, sources: &Sources) -> Option<Position> {
    let line = letters(extent.file, extent.start.0, sources);
    let from = (extent.start.1 as usize).checked_sub(1)?;
    let is_keyword = |at: &usize| {
        ["while", "for", "do"].iter().any(|word| has_word(&line, *at, word)) && !ends_a_do(&line, *at)
    };
    let at = (0..=from.min(line.len())).rev().find(is_keyword)?;
    Some(Position { line: extent.start.0, column: Some(at as u32 + 1) })
}

#[cfg(test)]
mod tests {
    use wherefore_explain::model::{Explanation, Source};

    use super::*;

    /// The position that `find` says for the first `part` of a line.
    fn at(
        text: &str,
        part: &str,
        find: impl Fn(&Extent, &Sources) -> Option<Position>,
    ) -> Option<(u32, Option<u32>)> {
        let source = Source { name: "a.c".into(), text: text.into() };
        let explanation = Explanation { sources: vec![source], ..Default::default() };
        let start = text.find(part).expect("it is there") as u32 + 1;
        let extent = Extent { file: 0, start: (1, start), end: (1, start + part.len() as u32) };
        find(&extent, &Sources::new(&explanation)).map(|position| (position.line, position.column))
    }

    #[test]
    fn a_whole_condition_belongs_to_its_keyword() {
        assert_eq!(at("  if (x > 0) f();", "x > 0", header_keyword), Some((1, Some(3))));
        assert_eq!(at("  while( (x) )", "(x)", header_keyword), Some((1, Some(3))));
        assert_eq!(at("for (i = 0; i < n; i++)", "i < n", header_keyword), Some((1, Some(1))));
        assert_eq!(at("if (x) f();", "if (x)", header_keyword), Some((1, Some(1))));
    }

    #[test]
    fn a_part_of_a_condition_belongs_to_no_keyword() {
        assert_eq!(at("if (a && b)", "a", header_keyword), None);
        assert_eq!(at("if (a + b)", "b", header_keyword), None);
        assert_eq!(at("if (x) y = z > 1 ? 2 : 3;", "z > 1", header_keyword), None);
        assert_eq!(at("assert(x);", "x", header_keyword), None);
        assert_eq!(at("do f(); while (x);", "x", header_keyword), None);
        assert_eq!(at("notif (x)", "x", header_keyword), None);
    }

    #[test]
    fn a_call_ends_at_its_parenthesis() {
        assert_eq!(at("int x = f( g(1) );", "f( g(1) )", |e, s| call_end(e, "f", s)), Some((1, Some(17))));
        assert_eq!(at("x = f() + f();", "x = f() + f()", |e, s| call_end(e, "f", s)), None);
        assert_eq!(at("x = F;", "F", |e, s| call_end(e, "f", s)), None);
    }

    #[test]
    fn a_loop_has_a_keyword() {
        assert_eq!(at("  while (x) {", "x", loop_keyword), Some((1, Some(3))));
        assert_eq!(at("  do {", "do", loop_keyword), Some((1, Some(3))));
        assert_eq!(at("again: x++;", "x++", loop_keyword), None);
    }
}
