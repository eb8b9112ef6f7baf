//! The laws of [`Semiring`], [`Merge`], [`Adjoint`] and [`Relational`], as checks on sample
//! weights.
//!
//! A new domain calls these from its tests on weights that matter, and on random ones. Each check
//! returns the first law that fails, with the weights that break it.

use crate::semiring::{
    Adjoint, AdjointMerge, Merge, Relational, Remembering, Semiring, star_by_difference, star_by_squaring,
};

/// A broken law: its name, and the weights that break it.
#[derive(Clone, Debug, thiserror::Error)]
#[error("broken law: {law}; weights: {weights}")]
pub struct BrokenLaw {
    law: &'static str,
    weights: String,
}

fn check<W: std::fmt::Debug>(law: &'static str, holds: bool, weights: &[&W]) -> Result<(), BrokenLaw> {
    if holds {
        return Ok(());
    }
    let weights = format!("{weights:?}");
    Err(BrokenLaw { law, weights })
}

/// Checks the laws of a semiring, its difference and its star, on all triples of `samples`.
///
/// It takes stars: a domain with infinite ascending chains, which is no bounded semiring, keeps it
/// busy for ever.
///
/// ```
/// use wherefore_pushdown::laws;
/// # use wherefore_pushdown::Semiring;
/// # struct Reach;
/// # impl Semiring for Reach {
/// #     type Weight = bool;
/// #     fn zero(&self) -> bool { false }
/// #     fn one(&self) -> bool { true }
/// #     fn combine(&self, a: &bool, b: &bool) -> bool { *a || *b }
/// #     fn extend(&self, a: &bool, b: &bool) -> bool { *a && *b }
/// # }
/// laws::semiring(&Reach, &[true, false]).unwrap();
/// ```
pub fn semiring<S: Semiring>(d: &S, samples: &[S::Weight]) -> Result<(), BrokenLaw> {
    let (zero, one) = (d.zero(), d.one());
    check("is_zero(0)", d.is_zero(&zero), &[&zero])?;
    check("is_one(1)", d.is_one(&one), &[&one])?;
    for a in samples {
        check("is_zero(a) iff a = 0", d.is_zero(a) == (*a == zero), &[a])?;
        check("is_one(a) iff a = 1", d.is_one(a) == (*a == one), &[a])?;
        check("a + 0 = a", d.combine(a, &zero) == *a, &[a])?;
        check("a + a = a", d.combine(a, a) == *a, &[a])?;
        check("a * 1 = a", d.extend(a, &one) == *a, &[a])?;
        check("1 * a = a", d.extend(&one, a) == *a, &[a])?;
        check("a * 0 = 0", d.extend(a, &zero) == zero, &[a])?;
        check("0 * a = 0", d.extend(&zero, a) == zero, &[a])?;
        let star = d.star(a);
        check("a* by squaring", star == star_by_squaring(d, a).0, &[a])?;
        let unrolled = d.combine(&one, &d.extend(a, &star));
        check("a* = 1 + a * a*", star == unrolled, &[a])?;
        if let Some((other, _)) = star_by_difference(d, a) {
            check("a* by difference", star == other, &[a])?;
        }
        for b in samples {
            let sum = d.combine(a, b);
            check("a + b = b + a", sum == d.combine(b, a), &[a, b])?;
            let mut joined = a.clone();
            let grew = d.join(&mut joined, b);
            check("join = combine", joined == sum && grew == (sum != *a), &[a, b])?;
            if let Some(new) = d.difference(b, a) {
                check("a + (b - a) = a + b", d.combine(a, &new) == sum, &[a, b])?;
                let absorbed = d.is_zero(&new) == (sum == *a);
                check("b - a = 0 iff a + b = a", absorbed, &[a, b])?;
            }
            for c in samples {
                triple(d, a, b, c)?;
            }
        }
    }
    Ok(())
}

fn triple<S: Semiring>(d: &S, a: &S::Weight, b: &S::Weight, c: &S::Weight) -> Result<(), BrokenLaw> {
    let sum = d.combine(b, c);
    let left = d.combine(&d.combine(a, b), c);
    check("(a + b) + c = a + (b + c)", left == d.combine(a, &sum), &[a, b, c])?;
    let left = d.extend(&d.extend(a, b), c);
    check("(a * b) * c = a * (b * c)", left == d.extend(a, &d.extend(b, c)), &[a, b, c])?;
    let right = d.combine(&d.extend(a, b), &d.extend(a, c));
    check("a * (b + c) = a * b + a * c", d.extend(a, &sum) == right, &[a, b, c])?;
    let right = d.combine(&d.extend(b, a), &d.extend(c, a));
    check("(b + c) * a = b * a + c * a", d.extend(&sum, a) == right, &[a, b, c])?;
    if let (Some(ab), Some(right)) = (d.difference(a, b), d.difference(a, &sum)) {
        let left = d.difference(&ab, c);
        check("(a - b) - c = a - (b + c)", left.as_ref() == Some(&right), &[a, b, c])?;
    }
    Ok(())
}

/// Checks the laws of a merge function on all triples of `samples`.
pub fn merge<S: Semiring, M: Merge<S>>(d: &S, m: &M, samples: &[S::Weight]) -> Result<(), BrokenLaw> {
    let zero = d.zero();
    for a in samples {
        check("m(0, a) = 0", m.merge(d, &zero, a) == zero, &[a])?;
        check("m(a, 0) = 0", m.merge(d, a, &zero) == zero, &[a])?;
        for b in samples {
            for c in samples {
                let sum = d.combine(a, b);
                let right = d.combine(&m.merge(d, a, c), &m.merge(d, b, c));
                check("m(a + b, c) = m(a, c) + m(b, c)", m.merge(d, &sum, c) == right, &[a, b, c])?;
                let right = d.combine(&m.merge(d, c, a), &m.merge(d, c, b));
                check("m(c, a + b) = m(c, a) + m(c, b)", m.merge(d, c, &sum) == right, &[a, b, c])?;
                if m.path_extension() {
                    let left = m.merge(d, &d.extend(a, b), c);
                    let right = d.extend(a, &m.merge(d, b, c));
                    check("m(a * b, c) = a * m(b, c)", left == right, &[a, b, c])?;
                }
            }
        }
    }
    Ok(())
}

/// Checks the laws of adjoints, with contexts made from `samples`.
pub fn adjoint<S: Adjoint>(d: &S, samples: &[S::Weight]) -> Result<(), BrokenLaw> {
    let any = d.any_context();
    for z in samples {
        check("any context completes all but 0", d.completes(z, &any) != d.is_zero(z), &[z])?;
        check("no context completes nothing", !d.completes(z, &d.no_context()), &[z])?;
    }
    for a in samples {
        for b in samples {
            let context = d.pull(a, &any, b);
            for z in samples {
                let direct = d.extend(&d.extend(a, z), b);
                let nonzero = !d.is_zero(&direct);
                check("z meets F†(any) iff F(z) ≠ 0", d.completes(z, &context) == nonzero, &[a, z, b])?;
                let outer = d.pull(z, &context, z);
                let inner = d.extend(&d.extend(z, a), z);
                let law = "a meets (λy. z y z)†(c) iff z a z meets c";
                check(law, d.completes(a, &outer) == d.completes(&inner, &context), &[a, z, b])?;
                let mut union = d.pull(z, &any, a);
                let either = d.completes(b, &union) || d.completes(b, &context);
                d.join_context(&mut union, &context);
                check("z meets c ∪ d iff it meets c or d", d.completes(b, &union) == either, &[a, z, b])?;
            }
        }
    }
    Ok(())
}

/// Checks the adjoint of a merge function, with contexts made from `samples`.
pub fn adjoint_merge<S: Adjoint, M: AdjointMerge<S>>(
    d: &S,
    m: &M,
    samples: &[S::Weight],
) -> Result<(), BrokenLaw> {
    for a in samples {
        for b in samples {
            let any = m.pull(d, a, &d.any_context(), b);
            for z in samples {
                let direct = d.extend(&m.merge(d, a, z), b);
                let law = "z meets F†(any) iff merge(a, z) b ≠ 0";
                check(law, d.completes(z, &any) != d.is_zero(&direct), &[a, z, b])?;
                let context = d.pull(z, &d.any_context(), b);
                let pulled = m.pull(d, a, &context, b);
                let law = "z meets F†(c) iff merge(a, z) b meets c";
                check(law, d.completes(z, &pulled) == d.completes(&direct, &context), &[a, z, b])?;
            }
        }
    }
    Ok(())
}

/// Checks the operations of a relational domain against each other.
pub fn relational<S: Relational>(d: &S, samples: &[S::Weight]) -> Result<(), BrokenLaw> {
    for a in samples {
        check("dom(a) a = a", d.extend(&d.domain_of(a), a) == *a, &[a])?;
        check("a rng(a) = a", d.extend(a, &d.range_of(a)) == *a, &[a])?;
        check("a ∩ a = a", d.meet(a, a) == *a, &[a])?;
        for b in samples {
            check("a ∩ b = b ∩ a", d.meet(a, b) == d.meet(b, a), &[a, b])?;
            let within = d.combine(a, &d.meet(a, b)) == *a;
            check("a ∩ b is within a", within, &[a, b])?;
            let common = d.extend(&d.range_of(a), &d.domain_of(b));
            let middle = d.middle(a, b, &d.any_context());
            check("middle(a, b, any) = rng(a) ∩ dom(b)", middle == common, &[a, b])?;
            for c in samples {
                let context = d.pull(c, &d.any_context(), c);
                let middle = d.middle(a, b, &context);
                let product = d.extend(&d.extend(a, &middle), b);
                let whole = d.extend(a, b);
                let agree = d.completes(&whole, &context) == d.completes(&product, &context);
                check("the middle keeps what can be completed", agree, &[a, b, c])?;
                let law = "an empty middle iff nothing can be completed";
                check(law, d.is_zero(&middle) != d.completes(&whole, &context), &[a, b, c])?;
            }
        }
    }
    Ok(())
}

/// Checks that a domain remembers the stores in the middle of a path.
pub fn remembering<S: Remembering>(d: &S, samples: &[S::Weight]) -> Result<(), BrokenLaw> {
    for a in samples {
        for b in samples {
            let through = d.map_memory(&d.remember(), &mut |z| d.extend(&d.extend(a, z), b));
            let middle = d.middle(a, b, &d.any_context());
            check("remembered(a remember b) = middle(a, b)", d.remembered(&through) == middle, &[a, b])?;
            for c in samples {
                let mut union = d.map_memory(&d.remember(), &mut |z| d.extend(&d.extend(b, z), c));
                let either = d.combine(&d.remembered(&union), &middle);
                d.join_memory(&mut union, &through);
                check(
                    "remembered(m + n) = remembered(m) + remembered(n)",
                    d.remembered(&union) == either,
                    &[a, b, c],
                )?;
            }
        }
    }
    Ok(())
}
