//! The merge function of Boolean programs, on decision diagrams.
//!
//! \[Lal09\] §3.5.1; see [`crate::Locals`] for the same function on explicit relations, and for how
//! it diverges from the print. *project* is one quantification and one conjunction; its adjoint is
//! one relational product. A call changes the globals only, so `merge` composes on them alone.

use std::fmt;
use std::rc::Rc;

use wherefore_pushdown::{Adjoint, AdjointMerge, Merge, Semiring};

use super::core::{Predicate, Renaming};
use super::frames::{Changed, as_second};
use super::relations::BddRelations;
use crate::locals::Entry;

/// The variables that a call keeps for its caller. Clones share what was computed.
///
/// ```
/// use wherefore_domains::bdd::{BddRelations, LocalVariables};
///
/// let domain = BddRelations::new(3, 1 << 16);
/// let _locals = LocalVariables::new(&domain, &[1, 2]);
/// ```
#[derive(Clone)]
pub struct LocalVariables {
    inner: Rc<Inner>,
}

struct Inner {
    identity: Predicate,
    nexts: Predicate,
    currents_and_nexts: Predicate,
    /// What a caller goes on with from its callee.
    results: Rc<Changed>,
    /// Old values of results, and the caller's locals that are not kept.
    quantified: Predicate,
    /// For the effect of a call: currents of results → temporary, other currents → next.
    second: Renaming,
}

impl LocalVariables {
    /// The local variables are those with the given numbers.
    pub fn new(domain: &BddRelations, locals: &[usize]) -> Self {
        Self::keeping(domain, locals, locals)
    }

    /// The same, where the caller goes on with the `kept` ones only: the others have any value
    /// after the call.
    ///
    /// For callers to whom the others do not matter any more. All of `kept` must be `locals`.
    pub fn keeping(domain: &BddRelations, locals: &[usize], kept: &[usize]) -> Self {
        let variables = &domain.inner().variables;
        let results: Vec<usize> =
            (0..variables.len()).filter(|i| !kept.contains(i) && !locals.contains(i)).collect();
        let levels = || locals.iter().map(|i| variables[*i]);
        let lost = locals.iter().filter(|i| !kept.contains(i)).map(|i| variables[*i].next);
        let core = domain.core();
        let changed = domain.changed(&results);
        let inner = Inner {
            identity: domain.identity_on(kept.iter().copied()),
            nexts: core.cube(levels().map(|l| l.next)),
            currents_and_nexts: core.cube(levels().flat_map(|l| [l.current, l.next])),
            quantified: core.and(&changed.temporaries, &core.cube(lost)),
            second: core.renaming(&as_second(variables, |i| results.contains(&i))),
            results: changed,
        };
        Self { inner: Rc::new(inner) }
    }
}

impl fmt::Debug for LocalVariables {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("LocalVariables").finish_non_exhaustive()
    }
}

/// Calls keep the caller's local variables: `merge(w₁, w₂) = w₁ ⊗ project(entry ⊗ w₂)`.
///
/// ```
/// use wherefore_domains::Entry;
/// use wherefore_domains::bdd::{BddRelations, LocalVariables, ProjectLocals};
/// use wherefore_pushdown::{Merge, Semiring};
///
/// // Global g (0) and local l (1): the callee, whose local is not initialised, sets g to its local.
/// let domain = BddRelations::new(2, 1 << 16);
/// let locals = LocalVariables::new(&domain, &[1]);
/// let call = ProjectLocals::new(locals, Entry::Uninitialised);
/// let callee = domain.assign(&[(0, domain.var(1))]);
/// assert_eq!(call.merge(&domain, &domain.one(), &callee), domain.havoc(&[0]));
/// ```
#[derive(Clone, Debug)]
pub struct ProjectLocals {
    locals: LocalVariables,
    entry: Entry<Predicate>,
}

impl ProjectLocals {
    /// The merge function of a call that enters its callee by `entry`.
    pub fn new(locals: LocalVariables, entry: Entry<Predicate>) -> Self {
        Self { locals, entry }
    }

    /// `{(g₁, l₁, g₂, l₁) | (g₁, l₁, g₂, l₂) ∈ entry ⊗ w}`, if all locals are kept.
    pub fn project(&self, domain: &BddRelations, w: &Predicate) -> Predicate {
        domain.core().and(&self.effect(domain, w), &self.locals.inner.identity)
    }

    /// What `entry ⊗ w` does to the globals; it says nothing of the next values of locals.
    fn effect(&self, domain: &BddRelations, w: &Predicate) -> Predicate {
        let locals = &*self.locals.inner;
        match &self.entry {
            Entry::Inherited => domain.core().exists(w, &locals.nexts),
            Entry::Uninitialised => domain.core().exists(w, &locals.currents_and_nexts),
            Entry::Bound(entry) => match domain.frame(entry) {
                Some(frame) => frame.before_without(domain.core(), w, &locals.nexts),
                None => domain.core().exists(&domain.extend(entry, w), &locals.nexts),
            },
        }
    }

    /// The adjoint of [`project`](Self::project): `project(z)` meets `c` exactly when `z` meets the
    /// result.
    pub fn pull_project(&self, domain: &BddRelations, c: &Predicate) -> Predicate {
        let locals = &*self.locals.inner;
        let core = domain.core();
        match &self.entry {
            Entry::Inherited => core.and_exists(c, &locals.identity, &locals.nexts),
            Entry::Uninitialised => core.and_exists(c, &locals.identity, &locals.currents_and_nexts),
            Entry::Bound(entry) => {
                let free = core.and_exists(c, &locals.identity, &locals.nexts);
                domain.extend_from_transposed(entry, &free)
            }
        }
    }
}

impl Merge<BddRelations> for ProjectLocals {
    fn merge(&self, domain: &BddRelations, caller: &Predicate, callee: &Predicate) -> Predicate {
        // `caller ⊗ project(callee)`, composed on the globals only.
        let effect = self.effect(domain, callee);
        if domain.is_one(caller) {
            return domain.core().and(&effect, &self.locals.inner.identity);
        }
        let locals = &self.locals.inner;
        let core = domain.core();
        let first = core.rename(caller, &locals.results.before);
        core.and_exists(&first, &core.rename(&effect, &locals.second), &locals.quantified)
    }
}

impl AdjointMerge<BddRelations> for ProjectLocals {
    fn pull(
        &self,
        domain: &BddRelations,
        before: &Predicate,
        context: &Predicate,
        after: &Predicate,
    ) -> Predicate {
        self.pull_project(domain, &domain.pull(before, context, after))
    }
}
