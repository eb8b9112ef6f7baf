//! From files to parsed translation units.

use std::ffi::OsString;
use std::fs;
use std::path::Path;
use std::process::Command;

use lang_c::ast::TranslationUnit;
use lang_c::driver::{Config, Flavor, parse_preprocessed};
use wherefore_program::Span;

use super::lines::{LineTable, Sources};
use super::problem::Problem;
use super::rewrite::{rewrite, without_comments};
use crate::diagnostics::LoadError;

/// A parsed file with the way back to its source.
pub(crate) struct Unit {
    pub(crate) lines: LineTable,
    pub(crate) tree: TranslationUnit,
}

/// What a file is before it is parsed.
pub(crate) struct Text {
    lines: LineTable,
    text: String,
}

/// Reads a file: `.i` as it is, others through the preprocessor.
pub(crate) fn read(path: &Path, arguments: &[String], sources: &mut Sources) -> Result<Text, LoadError> {
    let file = path.display().to_string();
    let bytes = fs::read(path).map_err(|error| LoadError::Io { file: file.clone(), error })?;
    let original = String::from_utf8_lossy(&bytes).into_owned();
    let main = sources.add(&file, &original);
    if path.extension().is_some_and(|extension| extension == "i") {
        let text = rewrite(&without_comments(&original));
        return Ok(Text { lines: LineTable::identity(main, &original), text });
    }
    let text = preprocess(path, arguments)?;
    let lines = LineTable::with_markers(main, &text);
    Ok(Text { lines, text: rewrite(&text) })
}

/// A text of our own: it needs no preprocessor.
pub(crate) fn own(name: &str, text: &str, sources: &mut Sources) -> Text {
    let main = sources.add(name, text);
    Text { lines: LineTable::identity(main, text), text: rewrite(&without_comments(text)) }
}

fn preprocess(path: &Path, arguments: &[String]) -> Result<String, LoadError> {
    let compiler = std::env::var_os("CC").filter(|cc| !cc.is_empty()).unwrap_or_else(|| OsString::from("cc"));
    let file = path.display().to_string();
    let output = Command::new(&compiler).arg("-E").args(arguments).arg(path).output().map_err(|error| {
        let message = format!("the preprocessor `{}` cannot be run: {error}", compiler.display());
        LoadError::Io { file: file.clone(), error: std::io::Error::new(error.kind(), message) }
    })?;
    if !output.status.success() {
        let message = String::from_utf8_lossy(&output.stderr).trim().to_owned();
        let error = std::io::Error::other(format!("the preprocessor failed:\n{message}"));
        return Err(LoadError::Io { file, error });
    }
    Ok(String::from_utf8_lossy(&output.stdout).into_owned())
}

/// Parses a text.
pub(crate) fn parse(text: Text, sources: &mut Sources) -> Result<Unit, Problem> {
    let Text { lines, text } = text;
    let config = Config { cpp_command: String::new(), cpp_options: Vec::new(), flavor: Flavor::GnuC11 };
    match parse_preprocessed(&config, text) {
        Ok(parsed) => Ok(Unit { lines, tree: parsed.unit }),
        Err(error) => {
            let rest = &error.source[error.offset.min(error.source.len())..];
            let word = rest.len() - rest.trim_start_matches(|c: char| c.is_alphanumeric() || c == '_').len();
            let length = if word > 0 { word } else { rest.chars().next().map_or(0, char::len_utf8) };
            let span: Span = lines.span(sources, error.offset, error.offset + length);
            let message = match &rest[..length] {
                "" => "syntax error at the end of the file".to_owned(),
                token => format!("syntax error at `{token}`"),
            };
            Err(Problem::new(span, message))
        }
    }
}
