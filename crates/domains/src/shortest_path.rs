//! The minpath domain: what is the cheapest path?
//!
//! \[Lal09\] Def. 2.4.14: `(ℕ ∪ {∞}, min, +, ∞, 0)`. With cost 1 on every rule a weight is the
//! length of the shortest path.
//!
//! - **Chains** are finite: an ascending chain of weights is a descending chain of naturals.
//! - **Order:** [`rank`](Semiring::rank) is the cost, so a priority worklist settles every weight
//!   once (Dijkstra, Knuth).
//! - **Overflow:** finite sums stop at [`Cost::MAX`] (2⁶⁴ − 2) and stay finite: a path is never
//!   lost because it is long.

use std::fmt;

use wherefore_pushdown::{Adjoint, Semiring};

/// The cost of a path, or [`INFINITY`](Self::INFINITY) where there is none.
///
/// ```
/// use wherefore_domains::Cost;
///
/// assert_eq!(Cost::finite(3).value(), Some(3));
/// assert_eq!(Cost::INFINITY.value(), None);
/// assert_eq!(Cost::finite(u64::MAX), Cost::MAX);
/// ```
#[derive(Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub struct Cost(u64);

impl Cost {
    /// The cost of no path at all.
    pub const INFINITY: Cost = Cost(u64::MAX);

    /// The largest finite cost; it stands for every larger one too.
    pub const MAX: Cost = Cost(u64::MAX - 1);

    /// The cost of the empty path.
    pub const ZERO: Cost = Cost(0);

    /// A finite cost, [`MAX`](Self::MAX) at most.
    #[inline]
    pub const fn finite(cost: u64) -> Self {
        if cost < Self::MAX.0 { Self(cost) } else { Self::MAX }
    }

    /// The cost as a number, if it is finite.
    #[inline]
    pub const fn value(self) -> Option<u64> {
        if self.0 == u64::MAX { None } else { Some(self.0) }
    }
}

impl From<u64> for Cost {
    fn from(cost: u64) -> Self {
        Self::finite(cost)
    }
}

impl fmt::Display for Cost {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self.value() {
            Some(cost) => cost.fmt(f),
            None => f.write_str("∞"),
        }
    }
}

impl fmt::Debug for Cost {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        fmt::Display::fmt(self, f)
    }
}

/// The minpath domain.
///
/// ```
/// use wherefore_domains::{Cost, ShortestPath};
/// use wherefore_pushdown::Semiring;
///
/// let (two, five) = (Cost::finite(2), Cost::finite(5));
/// assert_eq!(ShortestPath.extend(&two, &five), Cost::finite(7));
/// assert_eq!(ShortestPath.combine(&two, &five), two);
/// ```
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct ShortestPath;

impl Semiring for ShortestPath {
    type Weight = Cost;

    #[inline]
    fn zero(&self) -> Cost {
        Cost::INFINITY
    }

    #[inline]
    fn one(&self) -> Cost {
        Cost::ZERO
    }

    #[inline]
    fn combine(&self, a: &Cost, b: &Cost) -> Cost {
        *a.min(b)
    }

    #[inline]
    fn extend(&self, a: &Cost, b: &Cost) -> Cost {
        if *a == Cost::INFINITY || *b == Cost::INFINITY {
            return Cost::INFINITY;
        }
        Cost::finite(a.0.saturating_add(b.0))
    }

    #[inline]
    fn is_zero(&self, w: &Cost) -> bool {
        *w == Cost::INFINITY
    }

    #[inline]
    fn is_one(&self, w: &Cost) -> bool {
        *w == Cost::ZERO
    }

    #[inline]
    fn join(&self, into: &mut Cost, w: &Cost) -> bool {
        let grew = *w < *into;
        if grew {
            *into = *w;
        }
        grew
    }

    /// `a` where it is cheaper than `b`, else ∞.
    #[inline]
    fn difference(&self, a: &Cost, b: &Cost) -> Option<Cost> {
        Some(if a < b { *a } else { Cost::INFINITY })
    }

    #[inline]
    fn star(&self, _: &Cost) -> Cost {
        Cost::ZERO
    }

    #[inline]
    fn rank(&self, w: &Cost) -> u64 {
        w.0
    }
}

/// A context is the cost of the cheapest completion.
impl Adjoint for ShortestPath {
    type Context = Cost;

    #[inline]
    fn any_context(&self) -> Cost {
        Cost::ZERO
    }

    #[inline]
    fn no_context(&self) -> Cost {
        Cost::INFINITY
    }

    #[inline]
    fn join_context(&self, into: &mut Cost, context: &Cost) -> bool {
        self.join(into, context)
    }

    #[inline]
    fn pull(&self, before: &Cost, context: &Cost, after: &Cost) -> Cost {
        self.extend(&self.extend(before, context), after)
    }

    #[inline]
    fn completes(&self, w: &Cost, context: &Cost) -> bool {
        *w != Cost::INFINITY && *context != Cost::INFINITY
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;
    use wherefore_pushdown::laws;

    fn cost() -> impl Strategy<Value = Cost> {
        prop_oneof![
            4 => (0..20u64).prop_map(Cost::finite),
            1 => any::<u64>().prop_map(Cost::finite),
            1 => Just(Cost::INFINITY),
        ]
    }

    proptest! {
        #[test]
        fn laws_hold_on_random_costs(samples in prop::collection::vec(cost(), 3)) {
            laws::semiring(&ShortestPath, &samples).unwrap();
            laws::adjoint(&ShortestPath, &samples).unwrap();
        }
    }

    #[test]
    fn laws_hold_at_the_ends_of_the_range() {
        let samples = [Cost::ZERO, Cost::finite(1), Cost(u64::MAX - 2), Cost::MAX, Cost::INFINITY];
        laws::semiring(&ShortestPath, &samples).unwrap();
        laws::adjoint(&ShortestPath, &samples).unwrap();
    }

    #[test]
    fn a_huge_cost_does_not_become_unreachable() {
        let huge = ShortestPath.extend(&Cost::MAX, &Cost::MAX);
        assert_eq!(huge, Cost::MAX);
        assert!(!ShortestPath.is_zero(&huge));
    }

    #[test]
    fn a_context_is_the_cost_of_the_cheapest_completion() {
        let mut context = ShortestPath.pull(&Cost::finite(2), &Cost::finite(1), &Cost::finite(4));
        assert_eq!(context, Cost::finite(7));
        assert!(ShortestPath.join_context(&mut context, &Cost::finite(3)));
        assert!(!ShortestPath.join_context(&mut context, &Cost::finite(5)));
        assert_eq!(context, Cost::finite(3));
    }
}
