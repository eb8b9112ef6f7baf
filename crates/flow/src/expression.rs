//! What an expression can be, and what a condition says about variables.

use wherefore_program::{BinaryOp, Expr, ExprKind, Scalar, UnaryOp, Var, When, binary};

use crate::few::Few;
use crate::range::Range;

/// What is known about variables. The cells of an array or of memory have one range.
pub trait Known {
    /// The range of a variable before the step.
    fn of(&self, variable: Var) -> Option<Range>;

    /// The values that a variable can have before the step, if they are few and known.
    fn few(&self, _: Var) -> Option<&Few> {
        None
    }
}

/// Nothing is known.
pub struct Nothing;

impl Known for Nothing {
    fn of(&self, _: Var) -> Option<Range> {
        None
    }
}

/// The range of the values of an expression.
pub fn range_of(expr: &Expr, known: &impl Known) -> Range {
    let full = Range::full(expr.ty);
    match &expr.kind {
        ExprKind::Constant(value) => Range::constant(*value, expr.ty),
        ExprKind::Read { variable, when: When::Now, .. } => known.of(*variable).unwrap_or(full),
        ExprKind::Read { when: When::Next, .. } | ExprKind::Float(..) => full,
        ExprKind::Choice { below: None } => full,
        ExprKind::Choice { below: Some(below) } => {
            Range::unsigned(0, below.saturating_sub(1), expr.ty).unwrap_or(full)
        }
        ExprKind::Unary(op, value) => of_unary(*op, range_of(value, known), expr.ty),
        ExprKind::Binary(op, left, right) => {
            of_binary(*op, (left, range_of(left, known)), (right, range_of(right, known)), expr.ty)
        }
        ExprKind::ZeroExtend(value) => range_of(value, known).fitted(expr.ty),
        ExprKind::SignExtend(value) => {
            let range = range_of(value, known);
            let (low, high) = range.signed_bounds();
            let wide = (i128::from(low), i128::from(high));
            match expr.ty.width() >= value.ty.width() {
                true => Range::of_wide(wide, wide, expr.ty),
                false => range.fitted(expr.ty),
            }
        }
        ExprKind::Extract { value, low: 0 } => range_of(value, known).fitted(expr.ty),
        ExprKind::Extract { value, low } => {
            let (least, most) = range_of(value, known).unsigned_bounds();
            let shifted = |bound: u64| i128::from(bound.checked_shr(*low).unwrap_or(0));
            let wide = (shifted(least), shifted(most));
            Range::of_wide(wide, wide, expr.ty)
        }
        ExprKind::IfThenElse(condition, then, otherwise) => match range_of(condition, known).as_constant() {
            Some(0) => range_of(otherwise, known),
            Some(_) => range_of(then, known),
            None => range_of(then, known).join(range_of(otherwise, known)),
        },
    }
}

fn of_unary(op: UnaryOp, value: Range, ty: Scalar) -> Range {
    let (low, high) = value.signed_bounds();
    let (low, high) = (i128::from(low), i128::from(high));
    let full = Range::full(ty);
    match op {
        UnaryOp::Not => match value.unsigned_bounds() {
            (0, 0) => Range::constant(1, ty),
            (low, _) if low > 0 => Range::constant(0, ty),
            _ => Range::unsigned(0, 1, ty).unwrap_or(full),
        },
        UnaryOp::Neg => {
            let (least, most) = value.unsigned_bounds();
            let modulus = i128::from(ty.max()) + 1;
            let unsigned =
                if least > 0 { (modulus - i128::from(most), modulus - i128::from(least)) } else { (-1, -1) };
            Range::of_wide(if most == 0 { (0, 0) } else { unsigned }, (-high, -low), ty)
        }
        UnaryOp::BitNot => {
            let (least, most) = value.unsigned_bounds();
            let max = i128::from(ty.max());
            Range::of_wide((max - i128::from(most), max - i128::from(least)), (-1 - high, -1 - low), ty)
        }
    }
}

/// The least and greatest of all results on the bounds.
fn extremes(results: [i128; 4]) -> (i128, i128) {
    let least = results.into_iter().min().unwrap_or(i128::MIN);
    (least, results.into_iter().max().unwrap_or(i128::MAX))
}

/// Bounds that say nothing.
const OPEN: (i128, i128) = (-1, i128::MAX);

fn of_binary(op: BinaryOp, (left, a): (&Expr, Range), (right, b): (&Expr, Range), ty: Scalar) -> Range {
    if let (Some(first), Some(second)) = (a.as_constant(), b.as_constant()) {
        return Range::constant(binary(op, first, second, left.ty), ty);
    }
    let full = Range::full(ty);
    let wide = |(low, high): (u64, u64)| (i128::from(low), i128::from(high));
    let wide_signed = |(low, high): (i64, i64)| (i128::from(low), i128::from(high));
    let (ua, ub) = (wide(a.unsigned_bounds()), wide(b.unsigned_bounds()));
    let (sa, sb) = (wide_signed(a.signed_bounds()), wide_signed(b.signed_bounds()));
    let test = |holds: bool, fails: bool| match (holds, fails) {
        (true, _) => Range::constant(1, ty),
        (_, true) => Range::constant(0, ty),
        _ => full,
    };
    // The same expression twice, without a choice, has the same value.
    let same = || left == right && !left.has_choice();
    match op {
        BinaryOp::And => test(ua.0 > 0 && ub.0 > 0, ua.1 == 0 || ub.1 == 0),
        BinaryOp::Or => test(ua.0 > 0 || ub.0 > 0, ua.1 == 0 && ub.1 == 0),
        BinaryOp::Implies => test(ua.1 == 0 || ub.0 > 0, ua.0 > 0 && ub.1 == 0),
        BinaryOp::Eq | BinaryOp::Ne => {
            let apart = a.meet(b).is_none();
            let equal = a.as_constant().is_some_and(|value| b.as_constant() == Some(value)) || same();
            if op == BinaryOp::Eq { test(equal, apart) } else { test(apart, equal) }
        }
        BinaryOp::ULt => test(ua.1 < ub.0, ua.0 >= ub.1 || same()),
        BinaryOp::ULe => test(ua.1 <= ub.0 || same(), ua.0 > ub.1),
        BinaryOp::SLt => test(sa.1 < sb.0, sa.0 >= sb.1 || same()),
        BinaryOp::SLe => test(sa.1 <= sb.0 || same(), sa.0 > sb.1),
        BinaryOp::Add => Range::of_wide((ua.0 + ub.0, ua.1 + ub.1), (sa.0 + sb.0, sa.1 + sb.1), ty),
        BinaryOp::Sub => Range::of_wide((ua.0 - ub.1, ua.1 - ub.0), (sa.0 - sb.1, sa.1 - sb.0), ty),
        BinaryOp::Mul => {
            let signed = extremes([sa.0 * sb.0, sa.0 * sb.1, sa.1 * sb.0, sa.1 * sb.1]);
            // At 64 bits the product of unsigned numbers may not fit.
            let high = ua.1.checked_mul(ub.1).unwrap_or(i128::MAX);
            Range::of_wide((ua.0.saturating_mul(ub.0), high), signed, ty)
        }
        BinaryOp::UDiv if ub.0 > 0 => Range::of_wide((ua.0 / ub.1, ua.1 / ub.0), OPEN, ty),
        BinaryOp::URem if ub.0 > 0 => Range::of_wide((0, ua.1.min(ub.1 - 1)), OPEN, ty),
        BinaryOp::SDiv if sb.0 > 0 || sb.1 < 0 => {
            Range::of_wide(OPEN, extremes([sa.0 / sb.0, sa.0 / sb.1, sa.1 / sb.0, sa.1 / sb.1]), ty)
        }
        BinaryOp::SRem if sb.0 > 0 || sb.1 < 0 => {
            let most = sb.0.abs().max(sb.1.abs()) - 1;
            let low = if sa.0 < 0 { sa.0.max(-most) } else { 0 };
            let high = if sa.1 > 0 { sa.1.min(most) } else { 0 };
            Range::of_wide(OPEN, (low, high), ty)
        }
        BinaryOp::UDiv | BinaryOp::URem | BinaryOp::SDiv | BinaryOp::SRem => full,
        BinaryOp::Shl => match b.as_constant().filter(|amount| *amount < u64::from(ty.width())) {
            Some(amount) => {
                Range::of_wide((ua.0 << amount, ua.1 << amount), (sa.0 << amount, sa.1 << amount), ty)
            }
            None => full,
        },
        BinaryOp::LShr => {
            let (least, most) = (ub.0.min(127), ub.1.min(127));
            Range::of_wide((ua.0 >> most, ua.1 >> least), OPEN, ty)
        }
        BinaryOp::AShr => {
            let (least, most) = (ub.0.min(127), ub.1.min(127));
            Range::of_wide(OPEN, extremes([sa.0 >> least, sa.0 >> most, sa.1 >> least, sa.1 >> most]), ty)
        }
        BinaryOp::BitAnd => Range::of_wide((0, ua.1.min(ub.1)), OPEN, ty),
        BinaryOp::BitOr | BinaryOp::BitXor | BinaryOp::Xor => {
            // No bit is set above the highest one of both.
            let bits = 128 - (ua.1 | ub.1).leading_zeros();
            let high = (1_i128 << bits) - 1;
            let low = if op == BinaryOp::BitOr { ua.0.max(ub.0) } else { 0 };
            Range::of_wide((low, high), OPEN, ty)
        }
    }
}

/// What is known can be narrowed.
pub(crate) trait Narrow: Known {
    /// A variable that is a single value has a value in this range; false if it has none.
    fn narrow(&mut self, variable: Var, range: Range) -> bool;
}

/// A condition holds, or does not; false if that cannot be.
pub(crate) fn assume(condition: &Expr, holds: bool, known: &mut (impl Narrow + Clone + Joined)) -> bool {
    match &condition.kind {
        ExprKind::Unary(UnaryOp::Not, inner) => return assume(inner, !holds, known),
        ExprKind::Binary(BinaryOp::And, left, right) if holds => {
            return assume(left, true, known) && assume(right, true, known) && assume(left, true, known);
        }
        ExprKind::Binary(BinaryOp::Or, left, right) if !holds => {
            return assume(left, false, known) && assume(right, false, known) && assume(left, false, known);
        }
        ExprKind::Binary(BinaryOp::And, left, right) => return either((left, false), (right, false), known),
        ExprKind::Binary(BinaryOp::Or, left, right) => return either((left, true), (right, true), known),
        ExprKind::Binary(BinaryOp::Implies, left, right) if holds => {
            return either((left, false), (right, true), known);
        }
        ExprKind::Binary(op, left, right) if op.is_test() && !op.is_logical() => {
            return compare(*op, left, right, holds, known);
        }
        _ => {}
    }
    let range = Range::constant(u64::from(holds), condition.ty);
    let now = range_of(condition, known);
    now.contains(u64::from(holds)) && require(condition, range, known)
}

/// Ranges that can be joined.
pub(crate) trait Joined {
    fn join(&mut self, other: &Self);
}

/// One of two conditions is as said.
fn either(
    (left, left_holds): (&Expr, bool),
    (right, right_holds): (&Expr, bool),
    known: &mut (impl Narrow + Clone + Joined),
) -> bool {
    let mut other = known.clone();
    let first = assume(left, left_holds, known);
    let second = assume(right, right_holds, &mut other);
    match (first, second) {
        (true, true) => known.join(&other),
        (true, false) => {}
        (false, true) => *known = other,
        (false, false) => return false,
    }
    true
}

fn compare(op: BinaryOp, left: &Expr, right: &Expr, holds: bool, known: &mut impl Narrow) -> bool {
    let (a, b) = (range_of(left, known), range_of(right, known));
    let outcome = of_binary(op, (left, a), (right, b), Scalar::Bool);
    if !outcome.contains(u64::from(holds)) {
        return false;
    }
    let ((ua0, ua1), (ub0, ub1)) = (a.unsigned_bounds(), b.unsigned_bounds());
    let ((sa0, sa1), (sb0, sb1)) = (a.signed_bounds(), b.signed_bounds());
    let (least, most) = Range::full(left.ty).signed_bounds();
    let max = left.ty.max();
    // The parts of both sides that are possible.
    let parts = match (op, holds) {
        (BinaryOp::Eq, true) | (BinaryOp::Ne, false) => (a.meet(b), a.meet(b)),
        (BinaryOp::Eq, false) | (BinaryOp::Ne, true) => (without(a, b), without(b, a)),
        (BinaryOp::ULt, true) => (
            ub1.checked_sub(1).and_then(|high| a.with_unsigned(0, high)),
            b.with_unsigned(ua0.saturating_add(1), max),
        ),
        (BinaryOp::ULt, false) => (a.with_unsigned(ub0, max), b.with_unsigned(0, ua1)),
        (BinaryOp::ULe, true) => (a.with_unsigned(0, ub1), b.with_unsigned(ua0, max)),
        (BinaryOp::ULe, false) => (
            a.with_unsigned(ub0.saturating_add(1), max),
            ua1.checked_sub(1).and_then(|high| b.with_unsigned(0, high)),
        ),
        (BinaryOp::SLt, true) => (
            sb1.checked_sub(1).and_then(|high| a.with_signed(least, high)),
            sa0.checked_add(1).and_then(|low| b.with_signed(low, most)),
        ),
        (BinaryOp::SLt, false) => (a.with_signed(sb0, most), b.with_signed(least, sa1)),
        (BinaryOp::SLe, true) => (a.with_signed(least, sb1), b.with_signed(sa0, most)),
        (BinaryOp::SLe, false) => (
            sb0.checked_add(1).and_then(|low| a.with_signed(low, most)),
            sa1.checked_sub(1).and_then(|high| b.with_signed(least, high)),
        ),
        _ => (Some(a), Some(b)),
    };
    match parts {
        (Some(a), Some(b)) => require(left, a, known) && require(right, b, known),
        _ => false,
    }
}

/// The first range without the only number of the second, if that is a bound.
fn without(range: Range, other: Range) -> Option<Range> {
    let Some(value) = other.as_constant() else { return Some(range) };
    let (low, high) = range.unsigned_bounds();
    if low == high && low == value {
        return None;
    }
    let mut rest = range;
    if low == value {
        rest = rest.with_unsigned(low + 1, u64::MAX)?;
    }
    if high == value {
        rest = rest.with_unsigned(0, high - 1)?;
    }
    let ty = other.signed_bounds().0;
    let (least, most) = rest.signed_bounds();
    if least == ty && least < most {
        rest = rest.with_signed(least + 1, i64::MAX)?;
    }
    if most == ty && least < most {
        rest = rest.with_signed(i64::MIN, most - 1)?;
    }
    Some(rest)
}

/// An expression has a value in this range: what that says about its parts.
fn require(expr: &Expr, range: Range, known: &mut impl Narrow) -> bool {
    match &expr.kind {
        ExprKind::Read { variable, indices, when: When::Now } if indices.is_empty() => {
            known.narrow(*variable, range)
        }
        ExprKind::ZeroExtend(inner) if inner.ty.width() <= expr.ty.width() => {
            let (low, high) = range.unsigned_bounds();
            match range_of(inner, known).with_unsigned(low, high) {
                Some(range) => require(inner, range, known),
                None => false,
            }
        }
        ExprKind::SignExtend(inner) if inner.ty.width() <= expr.ty.width() => {
            let (low, high) = range.signed_bounds();
            match range_of(inner, known).with_signed(low, high) {
                Some(range) => require(inner, range, known),
                None => false,
            }
        }
        ExprKind::Binary(op @ (BinaryOp::Add | BinaryOp::Sub), left, right) => {
            let (a, b) = (range_of(left, known), range_of(right, known));
            match (a.as_constant(), b.as_constant()) {
                (None, Some(by)) => shifted(left, a, by, *op == BinaryOp::Add, range, known),
                (Some(by), None) if *op == BinaryOp::Add => shifted(right, b, by, true, range, known),
                _ => true,
            }
        }
        _ => true,
    }
}

/// `inner + by`, or `inner - by`, has a value in a range: if it does not wrap, `inner` has one in
/// the range moved back.
fn shifted(inner: &Expr, now: Range, by: u64, adds: bool, range: Range, known: &mut impl Narrow) -> bool {
    let full = Range::full(inner.ty);
    let mut narrowed = now;
    let constant = Range::constant(by, inner.ty);
    let (by_unsigned, by_signed) =
        (i128::from(constant.unsigned_bounds().0), i128::from(constant.signed_bounds().0));
    let moved = |value: i128, by: i128| if adds { value + by } else { value - by };
    let back = |value: i128, by: i128| if adds { value - by } else { value + by };
    let (low, high) = now.unsigned_bounds();
    if moved(i128::from(low), by_unsigned) >= 0
        && moved(i128::from(high), by_unsigned) <= i128::from(full.unsigned_bounds().1)
    {
        let (least, most) = range.unsigned_bounds();
        let least = back(i128::from(least), by_unsigned).max(0);
        let most = back(i128::from(most), by_unsigned);
        match u64::try_from(most).ok().and_then(|most| narrowed.with_unsigned(least as u64, most)) {
            Some(range) => narrowed = range,
            None => return false,
        }
    }
    let (low, high) = now.signed_bounds();
    let (bottom, top) = full.signed_bounds();
    if moved(i128::from(low), by_signed) >= i128::from(bottom)
        && moved(i128::from(high), by_signed) <= i128::from(top)
    {
        let (least, most) = range.signed_bounds();
        let least = back(i128::from(least), by_signed).clamp(i128::from(i64::MIN), i128::from(i64::MAX));
        let most = back(i128::from(most), by_signed).clamp(i128::from(i64::MIN), i128::from(i64::MAX));
        match narrowed.with_signed(least as i64, most as i64) {
            Some(range) => narrowed = range,
            None => return false,
        }
    }
    require(inner, narrowed, known)
}
