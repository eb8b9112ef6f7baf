//! Which variables matter at a location: those that may be read before they are written.

use std::collections::BTreeSet;

use wherefore_program::{
    Argument, Assignment, Expr, LocationId, ModRef, Operation, ProcedureId, Program, Scalar, Target, Type,
    Var,
};

/// The variables that matter at each location. What is not there can have any value.
pub(super) struct Alive {
    /// For each procedure and location: one bit a variable, the globals first.
    at: Vec<Vec<Vec<u64>>>,
    globals: usize,
}

impl Alive {
    pub fn new(program: &Program) -> Self {
        let effects = ModRef::new(program);
        let globals = program.globals.len();
        let words = |id: usize| (globals + program.procedures[id].variables.len()).div_ceil(64);
        let empty = |id: usize| vec![vec![0; words(id)]; program.procedures[id].locations.len()];
        let mut alive = Self { at: (0..program.procedures.len()).map(empty).collect(), globals };
        let uses: Vec<Vec<Used>> = program
            .procedures()
            .map(|(id, body)| {
                body.edges.iter().map(|edge| alive.uses(program, id, &edge.operation, &effects)).collect()
            })
            .collect();
        let mut changed = true;
        while changed {
            changed = false;
            for (id, body) in program.procedures() {
                let p = id.0 as usize;
                for (number, edge) in body.edges.iter().enumerate().rev() {
                    let used = &uses[p][number];
                    let mut before = alive.at[p][edge.to.0 as usize].clone();
                    for variable in &used.written {
                        before[variable / 64] &= !(1 << (variable % 64));
                    }
                    for variable in &used.read {
                        before[variable / 64] |= 1 << (variable % 64);
                    }
                    changed |= join(&mut alive.at[p][edge.from.0 as usize], &before);
                    if let Operation::Call(call) = &edge.operation {
                        // What matters behind the call matters at the end of the callee.
                        let behind = alive.at[p][edge.to.0 as usize].clone();
                        let callee = call.callee.0 as usize;
                        let exit = program.procedures[callee].exit.0 as usize;
                        let globals_only = |word: usize, bits: u64| match globals.saturating_sub(word * 64) {
                            0 => 0,
                            rest if rest >= 64 => bits,
                            rest => bits & ((1 << rest) - 1),
                        };
                        let end = &mut alive.at[callee][exit];
                        for (word, bits) in end.iter_mut().enumerate() {
                            let more = globals_only(word, behind.get(word).copied().unwrap_or(0));
                            changed |= *bits | more != *bits;
                            *bits |= more;
                        }
                    }
                }
            }
        }
        alive
    }

    fn number(&self, variable: Var) -> usize {
        match variable {
            Var::Global(i) => i as usize,
            Var::Local(i) => self.globals + i as usize,
        }
    }

    /// Whether a variable matters at a location.
    pub fn matters(&self, procedure: ProcedureId, location: LocationId, variable: Var) -> bool {
        let number = self.number(variable);
        self.at[procedure.0 as usize][location.0 as usize][number / 64] >> (number % 64) & 1 == 1
    }

    fn uses(
        &self,
        program: &Program,
        procedure: ProcedureId,
        operation: &Operation,
        effects: &ModRef,
    ) -> Used {
        let mut used = Used::default();
        let mut read = |expr: &Expr| {
            expr.reads(&mut |variable, _| {
                used.read.insert(self.number(variable));
            });
        };
        let mut targets: Vec<&Target> = Vec::new();
        match operation {
            Operation::Assume(condition) => read(condition),
            Operation::Assign(assignment) => {
                assignment_reads(assignment, &mut read);
                targets.extend(&assignment.targets);
            }
            Operation::Havoc(list) => targets.extend(list),
            Operation::Call(call) => {
                assignment_reads(&call.assignment, &mut read);
                for argument in &call.arguments {
                    match argument {
                        Argument::Value(value) => read(value),
                        Argument::Copy(array, _) => read(&Expr::variable(*array, Scalar::Bool)),
                        Argument::Arbitrary => {}
                    }
                }
                targets.extend(call.results.iter().flatten());
                let globals = effects.effects(call.callee).reads.iter();
                used.read.extend(globals.map(|global| *global as usize));
            }
            Operation::Return(values) => values.iter().for_each(&mut read),
            _ => {}
        }
        for target in targets {
            target.indices.iter().for_each(|index| {
                index.reads(&mut |variable, _| {
                    used.read.insert(self.number(variable));
                });
            });
            let is_whole = matches!(program.variable(procedure, target.variable).ty, Type::Scalar(_));
            if is_whole {
                used.written.insert(self.number(target.variable));
            }
        }
        used
    }
}

#[derive(Default)]
struct Used {
    read: BTreeSet<usize>,
    written: BTreeSet<usize>,
}

fn assignment_reads(assignment: &Assignment, read: &mut impl FnMut(&Expr)) {
    assignment.values.iter().for_each(&mut *read);
    assignment.constraint.iter().for_each(read);
}

fn join(into: &mut [u64], more: &[u64]) -> bool {
    let mut changed = false;
    for (bits, more) in into.iter_mut().zip(more) {
        changed |= *bits | more != *bits;
        *bits |= more;
    }
    changed
}
