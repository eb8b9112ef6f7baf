//! Builders of products, quotients and remainders.
//!
//! Rules: constants, neutral and absorbing elements, powers of two, operands whose sign is known.

use crate::operation::Op;
use crate::sort::{Sort, mask};
use crate::terms::{Kind, Term, Terms};

impl Terms {
    /// Any operation on two bit-vectors, by its name.
    pub fn binary(&mut self, op: Op, a: Term, b: Term) -> Term {
        match op {
            Op::Add => self.add(a, b),
            Op::Mul => self.mul(a, b),
            Op::UDiv => self.udiv(a, b),
            Op::URem => self.urem(a, b),
            Op::SDiv => self.sdiv(a, b),
            Op::SRem => self.srem(a, b),
            Op::Shl => self.shl(a, b),
            Op::LShr => self.lshr(a, b),
            Op::AShr => self.ashr(a, b),
            Op::BitAnd => self.bit_and(a, b),
            Op::BitOr => self.bit_or(a, b),
            Op::BitXor => self.bit_xor(a, b),
        }
    }

    /// The value of an operation on two constants, or on choices between constants.
    pub(crate) fn fold(&mut self, op: Op, a: Term, b: Term) -> Option<Term> {
        let width = self.assert_bits(a, b);
        match (self.constant(a), self.constant(b)) {
            (Some(a), Some(b)) => Some(self.bits(op.apply(a, b, width), width)),
            _ => self.map_choices(op, a, b),
        }
    }

    pub(crate) fn binary_raw(&mut self, op: Op, a: Term, b: Term) -> Term {
        let sort = self.sort(a);
        let (a, b) = if op.is_commutative() && self.constant(b).is_none() && b < a { (b, a) } else { (a, b) };
        self.intern(Kind::Binary(op, a, b), sort)
    }

    /// Multiplication.
    pub fn mul(&mut self, a: Term, b: Term) -> Term {
        if let Some(value) = self.fold(Op::Mul, a, b) {
            return value;
        }
        match (self.constant(a), self.constant(b)) {
            (Some(factor), _) => self.times(b, factor),
            (_, Some(factor)) => self.times(a, factor),
            _ => self.binary_raw(Op::Mul, a, b),
        }
    }

    /// Unsigned division. By zero it gives the value with every bit set.
    pub fn udiv(&mut self, a: Term, b: Term) -> Term {
        if let Some(value) = self.fold(Op::UDiv, a, b) {
            return value;
        }
        let width = self.width(a);
        match self.constant(b) {
            Some(0) => self.bits(u64::MAX, width),
            Some(1) => a,
            Some(c) if c > self.upper(a) => self.bits(0, width),
            Some(c) if c.is_power_of_two() => self.lshr_by(a, c.trailing_zeros()),
            _ => self.binary_raw(Op::UDiv, a, b),
        }
    }

    /// Unsigned remainder. By zero it gives the dividend.
    pub fn urem(&mut self, a: Term, b: Term) -> Term {
        if let Some(value) = self.fold(Op::URem, a, b) {
            return value;
        }
        let width = self.width(a);
        match self.constant(b) {
            Some(0) => a,
            Some(1) => self.bits(0, width),
            Some(c) if c > self.upper(a) => a,
            Some(c) if c.is_power_of_two() => {
                let low = self.extract(a, 0, c.trailing_zeros());
                self.zero_extend(low, width)
            }
            _ => self.binary_raw(Op::URem, a, b),
        }
    }

    /// Whether the outermost shape of a term says that it is not negative.
    fn is_natural(&self, a: Term) -> bool {
        self.upper(a) <= mask(self.width(a)) >> 1
    }

    /// Signed division, towards zero. By zero it gives 1 for a negative dividend, else -1.
    pub fn sdiv(&mut self, a: Term, b: Term) -> Term {
        if let Some(value) = self.fold(Op::SDiv, a, b) {
            return value;
        }
        let width = self.width(a);
        match self.constant(b) {
            Some(0) => {
                let zero = self.bits(0, width);
                let negative = self.slt(a, zero);
                let (one, minus) = (self.bits(1, width), self.bits(u64::MAX, width));
                self.ite(negative, one, minus)
            }
            Some(1) if width > 1 => a,
            Some(c) if c == mask(width) => self.neg(a),
            _ if width > 1 && self.is_natural(a) && self.is_natural(b) => self.udiv(a, b),
            _ => self.binary_raw(Op::SDiv, a, b),
        }
    }

    /// Signed remainder, with the sign of the dividend. By zero it gives the dividend.
    pub fn srem(&mut self, a: Term, b: Term) -> Term {
        if let Some(value) = self.fold(Op::SRem, a, b) {
            return value;
        }
        let width = self.width(a);
        match self.constant(b) {
            Some(0) => a,
            Some(c) if c == 1 || c == mask(width) => self.bits(0, width),
            _ if width > 1 && self.is_natural(a) && self.is_natural(b) => self.urem(a, b),
            _ => self.binary_raw(Op::SRem, a, b),
        }
    }

    /// Shift to the left.
    pub fn shl(&mut self, a: Term, b: Term) -> Term {
        if let Some(value) = self.fold(Op::Shl, a, b) {
            return value;
        }
        let width = self.width(a);
        match self.constant(b) {
            Some(amount) if amount >= u64::from(width) => self.bits(0, width),
            Some(amount) => self.times(a, 1 << amount),
            None if self.is(a, 0) => a,
            None => self.binary_raw(Op::Shl, a, b),
        }
    }

    /// Shift to the right that brings in zeros.
    pub fn lshr(&mut self, a: Term, b: Term) -> Term {
        if let Some(value) = self.fold(Op::LShr, a, b) {
            return value;
        }
        let width = self.width(a);
        match self.constant(b) {
            Some(amount) if amount >= u64::from(width) => self.bits(0, width),
            Some(amount) => self.lshr_by(a, amount as u32),
            None if self.is(a, 0) => a,
            None => self.binary_raw(Op::LShr, a, b),
        }
    }

    fn lshr_by(&mut self, a: Term, amount: u32) -> Term {
        let width = self.width(a);
        let high = self.extract(a, amount, width - amount);
        self.zero_extend(high, width)
    }

    /// Shift to the right that brings in the sign.
    pub fn ashr(&mut self, a: Term, b: Term) -> Term {
        if let Some(value) = self.fold(Op::AShr, a, b) {
            return value;
        }
        let width = self.width(a);
        match self.constant(b) {
            Some(amount) => {
                let amount = amount.min(u64::from(width) - 1) as u32;
                let high = self.extract(a, amount, width - amount);
                self.sign_extend(high, width)
            }
            None if self.is(a, 0) || self.is(a, u64::MAX) => a,
            None => self.binary_raw(Op::AShr, a, b),
        }
    }

    /// Every bit flipped.
    pub fn bit_not(&mut self, a: Term) -> Term {
        let width = self.assert_bits(a, a);
        if let Some(value) = self.map_choice(a, |terms, value| terms.bit_not(value)) {
            return value;
        }
        match *self.kind(a) {
            Kind::Constant(value) => self.bits(!value, width),
            Kind::BitNot(inner) => inner,
            _ => self.intern(Kind::BitNot(a), Sort::Bits(width)),
        }
    }

    /// Whether one is the other with every bit flipped.
    fn complements(&self, a: Term, b: Term) -> bool {
        matches!(self.kind(a), Kind::BitNot(x) if *x == b)
            || matches!(self.kind(b), Kind::BitNot(x) if *x == a)
    }

    /// Folds constants, and gathers those of `(x op c) op d`: the operands, the constant last.
    fn gather(&mut self, op: Op, a: Term, b: Term) -> Result<Term, (Term, Term)> {
        if let Some(value) = self.fold(op, a, b) {
            return Ok(value);
        }
        let (a, b) = if self.constant(a).is_some() { (b, a) } else { (a, b) };
        if let Kind::Binary(inner, x, c) = *self.kind(a) {
            if inner == op {
                if let Some(both) = self.fold(op, c, b) {
                    return Err((x, both));
                }
            }
        }
        Err((a, b))
    }

    /// And, bit by bit.
    pub fn bit_and(&mut self, a: Term, b: Term) -> Term {
        let (a, b) = match self.gather(Op::BitAnd, a, b) {
            Ok(value) => return value,
            Err(operands) => operands,
        };
        let width = self.width(a);
        match self.constant(b) {
            Some(0) => b,
            Some(c) if c == mask(width) => a,
            Some(c) if (c + 1).is_power_of_two() => {
                let low = self.extract(a, 0, c.trailing_ones());
                self.zero_extend(low, width)
            }
            _ if a == b => a,
            _ if self.complements(a, b) => self.bits(0, width),
            _ => self.binary_raw(Op::BitAnd, a, b),
        }
    }

    /// Or, bit by bit.
    pub fn bit_or(&mut self, a: Term, b: Term) -> Term {
        let (a, b) = match self.gather(Op::BitOr, a, b) {
            Ok(value) => return value,
            Err(operands) => operands,
        };
        let width = self.width(a);
        match self.constant(b) {
            Some(0) => a,
            Some(c) if c == mask(width) => b,
            _ if a == b => a,
            _ if self.complements(a, b) => self.bits(u64::MAX, width),
            _ => self.binary_raw(Op::BitOr, a, b),
        }
    }

    /// Exclusive or, bit by bit.
    pub fn bit_xor(&mut self, a: Term, b: Term) -> Term {
        let (a, b) = match self.gather(Op::BitXor, a, b) {
            Ok(value) => return value,
            Err(operands) => operands,
        };
        let width = self.width(a);
        match self.constant(b) {
            Some(0) => a,
            Some(c) if c == mask(width) => self.bit_not(a),
            _ if a == b => self.bits(0, width),
            _ if self.complements(a, b) => self.bits(u64::MAX, width),
            _ => self.binary_raw(Op::BitXor, a, b),
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn powers_of_two_are_slices() {
        let mut t = Terms::new();
        let x = t.variable("x", Sort::Bits(8));
        let (four, two) = (t.bits(4, 8), t.bits(2, 8));
        assert_eq!(t.udiv(x, four), t.lshr(x, two));
        let three = t.bits(3, 8);
        assert_eq!(t.urem(x, four), t.bit_and(x, three));
        assert_eq!(t.shl(x, two), t.mul(x, four));
    }

    #[test]
    fn division_of_naturals_is_unsigned() {
        let mut t = Terms::new();
        let x = t.variable("x", Sort::Bits(4));
        let wide = t.zero_extend(x, 8);
        let seven = t.bits(7, 8);
        assert_eq!(t.sdiv(wide, seven), t.udiv(wide, seven));
        let not = t.bit_not(x);
        assert_eq!((t.bit_and(x, not), t.bit_or(x, not)), (t.bits(0, 4), t.bits(15, 4)));
    }
}
