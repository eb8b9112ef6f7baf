//! Explicit search through whole configurations: slow, obvious, and therefore the judge of other
//! engines.
//!
//! Every configuration that can be reached is visited once, breadth first, so that the first error
//! found is at the end of a shortest run. Recursion and wide data make the set large or infinite:
//! the search is complete only if [`Exploration::coverage`] says so.

use std::collections::{BTreeMap, BTreeSet};

use rustc_hash::{FxHashMap, FxHashSet};

use crate::expression::Var;
use crate::interpret::{Extent, Interpreter, State};
use crate::program::{EdgeRef, LocationKind, Node, Program};
use crate::replay::{Step, Trace};
use crate::targets::ErrorSite;

/// How far to search.
#[derive(Clone, Copy, Debug)]
pub struct ExploreLimits {
    /// How many configurations at most.
    pub configurations: usize,
    /// How many combinations of choices are tried at most for one step.
    pub choices: usize,
}

impl Default for ExploreLimits {
    fn default() -> Self {
        Self { configurations: 200_000, choices: 1 << 16 }
    }
}

/// How much of the program was seen.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Coverage {
    /// Every configuration.
    Complete,
    /// There are more configurations than the limit.
    TooManyConfigurations,
    /// A step has more outcomes than the limit.
    TooManyChoices,
    /// The program has threads, of which only the first was run.
    Threads,
}

/// What is known about one error.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Outcome {
    /// Some run gets there.
    Reached,
    /// No run gets there.
    Unreachable,
    /// No run was found, but not all were looked at.
    Unknown,
}

/// Which configurations count.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Runs {
    /// Those on any run.
    All,
    /// Those on a run from the start to an error.
    Failing,
}

/// The graph of all configurations that were reached.
///
/// ```
/// # use wherefore_program::{explore, ExploreLimits, Outcome, Program, TargetChoice};
/// # fn run(program: &Program) -> Result<(), wherefore_program::ProgramError> {
/// let targets = program.targets(&TargetChoice::Default)?;
/// let exploration = explore(program, &targets, ExploreLimits::default());
/// if exploration.outcome() == Outcome::Reached {
///     let trace = exploration.shortest_trace().expect("an error was reached");
///     program.replay(&trace)?;
/// }
/// # Ok(())
/// # }
/// ```
pub struct Exploration<'a> {
    interpreter: Interpreter<'a>,
    targets: FxHashSet<Node>,
    states: Vec<State>,
    /// For each state but the first ones, the step that found it.
    parents: Vec<Option<(u32, EdgeRef)>>,
    steps: Vec<(u32, EdgeRef, u32)>,
    failing: Vec<bool>,
    coverage: Coverage,
}

/// Searches from the entry with all initial values.
pub fn explore<'a>(program: &'a Program, targets: &[ErrorSite], limits: ExploreLimits) -> Exploration<'a> {
    let mut search = Exploration {
        interpreter: Interpreter::new(program),
        targets: targets.iter().map(|target| target.node).collect(),
        states: Vec::new(),
        parents: Vec::new(),
        steps: Vec::new(),
        failing: Vec::new(),
        coverage: Coverage::Complete,
    };
    search.run(limits);
    if search.coverage == Coverage::Complete && program.uses_threads().is_some() {
        search.coverage = Coverage::Threads;
    }
    // Cells of memory that may hold anything are taken for zero.
    let arbitrary = |variable: &crate::Variable| variable.ty.is_memory() && variable.initial.is_none();
    if search.coverage == Coverage::Complete && program.globals.iter().any(arbitrary) {
        search.coverage = Coverage::TooManyChoices;
    }
    search.mark_failing();
    search
}

impl<'a> Exploration<'a> {
    fn run(&mut self, limits: ExploreLimits) {
        let mut ids: FxHashMap<State, u32> = FxHashMap::default();
        let (initial, extent) = self.interpreter.initial_states(limits.configurations);
        if extent == Extent::Cut {
            self.coverage = Coverage::TooManyConfigurations;
        }
        for state in initial {
            self.add(state, None, &mut ids);
        }
        let mut next = 0;
        while next < self.states.len() {
            let (successors, extent) = self.interpreter.successors(&self.states[next], limits.choices);
            if extent == Extent::Cut && self.coverage == Coverage::Complete {
                self.coverage = Coverage::TooManyChoices;
            }
            for (edge, state) in successors {
                if self.states.len() >= limits.configurations && !ids.contains_key(&state) {
                    self.coverage = Coverage::TooManyConfigurations;
                    return;
                }
                let id = self.add(state, Some((next as u32, edge)), &mut ids);
                self.steps.push((next as u32, edge, id));
            }
            next += 1;
        }
    }

    fn add(&mut self, state: State, parent: Option<(u32, EdgeRef)>, ids: &mut FxHashMap<State, u32>) -> u32 {
        if let Some(id) = ids.get(&state) {
            return *id;
        }
        let id = self.states.len() as u32;
        ids.insert(state.clone(), id);
        self.states.push(state);
        self.parents.push(parent);
        id
    }

    fn is_error(&self, state: &State) -> bool {
        state.node().is_some_and(|node| self.targets.contains(&node))
    }

    /// Marks every state from which an error can be reached, errors included.
    fn mark_failing(&mut self) {
        let mut before: Vec<Vec<u32>> = vec![Vec::new(); self.states.len()];
        for (from, _, to) in &self.steps {
            before[*to as usize].push(*from);
        }
        self.failing = self.states.iter().map(|state| self.is_error(state)).collect();
        let mut work: Vec<u32> =
            (0..self.states.len() as u32).filter(|i| self.failing[*i as usize]).collect();
        while let Some(state) = work.pop() {
            for from in &before[state as usize] {
                if !std::mem::replace(&mut self.failing[*from as usize], true) {
                    work.push(*from);
                }
            }
        }
    }

    /// The program searched.
    pub fn program(&self) -> &'a Program {
        self.interpreter.program()
    }

    /// How much was seen.
    pub fn coverage(&self) -> Coverage {
        self.coverage
    }

    /// How many configurations were seen.
    pub fn configuration_count(&self) -> usize {
        self.states.len()
    }

    /// Whether some error can be reached.
    pub fn outcome(&self) -> Outcome {
        self.judge(self.states.iter().any(|state| self.is_error(state)))
    }

    /// Whether an error can be reached: one of those that the search was given.
    pub fn outcome_of(&self, node: Node) -> Outcome {
        self.judge(self.states.iter().any(|state| state.node() == Some(node)))
    }

    fn judge(&self, reached: bool) -> Outcome {
        match (reached, self.coverage) {
            (true, _) => Outcome::Reached,
            (false, Coverage::Complete) => Outcome::Unreachable,
            (false, _) => Outcome::Unknown,
        }
    }

    fn chosen(&self, runs: Runs) -> impl Iterator<Item = &State> {
        let states = self.states.iter().zip(&self.failing);
        states.filter(move |(_, failing)| runs == Runs::All || **failing).map(|(state, _)| state)
    }

    /// The locations on top of the stack on such runs.
    pub fn locations(&self, runs: Runs) -> BTreeSet<Node> {
        self.chosen(runs).filter_map(State::node).collect()
    }

    /// The lines of those locations.
    pub fn lines(&self, runs: Runs) -> BTreeSet<u32> {
        self.locations(runs).into_iter().filter_map(|node| self.program().line(node)).collect()
    }

    /// The edges taken on such runs.
    pub fn edges(&self, runs: Runs) -> BTreeSet<EdgeRef> {
        let on = |to: u32| runs == Runs::All || self.failing[to as usize];
        self.steps.iter().filter(|(_, _, to)| on(*to)).map(|(_, edge, _)| *edge).collect()
    }

    /// The values of variables at a location on such runs. The variables must be seen by its
    /// procedure.
    pub fn stores(&self, node: Node, variables: &[Var], runs: Runs) -> BTreeSet<Vec<u64>> {
        let at = self.chosen(runs).filter(|state| state.node() == Some(node));
        let cells = |state: &State| {
            let cells = variables.iter().filter_map(|variable| self.interpreter.cells(state, *variable));
            cells.flatten().copied().collect()
        };
        at.map(cells).collect()
    }

    /// The values of all globals and variables of the procedure, location by location, on such
    /// runs.
    pub fn all_stores(&self, runs: Runs) -> BTreeMap<Node, BTreeSet<Vec<u64>>> {
        let mut stores: BTreeMap<Node, BTreeSet<Vec<u64>>> = BTreeMap::new();
        for state in self.chosen(runs) {
            if let (Some(node), Some(frame)) = (state.node(), state.stack.last()) {
                let cells = state.globals.iter().chain(&frame.locals).copied().collect();
                stores.entry(node).or_default().insert(cells);
            }
        }
        stores
    }

    /// A run to an error with the least [`Trace::length`].
    pub fn shortest_trace(&self) -> Option<Trace> {
        // States are found in order of their distance; a failed check is one shorter than a label
        // as far away.
        let errors = (0..self.states.len()).filter(|i| self.is_error(&self.states[*i]));
        let traces = errors.take_while({
            let mut nearest = None;
            move |i| *nearest.get_or_insert(self.depth(*i)) == self.depth(*i)
        });
        let failed = |i: &usize| {
            let node = self.states[*i].node().expect("an error is at a location");
            self.program().location(node).kind != LocationKind::Error
        };
        self.trace_to(traces.min_by_key(failed)?)
    }

    fn depth(&self, mut at: usize) -> usize {
        let mut depth = 0;
        while let Some((parent, _)) = self.parents[at] {
            depth += 1;
            at = parent as usize;
        }
        depth
    }

    /// A run to this location with the fewest steps.
    pub fn shortest_trace_to(&self, node: Node) -> Option<Trace> {
        self.trace_to(self.states.iter().position(|state| state.node() == Some(node))?)
    }

    fn trace_to(&self, mut at: usize) -> Option<Trace> {
        let mut steps = Vec::new();
        while let Some((parent, edge)) = self.parents[at] {
            steps.push(Step { edge, state: self.states[at].clone() });
            at = parent as usize;
        }
        steps.reverse();
        Some(Trace { start: self.states[at].clone(), steps })
    }
}
