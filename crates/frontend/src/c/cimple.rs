//! Cimple: the small C of \[Focus\], read as C after small rewritings that keep every line where it
//! is.
//!
//! - `if (*)`, `while (*)` and `for (; *; )` are free choices; `x = *;` gives any value.
//! - `bool`, `true` and `false` are known. Functions may be called above their definitions.
//! - `error = true;` is where a run fails, and so is `error = 1;`. What fails in C fails here too.
//! - Variables without an initial value hold any value, globals too
//!   ([`super::Uninitialised::Any`]).
//! - There is no preprocessor: lines with directives are not looked at.

use std::borrow::Cow;
use std::path::Path;

use super::rewrite::{Rewritten, insert};
use super::tokens::{Tokens, blank};
use super::{ErrorLabels, Options, Uninitialised};

/// Whether the name of a file says that it is Cimple.
pub fn is_cimple(path: &Path) -> bool {
    path.extension().is_some_and(|extension| extension == "cimple")
}

/// The options for programs with Cimple among their files.
pub(crate) fn options(options: &Options) -> Options {
    // A label that is asked about stays one.
    let error_labels = match options.error_labels {
        ErrorLabels::OnlyAsked => ErrorLabels::Usual,
        other => other,
    };
    Options { globals: Uninitialised::Any, error_labels, ..options.clone() }
}

/// What is declared above a program that mentions the name.
const DECLARED: [(&str, &str); 5] = [
    ("bool", "typedef _Bool bool; "),
    ("true", "enum { true = 1 }; "),
    ("false", "enum { false = 0 }; "),
    ("exit", "extern void exit(int); "),
    ("assert", "extern void assert(int); "),
];

/// A text without comments as C.
pub(crate) fn rewrite(text: &str) -> Rewritten {
    let mut out = text.as_bytes().to_vec();
    let tokens = without_directives(text, &mut out);
    let mut insertions: Vec<(usize, Cow<'static, str>)> = Vec::new();
    let mut head =
        String::from("extern _Bool __VERIFIER_nondet_bool(void); extern int __VERIFIER_nondet_int(void); ");
    head.push_str("extern void reach_error(void); ");
    for (name, declaration) in DECLARED {
        if tokens.iter().any(|(_, token)| *token == name) && !is_declared(&tokens, name) {
            head.push_str(declaration);
        }
    }
    insertions.push((0, Cow::Owned(head)));
    let words = |at: usize| -> [&str; 5] {
        std::array::from_fn(|i| tokens.get(at + i).map_or("", |(_, token)| *token))
    };
    for (at, (start, token)) in tokens.iter().enumerate() {
        let before = at.checked_sub(1).map_or(";", |i| tokens[i].1);
        match (*token, words(at)) {
            ("*", [_, ")", ..]) if before == "(" && at > 1 && matches!(tokens[at - 2].1, "if" | "while") => {
                choose(&mut out, &mut insertions, *start, "_VERIFIER_nondet_bool()");
            }
            ("*", [_, ";", ..]) if before == ";" => {
                choose(&mut out, &mut insertions, *start, "_VERIFIER_nondet_bool()");
            }
            ("*", [_, ";", ..]) if before == "=" => {
                choose(&mut out, &mut insertions, *start, "_VERIFIER_nondet_int()");
            }
            ("error", [_, "=", "true" | "1", ";", _]) if starts_statement(before) => {
                // The call stands exactly where the statement stood.
                let (value, word) = tokens[at + 2];
                blank(&mut out, *start, value + word.len());
                out[*start] = b'r';
                out[value + word.len() - 1] = b')';
                insertions.push((start + 1, Cow::Borrowed("each_error(")));
            }
            _ => {}
        }
    }
    insertions.extend(prototypes(text, &tokens));
    let blanked = String::from_utf8(out).unwrap_or_else(|_| text.to_owned());
    insert(&blanked, insertions)
}

/// The tokens outside directives; these are blanked.
fn without_directives<'t>(text: &'t str, out: &mut [u8]) -> Vec<(usize, &'t str)> {
    let mut tokens = Tokens { text, at: 0 };
    let mut found = Vec::new();
    while let Some((start, token)) = tokens.next() {
        if token == "#" {
            let end = text[start..].find('\n').map_or(text.len(), |i| start + i);
            blank(out, start, end);
            tokens.at = end;
        } else {
            found.push((start, token));
        }
    }
    found
}

/// Puts a call where a `*` stands, which becomes its first letter.
fn choose(out: &mut [u8], insertions: &mut Vec<(usize, Cow<'static, str>)>, at: usize, rest: &'static str) {
    out[at] = b'_';
    insertions.push((at + 1, Cow::Borrowed(rest)));
}

fn starts_statement(before: &str) -> bool {
    matches!(before, ";" | "{" | "}" | ")" | "else" | "do" | ":")
}

/// Whether a program says itself what a name is: `typedef … bool;`, `enum { … true … }`, or a
/// function of the name.
fn is_declared(tokens: &[(usize, &str)], name: &str) -> bool {
    let declares = |pair: &[(usize, &str)]| {
        pair[1].1 == name && (is_word(pair[0].1) && !matches!(pair[0].1, "return" | "else" | "do"))
    };
    let types = ["typedef", "enum"];
    let mentions = |at: usize| {
        let until = tokens[at..].iter().position(|(_, token)| *token == ";").map_or(tokens.len(), |i| at + i);
        tokens[at..until].iter().any(|(_, token)| *token == name)
    };
    let defined = tokens.iter().enumerate().any(|(at, (_, token))| types.contains(token) && mentions(at));
    defined || (matches!(name, "exit" | "assert") && tokens.windows(2).any(declares))
}

fn is_word(token: &str) -> bool {
    token.starts_with(|c: char| c.is_ascii_alphabetic() || c == '_')
}

/// Declarations of all functions in front of the first one.
fn prototypes(text: &str, tokens: &[(usize, &str)]) -> Option<(usize, Cow<'static, str>)> {
    let (mut depth, mut declaration) = (0_usize, 0);
    let (mut first, mut all) = (None, String::new());
    for (at, (start, token)) in tokens.iter().enumerate() {
        let is_body = *token == "{" && depth == 0 && at > 0 && tokens[at - 1].1 == ")";
        if is_body && at > declaration + 3 && tokens[declaration..at].iter().all(|(_, token)| is_part(token))
        {
            let begin = tokens[declaration].0;
            // Two words in front of the parenthesis: a type and a name.
            if is_word(tokens[declaration + 1].1) || tokens[declaration + 1].1 == "*" {
                first.get_or_insert(begin);
                all.push_str(&text[begin..*start].split_whitespace().collect::<Vec<_>>().join(" "));
                all.push_str("; ");
            }
        }
        match *token {
            "{" | "(" => depth += 1,
            "}" | ")" => depth = depth.saturating_sub(1),
            _ => {}
        }
        if depth == 0 && matches!(*token, ";" | "}") {
            declaration = at + 1;
        }
    }
    first.map(|at| (at, Cow::Owned(all)))
}

/// Whether a token can stand in the head of a function.
fn is_part(token: &str) -> bool {
    is_word(token)
        || matches!(token, "*" | "(" | ")" | "," | "[" | "]")
        || token.starts_with(|c: char| c.is_ascii_digit())
}

#[cfg(test)]
mod tests {
    use wherefore_program::{LocationKind, TargetChoice};

    use super::super::{Translation, translate_cimple};
    use super::*;

    fn read(text: &str) -> Translation {
        translate_cimple("test.cimple", text, &Options::default())
            .unwrap_or_else(|error| panic!("{}", error.render()))
    }

    #[test]
    fn the_failing_statement_keeps_its_place() {
        let program = read("bool error;\nint main() {\n  if (*)\n    error = true;\n}\n").program;
        let targets = program.targets(&TargetChoice::Default).unwrap();
        let [site] = &targets[..] else { panic!("{targets:?}") };
        let location = program.location(site.node);
        assert_eq!(location.kind, LocationKind::Error);
        assert_eq!(program.source(location.span).slice(location.span), "error = true");
        assert_eq!(program.line(site.node), Some(4));
        let heads =
            program.nodes().map(|node| program.location(node)).filter(|l| l.kind == LocationKind::Branch);
        let heads: Vec<&str> =
            heads.map(|location| program.source(location.span).slice(location.span)).collect();
        assert_eq!(heads, ["if (*)"]);
    }

    #[test]
    fn globals_without_a_value_hold_any_value() {
        let program = read("int x, y = 3; bool z; int main() { return x; }").program;
        let initial = |name: &str| program.globals.iter().find(|one| one.name == name).map(|one| one.initial);
        assert_eq!((initial("x"), initial("z")), (Some(None), None));
        let program = read("int x, y = 3; int main() { return x + y; }").program;
        let initial: Vec<Option<u64>> = program.globals.iter().map(|one| one.initial).collect();
        assert_eq!(initial, [None, Some(3)]);
    }

    #[test]
    fn functions_are_known_above_their_definitions() {
        let program =
            read("int main() { int x = twice(2); return x; }\nint twice(int n) {\n  return n + n; }\n")
                .program;
        assert!(program.find_procedure("twice").is_some());
    }

    #[test]
    fn mistakes_show_the_text_that_was_written() {
        let text = "int main() {\n  bool error;\n  if (*) {\n    error = true;\n    x = 1; }\n}\n";
        let error = translate_cimple("test.cimple", text, &Options::default()).unwrap_err().render();
        assert!(error.contains("test.cimple:5:5") && error.contains("    x = 1; }"), "{error}");
    }

    #[test]
    fn own_declarations_of_known_names_are_kept() {
        read(
            "typedef int bool; enum { false, true }; void exit(int x) { } int main() { bool b = true; exit(b); }",
        );
        read("#include <stdbool.h>\nint main() { bool b = *; for (; *; ) b = !b; exit(0); }");
    }
}
