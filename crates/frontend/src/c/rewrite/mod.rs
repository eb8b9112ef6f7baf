//! Small rewritings of preprocessed text, so that the parser accepts it.

mod context;
mod literals;
mod nested;

use std::borrow::Cow;

use super::tokens::{Tokens, blank};
use context::{
    declarator_in_parentheses, is_named_in_parentheses, is_operator, is_plain_word, is_storage, opens_cast,
    starts_declaration, starts_external, starts_literal,
};
use literals::{escapes, universal};
pub(crate) use nested::NESTED;
use nested::nested_function;

/// A text that the parser accepts, and what was added to it.
pub(crate) struct Rewritten {
    pub(crate) text: String,
    /// Where something was added, in the new text, and how many bytes; in ascending order.
    pub(crate) added: Vec<(usize, usize)>,
}

/// The name that is put between `?` and `:` where a program leaves it out.
pub(crate) const LEFT_OUT: &str = "__builtin_own_left_out ";

/// What stands for `&&label`, with the name as a string, and for `goto *e`.
const LABEL: &str = "__builtin_own_label";

/// What stands in a compound literal without values.
pub(crate) const NOTHING: &str = "__builtin_own_nothing";

pub(crate) const GOTO_ANY: &str = "__builtin_own_goto";

/// What stands for `asm goto (…)`: a built-in function that nobody knows.
const ASM_GOTO: &str = "__builtin_asm_goto()";

/// Where assembly behind `asm` ends, if it may jump: if `goto` stands in front of its parentheses.
fn end_of_jump(mut tokens: Tokens<'_>) -> Option<usize> {
    let mut jumps = false;
    loop {
        let (at, token) = tokens.next()?;
        match token {
            "goto" => jumps = true,
            "volatile" | "__volatile__" | "__volatile" | "inline" | "__inline__" => {}
            "(" if jumps => return Some(Tokens { text: tokens.text, at }.parentheses()),
            _ => return None,
        }
    }
}

/// Blanks out what has no meaning here and is not understood by the parser: `__extension__`,
/// `__thread`, attributes behind labels and on statements, and directives that the preprocessor
/// left in place. A declaration behind a label gets an empty statement in between, and so does a
/// label at the end of a block. What is declared without a type gets `int`.
pub(crate) fn rewrite(text: &str) -> Rewritten {
    let mut out = text.as_bytes().to_vec();
    let mut insertions: Vec<(usize, Cow<'_, str>)> = Vec::new();
    let mut tokens = Tokens { text, at: 0 };
    // The last three tokens, and how they could matter.
    let (mut previous, mut before, mut earlier): (&str, &str, &str) = (";", ";", ";");
    let (mut questions, mut depth) = (0_usize, 0_usize);
    // Whether the last brace at the outermost level closed the body of a function.
    let (mut body, mut at_top) = (true, true);
    // For each open parenthesis, whether a compound literal may start there; and whether the last
    // one closed was such a one. Whether only words such as `static` and `const` stand between the
    // start of a declaration and the token at hand.
    let mut bare = false;
    // Where the operand of `goto *e` ends.
    let mut jump_ends = None;
    let (mut heads, mut is_literal_head): (Vec<bool>, bool) = (Vec::new(), false);
    // For each open bracket, whether it is that of a cast; and whether the last one closed was one.
    let (mut casts, mut is_cast): (Vec<bool>, bool) = (Vec::new(), false);
    while let Some((start, token)) = tokens.next() {
        let top = depth == 0;
        if !top && matches!(previous, ";" | "{" | "}") {
            if let Some((name, open, end)) = nested_function(text, start) {
                insertions.push((open, format!("; {NESTED}({name}, (").into()));
                insertions.push((end, "));".into()));
            }
        }
        match token {
            "(" | "{" if top => casts = vec![token == "(" && opens_cast(text, tokens.at, previous)],
            "(" | "{" => casts.push(token == "(" && opens_cast(text, tokens.at, previous)),
            ")" | "}" => is_cast = casts.pop().unwrap_or(false),
            _ => {}
        }
        match token {
            "__extension__" => {
                blank(&mut out, start, start + token.len());
                continue;
            }
            "__thread" => {
                blank(&mut out, start, start + token.len());
                insertions.push((start, "_Thread_local ".into()));
            }
            // Of its three spellings the parser knows one for a word of the language in
            // expressions.
            "typeof" => insertions.push((start, "__".into())),
            "__typeof__" => blank(&mut out, start + "__typeof".len(), start + token.len()),
            "asm" | "__asm__" | "__asm" if end_of_jump(Tokens { text, at: tokens.at }).is_some() => {
                let end = end_of_jump(Tokens { text, at: tokens.at }).unwrap_or(tokens.at);
                blank(&mut out, start, end);
                insertions.push((start, ASM_GOTO.into()));
                tokens.at = end;
                (earlier, before, previous) = (before, previous, ")");
                continue;
            }
            "asm" => {
                insertions.push((start, "__".into()));
                insertions.push((start + token.len(), "__".into()));
            }
            "_Alignas" => {
                let mut rest = Tokens { text, at: tokens.at };
                let open = rest.next().filter(|(_, token)| *token == "(");
                let first = rest.next().map(|(_, token)| token);
                let end = Tokens { text, at: tokens.at }.parentheses();
                let behind = (Tokens { text, at: end }).next().map_or("", |(_, token)| token);
                // Known in front of members as an attribute; in front of a structure it would be
                // that of the structure.
                let first = first.filter(|_| !matches!(behind, "struct" | "union" | "enum"));
                let is_number = first.is_some_and(|first| first.starts_with(|c: char| c.is_ascii_digit()));
                if let (Some((open, _)), true) = (open, is_number || first.is_some_and(starts_declaration)) {
                    blank(&mut out, start, open + 1);
                    let head = if is_number { "" } else { "_Alignof(" };
                    insertions.push((start, format!("__attribute__((aligned({head}").into()));
                    insertions.push((end - 1, if is_number { "))" } else { ")))" }.into()));
                }
            }
            "__int128" | "__int128_t" | "__uint128_t" => {
                blank(&mut out, start, start + token.len());
                // The parser does not know them: a type that gcc does not have stands for them.
                let sign = if token == "__uint128_t" { "unsigned " } else { "" };
                insertions.push((start, format!("{sign}_Float128x ").into()));
            }
            "__complex__" | "__complex" => {
                blank(&mut out, start, start + token.len());
                insertions.push((start, "_Complex ".into()));
            }
            "__real__" | "__real" | "__imag__" | "__imag" => {
                // The parser does not know these operators: others, which no program has in this
                // order, stand for them.
                blank(&mut out, start, start + token.len());
                let sign = if token.starts_with("__real") { '+' } else { '-' };
                insertions.push((start, format!("*{sign}!~ ").into()));
            }
            "__attribute__" | "__attribute" if matches!(previous, "struct" | "union" | "enum") => {
                // Between the word and the name: what it says is read from the text.
                let end = tokens.parentheses();
                blank(&mut out, start, end);
                continue;
            }
            "__attribute__" | "__attribute" if matches!(previous, ":" | ";" | "{" | "}") => {
                let end = tokens.parentheses();
                let rest = text[end..].trim_start();
                // In front of a statement or `;`. In front of a declaration it stays: the parser
                // knows it there.
                if previous == ":" || rest.starts_with(';') {
                    blank(&mut out, start, end);
                }
                continue;
            }
            "_Alignof" | "__alignof__" | "__alignof" => {
                // Of a type or of a value: `typeof` makes both a type.
                let mut rest = Tokens { text, at: tokens.at };
                let open = rest.next().filter(|(_, token)| *token == "(");
                let end = Tokens { text, at: tokens.at }.parentheses();
                if let Some((open, _)) = open {
                    insertions.push((open + 1, "__typeof(".into()));
                    insertions.push((end - 1, ")".into()));
                }
            }
            "__builtin_convertvector" => {
                if let Some((_, comma, close)) = (Tokens { text, at: tokens.at }).two_arguments() {
                    insertions.push((comma + 1, "sizeof(__typeof(".into()));
                    insertions.push((close, "))".into()));
                }
            }
            "__builtin_types_compatible_p" => {
                // Two types as arguments: `sizeof` makes them expressions.
                if let Some((open, comma, close)) = (Tokens { text, at: tokens.at }).two_arguments() {
                    for (from, to) in [(open + 1, comma), (comma + 1, close)] {
                        insertions.push((from, "sizeof(__typeof(".into()));
                        insertions.push((to, "))".into()));
                    }
                }
            }
            "&" if text[start..].starts_with("&&")
                && (is_operator(before, previous) || (previous == ")" && is_cast)) =>
            {
                // GNU: `&&label`
                let mut rest = Tokens { text, at: start + 2 };
                if let Some((at, name)) = rest.next().filter(|(_, name)| is_plain_word(name)) {
                    blank(&mut out, start, start + 2);
                    insertions.push((at, format!("{LABEL}(\"").into()));
                    insertions.push((at + name.len(), "\")".into()));
                    tokens.at = rest.at;
                    (earlier, before, previous) = (before, previous, name);
                    continue;
                }
            }
            "goto" => {
                // GNU: `goto *e;`
                let mut rest = Tokens { text, at: tokens.at };
                if let Some((star, _)) = rest.next().filter(|(_, next)| *next == "*") {
                    if let Some((end, _)) = rest.find(|(_, token)| *token == ";") {
                        blank(&mut out, start, star + 1);
                        insertions.push((star + 1, format!("{GOTO_ANY}(").into()));
                        jump_ends = Some(end);
                        tokens.at = star + 1;
                        previous = "(";
                        continue;
                    }
                }
            }
            "?" => {
                questions += 1;
                let next = (Tokens { text, at: tokens.at }).next();
                if let Some((at, ":")) = next {
                    insertions.push((at, LEFT_OUT.into()));
                }
            }
            "__auto_type" => {
                // The type is that of the initial value.
                if let Some((from, to)) = (Tokens { text, at: tokens.at }).initial_value() {
                    blank(&mut out, start, start + token.len());
                    insertions.push((start, "__typeof(".into()));
                    insertions.push((start, text[from..to].into()));
                    insertions.push((start, ") ".into()));
                }
            }
            ":" if questions > 0 => {
                questions -= 1;
                (earlier, before, previous) = (before, previous, "?:");
                continue;
            }
            ";" => {
                questions = 0;
                // Behind what the operand itself became.
                insertions.extend(jump_ends.take().filter(|end| *end == start).map(|end| (end, ")".into())));
            }
            "__label__" => {
                // GNU: labels of a block. Those of a function have different names mostly.
                let end = (Tokens { text, at: start }).find(|(_, token)| *token == ";");
                if let Some((end, _)) = end {
                    blank(&mut out, start, end);
                    tokens.at = end;
                    continue;
                }
            }
            "(" if top && is_named_in_parentheses(text, tokens.at, previous) => {
                // `T (f)(T x)`: the parser takes `T` for the name.
                let mut rest = Tokens { text, at: tokens.at };
                if let (Some(_), Some((close, _))) = (rest.next(), rest.next()) {
                    blank(&mut out, start, start + 1);
                    blank(&mut out, close, close + 1);
                    tokens.at = start + 1;
                    let name = tokens.next().map_or(previous, |(_, name)| name);
                    tokens.at = close + 1;
                    (earlier, before, previous) = (before, previous, name);
                    continue;
                }
            }
            "(" if top && is_plain_word(previous) => {
                // `T (f(T x)) { … }`: the parser takes it for something else.
                if let Some(close) = declarator_in_parentheses(text, tokens.at) {
                    blank(&mut out, start, start + 1);
                    blank(&mut out, close, close + 1);
                    continue;
                }
                if (Tokens { text, at: tokens.at }).next().is_none_or(|(_, next)| next != "*")
                    && starts_external(before, earlier, body && at_top)
                {
                    let word = previous.as_ptr() as usize - text.as_ptr() as usize;
                    insertions.push((word, "int ".into()));
                }
                depth += 1;
                heads.push(starts_literal(previous));
            }
            "{" if previous == ")" && is_literal_head => {
                // GNU: `(T){}`
                if let Some((at, "}")) = (Tokens { text, at: tokens.at }).next() {
                    insertions.push((at, NOTHING.into()));
                }
                questions = 0;
                depth += 1;
                heads.push(false);
            }
            "{" | "(" => {
                if top && token == "{" {
                    body = matches!(previous, ")" | ";");
                }
                questions = if token == "{" { 0 } else { questions };
                depth += 1;
                heads.push(token == "(" && starts_literal(previous));
            }
            "}" | ")" => {
                if token == "}" && previous == ":" {
                    // A label at the end of a block.
                    insertions.push((start, ";".into()));
                }
                depth = depth.saturating_sub(1);
                is_literal_head = heads.pop().unwrap_or(false);
                questions = if token == "}" { 0 } else { questions };
                at_top = token == "}" && depth == 0;
            }
            "_Static_assert" => {
                // The message may be left out.
                let end = Tokens { text, at: tokens.at }.parentheses();
                let two = Tokens { text, at: tokens.at }.two_arguments();
                if two.is_none() && text[tokens.at..end].ends_with(')') {
                    insertions.push((end - 1, ", \"\"".into()));
                }
            }
            _ if token.starts_with(['"', '\'']) && (token.contains("\\u") || token.contains("\\U")) => {
                let prefix = if text[..start].ends_with(previous) { previous } else { "" };
                for (at, new) in universal(token, matches!(prefix, "L" | "u" | "U")) {
                    let old = if token.as_bytes()[at + 1] == b'u' { 6 } else { 10 };
                    out[start + at..start + at + old].copy_from_slice(&new.as_bytes()[..old]);
                    insertions.push((start + at + old, new[old..].to_owned().into()));
                }
            }
            _ if token.starts_with(['"', '\'']) && token.contains("\\e") => {
                // GNU: `\e` is the character 033.
                for at in escapes(token) {
                    out[start + at] = b'0';
                    insertions.push((start + at + 1, "33".into()));
                }
            }
            _ if token.starts_with('#') => {
                let end = text[start..].find('\n').map_or(text.len(), |i| start + i);
                blank(&mut out, start, end);
                tokens.at = end;
                continue;
            }
            _ => {}
        }
        if is_storage(token) {
            let after_body = previous == "}" && top && body && at_top;
            bare = bare || matches!(previous, ";" | "{") || after_body;
            let mut rest = Tokens { text, at: tokens.at };
            let name = rest.next().filter(|(_, name)| bare && is_plain_word(name) && !is_storage(name));
            if let (Some((at, _)), Some((_, "=" | ";" | "," | "["))) = (name, rest.next()) {
                insertions.push((at, "int ".into()));
            }
        } else {
            bare = false;
        }
        if previous == ":" && depth > 0 && starts_declaration(token) {
            insertions.push((start, ";".into()));
        }
        (earlier, before, previous) = (before, previous, token);
    }
    let blanked = String::from_utf8(out).unwrap_or_else(|_| text.to_owned());
    insert(&blanked, insertions)
}

/// A text with words put in at places.
pub(crate) fn insert<W: AsRef<str>>(original: &str, mut insertions: Vec<(usize, W)>) -> Rewritten {
    insertions.sort_by_key(|(at, _)| *at);
    let (mut text, mut added, mut done) = (String::with_capacity(original.len()), Vec::new(), 0);
    for (at, word) in insertions {
        let word = word.as_ref();
        text.push_str(&original[done..at]);
        added.push((text.len(), word.len()));
        text.push_str(word);
        done = at;
    }
    text.push_str(&original[done..]);
    Rewritten { text, added }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::c::tokens::without_comments;

    fn text(text: &str) -> String {
        rewrite(text).text
    }

    #[test]
    fn functions_without_a_type_return_int() {
        assert_eq!(text("main() { f(); }"), "int main() { f(); }");
        assert_eq!(text("extern f(); int g() { } h(a) { }"), "extern int f(); int g() { } int h(a) { }");
        assert_eq!(text("struct s { int x; } f(void);"), "struct s { int x; } f(void);");
        assert_eq!(text("static x = 1; extern const y;"), "static int x = 1; extern const int y;");
        assert_eq!(
            text("int const x = 1; struct { int a; } const t[] = {1};"),
            "int const x = 1; struct { int a; } const t[] = {1};"
        );
        assert_eq!(text("f() { auto i = 3; register T j; }"), "int f() { auto int i = 3; register T j; }");
    }

    #[test]
    fn declarations_behind_labels_get_an_empty_statement() {
        assert_eq!(text("{ l: int x; }"), "{ l: ;int x; }");
        assert_eq!(text("{ case 1: int x; }"), "{ case 1: ;int x; }");
        assert_eq!(text("{ x = a ? b : c; }"), "{ x = a ? b : c; }");
        assert_eq!(text("struct s { int a : 3; };"), "struct s { int a : 3; };");
    }

    #[test]
    fn words_without_meaning_are_blanked() {
        assert_eq!(text("__extension__ int x;"), "              int x;");
        assert_eq!(
            text("case 1: __attribute__((fallthrough)); x"),
            "case 1:                             ; x"
        );
        assert_eq!(text("#pragma pack\nint x;"), "            \nint x;");
    }

    #[test]
    fn comments_become_blanks() {
        assert_eq!(without_comments("a /* b\nc */ d // e\n\"/*\""), "a     \n     d     \n\"/*\"");
    }
}
