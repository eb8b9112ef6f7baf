//! From a solution of the constraints back to a schedule, which the interpreter executes.

use std::collections::{BTreeMap, BTreeSet};

use rustc_hash::FxHashMap;
use wherefore_program::{
    EdgeRef, Frame, Interpreter, Operation, Program, State, Target, Thread, ThreadStep, ThreadTrace,
    ThreadedState, Var,
};
use wherefore_smt::{Model, Term, Terms, Value};

use super::unfold::Unfolding;
use crate::symbolic::run::cells_of;

/// The schedule of a solution, and the target where it fails. Whether it can be run is for the
/// interpreter to say.
pub(super) fn schedule(
    program: &Program,
    unfolding: &Unfolding<'_>,
    clocks: &[Term],
    model: &Model,
) -> Option<(ThreadTrace, usize)> {
    let terms = &unfolding.machine.terms;
    let holds = |term: Term| term == Terms::TRUE || terms.holds(term, model);
    let guards: Vec<Term> = unfolding.steps.iter().map(|step| step.guard).collect();
    let taken = terms.evaluate_all(&guards, model);
    let times: Vec<u64> =
        terms.evaluate_all(clocks, model).iter().map(|value| value.bits().unwrap_or(0)).collect();
    let is_done = |point: usize| match &unfolding.points[point].ends {
        None => true,
        Some(ends) => ends.iter().any(|end| holds(*end)),
    };
    // The first failure in the order of points.
    let failures = unfolding.errors.iter().filter(|(_, _, guard, _)| holds(*guard));
    let key = |point: usize| (times[point], unfolding.points[point].thread, point);
    let (failing, ..) = *failures.min_by_key(|(_, _, _, point)| key(*point))?;
    let target = unfolding.machine.flat.errors[&unfolding.visits[failing].place];

    // The steps of each thread, with the point that each belongs to.
    let mut steps: Vec<((u64, usize, usize), usize, usize)> = Vec::new();
    let mut begun: BTreeSet<usize> = BTreeSet::from([0]);
    for (thread, lane) in unfolding.lanes.iter().enumerate() {
        if !begun.contains(&thread) {
            continue;
        }
        let mut own: Vec<(usize, Option<usize>)> = Vec::new();
        let mut visit = lane.first;
        loop {
            let next = unfolding.visits[visit].steps.iter().find(|step| taken[**step].bits() == Some(1));
            let Some(&step) = next else { break };
            let here = &unfolding.steps[step];
            if here.point.is_some_and(|point| !is_done(point)) {
                break;
            }
            own.push((step, here.point));
            begun.extend(here.starts);
            match here.to {
                Some(to) if to == failing => break,
                Some(to) => visit = to,
                None => break,
            }
        }
        // Steps that nobody sees go with the point before them, the first ones with the first
        // point. A failure is a point of its own.
        let error = unfolding.errors.iter().find(|(visit, of, guard, _)| {
            *of == thread
                && holds(*guard)
                && own.last().is_some_and(|(step, _)| unfolding.steps[*step].to == Some(*visit))
        });
        let now = own.iter().find_map(|(_, point)| *point).or(error.map(|(.., point)| *point));
        if thread > 0 && now.is_none() {
            continue;
        }
        // The first thread begins before all others.
        let mut now_key = now.filter(|_| thread > 0).map_or((0, 0, 0), key);
        for (step, point) in own {
            if let Some(point) = point {
                now_key = key(point);
            }
            steps.push((now_key, steps.len(), step));
        }
    }
    steps.sort();
    let threads: BTreeMap<usize, usize> = thread_of_steps(unfolding);

    let original = Interpreter::new(program);
    let start = start(program, unfolding, model);
    let values = Values::new(program, unfolding, model, steps.iter().map(|(_, _, step)| *step));
    // Which thread of the unrolled program is which of the run.
    let mut numbers: BTreeMap<usize, usize> = BTreeMap::from([(0, 0)]);
    let mut done: Vec<ThreadStep> = Vec::new();
    for (_, _, step) in steps {
        let here = &unfolding.steps[step];
        let thread = *numbers.get(&threads[&step])?;
        let before = done.last().map_or(&start, |step| &step.state);
        let expected = values.expected(&original, before, thread, step);
        let state = original.guided_step(before, thread, here.edge, &expected)?;
        if let (Operation::StartThread(_), Some(new)) = (&program.edge(here.edge).operation, here.starts) {
            numbers.insert(new, state.threads.len() - 1);
        }
        done.push(ThreadStep { thread: thread as u32, edge: here.edge, state });
        if here.to == Some(failing) {
            return Some((ThreadTrace { start, steps: done }, target));
        }
    }
    (failing == 0).then_some((ThreadTrace { start, steps: done }, target))
}

/// The thread of each step.
fn thread_of_steps(unfolding: &Unfolding<'_>) -> BTreeMap<usize, usize> {
    let mut threads = BTreeMap::new();
    let firsts: Vec<usize> = unfolding.lanes.iter().map(|lane| lane.first).collect();
    for (id, visit) in unfolding.visits.iter().enumerate() {
        let thread = firsts.iter().rposition(|first| *first <= id).unwrap_or(0);
        for step in &visit.steps {
            threads.insert(*step, thread);
        }
    }
    threads
}

fn start(program: &Program, unfolding: &Unfolding<'_>, model: &Model) -> ThreadedState {
    let terms = &unfolding.machine.terms;
    let value = |variable: u32| terms.evaluate(unfolding.start.get(variable), model);
    let (mut globals, mut own) = (Vec::new(), Vec::new());
    for (i, variable) in program.globals.iter().enumerate() {
        let cells = cells_of(variable, Some(&value(i as u32)));
        if !variable.shared && !variable.ty.is_memory() {
            globals.extend(cells.iter().map(|_| 0));
            own.extend(cells);
        } else {
            globals.extend(cells);
        }
    }
    let entry = program.procedure(program.entry);
    let first = unfolding.machine.flat.frames[0].first;
    let locals = entry.variables.iter().zip(first..);
    let locals = locals.flat_map(|(variable, i)| cells_of(variable, Some(&value(i)))).collect();
    let frame = Frame { procedure: program.entry, location: entry.entry, calling: None, locals };
    ThreadedState {
        globals,
        memory: BTreeMap::new(),
        open: BTreeSet::new(),
        threads: vec![Thread { stack: vec![frame], own }],
        atomic: None,
    }
}

/// The values of steps in a solution. What terms share is evaluated once.
struct Values<'s> {
    program: &'s Program,
    unfolding: &'s Unfolding<'s>,
    values: FxHashMap<Term, Value>,
    /// Where the cells of each global variable start.
    starts: Vec<usize>,
    /// Whether memory may hold anything at the start.
    is_open: bool,
}

impl<'s> Values<'s> {
    fn new(
        program: &'s Program,
        unfolding: &'s Unfolding<'s>,
        model: &Model,
        steps: impl Iterator<Item = usize>,
    ) -> Self {
        let mut at = 0;
        let mut starts = Vec::new();
        for variable in &program.globals {
            starts.push(at);
            at += variable.ty.cell_count();
        }
        let mut is_open =
            program.globals.iter().any(|variable| variable.ty.is_memory() && variable.initial.is_none());
        let steps: Vec<usize> = steps.collect();
        let opens = |step: &usize| {
            let operation = &program.edge(unfolding.steps[*step].edge).operation;
            matches!(operation, Operation::Havoc(_)) && operation.touches_shared(program)
        };
        is_open |= steps.iter().any(opens);
        let mut values = Self { program, unfolding, values: FxHashMap::default(), starts, is_open };
        let mut wanted = Vec::new();
        for step in steps {
            values.each(step, |_, _, term| wanted.push(term));
            for (_, index, value) in &unfolding.steps[step].cells {
                wanted.extend(*index);
                wanted.push(*value);
            }
        }
        wanted.sort_unstable();
        wanted.dedup();
        let found = unfolding.machine.terms.evaluate_all(&wanted, model);
        values.values = wanted.into_iter().zip(found).collect();
        values
    }

    /// The variables whose values after a step matter: those of the frames (with the frame), and
    /// global ones.
    fn each(&self, step: usize, mut see: impl FnMut(Option<u32>, usize, Term)) {
        let here = &self.unfolding.steps[step];
        for (i, variable) in self.program.globals.iter().enumerate() {
            let matters = match variable.ty.is_memory() {
                true => self.is_open,
                false => !variable.shared || is_written(self.program, here.edge, i as u32),
            };
            if matters {
                see(None, i, here.store.get(i as u32));
            }
        }
        let operation = &self.program.edge(here.edge).operation;
        let chooses = operation.has_choice() || matches!(operation, Operation::Havoc(_) | Operation::Call(_));
        let (Some(to), true) = (here.to, chooses) else { return };
        let flat = &self.unfolding.machine.flat;
        let mut frame = Some(flat.places[self.unfolding.visits[to].place as usize].frame);
        while let Some(id) = frame {
            let of = &flat.frames[id as usize];
            for i in 0..self.program.procedure(of.procedure).variables.len() {
                see(Some(id), i, here.store.get(of.first + i as u32));
            }
            frame = of.caller.map(|(caller, _)| caller);
        }
    }

    fn bits(&self, term: Term) -> u64 {
        self.values.get(&term).and_then(Value::bits).unwrap_or(0)
    }

    /// What a thread should see after a step: values that are chosen are taken from there.
    fn expected(
        &self,
        interpreter: &Interpreter<'_>,
        before: &ThreadedState,
        thread: usize,
        step: usize,
    ) -> State {
        let here = &self.unfolding.steps[step];
        let mut seen = interpreter.view(before, thread);
        let mut locals: BTreeMap<u32, Vec<u64>> = BTreeMap::new();
        let flat = &self.unfolding.machine.flat;
        self.each(step, |frame, i, term| {
            let value = self.values.get(&term);
            match frame {
                Some(id) => {
                    let procedure = self.program.procedure(flat.frames[id as usize].procedure);
                    locals.entry(id).or_default().extend(cells_of(&procedure.variables[i], value));
                }
                None if self.program.globals[i].ty.is_memory() => {
                    if let Some(Value::Array { entries, .. }) = value {
                        for (address, value) in entries {
                            seen.memory.entry((i as u32, *address)).or_insert(*value);
                        }
                    }
                }
                None => {
                    let cells = cells_of(&self.program.globals[i], value);
                    let start = self.starts[i];
                    seen.globals[start..start + cells.len()].copy_from_slice(&cells);
                }
            }
        });
        for (variable, index, value) in &here.cells {
            let value = self.bits(*value);
            let index = index.map(|index| self.bits(index));
            let is_memory = self.program.globals[*variable as usize].ty.is_memory();
            match index {
                Some(address) if is_memory => {
                    seen.memory.insert((*variable, address), value);
                }
                index => {
                    let at = self.starts[*variable as usize] + index.unwrap_or(0) as usize;
                    if let Some(cell) = seen.globals.get_mut(at) {
                        *cell = value;
                    }
                }
            }
        }
        if let (Some(to), false) = (here.to, locals.is_empty()) {
            seen.stack = self.stack(to, locals);
        }
        seen
    }

    /// The frames at a visit.
    fn stack(&self, visit: usize, mut locals: BTreeMap<u32, Vec<u64>>) -> Vec<Frame> {
        let flat = &self.unfolding.machine.flat;
        let place = flat.places[self.unfolding.visits[visit].place as usize];
        let (mut frames, mut frame) = (Vec::new(), Some(place.frame));
        let mut above: Option<EdgeRef> = None;
        while let Some(id) = frame {
            let of = &flat.frames[id as usize];
            let (location, calling) = match above {
                Some(call) => (self.program.edge(call).to, Some(call.edge)),
                None => (place.location, None),
            };
            let locals = locals.remove(&id).unwrap_or_default();
            frames.push(Frame { procedure: of.procedure, location, calling, locals });
            above = of.caller.map(|(_, call)| call);
            frame = of.caller.map(|(caller, _)| caller);
        }
        frames.reverse();
        frames
    }
}

/// Whether a step writes a global variable.
fn is_written(program: &Program, edge: EdgeRef, variable: u32) -> bool {
    let targets: Vec<&Target> = match &program.edge(edge).operation {
        Operation::Assign(part) => part.targets.iter().collect(),
        Operation::Havoc(targets) => targets.iter().collect(),
        Operation::Call(call) => call.assignment.targets.iter().collect(),
        _ => Vec::new(),
    };
    targets.iter().any(|target| target.variable == Var::Global(variable))
}
