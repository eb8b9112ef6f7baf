//! Runs that never end: a stem and a turn that is repeated.
//!
//! The turn leads from a head, the location and the variables that are seen there, to the same head
//! without return from its frame. So it can be taken again from where it ends, in more frames if
//! the stack has grown. [`Lasso::confirm`] trusts nobody: the interpreter of the program replays stem
//! and turns, and the formula is evaluated on the word of the lasso.

use std::collections::BTreeMap;

use wherefore_program::{EdgeRef, Expr, Frame, Interpreter, Node, Program, State, Step, Trace};

use crate::formula::Formula;
use crate::product::{Derived, Meaning, Subject};
use crate::words::Word;

/// How often a turn is replayed.
const TURNS: usize = 3;

/// A run that violates a formula.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Lasso {
    /// The run up to the head.
    pub stem: Trace,
    /// The steps from the head to the head. None if the run ends with the stem.
    pub turn: Vec<Step>,
}

impl Lasso {
    /// Whether the run ends; then it stays where it is for ever.
    pub fn ends(&self) -> bool {
        self.turn.is_empty()
    }

    /// By how many frames the stack grows with each turn.
    pub fn growth(&self) -> usize {
        let depth = self.stem.last().stack.len();
        self.turn.last().map_or(0, |step| step.state.stack.len().saturating_sub(depth))
    }

    /// A run as a lasso whose last steps, from a position on, are the turn.
    pub fn cut(mut trace: Trace, position: usize) -> Self {
        let turn = trace.steps.split_off(position.min(trace.steps.len()));
        Self { stem: trace, turn }
    }

    /// The run with so many turns. None if the turn cannot be repeated.
    pub fn unrolled(&self, turns: usize) -> Option<Trace> {
        let mut trace = self.stem.clone();
        let head = self.stem.last();
        let base = head.stack.len().checked_sub(1).filter(|_| !self.ends());
        for _ in 0..turns {
            let Some(base) = base else { break };
            let begin = trace.last().clone();
            if head_of(&begin)? != head_of(head)? {
                return None;
            }
            let below = &begin.stack[..begin.stack.len().checked_sub(1)?];
            for step in &self.turn {
                let mut state = step.state.clone();
                // What the turn leaves alone: the frames below the head.
                if state.stack.len() <= base || state.stack[..base] != head.stack[..base] {
                    return None;
                }
                let above = state.stack.split_off(base);
                state.stack = below.iter().cloned().chain(above).collect();
                trace.steps.push(Step { edge: step.edge, state });
            }
        }
        Some(trace)
    }

    /// Checks that the program has this run, for ever, and that the formula does not hold on it.
    ///
    /// # Errors
    /// What is wrong.
    pub fn confirm(&self, subject: &Subject<'_>, formula: &Formula) -> Result<(), String> {
        let program = subject.program;
        let trace = self.unrolled(TURNS).ok_or("its turn cannot be repeated")?;
        program.replay(&trace).map_err(|error| error.to_string())?;
        let last = trace.last();
        if self.ends() {
            if !subject.is_end(last.node()) {
                return Err("it stops although it has not ended".to_owned());
            }
        } else if head_of(last) != head_of(self.stem.last()) || head_of(last).is_none() {
            return Err("it does not come back to its head".to_owned());
        }
        let word = self.word(subject).ok_or("a proposition has no value on it")?;
        if word.turn.is_empty() {
            return Err("nothing of it is repeated".to_owned());
        }
        if word.satisfies(formula) {
            return Err("the formula holds on it".to_owned());
        }
        Ok(())
    }

    /// Which propositions hold along the run. None if one of them has no value somewhere.
    pub fn word(&self, subject: &Subject<'_>) -> Option<Word> {
        let interpreter = Interpreter::new(subject.program);
        // The last one is the first one of the next turn.
        let stem: Vec<&State> = self.stem.states().take(self.stem.steps.len()).collect();
        let turn: Vec<&State> = match self.turn.split_last() {
            Some((_, steps)) => {
                std::iter::once(self.stem.last()).chain(steps.iter().map(|step| &step.state)).collect()
            }
            None => vec![self.stem.last()],
        };
        let letters = |states: Vec<&State>| -> Option<Vec<Vec<bool>>> {
            let read = states.into_iter().filter(|state| subject.is_read(state.node()));
            read.map(|state| letter(subject, &interpreter, state)).collect()
        };
        Some(Word { stem: letters(stem)?, turn: letters(turn)? })
    }
}

/// What the future of a run depends on while its frame does not return.
#[derive(PartialEq)]
struct Head<'s> {
    node: Node,
    globals: &'s [u64],
    memory: &'s BTreeMap<(u32, u64), u64>,
    locals: &'s [u64],
}

fn head_of(state: &State) -> Option<Head<'_>> {
    let locals = &state.stack.last()?.locals;
    Some(Head { node: state.node()?, globals: &state.globals, memory: &state.memory, locals })
}

pub(crate) fn letter(
    subject: &Subject<'_>,
    interpreter: &Interpreter<'_>,
    state: &State,
) -> Option<Vec<bool>> {
    let node = state.node();
    let holds = |meaning: &Meaning| match meaning {
        Meaning::Condition(condition) => value(subject.program, interpreter, state, condition),
        Meaning::At(nodes) => Some(node.is_some_and(|node| nodes.contains(&node))),
        Meaning::End => Some(subject.is_end(node)),
    };
    subject.meanings.iter().map(holds).collect()
}

/// The value of a condition over globals, also where no frame is left.
fn value(program: &Program, interpreter: &Interpreter<'_>, state: &State, condition: &Expr) -> Option<bool> {
    if !state.stack.is_empty() {
        return Some(interpreter.evaluate(state, condition)? != 0);
    }
    let procedure = program.entry;
    let body = program.procedure(procedure);
    let frame = Frame { procedure, location: body.entry, calling: None, locals: vec![0; body.cell_count()] };
    let state = State { stack: vec![frame], ..state.clone() };
    Some(interpreter.evaluate(&state, condition)? != 0)
}

/// A run of a derived program as one of the original: the steps that are its own. `below` are the
/// frames under the first one.
pub fn original_run(derived: &Derived, original: &Program, trace: &Trace, below: &[Frame]) -> Option<Trace> {
    let globals: usize = original.globals.iter().map(|variable| variable.ty.cell_count()).sum();
    let translated = |state: &State| -> Option<State> {
        let mut stack = below.to_vec();
        for frame in &state.stack {
            let Some(procedure) = derived.procedures[frame.procedure.0 as usize] else { continue };
            let calling = match frame.calling {
                Some(edge) => Some(derived.original_edge(EdgeRef { procedure: frame.procedure, edge })?.edge),
                None => None,
            };
            stack.push(Frame { procedure, calling, ..frame.clone() });
        }
        Some(State { globals: state.globals.get(..globals)?.to_vec(), stack, memory: state.memory.clone() })
    };
    let at_original = |state: &&State| match state.node() {
        Some(node) => derived.procedures[node.procedure.0 as usize].is_some(),
        None => false,
    };
    let start = translated(trace.states().find(at_original)?)?;
    let mut run = Trace { start, steps: Vec::new() };
    for step in &trace.steps {
        if let Some(edge) = derived.original_edge(step.edge) {
            run.steps.push(Step { edge, state: translated(&step.state)? });
        }
    }
    Some(run)
}
