//! The error projection of a C program by all means: a failing run to begin with, refinement, and
//! instrumentation for what it leaves open.
//!
//! Refinement ([`project`]) rules out what no failing run goes through, and says under which
//! conditions the others do; but it may take long to find a run that turns a loop many times, and
//! may find no invariant. Bounded checking is good at the first, and needs no invariant where loops
//! end. So the two take turns under one budget: the run of the verdict is a seed; then refinement;
//! then, for what is inside and not confirmed, [`through()`]: for all of it at once, since one
//! "there is none" settles all, and one run may confirm many; at last one by one.

use wherefore_program::{ErrorSite, Node, Program};

use crate::budget::Budget;
use crate::refinement::solver::{Iteration, ProjectOptions, Projected, project};
use crate::through::{Through, through};
use crate::verdict::{Decision, FailingRun};

/// Computes the error projection of a program that is known to fail, with failing runs to begin
/// with; `progress` is told of each counterexample that refinement examines.
///
/// **Ensures:** as [`project`]; `is_checked` holds only if refinement alone has excluded all that
/// is outside.
pub fn project_from(
    program: &Program,
    targets: &[ErrorSite],
    seeds: Vec<FailingRun>,
    budget: &Budget,
    progress: &mut (dyn FnMut(&Iteration) + Send),
) -> Projected {
    let options = ProjectOptions { seeds, ..ProjectOptions::default() };
    let mut found = project(program, targets, &options, &budget.share(3), progress);
    // All that is open at once, until there is no run, or no answer.
    while !found.is_exact() && budget.stopped().is_none() {
        let open = open(&found);
        match through(program, targets, &open, &budget.share(2)) {
            Through::Run(run) if found.confirms(&run) => found.add(run),
            Through::None { .. } => found.exclude(&open),
            Through::Run(_) | Through::Unknown(_) => break,
        }
    }
    let mut left = open(&found);
    while let (Some(node), false) = (left.pop(), budget.stopped().is_some()) {
        let share = u32::try_from(left.len() + 1).unwrap_or(u32::MAX);
        match through(program, targets, &[node], &budget.share(share)) {
            Through::Run(run) => found.add(run),
            Through::None { .. } => found.exclude(&[node]),
            Through::Unknown(_) => {}
        }
        left.retain(|node| !found.confirmed.contains_key(node));
    }
    found
}

/// The locations that are inside and not confirmed.
fn open(found: &Projected) -> Vec<Node> {
    found.inside.iter().copied().filter(|node| !found.confirmed.contains_key(node)).collect()
}

impl Projected {
    /// Whether a run goes through a location that is inside and not confirmed.
    fn confirms(&self, run: &FailingRun) -> bool {
        let open = |node: Node| !self.confirmed.contains_key(&node);
        run.trace.states().filter_map(wherefore_program::State::node).any(open)
    }

    /// One more run: what it passes is confirmed.
    fn add(&mut self, run: FailingRun) {
        let at = self.runs.len();
        for node in run.trace.states().filter_map(wherefore_program::State::node) {
            self.inside.insert(node);
            self.confirmed.entry(node).or_insert(at);
        }
        self.runs.push(run);
        self.judge();
    }

    /// No failing run goes through these locations.
    fn exclude(&mut self, nodes: &[Node]) {
        for node in nodes {
            self.inside.remove(node);
            self.stores.remove(node);
        }
        self.is_checked = false;
        self.judge();
    }

    /// The verdict and the reason again, after a change.
    fn judge(&mut self) {
        if self.confirmed.len() == self.inside.len() {
            self.reason = None;
        }
        if !self.runs.is_empty() {
            self.verdict = Decision::Unsafe;
        } else if self.inside.is_empty() {
            self.verdict = Decision::Safe;
        }
    }
}
