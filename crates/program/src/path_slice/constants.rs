//! What variables hold along one path, where that is a constant: for MustAlias.
//!
//! \[PathSlice\] §3.4 asks which lvalues surely are one. After `p = &x`, `*p` is `x`: on a path,
//! the address that a pointer holds is often known from the assignments in front. A slice may use
//! that, because the pointer itself becomes live where it is used, so that the assignments which
//! give it this value are in the slice too.

use std::collections::HashMap;

use crate::evaluate::{binary, unary};
use crate::expression::{BinaryOp, Expr, ExprKind, Target, Var, When};
use crate::program::{Argument, Assignment, Call, EdgeRef, Operation, ProcedureId, Program, Variable};
use crate::types::Type;

/// What is known of a variable.
#[derive(Clone, Debug, Default)]
struct Known {
    /// The value of all cells that are not listed.
    rest: Option<u64>,
    cells: HashMap<u64, Option<u64>>,
}

impl Known {
    fn of(variable: &Variable) -> Self {
        Self { rest: variable.initial, cells: HashMap::new() }
    }

    fn get(&self, cell: u64) -> Option<u64> {
        self.cells.get(&cell).copied().unwrap_or(self.rest)
    }
}

/// What is known at a point of a path.
pub(super) struct Constants<'p> {
    program: &'p Program,
    globals: Vec<Known>,
    frames: Vec<(ProcedureId, Vec<Known>)>,
    /// The calls of the open frames but the first.
    calls: Vec<EdgeRef>,
}

impl<'p> Constants<'p> {
    /// At the start of the program.
    pub(super) fn new(program: &'p Program) -> Self {
        let entry = &program.procedure(program.entry).variables;
        Self {
            program,
            globals: program.globals.iter().map(Known::of).collect(),
            frames: vec![(program.entry, entry.iter().map(Known::of).collect())],
            calls: Vec::new(),
        }
    }

    fn variable(&self, variable: Var) -> Option<&Known> {
        match variable {
            Var::Global(i) => self.globals.get(i as usize),
            Var::Local(i) => self.frames.last()?.1.get(i as usize),
        }
    }

    fn ty(&self, variable: Var) -> Option<&'p Type> {
        let (procedure, _) = self.frames.last()?;
        Some(&self.program.variable(*procedure, variable).ty)
    }

    /// The value of an expression, if it is known.
    pub(super) fn value(&self, expr: &Expr) -> Option<u64> {
        match &expr.kind {
            ExprKind::Constant(value) => Some(*value),
            ExprKind::Read { variable, indices, when: When::Now } => {
                self.variable(*variable)?.get(self.cell(*variable, indices)?)
            }
            ExprKind::Unary(op, value) => Some(unary(*op, self.value(value)?, expr.ty)),
            ExprKind::Binary(op, left, right) => {
                let decided = |a: Option<u64>| matches!((op, a), (BinaryOp::And, Some(0)));
                let (a, b) = (self.value(left), self.value(right));
                if decided(a) {
                    return Some(0);
                }
                Some(binary(*op, a?, b?, left.ty))
            }
            ExprKind::ZeroExtend(value) => Some(self.value(value)? & expr.ty.max()),
            ExprKind::SignExtend(value) => {
                let unused = 64 - value.ty.width();
                let wide = ((self.value(value)? << unused) as i64 >> unused) as u64;
                Some(wide & expr.ty.max())
            }
            ExprKind::Extract { value, low } => Some((self.value(value)? >> low) & expr.ty.max()),
            ExprKind::IfThenElse(condition, then, otherwise) => match self.value(condition)? {
                0 => self.value(otherwise),
                _ => self.value(then),
            },
            ExprKind::Float(op, operands) => {
                let operands: Option<Vec<u64>> = operands.iter().map(|part| self.value(part)).collect();
                Some(op.apply(&operands?))
            }
            ExprKind::Choice { .. } | ExprKind::Read { when: When::Next, .. } => None,
        }
    }

    /// The cell that an access is to.
    fn cell(&self, variable: Var, indices: &[Expr]) -> Option<u64> {
        let indices: Option<Vec<u64>> = indices.iter().map(|index| self.value(index)).collect();
        match (self.ty(variable)?, indices?.as_slice()) {
            (Type::Scalar(_), _) => Some(0),
            (Type::Memory { .. }, [address]) => Some(*address),
            (Type::Memory { .. }, _) => None,
            (ty @ Type::Array { .. }, indices) => ty.cell(indices).map(|cell| cell as u64),
        }
    }

    /// Goes over an edge of the path.
    pub(super) fn step(&mut self, edge: EdgeRef) {
        match &self.program.edge(edge).operation {
            Operation::Assign(assignment) => self.assign(assignment),
            Operation::Havoc(targets) => {
                let cells: Vec<_> =
                    targets.iter().map(|target| self.cell(target.variable, &target.indices)).collect();
                for (target, cell) in targets.iter().zip(cells) {
                    self.put(target.variable, cell, None);
                }
            }
            Operation::Call(call) => self.call(edge, call),
            Operation::Return(values) => {
                let values: Vec<Option<u64>> = values.iter().map(|value| self.value(value)).collect();
                self.back(values);
            }
            Operation::Skip
            | Operation::Assume(_)
            | Operation::StartThread(_)
            | Operation::EndThread
            | Operation::AtomicBegin
            | Operation::AtomicEnd
            | Operation::Sync => {}
        }
    }

    fn assign(&mut self, assignment: &Assignment) {
        let cell = |target: &Target| self.cell(target.variable, &target.indices);
        let cells: Vec<_> = assignment.targets.iter().map(cell).collect();
        let values: Vec<_> = assignment.values.iter().map(|value| self.value(value)).collect();
        for ((target, cell), value) in assignment.targets.iter().zip(cells).zip(values) {
            self.put(target.variable, cell, value);
        }
    }

    /// Writes a cell; any cell of the variable if it is not known which.
    fn put(&mut self, variable: Var, cell: Option<u64>, value: Option<u64>) {
        let known = match variable {
            Var::Global(i) => self.globals.get_mut(i as usize),
            Var::Local(i) => self.frames.last_mut().and_then(|(_, locals)| locals.get_mut(i as usize)),
        };
        let Some(known) = known else { return };
        match cell {
            Some(cell) => {
                known.cells.insert(cell, value);
            }
            None => *known = Known::default(),
        }
    }

    fn call(&mut self, edge: EdgeRef, call: &Call) {
        // What arguments read after the assignment is not known.
        let argument = |argument: &Argument| match argument {
            Argument::Value(value) => Known { rest: self.value(value), cells: HashMap::new() },
            Argument::Copy(..) | Argument::Arbitrary => Known::default(),
        };
        let given: Vec<Known> = call.arguments.iter().map(argument).collect();
        self.assign(&call.assignment);
        let others = self.program.procedure(call.callee).variables.iter().skip(given.len()).map(Known::of);
        let locals = given.into_iter().chain(others).collect();
        self.frames.push((call.callee, locals));
        self.calls.push(edge);
    }

    fn back(&mut self, values: Vec<Option<u64>>) {
        let Some(edge) = self.calls.pop() else { return };
        self.frames.pop();
        let Operation::Call(call) = &self.program.edge(edge).operation else { return };
        for (target, value) in call.results.iter().zip(values) {
            let Some(target) = target else { continue };
            let cell = self.cell(target.variable, &target.indices);
            let most = self.ty(target.variable).map_or(0, |ty| ty.element().max());
            self.put(target.variable, cell, value.map(|value| value & most));
        }
    }
}

/// Whether an operation has an index that its text alone does not tell.
pub(super) fn has_open_index(operation: &Operation) -> bool {
    let mut is_open = false;
    super::places::accesses(operation, &mut |_, indices| {
        is_open |= indices.iter().any(|index| index.as_constant().is_none());
    });
    is_open
}
