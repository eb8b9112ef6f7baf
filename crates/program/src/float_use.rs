//! Whether a program computes with floating-point numbers: not every engine does.

use crate::expression::{Expr, ExprKind, Target};
use crate::program::{Argument, Assignment, Edge, Operation, Program, ThreadStart};
use crate::source::Span;

impl Program {
    /// The first step, in reading order, that has an operation on floating-point numbers.
    pub fn uses_floats(&self) -> Option<Span> {
        let edges = self.procedures.iter().flat_map(|procedure| &procedure.edges);
        edges.filter(|edge| has_float(edge)).map(|edge| edge.span).min()
    }
}

fn has_float(edge: &Edge) -> bool {
    match &edge.operation {
        Operation::Assume(condition) => in_expr(condition),
        Operation::Assign(assignment) => in_assignment(assignment),
        Operation::Havoc(targets) => targets.iter().any(in_target),
        Operation::Call(call) => {
            in_assignment(&call.assignment)
                || call.arguments.iter().any(in_argument)
                || call.results.iter().flatten().any(in_target)
        }
        Operation::Return(values) => values.iter().any(in_expr),
        Operation::StartThread(ThreadStart::Call { arguments, .. }) => arguments.iter().any(in_argument),
        Operation::Skip
        | Operation::StartThread(ThreadStart::At(_))
        | Operation::EndThread
        | Operation::AtomicBegin
        | Operation::AtomicEnd
        | Operation::Sync => false,
    }
}

fn in_assignment(assignment: &Assignment) -> bool {
    assignment.targets.iter().any(in_target)
        || assignment.values.iter().any(in_expr)
        || assignment.constraint.as_ref().is_some_and(in_expr)
}

fn in_target(target: &Target) -> bool {
    target.indices.iter().any(in_expr)
}

fn in_argument(argument: &Argument) -> bool {
    match argument {
        Argument::Value(value) => in_expr(value),
        Argument::Copy(..) | Argument::Arbitrary => false,
    }
}

fn in_expr(expr: &Expr) -> bool {
    let mut found = false;
    expr.walk(&mut |part| found |= matches!(part.kind, ExprKind::Float(..)));
    found
}
