//! Graph algorithms on numbered nodes: strongly connected components, orders, dominators.
//!
//! None of them recurses: graphs here have as many nodes as a system has rules.

/// Strongly connected components, each listed after all components that it leads to.
#[derive(Clone, Debug)]
pub(crate) struct Components {
    /// The nodes, component by component.
    pub order: Vec<u32>,
    /// `order[first[c]..first[c + 1]]` is component `c`.
    pub first: Vec<u32>,
    /// The component of each node.
    pub of: Vec<u32>,
}

/// Tarjan's algorithm, iteratively. `successors` may be asked for a node more than once.
pub(crate) fn components<I>(nodes: usize, successors: impl Fn(usize) -> I) -> Components
where
    I: Iterator<Item = usize>,
{
    const UNSEEN: u32 = u32::MAX;
    let mut index = vec![UNSEEN; nodes];
    let mut low = vec![0u32; nodes];
    let mut of = vec![UNSEEN; nodes];
    let mut stack: Vec<u32> = Vec::new();
    let mut order: Vec<u32> = Vec::with_capacity(nodes);
    let mut first = vec![0u32];
    let mut count = 0u32;
    let mut calls: Vec<(u32, I)> = Vec::new();
    for root in 0..nodes {
        if index[root] != UNSEEN {
            continue;
        }
        index[root] = count;
        low[root] = count;
        count += 1;
        stack.push(root as u32);
        calls.push((root as u32, successors(root)));
        while let Some((node, rest)) = calls.last_mut() {
            let n = *node as usize;
            if let Some(target) = rest.next() {
                if index[target] == UNSEEN {
                    index[target] = count;
                    low[target] = count;
                    count += 1;
                    stack.push(target as u32);
                    calls.push((target as u32, successors(target)));
                } else if of[target] == UNSEEN {
                    low[n] = low[n].min(index[target]);
                }
                continue;
            }
            calls.pop();
            if let Some((parent, _)) = calls.last() {
                let parent = *parent as usize;
                low[parent] = low[parent].min(low[n]);
            }
            if low[n] == index[n] {
                let component = first.len() as u32 - 1;
                while let Some(member) = stack.pop() {
                    of[member as usize] = component;
                    order.push(member);
                    if member as usize == n {
                        break;
                    }
                }
                first.push(order.len() as u32);
            }
        }
    }
    Components { order, first, of }
}

/// For each node its place in a reverse postorder over all nodes: before what it leads to, except
/// along loops.
pub(crate) fn reverse_postorder(nodes: usize, successors: impl Fn(usize, &mut Vec<u32>)) -> Vec<u32> {
    let mut seen = vec![false; nodes];
    let mut place = vec![0; nodes];
    let mut next = nodes as u32;
    let mut open: Vec<(u32, Vec<u32>)> = Vec::new();
    for root in 0..nodes {
        if std::mem::replace(&mut seen[root], true) {
            continue;
        }
        let mut rest = Vec::new();
        successors(root, &mut rest);
        open.push((root as u32, rest));
        while let Some((node, rest)) = open.last_mut() {
            match rest.pop() {
                Some(target) => {
                    if !std::mem::replace(&mut seen[target as usize], true) {
                        let mut rest = Vec::new();
                        successors(target as usize, &mut rest);
                        open.push((target, rest));
                    }
                }
                None => {
                    next -= 1;
                    place[*node as usize] = next;
                    open.pop();
                }
            }
        }
    }
    place
}

/// The dominator tree of a graph with root 0.
#[derive(Clone, Debug)]
pub(crate) struct Dominators {
    /// The nodes that the root reaches, in reverse postorder: parents come before their children.
    pub order: Vec<u32>,
    /// The immediate dominator of each reached node; the root is its own.
    pub parent: Vec<u32>,
    /// Whether the root reaches a node.
    pub reached: Vec<bool>,
}

/// Immediate dominators by iteration over reverse postorder (Cooper, Harvey and Kennedy, 2001).
pub(crate) fn immediate_dominators(
    nodes: usize,
    edges: impl Iterator<Item = (u32, u32)> + Clone,
) -> Dominators {
    let mut first = vec![0u32; nodes + 1];
    edges.clone().for_each(|(from, _)| first[from as usize + 1] += 1);
    for n in 0..nodes {
        first[n + 1] += first[n];
    }
    let mut targets = vec![0u32; first[nodes] as usize];
    let mut fill = first.clone();
    for (from, to) in edges {
        let at = &mut fill[from as usize];
        targets[*at as usize] = to;
        *at += 1;
    }
    let mut reached = vec![false; nodes];
    let mut order = Vec::new();
    let mut open = vec![(0u32, first[0])];
    reached[0] = true;
    while let Some((node, next)) = open.last_mut() {
        if *next < first[*node as usize + 1] {
            let target = targets[*next as usize];
            *next += 1;
            if !std::mem::replace(&mut reached[target as usize], true) {
                open.push((target, first[target as usize]));
            }
        } else {
            order.push(*node);
            open.pop();
        }
    }
    order.reverse();
    const UNKNOWN: u32 = u32::MAX;
    let mut number = vec![UNKNOWN; nodes];
    for (i, v) in order.iter().enumerate() {
        number[*v as usize] = i as u32;
    }
    let mut before: Vec<Vec<u32>> = vec![Vec::new(); order.len()];
    for (i, v) in order.iter().enumerate() {
        let range = first[*v as usize] as usize..first[*v as usize + 1] as usize;
        for target in &targets[range] {
            before[number[*target as usize] as usize].push(i as u32);
        }
    }
    // In numbers of the order from here on.
    let mut idom = vec![UNKNOWN; order.len()];
    idom[0] = 0;
    let mut again = true;
    while again {
        again = false;
        for i in 1..order.len() {
            let mut meet = UNKNOWN;
            for p in before[i].iter().filter(|p| idom[**p as usize] != UNKNOWN) {
                meet = if meet == UNKNOWN { *p } else { common(&idom, meet, *p) };
            }
            if idom[i] != meet {
                idom[i] = meet;
                again = true;
            }
        }
    }
    let mut parent = vec![UNKNOWN; nodes];
    for (i, v) in order.iter().enumerate() {
        parent[*v as usize] = order[idom[i] as usize];
    }
    Dominators { order, parent, reached }
}

fn common(idom: &[u32], mut a: u32, mut b: u32) -> u32 {
    while a != b {
        while a > b {
            a = idom[a as usize];
        }
        while b > a {
            b = idom[b as usize];
        }
    }
    a
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn components_come_after_what_they_lead_to() {
        let edges: &[&[usize]] = &[&[1], &[2], &[0, 3], &[4], &[3], &[0]];
        let parts = components(6, |n| edges[n].iter().copied());
        assert_eq!(parts.first.len() - 1, 3);
        assert_eq!(parts.of[3], parts.of[4]);
        assert_eq!(parts.of[0], parts.of[1]);
        assert!(parts.of[3] < parts.of[0] && parts.of[0] < parts.of[5]);
    }

    #[test]
    fn a_node_behind_two_branches_is_dominated_by_the_fork() {
        // 0 → 1 → {2, 3} → 4 → 1, and 5 is not reached.
        let edges = [(0, 1), (1, 2), (1, 3), (2, 4), (3, 4), (4, 1), (5, 4)];
        let tree = immediate_dominators(6, edges.into_iter());
        assert_eq!(tree.parent[..5], [0, 0, 1, 1, 1]);
        assert!(!tree.reached[5]);
        assert_eq!(tree.order.len(), 5);
    }
}
