//! Builders of comparisons.
//!
//! Rules: constants, cancelling of what both sides share, `x + c == d`, extensions and
//! concatenations against constants, choices with constant sides, bounds that follow from the shape
//! of a term.

use crate::linear::Linear;
use crate::operation::Op;
use crate::sort::{Sort, mask, signed};
use crate::terms::{Kind, Term, Terms};

/// How deep rules may call each other.
const NESTING: u32 = 16;

impl Terms {
    /// Equality of two bit-vectors or truth values.
    ///
    /// # Panics
    /// Two different arrays are refused: there is no extensionality. Name an array by its term
    /// instead of by an equality, or compare the elements that matter.
    pub fn eq(&mut self, a: Term, b: Term) -> Term {
        assert_eq!(self.sort(a), self.sort(b), "both sides of an equality have one sort");
        if a == b {
            return Self::TRUE;
        }
        match self.sort(a) {
            Sort::Bool => self.iff(a, b),
            Sort::Array { .. } => panic!("equality of arrays is not supported"),
            Sort::Bits(width) => self.eq_bits(a, b, width),
        }
    }

    fn eq_bits(&mut self, a: Term, b: Term, width: u32) -> Term {
        if let Some(same) = self.compare_choices(a, b, |terms, x, y| terms.eq(x, y)) {
            return same;
        }
        let (difference, cancelled) = self.difference(a, b);
        if difference.monomials.is_empty() {
            return self.bool(difference.constant == 0);
        }
        if let [(term, coefficient)] = difference.monomials[..] {
            if coefficient % 2 == 1 {
                let value = difference.constant.wrapping_neg().wrapping_mul(inverse(coefficient));
                return self.eq_constant(term, value & mask(width));
            }
            if difference.constant % 2 == 1 {
                return Self::FALSE;
            }
        }
        let (mut a, mut b) = (a, b);
        if cancelled {
            let (left, right) = split(difference, width);
            a = self.sum(left, width);
            b = self.sum(right, width);
        }
        match (self.constant(a), self.constant(b)) {
            (Some(value), _) => return self.eq_constant(b, value),
            (_, Some(value)) => return self.eq_constant(a, value),
            _ => {}
        }
        match (self.kind(a), self.kind(b)) {
            (Kind::ZeroExtend(x), Kind::ZeroExtend(y)) | (Kind::SignExtend(x), Kind::SignExtend(y))
                if self.width(*x) == self.width(*y) =>
            {
                let (x, y) = (*x, *y);
                self.eq_raw(x, y)
            }
            (Kind::BitNot(x), Kind::BitNot(y)) => {
                let (x, y) = (*x, *y);
                self.eq_raw(x, y)
            }
            (Kind::Ite(c, x, y), _) if *x == b || *y == b => {
                let (c, x, y) = (*c, *x, *y);
                self.eq_choice(c, x, y, b)
            }
            (_, Kind::Ite(c, x, y)) if *x == a || *y == a => {
                let (c, x, y) = (*c, *x, *y);
                self.eq_choice(c, x, y, a)
            }
            _ => self.eq_raw(a, b),
        }
    }

    fn eq_raw(&mut self, a: Term, b: Term) -> Term {
        if a == b {
            return Self::TRUE;
        }
        let constant_first = self.constant(a).is_some();
        let (a, b) = if constant_first || (self.constant(b).is_none() && b < a) { (b, a) } else { (a, b) };
        self.intern(Kind::Eq(a, b), Sort::Bool)
    }

    /// `ite(c, x, y) == other`, where one of the two is the other.
    fn eq_choice(&mut self, c: Term, x: Term, y: Term, other: Term) -> Term {
        if x == other {
            let rest = self.eq_raw(y, other);
            self.or(c, rest)
        } else {
            let (rest, not) = (self.eq_raw(x, other), self.not(c));
            self.or(not, rest)
        }
    }

    /// Equality with a constant.
    fn eq_constant(&mut self, a: Term, value: u64) -> Term {
        let width = self.width(a);
        if self.depth >= NESTING {
            let constant = self.bits(value, width);
            return self.eq_raw(a, constant);
        }
        self.depth += 1;
        let result = match *self.kind(a) {
            Kind::Constant(other) => self.bool(other == value),
            _ if value > self.upper(a) => Self::FALSE,
            Kind::ZeroExtend(x) => self.eq_constant(x, value),
            Kind::SignExtend(x) => {
                let low = value & mask(self.width(x));
                if signed(low, self.width(x)) as u64 & mask(width) == value {
                    self.eq_constant(x, low)
                } else {
                    Self::FALSE
                }
            }
            Kind::Concat(high, low) => {
                let below = self.width(low);
                let low = self.eq_constant(low, value & mask(below));
                let high = self.eq_constant(high, value >> below);
                self.and(high, low)
            }
            Kind::BitNot(x) => self.eq_constant(x, !value & mask(width)),
            Kind::Neg(x) => self.eq_constant(x, value.wrapping_neg() & mask(width)),
            Kind::Binary(Op::Add, x, c) if self.constant(c).is_some() => {
                let c = self.constant(c).unwrap_or_default();
                self.eq_constant(x, value.wrapping_sub(c) & mask(width))
            }
            Kind::Binary(Op::BitXor, x, c) if self.constant(c).is_some() => {
                let c = self.constant(c).unwrap_or_default();
                self.eq_constant(x, value ^ c)
            }
            Kind::Ite(c, x, y) if self.constant(x).is_some() || self.constant(y).is_some() => {
                let then = self.eq_constant(x, value);
                let otherwise = self.eq_constant(y, value);
                self.ite(c, then, otherwise)
            }
            _ => {
                let constant = self.bits(value, width);
                self.eq_raw(a, constant)
            }
        };
        self.depth -= 1;
        result
    }

    /// A bound from above on the value of a term, from its outermost shape.
    pub(crate) fn upper(&self, term: Term) -> u64 {
        self.upper_within(term, 4)
    }

    fn upper_within(&self, term: Term, depth: u32) -> u64 {
        let top = mask(self.width(term));
        if depth == 0 {
            return top;
        }
        let of = |t: Term| self.upper_within(t, depth - 1);
        match *self.kind(term) {
            Kind::Constant(value) => value,
            Kind::ZeroExtend(x) => of(x),
            Kind::Ite(_, x, y) => of(x).max(of(y)),
            Kind::Concat(high, low) => (of(high) << self.width(low)) | mask(self.width(low)),
            Kind::Binary(Op::BitAnd, x, y) => of(x).min(of(y)),
            Kind::Binary(Op::URem, x, c) if self.constant(c).is_some_and(|c| c > 0) => of(x).min(of(c) - 1),
            Kind::Binary(Op::UDiv, x, c) if self.constant(c).is_some_and(|c| c > 0) => of(x) / of(c),
            _ => top,
        }
    }

    /// Unsigned less than.
    pub fn ult(&mut self, a: Term, b: Term) -> Term {
        let width = self.assert_bits(a, b);
        let top = mask(width);
        if let Some(less) = self.compare_choices(a, b, |terms, x, y| terms.ult(x, y)) {
            return less;
        }
        match (self.constant(a), self.constant(b)) {
            (Some(x), Some(y)) => return self.bool(x < y),
            (Some(x), _) if x >= self.upper(b) => return Self::FALSE,
            (Some(0), _) => {
                let zero = self.eq_constant(b, 0);
                return self.not(zero);
            }
            (_, Some(0)) => return Self::FALSE,
            (_, Some(y)) if y > self.upper(a) => return Self::TRUE,
            (_, Some(1)) => return self.eq_constant(a, 0),
            (_, Some(y)) if y == top => {
                let max = self.eq_constant(a, top);
                return self.not(max);
            }
            (Some(x), _) if x == top - 1 => return self.eq_constant(b, top),
            _ => {}
        }
        if a == b {
            return Self::FALSE;
        }
        if let Some((x, y)) = self.narrower(a, b) {
            return self.ult(x, y);
        }
        if let Some(result) = self.lift(a, b, |t, x, y| t.ult(x, y)) {
            return result;
        }
        self.intern(Kind::ULt(a, b), Sort::Bool)
    }

    /// The sides without the zeros in front of both.
    fn narrower(&mut self, a: Term, b: Term) -> Option<(Term, Term)> {
        match (self.kind(a), self.kind(b)) {
            (Kind::ZeroExtend(x), Kind::ZeroExtend(y)) if self.width(*x) == self.width(*y) => Some((*x, *y)),
            // The constant fits: otherwise the bounds have decided.
            (Kind::ZeroExtend(x), Kind::Constant(c)) if *c <= mask(self.width(*x)) => {
                let (x, c) = (*x, *c);
                Some((x, self.bits(c, self.width(x))))
            }
            (Kind::Constant(c), Kind::ZeroExtend(y)) if *c <= mask(self.width(*y)) => {
                let (c, y) = (*c, *y);
                Some((self.bits(c, self.width(y)), y))
            }
            _ => None,
        }
    }

    /// A comparison of a choice between constants with a constant.
    fn lift(&mut self, a: Term, b: Term, compare: fn(&mut Self, Term, Term) -> Term) -> Option<Term> {
        if self.depth >= NESTING {
            return None;
        }
        let some_constant = |x: Term, y: Term| self.constant(x).is_some() || self.constant(y).is_some();
        let (c, (a1, b1), (a2, b2)) = match (self.kind(a), self.kind(b)) {
            (Kind::Ite(c, x, y), Kind::Constant(_)) if some_constant(*x, *y) => (*c, (*x, b), (*y, b)),
            (Kind::Constant(_), Kind::Ite(c, x, y)) if some_constant(*x, *y) => (*c, (a, *x), (a, *y)),
            _ => return None,
        };
        self.depth += 1;
        let then = compare(self, a1, b1);
        let otherwise = compare(self, a2, b2);
        self.depth -= 1;
        Some(self.ite(c, then, otherwise))
    }

    /// Unsigned less than or equal.
    pub fn ule(&mut self, a: Term, b: Term) -> Term {
        let greater = self.ult(b, a);
        self.not(greater)
    }

    /// Signed less than.
    pub fn slt(&mut self, a: Term, b: Term) -> Term {
        let width = self.assert_bits(a, b);
        let (least, most) = (1 << (width - 1), mask(width) >> 1);
        if let Some(less) = self.compare_choices(a, b, |terms, x, y| terms.slt(x, y)) {
            return less;
        }
        match (self.constant(a), self.constant(b)) {
            (Some(x), Some(y)) => return self.bool(signed(x, width) < signed(y, width)),
            (Some(x), _) if x == most => return Self::FALSE,
            (_, Some(y)) if y == least => return Self::FALSE,
            _ => {}
        }
        if a == b {
            return Self::FALSE;
        }
        // Neither is negative.
        if width > 1 && self.upper(a) <= most && self.upper(b) <= most {
            return self.ult(a, b);
        }
        match (self.kind(a), self.kind(b)) {
            (Kind::SignExtend(x), Kind::SignExtend(y)) if self.width(*x) == self.width(*y) => {
                let (x, y) = (*x, *y);
                return self.slt(x, y);
            }
            (Kind::SignExtend(x), Kind::Constant(c)) => {
                let (x, c) = (*x, signed(*c, width));
                let inner = self.width(x);
                return match signed(c as u64, inner) == c {
                    true => {
                        let c = self.bits(c as u64, inner);
                        self.slt(x, c)
                    }
                    false => self.bool(c > 0),
                };
            }
            (Kind::Constant(c), Kind::SignExtend(y)) => {
                let (c, y) = (signed(*c, width), *y);
                let inner = self.width(y);
                return match signed(c as u64, inner) == c {
                    true => {
                        let c = self.bits(c as u64, inner);
                        self.slt(c, y)
                    }
                    false => self.bool(c < 0),
                };
            }
            _ => {}
        }
        if let Some(result) = self.lift(a, b, |t, x, y| t.slt(x, y)) {
            return result;
        }
        self.intern(Kind::SLt(a, b), Sort::Bool)
    }

    /// Signed less than or equal.
    pub fn sle(&mut self, a: Term, b: Term) -> Term {
        let greater = self.slt(b, a);
        self.not(greater)
    }
}

/// The inverse of an odd number modulo 2^64, by Newton's iteration.
fn inverse(odd: u64) -> u64 {
    let mut result = odd;
    for _ in 0..5 {
        result = result.wrapping_mul(2_u64.wrapping_sub(odd.wrapping_mul(result)));
    }
    result
}

/// A difference as the two sides of an equality: what is added, and what is taken away.
fn split(difference: Linear, width: u32) -> (Linear, Linear) {
    let (mut left, mut right) = (Linear::default(), Linear::default());
    for (term, coefficient) in difference.monomials {
        if signed(coefficient, width) < 0 {
            right.monomials.push((term, coefficient.wrapping_neg()));
        } else {
            left.monomials.push((term, coefficient));
        }
    }
    right.constant = difference.constant.wrapping_neg();
    (left, right)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn equalities_are_solved_for_the_variable() {
        let mut t = Terms::new();
        let [x, y] = ["x", "y"].map(|name| t.variable(name, Sort::Bits(8)));
        let (three, five, two) = (t.bits(3, 8), t.bits(5, 8), t.bits(2, 8));
        let x3 = t.add(x, three);
        assert_eq!(t.eq(x3, five), t.eq(x, two));
        let y3 = t.add(y, three);
        assert_eq!(t.eq(x3, y3), t.eq(x, y));
        assert_eq!(t.eq(x3, x), Terms::FALSE);
        let triple = t.mul(x, three);
        let inverse = t.bits(171 * 5, 8);
        assert_eq!(t.eq(triple, five), t.eq(x, inverse));
        let even = t.mul(x, two);
        assert_eq!(t.eq(even, five), Terms::FALSE);
    }

    #[test]
    fn shapes_bound_values() {
        let mut t = Terms::new();
        let x = t.variable("x", Sort::Bits(4));
        let wide = t.zero_extend(x, 8);
        let (big, fits, small) = (t.bits(16, 8), t.bits(9, 8), t.bits(9, 4));
        assert_eq!((t.ult(wide, big), t.slt(wide, big)), (Terms::TRUE, Terms::TRUE));
        assert_eq!(t.ult(wide, fits), t.ult(x, small));
        assert_eq!(t.eq(wide, big), Terms::FALSE);
        let signed = t.sign_extend(x, 8);
        let minus = t.bits(0xf8, 8);
        assert_eq!(t.slt(signed, minus), Terms::FALSE);
    }
}
