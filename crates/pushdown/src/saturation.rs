//! The worklist engine behind post\* and pre\*.
//!
//! \[Lal09\] §2.4.1 (weighted saturation), §3.2 (merge functions), §4.2.2 (differential
//! propagation). What is common to both directions lives here: transitions with weights, the
//! worklist and its order, differences, limits, and the log from which witnesses are read. What a
//! transition implies is in [`post_star`](mod@crate::post_star) and
//! [`pre_star`](mod@crate::pre_star).
//!
//! **Invariant:** the automaton only grows, and every weight on it is the combine of weights of
//! real paths. Stopping early therefore under-approximates: what was found is true, what was not
//! found is unknown.

use std::cmp::Reverse;
use std::collections::{BinaryHeap, VecDeque};

use crate::automaton::{Automaton, Reading, Transition};
use crate::dependence::Production;
use crate::graph::reverse_postorder;
use crate::limits::{Limits, Meter, StopReason};
use crate::names::State;
use crate::post_star::PostRules;
use crate::pre_star::PreRules;
use crate::program_order::program_order;
use crate::semiring::{Merge, Plain, Semiring};
use crate::store::{EPSILON, HeadId, NONE, Store, TransId};
use crate::system::System;
use crate::witness::{Cause, Log};

/// Forwards or backwards.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub enum Direction {
    /// post\*: successors.
    Post,
    /// pre\*: predecessors.
    Pre,
}

/// Which transition a worklist hands out next.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Hash)]
pub enum Order {
    /// The one that has waited longest.
    #[default]
    Fifo,
    /// The one that changed last.
    Lifo,
    /// The one whose weight has the smallest [rank](Semiring::rank); for shortest paths this is
    /// Dijkstra's order. Among equals the one that comes first in the order of the program, so that
    /// loops converge before they are left; in post\* callees come first, so that they are finished
    /// before their callers go on.
    Priority,
}

/// Whether to keep what witnesses need.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Hash)]
pub enum Recording {
    /// Keep nothing.
    #[default]
    Off,
    /// Keep, for every change of a weight, what caused it.
    Witnesses,
}

/// How to saturate.
#[derive(Clone, Debug, Default)]
pub struct Options {
    /// Worklist order.
    pub order: Order,
    /// Whether witnesses can be asked for later.
    pub recording: Recording,
    /// What the run may spend.
    pub limits: Limits,
}

/// The outcome of a saturation.
#[derive(Clone, Debug)]
pub struct Saturated<W> {
    /// The automaton: complete if [`stop`](Self::stop) says so, else an under-approximation.
    pub automaton: Automaton<W>,
    /// Why saturation ended.
    pub stop: StopReason,
    /// How many transitions were taken off the worklist.
    pub steps: u64,
    pub(crate) log: Option<Log>,
    /// What each entry of the log added to its transition.
    pub(crate) gained: Vec<W>,
}

enum Worklist {
    Fifo(VecDeque<TransId>),
    Lifo(Vec<TransId>),
    Priority(Priorities),
}

/// A heap of transitions: by rank, by place in the program, by age.
#[derive(Default)]
struct Priorities {
    heap: BinaryHeap<Reverse<(u64, u32, u64, TransId)>>,
    count: u64,
    /// The place of each head that rules mention.
    places: Vec<u32>,
    /// post\*: the place of returns, by the state below the call.
    returns: Vec<u32>,
}

/// Transitions under construction, whichever the direction.
pub(crate) struct Core<'a, S: Semiring> {
    pub domain: &'a S,
    pub automaton: Automaton<S::Weight>,
    /// Whether the domain has a difference.
    differential: bool,
    /// What changed on a transition since it was last taken off the worklist (with a difference
    /// only).
    deltas: Vec<Option<S::Weight>>,
    waiting: Vec<bool>,
    worklist: Worklist,
    pub log: Option<Log>,
    /// What each entry of the log added.
    gained: Vec<S::Weight>,
}

impl<'a, S: Semiring> Core<'a, S> {
    fn new(domain: &'a S, automaton: Automaton<S::Weight>, options: &Options) -> Self {
        Self {
            domain,
            automaton,
            differential: domain.difference(&domain.zero(), &domain.zero()).is_some(),
            deltas: Vec::new(),
            waiting: Vec::new(),
            worklist: match options.order {
                Order::Fifo => Worklist::Fifo(VecDeque::new()),
                Order::Lifo => Worklist::Lifo(Vec::new()),
                Order::Priority => Worklist::Priority(Priorities::default()),
            },
            log: (options.recording == Recording::Witnesses).then(Log::default),
            gained: Vec::new(),
        }
    }

    pub fn store(&self) -> &Store<S::Weight> {
        &self.automaton.store
    }

    /// Joins `weight` into the transition of `head` to `to`; returns its number if it is new.
    pub fn insert(&mut self, head: HeadId, to: State, weight: S::Weight, cause: Cause) -> Option<TransId> {
        let store = &mut self.automaton.store;
        let Some(id) = store.find(head, to) else {
            if self.domain.is_zero(&weight) {
                return None;
            }
            self.keep(&weight);
            let store = &mut self.automaton.store;
            let delta = self.differential.then(|| weight.clone());
            let id = store.push(head, to, weight);
            if self.differential {
                self.deltas.push(delta);
            }
            self.waiting.push(false);
            self.changed(id, cause);
            return Some(id);
        };
        let old = &mut store.weights[id as usize];
        if self.differential {
            let new = self.domain.difference(&weight, old)?;
            if self.domain.is_zero(&new) {
                return None;
            }
            self.domain.join(old, &new);
            if self.log.is_some() {
                self.gained.push(new.clone());
            }
            match &mut self.deltas[id as usize] {
                Some(delta) => {
                    self.domain.join(delta, &new);
                }
                none => *none = Some(new),
            }
        } else if self.domain.join(old, &weight) {
            self.keep(&weight);
        } else {
            return None;
        }
        self.changed(id, cause);
        None
    }

    fn keep(&mut self, gained: &S::Weight) {
        if self.log.is_some() {
            self.gained.push(gained.clone());
        }
    }

    fn changed(&mut self, id: TransId, cause: Cause) {
        if let Some(log) = &mut self.log {
            log.record(id, cause);
        }
        match &mut self.worklist {
            Worklist::Priority(Priorities { heap, count, places, returns }) => {
                // A transition may wait twice, with the better rank first; the second turn is
                // passed over.
                let rank = self.domain.rank(&self.automaton.store.weights[id as usize]);
                let (_, symbol, to) = self.automaton.store.ends(id);
                let place = if symbol == EPSILON {
                    returns.get(to.index())
                } else {
                    places.get(self.automaton.store.trans[id as usize].head as usize)
                };
                let place = place.copied().unwrap_or(0);
                *count += 1;
                heap.push(Reverse((rank, place, *count, id)));
                self.waiting[id as usize] = true;
            }
            _ if self.waiting[id as usize] => {}
            Worklist::Fifo(queue) => {
                queue.push_back(id);
                self.waiting[id as usize] = true;
            }
            Worklist::Lifo(stack) => {
                stack.push(id);
                self.waiting[id as usize] = true;
            }
        }
    }

    /// Takes a transition off the worklist, with the weight that is to be propagated.
    fn take(&mut self) -> Option<(TransId, S::Weight)> {
        let id = loop {
            let id = match &mut self.worklist {
                Worklist::Fifo(queue) => queue.pop_front()?,
                Worklist::Lifo(stack) => stack.pop()?,
                Worklist::Priority(priorities) => priorities.heap.pop()?.0.3,
            };
            if std::mem::replace(&mut self.waiting[id as usize], false) {
                break id;
            }
        };
        let delta = match self.deltas.get_mut(id as usize) {
            Some(delta) => delta.take()?,
            None => self.automaton.store.weights[id as usize].clone(),
        };
        Some((id, delta))
    }

    /// The latest entry of the log for a transition, if there is a log.
    pub fn version(&self, id: TransId) -> u32 {
        self.log.as_ref().map_or(NONE, |log| log.latest(id))
    }

    fn bytes(&self) -> usize {
        self.automaton.store.bytes()
            + self.deltas.capacity() * size_of::<Option<S::Weight>>()
            + self.log.as_ref().map_or(0, Log::bytes)
            + self.gained.capacity() * size_of::<S::Weight>()
    }
}

enum Rules {
    Post(PostRules),
    Pre(PreRules),
}

/// A saturation in progress: one engine for both directions.
///
/// [`post_star`](crate::post_star()) and [`pre_star`](crate::pre_star()) run one from start to end;
/// with this type a caller can stop and go on, or interleave two of them.
pub struct Saturation<'a, S: Semiring, M = Plain> {
    system: &'a System<S::Weight, M>,
    core: Core<'a, S>,
    rules: Rules,
    meter: Meter,
    steps: u64,
}

impl<'a, S: Semiring, M: Merge<S>> Saturation<'a, S, M> {
    /// Prepares a saturation from the configurations that `seed` accepts.
    ///
    /// A `seed` with transitions into control states is [normalised](Automaton::normalised) first.
    ///
    /// # Panics
    /// If `seed` was made for a system with another number of control states or symbols.
    pub fn new(
        direction: Direction,
        domain: &'a S,
        system: &'a System<S::Weight, M>,
        seed: &Automaton<S::Weight>,
        options: &Options,
    ) -> Self {
        assert_eq!(seed.control_count(), system.state_count(), "automaton of another system");
        assert_eq!(seed.symbol_count(), system.symbol_count(), "automaton of another system");
        let normal;
        let seed = if seed.enters_control() {
            normal = seed.normalised();
            &normal
        } else {
            seed
        };
        let reading = match direction {
            Direction::Post => Reading::Backward,
            Direction::Pre => Reading::Forward,
        };
        let store = Store::new(system.state_count(), system.symbol_count(), system.rule_count());
        let mut automaton = Automaton::over(store, system.state_count(), system.symbol_count(), reading);
        for q in (0..seed.state_count() as u32).map(State) {
            if q.index() >= seed.control_count() {
                let copy = automaton.add_state();
                automaton.copy_origin(copy, seed, q);
            }
            if seed.is_final(q) {
                automaton.set_final(q);
            }
        }
        let mut core = Core::new(domain, automaton, options);
        // The heads of left-hand sides get the first numbers: they index the rules.
        let rules = match direction {
            Direction::Post => Rules::Post(PostRules::new(system, &mut core.automaton)),
            Direction::Pre => Rules::Pre(PreRules::new(system, &mut core.automaton)),
        };
        if let Worklist::Priority(priorities) = &mut core.worklist {
            let heads = core.automaton.store.heads.len();
            match &rules {
                Rules::Post(rules) => {
                    (priorities.places, priorities.returns) = program_order(rules, &core.automaton);
                }
                Rules::Pre(rules) => {
                    priorities.places = reverse_postorder(heads, |head, into| rules.successors(head, into));
                }
            }
        }
        let mut saturation = Self { system, core, rules, meter: Meter::new(&options.limits), steps: 0 };
        saturation.seed(seed);
        saturation
    }

    fn seed(&mut self, seed: &Automaton<S::Weight>) {
        for id in 0..seed.store.trans.len() as TransId {
            let (from, symbol, to) = seed.store.ends(id);
            let core = &mut self.core;
            let store = &mut core.automaton.store;
            let (head, weight) = match (seed.store.call(id), seed.callers.get(&id)) {
                (Some(call), Some(caller)) => (store.call_head(from, symbol, call), caller),
                _ => (store.head(from, symbol), &seed.store.weights[id as usize]),
            };
            let new = core.insert(head, to, weight.clone(), Cause::given());
            if let (Rules::Post(rules), Some(id)) = (&mut self.rules, new) {
                rules.note(core, id);
            }
        }
        if let Rules::Pre(rules) = &self.rules {
            rules.pops(self.system, &mut self.core);
        }
    }

    /// Takes one transition off the worklist and adds what it implies; `None` if there was none.
    pub fn step(&mut self) -> Option<Transition> {
        self.advance().map(|id| self.core.automaton.transition(id))
    }

    fn advance(&mut self) -> Option<TransId> {
        let (id, delta) = self.core.take()?;
        self.steps += 1;
        match &mut self.rules {
            Rules::Post(rules) => rules.propagate(self.system, &mut self.core, id, &delta),
            Rules::Pre(rules) => rules.propagate(self.system, &mut self.core, id, &delta),
        }
        Some(id)
    }

    /// Runs until nothing is left to do or a limit is met.
    pub fn run(&mut self) -> StopReason {
        loop {
            if let Err(stop) = self.guarded_step() {
                return stop;
            }
        }
    }

    /// Runs until `goal` accepts a transition that was taken off the worklist, nothing is left to
    /// do, or a limit is met.
    ///
    /// Every transition is taken off at least once, after its weight became non-zero.
    pub fn run_until(
        &mut self,
        mut goal: impl FnMut(&Automaton<S::Weight>, Transition) -> bool,
    ) -> StopReason {
        loop {
            match self.guarded_step() {
                Err(stop) => return stop,
                Ok(id) if goal(&self.core.automaton, self.core.automaton.transition(id)) => {
                    return StopReason::Found;
                }
                Ok(_) => {}
            }
        }
    }

    /// Runs at most `steps` steps; `None` if there is more to do and no limit was met.
    pub fn run_stretch(&mut self, steps: u64) -> Option<StopReason> {
        (0..steps).find_map(|_| self.guarded_step().err())
    }

    fn guarded_step(&mut self) -> Result<TransId, StopReason> {
        if self.core.domain.exhausted() {
            return Err(StopReason::Memory);
        }
        let core = &self.core;
        self.meter.tick(|| core.bytes())?;
        self.advance().ok_or(StopReason::Complete)
    }

    /// The automaton so far. On transitions of calls with merge functions stands the caller's
    /// weight until the run is [finished](Self::finish).
    pub fn automaton(&self) -> &Automaton<S::Weight> {
        &self.core.automaton
    }

    /// How many transitions have been taken off the worklist.
    pub fn steps(&self) -> u64 {
        self.steps
    }

    /// Every instance of a saturation rule, once saturation is complete.
    pub(crate) fn productions(&self, emit: &mut dyn FnMut(Production)) {
        let automaton = &self.core.automaton;
        match &self.rules {
            Rules::Post(rules) => rules.productions(automaton.control, &automaton.store, emit),
            Rules::Pre(rules) => rules.productions(self.system, automaton, emit),
        }
    }

    /// Ends the run, for whatever reason it stopped, and hands out the automaton.
    pub fn finish(mut self, stop: StopReason) -> Saturated<S::Weight> {
        // From here on a call transition shows the weight of the call that has not returned.
        for id in 0..self.core.store().trans.len() as TransId {
            if let Some(call) = self.core.store().call(id) {
                let automaton = &mut self.core.automaton;
                let weight = &mut automaton.store.weights[id as usize];
                let open = self.core.domain.extend(weight, self.system.weight(call));
                let caller = std::mem::replace(weight, open);
                automaton.callers.insert(id, caller);
            }
        }
        let stop = if self.core.domain.exhausted() { StopReason::Memory } else { stop };
        let Core { automaton, log, gained, .. } = self.core;
        Saturated { automaton, stop, steps: self.steps, log, gained }
    }
}

/// Prepares and runs a saturation.
pub(crate) fn saturate<S: Semiring, M: Merge<S>>(
    direction: Direction,
    domain: &S,
    system: &System<S::Weight, M>,
    seed: &Automaton<S::Weight>,
    options: &Options,
) -> Saturated<S::Weight> {
    let mut saturation = Saturation::new(direction, domain, system, seed, options);
    let stop = saturation.run();
    saturation.finish(stop)
}
