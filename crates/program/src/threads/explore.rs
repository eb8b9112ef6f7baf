//! Explicit search through all schedules, by their number of context switches: slow, obvious, and
//! therefore the judge of other engines.
//!
//! A node of the search is a configuration and the thread that runs. A move of that thread costs
//! nothing, a switch to another thread costs one, so that the nodes come in the order of their
//! switches, then of their moves. If every node was visited, the search is complete for every
//! number of switches: one more context would be the same operator on the same set.

use std::collections::BTreeMap;
use std::rc::Rc;

use rustc_hash::{FxHashMap, FxHashSet};

use super::moves::{Moves, SwitchPoints};
use super::schedule::{ThreadStep, ThreadTrace};
use super::starts::{Threads, thread_starts};
use super::{Starting, ThreadedState};
use crate::interpret::{Extent, Interpreter};
use crate::program::{LocationKind, Node, Operation, Program};
use crate::targets::ErrorSite;

/// How far to search.
#[derive(Clone, Debug)]
pub struct ThreadLimits {
    /// How many configurations at most.
    pub configurations: usize,
    /// How many combinations of choices are tried at most for one step.
    pub choices: usize,
    /// How many threads there may be at most, with that of the entry.
    pub threads: usize,
    /// How many frames a stack may have at most.
    pub frames: usize,
    /// How many context switches at most; none is any number.
    pub switches: Option<usize>,
    /// Where threads may be interrupted.
    pub points: SwitchPoints,
}

impl Default for ThreadLimits {
    fn default() -> Self {
        Self {
            configurations: 200_000,
            choices: 1 << 16,
            threads: 8,
            frames: 64,
            switches: None,
            points: SwitchPoints::All,
        }
    }
}

/// How much was seen.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum ThreadCoverage {
    /// Every configuration, for every number of switches.
    Complete,
    /// Every configuration that is reached with so many switches; none if not even those without
    /// a switch.
    Switches(Option<usize>),
}

impl ThreadCoverage {
    /// Whether all schedules with fewer switches than this were searched.
    pub fn covers_below(self, switches: usize) -> bool {
        match self {
            Self::Complete => true,
            Self::Switches(most) => switches == 0 || most.is_some_and(|most| most + 1 >= switches),
        }
    }
}

/// All configurations that were reached, each with the fewest switches that lead to it.
pub struct ThreadExploration<'a> {
    interpreter: Interpreter<'a>,
    limits: ThreadLimits,
    starting: Starting,
    targets: FxHashSet<Node>,
    states: Vec<Rc<ThreadedState>>,
    ids: FxHashMap<Rc<ThreadedState>, u32>,
    /// The fewest switches with which a configuration is reached.
    reached: Vec<u32>,
    visits: Vec<Visit>,
    /// The first visit at each error.
    failures: BTreeMap<Node, u32>,
    coverage: ThreadCoverage,
    stopped: bool,
}

/// A node of the search that was visited.
#[derive(Clone, Copy)]
struct Visit {
    state: u32,
    thread: u32,
    switches: u32,
    parent: Option<u32>,
}

/// A node of the search: the configuration, the thread that runs, and whether the first thread was
/// never left.
type Key = (u32, u32, bool);

/// Nodes to visit, each with the visit that found it, by switches and moves.
type Queue = BTreeMap<(u32, u32), Vec<(Key, Option<u32>)>>;

/// Searches all schedules from the entry, with all initial values. `go_on` is asked now and then,
/// with the number of switches and of configurations, and ends the search by answering no.
pub fn explore_threads<'a>(
    program: &'a Program,
    targets: &[ErrorSite],
    limits: &ThreadLimits,
    mut go_on: impl FnMut(usize, usize) -> bool,
) -> ThreadExploration<'a> {
    with_more_and_more_threads(program, limits, |limits, starting, is_useful| {
        let mut search = ThreadExploration::new(program, targets, limits, starting);
        let too_many = search.run(is_useful, &mut go_on);
        let is_over = !search.failures.is_empty() || search.stopped;
        (search, too_many, is_over)
    })
}

/// A search of all threads or, if there are too many, of two, of three, and so on. `search` gets
/// limits, what becomes of threads that are started, and whether it should go on where there are
/// too many of them; it returns what it found, whether there were too many, and whether this is the
/// end.
pub(super) fn with_more_and_more_threads<S>(
    program: &Program,
    limits: &ThreadLimits,
    mut search: impl FnMut(&ThreadLimits, Starting, bool) -> (S, bool, bool),
) -> S {
    let is_bounded = thread_starts(program).most().is_some_and(|most| most <= limits.threads);
    let (found, too_many, _) = search(limits, Starting::Followed, is_bounded);
    if !too_many || is_bounded {
        return found;
    }
    // With k switches at most k + 1 threads take a step: those that take none are left out.
    let most = limits.threads.min(limits.switches.map_or(usize::MAX, |switches| switches + 1));
    let mut threads = 2;
    loop {
        let switches = Some(limits.switches.map_or(threads - 1, |most| most.min(threads - 1)));
        let limits = ThreadLimits { threads, switches, ..limits.clone() };
        let (found, _, is_over) = search(&limits, Starting::Optional, true);
        if is_over || threads >= most {
            return found;
        }
        threads += 1;
    }
}

impl<'a> ThreadExploration<'a> {
    fn new(program: &'a Program, targets: &[ErrorSite], limits: &ThreadLimits, starting: Starting) -> Self {
        Self {
            interpreter: Interpreter::new(program),
            limits: limits.clone(),
            starting,
            targets: targets.iter().map(|target| target.node).collect(),
            states: Vec::new(),
            ids: FxHashMap::default(),
            reached: Vec::new(),
            visits: Vec::new(),
            failures: BTreeMap::new(),
            coverage: ThreadCoverage::Complete,
            stopped: false,
        }
    }

    /// Searches; whether a thread was not followed because there are too many, which may end the
    /// search.
    fn run(&mut self, is_useful: bool, go_on: &mut dyn FnMut(usize, usize) -> bool) -> bool {
        let program = self.interpreter.program();
        let fixed = match thread_starts(program) {
            Threads::Fixed(count) => Some(count + 1),
            Threads::AtMost(_) | Threads::Unbounded => None,
        };
        let mut queue = Queue::new();
        let mut seen: FxHashSet<Key> = FxHashSet::default();
        // Switches below this were searched completely.
        let mut cut: Option<u32> = None;
        let mut too_many = false;
        let (initial, extent) = self.interpreter.initial_threads(self.limits.choices);
        if extent == Extent::Cut {
            cut = Some(0);
        }
        for state in initial {
            let id = self.add(state, 0);
            queue.entry((0, 0)).or_default().push(((id, 0, true), None));
        }
        let mut looked = 0_usize;
        'search: while let Some(((switches, moves), batch)) = queue.pop_first() {
            if self.limits.switches.is_some_and(|most| switches as usize > most) {
                cut = Some(cut.map_or(switches, |cut| cut.min(switches)));
                break;
            }
            for (key, parent) in batch {
                if !seen.insert(key) {
                    continue;
                }
                looked += 1;
                let is_full = self.states.len() > self.limits.configurations;
                if is_full || looked % 64 == 0 && !go_on(switches as usize, self.states.len()) {
                    self.stopped = true;
                    cut = Some(cut.map_or(switches, |cut| cut.min(switches)));
                    break 'search;
                }
                let (id, thread, is_first) = key;
                let visit = self.visits.len() as u32;
                self.visits.push(Visit { state: id, thread, switches, parent });
                let state = self.states[id as usize].clone();
                let failed = state.node(thread as usize).filter(|node| self.targets.contains(node));
                if let Some(node) = failed {
                    self.failures.entry(node).or_insert(visit);
                }
                // A failed check ends the run, and so does an error inside of an atomic section.
                let is_over = state
                    .node(thread as usize)
                    .is_some_and(|node| program.location(node).kind == LocationKind::Error);
                if is_over || failed.is_some() && state.atomic.is_some() {
                    continue;
                }
                let found = self.ends().of(&state, thread as usize);
                too_many |= found.too_many_threads;
                if too_many && !is_useful {
                    return true;
                }
                if found.extent == Extent::Cut
                    || found.too_many_threads && self.starting == Starting::Followed
                {
                    cut = Some(cut.map_or(switches, |cut| cut.min(switches)));
                }
                for next in found.moves {
                    let end = next.end().clone();
                    let id = self.add(end, switches);
                    let key = (id, thread, is_first);
                    if !seen.contains(&key) {
                        queue.entry((switches, moves + 1)).or_default().push((key, Some(visit)));
                    }
                }
                // That the first thread is left when it has started all others is no switch.
                let is_free = is_first && fixed == Some(state.threads.len());
                let cost = switches + u32::from(!is_free);
                for (other, body) in state.threads.iter().enumerate() {
                    let key = (id, other as u32, false);
                    if other as u32 != thread && !body.has_ended() && !seen.contains(&key) {
                        queue.entry((cost, moves)).or_default().push((key, Some(visit)));
                    }
                }
            }
        }
        if too_many && self.starting == Starting::Optional {
            // Schedules with this many switches may need one thread more.
            let enough = self.limits.threads as u32;
            cut = Some(cut.map_or(enough, |cut| cut.min(enough)));
        }
        if let Some(cut) = cut {
            self.coverage = ThreadCoverage::Switches((cut as usize).checked_sub(1));
        }
        too_many
    }

    /// How threads move, with where each move ends only.
    fn ends(&self) -> Moves<'_> {
        let mut moves = self.moves();
        moves.has_steps = false;
        moves
    }

    fn moves(&self) -> Moves<'_> {
        let mut moves = Moves::new(&self.interpreter, &self.limits.points, &self.targets);
        moves.starting = self.starting;
        moves.choices = self.limits.choices;
        moves.longest = self.limits.configurations;
        moves.frames = self.limits.frames;
        moves.threads = self.limits.threads;
        moves
    }

    fn add(&mut self, state: ThreadedState, switches: u32) -> u32 {
        if let Some(id) = self.ids.get(&state) {
            return *id;
        }
        let id = self.states.len() as u32;
        let state = Rc::new(state);
        self.states.push(state.clone());
        self.ids.insert(state, id);
        self.reached.push(switches);
        id
    }

    /// How much was seen.
    pub fn coverage(&self) -> ThreadCoverage {
        self.coverage
    }

    /// Whether the search was ended from outside, or by the limit of configurations.
    pub fn was_stopped(&self) -> bool {
        self.stopped
    }

    /// How many configurations were seen.
    pub fn configuration_count(&self) -> usize {
        self.states.len()
    }

    /// The most threads that a configuration has.
    pub fn most_threads(&self) -> usize {
        self.states.iter().map(|state| state.threads.len()).max().unwrap_or(0)
    }

    /// The number of switches with which every configuration that was seen is reached.
    pub fn saturated_at(&self) -> usize {
        self.reached.iter().max().map_or(0, |most| *most as usize)
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

    /// All configurations, each with the fewest switches with which it is reached.
    pub fn configurations(&self) -> impl Iterator<Item = (&ThreadedState, usize)> {
        self.states.iter().zip(&self.reached).map(|(state, reached)| (&**state, *reached as usize))
    }

    /// The fewest switches to a configuration in which no thread can move and one has not ended.
    /// Threads that wait inside of something that is not modelled are not told apart.
    pub fn fewest_switches_to_deadlock(&self) -> Option<usize> {
        let moves = self.moves();
        let is_stuck = |state: &ThreadedState| {
            let live = |thread: &usize| !state.threads[*thread].has_ended();
            let mut threads = (0..state.threads.len()).filter(live).peekable();
            let is_error = (0..state.threads.len())
                .any(|thread| state.node(thread).is_some_and(|node| self.targets.contains(&node)));
            threads.peek().is_some()
                && !is_error
                && state.atomic.is_none()
                && threads.all(|thread| moves.of(state, thread).moves.is_empty())
        };
        let states = self.states.iter().zip(&self.reached);
        states.filter(|(state, _)| is_stuck(state)).map(|(_, reached)| *reached as usize).min()
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
        let start = (*self.states[visits.first()?.state as usize]).clone();
        let mut steps = Vec::new();
        let moves = self.moves();
        for pair in visits.windows(2) {
            let [from, to] = [pair[0], pair[1]];
            if from.thread != to.thread {
                continue;
            }
            let (before, after) = (&self.states[from.state as usize], &self.states[to.state as usize]);
            let found = moves.of(before, to.thread as usize);
            let taken = found.moves.into_iter().find(|taken| taken.end() == &**after)?;
            let step = |(edge, state)| ThreadStep { thread: to.thread, edge, state };
            steps.extend(taken.steps.into_iter().map(step));
        }
        Some(ThreadTrace { start, steps })
    }
}

impl ThreadTrace {
    /// The number of context switches, as `docs/threads.md` counts them: the first thread is left
    /// for nothing when it has started all threads of a program that always starts the same ones.
    pub fn switches(&self, program: &Program) -> usize {
        let contexts = self.contexts();
        let all = contexts.len().saturating_sub(1);
        let Threads::Fixed(count) = thread_starts(program) else { return all };
        let first = contexts.first().map_or(0..0, |context| context.steps.clone());
        let is_start =
            |step: &ThreadStep| matches!(program.edge(step.edge).operation, Operation::StartThread(_));
        let started = self.steps[first].iter().filter(|step| is_start(step)).count();
        all.saturating_sub(usize::from(started == count))
    }
}
