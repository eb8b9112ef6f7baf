//! What a step of a run reads and writes, cell by cell.
//!
//! The run says which element of an array an index means and where a pointer points, so that the
//! cells are exact. Replays by the compiled program and slices through several threads ask for
//! them.

use super::{ThreadStep, ThreadTrace, ThreadedState};
use crate::evaluate::{Choices, Scope, Store};
use crate::expression::{BinaryOp, Expr, ExprKind, Target, Var, When};
use crate::interpret::{Cell, Interpreter, State};
use crate::program::{Argument, Assignment, Call, Operation, ThreadStart};

/// A cell of a configuration.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub enum Place {
    /// A cell of the global variables that threads share, by its position.
    Shared(usize),
    /// A cell of memory, by variable and address.
    Memory(u32, u64),
    /// A cell of the global variables that belongs to a thread.
    Own(u32, usize),
    /// A cell of a thread: the frame, counted from the bottom, and the position in it.
    Local(u32, usize, usize),
}

impl Place {
    /// Whether other threads can see it.
    pub fn is_shared(self) -> bool {
        matches!(self, Place::Shared(_) | Place::Memory(..))
    }
}

/// What a step reads and writes.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct StepEffects {
    /// The cells that decide whether the step is possible.
    pub conditions: Vec<Place>,
    /// The cells that are written, each with those that its value and its place come from.
    pub writes: Vec<(Place, Vec<Place>)>,
}

impl StepEffects {
    /// All cells that are read, in the order of reading.
    pub fn reads(&self) -> impl Iterator<Item = Place> + '_ {
        self.conditions.iter().chain(self.writes.iter().flat_map(|(_, sources)| sources)).copied()
    }

    /// All cells that are written.
    pub fn written(&self) -> impl Iterator<Item = Place> + '_ {
        self.writes.iter().map(|(place, _)| *place)
    }
}

/// Choices do not matter for the cells that are touched.
struct Least;

impl Choices for Least {
    fn choose(&mut self, _: u64) -> u64 {
        0
    }
}

impl ThreadTrace {
    /// The configuration before a step.
    pub fn before(&self, step: usize) -> &ThreadedState {
        step.checked_sub(1).map_or(&self.start, |last| &self.steps[last].state)
    }
}

impl Interpreter<'_> {
    /// What a step of a run does to the cells.
    ///
    /// **Requires:** the step is possible from `before`.
    pub fn effects(&self, before: &ThreadedState, step: &ThreadStep) -> StepEffects {
        let seen = self.view(before, step.thread as usize);
        let own: Vec<bool> = {
            let mut own = vec![false; seen.globals.len()];
            self.own_cells().for_each(|at| own[at] = true);
            own
        };
        let next = self.view(&step.state, step.thread as usize);
        let finder = Finder { interpreter: self, seen: &seen, next: &next, thread: step.thread, own };
        finder.of(&self.program().edge(step.edge).operation, &step.state).unwrap_or_default()
    }
}

/// Finds the cells of one step.
struct Finder<'a> {
    interpreter: &'a Interpreter<'a>,
    seen: &'a State,
    /// What the thread sees after the step.
    next: &'a State,
    thread: u32,
    /// Which cells of the global variables belong to the thread.
    own: Vec<bool>,
}

impl Finder<'_> {
    fn of(&self, operation: &Operation, after: &ThreadedState) -> Option<StepEffects> {
        let top = self.seen.stack.len().checked_sub(1)?;
        let mut effects = StepEffects::default();
        match operation {
            Operation::Assume(condition) => self.reads(condition, top, &[], &mut effects.conditions),
            Operation::Assign(assignment) => self.assign(assignment, top, &mut effects),
            Operation::Havoc(targets) => {
                for target in targets {
                    let mut sources = Vec::new();
                    target.indices.iter().for_each(|index| self.reads(index, top, &[], &mut sources));
                    effects.writes.push((self.place(target, top)?, sources));
                }
            }
            Operation::Call(call) => {
                self.assign(&call.assignment, top, &mut effects);
                let assigned: Vec<Place> = effects.written().collect();
                self.pass(call, (top, &assigned), (self.thread, top + 1), &mut effects);
            }
            Operation::Return(values) => self.give_back(values, top, &mut effects)?,
            Operation::StartThread(start) => {
                let started = after.threads.len().checked_sub(1)? as u32;
                match start {
                    ThreadStart::At(_) => {
                        let cells = self.seen.stack[top].locals.len();
                        let copy = |cell| {
                            let from = Place::Local(self.thread, top, cell);
                            (Place::Local(started, 0, cell), vec![from])
                        };
                        effects.writes.extend((0..cells).map(copy));
                        let own = self.own.iter().enumerate().filter(|(_, is_own)| **is_own);
                        let copy =
                            |(cell, _)| (Place::Own(started, cell), vec![Place::Own(self.thread, cell)]);
                        effects.writes.extend(own.map(copy));
                    }
                    ThreadStart::Call { callee, arguments } => {
                        let call = Call {
                            callee: *callee,
                            arguments: arguments.clone(),
                            results: Vec::new(),
                            assignment: Assignment::default(),
                        };
                        self.pass(&call, (top, &[]), (started, 0), &mut effects);
                    }
                }
            }
            Operation::Skip
            | Operation::EndThread
            | Operation::AtomicBegin
            | Operation::AtomicEnd
            | Operation::Sync => {}
        }
        Some(effects)
    }

    fn assign(&self, assignment: &Assignment, top: usize, effects: &mut StepEffects) {
        for (target, value) in assignment.targets.iter().zip(&assignment.values) {
            let Some(place) = self.place(target, top) else { continue };
            let mut sources = Vec::new();
            target.indices.iter().for_each(|index| self.reads(index, top, &[], &mut sources));
            self.reads(value, top, &[], &mut sources);
            effects.writes.push((place, sources));
        }
        let written: Vec<Place> = effects.written().collect();
        if let Some(constraint) = &assignment.constraint {
            self.reads(constraint, top, &written, &mut effects.conditions);
        }
    }

    /// The arguments of a call become the parameters in a frame of a thread.
    fn pass(
        &self,
        call: &Call,
        (top, assigned): (usize, &[Place]),
        (thread, frame): (u32, usize),
        effects: &mut StepEffects,
    ) {
        let program = self.interpreter.program();
        let mut at = 0;
        for (argument, variable) in call.arguments.iter().zip(&program.procedure(call.callee).variables) {
            let count = variable.ty.cell_count();
            for cell in 0..count {
                let mut sources = Vec::new();
                match argument {
                    Argument::Value(value) => self.reads(value, top, assigned, &mut sources),
                    Argument::Copy(from, _) => sources.extend(self.start(*from, top, cell)),
                    Argument::Arbitrary => {}
                }
                effects.writes.push((Place::Local(thread, frame, at + cell), sources));
            }
            at += count;
        }
    }

    fn give_back(&self, values: &[Expr], top: usize, effects: &mut StepEffects) -> Option<()> {
        let Some(below) = top.checked_sub(1) else { return Some(()) };
        let caller = &self.seen.stack[below];
        let program = self.interpreter.program();
        let edge = program.procedure(caller.procedure).edge(caller.calling?);
        let Operation::Call(call) = &edge.operation else { return None };
        for (value, target) in values.iter().zip(&call.results) {
            let Some(target) = target else { continue };
            let mut sources = Vec::new();
            target.indices.iter().for_each(|index| self.reads(index, below, &[], &mut sources));
            self.reads(value, top, &[], &mut sources);
            effects.writes.push((self.place(target, below)?, sources));
        }
        Some(())
    }

    fn scope(&self, depth: usize) -> Scope<'_> {
        let frame = &self.seen.stack[depth];
        let now = Store { globals: &self.seen.globals, memory: &self.seen.memory, locals: &frame.locals };
        let next = self.next.stack.get(depth).map(|frame| Store {
            globals: &self.next.globals,
            memory: &self.next.memory,
            locals: &frame.locals,
        });
        Scope { next, ..self.interpreter.scope(frame.procedure, now) }
    }

    /// A cell of a variable that is copied as a whole.
    fn start(&self, variable: Var, depth: usize, cell: usize) -> Option<Place> {
        let layout = self.interpreter.layout();
        Some(match variable {
            Var::Global(i) => self.global(layout.globals.get(i as usize)? + cell),
            Var::Local(i) => {
                let procedure = self.seen.stack[depth].procedure.0 as usize;
                Place::Local(self.thread, depth, layout.locals[procedure].get(i as usize)? + cell)
            }
        })
    }

    fn global(&self, cell: usize) -> Place {
        match self.own.get(cell) {
            Some(true) => Place::Own(self.thread, cell),
            _ => Place::Shared(cell),
        }
    }

    fn place(&self, target: &Target, depth: usize) -> Option<Place> {
        Some(match self.interpreter.cell(&self.scope(depth), target, &mut Least).ok()? {
            Cell::Global(cell) => self.global(cell),
            Cell::Local(cell) => Place::Local(self.thread, depth, cell),
            Cell::Memory(variable, address) => Place::Memory(variable, address),
        })
    }

    /// Notes the cells that an expression reads, in the order of evaluation. What is read after
    /// the step counts only if the step does not write it (`assigned`).
    fn reads(&self, value: &Expr, depth: usize, assigned: &[Place], found: &mut Vec<Place>) {
        let decided = |part: &Expr| match part.has_choice() {
            true => None,
            false => self.scope(depth).value(part, &mut Least).ok(),
        };
        match &value.kind {
            ExprKind::Read { variable, indices, when } => {
                indices.iter().for_each(|index| self.reads(index, depth, assigned, found));
                let target = Target { variable: *variable, indices: indices.clone() };
                let place = self.place(&target, depth);
                found.extend(place.filter(|place| *when == When::Now || !assigned.contains(place)));
            }
            ExprKind::Binary(op @ (BinaryOp::And | BinaryOp::Or | BinaryOp::Implies), left, right) => {
                self.reads(left, depth, assigned, found);
                let ends = u64::from(*op == BinaryOp::Or);
                if decided(left) != Some(ends) {
                    self.reads(right, depth, assigned, found);
                }
            }
            ExprKind::IfThenElse(condition, then, otherwise) => {
                self.reads(condition, depth, assigned, found);
                let known = decided(condition);
                if known != Some(0) {
                    self.reads(then, depth, assigned, found);
                }
                if known.is_none_or(|known| known == 0) {
                    self.reads(otherwise, depth, assigned, found);
                }
            }
            _ => value.children().into_iter().for_each(|part| self.reads(part, depth, assigned, found)),
        }
    }
}
