//! The steps of unrolled threads that touch what is shared: reads are new unknowns, writes are kept
//! as events.

use wherefore_program::{Argument, Assignment, EdgeRef, Expr, ExprKind, Operation, Program, Target, Var};
use wherefore_smt::{Sort, Term};

use super::unfold::{Stop, Taken, Unfolding};
use crate::symbolic::{Flat, Machine, PlaceId, Store};

/// What was read in a step: the variable, the cell, the value.
pub(super) type Known = Vec<(u32, Option<Term>, Term)>;
impl Unfolding<'_> {
    /// A step, in which what others may have written is read anew.
    pub(super) fn access(
        &mut self,
        visit: usize,
        flat: Option<u32>,
        edge: EdgeRef,
        store: &Store,
        known: &mut Known,
    ) -> Result<Taken, Stop> {
        let Some(flat) = flat else { return Err(Stop::TooLarge) };
        let program = self.machine.flat.program;
        let operation = &program.edge(edge).operation;
        if self.base.is_none() || !is_seen(operation, program, &self.machine.flat, flat) {
            self.machine.name_prefix(format!("v{visit}e{flat}"));
            let (store, condition) = self.machine.step(store, flat);
            let is_seen = false;
            return Ok(Taken { flat: Some(flat), edge, store, condition, cells: Vec::new(), is_seen });
        }
        let place = self.visits[visit].place;
        let mut cells = Vec::new();
        let mut seen = store.clone();
        let mut reads = Vec::new();
        expressions(operation, &mut |value| reads_of(value, &mut reads));
        self.machine.name_prefix(format!("v{visit}e{flat}i"));
        let mut events = 0;
        for (variable, indices, ty) in reads {
            let Var::Global(i) = variable else { continue };
            let of = &program.globals[i as usize];
            if !of.shared && !of.ty.is_memory() {
                continue;
            }
            let index = self.index(&seen, place, variable, &indices);
            let constant = index.and_then(|index| self.machine.terms.constant(index));
            self.accesses.note(self.thread, i, index.map(|_| constant), false);
            if !self.sharing.is_event(self.thread, i, index.map(|_| constant)) {
                continue;
            }
            events += 1;
            let held = seen.get(i);
            let same = known.iter().find(|(variable, at, _)| *variable == i && *at == index);
            if let Some((_, _, value)) = same {
                let value = *value;
                let stored = index.map_or(value, |index| self.machine.terms.store(held, index, value));
                seen.set(i, stored);
                continue;
            }
            let name = format!("v{visit}e{flat}r{events}");
            let (value, stored) = match index {
                None => {
                    let sort = Machine::sort(&of.ty);
                    let value = self.machine.terms.variable(&name, sort);
                    (value, value)
                }
                Some(index) => {
                    let element = self.machine.terms.variable(&name, Sort::Bits(ty));
                    (element, self.machine.terms.store(held, index, element))
                }
            };
            seen.set(i, stored);
            known.push((i, index, value));
            cells.push((false, i, index, value));
        }
        self.machine.name_prefix(format!("v{visit}e{flat}"));
        let (mut after, condition) = self.machine.step(&seen, flat);
        let mut own_writes: Vec<u32> = Vec::new();
        let back = self.caller_targets(operation, flat);
        let (targets, target_place) = match &back {
            Some((targets, place)) => (targets.clone(), *place),
            None => (targets_of(operation), place),
        };
        self.machine.name_prefix(format!("v{visit}e{flat}w"));
        for target in &targets {
            let Var::Global(i) = target.variable else { continue };
            let of = &program.globals[i as usize];
            if !of.shared && !of.ty.is_memory() {
                continue;
            }
            let index = self.index(&seen, target_place, target.variable, &target.indices);
            let constant = index.and_then(|index| self.machine.terms.constant(index));
            self.accesses.note(self.thread, i, index.map(|_| constant), true);
            if !self.sharing.is_event(self.thread, i, index.map(|_| constant)) {
                own_writes.push(i);
                continue;
            }
            events += 1;
            let value = match index {
                None => after.get(i),
                Some(index) => self.machine.terms.select(after.get(i), index),
            };
            cells.push((true, i, index, value));
        }
        // What others may write is not kept.
        for variable in 0..program.globals.len() as u32 {
            if seen.get(variable) != store.get(variable) && !own_writes.contains(&variable) {
                after.set(variable, store.get(variable));
            }
        }
        for (_, variable, ..) in &cells {
            if !own_writes.contains(variable) {
                after.set(*variable, store.get(*variable));
            }
        }
        let is_seen = events > 0;
        Ok(Taken { flat: Some(flat), edge, store: after, condition, cells, is_seen })
    }

    /// The targets of the call that a return goes back to, and a place of the caller.
    pub(super) fn caller_targets(&self, operation: &Operation, flat: u32) -> Option<(Vec<Target>, PlaceId)> {
        let Operation::Return(_) = operation else { return None };
        let edge = self.machine.flat.edges[flat as usize];
        let (_, call) = self.machine.flat.frame_of(edge.from).caller?;
        let Operation::Call(call) = &self.machine.flat.program.edge(call).operation else { return None };
        Some((call.results.iter().flatten().cloned().collect(), edge.to))
    }

    /// The index of a cell; none for a single value.
    pub(super) fn index(
        &mut self,
        store: &Store,
        place: PlaceId,
        variable: Var,
        indices: &[Expr],
    ) -> Option<Term> {
        (!indices.is_empty()).then(|| self.machine.index_at(store, place, variable, indices))
    }
}

/// Whether a step may touch what is shared. A return writes what the call says.
fn is_seen(operation: &Operation, program: &Program, flat: &Flat<'_>, id: u32) -> bool {
    if let Operation::Return(_) = operation {
        let caller = flat.frame_of(flat.edges[id as usize].from).caller;
        if let Some(Operation::Call(call)) = caller.map(|(_, call)| &program.edge(call).operation) {
            let results = Operation::Havoc(call.results.iter().flatten().cloned().collect());
            if results.touches_shared(program) {
                return true;
            }
        }
    }
    operation.touches_shared(program)
}

/// Calls `see` on every expression of an operation.
fn expressions<'e>(operation: &'e Operation, see: &mut impl FnMut(&'e Expr)) {
    fn assignment<'e>(part: &'e Assignment, see: &mut impl FnMut(&'e Expr)) {
        part.targets.iter().flat_map(|target| &target.indices).for_each(&mut *see);
        part.values.iter().chain(&part.constraint).for_each(see);
    }
    match operation {
        Operation::Assume(condition) => see(condition),
        Operation::Assign(part) => assignment(part, see),
        Operation::Havoc(targets) => targets.iter().flat_map(|target| &target.indices).for_each(see),
        Operation::Call(call) => {
            assignment(&call.assignment, see);
            for argument in &call.arguments {
                if let Argument::Value(value) = argument {
                    see(value);
                }
            }
        }
        Operation::Return(values) => values.iter().for_each(see),
        _ => {}
    }
}

/// The reads in an expression, the innermost first.
pub(super) fn reads_of(value: &Expr, found: &mut Vec<(Var, Vec<Expr>, u32)>) {
    for child in value.children() {
        reads_of(child, found);
    }
    if let ExprKind::Read { variable, indices, .. } = &value.kind {
        let read = (*variable, indices.clone(), value.ty.width());
        if !found.contains(&read) {
            found.push(read);
        }
    }
}

fn targets_of(operation: &Operation) -> Vec<Target> {
    match operation {
        Operation::Assign(part) => part.targets.clone(),
        Operation::Havoc(targets) => targets.clone(),
        Operation::Call(call) => call.assignment.targets.clone(),
        _ => Vec::new(),
    }
}
