//! `setjmp` and `longjmp`.
//!
//! `longjmp` leaves functions one after the other until it comes to the one whose call of `setjmp`
//! has filled the buffer. Our model of `setjmp` (`library/jumps.c`) writes a mark into the buffer,
//! and the function keeps the same mark; that of `longjmp` reads it, and from then on a variable
//! holds it. Behind every call that can be left in this way the variable is looked at: unless it is
//! zero, the function either goes on behind its own call of `setjmp` with the same mark, or returns
//! at once. A jump to a function that has returned comes to the start, which is not modelled: it is
//! undefined in C.

use wherefore_program::{BinaryOp, Expr, LocationId, LocationKind, Operation, Scalar, Span, Type, Var};

use super::call::Want;
use super::lifetimes::Ending;
use super::place::plus;
use super::{Context, Lower};
use crate::c::ctype::CType;
use crate::c::problem::{Checked, Problem};
use crate::c::tree::{FunctionId, Term};

/// The type of marks.
const MARK: Scalar = Scalar::Bits(64);

/// A function that does not call itself has one mark for each call of `setjmp` in its text; those
/// of other functions are counted, from here on.
const COUNTED: u64 = 1 << 32;

/// The variables of jumps, which the whole program shares.
#[derive(Clone, Copy)]
pub(super) struct Jumping {
    /// The mark that a jump looks for; 0 if there is no jump.
    to: Var,
    /// The value that `setjmp` returns then.
    value: Var,
    /// The mark that the next call of `setjmp` writes.
    mark: Var,
    /// The last mark that was counted.
    last: Var,
    /// How many calls of `setjmp` the text has so far.
    sites: u64,
}

/// A call of `setjmp`.
struct Site {
    /// The mark that it has written; 0 if it was not executed.
    mark: Var,
    /// Where it returns, and what.
    back: LocationId,
    result: Var,
}

/// The calls of `setjmp` in a function, and where it goes on if a call is left by a jump.
#[derive(Default)]
pub(super) struct Returning {
    sites: Vec<Site>,
    /// Where jumps from here or from what was called arrive.
    unwinding: Option<LocationId>,
}

/// The function that begins a jump, in our own texts.
pub(crate) const JUMP: &str = "__builtin_own_jump";

/// The functions that jumps out of nested functions call.
pub(crate) const SETJMP: &str = "__builtin_own_setjmp";
pub(crate) const LONGJMP: &str = "__builtin_own_longjmp";

/// The function that gives the next mark, in our own texts.
const NEXT_MARK: &str = "__builtin_own_mark";

impl Context<'_> {
    fn jumping(&mut self, span: Span) -> Jumping {
        if let Some(jumping) = self.jumping {
            return jumping;
        }
        let text = "local variables keep their values when `longjmp` comes back to their function";
        self.assume(text, Some(span));
        let to = self.global("jump", Type::Scalar(MARK), Some(0), span);
        let value = self.global("jumped", Type::Scalar(Scalar::Bits(32)), Some(0), span);
        let mark = self.global("mark", Type::Scalar(MARK), Some(0), span);
        let last = self.global("marks", Type::Scalar(MARK), Some(COUNTED), span);
        *self.jumping.insert(Jumping { to, value, mark, last, sites: 0 })
    }
}

impl Lower<'_, '_> {
    /// A call of one of the two functions that our models of `setjmp` and `longjmp` are made of.
    pub(super) fn jump_convention(
        &mut self,
        name: &str,
        arguments: &[Term],
        term: &Term,
    ) -> Checked<Option<Vec<Expr>>> {
        let span = term.span;
        match (name, arguments) {
            (NEXT_MARK, []) => {
                let jumping = self.cx.jumping(span);
                let value = Expr::variable(jumping.mark, MARK);
                let ty = self.cx.tree.types.scalar(&term.ty);
                Ok(Some(vec![super::value::resize(value, false, ty)]))
            }
            (JUMP, [mark, value]) => {
                self.no_threads(span)?;
                let jumping = self.cx.jumping(span);
                let mark = super::value::resize(self.value(mark)?, false, MARK);
                let value = self.value(value)?;
                let zero = Expr::constant(0, value.ty);
                let is_zero = Expr::binary(BinaryOp::Eq, value.clone(), zero);
                let value = Expr::if_then_else(is_zero, Expr::constant(1, value.ty), value);
                self.refuse_unfilled(&mark, span);
                self.body.assign(span, vec![jumping.to.into(), jumping.value.into()], vec![mark, value]);
                let unwinding = self.unwinding(span);
                self.body.join(unwinding, span);
                self.body.at = self.body.open(span);
                Ok(Some(Vec::new()))
            }
            _ => Ok(None),
        }
    }

    /// A buffer that no call of `setjmp` has filled, as far as its mark tells, is refused.
    fn refuse_unfilled(&mut self, mark: &Expr, span: Span) {
        let is_unfilled = Expr::binary(BinaryOp::Eq, mark.clone(), Expr::constant(0, MARK));
        let at = self.body.fill(span, LocationKind::Branch);
        let (next, unfilled) = (self.body.open(span), self.body.open(span));
        self.body.edge(at, next, Operation::Assume(is_unfilled.clone().not()), span);
        self.body.edge(at, unfilled, Operation::Assume(is_unfilled), span);
        let what = "`longjmp` with a buffer that no call of `setjmp` has filled is";
        self.unsupported_from(unfilled, Problem::unsupported(span, what));
        self.body.at = next;
    }

    /// Whether a function is `setjmp`, as C has it.
    pub(super) fn is_setjmp(&self, id: FunctionId) -> bool {
        let name = self.cx.tree.function(id).name.as_str();
        let is_known = matches!(name, "setjmp" | "_setjmp" | "sigsetjmp" | "__sigsetjmp" | SETJMP);
        is_known && !self.is_library && self.cx.is_model(id)
    }

    fn no_threads(&self, span: Span) -> Checked<()> {
        if self.cx.has_threads {
            return Err(Problem::unsupported(span, "`longjmp` beside threads is"));
        }
        Ok(())
    }

    /// Where jumps arrive in this function.
    fn unwinding(&mut self, span: Span) -> LocationId {
        if let Some(at) = self.returning.unwinding {
            return at;
        }
        let at = self.body.open(span);
        *self.returning.unwinding.insert(at)
    }

    /// Behind a call: was it left by a jump?
    pub(super) fn look_for_jump(&mut self, callee: FunctionId, span: Span) {
        if !self.cx.usage.jumping.contains(&callee) {
            return;
        }
        if self.cleanups.iter().any(|(_, ending)| matches!(ending, Ending::Life)) {
            self.cx.doubt("no local object is used after `longjmp` has left its scope", Some(span));
        }
        let jumping = self.cx.jumping(span);
        let is_none = Expr::binary(BinaryOp::Eq, Expr::variable(jumping.to, MARK), Expr::constant(0, MARK));
        let at = self.body.fill(span, LocationKind::Branch);
        let (next, left) = (self.body.open(span), self.unwinding(span));
        self.body.edge(at, next, Operation::Assume(is_none.clone()), span);
        self.body.edge(at, left, Operation::Assume(is_none.not()), span);
        self.body.at = next;
    }

    /// A call of `setjmp`, whose model writes the mark: it returns 0, and may return again.
    pub(super) fn setjmp(
        &mut self,
        id: FunctionId,
        arguments: &[Term],
        term: &Term,
        want: Want,
    ) -> Checked<Vec<Expr>> {
        let span = term.span;
        if self.body.uses_temporaries() {
            // What is kept in them may have changed when it returns again.
            return Err(Problem::unsupported(span, "`setjmp` within a larger expression is"));
        }
        self.no_threads(span)?;
        let values = self.argument_values(arguments)?;
        let types: Vec<CType> = arguments.iter().map(|argument| argument.ty.clone()).collect();
        let mut jumping = self.cx.jumping(span);
        jumping.sites += 1;
        self.cx.jumping = Some(jumping);
        let own = self.body.variable("mark", Type::Scalar(MARK), span);
        if self.function.is_some_and(|id| self.cx.usage.recursive.contains(&id)) {
            let next = plus(Expr::variable(jumping.last, MARK), 1);
            let targets = vec![jumping.last.into(), jumping.mark.into()];
            self.body.assign(span, targets, vec![next.clone(), next]);
        } else {
            let mark = Expr::constant(jumping.sites, MARK);
            self.body.assign(span, vec![jumping.mark.into()], vec![mark]);
        }
        self.call_procedure(id, &values, &types, term, Want::Nothing)?;
        let ty = Scalar::Bits(32);
        let result = self.body.variable("returned", Type::Scalar(ty), span);
        let first = vec![Expr::variable(jumping.mark, MARK), Expr::constant(0, ty)];
        self.body.assign(span, vec![own.into(), result.into()], first);
        let back = self.body.open(span);
        self.body.join(back, span);
        self.returning.sites.push(Site { mark: own, back, result });
        let result = Expr::variable(result, ty);
        match want {
            Want::Nothing => {}
            Want::Value => return Ok(vec![result]),
            Want::Into(target) => self.body.assign(span, vec![target], vec![result]),
        }
        Ok(Vec::new())
    }

    /// At the end of a function: jumps that arrive go on behind the call of `setjmp` whose mark they
    /// look for, or leave the function.
    pub(super) fn finish_jumps(&mut self, results: &[Scalar], span: Span) {
        let returning = std::mem::take(&mut self.returning);
        let marks: Vec<_> = returning.sites.iter().map(|site| site.mark.into()).collect();
        if let Some(unwinding) = returning.unwinding {
            let jumping = self.cx.jumping(span);
            let to = Expr::variable(jumping.to, MARK);
            self.body.at = unwinding;
            for Site { mark, back, result } in &returning.sites {
                let is_meant = Expr::binary(BinaryOp::Eq, to.clone(), Expr::variable(*mark, MARK));
                let at = self.body.fill(span, LocationKind::Branch);
                let (found, next) = (self.body.open(span), self.body.open(span));
                self.body.edge(at, found, Operation::Assume(is_meant.clone()), span);
                self.body.edge(at, next, Operation::Assume(is_meant.not()), span);
                self.body.at = found;
                let value = Expr::variable(jumping.value, Scalar::Bits(32));
                let targets = vec![(*result).into(), jumping.to.into()];
                self.body.assign(span, targets, vec![value, Expr::constant(0, MARK)]);
                self.body.join(*back, span);
                self.body.at = next;
            }
            if self.function.is_some() {
                let values = results.iter().map(|ty| Expr::constant(0, *ty)).collect();
                let at = self.body.fill(span, LocationKind::End);
                self.body.edge(at, LocationId(0), Operation::Return(values), span);
            } else {
                let what = "`longjmp` to a function that has returned is";
                self.unsupported_from(self.body.at, Problem::unsupported(span, what));
            }
            self.body.at = self.body.open(span);
        }
        if !marks.is_empty() {
            let zeros = marks.iter().map(|_| Expr::constant(0, MARK)).collect();
            self.body.prepend(span, marks, zeros);
        }
    }
}
