//! From a failing run of the reduced program back to a schedule.
//!
//! The run is cut where threads begin and where the round changes; the pieces are put in the order
//! of the rounds, and within a round in the order of the threads. Only the steps are taken from the
//! run: their values are found again by the interpreter, so that an error of the reduction cannot
//! lead to a run that is none.

use std::collections::BTreeMap;

use wherefore_program::{
    EdgeRef, Interpreter, Node, Program, Starting, ThreadStep, ThreadTrace, ThreadedState, Trace,
};

use super::reduce::{Origin, Reduced, origin};

/// How many configurations are kept for one step.
const MOST: usize = 20_000;

/// How many combinations of choices are tried for one step.
const CHOICES: usize = 1 << 16;

/// A step of an instance; the last part says what becomes of a thread that it starts.
#[derive(Clone, Copy, Debug)]
struct Planned {
    instance: usize,
    edge: EdgeRef,
    starts: Option<Option<usize>>,
}

/// The schedule of a run of the reduced program that ends at `error`; none if the interpreter does
/// not find it.
pub(super) fn schedule(
    program: &Program,
    reduced: &Reduced,
    trace: &Trace,
    error: Node,
) -> Option<ThreadTrace> {
    execute(program, &planned(reduced, trace), error)
}

/// The steps in the order of the schedule, up to the error.
fn planned(reduced: &Reduced, trace: &Trace) -> Vec<Planned> {
    let interpreter = Interpreter::new(&reduced.program);
    let mut pieces: BTreeMap<(u64, usize), Vec<Planned>> = BTreeMap::new();
    let mut instance = 0;
    let mut failed = None;
    for step in &trace.steps {
        let round = interpreter.cells(&step.state, reduced.round).map_or(1, |cells| cells[0]);
        let mut take = |edge, starts| {
            let piece = pieces.entry((round, instance)).or_default();
            piece.push(Planned { instance, edge, starts });
        };
        match origin(reduced, step.edge) {
            Origin::Step(edge) => take(edge, None),
            Origin::Start(edge, started) => take(edge, Some(started)),
            Origin::Begin(next) => instance = next,
            Origin::Fail(_) => failed = Some((round, instance)),
            Origin::Other => {}
        }
    }
    let wanted = pieces.into_iter().filter(|(at, _)| failed.is_none_or(|failed| *at <= failed));
    wanted.flat_map(|(_, piece)| piece).collect()
}

/// Runs the steps with all values; a run that ends at the error.
fn execute(program: &Program, steps: &[Planned], error: Node) -> Option<ThreadTrace> {
    let interpreter = Interpreter::new(program);
    let (initial, _) = interpreter.initial_threads(MOST);
    // Each layer has configurations with the position of the one before.
    let mut layers: Vec<Vec<(ThreadedState, usize)>> =
        vec![initial.into_iter().map(|state| (state, 0)).collect()];
    let mut threads: BTreeMap<usize, usize> = BTreeMap::from([(0, 0)]);
    let mut count = 1;
    for step in steps {
        let thread = *threads.get(&step.instance)?;
        let mut seen: BTreeMap<ThreadedState, usize> = BTreeMap::new();
        let followed = step.starts.flatten();
        let after = count + usize::from(followed.is_some());
        for (at, (state, _)) in layers.last()?.iter().enumerate() {
            if state.node(thread).is_none_or(|node| node.procedure != step.edge.procedure)
                || state.node(thread).map(|node| node.location) != Some(program.edge(step.edge).from)
            {
                continue;
            }
            let (outcomes, _) =
                interpreter.thread_step(state, thread, step.edge, Starting::Optional, CHOICES);
            for next in outcomes.into_iter().filter(|next| next.threads.len() == after) {
                if seen.len() < MOST {
                    seen.entry(next).or_insert(at);
                }
            }
        }
        if let Some(instance) = followed {
            threads.insert(instance + 1, count);
        }
        count = after;
        if seen.is_empty() {
            return None;
        }
        layers.push(seen.into_iter().collect());
    }
    let last = steps.last().map_or(0, |step| threads.get(&step.instance).copied().unwrap_or(0));
    let mut at = layers.last()?.iter().position(|(state, _)| state.node(last) == Some(error))?;
    let mut found = Vec::new();
    for (layer, step) in layers[1..].iter().zip(steps).rev() {
        let (state, before) = layer[at].clone();
        let thread = threads[&step.instance] as u32;
        found.push(ThreadStep { thread, edge: step.edge, state });
        at = before;
    }
    found.reverse();
    Some(ThreadTrace { start: layers[0][at].0.clone(), steps: found })
}
