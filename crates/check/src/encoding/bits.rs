//! Expressions as predicates: one decision diagram a bit.
//!
//! Arithmetic is that of `wherefore-program`: it wraps, division by zero is as in SMT-LIB, an index
//! out of bounds has no value.

use wherefore_domains::bdd::{BddRelations, Predicate};
use wherefore_program::{BinaryOp, Expr, ExprKind, ProcedureId, Program, UnaryOp, Var, When};

use super::layout::Layout;

/// A value: its bits, the lowest first, and the condition under which there is one.
#[derive(Clone)]
pub(crate) struct Value {
    pub bits: Vec<Predicate>,
    pub valid: Predicate,
}

/// Where the bits of variables are read.
pub(crate) trait Reads {
    /// A bit of a store, before or after the step.
    fn bit(&self, bit: usize, when: When) -> Predicate;
}

/// Translates the expressions of one step of one procedure.
pub(crate) struct Translator<'a, R> {
    pub domain: &'a BddRelations,
    pub program: &'a Program,
    pub layout: &'a Layout,
    pub procedure: ProcedureId,
    pub reads: R,
    /// Bits for choices that have not been taken.
    pub scratch: std::vec::IntoIter<usize>,
    /// Bits for choices that have been taken: to be quantified at the end of the step.
    pub taken: Vec<usize>,
}

impl<R: Reads> Translator<'_, R> {
    fn constant(&self, value: bool) -> Predicate {
        self.domain.constant(value)
    }

    /// The bits of a number.
    pub fn number(&self, value: u64, width: usize) -> Vec<Predicate> {
        (0..width).map(|bit| self.constant(value >> bit & 1 == 1)).collect()
    }

    /// Fresh bits for a choice, and the condition that they are at most `max`.
    pub fn choice(&mut self, width: usize, max: u64) -> Value {
        let taken: Vec<usize> = self.scratch.by_ref().take(width).collect();
        assert_eq!(taken.len(), width, "the layout counted the choices of every step");
        let bits: Vec<Predicate> = taken.iter().map(|bit| self.domain.var(*bit)).collect();
        self.taken.extend(taken);
        let valid = self.at_most(&bits, max);
        Value { bits, valid }
    }

    /// "The number in `bits` is at most `max`".
    pub fn at_most(&self, bits: &[Predicate], max: u64) -> Predicate {
        let limit = self.number(max, bits.len());
        self.domain.not(&self.less(&limit, bits))
    }

    /// The truth value of a condition, where it has one.
    pub fn holds(&mut self, expr: &Expr) -> Predicate {
        let value = self.value(expr);
        self.domain.and(&value.bits[0], &value.valid)
    }

    /// For each cell of a variable, the condition that the indices name it; and the condition that
    /// they name one.
    pub fn cells(&mut self, variable: Var, indices: &[Expr]) -> (Vec<Predicate>, Predicate) {
        let ty = self.program.variable(self.procedure, variable).ty.clone();
        let values: Vec<Value> = indices.iter().map(|index| self.value(index)).collect();
        let d = self.domain;
        let valid = values.iter().fold(d.constant(true), |all, value| d.and(&all, &value.valid));
        let mut inside = d.constant(false);
        let named: Vec<Predicate> = (0..ty.cell_count())
            .map(|cell| {
                let mut here = valid.clone();
                for (index, value) in ty.indices(cell).into_iter().zip(&values) {
                    let fits = value.bits.len() >= 64 || index >> value.bits.len() == 0;
                    let same = self.equal(&self.number(index, value.bits.len()), &value.bits);
                    here = if fits { d.and(&here, &same) } else { d.constant(false) };
                }
                inside = d.or(&inside, &here);
                here
            })
            .collect();
        (named, inside)
    }

    /// The value of an expression.
    pub fn value(&mut self, expr: &Expr) -> Value {
        let d = self.domain;
        let width = expr.ty.width() as usize;
        let always = d.constant(true);
        match &expr.kind {
            ExprKind::Constant(value) => Value { bits: self.number(*value, width), valid: always },
            ExprKind::Choice { below } => {
                let max = below.map_or(expr.ty.max(), |below| below.saturating_sub(1).min(expr.ty.max()));
                self.choice(width, max)
            }
            ExprKind::Read { variable, indices, when } => {
                let (named, valid) = self.cells(*variable, indices);
                let mut bits = vec![d.constant(false); width];
                let single = named.len() == 1 && indices.is_empty();
                for (cell, here) in named.iter().enumerate() {
                    let places = self.layout.cell(self.program, self.procedure, *variable, cell);
                    for (bit, place) in bits.iter_mut().zip(places) {
                        let read = self.reads.bit(place, *when);
                        *bit = if single { read } else { d.or(bit, &d.and(here, &read)) };
                    }
                }
                Value { bits, valid }
            }
            ExprKind::Unary(op, value) => {
                let Value { bits, valid } = self.value(value);
                let flipped: Vec<Predicate> = bits.iter().map(|bit| d.not(bit)).collect();
                let bits = match op {
                    UnaryOp::Not | UnaryOp::BitNot => flipped,
                    UnaryOp::Neg => self.add(&flipped, &self.number(0, width), &d.constant(true)),
                };
                Value { bits, valid }
            }
            ExprKind::Binary(op, left, right) => self.binary(*op, left, right),
            ExprKind::ZeroExtend(value) => {
                let Value { mut bits, valid } = self.value(value);
                bits.resize(width, d.constant(false));
                Value { bits, valid }
            }
            ExprKind::SignExtend(value) => {
                let Value { mut bits, valid } = self.value(value);
                let sign = bits.last().cloned().unwrap_or_else(|| d.constant(false));
                bits.resize(width, sign);
                Value { bits, valid }
            }
            ExprKind::Extract { value, low } => {
                let Value { bits, valid } = self.value(value);
                let mut bits: Vec<Predicate> = bits.into_iter().skip(*low as usize).take(width).collect();
                bits.resize(width, d.constant(false));
                Value { bits, valid }
            }
            ExprKind::Float(..) => unreachable!("programs with floating-point numbers are not encoded"),
            ExprKind::IfThenElse(condition, then, otherwise) => {
                let (c, a, b) = (self.value(condition), self.value(then), self.value(otherwise));
                let chosen = d.ite(&c.bits[0], &a.valid, &b.valid);
                Value { bits: self.select(&c.bits[0], &a.bits, &b.bits), valid: d.and(&c.valid, &chosen) }
            }
        }
    }

    fn binary(&mut self, op: BinaryOp, left: &Expr, right: &Expr) -> Value {
        use BinaryOp::*;
        let d = self.domain;
        let (a, b) = (self.value(left), self.value(right));
        let both = d.and(&a.valid, &b.valid);
        // The right side is not looked at if the left one decides.
        let valid = match op {
            And | Implies => d.and(&a.valid, &d.or(&d.not(&a.bits[0]), &b.valid)),
            Or => d.and(&a.valid, &d.or(&a.bits[0], &b.valid)),
            _ => both,
        };
        let zip = |f: &dyn Fn(&Predicate, &Predicate) -> Predicate| -> Vec<Predicate> {
            a.bits.iter().zip(&b.bits).map(|(a, b)| f(a, b)).collect()
        };
        let (x, y) = (&a.bits[..], &b.bits[..]);
        let flip = |bits: &[Predicate]| -> Vec<Predicate> {
            let mut bits = bits.to_vec();
            if let Some(sign) = bits.last_mut() {
                *sign = d.not(sign);
            }
            bits
        };
        let bits = match op {
            And | BitAnd => zip(&|a, b| d.and(a, b)),
            Or | BitOr => zip(&|a, b| d.or(a, b)),
            Xor | BitXor => zip(&|a, b| d.xor(a, b)),
            Implies => vec![d.or(&d.not(&x[0]), &y[0])],
            Eq => vec![self.equal(x, y)],
            Ne => vec![d.not(&self.equal(x, y))],
            ULt => vec![self.less(x, y)],
            ULe => vec![d.not(&self.less(y, x))],
            SLt => vec![self.less(&flip(x), &flip(y))],
            SLe => vec![d.not(&self.less(&flip(y), &flip(x)))],
            Add => self.add(x, y, &d.constant(false)),
            Sub => self.subtract(x, y),
            Mul => self.multiply(x, y),
            UDiv => self.divide(x, y).0,
            URem => self.divide(x, y).1,
            SDiv => self.divide_signed(x, y).0,
            SRem => self.divide_signed(x, y).1,
            Shl => self.shift(x, y, Shift::Left),
            LShr => self.shift(x, y, Shift::Right(d.constant(false))),
            AShr => self.shift(x, y, Shift::Right(x.last().cloned().unwrap_or_else(|| d.constant(false)))),
        };
        Value { bits, valid }
    }

    /// "All bits are equal".
    pub fn equal(&self, a: &[Predicate], b: &[Predicate]) -> Predicate {
        let same = a.iter().zip(b).map(|(a, b)| self.domain.equiv(a, b));
        same.fold(self.constant(true), |all, same| self.domain.and(&all, &same))
    }

    /// "The number `a` is less than the number `b`", unsigned.
    pub fn less(&self, a: &[Predicate], b: &[Predicate]) -> Predicate {
        let d = self.domain;
        a.iter().zip(b).fold(self.constant(false), |less, (a, b)| {
            let here = d.and(&d.not(a), b);
            d.or(&here, &d.and(&d.equiv(a, b), &less))
        })
    }

    fn select(&self, condition: &Predicate, a: &[Predicate], b: &[Predicate]) -> Vec<Predicate> {
        a.iter().zip(b).map(|(a, b)| self.domain.ite(condition, a, b)).collect()
    }

    /// The sum, with a carry coming in.
    pub fn add(&self, a: &[Predicate], b: &[Predicate], carry: &Predicate) -> Vec<Predicate> {
        let d = self.domain;
        let mut carry = carry.clone();
        let mut sum = Vec::with_capacity(a.len());
        for (a, b) in a.iter().zip(b) {
            let half = d.xor(a, b);
            sum.push(d.xor(&half, &carry));
            carry = d.or(&d.and(a, b), &d.and(&half, &carry));
        }
        sum
    }

    fn subtract(&self, a: &[Predicate], b: &[Predicate]) -> Vec<Predicate> {
        let flipped: Vec<Predicate> = b.iter().map(|bit| self.domain.not(bit)).collect();
        self.add(a, &flipped, &self.constant(true))
    }

    fn multiply(&self, a: &[Predicate], b: &[Predicate]) -> Vec<Predicate> {
        let d = self.domain;
        let mut product = self.number(0, a.len());
        for (shift, bit) in b.iter().enumerate() {
            let mut row = self.number(0, shift.min(a.len()));
            row.extend(a.iter().take(a.len() - row.len()).map(|a| d.and(a, bit)));
            product = self.add(&product, &row, &self.constant(false));
        }
        product
    }

    /// Quotient and remainder, unsigned: long division, the highest bit first.
    fn divide(&self, a: &[Predicate], b: &[Predicate]) -> (Vec<Predicate>, Vec<Predicate>) {
        let d = self.domain;
        let width = a.len();
        // One more bit: the remainder is shifted before it is compared.
        let mut divisor = b.to_vec();
        divisor.push(self.constant(false));
        let mut rest = self.number(0, width + 1);
        let mut quotient = vec![self.constant(false); width];
        for bit in (0..width).rev() {
            rest.rotate_right(1);
            rest[0] = a[bit].clone();
            let fits = d.not(&self.less(&rest, &divisor));
            rest = self.select(&fits, &self.subtract(&rest, &divisor), &rest);
            quotient[bit] = fits;
        }
        rest.truncate(width);
        // By zero every comparison fits, which gives all bits set and the dividend: as SMT-LIB has
        // it.
        (quotient, rest)
    }

    fn divide_signed(&self, a: &[Predicate], b: &[Predicate]) -> (Vec<Predicate>, Vec<Predicate>) {
        let d = self.domain;
        let zero = self.number(0, a.len());
        let (sign_a, sign_b) = (&a[a.len() - 1], &b[b.len() - 1]);
        let magnitude =
            |bits: &[Predicate], sign: &Predicate| self.select(sign, &self.subtract(&zero, bits), bits);
        let (quotient, rest) = self.divide(&magnitude(a, sign_a), &magnitude(b, sign_b));
        let negative = d.xor(sign_a, sign_b);
        (
            self.select(&negative, &self.subtract(&zero, &quotient), &quotient),
            self.select(sign_a, &self.subtract(&zero, &rest), &rest),
        )
    }

    fn shift(&self, a: &[Predicate], amount: &[Predicate], shift: Shift) -> Vec<Predicate> {
        let width = a.len();
        let fill = match &shift {
            Shift::Left => self.constant(false),
            Shift::Right(fill) => fill.clone(),
        };
        let mut bits = a.to_vec();
        for (place, by) in amount.iter().enumerate() {
            let distance = if place < 32 { 1usize << place } else { usize::MAX };
            let moved: Vec<Predicate> = (0..width)
                .map(|bit| match &shift {
                    Shift::Left => bit.checked_sub(distance).map_or(&fill, |from| &bits[from]).clone(),
                    Shift::Right(_) => {
                        bit.checked_add(distance).and_then(|from| bits.get(from)).unwrap_or(&fill).clone()
                    }
                })
                .collect();
            bits = self.select(by, &moved, &bits);
        }
        bits
    }
}

enum Shift {
    Left,
    /// To the right, with this bit coming in.
    Right(Predicate),
}
