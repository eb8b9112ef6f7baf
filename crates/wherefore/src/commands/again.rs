//! How to get an answer again: the command that asked, with the engine that answered.

use std::ffi::OsStr;

/// The command line of this process; `engine` is added if the user left the choice open.
pub fn command(engine: Option<&str>) -> String {
    let given: Vec<String> = std::env::args_os().skip(1).map(|word| quoted(&word)).collect();
    let open = !given.iter().any(|word| word == "--engine" || word.starts_with("--engine="));
    let chosen = engine.filter(|_| open).map(|engine| format!(" --engine {engine}")).unwrap_or_default();
    format!("wherefore {}{chosen}", given.join(" "))
}

/// A word as a shell reads it.
fn quoted(word: &OsStr) -> String {
    let word = word.to_string_lossy();
    let plain = |c: char| c.is_alphanumeric() || "-_=+./,:@%".contains(c);
    if !word.is_empty() && word.chars().all(plain) {
        return word.into_owned();
    }
    format!("'{}'", word.replace('\'', r"'\''"))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn words_are_quoted_where_a_shell_would_read_them_otherwise() {
        for (word, expected) in
            [("a.c", "a.c"), ("a b", "'a b'"), ("it's", r"'it'\''s'"), ("", "''"), ("$x", "'$x'")]
        {
            assert_eq!(quoted(OsStr::new(word)), expected);
        }
    }
}
