//! The merge function of Boolean programs: a caller's local variables survive a call.
//!
//! \[Lal09\] §3.5.1: `merge(w₁, w₂) = w₁ ⊗ project(w₂)`, where *project* forgets what the callee
//! did to its locals and puts the identity in its place. Path extension holds, by associativity of
//! ⊗.
//!
//! **Divergence.** The printed `project(w) = {(g₁, l₁, g₂, l₁) | (g₁, l₁, g₂, l₂) ∈ w}` ties the
//! locals with which the callee starts to those of the caller. But merging drops the weight of the
//! call rule, which was to untie them. So the start of the callee is part of the merge function
//! here ([`Entry`]): `merge(w₁, w₂) = w₁ ⊗ project(entry ⊗ w₂)`.

use wherefore_pushdown::{Adjoint, AdjointMerge, Merge, Semiring};

use crate::relation::{Relation, RelationDomain};

/// How the local variables of a callee start.
///
/// ```
/// use wherefore_domains::{Entry, Relation};
///
/// // A parameter, the only local bit, is bound to the value 1; there are no globals.
/// let _entry = Entry::Bound(Relation::from_fn(2, |_| [1]));
/// ```
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Entry<W> {
    /// With the values of the caller's locals: *project* exactly as printed in \[Lal09\] §3.5.1.
    Inherited,
    /// With any values: the call rule has weight `{(g, l₁, g, l₂)}`, as in the text of \[Lal09\]
    /// §3.5.1.
    Uninitialised,
    /// In a store that this weight relates to the caller's: parameters are passed.
    ///
    /// This is the weight of the call rule.
    Bound(W),
}

/// Stores are pairs of a global and a local part; calls keep the caller's local part.
///
/// Store `(g, l)` is element `g · locals + l`. The merge function of [`RelationDomain`].
///
/// ```
/// use wherefore_domains::{Entry, Locals, Relation, RelationDomain};
///
/// // One global bit and one local bit; the callee negates both.
/// let domain = RelationDomain::new(4);
/// let locals = Locals::new(2, Entry::Inherited);
/// let callee = Relation::from_fn(4, |store| [3 - store]);
/// let seen_by_caller = Relation::from_fn(4, |store| [store ^ 2]);
/// assert_eq!(locals.project(&domain, &callee), seen_by_caller);
/// ```
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Locals<W = Relation> {
    locals: usize,
    entry: Entry<W>,
}

impl<W> Locals<W> {
    /// The merge function for stores with `locals` local parts.
    ///
    /// # Panics
    /// If `locals` is 0: a store without local variables has one local part.
    pub fn new(locals: usize, entry: Entry<W>) -> Self {
        assert!(locals > 0, "there is always at least one local part");
        Self { locals, entry }
    }

    /// How many local parts a store can have.
    pub fn locals(&self) -> usize {
        self.locals
    }

    /// How the locals of the callee start.
    pub fn entry(&self) -> &Entry<W> {
        &self.entry
    }

    /// Checks that `size` stores split evenly.
    pub(crate) fn check(&self, size: usize) {
        assert!(size % self.locals == 0, "{size} stores, but {} local parts", self.locals);
    }
}

impl Locals<Relation> {
    /// `{(g₁, l₁, g₂, l₁) | (g₁, l₁, g₂, l₂) ∈ entry ⊗ w}`.
    pub fn project(&self, domain: &RelationDomain, w: &Relation) -> Relation {
        self.check(domain.size());
        let k = self.locals;
        let keep = |(a, b): (usize, usize)| (a, b / k * k + a % k);
        match &self.entry {
            Entry::Inherited => Relation::from_pairs(w.size(), w.pairs().map(keep)),
            Entry::Bound(entry) => Relation::from_pairs(w.size(), domain.extend(entry, w).pairs().map(keep)),
            Entry::Uninitialised => {
                let same = |(a, b)| (0..k).map(move |l| (a / k * k + l, b / k * k + l));
                Relation::from_pairs(w.size(), w.pairs().flat_map(same))
            }
        }
    }

    /// The adjoint of [`project`](Self::project): `project(z)` meets `c` exactly when `z` meets the
    /// result.
    ///
    /// It is `entryᵀ ⊗ {(g₁, l₁, g₂, l₂) | (g₁, l₁, g₂, l₁) ∈ c}`.
    pub fn pull_project(&self, domain: &RelationDomain, c: &Relation) -> Relation {
        self.check(domain.size());
        let k = self.locals;
        let kept = c.pairs().filter(|(a, b)| a % k == b % k);
        let exits = |b: usize| (0..k).map(move |l| b / k * k + l);
        if self.entry == Entry::Uninitialised {
            let free = kept.flat_map(|(a, b)| exits(a).flat_map(move |a| exits(b).map(move |b| (a, b))));
            return Relation::from_pairs(c.size(), free);
        }
        let free = Relation::from_pairs(c.size(), kept.flat_map(|(a, b)| exits(b).map(move |b| (a, b))));
        match &self.entry {
            Entry::Bound(entry) => domain.extend(&entry.transpose(), &free),
            _ => free,
        }
    }
}

impl Merge<RelationDomain> for Locals {
    fn merge(&self, domain: &RelationDomain, caller: &Relation, callee: &Relation) -> Relation {
        domain.extend(caller, &self.project(domain, callee))
    }
}

impl AdjointMerge<RelationDomain> for Locals {
    fn pull(
        &self,
        domain: &RelationDomain,
        before: &Relation,
        context: &Relation,
        after: &Relation,
    ) -> Relation {
        self.pull_project(domain, &domain.pull(before, context, after))
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;
    use wherefore_pushdown::laws;

    fn relation() -> impl Strategy<Value = Relation> {
        prop::collection::vec((0..6usize, 0..6usize), 0..10).prop_map(|pairs| Relation::from_pairs(6, pairs))
    }

    /// The weight on call rules in §3.5.1.
    fn forget_locals(locals: usize) -> Relation {
        Relation::from_fn(6, |a| (0..locals).map(move |l| a / locals * locals + l))
    }

    proptest! {
        #![proptest_config(ProptestConfig::with_cases(64))]

        #[test]
        fn laws_hold_for_every_entry(samples in prop::collection::vec(relation(), 3), bound in relation()) {
            let domain = RelationDomain::new(6);
            for entry in [Entry::Inherited, Entry::Uninitialised, Entry::Bound(bound)] {
                let locals = Locals::new(3, entry);
                laws::merge(&domain, &locals, &samples).unwrap();
                laws::adjoint_merge(&domain, &locals, &samples).unwrap();
            }
        }

        #[test]
        fn uninitialised_locals_are_bound_by_the_call_rule_that_forgets_them(w in relation()) {
            let domain = RelationDomain::new(6);
            let short = Locals::new(2, Entry::Uninitialised);
            let long = Locals::new(2, Entry::Bound(forget_locals(2)));
            prop_assert_eq!(short.project(&domain, &w), long.project(&domain, &w));
            prop_assert_eq!(short.pull_project(&domain, &w), long.pull_project(&domain, &w));
        }

        #[test]
        fn projection_keeps_locals_and_no_more(w in relation()) {
            let domain = RelationDomain::new(6);
            let inherited = Locals::new(2, Entry::Inherited).project(&domain, &w);
            for (a, b) in (0..6).flat_map(|a| (0..6).map(move |b| (a, b))) {
                let some_exit = w.image(a).any(|exit| exit / 2 == b / 2);
                prop_assert_eq!(inherited.contains(a, b), a % 2 == b % 2 && some_exit);
            }
        }
    }

    #[test]
    fn a_callee_that_needs_another_local_value_returns_only_if_its_locals_are_free() {
        // The callee sets the global bit only if its local bit starts as 1; the caller's is 0.
        let domain = RelationDomain::new(4);
        let callee = Relation::from_pairs(4, [(1, 3)]);
        let caller = domain.partial_identity([0]);
        let inherited = Locals::new(2, Entry::Inherited);
        assert!(domain.is_zero(&inherited.merge(&domain, &caller, &callee)));
        let free = Locals::new(2, Entry::Uninitialised);
        assert_eq!(free.merge(&domain, &caller, &callee), Relation::from_pairs(4, [(0, 2)]));
        let bound = Locals::new(2, Entry::Bound(Relation::from_fn(4, |a| [a | 1])));
        assert_eq!(bound.merge(&domain, &caller, &callee), Relation::from_pairs(4, [(0, 2)]));
    }

    #[test]
    #[should_panic(expected = "4 stores, but 3 local parts")]
    fn stores_that_do_not_split_are_refused() {
        let domain = RelationDomain::new(4);
        Locals::new(3, Entry::Inherited).project(&domain, &domain.one());
    }
}
