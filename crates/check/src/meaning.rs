//! What expressions and operations mean, for those who check proofs.
//!
//! The engines have their own (`symbolic/machine.rs`). A proof is checked by code that shares
//! nothing with the engine that found it, so this is written a second time, from the documentation
//! of `wherefore-program`: the two must not call each other. `refinement/solver/proof.rs` reads it
//! backwards, `unrolled_proof` forwards.

use wherefore_program::{
    Argument, Assignment, BinaryOp, Call, Expr, ExprKind, ProcedureId, Program, Scalar, Target, Type,
    UnaryOp, Var, Variable, When,
};
use wherefore_smt::{Op, Sort, Term, Terms};

/// What variables hold before a step.
pub trait Held {
    /// The value of a variable.
    fn held(&mut self, terms: &mut Terms, variable: Var) -> Term;
}

/// Where an expression is read: a procedure, and the values there.
pub struct Here<'h> {
    pub procedure: ProcedureId,
    pub values: &'h mut dyn Held,
}

/// Variables with the values that a step gives them, each once.
pub type Changes = Vec<(Var, Term)>;

/// The meaning of steps, as terms.
pub struct Meaning<'m, 'a> {
    pub terms: &'m mut Terms,
    pub program: &'a Program,
    /// While an assignment is read: the values after it.
    next: Changes,
    /// How many values from outside there were.
    fresh: usize,
}

/// What a call does.
pub struct Entered {
    /// In the caller, before the callee starts.
    pub changes: Changes,
    /// The variables of the callee when it starts.
    pub locals: Vec<Term>,
    /// When it can be done.
    pub possible: Term,
}

impl<'m, 'a> Meaning<'m, 'a> {
    pub fn new(terms: &'m mut Terms, program: &'a Program) -> Self {
        Self { terms, program, next: Vec::new(), fresh: 0 }
    }

    /// The values after an assignment, and the condition that it can be done.
    pub fn assigned(&mut self, at: &mut Here<'_>, assignment: &Assignment) -> (Changes, Term) {
        let mut possible = Terms::TRUE;
        let mut values = Vec::new();
        for value in &assignment.values {
            let (value, fits) = self.value(at, value);
            possible = self.terms.and(possible, fits);
            values.push(value);
        }
        let (changes, fits) = self.written(at, &assignment.targets, &values);
        possible = self.terms.and(possible, fits);
        if let Some(constraint) = &assignment.constraint {
            self.next = changes.clone();
            let (holds, fits) = self.value(at, constraint);
            self.next = Vec::new();
            possible = self.terms.and(possible, fits);
            possible = self.terms.and(possible, holds);
        }
        (changes, possible)
    }

    /// The values after some targets got any values.
    pub fn havocked(&mut self, at: &mut Here<'_>, targets: &[Target]) -> (Changes, Term) {
        let mut values = Vec::new();
        let mut possible = Terms::TRUE;
        for target in targets {
            let variable = self.program.variable(at.procedure, target.variable);
            let (value, fits) = if target.indices.is_empty() {
                self.any(variable)
            } else {
                (self.unknown(sort_of(variable.ty.element())), Terms::TRUE)
            };
            possible = self.terms.and(possible, fits);
            values.push(value);
        }
        let (changes, fits) = self.written(at, targets, &values);
        (changes, self.terms.and(possible, fits))
    }

    /// Parallel writes: indices are read before any of them, and the later wins.
    pub fn written(&mut self, at: &mut Here<'_>, targets: &[Target], values: &[Term]) -> (Changes, Term) {
        let mut changes = Changes::new();
        let mut possible = Terms::TRUE;
        for (target, value) in targets.iter().zip(values) {
            let variable = target.variable;
            let mut after = *value;
            if !target.indices.is_empty() {
                let ty = self.program.variable(at.procedure, variable).ty.clone();
                let (index, fits) = self.cell(at, &ty, &target.indices);
                possible = self.terms.and(possible, fits);
                let written = changes.iter().find(|(other, _)| *other == variable).map(|(_, array)| *array);
                let array = written.unwrap_or_else(|| at.values.held(self.terms, variable));
                let element = self.bits(*value);
                after = self.terms.store(array, index, element);
            }
            changes.retain(|(other, _)| *other != variable);
            changes.push((variable, after));
        }
        (changes, possible)
    }

    /// A call: its assignment, and the parameters, which may see it.
    pub fn entered(&mut self, at: &mut Here<'_>, call: &Call) -> Entered {
        let (changes, mut possible) = self.assigned(at, &call.assignment);
        self.next = changes.clone();
        let mut locals = Vec::new();
        for (i, variable) in self.program.procedure(call.callee).variables.iter().enumerate() {
            let (value, fits) = match call.arguments.get(i) {
                Some(Argument::Value(value)) => self.value(at, value),
                Some(Argument::Copy(array, when)) => (self.held(at, *array, *when), Terms::TRUE),
                Some(Argument::Arbitrary) => self.any(variable),
                None => self.initial(variable),
            };
            possible = self.terms.and(possible, fits);
            locals.push(value);
        }
        self.next = Vec::new();
        Entered { changes, locals, possible }
    }

    /// A value that is returned, as its target in the caller takes it: cut, or with zeros in front.
    pub fn fitted(&mut self, value: Term, ty: Scalar) -> Term {
        match ty {
            Scalar::Bool => value,
            Scalar::Bits(width) if self.terms.width(value) > width => self.terms.extract(value, 0, width),
            Scalar::Bits(width) => self.terms.zero_extend(value, width),
        }
    }

    /// What a variable starts with, and the condition that it can.
    pub fn initial(&mut self, variable: &Variable) -> (Term, Term) {
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

    /// What a variable holds now, or after the assignment at hand.
    fn held(&mut self, at: &mut Here<'_>, variable: Var, when: When) -> Term {
        let next = self.next.iter().find(|(other, _)| *other == variable);
        match (when, next) {
            (When::Next, Some((_, value))) => *value,
            _ => at.values.held(self.terms, variable),
        }
    }

    /// A new value of which nothing is known.
    pub fn unknown(&mut self, sort: Sort) -> Term {
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

    fn constant(&mut self, value: u64, ty: Scalar) -> Term {
        match ty {
            Scalar::Bool => self.terms.bool(value != 0),
            Scalar::Bits(width) => self.terms.bits(value, width),
        }
    }

    fn bits(&mut self, value: Term) -> Term {
        if self.terms.sort(value) == Sort::Bool { self.terms.bit_of(value) } else { value }
    }

    /// The number of a cell, row by row, and the condition that there is one.
    fn cell(&mut self, at: &mut Here<'_>, ty: &Type, indices: &[Expr]) -> (Term, Term) {
        if let Type::Memory { .. } = ty {
            return self.value(at, &indices[0]);
        }
        let mut number = self.terms.bits(0, 32);
        let mut possible = Terms::TRUE;
        for (dimension, index) in ty.dimensions().iter().zip(indices) {
            let (value, fits) = self.value(at, index);
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
    pub fn value(&mut self, at: &mut Here<'_>, expr: &Expr) -> (Term, Term) {
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
                let held = self.held(at, *variable, *when);
                if indices.is_empty() {
                    return (held, Terms::TRUE);
                }
                let ty = self.program.variable(at.procedure, *variable).ty.clone();
                let (index, possible) = self.cell(at, &ty, indices);
                let element = self.terms.select(held, index);
                let value = if expr.ty == Scalar::Bool { self.terms.is_set(element) } else { element };
                (value, possible)
            }
            ExprKind::Unary(op, inner) => {
                let (inner, possible) = self.value(at, inner);
                let value = match op {
                    UnaryOp::Not => self.terms.not(inner),
                    UnaryOp::Neg => self.terms.neg(inner),
                    UnaryOp::BitNot => self.terms.bit_not(inner),
                };
                (value, possible)
            }
            ExprKind::Binary(op, left, right) => {
                let (left, first) = self.value(at, left);
                let (right, second) = self.value(at, right);
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
                let (inner, possible) = self.value(at, inner);
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
                let (inner, possible) = self.value(at, value);
                let inner = self.bits(inner);
                (self.terms.extract(inner, *low, expr.ty.width()), possible)
            }
            ExprKind::Float(op, operands) => {
                let (mut values, mut possible) = (Vec::new(), Terms::TRUE);
                for operand in operands {
                    let (value, fits) = self.value(at, operand);
                    values.push(value);
                    possible = self.terms.and(possible, fits);
                }
                (self.terms.float(*op, &values), possible)
            }
            ExprKind::IfThenElse(condition, then, otherwise) => {
                let (condition, possible) = self.value(at, condition);
                let (then, if_so) = self.value(at, then);
                let (otherwise, if_not) = self.value(at, otherwise);
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

fn sort_of(ty: Scalar) -> Sort {
    match ty {
        Scalar::Bool => Sort::Bool,
        Scalar::Bits(width) => Sort::Bits(width),
    }
}

/// The sort of the values of a type.
pub fn type_sort(ty: &Type) -> Sort {
    match ty {
        Type::Scalar(scalar) => sort_of(*scalar),
        Type::Array { element, .. } => Sort::Array { index: 32, element: element.width() },
        Type::Memory { address, element } => Sort::Array { index: *address, element: element.width() },
    }
}
