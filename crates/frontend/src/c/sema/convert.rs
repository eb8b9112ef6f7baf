//! Conversions between types, and constants folded on the way.

use wherefore_program::{BinaryOp, Scalar, binary};

use super::Sema;
use super::specifiers::sign_extended;
use crate::c::ctype::CType;
use crate::c::problem::{Checked, Problem};
use crate::c::tree::{Term, TermKind};

impl Sema<'_> {
    /// The value of a term: places are read, arrays and functions become pointers.
    pub(super) fn rvalue(&mut self, term: Term) -> Term {
        let span = term.span;
        match &term.ty {
            CType::Array(element, _) => {
                let ty = CType::Pointer(element.clone());
                self.address(term, ty)
            }
            CType::Function(_) => {
                let ty = term.ty.clone().pointer_to();
                self.address(term, ty)
            }
            _ if term.is_place() => {
                let ty = term.ty.clone();
                Term::new(TermKind::Load(Box::new(term)), ty, span)
            }
            _ => term,
        }
    }

    /// The address of a place or function, with the pointer type given.
    pub(super) fn address(&mut self, place: Term, ty: CType) -> Term {
        let span = place.span;
        if let Some(value) = self.constant_address(&place) {
            return Term::new(TermKind::Constant(value), ty, span);
        }
        match place.kind {
            TermKind::Deref(pointer) => Term { ty, ..*pointer },
            _ => Term::new(TermKind::Address(Box::new(place)), ty, span),
        }
    }

    /// The address of a place below a constant pointer, as in `offsetof`.
    fn constant_address(&self, place: &Term) -> Option<u64> {
        match &place.kind {
            TermKind::Deref(pointer) => pointer.constant(),
            TermKind::Field(base, field) => {
                let CType::Record(id) = base.ty else { return None };
                let field = &self.tree.types.record(id).fields[*field];
                if field.bits.is_some() {
                    return None;
                }
                Some(self.constant_address(base)?.wrapping_add(field.offset))
            }
            _ => None,
        }
    }

    /// What a pointer points to.
    pub(super) fn deref(&mut self, pointer: Term) -> Checked<Term> {
        let span = pointer.span;
        let Some(ty) = pointer.ty.pointee().cloned() else {
            return Err(Problem::new(span, "only a pointer can be dereferenced"));
        };
        if matches!(ty, CType::Function(_)) {
            // A pointer to a function, a function and what the pointer points to are all called alike.
            if let TermKind::Address(inner) = pointer.kind {
                return Ok(*inner);
            }
            return Ok(Term::new(TermKind::Deref(Box::new(pointer)), ty, span));
        }
        match pointer.kind {
            TermKind::Address(inner) if inner.ty == ty => Ok(Term { span, ..*inner }),
            _ => Ok(Term::new(TermKind::Deref(Box::new(pointer)), ty, span)),
        }
    }

    /// A value converted to a type, as by assignment or a cast.
    pub(super) fn convert(&mut self, term: Term, ty: &CType) -> Checked<Term> {
        if term.ty == *ty {
            return Ok(term);
        }
        let span = term.span;
        let allowed = match (&term.ty, ty) {
            (_, CType::Void) => true,
            (from, to) if from.is_float() => to.is_arithmetic(),
            (from, to) if to.is_float() => from.is_arithmetic(),
            (from, to) => from.is_scalar() && to.is_scalar(),
        };
        if !allowed {
            let message = format!(
                "`{}` cannot be converted to `{}`",
                self.tree.types.show(&term.ty),
                self.tree.types.show(ty)
            );
            return Err(Problem::new(span, message));
        }
        let kind = match (&term.kind, ty) {
            (_, CType::Void) => TermKind::Convert(Box::new(term)),
            (TermKind::Constant(value), CType::Float(_)) => {
                let wide = sign_extended(*value, self.bits(&term.ty));
                TermKind::Real(if term.ty.is_signed() { wide as i64 as f64 } else { *value as f64 })
            }
            (TermKind::Constant(value), CType::Bool) => TermKind::Constant(u64::from(*value != 0)),
            (TermKind::Constant(value), _) => TermKind::Constant(self.constant_as(*value, &term.ty, ty)),
            (TermKind::Real(value), CType::Float(size)) => {
                TermKind::Real(if *size == 4 { f64::from(*value as f32) } else { *value })
            }
            (TermKind::Real(value), CType::Bool) => TermKind::Constant(u64::from(*value != 0.0)),
            (TermKind::Real(value), CType::Int { bits, signed }) => {
                let whole = if *signed { *value as i64 as u64 } else { *value as u64 };
                TermKind::Constant(whole & Scalar::Bits(*bits).max())
            }
            // A pointer to something else has the same value.
            _ => TermKind::Convert(Box::new(term)),
        };
        Ok(Term::new(kind, ty.clone(), span))
    }

    fn constant_as(&self, value: u64, from: &CType, to: &CType) -> u64 {
        let wide = if from.is_signed() { sign_extended(value, self.bits(from)) } else { value };
        wide & Scalar::Bits(self.bits(to)).max()
    }

    /// A value after the integer promotions.
    pub(super) fn promote(&mut self, term: Term) -> Checked<Term> {
        let ty = self.promoted(&term);
        self.convert(term, &ty)
    }

    /// The promoted type of a value: a bit-field that fits into `int` becomes one.
    fn promoted(&self, term: &Term) -> CType {
        if let TermKind::Load(place) = &term.kind {
            if let (TermKind::Field(base, field), CType::Int { .. }) = (&place.kind, &term.ty) {
                if let CType::Record(id) = base.ty {
                    let bits = self.tree.types.record(id).fields[*field].bits;
                    if bits.is_some_and(|bits| bits.width < 32 || (bits.width == 32 && term.ty.is_signed())) {
                        return CType::INT;
                    }
                }
            }
        }
        term.ty.promoted()
    }

    /// Both values after the usual arithmetic conversions.
    pub(super) fn balance(&mut self, left: Term, right: Term) -> Checked<(Term, Term, CType)> {
        let (a, b) = (self.promoted(&left), self.promoted(&right));
        let ty = CType::common(&a, &b);
        let (left, right) = (self.convert(left, &a)?, self.convert(right, &b)?);
        Ok((self.convert(left, &ty)?, self.convert(right, &ty)?, ty))
    }

    /// An operation on two values of one type; the result of a comparison is `int`.
    pub(super) fn operation(
        &mut self,
        op: BinaryOp,
        left: Term,
        right: Term,
        ty: CType,
        span: wherefore_program::Span,
    ) -> Term {
        let width = self.tree.types.scalar(&ty);
        if let (TermKind::Real(a), TermKind::Real(b)) = (&left.kind, &right.kind) {
            if let Some(folded) = fold_reals(op, *a, *b, matches!(left.ty, CType::Float(4 | 8))) {
                let ty = if op.is_test() { CType::INT } else { ty };
                return Term::new(folded, ty, span);
            }
        }
        let constants = left.constant().zip(right.constant()).filter(|_| !ty.is_float());
        let (left, right) = (Box::new(left), Box::new(right));
        if op.is_test() {
            let kind = match constants {
                Some((a, b)) => TermKind::Constant(binary(op, a, b, width)),
                None => TermKind::Compare(op, left, right),
            };
            return Term::new(kind, CType::INT, span);
        }
        let divides = matches!(op, BinaryOp::UDiv | BinaryOp::SDiv | BinaryOp::URem | BinaryOp::SRem);
        let kind = match constants {
            Some((a, b)) if !divides || b != 0 => TermKind::Constant(binary(op, a, b, width)),
            _ if divides && !ty.is_float() => TermKind::Divide(op, left, right),
            _ => TermKind::Arithmetic(op, left, right),
        };
        Term::new(kind, ty, span)
    }
}

fn fold_reals(op: BinaryOp, a: f64, b: f64, float: bool) -> Option<TermKind> {
    let test = |holds: bool| Some(TermKind::Constant(u64::from(holds)));
    match op {
        _ if !float => None,
        BinaryOp::Eq => test(a == b),
        BinaryOp::Ne => test(a != b),
        BinaryOp::ULt | BinaryOp::SLt => test(a < b),
        BinaryOp::ULe | BinaryOp::SLe => test(a <= b),
        _ => None,
    }
}
