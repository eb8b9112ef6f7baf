//! Circuits of floating-point arithmetic: sums, products, quotients, roots. `float_casts.rs` has
//! comparisons and conversions.
//!
//! The algorithms are the textbook ones of hardware (Ercegovac, Lang 2004, *Digital Arithmetic*,
//! chapter 8): align, add, normalise, round; long multiplication; division and root digit by digit.

use wherefore_floats::{FloatOp, Format, Operation};

use crate::circuits::{Circuits, Word};
use crate::float_casts::FloatCasts;
use crate::float_parts::{Special, bias, exponent_bits, precision};

impl<G: Circuits> FloatCircuits for G {}

/// Arithmetic, of whatever bits.
pub(crate) trait FloatCircuits: FloatCasts {
    /// The result of an operation; a truth value is one bit.
    fn float(&mut self, op: FloatOp, operands: &[Word<Self::Bit>]) -> Word<Self::Bit> {
        let format = op.format;
        let a = operands.first().map_or(&[][..], |word| &word[..]);
        let b = operands.get(1).map_or(&[][..], |word| &word[..]);
        match op.operation {
            Operation::Add => self.float_sum(format, a, b, false),
            Operation::Sub => self.float_sum(format, a, b, true),
            Operation::Mul => self.float_product(format, a, b),
            Operation::Div => self.float_quotient(format, a, b),
            Operation::Sqrt => self.float_root(format, a),
            Operation::Round(rounding) => self.float_whole(format, rounding, a),
            Operation::Equal => vec![self.float_equal(format, a, b)],
            Operation::Less => vec![self.float_less(format, a, b).0],
            Operation::LessEqual => {
                let (less, comparable) = self.float_less(format, b, a);
                vec![self.and(comparable, !less)]
            }
            Operation::FromSigned(_) => self.float_from_integer(format, a, true),
            Operation::FromUnsigned(_) => self.float_from_integer(format, a, false),
            Operation::ToSigned(width) => self.float_to_integer(format, a, width as usize, true).0,
            Operation::ToUnsigned(width) => self.float_to_integer(format, a, width as usize, false).0,
            Operation::FitsSigned(width) => vec![self.float_to_integer(format, a, width as usize, true).1],
            Operation::FitsUnsigned(width) => vec![self.float_to_integer(format, a, width as usize, false).1],
            Operation::Convert => match format {
                Format::Single => self.float_to_double(a),
                Format::Double => self.float_to_single(a),
            },
        }
    }

    /// The sum, or the difference.
    fn float_sum(
        &mut self,
        format: Format,
        a: &[Self::Bit],
        b: &[Self::Bit],
        subtracts: bool,
    ) -> Word<Self::Bit> {
        let nan_bits = self.nan_of(format, &[a, b]);
        let top = a.len() - 1;
        let b = &{
            let mut b = b.to_vec();
            b[top] = if subtracts { !b[top] } else { b[top] };
            b
        }[..];
        let (precision, zero) = (precision(format), !self.truth());
        // The operand of the greater magnitude comes first.
        let swapped = self.less(&a[..top], &b[..top]);
        let (large, small) = (self.choose(swapped, b, a), self.choose(swapped, a, b));
        let (large, small) = (self.unpack(format, &large), self.unpack(format, &small));
        let distance = self.subtract(&large.exponent, &small.exponent).0;
        // Three more bits suffice: two that a normalisation may bring up, and the rest as one.
        let aligned = |significand: &[Self::Bit]| {
            let mut word = vec![zero; 3];
            word.extend_from_slice(significand);
            word
        };
        let second = self.shifted_sticky(&aligned(&small.significand), &distance);
        let differ = self.xor(large.sign, small.sign);
        let first = self.widened(&aligned(&large.significand), precision + 4);
        let second = self.widened(&second, precision + 4);
        let second: Word<Self::Bit> = second.iter().map(|bit| self.xor(*bit, differ)).collect();
        let sum = self.adder(&first, &second, differ).0;
        // Normalised, but not below the least exponent.
        let zeros = self.leading_zeros(&sum);
        let bits = exponent_bits(format).max(zeros.len()) + 1;
        let (zeros, exponent) = (self.widened(&zeros, bits), self.widened(&large.exponent, bits));
        let limited = self.less(&exponent, &zeros);
        let amount = self.choose(limited, &exponent, &zeros);
        let one = self.word(1, bits);
        let up = self.add(&exponent, &one);
        let exponent = self.subtract(&up, &amount).0;
        let sum_shifted = self.shifted_left(&sum, &amount);
        let significand = self.cut(format, &sum_shifted);
        // A sum of zero is positive unless both operands are negative.
        let some = self.any(&sum);
        let both = self.and(large.sign, small.sign);
        let sign = self.mux(some, large.sign, both);
        let number = self.rounded(format, sign, &exponent, &significand);
        let clash = self.all(&[large.infinite, small.infinite, differ]);
        let nan = self.any(&[large.nan, small.nan, clash]);
        let infinite = self.or(large.infinite, small.infinite);
        self.unless_special(format, &number, &Special { nan, nan_bits, infinite, zero })
    }

    fn float_product(&mut self, format: Format, a: &[Self::Bit], b: &[Self::Bit]) -> Word<Self::Bit> {
        let nan_bits = self.nan_of(format, &[a, b]);
        let (a, b) = (self.unpack(format, a), self.unpack(format, b));
        let precision = precision(format);
        let bits = exponent_bits(format) + 2;
        let (first, second) =
            (self.widened(&a.significand, 2 * precision), self.widened(&b.significand, 2 * precision));
        let product = self.multiply(&first, &second);
        let (product, zeros) = self.normalised(&product);
        let significand = self.cut(format, &product);
        // With no zeros in front the product is at least 2.
        let (first, second) = (self.widened(&a.exponent, bits), self.widened(&b.exponent, bits));
        let sum = self.add(&first, &second);
        let offset = self.word(bias(format) - 1, bits);
        let unbiased = self.subtract(&sum, &offset).0;
        let zeros = self.widened(&zeros, bits);
        let exponent = self.subtract(&unbiased, &zeros).0;
        let sign = self.xor(a.sign, b.sign);
        let number = self.rounded_from(format, sign, &exponent, &significand);
        let (infinite, zero) = (self.or(a.infinite, b.infinite), self.or(a.zero, b.zero));
        let clash = self.and(infinite, zero);
        let nan = self.any(&[a.nan, b.nan, clash]);
        self.unless_special(format, &number, &Special { nan, nan_bits, infinite, zero })
    }

    fn float_quotient(&mut self, format: Format, a: &[Self::Bit], b: &[Self::Bit]) -> Word<Self::Bit> {
        let nan_bits = self.nan_of(format, &[a, b]);
        let (a, b) = (self.unpack(format, a), self.unpack(format, b));
        let precision = precision(format);
        let bits = exponent_bits(format) + 2;
        let (dividend, a_zeros) = self.normalised(&a.significand);
        let (divisor, b_zeros) = self.normalised(&b.significand);
        // Long division: a digit before the point, one more than the significand behind it.
        let divisor = self.widened(&divisor, precision + 1);
        let mut remainder = self.widened(&dividend, precision + 1);
        let mut quotient = Vec::new();
        for _ in 0..precision + 2 {
            let (difference, fits) = self.subtract(&remainder, &divisor);
            quotient.push(fits);
            let rest = self.choose(fits, &difference, &remainder);
            remainder = vec![!self.truth()];
            remainder.extend_from_slice(&rest[..precision]);
        }
        quotient.push(self.any(&remainder));
        quotient.reverse();
        // A quotient below 1 is at least a half.
        let below_one = !quotient[precision + 2];
        let shifted = crate::circuits::left(&quotient, 1, !self.truth());
        let quotient = {
            let sticky = quotient[0];
            let mut word = self.choose(below_one, &shifted, &quotient);
            word[0] = sticky;
            word
        };
        let significand = self.cut(format, &quotient);
        let [a_exponent, b_exponent, a_zeros, b_zeros] =
            [&a.exponent, &b.exponent, &a_zeros, &b_zeros].map(|word| self.widened(word, bits));
        let (first, second) =
            (self.subtract(&a_exponent, &a_zeros).0, self.subtract(&b_exponent, &b_zeros).0);
        let difference = self.subtract(&first, &second).0;
        let offset = self.word(bias(format), bits);
        let biased = self.add(&difference, &offset);
        let one = self.widened(&[below_one], bits);
        let exponent = self.subtract(&biased, &one).0;
        let sign = self.xor(a.sign, b.sign);
        let number = self.rounded_from(format, sign, &exponent, &significand);
        let (zeros, infinities) = (self.and(a.zero, b.zero), self.and(a.infinite, b.infinite));
        let nan = self.any(&[a.nan, b.nan, zeros, infinities]);
        let (infinite, zero) = (self.or(a.infinite, b.zero), self.or(a.zero, b.infinite));
        self.unless_special(format, &number, &Special { nan, nan_bits, infinite, zero })
    }

    fn float_root(&mut self, format: Format, a: &[Self::Bit]) -> Word<Self::Bit> {
        let nan_bits = self.nan_of(format, &[a]);
        let a = self.unpack(format, a);
        let (precision, none) = (precision(format), !self.truth());
        let bits = exponent_bits(format) + 2;
        let (significand, zeros) = self.normalised(&a.significand);
        let (exponent, zeros) = (self.widened(&a.exponent, bits), self.widened(&zeros, bits));
        let exponent = self.subtract(&exponent, &zeros).0;
        let offset = self.word(bias(format), bits);
        let unbiased = self.subtract(&exponent, &offset).0;
        // An odd exponent leaves a factor of two: the radicand is from 1 to 4.
        let odd = unbiased[0];
        let plain = self.widened(&significand, precision + 1);
        let doubled = crate::circuits::left(&plain, 1, none);
        let radicand = self.choose(odd, &doubled, &plain);
        // Two digits of the radicand for each of the root.
        let width = precision + 4;
        let mut digits = radicand.into_iter().rev();
        let (mut remainder, mut root) = (vec![none; width], vec![none; width]);
        // The radicand has an integer part of two bits.
        for _ in 0..precision + 1 {
            let (high, low) = (digits.next().unwrap_or(none), digits.next().unwrap_or(none));
            let mut next = vec![low, high];
            next.extend_from_slice(&remainder[..width - 2]);
            let mut trial = vec![!none, none];
            trial.extend_from_slice(&root[..width - 2]);
            let (difference, fits) = self.subtract(&next, &trial);
            remainder = self.choose(fits, &difference, &next);
            root.insert(0, fits);
            root.truncate(width);
        }
        let mut result = vec![self.any(&remainder)];
        result.extend_from_slice(&root[..precision + 1]);
        let significand = self.cut(format, &result);
        let halved = self.sign_widened(&unbiased[1..], bits);
        let exponent = self.add(&halved, &offset);
        let number = self.rounded(format, none, &exponent[..bits - 1], &significand);
        let mut number = number;
        if let Some(sign) = number.last_mut() {
            *sign = a.sign;
        }
        let negative = self.and(a.sign, !a.zero);
        let nan = self.or(a.nan, negative);
        let special = Special { nan, nan_bits, infinite: a.infinite, zero: a.zero };
        self.unless_special(format, &number, &special)
    }
}
