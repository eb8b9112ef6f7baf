//! Files that are not even programs, and files that are.

use std::fs;
use std::path::PathBuf;

use wherefore_frontend::{LoadError, load};

fn file(name: &str, bytes: &[u8]) -> PathBuf {
    let path = std::env::temp_dir().join(format!("wherefore-{}-{name}", std::process::id()));
    fs::write(&path, bytes).expect("a temporary file");
    path
}

#[test]
fn the_name_says_the_language() {
    let boolean = file("a.bp", b"void main() begin skip; end");
    let remopla = file("a.rem", "\u{feff}module void main() { skip; }".as_bytes());
    let other = file("a.txt", b"void main() begin skip; end");
    assert!(load(&boolean, None).is_ok());
    assert!(load(&remopla, None).is_ok(), "a byte-order mark is skipped");
    assert!(matches!(load(&other, None), Err(LoadError::UnknownLanguage { .. })));
    for path in [boolean, remopla, other] {
        fs::remove_file(path).expect("the temporary file");
    }
}

#[test]
fn what_cannot_be_read_is_said_so() {
    let missing = load("no/such/file.bp", None).expect_err("there is no file");
    assert!(matches!(missing, LoadError::Io { .. }));
    assert!(missing.render().starts_with("no/such/file.bp: "));
    let path = file("b.bp", b"void main() begin\n\xff end");
    let error = load(&path, None).expect_err("the file is not text");
    fs::remove_file(path).expect("the temporary file");
    assert_eq!(error.diagnostics()[0].error.to_string(), "2:1: the file is not text in UTF-8");
}
