//! Polynomials modulo a power of two.
//!
//! Products of two variables are hard for a satisfiability solver, and most of what is asked about
//! them is algebra: with `s == (a + 1)·(a + 1)` before, the same holds behind `s += 2a + 3; a++`.
//! Sums and products are multiplied out here, so that equal polynomials are equal; and equations are
//! combined, as unknowns their monomials, to refute what is said not to be equal. (Compare the
//! invariants of E. Rodríguez-Carbonell, D. Kapur, *Generating all polynomial invariants in simple
//! loops*, J. Symb. Comput. 2007: there ideals, here linear combinations modulo 2^w.)

use std::collections::BTreeMap;

use rustc_hash::FxHashMap;

use crate::linear::Linear;
use crate::operation::Op;
use crate::sort::{Sort, mask};
use crate::terms::{Kind, Term, Terms};

/// Longer polynomials are not computed with, and neither are those of higher degree.
const LONG: usize = 80;
const MOST_DEGREE: usize = 8;

/// Sums and products that are nested more deeply are not looked into.
const DEEP: u32 = 200;

/// Equations that are combined, at most.
const MOST_EQUATIONS: usize = 60;

/// The atoms of a monomial, sorted; a constant has none.
type Monomial = Vec<Term>;

/// Coefficients of monomials, none of them zero.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
struct Polynomial(BTreeMap<Monomial, u64>);

impl Polynomial {
    fn constant(value: u64) -> Self {
        let mut found = Self::default();
        found.add(Vec::new(), value, u64::MAX);
        found
    }

    fn add(&mut self, monomial: Monomial, coefficient: u64, mask: u64) {
        let sum = self.0.get(&monomial).copied().unwrap_or(0).wrapping_add(coefficient) & mask;
        match sum {
            0 => self.0.remove(&monomial),
            sum => self.0.insert(monomial, sum),
        };
    }

    fn plus(mut self, other: &Self, factor: u64, mask: u64) -> Self {
        for (monomial, coefficient) in &other.0 {
            self.add(monomial.clone(), coefficient.wrapping_mul(factor), mask);
        }
        self
    }

    fn times(&self, other: &Self, mask: u64) -> Option<Self> {
        let mut product = Self::default();
        for (a, x) in &self.0 {
            for (b, y) in &other.0 {
                if a.len() + b.len() > MOST_DEGREE {
                    return None;
                }
                let mut atoms = [a.as_slice(), b.as_slice()].concat();
                atoms.sort_unstable();
                product.add(atoms, x.wrapping_mul(*y), mask);
            }
            if product.0.len() > LONG {
                return None;
            }
        }
        Some(product)
    }
}

/// A number, multiplied out.
fn expand(
    terms: &Terms,
    term: Term,
    mask: u64,
    depth: u32,
    done: &mut FxHashMap<Term, Polynomial>,
) -> Option<Polynomial> {
    if let Some(known) = done.get(&term) {
        return Some(known.clone());
    }
    if depth > DEEP {
        return None;
    }
    let found = match *terms.kind(term) {
        Kind::Constant(value) => Polynomial::constant(value & mask),
        Kind::Neg(a) => {
            let a = expand(terms, a, mask, depth + 1, done)?;
            Polynomial::default().plus(&a, u64::MAX, mask)
        }
        Kind::Binary(Op::Add, a, b) => {
            let a = expand(terms, a, mask, depth + 1, done)?;
            a.plus(&expand(terms, b, mask, depth + 1, done)?, 1, mask)
        }
        Kind::Binary(Op::Mul, a, b) => {
            let a = expand(terms, a, mask, depth + 1, done)?;
            a.times(&expand(terms, b, mask, depth + 1, done)?, mask)?
        }
        _ => Polynomial(BTreeMap::from([(vec![term], 1)])),
    };
    if found.0.len() > LONG {
        return None;
    }
    done.insert(term, found.clone());
    Some(found)
}

impl Terms {
    /// `a - b`, multiplied out, with a product of atoms as the term of each monomial; none if that
    /// is long.
    pub(crate) fn expanded_difference(&mut self, a: Term, b: Term) -> Option<Linear> {
        let mask = mask(self.width(a));
        let mut done = FxHashMap::default();
        let sum = expand(self, a, mask, 0, &mut done)?;
        let sum = sum.plus(&expand(self, b, mask, 0, &mut done)?, u64::MAX, mask);
        let mut found = Linear::default();
        for (monomial, coefficient) in sum.0 {
            let mut atoms = monomial.into_iter();
            match atoms.next() {
                None => found.constant = coefficient,
                Some(first) => {
                    let product = atoms.fold(first, |product, atom| self.mul(product, atom));
                    found.monomials.push((product, coefficient));
                }
            }
        }
        Some(found)
    }

    /// Whether a term has a product of two numbers of which none is a constant.
    pub fn has_product(&self, term: Term) -> bool {
        let mut found = false;
        self.postorder(
            &[term],
            |_| true,
            |part| {
                if let Kind::Binary(Op::Mul, _, b) = *self.kind(part) {
                    found |= self.constant(b).is_none();
                }
            },
        );
        found
    }
}

/// Equations in echelon form: each row has a pivot, a monomial that later rows do not have if its
/// coefficient there was divisible.
#[derive(Default)]
pub(crate) struct Echelon {
    rows: BTreeMap<u32, Vec<(Option<Term>, Row)>>,
    count: usize,
}

/// Coefficients of monomials; none is the constant.
type Row = BTreeMap<Option<Term>, u64>;

fn row(sum: &Linear) -> Row {
    let mut row: Row = sum.monomials.iter().map(|(term, coefficient)| (Some(*term), *coefficient)).collect();
    if sum.constant != 0 {
        row.insert(None, sum.constant);
    }
    row
}

/// The inverse of an odd number modulo 2^64, by Newton's iteration.
fn inverse(odd: u64) -> u64 {
    (0..6).fold(odd, |x: u64, _| x.wrapping_mul(2u64.wrapping_sub(odd.wrapping_mul(x))))
}

impl Echelon {
    /// Takes multiples of the rows away as long as pivots go.
    fn reduce(&self, width: u32, row: &mut Row) {
        let mask = mask(width);
        for (pivot, equation) in self.rows.get(&width).into_iter().flatten() {
            let (Some(mine), Some(theirs)) = (row.get(pivot).copied(), equation.get(pivot).copied()) else {
                continue;
            };
            let low = theirs.trailing_zeros();
            if mine.trailing_zeros() < low {
                continue;
            }
            let factor = (mine >> low).wrapping_mul(inverse(theirs >> low));
            for (monomial, coefficient) in equation {
                let rest = row.get(monomial).copied().unwrap_or(0);
                let rest = rest.wrapping_sub(coefficient.wrapping_mul(factor)) & mask;
                match rest {
                    0 => row.remove(monomial),
                    rest => row.insert(*monomial, rest),
                };
            }
        }
    }

    /// Adds an equation `sum = 0`; false if it contradicts the others.
    pub fn add(&mut self, width: u32, sum: &Linear) -> bool {
        self.count += 1;
        if self.count > MOST_EQUATIONS {
            return true;
        }
        let mut row = row(sum);
        self.reduce(width, &mut row);
        let of_monomials = row.iter().filter(|(monomial, _)| monomial.is_some());
        let pivot = of_monomials.min_by_key(|(_, coefficient)| coefficient.trailing_zeros());
        match pivot.map(|(monomial, _)| *monomial) {
            Some(pivot) => {
                self.rows.entry(width).or_default().push((pivot, row));
                true
            }
            // A constant is left.
            None => row.is_empty(),
        }
    }

    /// Whether a sum is zero because of the equations.
    pub fn is_zero(&self, width: u32, sum: &Linear) -> bool {
        let mut row = row(sum);
        self.reduce(width, &mut row);
        row.is_empty()
    }
}

/// Conditions that follow from the given ones, in which quotients and rests of divisions by constants
/// are variables of their own, with what they say of the number; none if nothing is divided. `rest`
/// finds the value of a rest if it has one only.
pub(crate) fn without_division(
    terms: &mut Terms,
    parts: &[Term],
    rest: &mut dyn FnMut(&mut Terms, Term) -> Option<u64>,
) -> Option<Vec<Term>> {
    let mut divided: BTreeMap<Division, (Option<Term>, Option<Term>)> = BTreeMap::new();
    let mut found: Vec<Term> = Vec::new();
    terms.postorder(parts, |_| true, |term| found.push(term));
    for term in found {
        match division(terms, term) {
            Some((division, Part::Quotient)) => divided.entry(division).or_default().0 = Some(term),
            Some((division, Part::Rest)) => divided.entry(division).or_default().1 = Some(term),
            None => {}
        }
    }
    let mut map: FxHashMap<Term, Term> = FxHashMap::default();
    let mut equations = Vec::new();
    for ((number, by, is_signed), (quotient, remainder)) in divided {
        let (Some(quotient), Sort::Bits(width)) = (quotient, terms.sort(number)) else { continue };
        let by = terms.bits(by, width);
        let of_number = if is_signed { terms.srem(number, by) } else { terms.urem(number, by) };
        let value = match rest(terms, of_number) {
            Some(value) => terms.bits(value, width),
            None => terms.fresh("rest", Sort::Bits(width)),
        };
        let multiple = terms.fresh("quotient", Sort::Bits(width));
        map.insert(quotient, multiple);
        map.extend(remainder.map(|remainder| (remainder, value)));
        let multiple = terms.mul(multiple, by);
        let sum = terms.add(multiple, value);
        equations.push(terms.eq(number, sum));
    }
    if map.is_empty() {
        return None;
    }
    equations.extend(parts);
    Some(equations.into_iter().map(|part| terms.substitute_with(part, &mut map)).collect())
}

/// A number, a divisor, and whether both are signed.
type Division = (Term, u64, bool);

/// Which result of a division a term is.
enum Part {
    Quotient,
    Rest,
}

/// The division that a term is a result of, if it is one by a small constant. Unsigned divisions by
/// powers of two are parts of the bits.
fn division(terms: &Terms, term: Term) -> Option<(Division, Part)> {
    match *terms.kind(term) {
        Kind::Binary(op @ (Op::UDiv | Op::SDiv | Op::URem | Op::SRem), number, by) => {
            let by = terms.constant(by).filter(|by| *by > 1 && *by < 1 << 16)?;
            let part = if matches!(op, Op::UDiv | Op::SDiv) { Part::Quotient } else { Part::Rest };
            Some(((number, by, matches!(op, Op::SDiv | Op::SRem)), part))
        }
        Kind::ZeroExtend(inner) => {
            let Kind::Extract { value, low } = *terms.kind(inner) else { return None };
            let width = terms.width(inner);
            if terms.sort(value) != terms.sort(term) {
                return None;
            }
            match (low, low + width == terms.width(term)) {
                (0, _) if width < 16 => Some(((value, 1 << width, false), Part::Rest)),
                (1..16, true) => Some(((value, 1 << low, false), Part::Quotient)),
                _ => None,
            }
        }
        _ => None,
    }
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;

    use super::*;
    use crate::{Model, Value};

    /// A sum of products of small numbers and variables.
    fn number(terms: &mut Terms, variables: &[Term], parts: &[(usize, usize, u64)]) -> Term {
        let width = terms.width(variables[0]);
        let mut sum = terms.bits(0, width);
        for (i, j, factor) in parts {
            let (offset, factor) = (terms.bits(*factor, width), terms.bits(*factor, width));
            let left = terms.add(variables[i % variables.len()], offset);
            let right = terms.add(sum, variables[j % variables.len()]);
            let product = terms.mul(left, right);
            let product = terms.mul(product, factor);
            sum = terms.add(sum, product);
        }
        sum
    }

    proptest! {
        /// A polynomial has the values of the term it comes from, and differences with itself vanish.
        #[test]
        fn polynomials_have_the_values_of_terms(
            a in prop::collection::vec((0usize..3, 0usize..3, 0u64..16), 1..3),
            b in prop::collection::vec((0usize..3, 0usize..3, 0u64..16), 1..3),
            values in prop::collection::vec(0u64..16, 3),
        ) {
            let mut terms = Terms::new();
            let variables = ["x", "y", "z"].map(|name| terms.variable(name, Sort::Bits(4)));
            let (a, b) = (number(&mut terms, &variables, &a), number(&mut terms, &variables, &b));
            let Some(sum) = terms.expanded_difference(a, b) else { return Ok(()) };
            let found = terms.sum(sum, 4);
            let model = Model::from_iter(variables.iter().copied().zip(values.iter().map(|x| Value::Bits(*x))));
            let difference = terms.sub(a, b);
            prop_assert_eq!(terms.evaluate(found, &model), terms.evaluate(difference, &model));
            let zero = terms.expanded_difference(a, a).unwrap();
            prop_assert!(zero.monomials.is_empty() && zero.constant == 0);
        }

        /// What follows where quotients and rests are variables holds with some values of them.
        #[test]
        fn quotients_and_rests_exist(x in 0u64..256, by in 2u64..9, op in 0usize..4) {
            let mut terms = Terms::new();
            let number = terms.variable("x", Sort::Bits(8));
            let divisor = terms.bits(by, 8);
            let quotient = match op / 2 {
                0 => terms.udiv(number, divisor),
                _ => terms.sdiv(number, divisor),
            };
            let rest = match op / 2 {
                0 => terms.urem(number, divisor),
                _ => terms.srem(number, divisor),
            };
            let mut model = Model::from_iter([(number, Value::Bits(x))]);
            let values = [quotient, rest].map(|term| terms.evaluate(term, &model).bits().unwrap());
            let expected = values.map(|value| terms.bits(value, 8));
            let value = terms.bits(x, 8);
            let mut parts = vec![terms.eq(number, value), terms.eq(quotient, expected[0])];
            if op % 2 == 0 {
                parts.push(terms.eq(rest, expected[1]));
            }
            let Some(found) = without_division(&mut terms, &parts, &mut |_, _| None) else {
                return Ok(());
            };
            for part in &found {
                for variable in terms.variables(*part) {
                    match terms.name(variable).map(|name| name.starts_with("quotient")) {
                        Some(true) => model.set(variable, Value::Bits(values[0])),
                        Some(false) if variable != number => model.set(variable, Value::Bits(values[1])),
                        _ => {}
                    }
                }
            }
            for part in found {
                prop_assert!(terms.holds(part, &model), "{}", terms.display(part));
            }
        }

        /// What is zero because of equations is zero wherever they hold.
        #[test]
        fn combinations_of_equations_are_zero_where_they_hold(
            rows in prop::collection::vec((0u64..16, 0u64..16, 0u64..16), 2..5),
        ) {
            let mut terms = Terms::new();
            let [x, y] = ["x", "y"].map(|name| terms.variable(name, Sort::Bits(4)));
            let sums: Vec<Linear> = rows.iter().map(|(a, b, c)| {
                let mut sum = Linear { constant: *c, monomials: vec![(x, *a), (y, *b)] };
                sum.monomials.retain(|(_, coefficient)| *coefficient != 0);
                sum
            }).collect();
            let Some((goal, equations)) = sums.split_last() else { return Ok(()) };
            let mut echelon = Echelon::default();
            let is_consistent = equations.iter().all(|sum| echelon.add(4, sum));
            let is_zero = echelon.is_zero(4, goal);
            let value = |sum: &Linear, x_value: u64, y_value: u64| {
                let of = |(term, coefficient): &(Term, u64)| coefficient * if *term == x { x_value } else { y_value };
                (sum.constant + sum.monomials.iter().map(of).sum::<u64>()) % 16
            };
            for point in 0..256 {
                let (x, y) = (point / 16, point % 16);
                if equations.iter().all(|sum| value(sum, x, y) == 0) {
                    prop_assert!(is_consistent);
                    prop_assert!(!is_zero || value(goal, x, y) == 0);
                }
            }
        }
    }
}
