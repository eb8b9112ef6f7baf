//! Moves: the steps of a thread up to the next point where another thread may take over.
//!
//! An atomic section is one move, and is enabled only if it can be completed: what cannot be
//! completed has no effect on anyone. A failure inside of it counts. With
//! [`SwitchPoints::Visible`], steps that touch nothing shared are joined to the step before them:
//! they commute with all steps of other threads, so that neither failures nor the fewest switches
//! that they need are lost. Loop heads and entries of procedures stay points of their own, so that
//! a thread that computes for ever hides nothing.

use std::collections::BTreeSet;

use rustc_hash::FxHashSet;

use super::{Starting, ThreadedState};
use crate::evaluate::Choices;
use crate::interpret::{Extent, Interpreter, State};
use crate::program::{EdgeRef, Node, Operation, Program};

/// Where a thread may be interrupted.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum SwitchPoints {
    /// Before every step.
    All,
    /// Before steps that touch what is shared, at loop heads and at entries of procedures; by
    /// procedure and location.
    Visible(Vec<Vec<bool>>),
}

impl SwitchPoints {
    /// The points of a program before steps that touch what is shared.
    pub fn visible(program: &Program) -> Self {
        // A return also writes what the call says: it is seen if that is shared.
        let mut writes = vec![false; program.procedures.len()];
        for edge in program.procedures.iter().flat_map(|procedure| &procedure.edges) {
            if let Operation::Call(call) = &edge.operation {
                let results = Operation::Havoc(call.results.iter().flatten().cloned().collect());
                writes[call.callee.0 as usize] |= results.touches_shared(program);
            }
        }
        let points = program.procedures().map(|(id, procedure)| {
            let graph = procedure.graph();
            let mut points = vec![false; procedure.locations.len()];
            points[procedure.entry.0 as usize] = true;
            for edge in &procedure.edges {
                let returns = matches!(edge.operation, Operation::Return(_)) && writes[id.0 as usize];
                if returns || edge.operation.touches_shared(program) {
                    points[edge.from.0 as usize] = true;
                }
            }
            // Every cycle has an edge that goes back in the order of a depth-first search.
            let order = graph.reverse_postorder(procedure.entry.0);
            let mut position = vec![usize::MAX; procedure.locations.len()];
            for (at, location) in order.iter().enumerate() {
                position[*location as usize] = at;
            }
            for edge in &procedure.edges {
                if position[edge.to.0 as usize] <= position[edge.from.0 as usize] {
                    points[edge.to.0 as usize] = true;
                }
            }
            points
        });
        Self::Visible(points.collect())
    }

    /// Whether a thread may be interrupted at a location.
    pub fn has(&self, node: Node) -> bool {
        match self {
            Self::All => true,
            Self::Visible(points) => points[node.procedure.0 as usize][node.location.0 as usize],
        }
    }
}

impl Operation {
    /// Whether the operation reads or writes a variable that threads share, or starts, ends or
    /// orders threads.
    pub fn touches_shared(&self, program: &Program) -> bool {
        use crate::Var;
        let mut found = false;
        let mut see = |variable: Var| {
            if let Var::Global(i) = variable {
                let variable = &program.globals[i as usize];
                found |= variable.shared || variable.ty.is_memory();
            }
        };
        self.variables(&mut see);
        found
            || matches!(
                self,
                Operation::StartThread(_) | Operation::AtomicBegin | Operation::AtomicEnd | Operation::Sync
            )
    }

    /// Calls `see` on every variable that the operation reads in its own procedure.
    pub fn reads(&self, see: &mut impl FnMut(crate::Var)) {
        self.accesses(&mut |variable, is_write| {
            if !is_write {
                see(variable);
            }
        });
    }

    /// Calls `see` on every variable that the operation reads or writes in its own procedure.
    pub fn variables(&self, see: &mut impl FnMut(crate::Var)) {
        self.accesses(&mut |variable, _| see(variable));
    }

    /// Calls `see` on every access in the procedure of the operation, with whether it is a write.
    pub fn accesses(&self, see: &mut impl FnMut(crate::Var, bool)) {
        use crate::program::{Argument, Assignment, ThreadStart};
        fn expr(value: &crate::Expr, see: &mut impl FnMut(crate::Var, bool)) {
            value.reads(&mut |variable, _| see(variable, false));
        }
        fn target(target: &crate::Target, see: &mut impl FnMut(crate::Var, bool)) {
            see(target.variable, true);
            target.indices.iter().for_each(|index| expr(index, see));
        }
        fn assignment(part: &Assignment, see: &mut impl FnMut(crate::Var, bool)) {
            part.targets.iter().for_each(|part| target(part, see));
            part.values.iter().chain(&part.constraint).for_each(|value| expr(value, see));
        }
        fn argument(part: &Argument, see: &mut impl FnMut(crate::Var, bool)) {
            match part {
                Argument::Value(value) => expr(value, see),
                Argument::Copy(variable, _) => see(*variable, false),
                Argument::Arbitrary => {}
            }
        }
        match self {
            Operation::Assume(condition) => expr(condition, see),
            Operation::Assign(part) => assignment(part, see),
            Operation::Havoc(targets) => targets.iter().for_each(|part| target(part, see)),
            Operation::Call(call) => {
                call.arguments.iter().for_each(|part| argument(part, see));
                call.results.iter().flatten().for_each(|part| target(part, see));
                assignment(&call.assignment, see);
            }
            Operation::Return(values) => values.iter().for_each(|value| expr(value, see)),
            Operation::StartThread(ThreadStart::Call { arguments, .. }) => {
                arguments.iter().for_each(|part| argument(part, see));
            }
            Operation::Skip
            | Operation::StartThread(ThreadStart::At(_))
            | Operation::EndThread
            | Operation::AtomicBegin
            | Operation::AtomicEnd
            | Operation::Sync => {}
        }
    }
}

/// A move of one thread.
#[derive(Clone, Debug)]
pub struct Move {
    /// The steps, with the configurations after them; there is at least one.
    pub steps: Vec<(EdgeRef, ThreadedState)>,
}

impl Move {
    /// The configuration after the move.
    pub fn end(&self) -> &ThreadedState {
        &self.steps.last().expect("a move has a step").1
    }
}

/// Finds the moves of threads.
pub struct Moves<'a> {
    interpreter: &'a Interpreter<'a>,
    points: &'a SwitchPoints,
    /// Runs end here, also inside of a move.
    targets: &'a FxHashSet<Node>,
    /// Whether a move has all of its steps; else only the last one, with where it ends.
    pub has_steps: bool,
    /// What becomes of threads that are started.
    pub starting: Starting,
    /// How many combinations of choices are tried at most for one step.
    pub choices: usize,
    /// How many configurations a move may pass at most.
    pub longest: usize,
    /// How many frames a stack may have at most.
    pub frames: usize,
    /// How many threads there may be at most.
    pub threads: usize,
}

/// The moves of a thread from a configuration.
pub struct Found {
    /// The moves.
    pub moves: Vec<Move>,
    /// Whether these are all.
    pub extent: Extent,
    /// Whether a thread was not started because there are too many.
    pub too_many_threads: bool,
}

impl<'a> Moves<'a> {
    /// All moves, within limits that hardly matter.
    pub fn new(
        interpreter: &'a Interpreter<'a>,
        points: &'a SwitchPoints,
        targets: &'a FxHashSet<Node>,
    ) -> Self {
        let (choices, longest) = (1 << 16, 1 << 16);
        let (frames, threads) = (usize::MAX, usize::MAX);
        Self {
            interpreter,
            points,
            targets,
            has_steps: true,
            starting: Starting::Followed,
            choices,
            longest,
            frames,
            threads,
        }
    }

    /// The moves of a thread.
    pub fn of(&self, state: &ThreadedState, thread: usize) -> Found {
        let mut found = Found { moves: Vec::new(), extent: Extent::All, too_many_threads: false };
        if state.atomic.is_some_and(|inside| inside as usize != thread) {
            return found;
        }
        let mut seen: FxHashSet<ThreadedState> = FxHashSet::default();
        let mut ends: FxHashSet<ThreadedState> = FxHashSet::default();
        // Paths inside the move, the configurations in the order of their discovery.
        let mut inner: Vec<(Option<usize>, EdgeRef, ThreadedState)> = Vec::new();
        let first = self.steps(state, thread, &mut found);
        let mut next = 0;
        let mut add = |inner: &mut Vec<_>, from: Option<usize>, steps: Vec<(EdgeRef, ThreadedState)>| {
            for (edge, to) in steps {
                if seen.insert(to.clone()) {
                    inner.push((from, edge, to));
                }
            }
        };
        add(&mut inner, None, first);
        while next < inner.len() {
            if inner.len() > self.longest {
                found.extent = Extent::Cut;
                break;
            }
            if !self.has_steps {
                if let Some(later) = self.forward(&inner[next].2, thread) {
                    inner[next].2 = later;
                }
            }
            let here = inner[next].2.clone();
            let node = here.node(thread);
            let is_error = node.is_some_and(|node| self.targets.contains(&node));
            let is_inside = here.atomic.is_some();
            let goes_on = self.goes_on(&node, is_inside);
            let mut is_end = is_error || !goes_on;
            if goes_on {
                let steps = self.steps(&here, thread, &mut found);
                // A thread that waits outside of an atomic section is seen by others.
                is_end |= steps.is_empty() && !is_inside;
                add(&mut inner, Some(next), steps);
            }
            if is_end && ends.insert(here) {
                found.moves.push(Move { steps: path(&inner, next) });
            }
            next += 1;
        }
        found
    }

    /// Whether a move does not end at a location.
    fn goes_on(&self, node: &Option<Node>, is_inside: bool) -> bool {
        is_inside || node.is_some_and(|node| !self.points.has(node))
    }

    /// The configuration at the end of those steps that have one outcome each, inside of a move;
    /// none if there is no such step. Only the thread that moves is copied, once.
    fn forward(&self, state: &ThreadedState, thread: usize) -> Option<ThreadedState> {
        let mut steps = usize::MAX;
        loop {
            let mut seen = self.interpreter.view(state, thread);
            let mut inside = state.atomic.is_some();
            let taken = self.run(&mut seen, &mut inside, &state.open, steps.min(LONGEST_RUN));
            match taken {
                // The last step has several outcomes or none: the state is of no use.
                Err(taken) => steps = taken,
                Ok(0) => return None,
                Ok(_) => {
                    let atomic = inside.then_some(thread as u32);
                    let next = self.interpreter.with_thread(state, thread, seen);
                    return Some(self.interpreter.settled(ThreadedState { atomic, ..next }, thread));
                }
            }
            if steps == 0 {
                return None;
            }
        }
    }

    /// Runs at most so many steps in place; how many were taken. An error says how many can be.
    fn run(
        &self,
        seen: &mut State,
        inside: &mut bool,
        open: &BTreeSet<(u32, u64)>,
        most: usize,
    ) -> Result<usize, usize> {
        let program = self.interpreter.program();
        for taken in 0..most {
            let Some(node) = seen.node() else { return Ok(taken) };
            if self.targets.contains(&node) || !self.goes_on(&Some(node), *inside) {
                return Ok(taken);
            }
            let mut choices = NoChoice { open, was_asked: false };
            let mut edges = program.procedure(node.procedure).edges_from(node.location);
            let Some((first, edge)) = edges.next() else { return Ok(taken) };
            let mut chosen = (first, edge);
            if let Some(second) = edges.next() {
                // Branches: one condition must hold.
                let mut holding = None;
                for (id, edge) in [(first, edge), second].into_iter().chain(edges) {
                    let Operation::Assume(condition) = &edge.operation else { return Ok(taken) };
                    let holds = self.interpreter.scope_of(seen).holds(condition, &mut choices);
                    match (holds, holding) {
                        (Ok(true), None) => holding = Some((id, edge)),
                        (Ok(true), Some(_)) => return Ok(taken),
                        (Ok(false), _) => {}
                        (Err(_), _) => return Ok(taken),
                    }
                }
                let Some(only) = holding.filter(|_| !choices.was_asked) else { return Ok(taken) };
                chosen = only;
            }
            let (id, edge) = chosen;
            match &edge.operation {
                Operation::StartThread(_) | Operation::EndThread | Operation::Sync | Operation::Havoc(_) => {
                    return Ok(taken);
                }
                Operation::Call(_) if seen.stack.len() >= self.frames => return Ok(taken),
                Operation::AtomicBegin => *inside = true,
                Operation::AtomicEnd => *inside = false,
                _ => {}
            }
            let edge = EdgeRef { procedure: node.procedure, edge: id };
            let outcome = self.interpreter.advance(seen, edge, &mut choices, None);
            if outcome.is_err() || choices.was_asked {
                return Err(taken);
            }
        }
        Ok(most)
    }

    /// The single steps of a thread.
    fn steps(
        &self,
        state: &ThreadedState,
        thread: usize,
        found: &mut Found,
    ) -> Vec<(EdgeRef, ThreadedState)> {
        let mut steps = Vec::new();
        let Some(node) = state.node(thread) else { return steps };
        for (edge, here) in self.interpreter.program().procedure(node.procedure).edges_from(node.location) {
            let starts = matches!(here.operation, Operation::StartThread(_));
            let mut starting = self.starting;
            if starts && state.threads.len() >= self.threads {
                found.too_many_threads = true;
                if starting == Starting::Followed {
                    continue;
                }
                starting = Starting::Optional;
            }
            let edge = EdgeRef { procedure: node.procedure, edge };
            let (outcomes, extent) =
                self.interpreter.thread_step(state, thread, edge, starting, self.choices);
            if extent == Extent::Cut {
                found.extent = Extent::Cut;
            }
            for next in outcomes {
                if next.threads.len() > self.threads {
                    continue;
                }
                if next.threads[thread].stack.len() > self.frames {
                    found.extent = Extent::Cut;
                    continue;
                }
                steps.push((edge, next));
            }
        }
        steps
    }
}

/// A run that is longer than this is looked at in between: it may not end.
const LONGEST_RUN: usize = 10_000;

/// Notes that a choice was needed.
struct NoChoice<'a> {
    open: &'a BTreeSet<(u32, u64)>,
    was_asked: bool,
}

impl Choices for NoChoice<'_> {
    fn choose(&mut self, _: u64) -> u64 {
        self.was_asked = true;
        0
    }

    fn unset(&mut self, cell: (u32, u64), is_arbitrary: bool) -> Option<u64> {
        if is_arbitrary || self.open.contains(&cell) {
            self.was_asked = true;
            return Some(0);
        }
        None
    }
}

fn path(inner: &[(Option<usize>, EdgeRef, ThreadedState)], end: usize) -> Vec<(EdgeRef, ThreadedState)> {
    let mut steps = Vec::new();
    let mut at = Some(end);
    while let Some(i) = at {
        let (from, edge, state) = &inner[i];
        steps.push((*edge, state.clone()));
        at = *from;
    }
    steps.reverse();
    steps
}
