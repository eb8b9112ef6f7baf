//! Which locations can bypass which: *By* of \[PathSlice\] §3.3 and §4.1.
//!
//! A location can bypass another if it can reach the exit of the procedure without visiting it: if
//! the other does not postdominate it. Locations that cannot reach the exit get an edge to it
//! first, as the document says. The tree of postdominators is numbered in depth-first order, so
//! that a question is two comparisons.

use super::Stops;
use crate::dominators::Dominators;
use crate::graph::Graph;
use crate::program::{Edge, LocationId, LocationKind, Procedure};

/// The postdominators of one procedure.
#[derive(Debug)]
pub(super) struct Bypass {
    /// When the depth-first search entered and left each location.
    visit: Vec<(u32, u32)>,
}

impl Bypass {
    /// Prepares a procedure; `stopping` are more locations where a run may end.
    pub(super) fn new(
        procedure: &Procedure,
        stopping: impl Iterator<Item = LocationId>,
        stops: Stops,
    ) -> Self {
        let exit = procedure.exit.0;
        let graph = procedure.graph();
        let mut reaches = vec![false; graph.len()];
        graph.reversed().reverse_postorder(exit).iter().for_each(|at| reaches[*at as usize] = true);
        // A failed check is no way round what comes after it, if errors are not; the other side of
        // a branch is one, whatever is there. A broken rule of the language never is.
        let checks = |edge: &Edge| procedure.location(edge.from).kind == LocationKind::Assert;
        let fails = |edge: &Edge| {
            let to = procedure.location(edge.to);
            let is_error = to.kind == LocationKind::Error;
            is_error && (stops == Stops::ErrorsLikeLoops || to.violation.is_some())
        };
        let failed = procedure.edges.iter().filter(|edge| checks(edge) && fails(edge));
        failed.for_each(|edge| reaches[edge.to.0 as usize] = true);
        let lost = procedure.location_ids().filter(|at| !reaches[at.0 as usize]);
        let ends = lost.chain(stopping).filter(|at| at.0 != exit).map(|at| (at.0, exit));
        let real = procedure.edges.iter().map(|edge| (edge.from.0, edge.to.0));
        let graph = Graph::new(graph.len(), real.chain(ends));
        let tree = Dominators::new(&graph.reversed(), exit);
        Self { visit: number(&tree, graph.len(), exit) }
    }

    /// Whether a run at `from` may end without visiting `step`: `from ∈ By.step`.
    pub(super) fn can_bypass(&self, from: LocationId, step: LocationId) -> bool {
        let ((enter, leave), (first, last)) = (self.visit[from.0 as usize], self.visit[step.0 as usize]);
        !(first <= enter && leave <= last)
    }
}

/// Entry and exit times of a depth-first search of the tree.
fn number(tree: &Dominators, count: usize, root: u32) -> Vec<(u32, u32)> {
    let mut children = vec![Vec::new(); count];
    for node in 0..count as u32 {
        if let Some(parent) = tree.immediate(node) {
            children[parent as usize].push(node);
        }
    }
    let mut visit = vec![(0, 0); count];
    let mut time = 0;
    let mut stack = vec![(root, 0)];
    while let Some((node, next)) = stack.last_mut() {
        if *next == 0 {
            time += 1;
            visit[*node as usize].0 = time;
        }
        match children[*node as usize].get(*next) {
            Some(child) => {
                *next += 1;
                stack.push((*child, 0));
            }
            None => {
                time += 1;
                visit[*node as usize].1 = time;
                stack.pop();
            }
        }
    }
    visit
}
