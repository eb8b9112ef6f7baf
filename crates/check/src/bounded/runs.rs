//! Many failing runs of one unrolled program: the formula is made once and asked again and again.

use std::collections::BTreeSet;

use wherefore_program::{ErrorSite, Node, Program};
use wherefore_pushdown::StopReason;
use wherefore_smt::{BitBlaster, Budget as SolverBudget, Outcome, Solver, Term, Terms};

use super::unroll::{Stop, Unrolled, Unroller};
use super::{BOUNDS, read_run, reason};
use crate::budget::Budget;
use crate::symbolic::{Flat, Machine};
use crate::verdict::FailingRun;

/// An unrolled program under questions.
pub struct Runs<'p> {
    machine: Machine<'p>,
    unrolled: Unrolled,
    solver: BitBlaster,
    budget: SolverBudget,
    bound: usize,
    /// Some visit of an error is made.
    fails: Term,
    excluded: BTreeSet<Term>,
}

/// A failing run, and how it goes through the unrolled program.
#[derive(Clone, Debug)]
pub struct Found {
    /// The run.
    pub failure: FailingRun,
    /// For each step, the condition under which a run takes it at the same visit.
    taken: Vec<Term>,
}

/// Whether all runs are within the bound.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Extent {
    /// They are: nothing lies beyond.
    All,
    /// Some may go beyond.
    Some,
}

impl<'p> Runs<'p> {
    /// Unrolls a program with so many turns of each loop.
    fn new(
        program: &'p Program,
        targets: &[ErrorSite],
        bound: usize,
        budget: SolverBudget,
    ) -> Result<Self, StopReason> {
        let mut machine = Machine::new(Flat::new(program, targets));
        let unrolled = Unroller::new(&mut machine, bound, &budget).run().map_err(|stop| match stop {
            Stop::TooLarge => StopReason::Memory,
            Stop::Limit(why) => reason(&why),
        })?;
        let errors: Vec<Term> = unrolled.errors.iter().map(|(_, guard)| *guard).collect();
        let fails = machine.terms.any(&errors);
        let (solver, excluded) = (BitBlaster::new(), BTreeSet::new());
        Ok(Self { machine, unrolled, solver, budget, bound, fails, excluded })
    }

    /// How many turns of each loop there are.
    pub fn bound(&self) -> usize {
        self.bound
    }

    /// Whether runs go beyond the bound.
    pub fn extent(&mut self) -> Extent {
        let beyond = self.machine.terms.any(&self.unrolled.cuts);
        match self.solver.check(&mut self.machine.terms, &[beyond], &self.budget) {
            Outcome::Unsat(_) => Extent::All,
            Outcome::Sat(_) | Outcome::Unknown(_) => Extent::Some,
        }
    }

    /// A failing run that is not excluded; none if there is none within the bound.
    ///
    /// # Errors
    /// The limit that was met.
    pub fn another(&mut self) -> Result<Option<Found>, StopReason> {
        self.ask(Terms::TRUE)
    }

    /// A failing run, excluded or not, through one of some locations.
    ///
    /// # Errors
    /// The limit that was met.
    pub fn through(&mut self, nodes: &BTreeSet<Node>) -> Result<Option<Found>, StopReason> {
        let mut guards = Vec::new();
        for visit in &self.unrolled.visits {
            if nodes.contains(&self.machine.flat.node(visit.place)) {
                guards.extend(visit.from.iter().map(|(.., guard)| *guard));
            }
        }
        let visited = self.machine.terms.any(&guards);
        let excluded = std::mem::take(&mut self.excluded);
        let found = self.ask(visited);
        self.excluded = excluded;
        found
    }

    /// Excludes all runs that take these steps of a run, by position.
    pub fn exclude(&mut self, found: &Found, steps: &[usize]) {
        let taken: Vec<Term> = steps.iter().map(|step| found.taken[*step]).collect();
        let terms = &mut self.machine.terms;
        let all = terms.all(&taken);
        let other = terms.not(all);
        self.excluded.insert(other);
    }

    fn ask(&mut self, also: Term) -> Result<Option<Found>, StopReason> {
        let mut wanted = vec![self.fails, also];
        wanted.extend(&self.excluded);
        let Machine { flat, terms, .. } = &mut self.machine;
        match self.solver.check(terms, &wanted, &self.budget) {
            Outcome::Unsat(_) => Ok(None),
            Outcome::Unknown(why) => Err(reason(&why)),
            Outcome::Sat(model) => {
                let (failure, taken) = read_run(flat, terms, &self.unrolled, &model, &|_| true);
                Ok(Some(Found { failure, taken }))
            }
        }
    }
}

/// Works on the runs of a program, with the smallest bound that has a failing run, and then with
/// the next ones, while `work` wants more. To be called in a thread with a deep stack
/// ([`in_deep_thread`](super::in_deep_thread)).
///
/// Says whether there are runs beyond the last bound.
///
/// # Errors
/// The limit that was met, or [`StopReason::Steps`] if no bound is large enough.
pub fn with_runs(
    program: &Program,
    targets: &[ErrorSite],
    budget: &Budget,
    mut work: impl FnMut(&mut Runs<'_>) -> Wanted,
) -> Result<Extent, StopReason> {
    let budget = budget.solver();
    for bound in BOUNDS {
        let mut runs = Runs::new(program, targets, bound, budget.clone())?;
        let wanted = if runs.another()?.is_some() { work(&mut runs) } else { Wanted::More };
        let extent = runs.extent();
        if wanted == Wanted::Enough || extent == Extent::All {
            return Ok(extent);
        }
    }
    Err(StopReason::Steps)
}

/// Whether more runs are wanted.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Wanted {
    /// With more turns of loops.
    More,
    /// No.
    Enough,
}
