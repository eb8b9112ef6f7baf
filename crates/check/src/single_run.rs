//! The run of a program that takes no input, as an engine.
//!
//! Such a program has one run. The interpreter makes it, and keeps only its last state, so that it
//! may have millions of steps; the checks that it does not violate hold. Values that are never read
//! do not make a second run: the engine follows which variables have values that are open
//! ([`Open`]), and gives up where one decides how the run goes on.
//!
//! No engine is faster if there is one run only, and a program that takes input is soon seen to do
//! so: such runs are looked for before anything else is found out about a program (`first_look.rs`).
//! Besides, the engine is asked about the part of a program that matters, like all others.

use std::collections::{BTreeMap, BTreeSet};
use std::sync::Arc;

use rustc_hash::FxHashSet;
use wherefore_program::{
    Argument, Assignment, Choices, EdgeRef, Expr, ExprKind, Interpreter, Node, Operation, ProcedureId,
    Program, State, Step, Stepped, Target, Task, Trace, Type, Var, Variable,
};

use self::filled::Filled;
use crate::budget::Budget;
use crate::engine::{Engine, Session, without_threads};
use crate::prover::Prover;
use crate::verdict::{
    Answer, Cause, CheckError, EngineName, Evidence, Facts, FailingRun, Proof, ProofCheck, ProofKind,
    Reached, Stopped, Verdict, Why,
};

mod filled;
mod first_look;

pub(crate) use first_look::{first_look, reached_of};

/// Makes the run of a program that takes no input.
#[derive(Clone, Copy, Debug, Default)]
pub struct SingleRun;

/// Steps between two looks at the budget.
const PACE: u64 = 4096;
/// Where work is counted, a run counts one for so many steps.
const STEPS_OF_WORK: u64 = 16;
/// The most open calls.
const MOST_OPEN: usize = 100_000;
/// The engine does not keep runs with more cells of state in all their steps.
const MOST_CELLS: u64 = 1 << 27;

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
        let reached = match follow(task, &checks, budget) {
            Ok(reached) => reached,
            Err(cause) => return Answer { verdicts: vec![open(cause); task.checks.len()], facts },
        };
        // No other solver can check the proof.
        let safe = match session.prover {
            Prover::Embedded => Verdict::Safe(proof()),
            _ => open(Cause::NotTried),
        };
        let verdicts = task.checks.iter().enumerate().map(|(at, check)| {
            let Some(arrival) = reached.get(&check.node) else { return safe.clone() };
            if arrival.steps.saturating_mul(arrival.cells) > MOST_CELLS {
                return open(Cause::TooLarge);
            }
            match last_steps(&task.program, &mut NoChoice::default(), arrival.steps, 0) {
                Some(trace) => Verdict::Unsafe(Box::new(FailingRun::of_trace(trace, at, by))),
                None => open(Cause::TooLarge),
            }
        });
        Answer { verdicts: verdicts.collect(), facts }
    }
}

/// The proof that the run does not violate a check: it was made to its end.
fn proof() -> Proof {
    let (by, kind) = (EngineName::SingleRun, ProofKind::Saturation);
    let evidence = Evidence { by, kind, checked: ProofCheck::NotApplicable };
    Proof { evidence: Arc::new(evidence), reached: Reached::Unknown }
}

/// No choice is made.
#[derive(Default)]
struct NoChoice {
    /// Whether a step asked for one, or read a cell of memory that may hold anything.
    saw_open: bool,
    /// The cells that have got values that are open. They are not among those that were written.
    cells: FxHashSet<(u32, u64)>,
}

impl Choices for NoChoice {
    fn choose(&mut self, max: u64) -> u64 {
        self.saw_open |= max > 0;
        0
    }

    /// Such variables are followed ([`Open`]).
    fn uninitialised(&mut self, _: u64) -> u64 {
        0
    }

    fn unset(&mut self, cell: (u32, u64), is_arbitrary: bool) -> Option<u64> {
        self.saw_open |= is_arbitrary || self.cells.contains(&cell);
        None
    }
}

/// How the run comes to a node for the first time.
struct Arrival {
    /// The steps until then.
    steps: u64,
    /// The cells of the state.
    cells: u64,
    /// Whether a step before it may bring a value of the model that the compiled program has not.
    rests_on_approximation: bool,
}

/// Makes the run of a program to its end: the nodes among some that it comes to.
fn follow(task: &Task, nodes: &BTreeSet<Node>, budget: &Budget) -> Result<BTreeMap<Node, Arrival>, Cause> {
    let program = &task.program;
    let approximations: FxHashSet<EdgeRef> = task.approximations.iter().copied().collect();
    let mut rests_on_approximation = false;
    let accesses = Accesses::new(program);
    let mut open = Open::new(program, &accesses);
    let interpreter = Interpreter::new(program);
    let mut choices = NoChoice::default();
    let mut reached = BTreeMap::new();
    let Ok(mut state) = interpreter.begin(&mut choices) else { return Err(Cause::TakesInput) };
    if choices.saw_open {
        return Err(Cause::TakesInput);
    }
    let mut steps: u64 = 0;
    loop {
        let Some(node) = state.node() else { return Ok(reached) };
        if nodes.contains(&node) {
            let cells = cells_of(&state);
            reached.entry(node).or_insert(Arrival { steps, cells, rests_on_approximation });
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
        if open.decides(node) {
            return Err(Cause::TakesInput);
        }
        choices.saw_open = false;
        match interpreter.take(&mut state, &mut choices) {
            Stepped::Edge(edge) => {
                rests_on_approximation |= !approximations.is_empty() && approximations.contains(&edge);
                let saw_open = choices.saw_open;
                let known = open.step(edge, saw_open, &|expr| interpreter.evaluate(&state, expr));
                let Some(written) = known else { return Err(Cause::TakesInput) };
                for one in written {
                    match one {
                        Written::OpenCell(variable, address) => {
                            let Some(address) = interpreter.evaluate(&state, address) else {
                                return Err(Cause::TakesInput);
                            };
                            state.memory.remove(&(variable, address));
                            choices.cells.insert((variable, address));
                        }
                        Written::Element(procedure, variable, indices) => {
                            let at = indices.iter().map(|index| interpreter.evaluate(&state, index));
                            if let Some(at) = at.collect::<Option<Vec<u64>>>() {
                                open.fill(procedure, variable, at);
                            }
                        }
                    }
                }
            }
            Stepped::Ended => return Ok(reached),
            Stepped::Blocked if choices.saw_open || open.may_unblock(node) => return Err(Cause::TakesInput),
            Stepped::Blocked => return Ok(reached),
        }
    }
}

/// The variables that steps read and write.
struct Accesses {
    /// For each procedure: those that come into being without a value.
    unset: Vec<Vec<Var>>,
    /// For each procedure and location: those that decide what a step from there does.
    deciding: Vec<Vec<Vec<Var>>>,
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
        let deciding = program.procedures().map(|(_, body)| {
            let mut read = vec![BTreeSet::new(); body.locations.len()];
            for edge in &body.edges {
                reads(&edge.operation, &mut read[edge.from.0 as usize]);
            }
            read.into_iter().map(|variables| variables.into_iter().collect()).collect()
        });
        Self { unset: unset.collect(), deciding: deciding.collect() }
    }
}

/// The variables that decide what a step does, beside the values that it passes on; a call reads
/// the indices of its results when it returns.
fn reads(operation: &Operation, found: &mut BTreeSet<Var>) {
    match operation {
        Operation::Assign(assignment) => decides(assignment, found),
        Operation::Call(call) => {
            decides(&call.assignment, found);
            for argument in &call.arguments {
                match argument {
                    Argument::Value(value) => places(value, found),
                    Argument::Copy(array, _) => _ = found.insert(*array),
                    Argument::Arbitrary => {}
                }
            }
        }
        Operation::Assume(condition) => note(condition, found),
        Operation::Havoc(targets) => indices(targets, found),
        Operation::Return(values) => values.iter().for_each(|value| places(value, found)),
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

fn decides(assignment: &Assignment, found: &mut BTreeSet<Var>) {
    assignment.constraint.iter().for_each(|constraint| note(constraint, found));
    assignment.values.iter().for_each(|value| places(value, found));
    indices(&assignment.targets, found);
}

/// What the indices within a value read.
fn places(value: &Expr, found: &mut BTreeSet<Var>) {
    value.walk(&mut |part| {
        if let ExprKind::Read { indices, .. } = &part.kind {
            indices.iter().for_each(|index| note(index, found));
        }
    });
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
    /// Of arrays that are open, the elements that are not: of globals, and of each call.
    filled_globals: Filled,
    filled: Vec<Filled>,
}

impl<'p> Open<'p> {
    fn new(program: &'p Program, accesses: &'p Accesses) -> Self {
        let globals = program.globals.iter().zip(0..).map(|(v, i)| (v, Var::Global(i)));
        let is_open = |variable: &Variable| variable.initial.is_none() && !variable.ty.is_memory();
        let globals = globals.filter(|(variable, _)| is_open(variable)).map(|(_, variable)| variable);
        let first = accesses.unset[program.entry.0 as usize].clone();
        Self {
            program,
            accesses,
            globals: globals.collect(),
            calls: vec![(first, None)],
            filled_globals: Filled::default(),
            filled: vec![Filled::default()],
        }
    }

    fn filled_of(&mut self, variable: Var) -> Option<&mut Filled> {
        match variable {
            Var::Global(_) => Some(&mut self.filled_globals),
            Var::Local(_) => self.filled.last_mut(),
        }
    }

    /// An element of an array has got a value that is not open. If all have, the array is not.
    fn fill(&mut self, procedure: ProcedureId, variable: Var, at: Vec<u64>) {
        let ty = &self.program.variable(procedure, variable).ty;
        if self.filled_of(variable).is_some_and(|filled| filled.add(variable, ty, at)) {
            self.put(variable, false);
        }
    }

    fn of(&mut self, variable: Var) -> Option<&mut Vec<Var>> {
        match variable {
            Var::Global(_) => Some(&mut self.globals),
            Var::Local(_) => self.calls.last_mut().map(|(open, _)| open),
        }
    }

    fn is_any(&self) -> bool {
        !self.globals.is_empty() || self.calls.last().is_some_and(|(open, _)| !open.is_empty())
    }

    fn has(&self, variable: Var) -> bool {
        match variable {
            Var::Global(_) => self.globals.contains(&variable),
            Var::Local(_) => self.calls.last().is_some_and(|(open, _)| open.contains(&variable)),
        }
    }

    /// Whether a step from a node depends on a value that is open.
    fn decides(&self, node: Node) -> bool {
        let read = || &self.accesses.deciding[node.procedure.0 as usize][node.location.0 as usize];
        self.is_any() && read().iter().any(|variable| self.has(*variable))
    }

    /// Whether a step from a node that is blocked reads a value that is open.
    fn may_unblock(&self, node: Node) -> bool {
        let mut found = false;
        for (_, edge) in self.program.procedure(node.procedure).edges_from(node.location) {
            edge.operation.reads(&mut |variable| found |= self.has(variable));
        }
        found
    }

    /// Whether the value of an expression is open; `saw_open` says whether the step saw anything
    /// else that is open than variables.
    fn is_open(&self, value: &Expr, saw_open: bool) -> bool {
        let mut found = saw_open && may_see_open(value);
        if self.is_any() {
            value.reads(&mut |variable, _| found |= self.has(variable));
        }
        found
    }

    /// The part of a value that counts, of those of `if`s whose conditions are known behind the step.
    fn chosen<'t>(&self, value: &'t Expr, is_changed: &dyn Fn(Var) -> bool, behind: Behind<'_>) -> &'t Expr {
        let ExprKind::IfThenElse(condition, then, otherwise) = &value.kind else { return value };
        let mut is_known = !may_see_open(condition);
        condition.reads(&mut |variable, _| is_known &= !is_changed(variable) && !self.has(variable));
        match behind(condition).filter(|_| is_known) {
            Some(0) => self.chosen(otherwise, is_changed, behind),
            Some(_) => self.chosen(then, is_changed, behind),
            None => value,
        }
    }

    /// A variable has a value that is open, or not.
    fn put(&mut self, variable: Var, is_open: bool) {
        if let Some(open) = self.of(variable) {
            open.retain(|other| *other != variable);
            if is_open {
                open.push(variable);
            }
        }
        if let Some(filled) = self.filled_of(variable) {
            filled.forget(variable);
        }
    }

    /// Each target gets a value that is open, or not: the cells of memory that do, and the elements
    /// of arrays that do not; nothing if it is not known which cells they are.
    fn put_all<'t>(
        &mut self,
        procedure: ProcedureId,
        targets: &[(&'t Target, bool)],
    ) -> Option<Vec<Written<'t>>> {
        // They are evaluated behind the step.
        let is_changed = |index: &Expr| {
            let mut is_changed = may_see_open(index);
            index.reads(&mut |read, _| {
                is_changed |= targets.iter().any(|(other, _)| other.variable == read);
            });
            is_changed
        };
        let mut written = Vec::new();
        for (target, is_open) in targets {
            match (&self.program.variable(procedure, target.variable).ty, target.variable) {
                (Type::Scalar(_), _) => self.put(target.variable, *is_open),
                (Type::Memory { .. }, Var::Global(variable)) if *is_open => {
                    let [address] = target.indices.as_slice() else { return None };
                    if is_changed(address) {
                        return None;
                    }
                    written.push(Written::OpenCell(variable, address));
                }
                (Type::Array { .. }, variable) if *is_open => self.put(variable, true),
                (Type::Array { .. }, variable) => {
                    let is_known = !target.indices.iter().any(is_changed);
                    if is_known && self.has(variable) {
                        written.push(Written::Element(procedure, variable, &target.indices));
                    }
                }
                _ if *is_open => return None,
                _ => {}
            }
        }
        // Two of the targets may be one element.
        let gets_open =
            |array: &Var| targets.iter().any(|(other, is_open)| *is_open && other.variable == *array);
        written.retain(|one| !matches!(one, Written::Element(_, array, _) if gets_open(array)));
        Some(written)
    }

    fn assign<'t>(
        &mut self,
        procedure: ProcedureId,
        assignment: &'t Assignment,
        saw_open: bool,
        behind: Option<Behind<'_>>,
    ) -> Option<Vec<Written<'t>>> {
        let is_changed = |read: Var| assignment.targets.iter().any(|target| target.variable == read);
        let chosen = |value: &'t Expr| match behind {
            Some(behind) => self.chosen(value, &is_changed, behind),
            None => value,
        };
        let open = assignment.values.iter().map(|value| self.is_open(chosen(value), saw_open));
        let targets: Vec<(&Target, bool)> = assignment.targets.iter().zip(open).collect();
        if assignment.constraint.is_some() && targets.iter().any(|(_, is_open)| *is_open) {
            return None;
        }
        self.put_all(procedure, &targets)
    }

    /// After a step, which saw anything that is open beside variables, or not: the cells that have
    /// got values that are open, and the elements that have got others; nothing if it is not known
    /// what is open.
    fn step(&mut self, edge: EdgeRef, saw_open: bool, behind: Behind<'_>) -> Option<Vec<Written<'p>>> {
        let program = self.program;
        let operation = &program.edge(edge).operation;
        if saw_open {
            // It must not have decided which step is taken, or what it reads and writes.
            let is_only = program.procedure(edge.procedure).edges_from(program.edge(edge).from).count() == 1;
            if !is_only || !passes_values_on(operation) {
                return None;
            }
        }
        match operation {
            Operation::Havoc(targets) => {
                let targets: Vec<(&Target, bool)> = targets.iter().map(|target| (target, true)).collect();
                self.put_all(edge.procedure, &targets)
            }
            Operation::Assign(assignment) => self.assign(edge.procedure, assignment, saw_open, Some(behind)),
            Operation::Call(call) => {
                let is_open = |open: &Self| {
                    let arguments = call.arguments.iter().map(|argument| match argument {
                        Argument::Value(value) => open.is_open(value, saw_open),
                        Argument::Copy(..) => false,
                        Argument::Arbitrary => true,
                    });
                    arguments.collect::<Vec<bool>>()
                };
                // Arguments may read the state behind the assignment.
                let before = is_open(self);
                let written = self.assign(edge.procedure, &call.assignment, saw_open, None)?;
                let after = is_open(self);
                let mut own = self.accesses.unset[call.callee.0 as usize].clone();
                let open =
                    before.iter().zip(after).zip(0..).filter(|((before, after), _)| **before || *after);
                own.extend(open.map(|(_, at)| Var::Local(at)));
                self.calls.push((own, Some(edge)));
                self.filled.push(Filled::default());
                // The addresses are expressions of the caller.
                let has_cells = written.iter().any(|one| matches!(one, Written::OpenCell(..)));
                (!has_cells).then(Vec::new)
            }
            Operation::Return(values) => {
                let open: Vec<bool> = values.iter().map(|value| self.is_open(value, saw_open)).collect();
                self.filled.pop();
                let Some((_, Some(caller))) = self.calls.pop() else { return Some(Vec::new()) };
                let Operation::Call(call) = &program.edge(caller).operation else { return None };
                let mut read = BTreeSet::new();
                indices(call.results.iter().flatten(), &mut read);
                let results = || call.results.iter().flatten();
                let sees_open = saw_open && results().flat_map(|target| &target.indices).any(may_see_open);
                if sees_open || read.iter().any(|variable| self.has(*variable)) {
                    return None;
                }
                let results = call.results.iter().zip(open);
                let results =
                    results.filter_map(|(target, open)| target.as_ref().map(|target| (target, open)));
                self.put_all(caller.procedure, &results.collect::<Vec<_>>())
            }
            Operation::Assume(_)
            | Operation::Skip
            | Operation::StartThread(_)
            | Operation::EndThread
            | Operation::AtomicBegin
            | Operation::AtomicEnd
            | Operation::Sync => Some(Vec::new()),
        }
    }
}

/// The values of expressions in the state behind a step.
type Behind<'f> = &'f dyn Fn(&Expr) -> Option<u64>;

/// What a step has written, with expressions that say where, to be evaluated behind the step.
enum Written<'t> {
    /// A cell of memory got a value that is open: the variable and the address.
    OpenCell(u32, &'t Expr),
    /// An element of an array that is open got a value that is not.
    Element(ProcedureId, Var, &'t [Expr]),
}

/// Whether an expression may see something that is open, beside variables: a choice, or a cell.
fn may_see_open(value: &Expr) -> bool {
    let mut found = false;
    value.walk(&mut |part| match &part.kind {
        ExprKind::Choice { .. } => found = true,
        ExprKind::Read { indices, .. } => found |= !indices.is_empty(),
        _ => {}
    });
    found
}

/// Whether all that an operation can see that is open are values that it passes on.
fn passes_values_on(operation: &Operation) -> bool {
    let reads = |value: &Expr| {
        let mut is_sure = true;
        value.walk(&mut |part| {
            if let ExprKind::Read { indices, .. } = &part.kind {
                is_sure &= !indices.iter().any(may_see_open);
            }
        });
        is_sure
    };
    let writes = |targets: &[Target]| !targets.iter().flat_map(|target| &target.indices).any(may_see_open);
    let assigns = |assignment: &Assignment| {
        assignment.constraint.is_none() && writes(&assignment.targets) && assignment.values.iter().all(reads)
    };
    match operation {
        Operation::Havoc(targets) => writes(targets),
        Operation::Assign(assignment) => assigns(assignment),
        Operation::Call(call) => {
            assigns(&call.assignment)
                && call.arguments.iter().all(|argument| match argument {
                    Argument::Value(value) => reads(value),
                    Argument::Copy(..) | Argument::Arbitrary => true,
                })
        }
        // The indices of the results are read then, too, in the caller.
        Operation::Return(values) => values.iter().all(reads),
        Operation::Assume(_)
        | Operation::Skip
        | Operation::StartThread(_)
        | Operation::EndThread
        | Operation::AtomicBegin
        | Operation::AtomicEnd
        | Operation::Sync => false,
    }
}

fn cells_of(state: &State) -> u64 {
    let locals = state.stack.iter().map(|frame| frame.locals.len()).sum::<usize>();
    (state.globals.len() + 2 * state.memory.len() + locals) as u64
}

/// The first steps of a run, of which the earliest are not kept.
fn last_steps(program: &Program, choices: &mut dyn Choices, steps: u64, left_out: u64) -> Option<Trace> {
    let interpreter = Interpreter::new(program);
    let mut state: State = interpreter.begin(choices).ok()?;
    for _ in 0..left_out {
        let Stepped::Edge(_) = interpreter.take(&mut state, choices) else { return None };
    }
    let mut trace = Trace { start: state.clone(), steps: Vec::new() };
    for _ in left_out..steps {
        let Stepped::Edge(edge) = interpreter.take(&mut state, choices) else { return None };
        trace.steps.push(Step { edge, state: state.clone() });
    }
    Some(trace)
}
