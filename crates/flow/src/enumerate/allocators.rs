//! The allocators of a program: variables that count blocks, each of which has addresses of its own.

use wherefore_program::{BinaryOp, Expr, ExprKind, Operation, Program, Scalar, Target, Type, Var, When};

use crate::rewrite::expressions;

/// Constants that are further behind the first block of an allocator are no addresses of blocks
/// that are allocated once.
const MOST_FIXED: u64 = 256;

/// An allocator: a variable that says where the next block begins.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(super) struct Allocator {
    /// The global variable.
    pub counter: u32,
    /// The first number of a block that has a name.
    pub first: u64,
    /// One more than the last number.
    pub end: u64,
}

impl Allocator {
    /// The allocators of a program, and the width of addresses; none if blocks cannot have names.
    pub fn all(program: &Program, bits: u32) -> Option<(u32, Vec<Self>)> {
        let slot = 1_u64.checked_shl(bits)?;
        let candidates = program.globals.iter().enumerate().filter_map(|(at, variable)| {
            let Type::Scalar(Scalar::Bits(width)) = variable.ty else { return None };
            let initial = variable.initial.filter(|initial| *initial >= slot && initial % slot == 0)?;
            Some((at as u32, width, initial))
        });
        let mut found: Vec<(u32, u32, u64)> =
            candidates.filter(|(at, ..)| is_counter(program, Var::Global(*at), slot)).collect();
        found.sort_by_key(|(.., initial)| *initial);
        let width = found.first()?.1;
        if found.iter().any(|(_, other, _)| *other != width) || width <= bits {
            return None;
        }
        let counters: Vec<Var> = found.iter().map(|(at, ..)| Var::Global(*at)).collect();
        let mut constants = Vec::new();
        for edge in program.procedures.iter().flat_map(|body| &body.edges) {
            expressions(&edge.operation, &mut |expr| {
                if counters.iter().any(|counter| is_step(expr, *counter, slot)) {
                    return;
                }
                expr.walk(&mut |part| {
                    if let (ExprKind::Constant(value), true) = (&part.kind, part.ty == Scalar::Bits(width)) {
                        constants.push(value >> bits);
                    }
                });
            });
        }
        let beyond = (Scalar::Bits(width).max() >> bits) + 1;
        let ends = found.iter().skip(1).map(|(.., initial)| initial >> bits).chain([beyond]);
        let allocators: Vec<Allocator> = found
            .iter()
            .zip(ends)
            .map(|((counter, _, initial), end)| {
                let start = initial >> bits;
                let limit = limit(program, Var::Global(*counter), slot);
                let end = limit.map_or(end, |limit| end.min(limit.div_ceil(slot))).max(start + 1);
                let is_fixed = |number: &&u64| (start..end.min(start + MOST_FIXED)).contains(*number);
                let fixed = constants.iter().filter(is_fixed).max();
                Allocator { counter: *counter, first: fixed.map_or(start, |last| last + 1), end }
            })
            .collect();
        // A number that is kept is one of its own, in all states.
        let fits = allocators.iter().all(|allocator| allocator.end <= u64::from(u32::MAX) + 1);
        fits.then_some((width, allocators))
    }
}

/// Whether a variable is used as the counter of an allocator only: it is read where a block is
/// allocated, which moves it on in the same step, and compared with constants.
fn is_counter(program: &Program, counter: Var, slot: u64) -> bool {
    let reads = |expr: &Expr| {
        let mut found = false;
        expr.reads(&mut |variable, _| found |= variable == counter);
        found
    };
    let is_read = |expr: &Expr| is_read_of(expr, counter);
    let moves_on = |value: &Expr| match value.as_constant() {
        Some(value) => value % slot == 0,
        None => is_step(value, counter, slot),
    };
    let is_limit = |condition: &Expr| match &condition.kind {
        ExprKind::Binary(BinaryOp::ULt, a, limit) => is_read(a) && limit.as_constant().is_some(),
        _ => false,
    };
    // The block that was allocated before.
    let is_last = |expr: &Expr| match &expr.kind {
        ExprKind::Binary(BinaryOp::Sub, a, by) => is_read(a) && by.as_constant() == Some(slot),
        _ => false,
    };
    let writes = |target: &Target| target.variable == counter;
    program.procedures.iter().flat_map(|body| &body.edges).all(|edge| match &edge.operation {
        Operation::Assign(assignment) => {
            let mut pairs = assignment.targets.iter().zip(&assignment.values);
            let moved = pairs.clone().filter(|(target, _)| writes(target)).count();
            if moved == 0 {
                let mut found = assignment.constraint.as_ref().is_some_and(&reads);
                expressions(&edge.operation, &mut |expr| found |= reads_except(expr, &reads, &is_last));
                return !found;
            }
            let is_plain = |expr: &Expr| !reads(expr) || is_read(expr) || is_slot_number(expr, &is_read);
            moved == 1
                && assignment.constraint.is_none()
                && pairs.all(|(target, value)| match writes(target) {
                    true => moves_on(value),
                    false => is_plain(value) && target.indices.iter().all(is_plain),
                })
        }
        Operation::Assume(condition) => !reads(condition) || is_limit(condition),
        Operation::Havoc(targets) => {
            !targets.iter().any(|target| writes(target) || target.indices.iter().any(&reads))
        }
        operation => {
            let mut found = false;
            expressions(operation, &mut |expr| found |= reads(expr));
            let is_result = match operation {
                Operation::Call(call) => {
                    let assigned = call.assignment.targets.iter();
                    call.results.iter().flatten().chain(assigned).any(writes)
                }
                _ => false,
            };
            !found && !is_result
        }
    })
}

/// Whether an expression is a variable, as it is now.
pub(super) fn is_read_of(expr: &Expr, counter: Var) -> bool {
    matches!(&expr.kind, ExprKind::Read { variable, when: When::Now, .. } if *variable == counter)
}

/// Whether an expression is the value of a counter behind an allocation.
fn is_step(expr: &Expr, counter: Var, slot: u64) -> bool {
    match &expr.kind {
        ExprKind::Binary(BinaryOp::Add, a, by) => is_read_of(a, counter) && by.as_constant() == Some(slot),
        _ => false,
    }
}

/// A bound that a counter is below wherever a block is allocated, if the program tests one just
/// before each allocation.
fn limit(program: &Program, counter: Var, slot: u64) -> Option<u64> {
    let mut highest = None;
    for body in &program.procedures {
        let allocates = |operation: &Operation| match operation {
            Operation::Assign(assignment) => {
                assignment.targets.iter().any(|target| target.variable == counter)
            }
            _ => false,
        };
        for edge in body.edges.iter().filter(|edge| allocates(&edge.operation)) {
            let constant = |operation: &Operation| match operation {
                Operation::Assign(assignment) => {
                    let mut pairs = assignment.targets.iter().zip(&assignment.values);
                    pairs.find_map(|(target, value)| match target.variable == counter {
                        true => value.as_constant(),
                        false => None,
                    })
                }
                _ => None,
            };
            // The block is the one before.
            if let Some(next) = constant(&edge.operation) {
                highest = highest.max(Some(next.saturating_sub(slot) + 1));
                continue;
            }
            if body.entry == edge.from {
                return None;
            }
            for before in body.edges.iter().filter(|before| before.to == edge.from) {
                let Operation::Assume(condition) = &before.operation else { return None };
                let ExprKind::Binary(BinaryOp::ULt, read, bound) = &condition.kind else { return None };
                if !is_read_of(read, counter) {
                    return None;
                }
                highest = highest.max(Some(bound.as_constant()?));
            }
        }
    }
    highest
}

/// Whether a variable is read in an expression, other than in parts of one form.
fn reads_except(expr: &Expr, reads: &impl Fn(&Expr) -> bool, is_left_out: &impl Fn(&Expr) -> bool) -> bool {
    if is_left_out(expr) {
        return false;
    }
    match &expr.kind {
        ExprKind::IfThenElse(condition, then, otherwise) => {
            reads(condition)
                || reads_except(then, reads, is_left_out)
                || reads_except(otherwise, reads, is_left_out)
        }
        _ => reads(expr),
    }
}

fn is_slot_number(expr: &Expr, is_read: &impl Fn(&Expr) -> bool) -> bool {
    matches!(&expr.kind, ExprKind::Extract { value, .. } if is_read(value))
}
