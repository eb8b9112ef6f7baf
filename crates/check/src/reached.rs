//! Whether runs come to a check at all: one that no run comes to holds for this reason alone.
//!
//! The *approach* of a check is the set of locations where it is decided whether it fails: the
//! nearest locations on the way to the error from which a run can still go elsewhere; in the
//! callers, if a procedure can do nothing but fail. If no run comes to the approach, the check is
//! vacuous. The dominators of an approach tell how far runs do come; often that is a contradiction
//! between assumptions.

use std::collections::{BTreeMap, BTreeSet};
use std::sync::Arc;

use wherefore_program::{
    Dominators, ErrorKind, ErrorSite, LocationId, Node, Operation, ProcedureId, Program, State, Task,
};

use crate::budget::Budget;
use crate::engine::{Engine, Session};
use crate::portfolio::{Extent, portfolio};
use crate::single_run::reached_of;
use crate::verdict::{Answer, FailingRun, Proof, Reached, Verdict};

/// Finds, for each check that holds, whether runs come to it, as far as the budget goes.
pub fn mark_reached(
    answer: &mut Answer,
    task: &Task,
    engines: &[Arc<dyn Engine>],
    session: &Session,
    budget: &Budget,
) {
    let callers = callers(&task.program);
    let mut visited: BTreeSet<Node> = BTreeSet::new();
    for run in answer.verdicts.iter().filter_map(Verdict::run) {
        visited.extend(nodes_of(run));
    }
    let mut approaches: BTreeMap<usize, BTreeSet<Node>> = BTreeMap::new();
    for (at, verdict) in answer.verdicts.iter().enumerate() {
        // Rules of the language hold in code that is never run, and this is no mistake.
        let is_rule = matches!(task.checks[at].kind, ErrorKind::Violation(_));
        if verdict.proof().is_some() && !is_rule {
            approaches.insert(at, approach(&task.program, &callers, task.checks[at].node));
        }
    }
    let wanted: BTreeSet<Node> = approaches.values().flatten().copied().collect();
    let question = Question { task, engines, session, budget };
    let unreachable = question.unreachable(wanted, &mut visited);
    for (at, approach) in approaches {
        let reached = if approach.iter().any(|node| visited.contains(node)) {
            Reached::Yes
        } else if !approach.is_empty() && approach.iter().all(|node| unreachable.contains(node)) {
            let beyond = approach.first().and_then(|node| question.last_reached(*node, &mut visited));
            Reached::No { beyond }
        } else {
            Reached::Unknown
        };
        if let Verdict::Safe(Proof { reached: known, .. }) = &mut answer.verdicts[at] {
            *known = reached;
        }
    }
}

/// What is asked, of whom.
struct Question<'a> {
    task: &'a Task,
    engines: &'a [Arc<dyn Engine>],
    session: &'a Session,
    budget: &'a Budget,
}

impl Question<'_> {
    /// Those of some locations that no run comes to. Locations on the runs that are found are added
    /// to `visited`.
    fn unreachable(&self, wanted: BTreeSet<Node>, visited: &mut BTreeSet<Node>) -> BTreeSet<Node> {
        if let Some(reached) = reached_of(self.task, &wanted, self.session, self.budget) {
            let unreachable = wanted.difference(&reached).copied().collect();
            visited.extend(reached);
            return unreachable;
        }
        let mut open: Vec<Node> = wanted.into_iter().filter(|node| !visited.contains(node)).collect();
        while !open.is_empty() && self.budget.stopped().is_none() {
            let site = |node: &Node| ErrorSite { node: *node, kind: ErrorKind::Assertion };
            let task = self.task.with_checks(open.iter().map(site).collect());
            let answer = portfolio(&task, self.engines, Extent::FirstFailure, self.session, self.budget);
            let before = open.len();
            for run in answer.verdicts.iter().filter_map(Verdict::run) {
                visited.extend(nodes_of(run));
            }
            open.retain(|node| !visited.contains(node));
            if open.len() == before {
                let holds = answer.verdicts.iter().all(|verdict| verdict.proof().is_some());
                return if holds { open.into_iter().collect() } else { BTreeSet::new() };
            }
        }
        BTreeSet::new()
    }

    /// The last location on the way to an unreachable one that runs do come to, as far as that is
    /// known.
    fn last_reached(&self, node: Node, visited: &mut BTreeSet<Node>) -> Option<Node> {
        let body = self.task.program.procedure(node.procedure);
        let dominators = Dominators::new(&body.graph(), body.entry.0);
        let mut chain = Vec::new();
        let mut at = Some(node.location.0);
        while let Some(location) = at {
            chain.push(Node { procedure: node.procedure, location: LocationId(location) });
            at = dominators.immediate(location).filter(|above| *above != location);
        }
        self.unreachable(chain.iter().copied().collect(), visited);
        chain.into_iter().find(|node| visited.contains(node))
    }
}

fn nodes_of(run: &FailingRun) -> impl Iterator<Item = Node> {
    run.trace.states().filter_map(State::node)
}

/// For each procedure, the locations where it is called.
fn callers(program: &Program) -> BTreeMap<ProcedureId, BTreeSet<Node>> {
    let mut callers: BTreeMap<ProcedureId, BTreeSet<Node>> = BTreeMap::new();
    for (procedure, body) in program.procedures() {
        for edge in &body.edges {
            if let Operation::Call(call) = &edge.operation {
                callers.entry(call.callee).or_default().insert(Node { procedure, location: edge.from });
            }
        }
    }
    callers
}

/// The nearest locations before an error from which a run can still go elsewhere.
fn approach(
    program: &Program,
    callers: &BTreeMap<ProcedureId, BTreeSet<Node>>,
    error: Node,
) -> BTreeSet<Node> {
    let mut found = BTreeSet::new();
    let mut seen = BTreeSet::from([error]);
    let mut open = vec![error];
    while let Some(node) = open.pop() {
        let body = program.procedure(node.procedure);
        let mut before: BTreeSet<Node> = BTreeSet::new();
        for edge in body.edges.iter().filter(|edge| edge.to == node.location) {
            before.insert(Node { procedure: node.procedure, location: edge.from });
        }
        if node.location == body.entry {
            before.extend(callers.get(&node.procedure).into_iter().flatten());
            if node.procedure == program.entry {
                found.insert(node);
            }
        }
        for node in before {
            let ways = program.procedure(node.procedure).edges_from(node.location).count();
            if ways > 1 {
                found.insert(node);
            } else if seen.insert(node) {
                open.push(node);
            }
        }
    }
    found
}
