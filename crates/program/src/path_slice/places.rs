//! The lvalues of a program, numbered.
//!
//! The document's MayAlias and MustAlias (\[PathSlice\] §3.4): a scalar aliases itself only. A cell
//! of an array or of memory is known if its index is a constant, by the text or on the path at hand
//! (`constants`); any other access may be to every cell of the same variable, and surely to none.
//! Variables never overlap: what pointers may reach, front ends put into memory.
//!
//! Places are numbered so that those of one variable are neighbours, the variable as a whole first.
//! "May one of these be written?" is then a search in an ordered set.

use std::collections::BTreeSet;
use std::ops::Range;

use crate::expression::{Expr, ExprKind, Target, Var};
use crate::program::{Argument, Assignment, Operation, ProcedureId, Program, Variable};
use crate::types::Type;

/// A place as one procedure sees it. Numbers of locals are those of the table of its procedure.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub(super) enum Place {
    Global(u32),
    Local(u32),
}

/// The places of some variables.
#[derive(Debug)]
struct Table {
    /// Where the places of each variable start, and the end of the last.
    first: Vec<u32>,
    /// The variable and the cell of each place; no cell means the whole variable.
    places: Vec<(u32, Option<u64>)>,
    /// Whether each variable is a single value.
    single: Vec<bool>,
}

impl Table {
    fn new(variables: &[Variable], cells: &[BTreeSet<u64>]) -> Self {
        let (mut first, mut places) = (Vec::new(), Vec::new());
        for (variable, cells) in (0..).zip(cells) {
            first.push(places.len() as u32);
            places.push((variable, None));
            places.extend(cells.iter().map(|cell| (variable, Some(*cell))));
        }
        first.push(places.len() as u32);
        let single = variables.iter().map(|variable| variable.ty.index_count() == 0).collect();
        Self { first, places, single }
    }

    fn range(&self, variable: u32) -> Range<u32> {
        self.first[variable as usize]..self.first[variable as usize + 1]
    }

    fn find(&self, variable: u32, cell: Option<u64>) -> u32 {
        let range = self.range(variable);
        let known = &self.places[range.start as usize..range.end as usize];
        match known.binary_search(&(variable, cell)) {
            Ok(i) => range.start + i as u32,
            Err(_) => range.start,
        }
    }
}

/// All places of a program.
#[derive(Debug)]
pub(super) struct Places {
    globals: Table,
    locals: Vec<Table>,
}

impl Places {
    pub(super) fn new(program: &Program) -> Self {
        let none = |variables: &[Variable]| vec![BTreeSet::new(); variables.len()];
        let mut globals = none(&program.globals);
        let mut locals = Vec::new();
        for (id, procedure) in program.procedures() {
            let mut own = none(&procedure.variables);
            let mut access = |variable: Var, indices: &[Expr]| {
                let ty = &program.variable(id, variable).ty;
                if let Some(cell) = known_cell(ty, indices, Expr::as_constant) {
                    let cells = match variable {
                        Var::Global(i) => &mut globals[i as usize],
                        Var::Local(i) => &mut own[i as usize],
                    };
                    cells.insert(cell);
                }
            };
            for edge in &procedure.edges {
                accesses(&edge.operation, &mut access);
            }
            locals.push(Table::new(&procedure.variables, &own));
        }
        Self { globals: Table::new(&program.globals, &globals), locals }
    }

    /// The place that an access is to: a cell if the values of the indices are known, else the
    /// whole variable.
    pub(super) fn place(
        &self,
        program: &Program,
        procedure: ProcedureId,
        variable: Var,
        indices: &[Expr],
        value: impl Fn(&Expr) -> Option<u64>,
    ) -> Place {
        let cell = known_cell(&program.variable(procedure, variable).ty, indices, value);
        match variable {
            Var::Global(i) => Place::Global(self.globals.find(i, cell)),
            Var::Local(i) => Place::Local(self.locals[procedure.0 as usize].find(i, cell)),
        }
    }

    /// The whole variable.
    pub(super) fn whole(&self, procedure: ProcedureId, variable: Var) -> Place {
        match variable {
            Var::Global(i) => Place::Global(self.globals.find(i, None)),
            Var::Local(i) => Place::Local(self.locals[procedure.0 as usize].find(i, None)),
        }
    }

    /// Whether a write to the place surely changes this and nothing else: MustAlias of the place
    /// with itself.
    pub(super) fn is_exact(&self, procedure: ProcedureId, place: Place) -> bool {
        let (table, i) = self.table(procedure, place);
        let (variable, cell) = table.places[i as usize];
        cell.is_some() || table.single[variable as usize]
    }

    /// The numbers of all places of the variable of a place; the whole variable is the first.
    pub(super) fn siblings(&self, procedure: ProcedureId, place: Place) -> Range<u32> {
        let (table, i) = self.table(procedure, place);
        table.range(table.places[i as usize].0)
    }

    /// The numbers of all places of a local variable.
    pub(super) fn local_range(&self, procedure: ProcedureId, variable: u32) -> Range<u32> {
        self.locals[procedure.0 as usize].range(variable)
    }

    /// The variable and the cell of a place.
    pub(super) fn variable_and_cell(&self, procedure: ProcedureId, place: Place) -> (Var, Option<u64>) {
        let (table, i) = self.table(procedure, place);
        let (variable, cell) = table.places[i as usize];
        match place {
            Place::Global(_) => (Var::Global(variable), cell),
            Place::Local(_) => (Var::Local(variable), cell),
        }
    }

    fn table(&self, procedure: ProcedureId, place: Place) -> (&Table, u32) {
        match place {
            Place::Global(i) => (&self.globals, i),
            Place::Local(i) => (&self.locals[procedure.0 as usize], i),
        }
    }
}

/// The cell of an access whose indices have known values inside the bounds.
fn known_cell(ty: &Type, indices: &[Expr], value: impl Fn(&Expr) -> Option<u64>) -> Option<u64> {
    let indices: Option<Vec<u64>> = indices.iter().map(value).collect();
    match (ty, indices?.as_slice()) {
        (Type::Scalar(_), _) => None,
        (Type::Memory { .. }, [address]) => Some(*address),
        (Type::Memory { .. }, _) => None,
        (Type::Array { .. }, indices) => ty.cell(indices).map(|cell| cell as u64),
    }
}

/// Calls `access` on every read and write of an operation.
pub(super) fn accesses(operation: &Operation, access: &mut impl FnMut(Var, &[Expr])) {
    match operation {
        Operation::Assume(condition) => in_expr(condition, access),
        Operation::Assign(assignment) => in_assignment(assignment, access),
        Operation::Havoc(targets) => targets.iter().for_each(|target| in_target(target, access)),
        Operation::Return(values) => values.iter().for_each(|value| in_expr(value, access)),
        Operation::Call(call) => {
            for argument in &call.arguments {
                if let Argument::Value(value) = argument {
                    in_expr(value, access);
                }
            }
            call.results.iter().flatten().for_each(|target| in_target(target, access));
            in_assignment(&call.assignment, access);
        }
        Operation::Skip
        | Operation::StartThread(_)
        | Operation::EndThread
        | Operation::AtomicBegin
        | Operation::AtomicEnd
        | Operation::Sync => {}
    }
}

fn in_expr(expr: &Expr, access: &mut impl FnMut(Var, &[Expr])) {
    expr.walk(&mut |part| {
        if let ExprKind::Read { variable, indices, .. } = &part.kind {
            access(*variable, indices);
        }
    });
}

fn in_target(target: &Target, access: &mut impl FnMut(Var, &[Expr])) {
    access(target.variable, &target.indices);
    target.indices.iter().for_each(|index| in_expr(index, access));
}

fn in_assignment(assignment: &Assignment, access: &mut impl FnMut(Var, &[Expr])) {
    assignment.targets.iter().for_each(|target| in_target(target, access));
    assignment.values.iter().chain(&assignment.constraint).for_each(|value| in_expr(value, access));
}
