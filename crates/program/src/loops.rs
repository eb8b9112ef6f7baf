//! Natural loops of a procedure.

use std::collections::{BTreeMap, BTreeSet};

use crate::dominators::Dominators;
use crate::graph::Graph;

/// A loop with one head: the head dominates the body, and the body leads back to it.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct NaturalLoop {
    /// Where the loop is entered.
    pub head: u32,
    /// All its nodes, the head included.
    pub body: BTreeSet<u32>,
    /// The nodes with an edge back to the head.
    pub latches: Vec<u32>,
}

/// The natural loops of a graph, one for each head, sorted by head. A cycle that can be entered in
/// two places is none.
pub fn natural_loops(graph: &Graph, root: u32) -> Vec<NaturalLoop> {
    let dominators = Dominators::new(graph, root);
    let mut latches: BTreeMap<u32, Vec<u32>> = BTreeMap::new();
    let mut reached = graph.reverse_postorder(root);
    reached.sort_unstable();
    for &node in &reached {
        for &head in graph.successors(node) {
            if dominators.dominates(head, node) {
                latches.entry(head).or_default().push(node);
            }
        }
    }
    let body = |head: u32, latches: &[u32]| {
        let mut body = BTreeSet::from([head]);
        let mut work = latches.to_vec();
        while let Some(node) = work.pop() {
            if reached.binary_search(&node).is_ok() && body.insert(node) {
                work.extend(graph.predecessors(node));
            }
        }
        body
    };
    latches
        .into_iter()
        .map(|(head, latches)| NaturalLoop { head, body: body(head, &latches), latches })
        .collect()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn nested_loops_share_nodes_and_two_latches_make_one_loop() {
        // outer: 1..5 with head 1; inner: 2, 3 with head 2
        let edges = [(0, 1), (1, 2), (2, 3), (3, 2), (3, 4), (4, 1), (4, 5), (5, 1), (1, 6)];
        let loops = natural_loops(&Graph::new(7, edges), 0);
        assert_eq!(loops.len(), 2);
        assert_eq!((loops[0].head, &loops[0].latches[..]), (1, &[4, 5][..]));
        assert_eq!(loops[0].body, BTreeSet::from([1, 2, 3, 4, 5]));
        assert_eq!((loops[1].head, loops[1].body.clone()), (2, BTreeSet::from([2, 3])));
    }

    #[test]
    fn a_cycle_with_two_entrances_is_no_natural_loop() {
        assert_eq!(natural_loops(&Graph::new(3, [(0, 1), (0, 2), (1, 2), (2, 1)]), 0), []);
    }
}
