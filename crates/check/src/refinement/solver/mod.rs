//! Refinement with a solver, for programs whose data are too large for decision diagrams: C.
//!
//! \[Lal09\] §1.1.2, \[Kie05\] chapters 4 to 6. Each basic block is a relation between truth values
//! of predicates, found by the solver. The abstract program is an extended weighted pushdown system
//! whose weights are these relations as decision diagrams, and post\* decides it for all depths of
//! recursion. A failing abstract run is sliced, and executed with a frame for each of its calls; if
//! it cannot be run, nested interpolants are the next predicates: what callers must know, and what
//! callees do. Transitions on no failing abstract run are left out of later iterations. A proof is
//! about the whole program again, and is checked, edge by edge and call by call, before it counts.
//!
//! # Reading order
//! 1. [`check`]: the loop.
//! 2. `folding`: which calls have summaries; `names`, `block`, `graph`: the program; `constants`:
//!    what need not be tracked.
//! 3. `relations`: blocks as relations, by the solver; `abstraction`: the abstract program;
//!    `sharpen`: where it is too coarse; `narrow`: what is left out.
//! 4. `slices`: what of a counterexample matters; `counterexample`: whether it can be run.
//! 5. `learning`: what a spurious one teaches; `reasons`: why it cannot be run; `interpolants` and
//!    `before`: the formulas of a reason; `choice`: which reason; `counters`: guesses for loops.
//! 6. `proof` and `preconditions`: the check of proofs.
//! 7. [`project`]: the error projection; `separation`: the check of its proof; `conditions`: under
//!    which conditions the program fails.

mod abstraction;
mod before;
pub(crate) mod block;
mod choice;
mod conditions;
pub(crate) mod constants;
mod counterexample;
pub(crate) mod counters;
mod engine;
pub(crate) mod folding;
pub(crate) mod graph;
mod interpolants;
mod learning;
pub(crate) mod names;
mod narrow;
mod preconditions;
mod projection;
pub(crate) mod proof;
mod reasons;
mod relations;
mod separation;
mod sharpen;
mod slices;

use std::collections::BTreeMap;
use std::time::Instant;

use rustc_hash::FxHashMap;
use wherefore_domains::bdd::{BddRelations, Moment, Predicate};
use wherefore_program::{ErrorSite, Node, Program};
use wherefore_pushdown::{
    Automaton, Configuration, Direction, Limits, Method, Options, Order, Reading, Recording, Relational,
    Saturated, Semiring, State, StopReason, Symbol, Transition, solve,
};
use wherefore_smt::{BitBlaster, Budget as SolverBudget, Model, Reason, Term, Terms};

use crate::budget::Budget;
use crate::encoding::stacks_with;
use crate::prover::Prover;
use crate::refinement::{Examined, Search, Theory, refine};
use crate::symbolic::{Flat, Machine, run};
use crate::verdict::{EngineName, FailingRun};
use abstraction::{Abstract, Abstraction, Bit, CONTROL, Predicates, symbol};
use block::atoms;
use counterexample::{Executed, Path};
use folding::Folding;
use graph::{Graph, Point, PointId};
use interpolants::Triple;
use learning::{Lesson, Refuted};
use names::Frames;
use sharpen::Sharpening;
use slices::Slices;

pub use engine::SolverRefinement;
pub use folding::Calls;
pub use projection::{ProjectOptions, Projected, project};

/// What refinement found.
#[derive(Clone, Debug)]
pub enum Outcome {
    /// No run fails.
    Safe,
    /// A run that fails.
    Unsafe(Box<FailingRun>),
    /// Neither, and why.
    Unknown(StopReason),
}

/// The answer, and what it took.
#[derive(Clone, Debug)]
pub struct Answer {
    /// The answer.
    pub outcome: Outcome,
    /// How many counterexamples were excluded.
    pub iterations: usize,
    /// Predicates at all points, and at the point that has most.
    pub predicates: (usize, usize),
    /// What is tracked where, in the solver's words.
    pub tracked: Vec<(Node, Vec<String>)>,
    /// After a proof: what always holds where. Together they are the proof, and have been checked.
    pub invariants: Vec<(Node, String)>,
    /// A proof was found, but its check does not accept it, and why.
    pub unproved: Option<String>,
}

/// One iteration of the loop, for a progress display.
#[derive(Clone, Copy, Debug, Default)]
pub struct Iteration {
    /// Counterexamples ruled out.
    pub iterations: usize,
    /// Predicates at all points.
    pub predicates: usize,
    /// Steps of the counterexample.
    pub steps: usize,
}

const STACK_SIZE: usize = 1 << 30;

/// Stands for a predicate that has no expression in the source.
const NOT_WRITTEN: &str = "(a condition without an expression in the source)";

/// Decides whether a program can fail. A proof counts only if the prover accepts it.
pub fn check(
    program: &Program,
    targets: &[ErrorSite],
    calls: Calls,
    budget: &Budget,
    prover: &Prover,
    progress: &mut (dyn FnMut(&Iteration) + Send),
) -> Answer {
    let search = move || {
        let mut refinement = Refinement::new(program, targets, calls, budget, prover);
        let outcome = refinement.run(progress);
        refinement.answer(outcome)
    };
    std::thread::scope(|scope| {
        let thread = std::thread::Builder::new().stack_size(STACK_SIZE);
        match thread.spawn_scoped(scope, search) {
            Ok(thread) => thread.join().unwrap_or_else(|panic| std::panic::resume_unwind(panic)),
            Err(_) => Answer::unknown(StopReason::Memory),
        }
    })
}

impl Answer {
    fn unknown(stop: StopReason) -> Self {
        Self {
            outcome: Outcome::Unknown(stop),
            iterations: 0,
            predicates: (0, 0),
            tracked: Vec::new(),
            invariants: Vec::new(),
            unproved: None,
        }
    }
}

pub(crate) fn stop(reason: &Reason) -> StopReason {
    match reason {
        Reason::Time => StopReason::Time,
        Reason::Cancelled => StopReason::Cancelled,
        Reason::Conflicts | Reason::Work | Reason::Solver(_) => StopReason::Steps,
    }
}

/// A program under refinement.
struct Refinement<'a> {
    machine: Machine<'a>,
    graph: Graph,
    slices: Slices<'a>,
    predicates: Predicates,
    abstraction: Abstraction,
    budget: SolverBudget,
    /// Iterations at most.
    most_iterations: Option<u64>,
    iterations: usize,
    /// The last counterexample.
    last: Iteration,
    /// Who checks proofs.
    prover: Prover,
    /// After a proof: the invariant of each point.
    invariants: Vec<Term>,
    /// Why a proof that was found does not count.
    unproved: Option<String>,
}

impl<'a> Refinement<'a> {
    fn new(
        program: &'a Program,
        targets: &[ErrorSite],
        calls: Calls,
        budget: &Budget,
        prover: &Prover,
    ) -> Self {
        let mut machine = Machine::new(Flat::new(program, targets));
        let graph = Graph::new(&mut machine, &Folding::new(program, calls));
        Self {
            machine,
            slices: Slices::new(program),
            predicates: Predicates::new(&graph),
            graph,
            abstraction: Abstraction::new(),
            budget: budget.solver(),
            most_iterations: budget.steps,
            iterations: 0,
            last: Iteration::default(),
            prover: prover.clone(),
            invariants: Vec::new(),
            unproved: None,
        }
    }

    fn run(&mut self, progress: &mut (dyn FnMut(&Iteration) + Send)) -> Outcome {
        let found = refine(self, &mut |refinement, _| progress(&refinement.last));
        match found {
            Ok(super::Outcome::Safe(())) => Outcome::Safe,
            Ok(super::Outcome::Unsafe(run)) => Outcome::Unsafe(run),
            Err(stop) => Outcome::Unknown(stop),
        }
    }

    /// What a progress display is told of a counterexample.
    fn iteration(&self, path: &Path) -> Iteration {
        let (predicates, _) = self.predicates.count();
        Iteration { iterations: self.iterations, predicates, steps: path.steps.len() }
    }

    /// The abstract program; if an element is given, with only the failing runs through it.
    fn abstract_program(&mut self, through: Option<abstraction::Element>) -> Result<Abstract, StopReason> {
        let made = self.abstraction.program(
            &mut self.machine.terms,
            &self.graph,
            &self.predicates,
            through,
            &self.budget,
        );
        made.map_err(|reason| stop(&reason))
    }

    fn post_star(&self, program: &Abstract) -> Result<Saturated<Predicate>, StopReason> {
        let d = &program.bits;
        let start = Configuration { state: CONTROL, stack: vec![program.start] };
        let seed = Automaton::of_configuration(&program.system, &start, Reading::Backward, &d.one());
        let time = self.budget.deadline.map(|deadline| deadline.saturating_duration_since(Instant::now()));
        let limits = Limits { time, steps: None, memory: None, cancel: self.budget.cancel.clone() };
        let options = Options { order: Order::Fifo, recording: Recording::Witnesses, limits };
        let post = solve(Direction::Post, d, &program.system, &seed, Method::Worklist, &options);
        match post.stop {
            _ if self.abstraction.exhausted() || d.exhausted() => Err(StopReason::Memory),
            StopReason::Complete => Ok(post),
            stop => Err(stop),
        }
    }

    /// Some failing run of the abstract program.
    fn failing_path(
        &self,
        program: &Abstract,
        post: &Saturated<Predicate>,
    ) -> Result<Option<Path>, StopReason> {
        let goal = goal(program);
        if program.bits.is_zero(&post.automaton.summary(&program.bits, &goal)) {
            return Ok(None);
        }
        let rules = post.some_run(&program.bits, &program.system, &goal).ok_or(StopReason::Memory)?;
        let rules = rules.into_iter().map(|rule| rule.index());
        Path::new(&self.graph, program, rules).map(Some).ok_or(StopReason::Steps)
    }

    /// Runs a path, or learns why it cannot be run, first from its slice.
    fn examine_path(&mut self, program: &Abstract, path: &Path) -> Result<Examined<Box<FailingRun>>, Reason> {
        if let Some(slice) = self.slices.slice(&mut self.machine, &self.graph, path) {
            let executed = counterexample::execute(&mut self.machine, &self.graph, &slice);
            let mut solver = BitBlaster::new();
            if executed.model(&mut self.machine.terms, &mut solver, &self.budget)?.is_none() {
                let lesson = self.learn(&mut solver, &executed, &slice)?;
                if self.track(&lesson) {
                    return Ok(Examined::Excluded);
                }
            }
        }
        let executed = counterexample::execute(&mut self.machine, &self.graph, path);
        let mut solver = BitBlaster::new();
        if let Some(model) = executed.model(&mut self.machine.terms, &mut solver, &self.budget)? {
            return Ok(Examined::Real(Box::new(self.failure(&executed, path, &model))));
        }
        let lesson = self.learn(&mut solver, &executed, path)?;
        let grown = self.track(&lesson) || self.sharpen(program, &lesson)?;
        Ok(if grown { Examined::Excluded } else { Examined::Open })
    }

    fn learn(&mut self, solver: &mut BitBlaster, executed: &Executed, path: &Path) -> Result<Lesson, Reason> {
        let (graph, predicates, budget) = (&self.graph, &self.predicates, &self.budget);
        Refuted { graph, path, executed, predicates, budget }.learn(&mut self.machine.terms, solver)
    }

    /// Tracks what formulas are made of, each at its point; whether something is new.
    fn track(&mut self, lesson: &Lesson) -> bool {
        let terms = &mut self.machine.terms;
        let mut grown = false;
        for (point, formula) in lesson.triples.iter().flat_map(Triple::formulas) {
            for atom in atoms(terms, formula) {
                grown |= self.predicates.track(terms, &self.graph, point, atom);
            }
        }
        for (point, formulas) in &lesson.more {
            for formula in formulas {
                grown |= self.predicates.track(terms, &self.graph, *point, *formula);
            }
        }
        grown
    }

    fn sharpen(&mut self, program: &Abstract, lesson: &Lesson) -> Result<bool, Reason> {
        let sharpening = Sharpening {
            graph: &self.graph,
            predicates: &self.predicates,
            bits: &program.bits,
            budget: &self.budget,
        };
        sharpening.run(&mut self.abstraction, &mut self.machine.terms, &lesson.triples)
    }

    /// The run along a path that a model of the solver makes.
    fn failure(&self, executed: &Executed, path: &Path, model: &Model) -> FailingRun {
        let flat = &self.machine.flat;
        let stores: Vec<_> = executed.stores.iter().collect();
        let trace = run::trace(flat, &self.machine.terms, model, &executed.edges, &stores);
        let (target, by) = (self.graph.errors[&path.end(&self.graph)], EngineName::Refinement);
        let path = executed.edges.iter().map(|edge| flat.edges[*edge as usize].edge).collect();
        FailingRun {
            trace,
            path,
            target,
            is_shortest: false,
            by,
            replay: None,
            schedule: None,
            left_out: None,
            steps_left_out: 0,
        }
    }

    /// At each point, which truth values can be there, together with those at the entry that lead
    /// to them.
    fn reached(&mut self, program: &Abstract, post: &Saturated<Predicate>) -> Vec<Term> {
        let transitions = post.automaton.transitions_from(CONTROL);
        let weights = transitions.map(|(transition, weight)| (transition, weight.clone())).collect();
        let predicates = &self.predicates;
        formulas(&mut self.machine.terms, &self.graph, predicates, program, post, weights)
    }

    fn answer(&self, outcome: Outcome) -> Answer {
        let invariants: Vec<(PointId, Term)> = self.invariants.iter().copied().enumerate().collect();
        let invariants = in_words(&self.machine, &self.graph, &invariants);
        let tracked = self.tracked();
        let (predicates, unproved) = (self.predicates.count(), self.unproved.clone());
        Answer { outcome, iterations: self.iterations, predicates, tracked, invariants, unproved }
    }

    /// What is tracked where.
    fn tracked(&self) -> Vec<(Node, Vec<String>)> {
        let mut tracked = Vec::new();
        for (point, list) in self.graph.points.iter().zip(&self.predicates.at) {
            let Some(place) = point.place.filter(|_| !list.is_empty()) else { continue };
            let words = self.graph.names.vocabulary(&self.machine, place, Frames::All);
            let word = |formula: Term| {
                words.write(&self.machine.terms, formula).unwrap_or_else(|| NOT_WRITTEN.to_owned())
            };
            let mut words: Vec<String> = list.iter().map(|(formula, _)| word(*formula)).collect();
            words.dedup();
            tracked.push((self.machine.flat.node(place), words));
        }
        tracked
    }
}

/// Invariants of points, location by location: what holds in one of the calls that a location is
/// folded for. A location whose invariant speaks of callers, or has no expression in the source, is
/// left out.
pub(crate) fn in_words(
    machine: &Machine<'_>,
    graph: &Graph,
    invariants: &[(PointId, Term)],
) -> Vec<(Node, String)> {
    let mut of_nodes: BTreeMap<Node, Option<Vec<String>>> = BTreeMap::new();
    for (point, formula) in invariants {
        let Some(place) = graph.points[*point].place.filter(|_| *formula != Terms::FALSE) else { continue };
        let words = graph.names.vocabulary(machine, place, Frames::Own);
        let text = words.write(&machine.terms, *formula);
        let known = of_nodes.entry(machine.flat.node(place)).or_insert_with(|| Some(Vec::new()));
        match (known.as_mut(), text) {
            (Some(list), Some(text)) if !list.contains(&text) => list.push(text),
            (Some(_), Some(_)) => {}
            _ => *known = None,
        }
    }
    let joined = |list: Vec<String>| match list.as_slice() {
        [one] => one.clone(),
        many if many.iter().any(|text| text == "true") => "true".to_owned(),
        many => many.iter().map(|text| format!("({text})")).collect::<Vec<_>>().join(" || "),
    };
    of_nodes.into_iter().filter_map(|(node, list)| Some((node, joined(list?)))).collect()
}

/// The abstract program of an iteration, its post\*, and a failing run of it.
struct Searched {
    program: Abstract,
    post: Saturated<Predicate>,
    path: Option<Path>,
}

impl Theory for Refinement<'_> {
    type Abstraction = Searched;
    type Run = Box<FailingRun>;
    type Proof = ();

    fn look(&self, iterations: usize) -> Result<(), StopReason> {
        self.budget.look().map_err(|reason| stop(&reason))?;
        match self.most_iterations {
            Some(most) if iterations as u64 >= most => Err(StopReason::Steps),
            _ => Ok(()),
        }
    }

    fn search(&mut self, _: usize) -> Result<Search<Searched>, StopReason> {
        loop {
            let program = self.abstract_program(None)?;
            let post = self.post_star(&program)?;
            if let Some(path) = self.failing_path(&program, &post)? {
                self.last = self.iteration(&path);
                return Ok(Search::Fails(Searched { program, post, path: Some(path) }));
            }
            if !self.widen() {
                return Ok(Search::Holds(Searched { program, post, path: None }));
            }
        }
    }

    /// The reachable truth values are a proof, if a separate check accepts them.
    fn prove(&mut self, Searched { program, post, .. }: Searched) -> Result<(), StopReason> {
        let invariants = self.reached(&program, &post);
        let solver = &mut *self.prover.solver();
        let known = self.graph.with_facts(&mut self.machine, &invariants);
        let checked = proof::check(&mut self.machine, &self.graph, &known, solver, &self.budget);
        self.invariants = invariants;
        match checked.refusal() {
            None => Ok(()),
            Some((why, stop)) => {
                self.unproved = Some(why);
                Err(stop)
            }
        }
    }

    fn examine(
        &mut self,
        Searched { program, post, path }: Searched,
        iterations: usize,
    ) -> Result<Examined<Box<FailingRun>>, StopReason> {
        let Some(path) = path else { return Ok(Examined::Open) };
        let examined = self.examine_path(&program, &path).map_err(|reason| stop(&reason))?;
        if let Examined::Excluded = examined {
            self.narrow(&program, &post);
            self.iterations = iterations + 1;
        }
        Ok(examined)
    }
}

/// The configurations where a run has failed.
fn goal(program: &Abstract) -> Automaton<()> {
    stacks_with(&program.system, [program.failed], Reading::Forward, &())
}

/// Weights of transitions as formulas about points: relations between truth values at the entry of
/// the procedure and at the point.
fn formulas(
    terms: &mut Terms,
    graph: &Graph,
    predicates: &Predicates,
    program: &Abstract,
    post: &Saturated<Predicate>,
    weights: Vec<(Transition, Predicate)>,
) -> Vec<Term> {
    let (d, automaton) = (&program.bits, &post.automaton);
    let contexts = automaton.contexts(d);
    let outermost = graph.points[graph.start].procedure;
    let mut by_symbol: FxHashMap<Option<Symbol>, Vec<(State, Predicate)>> = FxHashMap::default();
    for (transition, weight) in weights {
        by_symbol.entry(transition.symbol).or_default().push((transition.to, weight));
    }
    let mut entered: FxHashMap<PointId, Predicate> = FxHashMap::default();
    let mut formulas = Vec::new();
    for (point, Point { procedure, place }) in graph.points.iter().enumerate() {
        let entry = graph.entries[procedure];
        let at_entry = entered.entry(entry).or_insert_with(|| {
            let at_entry = contexts.of_top(d, automaton, CONTROL, symbol(entry));
            d.stores_of(&d.range_of(&at_entry))
        });
        // What a procedure leaves when it returns is on transitions without a symbol.
        let top = place.map(|_| symbol(point));
        let mut known = Terms::FALSE;
        for (to, weight) in by_symbol.get(&top).into_iter().flatten() {
            let relation = match automaton.entry_of(*to) {
                Some((_, of)) if of == symbol(entry) => d.and(weight, at_entry),
                // The outermost call started with one store.
                None if *procedure == outermost => d.primed(&d.stores_of(&d.range_of(weight))),
                _ => continue,
            };
            let formula = formula(terms, graph, predicates, point, d, &relation);
            known = terms.or(known, formula);
        }
        formulas.push(known);
    }
    formulas
}

/// A relation between truth values at the entry of a procedure and at a point of it, as a formula.
fn formula(
    terms: &mut Terms,
    graph: &Graph,
    predicates: &Predicates,
    point: PointId,
    d: &BddRelations,
    relation: &Predicate,
) -> Term {
    let procedure = graph.points[point].procedure;
    let at_entry = graph.names.at_entry(procedure);
    let mut of_bit: FxHashMap<(usize, Moment), Term> = FxHashMap::default();
    for (formula, bit) in predicates.bits(graph.entries[&procedure], Bit::Local) {
        of_bit.insert((bit, Moment::Current), terms.substitute(formula, &at_entry));
    }
    for (formula, bit) in predicates.here(graph, point) {
        of_bit.insert((bit, Moment::Next), formula);
    }
    d.fold_relation(relation, (Terms::FALSE, Terms::TRUE), &mut |bit, moment, high, low| {
        // A bit that is not tracked here is 0.
        of_bit.get(&(bit, moment)).map_or(low, |formula| terms.ite(*formula, high, low))
    })
}
