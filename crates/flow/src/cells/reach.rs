//! Which cells an access of an array or of memory can reach.

use wherefore_program::{
    Assignment, BinaryOp, Expr, ExprKind, Operation, ProcedureId, Program, Target, Type, Var, When,
};

use crate::expression::{assume, range_of};
use crate::few::few_values;
use crate::ranges::Values;

/// An array or a memory of a program. Locals come with their procedure.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub(super) enum Home {
    Global(u32),
    Local(ProcedureId, u32),
}

impl Home {
    pub fn new(procedure: ProcedureId, variable: Var) -> Self {
        match variable {
            Var::Global(i) => Home::Global(i),
            Var::Local(i) => Home::Local(procedure, i),
        }
    }

    /// The variable.
    pub fn of(self, program: &Program) -> &wherefore_program::Variable {
        match self {
            Home::Global(i) => &program.globals[i as usize],
            Home::Local(procedure, i) => &program.procedure(procedure).variables[i as usize],
        }
    }
}

/// One cell that an access can reach, and the indices that mean it. Cells of arrays are numbered,
/// those of memory have addresses.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(super) struct Case {
    pub cell: u64,
    pub indices: Vec<u64>,
}

/// The cells that an access can reach.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(super) enum Reach {
    /// These.
    Few(Vec<Case>),
    /// Those of memory between two addresses.
    Window(u64, u64),
    /// Any, or an index is outside of its array.
    Any,
}

impl Reach {
    /// The cells of an access whose indices are read in a state.
    pub fn new(ty: &Type, indices: &[Expr], known: &Values) -> Self {
        if indices.iter().any(reads_next) {
            return Reach::Any;
        }
        match (ty, indices) {
            (Type::Memory { .. }, [address]) => match few_values(address, known) {
                Some(few) => Reach::Few(
                    few.values().iter().map(|cell| Case { cell: *cell, indices: vec![*cell] }).collect(),
                ),
                None => {
                    let (first, last) = range_of(address, known).unsigned_bounds();
                    Reach::Window(first, last)
                }
            },
            (Type::Array { .. }, _) => in_array(ty, indices, known).map_or(Reach::Any, Reach::Few),
            _ => Reach::Any,
        }
    }
}

/// The cells of an array, if they are few and exist.
fn in_array(ty: &Type, indices: &[Expr], known: &Values) -> Option<Vec<Case>> {
    let mut all: Vec<Vec<u64>> = vec![Vec::new()];
    for index in indices {
        let few = few_values(index, known)?;
        let mut longer = Vec::new();
        for start in &all {
            for value in few.values() {
                let mut indices = start.clone();
                indices.push(*value);
                longer.push(indices);
            }
        }
        all = longer;
        if all.len() > crate::few::MOST {
            return None;
        }
    }
    all.into_iter().map(|indices| Some(Case { cell: ty.cell(&indices)? as u64, indices })).collect()
}

fn reads_next(expr: &Expr) -> bool {
    let mut found = false;
    expr.reads(&mut |_, when| found |= when == When::Next);
    found
}

/// Looks at all accesses of an operation, and may change them. `known` holds before it.
pub(super) trait Visitor {
    /// A read with indices. Its parts are visited afterwards, as they are then.
    fn read(&mut self, expr: &mut Expr, known: &Values);

    /// The targets of an assignment with their values, which were visited before. To visit the
    /// indices of the targets is up to the visitor.
    fn assign(&mut self, assignment: &mut Assignment, known: &Values);

    /// Targets that get any values; the operation may become an assignment. To visit the indices is
    /// up to the visitor.
    fn havoc(&mut self, operation: &mut Operation, known: &Values);

    /// Where the result of a call goes: the indices are read when the callee has returned.
    fn result(&mut self, target: &mut Target);

    /// A whole array.
    fn whole(&mut self, variable: Var);
}

/// Visits an operation.
pub(super) fn operation(operation: &mut Operation, known: &Values, visitor: &mut impl Visitor) {
    match operation {
        Operation::Assume(condition) => expression(condition, known, visitor),
        Operation::Assign(change) => assignment(change, known, visitor),
        Operation::Havoc(_) => visitor.havoc(operation, known),
        Operation::Call(call) => {
            for argument in &mut call.arguments {
                match argument {
                    wherefore_program::Argument::Value(value) => expression(value, known, visitor),
                    wherefore_program::Argument::Copy(variable, _) => visitor.whole(*variable),
                    wherefore_program::Argument::Arbitrary => {}
                }
            }
            assignment(&mut call.assignment, known, visitor);
            call.results.iter_mut().flatten().for_each(|target| visitor.result(target));
        }
        Operation::Return(values) => values.iter_mut().for_each(|value| expression(value, known, visitor)),
        Operation::Skip
        | Operation::AtomicBegin
        | Operation::AtomicEnd
        | Operation::StartThread(_)
        | Operation::EndThread
        | Operation::Sync => {}
    }
}

fn assignment(assignment: &mut Assignment, known: &Values, visitor: &mut impl Visitor) {
    assignment.values.iter_mut().for_each(|value| expression(value, known, visitor));
    if let Some(constraint) = &mut assignment.constraint {
        expression(constraint, known, visitor);
    }
    visitor.assign(assignment, known);
}

/// Visits an expression that is evaluated where `known` holds.
pub(super) fn expression(expr: &mut Expr, known: &Values, visitor: &mut impl Visitor) {
    if matches!(&expr.kind, ExprKind::Read { indices, .. } if !indices.is_empty()) {
        visitor.read(expr, known);
    }
    parts(expr, known, visitor);
}

/// Visits the parts of an expression. Of operators that look at their right side only sometimes,
/// the right side is evaluated where the left one allows it.
fn parts(expr: &mut Expr, known: &Values, visitor: &mut impl Visitor) {
    match &mut expr.kind {
        ExprKind::Constant(_) | ExprKind::Choice { .. } => {}
        ExprKind::Read { indices: parts, .. } | ExprKind::Float(_, parts) => {
            parts.iter_mut().for_each(|part| expression(part, known, visitor));
        }
        ExprKind::Unary(_, value)
        | ExprKind::ZeroExtend(value)
        | ExprKind::SignExtend(value)
        | ExprKind::Extract { value, .. } => expression(value, known, visitor),
        ExprKind::Binary(op, left, right) => {
            let needs = match op {
                BinaryOp::And | BinaryOp::Implies => Some(true),
                BinaryOp::Or => Some(false),
                _ => None,
            };
            let inner = needs.map(|holds| where_holds(left, holds, right, known));
            expression(left, known, visitor);
            match inner {
                None => expression(right, known, visitor),
                Some(Some(known)) => expression(right, &known, visitor),
                // It is never looked at.
                Some(None) => {}
            }
        }
        ExprKind::IfThenElse(condition, then, otherwise) => {
            let first = where_holds(condition, true, then, known);
            let second = where_holds(condition, false, otherwise, known);
            expression(condition, known, visitor);
            if let Some(known) = first {
                expression(then, &known, visitor);
            }
            if let Some(known) = second {
                expression(otherwise, &known, visitor);
            }
        }
    }
}

/// What is known where a condition holds, or does not, as far as an expression needs it; none if
/// that cannot be.
fn where_holds<'k>(
    condition: &Expr,
    holds: bool,
    for_expr: &Expr,
    known: &'k Values,
) -> Option<std::borrow::Cow<'k, Values>> {
    let mut has_access = false;
    for_expr.walk(&mut |part| {
        has_access |= matches!(&part.kind, ExprKind::Read { indices, .. } if !indices.is_empty());
    });
    if !has_access {
        return Some(std::borrow::Cow::Borrowed(known));
    }
    let mut inner = known.clone();
    assume(condition, holds, &mut inner).then_some(std::borrow::Cow::Owned(inner))
}
