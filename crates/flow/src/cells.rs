//! Memory whose addresses are known becomes variables and arrays.
//!
//! An object that is reached through pointers lives in memory, with a 64-bit address for every
//! cell. Often data flow knows the address of each access: exactly, if a pointer points to one
//! object, or within a small window, if it runs over an array. Accesses whose windows do not
//! overlap never touch the same cell. So each group of overlapping windows gets a variable of its
//! own: a single value for one address, an array for a window. What is left keeps its memory.
//! Then facts about single cells can be found and kept apart, and engines reason about `count`
//! instead of an array of all addresses.
//!
//! Locations and edges keep their numbers, and so do the variables that were there before.

use wherefore_program::{
    BinaryOp, Dimension, EdgeId, Expr, ExprKind, Node, Operation, ProcedureId, Program, Reading, State,
    Target, Type, Var, Variable, When,
};

use crate::expression::range_of;
use crate::ranges::{Ranges, Values};
use crate::rewrite;

/// Windows with more cells than this stay in memory.
const MOST_CELLS: u64 = 1024;

/// A program whose memory is split, and how to get back.
#[derive(Clone, Debug)]
pub struct Cells {
    /// The program.
    pub program: Program,
    /// How many globals were there before.
    before: usize,
    /// The new globals, in their order.
    made: Vec<Window>,
}

/// Cells of a memory that have a variable of their own.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
struct Window {
    memory: u32,
    first: u64,
    last: u64,
    /// The variable; none if the cells stay in memory.
    variable: Option<u32>,
}

impl Cells {
    /// Splits the memory of a program; none if there is nothing to split.
    pub fn new(program: &Program, ranges: &Ranges) -> Option<Self> {
        let mut windows = windows(program, ranges);
        let mut program = program.clone();
        let before = program.globals.len();
        let mut made = Vec::new();
        for window in &mut windows {
            let memory = &program.globals[window.memory as usize];
            let count = window.last.saturating_sub(window.first).saturating_add(1);
            // Cells with any value may be inputs, which people want to see as they are.
            if count > MOST_CELLS || memory.initial.is_none() {
                continue;
            }
            let element = memory.ty.element();
            let ty = match count {
                1 => Type::Scalar(element),
                length => Type::Array { element, dimensions: vec![Dimension { low: 0, length }] },
            };
            let variable = named(&program, memory, window, ty);
            window.variable = Some(program.globals.len() as u32);
            made.push(*window);
            program.globals.push(variable);
        }
        if made.is_empty() {
            return None;
        }
        for (id, procedure) in program.procedures.iter_mut().enumerate() {
            for edge in &mut procedure.edges {
                let node = Node { procedure: ProcedureId(id as u32), location: edge.from };
                // Nothing is known, and nothing matters, where no run comes.
                if let Some(known) = ranges.at(node) {
                    rewrite::operation(&mut edge.operation, &mut Split { known, windows: &windows });
                }
            }
        }
        Some(Self { program, before, made })
    }

    /// The state of the original program that a state stands for, as far as values are concerned:
    /// cells that were never written are there, too.
    pub fn original(&self, state: &State) -> State {
        let mut original = state.clone();
        let cells = |variable: &Variable| variable.ty.cell_count();
        let mut at = self.program.globals[..self.before].iter().map(cells).sum::<usize>();
        original.globals.truncate(at);
        for window in &self.made {
            for address in window.first..=window.last {
                original.memory.insert((window.memory, address), state.globals[at]);
                at += 1;
            }
        }
        original
    }
}

/// The variable for the cells of a window. A single value of an object of the whole file has the
/// name and the reading of the source; others have a name of ours.
fn named(program: &Program, memory: &Variable, window: &Window, ty: Type) -> Variable {
    let cell = match ty {
        Type::Scalar(element) => program.named_cell(window.first, element.width()),
        _ => None,
    };
    let made = Variable { name: format!("{}.{}", memory.name, window.first), ty, ..memory.clone() };
    match cell.filter(|cell| cell.object.function.is_none()) {
        None => made,
        Some(cell) => Variable {
            name: cell.name,
            signed: cell.reading == Reading::Signed,
            float: cell.reading == Reading::Float,
            pointer: cell.reading == Reading::Pointer,
            ..made
        },
    }
}

/// Disjoint windows that cover all accesses of each memory.
fn windows(program: &Program, ranges: &Ranges) -> Vec<Window> {
    let mut accesses: Vec<Window> = Vec::new();
    for (id, procedure) in program.procedures.iter().enumerate() {
        for (number, edge) in procedure.edges.iter().enumerate() {
            let node = Node { procedure: ProcedureId(id as u32), location: edge.from };
            let Some(known) = ranges.at(node) else { continue };
            let edge = EdgeId(number as u32);
            collect(program, &procedure.edge(edge).operation, known, &mut accesses);
        }
    }
    accesses.sort_unstable_by_key(|window| (window.memory, window.first));
    let mut merged: Vec<Window> = Vec::new();
    for window in accesses {
        match merged.last_mut() {
            Some(last) if last.memory == window.memory && window.first <= last.last => {
                last.last = last.last.max(window.last);
            }
            _ => merged.push(window),
        }
    }
    merged
}

/// The accesses of memory in an operation.
fn collect(program: &Program, operation: &Operation, known: &Values, found: &mut Vec<Window>) {
    let is_memory = |variable: Var| match variable {
        Var::Global(i) => program.globals[i as usize].ty.is_memory().then_some(i),
        Var::Local(_) => None,
    };
    let mut access = |variable: Var, indices: &[Expr], is_known: bool| {
        if let (Some(memory), [address]) = (is_memory(variable), indices) {
            let (first, last) = match is_known && !reads_next(address) {
                true => range_of(address, known).unsigned_bounds(),
                false => (0, u64::MAX),
            };
            found.push(Window { memory, first, last, variable: None });
        }
    };
    let mut reads = |expr: &Expr| {
        expr.walk(&mut |part| {
            if let ExprKind::Read { variable, indices, when } = &part.kind {
                access(*variable, indices, *when == When::Now);
            }
        });
    };
    rewrite::each_expression(operation, &mut reads);
    rewrite::each_target(operation, &mut |target, after_call| {
        access(target.variable, &target.indices, !after_call);
    });
}

fn reads_next(expr: &Expr) -> bool {
    let mut found = false;
    expr.reads(&mut |_, when| found |= when == When::Next);
    found
}

/// Puts variables in the place of accesses.
struct Split<'a> {
    known: &'a Values,
    windows: &'a [Window],
}

impl Split<'_> {
    /// The variable and the indices of an access; none if it stays as it is.
    fn moved(&self, variable: Var, indices: &[Expr]) -> Option<(Var, Vec<Expr>)> {
        let (Var::Global(memory), [address]) = (variable, indices) else { return None };
        let (first, last) = range_of(address, self.known).unsigned_bounds();
        let has = |window: &&Window| window.memory == memory && window.first <= first && last <= window.last;
        let window = self.windows.iter().find(has)?;
        let variable = Var::Global(window.variable?);
        if window.first == window.last {
            return Some((variable, Vec::new()));
        }
        let base = Expr::constant(window.first, address.ty);
        let index = match address.as_constant() {
            Some(address_value) => Expr::constant(address_value.wrapping_sub(window.first), address.ty),
            None => Expr::binary(BinaryOp::Sub, address.clone(), base),
        };
        Some((variable, vec![index]))
    }
}

impl rewrite::Rewrite for Split<'_> {
    fn expr(&mut self, expr: &mut Expr) {
        if let ExprKind::Read { variable, indices, when: When::Now } = &mut expr.kind {
            if let Some((other, place)) = self.moved(*variable, indices) {
                *variable = other;
                *indices = place;
            }
        }
    }

    fn target(&mut self, target: &mut Target, after_call: bool) {
        if after_call {
            return;
        }
        if let Some((other, place)) = self.moved(target.variable, &target.indices) {
            target.variable = other;
            target.indices = place;
        }
    }
}
