//! The parts that circuits of floating-point operations share: taking numbers apart, moving
//! significands, rounding and putting together.
//!
//! A significand has one bit more than the fraction, the leading one; `precision` is its length.
//! Exponents are biased, as they are stored; that of a subnormal number counts as 1.

use wherefore_floats::Format;

use crate::circuits::{Circuits, Word, left, right};

/// A number, taken apart.
pub(crate) struct Parts<B> {
    pub(crate) sign: B,
    /// Of a subnormal number or a zero, it is 1.
    pub(crate) exponent: Word<B>,
    /// With the leading bit: zero for a subnormal number or a zero.
    pub(crate) significand: Word<B>,
    pub(crate) nan: B,
    pub(crate) infinite: B,
    pub(crate) zero: B,
}

/// What a result is if it is not the rounded one, the first that holds.
pub(crate) struct Special<B> {
    pub(crate) nan: B,
    /// The bits of that NaN.
    pub(crate) nan_bits: Word<B>,
    pub(crate) infinite: B,
    pub(crate) zero: B,
}

pub(crate) fn precision(format: Format) -> usize {
    format.fraction_bits() as usize + 1
}

pub(crate) fn exponent_bits(format: Format) -> usize {
    format.exponent_bits() as usize
}

pub(crate) fn bias(format: Format) -> u64 {
    (1 << (format.exponent_bits() - 1)) - 1
}

impl<G: Circuits> FloatParts for G {}

/// The parts, of whatever bits.
pub(crate) trait FloatParts: Circuits {
    fn unpack(&mut self, format: Format, number: &[Self::Bit]) -> Parts<Self::Bit> {
        let fraction = &number[..precision(format) - 1];
        let mut exponent = number[precision(format) - 1..number.len() - 1].to_vec();
        let sign = number[number.len() - 1];
        let (some_fraction, some_exponent) = (self.any(fraction), self.any(&exponent));
        let full = self.all(&exponent);
        let mut significand = fraction.to_vec();
        significand.push(some_exponent);
        exponent[0] = self.or(exponent[0], !some_exponent);
        Parts {
            sign,
            exponent,
            significand,
            nan: self.and(full, some_fraction),
            infinite: self.and(full, !some_fraction),
            zero: self.and(!some_exponent, !some_fraction),
        }
    }

    /// The word with zeros in front.
    fn widened(&self, word: &[Self::Bit], width: usize) -> Word<Self::Bit> {
        let mut word = word.to_vec();
        word.resize(width, !self.truth());
        word
    }

    /// The word with its sign repeated in front.
    fn sign_widened(&self, word: &[Self::Bit], width: usize) -> Word<Self::Bit> {
        let mut word = word.to_vec();
        let sign = word.last().copied().unwrap_or(!self.truth());
        word.resize(width, sign);
        word
    }

    /// How many zeros a word has in front; its length if it has nothing else.
    fn leading_zeros(&mut self, word: &[Self::Bit]) -> Word<Self::Bit> {
        let size = word.len().next_power_of_two();
        // Ones behind it end the count.
        let mut padded = vec![self.truth(); size - word.len()];
        padded.extend_from_slice(word);
        let (mut count, empty) = self.count_zeros(&padded);
        count.push(!self.truth());
        if let (true, Some(top)) = (size == word.len(), count.last_mut()) {
            *top = empty;
        }
        count
    }

    /// The zeros in front of a word whose length is a power of two, and whether it is zero; then
    /// the count is zero.
    fn count_zeros(&mut self, word: &[Self::Bit]) -> (Word<Self::Bit>, Self::Bit) {
        if word.len() == 1 {
            return (Vec::new(), !word[0]);
        }
        let (low, high) = word.split_at(word.len() / 2);
        let ((low, low_empty), (high, high_empty)) = (self.count_zeros(low), self.count_zeros(high));
        let mut count = self.choose(high_empty, &low, &high);
        let empty = self.and(high_empty, low_empty);
        count.push(self.and(high_empty, !low_empty));
        (count, empty)
    }

    /// The word without the zeros in front, and how many there were.
    fn normalised(&mut self, word: &[Self::Bit]) -> (Word<Self::Bit>, Word<Self::Bit>) {
        let zero = !self.truth();
        let mut word = word.to_vec();
        let stages = usize::BITS - (word.len() - 1).leading_zeros();
        let mut count = vec![zero; stages as usize];
        for stage in (0..stages).rev() {
            let by = 1 << stage;
            let some = self.any(&word[word.len() - by..]);
            let shifted = left(&word, by, zero);
            word = self.choose(some, &word, &shifted);
            count[stage as usize] = !some;
        }
        (word, count)
    }

    /// Shifts to the left; the amount is less than the length.
    fn shifted_left(&mut self, word: &[Self::Bit], amount: &[Self::Bit]) -> Word<Self::Bit> {
        let zero = !self.truth();
        self.shift(word, amount, zero, left)
    }

    /// Shifts to the right. The lowest bit tells whether it or anything that went out is set.
    fn shifted_sticky(&mut self, word: &[Self::Bit], amount: &[Self::Bit]) -> Word<Self::Bit> {
        let zero = !self.truth();
        let mut word = word.to_vec();
        let mut stage = 0;
        while stage < amount.len() && 1 << stage < word.len() {
            let by = 1 << stage;
            let mut shifted = right(&word, by, zero);
            let lost = self.any(&word[..by]);
            shifted[0] = self.or(shifted[0], lost);
            word = self.choose(amount[stage], &shifted, &word);
            stage += 1;
        }
        let beyond = self.any(&amount[stage..]);
        let mut nothing = vec![zero; word.len()];
        nothing[0] = self.any(&word);
        self.choose(beyond, &nothing, &word)
    }

    /// The highest bits of a word: the significand, the next one, and whether any other is set.
    fn cut(&mut self, format: Format, word: &[Self::Bit]) -> Word<Self::Bit> {
        let kept = precision(format) + 1;
        if word.len() <= kept {
            let mut cut = vec![!self.truth(); kept + 1 - word.len()];
            cut.extend_from_slice(word);
            return cut;
        }
        let (rest, top) = word.split_at(word.len() - kept);
        let mut cut = vec![self.any(rest)];
        cut.extend_from_slice(top);
        cut
    }

    /// Rounds to the nearest, ties to even, and packs. The exponent is at least 1; it counts only
    /// if the leading bit is set. The significand has two more bits, as [`cut`](Self::cut) makes
    /// them.
    fn rounded(
        &mut self,
        format: Format,
        sign: Self::Bit,
        exponent: &[Self::Bit],
        significand: &[Self::Bit],
    ) -> Word<Self::Bit> {
        let (precision, bits) = (precision(format), exponent_bits(format));
        let leading = significand[precision + 1];
        let mut magnitude = significand[2..precision + 1].to_vec();
        for bit in &exponent[..bits] {
            magnitude.push(self.and(*bit, leading));
        }
        let (beyond, full) = (self.any(&exponent[bits..]), self.all(&exponent[..bits]));
        let too_large = self.or(beyond, full);
        let overflow = self.and(leading, too_large);
        let rest = self.or(significand[0], significand[2]);
        let up = self.and(significand[1], rest);
        // A carry out of the fraction goes to the next exponent, and from the last to infinity.
        let zero = self.word(0, magnitude.len());
        let magnitude = self.adder(&magnitude, &zero, up).0;
        let infinity = self.word(format.infinity(), magnitude.len());
        let mut number = self.choose(overflow, &infinity, &magnitude);
        number.push(sign);
        number
    }

    /// The same for an exponent that may be too small: with a sign, and a significand that is not
    /// zero and has no zeros in front.
    fn rounded_from(
        &mut self,
        format: Format,
        sign: Self::Bit,
        exponent: &[Self::Bit],
        significand: &[Self::Bit],
    ) -> Word<Self::Bit> {
        let (width, negative) = (exponent.len(), exponent[exponent.len() - 1]);
        let some = self.any(exponent);
        let small = self.or(negative, !some);
        let one = self.word(1, width);
        let below = self.subtract(&one, exponent).0;
        let shifted = self.shifted_sticky(significand, &below);
        let significand = self.choose(small, &shifted, significand);
        let exponent = self.choose(small, &one, exponent);
        self.rounded(format, sign, &exponent[..width - 1], &significand)
    }

    /// The result, or what it is in special cases.
    fn unless_special(
        &mut self,
        format: Format,
        number: &[Self::Bit],
        special: &Special<Self::Bit>,
    ) -> Word<Self::Bit> {
        let (sign, width) = (number[number.len() - 1], number.len());
        let mut zero = self.word(0, width - 1);
        zero.push(sign);
        let mut infinity = self.word(format.infinity(), width - 1);
        infinity.push(sign);
        let number = self.choose(special.zero, &zero, number);
        let number = self.choose(special.infinite, &infinity, &number);
        self.choose(special.nan, &special.nan_bits, &number)
    }

    /// The NaN that an operation on these gives: those that are one, made quiet, or a new one.
    fn nan_of(&mut self, format: Format, operands: &[&[Self::Bit]]) -> Word<Self::Bit> {
        let nans: Vec<Self::Bit> = operands.iter().map(|number| self.unpack(format, number).nan).collect();
        let mut bits = Vec::new();
        for i in 0..format.width() as usize {
            let set: Vec<Self::Bit> =
                operands.iter().zip(&nans).map(|(number, nan)| self.and(number[i], *nan)).collect();
            bits.push(self.any(&set));
        }
        let none = !self.any(&nans);
        let top = bits.len() - 1;
        bits[top] = self.or(bits[top], none);
        bits[precision(format) - 2..top].fill(self.truth());
        bits
    }
}
