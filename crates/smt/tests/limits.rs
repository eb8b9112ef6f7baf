//! Limits are kept: in the search, in the translation, and from another thread.

use std::sync::Arc;
use std::sync::atomic::{AtomicBool, Ordering};
use std::thread;
use std::time::{Duration, Instant};

use wherefore_smt::{BitBlaster, Budget, Outcome, Reason, Solver, Sort, Term, Terms};

/// A prime as the product of two numbers between 1 and itself: unsatisfiable, and hard to decide.
fn factoring(terms: &mut Terms) -> Term {
    let [x, y] = ["x", "y"].map(|name| terms.variable(name, Sort::Bits(32)));
    let (wide_x, wide_y) = (terms.zero_extend(x, 64), terms.zero_extend(y, 64));
    let product = terms.mul(wide_x, wide_y);
    let prime = terms.bits(9_223_372_036_854_775_783, 64);
    terms.eq(product, prime)
}

#[test]
fn a_hard_product_stops_at_the_deadline() {
    let mut terms = Terms::new();
    let hard = factoring(&mut terms);
    let mut solver = BitBlaster::new();
    let start = Instant::now();
    let outcome = solver.check(&mut terms, &[hard], &Budget::time(Duration::from_millis(300)));
    assert_eq!(outcome, Outcome::Unknown(Reason::Time));
    assert!((300..500).contains(&start.elapsed().as_millis()), "{:?}", start.elapsed());
    // The solver is as good as before.
    let x = terms.variable("x", Sort::Bits(32));
    let nine = terms.bits(9, 32);
    let easy = terms.eq(x, nine);
    assert!(solver.check(&mut terms, &[easy], &Budget::default()).is_sat());
}

#[test]
fn conflicts_are_counted() {
    let mut terms = Terms::new();
    let hard = factoring(&mut terms);
    let budget = Budget { conflicts: Some(100), ..Budget::default() };
    assert_eq!(BitBlaster::new().check(&mut terms, &[hard], &budget), Outcome::Unknown(Reason::Conflicts));
}

#[test]
fn another_thread_may_cancel() {
    let mut terms = Terms::new();
    let hard = factoring(&mut terms);
    let cancel = Arc::new(AtomicBool::new(false));
    let budget = Budget { cancel: Some(Arc::clone(&cancel)), ..Budget::default() };
    let canceller = thread::spawn(move || {
        thread::sleep(Duration::from_millis(100));
        cancel.store(true, Ordering::Relaxed);
        Instant::now()
    });
    assert_eq!(BitBlaster::new().check(&mut terms, &[hard], &budget), Outcome::Unknown(Reason::Cancelled));
    let late = canceller.join().expect("it only waits").elapsed();
    assert!(late < Duration::from_millis(200), "{late:?}");
}

#[test]
fn translation_stops_at_the_deadline() {
    let mut terms = Terms::new();
    let [x, y] = ["x", "y"].map(|name| terms.variable(name, Sort::Bits(64)));
    let mut product = x;
    for _ in 0..400 {
        let next = terms.mul(product, y);
        product = terms.urem(next, x);
    }
    let question = terms.eq(product, y);
    let start = Instant::now();
    let outcome = BitBlaster::new().check(&mut terms, &[question], &Budget::time(Duration::from_millis(100)));
    assert_eq!(outcome, Outcome::Unknown(Reason::Time));
    assert!(start.elapsed() < Duration::from_millis(400), "{:?}", start.elapsed());
}

#[test]
fn deep_terms_are_translated() {
    let mut terms = Terms::new();
    let [x, y] = ["x", "y"].map(|name| terms.variable(name, Sort::Bits(4)));
    let mut deep = x;
    for _ in 0..50_000 {
        let sum = terms.bit_and(deep, y);
        deep = terms.bit_xor(sum, x);
    }
    let zero = terms.bits(0, 4);
    let question = terms.eq(deep, zero);
    assert!(BitBlaster::new().check(&mut terms, &[question], &Budget::default()).is_sat());
}

#[test]
fn solvers_move_between_threads() {
    fn movable<T: Send>() {}
    movable::<(Terms, BitBlaster, wherefore_smt::External)>();
}

#[test]
fn small_questions_to_a_large_solver_respect_its_assertions() {
    let mut terms = Terms::new();
    let hard = factoring(&mut terms);
    let mut solver = BitBlaster::new();
    let budget = Budget { conflicts: Some(1), ..Budget::default() };
    assert!(matches!(solver.check(&mut terms, &[hard], &budget), Outcome::Unknown(_)));
    let [p, q, r] = ["p", "q", "r"].map(|name| terms.variable(name, Sort::Bits(8)));
    let (first, second, third) = (terms.ult(p, q), terms.ult(q, r), terms.ult(r, p));
    solver.push();
    solver.assert(&mut terms, first);
    let other = terms.ult(p, r);
    let outcome = solver.check(&mut terms, &[other, second, third], &Budget::default());
    let Outcome::Unsat(core) = outcome else { panic!("a cycle: {outcome:?}") };
    assert!(core.contains(&third) && core.iter().all(|term| [other, second, third].contains(term)));
    solver.pop();
    assert!(solver.check(&mut terms, &[second, third], &Budget::default()).is_sat());
}
