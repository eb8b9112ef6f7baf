//! Witnesses: finite sets of rule sequences that justify a weight.
//!
//! \[Lal09\] Def. 2.4.3: paths `σ₁ … σₙ` from S to T with `⊕ᵢ v(σᵢ) = IJOP(S, T)`. While recording,
//! saturation logs each change of a weight with its cause; causes point to earlier entries only, so
//! the log is a DAG in topological order.
//!
//! A *cover* of a log entry is a list of (path, weight) whose combined weight is the weight at that
//! time. Covers are computed upwards along the log, for the entries that matter; a path that adds
//! nothing is dropped, so a cover is never longer than a chain of the domain. Paths share their
//! parts ([`Ropes`]). Nothing recurses: a path of a million steps is no problem.

use rustc_hash::FxHashMap;

use crate::automaton::{Automaton, Reading};
use crate::names::RuleId;
use crate::post_star::returned_weight;
use crate::pre_star::called_weight;
use crate::replay::{Replay, replay_backwards, replay_forwards};
use crate::saturation::Saturated;
use crate::semiring::{Merge, Semiring};
use crate::store::{NONE, TransId};
use crate::summary::{AcceptingPath, accepting_paths};
use crate::system::{Configuration, System};

/// Why a transition changed: a rule and up to two transitions, each as of some log entry.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Cause {
    rule: u32,
    first: TransId,
    first_at: u32,
    second: TransId,
    second_at: u32,
}

impl Cause {
    /// Part of the seed, or the empty path into a callee.
    pub fn given() -> Self {
        Self { rule: NONE, first: NONE, first_at: NONE, second: NONE, second_at: NONE }
    }

    /// pre\*: a pop rule alone.
    pub fn pop(rule: RuleId) -> Self {
        Self { rule: rule.0, ..Self::given() }
    }

    /// One rule applied to one transition.
    pub fn rule(rule: RuleId, first: TransId, first_at: u32) -> Self {
        Self { rule: rule.0, first, first_at, ..Self::given() }
    }

    /// post\*: a caller's transition and the ε-transition of its callee.
    pub fn call(first: TransId, first_at: u32, second: TransId, second_at: u32) -> Self {
        Self { rule: NONE, first, first_at, second, second_at }
    }

    /// The rule, if there is one.
    pub fn rule_applied(&self) -> Option<RuleId> {
        some(self.rule).map(RuleId)
    }

    /// The first transition, as of some log entry.
    pub fn first(&self) -> Option<(TransId, u32)> {
        some(self.first).map(|first| (first, self.first_at))
    }

    /// The second transition, as of some log entry.
    pub fn second(&self) -> Option<(TransId, u32)> {
        some(self.second).map(|second| (second, self.second_at))
    }

    /// pre\*: a call rule, the callee's transition and the one that reads the return site.
    pub fn calls(rule: RuleId, first: TransId, first_at: u32, second: TransId, second_at: u32) -> Self {
        Self { rule: rule.0, first, first_at, second, second_at }
    }
}

fn some(number: u32) -> Option<u32> {
    (number != NONE).then_some(number)
}

#[derive(Clone, Copy, Debug)]
struct Entry {
    trans: TransId,
    /// The entry before this one for the same transition.
    before: u32,
    cause: Cause,
}

/// All changes of weights, in the order in which they happened.
#[derive(Clone, Debug, Default)]
pub(crate) struct Log {
    entries: Vec<Entry>,
    latest: Vec<u32>,
}

impl Log {
    pub fn record(&mut self, trans: TransId, cause: Cause) {
        if self.latest.len() <= trans as usize {
            self.latest.resize(trans as usize + 1, NONE);
        }
        let entry = self.entries.len() as u32;
        let before = std::mem::replace(&mut self.latest[trans as usize], entry);
        self.entries.push(Entry { trans, before, cause });
    }

    pub fn latest(&self, trans: TransId) -> u32 {
        self.latest[trans as usize]
    }

    /// Each change: the transition, the change before it of the same one, and the cause.
    pub fn entries(&self) -> impl Iterator<Item = (TransId, Option<u32>, Cause)> + '_ {
        self.entries.iter().map(|entry| (entry.trans, some(entry.before), entry.cause))
    }

    pub fn bytes(&self) -> usize {
        self.entries.capacity() * size_of::<Entry>() + self.latest.capacity() * 4
    }
}

/// Rule sequences that share their parts.
#[derive(Clone, Debug, Default)]
pub(crate) struct Ropes {
    nodes: Vec<Rope>,
}

#[derive(Clone, Copy, Debug)]
struct Rope {
    /// A rule if `right` is [`LEAF`], else a rope.
    left: u32,
    right: u32,
    len: u64,
}

const LEAF: u32 = u32::MAX;

/// The empty rope.
pub(crate) const EMPTY: u32 = u32::MAX;

impl Ropes {
    pub fn rule(&mut self, rule: RuleId) -> u32 {
        self.nodes.push(Rope { left: rule.0, right: LEAF, len: 1 });
        self.nodes.len() as u32 - 1
    }

    pub fn cat(&mut self, left: u32, right: u32) -> u32 {
        if left == EMPTY {
            return right;
        }
        if right == EMPTY {
            return left;
        }
        let len = self.len(left).saturating_add(self.len(right));
        self.nodes.push(Rope { left, right, len });
        self.nodes.len() as u32 - 1
    }

    pub fn len(&self, rope: u32) -> u64 {
        if rope == EMPTY { 0 } else { self.nodes[rope as usize].len }
    }

    pub fn flatten(&self, rope: u32) -> Vec<RuleId> {
        let mut rules = Vec::new();
        let mut open = vec![rope];
        while let Some(rope) = open.pop() {
            if rope == EMPTY {
                continue;
            }
            let node = self.nodes[rope as usize];
            if node.right == LEAF {
                rules.push(RuleId(node.left));
            } else {
                open.extend([node.right, node.left]);
            }
        }
        rules
    }
}

/// Paths with their weights; together they have the weight that they cover.
#[derive(Clone, Debug)]
pub(crate) struct Cover<W> {
    pub paths: Vec<(u32, W)>,
    pub total: W,
}

impl<W: Clone> Cover<W> {
    pub fn empty<S: Semiring<Weight = W>>(domain: &S) -> Self {
        Self { paths: Vec::new(), total: domain.zero() }
    }

    /// Adds a path unless it adds nothing to the weight.
    pub fn add<S: Semiring<Weight = W>>(&mut self, domain: &S, rope: u32, weight: W) {
        if domain.join(&mut self.total, &weight) {
            self.paths.push((rope, weight));
        }
    }

    /// Drops paths that later ones have made superfluous.
    pub fn shrink<S: Semiring<Weight = W>>(mut self, domain: &S) -> Self {
        let mut total = domain.zero();
        let mut kept: Vec<_> =
            self.paths.drain(..).rev().filter(|(_, weight)| domain.join(&mut total, weight)).collect();
        kept.reverse();
        self.paths = kept;
        self
    }
}

/// One rule sequence of a witness, with its two ends and its weight.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Witness<W> {
    /// Where the run starts.
    pub start: Configuration,
    /// The rules, in order of execution.
    pub rules: Vec<RuleId>,
    /// Where the run ends.
    pub end: Configuration,
    /// `v(rules)`, as [`replay`](crate::replay()) computes it; the weights on the seed's
    /// transitions are not part of it.
    pub weight: W,
}

/// Why there is no witness.
#[derive(Clone, Copy, Debug, PartialEq, Eq, thiserror::Error)]
pub enum NoWitness {
    /// Saturation ran without recording.
    #[error("witnesses were not recorded: saturate with `Recording::Witnesses`")]
    NotRecorded,
    /// Too many paths would be needed.
    #[error("more than {0} paths are needed to justify the weight")]
    TooMany(usize),
}

impl<W: Clone + Eq> Saturated<W> {
    /// Paths that justify the weight of the configurations that are accepted both here and by
    /// `query`.
    ///
    /// For post\* the paths lead from the seed to configurations of `query`, for pre\* the other
    /// way round. Their weights combine to `self.automaton.summary(query)` if the weights on the
    /// seed are `one`. Shorter paths come first; a path that adds nothing is left out; more than
    /// `most` paths are an error. The answer is empty exactly when that weight is zero.
    ///
    /// ```
    /// use wherefore_pushdown::*;
    /// # struct Reach;
    /// # impl Semiring for Reach {
    /// #     type Weight = bool;
    /// #     fn zero(&self) -> bool { false }
    /// #     fn one(&self) -> bool { true }
    /// #     fn combine(&self, a: &bool, b: &bool) -> bool { *a || *b }
    /// #     fn extend(&self, a: &bool, b: &bool) -> bool { *a && *b }
    /// # }
    /// let mut system: System<bool> = System::new();
    /// let p = system.state("p");
    /// let (a, b) = (system.symbol("a"), system.symbol("b"));
    /// let rule = system.add(p, a, p, Rhs::Push(a, b), true);
    /// let start = Configuration { state: p, stack: vec![a] };
    /// let seed = Automaton::of_configuration(&system, &start, Reading::Backward, &true);
    /// let options = Options { recording: Recording::Witnesses, ..Options::default() };
    /// let reached = post_star(&Reach, &system, &seed, &options);
    /// let goal = Configuration { state: p, stack: vec![a, b, b] };
    /// let goal = Automaton::of_configuration(&system, &goal, Reading::Forward, &());
    /// let witnesses = reached.witnesses(&Reach, &system, &goal, 10).unwrap();
    /// assert_eq!(witnesses[0].rules, [rule, rule]);
    /// ```
    pub fn witnesses<S, M>(
        &self,
        domain: &S,
        system: &System<W, M>,
        query: &Automaton<()>,
        most: usize,
    ) -> Result<Vec<Witness<W>>, NoWitness>
    where
        S: Semiring<Weight = W>,
        M: Merge<S>,
    {
        let log = self.log.as_ref().ok_or(NoWitness::NotRecorded)?;
        let accepting = accepting_paths(domain, &self.automaton, query);
        let mut covers = Covers::new(domain, system, &self.automaton, log);
        collect_witnesses(domain, system, &self.automaton, accepting, most, |path| {
            let cover = covers.of_path(path);
            cover.paths.into_iter().map(|(rope, w)| (covers.ropes.flatten(rope), w)).collect()
        })
    }

    /// The shortest of the recorded paths to (or from) `query` with a weight that is not zero;
    /// `None` if there is none.
    ///
    /// It is a shortest path of the system if the domain prefers shorter paths, as shortest paths
    /// with weight 1 on every rule do; otherwise it is the shortest among those that saturation
    /// needed.
    pub fn shortest_witness<S, M>(
        &self,
        domain: &S,
        system: &System<W, M>,
        query: &Automaton<()>,
    ) -> Result<Option<Witness<W>>, NoWitness>
    where
        S: Semiring<Weight = W>,
        M: Merge<S>,
    {
        Ok(self.witnesses(domain, system, query, usize::MAX)?.into_iter().next())
    }
}

/// Runs a rule sequence from the end that is known.
fn finish_witness<S: Semiring, M: Merge<S>>(
    domain: &S,
    system: &System<S::Weight, M>,
    reading: Reading,
    rules: Vec<RuleId>,
    known: Configuration,
) -> Witness<S::Weight> {
    let replayed = match reading {
        Reading::Backward => replay_backwards(domain, system, &known, &rules),
        Reading::Forward => replay_forwards(domain, system, &known, &rules),
    };
    let Replay { start, end, weight } =
        replayed.expect("a rule sequence from the log runs: saturation applied these very rules");
    Witness { start, rules, end, weight }
}

/// The cover of an accepting path, from the covers of its transitions.
pub(crate) fn path_cover<'c, S: Semiring, M>(
    domain: &S,
    system: &System<S::Weight, M>,
    automaton: &Automaton<S::Weight>,
    ropes: &mut Ropes,
    path: &AcceptingPath,
    covers: impl Iterator<Item = &'c Cover<S::Weight>>,
) -> Cover<S::Weight>
where
    S::Weight: 'c,
{
    let mut product = Cover::empty(domain);
    product.add(domain, EMPTY, domain.one());
    for (trans, cover) in path.transitions.iter().zip(covers) {
        let call = automaton.store.call(*trans);
        let mut next = Cover::empty(domain);
        for (rope, weight) in &cover.paths {
            // A call that has not returned counts with the weight of its rule.
            let weight = match call {
                Some(rule) => domain.extend(weight, system.weight(rule)),
                None => weight.clone(),
            };
            for (other, before) in &product.paths {
                let (rope, weight) = match automaton.reading() {
                    Reading::Forward => (ropes.cat(*other, *rope), domain.extend(before, &weight)),
                    Reading::Backward => (ropes.cat(*rope, *other), domain.extend(&weight, before)),
                };
                next.add(domain, rope, weight);
            }
        }
        product = next.shrink(domain);
    }
    product
}

/// Makes witnesses of the covers of accepting paths; later paths may make earlier ones superfluous.
pub(crate) fn collect_witnesses<S: Semiring, M: Merge<S>>(
    domain: &S,
    system: &System<S::Weight, M>,
    automaton: &Automaton<S::Weight>,
    paths: Vec<AcceptingPath>,
    most: usize,
    mut cover: impl FnMut(&AcceptingPath) -> Vec<(Vec<RuleId>, S::Weight)>,
) -> Result<Vec<Witness<S::Weight>>, NoWitness> {
    let mut found = Vec::new();
    let mut total = domain.zero();
    for path in paths.into_iter().rev() {
        for (rules, weight) in cover(&path) {
            if !domain.join(&mut total, &weight) {
                continue;
            }
            if found.len() == most {
                return Err(NoWitness::TooMany(most));
            }
            let known = path.configuration(automaton);
            found.push(finish_witness(domain, system, automaton.reading(), rules, known));
        }
    }
    found.sort_by_key(|witness| witness.rules.len());
    Ok(found)
}

/// Covers of log entries, computed when they are asked for.
pub(crate) struct Covers<'a, S: Semiring, M> {
    domain: &'a S,
    system: &'a System<S::Weight, M>,
    automaton: &'a Automaton<S::Weight>,
    log: &'a Log,
    pub ropes: Ropes,
    known: FxHashMap<u32, Cover<S::Weight>>,
}

impl<'a, S: Semiring, M: Merge<S>> Covers<'a, S, M> {
    pub fn new(
        domain: &'a S,
        system: &'a System<S::Weight, M>,
        automaton: &'a Automaton<S::Weight>,
        log: &'a Log,
    ) -> Self {
        let (ropes, known) = (Ropes::default(), FxHashMap::default());
        Self { domain, system, automaton, log, ropes, known }
    }

    /// Paths that justify the weight of a transition; for a call with a merge function, the
    /// caller's weight.
    pub fn of(&mut self, trans: TransId) -> Cover<S::Weight> {
        let latest = self.log.latest(trans);
        self.compute(latest);
        self.known[&latest].clone()
    }

    /// Paths that justify the weight of one accepting path of the automaton.
    pub fn of_path(&mut self, path: &AcceptingPath) -> Cover<S::Weight> {
        for trans in &path.transitions {
            self.compute(self.log.latest(*trans));
        }
        let covers = path.transitions.iter().map(|trans| &self.known[&self.log.latest(*trans)]);
        path_cover(self.domain, self.system, self.automaton, &mut self.ropes, path, covers)
    }

    /// Makes the cover of a log entry known, with all that it depends on.
    fn compute(&mut self, goal: u32) {
        let mut needed = vec![];
        let mut seen = rustc_hash::FxHashSet::default();
        let mut open = vec![goal];
        while let Some(entry) = open.pop() {
            if entry == NONE || self.known.contains_key(&entry) || !seen.insert(entry) {
                continue;
            }
            needed.push(entry);
            let Entry { before, cause, .. } = self.log.entries[entry as usize];
            open.extend([before, cause.first_at, cause.second_at]);
        }
        needed.sort_unstable();
        for entry in needed {
            let cover = self.of_entry(entry);
            self.known.insert(entry, cover);
        }
    }

    fn of_entry(&mut self, entry: u32) -> Cover<S::Weight> {
        let Entry { trans, before, cause } = self.log.entries[entry as usize];
        let mut cover = match before {
            NONE => Cover::empty(self.domain),
            earlier => self.known[&earlier].clone(),
        };
        let backward = self.automaton.reading() == Reading::Backward;
        let rule = (cause.rule != NONE).then_some(RuleId(cause.rule));
        match (rule, cause.first, cause.second) {
            (None, NONE, _) => {
                // A transition of the seed counts with the weight it came with; into a callee leads
                // the empty path.
                cover.add(self.domain, EMPTY, self.domain.one());
            }
            (Some(rule), NONE, _) => {
                let rope = self.ropes.rule(rule);
                cover.add(self.domain, rope, self.system.weight(rule).clone());
            }
            (Some(rule), _, NONE) => {
                let step = self.ropes.rule(rule);
                let open_call = backward && self.automaton.store.call(trans) == Some(rule);
                for (rope, weight) in &self.known[&cause.first_at].paths {
                    let (rope, weight) = if open_call {
                        (self.ropes.cat(*rope, step), weight.clone())
                    } else if backward {
                        let weight = self.domain.extend(weight, self.system.weight(rule));
                        (self.ropes.cat(*rope, step), weight)
                    } else {
                        let weight = self.domain.extend(self.system.weight(rule), weight);
                        (self.ropes.cat(step, *rope), weight)
                    };
                    cover.add(self.domain, rope, weight);
                }
            }
            (rule, first, _) => {
                let call = self.automaton.store.call(first).map_or(NONE, |rule| rule.0);
                for (rope, weight) in &self.known[&cause.first_at].paths {
                    for (other, after) in &self.known[&cause.second_at].paths {
                        let mut path = self.ropes.cat(*rope, *other);
                        let weight = match rule {
                            None => returned_weight(self.system, self.domain, call, weight, after),
                            Some(rule) => {
                                let step = self.ropes.rule(rule);
                                path = self.ropes.cat(step, path);
                                let middle = self.automaton.store.ends(first).2;
                                let returned = self.automaton.is_returning(middle);
                                let called = called_weight(self.system, self.domain, rule, returned, weight);
                                self.domain.extend(&called, after)
                            }
                        };
                        cover.add(self.domain, path, weight);
                    }
                }
            }
        }
        cover.shrink(self.domain)
    }
}
