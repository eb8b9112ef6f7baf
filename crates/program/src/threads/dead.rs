//! Local variables whose first value is never read.
//!
//! A variable without an initial value may hold anything at a call. Where it is written before it
//! is read on every way, its first value does not matter, and any one stands for all: explicit
//! search need not try them.

use crate::expression::{Expr, Target, Var, When};
use crate::program::{Argument, Assignment, Edge, Operation, Procedure, Program, ThreadStart, Variable};

impl Program {
    /// The same program in which local variables start with zero if their first value is never
    /// read. Locations and edges stay what they are.
    pub fn with_dead_locals_zero(mut self) -> Program {
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
            reads.iter().for_each(|variable| before[*variable as usize] = true);
            let known = &mut live[edge.from.0 as usize];
            for (known, now) in known.iter_mut().zip(before) {
                changed |= now && !*known;
                *known |= now;
            }
        }
    }
    live
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
