//! The nesting of loops in a flat program: a weak topological order (Bourdoncle, 1993).
//!
//! Every cycle passes the head of some component; edges to a head from inside its component are the only ones that go
//! back in the order. Irreducible loops are no exception.

use super::flat::{Flat, PlaceId};

/// A part of the order.
pub(crate) enum Part {
    /// A place on no cycle of this level.
    Place(PlaceId),
    /// A loop: its head, then the rest of its body.
    Loop(PlaceId, Vec<Part>),
}

impl Part {
    /// All places, in order.
    pub fn places(&self, visit: &mut impl FnMut(PlaceId)) {
        match self {
            Part::Place(place) => visit(*place),
            Part::Loop(head, body) => {
                visit(*head);
                body.iter().for_each(|part| part.places(visit));
            }
        }
    }
}

/// The order of all places that can be reached from the start.
pub(crate) fn nesting(flat: &Flat<'_>) -> Vec<Part> {
    let count = flat.places.len();
    let mut search = Search { flat, number: vec![0; count], stack: Vec::new(), counter: 0 };
    let mut order = Vec::new();
    search.visit(flat.start, &mut order);
    order.reverse();
    order
}

/// Tarjan's algorithm, applied again inside each component without its head. `DONE` marks places that are in order.
struct Search<'f, 'a> {
    flat: &'f Flat<'a>,
    number: Vec<u32>,
    stack: Vec<PlaceId>,
    counter: u32,
}

const DONE: u32 = u32::MAX;

/// An open call of the search.
struct Open {
    place: PlaceId,
    next: usize,
    low: u32,
    in_loop: bool,
}

impl Search<'_, '_> {
    /// Adds the order of what can be reached from `root` to `order`, the last part first.
    fn visit(&mut self, root: PlaceId, order: &mut Vec<Part>) {
        let mut open = vec![self.enter(root)];
        while let Some(top) = open.last_mut() {
            let edges = &self.flat.out[top.place as usize];
            if let Some(edge) = edges.get(top.next) {
                top.next += 1;
                let to = self.flat.edges[*edge as usize].to;
                match self.number[to as usize] {
                    0 => {
                        let entered = self.enter(to);
                        open.push(entered);
                    }
                    low if low != DONE && low <= top.low => {
                        top.low = low;
                        top.in_loop = true;
                    }
                    _ => {}
                }
                continue;
            }
            let Some(Open { place, low, in_loop, .. }) = open.pop() else { break };
            let is_root = low == self.number[place as usize];
            if is_root {
                self.number[place as usize] = DONE;
                let mut member = self.stack.pop();
                if in_loop {
                    while let Some(other) = member.filter(|other| *other != place) {
                        self.number[other as usize] = 0;
                        member = self.stack.pop();
                    }
                    order.push(self.component(place));
                } else {
                    order.push(Part::Place(place));
                }
            }
            if let Some(parent) = open.last_mut() {
                if !is_root && low <= parent.low {
                    parent.low = low;
                    parent.in_loop = true;
                }
            }
        }
    }

    fn enter(&mut self, place: PlaceId) -> Open {
        self.counter += 1;
        self.number[place as usize] = self.counter;
        self.stack.push(place);
        Open { place, next: 0, low: self.counter, in_loop: false }
    }

    /// The loop with this head: its body in order.
    fn component(&mut self, head: PlaceId) -> Part {
        let mut body = Vec::new();
        for edge in &self.flat.out[head as usize] {
            let to = self.flat.edges[*edge as usize].to;
            if self.number[to as usize] == 0 {
                self.visit(to, &mut body);
            }
        }
        body.reverse();
        Part::Loop(head, body)
    }
}
