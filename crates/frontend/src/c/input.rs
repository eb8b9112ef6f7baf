//! From files to parsed translation units.

use std::ffi::OsString;
use std::fs;
use std::path::Path;
use std::process::Command;

use lang_c::ast::TranslationUnit;
use lang_c::driver::{Config, Flavor, parse_preprocessed};
use wherefore_program::Span;

use super::cimple::{self, is_cimple};
use super::lines::{LineTable, Sources};
use super::problem::Problem;
use super::rewrite::{Rewritten, rewrite, without_comments};
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
    /// A directive that changes the layout of structures.
    pack: Option<usize>,
}

impl Text {
    fn new(lines: LineTable, text: &str) -> Text {
        let pack = text.find("#pragma pack");
        let Rewritten { text, added } = rewrite(text);
        Text { lines: lines.with_added(added), text, pack }
    }
}

/// Reads a file: `.i` and `.cimple` as they are, others through the preprocessor.
pub(crate) fn read(path: &Path, arguments: &[String], sources: &mut Sources) -> Result<Text, LoadError> {
    let file = path.display().to_string();
    let bytes = fs::read(path).map_err(|error| LoadError::Io { file: file.clone(), error })?;
    let original = String::from_utf8_lossy(&bytes).into_owned();
    if is_cimple(path) {
        return Ok(cimple(&file, &original, sources));
    }
    let main = sources.add(&file, &original);
    if path.extension().is_some_and(|extension| extension == "i") {
        return Ok(Text::new(LineTable::identity(main, &original), &without_comments(&original)));
    }
    let text = preprocess(path, arguments)?;
    let lines = LineTable::with_markers(main, &text);
    Ok(Text::new(lines, &text))
}

/// A text of our own: it needs no preprocessor.
pub(crate) fn own(name: &str, text: &str, sources: &mut Sources) -> Text {
    let main = sources.add(name, text);
    Text::new(LineTable::identity(main, text), &without_comments(text))
}

/// A text in Cimple.
pub(crate) fn cimple(name: &str, text: &str, sources: &mut Sources) -> Text {
    let main = sources.add(name, text);
    let Rewritten { text: rewritten, added } = cimple::rewrite(&without_comments(text));
    Text::new(LineTable::identity(main, text).with_added(added), &rewritten)
}

fn preprocess(path: &Path, arguments: &[String]) -> Result<String, LoadError> {
    let compiler = std::env::var_os("CC").filter(|cc| !cc.is_empty()).unwrap_or_else(|| OsString::from("cc"));
    let file = path.display().to_string();
    let output = Command::new(&compiler).arg("-E").args(arguments).arg(path).output().map_err(|error| {
        let message = format!("the preprocessor `{}` cannot be run: {error}", Path::new(&compiler).display());
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
    let Text { lines, text, pack } = text;
    if let Some(at) = pack {
        let span = lines.span(sources, at, at + "#pragma pack".len());
        return Err(Problem::unsupported(span, "`#pragma pack` is"));
    }
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
