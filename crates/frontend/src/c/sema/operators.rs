//! Unary and binary operators.

use lang_c::ast::{
    BinaryOperator as B, BinaryOperatorExpression, Expression, UnaryOperator as U, UnaryOperatorExpression,
};
use lang_c::span::Node;
use wherefore_program::{BinaryOp, Span, UnaryOp, unary};

use super::Sema;
use super::complex::complex_part;
use super::convert::{fits, narrowed};
use crate::c::ctype::CType;
use crate::c::floats::FloatFunction;
use crate::c::problem::{Checked, Problem};
use crate::c::tree::{Term, TermKind, Yields};

impl Sema<'_> {
    pub(super) fn unary(&mut self, syntax: &Node<UnaryOperatorExpression>) -> Checked<Term> {
        let span = self.span(syntax);
        let operand = &syntax.node.operand;
        match syntax.node.operator.node {
            U::PostIncrement => self.step(operand, B::Plus, Yields::Old, span),
            U::PostDecrement => self.step(operand, B::Minus, Yields::Old, span),
            U::PreIncrement => self.step(operand, B::Plus, Yields::New, span),
            U::PreDecrement => self.step(operand, B::Minus, Yields::New, span),
            U::Address => {
                let place = self.term(operand)?;
                let ty = place.ty.clone().pointer_to();
                if !place.is_place() && !matches!(place.ty, CType::Function(_)) {
                    return self.fail(syntax, "this has no address");
                }
                if self.bit_field(&place).is_some() {
                    return self.fail(syntax, "a bit-field has no address");
                }
                Ok(self.address(Term { span, ..place }, ty))
            }
            U::Indirection if complex_part(operand).is_some() => {
                let (operand, at) = complex_part(operand).unwrap_or((operand, 0));
                self.complex_part(operand, at, span)
            }
            U::Indirection => {
                let pointer = self.value(operand)?;
                Ok(Term { span, ..self.deref(pointer)? })
            }
            U::Plus => {
                let value = self.value(operand)?;
                if self.tree.types.vector(&value.ty).is_some() {
                    return Ok(value);
                }
                self.arithmetic_operand(&value)?;
                self.promote(value)
            }
            U::Minus | U::Complement => {
                let value = self.value(operand)?;
                if self.tree.types.composed(&value.ty).is_some() {
                    let complement = syntax.node.operator.node == U::Complement;
                    return self.composed_unary(complement, value, span);
                }
                self.arithmetic_operand(&value)?;
                let value = self.promote(value)?;
                let op = if syntax.node.operator.node == U::Minus { UnaryOp::Neg } else { UnaryOp::BitNot };
                let ty = value.ty.clone();
                let kept = op == UnaryOp::Neg && ty.is_signed() && self.tree.types.kept.arithmetic;
                let bits = self.bits(&ty);
                let stays = |value: u64| kept && !fits(BinaryOp::Sub, (0, value), bits);
                let kind = match value.kind {
                    TermKind::Constant(constant) if !stays(constant) => {
                        TermKind::Constant(unary(op, constant, self.tree.types.scalar(&ty)))
                    }
                    TermKind::Real(real) if op == UnaryOp::Neg => TermKind::Real(real.map(|real| -real)),
                    _ => TermKind::Unary(op, Box::new(value)),
                };
                Ok(Term::new(kind, ty, span))
            }
            U::Negate => {
                let value = self.condition(operand)?;
                let kind = match value.constant() {
                    Some(constant) => TermKind::Constant(u64::from(constant == 0)),
                    None => TermKind::Not(Box::new(value)),
                };
                Ok(Term::new(kind, CType::INT, span))
            }
        }
    }

    fn arithmetic_operand(&mut self, term: &Term) -> Checked<()> {
        if self.tree.types.is_number(&term.ty) {
            return Ok(());
        }
        let message = format!("a number is expected, not `{}`", self.tree.types.show(&term.ty));
        Err(Problem::new(term.span, message))
    }

    /// `++` and `--`.
    fn step(&mut self, operand: &Node<Expression>, op: B, yields: Yields, span: Span) -> Checked<Term> {
        let place = self.place(operand)?;
        let one = Term::new(TermKind::Constant(1), CType::INT, span);
        self.update(place, op, one, yields, span)
    }

    /// A place that gets a new value from its old one.
    pub(super) fn update(
        &mut self,
        place: Term,
        op: B,
        value: Term,
        yields: Yields,
        span: Span,
    ) -> Checked<Term> {
        let ty = place.ty.clone();
        let is_composed = |ty| self.tree.types.composed(ty).is_some();
        if is_composed(&ty) || is_composed(&value.ty) {
            return self.update_composed(place, op, value, yields, span);
        }
        let mut steps = Vec::new();
        let mut value = value;
        // What is added comes before the place to which it is added.
        let is_section = self.is_section(&place);
        if is_section || place.has_effects() && value.has_effects() {
            (steps, value) = self.held(value);
        }
        let bits = self.bit_field(&place);
        let old = narrowed(Term::new(TermKind::Old, ty.clone(), span), bits);
        let result = self.combine(&op, old, value, span)?;
        let result = self.convert(result, &ty)?;
        let update = Term::new(TermKind::Update(Box::new(place), Box::new(result), yields), ty, span);
        let update = narrowed(update, bits);
        let update = if is_section { self.atomically(update) } else { update };
        if steps.is_empty() {
            return Ok(update);
        }
        let ty = update.ty.clone();
        steps.push(update);
        Ok(Term::new(TermKind::Comma(steps), ty, span))
    }

    pub(super) fn place(&mut self, node: &Node<Expression>) -> Checked<Term> {
        let place = self.term(node)?;
        if !place.is_place() || matches!(place.ty, CType::Function(_)) {
            return self.fail(node, "this cannot be assigned");
        }
        Ok(place)
    }

    pub(super) fn bit_field(&self, place: &Term) -> Option<crate::c::ctype::BitField> {
        let TermKind::Field(base, field) = &place.kind else { return None };
        let CType::Record(id) = base.ty else { return None };
        self.tree.types.record(id).fields[*field].bits
    }

    pub(super) fn binary(&mut self, syntax: &Node<BinaryOperatorExpression>) -> Checked<Term> {
        let span = self.span(syntax);
        let BinaryOperatorExpression { operator, lhs, rhs } = &syntax.node;
        let compound = match operator.node {
            B::Assign => {
                let place = self.place(lhs)?;
                let value = self.value(rhs)?;
                let ty = place.ty.clone();
                if matches!(ty, CType::Array(..)) {
                    return self.fail(syntax, "an array cannot be assigned");
                }
                let value = self.convert(value, &ty)?;
                let bits = self.bit_field(&place);
                if self.is_section(&place) {
                    let (mut steps, value) = self.held(value);
                    let kind = TermKind::Assign(Box::new(place), Box::new(value));
                    steps.push(self.atomically(Term::new(kind, ty.clone(), span)));
                    return Ok(Term::new(TermKind::Comma(steps), ty, span));
                }
                let assignment = Term::new(TermKind::Assign(Box::new(place), Box::new(value)), ty, span);
                return Ok(narrowed(assignment, bits));
            }
            B::Index => {
                let left = self.term(lhs)?;
                if self.tree.types.vector(&left.ty).is_some() {
                    let index = self.value(rhs)?;
                    return self.vector_element(left, index, span);
                }
                let (left, right) = (self.rvalue(left), self.value(rhs)?);
                let (pointer, index) = if left.ty.is_pointer() { (left, right) } else { (right, left) };
                let sum = self.offset(BinaryOp::Add, pointer, index, span)?;
                return self.deref(sum);
            }
            B::LogicalAnd | B::LogicalOr => {
                let and = operator.node == B::LogicalAnd;
                let (left, right) = (self.condition(lhs)?, self.condition(rhs)?);
                let kind = match (left.constant(), right.constant()) {
                    (Some(0), _) if and => TermKind::Constant(0),
                    (Some(value), _) if !and && value != 0 => TermKind::Constant(1),
                    (Some(_), Some(value)) => TermKind::Constant(u64::from(value != 0)),
                    // The left side does not matter, but for its effects.
                    (_, Some(value)) if and == (value == 0) => {
                        let decided = Term::new(TermKind::Constant(u64::from(!and)), CType::INT, span);
                        TermKind::Comma(vec![left, decided])
                    }
                    _ if and => TermKind::And(Box::new(left), Box::new(right)),
                    _ => TermKind::Or(Box::new(left), Box::new(right)),
                };
                return Ok(Term::new(kind, CType::INT, span));
            }
            B::AssignMultiply => B::Multiply,
            B::AssignDivide => B::Divide,
            B::AssignModulo => B::Modulo,
            B::AssignPlus => B::Plus,
            B::AssignMinus => B::Minus,
            B::AssignShiftLeft => B::ShiftLeft,
            B::AssignShiftRight => B::ShiftRight,
            B::AssignBitwiseAnd => B::BitwiseAnd,
            B::AssignBitwiseXor => B::BitwiseXor,
            B::AssignBitwiseOr => B::BitwiseOr,
            _ => {
                let (left, right) = (self.value(lhs)?, self.value(rhs)?);
                return self.combine(&operator.node, left, right, span);
            }
        };
        let place = self.place(lhs)?;
        let value = self.value(rhs)?;
        self.update(place, compound, value, Yields::New, span)
    }

    /// The value of `left op right`.
    pub(super) fn combine(&mut self, op: &B, left: Term, right: Term, span: Span) -> Checked<Term> {
        let is_pointer = left.ty.is_pointer() || right.ty.is_pointer();
        let is_composed = |ty| self.tree.types.composed(ty).is_some();
        if !is_pointer && (is_composed(&left.ty) || is_composed(&right.ty)) {
            return self.combine_composed(op, left, right, span);
        }
        match op {
            B::Plus if left.ty.is_pointer() => return self.offset(BinaryOp::Add, left, right, span),
            B::Plus if right.ty.is_pointer() => return self.offset(BinaryOp::Add, right, left, span),
            B::Minus if left.ty.is_pointer() && right.ty.is_pointer() => {
                let size = self.element_size(&left)?;
                let ty = self.tree.types.long(true);
                if let Some((a, b)) = left.constant().zip(right.constant()) {
                    let bits = self.bits(&ty);
                    let distance =
                        super::specifiers::sign_extended(a.wrapping_sub(b), bits) as i64 / size.max(1) as i64;
                    let mask = wherefore_program::Scalar::Bits(bits).max();
                    return Ok(Term::new(TermKind::Constant(distance as u64 & mask), ty, span));
                }
                let kind = TermKind::Difference(Box::new(left), Box::new(right), size.max(1));
                return Ok(Term::new(kind, ty, span));
            }
            B::Minus if left.ty.is_pointer() => return self.offset(BinaryOp::Sub, left, right, span),
            B::Less | B::Greater | B::LessOrEqual | B::GreaterOrEqual | B::Equals | B::NotEquals => {
                return self.compare(op, left, right, span);
            }
            _ => {}
        }
        self.arithmetic_operand(&left)?;
        self.arithmetic_operand(&right)?;
        if matches!(op, B::ShiftLeft | B::ShiftRight) {
            return self.shift(op, left, right, span);
        }
        let (left, right, ty) = self.balance(left, right)?;
        let signed = ty.is_signed();
        let op = match op {
            B::Multiply => BinaryOp::Mul,
            B::Divide if signed => BinaryOp::SDiv,
            B::Divide => BinaryOp::UDiv,
            B::Modulo if signed => BinaryOp::SRem,
            B::Modulo => BinaryOp::URem,
            B::Plus => BinaryOp::Add,
            B::Minus => BinaryOp::Sub,
            B::BitwiseAnd => BinaryOp::BitAnd,
            B::BitwiseXor => BinaryOp::BitXor,
            _ => BinaryOp::BitOr,
        };
        let bitwise = matches!(op, BinaryOp::BitAnd | BinaryOp::BitXor | BinaryOp::BitOr | BinaryOp::URem);
        if ty.is_float() && bitwise {
            return Err(Problem::new(span, "an operation on the bits of a floating-point number"));
        }
        Ok(self.operation(op, left, right, ty, span))
    }

    fn compare(&mut self, op: &B, left: Term, right: Term, span: Span) -> Checked<Term> {
        let (left, right, ty) = match (left.ty.is_pointer(), right.ty.is_pointer()) {
            (false, false) => {
                self.arithmetic_operand(&left)?;
                self.arithmetic_operand(&right)?;
                self.balance(left, right)?
            }
            (pointer, _) => {
                let ty = if pointer { left.ty.clone() } else { right.ty.clone() };
                (self.convert(left, &ty)?, self.convert(right, &ty)?, ty)
            }
        };
        let signed = ty.is_signed();
        let less = if signed { BinaryOp::SLt } else { BinaryOp::ULt };
        let at_most = if signed { BinaryOp::SLe } else { BinaryOp::ULe };
        // With effects the operands keep their order: `a > b` is the negation of `a <= b`.
        let ordered = left.has_effects() || right.has_effects();
        let negation = |holds: Term| Term::new(TermKind::Not(Box::new(holds)), CType::INT, span);
        // Not of numbers that may not be comparable.
        let in_order = |function, left, right| {
            Term::new(TermKind::FloatCall(function, vec![left, right]), CType::INT, span)
        };
        Ok(match op {
            B::Greater if ordered && ty.is_float() => in_order(FloatFunction::Greater, left, right),
            B::GreaterOrEqual if ordered && ty.is_float() => {
                in_order(FloatFunction::GreaterEqual, left, right)
            }
            B::Greater if ordered => negation(self.operation(at_most, left, right, ty, span)),
            B::GreaterOrEqual if ordered => negation(self.operation(less, left, right, ty, span)),
            B::Less => self.operation(less, left, right, ty, span),
            B::Greater => self.operation(less, right, left, ty, span),
            B::LessOrEqual => self.operation(at_most, left, right, ty, span),
            B::GreaterOrEqual => self.operation(at_most, right, left, ty, span),
            B::Equals => self.operation(BinaryOp::Eq, left, right, ty, span),
            _ => self.operation(BinaryOp::Ne, left, right, ty, span),
        })
    }

    fn shift(&mut self, op: &B, left: Term, right: Term, span: Span) -> Checked<Term> {
        if left.ty.is_float() || right.ty.is_float() {
            return Err(Problem::new(span, "a floating-point number cannot be shifted"));
        }
        let (left, right) = (self.promote(left)?, self.promote(right)?);
        let ty = left.ty.clone();
        let op = match op {
            B::ShiftLeft => BinaryOp::Shl,
            _ if ty.is_signed() => BinaryOp::AShr,
            _ => BinaryOp::LShr,
        };
        let width = self.tree.types.scalar(&ty);
        let kept = op == BinaryOp::Shl && ty.is_signed() && self.tree.types.kept.shifts;
        let stays = |a, b| kept && !fits(op, (a, b), width.width());
        let kind = match (left.constant(), right.constant()) {
            (Some(a), Some(b)) if b < u64::from(width.width()) && !stays(a, b) => {
                TermKind::Constant(wherefore_program::binary(op, a, b, width))
            }
            _ => TermKind::Shift(op, Box::new(left), Box::new(right)),
        };
        Ok(Term::new(kind, ty, span))
    }

    /// The size of what a pointer points to.
    fn element_size(&mut self, pointer: &Term) -> Checked<u64> {
        let to = pointer.ty.pointee().expect("a pointer");
        match self.tree.types.size(to) {
            Some(size) => Ok(size),
            None => Err(Problem::new(pointer.span, "a step over elements of unknown size")),
        }
    }

    /// A pointer moved by so many elements.
    pub(super) fn offset(&mut self, op: BinaryOp, pointer: Term, index: Term, span: Span) -> Checked<Term> {
        let long = self.tree.types.long(true);
        let is_wide = self.tree.types.wide(&index.ty).is_some();
        let index = if is_wide { self.convert(index, &long)? } else { index };
        if !pointer.ty.is_pointer() || !index.ty.is_integer() {
            return Err(Problem::new(span, "a pointer and an integer are expected"));
        }
        let ty = pointer.ty.clone();
        let mut index = self.promote(index)?;
        let mut element = ty.pointee().cloned().expect("a pointer");
        // Rows of variable length are counted in their elements.
        while let CType::Array(inner, crate::c::ctype::Length::Variable(length)) = element.clone() {
            let signed = self.tree.types.long(true);
            let length = Term::new(
                TermKind::Object(crate::c::tree::ObjectId(length)),
                self.tree.types.size_type(),
                span,
            );
            let length = self.rvalue(length);
            let length = self.convert(length, &signed)?;
            let wide = self.convert(index, &signed)?;
            index = self.operation(BinaryOp::Mul, wide, length, signed, span);
            element = (*inner).clone();
        }
        let Some(size) = self.tree.types.size(&element) else {
            return Err(Problem::new(pointer.span, "a step over elements of unknown size"));
        };
        if let Some((base, step)) = pointer.constant().zip(index.constant()) {
            let bits = self.bits(&index.ty);
            let wide = if index.ty.is_signed() { super::specifiers::sign_extended(step, bits) } else { step };
            let bytes = wide.wrapping_mul(size);
            let value = if op == BinaryOp::Add { base.wrapping_add(bytes) } else { base.wrapping_sub(bytes) };
            let mask = self.tree.types.scalar(&ty).max();
            return Ok(Term::new(TermKind::Constant(value & mask), ty, span));
        }
        Ok(Term::new(TermKind::Offset(op, Box::new(pointer), Box::new(index), size), ty, span))
    }
}
