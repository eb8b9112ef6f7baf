//! The only run of a program without input proves it or is its failing run.

use std::time::Duration;

use proptest::prelude::*;
use proptest::strategy::ValueTree;
use proptest::test_runner::{RngAlgorithm, TestRng, TestRunner};
use wherefore_check::{Budget, EngineChoice, Overall, Question, Replaying, Session, answer};
use wherefore_testing::{cases, seed};

use crate::c_support::random;
use crate::random_runs::task;

#[derive(Clone, Copy, Debug, PartialEq)]
enum Found {
    Safe,
    Unsafe,
    Unknown,
}

fn found(text: &str, engine: EngineChoice) -> Found {
    let question = Question { engine, replaying: Replaying::Off, ..Question::default() };
    let budget = Budget::time(Duration::from_secs(60));
    let task = task(text);
    let answer = answer(&task, &question, &Session::default(), &budget);
    for run in answer.verdicts.iter().filter_map(|verdict| verdict.run()) {
        task.program.replay(&run.trace).expect("the run is one of the program");
    }
    match answer.decision() {
        Overall::Safe => Found::Safe,
        Overall::Unsafe(_) => Found::Unsafe,
        _ => Found::Unknown,
    }
}

/// Random programs whose inputs are constants: bounded checking says the same. One that is left
/// makes the engine give up, unless it does not matter.
#[test]
fn random_programs_without_input_are_decided_as_by_bounded_checking() {
    let rng = TestRng::from_seed(RngAlgorithm::ChaCha, &[seed() as u8; 32]);
    let mut runner = TestRunner::new_with_rng(ProptestConfig::default(), rng);
    let mut decided = 0;
    for case in 0..cases(60) {
        let mut text = random::program().new_tree(&mut runner).unwrap().current();
        for part in [0, 2, 4] {
            text = text.replacen("__VERIFIER_nondet_int() &", &format!("{} &", case >> part & 3), 1);
        }
        text = match case % 4 {
            0 => text.replacen("int *p", "int unused, *p", 1).replacen(
                "  if (",
                "  unused = __VERIFIER_nondet_int();\n  if (",
                1,
            ),
            1 => text.replacen("= 1 &", "= __VERIFIER_nondet_int() &", 1),
            _ => text,
        };
        let single = found(&text, EngineChoice::SingleRun);
        if single != Found::Unknown {
            decided += 1;
            assert_eq!(single, found(&text, EngineChoice::Bounded), "{text}");
        }
    }
    assert!(decided * 2 > cases(60), "{decided} were decided");
}

const HEAD: &str = "#include <stdlib.h>\n#include <stdio.h>\n#include <string.h>\nextern int in(void); extern void reach_error(void);\n";

#[test]
fn long_runs_are_made_and_what_matters_is_given() {
    let programs = [
        // A recursion with hundreds of thousands of calls.
        (
            "int f(int n) { return n < 2 ? n : f(n - 1) + f(n - 2); } int main(void) { if (f(22) != 17711) reach_error(); return 0; }",
            Found::Safe,
        ),
        (
            "int f(int n) { return n < 2 ? n : f(n - 1) + f(n - 2); } int main(void) { if (f(12) == 144) reach_error(); return 0; }",
            Found::Unsafe,
        ),
        // A sieve.
        (
            "static char no[30000]; int main(void) { int i, j, n = 0; for (i = 2; i < 30000; i++) { if (no[i]) continue; n++; for (j = 2 * i; j < 30000; j += i) no[j] = 1; } if (n != 3245) reach_error(); return 0; }",
            Found::Safe,
        ),
        // Results that nobody reads; variables that are written first.
        (
            "int main(void) { int x, y, i; for (i = 0; i < 50; i++) { int z; z = i; x = z; y = x; printf(\"%d\", y); } if (x != 49) reach_error(); return 0; }",
            Found::Safe,
        ),
        (
            "int main(void) { int *p = malloc(8), *q; if (!p) return 0; p[1] = 4; q = p; if (q[1] != 4) reach_error(); free(p); return 0; }",
            Found::Safe,
        ),
        // Inputs, values that are not set, and memory that nobody has written.
        ("int main(void) { int x = in(); if (x * x == 7) reach_error(); return 0; }", Found::Unknown),
        ("int main(void) { int x; if (x * x == 7) reach_error(); return 0; }", Found::Unknown),
        (
            "int main(void) { int v[3]; v[0] = 1; if (v[2] * v[2] == 7) reach_error(); return 0; }",
            Found::Unknown,
        ),
        (
            "int main(void) { int *p = malloc(8); if (!p) return 0; if (p[1] * p[1] == 7) reach_error(); return 0; }",
            Found::Unknown,
        ),
        (
            "int f(void) { int x; return x; } int main(void) { int y = f(); if (y * y == 7) reach_error(); return 0; }",
            Found::Unknown,
        ),
        (
            "int main(int argc, char **argv) { if (argc * argc == 7) reach_error(); return 0; }",
            Found::Unknown,
        ),
        // An argument that matters for nothing, and branches that do not depend on values.
        (
            "static int f(int x, int y) { return y; } int main(void) { int i, s = 0, k = in(); for (i = 0; i < 300; i++) s += f(k, i); if (s != 44850) reach_error(); return 0; }",
            Found::Safe,
        ),
        (
            "int main(void) { int x = 3; while (in()) x = x * x; if (x * x == 7) reach_error(); return 0; }",
            Found::Unknown,
        ),
        // Elements of arrays that are left open are not followed.
        (
            "int main(void) { int i, s = 0; for (i = 0; i < 300; i++) { int *p[3], x = i, *q = &x; int **r = p; r[i % 3] = q; s += *p[i % 3]; } if (s != 44850) reach_error(); return 0; }",
            Found::Unknown,
        ),
        // Values in memory that nobody looks at, that are overwritten, and one that is looked at.
        (
            "struct s { char c; int x; }; int main(void) { struct s a, b, *p = &a, *q = &b; int i; for (i = 0; i < 40; i++) { p->x = i; *q = *p; p->c = 1; *q = *p; } if (q->x * q->c != 39) reach_error(); return 0; }",
            Found::Safe,
        ),
        (
            "int main(void) { int a[2], *p = a, b; p[0] = in(); p[1] = 3; b = p[0]; p[0] = b + 1; b = 3; if (b * p[1] == 7) reach_error(); return 0; }",
            Found::Safe,
        ),
        (
            "int main(void) { int a[2], *p = a, b; p[1] = 2; p[0] = in(); b = p[0]; p[1] = b + 1; if (p[1] * p[1] == 7) reach_error(); return 0; }",
            Found::Unknown,
        ),
        // An end that comes before what is not known.
        (
            "int main(void) { int i; for (i = 0; i < 9; i++) ; if (i == 9) exit(3); i = in(); if (i * i == 7) reach_error(); return 0; }",
            Found::Safe,
        ),
    ];
    for (text, expected) in programs {
        let text = format!("{HEAD}{text}");
        assert_eq!(found(&text, EngineChoice::SingleRun), expected, "{text}");
    }
}

/// A local array has no values at first; once each element has one, nothing is open.
#[test]
fn arrays_that_are_filled_are_not_open() {
    let program = |body: &str| {
        format!(
            "extern void reach_error(void); extern int outside(void);\n\
             static int sum(int n) {{ int a[4]; for (int i = 0; i < 4; i++) a[i] = i * n; int s = 0; for (int i = 3; i >= 0; i--) s += a[i]; return s; }}\n\
             int main(void) {{ int i = 0, j = 0; {body} return 0; }}\n"
        )
    };
    let fill = "int w[4]; for (i = 0; i < 4; i++) w[i] = i;";
    for (body, expected) in [
        (format!("{fill} if (w[2] != 2) reach_error();"), Found::Safe),
        (format!("{fill} if (w[2] == 2) reach_error();"), Found::Unsafe),
        (
            "int m[3][2]; for (i = 0; i < 3; i++) for (j = 0; j < 2; j++) m[i][j] = i + j; if (m[2][1] != 3) reach_error();".to_owned(),
            Found::Safe,
        ),
        // Again each time.
        (format!("for (int k = 0; k < 3; k++) {{ {fill} if (w[3] != 3) reach_error(); }}"), Found::Safe),
        ("if (sum(2) != 12 || sum(5) != 30) reach_error();".to_owned(), Found::Safe),
        ("if (sum(2) == 12) reach_error();".to_owned(), Found::Unsafe),
        // One element is missing, or is open again, or the array is another one.
        ("int w[4]; for (i = 0; i < 3; i++) w[i] = i; j = 3; if (w[j] == 7) reach_error();".to_owned(), Found::Unknown),
        ("int w[4]; for (i = 0; i < 4; i++) w[i & 1] = i; if (w[3] == 7) reach_error();".to_owned(), Found::Unknown),
        ("int w[4]; for (i = 0; i < 4; i++) w[2] = i; if (w[3] == 7) reach_error();".to_owned(), Found::Unknown),
        (format!("{fill} w[1] = outside(); if (w[1] == 7) reach_error();"), Found::Unknown),
        (format!("int v[4]; {fill} w[1] = v[2]; if (w[1] == 7) reach_error();"), Found::Unknown),
        (
            "for (int k = 0; k < 2; k++) { int w[4]; if (k && w[1] == 7) reach_error(); for (i = 0; i < 4; i++) w[i] = i; }".to_owned(),
            Found::Unknown,
        ),
        (format!("{fill} w[1] = outside(); for (i = 0; i < 4; i++) w[i] = 9 - i; if (w[1] != 8) reach_error();"), Found::Safe),
    ] {
        assert_eq!(found(&program(&body), EngineChoice::SingleRun), expected, "{body}");
    }
}
