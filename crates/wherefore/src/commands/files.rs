//! The files that a command is given: folders and standard input stand for files, and texts that
//! were not saved.

use std::ffi::OsStr;
use std::io::Read;
use std::os::unix::fs::DirBuilderExt;
use std::path::{Path, PathBuf};
use std::sync::atomic::{AtomicU64, Ordering};

use crate::exit::CliError;

/// The name that stands for standard input.
pub const STANDARD_INPUT: &str = "-";

/// A folder for a file of ours that only the user can enter. It is removed when this is dropped.
struct OwnFolder(PathBuf);

impl OwnFolder {
    fn new() -> std::io::Result<Self> {
        static COUNT: AtomicU64 = AtomicU64::new(0);
        let count = COUNT.fetch_add(1, Ordering::Relaxed);
        let time = std::time::UNIX_EPOCH.elapsed().map_or(0, |since| since.as_nanos());
        let name = format!("wherefore-{}-{time:x}-{count}", std::process::id());
        let folder = std::env::temp_dir().join(name);
        std::fs::DirBuilder::new().mode(0o700).create(&folder)?;
        Ok(Self(folder))
    }
}

impl Drop for OwnFolder {
    fn drop(&mut self) {
        let _ = std::fs::remove_dir_all(&self.0);
    }
}

/// A file with what was read from standard input. It is removed when this is dropped.
pub struct StandardInput {
    _folder: OwnFolder,
    /// The file.
    pub file: PathBuf,
}

/// The text that a file has in an editor, before it is saved. It is removed when this is dropped.
pub struct Unsaved {
    _folder: OwnFolder,
    /// The file as the user knows it.
    file: PathBuf,
    /// The file that holds the text: of the same name, in another folder.
    pub holder: PathBuf,
}

impl Unsaved {
    /// Writes a text down.
    pub fn new(file: &Path, text: &str) -> std::io::Result<Self> {
        let folder = OwnFolder::new()?;
        let holder = folder.0.join(file.file_name().unwrap_or(OsStr::new("unsaved.c")));
        std::fs::write(&holder, text)?;
        Ok(Self { _folder: folder, file: file.to_owned(), holder })
    }

    /// Puts the text in the place of its file, and tells the name of that file if it was there.
    pub fn replace(&self, files: &mut [PathBuf]) -> Option<PathBuf> {
        let own = self.file.canonicalize().ok();
        let is_own = |file: &PathBuf| *file == self.file || own.is_some() && file.canonicalize().ok() == own;
        let place = files.iter_mut().find(|file| is_own(file))?;
        Some(std::mem::replace(place, self.holder.clone()))
    }
}

impl StandardInput {
    /// Reads standard input to its end.
    pub fn read() -> Result<Self, CliError> {
        let wrong = |error| CliError::File { file: "standard input".to_owned(), error };
        let mut text = Vec::new();
        std::io::stdin().read_to_end(&mut text).map_err(wrong)?;
        let folder = OwnFolder::new().map_err(wrong)?;
        let file = folder.0.join("stdin.c");
        let input = Self { _folder: folder, file };
        std::fs::write(&input.file, text).map_err(wrong)?;
        Ok(input)
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
