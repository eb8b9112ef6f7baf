//! What circuits are made of: bits that can be combined. Circuits are written once, over this
//! trait; literals of a satisfiability solver are one kind of bits, and plain values, which tests
//! compute with, are another.

use std::ops::Not;

use batsat::Lit;

use crate::gates::Gates;

/// A kind of bits with the gates on them.
pub(crate) trait GateSet {
    type Bit: Copy + Not<Output = Self::Bit>;

    /// The bit that is always true.
    fn truth(&self) -> Self::Bit;

    /// The value of a constant bit.
    fn known(&self, a: Self::Bit) -> Option<bool>;

    fn and(&mut self, a: Self::Bit, b: Self::Bit) -> Self::Bit;

    fn xor(&mut self, a: Self::Bit, b: Self::Bit) -> Self::Bit;

    /// `a` if `c`, else `b`.
    fn mux(&mut self, c: Self::Bit, a: Self::Bit, b: Self::Bit) -> Self::Bit;

    /// At least two of three: the carry of an adder.
    fn majority(&mut self, a: Self::Bit, b: Self::Bit, c: Self::Bit) -> Self::Bit;

    /// The conjunction of all.
    fn all(&mut self, bits: &[Self::Bit]) -> Self::Bit;

    /// The disjunction of all.
    fn any(&mut self, bits: &[Self::Bit]) -> Self::Bit {
        let flipped: Vec<Self::Bit> = bits.iter().map(|bit| !*bit).collect();
        !self.all(&flipped)
    }

    fn or(&mut self, a: Self::Bit, b: Self::Bit) -> Self::Bit {
        !self.and(!a, !b)
    }

    fn constant(&self, value: bool) -> Self::Bit {
        if value { self.truth() } else { !self.truth() }
    }
}

impl GateSet for Gates {
    type Bit = Lit;

    fn truth(&self) -> Lit {
        Gates::truth(self)
    }

    fn known(&self, a: Lit) -> Option<bool> {
        Gates::known(self, a)
    }

    fn and(&mut self, a: Lit, b: Lit) -> Lit {
        Gates::and(self, a, b)
    }

    fn xor(&mut self, a: Lit, b: Lit) -> Lit {
        Gates::xor(self, a, b)
    }

    fn mux(&mut self, c: Lit, a: Lit, b: Lit) -> Lit {
        Gates::mux(self, c, a, b)
    }

    fn majority(&mut self, a: Lit, b: Lit, c: Lit) -> Lit {
        Gates::majority(self, a, b, c)
    }

    fn all(&mut self, bits: &[Lit]) -> Lit {
        Gates::all(self, bits)
    }
}

/// Sixty-four values of each bit at once: what tests simulate circuits with.
#[cfg(test)]
pub(crate) struct Lanes;

#[cfg(test)]
impl GateSet for Lanes {
    type Bit = u64;

    fn truth(&self) -> u64 {
        u64::MAX
    }

    fn known(&self, a: u64) -> Option<bool> {
        match a {
            u64::MAX => Some(true),
            0 => Some(false),
            _ => None,
        }
    }

    fn and(&mut self, a: u64, b: u64) -> u64 {
        a & b
    }

    fn xor(&mut self, a: u64, b: u64) -> u64 {
        a ^ b
    }

    fn mux(&mut self, c: u64, a: u64, b: u64) -> u64 {
        (c & a) | (!c & b)
    }

    fn majority(&mut self, a: u64, b: u64, c: u64) -> u64 {
        (a & b) | (a & c) | (b & c)
    }

    fn all(&mut self, bits: &[u64]) -> u64 {
        bits.iter().fold(u64::MAX, |all, bit| all & bit)
    }
}
