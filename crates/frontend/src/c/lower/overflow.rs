//! When signed arithmetic fits into its type.

use wherefore_program::{BinaryOp, Expr, Scalar};

use super::value::resize;

/// When the result of a signed operation fits into its type; none if it always does.
pub(super) fn fits(op: BinaryOp, left: &Expr, right: &Expr) -> Option<Expr> {
    let ty = left.ty;
    let width = ty.width();
    let (least, most) = (i64::MIN >> (64 - width), i64::MAX >> (64 - width));
    let signed = |value: u64| ((value << (64 - width)) as i64) >> (64 - width);
    let at_most = |value: &Expr, bound: i64| {
        Expr::binary(BinaryOp::SLe, value.clone(), Expr::constant(bound as u64, ty))
    };
    let at_least = |value: &Expr, bound: i64| {
        Expr::binary(BinaryOp::SLe, Expr::constant(bound as u64, ty), value.clone())
    };
    match (op, left.as_constant().map(signed), right.as_constant().map(signed)) {
        (_, Some(a), Some(b)) => {
            let (a, b) = (i128::from(a), i128::from(b));
            let result = match op {
                BinaryOp::Add => a + b,
                BinaryOp::Sub => a - b,
                _ => a * b,
            };
            return Some(Expr::bool((i128::from(least)..=i128::from(most)).contains(&result)));
        }
        (BinaryOp::Add, Some(by), None) => {
            return Some(if by >= 0 { at_most(right, most - by) } else { at_least(right, least - by) });
        }
        (BinaryOp::Add, None, Some(by)) => {
            return Some(if by >= 0 { at_most(left, most - by) } else { at_least(left, least - by) });
        }
        (BinaryOp::Sub, None, Some(by)) => {
            return Some(if by >= 0 { at_least(left, least + by) } else { at_most(left, most + by) });
        }
        (BinaryOp::Sub, Some(from), None) => {
            // from - x <= most and from - x >= least.
            return Some(if from >= 0 { at_least(right, from - most) } else { at_most(right, from - least) });
        }
        (BinaryOp::Mul, Some(by), None) | (BinaryOp::Mul, None, Some(by)) => {
            let value = if left.as_constant().is_some() { right } else { left };
            return match by {
                0 | 1 => None,
                -1 => Some(at_least(value, least + 1)),
                by if by > 0 => Some(Expr::all(vec![at_least(value, least / by), at_most(value, most / by)])),
                by => Some(Expr::all(vec![at_least(value, most / by), at_most(value, least / by)])),
            };
        }
        _ => {}
    }
    let extended = |value: &Expr, width: u32| resize(value.clone(), true, Scalar::Bits(width));
    let wide = match op {
        BinaryOp::Mul => 2 * width,
        _ => width + 1,
    };
    if wide <= 64 {
        let result = Expr::binary(op, extended(left, wide), extended(right, wide));
        let bound = |value: i64| Expr::constant(value as u64, Scalar::Bits(wide));
        return Some(Expr::all(vec![
            Expr::binary(BinaryOp::SLe, bound(least), result.clone()),
            Expr::binary(BinaryOp::SLe, result, bound(most)),
        ]));
    }
    let result = Expr::binary(op, left.clone(), right.clone());
    let zero = || Expr::constant(0, ty);
    let different = |a: &Expr, b: &Expr| Expr::binary(BinaryOp::BitXor, a.clone(), b.clone());
    Some(match op {
        // The sign of the result differs from that of both operands, or of the first one, where it
        // differs from the second.
        BinaryOp::Add => {
            let both = Expr::binary(BinaryOp::BitAnd, different(left, &result), different(right, &result));
            Expr::binary(BinaryOp::SLe, zero(), both)
        }
        BinaryOp::Sub => {
            let both = Expr::binary(BinaryOp::BitAnd, different(left, right), different(left, &result));
            Expr::binary(BinaryOp::SLe, zero(), both)
        }
        _ => {
            let quotient = Expr::binary(BinaryOp::SDiv, result, left.clone());
            let back = Expr::binary(BinaryOp::Eq, quotient, right.clone());
            let minus_one = Expr::binary(BinaryOp::Ne, left.clone(), Expr::constant(ty.max(), ty));
            let not_least = Expr::binary(BinaryOp::Ne, right.clone(), Expr::constant(least as u64, ty));
            // Numbers of 32 bits have a product of 64: this saves the division in most cases.
            let small = |value: &Expr| {
                Expr::all(vec![at_least(value, i64::from(i32::MIN)), at_most(value, i64::from(i32::MAX))])
            };
            Expr::any(vec![
                Expr::all(vec![small(left), small(right)]),
                Expr::binary(BinaryOp::Eq, left.clone(), zero()),
                Expr::all(vec![back, Expr::any(vec![minus_one, not_least])]),
            ])
        }
    })
}
