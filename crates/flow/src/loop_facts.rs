//! What data flow knows at the heads of loops, as conditions of the edges that leave them.
//!
//! Engines need an invariant for every loop, and look for it among what the program says. The
//! bounds that data flow has found are such invariants. As conditions that always hold they change
//! no run; engines have them for nothing, and find others more easily.

use std::collections::BTreeSet;

use wherefore_program::{
    Assignment, BinaryOp, Expr, ExprKind, LocationId, ModRef, Node, Operation, ProcedureId, Program, Scalar,
    Target, Type, Var, Variable,
};

use crate::expression::Known;
use crate::range::Range;
use crate::ranges::{Ranges, Values};
use crate::rewrite;

/// No more variables than this are spoken of at one loop.
const MOST: usize = 24;

/// Conditions that hold whenever a run is at the head of a loop.
#[derive(Clone, Debug, Default)]
pub struct LoopFacts {
    at: Vec<(Node, Vec<Fact>)>,
}

/// What is known about one variable.
#[derive(Clone, Debug)]
struct Fact {
    variable: Var,
    condition: Expr,
    /// The same in words of the source; addresses and parts of memory have none.
    text: Option<String>,
}

impl LoopFacts {
    /// What is known at the heads of the loops of a program about the variables that they change.
    pub fn new(program: &Program, ranges: &Ranges) -> Self {
        let effects = ModRef::new(program);
        let mut at = Vec::new();
        for (procedure, body) in program.procedures() {
            for found in body.loops() {
                let node = Node { procedure, location: LocationId(found.head) };
                let Some(known) = ranges.at(node) else { continue };
                let changed = changed(program, procedure, &found.body, &effects).into_iter();
                let facts = changed.filter_map(|variable| fact(program, procedure, variable, known));
                at.push((node, facts.take(MOST).collect()));
            }
        }
        Self { at }
    }

    /// The same program, or the slice of it, where the conditions about variables that are kept are
    /// assumed. Locations, edges and variables keep their numbers. None if there are no conditions.
    pub fn assumed(&self, program: &Program, keeps: impl Fn(ProcedureId, Var) -> bool) -> Option<Program> {
        let mut changed = program.clone();
        let mut is_other = false;
        for (Node { procedure, location }, facts) in &self.at {
            let kept = facts.iter().filter(|fact| keeps(*procedure, fact.variable));
            let all = kept.map(|fact| fact.condition.clone());
            let Some(condition) = all.reduce(|a, b| Expr::binary(BinaryOp::And, a, b)) else { continue };
            is_other = true;
            let edges = changed.procedures[procedure.0 as usize].edges.iter_mut();
            for edge in edges.filter(|edge| edge.from == *location) {
                assume(program, *procedure, &mut edge.operation, &condition);
            }
        }
        is_other.then_some(changed)
    }

    /// The conditions about variables that are kept, in words of the source, as far as there are
    /// any.
    pub fn in_words(&self, keeps: impl Fn(ProcedureId, Var) -> bool) -> Vec<(Node, String)> {
        let mut list = Vec::new();
        for (node, facts) in &self.at {
            let kept = facts.iter().filter(|fact| keeps(node.procedure, fact.variable));
            let texts: Vec<&str> = kept.filter_map(|fact| fact.text.as_deref()).collect();
            if !texts.is_empty() {
                list.push((*node, texts.join(" && ")));
            }
        }
        list
    }
}

/// The single-valued variables that a loop changes.
fn changed(
    program: &Program,
    procedure: ProcedureId,
    inside: &BTreeSet<u32>,
    effects: &ModRef,
) -> BTreeSet<Var> {
    let mut found = BTreeSet::new();
    let body = program.procedure(procedure);
    for edge in body.edges.iter().filter(|edge| inside.contains(&edge.from.0)) {
        rewrite::each_target(&edge.operation, &mut |target: &Target| {
            found.insert(target.variable);
        });
        if let Operation::Call(call) = &edge.operation {
            found.extend(effects.effects(call.callee).writes.iter().map(|global| Var::Global(*global)));
        }
    }
    found.retain(|variable| matches!(program.variable(procedure, *variable).ty, Type::Scalar(_)));
    found
}

/// What is known about a variable; none if it says nothing.
fn fact(program: &Program, procedure: ProcedureId, variable: Var, known: &Values) -> Option<Fact> {
    let declared = program.variable(procedure, variable);
    let condition = condition(declared, variable, known)?;
    Some(Fact { variable, condition, text: in_words(declared, variable, known) })
}

/// The bounds of a variable as an expression of C.
fn in_words(declared: &Variable, variable: Var, known: &Values) -> Option<String> {
    // Cells of memory that have no name in the source, and the front end's own variables.
    let Type::Scalar(ty) = declared.ty else { return None };
    if declared.pointer || !declared.name.starts_with(|c: char| c == '_' || c.is_alphabetic()) {
        return None;
    }
    if declared.name.starts_with("memory.") {
        return None;
    }
    let name = &declared.name;
    let (range, full) = (known.of(variable)?, Range::full(ty));
    let compare = |low: i128, high: i128, least: i128, most: i128| {
        let parts = [
            (low > least).then(|| format!("{name} >= {low}")),
            (high < most).then(|| format!("{name} <= {high}")),
        ];
        parts.into_iter().flatten().collect::<Vec<_>>().join(" && ")
    };
    let text = if declared.signed {
        let ((low, high), (least, most)) = (range.signed_bounds(), full.signed_bounds());
        compare(low.into(), high.into(), least.into(), most.into())
    } else {
        let ((low, high), (least, most)) = (range.unsigned_bounds(), full.unsigned_bounds());
        compare(low.into(), high.into(), least.into(), most.into())
    };
    (!text.is_empty()).then_some(text)
}

/// What is known about a variable, as a condition; none if it says nothing.
fn condition(declared: &Variable, variable: Var, known: &Values) -> Option<Expr> {
    let Variable { ty: Type::Scalar(ty @ Scalar::Bits(_)), float: false, .. } = declared else {
        return None;
    };
    let ty = *ty;
    let read = || Expr::variable(variable, ty);
    let compare = |op: BinaryOp, low: Expr, high: Expr| Expr::binary(op, low, high);
    if let Some(few) = known.few(variable).filter(|few| few.values().len() > 1) {
        let equal = few.values().iter().map(|value| {
            let value = Expr::constant(*value, ty);
            compare(BinaryOp::Eq, read(), value)
        });
        return equal.reduce(|a, b| Expr::binary(BinaryOp::Or, a, b));
    }
    let range = known.of(variable)?;
    let full = Range::full(ty);
    let (low, high) = range.unsigned_bounds();
    let mut parts = Vec::new();
    if high < full.unsigned_bounds().1 {
        parts.push(compare(BinaryOp::ULe, read(), Expr::constant(high, ty)));
    }
    if low > 0 {
        parts.push(compare(BinaryOp::ULe, Expr::constant(low, ty), read()));
    }
    // What the unsigned bounds do not say.
    let implied = Range::unsigned(low, high, ty).unwrap_or(full).signed_bounds();
    let (least, most) = range.signed_bounds();
    if most < implied.1 {
        parts.push(compare(BinaryOp::SLe, read(), Expr::constant(most as u64, ty)));
    }
    if least > implied.0 {
        parts.push(compare(BinaryOp::SLe, Expr::constant(least as u64, ty), read()));
    }
    parts.into_iter().reduce(|a, b| Expr::binary(BinaryOp::And, a, b))
}

/// Adds a condition on the state before an operation.
fn assume(program: &Program, procedure: ProcedureId, operation: &mut Operation, condition: &Expr) {
    let and = |a: Expr, b: Expr| Expr::binary(BinaryOp::And, a, b);
    let constrain = |assignment: &mut Assignment| {
        assignment.constraint = Some(match assignment.constraint.take() {
            Some(other) => and(condition.clone(), other),
            None => condition.clone(),
        });
    };
    match operation {
        Operation::Skip => *operation = Operation::Assume(condition.clone()),
        Operation::Assume(other) => *other = and(condition.clone(), other.clone()),
        Operation::Assign(assignment) => constrain(assignment),
        Operation::Call(call) => constrain(&mut call.assignment),
        Operation::Havoc(targets) => {
            let any = |target: &Target| {
                let variable = program.variable(procedure, target.variable);
                Expr { kind: ExprKind::Choice { below: variable.limit() }, ty: variable.ty.element() }
            };
            let values = targets.iter().map(any).collect();
            let targets = std::mem::take(targets);
            *operation =
                Operation::Assign(Assignment { targets, values, constraint: Some(condition.clone()) });
        }
        Operation::Return(_)
        | Operation::StartThread(_)
        | Operation::EndThread
        | Operation::AtomicBegin
        | Operation::AtomicEnd
        | Operation::Sync => {}
    }
}
