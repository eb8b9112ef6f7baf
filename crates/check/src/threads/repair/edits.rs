//! Changes of a procedure: lines as one atomic step, two segments exchanged, a decision that is made
//! again.

use std::collections::BTreeSet;

use wherefore_program::{
    CallGraph, Edge, Expr, ExprKind, Location, LocationId, LocationKind, Operation, Procedure, ProcedureId,
    Program, Target, Var,
};

use super::segments::{Lines, Segment};

/// A program with another body of one procedure.
fn changed(program: &Program, id: ProcedureId, change: impl FnOnce(&mut Procedure)) -> Option<Program> {
    let mut next = program.clone();
    let procedure = next.procedures.get_mut(id.0 as usize)?;
    change(procedure);
    procedure.edges.sort_by_key(|edge| edge.from);
    next.check().is_ok().then_some(next)
}

/// Whether an operation begins or ends something of threads.
fn is_of_threads(operation: &Operation) -> bool {
    matches!(
        operation,
        Operation::AtomicBegin
            | Operation::AtomicEnd
            | Operation::StartThread(_)
            | Operation::EndThread
            | Operation::Sync
    )
}

/// How many lines the procedures have that are called from some locations.
pub(super) fn called_lines(lines: &Lines<'_>, inside: &BTreeSet<LocationId>) -> usize {
    let calls = lines.procedure.edges.iter().filter(|edge| inside.contains(&edge.from));
    let callees = calls.filter_map(|edge| match &edge.operation {
        Operation::Call(call) => Some(call.callee),
        _ => None,
    });
    let graph = CallGraph::new(lines.program);
    let reached: BTreeSet<ProcedureId> = callees.flat_map(|id| graph.reachable(id)).collect();
    reached.into_iter().map(|id| Lines::new(lines.program, id).all().len()).sum()
}

/// Whether a procedure, or one that it calls, does something of threads.
fn does_threads(program: &Program, id: ProcedureId) -> bool {
    let reached = CallGraph::new(program).reachable(id);
    reached
        .into_iter()
        .any(|id| program.procedure(id).edges.iter().any(|edge| is_of_threads(&edge.operation)))
}

/// The locations as one atomic step. None if threads are started or ended inside, or if an atomic
/// section is inside in part, or if they hang together only by others.
pub(super) fn atomic(lines: &Lines<'_>, inside: &BTreeSet<LocationId>) -> Option<Program> {
    let (program, procedure) = (lines.program, lines.procedure);
    let is_in = |at: LocationId| inside.contains(&at);
    for edge in procedure.edges.iter().filter(|edge| is_in(edge.from)) {
        let is_left_out = match &edge.operation {
            Operation::Call(call) => does_threads(program, call.callee),
            Operation::AtomicBegin => !ends_inside(procedure, edge.to, inside),
            Operation::AtomicEnd => false,
            operation => is_of_threads(operation),
        };
        let others = procedure.edges_from(edge.from).count() > 1;
        if is_left_out || others && matches!(edge.operation, Operation::Return(_)) {
            return None;
        }
    }
    if !hangs_together(procedure, inside) || begins_outside(procedure, inside) {
        return None;
    }
    changed(program, lines.id, |procedure| {
        let mut new: Vec<Edge> = Vec::new();
        let place = |procedure: &mut Procedure, at: LocationId| {
            let span = procedure.location(at).span;
            let (labels, kind) = (Vec::new(), LocationKind::Statement);
            procedure.locations.push(Location { span, labels, kind, called: None, violation: None });
            LocationId(procedure.locations.len() as u32 - 1)
        };
        let is_error =
            |procedure: &Procedure, at: LocationId| procedure.location(at).kind == LocationKind::Error;
        for at in 0..procedure.edges.len() {
            let (from, to, span) = {
                let edge = &procedure.edges[at];
                (edge.from, edge.to, edge.span)
            };
            // Sections do not nest: the outer one takes the place of those inside.
            let operation = &mut procedure.edges[at].operation;
            if is_in(from) && matches!(operation, Operation::AtomicBegin | Operation::AtomicEnd) {
                *operation = Operation::Skip;
            }
            let bound = match (is_in(from), is_in(to)) {
                (false, true) => Operation::AtomicBegin,
                (true, false) if !is_error(procedure, to) => Operation::AtomicEnd,
                _ => continue,
            };
            let between = place(procedure, if to == procedure.exit { from } else { to });
            if matches!(procedure.edges[at].operation, Operation::Return(_)) {
                procedure.edges[at].from = between;
                new.push(Edge { from, to: between, operation: bound, span });
            } else {
                procedure.edges[at].to = between;
                new.push(Edge { from: between, to, operation: bound, span });
            }
        }
        if is_in(procedure.entry) {
            let (entry, span) = (procedure.entry, procedure.location(procedure.entry).span);
            procedure.entry = place(procedure, entry);
            new.push(Edge { from: procedure.entry, to: entry, operation: Operation::AtomicBegin, span });
        }
        procedure.edges.extend(new);
    })
}

/// Whether an atomic section that begins at a location ends inside of others on all ways.
fn ends_inside(procedure: &Procedure, begin: LocationId, inside: &BTreeSet<LocationId>) -> bool {
    let mut seen = BTreeSet::from([begin]);
    let mut work = vec![begin];
    while let Some(at) = work.pop() {
        if !inside.contains(&at) {
            return procedure.location(at).kind == LocationKind::Error;
        }
        for (_, edge) in procedure.edges_from(at) {
            match edge.operation {
                Operation::AtomicEnd => {}
                Operation::Return(_) => return false,
                _ if seen.insert(edge.to) => work.push(edge.to),
                _ => {}
            }
        }
    }
    true
}

/// Whether an atomic section that begins elsewhere comes to these locations.
fn begins_outside(procedure: &Procedure, inside: &BTreeSet<LocationId>) -> bool {
    let begins = procedure.edges.iter().filter(|edge| edge.operation == Operation::AtomicBegin);
    let begins = begins.filter(|edge| !inside.contains(&edge.from)).map(|edge| edge.to);
    let mut work: Vec<LocationId> = begins.collect();
    let mut seen: BTreeSet<LocationId> = work.iter().copied().collect();
    while let Some(at) = work.pop() {
        if inside.contains(&at) {
            return true;
        }
        for (_, edge) in procedure.edges_from(at) {
            if edge.operation != Operation::AtomicEnd && seen.insert(edge.to) {
                work.push(edge.to);
            }
        }
    }
    false
}

fn hangs_together(procedure: &Procedure, inside: &BTreeSet<LocationId>) -> bool {
    let Some(first) = inside.first() else { return false };
    let mut seen = BTreeSet::from([*first]);
    let mut work = vec![*first];
    while let Some(at) = work.pop() {
        for edge in &procedure.edges {
            let other = match at {
                at if edge.from == at => edge.to,
                at if edge.to == at => edge.from,
                _ => continue,
            };
            if inside.contains(&other) && seen.insert(other) {
                work.push(other);
            }
        }
    }
    seen.len() == inside.len()
}

/// Two segments, one behind the other, in the other order.
pub(super) fn exchange(lines: &Lines<'_>, first: &Segment, second: &Segment) -> Option<Program> {
    if first.exit != second.entry || !first.locations.is_disjoint(&second.locations) {
        return None;
    }
    let fails = |segment: &Segment| {
        let kinds = segment.locations.iter().map(|at| lines.procedure.location(*at).kind);
        kinds.into_iter().any(|kind| matches!(kind, LocationKind::Error | LocationKind::Assert))
    };
    // A check that is made earlier is no repair.
    if fails(first) || fails(second) {
        return None;
    }
    let is_inside = |at: LocationId| first.locations.contains(&at) || second.locations.contains(&at);
    let goes_elsewhere = lines.procedure.edges.iter().any(|edge| {
        let enters = !is_inside(edge.from) && is_inside(edge.to) && edge.to != first.entry;
        let back = second.locations.contains(&edge.from) && first.locations.contains(&edge.to);
        enters || back
    });
    if goes_elsewhere {
        return None;
    }
    changed(lines.program, lines.id, |procedure| {
        for edge in &mut procedure.edges {
            let (in_first, in_second) =
                (first.locations.contains(&edge.from), second.locations.contains(&edge.from));
            edge.to = match edge.to {
                to if in_first && to == second.entry => second.exit,
                to if in_second && to == second.exit => first.entry,
                to if !in_first && !in_second && to == first.entry => second.entry,
                to => to,
            };
        }
        if procedure.entry == first.entry {
            procedure.entry = second.entry;
        }
    })
}

/// Whether the order of two segments does not matter to the thread itself: neither calls something,
/// and neither writes what the other touches.
pub(super) fn are_independent(lines: &Lines<'_>, first: &Segment, second: &Segment) -> bool {
    let touched = |segment: &Segment| {
        let mut found: Vec<(Var, Option<u64>, bool)> = Vec::new();
        for edge in lines.procedure.edges.iter().filter(|edge| segment.locations.contains(&edge.from)) {
            cells(&edge.operation, &mut found)?;
        }
        Some(found)
    };
    let (Some(first), Some(second)) = (touched(first), touched(second)) else { return false };
    let meets = |a: &(Var, Option<u64>, bool), b: &(Var, Option<u64>, bool)| {
        a.0 == b.0 && (a.2 || b.2) && (a.1.is_none() || b.1.is_none() || a.1 == b.1)
    };
    !first.iter().any(|a| second.iter().any(|b| meets(a, b)))
}

/// The cells that an operation touches: the variable, the index if it is a constant, and whether it
/// is written. None if the operation is not simple.
fn cells(operation: &Operation, found: &mut Vec<(Var, Option<u64>, bool)>) -> Option<()> {
    fn index(indices: &[Expr]) -> Option<u64> {
        match indices {
            [] => Some(0),
            [Expr { kind: ExprKind::Constant(value), .. }] => Some(*value),
            _ => None,
        }
    }
    fn reads(value: &Expr, found: &mut Vec<(Var, Option<u64>, bool)>) {
        value.walk(&mut |part| {
            if let ExprKind::Read { variable, indices, .. } = &part.kind {
                found.push((*variable, index(indices), false));
            }
        });
    }
    fn write(target: &Target, found: &mut Vec<(Var, Option<u64>, bool)>) {
        target.indices.iter().for_each(|part| reads(part, found));
        found.push((target.variable, index(&target.indices), true));
    }
    match operation {
        Operation::Skip => {}
        Operation::Assume(condition) => reads(condition, found),
        Operation::Assign(assignment) => {
            assignment.targets.iter().for_each(|target| write(target, found));
            assignment.values.iter().chain(&assignment.constraint).for_each(|value| reads(value, found));
        }
        Operation::Havoc(targets) => targets.iter().for_each(|target| write(target, found)),
        _ => return None,
    }
    Some(())
}

/// The `if` in the first line of a segment as a `while`: what it encloses goes back to the
/// condition. None if it is no `if` without an alternative.
pub(super) fn again(lines: &Lines<'_>, block: &Segment) -> Option<Program> {
    let first = *block.lines.start();
    let head = lines.locations(&(first..=first));
    let is_head = |at: LocationId| head.contains(&at);
    let is_body = |at: LocationId| block.locations.contains(&at) && !is_head(at);
    let edges = &lines.procedure.edges;
    let skips = edges.iter().any(|edge| is_head(edge.from) && edge.to == block.exit);
    let leaves = edges.iter().any(|edge| is_body(edge.from) && edge.to == block.exit);
    let is_loop = edges.iter().any(|edge| is_body(edge.from) && is_head(edge.to));
    let has_branch = head.iter().any(|at| lines.procedure.location(*at).kind == LocationKind::Branch);
    if !skips || !leaves || is_loop || !has_branch {
        return None;
    }
    changed(lines.program, lines.id, |procedure| {
        for edge in &mut procedure.edges {
            if is_body(edge.from) && edge.to == block.exit {
                edge.to = block.entry;
            }
        }
    })
}
