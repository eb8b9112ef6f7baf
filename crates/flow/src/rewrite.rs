//! All expressions and targets of an operation, to be looked at or changed.

use wherefore_program::{Argument, Assignment, Expr, ExprKind, Operation, Target};

/// Changes expressions and targets.
pub(crate) trait Rewrite {
    /// Changes an expression; its parts are changed afterwards.
    fn expr(&mut self, expr: &mut Expr);

    /// Changes a target; its indices are changed afterwards. The flag says whether it is reached
    /// only when a called procedure has returned.
    fn target(&mut self, target: &mut Target, after_call: bool);
}

/// Changes all of an operation.
pub(crate) fn operation(operation: &mut Operation, by: &mut impl Rewrite) {
    match operation {
        Operation::Assume(condition) => expression(condition, by),
        Operation::Assign(change) => assignment(change, by),
        Operation::Havoc(targets) => targets.iter_mut().for_each(|place| target(place, false, by)),
        Operation::Call(call) => {
            for argument in &mut call.arguments {
                if let Argument::Value(value) = argument {
                    expression(value, by);
                }
            }
            assignment(&mut call.assignment, by);
            call.results.iter_mut().flatten().for_each(|place| target(place, true, by));
        }
        Operation::Return(values) => values.iter_mut().for_each(|value| expression(value, by)),
        Operation::Skip
        | Operation::AtomicBegin
        | Operation::AtomicEnd
        | Operation::StartThread(_)
        | Operation::EndThread
        | Operation::Sync => {}
    }
}

fn assignment(assignment: &mut Assignment, by: &mut impl Rewrite) {
    assignment.values.iter_mut().for_each(|value| expression(value, by));
    assignment.targets.iter_mut().for_each(|place| target(place, false, by));
    if let Some(constraint) = &mut assignment.constraint {
        expression(constraint, by);
    }
}

fn target(target: &mut Target, after_call: bool, by: &mut impl Rewrite) {
    by.target(target, after_call);
    // Indices of results are read in a state that the caller does not know.
    if !after_call {
        target.indices.iter_mut().for_each(|index| expression(index, by));
    }
}

/// Changes an expression, then its parts.
fn expression(expr: &mut Expr, by: &mut impl Rewrite) {
    by.expr(expr);
    match &mut expr.kind {
        ExprKind::Constant(_) | ExprKind::Choice { .. } => {}
        ExprKind::Read { indices: parts, .. } | ExprKind::Float(_, parts) => {
            parts.iter_mut().for_each(|part| expression(part, by));
        }
        ExprKind::Unary(_, value)
        | ExprKind::ZeroExtend(value)
        | ExprKind::SignExtend(value)
        | ExprKind::Extract { value, .. } => expression(value, by),
        ExprKind::Binary(_, left, right) => {
            expression(left, by);
            expression(right, by);
        }
        ExprKind::IfThenElse(condition, then, otherwise) => {
            expression(condition, by);
            expression(then, by);
            expression(otherwise, by);
        }
    }
}

/// Looks at the targets of an operation, those of results of a call included.
pub(crate) fn each_target<'a>(operation: &'a Operation, see: &mut impl FnMut(&'a Target)) {
    match operation {
        Operation::Assign(change) => change.targets.iter().for_each(see),
        Operation::Havoc(targets) => targets.iter().for_each(see),
        Operation::Call(call) => {
            call.assignment.targets.iter().for_each(&mut *see);
            call.results.iter().flatten().for_each(see);
        }
        Operation::Assume(_)
        | Operation::Return(_)
        | Operation::Skip
        | Operation::AtomicBegin
        | Operation::AtomicEnd
        | Operation::StartThread(_)
        | Operation::EndThread
        | Operation::Sync => {}
    }
}

/// Looks at the expressions of an operation, with the indices of all targets. Those of the start of
/// a thread are left out.
pub(crate) fn expressions(operation: &Operation, look: &mut impl FnMut(&Expr)) {
    each_target(operation, &mut |target| target.indices.iter().for_each(&mut *look));
    let assigned = |assignment: &Assignment, look: &mut dyn FnMut(&Expr)| {
        assignment.values.iter().chain(&assignment.constraint).for_each(look);
    };
    match operation {
        Operation::Assume(condition) => look(condition),
        Operation::Assign(change) => assigned(change, look),
        Operation::Call(call) => {
            assigned(&call.assignment, look);
            for argument in &call.arguments {
                if let Argument::Value(value) = argument {
                    look(value);
                }
            }
        }
        Operation::Return(values) => values.iter().for_each(look),
        Operation::Havoc(_)
        | Operation::Skip
        | Operation::AtomicBegin
        | Operation::AtomicEnd
        | Operation::StartThread(_)
        | Operation::EndThread
        | Operation::Sync => {}
    }
}
