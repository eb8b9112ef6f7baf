//! The abstract program as a graph: which truth values are reached, which lead on to a failure, and
//! in how many blocks.
//!
//! \[Lal09\] chapter 5: a node is inside the error projection if post\* of the start and pre\* of
//! the errors meet there. The calls are inlined, so every rule is a swap rule, a configuration is a
//! node with truth values, and both saturations are plain fixpoints of sets. They are computed
//! breadth first, so that each set is known by its distance: a shortest run *through* a node is
//! then read off, backwards to the start and forwards to the failure. That is why this is not done
//! by `pushdown`, whose witnesses of two saturations would have to be joined.

use std::collections::BTreeMap;

use wherefore_domains::bdd::{BddRelations, Predicate, Store};
use wherefore_pushdown::{Relational, Rhs, Semiring, StopReason};
use wherefore_smt::Budget;

use super::blocks::NodeId;
use super::{Abstract, stop};

/// A block as a step of the abstract program.
struct Arrow {
    from: NodeId,
    to: NodeId,
    block: usize,
    weight: Predicate,
}

/// The abstract program as a graph over the nodes.
pub(super) struct Graph<'d> {
    d: &'d BddRelations,
    /// All bits are 0.
    nothing: Predicate,
    arrows: Vec<Arrow>,
    /// For each node, the arrows that leave it and those that end there.
    out: Vec<Vec<usize>>,
    into: Vec<Vec<usize>>,
    /// The truth values at the start.
    start: (NodeId, Predicate),
}

/// Sets of truth values at the nodes, by their distance from where a fixpoint began.
#[derive(Clone)]
pub(super) struct Layers {
    all: Vec<Predicate>,
    by_distance: Vec<BTreeMap<u32, Predicate>>,
}

/// A node or a block.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub(super) enum Element {
    Node(NodeId),
    Block(usize),
}

impl Element {
    /// The node, unless it is a block.
    pub fn node(self) -> Option<NodeId> {
        match self {
            Element::Node(node) => Some(node),
            Element::Block(_) => None,
        }
    }
}

impl<'d> Graph<'d> {
    /// The graph of an abstract program with so many nodes.
    pub fn new(program: &'d Abstract, nodes: usize, start: NodeId) -> Self {
        let d = &program.bits;
        let mut graph = Self {
            d,
            nothing: d.store(&vec![false; d.variable_count()]),
            arrows: Vec::new(),
            out: vec![Vec::new(); nodes],
            into: vec![Vec::new(); nodes],
            start: (start, d.zero()),
        };
        for (id, rule) in program.system.rules() {
            let Rhs::Swap(to) = rule.rhs else { continue };
            let (from, to) = (rule.symbol.index(), to.index());
            let weight = program.system.weight(id).clone();
            match program.origins[id.index()] {
                Some(block) => {
                    graph.out[from].push(graph.arrows.len());
                    graph.into[to].push(graph.arrows.len());
                    graph.arrows.push(Arrow { from, to, block, weight });
                }
                None if from == nodes => graph.start.1 = d.stores_of(&d.range_of(&weight)),
                // The end of failing runs: the errors are known as nodes.
                None => {}
            }
        }
        graph
    }

    /// Truth values as a relation from nothing to them: composing it with a weight is a forward
    /// step.
    fn reaching(&self, stores: &Predicate) -> Predicate {
        self.d.and(&self.nothing, &self.d.primed(stores))
    }

    /// Truth values as a relation from them to nothing: composing a weight with it is a backward
    /// step.
    fn leading_from(&self, stores: &Predicate) -> Predicate {
        self.d.and(stores, &self.d.primed(&self.nothing))
    }

    /// What an arrow makes of some truth values.
    fn image(&self, arrow: &Arrow, stores: &Predicate) -> Predicate {
        let reached = self.d.extend(&self.reaching(stores), &arrow.weight);
        self.d.stores_of(&self.d.primed(&reached))
    }

    /// What an arrow makes some truth values of.
    fn origin(&self, arrow: &Arrow, stores: &Predicate) -> Predicate {
        self.d.stores_of(&self.d.extend(&arrow.weight, &self.leading_from(stores)))
    }

    fn meets(&self, a: &Predicate, b: &Predicate) -> Option<Predicate> {
        let both = self.d.and(a, b);
        (!self.d.is_zero(&both)).then_some(both)
    }

    /// What can be reached from the start.
    pub fn forwards(&self, budget: &Budget) -> Result<Layers, StopReason> {
        let (start, stores) = &self.start;
        let first = vec![(*start, self.reaching(stores))];
        let relations = self.spread(first, &self.out, budget, |arrow, reached| {
            (arrow.to, self.d.extend(reached, &arrow.weight))
        })?;
        Ok(relations.map(|reached| self.d.stores_of(&self.d.primed(reached))))
    }

    /// What leads to one of some nodes, among what can be reached.
    pub fn backwards(
        &self,
        reached: &Layers,
        goals: impl IntoIterator<Item = NodeId>,
        budget: &Budget,
    ) -> Result<Layers, StopReason> {
        let goal = |node: NodeId| (node, self.leading_from(&reached.all[node]));
        let first = goals.into_iter().map(goal).collect();
        let relations = self.spread(first, &self.into, budget, |arrow, leading| {
            let before = self.d.extend(&arrow.weight, leading);
            (arrow.from, self.d.and(&reached.all[arrow.from], &before))
        })?;
        Ok(relations.map(|leading| self.d.stores_of(leading)))
    }

    /// The least relations that contain some and are closed under steps. **Cost:** each pair of
    /// each node is looked at once an arrow.
    fn spread(
        &self,
        first: Vec<(NodeId, Predicate)>,
        arrows: &[Vec<usize>],
        budget: &Budget,
        step: impl Fn(&Arrow, &Predicate) -> (NodeId, Predicate),
    ) -> Result<Layers, StopReason> {
        let d = self.d;
        let nodes = arrows.len();
        let mut layers = Layers { all: vec![d.zero(); nodes], by_distance: vec![BTreeMap::new(); nodes] };
        let mut frontier: BTreeMap<NodeId, Predicate> =
            first.into_iter().filter(|(_, stores)| !d.is_zero(stores)).collect();
        for distance in 0.. {
            if frontier.is_empty() {
                break;
            }
            budget.look().map_err(|reason| stop(&reason))?;
            for (node, stores) in &frontier {
                layers.all[*node] = d.or(&layers.all[*node], stores);
                layers.by_distance[*node].insert(distance, stores.clone());
            }
            let mut next: BTreeMap<NodeId, Predicate> = BTreeMap::new();
            for (node, stores) in &frontier {
                for arrow in &arrows[*node] {
                    let (to, made) = step(&self.arrows[*arrow], stores);
                    let fresh = d.difference(&made, &layers.all[to]).unwrap_or(made);
                    if !d.is_zero(&fresh) {
                        let known = next.entry(to).or_insert_with(|| d.zero());
                        *known = d.or(known, &fresh);
                    }
                }
            }
            if d.exhausted() {
                return Err(StopReason::Memory);
            }
            frontier = next;
        }
        Ok(layers)
    }

    /// The truth values with which a run comes to an element, from the start and on to a goal: at
    /// the node, or before the block.
    fn inside(&self, forwards: &Layers, backwards: &Layers, element: Element) -> Option<(NodeId, Predicate)> {
        match element {
            Element::Node(node) => Some((node, self.meets(&forwards.all[node], &backwards.all[node])?)),
            Element::Block(block) => {
                let arrow = self.arrow(block)?;
                if self.d.is_zero(&backwards.all[arrow.from]) || self.d.is_zero(&backwards.all[arrow.to]) {
                    return None;
                }
                let leading = self.origin(arrow, &backwards.all[arrow.to]);
                Some((arrow.from, self.meets(&forwards.all[arrow.from], &leading)?))
            }
        }
    }

    /// The truth values with which runs that go on to a goal come out of a block.
    pub fn behind(&self, forwards: &Layers, backwards: &Layers, block: usize) -> Option<Predicate> {
        let arrow = self.arrow(block)?;
        self.meets(&self.image(arrow, &forwards.all[arrow.from]), &backwards.all[arrow.to])
    }

    fn arrow(&self, block: usize) -> Option<&Arrow> {
        let at = self.arrows.binary_search_by_key(&block, |arrow| arrow.block).ok()?;
        Some(&self.arrows[at])
    }

    /// Whether an abstract run goes through an element.
    pub fn contains(&self, forwards: &Layers, backwards: &Layers, element: Element) -> bool {
        self.inside(forwards, backwards, element).is_some()
    }

    /// The blocks of a run through an element: by a shortest way to it, and from there by a
    /// shortest way to a goal.
    pub fn run_through(&self, forwards: &Layers, backwards: &Layers, element: Element) -> Option<Vec<usize>> {
        let (node, goal) = self.inside(forwards, backwards, element)?;
        let mut path = self.way_to(forwards, node, &goal)?;
        let mut stores = self.start.1.clone();
        for block in &path {
            stores = self.image(self.arrow(*block)?, &stores);
        }
        let mut at = node;
        stores = self.meets(&stores, &goal)?;
        if let Element::Block(block) = element {
            let arrow = self.arrow(block)?;
            path.push(block);
            stores = self.meets(&self.image(arrow, &stores), &backwards.all[arrow.to])?;
            at = arrow.to;
        }
        let (mut distance, mut stores) = self.nearest(backwards, at, &stores)?;
        while distance > 0 {
            distance -= 1;
            let onwards = self.out[at].iter().find_map(|arrow| {
                let arrow = &self.arrows[*arrow];
                let near = backwards.by_distance[arrow.to].get(&distance)?;
                Some((arrow, self.meets(&self.image(arrow, &stores), near)?))
            });
            let (arrow, made) = onwards?;
            path.push(arrow.block);
            (at, stores) = (arrow.to, made);
        }
        Some(path)
    }

    /// The stores of an abstract run along some blocks: one more than there are blocks.
    pub fn stores_along(&self, path: &[usize]) -> Option<Vec<Store>> {
        let mut reached = vec![self.start.1.clone()];
        for block in path {
            reached.push(self.image(self.arrow(*block)?, reached.last()?));
        }
        let mut stores = vec![self.d.pick_store(&reached.pop()?)?];
        for block in path.iter().rev() {
            let leading = self.origin(self.arrow(*block)?, &self.d.store(stores.last()?));
            stores.push(self.d.pick_store(&self.meets(&leading, &reached.pop()?)?)?);
        }
        stores.reverse();
        Some(stores)
    }

    /// The part of some truth values that is nearest to where a fixpoint began.
    fn nearest(&self, layers: &Layers, node: NodeId, stores: &Predicate) -> Option<(u32, Predicate)> {
        let mut by_distance = layers.by_distance[node].iter();
        by_distance.find_map(|(distance, layer)| Some((*distance, self.meets(stores, layer)?)))
    }

    /// The blocks of a shortest way from the start to some truth values of a node.
    fn way_to(&self, forwards: &Layers, node: NodeId, goal: &Predicate) -> Option<Vec<usize>> {
        let mut path = Vec::new();
        let mut at = node;
        let (mut distance, mut stores) = self.nearest(forwards, node, goal)?;
        while distance > 0 {
            distance -= 1;
            let before = self.into[at].iter().find_map(|arrow| {
                let arrow = &self.arrows[*arrow];
                let near = forwards.by_distance[arrow.from].get(&distance)?;
                Some((arrow, self.meets(&self.origin(arrow, &stores), near)?))
            });
            let (arrow, made) = before?;
            path.push(arrow.block);
            (at, stores) = (arrow.from, made);
        }
        path.reverse();
        Some(path)
    }
}

impl Layers {
    fn map(&self, set: impl Fn(&Predicate) -> Predicate) -> Layers {
        let of_node = |layers: &BTreeMap<u32, Predicate>| {
            layers.iter().map(|(distance, layer)| (*distance, set(layer))).collect()
        };
        Layers {
            all: self.all.iter().map(&set).collect(),
            by_distance: self.by_distance.iter().map(of_node).collect(),
        }
    }

    /// All truth values of a node.
    pub fn of(&self, node: NodeId) -> &Predicate {
        &self.all[node]
    }

    /// The greatest distance of truth values of a node.
    pub fn farthest(&self, node: NodeId) -> u32 {
        self.by_distance[node].keys().next_back().copied().unwrap_or(0)
    }
}
