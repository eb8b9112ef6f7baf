//! A limit is *unknown* with exit code 5, and what is known so far is printed.

use std::path::Path;
use std::process::Command;

/// The exit code and the answer of bounded checking on a program whose loop has no end.
fn endless(options: &[&str]) -> (Option<i32>, String) {
    let file = Path::new(env!("CARGO_MANIFEST_DIR")).join("../../examples/turnstile.c");
    let mut command = Command::new(env!("CARGO_BIN_EXE_wherefore"));
    command.arg("check").arg(file).args(["--engine", "bounded"]).args(options);
    let output = command.output().expect("the program starts");
    (output.status.code(), String::from_utf8_lossy(&output.stdout).into_owned())
}

#[test]
fn time_is_limited() {
    let (code, shown) = endless(&["--timeout", "1.5"]);
    assert_eq!(code, Some(5), "{shown}");
    assert!(
        shown.contains("unknown, because bounded checking: ") && shown.contains("no run fails within "),
        "{shown}"
    );
    let (code, json) = endless(&["--timeout", "1.5", "--json"]);
    let answer: serde_json::Value = serde_json::from_str(&json).expect("JSON");
    assert_eq!((code, &answer["verdict"]), (Some(5), &serde_json::json!("unknown")));
    assert!(answer["bound"].as_u64().is_some_and(|bound| bound > 0), "{json}");
}

#[cfg(target_os = "linux")]
#[test]
fn memory_is_limited() {
    let (code, shown) = endless(&["--memory", "1", "--timeout", "60"]);
    assert_eq!(code, Some(5), "{shown}");
    assert!(shown.contains("unknown, because the memory limit was reached"), "{shown}");
}

/// The limit holds while a program is read and translated, too.
#[cfg(target_os = "linux")]
#[test]
fn memory_is_limited_while_a_program_is_read() {
    let folder = Path::new(env!("CARGO_TARGET_TMPDIR")).join("limits");
    std::fs::create_dir_all(&folder).unwrap();
    let file = folder.join("large.c");
    let text =
        "int x;\nint main(void) {\n".to_owned() + &"x = x * 3 + 1;\n".repeat(400_000) + "return 0; }\n";
    std::fs::write(&file, text).unwrap();
    let mut command = Command::new(env!("CARGO_BIN_EXE_wherefore"));
    let output =
        command.arg("check").arg(&file).args(["--memory", "60", "--timeout", "120"]).output().unwrap();
    let shown = String::from_utf8_lossy(&output.stdout);
    assert_eq!(output.status.code(), Some(5), "{shown}");
    assert!(shown.contains("unknown, because the memory limit was reached"), "{shown}");
}

#[test]
fn steps_are_limited() {
    let (code, shown) = endless(&["--steps", "8"]);
    assert_eq!(code, Some(5), "{shown}");
    assert!(shown.contains("the largest bound was reached; no run fails within 8 iterations"), "{shown}");
    let file = Path::new(env!("CARGO_MANIFEST_DIR")).join("../../examples/mccarthy.c");
    let mut command = Command::new(env!("CARGO_BIN_EXE_wherefore"));
    let output = command.arg("check").arg(file).args(["--engine", "cegar", "--steps", "2"]).output().unwrap();
    let shown = String::from_utf8_lossy(&output.stdout);
    assert_eq!(output.status.code(), Some(5), "{shown}");
    assert!(shown.contains("the step limit was reached; 2 counterexamples were excluded"), "{shown}");
}
