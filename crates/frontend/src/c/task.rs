//! Properties and tasks as SV-COMP writes them.

use std::fs;
use std::path::{Path, PathBuf};

use saphyr::{LoadableYamlNode, Yaml};
use wherefore_pushdown::ParseError;

use super::{DataModel, Options};
use crate::diagnostics::{Diagnostic, LoadError};

/// A property of a task, with the verdict that is expected.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Property {
    /// The file that states it, relative to the task.
    pub file: PathBuf,
    /// Whether it holds; none if nobody knows.
    pub expected: Option<bool>,
}

/// A task: what is to be checked, and how.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Task {
    /// The files of the program.
    pub files: Vec<PathBuf>,
    /// The properties asked about.
    pub properties: Vec<Property>,
    /// The options that the task states; others are as usual.
    pub options: Options,
}

/// Reads a property file into options: `CHECK( init(main()), LTL(G ! call(reach_error())) )` or
/// `LTL(G ! label(ERROR))`.
pub fn read_property(name: &str, text: &str, options: &Options) -> Result<Options, LoadError> {
    let fail = |at: usize, message: &str| {
        let error = ParseError::at(text, at..at + 1, message);
        LoadError::Invalid { diagnostics: vec![Diagnostic { file: name.to_owned(), error }] }
    };
    let mut options = options.clone();
    let squeezed: String = text.chars().filter(|c| !c.is_whitespace()).collect();
    let between = |before: &str, after: &[char]| {
        let start = squeezed.find(before)? + before.len();
        let end = squeezed[start..].find(after)?;
        Some(squeezed[start..start + end].to_owned()).filter(|word| !word.is_empty())
    };
    if let Some(entry) = between("init(", &['(', ')']) {
        options.entry = entry;
    }
    if let Some(function) = between("G!call(", &['(', ')']) {
        options.property = super::Property::Calls(vec![function]);
    } else if let Some(label) = between("G!label(", &[')']) {
        options.property = super::Property::Labels(vec![label]);
    } else {
        let at = text.find("CHECK").unwrap_or(0);
        return Err(fail(at, "only `LTL(G ! call(f()))` and `LTL(G ! label(l))` are understood"));
    }
    Ok(options)
}

fn get<'a>(node: &Yaml<'a>, key: &str) -> Option<Yaml<'a>> {
    node.as_mapping_get(key).cloned()
}

/// Reads a task file (`.yml`) of SV-COMP, and the first property of it that is understood.
pub fn read_task(path: &Path) -> Result<Task, LoadError> {
    let name = path.display().to_string();
    let text = fs::read_to_string(path).map_err(|error| LoadError::Io { file: name.clone(), error })?;
    let fail = |message: String| {
        let error = ParseError::at(&text, 0..1, message);
        LoadError::Invalid { diagnostics: vec![Diagnostic { file: name.clone(), error }] }
    };
    let documents = Yaml::load_from_str(&text).map_err(|error| fail(error.to_string()))?;
    let Some(root) = documents.first() else { return Err(fail("the file is empty".to_owned())) };
    let folder = path.parent().unwrap_or(Path::new(""));
    let files = match get(root, "input_files") {
        Some(node) => match node.as_str() {
            Some(file) => vec![folder.join(file)],
            None => node
                .as_vec()
                .map(|list| list.iter().filter_map(Yaml::as_str).map(|file| folder.join(file)).collect())
                .unwrap_or_default(),
        },
        None => Vec::new(),
    };
    if files.is_empty() {
        return Err(fail("`input_files` is missing".to_owned()));
    }
    let mut options = Options::default();
    if let Some(model) = get(root, "options").and_then(|node| get(&node, "data_model")) {
        options.data_model = match model.as_str() {
            Some("ILP32") => DataModel::Ilp32,
            Some("LP64") => DataModel::Lp64,
            _ => return Err(fail("`data_model` is neither ILP32 nor LP64".to_owned())),
        };
    }
    let mut properties = Vec::new();
    for node in get(root, "properties").as_ref().and_then(Yaml::as_vec).into_iter().flatten() {
        if let Some(file) = get(node, "property_file").as_ref().and_then(Yaml::as_str) {
            let expected = get(node, "expected_verdict").as_ref().and_then(Yaml::as_bool);
            properties.push(Property { file: folder.join(file), expected });
        }
    }
    let understood = properties.iter().find_map(|property| {
        let text = fs::read_to_string(&property.file).ok()?;
        read_property(&property.file.display().to_string(), &text, &options).ok()
    });
    Ok(Task { files, properties, options: understood.unwrap_or(options) })
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn properties_name_a_function_or_a_label() {
        let read = |text: &str| read_property("p.prp", text, &Options::default());
        let options = read("CHECK( init(main()), LTL(G ! call(reach_error())) )").unwrap();
        assert_eq!(options.property, super::super::Property::Calls(vec!["reach_error".to_owned()]));
        let options = read("CHECK( init(f()), LTL(G ! label(ERROR)) )").unwrap();
        assert_eq!(options.entry, "f");
        assert_eq!(options.property, super::super::Property::Labels(vec!["ERROR".to_owned()]));
        assert!(read("CHECK( init(main()), LTL(F end) )").is_err());
    }
}
