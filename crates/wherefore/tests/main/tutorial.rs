//! `docs/tutorial.md`: its programs are written to files, its commands are run on them, and what it
//! shows is what is printed.

use std::fs;
use std::path::PathBuf;
use std::process::Command;

const TUTORIAL: &str = include_str!("../../../../docs/tutorial.md");

/// The blocks of a language.
fn blocks(language: &str) -> Vec<&'static str> {
    let fence = format!("\n```{language}\n");
    let parts = TUTORIAL.split(fence.as_str()).skip(1);
    parts.map(|part| part.split_once("```").expect("the end of a block").0).collect()
}

/// Whether lines are as expected; a line `…` stands for any number of them.
fn matches(expected: &[&str], lines: &[&str]) -> bool {
    match expected {
        [] => lines.is_empty(),
        ["…", rest @ ..] => (0..=lines.len()).any(|skipped| matches(rest, &lines[skipped..])),
        [first, rest @ ..] => lines.first() == Some(first) && matches(rest, &lines[1..]),
    }
}

#[test]
fn the_tutorial_shows_what_is_printed() {
    let folder = PathBuf::from(env!("CARGO_TARGET_TMPDIR")).join("tutorial");
    let _ = fs::remove_dir_all(&folder);
    fs::create_dir_all(&folder).expect("a folder");
    let programs = blocks("c");
    assert_eq!(programs.len(), 5);
    for text in programs {
        let name = text.lines().next().and_then(|line| line.strip_prefix("// ")).expect("the name of a file");
        fs::write(folder.join(name), text).expect("the file is written");
    }
    let commands = blocks("console");
    assert_eq!(commands.len(), 7);
    for block in commands {
        let (command, expected) = block.split_once('\n').expect("a command and its output");
        let arguments = command.strip_prefix("$ wherefore ").expect("a command of ours").split(' ');
        let mut wherefore = Command::new(env!("CARGO_BIN_EXE_wherefore"));
        let output = wherefore.current_dir(&folder).args(arguments).output().expect("the binary runs");
        let shown = String::from_utf8(output.stdout).expect("text");
        let (expected, lines): (Vec<&str>, Vec<&str>) = (expected.lines().collect(), shown.lines().collect());
        assert!(matches(&expected, &lines), "{command}\n{shown}");
    }
}

#[test]
fn lines_are_left_out_where_it_says_so() {
    assert!(matches(&["a", "…", "d"], &["a", "b", "c", "d"]));
    assert!(matches(&["a", "…"], &["a"]));
    assert!(!matches(&["a", "…", "d"], &["a", "b"]));
    assert!(!matches(&["a"], &["a", "b"]));
}
