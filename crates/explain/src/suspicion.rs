//! How much a location speaks for failure: comparison with runs that end well.
//!
//! \[Lal09\] §5.5, *Error reporting*: what also occurs on runs that end well, and can be reached,
//! is discounted. How much depends on how many of the runs that were found go there: a location on
//! every run says nothing, one that only failing runs visit says all.

use std::collections::{BTreeMap, BTreeSet};

use wherefore_check::bounded::{Wanted, with_runs};
use wherefore_program::{ErrorSite, LocationKind, Node, Program, State, Trace};

use crate::variant::{good_end, without_failures};

/// Runs that are compared with.
const MOST_RUNS: usize = 12;

/// For each location of failing runs a number from 0 to 1. In a thread with a deep stack.
pub(crate) fn suspicion(
    program: &Program,
    targets: &[ErrorSite],
    failing: &[&Trace],
    budget: &wherefore_check::Budget,
) -> BTreeMap<Node, f64> {
    // Only failing runs are where they fail: that says nothing.
    let fails = |node: &Node| {
        program.location(*node).kind == LocationKind::Error || targets.iter().any(|site| site.node == *node)
    };
    let visited = |trace: &Trace| {
        trace.states().filter_map(State::node).filter(|node| !fails(node)).collect::<BTreeSet<Node>>()
    };
    let failing: Vec<BTreeSet<Node>> = failing.iter().map(|trace| visited(trace)).collect();
    let all: BTreeSet<Node> = failing.iter().flatten().copied().collect();
    let (mut passing, mut elsewhere): (Vec<BTreeSet<Node>>, BTreeSet<Node>) = Default::default();
    if let Some(end) = good_end(program) {
        let variant = without_failures(program, targets);
        let _ = with_runs(&variant, std::slice::from_ref(&end), budget, |runs| {
            while passing.len() < MOST_RUNS && budget.stopped().is_none() {
                let Ok(Some(found)) = runs.another() else { break };
                let path = &found.failure.path;
                let decides = |at: &usize| {
                    let edge = path[*at];
                    let body = program.procedure(edge.procedure);
                    body.location(body.edge(edge.edge).from).kind == LocationKind::Branch
                };
                let decisions: Vec<usize> = (0..path.len()).filter(decides).collect();
                runs.exclude(&found, &decisions);
                passing.push(visited(&found.failure.trace));
            }
            // What none of these visits may still be on another.
            let known: BTreeSet<Node> = passing.iter().flatten().copied().collect();
            let mut open: BTreeSet<Node> = all.difference(&known).copied().collect();
            while let (false, Ok(Some(found))) = (open.is_empty(), runs.through(&open)) {
                let nodes = visited(&found.failure.trace);
                let before = open.len();
                elsewhere.extend(open.intersection(&nodes).copied());
                open.retain(|node| !nodes.contains(node));
                if open.len() == before || budget.stopped().is_some() {
                    break;
                }
            }
            Wanted::Enough
        });
    }
    let share = |runs: &[BTreeSet<Node>], node: &Node| {
        let count = runs.iter().filter(|run| run.contains(node)).count();
        count as f64 / runs.len().max(1) as f64
    };
    let score = |node: Node| {
        let fails = share(&failing, &node);
        let rarely = 1.0 / (passing.len() + 1) as f64;
        let passes = share(&passing, &node).max(if elsewhere.contains(&node) { rarely } else { 0.0 });
        (node, fails / (fails + passes))
    };
    all.into_iter().map(score).collect()
}
