//! All schedules, with configurations told apart up to the names of threads: the fast search.
//!
//! No step reads the number of the thread that takes it, so that two configurations that differ in
//! the order of their threads only have the same futures, at the same numbers of switches. And a
//! step depends on the shared store and on the state of its own thread alone. So a configuration is
//! the number of a store, the number of a thread state for the thread that runs, and the multiset
//! of the others' numbers; the moves of a thread are computed once for each pair of a store and a
//! thread state. Local variables that are not read any more count as zero.
//!
//! `explore.rs` searches the same without either: tests compare the two, configuration by
//! configuration. Nodes are visited in the same order, by switches, then by moves.

use std::collections::{BTreeMap, BTreeSet};
use std::hash::Hash;
use std::rc::Rc;

use rustc_hash::{FxHashMap, FxHashSet};

use super::dead::Liveness;
use super::explore::{ThreadCoverage, ThreadLimits, with_more_and_more_threads};
use super::moves::Moves;
use super::schedule::{ThreadStep, ThreadTrace};
use super::starts::{Threads, thread_starts};
use super::{Starting, Thread, ThreadedState};
use crate::interpret::{Extent, Interpreter};
use crate::program::{LocationKind, Node, Program};
use crate::targets::ErrorSite;

/// Searches all schedules from the entry, with all initial values. `go_on` is asked now and then,
/// with the number of switches and of configurations, and ends the search by answering no.
pub fn search_schedules<'a>(
    program: &'a Program,
    targets: &[ErrorSite],
    limits: &ThreadLimits,
    mut go_on: impl FnMut(usize, usize) -> bool,
) -> ScheduleSet<'a> {
    with_more_and_more_threads(program, limits, |limits, starting, is_useful| {
        let mut search = ScheduleSet::new(program, targets, limits, starting);
        let too_many = search.run(is_useful, &mut go_on);
        let is_blind = !search.waiting.is_empty() && !search.sees_deadlocks();
        let is_over = !search.failures.is_empty() || search.stopped || is_blind;
        (search, too_many, is_over)
    })
}

/// What all threads see.
#[derive(Clone, Debug, PartialEq, Eq, Hash)]
struct SharedStore {
    globals: Vec<u64>,
    memory: BTreeMap<(u32, u64), u64>,
    open: BTreeSet<(u32, u64)>,
    /// The thread that runs is inside an atomic section: a check failed there.
    is_atomic: bool,
}

/// Values with numbers.
struct Numbered<T> {
    values: Vec<Rc<T>>,
    numbers: FxHashMap<Rc<T>, u32>,
}

impl<T: Eq + Hash> Numbered<T> {
    fn new() -> Self {
        Self { values: Vec::new(), numbers: FxHashMap::default() }
    }

    fn number(&mut self, value: T) -> u32 {
        if let Some(number) = self.numbers.get(&value) {
            return *number;
        }
        let number = self.values.len() as u32;
        let value = Rc::new(value);
        self.values.push(value.clone());
        self.numbers.insert(value, number);
        number
    }

    fn get(&self, number: u32) -> &Rc<T> {
        &self.values[number as usize]
    }
}

/// A configuration up to the names of threads, with the thread that runs.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
struct Key {
    store: u32,
    running: u32,
    /// The other threads: a multiset of thread states.
    others: u32,
    /// Whether the first thread was never left.
    is_first: bool,
}

/// A node that was visited.
#[derive(Clone, Copy)]
struct Visit {
    key: Key,
    switches: u32,
    parent: Option<u32>,
    is_switch: bool,
}

/// A node to visit, and how it was found.
type Found = (Key, Option<u32>, bool);

/// The moves of a thread state on a store.
struct ThreadMoves {
    ends: Vec<End>,
    is_cut: bool,
    too_many_threads: bool,
}

/// Where a move ends.
struct End {
    store: u32,
    thread: u32,
    started: Box<[u32]>,
}

/// The thread states of a multiset that have not ended, each with the multiset of the others.
type Choices = Rc<[(u32, u32)]>;

/// What is known about a thread state.
#[derive(Clone, Copy)]
struct Standing {
    /// The check that it has failed.
    failed: Option<Node>,
    /// It stands at an error, so that the run is over.
    is_over: bool,
    has_ended: bool,
}

/// The configurations that schedules reach, up to the names of threads.
pub struct ScheduleSet<'a> {
    interpreter: Interpreter<'a>,
    liveness: Liveness,
    limits: ThreadLimits,
    starting: Starting,
    targets: FxHashSet<Node>,
    /// Places where it is a failure that a thread waits and no thread can move.
    waiting: FxHashSet<Node>,
    stores: Numbered<SharedStore>,
    threads: Numbered<Thread>,
    standing: Vec<Standing>,
    multisets: Numbered<Vec<u32>>,
    moves: FxHashMap<(u32, u32), Rc<ThreadMoves>>,
    /// The multiset of all threads, for that of the others and the thread that runs.
    all: FxHashMap<(u32, u32), u32>,
    choices: FxHashMap<u32, Choices>,
    /// Stores with multisets of all threads.
    configurations: FxHashSet<(u32, u32)>,
    visits: Vec<Visit>,
    /// The first visit at each error.
    failures: BTreeMap<Node, u32>,
    coverage: ThreadCoverage,
    stopped: bool,
    saturated_at: u32,
    most_threads: usize,
}

impl<'a> ScheduleSet<'a> {
    fn new(program: &'a Program, targets: &[ErrorSite], limits: &ThreadLimits, starting: Starting) -> Self {
        let (waiting, reached): (Vec<&ErrorSite>, Vec<&ErrorSite>) =
            targets.iter().partition(|target| target.is_waiting_place(program));
        Self {
            interpreter: Interpreter::new(program),
            liveness: Liveness::new(program),
            limits: limits.clone(),
            starting,
            targets: reached.into_iter().map(|target| target.node).collect(),
            waiting: waiting.into_iter().map(|target| target.node).collect(),
            stores: Numbered::new(),
            threads: Numbered::new(),
            standing: Vec::new(),
            multisets: Numbered::new(),
            moves: FxHashMap::default(),
            all: FxHashMap::default(),
            choices: FxHashMap::default(),
            configurations: FxHashSet::default(),
            visits: Vec::new(),
            failures: BTreeMap::new(),
            coverage: ThreadCoverage::Complete,
            stopped: false,
            saturated_at: 0,
            most_threads: 0,
        }
    }

    /// Searches; whether a thread was not followed because there are too many, which may end the
    /// search.
    fn run(&mut self, is_useful: bool, go_on: &mut dyn FnMut(usize, usize) -> bool) -> bool {
        let fixed = match thread_starts(self.interpreter.program()) {
            Threads::Fixed(count) => Some(count),
            Threads::AtMost(_) | Threads::Unbounded => None,
        };
        let mut queue: BTreeMap<(u32, u32), Vec<Found>> = BTreeMap::new();
        let mut seen: FxHashSet<Key> = FxHashSet::default();
        // Configurations that a thread was left at.
        let mut left: FxHashSet<(u32, u32)> = FxHashSet::default();
        // Switches below this were searched completely.
        let mut cut: Option<u32> = None;
        let cut_at = |cut: Option<u32>, at: u32| Some(cut.map_or(at, |cut| cut.min(at)));
        let mut too_many = false;
        let (initial, extent) = self.interpreter.initial_threads(self.limits.choices);
        if extent == Extent::Cut {
            cut = Some(0);
        }
        let nobody = self.multisets.number(Vec::new());
        for state in initial {
            let (store, running, _) = self.parts(state);
            let key = Key { store, running, others: nobody, is_first: true };
            self.reached(&key, 0);
            queue.entry((0, 0)).or_default().push((key, None, false));
        }
        let mut looked = 0_usize;
        'search: while let Some(((switches, moves), batch)) = queue.pop_first() {
            if self.limits.switches.is_some_and(|most| switches as usize > most) {
                cut = cut_at(cut, switches);
                break;
            }
            for (key, parent, is_switch) in batch {
                if !seen.insert(key) {
                    continue;
                }
                looked += 1;
                let count = self.configurations.len();
                let is_full = count > self.limits.configurations;
                if is_full || looked % 64 == 0 && !go_on(switches as usize, count) {
                    self.stopped = true;
                    cut = cut_at(cut, switches);
                    break 'search;
                }
                let visit = self.visits.len() as u32;
                self.visits.push(Visit { key, switches, parent, is_switch });
                let standing = self.standing[key.running as usize];
                if let Some(node) = standing.failed {
                    self.failures.entry(node).or_insert(visit);
                }
                // A failed check ends the run, and so does an error inside of an atomic section.
                let is_atomic = self.stores.get(key.store).is_atomic;
                if standing.is_over || standing.failed.is_some() && is_atomic {
                    continue;
                }
                let found = self.moves(key.store, key.running);
                let is_stuck = found.ends.is_empty() && !found.is_cut && !found.too_many_threads;
                if self.sees_deadlocks() && is_stuck {
                    self.note_deadlock(&key, visit);
                }
                if self.failures.len() == self.targets.len() + self.waiting.len() && !self.failures.is_empty()
                {
                    // There is nothing left to find.
                    cut = cut_at(cut, switches);
                    break 'search;
                }
                too_many |= found.too_many_threads;
                let mut is_cut = found.is_cut;
                let mut followed = Vec::with_capacity(found.ends.len());
                for end in &found.ends {
                    match self.with(key.others, &end.started) {
                        Some(others) => {
                            followed.push(Key { store: end.store, running: end.thread, others, ..key })
                        }
                        None => too_many = true,
                    }
                }
                if too_many && !is_useful {
                    return true;
                }
                is_cut |= too_many && self.starting == Starting::Followed;
                if is_cut {
                    cut = cut_at(cut, switches);
                }
                for next in followed {
                    if !seen.contains(&next) {
                        self.reached(&next, switches);
                        queue.entry((switches, moves + 1)).or_default().push((next, Some(visit), false));
                    }
                }
                let all = self.all(key.others, key.running);
                // The first visit of a configuration has queued its other threads, with no more
                // switches.
                if !key.is_first && !left.insert((key.store, all)) {
                    continue;
                }
                // That the first thread is left when it has started all others is no switch.
                let is_free = key.is_first && fixed == Some(self.multisets.get(key.others).len());
                let cost = switches + u32::from(!is_free);
                for (running, others) in &*self.choices(all) {
                    let next = Key { running: *running, others: *others, is_first: false, ..key };
                    // The thread that runs is not left for itself.
                    if *running == key.running {
                        continue;
                    }
                    if !seen.contains(&next) {
                        queue.entry((cost, moves)).or_default().push((next, Some(visit), true));
                    }
                }
            }
        }
        if too_many && self.starting == Starting::Optional {
            // Schedules with this many switches may need one thread more.
            cut = cut_at(cut, self.limits.threads as u32);
        }
        if !self.waiting.is_empty() && !self.sees_deadlocks() {
            cut = Some(0);
        }
        if let Some(cut) = cut {
            self.coverage = ThreadCoverage::Switches((cut as usize).checked_sub(1));
        }
        too_many
    }

    /// Whether deadlocks can be told: a thread that is left out might move.
    fn sees_deadlocks(&self) -> bool {
        !self.waiting.is_empty() && self.starting == Starting::Followed
    }

    /// Notes a failure if no thread can move: the one that runs cannot.
    fn note_deadlock(&mut self, key: &Key, visit: u32) {
        let others = self.multisets.get(key.others).clone();
        let live = |search: &Self, thread: u32| !search.standing[thread as usize].has_ended;
        for thread in &*others {
            if !live(self, *thread) {
                continue;
            }
            let found = self.moves(key.store, *thread);
            if !found.ends.is_empty() || found.is_cut || found.too_many_threads {
                return;
            }
        }
        for thread in others.iter().chain([&key.running]) {
            let node = self.threads.get(*thread).node();
            if let Some(node) = node.filter(|node| self.waiting.contains(node)) {
                self.failures.entry(node).or_insert(visit);
            }
        }
    }

    /// Notes a configuration.
    fn reached(&mut self, key: &Key, switches: u32) {
        let all = self.all(key.others, key.running);
        if self.configurations.insert((key.store, all)) {
            self.saturated_at = self.saturated_at.max(switches);
            self.most_threads = self.most_threads.max(self.multisets.get(all).len());
        }
    }

    /// The number of the store and of each thread: that of the first one, and those of the others.
    fn parts(&mut self, state: ThreadedState) -> (u32, u32, Box<[u32]>) {
        let ThreadedState { globals, memory, open, threads, atomic } = state;
        let store = SharedStore { globals, memory, open, is_atomic: atomic.is_some() };
        let store = self.stores.number(store);
        let mut threads = threads.into_iter().map(|thread| self.thread(thread));
        let first = threads.next().expect("a configuration has a thread");
        let others = threads.collect();
        (store, first, others)
    }

    fn thread(&mut self, mut thread: Thread) -> u32 {
        self.liveness.forget_dead(self.interpreter.program(), &mut thread);
        let number = self.threads.number(thread);
        if number as usize == self.standing.len() {
            let thread = self.threads.get(number);
            let node = thread.node();
            let program = self.interpreter.program();
            self.standing.push(Standing {
                failed: node.filter(|node| self.targets.contains(node)),
                is_over: node.is_some_and(|node| program.location(node).kind == LocationKind::Error),
                has_ended: thread.has_ended(),
            });
        }
        number
    }

    /// The moves of a thread state on a store.
    fn moves(&mut self, store: u32, thread: u32) -> Rc<ThreadMoves> {
        if let Some(known) = self.moves.get(&(store, thread)) {
            return known.clone();
        }
        let shared = (**self.stores.get(store)).clone();
        let alone = ThreadedState {
            globals: shared.globals,
            memory: shared.memory,
            open: shared.open,
            threads: vec![(**self.threads.get(thread)).clone()],
            atomic: shared.is_atomic.then_some(0),
        };
        let mut moves = configured(&self.interpreter, &self.limits, &self.targets, self.starting);
        moves.has_steps = false;
        let found = moves.of(&alone, 0);
        let ends = found.moves.into_iter().filter_map(|mut taken| taken.steps.pop());
        let states: Vec<ThreadedState> = ends.map(|(_, state)| state).collect();
        let mut ends = Vec::with_capacity(states.len());
        for state in states {
            let (store, thread, started) = self.parts(state);
            ends.push(End { store, thread, started });
        }
        let is_cut = found.extent == Extent::Cut;
        let moves = Rc::new(ThreadMoves { ends, is_cut, too_many_threads: found.too_many_threads });
        self.moves.insert((store, thread), moves.clone());
        moves
    }

    /// The multiset with more threads; none if they are too many.
    fn with(&mut self, others: u32, started: &[u32]) -> Option<u32> {
        if started.is_empty() {
            return Some(others);
        }
        let mut all = (**self.multisets.get(others)).clone();
        if all.len() + started.len() >= self.limits.threads {
            return None;
        }
        all.extend(started);
        all.sort_unstable();
        Some(self.multisets.number(all))
    }

    /// The multiset of all threads.
    fn all(&mut self, others: u32, running: u32) -> u32 {
        if let Some(known) = self.all.get(&(others, running)) {
            return *known;
        }
        let mut all = (**self.multisets.get(others)).clone();
        all.insert(all.partition_point(|member| *member < running), running);
        let all = self.multisets.number(all);
        self.all.insert((others, running), all);
        all
    }

    /// The threads of a multiset that may run.
    fn choices(&mut self, all: u32) -> Choices {
        if let Some(known) = self.choices.get(&all) {
            return known.clone();
        }
        let members = self.multisets.get(all).clone();
        let mut choices: Vec<(u32, u32)> = Vec::new();
        for (at, member) in members.iter().enumerate() {
            let is_known = choices.last().is_some_and(|(last, _)| last == member);
            if is_known || self.standing[*member as usize].has_ended {
                continue;
            }
            let mut others = (*members).clone();
            others.remove(at);
            choices.push((*member, self.multisets.number(others)));
        }
        let choices: Choices = choices.into();
        self.choices.insert(all, choices.clone());
        choices
    }

    /// How much was seen.
    pub fn coverage(&self) -> ThreadCoverage {
        self.coverage
    }

    /// Whether the search was ended from outside, or by the limit of configurations.
    pub fn was_stopped(&self) -> bool {
        self.stopped
    }

    /// How many configurations were seen, up to the names of threads.
    pub fn configuration_count(&self) -> usize {
        self.configurations.len()
    }

    /// The most threads that a configuration has.
    pub fn most_threads(&self) -> usize {
        self.most_threads
    }

    /// The number of switches with which every configuration that was seen is reached.
    pub fn saturated_at(&self) -> usize {
        self.saturated_at as usize
    }

    /// The fewest switches with which an error is reached: one of those that the search was given.
    /// It is the least number if the search is complete for all smaller ones.
    pub fn fewest_switches(&self, node: Node) -> Option<usize> {
        self.failures.get(&node).map(|visit| self.visits[*visit as usize].switches as usize)
    }

    /// Whether all schedules with fewer switches than this were searched.
    pub fn covers_below(&self, switches: usize) -> bool {
        self.coverage.covers_below(switches)
    }

    /// A run to an error with the fewest switches, and of these one with the fewest moves.
    pub fn failing_run(&self, node: Node) -> Option<ThreadTrace> {
        let mut visits = Vec::new();
        let mut at = Some(*self.failures.get(&node)?);
        while let Some(visit) = at {
            visits.push(self.visits[visit as usize]);
            at = self.visits[visit as usize].parent;
        }
        visits.reverse();
        let first = visits.first()?.key;
        let (initial, _) = self.interpreter.initial_threads(self.limits.choices);
        let start = initial.into_iter().find(|state| self.is(state, 0, &first))?;
        let mut state = start.clone();
        let mut running = 0;
        let mut steps = Vec::new();
        let moves = configured(&self.interpreter, &self.limits, &self.targets, self.starting);
        for visit in &visits[1..] {
            let Key { running: wanted, .. } = visit.key;
            if visit.is_switch {
                running = (0..state.threads.len()).find(|thread| {
                    *thread != running && self.known(&state.threads[*thread]) == Some(wanted)
                })?;
                continue;
            }
            let found = moves.of(&state, running);
            let taken = found.moves.into_iter().find(|taken| self.is(taken.end(), running, &visit.key))?;
            state = taken.end().clone();
            let thread = running as u32;
            steps.extend(taken.steps.into_iter().map(|(edge, state)| ThreadStep { thread, edge, state }));
        }
        Some(ThreadTrace { start, steps })
    }

    /// The number of a thread state, if it was seen.
    fn known(&self, thread: &Thread) -> Option<u32> {
        let mut thread = thread.clone();
        self.liveness.forget_dead(self.interpreter.program(), &mut thread);
        self.threads.numbers.get(&thread).copied()
    }

    /// Whether a configuration, with a thread that runs, is the one with a key.
    fn is(&self, state: &ThreadedState, running: usize, key: &Key) -> bool {
        let shared = self.stores.get(key.store);
        let is_store = state.globals == shared.globals
            && state.memory == shared.memory
            && state.open == shared.open
            && state.atomic.is_some() == shared.is_atomic;
        if !is_store || self.known(&state.threads[running]) != Some(key.running) {
            return false;
        }
        let others = state.threads.iter().enumerate().filter(|(thread, _)| *thread != running);
        let numbers: Option<Vec<u32>> = others.map(|(_, thread)| self.known(thread)).collect();
        numbers.is_some_and(|mut numbers| {
            numbers.sort_unstable();
            numbers == **self.multisets.get(key.others)
        })
    }
}

/// How threads move within limits.
fn configured<'a>(
    interpreter: &'a Interpreter<'a>,
    limits: &'a ThreadLimits,
    targets: &'a FxHashSet<Node>,
    starting: Starting,
) -> Moves<'a> {
    let mut moves = Moves::new(interpreter, &limits.points, targets);
    moves.starting = starting;
    moves.choices = limits.choices;
    moves.longest = limits.configurations;
    moves.frames = limits.frames;
    moves.threads = limits.threads;
    moves
}
