//! Fresh folders for temporary files, private to the user.

use std::fs::{self, DirBuilder};
use std::hash::{BuildHasher, RandomState};
use std::io::{self, ErrorKind};
use std::os::unix::fs::DirBuilderExt;
use std::path::{Path, PathBuf};

/// How many names are tried before giving up.
const TRIES: usize = 100;

/// A fresh folder that only its owner can enter; removed in the end, with what is in it.
///
/// Its files are compiled and run, so other users must not be able to change them: the name cannot
/// be guessed, and a name that exists already, even as a link that leads nowhere, is not taken.
pub(crate) struct Folder(PathBuf);

impl Folder {
    pub(crate) fn new() -> io::Result<Folder> {
        let names = std::iter::repeat_with(|| {
            // The keys of the hasher come from the operating system.
            let random = RandomState::new().hash_one(std::process::id());
            format!("wherefore-replay-{random:016x}")
        });
        Self::first(&std::env::temp_dir(), names.take(TRIES))
    }

    /// The first of these names that is free.
    fn first(parent: &Path, names: impl Iterator<Item = String>) -> io::Result<Folder> {
        for name in names {
            let path = parent.join(name);
            match DirBuilder::new().mode(0o700).create(&path) {
                Ok(()) => return Ok(Folder(path)),
                Err(error) if error.kind() == ErrorKind::AlreadyExists => {}
                Err(error) => return Err(error),
            }
        }
        Err(ErrorKind::AlreadyExists.into())
    }

    pub(crate) fn path(&self) -> &Path {
        &self.0
    }
}

impl Drop for Folder {
    fn drop(&mut self) {
        let _ = fs::remove_dir_all(&self.0);
    }
}

#[cfg(test)]
mod tests {
    use std::os::unix::fs::{PermissionsExt, symlink};

    use super::*;

    #[test]
    fn a_folder_is_fresh_private_and_gone_in_the_end() {
        let (one, two) = (Folder::new().unwrap(), Folder::new().unwrap());
        assert_ne!(one.path(), two.path());
        let path = one.path().to_owned();
        assert_eq!(fs::metadata(&path).unwrap().permissions().mode() & 0o777, 0o700);
        fs::write(path.join("file"), "text").unwrap();
        drop(one);
        assert!(!path.exists());
    }

    #[test]
    fn names_that_someone_has_taken_are_left_alone() {
        let parent = Folder::new().unwrap();
        let elsewhere = parent.path().join("elsewhere");
        fs::create_dir(&elsewhere).unwrap();
        symlink(&elsewhere, parent.path().join("link")).unwrap();
        symlink("nowhere", parent.path().join("lost")).unwrap();
        let names = || ["elsewhere", "link", "lost", "free"].map(str::to_owned).into_iter();
        let folder = Folder::first(parent.path(), names()).unwrap();
        assert_eq!(folder.path(), parent.path().join("free"));
        fs::write(folder.path().join("run"), "").unwrap();
        drop(folder);
        assert!(elsewhere.is_dir() && fs::read_dir(&elsewhere).unwrap().next().is_none());
        assert!(fs::symlink_metadata(parent.path().join("link")).is_ok());
        assert!(Folder::first(parent.path(), names().take(3)).is_err());
    }
}
