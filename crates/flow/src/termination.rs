//! Parts of a program that provably end.
//!
//! A part ends if every run that is at its first location comes to its last one. Two things keep
//! runs from that: locations where they end or block, which are looked for, and cycles. A cycle ends
//! if it has a *counter*: a variable that all changes move in one direction, and a guard that is
//! left when the counter is beyond a bound, which does not change (a linear ranking function, as in
//! A. Podelski, A. Rybalchenko, *A complete method for the synthesis of linear ranking functions*,
//! VMCAI 2004, found by its form instead of by a solver). Runs come to the guard or to the changes
//! only finitely often, so that the cycles without the guard and those without the changes have to
//! end, too: counters are found for them in turn, as for the components of a lexicographic ranking
//! function.
//!
//! A check that is open in the program may fail, so that a part with one is not said to end.
//! Accesses that are not checked count as within their arrays.

use std::collections::{BTreeMap, BTreeSet};

use wherefore_program::{
    BinaryOp, CallGraph, Edge, Expr, ExprKind, Graph, LocationId, LocationKind, ModRef, Operation, Procedure,
    ProcedureId, Program, Scalar, Target, Type, UnaryOp, Var,
};

/// Which parts of a sequential program provably end.
pub struct Termination<'p> {
    program: &'p Program,
    calls: CallGraph,
    effects: ModRef,
    /// Whether a call of a procedure returns, as far as it was asked.
    returns: Vec<Option<bool>>,
}

/// How an edge changes a variable.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Change {
    /// Adds a number that is not zero, as a signed one.
    Adds(i64),
    /// Divides it by at least two, towards zero.
    Divides,
    /// The same for positive numbers only: the sign is shifted in.
    Halves,
    /// Anything else.
    Other,
}

/// The condition under which runs stay in a cycle.
struct Stays {
    /// The counter.
    counter: Var,
    ty: Scalar,
    op: BinaryOp,
    /// Whether the counter is on the left.
    on_left: bool,
    bound: Expr,
}

impl<'p> Termination<'p> {
    /// Prepares to answer questions about a program.
    pub fn new(program: &'p Program) -> Self {
        Self {
            program,
            calls: CallGraph::new(program),
            effects: ModRef::new(program),
            returns: vec![None; program.procedures.len()],
        }
    }

    /// Whether every call of a procedure returns.
    pub fn returns(&mut self, procedure: ProcedureId) -> bool {
        if let Some(known) = self.returns[procedure.0 as usize] {
            return known;
        }
        // A recursive procedure is asked about while its own answer is open.
        self.returns[procedure.0 as usize] = Some(false);
        let body = self.program.procedure(procedure);
        let returns = !self.calls.is_recursive(procedure) && self.comes_to(procedure, body.entry, body.exit);
        self.returns[procedure.0 as usize] = Some(returns);
        returns
    }

    /// Whether every run at `from` comes to `to`, in the same activation.
    pub fn comes_to(&mut self, procedure: ProcedureId, from: LocationId, to: LocationId) -> bool {
        let body = self.program.procedure(procedure);
        let mut inside = BTreeSet::from([from]);
        let mut open = vec![from];
        while let Some(location) = open.pop() {
            if location != from && location == to {
                continue;
            }
            if !self.goes_on(body, location) {
                return false;
            }
            for edge in ways(body, location) {
                if edge.to != to && inside.insert(edge.to) {
                    open.push(edge.to);
                }
            }
        }
        let edges: Vec<&Edge> =
            inside.iter().flat_map(|at| ways(body, *at)).filter(|edge| edge.to != to).collect();
        self.ends(procedure, &edges)
    }

    /// Whether a location is a check that holds, or a branch of which one way is always open.
    pub(crate) fn is_passed(&mut self, body: &Procedure, location: LocationId) -> bool {
        self.goes_on(body, location)
    }

    /// Whether every run at a location makes a step, and not to a failed check.
    fn goes_on(&mut self, body: &Procedure, location: LocationId) -> bool {
        if body.location(location).kind == LocationKind::Unsupported {
            return false;
        }
        let edges: Vec<&Edge> = ways(body, location).collect();
        let conditions: Option<Vec<&Expr>> = edges
            .iter()
            .map(|edge| match &edge.operation {
                Operation::Assume(condition) => Some(condition),
                _ => None,
            })
            .collect();
        if let Some(conditions) = conditions {
            return is_exhaustive(&conditions);
        }
        edges.iter().all(|edge| match &edge.operation {
            Operation::Skip | Operation::Havoc(_) | Operation::Return(_) => true,
            Operation::Assign(assignment) => assignment.constraint.is_none(),
            Operation::Call(call) => call.assignment.constraint.is_none() && self.returns(call.callee),
            // Among edges of other kinds, one that need not be open.
            Operation::Assume(_) => edges.len() > 1,
            Operation::StartThread(_)
            | Operation::EndThread
            | Operation::AtomicBegin
            | Operation::AtomicEnd
            | Operation::Sync => false,
        })
    }

    /// Whether no run follows these edges for ever.
    fn ends(&self, procedure: ProcedureId, edges: &[&Edge]) -> bool {
        let count = self.program.procedure(procedure).locations.len();
        let graph = Graph::new(count, edges.iter().map(|edge| (edge.from.0, edge.to.0)));
        graph.components().iter().all(|component| {
            let inside = |at: LocationId| component.binary_search(&at.0).is_ok();
            let own: Vec<&Edge> =
                edges.iter().copied().filter(|edge| inside(edge.from) && inside(edge.to)).collect();
            own.is_empty() || self.cycle_ends(procedure, &own)
        })
    }

    /// Whether no run follows the edges of a strongly connected graph for ever.
    fn cycle_ends(&self, procedure: ProcedureId, edges: &[&Edge]) -> bool {
        let mut changes: BTreeMap<Var, Vec<(usize, Change)>> = BTreeMap::new();
        for (at, edge) in edges.iter().enumerate() {
            for (variable, change) in self.changes(edge) {
                changes.entry(variable).or_default().push((at, change));
            }
        }
        let guards: BTreeSet<LocationId> = edges.iter().map(|edge| edge.from).collect();
        guards.into_iter().any(|guard| {
            let staying: Vec<&Edge> = edges.iter().copied().filter(|edge| edge.from == guard).collect();
            self.conditions(procedure, guard, &staying).iter().any(|stays| {
                let Some(of_counter) = changes.get(&stays.counter) else { return false };
                let is_fixed = |variable| !changes.contains_key(&variable);
                let is_changed = |at: usize| of_counter.iter().any(|(edge, _)| *edge == at);
                let without_guard: Vec<&Edge> =
                    edges.iter().copied().filter(|edge| edge.from != guard).collect();
                let without_changes: Vec<&Edge> =
                    (0..edges.len()).filter(|at| !is_changed(*at)).map(|at| edges[at]).collect();
                let changing: Vec<&Edge> = of_counter.iter().map(|(at, _)| edges[*at]).collect();
                moves_beyond(stays, of_counter, is_fixed)
                    && once_between(self.program.procedure(procedure), &without_guard, &changing)
                    && self.ends(procedure, &without_guard)
                    && self.ends(procedure, &without_changes)
            })
        })
    }

    /// The comparisons that hold of all edges with which runs stay, where others leave.
    fn conditions(&self, procedure: ProcedureId, guard: LocationId, staying: &[&Edge]) -> Vec<Stays> {
        let [edge] = staying else { return Vec::new() };
        // A check that fails is no way out.
        let body = self.program.procedure(procedure);
        let Operation::Assume(condition) = &edge.operation else { return Vec::new() };
        if ways(body, guard).count() < 2 {
            return Vec::new();
        }
        let mut found = Vec::new();
        conjuncts(condition, false, &mut |part, is_negated| {
            let ExprKind::Binary(op, left, right) = &part.kind else { return };
            let Some(op) = meant(*op, is_negated) else { return };
            let Some((narrow, left, right)) = narrowed(op.0, left, right) else { return };
            for (counter, bound, on_left) in [(&left, &right, true), (&right, &left, false)] {
                if let ExprKind::Read { variable, indices, .. } = &counter.kind
                    && indices.is_empty()
                    && self.is_scalar(procedure, *variable)
                {
                    // `!(a < b)` is `b <= a`.
                    let on_left = on_left != op.1;
                    let (ty, bound) = (counter.ty, bound.clone());
                    found.push(Stays { counter: *variable, ty, op: narrow, on_left, bound });
                }
            }
        });
        found
    }

    fn is_scalar(&self, procedure: ProcedureId, variable: Var) -> bool {
        matches!(self.program.variable(procedure, variable).ty, Type::Scalar(_))
    }

    /// The variables that an edge may change, and how.
    fn changes(&self, edge: &Edge) -> Vec<(Var, Change)> {
        let other = |target: &Target| (target.variable, Change::Other);
        match &edge.operation {
            Operation::Assign(assignment) => {
                let pairs = assignment.targets.iter().zip(&assignment.values);
                pairs.map(|(target, value)| (target.variable, change(target, value))).collect()
            }
            Operation::Havoc(targets) => targets.iter().map(other).collect(),
            Operation::Call(call) => {
                let writes = &self.effects.effects(call.callee).writes;
                let globals = writes.iter().map(|global| (Var::Global(*global), Change::Other));
                let targets = call.assignment.targets.iter().chain(call.results.iter().flatten());
                globals.chain(targets.map(other)).collect()
            }
            Operation::Skip
            | Operation::Assume(_)
            | Operation::Return(_)
            | Operation::StartThread(_)
            | Operation::EndThread
            | Operation::AtomicBegin
            | Operation::AtomicEnd
            | Operation::Sync => Vec::new(),
        }
    }
}

/// The edges on from a location, but for those to failed checks and those that are never taken.
fn ways(body: &Procedure, location: LocationId) -> impl Iterator<Item = &Edge> {
    let edges = body.edges_from(location).map(|(_, edge)| edge);
    edges.filter(|edge| body.location(edge.to).kind != LocationKind::Error && !is_closed(edge))
}

/// Whether an edge is never taken: so are those to checks that were shown to hold.
fn is_closed(edge: &Edge) -> bool {
    matches!(&edge.operation, Operation::Assume(condition) if condition.as_constant() == Some(0))
}

/// Whether one of some conditions holds, by their form: some condition and its negation are there,
/// or one is the conjunction of the negations of others.
fn is_exhaustive(conditions: &[&Expr]) -> bool {
    conditions.iter().any(|condition| {
        if condition.as_constant() == Some(1) {
            return true;
        }
        let mut is_rest = true;
        conjuncts(condition, false, &mut |part, is_negated| {
            let opposite = if is_negated { part.clone() } else { part.clone().not() };
            is_rest &= conditions.contains(&&opposite);
        });
        is_rest || conditions.contains(&&(*condition).clone().not())
    })
}

/// Calls `visit` on the parts that must all hold so that a condition does, each with whether it must
/// be false instead.
fn conjuncts<'e>(condition: &'e Expr, is_negated: bool, visit: &mut impl FnMut(&'e Expr, bool)) {
    match (&condition.kind, is_negated) {
        (ExprKind::Unary(UnaryOp::Not, inner), _) => conjuncts(inner, !is_negated, visit),
        (ExprKind::Binary(BinaryOp::And, left, right), false)
        | (ExprKind::Binary(BinaryOp::Or, left, right), true) => {
            conjuncts(left, is_negated, visit);
            conjuncts(right, is_negated, visit);
        }
        _ => visit(condition, is_negated),
    }
}

/// A comparison or its negation as a comparison, and whether its sides have changed places.
fn meant(op: BinaryOp, is_negated: bool) -> Option<(BinaryOp, bool)> {
    Some(match (op, is_negated) {
        (BinaryOp::ULt | BinaryOp::ULe | BinaryOp::SLt | BinaryOp::SLe | BinaryOp::Ne, false) => (op, false),
        (BinaryOp::ULt, true) => (BinaryOp::ULe, true),
        (BinaryOp::ULe, true) => (BinaryOp::ULt, true),
        (BinaryOp::SLt, true) => (BinaryOp::SLe, true),
        (BinaryOp::SLe, true) => (BinaryOp::SLt, true),
        (BinaryOp::Eq, true) => (BinaryOp::Ne, false),
        _ => return None,
    })
}

/// A comparison of extended numbers as one of the numbers themselves, if it means the same: C
/// compares numbers of small types as `int`.
fn narrowed(op: BinaryOp, left: &Expr, right: &Expr) -> Option<(BinaryOp, Expr, Expr)> {
    let (Some(extended), inner) = (extension(left).or(extension(right)), (inner(left), inner(right))) else {
        return Some((op, left.clone(), right.clone()));
    };
    let ty = if extension(left).is_some() { inner.0.ty } else { inner.1.ty };
    let side = |whole: &Expr, inner: &Expr| match whole.as_constant() {
        Some(value) => {
            let small = Expr::constant(value & ty.max(), ty);
            let back = match extended {
                Extension::Zero => small.as_constant()?,
                Extension::Sign => signed(small.as_constant()?, ty) as u64 & whole.ty.max(),
            };
            (back == value).then_some(small)
        }
        None => (extension(whole) == Some(extended) && inner.ty == ty).then(|| inner.clone()),
    };
    let (left, right) = (side(left, inner.0)?, side(right, inner.1)?);
    let op = match (extended, op) {
        (_, BinaryOp::Ne) => BinaryOp::Ne,
        // Numbers with zeros in front are not negative.
        (Extension::Zero, BinaryOp::ULt | BinaryOp::SLt) => BinaryOp::ULt,
        (Extension::Zero, BinaryOp::ULe | BinaryOp::SLe) => BinaryOp::ULe,
        (Extension::Sign, BinaryOp::SLt | BinaryOp::SLe) => op,
        _ => return None,
    };
    Some((op, left, right))
}

/// How a number is made longer.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Extension {
    Zero,
    Sign,
}

/// How an expression makes a shorter number longer, if it does.
fn extension(expr: &Expr) -> Option<Extension> {
    match &expr.kind {
        ExprKind::ZeroExtend(inner) if inner.ty.width() < expr.ty.width() => Some(Extension::Zero),
        ExprKind::SignExtend(inner) if inner.ty.width() < expr.ty.width() => Some(Extension::Sign),
        _ => None,
    }
}

/// The number that is made longer, or the expression itself.
fn inner(expr: &Expr) -> &Expr {
    match &expr.kind {
        ExprKind::ZeroExtend(inner) | ExprKind::SignExtend(inner) if extension(expr).is_some() => inner,
        _ => expr,
    }
}

/// How an assignment of a value to a variable changes it.
fn change(target: &Target, value: &Expr) -> Change {
    let is_target = |expr: &Expr| {
        matches!(&expr.kind, ExprKind::Read { variable, indices, .. }
            if *variable == target.variable && indices.is_empty())
    };
    // The low bits of what is computed with more of them, as C does for small types.
    let ty = value.ty;
    let value = match &value.kind {
        ExprKind::ZeroExtend(inner) | ExprKind::SignExtend(inner) if inner.ty.width() > ty.width() => inner,
        ExprKind::Extract { value: inner, low: 0 } => inner,
        _ => value,
    };
    let ExprKind::Binary(op, left, right) = &value.kind else { return Change::Other };
    if !target.indices.is_empty() {
        return Change::Other;
    }
    let extended = extension(left);
    let is_target = |expr: &Expr| is_target(inner(expr)) && inner(expr).ty == ty;
    // Of a small unsigned number, the first bit of the longer one is 0.
    let (op, is_unsigned) = match (op, extended) {
        (BinaryOp::SDiv, Some(Extension::Zero)) => (BinaryOp::UDiv, true),
        (BinaryOp::AShr, Some(Extension::Zero)) => (BinaryOp::LShr, true),
        _ => (*op, extended == Some(Extension::Zero) || extended.is_none()),
    };
    // Numbers that do not fit into the small type are no constants of it.
    let fits = |number: u64| extended.is_none() || number <= ty.max() >> 1;
    let by = |number: u64| signed(number & ty.max(), ty);
    match (op, left.as_constant(), right.as_constant()) {
        (BinaryOp::Add, _, Some(number)) if is_target(left) && by(number) != 0 => Change::Adds(by(number)),
        (BinaryOp::Add, Some(number), _) if is_target(right) && by(number) != 0 => Change::Adds(by(number)),
        (BinaryOp::Sub, _, Some(number)) if is_target(left) && by(number) != 0 => {
            by(number).checked_neg().map_or(Change::Other, Change::Adds)
        }
        (BinaryOp::UDiv, _, Some(by)) if is_target(left) && is_unsigned && by > 1 => Change::Divides,
        (BinaryOp::SDiv, _, Some(number)) if is_target(left) && fits(number) && by(number) > 1 => {
            Change::Divides
        }
        (BinaryOp::LShr, _, Some(by)) if is_target(left) && is_unsigned && by > 0 => Change::Divides,
        (BinaryOp::AShr, _, Some(by)) if is_target(left) && by > 0 => Change::Halves,
        _ => Change::Other,
    }
}

/// A number of a type as a signed one.
fn signed(number: u64, ty: Scalar) -> i64 {
    let shift = 64 - ty.width();
    ((number << shift) as i64) >> shift
}

/// Whether the counter cannot stay on this side of the bound for ever, if it is changed again and
/// again, with each change at most once between two visits of the guard.
fn moves_beyond(stays: &Stays, changes: &[(usize, Change)], is_fixed: impl Fn(Var) -> bool) -> bool {
    let mut has_fixed_bound = !stays.bound.has_choice();
    stays.bound.walk(&mut |part| {
        if let ExprKind::Read { variable, indices, .. } = &part.kind {
            has_fixed_bound &= indices.is_empty() && is_fixed(*variable);
        }
    });
    if !has_fixed_bound {
        return false;
    }
    let constant = stays.bound.as_constant();
    let is_signed = matches!(stays.op, BinaryOp::SLt | BinaryOp::SLe);
    // Towards zero.
    let is_positive = match (stays.op, constant) {
        (BinaryOp::Ne, Some(0)) => true,
        (BinaryOp::SLt | BinaryOp::SLe | BinaryOp::ULt | BinaryOp::ULe, Some(bound)) => {
            // The bound is below the counter: `0 < n`, `1 <= n`.
            let least = u64::from(matches!(stays.op, BinaryOp::SLe | BinaryOp::ULe));
            let bound_is_enough =
                if is_signed { signed(bound, stays.ty) >= least as i64 } else { bound >= least };
            !stays.on_left && bound_is_enough
        }
        _ => false,
    };
    let shrinks = |change: &Change| match change {
        Change::Divides => is_positive,
        Change::Halves => is_positive && is_signed,
        Change::Adds(_) | Change::Other => false,
    };
    if changes.iter().all(|(_, change)| shrinks(change)) {
        return true;
    }
    let steps: Option<Vec<i64>> = changes
        .iter()
        .map(|(_, change)| match change {
            Change::Adds(by) => Some(*by),
            _ => None,
        })
        .collect();
    let Some(steps) = steps else { return false };
    if stays.op == BinaryOp::Ne {
        // A single odd step between two visits comes past every number before it comes back.
        return steps.len() == 1 && steps[0] % 2 != 0;
    }
    // Upwards to a bound above, or downwards to one below.
    let is_right_way = |by: &i64| if stays.on_left { *by > 0 } else { *by < 0 };
    if !steps.iter().all(is_right_way) {
        return false;
    }
    let Some(most) = steps.iter().try_fold(0_u64, |sum, by| sum.checked_add(by.unsigned_abs())) else {
        return false;
    };
    // The counter must not wrap around before the guard sees that it is beyond the bound.
    let is_strict = matches!(stays.op, BinaryOp::SLt | BinaryOp::ULt);
    if is_strict && most == 1 {
        return true;
    }
    let Some(bound) = constant else { return false };
    let (bound, least, greatest) = if is_signed {
        let greatest = i128::from(signed(stays.ty.max() >> 1, stays.ty));
        (i128::from(signed(bound, stays.ty)), -greatest - 1, greatest)
    } else {
        (i128::from(bound), 0, i128::from(stays.ty.max()))
    };
    let last = if is_strict { 1 } else { 0 };
    match stays.on_left {
        true => bound - last + i128::from(most) <= greatest,
        false => bound + last - i128::from(most) >= least,
    }
}

/// Whether each of some edges is followed at most once between two visits of the guard: none is on a
/// cycle that avoids it.
fn once_between(body: &Procedure, without_guard: &[&Edge], changing: &[&Edge]) -> bool {
    let graph = Graph::new(body.locations.len(), without_guard.iter().map(|edge| (edge.from.0, edge.to.0)));
    let components = graph.components();
    changing.iter().all(|edge| {
        let is_there = without_guard.iter().any(|other| std::ptr::eq(*other, *edge));
        !is_there
            || !components.iter().any(|component| {
                component.binary_search(&edge.from.0).is_ok() && component.binary_search(&edge.to.0).is_ok()
            })
    })
}
