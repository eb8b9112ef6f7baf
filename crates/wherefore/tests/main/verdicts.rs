//! One verdict for each check, and statements that hold: what users read is compared with what
//! programs do.

use std::collections::BTreeSet;
use std::path::{Path, PathBuf};
use std::process::Command;

use serde_json::{Value, json};

/// A fresh folder for the files of a test.
fn folder(name: &str) -> PathBuf {
    let folder = Path::new(env!("CARGO_TARGET_TMPDIR")).join(name);
    std::fs::create_dir_all(&folder).expect("a folder for a test");
    folder
}

/// Runs the binary on a program: the exit code and the answer as JSON.
fn asked(name: &str, text: &str, arguments: &[&str]) -> (Option<i32>, Value) {
    let file = folder("verdicts").join(name);
    std::fs::write(&file, text).expect("a program");
    let (verb, options) = arguments.split_first().expect("a verb");
    let output = Command::new(env!("CARGO_BIN_EXE_wherefore"))
        .arg(verb)
        .arg(&file)
        .args(["--json", "--timeout", "60"])
        .args(options)
        .output()
        .expect("the binary runs");
    let shown = String::from_utf8_lossy(&output.stdout).into_owned();
    (output.status.code(), serde_json::from_str(&shown).unwrap_or(Value::Null))
}

fn check(name: &str, text: &str, options: &[&str]) -> (Option<i32>, Value) {
    let arguments: Vec<&str> = std::iter::once("check").chain(options.iter().copied()).collect();
    asked(name, text, &arguments)
}

/// The verdicts on the checks of an answer, by line.
fn verdicts(answer: &Value) -> Vec<(u64, String)> {
    let targets = answer["targets"].as_array().expect("targets");
    let verdict = |target: &Value| {
        (target["line"].as_u64().expect("a line"), target["verdict"].as_str().unwrap_or("").to_owned())
    };
    targets.iter().map(verdict).collect()
}

fn expect(answer: &Value, expected: &[(u64, &str)]) {
    let expected: Vec<(u64, String)> =
        expected.iter().map(|(line, word)| (*line, (*word).to_owned())).collect();
    assert_eq!(verdicts(answer), expected, "{answer}");
}

const SEVERAL: &str = "#include <assert.h>
extern int __VERIFIER_nondet_int(void);
int main(void) {
  int x = __VERIFIER_nondet_int();
  assert(x != 7);
  int y = 2 * x;
  assert(y % 2 == 0);
  assert(y != 12);
  if (y % 2)
    assert(y > 0);
  return 0;
}
";

#[test]
fn every_check_has_a_verdict_of_its_own() {
    let (code, answer) = check("several.c", SEVERAL, &["--checks", "none"]);
    assert_eq!(code, Some(10));
    expect(&answer, &[(5, "unsafe"), (7, "safe"), (8, "unsafe"), (10, "unreachable")]);
    // The first failure is shown, the other one is with its check.
    assert_eq!(answer["error"]["line"], 5);
    assert!(answer["targets"][2]["run"]["trace"].as_array().is_some_and(|run| !run.is_empty()));
    assert_eq!(answer["targets"][2]["run"]["replay"]["outcome"], "confirmed");
    let (code, answer) = check("several.c", SEVERAL, &["--checks", "none", "--first-failure"]);
    assert_eq!(code, Some(10));
    let words: BTreeSet<String> = verdicts(&answer).into_iter().map(|(_, word)| word).collect();
    assert_eq!(words, BTreeSet::from(["unsafe".to_owned(), "unknown".to_owned()]));
    let (code, answer) = check("several.c", SEVERAL, &["--checks", "none", "--line", "7"]);
    assert_eq!(code, Some(0), "{answer}");
    expect(&answer, &[(7, "safe")]);
    assert_eq!(check("several.c", SEVERAL, &["--checks", "none", "--line", "6"]).0, Some(2));
}

#[test]
fn boolean_programs_have_a_verdict_for_each_check_too() {
    let text = "decl a, b;\nvoid main() begin\n  a := *;\n  b := a;\n  assert(a = b);\n  assert(a);\n  assume(F);\n  assert(b);\nend\n";
    for engine in ["auto", "exact", "cegar", "bounded"] {
        let (code, answer) = check("checks.bp", text, &["--engine", engine]);
        assert_eq!(code, Some(10), "{engine}: {answer}");
        expect(&answer, &[(5, "safe"), (6, "unsafe"), (8, "unreachable")]);
    }
}

#[test]
fn contradicting_assumptions_are_noticed() {
    let text = "#include <assert.h>
extern int __VERIFIER_nondet_int(void);
extern void __VERIFIER_assume(int);
int main(void) {
  int x = __VERIFIER_nondet_int();
  __VERIFIER_assume(x > 10);
  __VERIFIER_assume(x < 5);
  assert(x == 99);
  return 0;
}
";
    let (code, answer) = check("contradiction.c", text, &[]);
    assert_eq!(code, Some(0));
    expect(&answer, &[(8, "unreachable")]);
    let reason = answer["targets"][0]["reason"].as_str().expect("a reason");
    assert!(reason.contains("line 7"), "{reason}");
}

/// Puts a test of each invariant in front of its line, compiles and runs the program: none may
/// fail.
fn invariants_hold(name: &str, text: &str, engine: &str) -> usize {
    let (code, answer) =
        check(&format!("{name}.c"), text, &["--engine", engine, "--invariants", "--checks", "none"]);
    assert_eq!(code, Some(0), "{name} by {engine}: {answer}");
    let invariants = answer["invariants"].as_array().cloned().unwrap_or_default();
    let mut lines: Vec<String> = text.lines().map(str::to_owned).collect();
    let mut tested = 0;
    for invariant in &invariants {
        let line = invariant["line"].as_u64().expect("a line") as usize;
        let formula = invariant["predicates"][0].as_str().expect("a formula");
        // A test can only stand where a statement begins, and in the words of C.
        let begins = lines[line - 1].trim_start().starts_with("S(");
        if begins && !formula.contains("old(") && !formula.contains("result") {
            lines[line - 1] = lines[line - 1].replacen("S(", &format!("T({formula}); S("), 1);
            tested += 1;
        }
    }
    // Bounds hold at the heads of loops: where the condition is evaluated.
    for bound in answer["bounds"].as_array().into_iter().flatten() {
        let line = bound["line"].as_u64().expect("a line") as usize;
        let formula = bound["predicates"][0].as_str().expect("a formula");
        if lines[line - 1].contains("L(") {
            lines[line - 1] = lines[line - 1].replacen("L(", &format!("L(H({formula}) && "), 1);
            tested += 1;
        }
    }
    let folder = folder("invariants");
    let head = "#include <stdio.h>\n#include <stdlib.h>\n#include <stdbool.h>\nstatic unsigned seed = 7;\n\
        int __VERIFIER_nondet_int(void) { seed = seed * 1103515245u + 12345u; return (int)(seed >> 16) % 5; }\n\
        #define T(e) do { if (!(e)) { printf(\"line %d: %s\\n\", __LINE__, #e); exit(70); } } while (0)\n#define S(e) e\n\
        #define L(e) e\n#define H(e) ((e) || (printf(\"line %d: %s\\n\", __LINE__, #e), exit(70), 0))\n\
        void reach_error(void) { abort(); }\n";
    let file = folder.join(format!("{name}.c"));
    std::fs::write(&file, format!("{head}{}", lines.join("\n"))).expect("a program");
    let binary = folder.join(name);
    let compiled = Command::new("cc").args(["-w", "-fwrapv", "-o"]).args([&binary, &file]).status();
    assert!(compiled.expect("a compiler").success(), "{}", lines.join("\n"));
    let output = Command::new(binary).output().expect("the program runs");
    assert_eq!(output.status.code(), Some(0), "{name}: {}", String::from_utf8_lossy(&output.stdout));
    tested
}

/// The invariant of a loop is about the procedure of the loop: a caller with a variable of the same
/// name, or several calls, must not make it false.
#[test]
fn invariants_hold_in_the_compiled_program() {
    let head = "extern void reach_error(void);\nextern int __VERIFIER_nondet_int(void);\n";
    let of_two_frames = "int f(int y) {
  int x = 0;
  while (L(x < y)) {
    S(x++;)
  }
  S(return x;)
}
int main(void) {
  int x = 6;
  int r = f(x - 1);
  S(if (r != x - 1))
    reach_error();
  S(return 0;)
}
";
    let called_twice = "int g;
void f(int x) {
  while (__VERIFIER_nondet_int()) {
    S(g = x;)
  }
  S(g = x;)
}
int main(void) {
  f(1);
  S(if (g != 1))
    reach_error();
  f(2);
  S(if (g != 2))
    reach_error();
  S(return 0;)
}
";
    let unsigned = "int main(void) {
  unsigned n = 0;
  int down = 10;
  while (L(__VERIFIER_nondet_int())) {
    S(if (n < 10))
      { n = n + 1; down = down - 1; }
    S(if (n > 10))
      reach_error();
    S(if (down < 0))
      reach_error();
  }
  S(return 0;)
}
";
    // `S(…)` marks where a statement begins, `L(…)` the condition of a loop; to the tool they are
    // macros like any other.
    let with = |text: &str| format!("#ifndef S\n#define S(e) e\n#define L(e) e\n#endif\n{head}{text}");
    let tested: usize =
        [("two-frames", of_two_frames), ("called-twice", called_twice), ("unsigned", unsigned)]
            .iter()
            .map(|(name, text)| {
                ["cegar", "pdr"]
                    .map(|engine| invariants_hold(name, &with(text), engine))
                    .iter()
                    .sum::<usize>()
            })
            .sum();
    assert!(tested >= 8, "only {tested} invariants and bounds were tested");
}

/// What `enforce` excludes is excluded everywhere: a line is not cleared and part of an explanation
/// at once.
#[test]
fn enforced_conditions_bind_projection_and_explanation_alike() {
    let text = "decl g;\nvoid f() begin\n  enforce g;\n  if (*) then\n    g := F;\n    skip;\n  else\n    skip;\n  fi\n  assert(F);\nend\nvoid main() begin\n  g := T;\n  f();\nend\n";
    let (code, answer) = asked("enforce.bp", text, &["explain"]);
    assert_eq!(code, Some(10), "{answer}");
    let out: BTreeSet<u64> =
        answer["projection"]["out"].as_array().into_iter().flatten().filter_map(Value::as_u64).collect();
    assert!(out.contains(&6), "{answer}");
    for focus in answer["focus"].as_array().into_iter().flatten().filter(|focus| focus["feasible"] == true) {
        let lines = focus["lines"].as_array().into_iter().flatten().filter_map(Value::as_u64);
        assert!(lines.into_iter().all(|line| !out.contains(&line)), "{answer}");
    }
}

#[test]
fn answers_about_c_invent_nothing_and_options_that_do_not_apply_are_refused() {
    let text =
        "extern void reach_error(void);\nint main(void) { int x = 0; while (1) { if (x) reach_error(); } }\n";
    let (code, answer) = check("endless.c", text, &["--engine", "cegar"]);
    assert_eq!(code, Some(0), "{answer}");
    assert_eq!(answer["refinement"]["heuristic"], Value::Null);
    assert_eq!(answer["refinement"]["abstracted_rules"], Value::Null);
    for options in [
        &["--heuristic", "weakest"][..],
        &["--search", "backwards", "--engine", "cegar"],
        &["--engine", "bounded", "--invariants"],
    ] {
        assert_eq!(check("endless.c", text, options).0, Some(2), "{options:?}");
    }
    let boolean = "void main() begin assert(*); end\n";
    for options in [&["--data-model", "ilp32"][..], &["-D", "X"], &["--malloc-may-fail"], &["--no-replay"]] {
        assert_eq!(check("plain.bp", boolean, options).0, Some(2), "{options:?}");
    }
}

#[test]
fn an_engine_that_does_not_take_a_program_is_unknown_for_every_command() {
    let text = "extern void reach_error(void);\nint a;\nint main(void) { int *p = &a; *p = 1; if (*p != 1) reach_error(); return 0; }\n";
    for verb in ["check", "project"] {
        let (code, answer) = asked("memory.c", text, &[verb, "--engine", "exact"]);
        assert_eq!((code, &answer["verdict"]), (Some(5), &json!("unknown")), "{verb}: {answer}");
        let reason = answer["reason"].as_str().expect("a reason");
        assert!(reason.contains("memory"), "{reason}");
    }
}

#[test]
fn small_data_of_c_are_checked_exactly() {
    let text = "#include <stdbool.h>\nextern void reach_error(void);\nextern unsigned char __VERIFIER_nondet_uchar(void);\n\
        int main(void) { unsigned char a = __VERIFIER_nondet_uchar(), b = a ^ 1; if (a == b) reach_error(); return 0; }\n";
    let (code, answer) = check("small.c", text, &["--engine", "exact"]);
    assert_eq!((code, &answer["engine"]), (Some(0), &json!("exact")), "{answer}");
}

/// *Always* is said only if no run ends without failing.
#[test]
fn a_failure_that_depends_on_choices_is_not_said_to_happen_always() {
    let cases = [
        ("choice.bp", "void main() begin\n  if (*) then\n    assert(F);\n  fi\nend\n", false),
        ("always.bp", "void main() begin\n  assert(F);\nend\n", true),
        (
            "read.c",
            "extern void reach_error(void);\nextern int __VERIFIER_nondet_int(void);\nint main(void) { if (__VERIFIER_nondet_int()) reach_error(); return 0; }\n",
            false,
        ),
        (
            "leaves.c",
            "extern void reach_error(void);\nextern void exit(int);\nextern int __VERIFIER_nondet_int(void);\nint main(void) { if (__VERIFIER_nondet_int()) exit(0); reach_error(); return 0; }\n",
            false,
        ),
        (
            "fails.c",
            "extern void reach_error(void);\nint main(void) { int x = 1; if (x) reach_error(); return 0; }\n",
            true,
        ),
    ];
    for (name, text, always) in cases {
        let (code, answer) = asked(name, text, &["explain"]);
        assert_eq!(code, Some(10), "{name}: {answer}");
        assert_eq!(answer["always"] == true, always, "{name}: {answer}");
    }
}

/// A line is cleared only where `check` would say *safe*.
#[test]
fn doubts_about_proofs_are_doubts_about_cleared_lines() {
    let text = "extern void reach_error(void);\nint pad[16];\nint x;\nint main(void) {\n  int k = 0;\n  if ((unsigned long)&x & 128)\n    k += 10;\n  reach_error();\n  return k;\n}\n";
    let (code, answer) = asked("address.c", text, &["project"]);
    assert_eq!(code, Some(10), "{answer}");
    assert_eq!(answer["projection"]["out"], json!([]), "{answer}");
    let reason = answer["reason"].as_str().expect("a reason");
    assert!(reason.contains("no line is cleared, because"), "{reason}");
    let outside = "extern void reach_error(void);\nextern int nd(void);\nint a[4];\nint main(void) {\n  int i = nd();\n  a[i] = 5;\n  if (i == 4)\n    i = 9;\n  reach_error();\n  return 0;\n}\n";
    let (code, answer) = asked("outside.c", outside, &["project", "--checks", "none"]);
    assert_eq!(code, Some(10), "{answer}");
    assert!(!answer["projection"]["out"].as_array().expect("lines").contains(&json!(8)), "{answer}");
}

/// What is not modelled spoils a proof only if runs come there; a failing run elsewhere stands.
#[test]
fn places_that_are_not_modelled_count_where_runs_come() {
    let text = |bound: i32, error: &str| {
        format!(
            "extern void reach_error(void);\nextern int nd(void);\nvoid f(int x) {{\n  if (x > {bound})\n    __builtin_ia32_rdtsc();\n}}\nint main(void) {{\n  int x = nd();\n  if (x > 3)\n    x = 3;\n  f(x);\n  {error}\n  return 0;\n}}\n"
        )
    };
    let (code, answer) = check("place_unreached.c", &text(5, "if (x > 3) reach_error();"), &[]);
    assert_eq!((code, &answer["verdict"]), (Some(0), &json!("safe")), "{answer}");
    let (code, answer) = check("place_reached.c", &text(2, "if (x > 3) reach_error();"), &[]);
    assert_eq!((code, &answer["verdict"]), (Some(5), &json!("unknown")), "{answer}");
    let reason = answer["reason"].as_str().expect("a reason");
    assert!(reason.ends_with("place_reached.c:5:5`: `__builtin_ia32_rdtsc` is not supported"), "{reason}");
    assert_eq!(answer["targets"].as_array().map(Vec::len), Some(1), "{answer}");
    let (code, answer) = check("place_fails.c", &text(2, "if (x == 1) reach_error();"), &[]);
    assert_eq!((code, &answer["verdict"]), (Some(10), &json!("unsafe")), "{answer}");
    // The only check is in what is not modelled.
    let lost = "extern void reach_error(void);\nint main(void) {\n  int f(x) int x; { reach_error(); return 0; }\n  return f(1);\n}\n";
    let (code, answer) = check("place_lost.c", lost, &[]);
    assert_eq!((code, &answer["verdict"]), (Some(5), &json!("unknown")), "{answer}");
    // Lines are cleared only if no run comes to such a place.
    let (_, answer) = asked("place_project.c", &text(2, "if (x == 1) reach_error();"), &["project"]);
    assert!(answer["reason"].as_str().is_some_and(|reason| reason.contains("is not supported")), "{answer}");
}

/// Rules about arithmetic hold for integers of 128 bits as for others.
#[test]
fn arithmetic_of_128_bits_is_checked() {
    let cases = [
        ("fits", "a + (a - 2) + n", 0),
        ("sum", "a + a + n", 10),
        ("difference", "-a - a - n - 1", 10),
        ("negation", "-(-a - a + n)", 10),
        ("quotient", "a / n", 10),
        ("left", "(long)((unsigned __int128)3 << (n + 127))", 10),
        ("right", "a >> (n + 126)", 0),
        ("unsigned", "(unsigned __int128)a * 8 + n", 0),
    ];
    for (name, expression, expected) in cases {
        let text = format!(
            "extern int __VERIFIER_nondet_int(void);\nint main(void) {{\n  int n = __VERIFIER_nondet_int();\n  \
             if (n < 0 || n > 1)\n    return 0;\n  __int128 a = (__int128)1 << 126;\n  a = {expression};\n  \
             return a > 3;\n}}\n"
        );
        let name = format!("wide_{name}.c");
        let (code, answer) = check(&name, &text, &["--checks", "overflow,shift,division"]);
        assert_eq!(code, Some(expected), "{expression}: {answer}");
    }
}
