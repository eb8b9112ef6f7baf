//! Directed graphs over small numbers, and what the static facts need from them.

/// A directed graph with nodes 0, 1, …
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Graph {
    successors: Vec<Vec<u32>>,
    predecessors: Vec<Vec<u32>>,
}

impl Graph {
    /// A graph with `nodes` nodes.
    pub fn new(nodes: usize, edges: impl IntoIterator<Item = (u32, u32)>) -> Self {
        let mut graph = Self { successors: vec![Vec::new(); nodes], predecessors: vec![Vec::new(); nodes] };
        for (from, to) in edges {
            graph.successors[from as usize].push(to);
            graph.predecessors[to as usize].push(from);
        }
        for neighbours in graph.successors.iter_mut().chain(&mut graph.predecessors) {
            neighbours.sort_unstable();
            neighbours.dedup();
        }
        graph
    }

    /// How many nodes there are.
    pub fn len(&self) -> usize {
        self.successors.len()
    }

    /// Whether there are no nodes.
    pub fn is_empty(&self) -> bool {
        self.successors.is_empty()
    }

    /// Where edges from a node lead, sorted.
    pub fn successors(&self, node: u32) -> &[u32] {
        &self.successors[node as usize]
    }

    /// Where edges to a node start, sorted.
    pub fn predecessors(&self, node: u32) -> &[u32] {
        &self.predecessors[node as usize]
    }

    /// The graph with all edges turned round.
    pub fn reversed(&self) -> Graph {
        Graph { successors: self.predecessors.clone(), predecessors: self.successors.clone() }
    }

    /// The nodes that can be reached from `root`, in reverse postorder of a depth-first search.
    pub fn reverse_postorder(&self, root: u32) -> Vec<u32> {
        let mut seen = vec![false; self.len()];
        let mut order = Vec::new();
        let mut stack = vec![(root, 0)];
        seen[root as usize] = true;
        while let Some((node, next)) = stack.last_mut() {
            match self.successors[*node as usize].get(*next) {
                Some(successor) => {
                    *next += 1;
                    if !std::mem::replace(&mut seen[*successor as usize], true) {
                        stack.push((*successor, 0));
                    }
                }
                None => {
                    order.push(*node);
                    stack.pop();
                }
            }
        }
        order.reverse();
        order
    }

    /// The strongly connected components, each sorted, callees before callers: a component comes
    /// after all that it has edges to. Tarjan's algorithm without recursion.
    pub fn components(&self) -> Vec<Vec<u32>> {
        const NEW: u32 = u32::MAX;
        let mut index = vec![NEW; self.len()];
        let mut low = vec![0; self.len()];
        let mut waiting = vec![false; self.len()];
        let (mut path, mut components, mut count) = (Vec::new(), Vec::new(), 0);
        for root in 0..self.len() as u32 {
            if index[root as usize] != NEW {
                continue;
            }
            let mut stack = vec![(root, 0)];
            while let Some(&mut (node, ref mut next)) = stack.last_mut() {
                let n = node as usize;
                if *next == 0 && index[n] == NEW {
                    (index[n], low[n], waiting[n]) = (count, count, true);
                    count += 1;
                    path.push(node);
                }
                if let Some(&successor) = self.successors[n].get(*next) {
                    *next += 1;
                    let s = successor as usize;
                    if index[s] == NEW {
                        stack.push((successor, 0));
                    } else if waiting[s] {
                        low[n] = low[n].min(index[s]);
                    }
                    continue;
                }
                stack.pop();
                if let Some((parent, _)) = stack.last() {
                    low[*parent as usize] = low[*parent as usize].min(low[n]);
                }
                if low[n] == index[n] {
                    let at = path.iter().rposition(|other| *other == node).expect("the node is on the path");
                    let mut component = path.split_off(at);
                    component.iter().for_each(|member| waiting[*member as usize] = false);
                    component.sort_unstable();
                    components.push(component);
                }
            }
        }
        components
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn components_come_callees_first() {
        let graph = Graph::new(6, [(0, 1), (1, 2), (2, 1), (2, 3), (4, 4), (0, 4)]);
        assert_eq!(graph.components(), [vec![3], vec![1, 2], vec![4], vec![0], vec![5]]);
    }

    #[test]
    fn reverse_postorder_leaves_out_what_is_not_reached() {
        let graph = Graph::new(4, [(0, 1), (0, 2), (1, 2), (3, 0)]);
        assert_eq!(graph.reverse_postorder(0), [0, 1, 2]);
    }

    #[test]
    fn long_chains_do_not_overflow_the_stack() {
        let graph = Graph::new(200_000, (0..199_999).map(|i| (i, i + 1)));
        assert_eq!(graph.components().len(), 200_000);
        assert_eq!(graph.reverse_postorder(0).len(), 200_000);
    }
}
