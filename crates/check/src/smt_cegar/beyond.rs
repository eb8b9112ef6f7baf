//! What may be executed beyond a cut.
//!
//! A cut is a recursive call that was not inlined. Of what follows it, nothing is known but the
//! graph: the run may go anywhere in the procedures that the call can lead to, may come back to
//! behind the call, and may go on from there as the flat program does, through other cuts too. A
//! projection takes all of that for possible.

use std::collections::BTreeSet;

use wherefore_program::{CallGraph, LocationKind, Node, Operation, ProcedureId};

use crate::symbolic::{Flat, PlaceId};

/// The locations that may be executed once a run has come to one of some cuts; their calls are the
/// first steps.
pub(super) fn beyond(flat: &Flat<'_>, cuts: impl IntoIterator<Item = PlaceId>) -> BTreeSet<Node> {
    let program = flat.program;
    let mut called: BTreeSet<ProcedureId> = BTreeSet::new();
    let mut nodes = BTreeSet::new();
    let mut seen = vec![false; flat.places.len()];
    let mut open: Vec<PlaceId> = Vec::new();
    let after = |cut: PlaceId, called: &mut BTreeSet<ProcedureId>, open: &mut Vec<PlaceId>| {
        let place = flat.places[cut as usize];
        let procedure = flat.frame_of(cut).procedure;
        for (_, edge) in program.procedure(procedure).edges_from(place.location) {
            if let Operation::Call(call) = &edge.operation {
                called.insert(call.callee);
                open.push(flat.place(place.frame, edge.to));
            }
        }
    };
    for cut in cuts {
        after(cut, &mut called, &mut open);
    }
    while let Some(place) = open.pop() {
        if std::mem::replace(&mut seen[place as usize], true) {
            continue;
        }
        nodes.insert(flat.node(place));
        if flat.cuts.binary_search(&place).is_ok() {
            after(place, &mut called, &mut open);
        }
        open.extend(flat.edges_from(place).map(|edge| edge.to));
    }
    let calls = CallGraph::new(program);
    let reached: BTreeSet<ProcedureId> =
        called.into_iter().flat_map(|procedure| calls.reachable(procedure)).collect();
    for procedure in reached {
        nodes
            .extend(program.procedure(procedure).location_ids().map(|location| Node { procedure, location }));
    }
    nodes.retain(|node| program.location(*node).kind != LocationKind::Exit);
    nodes
}
