//! Global variables that the first thread sets before anything reads them.
//!
//! Where a program gives no initial values, its globals may hold anything: `main` of a Remopla or
//! Boolean program then sets them, one by one, before it starts the first thread. What they held
//! before does not matter, and explicit search need not try all of it.

use std::collections::BTreeSet;

use crate::expression::{Expr, ExprKind, Target, Var};
use crate::program::{Operation, Program};

impl Program {
    /// The shared globals without an initial value that are written as a whole, before they are
    /// read, on the straight line that the entry procedure begins with.
    pub(super) fn globals_set_first(&self) -> BTreeSet<u32> {
        let entry = self.procedure(self.entry);
        let mut cells = Cells { program: self, written: BTreeSet::new(), read: BTreeSet::new() };
        let mut at = entry.entry;
        let mut seen = BTreeSet::new();
        while seen.insert(at) {
            let mut edges = entry.edges_from(at);
            let (Some((_, edge)), None) = (edges.next(), edges.next()) else { break };
            match &edge.operation {
                Operation::Skip => {}
                Operation::Assume(condition) => cells.read(condition),
                Operation::Assign(assignment) if assignment.constraint.is_none() => {
                    let indices = assignment.targets.iter().flat_map(|target| &target.indices);
                    assignment.values.iter().chain(indices).for_each(|value| cells.read(value));
                    assignment.targets.iter().for_each(|target| cells.write(target));
                }
                Operation::Havoc(targets) => {
                    targets.iter().flat_map(|target| &target.indices).for_each(|index| cells.read(index));
                    targets.iter().for_each(|target| cells.write(target));
                }
                _ => break,
            }
            at = edge.to;
        }
        let candidates = self.globals.iter().enumerate().filter(|(_, variable)| {
            variable.shared && variable.initial.is_none() && !variable.ty.is_memory()
        });
        let is_set = |(i, variable): &(usize, &crate::Variable)| {
            let global = *i as u32;
            let mut all = (0..variable.ty.cell_count()).map(|cell| (global, cell));
            !cells.read.contains(&global) && all.all(|cell| cells.written.contains(&cell))
        };
        candidates.filter(is_set).map(|(i, _)| i as u32).collect()
    }
}

/// What a straight line of steps has done so far.
struct Cells<'a> {
    program: &'a Program,
    written: BTreeSet<(u32, usize)>,
    /// Globals of which something was read that was not written before.
    read: BTreeSet<u32>,
}

impl Cells<'_> {
    fn read(&mut self, value: &Expr) {
        let (written, found, program) = (&self.written, &mut self.read, self.program);
        value.walk(&mut |part| {
            let ExprKind::Read { variable: Var::Global(i), indices, .. } = &part.kind else { return };
            let ty = &program.globals[*i as usize].ty;
            let is_written = !ty.is_memory()
                && match constant_cell(program, *i, indices) {
                    Some(cell) => written.contains(&(*i, cell)),
                    None => (0..ty.cell_count()).all(|cell| written.contains(&(*i, cell))),
                };
            if !is_written {
                found.insert(*i);
            }
        });
    }

    fn write(&mut self, target: &Target) {
        if let Var::Global(i) = target.variable {
            if let Some(cell) = constant_cell(self.program, i, &target.indices) {
                self.written.insert((i, cell));
            }
        }
    }
}

/// The cell that constant indices name; none if they are not constant, or outside.
fn constant_cell(program: &Program, global: u32, indices: &[Expr]) -> Option<usize> {
    let ty = &program.globals[global as usize].ty;
    if ty.is_memory() {
        return None;
    }
    let indices: Option<Vec<u64>> = indices.iter().map(Expr::as_constant).collect();
    ty.cell(&indices?)
}
