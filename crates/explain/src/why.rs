//! Reasons a program fails, from one failing run: sequences, ranks, reduction, neighbourhoods,
//! repairs.

use wherefore_check::{Budget, FailingRun};
use wherefore_program::{EdgeRef, ErrorSite, Program, ProgramError};

use crate::assumptions::{Constraint, Formulas};
use crate::focus::{Focuser, Sequence};
use crate::free_choices::FreeChoices;
use crate::neighbourhood::neighbourhood;
use crate::rank::ranks;
use crate::reduce::{Reducible, reduce};
use crate::repair::Repairs;
use crate::search::{Explained, Search};
use crate::sharpen::sharpened;

/// What was found about the failures of a program.
#[derive(Clone, Debug, Default)]
pub struct Reasons {
    /// Failing runs; the first is the one that was given.
    pub runs: Vec<FailingRun>,
    /// Sequences, the highest rank first.
    pub focus: Vec<Focus>,
    /// What is left of them.
    pub reduced: Vec<Left>,
    /// For each of those, where the fault is likely to be.
    pub neighbourhoods: Vec<Marked>,
    /// Whether all sequences were found.
    pub is_complete: bool,
}

/// A sequence with its assumptions.
#[derive(Clone, Debug)]
pub struct Focus {
    /// From 1.
    pub rank: usize,
    /// The statements.
    pub sequence: Sequence,
    /// What must hold of inputs; none if the sequence is infeasible.
    pub assumptions: Option<Vec<Constraint>>,
    /// The run that it was found on, by position.
    pub run: usize,
}

/// What is left of a sequence after reduction.
#[derive(Clone, Debug)]
pub struct Left {
    /// The sequence, by position.
    pub focus: usize,
    /// The assumptions that are left, by position.
    pub assumptions: Vec<usize>,
}

/// The neighbourhood of a sequence.
#[derive(Clone, Debug)]
pub struct Marked {
    /// The sequence, by position.
    pub focus: usize,
    /// The items that the algorithm marks.
    pub marked: Vec<usize>,
    /// Those that are worth a look first: all of them, or if these are many, those where a repair
    /// is possible.
    pub items: Vec<usize>,
    /// Those where some other value or decision saves the runs.
    pub repairs: Vec<usize>,
}

/// The sequence of a path from the entry of the program, which need not be feasible, and what must
/// hold of inputs for it to be executed: nothing if it cannot be.
///
/// # Errors
/// If the edges are not a path.
pub fn focus_of_path(
    program: &Program,
    path: &[EdgeRef],
    budget: &Budget,
) -> Result<(Sequence, Option<Vec<Constraint>>), ProgramError> {
    let found = wherefore_check::bounded::in_deep_thread(|| {
        let free = FreeChoices::of(program);
        let sequence = Focuser::new(program, &free).sequence(path)?;
        let ways = Formulas::new(program, path, &sequence, &budget.solver()).ways(1);
        Ok((sequence, ways.into_iter().next().map(|way| way.assumptions)))
    });
    found.unwrap_or_else(|| Ok(Default::default()))
}

/// Explains a failing run, and others that are found within the budget.
pub fn why(program: &Program, targets: &[ErrorSite], first: FailingRun, budget: &Budget) -> Reasons {
    wherefore_check::bounded::in_deep_thread(|| explain(program, targets, first, budget)).unwrap_or_default()
}

fn explain(program: &Program, targets: &[ErrorSite], first: FailingRun, budget: &Budget) -> Reasons {
    let free = FreeChoices::of(program);
    let mut search = Search::new(program, &free, first, budget.share(2));
    search.run(targets);
    let complexities: Vec<_> = search.found.iter().map(Explained::complexity).collect();
    let rank = ranks(&complexities);
    let mut order: Vec<usize> = (0..search.found.len()).collect();
    order.sort_by_key(|i| (rank[*i], search.found[*i].statements()));
    let reducible = |(position, i): (usize, &usize)| {
        let explained = &search.found[*i];
        let assumptions = explained.keys();
        let kept = (0..assumptions.len()).collect();
        Reducible { sequence: position, statements: explained.statements(), assumptions, kept }
    };
    let feasible = order.iter().enumerate().filter(|(_, i)| search.found[**i].way.is_some());
    let left = reduce(feasible.map(reducible).collect());
    let repairs = Repairs::new(program, targets, budget.clone());
    let mut neighbourhoods = Vec::new();
    for one in &left {
        let explained = &search.found[order[one.sequence]];
        let Some(way) = &explained.way else { continue };
        let formulas = &mut explained.formulas.borrow_mut();
        // Reduction compares all sequences: without some of them it proves nothing.
        let marked = match search.is_complete {
            true => neighbourhood(&explained.sequence, formulas, way, &one.kept),
            false => (0..explained.sequence.items.len()).collect(),
        };
        // Only the first is sharpened: it is the one to read.
        let (items, repaired) = match neighbourhoods.is_empty() {
            true => sharpened(program, &search, explained, &marked, &repairs),
            false => (marked.clone(), Vec::new()),
        };
        neighbourhoods.push(Marked { focus: one.sequence, marked, items, repairs: repaired });
    }
    let focus = order.iter().map(|i| Focus {
        rank: rank[*i],
        sequence: search.found[*i].sequence.clone(),
        assumptions: search.found[*i].way.as_ref().map(|way| way.assumptions.clone()),
        run: search.found[*i].run,
    });
    let focus = focus.collect();
    let reduced = left.into_iter().map(|one| Left { focus: one.sequence, assumptions: one.kept }).collect();
    Reasons { focus, reduced, neighbourhoods, is_complete: search.is_complete, runs: search.runs }
}
