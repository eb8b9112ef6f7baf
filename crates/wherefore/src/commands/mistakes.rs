//! Mistakes that people make with what they give to a command, and the way out: a forgotten `;`, a
//! program without `main`, a file of another kind.

use std::io::ErrorKind;
use std::path::{Path, PathBuf};

use wherefore_frontend::c::{self, Options};
use wherefore_frontend::{Diagnostic, LoadError};
use wherefore_program::Procedure;
use wherefore_pushdown::ParseError;

use crate::exit::CliError;

/// Why a file cannot be read, in the words of people.
pub fn unreadable(file: &str, error: &std::io::Error) -> String {
    match error.kind() {
        ErrorKind::NotFound => format!("{file}: there is no such file"),
        ErrorKind::PermissionDenied => format!("{file}: you have no permission to read this file"),
        _ => format!("{file}: the file cannot be read: {error}"),
    }
}

/// What is wrong with a file whose name stands for no language.
pub fn unknown_language(file: &Path) -> CliError {
    let extension = file.extension().and_then(|extension| extension.to_str()).unwrap_or_default();
    let name = file.display();
    let message = match extension {
        _ if !file.exists() => return CliError::Mistake(format!("{name}: there is no such file")),
        "pds" => format!("this is a pushdown system: wherefore pds {name}"),
        "h" => "this is a header: give the .c files that include it".to_owned(),
        "cpp" | "cc" | "cxx" | "C" | "hpp" => "C++ is not supported, only C".to_owned(),
        _ => {
            "unknown language: expected a name that ends in .c or .i (C), .cimple (Cimple), .bp (Boolean program) or .rem (Remopla); C with another name can come from standard input (-)"
                .to_owned()
        }
    };
    CliError::Question { file: name.to_string(), message }
}

/// An error of the front end for C, with a way out where one is known.
pub fn explained(error: LoadError, files: &[PathBuf], options: &Options) -> CliError {
    match &error {
        LoadError::Io { file, error } => return CliError::Mistake(unreadable(file, error)),
        LoadError::Invalid { diagnostics } => {
            if let [only] = diagnostics.as_slice() {
                if only.error.message == format!("there is no function `{}`", options.entry) {
                    return no_entry(files, options);
                }
            }
            let improved: Vec<Option<Diagnostic>> =
                diagnostics.iter().map(|one| missing_semicolon(one, &options.file_of(&one.file))).collect();
            if improved.iter().any(Option::is_some) {
                let diagnostics =
                    diagnostics.iter().zip(improved).map(|(old, new)| new.unwrap_or_else(|| old.clone()));
                return CliError::Load(LoadError::Invalid { diagnostics: diagnostics.collect() });
            }
        }
        _ => {}
    }
    CliError::Load(error)
}

/// How many functions are named.
const MOST_NAMES: usize = 6;

/// There is no function where execution starts: names those where it could.
fn no_entry(files: &[PathBuf], options: &Options) -> CliError {
    let file = files.first().map(|file| options.name_of(file)).unwrap_or_default();
    let names = functions(files, options);
    let mut message = format!("there is no function `{}`", options.entry);
    if let Some(first) = names.first() {
        let shown: Vec<String> = names.iter().take(MOST_NAMES).map(|name| format!("`{name}`")).collect();
        let more = match names.len().saturating_sub(MOST_NAMES) {
            0 => String::new(),
            more => format!(" and {more} more"),
        };
        message.push_str(&format!(
            "; the functions are {}{more}\n  --entry {first}   starts there\n  wherefore harness {file} --entry {first}   writes a `main` that calls it with any arguments",
            shown.join(", ")
        ));
    }
    CliError::Question { file, message }
}

/// The functions that some files define, in their order.
fn functions(files: &[PathBuf], options: &Options) -> Vec<String> {
    let Ok(translation) = c::translate_every_function(files, options) else { return Vec::new() };
    let program = &translation.program;
    let is_given = |name: &str| files.iter().any(|file| options.name_of(file) == name);
    let is_name = |name: &str| name.chars().all(|c| c.is_alphanumeric() || c == '_');
    // Procedures of ours have places, too, but their names are not there.
    let is_written = |procedure: &&Procedure| {
        let source = program.source(procedure.span);
        let head = source.text().get(procedure.span.start as usize..).unwrap_or_default();
        is_given(source.name()) && head.lines().take(3).any(|line| line.contains(procedure.name.as_str()))
    };
    let defined = program.procedures.iter().filter(|procedure| is_name(&procedure.name)).filter(is_written);
    defined.map(|procedure| procedure.name.clone()).collect()
}

/// The error that says that a `;` is missing, at its place, if that is the likely reason of a
/// syntax error: the line before ends in something that a statement can end in, with all of its
/// parentheses closed. `file` holds its text.
fn missing_semicolon(diagnostic: &Diagnostic, file: &Path) -> Option<Diagnostic> {
    let error = &diagnostic.error;
    let token = error.message.strip_prefix("syntax error at `")?.strip_suffix('`')?;
    let bytes = std::fs::read(file).ok()?;
    let text = String::from_utf8_lossy(&bytes).into_owned();
    let end = end_of_the_line_before(&text, error.line, token)?;
    let message = format!("a `;` seems to be missing here, before `{token}` on line {}", error.line);
    Some(Diagnostic { file: diagnostic.file.clone(), error: ParseError::at(&text, end..end + 1, message) })
}

/// Where a statement could end that goes before the first word of a line.
fn end_of_the_line_before(text: &str, line: usize, token: &str) -> Option<usize> {
    let start: usize = text.split_inclusive('\n').take(line.checked_sub(1)?).map(str::len).sum();
    // The error must be about the first word of its line.
    if !text.get(start..)?.trim_start().starts_with(token) {
        return None;
    }
    let mut end = start;
    let last = loop {
        let before = text[..end].trim_end();
        end = before.len();
        let line_start = before.rfind('\n').map_or(0, |at| at + 1);
        let line = &before[line_start..];
        if line.trim_start().starts_with('#') || before.is_empty() {
            return None;
        }
        match line.find("//") {
            Some(at) => end = line_start + at,
            None if line.ends_with("*/") => end = before.rfind("/*")?,
            None => break line,
        }
    };
    let can_end = |c: char| c.is_alphanumeric() || "_)]\"'".contains(c);
    let closes = last.ends_with(can_end) || last.ends_with("++") || last.ends_with("--");
    let is_balanced = last.matches('(').count() == last.matches(')').count();
    // Behind a condition a statement is missing, not its end.
    let first = last.trim_start();
    let is_condition = ["if", "while", "for", "switch", "else", "do"].iter().any(|word| {
        first
            .strip_prefix(word)
            .is_some_and(|rest| !rest.starts_with(|c: char| c.is_alphanumeric() || c == '_'))
    });
    (closes && is_balanced && !is_condition).then_some(end)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_statement_can_end_where_a_line_does() {
        for (text, line, token, expected) in [
            ("int x = 3\nreturn x;", 2, "return", Some(9)),
            ("f(x) // so\n\n  /* and so */\n}", 4, "}", Some(4)),
            ("x = f(1,\n2;", 2, "2", None),
            ("if (x)\n}", 2, "}", None),
            ("x = y +\n;", 2, ";", None),
            ("x = 3;\n)", 2, ")", None),
            ("#define X 3\n)", 2, ")", None),
            ("x = 3 y = 4;\n", 1, "y", None),
            (")", 1, ")", None),
        ] {
            assert_eq!(end_of_the_line_before(text, line, token), expected, "{text}");
        }
    }
}
