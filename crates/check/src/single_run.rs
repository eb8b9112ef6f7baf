//! The run of a program that takes no input, as an engine.
//!
//! Such a program has one run. The interpreter makes it, and keeps only its last state, so that it
//! may have millions of steps; the checks that it does not violate hold. Values that are never read
//! do not make a second run ([`Open`]). Where a value that is read is not determined, the engine
//! gives up.

use std::collections::BTreeSet;
use std::sync::Arc;

use wherefore_program::{
    Argument, Assignment, Choices, EdgeRef, Expr, Interpreter, Node, Operation, Program, State, Step,
    Stepped, Target, Task, Trace, Type, Var, Variable,
};

use crate::budget::Budget;
use crate::engine::{Engine, Session, without_threads};
use crate::prover::Prover;
use crate::verdict::{
    Answer, Cause, CheckError, EngineName, Evidence, Facts, FailingRun, Proof, ProofCheck, ProofKind,
    Reached, Stopped, Verdict, Why,
};

/// Makes the run of a program that takes no input.
#[derive(Clone, Copy, Debug, Default)]
pub struct SingleRun;

/// Steps between two looks at the budget.
const PACE: u64 = 4096;
/// Where work is counted, a run counts one for so many steps.
const STEPS_OF_WORK: u64 = 16;
/// The most open calls.
const MOST_OPEN: usize = 100_000;
/// Traces with more cells of state than this are not made.
const MOST_CELLS: usize = 1 << 27;

impl Engine for SingleRun {
    fn name(&self) -> EngineName {
        EngineName::SingleRun
    }

    fn takes(&self, task: &Task) -> Result<(), CheckError> {
        without_threads(&task.program)
    }

    fn decide(&self, task: &Task, session: &Session, budget: &Budget) -> Answer {
        let by = self.name();
        let facts = Facts { by: Some(by), ..Facts::default() };
        let open = |cause: Cause| {
            Verdict::Unknown(Why::Undecided(vec![Stopped { engine: by, cause, bound: None, excluded: 0 }]))
        };
        let checks: BTreeSet<Node> = task.checks.iter().map(|check| check.node).collect();
        let reached = match follow(&task.program, &checks, budget) {
            Ok(reached) => reached,
            Err(cause) => return Answer { verdicts: vec![open(cause); task.checks.len()], facts },
        };
        // No other solver can check the proof.
        let safe = match session.prover {
            Prover::Embedded => {
                let evidence =
                    Evidence { by, kind: ProofKind::Saturation, checked: ProofCheck::NotApplicable };
                Verdict::Safe(Proof { evidence: Arc::new(evidence), reached: Reached::Unknown })
            }
            _ => open(Cause::NotTried),
        };
        let verdicts = task.checks.iter().enumerate().map(|(at, check)| {
            if !reached.contains(&check.node) {
                return safe.clone();
            }
            match trace(&task.program, check.node) {
                Some(trace) => Verdict::Unsafe(Box::new(FailingRun::of_trace(trace, at, by))),
                None => open(Cause::TooLarge),
            }
        });
        Answer { verdicts: verdicts.collect(), facts }
    }
}

/// No choice is made; whether one was asked for.
#[derive(Default)]
struct NoChoice {
    was_asked: bool,
}

impl Choices for NoChoice {
    fn choose(&mut self, max: u64) -> u64 {
        self.was_asked |= max > 0;
        0
    }

    /// Such variables are followed ([`Open`]).
    fn uninitialised(&mut self, _: u64) -> u64 {
        0
    }

    fn unset(&mut self, _: (u32, u64), is_arbitrary: bool) -> Option<u64> {
        self.was_asked |= is_arbitrary;
        None
    }
}

/// Makes the run of a program to its end: the nodes among some that it comes to.
fn follow(program: &Program, nodes: &BTreeSet<Node>, budget: &Budget) -> Result<BTreeSet<Node>, Cause> {
    let accesses = Accesses::new(program);
    let mut open = Open::new(program, &accesses);
    let interpreter = Interpreter::new(program);
    let mut choices = NoChoice::default();
    let mut reached = BTreeSet::new();
    let Ok(mut state) = interpreter.begin(&mut choices) else { return Err(Cause::TakesInput) };
    if choices.was_asked {
        return Err(Cause::TakesInput);
    }
    let mut steps: u64 = 0;
    loop {
        let Some(node) = state.node() else { return Ok(reached) };
        if nodes.contains(&node) {
            reached.insert(node);
        }
        if steps % PACE == 0 {
            budget.spend(PACE / STEPS_OF_WORK);
            if let Some(stop) = budget.stopped() {
                return Err(Cause::Limit(stop));
            }
        }
        steps += 1;
        if state.stack.len() > MOST_OPEN {
            return Err(Cause::TooLarge);
        }
        if open.is_read(node) {
            return Err(Cause::TakesInput);
        }
        match interpreter.take(&mut state, &mut choices) {
            Stepped::Edge(edge) => {
                if !open.step(edge, choices.was_asked) {
                    return Err(Cause::TakesInput);
                }
                choices.was_asked = false;
            }
            Stepped::Blocked | Stepped::Ended if !choices.was_asked => return Ok(reached),
            Stepped::Blocked | Stepped::Ended => return Err(Cause::TakesInput),
        }
    }
}

/// The variables that steps read and write.
struct Accesses {
    /// For each procedure: those that come into being without a value.
    unset: Vec<Vec<Var>>,
    /// For each procedure and location: those that some step from there reads.
    read: Vec<Vec<Vec<Var>>>,
}

impl Accesses {
    fn new(program: &Program) -> Self {
        let unset = program.procedures().map(|(id, body)| {
            let parameters = if id == program.entry { 0 } else { body.parameters };
            let own = body.variables.iter().zip(0..).skip(parameters).map(|(v, i)| (v, Var::Local(i)));
            own.filter(|(variable, _)| variable.initial.is_none() && !variable.ty.is_memory())
                .map(|(_, variable)| variable)
                .collect()
        });
        let read = program.procedures().map(|(_, body)| {
            let mut read = vec![BTreeSet::new(); body.locations.len()];
            for edge in &body.edges {
                reads(&edge.operation, &mut read[edge.from.0 as usize]);
            }
            read.into_iter().map(|variables| variables.into_iter().collect()).collect()
        });
        Self { unset: unset.collect(), read: read.collect() }
    }
}

/// The variables that a step reads; a call reads the indices of its results when it returns.
fn reads(operation: &Operation, found: &mut BTreeSet<Var>) {
    match operation {
        Operation::Assign(assignment) => assigned(assignment, found),
        Operation::Call(call) => {
            assigned(&call.assignment, found);
            for argument in &call.arguments {
                match argument {
                    Argument::Value(value) => note(value, found),
                    Argument::Copy(array, _) => _ = found.insert(*array),
                    Argument::Arbitrary => {}
                }
            }
        }
        Operation::Assume(condition) => note(condition, found),
        Operation::Havoc(targets) => indices(targets, found),
        Operation::Return(values) => values.iter().for_each(|value| note(value, found)),
        Operation::StartThread(_)
        | Operation::Skip
        | Operation::EndThread
        | Operation::AtomicBegin
        | Operation::AtomicEnd
        | Operation::Sync => {}
    }
}

fn note(expr: &Expr, found: &mut BTreeSet<Var>) {
    expr.reads(&mut |variable, _| _ = found.insert(variable));
}

fn assigned(assignment: &Assignment, found: &mut BTreeSet<Var>) {
    assignment.values.iter().chain(&assignment.constraint).for_each(|value| note(value, found));
    indices(&assignment.targets, found);
}

fn indices<'t>(targets: impl IntoIterator<Item = &'t Target>, found: &mut BTreeSet<Var>) {
    targets.into_iter().flat_map(|target| &target.indices).for_each(|index| note(index, found));
}

/// The variables whose values are open: they were not written, or may be anything.
struct Open<'p> {
    program: &'p Program,
    accesses: &'p Accesses,
    globals: Vec<Var>,
    /// For each call: the variables of its procedure, and the step that has called it.
    calls: Vec<(Vec<Var>, Option<EdgeRef>)>,
}

impl<'p> Open<'p> {
    fn new(program: &'p Program, accesses: &'p Accesses) -> Self {
        let globals = program.globals.iter().zip(0..).map(|(v, i)| (v, Var::Global(i)));
        let is_open = |variable: &Variable| variable.initial.is_none() && !variable.ty.is_memory();
        let globals = globals.filter(|(variable, _)| is_open(variable)).map(|(_, variable)| variable);
        let first = accesses.unset[program.entry.0 as usize].clone();
        Self { program, accesses, globals: globals.collect(), calls: vec![(first, None)] }
    }

    fn of(&mut self, variable: Var) -> Option<&mut Vec<Var>> {
        match variable {
            Var::Global(_) => Some(&mut self.globals),
            Var::Local(_) => self.calls.last_mut().map(|(open, _)| open),
        }
    }

    fn is_open(&self, variable: &Var) -> bool {
        match variable {
            Var::Global(_) => self.globals.contains(variable),
            Var::Local(_) => self.calls.last().is_some_and(|(open, _)| open.contains(variable)),
        }
    }

    /// Whether a step from a node reads a variable whose value is open.
    fn is_read(&self, node: Node) -> bool {
        let is_any = !self.globals.is_empty() || self.calls.last().is_some_and(|(open, _)| !open.is_empty());
        let read = || &self.accesses.read[node.procedure.0 as usize][node.location.0 as usize];
        is_any && read().iter().any(|variable| self.is_open(variable))
    }

    /// After a step, during which a choice was asked for, or not: is it known what is open?
    fn step(&mut self, edge: EdgeRef, was_asked: bool) -> bool {
        let program = self.program;
        let operation = &program.edge(edge).operation;
        let is_scalar =
            |target: &Target| matches!(program.variable(edge.procedure, target.variable).ty, Type::Scalar(_));
        match operation {
            Operation::Havoc(targets) => {
                for target in targets {
                    if !is_scalar(target) {
                        return false;
                    }
                    self.written(target);
                    if let Some(open) = self.of(target.variable) {
                        open.push(target.variable);
                    }
                }
                return true;
            }
            Operation::Assign(assignment) => {
                assignment
                    .targets
                    .iter()
                    .filter(|target| is_scalar(target))
                    .for_each(|target| self.written(target));
            }
            Operation::Call(call) => {
                let targets = call.assignment.targets.iter().filter(|target| is_scalar(target));
                targets.for_each(|target| self.written(target));
                if call.arguments.contains(&Argument::Arbitrary) {
                    return false;
                }
                self.calls.push((self.accesses.unset[call.callee.0 as usize].clone(), Some(edge)));
            }
            Operation::Return(_) => {
                let caller = self.calls.pop().and_then(|(_, caller)| caller);
                let Some(Operation::Call(call)) = caller.map(|edge| &program.edge(edge).operation) else {
                    return !was_asked;
                };
                let procedure = caller.map_or(edge.procedure, |edge| edge.procedure);
                let mut read = BTreeSet::new();
                indices(call.results.iter().flatten(), &mut read);
                if read.iter().any(|variable| self.is_open(variable)) {
                    return false;
                }
                for target in call.results.iter().flatten() {
                    if matches!(program.variable(procedure, target.variable).ty, Type::Scalar(_)) {
                        self.written(target);
                    }
                }
            }
            Operation::Assume(_)
            | Operation::Skip
            | Operation::StartThread(_)
            | Operation::EndThread
            | Operation::AtomicBegin
            | Operation::AtomicEnd
            | Operation::Sync => {}
        }
        !was_asked
    }

    fn written(&mut self, target: &Target) {
        if let Some(open) = self.of(target.variable) {
            open.retain(|variable| *variable != target.variable);
        }
    }
}

/// The run up to a node, step by step; none if it is too long to be kept.
fn trace(program: &Program, end: Node) -> Option<Trace> {
    let interpreter = Interpreter::new(program);
    let mut choices = NoChoice::default();
    let mut state: State = interpreter.begin(&mut choices).ok()?;
    let mut trace = Trace { start: state.clone(), steps: Vec::new() };
    let mut cells = 0;
    while state.node() != Some(end) {
        let Stepped::Edge(edge) = interpreter.take(&mut state, &mut choices) else { return None };
        cells += state.globals.len() + 2 * state.memory.len();
        cells += state.stack.iter().map(|frame| frame.locals.len()).sum::<usize>();
        if cells > MOST_CELLS {
            return None;
        }
        trace.steps.push(Step { edge, state: state.clone() });
    }
    Some(trace)
}
