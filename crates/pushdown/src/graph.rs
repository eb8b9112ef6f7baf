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
}
