//! Installed solvers against the embedded one. Tests that need one are ignored unless they are
//! asked for (`--include-ignored`).

use crate::common;

use std::cell::RefCell;
use std::time::{Duration, Instant};

use common::{Shape, Tree, bool_tree, brute_force};
use proptest::prelude::*;
use wherefore_smt::{BitBlaster, Budget, External, Outcome, Reason, Solver, Sort, Term, Terms};
use wherefore_testing::cases;

/// The solvers that take part.
fn installed() -> Vec<&'static str> {
    let found = External::installed();
    assert!(!found.is_empty(), "this test needs a solver, such as z3");
    found
}

#[test]
#[ignore = "needs a solver, such as z3"]
fn answers_agree() {
    for name in installed() {
        let external = RefCell::new(External::find(name).expect("it was found a moment ago"));
        let mut runner = proptest::test_runner::TestRunner::new(ProptestConfig::with_cases(cases(150)));
        let lists = proptest::collection::vec(proptest::collection::vec(any::<u16>(), 0..60), 1..4);
        let run = runner.run(&(lists, 1_u32..12), |(lists, width)| {
            let shape = Shape { width, variables: 2, arrays: 1, depth: 4 };
            let trees: Vec<Tree> = lists.iter().map(|numbers| bool_tree(numbers, shape)).collect();
            let (mut terms, mut embedded) = (Terms::new(), BitBlaster::new());
            let all: Vec<Term> = trees.iter().map(|tree| tree.term(&mut terms, shape)).collect();
            let mut external = external.borrow_mut();
            external.push();
            external.assert(&mut terms, all[0]);
            embedded.assert(&mut terms, all[0]);
            let ours = embedded.check(&mut terms, &all[1..], &Budget::default());
            let theirs = external.check(&mut terms, &all[1..], &Budget::time(Duration::from_secs(20)));
            external.pop();
            if let Outcome::Unknown(Reason::Solver(words)) = &theirs {
                // A known gap of cvc5: constant arrays are made of constants only.
                prop_assert!(name == "cvc5" && words.contains("expected a value"), "{words}");
                return Ok(());
            }
            prop_assert!(ours.is_sat() != theirs.is_unsat(), "{ours:?} but {theirs:?}");
            if let Outcome::Unsat(core) = &theirs {
                let core_trees: Vec<&Tree> = trees[1..]
                    .iter()
                    .zip(&all[1..])
                    .filter(|(_, term)| core.contains(term))
                    .map(|(tree, _)| tree)
                    .chain([&trees[0]])
                    .collect();
                prop_assert!(core.iter().all(|term| all.contains(term)));
                prop_assert!(width > 2 || !brute_force(&core_trees, shape), "the core is satisfiable");
            }
            Ok(())
        });
        if let Err(error) = run {
            panic!("{name}: {error}");
        }
    }
}

/// An equation that takes longer than anyone wants to wait: a prime as a product.
fn factoring(terms: &mut Terms) -> Vec<Term> {
    let [x, y] = ["x", "y"].map(|name| terms.variable(name, Sort::Bits(32)));
    let (wide_x, wide_y) = (terms.zero_extend(x, 64), terms.zero_extend(y, 64));
    let product = terms.mul(wide_x, wide_y);
    let wanted = terms.bits(9_223_372_036_854_775_783, 64);
    let one = terms.bits(1, 32);
    vec![terms.eq(product, wanted), terms.ult(one, x), terms.ult(x, y)]
}

#[test]
#[ignore = "needs a solver, such as z3"]
fn a_solver_over_time_is_killed_and_started_again() {
    for name in installed() {
        let mut external = External::find(name).expect("it was found a moment ago");
        let mut terms = Terms::new();
        let hard = factoring(&mut terms);
        let start = Instant::now();
        let budget = Budget::time(Duration::from_millis(200));
        assert_eq!(external.check(&mut terms, &hard, &budget), Outcome::Unknown(Reason::Time), "{name}");
        assert!(start.elapsed() < Duration::from_millis(1500), "{name}: {:?}", start.elapsed());
        assert!(external.check(&mut terms, &hard[1..], &Budget::default()).is_sat(), "{name}");
    }
}

#[test]
fn a_solver_that_does_not_exist_is_unknown() {
    let mut terms = Terms::new();
    let x = terms.variable("x", Sort::Bool);
    for command in ["/no/such/solver", "true"] {
        let mut external = External::new([command]);
        let outcome = external.check(&mut terms, &[x], &Budget::default());
        assert!(matches!(outcome, Outcome::Unknown(Reason::Solver(_))), "{outcome:?}");
    }
}
