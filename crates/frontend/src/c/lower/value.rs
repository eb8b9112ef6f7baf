//! Expressions as values. What has effects becomes steps; the rest is one expression.

use wherefore_program::{BinaryOp, Expr, ExprKind, Scalar, Span, UnaryOp, Var, ViolationKind};

use super::Lower;
use super::floats;
use super::place::Place;
use crate::c::ctype::CType;
use crate::c::points_to::Class;
use crate::c::problem::{Checked, Problem};
use crate::c::tree::{Lifetime, Term, TermKind, Yields};

/// A number in another width: its low bits, or zeros or its sign in front.
pub(crate) fn resize(value: Expr, signed: bool, to: Scalar) -> Expr {
    let (from, width) = (value.ty.width(), to.width());
    if value.ty == to {
        return value;
    }
    match value.kind {
        ExprKind::Constant(constant) => {
            let shift = 64 - from;
            let wide = if signed { (((constant << shift) as i64) >> shift) as u64 } else { constant };
            Expr::constant(wide, to)
        }
        ExprKind::Choice { below: None } if width <= from => Expr::choice(to),
        // Bits that were only added are cut again.
        ExprKind::ZeroExtend(inner) | ExprKind::SignExtend(inner) if inner.ty == to && width <= from => {
            *inner
        }
        // A truth value has zeros in front whatever its signedness.
        ExprKind::ZeroExtend(inner) if inner.ty == Scalar::Bool && width > 1 => inner.zero_extend(width),
        _ if signed && width > from => Expr { kind: ExprKind::SignExtend(Box::new(value)), ty: to },
        _ => value.zero_extend(width),
    }
}

/// Whether a number is not zero.
pub(crate) fn truth(value: Expr) -> Expr {
    match value.kind {
        _ if value.ty == Scalar::Bool => value,
        ExprKind::Constant(constant) => Expr::bool(constant != 0),
        ExprKind::Choice { below: None } => Expr::choice(Scalar::Bool),
        ExprKind::ZeroExtend(inner) if inner.ty == Scalar::Bool => *inner,
        ExprKind::ZeroExtend(inner) if inner.ty.width() < value.ty.width() => truth(*inner),
        _ => {
            let zero = Expr::constant(0, value.ty);
            Expr::binary(BinaryOp::Ne, value, zero)
        }
    }
}

/// A truth value as a `_Bool`.
pub(crate) fn bit(value: Expr) -> Expr {
    value.zero_extend(1)
}

/// A truth value as an `int`.
pub(crate) fn int(value: Expr) -> Expr {
    value.zero_extend(32)
}

impl Lower<'_, '_> {
    /// Whether evaluating a term is one expression without steps.
    pub(crate) fn is_pure(&self, term: &Term) -> bool {
        match &term.kind {
            TermKind::Call(..)
            | TermKind::Assign(..)
            | TermKind::Update(..)
            | TermKind::Fill(..)
            | TermKind::Block(..)
            | TermKind::Materialise(..)
            | TermKind::Literal(..) => false,
            TermKind::Divide(_, left, right) => {
                let minus_one = self.cx.tree.types.scalar(&right.ty).max();
                let safe = right.constant().is_some_and(|value| value != 0 && value != minus_one);
                safe && self.is_pure(left)
            }
            _ => !term.any_child(&mut |child| !self.is_pure(child)),
        }
    }

    /// Whether a part of an expression that the program may skip can be evaluated all the same, to
    /// have one expression for the whole. Where races are checked, a read of what threads may share
    /// is an access, which must not be added.
    pub(crate) fn may_be_folded(&self, term: &Term) -> bool {
        self.is_pure(term) && !(self.watches_races() && self.reads_shared(term))
    }

    /// Whether accesses to what threads share are checked.
    pub(crate) fn watches_races(&self) -> bool {
        self.cx.has_threads && self.cx.asks(ViolationKind::Race)
    }

    /// Whether a term reads what another thread may have access to.
    fn reads_shared(&self, term: &Term) -> bool {
        let is_read = matches!(&term.kind, TermKind::Load(place) if !self.is_of_call(place));
        is_read || term.any_child(&mut |child| self.reads_shared(child))
    }

    /// Whether a place is a part of an automatic object that no pointer leads to.
    fn is_of_call(&self, place: &Term) -> bool {
        match &place.kind {
            TermKind::Object(id) => {
                let is_static = self.cx.tree.object(*id).lifetime == Lifetime::Static;
                !is_static && !self.cx.usage.exposed.contains(id)
            }
            TermKind::Field(base, _) => self.is_of_call(base),
            _ => false,
        }
    }

    /// Evaluates a term for its effects.
    pub(crate) fn effects(&mut self, term: &Term) -> Checked<()> {
        if self.is_pure(term) {
            // What it computes is not used, but computing it can break a rule.
            let term = match &term.kind {
                TermKind::Convert(inner) if term.ty == CType::Void => inner,
                _ => term,
            };
            if term.ty.is_scalar() && self.has_rules() {
                let value = self.value(term)?;
                let is_shared = term.is_place() && !self.is_of_call(term);
                if self.watches_races() && (is_shared || self.reads_shared(term)) {
                    self.keep(value, term.span);
                }
            }
            return Ok(());
        }
        match &term.kind {
            TermKind::Convert(inner) | TermKind::Load(inner) | TermKind::Not(inner) => self.effects(inner),
            TermKind::Comma(terms) => terms.iter().try_for_each(|term| self.effects(term)),
            TermKind::And(..) | TermKind::Or(..) => {
                let end = self.body.open(term.span);
                self.branch(term, end, end)?;
                self.body.at = end;
                Ok(())
            }
            TermKind::Conditional(condition, then, otherwise) => {
                let (yes, no, end) =
                    (self.body.open(then.span), self.body.open(otherwise.span), self.body.open(term.span));
                self.branch(condition, yes, no)?;
                for (at, part) in [(yes, then), (no, otherwise)] {
                    self.body.at = at;
                    self.effects(part)?;
                    self.body.join(end, part.span);
                }
                self.body.at = end;
                Ok(())
            }
            TermKind::Update(place, value, _) => self.update(place, value, None, term.span).map(drop),
            TermKind::Assign(place, value) => self.assign(place, value, term.span).map(drop),
            TermKind::Fill(place, byte) => {
                let place = self.place(place)?;
                self.fill(&place, *byte, term.span)
            }
            TermKind::Call(callee, arguments) => {
                self.call_for(callee, arguments, term, super::call::Want::Nothing).map(drop)
            }
            TermKind::Block(statements, value) => {
                self.inner_statements(statements, term.span)?;
                value.as_ref().map_or(Ok(()), |value| self.effects(value))
            }
            // Where the result is not used, compilers need not divide: such a run goes on.
            TermKind::Divide(op, left, right)
                if self.asks(ViolationKind::Division) || self.asks(ViolationKind::Overflow) =>
            {
                self.division(*op, left, right, term.span).map(drop)
            }
            TermKind::Arithmetic(..)
            | TermKind::Unary(..)
            | TermKind::Compare(..)
            | TermKind::Shift(..)
            | TermKind::Divide(..)
                if !self.asks(ViolationKind::Overflow) && !self.asks(ViolationKind::Shift) =>
            {
                term.children().into_iter().try_for_each(|child| self.effects(child))
            }
            _ if matches!(term.ty, CType::Record(_)) => self.aggregate(term).map(drop),
            _ if term.is_place() => self.place(term).map(drop),
            _ => self.value(term).map(drop),
        }
    }

    /// The value of a scalar term.
    pub(crate) fn value(&mut self, term: &Term) -> Checked<Expr> {
        let scalar = self.cx.tree.types.scalar(&term.ty);
        let span = term.span;
        match &term.kind {
            TermKind::Constant(value) => Ok(Expr::constant(*value, scalar)),
            TermKind::Real(value) => match (self.cx.tree.types.format(&term.ty), value) {
                (Some(format), Some(value)) => Ok(Expr::constant(format.bits_of(*value), scalar)),
                _ => {
                    self.note_float(span);
                    Ok(Expr::choice(scalar))
                }
            },
            TermKind::Load(place) => {
                let place = self.place(place)?;
                self.read(&place, span)
            }
            TermKind::Address(place) => match &place.kind {
                TermKind::Function(id) => Ok(self.cx.function_value(*id, scalar)),
                _ => match self.place(place)? {
                    Place::Memory { address, .. } => Ok(address),
                    Place::Split { .. } => Err(Problem::unsupported(span, "this address is")),
                },
            },
            TermKind::Function(id) => Ok(self.cx.function_value(*id, scalar)),
            TermKind::Convert(inner) => self.convert(inner, &term.ty),
            TermKind::Unary(op, inner) => {
                let value = self.value(inner)?;
                if self.cx.tree.types.is_opaque(&term.ty) {
                    return Ok(Expr::choice(scalar));
                }
                if let Some(format) = self.cx.tree.types.format(&term.ty) {
                    return Ok(floats::negative(format, value));
                }
                if *op == UnaryOp::Neg && term.ty.is_signed() {
                    self.check_negation(&value, span);
                }
                Ok(match value.as_constant() {
                    Some(constant) => Expr::constant(wherefore_program::unary(*op, constant, scalar), scalar),
                    None => Expr::unary(*op, value),
                })
            }
            TermKind::Not(_) | TermKind::Compare(..) | TermKind::And(..) | TermKind::Or(..) => {
                if self.is_pure(term) {
                    return Ok(int(self.condition(term)?));
                }
                if let TermKind::Compare(..) | TermKind::Not(_) = term.kind {
                    return Ok(int(self.condition(term)?));
                }
                self.decided(term)
            }
            TermKind::Arithmetic(op, left, right) => {
                let (left, right) = self.operands(*op, left, right)?;
                if self.cx.tree.types.is_opaque(&term.ty) {
                    return Ok(Expr::choice(scalar));
                }
                self.note_rounding(&term.ty, span);
                let (left, right) = if term.ty.is_integer() && term.ty.is_signed() {
                    self.check_arithmetic(*op, left, right, span)
                } else {
                    (left, right)
                };
                Ok(match self.cx.tree.types.format(&term.ty) {
                    Some(format) => floats::arithmetic(format, *op, left, right),
                    None => Expr::binary(*op, left, right),
                })
            }
            TermKind::Shift(op, left, right) => self.shift(*op, left, right, span),
            TermKind::Divide(op, left, right) => self.divide(*op, left, right, span),
            TermKind::Offset(op, pointer, index, size) => {
                let signed = index.ty.is_signed();
                // Not commutative, even if it adds.
                let (address, index) = self.operands(BinaryOp::Sub, pointer, index)?;
                Ok(self.moved(address, index, signed, *size, *op))
            }
            TermKind::Difference(left, right, size) => {
                let (left, right) = self.operands(BinaryOp::Sub, left, right)?;
                let distance = Expr::binary(BinaryOp::Sub, left, right);
                Ok(match size {
                    1 => distance,
                    size => {
                        let size = Expr::constant(*size, distance.ty);
                        Expr::binary(BinaryOp::SDiv, distance, size)
                    }
                })
            }
            TermKind::Conditional(condition, then, otherwise) => {
                let is_plain = self.may_be_folded(then) && self.may_be_folded(otherwise);
                if is_plain && !self.cx.tree.types.is_opaque(&term.ty) {
                    let condition = self.condition(condition)?;
                    let condition = self.guard(condition, span);
                    let then = self.guarded(&condition, true, |lower| lower.value(then))?;
                    let otherwise = self.guarded(&condition, false, |lower| lower.value(otherwise))?;
                    return Ok(Expr::if_then_else(condition, then, otherwise));
                }
                let result = self.body.temporary(scalar, span);
                let (yes, no, end) =
                    (self.body.open(then.span), self.body.open(otherwise.span), self.body.open(span));
                self.branch(condition, yes, no)?;
                for (at, part) in [(yes, then), (no, otherwise)] {
                    self.body.at = at;
                    let value = self.value(part)?;
                    self.body.assign(part.span, vec![result.into()], vec![value]);
                    self.body.join(end, part.span);
                }
                self.body.at = end;
                Ok(Expr::variable(result, scalar))
            }
            TermKind::Assign(place, value) => {
                let place = self.assign(place, value, span)?;
                match value.constant() {
                    Some(constant) if !self.is_bit_field(&place) => Ok(Expr::constant(constant, scalar)),
                    _ => self.settled(&place, span),
                }
            }
            TermKind::Update(place, value, yields) => {
                let value = self.update(place, value, Some(*yields), span)?;
                Ok(value.expect("a value was asked for"))
            }
            TermKind::Fill(..) => Err(Problem::new(span, "a value is expected, not `void`")),
            TermKind::Old => Ok(self.olds.last().expect("inside an update").clone()),
            TermKind::Comma(terms) => {
                let Some((last, first)) = terms.split_last() else {
                    return Err(Problem::new(span, "a value is expected"));
                };
                first.iter().try_for_each(|term| self.effects(term))?;
                self.value(last)
            }
            TermKind::Call(callee, arguments) => {
                let mut results = self.call(callee, arguments, term, None)?;
                match results.pop() {
                    Some(value) if !self.cx.tree.types.is_opaque(&term.ty) => Ok(value),
                    _ if term.ty == CType::Void => Err(Problem::new(span, "a value is expected, not `void`")),
                    _ => Ok(Expr::choice(scalar)),
                }
            }
            TermKind::FloatCall(function, arguments) => self.float_call(*function, arguments, term),
            TermKind::Compose(_) => Err(Problem::unsupported(span, "this value of structure type is")),
            TermKind::Block(statements, value) => {
                self.inner_statements(statements, term.span)?;
                match value {
                    Some(value) => {
                        let result = self.value(value)?;
                        // What the value reads may change before it is used.
                        Ok(result)
                    }
                    None => Err(Problem::new(span, "a value is expected")),
                }
            }
            TermKind::Object(_)
            | TermKind::Deref(_)
            | TermKind::Field(..)
            | TermKind::Materialise(..)
            | TermKind::Literal(..) => {
                let place = self.place(term)?;
                self.read(&place, span)
            }
        }
    }

    /// A value of `&&` or `||` whose right side has effects.
    fn decided(&mut self, term: &Term) -> Checked<Expr> {
        let span = term.span;
        let ty = Scalar::Bits(32);
        let result = self.body.temporary(ty, span);
        let (yes, no, end) = (self.body.open(span), self.body.open(span), self.body.open(span));
        self.branch(term, yes, no)?;
        for (at, value) in [(yes, 1), (no, 0)] {
            self.body.at = at;
            self.body.assign(span, vec![result.into()], vec![Expr::constant(value, ty)]);
            self.body.join(end, span);
        }
        self.body.at = end;
        Ok(Expr::variable(result, ty))
    }

    fn convert(&mut self, inner: &Term, ty: &CType) -> Checked<Expr> {
        let scalar = self.cx.tree.types.scalar(ty);
        if *ty == CType::Void {
            self.effects(inner)?;
            return Ok(Expr::constant(0, scalar));
        }
        if *ty == CType::Bool && !inner.ty.is_float() {
            return Ok(bit(self.condition(inner)?));
        }
        let value = self.value(inner)?;
        if inner.ty.is_float() || ty.is_float() {
            return Ok(self.convert_float(value, &inner.ty, ty, inner.span));
        }
        Ok(resize(value, inner.ty.is_signed(), scalar))
    }

    /// A shift by the width or more, or by a negative number, gives any value.
    fn shift(&mut self, op: BinaryOp, left: &Term, right: &Term, span: Span) -> Checked<Expr> {
        let (value, amount) = self.operands(op, left, right)?;
        let (ty, wide) = (value.ty, amount.ty);
        let width = u64::from(ty.width());
        let amount = self.check_shift(amount, width, span);
        let (value, amount) = match (op, left.ty.is_signed()) {
            (BinaryOp::Shl, true) => self.check_shifted(value, amount, span),
            _ => (value, amount),
        };
        match amount.as_constant() {
            Some(amount) if amount < width => Ok(Expr::binary(op, value, Expr::constant(amount, ty))),
            Some(_) => Ok(Expr::choice(ty)),
            None => {
                let pure = self.is_pure(left) && self.is_pure(right);
                let amount = if pure { amount } else { self.stable(amount, span) };
                let inside = Expr::binary(BinaryOp::ULt, amount.clone(), Expr::constant(width, wide));
                let shifted = Expr::binary(op, value, resize(amount, false, ty));
                if self.asks(ViolationKind::Shift) {
                    return Ok(shifted);
                }
                Ok(Expr::if_then_else(inside, shifted, Expr::choice(ty)))
            }
        }
    }

    /// A division by zero, or of the least number by -1, traps if the result is used: such a run
    /// ends.
    fn divide(&mut self, op: BinaryOp, left: &Term, right: &Term, span: Span) -> Checked<Expr> {
        let (value, needs) = self.division(op, left, right, span)?;
        self.require(Expr::all(needs), span);
        Ok(value)
    }

    /// The result of a division, and what must hold so that it does not trap, as far as it is not
    /// checked.
    fn division(
        &mut self,
        op: BinaryOp,
        left: &Term,
        right: &Term,
        span: Span,
    ) -> Checked<(Expr, Vec<Expr>)> {
        let (dividend, divisor) = self.operands(op, left, right)?;
        let ty = dividend.ty;
        let signed = matches!(op, BinaryOp::SDiv | BinaryOp::SRem);
        let safe = |value: u64| value != 0 && (!signed || value != ty.max());
        if divisor.as_constant().is_some_and(safe) {
            return Ok((Expr::binary(op, dividend, divisor), Vec::new()));
        }
        let dividend = self.stable(dividend, span);
        let divisor = self.stable(divisor, span);
        let needs = self.check_division(&dividend, &divisor, signed, span);
        Ok((Expr::binary(op, dividend, divisor), needs))
    }

    /// A place gets a new value from its old one. The value of the whole is returned if it is asked
    /// for.
    fn update(
        &mut self,
        place: &Term,
        value: &Term,
        yields: Option<Yields>,
        span: Span,
    ) -> Checked<Option<Expr>> {
        let place = self.place(place)?;
        let old = self.read(&place, span)?;
        self.olds.push(old.clone());
        let new = self.value(value);
        self.olds.pop();
        let new = self.moved_argument(&place, &old, new?);
        let (mut targets, mut values) = (Vec::new(), Vec::new());
        let mut result = None;
        if yields == Some(Yields::Old) {
            let kept = self.body.temporary(old.ty, span);
            targets.push(kept.into());
            result = Some(Expr::variable(kept, old.ty));
            values.push(old);
        }
        self.write(&place, new, &mut targets, &mut values, span)?;
        self.body.assign(span, targets, values);
        if yields == Some(Yields::New) {
            result = Some(self.settled(&place, span)?);
        }
        Ok(result)
    }

    /// The value that a place has just got: what comes later in the same expression must not change
    /// it.
    fn settled(&mut self, place: &Place, span: Span) -> Checked<Expr> {
        let value = self.read(place, span)?;
        let mut shared = false;
        value.reads(&mut |variable, _| shared |= matches!(variable, Var::Global(_)));
        Ok(if shared { self.keep(value, span) } else { value })
    }

    /// The scalars of a value of structure type.
    pub(crate) fn aggregate(&mut self, term: &Term) -> Checked<Vec<Expr>> {
        let span = term.span;
        match &term.kind {
            TermKind::Load(place) => {
                let place = self.place(place)?;
                self.read_pieces(&place, span)
            }
            TermKind::Call(callee, arguments) => self.call(callee, arguments, term, None),
            TermKind::Comma(terms) => {
                let Some((last, first)) = terms.split_last() else {
                    return Err(Problem::new(span, "a value is expected"));
                };
                first.iter().try_for_each(|term| self.effects(term))?;
                self.aggregate(last)
            }
            TermKind::Assign(place, value) => {
                let place = self.assign(place, value, span)?;
                self.read_pieces(&place, span)
            }
            TermKind::Block(statements, Some(value)) => {
                self.inner_statements(statements, term.span)?;
                self.aggregate(value)
            }
            TermKind::Compose(terms) => {
                let values = self.values_in_order(terms)?;
                let is_opaque = |term: &Term| self.cx.tree.types.is_opaque(&term.ty);
                if terms.iter().any(is_opaque) {
                    self.note_float(span);
                }
                Ok(values)
            }
            TermKind::Conditional(condition, then, otherwise) => {
                let types = self.piece_types(&term.ty, span)?;
                let scalars = types.iter().map(|ty| self.cx.tree.types.scalar(ty)).collect::<Vec<_>>();
                let results: Vec<_> = scalars.iter().map(|ty| self.body.temporary(*ty, span)).collect();
                let (yes, no, end) =
                    (self.body.open(then.span), self.body.open(otherwise.span), self.body.open(span));
                self.branch(condition, yes, no)?;
                for (at, part) in [(yes, then), (no, otherwise)] {
                    self.body.at = at;
                    let values = self.aggregate(part)?;
                    let targets = results.iter().map(|result| (*result).into()).collect();
                    self.body.assign(part.span, targets, values);
                    self.body.join(end, part.span);
                }
                self.body.at = end;
                Ok(results.iter().zip(scalars).map(|(result, ty)| Expr::variable(*result, ty)).collect())
            }
            _ if term.is_place() => {
                let place = self.place(term)?;
                self.read_pieces(&place, span)
            }
            _ => Err(Problem::unsupported(span, "this value of structure type is")),
        }
    }

    fn read_pieces(&mut self, place: &Place, span: Span) -> Checked<Vec<Expr>> {
        let pieces = self.pieces(place, span)?;
        pieces.iter().map(|piece| self.read(piece, span)).collect()
    }

    /// Assigns the value of a term.
    pub(crate) fn assign_to(&mut self, place: &Place, value: &Term, span: Span) -> Checked<()> {
        if let TermKind::Call(callee, arguments) = &value.kind {
            // The result goes where it belongs without a detour, if it has the same width.
            if let Some(target) = self.direct(place).filter(|_| value.ty == *place.ty()) {
                self.call(callee, arguments, value, Some(target))?;
                return Ok(());
            }
        }
        if value.ty.is_scalar() {
            let (mut targets, mut values) = (Vec::new(), Vec::new());
            let value = self.value(value)?;
            self.write(place, value, &mut targets, &mut values, span)?;
            self.body.assign(span, targets, values);
            return Ok(());
        }
        if self.copy_bytes(place, value, span)? {
            return Ok(());
        }
        let parts = self.aggregate(value)?;
        self.check_writable(place, span);
        self.assign_parts(place, parts, span)
    }

    /// Copies an object with padding byte by byte, padding and all, if that is how memory is divided:
    /// the program may look at the bytes. Says whether it was done.
    fn copy_bytes(&mut self, to: &Place, value: &Term, span: Span) -> Checked<bool> {
        const MOST: u64 = 4096;
        let (Place::Memory { class, bits: None, ty, .. }, TermKind::Load(from)) = (to, &value.kind) else {
            return Ok(false);
        };
        let size = self.cx.tree.types.size(ty).filter(|size| *size <= MOST);
        let (Some(size), false) = (size, from.has_effects()) else { return Ok(false) };
        if *ty != value.ty || !self.cx.tree.types.has_padding(ty) || !self.is_in_bytes(*class, span) {
            return Ok(false);
        }
        let from = self.place(from)?;
        match &from {
            Place::Memory { class, bits: None, .. } if self.is_in_bytes(*class, span) => {}
            _ => return Ok(false),
        }
        self.check_access(&from, span);
        self.check_access(to, span);
        self.check_writable(to, span);
        let (mut targets, mut values) = (Vec::new(), Vec::new());
        for i in 0..size {
            let (Some(from), Some(to)) = (from.byte(i), to.byte(i)) else { return Ok(false) };
            let byte = self.read(&from, span)?;
            self.write(&to, byte, &mut targets, &mut values, span)?;
        }
        self.body.assign(span, targets, values);
        Ok(true)
    }

    /// Whether the memory of a class has a cell for each byte.
    pub(super) fn is_in_bytes(&mut self, class: Class, span: Span) -> bool {
        matches!(self.cx.division(class, span).everywhere().as_slice(), [(0, 1, cells)] if cells.size == 1)
    }

    /// The logical negation of a value, as a condition.
    pub(crate) fn negated(value: Expr) -> Expr {
        match value.kind {
            ExprKind::Unary(UnaryOp::Not, inner) => *inner,
            _ => value.not(),
        }
    }
}
