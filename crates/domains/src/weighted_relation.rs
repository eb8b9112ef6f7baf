//! Relations on a small finite set whose pairs carry weights: square matrices over any domain.
//!
//! \[Lal09\] Def. 2.4.15 and 2.4.16: `R₁ ; R₂` is the matrix product, `R₁ ∪ R₂` the sum. With
//! [`ShortestPath`](crate::ShortestPath) inside, a weight gives the length of the shortest trace
//! between any two stores; with any domain inside, it tracks a property automaton
//! ([`PropertyAutomaton`](crate::PropertyAutomaton), §2.4.3).
//!
//! - **Chains** are finite, since each of the `n²` entries only grows and has finite chains.
//! - **Cost:** ⊕ takes `n²` operations of the inner domain, ⊗ and closure up to `n³`; entries that
//!   are 0 are skipped.

use std::fmt;
use std::sync::Arc;

use wherefore_pushdown::{Adjoint, AdjointMerge, Merge, Semiring};

use crate::locals::{Entry, Locals};

/// A function from pairs of `0..n` to weights: a weight of [`WeightedRelations`]. Clones share
/// their entries.
///
/// ```
/// use wherefore_domains::{Cost, ShortestPath, WeightedRelations};
///
/// let domain = WeightedRelations::new(ShortestPath, 2);
/// let w = domain.weight([(0, 1, Cost::finite(3)), (0, 1, Cost::finite(2))]);
/// assert_eq!(*w.get(0, 1), Cost::finite(2));
/// assert_eq!(*w.get(1, 0), Cost::INFINITY);
/// ```
#[derive(Clone, PartialEq, Eq, Hash)]
pub struct WeightedRelation<W> {
    size: usize,
    entries: Arc<[W]>,
}

impl<W> WeightedRelation<W> {
    fn new(size: usize, entry: impl FnMut((usize, usize)) -> W) -> Self {
        let places = (0..size).flat_map(|a| (0..size).map(move |b| (a, b)));
        Self { size, entries: places.map(entry).collect() }
    }

    /// How many elements the relation is on.
    pub fn size(&self) -> usize {
        self.size
    }

    /// The weight of the pair `(a, b)`.
    pub fn get(&self, a: usize, b: usize) -> &W {
        assert!(b < self.size, "{b} is not in 0..{}", self.size);
        &self.entries[a * self.size + b]
    }

    fn places(&self) -> impl Iterator<Item = (usize, usize, &W)> {
        self.entries.iter().enumerate().map(|(i, w)| (i / self.size, i % self.size, w))
    }
}

impl<W: fmt::Debug> fmt::Debug for WeightedRelation<W> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_list().entries(self.entries.chunks(self.size.max(1))).finish()
    }
}

/// The relational domain on `0..n`, weighted with `S`.
///
/// ```
/// use wherefore_domains::{Cost, ShortestPath, WeightedRelations};
/// use wherefore_pushdown::Semiring;
///
/// let domain = WeightedRelations::new(ShortestPath, 3);
/// let step = domain.weight([(0, 1, Cost::finite(1)), (1, 2, Cost::finite(1)), (0, 2, Cost::finite(5))]);
/// assert_eq!(*domain.star(&step).get(0, 2), Cost::finite(2));
/// ```
#[derive(Clone, Debug)]
pub struct WeightedRelations<S> {
    inner: S,
    size: usize,
}

impl<S: Semiring> WeightedRelations<S> {
    /// The relations on `0..size`, weighted with `inner`.
    pub fn new(inner: S, size: usize) -> Self {
        Self { inner, size }
    }

    /// The domain of the entries.
    pub fn inner(&self) -> &S {
        &self.inner
    }

    /// How many elements the relations are on.
    pub fn size(&self) -> usize {
        self.size
    }

    /// The relation with these weights, ⊕-combined where a pair occurs twice, and 0 elsewhere.
    ///
    /// # Panics
    /// If an element of a pair is not below the size.
    pub fn weight(
        &self,
        entries: impl IntoIterator<Item = (usize, usize, S::Weight)>,
    ) -> WeightedRelation<S::Weight> {
        let mut all = vec![self.inner.zero(); self.size * self.size];
        for (a, b, w) in entries {
            assert!(a < self.size && b < self.size, "({a}, {b}) is not a pair on 0..{}", self.size);
            self.inner.join(&mut all[a * self.size + b], &w);
        }
        WeightedRelation { size: self.size, entries: all.into() }
    }

    /// The domain of tensor products: relations on pairs, `(a, b)` being element `a · size + b`.
    pub fn tensor_domain(&self) -> Self
    where
        S: Clone,
    {
        Self::new(self.inner.clone(), self.size * self.size)
    }

    /// The Kronecker product `a ⊙ b` (\[Lal09\] §6.5.2).
    ///
    /// `(a ⊙ b) ⊗ (c ⊙ d) = (a ⊗ c) ⊙ (b ⊗ d)` only if ⊗ of the inner domain is commutative.
    pub fn tensor(
        &self,
        a: &WeightedRelation<S::Weight>,
        b: &WeightedRelation<S::Weight>,
    ) -> WeightedRelation<S::Weight> {
        let n = self.size;
        WeightedRelation::new(n * n, |(i, j)| self.inner.extend(a.get(i / n, j / n), b.get(i % n, j % n)))
    }

    /// *DeTensor* (\[Lal09\] Thm. 6.5.3): takes `a ⊙ b` to `a ⊗ b`, and distributes over ⊕.
    pub fn detensor(&self, w: &WeightedRelation<S::Weight>) -> WeightedRelation<S::Weight> {
        let n = self.size;
        let matching = w.places().filter(|(i, j, _)| i % n == j / n);
        self.weight(matching.map(|(i, j, w)| (i / n, j % n, w.clone())))
    }

    fn zip(
        &self,
        a: &WeightedRelation<S::Weight>,
        b: &WeightedRelation<S::Weight>,
        operation: impl Fn(&S::Weight, &S::Weight) -> Option<S::Weight>,
    ) -> Option<WeightedRelation<S::Weight>> {
        let entries =
            a.entries.iter().zip(&*b.entries).map(|(a, b)| operation(a, b)).collect::<Option<_>>()?;
        Some(WeightedRelation { size: self.size, entries })
    }
}

impl<S: Semiring> Semiring for WeightedRelations<S> {
    type Weight = WeightedRelation<S::Weight>;

    fn zero(&self) -> Self::Weight {
        WeightedRelation::new(self.size, |_| self.inner.zero())
    }

    fn one(&self) -> Self::Weight {
        WeightedRelation::new(self.size, |(a, b)| if a == b { self.inner.one() } else { self.inner.zero() })
    }

    fn combine(&self, a: &Self::Weight, b: &Self::Weight) -> Self::Weight {
        let entries = a.entries.iter().zip(&*b.entries).map(|(a, b)| self.inner.combine(a, b)).collect();
        WeightedRelation { size: self.size, entries }
    }

    fn extend(&self, a: &Self::Weight, b: &Self::Weight) -> Self::Weight {
        let n = self.size;
        let mut entries = vec![self.inner.zero(); n * n];
        for (i, j, left) in a.places().filter(|(_, _, w)| !self.inner.is_zero(w)) {
            for k in 0..n {
                let right = b.get(j, k);
                if !self.inner.is_zero(right) {
                    self.inner.join(&mut entries[i * n + k], &self.inner.extend(left, right));
                }
            }
        }
        WeightedRelation { size: n, entries: entries.into() }
    }

    fn is_zero(&self, w: &Self::Weight) -> bool {
        w.entries.iter().all(|w| self.inner.is_zero(w))
    }

    fn is_one(&self, w: &Self::Weight) -> bool {
        w.places().all(|(a, b, w)| if a == b { self.inner.is_one(w) } else { self.inner.is_zero(w) })
    }

    fn difference(&self, a: &Self::Weight, b: &Self::Weight) -> Option<Self::Weight> {
        self.zip(a, b, |a, b| self.inner.difference(a, b))
    }

    /// Kleene's closure: paths through ever more of the elements.
    fn star(&self, w: &Self::Weight) -> Self::Weight {
        let mut paths = w.clone();
        for k in 0..self.size {
            let around = self.inner.star(paths.get(k, k));
            paths = WeightedRelation::new(self.size, |(a, b)| {
                let through =
                    self.inner.extend(&self.inner.extend(paths.get(a, k), &around), paths.get(k, b));
                self.inner.combine(paths.get(a, b), &through)
            });
        }
        self.combine(&paths, &self.one())
    }

    /// The least rank of the entries that are not 0.
    fn exhausted(&self) -> bool {
        self.inner.exhausted()
    }

    fn is_tall(&self) -> bool {
        true
    }
}

/// A context is a matrix of contexts.
impl<S: Adjoint> Adjoint for WeightedRelations<S> {
    type Context = WeightedRelation<S::Context>;

    fn any_context(&self) -> Self::Context {
        WeightedRelation::new(self.size, |_| self.inner.any_context())
    }

    fn no_context(&self) -> Self::Context {
        WeightedRelation::new(self.size, |_| self.inner.no_context())
    }

    fn join_context(&self, into: &mut Self::Context, context: &Self::Context) -> bool {
        let mut entries = into.entries.to_vec();
        let mut grew = false;
        for (into, context) in entries.iter_mut().zip(&*context.entries) {
            grew |= self.inner.join_context(into, context);
        }
        if grew {
            into.entries = entries.into();
        }
        grew
    }

    /// In two steps, `before` and then `after`, which takes `n³` operations instead of `n⁴`.
    fn pull(&self, before: &Self::Weight, context: &Self::Context, after: &Self::Weight) -> Self::Context {
        let one = self.inner.one();
        let sum = |terms: &mut dyn Iterator<Item = S::Context>| {
            let mut sum = self.inner.no_context();
            terms.for_each(|term| {
                self.inner.join_context(&mut sum, &term);
            });
            sum
        };
        let n = self.size;
        let half = WeightedRelation::new(n, |(x, q)| {
            let reach = (0..n).filter(|p| !self.inner.is_zero(before.get(*p, x)));
            sum(&mut reach.map(|p| self.inner.pull(before.get(p, x), context.get(p, q), &one)))
        });
        WeightedRelation::new(n, |(x, y)| {
            let reach = (0..n).filter(|q| !self.inner.is_zero(after.get(y, *q)));
            sum(&mut reach.map(|q| self.inner.pull(&one, half.get(x, q), after.get(y, q))))
        })
    }

    fn completes(&self, w: &Self::Weight, context: &Self::Context) -> bool {
        w.entries.iter().zip(&*context.entries).any(|(w, c)| self.inner.completes(w, c))
    }
}

/// \[Lal09\] §3.5.1, last part.
impl<W> Locals<WeightedRelation<W>> {
    /// `λ(g₁, l₁, g₂, l₂). if l₁ = l₂ then ⊕ₗ (entry ⊗ w)(g₁, l₁, g₂, l) else 0`.
    pub fn project_weighted<S: Semiring<Weight = W>>(
        &self,
        domain: &WeightedRelations<S>,
        w: &WeightedRelation<W>,
    ) -> WeightedRelation<W>
    where
        W: Clone,
    {
        self.check(domain.size());
        let k = self.locals();
        let forget = |w: &WeightedRelation<W>| {
            domain.weight(w.places().map(|(a, b, w)| (a, b / k * k + a % k, w.clone())))
        };
        match self.entry() {
            Entry::Inherited => forget(w),
            Entry::Bound(entry) => forget(&domain.extend(entry, w)),
            Entry::Uninitialised => {
                let same = |(a, b, w): (usize, usize, &W)| {
                    let w = w.clone();
                    (0..k).map(move |l| (a / k * k + l, b / k * k + l, w.clone()))
                };
                domain.weight(w.places().flat_map(same))
            }
        }
    }
}

impl<S: Semiring> Merge<WeightedRelations<S>> for Locals<WeightedRelation<S::Weight>> {
    fn merge(
        &self,
        domain: &WeightedRelations<S>,
        caller: &WeightedRelation<S::Weight>,
        callee: &WeightedRelation<S::Weight>,
    ) -> WeightedRelation<S::Weight> {
        domain.extend(caller, &self.project_weighted(domain, callee))
    }
}

impl<S: Adjoint> AdjointMerge<WeightedRelations<S>> for Locals<WeightedRelation<S::Weight>> {
    fn pull(
        &self,
        domain: &WeightedRelations<S>,
        before: &WeightedRelation<S::Weight>,
        context: &WeightedRelation<S::Context>,
        after: &WeightedRelation<S::Weight>,
    ) -> WeightedRelation<S::Context> {
        let c = domain.pull(before, context, after);
        let k = self.locals();
        let free = WeightedRelation::new(domain.size(), |(a, b)| c.get(a, b / k * k + a % k).clone());
        match self.entry() {
            Entry::Inherited => free,
            Entry::Bound(entry) => domain.pull(entry, &free, &domain.one()),
            Entry::Uninitialised => WeightedRelation::new(domain.size(), |(a, b)| {
                let mut any = domain.inner().no_context();
                for l in 0..k {
                    domain.inner().join_context(&mut any, free.get(a / k * k + l, b));
                }
                any
            }),
        }
    }
}

#[cfg(test)]
#[path = "weighted_relation_tests.rs"]
mod tests;
