//! Why a text cannot be checked, place by place.

use std::path::{Path, PathBuf};

use wherefore_frontend::LoadError;
use wherefore_lsp::Mistake;

use crate::exit::CliError;

/// What is wrong with the options that the editor gives.
pub fn of_options(error: &clap::Error) -> Vec<Mistake> {
    let text = error.render().to_string();
    let first = text.lines().next().unwrap_or_default();
    let message = format!("wherefore is given options that it does not take: {}", first.trim());
    vec![Mistake { start: (1, 0), message, is_advice: true, ..Mistake::default() }]
}

/// What is wrong with a program. `holder` holds the text of `file` if it was not saved.
pub fn of_error(error: &CliError, file: &Path, holder: Option<&Path>) -> Vec<Mistake> {
    match error {
        CliError::Load(LoadError::Invalid { diagnostics }) => {
            let of = |one: &wherefore_frontend::Diagnostic| {
                let number = |number: usize| u32::try_from(number).unwrap_or(u32::MAX);
                let start = (number(one.error.line), number(one.error.column));
                Mistake {
                    file: Some(known_as(Path::new(&one.file), file, holder)),
                    start,
                    end: 0,
                    message: one.error.message.clone(),
                    is_advice: false,
                }
            };
            diagnostics.iter().map(of).collect()
        }
        CliError::Load(LoadError::Io { error, .. }) => {
            let text = error.to_string();
            let found: Vec<Mistake> =
                text.lines().filter_map(|line| of_compiler(line, file, holder)).collect();
            if found.is_empty() { whole(text, false) } else { found }
        }
        CliError::Question { message, .. } => whole(message.clone(), true),
        CliError::NotDecided { answer } => whole(answer.trim_end().to_owned(), true),
        other => whole(other.to_string(), false),
    }
}

fn whole(message: String, is_advice: bool) -> Vec<Mistake> {
    vec![Mistake { start: (1, 0), message, is_advice, ..Mistake::default() }]
}

fn known_as(name: &Path, file: &Path, holder: Option<&Path>) -> PathBuf {
    if holder == Some(name) { file.to_owned() } else { super::known_as(name, file) }
}

/// An error of the preprocessor: `file:line:column: error: words`.
fn of_compiler(line: &str, file: &Path, holder: Option<&Path>) -> Option<Mistake> {
    let (place, message) = ["fatal error: ", "error: "].iter().find_map(|word| line.split_once(word))?;
    let mut parts = place.trim_end_matches([' ', ':']).rsplitn(3, ':');
    let (last, middle, first) = (parts.next()?, parts.next()?, parts.next());
    let (name, start) = match (first, middle.parse::<u32>(), last.parse::<u32>()) {
        (Some(name), Ok(line), Ok(column)) => (name.to_owned(), (line, column)),
        // Without a column, the whole line.
        (Some(name), Err(_), Ok(line)) => (format!("{name}:{middle}"), (line, 0)),
        (None, _, Ok(line)) => (middle.to_owned(), (line, 0)),
        _ => return None,
    };
    Some(Mistake {
        file: Some(known_as(Path::new(&name), file, holder)),
        start,
        end: 0,
        message: message.trim().to_owned(),
        is_advice: false,
    })
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn errors_of_the_preprocessor_have_places() {
        let (file, holder) = (Path::new("/real/a.c"), Path::new("/tmp/x/a.c"));
        let of =
            |line: &str| of_compiler(line, file, Some(holder)).map(|one| (one.file, one.start, one.message));
        let found = of("/tmp/x/a.c:3:10: fatal error: no.h: No such file or directory");
        assert_eq!(found, Some((Some(file.into()), (3, 10), "no.h: No such file or directory".into())));
        let found = of("/inc/a.h:7: error: #error bad");
        assert_eq!(found, Some((Some("/inc/a.h".into()), (7, 0), "#error bad".into())));
        assert_eq!(of("In file included from /tmp/x/a.c:1:"), None);
        assert_eq!(of("cc: fatal error: no input files"), None);
    }
}
