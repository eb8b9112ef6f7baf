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
