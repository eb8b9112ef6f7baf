//! Operations over other variables.

use wherefore_program::{Argument, Assignment, Expr, ExprKind, Target, Var};

/// An expression over other variables.
pub(crate) fn expr(value: &Expr, to: &impl Fn(Var) -> Var) -> Expr {
    let boxed = |part: &Expr| Box::new(expr(part, to));
    let all = |parts: &[Expr]| parts.iter().map(|part| expr(part, to)).collect();
    let kind = match &value.kind {
        ExprKind::Read { variable, indices, when } => {
            ExprKind::Read { variable: to(*variable), indices: all(indices), when: *when }
        }
        ExprKind::Unary(op, value) => ExprKind::Unary(*op, boxed(value)),
        ExprKind::Binary(op, left, right) => ExprKind::Binary(*op, boxed(left), boxed(right)),
        ExprKind::IfThenElse(condition, then, otherwise) => {
            ExprKind::IfThenElse(boxed(condition), boxed(then), boxed(otherwise))
        }
        ExprKind::Float(op, operands) => ExprKind::Float(*op, all(operands)),
        ExprKind::ZeroExtend(value) => ExprKind::ZeroExtend(boxed(value)),
        ExprKind::SignExtend(value) => ExprKind::SignExtend(boxed(value)),
        ExprKind::Extract { value, low } => ExprKind::Extract { value: boxed(value), low: *low },
        ExprKind::Constant(_) | ExprKind::Choice { .. } => value.kind.clone(),
    };
    Expr { kind, ty: value.ty }
}

/// A target among other variables.
pub(crate) fn target(target: &Target, to: &impl Fn(Var) -> Var) -> Target {
    let indices = target.indices.iter().map(|index| expr(index, to)).collect();
    Target { variable: to(target.variable), indices }
}

/// An assignment over other variables, that must also satisfy a guard.
pub(crate) fn assignment(part: &Assignment, to: &impl Fn(Var) -> Var, guard: Option<Expr>) -> Assignment {
    let constraint = part.constraint.iter().map(|constraint| expr(constraint, to)).chain(guard);
    let constraint: Vec<Expr> = constraint.collect();
    Assignment {
        targets: part.targets.iter().map(|part| target(part, to)).collect(),
        values: part.values.iter().map(|value| expr(value, to)).collect(),
        constraint: (!constraint.is_empty()).then(|| Expr::all(constraint)),
    }
}

/// An argument over other variables.
pub(crate) fn argument(argument: &Argument, to: &impl Fn(Var) -> Var) -> Argument {
    match argument {
        Argument::Value(value) => Argument::Value(expr(value, to)),
        Argument::Copy(variable, when) => Argument::Copy(to(*variable), *when),
        Argument::Arbitrary => Argument::Arbitrary,
    }
}
