//! From a failing abstract search to a DAG of counterexamples over the concrete rules.
//!
//! \[Kie05\] §4.2, §4.3.1, §5.1, §5.2.5. The nodes are versions ([`Version`]): what saturation
//! found at a symbol, step by step. An edge is drawn wherever an abstract rule leads from one
//! version to another, not only where saturation took it first: the more counterexamples the DAG
//! has, the more one refinement rules out. Cycles are cut inside strongly connected parts, where
//! only edges forward in time are kept; each version follows from earlier ones, so something is
//! left for each.
//!
//! Two searches give the versions: that of the abstract system, whose weights in a callee relate
//! its entry to the point, for procedures that return; and one in which a call either is stepped
//! over by the effect found before, or entered for good, for the procedures that are open when the
//! error is met.

use std::collections::{BTreeMap, BTreeSet};
use std::rc::Rc;

use wherefore_domains::bdd::{BddRelations, Predicate, ProjectLocals};
use wherefore_program::{Graph, ProcedureId};
use wherefore_pushdown::{
    Automaton, Configuration, Limits, Merge, Method, Options, Order, Reading, Recording, Relational, Rhs,
    RuleId, Saturated, Semiring, State, StopReason, Symbol, System, Version, solve,
};

use super::abstraction::{Abstract, Abstraction, Part, call_symbols, procedure_of};
use super::predicates::Point;
use crate::encoding::{CONTROL, Encoding};
use crate::refinement::diagrams::interpolants::{Dag, Link, NodeId, NodeKind, Space};

/// The frame that a version belongs to: a callee that returns, by its state in the automaton;
/// `None` for open ones.
type Frame = Option<State>;

/// A version as a node of the graph to be.
struct Found {
    frame: Frame,
    /// The symbol; none at the exit.
    symbol: Option<Symbol>,
    gained: Predicate,
    kind: NodeKind,
}

/// A possible link, with the numbers of its sources.
#[derive(Clone, Copy, PartialEq, Eq, PartialOrd, Ord)]
enum Edge {
    Step(usize, RuleId),
    Push(usize, RuleId),
    Enter(usize),
    Return { pivot: usize, exit: usize },
}

impl Edge {
    fn sources(self) -> impl Iterator<Item = usize> {
        let (first, second) = match self {
            Edge::Step(from, _) | Edge::Push(from, _) | Edge::Enter(from) => (from, None),
            Edge::Return { pivot, exit } => (pivot, Some(exit)),
        };
        std::iter::once(first).chain(second)
    }
}

/// A DAG of counterexamples.
pub(super) struct Counterexamples<'a> {
    pub dag: Dag<'a>,
    /// Of each node: where its predicates belong; none at the top and at the bottom.
    pub points: Vec<Option<Point>>,
    /// Of each node and each of its links: the concrete rule; none for links that are no rule of
    /// their own.
    pub rules: Vec<Vec<Option<RuleId>>>,
    /// Of each node: the abstract stores there, over current bits.
    pub stores: Vec<Predicate>,
    /// Of each node: the procedure, if it is one that returns.
    pub frames: Vec<Option<ProcedureId>>,
}

/// Which of the procedures that return are looked into; the others may do anything to the globals
/// that they can change.
pub(super) type Opened = BTreeSet<ProcedureId>;

/// The open search: calls are stepped over, or entered for good.
fn open_search(
    encoding: &Encoding,
    program: &Abstract,
    returned: &Automaton<Predicate>,
    limits: &Limits,
) -> (System<Predicate>, Saturated<Predicate>) {
    let d = &program.domain;
    let mut system = System::with_names(program.system.states().clone(), program.system.symbols().clone());
    for (id, rule) in program.system.rules() {
        let weight = program.system.weight(id);
        match rule.rhs {
            Rhs::Pop => {}
            Rhs::Swap(to) => {
                system.add(CONTROL, rule.symbol, CONTROL, Rhs::Swap(to), weight.clone());
            }
            Rhs::Push(entry, back) => {
                system.add(CONTROL, rule.symbol, CONTROL, Rhs::Swap(entry), weight.clone());
                let effects = (returned.transitions_from(CONTROL))
                    .filter(|(t, _)| t.symbol.is_none() && returned.entry_of(t.to) == Some((CONTROL, entry)));
                for (_, effect) in effects {
                    let over = merge_of(program, id).merge(d, &d.one(), effect);
                    system.add(CONTROL, rule.symbol, CONTROL, Rhs::Swap(back), over);
                }
            }
        }
    }
    let start = Configuration { state: CONTROL, stack: vec![encoding.start] };
    let seed = Automaton::of_configuration(&system, &start, Reading::Backward, &d.one());
    let options = Options { order: Order::Priority, recording: Recording::Witnesses, limits: limits.clone() };
    let searched = solve(wherefore_pushdown::Direction::Post, d, &system, &seed, Method::Worklist, &options);
    (system, searched)
}

fn merge_of(program: &Abstract, call: RuleId) -> &ProjectLocals {
    program.system.merge(call).expect("every abstract call has a merge function")
}

/// All versions of both searches, and where they are.
struct Versions<'a> {
    encoding: &'a Encoding,
    program: &'a Abstract,
    found: Vec<Found>,
    at: BTreeMap<(Frame, Option<Symbol>), Vec<usize>>,
    rules_from: BTreeMap<Symbol, Vec<RuleId>>,
    frames: BTreeMap<Symbol, State>,
}

impl<'a> Versions<'a> {
    fn new(encoding: &'a Encoding, program: &'a Abstract) -> Self {
        let mut rules_from: BTreeMap<Symbol, Vec<RuleId>> = BTreeMap::new();
        for (id, rule) in program.system.rules() {
            rules_from.entry(rule.symbol).or_default().push(id);
        }
        let (found, at, frames) = Default::default();
        Self { encoding, program, found, at, rules_from, frames }
    }

    fn add(&mut self, frame: Frame, version: Version<Predicate>) {
        let symbol = version.transition.symbol;
        let places = self.at.entry((frame, symbol)).or_default();
        let is_first = places.is_empty();
        places.push(self.found.len());
        let entry = frame.is_some_and(|state| symbol.is_some_and(|s| self.frames.get(&s) == Some(&state)));
        let kind = match symbol {
            None => NodeKind::Exit,
            Some(symbol) if symbol == self.encoding.start => NodeKind::Top,
            _ if entry && is_first => NodeKind::Entry,
            Some(symbol) if self.is_call_symbol(symbol) => NodeKind::Pivot,
            _ => NodeKind::Point,
        };
        self.found.push(Found { frame, symbol, gained: version.gained, kind });
    }

    fn is_call_symbol(&self, symbol: Symbol) -> bool {
        let first = self.encoding.system.symbol_count();
        symbol.index() >= first && (symbol.index() - first) % 2 == 0
    }

    fn places(&self, frame: Frame, symbol: Option<Symbol>) -> &[usize] {
        self.at.get(&(frame, symbol)).map_or(&[], Vec::as_slice)
    }

    /// The versions at a place that have something of `weight`.
    fn meeting(&self, frame: Frame, symbol: Option<Symbol>, weight: &Predicate) -> Vec<usize> {
        let d = &self.program.domain;
        let places = self.places(frame, symbol).iter().copied();
        places.filter(|at| !d.is_zero(&d.meet(weight, &self.found[*at].gained))).collect()
    }

    /// All edges into each version.
    fn edges(&self) -> Vec<Vec<Edge>> {
        let d = &self.program.domain;
        let mut edges = vec![Vec::new(); self.found.len()];
        for (at, found) in self.found.iter().enumerate() {
            let Some(symbol) = found.symbol else { continue };
            for id in self.rules_from.get(&symbol).into_iter().flatten() {
                let (concrete, part) = self.program.parts[id.index()];
                let rule = self.program.system.rule(*id);
                let next = d.extend(&found.gained, self.program.system.weight(*id));
                match (part, rule.rhs) {
                    (Part::Step, Rhs::Swap(to)) => {
                        for there in self.meeting(found.frame, Some(to), &next) {
                            edges[there].push(Edge::Step(at, concrete));
                        }
                    }
                    (Part::Step, _) if found.frame.is_some() => {
                        for there in self.meeting(found.frame, None, &next) {
                            edges[there].push(Edge::Step(at, concrete));
                        }
                    }
                    (Part::Push, Rhs::Swap(to)) => {
                        for there in self.meeting(found.frame, Some(to), &next) {
                            edges[there].push(Edge::Push(at, concrete));
                        }
                    }
                    (Part::Call, Rhs::Push(entry, _)) => {
                        if found.frame.is_none() {
                            for there in self.meeting(None, Some(entry), &next) {
                                edges[there].push(Edge::Enter(at));
                            }
                        }
                        self.returns(at, *id, concrete, entry, &mut edges);
                    }
                    _ => {}
                }
            }
        }
        for edges in &mut edges {
            edges.sort_unstable();
            edges.dedup();
        }
        edges
    }

    /// The edges of calls that return: from the pivot `at`, with each exit of the callee, to where
    /// the caller goes on.
    fn returns(&self, at: usize, call: RuleId, concrete: RuleId, entry: Symbol, edges: &mut [Vec<Edge>]) {
        let d = &self.program.domain;
        let Some(callee) = self.frames.get(&entry) else { return };
        let (_, pivot) = call_symbols(self.encoding, concrete);
        let Rhs::Push(_, back) = self.encoding.system.rule(concrete).rhs else { return };
        let frame = self.found[at].frame;
        let evaluations = self.rules_from.get(&pivot).into_iter().flatten();
        let evaluations: Vec<&Predicate> = evaluations.map(|id| self.program.system.weight(*id)).collect();
        for exit in self.places(Some(*callee), None) {
            let effect = &self.found[*exit].gained;
            let returned = merge_of(self.program, call).merge(d, &self.found[at].gained, effect);
            for between in self.meeting(frame, Some(pivot), &returned) {
                let here = d.meet(&returned, &self.found[between].gained);
                for evaluation in &evaluations {
                    for there in self.meeting(frame, Some(back), &d.extend(&here, evaluation)) {
                        edges[there].push(Edge::Return { pivot: at, exit: *exit });
                    }
                }
            }
        }
    }
}

/// Drops edges until there is no cycle: inside a strongly connected part those back in time.
fn cut_cycles(edges: &mut [Vec<Edge>]) {
    let all = edges.iter().enumerate();
    let pairs = all.flat_map(|(to, edges)| {
        edges.iter().flat_map(|edge| edge.sources()).map(move |from| (from as u32, to as u32))
    });
    let graph = Graph::new(edges.len(), pairs.collect::<Vec<_>>());
    let mut part = vec![0; edges.len()];
    for (number, component) in graph.components().iter().enumerate() {
        for node in component {
            part[*node as usize] = number;
        }
    }
    for (to, edges) in edges.iter_mut().enumerate() {
        edges.retain(|edge| edge.sources().all(|from| part[from] != part[to] || from < to));
    }
}

impl<'a> Counterexamples<'a> {
    /// The counterexamples of an abstract system in which the error was reached by the search
    /// `returning`.
    pub fn new(
        encoding: &Encoding,
        space: &'a Space,
        abstraction: &Abstraction,
        program: &Abstract,
        returning: &Saturated<Predicate>,
        limits: &Limits,
    ) -> Result<Self, StopReason> {
        let d = &program.domain;
        let mut versions = Versions::new(encoding, program);
        let automaton = &returning.automaton;
        for (t, _) in automaton.transitions() {
            if let Some((CONTROL, entry)) = automaton.entry_of(t.to) {
                versions.frames.insert(entry, t.to);
            }
        }
        let recorded = "this search was recorded";
        for version in returning.versions(d, &program.system).expect(recorded) {
            let frame = version.transition.to;
            if version.transition.from == CONTROL && automaton.entry_of(frame).is_some() {
                versions.add(Some(frame), version);
            }
        }
        let (open_system, open) = open_search(encoding, program, automaton, limits);
        if !open.stop.is_complete() {
            return Err(open.stop);
        }
        for version in open.versions(d, &open_system).expect(recorded) {
            versions.add(None, version);
        }
        let mut edges = versions.edges();
        cut_cycles(&mut edges);
        Ok(Self::build(space, abstraction, &versions, &edges))
    }

    /// What of the versions leads to the bottom, in topological order.
    fn build(
        space: &'a Space,
        abstraction: &Abstraction,
        versions: &Versions<'_>,
        edges: &[Vec<Edge>],
    ) -> Self {
        let encoding = versions.encoding;
        let d = &versions.program.domain;
        let mut built =
            Self { dag: Dag::new(space), points: vec![], rules: vec![], stores: vec![], frames: vec![] };
        let procedures: BTreeMap<State, ProcedureId> =
            versions.frames.iter().map(|(entry, state)| (*state, procedure_of(encoding, *entry))).collect();
        let mut number: Vec<Option<NodeId>> = vec![None; edges.len()];
        let bottoms = versions.places(None, Some(encoding.failed));
        // Sources before targets, without recursion: a node is closed when it is met for the second
        // time.
        let mut open: Vec<(usize, bool)> = bottoms
            .iter()
            .flat_map(|at| edges[*at].iter().flat_map(|edge| edge.sources()))
            .map(|at| (at, false))
            .collect();
        while let Some((at, is_done)) = open.pop() {
            if number[at].is_some() {
                continue;
            }
            if !is_done {
                open.push((at, true));
                let sources = edges[at].iter().flat_map(|edge| edge.sources());
                open.extend(sources.filter(|from| number[*from].is_none()).map(|from| (from, false)));
                continue;
            }
            let found = &versions.found[at];
            let point = match (found.kind, found.symbol) {
                (NodeKind::Top, _) => None,
                (NodeKind::Pivot, Some(symbol)) => {
                    let rule = (symbol.index() - encoding.system.symbol_count()) / 2;
                    Some(Point::Pivot(RuleId(rule as u32)))
                }
                (_, Some(symbol)) => Some(Point::At(symbol)),
                (_, None) => found.frame.map(|state| Point::Exit(procedures[&state])),
            };
            built.frames.push(found.frame.map(|state| procedures[&state]));
            let stores = d.stores_of(&d.range_of(&found.gained));
            let links = edges[at].iter().copied();
            number[at] = Some(built.add(abstraction, &number, found.kind, links, (point, stores)));
        }
        let into_bottom = bottoms.iter().flat_map(|at| edges[*at].iter().copied());
        let nowhere = (None, d.constant(true));
        built.frames.push(None);
        built.add(abstraction, &number, NodeKind::Point, into_bottom, nowhere);
        built
    }

    fn add(
        &mut self,
        abstraction: &Abstraction,
        number: &[Option<NodeId>],
        kind: NodeKind,
        edges: impl Iterator<Item = Edge>,
        (point, stores): (Option<Point>, Predicate),
    ) -> NodeId {
        let node = |at: usize| number[at].expect("sources are numbered first");
        let mut links = Vec::new();
        let mut rules = Vec::new();
        for edge in edges {
            links.push(match edge {
                Edge::Step(from, rule) => Link::Step(node(from), Rc::clone(abstraction.step(rule))),
                Edge::Push(from, rule) => Link::Push(node(from), Rc::clone(abstraction.step(rule))),
                Edge::Enter(from) => Link::Enter(node(from)),
                Edge::Return { pivot, exit } => Link::Return { pivot: node(pivot), exit: node(exit) },
            });
            rules.push(match edge {
                Edge::Step(_, rule) | Edge::Push(_, rule) => Some(rule),
                Edge::Enter(_) | Edge::Return { .. } => None,
            });
        }
        self.points.push(point);
        self.rules.push(rules);
        self.stores.push(stores);
        self.dag.add(kind, links)
    }

    /// The procedures that return, those with the fewest nodes first.
    pub fn returning(&self) -> Vec<ProcedureId> {
        let mut sizes: BTreeMap<ProcedureId, usize> = BTreeMap::new();
        for procedure in self.frames.iter().flatten() {
            *sizes.entry(*procedure).or_default() += 1;
        }
        let mut all: Vec<ProcedureId> = sizes.keys().copied().collect();
        all.sort_by_key(|procedure| (sizes[procedure], *procedure));
        all
    }

    /// What can hold at each node, if only some of the procedures that return are looked into.
    ///
    /// `effect` says what is known of the others: a formula of their exit.
    pub fn strongest(&self, opened: &Opened, effect: impl Fn(ProcedureId) -> Predicate) -> Vec<Predicate> {
        let anything = self.dag.space().domain().constant(true);
        self.dag.strongest_with(|node| {
            let closed = self.frames[node.0 as usize].filter(|procedure| !opened.contains(procedure))?;
            Some(if self.dag.kind(node) == NodeKind::Exit { effect(closed) } else { anything.clone() })
        })
    }

    /// The rules of a counterexample that can be run, if there is one: backwards from the bottom.
    pub fn real(&self, strongest: &[Predicate]) -> Option<Vec<RuleId>> {
        let bottom = NodeId(self.dag.len() as u32 - 1);
        let mut rules = Vec::new();
        self.walk(strongest, bottom, strongest.last()?.clone(), &mut rules)?;
        rules.reverse();
        Some(rules)
    }

    /// Adds the rules of a run that ends at `at` in one of the stores of `goal`, the last rule
    /// first.
    fn walk(
        &self,
        strongest: &[Predicate],
        mut at: NodeId,
        mut goal: Predicate,
        rules: &mut Vec<RuleId>,
    ) -> Option<()> {
        let space = self.dag.space();
        let d = space.domain();
        let never = d.constant(false);
        loop {
            let starts_here = match self.dag.kind(at) {
                NodeKind::Top => true,
                NodeKind::Entry => d.and(&goal, space.entry()) != never,
                _ => false,
            };
            if starts_here {
                return Some(());
            }
            let links = self.dag.links(at).iter().zip(&self.rules[at.0 as usize]);
            let mut previous = None;
            for (link, rule) in links {
                let (from, possible) = match link {
                    Link::Step(from, step) => (*from, space.can_reach(&goal, step)),
                    Link::Push(from, push) => (*from, space.can_push(&goal, push)),
                    Link::Enter(pivot) => (*pivot, space.before_enter(&goal)),
                    Link::Return { pivot, exit } => {
                        let effect = &strongest[exit.0 as usize];
                        let all =
                            d.and(&space.exit_at_pivot(effect), &d.and(&strongest[pivot.0 as usize], &goal));
                        let Some((caller, callee)) = space.split_return(&all) else { continue };
                        // The callee's run comes before what has been found so far.
                        self.walk(strongest, *exit, callee, rules)?;
                        (*pivot, caller)
                    }
                };
                let possible = d.and(&possible, &strongest[from.0 as usize]);
                if possible != never {
                    rules.extend(rule);
                    previous = Some((from, possible));
                    break;
                }
            }
            (at, goal) = previous?;
        }
    }
}

/// What a search of an abstract system costs and finds.
pub(super) fn search(
    encoding: &Encoding,
    program: &Abstract,
    limits: &Limits,
) -> (Saturated<Predicate>, bool) {
    let d: &BddRelations = &program.domain;
    let start = Configuration { state: CONTROL, stack: vec![encoding.start] };
    let seed = Automaton::of_configuration(&program.system, &start, Reading::Backward, &d.one());
    let options = Options { order: Order::Priority, recording: Recording::Witnesses, limits: limits.clone() };
    let post =
        solve(wherefore_pushdown::Direction::Post, d, &program.system, &seed, Method::Worklist, &options);
    let failed = crate::encoding::stacks_with(&program.system, [encoding.failed], Reading::Forward, &());
    let reached = !d.is_zero(&post.automaton.summary(d, &failed));
    (post, reached)
}
