//! What a weight is: bounded idempotent semirings and merge functions.
//!
//! \[Lal09\] Def. 2.4.1 (semirings), Def. 3.1.2 (merge functions), §4.2.2 (difference).
//! A domain is a *value*: it owns what its weights share (a decision-diagram manager, a
//! matrix size), so no operation needs global state.

use std::fmt;

/// A bounded idempotent semiring, as a value.
///
/// # Laws
/// - [`combine`](Self::combine) (⊕) is associative, commutative and idempotent, with unit
///   [`zero`](Self::zero).
/// - [`extend`](Self::extend) (⊗) is associative with unit [`one`](Self::one), distributes over ⊕,
///   and `zero` annihilates.
/// - ⊕ has no infinite ascending chain. Tests cannot see this: argue it in each implementation.
/// - If [`difference`](Self::difference) is given: `a ⊕ (b − a) = a ⊕ b`, `(a − b) − c = a − (b ⊕
///   c)`, and `a ⊕ b = a` exactly when `b − a = 0`.
///
/// [`laws`](crate::laws) checks all but the third on sample weights.
///
/// Weights are read in the order of execution: `extend(a, b)` is "first `a`, then `b`".
pub trait Semiring {
    /// A weight. `Eq` must be semantic, or saturation may not stop.
    type Weight: Clone + Eq + fmt::Debug;

    /// The weight of no path at all.
    fn zero(&self) -> Self::Weight;

    /// The weight of the empty path.
    fn one(&self) -> Self::Weight;

    /// ⊕: the weight of a choice between two sets of paths.
    fn combine(&self, a: &Self::Weight, b: &Self::Weight) -> Self::Weight;

    /// ⊗: the weight of a path `a` followed by a path `b`.
    fn extend(&self, a: &Self::Weight, b: &Self::Weight) -> Self::Weight;

    /// Whether `w` is [`zero`](Self::zero).
    fn is_zero(&self, w: &Self::Weight) -> bool {
        *w == self.zero()
    }

    /// Whether `w` is [`one`](Self::one).
    fn is_one(&self, w: &Self::Weight) -> bool {
        *w == self.one()
    }

    /// Replaces `into` by `into ⊕ w` and says whether it changed.
    fn join(&self, into: &mut Self::Weight, w: &Self::Weight) -> bool {
        let joined = self.combine(into, w);
        let grew = joined != *into;
        if grew {
            *into = joined;
        }
        grew
    }

    /// `a − b`, where the domain has a difference: what `a` adds to `b`.
    ///
    /// With it, saturation propagates changes instead of whole weights (§4.2.2).
    fn difference(&self, _a: &Self::Weight, _b: &Self::Weight) -> Option<Self::Weight> {
        None
    }

    /// `w* = 1 ⊕ w ⊕ w⊗w ⊕ …`, by repeated squaring of `1 ⊕ w` (§4.1.1).
    fn star(&self, w: &Self::Weight) -> Self::Weight {
        star_by_squaring(self, w).0
    }

    /// A key for [`Order::Priority`](crate::Order::Priority): smaller keys are taken first.
    fn rank(&self, _w: &Self::Weight) -> u64 {
        0
    }

    /// True once an operation has run out of room and returned a weight that cannot be trusted.
    ///
    /// Operations cannot fail one by one; instead a domain with bounded memory remembers the
    /// failure here. Saturation and path expressions then stop with
    /// [`StopReason::Memory`](crate::StopReason::Memory). What is read off automata afterwards
    /// (summaries, chops, projections) ends early too: ask this once more before you trust it.
    fn exhausted(&self) -> bool {
        false
    }

    /// Whether weights are costly or chains long, so that it pays to plan the operations
    /// ([`Method::Auto`](crate::Method::Auto) reads it).
    fn is_tall(&self) -> bool {
        false
    }
}

/// Computes `w*` by squaring `1 ⊕ w` until it is stable; also returns the number of squarings.
///
/// \[Lal09\] §4.1.1: logarithmic in the number of rounds that plain iteration needs.
///
/// ```
/// use wherefore_domains::{Relation, RelationDomain};
/// use wherefore_pushdown::star_by_squaring;
///
/// // A chain of six steps is closed by the third squaring, and the fourth one sees it.
/// let step = Relation::from_fn(7, |x| (x < 6).then_some(x + 1));
/// let (star, squarings) = star_by_squaring(&RelationDomain::new(7), &step);
/// assert_eq!((star.len(), squarings), (28, 4));
/// ```
pub fn star_by_squaring<S: Semiring + ?Sized>(domain: &S, w: &S::Weight) -> (S::Weight, usize) {
    let mut power = domain.combine(&domain.one(), w);
    let mut squarings = 0;
    loop {
        let square = domain.extend(&power, &power);
        squarings += 1;
        if square == power || domain.exhausted() {
            return (power, squarings);
        }
        power = square;
    }
}

/// Computes `w*` with the difference of the domain; also returns the number of turns of the loop.
///
/// \[Lal09\] Fig. 4.5 and Thm. 4.2.1. Returns `None` for a domain without a difference.
///
/// ```
/// use wherefore_domains::{Relation, RelationDomain};
/// use wherefore_pushdown::{star_by_difference, star_by_squaring};
///
/// let domain = RelationDomain::new(7);
/// let step = Relation::from_fn(7, |x| (x < 6).then_some(x + 1));
/// let (star, turns) = star_by_difference(&domain, &step).unwrap();
/// assert_eq!((&star, turns), (&star_by_squaring(&domain, &step).0, 7));
/// ```
pub fn star_by_difference<S: Semiring + ?Sized>(domain: &S, w: &S::Weight) -> Option<(S::Weight, usize)> {
    let mut star = domain.one();
    let mut delta = domain.one();
    let mut turns = 0;
    while !domain.is_zero(&delta) && !domain.exhausted() {
        turns += 1;
        let next = domain.extend(&delta, w);
        delta = domain.difference(&next, &star)?;
        star = domain.combine(&star, &next);
    }
    Some((star, turns))
}

/// How the weight of a call is put together from the caller's and the callee's part.
///
/// # Laws
/// - strict: `merge(0, a) = merge(a, 0) = 0`;
/// - distributes over ⊕ in each argument;
/// - path extension: `merge(a ⊗ b, c) = a ⊗ merge(b, c)`, unless
///   [`path_extension`](Self::path_extension) says otherwise.
///
/// `merge` replaces the weight of the call rule altogether (\[Lal09\] Def. 3.1.4, case 5): the
/// rule's own weight counts only for calls that have not returned.
pub trait Merge<S: Semiring> {
    /// The weight from the caller's entry to the return site.
    fn merge(&self, domain: &S, caller: &S::Weight, callee: &S::Weight) -> S::Weight;

    /// Whether the path-extension law holds (\[Lal09\] §3.2.3 drops it, for post\* only).
    fn path_extension(&self) -> bool {
        true
    }
}

/// The merge function of a system that has none: a type without values.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Plain {}

impl<S: Semiring> Merge<S> for Plain {
    fn merge(&self, _: &S, _: &S::Weight, _: &S::Weight) -> S::Weight {
        match *self {}
    }
}

/// Domains in which "which weights can still be completed to a failing run?" has a backward answer.
///
/// A functional weight `F = λz. before ⊗ z ⊗ after` is linear; its adjoint `F†` maps a set of
/// acceptable results to the set of acceptable arguments: `F(z)` meets `c` exactly when `z` meets
/// `F†(c)`. One backward pass of adjoints through the product of post\* and pre\* answers every
/// node of an error projection at once.
///
/// # Laws
/// - `completes(before ⊗ z ⊗ after, c) = completes(z, pull(before, c, after))`;
/// - `completes(z, c ⊔ d) = completes(z, c) || completes(z, d)`;
/// - `completes(z, any_context()) = !is_zero(z)`, and `completes(z, no_context()) = false`;
/// - contexts have no infinite ascending chain.
pub trait Adjoint: Semiring {
    /// A set of acceptable weights, as far as the domain can tell them apart.
    type Context: Clone + Eq + fmt::Debug;

    /// Accepts every weight but zero.
    fn any_context(&self) -> Self::Context;

    /// Accepts nothing.
    fn no_context(&self) -> Self::Context;

    /// Replaces `into` by the union with `context` and says whether it changed.
    fn join_context(&self, into: &mut Self::Context, context: &Self::Context) -> bool;

    /// The adjoint of `λz. before ⊗ z ⊗ after`, applied to `context`.
    fn pull(&self, before: &Self::Weight, context: &Self::Context, after: &Self::Weight) -> Self::Context;

    /// Whether `w` is accepted.
    fn completes(&self, w: &Self::Weight, context: &Self::Context) -> bool;

    /// Whether nothing is accepted.
    fn is_no_context(&self, context: &Self::Context) -> bool {
        *context == self.no_context()
    }
}

/// Merge functions whose functional `λz. merge(before, z) ⊗ after` has an adjoint too.
pub trait AdjointMerge<S: Adjoint>: Merge<S> {
    /// The adjoint of `λz. merge(before, z) ⊗ after`, applied to `context`.
    fn pull(&self, domain: &S, before: &S::Weight, context: &S::Context, after: &S::Weight) -> S::Context;
}

impl<S: Adjoint> AdjointMerge<S> for Plain {
    fn pull(&self, _: &S, _: &S::Weight, _: &S::Context, _: &S::Weight) -> S::Context {
        match *self {}
    }
}

/// Domains whose weights are sums of atoms: of pairs of stores, say.
///
/// An atom is a weight `a` with a context that accepts exactly the weights that contain it: those
/// with `z ⊕ a = z`.
pub trait Atomic: Adjoint {
    /// Some atom of `w` that `context` accepts, and its context; `None` exactly if `context` does
    /// not accept `w`.
    fn atom(&self, w: &Self::Weight, context: &Self::Context) -> Option<(Self::Weight, Self::Context)>;

    /// A part of `w` that has all its atoms `z` for which `z ⊗ b` can be `atom`, for some `b`: may
    /// be all of it.
    fn beginning_as(&self, w: &Self::Weight, atom: &Self::Weight) -> Self::Weight;
}

/// Relational domains: a weight is a set of pairs of stores.
///
/// Sets of stores are themselves weights: a set `V` is the partial identity `{(v, v) | v ∈ V}`.
pub trait Relational: Adjoint {
    /// `{(v, v) | (v, _) ∈ w}`.
    fn domain_of(&self, w: &Self::Weight) -> Self::Weight;

    /// `{(v, v) | (_, v) ∈ w}`.
    fn range_of(&self, w: &Self::Weight) -> Self::Weight;

    /// The pairs that are in both.
    fn meet(&self, a: &Self::Weight, b: &Self::Weight) -> Self::Weight;

    /// The pairs of `w` that `context` accepts.
    fn accepted(&self, w: &Self::Weight, context: &Self::Context) -> Self::Weight;

    /// The stores `v` in the middle of some acceptable pair:
    /// `{(v, v) | ∃ a, b: (a, v) ∈ before, (v, b) ∈ after, (a, b) ∈ context}`.
    fn middle(&self, before: &Self::Weight, after: &Self::Weight, context: &Self::Context) -> Self::Weight;
}

/// A relational domain whose weights can carry along the store that was seen at one point of the
/// path.
///
/// \[Lal09\] §5.3.2.2: weights over `V × Y × V`, where `Y` names the stores. How such a weight is
/// represented is the domain's affair: one plain weight for each `y`, or extra variables in a
/// decision diagram.
pub trait Remembering: Relational {
    /// A weight over `V × Y × V`.
    type Memory: Clone + Eq + fmt::Debug;

    /// The symbolic identity `{(v, y_v, v) | v ∈ V}`.
    fn remember(&self) -> Self::Memory;

    /// Applies a function that distributes over ⊕ and maps zero to zero to the plain weight at
    /// every `y`.
    fn map_memory(
        &self,
        memory: &Self::Memory,
        function: &mut dyn FnMut(&Self::Weight) -> Self::Weight,
    ) -> Self::Memory;

    /// Replaces `into` by its union with `memory` and says whether it changed.
    fn join_memory(&self, into: &mut Self::Memory, memory: &Self::Memory) -> bool;

    /// The remembered stores, as a partial identity: `{(v, v) | (_, y_v, _) ∈ memory}`.
    fn remembered(&self, memory: &Self::Memory) -> Self::Weight;
}
