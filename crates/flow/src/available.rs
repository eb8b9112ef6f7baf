//! Conditions that have been tested on every way to a location, and still hold there.
//!
//! This is the analysis of available expressions for conditions: a condition is available behind an
//! edge that assumes it, until something is written that it reads. Calls write what their
//! procedures may write. Most pointers are followed several times: the first check decides about
//! the others.

use rustc_hash::FxHashMap;
use wherefore_program::{
    BinaryOp, Expr, ExprKind, Graph, LocationKind, ModRef, Node, Operation, Procedure, ProcedureId, Program,
    UnaryOp, Var,
};

/// More conditions than this in a procedure are not followed.
const MOST_CONDITIONS: usize = 4096;

/// The conditions that are available at each location.
pub struct Available {
    procedures: Vec<Conditions>,
}

#[derive(Default)]
struct Conditions {
    numbers: FxHashMap<Expr, usize>,
    /// For each location, a bit for each condition; none if it is not reached.
    at: Vec<Option<Vec<u64>>>,
}

impl Available {
    /// The conditions that are available in a program.
    pub fn new(program: &Program) -> Self {
        let effects = ModRef::new(program);
        let of = |(_, body)| Conditions::new(body, &effects);
        Self { procedures: program.procedures().map(of).collect() }
    }

    /// Whether a condition is known to hold where a location is reached.
    pub fn holds(&self, node: Node, condition: &Expr) -> bool {
        let ProcedureId(at) = node.procedure;
        let conditions = &self.procedures[at as usize];
        match conditions.at.get(node.location.0 as usize) {
            Some(Some(known)) => conditions.implies(known, condition),
            _ => false,
        }
    }
}

/// The parts that hold if a condition does: those of a conjunction, and it itself.
fn parts(condition: &Expr, holds: bool, out: &mut Vec<Expr>) {
    match (&condition.kind, holds) {
        (ExprKind::Unary(UnaryOp::Not, inner), _) => parts(inner, !holds, out),
        (ExprKind::Binary(BinaryOp::And, left, right), true)
        | (ExprKind::Binary(BinaryOp::Or, left, right), false) => {
            parts(left, holds, out);
            parts(right, holds, out);
        }
        _ => {
            let whole = if holds { condition.clone() } else { condition.clone().not() };
            if !whole.has_choice() {
                out.push(whole);
            }
        }
    }
}

impl Conditions {
    fn new(body: &Procedure, effects: &ModRef) -> Self {
        // Only what some check asks is worth following.
        let mut numbers: FxHashMap<Expr, usize> = FxHashMap::default();
        for edge in &body.edges {
            if let (LocationKind::Assert, Operation::Assume(condition)) =
                (body.location(edge.from).kind, &edge.operation)
            {
                wanted(condition, &mut numbers);
            }
        }
        if numbers.is_empty() || numbers.len() > MOST_CONDITIONS {
            return Self::default();
        }
        let words = numbers.len().div_ceil(64);
        let mut reads: FxHashMap<Var, Vec<u64>> = FxHashMap::default();
        for (condition, number) in &numbers {
            condition.reads(&mut |variable, _| {
                reads.entry(variable).or_insert_with(|| vec![0; words])[number / 64] |= 1 << (number % 64);
            });
        }
        let edges = body.edges.iter().map(|edge| (edge.from.0, edge.to.0));
        let graph = Graph::new(body.locations.len(), edges);
        let order = graph.reverse_postorder(body.entry.0);
        let mut at: Vec<Option<Vec<u64>>> = vec![None; body.locations.len()];
        at[body.entry.0 as usize] = Some(vec![0; words]);
        let mut changed = true;
        while changed {
            changed = false;
            for location in &order {
                let Some(known) = at[*location as usize].clone() else { continue };
                for (_, edge) in body.edges_from(wherefore_program::LocationId(*location)) {
                    let mut behind = known.clone();
                    for variable in written(&edge.operation, effects) {
                        if let Some(readers) = reads.get(&variable) {
                            behind.iter_mut().zip(readers).for_each(|(bits, gone)| *bits &= !gone);
                        }
                    }
                    if let Operation::Assume(condition) = &edge.operation {
                        let mut found = Vec::new();
                        parts(condition, true, &mut found);
                        for number in found.iter().filter_map(|part| numbers.get(part)) {
                            behind[number / 64] |= 1 << (number % 64);
                        }
                    }
                    let slot = &mut at[edge.to.0 as usize];
                    match slot {
                        None => {
                            *slot = Some(behind);
                            changed = true;
                        }
                        Some(old) => {
                            for (bits, more) in old.iter_mut().zip(behind) {
                                changed |= *bits & more != *bits;
                                *bits &= more;
                            }
                        }
                    }
                }
            }
        }
        Self { numbers, at }
    }

    fn implies(&self, known: &[u64], condition: &Expr) -> bool {
        let has = |part: &Expr| {
            self.numbers.get(part).is_some_and(|number| known[number / 64] >> (number % 64) & 1 == 1)
        };
        match &condition.kind {
            _ if has(condition) => true,
            ExprKind::Binary(BinaryOp::And, left, right) => {
                self.implies(known, left) && self.implies(known, right)
            }
            ExprKind::Binary(BinaryOp::Or, left, right) => {
                self.implies(known, left) || self.implies(known, right)
            }
            _ => false,
        }
    }
}

/// Numbers the conditions that decide a check: the parts of conjunctions and of disjunctions, and
/// what they are made of.
fn wanted(condition: &Expr, numbers: &mut FxHashMap<Expr, usize>) {
    let next = numbers.len();
    if !condition.has_choice() {
        numbers.entry(condition.clone()).or_insert(next);
    }
    match &condition.kind {
        ExprKind::Binary(BinaryOp::And | BinaryOp::Or, left, right) => {
            wanted(left, numbers);
            wanted(right, numbers);
        }
        ExprKind::Unary(UnaryOp::Not, inner) => wanted(inner, numbers),
        _ => {}
    }
}

/// What a step may write.
fn written(operation: &Operation, effects: &ModRef) -> Vec<Var> {
    match operation {
        Operation::Assign(assignment) => assignment.targets.iter().map(|target| target.variable).collect(),
        Operation::Havoc(targets) => targets.iter().map(|target| target.variable).collect(),
        Operation::Call(call) => {
            let globals = effects.effects(call.callee).writes.iter().map(|i| Var::Global(*i));
            let results = call.results.iter().flatten().map(|target| target.variable);
            let assigned = call.assignment.targets.iter().map(|target| target.variable);
            globals.chain(results).chain(assigned).collect()
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
