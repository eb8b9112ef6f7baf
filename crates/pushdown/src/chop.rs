//! Weighted chopping by two saturations, one query at a time; and witnesses through a node.
//!
//! \[Lal09\] §5.2, algorithms *Double-poststar* and *Double-prestar*, and §5.3.1. The double
//! algorithms are slow if every node is asked for, but they work for any set in the middle, and
//! they check the [functional automaton](crate::FunctionalAutomaton).

use rustc_hash::FxHashMap;

use crate::automaton::Automaton;
use crate::limits::StopReason;
use crate::names::{RuleId, State, Symbol};
use crate::post_star::post_star;
use crate::pre_star::pre_star;
use crate::projection::{FunctionalAutomaton, FunctionalEdge};
use crate::replay::{replay, replay_backwards};
use crate::saturation::{Options, Saturated};
use crate::semiring::{Merge, Remembering, Semiring};
use crate::store::EPSILON;
use crate::summary::Product;
use crate::system::{Configuration, Rhs, System};
use crate::witness::{Covers, EMPTY, NoWitness, Witness};

impl<W: Clone + Eq> Automaton<W> {
    /// The configurations that are accepted here and by `query`, with the weights they have here.
    ///
    /// ```
    /// use wherefore_pushdown::*;
    /// let mut system: System<()> = System::new();
    /// let (p, a, b) = (system.state("p"), system.symbol("a"), system.symbol("b"));
    /// let set = |text| {
    ///     let set = ConfigurationSet::parse(text, system.states(), system.symbols()).unwrap();
    ///     set.to_automaton(1, 2, Reading::Forward, &())
    /// };
    /// let both = set("a .*").map_weights(|()| true).intersect(&set(". b"));
    /// let accepts = |stack| both.weight(&Reachability, &Configuration { state: p, stack });
    /// assert!(accepts(vec![a, b]) && !accepts(vec![a, a]) && !accepts(vec![b, b]));
    /// ```
    ///
    /// What the states stood for is kept, so that saturation can go on from the intersection: calls
    /// that have not returned can still return, with their merge functions.
    pub fn intersect(&self, query: &Automaton<()>) -> Self {
        let product = Product::of(self, query);
        let mut both = Self::new(self.control, self.symbols, self.reading);
        let states: Vec<State> = (product.states.iter().enumerate())
            .map(|(node, (q, _))| {
                if node < product.initial {
                    return *q;
                }
                let state = both.add_state();
                both.set_returning(state, self.is_returning(*q));
                state
            })
            .collect();
        for (node, from) in states.iter().enumerate() {
            if product.finals[node] {
                both.set_final(*from);
            }
            for (target, id) in product.edges(node) {
                let symbol = self.store.ends(*id).1;
                let head = match self.store.call(*id) {
                    Some(call) => both.store.call_head(*from, symbol, call),
                    None => both.store.head(*from, symbol),
                };
                let to = states[*target as usize];
                if both.store.find(head, to).is_none() {
                    let new = both.store.push(head, to, self.store.weights[*id as usize].clone());
                    if let Some(caller) = self.callers.get(id) {
                        both.callers.insert(new, caller.clone());
                    }
                }
            }
        }
        for p in (0..self.control as u32).map(State).filter(|p| query.is_final(*p)) {
            for id in self.store.on(p, EPSILON).filter(|id| self.is_final(self.store.ends(*id).2)) {
                let end = both.add_state();
                both.set_final(end);
                let head = both.store.head(p, EPSILON);
                both.store.push(head, end, self.store.weights[id as usize].clone());
            }
        }
        both
    }
}

/// `WC(S, C, T)` by post\* twice; `from_start` is the post\* automaton of S. `Err` says which limit
/// was met.
///
/// ```
/// use wherefore_pushdown::*;
/// let mut system: System<bool> = System::new();
/// let (p, a, b, c) = (system.state("p"), system.symbol("a"), system.symbol("b"), system.symbol("c"));
/// system.add(p, a, p, Rhs::Swap(b), true);
/// system.add(p, a, p, Rhs::Swap(c), true);
/// let at = |symbol| Configuration { state: p, stack: vec![symbol] };
/// let start = Automaton::of_configuration(&system, &at(a), Reading::Backward, &true);
/// let from_start = post_star(&Reachability, &system, &start, &Options::default()).automaton;
/// let query = |symbol| Automaton::of_configuration(&system, &at(symbol), Reading::Forward, &());
/// let chop = |c, t| chop_by_post_star(&Reachability, &system, &from_start, &query(c), &query(t), &Options::default());
/// assert_eq!((chop(a, c), chop(b, c)), (Ok(true), Ok(false)));
/// ```
pub fn chop_by_post_star<S: Semiring, M: Merge<S>>(
    domain: &S,
    system: &System<S::Weight, M>,
    from_start: &Automaton<S::Weight>,
    chop: &Automaton<()>,
    target: &Automaton<()>,
    options: &Options,
) -> Result<S::Weight, StopReason> {
    let saturated = post_star(domain, system, &from_start.intersect(chop), options);
    saturated.stop.is_complete().then(|| saturated.automaton.summary(domain, target)).ok_or(saturated.stop)
}

/// `WC(S, C, T)` by pre\* twice; `to_target` is the pre\* automaton of T. `Err` says which limit
/// was met.
///
/// ```
/// use wherefore_pushdown::*;
/// let mut system: System<bool> = System::new();
/// let (p, a, b, c) = (system.state("p"), system.symbol("a"), system.symbol("b"), system.symbol("c"));
/// system.add(p, a, p, Rhs::Swap(b), true);
/// system.add(p, a, p, Rhs::Swap(c), true);
/// let at = |symbol| Configuration { state: p, stack: vec![symbol] };
/// let target = Automaton::of_configuration(&system, &at(c), Reading::Forward, &true);
/// let to_target = pre_star(&Reachability, &system, &target, &Options::default()).automaton;
/// let query = |symbol| Automaton::of_configuration(&system, &at(symbol), Reading::Forward, &());
/// let chop = |s, c| chop_by_pre_star(&Reachability, &system, &query(s), &query(c), &to_target, &Options::default());
/// assert_eq!((chop(a, c), chop(a, b)), (Ok(true), Ok(false)));
/// ```
pub fn chop_by_pre_star<S: Semiring, M: Merge<S>>(
    domain: &S,
    system: &System<S::Weight, M>,
    start: &Automaton<()>,
    chop: &Automaton<()>,
    to_target: &Automaton<S::Weight>,
    options: &Options,
) -> Result<S::Weight, StopReason> {
    let saturated = pre_star(domain, system, &to_target.intersect(chop), options);
    saturated.stop.is_complete().then(|| saturated.automaton.summary(domain, start)).ok_or(saturated.stop)
}

/// A run from start to target, and where on it the node was asked for.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct WitnessThrough<W> {
    /// The run.
    pub witness: Witness<W>,
    /// How many of its rules lead to the node.
    pub position: usize,
}

impl<S: Semiring, M: Merge<S>> FunctionalAutomaton<'_, S, M> {
    /// Runs through a node whose weights combine to its [`chop`](Self::chop); empty if that is zero
    /// (\[Lal09\] §5.3.1).
    ///
    /// `post` and `pre` are what this automaton was made of, saturated with witnesses recorded.
    ///
    /// ```
    /// use wherefore_domains::{Relation, RelationDomain};
    /// use wherefore_pushdown::*;
    /// // x := 1 or x := 2, then a check that only 2 fails.
    /// let d = RelationDomain::new(3);
    /// let mut system: System<Relation> = System::new();
    /// let p = system.state("p");
    /// let (a, b, bad) = (system.symbol("a"), system.symbol("b"), system.symbol("bad"));
    /// system.add(p, a, p, Rhs::Swap(b), Relation::from_fn(3, |_| [1]));
    /// let two = system.add(p, a, p, Rhs::Swap(b), Relation::from_fn(3, |_| [2]));
    /// let check = system.add(p, b, p, Rhs::Swap(bad), d.partial_identity([2]));
    /// let at = |symbol| Configuration { state: p, stack: vec![symbol] };
    /// let options = Options { recording: Recording::Witnesses, ..Options::default() };
    /// let post = post_star(&d, &system, &Automaton::of_configuration(&system, &at(a), Reading::Backward, &d.one()), &options);
    /// let pre = pre_star(&d, &system, &Automaton::of_configuration(&system, &at(bad), Reading::Forward, &d.one()), &options);
    /// let functional = FunctionalAutomaton::new(&d, &system, &post.automaton, &pre.automaton);
    /// let through = functional.witnesses_through(&post, &pre, p, b, 10).unwrap();
    /// assert_eq!((&through[0].witness.rules[..], through[0].position), (&[two, check][..], 1));
    /// assert_eq!(functional.stores(p, b), d.partial_identity([2]));
    /// ```
    pub fn witnesses_through(
        &self,
        post: &Saturated<S::Weight>,
        pre: &Saturated<S::Weight>,
        state: State,
        top: Symbol,
        most: usize,
    ) -> Result<Vec<WitnessThrough<S::Weight>>, NoWitness> {
        let (Some(before), Some(after)) = (&post.log, &pre.log) else {
            return Err(NoWitness::NotRecorded);
        };
        let d = self.domain;
        let mut before = Covers::new(d, self.system, self.post, before);
        let mut after = Covers::new(d, self.system, self.pre, after);
        let mut found = Vec::new();
        let mut total = d.zero();
        for path in self.accepting_paths(state, top).into_iter().rev() {
            // Two ropes and the weight of what lies between start and target so far.
            let mut runs = vec![(EMPTY, EMPTY, d.one())];
            for edge in &path {
                let mut longer = Vec::new();
                let mut sum = d.zero();
                let (first, second) = (before.of(edge.before), after.of(edge.after));
                for (rope, w1) in &first.paths {
                    let call = self.post.store.call(edge.before).filter(|_| !edge.merges);
                    let w1 = call.map_or_else(|| w1.clone(), |rule| d.extend(w1, self.system.weight(rule)));
                    for (other, w2) in &second.paths {
                        for (left, right, z) in &runs {
                            let weight = self.wrap(edge, &w1, z, w2);
                            if d.join(&mut sum, &weight) {
                                let left = before.ropes.cat(*rope, *left);
                                let right = after.ropes.cat(*right, *other);
                                longer.push((left, right, weight));
                            }
                        }
                    }
                }
                runs = longer;
            }
            for (left, right, weight) in runs.into_iter().rev() {
                if !d.join(&mut total, &weight) {
                    continue;
                }
                if found.len() == most {
                    return Err(NoWitness::TooMany(most));
                }
                let mut rules = before.ropes.flatten(left);
                let position = rules.len();
                rules.extend(after.ropes.flatten(right));
                let stack = path.iter().map(|edge| self.post.store.ends(edge.before).1).collect();
                let node = Configuration { state, stack };
                let known = replay_backwards(d, self.system, &node, &rules[..position]);
                let start = known.expect("the log's rules run").start;
                let run = replay(d, self.system, &start, &rules).expect("the log's rules run");
                let witness = Witness { start, rules, end: run.end, weight: run.weight };
                found.push(WitnessThrough { witness, position });
            }
        }
        found.sort_by_key(|through| through.witness.rules.len());
        Ok(found)
    }

    /// Paths of the functional automaton, top first, whose weights combine to the chop of a node;
    /// later ones may make earlier ones superfluous.
    fn accepting_paths(&self, state: State, top: Symbol) -> Vec<Vec<FunctionalEdge>> {
        let d = self.domain;
        const START: usize = usize::MAX;
        struct Prefix<W> {
            edge: FunctionalEdge,
            before: usize,
            weight: W,
        }
        let mut totals: FxHashMap<u32, S::Weight> = FxHashMap::default();
        let mut prefixes: Vec<Prefix<S::Weight>> = Vec::new();
        let mut arrive = |prefixes: &mut Vec<Prefix<S::Weight>>, edge: &FunctionalEdge, before, weight| {
            if d.join(totals.entry(edge.to).or_insert_with(|| d.zero()), &weight) {
                prefixes.push(Prefix { edge: *edge, before, weight });
            }
        };
        for edge in self.top_edges(state, top) {
            let (w1, w2) = self.weights(edge);
            arrive(&mut prefixes, edge, START, self.wrap(edge, w1, &d.one(), w2));
        }
        let mut next = 0;
        while next < prefixes.len() && !d.exhausted() {
            for edge in self.edges(prefixes[next].edge.to as usize) {
                let (w1, w2) = self.weights(edge);
                let weight = self.wrap(edge, w1, &prefixes[next].weight, w2);
                arrive(&mut prefixes, edge, next, weight);
            }
            next += 1;
        }
        (0..prefixes.len())
            .filter(|i| self.is_final(prefixes[*i].edge.to))
            .map(|i| {
                let back = std::iter::successors(Some(i), |i| {
                    let before = prefixes[*i].before;
                    (before != START).then_some(before)
                });
                let mut path: Vec<FunctionalEdge> = back.map(|i| prefixes[i].edge).collect();
                path.reverse();
                path
            })
            .collect()
    }
}

/// The stores at one point of a run with which the whole run goes through, as a partial identity.
///
/// For any run through a node this under-approximates the stores of its projection (\[AEP\] §5.2);
/// it is exact for the run. `position` is the number of rules before the point.
///
/// ```
/// use wherefore_domains::{Relation, RelationDomain};
/// use wherefore_pushdown::*;
/// // x := 1 or x := 2, then a check that only 2 fails.
/// let d = RelationDomain::new(3);
/// let mut system: System<Relation> = System::new();
/// let p = system.state("p");
/// let (a, b, bad) = (system.symbol("a"), system.symbol("b"), system.symbol("bad"));
/// system.add(p, a, p, Rhs::Swap(b), Relation::from_fn(3, |_| [1]));
/// let two = system.add(p, a, p, Rhs::Swap(b), Relation::from_fn(3, |_| [2]));
/// let check = system.add(p, b, p, Rhs::Swap(bad), d.partial_identity([2]));
/// let at = |symbol| Configuration { state: p, stack: vec![symbol] };
/// let options = Options { recording: Recording::Witnesses, ..Options::default() };
/// let post = post_star(&d, &system, &Automaton::of_configuration(&system, &at(a), Reading::Backward, &d.one()), &options);
/// let pre = pre_star(&d, &system, &Automaton::of_configuration(&system, &at(bad), Reading::Forward, &d.one()), &options);
/// let functional = FunctionalAutomaton::new(&d, &system, &post.automaton, &pre.automaton);
/// let through = functional.witnesses_through(&post, &pre, p, b, 10).unwrap();
/// # let _ = (two, check);
/// let stores = stores_along(&d, &system, &through[0].witness, through[0].position);
/// assert_eq!(stores, d.partial_identity([2]));
/// ```
pub fn stores_along<S: Remembering, M: Merge<S>>(
    domain: &S,
    system: &System<S::Weight, M>,
    witness: &Witness<S::Weight>,
    position: usize,
) -> S::Weight {
    let extend =
        |memory: &S::Memory, by: &S::Weight| domain.map_memory(memory, &mut |z| domain.extend(z, by));
    let (before, after) = witness.rules.split_at(position);
    // Frames of calls that are open at the point, the innermost last, and the weight inside the
    // innermost callee.
    let mut calls: Vec<(S::Weight, RuleId)> = Vec::new();
    let mut weight = domain.one();
    for id in before {
        let own = system.weight(*id);
        match system.rule(*id).rhs {
            Rhs::Swap(_) => weight = domain.extend(&weight, own),
            Rhs::Push(..) => calls.push((std::mem::replace(&mut weight, domain.one()), *id)),
            Rhs::Pop => {
                let callee = domain.extend(&weight, own);
                weight = match calls.pop() {
                    None => callee,
                    Some((caller, call)) => returned(domain, system, call, &caller, &callee),
                };
            }
        }
    }
    let mut memory = domain.map_memory(&domain.remember(), &mut |z| domain.extend(&weight, z));
    // Calls made after the point have plain weights until they return into the frame of the point.
    let mut later: Vec<(Option<S::Weight>, RuleId)> = Vec::new();
    let mut inner: Option<S::Weight> = None;
    for id in after {
        let own = system.weight(*id);
        match (system.rule(*id).rhs, &mut inner) {
            (Rhs::Swap(_), Some(weight)) => *weight = domain.extend(weight, own),
            (Rhs::Swap(_), None) => memory = extend(&memory, own),
            (Rhs::Push(..), _) => {
                later.push((inner.take(), *id));
                inner = Some(domain.one());
            }
            (Rhs::Pop, Some(weight)) => {
                let callee = domain.extend(weight, own);
                let (caller, call) = later.pop().expect("a callee was entered by a call");
                inner = None;
                match caller {
                    Some(caller) => inner = Some(returned(domain, system, call, &caller, &callee)),
                    None => {
                        memory =
                            domain.map_memory(&memory, &mut |z| returned(domain, system, call, z, &callee));
                    }
                }
            }
            (Rhs::Pop, None) => {
                memory = extend(&memory, own);
                if let Some((caller, call)) = calls.pop() {
                    memory = domain.map_memory(&memory, &mut |z| returned(domain, system, call, &caller, z));
                }
            }
        }
    }
    for (caller, call) in later {
        match caller {
            None => memory = extend(&memory, system.weight(call)),
            Some(caller) => {
                memory = extend(&extend(&memory, &caller), system.weight(call));
            }
        }
    }
    if let Some(weight) = inner {
        memory = extend(&memory, &weight);
    }
    for (caller, call) in calls.into_iter().rev() {
        let open = domain.extend(&caller, system.weight(call));
        memory = domain.map_memory(&memory, &mut |z| domain.extend(&open, z));
    }
    domain.remembered(&memory)
}

/// The weight at a return site.
fn returned<S: Semiring, M: Merge<S>>(
    domain: &S,
    system: &System<S::Weight, M>,
    call: RuleId,
    caller: &S::Weight,
    callee: &S::Weight,
) -> S::Weight {
    match system.merge(call) {
        Some(merge) => merge.merge(domain, caller, callee),
        None => domain.extend(&domain.extend(caller, system.weight(call)), callee),
    }
}
