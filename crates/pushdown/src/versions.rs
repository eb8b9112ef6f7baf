//! The course of a saturation: how each weight grew, in order of time.
//!
//! \[Kie05\] §4.2 takes a directed acyclic graph of counterexamples from the model checker's record
//! of how configurations were reached. This is that record: every growth of a weight is one
//! [`Version`]; what a version gained follows, by one rule, from versions before it. So joining
//! each version to the earlier ones that it can follow from gives a graph without cycles, and one
//! that has at least one path for everything that saturation found.

use crate::automaton::{Reading, Transition};
use crate::names::RuleId;
use crate::post_star::returned_weight;
use crate::pre_star::called_weight;
use crate::saturation::Saturated;
use crate::semiring::{Merge, Semiring};
use crate::store::NONE;
use crate::system::System;
use crate::witness::NoWitness;

/// A growth of the weight of one transition.
#[derive(Clone, Debug)]
pub struct Version<W> {
    /// The transition. For a call with a merge function the weight is the caller's before the call.
    pub transition: Transition,
    /// What is new, compared with the version before: the difference, where the domain has one,
    /// else the new weight.
    pub gained: W,
}

impl<W: Clone + Eq> Saturated<W> {
    /// All growths of weights, the earliest first. Weights on the seed are not part of them: they
    /// count as `one`.
    ///
    /// ```
    /// use wherefore_pushdown::*;
    /// # struct Reach;
    /// # impl Semiring for Reach {
    /// #     type Weight = bool;
    /// #     fn zero(&self) -> bool { false }
    /// #     fn one(&self) -> bool { true }
    /// #     fn combine(&self, a: &bool, b: &bool) -> bool { *a || *b }
    /// #     fn extend(&self, a: &bool, b: &bool) -> bool { *a && *b }
    /// # }
    /// let mut system: System<bool> = System::new();
    /// let p = system.state("p");
    /// let (a, b) = (system.symbol("a"), system.symbol("b"));
    /// system.add(p, a, p, Rhs::Swap(b), true);
    /// system.add(p, b, p, Rhs::Swap(a), true);
    /// let start = Configuration { state: p, stack: vec![a] };
    /// let seed = Automaton::of_configuration(&system, &start, Reading::Backward, &true);
    /// let options = Options { recording: Recording::Witnesses, ..Options::default() };
    /// let versions = post_star(&Reach, &system, &seed, &options).versions(&Reach, &system).unwrap();
    /// let symbols: Vec<_> = versions.iter().map(|version| version.transition.symbol).collect();
    /// assert_eq!(symbols, [Some(a), Some(b)]);
    /// ```
    pub fn versions<S, M>(&self, domain: &S, system: &System<W, M>) -> Result<Vec<Version<W>>, NoWitness>
    where
        S: Semiring<Weight = W>,
        M: Merge<S>,
    {
        let log = self.log.as_ref().ok_or(NoWitness::NotRecorded)?;
        let store = &self.automaton.store;
        let mut totals: Vec<W> = Vec::new();
        let mut versions = Vec::new();
        for (trans, before, cause) in log.entries() {
            let contribution = match (cause.rule_applied(), cause.first(), cause.second()) {
                (None, None, _) => domain.one(),
                (Some(rule), None, _) => system.weight(rule).clone(),
                (None, Some((_, first)), None) => totals[first as usize].clone(),
                (Some(rule), Some((_, first)), None) => {
                    let first = &totals[first as usize];
                    match self.automaton.reading() {
                        Reading::Backward if store.call(trans) == Some(rule) => first.clone(),
                        Reading::Backward => domain.extend(first, system.weight(rule)),
                        Reading::Forward => domain.extend(system.weight(rule), first),
                    }
                }
                (rule, Some((first, first_at)), Some((_, second_at))) => {
                    let (caller, callee) = (&totals[first_at as usize], &totals[second_at as usize]);
                    match rule {
                        None => {
                            let call = store.call(first).map_or(NONE, |RuleId(rule)| rule);
                            returned_weight(system, domain, call, caller, callee)
                        }
                        Some(rule) => {
                            let returned = self.automaton.is_returning(store.ends(first).2);
                            domain.extend(&called_weight(system, domain, rule, returned, caller), callee)
                        }
                    }
                }
            };
            let old = before.map_or_else(|| domain.zero(), |before| totals[before as usize].clone());
            let total = domain.combine(&old, &contribution);
            let gained = domain.difference(&total, &old).unwrap_or_else(|| total.clone());
            totals.push(total);
            versions.push(Version { transition: self.automaton.transition(trans), gained });
        }
        Ok(versions)
    }
}
