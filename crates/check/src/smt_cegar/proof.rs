//! The proof of a safe program, checked again: an invariant at every node that holds at the start, is kept by every step, and is false where
//! the program fails.
//!
//! The check goes backwards, by weakest preconditions: what must hold before an edge so that the invariant holds behind it. It reads the program
//! edge by edge and has its own meaning of expressions and operations, unlike the engine, which executes blocks forwards
//! (`symbolic/machine.rs`). It knows nothing of blocks, predicates, diagrams and saturation. What it shares with the engine is the
//! graph with inlined calls, the terms, and the solver: an error in anything else is found here.

use rustc_hash::FxHashMap;
use wherefore_program::{
    Argument, Assignment, BinaryOp, Call, Expr, ExprKind, Operation, ProcedureId, Scalar, Target, Type,
    UnaryOp, Var, Variable, When,
};
use wherefore_smt::{BitBlaster, Budget, Op, Outcome, Solver, Sort, Term, Terms};

use super::certificate::Checked;
use crate::symbolic::PlaceId;
use crate::symbolic::flat::{Flat, Move};

/// A proof under examination.
pub(super) struct Proof<'p, 'a> {
    pub(super) terms: &'p mut Terms,
    pub(super) flat: &'p Flat<'a>,
    /// The terms that invariants name variables with, by the numbers of the variables.
    names: FxHashMap<u32, Term>,
    /// What always holds, where something is said.
    invariants: FxHashMap<PlaceId, Term>,
    /// How many values from outside there were.
    fresh: usize,
    /// While an assignment is read: the values after it.
    next: FxHashMap<Term, Term>,
}

/// Where an expression is read: the procedure, and the number of its first variable.
#[derive(Clone, Copy)]
pub(super) struct Scope {
    pub procedure: ProcedureId,
    pub first: u32,
}

impl<'p, 'a> Proof<'p, 'a> {
    /// A proof over the variables with these names.
    pub fn new(
        terms: &'p mut Terms,
        flat: &'p Flat<'a>,
        names: FxHashMap<u32, Term>,
        invariants: FxHashMap<PlaceId, Term>,
    ) -> Self {
        Self { terms, flat, names, invariants, fresh: 0, next: FxHashMap::default() }
    }

    /// Checks the proof.
    pub fn check(mut self, budget: &Budget) -> Checked {
        let flat = self.flat;
        let ends = flat.errors.keys().chain(&flat.cuts);
        for place in ends {
            // A place that is not reached in the graph has no invariant.
            if self.invariants.get(place).is_some_and(|invariant| *invariant != Terms::FALSE) {
                return Checked::Broken;
            }
        }
        let mut obligations = vec![self.at_start()];
        let mut nodes: Vec<(PlaceId, Term)> =
            self.invariants.iter().map(|(place, holds)| (*place, *holds)).collect();
        nodes.sort_unstable();
        for (place, holds) in nodes.into_iter().filter(|(_, holds)| *holds != Terms::FALSE) {
            for edge in flat.out[place as usize].clone() {
                let Some(needed) = self.before_way(edge) else { return Checked::Broken };
                obligations.push(self.terms.implies(holds, needed));
            }
        }
        self.discharge(obligations, budget)
    }

    /// Whether all obligations always hold.
    pub(super) fn discharge(&mut self, obligations: Vec<Term>, budget: &Budget) -> Checked {
        let mut solver = BitBlaster::new();
        for obligation in obligations {
            let broken = self.terms.not(obligation);
            match solver.check(self.terms, &[broken], budget) {
                Outcome::Unsat(_) => {}
                Outcome::Sat(_) => return Checked::Broken,
                Outcome::Unknown(_) => return Checked::Unknown,
            }
        }
        Checked::Proof
    }

    /// What must hold so that the first invariant does: the invariant with initial values.
    fn at_start(&mut self) -> Term {
        let first = self.flat.frames[0].first;
        let (changes, possible) = self.initial_values(first);
        // A start that is not a node leads to one.
        let needed = match self.invariants.get(&self.flat.start) {
            Some(holds) => *holds,
            None => Terms::FALSE,
        };
        let needed = self.terms.substitute(needed, &changes);
        self.terms.implies(possible, needed)
    }

    /// The values at the start, by the names of what has them, and the condition on them. The number is that of the first variable of the
    /// outermost procedure.
    pub(super) fn initial_values(&mut self, first: u32) -> (FxHashMap<Term, Term>, Term) {
        let program = self.flat.program;
        let scope = Scope { procedure: program.entry, first };
        let mut changes = FxHashMap::default();
        let globals = program.globals.iter().zip(0..);
        let locals = program.procedure(program.entry).variables.iter().zip(scope.first..);
        let mut possible = Terms::TRUE;
        for (variable, number) in globals.chain(locals) {
            let (value, fits) = self.initial(variable);
            possible = self.terms.and(possible, fits);
            changes.insert(self.name(number, &variable.ty), value);
        }
        (changes, possible)
    }

    /// What must hold before an edge so that the invariant of the next node holds when the run gets there. None if there is no next node.
    pub(super) fn before_way(&mut self, edge: u32) -> Option<Term> {
        let mut way = vec![edge];
        let mut at = self.flat.edges[edge as usize].to;
        while !self.invariants.contains_key(&at) {
            let [next] = self.flat.out[at as usize][..] else { return None };
            if way.len() > self.flat.edges.len() {
                return None;
            }
            way.push(next);
            at = self.flat.edges[next as usize].to;
        }
        let mut needed = self.invariants[&at];
        for edge in way.into_iter().rev() {
            needed = self.before(edge, needed);
        }
        Some(needed)
    }

    /// The weakest precondition of an edge.
    fn before(&mut self, edge: u32, after: Term) -> Term {
        let flat_edge = self.flat.edges[edge as usize];
        let program = self.flat.program;
        let frame = self.flat.frame_of(flat_edge.from);
        let scope = Scope { procedure: frame.procedure, first: frame.first };
        match (&program.edge(flat_edge.edge).operation, flat_edge.kind) {
            (Operation::Assume(condition), _) => {
                let (holds, possible) = self.value(scope, condition);
                let goes_on = self.terms.and(possible, holds);
                self.terms.implies(goes_on, after)
            }
            (Operation::Assign(assignment), _) => self.before_assignment(scope, assignment, after),
            (Operation::Havoc(targets), _) => {
                let mut values = Vec::new();
                let mut possible = Terms::TRUE;
                for target in targets {
                    let variable = program.variable(scope.procedure, target.variable);
                    let (value, fits) = match (target.indices.is_empty(), &variable.ty) {
                        (true, Type::Scalar(_)) => self.any(variable),
                        _ => (self.unknown(sort_of(variable.ty.element())), Terms::TRUE),
                    };
                    possible = self.terms.and(possible, fits);
                    values.push(value);
                }
                let needed = self.before_writes(scope, targets, &values, after);
                self.terms.implies(possible, needed)
            }
            (Operation::Call(call), Move::Enter(callee)) => self.before_call(scope, call, callee, after),
            (Operation::Return(values), Move::Leave) => {
                let Some((caller, call)) = frame.caller else { return after };
                let Operation::Call(call) = &program.edge(call).operation else { return after };
                let caller = &self.flat.frames[caller as usize];
                let outer = Scope { procedure: caller.procedure, first: caller.first };
                let mut possible = Terms::TRUE;
                let mut results = Vec::new();
                for value in values {
                    let (value, fits) = self.value(scope, value);
                    possible = self.terms.and(possible, fits);
                    results.push(value);
                }
                let needed = self.before_results(outer, call, &results, after);
                self.terms.implies(possible, needed)
            }
            _ => after,
        }
    }

    /// What must hold before the results of a call are written.
    pub(super) fn before_results(
        &mut self,
        outer: Scope,
        call: &Call,
        results: &[Term],
        after: Term,
    ) -> Term {
        let mut needed = after;
        // Indices of a result are read when those before it are written, so the last comes first.
        for (value, target) in results.iter().zip(&call.results).rev() {
            let Some(target) = target else { continue };
            let ty = self.flat.program.variable(outer.procedure, target.variable).ty.element();
            let value = self.fitted(*value, ty);
            needed = self.before_writes(outer, std::slice::from_ref(target), &[value], needed);
        }
        needed
    }

    fn before_assignment(&mut self, scope: Scope, assignment: &Assignment, after: Term) -> Term {
        let (changes, possible) = self.assigned(scope, assignment);
        let needed = self.terms.substitute(after, &changes);
        self.terms.implies(possible, needed)
    }

    /// The values after an assignment, by the names of what changes, and the condition that it can be done.
    fn assigned(&mut self, scope: Scope, assignment: &Assignment) -> (FxHashMap<Term, Term>, Term) {
        let mut possible = Terms::TRUE;
        let mut values = Vec::new();
        for value in &assignment.values {
            let (value, fits) = self.value(scope, value);
            possible = self.terms.and(possible, fits);
            values.push(value);
        }
        let (changes, fits) = self.written(scope, &assignment.targets, &values);
        possible = self.terms.and(possible, fits);
        if let Some(constraint) = &assignment.constraint {
            self.next = changes.clone();
            let (holds, fits) = self.value(scope, constraint);
            self.next = FxHashMap::default();
            possible = self.terms.and(possible, fits);
            possible = self.terms.and(possible, holds);
        }
        (changes, possible)
    }

    fn before_writes(&mut self, scope: Scope, targets: &[Target], values: &[Term], after: Term) -> Term {
        let (changes, possible) = self.written(scope, targets, values);
        let needed = self.terms.substitute(after, &changes);
        self.terms.implies(possible, needed)
    }

    /// Parallel writes: indices are read before any of them, and the later wins.
    fn written(
        &mut self,
        scope: Scope,
        targets: &[Target],
        values: &[Term],
    ) -> (FxHashMap<Term, Term>, Term) {
        let mut changes: FxHashMap<Term, Term> = FxHashMap::default();
        let mut possible = Terms::TRUE;
        for (target, value) in targets.iter().zip(values) {
            let ty = self.flat.program.variable(scope.procedure, target.variable).ty.clone();
            let name = self.name(number(scope, target.variable), &ty);
            if target.indices.is_empty() {
                changes.insert(name, *value);
                continue;
            }
            let (index, fits) = self.cell(scope, &ty, &target.indices);
            possible = self.terms.and(possible, fits);
            let array = changes.get(&name).copied().unwrap_or(name);
            let element = self.bits(*value);
            let written = self.terms.store(array, index, element);
            changes.insert(name, written);
        }
        (changes, possible)
    }

    fn before_call(&mut self, scope: Scope, call: &Call, callee: u32, after: Term) -> Term {
        let callee = &self.flat.frames[callee as usize];
        let (procedure, first) = (callee.procedure, callee.first);
        let (mut changes, values, possible) = self.called(scope, call);
        let variables = &self.flat.program.procedure(procedure).variables;
        for ((variable, number), value) in variables.iter().zip(first..).zip(values) {
            changes.insert(self.name(number, &variable.ty), value);
        }
        let needed = self.terms.substitute(after, &changes);
        self.terms.implies(possible, needed)
    }

    /// A call: the changes of its assignment, the values of the callee's variables, which may see them, and the condition that it can be made.
    pub(super) fn called(&mut self, scope: Scope, call: &Call) -> (FxHashMap<Term, Term>, Vec<Term>, Term) {
        let program = self.flat.program;
        let (changes, mut possible) = self.assigned(scope, &call.assignment);
        self.next = changes.clone();
        let mut values = Vec::new();
        for (i, variable) in program.procedure(call.callee).variables.iter().enumerate() {
            let (value, fits) = match call.arguments.get(i) {
                Some(Argument::Value(value)) => self.value(scope, value),
                Some(Argument::Copy(array, when)) => {
                    let ty = program.variable(scope.procedure, *array).ty.clone();
                    let name = self.name(number(scope, *array), &ty);
                    (self.held(name, *when), Terms::TRUE)
                }
                Some(Argument::Arbitrary) => self.any(variable),
                None => self.initial(variable),
            };
            possible = self.terms.and(possible, fits);
            values.push(value);
        }
        self.next = FxHashMap::default();
        (changes, values, possible)
    }

    /// What a variable holds now, or after the assignment at hand.
    fn held(&self, name: Term, when: When) -> Term {
        match when {
            When::Now => name,
            When::Next => self.next.get(&name).copied().unwrap_or(name),
        }
    }

    fn name(&mut self, number: u32, ty: &Type) -> Term {
        if let Some(name) = self.names.get(&number) {
            return *name;
        }
        let name = self.terms.variable(&format!("proof {number}"), type_sort(ty));
        self.names.insert(number, name);
        name
    }

    pub(super) fn unknown(&mut self, sort: Sort) -> Term {
        self.fresh += 1;
        self.terms.variable(&format!("proof input {}", self.fresh), sort)
    }

    /// Any value of a variable, and the condition that the variable can hold it.
    fn any(&mut self, variable: &Variable) -> (Term, Term) {
        let value = self.unknown(type_sort(&variable.ty));
        let fits = match (&variable.ty, &variable.value_names) {
            (Type::Scalar(Scalar::Bits(width)), Some(names)) => {
                let count = self.terms.bits(names.len() as u64, *width);
                self.terms.ult(value, count)
            }
            _ => Terms::TRUE,
        };
        (value, fits)
    }

    fn initial(&mut self, variable: &Variable) -> (Term, Term) {
        let Some(initial) = variable.initial else { return self.any(variable) };
        let cell = variable.ty.element();
        let value = match type_sort(&variable.ty) {
            Sort::Array { index, element } => {
                let value = self.terms.bits(initial, element);
                self.terms.const_array(index, value)
            }
            _ => self.constant(initial, cell),
        };
        (value, Terms::TRUE)
    }

    fn constant(&mut self, value: u64, ty: Scalar) -> Term {
        match ty {
            Scalar::Bool => self.terms.bool(value != 0),
            Scalar::Bits(width) => self.terms.bits(value, width),
        }
    }

    fn bits(&mut self, value: Term) -> Term {
        if self.terms.sort(value) == Sort::Bool { self.terms.bit_of(value) } else { value }
    }

    /// A result is cut or gets zeros in front.
    fn fitted(&mut self, value: Term, ty: Scalar) -> Term {
        match ty {
            Scalar::Bool => value,
            Scalar::Bits(width) if self.terms.width(value) > width => self.terms.extract(value, 0, width),
            Scalar::Bits(width) => self.terms.zero_extend(value, width),
        }
    }

    /// The number of a cell, row by row, and the condition that there is one.
    fn cell(&mut self, scope: Scope, ty: &Type, indices: &[Expr]) -> (Term, Term) {
        if let Type::Memory { .. } = ty {
            return self.value(scope, &indices[0]);
        }
        let mut number = self.terms.bits(0, 32);
        let mut possible = Terms::TRUE;
        for (dimension, index) in ty.dimensions().iter().zip(indices) {
            let (value, fits) = self.value(scope, index);
            possible = self.terms.and(possible, fits);
            let wide = if self.terms.width(value) < 32 { self.terms.zero_extend(value, 32) } else { value };
            let width = self.terms.width(wide);
            let (low, length) =
                (self.terms.bits(dimension.low, width), self.terms.bits(dimension.length, width));
            let offset = self.terms.sub(wide, low);
            let inside = self.terms.ult(offset, length);
            possible = self.terms.and(possible, inside);
            let offset = if width > 32 { self.terms.extract(offset, 0, 32) } else { offset };
            let row = self.terms.bits(dimension.length, 32);
            let rows = self.terms.mul(number, row);
            number = self.terms.add(rows, offset);
        }
        (number, possible)
    }

    /// The value of an expression, and the condition that it has one.
    pub(super) fn value(&mut self, scope: Scope, expr: &Expr) -> (Term, Term) {
        match &expr.kind {
            ExprKind::Constant(value) => (self.constant(*value, expr.ty), Terms::TRUE),
            ExprKind::Choice { below } => {
                let value = self.unknown(sort_of(expr.ty));
                let fits = match (below, expr.ty) {
                    (Some(below), Scalar::Bits(width)) if *below <= expr.ty.max() => {
                        let below = self.terms.bits(*below, width);
                        self.terms.ult(value, below)
                    }
                    _ => Terms::TRUE,
                };
                (value, fits)
            }
            ExprKind::Read { variable, indices, when } => {
                let ty = self.flat.program.variable(scope.procedure, *variable).ty.clone();
                let name = self.name(number(scope, *variable), &ty);
                let held = self.held(name, *when);
                if indices.is_empty() {
                    return (held, Terms::TRUE);
                }
                let (index, possible) = self.cell(scope, &ty, indices);
                let element = self.terms.select(held, index);
                let value = if expr.ty == Scalar::Bool { self.terms.is_set(element) } else { element };
                (value, possible)
            }
            ExprKind::Unary(op, inner) => {
                let (inner, possible) = self.value(scope, inner);
                let value = match op {
                    UnaryOp::Not => self.terms.not(inner),
                    UnaryOp::Neg => self.terms.neg(inner),
                    UnaryOp::BitNot => self.terms.bit_not(inner),
                };
                (value, possible)
            }
            ExprKind::Binary(op, left, right) => {
                let (left, first) = self.value(scope, left);
                let (right, second) = self.value(scope, right);
                // The right side counts only if the left one leaves the answer open.
                let second = match op {
                    BinaryOp::And | BinaryOp::Implies => self.terms.implies(left, second),
                    BinaryOp::Or => self.terms.or(left, second),
                    _ => second,
                };
                let possible = self.terms.and(first, second);
                (self.operate(*op, left, right), possible)
            }
            ExprKind::ZeroExtend(inner) | ExprKind::SignExtend(inner) => {
                let (inner, possible) = self.value(scope, inner);
                let (inner, width) = (self.bits(inner), expr.ty.width());
                let value = if self.terms.width(inner) > width {
                    self.terms.extract(inner, 0, width)
                } else if matches!(expr.kind, ExprKind::SignExtend(_)) {
                    self.terms.sign_extend(inner, width)
                } else {
                    self.terms.zero_extend(inner, width)
                };
                (value, possible)
            }
            ExprKind::Extract { value, low } => {
                let (inner, possible) = self.value(scope, value);
                let inner = self.bits(inner);
                (self.terms.extract(inner, *low, expr.ty.width()), possible)
            }
            ExprKind::IfThenElse(condition, then, otherwise) => {
                let (condition, possible) = self.value(scope, condition);
                let (then, if_so) = self.value(scope, then);
                let (otherwise, if_not) = self.value(scope, otherwise);
                let chosen = self.terms.ite(condition, if_so, if_not);
                (self.terms.ite(condition, then, otherwise), self.terms.and(possible, chosen))
            }
        }
    }

    fn operate(&mut self, op: BinaryOp, a: Term, b: Term) -> Term {
        let terms = &mut *self.terms;
        match op {
            BinaryOp::And => terms.and(a, b),
            BinaryOp::Or => terms.or(a, b),
            BinaryOp::Xor => terms.xor(a, b),
            BinaryOp::Implies => terms.implies(a, b),
            BinaryOp::Eq => terms.eq(a, b),
            BinaryOp::Ne => {
                let equal = terms.eq(a, b);
                terms.not(equal)
            }
            BinaryOp::ULt => terms.ult(a, b),
            BinaryOp::ULe => {
                let greater = terms.ult(b, a);
                terms.not(greater)
            }
            BinaryOp::SLt => terms.slt(a, b),
            BinaryOp::SLe => {
                let greater = terms.slt(b, a);
                terms.not(greater)
            }
            BinaryOp::Add => terms.add(a, b),
            BinaryOp::Sub => {
                let negative = terms.neg(b);
                terms.add(a, negative)
            }
            BinaryOp::Mul => terms.mul(a, b),
            BinaryOp::UDiv => terms.udiv(a, b),
            BinaryOp::SDiv => terms.sdiv(a, b),
            BinaryOp::URem => terms.urem(a, b),
            BinaryOp::SRem => terms.srem(a, b),
            BinaryOp::Shl => terms.shl(a, b),
            BinaryOp::LShr => terms.lshr(a, b),
            BinaryOp::AShr => terms.ashr(a, b),
            BinaryOp::BitAnd => terms.binary(Op::BitAnd, a, b),
            BinaryOp::BitOr => terms.binary(Op::BitOr, a, b),
            BinaryOp::BitXor => terms.binary(Op::BitXor, a, b),
        }
    }
}

fn number(scope: Scope, variable: Var) -> u32 {
    match variable {
        Var::Global(i) => i,
        Var::Local(i) => scope.first + i,
    }
}

fn sort_of(ty: Scalar) -> Sort {
    match ty {
        Scalar::Bool => Sort::Bool,
        Scalar::Bits(width) => Sort::Bits(width),
    }
}

fn type_sort(ty: &Type) -> Sort {
    match ty {
        Type::Scalar(scalar) => sort_of(*scalar),
        Type::Array { element, .. } => Sort::Array { index: 32, element: element.width() },
        Type::Memory { address, element } => Sort::Array { index: *address, element: element.width() },
    }
}
