//! Formulas of linear temporal logic from the command line: the commands of `docs/ltl.md`, programs in
//! C, mistakes.

use std::path::{Path, PathBuf};
use std::process::{Command, Output};

use serde_json::Value;

const DOCUMENT: &str = include_str!("../../../../docs/ltl.md");

fn root() -> PathBuf {
    Path::new(env!("CARGO_MANIFEST_DIR")).join("../..").canonicalize().expect("the repository")
}

fn run(arguments: &[&str]) -> Output {
    let output = Command::new(env!("CARGO_BIN_EXE_wherefore"))
        .args(arguments)
        .current_dir(root())
        .output()
        .expect("the program starts");
    assert!(!String::from_utf8_lossy(&output.stderr).contains("panicked"), "{arguments:?}");
    output
}

fn code(arguments: &[&str]) -> i32 {
    run(arguments).status.code().expect("an exit code")
}

/// Writes a program and asks about it: the exit code and the answer.
fn asked(name: &str, program: &str, formula: &str) -> (i32, Value) {
    let file = Path::new(env!("CARGO_TARGET_TMPDIR")).join(format!("ltl-{name}"));
    std::fs::write(&file, program).expect("it can be written");
    let file = file.display().to_string();
    let output = run(&["check", &file, "--ltl", formula, "--json", "--timeout", "60"]);
    let answer = serde_json::from_slice(&output.stdout)
        .unwrap_or_else(|_| panic!("{name}: {}", String::from_utf8_lossy(&output.stderr)));
    (output.status.code().expect("an exit code"), answer)
}

#[test]
fn the_document_shows_what_is_printed() {
    let blocks: Vec<&str> = DOCUMENT.split("\n```console\n").skip(1).collect();
    assert_eq!(blocks.len(), 5);
    for block in blocks {
        let block = block.split_once("```").expect("the end of a block").0;
        let (command, expected) = block.split_once('\n').expect("a command and its output");
        let (arguments, formula) = command
            .strip_prefix("$ wherefore ")
            .and_then(|rest| rest.strip_suffix('\''))
            .and_then(|rest| rest.split_once(" '"))
            .expect("a command with a formula");
        let mut arguments: Vec<&str> = arguments.split(' ').collect();
        arguments.push(formula);
        let shown = String::from_utf8(run(&arguments).stdout).expect("text");
        assert_eq!(shown, expected, "{command}");
    }
}

#[test]
fn the_programs_of_the_case_about_responses() {
    let cases = Path::new(env!("CARGO_MANIFEST_DIR")).join("tests/cases/ltl-response");
    for (name, holds) in
        [("main", false), ("fixed", true), ("ends", false), ("grow", false), ("shrink", true)]
    {
        let file = cases.join(format!("{name}.c")).display().to_string();
        let expected = if holds { 0 } else { 10 };
        assert_eq!(code(&["check", &file, "--ltl", "G (locked == 1 -> F locked == 0)"]), expected, "{name}");
    }
}

#[test]
fn a_loop_may_make_the_stack_grow_or_the_run_may_end() {
    let grow = "int locked;\nvoid visit(void) { locked = 1; visit(); locked = 0; }\nint main(void) { visit(); return 0; }\n";
    let (code, answer) = asked("grow.c", grow, "G (locked == 1 -> F locked == 0)");
    assert_eq!((code, &answer["verdict"], &answer["growth"]), (10, &"fails".into(), &1.into()));
    assert!(answer["loop"].as_array().is_some_and(|steps| steps.len() > 1));
    let ends = "int x;\nint main(void) { x = 1; return 0; }\n";
    let (code, answer) = asked("ends.c", ends, "F x == 2");
    assert_eq!((code, &answer["verdict"], answer.get("loop")), (10, &"fails".into(), None));
}

/// Programs whose data are 32 bits wide, of which few values occur.
#[test]
fn programs_in_c_with_few_values() {
    let head =
        "extern int __VERIFIER_nondet_int(void);\nextern void __VERIFIER_assume(int);\n#include <stdlib.h>\n";
    let counter = "int n;\nint main(void) { for (int i = 0; i < 10; i++) n = n + 1; return 0; }\n";
    let nested = "int level;\nvoid down(void) { level++; if (__VERIFIER_nondet_int() && level < 4) down(); level--; }\n\
        int main(void) { while (1) down(); }\n";
    let results = "int open;\nint f(int k) { open++; if (k == 0) { open--; return 0; } int r = f(k - 1); open--; return r + 1; }\n\
        int last;\nint main(void) { last = f(3); return 0; }\n";
    let leaves = "int x;\nint main(void) { x = 1; if (__VERIFIER_nondet_int()) exit(3); x = 2; return 0; }\n";
    let blocked = "int x;\nint main(void) { int k = __VERIFIER_nondet_int(); __VERIFIER_assume(k == 3); x = k; while (x == 3) ; return 0; }\n";
    let questions = [
        ("counter", counter, "F end", 0),
        ("counter", counter, "F n == 10", 0),
        ("counter", counter, "F n == 11", 10),
        ("counter", counter, "n == 0 U n == 1", 0),
        ("nested", nested, "G F level == 0", 0),
        ("nested", nested, "G level <= 4", 0),
        ("nested", nested, "G F level == 4", 10),
        ("nested", nested, "F end", 10),
        ("results", results, "F G (open == 0 && last == 3)", 0),
        ("results", results, "G open < 4", 10),
        ("leaves", leaves, "F x == 2", 10),
        ("leaves", leaves, "F end", 0),
        ("leaves", leaves, "G (x == 1 -> F (x == 2 || end))", 0),
        ("blocked", blocked, "F x == 3", 0),
        ("blocked", blocked, "F end", 10),
    ];
    for (name, text, formula, expected) in questions {
        let (code, answer) = asked(&format!("{name}.c"), &format!("{head}{text}"), formula);
        assert_eq!(code, expected, "{name}: {formula}: {answer}");
    }
}

#[test]
fn conditions_have_the_types_of_c() {
    let text = "unsigned char c = 200; signed char s = -56; long l = 1L << 40; _Bool b = 1;\nint a[2] = {0, 7};\n\
        struct { int f; } r = {5};\nint main(void) { return 0; }\n";
    for (formula, expected) in [
        ("c == 200 && s == -56", 0),
        ("G (c + 100 == 300)", 0),
        ("c == s", 10),
        ("(unsigned char) s == c", 0),
        ("l > 2147483647", 0),
        ("b && a[1] == 7 && r.f == 5", 0),
        ("!b", 10),
        ("(c & 8) != 0 -> !(s > 0)", 0),
    ] {
        let (code, answer) = asked("types.c", text, formula);
        assert_eq!(code, expected, "{formula}: {answer}");
    }
}

#[test]
fn mistakes_are_shown_with_their_places() {
    let wrong = [
        ("examples/lock.bp", "G (locked ->", "--ltl:1:13: a formula is expected here"),
        ("examples/lock.bp", "G (lokced)", "--ltl:1:4: `lokced` is not declared"),
        ("examples/lock.bp", "G (* -> locked)", "--ltl:1:4: a condition cannot leave its value open"),
        ("examples/lock.c", "F lokced == 1", "--ltl:1:3: "),
        ("examples/lock.c", "F locked++ == 1", "--ltl:1:3: this is not a condition without side effects"),
        ("examples/lock.c", "F at nowhere", "--ltl:1:3: there is no label and no procedure `nowhere`"),
        ("examples/lock.c", "F line 999", "--ltl:1:3: line 999 has no statement"),
        (
            "examples/requests.pds",
            "F nothing",
            "--ltl:1:3: there is no control state and no symbol `nothing`",
        ),
        ("examples/turns.rem", "G turn = 1", "--ltl:1:3: "),
    ];
    for (file, formula, expected) in wrong {
        let output = run(&["check", file, "--ltl", formula]);
        let message = String::from_utf8_lossy(&output.stderr);
        assert_eq!(output.status.code(), Some(2), "{formula}");
        assert!(message.contains(expected), "{formula}: {message}");
    }
}

#[test]
fn what_does_not_go_together_is_refused() {
    for option in [
        &["--engine", "bounded"][..],
        &["--per", "error"],
        &["--label", "x"],
        &["--line", "8"],
        &["--property", "stdio"],
        &["--checks", "all"],
        &["--invariants"],
        &["--no-replay"],
        &["--switches", "2"],
        &["--dump", "cfa"],
    ] {
        let mut arguments = vec!["check", "examples/lock.c", "--ltl", "F end"];
        arguments.extend(option);
        let output = run(&arguments);
        assert_eq!(output.status.code(), Some(2), "{option:?}");
        let message = String::from_utf8_lossy(&output.stderr);
        assert!(message.contains("does not go together with --ltl"), "{option:?}: {message}");
    }
}

#[test]
fn threads_and_what_is_not_followed_are_unknown() {
    let threads = "decl x;\nvoid t() begin x := T; end\nvoid main() begin x := F; start_thread t(); end\n";
    let (code, answer) = asked("threads.bp", threads, "F x");
    assert_eq!((code, &answer["verdict"]), (5, &"unknown".into()));
    assert!(answer["reason"].as_str().is_some_and(|reason| reason.contains("threads")));
    let bound = "extern int __VERIFIER_nondet_int(void);\nint x;\nint main(void) { int n = __VERIFIER_nondet_int();\n\
        for (int i = 0; i < n; i++) x = 1; return 0; }\n";
    assert_eq!(asked("bound.c", bound, "F end").0, 5);
}

#[test]
fn pushdown_systems_with_values_and_many_starts() {
    let text = "weights relation\nglobal x : 0..3\nlocal l : 0..1\nstart <p, a> | <q, b b>\n\
        <p, a> -> <p, a>  [x < 3] { x := x + 1 }\n<p, a> -> <q, b c>  [x == 3]\n\
        <q, b> -> <q, >  { x := 0 }\n<q, c> -> <q, c>  [x == 0]\n";
    for (formula, expected) in [
        ("F q", 0),
        ("G F c", 10),
        ("G (a -> F c)", 0),
        ("G (c -> G c)", 0),
        ("F (end || c)", 0),
        ("G !end", 10),
        ("state q || state p", 0),
        ("top a", 10),
    ] {
        let (code, answer) = asked("values.pds", text, formula);
        assert_eq!(code, expected, "{formula}: {answer}");
    }
}
