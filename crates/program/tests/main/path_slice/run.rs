//! What a program does from one state.

use std::collections::BTreeMap;

use wherefore_program::*;

/// How runs from a state end.
#[derive(Clone, Copy, Debug, Default, PartialEq)]
pub struct Ends {
    /// Some run comes to the target.
    pub target: bool,
    /// Some run comes to the end of the program, or to an error of the first procedure.
    pub end: bool,
    /// Some run is stuck elsewhere.
    pub stuck: bool,
    /// Some run goes on for ever.
    pub endless: bool,
}

/// Where a path ends: none if the program has ended.
pub fn end_of(program: &Program, path: &[EdgeRef]) -> Option<Node> {
    let mut stack = Vec::new();
    let entry = program.procedure(program.entry).entry;
    let mut at = Some(Node { procedure: program.entry, location: entry });
    for reference in path {
        let edge = program.edge(*reference);
        at = match &edge.operation {
            Operation::Call(call) => {
                stack.push(Node { procedure: reference.procedure, location: edge.to });
                let location = program.procedure(call.callee).entry;
                Some(Node { procedure: call.callee, location })
            }
            Operation::Return(_) => stack.pop(),
            _ => Some(Node { procedure: reference.procedure, location: edge.to }),
        };
    }
    at
}

/// How many configurations are looked at, and how deep a stack may be.
const LIMITS: (usize, usize) = (600, 8);

/// Looks at all runs from a state; none if there are too many configurations.
pub fn ends(interpreter: &Interpreter<'_>, start: &State, target: Option<Node>) -> Option<Ends> {
    let program = interpreter.program();
    let main = program.procedure(program.entry);
    let mut ids = BTreeMap::from([(start.clone(), 0)]);
    let mut states = vec![start.clone()];
    let (mut edges, mut ends) = (Vec::new(), Ends::default());
    let mut next = 0;
    while next < states.len() {
        let state = states[next].clone();
        ends.target |= state.node() == target;
        let (found, extent) = interpreter.successors(&state, 1 << 12);
        if extent == Extent::Cut {
            return None;
        }
        let last = state.stack.len() == 1 && main.edges_from(state.stack[0].location).next().is_none();
        let over = state.stack.is_empty() || last;
        ends.end |= over;
        ends.stuck |= found.is_empty() && !over;
        for (_, after) in found {
            let id = *ids.entry(after.clone()).or_insert_with(|| {
                states.push(after);
                states.len() as u32 - 1
            });
            edges.push((next as u32, id));
        }
        next += 1;
        if states.len() > LIMITS.0 || state.stack.len() > LIMITS.1 {
            return None;
        }
    }
    let graph = Graph::new(states.len(), edges.iter().copied());
    ends.endless =
        edges.iter().any(|(from, to)| from == to) || graph.components().iter().any(|c| c.len() > 1);
    Some(ends)
}
