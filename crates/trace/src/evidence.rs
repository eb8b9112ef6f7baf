//! What is known of a run besides its stack: lines that it visits, in some order, and lines that it
//! does not.

use wherefore_program::{Node, Program};

use crate::lines::{counts, entered, files};
use crate::visits::{Way, Ways};

/// A line of a file, by name.
pub type Place = (String, u32);

/// How many lines without an order are weighed at most: weights grow exponentially with them.
pub const MOST_LINES: usize = 12;

/// How many lines in order are followed at most.
pub const MOST_IN_ORDER: usize = 24;

/// Something that a run visits: one of some lines.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Clue {
    /// The lines.
    pub places: Vec<Place>,
    /// Who says so.
    pub origin: Origin,
}

/// Where a clue is from.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Origin {
    /// The user has named the line.
    Named,
    /// The line was run.
    Coverage,
    /// A line of a log, by its number.
    Log(u32),
}

/// All clues.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Clues {
    /// Must be visited.
    pub must: Vec<Clue>,
    /// Should be visited: as many as possible.
    pub should: Vec<Clue>,
    /// Are visited one after the other.
    pub order: Vec<Clue>,
    /// Whether all of them must be, or as many as possible.
    pub order_is_must: bool,
    /// Lines that are not visited.
    pub never: Vec<Place>,
}

/// The clues as locations of a program.
#[derive(Clone, Debug, Default)]
pub struct Evidence {
    /// What may be touched without an order; the first ones must be.
    points: Vec<Vec<Node>>,
    must: usize,
    order: Vec<Vec<Node>>,
    order_is_must: bool,
    /// Locations that no path leaves.
    pub(crate) never: Vec<Node>,
}

impl Evidence {
    /// The locations of the clues. Lines of the stack (`kept`) are visited, whatever the clues say.
    pub fn new(program: &Program, clues: &Clues, kept: &[Node]) -> Self {
        let points =
            clues.must.iter().chain(&clues.should).map(|clue| nodes(program, &clue.places)).collect();
        let order = clues.order.iter().map(|clue| nodes(program, &clue.places)).collect();
        let mut never = all_at(program, &clues.never);
        never.retain(|node| !kept.contains(node));
        Self { points, must: clues.must.len(), order, order_is_must: clues.order_is_must, never }
    }

    /// How many clues have an order.
    pub(crate) fn ordered(&self) -> u8 {
        self.order.len() as u8
    }

    /// What a location touches: clues without an order, and at which places of the order it is the
    /// next.
    pub(crate) fn at(&self, node: Node) -> (u32, Vec<u8>) {
        let touched = self.points.iter().enumerate().filter(|(_, nodes)| nodes.contains(&node));
        let touched = touched.fold(0, |set, (i, _)| set | 1 << i);
        let next = self.order.iter().enumerate().filter(|(_, nodes)| nodes.contains(&node));
        (touched, next.map(|(i, _)| i as u8).collect())
    }

    /// The locations of the clues without an order, those that must be visited first.
    pub fn points(&self) -> &[Vec<Node>] {
        &self.points
    }

    /// The locations of the clues with an order.
    pub fn in_order(&self) -> &[Vec<Node>] {
        &self.order
    }

    /// Whether a way touches what it must.
    pub fn is_enough(&self, way: &Way) -> bool {
        let must = (1u32 << self.must) - 1;
        way.from == 0 && way.touched & must == must && (!self.order_is_must || way.to == self.ordered())
    }

    /// The way that visits no more than it must.
    pub(crate) fn least(&self) -> Way {
        let to = if self.order_is_must { self.ordered() } else { 0 };
        Way { from: 0, to, touched: (1u32 << self.must) - 1, cost: u64::MAX }
    }

    /// The best of some ways: it touches what it must, most of the rest, and is the shortest of
    /// these.
    pub fn best(&self, ways: &Ways) -> Option<Way> {
        let enough = ways.iter().filter(|way| self.is_enough(way)).copied();
        enough.min_by_key(|way| {
            let count = way.to as u32 + way.touched.count_ones();
            (std::cmp::Reverse(count), way.cost, way.touched)
        })
    }
}

/// The locations where runs come to one of some lines.
fn nodes(program: &Program, places: &[Place]) -> Vec<Node> {
    let mut found: Vec<Node> = places
        .iter()
        .flat_map(|(file, line)| {
            files(program, file).into_iter().flat_map(|file| entered(program, (file, *line)))
        })
        .collect();
    found.sort_unstable();
    found.dedup();
    found
}

/// All steps on some lines.
fn all_at(program: &Program, places: &[Place]) -> Vec<Node> {
    let mut lines: Vec<(u32, u32)> = Vec::new();
    for (file, line) in places {
        lines.extend(files(program, file).into_iter().map(|file| (file, *line)));
    }
    lines.sort_unstable();
    let is_listed = |node: &Node| {
        crate::lines::line_of(program, *node).is_some_and(|line| lines.binary_search(&line).is_ok())
    };
    program.nodes().filter(|node| is_listed(node) && counts(program, *node)).collect()
}

/// Whether some step of the program is on a line.
pub fn has_steps(program: &Program, place: &Place) -> bool {
    !nodes(program, std::slice::from_ref(place)).is_empty()
}
