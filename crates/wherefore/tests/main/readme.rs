//! `README.md` and the examples: what the page shows is what is printed.

use std::path::Path;
use std::process::Command;

const README: &str = include_str!("../../../../README.md");

/// The blocks of a language.
fn blocks(language: &str) -> impl Iterator<Item = &'static str> {
    let fence = format!("\n```{language}\n");
    let parts: Vec<&str> = README.split(fence.as_str()).skip(1).collect();
    parts.into_iter().map(|part| part.split_once("```").expect("the end of a block").0)
}

/// A text without the seconds that an answer took.
fn without_times(text: &str) -> String {
    let line = |line: &str| match line.strip_prefix("answered by ").and_then(|rest| rest.split_once(" s: ")) {
        Some((by, command)) => {
            let (engine, _) = by.rsplit_once(" in ").unwrap_or((by, ""));
            format!("answered by {engine}: {command}\n")
        }
        None => format!("{line}\n"),
    };
    text.lines().map(line).collect()
}

#[test]
fn the_page_shows_what_is_printed() {
    let root = Path::new(env!("CARGO_MANIFEST_DIR")).join("../..");
    let mut count = 0;
    for block in blocks("console") {
        let (command, expected) = block.split_once('\n').expect("a command and its output");
        let Some(arguments) = command.strip_prefix("$ wherefore ") else { continue };
        // Which engine is first may be chance; the answer says which it was.
        let again = expected.lines().find_map(|line| line.strip_prefix("answered by ")?.split_once(" s: "));
        let arguments = again.map_or(arguments, |(_, again)| again.trim_start_matches("wherefore "));
        let page = Path::new(env!("CARGO_TARGET_TMPDIR")).join("readme.html").display().to_string();
        let arguments = arguments.replace("report.html", &page);
        let mut wherefore = Command::new(env!("CARGO_BIN_EXE_wherefore"));
        wherefore.current_dir(&root).env_remove("COLUMNS").args(arguments.split(' '));
        let output = wherefore.output().expect("the binary runs");
        let shown = String::from_utf8(output.stdout).expect("text");
        assert_eq!(without_times(&shown), without_times(expected), "{command}");
        count += 1;
    }
    assert_eq!(count, 6, "answers are shown");
}

#[test]
fn the_program_on_the_first_screen_is_the_example() {
    let root = Path::new(env!("CARGO_MANIFEST_DIR")).join("../..");
    let text = std::fs::read_to_string(root.join("examples/history.c")).expect("the example");
    let shown = blocks("c").next().expect("a program");
    assert!(shown.split("\n\n").all(|part| text.contains(part.trim_end())), "{shown}");
}
