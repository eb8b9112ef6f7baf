//! From files to parsed translation units.

use std::ffi::OsString;
use std::fs;
use std::io::Write;
use std::path::Path;
use std::process::{Command, Output, Stdio};

use lang_c::ast::TranslationUnit;
use lang_c::driver::{Config, Flavor, parse_preprocessed};
use wherefore_program::{Span, from_bytes, to_bytes};

use super::attributes;
use super::cimple::{self, is_cimple};
use super::lines::{LineTable, Sources};
use super::pragmas::Pragmas;
use super::problem::Problem;
use super::rewrite::{Rewritten, rewrite, without_comments};
use crate::diagnostics::LoadError;

/// A parsed file with the way back to its source.
pub(crate) struct Unit {
    pub(crate) lines: LineTable,
    pub(crate) tree: TranslationUnit,
    /// Whether it was Cimple, with declarations that we have added.
    pub(crate) is_cimple: bool,
    pub(crate) pragmas: Pragmas,
    /// Attributes that may change what the text does, by their places in what was read.
    pub(crate) serious: Vec<(usize, String)>,
}

/// What a file is before it is parsed.
pub(crate) struct Text {
    lines: LineTable,
    text: String,
    pragmas: Pragmas,
    serious: Vec<(usize, String)>,
    is_cimple: bool,
}

impl Text {
    fn new(lines: LineTable, text: &str) -> Text {
        let pragmas = Pragmas::new(text);
        let serious = attributes::serious(text).into_iter().map(|(at, name)| (at, name.to_owned())).collect();
        let Rewritten { text, added } = rewrite(text);
        Text { lines: lines.with_added(added), text, pragmas, serious, is_cimple: false }
    }
}

/// Reads a file: `.i` and `.cimple` as they are, others through the preprocessor.
pub(crate) fn read(path: &Path, arguments: &[String], sources: &mut Sources) -> Result<Text, LoadError> {
    let file = path.display().to_string();
    let bytes = fs::read(path).map_err(|error| LoadError::Io { file: file.clone(), error })?;
    let original = from_bytes(&bytes);
    if is_cimple(path) {
        return Ok(cimple(&file, &original, sources));
    }
    let main = sources.add(&file, &original);
    if path.extension().is_some_and(|extension| extension == "i") {
        return Ok(Text::new(LineTable::identity(main, &original), &without_comments(&original)));
    }
    let text = preprocess(path, without_lost_markers(&original), arguments)?;
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
    Text { is_cimple: true, ..Text::new(LineTable::identity(main, text).with_added(added), &rewritten) }
}

/// The text without its markers `#line 12 "other.c"`, if one of them names a file that is not there: places are then those of the file
/// at hand.
fn without_lost_markers(text: &str) -> Option<String> {
    // What is behind the number of a marker.
    fn marker(line: &str) -> Option<&str> {
        let rest = line.trim_start().strip_prefix('#')?.trim_start();
        let rest = rest.strip_prefix("line").unwrap_or(rest).trim_start();
        let name = rest.trim_start_matches(|c: char| c.is_ascii_digit());
        (name.len() < rest.len()).then_some(name)
    }
    let is_lost = |line: &str| {
        let name = marker(line).and_then(|rest| rest.trim().strip_prefix('"')?.split('"').next());
        name.is_some_and(|name| !Path::new(name).is_file())
    };
    if !text.lines().any(is_lost) {
        return None;
    }
    let keep = |line| if marker(line).is_some() { "" } else { line };
    Some(text.lines().map(keep).collect::<Vec<_>>().join("\n") + "\n")
}

/// Runs the preprocessor on a file, or on a text that stands for it.
fn preprocess(path: &Path, text: Option<String>, arguments: &[String]) -> Result<String, LoadError> {
    let compiler = std::env::var_os("CC").filter(|cc| !cc.is_empty()).unwrap_or_else(|| OsString::from("cc"));
    let file = path.display().to_string();
    let mut command = Command::new(&compiler);
    command.arg("-E").args(arguments);
    let output = match text {
        None => command.arg(path).output(),
        Some(text) => {
            let folder = path.parent().filter(|folder| !folder.as_os_str().is_empty());
            command.arg("-iquote").arg(folder.unwrap_or(Path::new("."))).args(["-x", "c", "-"]);
            let name = file.replace('\\', "\\\\").replace('"', "\\\"");
            output_on(command, &to_bytes(&format!("# 1 \"{name}\"\n{text}")))
        }
    };
    let output = output.map_err(|error| {
        let message = format!("the preprocessor `{}` cannot be run: {error}", Path::new(&compiler).display());
        LoadError::Io { file: file.clone(), error: std::io::Error::new(error.kind(), message) }
    })?;
    if !output.status.success() {
        let message = String::from_utf8_lossy(&output.stderr).trim().to_owned();
        let error = std::io::Error::other(format!("the preprocessor failed:\n{message}"));
        return Err(LoadError::Io { file, error });
    }
    Ok(from_bytes(&output.stdout))
}

/// Runs a command with a text as its input.
fn output_on(mut command: Command, text: &[u8]) -> std::io::Result<Output> {
    command.stdin(Stdio::piped()).stdout(Stdio::piped()).stderr(Stdio::piped());
    let mut child = command.spawn()?;
    let input = child.stdin.take();
    std::thread::scope(|scope| {
        // A preprocessor that stops reading says why itself.
        scope.spawn(move || input.map(|mut input| input.write_all(text)));
        child.wait_with_output()
    })
}

/// Parses a text.
pub(crate) fn parse(text: Text, sources: &mut Sources) -> Result<Unit, Problem> {
    let Text { lines, text, pragmas, serious, is_cimple } = text;
    if let Some((at, words)) = &pragmas.refused {
        let span = lines.place_of(sources, *at, words.len());
        return Err(Problem::unsupported(span, &format!("`{words}` is")));
    }
    let config = Config { cpp_command: String::new(), cpp_options: Vec::new(), flavor: Flavor::GnuC11 };
    match parse_preprocessed(&config, text) {
        Ok(parsed) => Ok(Unit { lines, tree: parsed.unit, is_cimple, pragmas, serious }),
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
