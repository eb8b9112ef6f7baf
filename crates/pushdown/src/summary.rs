//! Reading weights off an automaton: of one configuration, of a regular set, of all stacks below a
//! state.
//!
//! \[Lal09\] §2.4.1, *path_summary*. The paper iterates over all states; here the states are solved
//! one strongly connected component after the other, final ones first, so that an automaton without
//! cycles is read in one pass.

use rustc_hash::FxHashMap;

use crate::automaton::{Automaton, Reading};
use crate::graph::{Components, components};
use crate::names::{State, Symbol};
use crate::semiring::Semiring;
use crate::store::{EPSILON, TransId};
use crate::system::Configuration;

impl<W: Clone + Eq> Automaton<W> {
    /// The weight with which a configuration is accepted.
    ///
    /// ```
    /// use wherefore_domains::{Cost, ShortestPath};
    /// use wherefore_pushdown::*;
    /// // f calls itself and returns: ⟨p, f rⁿ⟩ and ⟨p, rⁿ⟩ are reached.
    /// let mut system: System<Cost> = System::new();
    /// let (p, f, r) = (system.state("p"), system.symbol("f"), system.symbol("r"));
    /// system.add(p, f, p, Rhs::Push(f, r), Cost::finite(1));
    /// system.add(p, f, p, Rhs::Pop, Cost::finite(10));
    /// let start = Configuration { state: p, stack: vec![f] };
    /// let seed = Automaton::of_configuration(&system, &start, Reading::Backward, &Cost::ZERO);
    /// let reached = post_star(&ShortestPath, &system, &seed, &Options::default()).automaton;
    /// let two = Configuration { state: p, stack: vec![r, r] };
    /// assert_eq!(reached.weight(&ShortestPath, &two), Cost::finite(12));
    /// ```
    pub fn weight<S: Semiring<Weight = W>>(&self, domain: &S, configuration: &Configuration) -> W {
        let Configuration { state, stack } = configuration;
        if stack.is_empty() {
            return self.empty_stack_weight(domain, *state);
        }
        let mut now: FxHashMap<State, W> = FxHashMap::from_iter([(*state, domain.one())]);
        for symbol in stack {
            let mut next: FxHashMap<State, W> = FxHashMap::default();
            for (q, so_far) in &now {
                for id in self.store.on(*q, *symbol) {
                    let weight = self.along(domain, so_far, &self.store.weights[id as usize]);
                    let to = State(self.store.trans[id as usize].to);
                    match next.entry(to) {
                        std::collections::hash_map::Entry::Occupied(mut entry) => {
                            domain.join(entry.get_mut(), &weight);
                        }
                        std::collections::hash_map::Entry::Vacant(entry) => {
                            entry.insert(weight);
                        }
                    }
                }
            }
            now = next;
        }
        now.iter()
            .filter(|(q, _)| self.is_final(**q))
            .fold(domain.zero(), |sum, (_, weight)| domain.combine(&sum, weight))
    }

    /// The weight of a path that goes on by a transition of weight `next`.
    fn along<S: Semiring<Weight = W>>(&self, domain: &S, so_far: &W, next: &W) -> W {
        match self.reading {
            Reading::Forward => domain.extend(so_far, next),
            Reading::Backward => domain.extend(next, so_far),
        }
    }

    /// The weight of `⟨state, ε⟩`.
    fn empty_stack_weight<S: Semiring<Weight = W>>(&self, domain: &S, state: State) -> W {
        let here = if self.is_final(state) { domain.one() } else { domain.zero() };
        self.store
            .on(state, EPSILON)
            .filter(|id| self.is_final(State(self.store.trans[*id as usize].to)))
            .fold(here, |sum, id| domain.combine(&sum, &self.store.weights[id as usize]))
    }

    /// The combined weight of all configurations that `query` accepts too: `A(C)` of \[Lal09\] Def.
    /// 2.4.7.
    ///
    /// With the post\* automaton of S this is `IJOP(S, query)`; with the pre\* automaton of T it is
    /// `IJOP(query, T)`.
    ///
    /// ```
    /// use wherefore_domains::{Cost, ShortestPath};
    /// use wherefore_pushdown::*;
    /// // f calls itself and returns: ⟨p, f rⁿ⟩ and ⟨p, rⁿ⟩ are reached.
    /// let mut system: System<Cost> = System::new();
    /// let (p, f, r) = (system.state("p"), system.symbol("f"), system.symbol("r"));
    /// system.add(p, f, p, Rhs::Push(f, r), Cost::finite(1));
    /// system.add(p, f, p, Rhs::Pop, Cost::finite(10));
    /// let start = Configuration { state: p, stack: vec![f] };
    /// let seed = Automaton::of_configuration(&system, &start, Reading::Backward, &Cost::ZERO);
    /// let reached = post_star(&ShortestPath, &system, &seed, &Options::default()).automaton;
    /// let query = ConfigurationSet::parse("r r r .*", system.states(), system.symbols()).unwrap();
    /// let query = query.to_automaton(1, 2, Reading::Forward, &());
    /// assert_eq!(reached.summary(&ShortestPath, &query), Cost::finite(13));
    /// ```
    pub fn summary<S: Semiring<Weight = W>>(&self, domain: &S, query: &Automaton<()>) -> W {
        let product = Product::of(self, query);
        let values = solve(domain, self, &product);
        let mut sum = domain.zero();
        for value in &values[..product.initial] {
            domain.join(&mut sum, value);
        }
        for weight in product.empty_stacks(domain, self, query) {
            domain.join(&mut sum, &weight);
        }
        sum
    }

    /// Whether some configuration is accepted both here and by `query`, weights aside.
    pub fn meets<V: Clone>(&self, query: &Automaton<V>) -> bool {
        let product = Product::of(self, query);
        product.finals.iter().any(|node| *node)
            || (0..self.control as u32).map(State).any(|p| {
                query.is_final(p)
                    && self
                        .store
                        .on(p, EPSILON)
                        .any(|id| self.is_final(State(self.store.trans[id as usize].to)))
            })
    }

    /// For every state, the combined weight of all paths from it to a final state.
    ///
    /// One pass answers "which weights arrive at this node, whatever the stack?" for all nodes: see
    /// [`Contexts::of_top`].
    ///
    /// ```
    /// use wherefore_domains::{Cost, ShortestPath};
    /// use wherefore_pushdown::*;
    /// // f calls itself and returns: ⟨p, f rⁿ⟩ and ⟨p, rⁿ⟩ are reached.
    /// let mut system: System<Cost> = System::new();
    /// let (p, f, r) = (system.state("p"), system.symbol("f"), system.symbol("r"));
    /// system.add(p, f, p, Rhs::Push(f, r), Cost::finite(1));
    /// system.add(p, f, p, Rhs::Pop, Cost::finite(10));
    /// let start = Configuration { state: p, stack: vec![f] };
    /// let seed = Automaton::of_configuration(&system, &start, Reading::Backward, &Cost::ZERO);
    /// let reached = post_star(&ShortestPath, &system, &seed, &Options::default()).automaton;
    /// let contexts = reached.contexts(&ShortestPath);
    /// assert_eq!(contexts.of_top(&ShortestPath, &reached, p, r), Cost::finite(11));
    /// ```
    pub fn contexts<S: Semiring<Weight = W>>(&self, domain: &S) -> Contexts<W> {
        let product = Product::whole(self);
        Contexts { weights: solve(domain, self, &product) }
    }
}

/// The weights of everything below, for every state of an automaton: see [`Automaton::contexts`].
#[derive(Clone, Debug)]
pub struct Contexts<W> {
    weights: Vec<W>,
}

impl<W: Clone + Eq> Contexts<W> {
    /// The combined weight of all paths from `state` to a final state.
    pub fn below(&self, state: State) -> &W {
        &self.weights[state.index()]
    }

    /// The combined weight of all configurations `⟨state, top …⟩` that `automaton` accepts.
    pub fn of_top<S: Semiring<Weight = W>>(
        &self,
        domain: &S,
        automaton: &Automaton<W>,
        state: State,
        top: Symbol,
    ) -> W {
        let mut sum = domain.zero();
        for (t, weight) in automaton.transitions_on(state, top) {
            let below = self.below(t.to);
            let whole = match automaton.reading() {
                Reading::Forward => domain.extend(weight, below),
                Reading::Backward => domain.extend(below, weight),
            };
            domain.join(&mut sum, &whole);
        }
        sum
    }
}

/// The part of the product of an automaton and a query that a configuration can reach.
pub(crate) struct Product {
    /// The first nodes are the control states that both have.
    pub initial: usize,
    /// The two states of a node.
    pub states: Vec<(State, State)>,
    pub finals: Vec<bool>,
    /// `edges[first[n]..first[n + 1]]` leave node `n`.
    first: Vec<u32>,
    edges: Vec<(u32, TransId)>,
}

impl Product {
    /// The product with a query; ε-transitions are not part of it.
    pub fn of<W: Clone, V: Clone>(automaton: &Automaton<W>, query: &Automaton<V>) -> Self {
        let mut states: Vec<(State, State)> = Vec::new();
        let mut index: FxHashMap<(State, State), u32> = FxHashMap::default();
        for p in (0..automaton.control as u32).map(State) {
            let used = automaton.store.heads_of(p).next().is_some() || automaton.is_final(p);
            if used && (query.store.heads_of(p).next().is_some() || query.is_final(p)) {
                index.insert((p, p), states.len() as u32);
                states.push((p, p));
            }
        }
        let initial = states.len();
        let (mut first, mut edges) = (vec![0], Vec::new());
        let mut node = 0;
        while node < states.len() {
            let (q, r) = states[node];
            let mut visit = |id: TransId, other: TransId| {
                let to = State(automaton.store.trans[id as usize].to);
                let pair = (to, State(query.store.trans[other as usize].to));
                let target = *index.entry(pair).or_insert_with(|| {
                    states.push(pair);
                    states.len() as u32 - 1
                });
                edges.push((target, id));
            };
            // Walk the shorter side's symbols: a query may allow every symbol, an automaton node
            // may have thousands.
            let ours = automaton.store.heads_of(q).take(64).count();
            let theirs = query.store.heads_of(r).take(64).count();
            if ours <= theirs {
                for head in automaton.store.heads_of(q) {
                    let symbol = Symbol(automaton.store.heads[head as usize].symbol);
                    if symbol == EPSILON {
                        continue;
                    }
                    for other in query.store.on(r, symbol) {
                        automaton.store.of_head(head).for_each(|id| visit(id, other));
                    }
                }
            } else {
                for other in query.store.from(r) {
                    let symbol = query.store.ends(other).1;
                    automaton.store.on(q, symbol).for_each(|id| visit(id, other));
                }
            }
            first.push(edges.len() as u32);
            node += 1;
        }
        let finals = states.iter().map(|(q, r)| automaton.is_final(*q) && query.is_final(*r)).collect();
        Self { initial, states, finals, first, edges }
    }

    /// The automaton itself, every state a node.
    fn whole<W: Clone>(automaton: &Automaton<W>) -> Self {
        let (mut first, mut edges) = (vec![0], Vec::new());
        let states: Vec<(State, State)> =
            (0..automaton.state_count() as u32).map(|q| (State(q), State(q))).collect();
        for (q, _) in &states {
            for head in automaton.store.heads_of(*q) {
                if automaton.store.heads[head as usize].symbol != EPSILON.0 {
                    let ids = automaton.store.of_head(head);
                    edges.extend(ids.map(|id| (automaton.store.trans[id as usize].to, id)));
                }
            }
            first.push(edges.len() as u32);
        }
        let finals = states.iter().map(|(q, _)| automaton.is_final(*q)).collect();
        Self { initial: automaton.control, states, finals, first, edges }
    }

    /// For every node, the combined weight of its paths to final nodes.
    pub fn below<S: Semiring>(&self, domain: &S, automaton: &Automaton<S::Weight>) -> Vec<S::Weight> {
        solve(domain, automaton, self)
    }

    /// For every node, the combined weight of the paths to it from control states, for an automaton
    /// that is read backwards.
    pub fn above<S: Semiring>(&self, domain: &S, automaton: &Automaton<S::Weight>) -> Vec<S::Weight> {
        let nodes = self.states.len();
        let mut values = vec![domain.zero(); nodes];
        values[..self.initial].fill(domain.one());
        let Components { order, first, of } =
            components(nodes, |n| self.edges(n).iter().map(|(target, _)| *target as usize));
        for c in (0..first.len() - 1).rev() {
            let members = &order[first[c] as usize..first[c + 1] as usize];
            let mut again = true;
            while again && !domain.exhausted() {
                again = false;
                for node in members.iter().rev() {
                    let here = values[*node as usize].clone();
                    if domain.is_zero(&here) {
                        continue;
                    }
                    for (target, id) in self.edges(*node as usize) {
                        let weight = domain.extend(&automaton.store.weights[*id as usize], &here);
                        let grew = domain.join(&mut values[*target as usize], &weight);
                        again |= grew && of[*target as usize] == c as u32;
                    }
                }
            }
        }
        values
    }

    pub fn edges(&self, node: usize) -> &[(u32, TransId)] {
        &self.edges[self.first[node] as usize..self.first[node + 1] as usize]
    }

    /// Weights of accepted configurations with empty stacks that are due to ε-transitions.
    fn empty_stacks<S: Semiring>(
        &self,
        domain: &S,
        automaton: &Automaton<S::Weight>,
        query: &Automaton<()>,
    ) -> Vec<S::Weight> {
        (0..automaton.control as u32)
            .map(State)
            .filter(|p| query.is_final(*p))
            .map(|p| automaton.empty_stack_weight(domain, p))
            .collect()
    }
}

/// For every node, the combined weight of its paths to final nodes.
fn solve<S: Semiring>(domain: &S, automaton: &Automaton<S::Weight>, product: &Product) -> Vec<S::Weight> {
    let nodes = product.states.len();
    let mut values: Vec<S::Weight> =
        product.finals.iter().map(|f| if *f { domain.one() } else { domain.zero() }).collect();
    let Components { order, first, .. } =
        components(nodes, |n| product.edges(n).iter().map(|(target, _)| *target as usize));
    // Components come with all that they lead to before them.
    for c in 0..first.len() - 1 {
        let members = &order[first[c] as usize..first[c + 1] as usize];
        let mut again = true;
        while again && !domain.exhausted() {
            again = false;
            for node in members {
                let node = *node as usize;
                let mut sum = values[node].clone();
                let mut grew = false;
                for (target, id) in product.edges(node) {
                    let below = &values[*target as usize];
                    if !domain.is_zero(below) {
                        let weight = &automaton.store.weights[*id as usize];
                        let whole = match automaton.reading {
                            Reading::Forward => domain.extend(weight, below),
                            Reading::Backward => domain.extend(below, weight),
                        };
                        grew |= domain.join(&mut sum, &whole);
                    }
                }
                if grew {
                    values[node] = sum;
                    again |=
                        members.len() > 1 || product.edges(node).iter().any(|(to, _)| *to as usize == node);
                }
            }
        }
    }
    values
}

/// One way in which an automaton accepts a configuration.
#[derive(Clone, Debug)]
pub(crate) struct AcceptingPath {
    pub state: State,
    /// From the topmost symbol down.
    pub transitions: Vec<TransId>,
}

impl AcceptingPath {
    pub fn configuration<W: Clone>(&self, automaton: &Automaton<W>) -> Configuration {
        let symbols = self.transitions.iter().map(|id| automaton.store.ends(*id).1);
        Configuration { state: self.state, stack: symbols.filter(|s| *s != EPSILON).collect() }
    }
}

/// Accepting paths whose weights combine to [`Automaton::summary`]; later ones may make earlier
/// ones superfluous.
pub(crate) fn accepting_paths<S: Semiring>(
    domain: &S,
    automaton: &Automaton<S::Weight>,
    query: &Automaton<()>,
) -> Vec<AcceptingPath> {
    find_accepting_paths(domain, automaton, query, Wanted::All)
}

/// One of the accepting paths with the fewest transitions.
pub(crate) fn first_accepting_path<S: Semiring>(
    domain: &S,
    automaton: &Automaton<S::Weight>,
    query: &Automaton<()>,
) -> Option<AcceptingPath> {
    find_accepting_paths(domain, automaton, query, Wanted::First).into_iter().next()
}

#[derive(Clone, Copy, PartialEq)]
enum Wanted {
    All,
    First,
}

fn find_accepting_paths<S: Semiring>(
    domain: &S,
    automaton: &Automaton<S::Weight>,
    query: &Automaton<()>,
    wanted: Wanted,
) -> Vec<AcceptingPath> {
    let product = Product::of(automaton, query);
    let nodes = product.states.len();
    let mut into: Vec<Vec<(u32, TransId)>> = vec![Vec::new(); nodes];
    for node in 0..nodes {
        for (target, id) in product.edges(node) {
            into[*target as usize].push((node as u32, *id));
        }
    }
    const END: usize = usize::MAX;
    // A suffix of an accepting path: where it starts, its first transition, the rest, its weight.
    struct Suffix<W> {
        node: u32,
        first: TransId,
        rest: usize,
        weight: W,
    }
    let mut totals: Vec<S::Weight> = vec![domain.zero(); nodes];
    let mut suffixes: Vec<Suffix<S::Weight>> = Vec::new();
    for node in (0..nodes).filter(|n| product.finals[*n]) {
        totals[node] = domain.one();
        suffixes.push(Suffix { node: node as u32, first: 0, rest: END, weight: domain.one() });
    }
    let mut next = 0;
    'search: while next < suffixes.len() && !domain.exhausted() {
        let node = suffixes[next].node as usize;
        for (source, id) in &into[node] {
            let weight = &automaton.store.weights[*id as usize];
            let rest = &suffixes[next].weight;
            let weight = match automaton.reading {
                Reading::Forward => domain.extend(weight, rest),
                Reading::Backward => domain.extend(rest, weight),
            };
            if domain.join(&mut totals[*source as usize], &weight) {
                suffixes.push(Suffix { node: *source, first: *id, rest: next, weight });
                if wanted == Wanted::First && (*source as usize) < product.initial {
                    break 'search;
                }
            }
        }
        next += 1;
    }
    let mut paths: Vec<AcceptingPath> = Vec::new();
    for (p, id) in (0..automaton.control as u32)
        .map(State)
        .filter(|p| query.is_final(*p))
        .flat_map(|p| automaton.store.on(p, EPSILON).map(move |id| (p, id)))
    {
        if automaton.is_final(automaton.store.ends(id).2) {
            paths.push(AcceptingPath { state: p, transitions: vec![id] });
        }
    }
    for start in suffixes.iter().filter(|suffix| (suffix.node as usize) < product.initial) {
        let mut transitions = Vec::new();
        let mut at = start;
        while at.rest != END {
            transitions.push(at.first);
            at = &suffixes[at.rest];
        }
        let state = product.states[start.node as usize].0;
        paths.push(AcceptingPath { state, transitions });
    }
    paths
}
