//! Transitions that change few variables, and how to compose with them cheaply.
//!
//! A statement changes a few variables `V`; the others keep their values. As a relation it is `p ∧
//! identity on the others`, and composing with it renames and quantifies every variable. But
//! composition with a *known* transition needs to touch only the changed variables: with `w(x, x′)`
//! before it and `p(x, x′_V)`,
//!
//! `(w ⊗ transition)(x, x′) = ∃ t_V: w(x, x′[V := t_V]) ∧ p(x′[V := t_V], x′_V)`,
//!
//! and likewise for a weight after it. The part of the diagram of `w` below the changed variables
//! is shared as it is. Nor do most changed variables need the temporary `t`:
//!
//! - one that `p` writes and does not read: its old value is quantified in `w`, and its new one
//!   takes the place;
//! - one that `p` reads, or not, and leaves open: it is quantified in the conjunction;
//! - only one that is read *and* written has two values at a time.
//!
//! The domain remembers the weights it has built this way
//! ([`BddRelations::transition`](super::BddRelations::transition)) and composes with them like
//! this; all others by the full relational product. The results are the same.

use std::rc::Rc;

use super::core::{Core, Predicate, Renaming};
use super::relations::Levels;

/// How to compose with transitions that change a given set of variables.
pub(super) struct Changed {
    pub(super) temporaries: Predicate,
    /// For the weight before a transition: next_V → temporary_V.
    pub(super) before: Renaming,
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
}

/// What to rename in a transition that comes second: current_V → temporary_V, other currents →
/// next.
pub(super) fn as_second(variables: &[Levels], is_changed: impl Fn(usize) -> bool) -> Vec<(u32, u32)> {
    let target = |(i, l): (usize, &Levels)| (l.current, if is_changed(i) { l.temporary } else { l.next });
    variables.iter().enumerate().map(target).collect()
}

/// How to compose a weight with a transition on one of its sides.
struct Side {
    /// What to quantify in the weight before anything else.
    first: Option<Predicate>,
    /// The transition, renamed.
    other: Predicate,
    /// What to quantify in the conjunction.
    cube: Predicate,
}

/// A transition that the domain has built, ready for composition.
pub(super) struct Frame {
    /// The variables that are read and written.
    both: Option<Rc<Changed>>,
    after: Side,
    before: Side,
    after_transposed: Side,
}

/// What a transition does with a variable.
#[derive(Clone, Copy, PartialEq)]
pub(super) enum Use {
    /// It keeps its value.
    Kept,
    /// It has any value afterwards; its value before is read.
    Left,
    /// The same, not read.
    Free,
    /// Written, and not read.
    Written,
    /// Read and written.
    Both,
}

/// What to rename of one variable.
type Moves = [Option<(u32, u32)>; 2];

impl Frame {
    /// What the transition `p ∧ identity on those not changed` does with each variable.
    pub(super) fn uses(variables: &[Levels], is_changed: impl Fn(usize) -> bool, p: &Predicate) -> Vec<Use> {
        let levels = p.levels();
        let what = |(i, l): (usize, &Levels)| match (levels.contains(&l.current), levels.contains(&l.next)) {
            _ if !is_changed(i) => Use::Kept,
            (true, false) => Use::Left,
            (false, false) => Use::Free,
            (false, true) => Use::Written,
            (true, true) => Use::Both,
        };
        variables.iter().enumerate().map(what).collect()
    }

    /// The transition `p`, which uses the variables in this way; `both` is about those read and
    /// written.
    pub(super) fn new(
        core: &Core,
        variables: &[Levels],
        uses: &[Use],
        both: Option<Rc<Changed>>,
        p: &Predicate,
    ) -> Self {
        let all = || variables.iter().zip(uses.iter().copied());
        let some =
            |of: &dyn Fn(&Levels, Use) -> Option<u32>| core.cube(all().filter_map(|(l, what)| of(l, what)));
        let unless_empty = |cube: Predicate| (cube != core.top).then_some(cube);
        let renamed = |of: &dyn Fn(&Levels, Use) -> Moves| {
            let pairs: Vec<(u32, u32)> = all().flat_map(|(l, what)| of(l, what)).flatten().collect();
            core.rename(p, &core.brief_renaming(&pairs))
        };
        let after = Side {
            first: unless_empty(some(&|l, what| (what == Use::Written).then_some(l.next))),
            other: renamed(&|l, what| {
                let now = if what == Use::Both { l.temporary } else { l.next };
                [(what != Use::Written).then_some((l.current, now)), None]
            }),
            cube: some(&|l, what| match what {
                Use::Left | Use::Free => Some(l.next),
                Use::Both => Some(l.temporary),
                Use::Kept | Use::Written => None,
            }),
        };
        let before = Side {
            first: unless_empty(some(&|l, what| (what == Use::Left).then_some(l.current))),
            other: renamed(&|l, what| match what {
                Use::Kept => [Some((l.next, l.current)), None],
                Use::Written => [Some((l.next, l.current)), None],
                Use::Both => [Some((l.next, l.temporary)), None],
                Use::Left | Use::Free => [None, None],
            }),
            cube: some(&|l, what| match what {
                Use::Written | Use::Free => Some(l.current),
                Use::Both => Some(l.temporary),
                Use::Kept | Use::Left => None,
            }),
        };
        let after_transposed = Side {
            first: unless_empty(some(&|l, what| (what == Use::Left).then_some(l.next))),
            other: renamed(&|l, what| match what {
                Use::Written => [None, None],
                Use::Both => [Some((l.current, l.next)), Some((l.next, l.temporary))],
                Use::Kept | Use::Left | Use::Free => [Some((l.current, l.next)), None],
            }),
            cube: some(&|l, what| match what {
                Use::Written | Use::Free => Some(l.next),
                Use::Both => Some(l.temporary),
                Use::Kept | Use::Left => None,
            }),
        };
        Self { both, after, before, after_transposed }
    }

    /// `w ⊗ transition`.
    pub(super) fn after(&self, core: &Core, w: &Predicate) -> Predicate {
        self.after.compose(core, w, self.both.as_ref().map(|both| &both.before), None)
    }

    /// `w ⊗ transitionᵀ`.
    pub(super) fn after_transposed(&self, core: &Core, w: &Predicate) -> Predicate {
        self.after_transposed.compose(core, w, self.both.as_ref().map(|both| &both.before), None)
    }

    /// `transition ⊗ w`.
    pub(super) fn before(&self, core: &Core, w: &Predicate) -> Predicate {
        self.before.compose(core, w, self.both.as_ref().map(|both| &both.after), None)
    }

    /// `∃ nexts: transition ⊗ w`, for next values.
    pub(super) fn before_without(&self, core: &Core, w: &Predicate, nexts: &Predicate) -> Predicate {
        self.before.compose(core, w, self.both.as_ref().map(|both| &both.after), Some(nexts))
    }
}

impl Side {
    fn compose(
        &self,
        core: &Core,
        w: &Predicate,
        apart: Option<&Renaming>,
        more: Option<&Predicate>,
    ) -> Predicate {
        let mut w = w.clone();
        if let Some(first) = &self.first {
            w = core.exists(&w, first);
        }
        if let Some(apart) = apart {
            w = core.rename(&w, apart);
        }
        let cube = more.map_or_else(|| self.cube.clone(), |more| core.and(&self.cube, more));
        if cube == core.top { core.and(&w, &self.other) } else { core.and_exists(&w, &self.other, &cube) }
    }
}
