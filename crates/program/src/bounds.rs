//! Indices outside arrays as errors.
//!
//! A step with such an index blocks. Here it gets a way to an error of its own, taken exactly when
//! evaluation would meet an index out of bounds.

use crate::expression::{BinaryOp, Expr, ExprKind, Target, When};
use crate::program::{
    Argument, Assignment, Edge, Location, LocationId, LocationKind, Operation, ProcedureId, Program,
    ThreadStart,
};
use crate::types::{Dimension, Scalar};

impl Program {
    /// The program in which an index outside its array is an error at the statement that uses it.
    /// Indices that are read only after the step, those of results of calls among them, still
    /// block.
    pub fn with_bounds_checks(mut self) -> Program {
        for i in 0..self.procedures.len() {
            let id = ProcedureId(i as u32);
            let mut failures: Vec<(LocationId, Expr, crate::Span)> = Vec::new();
            for edge in &self.procedures[i].edges {
                if let Some(outside) = self.outside_of(id, &edge.operation) {
                    failures.push((edge.from, outside, edge.span));
                }
            }
            let procedure = &mut self.procedures[i];
            let mut last: Option<(LocationId, LocationId)> = None;
            for (from, outside, span) in failures {
                let error = match last {
                    Some((same, error)) if same == from => error,
                    _ => {
                        let span = procedure.location(from).span;
                        procedure.locations.push(Location {
                            span,
                            labels: Vec::new(),
                            kind: LocationKind::Error,
                            called: None,
                            violation: None,
                        });
                        LocationId(procedure.locations.len() as u32 - 1)
                    }
                };
                last = Some((from, error));
                procedure.edges.push(Edge { from, to: error, operation: Operation::Assume(outside), span });
            }
            procedure.edges.sort_by_key(|edge| edge.from);
        }
        self
    }

    /// When an operation meets an index out of bounds; none if it cannot.
    fn outside_of(&self, procedure: ProcedureId, operation: &Operation) -> Option<Expr> {
        let finder = Finder { program: self, procedure };
        let parts = match operation {
            Operation::Assume(condition) => vec![finder.expr(condition)],
            Operation::Assign(assignment) => finder.assignment(assignment),
            Operation::Havoc(targets) => targets.iter().map(|target| finder.target(target)).collect(),
            Operation::Return(values) => values.iter().map(|value| finder.expr(value)).collect(),
            Operation::Call(call) => {
                let mut parts = finder.assignment(&call.assignment);
                parts.extend(finder.arguments(&call.arguments));
                parts
            }
            Operation::StartThread(ThreadStart::Call { arguments, .. }) => finder.arguments(arguments),
            Operation::Skip
            | Operation::StartThread(ThreadStart::At(_))
            | Operation::EndThread
            | Operation::AtomicBegin
            | Operation::AtomicEnd
            | Operation::Sync => Vec::new(),
        };
        any(parts)
    }
}

fn any(parts: Vec<Option<Expr>>) -> Option<Expr> {
    let parts: Vec<Expr> = parts.into_iter().flatten().collect();
    if parts.is_empty() { None } else { Some(Expr::any(parts)) }
}

struct Finder<'a> {
    program: &'a Program,
    procedure: ProcedureId,
}

impl Finder<'_> {
    fn assignment(&self, assignment: &Assignment) -> Vec<Option<Expr>> {
        let targets = assignment.targets.iter().map(|target| self.target(target));
        let values = assignment.values.iter().map(|value| self.expr(value));
        let constraint = assignment.constraint.iter().map(|constraint| self.expr(constraint));
        targets.chain(values).chain(constraint).collect()
    }

    fn arguments(&self, arguments: &[Argument]) -> Vec<Option<Expr>> {
        let value = |argument: &Argument| match argument {
            Argument::Value(value) => self.expr(value),
            Argument::Copy(..) | Argument::Arbitrary => None,
        };
        arguments.iter().map(value).collect()
    }

    fn target(&self, target: &Target) -> Option<Expr> {
        self.cell(target.variable, &target.indices)
    }

    fn cell(&self, variable: crate::Var, indices: &[Expr]) -> Option<Expr> {
        let dimensions = self.program.variable(self.procedure, variable).ty.dimensions();
        let mut parts: Vec<Option<Expr>> = indices.iter().map(|index| self.expr(index)).collect();
        parts.extend(indices.iter().zip(dimensions).map(|(index, dimension)| outside(index, *dimension)));
        any(parts)
    }

    /// When evaluating the expression meets an index out of bounds; what is not looked at is left
    /// out.
    fn expr(&self, expr: &Expr) -> Option<Expr> {
        let behind = |guard: Expr, part: Option<Expr>| part.map(|part| Expr::all(vec![guard, part]));
        match &expr.kind {
            ExprKind::Read { variable, indices, .. } => self.cell(*variable, indices),
            ExprKind::Binary(BinaryOp::And | BinaryOp::Implies, left, right) => {
                any(vec![self.expr(left), behind((**left).clone(), self.expr(right))])
            }
            ExprKind::Binary(BinaryOp::Or, left, right) => {
                any(vec![self.expr(left), behind((**left).clone().not(), self.expr(right))])
            }
            ExprKind::IfThenElse(condition, then, otherwise) => any(vec![
                self.expr(condition),
                behind((**condition).clone(), self.expr(then)),
                behind((**condition).clone().not(), self.expr(otherwise)),
            ]),
            _ => any(expr.children().into_iter().map(|child| self.expr(child)).collect()),
        }
    }
}

/// When an index is outside a dimension; none if it never is, or if only the next state tells.
fn outside(index: &Expr, dimension: Dimension) -> Option<Expr> {
    let mut later = false;
    index.reads(&mut |_, when| later |= when == When::Next);
    let high = dimension.low + (dimension.length - 1);
    let (least, greatest) = match index.as_constant() {
        Some(value) => (value, value),
        None => (0, index.ty.max()),
    };
    if later || (least >= dimension.low && greatest <= high) {
        return None;
    }
    let width = index.ty.width().max(u64::BITS - high.leading_zeros()).max(1);
    let wide = index.clone().zero_extend(width);
    let bound = |value| Expr::constant(value, Scalar::Bits(width));
    let below = Expr::binary(BinaryOp::ULt, wide.clone(), bound(dimension.low));
    let above = Expr::binary(BinaryOp::ULt, bound(high), wide);
    Some(if dimension.low == 0 { above } else { Expr::any(vec![below, above]) })
}
