//! From a file to a program, in whichever language it is.

use std::fs;
use std::path::Path;

use wherefore_program::Program;

use crate::boolean;
use crate::c;
use crate::diagnostics::{Diagnostic, LoadError};
use crate::remopla;
use wherefore_pushdown::ParseError;

/// The languages that programs are written in.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
#[non_exhaustive]
pub enum Language {
    /// Boolean programs, `.bp`.
    Boolean,
    /// Remopla, `.rem`.
    Remopla,
    /// C, `.c`, or `.i` if it is preprocessed.
    C,
    /// Cimple, `.cimple`: a small C with free choices.
    Cimple,
}

impl Language {
    /// The language that the name of a file stands for.
    pub fn of(path: &Path) -> Option<Language> {
        match path.extension()?.to_str()? {
            "bp" => Some(Language::Boolean),
            "rem" => Some(Language::Remopla),
            "c" | "i" => Some(Language::C),
            "cimple" => Some(Language::Cimple),
            _ => None,
        }
    }

    /// Reads a text in this language; C must be preprocessed. `name` is for messages; execution starts at `entry` if it is given.
    pub fn parse(self, name: &str, text: &str, entry: Option<&str>) -> Result<Program, LoadError> {
        match self {
            Language::Boolean => boolean::parse(name, text, entry),
            Language::Remopla => remopla::parse(name, text, entry),
            Language::C => Ok(c::translate_text(name, text, &c_options(entry))?.program),
            Language::Cimple => Ok(c::translate_cimple(name, text, &c_options(entry))?.program),
        }
    }
}

fn c_options(entry: Option<&str>) -> c::Options {
    let entry = entry.unwrap_or("main").to_owned();
    c::Options { entry, ..c::Options::default() }
}

/// Reads a program from a file in the language that its name stands for. [`c::translate`] says more about C.
///
/// ```no_run
/// let program = wherefore_frontend::load("driver.bp", None)?;
/// print!("{}", program.listing());
/// # Ok::<(), wherefore_frontend::LoadError>(())
/// ```
pub fn load(path: impl AsRef<Path>, entry: Option<&str>) -> Result<Program, LoadError> {
    let path = path.as_ref();
    let file = path.display().to_string();
    let Some(language) = Language::of(path) else { return Err(LoadError::UnknownLanguage { file }) };
    if matches!(language, Language::C | Language::Cimple) {
        return Ok(c::translate(&[path.to_owned()], &c_options(entry))?.program);
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
    language.parse(&file, text.strip_prefix('\u{feff}').unwrap_or(&text), entry)
}
