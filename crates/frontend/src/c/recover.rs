//! What the parser does not know is cut out, if it is C: the rest of the text counts.
//!
//! A function whose body was cut out is not modelled, nor is a declaration that was cut out as a
//! whole: the names in it are not understood (`sema`).

use std::ops::Range;

use super::tokens::Tokens;

/// What was cut out of a text.
#[derive(Clone, Debug)]
pub(crate) struct Lost {
    /// The bytes that are blank now. The braces of a body are still there.
    pub(crate) range: Range<usize>,
    /// Where the parser stopped, and the word there.
    pub(crate) at: Range<usize>,
    pub(crate) word: String,
    /// The words at the outermost level of a declaration; none if the body of a function was cut
    /// out.
    pub(crate) names: Vec<String>,
}

/// How often a text is parsed again.
pub(crate) const MOST_CUTS: usize = 50;

/// Cuts out the body or the declaration around a place.
pub(crate) fn cut(text: &mut String, at: Range<usize>) -> Option<Lost> {
    let (range, is_body) = around(text, at.start)?;
    let word = text.get(at.clone()).unwrap_or_default().to_owned();
    let names = if is_body { Vec::new() } else { outer_words(&text[range.clone()]) };
    let keep = |byte: u8| if byte == b'\n' { byte } else { b' ' };
    let blank: Vec<u8> = text[range.clone()].bytes().map(keep).collect();
    let blank = String::from_utf8(blank).ok()?;
    if text[range.clone()] == blank {
        return None;
    }
    text.replace_range(range.clone(), &blank);
    Some(Lost { range, at, word, names })
}

/// The inside of the body of the function around a place, and true; else the declaration there.
fn around(text: &str, place: usize) -> Option<(Range<usize>, bool)> {
    let mut tokens = Tokens { text, at: 0 };
    let (mut depth, mut start, mut previous) = (0_usize, None, ";");
    // Where the outermost brace that is open starts, and whether it starts a body.
    let (mut brace, mut is_body) = (0, false);
    while let Some((at, token)) = tokens.next() {
        let end = at + token.len();
        let begin = *start.get_or_insert(at);
        match token {
            "{" | "(" | "[" => {
                if depth == 0 && token == "{" {
                    (brace, is_body) = (end, matches!(previous, ")" | ";"));
                }
                depth += 1;
            }
            "}" | ")" | "]" => {
                depth = depth.saturating_sub(1);
                if depth == 0 && token == "}" && is_body {
                    if (brace..=at).contains(&place) {
                        return Some((brace..at, true));
                    }
                    if place < end {
                        return Some((begin..end, false));
                    }
                    start = None;
                }
            }
            // The declarations of parameters of old stand in front of their body.
            ";" if depth == 0 && !(previous != "}" && opens_body(text, tokens.at, begin)) => {
                if place < end {
                    return Some((begin..end, false));
                }
                start = None;
            }
            _ => {}
        }
        previous = token;
    }
    None
}

/// Whether the declaration that starts at `begin` goes on as a function with parameters of old.
fn opens_body(text: &str, at: usize, begin: usize) -> bool {
    let is_list = |token: &str| token == ")";
    let head = Tokens { text: &text[..at], at: begin };
    let mut last = "";
    let mut has_list = false;
    for (_, token) in head {
        has_list |= is_list(last) && token.starts_with(|c: char| c.is_alphabetic() || c == '_');
        last = token;
    }
    has_list && next_opener(text, at) == Some("{")
}

/// The first `{` or `}` or `=` behind a place.
fn next_opener(text: &str, at: usize) -> Option<&str> {
    Tokens { text, at }.map(|(_, token)| token).find(|token| matches!(*token, "{" | "}" | "=" | "("))
}

/// The words outside of all brackets, and in parentheses: what may be declared.
fn outer_words(text: &str) -> Vec<String> {
    let first = Tokens { text, at: 0 }.next().map_or("", |(_, token)| token);
    if matches!(first, "asm" | "__asm" | "__asm__") {
        // Assembly may define whatever it names.
        let text = text.replace("\\n", " ").replace("\\t", " ");
        let parts = text.split(|c: char| !c.is_alphanumeric() && c != '_');
        return parts.filter(|part| !part.is_empty()).map(str::to_owned).collect();
    }
    let (mut depth, mut words) = (0_usize, Vec::new());
    for (_, token) in (Tokens { text, at: 0 }) {
        match token {
            "{" | "[" => depth += 1,
            "}" | "]" => depth = depth.saturating_sub(1),
            word if depth == 0 && word.starts_with(|c: char| c.is_alphabetic() || c == '_') => {
                words.push(word.to_owned());
            }
            _ => {}
        }
    }
    words
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn bodies_and_declarations_are_cut_out() {
        let text =
            "int a; int f(int x) { return x $ 1; } struct s { int $; } g; int h(x) int x; { return $$; }";
        let cut_at = |place: usize| {
            let mut text = text.to_owned();
            let lost = cut(&mut text, place..place + 1).expect("something is cut out");
            (text, lost.names)
        };
        let words = |text: &str| text.split_whitespace().collect::<Vec<_>>().join(" ");
        let (first, names) = cut_at(text.find('$').expect("there is one"));
        assert!(words(&first).starts_with("int a; int f(int x) { } struct"), "{first}");
        assert!(names.is_empty());
        let (second, names) = cut_at(text.find("$;").expect("there is one"));
        assert!(words(&second).contains("return x $ 1; } int h(x)"), "{second}");
        assert_eq!(names, ["struct", "s", "g"]);
        let (third, _) = cut_at(text.find("$$").expect("there is one"));
        assert!(words(&third).ends_with("int h(x) int x; { }"), "{third}");
        assert!([first, second, third].iter().all(|other| other.len() == text.len()));
    }
}
