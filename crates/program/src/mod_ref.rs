//! Which globals a procedure may read and write, its callees included.

use std::collections::BTreeSet;

use crate::call_graph::CallGraph;
use crate::expression::{Expr, Target, Var};
use crate::program::{Argument, Assignment, Operation, Procedure, ProcedureId, Program, ThreadStart};

/// The globals that a procedure may read and write.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Effects {
    /// Globals whose value may matter, by position.
    pub reads: BTreeSet<u32>,
    /// Globals whose value may change, by position.
    pub writes: BTreeSet<u32>,
}

/// The effects of all procedures.
///
/// A component of the call graph shares one answer, so one pass over the components, callees first,
/// is enough.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct ModRef {
    effects: Vec<Effects>,
}

impl ModRef {
    /// The effects of all procedures of a program.
    pub fn new(program: &Program) -> Self {
        let calls = CallGraph::new(program);
        let mut effects = vec![Effects::default(); program.procedures.len()];
        for component in calls.components() {
            let mut joint = Effects::default();
            for &member in component {
                joint.add_own(program.procedure(member));
                for callee in calls.callees(member) {
                    let callee = &effects[callee.0 as usize];
                    joint.reads.extend(&callee.reads);
                    joint.writes.extend(&callee.writes);
                }
            }
            for &member in component {
                effects[member.0 as usize] = joint.clone();
            }
        }
        Self { effects }
    }

    /// The effects of a call of this procedure.
    pub fn effects(&self, procedure: ProcedureId) -> &Effects {
        &self.effects[procedure.0 as usize]
    }
}

impl Effects {
    fn add_own(&mut self, procedure: &Procedure) {
        for edge in &procedure.edges {
            match &edge.operation {
                Operation::Skip
                | Operation::EndThread
                | Operation::AtomicBegin
                | Operation::AtomicEnd
                | Operation::Sync
                | Operation::StartThread(ThreadStart::At(_)) => {}
                Operation::Assume(condition) => self.read(condition),
                Operation::Assign(assignment) => self.assign(assignment),
                Operation::Havoc(targets) => targets.iter().for_each(|target| self.write(target)),
                Operation::Return(values) => values.iter().for_each(|value| self.read(value)),
                Operation::Call(call) => {
                    self.arguments(&call.arguments);
                    call.results.iter().flatten().for_each(|target| self.write(target));
                    self.assign(&call.assignment);
                }
                Operation::StartThread(ThreadStart::Call { arguments, .. }) => self.arguments(arguments),
            }
        }
    }

    fn read(&mut self, expr: &Expr) {
        expr.reads(&mut |variable, _| {
            if let Var::Global(i) = variable {
                self.reads.insert(i);
            }
        });
    }

    fn write(&mut self, target: &Target) {
        target.indices.iter().for_each(|index| self.read(index));
        if let Var::Global(i) = target.variable {
            self.writes.insert(i);
        }
    }

    fn assign(&mut self, assignment: &Assignment) {
        assignment.targets.iter().for_each(|target| self.write(target));
        assignment.values.iter().chain(&assignment.constraint).for_each(|value| self.read(value));
    }

    fn arguments(&mut self, arguments: &[Argument]) {
        for argument in arguments {
            match argument {
                Argument::Value(value) => self.read(value),
                Argument::Copy(Var::Global(i), _) => {
                    self.reads.insert(*i);
                }
                Argument::Copy(Var::Local(_), _) | Argument::Arbitrary => {}
            }
        }
    }
}
