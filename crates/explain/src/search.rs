//! The ways in which a program fails: distinct sequences with their assumptions, up to a budget.

use std::collections::BTreeSet;

use wherefore_check::bounded::{Extent, Wanted, with_runs};
use wherefore_check::{Budget, FailingRun};
use wherefore_program::{EdgeRef, ErrorSite, Program};

use crate::assumptions::{Formulas, Way};
use crate::focus::{Focuser, Role, Sequence};
use crate::free_choices::FreeChoices;
use crate::rank::Complexity;

/// Sequences that are looked for.
const MOST_SEQUENCES: usize = 12;
/// Ways to execute one sequence that are told apart.
const MOST_WAYS: usize = 6;

/// A sequence with one way to execute it.
pub(crate) struct Explained<'p> {
    pub run: usize,
    pub sequence: Sequence,
    pub way: Option<Way>,
    pub formulas: std::rc::Rc<std::cell::RefCell<Formulas<'p>>>,
}

impl Explained<'_> {
    /// What its rank rests on.
    pub fn complexity(&self) -> Complexity {
        let assumed = self.way.iter().flat_map(|way| &way.assumptions);
        let variables: BTreeSet<&String> = assumed.flat_map(|constraint| &constraint.variables).collect();
        Complexity { length: self.sequence.items.len(), variables: variables.len() }
    }

    /// What tells it from others: its statements.
    pub fn statements(&self) -> Vec<u64> {
        let number = |item: &crate::focus::Item| {
            let way = match item.role {
                Role::Condition(holds) | Role::Free(holds) => u64::from(!holds),
                Role::Call | Role::Statement => 2,
            };
            (u64::from(item.node.procedure.0) << 34) | (u64::from(item.node.location.0) << 2) | way
        };
        self.sequence.items.iter().map(number).collect()
    }

    /// What it assumes, as it is told.
    fn says(&self) -> Vec<&String> {
        self.way.iter().flat_map(|way| &way.assumptions).map(|constraint| &constraint.says).collect()
    }

    /// What it assumes, as conditions first demanded it, and the negations.
    pub fn keys(&self) -> Vec<(String, String)> {
        let assumed = self.way.iter().flat_map(|way| &way.assumptions);
        assumed.map(|constraint| constraint.key.clone()).collect()
    }
}

/// What was found.
pub(crate) struct Search<'p> {
    pub runs: Vec<FailingRun>,
    pub found: Vec<Explained<'p>>,
    /// Whether there are no more.
    pub is_complete: bool,
    /// Whether some sequence can be executed in more ways than are told apart.
    is_cut: bool,
    program: &'p Program,
    focuser: Focuser<'p>,
    budget: Budget,
}

impl<'p> Search<'p> {
    /// Starts with a failing run.
    pub fn new(program: &'p Program, free: &'p FreeChoices, first: FailingRun, budget: Budget) -> Self {
        let focuser = Focuser::new(program, free);
        let (runs, found) = (Vec::new(), Vec::new());
        let mut search = Self { runs, found, is_complete: false, is_cut: false, program, focuser, budget };
        search.add(first);
        search
    }

    /// Looks for more.
    pub fn run(&mut self, targets: &[ErrorSite]) {
        let budget = self.budget.clone();
        let mut bounds = 0;
        let done = with_runs(self.program, targets, &budget, |runs| {
            let before = self.found.len();
            bounds += 1;
            while self.found.len() < MOST_SEQUENCES && budget.stopped().is_none() {
                let Ok(Some(found)) = runs.another() else { break };
                let decisions = self.add(found.failure.clone());
                runs.exclude(&found, &decisions);
            }
            // More turns of loops that bring nothing new will not bring more.
            let brought = self.found.len() > before || bounds == 1;
            if brought && self.found.len() < MOST_SEQUENCES && budget.stopped().is_none() {
                Wanted::More
            } else {
                Wanted::Enough
            }
        });
        let in_time = self.found.len() < MOST_SEQUENCES && budget.stopped().is_none();
        self.is_complete = done == Ok(Extent::All) && in_time && !self.is_cut;
    }

    /// Adds the sequence of a run, unless it is known; the steps that decide it.
    fn add(&mut self, failure: FailingRun) -> Vec<usize> {
        let Ok(sequence) = self.focuser.sequence(&failure.path) else { return Vec::new() };
        let decisions = self.focuser.decisions(&failure.path, &sequence);
        let formulas = Formulas::new(self.program, &failure.path, &sequence, &self.budget.solver());
        let formulas = std::rc::Rc::new(std::cell::RefCell::new(formulas));
        let mut ways = formulas.borrow_mut().ways(MOST_WAYS + 1);
        self.is_cut |= ways.len() > MOST_WAYS;
        ways.truncate(MOST_WAYS);
        let ways: Vec<Option<Way>> =
            if ways.is_empty() { vec![None] } else { ways.into_iter().map(Some).collect() };
        let mut is_new = false;
        for way in ways {
            let run = self.runs.len();
            let explained = Explained { run, sequence: sequence.clone(), way, formulas: formulas.clone() };
            let same = |other: &Explained<'_>| {
                other.statements() == explained.statements() && other.says() == explained.says()
            };
            if !self.found.iter().any(|other| same(other) || repeats(other, &explained)) {
                self.found.push(explained);
                is_new = true;
            }
        }
        if is_new {
            self.runs.push(failure);
        }
        decisions
    }

    /// The path of a sequence.
    pub fn path(&self, explained: &Explained<'_>) -> &[EdgeRef] {
        &self.runs[explained.run].path
    }
}

/// Whether a sequence says no more than another: it has the same statements and more between them,
/// and assumes as much or more.
fn repeats(short: &Explained<'_>, long: &Explained<'_>) -> bool {
    let mut statements = long.statements().into_iter();
    let (assumed, known) = (long.says(), short.says());
    short.way.is_some()
        && known.iter().all(|key| assumed.contains(key))
        && short.statements().iter().all(|statement| statements.any(|other| other == *statement))
}
