//! The nesting of loops in a procedure: a weak topological order (Bourdoncle, 1993).
//!
//! Every cycle passes the head of some component; edges to a head from inside its component are the
//! only ones that go back in the order. Irreducible loops are no exception.

use wherefore_program::{LocationId, Operation, Procedure, ThreadStart};

/// A part of the order.
pub(crate) enum Part {
    /// A place on no cycle of this level.
    Place(LocationId),
    /// A loop: its head, then the rest of its body.
    Loop(LocationId, Vec<Part>),
}

/// The order of all locations of a procedure that can be reached from its entry; a call leads on
/// where it returns.
pub(crate) fn nesting(procedure: &Procedure) -> Vec<Part> {
    let mut out: Vec<Vec<LocationId>> = vec![Vec::new(); procedure.locations.len()];
    for edge in &procedure.edges {
        out[edge.from.0 as usize].push(edge.to);
        // A thread goes on elsewhere.
        if let Operation::StartThread(ThreadStart::At(at)) = edge.operation {
            out[edge.from.0 as usize].push(at);
        }
    }
    let number = vec![0; procedure.locations.len()];
    let mut search = Search { out, number, stack: Vec::new(), counter: 0 };
    let mut order = Vec::new();
    search.visit(procedure.entry, &mut order);
    order.reverse();
    order
}

/// Tarjan's algorithm, applied again inside each component without its head. `DONE` marks places
/// that are in order.
struct Search {
    out: Vec<Vec<LocationId>>,
    number: Vec<u32>,
    stack: Vec<LocationId>,
    counter: u32,
}

const DONE: u32 = u32::MAX;

/// An open call of the search.
struct Open {
    place: LocationId,
    next: usize,
    low: u32,
    in_loop: bool,
}

impl Search {
    /// Adds the order of what can be reached from `root` to `order`, the last part first.
    fn visit(&mut self, root: LocationId, order: &mut Vec<Part>) {
        let mut open = vec![self.enter(root)];
        while let Some(top) = open.last_mut() {
            if let Some(to) = self.out[top.place.0 as usize].get(top.next).copied() {
                top.next += 1;
                match self.number[to.0 as usize] {
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
            let is_root = low == self.number[place.0 as usize];
            if is_root {
                self.number[place.0 as usize] = DONE;
                let mut member = self.stack.pop();
                if in_loop {
                    while let Some(other) = member.filter(|other| *other != place) {
                        self.number[other.0 as usize] = 0;
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

    fn enter(&mut self, place: LocationId) -> Open {
        self.counter += 1;
        self.number[place.0 as usize] = self.counter;
        self.stack.push(place);
        Open { place, next: 0, low: self.counter, in_loop: false }
    }

    /// The loop with this head: its body in order.
    fn component(&mut self, head: LocationId) -> Part {
        let mut body = Vec::new();
        for to in self.out[head.0 as usize].clone() {
            if self.number[to.0 as usize] == 0 {
                self.visit(to, &mut body);
            }
        }
        body.reverse();
        Part::Loop(head, body)
    }
}
