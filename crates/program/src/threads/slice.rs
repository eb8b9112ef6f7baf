//! What of a failing schedule matters: the steps that the failure depends on.
//!
//! The run is followed backwards. A step of any thread is taken if it writes a cell that a step
//! taken before reads; a decision is taken if, had it gone the other way, the thread could have got
//! to its end without coming to a step that is taken. A condition that a thread waits for is taken if
//! a later step of the thread is: had it not held, the thread would not have come there. Of another
//! thread only steps are left that change something that the failure reads, what they depend on, and
//! its start.

use std::collections::{BTreeMap, BTreeSet};

use super::effects::Place;
use super::schedule::ThreadTrace;
use crate::expression::ExprKind;
use crate::interpret::Interpreter;
use crate::program::{LocationId, LocationKind, Operation, ProcedureId, Program};

/// For each step of a failing run, whether it matters.
pub fn thread_slice(program: &Program, trace: &ThreadTrace) -> Vec<bool> {
    let interpreter = Interpreter::new(program);
    let mut slice = Slice { program, frames: BTreeMap::new(), ways: BTreeMap::new() };
    let mut kept = vec![false; trace.steps.len()];
    let mut live: BTreeSet<Place> = BTreeSet::new();
    let mut active: BTreeSet<u32> = BTreeSet::new();
    if let Some(last) = trace.steps.last() {
        active.insert(last.thread);
        if let Some(thread) = trace.last().threads.get(last.thread as usize) {
            // The failure is in the innermost frame; each frame below has made a call.
            for (depth, frame) in thread.stack.iter().enumerate() {
                let procedure = program.procedure(frame.procedure);
                let at = frame.calling.map_or(frame.location, |call| procedure.edge(call).from);
                slice.need(last.thread, depth, at);
            }
        }
    }
    for (at, step) in trace.steps.iter().enumerate().rev() {
        let before = trace.before(at);
        let Some(top) = before.threads.get(step.thread as usize).and_then(|t| t.stack.len().checked_sub(1))
        else {
            continue;
        };
        let edge = program.edge(step.edge);
        let effects = interpreter.effects(before, step);
        let mut takes = slice.is_decision(step.thread, top, step.edge.procedure, edge.from, edge.to);
        // A thread that waits does not go on: all that it does later depends on that.
        let waits = matches!(&edge.operation, Operation::Assume(condition) if condition.kind != ExprKind::Constant(1))
            && program.procedure(step.edge.procedure).edges_from(edge.from).count() == 1;
        takes |= waits && active.contains(&step.thread);
        let writes_live = effects.written().any(|place| live.contains(&place));
        match &edge.operation {
            Operation::Call(_) if slice.leave(step.thread, top + 1) => {
                slice.need(step.thread, top, edge.from);
                // The call itself is shown with what it leads to.
                kept[at] = true;
            }
            Operation::Return(_) => drop(slice.leave(step.thread, top)),
            Operation::StartThread(_) => {
                let started = step.state.threads.len() as u32 - 1;
                takes |= before.threads.len() < step.state.threads.len() && active.contains(&started);
            }
            _ => {}
        }
        if !takes && !writes_live {
            continue;
        }
        kept[at] = true;
        active.insert(step.thread);
        slice.need(step.thread, top, edge.from);
        if takes {
            live.extend(effects.conditions.iter().copied());
        }
        let mut sources = BTreeSet::new();
        for (place, from) in &effects.writes {
            if live.remove(place) {
                sources.extend(from.iter().copied());
                sources.extend(effects.conditions.iter().copied());
            }
        }
        live.extend(sources);
    }
    kept
}

struct Slice<'p> {
    program: &'p Program,
    /// For each thread and frame, the locations whose steps are taken and whose decisions are still
    /// to come.
    frames: BTreeMap<(u32, usize), BTreeSet<LocationId>>,
    /// For each location, those from which the procedure can be left without coming to it.
    ways: BTreeMap<(ProcedureId, LocationId), Vec<bool>>,
}

impl Slice<'_> {
    fn need(&mut self, thread: u32, frame: usize, at: LocationId) {
        self.frames.entry((thread, frame)).or_default().insert(at);
    }

    /// Forgets a frame; whether something of it is taken.
    fn leave(&mut self, thread: u32, frame: usize) -> bool {
        self.frames.remove(&(thread, frame)).is_some_and(|needs| !needs.is_empty())
    }

    /// Whether a step is a decision that something depends on; then that depends on it.
    fn is_decision(
        &mut self,
        thread: u32,
        frame: usize,
        procedure: ProcedureId,
        from: LocationId,
        to: LocationId,
    ) -> bool {
        let Some(needs) = self.frames.get(&(thread, frame)) else { return false };
        let edges = self.program.procedure(procedure).edges_from(from);
        let others: Vec<LocationId> = edges.map(|(_, edge)| edge.to).filter(|other| *other != to).collect();
        if others.is_empty() {
            return false;
        }
        let needs: Vec<LocationId> = needs.iter().copied().collect();
        let mut found = false;
        for need in needs {
            let ways = self.ways(procedure, need);
            if others.iter().any(|other| ways[other.0 as usize]) {
                found = true;
                if let Some(needs) = self.frames.get_mut(&(thread, frame)) {
                    needs.remove(&need);
                }
            }
        }
        found
    }

    fn ways(&mut self, id: ProcedureId, avoided: LocationId) -> &[bool] {
        let program = self.program;
        self.ways.entry((id, avoided)).or_insert_with(|| {
            let procedure = program.procedure(id);
            let mut can = vec![false; procedure.locations.len()];
            let mut work: Vec<u32> = Vec::new();
            let has_next = |at: u32| procedure.edges_from(LocationId(at)).next().is_some();
            for at in 0..procedure.locations.len() as u32 {
                let location = procedure.location(LocationId(at));
                let ends =
                    LocationId(at) == procedure.exit || !has_next(at) && location.kind != LocationKind::Error;
                if ends && LocationId(at) != avoided {
                    can[at as usize] = true;
                    work.push(at);
                }
            }
            while let Some(at) = work.pop() {
                for edge in procedure.edges.iter().filter(|edge| edge.to.0 == at && edge.from != avoided) {
                    if !std::mem::replace(&mut can[edge.from.0 as usize], true) {
                        work.push(edge.from.0);
                    }
                }
            }
            can
        })
    }
}
