//! Values that are never read.
//!
//! A variable without an initial value may hold anything at a call. Where it is written before it
//! is read on every way, its first value does not matter, and any one stands for all: explicit
//! search need not try them. The same goes for what is written to a global variable that nothing
//! reads, and for results that no caller looks at.

use super::Thread;
use crate::expression::{Expr, Target, Var, When};
use crate::program::{Argument, Assignment, Edge, Operation, Procedure, Program, ThreadStart, Variable};

impl Program {
    /// The same program in which local variables start with zero if their first value is never
    /// read. Locations and edges stay what they are.
    ///
    /// So are values that go to global variables that are never read, results that are not used,
    /// and first values of global variables that are set before they are read.
    pub fn with_unread_values_zero(mut self) -> Program {
        for global in self.globals_set_first() {
            self.globals[global as usize].initial = Some(0);
        }
        let is_read = self.globals_read();
        // What is not written any more may make more results unused.
        for _ in 0..3 {
            self.forget_unread(&is_read);
            self.forget_arguments();
            self.forget_results(&is_read);
        }
        for procedure in &mut self.procedures {
            let all = live(procedure);
            let live = &all[procedure.entry.0 as usize];
            for edge in &mut procedure.edges {
                let after = &all[edge.to.0 as usize];
                edge.operation.choose_nothing(&procedure.variables, after);
            }
            let (_, locals) = procedure.variables.split_at_mut(procedure.parameters);
            for (variable, live) in locals.iter_mut().zip(&live[procedure.parameters..]) {
                if !live && variable.initial.is_none() {
                    variable.initial = Some(0);
                }
            }
        }
        self
    }
}

impl Program {
    /// For each global variable, whether some step reads it, or it is shown where a check fails.
    /// Memory always counts as read.
    fn globals_read(&self) -> Vec<bool> {
        let mut is_read: Vec<bool> = self.globals.iter().map(|variable| variable.ty.is_memory()).collect();
        let locations = self.procedures.iter().flat_map(|procedure| &procedure.locations);
        let violations = locations.filter_map(|location| location.violation.as_deref());
        for (_, shown, _) in violations.flat_map(|violation| &violation.shown) {
            shown.reads(&mut |variable, _| {
                if let Var::Global(i) = variable {
                    is_read[i as usize] = true;
                }
            });
        }
        for edge in self.procedures.iter().flat_map(|procedure| &procedure.edges) {
            edge.operation.reads(&mut |variable| {
                if let Var::Global(i) = variable {
                    is_read[i as usize] = true;
                }
            });
        }
        is_read
    }

    fn forget_unread(&mut self, is_read: &[bool]) {
        for edge in self.procedures.iter_mut().flat_map(|procedure| &mut procedure.edges) {
            let Operation::Assign(Assignment { targets, values, constraint: None }) = &mut edge.operation
            else {
                continue;
            };
            for (target, value) in targets.iter().zip(values) {
                if matches!(target.variable, Var::Global(i) if !is_read[i as usize]) {
                    *value = Expr::constant(0, value.ty);
                }
            }
        }
    }

    fn forget_arguments(&mut self) {
        let is_read: Vec<Vec<bool>> = self
            .procedures
            .iter()
            .map(|procedure| live(procedure)[procedure.entry.0 as usize][..procedure.parameters].to_vec())
            .collect();
        for edge in self.procedures.iter_mut().flat_map(|procedure| &mut procedure.edges) {
            let Operation::Call(call) = &mut edge.operation else { continue };
            for (argument, is_read) in call.arguments.iter_mut().zip(&is_read[call.callee.0 as usize]) {
                if let (Argument::Value(value), false) = (argument, is_read) {
                    *value = Expr::constant(0, value.ty);
                }
            }
        }
    }

    fn forget_results(&mut self, is_read: &[bool]) {
        let mut used: Vec<Vec<bool>> =
            self.procedures.iter().map(|procedure| vec![false; procedure.results.len()]).collect();
        for procedure in &self.procedures {
            let live = live(procedure);
            for edge in &procedure.edges {
                let Operation::Call(call) = &edge.operation else { continue };
                let is_used = |target: &Target| match target.variable {
                    Var::Global(i) => is_read[i as usize],
                    Var::Local(i) => !target.indices.is_empty() || live[edge.to.0 as usize][i as usize],
                };
                let results = call.results.iter().map(|target| target.as_ref().is_some_and(is_used));
                let used = &mut used[call.callee.0 as usize];
                used.iter_mut().zip(results).for_each(|(used, now)| *used |= now);
            }
        }
        for (procedure, used) in self.procedures.iter_mut().zip(&used) {
            for edge in &mut procedure.edges {
                let Operation::Return(values) = &mut edge.operation else { continue };
                for (value, used) in values.iter_mut().zip(used) {
                    if !used {
                        *value = Expr::constant(0, value.ty);
                    }
                }
            }
        }
    }
}

impl Operation {
    /// Gives zero to variables that get any value and are not read.
    fn choose_nothing(&mut self, variables: &[Variable], live: &[bool]) {
        let Operation::Havoc(targets) = self else { return };
        let is_dead = |target: &Target| match target.variable {
            Var::Local(i) => target.indices.is_empty() && !live[i as usize],
            Var::Global(_) => false,
        };
        if targets.iter().all(is_dead) {
            let value = |target: &Target| match target.variable {
                Var::Local(i) => Expr::constant(0, variables[i as usize].ty.element()),
                Var::Global(_) => unreachable!("only locals are dead"),
            };
            let values = targets.iter().map(value).collect();
            let targets = std::mem::take(targets);
            *self = Operation::Assign(Assignment { targets, values, constraint: None });
        }
    }
}

/// Which local variables may still be read, for each procedure and location.
pub(super) struct Liveness(Vec<Vec<Vec<bool>>>);

impl Liveness {
    pub(super) fn new(program: &Program) -> Self {
        Self(program.procedures.iter().map(live).collect())
    }

    /// Gives zero to the local variables of a thread that are not read any more: its future is the
    /// same.
    pub(super) fn forget_dead(&self, program: &Program, thread: &mut Thread) {
        for frame in &mut thread.stack {
            let procedure = program.procedure(frame.procedure);
            let live = &self.0[frame.procedure.0 as usize];
            // A frame that waits for a call also reads what the results of the call need.
            let (from, to) = match frame.calling {
                Some(call) => (procedure.edge(call).from, procedure.edge(call).to),
                None => (frame.location, frame.location),
            };
            let (from, to) = (&live[from.0 as usize], &live[to.0 as usize]);
            let mut at = 0;
            for (variable, (from, to)) in procedure.variables.iter().zip(from.iter().zip(to)) {
                let end = at + variable.ty.cell_count();
                if !from && !to {
                    frame.locals[at..end].fill(0);
                }
                at = end;
            }
        }
    }
}

/// For each location and variable, whether the value there may be read.
fn live(procedure: &Procedure) -> Vec<Vec<bool>> {
    let count = procedure.variables.len();
    let mut live = vec![vec![false; count]; procedure.locations.len()];
    let effects: Vec<(Vec<u32>, Vec<u32>)> =
        procedure.edges.iter().map(|edge| effects(procedure, edge)).collect();
    let mut changed = true;
    while changed {
        changed = false;
        for (edge, (reads, writes)) in procedure.edges.iter().zip(&effects).rev() {
            let mut before = live[edge.to.0 as usize].clone();
            writes.iter().for_each(|variable| before[*variable as usize] = false);
            if let Operation::StartThread(ThreadStart::At(location)) = edge.operation {
                let started = live[location.0 as usize].clone();
                before.iter_mut().zip(started).for_each(|(live, other)| *live |= other);
            }
            match &edge.operation {
                // A value that goes to a variable that is not read does not matter, unless the step
                // may wait for it.
                Operation::Assign(Assignment { targets, values, constraint: None }) => {
                    let after = live[edge.to.0 as usize].clone();
                    for (target, value) in targets.iter().zip(values) {
                        let mut needed = Vec::new();
                        target.indices.iter().for_each(|index| read(index, &[], &mut needed));
                        let is_faint = matches!(target.variable, Var::Local(i) if !after[i as usize]);
                        if !is_faint || has_index(value) {
                            read(value, &[], &mut needed);
                        }
                        needed.iter().for_each(|variable| before[*variable as usize] = true);
                    }
                }
                _ => reads.iter().for_each(|variable| before[*variable as usize] = true),
            }
            let known = &mut live[edge.from.0 as usize];
            for (known, now) in known.iter_mut().zip(before) {
                changed |= now && !*known;
                *known |= now;
            }
        }
    }
    live
}

/// Whether an expression reads an element of an array, and so may have no value.
pub(super) fn has_index(value: &Expr) -> bool {
    let mut found = false;
    value.walk(&mut |part| {
        found |= matches!(&part.kind, crate::ExprKind::Read { indices, .. } if !indices.is_empty());
    });
    found
}

/// The local variables that an edge reads, and those that it writes as a whole.
fn effects(procedure: &Procedure, edge: &Edge) -> (Vec<u32>, Vec<u32>) {
    let (mut reads, mut writes) = (Vec::new(), Vec::new());
    let mut write = |target: &Target, reads: &mut Vec<u32>| {
        target.indices.iter().for_each(|index| read(index, &[], reads));
        if let (Var::Local(i), true) = (target.variable, target.indices.is_empty()) {
            writes.push(i);
        }
    };
    match &edge.operation {
        Operation::Assume(condition) => read(condition, &[], &mut reads),
        Operation::Assign(assignment) => assigned(assignment, &mut reads, &mut write),
        Operation::Havoc(targets) => targets.iter().for_each(|target| write(target, &mut reads)),
        Operation::Call(call) => {
            assigned(&call.assignment, &mut reads, &mut write);
            let targets: Vec<Var> = call.assignment.targets.iter().map(|target| target.variable).collect();
            call.arguments.iter().for_each(|argument| passed(argument, &targets, &mut reads));
            call.results.iter().flatten().for_each(|target| write(target, &mut reads));
        }
        Operation::Return(values) => values.iter().for_each(|value| read(value, &[], &mut reads)),
        Operation::StartThread(ThreadStart::Call { arguments, .. }) => {
            arguments.iter().for_each(|argument| passed(argument, &[], &mut reads));
        }
        Operation::Skip
        | Operation::StartThread(ThreadStart::At(_))
        | Operation::EndThread
        | Operation::AtomicBegin
        | Operation::AtomicEnd
        | Operation::Sync => {}
    }
    // A write of an array is never a write of the whole.
    writes.retain(|i| procedure.variables[*i as usize].ty.index_count() == 0);
    (reads, writes)
}

fn assigned(assignment: &Assignment, reads: &mut Vec<u32>, write: &mut impl FnMut(&Target, &mut Vec<u32>)) {
    let targets: Vec<Var> = assignment.targets.iter().map(|target| target.variable).collect();
    for (target, value) in assignment.targets.iter().zip(&assignment.values) {
        read(value, &[], reads);
        write(target, reads);
    }
    assignment.constraint.iter().for_each(|constraint| read(constraint, &targets, reads));
}

fn passed(argument: &Argument, assigned: &[Var], reads: &mut Vec<u32>) {
    match argument {
        Argument::Value(value) => read(value, assigned, reads),
        Argument::Copy(Var::Local(i), _) => reads.push(*i),
        Argument::Copy(Var::Global(_), _) | Argument::Arbitrary => {}
    }
}

/// Notes the variables that an expression reads as they were before the step.
fn read(value: &Expr, assigned: &[Var], reads: &mut Vec<u32>) {
    value.reads(&mut |variable, when| {
        let is_old = when == When::Now || !assigned.contains(&variable);
        match variable {
            Var::Local(i) if is_old => reads.push(i),
            _ => {}
        }
    });
}
