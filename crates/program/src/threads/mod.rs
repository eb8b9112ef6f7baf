//! The meaning of programs with threads: configurations with several stacks, and their steps.
//!
//! `docs/threads.md` is this module in words; \[Lal09\] §6.1 is the model. The interpreter of one
//! thread ([`Interpreter`]) is used as it is: a step of a thread is a step of the sequential
//! program on the shared store, the thread's own globals, and its own stack.
//!
//! # Reading order
//! 1. This file: [`ThreadedState`], and one step of one thread.
//! 2. `moves.rs`: what other threads can see of it; atomic sections are one move.
//! 3. `explore.rs`: all schedules, by their number of context switches; `symmetry.rs`: the same, up
//!    to the names of threads, and fast.
//! 4. `schedule.rs`: runs with several threads, and whether the program can run them.
//! 5. `walk.rs`: one run in place, for random schedules.
//! 6. `graph.rs`: all schedules of a kind, forwards and backwards; with it `windows.rs`, where
//!    switches may happen, and `projection.rs`, which steps lie on failing schedules;
//!    `ending.rs`: whether threads can always come to their ends; `slice.rs`: what of one failing
//!    schedule matters.
//! 7. `starts.rs`: which threads a program starts, without running it; `dead.rs`,
//!    `first_values.rs`: variables whose first value is never read; `effects.rs`: the cells that a
//!    step of a run reads and writes; `waiting.rs`: deadlocks as checks.

mod dead;
mod effects;
mod ending;
mod explore;
mod first_values;
mod graph;
mod moves;
mod projection;
mod schedule;
mod slice;
mod starts;
mod symmetry;
mod waiting;
mod walk;
mod windows;

use std::collections::{BTreeMap, BTreeSet};

use crate::evaluate::{Choices, Store};
use crate::interpret::{Cell, Extent, Frame, Interpreter, State, enumerate, fresh};
use crate::program::{Assignment, Call, EdgeRef, Node, Operation, ProcedureId, Program, ThreadStart};

pub use effects::{Place, StepEffects};
pub use ending::can_always_end;
pub use explore::{ThreadCoverage, ThreadExploration, ThreadLimits, explore_threads};
pub use moves::{Move, Moves, SwitchPoints};
pub use projection::{ThreadProjection, thread_projection};
pub use schedule::{Context, ThreadStep, ThreadTrace};
pub use slice::thread_slice;
pub use starts::{Threads, thread_starts};
pub use symmetry::{ScheduleSet, search_schedules};
pub use walk::ThreadWalk;
pub use windows::{Windows, windows};

/// A configuration of a program with threads.
#[derive(Clone, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub struct ThreadedState {
    /// The cells of the global variables; those that are not shared are zero here.
    pub globals: Vec<u64>,
    /// The cells of memory that were written, by variable and address.
    pub memory: BTreeMap<(u32, u64), u64>,
    /// The cells of memory that were given any value and not written since: the value is chosen
    /// when it is read.
    pub open: BTreeSet<(u32, u64)>,
    /// The threads in the order of their starts; the first one runs the entry.
    pub threads: Vec<Thread>,
    /// The thread that is inside an atomic section: no other one moves.
    pub atomic: Option<u32>,
}

/// A thread.
#[derive(Clone, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub struct Thread {
    /// The frames, the running one last. Empty when the thread has ended.
    pub stack: Vec<Frame>,
    /// The cells of the global variables that are not shared, one after the other.
    pub own: Vec<u64>,
}

impl Thread {
    /// The location on top of the stack; none when the thread has ended.
    pub fn node(&self) -> Option<Node> {
        self.stack.last().map(|frame| Node { procedure: frame.procedure, location: frame.location })
    }

    /// Where it is in the program that was given: the innermost frame that is not of a model of a
    /// library function (such sources have names like `<threads>`); if there is none, the innermost
    /// frame. None when it has ended.
    pub fn place_in(&self, program: &Program) -> Option<Node> {
        let frame = self.stack.iter().rev().find(|frame| is_given(program, frame)).or(self.stack.last())?;
        let procedure = program.procedure(frame.procedure);
        let location = frame.calling.map_or(frame.location, |call| procedure.edge(call).from);
        Some(Node { procedure: frame.procedure, location })
    }

    /// The outermost procedure that is not of a model; none if there is no such frame.
    pub fn root_in(&self, program: &Program) -> Option<ProcedureId> {
        self.stack.iter().find(|frame| is_given(program, frame)).map(|frame| frame.procedure)
    }

    /// Whether it has ended.
    pub fn has_ended(&self) -> bool {
        self.stack.is_empty()
    }
}

/// Whether a frame is of the program that was given, and not of a model of a library function.
fn is_given(program: &Program, frame: &Frame) -> bool {
    let procedure = program.procedure(frame.procedure);
    !program.source(procedure.span).name().starts_with('<')
}

impl ThreadedState {
    /// The location of a thread.
    pub fn node(&self, thread: usize) -> Option<Node> {
        self.threads.get(thread).and_then(Thread::node)
    }
}

/// What becomes of a thread that is started.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Starting {
    /// It becomes part of the configuration.
    Followed,
    /// It may also be left out: a thread that never takes a step changes nothing.
    Optional,
}

impl Interpreter<'_> {
    /// The configurations where runs start, with one thread: at most `limit` of them.
    pub fn initial_threads(&self, limit: usize) -> (Vec<ThreadedState>, Extent) {
        let (states, extent) = self.initial_states(limit);
        let state = |state: State| {
            let empty = Thread { stack: Vec::new(), own: Vec::new() };
            let whole = ThreadedState {
                globals: Vec::new(),
                memory: BTreeMap::new(),
                open: BTreeSet::new(),
                threads: vec![empty],
                atomic: None,
            };
            self.with_thread(&whole, 0, state)
        };
        (states.into_iter().map(state).collect(), extent)
    }

    /// What one thread sees of a configuration.
    pub fn view(&self, state: &ThreadedState, thread: usize) -> State {
        let Thread { stack, own } = &state.threads[thread];
        let mut globals = state.globals.clone();
        for (at, value) in self.own_cells().zip(own) {
            globals[at] = *value;
        }
        State { globals, memory: state.memory.clone(), stack: stack.clone() }
    }

    /// The configuration in which one thread sees this.
    fn with_thread(&self, whole: &ThreadedState, thread: usize, seen: State) -> ThreadedState {
        let State { mut globals, memory, stack } = seen;
        let own = self.own_cells().map(|at| std::mem::take(&mut globals[at])).collect();
        let mut threads = whole.threads.clone();
        threads[thread] = Thread { stack, own };
        let mut open = whole.open.clone();
        open.retain(|cell| !memory.contains_key(cell));
        ThreadedState { globals, memory, open, threads, atomic: whole.atomic }
    }

    /// The positions of the cells of globals that are not shared. Memory is shared.
    fn own_cells(&self) -> impl Iterator<Item = usize> + '_ {
        let program = self.program();
        let starts = program.globals.iter().zip(self.global_starts().iter().copied());
        starts
            .filter(|(variable, _)| !variable.shared && !variable.ty.is_memory())
            .flat_map(|(variable, start)| start..start + variable.ty.cell_count())
    }

    /// All outcomes of one edge of one thread: at most `limit` combinations of choices are tried.
    /// The edge must start at the location of the thread.
    pub fn thread_step(
        &self,
        state: &ThreadedState,
        thread: usize,
        edge: EdgeRef,
        starting: Starting,
        limit: usize,
    ) -> (Vec<ThreadedState>, Extent) {
        let seen = self.view(state, thread);
        let here = self.program().edge(edge);
        let moved = |to: &State| {
            let mut to = to.clone();
            to.stack.last_mut().expect("a step needs a frame").location = here.to;
            to
        };
        match &here.operation {
            Operation::StartThread(start) => {
                let (started, extent) = self.started(&seen, start, limit);
                let before = self.with_thread(state, thread, moved(&seen));
                let mut outcomes = Vec::new();
                for new in started {
                    let mut next = before.clone();
                    next.threads.push(new);
                    outcomes.push(next);
                }
                if starting == Starting::Optional {
                    outcomes.push(before);
                }
                (outcomes, extent)
            }
            Operation::EndThread => {
                let mut ended = seen;
                ended.stack.clear();
                (vec![self.settled(self.with_thread(state, thread, ended), thread)], Extent::All)
            }
            Operation::AtomicBegin => {
                let mut next = self.with_thread(state, thread, moved(&seen));
                next.atomic = Some(thread as u32);
                (vec![next], Extent::All)
            }
            Operation::AtomicEnd => {
                let mut next = self.with_thread(state, thread, moved(&seen));
                next.atomic = None;
                (vec![next], Extent::All)
            }
            // What other threads this waits for is not defined: such programs are refused.
            Operation::Sync => (Vec::new(), Extent::Cut),
            Operation::Havoc(targets) if self.are_memory(targets) => {
                let mut next = self.with_thread(state, thread, moved(&seen));
                let (cells, extent) = self.cells_of(&seen, targets);
                for cell in cells {
                    next.memory.remove(&cell);
                    next.open.insert(cell);
                }
                (vec![next], extent)
            }
            _ => self.plain_step(state, &seen, thread, edge, limit),
        }
    }

    /// A step that is none of threads. A cell of memory that may hold anything gets its value when
    /// it is read.
    fn plain_step(
        &self,
        state: &ThreadedState,
        seen: &State,
        thread: usize,
        edge: EdgeRef,
        limit: usize,
    ) -> (Vec<ThreadedState>, Extent) {
        let mut outcomes = Vec::new();
        let mut extent = Extent::All;
        let mut work = vec![seen.clone()];
        while let Some(now) = work.pop() {
            let mut found = Vec::new();
            let mut read = None;
            let tried = enumerate(limit, |choices| {
                let mut reading = Reading { choices, open: &state.open, read: None };
                let outcome = self.execute(&now, edge, &mut reading, None);
                read = read.or(reading.read);
                found.extend(outcome);
            });
            if tried == Extent::Cut {
                extent = Extent::Cut;
            }
            let Some(cell) = read else {
                outcomes.extend(found);
                continue;
            };
            let max = self.program().globals[cell.0 as usize].ty.element().max();
            if max >= limit as u64 || work.len() > limit {
                extent = Extent::Cut;
            }
            for value in 0..=max.min(limit as u64 - 1) {
                let mut chosen = now.clone();
                chosen.memory.insert(cell, value);
                work.push(chosen);
            }
        }
        outcomes.sort_unstable();
        outcomes.dedup();
        let whole = |next: State| self.settled(self.with_thread(state, thread, next), thread);
        (outcomes.into_iter().map(whole).collect(), extent)
    }

    fn are_memory(&self, targets: &[crate::Target]) -> bool {
        let is_memory = |target: &crate::Target| match target.variable {
            crate::Var::Global(i) => self.program().globals[i as usize].ty.is_memory(),
            crate::Var::Local(_) => false,
        };
        targets.iter().all(is_memory)
    }

    /// The cells of memory that targets name.
    fn cells_of(&self, seen: &State, targets: &[crate::Target]) -> (Vec<(u32, u64)>, Extent) {
        let frame = seen.stack.last().expect("a step needs a frame");
        let now = Store { globals: &seen.globals, memory: &seen.memory, locals: &frame.locals };
        let scope = self.scope(frame.procedure, now);
        let mut cells = Vec::new();
        let extent = enumerate(1, |choices| {
            for target in targets {
                if let Ok(Cell::Memory(variable, address)) = self.cell(&scope, target, choices) {
                    cells.push((variable, address));
                }
            }
        });
        (cells, extent)
    }

    /// A thread that has ended is in no atomic section, and its own variables do not matter.
    fn settled(&self, mut state: ThreadedState, thread: usize) -> ThreadedState {
        if state.threads[thread].has_ended() {
            state.atomic = state.atomic.filter(|inside| *inside as usize != thread);
            state.threads[thread].own.clear();
        }
        state
    }

    /// The threads that a start makes.
    fn started(&self, seen: &State, start: &ThreadStart, limit: usize) -> (Vec<Thread>, Extent) {
        let frame = seen.stack.last().expect("a step needs a frame");
        match start {
            ThreadStart::At(location) => {
                let stack = vec![Frame { location: *location, calling: None, ..frame.clone() }];
                let own = self.own_cells().map(|at| seen.globals[at]).collect();
                (vec![Thread { stack, own }], Extent::All)
            }
            ThreadStart::Call { callee, arguments } => {
                let call = Call {
                    callee: *callee,
                    arguments: arguments.clone(),
                    results: Vec::new(),
                    assignment: Assignment::default(),
                };
                let mut threads = Vec::new();
                let extent = enumerate(limit, |choices| {
                    if let Ok(stack) = self.called(seen, &call, choices) {
                        let mut own = Vec::new();
                        let variables = self.program().globals.iter();
                        for variable in variables.filter(|v| !v.shared && !v.ty.is_memory()) {
                            fresh(variable, &mut own, choices, None);
                        }
                        threads.push(Thread { stack: vec![stack], own });
                    }
                });
                threads.sort_unstable();
                threads.dedup();
                (threads, extent)
            }
        }
    }
}

/// Notes the first cell that is read although it may hold anything.
struct Reading<'a> {
    choices: &'a mut dyn Choices,
    open: &'a BTreeSet<(u32, u64)>,
    read: Option<(u32, u64)>,
}

impl Choices for Reading<'_> {
    fn choose(&mut self, max: u64) -> u64 {
        self.choices.choose(max)
    }

    fn unset(&mut self, cell: (u32, u64), is_arbitrary: bool) -> Option<u64> {
        if is_arbitrary || self.open.contains(&cell) {
            self.read = self.read.or(Some(cell));
            return Some(0);
        }
        None
    }
}

impl Program {
    /// The first place that waits for other threads (`sync`): what it waits for is not defined.
    pub fn uses_sync(&self) -> Option<crate::source::Span> {
        let edges = self.procedures.iter().flat_map(|procedure| &procedure.edges);
        edges.filter(|edge| edge.operation == Operation::Sync).map(|edge| edge.span).min()
    }
}
