//! Reads of arrays, checked against a candidate model.
//!
//! The search treats every read as free. A candidate that no array explains is refused by a lemma:
//! a clause that holds for all arrays and not for the candidate. Brummayer, Biere 2009, *Lemmas on
//! Demand for the Extensional Theory of Arrays*. **Divergence:** there is no extensionality.

use std::collections::hash_map::Entry;

use rustc_hash::FxHashMap;

use crate::model::{Found, Model};
use crate::terms::{Kind, Term, Terms};

/// Values of terms in a candidate model.
pub(crate) type Values = FxHashMap<Term, u64>;

/// Array and index of a read.
fn parts(terms: &Terms, read: Term) -> (Term, Term) {
    match *terms.kind(read) {
        Kind::Select(array, index) => (array, index),
        _ => unreachable!("only reads are followed"),
    }
}

/// The negations of everything that leads a read to where it ends.
fn detours(terms: &mut Terms, read: Term, values: &Values) -> Vec<Term> {
    let (array, index) = parts(terms, read);
    let mut passed = Vec::new();
    terms.follow(array, values[&index], |t| values[&t], |node, yes| passed.push((node, yes)));
    let mut clause = Vec::new();
    for (node, yes) in passed {
        let condition = match *terms.kind(node) {
            Kind::Store(_, at, _) => terms.eq(at, index),
            Kind::Ite(condition, ..) => condition,
            _ => unreachable!("only writes and choices are passed"),
        };
        clause.push(if yes { terms.not(condition) } else { condition });
    }
    clause
}

/// The lemmas that a candidate violates; if there are none, the elements of array variables are
/// added to the model.
///
/// `values` has the values of all reads, and of all that their arrays and indices are made of.
pub(crate) fn check(terms: &mut Terms, reads: &[Term], values: &Values, model: &mut Model) -> Vec<Vec<Term>> {
    let mut cells: FxHashMap<(Term, u64), Term> = FxHashMap::default();
    let mut lemmas = Vec::new();
    for read in reads.iter().copied() {
        let (array, index) = parts(terms, read);
        let at = values[&index];
        match terms.follow(array, at, |t| values[&t], |_, _| {}) {
            Found::Element(element) if values[&element] == values[&read] => {}
            Found::Element(element) => {
                let mut clause = detours(terms, read, values);
                clause.push(terms.eq(read, element));
                lemmas.push(clause);
            }
            Found::Variable(variable) => match cells.entry((variable, at)) {
                Entry::Vacant(cell) => {
                    cell.insert(read);
                    model.set_element(variable, at, values[&read]);
                }
                Entry::Occupied(cell) => {
                    let other = *cell.get();
                    if values[&other] != values[&read] {
                        let mut clause = detours(terms, read, values);
                        clause.extend(detours(terms, other, values));
                        let same_index = terms.eq(index, parts(terms, other).1);
                        clause.push(terms.not(same_index));
                        clause.push(terms.eq(read, other));
                        lemmas.push(clause);
                    }
                }
            },
        }
    }
    lemmas
}
