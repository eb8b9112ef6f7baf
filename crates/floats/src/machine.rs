//! What the operations compute, by the machine's own floating-point numbers.

use crate::format::Format;
use crate::operation::{FloatOp, Operation, Rounding};

/// The operations on the numbers of one type of Rust.
macro_rules! computed {
    ($name:ident, $float:ty, $bits:ty, $other:ty) => {
        fn $name(operation: Operation, operands: &[u64]) -> u64 {
            let bits = |i: usize| operands.get(i).copied().unwrap_or(0);
            let number = |i: usize| <$float>::from_bits(bits(i) as $bits);
            let (a, b) = (number(0), number(1));
            let result = match operation {
                Operation::Add => a + b,
                Operation::Sub => a - b,
                Operation::Mul => a * b,
                Operation::Div => a / b,
                Operation::Sqrt => a.sqrt(),
                Operation::Round(Rounding::ToZero) => a.trunc(),
                Operation::Round(Rounding::Down) => a.floor(),
                Operation::Round(Rounding::Up) => a.ceil(),
                Operation::Round(Rounding::NearestEven) => a.round_ties_even(),
                Operation::Round(Rounding::NearestAway) => a.round(),
                Operation::FromSigned(width) => signed(bits(0), width) as $float,
                Operation::FromUnsigned(_) => bits(0) as $float,
                Operation::Equal => return u64::from(a == b),
                Operation::Less => return u64::from(a < b),
                Operation::LessEqual => return u64::from(a <= b),
                Operation::ToSigned(width) => return to_signed(a.into(), width).unwrap_or(highest(width)),
                Operation::ToUnsigned(width) => return to_unsigned(a.into(), width).unwrap_or(highest(width)),
                Operation::FitsSigned(width) => return u64::from(to_signed(a.into(), width).is_some()),
                Operation::FitsUnsigned(width) => return u64::from(to_unsigned(a.into(), width).is_some()),
                Operation::Convert => {
                    return match a.is_nan() {
                        true => converted_nan(<$float as HasFormat>::FORMAT, bits(0)),
                        false => u64::from((a as $other).to_bits()),
                    };
                }
            };
            match result.is_nan() {
                true => nan_of(<$float as HasFormat>::FORMAT, operands),
                false => u64::from(result.to_bits()),
            }
        }
    };
}

/// A type of Rust that holds the numbers of a format.
trait HasFormat {
    const FORMAT: Format;
}

impl HasFormat for f32 {
    const FORMAT: Format = Format::Single;
}

impl HasFormat for f64 {
    const FORMAT: Format = Format::Double;
}

computed!(single, f32, u32, f64);
computed!(double, f64, u64, f32);

impl FloatOp {
    /// The result on operands as bits; a truth value as 0 or 1.
    ///
    /// ```
    /// use wherefore_floats::{FloatOp, Format, Operation};
    ///
    /// let [tenth, fifth] = [0.1, 0.2].map(|number| Format::Double.bits_of(number));
    /// let sum = FloatOp::new(Operation::Add, Format::Double).apply(&[tenth, fifth]);
    /// assert_eq!(Format::Double.show(sum), "0.30000000000000004");
    /// ```
    pub fn apply(self, operands: &[u64]) -> u64 {
        match self.format {
            Format::Single => single(self.operation, operands),
            Format::Double => double(self.operation, operands),
        }
    }
}

/// The NaN that an operation on these gives: the operand that is one, made quiet.
fn nan_of(format: Format, operands: &[u64]) -> u64 {
    let nans = operands.iter().filter(|operand| format.is_nan(**operand));
    match nans.fold(0, |all, nan| all | nan) {
        0 => format.nan(),
        nan => nan | format.quiet(),
    }
}

/// A NaN in the other format: the sign and the first bits of its payload stay.
fn converted_nan(from: Format, nan: u64) -> u64 {
    let (to, fraction) = (from.other(), nan & (from.least_normal() - 1));
    let (shorter, longer) = (Format::Single.fraction_bits(), Format::Double.fraction_bits());
    let payload = match to {
        Format::Double => fraction << (longer - shorter),
        Format::Single => fraction >> (longer - shorter),
    };
    let sign = if nan & from.sign() != 0 { to.sign() } else { 0 };
    sign | to.infinity() | to.quiet() | payload
}

/// The integer with only the highest bit set.
fn highest(width: u32) -> u64 {
    1 << (width.clamp(1, 64) - 1)
}

fn signed(value: u64, width: u32) -> i64 {
    let unused = 64 - width.clamp(1, 64);
    ((value << unused) as i64) >> unused
}

/// The bits of an integer of a width, if the number without its fraction is one.
fn to_signed(number: f64, width: u32) -> Option<u64> {
    let (whole, limit) = (number.trunc(), 2_f64.powi(width.clamp(1, 64) as i32 - 1));
    (-limit..limit).contains(&whole).then(|| whole as i64 as u64 & mask(width))
}

fn to_unsigned(number: f64, width: u32) -> Option<u64> {
    let (whole, limit) = (number.trunc(), 2_f64.powi(width.clamp(1, 64) as i32));
    (0.0..limit).contains(&whole).then_some(whole as u64)
}

fn mask(width: u32) -> u64 {
    u64::MAX >> (64 - width.clamp(1, 64))
}

#[cfg(test)]
mod tests {
    use super::*;

    fn apply(operation: Operation, format: Format, operands: &[f64]) -> f64 {
        let bits: Vec<u64> = operands.iter().map(|number| format.bits_of(*number)).collect();
        format.number(FloatOp::new(operation, format).apply(&bits))
    }

    #[test]
    fn arithmetic_is_rounded_to_nearest_even() {
        assert_eq!(apply(Operation::Add, Format::Single, &[16_777_216.0, 1.0]), 16_777_216.0);
        assert_eq!(apply(Operation::Add, Format::Single, &[16_777_216.0, 3.0]), 16_777_220.0);
        assert_eq!(apply(Operation::Round(Rounding::NearestEven), Format::Double, &[2.5]), 2.0);
        assert_eq!(apply(Operation::Round(Rounding::NearestAway), Format::Double, &[-2.5]), -3.0);
        assert_eq!(apply(Operation::Sqrt, Format::Double, &[2.0]), std::f64::consts::SQRT_2);
    }

    #[test]
    fn a_nan_stays_what_it_was() {
        let nan = 0x7fa0_1234;
        for (operation, operands, expected) in [
            (Operation::Add, vec![nan, 0], 0x7fe0_1234),
            (Operation::Sub, vec![0, nan], 0x7fe0_1234),
            (Operation::Round(Rounding::Down), vec![nan], 0x7fe0_1234),
            (Operation::Sqrt, vec![0xbf80_0000], 0xffc0_0000),
            (Operation::Div, vec![0, 0], 0xffc0_0000),
        ] {
            let result = FloatOp::new(operation, Format::Single).apply(&operands);
            assert_eq!(result, expected, "{operation:?}");
        }
        let wide = FloatOp::new(Operation::Convert, Format::Single).apply(&[nan]);
        assert_eq!(wide, 0x7ffc_0246_8000_0000);
        assert_eq!(FloatOp::new(Operation::Convert, Format::Double).apply(&[wide]), 0x7fe0_1234);
    }

    #[test]
    fn integers_are_cut_and_must_fit() {
        let to = |operation, number: f64| {
            FloatOp::new(operation, Format::Double).apply(&[Format::Double.bits_of(number)])
        };
        assert_eq!(to(Operation::ToSigned(32), -1.9), u64::from(u32::MAX));
        assert_eq!(to(Operation::ToSigned(32), 2e9 + 2e9), 1 << 31);
        assert_eq!(to(Operation::ToUnsigned(32), 4e9), 4_000_000_000);
        assert_eq!(to(Operation::FitsSigned(8), -128.9), 1);
        assert_eq!(to(Operation::FitsSigned(8), 128.0), 0);
        assert_eq!(to(Operation::FitsUnsigned(8), -0.9), 1);
        assert_eq!(to(Operation::FitsUnsigned(64), f64::NAN), 0);
        assert_eq!(to(Operation::ToUnsigned(64), 2_f64.powi(63)), 1 << 63);
        let from = FloatOp::new(Operation::FromSigned(8), Format::Single).apply(&[0xff]);
        assert_eq!(Format::Single.show(from), "-1.0");
    }
}
