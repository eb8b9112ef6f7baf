//! The order in which the locations of a procedure are executed, with the loops in it.
//!
//! Strong components, one inside the other: a component is a loop, its head is where it is first
//! entered, and the rest of it is ordered in the same way. The engine finds the same loops by
//! another algorithm (`symbolic/nesting.rs`).

use wherefore_program::{LocationId, Procedure};

/// A part of a procedure.
pub(super) enum Part {
    /// A location that is executed once.
    Once(LocationId),
    /// A loop: its head and the rest of it.
    Loop(LocationId, Vec<Part>),
}

/// The parts of a procedure, each before those that it leads to.
pub(super) fn order(procedure: &Procedure) -> Vec<Part> {
    let count = procedure.locations.len();
    let mut graph = Graph { out: vec![Vec::new(); count], into: vec![Vec::new(); count] };
    for edge in &procedure.edges {
        graph.out[edge.from.0 as usize].push(edge.to.0 as usize);
        graph.into[edge.to.0 as usize].push(edge.from.0 as usize);
    }
    graph.parts(&mut vec![true; count], &[procedure.entry.0 as usize])
}

struct Graph {
    out: Vec<Vec<usize>>,
    into: Vec<Vec<usize>>,
}

impl Graph {
    /// The parts of what can be reached from some locations through those that are left. All of it
    /// is taken away.
    fn parts(&self, left: &mut [bool], roots: &[usize]) -> Vec<Part> {
        let (found, finished) = self.search(left, roots);
        let mut number = vec![usize::MAX; left.len()];
        for (at, location) in found.iter().enumerate() {
            number[*location] = at;
        }
        let mut open = vec![false; left.len()];
        found.iter().for_each(|location| open[*location] = true);
        let mut parts = Vec::new();
        // What is finished last comes first; what leads back to it is in one component with it.
        for root in finished.into_iter().rev() {
            if !std::mem::replace(&mut open[root], false) {
                continue;
            }
            let mut component = vec![root];
            let mut next = 0;
            while next < component.len() {
                for from in &self.into[component[next]] {
                    if std::mem::replace(&mut open[*from], false) {
                        component.push(*from);
                    }
                }
                next += 1;
            }
            let head = component.iter().copied().min_by_key(|location| number[*location]).unwrap_or(root);
            if component.len() == 1 && !self.out[head].contains(&head) {
                parts.push(Part::Once(LocationId(head as u32)));
                continue;
            }
            let mut inside = vec![false; left.len()];
            component.iter().for_each(|location| inside[*location] = true);
            inside[head] = false;
            let body = self.parts(&mut inside, &self.out[head]);
            parts.push(Part::Loop(LocationId(head as u32), body));
        }
        parts
    }

    /// A search in depth: locations in the order in which they are found, and in which they are
    /// finished.
    fn search(&self, left: &mut [bool], roots: &[usize]) -> (Vec<usize>, Vec<usize>) {
        let (mut found, mut finished) = (Vec::new(), Vec::new());
        for root in roots {
            if !std::mem::replace(&mut left[*root], false) {
                continue;
            }
            found.push(*root);
            let mut path = vec![(*root, 0)];
            while let Some((at, next)) = path.last_mut() {
                let Some(to) = self.out[*at].get(*next).copied() else {
                    finished.push(*at);
                    path.pop();
                    continue;
                };
                *next += 1;
                if std::mem::replace(&mut left[to], false) {
                    found.push(to);
                    path.push((to, 0));
                }
            }
        }
        (found, finished)
    }
}
