//! What refinement of C must find by itself: invariants of loops that cannot be unrolled, and what
//! of a path does not matter.

use std::collections::BTreeSet;
use std::path::Path;
use std::time::Duration;

use wherefore_check::refinement::solver::{Answer, Calls, Outcome, check};
use wherefore_check::{Budget, Prover};
use wherefore_frontend::c::{self, Options};
use wherefore_program::{Program, TargetChoice};

fn refine(name: &str, source: &str) -> (Program, Answer) {
    let file = Path::new(env!("CARGO_TARGET_TMPDIR")).join(format!("{name}.c"));
    std::fs::write(&file, source).unwrap();
    let translation =
        c::translate(&[file], &Options::default()).unwrap_or_else(|error| panic!("{}", error.render()));
    let targets = translation.program.targets(&TargetChoice::Default).unwrap();
    let budget = Budget::time(Duration::from_secs(60));
    let answer = check(&translation.program, &targets, Calls::Auto, &budget, &Prover::default(), &mut |_| {});
    (translation.program, answer)
}

/// The body of `main` is proved safe in a few iterations: the lines of invariants that say more
/// than "not reached".
fn is_safe(name: &str, body: &str) -> BTreeSet<u32> {
    let head = "extern void reach_error(void);\nextern unsigned outside(void);\n";
    let check = "unsigned long long found;\n\
        void factors(void) { unsigned long long p = outside(), q = outside();\n\
        if (p > 1 && q > 1 && p * q == 1000036000099ULL) found++; else found--; }\n\
        void check(int holds) { if (!holds) reach_error(); }\n";
    let (program, answer) = refine(name, &format!("{head}{check}int main(void) {{\n{body}\nreturn 0; }}\n"));
    assert!(matches!(answer.outcome, Outcome::Safe), "{name}: {:?}", answer.outcome);
    assert!(answer.iterations <= 8, "{name} took {} iterations", answer.iterations);
    let reached = answer.invariants.iter().filter(|(_, holds)| holds != "false");
    reached.filter_map(|(node, _)| program.line(*node)).collect()
}

/// Each counterexample leaves the loop too early, and satisfies the check: the latter is the better
/// reason.
#[test]
fn a_check_behind_a_loop_counts_more_than_its_turns() {
    is_safe("steps-of-six", "unsigned x = 12; while (x < 100000000) x += 6; check(x % 2 == 0);");
}

/// `x < N` alone goes on as `x + 1 < N`, `x + 2 < N`, …: the series shows.
#[test]
fn a_loop_that_counts_up_to_a_bound_ends_there() {
    is_safe("to-the-bound", "int x; for (x = 7; x < 5000000; x++); check(x == 5000000);");
}

#[test]
fn a_loop_that_counts_by_four_ends_at_a_multiple() {
    is_safe("by-four", "int x; for (x = 0; x < 3000000; x += 4); check(x == 3000000);");
}

#[test]
fn counters_that_change_together_keep_their_sum() {
    is_safe(
        "sum",
        "unsigned n = outside(), left = n, right = 0; while (left != 0) { left--; right++; } check(right == n);",
    );
    is_safe("twice", "int n = 0, m = 0; while (outside()) { n++; m += 2; } check(m - n - n == 0);");
}

#[test]
fn phases_of_a_loop_are_told_apart() {
    is_safe(
        "phases",
        "unsigned x = 0; while (x < 90000000) { if (x < 40000) x++; else x += 4; } check(x % 4 == 0);",
    );
}

#[test]
fn an_inner_loop_does_not_hide_the_outer_one() {
    is_safe(
        "inner",
        "unsigned x = 1; while (x < 80000000) { unsigned y = 0; while (y < 9) y++; x += 2; } check(x % 2 == 1);",
    );
}

/// A path that finds factors is a hard question. Its slice does not ask it.
#[test]
fn what_does_not_matter_is_not_asked() {
    is_safe(
        "factors",
        "unsigned a = outside(), x = 0, i; for (i = 0; i < 3; i++) factors(); if (a > 10) x = 1;\n\
         factors(); check(a <= 10 || x != 0);",
    );
}

/// Behind the last check nothing fails. It is left out of the search, and is part of the proof
/// again.
#[test]
fn a_proof_is_about_all_of_the_program() {
    let body =
        "unsigned x = 0, y = 0; while (x < 70000000) x += 2; check(x % 2 == 0);\nwhile (outside()) y++;";
    let lines = is_safe("behind", body);
    // The body starts in line 8.
    assert!(lines.contains(&9), "{lines:?}");
}

/// A limit in a variable that never changes is as good as a number: global, local, or a parameter.
#[test]
fn limits_in_variables_that_never_change() {
    let head = "extern void reach_error(void);\nextern unsigned outside(void);\n";
    let main = |body: &str| format!("int main(void) {{\n{body}\nreturn 0; }}\n");
    let count =
        "while (outside()) { if (value < limit) value++; else value = 0; if (value > 1000) reach_error(); }";
    let cases = [
        ("global-limit", format!("static int value, limit = 1000;\n{}", main(count))),
        ("local-limit", main(&format!("int value = 0, limit = 1000; {count}"))),
        (
            "given-limit",
            format!(
                "struct counter {{ int value; }};\nstatic struct counter one, two;\n\
                 static void step(struct counter *c, int limit) {{ if (c->value < limit) c->value++; else c->value = 0; }}\n{}",
                main(
                    "struct counter *c = &one, *d = &two;\n\
                     while (outside()) { step(c, 1000); step(d, 500); if (one.value > 1000 || two.value > 500) reach_error(); }"
                )
            ),
        ),
    ];
    for (name, text) in cases {
        let (_, answer) = refine(name, &format!("{head}{text}"));
        assert!(matches!(answer.outcome, Outcome::Safe), "{name}: {:?}", answer.outcome);
        assert!(answer.iterations <= 4, "{name} took {} iterations", answer.iterations);
    }
    // A variable that is read before its only assignment has no value there.
    let text = main(
        "int limit; for (int i = 0; i < 2; i++) { if (i == 0 && limit == 7) reach_error(); limit = 1000; }",
    );
    let (_, answer) = refine("late-limit", &format!("{head}{text}"));
    assert!(matches!(answer.outcome, Outcome::Unsafe(_)), "{:?}", answer.outcome);
}

/// The slice of a path leaves out what does not matter, but not the calls around one that it keeps.
#[test]
fn calls_around_a_recursive_one_stay_in_a_slice() {
    let text = "extern void reach_error(void); extern void *calloc(unsigned long, unsigned long);\n\
        struct node { struct node *l, *r; };\n\
        static struct node *ins(struct node *t) { if (!t) t = calloc(1, sizeof *t); return t; }\n\
        static int height(struct node *t) { if (!t) return 0; int a = height(t->l), b = height(t->r); return 1 + (a > b ? a : b); }\n\
        static long e[] = { 13, 3 };\n\
        static void inner(void) { struct node *t = 0; for (int i = 0; i < 60; i++) t = ins(t); if (height(t) == e[0]) __builtin_abort(); }\n\
        int main(void) { inner(); reach_error(); }\n";
    let (_, answer) = refine("sliced-recursion", text);
    assert!(matches!(answer.outcome, Outcome::Unsafe(_)), "{:?}", answer.outcome);
}
