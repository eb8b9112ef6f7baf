//! Which runs rest on values that nothing determines.
//!
//! A value is determined if it is computed from constants and from steps that are *fed*: the caller
//! says which. All other arbitrary values are chance: variables that were never set, memory that
//! was never written, choices inside expressions. A run rests on chance if a condition that it
//! passes, or an address that it writes to, is not determined.

use std::collections::BTreeSet;

use crate::evaluate::{Choices, Scope, Store};
use crate::expression::{BinaryOp, Expr, ExprKind, Target};
use crate::interpret::{Cell, Interpreter, State};
use crate::program::{Argument, Assignment, EdgeRef, Operation};
use crate::replay::Trace;

/// Choices do not matter: values that contain one are chance.
struct Least;

impl Choices for Least {
    fn choose(&mut self, _: u64) -> u64 {
        0
    }
}

/// Which cells hold chance.
struct Chance<'a> {
    interpreter: &'a Interpreter<'a>,
    globals: Vec<bool>,
    frames: Vec<Vec<bool>>,
    /// Cells of memory that were set: to a determined value, or to chance.
    memory: [BTreeSet<(u32, u64)>; 2],
    /// What a cell holds that was never set.
    unset: Unset,
}

/// Whether values that were never set are chance.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Unset {
    /// They are: nothing determines them.
    Chance,
    /// They count as determined: C lets them be anything.
    Determined,
}

impl Interpreter<'_> {
    /// The value that a target holds after a step from `before` to `after` that wrote it. The frame
    /// on top is the same.
    pub fn written(&self, before: &State, target: &Target, after: &State) -> Option<u64> {
        let frame = before.stack.last()?;
        let now = Store { globals: &before.globals, memory: &before.memory, locals: &frame.locals };
        let cell = self.cell(&self.scope(frame.procedure, now), target, &mut Least).ok()?;
        match cell {
            Cell::Global(i) => after.globals.get(i).copied(),
            Cell::Local(i) => after.stack.last()?.locals.get(i).copied(),
            Cell::Memory(variable, address) => {
                let initial = self.program().globals[variable as usize].initial.unwrap_or(0);
                Some(after.memory.get(&(variable, address)).copied().unwrap_or(initial))
            }
        }
    }

    /// The first step of a run that rests on chance, by its position; `fed` says of a havoc in the
    /// run, by its position and edge, whether its value is determined.
    ///
    /// **Requires:** the run is one of the program.
    pub fn rests_on_chance(
        &self,
        trace: &Trace,
        unset: Unset,
        fed: impl Fn(usize, EdgeRef) -> bool,
    ) -> Option<usize> {
        let program = self.program();
        let globals = program.globals.iter();
        let is_chance = unset == Unset::Chance;
        let free = |variable: &crate::Variable| {
            vec![is_chance && variable.initial.is_none(); variable.ty.cell_count()]
        };
        let mut chance = Chance {
            interpreter: self,
            globals: globals.flat_map(free).collect(),
            frames: trace.start.stack.iter().map(|frame| vec![is_chance; frame.locals.len()]).collect(),
            memory: [BTreeSet::new(), BTreeSet::new()],
            unset,
        };
        let befores = trace.states();
        for (i, (before, step)) in befores.zip(&trace.steps).enumerate() {
            let is_fed = fed(i, step.edge);
            if chance.step(before, step.edge, is_fed, &step.state).is_none() {
                return Some(i);
            }
        }
        None
    }
}

impl Chance<'_> {
    fn scope<'s>(&'s self, state: &'s State, depth: usize) -> Scope<'s> {
        let frame = &state.stack[depth];
        let now = Store { globals: &state.globals, memory: &state.memory, locals: &frame.locals };
        self.interpreter.scope(frame.procedure, now)
    }

    /// Follows a step; none if it rests on chance.
    fn step(&mut self, before: &State, edge: EdgeRef, fed: bool, after: &State) -> Option<()> {
        let interpreter = self.interpreter;
        let depth = before.stack.len().checked_sub(1)?;
        match &interpreter.program().edge(edge).operation {
            Operation::Assume(condition) => {
                let rests = self.is_chance(condition, &self.scope(before, depth), depth);
                return (!rests).then_some(());
            }
            Operation::Assign(assignment) => self.assign(before, depth, assignment)?,
            Operation::Havoc(targets) => {
                let cells: Option<Vec<Cell>> =
                    targets.iter().map(|target| self.place(before, depth, target)).collect();
                cells?.into_iter().for_each(|cell| self.set(cell, depth, !fed));
            }
            Operation::Call(call) => {
                let is_chance = self.unset == Unset::Chance;
                let mut locals = vec![is_chance; after.stack.last()?.locals.len()];
                let scope = self.scope(before, depth);
                let mut at = 0;
                let parameters = &interpreter.program().procedure(call.callee).variables;
                for (argument, variable) in call.arguments.iter().zip(parameters) {
                    if let Argument::Value(value) = argument {
                        locals[at] = self.is_chance(value, &scope, depth);
                    }
                    at += variable.ty.cell_count();
                }
                self.assign(before, depth, &call.assignment)?;
                self.frames.push(locals);
            }
            Operation::Return(values) => {
                let scope = self.scope(before, depth);
                let values: Vec<bool> =
                    values.iter().map(|value| self.is_chance(value, &scope, depth)).collect();
                self.frames.pop();
                let Some(depth) = depth.checked_sub(1) else { return Some(()) };
                let caller = &before.stack[depth];
                let call = &interpreter.program().procedure(caller.procedure).edge(caller.calling?).operation;
                let Operation::Call(call) = call else { return None };
                for (chance, target) in values.into_iter().zip(&call.results) {
                    if let Some(target) = target {
                        let cell = self.place(before, depth, target)?;
                        self.set(cell, depth, chance);
                    }
                }
            }
            _ => {}
        }
        Some(())
    }

    fn assign(&mut self, before: &State, depth: usize, assignment: &Assignment) -> Option<()> {
        let mut cells = Vec::new();
        for (target, value) in assignment.targets.iter().zip(&assignment.values) {
            let cell = self.place(before, depth, target)?;
            cells.push((cell, self.is_chance(value, &self.scope(before, depth), depth)));
        }
        cells.into_iter().for_each(|(cell, chance)| self.set(cell, depth, chance));
        Some(())
    }

    /// The cell of a target; none if it is not determined which.
    fn place(&self, state: &State, depth: usize, target: &Target) -> Option<Cell> {
        let scope = self.scope(state, depth);
        if target.indices.iter().any(|index| self.is_chance(index, &scope, depth)) {
            return None;
        }
        self.interpreter.cell(&scope, target, &mut Least).ok()
    }

    fn set(&mut self, cell: Cell, depth: usize, chance: bool) {
        match cell {
            Cell::Global(i) => self.globals[i] = chance,
            Cell::Local(i) => self.frames[depth][i] = chance,
            Cell::Memory(variable, address) => {
                self.memory[usize::from(!chance)].remove(&(variable, address));
                self.memory[usize::from(chance)].insert((variable, address));
            }
        }
    }

    fn is_chance(&self, expr: &Expr, scope: &Scope<'_>, depth: usize) -> bool {
        let value = |expr: &Expr| scope.value(expr, &mut Least).unwrap_or(0);
        match &expr.kind {
            ExprKind::Choice { .. } => true,
            ExprKind::Read { variable, indices, .. } => {
                if indices.iter().any(|index| self.is_chance(index, scope, depth)) {
                    return true;
                }
                let target = Target { variable: *variable, indices: indices.clone() };
                match self.interpreter.cell(scope, &target, &mut Least) {
                    Ok(Cell::Global(i)) => self.globals[i],
                    Ok(Cell::Local(i)) => self.frames[depth][i],
                    Ok(Cell::Memory(variable, address)) => {
                        let [determined, chance] = &self.memory;
                        let cell = (variable, address);
                        let globals = &self.interpreter.program().globals;
                        let free =
                            || self.unset == Unset::Chance && globals[variable as usize].initial.is_none();
                        chance.contains(&cell) || (!determined.contains(&cell) && free())
                    }
                    Err(_) => true,
                }
            }
            ExprKind::Binary(op @ (BinaryOp::And | BinaryOp::Or | BinaryOp::Implies), left, right) => {
                // One side is enough if it decides.
                let decides = if *op == BinaryOp::Or { 1 } else { 0 };
                let other = if *op == BinaryOp::And { 0 } else { 1 };
                let (a, b) = (self.is_chance(left, scope, depth), self.is_chance(right, scope, depth));
                let settled = (!a && value(left) == decides) || (!b && value(right) == other);
                (a || b) && !settled
            }
            ExprKind::IfThenElse(condition, then, otherwise) => {
                self.is_chance(condition, scope, depth)
                    || self.is_chance(if value(condition) != 0 { then } else { otherwise }, scope, depth)
            }
            _ => expr.children().into_iter().any(|child| self.is_chance(child, scope, depth)),
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::expression::Var;
    use crate::source::{FileId, SourceFile, Span};
    use crate::types::{Scalar, Type};
    use crate::{EdgeId, LocationKind, ProcedureBuilder, ProcedureId, Program, Variable};

    const BYTE: Scalar = Scalar::Bits(8);

    /// `havoc x; y := value; assume condition`, run with the least choices.
    fn rests(value: Expr, condition: Expr, fed: bool) -> Option<usize> {
        let span = Span::new(FileId(0), 0, 1);
        let variable = |name: &str| Variable {
            name: name.to_owned(),
            ty: Type::Scalar(BYTE),
            value_names: None,
            signed: false,
            float: false,
            pointer: false,
            shared: false,
            initial: None,
            span,
        };
        let mut main = ProcedureBuilder::new("main", span);
        main.variables(0, vec![variable("x"), variable("y")]);
        let places: Vec<_> = (0..4).map(|_| main.location(span, LocationKind::Statement)).collect();
        main.edge(places[0], places[1], Operation::Havoc(vec![Var::Local(0).into()]), span);
        let assign =
            Assignment { targets: vec![Var::Local(1).into()], values: vec![value], constraint: None };
        main.edge(places[1], places[2], Operation::Assign(assign), span);
        main.edge(places[2], places[3], Operation::Assume(condition), span);
        let program = Program {
            sources: vec![SourceFile::new("t", "x")],
            globals: vec![],
            procedures: vec![main.finish(places[0])],
            entry: ProcedureId(0),
            objects: crate::Objects::default(),
        };
        let interpreter = Interpreter::new(&program);
        let start = interpreter.initial_states(1).0.remove(0);
        let mut trace = Trace { start, steps: Vec::new() };
        while let Some((edge, state)) = interpreter.successors(trace.last(), 1).0.pop() {
            trace.steps.push(crate::Step { edge, state });
        }
        assert_eq!(trace.steps.len(), 3);
        interpreter.rests_on_chance(&trace, Unset::Chance, |_, edge| fed && edge.edge == EdgeId(0))
    }

    fn is_zero(variable: u32) -> Expr {
        let read = Expr::variable(Var::Local(variable), BYTE);
        Expr::binary(BinaryOp::Eq, read, Expr::constant(0, BYTE))
    }

    #[test]
    fn conditions_on_values_that_are_not_fed_rest_on_chance() {
        let x = Expr::variable(Var::Local(0), BYTE);
        assert_eq!(rests(x.clone(), is_zero(1), false), Some(2));
        assert_eq!(rests(x, is_zero(1), true), None);
        assert_eq!(rests(Expr::constant(0, BYTE), is_zero(1), false), None);
        assert_eq!(rests(Expr::choice(BYTE), is_zero(1), true), Some(2));
    }

    #[test]
    fn a_side_that_decides_makes_the_other_irrelevant() {
        let zero = || Expr::constant(0, BYTE);
        assert_eq!(rests(zero(), Expr::any(vec![is_zero(1), is_zero(0)]), false), None);
        assert_eq!(rests(zero(), Expr::any(vec![is_zero(0), is_zero(1)]), false), None);
        assert_eq!(rests(zero(), Expr::all(vec![is_zero(1), is_zero(0)]), false), Some(2));
    }
}
