//! Transitions that change few variables, and how to compose with them cheaply.
//!
//! A statement changes a few variables; the others keep their values. As a relation it is `p ∧ identity on the others`, and
//! composing with it renames and quantifies every variable. But composition with a *known* transition needs to touch
//! only the changed variables `V`: with `w(x, x′)` before it and `p(x, x′_V)`,
//!
//! `(w ⊗ transition)(x, x′) = ∃ t_V: w(x, x′[V := t_V]) ∧ p(x′[V := t_V], x′_V)`,
//!
//! and likewise for a weight after it. The part of the diagram of `w` below the changed variables is shared as it is. The domain
//! remembers the weights it has built this way ([`BddRelations::transition`](super::BddRelations::transition)) and composes with
//! them like this; all others by the full relational product. The results are the same.

use std::rc::Rc;

use super::core::{Core, Predicate, Renaming};
use super::relations::Levels;

/// How to compose with transitions that change a given set of variables.
pub(super) struct Changed {
    temporaries: Predicate,
    /// For the weight before a transition: next_V → temporary_V.
    before: Renaming,
    /// For the weight after a transition: current_V → temporary_V.
    after: Renaming,
}

impl Changed {
    /// `is_changed` tells which of the variables change.
    pub(super) fn new(core: &Core, variables: &[Levels], is_changed: impl Fn(usize) -> bool) -> Self {
        let changed = || variables.iter().enumerate().filter(|(i, _)| is_changed(*i)).map(|(_, l)| l);
        Self {
            temporaries: core.cube(changed().map(|l| l.temporary)),
            before: core.renaming(&changed().map(|l| (l.next, l.temporary)).collect::<Vec<_>>()),
            after: core.renaming(&changed().map(|l| (l.current, l.temporary)).collect::<Vec<_>>()),
        }
    }

    /// `w ⊗ (p ∧ identity on the others)`, where `second` is `p` after [`as_second`].
    pub(super) fn then(&self, core: &Core, w: &Predicate, second: &Predicate) -> Predicate {
        core.and_exists(&core.rename(w, &self.before), second, &self.temporaries)
    }
}

/// What to rename in a transition that comes second: current_V → temporary_V, other currents → next.
pub(super) fn as_second(variables: &[Levels], is_changed: impl Fn(usize) -> bool) -> Vec<(u32, u32)> {
    let target = |(i, l): (usize, &Levels)| (l.current, if is_changed(i) { l.temporary } else { l.next });
    variables.iter().enumerate().map(target).collect()
}

/// What to rename in a transition that comes first: next_V → temporary_V, other nexts → current.
fn as_first(variables: &[Levels], is_changed: impl Fn(usize) -> bool) -> Vec<(u32, u32)> {
    let target = |(i, l): (usize, &Levels)| (l.next, if is_changed(i) { l.temporary } else { l.current });
    variables.iter().enumerate().map(target).collect()
}

/// What to rename in a transition that is turned round and comes second: next_V → temporary_V, currents → next.
fn as_second_transposed(variables: &[Levels], is_changed: impl Fn(usize) -> bool) -> Vec<(u32, u32)> {
    let turned = |(i, l): (usize, &Levels)| {
        let next = is_changed(i).then_some((l.next, l.temporary));
        [Some((l.current, l.next)), next]
    };
    variables.iter().enumerate().flat_map(turned).flatten().collect()
}

/// A transition that the domain has built, ready for composition.
pub(super) struct Frame {
    changed: Rc<Changed>,
    second: Predicate,
    first: Predicate,
    second_transposed: Predicate,
}

impl Frame {
    /// The transition `p ∧ identity on the others`.
    pub(super) fn new(
        core: &Core,
        variables: &[Levels],
        is_changed: impl Fn(usize) -> bool,
        changed: Rc<Changed>,
        p: &Predicate,
    ) -> Self {
        let second = core.brief_renaming(&as_second(variables, &is_changed));
        let first = core.brief_renaming(&as_first(variables, &is_changed));
        let transposed = core.brief_renaming(&as_second_transposed(variables, &is_changed));
        Self {
            second: core.rename(p, &second),
            first: core.rename(p, &first),
            second_transposed: core.rename(p, &transposed),
            changed,
        }
    }

    /// `w ⊗ transition`.
    pub(super) fn after(&self, core: &Core, w: &Predicate) -> Predicate {
        self.changed.then(core, w, &self.second)
    }

    /// `w ⊗ transitionᵀ`.
    pub(super) fn after_transposed(&self, core: &Core, w: &Predicate) -> Predicate {
        self.changed.then(core, w, &self.second_transposed)
    }

    /// `transition ⊗ w`.
    pub(super) fn before(&self, core: &Core, w: &Predicate) -> Predicate {
        let renamed = core.rename(w, &self.changed.after);
        core.and_exists(&self.first, &renamed, &self.changed.temporaries)
    }
}
