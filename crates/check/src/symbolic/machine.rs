//! What steps do to stores of terms: the meaning of `wherefore-program`, symbolically.
//!
//! Truth values are terms of sort Bool; arrays and memory are SMT arrays. An index outside an array
//! blocks the run, as in the interpreter: every evaluation gives a condition under which it is
//! possible.

use wherefore_program::{
    Argument, Assignment, BinaryOp, Call, Expr, ExprKind, Operation, ProcedureId, Program, Scalar, Target,
    Type, UnaryOp, Var, Variable, When,
};
use wherefore_smt::{Op, Sort, Term, Terms};

use super::flat::{Flat, FlatEdge, Move, PlaceId};
use super::store::Store;

/// The width of the index of an array that is a variable.
const INDEX: u32 = 32;

/// Evaluates expressions and steps. New values have names that start with a given prefix, so that
/// the same step at the same place of an unrolling has the same terms.
pub(crate) struct Machine<'a> {
    pub flat: Flat<'a>,
    pub terms: Terms,
    prefix: String,
    fresh: u32,
}

/// The stores that an expression can read.
#[derive(Clone, Copy)]
struct View<'s> {
    procedure: ProcedureId,
    first: u32,
    now: &'s Store,
    next: &'s Store,
}

impl<'a> Machine<'a> {
    pub fn new(flat: Flat<'a>) -> Self {
        Self { flat, terms: Terms::new(), prefix: String::new(), fresh: 0 }
    }

    /// The same, to unroll a program. If it uses memory, values that are one of a few constants are
    /// kept as such: most of them are addresses.
    pub fn unrolling(flat: Flat<'a>) -> Self {
        let terms = if accesses_memory(flat.program) { Terms::with_choices() } else { Terms::new() };
        Self { terms, ..Self::new(flat) }
    }

    fn program(&self) -> &'a Program {
        self.flat.program
    }

    /// What the names of new values start with from now on.
    pub fn name_prefix(&mut self, prefix: String) {
        self.prefix = prefix;
        self.fresh = 0;
    }

    fn arbitrary(&mut self, sort: Sort) -> Term {
        self.fresh += 1;
        let name = format!("{}.{}", self.prefix, self.fresh);
        self.terms.variable(&name, sort)
    }

    /// The sort of a variable.
    pub fn sort(ty: &Type) -> Sort {
        match ty {
            Type::Scalar(scalar) => scalar_sort(*scalar),
            Type::Array { element, .. } => Sort::Array { index: INDEX, element: element.width() },
            Type::Memory { address, element } => Sort::Array { index: *address, element: element.width() },
        }
    }

    /// The sort of a single value.
    pub fn scalar(ty: Scalar) -> Sort {
        scalar_sort(ty)
    }

    /// Any value of a type.
    pub fn unknown(&mut self, ty: &Type) -> Term {
        self.arbitrary(Self::sort(ty))
    }

    /// Any value of a variable, and the condition that it is in range.
    fn any(&mut self, variable: &Variable) -> (Term, Term) {
        let value = self.arbitrary(Self::sort(&variable.ty));
        let in_range = match (&variable.ty, variable.limit()) {
            (Type::Scalar(Scalar::Bits(width)), Some(_)) => {
                let most = self.terms.bits(variable.max(), *width);
                self.terms.ule(value, most)
            }
            _ => Terms::TRUE,
        };
        (value, in_range)
    }

    /// The initial value of a variable: given, or any.
    fn initial(&mut self, variable: &Variable) -> (Term, Term) {
        let Some(initial) = variable.initial else { return self.any(variable) };
        let value = match Self::sort(&variable.ty) {
            Sort::Bool => self.terms.bool(initial != 0),
            Sort::Bits(width) => self.terms.bits(initial, width),
            Sort::Array { index, element } => {
                let value = self.terms.bits(initial, element);
                self.terms.const_array(index, value)
            }
        };
        (value, Terms::TRUE)
    }

    /// The store at the start of the program, and the condition on it.
    pub fn start(&mut self) -> (Store, Term) {
        let mut store = Store::default();
        let mut valid = Terms::TRUE;
        let program = self.program();
        let entry = program.procedure(program.entry);
        let globals = program.globals.iter().zip(0..);
        let locals = entry.variables.iter().zip(self.flat.frames[0].first..);
        for (variable, at) in globals.chain(locals) {
            let (value, in_range) = self.initial(variable);
            store.set(at, value);
            valid = self.terms.and(valid, in_range);
        }
        (store, valid)
    }

    /// The value of an expression at a place, and the condition that it has one.
    pub fn value_at(&mut self, store: &Store, place: PlaceId, expr: &Expr) -> (Term, Term) {
        let frame = self.flat.frame_of(place);
        let view = View { procedure: frame.procedure, first: frame.first, now: store, next: store };
        let mut valid = Terms::TRUE;
        let value = self.value(&view, expr, &mut valid);
        (value, valid)
    }

    /// The index of a cell of a variable at a place: an address in memory, or the position in an
    /// array.
    pub fn index_at(&mut self, store: &Store, place: PlaceId, variable: Var, indices: &[Expr]) -> Term {
        let frame = self.flat.frame_of(place);
        let view = View { procedure: frame.procedure, first: frame.first, now: store, next: store };
        self.index(&view, variable, indices, &mut Terms::TRUE.clone())
    }

    /// The store after an edge and the condition under which it can be taken.
    pub fn step(&mut self, store: &Store, edge: u32) -> (Store, Term) {
        let edge: FlatEdge = self.flat.edges[edge as usize];
        let frame = self.flat.frame_of(edge.from);
        let (procedure, first, caller) = (frame.procedure, frame.first, frame.caller);
        let view = View { procedure, first, now: store, next: store };
        let program = self.program();
        let mut after = store.clone();
        let mut valid = Terms::TRUE;
        match (&program.edge(edge.edge).operation, edge.kind) {
            (Operation::Assume(condition), _) => {
                let holds = self.value(&view, condition, &mut valid);
                valid = self.terms.and(valid, holds);
            }
            (Operation::Assign(assignment), _) => self.assign(&view, assignment, &mut after, &mut valid),
            (Operation::Havoc(targets), _) => {
                for target in targets {
                    let variable = program.variable(procedure, target.variable);
                    let (value, in_range) = match target.indices.as_slice() {
                        [] => self.any(variable),
                        _ => (self.arbitrary(scalar_sort(variable.ty.element())), Terms::TRUE),
                    };
                    valid = self.terms.and(valid, in_range);
                    self.put(&view, target, value, &mut after, &mut valid);
                }
            }
            (Operation::Call(call), Move::Enter(callee)) => {
                self.assign(&view, &call.assignment, &mut after, &mut valid);
                self.enter(&view, call, callee, &mut after, &mut valid);
            }
            (Operation::Return(values), Move::Leave) => {
                let Some((caller, call)) = caller else { return (after, valid) };
                let values: Vec<Term> = values.iter().map(|e| self.value(&view, e, &mut valid)).collect();
                let Operation::Call(call) = &program.edge(call).operation else { return (after, valid) };
                self.take_results(caller, call, values, &mut after, &mut valid);
                let count = program.procedure(procedure).variables.len() as u32;
                after.forget(first, count);
            }
            // A call or a return within a frame has no edge; a program with threads is refused.
            (Operation::Call(_) | Operation::Return(_), _)
            | (
                Operation::Skip
                | Operation::StartThread(_)
                | Operation::EndThread
                | Operation::AtomicBegin
                | Operation::AtomicEnd
                | Operation::Sync,
                _,
            ) => {}
        }
        (after, valid)
    }

    /// A call out of a frame, apart from a run: the store after its assignment, that with which the
    /// callee starts in a frame of its procedure, and the condition under which it can be made.
    ///
    /// The two frames may be one: the arguments are read first.
    pub fn call(&mut self, store: &Store, caller: u32, call: &Call, callee: u32) -> (Store, Store, Term) {
        let frame = &self.flat.frames[caller as usize];
        let view = View { procedure: frame.procedure, first: frame.first, now: store, next: store };
        let mut valid = Terms::TRUE;
        let mut assigned = store.clone();
        self.assign(&view, &call.assignment, &mut assigned, &mut valid);
        let mut entered = assigned.clone();
        self.enter(&view, call, callee, &mut entered, &mut valid);
        (assigned, entered, valid)
    }

    /// The end of a call, apart from a run: the store of the caller with the results, and the
    /// condition under which they can be written.
    pub fn resume(&mut self, store: &Store, caller: u32, call: &Call, values: Vec<Term>) -> (Store, Term) {
        let (mut after, mut valid) = (store.clone(), Terms::TRUE);
        self.take_results(caller, call, values, &mut after, &mut valid);
        (after, valid)
    }

    /// Writes the results of a call to where the caller wants them.
    fn take_results(
        &mut self,
        caller: u32,
        call: &Call,
        values: Vec<Term>,
        after: &mut Store,
        valid: &mut Term,
    ) {
        let frame = &self.flat.frames[caller as usize];
        let (procedure, first) = (frame.procedure, frame.first);
        for (value, target) in values.into_iter().zip(&call.results) {
            let Some(target) = target else { continue };
            let ty = self.program().variable(procedure, target.variable).ty.element();
            let value = self.resized(value, ty);
            let back = after.clone();
            let view = View { procedure, first, now: &back, next: &back };
            self.put(&view, target, value, after, valid);
        }
    }

    /// A result is cut or gets zeros in front.
    fn resized(&mut self, value: Term, ty: Scalar) -> Term {
        let Scalar::Bits(width) = ty else { return value };
        let has = self.terms.width(value);
        if has > width { self.terms.extract(value, 0, width) } else { self.terms.zero_extend(value, width) }
    }

    fn enter(&mut self, view: &View<'_>, call: &Call, callee: u32, after: &mut Store, valid: &mut Term) {
        let before = after.clone();
        let view = View { next: &before, ..*view };
        let callee = &self.flat.frames[callee as usize];
        let (procedure, first) = (callee.procedure, callee.first);
        for (i, variable) in self.program().procedure(procedure).variables.iter().enumerate() {
            let (value, in_range) = match call.arguments.get(i) {
                Some(Argument::Value(value)) => (self.value(&view, value, valid), Terms::TRUE),
                Some(Argument::Copy(array, when)) => {
                    let store = if *when == When::Now { view.now } else { view.next };
                    (store.get(self.variable(&view, *array)), Terms::TRUE)
                }
                Some(Argument::Arbitrary) => self.any(variable),
                None => self.initial(variable),
            };
            *valid = self.terms.and(*valid, in_range);
            after.set(first + i as u32, value);
        }
    }

    fn variable(&self, view: &View<'_>, variable: Var) -> u32 {
        match variable {
            Var::Global(i) => i,
            Var::Local(i) => view.first + i,
        }
    }

    fn assign(&mut self, view: &View<'_>, assignment: &Assignment, after: &mut Store, valid: &mut Term) {
        let values: Vec<Term> = assignment.values.iter().map(|e| self.value(view, e, valid)).collect();
        for (target, value) in assignment.targets.iter().zip(values) {
            self.put(view, target, value, after, valid);
        }
        if let Some(constraint) = &assignment.constraint {
            let next = after.clone();
            let view = View { next: &next, ..*view };
            let holds = self.value(&view, constraint, valid);
            *valid = self.terms.and(*valid, holds);
        }
    }

    fn put(&mut self, view: &View<'_>, target: &Target, value: Term, after: &mut Store, valid: &mut Term) {
        let at = self.variable(view, target.variable);
        if target.indices.is_empty() {
            return after.set(at, value);
        }
        let index = self.index(view, target.variable, &target.indices, valid);
        let array = after.get(at);
        let element = if self.terms.sort(value) == Sort::Bool { self.terms.bit_of(value) } else { value };
        let stored = self.terms.store(array, index, element);
        after.set(at, stored);
    }

    /// The index of a cell, and as a condition that it is inside.
    fn index(&mut self, view: &View<'_>, variable: Var, indices: &[Expr], valid: &mut Term) -> Term {
        let ty = self.program().variable(view.procedure, variable).ty.clone();
        if ty.is_memory() {
            return self.value(view, &indices[0], valid);
        }
        let mut offset = self.terms.bits(0, INDEX);
        for (dimension, index) in ty.dimensions().iter().zip(indices) {
            let value = self.value(view, index, valid);
            let width = self.terms.width(value).max(INDEX);
            let wide = self.terms.zero_extend(value, width);
            let low = self.terms.bits(dimension.low, width);
            let from_low = self.terms.sub(wide, low);
            let length = self.terms.bits(dimension.length, width);
            let inside = self.terms.ult(from_low, length);
            *valid = self.terms.and(*valid, inside);
            let step = self.terms.extract(from_low, 0, INDEX);
            let length = self.terms.bits(dimension.length, INDEX);
            let row = self.terms.mul(offset, length);
            offset = self.terms.add(row, step);
        }
        offset
    }

    /// The value of an expression; `valid` gets the condition that there is one.
    fn value(&mut self, view: &View<'_>, expr: &Expr, valid: &mut Term) -> Term {
        match &expr.kind {
            ExprKind::Constant(value) => match expr.ty {
                Scalar::Bool => self.terms.bool(*value != 0),
                Scalar::Bits(width) => self.terms.bits(*value, width),
            },
            ExprKind::Choice { below } => {
                let value = self.arbitrary(scalar_sort(expr.ty));
                if let (Some(below), Scalar::Bits(width)) = (below, expr.ty) {
                    let most = self.terms.bits(below.saturating_sub(1).min(expr.ty.max()), width);
                    let fits = self.terms.ule(value, most);
                    *valid = self.terms.and(*valid, fits);
                }
                value
            }
            ExprKind::Read { variable, indices, when } => {
                let store = if *when == When::Now { view.now } else { view.next };
                let held = store.get(self.variable(view, *variable));
                if indices.is_empty() {
                    return held;
                }
                let index = self.index(view, *variable, indices, valid);
                let element = self.terms.select(held, index);
                if expr.ty == Scalar::Bool { self.terms.is_set(element) } else { element }
            }
            ExprKind::Unary(op, value) => {
                let value = self.value(view, value, valid);
                match op {
                    UnaryOp::Not => self.terms.not(value),
                    UnaryOp::Neg => self.terms.neg(value),
                    UnaryOp::BitNot => self.terms.bit_not(value),
                }
            }
            ExprKind::Binary(op, left, right) => self.binary(view, *op, left, right, valid),
            ExprKind::ZeroExtend(value) => {
                let value = self.value(view, value, valid);
                self.extended(value, expr.ty.width(), Terms::zero_extend)
            }
            ExprKind::SignExtend(value) => {
                let value = self.value(view, value, valid);
                self.extended(value, expr.ty.width(), Terms::sign_extend)
            }
            ExprKind::Extract { value, low } => {
                let value = self.value(view, value, valid);
                let value = self.as_bits(value);
                self.terms.extract(value, *low, expr.ty.width())
            }
            ExprKind::Float(op, operands) => {
                let operands: Vec<Term> = operands.iter().map(|e| self.value(view, e, valid)).collect();
                self.terms.float(*op, &operands)
            }
            ExprKind::IfThenElse(condition, then, otherwise) => {
                let condition = self.value(view, condition, valid);
                let (mut if_true, mut if_false) = (Terms::TRUE, Terms::TRUE);
                let then = self.value(view, then, &mut if_true);
                let otherwise = self.value(view, otherwise, &mut if_false);
                let chosen = self.terms.ite(condition, if_true, if_false);
                *valid = self.terms.and(*valid, chosen);
                self.terms.ite(condition, then, otherwise)
            }
        }
    }

    fn as_bits(&mut self, value: Term) -> Term {
        if self.terms.sort(value) == Sort::Bool { self.terms.bit_of(value) } else { value }
    }

    fn extended(&mut self, value: Term, width: u32, extend: fn(&mut Terms, Term, u32) -> Term) -> Term {
        let value = self.as_bits(value);
        if self.terms.width(value) > width {
            self.terms.extract(value, 0, width)
        } else {
            extend(&mut self.terms, value, width)
        }
    }

    fn binary(&mut self, view: &View<'_>, op: BinaryOp, left: &Expr, right: &Expr, valid: &mut Term) -> Term {
        use BinaryOp::*;
        let a = self.value(view, left, valid);
        // The right side is not looked at if the left one decides.
        let mut if_needed = Terms::TRUE;
        let b = self.value(view, right, &mut if_needed);
        let needed = match op {
            And | Implies => a,
            Or => self.terms.not(a),
            _ => Terms::TRUE,
        };
        let fine = self.terms.implies(needed, if_needed);
        *valid = self.terms.and(*valid, fine);
        let t = &mut self.terms;
        match op {
            And => t.and(a, b),
            Or => t.or(a, b),
            Xor => t.xor(a, b),
            Implies => t.implies(a, b),
            Eq => t.eq(a, b),
            Ne => {
                let same = t.eq(a, b);
                t.not(same)
            }
            ULt => t.ult(a, b),
            ULe => t.ule(a, b),
            SLt => t.slt(a, b),
            SLe => t.sle(a, b),
            Sub => t.sub(a, b),
            Add => t.binary(Op::Add, a, b),
            Mul => t.binary(Op::Mul, a, b),
            UDiv => t.binary(Op::UDiv, a, b),
            URem => t.binary(Op::URem, a, b),
            SDiv => t.binary(Op::SDiv, a, b),
            SRem => t.binary(Op::SRem, a, b),
            BitAnd => t.binary(Op::BitAnd, a, b),
            BitOr => t.binary(Op::BitOr, a, b),
            BitXor => t.binary(Op::BitXor, a, b),
            Shl => t.binary(Op::Shl, a, b),
            LShr => t.binary(Op::LShr, a, b),
            AShr => t.binary(Op::AShr, a, b),
        }
    }
}

/// Whether some step reads or writes memory.
pub(crate) fn accesses_memory(program: &Program) -> bool {
    let is_memory = |variable: Var| match variable {
        Var::Global(i) => program.globals[i as usize].ty.is_memory(),
        Var::Local(_) => false,
    };
    let reads = |expr: &Expr| {
        let mut found = false;
        expr.reads(&mut |variable, _| found |= is_memory(variable));
        found
    };
    let assigns = |assignment: &Assignment| {
        assignment.values.iter().any(reads) || assignment.targets.iter().any(|to| is_memory(to.variable))
    };
    let edges = program.procedures.iter().flat_map(|procedure| &procedure.edges);
    edges.map(|edge| &edge.operation).any(|operation| match operation {
        Operation::Assume(condition) => reads(condition),
        Operation::Assign(assignment) => assigns(assignment),
        Operation::Havoc(targets) => targets.iter().any(|target| is_memory(target.variable)),
        Operation::Call(call) => {
            let given = |argument: &Argument| matches!(argument, Argument::Value(value) if reads(value));
            call.arguments.iter().any(given)
                || assigns(&call.assignment)
                || call.results.iter().flatten().any(|to| is_memory(to.variable))
        }
        Operation::Return(values) => values.iter().any(reads),
        _ => false,
    })
}

fn scalar_sort(ty: Scalar) -> Sort {
    match ty {
        Scalar::Bool => Sort::Bool,
        Scalar::Bits(width) => Sort::Bits(width),
    }
}
