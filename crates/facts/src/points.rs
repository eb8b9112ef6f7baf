//! The points of a program that lines of its source stand for: a point is before a statement.

use std::collections::BTreeMap;

use wherefore_program::{Graph, LocationKind, Node, Program};

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
    let ranks = ranks(program);
    let rank = |node: &Node| ranks[node.procedure.0 as usize][node.location.0 as usize];
    for nodes in found.values_mut() {
        nodes.sort_by_key(|node| (node.procedure, program.location(*node).span.start, rank(node)));
    }
    found
}

/// The first point of a line: before anything on it is executed. Of a loop, that is before its
/// condition, unless the line has statements that are executed once before it.
pub fn first_point(program: &Program, line: Line, nodes: &[Node]) -> Option<Node> {
    let is_here =
        |node: &Node| program.line(*node) == Some(line.1) && program.location(*node).span.file.0 == line.0;
    let from_elsewhere = |node: &&Node| {
        let body = program.procedure(node.procedure);
        body.entry == node.location
            || body.edges.iter().any(|edge| {
                edge.to == node.location && !is_here(&Node { procedure: node.procedure, location: edge.from })
            })
    };
    nodes.iter().find(from_elsewhere).or(nodes.first()).copied()
}

/// The place of each location in its procedure, in the order of execution as far as there is one.
fn ranks(program: &Program) -> Vec<Vec<u32>> {
    let ranks = program.procedures.iter().map(|body| {
        let edges = body.edges.iter().map(|edge| (edge.from.0, edge.to.0));
        let graph = Graph::new(body.locations.len(), edges);
        let mut ranks = vec![u32::MAX; body.locations.len()];
        for (at, location) in graph.reverse_postorder(body.entry.0).into_iter().enumerate() {
            ranks[location as usize] = at as u32;
        }
        ranks
    });
    ranks.collect()
}
