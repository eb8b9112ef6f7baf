//! `compile_commands.json`: the files of a project, and how each is compiled.

use std::collections::BTreeMap;
use std::path::{Path, PathBuf};

use serde::Deserialize;
use wherefore_program::c_compiler;

use crate::exit::CliError;

/// The usual name of the file.
const NAME: &str = "compile_commands.json";

/// One entry: how a file is compiled.
#[derive(Deserialize)]
struct Entry {
    directory: PathBuf,
    file: PathBuf,
    #[serde(default)]
    arguments: Vec<String>,
    command: Option<String>,
}

/// The C files of a project, with their flags for the preprocessor.
#[derive(Debug, Default, PartialEq, Eq)]
pub struct Database {
    /// In the order of the entries, each once.
    pub files: Vec<PathBuf>,
    /// The flags of each file.
    pub flags: BTreeMap<PathBuf, Vec<String>>,
    /// Whether it is compiled for 32 bits.
    pub is_narrow: bool,
}

/// Flags with a value that the preprocessor needs: the value is a path, or not.
const WITH_PATH: [&str; 6] = ["-I", "-isystem", "-iquote", "-idirafter", "-include", "-imacros"];
const WITH_TEXT: [&str; 2] = ["-D", "-U"];

impl Database {
    /// Reads the file, or the one of the usual name in a folder.
    pub fn read(path: &Path) -> Result<Self, CliError> {
        let file = if path.is_dir() { path.join(NAME) } else { path.to_owned() };
        let name = file.display().to_string();
        let text =
            std::fs::read_to_string(&file).map_err(|error| CliError::File { file: name.clone(), error })?;
        let wrong = |message: String| CliError::Question { file: name.clone(), message };
        let entries: Vec<Entry> = serde_json::from_str(&text)
            .map_err(|error| wrong(format!("this is not a list of compile commands: {error}")))?;
        let folder = file.parent().unwrap_or(Path::new("."));
        let mut database = Self::default();
        for entry in entries {
            let directory = folder.join(&entry.directory);
            let source = tidy(&directory.join(&entry.file));
            let is_c = source.extension().is_some_and(|extension| extension == "c" || extension == "i");
            if !is_c || database.flags.contains_key(&source) {
                continue;
            }
            let words = match &entry.command {
                Some(command) if entry.arguments.is_empty() => c_compiler::split(command),
                _ => entry.arguments,
            };
            if let Some(flag) = c_compiler::not_modelled(&words) {
                let source = source.display();
                return Err(wrong(format!("{source} is compiled with {flag}, which is not modelled")));
            }
            database.is_narrow |= words.iter().any(|word| word == "-m32");
            database.flags.insert(source.clone(), flags(&words, &directory));
            database.files.push(source);
        }
        if database.files.is_empty() {
            return Err(wrong("there is no C file in it".to_owned()));
        }
        Ok(database)
    }

    /// The entry of a file that the user names.
    pub fn find(&self, file: &Path) -> Option<&PathBuf> {
        let wanted = file.canonicalize().ok()?;
        self.files.iter().find(|known| known.canonicalize().is_ok_and(|known| known == wanted))
    }
}

/// The flags of a command that matter to the preprocessor; paths are those seen from here.
fn flags(words: &[String], directory: &Path) -> Vec<String> {
    let mut found = Vec::new();
    let mut rest = words.iter().skip(1);
    while let Some(word) = rest.next() {
        let with = |names: &[&'static str]| names.iter().copied().find(|name| word.starts_with(*name));
        let is_whole = ["-std=", "-m32", "-m64", "-ansi", "-pthread", "-fopenmp", "-fms-extensions"]
            .iter()
            .any(|name| word == name || (name.ends_with('=') && word.starts_with(name)));
        if is_whole {
            found.push(word.clone());
            continue;
        }
        // `-include` also begins with `-i`, so that the longest name comes first.
        let path =
            WITH_PATH.iter().copied().filter(|name| word.starts_with(name)).max_by_key(|name| name.len());
        let name = path.or_else(|| with(&WITH_TEXT));
        let Some(name) = name else { continue };
        let value = match &word[name.len()..] {
            "" => rest.next().cloned().unwrap_or_default(),
            value => value.to_owned(),
        };
        let value = match path {
            Some("-include" | "-imacros") if !directory.join(&value).exists() => value,
            Some(_) => tidy(&directory.join(&value)).display().to_string(),
            None => value,
        };
        match name.len() {
            2 => found.push(format!("{name}{value}")),
            _ => found.extend([name.to_owned(), value]),
        }
    }
    found
}

/// A path as it is seen from here.
fn tidy(path: &Path) -> PathBuf {
    let Ok(whole) = path.canonicalize() else { return path.to_owned() };
    let here = std::env::current_dir().and_then(|here| here.canonicalize());
    match here.ok().and_then(|here| Some(whole.strip_prefix(here).ok()?.to_owned())) {
        Some(inside) if !inside.as_os_str().is_empty() => inside,
        _ => whole,
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn flags_of_the_preprocessor_are_kept_with_their_paths() {
        let line = "gcc -O2 -Wall -Iinclude -I /usr/x -DA=1 -D B -isystem sys -std=c11 -include config.h -c a.c -o a.o";
        let found = flags(&c_compiler::split(line), Path::new("/src"));
        let expected = [
            "-I/src/include",
            "-I/usr/x",
            "-DA=1",
            "-DB",
            "-isystem",
            "/src/sys",
            "-std=c11",
            "-include",
            "config.h",
        ];
        assert_eq!(found, expected);
    }
}
