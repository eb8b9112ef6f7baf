//! Programs whose states are few, with their values: control states are the values of globals,
//! symbols are frames.
//!
//! For data that do not suit decision diagrams although few values occur, such as counters without a
//! bound in the text. What comes from outside must be harmless: a variable that gets any value is
//! only compared with constants, so that one value for each outcome of these comparisons stands for
//! all; or it is read where data flow leaves it few values, which are then all tried. (A value that
//! is not tried never comes to such a place, nor does the one that stands for it come further.) A
//! variable that has no value yet is not read. Otherwise the program is not taken.

use std::collections::{BTreeMap, BTreeSet};

use rustc_hash::FxHashMap;
use wherefore_check::Budget;
use wherefore_flow::{Known, Range, Ranges};
use wherefore_program::{
    Assignment, EdgeRef, Expr, ExprKind, Frame, Interpreter, LocationId, LocationKind, Node, Operation,
    Procedure, ProcedureId, Program, State, Step, Target, Trace, Var,
};

use crate::decide::{Reason, Verdict};
use crate::explicit::{Explicit, ExplicitRule, ExplicitVerdict, RuleLasso, TopOfStack, decide_explicit};
use crate::formula::Formula;
use crate::lasso::Lasso;
use crate::product::{Meaning, Subject};

/// More heads than this are not written down.
const MOST_HEADS: usize = 100_000;

/// So many constants are told apart for one input.
const MOST_CONSTANTS: usize = 64;

/// A symbol below all others, and one from which nothing goes on.
const BOTTOM: u32 = 0;
const BLOCKED: u32 = 1;

/// Globals, and the values that a procedure hands back while its caller has not taken them.
type Control = (Vec<u64>, Option<Vec<u64>>);

/// Decides a formula, if the program is taken and its heads are few.
pub fn decide_by_states(subject: &Subject<'_>, formula: &Formula, budget: &Budget) -> Option<Verdict> {
    let program = subject.program;
    let inputs = Inputs::of(program)?;
    let mut heads = Heads {
        program,
        interpreter: Interpreter::new(program),
        inputs,
        controls: Numbers::default(),
        frames: Numbers::default(),
        rules: Vec::new(),
        edges: Vec::new(),
        open: Vec::new(),
        seen: BTreeSet::new(),
        expanded: FxHashMap::default(),
        waiting: FxHashMap::default(),
        popped: FxHashMap::default(),
        not_modelled: None,
    };
    heads.explore(budget)?;
    let letter = |head: TopOfStack, _: bool| heads.letter(subject, head);
    let system = Explicit { rules: heads.rules.clone(), start: (0, BOTTOM), letter: &letter };
    Some(match decide_explicit(&system, formula, budget) {
        ExplicitVerdict::Holds => match heads.not_modelled {
            Some(node) => Verdict::Unknown(Reason::NotModelled(node)),
            None => Verdict::Holds,
        },
        ExplicitVerdict::Unknown(why) => Verdict::Unknown(Reason::Unconfirmed(why)),
        ExplicitVerdict::Fails(lasso) => {
            let lasso = heads.lasso(&lasso)?;
            match lasso.confirm(subject, formula) {
                Ok(()) => Verdict::Fails(Box::new(lasso)),
                Err(why) => Verdict::Unknown(Reason::Unconfirmed(why)),
            }
        }
    })
}

/// Things with numbers.
struct Numbers<T> {
    known: BTreeMap<T, u32>,
    all: Vec<T>,
}

impl<T> Default for Numbers<T> {
    fn default() -> Self {
        Self { known: BTreeMap::new(), all: Vec::new() }
    }
}

impl<T: Ord + Clone> Numbers<T> {
    fn of(&mut self, thing: T) -> u32 {
        let fresh = self.all.len() as u32;
        *self.known.entry(thing).or_insert_with_key(|thing| {
            self.all.push(thing.clone());
            fresh
        })
    }
}

/// The values that stand for all others, for each variable that gets any value.
struct Inputs {
    values: BTreeMap<(Option<ProcedureId>, u32), Vec<u64>>,
}

impl Inputs {
    /// None if the program is not taken.
    fn of(program: &Program) -> Option<Self> {
        let plain = |variable: &wherefore_program::Variable| !variable.ty.is_memory() && !variable.float;
        if !program.globals.iter().all(|global| plain(global) && global.initial.is_some())
            || program.uses_floats().is_some()
            || program.uses_threads().is_some()
            || program.procedure(program.entry).parameters > 0
        {
            return None;
        }
        let mut havocs: BTreeSet<(Option<ProcedureId>, u32)> = BTreeSet::new();
        for (id, body) in program.procedures() {
            if !unset(body).is_empty() {
                return None;
            }
            for edge in &body.edges {
                if edge.operation.has_choice() {
                    return None;
                }
                match &edge.operation {
                    Operation::Havoc(targets) => {
                        for target in targets {
                            let variable = program.variable(id, target.variable);
                            if !target.indices.is_empty() || variable.value_names.is_some() {
                                return None;
                            }
                            havocs.insert(key(id, target.variable));
                        }
                    }
                    Operation::Call(call) => {
                        let values = |argument: &wherefore_program::Argument| {
                            matches!(argument, wherefore_program::Argument::Value(_))
                        };
                        let is_plain = |target: &Target| target.indices.is_empty();
                        let assigns =
                            call.assignment.targets.is_empty() && call.assignment.constraint.is_none();
                        if !call.arguments.iter().all(values)
                            || !call.results.iter().flatten().all(is_plain)
                            || !assigns
                        {
                            return None;
                        }
                    }
                    _ => {}
                }
            }
        }
        let mut uses = Uses { inputs: &havocs, values: BTreeMap::new() };
        let ranges = if havocs.is_empty() { None } else { Ranges::new(program) };
        for (id, body) in program.procedures() {
            for edge in &body.edges {
                let mut is_taken = true;
                let node = Node { procedure: id, location: edge.from };
                let known = |variable: Var| ranges.as_ref()?.at(node)?.of(variable);
                visit_expressions(&edge.operation, &mut |expr| {
                    is_taken &= uses.read(id, expr, &known);
                });
                if !is_taken {
                    return None;
                }
            }
        }
        let mut values = uses.values;
        let mut found = BTreeMap::new();
        for (id, body) in program.procedures() {
            for (at, ty) in body.variables.iter().map(|variable| variable.ty.element()).enumerate() {
                found.insert((Some(id), at as u32), ty);
            }
        }
        for (at, global) in program.globals.iter().enumerate() {
            found.insert((None, at as u32), global.ty.element());
        }
        let mut all = BTreeMap::new();
        for input in havocs {
            let max = wherefore_program::Scalar::max(*found.get(&input)?);
            let half = max / 2;
            let mut near = values.remove(&input).unwrap_or_default();
            if near.len() > 4 * MOST_CONSTANTS {
                return None;
            }
            near.extend([0, half, half + 1, max]);
            // Between two constants all values do the same.
            let around = near.iter().flat_map(|at| [at.wrapping_sub(1) & max, *at, at.wrapping_add(1) & max]);
            let around: BTreeSet<u64> = around.collect();
            all.insert(input, around.into_iter().collect());
        }
        Some(Self { values: all })
    }
}

fn key(procedure: ProcedureId, variable: Var) -> (Option<ProcedureId>, u32) {
    match variable {
        Var::Global(i) => (None, i),
        Var::Local(i) => (Some(procedure), i),
    }
}

/// How inputs are used: which of their values must be told apart.
struct Uses<'a> {
    inputs: &'a BTreeSet<(Option<ProcedureId>, u32)>,
    values: BTreeMap<(Option<ProcedureId>, u32), BTreeSet<u64>>,
}

impl Uses<'_> {
    /// Reads an expression; false if an input can have many values where it matters.
    fn read(&mut self, procedure: ProcedureId, expr: &Expr, known: &dyn Fn(Var) -> Option<Range>) -> bool {
        let input = |expr: &Expr| match &expr.kind {
            ExprKind::Read { variable, .. } => {
                Some((key(procedure, *variable), *variable)).filter(|(key, _)| self.inputs.contains(key))
            }
            _ => None,
        };
        if let ExprKind::Binary(op, left, right) = &expr.kind {
            if op.is_test() && !op.is_logical() {
                for (one, other) in [(left, right), (right, left)] {
                    if let (Some((key, _)), Some(constant)) = (input(one), other.as_constant()) {
                        self.values.entry(key).or_default().insert(constant);
                        return true;
                    }
                }
            }
        }
        if let Some((key, variable)) = input(expr) {
            let Some(range) = known(variable) else { return false };
            let ((low, high), (least, greatest)) = (range.unsigned_bounds(), range.signed_bounds());
            let max = wherefore_program::Scalar::max(expr.ty);
            let few: Vec<u64> = if high - low < MOST_CONSTANTS as u64 {
                (low..=high).collect()
            } else if greatest.abs_diff(least) < MOST_CONSTANTS as u64 {
                (least..=greatest).map(|value| value as u64 & max).collect()
            } else {
                return false;
            };
            self.values.entry(key).or_default().extend(few);
            return true;
        }
        expr.children().into_iter().all(|child| self.read(procedure, child, known))
    }
}

fn visit_expressions<'e>(operation: &'e Operation, visit: &mut dyn FnMut(&'e Expr)) {
    fn assignment<'e>(assignment: &'e Assignment, visit: &mut dyn FnMut(&'e Expr)) {
        assignment.values.iter().chain(&assignment.constraint).for_each(&mut *visit);
        assignment.targets.iter().flat_map(|target| &target.indices).for_each(visit);
    }
    match operation {
        Operation::Assume(condition) => visit(condition),
        Operation::Assign(it) => assignment(it, visit),
        Operation::Havoc(targets) => targets.iter().flat_map(|target| &target.indices).for_each(visit),
        Operation::Call(call) => {
            assignment(&call.assignment, visit);
            for argument in &call.arguments {
                if let wherefore_program::Argument::Value(value) = argument {
                    visit(value);
                }
            }
            call.results.iter().flatten().flat_map(|target| &target.indices).for_each(visit);
        }
        Operation::Return(values) => values.iter().for_each(visit),
        _ => {}
    }
}

/// The variables without an initial value that may be read before they are set.
fn unset(body: &Procedure) -> BTreeSet<u32> {
    let mut live: Vec<BTreeSet<u32>> = vec![BTreeSet::new(); body.locations.len()];
    loop {
        let mut changed = false;
        for edge in &body.edges {
            let mut needed = live[edge.to.0 as usize].clone();
            let mut set = |target: &Target| {
                if let (Var::Local(i), true) = (target.variable, target.indices.is_empty()) {
                    needed.remove(&i);
                }
            };
            match &edge.operation {
                Operation::Assign(assignment) => assignment.targets.iter().for_each(&mut set),
                Operation::Havoc(targets) => targets.iter().for_each(&mut set),
                Operation::Call(call) => call.results.iter().flatten().for_each(&mut set),
                _ => {}
            }
            visit_expressions(&edge.operation, &mut |expr| {
                expr.reads(&mut |variable, _| {
                    if let Var::Local(i) = variable {
                        needed.insert(i);
                    }
                });
            });
            let at = &mut live[edge.from.0 as usize];
            let before = at.len();
            at.extend(needed);
            changed |= at.len() != before;
        }
        if !changed {
            break;
        }
    }
    let has_value =
        |i: &u32| (*i as usize) < body.parameters || body.variables[*i as usize].initial.is_some();
    live[body.entry.0 as usize].iter().copied().filter(|i| !has_value(i)).collect()
}

struct Heads<'a> {
    program: &'a Program,
    interpreter: Interpreter<'a>,
    inputs: Inputs,
    /// Control states from 1 on; 0 is before the start.
    controls: Numbers<Control>,
    /// Symbols from 2 on.
    frames: Numbers<Frame>,
    rules: Vec<ExplicitRule>,
    /// The step of the program that each rule is.
    edges: Vec<Option<EdgeRef>>,
    /// Heads, each with the one where its frame was entered.
    open: Vec<(TopOfStack, TopOfStack)>,
    seen: BTreeSet<(TopOfStack, TopOfStack)>,
    /// The rules of each head.
    expanded: FxHashMap<TopOfStack, std::ops::Range<usize>>,
    /// What waits for a frame that was entered at a head: where it was entered itself, and its
    /// symbol; and the control states in which that frame has returned.
    waiting: FxHashMap<TopOfStack, BTreeSet<(TopOfStack, u32)>>,
    popped: FxHashMap<TopOfStack, BTreeSet<u32>>,
    not_modelled: Option<Node>,
}

impl Heads<'_> {
    fn control(&mut self, control: Control) -> u32 {
        self.controls.of(control) + 1
    }

    fn symbol(&mut self, frame: Frame) -> u32 {
        self.frames.of(frame) + 2
    }

    fn add(&mut self, from: TopOfStack, to: u32, push: Vec<u32>, edge: Option<EdgeRef>) {
        self.rules.push(ExplicitRule { from, to, push });
        self.edges.push(edge);
    }

    /// Notes that a run can be at a head in a frame that was entered at another one.
    fn come_to(&mut self, entered: TopOfStack, head: TopOfStack) {
        if self.seen.insert((entered, head)) {
            self.open.push((entered, head));
        }
    }

    /// Finds all heads; none if there are too many.
    fn explore(&mut self, budget: &Budget) -> Option<()> {
        let program = self.program;
        let entry = program.procedure(program.entry);
        let mut globals = Vec::new();
        for global in &program.globals {
            globals.extend(std::iter::repeat_n(global.initial?, global.ty.cell_count()));
        }
        let frame =
            Frame { procedure: program.entry, location: entry.entry, calling: None, locals: fresh(entry) };
        let (to, top) = (self.control((globals, None)), self.symbol(frame));
        self.add((0, BOTTOM), to, vec![top, BOTTOM], None);
        self.come_to((to, top), (to, top));
        while let Some((entered, head)) = self.open.pop() {
            if self.seen.len() > MOST_HEADS || self.rules.len() > 4 * MOST_HEADS {
                return None;
            }
            if self.seen.len() % 256 == 0 && budget.stopped().is_some() {
                return None;
            }
            let rules = match self.expanded.get(&head) {
                Some(rules) => rules.clone(),
                None => {
                    let first = self.rules.len();
                    self.expand(head)?;
                    let rules = first..self.rules.len();
                    self.expanded.insert(head, rules.clone());
                    rules
                }
            };
            for rule in rules {
                let ExplicitRule { to, push, .. } = self.rules[rule].clone();
                match push[..] {
                    [top] => self.come_to(entered, (to, top)),
                    [top, below] => {
                        let callee = (to, top);
                        self.come_to(callee, callee);
                        if self.waiting.entry(callee).or_default().insert((entered, below)) {
                            let ends: Vec<u32> =
                                self.popped.get(&callee).into_iter().flatten().copied().collect();
                            ends.into_iter().for_each(|end| self.come_to(entered, (end, below)));
                        }
                    }
                    _ => {
                        if self.popped.entry(entered).or_default().insert(to) {
                            let callers: Vec<(TopOfStack, u32)> =
                                self.waiting.get(&entered).into_iter().flatten().copied().collect();
                            callers.into_iter().for_each(|(caller, top)| self.come_to(caller, (to, top)));
                        }
                    }
                }
            }
        }
        Some(())
    }

    fn expand(&mut self, head: TopOfStack) -> Option<()> {
        let (control, top) = head;
        if top == BOTTOM {
            return Some(());
        }
        if top == BLOCKED {
            self.add(head, control, vec![BLOCKED], None);
            return Some(());
        }
        let (globals, returned) = self.controls.all[control as usize - 1].clone();
        let frame = self.frames.all[top as usize - 2].clone();
        if let Some(values) = returned {
            let (globals, frame) = self.take(globals, frame, &values)?;
            let (to, top) = (self.control((globals, None)), self.symbol(frame));
            self.add(head, to, vec![top], None);
            return Some(());
        }
        let program = self.program;
        let node = Node { procedure: frame.procedure, location: frame.location };
        let body = program.procedure(node.procedure);
        if body.location(node.location).kind == LocationKind::Unsupported {
            self.not_modelled = Some(node);
            self.add(head, control, vec![BLOCKED], None);
            return Some(());
        }
        let state = State { globals, memory: BTreeMap::new(), stack: vec![frame] };
        let (mut is_last, before) = (true, self.rules.len());
        for (edge, step) in body.edges_from(node.location) {
            is_last = false;
            let at = EdgeRef { procedure: node.procedure, edge };
            match &step.operation {
                Operation::Return(values) => {
                    let values: Option<Vec<u64>> =
                        values.iter().map(|value| self.interpreter.evaluate(&state, value)).collect();
                    let Some(values) = values else { continue };
                    let to = self.control((state.globals.clone(), Some(values)));
                    self.add(head, to, Vec::new(), Some(at));
                }
                Operation::Havoc(targets) => {
                    for next in self.chosen(&state, targets, step.to, node.procedure) {
                        self.step(head, at, next);
                    }
                }
                Operation::Call(call) => {
                    let callee = program.procedure(call.callee);
                    let mut locals = fresh(callee);
                    let mut cells = 0;
                    let mut has_values = true;
                    for (argument, variable) in call.arguments.iter().zip(&callee.variables) {
                        if let wherefore_program::Argument::Value(value) = argument {
                            match self.interpreter.evaluate(&state, value) {
                                Some(value) => locals[cells] = value,
                                None => has_values = false,
                            }
                        }
                        cells += variable.ty.cell_count();
                    }
                    if !has_values {
                        continue;
                    }
                    let entered =
                        Frame { procedure: call.callee, location: callee.entry, calling: None, locals };
                    let waits = Frame { location: step.to, calling: Some(edge), ..state.stack[0].clone() };
                    let to = self.control((state.globals.clone(), None));
                    let (entered, waits) = (self.symbol(entered), self.symbol(waits));
                    self.add(head, to, vec![entered, waits], Some(at));
                }
                _ => {
                    for next in self.interpreter.step(&state, at, 1).0 {
                        self.step(head, at, next);
                    }
                }
            }
        }
        if !is_last && self.rules.len() == before {
            // A condition blocks: this is no run.
            self.add(head, control, vec![BLOCKED], None);
        }
        Some(())
    }

    /// A step that stays in its frame.
    fn step(&mut self, head: TopOfStack, edge: EdgeRef, mut next: State) {
        let Some(frame) = next.stack.pop() else { return };
        let (to, top) = (self.control((next.globals, None)), self.symbol(frame));
        self.add(head, to, vec![top], Some(edge));
    }

    /// The states after some variables got values from outside.
    fn chosen(
        &self,
        state: &State,
        targets: &[Target],
        to: LocationId,
        procedure: ProcedureId,
    ) -> Vec<State> {
        let mut states = vec![state.clone()];
        for target in targets {
            let none = Vec::new();
            let values = self.inputs.values.get(&key(procedure, target.variable)).unwrap_or(&none);
            let with = |state: State| {
                values.iter().map(move |value| {
                    let mut state = state.clone();
                    self.put(&mut state, procedure, target.variable, *value);
                    state
                })
            };
            states = states.into_iter().flat_map(with).collect();
        }
        for state in &mut states {
            if let Some(frame) = state.stack.last_mut() {
                frame.location = to;
            }
        }
        states
    }

    fn put(&self, state: &mut State, procedure: ProcedureId, variable: Var, value: u64) {
        let start = |variables: &[wherefore_program::Variable], i: u32| -> usize {
            variables[..i as usize].iter().map(|variable| variable.ty.cell_count()).sum()
        };
        match variable {
            Var::Global(i) => state.globals[start(&self.program.globals, i)] = value,
            Var::Local(i) => {
                let at = start(&self.program.procedure(procedure).variables, i);
                if let Some(frame) = state.stack.last_mut() {
                    frame.locals[at] = value;
                }
            }
        }
    }

    /// A caller goes on with the results of its call.
    fn take(&self, globals: Vec<u64>, mut frame: Frame, values: &[u64]) -> Option<(Vec<u64>, Frame)> {
        let procedure = frame.procedure;
        let edge = frame.calling.take()?;
        let Operation::Call(call) = &self.program.procedure(procedure).edge(edge).operation else {
            return None;
        };
        let mut state = State { globals, memory: BTreeMap::new(), stack: vec![frame] };
        for (target, value) in call.results.iter().zip(values) {
            if let Some(target) = target {
                let max = self.program.variable(procedure, target.variable).ty.element().max();
                self.put(&mut state, procedure, target.variable, value & max);
            }
        }
        Some((state.globals, state.stack.pop()?))
    }

    fn letter(&self, subject: &Subject<'_>, (control, top): TopOfStack) -> Option<Vec<bool>> {
        if control == 0 || top == BLOCKED {
            return None;
        }
        let (globals, returned) = &self.controls.all[control as usize - 1];
        let stack = match top {
            BOTTOM => Vec::new(),
            _ if returned.is_some() => return None,
            _ => vec![self.frames.all[top as usize - 2].clone()],
        };
        let state = State { globals: globals.clone(), memory: BTreeMap::new(), stack };
        if !subject.is_read(state.node()) {
            return None;
        }
        crate::lasso::letter(subject, &self.interpreter, &state)
    }

    /// The lasso of the program that some rules are.
    fn lasso(&self, lasso: &RuleLasso) -> Option<Lasso> {
        let (mut stem, mut turn) = (lasso.stem.clone(), lasso.turn.clone());
        // Between a return and its results there is no configuration of the program.
        while let (Some(last), Some(first)) = (stem.last(), turn.first().copied()) {
            if !self.rules[*last].push.is_empty() {
                break;
            }
            stem.push(first);
            turn.rotate_left(1);
        }
        let mut stack = vec![BOTTOM];
        let mut trace: Option<Trace> = None;
        let mut returning: Option<EdgeRef> = None;
        let mut cut = 0;
        for (position, number) in stem.iter().chain(&turn).enumerate() {
            if position == stem.len() {
                cut = trace.as_ref().map_or(0, |trace| trace.steps.len());
            }
            let rule = &self.rules[*number];
            stack.pop();
            stack.extend(rule.push.iter().rev());
            let (globals, returned) = self.controls.all.get((rule.to as usize).checked_sub(1)?)?;
            if rule.push.is_empty() {
                returning = self.edges[*number];
            }
            if returned.is_some() && stack.len() > 1 {
                continue;
            }
            let frames = stack[1..].iter().map(|symbol| self.frames.all.get(*symbol as usize - 2).cloned());
            let stack = frames.collect::<Option<Vec<Frame>>>()?;
            let state = State { globals: globals.clone(), memory: BTreeMap::new(), stack };
            match &mut trace {
                None => trace = Some(Trace { start: state, steps: Vec::new() }),
                Some(trace) => {
                    let edge = returning.take().or(self.edges[*number])?;
                    trace.steps.push(Step { edge, state });
                }
            }
        }
        let trace = trace?;
        let cut = if turn.is_empty() { trace.steps.len() } else { cut };
        Some(Lasso::cut(trace, cut))
    }
}

/// The variables of a procedure that is called: those without a value are not read before they get
/// one.
fn fresh(body: &Procedure) -> Vec<u64> {
    let cells = |variable: &wherefore_program::Variable| {
        std::iter::repeat_n(variable.initial.unwrap_or(0), variable.ty.cell_count())
    };
    body.variables.iter().flat_map(cells).collect()
}

/// Whether a condition that a formula speaks of looks at an input: one value would not stand for
/// the others.
pub fn looks_at_inputs(subject: &Subject<'_>) -> bool {
    let mut written: BTreeSet<u32> = BTreeSet::new();
    for body in &subject.program.procedures {
        for edge in &body.edges {
            if let Operation::Havoc(targets) = &edge.operation {
                written.extend(targets.iter().filter_map(|target| match target.variable {
                    Var::Global(i) => Some(i),
                    Var::Local(_) => None,
                }));
            }
        }
    }
    let mut found = false;
    for meaning in subject.meanings {
        if let Meaning::Condition(condition) = meaning {
            condition.reads(&mut |variable, _| {
                found |= matches!(variable, Var::Global(i) if written.contains(&i));
            });
        }
    }
    found
}
