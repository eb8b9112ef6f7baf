//! Formulas for all values of a bound variable, where they are assumed.
//!
//! A formula with a bound variable says that it holds for every value of it. Where it must hold, the
//! variable is left free, and the question is asked for all values at once. Where it is assumed, it
//! may be used for any number: here, for the indices that occur in the question. Every instance
//! follows from the formula, so that a question with instances is none too easy.

use std::collections::BTreeSet;

use rustc_hash::{FxHashMap, FxHashSet};
use wherefore_smt::{Kind, Term, Terms};

use crate::induction::elements::bound_of;

/// Instances at most; without the others a proof may be refused.
const MOST: usize = 24;

/// An obligation under the assumption of a formula for all values of its bound variables.
pub(super) fn with_instances(terms: &mut Terms, formula: Term, obligation: Term) -> Term {
    let parts = match terms.kind(formula) {
        Kind::And(list) => list.to_vec(),
        _ => vec![formula],
    };
    let universal: Vec<(Term, Term)> =
        parts.into_iter().filter_map(|part| Some((part, bound_of(terms, part)?))).collect();
    if universal.is_empty() {
        return obligation;
    }
    let mut assumed = Vec::new();
    let numbers = numbers(terms, obligation);
    for (part, bound) in universal {
        let sort = terms.sort(bound);
        for number in &numbers {
            if terms.sort(*number) == sort {
                assumed.push(terms.substitute(part, &FxHashMap::from_iter([(bound, *number)])));
            }
        }
    }
    let assumed = terms.all(&assumed);
    terms.implies(assumed, obligation)
}

/// Indices in a term, and numbers that they are extended from, without bound variables.
fn numbers(terms: &Terms, root: Term) -> Vec<Term> {
    let mut found: BTreeSet<Term> = BTreeSet::new();
    let mut seen: FxHashSet<(Term, bool)> = FxHashSet::default();
    let mut open = vec![(root, false)];
    while let Some((term, is_index)) = open.pop() {
        if !seen.insert((term, is_index)) {
            continue;
        }
        match *terms.kind(term) {
            Kind::Select(array, index) => {
                found.insert(index);
                open.extend([(array, false), (index, true)]);
            }
            Kind::Store(array, index, element) => {
                found.insert(index);
                open.extend([(array, false), (index, true), (element, false)]);
            }
            Kind::ZeroExtend(inner) | Kind::SignExtend(inner) if is_index => {
                found.insert(inner);
                open.push((inner, false));
            }
            _ => terms.for_each_child(term, |child| open.push((child, is_index))),
        }
    }
    found.retain(|number| terms.constant(*number).is_none() && bound_of(terms, *number).is_none());
    found.into_iter().take(MOST).collect()
}
