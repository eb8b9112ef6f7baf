//! Floating-point operations as the solvers see them: the circuits are simulated in
//! `src/float_simulation.rs`, here questions are asked about them.

use std::cell::RefCell;

use proptest::prelude::*;
use wherefore_smt::{
    BitBlaster, Budget, External, FloatOp, FloatOperation as Operation, Format, Outcome, Rounding, Solver,
    Sort, Term, Terms, is_valid,
};
use wherefore_testing::cases;

/// All operations on numbers of a format.
fn operations(format: Format) -> Vec<FloatOp> {
    use Operation::*;
    use Rounding::{Down, NearestAway, NearestEven, ToZero, Up};
    let mut list = vec![Add, Sub, Mul, Div, Sqrt, Equal, Less, LessEqual, Convert];
    list.extend([ToZero, Down, Up, NearestEven, NearestAway].map(Round));
    for width in [8, 16, 24, 32, 64] {
        list.extend([FromSigned(width), FromUnsigned(width), ToSigned(width), ToUnsigned(width)]);
        list.extend([FitsSigned(width), FitsUnsigned(width)]);
    }
    list.into_iter().map(|operation| FloatOp::new(operation, format)).collect()
}

/// A result that equals, or does not, what the machine says; the operands are variables that are
/// assumed to be two numbers.
fn question(terms: &mut Terms, op: FloatOp, values: [u64; 2]) -> (Vec<Term>, Term) {
    let (mut assumptions, mut operands, mut numbers) = (Vec::new(), Vec::new(), Vec::new());
    for (name, value) in ["x", "y"].into_iter().zip(values).take(op.arity()) {
        let width = op.operand_width();
        let number = value & (u64::MAX >> (64 - width));
        let (variable, constant) = (terms.variable(name, Sort::Bits(width)), terms.bits(number, width));
        assumptions.push(terms.eq(variable, constant));
        operands.push(variable);
        numbers.push(number);
    }
    let result = terms.float(op, &operands);
    let expected = op.apply(&numbers);
    let same = match op.result_width() {
        Some(width) => {
            let expected = terms.bits(expected, width);
            terms.eq(result, expected)
        }
        None if expected == 1 => result,
        None => terms.not(result),
    };
    (assumptions, same)
}

/// Both answers of a solver.
fn decides(solver: &mut dyn Solver, op: FloatOp, values: [u64; 2]) -> Result<(), TestCaseError> {
    let mut terms = Terms::new();
    let (mut assumptions, same) = question(&mut terms, op, values);
    assumptions.push(same);
    let outcome = solver.check(&mut terms, &assumptions, &Budget::default());
    prop_assert!(outcome.is_sat(), "{} of {values:x?}: {outcome:?}", op.name());
    *assumptions.last_mut().expect("there is one") = terms.not(same);
    let outcome = solver.check(&mut terms, &assumptions, &Budget::default());
    prop_assert!(outcome.is_unsat(), "{} of {values:x?}: {outcome:?}", op.name());
    Ok(())
}

/// Numbers of which the exponents are near each other, or near an end of the range.
fn numbers() -> impl Strategy<Value = [u64; 2]> {
    let number = prop_oneof![
        any::<f64>().prop_map(f64::to_bits),
        any::<f32>().prop_map(|number| u64::from(number.to_bits())),
        (-200.0..200.0).prop_map(|number: f64| number.to_bits()),
        (-200.0_f32..200.0).prop_map(|number| u64::from(number.to_bits())),
        any::<u64>(),
        any::<u64>().prop_map(|bits| bits & 0x8000_0000_8000_000f),
    ];
    [number.clone(), number]
}

proptest! {
    #![proptest_config(ProptestConfig::with_cases(cases(60)))]

    #[test]
    fn the_embedded_solver_computes_as_the_machine_does(
        values in numbers(), which in any::<prop::sample::Index>(), wide in any::<bool>(),
    ) {
        let list = operations(if wide { Format::Double } else { Format::Single });
        decides(&mut BitBlaster::new(), list[which.index(list.len())], values)?;
    }
}

#[test]
#[ignore = "needs a solver, such as z3"]
fn an_external_solver_computes_as_the_machine_does() {
    let external = RefCell::new(External::find("z3").expect("this test needs z3"));
    for format in [Format::Single, Format::Double] {
        for op in operations(format) {
            let mut runner = proptest::test_runner::TestRunner::new(ProptestConfig::with_cases(cases(3)));
            runner
                .run(&numbers(), |values| decides(&mut *external.borrow_mut(), op, values))
                .unwrap_or_else(|error| panic!("{}: {error}", op.name()));
        }
    }
}

/// A formula over two numbers of a format, by its operations.
struct Formulas<'t> {
    terms: &'t mut Terms,
    format: Format,
}

impl Formulas<'_> {
    fn op(&mut self, operation: Operation, operands: &[Term]) -> Term {
        self.terms.float(FloatOp::new(operation, self.format), operands)
    }

    fn number(&mut self, number: f64) -> Term {
        self.terms.bits(self.format.bits_of(number), self.format.width())
    }

    fn variable(&mut self, name: &str) -> Term {
        self.terms.variable(name, Sort::Bits(self.format.width()))
    }
}

/// Facts with whether they hold for all numbers.
fn facts(f: &mut Formulas<'_>) -> Vec<(&'static str, Term, bool)> {
    let (x, y) = (f.variable("x"), f.variable("y"));
    let (zero, one, two) = (f.number(0.0), f.number(1.0), f.number(2.0));
    let itself = f.op(Operation::Equal, &[x, x]);
    let greater = f.op(Operation::Less, &[y, x]);
    let less = f.op(Operation::Less, &[x, y]);
    let trichotomy = {
        let equal = f.op(Operation::Equal, &[x, y]);
        f.terms.any(&[greater, less, equal])
    };
    let (ordered, positive) = (f.op(Operation::LessEqual, &[x, y]), f.op(Operation::Less, &[zero, x]));
    let sum = f.op(Operation::Add, &[x, one]);
    let grows = f.op(Operation::Less, &[x, sum]);
    let not_less = f.op(Operation::LessEqual, &[x, sum]);
    let doubled = f.op(Operation::Mul, &[two, x]);
    let added = f.op(Operation::Add, &[x, x]);
    let doubling = f.terms.eq(doubled, added);
    let difference = f.op(Operation::Sub, &[x, y]);
    let vanishes = f.op(Operation::Equal, &[difference, zero]);
    let gradual = f.terms.implies(less, vanishes);
    let whole = f.op(Operation::Round(Rounding::Down), &[x]);
    let floor = f.op(Operation::LessEqual, &[whole, x]);
    let [number, non_positive] = [itself, positive].map(|t| f.terms.not(t));
    let floor_of_numbers = f.terms.or(floor, number);
    vec![
        ("a NaN differs from itself", itself, false),
        ("two numbers need not be comparable", trichotomy, false),
        (
            "less is not greater",
            {
                let both = f.terms.and(less, greater);
                f.terms.not(both)
            },
            true,
        ),
        ("less or equal follows from less", f.terms.implies(less, ordered), true),
        ("adding one may change nothing", f.terms.implies(positive, grows), false),
        ("adding one makes nothing smaller", f.terms.or(not_less, non_positive), true),
        ("doubling is adding", doubling, true),
        ("numbers that differ have a difference", f.terms.not(gradual), false),
        (
            "no difference of numbers that differ vanishes",
            {
                let both = f.terms.and(less, vanishes);
                f.terms.not(both)
            },
            true,
        ),
        ("a floor is not above", floor_of_numbers, true),
    ]
}

#[test]
fn facts_of_all_numbers_are_decided() {
    let mut terms = Terms::new();
    for fact in facts(&mut Formulas { terms: &mut terms, format: Format::Single }) {
        assert_eq!(is_valid(&mut terms, fact.1, &Budget::default()), Ok(fact.2), "{}", fact.0);
    }
}

#[test]
#[ignore = "needs a solver, such as z3"]
fn facts_of_all_numbers_are_decided_by_an_external_solver() {
    for format in [Format::Single, Format::Double] {
        let mut terms = Terms::new();
        for (name, fact, holds) in facts(&mut Formulas { terms: &mut terms, format }) {
            let mut external = External::find("z3").expect("this test needs z3");
            let not = terms.not(fact);
            let outcome = external.check(&mut terms, &[not], &Budget::default());
            let expected = if holds { outcome.is_unsat() } else { matches!(outcome, Outcome::Sat(_)) };
            assert!(expected, "{name}: {outcome:?}");
        }
    }
}
