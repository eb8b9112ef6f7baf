//! What may be written between two locations of a procedure: *WrBt* of \[PathSlice\] §3.3 and §4.1.
//!
//! `WrBt.(pc, pc').l` holds if `l` is written on an edge that is reachable from `pc` and can reach
//! `pc'`. This depends on the strongly connected components of the two only. Inside a component
//! everything is written; between components the sets are joined along the acyclic graph of
//! components, on demand and once for each pair. Sets that do not grow are shared.

use std::rc::Rc;

use rustc_hash::{FxHashMap, FxHashSet};

use super::places::Place;
use crate::program::{LocationId, Procedure};

/// Places, sorted.
pub(super) type PlaceSet = Rc<[Place]>;

/// The sets of one procedure.
#[derive(Debug)]
pub(super) struct Between {
    /// The component of each location. A component has a greater number than those it has edges to.
    component: Vec<u32>,
    /// What is written inside each component.
    inside: Vec<PlaceSet>,
    /// The edges that leave each component, with what they write.
    leaving: Vec<Vec<(u32, PlaceSet)>>,
    /// From the first component to the second; none if there is no way.
    known: FxHashMap<(u32, u32), Option<PlaceSet>>,
    empty: PlaceSet,
}

impl Between {
    /// Prepares a procedure; `writes` says what an edge may write, its callee included.
    pub(super) fn new(procedure: &Procedure, mut writes: impl FnMut(usize) -> PlaceSet) -> Self {
        let components = procedure.graph().components();
        let mut component = vec![0; procedure.locations.len()];
        for (number, members) in (0..).zip(&components) {
            members.iter().for_each(|member| component[*member as usize] = number);
        }
        let empty: PlaceSet = Rc::new([]);
        let mut inside = vec![Rc::clone(&empty); components.len()];
        let mut leaving = vec![Vec::new(); components.len()];
        for (i, edge) in procedure.edges.iter().enumerate() {
            let (from, to) = (component[edge.from.0 as usize], component[edge.to.0 as usize]);
            if from == to {
                let joined = join(&inside[from as usize], &writes(i));
                inside[from as usize] = joined;
            } else {
                leaving[from as usize].push((to, writes(i)));
            }
        }
        Self { component, inside, leaving, known: FxHashMap::default(), empty }
    }

    /// What may be written on a way between two locations; nothing if there is none.
    pub(super) fn written(&mut self, from: LocationId, to: LocationId) -> PlaceSet {
        let (from, to) = (self.component[from.0 as usize], self.component[to.0 as usize]);
        // The components whose sets are needed. Those with smaller numbers than the goal cannot
        // reach it.
        let mut seen = FxHashSet::default();
        let mut work = vec![from];
        while let Some(at) = work.pop() {
            if at >= to && !self.known.contains_key(&(at, to)) && seen.insert(at) {
                work.extend(self.leaving[at as usize].iter().map(|(next, _)| *next));
            }
        }
        let mut needed: Vec<u32> = seen.into_iter().collect();
        needed.sort_unstable();
        for at in needed {
            let set = self.set(at, to);
            self.known.insert((at, to), set);
        }
        let found = self.known.get(&(from, to)).and_then(Option::as_ref);
        Rc::clone(found.unwrap_or(&self.empty))
    }

    /// The set of a component whose successors are known.
    fn set(&self, at: u32, to: u32) -> Option<PlaceSet> {
        if at == to {
            return Some(Rc::clone(&self.inside[at as usize]));
        }
        let mut joined: Option<PlaceSet> = None;
        for (next, writes) in &self.leaving[at as usize] {
            if let Some(Some(rest)) = self.known.get(&(*next, to)) {
                let way = join(rest, writes);
                joined = Some(joined.map_or(Rc::clone(&way), |other| join(&other, &way)));
            }
        }
        joined.map(|joined| join(&joined, &self.inside[at as usize]))
    }
}

/// The union; one of the two if it has all of the other.
pub(super) fn join(a: &PlaceSet, b: &PlaceSet) -> PlaceSet {
    let within =
        |small: &PlaceSet, large: &PlaceSet| small.iter().all(|place| large.binary_search(place).is_ok());
    if Rc::ptr_eq(a, b) || within(b, a) {
        return Rc::clone(a);
    }
    if within(a, b) {
        return Rc::clone(b);
    }
    let mut both: Vec<Place> = a.iter().chain(b.iter()).copied().collect();
    both.sort_unstable();
    both.dedup();
    both.into()
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::program::{LocationKind, Operation};
    use crate::source::{FileId, Span};
    use crate::{Graph, ProcedureBuilder};

    /// A small generator of numbers.
    fn next(seed: &mut u64) -> u64 {
        *seed = seed.wrapping_mul(6_364_136_223_846_793_005).wrapping_add(1_442_695_040_888_963_407);
        *seed >> 33
    }

    /// Every edge writes a place of its own, so that the sets are sets of edges: `Out.pc ∩ In.pc'`
    /// of the document.
    #[test]
    fn the_sets_are_those_of_the_equations() {
        for mut seed in 0..300 {
            let count = 2 + next(&mut seed) as u32 % 7;
            let span = Span::new(FileId(0), 0, 0);
            let mut builder = ProcedureBuilder::new("p", span);
            for _ in 0..count {
                builder.location(span, LocationKind::Statement);
            }
            for _ in 0..next(&mut seed) % 14 {
                let mut at = || LocationId(1 + next(&mut seed) as u32 % count);
                builder.edge(at(), at(), Operation::Skip, span);
            }
            let procedure = builder.finish(LocationId(1));
            let mut between = Between::new(&procedure, |i| Rc::new([Place::Global(i as u32)]));
            let graph: Graph = procedure.graph();
            let reaches = |from: LocationId, to: LocationId| graph.reverse_postorder(from.0).contains(&to.0);
            for from in procedure.location_ids() {
                for to in procedure.location_ids() {
                    let edges = procedure.edges.iter().zip(0..);
                    let both = edges.filter(|(edge, _)| reaches(from, edge.from) && reaches(edge.to, to));
                    let expected: Vec<Place> = both.map(|(_, i)| Place::Global(i)).collect();
                    assert_eq!(between.written(from, to).as_ref(), expected, "{from:?} {to:?}");
                }
            }
        }
    }
}
