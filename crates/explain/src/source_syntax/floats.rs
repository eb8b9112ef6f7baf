//! Operations on floating-point numbers in the syntax of C.

use wherefore_smt::{FloatOp, FloatOperation, Format, Kind, Rounding, Term};

use super::Writer;

impl Writer<'_> {
    /// `isnan(x)`, if a comparison of bits says that.
    pub(super) fn nan(&self, infinity: Term, magnitude: Term) -> Option<String> {
        let Kind::Extract { value, low: 0 } = *self.terms.kind(magnitude) else { return None };
        let format = Format::of_width(self.terms.width(value))?;
        let is_infinity = self.terms.constant(infinity) == Some(format.infinity());
        let is_magnitude = self.terms.width(magnitude) + 1 == format.width();
        (is_infinity && is_magnitude).then(|| format!("isnan({})", self.text(value, 0, true)))
    }

    /// An operation on floating-point numbers.
    pub(super) fn float(&self, op: FloatOp, operands: &[Term], around: u8) -> String {
        let reads_integers = op.operand_width() != op.format.width()
            || matches!(op.operation, FloatOperation::FromSigned(_) | FloatOperation::FromUnsigned(_));
        let operand = |i: usize, own: u8| match operands.get(i) {
            Some(term) if reads_integers => self.text(*term, own, true),
            Some(term) => self.float_operand(*term, own),
            None => String::new(),
        };
        let infix = |sign: &str, own: u8| {
            let text = format!("{} {sign} {}", operand(0, own), operand(1, own + 1));
            if own < around { format!("({text})") } else { text }
        };
        let cast = |ty: &str| format!("({ty}) {}", operand(0, 12));
        let (own, other) = match op.format {
            Format::Single => ("float", "double"),
            Format::Double => ("double", "float"),
        };
        let name = |name: &str| {
            let suffix = if op.format == Format::Single { "f" } else { "" };
            format!("{name}{suffix}({})", operand(0, 0))
        };
        match op.operation {
            FloatOperation::Add => infix("+", 9),
            FloatOperation::Sub => infix("-", 9),
            FloatOperation::Mul => infix("*", 10),
            FloatOperation::Div => infix("/", 10),
            FloatOperation::Equal => self.float_comparison("==", operands, around),
            FloatOperation::Less => self.float_comparison("<", operands, around),
            FloatOperation::LessEqual => self.float_comparison("<=", operands, around),
            FloatOperation::Sqrt => name("sqrt"),
            FloatOperation::Round(Rounding::ToZero) => name("trunc"),
            FloatOperation::Round(Rounding::Down) => name("floor"),
            FloatOperation::Round(Rounding::Up) => name("ceil"),
            FloatOperation::Round(Rounding::NearestEven) => name("rint"),
            FloatOperation::Round(Rounding::NearestAway) => name("round"),
            FloatOperation::FromSigned(_) | FloatOperation::FromUnsigned(_) => cast(own),
            FloatOperation::Convert => cast(other),
            FloatOperation::ToSigned(width) => cast(&format!("int{width}_t")),
            FloatOperation::ToUnsigned(width) => cast(&format!("uint{width}_t")),
            FloatOperation::FitsSigned(width) => format!("{} fits into int{width}_t", operand(0, 12)),
            FloatOperation::FitsUnsigned(width) => format!("{} fits into uint{width}_t", operand(0, 12)),
        }
    }

    /// A comparison of two numbers; a constant stands on the right.
    pub(super) fn float_comparison(&self, sign: &str, operands: &[Term], around: u8) -> String {
        let [a, b] = operands else { return String::new() };
        let swaps = self.terms.constant(*a).is_some();
        let (left, right) = if swaps { (*b, *a) } else { (*a, *b) };
        let sign = match sign {
            "<" if swaps => ">",
            "<=" if swaps => ">=",
            sign => sign,
        };
        let text = format!("{} {sign} {}", self.float_operand(left, 5), self.float_operand(right, 6));
        if around > 5 { format!("({text})") } else { text }
    }

    /// A number; constants as numbers, not as bits.
    fn float_operand(&self, term: Term, own: u8) -> String {
        match (self.terms.constant(term), Format::of_width(self.terms.width(term))) {
            (Some(bits), Some(format)) => format.c_text(bits),
            _ => self.text(term, own, true),
        }
    }
}
