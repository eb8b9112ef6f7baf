//! Integers of 128 bits: two numbers of 64 bits, the low one first.
//!
//! Sums, operations on bits, comparisons and shifts by constants are written with the halves; the
//! rest are functions of our library (`library/wide.c`), also signed arithmetic where overflow is
//! checked.

use lang_c::ast::BinaryOperator as B;
use wherefore_program::Span;

use super::Sema;
use super::composed::{behind, is_plain};
use super::specifiers::sign_extended;
use crate::c::ctype::CType;
use crate::c::problem::{Checked, Problem};
use crate::c::tree::{Term, TermKind};

/// The type of a half.
const HALF: CType = CType::Int { bits: 64, signed: false };

impl Sema<'_> {
    /// The value of a constant, its sign repeated in front.
    pub(super) fn wide_constant(&self, term: &Term) -> Option<u128> {
        self.tree.types.wide(&term.ty)?;
        match &term.kind {
            TermKind::Compose(parts) => match parts.as_slice() {
                [low, high] => Some(u128::from(high.constant()?) << 64 | u128::from(low.constant()?)),
                _ => None,
            },
            _ => None,
        }
    }

    fn wide_number(&mut self, value: u128, signed: bool, span: Span) -> Term {
        let ty = self.tree.types.wide_type(signed);
        let half = |value: u64| Term::new(TermKind::Constant(value), HALF, span);
        self.compose(Vec::new(), vec![half(value as u64), half((value >> 64) as u64)], &ty, span)
    }

    fn half(&self, value: u64, span: Span) -> Term {
        Term::new(TermKind::Constant(value), HALF, span)
    }

    /// Two scalars combined.
    fn halves(&mut self, op: B, left: &Term, right: &Term) -> Checked<Term> {
        self.combine(&op, left.clone(), right.clone(), left.span)
    }

    /// What a condition asks about: a number that is zero if the value is.
    pub(super) fn wide_truth(&mut self, value: Term) -> Term {
        let span = value.span;
        if let Some(value) = self.wide_constant(&value) {
            return Term::new(TermKind::Constant(u64::from(value != 0)), CType::INT, span);
        }
        let (steps, mut parts) = self.scalars(value);
        let truth = match (parts.pop(), parts.pop()) {
            (Some(high), Some(low)) => {
                let or = wherefore_program::BinaryOp::BitOr;
                self.operation(or, low, high, HALF, span)
            }
            _ => self.half(0, span),
        };
        behind(steps, truth)
    }

    /// A number or a pointer as an integer of 128 bits, or such an integer as something else.
    pub(super) fn convert_wide(&mut self, term: Term, ty: &CType) -> Checked<Term> {
        match (self.tree.types.wide(&term.ty), self.tree.types.wide(ty)) {
            (Some(_), Some(signed)) => {
                if let Some(value) = self.wide_constant(&term) {
                    return Ok(self.wide_number(value, signed, term.span));
                }
                let span = term.span;
                let (steps, parts) = self.scalars(term);
                Ok(self.compose(steps, parts, ty, span))
            }
            (Some(signed), None) => self.narrow(term, signed, ty),
            (None, Some(signed)) => self.widen(term, signed, ty),
            (None, None) => Ok(term),
        }
    }

    fn narrow(&mut self, term: Term, signed: bool, ty: &CType) -> Checked<Term> {
        let span = term.span;
        match ty {
            CType::Bool => {
                let truth = self.wide_truth(term);
                self.convert(truth, ty)
            }
            CType::Float(size @ (4 | 8)) => {
                if let Some(value) = self.wide_constant(&term) {
                    let value = match (size, signed) {
                        (4, true) => f64::from(value as i128 as f32),
                        (4, false) => f64::from(value as f32),
                        (_, true) => value as i128 as f64,
                        (_, false) => value as f64,
                    };
                    return Ok(Term::new(TermKind::Real(Some(value)), ty.clone(), span));
                }
                let name = match (size, signed) {
                    (4, true) => "__builtin_own_wide_sto_float",
                    (4, false) => "__builtin_own_wide_to_float",
                    (_, true) => "__builtin_own_wide_sto_double",
                    (_, false) => "__builtin_own_wide_to_double",
                };
                let parameters = vec![term.ty.clone()];
                Ok(self.library_call(name, ty.clone(), parameters, vec![term], span))
            }
            _ => {
                // A number of a type that is not followed comes from any other one.
                let (steps, mut parts) = self.scalars(term);
                parts.truncate(1);
                let low = parts.pop().unwrap_or_else(|| self.half(0, span));
                let is_constant = low.constant().is_some();
                let low = self.convert(low, ty)?;
                let low = match low.kind {
                    TermKind::Real(_) if is_constant => Term::new(TermKind::Real(None), ty.clone(), span),
                    _ => low,
                };
                Ok(behind(steps, low))
            }
        }
    }

    fn widen(&mut self, term: Term, signed: bool, ty: &CType) -> Checked<Term> {
        let span = term.span;
        if let CType::Float(size) = term.ty {
            return self.real_to_wide(term, size, signed, ty);
        }
        if let Some(value) = term.constant() {
            let extended = match term.ty.is_signed() {
                true => i128::from(sign_extended(value, self.bits(&term.ty)) as i64) as u128,
                false => u128::from(value),
            };
            return Ok(self.wide_number(extended, signed, span));
        }
        if !term.ty.is_signed() {
            let low = self.convert(term, &HALF)?;
            let high = self.half(0, span);
            return Ok(self.compose(Vec::new(), vec![low, high], ty, span));
        }
        let (steps, value) = if is_plain(&term) { (Vec::new(), term) } else { self.held(term) };
        let low = self.convert(value.clone(), &HALF)?;
        let high = self.convert(value, &CType::LONG_LONG)?;
        let by = Term::new(TermKind::Constant(63), CType::INT, span);
        let high = self.combine(&B::ShiftRight, high, by, span)?;
        let high = self.convert(high, &HALF)?;
        Ok(self.compose(steps, vec![low, high], ty, span))
    }

    fn real_to_wide(&mut self, term: Term, size: u64, signed: bool, ty: &CType) -> Checked<Term> {
        let span = term.span;
        if let TermKind::Real(Some(value)) = term.kind {
            let whole = value.trunc();
            let limit = 2_f64.powi(if signed { 127 } else { 128 });
            let least = if signed { -limit } else { 0.0 };
            if (least..limit).contains(&whole) {
                let value = if signed { whole as i128 as u128 } else { whole as u128 };
                return Ok(self.wide_number(value, signed, span));
            }
        }
        if !matches!(size, 4 | 8) {
            // Any number comes from one that is not followed.
            let (mut steps, value) = self.held(term);
            let (low, high) = (self.convert(value.clone(), &HALF)?, self.convert(value, &HALF)?);
            let (more, low) = self.held(low);
            steps.extend(more);
            return Ok(self.compose(steps, vec![low, high], ty, span));
        }
        let double = CType::Float(8);
        let value = self.convert(term, &double)?;
        let name = match signed {
            true => "__builtin_own_wide_sfrom_double",
            false => "__builtin_own_wide_from_double",
        };
        Ok(self.library_call(name, ty.clone(), vec![double], vec![value], span))
    }

    pub(super) fn wide_unary(&mut self, complement: bool, value: Term, span: Span) -> Checked<Term> {
        let ty = value.ty.clone();
        let signed = self.tree.types.wide(&ty) == Some(true);
        if !complement {
            let zero = self.wide_number(0, signed, span);
            return self.wide_operation(&B::Minus, zero, value, signed, span);
        }
        let ones = self.wide_number(u128::MAX, signed, span);
        self.wide_operation(&B::BitwiseXor, value, ones, signed, span)
    }

    /// The result for constants; none if it is open, or if it must be checked.
    fn folded(&self, op: &B, a: u128, b: u128, signed: bool) -> Option<u128> {
        let (x, y) = (a as i128, b as i128);
        let exact = match op {
            B::Plus => x.checked_add(y).is_some(),
            B::Minus => x.checked_sub(y).is_some(),
            B::Multiply => x.checked_mul(y).is_some(),
            B::Divide | B::Modulo => y != 0 && x.checked_div(y).is_some(),
            _ => true,
        };
        if signed && self.tree.types.kept.arithmetic && !exact {
            return None;
        }
        Some(match op {
            B::Plus => a.wrapping_add(b),
            B::Minus => a.wrapping_sub(b),
            B::Multiply => a.wrapping_mul(b),
            B::Divide | B::Modulo if b == 0 => return None,
            B::Divide if signed => x.wrapping_div(y) as u128,
            B::Divide => a / b,
            B::Modulo if signed => x.wrapping_rem(y) as u128,
            B::Modulo => a % b,
            B::BitwiseAnd => a & b,
            B::BitwiseOr => a | b,
            B::BitwiseXor => a ^ b,
            _ => return None,
        })
    }

    /// An operation on two integers of 128 bits of one type.
    pub(super) fn wide_operation(
        &mut self,
        op: &B,
        left: Term,
        right: Term,
        signed: bool,
        span: Span,
    ) -> Checked<Term> {
        if matches!(op, B::Less | B::Greater | B::LessOrEqual | B::GreaterOrEqual | B::Equals | B::NotEquals)
        {
            return self.wide_compare(op, left, right, signed, span);
        }
        let ty = self.tree.types.wide_type(signed);
        let constants = self.wide_constant(&left).zip(self.wide_constant(&right));
        if let Some(value) = constants.and_then(|(a, b)| self.folded(op, a, b, signed)) {
            return Ok(self.wide_number(value, signed, span));
        }
        let checked = signed && self.tree.types.kept.arithmetic;
        let (steps, a, b) = self.scalars_of_both(op, left, right);
        let ([a0, a1], [b0, b1]) = (a.as_slice(), b.as_slice()) else {
            return Err(Problem::unsupported(span, "this operation with a number of 128 bits is"));
        };
        let function = match op {
            B::Plus if checked => Some("__builtin_own_wide_add"),
            B::Minus if checked => Some("__builtin_own_wide_sub"),
            B::Multiply if checked => Some("__builtin_own_wide_smul"),
            B::Multiply => Some("__builtin_own_wide_mul"),
            B::Divide if signed => Some("__builtin_own_wide_sdiv"),
            B::Divide => Some("__builtin_own_wide_udiv"),
            B::Modulo if signed => Some("__builtin_own_wide_srem"),
            B::Modulo => Some("__builtin_own_wide_urem"),
            _ => None,
        };
        if let Some(name) = function {
            let unsigned = name == "__builtin_own_wide_mul";
            let of = if unsigned { self.tree.types.wide_type(false) } else { ty.clone() };
            let (left, right) =
                (self.compose(Vec::new(), a, &of, span), self.compose(Vec::new(), b, &of, span));
            let parameters = vec![of.clone(), of.clone()];
            let call = self.library_call(name, of, parameters, vec![left, right], span);
            return self.convert(behind(steps, call), &ty);
        }
        let low = self.halves(op.clone(), a0, b0)?;
        let high = self.halves(op.clone(), a1, b1)?;
        let high = match op {
            B::Plus => {
                let carry = self.halves(B::Less, &low, a0)?;
                let carry = self.convert(carry, &HALF)?;
                self.halves(B::Plus, &high, &carry)?
            }
            B::Minus => {
                let borrow = self.halves(B::Less, a0, b0)?;
                let borrow = self.convert(borrow, &HALF)?;
                self.halves(B::Minus, &high, &borrow)?
            }
            _ => high,
        };
        Ok(self.compose(steps, vec![low, high], &ty, span))
    }

    fn wide_compare(&mut self, op: &B, left: Term, right: Term, signed: bool, span: Span) -> Checked<Term> {
        let (steps, a, b) = self.scalars_of_both(op, left, right);
        let (a, b) = match op {
            B::Greater | B::LessOrEqual => (b, a),
            _ => (a, b),
        };
        let ([a0, a1], [b0, b1]) = (a.as_slice(), b.as_slice()) else {
            return Err(Problem::unsupported(span, "this comparison with a number of 128 bits is"));
        };
        let not = |value: Term| match value.constant() {
            Some(constant) => Term::new(TermKind::Constant(u64::from(constant == 0)), CType::INT, span),
            None => Term::new(TermKind::Not(Box::new(value)), CType::INT, span),
        };
        let same = self.halves(B::Equals, a1, b1)?;
        let holds = if matches!(op, B::Equals | B::NotEquals) {
            let low = self.halves(B::Equals, a0, b0)?;
            self.both(true, same, low, span)
        } else {
            let sign = |sema: &mut Self, half: &Term| match signed {
                true => sema.convert(half.clone(), &CType::LONG_LONG),
                false => Ok(half.clone()),
            };
            let (x, y) = (sign(self, a1)?, sign(self, b1)?);
            let less = self.halves(B::Less, &x, &y)?;
            let low = self.halves(B::Less, a0, b0)?;
            let rest = self.both(true, same, low, span);
            self.both(false, less, rest, span)
        };
        let is_negated = matches!(op, B::NotEquals | B::LessOrEqual | B::GreaterOrEqual);
        Ok(behind(steps, if is_negated { not(holds) } else { holds }))
    }

    /// `__builtin_add_overflow` and its like, where one of the types has 128 bits.
    pub(super) fn wide_overflow(
        &mut self,
        op: &B,
        (left, right): (Term, Term),
        (target, third): (Option<Term>, Term),
        ty: CType,
        span: Span,
    ) -> Checked<Term> {
        let signed = self.tree.types.wide(&ty).unwrap_or(ty.is_signed());
        let width = self.tree.types.size(&ty).unwrap_or(0) * 8;
        let width = if let CType::Int { bits, .. } = ty { u64::from(bits) } else { width };
        let is_integer = |ty: &CType| matches!(ty, CType::Int { .. }) || self.tree.types.wide(ty).is_some();
        if ![&ty, &left.ty, &right.ty].into_iter().all(is_integer) {
            return Err(Problem::unsupported(span, "this operation that tells whether it overflows is"));
        }
        let number = |value| Term::new(TermKind::Constant(value), CType::INT, span);
        let code = match op {
            B::Plus => 0,
            B::Minus => 1,
            _ => 2,
        };
        let (mut steps, mut values) = (Vec::new(), Vec::new());
        let wide = self.tree.types.wide_type(false);
        let mut arguments = vec![number(code)];
        for operand in [left, right] {
            let (more, operand) = self.held(operand);
            steps.extend(more);
            let negative = self.combine(&B::Less, operand.clone(), number(0), span)?;
            let value = self.convert(operand.clone(), &wide)?;
            let is_signed = self.tree.types.wide(&operand.ty).unwrap_or(operand.ty.is_signed());
            arguments.push(value.clone());
            arguments.push(if is_signed { negative } else { number(0) });
            values.push(value);
        }
        arguments.extend([number(width), number(u64::from(signed))]);
        let int = CType::INT;
        let parameters =
            vec![int.clone(), wide.clone(), int.clone(), wide, int.clone(), int.clone(), int.clone()];
        let overflows = self.library_call("__builtin_own_wide_overflows", int, parameters, arguments, span);
        let overflows = self.convert(overflows, &CType::Bool)?;
        let (more, overflows) = self.held(overflows);
        steps.extend(more);
        match target {
            Some(target) => {
                let (Some(b), Some(a)) = (values.pop(), values.pop()) else { return Ok(overflows) };
                let result = self.combine(op, a, b, span)?;
                let result = self.convert(result, &ty)?;
                let assign = TermKind::Assign(Box::new(target), Box::new(result));
                steps.push(Term::new(assign, ty, span));
            }
            None if third.has_effects() => steps.push(third),
            None => {}
        }
        Ok(behind(steps, overflows))
    }

    /// Both conditions, or one of them; they have no effects.
    fn both(&mut self, and: bool, left: Term, right: Term, span: Span) -> Term {
        let kind = match (left.constant(), right.constant()) {
            (Some(value), _) if (value != 0) == and => return right,
            (Some(value), _) => TermKind::Constant(u64::from(value != 0)),
            (_, Some(value)) if (value != 0) == and => return left,
            (_, Some(value)) => TermKind::Constant(u64::from(value != 0)),
            _ if and => TermKind::And(Box::new(left), Box::new(right)),
            _ => TermKind::Or(Box::new(left), Box::new(right)),
        };
        Term::new(kind, CType::INT, span)
    }

    /// A shift of such a number, or by such a number.
    pub(super) fn wide_shift(&mut self, op: &B, left: Term, right: Term, span: Span) -> Checked<Term> {
        let by = self.amount(right)?;
        let left = self.promote(left)?;
        let Some(signed) = self.tree.types.wide(&left.ty) else {
            return self.combine(op, left, by, span);
        };
        let ty = left.ty.clone();
        let is_left = matches!(op, B::ShiftLeft);
        let kept = is_left && signed && self.tree.types.kept.shifts;
        if kept {
            let what =
                "a signed number of 128 bits that is shifted to the left, where overflow is asked about, is";
            return Err(Problem::unsupported(span, what));
        }
        if let Some(by) = by.constant().filter(|by| *by < 128) {
            if let Some(value) = self.wide_constant(&left) {
                let value = match (is_left, signed) {
                    (true, _) => value << by,
                    (false, true) => ((value as i128) >> by) as u128,
                    (false, false) => value >> by,
                };
                return Ok(self.wide_number(value, signed, span));
            }
            let (steps, parts) = self.scalars(left);
            let [low, high] = parts.as_slice() else {
                return Err(Problem::unsupported(span, "this shift of a number of 128 bits is"));
            };
            let parts = match is_left {
                true => self.moved_left(low, high, by)?,
                false => self.moved_right(low, high, by, signed)?,
            };
            return Ok(self.compose(steps, parts, &ty, span));
        }
        let name = match (is_left, signed) {
            (true, _) => "__builtin_own_wide_shl",
            (false, true) => "__builtin_own_wide_ashr",
            (false, false) => "__builtin_own_wide_lshr",
        };
        let of = self.tree.types.wide_type(name.ends_with("ashr"));
        let (mut steps, left) =
            if is_plain(&left) && !by.has_effects() { (Vec::new(), left) } else { self.held(left) };
        let left = self.convert(left, &of)?;
        let (more, by) = self.held(by);
        steps.extend(more);
        let call = self.library_call(name, of.clone(), vec![of, HALF], vec![left, by], span);
        self.convert(behind(steps, call), &ty)
    }

    /// By how much is shifted: a number of 64 bits, too great if that does not hold it.
    fn amount(&mut self, by: Term) -> Checked<Term> {
        let span = by.span;
        if self.tree.types.wide(&by.ty).is_none() {
            if !by.ty.is_integer() {
                return Err(Problem::new(span, "an integer is expected"));
            }
            return self.convert(by, &HALF);
        }
        let (steps, parts) = self.scalars(by);
        let [low, high] = parts.as_slice() else { return Ok(self.half(0, span)) };
        let all = self.half(u64::MAX, span);
        let by = self.conditional(high.clone(), all, low.clone(), span)?;
        Ok(behind(steps, by))
    }

    fn shifted(&mut self, op: B, half: &Term, by: u64) -> Checked<Term> {
        if by == 0 {
            return Ok(half.clone());
        }
        let by = Term::new(TermKind::Constant(by), CType::INT, half.span);
        self.combine(&op, half.clone(), by, half.span)
    }

    fn moved_left(&mut self, low: &Term, high: &Term, by: u64) -> Checked<Vec<Term>> {
        if by >= 64 {
            return Ok(vec![self.half(0, low.span), self.shifted(B::ShiftLeft, low, by - 64)?]);
        }
        let mut top = self.shifted(B::ShiftLeft, high, by)?;
        if by > 0 {
            let over = self.shifted(B::ShiftRight, low, 64 - by)?;
            top = self.halves(B::BitwiseOr, &top, &over)?;
        }
        Ok(vec![self.shifted(B::ShiftLeft, low, by)?, top])
    }

    fn moved_right(&mut self, low: &Term, high: &Term, by: u64, signed: bool) -> Checked<Vec<Term>> {
        let top = if signed { self.convert(high.clone(), &CType::LONG_LONG)? } else { high.clone() };
        if by >= 64 {
            let down = self.shifted(B::ShiftRight, &top, by - 64)?;
            let down = self.convert(down, &HALF)?;
            let front = match signed {
                true => self.shifted(B::ShiftRight, &top, 63)?,
                false => self.half(0, low.span),
            };
            return Ok(vec![down, self.convert(front, &HALF)?]);
        }
        let mut bottom = self.shifted(B::ShiftRight, low, by)?;
        if by > 0 {
            let over = self.shifted(B::ShiftLeft, high, 64 - by)?;
            bottom = self.halves(B::BitwiseOr, &bottom, &over)?;
        }
        let top = self.shifted(B::ShiftRight, &top, by)?;
        Ok(vec![bottom, self.convert(top, &HALF)?])
    }
}
