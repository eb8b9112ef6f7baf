//! Copy-constant propagation: which variables are constant at a point of the program?
//!
//! \[Lal09\] §2.1.2 and §3.1. Environments give each variable a constant or ⊤; a weight is a
//! transformer of environments that is built from the statements `x = c`, `x = y` and `x = ⊤`, by
//! composition and join.
//!
//! **Representation.** In every such transformer the new value of a variable is `⊤`, or a join
//! `e(v₁) ⊔ … ⊔ e(vₖ) ⊔ c` of old values and perhaps one constant. ("`e(v)` or `c`" is *not* ⊤: it
//! is `c` where `e(v) = c`.) Two constants are ⊤. Different normal forms are different functions,
//! so equality is semantic, and the laws hold exactly; keeping one source for each variable, and ⊤
//! where sources differ, would lose distributivity.
//!
//! - **Chains** are finite: with `n` variables, the value of one can grow at most `n + 2` times, a
//!   transformer `n (n + 2)` times.
//! - **Cost:** ⊕ is linear in the size of the transformers, ⊗ at most cubic in `n`.

use std::fmt;
use std::sync::Arc;

use wherefore_pushdown::{Adjoint, AdjointMerge, Merge, Semiring};

use crate::locals::Entry;

/// The value of a variable in an environment: a constant, or ⊤.
///
/// ```
/// use wherefore_domains::Constant;
///
/// assert_eq!(Constant::Known(5).join(Constant::Known(5)), Constant::Known(5));
/// assert_eq!(Constant::Known(5).join(Constant::Known(2)), Constant::Top);
/// ```
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub enum Constant {
    /// Always this value.
    Known(i64),
    /// Not a constant.
    Top,
}

impl Constant {
    /// ⊔.
    pub fn join(self, other: Self) -> Self {
        if self == other { self } else { Self::Top }
    }
}

/// What a transformer makes of one variable.
///
/// ```
/// use wherefore_domains::{Constant, Source};
///
/// // "The old value of variable 1, or 5" is 5 where variable 1 was 5.
/// let source = Source::variable(1).join(&Source::constant(5));
/// assert_eq!(source.apply(&[Constant::Top, Constant::Known(5)]), Constant::Known(5));
/// assert_eq!(source.apply(&[Constant::Top, Constant::Known(2)]), Constant::Top);
/// ```
#[derive(Clone, PartialEq, Eq, Hash)]
pub enum Source {
    /// Not a constant.
    Top,
    /// The join of old values of variables, and of a constant; not both are missing.
    Join {
        /// The variables, in ascending order.
        variables: Vec<usize>,
        /// The constant.
        constant: Option<i64>,
    },
}

impl Source {
    /// A constant.
    pub fn constant(value: i64) -> Self {
        Self::Join { variables: Vec::new(), constant: Some(value) }
    }

    /// The old value of a variable.
    pub fn variable(variable: usize) -> Self {
        Self::Join { variables: vec![variable], constant: None }
    }

    /// ⊔, as functions of the old environment.
    pub fn join(&self, other: &Self) -> Self {
        let (Self::Join { variables: a, constant: c }, Self::Join { variables: b, constant: d }) =
            (self, other)
        else {
            return Self::Top;
        };
        let constant = match (*c, *d) {
            (Some(c), Some(d)) if c != d => return Self::Top,
            (c, d) => c.or(d),
        };
        let mut variables: Vec<usize> = a.iter().chain(b).copied().collect();
        variables.sort_unstable();
        variables.dedup();
        Self::Join { variables, constant }
    }

    /// The new value, in a given old environment.
    pub fn apply(&self, old: &[Constant]) -> Constant {
        let Self::Join { variables, constant } = self else { return Constant::Top };
        let values = variables.iter().map(|v| old[*v]);
        values.chain(constant.map(Constant::Known)).reduce(Constant::join).unwrap_or(Constant::Top)
    }

    /// This source, after variables have got theirs from `first`.
    fn after(&self, first: &[Source]) -> Self {
        let Self::Join { variables, constant } = self else { return Self::Top };
        let sources = variables.iter().map(|v| first[*v].clone());
        let all = sources.chain(constant.map(Self::constant)).reduce(|a, b| a.join(&b));
        all.unwrap_or(Self::Top)
    }
}

impl fmt::Debug for Source {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let Self::Join { variables, constant } = self else { return f.write_str("⊤") };
        let terms = variables.iter().map(|v| format!("v{v}")).chain(constant.map(|c| c.to_string()));
        f.write_str(&terms.collect::<Vec<_>>().join("⊔"))
    }
}

/// A transformer of environments: a weight of [`CopyConstants`]. `None` is λe. ⊥, the transformer
/// of no path.
///
/// ```
/// use wherefore_domains::{Constant, CopyConstants, Source};
///
/// let domain = CopyConstants::new(2);
/// let w = domain.assign([(0, Source::constant(7))]);
/// let start = [Constant::Top, Constant::Known(1)];
/// assert_eq!(w.apply(&start), Some(vec![Constant::Known(7), Constant::Known(1)]));
/// ```
#[derive(Clone, PartialEq, Eq, Hash)]
pub struct Transformer(Option<Arc<[Source]>>);

impl Transformer {
    /// The new environment; `None` is ⊥.
    pub fn apply(&self, old: &[Constant]) -> Option<Vec<Constant>> {
        Some(self.0.as_ref()?.iter().map(|source| source.apply(old)).collect())
    }

    /// What becomes of each variable; `None` if there is no path.
    pub fn sources(&self) -> Option<&[Source]> {
        self.0.as_deref()
    }
}

impl fmt::Debug for Transformer {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match &self.0 {
            None => f.write_str("⊥"),
            Some(sources) => f.debug_list().entries(sources.iter()).finish(),
        }
    }
}

/// The domain of copy-constant propagation.
///
/// ```
/// use wherefore_domains::{Constant, CopyConstants, Source};
/// use wherefore_pushdown::Semiring;
///
/// // if (…) { x = 2; y = x } else { y = 2 }
/// let domain = CopyConstants::new(2);
/// let copy = domain.assign([(1, Source::variable(0))]);
/// let yes = domain.extend(&domain.assign([(0, Source::constant(2))]), &copy);
/// let no = domain.assign([(1, Source::constant(2))]);
/// let after = domain.combine(&yes, &no).apply(&[Constant::Top; 2]).unwrap();
/// assert_eq!(after, [Constant::Top, Constant::Known(2)]);
/// ```
#[derive(Clone, Debug)]
pub struct CopyConstants {
    one: Transformer,
}

impl CopyConstants {
    /// The transformers of environments of `variables` variables.
    pub fn new(variables: usize) -> Self {
        Self { one: Transformer(Some((0..variables).map(Source::variable).collect())) }
    }

    /// How many variables there are.
    pub fn variable_count(&self) -> usize {
        self.one.sources().map_or(0, <[Source]>::len)
    }

    /// Assigns to some variables, all at once; others keep their values.
    ///
    /// # Panics
    /// If a variable does not exist.
    pub fn assign(&self, assignments: impl IntoIterator<Item = (usize, Source)>) -> Transformer {
        let count = self.variable_count();
        let mut sources: Vec<Source> = (0..count).map(Source::variable).collect();
        for (variable, source) in assignments {
            if let Source::Join { variables, .. } = &source {
                assert!(variables.iter().all(|v| *v < count), "{source:?} is not over {count} variables");
            }
            sources[variable] = source;
        }
        Transformer(Some(sources.into()))
    }
}

impl Semiring for CopyConstants {
    type Weight = Transformer;

    fn zero(&self) -> Transformer {
        Transformer(None)
    }

    fn one(&self) -> Transformer {
        self.one.clone()
    }

    fn combine(&self, a: &Transformer, b: &Transformer) -> Transformer {
        match (&a.0, &b.0) {
            (None, _) => b.clone(),
            (_, None) => a.clone(),
            (Some(a), Some(b)) => Transformer(Some(a.iter().zip(&**b).map(|(a, b)| a.join(b)).collect())),
        }
    }

    fn extend(&self, a: &Transformer, b: &Transformer) -> Transformer {
        let (Some(first), Some(then)) = (&a.0, &b.0) else { return self.zero() };
        Transformer(Some(then.iter().map(|source| source.after(first)).collect()))
    }

    fn is_zero(&self, w: &Transformer) -> bool {
        w.0.is_none()
    }
}

/// No two transformers of paths compose to ⊥, so a context only says whether there is a completion.
impl Adjoint for CopyConstants {
    type Context = bool;

    fn any_context(&self) -> bool {
        true
    }

    fn no_context(&self) -> bool {
        false
    }

    fn join_context(&self, into: &mut bool, context: &bool) -> bool {
        let grew = *context && !*into;
        *into |= *context;
        grew
    }

    fn pull(&self, before: &Transformer, context: &bool, after: &Transformer) -> bool {
        *context && !self.is_zero(before) && !self.is_zero(after)
    }

    fn completes(&self, w: &Transformer, context: &bool) -> bool {
        *context && !self.is_zero(w)
    }
}

/// Calls keep some variables of the caller and take some from the callee; others are as at the
/// *entry* of the caller.
///
/// \[Lal09\] §3.1, Fig. 3.1: `g(w₁, w₂) = λe. e[keep ↦ w₁(e)(keep), take ↦ (w₁ ⊗ w₂)(e)(take)]`.
///
/// **Divergence.** `take` is read from `w₁ ⊗ entry ⊗ w₂`, where the [`Entry`] binds the callee's
/// parameters: the printed function is [`Entry::Inherited`], and forgets what the call rule bound.
/// With [`Entry::Uninitialised`] all variables that are kept start as ⊤ in the callee.
///
/// Path extension holds only if every variable is kept or taken.
///
/// ```
/// use wherefore_domains::{Constant, CopyConstants, CopyLocals, Entry, Source};
/// use wherefore_pushdown::Merge;
///
/// // y (0) is global, a (1) is local to the caller, b (2) is the parameter: `f(a)`, where f is `y = b`.
/// let domain = CopyConstants::new(3);
/// let bind = domain.assign([(1, Source::Top), (2, Source::variable(1))]);
/// let call = CopyLocals::new(&domain, &[1], &[0], Entry::Bound(bind));
/// let caller = domain.assign([(1, Source::constant(5))]);
/// let callee = domain.assign([(0, Source::variable(2))]);
/// let after = call.merge(&domain, &caller, &callee).apply(&[Constant::Top; 3]).unwrap();
/// assert_eq!(after, [Constant::Known(5), Constant::Known(5), Constant::Top]);
/// ```
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct CopyLocals {
    origins: Vec<Origin>,
    entry: Entry<Transformer>,
}

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Origin {
    Caller,
    Callee,
    Start,
}

impl CopyLocals {
    /// Keeps the variables in `keep` and takes those in `take` from the callee.
    ///
    /// # Panics
    /// If a variable does not exist, or is in both.
    pub fn new(domain: &CopyConstants, keep: &[usize], take: &[usize], entry: Entry<Transformer>) -> Self {
        let mut origins = vec![Origin::Start; domain.variable_count()];
        for v in keep {
            origins[*v] = Origin::Caller;
        }
        for v in take {
            assert!(origins[*v] != Origin::Caller, "variable {v} is both kept and taken");
            origins[*v] = Origin::Callee;
        }
        Self { origins, entry }
    }

    fn enter(&self, domain: &CopyConstants, caller: &Transformer) -> Transformer {
        match &self.entry {
            Entry::Inherited => caller.clone(),
            Entry::Bound(entry) => domain.extend(caller, entry),
            Entry::Uninitialised => {
                let kept = (0..self.origins.len()).filter(|v| self.origins[*v] == Origin::Caller);
                domain.extend(caller, &domain.assign(kept.map(|v| (v, Source::Top))))
            }
        }
    }
}

impl Merge<CopyConstants> for CopyLocals {
    fn merge(&self, domain: &CopyConstants, caller: &Transformer, callee: &Transformer) -> Transformer {
        let through = domain.extend(&self.enter(domain, caller), callee);
        let (Some(before), Some(after)) = (caller.sources(), through.sources()) else { return domain.zero() };
        let source = |v: usize| match self.origins[v] {
            Origin::Caller => before[v].clone(),
            Origin::Callee => after[v].clone(),
            Origin::Start => Source::variable(v),
        };
        Transformer(Some((0..self.origins.len()).map(source).collect()))
    }

    fn path_extension(&self) -> bool {
        !self.origins.contains(&Origin::Start)
    }
}

impl AdjointMerge<CopyConstants> for CopyLocals {
    fn pull(
        &self,
        domain: &CopyConstants,
        before: &Transformer,
        context: &bool,
        after: &Transformer,
    ) -> bool {
        domain.pull(&self.enter(domain, before), context, after)
    }
}

#[cfg(test)]
#[path = "copy_constants_tests.rs"]
mod tests;
