//! One run of a program with threads, in place: all choices and the schedule come from outside.
//!
//! The thread that runs has its view of the store in one sequential state; the others keep their
//! stacks. A switch exchanges stacks, and nothing else is copied. What a walk does is a run as
//! `schedule.rs` knows them: the configurations in between can be asked for.

use std::collections::BTreeSet;

use super::{Thread, ThreadedState};
use crate::chosen_step::Stepped;
use crate::evaluate::Choices;
use crate::interpret::{Frame, Interpreter, State};
use crate::program::{EdgeRef, Node, Operation, ThreadStart};

/// A configuration that changes in place.
#[derive(Clone, Debug)]
pub struct ThreadWalk {
    /// What the running thread sees.
    seen: State,
    /// All threads; the entry of the running one is out of date.
    threads: Vec<Thread>,
    running: usize,
    is_atomic: bool,
    open: BTreeSet<(u32, u64)>,
}

impl ThreadWalk {
    /// The start of a run; none if there is none with these choices.
    pub fn begin(interpreter: &Interpreter<'_>, choices: &mut dyn Choices) -> Option<Self> {
        let seen = interpreter.begin(choices).ok()?;
        let first = Thread { stack: Vec::new(), own: Vec::new() };
        Some(Self { seen, threads: vec![first], running: 0, is_atomic: false, open: BTreeSet::new() })
    }

    /// How many threads were started, with the first one.
    pub fn thread_count(&self) -> usize {
        self.threads.len()
    }

    /// The thread that runs.
    pub fn running(&self) -> usize {
        self.running
    }

    /// Whether the running thread is inside an atomic section.
    pub fn is_atomic(&self) -> bool {
        self.is_atomic
    }

    /// The location of the running thread; none if it has ended.
    pub fn node(&self) -> Option<Node> {
        self.seen.node()
    }

    /// Whether a thread has ended.
    pub fn has_ended(&self, thread: usize) -> bool {
        match thread == self.running {
            true => self.seen.stack.is_empty(),
            false => self.threads[thread].has_ended(),
        }
    }

    /// Lets another thread run.
    pub fn switch(&mut self, interpreter: &Interpreter<'_>, thread: usize) {
        if thread == self.running {
            return;
        }
        let own: Vec<usize> = interpreter.own_cells().collect();
        let saved = &mut self.threads[self.running];
        saved.own = own.iter().map(|at| self.seen.globals[*at]).collect();
        saved.stack = std::mem::take(&mut self.seen.stack);
        if saved.stack.is_empty() {
            saved.own.clear();
        }
        let next = &mut self.threads[thread];
        self.seen.stack = std::mem::take(&mut next.stack);
        for (at, value) in own.iter().zip(&next.own) {
            self.seen.globals[*at] = *value;
        }
        self.running = thread;
    }

    /// Takes a step of the running thread.
    pub fn step(&mut self, interpreter: &Interpreter<'_>, choices: &mut dyn Choices) -> Stepped {
        let Some(node) = self.seen.node() else { return Stepped::Ended };
        let program = interpreter.program();
        let Some((id, edge)) = program.procedure(node.procedure).edges_from(node.location).next() else {
            return Stepped::Ended;
        };
        let taken = Stepped::Edge(EdgeRef { procedure: node.procedure, edge: id });
        match &edge.operation {
            Operation::StartThread(ThreadStart::At(location)) => {
                let top = self.seen.stack.last().cloned();
                let stack: Vec<Frame> =
                    top.into_iter().map(|top| Frame { location: *location, calling: None, ..top }).collect();
                let own = interpreter.own_cells().map(|at| self.seen.globals[at]).collect();
                self.threads.push(Thread { stack, own });
            }
            // Only the languages with small data start threads like this.
            Operation::StartThread(ThreadStart::Call { .. }) | Operation::Sync => return Stepped::Blocked,
            Operation::EndThread => {
                self.seen.stack.clear();
                self.is_atomic = false;
                return taken;
            }
            Operation::AtomicBegin => self.is_atomic = true,
            Operation::AtomicEnd => self.is_atomic = false,
            Operation::Havoc(targets) if interpreter.are_memory(targets) => {
                let (cells, _) = interpreter.cells_of(&self.seen, targets);
                for cell in cells {
                    self.seen.memory.remove(&cell);
                    self.open.insert(cell);
                }
            }
            _ => return self.plain(interpreter, choices),
        }
        if let Some(frame) = self.seen.stack.last_mut() {
            frame.location = edge.to;
        }
        taken
    }

    /// A step that is none of threads.
    fn plain(&mut self, interpreter: &Interpreter<'_>, choices: &mut dyn Choices) -> Stepped {
        let mut reading = Settling { choices, open: &self.open, settled: Vec::new() };
        let stepped = interpreter.take(&mut self.seen, &mut reading);
        // What a cell held that nobody wrote stays what it was found to be.
        for (cell, value) in reading.settled {
            self.seen.memory.entry(cell).or_insert(value);
            self.open.remove(&cell);
        }
        let memory = &self.seen.memory;
        if !self.open.is_empty() {
            self.open.retain(|cell| !memory.contains_key(cell));
        }
        if self.seen.stack.is_empty() {
            self.is_atomic = false;
        }
        stepped
    }

    /// The configuration.
    pub fn configuration(&self, interpreter: &Interpreter<'_>) -> ThreadedState {
        let whole = ThreadedState {
            globals: Vec::new(),
            memory: self.seen.memory.clone(),
            open: self.open.clone(),
            threads: self.threads.clone(),
            atomic: self.is_atomic.then_some(self.running as u32),
        };
        let state = interpreter.with_thread(&whole, self.running, self.seen.clone());
        interpreter.settled(state, self.running)
    }
}

/// Notes the values that cells of memory are given when they are read for the first time.
struct Settling<'a> {
    choices: &'a mut dyn Choices,
    open: &'a BTreeSet<(u32, u64)>,
    settled: Vec<((u32, u64), u64)>,
}

impl Choices for Settling<'_> {
    fn choose(&mut self, max: u64) -> u64 {
        self.choices.choose(max)
    }

    fn uninitialised(&mut self, max: u64) -> u64 {
        self.choices.uninitialised(max)
    }

    fn unset(&mut self, cell: (u32, u64), is_arbitrary: bool) -> Option<u64> {
        let is_open = is_arbitrary || self.open.contains(&cell);
        if let Some((_, value)) = self.settled.iter().find(|(known, _)| is_open && *known == cell) {
            return Some(*value);
        }
        let value = self.choices.unset(cell, is_open)?;
        self.settled.push((cell, value));
        Some(value)
    }
}
