//! Operations on floating-point numbers as expressions of C.

use wherefore_smt::{FloatOp, FloatOperation, Format, Kind, Rounding, Term};

use super::{Reading, Text, Writer, binding, in_brackets};

impl Writer<'_> {
    /// `isnan(x)`, if a comparison of bits says that.
    pub(super) fn nan(&self, infinity: Term, magnitude: Term) -> Option<String> {
        let Kind::Extract { value, low: 0 } = *self.terms.kind(magnitude) else { return None };
        let format = Format::of_width(self.terms.width(value))?;
        let is_infinity = self.terms.constant(infinity) == Some(format.infinity());
        if !is_infinity || self.terms.width(magnitude) + 1 != format.width() {
            return None;
        }
        Some(format!("isnan({})", self.value_as(value, Reading::Float, 0)?))
    }

    pub(super) fn is_sign(&self, term: Term) -> bool {
        let format = Format::of_width(self.terms.width(term));
        format.is_some_and(|format| self.terms.constant(term) == Some(format.sign()))
    }

    pub(super) fn compared(&self, operands: &[Term], sign: &str, own: u8, around: u8) -> Option<String> {
        let [a, b] = operands else { return None };
        let is_constant = self.terms.constant(*a).is_some();
        let (a, sign, b) = match sign {
            "<" if is_constant => (*b, ">", *a),
            "<=" if is_constant => (*b, ">=", *a),
            "==" | "!=" if is_constant => (*b, sign, *a),
            _ => (*a, sign, *b),
        };
        let left = self.value_as(a, Reading::Float, own)?;
        let right = self.value_as(b, Reading::Float, own + 1)?;
        Some(in_brackets(format!("{left} {sign} {right}"), own, around))
    }

    pub(super) fn float_test(&self, op: FloatOp, operands: &[Term], around: u8) -> Option<String> {
        match op.operation {
            FloatOperation::Equal => self.compared(operands, "==", binding::EQUAL, around),
            FloatOperation::Less => self.compared(operands, "<", binding::LESS, around),
            FloatOperation::LessEqual => self.compared(operands, "<=", binding::LESS, around),
            // Whether a conversion is defined has no expression.
            _ => None,
        }
    }

    pub(super) fn float_value(&self, op: FloatOp, operands: &[Term]) -> Option<Text> {
        let (first, width) = (*operands.first()?, op.format.width());
        let infix = |sign: &str, own: u8| {
            let left = self.value_as(first, Reading::Float, own)?;
            let right = self.value_as(*operands.get(1)?, Reading::Float, own + 1)?;
            Some(Text { text: format!("{left} {sign} {right}"), binding: own, reading: Reading::Float })
        };
        let call = |name: &str| {
            let suffix = if op.format == Format::Single { "f" } else { "" };
            let text = format!("{name}{suffix}({})", self.value_as(first, Reading::Float, 0)?);
            Some(Text { text, binding: binding::PRIMARY, reading: Reading::Float })
        };
        match op.operation {
            FloatOperation::Add => infix("+", binding::SUM),
            FloatOperation::Sub => infix("-", binding::SUM),
            FloatOperation::Mul => infix("*", binding::PRODUCT),
            FloatOperation::Div => infix("/", binding::PRODUCT),
            FloatOperation::Sqrt => call("sqrt"),
            FloatOperation::Round(Rounding::ToZero) => call("trunc"),
            FloatOperation::Round(Rounding::Down) => call("floor"),
            FloatOperation::Round(Rounding::Up) => call("ceil"),
            FloatOperation::Round(Rounding::NearestEven) => call("rint"),
            FloatOperation::Round(Rounding::NearestAway) => call("round"),
            FloatOperation::FromSigned(_) => self.cast(first, Reading::Signed, (width, Reading::Float)),
            FloatOperation::FromUnsigned(_) => self.cast(first, Reading::Unsigned, (width, Reading::Float)),
            FloatOperation::Convert => {
                self.cast(first, Reading::Float, (op.format.other().width(), Reading::Float))
            }
            FloatOperation::ToSigned(to) => self.cast(first, Reading::Float, (to, Reading::Signed)),
            FloatOperation::ToUnsigned(to) => self.cast(first, Reading::Float, (to, Reading::Unsigned)),
            FloatOperation::Equal
            | FloatOperation::Less
            | FloatOperation::LessEqual
            | FloatOperation::FitsSigned(_)
            | FloatOperation::FitsUnsigned(_) => None,
        }
    }
}

#[cfg(test)]
mod tests {
    use wherefore_program::{FileId, Scalar, Span, Type, Variable};
    use wherefore_smt::{Sort, Terms};

    use super::super::Vocabulary;
    use super::*;

    #[test]
    fn numbers_are_written_as_numbers() {
        let mut t = Terms::new();
        let mut words = Vocabulary::default();
        let [x, d, n] = [("x", true, 32), ("d", true, 64), ("n", false, 32)].map(|(name, float, width)| {
            let term = t.variable(name, Sort::Bits(width));
            let variable = Variable {
                name: name.to_owned(),
                ty: Type::Scalar(Scalar::Bits(width)),
                value_names: None,
                signed: !float,
                float,
                pointer: false,
                shared: false,
                initial: None,
                span: Span::new(FileId(0), 0, 0),
            };
            words.add(term, name.to_owned(), &variable);
            term
        });
        let single = |operation| FloatOp::new(operation, Format::Single);
        let double = |operation| FloatOp::new(operation, Format::Double);
        let (tenth, zero) = (t.bits(Format::Single.bits_of(0.1), 32), t.bits(0, 32));
        let sum = t.float(single(FloatOperation::Add), &[x, tenth]);
        let less = t.float(single(FloatOperation::Less), &[sum, x]);
        let not_less = t.not(less);
        let itself = t.float(single(FloatOperation::Equal), &[x, x]);
        let whole = t.float(double(FloatOperation::FromSigned(32)), &[n]);
        let wide = t.float(single(FloatOperation::Convert), &[x]);
        let product = t.float(double(FloatOperation::Mul), &[wide, d]);
        let equal = t.float(double(FloatOperation::Equal), &[product, whole]);
        let differs = t.not(equal);
        let same_bits = t.eq(x, tenth);
        for (formula, expected) in [
            (less, Some("x + 0.1f < x")),
            (not_less, Some("!(x + 0.1f < x)")),
            (itself, Some("!isnan(x)")),
            (differs, Some("(double)n != d * (double)x")),
            (same_bits, Some("x == 0.1f")),
            // Zeros are equal with other bits; bits of a number are no number.
            (t.eq(x, zero), None),
            (t.ult(x, n), None),
        ] {
            let written = words.write(&t, formula);
            assert_eq!(written.as_deref(), expected);
        }
    }
}
