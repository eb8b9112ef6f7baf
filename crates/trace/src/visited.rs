//! Which clues a path or run visits, and where.

use wherefore_program::{Node, Program};

use crate::evidence::Evidence;
use crate::lines::counts;

/// Which clues are visited where. Clues are numbered as in [`Clues`](crate::Clues): those that must
/// be visited, those that should be, those in order.
#[derive(Clone, Debug, Default)]
pub struct Visited {
    /// Of each position of the path, the clues.
    at: Vec<(usize, usize)>,
}

impl Visited {
    /// The clues at a position of the path.
    pub fn at(&self, position: usize) -> impl Iterator<Item = usize> + '_ {
        self.at.iter().filter(move |(at, _)| *at == position).map(|(_, clue)| *clue)
    }

    /// Whether a clue is visited.
    pub fn is_visited(&self, clue: usize) -> bool {
        self.at.iter().any(|(_, other)| *other == clue)
    }
}

/// Looks up the clues along the locations of a path.
pub fn visited(evidence: &Evidence, nodes: &[Node]) -> Visited {
    let mut found = Visited::default();
    let unordered = evidence.points().len();
    let mut next = 0usize;
    for (position, node) in nodes.iter().enumerate() {
        let (touched, places) = evidence.at(*node);
        let touched = (0..unordered).filter(|clue| touched & 1 << clue != 0 && !found.is_visited(*clue));
        let touched: Vec<usize> = touched.collect();
        found.at.extend(touched.into_iter().map(|clue| (position, clue)));
        if places.contains(&(next as u8)) {
            found.at.push((position, unordered + next));
            next += 1;
        }
    }
    found
}

/// Whether a location is a step of the source, which counts for the length of a path.
pub fn is_step(program: &Program, node: Node) -> bool {
    counts(program, node)
}
