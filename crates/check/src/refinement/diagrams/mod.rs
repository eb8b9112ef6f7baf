//! Refinement with decision diagrams, for programs over finite data.
//!
//! \[Kie05\] chapters 4 to 7. The loop: abstract the program by the predicates known so far; search
//! the abstract program; if the error is out of reach there, the program is safe; else take a DAG
//! of counterexamples, and either one of them can be run, or their interpolants are the predicates
//! of the next cycle.
//!
//! # Reading order
//! 1. [`Cegar`]: the loop, and what it tells.
//! 2. `predicates`: what is tracked where. `abstraction`: the abstract program.
//! 3. `counterexample`: the DAG, and real runs.
//! 4. [`interpolants`]: interpolants of formulas, and of DAGs of counterexamples.
//! 5. `describe`: predicates in the words of the program.

mod abstraction;
mod counterexample;
mod describe;
mod draw;
mod engine;
pub mod interpolants;
mod predicates;

use std::collections::{BTreeSet, VecDeque};
use std::time::{Duration, Instant};

use wherefore_domains::bdd::{BddRelations, Moment, Predicate};
use wherefore_program::{ErrorSite, Expr, ModRef, Node, ProcedureId, Program, ProgramError, Trace, Var};
use wherefore_pushdown::{
    AdjointProjection, Direction, FunctionalAutomaton, Limits, Method, Options, Order, Reading, Recording,
    Saturated, Semiring, StopReason, solve,
};

use crate::encoding::{CONTROL, Encoding, Layout, concrete, stacks_with};
use crate::refinement::diagrams::interpolants::{Heuristic, NodeId, Space};
use crate::refinement::{Examined, Outcome, Search, Theory, refine};
use crate::verdict::{CheckError, Decision};
use abstraction::{Abstract, Abstraction};
use counterexample::{Counterexamples, Opened, search};
use predicates::{Point, Predicates};

pub use crate::verdict::{PointKind, Tracked};
pub use engine::DiagramRefinement;

/// Abstract variables that have a place above the concrete ones in the diagrams' order (§7.3).
const RESERVE: usize = 192;

/// Whether predicates are left out where the abstraction knows enough (§8.3).
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub enum Stopping {
    /// Go up the DAG only as far as needed.
    #[default]
    Lazy,
    /// Go to the top.
    Eager,
}

/// How to refine, and what it may cost.
#[derive(Clone, Debug, Default)]
pub struct CegarOptions {
    /// Which interpolants become predicates.
    pub heuristic: Heuristic,
    /// How far up the DAG.
    pub stopping: Stopping,
    /// Limits on the whole loop; `steps` counts cycles.
    pub limits: Limits,
    /// Whether to draw the DAG of every cycle.
    pub drawing: Drawing,
}

/// Whether to draw the DAGs of counterexamples.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub enum Drawing {
    /// No.
    #[default]
    Off,
    /// Those that are spurious, with their interpolants.
    Spurious,
}

/// One iteration of the loop.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Cycle {
    /// The number of refinements so far.
    pub refinements: usize,
    /// Predicates at all points.
    pub predicates: usize,
    /// Predicates at the point that has most of them.
    pub most_predicates: usize,
    /// Locations that lie on some abstract failing run.
    pub inside: usize,
    /// Locations of the program.
    pub locations: usize,
    /// Rules abstracted so far.
    pub abstracted: usize,
    /// Time since the start.
    pub elapsed: Duration,
}

/// What the loop found.
#[derive(Clone, Debug)]
pub struct Refined {
    /// Whether the program can fail.
    pub decision: Decision,
    /// A failing run, replayed by the interpreter, if the verdict is [`Decision::Unsafe`].
    pub trace: Option<Trace>,
    /// The last cycle.
    pub last: Cycle,
}

/// A program under refinement.
///
/// ```
/// use wherefore_check::refinement::diagrams::{Cegar, CegarOptions};
/// use wherefore_check::Decision;
/// use wherefore_program::TargetChoice;
///
/// let program = wherefore_frontend::boolean::parse("lock.bp", "
///     decl locked, other;
///     void main() begin
///       locked := F;
///       while (*) do other := !other; od
///       assert(!locked);
///     end
/// ", None).unwrap();
/// let targets = program.targets(&TargetChoice::Default).unwrap();
/// let mut cegar = Cegar::new(&program, &targets, CegarOptions::default()).unwrap();
/// let refined = cegar.run(&mut |_| {});
/// assert_eq!(refined.decision, Decision::Safe);
/// assert_eq!(refined.last.most_predicates, 1);
/// ```
pub struct Cegar<'a> {
    program: &'a Program,
    options: CegarOptions,
    encoding: Encoding,
    space: Space,
    abstraction: Abstraction,
    predicates: Predicates,
    /// Rules that lie on some abstract failing run, as far as known.
    live: Vec<bool>,
    /// Locations that lie on some abstract failing run, as far as known.
    inside: BTreeSet<Node>,
    locations: usize,
    pictures: Vec<String>,
    mod_ref: ModRef,
    begin: Instant,
}

/// What can hold at each node, and the predicates to track there.
type Interpolated = (Vec<Predicate>, Vec<Vec<Predicate>>);

impl<'a> Cegar<'a> {
    /// Encodes the program.
    pub fn new(
        program: &'a Program,
        targets: &[ErrorSite],
        options: CegarOptions,
    ) -> Result<Self, CheckError> {
        let begin = Instant::now();
        let layout = Layout::new(program);
        crate::exact::takes(program, &layout)?;
        let bits = layout.bits();
        let capacity = options.limits.memory.map_or(1 << 26, |bytes| (bytes / 32).clamp(1 << 12, 1 << 28));
        let cache = (bits * 4096).clamp(1 << 16, 1 << 20).min(capacity);
        let domain = BddRelations::with_reserve(bits, RESERVE, capacity, cache);
        let encoding = Encoding::outline(program, targets, layout, domain.clone());
        let space = Space::new(domain, &encoding.layout.local_bits());
        let abstraction = Abstraction::new(&encoding, &space);
        let live = vec![true; encoding.system.rule_count()];
        let inside: BTreeSet<Node> = program.nodes().filter(|node| program.line(*node).is_some()).collect();
        let locations = inside.len();
        let predicates = Predicates::default();
        Ok(Self {
            program,
            options,
            encoding,
            space,
            abstraction,
            predicates,
            live,
            inside,
            locations,
            pictures: Vec::new(),
            mod_ref: ModRef::new(program),
            begin,
        })
    }

    /// Runs the loop to its end; `progress` is told of every iteration.
    pub fn run(&mut self, progress: &mut dyn FnMut(&Cycle)) -> Refined {
        let mut refinements = 0;
        let outcome = refine(self, &mut |cegar, iterations| {
            refinements = iterations;
            progress(&cegar.cycle(iterations));
        });
        let (decision, trace) = match outcome {
            Ok(Outcome::Safe(())) => (Decision::Safe, None),
            Ok(Outcome::Unsafe(trace)) => (Decision::Unsafe, Some(trace)),
            Err(stop) => (Decision::Unknown(stop), None),
        };
        Refined { decision, trace, last: self.cycle(refinements) }
    }

    fn cycle(&self, refinements: usize) -> Cycle {
        Cycle {
            refinements,
            predicates: self.predicates.total(),
            most_predicates: self.predicates.most(),
            inside: self.inside.len(),
            locations: self.locations,
            abstracted: self.abstraction.computed,
            elapsed: self.begin.elapsed(),
        }
    }

    /// What is left of the limits for one search.
    fn limits(&self) -> Limits {
        let time = self.options.limits.time.map(|time| time.saturating_sub(self.begin.elapsed()));
        Limits { memory: None, steps: None, time, ..self.options.limits.clone() }
    }

    /// Whether the limits allow going on.
    fn check_limits(&self, refinements: usize) -> Result<(), StopReason> {
        let limits = &self.options.limits;
        let cancelled = limits.cancel.as_ref().is_some_and(|c| c.load(std::sync::atomic::Ordering::Relaxed));
        if self.encoding.domain.exhausted() {
            return Err(StopReason::Memory);
        }
        if cancelled {
            return Err(StopReason::Cancelled);
        }
        if limits.steps.is_some_and(|most| refinements as u64 > most) {
            return Err(StopReason::Steps);
        }
        match limits.time {
            Some(time) if self.begin.elapsed() >= time => Err(StopReason::Time),
            _ => Ok(()),
        }
    }

    /// Drops the rules that lie on no abstract failing run (\[Lal09\] §5.1).
    fn project(
        &mut self,
        program: &Abstract,
        post: &Saturated<Predicate>,
        limits: &Limits,
    ) -> Result<(), StopReason> {
        let d = &program.domain;
        let seed = stacks_with(&program.system, [self.encoding.failed], Reading::Forward, &d.one());
        let options = Options { order: Order::Priority, recording: Recording::Off, limits: limits.clone() };
        let pre = solve(Direction::Pre, d, &program.system, &seed, Method::Worklist, &options);
        if !pre.stop.is_complete() {
            return Err(pre.stop);
        }
        let functional = FunctionalAutomaton::new(d, &program.system, &post.automaton, &pre.automaton);
        let adjoint = AdjointProjection::new(&functional);
        let mut live = vec![false; self.live.len()];
        for (id, _) in program.system.rules() {
            let (rule, _) = program.parts[id.index()];
            live[rule.index()] = live[rule.index()] || adjoint.contains_rule(id);
        }
        if self.encoding.domain.exhausted() {
            return Err(StopReason::Memory);
        }
        self.live = live;
        self.inside =
            adjoint.nodes().into_iter().filter_map(|(_, symbol)| self.encoding.node(symbol)).collect();
        Ok(())
    }

    /// The strongest interpolants, or what stands for them, and the predicates that the heuristic
    /// takes; `None` if the DAG is not spurious.
    ///
    /// A procedure that returns is looked into only if that is needed: at first it may do anything
    /// to the globals that it can change. If then no counterexample can be run, and nothing need be
    /// known of the effect of the procedure, its body is left alone, however complicated it is.
    fn interpolate(
        &self,
        program: &Abstract,
        found: &Counterexamples<'_>,
        refinements: usize,
    ) -> Result<Option<Interpolated>, StopReason> {
        let trivial = [self.space.domain().constant(true), self.space.domain().constant(false)];
        let mut closed: VecDeque<ProcedureId> = found.returning().into();
        let mut opened = Opened::new();
        loop {
            let strongest = found.strongest(&opened, |procedure| self.frame(procedure));
            self.check_limits(refinements)?;
            if !found.dag.is_spurious(&strongest) {
                // Look into as many procedures as are open already, and one more.
                let next = (opened.len() + 1).min(closed.len());
                if next == 0 {
                    return Ok(None);
                }
                opened.extend(closed.drain(..next));
                continue;
            }
            let chosen = self.choose(program, found, &strongest);
            self.check_limits(refinements)?;
            let needed: Opened = (found.frames.iter().zip(&chosen))
                .filter(|(_, formulas)| formulas.iter().any(|formula| !trivial.contains(formula)))
                .filter_map(|(frame, _)| *frame)
                .filter(|procedure| !opened.contains(procedure))
                .collect();
            if needed.is_empty() {
                return Ok(Some((strongest, chosen)));
            }
            closed.retain(|procedure| !needed.contains(procedure));
            opened.extend(needed);
        }
    }

    /// "The procedure leaves the globals that it cannot change as they were".
    fn frame(&self, procedure: ProcedureId) -> Predicate {
        let d = self.space.domain();
        let effects = self.mod_ref.effects(procedure);
        let globals =
            (0..self.program.globals.len() as u32).filter(|global| !effects.writes.contains(global));
        let cells = globals.flat_map(|global| {
            let cells = self.program.globals[global as usize].ty.cell_count();
            (0..cells).map(move |cell| (Var::Global(global), cell))
        });
        let bits =
            cells.flat_map(|(var, cell)| self.encoding.layout.cell(self.program, procedure, var, cell));
        let mut bits: Vec<usize> = bits.collect();
        bits.sort_unstable();
        let same = |bit: usize| d.equiv(&d.at(bit, Moment::Current), &d.at(bit, Moment::History));
        bits.into_iter().rev().fold(d.constant(true), |all, bit| d.and(&same(bit), &all))
    }

    /// The predicates that the heuristic takes from a spurious DAG, node by node.
    fn choose(
        &self,
        program: &Abstract,
        found: &Counterexamples<'_>,
        strongest: &[Predicate],
    ) -> Vec<Vec<Predicate>> {
        let d = self.space.domain();
        let bits = &program.domain;
        let all_bits: Vec<usize> = (0..bits.variable_count()).collect();
        let links: Vec<Option<Predicate>> = (found.points.iter())
            .map(|point| point.map(|point| self.predicates.concretisation(&self.space, bits, point)))
            .collect();
        let known = |NodeId(node): NodeId| -> Option<Predicate> {
            if self.options.stopping == Stopping::Eager {
                return None;
            }
            let link = links[node as usize].as_ref()?;
            Some(bits.exists(&d.and(link, &found.stores[node as usize]), &all_bits))
        };
        found.dag.choose(self.options.heuristic, strongest, known)
    }

    /// A counterexample that can be run, with values.
    fn real(&self, found: &Counterexamples<'_>) -> Result<Trace, StopReason> {
        let rules = found.real(&found.dag.strongest()).ok_or(StopReason::Memory)?;
        let rules = self.encoding.to_target(&rules);
        let encoding = self.encoding.clone().weighed(|rule| rules.contains(&rule));
        let trace = concrete::trace(&encoding, self.program, rules).ok_or(StopReason::Memory)?;
        match self.program.replay(&trace) {
            Ok(()) => Ok(trace),
            Err(ProgramError::TooManyOutcomes { .. }) => Err(StopReason::Steps),
            Err(error) => panic!("a run of the refinement loop does not replay: {error}"),
        }
    }

    /// Boolean variables of a store, rules of the system, and nodes of all diagrams.
    pub fn size(&self) -> (usize, usize, usize) {
        let nodes = self.encoding.domain.node_count();
        (self.encoding.layout.bits(), self.encoding.system.rule_count(), nodes)
    }

    /// Tracks a condition at a location from the start.
    pub fn track(&mut self, node: Node, condition: &Expr) {
        let formula = self.encoding.condition(self.program, node.procedure, condition);
        self.predicates.add(self.space.domain(), Point::At(self.encoding.symbol(node)), formula);
    }

    /// The locations that can be reached in the abstract program of the predicates so far.
    pub fn reachable(&mut self) -> Result<BTreeSet<Node>, StopReason> {
        let all = vec![true; self.live.len()];
        let made = self.abstraction.system(&self.encoding, &self.space, &self.predicates, &all, || true);
        let program = made.ok_or(StopReason::Time)?;
        let (post, _) = search(&self.encoding, &program, &self.limits());
        self.check_limits(0)?;
        let d = &program.domain;
        let contexts = post.automaton.contexts(d);
        let is_reached = |node: &Node| {
            !d.is_zero(&contexts.of_top(d, &post.automaton, CONTROL, self.encoding.symbol(*node)))
        };
        Ok(self.program.nodes().filter(is_reached).collect())
    }

    /// The predicates, point by point, in the words of the program.
    pub fn describe(&self) -> Vec<Tracked> {
        describe::describe(self.program, &self.encoding, &self.predicates)
    }

    /// The DAGs of all cycles in the DOT language, if they were asked for.
    pub fn pictures(&self) -> &[String] {
        &self.pictures
    }

    /// The locations that lie on some abstract failing run of the last search; none after a proof.
    pub fn inside(&self) -> &BTreeSet<Node> {
        &self.inside
    }
}

impl Theory for Cegar<'_> {
    type Abstraction = (Abstract, Saturated<Predicate>);
    type Run = Trace;
    type Proof = ();

    fn look(&self, iterations: usize) -> Result<(), StopReason> {
        self.check_limits(iterations)
    }

    fn search(&mut self, iterations: usize) -> Result<Search<Self::Abstraction>, StopReason> {
        let limits = self.limits();
        let deadline = limits.time.and_then(|time| Instant::now().checked_add(time));
        let go_on = || deadline.is_none_or(|deadline| Instant::now() < deadline);
        let made = self.abstraction.system(&self.encoding, &self.space, &self.predicates, &self.live, go_on);
        let program = made.ok_or(StopReason::Time)?;
        let (post, reached) = search(&self.encoding, &program, &limits);
        self.check_limits(iterations)?;
        if !post.stop.is_complete() {
            return Err(post.stop);
        }
        let found = (program, post);
        Ok(if reached { Search::Fails(found) } else { Search::Holds(found) })
    }

    /// Saturation is the proof: what is dropped by [`project`](Cegar::project) is on no failing run
    /// of a finer abstraction either, for the relations here are exact.
    fn prove(&mut self, _: Self::Abstraction) -> Result<(), StopReason> {
        self.inside.clear();
        Ok(())
    }

    fn examine(
        &mut self,
        (program, post): Self::Abstraction,
        iterations: usize,
    ) -> Result<Examined<Trace>, StopReason> {
        self.project(&program, &post, &self.limits())?;
        let limits = self.limits();
        let found =
            Counterexamples::new(&self.encoding, &self.space, &self.abstraction, &program, &post, &limits)?;
        let Some((strongest, chosen)) = self.interpolate(&program, &found, iterations)? else {
            return Ok(Examined::Real(self.real(&found)?));
        };
        if self.options.drawing == Drawing::Spurious {
            let formulas = (&strongest[..], &chosen[..]);
            self.pictures.push(draw::dot(self.program, &self.encoding, &found, formulas, iterations + 1));
        }
        let d = self.space.domain();
        let mut grown = false;
        for (point, formulas) in found.points.iter().zip(chosen) {
            for formula in formulas {
                grown |= point.is_some_and(|point| self.predicates.add(d, point, formula));
            }
        }
        self.check_limits(iterations)?;
        debug_assert!(grown, "interpolants rule out the counterexamples that they were computed from");
        Ok(if grown { Examined::Excluded } else { Examined::Open })
    }
}
