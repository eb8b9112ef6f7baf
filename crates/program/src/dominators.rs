//! Dominators and postdominators of a procedure.
//!
//! Cooper, Harvey and Kennedy, *A simple, fast dominance algorithm*: the immediate dominators are
//! the fixed point of intersecting the dominators of predecessors in reverse postorder.

use crate::graph::Graph;
use crate::program::{LocationId, Procedure};

/// The dominator tree of the part of a graph that is reached from a root.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Dominators {
    root: u32,
    immediate: Vec<Option<u32>>,
}

impl Dominators {
    /// The dominators from a root.
    pub fn new(graph: &Graph, root: u32) -> Self {
        let order = graph.reverse_postorder(root);
        let mut rank = vec![usize::MAX; graph.len()];
        order.iter().enumerate().for_each(|(i, node)| rank[*node as usize] = i);
        let mut immediate: Vec<Option<u32>> = vec![None; graph.len()];
        immediate[root as usize] = Some(root);
        let mut changed = true;
        while changed {
            changed = false;
            for &node in &order[1..] {
                let known = graph.predecessors(node).iter().copied();
                let mut known = known.filter(|before| immediate[*before as usize].is_some());
                let Some(mut meet) = known.next() else { continue };
                for mut other in known {
                    while meet != other {
                        let later =
                            if rank[meet as usize] > rank[other as usize] { &mut meet } else { &mut other };
                        *later = immediate[*later as usize].expect("a known node has a known dominator");
                    }
                }
                if immediate[node as usize] != Some(meet) {
                    immediate[node as usize] = Some(meet);
                    changed = true;
                }
            }
        }
        Self { root, immediate }
    }

    /// The closest node that every way from the root to `node` goes through, itself left out; none
    /// for the root and for nodes that are not reached.
    pub fn immediate(&self, node: u32) -> Option<u32> {
        self.immediate[node as usize].filter(|_| node != self.root)
    }

    /// Whether every way from the root to `b` goes through `a`. A node that is not reached is
    /// dominated by itself only.
    pub fn dominates(&self, a: u32, b: u32) -> bool {
        let mut at = Some(b);
        while let Some(node) = at {
            if node == a {
                return true;
            }
            at = self.immediate(node);
        }
        false
    }
}

impl Procedure {
    /// The control-flow graph: locations and edges without what they do.
    pub fn graph(&self) -> Graph {
        Graph::new(self.locations.len(), self.edges.iter().map(|edge| (edge.from.0, edge.to.0)))
    }

    /// Which locations every way from the entry goes through.
    pub fn dominators(&self) -> Dominators {
        Dominators::new(&self.graph(), self.entry.0)
    }

    /// Which locations every way to the exit goes through. Locations that cannot get there, errors
    /// among them, have none.
    pub fn postdominators(&self) -> Dominators {
        Dominators::new(&self.graph().reversed(), self.exit.0)
    }

    /// The natural loops; see [`loops`](crate::loops).
    pub fn loops(&self) -> Vec<crate::loops::NaturalLoop> {
        crate::loops::natural_loops(&self.graph(), self.entry.0)
    }
}

impl From<LocationId> for u32 {
    fn from(location: LocationId) -> u32 {
        location.0
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_join_is_dominated_by_the_branch_and_not_by_its_sides() {
        // 0 -> 1 -> {2, 3} -> 4 -> 1, 4 -> 5; 6 is not reached
        let graph = Graph::new(7, [(0, 1), (1, 2), (1, 3), (2, 4), (3, 4), (4, 1), (4, 5), (6, 4)]);
        let dominators = Dominators::new(&graph, 0);
        let immediate: Vec<_> = (0..7).map(|node| dominators.immediate(node)).collect();
        assert_eq!(immediate, [None, Some(0), Some(1), Some(1), Some(1), Some(4), None]);
        assert!(dominators.dominates(1, 5) && !dominators.dominates(2, 4) && dominators.dominates(6, 6));
        let post = Dominators::new(&graph.reversed(), 5);
        assert_eq!(post.immediate(1), Some(4));
        assert_eq!(post.immediate(6), Some(4));
    }

    #[test]
    fn irreducible_graphs_have_dominators_too() {
        let graph = Graph::new(4, [(0, 1), (0, 2), (1, 2), (2, 1), (1, 3)]);
        let dominators = Dominators::new(&graph, 0);
        assert_eq!([1, 2, 3].map(|node| dominators.immediate(node)), [Some(0), Some(0), Some(1)]);
    }
}
