//! Which changes are tried: those near the switches of the failing schedule, the smallest first.

use std::collections::BTreeSet;

use wherefore_program::{
    CallGraph, LocationId, Operation, Procedure, ProcedureId, Program, Task, ThreadTrace,
};

use super::edits;
use super::segments::{Lines, Segment};
use super::{Change, Schedule};

/// A change, and the program with it.
pub(super) struct Candidate {
    pub procedure: ProcedureId,
    pub change: Change,
    pub program: Program,
}

/// An atomic step has at most so many lines more than it must.
const MORE_LINES: usize = 6;

/// A lock is moved over so many statements at most.
const MOST_MOVES: usize = 4;

/// So many changes are tried at most.
const MOST: usize = 120;

const LOCKS: [&str; 6] = [
    "pthread_mutex_lock",
    "pthread_spin_lock",
    "pthread_rwlock_wrlock",
    "pthread_rwlock_rdlock",
    "mtx_lock",
    "sem_wait",
];
const UNLOCKS: [&str; 5] =
    ["pthread_mutex_unlock", "pthread_spin_unlock", "pthread_rwlock_unlock", "mtx_unlock", "sem_post"];

/// The changes near the switches of a schedule.
pub(super) fn near(task: &Task, schedule: &Schedule) -> Vec<Candidate> {
    let program = &*task.program;
    let trace = &schedule.trace;
    let is_given = |id: ProcedureId| {
        let name = program.source(program.procedure(id).span).name();
        !(name.starts_with('<') || task.is_c() && id == program.entry)
    };
    let taken: BTreeSet<ProcedureId> = trace.steps.iter().map(|step| step.edge.procedure).collect();
    let mut found: Vec<(usize, Candidate)> = Vec::new();
    for id in taken.into_iter().filter(|id| is_given(*id)) {
        let lines = Lines::new(program, id);
        let mut add = |size: usize, change: Change, changed: Option<Program>| {
            if let Some(program) = changed {
                found.push((size, Candidate { procedure: id, change, program }));
            }
        };
        single(&lines, &mut add);
    }
    for (id, first, last) in interrupted(program, trace).into_iter().filter(|(id, ..)| is_given(*id)) {
        let lines = Lines::new(program, id);
        let all: Vec<u32> = lines.all().into_iter().collect();
        let (Some(low), Some(high)) =
            (all.iter().position(|line| *line == first), all.iter().position(|line| *line == last))
        else {
            continue;
        };
        for more in 0..=MORE_LINES {
            for above in 0..=more {
                let (Some(from), Some(to)) = (low.checked_sub(above), all.get(high + more - above)) else {
                    continue;
                };
                let range = all[from]..=*to;
                let inside = lines.locations(&range);
                let changed = edits::atomic(&lines, &inside);
                let change = Change::Atomic(all[from], *to);
                let size = high - low + more + 1 + edits::called_lines(&lines, &inside);
                if let Some(program) = changed {
                    found.push((size, Candidate { procedure: id, change, program }));
                }
            }
        }
    }
    found.sort_by(|(a, x), (b, y)| (a, &x.change, x.procedure).cmp(&(b, &y.change, y.procedure)));
    found.dedup_by(|(_, a), (_, b)| a.procedure == b.procedure && a.change == b.change);
    found.truncate(MOST);
    found.into_iter().map(|(_, candidate)| candidate).collect()
}

/// The changes of a procedure that are about single statements, with their sizes.
fn single(lines: &Lines<'_>, add: &mut impl FnMut(usize, Change, Option<Program>)) {
    for line in lines.all() {
        if let Some(block) = block_at(lines, line).filter(|block| waits(lines, block)) {
            add(1, Change::Again(line), edits::again(lines, &block));
        }
        let Some(here) = lines.segment(line..=line) else { continue };
        if calls(lines, &here, &UNLOCKS) {
            moved(lines, &here, true, add);
        } else if calls(lines, &here, &LOCKS) {
            moved(lines, &here, false, add);
        } else if let Some(next) = lines.behind(&here).filter(|next| next.lines.start() == next.lines.end()) {
            if edits::are_independent(lines, &here, &next) {
                let change = Change::Exchange(line, *next.lines.start());
                add(1, change, edits::exchange(lines, &here, &next));
            }
        }
    }
}

/// The statement that begins at a line and has others inside.
fn block_at(lines: &Lines<'_>, line: u32) -> Option<Segment> {
    let all = lines.all();
    let ends = all.range(line + 1..).take(MOST_MOVES + 2);
    let mut blocks = ends.filter_map(|end| lines.segment(line..=*end));
    blocks.find(|block| {
        let head = lines.locations(&(line..=line));
        lines.procedure.edges.iter().any(|edge| head.contains(&edge.from) && edge.to == block.exit)
    })
}

/// Whether something in a segment waits for other threads.
fn waits(lines: &Lines<'_>, segment: &Segment) -> bool {
    let blocks = |procedure: &Procedure, at: LocationId| {
        let mut edges = procedure.edges_from(at);
        let first = edges.next();
        matches!(first, Some((_, edge)) if matches!(edge.operation, Operation::Assume(_)))
            && edges.next().is_none()
    };
    let graph = CallGraph::new(lines.program);
    let edges = lines.procedure.edges.iter().filter(|edge| segment.locations.contains(&edge.from));
    let callees = edges.filter_map(|edge| match &edge.operation {
        Operation::Call(call) => Some(call.callee),
        _ => None,
    });
    let called: BTreeSet<ProcedureId> = callees.flat_map(|id| graph.reachable(id)).collect();
    let waits_inside = called.into_iter().any(|id| {
        let procedure = lines.program.procedure(id);
        (0..procedure.locations.len() as u32).any(|at| blocks(procedure, LocationId(at)))
    });
    waits_inside || segment.locations.iter().any(|at| blocks(lines.procedure, *at))
}

/// Whether a segment calls one of these functions.
fn calls(lines: &Lines<'_>, segment: &Segment, names: &[&str]) -> bool {
    let edges = lines.procedure.edges.iter().filter(|edge| segment.locations.contains(&edge.from));
    let mut called = edges.filter_map(|edge| match &edge.operation {
        Operation::Call(call) => Some(lines.program.procedure(call.callee).name.as_str()),
        _ => None,
    });
    called.any(|name| names.contains(&name))
}

/// A lock that is given back later, or taken earlier, over one statement after the other.
fn moved(
    lines: &Lines<'_>,
    lock: &Segment,
    is_later: bool,
    add: &mut impl FnMut(usize, Change, Option<Program>),
) {
    let line = *lock.lines.start();
    let mut program: Program = lines.program.clone();
    for size in 1..=MOST_MOVES {
        let now = Lines::new(&program, lines.id);
        // Lines stay what they are: only the order of the statements changes.
        let Some(here) = now.segment(line..=line) else { return };
        let other = match is_later {
            true => now.behind(&here),
            false => now.before(&here),
        };
        let Some(other) = other else { return };
        let is_lock = calls(&now, &other, &LOCKS) || calls(&now, &other, &UNLOCKS);
        let changed = match is_later {
            true => edits::exchange(&now, &here, &other),
            false => edits::exchange(&now, &other, &here),
        };
        let (Some(changed), false) = (changed, is_lock) else { return };
        let change = match is_later {
            true => Change::UnlockLater(line, *other.lines.end()),
            false => Change::LockEarlier(line, *other.lines.start()),
        };
        add(size, change, Some(changed.clone()));
        program = changed;
    }
}

/// Where threads are interrupted on a run and go on later: the procedure, the line before and the
/// line behind the switch, in the innermost frame that both have.
fn interrupted(program: &Program, trace: &ThreadTrace) -> Vec<(ProcedureId, u32, u32)> {
    let contexts = trace.contexts();
    let mut found = Vec::new();
    for (at, context) in contexts.iter().enumerate() {
        let goes_on = contexts[at + 1..].iter().any(|later| later.thread == context.thread);
        let (Some(last), true) = (context.steps.clone().last(), goes_on) else { continue };
        let thread = context.thread as usize;
        let (Some(before), Some(after)) =
            (trace.before(last).threads.get(thread), trace.steps[last].state.threads.get(thread))
        else {
            continue;
        };
        let common = before.stack.len().min(after.stack.len());
        for depth in (0..common).rev() {
            let (from, to) = (&before.stack[depth], &after.stack[depth]);
            let line = |frame: &wherefore_program::Frame| {
                let procedure = program.procedure(frame.procedure);
                let at = frame.calling.map_or(frame.location, |call| procedure.edge(call).from);
                let node = wherefore_program::Node { procedure: frame.procedure, location: at };
                program.line(node)
            };
            let (Some(a), Some(b)) = (line(from), line(to)) else { continue };
            found.push((to.procedure, a.min(b), a.max(b)));
        }
    }
    found.sort_unstable();
    found.dedup();
    found
}
