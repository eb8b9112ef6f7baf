//! The transition-dependence graph: which transition follows from which, cut into intragraphs.
//!
//! \[Lal09\] Def. 4.1.1 and §4.1.2. Nodes are the transitions of a saturated automaton; an edge
//! says that the weight of its source, extended by its label, is part of the weight of its target.
//! Where two transitions are needed (a call), the callee's is an *out-node*: it labels the edge,
//! and the graph falls apart into *intragraphs*, roughly one a procedure.
//!
//! The graph is found by saturation without weights, which costs little next to weights that are
//! worth this machinery. Nodes have numbers that survive changes of the system, so that an
//! intragraph that did not change is recognised.

use rustc_hash::FxHashMap;

use crate::automaton::Automaton;
use crate::limits::{Limits, StopReason};
use crate::names::{RuleId, State, Symbol};
use crate::reachability::Reachability;
use crate::saturation::{Direction, Options, Order, Recording, Saturation};
use crate::store::{NONE, TransId};
use crate::system::System;

/// One instance of a saturation rule: `target` has at least the weight of `source` extended by
/// `label`.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Production {
    pub target: TransId,
    /// `None`: the label is a weight of its own.
    pub source: Option<TransId>,
    pub label: Label<TransId>,
}

/// What an edge does; `Node` names the callee's transition.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, PartialOrd, Ord)]
pub(crate) enum Label<Node> {
    /// Weight one: the empty path into a callee.
    Empty,
    /// The weight on a transition of the seed.
    Seed(TransId),
    /// The weight of a rule.
    Rule(RuleId),
    /// post\*: a call with a merge function was made; the caller's weight is kept as it is.
    Called(RuleId),
    /// post\*: a callee returned, to a call with a merge function or to a plain one.
    Returned { call: Option<RuleId>, callee: Node },
    /// pre\*: a call, whose callee's part is the out-node; it may have returned, or contain the
    /// rest of the path.
    Call { rule: RuleId, callee: Node, returned: bool },
}

impl<Node: Copy> Label<Node> {
    /// The out-node.
    pub fn out_node(&self) -> Option<Node> {
        match *self {
            Self::Returned { callee, .. } | Self::Call { callee, .. } => Some(callee),
            Self::Empty | Self::Seed(_) | Self::Rule(_) | Self::Called(_) => None,
        }
    }

    fn map<Other>(self, mut node: impl FnMut(Node) -> Other) -> Label<Other> {
        match self {
            Self::Empty => Label::Empty,
            Self::Seed(id) => Label::Seed(id),
            Self::Rule(rule) => Label::Rule(rule),
            Self::Called(rule) => Label::Called(rule),
            Self::Returned { call, callee } => Label::Returned { call, callee: node(callee) },
            Self::Call { rule, callee, returned } => Label::Call { rule, callee: node(callee), returned },
        }
    }
}

/// A node by what it is, not by the order of insertion: numbers of states below calls change with
/// the rules.
type NodeKey = ((u8, u32, u32), u32, (u8, u32, u32), u32);

/// Numbers of nodes that stay the same when the system changes.
#[derive(Clone, Debug, Default)]
pub(crate) struct Nodes {
    numbers: FxHashMap<NodeKey, u32>,
}

impl Nodes {
    pub fn len(&self) -> usize {
        self.numbers.len()
    }

    fn number(&mut self, automaton: &Automaton<bool>, id: TransId) -> u32 {
        let state = |q: State| match automaton.entry_of(q) {
            _ if q.index() < automaton.control_count() => (0, q.0, 0),
            Some((p, Symbol(s))) => (2, p.0, s),
            None => (1, q.0, 0),
        };
        let (from, symbol, to) = automaton.store.ends(id);
        let call = automaton.store.call(id).map_or(NONE, |rule| rule.0);
        let key = (state(from), symbol.0, state(to), call);
        let next = self.numbers.len() as u32;
        *self.numbers.entry(key).or_insert(next)
    }
}

/// An edge between nodes; without a source it comes from the root of its intragraph.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub(crate) struct DependenceEdge {
    pub target: u32,
    pub source: Option<u32>,
    pub label: Label<u32>,
}

/// The dependence graph of one saturation problem, cut into intragraphs.
pub(crate) struct Dependence {
    /// The transitions, without weights.
    pub skeleton: Automaton<bool>,
    /// The node of each transition.
    pub node_of: Vec<u32>,
    /// The edges of each intragraph, in order.
    pub intragraphs: Vec<Vec<DependenceEdge>>,
}

impl Dependence {
    /// Finds the graph; `Err` if a limit was met.
    pub fn new<W: Clone, M>(
        direction: Direction,
        system: &System<W, M>,
        seed: &Automaton<W>,
        nodes: &mut Nodes,
        limits: &Limits,
    ) -> Result<Self, StopReason> {
        let skeleton = system.skeleton();
        let plain_seed = seed.map_weights(|_| true);
        let options = Options { order: Order::Lifo, recording: Recording::Off, limits: limits.clone() };
        let mut saturation = Saturation::new(direction, &Reachability, &skeleton, &plain_seed, &options);
        let stop = saturation.run();
        if !stop.is_complete() {
            return Err(stop);
        }
        let mut productions = Vec::new();
        saturation.productions(&mut |production| productions.push(production));
        let automaton = saturation.finish(stop).automaton;
        for id in 0..seed.store.trans.len() as TransId {
            let (from, symbol, to) = seed.store.ends(id);
            let head = match seed.store.call(id) {
                Some(call) => automaton
                    .store
                    .variants(from, symbol)
                    .find(|h| automaton.store.heads[*h as usize].call == call.0),
                None => automaton.store.find_head(from, symbol),
            };
            let target = head.and_then(|head| automaton.store.find(head, to));
            let target = target.expect("saturation keeps the seed");
            productions.push(Production { target, source: None, label: Label::Seed(id) });
        }
        let count = automaton.store.trans.len();
        let node_of: Vec<u32> = (0..count as TransId).map(|id| nodes.number(&automaton, id)).collect();
        let mut union = Union::new(count);
        for production in &productions {
            if let Some(source) = production.source {
                union.join(source, production.target);
            }
        }
        let mut number = vec![NONE; count];
        let mut intragraphs: Vec<Vec<DependenceEdge>> = Vec::new();
        for Production { target, source, label } in productions {
            let root = union.find(target) as usize;
            if number[root] == NONE {
                number[root] = intragraphs.len() as u32;
                intragraphs.push(Vec::new());
            }
            let node = |id: TransId| node_of[id as usize];
            intragraphs[number[root] as usize].push(DependenceEdge {
                target: node(target),
                source: source.map(node),
                label: label.map(node),
            });
        }
        for edges in &mut intragraphs {
            edges.sort_unstable();
            edges.dedup();
        }
        Ok(Self { skeleton: automaton, node_of, intragraphs })
    }
}

/// Union-find with path halving.
struct Union {
    parent: Vec<u32>,
}

impl Union {
    fn new(count: usize) -> Self {
        Self { parent: (0..count as u32).collect() }
    }

    fn find(&mut self, mut at: u32) -> u32 {
        while self.parent[at as usize] != at {
            let up = self.parent[self.parent[at as usize] as usize];
            self.parent[at as usize] = up;
            at = up;
        }
        at
    }

    fn join(&mut self, a: u32, b: u32) {
        let (a, b) = (self.find(a), self.find(b));
        self.parent[a.max(b) as usize] = a.min(b);
    }
}
