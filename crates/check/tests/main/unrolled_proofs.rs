//! Proofs by bounded checking are accepted by a second opinion, and what is no proof is not.

use crate::c_support::random;

use std::cell::Cell;
use std::time::Duration;

use proptest::prelude::*;
use proptest::test_runner::{Config, TestRunner};
use wherefore_check::bounded::{self, Bounded};
use wherefore_check::unrolled_proof::{self, Opinion};
use wherefore_check::{Budget, Prover};
use wherefore_frontend::c::{self, Options};
use wherefore_program::{ErrorSite, Program, TargetChoice};

fn read(text: &str) -> (Program, Vec<ErrorSite>) {
    let translation = c::translate_text("t.c", text, &Options::default())
        .unwrap_or_else(|error| panic!("{}\n{text}", error.render()));
    let targets = translation.program.targets(&TargetChoice::Default).unwrap();
    (translation.program, targets)
}

fn budget() -> Budget {
    Budget::time(Duration::from_secs(60))
}

fn opinion((program, targets): &(Program, Vec<ErrorSite>), bound: usize) -> Opinion {
    unrolled_proof::check(program, targets, bound, &Prover::default(), &budget())
}

fn is_refuted(opinion: &Opinion, why: &str) -> bool {
    matches!(opinion, Opinion::Refuted(reason) if reason.contains(why))
}

#[test]
fn the_check_agrees_with_the_engine_on_random_programs() {
    let config = Config {
        cases: wherefore_testing::cases(150),
        max_shrink_iters: 300,
        failure_persistence: None,
        ..Config::default()
    };
    let mut runner = TestRunner::new(config);
    let (proofs, mutants) = (Cell::new(0), Cell::new(0));
    let result = runner.run(&random::program(), |text| {
        let read = read(&text);
        match bounded::check(&read.0, &read.1, &budget(), &|_| {}) {
            Bounded::Safe { bound } => {
                prop_assert_eq!(opinion(&read, bound), Opinion::Accepted, "within {}:\n{}", bound, text);
                proofs.set(proofs.get() + 1);
                if bound > 1 {
                    mutants.set(mutants.get() + 1);
                    // The engine has tried half of it before.
                    let less = opinion(&read, bound / 2);
                    prop_assert!(is_refuted(&less, "a run goes beyond"), "{:?}:\n{}", less, text);
                }
            }
            Bounded::Unsafe { .. } => {
                let claimed = opinion(&read, 8);
                prop_assert!(is_refuted(&claimed, "a run fails"), "{:?}:\n{}", claimed, text);
            }
            Bounded::Unknown { .. } => prop_assert!(false, "not decided:\n{}", text),
        }
        Ok(())
    });
    result.unwrap();
    assert!(proofs.get() > 20 && mutants.get() > 5, "{proofs:?} proofs, {mutants:?} with less turns");
}

const HEAD: &str = "int input(void); void reach_error(void); void __VERIFIER_assume(int);";

#[track_caller]
fn needs(bound: usize, text: &str) {
    let read = read(&format!("{HEAD} {text}"));
    let found = bounded::check(&read.0, &read.1, &budget(), &|_| {});
    assert!(matches!(found, Bounded::Safe { bound: found } if found == bound), "{found:?}");
    assert_eq!(opinion(&read, bound), Opinion::Accepted);
    if bound > 1 {
        assert!(is_refuted(&opinion(&read, bound / 2), "a run goes beyond"));
    }
}

#[test]
fn loops_and_recursion_are_counted_as_the_engine_counts_them() {
    needs(
        1,
        "int main(void) { int s = 0; for (int i = 0; i < 100; i++) s += i; if (s != 4950) reach_error(); return 0; }",
    );
    needs(
        8,
        "int main(void) { int n = input(), i = 0; __VERIFIER_assume(n >= 0 && n < 8); while (i < n) i++; if (i > 7) reach_error(); return 0; }",
    );
    needs(
        4,
        "int main(void) { unsigned n = input(), s = 0; n &= 3; for (unsigned i = 0; i < n; i++) for (unsigned j = 0; j < i; j++) s++; if (s > 3) reach_error(); return 0; }",
    );
    needs(
        4,
        "int f(int n) { return n <= 0 ? 0 : f(n - 1) + 2; } int main(void) { if (f(input() & 3) > 6) reach_error(); return 0; }",
    );
    needs(
        1,
        "int main(void) { int a = 0; goto middle; while (a < 9) { a++; middle: a += 2; } if (a < 9) reach_error(); return 0; }",
    );
}

#[test]
fn a_program_that_never_ends_is_no_proof() {
    let forever = read(&format!("{HEAD} int main(void) {{ while (input()) ; return 0; }}"));
    for bound in [0, 1, 5] {
        assert!(is_refuted(&opinion(&forever, bound), "a run goes beyond"));
    }
}

#[test]
fn a_limit_is_no_opinion() {
    let read = read(&format!("{HEAD} int main(void) {{ for (int i = 0; i < 1000; i++) ; return 0; }}"));
    let budget = Budget::time(Duration::ZERO);
    let opinion = unrolled_proof::check(&read.0, &read.1, 1, &Prover::default(), &budget);
    assert!(matches!(opinion, Opinion::Undecided(_)), "{opinion:?}");
}
