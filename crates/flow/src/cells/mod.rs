//! Memory and arrays whose cells are known become variables.
//!
//! An object that is reached through pointers lives in memory, with a 64-bit address for every
//! cell. Often data flow knows the address of each access: exactly, if a pointer points to one
//! object; as one of a few, if it points to one of several or to an element of a small array; or
//! within a small window, if it runs over an array. Accesses that never touch the same cell are
//! told apart: each cell that is only named exactly, or as one of a few, gets a variable of its
//! own, and each window an array. An access of one of a few cells becomes a choice between their
//! variables. The same is done for arrays of the program whose accesses are all of this kind. What
//! is left keeps its array or memory. Then facts about single cells can be found and kept apart,
//! and engines reason about `count` instead of an array of all addresses.
//!
//! Locations and edges keep their numbers, and so do the variables that were there before.

mod reach;
mod split;

use std::collections::{BTreeMap, BTreeSet};

use wherefore_program::{
    Assignment, Dimension, Expr, Node, Operation, ProcedureId, Program, Reading, State, Target, Type, Var,
    Variable,
};

use crate::ranges::{Ranges, Values};
use reach::{Home, Reach, Visitor, expression, operation};
use split::Split;

/// Windows with more cells than this stay in memory.
const MOST_CELLS: u64 = 1024;
/// Arrays of which more cells than this are used stay arrays.
const MOST_ELEMENTS: usize = 64;

/// A program whose memory is split, and how to get back.
#[derive(Clone, Debug)]
pub struct Cells {
    /// The program.
    pub program: Program,
    /// How many globals were there before.
    globals: usize,
    /// How many variables each procedure had before.
    locals: Vec<usize>,
    /// The new variables, those of one owner in their order.
    made: Vec<Window>,
}

/// Cells of a memory or an array that have a variable of their own.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
struct Window {
    home: Home,
    first: u64,
    last: u64,
    /// The variable; none if the cells stay where they are.
    variable: Option<Var>,
}

impl Window {
    fn is_large(&self) -> bool {
        self.last.saturating_sub(self.first).saturating_add(1) > MOST_CELLS
    }
}

/// How the cells of a memory or an array are accessed.
#[derive(Default)]
struct Accesses {
    /// Cells that are named exactly, or as one of a few.
    points: BTreeSet<u64>,
    /// The cells that accesses name as one of a few.
    groups: BTreeSet<Vec<u64>>,
    /// First and last addresses.
    windows: Vec<(u64, u64)>,
    /// Whether some access can reach any cell, or none.
    any: bool,
}

impl Cells {
    /// Splits the memory and the small arrays of a program; none if there is nothing to split.
    pub fn new(program: &Program, ranges: &Ranges) -> Option<Self> {
        let mut windows = windows(program, ranges);
        let mut cells = Self {
            program: program.clone(),
            globals: program.globals.len(),
            locals: program.procedures.iter().map(|procedure| procedure.variables.len()).collect(),
            made: Vec::new(),
        };
        for window in windows.iter_mut().filter(|window| !window.is_large()) {
            cells.make(window);
        }
        if cells.made.is_empty() {
            return None;
        }
        for (id, procedure) in cells.program.procedures.iter_mut().enumerate() {
            let id = ProcedureId(id as u32);
            for edge in &mut procedure.edges {
                // Nothing is known, and nothing matters, where no run comes.
                if let Some(known) = ranges.at(Node { procedure: id, location: edge.from }) {
                    let mut split = Split { program, procedure: id, windows: &windows };
                    operation(&mut edge.operation, known, &mut split);
                }
            }
        }
        cells.forget();
        Some(cells)
    }

    /// Makes the variable of a window.
    fn make(&mut self, window: &mut Window) {
        let home = window.home.of(&self.program);
        let count = window.last.saturating_sub(window.first).saturating_add(1);
        let element = home.ty.element();
        let ty = match count {
            1 => Type::Scalar(element),
            length => Type::Array { element, dimensions: vec![Dimension { low: 0, length }] },
        };
        let variable = named(&self.program, home, window, ty);
        let variables = match window.home {
            Home::Global(_) => &mut self.program.globals,
            Home::Local(procedure, _) => &mut self.program.procedures[procedure.0 as usize].variables,
        };
        let number = variables.len() as u32;
        variables.push(variable);
        window.variable = Some(match window.home {
            Home::Global(_) => Var::Global(number),
            Home::Local(..) => Var::Local(number),
        });
        self.made.push(*window);
    }

    /// Arrays that are not used any more need not begin with any value.
    fn forget(&mut self) {
        for window in &self.made {
            let old = match window.home {
                Home::Global(i) => &mut self.program.globals[i as usize],
                Home::Local(procedure, i) => {
                    &mut self.program.procedures[procedure.0 as usize].variables[i as usize]
                }
            };
            if !old.ty.is_memory() {
                old.initial.get_or_insert(0);
            }
        }
    }

    /// The state of the original program that a state stands for, as far as values are concerned:
    /// cells that were never written are there, too.
    pub fn original(&self, state: &State) -> State {
        let mut original = state.clone();
        let globals = &self.program.globals;
        original.globals.truncate(first_cell(globals, self.globals));
        for frame in &mut original.stack {
            let number = frame.procedure.0 as usize;
            frame
                .locals
                .truncate(first_cell(&self.program.procedures[number].variables, self.locals[number]));
        }
        for window in &self.made {
            let Some(variable) = window.variable else { continue };
            match (window.home, variable) {
                (Home::Global(home), Var::Global(made)) => {
                    let from = first_cell(globals, made as usize);
                    let is_memory = globals[home as usize].ty.is_memory();
                    for (i, cell) in (window.first..=window.last).enumerate() {
                        let value = state.globals[from + i];
                        if is_memory {
                            original.memory.insert((home, cell), value);
                        } else {
                            original.globals[first_cell(globals, home as usize) + cell as usize] = value;
                        }
                    }
                }
                (Home::Local(procedure, home), Var::Local(made)) => {
                    let variables = &self.program.procedure(procedure).variables;
                    let (from, to) =
                        (first_cell(variables, made as usize), first_cell(variables, home as usize));
                    let frames = original.stack.iter_mut().zip(&state.stack);
                    for (frame, old) in frames.filter(|(frame, _)| frame.procedure == procedure) {
                        for (i, cell) in (window.first..=window.last).enumerate() {
                            frame.locals[to + cell as usize] = old.locals[from + i];
                        }
                    }
                }
                _ => {}
            }
        }
        original
    }
}

/// The number of the first cell of a variable among those of all.
fn first_cell(variables: &[Variable], number: usize) -> usize {
    variables[..number].iter().map(|variable| variable.ty.cell_count()).sum()
}

/// The variable for the cells of a window. A cell of an array, and a single value of an object of
/// the whole file, has the name and the reading of the source; others have a name of ours.
fn named(program: &Program, home: &Variable, window: &Window, ty: Type) -> Variable {
    if !home.ty.is_memory() {
        let indices = home.ty.indices(window.first as usize);
        let indices: String = indices.iter().map(|index| format!("[{index}]")).collect();
        return Variable { name: format!("{}{indices}", home.name), ty, ..home.clone() };
    }
    let cell = match ty {
        Type::Scalar(element) => program.named_cell(window.first, element.width()),
        _ => None,
    };
    let made = Variable { name: format!("{}.{}", home.name, window.first), ty, ..home.clone() };
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

/// Disjoint windows that cover all accesses of each memory and of each array that is split.
fn windows(program: &Program, ranges: &Ranges) -> Vec<Window> {
    let mut found: BTreeMap<Home, Accesses> = BTreeMap::new();
    for (id, procedure) in program.procedures() {
        for (_, edge) in procedure.edges() {
            if let Some(known) = ranges.at(Node { procedure: id, location: edge.from }) {
                let mut collector = Collector { program, procedure: id, found: &mut found };
                operation(&mut edge.operation.clone(), known, &mut collector);
            }
        }
    }
    let mut windows = Vec::new();
    for (home, accesses) in found {
        let is_memory = home.of(program).ty.is_memory();
        let is_parameter = match home {
            Home::Global(_) => false,
            Home::Local(procedure, i) => (i as usize) < program.procedure(procedure).parameters,
        };
        if accesses.any || is_parameter || !is_memory && accesses.points.len() > MOST_ELEMENTS {
            continue;
        }
        let points = accesses.points.iter().map(|point| (*point, *point));
        let mut all: Vec<(u64, u64)> = accesses.windows.iter().copied().chain(points).collect();
        all.sort_unstable();
        let mut merged: Vec<(u64, u64)> = Vec::new();
        for (first, last) in all {
            match merged.last_mut() {
                Some(before) if first <= before.1 => before.1 = before.1.max(last),
                _ => merged.push((first, last)),
            }
        }
        let mut found: Vec<Window> =
            merged.into_iter().map(|(first, last)| Window { home, first, last, variable: None }).collect();
        let groups: Vec<Vec<u64>> = accesses.groups.into_iter().collect();
        give_up_beside_large(&mut found, &groups);
        windows.extend(found);
    }
    windows
}

/// An access of one of a few cells of which one stays in memory stays as it is: so all of its cells
/// stay there, and their windows are given up.
fn give_up_beside_large(windows: &mut Vec<Window>, groups: &[Vec<u64>]) {
    let of = |windows: &[Window], cell: u64| {
        windows.iter().position(|window| (window.first..=window.last).contains(&cell))
    };
    let mut is_large: Vec<bool> = windows.iter().map(Window::is_large).collect();
    loop {
        let mut changed = false;
        for group in groups {
            let members: Vec<usize> = group.iter().filter_map(|cell| of(windows, *cell)).collect();
            if members.iter().any(|at| is_large[*at]) {
                for at in members {
                    changed |= !std::mem::replace(&mut is_large[at], true);
                }
            }
        }
        if !changed {
            break;
        }
    }
    let mut is_large = is_large.into_iter();
    windows.retain(|window| !is_large.next().unwrap_or_default() || window.is_large());
}

/// Collects the accesses of operations.
struct Collector<'c> {
    program: &'c Program,
    procedure: ProcedureId,
    found: &'c mut BTreeMap<Home, Accesses>,
}

impl Collector<'_> {
    fn note(&mut self, variable: Var, reach: Reach) {
        let home = Home::new(self.procedure, variable);
        let accesses = self.found.entry(home).or_default();
        match reach {
            Reach::Few(cases) => {
                let cells: Vec<u64> = cases.iter().map(|case| case.cell).collect();
                accesses.points.extend(&cells);
                if cells.len() > 1 {
                    accesses.groups.insert(cells);
                }
            }
            Reach::Window(first, last) => accesses.windows.push((first, last)),
            Reach::Any => accesses.any = true,
        }
    }

    fn access(&mut self, variable: Var, indices: &[Expr], known: &Values) {
        let ty = &self.program.variable(self.procedure, variable).ty;
        self.note(variable, Reach::new(ty, indices, known));
    }

    fn targets(&mut self, targets: &mut [Target], known: &Values) {
        for target in targets {
            if !target.indices.is_empty() {
                self.access(target.variable, &target.indices, known);
            }
            target.indices.iter_mut().for_each(|index| expression(index, known, self));
        }
    }
}

impl Visitor for Collector<'_> {
    fn read(&mut self, expr: &mut Expr, known: &Values) {
        if let wherefore_program::ExprKind::Read { variable, indices, when } = &expr.kind {
            match when {
                wherefore_program::When::Now => self.access(*variable, indices, known),
                wherefore_program::When::Next => self.note(*variable, Reach::Any),
            }
        }
    }

    fn assign(&mut self, assignment: &mut Assignment, known: &Values) {
        self.targets(&mut assignment.targets, known);
    }

    fn havoc(&mut self, operation: &mut Operation, known: &Values) {
        if let Operation::Havoc(targets) = operation {
            self.targets(targets, known);
        }
    }

    fn result(&mut self, target: &mut Target) {
        if !target.indices.is_empty() {
            // The indices are read in a state that is not known here.
            self.note(target.variable, Reach::Any);
        }
    }

    fn whole(&mut self, variable: Var) {
        self.note(variable, Reach::Any);
    }
}
