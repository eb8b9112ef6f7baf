//! Functions inside of functions, which the parser does not know: `int f(int x) { … }` becomes a
//! declaration and a call that holds the body.

use crate::c::tokens::Tokens;

use super::context::is_plain_word;

/// What is called with the name and the body of a nested function.
pub(crate) const NESTED: &str = "__builtin_own_nested";

/// A nested function whose text starts at the place: its name, and where its body starts and ends.
pub(super) fn nested_function(text: &str, at: usize) -> Option<(&str, usize, usize)> {
    const NONE: [&str; 14] = [
        "else", "do", "if", "while", "for", "switch", "return", "case", "default", "goto", "sizeof",
        "typedef", "break", "continue",
    ];
    let mut tokens = Tokens { text, at };
    let (mut words, mut last): (usize, Option<&str>) = (0, None);
    loop {
        let (start, token) = tokens.next()?;
        match token {
            word if NONE.contains(&word) => return None,
            "__attribute__" | "__attribute" | "__typeof__" | "__typeof" | "typeof" => {
                tokens.parentheses();
                words += usize::from(token.contains("typeof"));
                last = None;
            }
            "*" => last = None,
            "(" => {
                let name = last.filter(|name| words > 1 && is_plain_word(name))?;
                tokens.at = start;
                tokens.parentheses();
                let (open, _) = tokens.next().filter(|(_, token)| *token == "{")?;
                let mut depth = 0_usize;
                let mut body = Tokens { text, at: open };
                for (at, token) in body.by_ref() {
                    depth = match token {
                        "{" => depth + 1,
                        "}" => depth - 1,
                        _ => depth,
                    };
                    if depth == 0 {
                        return Some((name, open, at + 1));
                    }
                }
                return None;
            }
            word if word.starts_with(|c: char| c.is_ascii_alphabetic() || c == '_') => {
                words += 1;
                last = Some(word);
            }
            _ => return None,
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn only_heads_of_functions_are_taken_for_nested_functions() {
        let found = |text| nested_function(text, 0).map(|(name, open, end)| (name, &text[open..end]));
        assert_eq!(found("int f(int x) { { } } y"), Some(("f", "{ { } }")));
        assert_eq!(found("struct s *g(void) {}"), Some(("g", "{}")));
        assert_eq!(found("__typeof__(x) *g(void) {}"), Some(("g", "{}")));
        for text in
            ["else if (x) { }", "if (x) { }", "int f(int);", "int x = g(3);", "f(x) { }", "return f(x);"]
        {
            assert_eq!(found(text), None, "{text}");
        }
    }
}
