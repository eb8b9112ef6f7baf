//! Sets of truth values in words: alternatives, each a conjunction of conditions of the source.

use wherefore_domains::bdd::{BddRelations, Predicate};
use wherefore_smt::{BitBlaster, Budget, Outcome, Solver, Term, Terms};

use super::NOT_WRITTEN;
use super::block::Block;
use super::relations::Tracked;
use crate::source_text::Vocabulary;

/// More alternatives than this are not listed: then nothing is said.
const MOST: usize = 24;

/// What the solver may spend on making conditions shorter.
const FEW: u64 = 500;

/// Alternatives, each a conjunction. An empty one is no condition.
pub(super) type Alternatives = Vec<Vec<Term>>;

/// The conditions under which some truth values hold: a smallest sum of products. What would be too
/// long is no condition.
pub(super) fn of(
    terms: &mut Terms,
    d: &BddRelations,
    tracked: &[Tracked],
    stores: &Predicate,
) -> Alternatives {
    // Bits that are not tracked here are 0, which says nothing.
    let others: Vec<usize> =
        (0..d.variable_count()).filter(|bit| !tracked.iter().any(|(_, known)| known == bit)).collect();
    let cubes = d.cubes(&d.exists(stores, &others), MOST + 1);
    if cubes.len() > MOST {
        return vec![Vec::new()];
    }
    let mut all = Vec::new();
    for cube in cubes {
        let mut literals: Vec<Term> = Vec::new();
        for (formula, bit) in tracked {
            match cube[*bit] {
                Some(true) => literals.push(*formula),
                Some(false) => literals.push(terms.not(*formula)),
                None => {}
            }
        }
        all.push(literals);
    }
    all
}

/// Conditions behind a block as conditions before it. What depends on a value from outside is left
/// out: some value will do.
pub(super) fn before(terms: &mut Terms, block: &Block, behind: &Alternatives) -> Alternatives {
    let mut all = Vec::new();
    for alternative in behind {
        let mut literals = block.guards.clone();
        literals.extend(alternative.iter().map(|literal| block.before(terms, *literal)));
        literals.retain(|literal| {
            let known = terms.variables(*literal);
            *literal != Terms::TRUE && !known.iter().any(|variable| block.inputs.contains(variable))
        });
        literals.dedup();
        if !literals.contains(&Terms::FALSE) {
            all.push(literals);
        }
    }
    all
}

/// Whether an alternative is no condition: then the others do not matter.
pub(super) fn is_nothing(alternatives: &Alternatives) -> bool {
    alternatives.iter().any(Vec::is_empty)
}

/// The conditions before one of some blocks, each with the conditions behind it.
pub(super) fn of_ways<'w>(
    terms: &mut Terms,
    ways: impl Iterator<Item = (&'w Block, &'w Alternatives)>,
) -> Alternatives {
    let mut all = Alternatives::new();
    for (block, behind) in ways {
        all.extend(before(terms, block, behind));
        if all.len() > MOST || is_nothing(&all) {
            return vec![Vec::new()];
        }
    }
    all
}

/// Conditions in words; none that follows from the others beside it. If some alternative always
/// holds, that is no condition.
pub(super) fn in_source_words(
    terms: &mut Terms,
    alternatives: Alternatives,
    words: &Vocabulary,
    budget: &Budget,
) -> Vec<Vec<String>> {
    let mut solver = BitBlaster::new();
    let few = Budget { conflicts: Some(FEW), ..budget.clone() };
    let each: Vec<Term> = alternatives.iter().map(|literals| terms.all(literals)).collect();
    let any = terms.any(&each);
    let none = terms.not(any);
    if alternatives.len() > 1 && matches!(solver.check(terms, &[none], &few), Outcome::Unsat(_)) {
        return vec![Vec::new()];
    }
    let mut all = Vec::new();
    for mut literals in alternatives {
        without_the_implied(terms, &mut solver, &mut literals, &few);
        let text = |literal| words.write(terms, literal).unwrap_or_else(|| NOT_WRITTEN.to_owned());
        all.push(literals.into_iter().map(text).collect());
    }
    all
}

/// Drops what follows from the rest. What the solver does not know in a moment stays.
fn without_the_implied(
    terms: &mut Terms,
    solver: &mut BitBlaster,
    literals: &mut Vec<Term>,
    budget: &Budget,
) {
    let mut at = 0;
    while at < literals.len() && literals.len() > 1 {
        let mut rest = literals.clone();
        let literal = rest.remove(at);
        let not = terms.not(literal);
        let mut question = rest.clone();
        question.push(not);
        if matches!(solver.check(terms, &question, budget), Outcome::Unsat(_)) {
            *literals = rest;
        } else {
            at += 1;
        }
    }
}

/// Alternatives in order, each once, without those that another one covers.
pub(super) fn shorten(alternatives: &mut Vec<Vec<String>>) {
    alternatives.iter_mut().for_each(|conditions| {
        conditions.sort();
        conditions.dedup();
    });
    alternatives.sort();
    alternatives.dedup();
    let all = alternatives.clone();
    let covers = |weaker: &Vec<String>, stronger: &Vec<String>| {
        weaker != stronger && weaker.iter().all(|condition| stronger.contains(condition))
    };
    alternatives.retain(|conditions| !all.iter().any(|other| covers(other, conditions)));
}
