//! The domain of relations on Boolean variables.

use std::cell::RefCell;
use std::collections::BTreeMap;
use std::fmt;
use std::rc::Rc;

use rustc_hash::FxHashMap;

use wherefore_pushdown::{Adjoint, Atomic, Relational, Remembering, Semiring};

use super::core::{Core, Predicate, Renaming};
use super::frames::{Changed, Frame, Use};

/// The levels of one program variable.
#[derive(Clone, Copy, Debug)]
pub(super) struct Levels {
    pub(super) current: u32,
    pub(super) temporary: u32,
    pub(super) next: u32,
    pub(super) history: u32,
}

/// How many levels a program variable has.
const LEVELS: usize = 4;

fn blocks(start: u32, count: usize) -> Vec<Levels> {
    let block = |i: usize| {
        let first = start + (LEVELS * i) as u32;
        Levels { current: first, temporary: first + 1, next: first + 2, history: first + 3 }
    };
    (0..count).map(block).collect()
}

/// The relational domain on the stores of some Boolean variables, as decision diagrams.
///
/// A clone is another handle of the same domain.
///
/// ```
/// use wherefore_domains::bdd::BddRelations;
/// use wherefore_pushdown::Semiring;
///
/// // Two variables, x and y. `assume x; y := !x`
/// let domain = BddRelations::new(2, 1 << 16);
/// let x = domain.var(0);
/// let assume = domain.assume(&x);
/// let assign = domain.assign(&[(1, domain.not(&x))]);
/// let path = domain.extend(&assume, &assign);
/// assert_eq!(domain.pick_pair(&path).unwrap().1, [true, false]);
/// assert_eq!(domain.pair_count(&path), 2.0);
/// ```
#[derive(Clone)]
pub struct BddRelations {
    inner: Rc<Inner>,
}

pub(super) struct Inner {
    pub(super) core: Rc<Core>,
    pub(super) variables: Vec<Levels>,
    one: Predicate,
    /// `{(v, y_v, v)}`.
    remember: Predicate,
    pub(super) currents: Predicate,
    pub(super) nexts: Predicate,
    temporaries: Predicate,
    currents_and_nexts: Predicate,
    histories: Predicate,
    /// The left operand of a composition: next → temporary.
    left: Renaming,
    /// The right operand of a composition: current → temporary.
    right: Renaming,
    /// The transposed left operand: current → temporary, next → current.
    left_transposed: Renaming,
    /// The transposed right operand: next → temporary, current → next.
    right_transposed: Renaming,
    /// current ↔ next.
    pub(super) transpose: Renaming,
    /// How to compose with transitions that change given variables.
    changes: RefCell<BTreeMap<Vec<usize>, Rc<Changed>>>,
    /// The weights that are known to change few variables.
    frames: RefCell<FxHashMap<Predicate, Rc<Frame>>>,
}

impl BddRelations {
    /// The relations on `variables` Boolean variables, with room for `node_capacity` nodes.
    ///
    /// Room is reserved, but taken only when it is used: a capacity of `1 << 26` is right for most
    /// machines (2 GB when full).
    pub fn new(variables: usize, node_capacity: usize) -> Self {
        Self::with_cache(variables, node_capacity, (node_capacity / 8).clamp(1 << 10, 1 << 20))
    }

    /// As [`new`](Self::new), with a cache of `cache_entries` results of operations (20 bytes each,
    /// taken at once).
    pub fn with_cache(variables: usize, node_capacity: usize, cache_entries: usize) -> Self {
        let core = Rc::new(Core::new(node_capacity, cache_entries));
        let fresh = blocks(core.add_variables(LEVELS * variables), variables);
        Self::on(core, fresh)
    }

    /// As [`new`](Self::new), with room in the variable order for [tensor
    /// products](super::TensorProduct) of so many factors.
    ///
    /// Without it tensors are computed all the same, but their factors lie apart in the order, and
    /// diagrams are larger.
    pub fn with_factors(variables: usize, node_capacity: usize, factors: usize) -> Self {
        let cache_entries = (node_capacity / 8).clamp(1 << 10, 1 << 20);
        let core = Rc::new(Core::new(node_capacity, cache_entries));
        let all = blocks(core.add_variables(LEVELS * variables * factors.max(1)), variables * factors.max(1));
        let factor = |f: usize| all.iter().copied().skip(f).step_by(factors.max(1));
        core.spare.borrow_mut().extend((1..factors).flat_map(factor));
        Self::on(core.clone(), factor(0).collect())
    }

    /// As [`with_cache`](Self::with_cache), with room above all variables for a
    /// [companion](Self::companion).
    pub fn with_reserve(
        variables: usize,
        reserve: usize,
        node_capacity: usize,
        cache_entries: usize,
    ) -> Self {
        let core = Rc::new(Core::new(node_capacity, cache_entries));
        core.reserved.replace(blocks(core.add_variables(LEVELS * reserve), reserve));
        let fresh = blocks(core.add_variables(LEVELS * variables), variables);
        Self::on(core, fresh)
    }

    /// The relations on `variables` other Boolean variables, in the same diagrams: predicates of
    /// both can be combined.
    ///
    /// All companions share their variables, the first ones of the reserve. What the reserve lacks
    /// is added at the bottom of the order.
    pub fn companion(&self, variables: usize) -> Self {
        let core = self.inner.core.clone();
        let mut reserved = core.reserved.borrow_mut();
        let missing = variables.saturating_sub(reserved.len());
        reserved.extend(blocks(core.add_variables(LEVELS * missing), missing));
        let first = reserved[..variables].to_vec();
        drop(reserved);
        Self::on(core, first)
    }

    /// The variables of this domain, and as many others: the first spare ones, or new ones at the
    /// bottom of the order.
    pub(super) fn doubled(&self) -> Self {
        let n = self.variable_count();
        let core = self.inner.core.clone();
        let spare: Vec<Levels> = {
            let mut spare = core.spare.borrow_mut();
            if spare.len() >= n { spare.drain(..n).collect() } else { Vec::new() }
        };
        let second = if spare.len() == n { spare } else { blocks(core.add_variables(LEVELS * n), n) };
        Self::on(core, self.inner.variables.iter().copied().chain(second).collect())
    }

    fn on(core: Rc<Core>, variables: Vec<Levels>) -> Self {
        let cube = |of: fn(&Levels) -> u32| core.cube(variables.iter().map(of));
        let renaming = |of: fn(&Levels) -> Vec<(u32, u32)>| {
            core.renaming(&variables.iter().flat_map(of).collect::<Vec<_>>())
        };
        let one = identity(&core, &variables);
        let same = |l: &Levels| core.equiv(&core.variable(l.current), &core.variable(l.history));
        let remember = variables.iter().rev().fold(one.clone(), |all, l| core.and(&same(l), &all));
        let (currents, nexts) = (cube(|l| l.current), cube(|l| l.next));
        let inner = Inner {
            one,
            remember,
            currents_and_nexts: core.and(&currents, &nexts),
            currents,
            nexts,
            temporaries: cube(|l| l.temporary),
            histories: cube(|l| l.history),
            left: renaming(|l| vec![(l.next, l.temporary)]),
            right: renaming(|l| vec![(l.current, l.temporary)]),
            left_transposed: renaming(|l| vec![(l.current, l.temporary), (l.next, l.current)]),
            right_transposed: renaming(|l| vec![(l.next, l.temporary), (l.current, l.next)]),
            transpose: renaming(|l| vec![(l.current, l.next), (l.next, l.current)]),
            changes: RefCell::default(),
            frames: RefCell::default(),
            variables,
            core,
        };
        Self { inner: Rc::new(inner) }
    }

    /// How many variables a store has.
    pub fn variable_count(&self) -> usize {
        self.inner.variables.len()
    }

    /// How many nodes all diagrams have together; those no longer in use count until they are
    /// collected.
    pub fn node_count(&self) -> usize {
        self.core().nodes()
    }

    /// About how many bytes the diagrams and the cache take.
    pub fn memory(&self) -> usize {
        self.core().bytes()
    }

    pub(super) fn inner(&self) -> &Inner {
        &self.inner
    }

    pub(super) fn core(&self) -> &Core {
        &self.inner.core
    }
}

/// # Compositions
impl BddRelations {
    /// The pairs, turned round (\[Lal09\] Def. 6.5.4).
    pub fn transpose(&self, w: &Predicate) -> Predicate {
        self.core().rename(w, &self.inner.transpose)
    }

    /// `aᵀ ⊗ b`, without building `aᵀ`.
    pub(super) fn extend_from_transposed(&self, a: &Predicate, b: &Predicate) -> Predicate {
        if *a == self.inner.one {
            return b.clone();
        }
        let left = self.core().rename(a, &self.inner.left_transposed);
        let right = self.core().rename(b, &self.inner.right);
        self.core().and_exists(&left, &right, &self.inner.temporaries)
    }

    /// `a ⊗ bᵀ`, without building `bᵀ`.
    fn extend_by_transposed(&self, a: &Predicate, b: &Predicate) -> Predicate {
        if *b == self.inner.one {
            return a.clone();
        }
        if let Some(transition) = self.frame(b) {
            return transition.after_transposed(self.core(), a);
        }
        let left = self.core().rename(a, &self.inner.left);
        let right = self.core().rename(b, &self.inner.right_transposed);
        self.core().and_exists(&left, &right, &self.inner.temporaries)
    }

    pub(super) fn changed(&self, variables: &[usize]) -> Rc<Changed> {
        let mut key = variables.to_vec();
        key.sort_unstable();
        key.dedup();
        if let Some(changed) = self.inner.changes.borrow().get(&key) {
            return changed.clone();
        }
        let is_changed = |i: usize| key.binary_search(&i).is_ok();
        let changed = Rc::new(Changed::new(self.core(), &self.inner.variables, is_changed));
        self.inner.changes.borrow_mut().insert(key, changed.clone());
        changed
    }

    /// Remembers that `w` is `p` and the identity on all variables that are not `changed`.
    pub(super) fn remember_frame(&self, w: &Predicate, changed: &[usize], p: &Predicate) {
        if self.inner.frames.borrow().contains_key(w) {
            return;
        }
        let variables = &self.inner.variables;
        let uses = Frame::uses(variables, |i| changed.contains(&i), p);
        let both: Vec<usize> = (0..variables.len()).filter(|i| uses[*i] == Use::Both).collect();
        let both = (!both.is_empty()).then(|| self.changed(&both));
        let frame = Frame::new(self.core(), variables, &uses, both, p);
        self.inner.frames.borrow_mut().insert(w.clone(), Rc::new(frame));
    }

    pub(super) fn frame(&self, w: &Predicate) -> Option<Rc<Frame>> {
        self.inner.frames.borrow().get(w).cloned()
    }
}

/// Conjoined from the bottom of the order upwards: each step adds a constant number of nodes.
pub(super) fn identity(core: &Core, variables: &[Levels]) -> Predicate {
    let mut variables = variables.to_vec();
    variables.sort_unstable_by_key(|l| l.current);
    let keep = |l: &Levels| core.equiv(&core.variable(l.current), &core.variable(l.next));
    variables.iter().rev().fold(core.top.clone(), |all, l| core.and(&keep(l), &all))
}

impl fmt::Debug for BddRelations {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let variables = self.variable_count();
        f.debug_struct("BddRelations").field("variables", &variables).finish_non_exhaustive()
    }
}

impl Semiring for BddRelations {
    type Weight = Predicate;

    fn zero(&self) -> Predicate {
        self.core().bottom.clone()
    }

    fn one(&self) -> Predicate {
        self.inner.one.clone()
    }

    fn combine(&self, a: &Predicate, b: &Predicate) -> Predicate {
        self.core().or(a, b)
    }

    fn extend(&self, a: &Predicate, b: &Predicate) -> Predicate {
        if self.is_one(a) || self.is_zero(b) {
            return b.clone();
        }
        if self.is_one(b) || self.is_zero(a) {
            return a.clone();
        }
        if let Some(transition) = self.frame(b) {
            return transition.after(self.core(), a);
        }
        if let Some(transition) = self.frame(a) {
            return transition.before(self.core(), b);
        }
        let left = self.core().rename(a, &self.inner.left);
        let right = self.core().rename(b, &self.inner.right);
        self.core().and_exists(&left, &right, &self.inner.temporaries)
    }

    #[inline]
    fn is_zero(&self, w: &Predicate) -> bool {
        *w == self.core().bottom
    }

    #[inline]
    fn is_one(&self, w: &Predicate) -> bool {
        *w == self.inner.one
    }

    fn difference(&self, a: &Predicate, b: &Predicate) -> Option<Predicate> {
        Some(self.core().minus(a, b))
    }

    fn exhausted(&self) -> bool {
        self.core().exhausted()
    }

    fn is_tall(&self) -> bool {
        true
    }
}

/// A context is the relation of acceptable (entry, exit) pairs.
impl Adjoint for BddRelations {
    type Context = Predicate;

    fn any_context(&self) -> Predicate {
        self.core().top.clone()
    }

    fn no_context(&self) -> Predicate {
        self.core().bottom.clone()
    }

    fn join_context(&self, into: &mut Predicate, context: &Predicate) -> bool {
        self.join(into, context)
    }

    fn pull(&self, before: &Predicate, context: &Predicate, after: &Predicate) -> Predicate {
        self.extend_by_transposed(&self.extend_from_transposed(before, context), after)
    }

    fn completes(&self, w: &Predicate, context: &Predicate) -> bool {
        !self.is_zero(&self.core().and(w, context))
    }

    #[inline]
    fn is_no_context(&self, context: &Predicate) -> bool {
        *context == self.core().bottom
    }
}

/// Atoms are pairs of stores.
impl Atomic for BddRelations {
    fn atom(&self, w: &Predicate, context: &Predicate) -> Option<(Predicate, Predicate)> {
        let both = self.core().and(w, context);
        let (before, after) = self.pick_pair(&both)?;
        let pair = self.core().and(&self.store(&before), &self.primed(&self.store(&after)));
        Some((pair.clone(), pair))
    }

    fn beginning_as(&self, w: &Predicate, atom: &Predicate) -> Predicate {
        self.core().and(w, &self.core().exists(atom, &self.inner.nexts))
    }
}

impl Relational for BddRelations {
    fn domain_of(&self, w: &Predicate) -> Predicate {
        let set = self.core().exists(w, &self.inner.nexts);
        self.core().and(&set, &self.inner.one)
    }

    fn range_of(&self, w: &Predicate) -> Predicate {
        let set = self.core().exists(w, &self.inner.currents);
        self.core().and(&set, &self.inner.one)
    }

    fn meet(&self, a: &Predicate, b: &Predicate) -> Predicate {
        self.core().and(a, b)
    }

    fn accepted(&self, w: &Predicate, context: &Predicate) -> Predicate {
        self.core().and(w, context)
    }

    fn middle(&self, before: &Predicate, after: &Predicate, context: &Predicate) -> Predicate {
        if self.is_one(after) {
            return self.range_of(&self.core().and(before, context));
        }
        let wanted = self.extend_from_transposed(before, context);
        let set = self.core().and_exists(&wanted, after, &self.inner.nexts);
        self.core().and(&set, &self.inner.one)
    }
}

/// The remembered store is in the history levels, which all operations on weights leave alone.
impl Remembering for BddRelations {
    type Memory = Predicate;

    fn remember(&self) -> Predicate {
        self.inner.remember.clone()
    }

    fn map_memory(&self, memory: &Predicate, function: &mut dyn FnMut(&Predicate) -> Predicate) -> Predicate {
        function(memory)
    }

    fn join_memory(&self, into: &mut Predicate, memory: &Predicate) -> bool {
        self.join(into, memory)
    }

    fn remembered(&self, memory: &Predicate) -> Predicate {
        let stores = self.core().exists(memory, &self.inner.currents_and_nexts);
        self.core().and_exists(&stores, &self.inner.remember, &self.inner.histories)
    }
}
