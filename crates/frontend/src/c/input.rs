//! From files to parsed translation units.

use std::fs;
use std::hash::{BuildHasher, RandomState};
use std::io::Write;
use std::path::Path;
use std::process::{Command, Output, Stdio};

use lang_c::ast::TranslationUnit;
use lang_c::driver::{Config, Flavor, parse_preprocessed};
use wherefore_program::markers::{first_line_of, without_markers};
use wherefore_program::{Span, c_compiler, from_bytes, to_bytes};

use super::Options;
use super::attributes;
use super::cimple::{self, is_cimple};
use super::lines::{LineTable, Sources};
use super::pragmas::Pragmas;
use super::problem::Problem;
use super::quotable::{Quotable, dependencies};
use super::recover::{self, Lost};
use super::rewrite::{Rewritten, rewrite};
use super::spellings;
use super::tokens::without_comments;
use super::witness::Head;
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
    /// What was cut out because the parser does not know it, by places in the parsed text.
    pub(crate) lost: Vec<Lost>,
    /// Whether names with `_` may have other characters in the text.
    pub(crate) renames: bool,
}

/// What a file is before it is parsed.
pub(crate) struct Text {
    lines: LineTable,
    text: String,
    pragmas: Pragmas,
    serious: Vec<(usize, String)>,
    is_cimple: bool,
    /// A word that is not modelled if there are threads, by its place in what was read.
    odd: Option<(usize, String)>,
    renames: bool,
}

impl Text {
    fn new(lines: LineTable, text: &str) -> Text {
        let pragmas = Pragmas::new(text);
        let serious = attributes::serious(text).into_iter().map(|(at, name)| (at, name.to_owned())).collect();
        let odd = super::threads::not_modelled(text).map(|(word, at)| (at, word.to_owned()));
        let renames = spellings::renames(text);
        let Rewritten { text, added } = rewrite(&spellings::usual(text));
        Text { lines: lines.with_added(added), text, pragmas, serious, is_cimple: false, odd, renames }
    }

    /// The text, compiled with some flags and those of the compiler.
    fn with_flags(mut self, flags: &[String]) -> Text {
        let all = c_compiler::words();
        self.pragmas = self.pragmas.with_flags(all.iter().chain(flags));
        self
    }

    /// What is not modelled if there are threads.
    pub(crate) fn not_modelled_with_threads(&self, sources: &mut Sources) -> Option<Problem> {
        let (at, word) = self.odd.as_ref()?;
        let span = self.lines.place_of(sources, *at, word.len());
        Some(Problem::unsupported(span, &format!("`{word}` beside atomic sections is")))
    }
}

/// Reads a file: `.i` and `.cimple` as they are, others through the preprocessor.
pub(crate) fn read(path: &Path, options: &Options, sources: &mut Sources) -> Result<Text, LoadError> {
    let arguments = &options.flags_of(path);
    let file = options.name_of(path);
    let bytes = fs::read(path).map_err(|error| LoadError::Io { file: file.clone(), error })?;
    let original = from_bytes(&bytes);
    if is_cimple(path) {
        return Ok(cimple(&file, &original, sources));
    }
    let main = sources.add(&file, &original);
    sources.also_named(&path.display().to_string(), main);
    sources.quotable.give(path, arguments);
    let inserted = options.insertions.of(path);
    sources.changes.extend(inserted.map(|inserted| (main, inserted.changes.clone())));
    if path.extension().is_some_and(|extension| extension == "i") {
        let lines = LineTable::identity(main, &original);
        let Some(inserted) = inserted else {
            return Ok(Text::new(lines, &without_comments(&original)).with_flags(arguments));
        };
        let (text, added) = inserted.applied_to(&original, Head::Inside);
        return Ok(Text::new(lines.with_added(added), &without_comments(&text)).with_flags(arguments));
    }
    let given = match inserted {
        None => without_markers(&original).map(|text| Given { head: "", text }),
        Some(inserted) => {
            let (text, _) = inserted.applied_to(&original, Head::Apart);
            let text = without_markers(&text).unwrap_or(text);
            Some(Given { head: &inserted.head, text })
        }
    };
    let text = preprocess(path, given, arguments, &mut sources.quotable)?;
    let lines = LineTable::with_markers(main, &text);
    Ok(Text::new(lines, &text).with_flags(arguments))
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

/// A text that stands for a file.
struct Given<'a> {
    /// Declarations of ours in front of it.
    head: &'a str,
    text: String,
}

/// Runs the preprocessor on a file, or on a text that stands for it, and takes note of the files
/// that it reads.
fn preprocess(
    path: &Path,
    given: Option<Given>,
    arguments: &[String],
    quotable: &mut Quotable,
) -> Result<String, LoadError> {
    let file = path.display().to_string();
    // The preprocessor writes down what it has read, under a name that no program can know.
    let target = format!("files-{:016x}", RandomState::new().hash_one(std::process::id()));
    let run = |more: &[&str]| {
        let mut command = c_compiler::command();
        // Functions of `ctype.h` are called as functions, which have models, and not as macros that
        // look into tables of the C library.
        command.args(["-E", "-D__NO_CTYPE"]).args(arguments).args(more);
        match &given {
            None => command.arg(path).stdin(Stdio::null()).output(),
            Some(Given { head, text }) => {
                let folder = path.parent().filter(|folder| !folder.as_os_str().is_empty());
                command.arg("-iquote").arg(folder.unwrap_or(Path::new("."))).args(["-x", "c", "-"]);
                output_on(command, &to_bytes(&format!("{head}\n{}{text}", first_line_of(&file))))
            }
        }
    };
    let mut output = run(&["-MD", "-MT", &target, "-MF", "/dev/stderr"]);
    // A compiler without these options may still preprocess; then only given files are quoted.
    if output.as_ref().is_ok_and(|output| !output.status.success()) {
        output = run(&[]);
    }
    let output = output.map_err(|error| {
        let message = format!("the preprocessor `{}` cannot be run: {error}", c_compiler::words().join(" "));
        LoadError::Io { file: file.clone(), error: std::io::Error::new(error.kind(), message) }
    })?;
    let (read, complaint) = dependencies(&String::from_utf8_lossy(&output.stderr), &target);
    quotable.have_read(read);
    if !output.status.success() {
        let message = quotable.complaint(&complaint);
        let error = std::io::Error::other(format!("the preprocessor failed:\n{message}"));
        return Err(LoadError::Io { file, error });
    }
    Ok(from_bytes(&output.stdout))
}

/// Runs a command with a text as its input.
pub(super) fn output_on(mut command: Command, text: &[u8]) -> std::io::Result<Output> {
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
///
/// Where the parser stops, a body or a declaration is cut out if the text is C.
pub(crate) fn parse(text: Text, sources: &mut Sources, is_c: impl Fn() -> bool) -> Result<Unit, Problem> {
    let Text { lines, mut text, pragmas, serious, is_cimple, renames, .. } = text;
    if let Some((at, words)) = &pragmas.refused {
        let span = lines.place_of(sources, *at, words.len());
        return Err(Problem::unsupported(span, &format!("`{words}` is")));
    }
    let config = Config { cpp_command: String::new(), cpp_options: Vec::new(), flavor: Flavor::GnuC11 };
    let mut lost: Vec<Lost> = Vec::new();
    loop {
        let error = match parse_preprocessed(&config, text) {
            Ok(parsed) => {
                let tree = parsed.unit;
                return Ok(Unit { lines, tree, is_cimple, pragmas, serious, lost, renames });
            }
            Err(error) => error,
        };
        let rest = &error.source[error.offset.min(error.source.len())..];
        let word = rest.len() - rest.trim_start_matches(|c: char| c.is_alphanumeric() || c == '_').len();
        let length = if word > 0 { word } else { rest.chars().next().map_or(0, char::len_utf8) };
        let span: Span = lines.span(sources, error.offset, error.offset + length);
        let message = match &rest[..length] {
            "" => "syntax error at the end of the file".to_owned(),
            token => format!("syntax error at `{token}`"),
        };
        text = error.source;
        let at = error.offset..error.offset + length;
        let cut = if lost.len() < recover::MOST_CUTS && is_c() { recover::cut(&mut text, at) } else { None };
        match cut {
            Some(cut) => lost.push(cut),
            None => return Err(Problem::new(span, message)),
        }
    }
}
