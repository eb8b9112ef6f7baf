//! `enforce` of Boolean programs, lowered to assumptions.
//!
//! A procedure that enforces a condition has only configurations in which the condition holds while
//! it is on top of the stack. A step that changes nothing keeps it; an assignment keeps it by a
//! constraint on the state after it. A call, and a return into the procedure, change the state
//! elsewhere: behind them stands a location that goes on only if the condition holds. So no engine
//! needs to know of `enforce`.

use crate::expression::{Expr, ExprKind, When};
use crate::program::{Assignment, Edge, Location, LocationId, LocationKind, Operation, Procedure};
use crate::types::Scalar;

impl Procedure {
    /// The procedure that enforces a condition on the state now. A choice in it is made to its
    /// advantage.
    ///
    /// **Requires:** what is havocked are truth values, as in Boolean programs.
    pub fn enforcing(mut self, condition: &Expr) -> Self {
        let next = at_next(condition);
        let also = |constraint: Option<Expr>| match constraint {
            Some(known) => Some(Expr::all(vec![known, next.clone()])),
            None => Some(next.clone()),
        };
        let mut added: Vec<Edge> = Vec::new();
        for i in 0..self.edges.len() {
            let (to, span) = (self.edges[i].to, self.edges[i].span);
            match std::mem::replace(&mut self.edges[i].operation, Operation::Skip) {
                Operation::Assign(assignment) => {
                    let constraint = also(assignment.constraint.clone());
                    self.edges[i].operation = Operation::Assign(Assignment { constraint, ..assignment });
                }
                Operation::Havoc(targets) => {
                    let values = vec![Expr::choice(Scalar::Bool); targets.len()];
                    let constraint = also(None);
                    self.edges[i].operation = Operation::Assign(Assignment { targets, values, constraint });
                }
                Operation::Call(call) => {
                    let check = self.check_before(to);
                    self.edges[i].to = check;
                    self.edges[i].operation = Operation::Call(call);
                    let operation = Operation::Assume(condition.clone());
                    added.push(Edge { from: check, to, operation, span });
                }
                other => self.edges[i].operation = other,
            }
        }
        let entry = self.check_before(self.entry);
        let span = self.location(self.entry).span;
        let operation = Operation::Assume(condition.clone());
        added.push(Edge { from: entry, to: self.entry, operation, span });
        self.entry = entry;
        self.edges.extend(added);
        self.edges.sort_by_key(|edge| edge.from);
        self
    }

    /// A new location for the condition in front of another one.
    fn check_before(&mut self, location: LocationId) -> LocationId {
        let span = self.location(location).span;
        self.locations.push(Location {
            span,
            labels: Vec::new(),
            kind: LocationKind::Enforce,
            called: None,
            violation: None,
        });
        LocationId(self.locations.len() as u32 - 1)
    }
}

/// An expression about the state now, as one about the state after a step.
fn at_next(expr: &Expr) -> Expr {
    let boxed = |part: &Expr| Box::new(at_next(part));
    let kind = match &expr.kind {
        ExprKind::Read { variable, indices, .. } => ExprKind::Read {
            variable: *variable,
            indices: indices.iter().map(at_next).collect(),
            when: When::Next,
        },
        ExprKind::Unary(op, value) => ExprKind::Unary(*op, boxed(value)),
        ExprKind::Binary(op, left, right) => ExprKind::Binary(*op, boxed(left), boxed(right)),
        ExprKind::IfThenElse(condition, then, otherwise) => {
            ExprKind::IfThenElse(boxed(condition), boxed(then), boxed(otherwise))
        }
        ExprKind::Float(op, operands) => ExprKind::Float(*op, operands.iter().map(at_next).collect()),
        ExprKind::ZeroExtend(value) => ExprKind::ZeroExtend(boxed(value)),
        ExprKind::SignExtend(value) => ExprKind::SignExtend(boxed(value)),
        ExprKind::Extract { value, low } => ExprKind::Extract { value: boxed(value), low: *low },
        ExprKind::Constant(_) | ExprKind::Choice { .. } => expr.kind.clone(),
    };
    Expr { kind, ty: expr.ty }
}
