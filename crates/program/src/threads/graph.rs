//! The graph of all schedules of a kind, forwards from the start and backwards from what is searched
//! for: mostly a failure.
//!
//! Explicit search (`explore.rs`) keeps one way to each configuration. Questions about all failing
//! schedules need all of them: a step lies on one with at most k switches if it can be reached with
//! i of them and a failure can be reached behind it with k − i.

use std::collections::VecDeque;
use std::rc::Rc;

use rustc_hash::{FxHashMap, FxHashSet};

use super::ThreadedState;
use super::explore::ThreadLimits;
use super::moves::Moves;
use crate::interpret::{Extent, Interpreter};
use crate::program::{EdgeRef, LocationKind, Node, Program};
use crate::targets::ErrorSite;

/// A configuration, the thread that runs, and what else a kind of schedules needs to know.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub(super) struct Key {
    pub(super) state: u32,
    pub(super) thread: u32,
    pub(super) tag: u32,
}

/// Steps of one thread, or a switch if there are none.
pub(super) struct Link {
    pub(super) from: u32,
    pub(super) to: u32,
    /// How many switches it counts for.
    pub(super) cost: u32,
    pub(super) steps: Vec<EdgeRef>,
}

/// A kind of schedules.
pub(super) trait Schedules {
    /// What is known at the start.
    fn start(&self) -> u32;

    /// What is known after a move.
    fn moved(&self, tag: u32) -> u32;

    /// The threads that may run next, with what is known then, and whether that is a switch.
    fn others(&self, state: &ThreadedState, key: Key) -> Vec<(u32, u32, u32)>;

    /// Whether this is what is searched for; `failed` says whether the thread that runs has failed
    /// a check.
    fn is_goal(&self, state: &ThreadedState, tag: u32, failed: bool) -> bool;
}

/// All schedules of a kind.
pub(super) struct Graph {
    pub(super) states: Vec<Rc<ThreadedState>>,
    pub(super) keys: Vec<Key>,
    pub(super) links: Vec<Link>,
    /// The fewest switches from the start.
    pub(super) before: Vec<u32>,
    /// The fewest switches to what is searched for; none if it cannot be reached.
    pub(super) behind: Vec<Option<u32>>,
    /// Whether all schedules are here, up to the limit of switches.
    pub(super) is_complete: bool,
}

impl Graph {
    pub(super) fn new(
        program: &Program,
        targets: &[ErrorSite],
        limits: &ThreadLimits,
        kind: &impl Schedules,
        go_on: &mut dyn FnMut() -> bool,
    ) -> Self {
        let interpreter = Interpreter::new(program);
        let targets: FxHashSet<Node> = targets.iter().map(|target| target.node).collect();
        let mut moves = Moves::new(&interpreter, &limits.points, &targets);
        moves.choices = limits.choices;
        moves.longest = limits.configurations;
        moves.frames = limits.frames;
        moves.threads = limits.threads;
        let mut graph = Self {
            states: Vec::new(),
            keys: Vec::new(),
            links: Vec::new(),
            before: Vec::new(),
            behind: Vec::new(),
            is_complete: true,
        };
        let mut ids: FxHashMap<Rc<ThreadedState>, u32> = FxHashMap::default();
        let mut known: FxHashMap<Key, u32> = FxHashMap::default();
        let mut queue: VecDeque<u32> = VecDeque::new();
        let mut failing = Vec::new();
        let (initial, extent) = interpreter.initial_threads(limits.choices);
        graph.is_complete &= extent == Extent::All;
        for state in initial {
            let state = graph.state(state, &mut ids);
            let key = Key { state, thread: 0, tag: kind.start() };
            if let (node, true) = graph.node(key, 0, &mut known) {
                queue.push_back(node);
            }
        }
        let mut done = vec![false; queue.len()];
        let mut looked = 0_usize;
        while let Some(node) = queue.pop_front() {
            if std::mem::replace(&mut done[node as usize], true) {
                continue;
            }
            looked += 1;
            if graph.states.len() > limits.configurations || looked % 64 == 0 && !go_on() {
                graph.is_complete = false;
                break;
            }
            let (key, switches) = (graph.keys[node as usize], graph.before[node as usize]);
            let state = graph.states[key.state as usize].clone();
            let here = state.node(key.thread as usize);
            let failed = here.is_some_and(|node| targets.contains(&node));
            if kind.is_goal(&state, key.tag, failed) {
                failing.push(node);
            }
            let is_over = here.is_some_and(|node| program.location(node).kind == LocationKind::Error);
            if is_over || failed && state.atomic.is_some() {
                continue;
            }
            let found = moves.of(&state, key.thread as usize);
            graph.is_complete &= found.extent == Extent::All && !found.too_many_threads;
            for next in found.moves {
                let id = graph.state(next.end().clone(), &mut ids);
                let to = Key { state: id, tag: kind.moved(key.tag), ..key };
                let (to, is_new) = graph.node(to, switches, &mut known);
                if is_new || graph.before[to as usize] > switches {
                    graph.before[to as usize] = switches;
                    done.resize(graph.keys.len(), false);
                    queue.push_front(to);
                }
                let steps = next.steps.into_iter().map(|(edge, _)| edge).collect();
                graph.links.push(Link { from: node, to, cost: 0, steps });
            }
            for (thread, tag, cost) in kind.others(&state, key) {
                let total = switches + cost;
                if limits.switches.is_some_and(|most| total as usize > most) {
                    continue;
                }
                let (to, is_new) = graph.node(Key { state: key.state, thread, tag }, total, &mut known);
                if is_new || graph.before[to as usize] > total {
                    graph.before[to as usize] = total;
                    done.resize(graph.keys.len(), false);
                    match cost {
                        0 => queue.push_front(to),
                        _ => queue.push_back(to),
                    }
                }
                graph.links.push(Link { from: node, to, cost, steps: Vec::new() });
            }
        }
        graph.backwards(&failing);
        graph
    }

    fn state(&mut self, state: ThreadedState, ids: &mut FxHashMap<Rc<ThreadedState>, u32>) -> u32 {
        if let Some(id) = ids.get(&state) {
            return *id;
        }
        let id = self.states.len() as u32;
        let state = Rc::new(state);
        self.states.push(state.clone());
        ids.insert(state, id);
        id
    }

    fn node(&mut self, key: Key, switches: u32, known: &mut FxHashMap<Key, u32>) -> (u32, bool) {
        if let Some(node) = known.get(&key) {
            return (*node, false);
        }
        let node = self.keys.len() as u32;
        self.keys.push(key);
        self.before.push(switches);
        known.insert(key, node);
        (node, true)
    }

    /// The fewest switches to what is searched for, by a search backwards.
    fn backwards(&mut self, failing: &[u32]) {
        let mut into: Vec<Vec<u32>> = vec![Vec::new(); self.keys.len()];
        for (at, link) in self.links.iter().enumerate() {
            into[link.to as usize].push(at as u32);
        }
        self.behind = vec![None; self.keys.len()];
        let mut queue: VecDeque<(u32, u32)> = failing.iter().map(|node| (*node, 0)).collect();
        while let Some((node, switches)) = queue.pop_front() {
            if self.behind[node as usize].is_some_and(|known| known <= switches) {
                continue;
            }
            self.behind[node as usize] = Some(switches);
            for at in &into[node as usize] {
                let link = &self.links[*at as usize];
                let total = switches + link.cost;
                if self.behind[link.from as usize].is_none_or(|known| known > total) {
                    match link.cost {
                        0 => queue.push_front((link.from, total)),
                        _ => queue.push_back((link.from, total)),
                    }
                }
            }
        }
    }

    /// The fewest switches of a failing schedule through a link; none if there is none.
    pub(super) fn through(&self, link: &Link) -> Option<u32> {
        Some(self.before[link.from as usize] + link.cost + self.behind[link.to as usize]?)
    }

    /// The configuration that a link leaves.
    pub(super) fn left(&self, link: &Link) -> &ThreadedState {
        &self.states[self.keys[link.from as usize].state as usize]
    }
}
