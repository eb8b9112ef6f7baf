//! Builders of sums: addition, subtraction, negation, and products with constants.
//!
//! A sum is kept as `rest + constant`, the constant on the right. Two sums are merged when
//! something cancels; otherwise their structure stays, because shared sub-sums are worth more than
//! a normal form.

use crate::operation::Op;
use crate::sort::{Sort, mask};
use crate::terms::{Kind, Term, Terms};

/// Additions that are looked through on each side.
const REACH: usize = 8;

/// `constant + Σ coefficient · term`, modulo 2^width.
#[derive(Clone, Debug, Default)]
pub(crate) struct Linear {
    pub(crate) constant: u64,
    pub(crate) monomials: Vec<(Term, u64)>,
}

impl Linear {
    fn insert(&mut self, term: Term, coefficient: u64) {
        match self.monomials.iter_mut().find(|(t, _)| *t == term) {
            Some((_, c)) => *c = c.wrapping_add(coefficient),
            None => self.monomials.push((term, coefficient)),
        }
    }

    /// Cuts numbers to the width, drops what vanished.
    fn tidy(&mut self, width: u32) {
        self.constant &= mask(width);
        for (_, c) in &mut self.monomials {
            *c &= mask(width);
        }
        self.monomials.retain(|(_, c)| *c != 0);
    }
}

impl Terms {
    /// `factor · term`, added to a linear form. Looks at a bounded number of nodes.
    fn collect(&self, term: Term, factor: u64, into: &mut Linear) {
        let mut reach = REACH;
        let mut todo = vec![(term, factor)];
        while let Some((term, factor)) = todo.pop() {
            match *self.kind(term) {
                Kind::Constant(value) => {
                    into.constant = into.constant.wrapping_add(value.wrapping_mul(factor));
                }
                Kind::Neg(a) => todo.push((a, factor.wrapping_neg())),
                Kind::Binary(Op::Add, a, b) if reach > 0 => {
                    reach -= 1;
                    todo.push((b, factor));
                    todo.push((a, factor));
                }
                Kind::Binary(Op::Mul, a, b) => match self.constant(b) {
                    Some(c) => into.insert(a, factor.wrapping_mul(c)),
                    None => into.insert(term, factor),
                },
                _ => into.insert(term, factor),
            }
        }
    }

    /// `a - b` as a linear form, and whether anything cancelled.
    pub(crate) fn difference(&self, a: Term, b: Term) -> (Linear, bool) {
        let (mut left, mut right) = (Linear::default(), Linear::default());
        self.collect(a, 1, &mut left);
        self.collect(b, u64::MAX, &mut right);
        let apart = left.monomials.len() + right.monomials.len();
        let constants = left.constant != 0 && right.constant != 0;
        for (term, coefficient) in right.monomials {
            left.insert(term, coefficient);
        }
        left.constant = left.constant.wrapping_add(right.constant);
        left.tidy(self.width(a));
        let cancelled = constants || left.monomials.len() < apart;
        (left, cancelled)
    }

    /// The term of a linear form.
    pub(crate) fn sum(&mut self, mut linear: Linear, width: u32) -> Term {
        linear.tidy(width);
        let minus = mask(width);
        // What is taken away comes last, so that the circuit is one subtraction.
        linear.monomials.sort_unstable_by_key(|(term, c)| (*c == minus && width > 1, *term));
        let mut sum = None;
        for (term, coefficient) in linear.monomials {
            let monomial = self.scaled(term, coefficient);
            sum = Some(match sum {
                None => monomial,
                Some(sum) => self.intern(Kind::Binary(Op::Add, sum, monomial), Sort::Bits(width)),
            });
        }
        match sum {
            None => self.bits(linear.constant, width),
            Some(sum) => self.offset(sum, linear.constant),
        }
    }

    fn scaled(&mut self, term: Term, coefficient: u64) -> Term {
        let sort = self.sort(term);
        if coefficient == 1 {
            return term;
        }
        if coefficient == mask(sort.width()) {
            return self.intern(Kind::Neg(term), sort);
        }
        let coefficient = self.bits(coefficient, sort.width());
        self.intern(Kind::Binary(Op::Mul, term, coefficient), sort)
    }

    fn offset(&mut self, term: Term, constant: u64) -> Term {
        let sort = self.sort(term);
        if constant & mask(sort.width()) == 0 {
            return term;
        }
        let constant = self.bits(constant, sort.width());
        self.intern(Kind::Binary(Op::Add, term, constant), sort)
    }

    /// The term without a constant that is added to it, and that constant. The term is none if it
    /// is a constant.
    pub(crate) fn base_and_offset(&self, term: Term) -> (Option<Term>, u64) {
        match *self.kind(term) {
            Kind::Constant(value) => (None, value),
            Kind::Binary(Op::Add, a, b) => match self.constant(b) {
                Some(value) => (Some(a), value),
                None => (Some(term), 0),
            },
            _ => (Some(term), 0),
        }
    }

    /// Addition.
    pub fn add(&mut self, a: Term, b: Term) -> Term {
        let width = self.assert_bits(a, b);
        if let Some(value) = self.map_choices(Op::Add, a, b) {
            return value;
        }
        let ((base_a, ca), (base_b, cb)) = (self.base_and_offset(a), self.base_and_offset(b));
        let constant = ca.wrapping_add(cb) & mask(width);
        let (x, y) = match (base_a, base_b) {
            (None, None) => return self.bits(constant, width),
            (Some(base), None) | (None, Some(base)) => return self.choice_plus(base, constant),
            (Some(x), Some(y)) => (x, y),
        };
        let (mut left, mut right) = (Linear::default(), Linear::default());
        self.collect(x, 1, &mut left);
        self.collect(y, 1, &mut right);
        let apart = left.monomials.len() + right.monomials.len();
        for (term, coefficient) in right.monomials {
            left.insert(term, coefficient);
        }
        left.constant = left.constant.wrapping_add(right.constant).wrapping_add(constant);
        left.tidy(width);
        if left.monomials.len() < apart {
            return self.sum(left, width);
        }
        let (x, y) = match (self.kind(x), self.kind(y)) {
            (Kind::Neg(_), Kind::Neg(_)) => (x.min(y), x.max(y)),
            (Kind::Neg(_), _) => (y, x),
            (_, Kind::Neg(_)) => (x, y),
            _ => (x.min(y), x.max(y)),
        };
        let sum = self.intern(Kind::Binary(Op::Add, x, y), Sort::Bits(width));
        self.offset(sum, constant)
    }

    /// `base + constant`, inside a choice between two constants.
    fn choice_plus(&mut self, base: Term, constant: u64) -> Term {
        if let Kind::Ite(condition, x, y) = *self.kind(base) {
            if let (Some(a), Some(b)) = (self.constant(x), self.constant(y)) {
                let width = self.width(base);
                let then = self.bits(a.wrapping_add(constant), width);
                let otherwise = self.bits(b.wrapping_add(constant), width);
                return self.ite(condition, then, otherwise);
            }
        }
        self.offset(base, constant)
    }

    /// Subtraction: the addition of the negation.
    pub fn sub(&mut self, a: Term, b: Term) -> Term {
        self.assert_bits(a, b);
        let minus = self.neg(b);
        self.add(a, minus)
    }

    /// Two's-complement negation.
    pub fn neg(&mut self, a: Term) -> Term {
        let width = self.assert_bits(a, a);
        if let Some(value) = self.map_choice(a, |terms, value| terms.neg(value)) {
            return value;
        }
        match *self.kind(a) {
            Kind::Constant(value) => self.bits(value.wrapping_neg(), width),
            Kind::Neg(inner) => inner,
            _ if width == 1 => a,
            Kind::Binary(Op::Add, x, y) => match (self.constant(y), self.kind(y)) {
                (Some(c), _) if !matches!(self.kind(x), Kind::Binary(Op::Add, ..)) => {
                    let minus = self.neg(x);
                    self.offset_of_sum(minus, c.wrapping_neg())
                }
                (_, Kind::Neg(inner)) if !matches!(self.kind(x), Kind::Binary(..)) => {
                    let inner = *inner;
                    let minus = self.neg(x);
                    self.add(inner, minus)
                }
                _ => self.intern(Kind::Neg(a), Sort::Bits(width)),
            },
            Kind::Binary(Op::Mul, x, y) if self.constant(y).is_some() => {
                let c = self.constant(y).unwrap_or_default();
                self.scaled(x, c.wrapping_neg() & mask(width))
            }
            _ => self.intern(Kind::Neg(a), Sort::Bits(width)),
        }
    }

    fn offset_of_sum(&mut self, term: Term, constant: u64) -> Term {
        let constant = self.bits(constant, self.width(term));
        self.add(term, constant)
    }

    /// A product with a constant.
    pub(crate) fn times(&mut self, a: Term, factor: u64) -> Term {
        let width = self.width(a);
        let factor = factor & mask(width);
        if factor == 0 {
            return self.bits(0, width);
        }
        if factor == 1 {
            return a;
        }
        match *self.kind(a) {
            Kind::Constant(value) => self.bits(value.wrapping_mul(factor), width),
            Kind::Neg(inner) => self.scaled_down(inner, factor.wrapping_neg() & mask(width)),
            Kind::Binary(Op::Mul, x, y) if self.constant(y).is_some() => {
                let c = self.constant(y).unwrap_or_default();
                self.scaled_down(x, c.wrapping_mul(factor) & mask(width))
            }
            Kind::Binary(Op::Add, x, y) if self.constant(y).is_some() => {
                let c = self.constant(y).unwrap_or_default();
                let product = self.scaled_down(x, factor);
                self.offset_of_sum(product, c.wrapping_mul(factor))
            }
            _ if factor == mask(width) => self.neg(a),
            _ => self.scaled(a, factor),
        }
    }

    /// A product with a constant of a term that is not a sum with a constant.
    fn scaled_down(&mut self, term: Term, factor: u64) -> Term {
        match *self.kind(term) {
            _ if factor == 0 => self.bits(0, self.width(term)),
            Kind::Binary(Op::Mul, x, y) if self.constant(y).is_some() => {
                let c = self.constant(y).unwrap_or_default();
                match c.wrapping_mul(factor) & mask(self.width(term)) {
                    0 => self.bits(0, self.width(term)),
                    factor => self.scaled(x, factor),
                }
            }
            _ => self.scaled(term, factor),
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn constants_gather_and_terms_cancel() {
        let mut t = Terms::new();
        let [x, y] = ["x", "y"].map(|name| t.variable(name, Sort::Bits(8)));
        let (three, five, eight) = (t.bits(3, 8), t.bits(5, 8), t.bits(8, 8));
        let x3 = t.add(x, three);
        assert_eq!(t.add(x3, five), t.add(eight, x));
        let sum = t.add(x3, y);
        assert_eq!(t.sub(sum, x), t.add(y, three));
        assert_eq!(t.sub(sum, sum), t.bits(0, 8));
        let twice = t.bits(2, 8);
        assert_eq!(t.add(x, x), t.mul(twice, x));
        let minus = t.neg(x);
        assert_eq!((t.neg(minus), t.sub(y, x)), (x, t.add(minus, y)));
    }
}
