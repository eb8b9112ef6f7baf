//! The operations on two bit-vectors, and what they compute.

use crate::sort::{MAX_WIDTH, mask, signed};

/// An operation on two bit-vectors of one width, with a result of that width.
///
/// Arithmetic wraps. Division by zero is as in SMT-LIB: the quotient has every bit set (for
/// [`Op::SDiv`] of a negative number it is 1), the remainder is the dividend. A shift by the width
/// or more gives 0, or the sign for [`Op::AShr`].
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub enum Op {
    /// Addition.
    Add,
    /// Multiplication.
    Mul,
    /// Unsigned division.
    UDiv,
    /// Unsigned remainder.
    URem,
    /// Signed division, towards zero.
    SDiv,
    /// Signed remainder, with the sign of the dividend.
    SRem,
    /// Shift to the left.
    Shl,
    /// Shift to the right that brings in zeros.
    LShr,
    /// Shift to the right that brings in the sign.
    AShr,
    /// And, bit by bit.
    BitAnd,
    /// Or, bit by bit.
    BitOr,
    /// Exclusive or, bit by bit.
    BitXor,
}

impl Op {
    /// Whether the order of the two sides does not matter.
    pub fn is_commutative(self) -> bool {
        matches!(self, Op::Add | Op::Mul | Op::BitAnd | Op::BitOr | Op::BitXor)
    }

    /// The name in SMT-LIB.
    pub fn smtlib(self) -> &'static str {
        match self {
            Op::Add => "bvadd",
            Op::Mul => "bvmul",
            Op::UDiv => "bvudiv",
            Op::URem => "bvurem",
            Op::SDiv => "bvsdiv",
            Op::SRem => "bvsrem",
            Op::Shl => "bvshl",
            Op::LShr => "bvlshr",
            Op::AShr => "bvashr",
            Op::BitAnd => "bvand",
            Op::BitOr => "bvor",
            Op::BitXor => "bvxor",
        }
    }

    /// The sign for people. Signed operations bear an `s`: C writes both alike.
    pub fn infix(self) -> &'static str {
        match self {
            Op::Add => "+",
            Op::Mul => "*",
            Op::UDiv => "/",
            Op::URem => "%",
            Op::SDiv => "/s",
            Op::SRem => "%s",
            Op::Shl => "<<",
            Op::LShr => ">>",
            Op::AShr => ">>s",
            Op::BitAnd => "&",
            Op::BitOr => "|",
            Op::BitXor => "^",
        }
    }

    /// The result on two values of `width` bits.
    ///
    /// ```
    /// use wherefore_smt::Op;
    ///
    /// assert_eq!(Op::Add.apply(9, 9, 4), 2);
    /// assert_eq!((Op::UDiv.apply(9, 0, 4), Op::URem.apply(9, 0, 4)), (15, 9));
    /// assert_eq!((Op::SDiv.apply(9, 0, 4), Op::SDiv.apply(7, 0, 4)), (1, 15));
    /// ```
    pub fn apply(self, a: u64, b: u64, width: u32) -> u64 {
        let (sa, sb) = (signed(a, width), signed(b, width));
        let amount = u32::try_from(b).unwrap_or(MAX_WIDTH);
        let result = match self {
            Op::Add => a.wrapping_add(b),
            Op::Mul => a.wrapping_mul(b),
            Op::UDiv => a.checked_div(b).unwrap_or(u64::MAX),
            Op::URem => a.checked_rem(b).unwrap_or(a),
            Op::SDiv if b == 0 && sa < 0 => 1,
            Op::SDiv if b == 0 => u64::MAX,
            Op::SDiv => sa.wrapping_div(sb) as u64,
            Op::SRem if b == 0 => a,
            Op::SRem => sa.wrapping_rem(sb) as u64,
            Op::Shl | Op::LShr if amount >= width => 0,
            Op::Shl => a << amount,
            Op::LShr => a >> amount,
            Op::AShr => (sa >> amount.min(MAX_WIDTH - 1)) as u64,
            Op::BitAnd => a & b,
            Op::BitOr => a | b,
            Op::BitXor => a ^ b,
        };
        result & mask(width)
    }
}
