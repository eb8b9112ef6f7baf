//! Deadlocks as checks: one for each place where a thread may wait for others.
//!
//! A run fails at such a check if it comes to a configuration in which no thread can move and one
//! stands there. This is for languages whose threads wait by conditions (`assume`, guards, atomic
//! sections that cannot be completed). C programs say by themselves whether a thread waits for ever.

use super::dead::has_index;
use crate::program::{Argument, Edge, LocationKind, Node, Operation, Procedure, Program, ThreadStart};
use crate::targets::{ErrorKind, ErrorSite};
use crate::task::Task;
use crate::violation::{Violation, ViolationKind};

impl ErrorSite {
    /// Whether a run fails there not by coming there, but if no thread can move then.
    pub fn is_waiting_place(&self, program: &Program) -> bool {
        self.kind == ErrorKind::Violation(ViolationKind::Deadlock)
            && program.location(self.node).kind != LocationKind::Error
    }
}

impl Task {
    /// The same task, which asks about deadlocks only.
    pub fn with_deadlock_checks(self) -> Task {
        let mut program = (*self.program).clone();
        let mut checks = Vec::new();
        for node in self.program.nodes() {
            let procedure = self.program.procedure(node.procedure);
            if !may_wait(procedure, node) {
                continue;
            }
            let location =
                &mut program.procedures[node.procedure.0 as usize].locations[node.location.0 as usize];
            location.violation = Some(Box::new(Violation {
                kind: ViolationKind::Deadlock,
                subject: location.span,
                text: "waits for ever: no thread can move".to_owned(),
                shown: Vec::new(),
                messages: None,
            }));
            checks.push(ErrorSite { node, kind: ErrorKind::Violation(ViolationKind::Deadlock) });
        }
        Task { program: program.into(), checks, ..self }
    }
}

/// Whether a thread may find no step there. Branches on a condition and its negation have one.
fn may_wait(procedure: &Procedure, node: Node) -> bool {
    let edges: Vec<&Edge> = procedure.edges_from(node.location).map(|(_, edge)| edge).collect();
    let location = procedure.location(node.location);
    if edges.is_empty() {
        return node.location != procedure.exit && location.kind != LocationKind::Error;
    }
    if let [a, b] = edges[..] {
        if let (Operation::Assume(a), Operation::Assume(b)) = (&a.operation, &b.operation) {
            if !has_index(a) && (a.clone().not() == *b || b.clone().not() == *a) {
                return false;
            }
        }
    }
    edges.iter().all(|edge| may_block(&edge.operation))
}

/// Whether a step may be impossible in some state.
fn may_block(operation: &Operation) -> bool {
    let argument = |argument: &Argument| matches!(argument, Argument::Value(value) if has_index(value));
    match operation {
        Operation::Assume(condition) => condition.as_constant() != Some(1),
        Operation::Assign(part) => {
            part.constraint.is_some()
                || part.values.iter().any(has_index)
                || part.targets.iter().any(|target| !target.indices.is_empty())
        }
        Operation::Havoc(targets) => targets.iter().any(|target| !target.indices.is_empty()),
        Operation::Call(call) => {
            call.assignment.constraint.is_some()
                || call.arguments.iter().any(argument)
                || call.assignment.values.iter().any(has_index)
                || call
                    .results
                    .iter()
                    .flatten()
                    .chain(&call.assignment.targets)
                    .any(|t| !t.indices.is_empty())
        }
        Operation::Return(values) => values.iter().any(has_index),
        Operation::StartThread(ThreadStart::Call { arguments, .. }) => arguments.iter().any(argument),
        // A section that cannot be completed is not entered.
        Operation::AtomicBegin | Operation::Sync => true,
        Operation::Skip
        | Operation::StartThread(ThreadStart::At(_))
        | Operation::EndThread
        | Operation::AtomicEnd => false,
    }
}
