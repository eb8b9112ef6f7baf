//! The meaning of programs, step by step.

use std::collections::BTreeMap;

use crate::evaluate::{Blocked, Choices, Layout, Odometer, Scope, Store, choice_max};
use crate::expression::{Expr, ExprKind, Target, Var, When};
use crate::program::{
    Argument, Assignment, Call, EdgeId, EdgeRef, LocationId, Node, Operation, ProcedureId, Program, Variable,
};

/// A configuration: the values of the globals, and the stack.
#[derive(Clone, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub struct State {
    /// The cells of the global variables, one after the other.
    pub globals: Vec<u64>,
    /// The cells of memory that were written, by variable and address.
    pub memory: BTreeMap<(u32, u64), u64>,
    /// The frames, the running one last. Empty when the run has ended.
    pub stack: Vec<Frame>,
}

impl State {
    /// The location on top of the stack; none when the run has ended.
    pub fn node(&self) -> Option<Node> {
        self.stack.last().map(|frame| Node { procedure: frame.procedure, location: frame.location })
    }
}

/// A procedure that has been called and has not returned.
#[derive(Clone, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub struct Frame {
    /// The procedure.
    pub procedure: ProcedureId,
    /// The location; in a frame that waits for a callee, the one where it will go on.
    pub location: LocationId,
    /// The call that it waits for.
    pub calling: Option<EdgeId>,
    /// The cells of its variables, one after the other.
    pub locals: Vec<u64>,
}

/// Whether an enumeration has all outcomes.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Extent {
    /// All of them.
    All,
    /// The limit was met.
    Cut,
}

/// Runs programs step by step.
pub struct Interpreter<'a> {
    program: &'a Program,
    layout: Layout,
}

impl<'a> Interpreter<'a> {
    /// An interpreter of a well-formed program.
    pub fn new(program: &'a Program) -> Self {
        debug_assert_eq!(program.check(), Ok(()));
        Self { program, layout: Layout::new(program) }
    }

    /// The program.
    pub fn program(&self) -> &'a Program {
        self.program
    }

    /// The configurations where runs start: at most `limit` of them.
    pub fn initial_states(&self, limit: usize) -> (Vec<State>, Extent) {
        let mut states = Vec::new();
        let extent = enumerate(limit, |choices| {
            if let Ok(state) = self.start(choices, None) {
                states.push(state);
            }
        });
        (states, extent)
    }

    /// All outcomes of all steps from a configuration: at most `limit` trials an edge.
    pub fn successors(&self, state: &State, limit: usize) -> (Vec<(EdgeRef, State)>, Extent) {
        let mut found = Vec::new();
        let mut extent = Extent::All;
        let Some(node) = state.node() else { return (found, extent) };
        for (edge, _) in self.program.procedure(node.procedure).edges_from(node.location) {
            let edge = EdgeRef { procedure: node.procedure, edge };
            let (outcomes, done) = self.step(state, edge, limit);
            if done == Extent::Cut {
                extent = Extent::Cut;
            }
            found.extend(outcomes.into_iter().map(|next| (edge, next)));
        }
        (found, extent)
    }

    /// All outcomes of one step, sorted: at most `limit` combinations of choices are tried. The
    /// edge must start at the location on top of the stack.
    pub fn step(&self, state: &State, edge: EdgeRef, limit: usize) -> (Vec<State>, Extent) {
        let mut outcomes = Vec::new();
        let extent = enumerate(limit, |choices| outcomes.extend(self.execute(state, edge, choices, None)));
        outcomes.sort_unstable();
        outcomes.dedup();
        (outcomes, extent)
    }

    /// The names and values of all globals and of the variables on top of the stack, as the source
    /// writes them. The elements of arrays are listed one by one.
    pub fn show(&self, state: &State) -> Vec<(String, String)> {
        let locals =
            state.stack.last().map_or(&[][..], |frame| &self.program.procedure(frame.procedure).variables);
        let globals = self.program.globals.iter().zip((0..).map(Var::Global));
        let mut shown = Vec::new();
        for (variable, var) in globals.chain(locals.iter().zip((0..).map(Var::Local))) {
            for (i, value) in self.cells(state, var).unwrap_or_default().iter().enumerate() {
                let indices = variable.ty.indices(i).into_iter().map(|index| format!("[{index}]"));
                let name = format!("{}{}", variable.name, indices.collect::<String>());
                shown.push((name, self.program.show_value(variable, *value)));
            }
        }
        shown
    }

    /// The value of an expression in a state; none if an index is outside of its array.
    pub fn evaluate(&self, state: &State, expr: &Expr) -> Option<u64> {
        let frame = state.stack.last()?;
        let now = Store { globals: &state.globals, memory: &state.memory, locals: &frame.locals };
        let scope = Scope {
            program: self.program,
            layout: &self.layout,
            procedure: frame.procedure,
            now,
            next: None,
        };
        scope.value(expr, &mut Odometer::default()).ok()
    }

    /// The cells of a variable of the frame on top, or of a global one.
    pub fn cells<'s>(&self, state: &'s State, variable: Var) -> Option<&'s [u64]> {
        match variable {
            Var::Global(i) => {
                let start = self.layout.globals[i as usize];
                let length = self.program.globals[i as usize].ty.cell_count();
                state.globals.get(start..start + length)
            }
            Var::Local(i) => {
                let frame = state.stack.last()?;
                let start = *self.layout.locals[frame.procedure.0 as usize].get(i as usize)?;
                let procedure = self.program.procedure(frame.procedure);
                let length = procedure.variables.get(i as usize)?.ty.cell_count();
                frame.locals.get(start..start + length)
            }
        }
    }

    /// A first configuration; with a hint, the one with the arbitrary values of the hint.
    pub(crate) fn start(&self, choices: &mut dyn Choices, hint: Option<&State>) -> Result<State, Blocked> {
        let mut globals = Vec::new();
        for variable in &self.program.globals {
            fresh(variable, &mut globals, choices, hint.map(|hint| &hint.globals[..]));
        }
        let procedure = self.program.entry;
        let mut locals = Vec::new();
        // Memory that may hold anything holds what the hint says.
        let memory_hint = hint.map(|hint| &hint.memory);
        let free = |variable: u32| {
            let variable = self.program.globals.get(variable as usize);
            variable.is_some_and(|variable| variable.ty.is_memory() && variable.initial.is_none())
        };
        let hint = hint.and_then(|hint| hint.stack.last()).map(|frame| &frame.locals[..]);
        for variable in &self.program.procedure(procedure).variables {
            fresh(variable, &mut locals, choices, hint);
        }
        let location = self.program.procedure(procedure).entry;
        let memory = memory_hint.into_iter().flatten().filter(|((variable, _), _)| free(*variable));
        let memory = memory.map(|(cell, value)| (*cell, *value)).collect();
        let state =
            State { globals, memory, stack: vec![Frame { procedure, location, calling: None, locals }] };
        Ok(state)
    }

    /// The outcome of a step, with choices as they come. With a hint, values that are chosen as
    /// wholes are those of the hint, so that only choices inside expressions are left.
    pub(crate) fn execute(
        &self,
        state: &State,
        edge: EdgeRef,
        choices: &mut dyn Choices,
        hint: Option<&State>,
    ) -> Result<State, Blocked> {
        let mut next = state.clone();
        self.advance(&mut next, edge, choices, hint)?;
        Ok(next)
    }

    /// Takes a step in place. If the step has no outcome, the state is of no use afterwards.
    pub(crate) fn advance(
        &self,
        state: &mut State,
        edge: EdgeRef,
        choices: &mut dyn Choices,
        hint: Option<&State>,
    ) -> Result<(), Blocked> {
        let depth = state.stack.len().checked_sub(1).expect("a step needs a frame");
        let here = self.program.edge(edge);
        let hint_store = |depth: usize| {
            hint.map(|hint| {
                let locals = hint.stack.get(depth).map_or(&[][..], |frame| &frame.locals);
                Store { globals: &hint.globals, memory: &hint.memory, locals }
            })
        };
        match &here.operation {
            Operation::Skip | Operation::AtomicBegin | Operation::AtomicEnd => {}
            Operation::Assume(condition) => {
                if !self.scope_of(state).holds(condition, choices)? {
                    return Err(Blocked::False("condition"));
                }
            }
            Operation::Assign(assignment) => self.assign(assignment, state, choices, hint_store(depth))?,
            Operation::Havoc(targets) => {
                let scope = self.scope_of(state);
                let cells: Vec<_> = targets
                    .iter()
                    .map(|target| self.cell(&scope, target, choices))
                    .collect::<Result<_, _>>()?;
                for (target, cell) in targets.iter().zip(cells) {
                    let max = self.program.variable(edge.procedure, target.variable).max();
                    let value = choose(max, hint_store(depth).and_then(|hint| get(hint, cell)), choices);
                    put(state, depth, cell, value);
                }
            }
            Operation::Call(call) => {
                self.call(call, state, choices, [hint_store(depth), hint_store(depth + 1)])?;
                state.stack[depth].calling = Some(edge.edge);
            }
            Operation::Return(values) => {
                return self.give_back(values, state, choices, depth.checked_sub(1).and_then(hint_store));
            }
            Operation::StartThread(_) | Operation::EndThread | Operation::Sync => {
                return Err(Blocked::Thread);
            }
        }
        state.stack[depth].location = here.to;
        Ok(())
    }

    pub(crate) fn layout(&self) -> &Layout {
        &self.layout
    }

    /// Where the cells of each global variable start.
    pub(crate) fn global_starts(&self) -> &[usize] {
        &self.layout.globals
    }

    /// The frame that a call makes.
    pub(crate) fn called(
        &self,
        state: &State,
        call: &Call,
        choices: &mut dyn Choices,
    ) -> Result<Frame, Blocked> {
        let mut next = state.clone();
        self.call(call, &mut next, choices, [None, None])?;
        Ok(next.stack.pop().expect("a call makes a frame"))
    }

    /// What expressions of the frame on top are evaluated in.
    pub(crate) fn scope_of<'s>(&'s self, state: &'s State) -> Scope<'s> {
        let frame = state.stack.last().expect("a step needs a frame");
        let now = Store { globals: &state.globals, memory: &state.memory, locals: &frame.locals };
        self.scope(frame.procedure, now)
    }

    pub(crate) fn scope<'s>(&'s self, procedure: ProcedureId, now: Store<'s>) -> Scope<'s> {
        Scope { program: self.program, layout: &self.layout, procedure, now, next: None }
    }

    /// The position of the cell of a target.
    pub(crate) fn cell(
        &self,
        scope: &Scope<'_>,
        target: &Target,
        choices: &mut dyn Choices,
    ) -> Result<Cell, Blocked> {
        let indices = scope.indices(&target.indices, choices)?;
        let ty = &self.program.variable(scope.procedure, target.variable).ty;
        if let (true, Var::Global(i), [address]) = (ty.is_memory(), target.variable, indices.as_slice()) {
            return Ok(Cell::Memory(i, *address));
        }
        let offset = ty.cell(&indices).ok_or(Blocked::OutOfBounds)?;
        Ok(match target.variable {
            Var::Global(i) => Cell::Global(self.layout.globals[i as usize] + offset),
            Var::Local(i) => Cell::Local(self.layout.locals[scope.procedure.0 as usize][i as usize] + offset),
        })
    }

    fn assign(
        &self,
        assignment: &Assignment,
        state: &mut State,
        choices: &mut dyn Choices,
        hint: Option<Store<'_>>,
    ) -> Result<(), Blocked> {
        let depth = state.stack.len() - 1;
        let scope = self.scope_of(state);
        let mut cells = Vec::with_capacity(assignment.targets.len());
        for (target, value) in assignment.targets.iter().zip(&assignment.values) {
            let cell = self.cell(&scope, target, choices)?;
            let value = match hint.and_then(|hint| get(hint, cell)) {
                hint @ Some(_) => whole(&scope, value, hint, choices)?,
                None => scope.value(value, choices)?,
            };
            cells.push((cell, value));
        }
        let before = assignment.constraint.is_some().then(|| state.clone());
        for (cell, value) in cells {
            put(state, depth, cell, value);
        }
        if let (Some(constraint), Some(before)) = (&assignment.constraint, before) {
            let after = self.scope_of(state).now;
            if !(Scope { next: Some(after), ..self.scope_of(&before) }).holds(constraint, choices)? {
                return Err(Blocked::False("constraint"));
            }
        }
        Ok(())
    }

    fn call(
        &self,
        call: &Call,
        state: &mut State,
        choices: &mut dyn Choices,
        [caller, callee]: [Option<Store<'_>>; 2],
    ) -> Result<(), Blocked> {
        // Arguments may speak of the state before the assignment of the call.
        let before = (!call.assignment.targets.is_empty()).then(|| state.clone());
        self.assign(&call.assignment, state, choices, caller)?;
        let procedure = self.program.procedure(call.callee);
        let after = self.scope_of(state).now;
        let scope = Scope { next: Some(after), ..self.scope_of(before.as_ref().unwrap_or(state)) };
        let hint = callee.map(|hint| hint.locals);
        let mut locals = Vec::with_capacity(procedure.cell_count());
        for (i, variable) in procedure.variables.iter().enumerate() {
            match call.arguments.get(i) {
                Some(Argument::Value(value)) => {
                    let hint = hint.and_then(|hint| hint.get(locals.len()).copied());
                    let value = whole(&scope, value, hint, choices)?;
                    locals.push(value);
                }
                Some(Argument::Copy(array, when)) => {
                    let start = self.cell_start(scope.procedure, *array);
                    let store = if *when == When::Now { scope.now } else { after };
                    locals.extend(
                        (0..variable.ty.cell_count())
                            .map(|i| get(store, start.plus(i)).expect("the array has all its cells")),
                    );
                }
                Some(Argument::Arbitrary) => arbitrary(variable, &mut locals, choices, hint),
                None => fresh(variable, &mut locals, choices, hint),
            }
        }
        state.stack.push(Frame { procedure: call.callee, location: procedure.entry, calling: None, locals });
        Ok(())
    }

    fn cell_start(&self, procedure: ProcedureId, variable: Var) -> Cell {
        match variable {
            Var::Global(i) => Cell::Global(self.layout.globals[i as usize]),
            Var::Local(i) => Cell::Local(self.layout.locals[procedure.0 as usize][i as usize]),
        }
    }

    /// Ends the procedure on top and hands its results to the caller.
    fn give_back(
        &self,
        values: &[Expr],
        state: &mut State,
        choices: &mut dyn Choices,
        hint: Option<Store<'_>>,
    ) -> Result<(), Blocked> {
        let ended = state.stack.pop().expect("a step needs a frame");
        let Some(depth) = state.stack.len().checked_sub(1) else { return Ok(()) };
        let caller = &mut state.stack[depth];
        let edge = caller.calling.take().expect("a frame below another waits for a call");
        let procedure = caller.procedure;
        let Operation::Call(call) = &self.program.procedure(procedure).edge(edge).operation else {
            unreachable!("a frame waits at a call");
        };
        if call.results.iter().all(Option::is_none) {
            return Ok(());
        }
        let scope = self.scope_of(state);
        let callee = self.scope(ended.procedure, Store { locals: &ended.locals, ..scope.now });
        let mut cells = Vec::with_capacity(values.len());
        for (value, target) in values.iter().zip(&call.results) {
            let Some(target) = target else { continue };
            let cell = self.cell(&scope, target, choices)?;
            let ty = self.program.variable(procedure, target.variable).ty.element();
            // Only a value that is not cut can be told from where it went.
            let hint = hint.filter(|_| value.ty.width() <= ty.width()).and_then(|hint| get(hint, cell));
            let value = whole(&callee, value, hint, choices)?;
            cells.push((cell, value & ty.max()));
        }
        for (cell, value) in cells {
            put(state, depth, cell, value);
        }
        Ok(())
    }
}

#[derive(Clone, Copy)]
pub(crate) enum Cell {
    Global(usize),
    Local(usize),
    Memory(u32, u64),
}

impl Cell {
    fn plus(self, offset: usize) -> Cell {
        match self {
            Cell::Global(i) => Cell::Global(i + offset),
            Cell::Local(i) => Cell::Local(i + offset),
            Cell::Memory(variable, address) => Cell::Memory(variable, address + offset as u64),
        }
    }
}

fn put(state: &mut State, depth: usize, cell: Cell, value: u64) {
    match cell {
        Cell::Global(i) => state.globals[i] = value,
        Cell::Local(i) => state.stack[depth].locals[i] = value,
        Cell::Memory(variable, address) => {
            state.memory.insert((variable, address), value);
        }
    }
}

fn get(store: Store<'_>, cell: Cell) -> Option<u64> {
    match cell {
        Cell::Global(i) => store.globals.get(i).copied(),
        Cell::Local(i) => store.locals.get(i).copied(),
        Cell::Memory(variable, address) => store.memory.get(&(variable, address)).copied(),
    }
}

/// The value of an expression; if it is nothing but a choice, the hint.
fn whole(
    scope: &Scope<'_>,
    value: &Expr,
    hint: Option<u64>,
    choices: &mut dyn Choices,
) -> Result<u64, Blocked> {
    match value.kind {
        ExprKind::Choice { below } => Ok(choose(choice_max(value.ty, below), hint, choices)),
        _ => scope.value(value, choices),
    }
}

/// The hint if it is in range, else a choice.
fn choose(max: u64, hint: Option<u64>, choices: &mut dyn Choices) -> u64 {
    match hint {
        Some(hint) => hint.min(max),
        None => choices.choose(max),
    }
}

/// Adds the cells of a variable that comes into being.
pub(crate) fn fresh(
    variable: &Variable,
    cells: &mut Vec<u64>,
    choices: &mut dyn Choices,
    hint: Option<&[u64]>,
) {
    match variable.initial {
        Some(value) => cells.extend(std::iter::repeat_n(value, variable.ty.cell_count())),
        None => arbitrary(variable, cells, choices, hint),
    }
}

fn arbitrary(variable: &Variable, cells: &mut Vec<u64>, choices: &mut dyn Choices, hint: Option<&[u64]>) {
    for _ in 0..variable.ty.cell_count() {
        let hint = hint.and_then(|hint| hint.get(cells.len()).copied());
        let max = variable.max();
        cells.push(hint.map_or_else(|| choices.uninitialised(max), |hint| hint.min(max)));
    }
}

/// Repeats `trial` for all sequences of choices, at most `limit` times.
pub(crate) fn enumerate(limit: usize, mut trial: impl FnMut(&mut Odometer)) -> Extent {
    let mut choices = Odometer::default();
    for _ in 0..limit {
        trial(&mut choices);
        if !choices.advance() {
            return Extent::All;
        }
    }
    Extent::Cut
}
