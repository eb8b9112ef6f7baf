//! Slices and how they are shown.

use std::fmt::Write;

use crate::expression::Var;
use crate::program::{EdgeRef, LocationId, Operation, ProcedureId, Program};
use crate::types::Type;

/// Which data an lvalue is part of.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub enum Owner {
    /// A global variable.
    Program,
    /// A variable of one frame of the path. Each call on the path has a frame of its own.
    Frame {
        /// The procedure.
        procedure: ProcedureId,
        /// The position of the call on the path; none for the first frame.
        call: Option<usize>,
    },
}

/// An lvalue at a point of a path: a variable, a cell of one, or an unknown cell of one.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub struct Lvalue {
    /// Whose variable.
    pub owner: Owner,
    /// The position of the variable among those of the owner.
    pub variable: u32,
    /// The cell of an array, counted row by row, or the address of memory. None for a single value,
    /// and for an array or memory if any cell is meant.
    pub cell: Option<u64>,
}

impl Lvalue {
    /// The lvalue as text: `x`, `a[3]`, `a[*]`.
    ///
    /// # Panics
    /// If the lvalue is of another program.
    pub fn show(&self, program: &Program) -> String {
        let (procedure, variable) = match self.owner {
            Owner::Program => (program.entry, Var::Global(self.variable)),
            Owner::Frame { procedure, .. } => (procedure, Var::Local(self.variable)),
        };
        let variable = program.variable(procedure, variable);
        let mut text = variable.name.clone();
        match (self.cell, &variable.ty) {
            (None, Type::Scalar(_)) | (Some(_), Type::Scalar(_)) => {}
            (None, _) => text.push_str("[*]"),
            (Some(address), Type::Memory { .. }) => {
                let _ = write!(text, "[{address}]");
            }
            (Some(cell), ty) => {
                for index in ty.indices(cell as usize) {
                    let _ = write!(text, "[{index}]");
                }
            }
        }
        text
    }
}

/// What was known when an edge of the path had been looked at.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Visit {
    /// The position of the edge on the path.
    pub position: usize,
    /// The lvalues that are live before the edge, sorted.
    pub live: Vec<Lvalue>,
    /// The step location: where the first edge of the slice so far starts.
    pub step: LocationId,
}

/// Why the walk ended.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum WalkEnd {
    /// The whole path was looked at, or skipped with reason.
    Start,
    /// The caller had seen enough.
    Stopped,
}

/// A slice of a path.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct PathSlice {
    /// The positions on the path of the edges in the slice, ascending.
    pub taken: Vec<usize>,
    /// The lvalues that are live where the walk ended, sorted: the slice can run from a state or
    /// not by their values.
    pub live: Vec<Lvalue>,
    /// Why the walk ended.
    pub end: WalkEnd,
    /// The edges looked at, in the order of the walk, if [`Record::Visits`](super::Record::Visits)
    /// was asked for.
    pub visits: Vec<Visit>,
}

impl PathSlice {
    /// The edges in the slice, in the order of the path.
    pub fn edges<'a>(&'a self, path: &'a [EdgeRef]) -> impl Iterator<Item = EdgeRef> + 'a {
        self.taken.iter().filter_map(|position| path.get(*position).copied())
    }

    /// The slice as text: a line for each edge, with its position on the path from 1, its
    /// procedure, its line and what it does. Calls indent what follows, returns end that.
    ///
    /// # Panics
    /// If the path is not one of the program.
    pub fn show(&self, program: &Program, path: &[EdgeRef]) -> String {
        let mut out = format!("{} of {} edges\n", self.taken.len(), path.len());
        let mut depth = 0_usize;
        for position in &self.taken {
            let Some(reference) = path.get(*position) else { continue };
            let (edge, procedure) = (program.edge(*reference), program.procedure(reference.procedure));
            let line = program.position(program.location_span(*reference)).line;
            let does = program.describe(reference.procedure, edge);
            let indent = "  ".repeat(depth);
            let _ = writeln!(out, "{:>7}  {indent}{}:{line}  {does}", position + 1, procedure.name);
            match edge.operation {
                Operation::Call(_) => depth += 1,
                Operation::Return(_) => depth = depth.saturating_sub(1),
                _ => {}
            }
        }
        out
    }
}

impl Program {
    fn location_span(&self, edge: EdgeRef) -> crate::Span {
        let procedure = self.procedure(edge.procedure);
        procedure.location(procedure.edge(edge.edge).from).span
    }
}
