//! Craig interpolants of formulas, chains and polarized DAGs over finite data, as decision
//! diagrams.
//!
//! \[Kie05\] chapter 3 for formulas and DAGs, chapter 5 for DAGs with procedures, §4.3.4 and
//! chapter 6 for the heuristics that choose between the strongest and the weakest interpolant.
//! Nothing here knows of programs.
//!
//! # Reading order
//! 1. [`Pair`]: two formulas that contradict each other, and what lies between them (§3.1, §3.2).
//! 2. [`Space`], [`Step`]: stores, and how formulas move along a step.
//! 3. [`Dag`]: the graph, spuriousness (Props. 4.5, 4.8), strongest and weakest interpolants.
//! 4. [`Heuristic`]: which predicates to take.
//! 5. [`impossible_turns`]: counterexamples that go round for ever.

mod dag;
mod heuristic;
mod lasso;
mod space;

use wherefore_domains::bdd::{BddRelations, Moment, Predicate};

pub use dag::{Dag, Link, NodeId, NodeKind};
pub use heuristic::Heuristic;
pub use lasso::impossible_turns;
pub use space::{Space, Step, existential_abstraction};

/// Two formulas over the current values of variables that contradict each other.
///
/// ```
/// use wherefore_check::refinement::diagrams::interpolants::Pair;
/// use wherefore_domains::bdd::BddRelations;
///
/// let d = BddRelations::new(3, 1 << 12);
/// let (p, q, r) = (d.var(0), d.var(1), d.var(2));
/// // A: p ∧ q.  B: (q → r) ∧ ¬r.  In common: q.
/// let a = d.and(&p, &q);
/// let b = d.and(&d.or(&d.not(&q), &r), &d.not(&r));
/// let pair = Pair::new(&d, a, b).unwrap();
/// assert_eq!(pair.strongest(&[0, 1], &[1, 2]), q);
/// assert_eq!(pair.weakest(&[0, 1], &[1, 2]), q);
/// ```
pub struct Pair<'a> {
    domain: &'a BddRelations,
    a: Predicate,
    b: Predicate,
}

impl<'a> Pair<'a> {
    /// The pair; `None` if the formulas do not contradict each other.
    pub fn new(domain: &'a BddRelations, a: Predicate, b: Predicate) -> Option<Self> {
        let contradict = domain.and(&a, &b) == domain.constant(false);
        contradict.then_some(Self { domain, a, b })
    }

    /// `∃ Z: A`, where `Z` are the variables of A that are not variables of B (Thm. 3.11).
    pub fn strongest(&self, of_a: &[usize], of_b: &[usize]) -> Predicate {
        let only = of_a.iter().filter(|i| !of_b.contains(i)).map(|i| (*i, Moment::Current));
        self.domain.some(&self.a, &self.domain.quantified(only))
    }

    /// `∀ Z: ¬B`, where `Z` are the variables of B that are not variables of A (Thm. 3.4).
    pub fn weakest(&self, of_a: &[usize], of_b: &[usize]) -> Predicate {
        let only = of_b.iter().filter(|i| !of_a.contains(i)).map(|i| (*i, Moment::Current));
        self.domain.every(&self.domain.not(&self.b), &self.domain.quantified(only))
    }

    /// Whether `between` is an interpolant: follows from A, contradicts B, and has only variables
    /// of both (Def. 3.1).
    pub fn admits(&self, between: &Predicate, of_a: &[usize], of_b: &[usize]) -> bool {
        let d = self.domain;
        let common = |(i, moment): &(usize, Moment)| {
            *moment == Moment::Current && of_a.contains(i) && of_b.contains(i)
        };
        d.entails(&self.a, between)
            && d.and(between, &self.b) == d.constant(false)
            && d.support(between).iter().all(common)
    }
}
