//! Whether a program always fails: no run ends without failing.
//!
//! Only if this is proved may a report say that a failure needs nothing of the inputs. A run can
//! end well at the end of the outermost procedure, or at a location that has no step, or only a
//! step that is never taken: a call of `exit`.

use std::sync::Arc;

use wherefore_check::{Budget, Extent, Overall, Question, Session, portfolio};
use wherefore_program::{ErrorKind, ErrorSite, LocationKind, Node, Operation, Procedure, Program, Task};

use crate::variant::{good_end, without_failures};

/// Whether it is proved that no run ends without failing.
pub(crate) fn always_fails(task: &Task, budget: &Budget) -> bool {
    let Some(end) = good_end(&task.program) else { return false };
    let variant = without_failures(&task.program, &task.checks);
    let mut checks = vec![end];
    checks.extend(other_ends(&task.program, &task.checks));
    let asked = Task { program: Arc::new(variant), checks, ..task.clone() };
    let engines = Question::default().engines(&asked);
    let answer = portfolio(&asked, &engines, Extent::FirstFailure, &Session::default(), budget);
    matches!(answer.decision(), Overall::Safe)
}

/// Locations where a run ends within a procedure, and that are no errors.
fn other_ends(program: &Program, checks: &[ErrorSite]) -> Vec<ErrorSite> {
    let is_check = |node: &Node| checks.iter().any(|site| site.node == *node);
    let ends = program.nodes().filter(|node| {
        let body = program.procedure(node.procedure);
        let kind = body.location(node.location).kind;
        kind != LocationKind::Error && node.location != body.exit && !is_check(node) && is_stuck(body, *node)
    });
    ends.map(|node| ErrorSite { node, kind: ErrorKind::Label("end".to_owned()) }).collect()
}

fn is_stuck(body: &Procedure, node: Node) -> bool {
    body.edges_from(node.location).all(|(_, edge)| match &edge.operation {
        Operation::Assume(condition) => condition.as_constant() == Some(0),
        _ => false,
    })
}
