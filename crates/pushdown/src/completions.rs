//! Error projection from one saturation: which weights of a post\* automaton can be completed to
//! failing runs.
//!
//! post\* computes the weight of each transition from the weights of others by functions that
//! distribute over ⊕ in each argument. The weight of the target, too, is such a function: the sum,
//! over all accepting paths, of products. So "which weights would make the target's weight other
//! than zero?" is answered by sending contexts ([`Adjoint`]) backwards through the same instances
//! of saturation rules: reverse accumulation, as in the differentiation of programs. A node lies on
//! a failing run if the weight of one of its transitions meets the context of that transition.
//!
//! \[Lal09\] chapter 5 needs pre\* of the target as well, and intersects the two automata. Here
//! each instance of a rule of post\* is used once more, in the other direction, and contexts are
//! about pairs that post\* knows: from the entry of the topmost procedure to the present. Both ways
//! stay in the tree, and tests compare them.
//!
//! **Requires:** a complete post\* automaton; merge functions with path extension.
//! **Cost:** about that of post\*.

use std::collections::BinaryHeap;

use rustc_hash::FxHashMap;

use crate::automaton::{Automaton, Transition};
use crate::graph::reverse_postorder;
use crate::names::{RuleId, State, Symbol};
use crate::semiring::{Adjoint, AdjointMerge, Plain, Relational};
use crate::store::{EPSILON, TransId};
use crate::summary::Product;
use crate::system::{Rhs, System};

/// How the weight of a transition takes part in that of another one.
#[derive(Clone, Copy)]
enum Part {
    /// It is extended by the weight of a rule.
    Rule(RuleId),
    /// A call with a merge function keeps it as it is.
    Called,
    /// A callee has returned: the weight of its ε-transition is merged in, or extends it.
    Returned(TransId),
}

/// Whether contexts go into callees that have returned.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Callees {
    Entered,
    SteppedOver,
}

/// For each transition of a post\* automaton, the weights that can be completed to a failing run.
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
/// let target = Automaton::of_configuration(&system, &config(s[4]), Reading::Forward, &());
/// let post = post_star(&Reachability, &system, &start, &Options::default()).automaton;
/// let completions = Completions::new(&Reachability, &system, &post, &target);
/// let on: Vec<bool> = s.iter().map(|symbol| completions.contains(p, *symbol)).collect();
/// assert_eq!(on, [true, false, true, true, true]);
/// ```
pub struct Completions<'a, S: Adjoint, M = Plain> {
    domain: &'a S,
    system: &'a System<S::Weight, M>,
    post: &'a Automaton<S::Weight>,
    /// For each transition; for one of a call with a merge function, it is about the caller's
    /// weight.
    contexts: Vec<S::Context>,
    /// The states below calls, by control state and entry.
    below: FxHashMap<(State, Symbol), State>,
}

impl<'a, S: Adjoint, M: AdjointMerge<S>> Completions<'a, S, M> {
    /// Runs the pass from the configurations that `query` accepts.
    pub fn new(
        domain: &'a S,
        system: &'a System<S::Weight, M>,
        post: &'a Automaton<S::Weight>,
        query: &Automaton<()>,
    ) -> Self {
        Self::with(domain, system, post, query, Callees::Entered)
    }

    /// The same for failing runs on which the procedure at hand has not returned when they fail: a
    /// call that returned is stepped over, and what happened in it is not asked for.
    pub fn before_return(
        domain: &'a S,
        system: &'a System<S::Weight, M>,
        post: &'a Automaton<S::Weight>,
        query: &Automaton<()>,
    ) -> Self {
        Self::with(domain, system, post, query, Callees::SteppedOver)
    }

    fn with(
        domain: &'a S,
        system: &'a System<S::Weight, M>,
        post: &'a Automaton<S::Weight>,
        query: &Automaton<()>,
        callees: Callees,
    ) -> Self {
        let states = (0..post.state_count() as u32).map(State);
        let below = states.filter_map(|q| Some((post.entry_of(q)?, q))).collect();
        let contexts = vec![domain.no_context(); post.store.trans.len()];
        let mut completions = Self { domain, system, post, contexts, below };
        completions.accept(query);
        completions.flow(callees);
        completions
    }

    /// What accepting paths ask of their transitions.
    fn accept(&mut self, query: &Automaton<()>) {
        let (d, post) = (self.domain, self.post);
        let product = Product::of(post, query);
        let below = product.below(d, post);
        let above = product.above(d, post);
        for (node, above) in above.iter().enumerate().filter(|(_, above)| !d.is_zero(above)) {
            for (to, id) in product.edges(node) {
                let below = &below[*to as usize];
                if d.is_zero(below) {
                    continue;
                }
                let context = match post.store.call(*id) {
                    Some(call) => {
                        let after = d.extend(self.system.weight(call), above);
                        d.pull(below, &d.any_context(), &after)
                    }
                    None => d.pull(below, &d.any_context(), above),
                };
                d.join_context(&mut self.contexts[*id as usize], &context);
            }
        }
        for p in (0..post.control_count() as u32).map(State).filter(|p| query.is_final(*p)) {
            for id in post.store.on(p, EPSILON) {
                if post.is_final(post.store.ends(id).2) {
                    d.join_context(&mut self.contexts[id as usize], &d.any_context());
                }
            }
        }
    }

    /// Sends contexts backwards until they do not grow any more, those that come last in the
    /// program first.
    fn flow(&mut self, callees: Callees) {
        let (d, post) = (self.domain, self.post);
        let parts = self.parts();
        let count = post.store.trans.len();
        let mut first = vec![0u32; count + 1];
        for (target, ..) in &parts {
            first[*target as usize + 1] += 1;
        }
        for t in 0..count {
            first[t + 1] += first[t];
        }
        let of =
            |target: TransId| &parts[first[target as usize] as usize..first[target as usize + 1] as usize];
        // In the order of the arrows reversed, a transition comes after all that it takes part in,
        // except along loops.
        let place = reverse_postorder(count, |target, into| {
            for (_, source, part) in of(target as TransId) {
                into.push(*source);
                if let Part::Returned(callee) = part {
                    into.push(*callee);
                }
            }
        });
        let key = |id: TransId| (u32::MAX - place[id as usize], id);
        let mut open: BinaryHeap<(u32, TransId)> = BinaryHeap::new();
        open.extend(
            (0..count as TransId).filter(|id| !d.is_no_context(&self.contexts[*id as usize])).map(key),
        );
        let one = d.one();
        while let Some((_, target)) = open.pop() {
            if open.peek().is_some_and(|next| next.1 == target) {
                continue;
            }
            if d.exhausted() {
                break;
            }
            let context = self.contexts[target as usize].clone();
            for (_, source, part) in of(target) {
                let mut arrive = |at: TransId, context: &S::Context| {
                    if d.join_context(&mut self.contexts[at as usize], context) {
                        open.push(key(at));
                    }
                };
                match part {
                    Part::Rule(rule) => arrive(*source, &d.pull(&one, &context, self.system.weight(*rule))),
                    Part::Called => arrive(*source, &context),
                    Part::Returned(callee) => {
                        let returned = &post.store.weights[*callee as usize];
                        let merge = post.store.call(*source).and_then(|call| self.system.merge(call));
                        match (merge, post.callers.get(source)) {
                            (Some(merge), Some(caller)) => {
                                // By path extension, merging is extending by what the call does.
                                let effect = merge.merge(d, &one, returned);
                                arrive(*source, &d.pull(&one, &context, &effect));
                                if callees == Callees::Entered {
                                    arrive(*callee, &merge.pull(d, caller, &context, &one));
                                }
                            }
                            _ => {
                                let caller = &post.store.weights[*source as usize];
                                arrive(*source, &d.pull(&one, &context, returned));
                                if callees == Callees::Entered {
                                    arrive(*callee, &d.pull(caller, &context, &one));
                                }
                            }
                        }
                    }
                }
            }
        }
    }

    /// All instances of saturation rules, by target: (target, source, part).
    fn parts(&self) -> Vec<(TransId, TransId, Part)> {
        let store = &self.post.store;
        let mut rules: FxHashMap<(State, Symbol), Vec<RuleId>> = FxHashMap::default();
        for (id, rule) in self.system.rules() {
            rules.entry((rule.from, rule.symbol)).or_default().push(id);
        }
        let mut returns: FxHashMap<State, Vec<TransId>> = FxHashMap::default();
        let all = 0..store.trans.len() as TransId;
        for id in all.clone().filter(|id| store.ends(*id).1 == EPSILON) {
            returns.entry(store.ends(id).2).or_default().push(id);
        }
        let mut parts = Vec::new();
        for id in all {
            let (from, symbol, to) = store.ends(id);
            if symbol == EPSILON {
                continue;
            }
            if from.index() >= self.post.control_count() {
                for callee in returns.get(&from).into_iter().flatten() {
                    let target = find(self.post, store.ends(*callee).0, symbol, to);
                    parts.extend(target.map(|target| (target, id, Part::Returned(*callee))));
                }
                continue;
            }
            for rule in rules.get(&(from, symbol)).into_iter().flatten() {
                let part = match self.system.merge(*rule) {
                    Some(_) => Part::Called,
                    None => Part::Rule(*rule),
                };
                parts.extend(self.target(*rule, to).map(|target| (target, id, part)));
            }
        }
        parts.sort_unstable_by_key(|(target, ..)| *target);
        parts
    }

    /// The transition that a rule adds to, given where the one that it applies to leads.
    fn target(&self, rule: RuleId, to: State) -> Option<TransId> {
        let store = &self.post.store;
        let right = self.system.rule(rule);
        match right.rhs {
            Rhs::Swap(a) => find(self.post, right.to, a, to),
            Rhs::Pop => find(self.post, right.to, EPSILON, to),
            Rhs::Push(a, b) => {
                let below = *self.below.get(&(right.to, a))?;
                let call = self.system.merge(rule).map(|_| rule);
                let mut heads = store.variants(below, b);
                let tag = |head: u32| {
                    (store.heads[head as usize].call != crate::store::NONE)
                        .then(|| RuleId(store.heads[head as usize].call))
                };
                store.find(heads.find(|head| tag(*head) == call)?, to)
            }
        }
    }

    /// Whether some failing run passes a node.
    pub fn contains(&self, state: State, top: Symbol) -> bool {
        let weights = &self.post.store.weights;
        let meets = |id: TransId| self.completes(id, &weights[id as usize]);
        self.post.store.on(state, top).any(meets)
    }

    fn completes(&self, id: TransId, weight: &S::Weight) -> bool {
        let context = &self.contexts[id as usize];
        !self.domain.is_no_context(context) && self.domain.completes(weight, context)
    }

    /// Whether some failing run uses a rule.
    pub fn contains_rule(&self, id: RuleId) -> bool {
        let rule = self.system.rule(id);
        let store = &self.post.store;
        store.on(rule.from, rule.symbol).any(|t| {
            let Some(target) = self.target(id, store.ends(t).2) else { return false };
            let weight = &store.weights[t as usize];
            match self.system.merge(id) {
                Some(_) => self.completes(target, weight),
                None => self.completes(target, &self.domain.extend(weight, self.system.weight(id))),
            }
        })
    }

    /// The error projection: all nodes that some failing run passes, in order.
    pub fn nodes(&self) -> Vec<(State, Symbol)> {
        let store = &self.post.store;
        let controls = (0..self.post.control_count() as u32).map(State);
        let all = controls
            .flat_map(|p| store.heads_of(p).map(move |head| (p, Symbol(store.heads[head as usize].symbol))));
        let mut nodes: Vec<_> = all.filter(|(p, top)| *top != EPSILON && self.contains(*p, *top)).collect();
        nodes.sort_unstable();
        nodes.dedup();
        nodes
    }
}

impl<S: Relational, M: AdjointMerge<S>> Completions<'_, S, M> {
    /// The transitions that leave control states, each with the part of its weight that occurs on
    /// failing runs: pairs of a store at the entry of the topmost procedure and one now.
    pub fn weights(&self) -> impl Iterator<Item = (Transition, S::Weight)> + '_ {
        let store = &self.post.store;
        let all = 0..store.trans.len() as TransId;
        all.filter(|id| store.ends(*id).0.index() < self.post.control_count()).map(|id| {
            let accepted = self.domain.accepted(&store.weights[id as usize], &self.contexts[id as usize]);
            (self.post.transition(id), accepted)
        })
    }

    /// The stores that occur at a node on failing runs, exactly, as a partial identity.
    pub fn stores(&self, state: State, top: Symbol) -> S::Weight {
        let d = self.domain;
        let mut stores = d.zero();
        for id in self.post.store.on(state, top) {
            let weight = &self.post.store.weights[id as usize];
            d.join(&mut stores, &d.middle(weight, &d.one(), &self.contexts[id as usize]));
        }
        stores
    }
}

fn find<W: Clone>(automaton: &Automaton<W>, from: State, symbol: Symbol, to: State) -> Option<TransId> {
    automaton.store.find(automaton.store.find_head(from, symbol)?, to)
}
