//! Complex numbers: a real and an imaginary part.
//!
//! Sums, products and comparisons are those of gcc; where one operand is real, its imaginary part
//! is not there, rather than zero. Quotients of floating-point numbers are approximated: how they
//! are rounded depends on the library of the compiler.

use lang_c::ast::{BinaryOperator as B, Expression, UnaryOperator as U};
use lang_c::span::Node;
use wherefore_program::Span;

use super::Sema;
use super::composed::behind;
use crate::c::ctype::CType;
use crate::c::problem::{Checked, Problem};
use crate::c::tree::{Term, TermKind};

/// The operand of `__real__` (0) or `__imag__` (1) in the rewritten text; given is that of
/// the first `*`.
pub(super) fn complex_part(operand: &Node<Expression>) -> Option<(&Node<Expression>, usize)> {
    let unary = |node: &Node<Expression>| match &node.node {
        Expression::UnaryOperator(unary) => Some(unary.node.operator.node.clone()),
        _ => None,
    };
    fn inner(node: &Node<Expression>) -> Option<&Node<Expression>> {
        match &node.node {
            Expression::UnaryOperator(unary) => Some(&unary.node.operand),
            _ => None,
        }
    }
    let at = match unary(operand)? {
        U::Plus => 0,
        U::Minus => 1,
        _ => return None,
    };
    let negated = inner(operand).filter(|node| unary(node) == Some(U::Negate))?;
    let complement = inner(negated).filter(|node| unary(node) == Some(U::Complement))?;
    Some((inner(complement)?, at))
}

impl Sema<'_> {
    /// A constant as the imaginary part of a number.
    pub(super) fn imaginary(&mut self, value: Term) -> Term {
        let (part, span) = (value.ty.clone(), value.span);
        let ty = self.tree.types.complex_type(&part);
        let zero = self.zero_of(&part, span);
        self.compose(Vec::new(), vec![zero, value], &ty, span)
    }

    fn zero_of(&self, ty: &CType, span: Span) -> Term {
        let kind = if ty.is_float() { TermKind::Real(Some(0.0)) } else { TermKind::Constant(0) };
        Term::new(kind, ty.clone(), span)
    }

    /// `__real__` or `__imag__`: a place if the number is one.
    pub(super) fn complex_part(&mut self, node: &Node<Expression>, at: usize, span: Span) -> Checked<Term> {
        let term = self.term(node)?;
        let is_complex = self.tree.types.complex(&term.ty).is_some();
        if is_complex && term.is_place() {
            return Ok(Term { span, ..self.member_of(term, at) });
        }
        if is_complex {
            let (steps, mut parts) = self.scalars(term);
            return Ok(behind(steps, parts.swap_remove(at)));
        }
        if !term.ty.is_arithmetic() {
            return Err(Problem::new(span, "a number is expected"));
        }
        if at == 0 {
            return Ok(term);
        }
        let zero = self.zero_of(&term.ty.clone(), span);
        let value = self.rvalue(term);
        let steps = if value.has_effects() { vec![self.convert(value, &CType::Void)?] } else { Vec::new() };
        Ok(behind(steps, zero))
    }

    /// A number from its parts.
    pub(super) fn complex_of(&mut self, real: Term, imaginary: Term, span: Span) -> Checked<Term> {
        let part = self.common_part(&real.ty, &imaginary.ty);
        if !part.is_float() {
            return Err(Problem::new(span, "two floating-point numbers are expected"));
        }
        let ty = self.tree.types.complex_type(&part);
        let parts = vec![self.convert(real, &part)?, self.convert(imaginary, &part)?];
        Ok(self.compose(Vec::new(), parts, &ty, span))
    }

    /// Whether one of the parts is not zero.
    pub(super) fn complex_truth(&mut self, value: Term) -> Checked<Term> {
        let span = value.span;
        let zero = Term::new(TermKind::Constant(0), CType::INT, span);
        self.complex_operation(&B::NotEquals, value, zero, span)
    }

    /// The type of the parts of both: nothing is promoted.
    fn common_part(&self, a: &CType, b: &CType) -> CType {
        match (a, b) {
            _ if a == b => a.clone(),
            (CType::Int { bits: x, signed: s }, CType::Int { bits: y, signed: t }) => {
                let signed = match x.cmp(y) {
                    std::cmp::Ordering::Less => *t,
                    std::cmp::Ordering::Equal => *s && *t,
                    std::cmp::Ordering::Greater => *s,
                };
                CType::Int { bits: *x.max(y), signed }
            }
            _ => CType::common(a, b),
        }
    }

    /// The type of both operands, if one of them is complex.
    pub(super) fn common_complex(&mut self, a: &CType, b: &CType) -> Option<CType> {
        let parts = (self.tree.types.complex(a), self.tree.types.complex(b));
        if parts == (None, None) {
            return None;
        }
        let (one, other) = (parts.0.unwrap_or_else(|| a.promoted()), parts.1.unwrap_or_else(|| b.promoted()));
        let part = if other.is_arithmetic() { self.common_part(&one, &other) } else { one };
        Some(self.tree.types.complex_type(&part))
    }

    pub(super) fn convert_complex(&mut self, term: Term, ty: &CType) -> Checked<Term> {
        let span = term.span;
        let Some(to) = self.tree.types.complex(ty) else {
            if *ty == CType::Bool {
                let truth = self.complex_truth(term)?;
                return self.convert(truth, ty);
            }
            let (steps, mut parts) = self.scalars(term);
            let real = self.convert(parts.swap_remove(0), ty)?;
            return Ok(behind(steps, real));
        };
        if self.tree.types.complex(&term.ty).is_none() {
            let real = self.convert(term, &to)?;
            let zero = self.zero_of(&to, span);
            return Ok(self.compose(Vec::new(), vec![real, zero], ty, span));
        }
        let (steps, parts) = self.scalars(term);
        let mut converted = Vec::new();
        for part in parts {
            converted.push(self.convert(part, &to)?);
        }
        Ok(self.compose(steps, converted, ty, span))
    }

    /// `-`, or `~` for the number with the other imaginary part.
    pub(super) fn complex_unary(&mut self, conjugate: bool, value: Term, span: Span) -> Checked<Term> {
        let ty = value.ty.clone();
        let (steps, mut parts) = self.scalars(value);
        let imaginary = self.negated_part(false, parts.swap_remove(1), span)?;
        let real = parts.swap_remove(0);
        let real = if conjugate { real } else { self.negated_part(false, real, span)? };
        Ok(self.compose(steps, vec![real, imaginary], &ty, span))
    }

    /// The parts of an operand: a real one has only one.
    fn complex_parts(&mut self, value: Term, part: &CType, hold: bool) -> Checked<(Vec<Term>, Vec<Term>)> {
        if self.tree.types.complex(&value.ty).is_none() {
            let real = self.convert(value, part)?;
            let (steps, real) = if hold { self.held(real) } else { self.reusable(real) };
            return Ok((steps, vec![real]));
        }
        let ty = self.tree.types.complex_type(part);
        let value = self.convert(value, &ty)?;
        Ok(if hold { self.held_scalars(value) } else { self.scalars(value) })
    }

    /// An operation on complex numbers, or on one and a real number.
    pub(super) fn complex_operation(&mut self, op: &B, left: Term, right: Term, span: Span) -> Checked<Term> {
        let ty = self.common(&left.ty.promoted(), &right.ty.promoted());
        let Some(part) = self.tree.types.complex(&ty) else {
            return Err(Problem::new(span, "a complex number is expected"));
        };
        let hold = right.has_effects();
        let (mut steps, a) = self.complex_parts(left, &part, hold)?;
        let (more, b) = self.complex_parts(right, &part, false)?;
        steps.extend(more);
        let zero = self.zero_of(&part, span);
        let both = |parts: &[Term]| {
            let imaginary = parts.get(1).cloned().unwrap_or_else(|| zero.clone());
            (parts[0].clone(), imaginary)
        };
        // Where there is no imaginary part, integers have one that is zero.
        let is_mixed = a.len() != b.len() && part.is_float();
        let ((x, u), (y, v)) = (both(&a), both(&b));
        let parts = match op {
            B::Equals | B::NotEquals => {
                let real = self.combine(op, x, y, span)?;
                let imaginary = self.combine(op, u, v, span)?;
                let (real, imaginary) = (Box::new(real), Box::new(imaginary));
                let kind = match op {
                    B::Equals => TermKind::And(real, imaginary),
                    _ => TermKind::Or(real, imaginary),
                };
                return Ok(behind(steps, Term::new(kind, CType::INT, span)));
            }
            B::Plus | B::Minus => {
                let real = self.combine(op, x, y, span)?;
                let imaginary = match (is_mixed, a.len()) {
                    (true, 2) => u,
                    (true, _) if matches!(op, B::Plus) => v,
                    (true, _) => self.negated_part(false, v, span)?,
                    _ => self.combine(op, u, v, span)?,
                };
                vec![real, imaginary]
            }
            B::Multiply if is_mixed && a.len() == 1 => {
                vec![self.combine(op, x.clone(), y, span)?, self.combine(op, x, v, span)?]
            }
            B::Multiply | B::Divide if is_mixed && a.len() == 2 => {
                vec![self.combine(op, x, y.clone(), span)?, self.combine(op, u, y, span)?]
            }
            B::Multiply if matches!(part, CType::Float(4 | 8)) => {
                let name = match part {
                    CType::Float(4) => "__builtin_own_complex_mulf",
                    _ => "__builtin_own_complex_mul",
                };
                let call = self.library_call(name, ty, vec![part; 4], vec![x, u, y, v], span);
                return Ok(behind(steps, call));
            }
            B::Multiply => {
                let (xy, uv) = (
                    self.combine(op, x.clone(), y.clone(), span)?,
                    self.combine(op, u.clone(), v.clone(), span)?,
                );
                let (xv, uy) = (self.combine(op, x, v, span)?, self.combine(op, u, y, span)?);
                let real = self.combine(&B::Minus, xy, uv, span)?;
                vec![real, self.combine(&B::Plus, xv, uy, span)?]
            }
            B::Divide if part.is_float() => {
                // Any numbers, as one of a type that is not followed gives them.
                let open = Term::new(TermKind::Real(None), CType::Float(self.long_double()), span);
                let any = Term::new(TermKind::Convert(Box::new(open)), part.clone(), span);
                vec![any.clone(), any]
            }
            B::Divide => return Err(Problem::unsupported(span, "a division of complex integers is")),
            _ => return Err(Problem::new(span, "there is no such operation on complex numbers")),
        };
        let mut converted = Vec::new();
        for result in parts {
            converted.push(self.convert(result, &part)?);
        }
        Ok(self.compose(steps, converted, &ty, span))
    }
}
