//! Expressions over symbols with fewer operations, and with other symbols.

use rustc_hash::FxHashMap;
use wherefore_program::{BinaryOp, Expr, ExprKind, Scalar, UnaryOp, Var, binary, unary};

use super::state::as_symbol;

/// Changes parts of an expression, from the outermost on.
pub(super) fn mapped(expr: &Expr, change: &impl Fn(&Expr) -> Option<Expr>) -> Expr {
    if let Some(new) = change(expr) {
        return new;
    }
    let inner = |part: &Expr| Box::new(mapped(part, change));
    let kind = match &expr.kind {
        ExprKind::Unary(op, a) => ExprKind::Unary(*op, inner(a)),
        ExprKind::Binary(op, a, b) => ExprKind::Binary(*op, inner(a), inner(b)),
        ExprKind::ZeroExtend(a) => ExprKind::ZeroExtend(inner(a)),
        ExprKind::SignExtend(a) => ExprKind::SignExtend(inner(a)),
        ExprKind::Extract { value, low } => ExprKind::Extract { value: inner(value), low: *low },
        ExprKind::IfThenElse(c, a, b) => ExprKind::IfThenElse(inner(c), inner(a), inner(b)),
        ExprKind::Float(op, list) => {
            ExprKind::Float(*op, list.iter().map(|part| mapped(part, change)).collect())
        }
        ExprKind::Constant(_) | ExprKind::Read { .. } | ExprKind::Choice { .. } => expr.kind.clone(),
    };
    shortened(Expr { kind, ty: expr.ty })
}

/// Whether an expression occurs in another one.
pub(super) fn contains(expr: &Expr, part: &Expr) -> bool {
    let mut found = false;
    expr.walk(&mut |other| found |= other == part);
    found
}

/// An expression with another one in the place of a part of it.
pub(super) fn with_part(expr: &Expr, part: &Expr, by: &Expr) -> Expr {
    mapped(expr, &|other| (other == part).then(|| by.clone()))
}

/// An expression with another one in the place of a symbol.
pub(super) fn replaced(expr: &Expr, symbol: u32, by: &Expr) -> Expr {
    mapped(expr, &|part| {
        (as_symbol(part) == Some(symbol)).then(|| match by.as_constant() {
            Some(value) => Expr::constant(value, part.ty),
            None => by.clone(),
        })
    })
}

pub(super) fn renamed(expr: &Expr, numbers: &FxHashMap<u32, u32>) -> Expr {
    mapped(expr, &|part| {
        let number = numbers.get(&as_symbol(part)?)?;
        Some(Expr::variable(Var::Local(*number), part.ty))
    })
}

/// The same value by fewer operations, where the outermost one allows it.
pub(super) fn shortened(expr: Expr) -> Expr {
    let ty = expr.ty;
    let constant = |value: u64| Expr::constant(value, ty);
    match &expr.kind {
        ExprKind::Unary(op, a) => match (op, a.as_constant(), &a.kind) {
            (_, Some(value), _) => constant(unary(*op, value, a.ty)),
            (UnaryOp::Not, _, ExprKind::Unary(UnaryOp::Not, inner)) => (**inner).clone(),
            _ => expr,
        },
        ExprKind::Binary(op, a, b) => match (a.as_constant(), b.as_constant()) {
            (Some(x), Some(y)) => constant(binary(*op, x, y, a.ty)),
            (Some(_), None) if matches!(op, BinaryOp::Add | BinaryOp::BitOr) => {
                shortened(Expr { kind: ExprKind::Binary(*op, b.clone(), a.clone()), ty })
            }
            (None, Some(y)) => match (op, &a.kind) {
                (BinaryOp::Add | BinaryOp::Sub | BinaryOp::BitOr | BinaryOp::BitXor | BinaryOp::Shl, _)
                    if y == 0 =>
                {
                    (**a).clone()
                }
                (BinaryOp::Sub, _) => {
                    let minus = Expr::constant(y.wrapping_neg(), b.ty);
                    shortened(Expr { kind: ExprKind::Binary(BinaryOp::Add, a.clone(), Box::new(minus)), ty })
                }
                (BinaryOp::Add, ExprKind::Binary(BinaryOp::Add, x, c)) if c.as_constant().is_some() => {
                    let sum = c.as_constant().unwrap_or_default().wrapping_add(y);
                    let sum = Expr::constant(sum, b.ty);
                    shortened(Expr { kind: ExprKind::Binary(BinaryOp::Add, x.clone(), Box::new(sum)), ty })
                }
                (BinaryOp::Eq | BinaryOp::Ne, ExprKind::Binary(BinaryOp::Add, x, c))
                    if c.as_constant().is_some() =>
                {
                    let rest = y.wrapping_sub(c.as_constant().unwrap_or_default());
                    let rest = Expr::constant(rest, b.ty);
                    shortened(Expr { kind: ExprKind::Binary(*op, x.clone(), Box::new(rest)), ty })
                }
                _ => expr,
            },
            (None, None) if *op == BinaryOp::BitOr && a != b => match joined(a, b).or_else(|| whole(&expr)) {
                Some(value) => value,
                None => expr,
            },
            (None, None) if a == b => match op {
                BinaryOp::Sub | BinaryOp::BitXor => constant(0),
                BinaryOp::Eq | BinaryOp::ULe | BinaryOp::SLe => constant(1),
                BinaryOp::Ne | BinaryOp::ULt | BinaryOp::SLt => constant(0),
                _ => expr,
            },
            _ => expr,
        },
        ExprKind::ZeroExtend(a) => match a.as_constant() {
            Some(value) => constant(value),
            None if a.ty == ty => (**a).clone(),
            None => expr,
        },
        ExprKind::SignExtend(a) => match a.as_constant() {
            Some(value) => {
                let shift = 64 - a.ty.width();
                constant((((value << shift) as i64) >> shift) as u64)
            }
            None if a.ty == ty => (**a).clone(),
            None => expr,
        },
        ExprKind::Extract { value, low } => match (value.as_constant(), &value.kind) {
            (Some(value), _) => constant(value.checked_shr(*low).unwrap_or(0)),
            (None, ExprKind::ZeroExtend(inner) | ExprKind::SignExtend(inner))
                if *low == 0 && inner.ty == ty =>
            {
                (**inner).clone()
            }
            (None, _) if *low == 0 && value.ty == ty => (**value).clone(),
            _ => expr,
        },
        _ => expr,
    }
}

/// Some bits of a value, at some place of an expression whose other bits are zero.
struct Piece<'a> {
    value: &'a Expr,
    /// The lowest bit that is taken.
    low: u32,
    width: u32,
    /// Where it goes.
    place: u32,
}

fn piece(expr: &Expr) -> Option<Piece<'_>> {
    let (inner, place) = match &expr.kind {
        ExprKind::Binary(BinaryOp::Shl, inner, by) => (&**inner, u32::try_from(by.as_constant()?).ok()?),
        _ => (expr, 0),
    };
    let ExprKind::ZeroExtend(inner) = &inner.kind else { return None };
    let ExprKind::Extract { value, low } = &inner.kind else { return None };
    let width = inner.ty.width();
    (place + width <= expr.ty.width()).then_some(Piece { value, low: *low, width, place })
}

/// Two neighbouring parts of a value as one part of it.
fn joined(a: &Expr, b: &Expr) -> Option<Expr> {
    let ty = a.ty;
    let (first, second) = (piece(a)?, piece(b)?);
    let (low, high) = if first.low < second.low { (first, second) } else { (second, first) };
    let is_next = low.low + low.width == high.low && low.place + low.width == high.place;
    if !is_next || low.value != high.value {
        return None;
    }
    let width = low.width + high.width;
    let whole = low.value.clone();
    let part = match (low.low, whole.ty) {
        (0, ty) if ty.width() == width => whole,
        _ => {
            Expr { kind: ExprKind::Extract { value: Box::new(whole), low: low.low }, ty: Scalar::Bits(width) }
        }
    };
    let part = shortened(Expr { kind: ExprKind::ZeroExtend(Box::new(part)), ty });
    let place = Expr::constant(u64::from(low.place), ty);
    Some(shortened(Expr { kind: ExprKind::Binary(BinaryOp::Shl, Box::new(part), Box::new(place)), ty }))
}

/// The value of which a disjunction has all bytes, each in its place.
fn whole(expr: &Expr) -> Option<Expr> {
    let (mut found, mut covered): (Option<&Expr>, u64) = (None, 0);
    let mut todo = vec![expr];
    while let Some(part) = todo.pop() {
        let (byte, place) = match &part.kind {
            ExprKind::Binary(BinaryOp::BitOr, a, b) => {
                todo.extend([&**a, &**b]);
                continue;
            }
            ExprKind::Binary(BinaryOp::Shl, a, by) => (&**a, by.as_constant()?),
            _ => (part, 0),
        };
        let ExprKind::ZeroExtend(inner) = &byte.kind else { return None };
        let ExprKind::Extract { value, low } = &inner.kind else { return None };
        if u64::from(*low) != place || inner.ty != Scalar::Bits(8) || value.ty != expr.ty || place % 8 != 0 {
            return None;
        }
        if found.is_some_and(|other| *other != **value) {
            return None;
        }
        found = Some(value);
        covered |= 1 << (place / 8);
    }
    let bytes = expr.ty.width() / 8;
    (expr.ty.width() % 8 == 0 && covered == (1_u64 << bytes) - 1).then(|| found.cloned()).flatten()
}
