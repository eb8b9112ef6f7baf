//! Guards of rules as conditions of the program.

use wherefore_program::{BinaryOp, Expr, Scalar};
use wherefore_properties::{Comparison, Guard, Operand};

use super::value::resize;

const WIDE: Scalar = Scalar::Bits(64);

/// The value of a variable of a rule.
#[derive(Clone)]
pub(crate) struct Value {
    pub(crate) value: Expr,
    pub(crate) is_signed: bool,
    pub(crate) is_pointer: bool,
}

/// A guard as a condition. A variable without a value makes no comparison true.
pub(crate) fn condition(guard: &Guard, known: &[(&str, Value)]) -> Expr {
    let both = |a: &Guard, b: &Guard| vec![condition(a, known), condition(b, known)];
    match guard {
        Guard::And(a, b) => Expr::all(both(a, b)),
        Guard::Or(a, b) => Expr::any(both(a, b)),
        Guard::Not(inner) => condition(inner, known).not(),
        Guard::Compare(comparison, left, right) => {
            let find = |name: &String| known.iter().find(|(known, _)| known == name).map(|(_, value)| value);
            let is_pointer = [left, right].into_iter().any(|side| match side {
                Operand::Variable(name) => find(name).is_some_and(|value| value.is_pointer),
                Operand::Number(_) => false,
            });
            // A variable and a number are compared with the width of the variable, if it fits.
            let width = match (left, right) {
                (Operand::Variable(name), Operand::Number(number))
                | (Operand::Number(number), Operand::Variable(name)) => {
                    find(name).map(|value| value.value.ty).filter(|ty| fits(*number, *ty, is_pointer))
                }
                _ => None,
            };
            let width = width.unwrap_or(WIDE);
            let of = |side: &Operand| match side {
                Operand::Number(number) => Some(Expr::constant(*number as u64 & width.max(), width)),
                Operand::Variable(name) => {
                    find(name).map(|value| resize(value.value.clone(), value.is_signed, width))
                }
            };
            let (Some(left), Some(right)) = (of(left), of(right)) else { return Expr::bool(false) };
            let (less, less_or_equal) = match is_pointer {
                true => (BinaryOp::ULt, BinaryOp::ULe),
                false => (BinaryOp::SLt, BinaryOp::SLe),
            };
            match comparison {
                Comparison::Equal => Expr::binary(BinaryOp::Eq, left, right),
                Comparison::Different => Expr::binary(BinaryOp::Ne, left, right),
                Comparison::Less => Expr::binary(less, left, right),
                Comparison::LessOrEqual => Expr::binary(less_or_equal, left, right),
                Comparison::Greater => Expr::binary(less, right, left),
                Comparison::GreaterOrEqual => Expr::binary(less_or_equal, right, left),
            }
        }
    }
}

/// Whether a number has the same meaning in a type.
fn fits(number: i64, ty: Scalar, is_pointer: bool) -> bool {
    let width = ty.width();
    match (width, is_pointer) {
        (64.., _) => true,
        (_, true) => number >= 0 && (number as u64) <= ty.max(),
        (_, false) => {
            let most = 1i64 << (width - 1);
            (-most..most).contains(&number)
        }
    }
}
