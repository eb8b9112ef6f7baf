//! Error projection: which nodes lie on a failing run, with the weights of the runs through them.
//!
//! \[Lal09\] chapter 5 and \[AEP\]. The post\* automaton of the start and the pre\* automaton of
//! the target are intersected to a *functional automaton*: reading a stack from the top, its
//! transitions are functions `λz. w₁ ⊗ z ⊗ w₂` that wrap the weight of the frames read so far into
//! the weight of one more frame. For calls with merge functions that return, the function is `λz.
//! merge(w₁, z) ⊗ w₂` (§5.2.1).
//!
//! **Divergence.** \[Lal09\] §5.2.1 restricts the start to one configuration of one symbol. Here
//! the transitions of post\* carry the rules of their calls, so that a start of any shape works:
//! frames of the start have no call to merge with.

use std::collections::BinaryHeap;

use rustc_hash::FxHashMap;

use crate::automaton::Automaton;
use crate::graph::{Components, components};
use crate::names::{RuleId, State, Symbol};
use crate::pre_star::called_weight;
use crate::semiring::{Adjoint, AdjointMerge, Merge, Plain, Relational, Remembering, Semiring};
use crate::store::{EPSILON, TransId};
use crate::system::{Rhs, System};

/// A node of the product and what leads on from it.
#[derive(Clone, Copy, Debug)]
pub(crate) struct FunctionalEdge {
    pub to: u32,
    /// The transition of post\* (`w₁`) and of pre\* (`w₂`).
    pub before: TransId,
    pub after: TransId,
    /// Whether the functional applies the merge function of the call below which the transition
    /// lies.
    pub merges: bool,
}

/// The intersection of a post\* and a pre\* automaton: `WC(S, C, T)` for every `C`.
///
/// ```
/// use wherefore_pushdown::*;
/// // Two calls of f; only the second one can be followed by `bad`.
/// let mut system: System<bool> = System::new();
/// let p = system.state("p");
/// let s: Vec<Symbol> = ["main", "first", "f", "second", "bad"].map(|s| system.symbol(s)).into();
/// system.add(p, s[0], p, Rhs::Push(s[2], s[1]), true);
/// system.add(p, s[0], p, Rhs::Push(s[2], s[3]), true);
/// system.add(p, s[2], p, Rhs::Pop, true);
/// system.add(p, s[3], p, Rhs::Swap(s[4]), true);
/// let config = |symbol| Configuration { state: p, stack: vec![symbol] };
/// let start = Automaton::of_configuration(&system, &config(s[0]), Reading::Backward, &true);
/// let target = Automaton::of_configuration(&system, &config(s[4]), Reading::Forward, &true);
/// let post = post_star(&Reachability, &system, &start, &Options::default()).automaton;
/// let pre = pre_star(&Reachability, &system, &target, &Options::default()).automaton;
/// let functional = FunctionalAutomaton::new(&Reachability, &system, &post, &pre);
/// let on: Vec<bool> = s.iter().map(|symbol| functional.chop(p, *symbol)).collect();
/// assert_eq!(on, [true, false, true, true, true]);
/// ```
pub struct FunctionalAutomaton<'a, S: Semiring, M = Plain> {
    pub(crate) domain: &'a S,
    pub(crate) system: &'a System<S::Weight, M>,
    pub(crate) post: &'a Automaton<S::Weight>,
    pub(crate) pre: &'a Automaton<S::Weight>,
    /// `edges[first[n]..first[n + 1]]` leave node `n`; the nodes below `initial` are pairs of equal
    /// control states.
    first: Vec<u32>,
    edges: Vec<FunctionalEdge>,
    initial: Vec<State>,
    /// The edges from control states by the symbol they read: (control state, symbol, first edge,
    /// end).
    tops: Vec<(State, Symbol, u32, u32)>,
    finals: Vec<bool>,
    /// For each node its place in an order in which edges lead forwards, except inside a component.
    place: Vec<u32>,
    parts: Components,
}

impl<'a, S: Semiring, M: Merge<S>> FunctionalAutomaton<'a, S, M> {
    /// Intersects the results of [`post_star`](crate::post_star()) and
    /// [`pre_star`](crate::pre_star()) on `system`.
    pub fn new(
        domain: &'a S,
        system: &'a System<S::Weight, M>,
        post: &'a Automaton<S::Weight>,
        pre: &'a Automaton<S::Weight>,
    ) -> Self {
        let initial: Vec<State> = (0..post.control_count() as u32).map(State).collect();
        let mut nodes: Vec<(State, State)> = initial.iter().map(|p| (*p, *p)).collect();
        let mut index: FxHashMap<(State, State), u32> = FxHashMap::default();
        let (mut first, mut edges) = (vec![0u32], Vec::new());
        let mut tops = Vec::new();
        let mut node = 0;
        while node < nodes.len() {
            let (q, r) = nodes[node];
            for head in post.store.heads_of(q) {
                let start = edges.len() as u32;
                let symbol = Symbol(post.store.heads[head as usize].symbol);
                if symbol == EPSILON || post.store.heads[head as usize].len == 0 {
                    continue;
                }
                let merges =
                    post.store.heads[head as usize].call != crate::store::NONE && pre.is_returning(r);
                for after in pre.store.on(r, symbol) {
                    for before in post.store.of_head(head) {
                        let pair = (
                            State(post.store.trans[before as usize].to),
                            State(pre.store.trans[after as usize].to),
                        );
                        let to = *index.entry(pair).or_insert_with(|| {
                            nodes.push(pair);
                            nodes.len() as u32 - 1
                        });
                        edges.push(FunctionalEdge { to, before, after, merges });
                    }
                }
                if node < initial.len() && edges.len() as u32 > start {
                    tops.push((q, symbol, start, edges.len() as u32));
                }
            }
            first.push(edges.len() as u32);
            node += 1;
        }
        tops.sort_unstable();
        let finals: Vec<bool> = nodes.iter().map(|(q, r)| post.is_final(*q) && pre.is_final(*r)).collect();
        let out = |n: usize| first[n] as usize..first[n + 1] as usize;
        let parts = components(nodes.len(), |n| edges[out(n)].iter().map(|e| e.to as usize));
        // Components come sinks first.
        let mut place = vec![0; nodes.len()];
        for (i, n) in parts.order.iter().rev().enumerate() {
            place[*n as usize] = i as u32;
        }
        Self { domain, system, post, pre, first, edges, initial, tops, finals, place, parts }
    }

    pub(crate) fn edges(&self, node: usize) -> &[FunctionalEdge] {
        &self.edges[self.first[node] as usize..self.first[node + 1] as usize]
    }

    pub(crate) fn is_final(&self, node: u32) -> bool {
        self.finals[node as usize]
    }

    /// The edges that read `symbol` on top of a stack in control state `state`.
    pub(crate) fn top_edges(&self, state: State, symbol: Symbol) -> &[FunctionalEdge] {
        match self.tops.binary_search_by_key(&(state, symbol), |top| (top.0, top.1)) {
            Ok(at) => &self.edges[self.tops[at].2 as usize..self.tops[at].3 as usize],
            Err(_) => &[],
        }
    }

    /// `F(z)` for one edge, given the two weights.
    pub(crate) fn wrap(
        &self,
        edge: &FunctionalEdge,
        before: &S::Weight,
        z: &S::Weight,
        after: &S::Weight,
    ) -> S::Weight {
        let inner = match self.merge_of(edge) {
            Some(merge) => merge.merge(self.domain, before, z),
            None => self.domain.extend(before, z),
        };
        self.domain.extend(&inner, after)
    }

    fn merge_of(&self, edge: &FunctionalEdge) -> Option<&M> {
        let call = self.post.store.call(edge.before).filter(|_| edge.merges)?;
        self.system.merge(call)
    }

    /// The weights `w₁` and `w₂` of one edge.
    pub(crate) fn weights(&self, edge: &FunctionalEdge) -> (&S::Weight, &S::Weight) {
        let before = match self.post.callers.get(&edge.before) {
            Some(caller) if edge.merges => caller,
            _ => &self.post.store.weights[edge.before as usize],
        };
        (before, &self.pre.store.weights[edge.after as usize])
    }

    /// `WC(S, ⟨state, top …⟩, T)`: the combined weight of all runs from start to target through
    /// that node.
    pub fn chop(&self, state: State, top: Symbol) -> S::Weight {
        self.bottleneck(&self.domain.one(), state, top)
    }

    /// `BW(w, node)`: the same with `w` put in at the node (\[Lal09\] §5.5).
    ///
    /// ```
    /// use wherefore_domains::{Relation, RelationDomain};
    /// use wherefore_pushdown::*;
    /// // Nothing happens in this thread, but it fails in store 1; it starts in store 0.
    /// let d = RelationDomain::new(2);
    /// let mut system: System<Relation> = System::new();
    /// let p = system.state("p");
    /// let (a, b, bad) = (system.symbol("a"), system.symbol("b"), system.symbol("bad"));
    /// system.add(p, a, p, Rhs::Swap(b), d.partial_identity([0]));
    /// system.add(p, b, p, Rhs::Swap(bad), d.partial_identity([1]));
    /// let at = |symbol| Configuration { state: p, stack: vec![symbol] };
    /// let seed = |symbol, reading| Automaton::of_configuration(&system, &at(symbol), reading, &d.one());
    /// let post = post_star(&d, &system, &seed(a, Reading::Backward), &Options::default()).automaton;
    /// let pre = pre_star(&d, &system, &seed(bad, Reading::Forward), &Options::default()).automaton;
    /// let functional = FunctionalAutomaton::new(&d, &system, &post, &pre);
    /// // Another thread that sets the store to 1 while this one stands at b makes it fail.
    /// let other = Relation::from_fn(2, |_| [1]);
    /// assert!(d.is_zero(&functional.chop(p, b)) && !d.is_zero(&functional.bottleneck(&other, p, b)));
    /// ```
    ///
    /// With `w = {(v, v)}` it says whether store `v` can occur there on a failing run (\[AEP\]
    /// §5.2); with the summary of another thread it accounts for two context switches.
    pub fn bottleneck(&self, w: &S::Weight, state: State, top: Symbol) -> S::Weight {
        let zero = || self.domain.zero();
        self.flow(
            state,
            top,
            w.clone(),
            zero,
            |z, edge| {
                let (before, after) = self.weights(edge);
                self.wrap(edge, before, z, after)
            },
            |into, z| self.domain.join(into, z),
        )
    }

    /// Join over all paths from a node to the final states, in any join semilattice.
    fn flow<V: Clone>(
        &self,
        state: State,
        top: Symbol,
        seed: V,
        zero: impl Fn() -> V,
        step: impl Fn(&V, &FunctionalEdge) -> V,
        join: impl Fn(&mut V, &V) -> bool,
    ) -> V {
        let mut values: FxHashMap<u32, V> = FxHashMap::default();
        // Nodes are taken in topological order; the place is turned round because the heap hands
        // out the largest.
        let mut open: BinaryHeap<(u32, u32)> = BinaryHeap::new();
        let mut waiting = vec![];
        let arrive = |values: &mut FxHashMap<u32, V>, open: &mut BinaryHeap<_>, to: u32, value: V| {
            let grew = join(values.entry(to).or_insert_with(&zero), &value);
            if grew {
                open.push((u32::MAX - self.place[to as usize], to));
            }
        };
        for edge in self.top_edges(state, top) {
            arrive(&mut values, &mut open, edge.to, step(&seed, edge));
        }
        while let Some((_, node)) = open.pop() {
            while open.peek().is_some_and(|next| next.1 == node) {
                open.pop();
            }
            if self.domain.exhausted() {
                break;
            }
            let value = values[&node].clone();
            waiting.clear();
            waiting.extend(self.edges(node as usize).iter().map(|edge| (edge.to, step(&value, edge))));
            for (to, value) in waiting.drain(..) {
                arrive(&mut values, &mut open, to, value);
            }
        }
        let mut sum = zero();
        for (node, value) in &values {
            if self.finals[*node as usize] {
                join(&mut sum, value);
            }
        }
        sum
    }

    /// All nodes (control state, topmost symbol) that the product knows, in order.
    pub fn nodes(&self) -> Vec<(State, Symbol)> {
        self.tops.iter().map(|top| (top.0, top.1)).collect()
    }

    /// The error projection, one chop for each node.
    pub fn projection(&self) -> Vec<(State, Symbol)> {
        let inside = |node: &(State, Symbol)| !self.domain.is_zero(&self.chop(node.0, node.1));
        self.nodes().into_iter().filter(inside).collect()
    }
}

impl<S: Relational> FunctionalAutomaton<'_, S, Plain> {
    /// Stores that may occur at a node on a failing run: an over-approximation by triples of
    /// weights (\[AEP\] §5.2).
    ///
    /// For plain systems only: where locals are merged, the weight of the rest of a run does not
    /// know the caller's.
    pub fn stores_over(&self, state: State, top: Symbol) -> S::Weight {
        let d = self.domain;
        let zero = || (d.zero(), d.zero(), d.zero());
        let (before, after, _) = self.flow(
            state,
            top,
            (d.one(), d.one(), d.one()),
            zero,
            |(w3, w4, w5), edge| {
                let (w1, w2) = self.weights(edge);
                let through = self.wrap(edge, w1, w5, w2);
                if d.is_zero(&through) {
                    return zero();
                }
                (d.extend(w1, w3), d.extend(w4, w2), through)
            },
            |into, z| {
                let grew = [d.join(&mut into.0, &z.0), d.join(&mut into.1, &z.1), d.join(&mut into.2, &z.2)];
                grew.contains(&true)
            },
        );
        d.extend(&d.range_of(&before), &d.domain_of(&after))
    }
}

impl<S: Remembering, M: Merge<S>> FunctionalAutomaton<'_, S, M> {
    /// The stores that occur at a node on failing runs, exactly (\[Lal09\] §5.3.2.2), as a partial
    /// identity.
    pub fn stores(&self, state: State, top: Symbol) -> S::Weight {
        let d = self.domain;
        let nothing = d.map_memory(&d.remember(), &mut |_| d.zero());
        let memory = self.flow(
            state,
            top,
            d.remember(),
            || nothing.clone(),
            |z, edge| {
                let (before, after) = self.weights(edge);
                d.map_memory(z, &mut |z| self.wrap(edge, before, z, after))
            },
            |into, z| d.join_memory(into, z),
        );
        d.remembered(&memory)
    }
}

/// The error projection of all nodes from one backward pass of adjoints.
///
/// A functional weight is linear, so "which `z` can be completed to a failing run?" flows backwards
/// through the functional automaton: see [`Adjoint`]. One pass replaces one chop a node.
///
/// ```
/// use wherefore_pushdown::*;
/// let mut system: System<bool> = System::new();
/// let (p, a, b, c) = (system.state("p"), system.symbol("a"), system.symbol("b"), system.symbol("c"));
/// system.add(p, a, p, Rhs::Swap(b), true);
/// system.add(p, a, p, Rhs::Swap(c), true);
/// let config = |symbol| Configuration { state: p, stack: vec![symbol] };
/// let start = Automaton::of_configuration(&system, &config(a), Reading::Backward, &true);
/// let target = Automaton::of_configuration(&system, &config(c), Reading::Forward, &true);
/// let post = post_star(&Reachability, &system, &start, &Options::default()).automaton;
/// let pre = pre_star(&Reachability, &system, &target, &Options::default()).automaton;
/// let functional = FunctionalAutomaton::new(&Reachability, &system, &post, &pre);
/// let projection = AdjointProjection::new(&functional);
/// assert_eq!(projection.nodes(), [(p, a), (p, c)]);
/// ```
pub struct AdjointProjection<'a, S: Adjoint, M = Plain> {
    functional: &'a FunctionalAutomaton<'a, S, M>,
    /// For each node of the product, the weights that can be completed from there.
    contexts: Vec<S::Context>,
}

impl<'a, S: Adjoint, M: AdjointMerge<S>> AdjointProjection<'a, S, M> {
    /// Runs the pass.
    pub fn new(functional: &'a FunctionalAutomaton<'a, S, M>) -> Self {
        let d = functional.domain;
        let nodes = functional.finals.iter();
        let mut contexts: Vec<S::Context> =
            nodes.map(|f| if *f { d.any_context() } else { d.no_context() }).collect();
        let Components { order, first, of } = &functional.parts;
        for c in 0..first.len() - 1 {
            let members = &order[first[c] as usize..first[c + 1] as usize];
            let mut again = true;
            while again && !d.exhausted() {
                again = false;
                for node in members {
                    let node = *node as usize;
                    if node < functional.initial.len() {
                        // Nothing leads back to a control state, and their tops are asked for one
                        // by one.
                        continue;
                    }
                    let mut context = contexts[node].clone();
                    let mut grew = false;
                    let mut cyclic = false;
                    for edge in functional.edges(node) {
                        cyclic |= of[edge.to as usize] == c as u32;
                        let below = &contexts[edge.to as usize];
                        if !d.is_no_context(below) {
                            let (before, after) = functional.weights(edge);
                            let pulled = match functional.merge_of(edge) {
                                Some(merge) => merge.pull(d, before, below, after),
                                None => d.pull(before, below, after),
                            };
                            grew |= d.join_context(&mut context, &pulled);
                        }
                    }
                    if grew {
                        contexts[node] = context;
                        again |= cyclic;
                    }
                }
            }
        }
        Self { functional, contexts }
    }

    /// Whether some failing run passes a node.
    pub fn contains(&self, state: State, top: Symbol) -> bool {
        self.functional.top_edges(state, top).iter().any(|edge| self.completes(edge))
    }

    fn completes(&self, edge: &FunctionalEdge) -> bool {
        let d = self.functional.domain;
        let context = &self.contexts[edge.to as usize];
        if d.is_no_context(context) {
            return false;
        }
        let (before, after) = self.functional.weights(edge);
        d.completes(&d.extend(before, after), context)
    }

    /// Whether some failing run uses a rule.
    ///
    /// A node has one topmost weight for all ways on; here the way on is this rule.
    pub fn contains_rule(&self, id: RuleId) -> bool {
        let FunctionalAutomaton { domain: d, system, post, pre, .. } = *self.functional;
        let rule = system.rule(id);
        let to_of = |id: TransId| State(pre.store.trans[id as usize].to);
        let weight_of = |id: TransId| &pre.store.weights[id as usize];
        self.functional.top_edges(rule.from, rule.symbol).iter().any(|edge| {
            let context = &self.contexts[edge.to as usize];
            if d.is_no_context(context) {
                return false;
            }
            let end = to_of(edge.after);
            let (before, _) = self.functional.weights(edge);
            debug_assert!(post.store.call(edge.before).is_none());
            let completes = |after: &S::Weight| d.completes(&d.extend(before, after), context);
            match rule.rhs {
                Rhs::Pop => end == rule.to && completes(system.weight(id)),
                Rhs::Swap(next) => (pre.store.on(rule.to, next))
                    .any(|t| to_of(t) == end && completes(&d.extend(system.weight(id), weight_of(t)))),
                Rhs::Push(entry, back) => pre.store.on(rule.to, entry).any(|callee| {
                    let middle = to_of(callee);
                    let returned = pre.is_returning(middle);
                    let called = called_weight(system, d, id, returned, weight_of(callee));
                    (pre.store.on(middle, back))
                        .any(|t| to_of(t) == end && completes(&d.extend(&called, weight_of(t))))
                }),
            }
        })
    }

    /// The error projection: all nodes that some failing run passes, in order.
    pub fn nodes(&self) -> Vec<(State, Symbol)> {
        let inside = |node: &(State, Symbol)| self.contains(node.0, node.1);
        self.functional.nodes().into_iter().filter(inside).collect()
    }
}

impl<S: Relational, M: AdjointMerge<S>> AdjointProjection<'_, S, M> {
    /// The stores that occur at a node on failing runs, exactly, as a partial identity.
    pub fn stores(&self, state: State, top: Symbol) -> S::Weight {
        let d = self.functional.domain;
        let mut stores = d.zero();
        for edge in self.functional.top_edges(state, top) {
            let (before, after) = self.functional.weights(edge);
            let context = &self.contexts[edge.to as usize];
            d.join(&mut stores, &d.middle(before, after, context));
        }
        stores
    }
}
