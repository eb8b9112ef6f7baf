//! Which values are worth trying as inputs.
//!
//! Programs compare their inputs with constants: commands, characters, limits. Those constants,
//! their neighbours and the ends of the range are tried far more often than others. Each place
//! that asks for a value sticks to few values during one run and to others in the next one
//! (swarm testing): a queue is filled by a run that only inserts, not by one that does everything.

use std::collections::BTreeSet;

use wherefore_program::{Argument, Expr, ExprKind, Operation, Program, Target};

/// Numbers without end, from a seed (SplitMix64).
#[derive(Clone, Debug)]
pub(crate) struct Random(pub u64);

impl Random {
    pub fn next(&mut self) -> u64 {
        self.0 = self.0.wrapping_add(0x9e37_79b9_7f4a_7c15);
        let mut x = self.0;
        x = (x ^ (x >> 30)).wrapping_mul(0xbf58_476d_1ce4_e5b9);
        x = (x ^ (x >> 27)).wrapping_mul(0x94d0_49bb_1331_11eb);
        x ^ (x >> 31)
    }

    /// A number below `end`, which is not 0.
    pub fn below(&mut self, end: u64) -> u64 {
        self.next() % end
    }

    pub fn index(&mut self, length: usize) -> usize {
        self.below(length as u64) as usize
    }
}

/// Constants of a program, with the neighbours of each.
#[derive(Clone, Debug)]
pub(crate) struct Dictionary {
    /// As signed numbers, without repetition.
    values: Vec<i64>,
}

/// The most constants that are kept.
const MOST_CONSTANTS: usize = 400;

impl Dictionary {
    pub fn new(program: &Program) -> Self {
        let mut constants = BTreeSet::from([0, 1]);
        for procedure in &program.procedures {
            for edge in &procedure.edges {
                each_expression(&edge.operation, &mut |expr| collect(expr, &mut constants));
            }
        }
        let mut values = BTreeSet::new();
        for constant in constants.into_iter().take(MOST_CONSTANTS) {
            values.extend([constant.wrapping_sub(1), constant, constant.wrapping_add(1)]);
        }
        Self { values: values.into_iter().collect() }
    }

    /// The digits of one of the constants, as characters: programs that read text read numbers.
    pub fn digits(&self, random: &mut Random) -> Vec<u64> {
        let value = self.values[random.index(self.values.len())];
        value.to_string().bytes().map(u64::from).collect()
    }

    /// One of the constants, as a value from 0 to `max`; 0 if the one drawn does not fit.
    fn draw(&self, max: u64, random: &mut Random) -> u64 {
        for _ in 0..8 {
            let value = self.values[random.index(self.values.len())];
            let fits = if value < 0 { value.unsigned_abs() <= max / 2 + 1 } else { value as u64 <= max };
            if fits {
                return value as u64 & mask(max);
            }
        }
        0
    }
}

/// All ones up to the highest one of `max`.
fn mask(max: u64) -> u64 {
    u64::MAX.checked_shr(max.leading_zeros()).unwrap_or(0)
}

fn each_expression(operation: &Operation, see: &mut dyn FnMut(&Expr)) {
    let targets = |targets: &[Target], see: &mut dyn FnMut(&Expr)| {
        targets.iter().flat_map(|target| &target.indices).for_each(see);
    };
    match operation {
        Operation::Assume(condition) => see(condition),
        Operation::Assign(assignment) => {
            assignment.values.iter().for_each(&mut *see);
            assignment.constraint.iter().for_each(&mut *see);
            targets(&assignment.targets, see);
        }
        Operation::Havoc(places) => targets(places, see),
        Operation::Call(call) => {
            for argument in &call.arguments {
                if let Argument::Value(value) = argument {
                    see(value);
                }
            }
        }
        Operation::Return(values) => values.iter().for_each(see),
        Operation::Skip
        | Operation::AtomicBegin
        | Operation::AtomicEnd
        | Operation::StartThread(_)
        | Operation::EndThread
        | Operation::Sync => {}
    }
}

fn collect(expr: &Expr, constants: &mut BTreeSet<i64>) {
    match &expr.kind {
        ExprKind::Constant(value) => {
            let shift = 64 - expr.ty.width();
            constants.insert(((value << shift) as i64) >> shift);
            constants.insert(i64::try_from(*value).unwrap_or(i64::MAX));
        }
        ExprKind::Choice { .. } => {}
        ExprKind::Read { indices, .. } => indices.iter().for_each(|index| collect(index, constants)),
        ExprKind::Unary(_, value)
        | ExprKind::ZeroExtend(value)
        | ExprKind::SignExtend(value)
        | ExprKind::Extract { value, .. } => collect(value, constants),
        ExprKind::Binary(_, left, right) => {
            collect(left, constants);
            collect(right, constants);
        }
        ExprKind::Float(_, operands) => operands.iter().for_each(|operand| collect(operand, constants)),
        ExprKind::IfThenElse(condition, then, otherwise) => {
            collect(condition, constants);
            collect(then, constants);
            collect(otherwise, constants);
        }
    }
}

/// How one place chooses its values during one run.
#[derive(Clone, Debug)]
pub(crate) enum Habit {
    /// Always one of these.
    Few(Vec<u64>),
    /// Small numbers, below this one.
    Below(u64),
    /// A constant of the program.
    Constant,
    /// Any value; small ones and the ends of the range are likely.
    Any,
}

impl Habit {
    pub fn new(max: u64, dictionary: &Dictionary, random: &mut Random) -> Self {
        match random.below(20) {
            0..5 => Self::Few(vec![likely(max, dictionary, random)]),
            5..10 => {
                let count = 2 + random.below(2);
                Self::Few((0..count).map(|_| likely(max, dictionary, random)).collect())
            }
            10..14 => Self::Below([2, 3, 4, 6, 10, 16][random.index(6)]),
            14..18 => Self::Constant,
            _ => Self::Any,
        }
    }

    /// A value from 0 to `max`.
    pub fn draw(&self, max: u64, dictionary: &Dictionary, random: &mut Random) -> u64 {
        // Now and then a place departs from its habit.
        if random.below(24) == 0 {
            return likely(max, dictionary, random);
        }
        match self {
            Self::Few(values) => values[random.index(values.len())].min(max),
            Self::Below(end) => random.below(*end).min(max),
            Self::Constant => dictionary.draw(max, random),
            Self::Any => any(max, random),
        }
    }
}

/// A value from 0 to `max` that is worth trying.
pub(crate) fn likely(max: u64, dictionary: &Dictionary, random: &mut Random) -> u64 {
    match random.below(8) {
        0..2 => random.below(8).min(max),
        2..7 => dictionary.draw(max, random),
        _ => any(max, random),
    }
}

fn any(max: u64, random: &mut Random) -> u64 {
    match random.below(6) {
        0 => max,
        1 => max / 2,
        2 => max / 2 + max % 2,
        _ => {
            let bits = random.below(u64::from(64 - max.leading_zeros()) + 1) as u32;
            let value = random.next() & u64::MAX.checked_shr(64 - bits).unwrap_or(0);
            if value <= max { value } else { value % max.saturating_add(1).max(1) }
        }
    }
}
