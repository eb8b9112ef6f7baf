//! Expressions: from the tree to typed expressions of the program.
//!
//! A number is as wide as it needs to be. Where two widths meet, the narrower is widened with zeros
//! and the operation is done modulo two to the power of the wider. What is assigned is cut to the
//! width of its target, or widened.

use wherefore_program::{BinaryOp, Expr, Scalar, Target, Type, When};

use super::ast::{self, At, ExprKind, Kind, Operator, Quantifier, Reference};
use super::declare::{Entity, EnumId, Part, Scopes, Types, fold, width_of};
use crate::diagnostics::Reporter;

/// More parts than this in one statement, after quantifiers are written out, are refused.
const MAX_PARTS: usize = 1 << 18;

/// The value of an expression.
#[derive(Clone)]
pub(super) enum Value {
    /// A constant, exact.
    Number(i128),
    Bool(Expr),
    /// An integer, and the enumeration that it is known to be from.
    Bits(Expr, Option<EnumId>),
}

/// A part of a variable: one cell if there is an index a dimension, else the whole.
#[derive(Clone)]
pub(super) struct Selected {
    pub(super) part: Part,
    pub(super) indices: Vec<Expr>,
}

impl Selected {
    pub(super) fn is_cell(&self) -> bool {
        self.indices.len() == self.part.ty.dimensions().len()
    }

    pub(super) fn element(&self) -> Scalar {
        self.part.ty.element()
    }

    pub(super) fn target(&self) -> Target {
        Target { variable: self.part.var, indices: self.indices.clone() }
    }

    pub(super) fn read(&self, when: When) -> Expr {
        Expr::read(self.part.var, self.indices.clone(), when, self.element())
    }

    /// All its cells.
    pub(super) fn cells(&self) -> Vec<Selected> {
        if self.is_cell() {
            return vec![self.clone()];
        }
        let ty = &self.part.ty;
        let cell = |i| {
            let indices = ty.indices(i).into_iter().map(number).collect();
            Selected { part: self.part.clone(), indices }
        };
        (0..ty.cell_count()).map(cell).collect()
    }
}

/// A constant as wide as it needs to be.
fn number(value: u64) -> Expr {
    Expr::constant(value, Scalar::Bits(width_of(value)))
}

/// What primes mean in a rule: the callee's variables and the caller's are given to the rule's own
/// resolver.
pub(super) trait Primes {
    /// The expression for a primed reference to a cell; none if it was refused and reported.
    fn primed(&mut self, reference: &Reference, context: &mut Context<'_, '_, '_>) -> Option<Value>;
}

/// Where expressions stand.
pub(super) struct Context<'a, 'r, 't> {
    pub(super) types: &'a Types,
    pub(super) scopes: &'a Scopes<'a>,
    pub(super) reporter: &'r mut Reporter<'t>,
    /// Variables of quantifiers with their values, the innermost last.
    pub(super) bound: Vec<(String, u64)>,
    /// How many parts were made in this statement.
    pub(super) parts: usize,
}

impl Context<'_, '_, '_> {
    pub(super) fn error<T>(&mut self, at: &At, message: impl Into<String>) -> Option<T> {
        self.reporter.error(at.clone(), message);
        None
    }

    /// Refuses statements that grow too large.
    pub(super) fn count(&mut self, at: &At) -> Option<()> {
        self.parts += 1;
        if self.parts > MAX_PARTS {
            return self.error(at, "the statement is too large once its quantifiers are written out");
        }
        Some(())
    }

    /// The values of a quantified variable.
    pub(super) fn range(&mut self, quantifier: &Quantifier) -> Option<std::ops::RangeInclusive<u64>> {
        let low = self.constant(&quantifier.low)?;
        let high = self.constant(&quantifier.high)?;
        if high.saturating_sub(low) >= MAX_PARTS as u64 {
            return self.error(&quantifier.high.at, "the range is too large");
        }
        Some(low..=high)
    }

    /// A constant, in which variables of outer quantifiers may occur.
    fn constant(&mut self, expr: &ast::Expr) -> Option<u64> {
        match self.value(expr, &mut NoPrimes)? {
            Value::Number(value) => self.fits(value, &expr.at),
            _ => self.error(&expr.at, "a constant is needed here"),
        }
    }

    fn bound_value(&self, name: &str) -> Option<u64> {
        self.bound.iter().rev().find(|(bound, _)| bound == name).map(|(_, value)| *value)
    }

    pub(super) fn bool(&mut self, expr: &ast::Expr, primes: &mut dyn Primes) -> Option<Expr> {
        match self.value(expr, primes)? {
            Value::Bool(expr) => Some(expr),
            _ => self.error(&expr.at, "expected a truth value, found an integer"),
        }
    }

    pub(super) fn value(&mut self, expr: &ast::Expr, primes: &mut dyn Primes) -> Option<Value> {
        self.count(&expr.at)?;
        match &expr.kind {
            ExprKind::Number(value) => Some(Value::Number(i128::from(*value))),
            ExprKind::Bool(value) => Some(Value::Bool(Expr::bool(*value))),
            ExprKind::Undef => {
                self.error(&expr.at, "`undef` stands alone on the right of `=`, or is an argument")
            }
            ExprKind::Reference(reference) if reference.primes > 0 => primes.primed(reference, self),
            ExprKind::Reference(reference) => self.read(reference, primes),
            ExprKind::Not(inner) => Some(Value::Bool(self.bool(inner, primes)?.not())),
            ExprKind::All(parts) => Some(Value::Bool(Expr::all(self.bools(parts, primes)?))),
            ExprKind::Any(parts) => Some(Value::Bool(Expr::any(self.bools(parts, primes)?))),
            ExprKind::Binary(operator, left, right) => {
                // Both sides are looked at, so that mistakes in both are found.
                let (a, b) = (self.value(left, primes), self.value(right, primes));
                self.binary(*operator, a?, b?, &expr.at)
            }
            ExprKind::Quantified(quantifier, body) => {
                let mut parts = Vec::new();
                for value in self.range(quantifier)? {
                    self.bound.push((quantifier.name.text.clone(), value));
                    let part = self.bool(body, primes);
                    self.bound.pop();
                    parts.push(part?);
                }
                Some(Value::Bool(match quantifier.kind {
                    Kind::All => Expr::all(parts),
                    Kind::Some => Expr::any(parts),
                }))
            }
        }
    }

    fn bools(&mut self, parts: &[ast::Expr], primes: &mut dyn Primes) -> Option<Vec<Expr>> {
        let parts: Vec<Option<Expr>> = parts.iter().map(|part| self.bool(part, primes)).collect();
        parts.into_iter().collect()
    }

    fn read(&mut self, reference: &Reference, primes: &mut dyn Primes) -> Option<Value> {
        let name = &reference.name.text;
        if reference.is_name() {
            if let Some(value) = self.bound_value(name) {
                return Some(Value::Number(i128::from(value)));
            }
            match self.scopes.find(name) {
                Some(Entity::Constant(value)) => return Some(Value::Number(i128::from(*value))),
                Some(Entity::EnumValue(id, value)) => {
                    let ty = Scalar::Bits(self.types.enumerations[*id].width());
                    return Some(Value::Bits(Expr::constant(*value, ty), Some(*id)));
                }
                _ => {}
            }
        }
        let cell = self.cell(reference, primes)?;
        Some(cell_value(&cell, When::Now))
    }

    /// A reference to one cell.
    pub(super) fn cell(&mut self, reference: &Reference, primes: &mut dyn Primes) -> Option<Selected> {
        let mut selected = self.select(reference, primes)?;
        match (selected.pop(), selected.is_empty()) {
            (Some(cell), true) if cell.is_cell() => Some(cell),
            _ => {
                let message = format!("`{}` is not a single value", reference.name.text);
                self.error(&reference.at, message)
            }
        }
    }

    /// What a reference names in the variables of its own scope: one part, or all fields of a
    /// structure.
    pub(super) fn select(&mut self, reference: &Reference, primes: &mut dyn Primes) -> Option<Vec<Selected>> {
        let Some(entity) = self.scopes.find(&reference.name.text) else {
            if !self.types.incomplete {
                let message = format!("`{}` is not declared", reference.name.text);
                self.reporter.error(reference.name.at.clone(), message);
            }
            return None;
        };
        self.select_in(&entity.clone(), reference, primes)
    }

    /// What a reference names if its name stands for `entity`.
    pub(super) fn select_in(
        &mut self,
        entity: &Entity,
        reference: &Reference,
        primes: &mut dyn Primes,
    ) -> Option<Vec<Selected>> {
        let at = &reference.at;
        let name = &reference.name.text;
        let mut indices = self.indices(&reference.indices, primes)?;
        match entity {
            Entity::Constant(_) | Entity::EnumValue(..) => {
                self.error(at, format!("`{name}` is not a variable"))
            }
            Entity::Variable(part) => {
                if let Some((field, _)) = &reference.field {
                    return self.error(&field.at, format!("`{name}` is not a structure"));
                }
                Some(vec![self.selected(part, indices, at)?])
            }
            Entity::Struct { fields, dimensions } => {
                let whole = indices.is_empty() && reference.field.is_none();
                if !whole && indices.len() != *dimensions {
                    return self
                        .error(at, format!("`{name}` needs {dimensions} indices, not {}", indices.len()));
                }
                let Some((field, inner)) = &reference.field else {
                    let select = |(_, part): &(String, Part)| Selected {
                        part: part.clone(),
                        indices: indices.clone(),
                    };
                    return Some(fields.iter().map(select).collect());
                };
                let Some((_, part)) = fields.iter().find(|(name, _)| *name == field.text) else {
                    return self.error(&field.at, format!("`{name}` has no field `{}`", field.text));
                };
                indices.extend(self.indices(inner, primes)?);
                Some(vec![self.selected(part, indices, at)?])
            }
        }
    }

    fn selected(&mut self, part: &Part, indices: Vec<Expr>, at: &At) -> Option<Selected> {
        let wanted = part.ty.dimensions().len();
        if !indices.is_empty() && indices.len() != wanted {
            return self.error(at, format!("{wanted} indices are needed here, not {}", indices.len()));
        }
        Some(Selected { part: part.clone(), indices })
    }

    fn indices(&mut self, indices: &[ast::Expr], primes: &mut dyn Primes) -> Option<Vec<Expr>> {
        let mut lowered = Vec::new();
        for index in indices {
            lowered.push(match self.value(index, primes)? {
                Value::Number(value) => number(self.fits(value, &index.at)?),
                Value::Bits(expr, _) => expr,
                Value::Bool(_) => return self.error(&index.at, "expected an integer, found a truth value"),
            });
        }
        Some(lowered)
    }

    fn fits(&mut self, value: i128, at: &At) -> Option<u64> {
        match u64::try_from(value) {
            Ok(value) => Some(value),
            Err(_) if value < 0 => self.error(at, "the constant is negative"),
            Err(_) => self.error(at, "the constant is too large"),
        }
    }

    fn binary(&mut self, operator: Operator, a: Value, b: Value, at: &At) -> Option<Value> {
        use Operator::{Eq, Ne, Xor};
        if let (Value::Number(a), Value::Number(b)) = (&a, &b) {
            return match compare(operator, *a, *b).map(|holds| Value::Bool(Expr::bool(holds))) {
                Some(value) => Some(value),
                None if operator == Xor => self.error(at, "`^^` needs truth values"),
                None => match fold(operator, *a, *b) {
                    Some(value) => Some(Value::Number(value)),
                    None => self.error(at, "the constant cannot be computed"),
                },
            };
        }
        let (a, b) = match (a, b) {
            (Value::Bool(a), Value::Bool(b)) => {
                return match operator {
                    Eq => Some(Value::Bool(Expr::binary(BinaryOp::Eq, a, b))),
                    Ne | Xor => Some(Value::Bool(Expr::binary(BinaryOp::Xor, a, b))),
                    _ => self.error(at, "expected integers, found truth values"),
                };
            }
            (Value::Bool(_), _) | (_, Value::Bool(_)) => {
                return self.error(at, "a truth value and an integer do not mix");
            }
            _ if operator == Xor => return self.error(at, "`^^` needs truth values"),
            (Value::Number(a), Value::Bits(b, _)) => (number(self.fits(a, at)?), b),
            (Value::Bits(a, _), Value::Number(b)) => (a, number(self.fits(b, at)?)),
            (Value::Bits(a, _), Value::Bits(b, _)) => (a, b),
            (Value::Number(_), Value::Number(_)) => unreachable!("constants are folded"),
        };
        let width = a.ty.width().max(b.ty.width());
        let (a, b) = (a.zero_extend(width), b.zero_extend(width));
        let (op, a, b) = match operator {
            Operator::Gt => (BinaryOp::ULt, b, a),
            Operator::Ge => (BinaryOp::ULe, b, a),
            Operator::Lt => (BinaryOp::ULt, a, b),
            Operator::Le => (BinaryOp::ULe, a, b),
            Eq => (BinaryOp::Eq, a, b),
            Ne => (BinaryOp::Ne, a, b),
            Operator::Add => (BinaryOp::Add, a, b),
            Operator::Sub => (BinaryOp::Sub, a, b),
            Operator::Mul => (BinaryOp::Mul, a, b),
            Operator::Div => (BinaryOp::UDiv, a, b),
            Operator::Rem => (BinaryOp::URem, a, b),
            Operator::Shl => (BinaryOp::Shl, a, b),
            Operator::Shr => (BinaryOp::LShr, a, b),
            Operator::BitAnd => (BinaryOp::BitAnd, a, b),
            Operator::BitOr => (BinaryOp::BitOr, a, b),
            Operator::BitXor => (BinaryOp::BitXor, a, b),
            Xor => unreachable!("`^^` is for truth values"),
        };
        let expr = Expr::binary(op, a, b);
        Some(if expr.ty == Scalar::Bool { Value::Bool(expr) } else { Value::Bits(expr, None) })
    }

    /// A value for something of type `ty`, with a condition under which it is one of an
    /// enumeration.
    pub(super) fn convert(
        &mut self,
        value: Value,
        ty: Scalar,
        enumeration: Option<EnumId>,
        at: &At,
    ) -> Option<(Expr, Option<Expr>)> {
        let limit = enumeration.map(|id| self.types.enumerations[id].values.len() as u64);
        match (value, ty) {
            (Value::Bool(expr), Scalar::Bool) => Some((expr, None)),
            (Value::Bool(_), Scalar::Bits(_)) => self.error(at, "expected an integer, found a truth value"),
            (Value::Number(_) | Value::Bits(..), Scalar::Bool) => {
                self.error(at, "expected a truth value, found an integer")
            }
            (Value::Number(value), Scalar::Bits(_)) => {
                let value = self.fits(value, at)?;
                if limit.is_some_and(|limit| value >= limit) {
                    return self.error(at, "the enumeration has no such value");
                }
                Some((Expr::constant(value, ty), None))
            }
            (Value::Bits(expr, from), Scalar::Bits(width)) => {
                let condition = limit.filter(|_| from != enumeration).map(|limit| {
                    let wide = expr.ty.width().max(width_of(limit));
                    let limit = Expr::constant(limit, Scalar::Bits(wide));
                    Expr::binary(BinaryOp::ULt, expr.clone().zero_extend(wide), limit)
                });
                Some((expr.zero_extend(width), condition))
            }
        }
    }

    /// Any value of a part.
    pub(super) fn arbitrary(&self, part: &Part) -> Expr {
        let below = part.enumeration.map(|id| self.types.enumerations[id].values.len() as u64);
        Expr { kind: wherefore_program::ExprKind::Choice { below }, ty: part.ty.element() }
    }
}

/// The value of a cell.
pub(super) fn cell_value(cell: &Selected, when: When) -> Value {
    match cell.part.ty {
        Type::Scalar(Scalar::Bool) | Type::Array { element: Scalar::Bool, .. } => {
            Value::Bool(cell.read(when))
        }
        _ => Value::Bits(cell.read(when), cell.part.enumeration),
    }
}

fn compare(operator: Operator, a: i128, b: i128) -> Option<bool> {
    Some(match operator {
        Operator::Eq => a == b,
        Operator::Ne => a != b,
        Operator::Lt => a < b,
        Operator::Le => a <= b,
        Operator::Gt => a > b,
        Operator::Ge => a >= b,
        _ => return None,
    })
}

/// Where there are no rules, there are no primes.
pub(super) struct NoPrimes;

impl Primes for NoPrimes {
    fn primed(&mut self, reference: &Reference, context: &mut Context<'_, '_, '_>) -> Option<Value> {
        context.error(&reference.at, "primes are for rules only")
    }
}
