//! Expressions as conditions.

use wherefore_program::{BinaryOp, Expr, ExprKind, LocationId, LocationKind, Operation, Scalar};

use super::Lower;
use super::floats;
use super::value::truth;
use crate::c::problem::Checked;
use crate::c::tree::{Term, TermKind};

impl Lower<'_, '_> {
    /// Whether a term is not zero, as one expression. Only the right side of `&&` and `||` must be
    /// free of effects.
    pub(crate) fn condition(&mut self, term: &Term) -> Checked<Expr> {
        match &term.kind {
            TermKind::Not(inner) => Ok(Self::negated(self.condition(inner)?)),
            TermKind::Compare(op, left, right) => {
                let (a, b) = self.operands(*op, left, right)?;
                if self.cx.tree.types.is_opaque(&left.ty) {
                    self.note_float(term.span);
                    return Ok(Expr::choice(Scalar::Bool));
                }
                Ok(match self.cx.tree.types.format(&left.ty) {
                    Some(format) => floats::compare(format, *op, a, b),
                    None => compare(*op, a, b),
                })
            }
            TermKind::And(left, right) | TermKind::Or(left, right) if self.may_be_folded(right) => {
                let and = matches!(term.kind, TermKind::And(..));
                let op = if and { BinaryOp::And } else { BinaryOp::Or };
                let left = self.condition(left)?;
                let left = self.guard(left, term.span);
                let right = self.guarded(&left, and, |lower| lower.condition(right))?;
                Ok(match (and, left.as_constant()) {
                    (true, Some(0)) | (false, Some(1)) => left,
                    (_, Some(_)) => right,
                    _ => Expr::binary(op, left, right),
                })
            }
            TermKind::Convert(inner) if term.ty.is_integer() && self.keeps_zero(inner, term) => {
                self.condition(inner)
            }
            _ => {
                let value = self.value(term)?;
                if self.cx.tree.types.is_opaque(&term.ty) {
                    self.note_float(term.span);
                    return Ok(Expr::choice(Scalar::Bool));
                }
                Ok(match self.cx.tree.types.format(&term.ty) {
                    Some(format) => floats::is_not_zero(format, value),
                    None => truth(value),
                })
            }
        }
    }

    /// Whether a conversion maps zero, and nothing else, to zero.
    fn keeps_zero(&self, inner: &Term, outer: &Term) -> bool {
        let types = &self.cx.tree.types;
        let narrow = types.scalar(&inner.ty).width() > types.scalar(&outer.ty).width();
        !inner.ty.is_float() && inner.ty.is_scalar() && (!narrow || outer.ty == crate::c::ctype::CType::Bool)
    }

    /// Goes to `yes` if a term is not zero, else to `no`.
    pub(crate) fn branch(&mut self, term: &Term, yes: LocationId, no: LocationId) -> Checked<()> {
        self.decide(term, term, yes, no)
    }

    /// The same for a part of a condition: `whole` is it or its negation, and what the edges name.
    /// The first of them is the way on if that holds.
    fn decide(&mut self, whole: &Term, term: &Term, yes: LocationId, no: LocationId) -> Checked<()> {
        match &term.kind {
            TermKind::Not(inner) => self.decide(whole, inner, no, yes),
            TermKind::And(left, right) if !self.may_be_folded(right) => {
                let middle = self.body.open(right.span);
                self.branch(left, middle, no)?;
                self.body.at = middle;
                self.branch(right, yes, no)
            }
            TermKind::Or(left, right) if !self.may_be_folded(right) => {
                let middle = self.body.open(right.span);
                self.branch(left, yes, middle)?;
                self.body.at = middle;
                self.branch(right, yes, no)
            }
            TermKind::Comma(terms) if !terms.is_empty() => {
                let (last, first) = terms.split_last().expect("it is not empty");
                first.iter().try_for_each(|term| self.effects(term))?;
                self.branch(last, yes, no)
            }
            _ => {
                let condition = self.condition(term)?;
                let span = self.head.take().unwrap_or(term.span);
                let at = self.body.fill(span, LocationKind::Branch);
                if let Some(value) = condition.as_constant() {
                    // A way that is never taken is left out.
                    let to = if value != 0 { yes } else { no };
                    self.body.edge(at, to, Operation::Skip, span);
                    return Ok(());
                }
                let ways = [(yes, condition.clone()), (no, Self::negated(condition))];
                let [first, second] = if is_negated(whole) { [1, 0] } else { [0, 1] };
                for (to, condition) in [&ways[first], &ways[second]] {
                    self.body.edge(at, *to, Operation::Assume(condition.clone()), whole.span);
                }
                Ok(())
            }
        }
    }
}

/// Whether a condition is the negation of what is left without its signs of negation.
fn is_negated(term: &Term) -> bool {
    match &term.kind {
        TermKind::Not(inner) => !is_negated(inner),
        _ => false,
    }
}

/// A comparison; with a truth value as a number, the truth value itself.
fn compare(op: BinaryOp, a: Expr, b: Expr) -> Expr {
    if let (ExprKind::ZeroExtend(inner), Some(constant)) = (&a.kind, b.as_constant()) {
        if inner.ty == Scalar::Bool && constant <= 1 {
            match op {
                BinaryOp::Eq if constant == 1 => return (**inner).clone(),
                BinaryOp::Ne if constant == 0 => return (**inner).clone(),
                BinaryOp::Eq | BinaryOp::Ne => return Expr::not((**inner).clone()),
                _ => {}
            }
        }
    }
    Expr::binary(op, a, b)
}
