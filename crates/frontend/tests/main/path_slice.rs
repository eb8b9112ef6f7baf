//! The slice of a path of a C program: the unchecked stream of the document's §5.

use std::collections::{BTreeMap, BTreeSet, VecDeque};

use wherefore_frontend::c::{Options, Property, translate_text};
use wherefore_program::*;

const TEXT: &str = include_str!("../cases/fig4-popen/main.c");

/// A shortest path along the edges to an error of a line, whatever the data say, among those that
/// avoid a procedure.
fn path_to(program: &Program, line: u32, avoid: &str) -> Vec<EdgeRef> {
    let targets = program.targets(&TargetChoice::Default).expect("the default always exists");
    let here = |stack: &[Node]| stack.last().is_some_and(|top| targets.iter().any(|t| t.node == *top));
    let entry = Node { procedure: program.entry, location: program.procedure(program.entry).entry };
    let mut before: BTreeMap<Vec<Node>, Option<(Vec<Node>, EdgeRef)>> = BTreeMap::from([(vec![entry], None)]);
    let mut queue = VecDeque::from([vec![entry]]);
    while let Some(stack) = queue.pop_front() {
        let top = *stack.last().expect("a frame");
        if here(&stack) && program.line(top) == Some(line) {
            let (mut path, mut at) = (Vec::new(), stack);
            while let Some((earlier, edge)) = before[&at].clone() {
                path.push(edge);
                at = earlier;
            }
            path.reverse();
            return path;
        }
        for (edge, step) in program.procedure(top.procedure).edges_from(top.location) {
            let mut next = stack.clone();
            next.pop();
            next.push(Node { location: step.to, ..top });
            match &step.operation {
                Operation::Call(call) if program.procedure(call.callee).name != avoid => {
                    let location = program.procedure(call.callee).entry;
                    next.push(Node { procedure: call.callee, location });
                }
                Operation::Call(_) => continue,
                Operation::Return(_) => drop(next.pop()),
                _ => {}
            }
            if !next.is_empty() && !before.contains_key(&next) {
                let reference = EdgeRef { procedure: top.procedure, edge };
                before.insert(next.clone(), Some((stack.clone(), reference)));
                queue.push_back(next);
            }
        }
    }
    panic!("no path");
}

#[test]
fn the_slice_of_the_unchecked_stream_has_the_state_the_failing_branch_and_the_check() {
    let property = Property::Calls(vec!["reach_error".to_owned()]);
    let options = Options { property, ..Options::default() };
    let translation = translate_text("main.c", TEXT, &options).expect("it translates");
    let program = &translation.program;
    let path = path_to(program, 12, "checked");
    let slice = PathSlicer::new(program).slice(&path).expect("a path");
    let text = slice.show(program, &path);
    let line = |edge: EdgeRef| {
        let from = program.edge(edge).from;
        program.line(Node { procedure: edge.procedure, location: from }).expect("a line")
    };
    let conditions_and_assignments: BTreeSet<u32> = slice
        .edges(&path)
        .filter(|edge| !matches!(program.edge(*edge).operation, Operation::Call(_) | Operation::Return(_)))
        .map(line)
        .collect();
    // The case lists 7, 12 and 27. The branch at 28 chooses the caller: it can go round the call,
    // so it is taken, too. The value that 7 tests is the one that 5 makes.
    assert_eq!(conditions_and_assignments.into_iter().collect::<Vec<_>>(), [5, 7, 12, 27, 28], "{text}");
}
