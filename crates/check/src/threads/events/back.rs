//! From a solution of the constraints back to a schedule, which the interpreter executes.

use std::collections::{BTreeMap, BTreeSet};

use wherefore_program::{
    Frame, Interpreter, Operation, Program, State, Thread, ThreadStep, ThreadTrace, ThreadedState,
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
    let (failing, _, _, last) = *failures.min_by_key(|(_, _, _, point)| key(*point))?;
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
        // Steps that nobody sees go with the point before them, the first ones with the first point.
        // A failure is a point of its own.
        let error = unfolding.errors.iter().find(|(visit, of, guard, _)| {
            *of == thread && holds(*guard) && own.last().is_some_and(|(step, _)| unfolding.steps[*step].to == Some(*visit))
        });
        let mut now = own.iter().find_map(|(_, point)| *point).or(error.map(|(.., point)| *point));
        if thread == 0 {
            now = None;
        }
        let mut now_key = now.map_or((0, thread, 0), key);
        if thread > 0 && now.is_none() {
            continue;
        }
        for (step, point) in own {
            if let Some(point) = point {
                now_key = key(point);
            }
            steps.push((now_key, steps.len(), step));
        }
        let _ = &mut now;
    }
    steps.sort();
    let threads: BTreeMap<usize, usize> = thread_of_steps(unfolding);
    let _ = last;

    let original = Interpreter::new(program);
    let start = start(program, unfolding, model);
    // Which thread of the unrolled program is which of the run.
    let mut numbers: BTreeMap<usize, usize> = BTreeMap::from([(0, 0)]);
    let mut done: Vec<ThreadStep> = Vec::new();
    for (_, _, step) in steps {
        let here = &unfolding.steps[step];
        let thread = *numbers.get(&threads[&step])?;
        let before = done.last().map_or(&start, |step| &step.state);
        let expected = expected(program, unfolding, model, &original, before, thread, step);
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

/// What a thread should see after a step: values that are chosen are taken from there.
fn expected(
    program: &Program,
    unfolding: &Unfolding<'_>,
    model: &Model,
    interpreter: &Interpreter<'_>,
    before: &ThreadedState,
    thread: usize,
    step: usize,
) -> State {
    let terms = &unfolding.machine.terms;
    let here = &unfolding.steps[step];
    let mut seen = interpreter.view(before, thread);
    let mut at = 0;
    let mut starts = Vec::new();
    for variable in &program.globals {
        starts.push(at);
        at += variable.ty.cell_count();
    }
    let is_alone = unfolding.base.is_none();
    let mut wanted: Vec<(u32, Option<Term>, Term)> = here.cells.clone();
    // Variables that only this thread has.
    for (i, variable) in program.globals.iter().enumerate() {
        if here.cells.iter().any(|(known, ..)| *known == i as u32) && !is_alone {
            continue;
        }
        let held = here.store.get(i as u32);
        if variable.ty.is_memory() {
            if let Value::Array { entries, .. } = terms.evaluate(held, model) {
                for (address, value) in entries {
                    seen.memory.entry((i as u32, address)).or_insert(value);
                }
            }
        } else if !variable.shared || is_written(program, here.edge, i as u32) {
            let cells = cells_of(variable, Some(&terms.evaluate(held, model)));
            seen.globals[starts[i]..starts[i] + cells.len()].copy_from_slice(&cells);
        }
    }
    for (variable, index, value) in wanted.drain(..) {
        let value = terms.evaluate(value, model).bits().unwrap_or(0);
        let index = index.map(|index| terms.evaluate(index, model).bits().unwrap_or(0));
        let of = &program.globals[variable as usize];
        match index {
            Some(address) if of.ty.is_memory() => {
                seen.memory.insert((variable, address), value);
            }
            index => {
                let at = starts[variable as usize] + index.unwrap_or(0) as usize;
                if let Some(cell) = seen.globals.get_mut(at) {
                    *cell = value;
                }
            }
        }
    }
    // The frames after the step.
    let flat = &unfolding.machine.flat;
    if let Some(to) = here.to {
        let place = unfolding.visits[to].place;
        let mut frames = Vec::new();
        let mut frame = Some(flat.places[place as usize].frame);
        let mut above: Option<wherefore_program::EdgeRef> = None;
        while let Some(id) = frame {
            let of = &flat.frames[id as usize];
            let procedure = program.procedure(of.procedure);
            let locals = procedure.variables.iter().zip(of.first..);
            let locals = locals
                .flat_map(|(variable, i)| cells_of(variable, Some(&terms.evaluate(here.store.get(i), model))))
                .collect();
            let (location, calling) = match above {
                Some(call) => (program.edge(call).to, Some(call.edge)),
                None => (flat.places[place as usize].location, None),
            };
            frames.push(Frame { procedure: of.procedure, location, calling, locals });
            above = of.caller.map(|(_, call)| call);
            frame = of.caller.map(|(caller, _)| caller);
        }
        frames.reverse();
        seen.stack = frames;
    }
    seen
}

/// Whether a step writes a global variable.
fn is_written(program: &Program, edge: wherefore_program::EdgeRef, variable: u32) -> bool {
    let targets: Vec<&wherefore_program::Target> = match &program.edge(edge).operation {
        Operation::Assign(part) => part.targets.iter().collect(),
        Operation::Havoc(targets) => targets.iter().collect(),
        Operation::Call(call) => call.assignment.targets.iter().collect(),
        _ => Vec::new(),
    };
    targets.iter().any(|target| target.variable == wherefore_program::Var::Global(variable))
}
