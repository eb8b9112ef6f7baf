//! Finite-state properties: the product of a pushdown system with an automaton that watches its
//! runs.
//!
//! \[Lal09\] §2.4.3. The automaton reads the topmost symbol of the stack at every step. Its state
//! becomes part of the weight: rule `r = ⟨p, γ⟩ ↪ ⟨p′, u⟩` of weight `f(r)` gets `{q₁ → q₂ with
//! f(r) | (q₁, q₂) ∈ R_γ}` in the relational domain on the automaton's states, weighted with the
//! domain of the system (Def. 2.4.16). A run violates the property if its weight leads from the
//! initial to an accepting state.
//!
//! **Requires:** a system without merge functions; with them the callee would have to hand its
//! state to the caller. **Cost:** see [`WeightedRelations`]: cubic in the number of the automaton's
//! states for each ⊗.

use std::collections::BTreeMap;

use wherefore_pushdown::{Semiring, Symbol, System};

use crate::relation::Relation;
use crate::weighted_relation::{WeightedRelation, WeightedRelations};

/// A finite automaton on the symbols of a stack; it stays where it is on symbols without an edge.
///
/// A symbol counts when a rule *leaves* it. States are numbered from 0; accepting states mean that
/// the property is violated.
///
/// ```
/// use wherefore_domains::{PropertyAutomaton, Reachability};
/// use wherefore_pushdown::{Rhs, Semiring, System};
///
/// // The property: `use` never comes after `free`.
/// let mut system = System::new();
/// let p = system.state("p");
/// let (free, reuse, end) = (system.symbol("free"), system.symbol("use"), system.symbol("end"));
/// let first = system.add(p, free, p, Rhs::Swap(reuse), true);
/// let second = system.add(p, reuse, p, Rhs::Swap(end), true);
///
/// let mut property = PropertyAutomaton::new(3, 0);
/// property.edge(0, free, 1).edge(1, reuse, 2).accept(2);
/// let (domain, product) = property.product(Reachability, &system);
/// let run = domain.extend(product.weight(first), product.weight(second));
/// assert!(property.violation(&domain, &run));
/// assert!(!property.violation(&domain, product.weight(first)));
/// ```
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct PropertyAutomaton {
    initial: usize,
    accepting: Vec<bool>,
    edges: BTreeMap<(usize, Symbol), Vec<usize>>,
}

impl PropertyAutomaton {
    /// An automaton with `states` states and no edges.
    ///
    /// # Panics
    /// If `initial` is not below `states`.
    pub fn new(states: usize, initial: usize) -> Self {
        assert!(initial < states, "initial state {initial} is not in 0..{states}");
        Self { initial, accepting: vec![false; states], edges: BTreeMap::new() }
    }

    /// Adds an edge.
    ///
    /// # Panics
    /// If there is no such state.
    pub fn edge(&mut self, from: usize, symbol: Symbol, to: usize) -> &mut Self {
        let states = self.state_count();
        assert!(from < states && to < states, "edge {from} → {to}, but the states are 0..{states}");
        let targets = self.edges.entry((from, symbol)).or_default();
        if !targets.contains(&to) {
            targets.push(to);
        }
        self
    }

    /// Makes a state accepting, and final: edges that leave it are ignored, so that a violation is
    /// never forgotten.
    ///
    /// # Panics
    /// If there is no such state.
    pub fn accept(&mut self, state: usize) -> &mut Self {
        self.accepting[state] = true;
        self
    }

    /// How many states there are.
    pub fn state_count(&self) -> usize {
        self.accepting.len()
    }

    /// The initial state.
    pub fn initial(&self) -> usize {
        self.initial
    }

    /// Whether a state is accepting.
    pub fn is_accepting(&self, state: usize) -> bool {
        self.accepting[state]
    }

    /// `R_γ`: what reading `symbol` does to the state.
    pub fn relation(&self, symbol: Symbol) -> Relation {
        Relation::from_fn(self.state_count(), |q| match self.edges.get(&(q, symbol)) {
            Some(targets) if !self.accepting[q] => targets.clone(),
            _ => vec![q],
        })
    }

    /// The product of a system with this automaton, and the domain of its weights.
    ///
    /// Names and numbers of states, symbols and rules stay the same.
    pub fn product<S: Semiring>(
        &self,
        domain: S,
        system: &System<S::Weight>,
    ) -> (WeightedRelations<S>, System<WeightedRelation<S::Weight>>) {
        let domain = WeightedRelations::new(domain, self.state_count());
        let product = system.map_weights(|id, weight| {
            if !system.is_live(id) {
                return domain.zero();
            }
            let relation = self.relation(system.rule(id).symbol);
            domain.weight(relation.pairs().map(|(q, r)| (q, r, weight.clone())))
        });
        (domain, product)
    }

    /// The weight of those runs in `w` that violate the property: from the initial state to
    /// accepting ones.
    pub fn violation<S: Semiring>(
        &self,
        domain: &WeightedRelations<S>,
        w: &WeightedRelation<S::Weight>,
    ) -> S::Weight {
        let accepting = (0..self.state_count()).filter(|q| self.accepting[*q]);
        accepting.fold(domain.inner().zero(), |all, q| domain.inner().combine(&all, w.get(self.initial, q)))
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::{Cost, ShortestPath};
    use wherefore_pushdown::{Rhs, RuleId};

    /// Null dereferences of a pointer p: states 0 (null), 1 (points somewhere), 2 (error), as in
    /// Fig. 2.15.
    fn null_pointer(set: Symbol, clear: Symbol, dereference: Symbol) -> PropertyAutomaton {
        let mut automaton = PropertyAutomaton::new(3, 0);
        automaton.edge(0, set, 1).edge(1, clear, 0).edge(0, dereference, 2).accept(2);
        automaton
    }

    fn system() -> (System<Cost>, PropertyAutomaton) {
        let mut system = System::new();
        let p = system.state("p");
        let symbols = ["set", "clear", "dereference", "other"].map(|name| system.symbol(name));
        for symbol in symbols {
            system.add(p, symbol, p, Rhs::Swap(symbols[3]), Cost::finite(1));
        }
        let property = null_pointer(symbols[0], symbols[1], symbols[2]);
        (system, property)
    }

    fn violation_of(run: &[u32]) -> Cost {
        let (system, property) = system();
        let (domain, product) = property.product(ShortestPath, &system);
        let weight = |w, rule: &u32| domain.extend(&w, product.weight(RuleId(*rule)));
        property.violation(&domain, &run.iter().fold(domain.one(), weight))
    }

    #[test]
    fn a_pointer_that_is_set_may_be_dereferenced() {
        let [set, clear, dereference, other] = [0, 1, 2, 3];
        assert_eq!(violation_of(&[set, dereference, other, dereference]), Cost::INFINITY);
        assert_eq!(violation_of(&[dereference]), Cost::finite(1));
        assert_eq!(violation_of(&[set, clear, other, dereference]), Cost::finite(4));
        assert_eq!(violation_of(&[]), Cost::INFINITY);
    }

    #[test]
    fn a_violation_is_not_forgotten() {
        assert_eq!(violation_of(&[2, 0, 3]), Cost::finite(3));
        let (_, mut property) = system();
        let first = Symbol(0);
        property.edge(2, first, 0);
        assert!(property.relation(first).contains(2, 2));
        assert!(!property.relation(first).contains(2, 0));
    }

    #[test]
    fn undefined_labels_change_nothing() {
        let (mut system, property) = system();
        let fresh = system.symbol("fresh");
        let relation = property.relation(fresh);
        assert_eq!(relation.pairs().collect::<Vec<_>>(), [(0, 0), (1, 1), (2, 2)]);
    }

    #[test]
    fn an_automaton_may_choose() {
        let (system, _) = system();
        let mut guess = PropertyAutomaton::new(2, 0);
        guess.edge(0, Symbol(0), 0).edge(0, Symbol(0), 1).accept(1);
        let (domain, product) = guess.product(ShortestPath, &system);
        let w = product.weight(RuleId(0));
        assert_eq!((*w.get(0, 0), *w.get(0, 1)), (Cost::finite(1), Cost::finite(1)));
        assert_eq!(guess.violation(&domain, w), Cost::finite(1));
    }

    #[test]
    fn removed_rules_stay_removed() {
        let (mut system, property) = system();
        system.remove_rule(RuleId(2));
        let (domain, product) = property.product(ShortestPath, &system);
        assert!(!product.is_live(RuleId(2)));
        assert!(domain.is_zero(product.weight(RuleId(2))));
        assert_eq!(product.rule_count(), 3);
    }
}
