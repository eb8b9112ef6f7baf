//! The value of an expression.

use std::collections::BTreeMap;

use crate::expression::{BinaryOp, Expr, ExprKind, UnaryOp, When};
use crate::program::{ProcedureId, Program};
use crate::types::{MAX_WIDTH, Scalar};

/// Why a step has no outcome.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Blocked {
    /// A condition, constraint or invariant does not hold.
    False(&'static str),
    /// An index is outside its array.
    OutOfBounds,
    /// The step belongs to threads.
    Thread,
}

impl std::fmt::Display for Blocked {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        match self {
            Blocked::False(what) => write!(f, "the {what} does not hold"),
            Blocked::OutOfBounds => f.write_str("an index is outside its array"),
            Blocked::Thread => f.write_str("threads are not interpreted"),
        }
    }
}

/// Where nondeterministic values come from.
pub trait Choices {
    /// A value from 0 to `max`.
    fn choose(&mut self, max: u64) -> u64;

    /// The value of a cell of a variable that comes into being without one, from 0 to `max`.
    fn uninitialised(&mut self, max: u64) -> u64 {
        self.choose(max)
    }

    /// The value of a cell of memory that was never written; none is the usual one. The second part
    /// says whether it may hold anything.
    fn unset(&mut self, _cell: (u32, u64), _is_arbitrary: bool) -> Option<u64> {
        None
    }
}

/// Runs through all sequences of choices: repeat a computation until [`Odometer::advance`] says no.
#[derive(Default)]
pub(crate) struct Odometer {
    taken: Vec<(u64, u64)>,
    at: usize,
}

impl Odometer {
    /// Moves to the next sequence; false if there is none.
    pub(crate) fn advance(&mut self) -> bool {
        self.taken.truncate(self.at);
        self.at = 0;
        while let Some((value, max)) = self.taken.pop() {
            if value < max {
                self.taken.push((value + 1, max));
                return true;
            }
        }
        false
    }
}

impl Choices for Odometer {
    fn choose(&mut self, max: u64) -> u64 {
        if self.at == self.taken.len() {
            self.taken.push((0, max));
        }
        self.at += 1;
        self.taken[self.at - 1].0
    }
}

/// The cells of all variables at one moment, as one procedure sees them.
#[derive(Clone, Copy)]
pub(crate) struct Store<'a> {
    pub(crate) globals: &'a [u64],
    pub(crate) memory: &'a BTreeMap<(u32, u64), u64>,
    pub(crate) locals: &'a [u64],
}

/// What an expression is evaluated in.
#[derive(Clone, Copy)]
pub(crate) struct Scope<'a> {
    pub(crate) program: &'a Program,
    pub(crate) layout: &'a Layout,
    pub(crate) procedure: ProcedureId,
    pub(crate) now: Store<'a>,
    pub(crate) next: Option<Store<'a>>,
}

/// Where the cells of each variable start, and the edges of each location.
pub(crate) struct Layout {
    pub(crate) globals: Vec<usize>,
    pub(crate) locals: Vec<Vec<usize>>,
    /// For each procedure and location, its first edge; and one more entry.
    pub(crate) edges: Vec<Vec<u32>>,
}

impl Layout {
    pub(crate) fn new(program: &Program) -> Self {
        let starts = |variables: &[crate::program::Variable]| {
            let mut next = 0;
            let start = |variable: &crate::program::Variable| {
                next += variable.ty.cell_count();
                next - variable.ty.cell_count()
            };
            variables.iter().map(start).collect()
        };
        let locals = program.procedures.iter().map(|procedure| starts(&procedure.variables)).collect();
        let edges = program.procedures.iter().map(|procedure| {
            let count = procedure.locations.len() as u32;
            let first = |at| procedure.edges.partition_point(|edge| edge.from.0 < at) as u32;
            (0..=count).map(first).collect()
        });
        Self { globals: starts(&program.globals), locals, edges: edges.collect() }
    }
}

impl Scope<'_> {
    pub(crate) fn holds(&self, condition: &Expr, choices: &mut dyn Choices) -> Result<bool, Blocked> {
        Ok(self.value(condition, choices)? != 0)
    }

    pub(crate) fn indices(&self, indices: &[Expr], choices: &mut dyn Choices) -> Result<Vec<u64>, Blocked> {
        indices.iter().map(|index| self.value(index, choices)).collect()
    }

    pub(crate) fn value(&self, expr: &Expr, choices: &mut dyn Choices) -> Result<u64, Blocked> {
        Ok(match &expr.kind {
            ExprKind::Constant(value) => *value,
            ExprKind::Choice { below } => choices.choose(choice_max(expr.ty, *below)),
            ExprKind::Read { variable, indices, when } => {
                let indices = self.indices(indices, choices)?;
                let ty = &self.program.variable(self.procedure, *variable).ty;
                let store = match when {
                    When::Now => self.now,
                    When::Next => self.next.expect("the next state is only read where there is one"),
                };
                if let (true, crate::Var::Global(i), [address]) =
                    (ty.is_memory(), variable, indices.as_slice())
                {
                    let cell = (*i, *address);
                    let initial = self.program.globals[*i as usize].initial;
                    let usual = initial.unwrap_or(0);
                    return Ok(match store.memory.get(&cell) {
                        Some(value) => *value,
                        None => choices.unset(cell, initial.is_none()).unwrap_or(usual),
                    });
                }
                let cell = ty.cell(&indices).ok_or(Blocked::OutOfBounds)?;
                match variable {
                    crate::Var::Global(i) => store.globals[self.layout.globals[*i as usize] + cell],
                    crate::Var::Local(i) => {
                        store.locals[self.layout.locals[self.procedure.0 as usize][*i as usize] + cell]
                    }
                }
            }
            ExprKind::Unary(op, value) => unary(*op, self.value(value, choices)?, value.ty),
            ExprKind::Binary(op, left, right) => {
                let a = self.value(left, choices)?;
                match (op, a) {
                    (BinaryOp::And, 0) => 0,
                    (BinaryOp::Or, 1) | (BinaryOp::Implies, 0) => 1,
                    _ => binary(*op, a, self.value(right, choices)?, left.ty),
                }
            }
            ExprKind::ZeroExtend(value) => self.value(value, choices)? & expr.ty.max(),
            ExprKind::SignExtend(value) => {
                signed(self.value(value, choices)?, value.ty) as u64 & expr.ty.max()
            }
            ExprKind::Extract { value, low } => {
                self.value(value, choices)?.checked_shr(*low).unwrap_or(0) & expr.ty.max()
            }
            ExprKind::Float(op, operands) => op.apply(&self.indices(operands, choices)?),
            ExprKind::IfThenElse(condition, then, otherwise) => {
                let chosen = if self.holds(condition, choices)? { then } else { otherwise };
                self.value(chosen, choices)?
            }
        })
    }
}

/// The greatest value of a choice.
pub(crate) fn choice_max(ty: Scalar, below: Option<u64>) -> u64 {
    below.map_or(ty.max(), |below| below.saturating_sub(1).min(ty.max()))
}

fn signed(value: u64, ty: Scalar) -> i64 {
    let shift = MAX_WIDTH - ty.width();
    ((value << shift) as i64) >> shift
}

/// The result of an operation on one value of a type.
pub fn unary(op: UnaryOp, value: u64, ty: Scalar) -> u64 {
    let result = match op {
        UnaryOp::Not => u64::from(value == 0),
        UnaryOp::Neg => value.wrapping_neg(),
        UnaryOp::BitNot => !value,
    };
    result & ty.max()
}

/// The result of an operation on two values of a type.
///
/// ```
/// use wherefore_program::{BinaryOp, Scalar, binary};
///
/// let four = Scalar::Bits(4);
/// assert_eq!(binary(BinaryOp::Add, 9, 9, four), 2);
/// assert_eq!((binary(BinaryOp::ULt, 9, 1, four), binary(BinaryOp::SLt, 9, 1, four)), (0, 1));
/// assert_eq!((binary(BinaryOp::UDiv, 9, 0, four), binary(BinaryOp::URem, 9, 0, four)), (15, 9));
/// ```
pub fn binary(op: BinaryOp, a: u64, b: u64, ty: Scalar) -> u64 {
    use BinaryOp::*;
    let (sa, sb) = (signed(a, ty), signed(b, ty));
    let amount = u32::try_from(b).unwrap_or(MAX_WIDTH);
    let test = |holds: bool| u64::from(holds);
    let result = match op {
        And | BitAnd => a & b,
        Or | BitOr => a | b,
        Xor | BitXor => a ^ b,
        Implies => test(a == 0 || b != 0),
        Eq => test(a == b),
        Ne => test(a != b),
        ULt => test(a < b),
        ULe => test(a <= b),
        SLt => test(sa < sb),
        SLe => test(sa <= sb),
        Add => a.wrapping_add(b),
        Sub => a.wrapping_sub(b),
        Mul => a.wrapping_mul(b),
        UDiv => a.checked_div(b).unwrap_or(u64::MAX),
        URem => a.checked_rem(b).unwrap_or(a),
        SDiv if b == 0 => {
            if sa < 0 {
                1
            } else {
                u64::MAX
            }
        }
        SDiv => sa.wrapping_div(sb) as u64,
        SRem if b == 0 => a,
        SRem => sa.wrapping_rem(sb) as u64,
        Shl if amount >= ty.width() => 0,
        Shl => a << amount,
        LShr if amount >= ty.width() => 0,
        LShr => a >> amount,
        AShr => (sa >> amount.min(MAX_WIDTH - 1)) as u64,
    };
    if op.is_test() { result & 1 } else { result & ty.max() }
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;

    use super::*;

    #[test]
    fn signed_operations_wrap_and_round_towards_zero() {
        let eight = Scalar::Bits(8);
        let byte = |value: i8| u64::from(value as u8);
        assert_eq!(binary(BinaryOp::SDiv, byte(-7), 2, eight), byte(-3));
        assert_eq!(binary(BinaryOp::SRem, byte(-7), 2, eight), byte(-1));
        assert_eq!(binary(BinaryOp::SDiv, byte(-128), byte(-1), eight), byte(-128));
        assert_eq!(binary(BinaryOp::SDiv, byte(-7), 0, eight), 1);
        assert_eq!(binary(BinaryOp::SDiv, 7, 0, eight), 255);
        assert_eq!(binary(BinaryOp::AShr, byte(-2), 200, eight), 255);
        assert_eq!(binary(BinaryOp::AShr, byte(-8), 1, eight), byte(-4));
        assert_eq!(binary(BinaryOp::Shl, 1, 8, eight), 0);
        assert_eq!(binary(BinaryOp::LShr, 200, 3, eight), 25);
        assert_eq!(unary(UnaryOp::Neg, 1, eight), 255);
        assert_eq!(unary(UnaryOp::BitNot, 1, eight), 254);
        assert_eq!(binary(BinaryOp::SDiv, i64::MIN as u64, u64::MAX, Scalar::Bits(64)), i64::MIN as u64);
        assert_eq!(binary(BinaryOp::Sub, 0, 1, Scalar::Bits(64)), u64::MAX);
    }

    proptest! {
        #[test]
        fn operations_agree_with_wide_integers(a: u64, b: u64, small in 0_u64..80, width in 1_u32..=64) {
            let ty = Scalar::Bits(width);
            let (a, modulus) = (a & ty.max(), 1_i128 << width);
            let to_signed = |v: u64| {
                let v = i128::from(v);
                if v >= modulus / 2 { v - modulus } else { v }
            };
            let wrap = |v: i128| v.rem_euclid(modulus) as u64;
            for b in [b & ty.max(), small & ty.max()] {
                let (ua, ub, sa, sb) = (i128::from(a), i128::from(b), to_signed(a), to_signed(b));
                let shift = |v: i128| if ub >= i128::from(width) { 0 } else { v };
                prop_assert_eq!(binary(BinaryOp::Add, a, b, ty), wrap(ua + ub));
                prop_assert_eq!(binary(BinaryOp::Sub, a, b, ty), wrap(ua - ub));
                prop_assert_eq!(binary(BinaryOp::Mul, a, b, ty), wrap(sa * sb));
                prop_assert_eq!(binary(BinaryOp::ULt, a, b, ty), u64::from(ua < ub));
                prop_assert_eq!(binary(BinaryOp::ULe, a, b, ty), u64::from(ua <= ub));
                prop_assert_eq!(binary(BinaryOp::SLt, a, b, ty), u64::from(sa < sb));
                prop_assert_eq!(binary(BinaryOp::SLe, a, b, ty), u64::from(sa <= sb));
                prop_assert_eq!(binary(BinaryOp::Shl, a, b, ty), wrap(shift(ua << ub.min(63))));
                prop_assert_eq!(binary(BinaryOp::LShr, a, b, ty), wrap(shift(ua >> ub.min(63))));
                prop_assert_eq!(binary(BinaryOp::AShr, a, b, ty), wrap(sa >> ub.min(63)));
                if b != 0 {
                    prop_assert_eq!(binary(BinaryOp::UDiv, a, b, ty), wrap(ua / ub));
                    prop_assert_eq!(binary(BinaryOp::URem, a, b, ty), wrap(ua % ub));
                    prop_assert_eq!(binary(BinaryOp::SDiv, a, b, ty), wrap(sa / sb));
                    prop_assert_eq!(binary(BinaryOp::SRem, a, b, ty), wrap(sa % sb));
                }
            }
            prop_assert_eq!(unary(UnaryOp::Neg, a, ty), wrap(-i128::from(a)));
            prop_assert_eq!(unary(UnaryOp::BitNot, a, ty), wrap(-1 - i128::from(a)));
        }
    }

    #[test]
    fn widths_change_by_zeros_signs_and_cuts() {
        let program = Program {
            sources: vec![],
            globals: vec![],
            procedures: vec![],
            entry: ProcedureId(0),
            objects: crate::Objects::default(),
        };
        let layout = Layout::new(&program);
        let memory = BTreeMap::new();
        let now = Store { globals: &[], memory: &memory, locals: &[] };
        let scope = Scope { program: &program, layout: &layout, procedure: ProcedureId(0), now, next: None };
        let value = |kind, width| {
            let expr = Expr { kind, ty: Scalar::Bits(width) };
            scope.value(&expr, &mut Odometer::default()).unwrap()
        };
        let twelve = || Box::new(Expr::constant(12, Scalar::Bits(4)));
        assert_eq!(value(ExprKind::ZeroExtend(twelve()), 8), 12);
        assert_eq!(value(ExprKind::SignExtend(twelve()), 8), 0xfc);
        assert_eq!(value(ExprKind::ZeroExtend(twelve()), 3), 4);
        assert_eq!(value(ExprKind::SignExtend(twelve()), 3), 4);
        assert_eq!(value(ExprKind::Extract { value: twelve(), low: 2 }, 2), 3);
        let pick = |holds| {
            ExprKind::IfThenElse(
                Box::new(Expr::bool(holds)),
                twelve(),
                Box::new(Expr::constant(1, Scalar::Bits(4))),
            )
        };
        assert_eq!((value(pick(true), 4), value(pick(false), 4)), (12, 1));
    }

    #[test]
    fn the_odometer_runs_through_all_sequences_of_choices() {
        let mut odometer = Odometer::default();
        let mut seen = Vec::new();
        loop {
            let first = odometer.choose(1);
            let second = if first == 1 { Some(odometer.choose(2)) } else { None };
            seen.push((first, second));
            if !odometer.advance() {
                break;
            }
        }
        assert_eq!(seen, [(0, None), (1, Some(0)), (1, Some(1)), (1, Some(2))]);
    }
}
