//! Which locations lie on failing runs, by finding the runs: all of them if no run goes beyond the
//! bound.

use std::collections::{BTreeMap, BTreeSet};

use wherefore_check::bounded::{Extent, Wanted, with_runs};
use wherefore_check::{Budget, FailingRun};
use wherefore_program::{ErrorSite, Node, Program};

/// What was found.
#[derive(Clone, Debug, Default)]
pub struct Cover {
    /// Failing runs.
    pub runs: Vec<FailingRun>,
    /// A run through each location that one was found through, by position.
    pub through: BTreeMap<Node, usize>,
    /// Whether no failing run goes through any other location.
    pub is_complete: bool,
}

impl Cover {
    /// Adds a run.
    pub fn add(&mut self, run: FailingRun) {
        let number = self.runs.len();
        let mut is_new = false;
        for node in run.trace.states().filter_map(wherefore_program::State::node) {
            is_new |= !self.through.contains_key(&node);
            self.through.entry(node).or_insert(number);
        }
        if is_new {
            self.runs.push(run);
        }
    }

    /// Looks for failing runs through all locations, and starts from what is known. In a thread
    /// with a deep stack.
    pub fn run(&mut self, program: &Program, targets: &[ErrorSite], budget: &Budget) {
        let mut open: BTreeSet<Node> = program.nodes().collect();
        let mut settled = false;
        let done = with_runs(program, targets, budget, |runs| {
            settled = false;
            loop {
                open.retain(|node| !self.through.contains_key(node));
                match runs.through(&open) {
                    Ok(Some(found)) => {
                        let before = self.through.len();
                        self.add(found.failure);
                        if self.through.len() == before {
                            return Wanted::Enough;
                        }
                    }
                    Ok(None) => {
                        settled = true;
                        return Wanted::More;
                    }
                    Err(_) => return Wanted::Enough,
                }
            }
        });
        self.is_complete = settled && done == Ok(Extent::All);
    }
}
