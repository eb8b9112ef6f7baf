//! The files that a command is given: folders and standard input stand for files.

use std::io::Read;
use std::os::unix::fs::DirBuilderExt;
use std::path::{Path, PathBuf};

use crate::exit::CliError;

/// The name that stands for standard input.
pub const STANDARD_INPUT: &str = "-";

/// A file with what was read from standard input, in a folder that only the user can enter. It is
/// removed when this is dropped.
pub struct StandardInput {
    folder: PathBuf,
    /// The file.
    pub file: PathBuf,
}

impl StandardInput {
    /// Reads standard input to its end.
    pub fn read() -> Result<Self, CliError> {
        let wrong = |error| CliError::File { file: "standard input".to_owned(), error };
        let mut text = Vec::new();
        std::io::stdin().read_to_end(&mut text).map_err(wrong)?;
        let number = std::time::UNIX_EPOCH.elapsed().map_or(0, |since| since.as_nanos());
        let folder = std::env::temp_dir().join(format!("wherefore-{}-{number:x}", std::process::id()));
        std::fs::DirBuilder::new().mode(0o700).create(&folder).map_err(wrong)?;
        let file = folder.join("stdin.c");
        let input = Self { folder, file };
        std::fs::write(&input.file, text).map_err(wrong)?;
        Ok(input)
    }
}

impl Drop for StandardInput {
    fn drop(&mut self) {
        let _ = std::fs::remove_dir_all(&self.folder);
    }
}

/// The C files in a folder, by name; folders in it are not looked at.
pub fn in_folder(folder: &Path) -> Result<Vec<PathBuf>, CliError> {
    let name = folder.display().to_string();
    let wrong = |error| CliError::File { file: name.clone(), error };
    let mut files = Vec::new();
    let mut folders = Vec::new();
    for entry in std::fs::read_dir(folder).map_err(wrong)? {
        let path = entry.map_err(wrong)?.path();
        if is_c_file(&path) {
            files.push(path);
        } else if path.is_dir() && has_c_file(&path) {
            folders.push(format!("`{}`", path.display()));
        }
    }
    files.sort();
    folders.sort();
    if files.is_empty() {
        let elsewhere = match folders.as_slice() {
            [] => String::new(),
            all => format!("; there are some in {}", all.join(", ")),
        };
        let message = format!("there is no C file in this folder{elsewhere}");
        return Err(CliError::Question { file: name, message });
    }
    Ok(files)
}

fn is_c_file(path: &Path) -> bool {
    path.extension().is_some_and(|extension| extension == "c") && path.is_file()
}

fn has_c_file(folder: &Path) -> bool {
    std::fs::read_dir(folder)
        .is_ok_and(|mut entries| entries.any(|entry| entry.is_ok_and(|entry| is_c_file(&entry.path()))))
}
