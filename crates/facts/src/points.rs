//! The points of a program that lines of its source stand for: a point is before a statement.

use std::collections::BTreeMap;

use wherefore_program::{LocationKind, Node, Program};

use crate::stack::is_start;

/// A line of a file, by the number of the file.
pub type Line = (u32, u32);

/// The points of each line, in the order of the text; several statements have several points.
pub fn points(program: &Program) -> BTreeMap<Line, Vec<Node>> {
    let mut found: BTreeMap<Line, Vec<Node>> = BTreeMap::new();
    for node in program.nodes() {
        let location = program.location(node);
        let is_shown = !matches!(location.kind, LocationKind::Exit | LocationKind::Error);
        if let (true, Some(line)) = (is_shown && !is_start(program, node.procedure), program.line(node)) {
            found.entry((location.span.file.0, line)).or_default().push(node);
        }
    }
    for nodes in found.values_mut() {
        nodes.sort_by_key(|node| (node.procedure, program.location(*node).span.start, rank(program, *node)));
    }
    found
}

/// The first point of a line: before anything on it is executed. Of a loop, that is before its
/// condition, unless the line has statements that are executed once before it.
pub fn first_point(program: &Program, line: Line, nodes: &[Node]) -> Option<Node> {
    let is_here = |node: &Node| {
        program.line(*node) == Some(line.1) && program.location(*node).span.file.0 == line.0
    };
    let from_elsewhere = |node: &&Node| {
        let body = program.procedure(node.procedure);
        body.entry == node.location
            || body.edges.iter().any(|edge| {
                edge.to == node.location
                    && !is_here(&Node { procedure: node.procedure, location: edge.from })
            })
    };
    nodes.iter().find(from_elsewhere).or(nodes.first()).copied()
}

/// The place of a location in its procedure, in the order of execution as far as there is one.
fn rank(program: &Program, node: Node) -> u32 {
    let body = program.procedure(node.procedure);
    let edges = body.edges.iter().map(|edge| (edge.from.0, edge.to.0));
    let graph = wherefore_program::Graph::new(body.locations.len(), edges);
    let order = graph.reverse_postorder(body.entry.0);
    order.iter().position(|location| *location == node.location.0).map_or(u32::MAX, |at| at as u32)
}
