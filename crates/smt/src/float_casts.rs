//! Circuits of floating-point comparisons, whole numbers and conversions.

use wherefore_floats::{Format, Rounding};

use crate::circuits::{Circuits, Word};
use crate::float_parts::{FloatParts, Special, bias, exponent_bits, precision};

impl<G: Circuits> FloatCasts for G {}

/// Comparisons and conversions, of whatever bits.
pub(crate) trait FloatCasts: FloatParts {
    /// Whether neither is a NaN, and whether both are zero.
    fn comparable(&mut self, format: Format, a: &[Self::Bit], b: &[Self::Bit]) -> (Self::Bit, Self::Bit) {
        let (a, b) = (self.unpack(format, a), self.unpack(format, b));
        (self.and(!a.nan, !b.nan), self.and(a.zero, b.zero))
    }

    fn float_equal(&mut self, format: Format, a: &[Self::Bit], b: &[Self::Bit]) -> Self::Bit {
        let (comparable, zeros) = self.comparable(format, a, b);
        let same = self.equal(a, b);
        let equal = self.or(zeros, same);
        self.and(comparable, equal)
    }

    /// Whether the first is less, and whether neither is a NaN.
    fn float_less(&mut self, format: Format, a: &[Self::Bit], b: &[Self::Bit]) -> (Self::Bit, Self::Bit) {
        let top = a.len() - 1;
        let (comparable, zeros) = self.comparable(format, a, b);
        let (below, above) = (self.less(&a[..top], &b[..top]), self.less(&b[..top], &a[..top]));
        // Of two negative numbers, the one of greater magnitude is less.
        let same_sign = self.mux(a[top], above, below);
        let differ = self.xor(a[top], b[top]);
        let less = self.mux(differ, a[top], same_sign);
        (self.all(&[less, comparable, !zeros]), comparable)
    }

    /// A whole number nearby.
    fn float_whole(&mut self, format: Format, rounding: Rounding, a: &[Self::Bit]) -> Word<Self::Bit> {
        let (precision, top) = (precision(format), a.len() - 1);
        let parts = self.unpack(format, a);
        let bits = exponent_bits(format) + 1;
        // How many bits of the significand are behind the point: all and more below 1, none from
        // 2^fraction on.
        let exponent = self.widened(&parts.exponent, bits);
        let last = self.word(bias(format) + precision as u64 - 1, bits);
        let (behind, _) = self.subtract(&last, &exponent);
        let is_whole = behind[bits - 1];
        let one = self.word(bias(format), bits);
        let below_one = self.less(&exponent, &one);
        // The unit as one bit of the significand, and all bits behind it.
        let start = self.word(1, precision);
        let unit = self.shifted_left(&start, &behind);
        let mask = self.subtract(&unit, &start).0;
        let mut cleared = Vec::new();
        let (mut lost, mut odd, mut half, mut rest) = (Vec::new(), Vec::new(), Vec::new(), Vec::new());
        for i in 0..precision {
            let bit = parts.significand[i];
            cleared.push(self.and(bit, !mask[i]));
            lost.push(self.and(bit, mask[i]));
            odd.push(self.and(bit, unit[i]));
            // The half is the bit below the unit.
            let is_half = if i + 1 < precision { unit[i + 1] } else { !self.truth() };
            half.push(self.and(bit, is_half));
            let behind_half = self.and(mask[i], !is_half);
            rest.push(self.and(bit, behind_half));
        }
        let [lost, odd, half, rest] = [lost, odd, half, rest].map(|word| self.any(&word));
        // Below 1, the unit is in front of the significand, and so is the half below a half.
        let half_exponent = self.word(bias(format) - 1, bits);
        let is_half = self.equal(&exponent, &half_exponent);
        let fraction_some = self.any(&a[..precision - 1]);
        let [lost_small, odd_small, half_small, rest_small] =
            [!parts.zero, !self.truth(), is_half, fraction_some];
        let lost = self.mux(below_one, lost_small, lost);
        let odd = self.mux(below_one, odd_small, odd);
        let half = self.mux(below_one, half_small, half);
        let rest = self.mux(below_one, rest_small, rest);
        let up = match rounding {
            Rounding::ToZero => !self.truth(),
            Rounding::Down => self.and(parts.sign, lost),
            Rounding::Up => self.and(!parts.sign, lost),
            Rounding::NearestAway => half,
            Rounding::NearestEven => {
                let beyond = self.or(rest, odd);
                self.and(half, beyond)
            }
        };
        // A carry goes on to the exponent.
        let mut magnitude = cleared[..precision - 1].to_vec();
        magnitude.extend_from_slice(&a[precision - 1..top]);
        let mut step: Word<Self::Bit> = unit.iter().map(|bit| self.and(*bit, up)).collect();
        step.resize(top, !self.truth());
        let magnitude = self.add(&magnitude, &step);
        let unity = self.word(bias(format) << (precision - 1), top);
        let small: Word<Self::Bit> = unity.iter().map(|bit| self.and(*bit, up)).collect();
        let magnitude = self.choose(below_one, &small, &magnitude);
        let mut number = self.choose(is_whole, &a[..top], &magnitude);
        number.push(parts.sign);
        let (never, nan_bits) = (!self.truth(), self.nan_of(format, &[a]));
        let special = Special { nan: parts.nan, nan_bits, infinite: never, zero: never };
        self.unless_special(format, &number, &special)
    }

    fn float_from_integer(&mut self, format: Format, a: &[Self::Bit], signed: bool) -> Word<Self::Bit> {
        let width = a.len();
        let sign = if signed { a[width - 1] } else { !self.truth() };
        let magnitude = self.negate_if(sign, a);
        let some = self.any(&magnitude);
        let (magnitude, zeros) = self.normalised_any(&magnitude);
        let significand = self.cut(format, &magnitude);
        let bits = exponent_bits(format).max(zeros.len());
        let largest = self.word(bias(format) + width as u64 - 1, bits);
        let zeros = self.widened(&zeros, bits);
        let exponent = self.subtract(&largest, &zeros).0;
        let number = self.rounded(format, sign, &exponent, &significand);
        let never = !self.truth();
        let special = Special { nan: never, nan_bits: number.clone(), infinite: never, zero: !some };
        self.unless_special(format, &number, &special)
    }

    /// The same for a word that may have a single bit.
    fn normalised_any(&mut self, word: &[Self::Bit]) -> (Word<Self::Bit>, Word<Self::Bit>) {
        if word.len() == 1 {
            return (word.to_vec(), vec![!self.truth()]);
        }
        self.normalised(word)
    }

    /// The number without its fraction, and whether it fits.
    fn float_to_integer(
        &mut self,
        format: Format,
        a: &[Self::Bit],
        width: usize,
        signed: bool,
    ) -> (Word<Self::Bit>, Self::Bit) {
        let parts = self.unpack(format, a);
        let precision = precision(format);
        let size = width.max(precision);
        let bits = exponent_bits(format).max(8) + 1;
        // The point is moved to the right end of a word that starts with the significand.
        let exponent = self.widened(&parts.exponent, bits);
        let last = self.word(bias(format) + size as u64 - 1, bits);
        let amount = self.subtract(&last, &exponent).0;
        let mut word = self.word(0, size - precision);
        word.extend_from_slice(&parts.significand);
        let none = !self.truth();
        let shifted = self.shift(&word, &amount[..bits - 1], none, crate::circuits::right);
        let one = self.word(bias(format), bits);
        let below_one = self.less(&exponent, &one);
        let nothing = self.word(0, size);
        let magnitude = self.choose(below_one, &nothing, &shifted);
        let integer = self.negate_if(parts.sign, &magnitude[..width]);
        // The least exponent that is too large: that of 2^width, or of 2^(width - 1) with a sign.
        let magnitude_bits = if signed { width - 1 } else { width };
        let limit = self.word(bias(format) + magnitude_bits as u64, bits);
        let small = self.less(&exponent, &limit);
        let fits = if signed {
            // The least integer has one more bit.
            let at_limit = self.equal(&exponent, &limit);
            let beyond = self.any(&magnitude[..width - 1]);
            let least = self.all(&[at_limit, parts.sign, !beyond]);
            self.or(small, least)
        } else {
            let natural = self.and(small, !parts.sign);
            self.or(natural, below_one)
        };
        let mut highest = self.word(0, width - 1);
        highest.push(self.truth());
        (self.choose(fits, &integer, &highest), fits)
    }

    fn float_to_double(&mut self, a: &[Self::Bit]) -> Word<Self::Bit> {
        let parts = self.unpack(Format::Single, a);
        let (significand, zeros) = self.normalised(&parts.significand);
        let bits = exponent_bits(Format::Double);
        let (exponent, zeros) = (self.widened(&parts.exponent, bits), self.widened(&zeros, bits));
        let offset = self.word(bias(Format::Double) - bias(Format::Single), bits);
        let sum = self.add(&exponent, &offset);
        let exponent = self.subtract(&sum, &zeros).0;
        let extra = precision(Format::Double) - precision(Format::Single);
        let mut number = self.word(0, extra);
        number.extend_from_slice(&significand[..precision(Format::Single) - 1]);
        number.extend(exponent);
        number.push(parts.sign);
        let mut nan_bits = self.word(0, extra);
        nan_bits.extend_from_slice(&a[..precision(Format::Single) - 2]);
        nan_bits.resize(number.len() - 1, self.truth());
        nan_bits.push(parts.sign);
        let special = Special { nan: parts.nan, nan_bits, infinite: parts.infinite, zero: parts.zero };
        self.unless_special(Format::Double, &number, &special)
    }

    fn float_to_single(&mut self, a: &[Self::Bit]) -> Word<Self::Bit> {
        let parts = self.unpack(Format::Double, a);
        let significand = self.cut(Format::Single, &parts.significand);
        let bits = exponent_bits(Format::Double) + 1;
        let exponent = self.widened(&parts.exponent, bits);
        let offset = self.word(bias(Format::Double) - bias(Format::Single), bits);
        let exponent = self.subtract(&exponent, &offset).0;
        // A subnormal double is far below all numbers of the other format.
        let number = self.rounded_from(Format::Single, parts.sign, &exponent, &significand);
        let cut = precision(Format::Double) - precision(Format::Single);
        let mut nan_bits = a[cut..precision(Format::Double) - 2].to_vec();
        nan_bits.resize(number.len() - 1, self.truth());
        nan_bits.push(parts.sign);
        let special = Special { nan: parts.nan, nan_bits, infinite: parts.infinite, zero: parts.zero };
        self.unless_special(Format::Single, &number, &special)
    }
}
