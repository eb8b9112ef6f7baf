//! Any domain, sorted by the lengths of paths.
//!
//! A weight is a monotone step function `f: ℕ → D`: `f(n)` is the ⊕ of the weights of all paths of
//! at most `n` steps. Combine is pointwise, extend is convolution:
//! `(f ⊗ g)(n) = ⊕ {f(i) ⊗ g(j) | i + j ≤ n}`. So the length of the shortest path whose weight is
//! not 0 can be read off in any domain, where \[Lal09\] Def. 2.4.16 needs one matrix entry for each
//! pair of stores. `f ↦ lim f` is a homomorphism to the inner domain: nothing is lost.
//!
//! - **Chains** are finite. Let `f₁ ≤ f₂ ≤ …` pointwise. The limits `lim fₖ` ascend in `D`, so from
//!   some `k` on they are all equal to some `w`. `fₖ` reaches `w` at some `n`, and so does every
//!   later function, at `n` or before. What is left to change are the values below `n`: finitely
//!   many, each of which ascends in `D`.
//! - **Cost:** a function has at most as many steps as `D` has levels; ⊗ multiplies every pair of
//!   steps.
//! - **Lengths** stop at `u32::MAX`, which stands for all larger ones too.

use std::fmt;

use wherefore_pushdown::{Adjoint, AdjointMerge, Merge, Semiring};

/// A monotone step function from lengths to weights: a weight of [`ByLength`].
///
/// ```
/// use wherefore_domains::{ByLength, Reachability};
///
/// let domain = ByLength::new(Reachability);
/// let w = domain.weight(3, true);
/// assert_eq!(w.shortest(), Some(3));
/// assert_eq!(w.within(2), None);
/// assert_eq!(w.within(7), Some(&true));
/// ```
#[derive(Clone, PartialEq, Eq, Hash)]
pub struct Lengths<W> {
    /// Lengths and values strictly ascend, and no value is 0.
    steps: Vec<(u32, W)>,
}

impl<W> Lengths<W> {
    /// The length of the shortest path with a weight other than 0.
    pub fn shortest(&self) -> Option<u32> {
        Some(self.steps.first()?.0)
    }

    /// The weight of all paths of at most `length` steps; `None` stands for 0.
    pub fn within(&self, length: u32) -> Option<&W> {
        let after = self.steps.partition_point(|(n, _)| *n <= length);
        Some(&self.steps[after.checked_sub(1)?].1)
    }

    /// The weight of all paths; `None` stands for 0.
    pub fn total(&self) -> Option<&W> {
        Some(&self.steps.last()?.1)
    }

    /// The lengths at which the function grows, with the value from there on.
    pub fn steps(&self) -> &[(u32, W)] {
        &self.steps
    }
}

impl<W: fmt::Debug> fmt::Debug for Lengths<W> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_map().entries(self.steps.iter().map(|(n, w)| (n, w))).finish()
    }
}

/// The domain `S`, with weights sorted by the lengths of paths.
///
/// ```
/// use wherefore_domains::{ByLength, Relation, RelationDomain};
/// use wherefore_pushdown::Semiring;
///
/// // A counter that goes up to 2: how long does it take to come from 0 to 2?
/// let domain = ByLength::new(RelationDomain::new(3));
/// let up = domain.step(Relation::from_pairs(3, [(0, 1), (1, 2)]));
/// let test = domain.weight(1, Relation::from_pairs(3, [(2, 2)]));
/// let paths = domain.extend(&domain.star(&up), &test);
/// assert_eq!(paths.within(2), Some(&Relation::from_pairs(3, [(1, 2), (2, 2)])));
/// assert!(paths.within(3).unwrap().contains(0, 2));
/// ```
#[derive(Clone, Debug)]
pub struct ByLength<S> {
    inner: S,
    /// Longer paths count as none.
    longest: u32,
}

impl<S: Semiring> ByLength<S> {
    /// The domain `inner`, sorted by length.
    pub fn new(inner: S) -> Self {
        Self { inner, longest: u32::MAX }
    }

    /// The same, where paths of more than `longest` steps have weight 0.
    ///
    /// Cutting off the long paths is a homomorphism: what is left are exact weights of the others.
    ///
    /// ```
    /// use wherefore_domains::{ByLength, Reachability};
    /// use wherefore_pushdown::Semiring;
    ///
    /// let domain = ByLength::within(Reachability, 5);
    /// let three = domain.weight(3, true);
    /// assert!(!domain.is_zero(&three) && domain.is_zero(&domain.extend(&three, &three)));
    /// ```
    pub fn within(inner: S, longest: u32) -> Self {
        Self { inner, longest }
    }

    /// The domain of the values.
    pub fn inner(&self) -> &S {
        &self.inner
    }

    /// The weight of a rule: a path of length 1.
    pub fn step(&self, w: S::Weight) -> Lengths<S::Weight> {
        self.weight(1, w)
    }

    /// The weight of a path of the given length.
    pub fn weight(&self, length: u32, w: S::Weight) -> Lengths<S::Weight> {
        self.cumulate(vec![(length, w)])
    }

    /// The weight of all paths.
    pub fn total(&self, w: &Lengths<S::Weight>) -> S::Weight {
        w.total().cloned().unwrap_or_else(|| self.inner.zero())
    }

    /// The least function that is at least each weight from its length on.
    fn cumulate(&self, mut terms: Vec<(u32, S::Weight)>) -> Lengths<S::Weight> {
        terms.sort_by_key(|(n, _)| *n);
        let mut steps: Vec<(u32, S::Weight)> = Vec::new();
        let mut value = self.inner.zero();
        for (n, w) in terms.into_iter().take_while(|(n, _)| *n <= self.longest) {
            if self.inner.join(&mut value, &w) {
                if steps.last().is_some_and(|(last, _)| *last == n) {
                    steps.pop();
                }
                steps.push((n, value.clone()));
            }
        }
        Lengths { steps }
    }

    fn convolve(
        &self,
        a: &Lengths<S::Weight>,
        b: &Lengths<S::Weight>,
        more: u32,
        operation: impl Fn(&S::Weight, &S::Weight) -> S::Weight,
    ) -> Lengths<S::Weight> {
        let mut terms = Vec::with_capacity(a.steps.len() * b.steps.len());
        for (i, v) in &a.steps {
            for (j, w) in &b.steps {
                let length = i.saturating_add(*j).saturating_add(more);
                if length > self.longest {
                    break;
                }
                terms.push((length, operation(v, w)));
            }
        }
        self.cumulate(terms)
    }
}

impl<S: Semiring> Semiring for ByLength<S> {
    type Weight = Lengths<S::Weight>;

    fn zero(&self) -> Self::Weight {
        Lengths { steps: Vec::new() }
    }

    fn one(&self) -> Self::Weight {
        self.weight(0, self.inner.one())
    }

    fn combine(&self, a: &Self::Weight, b: &Self::Weight) -> Self::Weight {
        if a.steps.is_empty() || b.steps.is_empty() {
            return if a.steps.is_empty() { b.clone() } else { a.clone() };
        }
        self.cumulate(a.steps.iter().chain(&b.steps).cloned().collect())
    }

    fn extend(&self, a: &Self::Weight, b: &Self::Weight) -> Self::Weight {
        self.convolve(a, b, 0, |a, b| self.inner.extend(a, b))
    }

    fn is_zero(&self, w: &Self::Weight) -> bool {
        w.steps.is_empty()
    }

    fn is_one(&self, w: &Self::Weight) -> bool {
        matches!(&w.steps[..], [(0, w)] if self.inner.is_one(w))
    }

    /// `n ↦ ⊕ {a(m) − b(m) | m ≤ n}`, where the inner domain has a difference that distributes over
    /// ⊕ on the left.
    fn difference(&self, a: &Self::Weight, b: &Self::Weight) -> Option<Self::Weight> {
        // `b` only grows between two steps of `a`, so its value at the steps of `a` decides.
        let zero = self.inner.zero();
        let new = |(n, w): &(u32, S::Weight)| {
            let old = b.within(*n).unwrap_or(&zero);
            Some((*n, self.inner.difference(w, old)?))
        };
        Some(self.cumulate(a.steps.iter().map(new).collect::<Option<_>>()?))
    }

    /// The length of the shortest path: breadth first.
    fn rank(&self, w: &Self::Weight) -> u64 {
        w.shortest().map_or(u64::MAX, u64::from)
    }

    fn exhausted(&self) -> bool {
        self.inner.exhausted()
    }

    fn is_tall(&self) -> bool {
        self.inner.is_tall()
    }
}

/// Contexts do not look at lengths.
impl<S: Adjoint> Adjoint for ByLength<S> {
    type Context = S::Context;

    fn any_context(&self) -> S::Context {
        self.inner.any_context()
    }

    fn no_context(&self) -> S::Context {
        self.inner.no_context()
    }

    fn join_context(&self, into: &mut S::Context, context: &S::Context) -> bool {
        self.inner.join_context(into, context)
    }

    fn pull(&self, before: &Self::Weight, context: &S::Context, after: &Self::Weight) -> S::Context {
        self.inner.pull(&self.total(before), context, &self.total(after))
    }

    fn completes(&self, w: &Self::Weight, context: &S::Context) -> bool {
        w.total().is_some_and(|w| self.inner.completes(w, context))
    }

    fn is_no_context(&self, context: &S::Context) -> bool {
        self.inner.is_no_context(context)
    }
}

/// A merge function of `S`, applied length by length.
///
/// `merge` drops the weight of the call rule, but the call is a step all the same: its length is
/// added here.
///
/// ```
/// use wherefore_domains::{ByLength, ByLengthMerge, Entry, Locals, RelationDomain};
/// use wherefore_pushdown::{Merge, Semiring};
///
/// let domain = ByLength::new(RelationDomain::new(4));
/// let call = ByLengthMerge::new(Locals::new(2, Entry::Inherited), 1);
/// let callee = domain.weight(5, domain.inner().one());
/// assert_eq!(call.merge(&domain, &domain.one(), &callee).shortest(), Some(6));
/// ```
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct ByLengthMerge<M> {
    inner: M,
    length: u32,
}

impl<M> ByLengthMerge<M> {
    /// The merge function `inner` of a call rule that counts for `length` steps, usually 1.
    pub fn new(inner: M, length: u32) -> Self {
        Self { inner, length }
    }

    /// The merge function of the inner domain.
    pub fn inner(&self) -> &M {
        &self.inner
    }
}

impl<S: Semiring, M: Merge<S>> Merge<ByLength<S>> for ByLengthMerge<M> {
    fn merge(
        &self,
        domain: &ByLength<S>,
        caller: &Lengths<S::Weight>,
        callee: &Lengths<S::Weight>,
    ) -> Lengths<S::Weight> {
        domain.convolve(caller, callee, self.length, |a, b| self.inner.merge(&domain.inner, a, b))
    }

    fn path_extension(&self) -> bool {
        self.inner.path_extension()
    }
}

impl<S: Adjoint, M: AdjointMerge<S>> AdjointMerge<ByLength<S>> for ByLengthMerge<M> {
    fn pull(
        &self,
        domain: &ByLength<S>,
        before: &Lengths<S::Weight>,
        context: &S::Context,
        after: &Lengths<S::Weight>,
    ) -> S::Context {
        self.inner.pull(&domain.inner, &domain.total(before), context, &domain.total(after))
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::{Cost, Entry, Locals, Reachability, Relation, RelationDomain, ShortestPath};
    use proptest::prelude::*;
    use wherefore_pushdown::laws;

    fn relation() -> impl Strategy<Value = Relation> {
        prop::collection::vec((0..4usize, 0..4usize), 0..5).prop_map(|pairs| Relation::from_pairs(4, pairs))
    }

    fn lengths() -> impl Strategy<Value = Lengths<Relation>> {
        prop::collection::vec((0..5u32, relation()), 0..4)
            .prop_map(|terms| ByLength::new(RelationDomain::new(4)).cumulate(terms))
    }

    proptest! {
        #![proptest_config(ProptestConfig::with_cases(48))]

        #[test]
        fn laws_hold_over_relations(samples in prop::collection::vec(lengths(), 3)) {
            let domain = ByLength::new(RelationDomain::new(4));
            laws::semiring(&domain, &samples).unwrap();
            laws::adjoint(&domain, &samples).unwrap();
            let call = ByLengthMerge::new(Locals::new(2, Entry::Uninitialised), 1);
            laws::merge(&domain, &call, &samples).unwrap();
            laws::adjoint_merge(&domain, &call, &samples).unwrap();
        }

        #[test]
        fn laws_hold_over_costs(terms in prop::collection::vec(prop::collection::vec((0..4u32, 0..9u64), 0..4), 3)) {
            let domain = ByLength::new(ShortestPath);
            let costs = |t: Vec<(u32, u64)>| t.into_iter().map(|(n, c)| (n, Cost::finite(c))).collect();
            let samples: Vec<_> = terms.into_iter().map(|t| domain.cumulate(costs(t))).collect();
            laws::semiring(&domain, &samples).unwrap();
            laws::adjoint(&domain, &samples).unwrap();
        }

        #[test]
        fn each_value_is_the_sum_of_the_short_enough_paths(a in lengths(), b in lengths(), n in 0..9u32) {
            let domain = ByLength::new(RelationDomain::new(4));
            let inner = domain.inner();
            let value = |w: &Lengths<Relation>, n| w.within(n).cloned().unwrap_or_else(|| inner.zero());
            let product = domain.extend(&a, &b);
            let sums = (0..=n).map(|i| inner.extend(&value(&a, i), &value(&b, n - i)));
            prop_assert_eq!(value(&product, n), sums.fold(inner.zero(), |all, w| inner.combine(&all, &w)));
            let sum = domain.combine(&a, &b);
            prop_assert_eq!(value(&sum, n), inner.combine(&value(&a, n), &value(&b, n)));
            prop_assert_eq!(domain.total(&product), inner.extend(&domain.total(&a), &domain.total(&b)));
        }
    }

    #[test]
    fn a_longer_path_that_adds_nothing_is_forgotten() {
        let domain = ByLength::new(Reachability);
        let w = domain.combine(&domain.weight(4, true), &domain.weight(2, true));
        assert_eq!(w.steps(), [(2, true)]);
        assert!(domain.is_zero(&domain.weight(1, false)));
    }

    #[test]
    fn lengths_do_not_wrap() {
        let domain = ByLength::new(Reachability);
        let long = domain.weight(u32::MAX, true);
        assert_eq!(domain.extend(&long, &long), long);
    }

    #[test]
    fn the_call_counts_as_a_step() {
        let domain = ByLength::new(RelationDomain::new(4));
        let w = domain.step(domain.inner().one());
        let call = ByLengthMerge::new(Locals::new(2, Entry::Inherited), 1);
        assert_eq!(call.merge(&domain, &w, &w).shortest(), Some(3));
        assert_eq!(domain.rank(&w), 1);
    }
}
