//! Calls.

use wherefore_program::{
    Argument, Assignment, BinaryOp, Blocks, Call, Expr, FloatOp, FloatOperation, Format, LocationKind,
    Operation, Scalar, Span, Target, Type, ViolationKind, When, c_library,
};

use super::value::resize;
use super::{Context, Lower};
use crate::c::ctype::{CType, Rest};
use crate::c::floats;
use crate::c::models;
use crate::c::problem::{Checked, Problem};
use crate::c::threads;
use crate::c::tree::{FunctionId, Term, TermKind};

/// What is done with the result of a call.
#[derive(Clone)]
pub(crate) enum Want {
    Nothing,
    Value,
    Into(Target),
}

impl Context<'_> {
    /// The types of the values that a function returns. What is opaque is not returned.
    pub(crate) fn result_types(&self, id: FunctionId) -> Vec<Scalar> {
        let mut out = Vec::new();
        self.value_types(&self.tree.function(id).signature.result, &mut out);
        out
    }

    fn value_types(&self, ty: &CType, out: &mut Vec<Scalar>) {
        match ty {
            CType::Void | CType::Function(_) => {}
            ty if self.tree.types.is_opaque(ty) => {}
            CType::Array(element, crate::c::ctype::Length::Known(length)) => {
                (0..*length).for_each(|_| self.value_types(element, out));
            }
            CType::Array(..) => {}
            CType::Record(id) => {
                let record = self.tree.types.record(*id);
                if record.union {
                    out.extend((0..record.size).map(|_| Scalar::Bits(8)));
                } else {
                    record.fields.iter().for_each(|field| self.value_types(&field.ty, out));
                }
            }
            scalar => out.push(self.tree.types.scalar(scalar)),
        }
    }

    /// The variable that holds the next free address of the heap.
    pub(crate) fn heap_pointer(&mut self, span: Span) -> wherefore_program::Var {
        if let Some(heap) = self.heap {
            return heap;
        }
        self.assume("memory never runs out", Some(span));
        let ty = Type::Scalar(self.pointer());
        let first = if self.checks_memory() {
            let (first, bits) = (super::HEAP.next_multiple_of(1 << self.slot_bits()), self.slot_bits());
            self.objects.blocks = Some(Blocks { first, bits });
            first
        } else {
            super::HEAP
        };
        let heap = self.global("heap", ty, Some(first), span);
        *self.heap.insert(heap)
    }

    /// The variable that holds the next free address of the stack.
    pub(crate) fn stack_pointer(&mut self, span: Span) -> wherefore_program::Var {
        if let Some(stack) = self.stack {
            return stack;
        }
        self.assume("memory never runs out", Some(span));
        let ty = Type::Scalar(self.pointer());
        let stack = self.global("stack", ty, Some(super::STACK), span);
        *self.stack.insert(stack)
    }
}

impl Lower<'_, '_> {
    /// A call; the scalars of its result, if they are wanted as values.
    pub(crate) fn call(
        &mut self,
        callee: &Term,
        arguments: &[Term],
        term: &Term,
        target: Option<Target>,
    ) -> Checked<Vec<Expr>> {
        let want = match target {
            Some(target) => Want::Into(target),
            None if term.ty == CType::Void => Want::Nothing,
            None => Want::Value,
        };
        self.call_for(callee, arguments, term, want)
    }

    pub(crate) fn call_for(
        &mut self,
        callee: &Term,
        arguments: &[Term],
        term: &Term,
        want: Want,
    ) -> Checked<Vec<Expr>> {
        let TermKind::Function(id) = callee.kind else {
            return self.call_pointer(callee, arguments, term, want);
        };
        self.usable(id)?;
        if let Some(outcome) = self.convention(id, arguments, term, &want)? {
            return Ok(outcome);
        }
        if self.cx.tree.function(id).body.is_none() {
            return self.call_unknown(id, arguments, term, want);
        }
        if self.is_setjmp(id) {
            return self.setjmp(id, arguments, term, want);
        }
        if models::compares(&self.cx.tree.function(id).name) {
            let text = "how often and in which order `qsort` and `bsearch` compare does not matter";
            self.cx.assume(text, Some(term.span));
        }
        let values = self.argument_values(arguments)?;
        let types: Vec<CType> = arguments.iter().map(|argument| argument.ty.clone()).collect();
        if self.is_atomic(id) {
            self.body.step(term.span, LocationKind::Statement, Operation::AtomicBegin);
            let outcome = self.call_procedure(id, &values, &types, term, want)?;
            self.body.step(term.span, LocationKind::Statement, Operation::AtomicEnd);
            return Ok(outcome);
        }
        self.call_procedure(id, &values, &types, term, want)
    }

    pub(super) fn call_procedure(
        &mut self,
        id: FunctionId,
        values: &[Vec<Expr>],
        types: &[CType],
        term: &Term,
        want: Want,
    ) -> Checked<Vec<Expr>> {
        let span = term.span;
        let tree = self.cx.tree;
        let function = tree.function(id);
        let mut arguments = Vec::new();
        for (i, parameter) in function.signature.parameters.iter().enumerate() {
            let pieces = self.piece_types(parameter, span)?;
            match values.get(i) {
                Some(values) => {
                    let matching =
                        values.len() == pieces.len() && (types[i].is_scalar() || types[i] == *parameter);
                    if !matching {
                        return Err(Problem::new(span, "an argument has another type than its parameter"));
                    }
                    for (value, piece) in values.iter().zip(&pieces) {
                        if self.cx.tree.types.is_opaque(piece) {
                            continue;
                        }
                        let from = if types[i].is_scalar() { &types[i] } else { piece };
                        arguments.push(Argument::Value(self.passed(value.clone(), from, piece)));
                    }
                }
                None => {
                    let count = pieces.iter().filter(|piece| !self.cx.tree.types.is_opaque(piece)).count();
                    arguments.extend((0..count).map(|_| Argument::Arbitrary));
                }
            }
        }
        let results = self.cx.result_types(id);
        // What is left by a jump assigns nothing.
        if let (Want::Into(target), true) = (&want, self.cx.usage.jumping.contains(&id)) {
            let value = self.call_procedure(id, values, types, term, Want::Value)?;
            self.body.assign(span, vec![target.clone()], value);
            return Ok(Vec::new());
        }
        let mut targets: Vec<Option<Target>> = vec![None; results.len()];
        let mut read = Vec::new();
        match &want {
            Want::Nothing => {}
            Want::Into(target) if results.len() == 1 => targets[0] = Some(target.clone()),
            Want::Into(_) => return Err(Problem::new(span, "a result has another type than expected")),
            Want::Value => {
                for (target, ty) in targets.iter_mut().zip(&results) {
                    let variable = self.body.temporary(*ty, span);
                    *target = Some(variable.into());
                    read.push(Expr::variable(variable, *ty));
                }
            }
        }
        let callee = self.cx.callee(id, span);
        let call = Call { callee, arguments, results: targets, assignment: Assignment::default() };
        self.body.step(span, LocationKind::Call, Operation::Call(call));
        self.look_for_jump(id, span);
        if !matches!(want, Want::Value) {
            return Ok(Vec::new());
        }
        // What is opaque is not returned: anything stands for it.
        let mut read = read.into_iter();
        let pieces = self.piece_types(&function.signature.result, span)?;
        let mut out = Vec::new();
        for piece in pieces {
            let scalar = self.cx.tree.types.scalar(&piece);
            let value = if self.cx.tree.types.is_opaque(&piece) {
                Expr::choice(scalar)
            } else {
                read.next().unwrap_or(Expr::choice(scalar))
            };
            out.push(if term.ty.is_scalar() { self.passed(value, &piece, &term.ty) } else { value });
        }
        Ok(out)
    }

    /// A value that a function takes or gives as one type, as another one: only functions without a
    /// prototype can make them differ.
    fn passed(&self, value: Expr, from: &CType, to: &CType) -> Expr {
        let types = &self.cx.tree.types;
        let scalar = types.scalar(to);
        match (from.is_float(), to.is_float()) {
            (false, false) => resize(value, from.is_signed(), scalar),
            (true, true) if from == to && !types.is_opaque(from) => value,
            // `float` is passed as `double`.
            (true, true) if types.format(from) == Some(Format::Double) && types.format(to).is_some() => {
                Expr::float(FloatOp::new(FloatOperation::Convert, Format::Double), vec![value])
            }
            _ => Expr::choice(scalar),
        }
    }

    /// What is wrong with a function that is not defined matters where it is used. A function that
    /// is defined has a place for it, at its entry.
    pub(crate) fn usable(&self, id: FunctionId) -> Checked<()> {
        let function = self.cx.tree.function(id);
        match function.problems.first().filter(|_| function.body.is_none()) {
            Some(problem) => Err(problem.clone()),
            None => Ok(()),
        }
    }

    /// A function without a body returns anything. What it does with pointers is assumed.
    fn call_unknown(
        &mut self,
        id: FunctionId,
        arguments: &[Term],
        term: &Term,
        want: Want,
    ) -> Checked<Vec<Expr>> {
        let tree = self.cx.tree;
        let function = tree.function(id);
        let span = term.span;
        let is_asked =
            [ViolationKind::Lock, ViolationKind::Deadlock].into_iter().any(|kind| self.cx.asks(kind));
        if threads::does_nothing_alone(&function.name) && !self.cx.has_threads && !is_asked {
            arguments.iter().rev().try_for_each(|argument| self.effects(argument))?;
            return match term.ty {
                CType::Void => Ok(Vec::new()),
                _ => Ok(vec![Expr::constant(0, self.cx.tree.types.scalar(&term.ty))]),
            };
        }
        if function.name.starts_with("pthread_") || function.name == "thrd_create" {
            let what = format!("`{}` is", function.name);
            return Err(Problem::unsupported(span, &what));
        }
        if let Some(outcome) = self.jump_convention(&function.name, arguments, term)? {
            return Ok(outcome);
        }
        self.pass(&function.name, arguments, span)?;
        if !function.returns {
            self.body.halt(span, LocationKind::Statement);
            return self.anything(term);
        }
        self.changes(id, arguments, span)?;
        self.result(id, term, want)
    }

    /// The arguments of a function without a body are evaluated. Those of some functions of the
    /// library must not be null pointers.
    fn pass(&mut self, name: &str, arguments: &[Term], span: Span) -> Checked<()> {
        let needed = c_library::needs(name);
        if needed.is_empty() || !self.asks(ViolationKind::Null) {
            return arguments.iter().rev().try_for_each(|argument| self.effects(argument));
        }
        let mut values = self.argument_values(arguments)?;
        for position in needed {
            if let Some(value) = values.get_mut(*position).and_then(Vec::pop) {
                self.check_passed(value, span);
            }
        }
        Ok(())
    }

    /// Arbitrary values, for a run that does not get here.
    pub(crate) fn anything(&mut self, term: &Term) -> Checked<Vec<Expr>> {
        if term.ty == CType::Void {
            return Ok(Vec::new());
        }
        let types = self.piece_types(&term.ty, term.span)?;
        Ok(types.iter().map(|ty| Expr::choice(self.cx.tree.types.scalar(ty))).collect())
    }

    /// A result that comes from outside: one step a scalar, each recorded as an input.
    pub(crate) fn input(&mut self, name: &str, term: &Term, want: Want) -> Checked<Vec<Expr>> {
        let span = term.span;
        // A scalar that is not used is an input all the same: calls are counted.
        let counted = models::meaning(name) == Some(models::Meaning::Input) || !models::is_harmless(name);
        let unwanted = matches!(want, Want::Nothing) && !(term.ty.is_scalar() && counted);
        if unwanted || term.ty == CType::Void {
            self.body.step(span, LocationKind::Call, Operation::Skip);
            return Ok(Vec::new());
        }
        let mut out = Vec::new();
        for piece in self.piece_types(&term.ty, span)? {
            let scalar = self.cx.tree.types.scalar(&piece);
            if self.cx.tree.types.is_opaque(&piece) {
                self.note_float(span);
                out.push(Expr::choice(scalar));
                continue;
            }
            let (target, value) = match &want {
                Want::Into(target) => (target.clone(), None),
                _ => {
                    let variable = self.body.temporary(scalar, span);
                    (variable.into(), Some(Expr::variable(variable, scalar)))
                }
            };
            let target_of = target.clone();
            let result = Expr::read(target.variable, target.indices.clone(), When::Now, scalar);
            let edge = self.body.step(span, LocationKind::Call, Operation::Havoc(vec![target]));
            if piece.is_pointer() {
                self.keep_result_plausible(name, &target_of, span);
                if models::is_never_null(name) {
                    let null = Expr::constant(0, scalar);
                    self.require(Expr::binary(BinaryOp::Ne, result.clone(), null), span);
                }
            }
            if let (Some(format), Some(range)) = (self.cx.tree.types.format(&piece), floats::range(name)) {
                self.require(super::floats::is_between(format, result, range), span);
            }
            if let Some((least, most)) = models::range(name).filter(|_| !piece.is_float()) {
                let most = most.min((scalar.max() >> 1) as i64);
                let bound = |value: i64| Expr::constant(value as u64 & scalar.max(), scalar);
                let result = Expr::read(target_of.variable, target_of.indices.clone(), When::Now, scalar);
                self.require(Expr::binary(BinaryOp::SLe, bound(least), result.clone()), span);
                self.require(Expr::binary(BinaryOp::SLe, result, bound(most)), span);
            }
            if self.cx.computes(name) {
                self.approximated.push(edge);
            }
            self.inputs.push((edge, name.to_owned(), scalar, piece, term.ty.clone()));
            out.extend(value);
        }
        Ok(out)
    }

    /// A call through a pointer is one of the functions that the pointer may point to.
    fn call_pointer(
        &mut self,
        callee: &Term,
        arguments: &[Term],
        term: &Term,
        want: Want,
    ) -> Checked<Vec<Expr>> {
        let span = term.span;
        let TermKind::Deref(pointer) = &callee.kind else {
            return Err(Problem::unsupported(span, "this call is"));
        };
        let value = self.value(pointer)?;
        let value = self.stable(value, span);
        let value = self.saved_callee(value, pointer, arguments);
        let values = self.argument_values(arguments)?;
        let types: Vec<CType> = arguments.iter().map(|argument| argument.ty.clone()).collect();
        let class = self.cx.classes.value(self.cx.tree, pointer);
        let known = self.cx.classes.facts(class).functions.clone();
        let tree = self.cx.tree;
        // A function with variable arguments is called as one.
        let open = matches!(&callee.ty, CType::Function(signature) if signature.rest != Rest::Nothing);
        let variadic = |id: &FunctionId| {
            tree.function(*id).rest.is_some()
                && open
                && tree.function(*id).signature.parameters.len() <= arguments.len() + 1
        };
        let fits = |id: &FunctionId| {
            let signature = &tree.function(*id).signature;
            let ignored = signature.rest != Rest::Nothing && signature.parameters.len() <= arguments.len();
            let same = signature.parameters.len() == arguments.len() || ignored;
            let same = same && tree.function(*id).rest.is_none();
            let void = (signature.result == CType::Void) == (term.ty == CType::Void);
            let shape = signature.result.is_scalar() == term.ty.is_scalar();
            (same && void && shape || variadic(id)) && self.cx.usage.addressed.contains(id)
        };
        // A thread that starts in none of them would be missing.
        if self.starts_thread() && !known.iter().all(fits) {
            return Err(Problem::unsupported(span, "a thread that starts in a function of another type is"));
        }
        let candidates: Vec<FunctionId> = known.into_iter().filter(fits).collect();
        self.cx.assume("a pointer that is called points to a function of the program", Some(span));
        self.check_null(&value, "calls a null pointer", (span, span));
        let at = self.body.fill(span, LocationKind::Branch);
        let end = self.body.open(span);
        let types_out = if term.ty == CType::Void { Vec::new() } else { self.piece_types(&term.ty, span)? };
        let scalars: Vec<Scalar> = types_out.iter().map(|ty| self.cx.tree.types.scalar(ty)).collect();
        let results: Vec<Target> = match &want {
            Want::Into(target) => vec![target.clone()],
            _ => scalars.iter().map(|ty| self.body.temporary(*ty, span).into()).collect(),
        };
        for id in candidates {
            let inside = self.body.open(span);
            let address = Expr::constant(self.cx.function_address(id), value.ty);
            let condition = Expr::binary(BinaryOp::Eq, value.clone(), address);
            self.body.edge(at, inside, Operation::Assume(condition), span);
            self.body.at = inside;
            self.doubt_pointer(id, span);
            let mark = self.body.mark();
            let wanted = if matches!(want, Want::Nothing) { Want::Nothing } else { Want::Value };
            let outcome = self.attempt(|lower| {
                lower.usable(id)?;
                if lower.is_setjmp(id) {
                    return Err(Problem::unsupported(span, "`setjmp` through a pointer is"));
                }
                if variadic(&id) {
                    let what = "a call through a pointer with variable arguments is";
                    return Err(Problem::unsupported(span, what));
                }
                let known = models::meaning(&tree.function(id).name).is_some();
                if known && !arguments.iter().all(|argument| lower.is_pure(argument)) {
                    let what = "arguments with effects in a call through a pointer are";
                    return Err(Problem::unsupported(span, what));
                }
                match lower.convention(id, arguments, term, &wanted)? {
                    Some(outcome) => Ok(outcome),
                    None if tree.function(id).body.is_some() => {
                        lower.call_procedure(id, &values, &types, term, wanted)
                    }
                    None => {
                        for position in c_library::needs(&tree.function(id).name) {
                            if let Some([value]) = values.get(*position).map(Vec::as_slice) {
                                lower.check_passed(value.clone(), span);
                            }
                        }
                        lower.changes(id, arguments, span)?;
                        lower.result(id, term, wanted)
                    }
                }
            });
            // What the function returns may have another width than the caller thinks.
            let outcome: Vec<Expr> = match (outcome.unwrap_or_default(), scalars.as_slice()) {
                (values, [scalar]) if term.ty.is_scalar() => {
                    let signed = tree.function(id).signature.result.is_signed();
                    values.into_iter().map(|value| resize(value, signed, *scalar)).collect()
                }
                (values, _) => values,
            };
            if !matches!(want, Want::Nothing) && outcome.len() == results.len() {
                self.body.assign(span, results.clone(), outcome);
            }
            self.body.release(&mark);
            self.body.join(end, span);
        }
        self.body.at = end;
        Ok(match want {
            Want::Value => {
                results.iter().zip(scalars).map(|(target, ty)| Expr::variable(target.variable, ty)).collect()
            }
            _ => Vec::new(),
        })
    }
}
