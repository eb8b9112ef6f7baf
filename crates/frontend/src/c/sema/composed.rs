//! Values of several scalars: how they are taken apart and put together, and which operators there
//! are for them.
//!
//! Operators become operations on scalars. An operand that is needed more than once gets an object
//! of its own, unless reading it again does no harm.

use lang_c::ast::BinaryOperator as B;
use wherefore_program::Span;

use super::Sema;
use crate::c::ctype::CType;
use crate::c::problem::{Checked, Problem};
use crate::c::tree::{Term, TermKind, Yields};

/// The steps in front of a value, and its scalars.
pub(super) type Scalars = (Vec<Term>, Vec<Term>);

/// Whether an operation may take its operands in the other order, as gcc does it behind a variable.
fn swaps(op: &B) -> bool {
    use B::*;
    matches!(op, Plus | Multiply | BitwiseAnd | BitwiseOr | BitwiseXor)
        || matches!(op, Less | Greater | LessOrEqual | GreaterOrEqual | Equals | NotEquals)
}

/// Whether a value is so small, and without effects, that it may be written twice.
pub(super) fn is_plain(term: &Term) -> bool {
    fn weight(term: &Term) -> usize {
        1 + term.children().into_iter().map(weight).sum::<usize>()
    }
    !term.has_effects() && weight(term) <= 8
}

/// Whether a value is a variable, or the scalars of one.
fn is_bare(term: &Term) -> bool {
    match &term.kind {
        TermKind::Load(place) => matches!(place.kind, TermKind::Object(_)),
        TermKind::Convert(inner) | TermKind::Shift(_, inner, _) => is_bare(inner),
        TermKind::Compose(parts) => parts.iter().all(|part| part.constant().is_some() || is_bare(part)),
        _ => false,
    }
}

/// A value behind some steps.
pub(super) fn behind(mut steps: Vec<Term>, value: Term) -> Term {
    if steps.is_empty() {
        return value;
    }
    let (ty, span) = (value.ty.clone(), value.span);
    steps.push(value);
    Term::new(TermKind::Comma(steps), ty, span)
}

impl Sema<'_> {
    /// How many scalars a value of the type has.
    fn part_count(&self, ty: &CType) -> usize {
        match ty {
            _ if self.tree.types.vector(ty).is_some() => {
                self.tree.types.vector(ty).map_or(0, |(_, count)| count as usize)
            }
            CType::Record(id) => self.tree.types.record(*id).fields.len(),
            _ => 0,
        }
    }

    /// A scalar of a place.
    fn part_of(&mut self, place: &Term, at: usize) -> Term {
        let part = match self.tree.types.vector(&place.ty) {
            Some(_) => self.element_place(place.clone(), at as u64),
            None => self.member_of(place.clone(), at),
        };
        self.rvalue(part)
    }

    /// A member of a structure by its position.
    pub(super) fn member_of(&self, place: Term, at: usize) -> Term {
        let CType::Record(id) = place.ty else { return place };
        let (ty, span) = (self.tree.types.record(id).fields[at].ty.clone(), place.span);
        Term::new(TermKind::Field(Box::new(place), at), ty, span)
    }

    /// A value that may be used more than once, and the steps in front of it.
    pub(super) fn reusable(&mut self, value: Term) -> (Vec<Term>, Term) {
        if is_plain(&value) { (Vec::new(), value) } else { self.held(value) }
    }

    /// The scalars of a value, which may be used more than once.
    pub(super) fn scalars(&mut self, value: Term) -> Scalars {
        let span = value.span;
        let count = self.part_count(&value.ty);
        match value.kind {
            TermKind::Comma(mut terms) if !terms.is_empty() => {
                let last = terms.pop().unwrap_or_else(|| Term::new(TermKind::Old, CType::Void, span));
                let (more, parts) = self.scalars(last);
                terms.extend(more);
                (terms, parts)
            }
            TermKind::Compose(parts) if parts.iter().all(is_plain) => (Vec::new(), parts),
            TermKind::Load(place) if is_plain(&place) => {
                (Vec::new(), (0..count).map(|at| self.part_of(&place, at)).collect())
            }
            kind => self.held_scalars(Term { kind, ty: value.ty, span }),
        }
    }

    /// The same of a value that nothing changes that comes later.
    pub(super) fn held_scalars(&mut self, value: Term) -> Scalars {
        if let TermKind::Compose(parts) = &value.kind {
            if parts.iter().all(|part| part.constant().is_some()) {
                return (Vec::new(), parts.clone());
            }
        }
        let count = self.part_count(&value.ty);
        let (steps, held) = self.held(value);
        let TermKind::Load(place) = held.kind else { return (steps, Vec::new()) };
        (steps, (0..count).map(|at| self.part_of(&place, at)).collect())
    }

    /// The scalars of two operands, and the steps in front of both.
    pub(super) fn scalars_of_both(
        &mut self,
        op: &B,
        left: Term,
        right: Term,
    ) -> (Vec<Term>, Vec<Term>, Vec<Term>) {
        if !right.has_effects() {
            let (mut steps, left) = self.scalars(left);
            let (more, right) = self.scalars(right);
            steps.extend(more);
            return (steps, left, right);
        }
        if swaps(op) && is_bare(&left) {
            let (mut steps, right) = self.scalars(right);
            let (more, left) = self.scalars(left);
            steps.extend(more);
            return (steps, left, right);
        }
        let (mut steps, left) = self.held_scalars(left);
        let (more, right) = self.scalars(right);
        steps.extend(more);
        (steps, left, right)
    }

    /// A value from its scalars.
    pub(super) fn compose(&mut self, steps: Vec<Term>, parts: Vec<Term>, ty: &CType, span: Span) -> Term {
        behind(steps, Term::new(TermKind::Compose(parts), ty.clone(), span))
    }

    /// A value of one of these types, or of another one in one of these types.
    pub(super) fn convert_composed(&mut self, term: Term, ty: &CType) -> Checked<Term> {
        let types = &self.tree.types;
        if types.vector(&term.ty).is_some() || types.vector(ty).is_some() {
            return self.convert_vector(term, ty);
        }
        let are_numbers = types.is_number(&term.ty) && types.is_number(ty);
        if are_numbers && (types.complex(&term.ty).is_some() || types.complex(ty).is_some()) {
            return self.convert_complex(term, ty);
        }
        let (from, to) = (types.wide(&term.ty), types.wide(ty));
        let is_fine = |ty: &CType| types.is_number(ty) || ty.is_pointer();
        if (from, to) != (None, None) && is_fine(&term.ty) && is_fine(ty) {
            return self.convert_wide(term, ty);
        }
        let message = format!("`{}` cannot be converted to `{}`", types.show(&term.ty), types.show(ty));
        Err(Problem::new(term.span, message))
    }

    /// `-` or `~`.
    pub(super) fn composed_unary(&mut self, complement: bool, value: Term, span: Span) -> Checked<Term> {
        let types = &self.tree.types;
        match (types.vector(&value.ty).is_some(), types.complex(&value.ty).is_some()) {
            (true, _) => self.vector_unary(complement, value, span),
            (_, true) => self.complex_unary(complement, value, span),
            _ if types.wide(&value.ty).is_some() => self.wide_unary(complement, value, span),
            _ => Err(Problem::new(span, "a number is expected")),
        }
    }

    /// The value of `left op right`, where one of them is of such a type.
    pub(super) fn combine_composed(&mut self, op: &B, left: Term, right: Term, span: Span) -> Checked<Term> {
        if [&left, &right].iter().any(|operand| self.tree.types.vector(&operand.ty).is_some()) {
            return self.vector_operation(op, left, right, span);
        }
        for operand in [&left, &right] {
            if !self.tree.types.is_number(&operand.ty) {
                let message = format!("a number is expected, not `{}`", self.tree.types.show(&operand.ty));
                return Err(Problem::new(operand.span, message));
            }
        }
        if [&left, &right].iter().any(|operand| self.tree.types.complex(&operand.ty).is_some()) {
            return self.complex_operation(op, left, right, span);
        }
        if matches!(op, B::ShiftLeft | B::ShiftRight) {
            return self.wide_shift(op, left, right, span);
        }
        let (left, right, ty) = self.balance(left, right)?;
        match self.tree.types.wide(&ty) {
            Some(signed) => self.wide_operation(op, left, right, signed, span),
            None => self.combine(op, left, right, span),
        }
    }

    /// The type of both operands.
    pub(super) fn common(&mut self, a: &CType, b: &CType) -> CType {
        if let Some(ty) = self.common_complex(a, b) {
            return ty;
        }
        match (self.tree.types.wide(a), self.tree.types.wide(b)) {
            (None, None) => CType::common(a, b),
            _ if a.is_float() => a.clone(),
            _ if b.is_float() => b.clone(),
            (a, b) => self.tree.types.wide_type(a.unwrap_or(true) && b.unwrap_or(true)),
        }
    }

    /// A place gets a new value from its old one.
    pub(super) fn update_composed(
        &mut self,
        place: Term,
        op: B,
        value: Term,
        yields: Yields,
        span: Span,
    ) -> Checked<Term> {
        if self.is_section(&place) || self.bit_field(&place).is_some() {
            return Err(Problem::unsupported(span, "this operation on a value of several scalars is"));
        }
        let ty = place.ty.clone();
        // What is added comes before the place to which it is added.
        let (mut steps, value) = if value.has_effects() { self.held(value) } else { (Vec::new(), value) };
        let mut place = place;
        if place.has_effects() {
            let pointer = ty.clone().pointer_to();
            let address = self.address(place, pointer);
            let (more, address) = self.held(address);
            steps.extend(more);
            place = self.deref(address)?;
        }
        let mut old = self.rvalue(place.clone());
        if yields == Yields::Old {
            let (more, held) = self.held(old);
            steps.extend(more);
            old = held;
        }
        let result = self.combine(&op, old.clone(), value, span)?;
        let result = self.convert(result, &ty)?;
        let assign = TermKind::Assign(Box::new(place), Box::new(result));
        let assign = Term::new(assign, ty, span);
        if yields == Yields::New {
            return Ok(behind(steps, assign));
        }
        steps.push(assign);
        Ok(behind(steps, old))
    }
}
