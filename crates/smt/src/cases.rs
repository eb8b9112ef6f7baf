//! Hard questions by cases.
//!
//! A sum whose parts depend on branches is hard for a satisfiability solver, although each branch
//! is easy by arithmetic: with `a + b = 3·i` before, `a' + b' = 3·i'` holds behind each of two
//! branches, but the merged formula is a miter of adders. Here equations are solved for variables,
//! as other solvers do before they search, and conditions of choices are tried both ways where the
//! search gives up. Products of numbers are multiplied out (`polynomials.rs`).

use rustc_hash::{FxHashMap, FxHashSet};

use crate::budget::{Budget, Reason};
use crate::linear::Linear;
use crate::model::{Model, Value};
use crate::operation::Op;
use crate::polynomials::{Echelon, without_division};
use crate::solver::{Outcome, Solver};
use crate::sort::{Sort, mask};
use crate::terms::{Kind, Term, Terms};

/// Conflicts that a case may take before it is split, and the whole question before cases are
/// tried.
const PATIENCE: u64 = 300;
const FIRST: u64 = 2_000;

/// The same where numbers are multiplied: conflicts are costly there, and mostly in vain.
const FEW: u64 = 60;

/// Questions with at most so many subterms are small.
const SMALL: usize = 600;

/// Cases at most.
const MOST_CASES: usize = 120;

/// Longer sums are not solved.
const LONG: usize = 40;

/// As [`Solver::check`] of assumptions, with `asserted` being all that the solver was told before:
/// if the search does not end soon, equations are solved and cases are tried before it goes on. A
/// core is then all equations among the assumptions, or all assumptions.
pub fn check_by_cases(
    solver: &mut dyn Solver,
    terms: &mut Terms,
    asserted: &[Term],
    assumptions: &[Term],
    budget: &Budget,
) -> Outcome {
    // Arithmetic alone decides many small questions.
    let size: usize = asserted.iter().chain(assumptions).map(|term| terms.size(*term).min(SMALL + 1)).sum();
    let is_small = size <= SMALL;
    let parts: Vec<Term> = asserted.iter().chain(assumptions).copied().collect();
    let has_product = is_small && parts.iter().any(|part| terms.has_product(*part));
    let is_refuted = is_small && is_contradiction(terms, &parts, has_product);
    if is_refuted && has_product {
        return Outcome::Unsat(core(terms, asserted, assumptions, budget));
    }
    let soon = match (has_product, is_small) {
        (true, _) => FEW,
        (_, true) => PATIENCE,
        _ => FIRST,
    };
    let within = budget.conflicts.map_or(soon, |most| most.min(soon));
    let first = solver.check(terms, assumptions, &Budget { conflicts: Some(within), ..budget.clone() });
    if first != Outcome::Unknown(Reason::Conflicts) {
        return first;
    }
    // The search is asked all the same: its core is better than none.
    if is_refuted {
        return Outcome::Unsat(assumptions.to_vec());
    }
    let (patience, left) = if has_product { (FEW, MOST_CASES / 4) } else { (PATIENCE, MOST_CASES) };
    let mut cases = Cases { budget, patience, left };
    match cases.decide(terms, parts) {
        Outcome::Unsat(_) => Outcome::Unsat(core(terms, asserted, assumptions, budget)),
        Outcome::Unknown(Reason::Conflicts) => solver.check(terms, assumptions, budget),
        other => other,
    }
}

/// Whether conditions contradict each other by arithmetic alone: equations are solved for variables,
/// and nothing is searched.
pub fn contradicts_by_arithmetic(terms: &mut Terms, conditions: &[Term]) -> bool {
    let has_product = conditions.iter().any(|condition| terms.has_product(*condition));
    is_contradiction(terms, conditions, has_product)
}

/// The equations among contradicting assumptions, and what is said not to be equal, if these
/// contradict each other by themselves; else all assumptions.
fn core(terms: &mut Terms, asserted: &[Term], assumptions: &[Term], budget: &Budget) -> Vec<Term> {
    let is_equation = |terms: &Terms, term: &Term| match terms.kind(*term) {
        Kind::Eq(..) => true,
        Kind::Not(inner) => matches!(terms.kind(*inner), Kind::Eq(..)),
        _ => false,
    };
    let few: Vec<Term> = assumptions.iter().copied().filter(|term| is_equation(terms, term)).collect();
    let parts = asserted.iter().chain(&few).copied().collect();
    let mut cases = Cases { budget, patience: PATIENCE, left: MOST_CASES / 4 };
    match few.len() < assumptions.len() && cases.decide(terms, parts).is_unsat() {
        true => few,
        false => assumptions.to_vec(),
    }
}

struct Cases<'c> {
    budget: &'c Budget,
    /// Conflicts that a case may take.
    patience: u64,
    left: usize,
}

impl Cases<'_> {
    fn decide(&mut self, terms: &mut Terms, parts: Vec<Term>) -> Outcome {
        if self.left == 0 {
            return Outcome::Unknown(Reason::Conflicts);
        }
        self.left -= 1;
        let mut solved = Vec::new();
        let Some(parts) = solve(terms, parts, &mut solved) else { return Outcome::Unsat(Vec::new()) };
        if parts.iter().any(|part| terms.has_product(*part)) && is_contradiction(terms, &parts, true) {
            return Outcome::Unsat(Vec::new());
        }
        let budget = Budget { conflicts: Some(self.patience), ..self.budget.clone() };
        let mut outcome = crate::BitBlaster::new().check(terms, &parts, &budget);
        if outcome == Outcome::Unknown(Reason::Conflicts) {
            if let Some(condition) = choice(terms, &parts) {
                let not = terms.not(condition);
                for case in [condition, not] {
                    let mut with = parts.clone();
                    with.push(case);
                    outcome = self.decide(terms, with);
                    if !outcome.is_unsat() {
                        break;
                    }
                }
            }
        }
        match outcome {
            Outcome::Sat(model) => Outcome::Sat(extended(terms, model, &solved)),
            other => other,
        }
    }
}

/// The values of solved variables, the last first.
fn extended(terms: &Terms, mut model: Model, solved: &[(Term, Term)]) -> Model {
    for (variable, value) in solved.iter().rev() {
        let value = terms.evaluate(*value, &model);
        if let Value::Bits(_) = value {
            model.set(*variable, value);
        }
    }
    model
}

/// Conjuncts with equations solved for variables and decided conditions replaced; none if they
/// contradict each other. `solved` gets the variables with what they are.
fn solve(terms: &mut Terms, parts: Vec<Term>, solved: &mut Vec<(Term, Term)>) -> Option<Vec<Term>> {
    let mut open = parts;
    let mut done: Vec<Term> = Vec::new();
    while let Some(part) = open.pop() {
        let (target, value) = match terms.kind(part).clone() {
            Kind::Constant(0) => return None,
            Kind::Constant(_) => continue,
            Kind::And(list) => {
                open.extend(list.iter().copied());
                continue;
            }
            Kind::Or(list) => {
                let mut kept: Vec<Term> = list.to_vec();
                kept.retain(|part| !is_refuted(terms, *part));
                if kept.len() < list.len() {
                    open.push(terms.any(&kept));
                    continue;
                }
                done.push(part);
                (part, Terms::TRUE)
            }
            Kind::Variable(_) => {
                solved.push((part, Terms::TRUE));
                (part, Terms::TRUE)
            }
            Kind::Not(inner) => match terms.kind(inner).clone() {
                Kind::Variable(_) => {
                    solved.push((inner, Terms::FALSE));
                    (inner, Terms::FALSE)
                }
                _ if is_refuted(terms, part) => return None,
                _ => {
                    done.push(part);
                    (inner, Terms::FALSE)
                }
            },
            Kind::Eq(a, b) if terms.sort(a) != Sort::Bool => match solution(terms, a, b) {
                Some(found) => {
                    solved.push(found);
                    found
                }
                None => {
                    done.push(part);
                    (part, Terms::TRUE)
                }
            },
            _ => {
                done.push(part);
                (part, Terms::TRUE)
            }
        };
        // What is decided or solved is replaced in everything else; what changes is looked at
        // again.
        let mut map: FxHashMap<Term, Term> = FxHashMap::from_iter([(target, value)]);
        for other in &mut open {
            *other = terms.substitute_with(*other, &mut map);
        }
        let mut kept = Vec::new();
        for other in std::mem::take(&mut done) {
            if other == part {
                kept.push(other);
                continue;
            }
            let new = terms.substitute_with(other, &mut map);
            if new == other { kept.push(other) } else { open.push(new) }
        }
        done = kept;
    }
    done.sort_unstable();
    done.dedup();
    combined(terms, done)
}

/// Conditions without those that combinations of their equations refute; none if all of a
/// disjunction are, or one that must hold.
fn combined(terms: &mut Terms, parts: Vec<Term>) -> Option<Vec<Term>> {
    let (mut echelon, mut has_any) = (Echelon::default(), false);
    for part in &parts {
        let Kind::Eq(a, b) = *terms.kind(*part) else { continue };
        if terms.sort(a) == Sort::Bool {
            continue;
        }
        if let Some(sum) = difference(terms, a, b) {
            has_any = true;
            if !echelon.add(terms.width(a), &sum) {
                return None;
            }
        }
    }
    if !has_any {
        return Some(parts);
    }
    let mut kept = Vec::new();
    for part in parts {
        let list = match terms.kind(part) {
            Kind::Or(list) => list.to_vec(),
            _ => vec![part],
        };
        let mut left = Vec::new();
        for condition in &list {
            let Kind::Not(inner) = *terms.kind(*condition) else {
                left.push(*condition);
                continue;
            };
            let is_zero = match *terms.kind(inner) {
                Kind::Eq(a, b) if terms.sort(a) != Sort::Bool => {
                    difference(terms, a, b).is_some_and(|sum| echelon.is_zero(terms.width(a), &sum))
                }
                _ => false,
            };
            if !is_zero {
                left.push(*condition);
            }
        }
        match left.len() {
            0 => return None,
            count if count == list.len() => kept.push(part),
            _ => kept.push(terms.any(&left)),
        }
    }
    Some(kept)
}

/// Whether conditions contradict each other by arithmetic, with numbers that are divided taken
/// apart where there are products.
fn is_contradiction(terms: &mut Terms, parts: &[Term], has_product: bool) -> bool {
    if solve(terms, parts.to_vec(), &mut Vec::new()).is_none() {
        return true;
    }
    if !has_product {
        return false;
    }
    // The rest of a number is decided by what has no products.
    let few: Vec<Term> = parts.iter().copied().filter(|part| !terms.has_product(*part)).collect();
    let mut rest = |terms: &mut Terms, rest: Term| value_of(terms, &few, rest);
    let divided = without_division(terms, parts, &mut rest);
    divided.is_some_and(|parts| solve(terms, parts, &mut Vec::new()).is_none())
}

/// The value of a number, if conditions leave one only.
fn value_of(terms: &mut Terms, conditions: &[Term], number: Term) -> Option<u64> {
    let budget = Budget { conflicts: Some(PATIENCE), ..Budget::default() };
    let mut solver = crate::BitBlaster::new();
    let Outcome::Sat(model) = solver.check(terms, conditions, &budget) else { return None };
    let value = terms.evaluate(number, &model).bits()?;
    let constant = terms.bits(value, terms.width(number));
    let is_it = terms.eq(number, constant);
    let mut question = conditions.to_vec();
    question.push(terms.not(is_it));
    solver.check(terms, &question, &budget).is_unsat().then_some(value)
}

/// The difference of two numbers as a sum, however deep; with products multiplied out.
fn difference(terms: &mut Terms, a: Term, b: Term) -> Option<Linear> {
    let width = terms.width(a);
    let mut sum = Linear::default();
    let mut open = vec![(a, 1u64), (b, u64::MAX)];
    while let Some((term, factor)) = open.pop() {
        match *terms.kind(term) {
            Kind::Constant(value) => sum.constant = sum.constant.wrapping_add(value.wrapping_mul(factor)),
            Kind::Neg(inner) => open.push((inner, factor.wrapping_neg())),
            Kind::Binary(Op::Add, left, right) => open.extend([(left, factor), (right, factor)]),
            Kind::Binary(Op::Mul, left, right) if terms.constant(right).is_some() => {
                open.push((left, factor.wrapping_mul(terms.constant(right)?)));
            }
            Kind::Binary(Op::Mul, ..) => return terms.expanded_difference(a, b),
            _ => match sum.monomials.iter_mut().find(|(other, _)| *other == term) {
                Some((_, coefficient)) => *coefficient = coefficient.wrapping_add(factor),
                None => sum.monomials.push((term, factor)),
            },
        }
        if sum.monomials.len() + open.len() > LONG {
            return None;
        }
    }
    sum.constant &= mask(width);
    sum.monomials.iter_mut().for_each(|(_, coefficient)| *coefficient &= mask(width));
    sum.monomials.retain(|(_, coefficient)| *coefficient != 0);
    Some(sum)
}

/// Whether a condition says that a number is not itself.
fn is_refuted(terms: &mut Terms, condition: Term) -> bool {
    match *terms.kind(condition) {
        Kind::Not(inner) => match *terms.kind(inner) {
            Kind::Eq(a, b) => is_zero(terms, a, b),
            _ => false,
        },
        _ => false,
    }
}

fn is_zero(terms: &mut Terms, a: Term, b: Term) -> bool {
    terms.sort(a) != Sort::Bool
        && difference(terms, a, b).is_some_and(|sum| sum.monomials.is_empty() && sum.constant == 0)
}

/// A variable with an odd coefficient in an equation, and what it is. The smallest coefficient is
/// taken: `a = 3·i - b` is easier to search with than a third of `a + b`.
fn solution(terms: &mut Terms, a: Term, b: Term) -> Option<(Term, Term)> {
    let width = terms.width(a);
    let sum = difference(terms, a, b)?;
    let solvable = sum.monomials.iter().filter(|(term, coefficient)| {
        let is_variable = matches!(terms.kind(*term), Kind::Variable(_)) && coefficient & 1 == 1;
        let mut others = sum.monomials.iter().filter(|(other, _)| other != term);
        is_variable && !others.any(|(other, _)| terms.variables(*other).contains(term))
    });
    let size = |coefficient: u64| coefficient.min(coefficient.wrapping_neg() & mask(width));
    let (variable, coefficient) = *solvable.min_by_key(|(_, coefficient)| size(*coefficient))?;
    // The inverse of an odd number modulo 2^64, by Newton's iteration.
    let inverse =
        (0..6).fold(coefficient, |x: u64, _| x.wrapping_mul(2u64.wrapping_sub(coefficient.wrapping_mul(x))));
    let factor = inverse.wrapping_neg();
    let mut rest = Linear { constant: sum.constant.wrapping_mul(factor), monomials: Vec::new() };
    for (term, coefficient) in sum.monomials.into_iter().filter(|(term, _)| *term != variable) {
        rest.monomials.push((term, coefficient.wrapping_mul(factor)));
    }
    Some((variable, terms.sum(rest, width)))
}

/// The condition of a choice between numbers that occurs most often.
fn choice(terms: &Terms, parts: &[Term]) -> Option<Term> {
    let mut counts: FxHashMap<Term, usize> = FxHashMap::default();
    let mut seen: FxHashSet<Term> = FxHashSet::default();
    let mut open: Vec<Term> = parts.to_vec();
    while let Some(term) = open.pop() {
        if !seen.insert(term) {
            continue;
        }
        match terms.kind(term) {
            Kind::Ite(condition, ..) => *counts.entry(*condition).or_default() += 2,
            Kind::Or(list) => {
                for part in list.iter() {
                    *counts.entry(*part).or_default() += 1;
                }
            }
            _ => {}
        }
        terms.for_each_child(term, |child| open.push(child));
    }
    // A condition that contains choices itself is left for later.
    counts.into_iter().max_by_key(|(term, count)| (*count, std::cmp::Reverse(*term))).map(|(term, _)| term)
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;

    use super::*;
    use crate::BitBlaster;

    /// Two branches, an equation before them and behind.
    fn branches(terms: &mut Terms, width: u32) -> Vec<Term> {
        let [a, b, i] = ["a", "b", "i"].map(|name| terms.variable(name, Sort::Bits(width)));
        let c = terms.variable("c", Sort::Bool);
        let number = |terms: &mut Terms, value: u64| terms.bits(value, width);
        let (one, two, three) = (number(terms, 1), number(terms, 2), number(terms, 3));
        let equation = |terms: &mut Terms, a: Term, b: Term, i: Term| {
            let (sum, product) = (terms.add(a, b), terms.mul(i, three));
            terms.eq(sum, product)
        };
        let before = equation(terms, a, b, i);
        let (a1, a2, b1, b2) = (terms.add(a, one), terms.add(a, two), terms.add(b, one), terms.add(b, two));
        let (a, b, i) = (terms.ite(c, a1, a2), terms.ite(c, b2, b1), terms.add(i, one));
        let behind = equation(terms, a, b, i);
        vec![before, terms.not(behind)]
    }

    #[test]
    fn equations_behind_branches_are_decided() {
        let mut terms = Terms::new();
        let question = branches(&mut terms, 32);
        let mut cases = Cases { budget: &Budget::default(), patience: PATIENCE, left: 10 };
        assert!(cases.decide(&mut terms, question).is_unsat());
    }

    #[test]
    fn equations_are_solved_for_the_smallest_coefficient() {
        let mut terms = Terms::new();
        let [i, a] = ["i", "a"].map(|name| terms.variable(name, Sort::Bits(32)));
        let three = terms.bits(3, 32);
        let product = terms.mul(i, three);
        for (left, right) in [(product, a), (a, product)] {
            assert_eq!(solution(&mut terms, left, right), Some((a, product)));
        }
    }

    #[test]
    fn a_core_of_equations_leaves_out_the_rest() {
        let mut terms = Terms::new();
        let mut question = branches(&mut terms, 32);
        let (i, limit) = (terms.variable("i", Sort::Bits(32)), terms.bits(1000, 32));
        let equations = question.clone();
        question.push(terms.ult(i, limit));
        assert_eq!(core(&mut terms, &[], &question, &Budget::default()), equations);
    }

    proptest! {
        /// Cases and the search agree on random systems of equations with choices.
        #[test]
        fn cases_agree_with_the_search(rows in prop::collection::vec((prop::collection::vec(0u64..8, 3), 0u64..8, any::<bool>(), any::<bool>()), 1..6)) {
            let mut terms = Terms::new();
            let variables = ["x", "y", "z"].map(|name| terms.variable(name, Sort::Bits(3)));
            let c = terms.variable("c", Sort::Bool);
            let mut question = Vec::new();
            for (row, value, is_equal, has_choice) in rows {
                let mut sum = terms.bits(0, 3);
                for (factor, variable) in row.iter().zip(variables) {
                    let factor = terms.bits(*factor, 3);
                    let product = terms.mul(variable, factor);
                    sum = terms.add(sum, product);
                }
                if has_choice {
                    sum = terms.ite(c, sum, variables[0]);
                }
                let value = terms.bits(value, 3);
                let equal = terms.eq(sum, value);
                question.push(if is_equal { equal } else { terms.not(equal) });
            }
            let expected = BitBlaster::new().check(&mut terms, &question, &Budget::default());
            let mut cases = Cases { budget: &Budget::default(), patience: PATIENCE, left: 50 };
            let found = cases.decide(&mut terms, question.clone());
            prop_assert_eq!(found.is_sat(), expected.is_sat());
            if let Outcome::Sat(model) = found {
                prop_assert!(question.iter().all(|part| terms.holds(*part, &model)));
            }
        }
    }
}
