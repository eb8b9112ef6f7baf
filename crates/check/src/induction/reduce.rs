//! The part of an inductive invariant that a proof needs.
//!
//! Facts are many, and most of them are about something else. Backwards from the errors, the cores
//! of the solver say what must hold before a step so that what is needed holds behind it. What is
//! needed is then inductive by itself: a smaller proof to check, and one that can be read.

use std::collections::BTreeSet;

use rustc_hash::{FxHashMap, FxHashSet};
use wherefore_smt::{
    BitBlaster, Budget, Outcome, Solver, Term, Terms, check_by_cases, contradicts_by_arithmetic, is_valid,
    minimise_core,
};

use super::elements::instances;
use super::system::System;
use crate::refinement::solver::graph::PointId;

/// Conflicts that the question may take whether a conjunct is needed.
const PATIENCE: u64 = 200;

/// A part of a core that contradicts a guard by arithmetic alone; all of it if it does not.
fn needed_by_arithmetic(terms: &mut Terms, guard: Term, core: Vec<Term>) -> Vec<Term> {
    let mut rest = core;
    rest.push(guard);
    if !contradicts_by_arithmetic(terms, &rest) {
        return rest;
    }
    let mut needed = 0;
    while needed < rest.len() {
        let member = rest.remove(needed);
        if member == guard || !contradicts_by_arithmetic(terms, &rest) {
            rest.insert(needed, member);
            needed += 1;
        }
    }
    rest
}

/// The conjuncts at each point that are needed; all of them if that is not found in time.
pub(super) fn reduce(
    terms: &mut Terms,
    system: &System,
    errors: &BTreeSet<PointId>,
    all: Vec<Vec<Term>>,
    budget: &Budget,
) -> Vec<Vec<Term>> {
    let mut needed: Vec<BTreeSet<Term>> = vec![BTreeSet::new(); all.len()];
    let mut open: Vec<(PointId, Term)> = errors.iter().map(|error| (*error, Terms::FALSE)).collect();
    let mut done: FxHashSet<(PointId, Term)> = open.iter().copied().collect();
    let mut solvers: FxHashMap<usize, BitBlaster> = FxHashMap::default();
    while let Some((point, formula)) = open.pop() {
        for number in &system.into[point] {
            let step = &system.steps[*number];
            let solver = solvers.entry(*number).or_insert_with(|| {
                let mut solver = BitBlaster::new();
                solver.assert(terms, step.guard);
                solver
            });
            let after = terms.substitute(formula, &step.updates);
            let mut question = vec![terms.not(after)];
            // Which conjunct an assumption is.
            let mut origin: FxHashMap<Term, (PointId, Term)> = FxHashMap::default();
            for part in step.from.map_or(&[][..], |from| &all[from]) {
                origin.insert(*part, (step.from.unwrap_or(point), *part));
            }
            if let Some(from) = step.from {
                for (instance, part) in instances(terms, &all[from], &step.indices) {
                    origin.entry(instance).or_insert((from, part));
                }
            }
            if let Some((exit, names)) = &step.effect {
                for part in &all[*exit] {
                    let here = terms.substitute(*part, names);
                    origin.entry(here).or_insert((*exit, *part));
                }
            }
            let mut parts: Vec<Term> = origin.keys().copied().collect();
            parts.sort_unstable();
            question.extend(parts);
            let outcome = check_by_cases(solver, terms, &[step.guard], &question, budget);
            let Outcome::Unsat(core) = outcome else { return all };
            let short = Budget { conflicts: Some(PATIENCE), ..budget.clone() };
            let has_product = core.iter().chain([&step.guard]).any(|part| terms.has_product(*part));
            let core = match has_product {
                true => needed_by_arithmetic(terms, step.guard, core),
                false => minimise_core(solver, terms, &core, &short),
            };
            for (at, part) in core.iter().filter_map(|term| origin.get(term).copied()) {
                if done.insert((at, part)) {
                    needed[at].insert(part);
                    open.push((at, part));
                }
            }
        }
    }
    // What holds everywhere is not needed anywhere.
    let budget = Budget { conflicts: Some(PATIENCE), ..budget.clone() };
    let mut is_needed = |part: &Term| is_valid(terms, *part, &budget) != Ok(true);
    needed.into_iter().map(|set| set.into_iter().filter(&mut is_needed).collect()).collect()
}
