//! Small sets of numbers: which of a few values an expression can have.
//!
//! Bounds say little about a pointer to one of two objects, or about the address of an element of
//! an array of structures: most numbers between the bounds are no such address. A set says exactly
//! which objects or elements are meant.

use std::sync::Arc;

use wherefore_program::{Expr, ExprKind, Scalar, When, binary, unary};

use crate::expression::{Known, range_of};
use crate::range::Range;

/// Sets with more numbers are not kept.
pub(crate) const MOST: usize = 16;

/// At most 16 numbers, in ascending order; at least one.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Few(Arc<[u64]>);

impl Few {
    /// The set of some numbers; none if there are too many of them, or none at all.
    pub(crate) fn new(values: impl IntoIterator<Item = u64>) -> Option<Self> {
        let mut list: Vec<u64> = values.into_iter().collect();
        list.sort_unstable();
        list.dedup();
        (1..=MOST).contains(&list.len()).then(|| Self(list.into()))
    }

    /// All numbers of a range, if they are few.
    pub(crate) fn of_range(range: Range) -> Option<Self> {
        let (low, high) = range.unsigned_bounds();
        let count = high - low;
        (count < MOST as u64).then(|| Self::new((low..=high).filter(|value| range.contains(*value))))?
    }

    /// The numbers.
    pub fn values(&self) -> &[u64] {
        &self.0
    }

    /// The least range that has all of the numbers.
    pub(crate) fn range(&self, ty: Scalar) -> Range {
        let ranges = self.0.iter().map(|value| Range::constant(*value, ty));
        ranges.reduce(Range::join).unwrap_or_else(|| Range::full(ty))
    }

    /// The numbers that are in a range; none if there are none.
    pub(crate) fn within(&self, range: Range) -> Option<Self> {
        if self.0.iter().all(|value| range.contains(*value)) {
            return Some(self.clone());
        }
        Self::new(self.0.iter().copied().filter(|value| range.contains(*value)))
    }

    /// The numbers of both sets, if they are few.
    pub(crate) fn join(&self, other: &Self) -> Option<Self> {
        if self.includes(other) {
            return Some(self.clone());
        }
        Self::new(self.0.iter().chain(other.0.iter()).copied())
    }

    /// Whether all numbers of another set are in this one.
    pub(crate) fn includes(&self, other: &Self) -> bool {
        other.0.iter().all(|value| self.0.binary_search(value).is_ok())
    }

    fn map(&self, change: impl Fn(u64) -> u64) -> Option<Self> {
        Self::new(self.0.iter().map(|value| change(*value)))
    }
}

/// The values of an expression, if they are few. What is not evaluated, because of an operator that
/// does not look at its right side, counts as well.
pub fn few_values(expr: &Expr, known: &impl Known) -> Option<Few> {
    let from_parts = match &expr.kind {
        ExprKind::Constant(value) => Few::new([*value]),
        ExprKind::Read { variable, when: When::Now, .. } => known.few(*variable).cloned(),
        ExprKind::Unary(op, value) => {
            few_values(value, known).and_then(|few| few.map(|number| unary(*op, number, value.ty)))
        }
        ExprKind::Binary(op, left, right) if !op.is_test() => {
            few_values(left, known).zip(few_values(right, known)).and_then(|(a, b)| {
                let pairs = a.0.iter().flat_map(|a| b.0.iter().map(move |b| (*a, *b)));
                Few::new(pairs.map(|(a, b)| binary(*op, a, b, left.ty)))
            })
        }
        ExprKind::ZeroExtend(value) => {
            few_values(value, known).and_then(|few| few.map(|number| number & expr.ty.max()))
        }
        ExprKind::SignExtend(value) => few_values(value, known).and_then(|few| {
            let shift = 64 - value.ty.width();
            few.map(|number| (((number << shift) as i64) >> shift) as u64 & expr.ty.max())
        }),
        ExprKind::IfThenElse(condition, then, otherwise) => match range_of(condition, known).as_constant() {
            Some(0) => few_values(otherwise, known),
            Some(_) => few_values(then, known),
            None => few_values(then, known)
                .zip(few_values(otherwise, known))
                .and_then(|(then, otherwise)| then.join(&otherwise)),
        },
        _ => None,
    };
    from_parts.or_else(|| Few::of_range(range_of(expr, known)))
}
