//! The error projection in the loop: what lies on no abstract failing run is left out of later
//! iterations.
//!
//! \[Lal09\] chapter 5. After a search that reaches the error, a transition is inside if an
//! abstract failing run takes it; the others are dropped, and their relations are not computed
//! again. Finer abstractions have fewer runs, so what is dropped would stay outside, but for
//! relations that are left open as too large (`relations`): these can grow with the predicates.
//! Therefore an error that is not reached any more is no proof yet: the whole program is abstracted
//! once more, and the proof is about that.
//!
//! **Cost:** about that of a search. So it is done after iterations 1, 2, 4, 8, …: after every
//! iteration it took longer than it saved.

use rustc_hash::FxHashSet;
use wherefore_domains::bdd::Predicate;
use wherefore_pushdown::{Completions, Saturated};

use super::abstraction::Abstract;
use super::graph::Transition;
use super::{Refinement, goal};

impl Refinement<'_> {
    /// Drops the transitions that are on no failing run of the abstract program, in some
    /// iterations.
    pub(super) fn narrow(&mut self, program: &Abstract, post: &Saturated<Predicate>) {
        if !(self.iterations + 1).is_power_of_two() {
            return;
        }
        let goal = goal(program);
        let completions = Completions::new(&program.bits, &program.system, &post.automaton, &goal);
        let rules = program.system.rules().filter(|(rule, _)| completions.contains_rule(*rule));
        let inside: FxHashSet<Transition> =
            rules.filter_map(|(rule, _)| program.origins[rule.index()]).collect();
        let blocks = (0..self.graph.blocks.len()).map(Transition::Block);
        let calls = (0..self.graph.calls.len()).flat_map(|i| [Transition::Enter(i), Transition::Resume(i)]);
        let outside = blocks.chain(calls).filter(|transition| !inside.contains(transition));
        self.abstraction.outside.extend(outside);
    }

    /// Takes all transitions back; whether some had been dropped.
    pub(super) fn widen(&mut self) -> bool {
        let is_narrowed = !self.abstraction.outside.is_empty();
        self.abstraction.outside.clear();
        is_narrowed
    }
}
