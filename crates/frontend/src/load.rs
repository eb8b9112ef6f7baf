//! From a file to a task, in any of the languages.

use std::fs;
use std::path::Path;

use wherefore_program::{Language, TargetChoice, Task};

use crate::boolean;
use crate::c;
use crate::diagnostics::{Diagnostic, LoadError};
use crate::remopla;
use wherefore_pushdown::ParseError;

/// The language that the name of a file stands for.
pub fn language_of(path: &Path) -> Option<Language> {
    match path.extension()?.to_str()? {
        "bp" => Some(Language::Boolean),
        "rem" => Some(Language::Remopla),
        "c" | "i" => Some(Language::C),
        "cimple" => Some(Language::Cimple),
        _ => None,
    }
}

/// Reads a text in a language; C must be preprocessed. `name` is for messages; execution starts at
/// `entry` if it is given.
pub fn parse(language: Language, name: &str, text: &str, entry: Option<&str>) -> Result<Task, LoadError> {
    let program = match language {
        Language::Boolean => boolean::parse(name, text, entry)?,
        Language::Remopla => remopla::parse(name, text, entry)?,
        Language::C => {
            let options = c_options(entry);
            return Ok(c::translate_text(name, text, &options)?.into_task(&[name.into()], &options));
        }
        Language::Cimple => {
            let options = c_options(entry);
            return Ok(c::translate_cimple(name, text, &options)?.into_task(&[name.into()], &options));
        }
        _ => return Err(LoadError::UnknownLanguage { file: name.to_owned() }),
    };
    let checks = program.targets(&TargetChoice::Default).unwrap_or_default();
    Ok(Task::new(program, checks, language))
}

fn c_options(entry: Option<&str>) -> c::Options {
    let entry = entry.unwrap_or("main").to_owned();
    c::Options { entry, ..c::Options::default() }
}

/// Reads a program from a file in the language that its name stands for, with the default checks.
/// [`c::load`] has options for C.
///
/// ```no_run
/// let task = wherefore_frontend::load("driver.bp", None)?;
/// print!("{}", task.program.listing());
/// # Ok::<(), wherefore_frontend::LoadError>(())
/// ```
pub fn load(path: impl AsRef<Path>, entry: Option<&str>) -> Result<Task, LoadError> {
    let path = path.as_ref();
    let file = path.display().to_string();
    let Some(language) = language_of(path) else { return Err(LoadError::UnknownLanguage { file }) };
    if matches!(language, Language::C | Language::Cimple) {
        return c::load(&[path.to_owned()], &c_options(entry));
    }
    let bytes = fs::read(path).map_err(|error| LoadError::Io { file: file.clone(), error })?;
    let text = match String::from_utf8(bytes) {
        Ok(text) => text,
        Err(error) => {
            let at = error.utf8_error().valid_up_to();
            let text = String::from_utf8_lossy(error.as_bytes());
            let error = ParseError::at(&text, at..at + 1, "the file is not text in UTF-8");
            return Err(LoadError::Invalid { diagnostics: vec![Diagnostic { file, error }] });
        }
    };
    parse(language, &file, text.strip_prefix('\u{feff}').unwrap_or(&text), entry)
}
