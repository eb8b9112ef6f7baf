//! Solving by path expressions: weights of all transitions from the out-node equations of the
//! dependence graph.
//!
//! \[Lal09\] chapter 4. Every intragraph gives an expression for each of its nodes; the out-nodes
//! among them form a system of regular equations, solved one strongly connected component (a group
//! of mutually recursive procedures) after the other, evaluating incrementally. All other weights
//! are read from their expressions when they are asked for.
//!
//! **Divergence** (§4.2.3): when rules change, the graph without weights is found anew, which is
//! cheap; what is kept is everything that costs: expressions and values of intragraphs that are
//! still the same, and weights of out-nodes.

use rustc_hash::{FxHashMap, FxHashSet};

use crate::automaton::Automaton;
use crate::dependence::{Dependence, DependenceEdge, Label, Nodes};
use crate::expression::{ExprId, Expressions, Interpretation, ONE, Values};
use crate::graph::{components, reverse_postorder};
use crate::limits::{Limits, Meter, StopReason};
use crate::names::{RuleId, State, Symbol};
use crate::path_expressions::{Edge, path_expressions};
use crate::pre_star::called_weight;
use crate::saturation::{Direction, Options, Order, Recording, Saturated, saturate};
use crate::semiring::{Merge, Semiring};
use crate::store::{NONE, TransId};
use crate::system::{Rhs, System};

/// How to solve.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Hash)]
pub enum Method {
    /// Saturation with a worklist.
    Worklist,
    /// Path expressions (\[Lal09\] chapter 4).
    PathExpressions,
    /// Whatever is likely to be fastest.
    ///
    /// Where the domain [is tall](Semiring::is_tall): path expressions, except backwards in a
    /// system with few loops, where a worklist in [priority order](Order::Priority) has less to do.
    /// Else, and where witnesses are wanted, the worklist in the order of one's choice.
    #[default]
    Auto,
}

/// Solves post\* or pre\* by the method of one's choice; all methods give equal weights.
///
/// Merge functions without path extension are always solved by the worklist in post\*: their calls
/// are no edges of a graph.
///
/// ```
/// use wherefore_pushdown::*;
/// let mut system: System<bool> = System::new();
/// let (p, a, b) = (system.state("p"), system.symbol("a"), system.symbol("b"));
/// system.add(p, a, p, Rhs::Swap(b), true);
/// system.add(p, b, p, Rhs::Swap(a), true);
/// let start = Configuration { state: p, stack: vec![a] };
/// let seed = Automaton::of_configuration(&system, &start, Reading::Backward, &true);
/// for method in [Method::Worklist, Method::PathExpressions] {
///     let solved = solve(Direction::Post, &Reachability, &system, &seed, method, &Options::default());
///     assert!(solved.automaton.weight(&Reachability, &Configuration { state: p, stack: vec![b] }));
/// }
/// ```
pub fn solve<S: Semiring, M: Merge<S>>(
    direction: Direction,
    domain: &S,
    system: &System<S::Weight, M>,
    seed: &Automaton<S::Weight>,
    method: Method,
    options: &Options,
) -> Saturated<S::Weight> {
    let applicable = direction == Direction::Pre || has_path_extension(system);
    let tall = domain.is_tall() && options.recording == Recording::Off;
    let wanted = match method {
        Method::Worklist => false,
        Method::PathExpressions => true,
        Method::Auto => tall && has_many_loops(system),
    };
    if !wanted || !applicable {
        let order = if method == Method::Auto && tall { Order::Priority } else { options.order };
        return saturate(direction, domain, system, seed, &Options { order, ..options.clone() });
    }
    let mut solver = PathSolver::new(direction, seed, options.recording);
    solver.automaton(domain, system, &options.limits)
}

fn has_path_extension<S: Semiring, M: Merge<S>>(system: &System<S::Weight, M>) -> bool {
    system.rules().all(|(id, _)| system.merge(id).is_none_or(Merge::path_extension))
}

/// Whether more than one rule in fifty leads back, in the order of the program.
fn has_many_loops<W, M>(system: &System<W, M>) -> bool {
    let symbols = system.symbol_count();
    let steps = || {
        system.rules().filter_map(|(_, rule)| match rule.rhs {
            Rhs::Pop => None,
            Rhs::Swap(next) | Rhs::Push(_, next) => Some((rule.symbol.index(), next.0)),
        })
    };
    let mut first = vec![0u32; symbols + 1];
    steps().for_each(|(from, _)| first[from + 1] += 1);
    (0..symbols).for_each(|s| first[s + 1] += first[s]);
    let mut targets = vec![0u32; first[symbols] as usize];
    let mut fill = first.clone();
    for (from, to) in steps() {
        targets[fill[from] as usize] = to;
        fill[from] += 1;
    }
    let place = reverse_postorder(symbols, |s, into| {
        into.extend(&targets[first[s] as usize..first[s + 1] as usize]);
    });
    let back = steps().filter(|(from, to)| place[*to as usize] <= place[*from]).count();
    back * 50 > targets.len()
}

/// What a [`PathSolver`] has done, for those who want to see that it did little.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct SolverStats {
    /// Intragraphs of the current system.
    pub intragraphs: usize,
    /// Intragraphs whose expressions were computed by the last update (the others were kept).
    pub rebuilt: usize,
    /// Out-nodes of the current system.
    pub out_nodes: usize,
    /// Evaluations of out-node equations in the last solving.
    pub evaluations: u64,
    /// Weight operations (⊕, ⊗, star) in expressions, ever.
    pub operations: u64,
}

/// An out-node: the summary of a procedure, as other intragraphs see it.
#[derive(Clone, Debug)]
pub(crate) struct OutNode<W> {
    pub node: u32,
    pub value: W,
    /// When the value last changed.
    changed: u64,
    /// With witnesses: for each value it had, how many values each input had had by then.
    pub history: Vec<Vec<u32>>,
}

/// One intragraph, its path expressions and their values.
#[derive(Clone, Debug)]
pub(crate) struct Intragraph<W> {
    edges: Vec<DependenceEdge>,
    /// The nodes; node `i` has local number `i + 1`, the root 0.
    nodes: Vec<u32>,
    pub labels: Vec<Label<u32>>,
    pub expressions: Expressions,
    pub from_root: Vec<ExprId>,
    values: Values<W>,
    /// Out-nodes that its labels mention, and out-nodes among its nodes (place, out-node).
    pub inputs: Vec<u32>,
    outputs: Vec<(u32, u32)>,
    /// When it was last evaluated.
    evaluated: Option<u64>,
}

/// A solver that can be asked for single weights, and again after the system changed.
///
/// ```
/// use wherefore_pushdown::*;
/// let mut system: System<bool> = System::new();
/// let (p, a, b) = (system.state("p"), system.symbol("a"), system.symbol("b"));
/// let rule = system.add(p, a, p, Rhs::Swap(b), true);
/// let start = Configuration { state: p, stack: vec![a] };
/// let seed = Automaton::of_configuration(&system, &start, Reading::Backward, &true);
/// let mut solver = PathSolver::new(Direction::Post, &seed, Recording::Off);
/// let b = Configuration { state: p, stack: vec![b] };
/// let solved = solver.automaton(&Reachability, &system, &Limits::default());
/// assert!(solved.automaton.weight(&Reachability, &b));
/// system.remove_rule(rule);
/// solver.system_changed();
/// let solved = solver.automaton(&Reachability, &system, &Limits::default());
/// assert!(!solved.automaton.weight(&Reachability, &b));
/// ```
pub struct PathSolver<W> {
    pub(crate) direction: Direction,
    pub(crate) seed: Automaton<W>,
    pub(crate) recording: Recording,
    nodes: Nodes,
    pub(crate) dependence: Option<Dependence>,
    pub(crate) intragraphs: Vec<Intragraph<W>>,
    /// For each node its intragraph and its local number.
    pub(crate) place: Vec<(u32, u32)>,
    pub(crate) outs: Vec<OutNode<W>>,
    pub(crate) out_of_node: FxHashMap<u32, u32>,
    clock: u64,
    /// Rules of the system when the graph was found, to tell additions from removals.
    live: Vec<bool>,
    shrunk: bool,
    rebuilt: usize,
    evaluations: u64,
}

impl<W: Clone + Eq + std::fmt::Debug> PathSolver<W> {
    /// A solver for the configurations that `seed` accepts. With witnesses recorded, updates start
    /// from scratch.
    pub fn new(direction: Direction, seed: &Automaton<W>, recording: Recording) -> Self {
        Self {
            direction,
            seed: if seed.enters_control() { seed.normalised() } else { seed.clone() },
            recording,
            nodes: Nodes::default(),
            dependence: None,
            intragraphs: Vec::new(),
            place: Vec::new(),
            outs: Vec::new(),
            out_of_node: FxHashMap::default(),
            clock: 1,
            live: Vec::new(),
            shrunk: false,
            rebuilt: 0,
            evaluations: 0,
        }
    }

    /// Says that rules were added to or removed from the system since the last answer (\[Lal09\]
    /// §4.2.3).
    pub fn system_changed(&mut self) {
        self.dependence = None;
    }

    /// What was done so far.
    pub fn stats(&self) -> SolverStats {
        SolverStats {
            intragraphs: self.intragraphs.len(),
            rebuilt: self.rebuilt,
            out_nodes: self.intragraphs.iter().map(|g| g.outputs.len()).sum(),
            evaluations: self.evaluations,
            operations: self.intragraphs.iter().map(|g| g.values.operations).sum(),
        }
    }

    /// The weight of one transition; only the procedures that it depends on are solved.
    pub fn weight<S, M>(
        &mut self,
        domain: &S,
        system: &System<W, M>,
        (from, symbol, to): (State, Symbol, State),
        limits: &Limits,
    ) -> Result<W, StopReason>
    where
        S: Semiring<Weight = W>,
        M: Merge<S>,
    {
        let mut meter = Meter::new(limits);
        let dependence = self.prepare(domain, system, limits)?;
        let ids: Vec<TransId> = dependence.skeleton.store.on(from, symbol).collect();
        let mut sum = domain.zero();
        for id in ids {
            let dependence = self.dependence.as_ref().ok_or(StopReason::Cancelled)?;
            if dependence.skeleton.store.trans[id as usize].to != to.0 {
                continue;
            }
            let call = dependence.skeleton.store.call(id);
            let node = dependence.node_of[id as usize];
            let graph = self.place[node as usize].0;
            self.solve_out_nodes(domain, system, Some(graph), &mut meter)?;
            let mut weight = self.value(domain, system, node, &mut meter)?;
            if let Some(rule) = call {
                weight = domain.extend(&weight, system.weight(rule));
            }
            domain.join(&mut sum, &weight);
        }
        Ok(sum)
    }

    /// All weights, as an automaton.
    pub fn automaton<S, M>(&mut self, domain: &S, system: &System<W, M>, limits: &Limits) -> Saturated<W>
    where
        S: Semiring<Weight = W>,
        M: Merge<S>,
    {
        let mut meter = Meter::new(limits);
        let solved = self
            .prepare(domain, system, limits)
            .map(|_| ())
            .and_then(|()| self.solve_out_nodes(domain, system, None, &mut meter));
        let mut stop = solved.err().unwrap_or(StopReason::Complete);
        let automaton = match self.dependence.take() {
            // Without the graph nothing is known but the seed itself.
            None => self.seed.clone(),
            Some(dependence) => {
                let automaton = dependence.skeleton.rebuild(|id| {
                    let node = dependence.node_of[id as usize];
                    if stop != StopReason::Complete {
                        return None;
                    }
                    let weight = match self.value(domain, system, node, &mut meter) {
                        Ok(weight) => weight,
                        Err(reason) => {
                            stop = reason;
                            return None;
                        }
                    };
                    if domain.is_zero(&weight) {
                        return None;
                    }
                    match dependence.skeleton.store.call(id) {
                        Some(rule) => Some((domain.extend(&weight, system.weight(rule)), Some(weight))),
                        None => Some((weight, None)),
                    }
                });
                self.dependence = Some(dependence);
                automaton.without_dead_callees()
            }
        };
        if domain.exhausted() {
            stop = StopReason::Memory;
        }
        Saturated { automaton, stop, steps: meter.steps(), log: None, gained: Vec::new() }
    }

    /// The graph, the expressions and the table of out-nodes.
    fn prepare<S, M>(
        &mut self,
        domain: &S,
        system: &System<W, M>,
        limits: &Limits,
    ) -> Result<&Dependence, StopReason>
    where
        S: Semiring<Weight = W>,
    {
        if self.dependence.is_none() {
            if self.recording == Recording::Witnesses {
                // Histories refer to expressions that may be gone.
                self.intragraphs.clear();
                self.outs.clear();
                self.out_of_node.clear();
            }
            let dependence = Dependence::new(self.direction, system, &self.seed, &mut self.nodes, limits)?;
            let live: Vec<bool> =
                (0..system.rule_bound()).map(|r| system.is_live(RuleId(r as u32))).collect();
            self.shrunk |= self.live.iter().zip(&live).any(|(before, now)| *before && !*now);
            self.live = live;
            self.place.resize(self.nodes.len(), (NONE, NONE));
            self.rebuild_intragraphs(domain, &dependence);
            self.dependence = Some(dependence);
        }
        self.dependence.as_ref().ok_or(StopReason::Cancelled)
    }

    fn rebuild_intragraphs<S>(&mut self, domain: &S, dependence: &Dependence)
    where
        S: Semiring<Weight = W>,
    {
        for edge in dependence.intragraphs.iter().flatten() {
            if let Some(node) = edge.label.out_node() {
                let next = self.outs.len() as u32;
                self.out_of_node.entry(node).or_insert_with(|| {
                    let value = domain.zero();
                    self.outs.push(OutNode { node, value, changed: 0, history: Vec::new() });
                    next
                });
            }
        }
        // Nodes belong to one intragraph only, so the target of its first edge names it.
        let name = |edges: &[DependenceEdge]| edges.first().map(|edge| edge.target);
        let mut before: FxHashMap<u32, Intragraph<W>> = std::mem::take(&mut self.intragraphs)
            .into_iter()
            .filter_map(|graph| name(&graph.edges).map(|node| (node, graph)))
            .collect();
        self.rebuilt = 0;
        self.place.fill((NONE, NONE));
        for edges in &dependence.intragraphs {
            let kept = name(edges).and_then(|node| before.remove(&node));
            let mut graph = match kept {
                Some(graph) if graph.edges == *edges => graph,
                _ => {
                    self.rebuilt += 1;
                    Intragraph::new(edges)
                }
            };
            graph.connect(&self.out_of_node);
            let number = self.intragraphs.len() as u32;
            for (i, node) in graph.nodes.iter().enumerate() {
                self.place[*node as usize] = (number, i as u32 + 1);
            }
            self.intragraphs.push(graph);
        }
        // An out-node whose transition is gone has no paths any more.
        for out in &mut self.outs {
            if self.place[out.node as usize].0 == NONE && !domain.is_zero(&out.value) {
                self.clock += 1;
                out.value = domain.zero();
                out.changed = self.clock;
            }
        }
    }

    /// Solves the out-node equations, all of them or those that one intragraph depends on.
    fn solve_out_nodes<S, M>(
        &mut self,
        domain: &S,
        system: &System<W, M>,
        only: Option<u32>,
        meter: &mut Meter,
    ) -> Result<(), StopReason>
    where
        S: Semiring<Weight = W>,
        M: Merge<S>,
    {
        self.evaluations = 0;
        let suppliers: Vec<Vec<u32>> = self
            .intragraphs
            .iter()
            .map(|graph| {
                let place = |out: &u32| self.place[self.outs[*out as usize].node as usize].0;
                graph.inputs.iter().map(place).filter(|g| *g != NONE).collect()
            })
            .collect();
        let wanted = only.map(|start| {
            let mut seen = vec![false; suppliers.len()];
            let mut open = vec![start];
            while let Some(g) = open.pop() {
                if !std::mem::replace(&mut seen[g as usize], true) {
                    open.extend(&suppliers[g as usize]);
                }
            }
            seen
        });
        let parts = components(suppliers.len(), |g| suppliers[g].iter().map(|other| *other as usize));
        for c in 0..parts.first.len() - 1 {
            let members = &parts.order[parts.first[c] as usize..parts.first[c + 1] as usize];
            if wanted.as_ref().is_some_and(|wanted| !wanted[members[0] as usize]) {
                continue;
            }
            let recursive = members.len() > 1 || suppliers[members[0] as usize].contains(&members[0]);
            self.solve_component(domain, system, members, recursive, meter)?;
        }
        if only.is_none() {
            self.shrunk = false;
        }
        Ok(())
    }

    fn solve_component<S, M>(
        &mut self,
        domain: &S,
        system: &System<W, M>,
        members: &[u32],
        recursive: bool,
        meter: &mut Meter,
    ) -> Result<(), StopReason>
    where
        S: Semiring<Weight = W>,
        M: Merge<S>,
    {
        if members.iter().all(|g| self.is_current(*g)) {
            return Ok(());
        }
        // After a removal, values of a recursive group may support themselves: start again from
        // zero.
        let mut old: Vec<(u32, W, u64)> = Vec::new();
        if self.shrunk && recursive {
            let outputs: Vec<u32> = (members.iter())
                .flat_map(|g| self.intragraphs[*g as usize].outputs.iter().map(|(_, out)| *out))
                .collect();
            self.clock += 1;
            for out in outputs {
                let node = &mut self.outs[out as usize];
                let value = std::mem::replace(&mut node.value, domain.zero());
                old.push((out, value, std::mem::replace(&mut node.changed, self.clock)));
            }
        }
        let mut again = true;
        while again {
            again = false;
            for g in members {
                if !self.is_current(*g) {
                    again |= self.evaluate_intragraph(domain, system, *g, meter)? && recursive;
                }
            }
        }
        // What came out as before is no change for those that depend on it.
        for (out, value, changed) in old {
            let node = &mut self.outs[out as usize];
            if node.value == value {
                node.changed = changed;
            }
        }
        Ok(())
    }

    /// The latest change of an input.
    fn inputs_changed(&self, graph: &Intragraph<W>) -> u64 {
        graph.inputs.iter().map(|out| self.outs[*out as usize].changed).max().unwrap_or(0).max(1)
    }

    fn is_current(&self, g: u32) -> bool {
        let graph = &self.intragraphs[g as usize];
        graph.evaluated.is_some_and(|at| at >= self.inputs_changed(graph))
    }

    /// Evaluates the out-nodes of one intragraph; says whether any changed.
    fn evaluate_intragraph<S, M>(
        &mut self,
        domain: &S,
        system: &System<W, M>,
        g: u32,
        meter: &mut Meter,
    ) -> Result<bool, StopReason>
    where
        S: Semiring<Weight = W>,
        M: Merge<S>,
    {
        let now = self.inputs_changed(&self.intragraphs[g as usize]);
        let outputs = self.intragraphs[g as usize].outputs.clone();
        let mut grew = false;
        let mut updates = Vec::new();
        for (place, out) in outputs {
            self.evaluations += 1;
            let value = self.local_value(domain, system, g, place, now, meter)?;
            if value != self.outs[out as usize].value {
                updates.push((out, value));
            }
        }
        let versions: Vec<u32> = if self.recording == Recording::Witnesses {
            let inputs = &self.intragraphs[g as usize].inputs;
            inputs.iter().map(|out| self.outs[*out as usize].history.len() as u32).collect()
        } else {
            Vec::new()
        };
        self.intragraphs[g as usize].evaluated = Some(now);
        for (out, value) in updates {
            self.clock += 1;
            grew = true;
            let node = &mut self.outs[out as usize];
            node.changed = self.clock;
            if self.recording == Recording::Witnesses {
                node.history.push(versions.clone());
            }
            node.value = value;
        }
        Ok(grew)
    }

    /// The weight of a node whose out-nodes are solved.
    fn value<S, M>(
        &mut self,
        domain: &S,
        system: &System<W, M>,
        node: u32,
        meter: &mut Meter,
    ) -> Result<W, StopReason>
    where
        S: Semiring<Weight = W>,
        M: Merge<S>,
    {
        let (g, place) = self.place[node as usize];
        let now = self.inputs_changed(&self.intragraphs[g as usize]);
        self.local_value(domain, system, g, place, now, meter)
    }

    fn local_value<S, M>(
        &mut self,
        domain: &S,
        system: &System<W, M>,
        g: u32,
        place: u32,
        now: u64,
        meter: &mut Meter,
    ) -> Result<W, StopReason>
    where
        S: Semiring<Weight = W>,
        M: Merge<S>,
    {
        let Intragraph { labels, expressions, from_root, values, .. } = &mut self.intragraphs[g as usize];
        let mut reader = Reader {
            domain,
            system,
            seed: &self.seed,
            direction: self.direction,
            labels,
            outs: &self.outs,
            out_of_node: &self.out_of_node,
            meter,
            stop: None,
        };
        let root = from_root[place as usize];
        let value = values.evaluate(expressions, &mut reader, root, now).cloned();
        match (value, reader.stop) {
            (Some(value), None) => Ok(value),
            (_, stop) => Err(stop.unwrap_or(StopReason::Memory)),
        }
    }
}

impl<W: Clone + Eq> Intragraph<W> {
    fn new(edges: &[DependenceEdge]) -> Self {
        let mut nodes: Vec<u32> = edges.iter().flat_map(|e| [Some(e.target), e.source]).flatten().collect();
        nodes.sort_unstable();
        nodes.dedup();
        let place = |node: u32| nodes.partition_point(|n| *n < node) as u32 + 1;
        let mut labels: Vec<Label<u32>> = edges.iter().map(|edge| edge.label).collect();
        labels.sort_unstable();
        labels.dedup();
        let mut expressions = Expressions::default();
        let local: Vec<Edge> = edges
            .iter()
            .map(|edge| Edge {
                from: edge.source.map_or(0, place),
                to: place(edge.target),
                label: match edge.label {
                    Label::Empty => ONE,
                    label => expressions.letter(labels.partition_point(|l| *l < label) as u32),
                },
            })
            .collect();
        let paths = path_expressions(nodes.len() + 1, &local, &mut expressions);
        expressions.seal();
        Self {
            edges: edges.to_vec(),
            values: Values::new(&expressions),
            nodes,
            labels,
            expressions,
            from_root: paths.from_root,
            inputs: Vec::new(),
            outputs: Vec::new(),
            evaluated: None,
        }
    }

    /// Finds the out-nodes on both sides; others may have appeared since.
    fn connect(&mut self, out_of_node: &FxHashMap<u32, u32>) {
        let mentioned: FxHashSet<u32> = self.labels.iter().filter_map(Label::out_node).collect();
        let mut inputs: Vec<u32> = mentioned.iter().map(|node| out_of_node[node]).collect();
        inputs.sort_unstable();
        self.inputs = inputs;
        let known = self.outputs.len();
        self.outputs = (self.nodes.iter().enumerate())
            .filter_map(|(i, node)| out_of_node.get(node).map(|out| (i as u32 + 1, *out)))
            .collect();
        if self.outputs.len() != known {
            self.evaluated = None;
        }
    }
}

/// Reads the expressions of one intragraph as weights.
struct Reader<'a, S: Semiring, M> {
    domain: &'a S,
    system: &'a System<S::Weight, M>,
    seed: &'a Automaton<S::Weight>,
    direction: Direction,
    labels: &'a [Label<u32>],
    outs: &'a [OutNode<S::Weight>],
    out_of_node: &'a FxHashMap<u32, u32>,
    meter: &'a mut Meter,
    stop: Option<StopReason>,
}

/// The weight of a label, given the weight of its out-node.
pub(crate) fn label_weight<S: Semiring, M: Merge<S>>(
    domain: &S,
    system: &System<S::Weight, M>,
    seed: &Automaton<S::Weight>,
    label: Label<u32>,
    callee: impl FnOnce() -> S::Weight,
) -> S::Weight {
    match label {
        Label::Empty | Label::Called(_) => domain.one(),
        Label::Seed(id) => match seed.callers.get(&id) {
            Some(caller) => caller.clone(),
            None => seed.store.weights[id as usize].clone(),
        },
        Label::Rule(rule) => system.weight(rule).clone(),
        Label::Returned { call, .. } => match call.and_then(|rule| system.merge(rule)) {
            Some(merge) => merge.merge(domain, &domain.one(), &callee()),
            None => callee(),
        },
        Label::Call { rule, returned, .. } => called_weight(system, domain, rule, returned, &callee()),
    }
}

impl<S: Semiring, M: Merge<S>> Interpretation for Reader<'_, S, M> {
    type Value = S::Weight;

    fn letter(&mut self, letter: u32) -> (S::Weight, u64) {
        let label = self.labels[letter as usize];
        let out = label.out_node().map(|node| &self.outs[self.out_of_node[&node] as usize]);
        let weight = label_weight(self.domain, self.system, self.seed, label, || {
            out.map_or_else(|| self.domain.one(), |out| out.value.clone())
        });
        (weight, out.map_or(0, |out| out.changed.max(1)))
    }

    fn zero(&mut self) -> S::Weight {
        self.domain.zero()
    }

    fn one(&mut self) -> S::Weight {
        self.domain.one()
    }

    fn alt(&mut self, a: &S::Weight, b: &S::Weight) -> S::Weight {
        self.domain.combine(a, b)
    }

    fn cat(&mut self, a: &S::Weight, b: &S::Weight) -> S::Weight {
        if self.domain.is_one(a) {
            return b.clone();
        }
        if self.domain.is_one(b) {
            return a.clone();
        }
        match self.direction {
            Direction::Post => self.domain.extend(a, b),
            Direction::Pre => self.domain.extend(b, a),
        }
    }

    fn star(&mut self, a: &S::Weight) -> S::Weight {
        self.domain.star(a)
    }

    fn go_on(&mut self) -> bool {
        if self.domain.exhausted() {
            self.stop = Some(StopReason::Memory);
        } else if let Err(stop) = self.meter.tick(|| 0) {
            self.stop = Some(stop);
        }
        self.stop.is_none()
    }
}
