//! `wherefore check` and `wherefore slice` on C programs.

use std::path::PathBuf;
use std::process::{Command, Output, Stdio};
use std::time::Duration;

fn example(name: &str) -> PathBuf {
    PathBuf::from(env!("CARGO_MANIFEST_DIR")).join("../../examples").join(name)
}

fn wherefore(arguments: &[&str], file: &str) -> Output {
    let mut command = Command::new(env!("CARGO_BIN_EXE_wherefore"));
    let (verb, options) = arguments.split_first().expect("a verb");
    command.arg(verb).arg(example(file)).args(options).output().expect("the binary runs")
}

fn text(output: &Output) -> String {
    String::from_utf8_lossy(&output.stdout).into_owned()
}

#[test]
fn a_failing_run_is_cut_down_to_what_matters_and_replayed() {
    let output = wherefore(&["check"], "device.c");
    assert_eq!(output.status.code(), Some(10));
    let shown = text(&output);
    assert!(shown.contains("12 of its 266 steps matter"), "{shown}");
    assert!(shown.contains("steps that do not matter"), "{shown}");
    assert!(shown.contains("replayed: the compiled program fails at"), "{shown}");
    let all = text(&wherefore(&["check", "--all-steps", "--no-replay"], "device.c"));
    assert!(all.lines().count() > shown.lines().count() + 200);
}

#[test]
fn json_says_which_steps_matter() {
    let output = wherefore(&["check", "--json", "--no-replay"], "device.c");
    let answer: serde_json::Value = serde_json::from_str(&text(&output)).expect("JSON");
    assert_eq!(answer["slice"], serde_json::json!({ "matter": 12, "of": 266 }));
    assert_eq!(answer["error"]["line"], 17);
    let steps = answer["trace"].as_array().expect("a run");
    assert!(steps.iter().any(|step| step["matters"] == true));
    assert!(steps.iter().any(|step| step["matters"] == false));
}

#[test]
fn a_slice_is_shown_alone() {
    let shown = text(&wherefore(&["slice"], "device.c"));
    assert!(shown.contains("12 of 266 steps of a failing run matter"), "{shown}");
    assert!(!shown.contains("sum * 31"), "{shown}");
    assert_eq!(wherefore(&["slice"], "turnstile.c").status.code(), Some(0));
    assert_eq!(wherefore(&["slice"], "getunit-b2.bp").status.code(), Some(10));
}

#[test]
fn a_loop_without_end_is_proved_by_refinement() {
    let output = wherefore(&["check", "--engine", "cegar", "--explain-abstraction"], "turnstile.c");
    assert_eq!(output.status.code(), Some(0));
    assert!(text(&output).contains("state == 1"), "{}", text(&output));
    assert_eq!(
        wherefore(&["check", "--engine", "bounded", "--timeout", "2"], "turnstile.c").status.code(),
        Some(5)
    );
    assert_eq!(
        wherefore(&["check", "--engine", "exact", "--timeout", "2"], "turnstile.c").status.code(),
        Some(5)
    );
}

#[cfg(unix)]
#[test]
fn an_interruption_prints_what_is_known() {
    let child = Command::new(env!("CARGO_BIN_EXE_wherefore"))
        .args(["check", "--engine", "bounded"])
        .arg(example("turnstile.c"))
        .stdout(Stdio::piped())
        .spawn()
        .expect("the binary runs");
    std::thread::sleep(Duration::from_millis(700));
    let sent = Command::new("kill").args(["-INT", &child.id().to_string()]).status().expect("kill");
    let output = child.wait_with_output().expect("it ends");
    assert!(sent.success());
    assert_eq!(output.status.code(), Some(130));
    assert!(text(&output).contains("no run fails within"), "{}", text(&output));
}
