//! Data races as errors that a run comes to.
//!
//! Two accesses race if some schedule makes them adjacent: one thread stands in front of the first,
//! another one in front of the second, both are to one cell, one of them writes, and not both are
//! in an atomic section. So each thread may stop for good in front of an access, after it has said
//! which cell it is about to use and whether it writes; and in front of each access there is a
//! check that no other thread stands in front of one that conflicts with it. Nothing is lost by
//! stopping for good: the steps of the first thread can come before those of the second. A section
//! that is not completed is not begun, so that no thread stops inside of one.
//!
//! What engines decide is whether a check can fail, as for any other one: the schedule, its fewest
//! switches and proofs come from them.

use std::cmp::Ordering;
use std::collections::BTreeSet;

use wherefore_program::{
    Argument, Assignment, BinaryOp, Edge, EdgeId, EdgeRef, Expr, ExprKind, Location, LocationId,
    LocationKind, Operation, Procedure, ProcedureId, Program, Scalar, Span, Target, Type, Var, Variable,
    Violation, ViolationKind,
};

/// Numbers of the cells of variables have this bit, those of memory are addresses.
const NAMED: u64 = 1 << 63;

/// The number of no cell: no thread has stopped.
const NOTHING: u64 = u64::MAX;

/// What a thread that has stopped is about to use.
#[derive(Clone, Copy)]
struct Watch {
    /// The cell, or [`NOTHING`].
    cell: Var,
    writes: Var,
    line: Var,
}

/// An access to a cell that threads share.
#[derive(Clone, PartialEq, Eq)]
struct Access {
    cell: Expr,
    writes: bool,
}

/// Calls a function on each reference to an edge.
pub(crate) type EachEdge<'a> = dyn FnMut(&mut dyn FnMut(&mut EdgeRef)) + 'a;

/// Adds checks for data races. `unwatched` are variables that are not the program's own, `models`
/// the procedures that stand for functions of the system. `edges` are told where they went.
pub(crate) fn watch(
    program: &mut Program,
    unwatched: &BTreeSet<Var>,
    models: &BTreeSet<ProcedureId>,
    edges: &mut EachEdge<'_>,
) {
    let span = program.procedure(program.entry).span;
    let mut global = |name: &str, ty: Scalar, initial: u64| {
        program.globals.push(Variable {
            shared: true,
            initial: Some(initial),
            ..variable(name.to_owned(), ty, span)
        });
        Var::Global(program.globals.len() as u32 - 1)
    };
    let watch = Watch {
        cell: global("__wherefore_accessed", CELL, NOTHING),
        writes: global("__wherefore_accessed.writes", Scalar::Bool, 0),
        line: global("__wherefore_accessed.line", LINE, 0),
    };
    let is_shared = |variable: Var| match variable {
        Var::Global(i) => program.globals[i as usize].shared && !unwatched.contains(&variable),
        Var::Local(_) => false,
    };
    let shared: BTreeSet<Var> = (0..program.globals.len() as u32 - 3)
        .map(Var::Global)
        .filter(|variable| is_shared(*variable))
        .collect();
    for id in (0..program.procedures.len() as u32).map(ProcedureId).filter(|id| !models.contains(id)) {
        let first = split_results(program, id, &shared);
        let found = accesses_by_location(program, id, &shared);
        let moved = insert(program, id, found, watch);
        edges(&mut |edge| {
            if edge.procedure == id {
                edge.edge = moved[first[edge.edge.0 as usize].0 as usize];
            }
        });
    }
}

const CELL: Scalar = Scalar::Bits(64);
const LINE: Scalar = Scalar::Bits(32);

/// For each location, the shared cells that a step from it accesses.
fn accesses_by_location(program: &Program, id: ProcedureId, shared: &BTreeSet<Var>) -> Vec<Vec<Access>> {
    let body = program.procedure(id);
    let mut found: Vec<Vec<Access>> = vec![Vec::new(); body.locations.len()];
    for edge in &body.edges {
        let mut note = |variable: Var, indices: &[Expr], writes: bool| {
            if !shared.contains(&variable) {
                return;
            }
            let access = Access { cell: cell(program, variable, indices), writes };
            let here = &mut found[edge.from.0 as usize];
            if !here.contains(&access) {
                here.push(access);
            }
        };
        each_access(&edge.operation, &mut note);
    }
    found
}

/// Calls `note` on each access of a step, with whether it writes.
fn each_access(operation: &Operation, note: &mut impl FnMut(Var, &[Expr], bool)) {
    let (values, targets): (Vec<&Expr>, &[Target]) = match operation {
        Operation::Assume(condition) => (vec![condition], &[]),
        Operation::Assign(assignment) => {
            (assignment.values.iter().chain(&assignment.constraint).collect(), &assignment.targets)
        }
        Operation::Havoc(targets) => (Vec::new(), targets),
        Operation::Call(call) => {
            let arguments = call.arguments.iter().filter_map(|argument| match argument {
                Argument::Value(value) => Some(value),
                Argument::Copy(..) | Argument::Arbitrary => None,
            });
            (arguments.chain(&call.assignment.values).collect(), &call.assignment.targets)
        }
        Operation::Return(values) => (values.iter().collect(), &[]),
        Operation::Skip
        | Operation::StartThread(_)
        | Operation::EndThread
        | Operation::AtomicBegin
        | Operation::AtomicEnd
        | Operation::Sync => (Vec::new(), &[]),
    };
    for value in values.into_iter().chain(targets.iter().flat_map(|target| &target.indices)) {
        value.walk(&mut |part| {
            if let ExprKind::Read { variable, indices, .. } = &part.kind {
                note(*variable, indices, false);
            }
        });
    }
    targets.iter().for_each(|target| note(target.variable, &target.indices, true));
}

/// Results of calls go to variables of the thread first, so that the access is a step.
fn split_results(program: &mut Program, id: ProcedureId, shared: &BTreeSet<Var>) -> Vec<EdgeId> {
    let results: Vec<Vec<Scalar>> = program.procedures.iter().map(|body| body.results.clone()).collect();
    let elements: Vec<Scalar> = program.globals.iter().map(|variable| variable.ty.element()).collect();
    let body = &mut program.procedures[id.0 as usize];
    let mut made: Vec<(Edge, Option<usize>)> = Vec::new();
    let count = body.edges.len();
    for (at, mut edge) in std::mem::take(&mut body.edges).into_iter().enumerate() {
        let (mut targets, mut values) = (Vec::new(), Vec::new());
        if let Operation::Call(call) = &mut edge.operation {
            for (result, ty) in call.results.iter_mut().zip(&results[call.callee.0 as usize]) {
                let Some(target) = result.as_mut().filter(|target| shared.contains(&target.variable)) else {
                    continue;
                };
                let Var::Global(i) = target.variable else { unreachable!("only globals are shared") };
                let local = Var::Local(body.variables.len() as u32);
                let name = format!("result@{}", body.variables.len());
                body.variables.push(variable(name, *ty, edge.span));
                values.push(fitted(Expr::variable(local, *ty), elements[i as usize]));
                targets.push(std::mem::replace(target, local.into()));
            }
        }
        if targets.is_empty() {
            made.push((edge, Some(at)));
            continue;
        }
        let (span, kind) = (edge.span, LocationKind::Statement);
        body.locations.push(Location { span, labels: Vec::new(), kind, called: None, violation: None });
        let between = LocationId(body.locations.len() as u32 - 1);
        let to = std::mem::replace(&mut edge.to, between);
        let operation = Operation::Assign(Assignment { targets, values, constraint: None });
        made.push((edge, Some(at)));
        made.push((Edge { from: between, to, operation, span }, None));
    }
    settle(body, made, count)
}

/// A value with the width of another type.
fn fitted(value: Expr, ty: Scalar) -> Expr {
    match value.ty.width().cmp(&ty.width()) {
        Ordering::Equal => value,
        Ordering::Less => value.zero_extend(ty.width()),
        Ordering::Greater => Expr { kind: ExprKind::Extract { value: Box::new(value), low: 0 }, ty },
    }
}

/// Puts edges into their order; where each of the old ones went.
fn settle(body: &mut Procedure, mut made: Vec<(Edge, Option<usize>)>, count: usize) -> Vec<EdgeId> {
    made.sort_by_key(|(edge, _)| edge.from);
    let mut moved = vec![EdgeId(0); count];
    for (new, (_, old)) in made.iter().enumerate() {
        if let Some(old) = old {
            moved[*old] = EdgeId(new as u32);
        }
    }
    body.edges = made.into_iter().map(|(edge, _)| edge).collect();
    moved
}

fn variable(name: String, ty: Scalar, span: Span) -> Variable {
    Variable {
        name,
        ty: Type::Scalar(ty),
        value_names: None,
        signed: false,
        float: false,
        pointer: false,
        shared: false,
        initial: None,
        span,
    }
}

/// The number of a cell: no two cells that exist at once have the same.
fn cell(program: &Program, variable: Var, indices: &[Expr]) -> Expr {
    let Var::Global(i) = variable else { unreachable!("only globals are shared") };
    let ty = &program.globals[i as usize].ty;
    if let (Type::Memory { .. }, [address]) = (ty, indices) {
        return fitted(address.clone(), CELL);
    }
    let dimensions: &[wherefore_program::Dimension] = match ty {
        Type::Array { dimensions, .. } => dimensions,
        Type::Scalar(_) | Type::Memory { .. } => &[],
    };
    let mut number = Expr::constant(NAMED | u64::from(i) << 32, CELL);
    let mut stride = 1;
    for (index, dimension) in indices.iter().zip(dimensions).rev() {
        let scaled = Expr::binary(BinaryOp::Mul, fitted(index.clone(), CELL), Expr::constant(stride, CELL));
        number = Expr::binary(BinaryOp::Add, number, scaled);
        stride *= dimension.length;
    }
    number
}

/// Puts checks in front of locations; where each edge went.
fn insert(program: &mut Program, id: ProcedureId, found: Vec<Vec<Access>>, watch: Watch) -> Vec<EdgeId> {
    let lines: Vec<u32> =
        program.procedure(id).locations.iter().map(|at| program.position(at.span).line).collect();
    let body = &mut program.procedures[id.0 as usize];
    let mut made: Vec<(Edge, Option<usize>)> =
        body.edges.drain(..).enumerate().map(|(at, edge)| (edge, Some(at))).collect();
    let count = made.len();
    for (at, accesses) in found.into_iter().enumerate().filter(|(_, accesses)| !accesses.is_empty()) {
        let from = LocationId(at as u32);
        let old = body.locations[at].clone();
        let span = old.span;
        let mut open = |kind: LocationKind| {
            let location = Location { span, labels: Vec::new(), kind, called: None, violation: None };
            body.locations.push(location);
            LocationId(body.locations.len() as u32 - 1)
        };
        let inner = open(old.kind);
        let (choice, error) = (open(LocationKind::Statement), open(LocationKind::Error));
        let stops: Vec<[LocationId; 2]> =
            accesses.iter().map(|_| [open(LocationKind::Statement), open(LocationKind::Statement)]).collect();
        body.locations[inner.0 as usize].called = old.called;
        body.locations[inner.0 as usize].violation = old.violation;
        body.locations[at].called = None;
        body.locations[at].violation = None;
        body.locations[at].kind = LocationKind::Assert;
        body.locations[error.0 as usize].violation = Some(Box::new(violation(span, watch)));
        made.iter_mut().filter(|(edge, _)| edge.from == from).for_each(|(edge, _)| edge.from = inner);
        let mut edge = |from: LocationId, to: LocationId, operation: Operation| {
            made.push((Edge { from, to, operation, span }, None));
        };
        let races = Expr::any(accesses.iter().map(|access| conflict(access, watch)).collect());
        edge(from, choice, Operation::Assume(races.clone().not()));
        edge(from, error, Operation::Assume(races));
        edge(choice, inner, Operation::Skip);
        for (access, [free, set]) in accesses.into_iter().zip(stops) {
            let is_free =
                Expr::binary(BinaryOp::Eq, Expr::variable(watch.cell, CELL), Expr::constant(NOTHING, CELL));
            edge(choice, free, Operation::Assume(is_free));
            let targets = vec![watch.cell.into(), watch.writes.into(), watch.line.into()];
            let values = vec![
                access.cell,
                Expr::constant(u64::from(access.writes), Scalar::Bool),
                Expr::constant(u64::from(lines[at]), LINE),
            ];
            edge(free, set, Operation::Assign(Assignment { targets, values, constraint: None }));
            edge(set, inner, Operation::Assume(Expr::constant(0, Scalar::Bool)));
        }
    }
    settle(body, made, count)
}

/// That another thread stands in front of an access that conflicts with this one.
fn conflict(access: &Access, watch: Watch) -> Expr {
    let same = Expr::binary(BinaryOp::Eq, Expr::variable(watch.cell, CELL), access.cell.clone());
    match access.writes {
        true => same,
        false => Expr::all(vec![same, Expr::variable(watch.writes, Scalar::Bool)]),
    }
}

fn violation(span: Span, watch: Watch) -> Violation {
    Violation {
        kind: ViolationKind::Race,
        subject: span,
        text: "is a data race: another thread accesses the same object at the same time, and one of the two writes"
            .to_owned(),
        shown: vec![("line of the other access".to_owned(), Expr::variable(watch.line, LINE), false)],
        messages: None,
    }
}
