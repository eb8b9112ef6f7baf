//! Which files of a program may be quoted in messages, answers and pages.
//!
//! A checked program may come from a stranger. `#line 1 "/etc/passwd"` must not make a line of that
//! file appear in a report, and neither must `#include "/etc/passwd"`, which cannot be compiled but
//! has an error message. So a file is quoted only if the preprocessor has read it, and if it lies
//! with the program: in a folder of a given file, in one of the folders for header files, or in one
//! of the system's. Links are followed first.

use std::collections::BTreeSet;
use std::fs;
use std::path::{Path, PathBuf};

/// Where compilers and libraries keep their header files.
const SYSTEM: [&str; 7] = [
    "/usr/include",
    "/usr/lib",
    "/usr/lib64",
    "/usr/local/include",
    "/usr/local/lib",
    "/Library/Developer",
    "/Applications/Xcode.app",
];

/// Environment variables that name more such folders.
const VARIABLES: [&str; 3] = ["CPATH", "C_INCLUDE_PATH", "CPLUS_INCLUDE_PATH"];

/// How much of a file is shown.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Shown {
    All,
    /// Its name and the numbers of its lines.
    Places,
    Nothing,
}

/// The files that the preprocessor has read, and the folders whose files are shown.
#[derive(Debug, Default)]
pub(crate) struct Quotable {
    read: BTreeSet<PathBuf>,
    folders: BTreeSet<PathBuf>,
}

impl Quotable {
    /// Takes note of a given file, and of the folders that the preprocessor is told to search.
    pub(crate) fn give(&mut self, file: &Path, arguments: &[String]) {
        let folder = file.parent().filter(|folder| !folder.as_os_str().is_empty());
        let mut folders = vec![folder.unwrap_or(Path::new(".")).to_owned()];
        let mut arguments = arguments.iter();
        while let Some(argument) = arguments.next() {
            match ["-I", "-isystem", "-iquote"].iter().find_map(|option| argument.strip_prefix(option)) {
                Some("") => folders.extend(arguments.next().map(PathBuf::from)),
                Some(folder) => folders.push(folder.into()),
                None => {}
            }
        }
        self.folders.extend(folders.iter().filter_map(|folder| fs::canonicalize(folder).ok()));
    }

    /// Takes note of what the preprocessor has read.
    pub(crate) fn have_read(&mut self, files: impl IntoIterator<Item = PathBuf>) {
        self.read.extend(files.into_iter().filter_map(|file| fs::canonicalize(file).ok()));
    }

    /// How much of a file is shown that a marker names.
    pub(crate) fn shown(&self, name: &str) -> Shown {
        match fs::canonicalize(name) {
            Ok(path) if !path.is_file() || !self.read.contains(&path) => Shown::Nothing,
            Ok(_) if self.lies_with_the_program(Path::new(name)) => Shown::All,
            Ok(_) => Shown::Places,
            Err(_) => Shown::Nothing,
        }
    }

    /// Whether a file lies in a folder whose files are shown.
    pub(crate) fn lies_with_the_program(&self, file: &Path) -> bool {
        let Ok(path) = fs::canonicalize(file) else { return false };
        let variables = VARIABLES.iter().filter_map(std::env::var_os);
        let named = variables.flat_map(|list| std::env::split_paths(&list).collect::<Vec<_>>());
        let named = named.filter(|folder| !folder.as_os_str().is_empty());
        self.folders.iter().any(|folder| path.starts_with(folder))
            || SYSTEM.iter().any(|folder| path.starts_with(folder))
            || named.filter_map(|folder| fs::canonicalize(folder).ok()).any(|folder| path.starts_with(folder))
    }

    /// What the preprocessor complained about, without the lines that it quotes; of files that do
    /// not lie with the program only the places.
    pub(crate) fn complaint(&self, text: &str) -> String {
        let shown = |line: &str| -> Option<String> {
            let line = line.trim_end();
            let is_trail =
                line.starts_with("In file included from ") || line.trim_start().starts_with("from ");
            if is_trail {
                return Some(line.to_owned());
            }
            // `file:12:3: error: message`; what is quoted begins with a blank.
            let message = line.find(": ").filter(|_| !line.starts_with([' ', '\t']))?;
            let place = &line[..message];
            let number = |text: &str| !text.is_empty() && text.bytes().all(|byte| byte.is_ascii_digit());
            let mut file = place;
            while let Some((front, last)) = file.rsplit_once(':') {
                if !number(last) {
                    break;
                }
                file = front;
            }
            let is_tool = !file.contains('/') && !Path::new(file).exists();
            if is_tool || self.lies_with_the_program(Path::new(file)) {
                return Some(line.to_owned());
            }
            Some(format!("{place}: something is wrong in this file, which does not lie with the program"))
        };
        text.lines().filter_map(shown).collect::<Vec<_>>().join("\n")
    }
}

/// The files of a rule `target: file file …` in the language of `make`, as preprocessors write it,
/// and the rest of the text.
pub(crate) fn dependencies(text: &str, target: &str) -> (Vec<PathBuf>, String) {
    let head = format!("{target}:");
    let Some(start) = text.find(&head) else { return (Vec::new(), text.to_owned()) };
    let (mut files, mut file) = (Vec::new(), String::new());
    let mut end = text.len();
    let mut characters = text[start + head.len()..].char_indices().peekable();
    while let Some((at, c)) = characters.next() {
        let next = characters.peek().map(|(_, next)| *next);
        match (c, next) {
            ('\\', Some('\n')) => {
                characters.next();
                files.push(std::mem::take(&mut file));
            }
            ('\\', Some(' ' | '#' | '\\')) | ('$', Some('$')) => {
                characters.next();
                file.extend(next);
            }
            (' ', _) => files.push(std::mem::take(&mut file)),
            ('\n', _) => {
                end = start + head.len() + at + 1;
                break;
            }
            (other, _) => file.push(other),
        }
    }
    files.push(file);
    let files = files.into_iter().filter(|file| !file.is_empty()).map(PathBuf::from).collect();
    (files, format!("{}{}", &text[..start], &text[end..]))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn rules_of_make_are_read() {
        let text = "a.c:1:2: warning: x: y\nmark: a.c /usr/a.h \\\n sp\\ ace$$\\#.h \\\n b.h\nmore\n";
        let (files, rest) = dependencies(text, "mark");
        assert_eq!(files, ["a.c", "/usr/a.h", "sp ace$#.h", "b.h"].map(PathBuf::from));
        assert_eq!(rest, "a.c:1:2: warning: x: y\nmore\n");
        assert_eq!(dependencies("nothing", "mark"), (Vec::new(), "nothing".to_owned()));
    }

    #[test]
    fn complaints_about_other_files_are_cut() {
        let quotable = Quotable::default();
        let text = "In file included from a.c:1:\n/etc/passwd:3:5: error: invalid #secret\n    3 | #secret\n      |  ^\ncc: fatal error: no input\n";
        let cut = quotable.complaint(text);
        assert!(!cut.contains("secret"), "{cut}");
        assert!(
            cut.contains("/etc/passwd:3:5: something is wrong") && cut.contains("cc: fatal error"),
            "{cut}"
        );
    }
}
