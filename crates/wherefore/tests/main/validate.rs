//! `wherefore validate` and `check --annotations`: what others say about a program is confirmed if
//! it is true, and refuted if it is not.

use std::path::{Path, PathBuf};
use std::process::{Command, Output};

use serde_json::Value;

fn folder(name: &str) -> PathBuf {
    let folder = std::env::temp_dir().join(format!("wherefore-validate-{}-{name}", std::process::id()));
    std::fs::create_dir_all(&folder).expect("a folder");
    folder
}

fn wherefore(folder: &Path, arguments: &[&str]) -> Output {
    Command::new(env!("CARGO_BIN_EXE_wherefore"))
        .args(arguments)
        .current_dir(folder)
        .output()
        .expect("the tool runs")
}

fn text(output: &Output) -> String {
    format!("{}{}", String::from_utf8_lossy(&output.stdout), String::from_utf8_lossy(&output.stderr))
}

const HEAD: &str = "extern void reach_error(void); extern int __VERIFIER_nondet_int(void);\n";

/// Programs with their verdicts: loops, calls as conditions, branches in a row, several functions.
const PROGRAMS: [(&str, &str); 5] = [
    (
        "loop",
        "int main(void) {\n  int n = __VERIFIER_nondet_int(), i = 0, s = 0;\n  if (n < 0 || n > 6) return 0;\n  while (i < n) { i++; s += 2; }\n  if (s == 8) { reach_error(); }\n  return 0;\n}\n",
    ),
    (
        "condition",
        "int main(void) {\n  int k = 0;\n  while (__VERIFIER_nondet_int()) {\n    if (__VERIFIER_nondet_int() > 7)\n      k++;\n    else k = 0;\n    if (k == 3)\n      reach_error();\n  }\n  return 0;\n}\n",
    ),
    (
        "calls",
        "int twice(int x) { return x + x; }\nint main(void) {\n  int x = __VERIFIER_nondet_int();\n  if (x > 10 && x < 50) { x = twice(x); if (x == 42) { reach_error(); } }\n  return 0;\n}\n",
    ),
    (
        "safe",
        "int main(void) {\n  unsigned n = 0; int down = 10;\n  while (__VERIFIER_nondet_int()) {\n    if (n < 10) { n = n + 1; down = down - 1; }\n    if (down < 0) { reach_error(); }\n  }\n  return 0;\n}\n",
    ),
    (
        "sum",
        "int main(void) {\n  int n = __VERIFIER_nondet_int(), i = 0, k = 0;\n  if (n < 0) return 0;\n  while (i < n) { i++; k++; }\n  if (k != n) { reach_error(); }\n  return 0;\n}\n",
    ),
];

#[test]
fn witnesses_of_our_own_are_confirmed_and_changed_ones_are_not() {
    let folder = folder("own");
    let mut kinds = [0; 2];
    for (name, body) in PROGRAMS {
        let (source, witness) = (format!("{name}.c"), format!("{name}.yml"));
        std::fs::write(folder.join(&source), format!("{HEAD}{body}")).expect("a program");
        let made = wherefore(
            &folder,
            &["explain", &source, "--error-function", "reach_error", "--witness", &witness],
        );
        assert!(matches!(made.status.code(), Some(0 | 10)), "{name}: {}", text(&made));
        let output = wherefore(&folder, &["validate", &witness, &source, "--json"]);
        assert_eq!(output.status.code(), Some(0), "{name}: {}", text(&output));
        let answer: Value = serde_json::from_slice(&output.stdout).expect("JSON");
        assert_eq!(answer["witness"], "confirmed", "{name}: {answer}");
        let is_violation = made.status.code() == Some(10);
        assert_eq!(answer["kind"], if is_violation { "violation" } else { "correctness" }, "{name}");
        kinds[usize::from(is_violation)] += 1;
        if is_violation {
            assert_eq!(answer["replay"]["outcome"], "confirmed", "{name}: {answer}");
            // The same run with inputs that are zero, and with all decisions turned round.
            let original = std::fs::read_to_string(folder.join(&witness)).expect("a witness");
            for (from, to) in [("result == ", "result == 0 * "), ("\"true\"", "\"false\"")] {
                let changed = original.replace(from, to);
                if changed == original {
                    continue;
                }
                std::fs::write(folder.join("changed.yml"), changed).expect("a witness");
                let output = wherefore(&folder, &["validate", "changed.yml", &source]);
                assert_eq!(output.status.code(), Some(10), "{name}, {from}: {}", text(&output));
            }
        }
    }
    assert!(kinds[0] >= 2 && kinds[1] >= 3, "{kinds:?}");
}

fn invariants(list: &[(u32, &str)]) -> String {
    let entry = |(line, value): &(u32, &str)| {
        format!(
            "  - invariant:\n      type: loop_invariant\n      location: {{file_name: /elsewhere/p.c, line: {line}}}\n      value: \"{value}\"\n      format: c_expression\n"
        )
    };
    let entries: String = list.iter().map(entry).collect();
    format!(
        "- entry_type: invariant_set\n  metadata: {{format_version: '2.0', task: {{specification: 'CHECK( init(main()), LTL(G ! call(reach_error())) )'}}}}\n  content:\n{entries}"
    )
}

#[test]
fn invariants_of_others_are_checked_and_help() {
    let folder = folder("others");
    // Without the invariant this takes long, or is not proved.
    let program = format!(
        "{HEAD}int main(void) {{\n  unsigned x = 0, y = 0, n = __VERIFIER_nondet_int();\n  for (unsigned i = 0; i < n; i++) {{ x += 3; y += 5; }}\n  if (5 * x != 3 * y) {{ reach_error(); }}\n  return 0;\n}}\n"
    );
    std::fs::write(folder.join("p.c"), program).expect("a program");
    for (list, code) in [
        (&[(4, "5 * x == 3 * y")][..], 0),
        (&[(4, "5 * x == 3 * y"), (4, "x == 3 * i && y == 5 * i")], 0),
        (&[(4, "x <= 9")], 10),
        (&[(4, "5 * x == 3 * y"), (4, "i < n")], 10),
        (&[(3, "x == 0")], 2),
    ] {
        std::fs::write(folder.join("w.yml"), invariants(list)).expect("a witness");
        let output = wherefore(&folder, &["validate", "w.yml", "p.c"]);
        assert_eq!(output.status.code(), Some(code), "{list:?}: {}", text(&output));
    }
    let told = text(&wherefore(&folder, &["validate", "w.yml", "p.c"]));
    assert!(told.contains("w.yml:7:15:") && told.contains("no loop starts at line 3"), "{told}");
}

#[test]
fn witnesses_for_other_versions_are_refused() {
    let folder = folder("version");
    std::fs::write(folder.join("p.c"), format!("{HEAD}{}", PROGRAMS[0].1)).expect("a program");
    wherefore(&folder, &["explain", "p.c", "--error-function", "reach_error", "--witness", "w.yml"]);
    std::fs::write(folder.join("p.c"), format!("{HEAD}{}// more\n", PROGRAMS[0].1)).expect("a program");
    let output = wherefore(&folder, &["validate", "w.yml", "p.c"]);
    assert_eq!(output.status.code(), Some(2), "{}", text(&output));
    assert!(text(&output).contains("another version"), "{}", text(&output));
    let output = wherefore(&folder, &["validate", "w.yml", "p.c", "--any-version"]);
    assert_eq!(output.status.code(), Some(0), "{}", text(&output));
}

/// A small generator of numbers: the tests are the same on every machine.
struct Numbers(u64);

impl Numbers {
    fn below(&mut self, limit: u64) -> u64 {
        self.0 = self.0.wrapping_mul(6_364_136_223_846_793_005).wrapping_add(1_442_695_040_888_963_407);
        (self.0 >> 33) % limit
    }
}

/// Programs with a claim in front of a loop and one between statements, and the same programs in
/// which C itself evaluates the claims, with all values of the inputs: the claims hold, or the
/// first that fails is found.
#[test]
fn claims_hold_exactly_if_they_do_in_the_compiled_program() {
    let folder = folder("random");
    let mut numbers = Numbers(11);
    let (mut holding, mut failing) = (0, 0);
    for round in 0..wherefore_testing::cases(48) {
        let claim = |numbers: &mut Numbers| {
            let variable = ["x", "y", "i", "x - y", "x + i"][numbers.below(5) as usize];
            match numbers.below(3) {
                0 => format!("{variable} <= {}", numbers.below(16)),
                1 => format!("{variable} >= -{}", numbers.below(10)),
                _ => format!("{variable} != {}", numbers.below(20)),
            }
        };
        let (first, second) = (claim(&mut numbers), claim(&mut numbers));
        let step = ["x++", "x += y", "y--", "x = y + 1", "y = 1 - y"];
        let change = |numbers: &mut Numbers| step[numbers.below(5) as usize];
        let (a, b, c) = (change(&mut numbers), change(&mut numbers), change(&mut numbers));
        let bound = numbers.below(4);
        let write = |is_compiled: bool| {
            let (in_loop, between) = match is_compiled {
                true => (format!("T({first}), "), format!("T({second});")),
                false => (String::new(), format!("//@ assert {second};\n")),
            };
            let comment = if is_compiled { String::new() } else { format!("//@ loop invariant {first};\n") };
            format!(
                "int run(int n, int x) {{\n  int y = 0, i = 0;\n  {comment}  while ({in_loop}i < n) {{ i++; if (n == {bound}) {a}; else {b}; }}\n  {c};\n  {between}  return x;\n}}\n"
            )
        };
        let checked = format!(
            "extern int __VERIFIER_nondet_int(void);\n{}int main(void) {{ int n = __VERIFIER_nondet_int(), x = __VERIFIER_nondet_int(); if (n < 0 || n > 3 || x < 0 || x > 2) return 0; return run(n, x); }}\n",
            write(false)
        );
        let compiled = format!(
            "#include <stdlib.h>\n#define T(e) ((e) ? (void)0 : exit(1))\n{}int main(void) {{ for (int n = 0; n <= 3; n++) for (int x = 0; x <= 2; x++) run(n, x); return 0; }}\n",
            write(true)
        );
        let source = folder.join(format!("r{round}.c"));
        std::fs::write(&source, &checked).expect("a program");
        std::fs::write(folder.join("compiled.c"), compiled).expect("a program");
        let binary = folder.join("compiled");
        let made = Command::new("cc").args(["-w", "-o"]).arg(&binary).arg(folder.join("compiled.c")).status();
        assert!(made.expect("a compiler").success());
        let fails = !Command::new(&binary).status().expect("it runs").success();
        let name = source.to_string_lossy();
        let output =
            wherefore(&folder, &["check", &name, "--annotations", "--checks", "none", "--no-explain"]);
        let expected = if fails { 10 } else { 0 };
        assert_eq!(output.status.code(), Some(expected), "{checked}\n{}", text(&output));
        if fails { failing += 1 } else { holding += 1 }
    }
    assert!(holding > 2 && failing > 2, "{holding} hold, {failing} fail");
}
