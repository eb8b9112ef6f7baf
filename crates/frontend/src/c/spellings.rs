//! Other spellings of what the parser knows, each replaced by text of the same length: digraphs,
//! names with characters that are not ASCII or with `$`, attributes in double brackets, and assembly outside of
//! functions that says nothing about the program.

use std::collections::BTreeSet;

use super::attributes::{is_harmless, plain};
use super::tokens::{Tokens, blank};

/// Attributes in double brackets that change nothing.
const HARMLESS: [&str; 8] = [
    "deprecated",
    "fallthrough",
    "nodiscard",
    "maybe_unused",
    "reproducible",
    "unsequenced",
    "likely",
    "unlikely",
];

/// Directives to the assembler that define nothing.
const DIRECTIVES: [&str; 4] = [".symver", ".globl", ".global", ".ident"];

/// The text in the spellings that the parser knows.
pub(crate) fn usual(text: &str) -> String {
    let mut out = text.as_bytes().to_vec();
    let mut tokens = Tokens { text, at: 0 };
    let (mut previous, mut depth) = (";", 0_usize);
    let dollar = instead_of_dollar(text);
    while let Some((start, token)) = tokens.next() {
        let rest = &text[start..];
        match token {
            "<" | "%" | ":" => {
                let digraphs = [("<%", '{'), ("%>", '}'), ("<:", '['), (":>", ']')];
                if let Some((_, meant)) = digraphs.iter().find(|(pair, _)| rest.starts_with(pair)) {
                    out[start] = *meant as u8;
                    out[start + 1] = b' ';
                    tokens.at = start + 2;
                    depth = if *meant == '{' { depth + 1 } else { depth };
                    depth = if *meant == '}' { depth.saturating_sub(1) } else { depth };
                }
            }
            "$" => out[start] = dollar,
            "\\" if rest.starts_with("\\u") || rest.starts_with("\\U") => out[start] = b'_',
            "[" if rest.starts_with("[[") => {
                if let Some((end, is_noreturn)) = brackets(text, start) {
                    blank(&mut out, start, end);
                    if is_noreturn {
                        out[start..start + "_Noreturn".len()].copy_from_slice(b"_Noreturn");
                    }
                    tokens.at = end;
                    continue;
                }
            }
            "asm" | "__asm__" | "__asm" if depth == 0 && matches!(previous, ";" | "}") => {
                if let Some(end) = empty_assembly(text, tokens.at) {
                    blank(&mut out, start, end);
                    tokens.at = end;
                    continue;
                }
            }
            "{" | "(" => depth += 1,
            "}" | ")" => depth = depth.saturating_sub(1),
            _ if token.starts_with('#') => {
                tokens.at = rest.find('\n').map_or(text.len(), |i| start + i);
                continue;
            }
            _ => {}
        }
        previous = token;
    }
    String::from_utf8(out).unwrap_or_else(|_| text.to_owned())
}

/// Whether a text has names that are spelled otherwise than they are meant here.
pub(crate) fn renames(text: &str) -> bool {
    if !["$", "\\u", "\\U"].iter().any(|mark| text.contains(mark)) {
        return false;
    }
    let is_mark = |(start, token): (usize, &str)| {
        let rest = &text[start..];
        token == "$" || rest.starts_with("\\u") || rest.starts_with("\\U")
    };
    Tokens { text, at: 0 }.any(is_mark)
}

/// A character that can stand for `$` in names: none of them becomes one that is there already.
fn instead_of_dollar(text: &str) -> u8 {
    if !text.contains('$') {
        return b'$';
    }
    let is_word = |c: char| c.is_ascii_alphanumeric() || c == '_' || c == '$';
    let words: BTreeSet<&str> = text.split(|c: char| !is_word(c)).collect();
    let fits = |c: &u8| {
        let new = |word: &&&str| words.contains(word.replace('$', &char::from(*c).to_string()).as_str());
        !words.iter().filter(|word| word.contains('$')).any(|word| new(&word))
    };
    (b'_'..=b'_').chain(b'A'..=b'Z').find(fits).unwrap_or(b'$')
}

/// Where `[[ … ]]` ends if its attributes change nothing but that a function does not return, and
/// whether one says so.
fn brackets(text: &str, start: usize) -> Option<(usize, bool)> {
    let mut tokens = Tokens { text, at: start + 2 };
    let (mut depth, mut is_noreturn) = (0_usize, false);
    while let Some((at, token)) = tokens.next() {
        match token {
            "]" if depth == 0 => {
                let end = tokens.next().filter(|(next, token)| *token == "]" && *next == at + 1);
                return end.map(|(at, _)| (at + 1, is_noreturn));
            }
            "(" => depth += 1,
            ")" => depth = depth.checked_sub(1)?,
            _ if depth > 0 => {}
            "," => {}
            "noreturn" | "_Noreturn" => is_noreturn = true,
            "gnu" | "__gnu__" | ":" => {}
            name if HARMLESS.contains(&plain(name)) || is_harmless(name) => {}
            _ => return None,
        }
    }
    None
}

/// Where assembly ends, with its semicolon, whose text defines nothing.
fn empty_assembly(text: &str, at: usize) -> Option<usize> {
    let mut tokens = Tokens { text, at };
    tokens.next().filter(|(_, token)| *token == "(")?;
    let mut whole = String::new();
    loop {
        match tokens.next()?.1 {
            ")" => break,
            part => whole.push_str(part.strip_prefix('"')?.strip_suffix('"')?),
        }
    }
    let (end, _) = tokens.next().filter(|(_, token)| *token == ";")?;
    let lines = whole.split("\\n").flat_map(|line| line.split(';'));
    let mut lines = lines.map(|line| line.trim_start_matches("\\t").trim());
    let defines_nothing = |line: &str| {
        line.is_empty() || line.starts_with('#') || DIRECTIVES.iter().any(|word| line.starts_with(word))
    };
    lines.all(defines_nothing).then_some(end + 1)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn spellings_are_replaced_in_place() {
        for (text, meant) in [
            ("int a<:3:> = <% 1 %>;", "int a[ 3]  = {  1 } ;"),
            ("\"<:\" '\\u00e4' a\\u00e4", "\"<:\" '\\u00e4' a_u00e4"),
            ("[[noreturn]] void f(void);", "_Noreturn    void f(void);"),
            ("[[deprecated(\"x\"), nodiscard]] int f(void);", "                               int f(void);"),
            ("[[gnu::packed]] int x;", "[[gnu::packed]] int x;"),
            ("asm(\"\"); int x;", "         int x;"),
            ("asm(\"f: ret\"); int x;", "asm(\"f: ret\"); int x;"),
            ("int f(void) { asm(\"\"); }", "int f(void) { asm(\"\"); }"),
        ] {
            assert_eq!(usual(text), meant);
        }
    }
    #[test]
    fn marks_in_texts_rename_nothing() {
        for text in ["char *s = \"$2a$ \\u00e9\";", "int c = '$';", "int a;"] {
            assert!(!renames(text), "{text}");
        }
        for text in ["int a$b;", "int \\u00e9;", "int a\\U000000e9;"] {
            assert!(renames(text), "{text}");
        }
    }
}
