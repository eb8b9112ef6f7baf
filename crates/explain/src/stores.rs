//! Conditions at a line under which the program goes on to fail: what the rest of a failing run
//! demands of the variables there.
//!
//! The statements of the sequence that come after the line are executed on unknowns that stand for
//! the variables as they are there. What their conditions demand is enough for the program to go on
//! as this run does, with the right inputs to come. Different runs give alternatives.

use std::collections::BTreeMap;

use wherefore_check::{Budget, FailingRun};
use wherefore_program::{Node, Program};

use crate::assumptions::Formulas;
use crate::focus::Focuser;
use crate::free_choices::FreeChoices;

/// For each location on some runs, alternatives of what leads to failure there. In a thread with a
/// deep stack.
pub(crate) fn stores(
    program: &Program,
    runs: &[FailingRun],
    budget: &Budget,
) -> BTreeMap<Node, Vec<Vec<String>>> {
    let free = FreeChoices::of(program);
    let mut focuser = Focuser::new(program, &free);
    let solver = budget.solver();
    let mut found: BTreeMap<Node, Vec<Vec<String>>> = BTreeMap::new();
    for run in runs {
        let Ok(sequence) = focuser.sequence(&run.path) else { continue };
        // Where the run is for the last time.
        let mut last: BTreeMap<Node, usize> = BTreeMap::new();
        for (at, edge) in run.path.iter().enumerate() {
            last.insert(Node { procedure: edge.procedure, location: program.edge(*edge).from }, at);
        }
        for (node, at) in last.into_iter().filter(|(node, _)| node.procedure != program.entry) {
            if budget.stopped().is_some() {
                return found;
            }
            let mut formulas = Formulas::from(program, &run.path, at, &sequence, &solver);
            // What holds on this run, if its values can be told; else on some run.
            let way = formulas.way_of(program, &run.trace, at).or_else(|| formulas.ways(1).pop());
            let Some(way) = way else { continue };
            let cube: Vec<String> =
                formulas.enough(&way).into_iter().map(|constraint| constraint.text).collect();
            let known = found.entry(node).or_default();
            if !known.contains(&cube) {
                known.push(cube);
            }
        }
    }
    // What holds whatever else does makes other alternatives idle.
    for alternatives in found.values_mut() {
        if alternatives.iter().any(Vec::is_empty) {
            *alternatives = vec![Vec::new()];
        }
    }
    found
}
