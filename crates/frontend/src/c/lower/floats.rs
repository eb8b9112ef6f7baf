//! Floating-point numbers: operations and functions as expressions on their bits.

use wherefore_program::{BinaryOp, Expr, FloatOp, FloatOperation as Operation, Format, Scalar, Span};

use super::Lower;
use crate::c::ctype::{CType, DataModel};
use crate::c::floats::FloatFunction;
use crate::c::problem::Checked;
use crate::c::tree::Term;

/// Whether a number is not zero.
pub(crate) fn is_not_zero(format: Format, value: Expr) -> Expr {
    let zero = Expr::constant(0, value.ty);
    Expr::float(FloatOp::new(Operation::Equal, format), vec![value, zero]).not()
}

/// A comparison.
pub(crate) fn compare(format: Format, op: BinaryOp, a: Expr, b: Expr) -> Expr {
    let operation = match op {
        BinaryOp::Eq | BinaryOp::Ne => Operation::Equal,
        BinaryOp::ULt | BinaryOp::SLt => Operation::Less,
        _ => Operation::LessEqual,
    };
    let holds = Expr::float(FloatOp::new(operation, format), vec![a, b]);
    if op == BinaryOp::Ne { holds.not() } else { holds }
}

/// Whether a number is in a range, or none.
pub(crate) fn is_between(format: Format, value: Expr, (low, high): (f64, f64)) -> Expr {
    let [low, high] = [low, high].map(|bound| Expr::constant(format.bits_of(bound), value.ty));
    let at_least = compare(format, BinaryOp::ULe, low, value.clone());
    let at_most = compare(format, BinaryOp::ULe, value.clone(), high);
    Expr::any(vec![is_nan(format, value), Expr::all(vec![at_least, at_most])])
}

/// A sum, difference, product or quotient. What the compiler computes itself may be a NaN of either
/// sign, while instructions make a negative one.
pub(crate) fn arithmetic(format: Format, op: BinaryOp, a: Expr, b: Expr) -> Expr {
    let operation = match op {
        BinaryOp::Add => Operation::Add,
        BinaryOp::Sub => Operation::Sub,
        BinaryOp::Mul => Operation::Mul,
        _ => Operation::Div,
    };
    let is_nan = |value: &Expr| value.as_constant().is_some_and(|bits| format.is_nan(bits));
    let is_new = !is_nan(&a) && !is_nan(&b);
    let result = Expr::float(FloatOp::new(operation, format), vec![a, b]);
    if !is_new || !is_nan(&result) {
        return result;
    }
    let other = negative(format, result.clone());
    Expr::if_then_else(Expr::choice(Scalar::Bool), result, other)
}

/// A number with the other sign.
pub(crate) fn negative(format: Format, value: Expr) -> Expr {
    match value.as_constant() {
        Some(bits) => Expr::constant(bits ^ format.sign(), value.ty),
        None => {
            let sign = Expr::constant(format.sign(), value.ty);
            Expr::binary(BinaryOp::BitXor, value, sign)
        }
    }
}

/// The number without its sign.
fn magnitude(format: Format, value: Expr) -> Expr {
    let rest = Expr::constant(!format.sign(), value.ty);
    Expr::binary(BinaryOp::BitAnd, value, rest)
}

fn sign(format: Format, value: Expr) -> Expr {
    let sign = Expr::constant(format.sign(), value.ty);
    Expr::binary(BinaryOp::BitAnd, value, sign)
}

fn is_negative(value: Expr) -> Expr {
    let zero = Expr::constant(0, value.ty);
    Expr::binary(BinaryOp::SLt, value, zero)
}

fn is_nan(format: Format, value: Expr) -> Expr {
    let infinity = Expr::constant(format.infinity(), value.ty);
    Expr::binary(BinaryOp::ULt, infinity, magnitude(format, value))
}

fn is_infinite(format: Format, value: Expr) -> Expr {
    let infinity = Expr::constant(format.infinity(), value.ty);
    Expr::binary(BinaryOp::Eq, magnitude(format, value), infinity)
}

fn is_normal(format: Format, value: Expr) -> Expr {
    let least = Expr::constant(format.least_normal(), value.ty);
    let range = Expr::constant(format.infinity() - format.least_normal(), value.ty);
    let above = Expr::binary(BinaryOp::Sub, magnitude(format, value), least);
    Expr::binary(BinaryOp::ULt, above, range)
}

impl Lower<'_, '_> {
    /// A number of the type is computed: on i386, how it is rounded is assumed.
    pub(crate) fn note_rounding(&mut self, ty: &CType, span: Span) {
        if ty.is_float() && self.cx.tree.types.model == DataModel::Ilp32 {
            let text = "floating-point numbers are rounded to their type (`-mfpmath=sse` on i386)";
            self.cx.assume(text, Some(span));
        }
    }

    /// A number in another type, where one of the two is a floating-point type.
    pub(crate) fn convert_float(&mut self, value: Expr, from: &CType, to: &CType, span: Span) -> Expr {
        self.note_rounding(to, span);
        let types = &self.cx.tree.types;
        let scalar = types.scalar(to);
        if types.is_opaque(from) || types.is_opaque(to) {
            self.note_float(span);
            return Expr::choice(scalar);
        }
        let unary = |operation, format, value| Expr::float(FloatOp::new(operation, format), vec![value]);
        match (types.format(from), types.format(to)) {
            (Some(from), Some(to)) if from == to => value,
            (Some(from), Some(_)) => unary(Operation::Convert, from, value),
            (Some(from), None) if *to == CType::Bool => super::value::bit(is_not_zero(from, value)),
            (Some(from), None) => {
                let width = scalar.width();
                let (converted, fits) = match to.is_signed() {
                    true => (Operation::ToSigned(width), Operation::FitsSigned(width)),
                    false => (Operation::ToUnsigned(width), Operation::FitsUnsigned(width)),
                };
                // C leaves open what a number that does not fit becomes.
                let fits = unary(fits, from, value.clone());
                match fits.as_constant() {
                    Some(0) => Expr::choice(scalar),
                    Some(_) => unary(converted, from, value),
                    None => Expr::if_then_else(fits, unary(converted, from, value), Expr::choice(scalar)),
                }
            }
            (None, Some(to)) => {
                let width = value.ty.width();
                let operation = match from.is_signed() {
                    true => Operation::FromSigned(width),
                    false => Operation::FromUnsigned(width),
                };
                unary(operation, to, value)
            }
            (None, None) => super::value::resize(value, from.is_signed(), scalar),
        }
    }

    /// A function on floating-point numbers.
    pub(crate) fn float_call(
        &mut self,
        function: FloatFunction,
        arguments: &[Term],
        term: &Term,
    ) -> Checked<Expr> {
        let scalar = self.cx.tree.types.scalar(&term.ty);
        let (values, last) = match arguments {
            [left, right] => {
                let (left, right) = self.operands(BinaryOp::Sub, left, right)?;
                (vec![left], right)
            }
            [.., last] => {
                let values: Checked<Vec<Expr>> =
                    arguments.iter().map(|argument| self.value(argument)).collect();
                let mut values = values?;
                let value = values.pop().unwrap_or_else(|| Expr::choice(self.cx.tree.types.scalar(&last.ty)));
                (values, value)
            }
            [] => return Ok(Expr::choice(scalar)),
        };
        let ty = arguments.last().map_or(&term.ty, |last| &last.ty);
        let Some(format) = self.cx.tree.types.format(ty) else {
            self.note_float(term.span);
            return Ok(Expr::choice(scalar));
        };
        if matches!(function, FloatFunction::SignBit | FloatFunction::CopySign) {
            self.cx.assume("the sign of a NaN does not matter", Some(term.span));
        }
        self.note_rounding(&term.ty, term.span);
        Ok(applied(function, format, values, last))
    }
}

/// The result of a function on all values but the last, and the last.
fn applied(function: FloatFunction, format: Format, mut values: Vec<Expr>, last: Expr) -> Expr {
    let int = super::value::int;
    let unary = |operation, value| Expr::float(FloatOp::new(operation, format), vec![value]);
    let test = |operation, a: &Expr, b: &Expr| {
        Expr::float(FloatOp::new(operation, format), vec![a.clone(), b.clone()])
    };
    let number = |value: u64| Expr::constant(value, Scalar::Bits(32));
    match function {
        FloatFunction::Abs => magnitude(format, last),
        FloatFunction::Sqrt => unary(Operation::Sqrt, last),
        FloatFunction::Round(rounding) => unary(Operation::Round(rounding), last),
        FloatFunction::IsNan => int(is_nan(format, last)),
        FloatFunction::IsInfinite => int(is_infinite(format, last)),
        FloatFunction::InfiniteSign => {
            let signed = Expr::if_then_else(is_negative(last.clone()), number(u64::MAX), number(1));
            Expr::if_then_else(is_infinite(format, last), signed, number(0))
        }
        FloatFunction::IsFinite => {
            let infinity = Expr::constant(format.infinity(), last.ty);
            int(Expr::binary(BinaryOp::ULt, magnitude(format, last), infinity))
        }
        FloatFunction::IsNormal => int(is_normal(format, last)),
        // As gcc does it: the bit as it is, or as a one.
        FloatFunction::SignBit => match format {
            Format::Single => sign(format, last),
            Format::Double => int(is_negative(last)),
        },
        FloatFunction::Classify => {
            let mut kinds = values.into_iter();
            let mut kind = || kinds.next().unwrap_or_else(|| number(0));
            let [nan, infinite, normal, subnormal, zero] = [kind(), kind(), kind(), kind(), kind()];
            let is_zero = test(Operation::Equal, &last, &Expr::constant(0, last.ty));
            let rest = Expr::if_then_else(is_zero, zero, subnormal);
            let rest = Expr::if_then_else(is_normal(format, last.clone()), normal, rest);
            let rest = Expr::if_then_else(is_infinite(format, last.clone()), infinite, rest);
            Expr::if_then_else(is_nan(format, last), nan, rest)
        }
        FloatFunction::CopySign
        | FloatFunction::Min
        | FloatFunction::Max
        | FloatFunction::IsUnordered
        | FloatFunction::LessOrGreater
        | FloatFunction::Greater
        | FloatFunction::GreaterEqual => {
            let first = values.pop().unwrap_or_else(|| last.clone());
            let (less, greater) =
                (test(Operation::Less, &first, &last), test(Operation::Less, &last, &first));
            match function {
                FloatFunction::CopySign => {
                    Expr::binary(BinaryOp::BitOr, magnitude(format, first), sign(format, last))
                }
                FloatFunction::IsUnordered => {
                    int(Expr::any(vec![is_nan(format, first), is_nan(format, last)]))
                }
                FloatFunction::LessOrGreater => int(Expr::any(vec![less, greater])),
                FloatFunction::Greater => int(greater),
                FloatFunction::GreaterEqual => int(test(Operation::LessEqual, &last, &first)),
                _ => {
                    let (first_wins, last_wins) =
                        if function == FloatFunction::Min { (less, greater) } else { (greater, less) };
                    // Of two zeros, it is either.
                    let either = Expr::if_then_else(Expr::choice(Scalar::Bool), first.clone(), last.clone());
                    let identical = Expr::binary(BinaryOp::Eq, first.clone(), last.clone());
                    let equal = Expr::if_then_else(identical, first.clone(), either);
                    let same = Expr::if_then_else(last_wins, last.clone(), equal);
                    let compared = Expr::if_then_else(first_wins, first.clone(), same);
                    let numbers = Expr::if_then_else(is_nan(format, last.clone()), first.clone(), compared);
                    Expr::if_then_else(is_nan(format, first), last, numbers)
                }
            }
        }
    }
}
