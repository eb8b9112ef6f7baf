//! Expressions as linear forms over slots.

use std::collections::BTreeMap;

use wherefore_program::{BinaryOp, Expr, ExprKind, ProcedureId, UnaryOp, When};

use crate::slots::Slots;

/// `constant + Σ factor · slot`.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub(crate) struct Linear {
    pub constant: i64,
    /// No factor is 0.
    pub terms: BTreeMap<usize, i64>,
}

/// In which numbers one computes.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Numbers {
    /// Modulo two to the power of this, of values that have at least so many bits: of their low
    /// bits. Sums and multiples of low bits, and conversions that keep them, need no others.
    Modulo(u32),
    /// The integers, of variables with exactly so many bits, as if nothing could wrap and no
    /// conversion changed a value. The flag says whether constants are read as signed.
    Integers(u32, bool),
}

impl Numbers {
    fn fits(self, width: u32) -> bool {
        let (Numbers::Modulo(bits) | Numbers::Integers(bits, _)) = self;
        width >= bits
    }

    fn add(self, a: i64, b: i64) -> Option<i64> {
        match self {
            Numbers::Modulo(_) => Some(a.wrapping_add(b)),
            Numbers::Integers(..) => a.checked_add(b),
        }
    }

    fn multiply(self, a: i64, b: i64) -> Option<i64> {
        match self {
            Numbers::Modulo(_) => Some(a.wrapping_mul(b)),
            Numbers::Integers(..) => a.checked_mul(b),
        }
    }

    /// A constant of an expression.
    pub fn constant(self, value: u64, width: u32) -> Option<i64> {
        match self {
            Numbers::Modulo(_) => Some(value as i64),
            Numbers::Integers(_, true) => {
                let unused = 64 - width;
                Some(((value << unused) as i64) >> unused)
            }
            Numbers::Integers(_, false) => i64::try_from(value).ok(),
        }
    }
}

impl Linear {
    pub fn constant(constant: i64) -> Self {
        Self { constant, terms: BTreeMap::new() }
    }

    pub fn slot(slot: usize) -> Self {
        Self { constant: 0, terms: BTreeMap::from([(slot, 1)]) }
    }

    /// `[a₀, a₁, …, aₙ]`.
    pub fn vector(&self, slots: usize) -> Vec<i64> {
        let mut vector = vec![0; slots + 1];
        vector[0] = self.constant;
        for (slot, factor) in &self.terms {
            vector[slot + 1] = *factor;
        }
        vector
    }

    fn scaled(&self, factor: i64, numbers: Numbers) -> Option<Self> {
        let mut scaled = Self::constant(numbers.multiply(self.constant, factor)?);
        for (slot, old) in &self.terms {
            let new = numbers.multiply(*old, factor)?;
            if new != 0 {
                scaled.terms.insert(*slot, new);
            }
        }
        Some(scaled)
    }

    fn plus(&self, other: &Self, numbers: Numbers) -> Option<Self> {
        let mut sum = self.clone();
        sum.constant = numbers.add(sum.constant, other.constant)?;
        for (slot, factor) in &other.terms {
            let old = sum.terms.remove(slot).unwrap_or(0);
            let new = numbers.add(old, *factor)?;
            if new != 0 {
                sum.terms.insert(*slot, new);
            }
        }
        Some(sum)
    }

    pub fn minus(&self, other: &Self, numbers: Numbers) -> Option<Self> {
        self.plus(&other.scaled(-1, numbers)?, numbers)
    }

    /// The form of an expression; none if it has none.
    pub fn of(expr: &Expr, slots: &Slots, procedure: ProcedureId, numbers: Numbers) -> Option<Self> {
        let width = expr.ty.width();
        if !numbers.fits(width) {
            return None;
        }
        let part = |expr: &Expr| Self::of(expr, slots, procedure, numbers);
        match &expr.kind {
            ExprKind::Constant(value) => Some(Self::constant(numbers.constant(*value, width)?)),
            ExprKind::Read { variable, indices, when: When::Now } if indices.is_empty() => {
                slots.of(procedure, *variable).map(Self::slot)
            }
            ExprKind::Unary(UnaryOp::Neg, value) => part(value)?.scaled(-1, numbers),
            // −x − 1
            ExprKind::Unary(UnaryOp::BitNot, value) => {
                part(value)?.scaled(-1, numbers)?.plus(&Self::constant(-1), numbers)
            }
            ExprKind::Binary(op, left, right) => {
                let (left, right) = (part(left), part(right));
                match op {
                    BinaryOp::Add => left?.plus(&right?, numbers),
                    BinaryOp::Sub => left?.minus(&right?, numbers),
                    BinaryOp::Mul => {
                        let (left, right) = (left?, right?);
                        match (left.terms.is_empty(), right.terms.is_empty()) {
                            (_, true) => left.scaled(right.constant, numbers),
                            (true, _) => right.scaled(left.constant, numbers),
                            _ => None,
                        }
                    }
                    BinaryOp::Shl => {
                        let by = right.filter(|by| by.terms.is_empty())?.constant;
                        let by = u32::try_from(by).ok().filter(|by| *by < width.min(63))?;
                        left?.scaled(1 << by, numbers)
                    }
                    _ => None,
                }
            }
            // Between widths that both have the low bits, conversions keep these.
            ExprKind::ZeroExtend(value)
            | ExprKind::SignExtend(value)
            | ExprKind::Extract { value, low: 0 } => part(value),
            _ => None,
        }
    }
}

/// The equations `form = 0` that a condition says, if it is as `truth` says.
pub(crate) fn equations(
    condition: &Expr,
    truth: bool,
    slots: &Slots,
    procedure: ProcedureId,
    numbers: Numbers,
) -> Vec<Linear> {
    let part = |expr: &Expr, truth| equations(expr, truth, slots, procedure, numbers);
    match &condition.kind {
        ExprKind::Unary(UnaryOp::Not, inner) => part(inner, !truth),
        ExprKind::Binary(op, left, right) => match (op, truth) {
            (BinaryOp::And, true) | (BinaryOp::Or, false) => [part(left, truth), part(right, truth)].concat(),
            (BinaryOp::Implies, false) => [part(left, true), part(right, false)].concat(),
            (BinaryOp::Eq, true) | (BinaryOp::Ne, false) => {
                let form = |expr: &Expr| Linear::of(expr, slots, procedure, numbers);
                let difference = form(left).zip(form(right)).and_then(|(a, b)| a.minus(&b, numbers));
                difference.into_iter().collect()
            }
            _ => Vec::new(),
        },
        _ => Vec::new(),
    }
}
