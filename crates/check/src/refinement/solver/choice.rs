//! Which of several reasons gives the predicates.
//!
//! A loop that is left after no turn, after one, after two, … gives `x == 0`, `x == 1`, `x == 2`, …
//! for ever, if each counterexample is taken for itself. Such a series shows: the next formula
//! differs from one that is tracked at the same node only in its numbers. Another reason is then
//! preferred, if it brings something new that is no series. A choice only ever decides what is
//! tracked.

use std::hash::{Hash, Hasher};

use rustc_hash::{FxHashMap, FxHashSet, FxHasher};
use wherefore_smt::{Kind, Op, Term, Terms};

use super::graph::PointId;
use super::relations::Tracked;

/// Predicates for points.
pub(super) type Found = Vec<(PointId, Vec<Term>)>;

/// What is to be said about some predicates.
pub(super) struct Judgement {
    pub found: Found,
    /// New ones that go on with a series: they differ from others at their node only in numbers.
    pub series: Found,
    /// New ones that do not.
    pub fresh: Found,
}

impl Judgement {
    /// Whether there is no reason to look for others.
    pub fn is_fine(&self) -> bool {
        self.series.is_empty() && !self.fresh.is_empty()
    }

    /// What is against them; less is better.
    pub fn cost(&self) -> (bool, usize, usize) {
        let count = |found: &Found| found.iter().map(|(_, formulas)| formulas.len()).sum::<usize>();
        let (series, fresh) = (count(&self.series), count(&self.fresh));
        (series + fresh == 0, series, fresh)
    }
}

/// Whether a formula is not tracked, nor its negation.
pub(super) fn is_new(terms: &mut Terms, tracked: &[Tracked], formula: Term) -> bool {
    let not = terms.not(formula);
    !tracked.iter().any(|(known, _)| *known == formula || *known == not)
}

/// Judges some predicates by what is tracked.
pub(super) fn judge(terms: &mut Terms, tracked: &[Vec<Tracked>], found: Found) -> Judgement {
    let mut judgement = Judgement { found: Vec::new(), series: Vec::new(), fresh: Vec::new() };
    let mut seen: FxHashSet<(PointId, Term)> = FxHashSet::default();
    let mut shapes = FxHashMap::default();
    for (node, formulas) in &found {
        let shapes_here: FxHashSet<u64> =
            tracked[*node].iter().map(|(known, _)| shape(terms, *known, &mut shapes)).collect();
        let mut new: Vec<Term> = formulas.clone();
        new.retain(|formula| is_new(terms, &tracked[*node], *formula) && seen.insert((*node, *formula)));
        let (series, fresh): (Vec<Term>, Vec<Term>) =
            new.into_iter().partition(|formula| shapes_here.contains(&shape(terms, *formula, &mut shapes)));
        judgement.series.extend((!series.is_empty()).then_some((*node, series)));
        judgement.fresh.extend((!fresh.is_empty()).then_some((*node, fresh)));
    }
    judgement.found = found;
    judgement
}

/// A number that formulas share which differ only in their numbers, and in what numbers are added
/// where.
fn shape(terms: &Terms, term: Term, known: &mut FxHashMap<Term, u64>) -> u64 {
    if let Some(known) = known.get(&term) {
        return *known;
    }
    let mut hasher = FxHasher::default();
    let made = match terms.kind(term) {
        Kind::Constant(_) => 1,
        Kind::Binary(Op::Add, sum, number) if terms.constant(*number).is_some() => shape(terms, *sum, known),
        Kind::Variable(_) => {
            term.hash(&mut hasher);
            hasher.finish()
        }
        Kind::Not(inner) => shape(terms, *inner, known),
        kind => {
            std::mem::discriminant(kind).hash(&mut hasher);
            if let Kind::Binary(op, ..) = kind {
                op.hash(&mut hasher);
            }
            let mut children = Vec::new();
            terms.for_each_child(term, |child| children.push(child));
            for child in children {
                shape(terms, child, known).hash(&mut hasher);
            }
            hasher.finish()
        }
    };
    known.insert(term, made);
    made
}

#[cfg(test)]
mod tests {
    use super::*;
    use wherefore_smt::Sort;

    #[test]
    fn numbers_alone_make_a_series() {
        let mut terms = Terms::new();
        let [x, y] = ["x", "y"].map(|name| terms.variable(name, Sort::Bits(32)));
        let (one, two) = (terms.bits(1, 32), terms.bits(2, 32));
        let (x1, x2) = (terms.add(x, one), terms.add(x, two));
        let [less, series, other] = [(x1, y), (x2, y), (y, x)].map(|(a, b)| terms.ult(a, b));
        let tracked = vec![vec![(less, 0)], Vec::new()];
        let judged = judge(&mut terms, &tracked, vec![(0, vec![less, series, other]), (1, vec![series])]);
        assert_eq!(judged.series, [(0, vec![series])]);
        assert_eq!(judged.fresh, [(0, vec![other]), (1, vec![series])]);
        assert!(!judged.is_fine());
    }
}
