//! Invariants and assertions in comments, as ACSL writes them: `//@ loop invariant i <= n;`.
//!
//! Only these two are read. What else annotations say (`requires`, `assigns`, `variant`) is a
//! comment like any other.

use std::ops::Range;

use super::places::Text;
use super::{Claim, Place, condition};

/// The claims in the comments of a text.
pub(super) fn claims(text: &str) -> Result<Vec<Claim>, (Range<usize>, String)> {
    let code = Text::new(text);
    let mut claims = Vec::new();
    for comment in comments(text) {
        let (line, column, token) = match code.next_place(comment.end) {
            Some(found) => found,
            None => continue,
        };
        let inside = comment.content.clone();
        let mut from = inside.start;
        for clause in text[inside.clone()].split(';') {
            let range = from..from + clause.len();
            from = range.end + 1;
            let words = clause.trim_start_matches(|c: char| c.is_whitespace() || c == '@');
            let at = range.end - words.len()..range.end;
            let (is_loop, rest) = match (after(words, &["loop", "invariant"]), after(words, &["assert"])) {
                (Some(rest), _) => (true, rest),
                (None, Some(rest)) => (false, rest),
                (None, None) => continue,
            };
            let condition = without_name(rest).replace('@', " ");
            if range.end >= inside.end {
                return Err((at, "`;` is missing behind the condition".to_owned()));
            }
            if condition.contains('\\') || condition.contains("==>") {
                let message = "only conditions that C can evaluate are supported here".to_owned();
                return Err((at, message));
            }
            if condition::is_chained(&condition) {
                let message = "comparisons cannot be chained here: write `0 <= i && i <= n`".to_owned();
                return Err((at, message));
            }
            if is_loop && !matches!(token, "while" | "for" | "do") {
                return Err((at, "no loop follows this invariant".to_owned()));
            }
            let place = Place { file: String::new(), line, column: Some(column), at };
            claims.push(Claim { place, is_loop, condition });
        }
    }
    Ok(claims)
}

/// What follows some words.
fn after<'a>(text: &'a str, words: &[&str]) -> Option<&'a str> {
    words.iter().try_fold(text, |rest, word| {
        let rest = rest.trim_start().strip_prefix(word)?;
        rest.starts_with(char::is_whitespace).then_some(rest)
    })
}

/// A condition without the name in front of it: `bound: i <= n`.
fn without_name(text: &str) -> &str {
    let trimmed = text.trim_start();
    let name = trimmed.trim_start_matches(|c: char| c == '_' || c.is_alphanumeric());
    match name.trim_start().strip_prefix(':') {
        Some(rest) if name.len() < trimmed.len() => rest,
        _ => text,
    }
}

struct Comment {
    /// What it says, without its marks.
    content: Range<usize>,
    /// Where it ends.
    end: usize,
}

/// The comments that start with `//@` or `/*@`.
fn comments(text: &str) -> Vec<Comment> {
    let bytes = text.as_bytes();
    let mut found = Vec::new();
    let mut at = 0;
    while at < bytes.len() {
        match bytes[at] {
            quote @ (b'"' | b'\'') => {
                at += 1;
                while at < bytes.len() && bytes[at] != quote && bytes[at] != b'\n' {
                    at += if bytes[at] == b'\\' { 2 } else { 1 };
                }
                at += 1;
            }
            b'/' if bytes.get(at + 1) == Some(&b'/') => {
                let end = bytes[at..].iter().position(|b| *b == b'\n').map_or(bytes.len(), |i| at + i);
                if bytes.get(at + 2) == Some(&b'@') {
                    found.push(Comment { content: at + 3..end, end });
                }
                at = end;
            }
            b'/' if bytes.get(at + 1) == Some(&b'*') => {
                let close = bytes[at + 2..].windows(2).position(|w| w == b"*/");
                let inner = close.map_or(bytes.len(), |i| at + 2 + i);
                let end = (inner + 2).min(bytes.len());
                if bytes.get(at + 2) == Some(&b'@') && at + 3 <= inner {
                    found.push(Comment { content: at + 3..inner, end });
                }
                at = end;
            }
            _ => at += 1,
        }
    }
    found
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn invariants_belong_to_the_loop_behind_them() {
        let text = "int f(void) {\n  /*@ loop invariant low: 0 <= i;\n    @ loop assigns i;\n    @ loop invariant i <= 9; */\n  // another comment\n  while (i < 9) i++;\n  //@ assert i == 9;\n  return i;\n}\n";
        let found = claims(text).expect("claims");
        let told: Vec<(u32, Option<u32>, bool, &str)> = found
            .iter()
            .map(|claim| (claim.place.line, claim.place.column, claim.is_loop, claim.condition.trim()))
            .collect();
        assert_eq!(
            told,
            [(6, Some(3), true, "0 <= i"), (6, Some(3), true, "i <= 9"), (8, Some(3), false, "i == 9")]
        );
    }

    #[test]
    fn what_c_cannot_evaluate_is_refused() {
        for (clause, why) in [
            ("loop invariant \\forall int i; i > 0;", "C can evaluate"),
            ("loop invariant 0 <= i <= n;", "chained"),
            ("loop invariant i > 0", "`;` is missing"),
        ] {
            let text = format!("//@ {clause}\nwhile (1) ;\n");
            let (at, message) = claims(&text).expect_err(clause);
            assert!(message.contains(why), "{clause}: {message}");
            assert_eq!(at.start, 4, "{clause}");
        }
        assert!(claims("//@ loop invariant i > 0;\nx = 1;").is_err());
        // Comments inside of strings are no comments.
        assert!(claims("char *s = \"//@ assert 0;\";").expect("no claims").is_empty());
    }
}
