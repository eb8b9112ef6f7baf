//! Why a program fails, from one failing run: sequences, ranks, reduction, neighbourhoods, repairs.

use std::collections::BTreeSet;
use std::time::{Duration, Instant};

use wherefore_check::Failure;
use wherefore_program::{EdgeRef, ErrorSite, ExprKind, Node, Operation, Program, ProgramError};
use wherefore_pushdown::Limits;
use wherefore_smt::Budget;

use crate::assumptions::{Constraint, Formulas};
use crate::focus::{Focuser, Role, Sequence};
use crate::free_choices::FreeChoices;
use crate::neighbourhood::neighbourhood;
use crate::rank::ranks;
use crate::reduce::{Reducible, reduce};
use crate::repair::Repairs;
use crate::search::{Explained, Search};

/// What was found about the failures of a program.
#[derive(Clone, Debug, Default)]
pub struct Why {
    /// Failing runs; the first is the one that was given.
    pub runs: Vec<Failure>,
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
    /// Those that are worth a look first: all of them, or if these are many, those where a repair is possible.
    pub items: Vec<usize>,
    /// Those where some other value or decision saves the runs.
    pub repairs: Vec<usize>,
}

/// A neighbourhood on more lines than this is sharpened.
const MOST_LINES: usize = 5;
/// Runs that a repair is tried on.
const MOST_RUNS: usize = 4;

/// The sequence of a path from the entry of the program, which need not be feasible, and what must hold of inputs for it to be
/// executed: nothing if it cannot be.
///
/// # Errors
/// If the edges are not a path.
pub fn focus_of_path(
    program: &Program,
    path: &[EdgeRef],
    limits: &Limits,
) -> Result<(Sequence, Option<Vec<Constraint>>), ProgramError> {
    let found = wherefore_check::bounded::in_deep_thread(|| {
        let free = FreeChoices::of(program);
        let sequence = Focuser::new(program, &free).sequence(path)?;
        let deadline = limits.time.and_then(|time| Instant::now().checked_add(time));
        let budget = Budget { deadline, conflicts: None, cancel: limits.cancel.clone() };
        let ways = Formulas::new(program, path, &sequence, &budget).ways(1);
        Ok((sequence, ways.into_iter().next().map(|way| way.assumptions)))
    });
    found.unwrap_or_else(|| Ok(Default::default()))
}

/// Explains a failing run, and others that are found within the time.
pub fn why(program: &Program, targets: &[ErrorSite], first: Failure, limits: &Limits, time: Duration) -> Why {
    wherefore_check::bounded::in_deep_thread(|| explain(program, targets, first, limits, time))
        .unwrap_or_default()
}

fn explain(program: &Program, targets: &[ErrorSite], first: Failure, limits: &Limits, time: Duration) -> Why {
    let begin = Instant::now();
    let free = FreeChoices::of(program);
    let mut search = Search::new(program, &free, first, begin + time / 2);
    search.run(targets, limits);
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
    let repairs = Repairs::new(program, targets, begin + time);
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
    Why { focus, reduced, neighbourhoods, is_complete: search.is_complete, runs: search.runs }
}

/// The items of a neighbourhood that a repair is possible at, if it is too large without that.
fn sharpened(
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
    let runs: Vec<&Failure> =
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
    // Run by run: one that is not saved by a candidate rules it out if it is the run of this sequence, and speaks against it otherwise.
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

/// Whether a statement only hands on what was computed elsewhere: a call, or the return of a variable.
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
