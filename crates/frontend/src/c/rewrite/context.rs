//! What a token can be where it stands.

use crate::c::tokens::Tokens;

/// Whether a token can stand in front of a name that is declared without a type.
pub(super) fn is_storage(token: &str) -> bool {
    matches!(token, "static" | "extern" | "auto" | "register" | "const" | "volatile")
}

/// Whether what follows two tokens is an operand, so that `&&` is no operator of two. Behind `x--`
/// and `x++` it is one.
pub(super) fn is_operator(before: &str, previous: &str) -> bool {
    match previous {
        "=" | "(" | "," | "{" | "[" | "?" | "?:" | "return" | "!" | "<" | ">" | "|" => true,
        "-" | "+" => before != previous,
        _ => false,
    }
}

/// Whether a parenthesis that opens here holds a type that begins with a word of the language, and
/// is a cast: not the operand of `sizeof` and the like.
pub(super) fn opens_cast(text: &str, at: usize, previous: &str) -> bool {
    const OF_TYPES: [&str; 8] = [
        "sizeof",
        "_Alignof",
        "__alignof__",
        "__alignof",
        "_Alignas",
        "_Atomic",
        "__builtin_types_compatible_p",
        "__attribute__",
    ];
    let word = Tokens { text, at }.next().map_or("", |(_, word)| word);
    starts_declaration(word) && !OF_TYPES.contains(&previous) && !is_plain_word(previous)
}

/// Whether a parenthesis behind this token may start a compound literal.
pub(super) fn starts_literal(previous: &str) -> bool {
    matches!(
        previous,
        "=" | "("
            | ","
            | "return"
            | "&"
            | "?"
            | "?:"
            | ":"
            | "{"
            | "+"
            | "-"
            | "*"
            | "!"
            | "|"
            | "^"
            | "["
            | ";"
    )
}

/// Whether a parenthesis holds just the name of a function: `T (f)(T x)`.
pub(super) fn is_named_in_parentheses(text: &str, at: usize, previous: &str) -> bool {
    let mut rest = Tokens { text, at };
    let name = rest.next().is_some_and(|(_, name)| is_plain_word(name));
    let close = rest.next().is_some_and(|(_, token)| token == ")");
    let open = rest.next().is_some_and(|(_, token)| token == "(");
    name && close && open && (is_plain_word(previous) || previous == "*")
}

/// Where a parenthesis closes that holds the head of a function: `T (f(T x)) { … }`.
pub(super) fn declarator_in_parentheses(text: &str, at: usize) -> Option<usize> {
    let mut rest = Tokens { text, at };
    rest.next().filter(|(_, name)| is_plain_word(name))?;
    let after = rest.at;
    rest.next().filter(|(_, token)| *token == "(")?;
    rest.at = after;
    rest.at = rest.parentheses();
    let (close, _) = rest.next().filter(|(_, token)| *token == ")")?;
    rest.next().filter(|(_, token)| *token == "{").map(|_| close)
}

/// Whether what stands in front of a name says that a declaration without a type starts there.
pub(super) fn starts_external(before: &str, earlier: &str, after_body: bool) -> bool {
    match before {
        ";" => true,
        "}" => after_body,
        "extern" | "static" => matches!(earlier, ";" | "}"),
        _ => false,
    }
}

/// Whether a token is a name and no word of the language.
pub(super) fn is_plain_word(token: &str) -> bool {
    const WORDS: [&str; 18] = [
        "typeof",
        "__typeof__",
        "__typeof",
        "asm",
        "__asm__",
        "__asm",
        "_Static_assert",
        "__attribute__",
        "__attribute",
        "_Alignas",
        "_Atomic",
        "sizeof",
        "return",
        "if",
        "while",
        "for",
        "switch",
        "__declspec",
    ];
    token.starts_with(|c: char| c.is_ascii_alphabetic() || c == '_')
        && !WORDS.contains(&token)
        && !starts_declaration(token)
}

pub(super) fn starts_declaration(token: &str) -> bool {
    matches!(
        token,
        "int"
            | "char"
            | "short"
            | "long"
            | "unsigned"
            | "signed"
            | "float"
            | "double"
            | "void"
            | "struct"
            | "union"
            | "enum"
            | "_Bool"
            | "const"
            | "static"
            | "volatile"
            | "register"
            | "extern"
    )
}
