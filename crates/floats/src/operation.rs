//! The operations.

use crate::format::Format;

/// How a number is made whole.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub enum Rounding {
    /// `trunc`.
    ToZero,
    /// `floor`.
    Down,
    /// `ceil`.
    Up,
    /// `rint`: halves go to the even neighbour.
    NearestEven,
    /// `round`: halves go away from zero.
    NearestAway,
}

/// What is computed.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub enum Operation {
    /// Addition.
    Add,
    /// Subtraction.
    Sub,
    /// Multiplication.
    Mul,
    /// Division.
    Div,
    /// The square root.
    Sqrt,
    /// A whole number nearby.
    Round(Rounding),
    /// Whether the numbers are equal: zeros are, whatever their sign, and a NaN equals nothing.
    Equal,
    /// Whether the first is less; false for a NaN.
    Less,
    /// Whether the first is less or equal; false for a NaN.
    LessEqual,
    /// The number nearest to a signed integer of so many bits.
    FromSigned(u32),
    /// The number nearest to an unsigned integer of so many bits.
    FromUnsigned(u32),
    /// The number without its fraction as a signed integer of so many bits; the least one if it
    /// does not fit.
    ToSigned(u32),
    /// The number without its fraction as an unsigned integer of so many bits; that with only the
    /// highest bit set if it does not fit.
    ToUnsigned(u32),
    /// Whether the number without its fraction is a signed integer of so many bits.
    FitsSigned(u32),
    /// Whether the number without its fraction is an unsigned integer of so many bits.
    FitsUnsigned(u32),
    /// The nearest number of the other format.
    Convert,
}

/// An operation on floating-point numbers of one format.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub struct FloatOp {
    /// What is computed.
    pub operation: Operation,
    /// The format of the operands; that of the result, for an integer as a number.
    pub format: Format,
}

impl FloatOp {
    /// An operation on numbers of a format.
    pub fn new(operation: Operation, format: Format) -> Self {
        Self { operation, format }
    }

    /// How many operands there are.
    pub fn arity(self) -> usize {
        use Operation::{Add, Div, Equal, Less, LessEqual, Mul, Sub};
        match self.operation {
            Add | Sub | Mul | Div | Equal | Less | LessEqual => 2,
            _ => 1,
        }
    }

    /// The bits of each operand.
    pub fn operand_width(self) -> u32 {
        match self.operation {
            Operation::FromSigned(width) | Operation::FromUnsigned(width) => width,
            _ => self.format.width(),
        }
    }

    /// The bits of the result; none if it is a truth value.
    pub fn result_width(self) -> Option<u32> {
        use Operation::*;
        match self.operation {
            Equal | Less | LessEqual | FitsSigned(_) | FitsUnsigned(_) => None,
            ToSigned(width) | ToUnsigned(width) => Some(width),
            Convert => Some(self.format.other().width()),
            Add | Sub | Mul | Div | Sqrt | Round(_) | FromSigned(_) | FromUnsigned(_) => {
                Some(self.format.width())
            }
        }
    }

    /// Whether the order of the two operands does not matter.
    pub fn is_commutative(self) -> bool {
        matches!(self.operation, Operation::Add | Operation::Mul | Operation::Equal)
    }

    /// A name for listings, with the format or the width behind it.
    ///
    /// ```
    /// use wherefore_floats::{FloatOp, Format, Operation};
    ///
    /// assert_eq!(FloatOp::new(Operation::Add, Format::Single).name(), "fadd32");
    /// assert_eq!(FloatOp::new(Operation::ToSigned(16), Format::Double).name(), "f64toi16");
    /// ```
    pub fn name(self) -> String {
        let own = self.format.width();
        match self.operation {
            Operation::Add => format!("fadd{own}"),
            Operation::Sub => format!("fsub{own}"),
            Operation::Mul => format!("fmul{own}"),
            Operation::Div => format!("fdiv{own}"),
            Operation::Sqrt => format!("fsqrt{own}"),
            Operation::Round(Rounding::ToZero) => format!("ftrunc{own}"),
            Operation::Round(Rounding::Down) => format!("ffloor{own}"),
            Operation::Round(Rounding::Up) => format!("fceil{own}"),
            Operation::Round(Rounding::NearestEven) => format!("frint{own}"),
            Operation::Round(Rounding::NearestAway) => format!("fround{own}"),
            Operation::Equal => format!("feq{own}"),
            Operation::Less => format!("flt{own}"),
            Operation::LessEqual => format!("fle{own}"),
            Operation::FromSigned(width) => format!("i{width}tof{own}"),
            Operation::FromUnsigned(width) => format!("u{width}tof{own}"),
            Operation::ToSigned(width) => format!("f{own}toi{width}"),
            Operation::ToUnsigned(width) => format!("f{own}tou{width}"),
            Operation::FitsSigned(width) => format!("f{own}fitsi{width}"),
            Operation::FitsUnsigned(width) => format!("f{own}fitsu{width}"),
            Operation::Convert => format!("f{own}tof{}", self.format.other().width()),
        }
    }
}
