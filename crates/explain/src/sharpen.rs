//! A neighbourhood that is too large to be read at a glance, sharpened: to the statements where a
//! repair is possible (`repair.rs`).

use std::collections::BTreeSet;

use wherefore_check::FailingRun;
use wherefore_program::{EdgeRef, ExprKind, Node, Operation, Program};

use crate::focus::{Role, Sequence};
use crate::repair::Repairs;
use crate::search::{Explained, Search};

/// A neighbourhood on more lines than this is sharpened.
const MOST_LINES: usize = 5;
/// Runs that a repair is tried on.
const MOST_RUNS: usize = 4;

/// The items of a neighbourhood to look at first, and those of them that a repair is possible at.
pub(crate) fn sharpened(
    program: &Program,
    search: &Search<'_>,
    explained: &Explained<'_>,
    marked: &[usize],
    repairs: &Repairs<'_>,
) -> (Vec<usize>, Vec<usize>) {
    let sequence = &explained.sequence;
    let lines: BTreeSet<Option<u32>> =
        marked.iter().map(|item| program.line(sequence.items[*item].node)).collect();
    if lines.len() <= MOST_LINES {
        return (marked.to_vec(), Vec::new());
    }
    let others = search.runs.iter().enumerate().filter(|(i, _)| *i != explained.run).map(|(_, run)| run);
    let runs: Vec<&FailingRun> =
        std::iter::once(&search.runs[explained.run]).chain(others).take(MOST_RUNS).collect();
    let path = search.path(explained);
    let property = property(sequence);
    let checks: BTreeSet<Node> =
        property.iter().flat_map(|item| nodes(program, path, sequence, *item)).collect();
    // A free choice is an input: the fault is not there.
    let is_free = |item: usize| matches!(sequence.items[item].role, Role::Free(_));
    let mut candidates: Vec<Candidate> = Vec::new();
    for item in marked.iter().copied().filter(|item| !property.contains(item) && !is_free(*item)) {
        let nodes = nodes(program, path, sequence, item);
        if nodes.is_empty() || passes_on(program, &nodes) || nodes.is_subset(&checks) {
            continue;
        }
        match candidates.iter_mut().find(|known| known.nodes == nodes) {
            Some(known) => known.items.push(item),
            None => candidates.push(Candidate { nodes, items: vec![item], saves: 0 }),
        }
    }
    // Run by run: one that is not saved by a candidate rules it out if it is the run of this
    // sequence, and speaks against it otherwise.
    for (i, run) in runs.iter().enumerate() {
        let mut saved = Vec::with_capacity(candidates.len());
        for candidate in &candidates {
            match repairs.is_saved(&candidate.nodes, &run.trace) {
                Some(is_saved) => saved.push(is_saved),
                None => break,
            }
        }
        if saved.len() < candidates.len() {
            break;
        }
        for (candidate, is_saved) in candidates.iter_mut().zip(saved) {
            candidate.saves += usize::from(is_saved);
        }
        if i == 0 {
            candidates.retain(|candidate| candidate.saves > 0);
        }
    }
    let best = candidates.iter().map(|candidate| candidate.saves).max().unwrap_or(0);
    if best == 0 {
        return (marked.to_vec(), Vec::new());
    }
    let best = candidates.into_iter().filter(|candidate| candidate.saves == best);
    let mut items: Vec<usize> = best.flat_map(|candidate| candidate.items).collect();
    items.sort_unstable();
    (items.clone(), items)
}

/// Statements that may be where the fault is: items of one place.
struct Candidate {
    nodes: BTreeSet<Node>,
    items: Vec<usize>,
    /// How many runs a change here saves.
    saves: usize,
}

/// The check that fails: the last condition, and the call that hands it what it checks.
fn property(sequence: &Sequence) -> BTreeSet<usize> {
    let mut property = BTreeSet::new();
    let last = sequence.items.len().checked_sub(1);
    property.extend(last);
    let check = sequence.items.iter().rposition(|item| matches!(item.role, Role::Condition(_)));
    if let Some(check) = check {
        property.extend(check..sequence.items.len());
        let parent = sequence.items[check].parent;
        property.extend(parent.filter(|parent| sequence.items[*parent].role == Role::Call));
    }
    property
}

/// Whether a statement only hands on what was computed elsewhere: a call, or the return of a
/// variable.
fn passes_on(program: &Program, nodes: &BTreeSet<Node>) -> bool {
    nodes.iter().all(|node| {
        let mut edges = program.procedure(node.procedure).edges_from(node.location);
        edges.all(|(_, edge)| match &edge.operation {
            Operation::Call(_) => true,
            Operation::Return(values) => {
                values.iter().all(|value| matches!(value.kind, ExprKind::Read { .. } | ExprKind::Constant(_)))
            }
            _ => false,
        })
    })
}

/// The locations of an item.
fn nodes(program: &Program, path: &[EdgeRef], sequence: &Sequence, item: usize) -> BTreeSet<Node> {
    let positions = sequence.items[item].positions.iter();
    positions
        .map(|at| Node { procedure: path[*at].procedure, location: program.edge(path[*at]).from })
        .collect()
}
