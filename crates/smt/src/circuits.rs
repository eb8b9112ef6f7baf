//! Circuits on vectors of bits, the lowest first.

use std::ops::Not;

use batsat::Lit;

use crate::gate_set::GateSet;
use crate::gates::Gates;

/// The bits of a bit-vector, the lowest first.
pub(crate) type Word<B = Lit> = Vec<B>;

/// How a word is shifted by a constant, with what comes in.
pub(crate) type Step<B> = fn(&[B], usize, B) -> Word<B>;

/// Arithmetic on bit-vectors, of whatever bits.
pub(crate) trait Circuits: GateSet {
    /// A constant.
    fn word(&self, value: u64, width: usize) -> Word<Self::Bit> {
        (0..width).map(|i| self.constant(value.checked_shr(i as u32).unwrap_or(0) & 1 == 1)).collect()
    }

    /// The value of up to 128 bits, if every one is a constant.
    fn known_word(&self, word: &[Self::Bit]) -> Option<u128> {
        let mut bits = word.iter().enumerate();
        bits.try_fold(0, |sum, (i, bit)| Some(sum | u128::from(self.known(*bit)?) << i))
    }

    /// `a + b + carry`, and the carry out.
    fn adder(&mut self, a: &[Self::Bit], b: &[Self::Bit], carry: Self::Bit) -> (Word<Self::Bit>, Self::Bit) {
        let mut carry = carry;
        let mut sum = Vec::with_capacity(a.len());
        for (x, y) in a.iter().zip(b) {
            let half = self.xor(*x, *y);
            sum.push(self.xor(half, carry));
            carry = self.majority(*x, *y, carry);
        }
        (sum, carry)
    }

    fn add(&mut self, a: &[Self::Bit], b: &[Self::Bit]) -> Word<Self::Bit> {
        self.adder(a, b, !self.truth()).0
    }

    /// `a - b`, and whether there was no borrow: `a >= b`.
    fn subtract(&mut self, a: &[Self::Bit], b: &[Self::Bit]) -> (Word<Self::Bit>, Self::Bit) {
        let flipped = flip(b);
        self.adder(a, &flipped, self.truth())
    }

    fn negate(&mut self, a: &[Self::Bit]) -> Word<Self::Bit> {
        let zero = self.word(0, a.len());
        self.subtract(&zero, a).0
    }

    /// `-a` if the literal holds, else `a`.
    fn negate_if(&mut self, condition: Self::Bit, a: &[Self::Bit]) -> Word<Self::Bit> {
        let flipped: Word<Self::Bit> = a.iter().map(|bit| self.xor(*bit, condition)).collect();
        let zero = self.word(0, a.len());
        self.adder(&flipped, &zero, condition).0
    }

    /// Unsigned less than, by the borrow of a subtraction.
    fn less(&mut self, a: &[Self::Bit], b: &[Self::Bit]) -> Self::Bit {
        let mut borrow = !self.truth();
        for (x, y) in a.iter().zip(b) {
            borrow = self.majority(!*x, *y, borrow);
        }
        borrow
    }

    /// Signed less than: the unsigned comparison with both signs flipped.
    fn less_signed(&mut self, a: &[Self::Bit], b: &[Self::Bit]) -> Self::Bit {
        let (mut a, mut b) = (a.to_vec(), b.to_vec());
        for word in [&mut a, &mut b] {
            if let Some(sign) = word.last_mut() {
                *sign = !*sign;
            }
        }
        self.less(&a, &b)
    }

    fn equal(&mut self, a: &[Self::Bit], b: &[Self::Bit]) -> Self::Bit {
        let same: Word<Self::Bit> = a.iter().zip(b).map(|(x, y)| !self.xor(*x, *y)).collect();
        self.all(&same)
    }

    /// `a` if the literal holds, else `b`.
    fn choose(&mut self, condition: Self::Bit, a: &[Self::Bit], b: &[Self::Bit]) -> Word<Self::Bit> {
        a.iter().zip(b).map(|(x, y)| self.mux(condition, *x, *y)).collect()
    }

    /// The product, cut to the width.
    fn multiply(&mut self, a: &[Self::Bit], b: &[Self::Bit]) -> Word<Self::Bit> {
        if let Some(value) = self.known_word(b) {
            return self.multiply_by(a, value);
        }
        if let Some(value) = self.known_word(a) {
            return self.multiply_by(b, value);
        }
        // One row of adders for each bit of the second operand: better few.
        let rows = |word: &[Self::Bit]| word.iter().filter(|bit| self.known(**bit) != Some(false)).count();
        let (a, b) = if rows(a) < rows(b) { (b, a) } else { (a, b) };
        let width = a.len();
        let mut sum: Word<Self::Bit> = a.iter().map(|x| self.and(*x, b[0])).collect();
        for i in 1..width {
            if self.known(b[i]) == Some(false) {
                continue;
            }
            let row: Word<Self::Bit> = a[..width - i].iter().map(|x| self.and(*x, b[i])).collect();
            let high = self.add(&sum[i..], &row);
            sum.splice(i.., high);
        }
        sum
    }

    /// The product with a constant, by additions and subtractions of shifts: its digits are 1, 0
    /// and -1, with no two neighbours different from 0 (canonical signed digits).
    fn multiply_by(&mut self, a: &[Self::Bit], factor: u128) -> Word<Self::Bit> {
        let width = a.len();
        let mut sum = self.word(0, width);
        let mut rest = factor;
        for shift in 0..width {
            if rest & 1 == 1 {
                let negative = rest & 3 == 3;
                let row = &a[..width - shift];
                let high = match negative {
                    true => self.subtract(&sum[shift..], row).0,
                    false => self.add(&sum[shift..], row),
                };
                sum.splice(shift.., high);
                rest = if negative { rest + 1 } else { rest - 1 };
            }
            rest >>= 1;
        }
        sum
    }

    /// By long division: try to subtract, keep the difference if it is not negative. A divisor of
    /// zero always "fits": the quotient gets every bit set, the remainder is the dividend.
    fn divide_restoring(&mut self, a: &[Self::Bit], b: &[Self::Bit]) -> (Word<Self::Bit>, Word<Self::Bit>) {
        let width = a.len();
        let mut remainder = self.word(0, width);
        let mut quotient = self.word(0, width);
        for i in (0..width).rev() {
            // One bit more than the divisor, shifted to the left by one.
            let mut shifted = vec![a[i]];
            shifted.extend_from_slice(&remainder);
            let mut divisor = b.to_vec();
            divisor.push(!self.truth());
            let (difference, fits) = self.subtract(&shifted, &divisor);
            quotient[i] = fits;
            remainder = self.choose(fits, &difference[..width], &shifted[..width]);
        }
        (quotient, remainder)
    }

    /// A shift by a variable amount. `fill` comes in; `step` is how a word is shifted by a
    /// constant.
    fn shift(
        &mut self,
        a: &[Self::Bit],
        amount: &[Self::Bit],
        fill: Self::Bit,
        step: Step<Self::Bit>,
    ) -> Word<Self::Bit> {
        let width = a.len();
        let stages = (usize::BITS - (width - 1).leading_zeros()) as usize;
        let mut word = a.to_vec();
        for (stage, bit) in amount.iter().enumerate().take(stages) {
            let shifted = step(&word, 1 << stage, fill);
            word = self.choose(*bit, &shifted, &word);
        }
        let beyond = self.any(amount.get(stages..).unwrap_or(&[]));
        let all = vec![fill; width];
        self.choose(beyond, &all, &word)
    }
}

impl<G: GateSet> Circuits for G {}

impl Gates {
    /// Unsigned quotient and remainder, with SMT-LIB's results for division by zero.
    pub(crate) fn divide(&mut self, a: &[Lit], b: &[Lit]) -> (Word, Word, Word) {
        match self.known_word(b).and_then(|value| u64::try_from(value).ok()) {
            Some(value) if value != 0 => self.divide_by(a, value),
            _ => {
                let (quotient, remainder) = self.divide_restoring(a, b);
                self.bound_division(a, b, &quotient, &remainder);
                (quotient, remainder, Vec::new())
            }
        }
    }

    /// Clauses that follow from the circuit of a long division, which search would have to learn
    /// step by step: the remainder is below the divisor, and neither the quotient (where the
    /// divisor is not zero) nor the remainder is above the dividend.
    fn bound_division(&mut self, a: &[Lit], b: &[Lit], quotient: &[Lit], remainder: &[Lit]) {
        let positive = self.any(b);
        let below = self.less(remainder, b);
        let larger_quotient = self.less(a, quotient);
        let larger_remainder = self.less(a, remainder);
        self.clause(&[!positive, below]);
        self.clause(&[!positive, !larger_quotient]);
        self.clause(&[!larger_remainder]);
    }

    /// Clauses that follow for `x * factor / b`, as in a percentage: if `x` is not above `b`, the
    /// quotient is not above the factor. Both are taken without their signs. Only where the product
    /// does not overflow.
    pub(crate) fn bound_scaled(&mut self, x: &[Lit], factor: u64, b: &[Lit], quotient: &[Lit], signed: bool) {
        let width = x.len();
        let most = u64::MAX >> (64 - width);
        let largest = if signed { most >> 1 } else { most };
        if self.known_word(b).is_some() || factor < 2 || factor > largest {
            return;
        }
        let positive = self.any(b);
        let zero = !self.truth();
        let (x_sign, b_sign) = if signed { (x[width - 1], b[width - 1]) } else { (zero, zero) };
        let (x, b) = (self.negate_if(x_sign, x), self.negate_if(b_sign, b));
        let sign = if signed { quotient[width - 1] } else { zero };
        let quotient = self.negate_if(sign, quotient);
        let bound = self.word(largest / factor, width);
        let overflows = self.less(&bound, &x);
        let is_above = self.less(&b, &x);
        let factor = self.word(factor, width);
        let exceeds = self.less(&factor, &quotient);
        self.clause(&[!positive, overflows, is_above, !exceeds]);
    }

    /// By a constant: new literals `q`, `r` with `q * c + r == a`, `r < c`, and `q` so small that
    /// nothing overflows. The third part are the new literals.
    fn divide_by(&mut self, a: &[Lit], divisor: u64) -> (Word, Word, Word) {
        let width = a.len();
        let most = u64::MAX >> (64 - width);
        let bits = |value: u64| (64 - value.leading_zeros()) as usize;
        let largest = most / divisor;
        let free = |gates: &mut Self, count: usize| -> Word {
            let mut word: Word = (0..count).map(|_| gates.input()).collect();
            word.resize(width, !gates.truth());
            word
        };
        let quotient = free(self, bits(largest));
        let remainder = free(self, bits(divisor - 1));
        let constant = self.word(divisor, width);
        let below = self.less(&remainder, &constant);
        let bound = self.word(largest, width);
        let beyond = self.less(&bound, &quotient);
        let product = self.multiply_by(&quotient, divisor.into());
        let (sum, carry) = self.adder(&product, &remainder, !self.truth());
        let same = self.equal(&sum, a);
        for fact in [below, !beyond, !carry, same] {
            self.clause(&[fact]);
        }
        let made = quotient.iter().chain(&remainder).copied().filter(|bit| self.known(*bit).is_none());
        let made = made.collect();
        (quotient, remainder, made)
    }
}

/// Every bit flipped.
pub(crate) fn flip<B: Copy + Not<Output = B>>(word: &[B]) -> Word<B> {
    word.iter().map(|bit| !*bit).collect()
}

/// Shifts to the left by a constant.
pub(crate) fn left<B: Copy>(word: &[B], by: usize, fill: B) -> Word<B> {
    let by = by.min(word.len());
    let mut result = vec![fill; by];
    result.extend_from_slice(&word[..word.len() - by]);
    result
}

/// Shifts to the right by a constant.
pub(crate) fn right<B: Copy>(word: &[B], by: usize, fill: B) -> Word<B> {
    let by = by.min(word.len());
    let mut result = word[by..].to_vec();
    result.resize(word.len(), fill);
    result
}
