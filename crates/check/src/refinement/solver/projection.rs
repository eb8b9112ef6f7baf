//! The error projection of a C program: which locations lie on failing runs, and under which
//! conditions.
//!
//! \[Lal09\] §5.1 and §5.5: a location is inside if some failing run goes through it. The
//! projection of the abstract program is computed exactly, for all depths of recursion, by
//! [`Completions`]; since the abstraction has all runs of the program, what is outside is *proved*
//! to be outside. What is inside need not lie on a real failing run: for each such location an
//! abstract failing run through it is taken and examined. If it can be run, it confirms every
//! location on it; if not, its interpolants make the abstraction finer.
//!
//! **Invariant:** `confirmed ⊆ locations on failing runs ⊆ inside`, at every moment.
//!
//! **Blocks.** The graph has basic blocks as edges. A location within a block has one way in and
//! one way out, so the runs through it that fail are the runs that take the whole block and fail:
//! it is inside if the block is. A run that stops within a block does not fail.
//!
//! **Folded calls.** A location may occur several times; it is inside, or confirmed, if one of its
//! places is.

use std::collections::{BTreeMap, BTreeSet};

use rustc_hash::FxHashMap;
use wherefore_domains::bdd::Predicate;
use wherefore_program::{ErrorSite, LocationKind, Node, Program};
use wherefore_pushdown::{
    Completions, Relational, Saturated, Semiring, StopReason, Symbol, Transition as Moved,
};
use wherefore_smt::Reason;

use super::abstraction::{Abstract, CONTROL, Element, Predicates};
use super::conditions::{self, Alternatives};
use super::graph::{Graph, PointId, Transition};
use super::names::Frames;
use super::proof::Checked;
use super::separation::Separation;
use super::{Calls, Iteration, Refinement, STACK_SIZE, formulas, goal, stop};
use crate::Prover;
use crate::refinement::Examined;
use crate::symbolic::{Machine, PlaceId};
use crate::verdict::{Decision, FailingRun};

/// Which locations lie on failing runs.
#[derive(Clone, Debug)]
pub struct Projected {
    /// Whether the program can fail, as far as this search knows.
    pub verdict: Decision,
    /// Locations on some failing run of the last abstraction, or on a real one: all others are on
    /// no failing run.
    pub inside: BTreeSet<Node>,
    /// Locations on a real failing run, with the position of one in [`runs`](Self::runs).
    pub confirmed: BTreeMap<Node, usize>,
    /// Failing runs: those given as seeds, then those found here.
    pub runs: Vec<FailingRun>,
    /// For locations inside: the conditions under which the abstract program is there and goes on
    /// to fail. Several alternatives, each a conjunction; an empty one is no condition. A failing
    /// run satisfies one of them wherever it is.
    pub stores: BTreeMap<Node, Vec<Vec<String>>>,
    /// What the abstraction tracks where, in the solver's words.
    pub tracked: Vec<(Node, Vec<String>)>,
    /// Why some locations inside are not confirmed; none if all are.
    pub reason: Option<StopReason>,
    /// Whether a separate check has accepted the proof that no failing run leaves `inside`. It is
    /// not made when a limit was met.
    pub is_checked: bool,
    /// Counterexamples that were ruled out.
    pub iterations: usize,
}

impl Projected {
    /// Whether the projection is exact: every location inside lies on a real failing run.
    pub fn is_exact(&self) -> bool {
        self.reason.is_none()
    }

    /// Nothing is known but these runs: every location may be inside.
    fn unknown(program: &Program, runs: Vec<FailingRun>, reason: StopReason) -> Self {
        let verdict = if runs.is_empty() { Decision::Unknown(reason) } else { Decision::Unsafe };
        let is_place = |node: &Node| program.location(*node).kind != LocationKind::Exit;
        Self {
            verdict,
            inside: program.nodes().filter(is_place).collect(),
            confirmed: confirmed_by(&runs),
            runs,
            stores: BTreeMap::new(),
            tracked: Vec::new(),
            reason: Some(reason),
            is_checked: false,
            iterations: 0,
        }
    }
}

/// What a projection starts from, and what it may spend on a location.
#[derive(Clone, Debug)]
pub struct ProjectOptions {
    /// Failing runs that are known already, of any engine.
    pub seeds: Vec<FailingRun>,
    /// How calls are treated.
    pub calls: Calls,
    /// Counterexamples that are ruled out at most for the sake of one place, before it is left
    /// unconfirmed.
    pub effort: usize,
}

impl Default for ProjectOptions {
    fn default() -> Self {
        Self { seeds: Vec::new(), calls: Calls::Auto, effort: 200 }
    }
}

fn confirmed_by(runs: &[FailingRun]) -> BTreeMap<Node, usize> {
    let mut confirmed = BTreeMap::new();
    for (run, failure) in runs.iter().enumerate() {
        for node in failure.trace.states().filter_map(wherefore_program::State::node) {
            confirmed.entry(node).or_insert(run);
        }
    }
    confirmed
}

/// Computes the error projection; `progress` is told of each counterexample.
///
/// **Ensures:** see [`Projected`]. A limit leaves a larger projection, never a wrong one.
pub fn project(
    program: &Program,
    targets: &[ErrorSite],
    options: &ProjectOptions,
    budget: &crate::Budget,
    progress: &mut (dyn FnMut(&Iteration) + Send),
) -> Projected {
    std::thread::scope(|scope| {
        let thread = std::thread::Builder::new().stack_size(STACK_SIZE);
        match thread.spawn_scoped(scope, || search(program, targets, options, budget, progress)) {
            Ok(thread) => thread.join().unwrap_or_else(|panic| std::panic::resume_unwind(panic)),
            Err(_) => Projected::unknown(program, options.seeds.clone(), StopReason::Memory),
        }
    })
}

fn search(
    program: &Program,
    targets: &[ErrorSite],
    options: &ProjectOptions,
    budget: &crate::Budget,
    progress: &mut (dyn FnMut(&Iteration) + Send),
) -> Projected {
    let refinement = Refinement::new(program, targets, options.calls, budget, &Prover::default());
    let mut projection = Projection {
        places: Places::new(&refinement.machine, &refinement.graph),
        refinement,
        confirmed: confirmed_by(&options.seeds),
        runs: options.seeds.clone(),
        last: None,
        effort: options.effort,
    };
    let stopped = projection.run(progress);
    projection.answer(stopped)
}

/// Where the locations of the program are in the graph.
struct Places {
    elements: BTreeMap<Node, Vec<Element>>,
    nodes: BTreeMap<Element, Vec<Node>>,
    /// How many blocks and calls each point is away from an error.
    distance: Vec<u32>,
}

impl Places {
    fn new(machine: &Machine<'_>, graph: &Graph) -> Self {
        let flat = &machine.flat;
        let mut elements: BTreeMap<Node, Vec<Element>> = BTreeMap::new();
        for (number, point) in graph.points.iter().enumerate() {
            if let Some(place) = point.place {
                elements.entry(flat.node(place)).or_default().push(Element::Point(number));
            }
        }
        for (at, block) in graph.blocks.iter().enumerate() {
            for edge in block.edges.iter().skip(1) {
                let within = flat.node(flat.edges[*edge as usize].from);
                elements.entry(within).or_default().push(Element::Block(at));
            }
        }
        let mut nodes: BTreeMap<Element, Vec<Node>> = BTreeMap::new();
        for (node, places) in &elements {
            for element in places {
                nodes.entry(*element).or_default().push(*node);
            }
        }
        Self { elements, nodes, distance: distances(graph) }
    }
}

/// The distance of each point to an error in the graph, whatever the values.
fn distances(graph: &Graph) -> Vec<u32> {
    let mut into: Vec<Vec<PointId>> = vec![Vec::new(); graph.points.len()];
    for block in graph.steps() {
        into[block.to].push(block.from);
    }
    for site in &graph.calls {
        into[site.enter.to].push(site.enter.from);
        into[site.resume.to].push(graph.exits[&site.callee]);
    }
    let mut distance = vec![u32::MAX; graph.points.len()];
    let mut open: Vec<PointId> = graph.errors.keys().copied().collect();
    open.iter().for_each(|error| distance[*error] = 0);
    let mut next = 0;
    while let Some(point) = open.get(next).copied() {
        next += 1;
        for before in &into[point] {
            if distance[*before] == u32::MAX {
                distance[*before] = distance[point] + 1;
                open.push(*before);
            }
        }
    }
    distance
}

/// An abstraction, and what is inside there.
struct Snapshot {
    program: Abstract,
    post: Saturated<Predicate>,
    /// The parts of the weights that occur on failing runs.
    completed: Vec<(Moved, Predicate)>,
    inside: BTreeSet<Element>,
    predicates: Predicates,
}

struct Projection<'a> {
    refinement: Refinement<'a>,
    places: Places,
    confirmed: BTreeMap<Node, usize>,
    runs: Vec<FailingRun>,
    last: Option<Snapshot>,
    effort: usize,
}

/// How many counterexamples are ruled out for the sake of a place in the first round; three times
/// as many in each later one.
const FIRST_EFFORT: usize = 6;

/// How many places are looked at in one abstraction.
const AT_ONCE: usize = 6;

impl Projection<'_> {
    /// Confirms what is inside, or rules it out; what ended it, if a limit did.
    fn run(&mut self, progress: &mut (dyn FnMut(&Iteration) + Send)) -> Result<(), StopReason> {
        self.renew()?;
        let start = Element::Point(self.refinement.graph.start);
        // First of all, whether it can fail.
        if self.runs.is_empty() && self.is_inside(start) {
            self.settle(vec![start], usize::MAX, progress)?;
        }
        let mut effort = FIRST_EFFORT.min(self.effort);
        loop {
            let mut tried = BTreeSet::new();
            let before = (self.refinement.iterations, self.runs.len());
            loop {
                let some = self.choose(&tried);
                if some.is_empty() {
                    break;
                }
                // What is settled will not be chosen again.
                tried.extend(some.iter().copied());
                self.settle(some, effort, progress)?;
            }
            let after = (self.refinement.iterations, self.runs.len());
            if tried.is_empty() || after == before || effort >= self.effort {
                return Ok(());
            }
            effort = (3 * effort).min(self.effort);
        }
    }

    /// Examines runs through some elements until of each one is real, or there is none, or the
    /// effort is spent. The projection is made anew once for all of them.
    fn settle(
        &mut self,
        mut elements: Vec<Element>,
        effort: usize,
        progress: &mut (dyn FnMut(&Iteration) + Send),
    ) -> Result<(), StopReason> {
        for _ in 0..effort {
            let mut open = Vec::new();
            for element in elements {
                if self.is_inside(element)
                    && !self.is_confirmed(element)
                    && self.examine(element, progress)?
                {
                    open.push(element);
                }
            }
            if open.is_empty() {
                break;
            }
            self.renew()?;
            elements = open;
        }
        Ok(())
    }

    /// Whether every location of an element is on a real failing run.
    fn is_confirmed(&self, element: Element) -> bool {
        let nodes = self.places.nodes.get(&element);
        nodes.is_some_and(|nodes| nodes.iter().all(|node| self.confirmed.contains_key(node)))
    }

    fn is_inside(&self, element: Element) -> bool {
        self.last.as_ref().is_some_and(|last| last.inside.contains(&element))
    }

    /// Places inside of locations that are not confirmed. Those that are far from failing come
    /// first, whose runs are likely to pass others; the rest lie apart, so that they have different
    /// reasons.
    fn choose(&self, tried: &BTreeSet<Element>) -> Vec<Element> {
        let Some(last) = &self.last else { return Vec::new() };
        let open = self.places.elements.iter().filter(|(node, _)| !self.confirmed.contains_key(*node));
        let is_open = |element: &&Element| last.inside.contains(element) && !tried.contains(element);
        let mut some: Vec<Element> =
            open.filter_map(|(_, elements)| elements.iter().find(is_open).copied()).collect();
        some.sort_by_key(|element| {
            let point = match element {
                Element::Point(point) => *point,
                Element::Block(block) => self.refinement.graph.blocks[*block].from,
            };
            (std::cmp::Reverse(self.places.distance[point]), *element)
        });
        some.dedup();
        let apart = some.len().div_ceil(AT_ONCE).max(1);
        some.into_iter().step_by(apart).collect()
    }

    /// The abstraction with all predicates, and its projection.
    fn renew(&mut self) -> Result<(), StopReason> {
        let refinement = &mut self.refinement;
        refinement.budget.look().map_err(|reason| stop(&reason))?;
        let program = refinement.abstract_program(None)?;
        let post = refinement.post_star(&program)?;
        let goal = goal(&program);
        let completions = Completions::new(&program.bits, &program.system, &post.automaton, &goal);
        let is_point = |symbol: &Symbol| symbol.index() < refinement.graph.points.len();
        let points = completions.nodes().into_iter().map(|(_, symbol)| symbol).filter(is_point);
        let mut inside: BTreeSet<Element> = points.map(|symbol| Element::Point(symbol.index())).collect();
        for (rule, _) in program.system.rules() {
            if let Some(Transition::Block(block)) = program.origins[rule.index()] {
                if completions.contains_rule(rule) {
                    inside.insert(Element::Block(block));
                }
            }
        }
        let completed = completions.weights().collect();
        if program.bits.exhausted() {
            return Err(StopReason::Memory);
        }
        let predicates = refinement.predicates.clone();
        self.last = Some(Snapshot { program, post, completed, inside, predicates });
        Ok(())
    }

    /// Takes a run through an element and looks whether it can be run; whether the element is still
    /// open, and the abstraction finer.
    fn examine(
        &mut self,
        element: Element,
        progress: &mut (dyn FnMut(&Iteration) + Send),
    ) -> Result<bool, StopReason> {
        let refinement = &mut self.refinement;
        let program = refinement.abstract_program(Some(element))?;
        let post = refinement.post_star(&program)?;
        // What another run has brought may be enough for this one.
        let Some(path) = refinement.failing_path(&program, &post)? else { return Ok(true) };
        progress(&refinement.iteration(&path));
        match refinement.examine_path(&program, &path) {
            Ok(Examined::Real(run)) => {
                self.runs.push(*run);
                self.confirmed = confirmed_by(&self.runs);
                Ok(false)
            }
            Ok(Examined::Excluded) => {
                refinement.iterations += 1;
                Ok(true)
            }
            Ok(Examined::Open) => Ok(false),
            Err(reason @ (Reason::Time | Reason::Cancelled)) => Err(stop(&reason)),
            Err(_) => Ok(false),
        }
    }

    fn answer(mut self, stopped: Result<(), StopReason>) -> Projected {
        let program = self.refinement.machine.flat.program;
        let reason = stopped.err().unwrap_or(StopReason::Steps);
        let Some(last) = self.last.take() else {
            return Projected::unknown(program, self.runs, reason);
        };
        let is_checked = match self.certify(&last) {
            Checked::Proof => true,
            Checked::Unknown(_) => false,
            // An error of ours: nothing is excluded then.
            Checked::Broken => {
                debug_assert!(false, "the projection is not separated from what is outside");
                return Projected::unknown(program, self.runs, StopReason::Steps);
            }
        };
        let inside_here = |elements: &[Element]| elements.iter().any(|element| last.inside.contains(element));
        let mut inside: BTreeSet<Node> = (self.places.elements.iter())
            .filter(|(_, elements)| inside_here(elements))
            .map(|(node, _)| *node)
            .collect();
        inside.extend(self.confirmed.keys().copied());
        let exact = inside.iter().all(|node| self.confirmed.contains_key(node));
        let verdict = match (self.runs.is_empty(), inside.is_empty()) {
            (false, _) => Decision::Unsafe,
            (true, true) if is_checked => Decision::Safe,
            _ => Decision::Unknown(reason),
        };
        let stores = self.stores(&last);
        Projected {
            verdict,
            inside,
            confirmed: self.confirmed,
            runs: self.runs,
            stores,
            tracked: self.refinement.tracked(),
            reason: (!exact).then_some(reason),
            is_checked,
            iterations: self.refinement.iterations,
        }
    }

    /// Whether the separate check accepts what is outside, in the time that is left.
    fn certify(&mut self, last: &Snapshot) -> Checked {
        let Refinement { machine, graph, budget, .. } = &mut self.refinement;
        let automaton = &last.post.automaton;
        let reached =
            automaton.transitions_from(CONTROL).map(|(transition, weight)| (transition, weight.clone()));
        let mut of = |weights: Vec<(Moved, Predicate)>| {
            formulas(&mut machine.terms, graph, &last.predicates, &last.program, &last.post, weights)
        };
        let goal = goal(&last.program);
        let (d, system) = (&last.program.bits, &last.program.system);
        let open = Completions::before_return(d, system, automaton, &goal);
        let separation = Separation {
            reached: of(reached.collect()),
            leading: of(last.completed.clone()),
            failing: of(open.weights().collect()),
        };
        separation.check(machine, graph, |element| last.inside.contains(&element), budget)
    }

    /// The conditions at the locations inside, those of several places of a location together; as
    /// many as the time is enough for.
    fn stores(&mut self, last: &Snapshot) -> BTreeMap<Node, Vec<Vec<String>>> {
        let Refinement { machine, graph, budget, .. } = &mut self.refinement;
        let d = &last.program.bits;
        // The truth values on failing runs.
        let mut here: FxHashMap<PointId, Predicate> = FxHashMap::default();
        for (transition, weight) in &last.completed {
            if let Some(point) = transition.symbol.map(Symbol::index).filter(|i| *i < graph.points.len()) {
                let known = here.entry(point).or_insert_with(|| d.zero());
                *known = d.or(known, &d.range_of(weight));
            }
        }
        let mut rules: FxHashMap<usize, Predicate> = FxHashMap::default();
        for (rule, _) in last.program.system.rules() {
            if let Some(Transition::Block(block)) = last.program.origins[rule.index()] {
                rules.insert(block, last.program.system.weight(rule).clone());
            }
        }
        let tracked = |point: PointId| last.predicates.here(graph, point);
        let mut ways: BTreeMap<PointId, Vec<usize>> = BTreeMap::new();
        for element in &last.inside {
            if let Element::Block(at) = element {
                ways.entry(graph.blocks[*at].from).or_default().push(*at);
            }
        }
        // What is tracked at a point; if that says nothing, the guards of the blocks that follow.
        let mut at_points: BTreeMap<PointId, Alternatives> = BTreeMap::new();
        let mut behind_blocks: BTreeMap<usize, Alternatives> = BTreeMap::new();
        for (point, stores) in &here {
            let found = conditions::of(&mut machine.terms, d, &tracked(*point), &d.stores_of(stores));
            at_points.insert(*point, found);
        }
        for at in ways.values().flatten() {
            let block = &graph.blocks[*at];
            let (Some(weight), Some(before), Some(after)) =
                (rules.get(at), here.get(&block.from), here.get(&block.to))
            else {
                continue;
            };
            let behind = d.and(&d.range_of(&d.extend(before, weight)), after);
            let behind = d.stores_of(&behind);
            behind_blocks.insert(*at, conditions::of(&mut machine.terms, d, &tracked(block.to), &behind));
        }
        let nothing: Alternatives = vec![Vec::new()];
        for (point, found) in &mut at_points {
            let calls = graph.calls.iter().any(|site| site.enter.from == *point);
            if !graph.errors.contains_key(point) && !calls && conditions::is_nothing(found) {
                let ways = ways.get(point).into_iter().flatten();
                let ways = ways.map(|at| {
                    let behind = behind_blocks.get(at).unwrap_or(&nothing);
                    (&*graph.blocks[*at], behind)
                });
                *found = conditions::of_ways(&mut machine.terms, ways);
            }
        }
        let mut stores: BTreeMap<Node, Vec<Vec<String>>> = BTreeMap::new();
        for element in last.inside.iter().take_while(|_| budget.look().is_ok()) {
            let mut add = |machine: &mut Machine<'_>, place: PlaceId, found| {
                let vocabulary = graph.names.vocabulary(machine, place, Frames::All);
                let words = conditions::in_source_words(&mut machine.terms, found, &vocabulary, budget);
                stores.entry(machine.flat.node(place)).or_default().extend(words);
            };
            match *element {
                Element::Point(point) => {
                    let found = at_points.get(&point).cloned();
                    if let (Some(place), Some(found)) = (graph.points[point].place, found) {
                        add(machine, place, found);
                    }
                }
                Element::Block(at) => {
                    let block = &graph.blocks[at];
                    let Some(mut behind) = behind_blocks.get(&at) else { continue };
                    if conditions::is_nothing(behind) {
                        behind = at_points.get(&block.to).unwrap_or(behind);
                    }
                    for first in 1..block.edges.len() {
                        let rest = graph.rest(machine, at, first);
                        let found = conditions::before(&mut machine.terms, &rest, behind);
                        add(machine, machine.flat.edges[block.edges[first] as usize].from, found);
                    }
                }
            }
        }
        stores.values_mut().for_each(conditions::shorten);
        stores
    }
}
