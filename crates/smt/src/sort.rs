//! Sorts: what kind of value a term has.

use std::fmt;

/// The widest bit-vector.
pub const MAX_WIDTH: u32 = 64;

/// The sort of a term.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub enum Sort {
    /// A truth value.
    Bool,
    /// A bit-vector of 1 to 64 bits. Whether it is signed is a matter of the operation.
    Bits(u32),
    /// A total map from bit-vectors to bit-vectors. Truth values are stored as vectors of one bit:
    /// see [`Terms::bit_of`](crate::Terms::bit_of) and [`Terms::is_set`](crate::Terms::is_set).
    Array {
        /// The width of an index.
        index: u32,
        /// The width of an element.
        element: u32,
    },
}

impl Sort {
    /// The number of bits of a single value (1 for a truth value) or of an element of an array.
    pub fn width(self) -> u32 {
        match self {
            Sort::Bool => 1,
            Sort::Bits(width) | Sort::Array { element: width, .. } => width,
        }
    }

    /// Whether this is an array.
    pub fn is_array(self) -> bool {
        matches!(self, Sort::Array { .. })
    }

    /// Whether all widths are from 1 to 64.
    pub fn is_valid(self) -> bool {
        let fits = |width| (1..=MAX_WIDTH).contains(&width);
        match self {
            Sort::Bool => true,
            Sort::Bits(width) => fits(width),
            Sort::Array { index, element } => fits(index) && fits(element),
        }
    }
}

/// In the words of SMT-LIB.
impl fmt::Display for Sort {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Sort::Bool => f.write_str("Bool"),
            Sort::Bits(width) => write!(f, "(_ BitVec {width})"),
            Sort::Array { index, element } => {
                write!(f, "(Array (_ BitVec {index}) (_ BitVec {element}))")
            }
        }
    }
}

/// The largest value of a width, as an unsigned number.
pub(crate) fn mask(width: u32) -> u64 {
    u64::MAX >> (MAX_WIDTH - width.clamp(1, MAX_WIDTH))
}

/// A value of a width as a signed number.
pub(crate) fn signed(value: u64, width: u32) -> i64 {
    let shift = MAX_WIDTH - width;
    ((value << shift) as i64) >> shift
}
