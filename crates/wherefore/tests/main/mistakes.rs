//! Mistakes in what is given: one clear message with a way out, and exit code 2.

use std::fs;
use std::path::PathBuf;
use std::process::Command;

/// Writes files into a fresh folder and runs `wherefore` there; the exit code and what it says.
fn run(name: &str, files: &[(&str, &str)], arguments: &[&str]) -> (Option<i32>, String) {
    let folder = PathBuf::from(env!("CARGO_TARGET_TMPDIR")).join("mistakes").join(name);
    let _ = fs::remove_dir_all(&folder);
    fs::create_dir_all(&folder).expect("a folder");
    for (file, text) in files {
        let path = folder.join(file);
        fs::create_dir_all(path.parent().expect("a file lies in a folder")).expect("a folder");
        fs::write(path, text).expect("the file is written");
    }
    let mut command = Command::new(env!("CARGO_BIN_EXE_wherefore"));
    let output = command.current_dir(&folder).args(arguments).output().expect("the binary runs");
    assert!(output.stdout.is_empty(), "{}", String::from_utf8_lossy(&output.stdout));
    (output.status.code(), String::from_utf8(output.stderr).expect("text"))
}

#[test]
fn a_missing_semicolon_is_shown_where_it_is_missing() {
    let text = "int main(void) {\n  int x = 3 // three\n  return x;\n}\n";
    let (code, message) = run("semicolon", &[("a.c", text)], &["check", "a.c"]);
    assert_eq!(code, Some(2));
    assert_eq!(
        message,
        "error: a.c:2:12: a `;` seems to be missing here, before `return` on line 3\n    int x = 3 // three\n             ^\n"
    );
    // Another error is reported as it is.
    let text = "int main(void) {\n  int x = 3 +;\n  return x;\n}\n";
    let (code, message) = run("other-syntax", &[("a.c", text)], &["check", "a.c"]);
    assert_eq!(code, Some(2));
    assert!(message.starts_with("error: a.c:2:14: syntax error at `;`"), "{message}");
}

#[test]
fn without_main_the_functions_are_named() {
    let text = "static int one(void) { return 1; }\nint twice(int x) { return 2 * x + one(); }\n";
    let (code, message) = run("main", &[("a.c", text)], &["check", "a.c"]);
    assert_eq!(code, Some(2));
    assert!(message.starts_with("error: a.c: there is no function `main`; the functions are `"), "{message}");
    assert!(message.contains("`twice`") && message.contains("--entry "), "{message}");
    assert!(message.contains("wherefore harness a.c --entry "), "{message}");
    let (code, message) = run("entry", &[("a.c", text)], &["check", "a.c", "--entry", "thrice"]);
    assert_eq!(code, Some(2));
    assert!(message.contains("there is no function `thrice`; the functions are"), "{message}");
    let (_, message) = run("nothing", &[("a.c", "int x;\n")], &["check", "a.c"]);
    assert_eq!(message, "error: a.c: there is no function `main`\n");
}

#[test]
fn files_of_another_kind_are_named() {
    let files = [("a.pds", "x"), ("a.h", ""), ("a.cpp", ""), ("a.txt", ""), ("plain", "")];
    for (file, expected) in [
        ("a.pds", "error: a.pds: this is a pushdown system: wherefore pds a.pds\n"),
        ("a.h", "error: a.h: this is a header: give the .c files that include it\n"),
        ("a.cpp", "error: a.cpp: C++ is not supported, only C\n"),
        ("missing.txt", "error: missing.txt: there is no such file\n"),
        ("missing.c", "error: missing.c: there is no such file\n"),
    ] {
        for command in ["check", "explain"] {
            assert_eq!(run("kinds", &files, &[command, file]), (Some(2), expected.to_owned()));
        }
    }
    for file in ["a.txt", "plain"] {
        let (code, message) = run("kinds", &files, &["check", file]);
        assert_eq!(code, Some(2));
        assert!(message.contains("unknown language: expected a name that ends in .c"), "{message}");
    }
}

#[test]
fn a_folder_without_c_files_says_where_some_are() {
    let files = [("p/src/a.c", "int main(void) { return 0; }"), ("p/doc/a.txt", "")];
    let (code, message) = run("folder", &files, &["check", "p"]);
    assert_eq!(
        (code, message.as_str()),
        (Some(2), "error: p: there is no C file in this folder; there are some in `p/src`\n")
    );
}

#[test]
fn a_file_that_cannot_be_read() {
    // A file in the place of a folder: this fails for every user.
    let files = [("a.c", "int main(void) { return 0; }")];
    let (code, message) = run("unreadable", &files, &["check", "a.c/b.c"]);
    assert_eq!(code, Some(2));
    assert!(message.starts_with("error: a.c/b.c: the file cannot be read: "), "{message}");
}
