//! Conversions between types, and constants folded on the way.

use wherefore_program::{BinaryOp, Scalar, binary};

use super::Sema;
use super::reals;
use super::specifiers::sign_extended;
use crate::c::ctype::{BitField, CType};
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
                let bits = self.bit_field(&term);
                let is_section = self.is_section(&term);
                let read = narrowed(Term::new(TermKind::Load(Box::new(term)), ty, span), bits);
                if is_section { self.atomically(read) } else { read }
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
            // An array inside of another one stays a place, so that indices are seen as such.
            TermKind::Deref(pointer) if !matches!(place.ty, CType::Array(..)) => Term { ty, ..*pointer },
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
            // A pointer to a function, a function and what the pointer points to are all called
            // alike.
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
        if *ty != CType::Void
            && (self.tree.types.composed(&term.ty).is_some() || self.tree.types.composed(ty).is_some())
        {
            return self.convert_composed(term, ty);
        }
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
            (TermKind::Constant(value), CType::Float(size)) => {
                let signed = term.ty.is_signed();
                let value = if signed { sign_extended(*value, self.bits(&term.ty)) } else { *value };
                TermKind::Real(reals::from_integer(value, signed, *size))
            }
            (TermKind::Constant(value), CType::Bool) => TermKind::Constant(u64::from(*value != 0)),
            (TermKind::Constant(value), _) => TermKind::Constant(self.constant_as(*value, &term.ty, ty)),
            (TermKind::Real(value), CType::Float(to)) => {
                let CType::Float(from) = term.ty else { unreachable!("a real constant has such a type") };
                TermKind::Real(value.and_then(|value| reals::between(value, from, *to)))
            }
            (TermKind::Real(Some(value)), CType::Bool) => TermKind::Constant(u64::from(*value != 0.0)),
            (TermKind::Real(Some(value)), CType::Int { bits, signed }) => {
                match reals::to_integer(*value, *bits, *signed) {
                    Some(value) => TermKind::Constant(value),
                    None => TermKind::Convert(Box::new(term)),
                }
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
        let ty = term.ty.promoted();
        self.convert(term, &ty)
    }

    /// Both values after the usual arithmetic conversions.
    pub(super) fn balance(&mut self, left: Term, right: Term) -> Checked<(Term, Term, CType)> {
        let (a, b) = (left.ty.promoted(), right.ty.promoted());
        let ty = self.common(&a, &b);
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
        if let (TermKind::Real(Some(a)), TermKind::Real(Some(b))) = (&left.kind, &right.kind) {
            if let Some(folded) = reals::compare(op, *a, *b, &left.ty) {
                return Term::new(folded, CType::INT, span);
            }
        }
        let stays = |(a, b): &(u64, u64)| {
            self.tree.types.kept.arithmetic && ty.is_signed() && !fits(op, (*a, *b), width.width())
        };
        let constants = left.constant().zip(right.constant());
        let constants = constants.filter(|values| !ty.is_float() && !stays(values));
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

/// The value of a bit-field: gcc gives it a type of just its width, so that one that fits into
/// `int` becomes one.
pub(super) fn narrowed(value: Term, field: Option<BitField>) -> Term {
    match (field, &value.ty) {
        (Some(field), CType::Int { bits, signed }) if field.width < *bits => {
            let (ty, span) = (CType::Int { bits: field.width, signed: *signed }, value.span);
            Term::new(TermKind::Convert(Box::new(value)), ty, span)
        }
        _ => value,
    }
}

/// Whether the result of a signed operation fits into its type.
pub(super) fn fits(op: BinaryOp, (a, b): (u64, u64), bits: u32) -> bool {
    let (a, b) = (sign_extended(a, bits) as i64, sign_extended(b, bits) as i64);
    let (a, b) = (i128::from(a), i128::from(b));
    let result = match op {
        BinaryOp::Add => a + b,
        BinaryOp::Sub => a - b,
        BinaryOp::Mul => a * b,
        BinaryOp::SDiv | BinaryOp::SRem if b == -1 => -a,
        BinaryOp::Shl if a < 0 || b >= i128::from(bits) => return false,
        BinaryOp::Shl => a << b,
        _ => return true,
    };
    let most = i128::from(i64::MAX >> (64 - bits));
    (-most - 1..=most).contains(&result)
}
