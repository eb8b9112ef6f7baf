//! The C compiler: `$CC`, which may have flags, else `cc`.

use std::process::Command;

/// The words of `$CC`, as a shell would read them: the compiler, then flags for it.
pub fn words() -> Vec<String> {
    let given = std::env::var_os("CC").map(|cc| cc.to_string_lossy().into_owned());
    let words = split(given.as_deref().unwrap_or_default());
    if words.is_empty() { vec!["cc".to_owned()] } else { words }
}

/// Flags that change what a program means, in ways that are not modelled.
const NOT_MODELLED: [&str; 8] = [
    "-funsigned-char",
    "-fno-signed-char",
    "-funsigned-bitfields",
    "-fshort-enums",
    "-fshort-wchar",
    "-mms-bitfields",
    "-malign-double",
    "-mx32",
];

/// The first of some flags that changes what a program means in a way that is not modelled.
pub fn not_modelled(words: &[String]) -> Option<&str> {
    let is_such = |word: &&String| {
        // With a number behind it, too.
        NOT_MODELLED.contains(&word.as_str()) || word.starts_with("-fpack-struct")
    };
    words.iter().find(is_such).map(String::as_str)
}

/// A command that runs the compiler with its flags.
pub fn command() -> Command {
    let words = words();
    let mut command = Command::new(&words[0]);
    command.args(&words[1..]);
    command
}

/// The words of a command line. Quotes and backslashes keep blanks, as in a shell; nothing else has
/// a meaning.
pub fn split(line: &str) -> Vec<String> {
    let mut words = Vec::new();
    let mut word: Option<String> = None;
    let mut quote: Option<char> = None;
    let mut rest = line.chars();
    while let Some(c) = rest.next() {
        match (quote, c) {
            (Some(open), c) if c == open => quote = None,
            (None, '\'' | '"') => {
                quote = Some(c);
                word.get_or_insert_default();
            }
            (None | Some('"'), '\\') => word.get_or_insert_default().extend(rest.next()),
            (None, c) if c.is_whitespace() => words.extend(word.take()),
            (_, c) => word.get_or_insert_default().push(c),
        }
    }
    words.extend(word);
    words
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn words_are_those_of_a_shell() {
        let cases: [(&str, &[&str]); 6] = [
            ("", &[]),
            ("gcc", &["gcc"]),
            ("  gcc  -m32 ", &["gcc", "-m32"]),
            (r#"cc -DX="a b" '-DY=c d'"#, &["cc", "-DX=a b", "-DY=c d"]),
            (r#"cc -DX=\"s\" a\ b"#, &["cc", "-DX=\"s\"", "a b"]),
            ("cc ''", &["cc", ""]),
        ];
        for (line, expected) in cases {
            assert_eq!(split(line), expected, "{line}");
        }
    }
}
