//! Formulas in the words of the source.

use rustc_hash::FxHashMap;
use wherefore_smt::{Term, Terms};

/// Formulas that would be longer than this, written out, are not.
const MOST_PARTS: u64 = 400;

/// How many parts a formula has when it is written out, with what it shares repeated.
fn parts(terms: &Terms, formula: Term, known: &mut FxHashMap<Term, u64>) -> u64 {
    if let Some(known) = known.get(&formula) {
        return *known;
    }
    let mut children = Vec::new();
    terms.for_each_child(formula, |child| children.push(child));
    let count = children.into_iter().fold(1_u64, |sum, child| sum.saturating_add(parts(terms, child, known)));
    known.insert(formula, count);
    count
}

/// A formula with the names of the source: numbers of variables and of frames are left out.
pub(super) fn in_words(terms: &Terms, formula: Term) -> String {
    let count = parts(terms, formula, &mut FxHashMap::default());
    if count > MOST_PARTS {
        return format!("a formula of {} parts", terms.size(formula));
    }
    let shown = terms.display(formula).to_string();
    let mut words = String::with_capacity(shown.len());
    let mut rest = shown.chars().peekable();
    while let Some(letter) = rest.next() {
        let numbered = matches!(letter, '!' | '#') && rest.peek().is_some_and(char::is_ascii_digit);
        let after_name = words.ends_with(|last: char| last.is_alphanumeric() || last == '_');
        if numbered && after_name {
            while rest.peek().is_some_and(char::is_ascii_digit) {
                rest.next();
            }
        } else {
            words.push(letter);
        }
    }
    words
}
