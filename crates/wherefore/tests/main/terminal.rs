//! What people see of `check` on a terminal: open checks, colours, how much is told, help, shells.

use std::fs;
use std::path::PathBuf;
use std::process::{Command, Output};

fn wherefore() -> Command {
    let mut command = Command::new(env!("CARGO_BIN_EXE_wherefore"));
    command.current_dir(concat!(env!("CARGO_MANIFEST_DIR"), "/../.."));
    command.env_remove("NO_COLOR").env_remove("CLICOLOR_FORCE").env_remove("CLICOLOR").env("COLUMNS", "100");
    command
}

fn text(output: &Output) -> String {
    String::from_utf8_lossy(&output.stdout).into_owned()
}

/// A file with a loop of 2^32 rounds, and sums that nothing bounds: too much for a second.
fn hard() -> PathBuf {
    let folder = PathBuf::from(env!("CARGO_TARGET_TMPDIR")).join("terminal");
    fs::create_dir_all(&folder).expect("a folder");
    let file = folder.join("hard.c");
    let body: String = (0..30).map(|i| format!("    x{i} = x{i} * x{i} + i % {};\n", i + 7)).collect();
    let variables: String = (0..30).map(|i| format!("  int x{i} = n & {};\n", i + 1)).collect();
    let text = format!(
        "#include <assert.h>\nint read(void);\nint main(void) {{\n  unsigned n = read(), i;\n{variables}  \
         for (i = 0; i < n; i++) {{\n    if (i % 1000003 != 999999) continue;\n{body}  }}\n  \
         assert((x3 ^ x4) * x5 != 1000003);\n  return 0;\n}}\n"
    );
    fs::write(&file, text).expect("the file is written");
    file
}

#[test]
fn open_checks_have_one_short_line_each() {
    let file = hard();
    let output = wherefore().arg("check").arg(&file).args(["--timeout", "2"]).output().unwrap();
    let shown = text(&output);
    assert_eq!(output.status.code(), Some(5), "{shown}");
    let head = shown.lines().next().unwrap();
    assert!(head.contains(": unknown within 2 s: "), "{shown}");
    let open = |shown: &str| shown.lines().filter(|line| line.starts_with("  unknown  ")).count();
    assert!((2..=22).contains(&open(&shown)), "{shown}");
    for line in shown.lines().filter(|line| line.starts_with("  unknown  ")) {
        assert!(!line.contains("refinement:") && !line.contains("the time limit"), "{line}");
    }
    assert!(shown.contains("\nwhat can help:\n  --timeout 300"), "{shown}");
    assert!(shown.contains("--line ") && shown.contains("--checks none"), "{shown}");
    assert!(!shown.contains("answered by"), "{shown}");
    // All of them, with each engine in a line of its own.
    let output = wherefore().arg("check").arg(&file).args(["--timeout", "2", "-v"]).output().unwrap();
    let all = text(&output);
    assert!(all.contains("\n               bounded checking: "), "{all}");
    assert!(open(&all) > 22, "{all}");
    // JSON has the reasons in full.
    let output = wherefore().arg("check").arg(&file).args(["--timeout", "2", "--json"]).output().unwrap();
    let json: serde_json::Value = serde_json::from_slice(&output.stdout).expect("JSON");
    let targets = json["targets"].as_array().expect("checks");
    let reason = targets.iter().filter(|check| check["verdict"] == "unknown").map(|check| &check["reason"]);
    assert!(reason.clone().count() > 22 && reason.clone().all(serde_json::Value::is_string), "{json}");
}

#[test]
fn quiet_is_one_line_and_verbose_lists_what_holds() {
    let output = wherefore().args(["check", "examples/device.c", "-q"]).output().unwrap();
    assert_eq!(output.status.code(), Some(10));
    assert_eq!(text(&output), "examples/device.c: unsafe (1 of 5 checks can fail, 3 by data flow)\n");
    let output = wherefore().args(["check", "examples/device.c", "-v", "--no-explain"]).output().unwrap();
    let lines = text(&output).lines().filter(|line| line.starts_with("  holds ")).count();
    assert_eq!(lines, 4, "{}", text(&output));
}

#[test]
fn colours_are_for_terminals_and_on_request() {
    let run = |arguments: &[&str], variables: &[(&str, &str)]| {
        let mut command = wherefore();
        command.args(["check", "examples/device.c", "-q"]).args(arguments);
        text(&command.envs(variables.iter().copied()).output().unwrap())
    };
    let is_coloured = |text: &str| text.contains("\u{1b}[31m") && text.contains("unsafe\u{1b}[0m");
    assert!(!run(&[], &[]).contains('\u{1b}'));
    assert!(is_coloured(&run(&["--color", "always"], &[("NO_COLOR", "1")])));
    assert!(is_coloured(&run(&[], &[("CLICOLOR_FORCE", "1")])));
    assert!(!run(&["--color", "never"], &[("CLICOLOR_FORCE", "1")]).contains('\u{1b}'));
    assert!(!run(&[], &[("CLICOLOR_FORCE", "1"), ("NO_COLOR", "1")]).contains('\u{1b}'));
}

#[test]
fn short_help_fits_a_screen_and_long_help_has_everything() {
    let short = text(&wherefore().args(["check", "-h"]).output().unwrap());
    assert!(short.lines().count() <= 45, "{short}");
    assert!(short.contains("--timeout") && !short.contains("--heuristic"), "{short}");
    let long = text(&wherefore().args(["check", "--help"]).output().unwrap());
    for option in ["--heuristic", "--engine", "--memory", "--solver", "--color", "--model"] {
        assert!(long.contains(option), "{option}");
    }
}

#[test]
fn shells_and_man_are_served() {
    for (shell, mark) in [("bash", "complete -F"), ("zsh", "#compdef wherefore"), ("fish", "complete -c")] {
        let output = wherefore().args(["completions", shell]).output().unwrap();
        let script = text(&output);
        assert_eq!(output.status.code(), Some(0));
        assert!(script.contains(mark) && script.contains("first-failure"), "{shell}");
    }
    let page = text(&wherefore().arg("man").output().unwrap());
    assert!(page.contains(".TH wherefore 1"), "{page}");
    let folder = PathBuf::from(env!("CARGO_TARGET_TMPDIR")).join("terminal-man");
    let _ = fs::remove_dir_all(&folder);
    let output = wherefore().arg("man").arg(&folder).output().unwrap();
    assert_eq!(output.status.code(), Some(0), "{}", String::from_utf8_lossy(&output.stderr));
    for name in ["wherefore", "wherefore-check", "wherefore-explain", "wherefore-pds"] {
        let page = fs::read_to_string(folder.join(format!("{name}.1"))).expect("a page");
        assert!(page.contains(&format!(".TH {name} 1")), "{page}");
    }
}

#[cfg(unix)]
#[test]
fn an_interruption_before_the_verdict_is_130() {
    use std::os::unix::process::ExitStatusExt;
    let mut command = wherefore();
    command.arg("check").arg(hard()).args(["--timeout", "50"]).stdout(std::process::Stdio::piped());
    let child = command.spawn().unwrap();
    std::thread::sleep(std::time::Duration::from_millis(1500));
    let id = child.id().to_string();
    assert!(Command::new("kill").args(["-INT", &id]).status().unwrap().success());
    let output = child.wait_with_output().unwrap();
    assert_eq!((output.status.code(), output.status.signal()), (Some(130), None));
    assert!(text(&output).contains(": unknown"), "{}", text(&output));
}
