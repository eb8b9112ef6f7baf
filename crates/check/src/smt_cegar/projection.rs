//! The error projection of a C program: which locations lie on failing runs, and under which
//! conditions.
//!
//! \[Lal09\] §5.1 and §5.5: a location is inside if some failing run goes through it. The
//! projection of the abstract program is computed exactly (`layers`); since the abstraction has all
//! runs of the program, what is outside is *proved* to be outside. What is inside need not lie on a
//! real failing run: for each such location an abstract failing run through it is taken and
//! examined. If it can be run, it confirms every location on it; if not, its interpolants make the
//! abstraction finer.
//!
//! **Invariant:** `confirmed ⊆ locations on failing runs ⊆ inside`, at every moment.
//!
//! **Blocks.** The graph has basic blocks as edges. A location within a block has one way in and
//! one way out, so the runs through it that fail are the runs that take the whole block and fail:
//! it is inside if the block is. A run that stops within a block does not fail.
//!
//! **Frames.** Calls are inlined, so a location may occur several times; it is inside, or
//! confirmed, if one of its places is.
//!
//! **Cuts.** A recursive call that is too deep to be inlined is a goal like an error, for a run may
//! fail beyond it. If the abstract program reaches one, all that may be executed beyond it
//! (`beyond`) counts as inside, unless no error is there.

use std::collections::{BTreeMap, BTreeSet};
use std::time::Instant;

use wherefore_program::{ErrorSite, LocationKind, Node, Program};
use wherefore_pushdown::{Limits, Semiring, StopReason};
use wherefore_smt::{Budget, Reason};

use super::beyond::beyond;
use super::blocks::{Blocks, Frames, NodeId};
use super::certificate::{Checked, Separation};
use super::conditions::Alternatives;
use super::layers::{Element, Graph, Layers};
use super::path::Feasibility;
use super::{Abstract, Cycle, DEPTH, MOST_PLACES, Refinement, STACK_SIZE, conditions, stop};
use crate::symbolic::{Flat, Machine};
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
    /// run satisfies one of them wherever it is, as far as calls are inlined.
    pub stores: BTreeMap<Node, Vec<Vec<String>>>,
    /// What the abstraction tracks where, in the solver's words.
    pub tracked: Vec<(Node, Vec<String>)>,
    /// Why some locations inside are not confirmed; none if all are.
    pub reason: Option<StopReason>,
    /// Whether a separate check has accepted the proof that no failing run leaves `inside`. It is
    /// not made when a limit was met.
    pub is_checked: bool,
    /// Counterexamples that were ruled out.
    pub cycles: usize,
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
            cycles: 0,
        }
    }
}

/// What a projection starts from, and what it may spend on a location.
#[derive(Clone, Debug)]
pub struct ProjectOptions {
    /// Failing runs that are known already, of any engine.
    pub seeds: Vec<FailingRun>,
    /// Counterexamples that are ruled out at most for the sake of one place, before it is left
    /// unconfirmed.
    pub effort: usize,
}

impl Default for ProjectOptions {
    fn default() -> Self {
        Self { seeds: Vec::new(), effort: 200 }
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
    progress: &mut (dyn FnMut(&Cycle) + Send),
) -> Projected {
    let limits = &budget.limits();
    std::thread::scope(|scope| {
        let thread = std::thread::Builder::new().stack_size(STACK_SIZE);
        match thread.spawn_scoped(scope, || search(program, targets, options, limits, progress)) {
            Ok(thread) => thread.join().unwrap_or_else(|panic| std::panic::resume_unwind(panic)),
            Err(_) => Projected::unknown(program, options.seeds.clone(), StopReason::Memory),
        }
    })
}

fn search(
    program: &Program,
    targets: &[ErrorSite],
    options: &ProjectOptions,
    limits: &Limits,
    progress: &mut (dyn FnMut(&Cycle) + Send),
) -> Projected {
    let deadline = limits.time.and_then(|time| Instant::now().checked_add(time));
    let budget = Budget { deadline, conflicts: None, cancel: limits.cancel.clone() };
    let Some(flat) = Flat::inlined(program, targets, DEPTH, MOST_PLACES) else {
        return Projected::unknown(program, options.seeds.clone(), StopReason::Memory);
    };
    // A cut matters only if a run may fail beyond it.
    let failing = beyond(&flat, flat.cuts.iter().copied());
    let matters = targets.iter().any(|site| failing.contains(&site.node));
    let mut machine = Machine::new(flat);
    let mut blocks = Blocks::new(&mut machine);
    if !matters {
        blocks.cuts.clear();
    }
    let places = Places::new(&machine, &blocks);
    let mut projection = Projection {
        refinement: Refinement::new(machine, blocks, budget),
        places,
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
}

impl Places {
    fn new(machine: &Machine<'_>, blocks: &Blocks) -> Self {
        let flat = &machine.flat;
        let mut elements: BTreeMap<Node, Vec<Element>> = BTreeMap::new();
        for (node, place) in blocks.places.iter().enumerate() {
            elements.entry(flat.node(*place)).or_default().push(Element::Node(node));
        }
        for (at, block) in blocks.blocks.iter().enumerate() {
            for edge in &block.edges[1..] {
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
        Self { elements, nodes }
    }
}

/// The last abstraction, and what is inside there.
struct Snapshot {
    program: Abstract,
    forwards: Layers,
    /// What leads to an error or a cut, and what leads to an error.
    backwards: Layers,
    failing: Layers,
    inside: BTreeSet<Element>,
    /// How many predicates each node had.
    tracked: Vec<usize>,
}

/// What became of one abstract run.
enum Examined {
    Confirmed,
    RuledOut,
    /// It is real, but ends at a cut; or no predicate rules it out.
    Open,
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
    fn run(&mut self, progress: &mut (dyn FnMut(&Cycle) + Send)) -> Result<(), StopReason> {
        self.renew()?;
        let start = Element::Node(self.refinement.blocks.start);
        // First of all, whether it can fail.
        if self.runs.is_empty() && self.is_inside(start) {
            self.settle(vec![start], usize::MAX, progress)?;
        }
        let mut effort = FIRST_EFFORT.min(self.effort);
        loop {
            let mut tried = BTreeSet::new();
            let before = (self.refinement.cycles, self.runs.len());
            loop {
                let some = self.choose(&tried);
                if some.is_empty() {
                    break;
                }
                // What is settled will not be chosen again.
                tried.extend(some.iter().copied());
                self.settle(some, effort, progress)?;
            }
            let after = (self.refinement.cycles, self.runs.len());
            if tried.is_empty() || after == before || effort >= self.effort {
                return Ok(());
            }
            effort = (3 * effort).min(self.effort);
        }
    }

    /// Examines runs through some elements until of each one is real, or there is none, or the
    /// effort is spent. The abstraction is made anew once for all of them.
    fn settle(
        &mut self,
        mut elements: Vec<Element>,
        effort: usize,
        progress: &mut (dyn FnMut(&Cycle) + Send),
    ) -> Result<(), StopReason> {
        for _ in 0..effort {
            let mut open = Vec::new();
            for element in elements {
                if self.is_inside(element) && !self.is_confirmed(element) {
                    if let Examined::RuledOut = self.examine(element, progress)? {
                        open.push(element);
                    }
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
            let node = match element {
                Element::Node(node) => *node,
                Element::Block(block) => self.refinement.blocks.blocks[*block].from,
            };
            (std::cmp::Reverse(last.backwards.farthest(node)), *element)
        });
        some.dedup();
        let apart = some.len().div_ceil(AT_ONCE).max(1);
        some.into_iter().step_by(apart).collect()
    }

    /// The abstraction with all predicates, and its projection.
    fn renew(&mut self) -> Result<(), StopReason> {
        let refinement = &mut self.refinement;
        refinement.budget.look().map_err(|reason| stop(&reason))?;
        let program = refinement.abstract_program().map_err(|reason| stop(&reason))?;
        let (blocks, budget) = (&refinement.blocks, &refinement.budget);
        let graph = Graph::new(&program, blocks.places.len(), blocks.start);
        let forwards = graph.forwards(budget)?;
        let errors = || blocks.errors.keys().copied();
        let reached: Vec<NodeId> =
            blocks.cuts.iter().copied().filter(|cut| !program.bits.is_zero(forwards.of(*cut))).collect();
        let failing = graph.backwards(&forwards, errors(), budget)?;
        let backwards = match reached.is_empty() {
            true => failing.clone(),
            false => graph.backwards(&forwards, errors().chain(reached), budget)?,
        };
        let elements = (0..blocks.places.len()).map(Element::Node);
        let elements = elements.chain((0..blocks.blocks.len()).map(Element::Block));
        let inside = elements.filter(|element| graph.contains(&forwards, &backwards, *element)).collect();
        let tracked = refinement.predicates.iter().map(Vec::len).collect();
        self.last = Some(Snapshot { program, forwards, backwards, failing, inside, tracked });
        Ok(())
    }

    /// Takes a run through an element and looks whether it can be run.
    fn examine(
        &mut self,
        element: Element,
        progress: &mut (dyn FnMut(&Cycle) + Send),
    ) -> Result<Examined, StopReason> {
        let Some(last) = &self.last else { return Ok(Examined::Open) };
        let refinement = &mut self.refinement;
        let blocks = &refinement.blocks;
        let graph = Graph::new(&last.program, blocks.places.len(), blocks.start);
        let to_error = graph.run_through(&last.forwards, &last.failing, element);
        let path = to_error.or_else(|| graph.run_through(&last.forwards, &last.backwards, element));
        let Some(path) = path else { return Ok(Examined::Open) };
        progress(&Cycle {
            cycles: refinement.cycles,
            predicates: refinement.predicates.iter().map(Vec::len).sum(),
            steps: path.len(),
        });
        let end = path.last().map_or(blocks.start, |block| blocks.blocks[*block].to);
        match refinement.examine(&path) {
            Ok(Feasibility::Real(stores, model)) if refinement.blocks.errors.contains_key(&end) => {
                let failure = refinement.failure(&path, &stores, &model);
                self.runs.push(failure);
                self.confirmed = confirmed_by(&self.runs);
                Ok(Examined::Confirmed)
            }
            Ok(Feasibility::Real(..)) => Ok(Examined::Open),
            Ok(Feasibility::Spurious(found)) => {
                // Formulas that were cut short may rule out nothing.
                let is_newer = |refinement: &Refinement<'_>| {
                    refinement.predicates.iter().map(Vec::len).ne(last.tracked.iter().copied())
                };
                // What another run of the same abstraction has brought may be enough for this one.
                let sharper = refinement.track_all(found)
                    || is_newer(refinement)
                    || match refinement.sharpen(&last.program, &path) {
                        Err(reason @ (Reason::Time | Reason::Cancelled)) => return Err(stop(&reason)),
                        sharper => sharper.unwrap_or(false),
                    };
                if sharper {
                    refinement.cycles += 1;
                    Ok(Examined::RuledOut)
                } else {
                    Ok(Examined::Open)
                }
            }
            Err(reason @ (Reason::Time | Reason::Cancelled)) => Err(stop(&reason)),
            Err(_) => Ok(Examined::Open),
        }
    }

    fn answer(mut self, stopped: Result<(), StopReason>) -> Projected {
        let program = self.refinement.machine.flat.program;
        let Some(last) = self.last.take() else {
            let reason = stopped.err().unwrap_or(StopReason::Memory);
            return Projected::unknown(program, self.runs, reason);
        };
        let is_checked = self.certify(&last);
        let inside_here = |elements: &[Element]| elements.iter().any(|element| last.inside.contains(element));
        let mut inside: BTreeSet<Node> = (self.places.elements.iter())
            .filter(|(_, elements)| inside_here(elements))
            .map(|(node, _)| *node)
            .collect();
        let blocks = &self.refinement.blocks;
        let reached = blocks.cuts.iter().filter(|cut| last.inside.contains(&Element::Node(**cut)));
        let reached: Vec<_> = reached.map(|cut| blocks.places[*cut]).collect();
        if !reached.is_empty() {
            inside.extend(beyond(&self.refinement.machine.flat, reached));
        }
        inside.extend(self.confirmed.keys().copied());
        let exact = inside.iter().all(|node| self.confirmed.contains_key(node));
        let reason = stopped.err().unwrap_or(StopReason::Steps);
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
            cycles: self.refinement.cycles,
        }
    }

    /// Whether the separate check accepts what is outside, in the time that is left.
    fn certify(&mut self, last: &Snapshot) -> bool {
        let d = &last.program.bits;
        let refinement = &mut self.refinement;
        let nodes = 0..refinement.blocks.places.len();
        let mut of = |layers: &Layers| -> Vec<_> {
            nodes
                .clone()
                .map(|node| refinement.formula(d, node, last.tracked[node], layers.of(node)))
                .collect()
        };
        let separation = Separation { reached: of(&last.forwards), leading: of(&last.backwards) };
        let blocks = &refinement.blocks;
        let is_inside = |element: Element| last.inside.contains(&element);
        let terms = &mut refinement.machine.terms;
        match separation.check(terms, blocks, &refinement.initial, is_inside, &refinement.budget) {
            Checked::Proof => true,
            Checked::Unknown(_) => false,
            Checked::Broken => panic!("what is outside of the projection is not proved to be"),
        }
    }

    /// The conditions at the locations inside, those of several places of a location together; as
    /// many as the time is enough for.
    fn stores(&mut self, last: &Snapshot) -> BTreeMap<Node, Vec<Vec<String>>> {
        let Refinement { machine, blocks, predicates, budget, .. } = &mut self.refinement;
        let d = &last.program.bits;
        let graph = Graph::new(&last.program, blocks.places.len(), blocks.start);
        let tracked = |node: NodeId| &predicates[node][..last.tracked[node]];
        let mut ways: BTreeMap<NodeId, Vec<usize>> = BTreeMap::new();
        for element in &last.inside {
            if let Element::Block(at) = element {
                ways.entry(blocks.blocks[*at].from).or_default().push(*at);
            }
        }
        // What is tracked at a node; if that says nothing, the guards of the ways on.
        let mut at_nodes: BTreeMap<NodeId, Alternatives> = BTreeMap::new();
        let mut behind_blocks: BTreeMap<usize, Alternatives> = BTreeMap::new();
        for node in last.inside.iter().filter_map(|element| element.node()) {
            let here = d.and(last.forwards.of(node), last.backwards.of(node));
            at_nodes.insert(node, conditions::of(&mut machine.terms, d, tracked(node), &here));
        }
        for at in ways.values().flatten() {
            let Some(here) = graph.behind(&last.forwards, &last.backwards, *at) else { continue };
            let to = blocks.blocks[*at].to;
            behind_blocks.insert(*at, conditions::of(&mut machine.terms, d, tracked(to), &here));
        }
        for (node, found) in &mut at_nodes {
            let is_goal = blocks.errors.contains_key(node) || blocks.cuts.contains(node);
            if !is_goal && conditions::is_nothing(found) {
                let ways = ways.get(node).into_iter().flatten();
                let ways = ways.filter_map(|at| Some((&blocks.blocks[*at], behind_blocks.get(at)?)));
                *found = conditions::of_ways(&mut machine.terms, ways);
            }
        }
        let mut stores: BTreeMap<Node, Vec<Vec<String>>> = BTreeMap::new();
        for element in last.inside.iter().take_while(|_| budget.look().is_ok()) {
            let mut add = |machine: &mut Machine<'_>, place, found| {
                let vocabulary = blocks.vocabulary(machine, place, Frames::All);
                let words = conditions::in_source_words(&mut machine.terms, found, &vocabulary, budget);
                stores.entry(machine.flat.node(place)).or_default().extend(words);
            };
            match *element {
                Element::Node(node) => add(machine, blocks.places[node], at_nodes[&node].clone()),
                Element::Block(at) => {
                    let block = &blocks.blocks[at];
                    let Some(mut behind) = behind_blocks.get(&at) else { continue };
                    if conditions::is_nothing(behind) {
                        behind = at_nodes.get(&block.to).unwrap_or(behind);
                    }
                    for first in 1..block.edges.len() {
                        let rest = blocks.rest(machine, at, first);
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
