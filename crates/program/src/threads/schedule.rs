//! Runs with several threads, and whether the program can run them.

use super::{Reading, Starting, ThreadedState};
use crate::error::ProgramError;
use crate::interpret::{Interpreter, State, enumerate};
use crate::program::{EdgeRef, Operation, Program};
use crate::replay::{Step, Trace};

/// A run of a program with threads: who takes which step, with the configurations in between.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct ThreadTrace {
    /// Where the run starts.
    pub start: ThreadedState,
    /// The steps.
    pub steps: Vec<ThreadStep>,
}

/// A step of a thread.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct ThreadStep {
    /// The thread, in the order of starts; the entry runs in thread 0.
    pub thread: u32,
    /// The edge taken.
    pub edge: EdgeRef,
    /// The configuration after it.
    pub state: ThreadedState,
}

/// A block of steps of one thread.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Context {
    /// The thread.
    pub thread: u32,
    /// The positions of its steps in the trace.
    pub steps: std::ops::Range<usize>,
}

impl ThreadTrace {
    /// The blocks of steps of one thread, in order; none is empty.
    pub fn contexts(&self) -> Vec<Context> {
        let mut contexts: Vec<Context> = Vec::new();
        for (at, step) in self.steps.iter().enumerate() {
            match contexts.last_mut() {
                Some(last) if last.thread == step.thread => last.steps.end = at + 1,
                _ => contexts.push(Context { thread: step.thread, steps: at..at + 1 }),
            }
        }
        contexts
    }

    /// The last configuration.
    pub fn last(&self) -> &ThreadedState {
        self.steps.last().map_or(&self.start, |step| &step.state)
    }

    /// The run as a sequence of what the thread that moves sees.
    pub fn flat(&self, program: &Program) -> Trace {
        let interpreter = Interpreter::new(program);
        let view = |state: &ThreadedState, thread: u32| -> State {
            let mut seen = state.clone();
            if seen.threads[thread as usize].has_ended() {
                seen.threads[thread as usize].own.clear();
            }
            interpreter.view(&seen, thread as usize)
        };
        let step = |step: &ThreadStep| Step { edge: step.edge, state: view(&step.state, step.thread) };
        Trace { start: view(&self.start, 0), steps: self.steps.iter().map(step).collect() }
    }
}

/// How many combinations of choices are tried for one step.
const MAX_TRIALS: usize = 1 << 20;

impl Interpreter<'_> {
    /// Checks every step of a run with threads against the meaning of the program: the store and
    /// the stack after it, that the thread can move, and that no step is inside the atomic section
    /// of another thread. The run may end inside of an atomic section only at `last`.
    ///
    /// # Errors
    /// The first step that is not possible.
    pub fn replay_threads(&self, trace: &ThreadTrace) -> Result<(), ProgramError> {
        let impossible = |step: usize, reason: &str| ProgramError::Impossible { step, reason: reason.into() };
        let first = &trace.start;
        let is_alone = first.threads.len() == 1 && first.atomic.is_none();
        let own = Trace { start: self.view(first, 0), steps: Vec::new() };
        if !is_alone {
            return Err(impossible(0, "a run starts with one thread"));
        }
        self.replay(&own)?;
        let mut before = first;
        for (i, ThreadStep { thread, edge, state }) in trace.steps.iter().enumerate() {
            let at = i + 1;
            let thread = *thread as usize;
            let Some(node) = before.node(thread) else {
                return Err(impossible(at, "the thread has ended or was not started"));
            };
            if before.atomic.is_some_and(|inside| inside as usize != thread) {
                return Err(impossible(at, "another thread is inside an atomic section"));
            }
            let procedure = self.program().procedure(node.procedure);
            let known = (edge.edge.0 as usize) < procedure.edges.len();
            if edge.procedure != node.procedure || !known || procedure.edge(edge.edge).from != node.location {
                return Err(impossible(at, "the edge does not start where the thread is"));
            }
            if !self.can_step(before, thread, *edge, state) {
                return Err(impossible(at, "the step does not lead there"));
            }
            before = state;
        }
        Ok(())
    }

    /// The outcome of a step of a thread that is closest to what the thread is expected to see
    /// then: values that are open are taken from there. None if the step is not possible.
    pub fn guided_step(
        &self,
        before: &ThreadedState,
        thread: usize,
        edge: EdgeRef,
        expected: &State,
    ) -> Option<ThreadedState> {
        const FEW: usize = 1 << 12;
        let operation = &self.program().edge(edge).operation;
        let is_of_threads = matches!(
            operation,
            Operation::StartThread(_) | Operation::EndThread | Operation::AtomicBegin | Operation::AtomicEnd
        );
        let opens = matches!(operation, Operation::Havoc(targets) if self.are_memory(targets));
        if is_of_threads || opens {
            return self.thread_step(before, thread, edge, Starting::Followed, FEW).0.into_iter().next();
        }
        let mut seen = self.view(before, thread);
        loop {
            let mut found: Option<State> = None;
            let mut read = None;
            let locals = |state: &State| state.stack.last().map(|frame| frame.locals.clone());
            enumerate(FEW, |choices| {
                let mut reading = Reading { choices, open: &before.open, read: None };
                let outcome = self.execute(&seen, edge, &mut reading, Some(expected));
                read = read.or(reading.read);
                let is_right =
                    |state: &State| state.globals == expected.globals && locals(state) == locals(expected);
                match outcome {
                    Ok(state) if found.is_none() || is_right(&state) => found = Some(state),
                    _ => {}
                }
            });
            match read {
                Some(cell) => {
                    let value = expected.memory.get(&cell).copied().unwrap_or(0);
                    seen.memory.insert(cell, value);
                }
                None => {
                    return found.map(|state| self.settled(self.with_thread(before, thread, state), thread));
                }
            }
        }
    }

    /// Whether the cells that are no longer open were written.
    fn settles(&self, before: &ThreadedState, wanted: &ThreadedState) -> bool {
        let gone = before.open.difference(&wanted.open);
        wanted.open.is_subset(&before.open) && gone.into_iter().all(|cell| wanted.memory.contains_key(cell))
    }

    /// Whether a step of a thread can lead to a configuration.
    fn can_step(&self, before: &ThreadedState, thread: usize, edge: EdgeRef, wanted: &ThreadedState) -> bool {
        let is_plain = !matches!(
            self.program().edge(edge).operation,
            Operation::StartThread(_)
                | Operation::EndThread
                | Operation::AtomicBegin
                | Operation::AtomicEnd
                | Operation::Sync
        );
        if is_plain && !wanted.threads.get(thread).is_none_or(super::Thread::has_ended) {
            // Values that are chosen as wholes are those of the wanted configuration.
            let seen = Trace { start: self.view(before, thread), steps: Vec::new() };
            let step = Step { edge, state: self.view(wanted, thread) };
            let rest = ThreadedState { threads: before.threads.clone(), ..wanted.clone() };
            let mut others = rest;
            others.threads[thread] = wanted.threads[thread].clone();
            if others == *wanted && before.atomic == wanted.atomic && self.follows(&seen.start, &step) {
                return before.open.is_subset(&wanted.open) || self.settles(before, wanted);
            }
        }
        let starting = Starting::Optional;
        self.thread_step(before, thread, edge, starting, MAX_TRIALS).0.contains(wanted)
    }
}
