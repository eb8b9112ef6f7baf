//! Predicates and the manager of their diagrams: the only file that talks to the diagram library.
//!
//! Every operation goes through [`Core::attempt`]: it collects garbage when there are three times
//! as many nodes as were live, collects and tries once more when there is no room, and records
//! failure instead of returning it.

use std::cell::{Cell, RefCell};
use std::fmt;

use rustc_hash::FxHashSet;

use super::relations::Levels;
use oxidd::bdd::{BDDFunction, BDDManagerRef, new_manager};
use oxidd::util::AllocResult;
use oxidd::{
    BooleanFunction, BooleanFunctionQuant, BooleanOperator, Function, FunctionSubst, HasLevel, Manager,
    ManagerRef, Node, Subst,
};

/// A predicate over the variables of one [`BddRelations`](super::BddRelations), as a decision
/// diagram.
///
/// Over current and next values it is a relation: a weight. Equality is semantic and takes constant
/// time; predicates of different domains must not be mixed.
///
/// ```
/// use wherefore_domains::bdd::BddRelations;
///
/// let domain = BddRelations::new(2, 1 << 16);
/// let (x, y) = (domain.var(0), domain.var(1));
/// let both = domain.and(&x, &y);
/// assert_eq!(both, domain.not(&domain.or(&domain.not(&x), &domain.not(&y))));
/// ```
#[derive(Clone, PartialEq, Eq, Hash)]
pub struct Predicate(pub(super) BDDFunction);

impl Predicate {
    /// The number of nodes of the diagram, terminals included.
    pub fn node_count(&self) -> usize {
        self.0.node_count()
    }

    /// The lowest variable of the diagram and the two cofactors; `None` for a constant.
    pub(super) fn split(&self) -> Option<(u32, Predicate, Predicate)> {
        let level = self.0.with_manager_shared(|manager, edge| match manager.get_node(edge) {
            Node::Inner(node) => Some(node.level()),
            Node::Terminal(_) => None,
        })?;
        let (high, low) = self.0.cofactors()?;
        Some((level, Predicate(high), Predicate(low)))
    }

    /// The levels that the diagram has nodes on.
    #[allow(clippy::mutable_key_type)] // The hash of a predicate is that of its node, which does not change.
    pub(super) fn levels(&self) -> FxHashSet<u32> {
        let mut levels = FxHashSet::default();
        let mut seen = FxHashSet::default();
        let mut open = vec![self.clone()];
        while let Some(part) = open.pop() {
            let Some((level, high, low)) = part.split() else { continue };
            if seen.insert(part) {
                levels.insert(level);
                open.extend([high, low]);
            }
        }
        levels
    }

    fn is_true(&self) -> bool {
        self.0.valid()
    }
}

/// A few of the paths to true, over the numbers of levels.
impl fmt::Debug for Predicate {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        const SHOWN: usize = 8;
        let mut paths = Vec::new();
        let mut stack = vec![(self.clone(), String::new())];
        while let Some((rest, path)) = stack.pop() {
            if paths.len() > SHOWN {
                break;
            }
            match rest.split() {
                Some((level, high, low)) => {
                    stack.push((low, format!("{path} !{level}")));
                    stack.push((high, format!("{path} {level}")));
                }
                None if rest.is_true() => paths.push(path),
                None => {}
            }
        }
        let more = if paths.len() > SHOWN { " | …" } else { "" };
        paths.truncate(SHOWN);
        write!(f, "{{{}{more} }}", paths.join(" |"))
    }
}

/// Collections are not worth it below this number of nodes.
const SMALL: usize = 1 << 20;

/// How many operations pass between two looks at the number of nodes.
const PERIOD: u32 = 64;

/// A manager of diagrams, with its state of health.
pub(super) struct Core {
    manager: BDDManagerRef,
    pub(super) bottom: Predicate,
    pub(super) top: Predicate,
    capacity: usize,
    cache_entries: usize,
    exhausted: Cell<bool>,
    operations: Cell<u32>,
    collect_at: Cell<usize>,
    mentioned: Cell<usize>,
    /// Variables for [companions](super::BddRelations::companion), above all others in the order.
    pub(super) reserved: RefCell<Vec<Levels>>,
    /// Variables that wait for tensor products, factor after factor.
    pub(super) spare: RefCell<Vec<Levels>>,
}

impl Core {
    pub(super) fn new(node_capacity: usize, cache_entries: usize) -> Self {
        let manager = new_manager(node_capacity, cache_entries, 1);
        let (bottom, top) =
            manager.with_manager_shared(|m| (Predicate(BDDFunction::f(m)), Predicate(BDDFunction::t(m))));
        Self {
            manager,
            bottom,
            top,
            capacity: node_capacity,
            cache_entries,
            exhausted: Cell::new(false),
            operations: Cell::new(0),
            collect_at: Cell::new(SMALL),
            mentioned: Cell::new(0),
            reserved: RefCell::new(Vec::new()),
            spare: RefCell::new(Vec::new()),
        }
    }

    /// Adds variables at the bottom of the order; returns the first one.
    pub(super) fn add_variables(&self, count: usize) -> u32 {
        let count = u32::try_from(count).expect("fewer than 2³² variables");
        self.manager.with_manager_exclusive(|m| m.add_vars(count).start)
    }

    pub(super) fn variable(&self, variable: u32) -> Predicate {
        self.attempt(|| self.manager.with_manager_shared(|m| BDDFunction::var(m, variable)))
    }

    pub(super) fn exhausted(&self) -> bool {
        self.exhausted.get()
    }

    /// The nodes of all diagrams, dead ones included.
    pub(super) fn nodes(&self) -> usize {
        self.manager.with_manager_shared(|m| m.num_inner_nodes())
    }

    /// About how many bytes nodes, tables and cache take.
    pub(super) fn bytes(&self) -> usize {
        // A node takes 16 bytes and, at a load of three quarters, two slots of 4 bytes in its
        // table.
        let nodes = self.manager.with_manager_shared(|m| m.approx_num_inner_nodes());
        24 * nodes + 20 * self.cache_entries
    }

    fn attempt(&self, operation: impl Fn() -> AllocResult<BDDFunction>) -> Predicate {
        if self.exhausted.get() {
            return self.bottom.clone();
        }
        let count = self.operations.get().wrapping_add(1);
        self.operations.set(count);
        if count % PERIOD == 0 {
            self.collect_if_grown();
        }
        if let Ok(result) = operation() {
            return Predicate(result);
        }
        // Exclusive access waits for a collection that is under way in the background.
        self.manager.with_manager_exclusive(|m| m.gc());
        let hopeless = self.nodes() > self.capacity / 8 * 7;
        match operation() {
            Ok(result) if !hopeless => Predicate(result),
            _ => {
                self.exhausted.set(true);
                self.bottom.clone()
            }
        }
    }

    fn collect_if_grown(&self) {
        self.manager.with_manager_shared(|m| {
            if m.approx_num_inner_nodes() > self.collect_at.get() {
                m.gc();
                self.collect_at.set(SMALL.max(3 * m.num_inner_nodes()));
            }
        });
    }

    pub(super) fn not(&self, a: &Predicate) -> Predicate {
        self.attempt(|| a.0.not())
    }

    pub(super) fn and(&self, a: &Predicate, b: &Predicate) -> Predicate {
        self.attempt(|| a.0.and(&b.0))
    }

    pub(super) fn or(&self, a: &Predicate, b: &Predicate) -> Predicate {
        self.attempt(|| a.0.or(&b.0))
    }

    pub(super) fn xor(&self, a: &Predicate, b: &Predicate) -> Predicate {
        self.attempt(|| a.0.xor(&b.0))
    }

    pub(super) fn equiv(&self, a: &Predicate, b: &Predicate) -> Predicate {
        self.attempt(|| a.0.equiv(&b.0))
    }

    /// `a ∧ ¬b`.
    pub(super) fn minus(&self, a: &Predicate, b: &Predicate) -> Predicate {
        self.attempt(|| b.0.imp_strict(&a.0))
    }

    pub(super) fn ite(&self, condition: &Predicate, a: &Predicate, b: &Predicate) -> Predicate {
        self.attempt(|| condition.0.ite(&a.0, &b.0))
    }

    /// `∃ cube: a`.
    pub(super) fn exists(&self, a: &Predicate, cube: &Predicate) -> Predicate {
        self.attempt(|| a.0.exists(&cube.0))
    }

    /// `∃ cube: a ∧ b`, the relational product.
    pub(super) fn and_exists(&self, a: &Predicate, b: &Predicate, cube: &Predicate) -> Predicate {
        self.attempt(|| a.0.apply_exists(BooleanOperator::And, &b.0, &cube.0))
    }

    /// The conjunction of variables: what quantifiers take.
    pub(super) fn cube(&self, variables: impl IntoIterator<Item = u32>) -> Predicate {
        let mut variables: Vec<u32> = variables.into_iter().collect();
        variables.sort_unstable();
        // From the bottom of the order upwards each step adds one node.
        let add = |cube: Predicate, variable: &u32| self.and(&self.variable(*variable), &cube);
        variables.iter().rev().fold(self.top.clone(), add)
    }

    /// The simultaneous renaming of each first variable to the second, for use with many
    /// predicates.
    pub(super) fn renaming(&self, pairs: &[(u32, u32)]) -> Renaming {
        // Levels that are not mentioned cost a table look-up at each use: mention all, as long as
        // there is room.
        let last = pairs.iter().map(|(from, _)| *from).max().map_or(0, |last| last + 1);
        self.mentioned.set(self.mentioned.get() + last as usize);
        if self.mentioned.get() > MENTIONED {
            return self.brief_renaming(pairs);
        }
        let mut target: Vec<u32> = (0..last).collect();
        for (from, to) in pairs {
            target[*from as usize] = *to;
        }
        let all: Vec<(u32, u32)> = (0..last).zip(target).collect();
        self.brief_renaming(&all)
    }

    /// The same, for use with a few predicates.
    pub(super) fn brief_renaming(&self, pairs: &[(u32, u32)]) -> Renaming {
        let images = pairs.iter().map(|(_, to)| self.variable(*to).0).collect();
        let substitution = Subst::new(pairs.iter().map(|(from, _)| *from).collect(), images);
        Renaming { substitution, is_identity: pairs.is_empty() }
    }

    pub(super) fn rename(&self, a: &Predicate, renaming: &Renaming) -> Predicate {
        if renaming.is_identity {
            return a.clone();
        }
        self.attempt(|| a.0.substitute(&renaming.substitution))
    }
}

/// How many levels all renamings together may mention without need (16 bytes each).
const MENTIONED: usize = 1 << 21;

/// A renaming of variables. The library's cache knows it by a number of its own, so it is made once
/// and kept.
pub(super) struct Renaming {
    substitution: Subst<BDDFunction>,
    is_identity: bool,
}
