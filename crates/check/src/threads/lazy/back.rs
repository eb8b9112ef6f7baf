//! From a failing run of the sequential program back to a schedule.
//!
//! The steps are taken from the run, and executed by the interpreter; where a value is open, the
//! one of the run is taken.

use std::collections::{BTreeMap, BTreeSet};

use wherefore_program::{
    Frame, Interpreter, LocationId, Operation, Program, State, Thread, ThreadStep, ThreadTrace,
    ThreadedState, Trace, Var,
};

use super::inline::Inlined;

/// The schedule of a run of the sequential program. Whether it can be run is for the interpreter to
/// say.
pub(super) fn schedule(program: &Program, inlined: &Inlined, trace: &Trace) -> Option<ThreadTrace> {
    let reader = Reader { program, inlined, interpreter: Interpreter::new(&inlined.program) };
    let (first, entry) = inlined.threads[0];
    // Where each thread stands, in the order of starts; none has ended.
    let mut order: Vec<usize> = vec![0];
    let mut places: BTreeMap<usize, Option<(usize, LocationId)>> =
        BTreeMap::from([(0, Some((first, entry)))]);
    let original = Interpreter::new(program);
    let start = reader.state(&trace.start, &order, &places)?;
    let start = ThreadedState { memory: BTreeMap::new(), ..start };
    let mut steps: Vec<ThreadStep> = Vec::new();
    for step in &trace.steps {
        let Some((thread, edge)) = inlined.steps[step.edge.edge.0 as usize] else { continue };
        let here = inlined.program.edge(step.edge);
        let is_end = match program.edge(edge).operation {
            Operation::EndThread => true,
            Operation::Return(_) => {
                let (instance, _) = inlined.places[here.from.0 as usize]?;
                inlined.instances[instance].parent.is_none()
            }
            _ => false,
        };
        places.insert(thread, if is_end { None } else { Some(inlined.places[here.to.0 as usize]?) });
        if matches!(program.edge(edge).operation, Operation::StartThread(_)) {
            // The thread that this step starts is the one whose counter it sets.
            let Operation::Assign(assignment) = &here.operation else { return None };
            let at = assignment.values.first()?.as_constant()?;
            let (instance, location) = inlined.places[at as usize]?;
            let started = inlined.instances[instance].thread;
            order.push(started);
            places.insert(started, Some((instance, location)));
        }
        let expected = reader.state(&step.state, &order, &places)?;
        let thread = order.iter().position(|known| *known == thread)?;
        let expected = original.view(&expected, thread);
        let before = steps.last().map_or(&start, |step| &step.state);
        let state = original.guided_step(before, thread, edge, &expected)?;
        steps.push(ThreadStep { thread: thread as u32, edge, state });
    }
    Some(ThreadTrace { start, steps })
}

struct Reader<'a> {
    program: &'a Program,
    inlined: &'a Inlined,
    interpreter: Interpreter<'a>,
}

impl Reader<'_> {
    fn cells(&self, state: &State, variable: u32) -> Option<Vec<u64>> {
        self.interpreter.cells(state, Var::Local(variable)).map(<[u64]>::to_vec)
    }

    fn state(
        &self,
        seen: &State,
        order: &[usize],
        places: &BTreeMap<usize, Option<(usize, LocationId)>>,
    ) -> Option<ThreadedState> {
        // What is not shared is with the threads.
        let mut globals = seen.globals.clone();
        let mut start = 0;
        for variable in &self.program.globals {
            let count = variable.ty.cell_count();
            if !variable.shared && !variable.ty.is_memory() {
                globals[start..start + count].fill(0);
            }
            start += count;
        }
        let thread = |thread: &usize| match places[thread] {
            None => Some(Thread { stack: Vec::new(), own: Vec::new() }),
            Some((instance, location)) => {
                let copies = self.inlined.own[*thread].values();
                let own = copies
                    .map(|copy| self.cells(seen, *copy).map(|cells| cells[0]))
                    .collect::<Option<_>>()?;
                Some(Thread { stack: self.stack(seen, instance, location)?, own })
            }
        };
        let threads = order.iter().map(thread).collect::<Option<Vec<_>>>()?;
        let inside = self.cells(seen, self.inlined.atomic)? == [1];
        let top = self.inlined.places.get(seen.node()?.location.0 as usize).copied().flatten();
        let mover = top.map(|(instance, _)| self.inlined.instances[instance].thread);
        let mover = mover.and_then(|mover| order.iter().position(|known| *known == mover));
        let atomic = mover.filter(|_| inside).map(|thread| thread as u32);
        Some(ThreadedState { globals, memory: seen.memory.clone(), open: BTreeSet::new(), threads, atomic })
    }

    fn stack(&self, seen: &State, instance: usize, location: LocationId) -> Option<Vec<Frame>> {
        let mut frames = Vec::new();
        let mut at = Some((instance, location, None));
        while let Some((instance, location, calling)) = at {
            let here = &self.inlined.instances[instance];
            let variables = self.program.procedure(here.procedure).variables.len() as u32;
            let mut locals = Vec::new();
            for variable in here.locals..here.locals + variables {
                locals.extend(self.cells(seen, variable)?);
            }
            frames.push(Frame { procedure: here.procedure, location, calling, locals });
            at = here.parent.map(|(caller, edge)| (caller, self.program.edge(edge).to, Some(edge.edge)));
        }
        frames.reverse();
        Some(frames)
    }
}
