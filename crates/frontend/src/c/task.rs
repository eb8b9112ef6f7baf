//! Tasks as SV-COMP writes them (`.yml`), and the properties that they name.

use std::fs;
use std::path::{Path, PathBuf};

use saphyr::{LoadableYamlNode, Yaml};
use wherefore_pushdown::ParseError;

use super::prp::{Asked, parse_property};
use super::{DataModel, Options, Standard};
use crate::diagnostics::{Diagnostic, LoadError};

/// A property of a task, with the verdict that is expected.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Property {
    /// The file that states it, relative to the task.
    pub file: PathBuf,
    /// Whether it holds; none if this is not known.
    pub expected: Option<bool>,
    /// Its name as the task writes it, for messages.
    written: String,
}

/// A task: what is to be checked, and how.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Task {
    /// The files of the program.
    pub files: Vec<PathBuf>,
    /// The properties asked about.
    pub properties: Vec<Property>,
    /// The options that the task states, without its properties; others are as usual.
    pub options: Options,
    name: String,
    text: String,
}

/// What a property file or a task asks.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Question {
    /// Options with a property that is decided.
    Decided(Box<Options>),
    /// A well-known property that is not decided here: why the answer is *unknown*.
    NotDecided(String),
}

/// Reads a property file into options.
///
/// ```
/// use wherefore_frontend::c::{Options, Property, Question, read_property};
///
/// let text = "CHECK( init(main()), LTL(G ! call(reach_error())) )";
/// let Question::Decided(options) = read_property("p.prp", text, &Options::default())? else { panic!() };
/// assert_eq!(options.property, Property::Calls(vec!["reach_error".to_owned()]));
/// # Ok::<(), wherefore_frontend::LoadError>(())
/// ```
pub fn read_property(name: &str, text: &str, options: &Options) -> Result<Question, LoadError> {
    Ok(match parse_property(name, text)? {
        Asked::Reachability { property, rules, undecided, entry } => {
            let undecided =
                undecided.map(|words| format!("{name} also asks for {words}, which is not decided here"));
            let standard = Standard::Objects;
            Question::Decided(Box::new(Options {
                property,
                entry,
                checks: rules,
                undecided,
                standard,
                ..options.clone()
            }))
        }
        Asked::Other(words) => {
            Question::NotDecided(format!("{name} asks for {words}, which is not decided here"))
        }
    })
}

impl Task {
    /// The first property of the task that is decided; the usual question if the task names no
    /// property. Every file that it names must be there and hold a property.
    pub fn question(&self) -> Result<Question, LoadError> {
        let mut found: Option<Question> = None;
        for property in &self.properties {
            let text = fs::read_to_string(&property.file).map_err(|error| {
                let at = self.text.find(&property.written).unwrap_or(0);
                let message =
                    format!("the property file `{}` cannot be read: {error}", property.file.display());
                invalid(&self.name, &self.text, at..at + property.written.len(), message)
            })?;
            let question = read_property(&property.file.display().to_string(), &text, &self.options)?;
            found = match (found, question) {
                (Some(Question::Decided(options)), _) => Some(Question::Decided(options)),
                (Some(Question::NotDecided(why)), Question::NotDecided(_)) => Some(Question::NotDecided(why)),
                (_, question) => Some(question),
            };
        }
        Ok(found.unwrap_or_else(|| Question::Decided(Box::new(self.options.clone()))))
    }
}

fn invalid(name: &str, text: &str, at: std::ops::Range<usize>, message: String) -> LoadError {
    let error = ParseError::at(text, at, message);
    LoadError::Invalid { diagnostics: vec![Diagnostic { file: name.to_owned(), error }] }
}

fn get<'a>(node: &Yaml<'a>, key: &str) -> Option<Yaml<'a>> {
    node.as_mapping_get(key).cloned()
}

/// Reads a task file (`.yml`) of SV-COMP. Its properties are only read when they are asked for
/// ([`Task::question`]).
pub fn read_task(path: &Path) -> Result<Task, LoadError> {
    let name = path.display().to_string();
    let text = fs::read_to_string(path).map_err(|error| LoadError::Io { file: name.clone(), error })?;
    // The parser tells no places of what it has read: the place is where the key stands.
    let fail = |key: &str, message: String| {
        let at = text.find(key).unwrap_or(0);
        invalid(&name, &text, at..at + 1, message)
    };
    let documents = Yaml::load_from_str(&text).map_err(|error| fail("", error.to_string()))?;
    let Some(root) = documents.first() else { return Err(fail("", "the file is empty".to_owned())) };
    let folder = path.parent().unwrap_or(Path::new(""));
    let Some(node) = get(root, "input_files") else {
        return Err(fail("", "`input_files` is missing".to_owned()));
    };
    let named: Option<Vec<&str>> = match (node.as_str(), node.as_vec()) {
        (Some(file), _) => Some(vec![file]),
        (None, list) => list.and_then(|list| list.iter().map(Yaml::as_str).collect()),
    };
    let files: Vec<PathBuf> = named.into_iter().flatten().map(|file| folder.join(file)).collect();
    if files.is_empty() {
        return Err(fail("input_files", "`input_files` is neither a file nor a list of files".to_owned()));
    }
    let mut options = Options::default();
    if let Some(model) = get(root, "options").and_then(|node| get(&node, "data_model")) {
        options.data_model = match model.as_str() {
            Some("ILP32") => DataModel::Ilp32,
            Some("LP64") => DataModel::Lp64,
            _ => return Err(fail("data_model", "`data_model` is neither ILP32 nor LP64".to_owned())),
        };
    }
    let mut properties = Vec::new();
    if let Some(node) = get(root, "properties") {
        let Some(list) = node.as_vec() else {
            return Err(fail("properties", "`properties` is not a list".to_owned()));
        };
        for node in list {
            let Some(file) = get(node, "property_file").as_ref().and_then(Yaml::as_str).map(str::to_owned)
            else {
                return Err(fail("properties", "a property has no `property_file`".to_owned()));
            };
            let expected = get(node, "expected_verdict").as_ref().and_then(Yaml::as_bool);
            properties.push(Property { file: folder.join(&file), expected, written: file });
        }
    }
    Ok(Task { files, properties, options, name, text })
}
