//! Builders of floating-point operations.
//!
//! Rules: constants; comparisons of a number with itself; numbers that were only widened, or that
//! are integers without rounding, lose the conversion.

use wherefore_floats::{FloatOp, Format, Operation};

use crate::sort::Sort;
use crate::terms::{Kind, Term, Terms};

impl Terms {
    /// A floating-point operation on bit-vectors.
    ///
    /// ```
    /// use wherefore_smt::{Budget, FloatOp, Format, FloatOperation, Sort, Terms, is_valid};
    ///
    /// let mut terms = Terms::new();
    /// let x = terms.variable("x", Sort::Bits(32));
    /// let double = terms.float(FloatOp::new(FloatOperation::Add, Format::Single), &[x, x]);
    /// let less = terms.float(FloatOp::new(FloatOperation::Less, Format::Single), &[double, x]);
    /// // Twice a negative number is less, or equal if it is the greatest one.
    /// assert_eq!(is_valid(&mut terms, less, &Budget::default()), Ok(false));
    /// ```
    pub fn float(&mut self, op: FloatOp, operands: &[Term]) -> Term {
        assert_eq!(operands.len(), op.arity(), "operands of {}", op.name());
        for operand in operands {
            assert_eq!(self.sort(*operand), Sort::Bits(op.operand_width()), "an operand of {}", op.name());
        }
        let constants: Option<Vec<u64>> = operands.iter().map(|operand| self.constant(*operand)).collect();
        if let Some(constants) = constants {
            let value = op.apply(&constants);
            return match op.result_width() {
                Some(width) => self.bits(value, width),
                None => self.bool(value == 1),
            };
        }
        if let Some(simple) = self.simple_float(op, operands) {
            return simple;
        }
        let mut operands = operands.to_vec();
        if op.is_commutative() {
            operands.sort_unstable();
        }
        let sort = op.result_width().map_or(Sort::Bool, Sort::Bits);
        self.intern(Kind::Float(op, operands.into_boxed_slice()), sort)
    }

    /// Whether a bit-vector is not a number.
    pub fn is_nan(&mut self, format: Format, number: Term) -> Term {
        let width = format.width() - 1;
        let magnitude = self.extract(number, 0, width);
        let infinity = self.bits(format.infinity(), width);
        self.ult(infinity, magnitude)
    }

    fn simple_float(&mut self, op: FloatOp, operands: &[Term]) -> Option<Term> {
        match (op.operation, operands) {
            (Operation::Less, [a, b]) if a == b => Some(Self::FALSE),
            (Operation::Equal | Operation::LessEqual, [a, b]) if a == b => {
                let nan = self.is_nan(op.format, *a);
                Some(self.not(nan))
            }
            (Operation::Equal | Operation::Less | Operation::LessEqual, [a, b]) => {
                self.simple_comparison(op, *a, *b)
            }
            (Operation::Convert, [a]) => match self.kind(*a) {
                // What was widened is the same again, with NaNs made quiet.
                Kind::Float(FloatOp { operation: Operation::Convert, format: Format::Single }, inner) => {
                    let inner = inner[0];
                    let is_nan = self.is_nan(Format::Single, inner);
                    let quiet = self.bits(Format::Single.quiet(), Format::Single.width());
                    let nan = self.bit_or(inner, quiet);
                    Some(self.ite(is_nan, nan, inner))
                }
                _ => None,
            },
            (Operation::ToSigned(width) | Operation::ToUnsigned(width), [a]) => {
                let signed = matches!(op.operation, Operation::ToSigned(_));
                let (integer, was_signed) = self.exact_integer(op.format, *a)?;
                fits((self.width(integer), was_signed), (width, signed)).then(|| {
                    if was_signed {
                        self.sign_extend(integer, width)
                    } else {
                        self.zero_extend(integer, width)
                    }
                })
            }
            (Operation::FitsSigned(width) | Operation::FitsUnsigned(width), [a]) => {
                let signed = matches!(op.operation, Operation::FitsSigned(_));
                let (integer, was_signed) = self.exact_integer(op.format, *a)?;
                fits((self.width(integer), was_signed), (width, signed)).then_some(Self::TRUE)
            }
            _ => None,
        }
    }

    /// The integer, and whether it has a sign, of which a number was made without rounding.
    fn exact_integer(&self, format: Format, number: Term) -> Option<(Term, bool)> {
        let Kind::Float(op, inner) = self.kind(number) else { return None };
        let precision = format.fraction_bits() + 1;
        match op.operation {
            Operation::FromSigned(width) if width <= precision => Some((inner[0], true)),
            Operation::FromUnsigned(width) if width <= precision => Some((inner[0], false)),
            _ => None,
        }
    }

    /// A comparison without the conversions of both sides.
    fn simple_comparison(&mut self, op: FloatOp, a: Term, b: Term) -> Option<Term> {
        if let (Some((x, x_signed)), Some((y, y_signed))) =
            (self.exact_integer(op.format, a), self.exact_integer(op.format, b))
        {
            if x_signed == y_signed && self.width(x) == self.width(y) {
                return Some(match (op.operation, x_signed) {
                    (Operation::Equal, _) => self.eq(x, y),
                    (Operation::Less, true) => self.slt(x, y),
                    (Operation::Less, false) => self.ult(x, y),
                    (_, true) => self.sle(x, y),
                    (_, false) => self.ule(x, y),
                });
            }
        }
        if op.format == Format::Single {
            return None;
        }
        let (x, y) = (self.single(a)?, self.single(b)?);
        Some(self.float(FloatOp { format: Format::Single, ..op }, &[x, y]))
    }

    /// The `float` that a `double` is for certain.
    fn single(&mut self, double: Term) -> Option<Term> {
        match self.kind(double) {
            Kind::Float(FloatOp { operation: Operation::Convert, format: Format::Single }, inner) => {
                Some(inner[0])
            }
            Kind::Constant(bits) => {
                let bits = *bits;
                let single = FloatOp::new(Operation::Convert, Format::Double).apply(&[bits]);
                let back = FloatOp::new(Operation::Convert, Format::Single).apply(&[single]);
                (back == bits).then(|| self.bits(single, Format::Single.width()))
            }
            _ => None,
        }
    }
}

/// Whether every integer of one width and signedness is one of the other.
fn fits((from, from_signed): (u32, bool), (to, to_signed): (u32, bool)) -> bool {
    match (from_signed, to_signed) {
        (true, true) | (false, false) => from <= to,
        (false, true) => from < to,
        (true, false) => false,
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn conversions_that_change_nothing_disappear() {
        let mut t = Terms::new();
        let [x, y] = ["x", "y"].map(|name| t.variable(name, Sort::Bits(32)));
        let widen = FloatOp::new(Operation::Convert, Format::Single);
        let (wide_x, wide_y) = (t.float(widen, &[x]), t.float(widen, &[y]));
        let wide_less = t.float(FloatOp::new(Operation::Less, Format::Double), &[wide_x, wide_y]);
        assert_eq!(wide_less, t.float(FloatOp::new(Operation::Less, Format::Single), &[x, y]));
        let from = FloatOp::new(Operation::FromSigned(32), Format::Double);
        let (a, b) = (t.float(from, &[x]), t.float(from, &[y]));
        assert_eq!(t.float(FloatOp::new(Operation::ToSigned(32), Format::Double), &[a]), x);
        let less = t.float(FloatOp::new(Operation::Less, Format::Double), &[a, b]);
        assert_eq!(less, t.slt(x, y));
        let fits = t.float(FloatOp::new(Operation::FitsSigned(32), Format::Double), &[a]);
        assert_eq!(fits, Terms::TRUE);
    }
}
