//! Circuits of floating-point operations against the machine: all pairs of special values, and
//! random ones. The circuits are simulated on sixty-four cases at once.

use wherefore_floats::{FloatOp, Format, Operation, Rounding};

use crate::float_circuits::FloatCircuits;
use crate::gate_set::Lanes;

/// Numbers without end, from a seed (xorshift).
struct Random(u64);

impl Random {
    fn next(&mut self) -> u64 {
        self.0 ^= self.0 << 13;
        self.0 ^= self.0 >> 7;
        self.0 ^= self.0 << 17;
        self.0.wrapping_mul(0x2545_f491_4f6c_dd1d)
    }

    fn below(&mut self, count: usize) -> usize {
        (self.next() >> 33) as usize % count
    }

    /// Bits with long runs of zeros and ones now and then.
    fn bits(&mut self) -> u64 {
        match self.below(4) {
            0 => self.next() & self.next() & self.next(),
            1 => self.next() | self.next() | self.next(),
            2 => ((self.next() as i64) >> self.below(64)) as u64,
            _ => self.next(),
        }
    }

    /// A number whose exponent is near that of another, or near the ends of the range.
    fn float(&mut self, format: Format, near: u64) -> u64 {
        let (e, f) = (format.exponent_bits(), format.fraction_bits());
        let exponent = match self.below(8) {
            0 => self.below(4) as u64,
            1 => (1 << e) - 1 - self.below(3) as u64,
            2..=4 => {
                let distance = self.below(2 * f as usize + 8) as i64 - i64::from(f) - 4;
                ((near >> f & ((1 << e) - 1)) as i64 + distance).clamp(0, (1 << e) - 1) as u64
            }
            5 => (1 << (e - 1)) - 8 + self.below(80) as u64,
            _ => self.next() & ((1 << e) - 1),
        };
        let fraction = self.bits() & ((1 << f) - 1);
        (self.next() & 1) << (e + f) | exponent << f | fraction
    }
}

/// Where something happens: zeros, ends of ranges, halves, limits of integers, with neighbours.
fn special(format: Format) -> Vec<u64> {
    let mut list = vec![0, 1, 2, format.least_normal() - 1, format.least_normal(), format.least_normal() + 1];
    let infinity = format.infinity();
    list.extend([infinity - 1, infinity, infinity + 1, format.nan(), infinity + format.least_normal() / 2]);
    list.extend([infinity | 0x5a5a5a, infinity | format.quiet() | 0x123, infinity + 1 + format.quiet() / 4]);
    let powers = [-150, -149, -126, -54, -53, -24, -2, -1, 0, 1, 2, 7, 8, 15, 16, 22, 23, 24, 25];
    let limits = [30, 31, 32, 33, 51, 52, 53, 54, 62, 63, 64, 65, 127];
    for power in powers.into_iter().chain(limits) {
        let bits = format.bits_of(2_f64.powi(power));
        list.extend([bits, bits.wrapping_sub(1), bits + 1]);
    }
    list.extend([1.5, 2.5, 3.0, 0.1, 0.3, 10.0, 100.0, 1e10].map(|number| format.bits_of(number)));
    list.retain(|bits| *bits <= format.nan());
    let negative: Vec<u64> = list.iter().map(|bits| bits ^ format.sign()).collect();
    list.extend(negative);
    list.sort_unstable();
    list.dedup();
    list
}

/// Integers at the ends of their ranges, and around powers of two.
fn special_integers(width: u32) -> Vec<u64> {
    let mask = u64::MAX >> (64 - width);
    let mut list = vec![0, 1, 2, 3, 5, 7, 100];
    for power in 0..width {
        list.extend([1 << power, (1_u64 << power).wrapping_sub(1), (1 << power) + 1, 3 << power]);
    }
    let negative: Vec<u64> = list.iter().map(|value: &u64| value.wrapping_neg()).collect();
    list.extend(negative);
    list.iter_mut().for_each(|value| *value &= mask);
    list.sort_unstable();
    list.dedup();
    list
}

/// The results of the circuit on up to sixty-four lists of operands.
fn simulate(op: FloatOp, cases: &[Vec<u64>]) -> Vec<u64> {
    let width = op.operand_width() as usize;
    let operands: Vec<Vec<u64>> = (0..op.arity())
        .map(|operand| {
            let lane = |bit: usize| {
                let values = cases.iter().enumerate();
                values.fold(0, |word, (i, case)| word | (case[operand] >> bit & 1) << i)
            };
            (0..width).map(lane).collect()
        })
        .collect();
    let result = Lanes.float(op, &operands);
    assert_eq!(result.len(), op.result_width().unwrap_or(1) as usize, "{op:?}");
    let value = |i: usize| result.iter().enumerate().fold(0, |sum, (bit, lane)| sum | (lane >> i & 1) << bit);
    (0..cases.len()).map(value).collect()
}

fn check(op: FloatOp, cases: &[Vec<u64>]) {
    for chunk in cases.chunks(64) {
        for (case, result) in chunk.iter().zip(simulate(op, chunk)) {
            let expected = op.apply(case);
            assert_eq!(result, expected, "{} of {case:x?}: {result:x}, not {expected:x}", op.name());
        }
    }
}

/// All pairs of special values, and so many random ones.
fn check_all(operation: Operation, random: u32) {
    for format in [Format::Single, Format::Double] {
        let op = FloatOp::new(operation, format);
        let mut numbers = Random(wherefore_testing::seed() ^ 0x9e37_79b9_7f4a_7c15);
        let is_integer = matches!(operation, Operation::FromSigned(_) | Operation::FromUnsigned(_));
        let list = if is_integer { special_integers(op.operand_width()) } else { special(format) };
        let pairs = |first: &u64| match op.arity() {
            1 => vec![vec![*first]],
            _ => list.iter().map(|second| vec![*first, *second]).collect(),
        };
        check(op, &list.iter().flat_map(pairs).collect::<Vec<_>>());
        for _ in 0..wherefore_testing::cases(random).div_ceil(64) {
            let draw = |numbers: &mut Random| {
                if is_integer {
                    return vec![numbers.bits() & u64::MAX >> (64 - op.operand_width())];
                }
                let near = numbers.next();
                let first = numbers.float(format, near);
                let second = match numbers.below(16) {
                    0 => first,
                    1 => first ^ format.sign(),
                    2 => first ^ numbers.next() & 3,
                    _ => numbers.float(format, first),
                };
                vec![first, second][..op.arity()].to_vec()
            };
            check(op, &(0..64).map(|_| draw(&mut numbers)).collect::<Vec<_>>());
        }
    }
}

/// Random cases for each operation and format in a soak; `WHEREFORE_FLOAT_CASES` says how many
/// else.
fn count(usual: u32) -> u32 {
    std::env::var("WHEREFORE_FLOAT_CASES").ok().and_then(|text| text.parse().ok()).unwrap_or(usual)
}

#[test]
fn sums() {
    check_all(Operation::Add, count(100_000));
    check_all(Operation::Sub, count(50_000));
}

#[test]
fn products() {
    check_all(Operation::Mul, count(50_000));
}

#[test]
fn quotients() {
    check_all(Operation::Div, count(50_000));
}

#[test]
fn roots() {
    check_all(Operation::Sqrt, count(50_000));
}

#[test]
fn whole_numbers() {
    use Rounding::{Down, NearestAway, NearestEven, ToZero, Up};
    for rounding in [ToZero, Down, Up, NearestEven, NearestAway] {
        check_all(Operation::Round(rounding), count(50_000));
    }
}

#[test]
fn comparisons() {
    for operation in [Operation::Equal, Operation::Less, Operation::LessEqual] {
        check_all(operation, count(100_000));
    }
}

#[test]
fn conversions() {
    check_all(Operation::Convert, count(200_000));
    for width in [1, 7, 8, 16, 24, 32, 53, 64] {
        for operation in [
            Operation::FromSigned(width),
            Operation::FromUnsigned(width),
            Operation::ToSigned(width),
            Operation::ToUnsigned(width),
            Operation::FitsSigned(width),
            Operation::FitsUnsigned(width),
        ] {
            check_all(operation, count(20_000));
        }
    }
}
