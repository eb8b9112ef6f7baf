//! Vectors: every operation is one on each element.

use lang_c::ast::{BinaryOperator as B, Expression};
use lang_c::span::Node;
use wherefore_program::{BinaryOp, Span, UnaryOp};

use super::Sema;
use super::composed::behind;
use crate::c::ctype::CType;
use crate::c::problem::{Checked, Problem};
use crate::c::tree::{Initial, InitialItem, Step, Term, TermKind};

/// The steps in front of two operands, and the elements of both.
type Elements = (Vec<Term>, Vec<Term>, Vec<Term>);

impl Sema<'_> {
    /// The place of an element of a vector.
    pub(super) fn element_place(&mut self, place: Term, at: u64) -> Term {
        let (ty, span) = (self.tree.types.long(true), place.span);
        let index = Term::new(TermKind::Constant(at), ty, span);
        let array = self.member_of(place.clone(), 0);
        let pointer = self.rvalue(array);
        let element = self.offset(BinaryOp::Add, pointer, index, span);
        element.and_then(|pointer| self.deref(pointer)).unwrap_or(place)
    }

    /// `vector[index]`: a place if the vector is one.
    pub(super) fn vector_element(&mut self, vector: Term, index: Term, span: Span) -> Checked<Term> {
        let vector = if vector.is_place() { vector } else { self.materialise(vector) };
        let array = self.member_of(vector, 0);
        let pointer = self.rvalue(array);
        let moved = self.offset(BinaryOp::Add, pointer, index, span)?;
        self.deref(moved)
    }

    /// A value of the same size as another type: another vector, or an integer.
    pub(super) fn convert_vector(&mut self, term: Term, ty: &CType) -> Checked<Term> {
        let (from, to) = (self.tree.types.vector(&term.ty), self.tree.types.vector(ty));
        if let (Some((a, n)), Some((b, m))) = (&from, &to) {
            let sizes = (self.tree.types.size(a), self.tree.types.size(b));
            if n == m && sizes.0 == sizes.1 && a.is_integer() && b.is_integer() {
                return self.convert_elements(term, ty);
            }
        }
        let is_fine = |types: &crate::c::ctype::Types, ty: &CType| {
            ty.is_integer() || types.wide(ty).is_some() || types.vector(ty).is_some()
        };
        let types = &self.tree.types;
        let same_size = types.size(&term.ty) == types.size(ty);
        if !same_size || !is_fine(types, &term.ty) || !is_fine(types, ty) {
            let message = format!("`{}` cannot be converted to `{}`", types.show(&term.ty), types.show(ty));
            return Err(Problem::new(term.span, message));
        }
        if self.function.is_none() {
            return Err(Problem::unsupported(
                term.span,
                "the bits of another vector as an initial value are",
            ));
        }
        // The bytes are read as another type: through a union.
        let span = term.span;
        let either = self.tree.types.either_type(&term.ty, ty);
        let object = self.automatic("literal", either.clone(), span);
        self.tree.objects[object.0 as usize].role = crate::c::tree::Role::Literal;
        let items = vec![InitialItem { path: vec![Step::Field(0)], value: term }];
        let initial = Box::new(Initial { items, span });
        let literal = Term::new(TermKind::Literal(object, initial), either, span);
        let other = self.member_of(literal, 1);
        Ok(self.rvalue(other))
    }

    /// Every element converted to those of another vector.
    pub(super) fn convert_elements(&mut self, value: Term, ty: &CType) -> Checked<Term> {
        let span = value.span;
        let lengths = (self.tree.types.vector(&value.ty), self.tree.types.vector(ty));
        let (Some((_, n)), Some((element, m))) = lengths else {
            return Err(Problem::new(span, "a vector is expected"));
        };
        if n != m {
            return Err(Problem::new(span, "vectors of different lengths"));
        }
        let (steps, parts) = self.scalars(value);
        let mut converted = Vec::new();
        for part in parts {
            converted.push(self.convert(part, &element)?);
        }
        Ok(self.compose(steps, converted, ty, span))
    }

    /// `-` or `~` of every element.
    pub(super) fn vector_unary(&mut self, complement: bool, value: Term, span: Span) -> Checked<Term> {
        let ty = value.ty.clone();
        let (steps, parts) = self.scalars(value);
        let mut results = Vec::new();
        for part in parts {
            results.push(self.negated_part(complement, part, span)?);
        }
        Ok(self.compose(steps, results, &ty, span))
    }

    /// `-` or `~` of a scalar, in its own type.
    pub(super) fn negated_part(&mut self, complement: bool, part: Term, span: Span) -> Checked<Term> {
        let ty = part.ty.clone();
        match (complement, ty.is_float()) {
            (false, true) => match part.kind {
                TermKind::Real(value) => Ok(Term::new(TermKind::Real(value.map(|value| -value)), ty, span)),
                _ => Ok(Term::new(TermKind::Unary(UnaryOp::Neg, Box::new(part)), ty, span)),
            },
            (true, true) => Err(Problem::new(span, "an operation on the bits of a floating-point number")),
            (complement, false) => {
                let number = |value| Term::new(TermKind::Constant(value), CType::INT, span);
                let result = match complement {
                    true => {
                        let ones = number(0xffff_ffff);
                        self.combine(&B::BitwiseXor, part, ones, span)?
                    }
                    false => self.combine(&B::Minus, number(0), part, span)?,
                };
                self.convert(result, &ty)
            }
        }
    }

    /// The elements of both operands; a scalar stands for as many of its kind.
    fn elements_of_both(&mut self, op: &B, left: Term, right: Term, element: &CType) -> Checked<Elements> {
        let vectors = (self.tree.types.vector(&left.ty), self.tree.types.vector(&right.ty));
        match vectors {
            (Some((a, n)), Some((b, m))) => {
                if n != m || self.tree.types.size(&a) != self.tree.types.size(&b) {
                    return Err(Problem::new(left.span, "vectors of different types"));
                }
                Ok(self.scalars_of_both(op, left, right))
            }
            (Some((_, count)), None) => {
                let (mut steps, left) =
                    if right.has_effects() { self.held_scalars(left) } else { self.scalars(left) };
                let right = self.convert(right, element)?;
                let (more, right) = self.reusable(right);
                steps.extend(more);
                Ok((steps, left, vec![right; count as usize]))
            }
            (_, other) => {
                let count = other.map_or(0, |(_, count)| count as usize);
                let left = self.convert(left, element)?;
                let (mut steps, left) =
                    if right.has_effects() { self.held(left) } else { self.reusable(left) };
                let (more, right) = self.scalars(right);
                steps.extend(more);
                Ok((steps, vec![left; count], right))
            }
        }
    }

    /// An operation on the elements of two vectors, or of one and a number.
    pub(super) fn vector_operation(&mut self, op: &B, left: Term, right: Term, span: Span) -> Checked<Term> {
        let ty = if self.tree.types.vector(&left.ty).is_some() { left.ty.clone() } else { right.ty.clone() };
        let Some((element, count)) = self.tree.types.vector(&ty) else {
            return Err(Problem::new(span, "a vector is expected"));
        };
        let (steps, a, b) = self.elements_of_both(op, left, right, &element)?;
        let is_test = matches!(
            op,
            B::Less | B::Greater | B::LessOrEqual | B::GreaterOrEqual | B::Equals | B::NotEquals
        );
        let bits = self.tree.types.size(&element).unwrap_or(0) as u32 * 8;
        if is_test && bits > 64 {
            return Err(Problem::unsupported(span, "a comparison of these vectors is"));
        }
        let truth = CType::Int { bits, signed: true };
        let mut results = Vec::new();
        for (a, b) in a.into_iter().zip(b) {
            results.push(if is_test {
                let holds = self.combine(op, a, b, span)?;
                let number = |value| Term::new(TermKind::Constant(value), truth.clone(), span);
                let ones = wherefore_program::Scalar::Bits(bits).max();
                let chosen = self.conditional(holds, number(ones), number(0), span)?;
                self.convert(chosen, &truth)?
            } else if matches!(op, B::ShiftLeft | B::ShiftRight) {
                self.shifted_element(op, a, b, &element, span)?
            } else {
                let b = self.convert(b, &element)?;
                let result = self.combine(op, a, b, span)?;
                self.convert(result, &element)?
            });
        }
        let ty = if is_test { self.tree.types.vector_type(&truth, count) } else { ty };
        Ok(self.compose(steps, results, &ty, span))
    }

    /// An element shifted in its own width: nothing is promoted.
    fn shifted_element(&mut self, op: &B, a: Term, b: Term, element: &CType, span: Span) -> Checked<Term> {
        if !a.ty.is_integer() || !b.ty.is_integer() {
            return Err(Problem::new(span, "a floating-point number cannot be shifted"));
        }
        let op = match op {
            B::ShiftLeft => BinaryOp::Shl,
            _ if element.is_signed() => BinaryOp::AShr,
            _ => BinaryOp::LShr,
        };
        Ok(Term::new(TermKind::Shift(op, Box::new(a), Box::new(b)), element.clone(), span))
    }

    /// `__builtin_shuffle`: elements of one or two vectors, chosen by those of the last one, of
    /// which as many bits count as are needed.
    pub(super) fn shuffle(&mut self, arguments: &[Node<Expression>], span: Span) -> Checked<Term> {
        let (mut steps, mut values) = (Vec::new(), Vec::new());
        for argument in arguments {
            let value = self.value(argument)?;
            let (more, value) = self.held(value);
            steps.extend(more);
            values.push(value);
        }
        let mask = values.pop().map_or_else(|| Err(Problem::new(span, "a vector is expected")), Ok)?;
        let ty = values[0].ty.clone();
        let lengths = (self.tree.types.vector(&ty), self.tree.types.vector(&mask.ty));
        let (Some((_, n)), Some((index, m))) = lengths else {
            return Err(Problem::new(span, "a vector is expected"));
        };
        let is_fine = n == m && n.is_power_of_two() && index.is_integer();
        if !is_fine || values.iter().any(|value| value.ty != ty) {
            return Err(Problem::new(span, "these vectors cannot be shuffled"));
        }
        let (_, places) = self.scalars(mask);
        let unsigned = CType::Int { bits: 64, signed: false };
        let mut results = Vec::new();
        for place in places {
            let place = self.convert(place, &unsigned)?;
            let number = |value| Term::new(TermKind::Constant(value), unsigned.clone(), span);
            let at = self.combine(&B::BitwiseAnd, place.clone(), number(n - 1), span)?;
            let mut chosen = Vec::new();
            for value in &values {
                let TermKind::Load(whole) = &value.kind else {
                    return Err(Problem::unsupported(span, "this shuffle is"));
                };
                let element = self.vector_element((**whole).clone(), at.clone(), span)?;
                chosen.push(self.rvalue(element));
            }
            results.push(match chosen.as_slice() {
                [first, second] => {
                    let other = self.combine(&B::BitwiseAnd, place, number(n), span)?;
                    self.conditional(other, second.clone(), first.clone(), span)?
                }
                _ => chosen.remove(0),
            });
        }
        Ok(self.compose(steps, results, &ty, span))
    }

    /// `__builtin_shufflevector`: the places are constants.
    pub(super) fn shuffle_by_constants(
        &mut self,
        arguments: &[Node<Expression>],
        span: Span,
    ) -> Checked<Term> {
        let (first, second) = (self.value(&arguments[0])?, self.value(&arguments[1])?);
        let element = self.tree.types.vector(&first.ty).map(|(element, _)| element);
        let (mut steps, mut all) = self.held_scalars(first);
        let (more, others) = self.held_scalars(second);
        steps.extend(more);
        all.extend(others);
        let mut results = Vec::new();
        for argument in &arguments[2..] {
            let at = self.integer_constant(argument)?;
            let Some(part) = usize::try_from(at).ok().and_then(|at| all.get(at)) else {
                return Err(Problem::unsupported(span, "a shuffle that leaves elements open is"));
            };
            results.push(part.clone());
        }
        let Some(element) = element.filter(|element| results.iter().all(|part| part.ty == *element)) else {
            return Err(Problem::new(span, "a vector is expected"));
        };
        let ty = self.tree.types.vector_type(&element, results.len() as u64);
        let value = Term::new(TermKind::Compose(results), ty, span);
        Ok(behind(steps, value))
    }
}
