//! Which conditions can be evaluated anywhere: expressions of C without effects.

use crate::c::tokens::Tokens;

/// Words that may stand in front of a parenthesis without being called.
const NOT_CALLED: [&str; 15] = [
    "sizeof",
    "_Alignof",
    "_Bool",
    "bool",
    "char",
    "short",
    "int",
    "long",
    "signed",
    "unsigned",
    "float",
    "double",
    "const",
    "struct",
    "__typeof__",
];

/// Why a text is no condition without effects; none if it is one.
pub(super) fn complaint(text: &str) -> Option<String> {
    let mut depth = 0_usize;
    let mut before = "";
    let mut end = 0;
    let mut is_empty = true;
    for (at, token) in (Tokens { text, at: 0 }) {
        is_empty = false;
        let adjoins = at == end;
        match token {
            "(" | "[" => {
                let is_name = before.starts_with(|c: char| c == '_' || c.is_alphabetic());
                if token == "(" && is_name && !NOT_CALLED.contains(&before) {
                    return Some(format!("a condition calls no function, and this one calls `{before}`"));
                }
                depth += 1;
            }
            ")" | "]" => match depth.checked_sub(1) {
                Some(less) => depth = less,
                None => return Some(format!("`{token}` closes nothing")),
            },
            ";" | "{" | "}" | "#" | "\\" => return Some(format!("`{token}` is not part of a condition")),
            "+" | "-" if adjoins && before == token => {
                return Some(format!("a condition changes nothing, and this one has `{token}{token}`"));
            }
            _ => {}
        }
        // `==`, `<=`, `>=` and `!=` compare; any other `=` assigns.
        if before == "=" && !(token == "=" && adjoins) && !is_comparison(text, end - 1) {
            return Some("a condition changes nothing, and this one has `=`".to_owned());
        }
        before = token;
        end = at + token.len();
    }
    match (is_empty, depth) {
        (true, _) => Some("a condition is missing".to_owned()),
        (_, 0) => None,
        _ => Some("a parenthesis is not closed".to_owned()),
    }
}

/// Whether the `=` at a place is part of a comparison.
fn is_comparison(text: &str, at: usize) -> bool {
    let bytes = text.as_bytes();
    let before = at.checked_sub(1).map(|at| bytes[at]);
    let shifts = at >= 2 && matches!(&bytes[at - 2..at], b"<<" | b">>");
    match before {
        Some(b'=' | b'!') => true,
        Some(b'<' | b'>') => !shifts,
        _ => false,
    }
}

/// Whether comparisons are chained (`0 <= i <= n`), which means something else in C than in
/// annotations.
pub(super) fn is_chained(text: &str) -> bool {
    // Whether a comparison was seen since the last operator that binds less, for each parenthesis.
    let mut seen = vec![false];
    let bytes = text.as_bytes();
    let mut at = 0;
    while at < bytes.len() {
        let pair = bytes.get(at..at + 2).unwrap_or_default();
        match bytes[at] {
            b'(' | b'[' => seen.push(false),
            b')' | b']' if seen.len() > 1 => {
                seen.pop();
            }
            b'<' | b'>' if matches!(pair, b"<<" | b">>" | b"->") => at += 1,
            b'-' if pair == b"->" => at += 1,
            b'<' | b'>' => {
                if let Some(last) = seen.last_mut()
                    && std::mem::replace(last, true)
                {
                    return true;
                }
            }
            b'&' | b'|' | b'?' | b':' | b',' | b'^' => {
                if let Some(last) = seen.last_mut() {
                    *last = false;
                }
            }
            b'=' | b'!' if pair == b"==" || pair == b"!=" => {
                if let Some(last) = seen.last_mut() {
                    *last = false;
                }
                at += 1;
            }
            _ => {}
        }
        at += 1;
    }
    false
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn conditions_have_no_effects() {
        for good in ["x", "i <= n && a[i] == 0", "(int)x >= -1", "p->n != 0", "x << 1 <= 4", "- -x == 1"] {
            assert_eq!(complaint(good), None, "{good}");
        }
        for bad in
            ["", "x = 1", "x += 1", "x <<= 1", "i++ < 3", "--i", "f(x)", "x; y", "(x", "x)", "\\result"]
        {
            assert!(complaint(bad).is_some(), "{bad}");
        }
    }

    #[test]
    fn chains_are_noticed() {
        for chained in ["0 <= i <= n", "a < b < c", "x && (0 <= i < 3)"] {
            assert!(is_chained(chained), "{chained}");
        }
        for plain in
            ["0 <= i && i <= n", "(a < b) == (c < d)", "a << 2 < b", "p->a < q->b", "a < b ? c < d : e"]
        {
            assert!(!is_chained(plain), "{plain}");
        }
    }
}
