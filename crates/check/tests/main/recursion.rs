//! Recursive C programs: refinement with summaries of procedures, where no depth of inlining is
//! enough.

use std::path::PathBuf;
use std::time::Duration;

use wherefore_check::refinement::solver::{Answer, Calls, Outcome, check};
use wherefore_check::{Budget, Prover};
use wherefore_frontend::c::{self, Options};
use wherefore_program::{Program, TargetChoice};

const HEAD: &str = "extern int __VERIFIER_nondet_int(void);\nextern void reach_error(void);\n";

fn translate(name: &str, text: &str) -> Program {
    let folder = PathBuf::from(env!("CARGO_TARGET_TMPDIR"));
    let file = folder.join(format!("recursion-{name}.c"));
    std::fs::write(&file, format!("{HEAD}{text}")).unwrap();
    c::translate(&[file], &Options::default()).unwrap_or_else(|error| panic!("{}", error.render())).program
}

fn answer(name: &str, text: &str, calls: Calls) -> Answer {
    let program = translate(name, text);
    let targets = program.targets(&TargetChoice::Default).unwrap();
    let budget = Budget::time(Duration::from_secs(60));
    let answer = check(&program, &targets, calls, &budget, &Prover::default(), &mut |_| {});
    if let Outcome::Unsafe(run) = &answer.outcome {
        assert_eq!(run.trace.last().node(), Some(targets[run.target].node), "{name}");
        if program.uses_memory().is_none() {
            assert_eq!(program.replay(&run.trace), Ok(()), "{name}");
        }
    }
    answer
}

fn is_safe(name: &str, text: &str) -> Answer {
    let answer = answer(name, text, Calls::Auto);
    assert!(matches!(answer.outcome, Outcome::Safe), "{name}: {:?}", answer.outcome);
    answer
}

fn is_unsafe(name: &str, text: &str) {
    let answer = answer(name, text, Calls::Auto);
    assert!(matches!(answer.outcome, Outcome::Unsafe { .. }), "{name}: {:?}", answer.outcome);
}

/// What always holds at a line, as one text.
fn invariants(answer: &Answer, program: &Program, line: u32) -> String {
    let here = answer.invariants.iter().filter(|(node, _)| program.line(*node) == Some(line));
    here.map(|(_, formula)| formula.as_str()).collect::<Vec<_>>().join("; ")
}

const EVEN_AND_ODD: &str = "int odd(int n);\nint even(int n) { if (n == 0) return 1; return odd(n - 1); }\n\
    int odd(int n) { if (n == 0) return 0; return even(n - 1); }\n";

#[test]
fn mutual_recursion() {
    let main = "int main(void) { int e = even(__VERIFIER_nondet_int()); if (e != 0 && e != 1) reach_error(); return 0; }";
    is_safe("even", &format!("{EVEN_AND_ODD}{main}"));
    let main = "int main(void) { if (even(9) == odd(6)) reach_error(); return 0; }";
    is_unsafe("odd", &format!("{EVEN_AND_ODD}{main}"));
}

#[test]
fn what_a_callee_does_to_a_global_does_not_depend_on_the_depth() {
    let text = "int depth;\nvoid walk(int n) {\ndepth = depth + 1;\nif (n > 0) walk(n - 1);\ndepth = depth - 1;\n}\n\
        int main(void) { walk(__VERIFIER_nondet_int()); if (depth != 0) reach_error(); return 0; }";
    let answer = is_safe("walk", text);
    // Before the last statement of `walk`.
    let known = invariants(&answer, &translate("walk", text), 7);
    assert!(known.contains("depth") && known.contains("old(depth)"), "{known}");
}

#[test]
fn effects_that_relate_results_to_arguments() {
    let sum = "int sum(int n, int m) { if (n == 0) return m; return sum(n - 1, m + 1); }\n";
    let main = "int main(void) { int a = __VERIFIER_nondet_int(), b = __VERIFIER_nondet_int();\n\
        if (sum(a, b) != a + b) reach_error(); return 0; }";
    is_safe("sum", &format!("{sum}{main}"));
    let main =
        "int main(void) { int a = __VERIFIER_nondet_int(); if (sum(a, 3) == 7) reach_error(); return 0; }";
    is_unsafe("sum-7", &format!("{sum}{main}"));
}

#[test]
fn a_result_is_an_argument() {
    let f91 = "int f91(int x) { if (x > 100) return x - 10; return f91(f91(x + 11)); }\n";
    let main = "int main(void) { int x = __VERIFIER_nondet_int(); if (x < 1000 && f91(x) < 91) reach_error(); return 0; }";
    is_safe("f91", &format!("{f91}{main}"));
    let main = "int main(void) { int x = __VERIFIER_nondet_int(); if (x > 95 && f91(x) != 91) reach_error(); return 0; }";
    is_unsafe("f91-102", &format!("{f91}{main}"));
}

#[test]
fn errors_inside_of_recursive_procedures() {
    let locks = "int lock;\nvoid acquire(void) { if (lock) reach_error(); lock = 1; }\n\
        void release(void) { if (!lock) reach_error(); lock = 0; }\n";
    let work = |again: &str| {
        format!(
            "void work(int n) {{ acquire(); if (n & 1) {{ {again} }} release(); }}\nint main(void) {{ work(__VERIFIER_nondet_int()); return 0; }}"
        )
    };
    is_safe("locks", &format!("{locks}{}", work("release(); work(n >> 1); acquire();")));
    is_unsafe("locked", &format!("{locks}{}", work("work(n >> 1);")));
    is_unsafe("unlocked", &format!("{locks}{}", work("release(); work(n >> 1);")));
}

#[test]
fn memory_that_a_callee_changes() {
    let text = "void add(int *to, int n) { if (n == 0) return; *to = *to + 2; add(to, n - 1); }\n\
        int main(void) { int total = 0; add(&total, __VERIFIER_nondet_int()); if (total & 1) reach_error(); return 0; }";
    is_safe("add", text);
    let text = "struct pair { int a, b; };\nstatic int n;\n\
        struct pair swap(struct pair p, int times) { if (times == 0) return p; n++;\n\
        struct pair q = { p.b, p.a }; return swap(q, times - 1); }\n\
        int main(void) { struct pair p = { 1, 2 }; p = swap(p, 3); if (p.a == 2 && p.b == 1 && n == 3) reach_error(); return 0; }";
    is_unsafe("swap", text);
}

#[test]
fn a_deep_failure_is_found() {
    let text = "int id(int x) { if (x == 0) return 0; return id(x - 1) + 1; }\n\
        int main(void) { if (id(12) == 12) reach_error(); return 0; }";
    is_unsafe("id", text);
}

#[test]
fn procedures_that_do_not_recurse_can_be_summarised_too() {
    let text = "static int limit(int x) { if (x > 10) return 10; return x; }\n\
        int main(void) { int s = 0; for (int i = 0; i < 5; i++) { int t = limit(__VERIFIER_nondet_int()); if (t > 10) reach_error(); s = limit(s + t); }\n\
        if (s > 10) reach_error(); return 0; }";
    for calls in [Calls::Auto, Calls::Summarised] {
        let answer = answer("limit", text, calls);
        assert!(matches!(answer.outcome, Outcome::Safe), "{calls:?}: {:?}", answer.outcome);
    }
}

/// \[Lal09\] Fig. 1.6: a lock that is looked up before a recursive call is still the right one
/// after it. The relations of the text are found.
#[test]
fn what_a_caller_knows_survives_a_recursive_call() {
    let cases = [
        ("fig1.6a-array-locks", &["l1 == m[l2]", "held == m[l2]"][..]),
        ("fig1.6b-array-locks-bar", &["l1 == m[g]", "l1 == m[l2]", "held == m[l2]"][..]),
    ];
    for (case, expected) in cases {
        let file = PathBuf::from(env!("CARGO_MANIFEST_DIR")).join("tests/cases/c").join(case).join("main.c");
        let program = c::translate(&[file], &Options::default()).unwrap().program;
        let targets = program.targets(&TargetChoice::Default).unwrap();
        let budget = Budget::time(Duration::from_secs(60));
        let answer = check(&program, &targets, Calls::Auto, &budget, &Prover::default(), &mut |_| {});
        assert!(matches!(answer.outcome, Outcome::Safe), "{case}: {:?}", answer.outcome);
        for formula in expected {
            assert!(answer.invariants.iter().any(|(_, known)| known == formula), "{case}: {formula}");
        }
    }
}

/// Calls of depth 14 with two calls in each procedure: inlined, there are 2^14 frames.
#[test]
fn deep_call_graphs_are_summarised() {
    let mut text =
        "int g;\nvoid f0(void) { if (__VERIFIER_nondet_int()) g = g + 2; else g = g - 2; }\n".to_owned();
    for i in 1..=14 {
        text.push_str(&format!(
            "void f{i}(void) {{ f{0}(); if (__VERIFIER_nondet_int()) f{0}(); }}\n",
            i - 1
        ));
    }
    let with = |check: &str| {
        format!("{text}int main(void) {{ g = 0; f14(); if ({check}) reach_error(); return 0; }}")
    };
    is_safe("deep-calls", &with("g & 1"));
    is_unsafe("deep-calls-fail", &with("g == 2"));
}
